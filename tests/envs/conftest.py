"""Games for the tests of the views, among them a tiny one that ends by its rules within a few moves."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caravan_env import Game, State
from caravan_env.core import registry

#: A map on which a game is over soon, with a large city and a Chumak square.
ISLAND = {
    "name": "Island",
    "mark": "invented",
    "rows": ["ooooo", "oS1Co", "ooooo"],
    "cities": {"1": {"name": "Keep", "shields": 1}},
}

#: Game, switches: every number of players, one alone too, ends by the rules and by the turn limit.
VARIANTS = {
    "nim-2": ("nim", {}),
    "nim-3": ("nim", {"players": 3, "returns": "rank"}),
    "nim-4": ("nim", {"players": 4}),
    "nim-limit": ("nim", {"players": 3, "turn_limit": 3}),
    "caravan-2": ("caravan", {"turn_limit": 30}),
    "caravan-3": ("caravan", {"players": 3, "turn_limit": 20, "returns": "margin"}),
    "caravan-4": ("caravan", {"players": 4, "turn_limit": 20}),
    "century-1": ("century", {"players": 1, "turn_limit": 15, "returns": "margin"}),
    "century-3": ("century", {"players": 3, "turn_limit": 8}),
    "century-5": ("century", {"players": 5, "turn_limit": 5, "returns": "rank"}),
    "ukraine-2": ("ukraine", {"players": 2, "map": ISLAND}),
    "ukraine-6": ("ukraine", {"players": 6, "map": ISLAND, "returns": "rank"}),
    "caravan-rainbow": ("caravan", {"players": 3, "rainbow_camel": True, "camels": 6, "turn_limit": 20}),
}


@functools.cache
def _nim() -> Any:
    path = Path(__file__).with_name("nim_game.py")
    spec = importlib.util.spec_from_file_location("nim_game", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nim_game"] = module
    spec.loader.exec_module(module)
    return module.SPEC


@pytest.fixture(scope="module", autouse=True)
def _nim_is_registered() -> Iterator[None]:
    registry.register_game(_nim())
    yield
    del registry._specs["nim"]


@pytest.fixture(params=list(VARIANTS))
def variant(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Every variant in turn, as a game's name and its switches."""
    return VARIANTS[request.param]


class Scripted:
    """An opponent without randomness whose choice depends on what it sees."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        self.game = game

    def act(self, state: State) -> int:
        legal = state.legal_actions()
        return int(legal[int(state.observe(state.to_move).sum() * 8) % len(legal)])


@pytest.fixture
def scripted() -> Callable[[Game, int], Any]:
    return Scripted


@pytest.fixture
def pick() -> Callable[[Any, int], int]:
    """Choose a legal action of a mask by a number."""

    def choose(mask: Any, number: int) -> int:
        legal = np.flatnonzero(mask)
        return int(legal[number * 7919 % len(legal)])

    return choose
