"""A beam search over the rest of the mover's own turn, as kernels.

Positions of the turn are kept in four pools, one for each number of actions left, the `width` best of them in each. The
pools are worked off from the most actions left to the fewest, so that a position is looked into only after all that
lead to it; equal positions (rows of equal bytes) are kept once, whatever the order of the actions that led to them.
Positions in which the turn is over are weighed against those of the other seats; the first action towards the best
of them is the answer.

A refill inside the turn draws goods that cannot be known: the plan goes on with their spaces empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.caravan.evaluate import (
    final_worth,
    kernel,
    others_worth,
    race_worth,
    seat_worth,
    survey,
    useful_cells,
    winning_actions,
)
from caravan_env.core.bits import bit, lowest
from caravan_env.games.caravan.layout import (
    ACTIONS,
    CAMEL_START,
    CELL_SHIFT,
    END_ACTION,
    KINDS,
    MOVE_START,
    OFF_BOARD,
    PHASE_FILL,
    PHASE_OVER,
    PHASE_PLAY,
    PICK_START,
    RAINBOW_START,
    REFILL_AT,
    STATE,
    STEAL_START,
    TURN_ACTIONS,
)
from caravan_env.games.caravan.rules import NONE, bag_total, end_turn, legal_sets, step
from caravan_env.games.caravan.tables import CELLS

_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)

RACE_ACTION = 5.0  # points an action is worth on the way to a delivery that wins


class Pools(NamedTuple):
    """The positions of a search; pool p, of those with p + 1 actions left, begins at place p * width.

    Attributes:
        rows: (TURN_ACTIONS * width + 1,) positions; the last is the one that is being looked at.
        words: the bytes of `rows` as uint64.
        counts: (TURN_ACTIONS,) int64, places used.
        values: (TURN_ACTIONS * width,) float64, what the seat to move has there.
        roots: the same shape, int64, the action of the turn that led there.
        hashes: the same shape, uint64.
        actions: (actions,) int64, the actions of one position.
    """

    rows: NDArray[np.void]
    words: NDArray[np.uint64]
    counts: NDArray[np.int64]
    values: NDArray[np.float64]
    roots: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    actions: NDArray[np.int64]


def new_pools(width: int) -> Pools:
    """Return the memory of a search that keeps `width` positions in each pool."""
    places = TURN_ACTIONS * width
    words = np.zeros((places + 1, STATE.itemsize // 8), np.uint64)
    return Pools(
        np.frombuffer(words, STATE),  # many times as fast as a view
        words,
        np.zeros(TURN_ACTIONS, np.int64),
        np.zeros(places),
        np.zeros(places, np.int64),
        np.zeros(places, np.uint64),
        np.zeros(ACTIONS.size, np.int64),
    )


@kernel
def add_set(chosen, start, actions, count):
    """Append start + k to `actions` for every k in `chosen`; return the new count."""
    while chosen != NONE:
        actions[count] = start + lowest(chosen)
        chosen &= chosen - bit(0)
        count += 1
    return count


@kernel
def list_actions(s, useful, actions):
    """Write the legal actions of a position, but camels go to `useful` cells only; return how many there are."""
    slots, cells, picks, thefts, moves, rainbow = legal_sets(s)
    seat = np.int64(s["seat"])
    count = add_set(moves, np.int64(MOVE_START), actions, np.int64(0))
    count = add_set(picks, np.int64(PICK_START), actions, count)
    count = add_set(thefts, np.int64(STEAL_START), actions, count)
    while slots != NONE:
        slot = lowest(slots)
        slots &= slots - bit(0)
        cell = s["camel"][seat, slot] >> CELL_SHIFT
        there = cells & ~bit(cell) if cell < OFF_BOARD else cells
        count = add_set(there & useful, CAMEL_START + slot * CELLS, actions, count)
    count = add_set(rainbow & useful, np.int64(RAINBOW_START), actions, count)
    actions[count] = END_ACTION
    return count + 1


@kernel
def skip_draws(s):
    """Go on without the goods of a refill, if one is due; after the last one the bag is empty all the same."""
    if s["phase"] != PHASE_FILL:
        return
    s["phase"] = PHASE_PLAY
    if bag_total(s) <= REFILL_AT:
        for kind in range(KINDS):
            s["bag"][kind] = 0
    if s["actions_left"] == 0:
        end_turn(s)


@kernel
def row_hash(words, i):
    """Return 64 bits that tell rows apart, from their bytes as uint64 (rows, words)."""
    h = _HASH_START
    for k in range(words.shape[1]):
        h = (h ^ words[i, k]) * _HASH_STEP
        h ^= h >> _HALF
    return h


@kernel
def offer(pool, root, value, B):
    """Keep the position looked at in a pool, if it is new there and among the best."""
    node = B.rows.shape[0] - 1
    width = B.values.shape[0] // TURN_ACTIONS
    first = pool * width
    count = B.counts[pool]
    place = first + count
    if count == width:
        place = first + np.argmin(B.values[first : first + width])
        if value <= B.values[place]:
            return
    own = row_hash(B.words, node)
    for k in range(first, first + count):
        if B.hashes[k] == own:
            return
    if count < width:
        B.counts[pool] = count + 1
    B.rows[place] = B.rows[node]
    B.values[place] = value
    B.roots[place] = root
    B.hashes[place] = own


@kernel
def leaf_worth(s, seat, others, weights, X):
    """Return what a position after the seat's turn is worth to it; `others` is the others' worth."""
    if s["phase"] == PHASE_OVER:
        return final_worth(s, seat)
    if bag_total(s) == 0:
        return race_worth(s, seat, X)
    return seat_worth(s, seat, weights[1], X) - others


@kernel
def expand(place, pool, start, best, best_root, weights, X, B):
    """Look at every position one action after the one at `place`; return the best leaf's value and root so far."""
    S = B.rows
    node = S.shape[0] - 1
    s = S[node]
    seat = np.int64(S[place]["seat"])
    useful = useful_cells(S[place], seat, survey(S[place], seat, X), X)
    others_before = others_worth(S[place], seat, weights, X)
    for a in range(list_actions(S[place], useful, B.actions)):
        action = B.actions[a]
        root = action if pool == start else B.roots[place]
        S[node] = S[place]
        step(S, node, action)
        skip_draws(s)
        if s["phase"] != PHASE_OVER and s["seat"] == seat:
            value = seat_worth(s, seat, weights[0], X)
            if bag_total(s) == 0:
                value -= RACE_ACTION * winning_actions(s, seat, X)
            offer(np.int64(s["actions_left"]) - 1, root, value, B)
            continue
        others = others_before
        if PICK_START <= action < MOVE_START and s["phase"] != PHASE_OVER:
            others = others_worth(s, seat, weights, X)
        value = leaf_worth(s, seat, others, weights, X)
        if value > best:
            best, best_root = value, root
    return best, best_root


@kernel
def plan_rows(S, weights, X, B, chosen):
    """Write the planner's action of every row, in which a seat is to move, to `chosen` (rows,) int64."""
    width = B.values.shape[0] // TURN_ACTIONS
    for i in range(S.shape[0]):
        start = np.int64(S[i]["actions_left"]) - 1
        B.counts[:] = 0
        B.rows[start * width] = S[i]
        B.counts[start] = 1
        best = -np.inf
        chosen[i] = END_ACTION
        for pool in range(start, -1, -1):
            for k in range(B.counts[pool]):
                best, chosen[i] = expand(pool * width + k, pool, start, best, chosen[i], weights, X, B)
