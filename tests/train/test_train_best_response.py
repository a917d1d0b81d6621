"""Learning against a frozen network: who plays which seat, what is logged and saved, and that it learns to win."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import shipped
from agents.neural import BadCheckpoint
from agents.value.binding import bound
from agents.value.network import ValueNetwork
from caravan_env import make_game
from caravan_env.core.errors import UnknownName
from train.config import BadConfig, Config, load_config
from train.metrics import METRICS
from train.run import Trainer
from train.td import Player

SMALL = {"widths": [8, 8], "decisions": 4000, "memory": 8000, "batch_size": 256, "reuse": 1.0}
CARAVAN = {"name": "caravan", "params": {"turn_limit": 12}}
NEVER = {"every": 10**9}


@pytest.fixture
def td(tiny: Callable[..., Config], nim: None) -> Callable[..., Config]:
    """Return a function that makes the configuration of a tiny run that learns values of the tiny game."""

    def make(folder: str = "run", td: dict[str, Any] | None = None, **sections: Any) -> Config:
        game = {"name": "nim", "params": {"most": 9}}
        every: dict[str, Any] = {"evaluation": {"every": 3000}, "checkpoints": {"every": 3000}}
        given = {"trainer": "td", "game": game, "budget": {"steps": 7000}, **every, **sections}
        return tiny(folder, td={**SMALL, **(td or {})}, **given)

    return make


@pytest.fixture
def frozen(td: Callable[..., Config]) -> str:
    """Return the folder of a run that has learned the tiny game for one iteration."""
    trainer = begun(td("frozen"))
    trainer.iterate()
    trainer.save()
    return str(trainer.run_dir)


@pytest.fixture
def best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that makes a spec the best agent of the tiny game."""

    def make(spec: str) -> None:
        (tmp_path / "best.json").write_text(json.dumps({"nim": [{"agent": spec}]}))
        monkeypatch.setattr(shipped, "FOLDER", tmp_path)
        monkeypatch.setattr(shipped, "TABLE", tmp_path / "best.json")

    return make


def begun(config: Config) -> Trainer:
    Path(config.run_dir).mkdir(parents=True, exist_ok=True)
    return Trainer(config)


def lines(config: Config) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(config.run_dir) / METRICS).read_text().splitlines()]


def network(seed: int, game: str = "nim") -> ValueNetwork:
    """Return a network with an opinion: a new one says 0, or what the game's own evaluation says."""
    variant = make_game(game)
    features = bound(variant).features
    new = ValueNetwork.new(0 if features else variant.layout.size, features, (8, 8), seed)
    out = np.random.default_rng(seed).normal(size=(1, 8)).astype(np.float32)
    return ValueNetwork({**new.tensors, "out.weight": out})


def same(a: Any, b: Any) -> bool:
    return set(a) == set(b) and all(np.array_equal(a[name], b[name]) for name in a)


# --- games -----------------------------------------------------------------------------------------------------------


def test_only_the_learner_s_decisions_are_logged_and_its_seat_changes_with_every_game(td):
    config = td(game=CARAVAN, td={"trace": 1.0, "margin": 0.0, "explore": 0.0})
    player, alone = (Player(config.game.make(), config) for _ in range(2))
    games = player.play(network(1, "caravan"), 1, 0, network(2, "caravan"))
    both = alone.play(network(1, "caravan"), 1, 0)
    assert alone.returns == 0.0
    assert games > 1.5 * both
    seats = player.log.seats[: player.decisions]
    starts = np.flatnonzero(np.append(True, seats[1:] != seats[:-1]))  # of what is logged of each game
    assert len(starts) == games
    # with lambda = 1 and no margin the targets are the returns
    assert player.returns == pytest.approx(player.log.targets[starts].sum())
    assert abs(player.returns) < games


@pytest.mark.parametrize(("seed", "part"), [(1, 0), (1, 1), (2, 0), (2, 3)])
def test_the_seat_of_the_first_game_moves_on_with_seed_and_part(td, seed, part):
    config = td(game=CARAVAN)
    player = Player(config.game.make(), config)
    player.play(network(1, "caravan"), seed, part, network(2, "caravan"))
    assert player.log.seats[0] == (seed + part) % 2


# --- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_logs_its_mean_return_and_leaves_the_frozen_network_as_it_is(td, frozen):
    config = td(td={"against": frozen})
    trainer = begun(config)
    before = {name: array.copy() for name, array in trainer.learner._frozen.tensors.items()}
    start = trainer.learner.weights()
    for _ in range(2):
        trainer.iterate()
    assert same(trainer.learner._frozen.tensors, before)
    assert not same(trainer.learner.weights(), start)
    returns = [line["rollout/return"] for line in lines(config)]
    assert len(returns) == 2
    assert all(-1 <= value <= 1 for value in returns)


def test_self_play_logs_no_return(td):
    config = td()
    begun(config).iterate()
    assert "rollout/return" not in lines(config)[0]


def test_start_begins_with_exactly_these_weights(td, frozen):
    theirs = begun(td("frozen")).learner.weights()
    learner = begun(td(td={"start": frozen})).learner
    assert same(learner.weights(), theirs)
    assert same(learner.snapshot()[0], {f"raw/{name}": array for name, array in theirs.items()})
    assert not same(begun(td("new")).learner.weights(), theirs)


def test_a_run_that_goes_on_meets_the_same_network_even_if_its_folder_has_changed(td, frozen):
    config = td(td={"against": frozen, "start": frozen}, checkpoints={"every": 1000})
    first = begun(config)
    first.iterate()
    for path in Path(frozen).rglob("policy.*"):
        path.unlink()
    second = begun(config)
    assert second.step == first.step > 0
    assert same(second.learner.weights(), first.learner.weights())
    assert same(second.learner._frozen.tensors, first.learner._frozen.tensors)
    for trainer in (first, second):
        trainer.iterate()
    assert second.step == first.step


def test_best_means_the_network_of_the_best_agent_whatever_its_options(td, frozen, best):
    best(f"policy:{Path(frozen).name},beam=2")
    names = ["best:samples=0", "best:beam=0", "best", f"policy:{frozen},beam=2,samples=0"]
    trainer = begun(td(td={"against": "best", "start": "best"}, evaluation={"opponents": names, "every": 1}))
    assert same(trainer.learner._frozen.tensors, begun(td("frozen")).learner.weights())
    trainer.iterate()
    assert [score["opponent"] for score in trainer.evaluations[0]["scores"]] == names


def test_it_learns_to_win_against_a_frozen_network(td):
    weak = begun(td("weak"))
    weak.save()  # it knows nothing
    config = td(
        budget={"steps": 60_000},
        td={"against": str(weak.run_dir), "learning_rate": 3e-3, "reuse": 4.0, "average": 0.98, "margin": 0.0},
        evaluation=NEVER,
        checkpoints=NEVER,
    )
    trainer = begun(config)
    while trainer.progress < 1.0:
        trainer.iterate()
    returns = [line["rollout/return"] for line in lines(config)]
    assert returns[-1] > returns[0] + 0.2, returns


# --- what is not possible --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["against", "start"])
def test_names_that_lead_nowhere_get_a_sentence(td, tmp_path, best, key):
    with pytest.raises(BadCheckpoint, match="there is no checkpoint in"):
        begun(td("a", td={key: str(tmp_path / "nothing")}))
    with pytest.raises(UnknownName, match="no best agent is known for nim"):
        begun(td("b", td={key: "best"}))
    best("random")
    with pytest.raises(BadConfig, match=f"td.{key} = 'best' is not possible: it has no value network"):
        begun(td("c", td={key: "best"}))


def test_a_policy_without_values_of_positions_gets_a_sentence(td):
    policy = begun(td("ppo", trainer="ppo", shaping={"weight": 0}, league={"scripted": {"random": 1}}))
    policy.save()
    with pytest.raises(BadConfig, match=r"td.against = .* is not possible: it has no value network"):
        begun(td(td={"against": str(policy.run_dir)}))


def test_a_network_of_another_game_or_with_other_inputs_gets_a_sentence(td, frozen):
    with pytest.raises(BadCheckpoint, match="is of the game 'nim', not of 'caravan'"):
        begun(td(game=CARAVAN, td={"against": frozen}))
    plain = begun(td("plain", game=CARAVAN, td={"features": False})).save()
    with pytest.raises(BadConfig, match=r"td.against = .*: it reads \d+ observed values and 0 features;"):
        begun(td(game=CARAVAN, td={"against": str(plain)}))


def test_widths_must_be_those_of_the_start(td, frozen):
    with pytest.raises(BadConfig, match=r"td.widths = \[16, 8\] is not possible: td.start = .* \[8, 8\]"):
        begun(td(td={"start": frozen, "widths": [16, 8]}))
    assert begun(td("b", td={"against": frozen, "widths": [16, 8]})).learner._frozen is not None


def test_the_configuration_of_the_best_response_is_valid():
    config = load_config(Path(__file__).parents[2] / "configs" / "caravan-best-response.yaml")
    assert config.td.against == config.td.start == "best"
