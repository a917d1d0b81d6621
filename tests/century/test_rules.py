"""One test or more for each clause of RULES.md, named after it. What is expected follows from the clause's text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from caravan_env import State, make_game
from caravan_env.core.errors import IllegalAction
from tests.century.build import (
    MERCHANTS,
    POINT_CARDS,
    POINTS,
    PYRAMID,
    ROW,
    after,
    automa_has,
    automa_of,
    automa_turn,
    chances,
    cubes,
    draw_first,
    have,
    legal,
    letters,
    new_game,
    play,
    position,
    row_of,
    scores,
    seat_of,
)
from tests.reference.differential import clauses_of

VALUE = dict(zip("YRGB", (1, 2, 3, 4), strict=True))
OTHER = seat_of("YYYY")
FIVE_POINT_CARDS = "YYRRR=8 YYYRR=7 YYRB=9 RRGG=10 RRRRR=10"


def test_every_clause_has_a_test() -> None:
    clauses = [clause.lower() for clause in clauses_of("century")]
    tests = [name for name in vars(sys.modules[__name__]) if name.startswith("test_")]
    assert clauses
    assert [c for c in clauses if not any(name.startswith(f"test_{c}_") for name in tests)] == []
    named = {name.split("_")[1] for name in tests}
    assert named - set(clauses) == {"every", "worked"}


# --- M: material -----------------------------------------------------------------------------------------------------


def test_m1_colours_low_to_high_and_unlimited() -> None:
    steps = {"Y": "upgrade Y to R", "R": "upgrade R to G", "G": "upgrade G to B", "B": None}
    for colour, words in steps.items():
        state = position(seat_of(colour + "B"), OTHER)
        play(state, "play ^2")
        assert legal(state, "upgrade") == ({words} if words else set())
    brown = "B" * 200
    rich = position(seat_of(brown, "+B"), seat_of(brown), row=["^3", f"+G {brown}"])
    assert have(play(rich, "play +B")) == brown + "B"


def test_m2_43_merchants_and_two_starting_cards() -> None:
    struct = new_game(players=5).to_json()
    deck = [m["card"] for m in struct["merchants"]] + struct["merchant_deck"]
    assert len(deck) == len(set(deck)) == 43
    assert sum(card.startswith("+") for card in deck) == 8
    assert [card for card in deck if card.startswith("^")] == ["^3"]
    assert sum(">" in card for card in deck) == 34
    assert {"+YY", "^2"}.isdisjoint(deck)
    assert sorted(deck) == sorted(MERCHANTS)


def test_m3_36_point_cards_worth_their_cubes() -> None:
    struct = new_game(players=2).to_json()
    cards = struct["points"] + struct["point_deck"]
    assert len(cards) == len(set(cards)) == 36
    for card in cards:
        cost, points = card.split("=")
        assert int(points) == sum(VALUE[c] for c in cost) + max(0, len(set(cost)) - 2), card
        state = position(seat_of(cost), OTHER, points=[card, *[None] * 4], point_deck=[])
        assert play(state, f"claim {card} at place 1")["seats"][0]["score"] == int(points) + 3  # and a gold coin


def test_m4_each_card_that_remains_is_equally_likely() -> None:
    state = make_game("century", players=2).new_state()
    for left in range(36, 31, -1):
        assert list(chances(state).values()) == pytest.approx([1 / left] * left)
        state.resolve(state.chance_outcomes()[-1][0])
    for left in range(43, 37, -1):
        assert list(chances(state).values()) == pytest.approx([1 / left] * left)
        state.resolve(state.chance_outcomes()[left // 2][0])


def test_m4_what_players_hold_is_open() -> None:
    state = position(seat_of("YG", "+YY YY>G", "^2 +B", gold=1), seat_of("B"), row=["^3"])
    pieces = state.game.layout.split(state.observe(1))
    names = [*MERCHANTS, "+YY", "^2"]
    assert {names[k] for k in np.flatnonzero(pieces["hand"][1])} == {"+YY", "YY>G"}
    assert {names[k] for k in np.flatnonzero(pieces["played"][1])} == {"^2", "+B"}
    assert pieces["seats"][1][1:6] == pytest.approx([0.1, 0, 0.1, 0, 0.1])


# --- S: set-up of the normal game ------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_s1_point_cards_then_merchants_are_drawn(players: int) -> None:
    state = make_game("century", players=players).new_state()
    assert state.to_json()["points"] == [None] * 5
    for place in range(1, 6):
        assert all(words.endswith(f" for point place {place}") for words in chances(state))
        state.resolve(state.chance_outcomes()[0][0])
    for place in range(1, 7):
        assert all(words.endswith(f" for merchant place {place}") for words in chances(state))
        state.resolve(state.chance_outcomes()[0][0])
    struct = state.to_json()
    assert struct["points"] == POINT_CARDS[:5] and row_of(struct) == MERCHANTS[:6]
    assert (struct["phase"], struct["round"], struct["automa"]) == ("turn", 1, None)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_s2_twice_as_many_coins_as_players(players: int) -> None:
    assert new_game(players=players).to_json()["coins"] == {"gold": 2 * players, "silver": 2 * players}


def test_s3_starting_cards() -> None:
    for seat in new_game(players=5).to_json()["seats"]:
        assert (seat["hand"], seat["played"], seat["points"]) == (["+YY", "^2"], [], [])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_s4_cubes_by_seat(players: int) -> None:
    struct = new_game(players=players).to_json()
    starts = ["YYY", "YYYY", "YYYY", "YYYR", "YYYR"]
    assert [have(struct, seat) for seat in range(players)] == starts[:players]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_s5_seats_play_in_order(players: int) -> None:
    state = new_game(players=players)
    for turn in range(2 * players):
        struct = state.to_json()
        assert (state.to_move, struct["seat"], struct["round"]) == (turn % players, turn % players, 1 + turn // players)
        play(state, "rest")


# --- T: a turn -------------------------------------------------------------------------------------------------------


def test_t1_exactly_one_of_four_things() -> None:
    state = position(seat_of("YYRR", "+YY YYY>B YY>RR", "^2"), OTHER, deck=["+RR"])
    assert legal(state) == {
        "play +YY",
        "play YY>RR",
        *(f"acquire {card} at place {place}" for place, card in enumerate(ROW[:5], start=1)),
        "rest",
        "claim YYRR=6 at place 1",
    }
    for words in ("play +YY", "acquire ^3 at place 1", "rest", "claim YYRR=6 at place 1"):
        turn = state.clone()
        play(turn, words)
        assert draw_first(turn).to_move == 1


def test_t2_a_turn_ends_by_itself() -> None:
    state = position(seat_of("YYYY", "YY>RR ^2"), OTHER)
    play(state, "play YY>RR")
    assert legal(state) == {"trade once more", "done"}
    assert after(state, "done")["seat"] == 1
    assert after(state, "trade once more")["seat"] == 1  # nothing is left to trade
    assert after(position(seat_of("YYY", "YY>RR"), OTHER), "play YY>RR")["seat"] == 1
    assert after(position(seat_of("BB"), OTHER), "play ^2")["seat"] == 1
    state = position(seat_of("GB"), OTHER)
    play(state, "play ^2")
    assert legal(state) == {"upgrade G to B", "done"}
    assert after(state, "done")["seat"] == 1
    assert after(state, "upgrade G to B")["seat"] == 1  # nothing is left that could rise


def test_t3_ten_cubes_at_the_end_of_a_turn() -> None:
    state = position(seat_of("YYYYYRRGB", "+YYY"), OTHER, row=ROW[:5])
    struct = play(state, "play +YYY")
    assert (struct["phase"], struct["seat"], have(struct)) == ("return", 0, "YYYYYYYYRRGB")
    assert legal(state) == {"return Y", "return R", "return G", "return B"}
    struct = play(state, "return B")
    assert (struct["phase"], legal(state)) == ("return", {"return Y", "return R", "return G"})
    struct = play(state, "return Y")
    assert (struct["phase"], struct["seat"], have(struct)) == ("turn", 1, "YYYYYYYRRG")


def test_t3_only_at_the_end_and_no_more_than_that() -> None:
    assert after(position(seat_of("YYYYYYYY"), OTHER), "play +YY")["seat"] == 1  # exactly ten
    state = position(seat_of("GGRRRRRRRR", "GG>YYRRR"), OTHER)
    assert after(state, "play GG>YYRRR")["phase"] == "return"
    state = position(seat_of("GGGGRRRRRR", "GG>YYRRR"), OTHER)
    struct = play(state, "play GG>YYRRR")
    assert (struct["phase"], sum(struct["seats"][0]["cubes"].values())) == ("trade", 13)
    assert play(state, "trade once more")["phase"] == "return"


def test_t3_after_every_kind_of_turn() -> None:
    crowd = "YYYYYYYYYYRR"
    state = position(seat_of(crowd), OTHER)
    assert after(state, "rest")["phase"] == after(state, "play +YY")["phase"] == "return"
    state = position(seat_of("RR" + crowd), OTHER, point_deck=["YYGG=8"])
    assert play(state, "claim YYRR=6 at place 1")["phase"] == "point"  # first the refill
    assert play(state, "draw YYGG=8 for point place 5")["phase"] == "turn"
    state = position(seat_of("RRR" + crowd), OTHER, point_deck=["YYGG=8"])
    assert play(state, "claim YYRR=6 at place 1", "draw YYGG=8 for point place 5")["phase"] == "return"


def test_t3_cards_are_refilled_before_cubes_are_returned() -> None:
    state = position(seat_of("YYYYYYYYYY"), OTHER, row=["+G R", *ROW[2:], "^3"], deck=["+RR"])
    assert play(state, "acquire +G at place 1")["phase"] == "merchant"
    struct = play(state, "draw +RR for merchant place 6")
    assert (struct["phase"], struct["seat"], have(struct)) == ("return", 0, "YYYYYYYYYYR")


# --- P: playing a card -----------------------------------------------------------------------------------------------


def test_p1_played_cards_wait_for_a_rest() -> None:
    state = position(seat_of("YYY"), OTHER)
    struct = play(state, "play +YY", "rest")
    assert (struct["seats"][0]["hand"], struct["seats"][0]["played"]) == (["^2"], ["+YY"])
    assert legal(state, "play") == {"play ^2"}
    assert legal(position(seat_of("YYYY", "", "+YY ^2 YY>G"), OTHER, row=ROW[:2]), "play") == set()


@pytest.mark.parametrize("card", ["+G", "+B", "+YR", "+YG", "+RR", "+YYY", "+YYR", "+YYYY", "+YY"])
def test_p2_produce(card: str) -> None:
    struct = play(position(seat_of("G", card), OTHER, row=[]), f"play {card}")
    assert (struct["seat"], struct["seats"][0]["cubes"]) == (1, cubes("G" + card[1:]))


def test_p3_up_to_n_steps_split_at_will() -> None:
    state = position(seat_of("YRG", "^3"), OTHER, row=[])
    assert play(state, "play ^3")["pending"] == {"card": "^3", "steps": 3}
    assert have(after(state, "done")) == "YRG"  # no step at all
    assert have(after(state, "upgrade R to G", "done")) == "YGG"
    struct = after(state, "upgrade Y to R", "upgrade R to G")
    assert (have(struct), struct["pending"]) == ("RGG", {"card": "^3", "steps": 1})
    assert have(after(state, "upgrade Y to R", "upgrade R to G", "upgrade G to B")) == "RGB"
    two = position(seat_of("YYY"), OTHER)
    struct = play(two, "play ^2", "upgrade Y to R", "upgrade Y to R")
    assert (struct["seat"], have(struct)) == (1, "YRR")


def test_p4_several_steps_of_one_cube_and_brown_cannot_rise() -> None:
    state = position(seat_of("YB", "^3"), OTHER, row=[])
    play(state, "play ^3", "upgrade Y to R")
    assert legal(state) == {"upgrade R to G", "done"}
    struct = play(state, "upgrade R to G", "upgrade G to B")
    assert (struct["seat"], have(struct)) == (1, "BB")
    assert after(position(seat_of(""), OTHER), "play ^2")["seat"] == 1  # no cube at all


@pytest.mark.parametrize("card", [card for card in MERCHANTS if ">" in card])
def test_p5_trade_any_number_of_times_while_payable(card: str) -> None:
    pay, gain = card.split(">")
    state = position(seat_of(3 * pay, card), OTHER, row=[])
    struct = play(state, f"play {card}")
    assert struct["seats"][0]["cubes"] == cubes(2 * pay + gain)
    assert (struct["phase"], struct["pending"]) == ("trade", {"card": card})
    assert after(state, "done")["seats"][0]["cubes"] == cubes(2 * pay + gain)
    struct = play(state, "trade once more", "trade once more")
    assert struct["seats"][0]["cubes"] == cubes(3 * gain)
    assert struct["phase"] == "turn" or struct["phase"] == "return"


def test_p5_what_a_trade_gains_pays_for_the_next() -> None:
    state = position(seat_of("RRYYY", "YYY>RRR RR>YYB"), OTHER, row=[])
    assert have(play(state, "play RR>YYB")) == "YYYYYB"
    state = position(seat_of("GGG", "GG>YYRRR RRR>YGB"), OTHER, row=[])
    assert play(state, "play GG>YYRRR")["seat"] == 1


def test_p6_a_trade_that_cannot_be_paid_cannot_be_played() -> None:
    state = position(seat_of("YG", "YY>G G>RR YYG>BB"), OTHER, row=ROW[:2])
    assert legal(state, "play") == {"play G>RR"}
    with pytest.raises(IllegalAction, match="play YY>G"):
        state.step(MERCHANTS.index("YY>G"))


# --- A: acquiring a merchant -----------------------------------------------------------------------------------------


def test_a1_a_cube_on_each_card_to_the_left() -> None:
    state = position(seat_of("YRB"), OTHER, deck=[])
    assert legal(state, "acquire") == {f"acquire {card} at place {k}" for k, card in enumerate(ROW[:4], start=1)}
    assert play(state, "acquire YY>G at place 3")["pending"] == {"place": 3, "paid": 0}
    assert legal(state) == {"pay Y", "pay R", "pay B"}
    struct = play(state, "pay B")
    assert (row_of(struct)[:2], struct["pending"]) == (["^3 B", "+G"], {"place": 3, "paid": 1})
    assert legal(state) == {"pay Y", "pay R"}
    struct = play(state, "pay Y")
    assert (row_of(struct), have(struct), struct["seat"]) == (["^3 B", "+G Y", "+B", "RR>GG", "+YYY"], "R", 1)
    assert legal(position(seat_of(""), OTHER), "acquire") == {"acquire ^3 at place 1"}
    assert len(legal(position(seat_of("YYYYYYYY"), OTHER), "acquire")) == 6


def test_a2_cubes_on_the_card_cannot_pay_for_it() -> None:
    state = position(seat_of("Y"), OTHER, row=["^3", "+G", "YY>G RRRR"])
    assert legal(state, "acquire") == {"acquire ^3 at place 1", "acquire +G at place 2"}
    state = position(seat_of("YY"), OTHER, row=["^3", "+G", "YY>G RRRR"], deck=[])
    play(state, "acquire YY>G at place 3")
    assert legal(state) == {"pay Y"}


def test_a3_the_card_and_its_cubes() -> None:
    state = position(seat_of("Y"), OTHER, row=["^3 YRB", *ROW[1:]], deck=[])
    struct = play(state, "acquire ^3 at place 1")
    assert (have(struct), struct["seats"][0]["hand"], struct["seats"][0]["played"]) == ("YYRB", ["^3", "+YY", "^2"], [])


def test_a4_slide_and_refill() -> None:
    state = position(seat_of("YY"), OTHER, row=["^3", "+G B", "YY>G", "+B R", "RR>GG", "+YYY YG"])
    struct = play(state, "acquire YY>G at place 3", "pay Y", "pay Y")
    assert row_of(struct) == ["^3 Y", "+G YB", "+B R", "RR>GG", "+YYY YG"]
    assert (struct["phase"], struct["seat"]) == ("merchant", 0)
    struct = play(state, "draw GG>BB for merchant place 6")
    assert row_of(struct) == ["^3 Y", "+G YB", "+B R", "RR>GG", "+YYY YG", "GG>BB"]
    assert "GG>BB" not in struct["merchant_deck"] and struct["seat"] == 1


def test_a5_an_empty_deck_leaves_the_row_shorter() -> None:
    state = position(seat_of("YY"), OTHER, deck=["GG>BB"])
    play(state, "acquire ^3 at place 1", "draw GG>BB for merchant place 6")
    struct = play(state, "acquire +G at place 1")
    assert (row_of(struct), struct["seat"]) == ([*ROW[2:], "GG>BB"], 0)
    assert legal(state, "acquire") == {f"acquire {card} at place {k}" for k, card in enumerate(ROW[2:5], start=1)}


def discarding(die: int = 3, **others: Any) -> State:
    """A position in which the roll discards the merchant at its place, all others being held or in the row."""
    held = [card for card in MERCHANTS if card not in ROW]
    row = [f"{card} YY" for card in ROW]
    state = position(seat_of("Y", " ".join(held)), row=row, deck=[], seat=-1, phase="roll", **others)
    play(state, f"roll {die}")
    return state


def test_a5_discards_become_the_new_deck_only_if_switched_on() -> None:
    struct = discarding().to_json()
    assert (len(row_of(struct)), struct["merchant_deck"], struct["phase"]) == (5, [], "turn")
    state = discarding(reshuffle_discards=True)
    struct = state.to_json()
    assert (struct["phase"], struct["merchant_deck"], len(row_of(struct))) == ("merchant", ["YY>G"], 5)
    struct = play(state, "draw YY>G for merchant place 6")
    assert (row_of(struct)[-1], struct["merchant_deck"], struct["phase"]) == ("YY>G", [], "turn")
    assert make_game("century").params.reshuffle_discards is False


def test_a5_the_deck_is_used_up_before_discards_come_back() -> None:
    rest = [card for card in MERCHANTS if card not in (*ROW, "GG>BB", "R>YYY")]
    row = [f"{card} YY" for card in ROW]
    state = position(
        seat_of("Y", " ".join(rest)), row=row, deck=["GG>BB"], seat=-1, phase="roll", reshuffle_discards=True
    )
    play(state, "roll 2")
    assert set(chances(state)) == {"draw GG>BB for merchant place 6"}
    struct = play(state, "draw GG>BB for merchant place 6")
    assert (struct["phase"], struct["merchant_deck"]) == ("turn", [])
    struct = play(state, "acquire ^3 at place 1")  # +G and R>YYY are discarded now
    assert (struct["phase"], struct["merchant_deck"]) == ("merchant", ["+G", "R>YYY"])


def test_a5_the_normal_game_has_no_discards() -> None:
    state = position(seat_of(), OTHER, row=["^3", "+G"], deck=[], reshuffle_discards=True)
    assert play(state, "acquire ^3 at place 1")["phase"] == "turn"


# --- R: resting ------------------------------------------------------------------------------------------------------


def test_r1_played_cards_come_back() -> None:
    struct = play(position(seat_of("Y", "+G", "^2 YY>G +YY"), OTHER, row=ROW[4:]), "rest")
    assert (struct["seats"][0]["hand"], struct["seats"][0]["played"]) == (["+G", "YY>G", "+YY", "^2"], [])
    assert have(struct) == "Y"


def test_r2_a_plain_pass() -> None:
    state = position(seat_of("", ""), OTHER, row=[])
    assert legal(state) == {"rest"}
    before = state.to_json()
    assert play(state, "rest") == before | {"seat": 1}


# --- C: claiming a point card ----------------------------------------------------------------------------------------


def test_c1_exactly_the_cost() -> None:
    state = position(seat_of("YYYRRRGB"), OTHER)
    assert legal(state, "claim") == {"claim YYRR=6 at place 1", "claim YRGB=12 at place 5"}
    struct = after(state, "claim YRGB=12 at place 5")
    assert (have(struct), struct["seats"][0]["points"]) == ("YYRR", ["YRGB=12"])
    assert legal(position(seat_of("YRRRRRGGGBBB"), OTHER), "claim") == {
        "claim RRRR=8 at place 2",
        "claim YRGB=12 at place 5",
    }


def coins_of(struct: dict[str, Any]) -> tuple[int, int]:
    return struct["seats"][0]["gold"], struct["seats"][0]["silver"]


def test_c2_gold_at_place_1_and_silver_at_place_2() -> None:
    state = position(seat_of("RRRR" + "YYRR" + "GGGG"), OTHER)
    struct = after(state, "claim YYRR=6 at place 1")
    assert (coins_of(struct), struct["coins"]) == ((1, 0), {"gold": 3, "silver": 4})
    struct = after(state, "claim RRRR=8 at place 2")
    assert (coins_of(struct), struct["coins"]) == ((0, 1), {"gold": 4, "silver": 3})
    struct = after(state, "claim GGGG=12 at place 3")
    assert (coins_of(struct), struct["coins"]) == ((0, 0), {"gold": 4, "silver": 4})


def test_c3_silver_moves_to_place_1() -> None:
    rich = seat_of("RRRR" + "YYRR" + "GGGG")
    state = position(rich, OTHER, coins=(1, 2))
    assert coins_of(after(state, "claim RRRR=8 at place 2")) == (0, 1)
    struct = after(state, "claim YYRR=6 at place 1")
    assert (coins_of(struct), struct["coins"]) == ((1, 0), {"gold": 0, "silver": 2})
    state = position(rich, OTHER, coins=(0, 2))
    struct = after(state, "claim YYRR=6 at place 1")
    assert (coins_of(struct), struct["coins"]) == ((0, 1), {"gold": 0, "silver": 1})
    assert coins_of(after(state, "claim RRRR=8 at place 2")) == (0, 0)
    for left in ((0, 0), (3, 0)):
        assert coins_of(after(position(rich, OTHER, coins=left), "claim RRRR=8 at place 2")) == (0, 0)
    assert coins_of(after(position(rich, OTHER, coins=(0, 0)), "claim YYRR=6 at place 1")) == (0, 0)


def test_c4_slide_and_refill() -> None:
    state = position(seat_of("RRRR"), OTHER)
    struct = play(state, "claim RRRR=8 at place 2")
    assert (struct["phase"], struct["points"]) == ("point", ["YYRR=6", "GGGG=12", "BBBB=16", "YRGB=12", None])
    assert len(chances(state)) == 31
    struct = play(state, "draw YYYRR=7 for point place 5")
    assert struct["points"] == ["YYRR=6", "GGGG=12", "BBBB=16", "YRGB=12", "YYYRR=7"]
    assert "YYYRR=7" not in struct["point_deck"] and struct["seat"] == 1
    assert struct["coins"] == {"gold": 4, "silver": 3}  # coins stay where they are
    state = position(seat_of("RRRR"), OTHER, point_deck=[])
    struct = play(state, "claim RRRR=8 at place 2")
    assert (struct["points"][-1], struct["seat"]) == (None, 1)


# --- E: end of the normal game ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "last"), [(2, 6), (3, 6), (4, 5), (5, 5)])
def test_e1_the_round_is_finished(players: int, last: int) -> None:
    cards = FIVE_POINT_CARDS.split()
    seats = [seat_of("YYRR", points=" ".join(cards[: last - 1])), *[seat_of("")] * (players - 1)]
    state = position(*seats)
    play(state, "claim YYRR=6 at place 1")
    draw_first(state)
    for seat in range(1, players):
        assert state.to_move == seat
        play(state, "rest")
    assert state.is_terminal and not state.truncated
    struct = state.to_json()
    assert (struct["phase"], struct["round"], struct["seat"]) == ("over", 5, players - 1)


@pytest.mark.parametrize(("players", "last"), [(2, 6), (3, 6), (4, 5), (5, 5)])
def test_e1_one_card_fewer_does_not_end_it(players: int, last: int) -> None:
    seats = [seat_of("")] * (players - 1)
    state = position(*seats, seat_of("YYRR", points=" ".join(FIVE_POINT_CARDS.split()[: last - 2])), seat=players - 1)
    play(state, "claim YYRR=6 at place 1")
    assert draw_first(state).to_move == 0
    seats = [*seats, seat_of("YYRR", points=" ".join(FIVE_POINT_CARDS.split()[: last - 1]))]
    state = position(*seats, seat=players - 1)
    play(state, "claim YYRR=6 at place 1")
    assert draw_first(state).is_terminal  # the last seat's card ends the game at once, all have had as many turns


def test_e2_score() -> None:
    struct = position(seat_of("YYYYRGGB", points="YYRRR=8 RRGG=10", gold=2, silver=3), seat_of("YYY")).to_json()
    assert scores(struct) == [8 + 10 + 2 * 3 + 3 + 4, 0]


def finished(*seats: dict[str, Any], **params: Any) -> State:
    state = position(*seats, seat=len(seats) - 1, **params)
    play(state, "rest")
    assert state.is_terminal
    return state


def test_e3_most_points_win_and_the_later_seat_wins_ties() -> None:
    six = seat_of("", points=FIVE_POINT_CARDS + " YYGG=8")  # 52 points
    assert list(finished(six, seat_of("R" * 9)).returns()) == [1, -1]
    assert list(finished(six, seat_of("R" * 10, gold=14)).returns()) == [-1, 1]  # 52 as well
    assert list(finished(six, seat_of("R" * 9, gold=14)).returns()) == [1, -1]  # 51
    tie = finished(six, seat_of("R" * 10, gold=14), seat_of("R" * 10, gold=14), returns="rank")
    assert list(tie.returns()) == [-1, 0, 1]
    assert list(finished(six, seat_of("R" * 10), seat_of("R" * 10), returns="rank").returns()) == [1, -1, 0]
    assert list(finished(six, seat_of("R" * 10), returns="margin").returns()) == [42, -42]


@pytest.mark.parametrize("players", [2, 5])
def test_e4_turn_limit(players: int) -> None:
    assert make_game("century", players=players).params.turn_limit == 200
    seats = [seat_of("R"), seat_of("RR"), *[seat_of("")] * (players - 2)]
    state = position(*seats, round=3, turn_limit=3)
    for seat in range(players):
        assert state.to_move == seat
        play(state, "rest")
    assert state.is_terminal and state.truncated
    assert state.to_json()["round"] == 3 and state.to_json()["seat"] == players - 1
    assert list(state.scores())[:2] == [1, 2]
    assert state.returns()[1] == 1
    endless = position(*seats, round=10_000, turn_limit=0)
    play(endless, *["rest"] * players)
    assert endless.to_json()["round"] == 10_001


def test_e4_a_game_that_ends_in_that_round_is_not_cut_off() -> None:
    six = seat_of("", points=FIVE_POINT_CARDS + " YYGG=8")
    assert not finished(six, OTHER, round=3, turn_limit=3).truncated
    assert not finished(six, OTHER, round=3, turn_limit=4).truncated


# --- O: the solo game ------------------------------------------------------------------------------------------------


def test_o1_only_the_bottom_card_is_face_up() -> None:
    state = make_game("century").new_state()
    assert state.to_json()["points"] == ["face down"] * 10
    assert all(words.endswith(" for point place 1") for words in chances(state)) and len(chances(state)) == 36
    play(state, "draw GGBB=14 for point place 1")
    draw_first(state)
    assert state.to_json()["points"] == ["GGBB=14", *["face down"] * 9]


COVERED_BY = {1: (), 2: (1,), 3: (1,), 4: (2,), 5: (2, 3), 6: (3,), 7: (4,), 8: (4, 5), 9: (5, 6), 10: (6,)}


def pyramid(open_cards: dict[int, str], gone: set[int]) -> list[str | None]:
    return [open_cards.get(place, None if place in gone else "face down") for place in range(1, 11)]


@pytest.mark.parametrize(
    ("open_cards", "gone", "claimed", "freed"),
    [
        ({1: "YYRR=6"}, set(), 1, [2, 3]),
        ({2: "YYRR=6", 3: "GGGG=12"}, {1}, 2, [4]),
        ({2: "GGGG=12", 3: "YYRR=6"}, {1}, 3, [6]),
        ({3: "YYRR=6", 4: "GGGG=12"}, {1, 2}, 3, [5, 6]),
        ({4: "YYRR=6", 5: "GGGG=12", 6: "BBBB=16"}, {1, 2, 3}, 4, [7]),
        ({4: "GGGG=12", 5: "YYRR=6", 6: "BBBB=16"}, {1, 2, 3}, 5, []),
        ({5: "YYRR=6", 6: "BBBB=16", 7: "GGGG=12"}, {1, 2, 3, 4}, 5, [8]),
        ({6: "YYRR=6", 7: "GGGG=12", 8: "BBBB=16"}, {1, 2, 3, 4, 5}, 6, [9, 10]),
        ({9: "YYRR=6", 10: "GGGG=12"}, {1, 2, 3, 4, 5, 6, 7, 8}, 9, []),
    ],
)
def test_o2_cards_turn_up_once_nothing_covers_them(
    open_cards: dict[int, str], gone: set[int], claimed: int, freed: list[int]
) -> None:
    for place in range(1, 11):  # the case itself is as the clause says
        covered = bool(set(COVERED_BY[place]) - gone)
        assert covered == (place not in open_cards and place not in gone)
    state = position(seat_of("YYRR"), points=pyramid(open_cards, gone))
    play(state, f"claim YYRR=6 at place {claimed}")
    for place in freed:
        assert {words.split(" for ")[1] for words in chances(state)} == {f"point place {place}"}
        state.resolve(state.chance_outcomes()[0][0])
    struct = state.to_json()
    assert struct["phase"] == "roll"
    up = {place for place, card in enumerate(struct["points"], start=1) if card not in (None, "face down")}
    assert up == (set(open_cards) - {claimed}) | set(freed)


def test_o3_only_face_up_cards_and_nothing_slides() -> None:
    state = position(seat_of("YYRRGGGG"), points=pyramid({2: "YYRR=6", 3: "BBBB=16"}, {1}))
    assert legal(state, "claim") == {"claim YYRR=6 at place 2"}
    struct = play(state, "claim YYRR=6 at place 2")
    assert struct["points"] == [None, None, "BBBB=16", *["face down"] * 7]
    struct = play(state, "draw GGGG=12 for point place 4")
    assert struct["points"] == [None, None, "BBBB=16", "GGGG=12", *["face down"] * 6]


def test_o4_the_other_cards_are_unseen() -> None:
    state = new_game()
    assert len(state.to_json()["point_deck"]) == 35
    state = position(seat_of("YYRR"))
    play(state, "claim YYRR=6 at place 1")
    assert list(chances(state).values()) == pytest.approx([1 / 35] * 35)
    play(state, "draw BBBB=16 for point place 2")
    assert list(chances(state).values()) == pytest.approx([1 / 34] * 34)
    assert "draw BBBB=16 for point place 3" not in chances(state)


def test_o5_merchants_are_drawn_after_the_first_point_card() -> None:
    state = make_game("century").new_state()
    assert state.to_json()["phase"] == "point"
    state.resolve(state.chance_outcomes()[0][0])
    for place in range(1, 7):
        assert {words.split(" for ")[1] for words in chances(state)} == {f"merchant place {place}"}
        state.resolve(state.chance_outcomes()[0][0])
    assert len(state.to_json()["merchant_deck"]) == 37 and state.to_move == 0


def test_o6_start_and_order() -> None:
    state = new_game()
    struct = state.to_json()
    assert (have(struct), automa_has(struct), struct["seats"][0]["hand"]) == ("YYY", "YYY", ["+YY", "^2"])
    assert (struct["seat"], struct["round"], struct["automa"]["coins"]) == (0, 1, 0)
    struct = play(state, "rest")
    assert (struct["phase"], struct["seat"], struct["round"]) == ("roll", -1, 1)
    play(state, "roll 6")
    struct = draw_first(state).to_json()
    assert (struct["phase"], struct["seat"], struct["round"]) == ("turn", 0, 2)


def test_o7_normal_turns_without_coins() -> None:
    state = position(seat_of("YYYYYYYYRR"), row=["^3 Y", *ROW[1:]])
    struct = after(state, "claim YYRR=6 at place 1", "draw RRRR=8 for point place 2", "draw GGGG=12 for point place 3")
    assert (struct["seats"][0]["gold"], struct["seats"][0]["silver"]) == (0, 0)
    struct = play(state, "acquire ^3 at place 1", "draw +RR for merchant place 6")
    assert struct["phase"] == "return"  # the cube on the card is the eleventh
    state = automa_turn(automa=automa_of("R"))
    play(state, "roll 2")  # the automa puts its R on +G
    struct = play(state, "acquire +G at place 2", "pay Y", "draw +RR for merchant place 6")
    assert have(struct) == "YYR"


LAST_ONE = pyramid({10: "YYRR=6"}, set(range(1, 10)))


def test_o8_the_tenth_card_ends_the_game_at_once() -> None:
    state = position(seat_of("YYRR" + "Y" * 12), points=LAST_ONE)
    struct = play(state, "claim YYRR=6 at place 10")
    assert (struct["phase"], struct["seat"], struct["truncated"], have(struct)) == ("over", 0, False, "Y" * 12)
    state = position(seat_of(""), points=LAST_ONE, automa=automa_of("YYRR"))
    struct = play(state, "rest")
    assert (struct["phase"], struct["seat"], struct["automa"]["points"]) == ("over", -1, ["YYRR=6"])


def test_o9_score_of_the_player() -> None:
    assert scores(position(seat_of("YYRGGB", points="YYRRR=8 BBBB=16")).to_json()) == [8 + 16 + 4]


def test_o10_score_of_the_automa() -> None:
    automa = automa_of("YYYRRGB", coins=4, points="YYRRR=8")
    assert position(seat_of(), automa=automa).to_json()["automa"]["score"] == 8 + 4 + 2 * 1 + 2 + 3
    assert position(seat_of(), automa=automa, expert=True).to_json()["automa"]["score"] == 8 + 12 + 2 * 1 + 2 + 3
    assert make_game("century").params.expert is False


@pytest.mark.parametrize(("coins", "result"), [(13, 1), (14, -1), (15, -1)])
def test_o11_a_tie_is_not_a_win(coins: int, result: int) -> None:
    for returns in ("win", "rank"):
        player = seat_of("YYRR", points="RRRR=8")
        state = position(player, points=LAST_ONE, automa=automa_of("", coins), returns=returns)
        play(state, "claim YYRR=6 at place 10")
        assert (list(state.scores()), list(state.returns())) == ([14], [result])
    state = position(player, points=LAST_ONE, automa=automa_of("", coins), returns="margin")
    play(state, "claim YYRR=6 at place 10")
    assert list(state.returns()) == [14 - coins]


def test_o12_turn_limit() -> None:
    assert make_game("century").params.turn_limit == 200
    state = position(seat_of("RRR"), round=7, turn_limit=7)
    assert play(state, "rest")["phase"] == "roll"  # the automa still has its turn
    struct = play(state, "roll 2")
    assert (struct["phase"], struct["round"], struct["seat"]) == ("over", 7, -1)
    assert state.truncated and list(state.returns()) == [-1] and struct["automa"]["score"] < 3
    claims = position(seat_of(""), round=7, turn_limit=7, automa=automa_of("YYRR"))
    play(claims, "rest", "draw RRRR=8 for point place 2", "draw GGGG=12 for point place 3")
    assert claims.is_terminal and claims.truncated  # after its claim too
    margin = position(seat_of("RRR"), round=7, turn_limit=7, returns="margin", automa=automa_of("", 1))
    play(margin, "rest", "roll 5")
    assert margin.truncated and list(margin.returns()) == [3 - margin.to_json()["automa"]["score"]]
    endless = position(seat_of(), round=10_000, turn_limit=0)
    assert play(endless, "rest", "roll 5")["round"] == 10_001


# --- U: the automa's turn --------------------------------------------------------------------------------------------

OPEN = {4: "RRRR=8", 5: "GGGG=12", 6: "YYRR=6"}
GONE = {1, 2, 3}


@pytest.mark.parametrize(
    ("automa", "claims", "taken"),
    [
        ("YYRR", "affordable", "YYRR=6"),
        ("YYRRRR", "affordable", "RRRR=8"),
        ("YYRRRRGGGG", "affordable", "GGGG=12"),
        ("YRRGGG", "affordable", None),
        ("YYRRRR", "top_only", None),
        ("YYRRRRGGGG", "top_only", "GGGG=12"),
        ("GGGG", "top_only", "GGGG=12"),
    ],
)
def test_u1_the_card_it_claims(automa: str, claims: str, taken: str | None) -> None:
    state = position(seat_of(), points=pyramid(OPEN, GONE), automa=automa_of(automa), automa_claims=claims)
    struct = play(state, "rest")
    assert struct["automa"]["points"] == ([taken] if taken else [])
    assert (struct["phase"] == "roll") == (taken is None)
    assert make_game("century").params.automa_claims == "affordable"


@pytest.mark.parametrize("claims", ["affordable", "top_only"])
def test_u2_equal_values_the_lowest_place(claims: str) -> None:
    for first, second in (("GGGG=12", "RRBB=12"), ("RRBB=12", "GGGG=12")):
        cards = pyramid({3: first, 4: second}, {1, 2})
        state = position(seat_of(), points=cards, automa=automa_of("RRBBGGGG"), automa_claims=claims)
        assert play(state, "rest")["automa"]["points"] == [first]
        only = automa_of(second.split("=")[0])
        state = position(seat_of(), points=cards, automa=only, automa_claims=claims)
        assert play(state, "rest")["automa"]["points"] == [second]


def test_u3_cost_freed_cards_and_the_end_of_its_turn() -> None:
    state = position(seat_of(), automa=automa_of("YYYRRB", coins=2))
    struct = play(state, "rest")
    assert (struct["phase"], struct["seat"], automa_has(struct)) == ("point", -1, "YB")
    assert struct["points"][0] is None and row_of(struct) == list(ROW)
    struct = play(state, "draw RRRR=8 for point place 2", "draw GGGG=12 for point place 3")
    assert (struct["phase"], struct["seat"], struct["round"]) == ("turn", 0, 6)
    assert (struct["points"][1:3], struct["automa"]["coins"]) == (["RRRR=8", "GGGG=12"], 2)
    two_left = pyramid({9: "YYRR=6", 10: "BBBB=16"}, set(range(1, 9)))
    state = position(seat_of(), points=two_left, automa=automa_of("YYRR"))
    struct = play(state, "rest")
    assert (struct["phase"], struct["seat"], struct["round"]) == ("turn", 0, 6)  # nothing was freed


def test_u4_a_die_chooses_the_merchant() -> None:
    state = automa_turn(automa=automa_of("R"))
    assert chances(state) == pytest.approx({f"roll {n}": 1 / 6 for n in range(1, 7)})
    for die in range(2, 7):
        row = row_of(after(state, f"roll {die}"))
        assert [place for place, words in enumerate(row, start=1) if " " in words] == [die]


def rolled(merchant: str, automa: str, die: int = 2, **others: Any) -> dict[str, Any]:
    """Return the struct after a roll of `die`, the merchant given lying at that place."""
    row = [card for card in ROW if card != merchant.split()[0]][:5]
    row.insert(die - 1, merchant)
    return play(automa_turn(row, automa_of(automa), **others), f"roll {die}")


@pytest.mark.parametrize(
    ("merchant", "before", "after_it", "lies"),
    [
        ("YY>RR", "YYYG", "RRG", "YY>RR Y"),
        ("YY>RR Y", "YYYG", "RRG", "YY>RR YY"),
        ("YY>RR B", "YYYYYG", "YYRRG", "YY>RR YB"),
        ("G>YYYYR", "GB", "YYYRB", "G>YYYYR Y"),
    ],
)
def test_u5_it_trades_once(merchant: str, before: str, after_it: str, lies: str) -> None:
    struct = rolled(merchant, before)
    assert (automa_has(struct), row_of(struct)[1]) == (after_it, lies)
    assert (struct["phase"], struct["seat"], struct["round"]) == ("turn", 0, 6)


@pytest.mark.parametrize(
    ("merchant", "before", "after_it", "lies"),
    [
        ("GG>BB", "G", "GG", "GG>BB G"),
        ("YYG>BB", "RR", "YRRG", "YYG>BB Y"),
        ("B>RRR", "", "", "B>RRR B"),
    ],
)
def test_u6_it_gains_the_upper_cubes_of_a_trade_it_cannot_pay(
    merchant: str, before: str, after_it: str, lies: str
) -> None:
    struct = rolled(merchant, before)
    assert (automa_has(struct), row_of(struct)[1]) == (after_it, lies)


def test_u7_it_gains_from_a_produce_card() -> None:
    struct = rolled("+YYR", "G")
    assert (automa_has(struct), row_of(struct)[1]) == ("YRG", "+YYR Y")
    struct = rolled("+YYR", "G", automa_produces=False)
    assert (automa_has(struct), row_of(struct)[1]) == ("", "+YYR G")
    assert make_game("century").params.automa_produces is True


def test_u8_one_cube_and_no_payable_trade_gives_nothing() -> None:
    for merchant in ("+YYR", "GG>BB", "^3"):
        struct = rolled(f"{merchant} R", "GB")
        assert (automa_has(struct), row_of(struct)[1]) == ("B", f"{merchant} RG")


def test_u9_its_lowest_cube() -> None:
    for before, cube in (("YRGB", "Y"), ("RGB", "R"), ("GB", "G"), ("BB", "B")):
        struct = rolled("^3", before)
        assert (automa_has(struct), row_of(struct)[1]) == (before[1:], f"^3 {cube}")
    struct = rolled("^3", "")
    assert (automa_has(struct), row_of(struct)[1]) == ("", "^3")
    struct = rolled("GG>BB Y", "")
    assert (automa_has(struct), row_of(struct)[1]) == ("", "GG>BB Y")


@pytest.mark.parametrize("merchant", ["GG>BB", "+YYR", "^3"])
@pytest.mark.parametrize("lying", ["YR", "RGB"])
def test_u10_two_cubes_or_more(merchant: str, lying: str) -> None:
    row = ["+G", f"{merchant} {lying}", "RR>GG R", "+B", "YY>G", "+YYY"]
    state = automa_turn(row, automa_of("GG", coins=1))
    struct = play(state, "roll 2")
    assert (letters(struct["automa"]["cubes"]), struct["automa"]["coins"]) == (letters(cubes("GG" + lying)), 2)
    assert (struct["phase"], row_of(struct)) == ("merchant", ["+G", "RR>GG R", "+B", "YY>G", "+YYY"])
    assert not any(words.startswith(f"draw {merchant} ") for words in chances(state))  # it is out
    struct = play(state, "draw +RR for merchant place 6")
    assert (row_of(struct)[-1], struct["phase"], struct["seat"]) == ("+RR", "turn", 0)
    short = play(automa_turn(row, automa_of("GG"), deck=[]), "roll 2")
    assert (len(row_of(short)), short["phase"]) == (5, "turn")


@pytest.mark.parametrize(
    ("refresh", "left"), [("leftmost", list(ROW[1:])), ("row", []), ("none", ["GG>BB GG", *ROW[1:]])]
)
def test_u11_a_roll_of_1(refresh: str, left: list[str]) -> None:
    row = ["GG>BB G", *ROW[1:]]
    state = automa_turn(row, automa_of("GB", coins=1), roll_one_refresh=refresh)
    struct = play(state, "roll 1")
    assert (automa_has(struct), struct["automa"]["coins"]) == ("B", 1)  # the cubes go to the supply, no coin
    assert row_of(struct) == left
    drawn = 0
    while state.is_chance:
        drawn += 1
        place = len(left) + drawn
        assert all(words.endswith(f" for merchant place {place}") for words in chances(state))
        assert not any(" GG>BB " in words for words in chances(state))
        state.resolve(state.chance_outcomes()[0][0])
    assert (drawn, state.to_json()["round"]) == (6 - len(left), 6)
    assert make_game("century").params.roll_one_refresh == "leftmost"


def test_u11_the_card_is_used_first() -> None:
    assert automa_has(rolled("+YYR", "G", die=1)) == "YRG"
    assert automa_has(rolled("YY>RR", "YYYYG", die=1)) == "YRRG"


@pytest.mark.parametrize("refresh", ["leftmost", "row", "none"])
def test_u11_the_same_as_u10_and_nothing_more(refresh: str) -> None:
    struct = rolled("GG>BB YR", "G", die=1, roll_one_refresh=refresh)
    assert (automa_has(struct), struct["automa"]["coins"], row_of(struct)) == ("YRG", 1, list(ROW[:5]))


def test_u12_upgrade_cards_do_nothing_for_it() -> None:
    struct = rolled("^3", "YG")
    assert (automa_has(struct), row_of(struct)[1], struct["automa"]["coins"]) == ("G", "^3 Y", 0)
    struct = rolled("^3 YY", "YG")
    assert (automa_has(struct), struct["automa"]["coins"]) == ("YYYG", 1)
    assert "^3" not in row_of(rolled("^3", "YG", die=1))


def test_u13_a_die_on_an_empty_place() -> None:
    state = automa_turn(["^3", "+G"], deck=[])
    before = state.to_json()
    for die in (3, 4, 5, 6):
        struct = after(state, f"roll {die}")
        assert struct == before | {"phase": "turn", "seat": 0, "round": 6}
    empty = automa_turn([], deck=[])
    assert play(empty, "roll 1")["phase"] == "turn"


def test_u14_any_number_of_cubes_and_coins() -> None:
    struct = rolled("+YYYY", "Y" * 500 + "B" * 3000)
    assert struct["automa"]["cubes"] == cubes("Y" * 503 + "B" * 3000)
    state = automa_turn(["^3", f"+G {'G' * 40}"], automa_of("Y" * 20, coins=999))
    struct = play(state, "roll 2")
    assert (struct["automa"]["coins"], struct["automa"]["cubes"]) == (1000, cubes("Y" * 20 + "G" * 40))


# --- worked example --------------------------------------------------------------------------------------------------


def test_worked_example() -> None:
    row = ["^3", "+G", "YY>G G", "+B", "RR>GG", "+YYY"]
    state = position(seat_of("YYYY"), OTHER, row=row)
    struct = play(state, "acquire YY>G at place 3", "pay Y", "pay Y")
    assert have(struct) == "YYG" and "YY>G" in struct["seats"][0]["hand"]
    assert row_of(struct)[:3] == ["^3 Y", "+G Y", "+B"]
    assert struct["phase"] == "merchant" and all(words.endswith("merchant place 6") for words in chances(state))
    assert PYRAMID[0] == POINTS[0]
