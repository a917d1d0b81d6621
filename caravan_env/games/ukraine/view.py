"""What a seat sees, see layout.observation. Clauses refer to RULES.md."""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import ONE, lowest
from caravan_env.core.kernel import kernel
from caravan_env.games.ukraine.features import (
    ALL_STRENGTHS,
    NONE,
    monastery_state,
    monastery_worth,
    node_at,
    node_at_edge,
    root_of,
    strength_in,
    worth,
)
from caravan_env.games.ukraine.layout import (
    BUILDER,
    CHIP_KINDS,
    CITY,
    DECISIONS,
    EDGE_CODE,
    EDGE_PLANES,
    EMPTY,
    FIELD_EDGE,
    FIELD_START,
    FIGURE_KINDS,
    FREE_CHUMAK,
    FREE_LIMIT,
    GOODS_KINDS,
    HELPER_PLANE,
    IS_MARKED,
    LARGE_CITY,
    MARK_VALUES,
    MARKS,
    MEEPLE,
    MONASTERY,
    MOST_SHOWN,
    NEIGHBOUR,
    NO_TILE,
    PHASE_FIGURE,
    PHASE_OVER,
    PHASE_PLACE,
    PHASE_TRADE,
    PLANE_CHUMAK,
    PLANE_COUNT,
    PLANE_EDGES,
    PLANE_FITS,
    PLANE_GROUND,
    PLANE_LARGE_CITY,
    PLANE_LAST,
    PLANE_MARKS,
    PLANE_OTHER_FIGURES,
    PLANE_OTHER_STRENGTH,
    PLANE_OWN_FIGURES,
    PLANE_OWN_STRENGTH,
    SEAT_VALUES,
    SEGMENT_KIND,
    SEGMENT_VALUES,
    SEGMENTS,
    SQUARE_VALUES,
    SQUARE_WORDS,
    TILE_KINDS,
    TURN_VALUES,
    VOID,
)
from caravan_env.games.ukraine.tables import MAX_CHUMAK, MAX_SEGMENTS, SIZE


@kernel
def seat_after(s, seat, places):
    """Return the seat that many places after `seat`, fewer than all, in turn order (S7)."""
    later = seat + places
    return later - s["players"] if later >= s["players"] else later


@kernel
def observe(S, i, seat, out):
    """Write the observation of a seat, uint8 of shape (layout.size,), seats relative to it; see layout.observation."""
    s = S[i]
    out[:] = 0
    area = np.int64(s["height"]) * np.int64(s["width"])
    observe_squares(s, out, area)
    observe_tiles(s, seat, out, area)
    observe_frontier(s, seat, out, area)
    at = observe_hand(s, out, PLANE_COUNT * area)
    at = observe_segments(s, seat, out, at)
    for k in range(np.int64(s["players"])):
        at = observe_seat(s, seat_after(s, seat, k), out, at)
    at = observe_chips(s, seat, out, at)
    for tile in range(TILE_KINDS):
        out[at + tile] = s["bag"][tile]
    observe_turn(s, seat, out, at + TILE_KINDS)


@kernel
def in_box(s, square):
    """Return the place of a square in a plane."""
    return square // SIZE * np.int64(s["width"]) + square % SIZE


# --- the planes ------------------------------------------------------------------------------------------------------


@kernel
def observe_squares(s, out, area):
    """Write what lies on each square, and what is to be met there: whole planes at a time, which is fast.

    The planes that are written last serve as scratch for what the others are made of.
    """
    lying, codes = (PLANE_LARGE_CITY - PLANE_GROUND) * area, (PLANE_EDGES + EDGE_PLANES - 1) * area
    gather(s, out, lying, codes)
    for place in range(area):
        what = np.int64(out[lying + place])
        out[PLANE_GROUND * area + place] = (what == EMPTY) | ((what >= FREE_CHUMAK) & (what < FREE_LIMIT))
        is_large = (what >= LARGE_CITY) & (what < VOID)
        out[lying + place] = is_large * (1 + ((np.int64(s["connected"]) >> (what & 7)) & 1))
    for plane in range(EDGE_PLANES):
        kind, shift = FIELD_EDGE + plane // 4, 2 * (plane % 4)
        start = (PLANE_EDGES + plane) * area
        for place in range(area):
            out[start + place] = (out[codes + place] >> shift) & 3 == kind
    for number in range(np.int64(s["chumaks"])):
        square = np.int64(s["chumak_square"][number])
        if s["at"][square] == FREE_CHUMAK + number:
            out[PLANE_CHUMAK * area + in_box(s, square)] = 1 + s["lying_size"][number]


@kernel
def gather(s, out, lying, codes):
    """Copy what lies on each square of the map, and the codes of the edges, to two places of the observation."""
    width = np.int64(s["width"])
    for row in range(np.int64(s["height"])):
        for column in range(width):
            out[lying + row * width + column] = s["at"][SIZE * row + column]
            out[codes + row * width + column] = s["need"][SIZE * row + column]


@kernel
def observe_tiles(s, seat, out, area):
    """Write what is printed on the laid tiles, the last one, and the figures."""
    last = np.int64(s["laid"]) - 1
    for order in range(last + 1):
        tile = np.int64(s["laid_tile"][order])
        if IS_MARKED[tile]:
            place = in_box(s, np.int64(s["laid_square"][order]))
            for mark in range(MARK_VALUES):
                out[(PLANE_MARKS + mark) * area + place] = MARKS[tile, mark]
    if last >= 0:
        out[PLANE_LAST * area + in_box(s, np.int64(s["laid_square"][last]))] = 1
    for word in range(2):
        rest = s["occupied"][word]
        while rest != NONE:
            observe_figure(s, seat, 64 * word + lowest(rest), out, area)
            rest &= rest - ONE


@kernel
def observe_figure(s, seat, order, out, area):
    """Write the figure on a laid tile."""
    place = in_box(s, np.int64(s["laid_square"][order]))
    kind, segment = np.int64(s["figure"][order]) // MAX_SEGMENTS, np.int64(s["figure"][order]) % MAX_SEGMENTS
    plane = PLANE_OWN_FIGURES if s["figure_seat"][order] == seat else PLANE_OTHER_FIGURES
    if kind >= BUILDER:
        out[(plane + HELPER_PLANE) * area + place] = 1 + kind - BUILDER
    else:
        there = (np.int64(SEGMENT_KIND[s["laid_tile"][order], segment]) - CITY) & 3  # monasteries last
        out[(plane + there) * area + place] = 1 + kind


@kernel
def observe_frontier(s, seat, out, area):
    """Write the eligible squares, where the tile in hand fits, and who is strong in what meets there."""
    fits = s["phase"] == PHASE_PLACE
    for word in range(SQUARE_WORDS):
        rest = s["frontier"][word]
        while rest != NONE:
            square = 64 * word + lowest(rest)
            rest &= rest - ONE
            place = in_box(s, square)
            out[PLANE_GROUND * area + place] = 2
            if fits:
                rotations = s["options"][square >> 4] >> np.uint64(4 * (square & 15))
                for turned in range(4):
                    out[(PLANE_FITS + turned) * area + place] = (rotations >> np.uint64(turned)) & ONE
            for edge in range(4):
                observe_neighbour(s, seat, square, edge, out, edge * area + place, area)


@kernel
def observe_neighbour(s, seat, square, edge, out, at, area):
    """Write the strengths in the feature at an edge of an eligible square."""
    there = np.int64(s["at"][NEIGHBOUR[square, edge]])
    if there < FREE_CHUMAK:
        node = node_at_edge(s, there, (edge + 2) & 3)
    elif LARGE_CITY <= there < VOID:
        node = there - LARGE_CITY
    else:
        return
    stuff = s["stuff"][root_of(s, node)] & ALL_STRENGTHS
    if stuff == NONE:
        return
    out[PLANE_OWN_STRENGTH * area + at] = strength_in(stuff, seat)
    out[PLANE_OTHER_STRENGTH * area + at] = most_of_others(s, stuff, seat)


@kernel
def most_of_others(s, stuff, seat):
    """Return the most strength of another seat in a feature."""
    most = np.int64(0)
    for other in range(np.int64(s["players"])):
        if other != seat:
            most = max(most, strength_in(stuff, other))
    return most


# --- the rest --------------------------------------------------------------------------------------------------------


@kernel
def observe_hand(s, out, at):
    """Write the pieces "tile" and "tile_edges"."""
    tile = np.int64(s["tile"])
    if tile != NO_TILE:
        out[at + tile] = 1
        code = np.int64(EDGE_CODE[tile, 0])
        for edge in range(4):
            out[at + TILE_KINDS + 4 * (((code >> (2 * edge)) & 3) - 1) + edge] = 1
    return at + TILE_KINDS + 12


@kernel
def observe_segments(s, seat, out, at):
    """Write the piece "segments": while a figure can be put, what it could be put on."""
    if s["phase"] == PHASE_FIGURE:
        order = np.int64(s["laid"]) - 1
        tile = np.int64(s["laid_tile"][order])
        for segment in range(np.int64(SEGMENTS[tile])):
            observe_segment(s, seat, order, segment, out, at + segment * SEGMENT_VALUES)
    return at + MAX_SEGMENTS * SEGMENT_VALUES


@kernel
def observe_segment(s, seat, order, segment, out, at):
    """Write what is known of the feature of a segment."""
    kind = np.int64(SEGMENT_KIND[s["laid_tile"][order], segment])
    out[at + kind] = 1
    if kind == MONASTERY:
        square = np.int64(s["laid_square"][order])
        filled, there = monastery_state(s, square)
        out[at + 6] = there - filled
        out[at + 7] = monastery_worth(s, square)
        out[at + 8] = filled == there
        return
    root = root_of(s, node_at(s, order, segment))
    stuff = s["stuff"][root]
    out[at + 4] = strength_in(stuff, seat)
    out[at + 5] = most_of_others(s, stuff, seat)
    if root < FIELD_START:
        out[at + 6] = min(np.int64(s["open"][root]), MOST_SHOWN)
        out[at + 7] = min(worth(s, root), MOST_SHOWN)
        out[at + 8] = s["open"][root] == 0


@kernel
def observe_seat(s, seat, out, at):
    """Write one seat of the piece "seats"."""
    points = np.int64(s["points"][seat])
    out[at] = seat == s["seat"]
    out[at + 1] = min(points, MOST_SHOWN)
    out[at + 2] = min(max(points - MOST_SHOWN, 0), MOST_SHOWN)
    out[at + 3] = s["hand_size"][seat]
    out[at + 4] = s["figures"][MEEPLE] - s["home"][seat, MEEPLE]
    for kind in range(FIGURE_KINDS):
        out[at + 5 + kind] = s["home"][seat, kind]
    for kind in range(GOODS_KINDS):
        out[at + 5 + FIGURE_KINDS + kind] = s["goods"][seat, kind]
    return at + SEAT_VALUES


@kernel
def observe_chips(s, seat, out, at):
    """Write the pieces "chips", "squares", "supply" and "trade"; of other hands nothing but their size is seen (H3)."""
    for kind in range(CHIP_KINDS):
        out[at + kind] = s["hand"][seat, kind]
        out[at + CHIP_KINDS + MAX_CHUMAK * SQUARE_VALUES] += s["supply"][kind]
    at += CHIP_KINDS
    for number in range(np.int64(s["chumaks"])):
        start = at + number * SQUARE_VALUES
        out[start] = s["at"][s["chumak_square"][number]] == FREE_CHUMAK + number
        for kind in range(CHIP_KINDS):
            out[start + 1 + kind] = s["lying"][number, kind]
    at += MAX_CHUMAK * SQUARE_VALUES + 1
    if s["phase"] == PHASE_TRADE:
        out[at + s["trade_square"]] = 1
        for kind in range(CHIP_KINDS):
            out[at + MAX_CHUMAK + kind] = s["added"][kind]
    return at + MAX_CHUMAK + CHIP_KINDS


@kernel
def observe_turn(s, seat, out, at):
    """Write the pieces "phase", "turn" and "switches"."""
    phase = s["phase"]
    if PHASE_PLACE <= phase < PHASE_OVER:
        out[at + phase - PHASE_PLACE] = 1
    at += DECISIONS
    out[at] = s["extra"]
    out[at + 1] = s["again"]
    out[at + 2] = s["bag_size"]
    out[at + 3] = s["laid"]
    at += TURN_VALUES
    out[at] = s["expansions"]
    out[at + 1] = s["border_monastery"]
    out[at + 2 + s["chip_match"]] = 1
