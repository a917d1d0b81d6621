"""What a seat sees, piece by piece, and the position in a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from caravan_env import State, make_game
from caravan_env.core.rng import streams
from tests.ukraine.build import CHIPS, SALT, board, new_game, play, position

TILES = ("B-B", "B-A", "B-D")  # the first of the catalogue


def seen(state: State, seat: int = 0) -> dict[str, NDArray[Any]]:
    """Return the counts that a seat sees, by piece."""
    out = np.full(state.game.layout.size, 99, np.uint8)
    state.game.spec.rules.observe(state.row, 0, seat, out)
    return state.game.layout.split(out)


def where(plane: NDArray[Any]) -> dict[str, int]:
    """Return the values of a plane that are not 0, by square."""
    return {f"{'ABCDEFGHIJKLMNOPQRST'[x]}{y + 1}": int(plane[y, x]) for y, x in zip(*np.nonzero(plane), strict=True)}


LAID = ("B-D B2 0", "B-G B1 1: 1 large meeple on field ENE ESE", "B-V C2 0: 0 meeple on road S W")


def example(**others: Any) -> State:
    """Return a position on a map of three rows and five columns."""
    others = {"tile": "B-E", "map": SALT, "lying": {"D2": "purple 1, orange 2"}} | others
    return position(*LAID, **others)


def test_planes_of_the_ground() -> None:
    pieces = seen(example())
    assert pieces["ground"].shape == (1, 3, 5)
    eligible = {"A1", "C1", "A2", "D2", "B3", "C3"}
    assert where(pieces["ground"][0]) == {
        square: 2 if square in eligible else 1
        for square in (f"{column}{row}" for row in (1, 2, 3) for column in "ABCDE")
        if square not in ("B1", "B2", "C2")
    }
    assert where(pieces["chumak"][0]) == {"D2": 3}
    assert where(pieces["last"][0]) == {"C2": 1}
    assert not pieces["large_city"].any()


def test_large_cities_are_shown_connected_or_not() -> None:
    small = board("oo2oo", "oSooo", "o1ooo")
    pieces = seen(position("B-D B2 2", map=small))
    assert where(pieces["large_city"][0]) == {"C1": 1, "B3": 2}
    assert where(pieces["ground"][0])["A3"] == 2


def test_where_the_tile_fits() -> None:
    state = example()
    fits = seen(state)["fits"]
    legal = {state.action_text(int(action)) for action in state.legal_actions()}
    shown = {f"place B-E at {square} turned {k}" for k in range(4) for square in where(fits[k])}
    assert shown == legal
    play(state, sorted(legal)[0])
    assert not seen(state)["fits"].any()


def test_edges_are_those_of_tiles_and_those_to_be_met() -> None:
    edges = seen(example())["edges"].reshape(3, 4, 3, 5)
    fields, roads, cities = ({edge: where(kind[k]) for k, edge in enumerate("NESW")} for kind in edges)
    assert set(cities["S"]) == {"B1"} and set(cities["N"]) == {"B1", "B2"}
    assert set(roads["E"]) == {"B2", "A2"}  # A2 must meet the road of B2
    assert set(roads["W"]) == {"B2", "C2"} and set(roads["S"]) == {"C2"} and set(roads["N"]) == {"C3"}
    assert {"C2", "B3"} <= set(fields["N"]) and "D2" in fields["W"]


def test_marks() -> None:
    laid = ("B-D K11 0", "B-M K10 2", "I-15 L11 0", "B-A M11 1", "T-01 J10 0")
    marks = seen(position(*laid))["marks"]
    assert [where(plane) for plane in marks] == [{"M11": 1}, {"K10": 1}, {"L11": 1}, {}, {"J10": 2}]


def test_figures_and_strengths_are_relative_to_the_seat() -> None:
    state = example()
    for seat, names in ((0, ("own", "other")), (1, ("other", "own"))):
        pieces = seen(state, seat)
        mine, others = (pieces[f"{name}_figures"] for name in names)
        assert [where(plane) for plane in mine] == [{}, {"C2": 1}, {}, {}, {}]
        assert [where(plane) for plane in others] == [{}, {}, {"B1": 2}, {}, {}]
        own, other = (pieces[f"{name}_strength"] for name in names)
        assert [where(plane) for plane in own] == [{"C3": 1}, {"A2": 1}, {}, {}]
        assert [where(plane) for plane in other] == [{}, {}, {}, {"C1": 2}]


def test_builders_and_pigs() -> None:
    laid = ("B-D K11 0", "B-U L11 0: 0 meeple on road E W", "B-U M11 0: 0 builder on road E W")
    assert where(seen(position(*laid))["own_figures"][4]) == {"M11": 1}
    assert where(seen(position(*laid), 1)["other_figures"][4]) == {"M11": 1}


def test_tile_in_hand() -> None:
    pieces = seen(example())
    assert pieces["tile"].sum() == 1
    assert pieces["tile_edges"].tolist() == [[0, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert not seen(example(tile=None))["tile"].any()


def test_segments_of_the_tile_just_laid() -> None:
    state = position("B-D K11 0", "B-G K10 1: 1 meeple on city N S", tile="B-E")
    assert not seen(state)["segments"].any()
    play(state, "place B-E at K9 turned 2")
    segments = seen(state)["segments"]
    assert segments[0].tolist() == [0, 1, 0, 0, 0, 1, 0, 6, 1]
    assert segments[1].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert not segments[2:].any()
    monastery = position("B-D K11 0", tile="B-B")
    play(monastery, "place B-B at K12 turned 0")
    assert seen(monastery)["segments"][0].tolist() == [1, 0, 0, 0, 0, 0, 7, 2, 0]


def test_seats() -> None:
    state = example(points=(300, 7), goods=("", "wine wine cloth"), chips=("purple 2", "orange 1, orange 1"))
    own, other = [1, 255, 45, 1, 1, 8, 1, 1, 1, 0, 0, 0], [0, 7, 0, 2, 0, 9, 0, 1, 1, 2, 0, 1]
    assert seen(state, 0)["seats"].tolist() == [own, other]
    assert seen(state, 1)["seats"].tolist() == [other, own]


def test_chips_and_squares() -> None:
    pieces = seen(example(chips=("purple 2", "orange 1")))
    assert dict(zip(CHIPS, pieces["chips"].tolist(), strict=True))["purple 2"] == pieces["chips"].sum() == 1
    assert pieces["squares"][0].tolist() == [1, 1, 0, 0, 0, 0, 1] and not pieces["squares"][1:].any()
    assert pieces["supply"].tolist() == [26]
    assert not pieces["trade"].any()
    state = position("B-D B2 0", tile="B-U", map=SALT, chips=("purple 1, purple 1",))
    play(state, "place B-U at A2 turned 0", "trade at D2", "add purple 1")
    assert np.flatnonzero(seen(state)["trade"]).tolist() == [0, 16]


def test_bag_turn_phase_and_switches() -> None:
    state = example()
    pieces = seen(state)
    assert pieces["bag"][: len(TILES)].tolist() == [4, 2, 3]
    assert pieces["turn"].tolist() == [0, 0, 114 - 4, 3]
    assert pieces["phase"].tolist() == [1, 0, 0]
    assert pieces["switches"].tolist() == [1, 0, 1, 0, 0]
    others = {"expansion_rules": "tiles_only", "border_monastery": "nine", "chip_match": "any"}
    assert seen(new_game(**others))["switches"].tolist() == [0, 1, 0, 0, 1]
    play(state, "place B-E at A1 turned 0")
    assert seen(state)["phase"].tolist() == [0, 1, 0]
    built = ("B-D K11 0", "B-U L11 0: 0 meeple on road E W", "B-U M11 0: 0 builder on road E W")
    extra = position(*built, tile="B-U")
    play(extra, "place B-U at N11 turned 0")
    assert seen(extra)["turn"][:2].tolist() == [0, 1]
    play(extra, "no figure")
    assert seen(extra)["turn"][:2].tolist() == [1, 0]


def test_the_vector_is_small_enough_for_the_shipped_map() -> None:
    assert make_game("ukraine").layout.size < 10_500


@pytest.mark.parametrize("seat", [0, 1, 2])
def test_resampling_redraws_what_a_seat_cannot_see_and_nothing_else(seat: int) -> None:
    hands = ("purple 1, purple 2", "orange 1, light blue 2, orange 2", "light blue 1")
    state = position("B-D B2 0", tile="B-U", map=SALT, players=3, chips=hands)
    stream, seen_hands = streams(5, 1), set()
    before = state.to_json()
    for _ in range(200):
        other = state.clone()
        other.game.spec.rules.resample(other.row, 0, seat, stream, 0)
        struct = other.to_json()
        assert np.array_equal(other.observe(seat), state.observe(seat))
        assert struct["seats"][seat] == before["seats"][seat]
        for k in range(3):
            assert sum(struct["seats"][k]["chips"].values()) == (2, 3, 1)[k]
        differing = {key for key in struct if struct[key] != before[key]}
        assert differing <= {"seats", "supply"}
        seen_hands.add(tuple(tuple(sorted(s["chips"].items())) for s in struct["seats"]))
    assert len(seen_hands) > 20


def test_board_text() -> None:
    text = example(chips=("purple 2", "")).board_text()
    lines = text.splitlines()
    assert lines[0] == "seat 0, place, B-E (city N, field ENE ESE SSE SSW WSW WNW)"
    assert lines[1] == "    A  B  C  D  E "
    assert lines[2:5] == ["       C", " 1  * .1. *  *  *", "       C"]
    assert " 2  * R+RR0. K  *" in lines
    assert "seat 0: 0 points (2), 8 meeple, 1 large meeple, 1 builder, 1 pig, no goods, 1 chips" in lines
    assert "chips at D2: purple 1, orange 2" in lines
    assert lines[-1] == "110 tiles in the bag, 0 out of the game"
    assert new_game().board_text().startswith("set-up, start, B-D (")
