"""The network for boards: which logit is whose, the same in torch and numpy, learning, checkpoints, errors."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from agents.network import Board, BoardNetwork, network_of
from agents.neural import BadCheckpoint, load_policy
from caravan_env import make_game
from caravan_env.core.errors import CaravanError
from caravan_env.core.observation import ObservationLayout
from train import network as learner
from train.checkpoint import write_checkpoint
from train.config import BadConfig, NetworkConfig, make_config
from train.policy import MaskedLogProbs

HEIGHT, WIDTH, ACTIONS, ROWS = 3, 4, 30, 16
CONFIG = NetworkConfig(kind="board", channels=[6, 5], trunk=[7], policy=[8], value=[])


@pytest.fixture
def game() -> SimpleNamespace:
    """Return what networks want to know of a game: planes around a vector, 22 of the actions on a 3x4 board."""
    planes = np.random.default_rng(0).permutation(ACTIONS)[: 2 * HEIGHT * WIDTH].reshape(2, HEIGHT, WIDTH)
    planes[1, 2, :2] = -1
    layout = ObservationLayout(
        ("ground", (2, HEIGHT, WIDTH), 1, ""), ("hand", (5,), 1, ""), ("figures", (1, HEIGHT, WIDTH), 1, "")
    )
    return SimpleNamespace(name="field", layout=layout, num_actions=ACTIONS, action_planes=planes)


@pytest.fixture
def network(game):
    torch.manual_seed(0)
    made = learner.make_network(game, CONFIG)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return made


def weights_of(network) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}


def test_planes_and_the_rest_of_an_observation_are_told_apart(game):
    board = Board(game)
    assert board.shape == (3, HEIGHT, WIDTH) and (board.places, board.others) == (2, 8)
    np.testing.assert_array_equal(board.planes, [*range(24), *range(29, 41)])
    np.testing.assert_array_equal(board.vector, range(24, 29))


def test_each_action_has_the_logit_of_its_place(game):
    """The logit of action a is that of its plane at its place; the others have theirs in order after all places."""
    order, planes = Board(game).order, game.action_planes
    for plane, row, column in np.argwhere(planes >= 0):
        assert order[planes[plane, row, column]] == (row * WIDTH + column) * 2 + plane
    others = np.setdiff1d(np.arange(ACTIONS), planes)
    np.testing.assert_array_equal(order[others], 2 * HEIGHT * WIDTH + np.arange(8))


def test_numpy_and_torch_say_the_same(game, network):
    twin, obs = network_of(game, weights_of(network)), torch.randn(ROWS, game.layout.size)
    mask = np.random.default_rng(1).random((ROWS, ACTIONS)) < 0.5
    with torch.no_grad():
        logits, values = network(obs)
    assert isinstance(twin, BoardNetwork) and logits.shape == (ROWS, ACTIONS)
    theirs = twin.logits(obs.numpy(), mask.astype(np.uint8))
    np.testing.assert_allclose(theirs[mask], logits.numpy()[mask], rtol=1e-4, atol=1e-4)
    assert np.isneginf(theirs[~mask]).all()
    np.testing.assert_allclose(twin.values(obs.numpy()), values.numpy()[:, 0], rtol=1e-4, atol=1e-4)


def test_a_board_that_is_shifted_has_shifted_logits(game):
    """With nothing but places, no padding in sight and the whole picture moved by one, the logits move with it."""
    torch.manual_seed(0)
    network = learner.make_network(game, CONFIG.model_copy(update={"channels": [6]}))
    board, action = Board(game), game.action_planes[0]
    image = torch.zeros(2, *board.shape)
    image[0, :, 1, 1], image[1, :, 1, 2] = 1, 1
    obs = torch.zeros(2, game.layout.size)
    obs[:, board.planes] = image.flatten(1)
    with torch.no_grad():
        logits = network(obs)[0]
    torch.testing.assert_close(logits[0, action[:, :3]], logits[1, action[:, 1:]])
    assert not torch.allclose(logits[0], logits[1])


def test_it_learns_what_depends_on_the_place(game):
    """The right action lies on the only place of the ground that is marked, its plane in the hand."""
    torch.manual_seed(0)
    network, rng = learner.make_network(game, CONFIG), np.random.default_rng(0)
    row, column, plane = rng.integers(2, size=200), rng.integers(WIDTH, size=200), rng.integers(2, size=200)
    obs = np.zeros((200, game.layout.size), np.float32)
    obs[np.arange(200), row * WIDTH + column] = 1
    obs[np.arange(200), 24 + plane] = 1
    actions = torch.from_numpy(game.action_planes[plane, row, column])
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    losses = []
    for _ in range(60):
        logits = network(torch.from_numpy(obs))[0]
        loss = -MaskedLogProbs.apply(logits, torch.ones_like(logits, dtype=torch.bool), actions)[0].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(np.log(ACTIONS), abs=0.1) and losses[-1] < 0.1


def write(run_dir, game, network, kind: str = "board"):
    about = {"network": {**CONFIG.model_dump(), "kind": kind}, "step": 5, "config": "abc"}
    return write_checkpoint(run_dir, game, about, weights_of(network), {}, {})


def test_a_checkpoint_plays_as_the_learner(nim, tmp_path):
    game = make_game("nim")
    network = learner.make_network(game, CONFIG)
    torch.nn.init.normal_(network.places[0].weight)
    write(tmp_path, game, network)
    agent, state = load_policy(tmp_path, game), game.new_state(seed=1)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(state.observe(state.to_move))[None])
    thought = agent.think(state)
    assert thought.value == pytest.approx(values.item(), abs=1e-5)
    legal = state.legal_actions()
    assert thought.action == legal[logits[0, legal].argmax()]


def test_a_checkpoint_of_an_unknown_kind_is_refused(nim, tmp_path):
    game = make_game("nim")
    write(tmp_path, game, learner.make_network(game, CONFIG), kind="tree")
    with pytest.raises(BadCheckpoint, match="is of a network of kind 'tree'; this package knows mlp, board"):
        load_policy(tmp_path, game)


@pytest.mark.parametrize("network", [{"kind": "board"}, {"channels": [8]}])
def test_channels_and_boards_go_together(network):
    with pytest.raises(BadConfig, match=r"network\.channels must be given for network\.kind = board, and for no other"):
        make_config({"run_dir": "x", "budget": {"steps": 1}, "network": network})


def test_a_game_whose_actions_have_no_places_is_named():
    with pytest.raises(CaravanError, match="network.kind = board is not possible for caravan: its actions belong to"):
        make_config({"run_dir": "x", "budget": {"steps": 1}, "network": {"kind": "board", "channels": [8]}})
