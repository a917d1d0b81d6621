"""Trained policies as agents, on numpy alone, see `agents.network`.

A checkpoint folder holds `policy.safetensors` (the weights) and `policy.json` (what they are for). docs/formats.md
describes both.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from agents.base import RowAgent, enough_streams
from agents.network import KINDS, Float, Network, network_of
from agents.search import policy_judge
from agents.search.evaluators import Evaluator
from agents.search.judges import MARGIN_SCALE
from agents.search.policy_judge import Shaping
from agents.value import agent as value_agent
from agents.value.agent import ValueAgent
from agents.value.binding import bound
from agents.value.network import ValueNetwork
from caravan_env.core.errors import CaravanError, UnknownName
from caravan_env.core.game import Game, State
from caravan_env.core.kernel import kernel
from caravan_env.core.match import Thought
from caravan_env.core.rng import next_u64, streams

FORMAT = 1
WEIGHTS = "policy.safetensors"
DESCRIPTION = "policy.json"
CHECKPOINTS = "checkpoints"
POLICY_SHOWN = 8  # a thought names so many of the most probable actions


class BadCheckpoint(CaravanError, ValueError):
    """A checkpoint that is missing, damaged, or of another game, version or format."""


@dataclasses.dataclass(frozen=True)
class Description:
    """What a policy is for, and where it comes from.

    Attributes:
        game: name of the game.
        version: version of the game; another one means other observations or actions.
        params: rule switches it was trained with.
        observation: piece name -> shape of the observation vector.
        actions: size of the action mask.
        network: its kind (none: mlp) and the widths of its layers, see `train.config.NetworkConfig`.
        step: decisions of the learner so far.
        config: digest of the configuration it was trained with.
        sha256: file name -> digest of the other files of the checkpoint.
        shaping: the fields of `policy_judge.Shaping`, which its value head's word depends on; those left out have their
            defaults, which are those of training.
        format: version of this format.
    """

    game: str
    version: int
    params: Mapping[str, Any]
    observation: Mapping[str, list[int]]
    actions: int
    network: Mapping[str, Any]
    step: int
    config: str
    sha256: Mapping[str, str]
    shaping: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    format: int = FORMAT

    @classmethod
    def of_game(cls, game: Game, **rest: Any) -> Self:
        """Return a description with the fields that the game decides filled in."""
        return cls(
            game=game.name,
            version=game.spec.version,
            params=game.params.to_json(),
            observation=_pieces(game),
            actions=game.num_actions,
            **rest,
        )

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the description in a checkpoint folder; raises BadCheckpoint."""
        path = folder / DESCRIPTION
        try:
            struct = json.loads(path.read_text(encoding="utf-8"))
            description = cls(**struct)
        except OSError as error:
            raise BadCheckpoint(
                f"{folder} is no checkpoint: {DESCRIPTION} cannot be read ({error.strerror})"
            ) from error
        except (ValueError, TypeError) as error:
            raise BadCheckpoint(f"the checkpoint {folder} is damaged: {DESCRIPTION}: {error}") from error
        if description.format != FORMAT:
            raise BadCheckpoint(f"{path} is checkpoint format {description.format}; this package reads format {FORMAT}")
        if description.network.get("kind", KINDS[0]) not in KINDS:
            kind = description.network["kind"]
            raise BadCheckpoint(f"{path} is of a network of kind {kind!r}; this package knows {', '.join(KINDS)}")
        return description

    def check(self, game: Game, folder: Path) -> None:
        """Raise BadCheckpoint unless the policy can play this variant of the game."""
        if self.game != game.name:
            raise BadCheckpoint(f"the checkpoint {folder} is of the game {self.game!r}, not of {game.name!r}")
        if self.version != game.spec.version:
            raise BadCheckpoint(
                f"the checkpoint {folder} is of {self.game} version {self.version}, "
                f"and this package plays version {game.spec.version}"
            )
        if dict(self.observation) != _pieces(game) or self.actions != game.num_actions:
            raise BadCheckpoint(
                f"the checkpoint {folder} was trained with other rule switches, "
                f"under which a seat sees something else: {_differences(self.params, game.params.to_json())}"
            )


class PolicyAgent(RowAgent):
    """Plays what a trained policy says: its most probable action, or a sample."""

    def __init__(self, game: Game, network: Network, seed: int = 0, sample: bool = False, name: str = "policy") -> None:
        super().__init__(game, seed)
        self.name = name
        self.network = network
        self.sample = sample
        self._streams = streams(seed, 1)

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; all rows go through the network at once, and row i draws from stream i."""
        return self.act_games(S, mask, np.arange(len(S)))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`; game g draws from stream g."""
        return self._choose(self.network.logits(observe(self.game, S), mask), games)

    def think(self, state: State) -> Thought:
        """Return the action with the value and the most probable actions."""
        obs = observe(self.game, state.row)
        logits = self.network.logits(obs, state.action_mask()[None])
        action = int(self._choose(logits, np.zeros(1, np.int64))[0])
        probabilities = _probabilities(logits)[0]
        top = np.argsort(-probabilities, kind="stable")[:POLICY_SHOWN]
        policy = {int(a): float(probabilities[a]) for a in top if probabilities[a] > 0}
        return Thought(action, float(self.network.values(obs)[0]), policy)

    def _choose(self, logits: Float, games: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.sample:
            return logits.argmax(axis=1)
        self._streams = enough_streams(self._streams, self.seed, games)
        return draw(logits, self._streams, games)


def load_policy(
    path: str | Path, game: Game, seed: int = 0, sample: bool = False, **options: int
) -> PolicyAgent | ValueAgent:
    """Return the policy of a run folder (its last checkpoint) or of a checkpoint folder.

    Args:
        path: the folder.
        game: the variant to play.
        seed: where the agent's own randomness starts.
        sample: whether it draws its actions from its probabilities; not for a value network.
        options: those of a value network's search, see `ValueAgent`.

    Raises:
        BadCheckpoint: there is none, it is damaged, or it cannot play this variant.
        UnknownName: an option that this kind of policy has not.
    """
    description, weights = read_policy(path, game)
    if description.network.get("kind") == "value":
        return ValueAgent(game, _value_network(path, game, weights), seed, **options, name=f"policy:{path}")
    if options:
        raise UnknownName(f"the policy {path} has no option {next(iter(options))!r}: only value networks search")
    return PolicyAgent(game, network_of(game, weights), seed, sample, f"policy:{path}")


def load_evaluator(path: str | Path, game: Game) -> Evaluator:
    """Return what makes a tree search judge by the network of a run or checkpoint folder.

    Raises:
        BadCheckpoint: see `load_policy`; or the network is convolutional, which the kernels do not evaluate.
    """
    from agents.registry import heuristics  # the registry knows policies, too

    description, weights = read_policy(path, game)
    kind = description.network.get("kind", KINDS[0])
    if kind == "value":
        return value_agent.evaluator(game, _value_network(path, game, weights))
    if kind == "board":
        raise BadCheckpoint(
            f"the policy {path} has a convolutional network (network.kind = board), which tree search cannot use; it "
            "takes policies with network.kind = mlp and value networks"
        )
    network = Network(weights)
    if not network.fits(game.layout.size, game.num_actions):
        raise BadCheckpoint(
            f"the weights of the policy {path} do not lead from {game.layout.size} observed values to "
            f"{game.num_actions} actions and a value"
        )
    margin = MARGIN_SCALE if description.params.get("returns") == "margin" else 0.0
    try:
        shaping = Shaping(**description.shaping)
    except (TypeError, ValueError) as error:
        raise BadCheckpoint(f"the policy {path} is damaged: its shaping cannot be read: {error}") from error
    return policy_judge.evaluator(game, network, shaping, heuristics(game.name), margin)


def read_policy(path: str | Path, game: Game) -> tuple[Description, dict[str, NDArray[Any]]]:
    """Return the description and the weights of a run or checkpoint folder; raises BadCheckpoint, see `load_policy`."""
    folder = resolve(path)
    description = Description.read(folder)
    description.check(game, folder)
    return description, read_tensors(folder, WEIGHTS, description)


def observe(game: Game, S: NDArray[np.void]) -> Float:
    """Return what the seat to move knows in every row, (rows, observation) float32."""
    seats = np.empty(len(S), np.int64)
    obs = np.empty((len(S), game.layout.size), np.uint8)
    game.loops["mover_rows"](S, seats)
    game.loops["observe_rows"](S, seats, obs)
    return game.layout.scaled(obs)


def draw(logits: Float, R: NDArray[np.uint64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw one action per row from masked logits (n, actions), by inverting the cumulative distribution.

    Args:
        logits: (n, actions), -inf where an action is not legal.
        R: uint64 streams, advanced.
        rows: (n,) int64, the stream of each row.
    """
    tickets = np.empty(len(rows))
    _draw_tickets(R, rows, tickets)
    cumulative = np.cumsum(_probabilities(logits), axis=1, dtype=np.float64)
    chosen = (cumulative <= tickets[:, None] * cumulative[:, -1:]).sum(axis=1)
    return np.asarray(chosen, dtype=np.int64)


def resolve(path: str | Path) -> Path:
    """Return the checkpoint folder that a path means: itself, or the last checkpoint of a run folder."""
    folder = Path(path)
    if (folder / DESCRIPTION).exists():
        return folder
    found = checkpoint_folders(folder)
    if not found:
        raise BadCheckpoint(f"there is no checkpoint in {folder}")
    return found[-1]


def checkpoint_folders(run_dir: Path) -> list[Path]:
    """Return the checkpoint folders of a run, in the order of their steps."""
    return sorted(path for path in (run_dir / CHECKPOINTS).glob("step-*") if path.is_dir())


def read_tensors(folder: Path, name: str, description: Description) -> dict[str, NDArray[Any]]:
    """Read a safetensors file of a checkpoint whose digest is in the description; raises BadCheckpoint."""
    path = folder / name
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != description.sha256.get(name):
            raise BadCheckpoint(f"the checkpoint {folder} is damaged: {name} is not as it was written")
        return dict(load_file(path))
    except (OSError, SafetensorError) as error:
        raise BadCheckpoint(f"the checkpoint {folder} is damaged: {name} cannot be read: {error}") from error


@kernel
def _draw_tickets(R, rows, tickets):  # type: ignore[no-untyped-def]
    """Write a uniform number in [0, 1 - 2**-24] per row; times a total it stays below it in spite of rounding."""
    for k in range(rows.shape[0]):
        tickets[k] = np.float32(next_u64(R, rows[k]) >> np.uint64(40)) * np.float32(2.0**-24)


def _value_network(path: str | Path, game: Game, weights: Mapping[str, NDArray[Any]]) -> ValueNetwork:
    """Return the network of these weights; raises BadCheckpoint if it has other inputs, which kernels do not check."""
    network = ValueNetwork(weights)
    known = bound(game, network.features > 0).features
    if network.features != known or network.observation not in (0, game.layout.size):
        raise BadCheckpoint(
            f"the value network {path} reads {network.observation} observed values and {network.features} features; "
            f"{game.name} has {game.layout.size} and {known} here"
        )
    return network


def _pieces(game: Game) -> dict[str, list[int]]:
    return {name: list(piece.shape) for name, piece in game.layout.pieces.items()}


def _differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    names = [name for name in ours if theirs.get(name) != ours[name]]
    return ", ".join(f"{name} = {theirs.get(name)!r} there, {ours[name]!r} here" for name in names)


def _probabilities(logits: Float) -> Float:
    weights: Float = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
