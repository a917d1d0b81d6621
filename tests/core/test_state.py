"""A single position: stepping it, refusing to, cloning, chance, words."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from caravan_env import CHANCE, TERMINAL, make_game
from caravan_env.core.errors import CaravanError, GameOver, IllegalAction, WrongSeat
from caravan_env.core.game import Game, State


def play_random(state: State, plies: int, seed: int = 0) -> State:
    rng = np.random.default_rng(seed)
    for _ in range(plies):
        if state.is_terminal:
            break
        state.step(int(rng.choice(state.legal_actions())))
    return state


def finished(game: Game) -> State:
    state = play_random(game.new_state(seed=2), 100_000)
    assert state.is_terminal
    return state


def test_without_a_seed_chance_is_left_to_the_caller(game: Game) -> None:
    state = game.new_state()
    assert state.to_move == CHANCE and state.is_chance and not state.is_terminal
    assert not state.action_mask().any() and list(state.legal_actions()) == []
    with pytest.raises(WrongSeat, match="chance is to be resolved before a seat can move"):
        state.step(0)
    while state.is_chance:
        outcomes = state.chance_outcomes()
        assert sum(p for _, p in outcomes) == pytest.approx(1) and all(p > 0 for _, p in outcomes)
        state.resolve(outcomes[-1][0])
    assert state.to_move >= 0 and state.chance_outcomes() == []


def test_with_a_seed_chance_is_resolved(game: Game) -> None:
    one, two = game.new_state(seed=5), game.new_state(seed=5)
    assert one.to_move >= 0
    assert play_random(one, 80).to_json() == play_random(two, 80).to_json()
    starts = {game.new_state(seed=seed).row.tobytes() for seed in range(20)}
    assert len(starts) > 5


def test_a_clone_goes_its_own_way(game: Game) -> None:
    state = play_random(game.new_state(seed=1), 10)
    before, twin = state.row.tobytes(), state.clone()
    play_random(twin, 30)
    assert state.row.tobytes() == before != twin.row.tobytes()
    assert play_random(state, 30).row.tobytes() == twin.row.tobytes()  # the same chance stream


def test_a_clone_without_a_seed_leaves_chance_to_the_caller(toy: Game) -> None:
    assert toy.new_state().clone().is_chance


def test_illegal_actions_change_nothing(game: Game) -> None:
    state = play_random(game.new_state(seed=3), 7)
    before, mover = state.row.tobytes(), state.to_move
    legal = set(state.legal_actions())
    for action in {-1, -(10**30), 2**63, game.num_actions, *range(game.num_actions)} - legal:
        with pytest.raises(IllegalAction) as error:
            state.step(action)
        assert str(action) in str(error.value)
        if 0 <= action < game.num_actions:
            assert f"({state.action_text(action)}) is not legal for seat {mover} now" in str(error.value)
            assert f"{len(legal)} other actions are" in str(error.value)
        else:
            assert f"does not exist: {game.name} has the actions 0 to {game.num_actions - 1}" in str(error.value)
    assert state.row.tobytes() == before


@pytest.mark.parametrize("action", [2.0, 1.5, "1", None, [1], np.float32(1)])
def test_actions_of_a_wrong_type(toy: Game, action: Any) -> None:
    state = toy.new_state(seed=0)
    before = state.row.tobytes()
    with pytest.raises(IllegalAction, match="an action is a whole number, not"):
        state.step(action)
    assert state.row.tobytes() == before


@pytest.mark.parametrize("kind", [int, np.int32, np.uint8, np.int64, np.array])
def test_actions_of_any_integer_type(toy: Game, kind: Any) -> None:
    state = toy.new_state(seed=0)
    state.step(kind(1))
    assert state.to_json()["seats"][0]["taken"] == 2
    assert len(toy.loops["play_row"].signatures) == 1  # not compiled again for each of them


def test_wrong_seat(game: Game) -> None:
    state = game.new_state(seed=4)
    before, mover = state.row.tobytes(), state.to_move
    action = int(state.legal_actions()[0])
    for seat in range(-2, game.players + 2):
        if seat == mover:
            continue
        words = f"turn of seat {mover}" if 0 <= seat < game.players else f"seat {seat} does not exist"
        with pytest.raises(WrongSeat, match=words):
            state.step(action, seat=seat)
    assert state.row.tobytes() == before
    state.step(action, seat=mover)


def test_a_finished_game_does_not_go_on(game: Game) -> None:
    state = finished(game)
    before = state.row.tobytes()
    assert state.to_move == TERMINAL and not state.action_mask().any()
    for action in (0, -1, game.num_actions):
        with pytest.raises(GameOver, match=f"this game of {game.name} is over; start a new one to go on"):
            state.step(action)
    with pytest.raises(IllegalAction, match="cannot happen now"):
        state.resolve(0)
    assert state.row.tobytes() == before
    assert state.chance_outcomes() == []


def test_returns_are_zero_until_the_end(game: Game) -> None:
    state = game.new_state(seed=8)
    assert list(state.returns()) == [0] * game.players
    assert state.scores().shape == state.returns().shape == (game.players,)
    state = finished(game)
    assert game.players == 1 or abs(state.returns().sum()) < 1e-9


def test_impossible_outcomes_change_nothing(toy: Game) -> None:
    state = toy.new_state()
    before = state.row.tobytes()
    for outcome in (-1, 3, 10**30, 0.5, "1", None):
        with pytest.raises(IllegalAction, match=r"chance outcome .* cannot happen now; possible: \[0, 1, 2\]"):
            state.resolve(outcome)  # type: ignore[arg-type]
    assert state.row.tobytes() == before
    state.resolve(2)  # the only card worth two
    with pytest.raises(IllegalAction, match=r"possible: \[0, 1\]"):
        state.resolve(2)


def test_words_lead_back_whatever_the_spaces(game: Game) -> None:
    state = play_random(game.new_state(seed=6), 12)
    for action in state.legal_actions():
        words = state.action_text(int(action))
        assert state.parse_action(f"  {words.upper()} ".replace(" ", "  ")) == action
    with pytest.raises(IllegalAction, match="'dance' is not among the"):
        state.parse_action("dance")


def test_seats_that_do_not_exist(game: Game) -> None:
    state = game.new_state(seed=0)
    for seat in (-1, game.players):
        with pytest.raises(WrongSeat, match=f"seat {seat} does not exist: this game has the seats 0 to"):
            state.observe(seat)


def test_a_struct_leads_back_to_the_position(game: Game) -> None:
    state = play_random(game.new_state(seed=9), 40)
    struct = state.to_json()
    assert struct["game"] == game.name and struct["params"] == game.params.to_json()
    back = game.state_from_json(copy.deepcopy(struct))
    assert back.row.tobytes() == state.row.tobytes() and back.to_json() == struct
    assert state.board_text()


def test_games_survive_pickle_and_deepcopy(game: Game) -> None:
    again = pickle.loads(pickle.dumps(game))
    assert again.params == game.params and again.name == game.name
    assert copy.deepcopy(game) is game
    assert repr(game).startswith(f"Game('{game.name}', ")
    variant = make_game(game.name, returns="margin")
    assert pickle.loads(pickle.dumps(variant)).params.returns == "margin"


def test_every_error_is_a_caravan_error() -> None:
    for error in (GameOver, IllegalAction, WrongSeat):
        assert issubclass(error, CaravanError)
