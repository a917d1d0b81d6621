"""That training learns: PPO on a tiny game, imitation on Caravan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from caravan_env import make_game
from train.config import ImitationConfig
from train.evaluate import evaluate
from train.imitation import collect, imitate, views
from train.network import Network
from train.run import Trainer

BOARD = {"kind": "board", "channels": [16], "trunk": [16], "policy": [16], "value": [32]}


@pytest.mark.parametrize("network", [{"trunk": [32], "policy": [32], "value": [32]}, BOARD], ids=["mlp", "board"])
def test_ppo_learns_a_tiny_game(tiny, nim, network):
    config = tiny(
        game={"name": "nim", "params": {"most": 9}},
        budget={"steps": 25 * 64 * 32},
        ppo={"n_envs": 64, "n_steps": 32, "batch_size": 256, "n_epochs": 4, "learning_rate": 3e-3},
        network=network,
        league={"scripted": {"random": 1.0}},
        shaping={"weight": 0},
        evaluation={"every": 10**9},
        checkpoints={"every": 10**9},
    )
    Path(config.run_dir).mkdir()
    trainer = Trainer(config)
    (before,) = evaluate(trainer.game, trainer.agent(sample=True), ["random"], 400, seed=1)
    while trainer.progress < 1.0:
        trainer.iterate()
    (after,) = evaluate(trainer.game, trainer.agent(sample=False), ["random"], 400, seed=1)
    assert after.low > before.high + 0.05, (before, after)


def test_imitation_teaches_to_choose_alike():
    caravan = make_game("caravan", turn_limit=20)
    network = Network(caravan.layout.size, caravan.num_actions, {"trunk": [32], "policy": [], "value": []})
    choice = ImitationConfig(agent="first", decisions=4000, epochs=4, learning_rate=1e-2)
    torch.manual_seed(0)
    loss = imitate(network, caravan, choice, seed=1, threads=1)
    S, actions = collect(caravan, choice, seed=2, threads=1)
    obs, mask = views(caravan, S)
    logits = network(obs)[0].masked_fill(~mask, -torch.inf)
    uniform = mask.sum(dim=1).log().mean().item()
    assert loss < 0.5 * uniform
    assert (logits.argmax(dim=1).numpy() == actions).mean() > 0.8


def test_examples_are_the_agents_choices_whatever_the_threads():
    caravan = make_game("caravan")
    config = ImitationConfig(agent="greedy", decisions=300, noise=0.3)
    (S, actions), (S2, actions2) = (collect(caravan, config, seed=2, threads=threads) for threads in (1, 3))
    assert len(S) == len(actions) == 384  # whole rounds of all rows
    np.testing.assert_array_equal(actions, actions2)
    assert S.tobytes() == S2.tobytes()
