"""What a position of Caravan is worth to a seat, in points: kernels over rows, like the rules.

Everything rests on one number: how many camels a seat still has to place until a good is linked to its city. Placing
one costs an action, or two where other camels stand (T3, T4); own camels and the Rainbow Camel link for free (G2,
X3). So the cheapest link is a shortest path with prices 0, 1 and 2 on the cells, found for all goods of a kind at
once by growing the set of cells that are linked to their city, price by price.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.caravan.weights import (
    DEFAULT_WEIGHTS,
    MAX_ACTIONS,
    W_CARRIED,
    W_EMPTIES,
    W_REACH,
    W_STEAL,
    W_THEFT,
)
from caravan_env.core.bits import bit, lowest
from caravan_env.core.kernel import kernel_using
from caravan_env.core.outcome import RETURN_MARGIN
from caravan_env.games.caravan import rules
from caravan_env.games.caravan.layout import (
    CELL_SHIFT,
    KIND_MASK,
    KIND_SHIFT,
    KINDS,
    PHASE_OVER,
    TURN_ACTIONS,
    UNDER_BIT,
)
from caravan_env.games.caravan.rules import (
    GRID,
    NONE,
    NOT_FIRST_COLUMN,
    NOT_LAST_COLUMN,
    ONE_LEFT,
    ONE_ROW,
    PENALTIES,
    VALUES,
    bag_total,
    group_of,
    is_laden,
    occupied,
    points,
    rainbow_bit,
    seat_after,
)
from caravan_env.games.caravan.tables import CELLS, COMMON, SIZE, SPACES

kernel = kernel_using(rules.__file__)

MAX_PRICE = 2 * CELLS
ACTION_PRICE = 0.4  # points an action is worth when goods to take are ranked
DENIAL = 0.5  # share of a stolen good's points that its owner's loss is worth to the thief
WIN = 40.0  # points that winning is worth
LOSS = 1.5  # of that, what losing costs: a lost game is worse than any that goes on
NEVER = 99  # actions
SCALE = 9.0  # points that make a likely winner, from games of the planner against itself
LAST_SCALE = 6.0  # the same once the bag is empty

DISTANCE = np.array(
    [[abs(a // SIZE - b // SIZE) + abs(a % SIZE - b % SIZE) for b in range(CELLS)] for a in range(CELLS)], np.int8
)


class Scratch(NamedTuple):
    """Arrays that the kernels here write to, made once by `new_scratch`.

    Attributes:
        goals: (KINDS,) uint64, the cells with a good of each kind that the seat carries or could take.
        price: (KINDS, CELLS) int64, at the goals: what the link of the good there to its city still costs.
        net: (SPACES,) float64, points less actions of the free goods; minus infinity where there is none.
        layers: (MAX_PRICE + 1,) uint64, the cells linked at each price.
        back: the same, grown from the other end.
        spare: (CELLS,) int64, prices nobody asks for.
    """

    goals: NDArray[np.uint64]
    price: NDArray[np.int64]
    net: NDArray[np.float64]
    layers: NDArray[np.uint64]
    back: NDArray[np.uint64]
    spare: NDArray[np.int64]


def new_scratch() -> Scratch:
    """Return the working memory of one thread."""
    layers = np.zeros((2, MAX_PRICE + 1), np.uint64)
    return Scratch(
        np.zeros(KINDS, np.uint64),
        np.zeros((KINDS, CELLS), np.int64),
        np.zeros(SPACES),
        layers[0],
        layers[1],
        np.zeros(CELLS, np.int64),
    )


# --- links -----------------------------------------------------------------------------------------------------------


@kernel
def spread(cells):
    """Return a set of cells together with their orthogonal neighbours."""
    wider = cells | (cells << ONE_ROW) | (cells >> ONE_ROW)
    wider |= ((cells & NOT_LAST_COLUMN) << ONE_LEFT) | ((cells & NOT_FIRST_COLUMN) >> ONE_LEFT)
    return wider & GRID


@kernel
def grow_links(start, entry, own, taken, goals, price, layers):
    """Grow the set of cells linked to a cell, price by price, until it holds all goals.

    Args:
        start: the cell, as a set.
        entry: price of the cell itself.
        own: cells that link for free.
        taken: other cells with camels, price 2; all the rest cost 1.
        goals: the cells to reach.
        price: (CELLS,) int64; written at the goals: the price of linking them, their own cells included.
        layers: (MAX_PRICE + 1,) uint64; written: the cells linked at exactly each price.

    Returns:
        The highest price reached.
    """
    open_cells = GRID & ~(own | taken)
    before = NONE
    reached = NONE
    left = goals
    spent = np.int64(0)
    while True:
        now = reached | (spread(reached) & open_cells) | (spread(before) & taken)
        if spent == entry:
            now |= start
        fresh = now & ~reached
        while fresh != NONE:
            fresh = spread(fresh) & own & ~now
            now |= fresh
        layers[spent] = now & ~reached
        hits = now & left
        left &= ~hits
        while hits != NONE:
            price[lowest(hits)] = spent
            hits &= hits - bit(0)
        if left == NONE:
            return spent
        before = reached
        reached = now
        spent += 1


@kernel
def entry_price(s, seat, cell):
    """Return what it costs to have an empty camel of the seat, or the Rainbow Camel, on a cell (a set)."""
    if (s["empty_at"][seat] | rainbow_bit(s)) & cell:
        return np.int64(0)
    return np.int64(2) if occupied(s) & cell else np.int64(1)


@kernel
def kind_of(code):
    """Return the kind 0..7 of a laden camel's good."""
    return np.int64((code >> KIND_SHIFT) & KIND_MASK) - 1


@kernel
def on_top(code):
    """Whether a camel carries a good that can be stolen (H1, H3)."""
    return is_laden(code) and not code & UNDER_BIT


@kernel
def find_goods(s, seat, X):
    """Write to X.goals where the goods are that the seat carries, or could pick up or steal."""
    goals = X.goals
    for kind in range(KINDS):
        goals[kind] = NONE
    for space in range(SPACES):
        if s["free"][space] != 0:
            goals[s["free"][space] - 1] |= bit(s["source_cell"][space])
    may_steal = s["theft"][seat] > 0
    for owner in range(s["players"]):
        if owner == seat or may_steal:
            for slot in range(s["camels"]):
                code = np.int64(s["camel"][owner, slot])
                if is_laden(code) and (owner == seat or on_top(code)):
                    goals[kind_of(code)] |= bit(code >> CELL_SHIFT)


@kernel
def price_goods(s, seat, X):
    """Write to X.price what the links of all these goods cost the seat."""
    own = s["on_board"][seat] | rainbow_bit(s)
    taken = occupied(s) & ~own
    for kind in range(KINDS):
        if X.goals[kind] != NONE:
            city = bit(s["city_cell"][kind])
            grow_links(city, entry_price(s, seat, city), own, taken, X.goals[kind], X.price[kind], X.layers)


@kernel
def head_start(s, seat, cell, city):
    """Return how many cells nearer to its city the camels linked with a good at `cell` can pass it."""
    group = group_of(bit(cell), s["on_board"][seat] | rainbow_bit(s) | bit(cell))
    nearest = np.int64(DISTANCE[cell, city])
    here = nearest
    while group != NONE:
        nearest = min(nearest, np.int64(DISTANCE[lowest(group), city]))
        group &= group - bit(0)
    return here - nearest


@kernel
def link_actions(s, seat, cell, city, gaps, linked, empties):
    """Return about how many actions it takes to fill the gaps of a link and to move a good over it.

    One move does if there are enough camels for the whole link. If not, those that the good has passed go ahead of it,
    with one more move for each time that is done. If none is to spare at first and the good cannot pass any, one of
    those further on has to come back.

    Args:
        s: the position.
        seat: whose link it is.
        cell: where the good is.
        city: where it goes.
        gaps: what the missing camels cost.
        linked: cells of the link that have camels of the seat.
        empties: empty camels that may be used.
    """
    spare = max(empties - linked, 0)
    if spare >= gaps:
        return gaps + 1
    passed = min(head_start(s, seat, cell, city), linked) + spare
    if passed == 0:
        return 2 * gaps + 2
    return gaps + 1 + (gaps - spare + passed - 1) // passed


@kernel
def actions_to_deliver(s, seat, kind, cell, empties, X):
    """Return about how many actions it takes to deliver the good that the seat carries at `cell`."""
    city = np.int64(s["city_cell"][kind])
    gaps = X.price[kind, cell]
    linked = max(np.int64(DISTANCE[cell, city]) - gaps, 0)
    return link_actions(s, seat, cell, city, gaps, linked, empties)


@kernel
def actions_to_take(s, seat, kind, cell, empties, X):
    """Return the same for a good that is to be picked up or stolen first; NEVER if that is not allowed (P4, H4)."""
    if empties < 2:
        return np.int64(NEVER)
    city = np.int64(s["city_cell"][kind])
    gaps = X.price[kind, cell]
    place = np.int64(0)
    if not s["empty_at"][seat] & bit(cell):
        place = np.int64(2) if occupied(s) & bit(cell) else np.int64(1)
        if not (s["on_board"][seat] | rainbow_bit(s)) & bit(cell):
            gaps -= place
    linked = max(np.int64(DISTANCE[cell, city]) - gaps, 0)
    if place > 0 and empties <= linked:  # the camel for it has to come from the link
        gaps += 1
        linked -= 1
    return 1 + place + link_actions(s, seat, cell, city, gaps, linked, empties - 1)


@kernel
def price_free(s, seat, empties, X):
    """Write to X.net what the free goods bring: points and demand markers, less the actions at ACTION_PRICE."""
    for space in range(SPACES):
        X.net[space] = -np.inf
        if s["free"][space] != 0:
            kind = np.int64(s["free"][space]) - 1
            actions = actions_to_take(s, seat, kind, np.int64(s["source_cell"][space]), empties, X)
            X.net[space] = VALUES[kind] + np.float64(s["space_markers"][space]) - ACTION_PRICE * actions


@kernel
def survey(s, seat, X):
    """Write all of X for a seat; return the number of its empty camels."""
    empties = np.int64(s["empties"][seat])
    find_goods(s, seat, X)
    price_goods(s, seat, X)
    price_free(s, seat, empties, X)
    return empties


# --- worth -----------------------------------------------------------------------------------------------------------


@kernel
def best_three(net):
    """Return the three highest values of an array."""
    first = second = third = -np.inf
    for value in net:
        if value > first:
            first, second, third = value, first, second
        elif value > second:
            second, third = value, second
        elif value > third:
            third = value
    return first, second, third


@kernel
def banked(s, seat):
    """Return the points of what a seat has delivered and collected, carried goods aside (E2)."""
    total = np.int64(s["markers"][seat])
    for kind in range(KINDS):
        total += VALUES[kind] * np.int64(s["delivered"][seat, kind])
    return total


@kernel
def secured(s, seat):
    """Return the points of a seat; what carrying costs (E3) counts once the bag is empty and the end may be near."""
    return points(s, seat) if bag_total(s) == 0 else banked(s, seat)


@kernel
def carried_worth(s, seat, empties, w, X):
    """Return the weights of the goods that the seat carries."""
    worth = 0.0
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            kind = kind_of(code)
            actions = actions_to_deliver(s, seat, kind, code >> CELL_SHIFT, empties, X)
            rare = MAX_ACTIONS if kind >= COMMON else 0
            worth += w[W_CARRIED + rare + min(actions, MAX_ACTIONS) - 1]
    return worth


@kernel
def best_steal(s, seat, empties, X):
    """Return what the best good to steal brings, the owner's loss included, less actions; 0 if none brings anything."""
    best = 0.0
    if s["theft"][seat] == 0 or empties < 2:
        return best
    for victim in range(s["players"]):
        for slot in range(s["camels"]):
            code = np.int64(s["camel"][victim, slot])
            if victim != seat and on_top(code):
                actions = actions_to_take(s, seat, kind_of(code), code >> CELL_SHIFT, empties, X)
                best = max(best, VALUES[kind_of(code)] * (1.0 + DENIAL) - ACTION_PRICE * actions)
    return best


@kernel
def seat_worth(s, seat, w, X):
    """Return what a seat has and can expect, in points; `w` is its row of the weights. Writes all of X."""
    empties = survey(s, seat, X)
    first, second, third = best_three(X.net)
    worth = secured(s, seat) + w[W_THEFT] * s["theft"][seat] + w[W_EMPTIES + empties]
    worth += carried_worth(s, seat, empties, w, X)
    worth += w[W_REACH] * max(first, 0.0) + w[W_REACH + 1] * max(second, 0.0) + w[W_REACH + 2] * max(third, 0.0)
    worth += w[W_STEAL] * best_steal(s, seat, empties, X)
    return worth


@kernel
def others_worth(s, seat, weights, X):
    """Return the mean worth of the other seats, the next of which is about to move."""
    players = np.int64(s["players"])
    total = 0.0
    for places in range(1, players):
        w = weights[0 if places == 1 else 1]
        total += seat_worth(s, seat_after(s, seat, places), w, X)
    return total / (players - 1)


@kernel
def win_points(s):
    """Return how many points of margin winning is worth: none if the returns are the margin itself."""
    return 0.0 if s["return_mode"] == RETURN_MARGIN else WIN


@kernel
def final_worth(s, seat):
    """Return what a finished game is worth: the margin in points, and more for a win or less for a loss."""
    players = np.int64(s["players"])
    margin = 0.0
    above = 0
    level = 0
    for other in range(players):
        if other != seat:
            margin += points(s, seat) - points(s, other)
            above += s["standing"][other] > s["standing"][seat]
            level += s["standing"][other] == s["standing"][seat]
    won = -LOSS if above else 1.0 / (1.0 + level)
    return margin / (players - 1) + win_points(s) * won


# --- the race for the last delivery ----------------------------------------------------------------------------------


@kernel
def winning_actions(s, seat, X):
    """Return the fewest actions to a delivery that wins the game for a seat once the bag is empty (E1), or NEVER."""
    empties = survey(s, seat, X)
    laden = s["camels"] - empties
    to_beat = -np.inf
    for other in range(s["players"]):
        if other != seat:
            to_beat = max(to_beat, np.float64(points(s, other)))
    have = banked(s, seat)
    fewest = np.int64(NEVER)
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code) and have + VALUES[kind_of(code)] - PENALTIES[laden - 1] > to_beat:
            fewest = min(fewest, actions_to_deliver(s, seat, kind_of(code), code >> CELL_SHIFT, empties, X))
    for space in range(SPACES):
        if s["free"][space] != 0:
            kind = np.int64(s["free"][space]) - 1
            if have + VALUES[kind] + s["space_markers"][space] - PENALTIES[laden] > to_beat:
                cell = np.int64(s["source_cell"][space])
                fewest = min(fewest, actions_to_take(s, seat, kind, cell, empties, X))
    return fewest


@kernel
def race_worth(s, seat, X):
    """Return what a position with an empty bag is worth to the seat that has just moved.

    The first to make a delivery that wins will make it, so what counts is whose turn comes first in which it can be
    done.
    """
    players = np.int64(s["players"])
    margin = 0.0
    own = 0.0
    rival = np.inf
    for places in range(1, players + 1):
        runner = seat_after(s, seat, places) if places < players else seat
        actions = winning_actions(s, runner, X)
        turns = (actions + TURN_ACTIONS - 1) // TURN_ACTIONS
        when = np.float64(turns * players + places) + 0.2 * actions
        if runner == seat:
            own = when
        else:
            rival = min(rival, when)
            margin += points(s, seat) - points(s, runner)
    lead = rival - own
    return margin / (players - 1) + win_points(s) * lead / (abs(lead) + 2 * players)


# --- a potential for learners ----------------------------------------------------------------------------------------


@kernel
def table_worth(s, seat, weights, X):
    """Return what a seat has and expects less the mean of the others, whoever is to move."""
    players = np.int64(s["players"])
    total = 0.0
    for other in range(players):
        w = weights[0 if other == s["seat"] else 1]
        worth = seat_worth(s, other, w, X)
        total += worth if other == seat else -worth / (players - 1)
    return total


@kernel
def potential_rows(S, seats, weights, X, out):
    """Write the potential of seats[i] in each row i to `out` (rows,) float64; 0 where the game is over."""
    for i in range(S.shape[0]):
        s = S[i]
        out[i] = 0.0
        if s["phase"] != PHASE_OVER:
            scale = LAST_SCALE if bag_total(s) == 0 else SCALE
            out[i] = math.tanh(table_worth(s, seats[i], weights, X) / scale)


class Memory(NamedTuple):
    """The memory of `potentials`, made by `new_memory`.

    Attributes:
        weights: (2, WEIGHTS) float64, the table of weights.
        scratch: what the evaluation writes to.
    """

    weights: NDArray[np.float64]
    scratch: Scratch


def new_memory() -> Memory:
    """Return the memory of one thread, with the weights of all scripted agents."""
    return Memory(DEFAULT_WEIGHTS, new_scratch())


@kernel
def potentials(S, i, X, values):
    """Write the potential of each seat in row i, which is not finished, to `values` (seats,) float64; X: `Memory`."""
    s = S[i]
    players = np.int64(s["players"])
    scale = LAST_SCALE if bag_total(s) == 0 else SCALE
    total = 0.0
    for seat in range(players):
        w = X.weights[0 if seat == s["seat"] else 1]
        values[seat] = seat_worth(s, seat, w, X.scratch)
        total += values[seat]
    for seat in range(players):
        others = (total - values[seat]) / (players - 1)
        values[seat] = math.tanh((values[seat] - others) / scale)


# --- where camels are of use -----------------------------------------------------------------------------------------


@kernel
def link_cells(s, seat, kind, cell, X):
    """Return the cells that lie on a cheapest link of the good at `cell` to its city and cost something."""
    own = s["on_board"][seat] | rainbow_bit(s)
    taken = occupied(s) & ~own
    city = bit(s["city_cell"][kind])
    good = bit(cell)
    total = grow_links(city, entry_price(s, seat, city), own, taken, good, X.spare, X.layers)
    entry = 0 if good & own else (2 if good & taken else 1)
    back = grow_links(good, entry, own, taken, city, X.spare, X.back)
    cells = NONE
    for k in range(total + 1):
        if total + 1 - k <= back:
            cells |= X.layers[k] & X.back[total + 1 - k] & ~(own | taken)
        if total + 2 - k <= back:
            cells |= X.layers[k] & X.back[total + 2 - k] & taken
    return cells if entry_price(s, seat, city) == 0 else cells | city


@kernel
def useful_cells(s, seat, empties, X):
    """Return the cells to which it can be of use to move a camel; X must be fresh from `survey`.

    These are the cells on the cheapest links of the carried goods and of the three best free ones, the spaces of those
    three, and the cells of goods that can be stolen.
    """
    third = best_three(X.net)[2]
    cells = NONE
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            cells |= link_cells(s, seat, kind_of(code), code >> CELL_SHIFT, X)
    for space in range(SPACES):
        if s["free"][space] != 0 and X.net[space] >= third and empties >= 2:
            cell = np.int64(s["source_cell"][space])
            cells |= bit(cell) | link_cells(s, seat, np.int64(s["free"][space]) - 1, cell, X)
    if s["theft"][seat] > 0:
        for victim in range(s["players"]):
            for slot in range(s["camels"]):
                code = np.int64(s["camel"][victim, slot])
                if victim != seat and on_top(code):
                    cells |= bit(code >> CELL_SHIFT)
    return cells
