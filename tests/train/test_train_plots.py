"""Metrics files, plots and tables of a run."""

from __future__ import annotations

import json

import matplotlib.image
import pytest

from caravan_env.core.errors import CaravanError
from train.evaluate import Score, evaluate, table
from train.metrics import JsonLinesWriter, cut_back, read_lines
from train.plots import learning_curve, win_rates, write_plots


def metrics(count: int) -> list[dict[str, float]]:
    return [
        {"step": 100 * k, "score/latest": 0.5, "score/greedy": k / count, "train/entropy_loss": -5.0 + k / count}
        for k in range(count)
    ]


def evaluations(count: int) -> list[dict[str, object]]:
    scores = [Score(name, 10, 0.6, 0.3, 0.8, 20.0, 10.0, 0.0) for name in ("random", "greedy")]
    return [{"step": 500 * k, "scores": [vars(score) for score in scores]} for k in range(count)]


def test_curves_show_every_opponent():
    score, entropy, *_ = learning_curve(metrics(50)).axes
    assert [text.get_text() for text in score.get_legend().get_texts()] == ["greedy", "latest"]
    assert score.get_ylim() == (0, 1)
    smooth, raw = entropy.get_lines()
    assert len(raw.get_xdata()) == 50 and 20 <= len(smooth.get_xdata()) <= 25
    assert raw.get_ydata()[0] == 5.0  # the entropy, not the loss


def test_win_rates_have_intervals():
    (axes,) = win_rates(evaluations(4)).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["random", "greedy"]
    assert len(axes.collections) == 2 and "10 games each" in axes.get_title(loc="left")


def test_plots_are_written_as_pictures(tmp_path):
    for name, lines in (("metrics", metrics(5)), ("evaluations", evaluations(1))):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    paths = write_plots(tmp_path)
    assert [path.name for path in paths] == ["learning_curve.png", "win_rates.png"]
    for path in paths:
        height, width, _ = matplotlib.image.imread(path).shape
        assert height > 400 and width > 600


def test_a_run_without_evaluations_has_a_learning_curve(tmp_path):
    (tmp_path / "metrics.jsonl").write_text(json.dumps(metrics(2)[1]) + "\n")
    assert [path.name for path in write_plots(tmp_path)] == ["learning_curve.png"]


def test_a_folder_without_metrics_is_named(tmp_path):
    with pytest.raises(CaravanError, match=f"there are no metrics in {tmp_path}"):
        write_plots(tmp_path)


def test_lines_are_cut_back_to_a_step(tmp_path):
    path = tmp_path / "m.jsonl"
    writer = JsonLinesWriter(path)
    for step in (1, 2, 3):
        writer.write({"b": step / 3, "a": float("nan")}, {}, step)
    with path.open("a") as file:
        file.write('{"step": 4, "b"')
    cut_back(path, 2)
    assert read_lines(path) == [{"step": 1, "a": None, "b": 0.333333}, {"step": 2, "a": None, "b": 0.666667}]
    assert path.read_text().endswith("\n")


def test_scores_are_those_of_the_arena():
    from agents.registry import make_agent
    from caravan_env import make_game

    game = make_game("caravan", players=3, turn_limit=30)
    score, other = evaluate(game, make_agent("greedy", game), ["random", "greedy"], 8, seed=1)
    assert (score.opponent, score.games, score.truncated) == ("random", 9, 1.0)
    assert score.score > 0.8 and score.low < score.score <= score.high and score.points > score.opponent_points
    assert other.opponent == "greedy" and other.score < 0.8
    assert table([score]).splitlines()[2].startswith(f"| random | {score.score:.1%} | {score.low:.1%} to ")
