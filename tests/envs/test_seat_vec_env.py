"""The Stable-Baselines3 view against a slow simulation of single games, and inside MaskablePPO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecCheckNan, VecEnv, VecMonitor, VecNormalize

from agents.simple import RandomAgent
from caravan_env import Game, State, make_game
from caravan_env.core.errors import BadParams, CaravanError, IllegalAction, NotStarted
from caravan_env.core.rng import streams
from caravan_env.envs import FinishedGames, SeatVecEnv, Shaping

TERMINAL = -2


class OneRow:
    """What row `row` of a SeatVecEnv with rotating seats must do, one game and one move at a time."""

    def __init__(self, game: Game, seed: int, row: int, opponents: list[Any]) -> None:
        self.game, self.row, self.opponents = game, row, opponents
        self.stream, self.weights = streams(seed, 1, first=row), np.zeros(game.spec.max_outcomes, np.int64)
        self.games = 0
        self._open()
        while self._others() == TERMINAL:
            self._open()

    def _open(self) -> None:
        self.state = self.game.new_state()
        self._settle()
        self.seat = (self.row + self.games) % self.game.players
        self.games += 1
        self.length = 0

    def _settle(self) -> None:
        self.game.loops["settle"](self.state.row, 0, self.stream, 0, self.weights)

    def _others(self) -> int:
        while self.state.to_move not in (self.seat, TERMINAL):
            place = (self.state.to_move - self.seat) % self.game.players
            agent = self.opponents[place - 1]
            if isinstance(agent, RandomAgent):
                mask, rows = self.state.action_mask()[None], np.array([self.row])
                action = int(agent.act_games(self.state.row, mask, rows)[0])
            else:
                action = agent.act(self.state)
            self.state.step(action)
            self._settle()
        return self.state.to_move

    def step(self, action: int) -> dict[str, Any]:
        self.state.step(action)
        self._settle()
        self.length += 1
        done = self._others() == TERMINAL
        came: dict[str, Any] = {"done": done, "reward": 0.0}
        if done:
            came |= {"reward": float(self.state.returns()[self.seat]), "last": self.state.observe(self.seat)}
            came |= {"truncated": self.state.truncated, "seat": self.seat, "length": self.length}
            self._open()
            while self._others() == TERMINAL:
                self._open()
        return came | {"look": self.state.observe(self.seat), "mask": self.state.action_mask()}


def test_rows_are_games(variant: tuple[str, dict[str, Any]], pick: Any, scripted: Any) -> None:
    """Observations, masks, rewards, episode ends and last observations are those of single games."""
    name, params = variant
    game, rows, seed = make_game(name, **params), 5, 12
    everybody = [scripted(game), RandomAgent(game, 3), *(scripted(game) for _ in range(3))]
    others = everybody[: game.players - 1]
    env = SeatVecEnv(name, rows, opponents=others, seed=seed, **params)
    looks = env.reset()
    alone = [OneRow(game, seed, row, [scripted(game), RandomAgent(game, 3), *everybody[2:]]) for row in range(rows)]
    for row, single in enumerate(alone):
        assert np.array_equal(looks[row], single.state.observe(single.seat))
    ends, kept = 0, [(looks, looks.copy())]
    for number in range(60 if name == "nim" else 130):
        actions = np.array([pick(mask, number) for mask in env.action_masks()])
        looks, rewards, dones, infos = env.step(actions)
        masks = get_action_masks(env)
        kept.append((looks, looks.copy()))
        for row, single in enumerate(alone):
            came = single.step(int(actions[row]))
            assert (rewards[row], dones[row]) == (np.float32(came["reward"]), came["done"])
            assert np.array_equal(looks[row], came["look"]) and np.array_equal(masks[row], came["mask"])
            assert bool(infos[row]) == came["done"]
            if came["done"]:
                ends += 1
                info = infos[row]
                assert np.array_equal(info["terminal_observation"], came["last"])
                assert info["episode"]["r"] == came["reward"] and info["episode"]["l"] == came["length"]
                assert (info["truncated"], info["seat"]) == (came["truncated"], came["seat"])
                assert info["TimeLimit.truncated"] is False
    assert ends >= rows
    assert all(np.array_equal(array, copy) for array, copy in kept), "arrays that were handed out stay as they were"


def test_the_same_games_for_any_number_of_threads(pick: Any) -> None:
    trails = []
    for threads in (1, 3):
        env = SeatVecEnv("caravan", 7, opponents=RandomAgent, seat="random", seed=9, threads=threads, turn_limit=12)
        trail = [env.reset().tobytes()]
        for number in range(40):
            actions = np.array([pick(mask, number) for mask in env.action_masks()])
            looks, rewards, dones, _ = env.step(actions)
            trail += [looks.tobytes(), rewards.tobytes(), dones.tobytes(), env.seats.tobytes()]
        trails.append(trail)
    assert trails[0] == trails[1]


def test_seeds(scripted: Any, pick: Any) -> None:
    def first_games(env: SeatVecEnv) -> bytes:
        looks = [env.reset()]
        for number in range(30):
            looks.append(env.step(np.array([pick(mask, number) for mask in env.action_masks()]))[0])
        return b"".join(look.tobytes() for look in looks)

    env = SeatVecEnv("nim", 4, opponents=RandomAgent, seed=3)
    one = first_games(env)
    two = first_games(env)
    env.seed(3)
    assert one != two and first_games(env) == one and first_games(env) == two
    unseeded = {SeatVecEnv("caravan", 2, opponents=scripted).reset().tobytes() for _ in range(2)}
    assert len(unseeded) == 2


def test_seats(scripted: Any) -> None:
    for seat, expected in ((1, [1, 1, 1, 1, 1]), ("rotate", [0, 1, 2, 0, 1])):
        env = SeatVecEnv("nim", 5, players=3, seat=seat, opponents=scripted, most=9, seed=2)
        env.reset()
        played_on = env.batch.S["tokens"].sum(axis=1) < 9  # rows that were not restarted before the first decision
        assert played_on.all() and env.batch.seats.tolist() == env.seats.tolist()
        if seat == 1:
            assert env.seats.tolist() == expected
    chosen = SeatVecEnv("caravan", 64, players=4, seat="random", opponents=scripted, seed=2)
    chosen.reset()
    assert set(chosen.seats) == {0, 1, 2, 3}


class League:
    """A pool with an agent per index that notes what it is told."""

    def __init__(self, agents: list[Any], players: int) -> None:
        self.agents, self.players = agents, players
        self.rng = np.random.default_rng(0)
        self.assigned: dict[int, list[Any]] = {}
        self.reports: list[FinishedGames] = []

    def assign(self, rows: Any) -> Any:
        who = self.rng.integers(len(self.agents), size=(len(rows), self.players))
        for row, columns in zip(rows.tolist(), who.tolist(), strict=True):
            self.assigned.setdefault(row, []).append(columns)
        return who

    def report(self, finished: FinishedGames) -> None:
        self.reports.append(finished)


class Counting:
    """An opponent that says for which seats and rows it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []

    def act_games(self, S: Any, mask: Any, rows: Any) -> Any:
        self.asked += [(row, int(s["seat"])) for row, s in zip(rows.tolist(), S, strict=True)]
        return mask.argmax(axis=1)


def test_a_pool_chooses_opponents_and_hears_results(pick: Any) -> None:
    agents = [Counting(), Counting(), Counting()]
    pool = League(agents, players=3)
    env = SeatVecEnv("nim", 6, opponents=pool, players=3, seed=1, most=9, returns="margin")
    env.reset()
    episodes: list[tuple[Any, ...]] = []
    for number in range(40):
        for agent in agents:
            agent.asked.clear()
        current = {row: columns[-1] for row, columns in pool.assigned.items()}
        seats, before = env.seats.copy(), len(pool.reports)
        _, rewards, dones, infos = env.step(np.array([pick(mask, number) for mask in env.action_masks()]))
        for index, agent in enumerate(agents):
            for row, seat in agent.asked:
                if not dones[row]:
                    assert current[row][(seat - seats[row]) % 3] == index
        for finished in pool.reports[before:]:
            for k, row in enumerate(finished.rows):
                assert dones[row] and finished.returns[k, 0] == infos[row]["episode"]["r"]
                assert rewards[row] == np.float32(finished.returns[k, 0])
                assert abs(finished.returns[k].sum()) < 1e-9 and finished.seats[k] == seats[row]
                assert finished.lengths[k] == infos[row]["episode"]["l"]
                assert finished.opponents[k].tolist() == current[int(row)]
                assert bool(finished.truncated[k]) is False
                episodes.append((row, number))
        assert dones.sum() == sum(len(finished.rows) for finished in pool.reports[before:])
    assert len(episodes) > 20
    pool.agents.append(Counting())
    pool.rng = type("Fixed", (), {"integers": lambda self, n, size: np.full(size, n - 1)})()
    for number in range(20):
        env.step(np.array([pick(mask, number) for mask in env.action_masks()]))
    assert pool.agents[-1].asked, "a pool may grow while games go on"


def test_shaping_changes_no_sum_and_the_limit_is_paid_or_bootstrapped(pick: Any, scripted: Any) -> None:
    def tokens(S: Any, seats: Any) -> Any:
        return S["tokens"][np.arange(len(S)), seats] / 10 + 0.25

    for choice in ("score", "bootstrap"):
        make = lambda shaping, choice=choice: SeatVecEnv(  # noqa: E731
            "nim", 6, opponents=scripted, seed=5, shaping=shaping, turn_limit=3, at_turn_limit=choice, players=3
        )
        plain, shaped = make(None), make(Shaping(tokens, gamma=1.0))
        first = shaped.reset()
        plain.reset()
        owed = first[:, 0] / 10 + 0.25
        total, cut = np.zeros(6), 0
        for number in range(40):
            actions = np.array([pick(mask, number) for mask in plain.action_masks()])
            _, rewards, dones, infos = plain.step(actions)
            looks, more, also, _ = shaped.step(actions)
            assert np.array_equal(dones, also)
            total += more - rewards
            for row in np.flatnonzero(dones):
                goes_on = infos[row]["TimeLimit.truncated"]
                assert goes_on == (infos[row]["truncated"] and choice == "bootstrap")
                assert rewards[row] == (0.0 if goes_on else np.float32(infos[row]["episode"]["r"]))
                end = infos[row]["terminal_observation"][0] / 10 + 0.25 if goes_on else 0.0
                assert total[row] == pytest.approx(end - owed[row], abs=1e-5)
                total[row], owed[row] = 0.0, looks[row, 0] / 10 + 0.25
                cut += infos[row]["truncated"]
        assert cut > 3


def test_conventions_of_sb3(scripted: Any) -> None:
    env = SeatVecEnv("caravan", 3, opponents=scripted, seed=0, turn_limit=6)
    assert isinstance(env, VecEnv) and env.num_envs == 3 and env.get_attr("render_mode") == [None] * 3
    assert is_masking_supported(env) and not env.has_attr("no_such_thing")
    assert env.env_is_wrapped(Monitor) == [True] * 3 and env.env_is_wrapped(VecNormalize, 1) == [False]
    looks = VecCheckNan(env).reset()
    assert env.observation_space.contains(looks[0]) and looks.shape == (3, env.game.layout.size)
    masks = get_action_masks(env)
    assert masks.dtype == np.bool_ and masks.shape == (3, env.game.num_actions)
    assert np.array_equal(env.env_method("action_masks", indices=[2]), masks[2:])
    with pytest.warns(UserWarning, match="already wrapped"):
        monitored = VecMonitor(env)
    monitored.reset()
    for _ in range(20):
        _, _, dones, infos = monitored.step(env.action_masks().argmax(axis=1))
        assert all(infos[row]["episode"]["l"] > 1 for row in np.flatnonzero(dones))


def test_maskable_ppo_learns_to_take_two(scripted: Any) -> None:
    """Two tokens a time win most games: a policy that keeps its masks and its rewards finds out in seconds."""
    torch.set_num_threads(1)
    env = SeatVecEnv("nim", 64, opponents=RandomAgent, seed=0)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=256, n_epochs=4, learning_rate=3e-3, seed=0, gamma=1.0)
    before, _ = evaluate_policy(model, SeatVecEnv("nim", 16, opponents=RandomAgent, seed=1), 400, warn=False)
    model.learn(25_000)
    after, _ = evaluate_policy(model, SeatVecEnv("nim", 16, opponents=RandomAgent, seed=1), 400)
    assert len(model.ep_info_buffer or ()) == 100
    assert before < 0.3 < 0.45 < after


class Cheat:
    """An opponent that ignores the rules."""

    name = "cheat"

    def act(self, state: State) -> int:
        return 1


def test_misuse_gets_a_sentence(scripted: Any) -> None:
    env = SeatVecEnv("nim", 3, opponents=scripted, seat=0, seed=1, most=1)
    for misuse in (lambda: env.step(np.zeros(3, int)), lambda: env.action_masks(), lambda: env.batch):
        with pytest.raises(NotStarted, match="call reset"):
            misuse()
    env.reset()
    before = env.batch.S.tobytes()
    with pytest.raises(IllegalAction, match="row 1: action 1 .take two. is not legal for seat 0"):
        env.step(np.array([0, 1, 0]))
    with pytest.raises(IllegalAction, match="row 2: action 99 does not exist"):
        env.step(np.array([0, 0, 99]))
    assert env.batch.S.tobytes() == before
    assert env.step(np.zeros(3, int))[2].all()
    with pytest.raises(IllegalAction, match="opponent 'cheat': row 0: action 1 .take two. is not legal for seat 0"):
        SeatVecEnv("nim", 2, opponents=Cheat(), seat=1, most=1).reset()
    with pytest.raises(CaravanError, match="before the learner's seat could move"):
        SeatVecEnv("nim", 2, opponents=scripted, seat=1, most=1).reset()
    with pytest.raises(AttributeError, match="no method 'fly', only 'action_masks'"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="no attributes of their own"):
        env.set_attr("seat", 1)
    for wrong in ({"rows": 0}, {"threads": 0}):
        with pytest.raises(BadParams, match="must be at least 1"):
            SeatVecEnv("nim", **wrong)
    with pytest.raises(BadParams, match="seat = 'last' is not possible"):
        SeatVecEnv("nim", seat="last")  # type: ignore[arg-type]
