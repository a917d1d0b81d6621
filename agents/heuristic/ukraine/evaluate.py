"""What each seat can hope for in a position, in points: kernels over rows, like the rules.

A seat's hope is its points so far and what it can expect of everything that is not settled:

- a city or road by its chance of completion, which the empty squares at its open ends give (`chance_of`): the tiles
  left in the bag that fit there and close it, and the turns that are left;
- a field by the cities at it, completed ones and those with a chance of it;
- a monastery by the chance that each square around it is filled;
- goods by the lead in each kind, chips by the trades that a hand makes, chips that lie on the map by who is next;
- figures at home, the more the fewer there are and the more turns are left.

Nothing in it depends on what the seat that evaluates cannot see: the others' chips count by their number (H3).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.ukraine.weights import PLANNER, Weights
from caravan_env.core.bits import ONE, bit, lowest
from caravan_env.core.kernel import kernel_using
from caravan_env.games.ukraine import rules
from caravan_env.games.ukraine.chips import NUMBERS, POINTS_FOR, VALUES
from caravan_env.games.ukraine.features import (
    ALL_STRENGTHS,
    FIELD_POINTS,
    GOODS_POINTS,
    NODE_STARTS,
    NONE,
    count_in,
    is_monk,
    monastery_state,
    monastery_worth,
    node_at,
    node_at_edge,
    strength_in,
    winners,
    worth,
)
from caravan_env.games.ukraine.layout import (
    ANY_EDGE,
    AROUND,
    BUILDER,
    BUILDER_BIT,
    CHIP_KINDS,
    CITY,
    EDGE_SEGMENT,
    EMPTY,
    FIELD,
    FIELD_CITIES,
    FIELD_EDGE,
    FIELD_NODES,
    FIELD_START,
    FIRST_SEGMENT,
    FIT,
    FREE_CHUMAK,
    FREE_LIMIT,
    GOODS_KINDS,
    LARGE_CITY,
    LARGE_MEEPLE,
    LINKED_KINDS,
    MATCH_COLOUR,
    MATCH_IDENTICAL,
    MEEPLE,
    NEIGHBOUR,
    NODES,
    PHASE_OVER,
    PIG,
    PIG_BIT,
    SEGMENT_COUNT,
    SQUARE_WORDS,
    TILE_KINDS,
    VOID,
)
from caravan_env.games.ukraine.params import SEATS
from caravan_env.games.ukraine.tables import CHIP_PLACES, GOODS, TILES

kernel = kernel_using(rules.__file__)

GAP_KINDS = 1 << 16  # code of a square, its edges at free squares, its edges that are to be closed: 8, 4, 4 bits
ALL_GOODS = np.array(
    [sum(tile.copies * sum(city.goods == kind for city in tile.cities) for tile in TILES) for kind in GOODS], np.int64
)
ALL_TILES = float(sum(tile.copies for tile in TILES))


def _spreads() -> NDArray[np.uint8]:
    """Return (tiles, rotations, edges): the set of edges that the city or road at an edge touches."""
    sets = np.zeros((TILE_KINDS, 4, 4), np.uint8)
    for tile in range(TILE_KINDS):
        for turned in range(4):
            at = [int(EDGE_SEGMENT[tile, (edge - turned) & 3]) for edge in range(4)]
            for edge in range(4):
                sets[tile, turned, edge] = sum(1 << other for other in range(4) if at[other] == at[edge])
    return sets


SPREADS = _spreads()


class Desk(NamedTuple):
    """The memory of an evaluation, made once by `new_desk`.

    Attributes:
        roots: (NODES,) int64, the root of each node.
        chances: (FIELD_START,) float64, per root the chance that the city or road is completed.
        gaps: (FIELD_START,) int64, per root the empty squares at its open ends.
        cities: (FIELD_NODES, 2) uint64, per root of a field the cities at it.
        gap_chances: (GAP_KINDS,) float64, what `chance_of` has found.
        gap_known: (GAP_KINDS,) int64, the number of the decision for which it has.
        decision: (1,) int64, the number of this decision.
        turns: (2,) float64, own turns left, and the share of the game that is left.
        hopes: (SEATS,) float64, what each seat can hope for.
        stocks: (SEATS,) float64, its meeples at home, those likely to come home included.
    """

    roots: NDArray[np.int64]
    chances: NDArray[np.float64]
    gaps: NDArray[np.int64]
    cities: NDArray[np.uint64]
    gap_chances: NDArray[np.float64]
    gap_known: NDArray[np.int64]
    decision: NDArray[np.int64]
    turns: NDArray[np.float64]
    hopes: NDArray[np.float64]
    stocks: NDArray[np.float64]


def new_desk() -> Desk:
    """Return the memory of an evaluation."""
    return Desk(
        np.zeros(NODES, np.int64),
        np.zeros(FIELD_START),
        np.zeros(FIELD_START, np.int64),
        np.zeros((FIELD_NODES, 2), np.uint64),
        np.zeros(GAP_KINDS),
        np.zeros(GAP_KINDS, np.int64),
        np.zeros(1, np.int64),
        np.zeros(2),
        np.zeros(SEATS),
        np.zeros(SEATS),
    )


# --- gaps ------------------------------------------------------------------------------------------------------------


@kernel
def begin_decision(s, D):
    """Forget the chances of the last decision: the bag was another one."""
    D.decision[0] += 1
    count_turns(s, D)


@kernel
def count_turns(s, D):
    """Note how much of the game is left."""
    tiles = np.float64(0 if s["phase"] == PHASE_OVER else s["bag_size"])
    D.turns[0] = tiles / s["players"]
    D.turns[1] = tiles / ALL_TILES


@kernel
def tiles_that_close(s, code, free, edges, w):
    """Return how many tiles of the bag fit a square and close what is at its `edges`.

    Args:
        s: a position.
        code: the edges needed there.
        free: the set of its edges at free squares.
        edges: the set of the edges to be closed; none: every tile that fits counts.
        w: weights; `extend` is what a tile counts that fits but does not close.
    """
    number = 0.0
    for tile in range(TILE_KINDS):
        copies = np.int64(s["bag"][tile])
        fit = np.int64(FIT[tile, code])
        if copies == 0 or fit == 0:
            continue
        share = w.extend
        for turned in range(4):
            if (fit >> turned) & 1:
                beyond = np.int64(0)
                for edge in range(4):
                    if (edges >> edge) & 1:
                        beyond |= np.int64(SPREADS[tile, turned, edge]) & free
                if beyond == 0:
                    share = 1.0
        number += share * copies
    return number


@kernel
def chance_of(s, square, edges, w, D):
    """Return the chance that what is at the `edges` of an empty square is closed there before the game ends."""
    free = np.int64(0)
    for edge in range(4):
        there = np.int64(s["at"][NEIGHBOUR[square, edge]])
        free |= np.int64(there == EMPTY or FREE_CHUMAK <= there < FREE_LIMIT) << edge
    code = np.int64(s["need"][square])
    key = code | free << 8 | edges << 12
    if D.gap_known[key] != D.decision[0]:
        D.gap_known[key] = D.decision[0]
        share = tiles_that_close(s, code, free, edges, w) / max(np.float64(s["bag_size"]), 1.0)
        turns = D.turns[0] * (w.use if edges > 0 else w.fill)
        D.gap_chances[key] = 1.0 - (1.0 - min(share, 1.0)) ** turns
    return D.gap_chances[key]


@kernel
def find_roots(s, D):
    """Note the root of every node; a root has the lowest number of its feature. Nothing has gaps so far."""
    for kind in range(LINKED_KINDS):
        for node in range(0 if kind == 0 else NODE_STARTS[kind], np.int64(s["used"][kind])):
            above = np.int64(s["parent"][node])
            D.roots[node] = node if above == node else D.roots[above]
            if node < FIELD_START:
                D.chances[node] = 1.0
                D.gaps[node] = 0
            else:
                D.cities[node - FIELD_START, 0] = NONE
                D.cities[node - FIELD_START, 1] = NONE


@kernel
def root_at(s, square, edge, D):
    """Return the root of the city or road at an edge of an empty square, -1 for none."""
    kind = (np.int64(s["need"][square]) >> (2 * edge)) & 3
    if kind in (ANY_EDGE, FIELD_EDGE):
        return np.int64(-1)
    there = np.int64(s["at"][NEIGHBOUR[square, edge]])
    if there < FREE_CHUMAK:
        return D.roots[node_at_edge(s, there, (edge + 2) & 3)]
    return D.roots[there - LARGE_CITY] if LARGE_CITY <= there < VOID else np.int64(-1)


@kernel
def find_gaps(s, w, D):
    """Note the gaps of all cities and roads, and their chances of completion."""
    for word in range(SQUARE_WORDS):
        rest = s["frontier"][word]
        while rest != NONE:
            square = 64 * word + lowest(rest)
            rest &= rest - ONE
            look_at_gap(s, square, w, D)


@kernel
def look_at_gap(s, square, w, D):
    """Note what an empty square is to the cities and roads around it."""
    seen = np.int64(0)
    for edge in range(4):
        root = np.int64(-1) if (seen >> edge) & 1 else root_at(s, square, edge, D)
        if root >= 0:
            edges = np.int64(0)
            for other in range(edge, 4):
                edges |= np.int64(root_at(s, square, other, D) == root) << other
            seen |= edges
            chance = chance_of(s, square, edges, w, D)
            D.chances[root] *= chance if D.gaps[root] == 0 else chance * w.gap
            D.gaps[root] += 1


@kernel
def find_cities(s, D):
    """Note the cities at each field with a figure."""
    for order in range(np.int64(s["laid"])):
        tile = np.int64(s["laid_tile"][order])
        first = np.int64(FIRST_SEGMENT[tile, FIELD - CITY])
        for segment in range(first, first + np.int64(SEGMENT_COUNT[tile, FIELD - CITY])):
            cities = np.uint64(FIELD_CITIES[tile, segment])
            field = D.roots[node_at(s, order, segment)] - FIELD_START
            while cities != NONE:
                city = D.roots[node_at(s, order, lowest(cities))]
                cities &= cities - ONE
                D.cities[field, city >> 6] |= bit(city & 63)


# --- features --------------------------------------------------------------------------------------------------------


@kernel
def hope_of(s, root, D):
    """Return what a city or road is likely to pay who has most there."""
    now = worth(s, root)
    if s["open"][root] == 0 or D.chances[root] == 0.0:
        return np.float64(now)
    ends, gaps = s["open"][root], D.gaps[root]
    s["open"][root] = 0
    s["size"][root] += gaps
    done = worth(s, root)
    s["open"][root] = ends
    s["size"][root] -= gaps
    return now + D.chances[root] * (done - now)


@kernel
def cities_of(s, root, D):
    """Return how many completed cities a field is likely to border."""
    number = 0.0
    for word in range(2):
        rest = D.cities[root - FIELD_START, word]
        while rest != NONE:
            number += D.chances[64 * word + lowest(rest)]
            rest &= rest - ONE
    return number


@kernel
def field_hope(s, root, pig, w, D):
    """Return what a field is likely to pay a seat with or without a pig there, if it has most (E3)."""
    left = D.turns[1]
    cities = cities_of(s, root, D)
    return (FIELD_POINTS + pig) * cities * (1.0 - (1.0 - w.field_early) * left)


@kernel
def monastery_hope(s, square, w, D):
    """Return (what a monastery is likely to pay, the chance that it is completed) (P5)."""
    filled, there = monastery_state(s, square)
    if filled == there:
        return np.float64(monastery_worth(s, square)), 1.0
    hope, chance = np.float64(filled), 1.0
    for k in range(AROUND.shape[1]):
        other = np.int64(AROUND[square, k])
        what = np.int64(s["at"][other])
        if what == EMPTY or FREE_CHUMAK <= what < FREE_LIMIT:
            fills = chance_of(s, other, np.int64(0), w, D)
            hope += fills
            chance *= fills
    return hope, chance


@kernel
def hope_for_linked(s, w, D):
    """Add what cities and roads are likely to pay, with their builders; note the figures likely to come home."""
    players = np.int64(s["players"])
    for kind in range(FIELD - CITY):
        for root in range(0 if kind == 0 else NODE_STARTS[kind], np.int64(s["used"][kind])):
            stuff = s["stuff"][root]
            if stuff & ALL_STRENGTHS == NONE:
                continue
            seats, hope = winners(stuff), hope_of(s, root, D)
            for seat in range(players):
                if (seats >> seat) & 1:
                    D.hopes[seat] += hope
                D.stocks[seat] += w.back * D.chances[root] * strength_in(stuff, seat)
                if count_in(stuff, BUILDER_BIT + seat, ONE) > 0:
                    D.hopes[seat] += builder_worth(s, root, w, D)


@kernel
def builder_worth(s, root, w, D):
    """Return what a builder on a city or road is worth (B1)."""
    return (w.builder_on if s["open"][root] > 0 else w.builder_home) * time_left(w.meeple_time, D)


@kernel
def hope_for_fields(s, w, D):
    """Add what fields are likely to pay."""
    find_cities(s, D)
    for root in range(FIELD_START, np.int64(s["used"][FIELD - CITY])):
        stuff = s["stuff"][root]
        if stuff & ALL_STRENGTHS == NONE:
            continue
        seats = winners(stuff)
        for seat in range(np.int64(s["players"])):
            if (seats >> seat) & 1:
                D.hopes[seat] += field_hope(s, root, count_in(stuff, PIG_BIT + seat, ONE), w, D)


@kernel
def hope_for_monasteries(s, w, D):
    """Add what monasteries with a figure are likely to pay."""
    if s["monks"] == 0:
        return
    for order in range(np.int64(s["laid"])):
        if is_monk(s, order):
            hope, chance = monastery_hope(s, np.int64(s["laid_square"][order]), w, D)
            D.hopes[s["figure_seat"][order]] += hope
            D.stocks[s["figure_seat"][order]] += w.back * chance


# --- figures, goods, chips -------------------------------------------------------------------------------------------


@kernel
def time_left(half, D):
    """Return how much something counts that needs turns to be used: 0 at the end, 1/2 with `half` own turns left."""
    return D.turns[0] / (D.turns[0] + half)


@kernel
def stock_worth(meeples, w, D):
    """Return what so many meeples at home are worth."""
    return w.meeples * (1.0 - math.exp(-meeples / w.meeple_scale)) * time_left(w.meeple_time, D)


@kernel
def hope_for_figures(s, seat, w, D):
    """Add what the figures at home are worth to a seat."""
    D.stocks[seat] += np.int64(s["home"][seat, MEEPLE]) + w.large * np.int64(s["home"][seat, LARGE_MEEPLE])
    helpers = w.builder_home * np.int64(s["home"][seat, BUILDER]) + w.pig_home * np.int64(s["home"][seat, PIG])
    D.hopes[seat] += stock_worth(D.stocks[seat], w, D) + helpers * time_left(w.meeple_time, D)


@kernel
def hope_for_goods(s, kind, w, D):
    """Add what the lead in a kind of goods is worth to each seat (E4)."""
    left = ALL_GOODS[kind]
    for seat in range(np.int64(s["players"])):
        left -= np.int64(s["goods"][seat, kind])
    spread = w.goods_spread * math.sqrt(max(np.float64(left), 0.0)) if D.turns[0] > 0 else 0.0
    for seat in range(np.int64(s["players"])):
        own, most = np.int64(s["goods"][seat, kind]), np.int64(0)
        for other in range(np.int64(s["players"])):
            if other != seat:
                most = max(most, np.int64(s["goods"][other, kind]))
        if spread == 0.0:
            D.hopes[seat] += GOODS_POINTS * (own > 0 and own >= most)
        else:
            D.hopes[seat] += GOODS_POINTS * 0.5 * (1.0 + math.tanh((own - most) / spread))


@kernel
def set_worth(chips, w, D):
    """Return what matching chips in hand are worth (H4)."""
    points = 0.0
    while chips > 0:
        now = min(chips, CHIP_PLACES)
        points += POINTS_FOR[now]
        if now < CHIP_PLACES:
            points += w.chip_grow * D.turns[1] * (POINTS_FOR[now + 1] - POINTS_FOR[now])
        chips -= now
    return points


@kernel
def hand_worth(s, seat, w, D):
    """Return what a seat's chips are worth to it (H4, H6)."""
    if s["hand_size"][seat] == 0:
        return 0.0
    group = 1 if s["chip_match"] == MATCH_IDENTICAL else NUMBERS if s["chip_match"] == MATCH_COLOUR else CHIP_KINDS
    points, chips = 0.0, np.int64(0)
    for kind in range(CHIP_KINDS):
        chips += np.int64(s["hand"][seat, kind])
        if (kind + 1) % group == 0:
            points += set_worth(chips, w, D)
            chips = np.int64(0)
    return w.chip_hold * points * time_left(w.chip_time, D)


@kernel
def unknown_chips(number, w, D):
    """Return what a number of chips is worth that are not known."""
    return w.chip * number * time_left(w.chip_time, D)


@kernel
def lying_points(s, number):
    """Return the points of the chips on a Chumak square (H2)."""
    points = np.int64(0)
    for kind in range(CHIP_KINDS):
        points += VALUES[kind] * np.int64(s["lying"][number, kind])
    return points


@kernel
def hope_for_squares(s, first, w, D):
    """Add what the chips that lie on the map are worth to the seats, the `first` of which has the next tile (H2)."""
    players = np.int64(s["players"])
    for number in range(np.int64(s["chumaks"])):
        square = np.int64(s["chumak_square"][number])
        is_eligible = s["frontier"][square >> 6] & bit(square & 63) != NONE
        if s["lying_size"][number] == 0 or not is_eligible or s["bag_size"] == 0:
            continue
        none = np.int64(0)
        fit = tiles_that_close(s, np.int64(s["need"][square]), none, none, w) / np.float64(s["bag_size"])
        hope = w.lying * fit * lying_points(s, number)
        for k in range(players):
            D.hopes[(first + k) % players] += hope
            hope *= 1.0 - w.lying * fit


# --- a position ------------------------------------------------------------------------------------------------------


@kernel
def evaluate(s, seat, first, w, D):
    """Write what each seat can hope for to D.hopes, as far as `seat` can know it; `first` has the next tile."""
    players = np.int64(s["players"])
    count_turns(s, D)
    for other in range(players):
        D.hopes[other] = np.int64(s["points"][other])
        D.stocks[other] = 0.0
    find_roots(s, D)
    find_gaps(s, w, D)
    hope_for_linked(s, w, D)
    hope_for_fields(s, w, D)
    hope_for_monasteries(s, w, D)
    for kind in range(GOODS_KINDS):
        hope_for_goods(s, kind, w, D)
    for other in range(players):
        hope_for_figures(s, other, w, D)
        D.hopes[other] += (
            hand_worth(s, seat, w, D) if other == seat else unknown_chips(np.int64(s["hand_size"][other]), w, D)
        )
    hope_for_squares(s, first, w, D)


@kernel
def rivals_hope(s, seat, w, D):
    """Return what a seat compares its hope with: the best rival's and the mean of all, see `best_rival`."""
    best, total = -np.inf, 0.0
    players = np.int64(s["players"])
    for other in range(players):
        if other != seat:
            best = max(best, D.hopes[other])
            total += D.hopes[other]
    return w.best_rival * best + (1.0 - w.best_rival) * total / (players - 1)


# --- a potential for learners ----------------------------------------------------------------------------------------

SCALE_AT_END = 6.0  # points that make a likely winner with the last tile
SCALE_AT_START = 50.0  # and how many more of them at the start: two planners end about 57 points apart (one deviation)


@kernel
def potential_rows(S, seats, w, D, out):
    """Write the potential of seats[i] in each row i to `out` (rows,) float64; 0 where the game is over."""
    for i in range(S.shape[0]):
        out[i] = 0.0
        if S[i]["phase"] != PHASE_OVER:
            begin_decision(S[i], D)
            first = (np.int64(S[i]["seat"]) + 1) % np.int64(S[i]["players"])
            evaluate(S[i], seats[i], first, w, D)
            scale = SCALE_AT_END + SCALE_AT_START * D.turns[1]
            out[i] = math.tanh((D.hopes[seats[i]] - rivals_hope(S[i], seats[i], w, D)) / scale)


class Memory(NamedTuple):
    """The memory of `potentials`, made by `new_memory`.

    Attributes:
        weights: those of the planner.
        desk: what the evaluation writes to.
    """

    weights: Weights
    desk: Desk


def new_memory() -> Memory:
    """Return the memory of one thread, with the planner's weights."""
    return Memory(PLANNER, new_desk())


@kernel
def potentials(S, i, X, values):
    """Write the potential of each seat in row i, which is not finished, to `values` (seats,) float64; X: `Memory`.

    Each seat is taken to know its own chips and to count those of the others.
    """
    s, w, D = S[i], X.weights, X.desk
    players = np.int64(s["players"])
    begin_decision(s, D)
    evaluate(s, np.int64(-1), (np.int64(s["seat"]) + 1) % players, w, D)
    scale = SCALE_AT_END + SCALE_AT_START * D.turns[1]
    for seat in range(players):
        counted = D.hopes[seat]
        unknown = unknown_chips(np.int64(s["hand_size"][seat]), w, D)
        D.hopes[seat] += hand_worth(s, seat, w, D) - unknown
        values[seat] = math.tanh((D.hopes[seat] - rivals_hope(s, seat, w, D)) / scale)
        D.hopes[seat] = counted
