"""The training environment: shaping leaves the returns alone, and snapshots bring games back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from caravan_env import make_game
from caravan_env.core.errors import CaravanError
from train.config import ShapingConfig
from train.environment import ScorePotential, TrainingEnv, make_shaping
from train.league import League
from train.network import make_network
from train.run import Trainer


def make(config) -> TrainingEnv:
    game = config.game.make()
    league = League(game, config.league, config.seed)
    torch.manual_seed(0)
    network = make_network(game, config.network)
    league.begin(0, {name: tensor.numpy() for name, tensor in network.state_dict().items()})
    return TrainingEnv(game, config, league)


def play(env: TrainingEnv, steps: int) -> list[tuple[np.ndarray, ...]]:
    """Play the lowest legal action everywhere; return (observations, rewards, dones) of every step."""
    seen = []
    for _ in range(steps):
        obs, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
        seen.append(
            (obs, rewards, dones, np.array([info["episode"]["r"] if "episode" in info else 0 for info in infos]))
        )
    return seen


def test_shaping_changes_nothing_but_rewards(tiny):
    plain = make(tiny(shaping={"weight": 0}))
    shaped = make(tiny(shaping={"weight": 3.0, "potential": "score"}))
    np.testing.assert_array_equal(plain.reset(), shaped.reset())
    differ = 0
    for ours, theirs in zip(play(plain, 60), play(shaped, 60), strict=True):
        for part in (0, 2, 3):
            np.testing.assert_array_equal(ours[part], theirs[part])
        np.testing.assert_allclose(ours[1], np.where(ours[2], ours[3], 0.0))
        differ += int((ours[1] != theirs[1]).sum())
    assert differ > 0


def test_shaped_rewards_of_a_game_sum_to_its_return_less_the_first_potential(tiny):
    env = make(tiny(shaping={"weight": 3.0, "potential": "score", "scale": 10}, ppo={"gamma": 1.0}))
    env.reset()
    first, sums, checked = env._potential.copy(), np.zeros(env.num_envs), 0
    for _ in range(120):
        _, rewards, dones, infos = env.step(env.action_masks().argmax(axis=1))
        sums += rewards
        for row in np.flatnonzero(dones):
            assert sums[row] == pytest.approx(infos[row]["episode"]["r"] - first[row], abs=1e-5)
            first[row], sums[row], checked = env._potential[row], 0.0, checked + 1
    assert checked > 10


def test_the_score_potential_is_the_margin_to_the_best_other():
    game = make_game("caravan", players=3)
    S = game.new_rows(2)
    S["markers"][0] = [7, 2, 4, 0]
    seats = np.array([0, 1])
    np.testing.assert_allclose(ScorePotential(game, 10.0)(S, seats), [0.3, 0.0])
    S["markers"][1] = [7, 2, 4, 0]
    np.testing.assert_allclose(ScorePotential(game, 10.0)(S, seats), [0.3, -0.5])


def test_no_weight_means_no_shaping():
    game = make_game("caravan")
    assert make_shaping(game, ShapingConfig(weight=0), 0.9) is None
    shaping = make_shaping(game, ShapingConfig(weight=2.0, potential="score", scale=1.0), 0.9)
    S = game.new_rows(1)
    S["markers"][0, 0] = 5
    assert shaping is not None and shaping.gamma == 0.9
    assert shaping.potential(S, np.zeros(1, np.int64)).tolist() == [10.0]


def test_a_game_without_a_potential_of_its_own_says_so(monkeypatch):
    monkeypatch.setattr("train.environment.heuristic_potential", lambda game: None)
    with pytest.raises(CaravanError, match=r"caravan has no potential of its own; say shaping.potential=score"):
        make_shaping(make_game("caravan"), ShapingConfig(potential="heuristic"), 0.9)


def test_shaping_does_not_reach_evaluation(tiny):
    """Two learners that differ in shaping alone are measured alike as long as their weights are the same."""
    scores = []
    for name, weight in (("plain", 0.0), ("shaped", 50.0)):
        config = tiny(name, shaping={"weight": weight, "potential": "score"}, ppo={"learning_rate": 1e-12})
        Path(config.run_dir).mkdir()
        trainer = Trainer(config)
        for _ in range(2):
            trainer.iterate()
        scores.append(trainer.evaluations[-1]["scores"])
    assert scores[0] == scores[1]


def test_a_snapshot_brings_the_games_back(tiny):
    env = make(tiny())
    env.reset()
    play(env, 40)
    kept = env.snapshot()
    twin = make(tiny())
    obs = twin.restore(kept)
    np.testing.assert_array_equal(obs, env._obs)
    np.testing.assert_array_equal(twin.action_masks(), env.action_masks())
    for agent in (*env.pool.agents, *twin.pool.agents):
        agent.agent._streams = np.zeros(64, np.uint64)  # opponents go on with the same lots
    env.pool._rng, twin.pool._rng = np.random.default_rng(1), np.random.default_rng(1)
    for (a, b, c, d), (e, f, g, h) in zip(play(env, 30), play(twin, 30), strict=True):
        np.testing.assert_array_equal(a, e)
        np.testing.assert_array_equal((b, c, d), (f, g, h))
