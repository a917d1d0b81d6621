"""Positions and games that the viewer's tests show."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from caravan_env import make_game
from caravan_env.core.record import Record, Recorder

GOODS = ("meat", "swords", "salt", "hides", "ivory", "cloth", "gems", "paper")
Struct = dict[str, Any]


def camel(at: str | None, good: str | None = None, stolen: bool = False) -> Struct:
    return {"at": at, "good": good, "stolen": stolen}


def _seat(camels: list[Struct], **delivered: int) -> Struct:
    return {
        "camels": camels,
        "theft": 1,
        "markers": 3,
        "delivered": {good: delivered.get(good, 0) for good in GOODS},
        "score": 3 + sum(n * (3 if GOODS.index(good) < 4 else 6) for good, n in delivered.items()),
    }


@pytest.fixture
def make_struct() -> Callable[..., Struct]:
    """A function that makes a position for 2 to 4 seats; keywords replace top-level fields."""

    def make(players: int = 2, board: Any = "symmetric", **fields: Any) -> Struct:
        seats = [
            _seat([camel("a1"), camel("d4", "meat"), camel("d4", "gems", True), camel(None), camel(None)], salt=2),
            _seat([camel("d4"), camel("d4"), camel("d4", "paper"), camel("g7", "salt"), camel(None)], ivory=1, meat=1),
            _seat([camel("d4"), camel("d4"), camel("b2"), camel("c4", "hides"), camel("c5", "cloth", True)]),
            _seat([camel("a7"), camel("a7"), camel("a7"), camel("a7"), camel("e5")], paper=2),
        ]
        sources = [{"good": good, "markers": k % 3} for k, good in enumerate(("meat", None, *GOODS[2:]))]
        struct: Struct = {
            "game": "caravan",
            "params": {"players": players, "board": board},
            "phase": "play",
            "seat": 1,
            "turn": 9,
            "actions_left": 3,
            "truncated": False,
            "bag": {good: k for k, good in enumerate(GOODS)},
            "sources": sources,
            "rainbow": None,
            "seats": seats[:players],
        }
        return struct | fields

    return make


@pytest.fixture(scope="session")
def play_record() -> Callable[..., Record]:
    """A function that plays random moves, at most `plies`, and returns the record; keywords are rule switches."""

    def play(plies: int = 10_000, agents: list[str] | None = None, thoughts: bool = True, **params: Any) -> Record:
        draw = random.Random(5)
        state = make_game("caravan", **params).new_state()
        recorder = Recorder(state, agents or [f"agent {k}" for k in range(state.game.players)])
        while not state.is_terminal and plies:
            if state.is_chance:
                recorder.resolve(draw.choice(state.chance_outcomes())[0])
                continue
            actions = [int(a) for a in draw.sample(list(state.legal_actions()), 1)]
            policy = {actions[0]: 0.5, int(state.legal_actions()[0]): 0.25} if thoughts else None
            recorder.step(actions[0], value=0.25 if thoughts else None, policy=policy)
            plies -= 1
        return recorder.finish() if state.is_terminal else recorder.record

    return play
