"""Configurations: what is allowed, what is refused and in which words, overrides, the shipped files."""

from __future__ import annotations

from pathlib import Path

import pytest

from caravan_env.core.errors import CaravanError
from train.config import BadConfig, Config, load_config, make_config

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
LEAST = {"run_dir": "runs/x", "budget": {"steps": 10}}


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_shipped_configurations_are_whole(path):
    config = load_config(path)
    assert config.run_dir == f"runs/{path.stem}"
    assert config.game.make().players in (1, 2, 3, 4)


def test_there_is_one_for_each_number_of_players():
    players = {load_config(CONFIGS / f"caravan-{n}p.yaml").game.make().players for n in (2, 3, 4)}
    assert players == {2, 3, 4}


def test_the_main_job_fits_into_ten_minutes():
    minutes = load_config(CONFIGS / "caravan-2p.yaml").budget.minutes
    assert minutes is not None and minutes <= 9


def test_overrides_change_single_values(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("run_dir: runs/x\nbudget: {steps: 10}\nppo: {gamma: 0.9, n_envs: 8}\n")
    config = load_config(
        path, ["ppo.gamma=0.5", "evaluation.opponents=[random, first]", "ppo.learning_rate=1e-4", "seed=7"]
    )
    assert (config.ppo.gamma, config.ppo.n_envs, config.ppo.learning_rate, config.seed) == (0.5, 8, 1e-4, 7)
    assert config.evaluation.opponents == ["random", "first"]


def test_a_saved_configuration_reads_back_equal(tmp_path):
    config = make_config({**LEAST, "league": {"scripted": {"planner:beam=4": 1.0}}})
    config.save(tmp_path / "config.yaml")
    assert load_config(tmp_path / "config.yaml") == config


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pppo": {}}, "there is no key 'pppo': did you mean 'ppo'?"),
        ({"ppo": {"gama": 0.9}}, "there is no key 'ppo.gama': did you mean 'gamma'?"),
        ({"ppo": {"gamma": 1.5}}, "ppo.gamma = 1.5 is not possible: input should be less than or equal to 1"),
        ({"ppo": {"n_envs": "many"}}, "ppo.n_envs = 'many' is not possible: input should be a valid integer"),
        ({"ppo": {"n_envs": 0}}, "ppo.n_envs = 0 is not possible"),
        ({"ppo": 3}, "ppo = 3 is not possible"),
        ({"seed": -1}, "seed = -1 is not possible"),
        ({"budget": {}}, "one of budget.minutes, budget.cpu_minutes and budget.steps must be given"),
        ({"budget": {"minutes": 0}}, "budget.minutes = 0 is not possible"),
        ({"network": {"trunk": [64, 0]}}, "network.trunk.1 = 0 is not possible"),
        (
            {"league": {"sampling": "best"}},
            "league.sampling = 'best' is not possible: input should be 'uniform', 'recent'",
        ),
        ({"league": {"latest": 0, "scripted": {}}}, "cannot all be 0"),
        ({"league": {"scripted": {"random": -1}}}, "league.scripted.random = -1 is not possible"),
        ({"game": {"name": "carvan"}}, "did you mean 'caravan'?"),
        ({"game": {"params": {"player": 2}}}, "did you mean 'players'?"),
    ],
)
def test_a_mistake_is_named_in_one_sentence(change, sentence):
    with pytest.raises(CaravanError) as caught:
        make_config({**LEAST, **change})
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_key_is_named():
    with pytest.raises(BadConfig, match="the key 'run_dir' is missing"):
        make_config({"budget": {"steps": 1}})


@pytest.mark.parametrize(
    ("text", "override", "sentence"),
    [
        (None, "", "cannot be read"),
        ("ppo: [", "", "is no YAML"),
        ("- 1", "", "must be a mapping"),
        ("run_dir: x", "seed", "must have the form key.sub=value"),
        ("run_dir: x", "run_dir.y=1", "'run_dir' is a value and has no keys"),
        ("run_dir: x", "seed=[", "the value is no YAML"),
    ],
)
def test_a_file_or_override_that_cannot_be_read_is_named(tmp_path, text, override, sentence):
    path = tmp_path / "c.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BadConfig, match=sentence):
        load_config(path, [override] if override else [])


def test_the_digest_follows_what_changes_learning():
    config = make_config(LEAST)
    assert config.digest() == make_config({**LEAST, "run_dir": "y", "budget": {"minutes": 1}, "threads": 1}).digest()
    assert config.digest() != make_config({**LEAST, "seed": 1}).digest()
    assert config.digest() != make_config({**LEAST, "ppo": {"gamma": 0.5}}).digest()


def test_configurations_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        Config.model_validate(LEAST).seed = 3  # type: ignore[misc]
