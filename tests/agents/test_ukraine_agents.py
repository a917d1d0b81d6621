"""The scripted agents of Ukraine: what they must see, that they win, and that they depend on what they see alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.arena import play_games
from agents.heuristic.ukraine import potential
from agents.registry import agent_names, make_agent
from caravan_env import Batch, State, make_game
from caravan_env.core.rng import streams
from caravan_env.games.ukraine import SPEC
from tests.ukraine.build import SALT, position

AGENTS = ("greedy", "planner")
START = "B-D K11 0"
TUNNEL = "B-F K10 1"


def choices(state: State, spec: str, number: int = 1) -> list[str]:
    """Return the next actions of an agent, in words; they are played."""
    agent, words = make_agent(spec, state.game), []
    for _ in range(number):
        action = agent.act(state)
        words.append(state.action_text(action))
        state.step(action)
    return words


def some_positions(games: int = 12, actions: int = 70, **params: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return positions that random play reaches, and their masks."""
    batch = Batch(make_game("ukraine", **params), games, seed=3)
    agent = make_agent("random", batch.game)
    for _ in range(actions):
        batch.step(agent.act_rows(batch.S, batch.mask))
    return batch.S.copy(), batch.mask.copy()


def test_both_agents_are_registered() -> None:
    assert {"greedy", "planner"} <= set(agent_names("ukraine"))


# --- positions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", AGENTS)
def test_an_own_city_is_completed(spec: str) -> None:
    state = position(f"{START}: 0 meeple on city N", TUNNEL, tile="B-E", bag={"B-U": 6})
    assert choices(state, spec) == ["place B-E at K9 turned 2"]


@pytest.mark.parametrize("spec", AGENTS)
def test_a_city_of_nobody_is_completed_with_a_meeple_in_it(spec: str) -> None:
    state = position(START, TUNNEL, tile="B-E")
    assert choices(state, spec, 2) == ["place B-E at K9 turned 2", "meeple on city S"]
    assert state.row["points"][0].tolist()[:2] == [8, 0]


def test_the_last_meeple_does_not_go_on_a_road_of_one_point() -> None:
    def figure(meeples: int) -> str:
        bag = {"B-B": 4, "B-E": 4, "B-R": 3}
        return choices(position(START, "B-V K12 0", phase="figure", bag=bag, inns=False, meeples=meeples), "planner")[0]

    assert figure(9) == "meeple on road S W"
    assert figure(1) == "no figure"


def test_the_planner_puts_its_builder_into_its_city() -> None:
    state = position(f"{START}: 0 meeple on city N", TUNNEL, phase="figure")
    assert choices(state, "planner") == ["builder on city N S"]


def test_the_planner_extends_what_its_builder_stands_in() -> None:
    laid = [f"{START}: 0 meeple on road E W", "B-U L11 0: 0 builder on road E W"]
    state = position(*laid, tile="B-U")
    choices(state, "planner")
    assert state.row["again"] == 1


@pytest.mark.parametrize("spec", AGENTS)
def test_four_equal_chips_are_traded(spec: str) -> None:
    chips = [", ".join(["orange 2"] * 4)]
    state = position("B-D B2 0", "B-U B3 0", phase="figure", map=SALT, chips=chips, bag={"B-U": 2})
    assert choices(state, spec, 5) == ["trade at D2", *["add orange 2"] * 4]
    assert state.row["points"][0, 0] == 10


def test_chips_are_kept_until_the_end_is_near() -> None:
    def traded(**bag: Any) -> str:
        chips = ["purple 1, purple 1"]
        return choices(position("B-D B2 0", "B-U C2 0", phase="figure", map=SALT, chips=chips, **bag), "planner")[0]

    assert not traded().startswith("trade")
    assert traded(bag={}).startswith("trade")


@pytest.mark.parametrize("spec", AGENTS)
def test_a_tile_goes_where_chips_lie(spec: str) -> None:
    lying = {"D2": "purple 2, purple 2, orange 2, orange 2"}
    state = position("B-D B2 0", "B-U C2 0", tile="B-U", map=SALT, lying=lying)
    assert choices(state, spec) == ["place B-U at D2 turned 0"]


@pytest.mark.parametrize("spec", AGENTS)
def test_the_last_tile_brings_a_farmer(spec: str) -> None:
    state = position(START, "B-E K10 2", "B-E J10 0", phase="figure", bag={})
    assert choices(state, spec)[0].startswith("meeple on field")


# --- what choices depend on ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", sorted(SPEC.variants))
def test_every_variant_is_played_to_its_end(variant: str) -> None:
    game = make_game("ukraine", **SPEC.variants[variant])
    specs = (["planner", "greedy"] * 3)[: game.players]
    assert play_games(game, specs, 2, seed=4).decisions.min() > 5


@pytest.mark.parametrize("players", [2, 5])
@pytest.mark.parametrize("spec", AGENTS)
def test_choices_depend_on_the_position_alone(spec: str, players: int) -> None:
    S, mask = some_positions(players=players)
    before = S.copy()
    game = make_game("ukraine", players=players)
    agent = make_agent(spec, game)
    together = agent.act_rows(S, mask)
    assert S.tobytes() == before.tobytes()
    assert mask[np.arange(len(S)), together].all()
    order = np.arange(len(S))[::-1].copy()
    assert (agent.act_rows(S[order], mask[order]) == together[order]).all()
    alone = [make_agent(spec, game, seed=9).act(State(game, S[i : i + 1].copy())) for i in range(4)]
    assert alone == list(together[:4])


@pytest.mark.parametrize("spec", AGENTS)
def test_the_chips_of_others_are_not_looked_at(spec: str) -> None:
    S, mask = some_positions(24, 90, chip_match="any")
    game = make_game("ukraine", chip_match="any")
    other = S.copy()
    for i in range(len(S)):
        game.spec.rules.resample(other, i, game.spec.rules.to_move(S, i), streams(7, len(S)), i)
    assert (other["hand"] != S["hand"]).any()
    agent = make_agent(spec, game)
    assert (agent.act_rows(S, mask) == agent.act_rows(other, mask)).all()
    seats = S["seat"].astype(np.int64)
    assert (potential(S, seats) == potential(other, seats)).all()


# --- strength --------------------------------------------------------------------------------------------------------


def test_greedy_beats_random() -> None:
    assert play_games(make_game("ukraine"), ["greedy", "random"], 20, seed=5).win_rate(0).share > 0.9
    six = play_games(make_game("ukraine", players=6), ["greedy", *["random"] * 5], 12, seed=5)
    assert six.win_rate(0).share > 0.9


def test_the_planner_beats_greedy() -> None:
    assert play_games(make_game("ukraine"), ["planner", "greedy"], 24, seed=5).win_rate(0).share > 0.7
    assert play_games(make_game("ukraine", players=4), ["planner", *["greedy"] * 3], 12, seed=5).win_rate(0).share > 0.4


@pytest.mark.parametrize("players", [2, 4])
def test_the_potential_is_about_the_return(players: int) -> None:
    S, _ = some_positions(players=players)
    seats = np.zeros(len(S), np.int64)
    low = potential(S, seats)
    assert (np.abs(low) <= 1).all()
    richer = S.copy()
    richer["points"][:, 0] += 30
    assert (potential(richer, seats) > low).all()
    if players == 2:
        assert np.allclose(low, -potential(S, seats + 1), atol=0.2)


def test_the_potential_is_0_when_the_game_is_over_and_near_1_when_it_is_won() -> None:
    won = position(START, tile="B-U", bag={}, points=[40, 0])
    assert potential(won.row, np.zeros(1, np.int64))[0] > 0.9
    over = position(START, phase="over", bag={}, points=[40, 0])
    assert potential(over.row, np.zeros(1, np.int64))[0] == 0
