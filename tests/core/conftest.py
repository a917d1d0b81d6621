"""The toy game, registered as a user would register a game, and beside it every game of the package."""

from __future__ import annotations

import pytest

from caravan_env.core.game import Game
from caravan_env.core.registry import game_spec, register_game
from tests.core import toy_game
from tests.golden.make import shipped_games

SHIPPED = shipped_games()


@pytest.fixture(scope="session", autouse=True)
def registered_toy() -> None:
    register_game(toy_game.SPEC)


@pytest.fixture
def toy() -> Game:
    return Game(toy_game.SPEC)


@pytest.fixture(params=[*SHIPPED, "heap"])
def game(request: pytest.FixtureRequest) -> Game:
    """The default variant of each game."""
    return Game(game_spec(request.param))
