"""`caravan match`: tables, records, agents of one's own, and what happens when they break the rules."""

from __future__ import annotations

import pytest

from caravan_env.core.record import read_record, replay
from caravan_env.core.registry import game_names, game_spec

OWN = """
def first(state):
    return int(state.legal_actions()[0])

def cheat(state):
    return -7

def confused(state):
    return "up"
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """An agent file in the current folder."""
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def test_a_match_as_json(caravan):
    report = caravan("match", "--agents", "greedy,random", "--games", 6, "--seed", 3, "--json").json
    assert report["games"] == 6
    assert [agent["name"] for agent in report["agents"]] == ["greedy", "random"]
    assert sum(agent["win_rate"] for agent in report["agents"]) == pytest.approx(1)
    assert all(a["interval"][0] <= a["win_rate"] <= a["interval"][1] for a in report["agents"])


def test_a_match_as_a_table(caravan):
    outcome = caravan("match", "--agents", "greedy,random", "--games", 6)
    assert "95 % interval" in outcome.out
    assert outcome.err == ""


def test_as_many_players_as_agents(caravan):
    assert caravan("match", "--agents", "random,first,random", "--games", 3, "--json").json["params"]["players"] == 3


def test_alone_against_the_game_a_win_is_a_positive_return(caravan):
    solo = next(name for name in game_names() if game_spec(name).params_type().players == 1)
    agent = caravan("match", "--game", solo, "--agents", "first", "--games", 4, "--json").json["agents"][0]
    assert agent["mean_return"] == pytest.approx(2 * agent["win_rate"] - 1)


def test_every_game_can_be_saved(caravan, tmp_path):
    folder = tmp_path / "records"
    caravan("match", "--agents", "greedy,random", "--games", 4, "--set", "turn_limit=8", "--save", folder)
    files = sorted(folder.iterdir())
    assert [file.name for file in files] == ["0000.jsonl", "0001.jsonl", "0002.jsonl", "0003.jsonl"]
    for file in files:
        assert list(replay(read_record(file)))[-1][1].is_terminal


def test_own_agents_play(caravan, own):
    report = caravan("match", "--agents", "own.py:first,random", "--games", 2, "--json").json
    assert report["agents"][0]["name"] == "own.py:first"


def test_an_illegal_move_is_reported_with_its_record(caravan, own, tmp_path):
    sentence = caravan("match", "--agents", "own.py:cheat,random", "--games", 2, "--save", "games").sentence
    assert "own.py:cheat" in sentence
    assert "-7" in sentence
    assert sentence.endswith("the record of the game is in games/fault.jsonl")
    assert read_record(tmp_path / "games" / "fault.jsonl").result["type"] == "error"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["greedi,random"], "did you mean 'greedy'"),
        (["planner:bean=3,random"], "did you mean 'beam'"),
        (["greedy,random", "--set", "players=3"], "2 agents for 3 seats"),
        (["greedy,random", "--games", "0"], "at least one game"),
        (["greedy"], "2 to 4 players"),
        (["nothing.py:x,random"], "no agent file nothing.py"),
        (["policy:nowhere,random"], "no checkpoint in nowhere"),
    ],
)
def test_mistakes_get_a_sentence(caravan, arguments, sentence):
    assert sentence in caravan("match", "--agents", *arguments).sentence


def test_an_answer_that_is_no_number_gets_a_sentence(caravan, own):
    assert "'up'" in caravan("match", "--agents", "own.py:confused,random", "--games", 2).sentence
