"""The kernels against the independent reference: whole legal sets by their words, whole states, what games pay.

`python -m tests.reference.differential caravan` plays the many thousands of games that this file has no time for.
"""

from __future__ import annotations

import json
import random
from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caravan_env import make_game
from tests.caravan.build import in_play
from tests.reference import differential
from tests.reference.drawn import drawn_play
from tests.reference.players_caravan import mix, random_params, random_position

GAMES, POSITIONS = 60, 300
#: Clauses that may be too rare for so few games: play cannot reach H6, and E4 needs a tie. test_rules.py has both.
RARE = {"H6", "E4"}


@pytest.mark.slow
def test_games_and_positions_agree_with_the_reference_and_exercise_every_clause() -> None:
    # Numbers spread over those that the long run plays.
    counts = [differential.run_game("caravan", 333 * number) for number in range(GAMES)]
    counts += [differential.run_position("caravan", 66 * number) for number in range(POSITIONS)]
    total = reduce(lambda a, b: a + b, counts)
    assert (total["games"], total["positions"]) == (GAMES, POSITIONS)
    assert total["plies"] > 100 * GAMES
    never = [clause for clause in differential.clauses_of("caravan") if not total[clause]]
    assert set(never) <= RARE


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison itself: a reference with one rule changed is noticed, and the message says how to see it again."""
    from tests.reference import caravan

    monkeypatch.setitem(caravan.VALUE, "gems", 5)
    with pytest.raises(differential.Difference, match=r"game \d+ with .*score"):
        for number in range(5):
            differential.run_game("caravan", number)


def test_a_difference_in_what_is_legal_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.reference.caravan import Caravan

    monkeypatch.setattr(Caravan, "_would_be_last_empty", lambda self: False)
    with pytest.raises(differential.Difference, match="legal sets differ: kernels have .* too many and lack"):
        for number in range(300):
            differential.run_position("caravan", number)


def drawn_params(data: st.DataObject) -> dict[str, Any]:
    return random_params(random.Random(data.draw(st.integers(0, 10_000), label="switches")))


def camels_last(words: str) -> Any:
    """Sort the words of options: camels are most of what is legal, so the other actions come first."""
    return words.startswith("camel"), words == "end turn", words


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_moves_chosen_by_hypothesis(data: st.DataObject) -> None:
    params = drawn_params(data)
    state = make_game("caravan", **params).new_state()
    drawn_play(data, state, differential.reference_of("caravan").new_reference(params), plies=40, order=camels_last)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_moves_chosen_by_hypothesis_from_set_positions(data: st.DataObject) -> None:
    struct = random_position(random.Random(data.draw(st.integers(0, 10_000), label="position")))
    state = make_game("caravan", **struct["params"]).state_from_json(struct)
    drawn_play(
        data,
        state,
        differential.reference_of("caravan").new_reference(struct["params"], struct),
        plies=12,
        order=camels_last,
    )


def markers_in_play(struct: dict[str, Any]) -> int:
    return sum(s["markers"] for s in (*struct["sources"], *struct["seats"]))


@pytest.mark.parametrize("number", range(1000, 1012))
def test_goods_and_markers_are_conserved(number: int) -> None:
    """Every state of purposeful and random games: goods by kind, theft markers, and every demand marker ever made."""
    rng = random.Random(number)
    params = random_params(rng)
    players = params["players"]
    reference = differential.reference_of("caravan").new_reference(params)
    reference.count = False
    state = make_game("caravan", **params).new_state()
    movers = mix(players, rng)
    start, made, before = in_play(state.to_json()), 4, "start"
    assert sum(start.values()) == (48 if params["goods"] == "full" or (params["goods"], players) == ("auto", 4) else 32)
    while not state.is_terminal:
        if state.is_chance:
            words = differential.movers_of("caravan").draw_chance(reference, rng)
            state.resolve(differential.chance_by_words(state)[words][0])
            reference.resolve(words)
        else:
            words = movers[state.to_move](reference, rng)
            state.step(state.parse_action(words))
            reference.play(words)
            made -= words.startswith("rainbow")  # spent, and out of play
        struct = state.to_json()
        made += 4 if struct["phase"] == "fill" and before == "play" else 0
        before = struct["phase"]
        assert in_play(struct) == start, words
        assert markers_in_play(struct) == made, words
        assert sum(seat["theft"] for seat in struct["seats"]) == players, words
        assert all(len(seat["camels"]) == params["camels"] for seat in struct["seats"])
    assert json.dumps(struct["params"]["board"])


@pytest.mark.parametrize("switches", [{}, {"players": 3, "rainbow_camel": True}, {"players": 4, "camels": 6}])
def test_random_games_of_kernels_conserve_goods(switches: dict[str, Any]) -> None:
    game = make_game("caravan", turn_limit=60, **switches)
    state, rng = game.new_state(seed=7), np.random.default_rng(7)
    start = in_play(state.to_json())
    while not state.is_terminal:
        state.step(int(rng.choice(state.legal_actions())))
        struct = state.to_json()
        assert in_play(struct) == start
        assert sum(seat["theft"] for seat in struct["seats"]) == game.players
