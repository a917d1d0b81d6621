"""The Gymnasium view against the checkers of Gymnasium and Stable-Baselines3 and against the core."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.env_checker import check_env as sb3_check_env

import caravan_env.envs
from caravan_env import Game, State, make_game
from caravan_env.core.errors import BadParams, CaravanError, GameOver, IllegalAction, NotStarted, UnknownName
from caravan_env.envs import SeatEnv, Shaping, register_envs
from caravan_env.envs.registration import env_id

# Games have no bounds on what they show.
unbounded = pytest.mark.filterwarnings("ignore:.*A Box observation space m.*imum value is")


@unbounded
@pytest.mark.parametrize("name", ["caravan_env/Caravan-v0", "caravan_env/Nim-v0"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_checkers_of_gymnasium_and_sb3(name: str, players: int, scripted: Any) -> None:
    assert name in register_envs()
    env = gymnasium.make(name, players=players, opponents=scripted, seat="random")
    check_env(env.unwrapped)
    sb3_check_env(env.unwrapped)
    sb3_check_env(gymnasium.make(name, players=players, opponents=scripted))


@unbounded
@pytest.mark.parametrize("expert", [False, True])
def test_checkers_on_a_game_for_one_player(expert: bool) -> None:
    env = gymnasium.make("caravan_env/Century-v0", expert=expert, illegal_actions="lose")
    check_env(env.unwrapped)
    sb3_check_env(env)


def test_an_illegal_action_may_lose_the_game() -> None:
    env = SeatEnv("century", illegal_actions="lose", returns="margin")
    env.reset(seed=1)
    before = env.state.to_json()
    look, reward, terminated, truncated, info = env.step(56)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert "pay Y" in info["illegal_action"] and not info["action_mask"].any() and not env.action_masks().any()
    assert env.state.to_json() == before and np.array_equal(look, env.state.observe(0))
    with pytest.raises(GameOver, match="lost by an illegal action"):
        env.step(60)
    _, info = env.reset()
    assert info["action_mask"].any()
    with pytest.raises(BadParams, match="illegal_actions = 'loose' is not possible"):
        SeatEnv("century", illegal_actions="loose")  # type: ignore[arg-type]


def test_every_game_has_an_id() -> None:
    ids = {env_id(name) for name in caravan_env.game_names()}  # of games that other tests registered, too
    assert set(register_envs()) == ids <= set(gymnasium.registry)
    assert {"caravan_env/Caravan-v0", "caravan_env/Century-v0", "caravan_env/Ukraine-v0"} <= ids
    assert env_id("a_new-game") == "caravan_env/ANewGame-v0"


def play(env: SeatEnv, pick: Any, seed: int | None = None) -> dict[str, Any]:
    """Play a game and return what came of it."""
    look, info = env.reset(seed=seed)
    looks, rewards, number = [look], [], 0
    while True:
        assert np.array_equal(env.action_masks(), info["action_mask"])
        assert env.action_masks().dtype == np.bool_ and info["action_mask"].dtype == np.int8
        assert env.state.to_move == env.seat == info["seat"]
        assert np.array_equal(info["action_mask"], env.state.action_mask())
        look, reward, terminated, truncated, info = env.step(pick(info["action_mask"], number))
        looks.append(look)
        rewards.append(reward)
        number += 1
        if terminated or truncated:
            return {"looks": looks, "rewards": rewards, "info": info, "flags": (terminated, truncated)}


def test_rewards_and_last_observation(variant: tuple[str, dict[str, Any]], pick: Any, scripted: Any) -> None:
    name, params = variant
    env = SeatEnv(name, seat="rotate", opponents=scripted, **params)
    seats = []
    for number in range(env.game.players * (5 if name == "nim" else 1)):
        game = play(env, pick, seed=3 if number == 0 else None)
        seats.append(env.seat)
        assert env.state.is_terminal and game["flags"] == (True, False)
        assert sum(game["rewards"]) == env.state.returns()[env.seat]
        assert game["rewards"][:-1] == [0.0] * (len(game["rewards"]) - 1)
        assert np.array_equal(game["looks"][-1], env.state.observe(env.seat))
        assert not game["info"]["action_mask"].any()
        assert game["info"]["truncated"] == env.state.truncated
        assert game["info"]["returns"].tolist() == env.state.returns().tolist()
    assert set(seats) == set(range(env.game.players))


def test_the_turn_limit_pays_or_is_bootstrapped_but_not_both(pick: Any, scripted: Any) -> None:
    ends = set()
    for choice in ("score", "bootstrap"):
        env = SeatEnv("nim", opponents=scripted, at_turn_limit=choice, turn_limit=2)
        for seed in range(12):
            game = play(env, pick, seed=seed)
            cut = game["info"]["truncated"]
            ends.add((choice, cut, game["flags"]))
            expected = 0.0 if cut and choice == "bootstrap" else env.state.returns()[0]
            assert sum(game["rewards"]) == expected
    assert ends == {
        ("score", False, (True, False)),
        ("score", True, (True, False)),
        ("bootstrap", False, (True, False)),
        ("bootstrap", True, (False, True)),
    }


def test_a_seed_determines_the_game(pick: Any, scripted: Any) -> None:
    for opponents in ("random", ["random", "first"]):
        one, two, three = (SeatEnv("nim", players=3, seat="random", opponents=opponents) for _ in range(3))
        for seed in (5, None, None, 6):
            first, second = (play(env, pick, seed=seed) for env in (one, two if seed != 6 else three))
            assert all(np.array_equal(a, b) for a, b in zip(first["looks"], second["looks"], strict=True))
            assert first["info"]["seat"] == second["info"]["seat"]
    unseeded = {play(SeatEnv("caravan", opponents=scripted, turn_limit=4), pick)["looks"][0].tobytes() for _ in "abc"}
    assert len(unseeded) == 3


def test_the_default_opponent_plays_at_random(pick: Any) -> None:
    env = gymnasium.make("caravan_env/Caravan-v0", turn_limit=6).unwrapped
    assert isinstance(env, SeatEnv) and [agent.name for agent in env._opponents] == ["random"]
    assert len({play(env, pick)["looks"][-1].tobytes() for _ in range(3)}) == 3


def test_a_copy_goes_on_alike(pick: Any, scripted: Any) -> None:
    env = SeatEnv("caravan", opponents=scripted, turn_limit=9)
    _, info = env.reset(seed=1)
    twin = copy.deepcopy(env)
    mask = info["action_mask"]
    for number in range(5):
        (look, *_, info), (other, *_) = (game.step(pick(mask, number)) for game in (env, twin))
        mask = info["action_mask"]
        assert np.array_equal(look, other)
    assert twin.action_space.contains(twin.action_space.sample())
    twin.step(twin.action_space.sample())
    assert env.state.row.tobytes() != twin.state.row.tobytes()


class Named:
    """An opponent that notes where it was asked and answers by rows only."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seats: set[int] = set()

    def act_rows(self, S: Any, mask: Any) -> Any:
        self.seats.add(int(S[0]["seat"]))
        return mask.argmax(axis=1)


def test_opponents_sit_after_the_learner_in_turn_order(pick: Any) -> None:
    for seat in range(4):
        agents = [Named("a"), Named("b"), Named("c")]
        env = SeatEnv("nim", players=4, seat=seat, opponents=agents, most=9)
        for seed in range(20):
            play(env, pick, seed=seed)
        assert [agent.seats for agent in agents] == [{(seat + k) % 4} for k in (1, 2, 3)]


def test_a_games_rewards_with_shaping(pick: Any, scripted: Any) -> None:
    def tokens(S: Any, seats: Any) -> Any:
        return S["tokens"][np.arange(len(S)), seats] / 10 + 0.5

    plain = SeatEnv("nim", players=3, seat="rotate", opponents=scripted)
    shaped = SeatEnv("nim", players=3, seat="rotate", opponents=scripted, shaping=Shaping(tokens, gamma=1.0))
    discounted = SeatEnv("nim", players=3, seat="rotate", opponents=scripted, shaping=Shaping(tokens, gamma=0.5))
    for seed in (4, *[None] * 8):
        games = [play(env, pick, seed) for env in (plain, shaped, discounted)]
        assert sum(games[1]["rewards"]) == pytest.approx(sum(games[0]["rewards"]) - 0.5)
        gains = [0.5 * look[0] / 10 + 0.25 for look in games[2]["looks"][1:-1]] + [0.0]
        expected = [gain - look[0] / 10 - 0.5 for gain, look in zip(gains, games[2]["looks"][:-1], strict=True)]
        expected[-1] += games[0]["rewards"][-1]
        assert games[2]["rewards"] == pytest.approx(expected)


def test_sb3_contrib_finds_the_masks(scripted: Any) -> None:
    env = gymnasium.make("caravan_env/Caravan-v0", opponents=scripted)
    _, info = env.reset(seed=0)
    assert is_masking_supported(env)
    assert np.array_equal(get_action_masks(env), info["action_mask"])


def test_sampling_draws_legal_actions_only(scripted: Any) -> None:
    env = SeatEnv("caravan", opponents=scripted, turn_limit=30)
    for seed in range(2):
        env.reset(seed=seed)
        ended = False
        while not ended:
            _, _, ended, _, _ = env.step(env.action_space.sample())
    assert env.action_space == gymnasium.spaces.Discrete(env.game.num_actions)
    only_this = np.zeros(env.game.num_actions, np.int8)
    only_this[17] = 1
    assert env.action_space.sample(only_this) == 17


class Cheat:
    """An opponent that ignores the rules."""

    name = "cheat"

    def act(self, state: State) -> int:
        return 1


def test_misuse_gets_a_sentence(scripted: Any) -> None:
    env = SeatEnv("nim", opponents=scripted, most=1)
    for misuse in (lambda: env.step(0), lambda: env.state, env.render):
        with pytest.raises(NotStarted, match="call reset"):
            misuse()
    env.reset(seed=0)
    for wrong, words in (
        (1, "take two.* is not legal for seat 0"),
        (7, "action 7 .*actions 0 to 2"),
        ("x", "whole number"),
    ):
        before = env.state.row.tobytes()
        with pytest.raises(IllegalAction, match=words):
            env.step(wrong)
        assert env.state.row.tobytes() == before
    assert env.step(0)[2]
    with pytest.raises(GameOver, match="start a new one"):
        env.step(0)
    with pytest.raises(IllegalAction, match="opponent 'cheat': action 1 .take two. is not legal for seat 0"):
        SeatEnv("nim", opponents=Cheat(), seat=1, most=1).reset(seed=0)
    with pytest.raises(BadParams, match="seat = 2 is not possible: 0 to 1, 'random' or 'rotate'"):
        SeatEnv("nim", seat=2)
    with pytest.raises(BadParams, match="at_turn_limit = 'scores'.*did you mean 'score'"):
        SeatEnv("nim", at_turn_limit="scores")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="did you mean 'human'"):
        SeatEnv("nim", render_mode="humans")
    with pytest.raises(CaravanError, match="1000 games .* before the learner's seat could move"):
        SeatEnv("nim", opponents=scripted, seat=1, most=1).reset(seed=0)


def test_unusable_opponents_get_a_sentence(scripted: Any) -> None:
    with pytest.raises(UnknownName, match="did you mean 'random'"):
        SeatEnv("nim", opponents="randm")
    with pytest.raises(BadParams, match="2 opponents for 3 seats"):
        SeatEnv("nim", players=4, opponents=["random", "first"])
    for thing in (7, lambda game, seed: "no agent"):
        with pytest.raises(BadParams, match="cannot play: an opponent is"):
            SeatEnv("nim", opponents=thing)
    with pytest.raises(BadParams, match="was made for Game.*players=3.* and cannot play"):
        SeatEnv("nim", opponents=scripted(make_game("nim", players=3)))


def test_opponents_can_be_specs_classes_functions_and_objects(scripted: Any, pick: Any) -> None:
    game: Game = make_game("nim")
    played = []
    for opponent in (scripted, lambda game, seed: scripted(game), scripted(game)):
        env = SeatEnv(game, opponents=opponent)
        played.append([play(env, pick, seed)["looks"][-1].tolist() for seed in range(6)])
    assert played[0] == played[1] == played[2]


def test_games_that_end_before_the_learner_moves_are_skipped(scripted: Any) -> None:
    env = SeatEnv("nim", opponents=scripted, seat=1, most=3)
    for seed in range(30):
        env.reset(seed=seed)
        assert env.state.to_move == 1


def test_human_mode_prints_every_position(scripted: Any, capsys: pytest.CaptureFixture[str]) -> None:
    env = SeatEnv("nim", opponents=scripted, render_mode="human")
    env.reset(seed=0)
    env.step(0)
    assert capsys.readouterr().out.count("pile") == 2
