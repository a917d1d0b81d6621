"""The rule switches of Carcassonne and the reading of its structs: what is refused, and in which words."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from caravan_env import make_game
from caravan_env.core.errors import BadParams
from caravan_env.games.ukraine.params import UkraineParams
from caravan_env.games.ukraine.tables import load_map
from tests.ukraine.build import SALT, laid_tile, play, position


@pytest.mark.parametrize(
    ("switches", "sentence"),
    [
        ({"players": 1}, "ukraine is played by 2 to 6 players, not 1"),
        ({"players": 7}, "ukraine is played by 2 to 6 players, not 7"),
        ({"meeples": 10}, "meeples = 10 is not possible: 1 to 9, or 0 for the usual number"),
        ({"meeples": -1}, "meeples = -1 is not possible: 1 to 9, or 0 for the usual number"),
        ({"expansion_rules": "none"}, "expansion_rules = 'none' is not possible. Allowed: 'full', 'tiles_only'"),
        ({"inns": 1}, "inns = 1 is not possible. Allowed: True, False"),
        ({"border_monastery": 9}, "border_monastery = 9 is not possible. Allowed: 'neighbours', 'nine'"),
        ({"chip_match": "number"}, "chip_match = 'number' is not possible. Allowed: 'identical', 'colour', 'any'"),
        ({"map": 5}, "map = 5 is not possible: it is a shipped map's name, a file, or a mapping"),
        ({"map": "ukrain"}, "there is no map or map file 'ukrain': did you mean 'ukraine'?"),
        ({"chip": True}, "'chip' is no rule switch of this game: did you mean 'chips'? "),
    ],
)
def test_impossible_switches(switches: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("ukraine", **switches)
    assert str(error.value).startswith(sentence)


def test_switches_survive_json() -> None:
    for params in (UkraineParams(), UkraineParams(map=SALT, players=5, chips=False, meeples=3, chip_match="any")):
        again = UkraineParams.from_mapping(json.loads(json.dumps(params.to_json())))
        assert again == params
    assert UkraineParams().to_json()["map"] == "ukraine"


def test_every_switch_is_described() -> None:
    described = {name: meaning for name, _, _, meaning in UkraineParams.describe()}
    assert set(described) == set(UkraineParams().to_json())
    assert all(described.values())


def test_a_map_of_ones_own_has_the_meeples_of_a_map() -> None:
    plane = load_map("plane").to_mapping()
    assert UkraineParams(map=plane).meeples_in_use == 7  # the very same map
    assert UkraineParams(map=plane | {"name": "Table"}).meeples_in_use == 9


def struct() -> dict[str, Any]:
    """Return a position on a small map, before the second tile is laid."""
    return position(
        "B-D B2 0",
        "B-U A2 0: 1 meeple on road E W",
        tile="B-E",
        map=SALT,
        chips=("purple 1",),
        lying={"D2": "orange 2"},
    ).to_json()


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the struct with one field, a path such as "seats.0.points", set to a value."""
    result = copy.deepcopy(struct())
    *parents, last = path.split(".")
    owner: Any = result
    for key in parents:
        owner = owner[int(key)] if isinstance(owner, list) else owner[key]
    owner[int(last) if isinstance(owner, list) else last] = value
    return result


CHANGES = [
    ("phase", "turn", "phase is 'turn', and must be one of 'start', 'second', 'lay', 'tile', 'chip', 'place', "),
    ("seat", 2, "seat is 2, and must be a whole number from 0 to 1"),
    ("seat", -1, "seat is -1, and must be a whole number from 0 to 1"),
    ("extra", 1.5, "extra is 1.5, and must be one of False, True"),
    ("again", True, "again is true, which is possible in phases 'chip', 'figure' and 'trade' without extra only"),
    ("tile", "B-Y", "tile is 'B-Y', which is no tile of the catalogue"),
    ("tile", None, "tile is None, which is no tile of the catalogue"),
    ("tile", "B-C", "bag.B-C is 1, but 0 are left"),
    ("tiles", [], "tiles lists 0 tiles, which is not possible in phase 'place'"),
    ("tiles.0.tile", "B-E", "tiles[0].tile is 'B-E', and must be the start tile 'B-D'"),
    ("tiles.0.square", "A1", "tiles[0].square is 'A1', and must be a start square"),
    ("tiles.1.square", "Z9", "tiles[1].square is 'Z9', and must be a playable square without a tile"),
    ("tiles.1.square", "B2", "tiles[1].square is 'B2', and must be a playable square without a tile"),
    ("tiles.1.square", "E3", "tiles[1].square is 'E3', which is not eligible: nothing lies next to it"),
    ("tiles.1.turned", 2, "tiles[1].turned is 2, and must be a whole number from 0 to 1"),
    ("tiles.1.turned", 1, "tiles[1] does not fit: B-U at A2 turned 1"),
    ("tiles.1.tile", "B-E", "tiles[1] does not fit: B-E at A2 turned 0"),
    ("tiles.1.figure.seat", 2, "tiles[1].figure.seat is 2, and must be a whole number from 0 to 1"),
    ("tiles.1.figure.kind", "abbot", "tiles[1].figure.kind is 'abbot', and must be one of 'meeple', 'large meeple', "),
    ("tiles.1.figure.kind", "pig", "tiles[1].figure: a pig cannot stand on a road"),
    ("tiles.1.figure.kind", "builder", "seats[1].figures.meeple is 8, and must be a whole number from 9 to 9"),
    ("tiles.1.figure.segment", "road N", "tiles[1].figure.segment is 'road N', and must be one of 'road E W', "),
    ("bag.B-E", 5, "bag.B-E is 5, but 4 are left"),
    ("out", {"B-C": 2}, "out.B-C is 'B-C', of which there are only 1"),
    ("out", {"B-C": 0}, "out.B-C is 0, and must be a whole number from 1 to 255"),
    ("chumak", {}, "chumak lists nothing, and must list ['D2']"),
    ("chumak.D2", ["green 1"], "chumak.D2 is 'green 1', and must be one of 'purple 1', "),
    ("chumak.D2", ["orange 1"] * 5, "chumak.D2 holds 5 chips, and has 4 places"),
    ("supply.purple 1", 6, "supply is {'purple 1': 6, "),
    ("pending", {"draws": 1}, "pending is {'draws': 1}, and must be null in phase 'place'"),
    ("seats", [], "seats must be a list of 2, not []"),
    ("seats.0.points", -1, "seats[0].points is -1, and must be a whole number from 0 to 60000"),
    ("seats.0.figures.pig", 0, "seats[0].figures.pig is 0, and must be a whole number from 1 to 1"),
    ("seats.0.goods.wine", None, "seats[0].goods.wine is None, and must be a whole number"),
    ("seats.0.chips", {"purple 1": 7}, "seats[0].chips.purple 1 is 7, and must be a whole number from 1 to 6"),
    ("seats.0.chips", {"green 1": 1}, "seats[0].chips is 'green 1', and must be one of 'purple 1', "),
    ("events", None, "events must be a list, not None"),
    (
        "events",
        [{"kind": "road", "squares": ["A2", "B2"], "points": [0, 2], "goods": {}}],
        "events[0].squares is ['A2', 'B2'], where no road can have paid now",
    ),
    (
        "events",
        [{"kind": "trade", "squares": ["D2"], "points": [1, 2], "goods": {}}],
        "events[0].points is [1, 2], and must be the same for all who get any",
    ),
    (
        "events",
        [{"kind": "trade", "squares": ["D2"], "points": [0, 0], "goods": {}}],
        "events[0] pays neither points nor goods",
    ),
]


@pytest.mark.parametrize(("path", "value", "sentence"), CHANGES, ids=[sentence[:50] for *_, sentence in CHANGES])
def test_impossible_positions(path: str, value: Any, sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("ukraine", map=SALT).state_from_json(changed(path, value))
    assert str(error.value).startswith(f"this is no position of ukraine: {sentence}")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"phase": "tile"}, "tile is 'B-E', and must be null in phase 'tile'"),
        (
            {"phase": "chip", "tile": None, "bag": struct()["bag"] | {"B-E": 5}},
            "pending is null, but something is pending in phase 'chip'",
        ),
        ({"phase": "start", "seat": -1}, "tiles lists 2 tiles, which is not possible in phase 'start'"),
        ({"phase": "over"}, "tile is 'B-E', and must be null in phase 'over'"),
    ],
)
def test_impossible_phases(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("ukraine", map=SALT).state_from_json(struct() | fields)
    assert str(error.value).startswith(f"this is no position of ukraine: {sentence}")


@pytest.mark.parametrize(
    ("laid", "sentence"),
    [
        (
            ("B-D B2 0", "B-E B1 2: 0 meeple on city S"),
            "tiles[1].figure stands in a completed feature, and would have come home",
        ),
        (
            ("B-D B2 0", "B-U A2 0: 0 builder on road E W"),
            "tiles[1].figure: a builder stands without a meeple of its seat",
        ),
    ],
)
def test_figures_that_cannot_stand_there(laid: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        position(*laid, map=SALT)
    assert str(error.value) == f"this is no position of ukraine: {sentence}"


def test_a_tile_that_fits_nowhere_is_not_in_hand() -> None:
    with pytest.raises(BadParams, match="phase 'place' is not possible in this position"):
        position("B-D A1 0", tile="B-E", map=SALT | {"rows": ["So"]})


def test_every_field_of_a_struct_is_needed_but_score_and_final() -> None:
    game, whole = make_game("ukraine", map=SALT), struct()
    for field in set(whole) - {"game", "params", "final"}:
        with pytest.raises(BadParams, match=f"the field '{field}' is missing"):
            game.state_from_json({key: value for key, value in whole.items() if key != field})
    for field in whole["seats"][0]:
        less = copy.deepcopy(whole)
        del less["seats"][0][field]
        if field == "score":
            assert game.state_from_json(less).to_json() == whole
        else:
            with pytest.raises(BadParams, match=f"the field '{field}' is missing"):
                game.state_from_json(less)


@pytest.mark.parametrize("struct", [None, [], "position", 5])
def test_what_is_no_struct_at_all(struct: Any) -> None:
    with pytest.raises(BadParams, match="this is no position of ukraine"):
        make_game("ukraine").state_from_json(struct)


def test_a_position_in_every_phase_comes_back() -> None:
    state = position("B-D B2 0", tile="B-U", map=SALT, chips=("purple 1, purple 1",), bag={"B-U": 7})
    phases = []
    for words in ("place B-U at C2 turned 0", "draw orange 1", "draw orange 1", "trade at D2", "add purple 1", "done"):
        played = play(state, words)
        phases.append(played["phase"])
        assert state.game.state_from_json(played).row.tobytes() == state.row.tobytes()
    assert phases == ["chip", "chip", "figure", "trade", "trade", "tile"]
    assert laid_tile("B-U C2 0") == played["tiles"][1]
