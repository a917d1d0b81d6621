"""What a seat sees of Caravan, read back piece by piece and compared with the struct of the position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from caravan_env.core.game import State
from caravan_env.core.record import read_record, replay
from tests.caravan.build import CELLS, GOODS, Struct, position, seat_of
from tests.golden.make import golden_path


def pieces_of(state: State, seat: int) -> dict[str, Any]:
    counts = np.zeros(state.game.layout.size, np.uint8)
    state.game.spec.rules.observe(state.row, 0, seat, counts)
    return {name: piece.tolist() for name, piece in state.game.layout.split(counts).items()}


def one_hot(values: list[int]) -> int | None:
    """Return the place of the only one, None if there is none."""
    assert set(values) <= {0, 1} and sum(values) <= 1
    return values.index(1) if 1 in values else None


def camel_seen(values: list[int]) -> Struct | None:
    """Return the camel of a slot: 50 values for its cell, 9 for its load, one if that is under it."""
    cell, load = one_hot(values[:50]), one_hot(values[50:59])
    if cell is None or load is None:
        assert sum(values) == 0
        return None
    return {
        "at": None if cell == 49 else CELLS[cell],
        "good": None if load == 0 else GOODS[load - 1],
        "stolen": bool(values[59]),
    }


def check_seen(state: State, seat: int) -> None:
    struct, seen = state.to_json(), pieces_of(state, seat)
    players = state.game.players
    for k in range(players):
        other = struct["seats"][(seat + k) % players]
        camels = [camel_seen(slot) for slot in seen["camels"][k]]
        assert [camel for camel in camels if camel] == other["camels"]
        theft, markers, *delivered, score = seen["seats"][k]
        assert (theft, markers, score) == (other["theft"], other["markers"], other["score"] + 15)
        assert delivered == list(other["delivered"].values())
    for k, space in enumerate(struct["sources"]):
        lying = one_hot(seen["sources"][k])
        assert (None if lying is None else GOODS[lying]) == space["good"]
        assert seen["space_markers"][k] == space["markers"]
    assert seen["bag"] == list(struct["bag"].values())
    left = one_hot(seen["actions_left"])
    assert (0 if left is None else left + 1) == struct["actions_left"]
    assert seen["last_call"] == [int(sum(struct["bag"].values()) == 0)]
    limit = state.game.params.turn_limit
    assert seen["time"] == [struct["turn"] * 255 // limit]
    rainbow = one_hot(seen["rainbow"])
    if state.game.params.rainbow_camel:
        assert rainbow == (49 if struct["rainbow"] is None else CELLS.index(struct["rainbow"]))
    else:
        assert rainbow is None


@pytest.mark.parametrize("variant", ["default", "rainbow-three", "four", "six-camels", "short-limit"])
def test_every_piece_is_what_the_struct_says(variant: str) -> None:
    for number, (_, state) in enumerate(replay(read_record(golden_path("caravan", variant)))):
        if number % 3 == 0:
            for seat in range(state.game.players):
                check_seen(state, seat)


def test_a_crowded_position() -> None:
    mine = seat_of("a1", "a1 meat", "a1 meat under", "g7 paper", of=6, theft=2, markers=9, gems=3)
    state = position(
        mine, seat_of("a1 salt", of=6), camels=6, rainbow="d4", rainbow_camel=True, left=2, bag={}, turn=199
    )
    for seat in (0, 1):
        check_seen(state, seat)


def test_without_a_turn_limit_the_clock_stands_still() -> None:
    assert pieces_of(position(seat_of(), seat_of(), turn=900, turn_limit=0), 0)["time"] == [0]


def test_learners_see_values_around_one() -> None:
    for _, state in replay(read_record(golden_path("caravan", "full"))):
        assert state.observe(0).max() < 5
