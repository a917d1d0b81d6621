"""The scripted agents of Caravan: what they must see, that they play legally anywhere, and how strong they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.arena import play_games
from agents.heuristic.caravan import potential
from agents.heuristic.caravan.evaluate import actions_to_deliver, actions_to_take, new_scratch, survey
from agents.heuristic.caravan.weights import W_CARRIED, W_EMPTIES, W_THEFT, Weights
from agents.registry import make_agent
from caravan_env import Batch, Game, State, make_game
from caravan_env.core.game import copy_rows
from tests.caravan.build import GOODS, legal, position, seat_of
from tests.core.processes import run_python

SPECS = ["greedy", "planner:6"]
VARIANTS: list[dict[str, Any]] = [
    {},
    {"players": 3, "rainbow_camel": True, "camels": 6},
    {"players": 4, "board": "pinwheel"},
    {"players": 2, "last_camel_ban_on_steal": False, "board": "diagonal", "goods": "full", "rainbow_camel": True},
]


def turn_of(state: State, spec: str) -> list[str]:
    """Play the mover's turn and return the words of its actions."""
    agent, seat, words = make_agent(spec, state.game), state.to_move, []
    while state.to_move == seat:
        action = agent.act(state)
        words.append(state.action_text(action))
        state.step(action)
    return words


def some_positions(game: Game, rows: int, plies: int, seed: int) -> Batch:
    """Return games into which agents and random moves have led."""
    batch = Batch(game, rows, seed=seed)
    greedy = make_agent("greedy", game)
    for ply in range(plies):
        actions = batch.random_actions() if ply % 5 == 4 else greedy.act_rows(batch.S, batch.mask)
        batch.step(actions)
    return batch


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("params", VARIANTS, ids=str)
def test_agents_play_legally_and_alike_alone_and_in_any_batch(params: dict[str, Any], spec: str) -> None:
    game = make_game("caravan", **params)
    for plies in (0, 3, 40, 120):
        batch = some_positions(game, 12, plies, seed=plies)
        agent, before = make_agent(spec, game), copy_rows(batch.S)
        actions = agent.act_rows(batch.S, batch.mask)
        assert batch.mask[np.arange(12), actions].all()
        assert batch.S.tobytes() == before.tobytes()
        backwards = agent.act_rows(batch.S[::-1].copy(), batch.mask[::-1].copy())[::-1]
        assert (actions == backwards).all()
        other = make_agent(spec, game, seed=99)
        assert [other.act(State(game, copy_rows(batch.S[i : i + 1]))) for i in range(6)] == list(actions[:6])


def test_threads_change_nothing() -> None:
    batch = some_positions(make_game("caravan"), 10, 30, seed=1)
    one, three = (make_agent(f"planner:beam=6,threads={n}", batch.game) for n in (1, 3))
    assert (one.act_rows(batch.S, batch.mask) == three.act_rows(batch.S, batch.mask)).all()
    assert len(three.act_rows(batch.S[:1], batch.mask[:1])) == 1


@given(seed=st.integers(0, 10**6), plies=st.integers(0, 60), variant=st.sampled_from(VARIANTS))
def test_greedy_plays_legally_wherever_random_play_leads(seed: int, plies: int, variant: dict[str, Any]) -> None:
    batch = Batch(make_game("caravan", **variant), 4, seed=seed)
    for _ in range(plies):
        batch.step(batch.random_actions())
    for spec in ("greedy", "planner:2"):
        actions = make_agent(spec, batch.game).act_rows(batch.S, batch.mask)
        assert batch.mask[np.arange(4), actions].all()


# --- what they must see ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_the_worked_example_is_delivered(spec: str) -> None:
    state = position(seat_of("d1", "c1 ivory", "e2 ivory"), seat_of(), left=1)
    assert turn_of(state, spec) == ["move ivory c1 -> d1"]


@pytest.mark.parametrize("spec", SPECS)
def test_a_link_is_closed_and_used(spec: str) -> None:
    state = position(seat_of("f2 hides", "e2", "d2", "c3", "c4"), seat_of(), left=3)
    words = turn_of(state, spec)
    assert "move hides" in " ".join(words)
    assert state.to_json()["seats"][0]["delivered"]["hides"] == 1


@pytest.mark.parametrize("spec", SPECS)
def test_demand_markers_are_collected(spec: str) -> None:
    state = position(seat_of("a1"), seat_of(), markers={1: 5}, left=1)
    assert turn_of(state, spec) == ["pick up meat at a1"]


def last_call(own: int, other: int, left: int = 4, **params: Any) -> State:
    """Return an end of the game in which seat 0 can deliver meat at once."""
    ours = seat_of("d5", "d6 meat", "g1 salt", markers=own)
    return position(ours, seat_of("a1", markers=other), bag={}, left=left, **params)


def test_the_planner_delivers_to_win() -> None:
    state = last_call(10, 12)
    turn_of(state, "planner")
    assert state.is_terminal
    assert list(state.returns()) == [1.0, -1.0]


def test_the_planner_does_not_end_the_game_to_lose_it() -> None:
    state = last_call(10, 30)
    words = turn_of(state, "planner")
    assert not state.is_terminal
    assert not any(word.startswith("move meat d6 -> d5") for word in words)


def test_the_planner_collects_markers_first_if_that_wins() -> None:
    free = ["meat", *[None] * 7]
    ours = seat_of("d5", "d6 meat", "a1", markers=10)
    state = position(ours, seat_of("g7", markers=15), free=free, markers={1: 4}, bag={}, left=2)
    assert turn_of(state, "planner") == ["pick up meat at a1", "move meat d6 -> d5"]
    assert list(state.returns()) == [1.0, -1.0]


def test_the_planner_steals_a_rare_good_beside_its_city() -> None:
    ours = seat_of("d2", "d1", theft=1)
    theirs = seat_of("d2 ivory", "a7", theft=0)
    state = position(ours, theirs, free=[None] * 4 + ["meat"] * 4, left=4)
    words = turn_of(state, "planner")
    assert words[:2] == ["steal ivory from seat 1 at d2", "move stolen ivory d2 -> d1"]


def test_the_planner_saves_a_good_from_a_thief() -> None:
    """Seat 1 stands beside the ivory with a theft marker and a link; seat 0 can deliver the ivory or some meat."""
    ours = seat_of("d2 ivory", "d1", "d6 meat", "d5")
    theirs = seat_of("d2", "d1", theft=1)
    state = position(ours, theirs, left=1)
    assert turn_of(state, "planner") == ["move ivory d2 -> d1"]


def test_plans_go_on_after_a_refill() -> None:
    """The fourth free good is taken in mid-turn; what is drawn is unknown, the delivery after it is not."""
    free = ["hides", "swords", "salt", "meat", "meat", None, None, None]
    state = position(seat_of("b2", "c2", "d2", "d3"), seat_of(), free=free, bag={"meat": 8}, left=2)
    agent = make_agent("planner", state.game)
    action = agent.act(state)
    assert state.action_text(action) == "pick up salt at b2"
    state.step(action)
    assert state.is_chance
    while state.is_chance:
        state.resolve(0)
    assert turn_of(state, "planner") == ["move salt b2 -> d3"]


# --- the estimates behind them ---------------------------------------------------------------------------------------


def estimate(state: State, good: str, cell: str, take: bool = False) -> int:
    s, X, kind = state.row[0], new_scratch(), GOODS.index(good)
    empties = survey(s, 0, X)
    number = (int(cell[1]) - 1) * 7 + "abcdefg".index(cell[0])
    return int((actions_to_take if take else actions_to_deliver)(s, 0, kind, number, empties, X))


@pytest.mark.parametrize(
    ("camels", "actions"),
    [
        (["d2 ivory", "d1"], 1),  # the link is there
        (["d2 ivory"], 2),  # a camel to the city
        (["d3 ivory"], 3),  # two camels
        (["d3 ivory", "d2", "d1"], 1),
        (["d3 ivory", "d2 meat", "d1"], 1),  # over a laden camel
        (["d3 ivory", "d2", "d1 meat"], 3),  # the city's camel is laden: another one costs two
        (["e2 ivory", "d1"], 2),  # diagonals do not link
    ],
)
def test_actions_to_deliver_are_those_that_it_takes(camels: list[str], actions: int) -> None:
    assert estimate(position(seat_of(*camels), seat_of()), "ivory", camels[0][:2]) == actions


def test_cells_with_camels_of_others_cost_two() -> None:
    assert estimate(position(seat_of("d2 ivory"), seat_of("d1")), "ivory", "d2") == 3
    assert estimate(position(seat_of("d3 ivory"), seat_of("d2", "c3", "e3")), "ivory", "d3") == 4


def test_the_rainbow_camel_links_and_receives() -> None:
    ours, theirs = seat_of("d5 gems", markers=1), seat_of()
    assert estimate(position(ours, theirs, rainbow_camel=True), "gems", "d5") == 3
    assert estimate(position(ours, theirs, rainbow_camel=True, rainbow="d6"), "gems", "d5") == 2
    salt = position(seat_of("d4 salt"), theirs, rainbow_camel=True, rainbow="d3")
    assert estimate(salt, "salt", "d4") == 1


def test_a_good_to_take_costs_the_way_there_and_the_pick_up() -> None:
    free = [None, None, "salt", *[None] * 5]
    linked = position(seat_of("b2", "c2", "d2", "d3"), seat_of(), free=free)
    assert estimate(linked, "salt", "b2", take=True) == 2
    absent = position(seat_of("c2", "d2", "d3"), seat_of(), free=free)
    assert estimate(absent, "salt", "b2", take=True) == 3


def test_short_of_camels_the_estimate_falls_as_the_good_goes_on() -> None:
    """Two empty camels carry a good over six cells, taking turns: each action of the walk brings it nearer."""
    state = position(seat_of("a1 meat", "a2", "a3", "g7 salt", "g6 salt"), seat_of())
    before = estimate(state, "meat", "a1")
    state.step(state.parse_action("move meat a1 -> a3"))
    assert estimate(state, "meat", "a3") < before


def test_the_table_of_weights() -> None:
    table = Weights(common=4.0, action=0.5, wait=0.25, theft=0.75, four=-1.5).table()
    assert table[0, W_CARRIED] == 3.5
    assert table[1, W_CARRIED] == 3.25
    assert (np.diff(table[:, W_CARRIED : W_CARRIED + 16]) < 0).all()
    assert (table[:, W_THEFT] == 0.75).all()
    assert (table[:, W_EMPTIES + 4] == -1.5).all()


# --- the potential ---------------------------------------------------------------------------------------------------


def potential_of(state: State, seat: int) -> float:
    return float(potential(state.row, np.array([seat]))[0])


def test_the_potential_rises_with_what_brings_the_seat_on() -> None:
    far = potential_of(position(seat_of("a1 meat"), seat_of()), 0)
    near = potential_of(position(seat_of("d6 meat", "d5"), seat_of()), 0)
    done = potential_of(position(seat_of("d6", "d5", meat=1), seat_of()), 0)
    assert -1 < far < near < done < 1
    behind = potential_of(position(seat_of("d6", "d5", meat=1), seat_of(meat=3)), 0)
    assert behind < done


def test_potentials_of_two_seats_are_opposite_and_of_a_finished_game_zero() -> None:
    batch = some_positions(make_game("caravan"), 20, 80, seed=3)
    zeros, ones = np.zeros(20, np.int64), np.ones(20, np.int64)
    assert potential(batch.S, zeros) == pytest.approx(-potential(batch.S, ones))
    state = last_call(10, 12)
    turn_of(state, "planner")
    assert potential_of(state, 0) == 0


def test_the_potential_foretells_how_the_game_ends() -> None:
    game = make_game("caravan")
    greedy, told, margins = make_agent("greedy", game), [], []
    for seed in range(40):
        state = game.new_state(seed=seed)
        for _ in range(120):
            state.step(greedy.act(state))
        told.append(potential_of(state, 0))
        while not state.is_terminal:
            state.step(greedy.act(state))
        margins.append(state.scores()[0] - state.scores()[1])
    assert np.corrcoef(told, margins)[0, 1] > 0.5


# --- strength --------------------------------------------------------------------------------------------------------


def test_greedy_beats_random_and_first() -> None:
    for players, opponents in ((2, ["random"]), (3, ["random", "first"])):
        game = make_game("caravan", players=players, turn_limit=60)
        match = play_games(game, ["greedy", *opponents], 12, seed=2)
        assert match.win_rate(0).low > 0.7
        assert match.scores[:, 0].mean() > 10


def test_games_of_greedy_agents_come_to_an_end_by_a_delivery() -> None:
    match = play_games(make_game("caravan"), ["greedy", "greedy"], 20, seed=3)
    assert match.truncated.sum() <= 1
    assert 40 < match.scores.mean() < 60


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_planner_beats_greedy(players: int) -> None:
    game = make_game("caravan", players=players)
    match = play_games(game, ["planner:12", *["greedy"] * (players - 1)], 24, seed=4)
    assert match.win_rate(0).low > 1.3 / players
    assert match.win_rate(0).low > 0.6


def test_legal_is_what_tests_think() -> None:
    """The positions above would prove nothing if their other actions were not legal."""
    assert len(legal(last_call(10, 30))) > 50


# --- the compiler ----------------------------------------------------------------------------------------------------

CHOICES = """
import json
from agents.registry import make_agent
from caravan_env import make_game

state, choices = make_game("caravan", players=3, rainbow_camel=True).new_state(seed=5), []
for spec, plies in (("greedy", 25), ("planner:2", 2)):
    agent = make_agent(spec, state.game)
    for _ in range(plies):
        choices.append(agent.act(state))
        state.step(choices[-1])
print(json.dumps(choices))
"""


def test_choices_without_the_compiler_are_the_same_ones() -> None:
    """Plain Python raises where compiled code reads beyond an array, so this checks the bounds, too."""
    assert run_python(CHOICES, NUMBA_DISABLE_JIT="1") == run_python(CHOICES)
