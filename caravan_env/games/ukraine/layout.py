"""Every constant of the arrays: the state dtype, the action numbers, the pieces of an observation, tiles as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.actions import ActionTable
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.params import RETURNS
from caravan_env.games.ukraine.params import BORDER_MONASTERY, CHIP_MATCH, SEATS, UkraineParams
from caravan_env.games.ukraine.tables import (
    CHIP_COPIES,
    CHIPS,
    FIGURES,
    GOODS,
    MAX_CHUMAK,
    MAX_CITIES,
    MAX_SEGMENTS,
    MAX_STARTS,
    SIZE,
    SQUARES,
    START_TILE,
    TILE_NUMBERS,
    TILES,
    Map,
    Tile,
    edge_at,
    neighbour,
)

TILE_KINDS = len(TILES)
MOST_TILES = sum(tile.copies for tile in TILES)
FIGURE_KINDS = len(FIGURES)
MEEPLE, LARGE_MEEPLE, BUILDER, PIG = range(FIGURE_KINDS)
CHIP_KINDS = len(CHIPS)
GOODS_KINDS = len(GOODS)

NOBODY = 255  # `seat` during the set-up
NO_TILE = 255
NO_FIGURE = 255
NO_SEGMENT = 255
NO_SQUARE = 255  # `trade_square` while nobody trades

# What lies on a square: the number of a laid tile, or one of these.
OUTSIDE = SQUARES  # the square beyond every end of the grid
PLACES = SQUARES + 7  # of squares in the state, that one included; so many that the state has no padding
FREE_CHUMAK = 224  # + number of the Chumak square; this and all above it: no tile
FREE_LIMIT = FREE_CHUMAK + MAX_CHUMAK
LARGE_CITY = FREE_LIMIT  # + number of the large city
VOID = LARGE_CITY + MAX_CITIES
EMPTY = 255

SQUARE_WORDS = -(-SQUARES // 64)  # of a set of squares

# What an edge is, or must be; four of them, N lowest, two bits each, are the code of a square.
ANY_EDGE, FIELD_EDGE, ROAD_EDGE, CITY_EDGE = range(4)
EDGE_LETTERS = {"F": FIELD_EDGE, "R": ROAD_EDGE, "C": CITY_EDGE}
CODES = 256

KIND_NAMES = ("monastery", "city", "road", "field")
MONASTERY, CITY, ROAD, FIELD = range(len(KIND_NAMES))
LINKED_KINDS = 3  # cities, roads, fields: those of which the segments of several tiles are one feature

# Joined segments are one feature: a union-find over numbered nodes. Cities come first, the large ones before all
# others, then roads, then fields; each laid tile takes the next free numbers.
CITY_NODES = MAX_CITIES + sum(tile.copies * len(tile.cities) for tile in TILES)
ROAD_NODES = sum(tile.copies * len(tile.roads) for tile in TILES)
FIELD_NODES = sum(tile.copies * len(tile.fields) for tile in TILES)
ROAD_START = CITY_NODES
FIELD_START = ROAD_START + ROAD_NODES
NODES = FIELD_START + FIELD_NODES
FIRST_NODES = (MAX_CITIES, ROAD_START, FIELD_START)

# What a feature holds, as one uint64 of small counts, so that joining two of them is one addition.
STRENGTH_BITS = 4  # per seat: at most nine meeples and a large one
BUILDER_BIT = STRENGTH_BITS * SEATS  # per seat
PIG_BIT = BUILDER_BIT + SEATS  # per seat
GOODS_BIT = PIG_BIT + SEATS
COUNT_BITS = 4  # of goods of one kind, inns, shields
INN_BIT = GOODS_BIT + GOODS_KINDS * COUNT_BITS
CATHEDRAL_BIT = INN_BIT + COUNT_BITS
CATHEDRAL_BITS = 2
SHIELD_BIT = CATHEDRAL_BIT + CATHEDRAL_BITS
LARGE_BIT = SHIELD_BIT + COUNT_BITS  # per large city, whose squares and shields stand in the map


def _ones(start: int, bits: int) -> int:
    """Return the uint64 with `bits` ones from bit `start` on."""
    return ((1 << bits) - 1) << start


STRENGTHS = _ones(0, BUILDER_BIT)
FIGURES_MASK = _ones(0, GOODS_BIT)
EXPANSIONS_MASK = _ones(GOODS_BIT, SHIELD_BIT - GOODS_BIT)  # what is mere print without the expansion rules (X1)
ALL_ONES = _ones(0, 64)

PHASES = ("start", "second", "lay", "tile", "chip", "place", "figure", "trade", "over")
(
    PHASE_START,
    PHASE_SECOND,
    PHASE_LAY,
    PHASE_TILE,
    PHASE_CHIP,
    PHASE_PLACE,
    PHASE_FIGURE,
    PHASE_TRADE,
    PHASE_OVER,
) = range(len(PHASES))
DECISIONS = PHASE_OVER - PHASE_PLACE

BORDER_NEIGHBOURS, BORDER_NINE = range(len(BORDER_MONASTERY))
MATCH_IDENTICAL, MATCH_COLOUR, MATCH_ANY = range(len(CHIP_MATCH))

EVENT_KINDS = ("city", "road", "monastery", "chips", "trade")
EVENT_CITY, EVENT_ROAD, EVENT_MONASTERY, EVENT_CHIPS, EVENT_TRADE = range(1, 1 + len(EVENT_KINDS))  # 0: none
MOST_EVENTS = 16  # chips, trade, four features of a tile, nine monasteries

ACTIONS = ActionTable(
    ("place", (SQUARES, 4), ("square", "clockwise quarter turns")),
    ("figure", (FIGURE_KINDS, MAX_SEGMENTS), ("kind of figure", "segment of the tile just laid")),
    ("no figure", (1,), ("neither figure nor trade",)),
    ("trade", (MAX_CHUMAK,), ("Chumak square of the map",)),
    ("add", (CHIP_KINDS,), ("chip",)),
    ("done", (1,), ("end of the trade",)),
)
FIGURE_START = ACTIONS["figure"].start
OPTION_WORDS = -(-ACTIONS.size // 64)
# Everything but laying a tile is the last word of the options; these are bits of it.
LATE_WORD = FIGURE_START // 64
NO_FIGURE_BIT = ACTIONS["no figure"].start - FIGURE_START
TRADE_BIT = ACTIONS["trade"].start - FIGURE_START
ADD_BIT = ACTIONS["add"].start - FIGURE_START
DONE_BIT = ACTIONS["done"].start - FIGURE_START
SQUARES_A_WORD = 16  # of laying a tile: 16 squares with 4 rotations

MAX_OUTCOMES = max(TILE_KINDS, 4 * MAX_STARTS, CHIP_KINDS)

# Wide fields first, so that there is no padding: equal positions are equal bytes.
STATE = np.dtype(
    [
        ("options", np.uint64, OPTION_WORDS),  # derived: the legal actions
        ("frontier", np.uint64, SQUARE_WORDS),  # derived: eligible squares (G1, M7)
        ("occupied", np.uint64, 2),  # laid tiles with a figure
        ("stuff", np.uint64, NODES),  # per root: what the feature holds; 0 for other nodes
        ("doubles", np.uint64, FIELD_START),  # per root: those of its tiles with two cities or two roads
        ("standing", np.float64, SEATS),  # once the game is over: the points of the end included
        ("city_sides", np.uint64, (MAX_CITIES, SQUARE_WORDS)),  # map: squares at the edges of each large city
        ("print_mask", np.uint64),  # what counts of the print on a tile (X1)
        ("parent", np.uint16, NODES),
        ("open", np.uint16, FIELD_START),  # per root: open edges of a city, open ends of a road
        ("first_node", np.uint16, (MOST_TILES, LINKED_KINDS)),  # node = this + segment number
        ("used", np.uint16, LINKED_KINDS),  # next free node of each kind
        ("laid_square", np.uint16, MOST_TILES),
        ("points", np.uint16, SEATS),  # without those of the end
        ("choices", np.uint16),  # derived: number of legal actions
        # segment of the last tile (NO_SEGMENT for a feature of it alone), square, or number of the Chumak square
        ("event_where", np.uint16, MOST_EVENTS),
        ("event_points", np.uint16, MOST_EVENTS),
        ("chumak_square", np.uint16, MAX_CHUMAK),  # map
        ("start_square", np.uint16, MAX_STARTS),  # map
        ("city_open", np.uint16, MAX_CITIES),  # map
        ("city_size", np.uint16, MAX_CITIES),  # map
        ("city_shields", np.uint16, MAX_CITIES),  # map
        ("size", np.uint8, FIELD_START),  # per root: tiles, each once
        ("at", np.uint8, PLACES),  # what lies on each square
        ("need", np.uint8, PLACES),  # code of the edges of a laid tile, or of what a tile there must have
        ("printed", np.uint8, PLACES),  # map: what borders and large cities ask for
        ("laid_tile", np.uint8, MOST_TILES),
        ("laid_turned", np.uint8, MOST_TILES),
        ("figure", np.uint8, MOST_TILES),  # kind * 8 + segment of the figure on a laid tile
        ("figure_seat", np.uint8, MOST_TILES),
        ("bag", np.uint8, TILE_KINDS),
        ("out", np.uint8, TILE_KINDS),
        ("copies", np.uint8, TILE_KINDS),  # switches: all tiles in play
        ("figures", np.uint8, FIGURE_KINDS),  # switches: of each seat
        ("home", np.uint8, (SEATS, FIGURE_KINDS)),
        ("goods", np.uint8, (SEATS, GOODS_KINDS)),
        ("hand", np.uint8, (SEATS, CHIP_KINDS)),
        ("hand_size", np.uint8, SEATS),  # derived
        ("supply", np.uint8, CHIP_KINDS),
        ("lying", np.uint8, (MAX_CHUMAK, CHIP_KINDS)),
        ("lying_size", np.uint8, MAX_CHUMAK),  # derived
        ("added", np.uint8, CHIP_KINDS),  # in the trade that is going on
        ("event_kind", np.uint8, MOST_EVENTS),
        ("event_seats", np.uint8, MOST_EVENTS),  # set of the seats that got the points
        ("event_goods", np.uint8, (MOST_EVENTS, GOODS_KINDS)),
        # rule switches, constant through a game
        ("players", np.uint8),
        ("return_mode", np.uint8),
        ("border_monastery", np.uint8),
        ("chip_match", np.uint8),
        ("chips", np.uint8),
        ("expansions", np.uint8),
        ("chumaks", np.uint8),
        ("starts", np.uint8),
        ("height", np.uint8),
        ("width", np.uint8),
        # the rest of the position
        ("phase", np.uint8),
        ("seat", np.uint8),
        ("extra", np.uint8),
        ("again", np.uint8),
        ("tile", np.uint8),  # drawn and not yet laid
        ("laid", np.uint8),
        ("bag_size", np.uint8),  # derived
        ("monks", np.uint8),  # derived: figures on monasteries
        ("connected", np.uint8),  # derived: set of the connected large cities (M7)
        ("doubles_laid", np.uint8),  # derived
        ("events", np.uint8),
        ("trade_square", np.uint8),
        ("draws", np.uint8),  # chips still to be drawn
    ],
    align=True,
)

# --- the tiles as arrays ---------------------------------------------------------------------------------------------


def _edge_code(tile: Tile, turned: int) -> int:
    return sum(EDGE_LETTERS[edge_at(tile, edge, turned)] << 2 * edge for edge in range(4))


def _fits(code: int, need: int) -> bool:
    pairs = [((code >> 2 * edge) & 3, (need >> 2 * edge) & 3) for edge in range(4)]
    return all(wanted in (ANY_EDGE, there) for there, wanted in pairs)


def _rotations_that_fit(tile: Tile, need: int) -> int:
    return sum(_fits(_edge_code(tile, turned), need) << turned for turned in range(tile.rotations))


def _per_segment(value: object, dtype: type, nothing: int = 0) -> NDArray[Any]:
    """Return (tiles, segments) values that `value(tile, kind, part)` gives, `nothing` where there is no segment."""
    table: NDArray[Any] = np.full((TILE_KINDS, MAX_SEGMENTS), nothing, dtype)
    for number, tile in enumerate(TILES):
        parts = {"monastery": (None,), "city": tile.cities, "road": tile.roads, "field": tile.fields}
        for segment, (kind, k) in enumerate(tile.segments):
            table[number, segment] = value(tile, kind, parts[kind][k])  # type: ignore[operator]
    return table


def _first_segment(tile: Tile, kind: str) -> int:
    order = KIND_NAMES.index(kind)
    return sum(KIND_NAMES.index(name) < order for name, _ in tile.segments)


def _stuff_of(tile: Tile, kind: str, part: object) -> int:
    """Return what a segment adds to its feature."""
    if kind == "city":
        goods = 1 << (GOODS_BIT + COUNT_BITS * GOODS.index(part.goods)) if part.goods else 0  # type: ignore[attr-defined]
        return goods | part.shields << SHIELD_BIT | part.cathedral << CATHEDRAL_BIT  # type: ignore[attr-defined]
    return part.inn << INN_BIT if kind == "road" else 0  # type: ignore[attr-defined]


def _open_of(tile: Tile, kind: str, part: object) -> int:
    return len(part.edges) if kind in ("city", "road") else 0  # type: ignore[attr-defined]


def _cities_of(tile: Tile, kind: str, part: object) -> int:
    """Return the set of the segments that are cities at a field."""
    first = _first_segment(tile, "city")
    return sum(1 << (first + k) for k in part.cities) if kind == "field" else 0  # type: ignore[attr-defined]


def _segments_at(tile: Tile, kind: str, attribute: str, places: int) -> list[int]:
    """Return which segment of some kind is at each edge, or half edge."""
    found = [NO_SEGMENT] * places
    parts = {"city": tile.cities, "road": tile.roads, "field": tile.fields}[kind]
    for k, part in enumerate(parts):
        for place in getattr(part, attribute):
            found[place] = _first_segment(tile, kind) + k
    return found


def _edge_segments(tile: Tile) -> list[int]:
    cities, roads = _segments_at(tile, "city", "edges", 4), _segments_at(tile, "road", "edges", 4)
    fields = _segments_at(tile, "field", "half_edges", 8)
    return [
        min(cities[edge], roads[edge], NO_SEGMENT if tile.edges[edge] == "R" else fields[2 * edge]) for edge in range(4)
    ]


EDGE_CODE = np.array([[_edge_code(tile, turned) for turned in range(4)] for tile in TILES], np.uint8)
#: (tiles, codes): the set of the rotations with which a tile fits where edges of this code are needed (G1, G2).
FIT = np.array([[_rotations_that_fit(tile, need) for need in range(CODES)] for tile in TILES], np.uint8)
SEGMENTS = np.array([len(tile.segments) for tile in TILES], np.uint8)
SEGMENT_KIND = _per_segment(lambda tile, kind, part: KIND_NAMES.index(kind), np.uint8, NO_SEGMENT)
#: (tiles, kinds): the first segment of each linked kind, and how many there are.
FIRST_SEGMENT = np.array([[_first_segment(tile, kind) for kind in KIND_NAMES[1:]] for tile in TILES], np.uint8)
SEGMENT_COUNT = np.array([[len(tile.cities), len(tile.roads), len(tile.fields)] for tile in TILES], np.uint8)
#: (tiles, edges not turned): the segment at the edge; (tiles, half edges not turned): the field there.
EDGE_SEGMENT = np.array([_edge_segments(tile) for tile in TILES], np.uint8)
HALF_SEGMENT = np.array([_segments_at(tile, "field", "half_edges", 8) for tile in TILES], np.uint8)
STUFF = _per_segment(_stuff_of, np.uint64)
OPEN = _per_segment(_open_of, np.uint8)
FIELD_CITIES = _per_segment(_cities_of, np.uint8)
IS_MONASTERY = np.array([tile.monastery for tile in TILES], np.uint8)
IS_DOUBLE = np.array([len(tile.cities) > 1 or len(tile.roads) > 1 for tile in TILES], np.uint8)
if sum(tile.copies for tile, double in zip(TILES, IS_DOUBLE, strict=True) if double) > 64:
    raise ValueError("more than 64 tiles have two cities or two roads: `doubles` needs another word")

#: The neighbour at each edge of a square, and a square with its eight neighbours in their order; OUTSIDE for none.
NEIGHBOUR = np.array(
    [
        [square if square >= 0 else OUTSIDE for square in (neighbour(at, edge) for edge in range(4))]
        for at in range(SQUARES)
    ],
    np.int16,
)
AROUND = np.array(
    [
        [
            (row + down) * SIZE + column + right if 0 <= row + down < SIZE and 0 <= column + right < SIZE else OUTSIDE
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
        ]
        for row in range(SIZE)
        for column in range(SIZE)
    ],
    np.int16,
)
#: What one figure of each kind and seat adds to its feature.
WEIGHT = np.array(
    [
        [1 << (STRENGTH_BITS * seat) for seat in range(SEATS)],
        [2 << (STRENGTH_BITS * seat) for seat in range(SEATS)],
        [1 << (BUILDER_BIT + seat) for seat in range(SEATS)],
        [1 << (PIG_BIT + seat) for seat in range(SEATS)],
    ],
    np.uint64,
)

# --- observations ----------------------------------------------------------------------------------------------------

#: The planes, each with a value per square of the map, in their order: name -> how many.
PLANES = {
    "ground": 1,
    "large_city": 1,
    "chumak": 1,
    "last": 1,
    "fits": 4,
    "edges": 12,
    "marks": 5,
    "own_figures": 5,
    "other_figures": 5,
    "own_strength": 4,
    "other_strength": 4,
}
PLANE_COUNT = sum(PLANES.values())
PLANE_STARTS = dict(zip(PLANES, np.cumsum([0, *PLANES.values()]).tolist(), strict=False))
PLANE_GROUND = PLANE_STARTS["ground"]
PLANE_LARGE_CITY = PLANE_STARTS["large_city"]
PLANE_CHUMAK = PLANE_STARTS["chumak"]
PLANE_LAST = PLANE_STARTS["last"]
PLANE_FITS = PLANE_STARTS["fits"]
PLANE_EDGES = PLANE_STARTS["edges"]
PLANE_MARKS = PLANE_STARTS["marks"]
PLANE_OWN_FIGURES = PLANE_STARTS["own_figures"]
PLANE_OTHER_FIGURES = PLANE_STARTS["other_figures"]
PLANE_OWN_STRENGTH = PLANE_STARTS["own_strength"]
PLANE_OTHER_STRENGTH = PLANE_STARTS["other_strength"]
HELPER_PLANE = 4  # of the figures: builders and pigs

EDGE_PLANES = PLANES["edges"]
MARK_VALUES = PLANES["marks"]
MARKS = np.array(
    [
        [
            tile.monastery,
            sum(city.shields for city in tile.cities),
            any(road.inn for road in tile.roads),
            any(city.cathedral for city in tile.cities),
            max([1 + GOODS.index(city.goods) for city in tile.cities if city.goods], default=0),
        ]
        for tile in TILES
    ],
    np.uint8,
)

IS_MARKED = np.array([row.any() for row in MARKS], np.uint8)

SEGMENT_VALUES = 9
SEAT_VALUES = 5 + FIGURE_KINDS + GOODS_KINDS
SQUARE_VALUES = 1 + CHIP_KINDS
TURN_VALUES = 4
SWITCH_VALUES = 1 + 1 + len(CHIP_MATCH)
MOST_SHOWN = 255  # larger counts are shown as this one


def observation(params: UkraineParams) -> ObservationLayout:
    """Return the pieces of the observation vector; seats are relative, the observer's own first."""
    n, box = params.players, (params.board.height, params.board.width)
    kinds = "on cities, roads, fields, monasteries"
    meanings = {
        "ground": (1 / 2, "1 where a tile may come to lie, 2 where it may now"),
        "large_city": (1, "squares of large cities: 1, or 2 once connected"),
        "chumak": (1 / 4, "uncovered Chumak squares: 1 + chips on them"),
        "last": (1, "the tile laid last"),
        "fits": (1, "per rotation: where the tile in hand may be laid"),
        "edges": (1, "fields, then roads, then cities, at N, E, S, W: the edges of laid tiles, what others must meet"),
        "marks": (1, "monasteries, shields, inns, cathedrals, goods (1 to 3)"),
        "own_figures": (1 / 2, f"own strength {kinds}; builders and pigs: 1 or 2"),
        "other_figures": (1 / 2, f"the others' strength {kinds}; builders and pigs: 1 or 2"),
        "own_strength": (1 / 3, "own strength in the feature that an eligible square meets at N, E, S, W"),
        "other_strength": (1 / 3, "most strength of another seat there"),
    }
    return ObservationLayout(
        *((name, (PLANES[name], *box), scale, meaning) for name, (scale, meaning) in meanings.items()),
        ("tile", (TILE_KINDS,), 1, "one-hot: the tile in hand"),
        ("tile_edges", (3, 4), 1, "its fields, then roads, then cities, at N, E, S, W, not turned"),
        (
            "segments",
            (MAX_SEGMENTS, SEGMENT_VALUES),
            [1, 1, 1, 1, 1 / 3, 1 / 3, 1 / 4, 1 / 10, 1],
            "per segment of the tile just laid: one-hot monastery, city, road, field, then of its feature: own "
            "strength, most strength of another seat, open ends, what it pays if completed now, 1 if completed",
        ),
        (
            "seats",
            (n, SEAT_VALUES),
            [1, 1 / 100, 1 / 100, 1 / 10, 1 / 10, 1 / 9, 1, 1, 1, 1 / 5, 1 / 5, 1 / 5],
            "per seat: 1 if to move, points up to 255, points above, chips, meeples on the map, at home: meeples, "
            "large meeples, builders, pigs; goods",
        ),
        ("chips", (CHIP_KINDS,), 1 / 4, "own chips by kind"),
        ("squares", (MAX_CHUMAK, SQUARE_VALUES), 1 / 2, "per Chumak square of the map: 1 if uncovered, chips by kind"),
        ("supply", (1,), 1 / 30, "chips in the supply"),
        ("trade", (MAX_CHUMAK + CHIP_KINDS,), 1, "one-hot: the Chumak square of the trade; chips added by kind"),
        ("bag", (TILE_KINDS,), 1 / 4, "copies of each tile that may still come"),
        ("phase", (DECISIONS,), 1, "one-hot: place, figure, trade"),
        (
            "turn",
            (TURN_VALUES,),
            [1, 1, 1 / 100, 1 / 100],
            "1 if this is the extra part-turn, 1 if one is to come, tiles in the bag, tiles laid",
        ),
        ("switches", (SWITCH_VALUES,), 1, "1 with expansion rules, 1 if border monasteries pay 9, one-hot chip match"),
    )


def action_planes(params: UkraineParams) -> NDArray[np.int64]:
    """Return the actions that lay a tile on each square of the map's box, (rotations, height, width) int64.

    Squares on which no tile can ever lie have theirs too, so that the size of the box alone decides what a network
    for it looks like.
    """
    group = ACTIONS["place"]
    numbers = group.start + np.arange(group.size).reshape(SIZE, SIZE, -1)
    return numbers[: params.board.height, : params.board.width].transpose(2, 0, 1)


def new_row(params: UkraineParams) -> NDArray[np.void]:
    """Return an array of shape (1,) that carries the rule switches and the map; `rules.init` does the rest."""
    row = np.zeros(1, STATE)
    row["players"] = params.players
    row["return_mode"] = RETURNS.index(params.returns)
    row["border_monastery"] = BORDER_MONASTERY.index(params.border_monastery)
    row["chip_match"] = CHIP_MATCH.index(params.chip_match)
    row["chips"] = params.chips_in_play
    row["expansions"] = params.full
    row["print_mask"] = ALL_ONES if params.full else ALL_ONES ^ EXPANSIONS_MASK
    row["figures"] = params.figures
    sets = {"base": True, "inns": params.inns, "traders": params.traders}
    row["copies"] = [tile.copies if sets[tile.set] else 0 for tile in TILES]
    _fill_map(row[0], params.board)
    if not params.chips_in_play:
        row["chumaks"] = 0
        row["chumak_square"] = 0
    return row


def _fill_map(s: np.void, board: Map) -> None:
    s["height"], s["width"] = board.height, board.width
    s["starts"], s["chumaks"] = len(board.starts), len(board.chumak)
    s["start_square"][: len(board.starts)] = board.starts
    s["chumak_square"][: len(board.chumak)] = board.chumak
    s["at"] = VOID
    for square in board.letters:
        s["at"][square] = EMPTY if board.is_playable(square) else LARGE_CITY + board.city_of(square) - 1
    for square in board.playable:
        for edge in range(4):
            s["printed"][square] |= EDGE_LETTERS.get(board.printed(square, edge), ANY_EDGE) << 2 * edge
            digit = board.city_of(neighbour(square, edge))
            if digit:
                s["city_open"][digit - 1] += 1
                s["city_sides"][digit - 1, square // 64] |= np.uint64(1 << square % 64)
    for digit, squares in board.city_squares.items():
        s["city_size"][digit - 1] = len(squares)
        s["city_shields"][digit - 1] = board.cities[digit][1]


START_NUMBER = TILE_NUMBERS[START_TILE]
SUPPLY = np.array(CHIP_COPIES, np.uint8)
