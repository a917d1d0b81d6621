"""A beam search over the rest of the mover's own turn, as kernels.

Positions of the turn are kept in four pools, one for each number of actions left, `width` of the best in each. Pools are
worked off from the most actions left to the fewest, so a position is expanded only after all that lead to it; equal
positions (rows of equal bytes) are kept once, whatever the order of the actions that led to them. Positions in which the
turn is over are weighed with `evaluate`; the first action towards the best of them is the answer.

A refill inside the turn draws goods that cannot be known: the plan goes on with their spaces empty.
"""

from __future__ import annotations

import numpy as np

from agents.heuristic.caravan.evaluate import final_worth, kernel, others_worth, seat_worth, useful_cells
from caravan_env.core.bits import bit, lowest
from caravan_env.games.caravan.layout import (
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
    STEAL_START,
    TURN_ACTIONS,
)
from caravan_env.games.caravan.rules import GRID, NONE, bag_total, end_turn, legal_sets, step
from caravan_env.games.caravan.tables import CELLS

_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@kernel
def add_set(chosen, start, actions, count):
    """Append start + k to `actions` for every k in `chosen`; return the new count."""
    while chosen != NONE:
        actions[count] = start + lowest(chosen)
        chosen &= chosen - bit(0)
        count += 1
    return count


@kernel
def list_actions(S, i, useful, actions):
    """Write the legal actions of row i, those that do more than move a camel first; return how many there are."""
    slots, cells, picks, thefts, moves, rainbow = legal_sets(S[i])
    seat = np.int64(S[i]["seat"])
    count = add_set(moves, MOVE_START, actions, 0)
    count = add_set(picks, PICK_START, actions, count)
    count = add_set(thefts, STEAL_START, actions, count)
    while slots != NONE:
        slot = lowest(slots)
        slots &= slots - bit(0)
        cell = S[i]["camel"][seat, slot] >> CELL_SHIFT
        there = cells & ~bit(cell) if cell < OFF_BOARD else cells
        count = add_set(there & useful, CAMEL_START + slot * CELLS, actions, count)
    count = add_set(rainbow & useful, RAINBOW_START, actions, count)
    actions[count] = END_ACTION
    return count + 1


@kernel
def skip_draws(S, i):
    """Go on without the goods of a refill, if one is due; after the last one the bag is empty all the same."""
    s = S[i]
    if s["phase"] != PHASE_FILL:
        return
    s["phase"] = PHASE_PLAY
    if bag_total(S[i]) <= REFILL_AT:
        for kind in range(KINDS):
            s["bag"][kind] = 0
    if s["actions_left"] == 0:
        end_turn(S[i])


@kernel
def row_hash(words, i):
    """Return 64 bits that tell the rows of a batch apart; `words` are its bytes as uint64 (rows, words)."""
    h = _HASH_START
    for k in range(words.shape[1]):
        h = (h ^ words[i, k]) * _HASH_STEP
        h ^= h >> _HALF
    return h


@kernel
def offer(pool, width, node, root, value, words, P, counts, values, roots, hashes):
    """Keep scratch row `node` in a pool if it is new and among the `width` best."""
    first = pool * width
    count = counts[pool]
    place = first + count
    if count == width:
        place = first
        for k in range(first, first + width):
            if values[k] < values[place]:
                place = k
        if value <= values[place]:
            return
    own = row_hash(words, node)
    for k in range(first, first + count):
        if hashes[k] == own:
            return
    if count < width:
        counts[pool] = count + 1
    P[place] = P[node]
    values[place] = value
    roots[place] = root
    hashes[place] = own


@kernel
def plan(S, i, weights, P, words, counts, values, roots, hashes, actions, goals, price, layers, layers2, full):
    """Return the first action of the best way found to play the rest of the turn in row i.

    Args:
        S: batch; not changed.
        i: the row; a seat is to move.
        weights: see `evaluate`.
        P: (TURN_ACTIONS * width + 1,) rows of scratch, the last one for the position being looked at.
        words: the bytes of P as uint64.
        counts: (TURN_ACTIONS,) int64 scratch.
        values: (TURN_ACTIONS * width,) float64 scratch.
        roots: the same, int64.
        hashes: the same, uint64.
        actions: (actions,) int64 scratch.
        goals: see `evaluate`.
        price: see `evaluate`.
    """
    seat = np.int64(S[i]["seat"])
    width = values.shape[0] // TURN_ACTIONS
    node = P.shape[0] - 1
    for pool in range(TURN_ACTIONS):
        counts[pool] = 0
    start = np.int64(S[i]["actions_left"]) - 1
    P[start * width] = S[i]
    counts[start] = 1
    best = -np.inf
    best_root = np.int64(END_ACTION)
    for pool in range(start, -1, -1):
        for k in range(pool * width, pool * width + counts[pool]):
            seat_worth(P, k, seat, weights[0], goals, price, layers)
            useful = useful_cells(P, k, seat, goals, price, layers, layers2)
            if full: useful = GRID
            n = list_actions(P, k, useful, actions)
            others = others_worth(P, k, seat, weights, goals, price, layers)
            for a in range(n):
                action = actions[a]
                root = action if pool == start else roots[k]
                P[node] = P[k]
                step(P, node, action)
                skip_draws(P, node)
                if P[node]["phase"] == PHASE_OVER:
                    value = final_worth(P, node, seat)
                elif P[node]["seat"] == seat:
                    value = seat_worth(P, node, seat, weights[0], goals, price, layers)
                    left = np.int64(P[node]["actions_left"]) - 1
                    offer(left, width, node, root, value, words, P, counts, values, roots, hashes)
                    continue
                else:
                    value = seat_worth(P, node, seat, weights[1], goals, price, layers)
                    if PICK_START <= action < RAINBOW_START:
                        value -= others_worth(P, node, seat, weights, goals, price, layers)
                    else:
                        value -= others
                if value > best:
                    best = value
                    best_root = root
    return best_root


@kernel
def plan_rows(S, chosen, weights, P, words, counts, values, roots, hashes, actions, goals, price, layers, layers2, full):
    """Write the planner's action of every row to `chosen` (rows,) int64."""
    for i in range(S.shape[0]):
        chosen[i] = plan(S, i, weights, P, words, counts, values, roots, hashes, actions, goals, price, layers, layers2, full)
