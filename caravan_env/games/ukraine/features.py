"""Laying tiles, the features that they join to, and what these pay. Clauses refer to RULES.md."""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import ONE, bit, lowest, popcount
from caravan_env.core.kernel import helper, kernel
from caravan_env.games.ukraine.layout import (
    AROUND,
    BORDER_NINE,
    CATHEDRAL_BIT,
    CATHEDRAL_BITS,
    CITY,
    CITY_NODES,
    COUNT_BITS,
    EDGE_CODE,
    EDGE_SEGMENT,
    EMPTY,
    EVENT_CITY,
    EVENT_MONASTERY,
    EVENT_ROAD,
    FIELD,
    FIELD_CITIES,
    FIELD_EDGE,
    FIELD_START,
    FIGURES_MASK,
    FIRST_NODES,
    FIRST_SEGMENT,
    FREE_CHUMAK,
    FREE_LIMIT,
    GOODS_BIT,
    GOODS_KINDS,
    HALF_SEGMENT,
    INN_BIT,
    IS_DOUBLE,
    IS_MONASTERY,
    LARGE_BIT,
    LARGE_CITY,
    LINKED_KINDS,
    MONASTERY,
    NEIGHBOUR,
    NO_FIGURE,
    NO_SEGMENT,
    OPEN,
    PIG_BIT,
    ROAD_EDGE,
    ROAD_START,
    SEGMENT_COUNT,
    SEGMENT_KIND,
    SHIELD_BIT,
    SQUARE_WORDS,
    STRENGTH_BITS,
    STRENGTHS,
    STUFF,
    VOID,
    WEIGHT,
)
from caravan_env.games.ukraine.params import SEATS
from caravan_env.games.ukraine.tables import MAX_CITIES, MAX_SEGMENTS

NONE = np.uint64(0)
ALL_STRENGTHS = np.uint64(STRENGTHS)
ALL_FIGURES = np.uint64(FIGURES_MASK)
STRENGTH_MASK = np.uint64((1 << STRENGTH_BITS) - 1)
COUNT_MASK = np.uint64((1 << COUNT_BITS) - 1)
CATHEDRAL_MASK = np.uint64((1 << CATHEDRAL_BITS) - 1)
NODE_STARTS = np.array(FIRST_NODES, np.int64)
CITY_START = MAX_CITIES  # behind the large cities

MONASTERY_POINTS = 9
FIELD_POINTS = 3
GOODS_POINTS = 10


# --- features --------------------------------------------------------------------------------------------------------


@helper
def root_of(s, node):
    """Return the root of a node, leaving the state as it is."""
    root = np.int64(node)
    above = np.int64(s["parent"][root])
    while above != root:
        root = above
        above = np.int64(s["parent"][root])
    return root


@helper
def find(s, node):
    """Return the root of a node, halving the path to it. Only laying tiles may do so: equal games are equal bytes."""
    at = np.int64(node)
    above = np.int64(s["parent"][at])
    while above != at:
        s["parent"][at] = s["parent"][above]
        at = above
        above = np.int64(s["parent"][at])
    return at


@helper
def node_at(s, order, segment):
    """Return the node of a segment, other than a monastery, of laid tile number `order`."""
    kind = np.int64(SEGMENT_KIND[s["laid_tile"][order], segment])
    return np.int64(s["first_node"][order, kind - CITY]) + segment


@helper
def count_in(stuff, first_bit, mask):
    """Return one of the small counts of a feature's stuff."""
    return np.int64((stuff >> np.uint64(first_bit)) & mask)


@helper
def strength_in(stuff, seat):
    """Return the strength of a seat in a feature (F4)."""
    return count_in(stuff, STRENGTH_BITS * seat, STRENGTH_MASK)


@kernel
def merge(s, one, other):
    """Make one feature of two roots; return its root, the lower number."""
    root, gone = min(one, other), max(one, other)
    s["parent"][gone] = root
    s["stuff"][root] += s["stuff"][gone]
    s["stuff"][gone] = NONE
    if root < FIELD_START:
        twice = s["doubles"][root] & s["doubles"][gone]  # tiles that both have count once (P2)
        s["size"][root] += s["size"][gone] - popcount(twice)
        s["open"][root] += s["open"][gone]
        s["doubles"][root] |= s["doubles"][gone]
        s["size"][gone] = 0
        s["open"][gone] = 0
        s["doubles"][gone] = NONE
    return root


@kernel
def join(s, node, other):
    """Join two nodes at an edge, closing an open edge of both; return what the other's feature held before."""
    here, there = find(s, node), find(s, other)
    held = s["stuff"][there]
    root = here if here == there else merge(s, here, there)
    if root < FIELD_START:
        s["open"][root] -= 2
    return held


# --- laying a tile ---------------------------------------------------------------------------------------------------


@kernel
def lay(s, square, tile, turned):
    """Lay a tile and join its segments to what lies around it (G1).

    Returns:
        uint64: in the bits from BUILDER_BIT on, the seats whose builders stand in what the tile extends (B1).
    """
    order = np.int64(s["laid"])
    s["laid"] += 1
    s["laid_square"][order] = square
    s["laid_tile"][order] = tile
    s["laid_turned"][order] = turned
    s["at"][square] = order
    code = np.int64(EDGE_CODE[tile, turned])
    s["need"][square] = code
    s["frontier"][square >> 6] &= ~bit(square & 63)
    make_nodes(s, order, tile)
    met = NONE
    for edge in range(4):
        other = np.int64(NEIGHBOUR[square, edge])
        there = np.int64(s["at"][other])
        kind = (code >> (2 * edge)) & 3
        if there < FREE_CHUMAK:
            met |= join_tile(s, order, edge, there, kind)
        elif there == EMPTY or there < FREE_LIMIT:
            s["need"][other] |= kind << (2 * ((edge + 2) & 3))
            s["frontier"][other >> 6] |= bit(other & 63)
        elif there < VOID:
            met |= join(s, node_at_edge(s, order, edge), there - LARGE_CITY)
            connect(s, there - LARGE_CITY)
        elif kind != FIELD_EDGE:
            s["open"][find(s, node_at_edge(s, order, edge))] -= 1  # closed at the border (M4)
    return met


@helper
def make_nodes(s, order, tile):
    """Number the segments of a tile just laid and make each a feature of its own."""
    for kind in range(LINKED_KINDS):
        first = np.int64(FIRST_SEGMENT[tile, kind])
        s["first_node"][order, kind] = s["used"][kind] - first
        for segment in range(first, first + np.int64(SEGMENT_COUNT[tile, kind])):
            node = np.int64(s["used"][kind]) + segment - first
            s["parent"][node] = node
            s["stuff"][node] = STUFF[tile, segment] & s["print_mask"]
            if node < FIELD_START:
                s["open"][node] = OPEN[tile, segment]
                s["size"][node] = 1
                s["doubles"][node] = bit(np.int64(s["doubles_laid"])) if IS_DOUBLE[tile] else NONE
        s["used"][kind] += SEGMENT_COUNT[tile, kind]
    s["doubles_laid"] += IS_DOUBLE[tile]


@helper
def node_at_edge(s, order, edge):
    """Return the node of the city, road, or for a field edge the field, at an edge of a laid tile."""
    tile = np.int64(s["laid_tile"][order])
    segment = np.int64(EDGE_SEGMENT[tile, (edge - np.int64(s["laid_turned"][order])) & 3])
    return node_at(s, order, segment)


@helper
def field_at_half(s, order, half):
    """Return the node of the field at a half edge of a laid tile."""
    tile = np.int64(s["laid_tile"][order])
    segment = np.int64(HALF_SEGMENT[tile, (half - 2 * np.int64(s["laid_turned"][order])) & 7])
    return np.int64(s["first_node"][order, FIELD - CITY]) + segment


@kernel
def join_tile(s, order, edge, there, kind):
    """Join what meets at an edge between a tile just laid and another one; return what a city or road there held."""
    held = join(s, node_at_edge(s, order, edge), node_at_edge(s, there, (edge + 2) & 3))
    if kind == ROAD_EDGE:
        join(s, field_at_half(s, order, 2 * edge), field_at_half(s, there, 2 * edge + 5))
        join(s, field_at_half(s, order, 2 * edge + 1), field_at_half(s, there, 2 * edge + 4))
    return NONE if kind == FIELD_EDGE else held


@kernel
def connect(s, city):
    """Make the free squares at all edges of a large city eligible (M7)."""
    if (s["connected"] >> city) & 1:
        return
    s["connected"] |= 1 << city
    for word in range(SQUARE_WORDS):
        rest = s["city_sides"][city, word]
        while rest != NONE:
            there = s["at"][64 * word + lowest(rest)]
            if there >= FREE_CHUMAK:
                s["frontier"][word] |= rest & (~rest + ONE)
            rest &= rest - ONE


# --- figures ---------------------------------------------------------------------------------------------------------


@kernel
def put_figure(s, order, seat, kind, segment):
    """Put a figure from a seat's supply on a laid tile (F1)."""
    s["home"][seat, kind] -= 1
    s["figure"][order] = kind * MAX_SEGMENTS + segment
    s["figure_seat"][order] = seat
    s["occupied"][order >> 6] |= bit(order & 63)
    if SEGMENT_KIND[s["laid_tile"][order], segment] == MONASTERY:
        s["monks"] += 1
    else:
        s["stuff"][root_of(s, node_at(s, order, segment))] += WEIGHT[kind, seat]


@kernel
def take_figure(s, order):
    """Take the figure on a laid tile home (P1)."""
    s["home"][s["figure_seat"][order], s["figure"][order] // MAX_SEGMENTS] += 1
    s["figure"][order] = NO_FIGURE
    s["figure_seat"][order] = 0
    s["occupied"][order >> 6] &= ~bit(order & 63)


@kernel
def empty_feature(s, root):
    """Take all figures in a feature home (P1, F7)."""
    s["stuff"][root] &= ~ALL_FIGURES
    for word in range(2):
        rest = s["occupied"][word]
        while rest != NONE:
            order = 64 * word + lowest(rest)
            rest &= rest - ONE
            segment = np.int64(s["figure"][order]) % MAX_SEGMENTS
            is_linked = SEGMENT_KIND[s["laid_tile"][order], segment] != MONASTERY
            if is_linked and root_of(s, node_at(s, order, segment)) == root:
                take_figure(s, order)


@kernel
def winners(stuff):
    """Return the set of the seats with the most strength in a feature, empty if nobody has any (P1)."""
    most, seats = np.int64(1), np.int64(0)
    for seat in range(SEATS):
        strength = strength_in(stuff, seat)
        if strength > most:
            most, seats = strength, np.int64(0)
        if strength == most:
            seats |= 1 << seat
    return seats


# --- what features pay -----------------------------------------------------------------------------------------------


@kernel
def worth(s, root):
    """Return what a city or road pays now, as completed (P2 to P4) or as unfinished (E2)."""
    stuff = s["stuff"][root]
    size, done = np.int64(s["size"][root]), s["open"][root] == 0
    if root >= ROAD_START:
        inn = count_in(stuff, INN_BIT, COUNT_MASK) > 0
        return (size * (2 if done else 0)) if inn else size
    size += count_in(stuff, SHIELD_BIT, COUNT_MASK)
    for city in range(MAX_CITIES):
        if count_in(stuff, LARGE_BIT + city, ONE) > 0:
            size += np.int64(s["city_size"][city]) + np.int64(s["city_shields"][city])
    if count_in(stuff, CATHEDRAL_BIT, CATHEDRAL_MASK) > 0:
        return size * (3 if done else 0)
    return size * (2 if done else 1)


@kernel
def is_monk(s, order):
    """Return whether a figure stands on the monastery of a laid tile."""
    figure = np.int64(s["figure"][order])
    return figure != NO_FIGURE and figure % MAX_SEGMENTS == 0 and IS_MONASTERY[s["laid_tile"][order]] == 1


@kernel
def monastery_state(s, square):
    """Return (1 + filled neighbours of a square, 1 + those that exist) (P5)."""
    filled, there = np.int64(0), np.int64(0)
    for k in range(AROUND.shape[1]):
        what = s["at"][AROUND[square, k]]
        there += what != VOID
        filled += what < FREE_CHUMAK or (LARGE_CITY <= what < VOID)
    return filled, there


@kernel
def monastery_worth(s, square):
    """Return what a monastery pays now, as completed (P5) or as unfinished (E2)."""
    filled, there = monastery_state(s, square)
    return np.int64(MONASTERY_POINTS) if filled == there and s["border_monastery"] == BORDER_NINE else filled


@kernel
def field_cities(s, root):
    """Return the completed cities that a field borders, as a set of roots in two words (E3)."""
    low, high = NONE, NONE
    for order in range(np.int64(s["laid"])):
        tile = np.int64(s["laid_tile"][order])
        first = np.int64(FIRST_SEGMENT[tile, FIELD - CITY])
        for segment in range(first, first + np.int64(SEGMENT_COUNT[tile, FIELD - CITY])):
            cities = np.uint64(FIELD_CITIES[tile, segment])
            if cities == NONE or root_of(s, node_at(s, order, segment)) != root:
                continue
            while cities != NONE:
                city = root_of(s, node_at(s, order, lowest(cities)))
                cities &= cities - ONE
                if s["open"][city] == 0:
                    low |= bit(city) if city < 64 else NONE
                    high |= NONE if city < 64 else bit(city - 64)
    return low, high


@kernel
def field_worth(s, root, seat):
    """Return what a field pays a seat that takes or shares it (E3)."""
    low, high = field_cities(s, root)
    pig = count_in(s["stuff"][root], PIG_BIT + seat, ONE)
    return (popcount(low) + popcount(high)) * (FIELD_POINTS + pig)


@kernel
def most_goods(s, kind):
    """Return the set of the seats with the most goods of a kind, empty if nobody has any (E4)."""
    most, seats = np.int64(1), np.int64(0)
    for seat in range(np.int64(s["players"])):
        goods = np.int64(s["goods"][seat, kind])
        if goods > most:
            most, seats = goods, np.int64(0)
        if goods == most:
            seats |= 1 << seat
    return seats


# --- completed features ----------------------------------------------------------------------------------------------


@kernel
def note_event(s, kind, where, points, seats):
    """Give points to a set of seats and note it for the struct of the position; return the number of the event."""
    event = np.int64(s["events"])
    s["events"] += 1
    s["event_kind"][event] = kind
    s["event_where"][event] = where
    s["event_points"][event] = points if seats else 0
    s["event_seats"][event] = seats
    for seat in range(np.int64(s["players"])):
        if (seats >> seat) & 1:
            s["points"][seat] += points
    return event


@kernel
def forget_events(s):
    """Note that nothing has paid yet."""
    for event in range(np.int64(s["events"])):
        s["event_kind"][event] = 0
        s["event_where"][event] = 0
        s["event_points"][event] = 0
        s["event_seats"][event] = 0
        for kind in range(GOODS_KINDS):
            s["event_goods"][event, kind] = 0
    s["events"] = 0


@kernel
def score_completed(s):
    """Score what the tile just laid has completed: cities, roads (P1), monasteries (P5)."""
    order = np.int64(s["laid"]) - 1
    tile = np.int64(s["laid_tile"][order])
    first = np.int64(FIRST_SEGMENT[tile, 0])
    last = np.int64(FIRST_SEGMENT[tile, FIELD - CITY])
    alone = False
    for segment in range(first, last):
        root = root_of(s, node_at(s, order, segment))
        if s["open"][root] == 0 and not seen_before(s, order, first, segment, root):
            if is_alone(s, root):
                alone = True
            else:
                score_feature(s, segment, root)
    if alone:  # last, because their events do not tell them apart
        for segment in range(first, last):
            root = root_of(s, node_at(s, order, segment))
            if s["open"][root] == 0 and is_alone(s, root):
                score_feature(s, np.int64(NO_SEGMENT), root)
    if s["monks"] > 0:
        score_monasteries(s, np.int64(s["laid_square"][order]))


@kernel
def is_alone(s, root):
    """Return whether a feature is of one tile and no large city: two such of a tile have the same squares."""
    return s["size"][root] == 1 and s["stuff"][root] >> np.uint64(LARGE_BIT) == NONE


@helper
def seen_before(s, order, first, segment, root):
    """Return whether an earlier segment of the tile is part of the same feature."""
    seen = False
    for other in range(first, segment):
        seen |= root_of(s, node_at(s, order, other)) == root
    return seen


@kernel
def score_feature(s, segment, root):
    """Score a completed city or road of the tile just laid: points (P1), goods (T1); its figures come home."""
    stuff = s["stuff"][root]
    seats = winners(stuff)
    goods = (stuff >> np.uint64(GOODS_BIT)) & np.uint64((1 << (GOODS_KINDS * COUNT_BITS)) - 1)
    if seats == 0 and goods == NONE:
        return
    event = note_event(s, EVENT_CITY if root < CITY_NODES else EVENT_ROAD, segment, worth(s, root), seats)
    for kind in range(GOODS_KINDS):
        number = count_in(goods, COUNT_BITS * kind, COUNT_MASK)
        s["event_goods"][event, kind] = number
        s["goods"][s["seat"], kind] += number
    if stuff & ALL_FIGURES != NONE:
        empty_feature(s, root)


@kernel
def score_monasteries(s, square):
    """Score the completed monasteries on a square and around it (P5)."""
    for k in range(AROUND.shape[1]):
        other = np.int64(AROUND[square, k])
        order = np.int64(s["at"][other])
        if order >= FREE_CHUMAK or not is_monk(s, order):
            continue
        filled, there = monastery_state(s, other)
        if filled == there:
            note_event(s, EVENT_MONASTERY, other, monastery_worth(s, other), 1 << np.int64(s["figure_seat"][order]))
            take_figure(s, order)
            s["monks"] -= 1


# --- the end ---------------------------------------------------------------------------------------------------------


@kernel
def final_points(s, out):
    """Write each seat's points if the game ended now (E2 to E4) into `out`, float64 (seats,)."""
    players = np.int64(s["players"])
    for seat in range(players):
        out[seat] = s["points"][seat]
    for kind in range(FIELD - CITY):
        for root in range(0 if kind == 0 else NODE_STARTS[kind], np.int64(s["used"][kind])):
            if s["stuff"][root] & ALL_STRENGTHS != NONE:
                pay(players, winners(s["stuff"][root]), worth(s, root), out)
    for root in range(FIELD_START, np.int64(s["used"][FIELD - CITY])):
        if s["stuff"][root] & ALL_STRENGTHS != NONE:
            pay_field(s, root, out)
    for kind in range(GOODS_KINDS):
        pay(players, most_goods(s, kind), GOODS_POINTS, out)
    if s["monks"] > 0:
        pay_monasteries(s, out)


@kernel
def pay(players, seats, points, out):
    """Add points to the seats of a set."""
    for seat in range(players):
        if (seats >> seat) & 1:
            out[seat] += points


@kernel
def pay_field(s, root, out):
    """Add what a field pays to those who have most in it (E3)."""
    seats = winners(s["stuff"][root])
    for seat in range(np.int64(s["players"])):
        if (seats >> seat) & 1:
            out[seat] += field_worth(s, root, seat)


@kernel
def pay_monasteries(s, out):
    """Add what the monasteries with a figure pay (E2)."""
    for order in range(np.int64(s["laid"])):
        if is_monk(s, order):
            out[s["figure_seat"][order]] += monastery_worth(s, np.int64(s["laid_square"][order]))
