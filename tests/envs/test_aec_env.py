"""The PettingZoo view against PettingZoo's own tests and against the core."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

import caravan_env
from caravan_env import make_game
from caravan_env.core.errors import (
    BadParams,
    CaravanError,
    GameOver,
    IllegalAction,
    NotStarted,
    UnknownName,
    WrongSeat,
)
from caravan_env.core.record import parse_record, replay
from caravan_env.envs.aec import raw_env

# What PettingZoo's tests say about every environment with an observation dict, its own included.
EXPECTED = (
    "ignore:Observation is not a NumPy array",
    "ignore:Observation space for each agent probably should be",
    "ignore:Action mask numpy array is all zeros",
    "ignore:Observation numpy array is all zeros",
)
quiet = [pytest.mark.filterwarnings(text) for text in EXPECTED]


def with_marks(test: Any) -> Any:
    for mark in quiet:
        test = mark(test)
    return test


@with_marks
def test_pettingzoo_api_test(variant: tuple[str, dict[str, Any]]) -> None:
    game, params = variant
    api_test(caravan_env.env(game, **params), num_cycles=300)
    api_test(caravan_env.raw_env(game, **params), num_cycles=3)


@with_marks
def test_pettingzoo_api_test_over_whole_long_games() -> None:
    api_test(caravan_env.env("caravan"), num_cycles=1000)


def test_pettingzoo_seed_test(variant: tuple[str, dict[str, Any]]) -> None:
    game, params = variant
    seed_test(lambda: caravan_env.env(game, **params), num_cycles=200)


def test_pettingzoo_render_test(capsys: pytest.CaptureFixture[str]) -> None:
    for game in ("nim", "caravan"):
        render_test(lambda render_mode, game=game: caravan_env.env(game, render_mode=render_mode))
    assert "pile" in capsys.readouterr().out


def test_every_look_is_what_the_core_says(variant: tuple[str, dict[str, Any]]) -> None:
    """Observations, masks in both places, rewards, flags and last observations of every seat, move by move."""
    game, params = variant
    env, rng = caravan_env.env(game, **params), random.Random(4)
    for seed in range(25 if game == "nim" else 2):
        env.reset(seed=seed)
        state = make_game(game, **params).new_state(seed)
        kept, paid = [], dict.fromkeys(env.possible_agents, 0.0)
        for agent in env.agent_iter():
            seat = env.possible_agents.index(agent)
            look, reward, terminated, truncated, info = env.last()
            paid[agent] += reward
            assert look is not None
            expected = state.observe(seat)
            kept.append((look, {name: array.copy() for name, array in look.items()}))
            assert look["observation"].dtype == np.float32 and np.array_equal(look["observation"], expected)
            assert look["action_mask"].dtype == np.int8 and np.array_equal(look["action_mask"], state.action_mask())
            assert np.array_equal(info["action_mask"], look["action_mask"])
            assert (terminated, truncated) == (state.is_terminal and not state.truncated, state.truncated)
            if terminated or truncated:
                env.step(None)
                continue
            assert reward == 0 and state.to_move == seat
            for other, name in enumerate(env.possible_agents):
                seen = env.observe(name)
                assert np.array_equal(seen["observation"], state.observe(other))
                assert seen["action_mask"].any() == env.infos[name]["action_mask"].any() == (other == seat)
            action = rng.choice(np.flatnonzero(look["action_mask"]).tolist())
            env.step(action)
            state.step(action, seat)
        assert state.is_terminal
        assert list(paid.values()) == state.returns().tolist()
        assert env.agents == [] and not env.rewards and not env.infos
        assert all(np.array_equal(look[name], saved[name]) for look, saved in kept for name in saved)


def test_a_game_ends_by_its_rules_and_by_its_limit() -> None:
    """The variants of the test above reach both ends, so that both pairs of flags were looked at."""
    ends = set()
    for turn_limit in (0, 1):
        env = caravan_env.env("nim", turn_limit=turn_limit)
        for seed in range(10):
            env.reset(seed=seed)
            while env.agents and not (env.terminations["player_0"] or env.truncations["player_0"]):
                env.step(0)
            assert len(set(env.terminations.values())) == len(set(env.truncations.values())) == 1
            ends.add((env.terminations["player_1"], env.truncations["player_1"]))
    assert ends == {(True, False), (False, True)}


def test_reset_without_a_seed_goes_on() -> None:
    env, other = caravan_env.env("caravan"), caravan_env.env("caravan")
    first, second = [], []
    for looks, game in ((first, env), (second, other)):
        game.reset()
        looks.append(game.position.row.tobytes())
        game.reset(seed=5)
        for _ in range(3):
            looks.append(game.position.row.tobytes())
            game.reset()
    assert first[0] != second[0], "environments that nobody seeded play different games"
    assert first[1:] == second[1:], "the games after a seed follow from it"
    assert len(set(first)) == 4


def test_a_copy_is_independent_and_goes_on_alike(pick: Any) -> None:
    for made in (copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))):
        env = caravan_env.env("caravan", turn_limit=12, players=3)
        env.reset(seed=1)
        for number in range(9):
            env.step(pick(env.last()[0]["action_mask"], number))
        before = env.position.row.tobytes()
        twin = made(env)
        assert twin.game == env.game or twin.game.params == env.game.params
        trail: list[list[bytes]] = []
        for game in (twin, env):
            trail.append([])
            assert game.position.row.tobytes() == before
            for number in range(9):
                game.step(pick(game.last()[0]["action_mask"], number))
                trail[-1].append(game.position.row.tobytes())
        assert trail[0] == trail[1]


def test_a_record_replays_the_game(pick: Any) -> None:
    plain, env = caravan_env.env("caravan", turn_limit=9), caravan_env.env("caravan", turn_limit=9, record=True)
    for number in range(2):
        for game in (plain, env):
            game.reset(seed=8) if number == 0 else game.reset()
            turns = 0
            while not game.truncations["player_0"]:
                game.step(pick(game.last()[0]["action_mask"], turns))
                turns += 1
        assert plain.position.row.tobytes() == env.position.row.tobytes(), "recording changes nothing"
        record = parse_record(env.record.to_lines())
        *_, (_, last) = replay(record)
        assert last.row.tobytes() == env.position.row.tobytes()
        assert record.result is not None
        assert record.result["returns"] == [env.rewards[agent] for agent in env.agents]
    with pytest.raises(CaravanError, match="record=True"):
        _ = plain.record


def test_illegal_actions_are_refused_in_words_and_change_nothing() -> None:
    for record in (False, True):
        env = caravan_env.env("caravan", record=record)
        env.reset(seed=2)
        before, look = env.position.row.tobytes(), env.last()[0]
        assert look is not None
        illegal = int(np.flatnonzero(look["action_mask"] == 0)[0])
        words = env.position.action_text(illegal)
        with pytest.raises(IllegalAction, match=f"action {illegal} .*{words}.* is not legal for seat"):
            env.step(illegal)
        for wrong in (-1, env.game.num_actions, 2**70):
            with pytest.raises(IllegalAction, match=f"{wrong}.* has the actions 0 to {env.game.num_actions - 1}"):
                env.step(wrong)
        for wrong in (None, "end turn", 3.0, np.ones(2, int)):
            with pytest.raises(IllegalAction, match="whole number"):
                env.step(wrong)
        assert env.position.row.tobytes() == before
        assert env.agent_selection == f"player_{env.position.to_move}"
        assert np.array_equal(env.last()[0]["observation"], look["observation"])


def test_actions_of_any_integer_type_are_played() -> None:
    for kind in (int, np.int8, np.int64, np.uint16, np.array):
        env = caravan_env.env("nim")
        env.reset(seed=1)
        env.step(kind(0))
        assert env.position.row["tokens"][0, 0] == 1


def test_misuse_gets_a_sentence() -> None:
    env = caravan_env.env("nim", most=1)
    for misuse in (env.last, lambda: env.step(0), lambda: env.observe("player_0"), lambda: env.agent_selection):
        with pytest.raises(NotStarted, match="call reset"):
            misuse()
    for misuse in (lambda: list(env.agent_iter()), env.render, lambda: env.rewards, lambda: env.position):
        with pytest.raises(NotStarted, match="call reset"):
            misuse()
    assert not hasattr(env, "no_such_thing")
    env.reset(seed=0)
    for look in (env.observe, env.action_space, env.observation_space):
        with pytest.raises(WrongSeat, match="there is no seat 'player_2': did you mean 'player_[01]'"):
            look("player_2")
    env.step(0)
    with pytest.raises(GameOver, match="player_0 can only step with None, not 1"):
        env.step(1)
    env.step(None)
    assert env.agents == ["player_1"] and env.last()[1] == -1
    env.step(None)
    for misuse in (env.last, lambda: env.step(None), lambda: env.step(0)):
        with pytest.raises(GameOver, match="every seat has left"):
            misuse()
    assert list(env.agent_iter()) == []
    with pytest.raises(UnknownName, match="did you mean 'caravan'"):
        raw_env("caravn")
    with pytest.raises(UnknownName, match="did you mean 'ansi'"):
        raw_env("nim", render_mode="ansii")
    with pytest.raises(BadParams, match="did you mean 'players'"):
        raw_env("nim", player=3)
    with pytest.raises(BadParams, match="most cannot be set beside it"):
        raw_env(make_game("nim"), most=3)


def test_iteration_stops_after_max_iter() -> None:
    env = caravan_env.env("caravan")
    env.reset(seed=0)
    steps = 0
    for _ in env.agent_iter(max_iter=7):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[-1]))
        steps += 1
    assert steps == 7 and env.last(observe=False)[0] is None


def test_a_seat_moves_several_times_in_a_turn() -> None:
    env = caravan_env.env("nim", players=3)
    env.reset(seed=6)
    assert env.position.row["pile"] == 9 or env.position.row["pile"] > 4
    selected = []
    for _ in range(4):
        selected.append(env.agent_selection)
        env.step(0)
    assert selected == ["player_0", "player_0", "player_1", "player_1"]


def test_render_modes() -> None:
    env = caravan_env.env("caravan", render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == env.position.board_text()
    pixels = caravan_env.env("nim", render_mode="rgb_array")
    pixels.reset(seed=0)
    picture = pixels.render()
    assert picture.shape == (20, 40, 3) and picture.dtype == np.uint8
    silent = caravan_env.env("nim")
    silent.reset(seed=0)
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert silent.render() is None


def test_names_and_spaces() -> None:
    env = caravan_env.env("caravan", players=4)
    assert str(env) == "caravan_v1" and env.possible_agents == [f"player_{k}" for k in range(4)]
    assert env.max_num_agents == 4 and env.num_agents == 0
    assert env.action_space("player_3").n == env.game.num_actions
    assert env.observation_space("player_0")["observation"].shape == (env.game.layout.size,)
    assert env.unwrapped is env
