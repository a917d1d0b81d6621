# ruff: noqa: D103 (the names of the tests say what they test)
"""Tests of the plain-Python reference of Carcassonne on the map of Ukraine: positions worked out by hand."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from .differential import clauses_of
from .players_ukraine import (
    MADE_MAPS,
    Mover,
    busy_mover,
    draw_chance,
    greedy_mover,
    made_map,
    mix,
    play_game,
    random_mover,
    random_params,
    random_position,
    step,
)
from .ukraine import (
    CHIPS,
    NOBODY,
    START_TILE,
    Ukraine,
    catalogue,
    full_bag,
    letters,
    rotations,
    segments,
    square_name,
    square_of,
)

PLAIN = made_map("Plain", "ooooo ooSoo ooooo ooooo ooooo")
CATHEDRAL = ("B1 B-E 2", "A2 B-E 1", "C2 B-M 0 0 meeple on city N W", "B2 I-01 0", "C1 B-E 2")
COUNTS = {chip: 6 if chip.endswith("1") else 4 for chip in CHIPS}


def laid_struct(words: str) -> dict[str, Any]:
    """Describe a tile from words such as "C2 B-D 1" or "C2 B-D 1 0 large meeple on city N"."""
    square, tile, turned, *rest = words.split()
    figure = None
    if rest:
        kind, segment = " ".join(rest[1:]).split(" on ")
        figure = {"seat": int(rest[0]), "kind": kind, "segment": segment}
    return {"square": square, "tile": tile, "turned": int(turned), "figure": figure}


def position(
    where: str | dict[str, Any],
    *laid: str,
    tile: str | None = None,
    bag: str | None = None,
    seat: int = 0,
    extra: bool = False,
    hands: dict[int, dict[str, int]] | None = None,
    chumak: dict[str, list[str]] | None = None,
    supply: int | None = None,
    goods: dict[int, dict[str, int]] | None = None,
    **params: Any,
) -> Ukraine:
    """
    Make a position in which a tile is to be laid, or drawn.

    `bag` names the tiles left, the others are out; `supply` is how many chips "purple 1" are all that is left of it.
    """
    struct = Ukraine({"map": where, **params}).struct()
    tiles = [laid_struct(words) for words in laid]
    rest = full_bag(struct["params"]) - Counter(given["tile"] for given in tiles) - Counter([tile] if tile else [])
    left = rest if bag is None else Counter(bag.split())
    struct |= {"phase": "place" if tile else "tile", "seat": seat, "extra": extra, "tile": tile, "tiles": tiles}
    struct |= {"bag": dict(left), "out": dict(rest - left)}
    for given in tiles:
        struct["chumak"].pop(given["square"], None)
        if given["figure"] is not None:
            struct["seats"][given["figure"]["seat"]]["figures"][given["figure"]["kind"]] -= 1
    struct["chumak"] |= chumak or {}
    for number, hand in (hands or {}).items():
        struct["seats"][number]["chips"] = hand
    for number, mine in (goods or {}).items():
        struct["seats"][number]["goods"] |= mine
    if supply is not None:
        struct["supply"] = dict.fromkeys(CHIPS, 0) | {"purple 1": supply}
    return Ukraine.from_struct(struct)


def lay(game: Ukraine, where: str, *then: str) -> Ukraine:
    """Lay the tile in hand, let the chips be of the first kind that is left, and do what else is said."""
    game.play(f"place {game.tile} at {where[:-2]} turned {where[-1]}")
    while game.phase == "chip":
        game.resolve(next(iter(game.chance())))
    for words in then:
        game.play(words)
    return game


def points(game: Ukraine) -> list[int]:
    return [seat.points for seat in game.seats]


def events(game: Ukraine) -> list[tuple[str, str, list[int]]]:
    """Give kind, squares and points of the events."""
    return [(one["kind"], " ".join(one["squares"]), one["points"]) for one in game.struct()["events"]]


def final(game: Ukraine) -> list[tuple[str, str, list[int]]]:
    """Give kind, squares and points of what the end would pay now."""
    found = [one.struct() for one in game.payments_of_the_end()]
    return [(one["kind"], " ".join(one["squares"]), one["points"]) for one in found]


def legal(game: Ukraine, start: str = "") -> set[str]:
    return {words for words in game.legal() if words.startswith(start)}


# Tiles.


def test_totals_of_the_catalogue() -> None:
    tiles = catalogue()
    assert [sum(t["copies"] for t in tiles.values() if t["set"] == name) for name in ("base", "inns", "traders")] == [
        72,
        18,
        24,
    ]
    counts: dict[tuple[str, str], int] = Counter()
    for name, tile in tiles.items():
        for segment in segments(name, 0):
            counts[tile["set"], segment.kind] += tile["copies"]
            counts[tile["set"], "shields"] += tile["copies"] * segment.shields
    sets = ("base", "inns", "traders")
    assert [counts[name, "field"] for name in sets] == [126, 35, 56]
    assert [counts[name, "city"] for name in sets] == [49, 20, 29]
    assert [counts[name, "shields"] for name in sets] == [10, 3, 0]
    assert [counts[name, "monastery"] for name in sets] == [6, 1, 1]
    assert counts["base", "road"] == 62
    goods = Counter(segment.goods for name in tiles for segment in segments(name, 0) if segment.goods)
    assert goods == {"wine": 9, "grain": 6, "cloth": 5}
    assert max(len(segments(name, 0)) for name in tiles) == 8


def test_segments_of_a_tile_have_names_of_their_own_and_fill_its_edges() -> None:
    for name in catalogue():
        for turned in range(4):
            parts = segments(name, turned)
            assert len({part.name() for part in parts}) == len(parts)
            for kind, letter in (("city", "C"), ("road", "R")):
                touched = sorted(edge for part in parts if part.kind == kind for edge in part.edges)
                assert touched == [edge for edge in range(4) if letters(name, turned)[edge] == letter]
            halves = sorted(half for part in parts for half in part.halves)
            assert halves == [half for half in range(8) if letters(name, turned)[half // 2] != "C"]


def test_rotations_that_are_told_apart() -> None:
    turns = {name: len(rotations(name)) for name in catalogue()}
    once = {"B-B", "B-C", "B-X", "I-01", "I-03", "T-24"}
    twice = {"B-F", "B-G", "B-H", "B-U", "I-02", "I-05", "I-10", "I-17", "T-15", "T-19"}
    assert {name for name, number in turns.items() if number == 1} == once
    assert {name for name, number in turns.items() if number == 2} >= twice - {"T-15"}
    assert turns["T-14"] == turns["B-D"] == turns["T-20"] == turns["T-06"] == 4
    assert set(turns.values()) == {1, 2, 4}


def test_segments_are_named_after_the_turn() -> None:
    assert [part.name() for part in segments("B-D", 1)] == [
        "city E",
        "road N S",
        "field NNE SSE",
        "field NNW SSW WSW WNW",
    ]
    assert "field inside" in [part.name() for part in segments("T-14", 3)]
    assert [part.name() for part in segments("B-A", 0)][:2] == ["monastery", "road S"]


# Set-up.


def test_set_up_with_one_start_square() -> None:
    game = Ukraine({"map": PLAIN})
    assert (game.phase, game.seat, game.tile) == ("start", NOBODY, START_TILE)
    assert game.chance() == {f"start B-D at C2 turned {turned}": 1 for turned in range(4)}
    game.resolve("start B-D at C2 turned 3")
    assert (game.phase, game.seat, game.tile) == ("tile", 0, None)
    assert game.chance()["draw B-D"] == 3 and game.bag.total() == 113


def test_set_up_with_more_start_squares() -> None:
    where = made_map("Two", "SoooS", borders="A1-W-C E1-N-R")
    game = Ukraine({"map": where, "inns": False, "traders": False})
    game.resolve("start B-D at A1 turned 3")
    assert (game.phase, game.seat) == ("second", NOBODY)
    assert game.chance()["second B-U"] == 8
    game.resolve("second B-B")
    assert game.phase == "second" and game.out == {"B-B": 1}  # S5: it has no road
    game.resolve("second B-U")
    assert game.phase == "lay" and game.chance() == {"start B-U at E1 turned 1": 1}
    game.resolve("start B-U at E1 turned 1")
    assert (game.phase, game.seat, game.bag.total()) == ("tile", 0, 69)


def test_start_places_are_equally_likely_pairs() -> None:
    game = Ukraine({"map": made_map("Two", "SoooS", borders="A1-W-C E1-N-R")})
    assert set(game.chance()) == {"start B-D at A1 turned 3"} | {f"start B-D at E1 turned {n}" for n in (1, 3)}


def test_game_that_ends_in_the_set_up() -> None:
    game = Ukraine({"map": MADE_MAPS[4], "inns": False, "traders": False, "players": 3})
    play_game(game, [random_mover] * 3, random.Random(1))
    assert (game.phase, game.seat, game.bag.total(), game.out.total()) == ("over", NOBODY, 0, 71)
    assert game.scores() == [0, 0, 0] and game.returns() == [0, 0, 0]
    alone = Ukraine({"map": made_map("Alone", "S")})
    alone.resolve("start B-D at A1 turned 0")
    assert (alone.phase, alone.seat) == ("over", NOBODY)


def test_set_up_draws_no_chips_and_gives_no_goods() -> None:
    game = Ukraine({"map": made_map("Salt", "SSC", borders="B1-N-C B1-S-C")})
    game.resolve("start B-D at A1 turned 0")
    game.resolve("second T-19")
    game.resolve("start T-19 at B1 turned 1")  # the city runs from border to border, wine in it
    assert (game.phase, game.seat) == ("tile", 0) and game.struct()["events"] == []
    assert not game.seats[0].goods.total() and game.supply.total() == 30


@pytest.mark.parametrize(
    ("params", "figures"),
    [
        ({}, [9, 1, 1, 1]),
        ({"map": "plane"}, [7, 1, 1, 1]),
        ({"meeples": 3, "inns": False}, [3, 0, 1, 1]),
        ({"traders": False}, [9, 1, 0, 0]),
        ({"expansion_rules": "tiles_only"}, [9, 0, 0, 0]),
    ],
)
def test_figures_of_a_player(params: dict[str, Any], figures: list[int]) -> None:
    assert list(Ukraine(params).seats[1].home.values()) == figures


def test_plane_and_switches() -> None:
    plane = Ukraine({"map": "plane", "inns": False})
    assert {words.split()[3] for words in plane.chance()} == {"K11"}
    assert plane.bag.total() == 95 and plane.struct()["supply"] == {} == plane.struct()["chumak"]
    assert Ukraine({"chips": False}).struct()["chumak"] == {}
    assert Ukraine({}).struct()["supply"] == COUNTS


# Laying tiles.


def test_borders_and_neighbours_must_match() -> None:
    where = made_map("Edges", "So o1", "0", "A1-W-R A2-S-C")
    game = position(where, "A1 B-U 0", tile="B-L")  # at B1: road to the west, city to the south
    assert legal(game) == {"place B-L at B1 turned 2"}
    game = position(where, "A1 B-U 0", tile="B-I")  # at A2: field to the north, city to the south and to the east
    assert legal(game) == {"place B-I at A2 turned 2"}


def test_a_connected_large_city_makes_squares_eligible_and_a_border_does_not() -> None:
    where = made_map("Far", "So1oo", "0", "E1-E-R")
    game = position(where, "A1 B-U 1", tile="B-E")
    assert [square_name(square) for square in game.eligible_squares()] == ["B1"]
    game = position(where, "A1 B-U 1", "B1 B-D 1", tile="B-E", seat=1)
    assert [square_name(square) for square in game.eligible_squares()] == ["D1"]
    assert legal(game) == {"place B-E at D1 turned 3"}


def test_a_tile_that_fits_nowhere_leaves_the_game() -> None:
    where = made_map("Road", "So.", borders="B1-E-R")
    game = position(where, "A1 B-U 0", bag="B-B B-C B-U", seat=1)
    game.resolve("draw B-B")
    assert (game.phase, game.seat, game.out["B-B"]) == ("tile", 1, 4)
    game.resolve("draw B-U")
    assert game.phase == "place"
    lay(game, "B1 0", "no figure")
    assert (game.phase, game.seat, game.bag) == ("over", 1, {"B-C": 1, "B-B": 0, "B-U": 0})  # no square is left


def test_the_game_ends_when_the_last_tiles_fit_nowhere() -> None:
    where = made_map("Road", "Soo", borders="C1-E-R")
    game = position(where, "A1 B-U 0", bag="B-B B-U B-C")
    for words in ("draw B-U", "place B-U at B1 turned 0", "no figure", "draw B-B", "draw B-C"):
        (game.play if game.legal() else game.resolve)(words)
    assert (game.phase, game.seat, game.out["B-B"], game.out["B-C"]) == ("over", 1, 4, 1)


# Features.


def test_large_city_of_six_squares_and_four_shields() -> None:
    where = made_map("Kyiv", "S111o .111.", "4")
    game = position(where, "A1 B-D 1", tile="B-E")
    assert legal(game) == {"place B-E at E1 turned 3"}
    lay(game, "E1 3", "meeple on city W")
    assert points(game) == [24, 0]  # 20, and 2 for each of the two tiles
    assert events(game) == [("city", "A1 B1 C1 D1 E1 B2 C2 D2", [24, 0])]


def test_large_city_unfinished() -> None:
    where = made_map("Kyiv", "S111o .111o", "4")
    game = position(where, "A1 B-D 1", "E1 B-E 3 1 meeple on city W")
    assert final(game) == [("city", "A1 B1 C1 D1 E1 B2 C2 D2", [0, 12])]
    assert game.scores() == [0, 12]


def test_city_of_one_tile_closed_by_the_border() -> None:
    game = position(made_map("Two", "S o"), "A1 B-D 0", tile="B-E")
    lay(game, "A2 2", "meeple on city S")
    assert events(game) == [("city", "A2", [2, 0])]
    game = position(made_map("Two", "S o"), "A1 B-U 0", tile="B-R")
    lay(game, "A2 2", "large meeple on field NNW NNE")
    assert final(game) == [("field", "A1 A2", [3, 0])]  # M4: the city is closed at the border


def test_road_that_closes_in_a_loop_counts_each_tile_once() -> None:
    laid = ("A1 B-V 3 0 meeple on road E S", "B1 B-V 0", "B2 B-V 1")
    game = position(PLAIN, *laid, tile="B-V")
    assert "place B-V at A2 turned 2" in legal(game)
    assert not game.feature((0, 0), 0).complete
    lay(game, "A2 2", "no figure")
    assert events(game) == [("road", "A1 B1 A2 B2", [4, 0])]


def test_tile_joined_twice_to_a_road_counts_once() -> None:
    # The road leaves the crossing I-17 at C3 to the north and comes back to it from the east.
    laid = ("C2 B-V 3 0 meeple on road E S", "D2 B-V 0", "D3 B-V 1")
    game = position(PLAIN, *laid, tile="I-17")
    lay(game, "C3 1", "no figure")
    assert [part.name() for part in segments("I-17", 1)][:2] == ["road N E", "road S W"]
    assert events(game) == [("road", "C2 D2 C3 D3", [4, 0])]
    # With T-24 the two roads cross: two ends of one long road, all of it one feature with C3 in it twice.
    game = position(PLAIN, *laid, tile="T-24")
    lay(game, "C3 0", "no figure")
    feature = game.feature((2, 2), 0)
    assert feature is game.feature((2, 2), 1) and feature.open == 2 and len(feature.squares) == 4
    assert final(game) == [("road", "C2 D2 C3 D3", [4, 0])]


def test_two_roads_cross_on_one_tile() -> None:
    game = position(PLAIN, "C2 B-U 1 1 meeple on road N S", tile="T-24")
    lay(game, "C3 0")
    assert legal(game, "meeple on road") == {"meeple on road E W"}
    assert len({id(game.feature((2, 2), number)) for number in range(2, 6)}) == 4


def test_monastery_road_does_not_split_the_field() -> None:
    game = position(PLAIN, "C2 B-A 0 0 meeple on field NNW NNE ENE ESE SSE SSW WSW WNW", tile="B-E")
    lay(game, "C1 0")
    assert legal(game) == {
        "meeple on city N",
        "large meeple on city N",
        "pig on field ENE ESE SSE SSW WSW WNW",
        "no figure",
    }


def test_completed_city_of_two_tiles_pays_four_and_ties_pay_both() -> None:
    game = position(PLAIN, "C2 B-E 2 1 meeple on city S", tile="B-E")
    lay(game, "C3 0")
    assert not legal(game, "meeple on city") and game.scores() == [0, 4]
    game.play("no figure")
    assert points(game) == [0, 4] and game.seats[1].home["meeple"] == 9
    laid = ("B2 B-E 1 1 meeple on city E", "D2 B-E 3 0 meeple on city W")
    game = lay(position(PLAIN, *laid, tile="B-F"), "C2 0", "no figure")
    assert points(game) == [8, 8]  # three tiles and a shield


def test_large_meeple_counts_as_two_and_builders_as_nothing() -> None:
    laid = ("B2 B-E 1 1 meeple on city E", "D2 B-E 3 0 large meeple on city W")
    game = lay(position(PLAIN, *laid, tile="B-G"), "C2 0", "no figure")
    assert points(game) == [6, 0] and game.clauses["F4"] == 1
    chain = ("B2 B-E 1 1 meeple on city E", "C2 B-G 0 1 builder on city E W", "E2 B-E 3 0 meeple on city W")
    game = lay(position(PLAIN, *chain, tile="B-G", seat=0), "D2 0", "no figure")
    assert points(game) == [8, 8] and list(game.seats[1].home.values()) == [9, 1, 1, 1]
    assert (game.seat, game.extra) == (1, False)  # somebody else's builder


def test_inn_and_cathedral() -> None:
    where = made_map("Inn", "ooSo", borders="A1-W-R")
    laid = ("C1 B-U 0", "B1 I-15 0 1 meeple on road E W")
    game = position(where, *laid, tile="B-U")
    assert final(game) == []
    lay(game, "A1 0", "no figure")
    assert final(game) == []  # D1 is still open
    game = position(where, "B1 I-15 0 1 meeple on road E W", "C1 B-U 0", "D1 B-U 0", tile="B-U")
    assert points(lay(game, "A1 0", "no figure")) == [0, 8]
    game = position(PLAIN, *CATHEDRAL, tile="B-E", seat=1)
    assert final(game) == []
    assert points(lay(game, "B3 0", "no figure")) == [21, 0]  # six tiles and a shield


def test_expansion_rules_tiles_only() -> None:
    game = position(PLAIN, *CATHEDRAL, tile="B-E", seat=1, expansion_rules="tiles_only")
    assert final(game) == [("city", "B1 C1 A2 B2 C2", [6, 0])]
    assert points(lay(game, "B3 0", "no figure")) == [14, 0]
    game = position(PLAIN, "C2 B-E 1", "D2 T-15 0 0 meeple on city E W", tile="B-E", expansion_rules="tiles_only")
    lay(game, "E2 3", "no figure")
    assert points(game) == [6, 0] and not game.seats[0].goods.total() and game.struct()["events"][0]["goods"] == {}


def test_goods_go_to_who_completes_the_city() -> None:
    game = position(PLAIN, "C2 B-E 1", "D2 T-15 0 0 meeple on city E W", tile="B-E", seat=1)
    lay(game, "E2 3", "no figure")
    assert points(game) == [6, 0] and game.seats[1].goods["wine"] == 1
    assert game.struct()["events"][0]["goods"] == {"wine": 1}
    game = position(PLAIN, "C2 B-E 1", "D2 T-15 0", tile="B-E", seat=1)
    lay(game, "E2 3", "no figure")
    assert points(game) == [0, 0] and game.seats[1].goods["wine"] == 1
    assert events(game) == [("city", "C2 D2 E2", [0, 0])]


def test_goods_at_the_end() -> None:
    game = position(PLAIN, "C2 B-D 0", goods={0: {"wine": 2, "grain": 1}, 1: {"wine": 2, "cloth": 1}}, players=3)
    assert game.scores() == [20, 20, 0]
    assert [payment.goods for payment in game.payments_of_the_end()] == [{"wine": 1}, {"grain": 1}, {"cloth": 1}]


def test_monastery_at_the_border() -> None:
    for rule, paid in (("neighbours", 4), ("nine", 9)):
        laid = ("A1 B-U 1", "A2 B-U 1", "B1 B-E 0")
        game = position(made_map("Corner", "So oo"), *laid, tile="B-B", border_monastery=rule)
        lay(game, "B2 0", "meeple on monastery")
        assert events(game) == [("monastery", "B2", [paid, 0])]


def test_monastery_with_squares_of_a_large_city_and_unfinished() -> None:
    where = made_map("Lake", "ooo 1So ooo", "0")
    game = position(where, "B2 B-A 1 1 meeple on monastery")
    assert game.monastery_worth((1, 1)) == 2  # a large city at A2, though no city is on the edge
    assert final(game) == [("monastery", "B2", [0, 2])]
    ring = ("A1 B-U 1", "B1 B-U 0", "C1 B-U 1", "B2 B-B 0 1 meeple on monastery", "C2 B-U 1", "A3 B-U 1", "B3 B-U 0")
    game = position(where, *ring)
    assert game.monastery_worth((1, 1)) == 8 and not game.monastery_full((1, 1))
    game = position(where, *ring, "C3 B-U 1", border_monastery="nine")
    assert game.monastery_worth((1, 1)) == 9 and game.monastery_full((1, 1))


def test_a_full_monastery_away_from_the_border_pays_nine() -> None:
    near = ("B1 B-E 0", "C1 B-E 0", "D1 B-E 0", "B2 B-E 3", "C2 B-B 0 1 meeple on monastery", "D2 B-E 1", "C3 B-B 0")
    for rule in ("neighbours", "nine"):
        game = position(PLAIN, *near, "D3 B-V 3", tile="B-V", border_monastery=rule)
        assert final(game) == [("monastery", "C2", [0, 8])]
        lay(game, "B3 0", "no figure")
        assert events(game) == [("monastery", "C2", [0, 9])]


# Figures.


def test_figures_go_where_nobody_stands() -> None:
    game = position(PLAIN, "C2 B-U 1 1 meeple on road N S", tile="B-D")
    lay(game, "C3 1")
    assert legal(game) == {
        *(f"{kind} on {where}" for kind in ("meeple", "large meeple") for where in ("city E", "field NNE SSE")),
        *(f"{kind} on field NNW SSW WSW WNW" for kind in ("meeple", "large meeple")),
        "no figure",
    }


def test_builder_and_pig_need_an_own_meeple() -> None:
    laid = ("C2 B-U 1 0 large meeple on road N S", "D2 B-U 1 0 meeple on field NNE ENE ESE SSE")
    game = lay(position(PLAIN, *laid, tile="B-U"), "C3 1")
    assert legal(game, "builder") == {"builder on road N S"} and not legal(game, "pig")
    game = lay(position(PLAIN, *laid, tile="B-U"), "D3 1")
    assert legal(game, "pig") == {"pig on field NNE ENE ESE SSE"} and not legal(game, "builder")
    game = lay(position(PLAIN, *laid, tile="B-U", seat=1), "C3 1")
    assert not legal(game, "builder") and not legal(game, "pig")


def test_no_builder_on_a_completed_road() -> None:
    where = made_map("Road", "oSo")
    game = position(where, "A1 B-U 0", "B1 B-U 0 0 meeple on road E W", tile="B-U")
    lay(game, "C1 0")
    assert not legal(game, "builder")
    game.play("no figure")
    assert points(game) == [3, 0]


def test_a_builder_gives_one_extra_part_turn() -> None:
    laid = ("A1 B-U 0 0 meeple on road E W", "B1 B-U 0 0 builder on road E W")
    game = position(PLAIN, *laid, tile="B-U", bag="B-U B-U B-U")
    lay(game, "C1 0")
    assert game.again and not game.extra
    game.play("no figure")
    assert (game.phase, game.seat, game.extra, game.again) == ("tile", 0, True, False)
    game.resolve("draw B-U")
    lay(game, "D1 0", "no figure")
    assert (game.phase, game.seat, game.extra, game.again) == ("tile", 1, False, False)


def test_the_tile_with_which_the_builder_is_put_gives_nothing() -> None:
    game = position(PLAIN, "A1 B-U 0 0 meeple on road E W", tile="B-U")
    lay(game, "B1 0", "builder on road E W")
    assert (game.seat, game.extra, game.seats[0].home["builder"]) == (1, False, 0)


def test_a_builder_that_comes_home_gives_its_part_turn_all_the_same() -> None:
    laid = ("B2 B-E 1 0 meeple on city E", "C2 B-G 0 0 builder on city E W")
    game = position(PLAIN, *laid, tile="B-E", bag="B-U")
    lay(game, "D2 3", "meeple on field NNW NNE ENE ESE SSE SSW")
    assert points(game) == [6, 0] and game.seats[0].home["builder"] == 1
    assert (game.phase, game.seat, game.extra) == ("tile", 0, True) and game.clauses["B4"] == 1


def test_the_extra_part_turn_lapses_without_tiles() -> None:
    laid = ("A1 B-U 0 0 meeple on road E W", "B1 B-U 0 0 builder on road E W")
    game = lay(position(PLAIN, *laid, tile="B-U", bag=""), "C1 0", "no figure")
    assert (game.phase, game.seat, game.extra, game.again) == ("over", 0, False, False)
    assert game.final[0].points == [3, 0] and game.scores() == [3, 0] and points(game) == [0, 0]


def test_a_tile_joined_to_a_large_city_extends_it() -> None:
    where = made_map("Kyiv", "So1o ..o.", "0")
    laid = ("A1 B-U 1", "D1 B-E 3 0 builder on city W", "C2 B-E 0 0 meeple on city N")
    game = position(where, *laid, tile="B-E")
    lay(game, "B1 1")
    assert game.again
    game.play("no figure")
    assert events(game) == [("city", "B1 C1 D1 C2", [8, 0])]


# Fields.


def test_a_field_pays_each_city_once_and_four_with_a_pig() -> None:
    # Three cities of two tiles each; C1 joins the fields of B1 and D1 with that of B2, C2, D2.
    laid = ["B1 B-E 2", "B2 B-E 0 0 meeple on field ENE ESE SSE SSW WSW WNW", "C2 B-E 2", "C3 B-D 0", "D2 B-E 0"]
    laid.append("D1 B-E 2")
    game = position(PLAIN, *laid)
    assert final(game) == [("field", "B2 C2 D2", [9, 0])]
    game = position(PLAIN, *laid, "C1 B-B 0 0 pig on field NNW NNE ENE ESE SSE SSW WSW WNW")
    assert final(game) == [("field", "B1 C1 D1 B2 C2 D2", [12, 0])]
    game = position(PLAIN, *laid, "C1 B-B 0 1 large meeple on field NNW NNE ENE ESE SSE SSW WSW WNW")
    assert final(game) == [("field", "B1 C1 D1 B2 C2 D2", [0, 9])]
    shared = (*laid, "C1 B-B 0 1 meeple on field NNW NNE ENE ESE SSE SSW WSW WNW", "A1 B-B 0")
    game = position(PLAIN, *shared, "A2 I-07 3 1 pig on field NNW NNE")
    assert final(game) == [("field", "A1 B1 C1 D1 A2 B2 C2 D2", [12, 16])]  # the city at A2 ends at the border


def test_one_city_pays_several_fields() -> None:
    laid = ("B1 B-E 1", "C1 B-F 0 0 meeple on field NNW NNE", "D1 B-E 3 1 meeple on field NNW NNE ENE ESE SSE SSW")
    game = position(made_map("Row", "SoooS"), *laid)
    assert final(game) == [("field", "C1", [3, 0]), ("field", "D1", [0, 3])]


def test_unfinished_city_pays_no_field() -> None:
    game = position(PLAIN, "C2 B-E 2 0 meeple on field NNW NNE ENE ESE WSW WNW")
    assert final(game) == []


# Chips.


SALT = made_map("Salt", "oCo oSC oCo")


def test_chips_are_drawn_two_for_a_road() -> None:
    game = position(SALT, "A2 B-U 1", tile="B-U")
    game.play("place B-U at B2 turned 1")  # roads to B1 and B3, a field to C2
    assert game.struct()["pending"] == {"draws": 5}
    assert game.chance() == {f"draw {chip}": number for chip, number in COUNTS.items()}
    for chip in ("purple 1", "purple 1", "orange 2", "light blue 1", "orange 2"):
        game.resolve(f"draw {chip}")
    assert game.phase == "figure" and game.seats[0].chips == {"purple 1": 2, "orange 2": 2, "light blue 1": 1}
    assert game.supply["purple 1"] == 4


def test_a_short_supply_gives_what_is_left() -> None:
    game = position(SALT, "A2 B-U 1", tile="B-U", supply=2)
    game.play("place B-U at B2 turned 1")
    assert game.struct()["pending"] == {"draws": 2}
    game = position(SALT, "A2 B-U 1", tile="B-U", supply=0, meeples=1)
    game.play("place B-U at B2 turned 1")
    assert game.phase == "figure" and not legal(game, "trade")


def test_building_on_a_chumak_square_scores_first_and_then_draws() -> None:
    where = made_map("Salt", "SCC")
    chips = ["purple 1", "orange 2", "orange 2"]
    game = position(where, "A1 B-U 0", tile="B-U", supply=0, chumak={"B1": chips, "C1": ["purple 2"]})
    game.play("place B-U at B1 turned 0")
    assert points(game) == [5, 0] and events(game) == [("chips", "B1", [5, 0])]
    assert game.chance() == {"draw purple 1": 1, "draw orange 2": 2}
    assert game.struct()["pending"] == {"draws": 2} and game.struct()["chumak"] == {"C1": ["purple 2"]}


def in_figure_phase(hand: dict[str, int], **more: Any) -> Ukraine:
    """Make a position in which the player may trade."""
    game = position(SALT, "A2 B-U 0", tile="B-B", hands={0: hand}, supply=0, **more)
    return lay(game, "A3 0")


@pytest.mark.parametrize(("chips", "paid"), [(1, 1), (2, 3), (3, 6), (4, 10)])
def test_points_of_a_trade(chips: int, paid: int) -> None:
    game = in_figure_phase({"purple 1": 5})
    assert legal(game, "trade") == {"trade at B1", "trade at C2", "trade at B3"}
    game.play("trade at C2")
    assert legal(game) == {"add purple 1"}
    for _ in range(chips):
        game.play("add purple 1")
    if chips < 4:
        assert legal(game) == {"add purple 1", "done"} and game.struct()["pending"]["chips"] == ["purple 1"] * chips
        assert points(game) == [0, 0]
        game.play("done")
    assert points(game) == [paid, 0] and events(game) == [("trade", "C2", [paid, 0])]
    assert game.seat == 1 and game.lying[square_of("C2")] == ["purple 1"] * chips


def test_a_trade_ends_when_no_place_is_free_or_no_chip_is_left() -> None:
    game = in_figure_phase({"purple 1": 5}, chumak={"C2": ["orange 1"] * 3, "B1": ["orange 1"] * 4})
    assert legal(game, "trade") == {"trade at C2", "trade at B3"}
    game.play("trade at C2")
    game.play("add purple 1")
    assert points(game) == [1, 0]
    game = in_figure_phase({"purple 1": 1, "purple 2": 1})
    game.play("trade at C2")
    game.play("add purple 1")
    assert points(game) == [1, 0]


@pytest.mark.parametrize(
    ("how", "after"),
    [
        ("identical", set()),
        ("colour", {"add purple 2", "done"}),
        ("any", {"add purple 2", "add orange 1", "done"}),
    ],
)
def test_chips_that_match(how: str, after: set[str]) -> None:
    game = in_figure_phase({"purple 1": 1, "purple 2": 1, "orange 1": 1}, chip_match=how)
    game.play("trade at B3")
    assert legal(game) == {"add purple 1", "add purple 2", "add orange 1"}
    game.play("add purple 1")
    assert legal(game) == after
    if after:
        game.play("add purple 2")
        assert game.phase == ("trade" if how == "any" else "tile")


def test_chips_are_added_in_order() -> None:
    game = in_figure_phase({"purple 1": 2, "purple 2": 1}, chip_match="any")
    game.play("trade at B3")
    game.play("add purple 2")
    assert game.phase == "tile" and points(game) == [1, 0]


def test_a_figure_and_a_trade_exclude_each_other() -> None:
    game = in_figure_phase({"purple 1": 2})
    game.play("meeple on monastery")
    assert (game.phase, game.seat) == ("tile", 1) and game.seats[0].chips == {"purple 1": 2}


def test_phase_figure_is_left_out_if_nothing_can_be_done() -> None:
    taken = "A2 B-U 1 0 meeple on road N S"
    game = position(SALT, taken, tile="B-U", supply=0, meeples=1, inns=False, traders=False)
    lay(game, "A3 1")
    assert (game.phase, game.seat) == ("tile", 1)


# The end.


def test_returns() -> None:
    game = position(
        PLAIN, "C2 B-E 2 0 meeple on city S", "B2 B-B 0 1 meeple on monastery", tile="B-U", bag="", players=3
    )
    lay(game, "C1 0", "no figure")
    assert game.scores() == [1, 3, 0]
    for how, paid in (("win", [-0.5, 1, -0.5]), ("rank", [0, 1, -1]), ("margin", [-0.5, 2.5, -2])):
        game.params["returns"] = how
        assert game.returns() == paid
    game.seats[0].points = 2
    for how, paid in (("win", [0.25, 0.25, -0.5]), ("rank", [0.5, 0.5, -1]), ("margin", [1.5, 1.5, -3])):
        game.params["returns"] = how
        assert game.returns() == paid


# Games.


def test_wrong_words_are_refused() -> None:
    game = Ukraine({"map": PLAIN})
    with pytest.raises(ValueError, match="phase start"):
        game.resolve("draw B-D")
    with pytest.raises(ValueError, match="is not legal"):
        game.play("no figure")
    with pytest.raises(ValueError, match="chip_match"):
        Ukraine({"chip_match": "none"})


def check(game: Ukraine) -> None:
    """Tiles, chips and figures are where they can be, each once."""
    tiles = Counter(laid.tile for laid in game.tiles.values()) + game.bag + game.out
    in_hand = Counter([game.tile] if game.tile else [])
    assert tiles + in_hand == full_bag(game.params)
    chips = Counter(game.supply)
    for holder in (*(seat.chips.elements() for seat in game.seats), *game.lying.values()):
        chips.update(holder)
    assert +chips == (COUNTS if game.has_chips else {})
    for number, seat in enumerate(game.seats):
        away = [laid.figure.kind for laid in game.tiles.values() if laid.figure and laid.figure.seat == number]
        assert Counter(seat.home) + Counter(away) == Counter(game._all_figures())


@pytest.mark.parametrize("seed", range(12))
def test_games_keep_everything_and_their_structs_say_all(seed: int) -> None:
    rng = random.Random(seed)
    game = Ukraine(random_params(rng))
    movers = mix(game.players, rng)
    while game.phase != "over":
        check(game)
        twin = Ukraine.from_struct(game.struct())
        assert twin.struct() == game.struct()
        assert (twin.legal(), twin.chance()) == (game.legal(), game.chance())
        step(game, movers, rng)
    paid = [sum(one.points[seat] for one in game.final) for seat in range(game.players)]
    assert game.scores() == [mine + more for mine, more in zip(points(game), paid, strict=True)]


@pytest.mark.parametrize("mover", [random_mover, greedy_mover, busy_mover])
def test_all_movers_come_to_an_end(mover: Mover) -> None:
    for number, where in enumerate((*MADE_MAPS, "ukraine")):
        game = Ukraine({"map": where, "players": 3})
        play_game(game, [mover] * 3, random.Random(number))
        assert game.phase == "over"


def test_games_are_reproducible() -> None:
    ends = []
    for _ in range(2):
        rng = random.Random(9)
        game = Ukraine({"map": MADE_MAPS[1]})
        play_game(game, mix(2, rng), rng)
        ends.append(game.struct())
    assert ends[0] == ends[1]


def test_counting_can_be_switched_off() -> None:
    game = Ukraine({"map": MADE_MAPS[0]}, count=False)
    play_game(game, [busy_mover, greedy_mover], random.Random(1))
    assert game.phase == "over" and not game.clauses


def test_set_positions_reach_all_phases() -> None:
    phases = Counter(random_position(random.Random(seed))["phase"] for seed in range(200))
    assert set(phases) >= {"second", "tile", "chip", "place", "figure", "trade"}


def test_mixture_exercises_every_clause(capsys: pytest.CaptureFixture[str]) -> None:
    """Play a mixture of games, each with a set position as the differential tests do; print how often clauses count."""
    counts: Counter[str] = Counter()
    for number in range(120):
        rng = random.Random(number)
        game = Ukraine(random_params(rng))
        play_game(game, mix(game.players, rng), rng)
        placed = Ukraine.from_struct(random_position(rng))
        for _ in range(6):
            if placed.phase != "over":
                (placed.play if placed.legal() else placed.resolve)(
                    busy_mover(placed, rng) if placed.legal() else draw_chance(placed, rng)
                )
        counts += game.clauses + placed.clauses
    clauses = clauses_of("ukraine")
    with capsys.disabled():
        print("\nclauses exercised: " + "  ".join(f"{clause} {counts[clause]}" for clause in clauses))
    assert set(counts) <= set(clauses)
    assert [clause for clause in clauses if not counts[clause]] == []
