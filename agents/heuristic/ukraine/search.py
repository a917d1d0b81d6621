"""Choosing by whole part-turns, as kernels: every place for the tile with the figure, or trade, that is best there.

A placement is played on a row of scratch memory. Chips that it draws are not known: they count by their number. Then
the position is evaluated once, without a figure; what a figure adds to it concerns one feature alone. What a trade
gains is reckoned once for all placements.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.ukraine.evaluate import (
    Desk,
    begin_decision,
    builder_worth,
    evaluate,
    field_hope,
    hand_worth,
    hope_of,
    kernel,
    lying_points,
    monastery_hope,
    new_desk,
    rivals_hope,
    stock_worth,
    tiles_that_close,
    time_left,
    unknown_chips,
)
from caravan_env.core.bits import ONE, bit, lowest
from caravan_env.games.ukraine.chips import POINTS_FOR, add_chip, add_options, added_chips, trade_options
from caravan_env.games.ukraine.features import NONE, node_at, root_of, score_completed
from caravan_env.games.ukraine.layout import (
    ADD_BIT,
    BUILDER,
    CHIP_KINDS,
    DONE_BIT,
    FIELD_START,
    FIGURE_START,
    LARGE_MEEPLE,
    LATE_WORD,
    MONASTERY,
    NO_FIGURE_BIT,
    PHASE_FIGURE,
    PHASE_OVER,
    PHASE_PLACE,
    PHASE_TILE,
    PIG,
    SEGMENT_KIND,
    STATE,
    TRADE_BIT,
)
from caravan_env.games.ukraine.rules import figure_options, step
from caravan_env.games.ukraine.tables import MAX_SEGMENTS

LAID = np.int64(0)  # rows of scratch memory: the tile is laid
TRIED = np.int64(1)  # a trade is tried
SCRATCH = 2
FIGURE_BITS = np.uint64((1 << NO_FIGURE_BIT) - 1)


class Table(NamedTuple):
    """The memory of a choice, made once by `new_table`.

    Attributes:
        rows: (SCRATCH,) positions.
        desk: the memory of the evaluation.
    """

    rows: NDArray[np.void]
    desk: Desk


def new_table() -> Table:
    """Return the memory of a choice."""
    return Table(np.zeros(SCRATCH, STATE), new_desk())


# --- figures ---------------------------------------------------------------------------------------------------------


@kernel
def stock_change(seat, meeples, chance, is_done, w, D):
    """Return what it adds to put meeples where they come home with some chance, or at once if that is completed."""
    if is_done:
        return 0.0
    later = D.stocks[seat] - meeples * (1.0 - w.back * chance)
    return stock_worth(later, w, D) - stock_worth(D.stocks[seat], w, D)


@kernel
def figure_gain(s, seat, kind, segment, w, D):
    """Return what a figure on a segment of the tile just laid adds to the hope of a seat; the rest is evaluated."""
    order = np.int64(s["laid"]) - 1
    meeples = w.large if kind == LARGE_MEEPLE else 1.0
    here = np.int64(SEGMENT_KIND[s["laid_tile"][order], segment])
    if here == MONASTERY:
        hope, chance = monastery_hope(s, np.int64(s["laid_square"][order]), w, D)
        return hope + stock_change(seat, meeples, chance, chance == 1.0, w, D)
    root = root_of(s, node_at(s, order, segment))
    if kind == PIG:
        gain = field_hope(s, root, 1, w, D) - field_hope(s, root, 0, w, D)
        return gain - w.pig_home * time_left(w.meeple_time, D)
    if kind == BUILDER:
        return builder_worth(s, root, w, D) - w.builder_home * time_left(w.meeple_time, D)
    if root >= FIELD_START:
        return field_hope(s, root, 0, w, D) + stock_change(seat, meeples, 0.0, False, w, D)
    return hope_of(s, root, D) + stock_change(seat, meeples, D.chances[root], s["open"][root] == 0, w, D)


# --- trades ----------------------------------------------------------------------------------------------------------


@kernel
def next_to_build(s):
    """Return the seat that has the next tile."""
    if s["again"] and s["bag_size"] > 0:
        return np.int64(s["seat"])
    return (np.int64(s["seat"]) + 1) % np.int64(s["players"])


@kernel
def lying_worth(s, number, seat, w):
    """Return what the chips on a Chumak square are worth to a seat, less what they are to others (H2)."""
    square = np.int64(s["chumak_square"][number])
    if s["bag_size"] == 0 or s["frontier"][square >> 6] & bit(square & 63) == NONE:
        return 0.0
    none = np.int64(0)
    share = w.lying * tiles_that_close(s, np.int64(s["need"][square]), none, none, w) / np.float64(s["bag_size"])
    return lying_points(s, number) * share * (1.0 if next_to_build(s) == seat else -share)


@kernel
def trade_from(row, number, seat, w, T):
    """Return what the trade in a row of scratch memory is worth: its chips so far, and the best way to go on.

    The lowest chip that can follow is added until none can; it may end with each.
    """
    s = T.rows[row]
    best = -np.inf
    while True:
        if added_chips(s) > 0:
            worth = POINTS_FOR[added_chips(s)] + hand_worth(s, seat, w, T.desk) + lying_worth(s, number, seat, w)
            best = max(best, worth)
        options = add_options(s) & ~bit(DONE_BIT)
        if options == NONE:
            return best
        add_chip(s, lowest(options) - ADD_BIT)


@kernel
def trade_with(s, number, kind, seat, w, T):
    """Return what it is worth to add a chip to the trade at a Chumak square and go on."""
    T.rows[TRIED] = s
    tried = T.rows[TRIED]
    tried["trade_square"] = number
    add_chip(tried, kind)
    return trade_from(TRIED, number, seat, w, T)


@kernel
def trade_gain(s, number, seat, w, T):
    """Return what the best trade at a Chumak square gains."""
    best = -np.inf
    for kind in range(CHIP_KINDS):
        if s["hand"][seat, kind] > 0:
            best = max(best, trade_with(s, number, kind, seat, w, T))
    return best - hand_worth(s, seat, w, T.desk) - lying_worth(s, number, seat, w)


@kernel
def best_trade_gain(s, seat, w, T):
    """Return what the best trade of all gains, at least 0."""
    best = 0.0
    squares = trade_options(s)
    while squares != NONE:
        best = max(best, trade_gain(s, lowest(squares) - TRADE_BIT, seat, w, T))
        squares &= squares - ONE
    return best


@kernel
def go_on_trade(s, seat, w, T):
    """Return the action with which a trade that is going on is worth most."""
    number = np.int64(s["trade_square"])
    options = add_options(s)
    best, choice = -np.inf, np.int64(DONE_BIT)
    if options & bit(DONE_BIT) != NONE:
        best = POINTS_FOR[added_chips(s)] + hand_worth(s, seat, w, T.desk) + lying_worth(s, number, seat, w)
    options &= ~bit(DONE_BIT)
    while options != NONE:
        late = lowest(options)
        options &= options - ONE
        worth = trade_with(s, number, late - ADD_BIT, seat, w, T)
        if worth > best:
            best, choice = worth, late
    return FIGURE_START + choice


# --- part-turns ------------------------------------------------------------------------------------------------------


@kernel
def weigh_base(seat, w, T):
    """Return the lead of a seat if it puts no figure in the position in which the tile is laid; evaluates it."""
    s = T.rows[LAID]
    has_ended = s["phase"] in (PHASE_TILE, PHASE_OVER)
    again = s["extra"] if has_ended else s["again"]
    first = np.int64(s["seat"]) if has_ended else next_to_build(s)
    if not has_ended:
        score_completed(s)
    evaluate(s, seat, first, w, T.desk)
    lead = T.desk.hopes[seat] - rivals_hope(s, seat, w, T.desk)
    if again and s["bag_size"] > 0 and s["phase"] != PHASE_OVER:
        lead += w.again
    return lead + unknown_chips(np.int64(s["draws"]), w, T.desk)


@kernel
def best_figure_gain(figures, seat, w, T):
    """Return (what the best of these figures gains, at least 0; its bit, NO_FIGURE_BIT for none)."""
    best, choice = 0.0, np.int64(NO_FIGURE_BIT)
    while figures != NONE:
        late = lowest(figures)
        figures &= figures - ONE
        gain = figure_gain(T.rows[LAID], seat, late // MAX_SEGMENTS, late % MAX_SEGMENTS, w, T.desk)
        if gain > best:
            best, choice = gain, late
    return best, choice


@kernel
def weigh_placement(S, i, action, trade, w, T):
    """Return the lead after the best part-turn that begins with a placement in row i; a trade would gain `trade`."""
    seat = np.int64(S[i]["seat"])
    T.rows[LAID] = S[i]
    step(T.rows, LAID, action)
    s = T.rows[LAID]
    if s["phase"] in (PHASE_TILE, PHASE_OVER):
        return weigh_base(seat, w, T)
    figures = figure_options(s)
    lead = weigh_base(seat, w, T)
    gain, _ = best_figure_gain(figures, seat, w, T)
    return lead + max(gain, trade)


@kernel
def best_placement(S, i, w, T):
    """Return the best action of row i in phase "place"."""
    seat = np.int64(S[i]["seat"])
    gain = best_trade_gain(S[i], seat, w, T)
    best, choice = -np.inf, np.int64(-1)
    for word in range(LATE_WORD):
        rest = S[i]["options"][word]
        while rest != NONE:
            action = 64 * word + lowest(rest)
            rest &= rest - ONE
            worth = weigh_placement(S, i, action, gain, w, T)
            if worth > best:
                best, choice = worth, action
    return choice


@kernel
def best_figure(S, i, w, T):
    """Return the best action of row i in phase "figure"."""
    seat = np.int64(S[i]["seat"])
    options = S[i]["options"][LATE_WORD]
    T.rows[LAID] = S[i]
    weigh_base(seat, w, T)
    best, choice = best_figure_gain(options & FIGURE_BITS, seat, w, T)
    trades = options >> np.uint64(TRADE_BIT)
    while trades != NONE:
        number = lowest(trades)
        trades &= trades - ONE
        gain = trade_gain(S[i], number, seat, w, T)
        if gain > best:
            best, choice = gain, np.int64(TRADE_BIT + number)
    return FIGURE_START + choice


@kernel
def choose(S, i, w, T):
    """Return the action of row i with which its seat can expect the largest lead."""
    begin_decision(S[i], T.desk)
    if S[i]["phase"] == PHASE_PLACE:
        return best_placement(S, i, w, T)
    if S[i]["phase"] == PHASE_FIGURE:
        return best_figure(S, i, w, T)
    return go_on_trade(S[i], np.int64(S[i]["seat"]), w, T)


@kernel
def choose_rows(S, w, T, chosen):
    """Write the choice of every row to `chosen` (rows,) int64."""
    for i in range(S.shape[0]):
        chosen[i] = choose(S, i, w, T)
