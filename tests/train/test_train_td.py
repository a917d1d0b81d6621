"""Learning values by TD(lambda): whole runs, what they depend on, the targets, and that it learns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.neural import checkpoint_folders
from agents.registry import make_agent
from agents.value.agent import ValueAgent
from agents.value.binding import bound, new_log
from agents.value.network import ValueNetwork
from caravan_env import Game, make_game
from train.config import BadConfig, Config
from train.evaluate import evaluate
from train.run import Trainer, run
from train.td import PARTS, Player

NIM = {"name": "nim", "params": {"most": 9}}
SMALL = {"widths": [8, 8], "decisions": 4000, "memory": 8000, "batch_size": 256, "reuse": 1.0}


@pytest.fixture
def td(tiny: Callable[..., Config], nim: None) -> Callable[..., Config]:
    """Return a function that makes the configuration of a tiny run that learns values of the tiny game."""

    def make(folder: str = "run", td: dict[str, Any] | None = None, **sections: Any) -> Config:
        budget = {"steps": 7000}  # two iterations: each leaves out the games that its log has no room for
        every: dict[str, Any] = {"evaluation": {"every": 3000}, "checkpoints": {"every": 3000}}
        given = {"trainer": "td", "game": NIM, "budget": budget, **every, **sections}
        return tiny(folder, td={**SMALL, **(td or {})}, **given)

    return make


def trained(config: Config, iterations: int) -> Trainer:
    Path(config.run_dir).mkdir(parents=True, exist_ok=True)
    trainer = Trainer(config)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


def same(a: Any, b: Any) -> bool:
    return set(a) == set(b) and all(np.array_equal(a[name], b[name]) for name in a)


# --- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_ends_and_leaves_an_agent(td):
    config = td(game={"name": "caravan", "params": {"turn_limit": 12}}, td={"beam": 3, "depth": 2})
    result = run(config, quiet=True)
    assert result.finished
    assert result.step >= 7000
    names = {path.name for path in result.run_dir.iterdir()}
    assert {"config.yaml", "metrics.jsonl", "evaluations.jsonl", "results.json", "replay.html"} <= names
    assert result.checkpoint == checkpoint_folders(result.run_dir)[-1]
    game = config.game.make()
    agent = make_agent(f"policy:{result.run_dir},beam=3", game)
    assert isinstance(agent, ValueAgent)
    state = game.new_state(seed=1)
    assert agent.act(state) in state.legal_actions()


def test_weights_depend_on_the_seed_and_not_on_the_threads(td):
    one, three, again, other = (
        trained(td(name, **sections), 2).learner.weights()
        for name, sections in (("a", {}), ("b", {"threads": 3}), ("c", {}), ("d", {"seed": 4}))
    )
    assert same(one, three)
    assert same(one, again)
    assert not same(one, other)


def test_a_run_that_was_broken_off_goes_on_with_its_weights_and_optimizer(td):
    config = td(checkpoints={"every": 1000})
    first = trained(config, 2)
    second = trained(config, 0)
    assert (second.step, second.iteration) == (first.step, first.iteration)
    assert second.step > 0
    assert same(second.learner.weights(), first.learner.weights())
    assert same(second.learner.snapshot()[0], first.learner.snapshot()[0])
    assert any(name.startswith("optimizer/") for name in first.learner.snapshot()[0])
    for trainer in (first, second):
        trainer.iterate()
    assert second.step == first.step
    ours, theirs = ([player.log for player in trainer.learner._players] for trainer in (first, second))
    for a, b in zip(ours, theirs, strict=True):  # the games are the same; what is learned from is not, see `snapshot`
        np.testing.assert_array_equal(a.targets, b.targets)
        np.testing.assert_array_equal(a.obs, b.obs)


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"td": {"decisions": 10}}, "td.decisions = 10 is not possible"),
        ({"td": {"widths": [8]}}, r"td.widths = \[8\] is not possible"),
        ({"td": {"patience": 0}}, "td.patience = 0 is not possible"),
        ({"td": {"average": 1.0}}, "td.average = 1.0 is not possible"),
        ({"td": {"trace": 1.5}}, "td.trace = 1.5 is not possible"),
        ({"td": {"beam": 5000}}, "td.beam = 5000 is not possible"),
        ({"td": {"lambda": 0.5}}, "there is no key 'td.lambda'"),
        ({"trainer": "dqn"}, "trainer = 'dqn' is not possible"),
    ],
)
def test_impossible_values_get_a_sentence(td, sections, sentence):
    with pytest.raises(BadConfig, match=sentence) as caught:
        td(**sections)
    assert "\n" not in str(caught.value)


def test_a_log_shorter_than_a_game_is_refused(td):
    config = td(game={"name": "caravan", "params": {"turn_limit": 12}})
    config = config.model_copy(update={"td": config.td.model_copy(update={"decisions": 4})})  # one for each log
    with pytest.raises(BadConfig, match="td.decisions = 4 is too small: no game ends within so many"):
        trained(config, 1)


# --- targets ---------------------------------------------------------------------------------------------------------


def finished(game: Game) -> Any:
    """Return a finished game that seat 0 won by 7 tokens to 2."""
    state = game.new_state(seed=1)
    state.row["drawn"], state.row["pile"] = 1, 0
    state.row["tokens"][0, :2] = 7, 2
    assert state.is_terminal
    return state.row


def lambda_return(values: list[float], final: float, trace: float, patience: float) -> float:
    """Return the target of a decision followed by decisions of these values: the sum over all n-step returns."""
    above = [value + 1 for value in values]
    total = sum((1 - trace) * trace**n * patience ** (n + 1) * above[n] for n in range(len(above)))
    return total + (trace * patience) ** len(above) * (final + 1) - 1


@pytest.mark.parametrize("margin", [0.0, 0.25])
@pytest.mark.parametrize("patience", [1.0, 0.9])
@pytest.mark.parametrize("trace", [0.0, 0.5, 1.0])
def test_targets_are_lambda_returns(nim, trace, patience, margin):
    game = make_game("nim")
    net = ValueNetwork.new(game.layout.size, 0, (4, 4)).net(game, (margin, 10.0, patience))
    log = new_log(game, game.layout.size, 0, 12)
    log.seats[:] = [1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1]
    log.values[:] = np.random.default_rng(2).uniform(-1, 1, 12)
    log.targets[:] = 9
    bound(game).run["look_back"](finished(game), 0, 2, 11, trace, net, log)
    assert (log.targets[[0, 1, 11]] == 9).all()  # of other games
    for k in range(2, 11):
        seat = log.seats[k]
        later = [float(log.values[j]) for j in range(k + 1, 11) if log.seats[j] == seat]
        sign = 1 if seat == 0 else -1
        final = sign * ((1 - margin) * 1.0 + margin * np.tanh(5 / 10))
        assert log.targets[k] == pytest.approx(lambda_return(later, final, trace, patience), abs=1e-5)


def test_what_is_logged_is_whole_games_without_their_last_decisions(td):
    config = td(td={"trace": 1.0, "margin": 0.0})
    game = config.game.make()
    player = Player(game, config)
    games = player.play(ValueNetwork.new(game.layout.size, 0, (8, 8)), seed=1, part=0)
    count = player.decisions
    log = player.log
    assert games > 50
    assert 0 < count <= SMALL["decisions"] // PARTS
    pile = game.players
    assert (log.obs[:count, pile] > 0).all()
    assert set(np.unique(log.targets[:count])) <= {-1.0, 0.0, 1.0}
    assert {0, 1} == set(log.seats[:count].tolist())


# --- learning --------------------------------------------------------------------------------------------------------


def test_td_learns_a_tiny_game(td):
    never = {"every": 10**9}
    config = td(
        budget={"steps": 40_000},
        td={"widths": [32, 16], "learning_rate": 3e-3, "reuse": 4.0, "average": 0.98, "explore": 0.1, "margin": 0.0},
        evaluation=never,
        checkpoints=never,
    )
    trainer = trained(config, 0)
    (before,) = evaluate(trainer.game, trainer.agent(sample=False), ["random"], 400, seed=1)
    while trainer.progress < 1.0:
        trainer.iterate()
    (after,) = evaluate(trainer.game, trainer.agent(sample=False), ["random"], 400, seed=1)
    assert after.low > before.high + 0.05, (before, after)
