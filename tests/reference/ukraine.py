"""
Carcassonne on the map of Ukraine in plain Python: the independent reference for differential tests.

Written from the rule texts and the description of the formats alone, to be obviously right rather than fast: a feature
is found by walking over the tiles that lie there, from scratch for every position. Ids such as G1 are the clauses of
the rules. A square is (row, column), both from 0; edges and half edges are numbered clockwise from the north.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import caravan_env

Square = tuple[int, int]
DATA = Path(caravan_env.__file__).parent / "games" / "ukraine"

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # N, E, S, W
AROUND = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if (row, column) != (0, 0)]
EDGES = "NESW"
HALVES = ("NNW", "NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW")
ACROSS = (5, 4, 7, 6, 1, 0, 3, 2)  # the half edge of the neighbour that touches each half edge
FIGURES = ("meeple", "large meeple", "builder", "pig")
STRENGTH = {"meeple": 1, "large meeple": 2, "builder": 0, "pig": 0}  # F4, F7
CHIPS = ("purple 1", "purple 2", "light blue 1", "light blue 2", "orange 1", "orange 2")
GOODS = ("wine", "grain", "cloth")
KINDS = ("city", "road", "monastery", "field", "chips", "trade", "goods")  # sorts both events and final
TRADE_POINTS = (0, 1, 3, 6, 10)  # H4
PLACES = 4  # H5
START_TILE = "B-D"  # S4
NOBODY = -1  # the seat during the set-up


def square_name(square: Square) -> str:
    """Name a square, such as "H7"."""
    return f"{chr(ord('A') + square[1])}{square[0] + 1}"


def square_of(name: str) -> Square:
    """Find the square of a name such as "H7"."""
    return int(name[1:]) - 1, ord(name[0]) - ord("A")


@cache
def next_to(square: Square, edge: int) -> Square:
    """Give the place on the other side of an edge, in the grid or not."""
    return square[0] + STEPS[edge][0], square[1] + STEPS[edge][1]


@cache
def around(square: Square) -> list[Square]:
    """Give the eight places around, in the grid or not."""
    return [(square[0] + row, square[1] + column) for row, column in AROUND]


# The tiles.


@dataclass(frozen=True)
class Segment:
    """A part of a tile as it lies after its turn; `cities` are the numbers of the city segments a field borders."""

    kind: str
    edges: tuple[int, ...] = ()
    halves: tuple[int, ...] = ()
    shields: int = 0
    inn: bool = False
    cathedral: bool = False
    goods: str | None = None
    cities: tuple[int, ...] = ()

    def name(self) -> str:
        """Give the words for this segment."""
        if self.kind == "monastery":
            return "monastery"
        if self.kind == "field":
            return " ".join(["field", *(HALVES[half] for half in self.halves)] if self.halves else ["field", "inside"])
        return " ".join([self.kind, *(EDGES[edge] for edge in self.edges)])

    def turned(self, turns: int) -> Segment:
        """Turn clockwise by quarter turns."""
        edges = tuple(sorted((edge + turns) % 4 for edge in self.edges))
        halves = tuple(sorted((half + 2 * turns) % 8 for half in self.halves))
        return replace(self, edges=edges, halves=halves)


@cache
def catalogue() -> dict[str, dict[str, Any]]:
    """Read the catalogue of tiles, by their ids in its order."""
    tiles = json.loads((DATA / "tiles.json").read_text(encoding="utf-8"))["tiles"]
    return {tile["id"]: tile for tile in tiles}


@cache
def segments(tile: str, turned: int) -> tuple[Segment, ...]:
    """Give the segments of a tile that lies turned, by their numbers: monastery, cities, roads, fields."""
    given = catalogue()[tile]
    first = 1 if given["monastery"] else 0
    found = [Segment("monastery")] * first
    for city in given["cities"]:
        printed = {key: city[key] for key in ("shields", "cathedral", "goods")}
        found.append(Segment("city", tuple(city["edges"]), **printed))
    for road in given["roads"]:
        found.append(Segment("road", tuple(road["edges"]), inn=road["inn"]))
    for meadow in given["fields"]:
        cities = tuple(first + number for number in meadow["cities"])
        found.append(Segment("field", halves=tuple(meadow["half_edges"]), cities=cities))
    return tuple(segment.turned(turned) for segment in found)


@cache
def letters(tile: str, turned: int) -> str:
    """Give what a tile shows at its edges N, E, S, W after the turn: F, R or C."""
    edges = catalogue()[tile]["edges"]
    return "".join(edges[(edge - turned) % 4] for edge in range(4))


@cache
def rotations(tile: str) -> tuple[int, ...]:
    """Give the turns that are told apart (G2)."""
    return tuple(range(next(turns for turns in (1, 2, 3, 4) if _picture(tile, turns % 4) == _picture(tile, 0))))


def _picture(tile: str, turned: int) -> Any:
    """Describe a tile without the numbers of its segments, so that equal pictures can be recognised."""
    parts = segments(tile, turned)
    names = [(replace(part, cities=()), sorted(parts[city].edges for city in part.cities)) for part in parts]
    return letters(tile, turned), sorted(map(repr, names))


# The map.


@dataclass
class Map:
    """A map: what each square is, and what is printed at outer edges."""

    playable: set[Square] = field(default_factory=set)
    starts: list[Square] = field(default_factory=list)
    chumak: list[Square] = field(default_factory=list)
    large: dict[Square, str] = field(default_factory=dict)
    shields: dict[str, int] = field(default_factory=dict)
    borders: dict[tuple[Square, int], str] = field(default_factory=dict)

    def squares_of(self, city: str) -> list[Square]:
        """Give the printed squares of a large city."""
        return [square for square, digit in self.large.items() if digit == city]

    def exists(self, square: Square) -> bool:
        """Tell whether there is such a square: playable, or of a large city."""
        return square in self.playable or square in self.large


def read_map(given: str | dict[str, Any]) -> Map:
    """Read the map that a parameter `map` names or holds (M1)."""
    if given == "plane":
        given = {"rows": ["o" * 20] * 10 + ["o" * 10 + "S" + "o" * 9] + ["o" * 20] * 9}
    elif isinstance(given, str):
        given = tomllib.loads((DATA / "maps" / f"{given}.toml").read_text(encoding="utf-8"))
    found = Map()
    for row, text in enumerate(given["rows"]):
        for column, letter in enumerate(text):
            if letter in "oSCT":
                found.playable.add((row, column))
            if letter == "S":
                found.starts.append((row, column))
            if letter == "C":
                found.chumak.append((row, column))
            if letter.isdigit():
                found.large[row, column] = letter
    tables = given.get("cities", {})
    found.shields = {digit: tables.get(digit, {}).get("shields", 0) for digit in sorted(set(found.large.values()))}
    for place, printed in given.get("borders", {}).items():
        name, edge = place.split()
        found.borders[square_of(name), EDGES.index(edge)] = {"road": "R", "city": "C"}[printed]
    return found


# A position.


@dataclass
class Figure:
    """A figure on a tile, on the segment with this number."""

    seat: int
    kind: str
    segment: int


@dataclass
class Laid:
    """A tile that lies on the map."""

    tile: str
    turned: int
    figure: Figure | None = None

    def segments(self) -> tuple[Segment, ...]:
        """Give its segments as they lie."""
        return segments(self.tile, self.turned)


@dataclass
class Seat:
    """What one player has; the points never hold those of the end."""

    home: dict[str, int]
    points: int = 0
    chips: Counter[str] = field(default_factory=Counter)
    goods: Counter[str] = field(default_factory=Counter)


@dataclass
class Feature:
    """Joined segments. `open` counts the edges where it can still grow."""

    kind: str
    parts: list[tuple[Square, int]]
    large: set[str]
    squares: list[Square]
    open: int = 0
    shields: int = 0
    inn: bool = False
    cathedral: bool = False
    goods: Counter[str] = field(default_factory=Counter)

    @property
    def complete(self) -> bool:
        """Whether it can grow no more (P1, M4)."""
        return self.open == 0


@dataclass
class Payment:
    """What paid points or goods."""

    kind: str
    squares: list[Square]
    points: list[int]
    goods: dict[str, int] = field(default_factory=dict)
    first: int = 0  # the lowest segment on the first square, to order payments of the same squares

    def order(self) -> Any:
        """Give the key that sorts payments."""
        good = GOODS.index(next(iter(self.goods))) if self.kind == "goods" else 0
        return KINDS.index(self.kind), self.squares, good, self.first

    def struct(self) -> dict[str, Any]:
        """Describe it as in the struct of a position."""
        names = [square_name(square) for square in self.squares]
        return {"kind": self.kind, "squares": names, "points": list(self.points), "goods": dict(self.goods)}


DEFAULTS: dict[str, Any] = {
    "players": 2,
    "returns": "win",
    "map": "ukraine",
    "expansion_rules": "full",
    "inns": True,
    "traders": True,
    "chips": True,
    "meeples": 0,
    "border_monastery": "neighbours",
    "chip_match": "identical",
}
ALLOWED: dict[str, tuple[Any, ...]] = {
    "players": (2, 3, 4, 5, 6),
    "returns": ("win", "rank", "margin"),
    "expansion_rules": ("full", "tiles_only"),
    "inns": (True, False),
    "traders": (True, False),
    "chips": (True, False),
    "meeples": tuple(range(10)),
    "border_monastery": ("neighbours", "nine"),
    "chip_match": ("identical", "colour", "any"),
}


def read_params(params: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults and check the values, or raise ValueError that names the field."""
    unknown = set(params) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"params: there is no '{sorted(unknown)[0]}'.")
    full = DEFAULTS | params
    for key, values in ALLOWED.items():
        if full[key] not in values:
            raise ValueError(f"params: '{key}' must be one of {values}.")
    return full


def full_bag(params: dict[str, Any]) -> Counter[str]:
    """Give the tiles of the game, the start tile among them (S3)."""
    sets = {"base"} | {name for name in ("inns", "traders") if params[name]}
    return Counter({name: tile["copies"] for name, tile in catalogue().items() if tile["set"] in sets})


Option = tuple[Any, ...]


class Ukraine:
    """A game of Carcassonne on the map of Ukraine. Chance and actions are given by their words."""

    def __init__(self, params: dict[str, Any], count: bool = True) -> None:
        """Set the game up, before anything chance decides; `count` switches the counting of clauses on."""
        self.params = read_params(params)
        self.players: int = self.params["players"]
        self.full = self.params["expansion_rules"] == "full"
        self.clauses: Counter[str] = Counter()
        self.count = count
        self.map = read_map(self.params["map"])
        self.has_chips = self.params["chips"] and bool(self.map.chumak)  # S8
        self.tiles: dict[Square, Laid] = {}  # in the order in which they were laid
        self.bag = full_bag(self.params) - Counter([START_TILE])
        self.out: Counter[str] = Counter()
        self.lying: dict[Square, list[str]] = {}  # the uncovered Chumak squares
        self.supply: Counter[str] = Counter()
        if self.has_chips:
            self.lying = {square: [] for square in self.map.chumak}
            self.supply = Counter({chip: 6 if chip.endswith("1") else 4 for chip in CHIPS})  # S8
        self.seats = [Seat(dict(self._all_figures())) for _ in range(self.players)]
        self.seat = NOBODY
        self.extra = self.again = False
        self.tile: str | None = START_TILE
        self.draws = 0
        self.trade: tuple[Square, list[str]] | None = None
        self.events: list[Payment] = []
        self.final: list[Payment] = []
        self.phase = "start"
        self.truncated = False
        self._features: dict[tuple[Square, int], Feature] = {}  # this and the next are for the tiles that lie now
        self._eligible: list[Square] | None = None
        self._options: dict[str, Option] | None = None
        self._note("S1 S3 " + ("S2 " if self.full else "") + ("S8 " if self.has_chips else ""))
        self._note("M1" if self.params["map"] != "ukraine" else "")

    def _all_figures(self) -> dict[str, int]:
        """Give the figures of a player (S1, S2)."""
        meeples = self.params["meeples"] or (7 if self.params["map"] == "plane" else 9)
        large = int(self.full and self.params["inns"])
        special = int(self.full and self.params["traders"])
        return {"meeple": meeples, "large meeple": large, "builder": special, "pig": special}

    # What one can ask.

    def scores(self) -> list[int]:
        """Give each seat's points if the game ended now (E2 to E4)."""
        payments = [payment.points for payment in self.payments_of_the_end()]
        return [seat.points + sum(points[number] for points in payments) for number, seat in enumerate(self.seats)]

    def returns(self) -> list[float]:
        """Give the returns of the finished game in the mode of the parameter `returns`."""
        if self.phase != "over":
            raise ValueError("The game is not over.")
        mode, scores, n = self.params["returns"], self.scores(), self.players
        if mode == "margin":
            return [score - (sum(scores) - score) / (n - 1) for score in scores]
        above = [sum(other > mine for other in scores) for mine in scores]
        level = [scores.count(mine) for mine in scores]
        if mode == "win":  # E5: equal points share the win
            return [((n / equal if first == 0 else 0) - 1) / (n - 1) for first, equal in zip(above, level, strict=True)]
        return [1 - 2 * (first + (equal - 1) / 2) / (n - 1) for first, equal in zip(above, level, strict=True)]

    def chance(self) -> dict[str, int]:
        """Give the words of what chance may bring now, with weights."""
        if self.phase in ("start", "lay"):
            assert self.tile is not None
            places = self.starting_places(self.tile)
            return {f"start {self.tile} at {square_name(square)} turned {turned}": 1 for square, turned in places}
        if self.phase in ("second", "tile"):
            word = "second" if self.phase == "second" else "draw"
            return {f"{word} {tile}": copies for tile, copies in self.bag.items() if copies}
        if self.phase == "chip":
            return {f"draw {chip}": number for chip, number in self.supply.items() if number}
        return {}

    def legal(self) -> list[str]:
        """Give the words of the legal actions, each once."""
        return list(self.options())

    def struct(self) -> dict[str, Any]:
        """Give the struct of the position."""
        return {
            "game": "ukraine",
            "params": dict(self.params),
            "phase": self.phase,
            "seat": self.seat,
            "extra": self.extra,
            "again": self.again,
            "tile": self.tile,
            "tiles": [self._tile_struct(square, laid) for square, laid in self.tiles.items()],
            "bag": {tile: copies for tile, copies in self.bag.items() if copies},
            "out": {tile: copies for tile, copies in self.out.items() if copies},
            "chumak": {square_name(square): sorted(chips, key=CHIPS.index) for square, chips in self.lying.items()},
            "supply": {chip: self.supply[chip] for chip in CHIPS} if self.has_chips else {},
            "pending": self._pending_struct(),
            "seats": [self._seat_struct(seat, score) for seat, score in zip(self.seats, self.scores(), strict=True)],
            "events": [payment.struct() for payment in sorted(self.events, key=Payment.order)],
            "final": [payment.struct() for payment in self.final],
        }

    @staticmethod
    def _tile_struct(square: Square, laid: Laid) -> dict[str, Any]:
        """Give the part of the struct that describes one tile."""
        figure = laid.figure and {
            "seat": laid.figure.seat,
            "kind": laid.figure.kind,
            "segment": laid.segments()[laid.figure.segment].name(),
        }
        return {"square": square_name(square), "tile": laid.tile, "turned": laid.turned, "figure": figure}

    @staticmethod
    def _seat_struct(seat: Seat, score: int) -> dict[str, Any]:
        """Give the part of the struct that describes one seat."""
        return {
            "points": seat.points,
            "score": score,
            "figures": dict(seat.home),
            "chips": {chip: seat.chips[chip] for chip in CHIPS if seat.chips[chip]},
            "goods": {good: seat.goods[good] for good in GOODS},
        }

    def _pending_struct(self) -> dict[str, Any] | None:
        """Give the part of the struct that says what is still to be drawn, or what is being traded."""
        if self.phase == "chip":
            return {"draws": self.draws}
        if self.trade is not None:
            return {"square": square_name(self.trade[0]), "chips": list(self.trade[1])}
        return None

    @classmethod
    def from_struct(cls, struct: dict[str, Any], count: bool = True) -> Ukraine:
        """Make the game of a struct; the inverse of `struct` (the scores follow from the rest)."""
        game = cls(struct["params"], count)
        for key in ("phase", "seat", "extra", "again", "tile"):
            setattr(game, key, struct[key])
        for given in struct["tiles"]:
            game.tiles[square_of(given["square"])] = cls._laid_from(given)
        game.bag, game.out = Counter(struct["bag"]), Counter(struct["out"])
        game.lying = {square_of(name): list(chips) for name, chips in struct["chumak"].items()}
        game.supply = Counter(struct["supply"])
        pending = struct["pending"]
        if game.phase == "chip":
            game.draws = pending["draws"]
        elif game.phase == "trade":
            game.trade = square_of(pending["square"]), list(pending["chips"])
        game.seats = [
            Seat(dict(given["figures"]), given["points"], Counter(given["chips"]), Counter(given["goods"]))
            for given in struct["seats"]
        ]
        game.events, game.final = ([cls._payment_from(one) for one in struct[key]] for key in ("events", "final"))
        return game

    @staticmethod
    def _laid_from(given: dict[str, Any]) -> Laid:
        """Read a tile that lies on the map."""
        laid = Laid(given["tile"], given["turned"])
        if given["figure"] is not None:
            names = [segment.name() for segment in laid.segments()]
            figure = given["figure"]
            laid.figure = Figure(figure["seat"], figure["kind"], names.index(figure["segment"]))
        return laid

    @staticmethod
    def _payment_from(given: dict[str, Any]) -> Payment:
        """Read what paid."""
        squares = [square_of(name) for name in given["squares"]]
        return Payment(given["kind"], squares, list(given["points"]), dict(given["goods"]))

    def copy(self) -> Ukraine:
        """Give an independent copy that does not count clauses."""
        return Ukraine.from_struct(self.struct(), count=False)

    def with_tile(self, square: Square, turned: int) -> Ukraine:
        """Give a position to look at, not to play on: the drawn tile lies there, nothing else has changed yet."""
        assert self.tile is not None
        seen = copy.copy(self)
        seen.tiles = self.tiles | {square: Laid(self.tile, turned)}
        seen._features, seen._eligible, seen._options, seen.count = {}, None, None, False
        return seen

    # Where tiles can lie.

    def connected(self, city: str) -> bool:
        """Tell whether a tile lies next to a large city (M7)."""
        return any(next_to(square, edge) in self.tiles for square in self.map.squares_of(city) for edge in range(4))

    def eligible_squares(self) -> list[Square]:
        """Give the squares where a tile may lie if its edges match (G1, M2, M5, M7)."""
        if self._eligible is None:
            near = {next_to(square, edge) for square in self.tiles for edge in range(4)}
            for city in self.map.shields:
                if self.connected(city):
                    near |= {next_to(square, edge) for square in self.map.squares_of(city) for edge in range(4)}
            self._eligible = sorted(near & self.map.playable - self.tiles.keys())
        return self._eligible

    def _wanted(self, square: Square, edge: int) -> str | None:
        """Give what an edge of a square must show; None if anything will do (G1, M3, M6)."""
        other = next_to(square, edge)
        if other in self.tiles:
            laid = self.tiles[other]
            return letters(laid.tile, laid.turned)[(edge + 2) % 4]
        if other in self.map.large:
            return "C"
        return self.map.borders.get((square, edge))

    def _ways(self, tile: str, squares: Iterable[Square]) -> list[tuple[Square, int]]:
        """Give the squares with the turns in which a tile fits there."""
        found = []
        for square in squares:
            wanted = [(edge, letter) for edge in range(4) if (letter := self._wanted(square, edge)) is not None]
            for turns in rotations(tile):
                shown = letters(tile, turns)
                if all(shown[edge] == letter for edge, letter in wanted):
                    found.append((square, turns))
        return found

    def starting_places(self, tile: str) -> list[tuple[Square, int]]:
        """Give where, and how turned, a tile of the set-up can lie (S4)."""
        return self._ways(tile, [square for square in self.map.starts if square not in self.tiles])

    def places(self, tile: str) -> list[tuple[Square, int]]:
        """Give where, and how turned, a tile can be laid (G1)."""
        return self._ways(tile, self.eligible_squares())

    # Features.

    def feature(self, square: Square, number: int) -> Feature:
        """Give the feature to which a segment belongs, found by walking from it over the tiles."""
        if (square, number) not in self._features:
            found = self._walk(square, number)
            self._features.update(dict.fromkeys(found.parts, found))
        return self._features[square, number]

    def _walk(self, square: Square, number: int) -> Feature:
        """Collect everything that is joined with a segment."""
        kind = self.tiles[square].segments()[number].kind
        parts: list[tuple[Square, int]] = []
        large: set[str] = set()
        open_edges = 0
        seen: set[Any] = {(square, number)}
        todo: list[Any] = [(square, number)]
        while todo:
            node = todo.pop()
            if isinstance(node, str):
                large.add(node)
            else:
                parts.append(node)
            for joined in self._large_joins(node) if isinstance(node, str) else self._joins(*node):
                if joined is None:
                    open_edges += 1
                elif joined not in seen:
                    seen.add(joined)
                    todo.append(joined)
        return self._summed(kind, sorted(parts), large, open_edges)

    def _summed(self, kind: str, parts: list[tuple[Square, int]], large: set[str], open_edges: int) -> Feature:
        """Add up what is printed on the segments of a feature."""
        squares = {square for square, _ in parts} | {square for city in large for square in self.map.squares_of(city)}
        found = Feature(kind, parts, large, sorted(squares), open_edges)
        found.shields = sum(self.map.shields.get(city, 0) for city in large)
        for square, number in parts:
            segment = self.tiles[square].segments()[number]
            found.shields += segment.shields
            found.inn |= segment.inn
            found.cathedral |= segment.cathedral
            if segment.goods:
                found.goods[segment.goods] += 1
        return found

    def _joins(self, square: Square, number: int) -> Iterator[tuple[Square, int] | str | None]:
        """Give what a segment touches beyond its tile: a segment, a large city, or None where nothing lies yet."""
        segment = self.tiles[square].segments()[number]
        for edge in segment.edges:
            yield from self._across(square, edge, segment.kind)
        for half in segment.halves:
            other = next_to(square, half // 2)
            if other in self.tiles:
                yield other, self._segment_at(other, "field", ACROSS[half])
            elif other in self.map.playable:
                yield None

    def _across(self, square: Square, edge: int, kind: str) -> Iterator[tuple[Square, int] | str | None]:
        """Give what lies beyond an edge with a city or a road; nothing at the border (M4)."""
        other = next_to(square, edge)
        if other in self.tiles:
            yield other, self._segment_at(other, kind, (edge + 2) % 4)
        elif other in self.map.large:
            yield self.map.large[other]
        elif other in self.map.playable:
            yield None

    def _large_joins(self, city: str) -> Iterator[tuple[Square, int] | str | None]:
        """Give what a large city touches at its edges with playable squares (M6)."""
        for square in self.map.squares_of(city):
            for edge in range(4):
                if next_to(square, edge) in self.map.playable:
                    yield from self._across(square, edge, "city")

    def _segment_at(self, square: Square, kind: str, place: int) -> int:
        """Find the segment of a kind that touches an edge, or for a field a half edge, of the tile there."""
        for number, segment in enumerate(self.tiles[square].segments()):
            if segment.kind == kind and place in (segment.halves if kind == "field" else segment.edges):
                return number
        raise ValueError(f"The edges at {square_name(square)} do not match.")

    def figures_in(self, feature: Feature) -> list[Figure]:
        """Give the figures that stand in a feature."""
        return [figure for square, number in feature.parts if (figure := self.figure_on(square, number))]

    def figure_on(self, square: Square, number: int) -> Figure | None:
        """Give the figure on a segment."""
        figure = self.tiles[square].figure
        return figure if figure is not None and figure.segment == number else None

    def winners(self, figures: list[Figure]) -> list[int]:
        """Give the seats with the most strength (P1, F4, F7)."""
        strength: Counter[int] = Counter()
        for figure in figures:
            strength[figure.seat] += STRENGTH[figure.kind]
        return [seat for seat in sorted(strength) if strength[seat] == max(strength.values()) > 0]

    def bordered_cities(self, meadow: Feature) -> list[Feature]:
        """Give the completed cities that a field borders, each once (E3)."""
        found: list[Feature] = []
        for square, number in meadow.parts:
            for city in self.tiles[square].segments()[number].cities:
                feature = self.feature(square, city)
                if feature.complete and not any(feature is other for other in found):
                    found.append(feature)
        return found

    # Points of features.

    def worth(self, feature: Feature) -> int:
        """Give the points of a road or city, completed or not (P2 to P4, E2)."""
        units = len(feature.squares) + feature.shields
        special = self.full and (feature.inn or feature.cathedral)
        if feature.kind == "road":
            each = (2 if special else 1) if feature.complete else (0 if special else 1)
        else:
            each = (3 if special else 2) if feature.complete else (0 if special else 1)
        return each * units

    def monastery_full(self, square: Square) -> bool:
        """Tell whether all neighbours that exist are filled (P5)."""
        return all(self._filled(other) for other in around(square) if self.map.exists(other))

    def _filled(self, square: Square) -> bool:
        return square in self.tiles or square in self.map.large

    def monastery_worth(self, square: Square) -> int:
        """Give the points of a monastery, completed or not (P5, E2)."""
        if self.monastery_full(square) and self.params["border_monastery"] == "nine":
            return 9
        return 1 + sum(self._filled(other) for other in around(square))

    def _pay(self, seats: Iterable[int], points: int) -> list[int]:
        """Give the points of each seat where some seats get the same."""
        return [points if seat in seats else 0 for seat in range(self.players)]

    def feature_payment(self, feature: Feature) -> Payment:
        """Give what a feature pays to whom as it is now."""
        winners = self.winners(self.figures_in(feature))
        square, first = feature.parts[0]
        if feature.kind == "field":
            points = self._field_points(feature, winners)
        elif feature.kind == "monastery":
            points = self._pay(winners, self.monastery_worth(square))
        else:
            points = self._pay(winners, self.worth(feature))
        return Payment(feature.kind, feature.squares, points, first=first)

    def _field_points(self, meadow: Feature, winners: list[int]) -> list[int]:
        """Give what a field pays (E3)."""
        pigs = {figure.seat for figure in self.figures_in(meadow) if figure.kind == "pig"}
        cities = len(self.bordered_cities(meadow))
        each = {seat: 4 if seat in pigs else 3 for seat in winners}
        return [cities * each.get(seat, 0) for seat in range(self.players)]

    def payments_of_the_end(self) -> list[Payment]:
        """Give what the end pays, or would pay now (E2 to E4); only what pays anything, in order."""
        found = [self.feature_payment(feature) for feature in self._features_with_figures()]
        found += [self._goods_payment(good) for good in GOODS]
        return sorted((payment for payment in found if any(payment.points)), key=Payment.order)

    def _features_with_figures(self) -> list[Feature]:
        """Give each feature in which a figure stands once."""
        found: dict[int, Feature] = {}
        for square, laid in self.tiles.items():
            if laid.figure is not None:
                feature = self.feature(square, laid.figure.segment)
                found[id(feature)] = feature
        return list(found.values())

    def _goods_payment(self, good: str) -> Payment:
        """Give what the majority in a good pays (E4)."""
        most = max(seat.goods[good] for seat in self.seats)
        winners = [number for number, seat in enumerate(self.seats) if seat.goods[good] == most > 0]
        return Payment("goods", [], self._pay(winners, 10), {good: 1})

    # Chance.

    def resolve(self, words: str) -> None:
        """Let chance bring what the words say."""
        if words not in self.chance():
            raise ValueError(f"Chance cannot bring '{words}' in phase {self.phase}.")
        self._options = None
        if self.phase in ("start", "lay"):
            _, tile, _, name, _, turned = words.split()
            self._lay(square_of(name), Laid(tile, int(turned)))
            self._note_set_up()
            self._go_on_with_set_up()
        elif self.phase == "chip":
            self._draw_chip(words.removeprefix("draw "))
        else:
            self._draw_tile(words.split()[1])

    def _lay(self, square: Square, laid: Laid) -> None:
        """Put a tile onto the map."""
        self.tiles[square] = laid
        self.tile = None
        self._features, self._eligible = {}, None

    def _go_on_with_set_up(self) -> None:
        """Go on after a tile of the set-up lies, or did not fit (S4, S5, E1)."""
        if len(self.tiles) == 2 or len(self.map.starts) == 1:
            self._begin_part_turn(0, extra=False)
        elif self.bag.total() == 0:
            self._end()
        else:
            self.phase = "second"

    def _draw_tile(self, tile: str) -> None:
        """Draw a tile; one that fits nowhere is out of the game (G3, S5)."""
        self.bag[tile] -= 1
        second = self.phase == "second"
        if self.starting_places(tile) if second else self.places(tile):
            self.tile, self.phase = tile, "lay" if second else "place"
            return
        self.out[tile] += 1
        if second:
            self._note("S5")
            self._go_on_with_set_up()
        else:
            self._note("G3 B3" if self.extra else "G3")
            self._draw_or_end()

    def _draw_or_end(self) -> None:
        """A tile is to be drawn: the game ends if none is left or no square is eligible (E1)."""
        if self.bag.total() == 0 or not self.eligible_squares():
            self._end()
        else:
            self.phase = "tile"

    def _begin_part_turn(self, seat: int, extra: bool) -> None:
        """Begin a turn, or the extra part of one (S7, B3)."""
        if self.bag.total() == 0 or not self.eligible_squares():
            self._note("B3" if extra else "")
            self._end()
            return
        self.seat, self.extra, self.again = seat, extra, False
        self.phase = "tile"

    def _end(self) -> None:
        """End the game: pay what is unfinished, fields and goods (E1 to E4)."""
        self._note_end()
        self.extra = self.again = False
        self.final = self.payments_of_the_end()
        self.phase = "over"

    def _give_points(self, payment: Payment) -> None:
        for seat, points in zip(self.seats, payment.points, strict=True):
            seat.points += points

    def _draw_chip(self, chip: str) -> None:
        """Give a chip of the supply to the player (H1)."""
        self.supply[chip] -= 1
        self.seats[self.seat].chips[chip] += 1
        self.draws -= 1
        if self.draws == 0:
            self._figure_or_finish()

    # Actions.

    def options(self) -> dict[str, Option]:
        """Give the legal actions: words -> what is done."""
        if self._options is None:
            choose: dict[str, Callable[[], dict[str, Option]]]
            choose = {"place": self._place_options, "figure": self._figure_options, "trade": self._trade_options}
            self._options = choose[self.phase]() if self.phase in choose else {}
        return self._options

    def play(self, words: str) -> None:
        """Do the legal action that the words say."""
        option = self.options().get(words)
        if option is None:
            raise ValueError(f"'{words}' is not legal in phase {self.phase}.")
        self._options = None
        self.events = []
        kind, *rest = option
        do: dict[str, Callable[..., None]] = {
            "place": self._place,
            "put": self._put,
            "no figure": self._finish,
            "trade": self._begin_trade,
            "add": self._add_chip,
            "done": self._end_trade,
        }
        do[kind](*rest)

    def _place_options(self) -> dict[str, Option]:
        """Give the ways to lay the tile (G1, G2)."""
        assert self.tile is not None
        return {
            f"place {self.tile} at {square_name(square)} turned {turned}": ("place", square, turned)
            for square, turned in self.places(self.tile)
        }

    def _place(self, square: Square, turned: int) -> None:
        """Lay the tile: builder (B4), points of a Chumak square (H2), then chips are to be drawn (H1)."""
        assert self.tile is not None
        self._note_place(square, turned)
        self._lay(square, Laid(self.tile, turned))
        self.again = not self.extra and self._builder_extended(square)
        self._note_builder(square)
        self._score_chips(square)
        self.draws = min(self.chips_due(square), self.supply.total())
        self._note_chips(square)
        if self.draws:
            self.phase = "chip"
        else:
            self._figure_or_finish()

    def _builder_extended(self, square: Square) -> bool:
        """Tell whether the tile just laid extends a road or city with the player's builder (B1)."""
        around_tile = (self.feature(square, number) for number in range(len(self.tiles[square].segments())))
        standing = (figure for feature in around_tile for figure in self.figures_in(feature))
        return any(figure.kind == "builder" and figure.seat == self.seat for figure in standing)

    def _score_chips(self, square: Square) -> None:
        """Score the chips that lie on a Chumak square just covered; they go back (H2)."""
        chips = self.lying.pop(square, [])
        if chips:
            self._pay_player("chips", square, sum(int(chip[-1]) for chip in chips))
            self.supply.update(chips)
            self._note("H2")

    def _pay_player(self, kind: str, square: Square, points: int) -> None:
        """Pay the player for chips or a trade at a Chumak square."""
        payment = Payment(kind, [square], self._pay([self.seat], points))
        self._give_points(payment)
        self.events.append(payment)

    def chips_due(self, square: Square) -> int:
        """Count the chips that the tile just laid may draw (H1)."""
        laid = self.tiles[square]
        due = 0
        for edge, letter in enumerate(letters(laid.tile, laid.turned)):
            if next_to(square, edge) in self.lying:
                due += 2 if letter == "R" else 1
        return due

    def _figure_or_finish(self) -> None:
        """Let the player put a figure or trade, if that is possible."""
        self.phase = "figure"
        if list(self._figure_options()) == ["no figure"]:
            self._note("G4")
            self._finish()

    def last_square(self) -> Square:
        """Give the square of the tile just laid."""
        return next(reversed(self.tiles))

    def _figure_options(self) -> dict[str, Option]:
        """Give the figures that can be put, and the squares at which a trade can begin (F1 to F6, H4, H5)."""
        square = self.last_square()
        found: dict[str, Option] = {}
        for kind in FIGURES:
            for number, segment in enumerate(self.tiles[square].segments()):
                if self.seats[self.seat].home[kind] and self._may_stand(kind, self.feature(square, number)):
                    found[f"{kind} on {segment.name()}"] = ("put", kind, number)
        found["no figure"] = ("no figure",)
        if self.seats[self.seat].chips.total():
            for place, chips in self.lying.items():
                if len(chips) < PLACES:
                    found[f"trade at {square_name(place)}"] = ("trade", place)
        return found

    def _may_stand(self, kind: str, feature: Feature) -> bool:
        """Tell whether the player may put such a figure into a feature (F2, F5, F6)."""
        standing = self.figures_in(feature)
        if kind in ("meeple", "large meeple"):
            return not standing
        own = any(figure.seat == self.seat and STRENGTH[figure.kind] for figure in standing)
        if kind == "builder":
            return own and feature.kind in ("road", "city") and not feature.complete
        return own and feature.kind == "field"

    def _put(self, kind: str, number: int) -> None:
        """Put a figure on the tile just laid (F1)."""
        self.seats[self.seat].home[kind] -= 1
        self.tiles[self.last_square()].figure = Figure(self.seat, kind, number)
        self._note("F1 " + {"builder": "F5", "pig": "F6"}.get(kind, "F2"))
        self._finish()

    def _begin_trade(self, square: Square) -> None:
        """Choose where to trade (H4)."""
        self.trade = square, []
        self.phase = "trade"

    def _chips_to_follow(self) -> list[str]:
        """Give the chips that can be added to the trade (H4 to H6)."""
        assert self.trade is not None
        square, added = self.trade
        if len(self.lying[square]) == PLACES or len(added) == PLACES:
            return []
        mine = [chip for chip in CHIPS if self.seats[self.seat].chips[chip]]
        if not added:
            return mine
        return [chip for chip in mine if CHIPS.index(chip) >= CHIPS.index(added[-1]) and self.match(added[0], chip)]

    def match(self, one: str, other: str) -> bool:
        """Tell whether two chips match (H6)."""
        how = self.params["chip_match"]
        return how == "any" or one == other or (how == "colour" and one[:-2] == other[:-2])

    def _trade_options(self) -> dict[str, Option]:
        """Give the ways to go on with a trade."""
        assert self.trade is not None
        found: dict[str, Option] = {f"add {chip}": ("add", chip) for chip in self._chips_to_follow()}
        return found | ({"done": ("done",)} if self.trade[1] else {})

    def _add_chip(self, chip: str) -> None:
        """Put a chip onto the Chumak square; the trade ends by itself when none can follow."""
        assert self.trade is not None
        square, added = self.trade
        self.seats[self.seat].chips[chip] -= 1
        self._note("H5" if len(self.lying[square]) > len(added) else "")
        self.lying[square].append(chip)
        added.append(chip)
        if not self._chips_to_follow():
            self._end_trade()

    def _end_trade(self) -> None:
        """Pay for the trade (H4)."""
        assert self.trade is not None
        square, added = self.trade
        self._pay_player("trade", square, TRADE_POINTS[len(added)])
        self.trade = None
        self._note("H4 " + ("H6" if len(added) > 1 else ""))
        self._finish()

    # The end of a part-turn.

    def _finish(self) -> None:
        """Score what the tile just laid has completed; the extra part-turn or the next player follows (P1, B1)."""
        square = self.last_square()
        for feature in self.completed_by(square):
            self._score(feature)
        if self.again:
            self._begin_part_turn(self.seat, extra=True)
        else:
            self._note("S7")
            self._begin_part_turn((self.seat + 1) % self.players, extra=False)

    def completed_by(self, square: Square) -> list[Feature]:
        """Give the features that the tile on a square has completed: its roads and cities, monasteries near it."""
        mine = [self.feature(square, number) for number in range(len(self.tiles[square].segments()))]
        found = {id(feature): feature for feature in mine if feature.kind in ("road", "city") and feature.complete}
        for place in [square, *around(square)]:
            if self._is_monastery(place) and self.monastery_full(place):
                feature = self.feature(place, 0)
                found[id(feature)] = feature
        return list(found.values())

    def _is_monastery(self, square: Square) -> bool:
        return square in self.tiles and self.tiles[square].segments()[0].kind == "monastery"

    def _score(self, feature: Feature) -> None:
        """Score a completed feature: points, goods, the figures come home (P1, T1)."""
        payment = self.feature_payment(feature)
        if self.full:
            payment.goods = {good: feature.goods[good] for good in GOODS if feature.goods[good]}
            self.seats[self.seat].goods.update(payment.goods)
        self._give_points(payment)
        self._note_score(feature, payment)
        if any(payment.points) or payment.goods:
            self.events.append(payment)
        for square, number in feature.parts:
            figure = self.figure_on(square, number)
            if figure is not None:
                self.seats[figure.seat].home[figure.kind] += 1
                self.tiles[square].figure = None

    # Counting: which clauses mattered. Nothing below changes the game.

    def _note(self, ids: str) -> None:
        """Count the clauses with these ids, if counting is on."""
        if self.count:
            self.clauses.update(ids.split())

    def _note_set_up(self) -> None:
        """Count the clauses of a tile of the set-up that lies now."""
        if not self.count:
            return
        square = self.last_square()
        done = [feature for feature in self.completed_by(square) if feature.goods]
        near_chumak = any(next_to(square, edge) in self.lying for edge in range(4))
        self._note("S4 " + ("S6" if done or near_chumak else ""))

    def _note_place(self, square: Square, turned: int) -> None:
        """Count the clauses of a placement, before the tile lies."""
        if not self.count:
            return
        assert self.tile is not None
        others = [next_to(square, edge) for edge in range(4)]
        by_tile = any(other in self.tiles for other in others)
        large = {self.map.large[other] for other in others if other in self.map.large}
        self._note("G1 " + ("G2" if len(rotations(self.tile)) < 4 else ""))
        self._note("M2 M6" if large else "")
        self._note("M3" if any((square, edge) in self.map.borders for edge in range(4)) else "")
        self._note("M7" if not by_tile or any(self.connected(city) for city in large) else "")
        eligible = set(self.eligible_squares())
        printed = {place for place, _ in self.map.borders} - set(self.tiles) - eligible
        self._note("M5" if self._ways(self.tile, printed) else "")

    def _note_builder(self, square: Square) -> None:
        """Count the clauses of a builder whose feature the tile just laid extends."""
        if not self.count or not self._builder_extended(square):
            return
        self._note("B1" if self.again else "B2")
        mine = [feature for feature in self.completed_by(square) if feature.kind in ("city", "road")]
        at_home = any(f.kind == "builder" and f.seat == self.seat for feature in mine for f in self.figures_in(feature))
        self._note("B4" if self.again and at_home else "")

    def _note_chips(self, square: Square) -> None:
        """Count the clauses of chips that are to be drawn."""
        due = self.chips_due(square)
        self._note("H1 G4 H3" if due else "")

    def _note_score(self, feature: Feature, payment: Payment) -> None:
        """Count the clauses of a completed feature, while its figures still stand there."""
        if not self.count:
            return
        standing = self.figures_in(feature)
        clause = {"road": "P1 P2", "city": "P1 P3", "monastery": "P5"}[feature.kind]
        self._note(clause if standing else "P6")
        self._note("F3" if standing else "")
        self._note("F4" if self._large_matters(standing) else "")
        self._note("F7" if any(not STRENGTH[figure.kind] for figure in standing) else "")
        printed = feature.inn or feature.cathedral
        self._note("P4" if printed and self.full and standing else "")
        self._note("X1" if not self.full and (printed and standing or feature.goods) else "")
        self._note("T1" if payment.goods else "")
        self._note("M4" if self._touches_border(feature) else "")

    def _large_matters(self, standing: list[Figure]) -> bool:
        """Tell whether somebody else would win if large meeples were small."""
        small = [replace(figure, kind="meeple") for figure in standing if STRENGTH[figure.kind]]
        return self.winners(small) != self.winners(standing)

    def _touches_border(self, feature: Feature) -> bool:
        """Tell whether an edge of a road or city lies at the border."""
        return any(
            not self.map.exists(next_to(square, edge))
            for square, number in feature.parts
            for edge in self.tiles[square].segments()[number].edges
        )

    def _note_end(self) -> None:
        """Count the clauses of the end."""
        if not self.count:
            return
        self._note("E1 E5")
        for payment in self.payments_of_the_end():
            self._note({"field": "E3", "goods": "E4"}.get(payment.kind, "E2"))
        self._note("H7" if any(seat.chips.total() for seat in self.seats) else "")


def new_reference(params: dict[str, Any], struct: dict[str, Any] | None = None) -> Ukraine:
    """Make a new game, or the one of a struct: what the differential tests ask every reference for."""
    return Ukraine(params) if struct is None else Ukraine.from_struct(struct)
