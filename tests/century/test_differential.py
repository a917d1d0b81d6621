"""The kernels against the independent reference: whole legal sets by their words, whole states, what games pay.

`python -m tests.reference.differential century` plays the many thousands of games that this file has no time for.
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
from tests.century.build import MERCHANTS, POINT_CARDS
from tests.reference import differential
from tests.reference.drawn import drawn_play
from tests.reference.players_century import mix, random_params, random_position

GAMES, POSITIONS = 80, 300
#: Clauses that may be too rare for so few games; test_rules.py has them.
RARE = {"E3", "U2"}


@pytest.mark.slow
def test_games_and_positions_agree_with_the_reference_and_exercise_every_clause() -> None:
    # Numbers spread over those that the long run plays.
    counts = [differential.run_game("century", 249 * number) for number in range(GAMES)]
    counts += [differential.run_position("century", 66 * number) for number in range(POSITIONS)]
    total = reduce(lambda a, b: a + b, counts)
    assert (total["games"], total["positions"]) == (GAMES, POSITIONS)
    assert total["plies"] > 60 * GAMES
    never = [clause for clause in differential.clauses_of("century") if not total[clause]]
    assert set(never) <= RARE


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: kernels with one rule changed are noticed, and the message says how to see it again."""
    from caravan_env.games.century import text

    names = list(text.POINT_NAMES)
    names[3], names[4] = names[4], names[3]
    monkeypatch.setattr(text, "POINT_NAMES", tuple(names))
    with pytest.raises(differential.Difference, match=r"game \d+ with .*point"):
        for number in range(5):
            differential.run_game("century", number)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_moves_chosen_by_hypothesis(data: st.DataObject) -> None:
    params = random_params(random.Random(data.draw(st.integers(0, 10_000), label="switches")))
    state = make_game("century", **params).new_state()
    drawn_play(data, state, differential.reference_of("century").new_reference(params), plies=40)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_moves_chosen_by_hypothesis_from_set_positions(data: st.DataObject) -> None:
    struct = random_position(random.Random(data.draw(st.integers(0, 10_000), label="position")))
    state = make_game("century", **struct["params"]).state_from_json(struct)
    drawn_play(data, state, differential.reference_of("century").new_reference(struct["params"], struct), plies=12)


def check_cards(struct: dict[str, Any]) -> None:
    """Every card is in one place: merchants of the solo game may be discarded, its covered point cards are unseen."""
    seats, automa = struct["seats"], struct["automa"]
    merchants = [m["card"] for m in struct["merchants"] if m["card"]] + struct["merchant_deck"]
    held = [card for seat in seats for card in (*seat["hand"], *seat["played"])]
    own = Counter(held) & Counter({"+YY": len(seats), "^2": len(seats)})
    assert own == {"+YY": len(seats), "^2": len(seats)}
    merchants += list((Counter(held) - own).elements())
    assert len(set(merchants)) == len(merchants) <= 43
    assert set(merchants) == set(MERCHANTS) or (automa and set(merchants) < set(MERCHANTS))
    points = [card for owner in (*seats, *([automa] if automa else [])) for card in owner["points"]]
    points += [card for card in struct["points"] if card not in (None, "face down")] + struct["point_deck"]
    assert sorted(points) == sorted(POINT_CARDS)
    if automa:
        assert len(struct["points"]) == 10
        taken = sum(len(owner["points"]) for owner in (*seats, automa))
        assert taken == struct["points"].count(None) <= 10


def check_cubes(struct: dict[str, Any]) -> None:
    """No more than ten cubes wherever a turn begins; coins are conserved."""
    if struct["phase"] == "turn":
        assert all(sum(seat["cubes"].values()) <= 10 for seat in struct["seats"])
    if struct["automa"] is None:
        for coin in ("gold", "silver"):
            assert struct["coins"][coin] + sum(seat[coin] for seat in struct["seats"]) == 2 * len(struct["seats"])


@pytest.mark.parametrize("number", range(1000, 1012))
def test_cards_and_coins_are_conserved(number: int) -> None:
    """Every state of purposeful and random games."""
    rng = random.Random(number)
    params = random_params(rng)
    reference = differential.reference_of("century").new_reference(params)
    reference.count = False
    state = make_game("century", **params).new_state()
    movers = mix(params["players"], rng)
    while not state.is_terminal:
        if state.is_chance:
            words = differential.movers_of("century").draw_chance(reference, rng)
            state.resolve(differential.chance_by_words(state)[words][0])
            reference.resolve(words)
        else:
            words = movers[state.to_move](reference, rng)
            state.step(state.parse_action(words))
            reference.play(words)
        check_cards(state.to_json())
        check_cubes(state.to_json())


@pytest.mark.parametrize("switches", [{}, {"reshuffle_discards": True}, {"roll_one_refresh": "row"}, {"players": 5}])
def test_random_games_of_kernels_conserve_cards(switches: dict[str, Any]) -> None:
    game = make_game("century", turn_limit=60, **switches)
    state, rng = game.new_state(seed=7), np.random.default_rng(7)
    while not state.is_terminal:
        state.step(int(rng.choice(state.legal_actions())))
        check_cards(state.to_json())
        check_cubes(state.to_json())
