"""`caravan play`: narrowing down to an action, and whole games with a scripted person."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest

from caravan_env.cli.choice import Quit, ask_action, entries, matching, overview
from caravan_env.core.record import read_record, replay
from caravan_env.core.registry import game_names, game_spec, make_game


def type_in(monkeypatch: pytest.MonkeyPatch, lines: Iterable[str]) -> None:
    pending = iter(lines)

    def answer(_prompt: str = "") -> str:
        try:
            return next(pending)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)


@pytest.fixture
def state():
    return make_game("caravan", starting_seat=0).new_state(seed=1)


def test_entries_are_the_legal_actions(state):
    menu = entries(state)
    assert [e.action for e in menu] == state.legal_actions().tolist()
    assert [e.words for e in menu] == [state.action_text(e.action) for e in menu]


def test_a_number_means_the_place_in_the_list(state):
    menu = entries(state)
    assert matching(menu, "3") == [menu[2]]
    assert matching(menu, str(len(menu) + 1)) == []


def test_words_mean_their_action_whatever_the_case(state):
    menu = entries(state)
    assert [e.words for e in matching(menu, "  CAMEL off ->   D4 ")] == ["camel off -> d4"]
    assert [e.words for e in matching(menu, "d4")] == ["camel off -> d4"]
    assert matching(menu, "camel") == [e for e in menu if "camel" in e.words]
    assert matching(menu, "elephant") == []


def test_overview_names_large_groups_and_lists_small_ones(state):
    text = "\n".join(overview(entries(state)))
    assert "camel: 49 actions" in text
    assert "end turn" in text


def test_asking_goes_on_until_the_answer_is_one_action(state, monkeypatch, capsys):
    type_in(monkeypatch, ["?", "b", "", "elephant", "camel", "camel d4"])
    assert state.action_text(ask_action(state, "> ")) == "camel off -> d4"
    out = capsys.readouterr().out
    assert "no legal action fits 'elephant'" in out
    assert "plays the action with that number" in out
    assert "demand markers" in out


@pytest.mark.parametrize("lines", [["q"], []])
def test_the_person_can_stop(state, monkeypatch, lines):
    type_in(monkeypatch, lines)
    with pytest.raises(Quit):
        ask_action(state, "> ")


def test_a_whole_game_is_recorded(caravan, monkeypatch, tmp_path):
    type_in(monkeypatch, itertools.repeat("1"))
    file = tmp_path / "game.jsonl"
    outcome = caravan("play", "--agents", "random", "--seat", 1, "--seed", 5, "--set", "turn_limit=12", "--save", file)
    assert outcome.code == 0, outcome.err
    assert "Final result" in outcome.out
    assert "chance: " in outcome.out
    record = read_record(file)
    assert record.header["agents"] == ["random", "human"]
    assert list(replay(record))[-1][1].is_terminal


def test_stopping_keeps_the_game_so_far(caravan, monkeypatch, tmp_path):
    type_in(monkeypatch, ["1", "q"])
    file = tmp_path / "game.jsonl"
    outcome = caravan("play", "--agents", "random", "--seed", 5, "--save", file)
    assert outcome.code == 0
    assert "stopped" in outcome.out
    assert any(event.kind == "move" for event in read_record(file, partial=True).events)


def test_the_last_agent_fills_the_seats(caravan, monkeypatch):
    type_in(monkeypatch, [])
    outcome = caravan("play", "--agents", "first,random", "--set", "players=4", "--seat", 2)
    assert "seat 0 is first, seat 1 is random, seat 2 is human, seat 3 is random" in outcome.out


def test_a_game_for_one_needs_no_opponents(caravan, monkeypatch):
    solo = next(name for name in game_names() if game_spec(name).params_type().players == 1)
    type_in(monkeypatch, ["1"])
    assert "seat 0 is human\n" in caravan("play", "--game", solo, "--seed", 1).out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--seat", "2"], "the game has the seats 0 to 1"),
        (["--agents", "random,random"], "2 opponents for 1 other seats"),
        (["--agents", ""], "0 opponents"),
        (["--agents", "randon"], "did you mean 'random'"),
        (["--set", "plyers=3"], "did you mean 'players'"),
    ],
)
def test_mistakes_get_a_sentence(caravan, arguments, sentence):
    assert sentence in caravan("play", *arguments).sentence
