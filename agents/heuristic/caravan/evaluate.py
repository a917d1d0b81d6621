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
    SLOTS,
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
    is_laden,
    occupied,
    points,
    rainbow_bit,
    seat_after,
)
from caravan_env.games.caravan.tables import CARRYING_PENALTY, CELLS, COMMON, SIZE, SPACES, VALUE

kernel = kernel_using(rules.__file__)

# What a seat has is weighed linearly: places of the weights in a row of the table (2, WEIGHTS) float64. Row 0 is for the
# seat to move next, row 1 for those who wait.
MAX_PRICE = 2 * CELLS
MAX_ACTIONS = 16  # goods that need more actions count as needing that many
CLASSES = 2  # common, rare
W_CARRIED = 0  # (CLASSES, MAX_ACTIONS): a carried good by the actions to deliver it
W_REACH = W_CARRIED + CLASSES * MAX_ACTIONS  # (3,): points less actions of the three best goods to take
W_STEAL = W_REACH + 3  # the same of the best good to steal
W_EMPTIES = W_STEAL + 1  # (7,): by the number of empty camels
W_THEFT = W_EMPTIES + 7  # a theft marker
WEIGHTS = W_THEFT + 1
ACTION_PRICE = 0.4  # points that an action is worth, in ranking goods to take
WIN = 40.0


DISTANCE = np.array(
    [[abs(a // SIZE - b // SIZE) + abs(a % SIZE - b % SIZE) for b in range(CELLS)] for a in range(CELLS)], np.int8
)
#: How many times a good is moved over so many cells by so many empty camels that take turns to be ahead of it.
RELAYS = np.array([[1 + max(cells - 1, 0) // max(empties, 1) for empties in range(SLOTS + 1)] for cells in range(2 * SIZE)], np.int8)


@kernel
def spread(cells):
    """Return a set of cells together with their orthogonal neighbours."""
    wider = cells | (cells << ONE_ROW) | (cells >> ONE_ROW)
    wider |= ((cells & NOT_LAST_COLUMN) << ONE_LEFT) | ((cells & NOT_FIRST_COLUMN) >> ONE_LEFT)
    return wider & GRID


@kernel
def kind_of(code):
    """Return the kind 0..7 of a laden camel's good."""
    return np.int64((code >> KIND_SHIFT) & KIND_MASK) - 1


@kernel
def grow_links(start, entry, own, taken, goals, price, layers):
    """Grow the set of cells linked to a cell, price by price, until it holds all goals.

    Args:
        start: the cell as a set.
        entry: price of the cell itself.
        own: cells that link for free.
        taken: other cells with camels, price 2; all the rest cost 1.
        goals: the cells to reach.
        price: (CELLS,) int64; written at the goals: what it costs to link them, their own cells included.
        layers: (MAX_PRICE + 1,) uint64; written: the cells that cost exactly so much.

    Returns:
        The highest price written to `layers`.
    """
    open_cells = GRID & ~(own | taken)
    before = NONE
    reached = NONE
    spent = np.int64(0)
    left = goals
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
def entry_price(S, i, seat, cell):
    """Return what it costs to have an empty camel of the seat, or the Rainbow Camel, on a cell."""
    if (S[i]["empty_at"][seat] | rainbow_bit(S[i])) & cell:
        return np.int64(0)
    return np.int64(2) if occupied(S[i]) & cell else np.int64(1)


@kernel
def price_goods(S, i, seat, goals, price, layers):
    """Write the price of linking every goal of every kind to its city, for a seat."""
    own = S[i]["on_board"][seat] | rainbow_bit(S[i])
    taken = occupied(S[i]) & ~own
    for kind in range(KINDS):
        if goals[kind] != NONE:
            city = bit(S[i]["city_cell"][kind])
            grow_links(city, entry_price(S, i, seat, city), own, taken, goals[kind], price[kind], layers)


@kernel
def actions_needed(S, i, kind, cell, empties, price):
    """Return how many actions it takes to bring a good carried at `cell` to its city, at most MAX_ACTIONS."""
    cells = DISTANCE[cell, S[i]["city_cell"][kind]]
    return min(price[kind, cell] + RELAYS[cells, empties], MAX_ACTIONS)


@kernel
def carried_worth(S, i, seat, empties, price, w):
    """Return the weights of the seat's carried goods."""
    worth = 0.0
    for slot in range(S[i]["camels"]):
        code = np.int64(S[i]["camel"][seat, slot])
        if is_laden(code):
            kind = kind_of(code)
            needed = actions_needed(S, i, kind, code >> CELL_SHIFT, empties, price)
            rare = kind >= COMMON
            worth += w[W_CARRIED + rare * MAX_ACTIONS + needed - 1]
    return worth


@kernel
def take_net(S, i, seat, kind, cell, empties, price):
    """Return the points of a good that the seat could take at `cell`, less the actions to take and deliver it."""
    actions = 1 + price[kind, cell] + RELAYS[DISTANCE[cell, S[i]["city_cell"][kind]], empties - 1]
    if not S[i]["empty_at"][seat] & bit(cell) and (S[i]["on_board"][seat] | rainbow_bit(S[i])) & bit(cell):
        actions += 2
    return VALUE[kind] - ACTION_PRICE * actions


@kernel
def reach_worth(S, i, seat, empties, price, w):
    """Return the weights of the three best free goods to take."""
    s = S[i]
    first = second = third = 0.0
    for space in range(SPACES):
        if s["free"][space] != 0:
            kind = np.int64(s["free"][space]) - 1
            net = take_net(S, i, seat, kind, np.int64(s["source_cell"][space]), empties, price)
            net += s["space_markers"][space]
            if net > first:
                first, second, third = net, first, second
            elif net > second:
                second, third = net, second
            elif net > third:
                third = net
    return w[W_REACH] * first + w[W_REACH + 1] * second + w[W_REACH + 2] * third


@kernel
def steal_worth(S, i, seat, empties, price, w):
    """Return the weight of the best good to steal."""
    s = S[i]
    best = 0.0
    if s["theft"][seat] == 0:
        return 0.0
    for victim in range(s["players"]):
        for slot in range(s["camels"]):
            code = np.int64(s["camel"][victim, slot])
            if victim != seat and is_laden(code) and not code & UNDER_BIT:
                best = max(best, take_net(S, i, seat, kind_of(code), code >> CELL_SHIFT, empties, price))
    return w[W_STEAL] * best


@kernel
def banked(S, i, seat):
    """Return the points of what a seat has delivered and collected, carried goods aside."""
    total = np.int64(S[i]["markers"][seat])
    for kind in range(KINDS):
        total += VALUE[kind] * np.int64(S[i]["delivered"][seat, kind])
    return total


@kernel
def seat_worth(S, i, seat, w, goals, price, layers):
    """Return what a seat has and can expect, in points; `w` is its row of the weights."""
    s = S[i]
    for kind in range(KINDS):
        goals[kind] = NONE
    add_carried(S, i, seat, goals)
    add_free(S, i, goals)
    add_stealable(S, i, seat, goals)
    price_goods(S, i, seat, goals, price, layers)
    empties = np.int64(S[i]["empties"][seat])
    worth = banked(S, i, seat) + w[W_THEFT] * s["theft"][seat] + w[W_EMPTIES + empties]
    worth += carried_worth(S, i, seat, empties, price, w)
    if empties >= 2:
        worth += reach_worth(S, i, seat, empties, price, w) + steal_worth(S, i, seat, empties, price, w)
    if bag_total(S[i]) == 0:
        worth -= CARRYING_PENALTY[s["camels"] - empties]
    return worth


@kernel
def others_worth(S, i, seat, weights, goals, price, layers):
    """Return the mean worth of the other seats, the next of which is about to move."""
    players = np.int64(S[i]["players"])
    total = 0.0
    for places in range(1, players):
        w = weights[0 if places == 1 else 1]
        total += seat_worth(S, i, seat_after(S[i], seat, places), w, goals, price, layers)
    return total / (players - 1)


@kernel
def final_worth(S, i, seat):
    """Return what a finished game is worth: the margin in points, and WIN more for a win, less for a loss."""
    s = S[i]
    players = np.int64(s["players"])
    margin = 0.0
    above = 0
    level = 0
    for other in range(players):
        if other != seat:
            margin += points(S[i], seat) - points(S[i], other)
            above += s["standing"][other] > s["standing"][seat]
            level += s["standing"][other] == s["standing"][seat]
    won = -1.0 if above else 1.0 / (1.0 + level)
    return margin / (players - 1) + WIN * won


@kernel
def link_cells(S, i, seat, kind, cell, empties, price, price2, layers, layers2):
    """Return the cells on which a camel more brings the good at `cell` closer to its city."""
    own = S[i]["on_board"][seat] | rainbow_bit(S[i])
    taken = occupied(S[i]) & ~own
    open_cells = GRID & ~(own | taken)
    city = bit(S[i]["city_cell"][kind])
    good = bit(cell)
    total = grow_links(city, entry_price(S, i, seat, city), own, taken, good, price2, layers)
    entry = 0 if good & own else (2 if good & taken else 1)
    upto = grow_links(good, entry, own, taken, city, price2, layers2)
    cells = NONE
    for k in range(total + 1):
        if 0 <= total + 1 - k <= upto:
            cells |= layers[k] & layers2[total + 1 - k] & open_cells
        if 0 <= total + 2 - k <= upto:
            cells |= layers[k] & layers2[total + 2 - k] & taken
    if not (S[i]["empty_at"][seat] | rainbow_bit(S[i])) & city:
        cells |= city
    return cells


@kernel
def useful_cells(S, i, seat, goals, price, layers, layers2):
    """Return cells to which it can be of use to move a camel (prices must be fresh)."""
    s = S[i]
    empties = np.int64(S[i]["empties"][seat])
    cells = NONE
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            cells |= link_cells(S, i, seat, kind_of(code), code >> CELL_SHIFT, empties, price, price[0], layers, layers2)
    if empties < 2:
        return cells
    first = second = third = -99.0
    for turn in range(2):
        for space in range(SPACES):
            if s["free"][space] != 0:
                kind = np.int64(s["free"][space]) - 1
                cell = np.int64(s["source_cell"][space])
                net = take_net(S, i, seat, kind, cell, empties, price)
                net += s["space_markers"][space]
                if turn == 0:
                    if net > first:
                        first, second, third = net, first, second
                    elif net > second:
                        second, third = net, second
                    elif net > third:
                        third = net
                elif net >= third:
                    cells |= link_cells(S, i, seat, kind, cell, empties, price, price[0], layers, layers2)
                    if not s["empty_at"][seat] & bit(cell):
                        cells |= bit(cell)
    if s["theft"][seat] > 0:
        for victim in range(s["players"]):
            for slot in range(s["camels"]):
                code = np.int64(s["camel"][victim, slot])
                if victim != seat and is_laden(code) and not code & UNDER_BIT and not s["empty_at"][seat] & bit(code >> CELL_SHIFT):
                    cells |= bit(code >> CELL_SHIFT)
    return cells


def first_weights():
    """x"""
    w = np.zeros((2, WEIGHTS))
    for r in range(2):
        for c, v in enumerate((3, 6)):
            for a in range(MAX_ACTIONS):
                w[r, W_CARRIED + c * MAX_ACTIONS + a] = v - 0.4 * (a + 1) - (0.1 if r else 0)
        w[r, W_REACH : W_REACH + 3] = (0.5, 0.2, 0.1) if r == 0 else (0.35, 0.2, 0.1)
        w[r, W_STEAL] = 0.4 if r == 0 else 0.2
        w[r, W_EMPTIES : W_EMPTIES + 7] = (-6, -4, -2, -1, 0, 0.3, 0.6)
        w[r, W_THEFT] = 0.4
    return w


DEFAULT_WEIGHTS = first_weights()
