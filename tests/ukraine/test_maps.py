"""Maps: the shipped ones are as the rules describe them, others are read, checked and refused in words (M1 to M7)."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from caravan_env.core.errors import BadParams
from caravan_env.games.ukraine import tables
from caravan_env.games.ukraine.tables import Map, load_map, neighbour, square_name, square_number

FORMATS = Path(__file__).parents[2] / "docs" / "formats-ukraine.md"
Change = Callable[[dict[str, Any]], Any]


def documented() -> str:
    """Return the map file that the document on formats shows."""
    text = FORMATS.read_text(encoding="utf-8")
    return text.split("```toml\n")[1].split("```")[0]


def small() -> dict[str, Any]:
    return {
        "name": "Small",
        "mark": "invented",
        "rows": [".Soo1.", "ooCo11", "oToooo"],
        "cities": {"1": {"name": "Kyiv", "shields": 2}},
        "towns": {"B3": "Rivne"},
        "borders": {"C1 N": "road", "A2 W": "city", "F3 E": "road"},
    }


def beside(squares: tuple[int, ...]) -> set[int]:
    return {neighbour(square, edge) for square in squares for edge in range(4)}


class TestUkraine:
    board = load_map("ukraine")

    def test_is_marked_as_a_reconstruction(self) -> None:
        assert (self.board.name, self.board.mark) == ("Ukraine", "reconstruction")

    def test_has_room_for_the_tiles(self) -> None:
        assert 112 <= len(self.board.playable) <= 122
        assert (self.board.width, self.board.height) == (19, 12)

    def test_has_three_start_squares_apart_from_each_other(self) -> None:
        starts = self.board.starts
        assert len(starts) == 3
        assert not beside(starts) & {*starts, *self.board.chumak}
        assert not any(self.board.printed(square, edge) for square in starts for edge in range(4))

    def test_has_eight_chumak_squares_apart_from_each_other(self) -> None:
        assert len(self.board.chumak) == 8
        assert not beside(self.board.chumak) & set(self.board.chumak)

    def test_has_three_large_cities_with_many_open_edges(self) -> None:
        assert [name for name, _ in self.board.cities.values()] == ["Kyiv", "Lviv", "Odesa"]
        assert [shields for _, shields in self.board.cities.values()] == [4, 2, 2]
        assert [len(squares) for squares in self.board.city_squares.values()] == [3, 2, 2]
        for squares in self.board.city_squares.values():
            around = [neighbour(square, edge) for square in squares for edge in range(4)]
            assert sum(map(self.board.is_playable, around)) >= 4

    def test_crimea_hangs_on_a_narrow_neck(self) -> None:
        rows = list(self.board.rows)
        rows[9] = rows[9].replace("C", ".")
        with pytest.raises(BadParams, match="row 11, column L cannot be reached"):
            Map.from_mapping(self.board.to_mapping() | {"rows": rows})

    def test_borders_and_towns(self) -> None:
        assert sorted(self.board.borders.values()) == ["C"] * 3 + ["R"] * 6
        assert self.board.borders[square_number("O4"), 0] == "R"
        assert self.board.towns[square_number("O4")] == "Kharkiv"
        towns = [square for square, letter in self.board.letters.items() if letter == "T"]
        assert towns == sorted(self.board.towns)


def test_the_plane_is_empty_with_a_start_in_the_middle() -> None:
    board = load_map("plane")
    assert len(board.playable) == tables.SQUARES
    assert [square_name(square) for square in board.starts] == ["K11"]
    assert not (board.chumak or board.cities or board.borders or board.towns)


def test_what_a_map_says_of_its_squares() -> None:
    board = load_map(small())
    c2, d1, e1, e2, e3 = map(square_number, ("C2", "D1", "E1", "E2", "E3"))
    assert (board.width, board.height, board.chumak) == (6, 3, (c2,))
    assert board.playable == tuple(sorted(board.playable))
    assert len(board.playable) == 13
    assert board.city_squares == {1: (e1, e2, e2 + 1)}
    assert [board.city_of(square) for square in (-1, 0, c2, e1, e2)] == [0, 0, 0, 1, 1]
    assert [board.is_playable(square) for square in (-1, 0, c2, e1, 399)] == [False, False, True, False, False]
    assert [board.printed(d1, edge) for edge in range(4)] == ["", "C", "", ""]
    assert board.printed(e3, 0) == "C"
    assert [board.printed(square_number("F3"), edge) for edge in range(4)] == ["C", "R", "", ""]


def test_the_documented_map_can_be_read() -> None:
    board = Map.from_mapping(tomllib.loads(documented()))
    assert board.borders == {(2, 0): "R", (20, 3): "C"}
    assert (board.mark, board.cities, board.towns) == ("invented", {1: ("Kyiv", 2)}, {21: "Rivne"})


@pytest.mark.parametrize("name", tables.SHIPPED_MAPS)
def test_shipped_maps_are_recorded_by_name(name: str) -> None:
    board = load_map(name)
    assert board.to_json() == name
    assert load_map(board.to_mapping()) == board
    assert load_map(board) is board


def test_other_maps_are_recorded_whole(tmp_path: Path) -> None:
    board = load_map(small())
    struct = json.loads(json.dumps(board.to_json()))
    assert struct == small()
    assert load_map(struct) == board
    assert hash(load_map(struct)) == hash(board)
    renamed = load_map(load_map("ukraine").to_mapping() | {"mark": "printed"})
    assert renamed.to_json() == load_map("ukraine").to_mapping() | {"mark": "printed"}
    path = tmp_path / "small.toml"
    path.write_text(documented(), encoding="utf-8")
    assert load_map(path) == load_map(str(path))


def test_only_name_and_rows_are_needed() -> None:
    assert load_map({"name": "One", "rows": ["S"]}).mark == "user's map"


def put(value: Any, *keys: str) -> Change:
    def change(struct: dict[str, Any]) -> None:
        *path, last = keys
        for key in path:
            struct = struct[key]
        struct[last] = value

    return change


def rows(*letters: str) -> Change:
    """Give the small map other rows, and nothing else that is printed."""

    def change(struct: dict[str, Any]) -> None:
        struct |= {"rows": list(letters), "towns": {}, "borders": {}}
        struct["cities"] = {d: {"name": d, "shields": 0} for d in "123456" if d in "".join(letters)}

    return change


MALFORMED: list[tuple[Change, str]] = [
    (lambda s: s.pop("name"), "the map lacks the field 'name'; it needs name, rows"),
    (lambda s: s.pop("rows"), "the map lacks the field 'rows'; it needs name, rows"),
    (
        put(1, "row"),
        "the map has an unknown field 'row': did you mean 'rows'? Allowed: borders, cities, mark, name, rows, towns",
    ),
    (put("", "name"), "map field 'name' must be a text of 1 to 60 characters in one line, not ''"),
    (put(3, "mark"), "map field 'mark' must be a text of 1 to 60 characters in one line, not 3"),
    (put([], "rows"), "map field 'rows' must be a list of 1 to 20 texts, not []"),
    (put(["o"] * 21, "rows"), "map field 'rows' must be a list of 1 to 20 texts, not " + repr(["o"] * 21)),
    (put(["S", 3], "rows"), "row 2 of the map must be a text of 1 to 20 characters, not 3"),
    (put(["o" * 21], "rows"), f"row 1 of the map must be a text of 1 to 20 characters, not '{'o' * 21}'"),
    (put(["So", "ooo"], "rows"), "row 2 of the map has 3 squares where row 1 has 2"),
    (put(["So", "ox"], "rows"), "the map has 'x' in row 2, column B; allowed are .oSCT123456"),
    (rows("oo"), "a map has 1 to 4 start squares S, not 0"),
    (rows("SoSoS", "oSooS"), "a map has 1 to 4 start squares S, not 5; one too many is in row 2, column E"),
    (
        rows("C" * 16, "oSooooooooooooCo"),
        "a map has at most 16 Chumak squares C; one too many is in row 2, column O",
    ),
    (put({}, "cities"), "the map has a large city 1 in row 1, column E but no table cities.1"),
    (put({"name": "Lviv", "shields": 1}, "cities", "2"), "the map has a table cities.2 but no square 2"),
    (put({"name": "Lviv", "shields": 1}, "cities", "7"), "the map has a large city '7'; they are numbered 1 to 6"),
    (put({"name": "Kyiv"}, "cities", "1"), "large city 1 lacks the field 'shields'; it needs name, shields"),
    (put("Kyiv", "cities", "1"), "large city 1 must be a table with name, shields, not 'Kyiv'"),
    (put(True, "cities", "1", "shields"), "large city 1 must have 0 to 20 shields, not True"),
    (put(21, "cities", "1", "shields"), "large city 1 must have 0 to 20 shields, not 21"),
    (
        put("", "cities", "1", "name"),
        "the name of large city 1 must be a text of 1 to 60 characters in one line, not ''",
    ),
    (put([], "cities"), "map field 'cities' must be a table, not []"),
    (rows("So1", "oo.", "oo1"), "large city 1 does not hang together: row 3, column C is apart from the rest"),
    (rows("So1", "oo2"), "large city 1 touches large city 2 in row 1, column C"),
    (rows("So.1"), "large city 1 in row 1, column D has no edge to a playable square"),
    (put("Lutsk", "towns", "A2"), "the map names a town in row 2, column A, which is no town square T"),
    (
        put("Lutsk", "towns", "U1"),
        "town 'U1' of the map is no square: a letter A to T and a number 1 to 20, as H7",
    ),
    (put(5, "towns", "B3"), "the name of town B3 must be a text of 1 to 60 characters in one line, not 5"),
    (put("road", "borders", "C1"), "border 'C1' of the map must be a square and an edge such as 'C1 N'"),
    (put("road", "borders", "C1 X"), "border 'C1 X' of the map must be a square and an edge such as 'C1 N'"),
    (
        put("road", "borders", "C0 N"),
        "border 'C0' of the map is no square: a letter A to T and a number 1 to 20, as H7",
    ),
    (put("field", "borders", "C1 N"), "border 'C1 N' of the map must be 'road' or 'city', not 'field'"),
    (put("road", "borders", "A1 N"), "the map has a border in row 1, column A, edge N: no tile can lie there"),
    (put("road", "borders", "E1 N"), "the map has a border in row 1, column E, edge N: no tile can lie there"),
    (put("road", "borders", "C1 S"), "the map has a border in row 1, column C, edge S, which is no outer edge"),
    (put("city", "borders", "D1 E"), "the map has a border in row 1, column D, edge E, which is no outer edge"),
    (
        rows("So.o", "oo.o"),
        "the map does not hang together: row 1, column D cannot be reached from a start square",
    ),
    (
        rows("o1o", "1S1", "o1o"),
        "large city 1 does not hang together: row 2, column A is apart from the rest",
    ),
    (
        rows(".11", "1S1", "11o"),
        "large city 1 does not hang together: row 2, column A is apart from the rest",
    ),
    (
        rows("111", "1S1", "ooo"),
        "the start tile B-D fits on no start square, for what is printed around row 2, column B",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_maps_are_refused(change: Change, sentence: str) -> None:
    struct = copy.deepcopy(small())
    load_map(struct)
    change(struct)
    with pytest.raises(BadParams) as error:
        load_map(struct)
    assert str(error.value) == sentence


def test_borders_at_the_start_square_count() -> None:
    struct = {"name": "One", "rows": ["S"], "borders": {"A1 N": "city", "A1 S": "city"}}
    with pytest.raises(BadParams, match="fits on no start square"):
        load_map(struct)
    load_map(struct | {"borders": {"A1 N": "city", "A1 E": "road"}})


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("ukrain", "there is no map or map file 'ukrain': did you mean 'ukraine'? Allowed: plane, ukraine, or a file"),
        (7, "map = 7 is not possible: it is a shipped map's name, a file, or a mapping"),
        ("a\0b", "there is no map or map file 'a\\x00b': Allowed: plane, ukraine, or a file"),
    ],
)
def test_other_values_are_refused(value: Any, sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        load_map(value)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"name = ", "map file .* is no TOML: Invalid value"), (b"\xff\xfe", "map file .* cannot be read: 'utf-8' codec")],
)
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "map.toml"
    path.write_bytes(content)
    with pytest.raises(BadParams, match=sentence):
        load_map(path)
