"""Trainers compared: checkpoints at CPU times, ratings on a ladder, what is written, and the command."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from agents.anchors import make_anchors
from agents.neural import checkpoint_folders
from agents.ratings import Standing
from caravan_env import make_game
from caravan_env.core.errors import CaravanError
from train import curves as module
from train.curves import (
    AS_TRAINED,
    Row,
    curves_of,
    doubling,
    figure,
    lines,
    points,
    rate_on_ladder,
    rating_at,
    read_curves,
    table,
    write_curves,
)
from train.run import Trainer, run_to_marks

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
LADDER = {"greedy": 1000.0, "random": 0.0}
NEVER = {"evaluation": {"every": 10**9}, "checkpoints": {"every": 10**9, "keep": 10**9}}


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{path.stem}", path)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


trainers = _load(BENCHMARKS / "trainers.py")


def row(config: str, seed: int, minutes: float, rating: float, play: str = AS_TRAINED) -> Row:
    return Row(config, seed, play, int(1000 * minutes), minutes, 1.2 * minutes, rating, rating - 50, rating + 60, 200)


ROWS = [
    *(row("ppo", 0, m, r) for m, r in ((0.5, 100.0), (1.0, 200.0), (2.0, 300.0), (4.0, 500.0), (8.0, 600.0))),
    *(row("ppo", 1, m, r) for m, r in ((1.5, 240.0), (8.1, 800.0))),
    *(row("td", 0, m, r) for m, r in ((0.5, 900.0), (8.0, 1300.0))),
    *(row("td", 0, m, r, "beam=16") for m, r in ((0.5, 1000.0), (8.0, 1700.0))),
]


@pytest.fixture
def curves() -> dict[str, Any]:
    return curves_of(make_game("caravan"), 8.0, {"planner": 1697.0, **LADDER}, ROWS)


# --- the file, the table, the drawing --------------------------------------------------------------------------------


def test_ratings_are_interpolated_between_checkpoints():
    rows = ROWS[:5]
    assert rating_at(rows, 1.0) == 200
    assert rating_at(rows, 1.5) == 250
    assert np.isnan(rating_at(rows, 0.4)) and np.isnan(rating_at(rows, 9.0))


def test_the_table_has_the_mean_of_the_seeds_where_all_have_checkpoints(curves):
    text = table(curves)
    assert text[0] == "| trainer | 1 min | 2 min | 4 min | 8 min | last checkpoint | lowest - highest seed | seeds |"
    ppo, td, td_beam = text[2:]
    at_eight = (600 + rating_at(ROWS[5:7], 8.0)) / 2
    assert ppo.startswith("| ppo | - | ") and ppo.endswith(f"| {at_eight:.0f} | 700 | 600 - 800 | 2 |")
    assert td.startswith("| td | ") and td.endswith("| 1300 | 1300 | 1300 - 1300 | 1 |")
    assert td_beam.startswith("| td, beam=16 | ")


def test_what_is_written_is_read_again(curves, tmp_path):
    files = write_curves(tmp_path, curves)
    assert [file.name for file in files] == ["curves.json", "curves.md", "curves.svg", "curves.png"]
    found = read_curves(files[0])
    assert set(found) == {"machine", "game", "params", "minutes", "anchors", "rows"}
    assert [Row(**line) for line in found["rows"]] == ROWS
    assert files[1].read_text().splitlines() == table(curves)
    svg = files[2].read_text()
    assert "td, beam=16" in svg and "planner" in svg
    assert files[3].read_bytes().startswith(b"\x89PNG")
    write_curves(tmp_path, curves)
    assert files[2].read_text() == svg


def test_the_drawing_has_a_colour_for_each_configuration(curves):
    (axes,) = figure(curves).axes
    legend = {text.get_text() for text in axes.get_legend().get_texts()}
    assert legend == {"ppo", "td", "td, beam=16"}
    thick = {line.get_label(): line for line in axes.get_lines() if line.get_linewidth() > 2}
    assert thick["td"].get_color() == thick["td, beam=16"].get_color() != thick["ppo"].get_color()
    assert thick["td"].get_linestyle() != thick["td, beam=16"].get_linestyle()
    np.testing.assert_allclose(thick["ppo"].get_xdata(), [1.5, 2.0, 4.0, 8.0])
    assert {text.get_text() for text in axes.texts} >= {"planner", "greedy"}


def test_lines_are_sorted_and_apart(curves):
    assert list(lines(curves)) == [("ppo", AS_TRAINED), ("td", AS_TRAINED), ("td", "beam=16")]
    assert list(lines(curves)["ppo", AS_TRAINED]) == [0, 1]


@pytest.mark.parametrize("text", ["{", "{}", '{"rows": [{"config": "a"}]}', '{"rows": [], "minutes": 1}'])
def test_another_file_is_no_file_of_curves(text, tmp_path):
    (tmp_path / "curves.json").write_text(text)
    with pytest.raises(CaravanError, match="is no file of curves"):
        read_curves(tmp_path / "curves.json")


# --- training and rating ---------------------------------------------------------------------------------------------


class Clock:
    """A clock of CPU time that goes on by a second whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0

    def process_time(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Let each iteration, and the beginning, take one second of CPU time."""
    fake = Clock()
    monkeypatch.setattr("train.run.time.process_time", fake.process_time)
    return fake


def test_checkpoints_are_kept_at_the_marks(tiny, clock):
    marks = [second / 60 for second in (0.5, 2, 4, 7)]
    config = tiny(budget={"steps": None, "cpu_minutes": marks[-1]}, **NEVER)
    run_to_marks(config, marks[:2])
    assert [round(60 * point.cpu_minutes) for point in points(Path(config.run_dir))] == [1, 2]
    run_to_marks(config, marks)  # goes on
    found = points(Path(config.run_dir))
    assert [round(60 * point.cpu_minutes) for point in found] == [1, 2, 4, 7]
    assert [point.step for point in found] == [0, 256, 768, 1536]
    assert all(point.wall_minutes > 0 for point in found)
    before = [folder.stat().st_mtime_ns for folder in checkpoint_folders(Path(config.run_dir))]
    run_to_marks(config, marks)
    assert before == [folder.stat().st_mtime_ns for folder in checkpoint_folders(Path(config.run_dir))]


def test_cpu_time_ends_a_run_and_is_noted(tiny, clock):
    config = tiny(budget={"steps": None, "cpu_minutes": 3 / 60}, evaluation={"every": 256})
    Path(config.run_dir).mkdir(parents=True)
    trainer = Trainer(config)
    while trainer.progress < 1.0:
        trainer.iterate()
    assert (trainer.cpu_seconds, trainer.iteration) == (3.0, 2)
    told = [json.loads(line) for line in (trainer.run_dir / "evaluations.jsonl").read_text().splitlines()]
    assert [line["time/cpu_seconds"] for line in told] == [2.0, 3.0]
    assert Trainer(config).cpu_seconds == 3.0


def test_a_checkpoint_of_an_earlier_version_starts_at_no_cpu_time(tiny):
    config = tiny()
    Path(config.run_dir).mkdir(parents=True)
    trainer = Trainer(config)
    trainer.iterate()
    state = {"step": 256, "iteration": 1, "seconds": 9.0, "evaluations": []}
    learned, own = trainer.learner.snapshot()
    trainer.cpu_seconds = 5.0
    trainer._restore({**own, **state}, trainer.learner.weights(), learned)
    assert trainer.cpu_seconds == 0.0


def test_doubling_marks():
    assert doubling(8, 4) == [1, 2, 4, 8]


@pytest.mark.parametrize("players", [2, 3])
def test_an_agent_is_rated_on_a_ladder(players, tmp_path, monkeypatch):
    game = make_game("caravan", players=players, turn_limit=12)
    ladder = {"noisy:0.5:greedy": 700.0, **LADDER}
    standing = rate_on_ladder(game, "noisy:0.2:greedy", ladder, 30, tmp_path, threads=2)
    assert not standing.anchor and standing.low < standing.rating < standing.high
    assert standing.games == 3 * (40 if players == 2 else 30)
    monkeypatch.setattr("agents.tournament.play_batch", None)  # nothing is played again
    assert rate_on_ladder(game, "noisy:0.2:greedy", ladder, 30, tmp_path) == standing


# --- the command -----------------------------------------------------------------------------------------------------

TD = {
    "trainer": "td",
    "run_dir": "unused",
    "game": {"name": "caravan", "params": {"turn_limit": 12}},
    "budget": {"minutes": 1},
    "td": {"widths": [8, 8], "decisions": 4000, "memory": 8000, "batch_size": 256, "reuse": 1.0, "beam": 2, "depth": 2},
}
PPO = {
    "run_dir": "unused",
    "game": {"name": "caravan", "params": {"turn_limit": 12}},
    "budget": {"minutes": 1},
    "ppo": {"n_envs": 16, "n_steps": 16, "batch_size": 128, "n_epochs": 1},
    "network": {"trunk": [8], "policy": [8], "value": [8]},
    "league": {"scripted": {"greedy": 0.3}},
}


@pytest.fixture
def ladder_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the short variant of the tests anchors."""
    game = make_game("caravan", turn_limit=12)
    path = tmp_path / "anchors.json"
    standings = [Standing(name, rating, 0, 0, 0, 0, False, 0) for name, rating in LADDER.items()]
    make_anchors(game, standings, 100, path)
    known = json.loads(path.read_text())["tables"][0]["ratings"]
    monkeypatch.setattr(trainers, "known_anchors", lambda _: known)


@pytest.fixture
def config_files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{name}.yaml" for name in ("values", "policy")]
    for path, values in zip(paths, (TD, PPO), strict=True):
        path.write_text(yaml.safe_dump(values))
    return [str(path) for path in paths]


def words(configs: list[str], out: Path, *more: str) -> list[str]:
    return ["--configs", ",".join(configs), "--minutes", "0.001", "--games", "20", "--out", str(out), *more]


def test_the_command_trains_rates_and_goes_on(tmp_path, config_files, ladder_file, capsys, monkeypatch):
    out = tmp_path / "out"
    arguments = words(config_files, out, "--seeds", "0,1", "--play", "beam=4", "--checkpoints", "2")
    assert trainers.main(arguments) == 0
    found = read_curves(out / "curves.json")
    names = {(line["config"], line["seed"], line["play"]) for line in found["rows"]}
    expected = {(config, seed, AS_TRAINED) for config in ("values", "policy") for seed in (0, 1)}
    assert names == expected | {("values", seed, "beam=4") for seed in (0, 1)}
    assert all(line["games"] == 40 and line["low"] < line["rating"] < line["high"] for line in found["rows"])
    assert "| values, beam=4 |" in capsys.readouterr().out
    agents = (out / "games" / "values-0, beam=4").rglob("games.jsonl")
    assert "beam=2,depth=2,beam=4" in next(agents).read_text()
    for name in ("train.run.Trainer.iterate", "agents.tournament.play_batch"):
        monkeypatch.setattr(name, None)  # nothing is done again
    assert trainers.main(arguments) == 0
    assert read_curves(out / "curves.json")["rows"] == found["rows"]


def test_mistakes_get_a_sentence(tmp_path, config_files, ladder_file, capsys):
    values, policy = config_files
    other = tmp_path / "sub" / "values.yaml"
    other.parent.mkdir()
    other.write_text(yaml.safe_dump({**TD, "game": {"name": "caravan"}}))
    longer = tmp_path / "longer.yaml"
    longer.write_text(other.read_text())
    out = tmp_path / "out"
    trained = out / "values-0" / "config.yaml"
    trained.parent.mkdir(parents=True)
    trained.write_text(yaml.safe_dump({"budget": {"cpu_minutes": 5.0}}))
    cases = [
        (words([values, str(other)], out), "two configurations have the same name"),
        (words([policy, str(longer)], out), "are of different game variants"),
        (words([values], out), "was trained with --minutes 5.0, not 0.001; choose another --out"),
        (words([policy], out, "--opponents", "planer"), "'planer' is no anchor of this variant: greedy, random"),
        (words(["td-smokee"], out), "did you mean 'td-smoke'"),
    ]
    for arguments, sentence in cases:
        assert trainers.main(arguments) == trainers.MISTAKE
        assert sentence in capsys.readouterr().err


def test_a_variant_without_anchors_is_named(tmp_path, config_files, capsys):
    assert trainers.main(words(config_files, tmp_path / "out")) == trainers.MISTAKE
    assert "there are no anchors for this variant of caravan" in capsys.readouterr().err


def test_a_damaged_state_is_named(tmp_path):
    folder = tmp_path / "checkpoints" / "step-000000000007"
    folder.mkdir(parents=True)
    (folder / "training.json").write_text('{"seconds": 3}')
    with pytest.raises(CaravanError, match="does not say what the checkpoint has cost"):
        module.points(tmp_path)
