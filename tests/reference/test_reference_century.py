# ruff: noqa: D103 (the names of the tests say what they test)
"""Tests of the plain-Python reference of Century: positions worked out by hand from the rules."""

from __future__ import annotations

import copy
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from .century import (
    CARDS,
    COLOURS,
    COST,
    FACE_DOWN,
    MERCHANTS,
    NOBODY,
    POINT_CARDS,
    POINTS,
    STARTING,
    Century,
    Cubes,
    cubes_of,
    end_of_turn_positions,
    minus,
    position_key,
    same_turn,
    total,
)
from .players_century import (
    Mover,
    busy_mover,
    collecting_mover,
    draw_chance,
    greedy_mover,
    hoarding_mover,
    mix,
    play_game,
    purposeful_mover,
    random_mover,
    random_params,
    random_position,
)

ROW = ["+G", "^3", "YY>G", "RR>GG", "YYY>B", "G>RR"]
POINT_ROW = ["YYRR=6", "RRRR=8", "GGGG=12", "BBBB=16", "YRGB=12"]
PYRAMID = ["YYRR=6", *[FACE_DOWN] * 9]
CLAUSES = {"M": 4, "S": 5, "T": 3, "P": 6, "A": 5, "R": 2, "C": 4, "E": 4, "O": 12, "U": 14}
ALL_CLAUSES = [f"{letter}{number}" for letter, last in CLAUSES.items() for number in range(1, last + 1)]


def letters(cubes: Cubes) -> str:
    """Write cubes as a word such as "YYG"."""
    return "".join(colour * cubes[colour] for colour in COLOURS)


def seat_of(
    cubes: str = "YYY", hand: str = "+YY ^2", played: str = "", points: str = "", **coins: int
) -> dict[str, Any]:
    """Describe a seat."""
    cards = {"hand": hand.split(), "played": played.split(), "points": points.split()}
    return {"cubes": cubes_of(cubes), **cards, "gold": coins.get("gold", 0), "silver": coins.get("silver", 0)}


def stalls(row: Iterable[str]) -> list[dict[str, Any]]:
    """Describe a merchant row of cards such as "+G" or, with cubes on it, "+G YR"; the places left over are empty."""
    given = [(*words.split(), "") for words in row]
    there = [{"card": card, "cubes": cubes_of(lying)} for card, lying, *_ in given]
    return there + [{"card": None, "cubes": cubes_of("")} for _ in range(6 - len(there))]


def position(
    *seats: dict[str, Any],
    row: Sequence[str] = ROW,
    deck: Sequence[str] = ("+B", "+RR"),
    points: Sequence[str | None] | None = None,
    point_deck: Sequence[str] = ("YYYRR=7", "YYGG=8"),
    gold: int = 0,
    silver: int = 0,
    seat: int = 0,
    number: int = 5,
    phase: str = "turn",
    automa: str = "YYY",
    coins: int = 0,
    **params: Any,
) -> Century:
    """Make a position in which a turn begins, or the automa's die is to be rolled."""
    solo = len(seats) == 1
    return Century.from_struct(
        {
            "params": {"players": len(seats), **params},
            "phase": phase,
            "seat": NOBODY if phase == "roll" else seat,
            "round": number,
            "truncated": False,
            "merchants": stalls(row),
            "merchant_deck": list(deck),
            "points": list(points) if points is not None else PYRAMID if solo else POINT_ROW,
            "point_deck": list(point_deck),
            "coins": {"gold": gold, "silver": silver},
            "pending": None,
            "seats": list(seats),
            "automa": {"cubes": cubes_of(automa), "coins": coins, "points": []} if solo else None,
        }
    )


def legal(game: Century, start: str = "") -> set[str]:
    """Give the legal actions whose words begin like that."""
    return {words for words in game.legal() if words.startswith(start)}


def caravan(game: Century, seat: int = 0) -> str:
    return letters(game.seats[seat].cubes)


def row_of(game: Century) -> list[str]:
    """Give the merchant row like `stalls` takes it."""
    return [f"{stall.card} {letters(stall.cubes)}".strip() for stall in game.merchants if stall.card]


def play(game: Century, *words: str) -> Century:
    """Play actions, or let chance bring them."""
    for word in words:
        if game.chance():
            game.resolve(word)
        else:
            game.play(word)
    return game


def set_up(**params: Any) -> Century:
    """Set a game up; the first cards of the tables come."""
    game = Century(params)
    while game.chance():
        game.resolve(next(iter(game.chance())))
    return game


# M: material.


def test_m2_merchants() -> None:
    kinds = Counter(CARDS[card].kind for card in MERCHANTS)
    assert kinds == {"produce": 8, "upgrade": 1, "trade": 34} and len(set(MERCHANTS)) == 43
    assert CARDS["^3"].steps == 3 and CARDS["^2"].steps == 2 and letters(CARDS["+YY"].gains) == "YY"
    assert len({name.lower() for name in MERCHANTS + STARTING}) == 45


def test_m2_every_trade_gains_value_and_no_colour_is_on_both_sides() -> None:
    weights = dict(zip(COLOURS, (1, 2, 3, 4), strict=True))
    for card in map(CARDS.get, MERCHANTS):
        assert card is not None
        if card.kind == "trade":
            gain = sum(weights[c] * n for c, n in card.gains.items()) - sum(
                weights[c] * n for c, n in card.pays.items()
            )
            assert 1 <= gain <= 4
            assert not any(card.gains[colour] and card.pays[colour] for colour in COLOURS)


def test_m3_point_cards() -> None:
    assert len(set(POINT_CARDS)) == len({name.split("=")[0] for name in POINT_CARDS}) == 36
    assert sum(POINTS.values()) == 468
    for name, cost in COST.items():
        colours = sum(number > 0 for number in cost.values())
        formula = sum(k * cost[colour] for k, colour in enumerate(COLOURS, 1)) + max(0, colours - 2)
        assert POINTS[name] == formula


def test_m4_every_remaining_card_is_equally_likely() -> None:
    game = Century({"players": 3})
    assert set(game.chance()) == {f"draw {card} for point place 1" for card in POINT_CARDS}
    game.resolve("draw GGGG=12 for point place 1")
    assert set(game.chance()) == {f"draw {card} for point place 2" for card in POINT_CARDS if card != "GGGG=12"}
    assert set(game.chance().values()) == {1}


# S: set-up.


def test_s1_order_of_the_set_up() -> None:
    game = Century({"players": 2})
    words = []
    while game.chance():
        words.append(list(game.chance())[-1])
        game.resolve(words[-1])
        assert game.round == (0 if game.chance() else 1)
    assert [w.split(" for ")[1] for w in words] == [f"point place {k}" for k in range(1, 6)] + [
        f"merchant place {k}" for k in range(1, 7)
    ]
    assert game.phase == "turn" and game.seat == 0
    assert row_of(game) == [w.split()[1] for w in words[5:]] and game.points == [w.split()[1] for w in words[:5]]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_s2_s3_s4_s5(players: int) -> None:
    game = set_up(players=players)
    assert (game.gold, game.silver) == (2 * players, 2 * players)
    assert [caravan(game, k) for k in range(players)] == ["YYY", "YYYY", "YYYY", "YYYR", "YYYR"][:players]
    assert all(seat.hand == ["+YY", "^2"] and not seat.played for seat in game.seats)
    seats = []
    for _ in range(2 * players):
        seats.append(game.seat)
        game.play("play +YY" if game.round == 1 else "rest")
    assert seats == [*range(players)] * 2 and game.round == 3


def test_bad_params_name_the_field() -> None:
    for params, name in [({"players": 6}, "players"), ({"color": 1}, "color"), ({"turn_limit": -1}, "turn_limit")]:
        with pytest.raises(ValueError, match=name):
            Century(params)


# T: a turn.


def test_t1_kinds_of_turns() -> None:
    game = position(seat_of("YYRR", hand="+YY RR>GG GG>BB", played="^2"), seat_of())
    assert legal(game) == {
        "play +YY",
        "play RR>GG",
        *(f"acquire {card} at place {k}" for k, card in enumerate(ROW[:5], 1)),
        "rest",
        "claim YYRR=6 at place 1",
    }


def test_t2_no_done_where_nothing_else_is_possible() -> None:
    game = play(position(seat_of("YYYY", hand="YY>G"), seat_of()), "play YY>G")
    assert legal(game) == {"trade once more", "done"} and game.pending == {"card": "YY>G"}
    play(game, "trade once more")
    assert game.seat == 1 and caravan(game) == "GG" and game.pending is None
    assert play(position(seat_of("YYY", hand="YY>G"), seat_of()), "play YY>G").seat == 1
    assert play(position(seat_of("BB"), seat_of()), "play ^2").seat == 1
    game = play(position(seat_of("GB"), seat_of()), "play ^2")
    assert legal(game) == {"upgrade G to B", "done"}
    assert play(game, "upgrade G to B").seat == 1


def test_t3_return_down_to_ten_at_the_end_only() -> None:
    game = play(position(seat_of("RRRRYY", hand="R>YYY"), seat_of()), "play R>YYY", *["trade once more"] * 3)
    assert game.phase == "return" and caravan(game) == "Y" * 14 and legal(game) == {"return Y"}
    assert play(game, *["return Y"] * 3).phase == "return"
    assert play(game, "return Y").seat == 1 and caravan(game) == "Y" * 10


def test_t3_any_colour_after_the_refill() -> None:
    game = position(seat_of("YYYYYYYYRG"), seat_of(), row=["+G YB", *ROW[1:]])
    play(game, "acquire +G at place 1")
    assert game.phase == "merchant"
    play(game, "draw +RR for merchant place 6")
    assert game.phase == "return" and legal(game) == {f"return {colour}" for colour in COLOURS}
    play(game, "return B", "return Y")
    assert game.seat == 1 and caravan(game) == "YYYYYYYYRG"


def test_t3_a_turn_that_begins_with_too_many() -> None:
    game = play(position(seat_of("Y" * 12), seat_of()), "rest")
    assert game.phase == "return"


# P: playing.


def test_p1_played_cards_wait_for_a_rest() -> None:
    game = play(position(seat_of(), seat_of()), "play +YY", "rest")
    assert game.seats[0].hand == ["^2"] and game.seats[0].played == ["+YY"]
    assert "play +YY" not in game.legal() and "play ^2" in game.legal()
    play(game, "rest")
    assert sorted(game.seats[0].hand) == ["+YY", "^2"] and not game.seats[0].played


def test_p2_produce() -> None:
    assert caravan(play(position(seat_of("G", hand="+YYR"), seat_of()), "play +YYR")) == "YYRG"


def test_p3_steps_split_at_will_or_none() -> None:
    start = position(seat_of("YRB", hand="^3"), seat_of())
    assert caravan(play(start.copy(), "play ^3", "done")) == "YRB"
    assert caravan(play(start.copy(), "play ^3", "upgrade Y to R", "done")) == "RRB"
    game = play(start.copy(), "play ^3", "upgrade Y to R", "upgrade R to G")
    assert game.pending == {"card": "^3", "steps": 1} and legal(game) == {"upgrade R to G", "upgrade G to B", "done"}
    assert caravan(play(game, "upgrade G to B")) == "RBB" and game.seat == 1


def test_p4_one_cube_several_steps_brown_none() -> None:
    game = play(position(seat_of("YB", hand="^3"), seat_of()), "play ^3")
    assert legal(game) == {"upgrade Y to R", "done"}
    play(game, "upgrade Y to R", "upgrade R to G")
    assert legal(game) == {"upgrade G to B", "done"}
    assert caravan(play(game, "upgrade G to B")) == "BB"


def test_p3_without_anything_to_upgrade_it_can_be_played() -> None:
    game = play(position(seat_of("", hand="^2"), seat_of()), "play ^2")
    assert game.seat == 1 and game.seats[0].played == ["^2"]


def test_p5_p6_trades() -> None:
    assert "play YYY>B" not in position(seat_of("YYRR", hand="YYY>B"), seat_of()).legal()
    game = play(position(seat_of("YYYYYYY", hand="YYY>B"), seat_of()), "play YYY>B")
    assert caravan(game) == "YYYYB"
    assert caravan(play(game.copy(), "done")) == "YYYYB" and caravan(play(game, "trade once more")) == "YBB"
    assert game.seat == 1


# A: acquiring.


def test_a1_one_cube_on_each_card_to_the_left() -> None:
    game = play(position(seat_of("YYRG"), seat_of()), "acquire RR>GG at place 4")
    assert game.pending == {"place": 4, "paid": 0} and legal(game) == {"pay Y", "pay R", "pay G"}
    play(game, "pay G", "pay Y")
    assert game.pending == {"place": 4, "paid": 2} and row_of(game)[:3] == ["+G G", "^3 Y", "YY>G"]
    play(game, "pay R", "draw +B for merchant place 6")
    assert row_of(game) == ["+G G", "^3 Y", "YY>G R", "YYY>B", "G>RR", "+B"] and caravan(game) == "Y"
    assert game.seat == 1 and game.seats[0].hand[-1] == "RR>GG" and game.pending is None


def test_a2_the_bonus_does_not_pay() -> None:
    game = position(seat_of("Y"), seat_of(), row=["+G", "^3", "YY>G BBBB"])
    assert legal(game, "acquire") == {"acquire +G at place 1", "acquire ^3 at place 2"}
    game = play(position(seat_of("YR"), seat_of(), row=["+G", "^3", "YY>G BB"]), "acquire YY>G at place 3")
    assert legal(game) == {"pay Y", "pay R"}
    assert caravan(play(game, "pay R", "pay Y")) == "BB"


def test_a3_the_worked_example() -> None:
    row = ["^3", "+G", "YY>G G", "+B", "RR>GG", "+YYY"]
    game = play(position(seat_of("YYYY"), seat_of(), row=row), "acquire YY>G at place 3", "pay Y", "pay Y")
    assert game.phase == "merchant" and caravan(game) == "YYG"
    assert row_of(game) == ["^3 Y", "+G Y", "+B", "RR>GG", "+YYY"]
    assert set(game.chance()) == {"draw +B for merchant place 6", "draw +RR for merchant place 6"}


def test_a4_cubes_slide_with_their_card() -> None:
    game = position(seat_of(""), seat_of(), row=["+G", "^3 Y", "YY>G", "RR>GG", "YYY>B", "G>RR BB"])
    play(game, "acquire +G at place 1")
    assert row_of(game) == ["^3 Y", "YY>G", "RR>GG", "YYY>B", "G>RR BB"]


def test_a5_no_refill_without_a_deck() -> None:
    game = play(position(seat_of(), seat_of(), row=["+G", "^3"], deck=[]), "acquire +G at place 1")
    assert game.seat == 1 and row_of(game) == ["^3"]
    play(game, "acquire ^3 at place 1")
    assert game.seat == 0 and row_of(game) == [] and legal(game, "acquire") == set()


@pytest.mark.parametrize("switch", [True, False])
def test_a5_reshuffle_discards(switch: bool) -> None:
    own = " ".join(card for card in MERCHANTS if card not in ("+G", "^3", "YY>G"))
    solo: dict[str, Any] = {"reshuffle_discards": switch, "automa": "GGY"}
    game = position(seat_of(hand=own), row=["+G", "^3 YY"], deck=[], phase="roll", **solo)
    play(game, "roll 2")
    if switch:  # the one discarded before, and the one discarded now
        assert set(game.chance()) == {"draw ^3 for merchant place 2", "draw YY>G for merchant place 2"}
        play(game, "draw YY>G for merchant place 2")
        assert set(game.chance()) == {"draw ^3 for merchant place 3"}
        play(game, "draw ^3 for merchant place 3")
    assert game.phase == "turn" and row_of(game) == (["+G", "YY>G", "^3"] if switch else ["+G"])


# R: resting.


def test_r2_a_pass_is_always_possible() -> None:
    game = position(seat_of("", hand="GG>BB"), seat_of(), row=[], deck=[], points=[None] * 5, point_deck=[])
    assert legal(game) == {"rest"}
    before = game.struct()["seats"]
    assert play(game, "rest").seat == 1 and game.struct()["seats"] == before


# C: claiming.


def test_c1_exact_cost() -> None:
    game = play(position(seat_of("YYRRRB"), seat_of()), "claim YYRR=6 at place 1")
    assert caravan(game) == "RB" and game.seats[0].points == ["YYRR=6"]
    assert "claim RRRR=8 at place 2" not in game.legal()


@pytest.mark.parametrize(
    ("place", "gold", "silver", "won", "left"),
    [
        (1, 2, 2, (1, 0), (1, 2)),
        (2, 2, 2, (0, 1), (2, 1)),
        (2, 2, 0, (0, 0), (2, 0)),
        (1, 1, 2, (1, 0), (0, 2)),
        (1, 0, 2, (0, 1), (0, 1)),
        (2, 0, 2, (0, 0), (0, 2)),
        (1, 0, 0, (0, 0), (0, 0)),
        (3, 2, 2, (0, 0), (2, 2)),
    ],
)
def test_c2_c3_coins(place: int, gold: int, silver: int, won: Any, left: Any) -> None:
    cost = {1: "YYRR", 2: "RRRR", 3: "GGGG"}[place]
    game = position(seat_of(cost), seat_of(), gold=gold, silver=silver)
    play(game, f"claim {POINT_ROW[place - 1]} at place {place}")
    assert (game.seats[0].gold, game.seats[0].silver) == won and (game.gold, game.silver) == left


def test_c4_slide_and_refill() -> None:
    game = play(position(seat_of("RRRR"), seat_of()), "claim RRRR=8 at place 2")
    assert game.points == ["YYRR=6", "GGGG=12", "BBBB=16", "YRGB=12", None]
    assert set(game.chance()) == {"draw YYYRR=7 for point place 5", "draw YYGG=8 for point place 5"}
    assert play(game, "draw YYGG=8 for point place 5").seat == 1 and game.points[4] == "YYGG=8"
    game = play(position(seat_of("RRRR"), seat_of(), point_deck=[]), "claim RRRR=8 at place 2")
    assert game.seat == 1 and game.points[3:] == ["YRGB=12", None]


# E: the end of the normal game.


@pytest.mark.parametrize(("players", "before", "ends"), [(2, 4, False), (3, 5, True), (4, 4, True), (5, 3, False)])
def test_e1_the_round_is_finished(players: int, before: int, ends: bool) -> None:
    first = seat_of("YYRR", points=" ".join(POINT_CARDS[20 : 20 + before]))
    game = position(first, *[seat_of()] * (players - 1))
    play(game, "claim YYRR=6 at place 1", "draw YYGG=8 for point place 5")
    for seat in range(1, players):
        assert game.seat == seat
        game.play("rest")
    assert (game.phase == "over") is ends and not game.truncated and game.round == (5 if ends else 6)


def test_e2_score() -> None:
    game = position(seat_of("YYRGB", points="YYRR=6 BBBB=16", gold=2, silver=1), seat_of("YYY"))
    assert game.scores() == [6 + 16 + 6 + 1 + 3, 0]


def over(*seats: dict[str, Any], **params: Any) -> Century:
    """Let all pass until the game is over by its turn limit."""
    game = position(*seats, turn_limit=5, **params)
    while game.phase != "over":
        game.play("rest")
    return game


def test_e3_ties_go_to_the_later_seat() -> None:
    seats = [seat_of("RR"), seat_of("R"), seat_of("YGG"), seat_of("Y")]
    assert over(*seats).returns() == [-1 / 3, -1 / 3, 1.0, -1 / 3]
    assert over(*seats, returns="rank").returns() == pytest.approx([1 / 3, -1 / 3, 1, -1])
    assert over(*seats, returns="margin").returns() == pytest.approx([2 - 1, 1 - 4 / 3, 2 - 1, 0 - 5 / 3])


def test_e4_turn_limit() -> None:
    game = over(seat_of("RR"), seat_of("R"))
    assert game.truncated and game.round == 5 and game.seat == 1 and game.returns() == [1.0, -1.0]
    won = seat_of("", points=" ".join(POINT_CARDS[20:26]))
    game = over(seat_of("RR"), won)
    assert not game.truncated and game.round == 5
    game = position(seat_of(), seat_of(), turn_limit=0, number=100_000)
    assert play(game, "rest", "rest").phase == "turn"


# O: the solo game.


def test_o1_o5_o6_set_up() -> None:
    game = Century({"players": 1})
    assert set(game.chance()) == {f"draw {card} for point place 1" for card in POINT_CARDS}
    game = set_up(players=1)
    assert game.points == [POINT_CARDS[0], *[FACE_DOWN] * 9] and len(game.point_deck) == 35
    assert row_of(game) == list(MERCHANTS[:6]) and len(game.merchant_deck) == 37
    assert game.automa and letters(game.automa.cubes) == caravan(game) == "YYY" and game.automa.coins == 0
    assert game.seats[0].hand == ["+YY", "^2"] and (game.phase, game.seat, game.round) == ("turn", 0, 1)
    assert (game.gold, game.silver) == (0, 0)


@pytest.mark.parametrize(
    ("taken", "free"),
    [
        ({1}, {2, 3}),
        ({1, 2}, {3, 4}),
        ({1, 3}, {2, 6}),
        ({1, 2, 3}, {4, 5, 6}),
        ({1, 2, 4}, {3, 7}),
        ({1, 2, 3, 4}, {5, 6, 7}),
        ({1, 2, 3, 5}, {4, 6}),
        ({1, 2, 3, 4, 5}, {6, 7, 8}),
        ({1, 2, 3, 6}, {4, 5, 10}),
        ({1, 2, 3, 5, 6}, {4, 9, 10}),
        ({1, 2, 3, 4, 5, 6}, {7, 8, 9, 10}),
    ],
)
def test_o2_which_cards_are_covered(taken: set[int], free: set[int]) -> None:
    places = [None if place in taken else FACE_DOWN for place in range(1, 11)]
    game = position(seat_of(), points=places, point_deck=POINT_CARDS, phase="roll")
    play(game, "roll 6")
    found = set()
    while game.chance():
        words = next(iter(game.chance()))
        found.add(int(words.split()[-1]))
        game.resolve(words)
    assert found == free and game.phase == "turn"


def test_o2_o3_o4_freed_cards_turn_up_before_the_automa_claims() -> None:
    game = position(seat_of("YYRR"), automa="RRRR", point_deck=["RRRR=8", "YYGG=8", "GGGG=12"])
    play(game, "claim YYRR=6 at place 1")
    assert game.points[:3] == [None, FACE_DOWN, FACE_DOWN] and (game.phase, game.seat) == ("point", 0)
    assert set(game.chance()) == {f"draw {c} for point place 2" for c in ("RRRR=8", "YYGG=8", "GGGG=12")}
    play(game, "draw YYGG=8 for point place 2")
    assert set(game.chance()) == {f"draw {c} for point place 3" for c in ("RRRR=8", "GGGG=12")}
    play(game, "draw RRRR=8 for point place 3")
    assert game.automa and game.automa.points == ["RRRR=8"] and game.points[:3] == [None, "YYGG=8", None]
    assert (game.phase, game.seat) == ("point", NOBODY)
    assert set(game.chance()) == {"draw GGGG=12 for point place 6"}
    play(game, "draw GGGG=12 for point place 6")
    assert (game.phase, game.seat, game.round) == ("turn", 0, 6)
    assert legal(game, "claim") == set()


def test_o7_cubes_of_the_automa_are_gained_too() -> None:
    game = position(seat_of("YY"), phase="roll", automa="RRR")
    play(game, "roll 3", "acquire YY>G at place 3", "pay Y", "pay Y")
    assert caravan(game) == "Y"  # the automa could not pay for YY>G, got YY, and put its lowest cube, a Y, on it
    play(game, "draw +B for merchant place 6")
    assert (game.phase, game.seat) == ("roll", NOBODY)


def test_o7_limit_and_no_coins() -> None:
    game = play(position(seat_of("Y" * 9)), "play +YY")
    assert game.phase == "return" and play(game, "return Y").phase == "roll"
    game = play(position(seat_of("YYRR"), points=["YYRR=6", *[None] * 9]), "claim YYRR=6 at place 1")
    assert game.scores() == [6]


def test_o8_the_tenth_card_ends_the_game_at_once() -> None:
    last = ["YYRR=6", *[None] * 9]
    game = play(position(seat_of("YYRR"), points=last), "claim YYRR=6 at place 1")
    assert (game.phase, game.seat, game.round, game.truncated) == ("over", 0, 5, False)
    game = play(position(seat_of(""), points=last, automa="YYYRR", turn_limit=5), "rest")
    assert (game.phase, game.seat, game.truncated) == ("over", NOBODY, False) and game.returns() == [-1.0]
    assert game.automa_score() == 6


@pytest.mark.parametrize(("expert", "score"), [(False, 2 + 4 + 3 + 4), (True, 2 + 4 + 3 + 12)])
def test_o9_o10_scores(expert: bool, score: int) -> None:
    game = position(seat_of("YYRGB", points="YYRR=6"), automa="YYYRRGGB", coins=4, expert=expert)
    assert game.scores() == [9] and game.automa_score() == score


@pytest.mark.parametrize(("automa", "won"), [("RRB", -1.0), ("RRRRR", 1.0), ("RGB", -1.0)])
@pytest.mark.parametrize("returns", ["win", "rank", "margin"])
def test_o11_a_tie_is_not_a_win(automa: str, won: float, returns: str) -> None:
    game = position(seat_of("YYRR"), points=["YYRR=6", *[None] * 9], automa=automa, returns=returns)
    game.automa.coins = 0 if automa != "RRB" else 2  # type: ignore[union-attr]
    play(game, "claim YYRR=6 at place 1")
    margin = 6 - {"RRB": 7, "RRRRR": 5, "RGB": 6}[automa]
    assert game.returns() == [margin if returns == "margin" else won]


def test_o12_turn_limit() -> None:
    game = play(position(seat_of("BBB", played="+G"), automa="Y", turn_limit=5), "rest")
    assert game.phase == "roll"
    play(game, "roll 2")
    assert (game.phase, game.seat, game.round, game.truncated) == ("over", NOBODY, 5, True)
    assert game.returns() == [-1.0] and game.scores() == [3]


# U: the automa's turn.


def automa_claim(cards: list[str], cubes: str, **params: Any) -> Century:
    """Let the player rest and the automa claim, with these cards at places 2 and 3, or from 4 on, or from 7 on."""
    before = {2: 1, 3: 3, 4: 6}[len(cards)]
    places = [None] * before + cards + [FACE_DOWN] * (10 - before - len(cards))
    return play(position(seat_of("", played="+G"), points=places, automa=cubes, **params), "rest")


@pytest.mark.parametrize(
    ("cards", "cubes", "switch", "claimed"),
    [
        (["RRRR=8", "BBBB=16"], "RRRRBBBB", "affordable", "BBBB=16"),
        (["RRRR=8", "BBBB=16"], "RRRRBBB", "affordable", "RRRR=8"),
        (["RRRR=8", "BBBB=16"], "RRRRBBB", "top_only", None),
        (["RRRR=8", "BBBB=16"], "BBBB", "top_only", "BBBB=16"),
        (["GGGG=12", "RRBB=12"], "GGGGRRBB", "affordable", "GGGG=12"),
        (["RRBB=12", "GGGG=12"], "GGGGRRBB", "affordable", "RRBB=12"),
        (["RRBB=12", "GGGG=12"], "GGGG", "top_only", "GGGG=12"),
        (["RRRR=8", "RRBB=12", "GGGG=12"], "GGGGRRBB", "affordable", "RRBB=12"),
    ],
)
def test_u1_u2_claims(cards: list[str], cubes: str, switch: str, claimed: str | None) -> None:
    game = automa_claim(cards, cubes, automa_claims=switch)
    assert game.automa and game.automa.points == ([claimed] if claimed else [])
    assert (game.phase == "roll") is (claimed is None)
    if claimed:  # U3
        assert game.automa.cubes == minus(cubes_of(cubes), COST[claimed])


def test_u2_the_lowest_row_first() -> None:
    places = [None, None, "GGGG=12", "RRBB=12", None, *[FACE_DOWN] * 5]
    game = play(position(seat_of("", played="+G"), points=places, automa="GGGGRRBB"), "rest")
    assert game.points[2:4] == [None, "RRBB=12"]


def test_u3_then_its_turn_is_over() -> None:
    game = automa_claim(["RRRR=8", "GGGG=12", "BBBB=16", "YRGB=12"], "GGGGY")
    assert (game.phase, game.round) == ("turn", 6) and row_of(game) == ROW
    assert game.points[6:] == ["RRRR=8", None, "BBBB=16", "YRGB=12"]


def test_u4_the_die() -> None:
    game = play(position(seat_of("", played="+G")), "rest")
    assert game.chance() == {f"roll {number}": 1 for number in range(1, 7)} and game.seat == NOBODY


@pytest.mark.parametrize(
    ("stall", "cubes", "after", "lying"),
    [
        ("YY>G", "YYYB", "GB", "Y"),  # U5: it trades once
        ("YY>G", "YYYYB", "YGB", "Y"),
        ("YY>G R", "YYB", "B", "RG"),  # U5 with one cube; the lowest it has then is G
        ("YY>G", "YRB", "YYRB", "Y"),  # U6: it gains YY
        ("YYG>BB", "", "YG", "Y"),  # U6
        ("YY>G R", "YB", "B", "RY"),  # U8
        ("+YG", "R", "RG", "Y"),  # U7
        ("+YG B", "RG", "G", "RB"),  # U8
        ("^3", "RGB", "GB", "R"),  # U12
        ("^3 Y", "B", "", "YB"),  # U12
        ("^3", "", "", ""),  # U9: it has none
        ("+YG B", "", "", "B"),  # U9
    ],
)
def test_u5_to_u9_and_u12(stall: str, cubes: str, after: str, lying: str) -> None:
    game = position(seat_of(), row=["R>YYY", stall, "+YYR", "B>GG", "GG>BB", "+YYYY"], automa=cubes, phase="roll")
    play(game, "roll 2")
    assert game.automa and letters(game.automa.cubes) == after and game.automa.coins == 0
    assert letters(game.merchants[1].cubes) == letters(cubes_of(lying)) and game.phase == "turn" and game.round == 6


def test_u7_automa_produces_switched_off() -> None:
    game = position(seat_of(), row=["R>YYY", "+YG"], deck=[], automa="R", phase="roll", automa_produces=False)
    play(game, "roll 2")
    assert game.automa and letters(game.automa.cubes) == "" and row_of(game)[1] == "+YG R"


@pytest.mark.parametrize("stall", ["YY>G", "+YG", "^3"])
def test_u10_two_or_more_cubes(stall: str) -> None:
    row = ["R>YYY", "B>GG", f"{stall} RBB", "+YYR Y", "GG>BB", "+YYYY"]
    game = play(position(seat_of(), row=row, automa="YY", phase="roll"), "roll 3")
    assert game.automa and letters(game.automa.cubes) == "YYRBB" and game.automa.coins == 1
    assert row_of(game) == ["R>YYY", "B>GG", "+YYR Y", "GG>BB", "+YYYY"] and game.phase == "merchant"
    play(game, "draw +B for merchant place 6")
    assert (game.phase, game.round) == ("turn", 6) and row_of(game)[5] == "+B"


ONE = ["YY>G R", "B>GG Y", "GG>BB", "+YYYY", "R>YYY BB", "+YYR"]


def test_u11_a_one_discards_the_leftmost() -> None:
    game = play(position(seat_of(), row=ONE, automa="YYR", phase="roll"), "roll 1")
    assert game.automa and letters(game.automa.cubes) == "G" and game.automa.coins == 0
    assert row_of(game) == ONE[1:] and game.phase == "merchant"


def test_u11_a_one_with_two_cubes_discards_only_once() -> None:
    row = ["YY>G RR", *ONE[1:]]
    for switch in ("leftmost", "row", "none"):
        game = play(position(seat_of(), row=row, automa="Y", phase="roll", roll_one_refresh=switch), "roll 1")
        assert game.automa and letters(game.automa.cubes) == "YRR" and game.automa.coins == 1
        assert row_of(game) == ONE[1:] and game.phase == "merchant"


def test_u11_row_and_none() -> None:
    deck = ["+B", "+RR", "+G", "^3", "YYY>B", "RRR>BB", "G>YRR"]
    game = position(seat_of(), row=ONE, deck=deck, automa="YYR", phase="roll", roll_one_refresh="row")
    play(game, "roll 1")
    assert row_of(game) == []
    play(game, *(f"draw {card} for merchant place {k}" for k, card in enumerate(deck[:6], 1)))
    assert game.phase == "turn" and row_of(game) == deck[:6]
    game = play(position(seat_of(), row=ONE, automa="YYR", phase="roll", roll_one_refresh="none"), "roll 1")
    assert game.phase == "turn" and row_of(game) == ["YY>G RR", *ONE[1:]]
    game = play(position(seat_of(), row=ONE, automa="YYR", phase="roll", roll_one_refresh="row"), "roll 2")
    assert game.phase == "turn" and row_of(game)[1] == "B>GG YY"


def test_u13_an_empty_place() -> None:
    for number in (1, 3):
        row = ["+G", "^3"] if number == 3 else []
        game = play(position(seat_of(), row=row, deck=[], phase="roll"), f"roll {number}")
        assert game.phase == "turn" and row_of(game) == row and game.automa and letters(game.automa.cubes) == "YYY"


def test_u14_no_limit() -> None:
    game = position(seat_of(), row=["R>YYY", "YYYYY>BB"], deck=[], automa="R" * 12, coins=30, phase="roll")
    play(game, "roll 2")
    assert game.automa and letters(game.automa.cubes) == "YYYY" + "R" * 12


# Words, structs, movers.


def test_illegal_words_change_nothing() -> None:
    game = position(seat_of("YY"), seat_of())
    before, counts = game.struct(), Counter(game.clauses)
    for words in (
        "done",
        "play YY>G",
        "acquire RR>GG at place 4",
        "acquire +G at place 2",
        "pay Y",
        "return Y",
        "",
        "REST",
    ):
        with pytest.raises(ValueError, match="not legal"):
            game.play(words)
    with pytest.raises(ValueError, match="Chance"):
        game.resolve("roll 1")
    assert game.struct() == before and game.clauses == counts


def check_conservation(game: Century) -> None:
    """Check that no card or coin is lost or made, that rows have no gaps, and that caravans keep to the limit."""
    struct = game.struct()
    row = [stall["card"] for stall in struct["merchants"]]
    own = [card for seat in struct["seats"] for card in seat["hand"] + seat["played"]]
    merchants = Counter([*filter(None, row), *struct["merchant_deck"], *own]) - Counter(STARTING * game.players)
    assert max(merchants.values()) == 1 and (game.solo or sum(merchants.values()) == 43)
    assert sorted(row, key=lambda card: card is None) == row
    assert all(stall["card"] or not total(stall["cubes"]) for stall in struct["merchants"])
    holders = [*struct["seats"], *([struct["automa"]] if game.solo else [])]
    cards = [card for holder in holders for card in holder["points"]] + struct["point_deck"]
    cards += [card for card in struct["points"] if card not in (None, FACE_DOWN)]
    assert sorted(cards) == sorted(POINT_CARDS)
    if game.solo:
        covered = struct["points"].count(FACE_DOWN)
        assert len(struct["point_deck"]) == 26 + covered
    else:
        for kind in ("gold", "silver"):
            assert struct["coins"][kind] + sum(seat[kind] for seat in struct["seats"]) == 2 * game.players
    for number, seat in enumerate(struct["seats"]):
        assert min(seat["cubes"].values()) >= 0
        assert total(seat["cubes"]) <= 10 or number == game.seat


@pytest.mark.parametrize("seed", range(12))
def test_conservation_and_struct_round_trip(seed: int) -> None:
    rng = random.Random(seed)
    game = Century(random_params(rng))
    movers = mix(game.players, rng)
    while game.phase != "over":
        struct = game.struct()
        again = Century.from_struct(copy.deepcopy(struct))
        assert again.struct() == struct and again.chance() == game.chance()
        assert sorted(again.legal()) == sorted(game.legal()) and len(set(game.legal())) == len(game.legal())
        assert bool(game.legal()) != bool(game.chance()) and set(game.legal()) != {"done"}
        words = draw_chance(game, rng) if game.chance() else movers[game.seat](game, rng)
        play(game, words)
        play(again, words)
        assert again.struct() == game.struct()
        check_conservation(game)
    if not game.solo and game.params["returns"] != "win":
        assert sum(game.returns()) == pytest.approx(0)


# Whole turns: chains of small actions reach exactly the positions that the rules of whole turns allow.


def positions_of_chains(game: Century) -> set[str]:
    """Give the keys of the positions in which the turn can end, by trying all chains of small actions."""
    before = game.struct()
    found, seen, todo = set(), set(), [game.copy()]
    while todo:
        here = todo.pop()
        for words in here.legal() or [next(iter(here.chance()))]:
            after = here.copy()
            play(after, words)
            key = position_key(after.struct())
            if key in seen:
                continue
            seen.add(key)
            if same_turn(before, after.struct()):
                todo.append(after)
            else:
                found.add(key)
    return found


def test_whole_turns_by_hand() -> None:
    game = position(seat_of("YYY", hand="YY>G ^2"), seat_of(), row=["+G"], deck=[], points=[None] * 5, point_deck=[])
    caravans = Counter(
        letters(Century.from_struct(s).seats[0].cubes) for s in map(read_key, end_of_turn_positions(game))
    )
    # rest; acquire; trade once; no, one (YYR) or two steps (YRR, YYG)
    assert caravans == {"YYY": 3, "YG": 1, "YYR": 1, "YRR": 1, "YYG": 1}


def read_key(key: str) -> dict[str, Any]:
    """Read a position back from its key, as one with two players."""
    struct: dict[str, Any] = json.loads(key)
    return struct | {"params": {"players": 2}}


def test_whole_turns_payments_and_returns_by_hand() -> None:
    row = ["+G", "^3", "YY>G BBB"]
    game = position(seat_of("YYYYYYYYYR", hand=""), seat_of(), row=row, deck=[], points=[None] * 5, point_deck=[])
    ends = [Century.from_struct(read_key(key)) for key in end_of_turn_positions(game)]
    third = Counter((*row_of(end), caravan(end)) for end in ends if "YY>G" in end.seats[0].hand)
    # YY: 7 Y, R, BBB without one; YR and RY: 8 Y, BBB without one
    expected = [("+G Y", "^3 Y", c) for c in ("YYYYYYRBBB", "YYYYYYYBBB", "YYYYYYYRBB")]
    expected += [(*one, c) for one in (("+G Y", "^3 R"), ("+G R", "^3 Y")) for c in ("YYYYYYYBBB", "YYYYYYYYBB")]
    assert third == Counter(expected)


@pytest.mark.parametrize("seed", range(60))
def test_whole_turns_from_set_positions(seed: int) -> None:
    rng = random.Random(f"whole turns {seed}")
    game = Century.from_struct(random_position(rng), count=False)
    while game.phase != "turn":
        if game.phase == "over":
            game = Century.from_struct(random_position(rng), count=False)
        else:
            play(game, draw_chance(game, rng) if game.chance() else busy_mover(game, rng))
    assert end_of_turn_positions(game) == positions_of_chains(game)


@pytest.mark.parametrize("players", [1, 2])
def test_whole_turns_in_games(players: int) -> None:
    rng = random.Random(players)
    game = Century({"players": players}, count=False)
    compared = 0
    while game.phase != "over":
        if game.phase == "turn" and rng.random() < 0.15:
            assert end_of_turn_positions(game) == positions_of_chains(game)
            compared += 1
        play(game, draw_chance(game, rng) if game.chance() else purposeful_mover(game, rng))
    assert compared > 3


# Whole games.


@pytest.mark.parametrize("players", [1, 2, 3, 4, 5])
def test_purposeful_games_end_by_claims(players: int) -> None:
    for seed in range(5):
        game = Century({"players": players})
        play_game(game, [purposeful_mover] * players, random.Random(seed))
        assert not game.truncated and 15 < game.round < 150
        assert game.clauses["O8" if players == 1 else "E1"] == 1


@pytest.mark.parametrize("mover", [random_mover, greedy_mover, hoarding_mover, collecting_mover, busy_mover])
def test_other_movers_come_to_an_end(mover: Mover) -> None:
    for players in (1, 3):
        game = Century({"players": players, "turn_limit": 60})
        play_game(game, [mover] * players, random.Random(3))
        assert game.phase == "over"


def test_a_collecting_player_starves_the_automa() -> None:
    game = Century({"players": 1})
    play_game(game, [collecting_mover], random.Random(1))
    assert row_of(game) == [] and not game.merchant_deck and game.clauses["U13"] > 0


def test_games_are_reproducible() -> None:
    ends = []
    for _ in range(2):
        rng = random.Random(9)
        game = Century({"players": 1, "turn_limit": 60})
        play_game(game, mix(1, rng), rng)
        ends.append(game.struct())
    assert ends[0] == ends[1]


def test_counting_can_be_switched_off() -> None:
    game = Century({"players": 2}, count=False)
    play_game(game, [purposeful_mover, greedy_mover], random.Random(1))
    assert game.phase == "over" and not game.clauses


def test_set_positions_reach_all_phases() -> None:
    phases = Counter(random_position(random.Random(seed))["phase"] for seed in range(400))
    assert set(phases) == {"turn", "trade", "upgrade", "pay", "return", "merchant", "point", "roll"}


def clauses_from_set_position(rng: random.Random) -> Counter[str]:
    """Play six plies from a set position; give the clauses that mattered."""
    game = Century.from_struct(random_position(rng))
    for _ in range(6):
        if game.phase != "over":
            play(game, draw_chance(game, rng) if game.chance() else busy_mover(game, rng))
    return game.clauses


def test_mixture_exercises_every_clause(capsys: pytest.CaptureFixture[str]) -> None:
    """Play a mixture of games, each with a set position as the differential tests do; print how often clauses count."""
    counts: Counter[str] = Counter()
    seen: Counter[tuple[str, Any]] = Counter()
    rounds = games = 0
    began = time.process_time()
    while games < 200:
        rng = random.Random(games)
        game = Century(random_params(rng))
        play_game(game, mix(game.players, rng), rng)
        counts += game.clauses + clauses_from_set_position(rng)
        seen.update(game.params.items())
        rounds += game.round
        games += 1
    spent = time.process_time() - began
    with capsys.disabled():
        print(
            f"\n{games} games, {rounds / games:.0f} rounds and {1000 * spent / games:.0f} ms each; clauses exercised:"
        )
        for letter in CLAUSES:
            print("  " + "  ".join(f"{clause} {counts[clause]}" for clause in ALL_CLAUSES if clause[0] == letter))
    assert set(counts) <= set(ALL_CLAUSES)
    assert [clause for clause in ALL_CLAUSES if not counts[clause]] == []
    for players in (1, 2, 3, 4, 5):
        assert seen["players", players] > 10
    for switch in ("expert", "automa_produces", "reshuffle_discards"):
        assert seen[switch, True] > 10 and seen[switch, False] > 10
