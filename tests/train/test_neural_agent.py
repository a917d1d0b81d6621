"""Policies as agents: from a spec, greedy or sampled, one position or many, without torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.network import Network
from agents.neural import BadCheckpoint, PolicyAgent, load_policy
from agents.registry import make_agent
from caravan_env import Batch, make_game
from caravan_env.core.errors import CaravanError
from train import network as learner
from train.checkpoint import write_checkpoint

WIDTHS = {"trunk": [8], "policy": [], "value": [4]}


@pytest.fixture(scope="module")
def game():
    return make_game("caravan")


@pytest.fixture(scope="module")
def weights(game):
    torch.manual_seed(0)
    network = learner.Network(game.layout.size, game.num_actions, WIDTHS)
    torch.nn.init.normal_(network.policy[-1].weight)
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}


@pytest.fixture(scope="module")
def run_dir(game, weights, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    write_checkpoint(folder, game, {"network": WIDTHS, "step": 5, "config": "abc"}, weights, {}, {})
    return folder


@pytest.fixture
def batch(game):
    made = Batch(game, 32, seed=1)
    for _ in range(30):
        made.step(made.random_actions())
    return made


def test_a_spec_names_a_run_or_a_checkpoint(game, run_dir, batch):
    agents = [make_agent(f"policy:{path}", game) for path in (run_dir, run_dir / "checkpoints" / "step-000000000005")]
    assert agents[0].name == f"policy:{run_dir}"
    choices = [agent.act_rows(batch.S, batch.mask) for agent in agents]
    np.testing.assert_array_equal(*choices)


def test_the_choice_is_the_most_probable_legal_action(game, weights, batch):
    agent = PolicyAgent(game, Network(weights))
    chosen = agent.act_rows(batch.S, batch.mask)
    logits = agent.network.logits(game.layout.scaled(batch.obs), batch.mask)
    np.testing.assert_array_equal(chosen, logits.argmax(axis=1))
    assert batch.mask[np.arange(32), chosen].all()
    state = game.new_state(seed=3)
    assert agent.act(state) == agent.think(state).action


def test_samples_are_legal_and_do_not_depend_on_the_batch(game, weights, batch):
    def sampled(parts: int) -> np.ndarray:
        agent = PolicyAgent(game, Network(weights), seed=9, sample=True)
        rows = np.array_split(np.arange(32), parts)
        return np.concatenate([agent.act_games(batch.S[r], batch.mask[r], r) for r in rows])

    chosen = sampled(1)
    assert batch.mask[np.arange(32), chosen].all()
    np.testing.assert_array_equal(chosen, sampled(5))
    other = PolicyAgent(game, Network(weights), seed=10, sample=True).act_rows(batch.S, batch.mask)
    assert (other != chosen).any()


def test_a_thought_has_a_value_and_the_most_probable_actions(game, weights):
    agent, state = PolicyAgent(game, Network(weights)), game.new_state(seed=3)
    thought = agent.think(state)
    assert thought.value is not None and thought.policy is not None
    assert max(thought.policy, key=thought.policy.__getitem__) == thought.action
    assert set(thought.policy) <= set(state.legal_actions().tolist())
    assert 0 < sum(thought.policy.values()) <= 1.0 + 1e-6


def test_a_path_without_a_checkpoint_is_named(game, tmp_path):
    with pytest.raises(BadCheckpoint, match=f"there is no checkpoint in {tmp_path}"):
        load_policy(tmp_path, game)
    with pytest.raises(CaravanError, match="there is no checkpoint in"):
        make_agent(f"policy:{tmp_path}", game)


def test_playing_needs_no_torch(run_dir):
    code = (
        "import sys; sys.modules['torch'] = None; from agents.registry import make_agent; "
        "from caravan_env import make_game; game = make_game('caravan'); "
        f"print(make_agent('policy:{run_dir}', game).act(game.new_state(seed=1))); "
        "assert 'stable_baselines3' not in sys.modules and 'gymnasium' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().isdecimal()
