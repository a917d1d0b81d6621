"""Boards of one's own: read, checked, named in what is shown, and refused in words that name the field (B1, B2)."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caravan_env import make_game
from caravan_env.core.errors import BadParams
from caravan_env.core.match import Thought, play_match
from caravan_env.core.record import read_record, replay
from caravan_env.games.caravan.tables import SHIPPED_BOARDS, load_board

Change = Callable[[dict[str, Any]], Any]


def own_board() -> dict[str, Any]:
    """Goods spaces in the top row and a2, cities from c2 on."""
    goods = ("meat", "swords", "salt", "hides", "ivory", "cloth", "gems", "paper")
    return {
        "name": "mine",
        "mark": "printed",
        "sources": {str(n + 1): [n // 7, n % 7] for n in range(8)},
        "cities": {good: [1 + (n + 2) // 7, (n + 2) % 7] for n, good in enumerate(goods)},
    }


def drop(*keys: str) -> Change:
    def change(board: dict[str, Any]) -> None:
        *path, last = keys
        for key in path:
            board = board[key]
        del board[last]

    return change


def put(value: Any, *keys: str) -> Change:
    def change(board: dict[str, Any]) -> None:
        *path, last = keys
        for key in path:
            board = board[key]
        board[last] = value

    return change


MALFORMED: list[tuple[Change, str]] = [
    (drop("name"), "the board lacks the field 'name'; it needs name, sources, cities"),
    (drop("sources"), "the board lacks the field 'sources'; it needs name, sources, cities"),
    (drop("cities"), "the board lacks the field 'cities'; it needs name, sources, cities"),
    (drop("sources", "4"), "board field 'sources' lacks the field '4'; it needs 1, 2, 3, 4, 5, 6, 7, 8"),
    (drop("cities", "gems"), "board field 'cities' lacks the field 'gems'; it needs meat, swords, "),
    (put([6, 6], "sources", "9"), "board field 'sources' has an unknown field '9': Allowed: 1, 2, 3"),
    (put([6, 6], "cities", "gem"), "board field 'cities' has an unknown field 'gem': did you mean 'gems'? Allowed: "),
    (put(7, "citys"), "the board has an unknown field 'citys': did you mean 'cities'? Allowed: cities, mark, name"),
    (put([7, 0], "sources", "2"), "board field 'sources.2' must be [row, column], both from 0 to 6, not [7, 0]"),
    (put([0, -1], "cities", "salt"), "board field 'cities.salt' must be [row, column], both from 0 to 6, not [0, -1]"),
    (put([0], "sources", "2"), "board field 'sources.2' must be [row, column], both from 0 to 6, not [0]"),
    (put([0, 0, 0], "sources", "2"), "board field 'sources.2' must be [row, column], both from 0 to 6, not [0, 0, 0]"),
    (put([0.0, 1], "sources", "2"), "board field 'sources.2' must be [row, column], both from 0 to 6, not [0.0, 1]"),
    (put([True, 1], "sources", "2"), "board field 'sources.2' must be [row, column], both from 0 to 6, not [True, 1]"),
    (put("b1", "sources", "2"), "board field 'sources.2' must be [row, column], both from 0 to 6, not 'b1'"),
    (put(None, "cities", "ivory"), "board field 'cities.ivory' must be [row, column], both from 0 to 6, not None"),
    (put([0, 0], "sources", "5"), "board field 'sources.5' lies on the same cell [0, 0] as 'sources.1'"),
    (put([0, 2], "cities", "cloth"), "board field 'cities.cloth' lies on the same cell [0, 2] as 'sources.3'"),
    (put([1, 2], "cities", "paper"), "board field 'cities.paper' lies on the same cell [1, 2] as 'cities.meat'"),
    (put([1, 2], "sources"), "board field 'sources' must be an object with 1, 2, 3, 4, 5, 6, 7, 8, not [1, 2]"),
    (put(None, "cities"), "board field 'cities' must be an object with meat, swords, "),
    (put("", "name"), "board field 'name' must be a text, not ''"),
    (put(5, "name"), "board field 'name' must be a text, not 5"),
    (put([], "mark"), "board field 'mark' must be a text, not []"),
]


@pytest.mark.parametrize(("change", "sentence"), MALFORMED, ids=[sentence[:50] for _, sentence in MALFORMED])
def test_malformed_board_names_the_field(change: Change, sentence: str, tmp_path: Path) -> None:
    board = own_board()
    change(board)
    file = tmp_path / "board.json"
    file.write_text(json.dumps(board))
    for given in (copy.deepcopy(board), str(file), file):
        with pytest.raises(BadParams) as error:
            make_game("caravan", board=given)
        assert str(error.value).startswith(sentence)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (json.dumps(own_board())[:-1], "is no JSON: "),
        ("", "is no JSON: "),
        ("[" * 100_000, "is no JSON: "),
        (f'{{"name": {"9" * 5000}}}', "is no JSON: "),
        ("[1, 2]", "must hold an object with name, sources and cities"),
        ("null", "must hold an object with name, sources and cities"),
        (json.dumps(own_board()).replace('"2":', '"1":'), "board field '1' is given twice"),
        (json.dumps(own_board()).replace('"gems":', '"meat":'), "board field 'meat' is given twice"),
        (json.dumps(own_board()).replace('"mark":', '"name":'), "board field 'name' is given twice"),
    ],
)
def test_damaged_board_file(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "board.json"
    file.write_text(text)
    with pytest.raises(BadParams) as error:
        make_game("caravan", board=str(file))
    assert sentence in str(error.value)
    assert "given twice" in sentence or str(file) in str(error.value)


def test_board_file_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.json"
    with pytest.raises(BadParams, match=r"there is no board or board file '.*nowhere\.json': Allowed: diagonal"):
        make_game("caravan", board=str(missing))
    with pytest.raises(BadParams, match="there is no board or board file 'symetric': did you mean 'symmetric'"):
        make_game("caravan", board="symetric")
    with pytest.raises(BadParams, match="there is no board or board file"):
        make_game("caravan", board=tmp_path)
    binary = tmp_path / "picture.png"
    binary.write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(BadParams, match=r"board file .*picture\.png cannot be read"):
        make_game("caravan", board=binary)
    with pytest.raises(BadParams, match="cannot be read|no board or board file"):
        make_game("caravan", board=json.dumps(own_board()))  # the contents where a path is expected


def test_board_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "board.json"
    file.write_text(json.dumps(own_board()))

    def refuse(*_: Any, **__: Any) -> str:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(BadParams, match=r"board file .*board\.json cannot be read: .*Permission denied"):
        make_game("caravan", board=file)


@pytest.mark.parametrize("board", [None, 5, True, b"symmetric", ["symmetric"], 1.5])
def test_board_of_a_wrong_type(board: Any) -> None:
    with pytest.raises(BadParams, match="board = .* is not possible"):
        make_game("caravan", board=board)


def test_own_board_from_a_file_plays_and_shows_its_name(tmp_path: Path) -> None:
    file = tmp_path / "board.json"
    file.write_text(json.dumps(own_board()))
    game = make_game("caravan", board=str(file), turn_limit=12)

    class Any_:
        name = "any"
        rng = np.random.default_rng(1)

        def think(self, state: Any) -> Thought:
            return Thought(int(self.rng.choice(state.legal_actions())))

    record = play_match(game, [Any_(), Any_()], seed=4)
    saved = tmp_path / "game.jsonl"
    record.save(saved)
    file.unlink()  # the record holds the whole board
    again = read_record(saved)
    assert again.header["params"]["board"] == own_board()
    state = [state for _, state in replay(again)][-1]
    assert state.is_terminal
    assert state.to_json()["params"]["board"]["name"] == state.game.params.board.name == "mine"
    assert state.to_json()["params"]["board"]["mark"] == "printed"


def test_a_board_without_mark_is_a_users_board() -> None:
    board = own_board()
    del board["mark"]
    assert load_board(board).mark == "user's board"


@pytest.mark.parametrize("name", SHIPPED_BOARDS)
def test_shipped_boards_survive_json(name: str) -> None:
    board = load_board(name)
    assert board.to_json() == name and load_board(board.to_mapping()) == board
    renamed = load_board(board.to_mapping() | {"name": "other"})
    assert renamed.to_json() == board.to_mapping() | {"name": "other"}
    pretender = load_board(own_board() | {"name": name})
    assert pretender.to_json() == own_board() | {"name": name}
