"""The league: whom it offers, how often, and that it comes back from a checkpoint as it was."""

from __future__ import annotations

import numpy as np
import pytest

from caravan_env import make_game
from caravan_env.envs.opponents import FinishedGames
from train.config import LeagueConfig
from train.league import League
from train.network import Network

WIDTHS = {"trunk": [4], "policy": [], "value": []}
ROWS = np.arange(20_000)


@pytest.fixture(scope="module")
def game():
    return make_game("caravan", players=3, turn_limit=4)


def weights(game):
    network = Network(game.layout.size, game.num_actions, WIDTHS)
    return {name: tensor.numpy() for name, tensor in network.state_dict().items()}


def league(game, past: int = 0, **config) -> League:
    made = League(
        game, LeagueConfig(**{"scripted": {"random": 1.0, "first": 3.0}, "latest": 4.0, "past": 8.0, **config}), 1
    )
    for step in range(past):
        made.add(step, weights(game))
    made.begin(0, weights(game))
    return made


def shares(made: League) -> list[float]:
    assigned = made.assign(ROWS)
    assert assigned.shape == (len(ROWS), 3) and assigned.dtype == np.int64
    counts = np.bincount(assigned[:, 1:].ravel(), minlength=len(made.agents))
    return (counts / counts.sum()).tolist()


def finished(opponents: list[int], returns: list[list[float]]) -> FinishedGames:
    rows = np.arange(len(returns))
    columns = np.array([[0, o, o] for o in opponents])
    return FinishedGames(rows, rows, columns, np.array(returns), rows, rows < 0)


def test_shares_follow_the_weights(game):
    made = league(game)
    assert [agent.name for agent in made.agents] == ["latest", "random", "first"]
    assert shares(made) == pytest.approx([4 / 8, 1 / 8, 3 / 8], abs=0.02)


def test_past_selves_share_their_weight(game):
    made = league(game, past=2, sampling="uniform")
    assert [agent.name for agent in made.agents][3:] == ["past:0", "past:1"]
    assert shares(made) == pytest.approx([4 / 16, 1 / 16, 3 / 16, 4 / 16, 4 / 16], abs=0.02)


def test_recent_selves_can_weigh_more(game):
    expected = np.array([1, 2, 4]) / 7 * 8 / 16
    assert shares(league(game, past=3, sampling="recent"))[3:] == pytest.approx(expected.tolist(), abs=0.02)


def test_those_that_beat_the_learner_come_more_often(game):
    made = league(game, past=2, sampling="prioritized")
    lost, won = [-1.0, 1.0, 1.0], [1.0, -1.0, -1.0]
    made.report(finished([3] * 50 + [4] * 50, [lost] * 50 + [won] * 50))
    assert made.past[0].win_rate < 0.05 and made.past[1].win_rate > 0.95
    assert shares(made)[3:] == pytest.approx([0.5, 0.0], abs=0.02)


def test_the_oldest_leaves(game):
    made = league(game, past=5, keep=2)
    assert [member.step for member in made.past] == [3, 4]


def test_snapshots_do_not_change_with_the_learner(game):
    own = weights(game)
    made = league(game)
    made.add(0, own)
    own["trunk.0.bias"] += 1.0
    assert not made.past[0].weights["trunk.0.bias"].any()


def test_results_are_counted_against_each_opponent(game):
    made = league(game, past=1)
    made.report(finished([0, 1, 3], [[1.0, 0.0, 0.0], [0.5, 0.5, 1.0], [0.0, 1.0, 1.0]]))
    assert made.take_results() == {"latest": (2, 1.0), "past": (2, 0.0), "random": (2, 0.25)}
    assert made.take_results() == {}


def test_an_iteration_draws_the_same_after_a_restart(game):
    made = league(game, past=2)
    made.report(finished([3, 3, 4], [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))
    again = League(game, made.config, 1)
    again.restore(made.state(), made.tensors())
    for either in (made, again):
        either.begin(7, weights(game))
    assert again.state() == made.state()
    np.testing.assert_array_equal(again.assign(ROWS), made.assign(ROWS))
    states = [game.new_state(seed=5) for _ in (made, again)]
    actions = [
        [int(agent.act_games(state.row, state.action_mask()[None], np.array([9]))[0]) for agent in either.agents[1:]]
        for either, state in zip((made, again), states, strict=True)
    ]
    assert actions[0] == actions[1]
