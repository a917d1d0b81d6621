"""docs/make_results.py fills in the README's tables from what was measured, and leaves the rest alone."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_best, make_results = script("make_best"), script("make_results")

SCORE = {
    "opponent": "greedy",
    "games": 100,
    "score": 0.5,
    "low": 0.4,
    "high": 0.6,
    "points": 40.0,
    "opponent_points": 38.5,
}


@pytest.fixture
def options(tmp_path):
    run = tmp_path / "caravan-2p"
    run.mkdir()
    (run / "results.json").write_text(
        json.dumps({"step": 1_000_000, "seconds": 600, "scores": [SCORE]}), encoding="utf-8"
    )
    (run / "config.yaml").write_text("seed: 3\ngame: {name: caravan, params: {}}\n", encoding="utf-8")
    peers = {
        "machine": {"cpu": "a processor"},
        "ratios": [
            {"what": "ours / theirs", "goal": 5.0, "value": 7.25},
            {"what": "x / y", "goal": None, "value": None},
        ],
        "missing": {"peer": "not installable"},
    }
    (tmp_path / "peers.json").write_text(json.dumps(peers), encoding="utf-8")
    return argparse.Namespace(runs=tmp_path, games=4, peers=tmp_path / "peers.json")


def test_every_table_has_one_place():
    for name in make_results.TABLES:
        places = [path for path in make_results.DOCUMENTS if f"<!-- {name}:begin -->" in path.read_text("utf-8")]
        assert len(places) == 1
        text = places[0].read_text(encoding="utf-8")
        assert make_results.fill(text, name, ["new"]) != text


def test_filling_in_changes_what_is_between_the_marks_only():
    text = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n"
    assert make_results.fill(text, "x", ["1", "2"]) == "a\n<!-- x:begin -->\n1\n2\n<!-- x:end -->\nb\n"
    with pytest.raises(ValueError, match="y:begin"):
        make_results.fill(text, "y", [])


def test_the_policy_table_comes_from_the_run(options):
    text = "\n".join(make_results.policy_table(options))
    assert "| greedy | 50.0 % | 40.0 - 60.0 % | 100 | 40.0 : 38.5 |" in text
    assert "10 minutes, 1,000,000 decisions, seed 3" in text


def test_the_policy_table_says_the_rating(options):
    path = options.runs / "caravan-2p" / "results.json"
    rating = {"rating": 1046.4, "low": 990.0, "high": 1100.7, "games": 2200}
    path.write_text(json.dumps({**json.loads(path.read_text()), "rating": rating}), encoding="utf-8")
    last = make_results.policy_table(options)[-1]
    assert last == "Rating on the scale of the anchors: 1046, 95 % interval 990 to 1101, 2,200 games."


def test_the_trainers_table_comes_from_the_curves(options, monkeypatch, tmp_path):
    monkeypatch.setattr(make_results, "CURVES", tmp_path / "curves.json")
    with pytest.raises(make_results.NoInput, match="trainers.py"):
        make_results.trainers_table(options)
    row = {"config": "td", "play": "as trained", "step": 9, "wall_minutes": 2.0, "low": 900.0, "high": 1100.0}
    rows = [
        {**row, "seed": seed, "cpu_minutes": minutes, "rating": 1000.0 + minutes, "games": 200}
        for seed in (0, 1)
        for minutes in (1.0, 8.0)
    ]
    about = {"machine": make_results.machine(), "game": "caravan", "params": {"players": 2}, "minutes": 8.0}
    (tmp_path / "curves.json").write_text(json.dumps({**about, "anchors": {"greedy": 1000.0}, "rows": rows}))
    text = "\n".join(make_results.trainers_table(options))
    assert "caravan for 2, mean of 2 seeds, 200 games for each checkpoint" in text
    assert "| td | 1001 | 1002 | 1004 | 1008 | 1008 | 1008 - 1008 | 2 |" in text
    assert "](" not in text
    (tmp_path / "curves.svg").write_text("<svg/>")
    assert make_results.trainers_table(options)[-1] == "![Rating against CPU minutes](results/curves.svg)"


def test_the_best_table_comes_from_the_cards_and_leaves_out_what_another_agent_did(options, monkeypatch, tmp_path):
    three = {"game": "caravan", "params": {"players": 3}}
    duel = {"game": "caravan", "params": {"players": 2}}
    alone = {"game": "century", "params": {"players": 1, "expert": True}}
    for name, config in (("three", three), ("duel", duel), ("alone", alone)):
        (tmp_path / name).mkdir()
        card = {"config": {"game": {"name": config["game"], "params": config["params"]}}, "matches": []}
        (tmp_path / name / "card.json").write_text(json.dumps(card), encoding="utf-8")
    monkeypatch.setattr(make_best, "best_entry", lambda game: f"policy:{game.players}")
    match = {
        "games": 300,
        "agents": [{"name": "best", "win_rate": 0.5, "interval": [0.4, 0.6], "ms_per_decision": 7.0}],
    }
    others = [{"name": "planner"}, {"name": "planner"}]
    make_best.add(tmp_path / "three" / "card.json", {**three, **match, "agents": [*match["agents"], *others]})
    make_best.add(tmp_path / "alone" / "card.json", {**alone, **match})
    standing = {"agent": "best", "rating": 1800.4, "low": 1700.0, "high": 1900.0, "games": 100}
    pair = {"agent": "best", "against": "planner", "score": 0.75, "compared": 100}
    arena = {**duel, "anchored": True, "agents": [standing], "pairs": [pair]}
    make_best.add(tmp_path / "duel" / "card.json", {**arena, "pairs": [{**pair, "score": 0.1}]})
    make_best.add(tmp_path / "duel" / "card.json", arena)  # takes the place of the one before
    monkeypatch.setattr(make_results, "FOLDER", tmp_path)
    monkeypatch.setattr(make_results, "best_entry", lambda game: "policy:3" if game.players == 3 else "policy:2")
    rows = make_results.best_table(options)[2:]
    assert rows == [
        "| caravan | 2 | `policy:2` | planner | 75.0 % | 65.7 - 82.5 % | 100 | 1800 (1700 to 1900) |",
        "| caravan | 3 | `policy:3` | planners in all other seats | 50.0 % | 40.0 - 60.0 % | 300 |  |",
    ]
    monkeypatch.setattr(make_results, "best_entry", lambda game: "policy:1")
    row = "| century, expert=True | 1 | `policy:1` | the automa | 50.0 % | 40.0 - 60.0 % | 300 |  |"
    assert make_results.best_table(options)[2:] == [row]


def test_the_strength_table_comes_from_its_file(options, monkeypatch, tmp_path):
    monkeypatch.setattr(make_results, "STRENGTH", tmp_path / "strength.json")
    with pytest.raises(make_results.NoInput, match="strength.py"):
        make_results.strength_table(options)
    what = {"game": "century", "params": {"players": 1, "expert": True}, "leaf": "heuristic"}
    how = {"opponent": "the game itself", "sims": 1600, "games": 200, "seconds_per_decision": 0.0125}
    found = {"wins": 150.0, "low": 0.6, "high": 0.8}
    rows = [{**what, **how, **found, "options": options} for options in ("", "c=0.5")]
    (tmp_path / "strength.json").write_text(json.dumps({"rows": rows}), encoding="utf-8")
    assert make_results.strength_table(options)[-2:] == [
        "| century, expert=True | heuristic | the game itself | 1,600 | 75.0 % | 60.0 - 80.0 % | 200 | 12.5 |",
        "| century, expert=True | heuristic, c=0.5 | the game itself | 1,600 | 75.0 % | 60.0 - 80.0 % | 200 | 12.5 |",
    ]


def test_the_agents_table_says_how_many_games(options, monkeypatch):
    monkeypatch.setattr(make_results, "SCRIPTED", ("greedy", "random"))
    assert "| greedy - random | 100.0 % | 51.0 - 100.0 % | 4 |" in "\n".join(make_results.agents_table(options))


def test_the_peers_table_names_what_is_missing(options):
    text = "\n".join(make_results.peers_table(options))
    assert "| ours / theirs | 7.2 | 5.0 |" in text
    assert "| x / y | missing |" in text
    assert "peer is missing: not installable." in text


def test_the_solo_table_counts_wins_and_empty_rows(options, monkeypatch):
    monkeypatch.setattr(make_results, "SOLO", {"standard": {"players": 1, "turn_limit": 3}})
    text = make_results.solo_table(options)
    assert [line for line in text if line.startswith("| standard, greedy | 0.0 %")]
    assert [line for line in text if line.startswith("| standard, policy | 0.0 %")]


def test_a_policy_is_that_of_the_run_or_else_the_one_in_the_package(options):
    assert make_results.policy_of(options, "caravan-2p") == f"policy:{options.runs / 'caravan-2p'}"
    assert make_results.policy_of(options, "century-solo") == f"policy:{make_results.FOLDER / 'century-solo'}"
    assert make_results.policy_of(options, "century-2p") is None


def test_the_switches_table_has_a_line_for_every_choice(options):
    lines = make_results.switches_table(options)
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        "| as shipped",
        "| `expert = true`",
        '| `automa_claims = "top_only"`',
        '| `roll_one_refresh = "row"`',
        '| `roll_one_refresh = "none"`',
        "| `automa_produces = false`",
        "| `reshuffle_discards = true`",
    ]


def test_what_was_not_measured_stays(options, monkeypatch, tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("<!-- policy:begin -->\nold\n<!-- policy:end -->\n", encoding="utf-8")
    monkeypatch.setattr(make_results, "DOCUMENTS", (readme,))
    make_results.main(["policy", "--runs", str(tmp_path / "nothing")])
    assert "left as it was" in capsys.readouterr().out
    assert "old" in readme.read_text(encoding="utf-8")
