"""What a seat sees, piece by piece, and the position in a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from caravan_env import State
from tests.century.build import MERCHANTS, POINT_CARDS, automa_of, merchant, new_game, play, position, seat_of

NAMES = [*MERCHANTS, "+YY", "^2"]
ROW = ["^3 Y", "YY>G GGB", "+B", "RR>GG", "+YYY"]


def seen(state: State, seat: int = 0) -> dict[str, NDArray[Any]]:
    """Return the counts that a seat sees, by piece."""
    out = np.full(state.game.layout.size, 99, np.uint8)
    state.game.spec.rules.observe(state.row, 0, seat, out)
    return state.game.layout.split(out)


def cards(flags: NDArray[Any], names: list[str] = NAMES) -> set[str]:
    assert set(np.unique(flags)) <= {0, 1}
    return {names[k] for k in np.flatnonzero(flags)}


def two_players() -> State:
    own = seat_of("YYRGGGGG", "YY>RR RRR>GGG +YY", "^2", points="GGBB=14", gold=2)
    other = seat_of("B", "^2", "+YY +RR", silver=1)
    return position(own, other, row=ROW, coins=(3, 2), round=50)


def test_cards_in_hand_and_played_are_relative_to_the_seat() -> None:
    state = two_players()
    for seat in (0, 1):
        pieces = seen(state, seat)
        assert [cards(flags) for flags in pieces["hand"]][:: 1 - 2 * seat] == [{"YY>RR", "RRR>GGG", "+YY"}, {"^2"}]
        assert [cards(flags) for flags in pieces["played"]][:: 1 - 2 * seat] == [{"^2"}, {"+YY", "+RR"}]
    assert cards(seen(state, 0)["playable"]) == {"YY>RR", "+YY"}
    assert cards(seen(state, 1)["playable"]) == {"^2"}


def test_seats() -> None:
    state = two_players()
    own = [1, 2, 1, 5, 0, 2, 0, 1, 14 + 6 + 6]
    other = [0, 0, 0, 0, 1, 0, 1, 0, 1 + 1]
    assert seen(state, 0)["seats"].tolist() == [own, other]
    assert seen(state, 1)["seats"].tolist() == [other, own]


def test_stock() -> None:
    stock = seen(two_players())["stock"]
    assert stock.tolist() == [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]


def test_merchants() -> None:
    pieces = seen(two_players(), seat=1)["merchants"]
    faces = [[0] * 8 + [3], [2, 0, 0, 0, 0, 0, 1, 0, 0], [0] * 7 + [1, 0]]
    faces += [[0, 2, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 3, 0, 0, 0, 0]]
    for place, words in enumerate(ROW):
        shown = merchant(words)
        assert cards(pieces[place][:43], MERCHANTS) == {shown["card"]}
        assert pieces[place][43:52].tolist() == faces[place]
        assert pieces[place][52:56].tolist() == list(shown["cubes"].values())
        assert pieces[place][56] == (place <= 1)  # one cube reaches place 2
    assert not pieces[5].any()


def test_points_and_coins() -> None:
    pieces = seen(two_players())
    assert pieces["points"].shape == (5, 12)
    assert pieces["points"][0].tolist() == [1, 0, 2, 2, 0, 0, 6, 0, 1, 0, 0, 0]  # YYRR=6, one R is missing
    assert pieces["points"][2].tolist() == [1, 0, 0, 0, 4, 0, 12, 0, 0, 0, 0, 1]  # GGGG=12, payable
    assert pieces["coins"].tolist() == [3, 2, 3, 1]
    assert seen(position(seat_of(), seat_of(), coins=(0, 2)))["coins"].tolist() == [0, 2, 1, 0]
    assert seen(position(seat_of(), seat_of(), coins=(2, 0)))["coins"].tolist() == [2, 0, 3, 0]
    assert seen(position(seat_of(), seat_of(), coins=(0, 0)))["coins"].tolist() == [0, 0, 0, 0]


def test_decks() -> None:
    state = position(seat_of(), seat_of(), deck=["+RR", "GG>BB"], point_deck=["BBBBB=20"])
    assert cards(seen(state)["merchant_deck"], MERCHANTS) == {"+RR", "GG>BB"}
    assert cards(seen(state)["point_deck"], POINT_CARDS) == {"BBBBB=20"}


def test_automa_and_pyramid() -> None:
    points = [None, "YYRR=6", "GGGG=12", *["face down"] * 7]
    automa = automa_of("Y" * 300 + "GGGG", coins=4, points="YYRB=9 RRRR=8")
    pieces = seen(position(seat_of("YYR", points="YYGG=8"), points=points, automa=automa, expert=True))
    assert pieces["automa"].tolist() == [255, 0, 4, 0, 4, 2, 17 + 12 + 8]
    assert pieces["automa_claims"].tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert pieces["points"].shape == (10, 12)
    assert pieces["points"][0].tolist() == [0] * 12
    assert pieces["points"][1].tolist() == [1, 0, 2, 2, 0, 0, 6, 0, 1, 0, 0, 0]
    assert pieces["points"][3].tolist() == [0, 1, *[0] * 10]
    assert pieces["clock"].tolist() == [5 * 255 // 200, 3, 0]
    assert "coins" not in pieces and "automa" not in seen(two_players())


def test_phase_and_pending() -> None:
    state = position(seat_of("YYYYRRRRRR", "YY>RR ^2 GG>YYRRR"), seat_of(), deck=[])
    assert seen(state)["phase"].tolist() == [1, 0, 0, 0, 0] and not seen(state)["pending"].any()
    trade = state.clone()
    play(trade, "play YY>RR")
    assert seen(trade)["phase"].tolist() == [0, 1, 0, 0, 0]
    assert seen(trade)["pending"].tolist() == [2, 0, 0, 0, 0, 2, 0, 0, 0, *[0] * 8]
    upgrade = state.clone()
    play(upgrade, "play ^2", "upgrade Y to R")
    assert seen(upgrade)["phase"].tolist() == [0, 0, 1, 0, 0]
    assert seen(upgrade)["pending"].tolist() == [*[0] * 8, 1, *[0] * 8]
    pay = state.clone()
    play(pay, "acquire +B at place 4", "pay Y")
    assert seen(pay)["phase"].tolist() == [0, 0, 0, 1, 0]
    assert seen(pay)["pending"].tolist() == [*[0] * 9, 0, 0, 0, 1, 0, 0, 2, 0]
    give = position(seat_of("Y" * 8 + "RRRRR"), seat_of())
    play(give, "rest")
    assert seen(give)["phase"].tolist() == [0, 0, 0, 0, 1]
    assert seen(give)["pending"].tolist() == [*[0] * 16, 3]


@pytest.mark.parametrize(("players", "last"), [(1, 10), (2, 6), (4, 5)])
def test_clock(players: int, last: int) -> None:
    names = [name for name in POINT_CARDS if name not in ("YYRR=6", "RRRR=8", "GGGG=12", "BBBB=16", "YRGB=12")]
    others = [seat_of()] * (players - 1)
    for taken in (0, last - 1):
        state = position(seat_of(points=" ".join(names[:taken])), *others, round=100)
        assert seen(state)["clock"].tolist() == [127, taken, 0]
        assert state.observe(0)[-3:] == pytest.approx([127 / 255, taken / last, 0])
    if players > 1:
        assert seen(position(seat_of(points=" ".join(names[:last])), *others))["clock"].tolist() == [6, last, 1]
    assert seen(position(seat_of(), *others, turn_limit=0))["clock"][0] == 0


def test_board_text() -> None:
    solo = position(seat_of("YYR"), row=ROW, automa=automa_of("GG", coins=2)).board_text()
    assert solo.splitlines()[0] == "round 5, seat 0, turn"
    for words in (
        "7:###",
        "1:YYRR=6",
        "2:YY>G (GGB)",
        "cubes YYR",
        "automa: 6 points, cubes GG, 2 coins",
        "hand: +YY ^2",
    ):
        assert words in solo
    state = two_players()
    play(state, "acquire YY>G at place 2")
    text = state.board_text()
    assert text.splitlines()[0] == "round 50, seat 0, pay, merchant 2, 0 paid"
    assert "1:YYRR=6 (+ 3 gold)   2:RRRR=8 (+ 2 silver)   3:GGGG=12" in text
    assert position(seat_of(), seat_of(), coins=(0, 2)).board_text().count("1:YYRR=6 (+ 2 silver)   2:RRRR=8   ") == 1
    assert new_game().board_text().startswith("round 1, seat 0, turn\n")
