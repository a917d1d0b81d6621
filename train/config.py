"""The configuration of a training run: typed, checked, from YAML with overrides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agents.network import Board
from caravan_env.core.errors import CaravanError, nearest
from caravan_env.core.files import write_text
from caravan_env.core.game import Game
from caravan_env.core.registry import make_game

Fraction = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]
Widths = list[Positive]


class BadConfig(CaravanError, ValueError):
    """A configuration with an unknown key, or a value of the wrong type or out of range."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class GameConfig(_Section):
    """Which game, with which rule switches."""

    name: str = "caravan"
    params: dict[str, Any] = {}

    def make(self) -> Game:
        """Return the game variant; an unknown game or switch is an error that offers the nearest one."""
        return make_game(self.name, **self.params)


class BudgetConfig(_Section):
    """When training ends, by whichever comes first.

    Attributes:
        minutes: of time, evaluations included.
        cpu_minutes: of all threads together, for learning alone, see `train.run.Trainer.cpu_seconds`.
        steps: decisions of the learner.
    """

    minutes: Annotated[float, Field(gt=0)] | None = None
    cpu_minutes: Annotated[float, Field(gt=0)] | None = None
    steps: Positive | None = None

    @model_validator(mode="after")
    def _has_an_end(self) -> BudgetConfig:
        if self.minutes is None and self.cpu_minutes is None and self.steps is None:
            raise ValueError("one of budget.minutes, budget.cpu_minutes and budget.steps must be given")
        return self


class PPOConfig(_Section):
    """Hyper-parameters of PPO (Schulman et al. 2017); names as in Stable-Baselines3.

    `*_end` values are reached linearly at the end of the budget.
    """

    n_envs: Positive = 256
    n_steps: Positive = 64
    batch_size: Positive = 4096
    n_epochs: Positive = 4
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    learning_rate_end: Annotated[float, Field(ge=0)] = 1e-4
    gamma: Fraction = 0.998
    gae_lambda: Fraction = 0.95
    clip_range: Annotated[float, Field(gt=0)] = 0.2
    ent_coef: Annotated[float, Field(ge=0)] = 0.01
    ent_coef_end: Annotated[float, Field(ge=0)] = 0.001
    vf_coef: Annotated[float, Field(ge=0)] = 0.5
    max_grad_norm: Annotated[float, Field(gt=0)] = 0.5
    target_kl: Annotated[float, Field(gt=0)] | None = None


class NetworkConfig(_Section):
    """The learner's network: its kind and the widths of its layers.

    Attributes:
        kind: "mlp" takes the observation as one vector; "board" looks at its planes through convolutions, for games
            whose actions belong to places.
        channels: of the convolutions; for a board.
        trunk: layers before the heads; for a board those that see what is not in planes.
        policy: layers of the policy's head; for a board only of the actions that belong to no place.
        value: layers of the value's head.
    """

    kind: Literal["mlp", "board"] = "mlp"
    channels: Widths = []
    trunk: Widths = [256]
    policy: Widths = [256]
    value: Widths = [128]

    @model_validator(mode="after")
    def _has_channels_for_a_board(self) -> NetworkConfig:
        if (self.kind == "board") != bool(self.channels):
            raise ValueError("network.channels must be given for network.kind = board, and for no other kind")
        return self


class ImitationConfig(_Section):
    """Behaviour cloning of a scripted agent before self-play; no agent, no imitation.

    Attributes:
        agent: spec of the agent, or null.
        decisions: how many of its decisions are learned from.
        noise: share of its decisions after which a random action is played instead.
        epochs: passes over the decisions.
    """

    agent: str | None = None
    decisions: Positive = 100_000
    noise: Fraction = 0.05
    epochs: Positive = 6
    batch_size: Positive = 512
    learning_rate: Annotated[float, Field(gt=0)] = 2e-3


class TDConfig(_Section):
    """TD(lambda) learning of the value of positions, see `train.td`; for `trainer: td`.

    Attributes:
        widths: of the network's two layers.
        features: whether the game's own features are its inputs, where there are any, and not the observation.
        against: a run or checkpoint folder with a value network, or "best" for the network of the agent `best`, which
            plays all seats but one and stays as it is; null: the network that learns plays all seats.
        start: the same kinds of name, for the weights that learning starts from; null: new ones.
        decisions: of all seats that learn, played and learned from in an iteration.
        memory: decisions that are learned from.
        reuse: how often each decision is learned from, on average.
        learning_rate_end: reached linearly at the end of the budget.
        average: share of the mean weights that stays at each step of the learner.
        trace: lambda.
        explore: share of the decisions in which a random action is played.
        beam: positions kept by the search of the turn, in training and evaluation; 0: one action ahead.
        depth: actions that it goes ahead at most.
        margin: share of the margin of points in what is learned; the rest is the return.
        margin_scale: points of margin that count as 0.76.
        patience: factor by which what lies above a loss shrinks with each decision; below 1, sooner is better.
    """

    widths: Annotated[list[Positive], Field(min_length=2, max_length=2)] = [64, 32]
    features: bool = True
    against: str | None = None
    start: str | None = None
    decisions: Annotated[int, Field(ge=4000)] = 40_000
    memory: Positive = 500_000
    reuse: Annotated[float, Field(gt=0)] = 3.0
    batch_size: Positive = 1024
    learning_rate: Annotated[float, Field(gt=0)] = 1e-3
    learning_rate_end: Annotated[float, Field(ge=0)] = 5e-5
    average: Annotated[float, Field(ge=0, lt=1)] = 0.995
    trace: Fraction = 0.7
    explore: Fraction = 0.05
    beam: Annotated[int, Field(ge=0, le=4096)] = 0
    depth: Annotated[int, Field(ge=1, le=64)] = 8
    margin: Fraction = 0.5
    margin_scale: Annotated[float, Field(gt=0)] = 20.0
    patience: Annotated[float, Field(gt=0, le=1)] = 1.0

    @model_validator(mode="after")
    def _remembers_an_iteration(self) -> TDConfig:
        if self.memory < self.decisions:
            raise ValueError(f"td.memory = {self.memory} is not possible: it must hold td.decisions = {self.decisions}")
        return self


class LeagueConfig(_Section):
    """Whom the learner plays: shares of the games, relative to each other.

    Attributes:
        latest: weight of the policy that is being trained.
        past: weight of past selves, once there is one.
        scripted: agent spec -> weight.
        add_every: decisions of the learner from one past self to the next.
        keep: how many past selves are kept; the oldest goes first.
        sampling: which past self: "uniform", "recent" (weights halve with age) or "prioritized" (prioritized
            fictitious self-play with weights (1 - win rate)**2, Vinyals et al., Nature 2019).
    """

    latest: Annotated[float, Field(ge=0)] = 0.4
    past: Annotated[float, Field(ge=0)] = 0.3
    scripted: dict[str, Annotated[float, Field(ge=0)]] = {"random": 0.1, "greedy": 0.2}
    add_every: Positive = 200_000
    keep: Positive = 8
    sampling: Literal["uniform", "recent", "prioritized"] = "prioritized"

    @model_validator(mode="after")
    def _has_an_opponent(self) -> LeagueConfig:
        if self.latest + sum(self.scripted.values()) <= 0:
            raise ValueError("league.latest and the weights in league.scripted cannot all be 0")
        return self


class ShapingConfig(_Section):
    """Potential-based shaping of the learner's rewards (Ng, Harada and Russell 1999); never in evaluation.

    Attributes:
        weight: factor of the potential; 0 switches shaping off.
        potential: "score" (own score minus the best other, over `scale`) or "heuristic" (the game's own).
        scale: score points that are worth a potential of 1.
    """

    weight: Annotated[float, Field(ge=0)] = 1.0
    potential: Literal["score", "heuristic"] = "heuristic"
    scale: Annotated[float, Field(gt=0)] = 50.0


class EvaluationConfig(_Section):
    """Games against fixed opponents with rotated seats.

    Attributes:
        opponents: agent specs.
        games: games against each opponent, at every evaluation.
        every: decisions of the learner from one evaluation to the next.
        final_games: games against each opponent at the end of the run.
        anchor_games: games against each anchor of the variant that is not among the opponents, at the end of the run,
            for a rating on the scale of the anchors; 0: no rating.
        sample: whether the policy samples its moves rather than taking the most probable one.
    """

    opponents: list[str] = ["random", "greedy", "planner"]
    games: Positive = 100
    every: Positive = 250_000
    final_games: Positive = 1000
    anchor_games: Annotated[int, Field(ge=0)] = 0
    sample: bool = False


class CheckpointConfig(_Section):
    """How often the run is saved, in decisions of the learner, and how many checkpoints are kept beside the best."""

    every: Positive = 200_000
    keep: Positive = 3


class Config(_Section):
    """A whole training run.

    Attributes:
        run_dir: folder of everything that the run writes.
        seed: any non-negative integer; with a budget in steps the same seed gives the same run.
        threads: threads of the learner and of the environment.
        trainer: "ppo", a policy by MaskablePPO against a league; or "td", the value of positions by TD(lambda). The
            sections of the other one are not used.
    """

    trainer: Literal["ppo", "td"] = "ppo"
    game: GameConfig = GameConfig()
    run_dir: str
    seed: Annotated[int, Field(ge=0)] = 0
    threads: Positive = 2
    budget: BudgetConfig
    ppo: PPOConfig = PPOConfig()
    td: TDConfig = TDConfig()
    network: NetworkConfig = NetworkConfig()
    imitation: ImitationConfig = ImitationConfig()
    league: LeagueConfig = LeagueConfig()
    shaping: ShapingConfig = ShapingConfig()
    evaluation: EvaluationConfig = EvaluationConfig()
    checkpoints: CheckpointConfig = CheckpointConfig()

    def save(self, path: str | Path) -> None:
        """Write the configuration as YAML, every value spelled out."""
        write_text(path, yaml.safe_dump(self.model_dump(), sort_keys=False))

    def learning(self) -> dict[str, Any]:
        """Return the sections that change how the run learns; the others may change when it goes on."""
        return self.model_dump(exclude={"run_dir", "threads", "budget", "checkpoints", "evaluation"})

    def digest(self) -> str:
        """Return 12 hexadecimal digits of `learning`."""
        return hashlib.sha256(json.dumps(self.learning(), sort_keys=True).encode()).hexdigest()[:12]


def load_config(path: str | Path, overrides: Iterable[str] = ()) -> Config:
    """Read a configuration file and apply overrides.

    Args:
        path: a YAML file.
        overrides: "key.sub=value" each, the value in YAML.

    Raises:
        BadConfig: the file cannot be read, a key is unknown, or a value is of the wrong type or out of range.
    """
    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadConfig(f"the configuration {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadConfig(f"the configuration {path} is no text") from error
    except yaml.YAMLError as error:
        raise BadConfig(f"the configuration {path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(values, dict):
        raise BadConfig(f"the configuration {path} must be a mapping of keys to values")
    for override in overrides:
        _override(values, override)
    return make_config(values)


def make_config(values: Mapping[str, Any]) -> Config:
    """Check a nested mapping and return it as a configuration; raises BadConfig, see `load_config`."""
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise BadConfig(_sentence(error)) from error
    game = config.game.make()
    if config.network.kind == "board":
        Board(game)
    return config


def _override(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    *path, last = key.strip().split(".")
    if not equals or not last:
        raise BadConfig(f"the override {override!r} must have the form key.sub=value")
    for name in path:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise BadConfig(f"the override {override!r}: {name!r} is a value and has no keys")
    try:
        values[last] = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadConfig(f"the override {override!r}: the value is no YAML") from error


def _sentence(error: ValidationError) -> str:
    """Return one sentence about the first thing that is wrong."""
    first = error.errors()[0]
    location = [str(part) for part in first["loc"]]
    key = ".".join(location)
    if first["type"] == "extra_forbidden":
        return f"there is no key {key!r}: {nearest(location[-1], _known_keys(location[:-1]))}"
    if first["type"] == "missing":
        return f"the key {key!r} is missing"
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    return f"{key} = {first['input']!r} is not possible: {first['msg'][0].lower()}{first['msg'][1:]}"


def _known_keys(section: list[str]) -> list[str]:
    model: Any = Config
    for name in section:
        model = model.model_fields[name].annotation
    return list(model.model_fields)
