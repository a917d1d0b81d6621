"""Tiles and maps as named data, the sizes that the rules fix, and the reading and checking of map files."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, Self

from caravan_env.core.errors import BadParams, nearest

#: Most columns and rows of a map (RULES M1).
SIZE = 20
SQUARES = SIZE * SIZE
COLUMNS = "ABCDEFGHIJKLMNOPQRST"
SQUARE_NAMES = tuple(f"{column}{row}" for row in range(1, SIZE + 1) for column in COLUMNS)
_SQUARE_NUMBERS = {name: number for number, name in enumerate(SQUARE_NAMES)}

EDGES = "NESW"
#: Names of the half edges, clockwise from the western half of the north edge.
HALF_EDGES = ("NNW", "NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW")
#: What to add to row and column to come to the neighbour at each edge.
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))

START_TILE = "B-D"
SETS = ("base", "inns", "traders")
#: Meeples of each player on a map and on the plane (RULES S1).
MEEPLES_ON_MAP = 9
MEEPLES_ON_PLANE = 7
FIGURES = ("meeple", "large meeple", "builder", "pig")
GOODS = ("wine", "grain", "cloth")
#: Chips, and of each the copies and the number on it (RULES S8).
CHIPS = tuple(f"{colour} {number}" for colour in ("purple", "light blue", "orange") for number in (1, 2))
CHIP_COPIES = (6, 4) * 3
CHIP_VALUES = (1, 2) * 3
#: Places of a Chumak square, and points for 0 to 4 traded chips (RULES H4, H5).
CHIP_PLACES = 4
TRADE_POINTS = (0, 1, 3, 6, 10)

MAX_SEGMENTS = 8
MAX_STARTS = 4
MAX_CHUMAK = 16
MAX_CITIES = 6
MAX_SHIELDS = 20

SHIPPED_MAPS = ("ukraine", "plane")


def square_name(square: int) -> str:
    """Return the name of a square 0..399: column letter, then row number from the top."""
    return SQUARE_NAMES[square]


def square_number(name: str) -> int:
    """Return the square 0..399 of a name: the inverse of `square_name`.

    Raises:
        KeyError: there is no such square.
    """
    return _SQUARE_NUMBERS[name]


def neighbour(square: int, edge: int) -> int:
    """Return the square at an edge (0 to 3 for N, E, S, W) of another one, -1 if the grid ends there."""
    row, column = square // SIZE + STEPS[edge][0], square % SIZE + STEPS[edge][1]
    return row * SIZE + column if 0 <= row < SIZE and 0 <= column < SIZE else -1


# -------------------------------------------------------------------------------------------------------------- tiles


class City(NamedTuple):
    """A city of a tile: the edges it touches, its shields, whether it has a cathedral, its goods or None."""

    edges: tuple[int, ...]
    shields: int
    cathedral: bool
    goods: str | None


class Road(NamedTuple):
    """A road of a tile: the one edge or two that it touches, and whether an inn stands at it."""

    edges: tuple[int, ...]
    inn: bool


class Field(NamedTuple):
    """A field of a tile: the half edges it touches, and which cities of the tile (as numbers) it borders."""

    half_edges: tuple[int, ...]
    cities: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Tile:
    """A tile, not turned; a quarter turn clockwise takes edge e to e + 1 and half edge h to h + 2.

    Attributes:
        id: its name in the catalogue, for example `B-D`.
        set: "base", "inns" or "traders".
        copies: how many there are.
        edges: four letters for N, E, S, W: C city, R road, F field.
        monastery: whether it has one.
        cities: in the order of the catalogue, as are roads and fields.
        roads: those that touch an edge; all do.
        fields: those that touch no edge have no half edges.
    """

    id: str
    set: str
    copies: int
    edges: str
    monastery: bool
    cities: tuple[City, ...]
    roads: tuple[Road, ...]
    fields: tuple[Field, ...]

    @functools.cached_property
    def segments(self) -> tuple[tuple[str, int], ...]:
        """The segments in the order of their numbers, as (kind, index in its list)."""
        kinds = {"monastery": (0,) * self.monastery, "city": self.cities, "road": self.roads, "field": self.fields}
        return tuple((kind, k) for kind, parts in kinds.items() for k in range(len(parts)))

    @functools.cached_property
    def rotations(self) -> int:
        """How many of the rotations 0, 1, 2, 3 are told apart, from 0 on: 1, 2 or 4 (RULES G2)."""
        return next(k for k in (1, 2, 4) if self._looks(k) == self._looks(0))

    def _looks(self, turned: int) -> tuple[object, ...]:
        """Return all that is printed on the tile after `turned` quarter turns, in an order of its own."""
        cities = [(_turn(city.edges, turned, 4), city[1:]) for city in self.cities]
        roads = [(_turn(road.edges, turned, 4), road.inn) for road in self.roads]
        fields = [
            (_turn(field.half_edges, 2 * turned, 8), sorted(cities[k] for k in field.cities)) for field in self.fields
        ]
        return self.monastery, sorted(cities, key=repr), sorted(roads), sorted(fields)


def _turn(places: Iterable[int], steps: int, around: int) -> tuple[int, ...]:
    return tuple(sorted((place + steps) % around for place in places))


def edge_at(tile: Tile, edge: int, turned: int) -> str:
    """Return what is at an edge (0 to 3 for N, E, S, W) of a turned tile: C, R or F."""
    return tile.edges[(edge - turned) % 4]


def segment_name(tile: Tile, segment: int, turned: int) -> str:
    """Return the name of a segment of a turned tile, as in docs/formats-ukraine.md."""
    kind, k = tile.segments[segment]
    if kind == "monastery":
        return kind
    if kind == "field":
        places = [HALF_EDGES[half] for half in _turn(tile.fields[k].half_edges, 2 * turned, 8)]
        return " ".join([kind, *(places or ["inside"])])
    edges = tile.cities[k].edges if kind == "city" else tile.roads[k].edges
    return " ".join([kind, *(EDGES[edge] for edge in _turn(edges, turned, 4))])


def load_tiles(text: str) -> tuple[Tile, ...]:
    """Read the contents of the catalogue."""
    return tuple(map(_read_tile, json.loads(text)["tiles"]))


def _read_tile(struct: Mapping[str, Any]) -> Tile:
    cities = tuple(City(tuple(c["edges"]), c["shields"], c["cathedral"], c["goods"]) for c in struct["cities"])
    roads = tuple(Road(tuple(r["edges"]), r["inn"]) for r in struct["roads"])
    fields = tuple(Field(tuple(f["half_edges"]), tuple(f["cities"])) for f in struct["fields"])
    return Tile(
        struct["id"], struct["set"], struct["copies"], struct["edges"], struct["monastery"], cities, roads, fields
    )


TILES = load_tiles((resources.files(__package__) / "tiles.json").read_text(encoding="utf-8"))
TILE_NUMBERS = {tile.id: number for number, tile in enumerate(TILES)}

# --------------------------------------------------------------------------------------------------------------- maps

VOID, PLAYABLE, START, CHUMAK, TOWN = ".", "o", "S", "C", "T"
_DIGITS = "123456"
_LETTERS = VOID + PLAYABLE + START + CHUMAK + TOWN + _DIGITS
#: What a map file may print at an outer edge, and the letter of an edge that matches it (RULES M3).
BORDERS = {"road": "R", "city": "C"}
_BORDER_NAMES = {letter: name for name, letter in BORDERS.items()}
_EXAMPLE = "a square and an edge such as 'C1 N'"


@dataclasses.dataclass(frozen=True)
class Map:
    """A map (RULES M1 to M7), checked when it is made.

    Attributes:
        name: shown with every picture and result.
        mark: where it comes from, for example "reconstruction".
        rows: a letter per square, as in a map file.
        cities: digit 1 to 6 -> (name, shields) of the large cities.
        towns: square -> name of town squares.
        borders: (square, edge 0 to 3) -> "R" or "C", what is printed at outer edges.
    """

    name: str
    mark: str
    rows: tuple[str, ...]
    cities: Mapping[int, tuple[str, int]] = dataclasses.field(default_factory=dict, hash=False)
    towns: Mapping[int, str] = dataclasses.field(default_factory=dict, hash=False)
    borders: Mapping[tuple[int, int], str] = dataclasses.field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _check_numbers(self)
        _check_cities(self)
        _check_towns(self)
        _check_borders(self)
        _check_together(self)
        _check_start(self)

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.rows)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0])

    @functools.cached_property
    def letters(self) -> dict[int, str]:
        """Square -> its letter, for all squares that are not void, in the order of squares."""
        return {
            row * SIZE + column: letter
            for row, letters in enumerate(self.rows)
            for column, letter in enumerate(letters)
            if letter != VOID
        }

    @functools.cached_property
    def playable(self) -> tuple[int, ...]:
        """The squares that tiles may lie on, in their order (RULES M2)."""
        return tuple(square for square, letter in self.letters.items() if letter not in _DIGITS)

    @functools.cached_property
    def starts(self) -> tuple[int, ...]:
        """The start squares, in their order."""
        return self._squares(START)

    @functools.cached_property
    def chumak(self) -> tuple[int, ...]:
        """The Chumak squares, in their order."""
        return self._squares(CHUMAK)

    @functools.cached_property
    def city_squares(self) -> dict[int, tuple[int, ...]]:
        """Digit -> the squares of that large city."""
        return {digit: self._squares(str(digit)) for digit in self.cities}

    def _squares(self, letter: str) -> tuple[int, ...]:
        return tuple(square for square, other in self.letters.items() if other == letter)

    def is_playable(self, square: int) -> bool:
        """Return whether tiles may lie on a square; -1 for none is allowed."""
        return self.letters.get(square, _DIGITS) not in _DIGITS

    def city_of(self, square: int) -> int:
        """Return the digit of the large city that a square is part of, 0 if it is part of none; -1 is allowed."""
        letter = self.letters.get(square, VOID)
        return int(letter) if letter in _DIGITS else 0

    def printed(self, square: int, edge: int) -> str:
        """Return what must be matched at an edge of a playable square before any tile lies: "R", "C" or ""."""
        if self.city_of(neighbour(square, edge)):
            return "C"
        return self.borders.get((square, edge), "")

    @classmethod
    def from_mapping(cls, struct: Mapping[str, Any]) -> Self:
        """Make a map from the contents of a map file.

        Raises:
            BadParams: something is missing, unknown or misplaced; the sentence names row and column, or the field.
        """
        _check_keys("the map", struct, ("name", "rows"), ("mark", "cities", "towns", "borders"))
        rows = _read_rows(struct["rows"])
        towns = _read_table("towns", struct)
        return cls(
            _read_text("map field 'name'", struct["name"]),
            _read_text("map field 'mark'", struct.get("mark", "user's map")),
            rows,
            dict(_read_city(digit, city) for digit, city in _read_table("cities", struct).items()),
            {_read_square("town", key): _read_text(f"the name of town {key}", name) for key, name in towns.items()},
            dict(_read_border(key, value) for key, value in _read_table("borders", struct).items()),
        )

    def to_json(self) -> str | dict[str, Any]:
        """Return the name of a shipped map, or the whole map as a mapping."""
        return next((name for name in SHIPPED_MAPS if self == load_map(name)), None) or self.to_mapping()

    def to_mapping(self) -> dict[str, Any]:
        """Return the contents of a map file: the inverse of `from_mapping`."""
        borders = self.borders.items()
        return {
            "name": self.name,
            "mark": self.mark,
            "rows": list(self.rows),
            "cities": {str(digit): {"name": name, "shields": n} for digit, (name, n) in self.cities.items()},
            "towns": {square_name(square): name for square, name in self.towns.items()},
            "borders": {f"{square_name(at)} {EDGES[edge]}": _BORDER_NAMES[what] for (at, edge), what in borders},
        }


def load_map(value: str | Path | Mapping[str, Any] | Map) -> Map:
    """Return a map from the name of a shipped one, the path of a TOML file, a mapping, or a map.

    Raises:
        BadParams: no such map or file, or a malformed one.
    """
    if isinstance(value, Map):
        return value
    if isinstance(value, Mapping):
        return Map.from_mapping(value)
    if not isinstance(value, str | Path):
        raise BadParams(f"map = {value!r} is not possible: it is a shipped map's name, a file, or a mapping")
    return _shipped(value) if value in SHIPPED_MAPS else _load_file(str(value))


@functools.cache
def _shipped(name: str) -> Map:
    source = resources.files(__package__) / "maps" / f"{name}.toml"
    return Map.from_mapping(tomllib.loads(source.read_text(encoding="utf-8")))


def _load_file(path: str) -> Map:
    if "\0" in path or not Path(path).is_file():
        raise BadParams(f"there is no map or map file {path!r}: {nearest(path, SHIPPED_MAPS)}, or a file")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"map file {path} cannot be read: {error}") from error
    try:
        struct = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadParams(f"map file {path} is no TOML: {error}") from error
    return Map.from_mapping(struct)


# ----------------------------------------------------------------------------------------------- reading of map files


def _check_keys(what: str, struct: Any, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    if not isinstance(struct, Mapping):
        raise BadParams(f"{what} must be a table with {', '.join(required)}, not {struct!r}")
    for key in struct:
        if key not in (*required, *optional):
            raise BadParams(f"{what} has an unknown field {key!r}: {nearest(str(key), (*required, *optional))}")
    for key in required:
        if key not in struct:
            raise BadParams(f"{what} lacks the field {key!r}; it needs {', '.join(required)}")


def _read_text(what: str, value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= 60 or not value.isprintable():
        raise BadParams(f"{what} must be a text of 1 to 60 characters in one line, not {value!r}")
    return value


def _read_table(field: str, struct: Mapping[str, Any]) -> Mapping[str, Any]:
    table = struct.get(field, {})
    if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table):
        raise BadParams(f"map field {field!r} must be a table, not {table!r}")
    return table


def _read_rows(rows: Any) -> tuple[str, ...]:
    if not isinstance(rows, list | tuple) or not 1 <= len(rows) <= SIZE:
        raise BadParams(f"map field 'rows' must be a list of 1 to {SIZE} texts, not {rows!r}")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, str) or not 1 <= len(row) <= SIZE:
            raise BadParams(f"row {number} of the map must be a text of 1 to {SIZE} characters, not {row!r}")
        if len(row) != len(rows[0]):
            raise BadParams(f"row {number} of the map has {len(row)} squares where row 1 has {len(rows[0])}")
        for column, letter in zip(COLUMNS, row, strict=False):
            if letter not in _LETTERS:
                raise BadParams(f"the map has {letter!r} in row {number}, column {column}; allowed are {_LETTERS}")
    return tuple(rows)


def _read_square(what: str, name: str) -> int:
    if name not in _SQUARE_NUMBERS:
        raise BadParams(f"{what} {name!r} of the map is no square: a letter A to T and a number 1 to {SIZE}, as H7")
    return square_number(name)


def _read_city(digit: str, struct: Any) -> tuple[int, tuple[str, int]]:
    if len(digit) != 1 or digit not in _DIGITS:
        raise BadParams(f"the map has a large city {digit!r}; they are numbered 1 to {MAX_CITIES}")
    _check_keys(f"large city {digit}", struct, ("name", "shields"))
    shields = struct["shields"]
    if type(shields) is not int or not 0 <= shields <= MAX_SHIELDS:
        raise BadParams(f"large city {digit} must have 0 to {MAX_SHIELDS} shields, not {shields!r}")
    return int(digit), (_read_text(f"the name of large city {digit}", struct["name"]), shields)


def _read_border(key: str, value: Any) -> tuple[tuple[int, int], str]:
    found = re.fullmatch(r"(\w+) ([NESW])", key)
    if found is None:
        raise BadParams(f"border {key!r} of the map must be {_EXAMPLE}")
    if not isinstance(value, str) or value not in BORDERS:
        raise BadParams(f"border {key!r} of the map must be 'road' or 'city', not {value!r}")
    return (_read_square("border", found[1]), EDGES.index(found[2])), BORDERS[value]


# ------------------------------------------------------------------------------------------------------ checks of maps


def _place(square: int) -> str:
    return f"row {square // SIZE + 1}, column {COLUMNS[square % SIZE]}"


def _check_numbers(board: Map) -> None:
    if not 1 <= len(board.starts) <= MAX_STARTS:
        where = f"; one too many is in {_place(board.starts[MAX_STARTS])}" if board.starts else ""
        raise BadParams(f"a map has 1 to {MAX_STARTS} start squares S, not {len(board.starts)}{where}")
    if len(board.chumak) > MAX_CHUMAK:
        where = _place(board.chumak[MAX_CHUMAK])
        raise BadParams(f"a map has at most {MAX_CHUMAK} Chumak squares C; one too many is in {where}")


def _check_cities(board: Map) -> None:
    for square, letter in board.letters.items():
        if letter in _DIGITS and int(letter) not in board.cities:
            raise BadParams(f"the map has a large city {letter} in {_place(square)} but no table cities.{letter}")
    for digit, squares in board.city_squares.items():
        if not squares:
            raise BadParams(f"the map has a table cities.{digit} but no square {digit}")
        apart = set(squares) - _reach(squares[0], squares)
        if apart:
            raise BadParams(f"large city {digit} does not hang together: {_place(min(apart))} is apart from the rest")
        _check_city_edges(board, digit, squares)


def _check_city_edges(board: Map, digit: int, squares: Sequence[int]) -> None:
    beside = [(square, neighbour(square, edge)) for square in squares for edge in range(4)]
    for square, other in beside:
        if board.city_of(other) not in (0, digit):
            raise BadParams(f"large city {digit} touches large city {board.city_of(other)} in {_place(square)}")
    if not any(board.is_playable(other) for _, other in beside):
        raise BadParams(f"large city {digit} in {_place(squares[0])} has no edge to a playable square")


def _check_towns(board: Map) -> None:
    for square in board.towns:
        if board.letters.get(square) != TOWN:
            raise BadParams(f"the map names a town in {_place(square)}, which is no town square T")


def _check_borders(board: Map) -> None:
    for square, edge in board.borders:
        if not board.is_playable(square):
            raise BadParams(f"the map has a border in {_place(square)}, edge {EDGES[edge]}: no tile can lie there")
        if neighbour(square, edge) in board.letters:
            raise BadParams(f"the map has a border in {_place(square)}, edge {EDGES[edge]}, which is no outer edge")


def _check_together(board: Map) -> None:
    apart = board.letters.keys() - _reach(board.starts[0], board.letters)
    if apart:
        raise BadParams(f"the map does not hang together: {_place(min(apart))} cannot be reached from a start square")


def _reach(start: int, squares: Iterable[int]) -> set[int]:
    """Return which squares can be reached from one of them over edges."""
    left, found = set(squares), [start]
    for square in found:
        left.discard(square)
        beside = [other for edge in range(4) if (other := neighbour(square, edge)) in left]
        left.difference_update(beside)
        found += beside
    return set(found)


def _check_start(board: Map) -> None:
    tile = TILES[TILE_NUMBERS[START_TILE]]
    if not any(_fits(board, tile, square, turned) for square in board.starts for turned in range(tile.rotations)):
        where = _place(board.starts[0])
        raise BadParams(f"the start tile {START_TILE} fits on no start square, for what is printed around {where}")


def _fits(board: Map, tile: Tile, square: int, turned: int) -> bool:
    return all(board.printed(square, edge) in ("", edge_at(tile, edge, turned)) for edge in range(4))
