"""The agents for every game: uniform, repeatable, and the same whatever the batch."""

from __future__ import annotations

import numpy as np
import pytest

from agents.registry import make_agent
from caravan_env import Batch, Game, make_game
from tests.core.toy_game import SPEC as TOY


@pytest.fixture(scope="module", params=["caravan", "toy"])
def game(request: pytest.FixtureRequest) -> Game:
    return make_game("caravan") if request.param == "caravan" else Game(TOY)


def test_random_is_uniform_over_the_legal_actions(game: Game) -> None:
    state = game.new_state(seed=4)
    legal = state.legal_actions()
    rows = 400 * len(legal)
    actions = make_agent("random", game, seed=1).act_rows(np.repeat(state.row, rows), np.empty((rows, 0), np.uint8))
    assert set(actions) == set(legal)
    shares = np.bincount(actions)[legal] / rows
    expected = 1 / len(legal)
    assert np.abs(shares - expected).max() < 6 * (expected / rows) ** 0.5


def test_random_repeats_itself_from_its_seed_and_only_then(game: Game) -> None:
    batch = Batch(game, 50, seed=2)
    one, two, other = (make_agent("random", game, seed=s) for s in (5, 5, 6))
    first = one.act_rows(batch.S, batch.mask)
    assert (first == two.act_rows(batch.S, batch.mask)).all()
    assert (one.act_rows(batch.S, batch.mask) != first).any()
    assert (other.act_rows(batch.S, batch.mask) != first).any()


def test_random_draws_by_the_number_of_the_game(game: Game) -> None:
    batch = Batch(game, 12, seed=2)
    numbers = np.arange(12)
    whole = make_agent("random", game, seed=5).act_games(batch.S, batch.mask, numbers)
    parts = make_agent("random", game, seed=5)
    for part in (np.array([7, 11, 3]), np.array([0, 1, 2, 4, 5, 6]), np.array([10, 9, 8])):
        assert (parts.act_games(batch.S[part], batch.mask[part], numbers[part]) == whole[part]).all()


def test_first_takes_the_lowest_number(game: Game) -> None:
    batch = Batch(game, 8, seed=2)
    actions = make_agent("first", game).act_rows(batch.S, batch.mask)
    assert [int(a) for a in actions] == [int(np.flatnonzero(mask)[0]) for mask in batch.mask]
