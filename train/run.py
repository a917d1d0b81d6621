"""A training run from its configuration to its results: the loop, its budget, and going on after a break."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
import yaml
from threadpoolctl import threadpool_limits

from agents.network import network_of
from agents.neural import BadCheckpoint, PolicyAgent, checkpoint_folders
from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game
from caravan_env.core.machine import machine
from train.checkpoint import Tensors, folder_of, prune, read_checkpoint, set_aside, write_checkpoint
from train.config import BadConfig, Config, make_config
from train.environment import TrainingEnv
from train.evaluate import Score, evaluate, write_results
from train.imitation import imitate
from train.league import League
from train.metrics import EVALUATIONS, append_line, make_logger
from train.plots import write_plots
from train.ppo import SelfPlayPPO
from train.progress import Progress

CONFIG = "config.yaml"
ALL = 10**9  # checkpoints to keep
_PARTS = ("optimizer", "environment", "league")


@dataclasses.dataclass(frozen=True)
class RunResult:
    """What a run came to.

    Attributes:
        run_dir: folder of everything it wrote.
        checkpoint: its last checkpoint.
        step: decisions of the learner.
        seconds: time spent, over all starts.
        finished: whether the budget was used up; False after Ctrl-C.
        scores: the final evaluation, [] if not finished.
    """

    run_dir: Path
    checkpoint: Path
    step: int
    seconds: float
    finished: bool
    scores: list[Score]


def run(config: Config, quiet: bool = False) -> RunResult:
    """Train, or go on with what is in `config.run_dir`, until the budget is used up; then evaluate and plot.

    Ctrl-C (or SIGTERM) ends it after the rollout at hand, with a checkpoint.

    Args:
        config: what to do.
        quiet: show no progress bar.

    Raises:
        CaravanError: the folder cannot be written, belongs to another configuration, or holds no readable checkpoint.
    """
    prepare_folder(config)
    torch.set_num_threads(config.threads)
    # numpy's BLAS gets one thread: its small products gain nothing from more, and its idle threads, which spin, take
    # the learner's cores away.
    with threadpool_limits(1, user_api="blas"), Progress(quiet) as display, _interrupts() as stop:
        trainer = Trainer(config)
        display.say(f"{config.run_dir}: {'going on at step ' + str(trainer.step) if trainer.step else 'a new run'}")
        while trainer.progress < 1.0 and not stop:
            trainer.iterate()
            display.show(trainer)
        folder = trainer.save()
        if stop:
            display.say(f"stopped; saved {folder}; the same command goes on from there")
            return RunResult(trainer.run_dir, folder, trainer.step, trainer.seconds, False, [])
        display.say(f"evaluating over {config.evaluation.final_games} games per opponent")
        return trainer.finish(folder)


def prepare_folder(config: Config) -> None:
    """Make the run folder and note the configuration in it, or check that it belongs to the same configuration.

    Raises:
        CaravanError: it cannot be written.
        BadConfig: another configuration was trained there.
    """
    path = Path(config.run_dir) / CONFIG
    if path.exists():
        _check_same(config, path)
    try:
        config.save(path)
    except OSError as error:
        raise CaravanError(f"the run folder {config.run_dir} cannot be written: {error.strerror or error}") from error


class Trainer:
    """A run in progress.

    Attributes:
        step: decisions of the learner so far.
        iteration: rollouts so far.
        speed: decisions of the learner per second in the last iteration.
        evaluations: what the periodic evaluations found, in order.
    """

    def __init__(self, config: Config) -> None:
        """Start a new run, or go on from the last whole checkpoint in the run folder."""
        self.config = config
        self.run_dir = Path(config.run_dir)
        self.game = config.game.make()
        self.step = self.iteration = 0
        self.speed = 0.0
        self.evaluations: list[dict[str, Any]] = []
        self._before = 0.0
        self._started = time.perf_counter()
        self.league = League(self.game, config.league, config.seed)
        self.env = TrainingEnv(self.game, config, self.league)
        found = last_checkpoint(self.run_dir, self.game)
        self.logger = make_logger(self.run_dir, found[0]["step"] if found else 0)
        self.model = SelfPlayPPO(config, self.env, self.logger)
        if found:
            self._restore(*found)
        else:
            self._begin()

    @property
    def seconds(self) -> float:
        """Time spent so far, over all starts."""
        return self._before + time.perf_counter() - self._started

    @property
    def progress(self) -> float:
        """How much of the budget is used, 0 to 1."""
        budget = self.config.budget
        by_time = self.seconds / 60 / budget.minutes if budget.minutes else 0.0
        by_steps = self.step / budget.steps if budget.steps else 0.0
        return min(1.0, max(by_time, by_steps))

    def iterate(self) -> None:
        """Collect a rollout, learn from it, and do what is due: a past self, an evaluation, a checkpoint."""
        self.league.begin(self.iteration, self.model.weights())
        before, start, in_steps = self.step, time.perf_counter(), self.env.seconds
        self.model.iterate(self.progress, self._seed("iteration"))
        self.step = self.model.num_timesteps
        self.iteration += 1
        self._log(time.perf_counter() - start, self.env.seconds - in_steps)
        if self._due(self.config.league.add_every, before):
            self.league.add(self.step, self.model.weights())
        if self._due(self.config.evaluation.every, before):
            choice = self.config.evaluation
            self._evaluate(self.agent(choice.sample), choice.games, "evaluation")
        if self._due(self.config.checkpoints.every, before):
            self.save()

    def save(self) -> Path:
        """Write a checkpoint, if there is none of this step, and delete old ones, not the best; return its folder."""
        if folder_of(self.run_dir, self.step).exists():
            return folder_of(self.run_dir, self.step)
        parts = (self.model.optimizer_tensors(), self.env.snapshot(), self.league.tensors())
        training = {f"{part}/{n}": a for part, arrays in zip(_PARTS, parts, strict=True) for n, a in arrays.items()}
        state = {
            "step": self.step,
            "iteration": self.iteration,
            "seconds": self.seconds,
            "updates": self.model._n_updates,
            "league": self.league.state(),
            "evaluations": self.evaluations,
        }
        about = {"network": self.config.network.model_dump(), "step": self.step, "config": self.config.digest()}
        folder = write_checkpoint(self.run_dir, self.game, about, self.model.weights(), training, state)
        prune(self.run_dir, self.config.checkpoints.keep, [self.best_step])
        return folder

    @property
    def best_step(self) -> int:
        """The step with the highest mean win rate over the evaluations' opponents, -1 before the first evaluation."""
        return int(
            max(self.evaluations, key=lambda e: np.mean([s["score"] for s in e["scores"]]), default={"step": -1})[
                "step"
            ]
        )

    def agent(self, sample: bool) -> PolicyAgent:
        """Return the policy as it is now."""
        network = network_of(self.game, self.model.weights())
        return PolicyAgent(self.game, network, self._seed("agent"), sample)

    def finish(self, checkpoint: Path) -> RunResult:
        """Evaluate the final policy, write table, plots and a replay, and return the result."""
        agent = self.agent(self.config.evaluation.sample)
        scores = self._evaluate(agent, self.config.evaluation.final_games, "final")
        notes = {
            "step": self.step,
            "seconds": round(self.seconds, 1),
            "checkpoint": checkpoint.name,
            "machine": machine(),
        }
        write_results(self.run_dir, self.game, agent, scores, notes)
        write_plots(self.run_dir)
        return RunResult(self.run_dir, checkpoint, self.step, self.seconds, True, scores)

    def _evaluate(self, agent: PolicyAgent, games: int, purpose: str) -> list[Score]:
        """Play the configured opponents and add a line to the evaluations."""
        opponents, seed = self.config.evaluation.opponents, self._seed(purpose)
        scores = evaluate(self.game, agent, opponents, games, seed, self.config.threads)
        line = {"step": self.step, "scores": [dataclasses.asdict(score) for score in scores]}
        self.evaluations.append(line)
        append_line(self.run_dir / EVALUATIONS, {**line, "time/seconds": round(self.seconds, 1)})
        return scores

    def _log(self, seconds: float, environment: float) -> None:
        record = self.logger.record
        for name, (games, score) in self.league.take_results().items():
            record(f"games/{name}", games)
            record(f"score/{name}", score)
        record("rollout/reward", float(self.model.rollout_buffer.rewards.mean()))
        record("league/past", len(self.league.past))
        record("iteration", self.iteration)
        self.speed = self.config.ppo.n_envs * self.config.ppo.n_steps / seconds
        record("time/seconds", self.seconds)
        record("time/steps_per_second", self.speed)
        thinking = self.league.thinking()
        for name, share in {**thinking, "environment": environment - sum(thinking.values())}.items():
            record(f"time/{name}", share / seconds)
        self.logger.dump(self.step)

    def _due(self, every: int, before: int) -> bool:
        return self.step // every > before // every

    def _seed(self, purpose: str) -> int:
        words = (self.config.seed, self.iteration, *purpose.encode())
        return int(np.random.SeedSequence(words).generate_state(1)[0])

    def _begin(self) -> None:
        """Imitate, if that is asked for, and start the first games."""
        choice = self.config.imitation
        if choice.agent is not None:
            imitate(self.model.policy.net, self.game, choice, self._seed("imitation"), self.config.threads)
        self.league.begin(0, self.model.weights())
        self.model.start(self.env.reset())

    def _restore(self, state: dict[str, Any], weights: Tensors, training: Tensors) -> None:
        optimizer, environment, league = (
            {n.removeprefix(f"{part}/"): a for n, a in training.items() if n.startswith(f"{part}/")} for part in _PARTS
        )
        self.step, self.iteration, self._before = state["step"], state["iteration"], state["seconds"]
        self.evaluations = state["evaluations"]
        self.model.load(weights, optimizer)
        self.model.num_timesteps, self.model._n_updates = self.step, state["updates"]
        self.league.restore(state["league"], league)
        self.league.begin(self.iteration, weights)
        self.model.start(self.env.restore(environment))


def last_checkpoint(run_dir: Path, game: Game) -> tuple[dict[str, Any], Tensors, Tensors] | None:
    """Return what the last whole checkpoint of a run holds, None if there is no checkpoint yet.

    Damaged ones after it are set aside.

    Raises:
        BadCheckpoint: there are some, and none can be read.
    """
    prune(run_dir, keep=ALL)
    damage: list[tuple[Path, BadCheckpoint]] = []
    for folder in reversed(checkpoint_folders(run_dir)):
        try:
            found = read_checkpoint(folder, game)
        except BadCheckpoint as error:
            damage.append((folder, error))
            continue
        for damaged, _ in damage:
            set_aside(damaged)
        return found
    if damage:
        raise damage[0][1]
    return None


def _check_same(config: Config, path: Path) -> None:
    try:
        there = make_config(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, BadConfig) as error:
        raise BadConfig(f"{path} is no configuration of this version; choose another run_dir ({error})") from error
    if there.digest() != config.digest():
        raise BadConfig(
            f"{config.run_dir} holds a run with another configuration ({_first_difference(there, config)}); "
            "choose another run_dir"
        )


def _first_difference(there: Config, here: Config) -> str:
    old, new = there.learning(), here.learning()
    section = next(name for name in old if old[name] != new[name])
    if not isinstance(old[section], dict):
        return f"{section} = {old[section]!r} there, {new[section]!r} here"
    key = next(name for name in old[section] if old[section][name] != new[section][name])
    return f"{section}.{key} = {old[section][key]!r} there, {new[section][key]!r} here"


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM instead of dying of them; a second SIGINT raises KeyboardInterrupt."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
