"""Observation vectors as named pieces."""

from __future__ import annotations

import numpy as np
import pytest

from caravan_env.core.game import Game
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.registry import game_names, game_spec

LAYOUT = ObservationLayout(
    ("board", (2, 3), [1, 0.5, 0.25], "per row: three counts"), ("clock", (1,), 0.1, "turn"), ("bag", (4,), 1, "counts")
)


def test_pieces_follow_each_other() -> None:
    assert LAYOUT.size == 11
    assert [(p.name, p.start, p.stop, p.size) for p in LAYOUT.pieces.values()] == [
        ("board", 0, 6, 6),
        ("clock", 6, 7, 1),
        ("bag", 7, 11, 4),
    ]
    assert LAYOUT["bag"].meaning == "counts"


@pytest.mark.parametrize("lead", [(), (5,), (2, 3)])
def test_scaled_is_for_learners(lead: tuple[int, ...]) -> None:
    counts = np.full((*lead, 11), 200, np.uint8)
    scaled = LAYOUT.scaled(counts)
    assert scaled.dtype == np.float32 and scaled.shape == counts.shape
    expected = [200, 100, 50, 200, 100, 50, 20, 200, 200, 200, 200]
    assert np.allclose(scaled, np.array(expected, np.float32))
    assert LAYOUT.scale.dtype == np.float32 and LAYOUT.scale.shape == (11,)


def test_a_scale_that_does_not_fit_its_piece() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        ObservationLayout(("board", (2, 3), [1, 0.5], "cells"))


@pytest.mark.parametrize("lead", [(), (5,), (2, 3)])
def test_split_gives_views_in_shape(lead: tuple[int, ...]) -> None:
    vector = np.arange(11 * int(np.prod(lead)), dtype=np.uint8).reshape(*lead, 11)
    pieces = LAYOUT.split(vector)
    assert {name: piece.shape for name, piece in pieces.items()} == {
        "board": (*lead, 2, 3),
        "clock": (*lead, 1),
        "bag": (*lead, 4),
    }
    assert all(np.shares_memory(piece, vector) for piece in pieces.values())
    assert np.array_equal(np.concatenate([p.reshape(*lead, -1) for p in pieces.values()], axis=-1), vector)


@pytest.mark.parametrize("name", game_names())
def test_the_pieces_of_a_game_fill_its_observation(name: str) -> None:
    for params in game_spec(name).variants.values():
        game = Game(game_spec(name), params)
        state = game.new_state(seed=1)
        seen = state.observe(state.to_move)
        assert seen.shape == (game.layout.size,) == game.layout.scale.shape and seen.dtype == np.float32
        counts = np.zeros(game.layout.size, np.uint8)
        game.spec.rules.observe(state.row, 0, state.to_move, counts)
        assert np.array_equal(seen, game.layout.scaled(counts))
        assert seen.min() >= 0 and seen.max() <= 3  # around 1, as learners want it
        ends = [piece.stop for piece in game.layout.pieces.values()]
        assert [0, *ends[:-1]] == [piece.start for piece in game.layout.pieces.values()] and ends[
            -1
        ] == game.layout.size
        assert all(piece.meaning for piece in game.layout.pieces.values())


def test_the_own_seat_comes_first() -> None:
    """Two seats that swap everything they have see the same."""
    game = Game(game_spec("caravan"), {"starting_seat": 0})
    state = game.new_state(seed=3)
    rng = np.random.default_rng(3)
    for _ in range(60):
        state.step(int(rng.choice(state.legal_actions())))
    struct = state.to_json()
    swapped = game.state_from_json(struct | {"seats": struct["seats"][::-1]})
    for seat in (0, 1):
        assert np.array_equal(state.observe(seat), swapped.observe(1 - seat))
    assert not np.array_equal(state.observe(0), state.observe(1))
