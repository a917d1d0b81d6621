"""The policies that come with the package: they load, play, and say where they come from."""

from __future__ import annotations

import json

import numpy as np
import pytest

from agents.arena import play_games
from agents.neural import DESCRIPTION, WEIGHTS
from agents.registry import make_agent, with_options
from agents.shipped import CARD, FOLDER, TABLE, best_spec
from caravan_env import make_game
from caravan_env.core.errors import UnknownName
from caravan_env.core.registry import game_names

SEATS = {"caravan": (2, 5), "century": (1, 6), "ukraine": (2, 7)}
FOLDERS = sorted(path for path in FOLDER.iterdir() if (path / WEIGHTS).exists())


def test_every_game_has_a_best_agent_for_every_number_of_players():
    for name in SEATS:
        for players in range(*SEATS[name]):
            game = make_game(name, players=players)
            state = game.new_state(seed=1)
            assert state.action_mask()[make_agent(best_spec(game), game).act(state)], (name, players)
    assert set(SEATS) <= set(game_names())


def test_best_plays_and_takes_options():
    game = make_game("ukraine", players=2)
    agent = make_agent("best", game)
    assert agent.name == "best"
    state = game.new_state(seed=3)
    assert state.action_mask()[agent.act(state)]
    with pytest.raises(UnknownName, match="no option 'breadth'"):
        make_agent("best:breadth=3", game)


@pytest.mark.parametrize(
    ("spec", "options", "whole"),
    [("planner", "", "planner"), ("planner", "beam=3", "planner:beam=3"), ("mcts:50", "c=2", "mcts:50,c=2")],
)
def test_options_are_added_to_a_spec(spec, options, whole):
    assert with_options(spec, options) == whole


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_shipped_policy_has_a_card(folder):
    card = json.loads((folder / CARD).read_text())
    assert {"date", "decisions", "cpu_hours", "machine", "scores", "config"} <= set(card)
    results = [*card["scores"], *card["matches"]]
    assert all(result["low"] <= result["score"] <= result["high"] for result in results)
    assert {path.name for path in folder.iterdir()} == {WEIGHTS, DESCRIPTION, CARD}


def test_the_shipped_policies_are_small():
    assert sum(path.stat().st_size for folder in FOLDERS for path in folder.iterdir()) < 3_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_shipped_policy_is_as_strong_as_its_card_says(folder):
    card = json.loads((folder / CARD).read_text())
    score, config = card["scores"][-1], card["config"]
    game = make_game(config["game"]["name"], **config["game"]["params"])
    search = f",beam={config['td']['beam']}" if config["trainer"] == "td" else ""
    result = play_games(game, [f"policy:{folder}{search}", *[score["opponent"]] * (game.players - 1)], 60, seed=5)
    assert result.win_rate(0).high >= score["low"]
    assert np.isfinite(result.returns).all()


def test_best_beats_the_planner_by_looking_beyond_its_turn():
    game = make_game("caravan", players=2)
    assert play_games(game, ["best", "planner"], 10, seed=5).wins[:, 0].sum() >= 8


def test_the_best_agent_can_depend_on_any_rule_switch(tmp_path, monkeypatch):
    table = tmp_path / "best.json"
    entries = [
        {"params": {"players": 1, "expert": True}, "agent": "greedy"},
        {"params": {"players": 1}, "agent": "first"},
    ]
    table.write_text(json.dumps({"century": entries}))
    monkeypatch.setattr("agents.shipped.TABLE", table)
    assert best_spec(make_game("century", players=1, expert=True)) == "greedy"
    assert best_spec(make_game("century", players=1)) == "first"
    with pytest.raises(UnknownName, match="no best agent is known for century with 2 players"):
        best_spec(make_game("century", players=2))


def test_an_unknown_game_has_no_best_agent(tmp_path, monkeypatch):
    table = tmp_path / "best.json"
    table.write_text("{}")
    monkeypatch.setattr("agents.shipped.TABLE", table)
    with pytest.raises(UnknownName, match="no best agent is known for caravan with 2 players"):
        best_spec(make_game("caravan"))
    assert TABLE.exists()
