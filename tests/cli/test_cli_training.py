"""`caravan train`, `caravan plot` and `caravan eval` on a run that ends in seconds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from caravan_env.cli.main import call
from caravan_env.cli.training import find_config, shipped_configs, unused_folder
from caravan_env.core.errors import UnknownName

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the smoke configuration."""
    folder = tmp_path_factory.mktemp("runs") / "smoke"
    assert call(["train", "smoke", f"run_dir={folder}", "--json"]) == 0
    return folder


def test_shipped_configs_are_found_by_name():
    assert find_config("smoke") == find_config("smoke.yaml") == ROOT / "configs" / "smoke.yaml"
    assert {path.stem for path in shipped_configs()} >= {"smoke", "caravan-2p"}


def test_a_run_folder_stands_for_its_configuration(run_dir):
    assert find_config(str(run_dir)) == run_dir / "config.yaml"


def test_an_unknown_configuration_offers_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'smoke'"):
        find_config("smoek")


def test_a_new_run_takes_a_folder_that_is_free(tmp_path):
    assert unused_folder(tmp_path / "run") == tmp_path / "run"
    (tmp_path / "run").mkdir()
    (tmp_path / "run-2").mkdir()
    assert unused_folder(tmp_path / "run") == tmp_path / "run-3"


def test_a_run_leaves_what_it_should(run_dir):
    names = {str(path.relative_to(run_dir)) for path in run_dir.rglob("*") if path.is_file()}
    assert {"config.yaml", "metrics.jsonl", "evaluations.jsonl"} <= names
    assert any(name.endswith(".png") for name in names)
    assert any(name.endswith(".html") for name in names)
    assert any(name.endswith("policy.safetensors") for name in names)


def test_a_finished_run_reports_again(caravan, run_dir):
    report = caravan("train", run_dir, "--json").json
    assert report["finished"]
    assert report["run_dir"] == str(run_dir)
    assert all(Path(file).exists() for file in report["files"])


def test_plots_are_drawn_again(caravan, run_dir):
    written = caravan("plot", run_dir, "--json").json["plots"][str(run_dir)]
    assert written
    assert all(Path(path).read_bytes().startswith(b"\x89PNG") for path in written)
    assert caravan("plot", run_dir).out.split() == written


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["smoek"], "did you mean 'smoke'"),
        (["smoke", "ppo.n_env=4"], "did you mean 'n_envs'"),
        (["smoke", "ppo.n_envs=-1"], "ppo.n_envs = -1"),
        (["smoke", "seed"], "key.sub=value"),
        (["smoke", "game.params.plyers=3"], "did you mean 'players'"),
        (["smoke", "run_dir=/dev/null/run"], "cannot be written"),
    ],
)
def test_mistakes_get_a_sentence(caravan, arguments, sentence):
    assert sentence in caravan("train", *arguments).sentence


def test_plotting_what_is_no_run_gets_a_sentence(caravan, tmp_path):
    assert str(tmp_path) in caravan("plot", tmp_path).sentence


def test_evaluating_a_policy(caravan, run_dir):
    report = caravan("eval", run_dir, "--opponents", "random,first", "--games", 6, "--json").json
    assert [row["opponent"] for row in report["opponents"]] == ["random", "first"]
    assert all(row["games"] == 6 and row["low"] <= row["score"] <= row["high"] for row in report["opponents"])


def test_evaluating_what_is_no_policy_gets_a_sentence(caravan, tmp_path):
    assert "no checkpoint" in caravan("eval", tmp_path, "--opponents", "random").sentence


def test_evaluating_a_policy_of_other_switches_gets_a_sentence(caravan, run_dir):
    sentence = caravan("eval", run_dir, "--opponents", "random", "--set", "players=4").sentence
    assert "players = 2 there, 4 here" in sentence


def test_a_damaged_checkpoint_gets_a_sentence(caravan, run_dir, tmp_path):
    source = next(run_dir.rglob("policy.safetensors")).parent
    for name in ("policy.json", "policy.safetensors"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    (tmp_path / "policy.safetensors").write_bytes(b"damaged")
    assert "is damaged" in caravan("eval", tmp_path, "--opponents", "random").sentence
    description = json.loads((source / "policy.json").read_text(encoding="utf-8"))
    (tmp_path / "policy.json").write_text(json.dumps({**description, "version": 99}), encoding="utf-8")
    assert "version 99" in caravan("eval", tmp_path, "--opponents", "random").sentence
