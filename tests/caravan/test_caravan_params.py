"""The rule switches of Caravan and the reading of its structs: what is refused, and in which words."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

from caravan_env import make_game
from caravan_env.core.errors import BadParams
from caravan_env.games.caravan.params import CaravanParams
from tests.caravan.build import GOODS, camel, position, seat_of


@pytest.mark.parametrize(
    ("switches", "sentence"),
    [
        ({"players": 1}, "caravan is played by 2 to 4 players, not 1"),
        ({"players": 5}, "caravan is played by 2 to 4 players, not 5"),
        ({"players": 0}, "caravan is played by 2 to 4 players, not 0"),
        ({"players": -2}, "caravan is played by 2 to 4 players, not -2"),
        ({"players": "2"}, "players = '2' is not possible: it must be of type int"),
        ({"players": 2.0}, "players = 2.0 is not possible: it must be of type int"),
        ({"players": True}, "players = True is not possible: it must be of type int"),
        ({"camels": 7}, "camels = 7 is not possible. Allowed: 5, 6"),
        ({"camels": 5.0}, "camels = 5.0 is not possible. Allowed: 5, 6"),
        ({"goods": "ful"}, "goods = 'ful' is not possible. Allowed: 'auto', 'short', 'full'"),
        ({"goods": None}, "goods = None is not possible. Allowed: 'auto', 'short', 'full'"),
        ({"returns": "sum"}, "returns = 'sum' is not possible. Allowed: 'win', 'rank', 'margin'"),
        ({"starting_seat": 2}, "starting_seat = 2 is not possible: -1 for random, or 0 to 1"),
        ({"starting_seat": -2}, "starting_seat = -2 is not possible: -1 for random, or 0 to 1"),
        ({"starting_seat": None}, "starting_seat = None is not possible: it must be of type int"),
        ({"last_camel_ban_on_steal": 1}, "last_camel_ban_on_steal = 1 is not possible. Allowed: True, False"),
        ({"rainbow_camel": "yes"}, "rainbow_camel = 'yes' is not possible. Allowed: True, False"),
        ({"turn_limit": -1}, "turn_limit = -1 is not possible: 0 to 60000 turns, 0 for none"),
        ({"turn_limit": 60_001}, "turn_limit = 60001 is not possible: 0 to 60000 turns, 0 for none"),
        ({"turn_limit": 10.5}, "turn_limit = 10.5 is not possible: it must be of type int"),
        ({"camel": 5}, "'camel' is no rule switch of this game: did you mean 'camels'? Allowed: board, camels, "),
        ({"rainbow": True}, "'rainbow' is no rule switch of this game: did you mean 'rainbow_camel'? Allowed: "),
        ({"xyz": 1}, "'xyz' is no rule switch of this game: Allowed: "),
    ],
)
def test_impossible_switches(switches: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("caravan", **switches)
    assert str(error.value).startswith(sentence)


def test_switches_survive_json() -> None:
    params = CaravanParams(players=3, camels=6, goods="full", starting_seat=2, board="pinwheel", rainbow_camel=True)
    assert CaravanParams.from_mapping(json.loads(json.dumps(params.to_json()))) == params
    assert params.to_json()["board"] == "pinwheel"


def test_every_switch_is_described() -> None:
    described = {name: (default, meaning) for name, default, _, meaning in CaravanParams.describe()}
    assert set(described) == set(CaravanParams().to_json())
    assert all(meaning for _, meaning in described.values())


def struct_of_a_position() -> dict[str, Any]:
    return position(seat_of("a1", "d4 meat under", "g7 gems"), seat_of("c3")).to_json()


IMPOSSIBLE = [
    ({"phase": "done"}, "phase is 'done', and must be one of 'start', 'fill', 'play', 'over'"),
    ({"seat": 2}, "seat is 2, and must be a whole number from 0 to 1"),
    ({"seat": -1}, "seat is -1, and must be a whole number from 0 to 1"),
    ({"seat": True}, "seat is True, and must be"),
    ({"turn": 0}, "turn is 0, and must be a whole number from 1 to 65535"),
    ({"turn": 70_000}, "turn is 70000, and must be"),
    ({"actions_left": 0}, "actions_left is 0, and must be a whole number from 1 to 4"),
    ({"actions_left": 5}, "actions_left is 5, and must be a whole number from 1 to 4"),
    ({"truncated": "no"}, "truncated is 'no', and must be one of False, True"),
    ({"bag": {}}, "the field 'meat' is missing"),
    ({"bag": dict.fromkeys(GOODS, 10)}, "bag.meat is 10, and must be a whole number from 0 to 9"),
    ({"bag": dict.fromkeys(GOODS, 1.5)}, "bag.meat is 1.5, and must be"),
    ({"sources": []}, "sources must be a list of 8, not []"),
    ({"sources": [{"good": "wool", "markers": 0}] * 8}, "sources[0].good is 'wool', and must be one of None, 'meat', "),
    ({"sources": [{"good": None, "markers": -1}] * 8}, "sources[0].markers is -1, and must be"),
    ({"rainbow": "d4"}, "rainbow is 'd4', but the game has no Rainbow Camel"),
    ({"seats": []}, "seats must be a list of 2, not []"),
    ({"seats": [seat_of(), seat_of(of=6)]}, "seats[1].camels must be a list of 5, not "),
    ({"seats": [seat_of(theft=-1), seat_of()]}, "seats[0].theft is -1, and must be"),
    ({"seats": [seat_of(), seat_of(markers=300)]}, "seats[1].markers is 300, and must be"),
    ({"seats": [seat_of(), seat_of(meat="3")]}, "seats[1].delivered.meat is '3', and must be"),
    ({"phase": "fill"}, "phase 'fill' needs a space without a good and a good in the bag"),
    ({"phase": "start"}, "seat is 0, and must be a whole number from -1 to -1"),
]


@pytest.mark.parametrize(("fields", "sentence"), IMPOSSIBLE, ids=[sentence[:40] for _, sentence in IMPOSSIBLE])
def test_impossible_position_names_the_field(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("caravan").state_from_json(struct_of_a_position() | fields)
    assert str(error.value).startswith(f"this is no position of caravan: {sentence}")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("a8", "camels[4].at is 'a8', and must be null or a cell, a1 to g7"),
        ("h1", "camels[4].at is 'h1'"),
        ("a10", "camels[4].at is 'a10'"),
        ("A1", "camels[4].at is 'A1'"),
        ("d4 wool", "camels[4].good is 'wool'"),
        ("off meat", "camels[4] carries meat off the board"),
    ],
)
def test_impossible_camel_names_the_field(words: str, sentence: str) -> None:
    struct = struct_of_a_position()
    struct["seats"][1]["camels"][4] = camel(words)
    with pytest.raises(BadParams) as error:
        make_game("caravan").state_from_json(struct)
    assert f"seats[1].{sentence}" in str(error.value)


def test_a_camel_has_no_stolen_good_without_a_good() -> None:
    struct = struct_of_a_position()
    struct["seats"][1]["camels"][4]["stolen"] = True
    with pytest.raises(BadParams, match=r"seats\[1\]\.camels\[4\] has a stolen good, but no good"):
        make_game("caravan").state_from_json(struct)


def test_every_field_of_a_struct_is_needed_but_the_score() -> None:
    game, struct = make_game("caravan"), struct_of_a_position()
    for field in set(struct) - {"game", "params"}:
        with pytest.raises(BadParams, match=f"the field '{field}' is missing"):
            game.state_from_json({key: value for key, value in struct.items() if key != field})
    for field in struct["seats"][0]:
        less = copy.deepcopy(struct)
        del less["seats"][0][field]
        if field == "score":
            assert game.state_from_json(less).to_json() == struct
        else:
            with pytest.raises(BadParams, match=f"the field '{field}' is missing"):
                game.state_from_json(less)


@pytest.mark.parametrize("struct", [None, [], "position", 5])
def test_what_is_no_struct_at_all(struct: Any) -> None:
    with pytest.raises(BadParams, match="this is no position of caravan"):
        make_game("caravan").state_from_json(struct)


def test_camels_of_a_struct_may_come_in_any_order() -> None:
    struct = struct_of_a_position()
    shuffled = copy.deepcopy(struct)
    np.random.default_rng(3).shuffle(shuffled["seats"][0]["camels"])
    assert make_game("caravan").state_from_json(shuffled).to_json() == struct


def test_a_set_position_may_have_an_odd_bag() -> None:
    state = position(
        seat_of("a1"), seat_of(), free=("meat", None, "salt", None, "salt", None, "hides", "hides"), bag={"gems": 2}
    )
    state.step(state.parse_action("pick up meat at a1"))
    for _ in range(2):
        assert [k for k, _ in state.chance_outcomes()] == [GOODS.index("gems")]
        state.resolve(GOODS.index("gems"))
    assert state.to_move == 0 and state.to_json()["sources"][3]["good"] is None
