"""The same games without the compiler, and no index out of range with its checks on."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from caravan_env import Batch
from caravan_env.core.game import Game
from caravan_env.core.registry import game_spec
from tests.core.conftest import SHIPPED
from tests.core.processes import run_python

GAMES = [*SHIPPED, "heap"]


def fingerprint(game: Game, rows: int, steps: int) -> list[str]:
    """Play random games and return a digest of everything after every step."""
    batch = Batch(game, rows, seed=6)
    found = []
    for _ in range(steps):
        batch.step(batch.random_actions())
        parts = (batch.S, batch.seats, batch.mask, batch.counts, batch.obs, batch.returns, batch.ended)
        found.append(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:12])
    return found


def short(name: str) -> Game:
    """A variant whose random games end soon, if the game has a turn limit."""
    switches = {switch for switch, *_ in game_spec(name).params_type.describe()}
    return Game(game_spec(name), {"turn_limit": 6} if "turn_limit" in switches else {})


def replayed(name: str, events: int) -> dict[str, int]:
    """Replay the golden records of a game, at most `events` of each, looking at every position with every kernel.

    Returns:
        Variant -> number of positions whose digest was the recorded one.
    """
    from caravan_env.core.record import read_record, replay
    from caravan_env.core.rng import streams
    from tests.golden.make import golden_path

    counts, stream = {}, streams(1, 1)
    for variant in game_spec(name).variants:
        record = read_record(golden_path(name, variant))
        if len(record.events) > events:
            record.events, record.result = record.events[:events], None
        seen = 0
        for _, state in replay(record):
            _look(state, stream)
            seen += 1
        counts[variant] = seen
    return counts


def _look(state: Any, stream: np.ndarray) -> None:
    """Call every kernel that only looks, and those that draw."""
    rules, copy = state.game.spec.rules, state.clone()
    for seat in range(state.game.players):
        state.observe(seat)
    state.scores()
    state.returns()
    if state.to_move >= 0:
        count = len(state.legal_actions())
        for ticket in (0, 1 << 31, (1 << 32) - 1):
            rules.pick(state.row, 0, np.uint64(ticket))
        for action in range(-1, state.game.num_actions + 1, 1 + state.game.num_actions // 40):
            rules.is_legal(state.row, 0, action)
        rules.resample(copy.row, 0, state.to_move, stream, 0)
        assert count > 0


def played(name: str, rows: int, steps: int) -> int:
    """Play random games of every variant and return how many ended."""
    ended = 0
    for params in game_spec(name).variants.values():
        batch = Batch(Game(game_spec(name), params), rows, seed=2)
        for _ in range(steps):
            batch.step(batch.random_actions())
            ended += int(batch.ended.sum())
    return ended


PROGRAM = """
import json
from caravan_env import register_game
from caravan_env.core.game import Game
from numba.core import config
from tests.core import test_compiler_flags as here, toy_game
register_game(toy_game.SPEC)
flags = [bool(config.DISABLE_JIT), bool(config.BOUNDSCHECK)]
print(json.dumps([flags, {expression}]))
"""


def in_process(expression: str, **environment: str) -> Any:
    return run_python(PROGRAM.format(expression=expression), **environment)


@pytest.mark.parametrize("name", GAMES)
def test_the_same_games_without_jit(name: str) -> None:
    flags, found = in_process(f"here.fingerprint(here.short({name!r}), 2, 60)", NUMBA_DISABLE_JIT="1")
    assert flags == [True, False]
    assert found == fingerprint(short(name), 2, 60)
    assert len(set(found)) == 60


@pytest.mark.parametrize("name", SHIPPED)
def test_golden_records_without_jit(name: str) -> None:
    flags, counts = in_process(f"here.replayed({name!r}, 60)", NUMBA_DISABLE_JIT="1")
    assert flags == [True, False]
    assert set(counts) == set(game_spec(name).variants) and min(counts.values()) > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_no_index_is_out_of_range(name: str) -> None:
    expression = f"[here.replayed({name!r}, 10_000), here.played({name!r}, 4, 250)]"
    flags, (counts, _) = in_process(expression, NUMBA_BOUNDSCHECK="1")
    assert flags == [False, True]
    assert set(counts) == set(game_spec(name).variants) and min(counts.values()) > 50


def test_the_bounds_check_is_on_where_it_is_said_to_be() -> None:
    program = """
import json
import numpy as np
from caravan_env.core.kernel import kernel
from caravan_env.core.rng import next_u64
try:
    next_u64(np.zeros(2, np.uint64), 2)
except IndexError as error:
    print(json.dumps(str(error)))
"""
    assert "out of bounds" in run_python(program, NUMBA_BOUNDSCHECK="1")
