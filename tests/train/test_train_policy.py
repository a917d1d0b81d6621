"""The learner's network: the same in torch and numpy, never an illegal action, gradients, minibatches."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from gymnasium import spaces

from agents import network as playing
from agents import neural
from caravan_env.core.rng import streams
from train.network import Network
from train.policy import BooleanMaskBuffer, FastMaskedPolicy, MaskedLogProbs, draw

WIDTHS = {"trunk": [24, 16], "policy": [8], "value": []}
ROWS, INPUTS, ACTIONS = 64, 10, 12


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def random_masks() -> torch.Tensor:
    mask = torch.rand(ROWS, ACTIONS) < 0.4
    mask[torch.arange(ROWS), torch.randint(ACTIONS, (ROWS,))] = True
    return mask


def test_numpy_and_torch_say_the_same():
    network = Network(INPUTS, ACTIONS, WIDTHS)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter)
    twin = playing.Network({name: tensor.numpy() for name, tensor in network.state_dict().items()})
    obs, mask = torch.randn(ROWS, INPUTS), random_masks()
    with torch.no_grad():
        logits, values = network(obs)
    theirs = twin.logits(obs.numpy(), mask.numpy().view(np.uint8))
    np.testing.assert_allclose(theirs[mask.numpy()], logits.numpy()[mask.numpy()], rtol=1e-4, atol=1e-4)
    assert np.isneginf(theirs[~mask.numpy()]).all()
    np.testing.assert_allclose(twin.values(obs.numpy()), values.numpy()[:, 0], rtol=1e-4, atol=1e-4)


def test_gradients_are_those_of_a_masked_categorical():
    mask, actions = random_masks(), torch.zeros(ROWS, dtype=torch.long)
    actions = mask.float().argmax(dim=1)
    ours = torch.randn(ROWS, ACTIONS, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    log_prob, entropy = MaskedLogProbs.apply(ours, mask, actions)
    categorical = torch.distributions.Categorical(logits=theirs.masked_fill(~mask, -1e8))
    expected = categorical.log_prob(actions), categorical.entropy()
    torch.testing.assert_close((log_prob, entropy), expected, rtol=1e-5, atol=1e-5)
    weights = torch.randn(2, ROWS)
    (weights[0] * log_prob + weights[1] * entropy).sum().backward()
    (weights[0] * expected[0] + weights[1] * expected[1]).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5)


def test_draws_follow_the_probabilities():
    probs = torch.tensor([[0.0, 0.5, 0.0, 0.3, 0.2, 0.0]]).repeat(100_000, 1)
    shares = torch.bincount(draw(probs), minlength=6) / len(probs)
    torch.testing.assert_close(shares, probs[0], rtol=0, atol=0.01)
    assert (shares[[0, 2, 5]] == 0).all()


def test_numpy_draws_follow_the_probabilities():
    probs = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0], np.float32)
    with np.errstate(divide="ignore"):
        logits = np.tile(np.log(probs), (100_000, 1))
    drawn = neural.draw(logits, streams(1, 1), np.zeros(len(logits), np.int64))
    np.testing.assert_allclose(np.bincount(drawn, minlength=6) / len(drawn), probs, atol=0.01)


def test_the_policy_samples_legal_actions_and_agrees_with_itself():
    box = spaces.Box(0, 255, (INPUTS,), np.uint8)
    made = {"make_network": lambda: Network(INPUTS, ACTIONS, WIDTHS), "scale": np.full(INPUTS, 0.1, np.float32)}
    policy = FastMaskedPolicy(box, spaces.Discrete(ACTIONS), lambda _: 1e-3, **made)
    obs, mask = torch.randint(20, (ROWS, INPUTS), dtype=torch.uint8), random_masks()
    for deterministic in (False, True):
        actions, values, log_probs = policy.forward(obs, deterministic, mask.numpy())
        assert mask[torch.arange(ROWS), actions].all()
        again = policy.evaluate_actions(obs, actions, mask)
        torch.testing.assert_close((again[0], again[1]), (values, log_probs), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(values, policy.net(obs * 0.1)[1])
    torch.testing.assert_close(policy.predict_values(obs), values)


def test_minibatches_hold_every_step_once():
    box = spaces.Box(-np.inf, np.inf, (INPUTS,), np.float32)
    buffer = BooleanMaskBuffer(6, box, spaces.Discrete(ACTIONS), "cpu", n_envs=4)
    for step in range(6):
        row = np.arange(4) + 4 * step
        obs, mask = np.repeat(row[:, None], INPUTS, axis=1), row[:, None] % ACTIONS == np.arange(ACTIONS)
        floats = torch.from_numpy(row.astype(np.float32))
        buffer.add(obs, row[:, None] % ACTIONS, row, np.zeros(4), floats, floats, action_masks=mask)
    assert buffer.action_masks.dtype == np.bool_
    batches = list(buffer.get(5))
    assert [len(batch.observations) for batch in batches] == [5, 5, 5, 5, 4]
    rows = torch.cat([batch.old_values for batch in batches])
    assert sorted(rows.tolist()) == list(range(24))
    for batch in batches:
        assert (batch.observations[:, 0] == batch.old_values).all()
        assert (batch.action_masks.float().argmax(dim=1) == batch.actions.flatten()).all()
