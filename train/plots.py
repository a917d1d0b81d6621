"""Learning curves and win rates of a run as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter
from numpy.typing import NDArray

from caravan_env.core.errors import CaravanError
from caravan_env.core.files import atomic_path
from train.metrics import EVALUATIONS, METRICS, read_lines

LEARNING_CURVE = "learning_curve.png"
WIN_RATES = "win_rates.png"
SMOOTHED_OVER = 20  # a curve over the rollouts has about so many points
#: Panels of the learning curve: title, metrics in it, whether they are shares of games.
PANELS: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    ("score in training, by opponent (draw = half)", ("score/",), True),
    ("entropy of the policy (nats)", ("train/entropy_loss",), False),
    ("explained variance of the value", ("train/explained_variance",), False),
    ("approximate KL divergence of an update", ("train/approx_kl",), False),
)


def write_plots(run_dir: str | Path) -> list[Path]:
    """Draw the plots of a run folder into it; return their paths.

    Raises:
        CaravanError: the folder holds no metrics.
    """
    folder = Path(run_dir)
    metrics, evaluations = read_lines(folder / METRICS), read_lines(folder / EVALUATIONS)
    if not metrics:
        raise CaravanError(f"there are no metrics in {folder}; is it the folder of a run?")
    figures = {LEARNING_CURVE: learning_curve(metrics)}
    if evaluations:
        figures[WIN_RATES] = win_rates(evaluations)
    return [_save(figure, folder / name) for name, figure in figures.items()]


def learning_curve(metrics: Sequence[dict[str, Any]]) -> Figure:
    """Return the figure of how training went: one panel per entry of PANELS."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    for axes, (title, prefixes, share) in zip(figure.subplots(2, 2).flat, PANELS, strict=True):
        names = sorted({name for line in metrics for name in line if name.startswith(prefixes)})
        for name in names:
            _draw_curve(axes, metrics, name)
        _dress(axes, title, share)
        if len(names) > 1:
            axes.legend(frameon=False)
    return figure


def win_rates(evaluations: Sequence[dict[str, Any]]) -> Figure:
    """Return the figure of the scores against fixed opponents over time, with their 95 % intervals."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    evaluations = list({line["step"]: line for line in evaluations}.values())  # the final one counts, of two at a step
    for opponent in dict.fromkeys(s["opponent"] for line in evaluations for s in line["scores"]):
        points = [(line["step"], s) for line in evaluations for s in line["scores"] if s["opponent"] == opponent]
        steps = [step for step, _ in points]
        (curve,) = axes.plot(steps, [s["score"] for _, s in points], marker="o", markersize=3, label=opponent)
        bounds = [s["low"] for _, s in points], [s["high"] for _, s in points]
        axes.fill_between(steps, *bounds, color=curve.get_color(), alpha=0.15, linewidth=0)
    games = sorted({line["scores"][0]["games"] for line in evaluations})
    counts = " to ".join(str(number) for number in dict.fromkeys((games[0], games[-1])))
    _dress(axes, f"score against fixed opponents ({counts} games each, 95 % intervals)", share=True)
    axes.axhline(0.5, color="grey", linewidth=0.8, linestyle=":")
    axes.legend(frameon=False)
    return figure


def _draw_curve(axes: Axes, metrics: Sequence[dict[str, Any]], name: str) -> None:
    points = [(line["step"], line[name]) for line in metrics if line.get(name) is not None]
    if not points:
        return
    steps, values = np.array(points, dtype=float).T
    sign = -1.0 if name == "train/entropy_loss" else 1.0
    width = max(1, len(values) // SMOOTHED_OVER)
    (curve,) = axes.plot(_means(steps, width), sign * _means(values, width), label=name.partition("/")[2])
    axes.plot(steps, sign * values, color=curve.get_color(), alpha=0.2, linewidth=0.8)


def _means(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return the means of consecutive runs of `width` values; the last run may be shorter."""
    starts = np.arange(0, len(values), width)
    sums: NDArray[np.float64] = np.add.reduceat(values, starts)
    return sums / np.diff(np.append(starts, len(values)))


def _dress(axes: Axes, title: str, share: bool) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel("decisions of the learner")
    axes.xaxis.set_major_formatter(EngFormatter())
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if share:
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))


def _save(figure: Figure, path: Path) -> Path:
    FigureCanvasAgg(figure)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=120)
    return path
