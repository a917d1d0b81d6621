"""The search for weights of Caravan's planner: what it compares, in which deals, and what it leaves."""

from __future__ import annotations

import dataclasses
import json
import sys

import numpy as np
import pytest

from agents.arena import play_games
from agents.heuristic.caravan import PlannerAgent, tune
from agents.heuristic.caravan.weights import Weights
from caravan_env import Game, make_game
from caravan_env.core.errors import UnknownName

DEALS = 3
DEFAULT = np.array(dataclasses.astuple(Weights()))


@pytest.fixture(autouse=True)
def _short_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "TURN_LIMIT", 16)


def tuner(against: str | None) -> tune.Tuner:
    return tune.Tuner(Weights(), 1, 2, DEALS, against)


def test_planners_with_the_planner_s_weights_play_as_it_does():
    game = make_game("caravan", turn_limit=8)
    planner = PlannerAgent(game, beam=2)
    ours = play_games(game, [tune.Planners(game, DEFAULT[None], 2), "random"], 4, 5)
    theirs = play_games(game, [planner, "random"], 4, 5)
    for a, b in zip(ours.moves, theirs.moves, strict=True):
        np.testing.assert_array_equal(a, b)


def test_each_deal_has_its_weights():
    game = make_game("caravan", turn_limit=8)
    both = np.stack([DEFAULT, -DEFAULT])
    mixed, one, other = (
        play_games(game, [tune.Planners(game, weights, 2), "first"], 4, 5).moves
        for weights in (both, both[:1], both[1:])
    )
    for k, expected in enumerate([*one[:2], *other[2:]]):
        np.testing.assert_array_equal(mixed[k], expected)
    assert not all(np.array_equal(a, b) for a, b in zip(one[2:], other[2:], strict=True))


@pytest.mark.parametrize("against", ["random", None])
def test_equal_weights_do_equally_well(against):
    same = np.broadcast_to(DEFAULT, (DEALS, len(DEFAULT)))
    np.testing.assert_array_equal(tuner(against).play(same, same, 7), np.zeros(DEALS))


@pytest.mark.parametrize("against", ["greedy", None])
def test_worse_weights_do_worse(against):
    same = np.broadcast_to(DEFAULT, (DEALS, len(DEFAULT)))
    assert tuner(against).play(same, -same, 7).mean() > 2.0


def short(name: str, turn_limit: int = 16) -> Game:
    return make_game(name, turn_limit=turn_limit)


def test_the_report_plays_both_weights_in_the_same_deals(monkeypatch):
    monkeypatch.setattr(tune, "make_game", short)
    search = tuner("random")
    start, tuned = search.report(4)
    assert (start.pop("weights"), tuned.pop("weights")) == ("start", "tuned")
    assert start == tuned  # nothing is tuned yet
    assert start["games"] == 4
    assert start["against"] == "random"
    low, high = start["interval"]
    assert low <= start["win_rate"] <= high


def test_a_search_leaves_its_weights_and_how_they_fare(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tune, "make_game", short)
    file = tmp_path / "weights.json"
    options = "--against first --minutes 0.00001 --deals 3 --beam 1 --games 2 --out"
    monkeypatch.setattr(sys, "argv", ["tune", *options.split(), str(file)])
    tune.main()
    found = json.loads(file.read_text())
    assert list(found["weights"]) == tune.NAMES
    assert Weights(**found["weights"]).table().shape == Weights().table().shape
    *rounds, start, tuned = map(json.loads, capsys.readouterr().out.splitlines())
    assert [start, tuned] == found["results"]
    assert rounds[-1]["weights"] == found["weights"]


def test_an_unknown_agent_gets_a_sentence():
    with pytest.raises(UnknownName, match="there is no agent 'gredy'"):
        tuner("gredy")
