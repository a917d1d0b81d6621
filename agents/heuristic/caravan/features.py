"""What a learned value function is told of a position of Caravan beside the observation: kernels over rows.

The camels' links are what a small network cannot work out by itself, so it gets what the evaluation knows of them: how
many actions each good is from its delivery, for every seat.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.caravan import evaluate
from agents.heuristic.caravan.evaluate import (
    LAST_SCALE,
    NEVER,
    SCALE,
    Scratch,
    actions_to_deliver,
    actions_to_take,
    best_steal,
    best_three,
    carried_worth,
    kernel,
    kind_of,
    on_top,
    seat_worth,
    secured,
    survey,
    useful_cells,
    winning_actions,
)
from agents.heuristic.caravan.search import list_actions
from agents.heuristic.caravan.weights import (
    DEFAULT_WEIGHTS,
    W_EMPTIES,
    W_REACH,
    W_STEAL,
    W_THEFT,
)
from caravan_env.games.caravan.layout import (
    ACTIONS,
    CAMEL_START,
    CELL_SHIFT,
    OFF_BOARD,
    PICK_START,
    RAINBOW_START,
    SLOTS,
    STATE,
    TURN_ACTIONS,
)
from caravan_env.games.caravan.rules import bag_total, is_laden, points, seat_after, step
from caravan_env.games.caravan.tables import CELLS, COMMON, SPACES

STEPS = np.array([1, 2, 3, 4, 6, 8, 12], np.int64)  # actions at which a good counts as near, nearer, ...
WAYS = len(STEPS)
PRIOR = 0  # place of the evaluation's own estimate, from which learning starts
COMMONS, RARES, FREE_COMMONS, FREE_RARES = (k * WAYS for k in range(4))
WORTH, SECURED, THEFT, STEAL, NET, RACE = (4 * WAYS + k for k in (0, 1, 2, 3, 4, 7))
EMPTIES = RACE + 3  # how many camels are empty, one-hot; then the share off the board, and goods that are not on top
SEAT_FEATURES = EMPTIES + SLOTS + 3
TABLE_FEATURES = 3 + 2 * TURN_ACTIONS  # the bag, whether it is empty, who is to move, and the actions left
BAG = 40.0  # goods in a full one
PLACEMENTS = 20  # camel moves among the candidates

ROW = np.int64(0)


class Memory(NamedTuple):
    """What the kernels of this module work with, made once by `new_scratch`.

    Attributes:
        scratch: what the evaluation writes to.
        rows: (1,) the position after an action.
        worths: (actions,) float64, what each action is worth at once.
    """

    scratch: Scratch
    rows: NDArray[np.void]
    worths: NDArray[np.float64]


def new_scratch() -> Memory:
    """Return the working memory of one thread."""
    return Memory(evaluate.new_scratch(), np.zeros(1, STATE), np.zeros(ACTIONS.size))


def size(players: int) -> int:
    """Return the number of features with so many seats."""
    return 1 + players * SEAT_FEATURES + TABLE_FEATURES


@kernel
def count_steps(actions, out, start):
    """Count a good in every step that it is within."""
    for k in range(WAYS):
        out[start + k] += np.float32(actions <= STEPS[k])


@kernel
def describe_goods(s, seat, empties, X, out, at):
    """Write how near the goods that a seat carries, and those it could pick up, are to delivery."""
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            kind = kind_of(code)
            actions = actions_to_deliver(s, seat, kind, code >> CELL_SHIFT, empties, X)
            count_steps(actions, out, at + (RARES if kind >= COMMON else COMMONS))
    for space in range(SPACES):
        if s["free"][space] != 0:
            kind = np.int64(s["free"][space]) - 1
            actions = actions_to_take(s, seat, kind, np.int64(s["source_cell"][space]), empties, X)
            count_steps(actions, out, at + (FREE_RARES if kind >= COMMON else FREE_COMMONS))


@kernel
def describe_camels(s, seat, empties, out, at):
    """Write how many camels of a seat are empty, off the board, and carry a good that cannot be stolen."""
    out[at + EMPTIES + empties] = np.float32(1.0)
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        out[at + EMPTIES + SLOTS + 1] += np.float32(0.2) * np.float32(code >> CELL_SHIFT == OFF_BOARD)
        out[at + EMPTIES + SLOTS + 2] += np.float32(0.5) * np.float32(is_laden(code) and not on_top(code))


@kernel
def describe_race(s, seat, X, out, at):
    """Write in how many turns a seat can win once the bag is empty."""
    actions = winning_actions(s, seat, X)
    out[at + RACE] = np.float32(actions <= TURN_ACTIONS)
    out[at + RACE + 1] = np.float32(actions <= 2 * TURN_ACTIONS)
    out[at + RACE + 2] = np.float32(actions < NEVER)


@kernel
def describe_seat(s, seat, w, X, out, at):
    """Write the features of a seat, and return what it has and expects in points, as `seat_worth` does."""
    empties = survey(s, seat, X)
    describe_goods(s, seat, empties, X, out, at)
    describe_camels(s, seat, empties, out, at)
    first, second, third = best_three(X.net)
    steal = best_steal(s, seat, empties, X)
    worth = w[W_THEFT] * s["theft"][seat] + w[W_EMPTIES + empties] + carried_worth(s, seat, empties, w, X)
    worth += w[W_REACH] * max(first, 0.0) + w[W_REACH + 1] * max(second, 0.0) + w[W_REACH + 2] * max(third, 0.0)
    worth += secured(s, seat) + w[W_STEAL] * steal
    out[at + WORTH] = worth * np.float32(0.05)
    out[at + SECURED] = np.float32(points(s, seat)) * np.float32(0.05)
    out[at + THEFT] = s["theft"][seat]
    out[at + STEAL] = steal * np.float32(0.2)
    out[at + NET] = max(first, -2.0) * np.float32(0.2)
    out[at + NET + 1] = max(second, -2.0) * np.float32(0.2)
    out[at + NET + 2] = max(third, -2.0) * np.float32(0.2)
    if bag_total(s) == 0:
        describe_race(s, seat, X, out, at)
    return worth


@kernel
def describe_clock(s, seat, out, at):
    """Write how far the game and the turn are."""
    is_own = s["seat"] == seat
    out[at] = np.float32(bag_total(s)) / np.float32(BAG)
    out[at + 1] = np.float32(bag_total(s) == 0)
    out[at + 2] = np.float32(is_own)
    if s["actions_left"] > 0:
        out[at + 2 + np.int64(s["actions_left"]) + (TURN_ACTIONS if is_own else 0)] = np.float32(1.0)


@kernel
def features(S, i, seat, X, out):
    """Write what is known of row i from the view of a seat to `out`, float32 of shape (size(players),)."""
    s = S[i]
    out[:] = np.float32(0.0)
    players = np.int64(s["players"])
    lead = 0.0
    for place in range(players):
        other = seat_after(s, seat, place)
        w = DEFAULT_WEIGHTS[np.int64(0 if other == s["seat"] else 1)]
        worth = describe_seat(s, other, w, X.scratch, out, 1 + place * SEAT_FEATURES)
        lead += worth if place == 0 else -worth / (players - 1)
    describe_clock(s, seat, out, 1 + players * SEAT_FEATURES)
    out[PRIOR] = lead / (LAST_SCALE if bag_total(s) == 0 else SCALE)


@kernel
def weigh_placements(S, i, first, last, actions, X):
    """Write what the seat to move has after each of actions[first:last], which move camels, to X.worths."""
    seat = np.int64(S[i]["seat"])
    for k in range(first, last):
        X.rows[ROW] = S[i]
        step(X.rows, ROW, actions[k])
        w = DEFAULT_WEIGHTS[np.int64(0 if X.rows[ROW]["seat"] == seat else 1)]
        X.worths[k] = seat_worth(X.rows[ROW], seat, w, X.scratch)


@kernel
def keep_placements(first, last, actions, X):
    """Move the PLACEMENTS actions of actions[first:last] with the highest worths to the front; return their end."""
    end = min(first + PLACEMENTS, last)
    for place in range(first, end):
        best = place
        for k in range(place + 1, last):
            if X.worths[k] > X.worths[best]:
                best = k
        actions[place], actions[best] = actions[best], actions[place]
        X.worths[place], X.worths[best] = X.worths[best], X.worths[place]
    return end


@kernel
def candidates(S, i, X, actions):
    """Write the legal actions of row i that can be of use to `actions`; return how many there are.

    Camels go to `useful_cells` only, and of these moves only the PLACEMENTS best are kept, as the evaluation sees them.
    """
    s = S[i]
    seat = np.int64(s["seat"])
    useful = useful_cells(s, seat, survey(s, seat, X.scratch), X.scratch)
    count = list_actions(s, useful, actions)
    first = np.int64(0)
    while first < count and PICK_START <= actions[first] < RAINBOW_START:
        first += 1
    last = first
    while last < count and CAMEL_START <= actions[last] < CAMEL_START + SLOTS * CELLS:
        last += 1
    if last - first <= PLACEMENTS:
        return count
    weigh_placements(S, i, first, last, actions, X)
    end = keep_placements(first, last, actions, X)
    for k in range(last, count):
        actions[end + k - last] = actions[k]
    return end + count - last


__all__ = ["Memory", "candidates", "features", "new_scratch", "size"]
