"""The kernels against the independent reference: whole legal sets by their words, whole states, what games pay.

`python -m tests.reference.differential ukraine` plays the many thousands of games that this file has no time for.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caravan_env import make_game
from tests.reference import differential
from tests.reference.drawn import drawn_play
from tests.reference.players_ukraine import MADE_MAPS, mix, random_params, random_position
from tests.reference.ukraine import CHIPS, catalogue

GAMES, POSITIONS = 30, 100
#: Clauses that may be too rare for so few games; test_rules.py has them.
RARE = {"B2", "B4", "F4", "F6", "F7"}
CHIP_COUNTS = {chip: 6 if chip.endswith("1") else 4 for chip in CHIPS}


@pytest.mark.slow
def test_games_and_positions_agree_with_the_reference_and_exercise_every_clause() -> None:
    # Numbers spread over those that the long run plays.
    counts = [differential.run_game("ukraine", 331 * number) for number in range(GAMES)]
    counts += [differential.run_position("ukraine", 166 * number) for number in range(POSITIONS)]
    total = reduce(lambda a, b: a + b, counts)
    assert (total["games"], total["positions"]) == (GAMES, POSITIONS)
    assert total["plies"] > 60 * GAMES
    never = [clause for clause in differential.clauses_of("ukraine") if not total[clause]]
    assert set(never) <= RARE


@pytest.mark.slow
@pytest.mark.parametrize("where", ["ukraine", "plane"])
def test_a_game_on_each_shipped_map_agrees_with_the_reference(where: str) -> None:
    rng = random.Random(where)
    params = {"map": where, "players": 2}
    state, reference = make_game("ukraine", **params).new_state(), differential.reference_of("ukraine")
    assert differential.play_both(state, reference.new_reference(params), mix(2, rng), rng) > 200


@pytest.mark.parametrize("number", [237])  # two fields over the same squares, listed in another order
def test_games_that_once_differed(number: int) -> None:
    assert differential.run_game("ukraine", number)["games"] == 1


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: a reference with one rule changed is noticed, and the message says how to see it again."""
    monkeypatch.setattr(differential.reference_of("ukraine"), "TRADE_POINTS", (0, 1, 3, 6, 11))
    monkeypatch.setattr(differential.reference_of("ukraine").Ukraine, "worth", lambda game, feature: 1)
    with pytest.raises(differential.Difference, match=r"game \d+ with .*seats: kernels"):
        for number in range(5):
            differential.run_game("ukraine", number)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_moves_chosen_by_hypothesis(data: st.DataObject) -> None:
    params = random_params(random.Random(data.draw(st.integers(0, 10_000), label="switches")))
    state = make_game("ukraine", **params).new_state()
    drawn_play(data, state, differential.reference_of("ukraine").new_reference(params), plies=40)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_moves_chosen_by_hypothesis_from_set_positions(data: st.DataObject) -> None:
    struct = random_position(random.Random(data.draw(st.integers(0, 10_000), label="position")))
    state = make_game("ukraine", **struct["params"]).state_from_json(struct)
    drawn_play(data, state, differential.reference_of("ukraine").new_reference(struct["params"], struct), plies=12)


def check_tiles(struct: dict[str, Any]) -> None:
    """Every tile of the game is in one place."""
    sets = {"base"} | {name for name in ("inns", "traders") if struct["params"][name]}
    whole = Counter({name: tile["copies"] for name, tile in catalogue().items() if tile["set"] in sets})
    found = Counter(laid["tile"] for laid in struct["tiles"]) + Counter(struct["bag"]) + Counter(struct["out"])
    assert found + Counter([struct["tile"]] if struct["tile"] else []) == whole
    assert len({laid["square"] for laid in struct["tiles"]}) == len(struct["tiles"])


def check_chips(struct: dict[str, Any]) -> None:
    """Every chip is in the supply, in a hand or on a Chumak square, which holds four at most."""
    chips = Counter(struct["supply"])
    for seat in struct["seats"]:
        chips.update(seat["chips"])
    for lying in struct["chumak"].values():
        assert len(lying) <= 4
        chips.update(lying)
    assert chips == (CHIP_COUNTS if struct["supply"] else {})


def check_figures(struct: dict[str, Any], whole: list[dict[str, int]]) -> None:
    """Every figure is at home or on a tile; what the end would pay is never negative."""
    for number, seat in enumerate(struct["seats"]):
        out = Counter(
            laid["figure"]["kind"] for laid in struct["tiles"] if (laid["figure"] or {}).get("seat") == number
        )
        assert Counter(seat["figures"]) + out == Counter(whole[number])
        assert seat["score"] >= seat["points"] >= 0


@pytest.mark.parametrize(
    "switches",
    [
        {"map": MADE_MAPS[2], "players": 3},
        {"map": MADE_MAPS[0], "players": 6, "meeples": 2},
        {"map": MADE_MAPS[7], "expansion_rules": "tiles_only", "players": 2},
        {"chip_match": "any", "players": 4},
        {"map": "plane", "players": 2},
    ],
)
def test_random_games_of_kernels_conserve_tiles_chips_and_figures(switches: dict[str, Any]) -> None:
    state, rng = make_game("ukraine", **switches).new_state(seed=7), np.random.default_rng(7)
    whole = [seat["figures"] for seat in state.to_json()["seats"]]
    while not state.is_terminal:
        state.step(int(rng.choice(state.legal_actions())))
        struct = state.to_json()
        check_tiles(struct)
        check_chips(struct)
        check_figures(struct, whole)
