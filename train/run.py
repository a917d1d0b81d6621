"""A training run from its configuration to its results: the loop, its budget, and going on after a break."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
import yaml
from stable_baselines3.common.logger import Logger
from threadpoolctl import threadpool_limits

from agents.base import Agent
from agents.neural import BadCheckpoint, checkpoint_folders
from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game
from caravan_env.core.machine import machine
from train.checkpoint import Tensors, folder_of, prune, read_checkpoint, set_aside, write_checkpoint
from train.config import BadConfig, Config, make_config
from train.evaluate import (
    Match,
    Rating,
    Score,
    other_anchors,
    play_matches,
    rating_of,
    rating_sentence,
    write_results,
)
from train.learner import Learner
from train.metrics import EVALUATIONS, append_line, make_logger
from train.plots import write_plots
from train.progress import Progress
from train.self_play import PPOLearner
from train.td import TDLearner

CONFIG = "config.yaml"
ALL = 10**9  # checkpoints to keep
LEARNERS: dict[str, Callable[[Game, Config, Logger], Learner]] = {"ppo": PPOLearner, "td": TDLearner}


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
        rating: on the scale of the anchors, None if not finished, not asked for, or if the variant has no anchors.
    """

    run_dir: Path
    checkpoint: Path
    step: int
    seconds: float
    finished: bool
    scores: list[Score]
    rating: Rating | None = None


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


def run_to_marks(config: Config, marks: Sequence[float]) -> None:
    """Train, or go on, until the learner has used the last of the marks, and save a checkpoint at each.

    An iteration that passes several marks gives one checkpoint. Nothing is evaluated beyond what `config` asks for.

    Args:
        config: what to do; only its budget may end it earlier.
        marks: minutes of CPU time, ascending, see `Trainer.cpu_seconds`.

    Raises:
        CaravanError: see `run`.
    """
    prepare_folder(config)
    torch.set_num_threads(config.threads)
    with threadpool_limits(1, user_api="blas"):
        trainer = Trainer(config)
        for mark in marks:
            while trainer.cpu_seconds < 60 * mark:
                trainer.iterate()
            trainer.save()
        trainer.logger.close()


def prepare_folder(config: Config) -> None:
    """Make the run folder and note the configuration in it, or check that it belongs to the same configuration.

    A start that failed before its first checkpoint binds nobody: a corrected configuration takes its place.

    Raises:
        CaravanError: it cannot be written.
        BadConfig: another configuration was trained there.
    """
    path = Path(config.run_dir) / CONFIG
    if path.exists() and checkpoint_folders(path.parent):
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
        cpu_seconds: of all threads together, for learning alone, over all starts: playing and learning, and what comes
            before them, without evaluations and checkpoints.
        speed: decisions of the learner per second in the last iteration.
        evaluations: what the periodic evaluations found, in order.
    """

    def __init__(self, config: Config) -> None:
        """Start a new run, or go on from the last whole checkpoint in the run folder."""
        self.config = config
        self.run_dir = Path(config.run_dir)
        self.game = config.game.make()
        self.step = self.iteration = 0
        self.speed = self.cpu_seconds = 0.0
        self.evaluations: list[dict[str, Any]] = []
        self._before = 0.0
        self._started = time.perf_counter()
        found = last_checkpoint(self.run_dir, self.game)
        self.logger = make_logger(self.run_dir, found[0]["step"] if found else 0)
        self.learner: Learner = LEARNERS[config.trainer](self.game, config, self.logger)
        if found:
            self._restore(*found)
        else:
            with self._learning():
                self.learner.begin(self._seed("imitation"))

    @property
    def seconds(self) -> float:
        """Time spent so far, over all starts."""
        return self._before + time.perf_counter() - self._started

    @property
    def progress(self) -> float:
        """How much of the budget is used, 0 to 1."""
        budget = self.config.budget
        by_time = self.seconds / 60 / budget.minutes if budget.minutes else 0.0
        by_cpu = self.cpu_seconds / 60 / budget.cpu_minutes if budget.cpu_minutes else 0.0
        by_steps = self.step / budget.steps if budget.steps else 0.0
        return min(1.0, max(by_time, by_cpu, by_steps))

    def iterate(self) -> None:
        """Let the learner play and learn, and do what is due: an evaluation, a checkpoint."""
        before, start = self.step, time.perf_counter()
        with self._learning():
            self.learner.iterate(self.iteration, self.progress, self._seed("iteration"))
        self.step = self.learner.step
        self.iteration += 1
        self._log((self.step - before) / (time.perf_counter() - start))
        if self._due(self.config.evaluation.every, before):
            choice = self.config.evaluation
            self._evaluate(self.agent(choice.sample), choice.games, "evaluation")
        if self._due(self.config.checkpoints.every, before):
            self.save()

    def save(self) -> Path:
        """Write a checkpoint, if there is none of this step, and delete old ones, not the best; return its folder."""
        if folder_of(self.run_dir, self.step).exists():
            return folder_of(self.run_dir, self.step)
        training, own = self.learner.snapshot()
        state = {
            **own,
            "step": self.step,
            "iteration": self.iteration,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "evaluations": self.evaluations,
        }
        about = {
            "network": self.learner.network(),
            "step": self.step,
            "config": self.config.digest(),
            "shaping": self.config.shaping.model_dump() if self.config.trainer == "ppo" else {},
        }
        folder = write_checkpoint(self.run_dir, self.game, about, self.learner.weights(), training, state)
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

    def agent(self, sample: bool) -> Agent:
        """Return what is learned so far as an agent."""
        return self.learner.agent(sample, self._seed("agent"))

    def finish(self, checkpoint: Path) -> RunResult:
        """Evaluate the final policy, write table, plots and a replay, and return the result."""
        choice = self.config.evaluation
        agent = self.agent(choice.sample)
        matches = self._evaluate(agent, choice.final_games, "final")
        rival = matches[-1].opponent if matches else None
        rating, about = None, ""
        if choice.anchor_games:
            others = other_anchors(self.game, choice.opponents)
            matches += self._matches(agent, others, choice.anchor_games, "final") if others else []
            rating = rating_of(self.game, matches)
            about = rating_sentence(self.game, rating)
        scores = [match.score() for match in matches]
        notes = {
            "step": self.step,
            "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu_seconds, 1),
            "checkpoint": checkpoint.name,
            "machine": machine(),
            "rating": dataclasses.asdict(rating) if rating else None,
        }
        write_results(self.run_dir, self.game, agent, scores, notes, rival, about)
        write_plots(self.run_dir)
        return RunResult(self.run_dir, checkpoint, self.step, self.seconds, True, scores, rating)

    def _evaluate(self, agent: Agent, games: int, purpose: str) -> list[Match]:
        """Play the configured opponents and add a line to the evaluations."""
        matches = self._matches(agent, self.config.evaluation.opponents, games, purpose)
        line = {"step": self.step, "scores": [dataclasses.asdict(match.score()) for match in matches]}
        self.evaluations.append(line)
        times = {"time/seconds": round(self.seconds, 1), "time/cpu_seconds": round(self.cpu_seconds, 1)}
        append_line(self.run_dir / EVALUATIONS, {**line, **times})
        return matches

    def _matches(self, agent: Agent, opponents: Sequence[str], games: int, purpose: str) -> list[Match]:
        return play_matches(self.game, agent, opponents, games, self._seed(purpose), self.config.threads)

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """Count the CPU time of the block."""
        start = time.process_time()
        yield
        self.cpu_seconds += time.process_time() - start

    def _log(self, speed: float) -> None:
        self.speed = speed
        self.logger.record("iteration", self.iteration)
        self.logger.record("time/seconds", self.seconds)
        self.logger.record("time/cpu_seconds", self.cpu_seconds)
        self.logger.record("time/steps_per_second", speed)
        self.logger.dump(self.step)

    def _due(self, every: int, before: int) -> bool:
        return self.step // every > before // every

    def _seed(self, purpose: str) -> int:
        words = (self.config.seed, self.iteration, *purpose.encode())
        return int(np.random.SeedSequence(words).generate_state(1)[0])

    def _restore(self, state: dict[str, Any], weights: Tensors, training: Tensors) -> None:
        self.step, self.iteration, self._before = state["step"], state["iteration"], state["seconds"]
        self.cpu_seconds = state.get("cpu_seconds", 0.0)  # checkpoints of earlier versions did not count it
        self.evaluations = state["evaluations"]
        self.learner.restore(self.step, self.iteration, weights, training, state)


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
