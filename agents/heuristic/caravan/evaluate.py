"""What a position of Caravan is worth to a seat, in points: kernels over rows, like the rules.

Everything rests on one number: how many camels a seat still has to place until a good is linked to its city. Placing
one costs an action, or two where other camels stand (T3, T4), own camels and the Rainbow Camel link for free (G2, X3). So
the cheapest link is a shortest path with prices 0, 1 and 2, found for all goods of a kind at once by growing the set of
cells that are reached from their city, price by price.

Scratch arrays: `goals` (KINDS,) uint64, the cells whose price is wanted; `price` (KINDS, CELLS) int64, the answer.
"""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import bit, lowest
from caravan_env.core.kernel import kernel_using
from caravan_env.games.caravan import rules
from caravan_env.games.caravan.layout import (
    CELL_SHIFT,
    KIND_MASK,
    KIND_SHIFT,
    KINDS,
    PHASE_OVER,
    UNDER_BIT,
)
from caravan_env.games.caravan.rules import (
    GRID,
    NONE,
    NOT_FIRST_COLUMN,
    NOT_LAST_COLUMN,
    ONE_LEFT,
    ONE_ROW,
    bag_total,
    empty_camels,
    is_laden,
    occupied,
    points,
    rainbow_bit,
)
from caravan_env.games.caravan.tables import CARRYING_PENALTY, CELLS, SIZE, SPACES, VALUE

kernel = kernel_using(rules.__file__)

# Places of the weights in their array (WEIGHTS,) float64; DEFAULT_WEIGHTS says how they were found.
(
    W_ACTION,
    W_CARRIED,
    W_CARRIED_FLOOR,
    W_REACH_1,
    W_REACH_2,
    W_REACH_3,
    W_MARKER,
    W_THEFT,
    W_BURDEN,
    W_STOLEN_FROM,
    W_OTHERS,
    W_WIN,
) = range(12)
DEFAULT_WEIGHTS = np.array([0.40, 1.0, 0.1, 0.5, 0.25, 0.12, 0.8, 0.5, 0.4, 0.5, 1.0, 40.0])


@kernel
def spread(cells):
    """Return a set of cells together with their orthogonal neighbours."""
    wider = cells | (cells << ONE_ROW) | (cells >> ONE_ROW)
    wider |= ((cells & NOT_LAST_COLUMN) << ONE_LEFT) | ((cells & NOT_FIRST_COLUMN) >> ONE_LEFT)
    return wider & GRID


@kernel
def distance(a, b):
    """Return the number of steps between two cells."""
    return abs(a // SIZE - b // SIZE) + abs(a % SIZE - b % SIZE)


@kernel
def kind_of(code):
    """Return the kind 0..7 of a laden camel's good."""
    return np.int64((code >> KIND_SHIFT) & KIND_MASK) - 1


@kernel
def price_links(city, entry, own, taken, goals, price):
    """Write, for each cell of the set `goals`, what it costs to link it to a city.

    Args:
        city: the city as a set.
        entry: price of an empty camel in the city.
        own: cells that link for free.
        taken: other cells with camels, price 2; all the rest cost 1.
        goals: cells to find the price of. The price includes the goal's own cell.
        price: (CELLS,) int64, written at the goals.
    """
    open_cells = GRID & ~(own | taken)
    before = NONE
    reached = NONE
    spent = np.int64(0)
    left = goals
    while left != NONE:
        now = reached | (spread(reached) & open_cells) | (spread(before) & taken)
        if spent == entry:
            now |= city
        fresh = now & ~reached
        while fresh != NONE:
            fresh = spread(fresh) & own & ~now
            now |= fresh
        hits = now & left
        left &= ~hits
        while hits != NONE:
            price[lowest(hits)] = spent
            hits &= hits - bit(0)
        before = reached
        reached = now
        spent += 1


@kernel
def add_carried(S, i, seat, goals):
    """Add the cells of the seat's laden camels to the goals of their kinds."""
    for slot in range(S[i]["camels"]):
        code = np.int64(S[i]["camel"][seat, slot])
        if is_laden(code):
            goals[kind_of(code)] |= bit(code >> CELL_SHIFT)


@kernel
def add_free(S, i, goals):
    """Add the goods spaces with a good to the goals of their kinds."""
    for space in range(SPACES):
        if S[i]["free"][space] != 0:
            goals[S[i]["free"][space] - 1] |= bit(S[i]["source_cell"][space])


@kernel
def add_stealable(S, i, seat, goals):
    """Add the cells of the other seats' goods that lie on top, if the seat has a theft marker (H1)."""
    if S[i]["theft"][seat] == 0:
        return
    for victim in range(S[i]["players"]):
        for slot in range(S[i]["camels"]):
            code = np.int64(S[i]["camel"][victim, slot])
            if victim != seat and is_laden(code) and not code & UNDER_BIT:
                goals[kind_of(code)] |= bit(code >> CELL_SHIFT)


@kernel
def price_goods(S, i, seat, goals, price):
    """Write the price of linking every goal of every kind to its city, for a seat."""
    s = S[i]
    rainbow = rainbow_bit(S, i)
    own = s["on_board"][seat] | rainbow
    stands = occupied(S, i)
    receiving = s["empty_at"][seat] | rainbow
    for kind in range(KINDS):
        if goals[kind] == NONE:
            continue
        city = bit(s["city_cell"][kind])
        entry = 2 if city & stands else 1
        if city & receiving:
            entry = 0
        price_links(city, entry, own, stands & ~own, goals[kind], price[kind])


@kernel
def relays(cells, camels):
    """Return how many times a good is moved over a number of cells with that many empty camels to receive it."""
    return 1 + max(cells - 1, 0) // max(camels, 1)


@kernel
def carried_worth(S, i, seat, empties, price, weights):
    """Return what the seat's carried goods are worth: their points less the actions to their cities."""
    s = S[i]
    worth = 0.0
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            kind = kind_of(code)
            cell = code >> CELL_SHIFT
            actions = price[kind, cell] + relays(distance(cell, np.int64(s["city_cell"][kind])), empties)
            net = VALUE[kind] - weights[W_ACTION] * actions
            worth += weights[W_CARRIED] * max(net, weights[W_CARRIED_FLOOR] * VALUE[kind])
    return worth


@kernel
def reach_net(S, i, seat, kind, cell, empties, extra, price, weights):
    """Return the points of a good that is still to be taken at `cell`, less the actions to take and deliver it."""
    own = S[i]["empty_at"][seat] & bit(cell)
    actions = price[kind, cell] + 1 + extra + relays(distance(cell, np.int64(S[i]["city_cell"][kind])), empties - 1)
    if not own and S[i]["on_board"][seat] & bit(cell):
        actions += 2
    elif not own and rainbow_bit(S, i) & bit(cell):
        actions += 2
    return VALUE[kind] - weights[W_ACTION] * actions


@kernel
def reach_worth(S, i, seat, empties, price, weights):
    """Return what the goods within reach are worth: the best three, weighted less and less."""
    s = S[i]
    first = second = third = 0.0
    if empties < 2:
        return 0.0
    for space in range(SPACES):
        if s["free"][space] != 0:
            kind = np.int64(s["free"][space]) - 1
            net = reach_net(S, i, seat, kind, np.int64(s["source_cell"][space]), empties, 0, price, weights)
            net += weights[W_MARKER] * s["space_markers"][space]
            if net > first:
                first, second, third = net, first, second
            elif net > second:
                second, third = net, second
            elif net > third:
                third = net
    if s["theft"][seat] > 0:
        for victim in range(s["players"]):
            for slot in range(s["camels"]):
                code = np.int64(s["camel"][victim, slot])
                if victim != seat and is_laden(code) and not code & UNDER_BIT:
                    kind = kind_of(code)
                    net = reach_net(S, i, seat, kind, code >> CELL_SHIFT, empties, 0, price, weights)
                    net += weights[W_STOLEN_FROM] * VALUE[kind] - weights[W_THEFT]
                    if net > first:
                        first, second, third = net, first, second
                    elif net > second:
                        second, third = net, second
                    elif net > third:
                        third = net
    return weights[W_REACH_1] * first + weights[W_REACH_2] * second + weights[W_REACH_3] * third


@kernel
def seat_worth(S, i, seat, weights, goals, price):
    """Return what a seat has and can expect, in points."""
    s = S[i]
    for kind in range(KINDS):
        goals[kind] = NONE
    add_carried(S, i, seat, goals)
    add_free(S, i, goals)
    add_stealable(S, i, seat, goals)
    price_goods(S, i, seat, goals, price)
    empties = np.int64(empty_camels(S, i, seat)[1])
    carried = s["camels"] - empties
    worth = np.float64(s["markers"][seat]) + weights[W_THEFT] * s["theft"][seat]
    for kind in range(KINDS):
        worth += VALUE[kind] * np.float64(s["delivered"][seat, kind])
    burden = 1.0 if bag_total(S, i) == 0 else weights[W_BURDEN]
    worth -= burden * CARRYING_PENALTY[carried]
    worth += carried_worth(S, i, seat, empties, price, weights)
    return worth + reach_worth(S, i, seat, empties, price, weights)


@kernel
def evaluate(S, i, seat, weights, goals, price):
    """Return what a position is worth to a seat, in points: its worth less the mean of the others'."""
    players = np.int64(S[i]["players"])
    if S[i]["phase"] == PHASE_OVER:
        return final_worth(S, i, seat, weights)
    others = 0.0
    for other in range(players):
        if other != seat:
            others += seat_worth(S, i, other, weights, goals, price)
    return seat_worth(S, i, seat, weights, goals, price) - weights[W_OTHERS] * others / (players - 1)


@kernel
def final_worth(S, i, seat, weights):
    """Return what a finished game is worth: the margin in points, and W_WIN for winning it or against it for losing."""
    s = S[i]
    players = np.int64(s["players"])
    margin = 0.0
    above = 0
    level = 0
    for other in range(players):
        if other != seat:
            margin += points(S, i, seat) - points(S, i, other)
            above += s["standing"][other] > s["standing"][seat]
            level += s["standing"][other] == s["standing"][seat]
    won = -1.0 if above else 1.0 / (1.0 + level)
    return margin / (players - 1) + weights[W_WIN] * won


@kernel
def new_price():
    """Return the scratch array for prices."""
    return np.zeros((KINDS, CELLS), np.int64)
