"""Compare trainers: how strong their policies are, on the scale of the anchors, against CPU minutes of learning.

    python benchmarks/trainers.py --seeds 0,1 --minutes 8 --out curves
    python benchmarks/trainers.py --configs caravan-2p --seeds 0 --minutes 4 --play beam=16 --jobs 2 --out curves

Every configuration is trained with every seed, on one thread, until it has used so many CPU minutes, into
OUT/NAME-SEED. What counts is learning, imitation included; compiling the kernels and evaluations do not. Checkpoints
are kept at doubling CPU minutes. Each of them plays the anchors of the game variant, the same deals for all, and is
rated on their scale. With --play value networks are rated once more with other options of their search.

The same command again goes on where it was stopped. In OUT it leaves curves.json, curves.md, curves.svg and curves.png.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from threadpoolctl import threadpool_limits

from agents.anchors import known_anchors, variant
from agents.registry import POLICY, search_options, with_options
from caravan_env.cli.training import find_config, load
from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game
from train.config import Config
from train.curves import (
    AS_TRAINED,
    Point,
    Row,
    curves_of,
    doubling,
    points,
    rate_on_ladder,
    row_of,
    table,
    write_curves,
)
from train.run import ALL, CONFIG, Trainer, run_to_marks

NEVER = 10**12  # decisions
MISTAKE = 2  # of the user
LEARNERS = [str(path) for path in sorted((Path(__file__).parent / "learners").glob("*.yaml"))]


@dataclass(frozen=True)
class Run:
    """A configuration with a seed.

    Attributes:
        name: of the configuration.
        config: with the seed, the budget and the folder of this comparison.
    """

    name: str
    config: Config

    @property
    def folder(self) -> Path:
        """Its run folder."""
        return Path(self.config.run_dir)

    @property
    def minutes(self) -> float:
        """The CPU minutes that it gets."""
        return self.config.budget.cpu_minutes or 0.0


# ----------------------------------------------------------------------------------------------------------- training


def runs_of(configs: Sequence[str], seeds: Sequence[int], minutes: float, out: Path) -> list[Run]:
    """Return all runs of a comparison.

    Raises:
        CaravanError: a configuration cannot be read, two have the same name or are of different game variants, or a
            folder holds a run with another budget.
    """
    names = [name_of(config) for config in configs]
    if len(set(names)) < len(names):
        raise CaravanError(f"two configurations have the same name: {', '.join(names)}; rename one of the files")
    runs = [
        Run(name, load(config, overrides(out / f"{name}-{seed}", seed, minutes)))
        for name, config in zip(names, configs, strict=True)
        for seed in seeds
    ]
    if any(variant(run.config.game.make()) != variant(runs[0].config.game.make()) for run in runs):
        raise CaravanError("the configurations are of different game variants; ratings compare within one only")
    for run in runs:
        check_budget(run)
    return runs


def name_of(config: str) -> str:
    """Return the name of a configuration: of its file, or of the run folder that it is in."""
    path = find_config(config)
    return path.parent.name if path.name == CONFIG else path.stem


def overrides(folder: Path, seed: int, minutes: float) -> tuple[str, ...]:
    """Return what the comparison decides in place of the configuration."""
    return (
        f"run_dir={folder}",
        f"seed={seed}",
        "threads=1",
        f"budget={{cpu_minutes: {minutes}}}",
        f"evaluation.every={NEVER}",
        f"checkpoints={{every: {NEVER}, keep: {ALL}}}",
    )


def check_budget(run: Run) -> None:
    """Raise CaravanError if there is a run with another budget: its learning rate would have fallen otherwise."""
    path = run.folder / CONFIG
    if path.exists():
        there = yaml.safe_load(path.read_text(encoding="utf-8"))["budget"].get("cpu_minutes")
        if there != run.minutes:
            raise CaravanError(
                f"{run.folder} was trained with --minutes {there}, not {run.minutes}; choose another --out"
            )


def train(run: Run, marks: Sequence[float]) -> str:
    """Train a run to its end, with a checkpoint at each mark; return what was done in a sentence."""
    found = points(run.folder)
    if not found or found[-1].cpu_minutes < marks[-1]:
        compile_for(run.config)
        run_to_marks(run.config, marks)
        found = points(run.folder)
    last = found[-1]
    return (
        f"{run.folder.name}: {len(found)} checkpoints, {last.step:,} decisions in {last.cpu_minutes:.2f} CPU minutes, "
        f"{last.wall_minutes:.2f} minutes by the clock"
    )


def compile_for(config: Config) -> None:
    """Train a little somewhere else, so that no compilation is counted."""
    small = config.model_copy(
        update={
            "ppo": config.ppo.model_copy(update={"n_envs": 32, "n_steps": 16, "batch_size": 128, "n_epochs": 1}),
            "td": config.td.model_copy(update={"decisions": 4000, "memory": 8000, "batch_size": 128}),
            "imitation": config.imitation.model_copy(update={"decisions": 128, "batch_size": 64, "epochs": 1}),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(small.model_copy(update={"run_dir": folder}))
        trainer.iterate()
        trainer.logger.close()


def train_all(runs: Sequence[Run], marks: Sequence[float], jobs: int) -> None:
    """Train all runs, as many at once as there are jobs, each in a process of its own."""
    if jobs == 1:
        for run in runs:
            print(train(run, marks), flush=True)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        for sentence in pool.map(train, runs, [marks] * len(runs)):
            print(sentence, flush=True)


# ------------------------------------------------------------------------------------------------------------- rating


def spec_of(run: Run, point: Point, play: str) -> str:
    """Return the agent that a checkpoint is, with the search of its training, or with other options."""
    spec, td = f"{POLICY}:{point.folder}", run.config.td
    if run.config.trainer == "td" and td.beam:
        spec = with_options(spec, f"beam={td.beam},depth={td.depth}")
    return spec if play == AS_TRAINED else with_options(spec, play)


def tasks(runs: Iterable[Run], plays: Sequence[str]) -> Iterator[tuple[Run, Point, str]]:
    """Yield every checkpoint with every way to play it."""
    for run in runs:
        more = plays if run.config.trainer == "td" else ()
        for play in (AS_TRAINED, *more):
            for point in points(run.folder):
                yield run, point, play


def rate_all(
    game: Game, runs: Sequence[Run], ladder: Mapping[str, float], options: argparse.Namespace
) -> Iterator[Row]:
    """Yield the rating of every checkpoint; its games are kept in OUT/games."""
    for run, point, play in tasks(runs, options.play):
        spec = spec_of(run, point, play)
        folder = options.out / "games" / f"{run.folder.name}, {play}" / point.folder.name
        standing = rate_on_ladder(game, spec, ladder, options.games, folder, threads=options.jobs)
        row = row_of(run.name, run.config.seed, play, point, standing)
        print(
            f"{run.folder.name}, {play}, {row.cpu_minutes:.2f} CPU minutes: "
            f"{row.rating:.0f} [{row.low:.0f}, {row.high:.0f}]",
            flush=True,
        )
        yield row


def ladder_of(game: Game, opponents: Sequence[str]) -> dict[str, float]:
    """Return the anchors that are played, all of the variant by default; raises CaravanError."""
    known = known_anchors(game)
    if unknown := [name for name in opponents if name not in known]:
        raise CaravanError(f"{unknown[0]!r} is no anchor of this variant: {', '.join(known)}")
    return {name: rating for name, rating in known.items() if not opponents or name in opponents}


# ------------------------------------------------------------------------------------------------------------ command


def listed(kind: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """Return what reads a comma-separated list of a kind."""
    return lambda text: [kind(piece) for piece in filter(None, map(str.strip, text.split(",")))]


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--configs",
        type=listed(str),
        default=LEARNERS,
        help="as `caravan train` takes them: A,B,... (default: benchmarks/learners)",
    )
    parser.add_argument("--seeds", type=listed(int), default=[0], help="one run each (default: 0)")
    parser.add_argument("--minutes", type=float, default=8.0, help="CPU minutes of learning of a run (default: 8)")
    parser.add_argument("--checkpoints", type=int, default=8, help="of each run (default: 8)")
    parser.add_argument("--play", action="append", default=[], help="options for value networks, again: beam=16")
    parser.add_argument("--games", type=int, default=40, help="against each anchor (default: 40)")
    parser.add_argument("--opponents", type=listed(str), default=[], help="anchors to play; all by default")
    parser.add_argument("--jobs", type=int, default=1, help="runs, or batches of games, at once (default: 1)")
    parser.add_argument("--out", type=Path, required=True, help="the folder of it all")
    options = parser.parse_args(words)
    if not options.configs or not options.seeds:
        parser.error("at least one configuration and one seed are needed")
    if options.minutes <= 0 or min(options.checkpoints, options.games, options.jobs) < 1:
        parser.error("--minutes, --checkpoints, --games and --jobs must be positive")
    options.out = options.out.resolve()  # the games name the checkpoints by their paths
    return options


def compare(options: argparse.Namespace) -> None:
    """Train, rate, write and print; raises CaravanError, for what the options name before anything is trained."""
    runs = runs_of(options.configs, options.seeds, options.minutes, options.out)
    game = runs[0].config.game.make()
    ladder = ladder_of(game, options.opponents)
    for play in options.play:
        search_options("RUN", play.split(","))
    train_all(runs, doubling(options.minutes, options.checkpoints), options.jobs)
    with threadpool_limits(1, user_api="blas"):
        rows = list(rate_all(game, runs, ladder, options))
    curves = curves_of(game, options.minutes, ladder, rows)
    files = write_curves(options.out, curves)
    print("\n".join(["", *table(curves), "", *map(str, files)]))


def main(words: Sequence[str] | None = None) -> int:
    """Compare as the command line says; return the exit code."""
    try:
        compare(arguments(words))
    except CaravanError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISTAKE
    return 0


if __name__ == "__main__":
    sys.exit(main())
