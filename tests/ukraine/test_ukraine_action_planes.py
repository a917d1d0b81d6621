"""Which actions belong to which squares of an observation's planes."""

from __future__ import annotations

import numpy as np
import pytest

from caravan_env import make_game
from caravan_env.core.rng import streams


@pytest.mark.parametrize("name", ["ukraine", "plane"])
def test_an_action_of_a_square_is_legal_where_the_observation_says_that_the_tile_fits(name: str) -> None:
    game = make_game("ukraine", map=name)
    planes, state, stream = game.action_planes, game.new_state(seed=4), streams(1, 1)
    assert planes is not None
    assert planes.shape == game.layout["fits"].shape
    laid, action = 0, np.zeros(1, np.int64)
    for _ in range(60):
        mask = state.action_mask()
        if mask[planes].any():
            np.testing.assert_array_equal(mask[planes], game.layout.split(state.observe(state.to_move))["fits"])
            assert mask.sum() == mask[planes].sum()
            laid += 1
        game.loops["random_rows"](state.row, stream, action)
        state.step(int(action[0]))
    assert laid >= 20
