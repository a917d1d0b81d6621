"""Trainers compared: the ratings of their checkpoints, on the scale of the anchors, against CPU minutes of learning.

What was found is a JSON file, `FILE`, with

| entry | what is in it |
| --- | --- |
| `machine`, `game`, `params` | where and in which variant it was measured |
| `minutes` | CPU minutes that each run had |
| `anchors` | the opponents that every checkpoint played: agent -> rating |
| `rows` | a line for each checkpoint and way to play it, see `Row` |
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.anchors import variant
from agents.neural import checkpoint_folders
from agents.ratings import Standing, rate
from agents.tournament import Arena, Job, batches_of
from caravan_env.core.errors import CaravanError
from caravan_env.core.files import atomic_path, write_text
from caravan_env.core.game import Game
from caravan_env.core.machine import machine
from train.checkpoint import STATE, step_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FILE = "curves.json"
TABLE = "curves.md"
DRAWINGS = ("curves.svg", "curves.png")
AS_TRAINED = "as trained"
_STYLES = ("-", "--", ":", "-.")
_COLUMNS = 4  # of ratings, each at twice the minutes of the one before

Curves = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Point:
    """A checkpoint, and what it had cost.

    Attributes:
        folder: of the checkpoint.
        step: decisions of the learner.
        cpu_minutes: of learning, all threads together.
        wall_minutes: of the run, by the clock.
    """

    folder: Path
    step: int
    cpu_minutes: float
    wall_minutes: float


@dataclasses.dataclass(frozen=True)
class Row:
    """How strong a checkpoint is.

    Attributes:
        config: name of the configuration.
        seed: of the run.
        play: AS_TRAINED, or the options that were given to the policy.
        step: decisions of the learner.
        cpu_minutes: of learning, all threads together.
        wall_minutes: of the run, by the clock.
        rating: on the scale of the anchors.
        low: lower end of its 95 % interval, the anchors being fixed.
        high: upper end.
        games: against anchors.
    """

    config: str
    seed: int
    play: str
    step: int
    cpu_minutes: float
    wall_minutes: float
    rating: float
    low: float
    high: float
    games: int


# ---------------------------------------------------------------------------------------------------------- measuring


def doubling(minutes: float, count: int) -> list[float]:
    """Return `count` marks up to `minutes`, each twice the one before."""
    return [minutes / 2**k for k in reversed(range(count))]


def points(run_dir: Path) -> list[Point]:
    """Return the checkpoints of a run, in the order of their steps."""
    return [_point(folder) for folder in checkpoint_folders(run_dir)]


def _point(folder: Path) -> Point:
    path = folder / STATE
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        return Point(folder, step_of(folder), state["cpu_seconds"] / 60, state["seconds"] / 60)
    except (OSError, ValueError, KeyError) as error:
        raise CaravanError(f"{path} does not say what the checkpoint has cost ({error!r})") from error


def rate_on_ladder(
    game: Game, spec: str, ladder: Mapping[str, float], games: int, folder: Path, seed: int = 0, threads: int = 1
) -> Standing:
    """Return how an agent stands after games against each agent of a ladder, whose ratings are fixed.

    Args:
        game: the variant, of at least two seats.
        spec: the agent; a ladder agent has all other seats.
        ladder: agent -> rating.
        games: against each, rounded up to whole batches of deals; agents with the same seed get the same deals.
        folder: where the games are kept; what is there is not played again, see `agents.tournament.Arena`.
        seed: of the deals.
        threads: how many batches are played at once.

    Raises:
        CaravanError: see `Arena`.
    """
    arena = Arena(game, [spec, *ladder], folder, seed)
    numbers = range(batches_of(games, game.players))
    jobs = [Job((spec, *[rung] * (game.players - 1)), number) for number in numbers for rung in ladder]
    arena.play([job for job in jobs if job not in arena.results], threads)
    standings = rate(arena.tables(), [spec, *ladder], ladder)
    return next(standing for standing in standings if standing.agent == spec)


def row_of(config: str, seed: int, play: str, point: Point, standing: Standing) -> Row:
    """Return the line of a checkpoint, rounded."""
    return Row(
        config=config,
        seed=seed,
        play=play,
        step=point.step,
        cpu_minutes=round(point.cpu_minutes, 3),
        wall_minutes=round(point.wall_minutes, 3),
        rating=round(standing.rating, 1),
        low=round(standing.low, 1),
        high=round(standing.high, 1),
        games=standing.games,
    )


def curves_of(game: Game, minutes: float, ladder: Mapping[str, float], rows: Sequence[Row]) -> dict[str, Any]:
    """Return the contents of a file of curves."""
    about = {name: value for name, value in variant(game).items() if name != "version"}
    lines = [dataclasses.asdict(row) for row in rows]
    return {"machine": machine(), **about, "minutes": minutes, "anchors": dict(ladder), "rows": lines}


def read_curves(path: Path) -> dict[str, Any]:
    """Return the contents of a file of curves; raises CaravanError if it cannot be read as one."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for line in found["rows"]:
            Row(**line)
        return {**found, "minutes": float(found["minutes"]), "anchors": dict(found["anchors"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CaravanError(f"{path} is no file of curves ({error})") from error


def write_curves(folder: Path, curves: Curves) -> list[Path]:
    """Write FILE, TABLE and DRAWINGS into a folder; return their paths."""
    write_text(folder / FILE, json.dumps(curves, indent=1) + "\n")
    write_text(folder / TABLE, "\n".join(table(curves)) + "\n")
    write_drawings(folder, curves)
    return [folder / name for name in (FILE, TABLE, *DRAWINGS)]


# ------------------------------------------------------------------------------------------------------------ reading


def lines(curves: Curves) -> dict[tuple[str, str], dict[int, list[Row]]]:
    """Return the rows by (configuration, play), then by seed, each in the order of CPU minutes."""
    found: dict[tuple[str, str], dict[int, list[Row]]] = {}
    for row in sorted((Row(**line) for line in curves["rows"]), key=lambda row: row.cpu_minutes):
        found.setdefault((row.config, row.play), {}).setdefault(row.seed, []).append(row)
    return dict(sorted(found.items(), key=lambda item: (item[0][0], item[0][1] != AS_TRAINED, item[0][1])))


def rating_at(rows: Sequence[Row], minutes: float) -> float:
    """Return the rating of a run after so many CPU minutes, nan where it has no checkpoint before or after.

    In between it is interpolated linearly.
    """
    cost, rating = [row.cpu_minutes for row in rows], [row.rating for row in rows]
    return float(np.interp(minutes, cost, rating, left=np.nan, right=np.nan))


def table(curves: Curves) -> list[str]:
    """Return the lines of a Markdown table: the mean rating of the seeds at growing minutes, and at the end."""
    marks = doubling(curves["minutes"], _COLUMNS)
    heads = ["trainer", *(f"{mark:g} min" for mark in marks), "last checkpoint", "lowest - highest seed", "seeds"]
    body = [[_label(*name), *_cells(list(runs.values()), marks)] for name, runs in lines(curves).items()]
    rule = ["---", *["---:"] * (len(heads) - 1)]
    return ["| " + " | ".join(cells) + " |" for cells in (heads, rule, *body)]


def _cells(runs: Sequence[Sequence[Row]], marks: Sequence[float]) -> Iterator[str]:
    for mark in marks:
        mean = float(np.mean([rating_at(rows, mark) for rows in runs]))
        yield "-" if np.isnan(mean) else f"{mean:.0f}"
    last = [rows[-1].rating for rows in runs]
    yield f"{np.mean(last):.0f}"
    yield f"{min(last):.0f} - {max(last):.0f}"
    yield str(len(runs))


def _label(config: str, play: str) -> str:
    return config if play == AS_TRAINED else f"{config}, {play}"


# ------------------------------------------------------------------------------------------------------------ drawing


def figure(curves: Curves) -> Figure:
    """Return the drawing: a colour for each configuration, thin lines for the seeds and a thick one for their mean."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(9, 5.5), layout="constrained")
    axes = drawing.subplots()
    found = lines(curves)
    configs, plays = (list(dict.fromkeys(name[k] for name in found)) for k in (0, 1))
    for (config, play), runs in found.items():
        style = {"color": f"C{configs.index(config)}", "linestyle": _STYLES[plays.index(play) % len(_STYLES)]}
        _draw_line(axes, list(runs.values()), _label(config, play), style)
    _draw_anchors(axes, curves["anchors"])
    _dress(axes, curves)
    return drawing


def write_drawings(folder: Path, curves: Curves) -> None:
    """Write the drawing in the formats of DRAWINGS; the same curves give the same SVG."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawing = figure(curves)
    FigureCanvasAgg(drawing)
    for name in DRAWINGS:
        metadata = {"Date": None} if name.endswith(".svg") else {}
        with atomic_path(folder / name) as path, rc_context({"svg.hashsalt": "curves", "svg.fonttype": "none"}):
            drawing.savefig(path, dpi=120, metadata=metadata)


def _draw_line(axes: Axes, runs: Sequence[Sequence[Row]], label: str, style: Mapping[str, Any]) -> None:
    """Draw every run, and their mean where all of them have checkpoints."""
    for rows in runs:
        cost = [row.cpu_minutes for row in rows]
        axes.plot(cost, [row.rating for row in rows], linewidth=0.8, alpha=0.6, **style)
        axes.fill_between(cost, [r.low for r in rows], [r.high for r in rows], alpha=0.06, color=style["color"])
    first, last = max(rows[0].cpu_minutes for rows in runs), min(rows[-1].cpu_minutes for rows in runs)
    grid = sorted({row.cpu_minutes for rows in runs for row in rows if first <= row.cpu_minutes <= last})
    mean = [np.mean([rating_at(rows, minutes) for rows in runs]) for minutes in grid]
    axes.plot(grid, mean, linewidth=2.4, marker="o", markersize=4, label=label, **style)


def _draw_anchors(axes: Axes, anchors: Mapping[str, float]) -> None:
    """Draw the anchors that lie beside the curves, with their names at the right."""
    low, high = axes.get_ylim()
    reach = (high - low) / 10
    for name, rating in anchors.items():
        if low - reach <= rating <= high + reach:
            axes.axhline(rating, color="grey", linewidth=0.8, linestyle=(0, (6, 4)), zorder=0)
            axes.annotate(
                name, (1.0, rating), (4, 0), ("axes fraction", "data"), "offset points", fontsize=8, va="center"
            )


def _dress(axes: Axes, curves: Curves) -> None:
    marks = doubling(curves["minutes"], 8)
    axes.set_xscale("log", base=2)
    axes.set_xticks(marks, [f"{mark:.2g}" for mark in marks])
    axes.set_xlabel("CPU minutes of learning")
    axes.set_ylabel("rating (400 points: odds of 10 to 1)")
    players = curves["params"].get("players", 1)
    axes.set_title(
        f"{curves['game']}, {players} players: trainers on the scale of the anchors", fontsize=10, loc="left"
    )
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)
