"""Checkpoint folders: whole or absent, read back equal, refused in words when they do not fit."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from agents.neural import BadCheckpoint, checkpoint_folders, load_policy, resolve
from caravan_env import make_game
from train.checkpoint import folder_of, prune, read_checkpoint, set_aside, step_of, write_checkpoint
from train.network import Network

WIDTHS = {"trunk": [8], "policy": [], "value": []}


@pytest.fixture(scope="module")
def game():
    return make_game("caravan", turn_limit=4)


def write(run_dir: Path, game, step: int = 5) -> Path:
    about = {"network": WIDTHS, "step": step, "config": "abc"}
    network = Network(game.layout.size, game.num_actions, WIDTHS)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    training = {"a": np.arange(3, dtype=np.uint64), "b/c": np.array(2.5, np.float32)}
    return write_checkpoint(run_dir, game, about, weights, training, {"step": step, "list": [1, {"x": None}]})


def test_what_was_written_is_read(game, tmp_path):
    folder = write(tmp_path, game)
    state, weights, training = read_checkpoint(folder, game)
    assert (folder, step_of(folder)) == (folder_of(tmp_path, 5), 5)
    assert state == {"step": 5, "list": [1, {"x": None}]}
    assert set(weights) == {f"{part}.0.{kind}" for part in ("trunk", "policy", "value") for kind in ("weight", "bias")}
    assert training["a"].dtype == np.uint64 and training["a"].tolist() == [0, 1, 2]
    assert training["b/c"].shape == () and training["b/c"] == 2.5


def test_no_file_needs_pickle(game, tmp_path):
    assert {path.suffix for path in write(tmp_path, game).iterdir()} == {".json", ".safetensors"}


def test_a_broken_off_write_leaves_nothing(game, tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path, game)
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_pruning_keeps_the_last_and_the_best(game, tmp_path):
    for step in (1, 2, 3, 4):
        write(tmp_path, game, step)
    (tmp_path / "checkpoints" / ".unfinished-xyz").mkdir()
    prune(tmp_path, 2, [1])
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        f"step-{step:012d}" for step in (1, 3, 4)
    ]


def test_what_is_set_aside_is_no_checkpoint_any_more(game, tmp_path):
    set_aside(write(tmp_path, game))
    assert checkpoint_folders(tmp_path) == []
    with pytest.raises(BadCheckpoint, match="there is no checkpoint in"):
        resolve(tmp_path)


def test_a_run_folder_means_its_last_checkpoint(game, tmp_path):
    write(tmp_path, game, 9)
    write(tmp_path, game, 10)
    assert resolve(tmp_path) == folder_of(tmp_path, 10)
    assert resolve(folder_of(tmp_path, 9)) == folder_of(tmp_path, 9)


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "policy.json").unlink(), "is no checkpoint: policy.json cannot be read"),
        (lambda folder: (folder / "policy.json").write_text("{"), "is damaged: policy.json"),
        (lambda folder: edit(folder / "policy.json", surplus=1), "is damaged: policy.json"),
        (
            lambda folder: edit(folder / "policy.json", format=99),
            "is checkpoint format 99; this package reads format 1",
        ),
        (
            lambda folder: edit(folder / "policy.json", version=99),
            "is of caravan version 99, and this package plays version",
        ),
        (lambda folder: edit(folder / "policy.json", game="chess"), "is of the game 'chess', not of 'caravan'"),
        (
            lambda folder: (folder / "policy.safetensors").write_bytes(b"x"),
            "policy.safetensors is not as it was written",
        ),
        (lambda folder: (folder / "policy.safetensors").unlink(), "policy.safetensors cannot be read"),
        (lambda folder: (folder / "training.safetensors").write_bytes(b""), "training.safetensors is not as it was"),
        (lambda folder: (folder / "training.json").write_text("{}"), "training.json is not as it was written"),
        (lambda folder: (folder / "training.json").unlink(), "training.json cannot be read"),
    ],
)
def test_damage_is_named(game, tmp_path, damage, sentence):
    folder = write(tmp_path, game)
    damage(folder)
    with pytest.raises(BadCheckpoint) as caught:
        read_checkpoint(folder, game)
    assert sentence in str(caught.value) and str(folder) in str(caught.value)


def test_other_rule_switches_with_another_observation_are_named(game, tmp_path):
    folder = write(tmp_path, game)
    with pytest.raises(BadCheckpoint, match="players = 2 there, 3 here"):
        read_checkpoint(folder, make_game("caravan", players=3))


def test_other_rule_switches_with_the_same_observation_are_fine(game, tmp_path):
    agent = load_policy(write(tmp_path, game), make_game("caravan", goods="full", returns="margin"))
    assert agent.game.params.goods == "full"
