# ruff: noqa: D103 (the names of the tests say what they test)
"""Tests of the plain-Python reference of Caravan: positions worked out by hand from the rules."""

from __future__ import annotations

import copy
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from .caravan import CELLS, DEFAULTS, GOODS, Caravan, read_board
from .players_caravan import (
    Mover,
    draw_chance,
    greedy_mover,
    hoarding_mover,
    mix,
    play_game,
    purposeful_mover,
    random_mover,
    random_params,
)

# The symmetric board. Spaces 1 to 8: a1 g1 b2 f2 b6 f6 a7 g7. Cities: ivory d1, cloth g4, gems d7, paper a4 outside;
# salt d3, swords e4, meat d5, hides c4 inside.
SPACES = ["a1", "g1", "b2", "f2", "b6", "f6", "a7", "g7"]
EIGHT = ["meat", "meat", "swords", "swords", "salt", "salt", "hides", "hides"]
ALL_CLAUSES = [
    f"{letter}{number}"
    for letter, last in [
        ("M", 4),
        ("B", 2),
        ("S", 6),
        ("T", 7),
        ("P", 5),
        ("H", 6),
        ("G", 6),
        ("R", 5),
        ("E", 5),
        ("X", 4),
    ]
    for number in range(1, last + 1)
]


def seat_of(*camels: str, theft: int = 1, markers: int = 0, of: int = 5, **delivered: int) -> dict[str, Any]:
    """Describe a seat; camels like "d4", "d4 meat" (on top) or "d4 meat under"; those not named are off the board."""
    there = []
    for words in camels:
        at, good, under = (*words.split(), None, None)[:3]
        there.append({"at": at, "good": good, "stolen": under is not None})
    there += [{"at": None, "good": None, "stolen": False}] * (of - len(there))
    goods = {good: delivered.get(good, 0) for good in GOODS}
    return {"camels": there, "theft": theft, "markers": markers, "delivered": goods}


def position(
    *seats: dict[str, Any],
    free: Sequence[str | None] | None = None,
    markers: dict[int, int] | None = None,
    bag: dict[str, int] | None = None,
    left: int = 4,
    turn: int = 5,
    seat: int = 0,
    rainbow: str | None = None,
    **params: Any,
) -> Caravan:
    """Make a position in play; by default all spaces have goods, the bag has four meat, and seat 0 has four actions."""
    goods = EIGHT if free is None else free
    stock = {"meat": 4} if bag is None else bag
    sources = [{"good": good, "markers": (markers or {}).get(n, 0)} for n, good in enumerate(goods, 1)]
    return Caravan.from_struct(
        {
            "params": {"players": len(seats), **params},
            "phase": "play",
            "seat": seat,
            "turn": turn,
            "actions_left": left,
            "truncated": False,
            "bag": {good: stock.get(good, 0) for good in GOODS},
            "sources": sources,
            "rainbow": rainbow,
            "seats": list(seats),
        }
    )


def legal(game: Caravan, start: str) -> set[str]:
    """Give the legal actions whose words begin like that."""
    return {words for words in game.legal() if words.startswith(start)}


def set_up(params: dict[str, Any], goods: list[str]) -> Caravan:
    """Set a game up with the given goods on the spaces."""
    game = Caravan(params)
    if game.phase == "start":
        game.resolve("seat 0 starts")
    for number, good in enumerate(goods, 1):
        game.resolve(f"draw {good} for space {number}")
    return game


# B, S: boards and the set-up.


@pytest.mark.parametrize(
    ("name", "spaces", "inner_cities"),
    [
        ("symmetric", ["a1", "g1", "b2", "f2", "b6", "f6", "a7", "g7"], ["d5", "e4", "d3", "c4"]),
        ("pinwheel", ["a1", "g1", "c2", "f3", "b5", "e6", "a7", "g7"], ["d5", "e4", "d3", "c4"]),
        ("diagonal", ["a1", "g1", "b2", "f2", "b6", "f6", "a7", "g7"], ["e5", "e3", "c3", "c5"]),
    ],
)
def test_b1_shipped_boards(name: str, spaces: list[str], inner_cities: list[str]) -> None:
    board = read_board(name)
    assert list(board.sources) == spaces
    assert [board.cities[good] for good in GOODS] == [*inner_cities, "d1", "g4", "d7", "a4"]


def board_dict() -> dict[str, Any]:
    """Give a board of one's own: the goods spaces in the top row, then the cities, row by row."""
    return {
        "name": "mine",
        "sources": {str(n + 1): [n // 7, n % 7] for n in range(8)},
        "cities": {good: [(n + 8) // 7, (n + 8) % 7] for n, good in enumerate(GOODS)},
    }


def test_b1_own_board() -> None:
    game = Caravan({"board": board_dict()})
    assert game.board.sources == ("a1", "b1", "c1", "d1", "e1", "f1", "g1", "a2")
    assert game.board.cities["meat"] == "b2" and game.board.cities["paper"] == "b3"
    assert game.struct()["params"]["board"] == board_dict()


@pytest.mark.parametrize(
    ("part", "key", "value", "named"),
    [
        ("sources", "9", [6, 6], "sources"),
        ("cities", "silk", [6, 6], "cities"),
        ("sources", "3", [7, 0], "sources.3"),
        ("sources", "3", [0], "sources.3"),
        ("sources", "3", "c1", "sources.3"),
        ("cities", "gems", [0, 0], "cities.gems"),
        ("cities", "gems", [1, 1], "cities.gems"),
        ("cities", "gems", None, "cities"),
    ],
)
def test_b2_malformed_board(part: str, key: str, value: Any, named: str) -> None:
    spec = board_dict()
    spec[part][key] = value
    if value is None:
        del spec[part][key]
    with pytest.raises(ValueError, match=named):
        Caravan({"board": spec})


def test_b2_unknown_board_and_params() -> None:
    for params in ({"board": "round"}, {"players": 5}, {"camels": 4}, {"size": 7}, {"starting_seat": 2}):
        with pytest.raises(ValueError, match=next(iter(params))):
            Caravan(params)


def test_s1_s4_start() -> None:
    game = Caravan({"players": 3})
    struct = game.struct()
    assert (struct["phase"], struct["seat"], struct["turn"], struct["actions_left"]) == ("start", -1, 0, 0)
    assert struct["params"] == DEFAULTS | {"players": 3}
    assert [source["markers"] for source in struct["sources"]] == [1, 1, 0, 0, 0, 0, 1, 1]
    assert all(source["good"] is None for source in struct["sources"])
    assert len(struct["seats"]) == 3
    for seat in struct["seats"]:
        assert seat["camels"] == [{"at": None, "good": None, "stolen": False}] * 5
        assert (seat["theft"], seat["markers"], seat["score"], sum(seat["delivered"].values())) == (1, 0, 0, 0)
    assert game.legal() == []
    assert game.chance() == {"seat 0 starts": 1, "seat 1 starts": 1, "seat 2 starts": 1}
    assert len(Caravan({"camels": 6}).seats[0].camels) == 6


@pytest.mark.parametrize(
    ("players", "goods", "common", "rare"),
    [(2, "auto", 6, 2), (3, "auto", 6, 2), (4, "auto", 9, 3), (2, "full", 9, 3), (4, "short", 6, 2)],
)
def test_s2_goods(players: int, goods: str, common: int, rare: int) -> None:
    game = Caravan({"players": players, "goods": goods})
    assert list(game.bag.values()) == [common] * 4 + [rare] * 4
    assert game.struct()["params"]["goods"] == goods


def test_s3_filling_the_spaces_in_order() -> None:
    game = Caravan({"starting_seat": 1})
    assert (game.phase, game.seat) == ("fill", 1)
    assert game.chance()["draw ivory for space 1"] == 2
    game.resolve("draw ivory for space 1")
    game.resolve("draw ivory for space 2")
    assert "draw ivory for space 3" not in game.chance()
    assert game.chance()["draw meat for space 3"] == 6
    with pytest.raises(ValueError, match="space 4"):
        game.resolve("draw meat for space 4")
    for number in range(3, 9):
        assert game.phase == "fill"
        game.resolve(f"draw meat for space {number}")
    assert (game.phase, game.seat, game.turn, game.actions_left) == ("play", 1, 1, 1)
    assert game.chance() == {}


def test_s5_s6_first_turns() -> None:
    game = set_up({"players": 3, "starting_seat": 2}, EIGHT)
    seen = []
    for _ in range(6):
        seen.append((game.seat, game.turn, game.actions_left))
        game.play("end turn")
    assert seen == [(2, 1, 1), (0, 2, 2), (1, 3, 3), (2, 4, 4), (0, 5, 4), (1, 6, 4)]


# T: a turn, and camels.


def test_t2_turn_ends_by_itself() -> None:
    game = set_up({}, EIGHT)
    game.play("camel off -> d4")
    assert (game.seat, game.turn, game.actions_left) == (1, 2, 2)
    game.play("camel off -> a1")
    assert (game.seat, game.turn, game.actions_left) == (1, 2, 1)
    assert "end turn" in game.legal()
    game.play("pick up meat at a1")
    assert (game.seat, game.turn, game.actions_left) == (0, 3, 3)


def test_t2_first_turn_of_all_has_fifty_actions() -> None:
    assert sorted(set_up({}, EIGHT).legal()) == sorted(["end turn", *(f"camel off -> {cell}" for cell in CELLS)])


def test_t3_t4_prices() -> None:
    game = position(seat_of("d4", "d4"), seat_of("e4"))
    game.play("camel off -> a1")
    assert game.actions_left == 3
    game.play("camel d4 -> e4")  # an opponent's camel
    assert game.actions_left == 1
    assert "camel off -> d4" not in game.legal()  # an own camel, and one action only
    assert "camel off -> d5" in game.legal()


def test_t4_own_camels_count_for_the_price() -> None:
    game = position(seat_of("d4"), seat_of(), left=2)
    game.play("camel off -> d4")
    assert (game.seat, game.turn) == (1, 6)


def test_t4_moving_the_only_camel_of_a_space_frees_it() -> None:
    game = position(seat_of("d4"), seat_of())
    game.play("camel d4 -> a1")
    game.play("camel off -> d4")
    assert game.actions_left == 2


def test_t5_anywhere_but_not_off_nor_where_it_stands() -> None:
    game = position(seat_of("a1", "b1", "c1", "d1", "e1"), seat_of())
    assert legal(game, "camel a1") == {f"camel a1 -> {cell}" for cell in CELLS if cell != "a1"}
    assert legal(game, "camel off") == set()
    assert not any(words.endswith("off") for words in game.legal())


def test_t6_laden_camels_stay_and_take_no_second_good() -> None:
    game = position(seat_of("a1 meat", "d4 meat under"), seat_of("d4 salt"))
    assert legal(game, "camel a1") == legal(game, "camel d4") == set()
    assert legal(game, "pick up") == legal(game, "steal") == set()


def test_t7_many_camels_share_a_space() -> None:
    game = position(seat_of("d4", "d4", "d4", "d4"), seat_of("d4", "d4"))
    game.play("camel off -> d4")
    assert [camel["at"] for camel in game.struct()["seats"][0]["camels"]] == ["d4"] * 5


def test_equal_camels_give_one_action() -> None:
    game = position(seat_of("d4", "d4", "b4 meat", "c4 meat", "c4 meat"), seat_of())
    words = game.legal()
    assert len(words) == len(set(words))
    assert legal(game, "camel") == {f"camel d4 -> {cell}" for cell in CELLS if cell != "d4"}
    assert legal(game, "move") == {"move meat b4 -> d4", "move meat c4 -> d4"}


# P: picking up.


def test_p1_p2_pick_up_with_markers() -> None:
    game = position(seat_of("g7"), seat_of("g7", "g7"), markers={8: 3, 1: 1})
    game.play("pick up hides at g7")
    struct = game.struct()
    assert struct["sources"][7] == {"good": None, "markers": 0}
    assert struct["sources"][0]["markers"] == 1
    assert struct["seats"][0]["camels"][0] == {"at": "g7", "good": "hides", "stolen": False}
    assert (struct["seats"][0]["markers"], struct["seats"][0]["score"], game.actions_left) == (3, 3, 3)
    assert game.clauses["P2"] == game.clauses["P3"] == 1


def test_p1_only_where_an_own_empty_camel_and_a_free_good_are() -> None:
    game = position(
        seat_of("a1", "g1 meat", "b2"), seat_of("f2"), free=["meat", "meat", None, "salt"] + [None, "salt"] * 2
    )
    assert legal(game, "pick up") == {"pick up meat at a1"}


def test_p4_never_all_camels_laden() -> None:
    laden = ["a1", "g1 meat", "b2 meat", "f2 meat"]
    game = position(seat_of(*laden), seat_of())  # the fifth is off the board: empty
    assert legal(game, "pick up") == {"pick up meat at a1"}
    game = position(seat_of(*laden, "b6 meat"), seat_of())
    assert legal(game, "pick up") == set()
    game.play("end turn")
    assert game.clauses["P4"] == 1
    game = position(seat_of(*laden, "d4"), seat_of())
    game.play("pick up meat at a1")
    assert game.clauses["P4"] == 0


def test_p4_with_six_camels() -> None:
    game = position(seat_of("a1", *["g1 meat"] * 4, of=6), seat_of(of=6), camels=6)
    assert legal(game, "pick up") == {"pick up meat at a1"}
    game = position(seat_of("a1", *["g1 meat"] * 5, of=6), seat_of(of=6), camels=6)
    assert legal(game, "pick up") == set()


def test_p5_picking_up_never_delivers() -> None:
    game = position(
        seat_of("b6", "b5", "c5", "d5"), seat_of(), free=["salt", "salt", "salt", "salt", "meat"] + ["salt"] * 3
    )
    game.play("pick up meat at b6")
    assert game.scores() == [0, 0] and game.clauses["P5"] == 1
    game.play("move meat b6 -> d5")
    assert game.scores() == [3, 0]


# H: stealing.


def test_h1_h2_h3_steal() -> None:
    game = position(seat_of("d4", "d4"), seat_of("d4 ivory", "d4 gems under", "e4 salt", theft=0), seat_of("d4 paper"))
    assert legal(game, "steal") == {"steal ivory from seat 1 at d4", "steal paper from seat 2 at d4"}
    game.play("steal ivory from seat 1 at d4")
    me, other, _ = game.struct()["seats"]
    assert me["camels"][:2] == [
        {"at": "d4", "good": None, "stolen": False},
        {"at": "d4", "good": "ivory", "stolen": True},
    ]
    assert {"at": "d4", "good": None, "stolen": False} in other["camels"]
    assert (me["theft"], other["theft"], game.actions_left) == (0, 1, 3)
    assert legal(game, "steal") == set()  # no theft marker left
    assert me["score"] == 0


def test_h2_several_thefts_in_a_turn() -> None:
    game = position(seat_of("d4", "d4", theft=2), seat_of("d4 ivory", "d4 ivory", theft=0))
    game.play("steal ivory from seat 1 at d4")
    game.play("steal ivory from seat 1 at d4")
    assert (game.seats[0].theft, game.seats[1].theft, game.actions_left) == (0, 2, 2)
    assert game.scores() == [-1, 0]


def test_h3_cannot_be_stolen_until_it_has_been_moved() -> None:
    game = position(seat_of("d4", "d3"), seat_of("d4 ivory under", "d5"), seat=1)
    assert "camel d4 -> a1" not in game.legal()  # pinned
    game.play("move stolen ivory d4 -> d5")
    game.play("end turn")
    assert legal(game, "steal") == set()  # it has gone to d5
    game.play("camel d3 -> d5")
    game.play("steal ivory from seat 1 at d5")
    assert game.clauses["H3"] == 0
    game = position(seat_of("d4"), seat_of("d4 ivory under"))
    assert legal(game, "steal") == set()
    game.play("end turn")
    assert game.clauses["H3"] == 1


@pytest.mark.parametrize("ban", [True, False])
def test_h4_last_empty_camel(ban: bool) -> None:
    mine = seat_of("d4", "a1 meat", "g1 meat", "b2 meat", "f2 meat")
    game = position(mine, seat_of("d4 ivory"), last_camel_ban_on_steal=ban)
    assert legal(game, "steal") == (set() if ban else {"steal ivory from seat 1 at d4"})
    game.play("end turn" if ban else "steal ivory from seat 1 at d4")
    assert game.clauses["H4"] == 1
    assert game.scores()[0] == (-6 if ban else -10)


def test_h4_off_board_camels_count_as_empty() -> None:
    game = position(seat_of("d4", "a1 meat", "g1 meat", "b2 meat"), seat_of("d4 ivory"))
    assert legal(game, "steal") == {"steal ivory from seat 1 at d4"}


def test_h5_markers_are_never_stolen() -> None:
    game = position(seat_of("a1"), seat_of("a1 ivory", markers=4), markers={1: 2})
    game.play("steal ivory from seat 1 at a1")
    assert (game.seats[0].markers, game.seats[1].markers, game.sources[0].markers) == (0, 4, 2)


def test_h6_stolen_in_its_own_city() -> None:
    game = position(seat_of("d1", "d1"), seat_of("d1 ivory"))
    game.play("steal ivory from seat 1 at d1")
    assert game.scores() == [0, 0] and game.clauses["H6"] == 1
    assert legal(game, "move") == {"move stolen ivory d1 -> d1"}
    game.play("move stolen ivory d1 -> d1")
    assert game.scores() == [6, 0]
    assert game.struct()["seats"][0]["camels"][1] == {"at": "d1", "good": None, "stolen": False}


# G: moving goods.


def test_worked_example() -> None:
    game = position(seat_of("d1", "d2 ivory", "c2 ivory"), seat_of())
    assert legal(game, "move") == {"move ivory d2 -> d1"} | {"move ivory c2 -> d1"}  # here c2 links by d2
    game = position(seat_of("d1", "c1 ivory", "e2 ivory"), seat_of())
    assert legal(game, "move") == {"move ivory c1 -> d1"}
    game.play("move ivory c1 -> d1")
    assert game.clauses["G2"] == 1 and game.clauses["G5"] == 1
    assert game.scores() == [6, 0] and game.actions_left == 3
    assert legal(game, "move") == set()
    assert "camel d1 -> a1" in game.legal() and "camel c1 -> a1" in game.legal()  # both stay empty


def test_g1_any_distance_over_laden_ones() -> None:
    game = position(seat_of("a1 meat", "a2 salt", "a3 salt", "b3", "b5"), seat_of())
    assert legal(game, "move meat") == {"move meat a1 -> b3"}
    assert legal(game, "move salt") == {"move salt a2 -> b3", "move salt a3 -> b3"}
    game.play("move meat a1 -> b3")
    struct = game.struct()["seats"][0]["camels"]
    assert struct[0] == {"at": "a1", "good": None, "stolen": False}
    assert {"at": "b3", "good": "meat", "stolen": False} in struct


def test_g3_opponents_neither_help_nor_hinder() -> None:
    game = position(seat_of("a1 meat", "c1"), seat_of("b1", "c1 salt"))
    assert legal(game, "move") == set()
    game.play("camel off -> a2")
    assert game.clauses["G3"] == 1
    assert legal(game, "move") == {"move meat a1 -> a2"}
    game = position(seat_of("a1 meat", "b1"), seat_of("a1 salt", "b1 salt"))
    assert legal(game, "move") == {"move meat a1 -> b1"}


def test_g4_from_under_it_lands_on_top() -> None:
    game = position(seat_of("a1 meat under", "a1", "a2"), seat_of())
    assert legal(game, "move") == {"move stolen meat a1 -> a1", "move stolen meat a1 -> a2"}
    game.play("move stolen meat a1 -> a1")
    assert legal(game, "move") == {"move meat a1 -> a1", "move meat a1 -> a2"}
    before = game.struct()
    game.play("move meat a1 -> a1")  # legal, though only the action is lost
    assert game.struct() == before | {"actions_left": 2}


def test_g4_top_and_under_are_different_goods_to_move() -> None:
    game = position(seat_of("a1 meat under", "a1 meat", "a2"), seat_of())
    assert legal(game, "move") == {"move stolen meat a1 -> a2", "move meat a1 -> a2"}


def test_g5_delivery_cannot_be_declined() -> None:
    game = position(seat_of("d4 meat", "d5", "d6"), seat_of())
    assert legal(game, "move") == {"move meat d4 -> d5", "move meat d4 -> d6"}
    game.play("move meat d4 -> d5")
    assert game.seats[0].delivered["meat"] == 1 and game.seats[0].carried() == 0
    game = position(seat_of("d4 salt", "d5"), seat_of())
    game.play("move salt d4 -> d5")  # not the city of salt
    assert game.seats[0].carried() == 1


def test_g5_a_laden_camel_in_the_city_does_not_receive() -> None:
    game = position(seat_of("d4 meat", "d5 salt"), seat_of())
    assert legal(game, "move") == set()


# R: the refill.


def test_r1_r3_refill_in_the_middle_of_a_turn() -> None:
    free = ["meat", None, "salt", None, None, "hides", "hides", "gems"]
    game = position(seat_of("a1", "g1"), seat_of(), free=free, markers={8: 2, 3: 1}, bag={"paper": 3, "salt": 5})
    game.play("pick up meat at a1")
    assert (game.phase, game.seat, game.actions_left) == ("fill", 0, 3)
    assert game.legal() == []
    assert [source.markers for source in game.sources] == [0, 0, 2, 0, 0, 1, 1, 3]
    assert game.chance() == {"draw paper for space 1": 3, "draw salt for space 1": 5}
    game.resolve("draw paper for space 1")
    game.resolve("draw paper for space 2")
    assert game.chance() == {"draw paper for space 4": 1, "draw salt for space 4": 5}
    game.resolve("draw paper for space 4")
    game.resolve("draw salt for space 5")
    assert (game.phase, game.seat, game.actions_left) == ("play", 0, 3)
    assert [source.good for source in game.sources] == [
        "paper",
        "paper",
        "salt",
        "paper",
        "salt",
        "hides",
        "hides",
        "gems",
    ]
    assert [source.markers for source in game.sources] == [0, 0, 2, 0, 0, 1, 1, 3]
    assert legal(game, "pick up") == {"pick up paper at g1"}  # the camel at a1 is laden now
    assert game.clauses["R3"] == 2 and game.clauses["R2"] == 2


def test_r1_only_at_four() -> None:
    game = position(seat_of("a1"), seat_of(), free=["meat"] * 6 + [None] * 2)
    game.play("pick up meat at a1")
    assert game.phase == "play"


def test_r1_refill_with_the_last_action_of_a_turn() -> None:
    game = position(seat_of("a1"), seat_of(), free=["meat"] * 5 + [None] * 3, left=1)
    game.play("pick up meat at a1")
    assert (game.phase, game.seat, game.turn, game.actions_left) == ("fill", 0, 5, 0)
    for space in (1, 6, 7, 8):
        game.resolve(f"draw meat for space {space}")
    assert (game.phase, game.seat, game.turn, game.actions_left) == ("play", 1, 6, 4)


def test_r4_empty_bag() -> None:
    game = position(seat_of("a1"), seat_of(), free=["meat"] * 5 + [None] * 3, bag={}, markers={2: 1})
    game.play("pick up meat at a1")
    assert game.phase == "play" and game.clauses["R4"] == 1
    assert [source.markers for source in game.sources] == [0, 1, 0, 0, 0, 0, 0, 0]


# E: the end and the score.


def test_e1_delivery_after_the_bag_is_empty() -> None:
    game = position(seat_of("d4 meat", "d5", markers=1), seat_of(), bag={}, left=3)
    game.play("move meat d4 -> d5")
    assert (game.phase, game.seat, game.turn, game.actions_left, game.truncated) == ("over", 0, 5, 2, False)
    assert game.scores() == [4, 0] and game.returns() == [1, -1]
    assert game.legal() == [] and game.chance() == {}
    with pytest.raises(ValueError, match="over"):
        game.play("end turn")


def test_e1_not_while_goods_are_in_the_bag() -> None:
    game = position(seat_of("d4 meat", "d5"), seat_of(), bag={"gems": 1}, left=1)
    game.play("move meat d4 -> d5")
    assert (game.phase, game.seat) == ("play", 1)
    with pytest.raises(ValueError, match="not over"):
        game.returns()


def test_e1_in_the_turn_that_empties_the_bag() -> None:
    game = position(seat_of("a1", "d4 meat", "d5"), seat_of("g7 salt"), free=["meat"] * 5 + [None] * 3, seat=0)
    game.play("pick up meat at a1")
    for space in (1, 6, 7, 8):
        game.resolve(f"draw meat for space {space}")
    assert game.phase == "play" and game.clauses["R5"] == 1
    game.play("move meat d4 -> d5")
    assert game.phase == "over" and game.scores() == [3, 0]


def test_e1_with_the_last_action_of_the_last_turn_is_no_truncation() -> None:
    game = position(seat_of("d4 meat", "d5"), seat_of(), bag={}, left=1, turn=200)
    game.play("move meat d4 -> d5")
    assert game.phase == "over" and not game.truncated


@pytest.mark.parametrize(("carried", "penalty"), [(0, 0), (1, 0), (2, 1), (3, 3), (4, 6), (5, 10), (6, 15)])
def test_e2_e3_score(carried: int, penalty: int) -> None:
    goods = ["a2 meat under", "a3 gems", "b3 gems", "c3 meat", "d3 meat", "e3 meat under"][:carried]
    game = position(seat_of(*goods, of=6, markers=4, meat=2, hides=1, ivory=1, paper=1), seat_of(of=6), camels=6)
    assert game.scores() == [3 * 3 + 2 * 6 + 4 - penalty, 0]
    assert game.struct()["seats"][0]["score"] == 25 - penalty


def cut_off(*seats: dict[str, Any], returns: str) -> Caravan:
    """Give the game of these seats, cut off now."""
    game = position(*seats, turn=200, returns=returns)
    game.play("end turn")
    assert game.phase == "over" and game.truncated
    return game


def test_e4_more_goods_delivered_win_a_tie() -> None:
    tied = [seat_of(ivory=1), seat_of(meat=1, salt=1), seat_of(markers=5)]
    assert cut_off(*tied, returns="win").returns() == pytest.approx([-0.5, 1, -0.5])
    assert cut_off(*tied, returns="rank").returns() == pytest.approx([0, 1, -1])
    assert cut_off(*tied, returns="margin").returns() == pytest.approx([0.5, 0.5, -1])


def test_e4_shared_win() -> None:
    tied = [seat_of(meat=2), seat_of(meat=1, salt=1), seat_of(markers=5), seat_of(markers=5)]
    assert cut_off(*tied, returns="win").returns() == pytest.approx([1 / 3, 1 / 3, -1 / 3, -1 / 3])
    assert cut_off(*tied, returns="rank").returns() == pytest.approx([2 / 3, 2 / 3, -2 / 3, -2 / 3])
    assert cut_off(*tied, returns="margin").returns() == pytest.approx([2 / 3, 2 / 3, -2 / 3, -2 / 3])
    assert cut_off(seat_of(), seat_of(), returns="win").returns() == [0, 0]
    assert cut_off(seat_of(), seat_of(), returns="rank").returns() == [0, 0]


def test_e4_rank_of_four() -> None:
    seats = [seat_of(markers=1), seat_of(markers=9), seat_of(markers=1), seat_of(markers=4)]
    assert cut_off(*seats, returns="rank").returns() == pytest.approx([-2 / 3, 1, -2 / 3, 1 / 3])


def test_e5_truncation_counts_penalties() -> None:
    game = position(seat_of("a2 meat", "a3 meat"), seat_of(markers=1), turn=7, turn_limit=7, left=3)
    game.play("end turn")
    assert (game.phase, game.truncated, game.seat, game.turn, game.actions_left) == ("over", True, 0, 7, 0)
    assert game.scores() == [-1, 1] and game.returns() == [-1, 1]


def test_e5_after_a_refill_of_the_last_turn() -> None:
    free = ["meat"] * 5 + [None] * 3
    game = position(seat_of("a1"), seat_of(), free=free, left=1, turn=9, turn_limit=9)
    game.play("pick up meat at a1")
    assert game.phase == "fill"
    for space in (1, 6, 7, 8):
        game.resolve(f"draw meat for space {space}")
    assert game.phase == "over" and game.truncated


def test_e5_no_limit() -> None:
    game = position(seat_of(), seat_of(), turn=4000, turn_limit=0)
    game.play("end turn")
    assert (game.phase, game.turn) == ("play", 4001)


# X: the Rainbow Camel.


def test_x1_for_an_action_and_a_marker() -> None:
    game = position(seat_of(markers=2), seat_of(), rainbow_camel=True, left=3)
    inner = {f"{column}{row}" for column in "bcdef" for row in "23456"}
    assert legal(game, "rainbow") == {f"rainbow -> {cell}" for cell in inner}
    game.play("rainbow -> b2")
    assert (game.struct()["rainbow"], game.seats[0].markers, game.actions_left) == ("b2", 1, 2)
    assert legal(game, "rainbow") == {f"rainbow -> {cell}" for cell in inner - {"b2"}}
    game.play("rainbow -> c3")
    assert game.scores() == [0, 0] and legal(game, "rainbow") == set()


def test_x1_needs_a_marker_and_the_switch() -> None:
    assert legal(position(seat_of(), seat_of(markers=1), rainbow_camel=True), "rainbow") == set()
    assert legal(position(seat_of(markers=1), seat_of()), "rainbow") == set()


def test_x2_prices() -> None:
    game = position(seat_of("d4", markers=1), seat_of(), rainbow_camel=True, left=4)
    game.play("rainbow -> d4")
    assert game.actions_left == 3  # no more for an occupied space
    game.play("camel d4 -> d5")
    game.play("camel off -> d4")  # only the Rainbow Camel is there
    assert game.seat == 1


def test_x2_does_not_count_in_the_ban() -> None:
    mine = seat_of("a1", "g1 meat", "b2 meat", "f2 meat", "b6 meat")
    game = position(mine, seat_of(), rainbow_camel=True, rainbow="d4")
    assert legal(game, "pick up") == set()


@pytest.mark.parametrize("seat", [0, 1])
def test_x3_everybodys_link(seat: int) -> None:
    game = position(
        seat_of("b4 meat", "d4"), seat_of("c3 meat", "c5"), rainbow_camel=True, rainbow="c4", seat=seat, left=3
    )
    expected = "move meat b4 -> d4" if seat == 0 else "move meat c3 -> c5"
    assert legal(game, "move") == {expected}
    game.play(expected)
    assert game.clauses["X3"] == 1


def test_x3_alone_it_links_only_what_it_touches() -> None:
    game = position(seat_of("b4 meat", "d3"), seat_of(), rainbow_camel=True, rainbow="c4")
    assert legal(game, "move") == set()


def test_x4_receives_only_a_delivery() -> None:
    game = position(seat_of("d4 meat", "d4 salt"), seat_of(), rainbow_camel=True, rainbow="d5")
    assert legal(game, "move") == {"move meat d4 -> rainbow d5"}
    game.play("move meat d4 -> rainbow d5")
    assert game.scores() == [3, 0] and game.struct()["rainbow"] == "d5" and game.actions_left == 3
    assert game.seats[0].carried() == 1


def test_x4_from_under_and_over_a_link() -> None:
    game = position(seat_of("b5 meat under", "c5 salt"), seat_of(), rainbow_camel=True, rainbow="d5", bag={})
    game.play("move stolen meat b5 -> rainbow d5")
    assert game.phase == "over" and game.scores() == [3, 0]


def test_x4_from_a_laden_camel_in_its_own_space() -> None:
    game = position(seat_of("d5 meat under"), seat_of(), rainbow_camel=True, rainbow="d5")
    assert legal(game, "move") == {"move stolen meat d5 -> rainbow d5"}


def test_x4_one_wording_where_an_own_empty_camel_is_in_the_city_too() -> None:
    game = position(seat_of("d4 meat", "d5"), seat_of(), rainbow_camel=True, rainbow="d5")
    assert legal(game, "move") == {"move meat d4 -> d5"}


def test_x4_not_over_a_gap() -> None:
    game = position(seat_of("c4 meat"), seat_of("d4"), rainbow_camel=True, rainbow="d5")
    assert legal(game, "move") == set()


# Words, structs.


def test_struct_order_of_camels() -> None:
    camels = ["a2", "b1 gems", "b1 meat under", "b1 meat", "b1"]
    game = position(seat_of(*camels), seat_of())
    rows = [(camel["at"], camel["good"], camel["stolen"]) for camel in game.struct()["seats"][0]["camels"]]
    assert rows == [
        ("b1", None, False),
        ("b1", "meat", False),
        ("b1", "meat", True),
        ("b1", "gems", False),
        ("a2", None, False),
    ]
    off_last = position(seat_of("g7"), seat_of()).struct()["seats"][0]["camels"]
    assert [camel["at"] for camel in off_last] == ["g7", None, None, None, None]


def test_illegal_words_change_nothing() -> None:
    game = position(seat_of("a1"), seat_of("a1 salt"), left=1)
    before, counts = game.struct(), Counter(game.clauses)
    for words in ("camel off -> a1", "camel a1 -> a1", "pick up salt at a1", "rainbow -> d4", "end", "", "END TURN"):
        with pytest.raises(ValueError, match="not legal"):
            game.play(words)
    with pytest.raises(ValueError, match="Chance"):
        game.resolve("seat 1 starts")
    assert game.struct() == before and game.clauses == counts


def check_conservation(game: Caravan, spent: int) -> None:
    """Check that no good, demand marker, theft marker or camel was lost or made."""
    struct = game.struct()
    total = Counter(Caravan(game.params).bag)
    held = Counter(struct["bag"]) + Counter(s["good"] for s in struct["sources"] if s["good"])
    for seat in struct["seats"]:
        held += Counter(seat["delivered"]) + Counter(c["good"] for c in seat["camels"] if c["good"])
        assert len(seat["camels"]) == game.params["camels"]
        assert all(camel["at"] for camel in seat["camels"] if camel["good"])
    assert held == total and sum(total.values()) in (32, 48)
    drawn = sum(total.values()) - 8 - sum(struct["bag"].values())
    refills = max(0, (drawn + 3) // 4)
    if struct["phase"] == "fill" and struct["turn"] > 0 and drawn % 4 == 0:
        refills += 1  # one has begun: its markers lie there, its goods are still to be drawn
    markers = sum(s["markers"] for s in struct["sources"]) + sum(seat["markers"] for seat in struct["seats"])
    assert markers + spent == 4 + 4 * refills
    assert sum(seat["theft"] for seat in struct["seats"]) == game.players


@pytest.mark.parametrize("seed", range(12))
def test_conservation_and_struct_round_trip(seed: int) -> None:
    rng = random.Random(seed)
    game = Caravan(random_params(rng))
    movers = mix(game.players, rng)
    spent = 0
    while game.phase != "over":
        struct = game.struct()
        again = Caravan.from_struct(copy.deepcopy(struct))
        assert again.struct() == struct and sorted(again.legal()) == sorted(game.legal())
        assert len(game.legal()) == len(set(game.legal()))
        if game.phase == "play":
            words = movers[game.seat](game, rng)
            spent += words.startswith("rainbow")
            game.play(words)
            again.play(words)
        else:
            words = draw_chance(game, rng)
            game.resolve(words)
            again.resolve(words)
        assert again.struct() == game.struct()
        check_conservation(game, spent)
    assert sum(game.returns()) == pytest.approx(0)


def test_distinct_words_lead_to_distinct_positions() -> None:
    rng = random.Random(5)
    game = Caravan({"players": 3, "rainbow_camel": True, "turn_limit": 40})
    movers = mix(3, rng)
    while game.phase != "over":
        if game.phase == "play":
            if rng.random() < 0.15 and game.actions_left > 1:  # with one action left, a vain one equals the turn's end
                after = []
                for words in game.legal():
                    copied = Caravan.from_struct(game.struct(), count=False)
                    copied.play(words)
                    after.append(str(copied.struct()))
                assert len(after) == len(set(after))
            game.play(movers[game.seat](game, rng))
        else:
            game.resolve(draw_chance(game, rng))


def test_counting_can_be_switched_off() -> None:
    rng = random.Random(1)
    game = Caravan({}, count=False)
    play_game(game, [purposeful_mover, greedy_mover], rng)
    assert game.phase == "over" and not game.clauses


# Whole games.


@pytest.mark.parametrize(("players", "refills", "markers"), [(2, 6, 28), (3, 6, 28), (4, 10, 44)])
def test_r5_purposeful_games_end_by_delivery(players: int, refills: int, markers: int) -> None:
    for seed in range(5):
        game = Caravan({"players": players})
        play_game(game, [purposeful_mover] * players, random.Random(seed))
        assert not game.truncated and 20 < game.turn < 150
        assert game.clauses["R1"] == refills and game.clauses["R5"] == game.clauses["E1"] == 1
        there = sum(source.markers for source in game.sources) + sum(seat.markers for seat in game.seats)
        assert there == markers


@pytest.mark.parametrize("mover", [random_mover, greedy_mover, hoarding_mover])
def test_other_movers_come_to_an_end(mover: Mover) -> None:
    game = Caravan({"players": 3, "turn_limit": 60})
    play_game(game, [mover] * 3, random.Random(3))
    assert game.phase == "over"


def test_games_are_reproducible() -> None:
    ends = []
    for _ in range(2):
        game = Caravan({"players": 4, "rainbow_camel": True, "turn_limit": 60})
        rng = random.Random(9)
        play_game(game, mix(4, rng), rng)
        ends.append(game.struct())
    assert ends[0] == ends[1]


def test_mixture_exercises_every_clause(capsys: pytest.CaptureFixture[str]) -> None:
    """
    Play a mixture of games, and print how often each clause mattered.

    H6 cannot come up in play: a laden camel gets its good on a goods space or by a move that does not deliver, and
    never moves, so no good ever lies on top of a camel in its own city. Its test above sets the position.
    """
    counts: Counter[str] = Counter()
    seen: Counter[tuple[str, Any]] = Counter()
    turns = games = 0
    began = time.process_time()
    while games < 200:
        rng = random.Random(games)
        game = Caravan(random_params(rng))
        play_game(game, mix(game.players, rng), rng)
        counts += game.clauses
        seen.update((key, value) for key, value in game.params.items() if key != "board")
        turns += game.turn
        games += 1
    spent = time.process_time() - began
    with capsys.disabled():
        print(f"\n{games} games, {turns / games:.0f} turns and {1000 * spent / games:.0f} ms each; clauses exercised:")
        for letter in "MBSTPHGREX":
            print("  " + "  ".join(f"{clause} {counts[clause]}" for clause in ALL_CLAUSES if clause[0] == letter))
    assert set(counts) <= set(ALL_CLAUSES)
    assert [clause for clause in ALL_CLAUSES if not counts[clause]] == ["H6"]
    for players in (2, 3, 4):
        assert seen["players", players] > 10
    for switch in ("rainbow_camel", "last_camel_ban_on_steal"):
        assert seen[switch, True] > 10 and seen[switch, False] > 10
