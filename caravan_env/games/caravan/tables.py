"""Goods and boards as named data, and the reading and checking of board files."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any, Self

from caravan_env.core.errors import BadParams, nearest

SIZE = 7
CELLS = SIZE * SIZE
SPACES = 8

#: Kinds of goods in the order used everywhere; the first four are common, the others rare (RULES M3).
GOODS = ("meat", "swords", "salt", "hides", "ivory", "cloth", "gems", "paper")
COMMON = 4
VALUE = (3, 3, 3, 3, 6, 6, 6, 6)
FULL_SUPPLY = (9, 9, 9, 9, 3, 3, 3, 3)
SHORT_SUPPLY = (6, 6, 6, 6, 2, 2, 2, 2)
#: Index of the spaces that start with a demand marker: 1, 2, 7, 8 (RULES S4).
OUTER_SPACES = (0, 1, 6, 7)
#: Points lost for 0, 1, 2, ... goods still carried (RULES E3).
CARRYING_PENALTY = (0, 0, 1, 3, 6, 10, 15)

CELL_NAMES = tuple(f"{column}{row}" for row in range(1, SIZE + 1) for column in "abcdefg")

SHIPPED_BOARDS = ("symmetric", "pinwheel", "diagonal")


def cell_name(cell: int) -> str:
    """Return the name of a cell 0..48: column letter, then row number from the top."""
    return CELL_NAMES[cell]


def cell_number(name: str) -> int:
    """Return the cell 0..48 of a name: the inverse of `cell_name`."""
    return CELL_NAMES.index(name)


@dataclasses.dataclass(frozen=True)
class Board:
    """Where the goods spaces and the cities are (RULES B1).

    Attributes:
        name: shown with every result.
        mark: where the positions come from, for example "reconstruction".
        sources: cells (row * 7 + column) of the goods spaces 1 to 8.
        cities: cells of the cities, in the order of GOODS.
    """

    name: str
    mark: str
    sources: tuple[int, ...]
    cities: tuple[int, ...]

    @classmethod
    def from_mapping(cls, struct: Mapping[str, Any]) -> Self:
        """Make a board from the contents of a board file.

        Raises:
            BadParams: something is missing, repeated, unknown, off the grid or on a cell twice; names the field.
        """
        _check_keys("the board", struct, required=("name", "sources", "cities"), optional=("mark",))
        name, mark = struct["name"], struct.get("mark", "user's board")
        for field, value in (("name", name), ("mark", mark)):
            if not isinstance(value, str) or not value:
                raise BadParams(f"board field {field!r} must be a text, not {value!r}")
        numbers = tuple(str(k) for k in range(1, SPACES + 1))
        taken: dict[int, str] = {}
        sources = _read_cells("sources", struct["sources"], numbers, taken)
        cities = _read_cells("cities", struct["cities"], GOODS, taken)
        return cls(name, mark, sources, cities)

    def to_json(self) -> str | dict[str, Any]:
        """Return the name of a shipped board, or the whole board as a mapping."""
        if self.name in SHIPPED_BOARDS and self == load_board(self.name):
            return self.name
        return self.to_mapping()

    def to_mapping(self) -> dict[str, Any]:
        """Return the contents of a board file: the inverse of `from_mapping`."""
        return {
            "name": self.name,
            "mark": self.mark,
            "sources": {str(k + 1): list(divmod(cell, SIZE)) for k, cell in enumerate(self.sources)},
            "cities": {good: list(divmod(cell, SIZE)) for good, cell in zip(GOODS, self.cities, strict=True)},
        }


def load_board(board: str | Path | Mapping[str, Any] | Board) -> Board:
    """Return a board from the name of a shipped one, the path of a JSON file, or a mapping.

    Raises:
        BadParams: no such board or file, or a malformed one.
    """
    if isinstance(board, Board):
        return board
    if isinstance(board, Mapping):
        return Board.from_mapping(board)
    if isinstance(board, Path):
        board = str(board)
    if not isinstance(board, str):
        raise BadParams(f"board = {board!r} is not possible: it is a shipped board's name, a file, or a mapping")
    if board in SHIPPED_BOARDS:
        return _shipped_board(board)
    try:
        if not Path(board).is_file():
            hint = nearest(board, SHIPPED_BOARDS)
            raise BadParams(f"there is no board or board file {board!r}: {hint}, or a file")
        text = Path(board).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadParams(f"board file {board} cannot be read: {error}") from error
    return Board.from_mapping(_parse(text, board))


@functools.cache
def _shipped_board(name: str) -> Board:
    source = resources.files(__package__) / "boards" / f"{name}.json"
    return Board.from_mapping(_parse(source.read_text(encoding="utf-8"), name))


def _parse(text: str, where: str) -> Mapping[str, Any]:
    try:
        struct = json.loads(text, object_pairs_hook=_no_repeats)
    except BadParams:
        raise
    except (ValueError, RecursionError) as error:
        raise BadParams(f"board file {where} is no JSON: {error}") from error
    if not isinstance(struct, Mapping):
        raise BadParams(f"board file {where} must hold an object with name, sources and cities")
    return struct


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    struct: dict[str, Any] = {}
    for key, value in pairs:
        if key in struct:
            raise BadParams(f"board field {key!r} is given twice")
        struct[key] = value
    return struct


def _check_keys(what: str, struct: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    if not isinstance(struct, Mapping):
        raise BadParams(f"{what} must be an object with {', '.join(required)}, not {struct!r}")
    for key in struct:
        if key not in (*required, *optional):
            raise BadParams(f"{what} has an unknown field {key!r}: {nearest(str(key), (*required, *optional))}")
    for key in required:
        if key not in struct:
            raise BadParams(f"{what} lacks the field {key!r}; it needs {', '.join(required)}")


def _read_cells(field: str, struct: Any, names: tuple[str, ...], taken: dict[int, str]) -> tuple[int, ...]:
    _check_keys(f"board field {field!r}", struct, required=names)
    return tuple(_read_cell(f"{field}.{name}", struct[name], taken) for name in names)


def _read_cell(field: str, place: Any, taken: dict[int, str]) -> int:
    whole = isinstance(place, list | tuple) and len(place) == 2 and all(type(x) is int for x in place)
    if not whole or not all(0 <= x < SIZE for x in place):
        raise BadParams(f"board field {field!r} must be [row, column], both from 0 to {SIZE - 1}, not {place!r}")
    cell = place[0] * SIZE + place[1]
    if cell in taken:
        raise BadParams(f"board field {field!r} lies on the same cell {list(place)} as {taken[cell]!r}")
    taken[cell] = field
    return cell
