"""A recorded game between agents, and what happens when one of them plays something illegal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game, State
from caravan_env.core.match import AgentFault, Thought, play_match
from caravan_env.core.record import parse_record, replay


class First:
    name = "first"

    def think(self, state: State) -> Thought:
        return Thought(int(state.legal_actions()[0]))


class Faulty(First):
    """Plays `action` as its n-th move."""

    name = "faulty"

    def __init__(self, action: Any, after: int = 2) -> None:
        self.action, self.left = action, after

    def think(self, state: State) -> Thought:
        self.left -= 1
        return super().think(state) if self.left else Thought(self.action)


class Meddling(First):
    """Plays on in the state it is shown."""

    name = "meddling"

    def think(self, state: State) -> Thought:
        thought = super().think(state)
        for _ in range(3):
            if not state.is_terminal and not state.is_chance:
                state.step(int(state.legal_actions()[-1]))
        state.row["taken"] = 99
        return thought


def test_the_seed_decides_chance(toy: Game) -> None:
    records = [play_match(toy, [First(), First()], seed) for seed in (1, 1, 2, 3, 4, 5)]
    assert records[0] == records[1]
    assert len({tuple(event.text for event in record.events) for record in records}) > 2


def test_seats_and_names(toy: Game) -> None:
    record = play_match(Game(toy.spec, {"players": 3}), [First(), Faulty(0, 99), First()])
    assert record.header["agents"] == ["first", "faulty", "first"]
    assert {event.seat for event in record.events if event.kind == "move"} == {0, 1, 2}


@pytest.mark.parametrize("number", [0, 1, 3])
def test_one_agent_per_seat(toy: Game, number: int) -> None:
    with pytest.raises(ValueError, match=f"{number} agents for 2 seats"):
        play_match(toy, [First()] * number)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (99, "action 99 does not exist: heap has the actions 0 to 3"),
        (-1, "action -1 does not exist"),
        (10**30, "does not exist"),
        (3, r"action 3 \(pass\) is not legal for seat 1 now"),
    ],
)
def test_an_illegal_action_breaks_the_game_off_with_its_record(toy: Game, action: int, words: str) -> None:
    class Passing(Faulty):
        def think(self, state: State) -> Thought:
            self.left -= 1
            return Thought(3 if self.left else self.action)

    with pytest.raises(AgentFault, match=f"agent 'faulty' in seat 1: {'.*' + words}") as error:
        play_match(toy, [First(), Passing(action)])
    assert isinstance(error.value, CaravanError)
    record = error.value.record
    assert record.result == {"type": "error", "seat": 1, "action": action, "message": str(error.value)}
    again = parse_record(record.to_lines())
    assert again == record
    states = list(replay(again))
    assert states[-1][1].to_move == 1 and len(states) == len(record.events) + 1


def test_an_agent_cannot_change_the_game(toy: Game) -> None:
    assert play_match(toy, [Meddling(), Meddling()]).events == play_match(toy, [First(), First()]).events


def test_thoughts_are_recorded(toy: Game) -> None:
    class Sure(First):
        def think(self, state: State) -> Thought:
            action = int(state.legal_actions()[0])
            return Thought(action, value=np.float32(0.5), policy={action: np.float32(1.0)})

    record = play_match(toy, [Sure(), First()])
    moves = [event for event in record.events if event.kind == "move"]
    assert {(m.seat, m.value) for m in moves} == {(0, 0.5), (1, None)}
    assert parse_record(record.to_lines()) == record
