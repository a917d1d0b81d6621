"""One test or more for each clause of RULES.md, named after it. What is expected follows from the clause's text."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from caravan_env import make_game
from caravan_env.core.errors import BadParams, IllegalAction
from tests.caravan.build import (
    CELLS,
    CITIES,
    GOODS,
    SPACES,
    Struct,
    after,
    camels,
    in_play,
    legal,
    new_game,
    play,
    position,
    seat_of,
)
from tests.reference.differential import clauses_of

VALUE = {good: 3 if good in ("meat", "swords", "salt", "hides") else 6 for good in GOODS}
#: The boards as the rules draw them: numbers are goods spaces, C and R the cities that want common and rare goods.
DRAWINGS = {
    "symmetric": "1..R..2 .3...4. ...C... R.C.C.R ...C... .5...6. 7..R..8",
    "pinwheel": "1..R..2 ..3.... ...C.4. R.C.C.R .5.C... ....6.. 7..R..8",
    "diagonal": "1..R..2 .3...4. ..C.C.. R.....R ..C.C.. .5...6. 7..R..8",
}
#: An opponent far from everything.
FAR = seat_of()


def steps_apart(a: str, b: str) -> tuple[int, int]:
    return abs(ord(a[0]) - ord(b[0])), abs(int(a[1]) - int(b[1]))


def scores(struct: Struct) -> list[int]:
    return [seat["score"] for seat in struct["seats"]]


def delivered(struct: Struct, seat: int = 0) -> dict[str, int]:
    return {good: n for good, n in struct["seats"][seat]["delivered"].items() if n}


def test_every_clause_has_a_test() -> None:
    clauses = [clause.lower() for clause in clauses_of("caravan")]
    tests = [name for name in vars(sys.modules[__name__]) if name.startswith("test_")]
    assert clauses
    assert [c for c in clauses if not any(name.startswith(f"test_{c}_") for name in tests)] == []
    named = {name.split("_")[1] for name in tests}
    assert named - set(clauses) == {"every", "worked"}


# --- M, B: material and boards ---------------------------------------------------------------------------------------


def test_m1_cells_are_adjacent_orthogonally() -> None:
    moves = make_game("caravan").spec.actions["move"]
    for laden in CELLS:
        for empty in CELLS:
            if laden != empty:
                mask = position(seat_of(f"{laden} meat", empty), FAR).action_mask()
                linked = bool(mask[moves.start : moves.stop].any())
                assert linked == (sum(steps_apart(laden, empty)) == 1), (laden, empty)


def test_m2_eight_spaces_and_a_city_for_each_kind() -> None:
    assert len(new_game().to_json()["sources"]) == 8
    for city in CITIES.values():
        for good in GOODS:
            struct = play(position(seat_of(f"{city} {good}", city), FAR), f"move {good} {city} -> {city}")
            assert delivered(struct) == ({good: 1} if CITIES[good] == city else {}), (good, city)


def test_m3_48_goods() -> None:
    goods = in_play(new_game(goods="full").to_json())
    assert goods == dict.fromkeys(GOODS[:4], 9) | dict.fromkeys(GOODS[4:], 3)
    assert sum(goods.values()) == 48


@pytest.mark.parametrize("good", GOODS)
def test_m3_values(good: str) -> None:
    state = position(seat_of(f"{CITIES[good]} {good}", CITIES[good]), FAR)
    before = scores(state.to_json())
    assert scores(play(state, f"move {good} {CITIES[good]} -> {CITIES[good]}")) == [before[0] + VALUE[good], before[1]]


def test_m4_a_demand_marker_is_worth_a_point() -> None:
    assert scores(position(seat_of(markers=7), seat_of(markers=1)).to_json()) == [7, 1]


@pytest.mark.parametrize("board", DRAWINGS)
def test_b1_boards_as_drawn(board: str) -> None:
    struct = make_game("caravan", board=board).params.board.to_mapping()
    drawing = [list(row) for row in DRAWINGS[board].split()]
    sources, cities = struct["sources"], struct["cities"]
    assert [drawing[row][column] for row, column in sources.values()] == list("12345678")
    assert [drawing[row][column] for row, column in cities.values()] == list("CCCCRRRR")
    assert len({tuple(cell) for cell in (*sources.values(), *cities.values())}) == 16
    assert struct["mark"] == "reconstruction"


def test_b1_default_board_and_own_board(tmp_path: Path) -> None:
    assert make_game("caravan").params.board.name == "symmetric"
    own = make_game("caravan").params.board.to_mapping() | {"name": "mine"}
    own["cities"] = own["cities"] | {"meat": [6, 1]}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(own))
    for board in (own, str(file)):
        state = position(seat_of("b7 meat", "b7"), FAR, board=board)
        assert delivered(play(state, "move meat b7 -> b7")) == {"meat": 1}


def test_b2_malformed_board_names_the_field() -> None:
    board = make_game("caravan").params.board.to_mapping()
    board["cities"] = board["cities"] | {"gems": board["sources"]["3"]}
    with pytest.raises(BadParams, match=r"'cities\.gems' lies on the same cell \[1, 1\] as 'sources\.3'"):
        make_game("caravan", board=board)


# --- S: set-up -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [5, 6])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_s1_camels_off_the_board_and_a_theft_marker(number: int, players: int) -> None:
    struct = new_game(players=players, camels=number).to_json()
    assert len(struct["seats"]) == players
    for seat in range(players):
        assert camels(struct, seat) == ["off"] * number
        assert (struct["seats"][seat]["theft"], struct["seats"][seat]["markers"]) == (1, 0)
    assert make_game("caravan").params.camels == 5


@pytest.mark.parametrize(
    ("goods", "players", "common", "rare"),
    [
        ("full", 2, 9, 3),
        ("full", 4, 9, 3),
        ("short", 2, 6, 2),
        ("short", 4, 6, 2),
        ("auto", 2, 6, 2),
        ("auto", 3, 6, 2),
        ("auto", 4, 9, 3),
    ],
)
def test_s2_full_and_short_goods(goods: str, players: int, common: int, rare: int) -> None:
    for struct in (
        make_game("caravan", goods=goods, players=players).new_state().to_json(),
        new_game(goods=goods, players=players).to_json(),
    ):
        assert in_play(struct) == dict.fromkeys(GOODS[:4], common) | dict.fromkeys(GOODS[4:], rare)
        assert sum(in_play(struct).values()) == (48 if common == 9 else 32)
    assert make_game("caravan").params.goods == "auto"


def test_s3_a_random_good_on_each_space_in_order() -> None:
    state = make_game("caravan", starting_seat=0, goods="short").new_state()
    bag = Counter({**dict.fromkeys(GOODS[:4], 6), **dict.fromkeys(GOODS[4:], 2)})
    for space, good in enumerate(("gems", "meat", "gems", "meat", "paper", "salt", "hides", "ivory"), 1):
        outcomes = {state.outcome_text(k): p for k, p in state.chance_outcomes()}
        expected = {f"draw {kind} for space {space}": n / bag.total() for kind, n in bag.items() if n}
        assert outcomes == pytest.approx(expected)
        struct = play(state, f"draw {good} for space {space}")
        bag[good] -= 1
        assert struct["sources"][space - 1]["good"] == good
        assert struct["bag"] == dict(bag)
    assert state.to_move == 0 and sum(struct["bag"].values()) == 24


def test_s4_demand_markers_on_1_2_7_8() -> None:
    assert [space["markers"] for space in new_game().to_json()["sources"]] == [1, 1, 0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_s5_starting_seat_and_order(players: int) -> None:
    state = make_game("caravan", players=players).new_state()
    outcomes = {state.outcome_text(k): p for k, p in state.chance_outcomes()}
    assert outcomes == pytest.approx({f"seat {seat} starts": 1 / players for seat in range(players)})
    for seat in range(players):
        given = new_game(players=players, starting_seat=seat)
        drawn = play(state.clone(), f"seat {seat} starts")
        assert drawn["seat"] == given.to_move == seat
        order = []
        for _ in range(2 * players):
            order.append(given.to_move)
            play(given, "end turn")
        assert order == [(seat + k) % players for k in range(2 * players)]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_s6_first_turns_have_1_2_3_4_actions(players: int) -> None:
    state = new_game(players=players)
    actions = []
    for turn in range(1, 8):
        assert state.to_json()["turn"] == turn
        actions.append(state.to_json()["actions_left"])
        play(state, "end turn")
    assert actions == [1, 2, 3, 4, 4, 4, 4]


# --- T: a turn -------------------------------------------------------------------------------------------------------


def test_t1_any_order_repeated_or_skipped() -> None:
    state = position(seat_of("a1", "b4 salt", "b5"), FAR)
    orders = (
        ("pick up meat at a1", "move salt b4 -> b5", "camel off -> e7"),
        ("camel off -> e7", "pick up meat at a1", "move salt b4 -> b5"),
        ("move salt b4 -> b5", "camel off -> e7", "pick up meat at a1"),
    )
    assert len({json.dumps(after(state, *order)) for order in orders}) == 1
    struct = after(state, "camel off -> e7", "camel off -> e6", "camel e7 -> f7")
    assert (struct["seat"], struct["actions_left"]) == (0, 1)
    assert after(state, *orders[0], "end turn")["seat"] == 1


def test_t2_a_turn_ends_by_itself_or_is_ended() -> None:
    state = position(FAR, FAR)
    for cell, left in (("a3", 4), ("b3", 3), ("c3", 2), ("e3", 1)):
        assert state.to_json()["actions_left"] == left
        assert legal(state, "end") == {"end turn"}
        ended = after(state, "end turn")
        assert (ended["seat"], ended["turn"], ended["actions_left"]) == (1, 10, 4)
        play(state, f"camel off -> {cell}")
    struct = state.to_json()
    assert (struct["seat"], struct["turn"], struct["actions_left"]) == (1, 10, 4)


def test_t3_one_action_to_a_space_without_camels() -> None:
    state = position(seat_of("d4"), seat_of("e5", "e6 meat"), left=1)
    free = {cell for cell in CELLS if cell not in ("d4", "e5", "e6")}
    expected = {f"camel {start} -> {cell}" for start in ("off", "d4") for cell in free}
    assert legal(state, "camel") == expected
    state = position(seat_of("d4"), FAR, left=3)
    assert after(state, "camel off -> a1")["actions_left"] == 2
    assert after(state, "camel d4 -> g7")["actions_left"] == 2


@pytest.mark.parametrize("there", ["own", "own laden", "opponent's", "opponent's laden", "both"])
def test_t4_two_actions_to_an_occupied_space(there: str) -> None:
    laden = " meat" if "laden" in there else ""
    mine = seat_of(f"e5{laden}") if there.startswith(("own", "both")) else seat_of()
    others = seat_of(f"e5{laden}") if there.startswith(("opponent", "both")) else seat_of()
    assert "camel off -> e5" not in legal(position(mine, others, left=1))
    struct = play(position(mine, others, left=3), "camel off -> e5")
    assert (struct["seat"], struct["actions_left"]) == (0, 1)
    struct = play(position(mine, others, left=2), "camel off -> e5")
    assert (struct["seat"], struct["actions_left"]) == (1, 4)


def test_t5_from_anywhere_to_anywhere() -> None:
    state = position(seat_of("a1", "d4"), FAR)
    expected = {f"camel off -> {cell}" for cell in CELLS}
    expected |= {f"camel {start} -> {cell}" for start in ("a1", "d4") for cell in CELLS if cell != start}
    assert legal(state, "camel") == expected
    assert camels(after(state, "camel a1 -> g7"), 0) == ["d4", "g7", "off", "off", "off"]


def test_t6_a_laden_camel_never_moves_and_carries_one_good() -> None:
    state = position(seat_of("a1 salt", "d4 gems under", "d5", "g7 paper", "f3"), seat_of("d4 hides", "a1 ivory"))
    assert {words.split()[1] for words in legal(state, "camel")} == {"d5", "f3"}
    assert legal(state, "pick up") == legal(state, "steal") == set()
    assert {words for words in legal(state, "move") if words.endswith(("a1", "d4", "g7"))} == set()


def test_t7_any_number_share_a_space() -> None:
    state = position(seat_of("d4", "d4", "d4", "d4", "a1"), seat_of("d4", "d4", "d4", "d4", "d4"))
    struct = play(state, "camel a1 -> d4")
    assert camels(struct, 0) == camels(struct, 1) == ["d4"] * 5


# --- P: picking up ---------------------------------------------------------------------------------------------------


def test_p1_an_empty_camel_takes_the_free_good() -> None:
    free = ["gems", "meat", "swords", None, "salt", "salt", "hides", "hides"]
    state = position(seat_of("a1", "f2", "b2 ivory", "d4"), seat_of("g1"), free=free)
    assert legal(state, "pick up") == {"pick up gems at a1"}  # f2 has no good, b2 no empty camel, g1 an opponent's one
    struct = play(state, "pick up gems at a1")
    assert camels(struct, 0) == ["a1 gems", "b2 ivory", "f2", "d4", "off"]
    assert struct["sources"][0]["good"] is None
    assert struct["actions_left"] == 3
    assert struct["bag"] == state.to_json()["bag"]


def test_p2_the_markers_go_to_the_player_for_good() -> None:
    state = position(seat_of("a1", markers=2), seat_of("b4", theft=3), markers={1: 3, 2: 5})
    struct = play(state, "pick up meat at a1")
    assert [seat["markers"] for seat in struct["seats"]] == [5, 0]
    assert [space["markers"] for space in struct["sources"]] == [0, 5, 0, 0, 0, 0, 0, 0]
    play(state, "end turn", "camel off -> a1")
    assert play(state, "steal meat from seat 0 at a1")["seats"][0]["markers"] == 5


def test_p3_other_camels_on_the_space_do_not_matter() -> None:
    state = position(seat_of("a1", "a1 salt"), seat_of("a1", "a1 gems", "a1 paper under"))
    assert legal(state, "pick up") == {"pick up meat at a1"}
    struct = play(state, "pick up meat at a1")
    assert camels(struct, 0) == ["a1 meat", "a1 salt", "off", "off", "off"]
    assert camels(struct, 1) == ["a1", "a1 gems", "a1 paper under", "off", "off"]


@pytest.mark.parametrize("number", [5, 6])
@pytest.mark.parametrize("ban", [True, False])
def test_p4_last_empty_camel_may_not_pick_up(number: int, ban: bool) -> None:
    laden = ["d4 meat", "c6 salt under", "e1 gems", "g5 gems", "b7 paper"][: number - 1]
    last = position(seat_of(*laden, "a1", of=number), seat_of(of=number), camels=number, last_camel_ban_on_steal=ban)
    assert legal(last, "pick up") == set()
    for other in ("off", "c3", "a1"):
        state = position(seat_of(*laden[1:], "a1", other, of=number), seat_of(of=number), camels=number)
        assert legal(state, "pick up") == {"pick up meat at a1"}


def test_p5_picking_up_never_delivers() -> None:
    board = make_game("caravan").params.board.to_mapping() | {"name": "near"}
    board["cities"] = board["cities"] | {"meat": [0, 1]}
    struct = play(position(seat_of("a1", "b1"), FAR, board=board), "pick up meat at a1")
    assert camels(struct, 0) == ["a1 meat", "b1", "off", "off", "off"]
    assert delivered(struct) == {}


# --- H: stealing -----------------------------------------------------------------------------------------------------


def test_h1_an_empty_camel_takes_a_good_on_top_in_its_space() -> None:
    robbed = seat_of("c3 gems", "c3 paper under", "e5 salt", "c2 hides", "c3")
    state = position(seat_of("c3", "c2 meat"), robbed, seat_of("c3 swords"))
    assert legal(state, "steal") == {"steal gems from seat 1 at c3", "steal swords from seat 2 at c3"}
    struct = play(state, "steal gems from seat 1 at c3")
    assert sorted(camels(struct, 0)) == ["c2 meat", "c3 gems under", "off", "off", "off"]
    assert sorted(camels(struct, 1)) == ["c2 hides", "c3", "c3", "c3 paper under", "e5 salt"]
    assert struct["actions_left"] == 3
    assert legal(position(seat_of("c3", theft=0), robbed), "steal") == set()


def test_h2_a_theft_marker_goes_to_the_robbed_player() -> None:
    state = position(seat_of("c3", "c3", "d3", theft=2), seat_of("c3 gems", "c3 meat"), seat_of("d3 salt", theft=4))
    struct = play(state, "steal gems from seat 1 at c3")
    assert [seat["theft"] for seat in struct["seats"]] == [1, 2, 4]
    struct = play(state, "steal salt from seat 2 at d3")
    assert [seat["theft"] for seat in struct["seats"]] == [0, 2, 5]
    assert (struct["seat"], struct["actions_left"]) == (0, 2)
    assert legal(state, "steal") == set()


def test_h3_the_good_goes_under_the_thiefs_camel() -> None:
    state = position(seat_of("c3", "c4"), seat_of("c3 gems", "c3", theft=2), seat_of("c3", theft=3))
    struct = play(state, "steal gems from seat 1 at c3")
    assert camels(struct, 0) == ["c3 gems under", "c4", "off", "off", "off"]
    assert {words.split()[1] for words in legal(state, "camel")} == {"c4", "off"}  # pinned
    for victim in (1, 2):  # cannot be stolen, back neither
        play(state, "end turn")
        assert state.to_move == victim and legal(state, "steal") == set()
    play(state, "end turn", "move stolen gems c3 -> c4", "end turn", "camel c3 -> c4")
    assert legal(state, "steal") == {"steal gems from seat 0 at c4"}


def test_h3_a_stolen_good_counts_as_carried() -> None:
    struct = position(seat_of("c3 gems under", "c4 meat", "c5 salt"), seat_of("c3 gems under", "a1 meat")).to_json()
    assert scores(struct) == [-3, -1]


@pytest.mark.parametrize("ban", [True, False])
def test_h4_ban_on_stealing_with_the_last_empty_camel(ban: bool) -> None:
    laden = ["d4 meat", "c6 salt under", "e1 gems", "g5 gems"]
    last = position(seat_of(*laden, "a3"), seat_of("a3 paper"), last_camel_ban_on_steal=ban)
    assert legal(last, "steal") == (set() if ban else {"steal paper from seat 1 at a3"})
    if not ban:
        struct = play(last, "steal paper from seat 1 at a3")
        assert all(c["good"] for c in struct["seats"][0]["camels"])
        assert legal(last) == {"end turn"} | legal(last, "move")
    spare = position(seat_of(*laden[1:], "a3"), seat_of("a3 paper"), last_camel_ban_on_steal=ban)
    assert legal(spare, "steal") == {"steal paper from seat 1 at a3"}
    assert make_game("caravan").params.last_camel_ban_on_steal is True


def test_h5_demand_markers_are_never_stolen() -> None:
    state = position(seat_of("c3", markers=1), seat_of("c3 gems", markers=6), markers={1: 2})
    assert len(legal(state, "steal")) == 1
    struct = play(state, "steal gems from seat 1 at c3")
    assert [seat["markers"] for seat in struct["seats"]] == [1, 6]


def test_h6_stolen_in_its_own_city_it_still_has_to_be_moved() -> None:
    state = position(seat_of("d7", "d7"), seat_of("d7 gems"))
    struct = play(state, "steal gems from seat 1 at d7")
    assert delivered(struct) == {} and camels(struct, 0) == ["d7", "d7 gems under", "off", "off", "off"]
    assert legal(state, "move") == {"move stolen gems d7 -> d7"}
    struct = play(state, "move stolen gems d7 -> d7")
    assert delivered(struct) == {"gems": 1} and camels(struct, 0) == ["d7", "d7", "off", "off", "off"]


# --- G: moving goods, and delivering ---------------------------------------------------------------------------------


def test_g1_any_distance_within_the_group_over_laden_camels() -> None:
    state = position(seat_of("a3 gems", "b3 meat", "c3 salt", "c4", "a7"), FAR)
    assert legal(state, "move") == {"move gems a3 -> c4", "move meat b3 -> c4", "move salt c3 -> c4"}
    struct = play(state, "move gems a3 -> c4")
    assert sorted(camels(struct, 0)) == ["a3", "a7", "b3 meat", "c3 salt", "c4 gems"]
    assert struct["actions_left"] == 3
    assert legal(state, "move") == {"move meat b3 -> a3", "move salt c3 -> a3", "move gems c4 -> a3"}


def test_g2_groups_connect_orthogonally_and_within_a_space() -> None:
    assert legal(position(seat_of("c3 gems", "d4", "b2", "b4", "d2"), FAR), "move") == set()
    state = position(seat_of("c3 gems", "c3", "d4", "d3 meat"), FAR)
    assert legal(state, "move") == {f"move {what} -> {to}" for what in ("gems c3", "meat d3") for to in ("c3", "d4")}
    assert legal(position(seat_of("g1 gems", "a2"), FAR), "move") == set()  # no way around the edge
    assert legal(position(seat_of("c3 gems", "e3"), FAR), "move") == set()


def test_g3_opponents_neither_help_nor_hinder() -> None:
    gap = position(seat_of("a3 gems", "c3"), seat_of("b3", "b3 meat"))
    assert legal(gap, "move") == set()
    crowd = position(seat_of("a3 gems", "b3 meat", "c3"), seat_of("a3", "b3", "b3 salt", "c3 paper", "c3"))
    assert legal(crowd, "move") == {"move gems a3 -> c3", "move meat b3 -> c3"}


def test_g4_a_good_from_under_lands_on_top() -> None:
    state = position(seat_of("a3 gems under", "b3", "a3"), seat_of("b3", "a3"))
    there = after(state, "move stolen gems a3 -> b3")
    assert camels(there, 0) == ["a3", "a3", "b3 gems", "off", "off"]
    here = after(state, "move stolen gems a3 -> a3")
    assert camels(here, 0) == ["a3", "a3 gems", "b3", "off", "off"]
    play(state, "move stolen gems a3 -> a3", "end turn")
    assert legal(state, "steal") == {"steal gems from seat 0 at a3"}


@pytest.mark.parametrize("load", ["gems", "gems under"])
def test_g5_a_good_moved_into_its_city_is_delivered(load: str) -> None:
    state = position(seat_of(f"d6 {load}", "d7", "d5"), FAR)
    what = "stolen gems" if "under" in load else "gems"
    assert legal(state, "move") == {f"move {what} d6 -> d5"} | {f"move {what} d6 -> d7"}  # d5 and d6, d6 and d7 adjoin
    struct = play(state, f"move {what} d6 -> d7")
    assert delivered(struct) == {"gems": 1} and scores(struct)[0] == 6
    assert camels(struct, 0) == ["d5", "d6", "d7", "off", "off"]
    assert struct["actions_left"] == 3


def test_g6_goods_are_never_dropped() -> None:
    state = position(seat_of("a1", "d6 gems", "d7", "c3 meat under", "c3"), seat_of("c3 salt", "g7 paper"))
    start = state.to_json()
    laden = [c for c in camels(start, 0) if " " in c]
    for words in legal(state):
        struct = after(state, words)
        assert in_play(struct) == in_play(start), words
        carried = sum(" " in c for c in camels(struct, 0))
        gone = sum(delivered(struct).values())
        assert carried + gone == len(laden) + words.startswith(("pick up", "steal")), words


# --- R: refill -------------------------------------------------------------------------------------------------------

FIVE = ("meat", None, "swords", None, "salt", None, "hides", "hides")


def test_r1_refill_the_instant_four_free_goods_are_left() -> None:
    six = position(seat_of("a1", "b2"), FAR, free=("meat", None, "swords", None, "salt", "gems", "hides", "hides"))
    play(six, "pick up meat at a1")
    assert six.to_move == 0
    play(six, "pick up swords at b2")
    assert six.is_chance and six.to_json()["phase"] == "fill"
    bag = {"meat": 1, "swords": 1, "salt": 1, "gems": 1}
    state = position(seat_of("a1", "b2"), FAR, free=FIVE, bag=bag)
    draws = ("draw meat for space 1", "draw swords for space 2", "draw salt for space 4", "draw gems for space 6")
    struct = play(state, "pick up meat at a1", *draws)
    assert (struct["phase"], struct["seat"], struct["actions_left"]) == ("play", 0, 3)  # in the middle of the turn
    assert legal(state, "pick up") == {"pick up swords at b2"}


def test_r1_carried_goods_are_not_free() -> None:
    state = position(seat_of("a1", "b3 gems"), seat_of("c3 gems", "c5 paper under", "c6 meat"), free=FIVE)
    play(state, "pick up meat at a1")
    assert state.is_chance


def test_r1_a_refill_by_the_last_action_ends_the_turn_after_it() -> None:
    state = position(seat_of("a1"), FAR, free=FIVE, left=1)
    struct = play(state, "pick up meat at a1")
    assert (struct["phase"], struct["seat"], struct["actions_left"]) == ("fill", 0, 0)
    struct = play(state, *(f"draw meat for space {space}" for space in (1, 2, 4, 6)))
    assert (struct["phase"], struct["seat"], struct["turn"], struct["actions_left"]) == ("play", 1, 10, 4)


def test_r2_first_a_marker_on_each_space_with_a_good() -> None:
    state = position(seat_of("a1"), FAR, free=FIVE, markers={1: 2, 2: 1, 3: 4, 7: 1})
    struct = play(state, "pick up meat at a1")
    expected = [0, 1, 5, 0, 1, 0, 2, 1]  # spaces 3, 5, 7, 8 still have a good; 1 was emptied, 2, 4, 6 had none
    assert [space["markers"] for space in struct["sources"]] == expected
    struct = play(state, *(f"draw meat for space {space}" for space in (1, 2, 4, 6)))
    assert [space["markers"] for space in struct["sources"]] == expected


def test_r3_then_four_goods_in_numerical_order() -> None:
    state = position(seat_of("a1"), seat_of("g1", "f2 paper"), free=FIVE, bag={"gems": 2, "meat": 2, "salt": 4})
    play(state, "pick up meat at a1")
    left = Counter({"meat": 2, "salt": 4, "gems": 2})
    for space, good in ((1, "gems"), (2, "salt"), (4, "gems"), (6, "meat")):
        outcomes = {state.outcome_text(k): p for k, p in state.chance_outcomes()}
        expected = {f"draw {kind} for space {space}": n / left.total() for kind, n in left.items() if n}
        assert outcomes == pytest.approx(expected)
        struct = play(state, f"draw {good} for space {space}")
        left[good] -= 1
    goods = [space["good"] for space in struct["sources"]]
    assert goods == ["gems", "salt", "swords", "gems", "salt", "meat", "hides", "hides"]
    assert {good: n for good, n in struct["bag"].items() if n} == {"meat": 1, "salt": 3}


def test_r4_with_the_bag_empty_nothing_is_added() -> None:
    state = position(seat_of("a1", "b2"), FAR, free=FIVE, bag={}, markers={3: 1})
    struct = play(state, "pick up meat at a1")
    assert (struct["phase"], struct["actions_left"]) == ("play", 3)
    assert [space["markers"] for space in struct["sources"]] == [0, 0, 1, 0, 0, 0, 0, 0]
    struct = play(state, "pick up swords at b2")
    assert sum(space["good"] is not None for space in struct["sources"]) == 3


@pytest.mark.parametrize(("goods", "refills", "markers"), [("full", 10, 44), ("short", 6, 28)])
def test_r5_refills_and_markers_of_a_whole_game(goods: str, refills: int, markers: int) -> None:
    state = new_game(goods=goods)
    done = 0
    while state.to_json()["bag"] != dict.fromkeys(GOODS, 0):
        # Whatever was carried is delivered; four of the seat's camels stand where goods lie, one is off the board.
        struct = state.to_json() | {"seat": 0, "turn": 9, "actions_left": 4}
        for c in struct["seats"][0]["camels"]:
            if c["good"]:
                struct["seats"][0]["delivered"][c["good"]] += 1
        there = [SPACES[k] for k, space in enumerate(struct["sources"]) if space["good"]][done % 3 :][:4]
        struct["seats"][0] |= {"camels": seat_of(*there)["camels"]}
        state = state.game.state_from_json(struct)
        for cell in there:
            assert not state.is_chance
            play(state, next(iter(legal(state, f"pick up {struct['sources'][SPACES.index(cell)]['good']} at {cell}"))))
        assert state.is_chance
        done += 1
        while state.is_chance:
            state.resolve(state.chance_outcomes()[-1][0])
    struct = state.to_json()
    assert done == refills
    assert sum(s["markers"] for s in struct["sources"]) + sum(s["markers"] for s in struct["seats"]) == markers
    assert sum(in_play(struct).values()) == (48 if goods == "full" else 32)


# --- E: end and score ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_e1_the_next_delivery_with_the_bag_empty_ends_the_game(seat: int) -> None:
    mine = seat_of("d6 gems", "d7", "d5 gems")
    struct = play(position(mine, mine, seat=seat, bag={"salt": 1}), "move gems d6 -> d7")
    assert (struct["phase"], struct["actions_left"]) == ("play", 3)
    state = position(mine, mine, seat=seat, bag={})
    play(state, "camel off -> a3")
    assert state.to_move == seat  # only a delivery ends it
    struct = play(state, "move gems d6 -> d7")
    assert state.is_terminal and struct["phase"] == "over" and not state.truncated
    assert delivered(struct, seat) == {"gems": 1} and scores(struct)[seat] == 6
    assert not state.action_mask().any()


def test_e1_the_refill_that_empties_the_bag_does_not_end_the_game() -> None:
    state = position(seat_of("a1", "d6 gems", "d7"), FAR, free=FIVE, bag={"meat": 4})
    play(state, "pick up meat at a1", *(f"draw meat for space {space}" for space in (1, 2, 4, 6)))
    assert state.to_move == 0
    play(state, "move gems d6 -> d7")
    assert state.is_terminal


def test_e2_points() -> None:
    struct = position(seat_of(meat=2, swords=1, salt=1, hides=3, ivory=1, markers=4), seat_of(cloth=1, gems=2, paper=1))
    assert scores(struct.to_json()) == [7 * 3 + 6 + 4, 24]


@pytest.mark.parametrize(("carried", "cost"), [(0, 0), (1, 0), (2, 1), (3, 3), (4, 6), (5, 10), (6, 15)])
def test_e3_what_carried_goods_cost(carried: int, cost: int) -> None:
    loads = ["a3 meat", "b3 gems under", "c3 salt", "d2 paper", "e3 hides under", "f4 ivory"]
    mine = seat_of(*loads[:carried], of=6, markers=20)
    state = position(mine, seat_of(of=6), camels=6, last_camel_ban_on_steal=False)
    assert scores(state.to_json()) == [20 - cost, 0]
    assert list(state.scores()) == [20 - cost, 0]


def finished(*seats: Struct, mode: str = "win") -> np.ndarray:
    """Deliver seat 0's gems at d6 with the bag empty and return the returns."""
    state = position(*seats, bag={}, returns=mode)
    play(state, "move gems d6 -> d7")
    assert state.is_terminal
    return state.returns()


def test_e4_most_points_win() -> None:
    mine = seat_of("d6 gems", "d7")  # 6 points after the delivery
    assert list(finished(mine, seat_of(markers=5))) == [1, -1]
    assert list(finished(mine, seat_of(markers=7))) == [-1, 1]
    assert list(finished(mine, seat_of(markers=7), seat_of(markers=6))) == [-0.5, 1, -0.5]


def test_e4_ties_go_to_more_goods_delivered_then_are_shared() -> None:
    mine = seat_of("d6 gems", "d7")  # 6 points, 1 good
    assert list(finished(mine, seat_of(meat=2))) == [-1, 1]  # 6 points, 2 goods
    assert list(finished(mine, seat_of(markers=6))) == [1, -1]  # 6 points, no good
    assert list(finished(mine, seat_of(paper=1))) == [0, 0]
    assert list(finished(mine, seat_of(ivory=1), seat_of(markers=6))) == [0.25, 0.25, -0.5]
    assert list(finished(mine, seat_of(ivory=1), seat_of(markers=6), mode="rank")) == [0.5, 0.5, -1]


def test_e5_the_game_is_cut_off_after_the_turn_limit() -> None:
    state = position(seat_of("a3 meat", "b4 salt", markers=3), seat_of(markers=1), turn=30, turn_limit=31)
    assert play(state, "end turn")["phase"] == "play"
    play(state, *["camel off -> c3", "camel off -> d3", "camel off -> e3"])
    struct = play(state, "camel off -> f3")
    assert state.is_terminal and state.truncated and struct["truncated"]
    assert (struct["phase"], struct["turn"], struct["seat"], struct["actions_left"]) == ("over", 31, 1, 0)
    assert scores(struct) == [2, 1]  # E3 included
    assert list(state.returns()) == [1, -1]


def test_e5_default_limit_and_none() -> None:
    assert make_game("caravan").params.turn_limit == 200
    assert play(position(FAR, FAR, turn=200), "end turn")["phase"] == "over"
    assert play(position(FAR, FAR, turn=5000, turn_limit=0), "end turn")["phase"] == "play"
    state = new_game()
    for _ in range(200):
        assert not state.is_terminal
        play(state, "end turn")
    assert state.truncated


def test_e5_a_last_delivery_at_the_limit_is_no_truncation() -> None:
    state = position(seat_of("d6 gems", "d7"), FAR, bag={}, left=1, turn=200)
    play(state, "move gems d6 -> d7")
    assert state.is_terminal and not state.truncated


# --- X: the Rainbow Camel --------------------------------------------------------------------------------------------

INNER = {f"{column}{row}" for row in range(2, 7) for column in "bcdef"}


def test_x1_one_action_and_a_marker_to_any_inner_space() -> None:
    state = position(seat_of(markers=2), seat_of(markers=1), rainbow_camel=True)
    assert state.to_json()["rainbow"] is None and new_game(rainbow_camel=True).to_json()["rainbow"] is None
    assert legal(state, "rainbow") == {f"rainbow -> {cell}" for cell in INNER}
    struct = play(state, "rainbow -> d4")
    assert struct["rainbow"] == "d4" and struct["actions_left"] == 3
    assert [seat["markers"] for seat in struct["seats"]] == [1, 1]
    assert sum(space["markers"] for space in struct["sources"]) == 0  # out of play
    assert legal(state, "rainbow") == {f"rainbow -> {cell}" for cell in INNER - {"d4"}}
    play(state, "rainbow -> b2")
    assert legal(state, "rainbow") == set()  # no marker left
    assert legal(position(seat_of(markers=2), FAR), "rainbow") == set()  # not in play by default


def test_x2_price_and_ban() -> None:
    state = position(seat_of("c3", markers=1), seat_of("d4"), rainbow_camel=True, left=3)
    assert play(state, "rainbow -> d4")["actions_left"] == 2  # no more for an occupied space
    alone = position(seat_of(), FAR, rainbow_camel=True, rainbow="d4", left=1)
    assert "camel off -> d4" not in legal(alone)
    alone = position(seat_of(), FAR, rainbow_camel=True, rainbow="d4", left=3)
    assert play(alone, "camel off -> d4")["actions_left"] == 1
    laden = ["d5 salt", "c6 salt", "e1 gems", "g5 gems"]
    last = position(seat_of(*laden, "a1"), seat_of("a1 paper"), rainbow_camel=True, rainbow="b2")
    assert legal(last, "pick up") == legal(last, "steal") == set()


def test_x3_everybody_may_use_it_as_a_link() -> None:
    chain = seat_of("a3 gems", "c3")
    for seat in (0, 1):
        state = position(chain, chain, rainbow_camel=True, rainbow="b3", seat=seat)
        assert legal(state, "move") == {"move gems a3 -> c3"}
        assert play(state, "move gems a3 -> c3")["seats"][seat]["markers"] == 0  # free of charge
    assert legal(position(chain, FAR, rainbow_camel=True, rainbow="b2"), "move") == set()


def test_x4_it_receives_deliveries_and_nothing_else() -> None:
    state = position(seat_of("d4 meat"), FAR, rainbow_camel=True, rainbow="d5")
    assert legal(state, "move") == {"move meat d4 -> rainbow d5"}
    struct = play(state, "move meat d4 -> rainbow d5")
    assert delivered(struct) == {"meat": 1} and camels(struct, 0)[0] == "d4" and struct["actions_left"] == 3
    assert legal(position(seat_of("d4 salt"), FAR, rainbow_camel=True, rainbow="d5"), "move") == set()
    same = position(seat_of("d5 meat under"), FAR, rainbow_camel=True, rainbow="d5")
    assert legal(same, "move") == {"move stolen meat d5 -> rainbow d5"}
    both = position(seat_of("d4 meat", "d5"), FAR, rainbow_camel=True, rainbow="d5")
    assert legal(both, "move") == {"move meat d4 -> d5"}  # the same position, so one action
    goods = position(seat_of(markers=1), seat_of("b2 gems"), rainbow_camel=True, rainbow="b2")
    assert legal(goods, "pick up") == legal(goods, "steal") == set()


# --- worked example, words -------------------------------------------------------------------------------------------


def test_worked_example() -> None:
    state = position(seat_of("d1", "d2 ivory", "e2 ivory"), FAR)
    assert legal(state, "move") == {"move ivory d2 -> d1", "move ivory e2 -> d1"}  # e2 adjoins d2
    state = position(seat_of("d1", "c1 ivory", "e2 ivory"), FAR)
    assert legal(state, "move") == {"move ivory c1 -> d1"}
    struct = play(state, "move ivory c1 -> d1")
    assert scores(struct)[0] == 6 and struct["actions_left"] == 3
    assert legal(state, "move") == set()
    with pytest.raises(IllegalAction, match="is not among the"):
        state.parse_action("move ivory e2 -> d1")
