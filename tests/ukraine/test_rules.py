"""Carcassonne on a map: every clause of RULES.md by example, on small built positions.

Tiles that come up often, edges N E S W not turned: B-D city N, road E W; B-E city N; B-N city N W; B-G city E W;
B-U road E W; B-V road S W; B-B monastery. A quarter turn takes each edge to the next one.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from caravan_env import make_game
from caravan_env.games.ukraine.layout import EVENT_MONASTERY
from caravan_env.games.ukraine.tables import square_name
from tests.ukraine.build import (
    CHIP_COPIES,
    COPIES,
    FIGURES,
    SALT,
    after,
    board,
    chances,
    home,
    legal,
    new_game,
    over,
    paid,
    play,
    points,
    position,
    scores,
    squares,
)

START = "B-D K11 0"


def city(figure: str = "", *others: str, tile: str | None = "B-E", **params: Any) -> Any:
    """Return a position with a city K11, K10 (of two edges) that B-E at K9 turned 2 completes."""
    return position(START, f"B-G K10 1{figure}", *others, tile=tile, **params)


# --- M: the map ------------------------------------------------------------------------------------------------------


def test_m1_void_squares_towns_and_the_plane() -> None:
    state = position("B-D B2 0", tile="B-V", map=board("o.o", "oSo", "oTo"))
    assert squares(state) == {"A2", "C2", "B3"}
    plane = new_game(map="plane")
    assert {words.split()[3] for words in chances(plane)} == {"K11"}
    assert plane.to_json()["chumak"] == plane.to_json()["supply"] == {}


def test_m2_no_tile_on_a_large_city_but_on_start_squares() -> None:
    state = position("B-D A1 1", "B-E C1 3", tile="B-E", map=board("S1o", "ooo"))
    assert squares(state) == {"B2", "C2"}  # not B1; A2 needs a road
    assert new_game(map=board("So")).to_json()["phase"] == "start"


def test_m3_printed_borders_are_matched_neutral_ones_take_any_edge() -> None:
    printed = board("ooo", "oSo", A1_N="road", C1_N="city")
    state = position("B-D B2 2", "B-B B1 0", tile="B-V", map=printed)
    assert legal(state, "place B-V at A1") == {"place B-V at A1 turned 1"}  # road N W
    assert not legal(state, "place B-V at C1")
    assert legal(position("B-D B2 2", tile="B-E", map=printed), "place B-E at B1") == {
        f"place B-E at B1 turned {k}" for k in (0, 1, 3)
    }


def test_m4_city_and_road_are_closed_at_the_border() -> None:
    state = position("B-D B2 2", "B-B B1 0", tile="B-V", map=board("ooo", "oSo"))
    struct = play(state, "place B-V at A1 turned 1", "meeple on road N W")
    assert (paid(struct), home(struct)) == (["road A1: 1 0"], "9 1 1 1")


def test_m5_a_border_makes_no_square_eligible() -> None:
    state = position("B-D A1 0", tile="B-U", map=board("Soooo", E1_E="road"))
    assert squares(state) == {"B1"}


def test_m6_a_large_city_is_a_segment_with_its_squares_and_shields() -> None:
    small = board("S1o", shields={"1": 2})
    state = position("B-D A1 1", tile="B-E", map=small)
    assert legal(state) == {"place B-E at C1 turned 3"}  # only a city meets it
    struct = play(state, "place B-E at C1 turned 3", "meeple on city W")
    assert paid(struct) == ["city A1 B1 C1: 10 0"]


def test_m6_every_edge_of_a_large_city_is_open() -> None:
    small = board(".o.", "S1o", ".o.")
    laid = ("B-D A2 1", "B-E B1 2: 1 meeple on city S", "B-E C2 3")
    state = position(*laid, tile="B-E", map=small)
    assert scores(state.to_json()) == [0, 4]  # not complete: three tiles and one square
    assert paid(play(state, "place B-E at B3 turned 0", "no figure")) == ["city B1 A2 B2 C2 B3: 0 10"]


def test_m7_a_connected_large_city_makes_squares_eligible_and_is_extended_anywhere() -> None:
    small = board("oSooo", "o11oo", "ooooo", shields={"1": 1})
    state = position("B-D B1 2", tile="B-E", map=small)
    assert squares(state) == {"A2", "D2", "B3", "C3"}  # A1 and C1 need a road
    struct = play(state, "place B-E at C3 turned 0")
    assert struct["phase"] == "figure"
    taken = position("B-D B1 2", "B-E C3 0: 1 meeple on city N", tile="B-E", map=small)
    play(taken, "place B-E at A2 turned 1")
    assert legal(taken, "meeple on city") == set()  # the whole city holds a figure


def test_m7_joining_the_large_city_elsewhere_triggers_the_builder() -> None:
    small = board("oSooo", "o11oo", "ooooo")
    laid = ("B-D B1 2", "B-E C3 0: 0 meeple on city N", "B-E B3 0: 0 builder on city N")
    assert play(position(*laid, tile="B-E", map=small), "place B-E at D2 turned 3")["again"]


# --- S: set-up -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "figures"),
    [
        ({}, "9 1 1 1"),
        ({"map": "plane"}, "7 1 1 1"),
        ({"meeples": 4}, "4 1 1 1"),
        ({"map": "plane", "meeples": 9}, "9 1 1 1"),
        ({"inns": False}, "9 0 1 1"),
        ({"traders": False}, "9 1 0 0"),
        ({"expansion_rules": "tiles_only"}, "9 0 0 0"),
    ],
)
def test_s1_s2_figures(params: dict[str, Any], figures: str) -> None:
    struct = new_game(players=3, **params).to_json()
    assert [home(struct, seat) for seat in range(3)] == [figures] * 3


def test_s3_tiles() -> None:
    for inns, traders, number in ((True, True, 114), (False, True, 96), (True, False, 90), (False, False, 72)):
        struct = new_game(inns=inns, traders=traders).to_json()
        assert sum(struct["bag"].values()) == number - 1
        assert struct["tile"] == "B-D"
        for tile, copies in struct["bag"].items():
            assert copies == COPIES[tile] - (tile == "B-D")


def test_s4_two_start_squares_at_random() -> None:
    two = board("Soooo", "ooooS")
    state = new_game(map=two)
    assert (state.to_json()["phase"], state.to_json()["seat"]) == ("start", -1)
    places = chances(state)
    assert set(places) == {f"start B-D at {square} turned {k}" for square in ("A1", "E2") for k in range(4)}
    assert len(set(places.values())) == 1
    struct = play(state, "start B-D at E2 turned 0")
    assert (struct["phase"], chances(state)["second B-E"]) == ("second", pytest.approx(5 / 113))
    assert play(state, "second B-E")["phase"] == "lay"
    assert chances(state) == {f"start B-E at A1 turned {k}": 0.25 for k in range(4)}
    struct = play(state, "start B-E at A1 turned 3")
    assert (struct["phase"], struct["seat"]) == ("tile", 0)
    assert [tile["square"] for tile in struct["tiles"]] == ["E2", "A1"]


def test_s4_what_is_printed_and_what_lies_there_is_matched() -> None:
    state = new_game(map=board("SSo", A1_N="city", A1_W="road"))
    assert set(chances(state)) >= {"start B-D at A1 turned 0"}
    assert "start B-D at A1 turned 1" not in chances(state)
    play(state, "start B-D at A1 turned 0", "second B-U")
    assert set(chances(state)) == {"start B-U at B1 turned 0"}


def test_s5_a_second_tile_that_fits_no_start_square_is_out() -> None:
    state = new_game(map=board("SoS", C1_N="road", C1_E="road", C1_S="road"))
    struct = play(state, "start B-D at A1 turned 0", "second B-E")
    assert (struct["phase"], struct["out"], struct["tile"], len(struct["tiles"])) == ("second", {"B-E": 1}, None, 1)
    play(state, "second B-W")
    assert set(chances(state)) == {"start B-W at C1 turned 3"}


def test_s6_set_up_tiles_draw_no_chips_and_their_goods_go_to_nobody() -> None:
    salt = new_game(map=board("SCo", "ooo"))
    struct = play(salt, "start B-D at A1 turned 0")
    assert (struct["phase"], sum(struct["supply"].values())) == ("tile", 30)
    small = new_game(map=board("S1S", "ooo"))
    struct = play(small, "start B-D at A1 turned 1", "second T-02", "start T-02 at C1 turned 0")
    assert (struct["events"], struct["seats"][0]["goods"]["wine"]) == ([], 0)


def test_s7_seat_0_begins_and_seats_follow_in_a_circle() -> None:
    state = new_game(players=3, map="plane", chips=False)
    struct = play(state, "start B-D at K11 turned 0")
    seats = [struct["seat"]]
    for column in "LMNO":
        play(state, "draw B-U", f"place B-U at {column}11 turned 0")
        seats.append(play(state, "no figure")["seat"])
    assert seats == [0, 1, 2, 0, 1]


def test_s8_thirty_chips() -> None:
    assert new_game(map=SALT).to_json()["supply"] == CHIP_COPIES
    state = make_game("ukraine", map=SALT, chips=False).new_state()
    struct = play(state, "start B-D at B2 turned 0", "draw B-U", "place B-U at C2 turned 0")
    assert (struct["phase"], struct["chumak"], struct["supply"]) == ("figure", {}, {})
    play(state, "no figure", "draw B-A", "place B-A at D2 turned 1")
    assert state.to_json()["phase"] == "figure"


# --- G: laying a tile ------------------------------------------------------------------------------------------------


def test_g1_next_to_a_tile_and_matching() -> None:
    state = position(START, tile="B-E")
    by_square = {"K10": {"2"}, "K12": {"1", "2", "3"}}
    assert squares(state) == set(by_square)  # no road of its own for L11 and J11
    for square, turned in by_square.items():
        assert legal(state, f"place B-E at {square}") == {f"place B-E at {square} turned {k}" for k in turned}


def test_g1_each_tile_is_equally_likely() -> None:
    odds = chances(position(START))
    assert odds["draw B-V"] == pytest.approx(9 / 113) and odds["draw T-24"] == pytest.approx(1 / 113)
    assert sum(odds.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("tile", "square", "turned"),
    [("B-B", "K12", "0"), ("B-C", "K10", "0"), ("B-X", "L11", "0"), ("T-24", "J11", "0")]
    + [("B-U", "K12", "0"), ("B-U", "L11", "0"), ("B-H", "K10", "0"), ("B-V", "K12", "03"), ("B-V", "L11", "01")],
)
def test_g2_rotations_that_join_the_same_are_one_action(tile: str, square: str, turned: str) -> None:
    state = position(START, tile=tile)
    assert legal(state, f"place {tile} at {square}") == {f"place {tile} at {square} turned {k}" for k in turned}


def test_g3_a_tile_that_fits_nowhere_is_out() -> None:
    state = position("B-D A1 0", map=board("So"))
    struct = play(state, "draw B-E")
    assert (struct["phase"], struct["seat"], struct["tile"], struct["out"]) == ("tile", 0, None, {"B-E": 1})
    assert struct["bag"]["B-E"] == 4
    assert play(state, "draw B-U")["phase"] == "place"


def test_g4_the_order_of_a_part_turn() -> None:
    squares_ = board("ooooo", "oSCCo", "ooooo")
    state = position("B-D B2 0", tile="B-U", map=squares_, lying={"C2": "purple 2"})
    struct = play(state, "place B-U at C2 turned 0")  # on a Chumak square, beside another one, with a road
    assert (points(struct), struct["phase"], struct["pending"]) == ([2, 0], "chip", {"draws": 2})
    assert play(state, "draw orange 1", "draw orange 1")["phase"] == "figure"
    struct = play(state, "trade at D2", "add orange 1", "done")
    assert paid(struct) == ["trade D2: 1 0"]


# --- F: figures ------------------------------------------------------------------------------------------------------


def test_f1_one_figure_on_the_tile_just_laid() -> None:
    state = city()
    play(state, "place B-E at K12 turned 2")
    assert legal(state, "meeple") == {"meeple on city S", "meeple on field NNW NNE ENE ESE WSW WNW"}
    struct = play(state, "meeple on city S")
    assert (struct["phase"], struct["seat"], home(struct)) == ("tile", 1, "6 1 1 1")
    assert struct["tiles"][-1]["figure"] == {"seat": 0, "kind": "meeple", "segment": "city S"}


def test_f1_no_phase_where_no_figure_can_be_put() -> None:
    standing = "B-U L11 0: 0 meeple on field NNW NNE ENE WNW"
    state = position(START, standing, tile="B-U", meeples=1, expansion_rules="tiles_only")
    assert play(state, "place B-U at M11 turned 0")["phase"] == "tile"


def test_f2_no_meeple_where_anybody_has_a_figure() -> None:
    state = city(": 1 meeple on city N S", tile="B-F")
    play(state, "place B-F at K9 turned 1")
    assert legal(state, "meeple on city") == legal(state, "large meeple on city") == set()
    own = city(": 0 meeple on city N S", tile="B-F")
    play(own, "place B-F at K9 turned 1")
    assert legal(own, "meeple on city") == set()
    free = city(tile="B-F")
    play(free, "place B-F at K9 turned 1")
    assert legal(free, "large meeple on city") == {"large meeple on city N S"}


def test_f3_a_figure_that_comes_home_waits_for_the_next_part_turn() -> None:
    state = city(": 0 meeple on city N S", meeples=1, expansion_rules="tiles_only")
    struct = play(state, "place B-E at K9 turned 2")
    assert (struct["phase"], struct["seat"], home(struct)) == ("tile", 1, "1 0 0 0")
    play(state, "draw B-U", "place B-U at L11 turned 0", "no figure", "draw B-U", "place B-U at M11 turned 0")
    assert legal(state, "meeple")


def joined(one: str, other: str) -> Any:
    """Return a position in which B-N at K9 turned 2 joins two cities, one figure in each."""
    laid = (f"B-G K10 1: {one} on city N S", "B-U L11 0", f"B-E L10 0: {other} on city N", "B-N L9 3")
    return position(START, *laid, tile="B-N", players=3)


def test_f4_the_large_meeple_counts_as_two_for_the_majority_only() -> None:
    state = joined("0 meeple", "1 large meeple")
    struct = play(state, "place B-N at K9 turned 2", "no figure")
    assert paid(struct) == ["city K9 L9 K10 L10 K11: 0 10 0"]
    assert (home(struct), home(struct, 1)) == ("7 1 1 1", "7 1 1 1")


def test_f5_the_builder_needs_a_meeple_in_an_open_road_or_city() -> None:
    road = position(START, "B-U L11 0: 0 large meeple on road E W", tile="B-U")
    play(road, "place B-U at M11 turned 0")
    assert legal(road, "builder") == {"builder on road E W"}
    struct = play(road, "builder on road E W")
    assert (home(struct), struct["again"], struct["extra"], struct["seat"]) == ("7 0 0 1", False, False, 1)
    of_others = position(START, "B-U L11 0: 1 meeple on road E W", tile="B-U")
    play(of_others, "place B-U at M11 turned 0")
    assert legal(of_others, "builder") == set()
    done = city(": 0 meeple on city N S")
    play(done, "place B-E at K9 turned 2")
    assert legal(done, "builder") == set()  # the city is completed


def test_f6_the_pig_needs_a_meeple_in_the_field() -> None:
    laid = (START, "B-U L11 0: 0 meeple on field ESE SSE SSW WSW")
    state = position(*laid, tile="B-U")
    play(state, "place B-U at M11 turned 0")
    assert legal(state, "pig") == {"pig on field ESE SSE SSW WSW"}
    assert home(play(state, "pig on field ESE SSE SSW WSW")) == "6 1 1 0"
    other = position(*laid, tile="B-U", seat=1)
    play(other, "place B-U at M11 turned 0")
    assert legal(other, "pig") == set()


def test_f7_builders_and_pigs_have_no_weight_and_come_home() -> None:
    laid = (START, "B-G K10 1: 0 meeple on city N S", "B-F K9 1: 0 builder on city N S")
    laid += ("B-U L11 0", "B-B L10 0", "B-E L9 0: 1 meeple on city N", "B-N L8 3")
    struct = play(position(*laid, tile="B-N"), "place B-N at K8 turned 2", "no figure")
    assert paid(struct) == ["city K8 L8 K9 L9 K10 K11: 14 14"]
    assert (home(struct), home(struct, 1)) == ("7 1 1 1", "7 1 1 1")


# --- P: points -------------------------------------------------------------------------------------------------------


def test_p1_the_most_strength_takes_all_and_figures_come_home() -> None:
    struct = play(city(": 1 meeple on city N S"), "place B-E at K9 turned 2", "no figure")
    assert (points(struct), paid(struct)) == ([0, 6], ["city K9 K10 K11: 0 6"])
    assert (home(struct, 1), struct["tiles"][1]["figure"]) == ("7 1 1 1", None)


def test_p1_two_features_joined_by_one_tile_and_a_tie() -> None:
    for one, other, expected in (
        ("0 meeple", "2 meeple", "10 0 10"),
        ("1 meeple", "1 meeple", "0 10 0"),
        ("1 large meeple", "2 meeple", "0 10 0"),
    ):
        struct = play(joined(one, other), "place B-N at K9 turned 2", "no figure")
        assert paid(struct) == [f"city K9 L9 K10 L10 K11: {expected}"]


def test_p1_several_features_completed_at_once() -> None:
    state = position(START, "B-U J11 0", "B-A J10 3: 1 meeple on road E", tile="B-L")
    struct = play(state, "place B-L at K10 turned 2", "meeple on city S")
    assert paid(struct) == ["city K10 K11: 4 0", "road J10 K10: 0 2"]
    assert points(struct) == [4, 2]


LOOP = (START, "B-V K12 3: 0 meeple on road E S", "B-V L12 0", "B-V K13 2")


def test_p1_a_ring_of_road_has_no_open_end() -> None:
    struct = play(position(*LOOP, tile="B-V"), "place B-V at L13 turned 1", "no figure")
    assert paid(struct) == ["road K12 L12 K13 L13: 4 0"]


def test_p2_road_one_point_a_tile() -> None:
    state = position(START, "B-A J11 3", "B-U L11 0", tile="B-A")
    struct = play(state, "place B-A at M11 turned 1", "meeple on road W")
    assert (paid(struct), home(struct)) == (["road J11 K11 L11 M11: 4 0"], "7 1 1 1")


def test_p2_p3_a_tile_that_a_feature_touches_twice_counts_once() -> None:
    ring = (START, "B-E K10 2", "B-I K9 0: 0 meeple on city N", "B-N K8 3", "B-N J8 2")
    assert scores(position(*ring).to_json()) == [3, 0]
    struct = play(position(*ring, tile="B-N"), "place B-N at J9 turned 1", "no figure")
    assert paid(struct) == ["city J8 K8 J9 K9: 8 0"]
    crossing = (START, "T-24 L11 0: 0 meeple on road E W", "B-V M11 0", "B-V M12 1")
    state = position(*crossing, tile="B-V")
    struct = play(state, "place B-V at L12 turned 2", "no figure")
    assert scores(struct) == [5, 0]  # K11, L11 once, M11, M12, L12; open at K11 and north of L11


def test_p3_city_two_points_a_tile_and_a_shield() -> None:
    struct = play(position(START, tile="B-E"), "place B-E at K10 turned 2", "meeple on city S")
    assert paid(struct) == ["city K10 K11: 4 0"]
    shield = position(START, "B-F K10 1", tile="B-E")
    assert paid(play(shield, "place B-E at K9 turned 2", "meeple on city S")) == ["city K9 K10 K11: 8 0"]


def test_p3_a_city_closed_by_one_tile_and_borders_is_complete() -> None:
    state = position("B-D B2 2", tile="B-E", map=board("ooo", "oSo"))
    assert paid(play(state, "place B-E at B1 turned 0", "meeple on city N")) == ["city B1: 2 0"]


def test_p4_inn_and_cathedral() -> None:
    inn = position(START, "I-15 L11 0", "B-A M11 1", tile="B-A")
    assert paid(play(inn, "place B-A at J11 turned 3", "meeple on road E")) == ["road J11 K11 L11 M11: 8 0"]
    two = position(START, "I-15 L11 0", "I-16 M11 0", "B-A M12 2", tile="B-A")
    assert paid(play(two, "place B-A at J11 turned 3", "meeple on road E")) == ["road J11 K11 L11 M11 M12: 10 0"]
    church = (START, "I-01 K10 0", "B-E J10 1", "B-E L10 3")
    state = position(*church, tile="B-E")
    assert paid(play(state, "place B-E at K9 turned 2", "meeple on city S")) == ["city K9 J10 K10 L10 K11: 15 0"]


def test_p5_monastery_with_all_neighbours() -> None:
    laid = [START, "B-B K12 0: 1 meeple on monastery", "B-U J11 0", "B-U L11 0", "B-B J12 0", "B-B L12 0"]
    laid += ["B-U J13 0", "B-U K13 0"]
    state = position(*laid, tile="B-U")
    assert scores(state.to_json()) == [0, 8]
    struct = play(state, "place B-U at L13 turned 0", "no figure")
    assert (paid(struct), home(struct, 1)) == (["monastery K12: 0 9"], "7 1 1 1")


def test_p5_a_monastery_in_a_full_place_is_scored_at_once() -> None:
    laid = [START, "B-U J11 0", "B-U L11 0", "B-B J12 0", "B-B L12 0", "B-U J13 0", "B-U L13 0", "B-U K13 0"]
    struct = play(position(*laid, tile="B-B"), "place B-B at K12 turned 0", "meeple on monastery")
    assert (paid(struct), home(struct)) == (["monastery K12: 9 0"], "7 1 1 1")


def test_p5_two_monasteries_completed_by_one_tile() -> None:
    state = position("B-D A1 3", "B-B B1 0: 1 meeple on monastery", tile="B-B", map=board("Soo"))
    struct = play(state, "place B-B at C1 turned 0", "meeple on monastery")
    assert paid(struct) == ["monastery B1: 0 3", "monastery C1: 2 0"]


@pytest.mark.parametrize(("switch", "pays"), [("neighbours", 4), ("nine", 9)])
def test_p5_monastery_at_the_border(switch: str, pays: int) -> None:
    laid = ("B-D A1 0", "B-B A2 0: 0 meeple on monastery", "B-U B1 0")
    state = position(*laid, tile="B-B", map=board("So.", "oo."), border_monastery=switch)
    struct = play(state, "place B-B at B2 turned 0", "no figure")
    assert paid(struct) == [f"monastery A2: {pays} 0"]


def test_p5_squares_of_a_large_city_are_filled_neighbours() -> None:
    laid = ("B-D B1 3", "B-A B2 2: 0 meeple on monastery")
    state = position(*laid, tile="B-E", map=board("1S", "oo"))
    assert scores(state.to_json()) == [3, 0]  # itself, B1, A1
    assert paid(play(state, "place B-E at A2 turned 0", "no figure")) == ["monastery B2: 4 0"]


def test_p6_features_without_a_figure_pay_nobody() -> None:
    struct = play(city(), "place B-E at K9 turned 2", "no figure")
    assert (points(struct), struct["events"]) == ([0, 0], [])


# --- B: the builder --------------------------------------------------------------------------------------------------

BUILT = (START, "B-U L11 0: 0 meeple on road E W", "B-U M11 0: 0 builder on road E W")


def test_b1_extending_the_builders_road_gives_an_extra_part_turn() -> None:
    state = position(*BUILT, tile="B-U")
    struct = play(state, "place B-U at N11 turned 0")
    assert (struct["phase"], struct["again"], struct["extra"]) == ("figure", True, False)
    struct = play(state, "no figure")
    assert (struct["phase"], struct["seat"], struct["again"], struct["extra"]) == ("tile", 0, False, True)
    elsewhere = position(*BUILT, tile="B-E")
    assert not play(elsewhere, "place B-E at K10 turned 2")["again"]
    other = position(*BUILT, tile="B-U", seat=1)
    assert not play(other, "place B-U at N11 turned 0")["again"]


def test_b2_one_extra_part_turn_and_none_from_it() -> None:
    state = position(*BUILT, tile="B-U", extra=True)
    struct = play(state, "place B-U at N11 turned 0")
    assert (struct["again"], struct["extra"]) == (False, True)
    struct = play(state, "no figure")
    assert (struct["seat"], struct["extra"]) == (1, False)


def test_b2_b4_it_counts_even_if_the_builder_comes_home() -> None:
    state = position(*BUILT, "B-A J11 3", tile="B-A")
    assert play(state, "place B-A at N11 turned 1")["again"]  # before anything is scored
    struct = play(state, "no figure")
    assert paid(struct) == ["road J11 K11 L11 M11 N11: 5 0"]
    assert (home(struct), struct["seat"], struct["extra"]) == ("7 1 1 1", 0, True)


def test_b3_it_is_automatic_and_lapses_without_a_tile() -> None:
    state = position(*BUILT, tile="B-U", bag={})
    struct = play(state, "place B-U at N11 turned 0", "no figure")
    assert (struct["phase"], struct["seat"], struct["extra"], struct["again"]) == ("over", 0, False, False)
    small = board("Soooo")
    laid = ("B-D A1 0", "B-U B1 0: 0 meeple on road E W", "B-U C1 0: 0 builder on road E W")
    state = position(*laid, tile="B-U", map=small)
    play(state, "place B-U at D1 turned 0", "no figure")
    struct = play(state, "draw B-E")  # fits nowhere
    assert (struct["phase"], struct["seat"], struct["extra"], struct["out"]) == ("tile", 0, True, {"B-E": 1})
    assert play(state, "draw B-U", "place B-U at E1 turned 0")["phase"] in ("figure", "over")


# --- T: goods --------------------------------------------------------------------------------------------------------


def test_t1_who_completes_a_city_takes_its_goods() -> None:
    for figure, expected in ((": 1 meeple on city N S", "0 6"), ("", "0 0")):
        state = position(START, f"T-15 K10 1{figure}", tile="B-E")
        struct = play(state, "place B-E at K9 turned 2", "no figure")
        assert paid(struct) == [f"city K9 K10 K11: {expected} wine"]
        assert [seat["goods"]["wine"] for seat in struct["seats"]] == [1, 0]


# --- H: Chumak chips -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("laid", "draws"), [("B-U at C2 turned 0", 2), ("B-V at C2 turned 0", 1)])
def test_h1_chips_for_a_tile_beside_a_chumak_square(laid: str, draws: int) -> None:
    state = position("B-D B2 0", tile=laid[:3], map=SALT)
    struct = play(state, f"place {laid}")
    assert (struct["phase"], struct["seat"], struct["pending"]) == ("chip", 0, {"draws": draws})
    assert chances(state)["draw purple 1"] == pytest.approx(6 / 30)
    struct = play(state, *["draw purple 1"] * draws)
    assert (struct["phase"], struct["seats"][0]["chips"]) == ("figure", {"purple 1": draws})
    assert struct["supply"]["purple 1"] == 6 - draws


def test_h1_every_chumak_square_counts_and_a_short_supply_gives_what_is_left() -> None:
    around = board(".oCo", "oSoC", "ooCo")
    state = position("B-D B2 0", tile="B-X", map=around)
    assert play(state, "place B-X at C2 turned 0")["pending"] == {"draws": 6}
    hands = "purple 1, " * 6 + "purple 2, " * 4 + "light blue 1, " * 6 + "light blue 2, " * 4 + "orange 1, " * 6
    state = position("B-D B2 0", tile="B-X", map=around, chips=("", hands + "orange 2, orange 2"))
    assert play(state, "place B-X at C2 turned 0")["pending"] == {"draws": 2}
    assert play(state, "draw orange 2", "draw orange 2")["phase"] == "figure"
    state = position("B-D B2 0", tile="B-X", map=around, chips=("", hands + "orange 2, " * 4))
    assert play(state, "place B-X at C2 turned 0")["phase"] == "figure"


def test_h2_a_tile_on_a_chumak_square_pays_what_lies_there() -> None:
    state = position("B-D B2 0", "B-U C2 0", tile="B-U", map=SALT, lying={"D2": "purple 1, orange 2, orange 2"})
    struct = play(state, "place B-U at D2 turned 0")
    assert (points(struct), paid(struct)) == ([5, 0], ["chips D2: 5 0"])
    assert (struct["supply"], struct["chumak"], struct["phase"]) == (CHIP_COPIES, {}, "figure")
    empty = position("B-D B2 0", "B-U C2 0", tile="B-U", map=SALT)
    assert play(empty, "place B-U at D2 turned 0")["events"] == []


def test_h3_chips_in_hand_are_hidden_their_number_is_not() -> None:
    one = position("B-D B2 0", map=SALT, chips=("purple 1", "orange 1, orange 2"))
    other = position("B-D B2 0", map=SALT, chips=("purple 1", "purple 2, light blue 1"))
    more = position("B-D B2 0", map=SALT, chips=("purple 1", "orange 1"))
    assert np.array_equal(one.observe(0), other.observe(0))
    assert not np.array_equal(one.observe(0), more.observe(0))
    assert not np.array_equal(one.observe(1), other.observe(1))


def trader(chips: str, lying: str = "", **params: Any) -> Any:
    """Return a position in which seat 0 may put a figure or trade with its chips at D2 or E3."""
    map_ = board("ooooo", "oSoCo", "ooooC")
    state = position("B-D B2 0", tile="B-U", map=map_, chips=(chips,), lying={"D2": lying}, **params)
    play(state, "place B-U at A2 turned 0")
    return state


def test_h4_a_trade_in_place_of_a_figure() -> None:
    state = trader("purple 1, purple 1, purple 1")
    assert legal(state, "trade") == {"trade at D2", "trade at E3"}
    assert after(state, "meeple on road E W")["phase"] == "tile"
    struct = play(state, "trade at D2")
    assert (struct["phase"], struct["pending"], legal(state)) == (
        "trade",
        {"square": "D2", "chips": []},
        {"add purple 1"},
    )
    struct = play(state, "add purple 1", "add purple 1")
    assert (struct["pending"]["chips"], legal(state)) == (["purple 1"] * 2, {"add purple 1", "done"})
    struct = play(state, "done")
    assert (paid(struct), struct["chumak"]["D2"], struct["seats"][0]["chips"]) == (
        ["trade D2: 3 0"],
        ["purple 1"] * 2,
        {"purple 1": 1},
    )
    assert (struct["phase"], struct["seat"]) == ("tile", 1)


@pytest.mark.parametrize(("chips", "pays"), [(1, 1), (2, 3), (3, 6), (4, 10)])
def test_h4_points_of_a_trade_that_ends_by_itself(chips: int, pays: int) -> None:
    state = trader("orange 1, " * chips)
    assert points(play(state, "trade at E3", *["add orange 1"] * chips)) == [pays, 0]
    state = trader("orange 1, " * 6)
    assert points(play(state, "trade at E3", *["add orange 1"] * 4)) == [10, 0]


def test_h5_four_places_and_a_later_trade_need_not_match() -> None:
    state = trader("orange 1, orange 1", lying="purple 1, purple 1, purple 1")
    struct = play(state, "trade at D2", "add orange 1")  # the last place
    assert (points(struct), struct["chumak"]["D2"]) == ([1, 0], ["purple 1"] * 3 + ["orange 1"])
    assert legal(trader("orange 1", lying="purple 1, " * 4), "trade") == {"trade at E3"}


def test_h6_matching() -> None:
    hand = "purple 1, purple 2, light blue 1, orange 2"
    later = {"add purple 2", "add light blue 1", "add orange 2"}
    follows = {"identical": set(), "colour": {"add purple 2"}, "any": later}
    for switch, expected in follows.items():
        state = trader(hand, chip_match=switch)
        struct = play(state, "trade at D2", "add purple 1")
        assert legal(state, "add") == (expected if struct["phase"] == "trade" else set())
        assert (struct["phase"] == "trade") == bool(expected)
    state = trader(hand, chip_match="any")
    play(state, "trade at D2", "add light blue 1")
    assert legal(state, "add") == {"add orange 2"}  # in their order
    assert points(play(state, "add orange 2")) == [3, 0]


def test_h7_chips_in_hand_are_worth_nothing_at_the_end() -> None:
    assert scores(over("B-D B2 0", map=SALT, chips=("purple 1, purple 2",))) == [0, 0]


# --- X: expansion rules ----------------------------------------------------------------------------------------------


def test_x1_tiles_only() -> None:
    rules = {"expansion_rules": "tiles_only"}
    inn = position(START, "I-15 L11 0", "B-A M11 1", tile="B-A", **rules)
    assert paid(play(inn, "place B-A at J11 turned 3", "meeple on road E")) == ["road J11 K11 L11 M11: 4 0"]
    assert scores(over(START, "I-15 L11 0: 0 meeple on road E W", **rules)) == [2, 0]
    assert scores(over(START, "I-01 K10 0: 0 meeple on city N E S W", **rules)) == [2, 0]
    wine = position(START, "T-15 K10 1", tile="B-E", **rules)
    struct = play(wine, "place B-E at K9 turned 2", "no figure")
    assert (struct["events"], struct["seats"][0]["goods"]["wine"]) == ([], 0)
    church = position(START, "I-01 K10 0", "B-E J10 1", "B-E L10 3", tile="B-E", **rules)
    play(church, "place B-E at K9 turned 2")
    assert legal(church, "large") == legal(church, "builder") == legal(church, "pig") == set()
    assert paid(play(church, "meeple on city S")) == ["city K9 J10 K10 L10 K11: 10 0"]


# --- E: the end ------------------------------------------------------------------------------------------------------


def test_e1_the_game_ends_without_tiles_or_squares() -> None:
    struct = play(city(bag={}), "place B-E at K9 turned 2", "meeple on city S")
    assert (struct["phase"], struct["seat"], points(struct)) == ("over", 0, [6, 0])
    full = position("B-D A1 0", tile="B-U", map=board("So"))
    struct = play(full, "place B-U at B1 turned 0", "no figure")
    assert (struct["phase"], struct["seat"]) == ("over", 0)
    none = position("B-D A1 0", bag={"B-E": 1}, map=board("So"))
    struct = play(none, "draw B-E")
    assert (struct["phase"], struct["seat"], struct["out"]["B-E"]) == ("over", 0, 5)


def test_e2_unfinished_features() -> None:
    laid = (START, "B-F K10 1: 0 meeple on city N S", "B-U L11 0: 1 meeple on road E W")
    struct = over(*laid, "B-B L12 0: 1 meeple on monastery")
    assert paid(struct, "final") == ["city K10 K11: 3 0", "road K11 L11: 0 2", "monastery L12: 0 3"]
    assert (points(struct), scores(struct)) == ([0, 0], [3, 5])


def test_e2_inns_and_cathedrals_pay_nothing_unfinished() -> None:
    laid = (START, "I-01 K10 0: 0 meeple on city N E S W", "I-15 L11 0: 1 meeple on road E W")
    struct = over(*laid)
    assert (struct["final"], scores(struct)) == ([], [0, 0])


def test_e2_ties() -> None:
    laid = (START, "B-G K10 1: 0 meeple on city N S", "B-U L11 0", "B-E L10 0: 1 meeple on city N", "B-N L9 3")
    assert paid(over(*laid, "B-C K9 0"), "final") == ["city K9 L9 K10 L10 K11: 6 6"]


FARM = "field NNW NNE ENE ESE WSW WNW"


def test_e3_fields_pay_three_for_each_completed_city() -> None:
    assert paid(over(START, f"B-E K10 2: 0 meeple on {FARM}"), "final") == ["field K10: 3 0"]
    open_city = over(START, "B-G K10 1: 0 meeple on field ENE ESE")
    assert open_city["final"] == []


def test_e3_one_city_may_pay_several_fields_each_once() -> None:
    laid = (START, f"B-E K10 2: 0 meeple on {FARM}", "B-U L11 0: 1 meeple on field NNW NNE ENE WNW")
    assert paid(over(*laid), "final") == ["field K10: 3 0", "field K11 L11: 0 3"]
    together = over(*laid, "B-B L10 0")  # now they are one field, with a tie
    assert paid(together, "final") == ["field K10 L10 K11 L11: 3 3"]


def test_e3_the_pig_makes_it_four_for_who_takes_or_shares_the_field() -> None:
    laid = (START, f"B-E K10 2: 0 meeple on {FARM}", f"B-B L10 0: 0 pig on {'field NNW NNE ENE ESE SSE SSW WSW WNW'}")
    assert paid(over(*laid), "final") == ["field K10 L10: 4 0"]
    order = (START, f"B-E K10 2: 0 meeple on {FARM}", "B-U L11 0: 1 meeple on field NNW NNE ENE WNW")
    shared = (*order, "B-B L10 0: 0 pig on field NNW NNE ENE ESE SSE SSW WSW WNW")
    assert paid(over(*shared), "final") == ["field K10 L10 K11 L11: 4 3"]
    large = "B-U L11 0: 1 large meeple on field NNW NNE ENE WNW"
    outdone = over(START, order[1], large, shared[3])
    assert paid(outdone, "final") == ["field K10 L10 K11 L11: 0 3"]


def test_e3_cities_with_a_cathedral_pay_three_as_well() -> None:
    laid = (START, "I-01 K10 0", "B-E J10 1", "B-E L10 3", f"B-E K9 2: 0 meeple on {FARM}")
    assert paid(over(*laid), "final") == ["field K9: 3 0"]


def test_e4_ten_points_for_most_goods_of_a_kind() -> None:
    struct = over(START, goods=("wine wine grain", "wine grain"), players=3)
    assert paid(struct, "final") == ["goods: 10 0 0 wine", "goods: 10 10 0 grain"]
    assert scores(struct) == [20, 10, 0]


def test_e5_most_points_win_and_equal_points_share() -> None:
    for held, expected in (((9, 3, 3), [1, -0.5, -0.5]), ((9, 9, 3), [0.25, 0.25, -0.5])):
        state = make_game("ukraine", map="plane", players=3).state_from_json(over(START, players=3, points=held))
        assert list(state.scores()) == list(held)
        assert state.returns() == pytest.approx(expected)


# --- what never changes ----------------------------------------------------------------------------------------------


def check_conservation(struct: dict[str, Any], total: Counter[str], figures: dict[str, int]) -> None:
    """Tiles, figures and chips are all there; points are those of the events."""
    seen = Counter(tile["tile"] for tile in struct["tiles"]) + Counter(struct["bag"]) + Counter(struct["out"])
    assert seen + Counter([struct["tile"]] if struct["tile"] else []) == total
    for seat, owner in enumerate(struct["seats"]):
        standing = [t["figure"]["kind"] for t in struct["tiles"] if t["figure"] and t["figure"]["seat"] == seat]
        assert {kind: owner["figures"][kind] + standing.count(kind) for kind in FIGURES} == figures
    if struct["supply"]:
        chips = Counter(struct["supply"]) + Counter(c for on in struct["chumak"].values() for c in on)
        assert sum((Counter(owner["chips"]) for owner in struct["seats"]), chips) == Counter(CHIP_COPIES)
        assert all(len(on) <= 4 for on in struct["chumak"].values())


@pytest.mark.parametrize("params", [{}, {"players": 5, "chip_match": "any"}, {"map": "plane", "players": 3}])
def test_random_games_conserve_tiles_figures_chips_and_points(params: dict[str, Any]) -> None:
    game = make_game("ukraine", **params)
    state, rng = game.new_state(), np.random.default_rng(3)
    figures = dict(zip(FIGURES, game.params.figures, strict=True))
    total, earned = Counter(COPIES), np.zeros(game.players, int)
    while not state.is_terminal:
        if state.is_chance:
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            before = state.to_json()["events"]
            state.resolve(int(rng.choice(outcomes, p=odds)))
        else:
            before = []
            state.step(int(rng.choice(state.legal_actions())))
        struct = state.to_json()
        check_conservation(struct, total, figures)
        for event in struct["events"]:
            if event not in before:
                earned += event["points"]
        assert points(struct) == list(earned)
    assert scores(struct) == [p + sum(f["points"][k] for f in struct["final"]) for k, p in enumerate(points(struct))]


@pytest.mark.parametrize("segment", ["road N", "road E", "road S"])
def test_roads_of_one_tile_alone_have_the_same_square(segment: str) -> None:
    """Once wrong: the struct led back to the event of another road of the tile."""
    state = position("B-D A1 3", tile="B-W", map=board("So"))
    struct = play(state, "place B-W at B1 turned 3", f"meeple on {segment}")
    assert paid(struct) == ["road B1: 1 0"]
    assert state.game.state_from_json(struct).row.tobytes() == state.row.tobytes()


def test_every_square_can_be_named_by_an_event() -> None:
    """A monastery on square 255 was once taken for something else."""
    game = make_game("ukraine", map="plane")
    state = game.new_state(seed=1)
    row = state.row
    for square in range(400):
        row["events"], row["event_kind"][0, 0], row["event_where"][0, 0] = 1, EVENT_MONASTERY, square
        row["event_points"][0, 0], row["event_seats"][0, 0] = 9, 0b10
        assert state.to_json()["events"] == [
            {"kind": "monastery", "squares": [square_name(square)], "points": [0, 9], "goods": {}}
        ]
