"""The Chumak chips: building beside and on Chumak squares, drawing, trading. Clauses refer to RULES.md."""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import bit
from caravan_env.core.kernel import kernel
from caravan_env.games.ukraine.features import NONE, note_event
from caravan_env.games.ukraine.layout import (
    ADD_BIT,
    CHIP_KINDS,
    DONE_BIT,
    EVENT_CHIPS,
    EVENT_TRADE,
    FREE_CHUMAK,
    FREE_LIMIT,
    MATCH_COLOUR,
    MATCH_IDENTICAL,
    NEIGHBOUR,
    NO_SQUARE,
    ROAD_EDGE,
    TRADE_BIT,
)
from caravan_env.games.ukraine.tables import CHIP_PLACES, CHIP_VALUES, TRADE_POINTS

VALUES = np.array(CHIP_VALUES, np.int64)
POINTS_FOR = np.array(TRADE_POINTS, np.int64)
NUMBERS = len(set(CHIP_VALUES))  # chips of one colour follow each other


@kernel
def in_supply(s):
    """Return the number of chips in the supply."""
    chips = np.int64(0)
    for kind in range(CHIP_KINDS):
        chips += s["supply"][kind]
    return chips


@kernel
def cash(s, square, number):
    """Pay the seat to move for the chips that lie on a Chumak square built on; they go back into the supply (H2)."""
    points = np.int64(0)
    for kind in range(CHIP_KINDS):
        points += VALUES[kind] * s["lying"][number, kind]
        s["supply"][kind] += s["lying"][number, kind]
        s["lying"][number, kind] = 0
    s["lying_size"][number] = 0
    if points > 0:
        note_event(s, EVENT_CHIPS, square, points, 1 << np.int64(s["seat"]))


@kernel
def chips_due(s, square):
    """Return the chips to draw for the tile just laid on a square (H1)."""
    due = np.int64(0)
    for edge in range(4):
        there = s["at"][NEIGHBOUR[square, edge]]
        if FREE_CHUMAK <= there < FREE_LIMIT:
            due += 2 if (s["need"][square] >> (2 * edge)) & 3 == ROAD_EDGE else 1
    return min(due, in_supply(s)) if due > 0 else due


@kernel
def draw_chip(s, kind):
    """Move a chip from the supply to the seat to move (H1)."""
    s["supply"][kind] -= 1
    s["hand"][s["seat"], kind] += 1
    s["hand_size"][s["seat"]] += 1
    s["draws"] -= 1


@kernel
def trade_options(s):
    """Return the Chumak squares at which the seat to move may begin a trade, as bits of the options (H4, H5)."""
    squares = NONE
    if s["hand_size"][s["seat"]] > 0:
        for number in range(np.int64(s["chumaks"])):
            free = s["at"][s["chumak_square"][number]] == FREE_CHUMAK + number
            if free and s["lying_size"][number] < CHIP_PLACES:
                squares |= bit(TRADE_BIT + number)
    return squares


@kernel
def last_added(s):
    """Return the chip added last in the trade that is going on, -1 before the first: they are added in order."""
    last = np.int64(-1)
    for kind in range(CHIP_KINDS):
        if s["added"][kind] > 0:
            last = np.int64(kind)
    return last


@kernel
def added_chips(s):
    """Return the number of chips added in the trade that is going on."""
    number = np.int64(0)
    for kind in range(CHIP_KINDS):
        number += s["added"][kind]
    return number


@kernel
def matches(s, kind, last):
    """Return whether a chip may follow another one in a trade (H6)."""
    if s["chip_match"] == MATCH_IDENTICAL:
        return kind == last
    return kind >= last and (s["chip_match"] != MATCH_COLOUR or kind // NUMBERS == last // NUMBERS)


@kernel
def add_options(s):
    """Return the chips that can be added to the trade now, and the end of it, as bits of the options (H4).

    Empty if no chip can follow: then the trade is over.
    """
    number = np.int64(s["trade_square"])
    last, options = last_added(s), NONE
    if s["lying_size"][number] < CHIP_PLACES and added_chips(s) < CHIP_PLACES:
        for kind in range(CHIP_KINDS):
            if s["hand"][s["seat"], kind] > 0 and (last < 0 or matches(s, kind, last)):
                options |= bit(ADD_BIT + kind)
    if options != NONE and last >= 0:
        options |= bit(DONE_BIT)
    return options


@kernel
def add_chip(s, kind):
    """Put a chip from the hand onto the square of the trade (H4)."""
    number = np.int64(s["trade_square"])
    s["hand"][s["seat"], kind] -= 1
    s["hand_size"][s["seat"]] -= 1
    s["lying"][number, kind] += 1
    s["lying_size"][number] += 1
    s["added"][kind] += 1


@kernel
def pay_trade(s):
    """Pay the trade that is going on, and end it (H4)."""
    points = POINTS_FOR[added_chips(s)]
    note_event(s, EVENT_TRADE, np.int64(s["trade_square"]), points, 1 << np.int64(s["seat"]))
    s["trade_square"] = NO_SQUARE
    for kind in range(CHIP_KINDS):
        s["added"][kind] = 0
