"""The kernels of the evaluators that `agents.search.evaluators` has: templates, see there."""

# ruff: noqa: F821  (the game's kernels become globals of these functions when they are compiled)
# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.contract import TERMINAL
from caravan_env.core.rng import next_u64

to_move: Callable[..., Any]
pick: Callable[..., Any]
step: Callable[..., Any]
score: Callable[..., Any]
settle: Callable[..., Any]
end_values: Callable[..., Any]
potentials: Callable[..., Any]
candidates: Callable[..., Any]
appraise: Callable[..., Any]
worth: Callable[..., Any]

MARGIN_SCALE = 20.0  # points of margin that are worth 0.76
SHARPNESS = 15.0  # logits for each unit of potential

ROW = np.int64(0)
_HALF = np.uint64(32)


class Trial(NamedTuple):
    """The memory of the evaluators, X.

    Attributes:
        row: (1,) position that actions are tried in.
        values: (seats,) float64, what it is worth.
        weights: (outcomes,) int64, of chance.
        stream: (1,) uint64, for what is random.
        numbers: (2,) float64, random actions before a position is judged, and the points of margin that make a return
            of 0.76, 0 if returns are in [-1, 1] as they are.
        memory: what the game's potential writes to.
        scratch: what the game's `candidates` write to.
    """

    row: NDArray[np.void]
    values: NDArray[np.float64]
    weights: NDArray[np.int64]
    stream: NDArray[np.uint64]
    numbers: NDArray[np.float64]
    memory: Any
    scratch: Any


def every_action(S, i, X, mask, actions):
    """Write all legal actions of row i."""
    count = np.int64(0)
    for action in range(mask.shape[0]):
        if mask[action] != 0:
            actions[count] = action
            count += 1
    return count


def useful_actions(S, i, X, mask, actions):
    """Write those legal actions of row i that the game's heuristics find worth a look."""
    return candidates(S, i, X.scratch, actions)


def by_margin(S, i, X, values):
    """Write what each seat is worth in a game without a potential: its lead in points over the best other, or alone."""
    score(S, i, X.values)
    for seat in range(values.shape[0]):
        best = -np.inf if values.shape[0] > 1 else 0.0
        for other in range(values.shape[0]):
            if other != seat:
                best = max(best, X.values[other])
        values[seat] = math.tanh((X.values[seat] - best) / MARGIN_SCALE)


def by_potential(S, i, X, values):
    """Write the game's own potential of each seat."""
    potentials(S, i, X.memory, values)


def end_or_value(S, i, X, values):
    """Write what row i, finished or not, is worth to each seat."""
    if to_move(S, i) != TERMINAL:
        appraise(S, i, X, values)
        return
    end_values(S, i, X.numbers[1], values)


def look_ahead(S, i, X, actions, count, out):
    """Write as logits what each action leads to: the potential after it, times SHARPNESS."""
    seat = to_move(S, i)
    for k in range(count):
        X.row[ROW] = S[i]
        step(X.row, ROW, actions[k])
        worth(X.row, ROW, X, X.values)
        out[k] = SHARPNESS * X.values[seat]


def play_out(S, i, X, values):
    """Play random actions from row i, as many as X says or to the end of the game, and write what that is worth."""
    X.row[ROW] = S[i]
    left = X.numbers[0]
    while left > 0.0 and settle(X.row, ROW, X.stream, ROW, X.weights) != TERMINAL:
        step(X.row, ROW, pick(X.row, ROW, next_u64(X.stream, ROW) >> _HALF))
        left -= 1.0
    worth(X.row, ROW, X, values)


def no_preference(S, i, X, actions, count, out):
    """Write equal logits."""
    for k in range(count):
        out[k] = 0.0
