"""Whole runs: what they leave, the same seed, going on after a stop, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.neural import BadCheckpoint, checkpoint_folders
from agents.registry import make_agent
from caravan_env.core.errors import CaravanError
from caravan_env.core.record import read_record, replay
from train.config import BadConfig, load_config
from train.run import CONFIG, Trainer, run


def lines_without_times(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines without what depends on the clock."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]


def same_arrays(a: Any, b: Any) -> bool:
    return set(a) == set(b) and all(np.array_equal(a[name], b[name]) for name in a)


def trained(config: Any, iterations: int) -> Trainer:
    Path(config.run_dir).mkdir(parents=True, exist_ok=True)
    trainer = Trainer(config)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


def test_a_run_leaves_what_it_should(tiny):
    config = tiny(imitation={"agent": "greedy", "decisions": 200, "epochs": 1})
    result = run(config, quiet=True)
    folder = result.run_dir
    assert (result.finished, result.step, result.checkpoint) == (True, 1536, checkpoint_folders(folder)[-1])
    names = {path.name for path in folder.iterdir()}
    files = {
        "config.yaml",
        "metrics.jsonl",
        "evaluations.jsonl",
        "results.json",
        "results.md",
        "replay.jsonl",
        "replay.html",
    }
    assert names == files | {"checkpoints", "tensorboard", "learning_curve.png", "win_rates.png"}
    assert [line["step"] for line in lines_without_times(folder / "metrics.jsonl")] == list(range(256, 1537, 256))
    assert [line["step"] for line in lines_without_times(folder / "evaluations.jsonl")] == [512, 1024, 1536, 1536]
    assert any(path.name.startswith("events") for path in (folder / "tensorboard").iterdir())
    (score,) = json.loads((folder / "results.json").read_text())["scores"]
    assert score["opponent"] == "random" and score["games"] == 4 and score["low"] <= score["score"] <= score["high"]
    record = read_record(folder / "replay.jsonl")
    assert sum(event.policy is not None for event in record.events) > 0
    assert sum(1 for _ in replay(record)) == len(record.events) + 1
    assert make_agent(f"policy:{folder}", config.game.make()).name == f"policy:{folder}"


def test_the_same_seed_gives_the_same_run(tiny):
    a, b, c = tiny("a"), tiny("b"), tiny("c", seed=4)
    for config in (a, b, c):
        run(config, quiet=True)
    for name in ("metrics.jsonl", "evaluations.jsonl", "results.md"):
        ours, theirs, other = (Path(config.run_dir) / name for config in (a, b, c))
        if name.endswith(".md"):
            assert ours.read_text() == theirs.read_text()
            continue
        assert lines_without_times(ours) == lines_without_times(theirs)
        assert name != "metrics.jsonl" or lines_without_times(ours) != lines_without_times(other)


ON_A_BOARD = {
    "game": {"name": "nim", "params": {"most": 9, "turn_limit": 0}},
    "network": {"kind": "board", "channels": [8, 8], "trunk": [8], "policy": [8], "value": [8]},
    "league": {"scripted": {"random": 0.4}},
    "shaping": {"weight": 0},
}


@pytest.mark.parametrize("sections", [{}, ON_A_BOARD], ids=["mlp", "board"])
def test_a_run_that_was_broken_off_goes_on_as_if_it_had_not_been(tiny, nim, sections):
    whole, broken = tiny("whole", **sections), tiny("broken", **sections)
    uninterrupted = trained(whole, 6)
    trained(broken, 4)  # the last checkpoint holds all four iterations
    resumed = trained(broken, 2)
    assert (resumed.step, resumed.iteration) == (uninterrupted.step, uninterrupted.iteration) == (1536, 6)
    assert same_arrays(resumed.learner.weights(), uninterrupted.learner.weights())
    (arrays, values), (expected, expected_values) = (run.learner.snapshot() for run in (resumed, uninterrupted))
    assert {name.partition("/")[0] for name in arrays} >= {"optimizer", "environment"}
    assert same_arrays(arrays, expected)
    assert values == expected_values
    for name in ("metrics.jsonl", "evaluations.jsonl"):
        a, b = (lines_without_times(Path(config.run_dir) / name) for config in (whole, broken))
        assert a == b


def test_what_was_done_after_the_last_checkpoint_is_done_again(tiny):
    config = tiny(checkpoints={"every": 512})
    trained(config, 3)  # 768 steps, of which 512 are saved
    metrics = Path(config.run_dir) / "metrics.jsonl"
    before = lines_without_times(metrics)
    with metrics.open("a") as file:
        file.write('{"step": 1024, "half a li')
    resumed = trained(config, 0)
    assert resumed.step == 512
    assert lines_without_times(metrics) == before[:2]
    resumed.iterate()
    assert lines_without_times(metrics) == before


def test_a_damaged_checkpoint_is_set_aside(tiny):
    config = tiny()
    trained(config, 3)
    last = checkpoint_folders(Path(config.run_dir))[-1]
    (last / "training.safetensors").write_bytes(b"damaged")
    assert trained(config, 0).step == 512
    assert not last.exists() and any(path.name.endswith(last.name) for path in last.parent.iterdir())


def test_a_run_without_a_whole_checkpoint_is_refused(tiny):
    config = tiny(checkpoints={"keep": 1})
    trained(config, 1)
    (folder,) = checkpoint_folders(Path(config.run_dir))
    (folder / "policy.safetensors").unlink()
    with pytest.raises(BadCheckpoint, match="is damaged: policy.safetensors cannot be read"):
        run(config, quiet=True)
    assert folder.exists()


def test_another_configuration_in_the_same_folder_is_refused(tiny):
    config = tiny()
    trained(config, 1)
    config.save(Path(config.run_dir) / "config.yaml")
    with pytest.raises(BadConfig, match="ppo.gamma = 0.998 there, 0.5 here"):
        run(tiny(ppo={"gamma": 0.5}), quiet=True)


def test_a_start_that_failed_binds_nobody(tiny):
    (Path(tiny().run_dir)).mkdir(parents=True)
    tiny(seed=99).save(Path(tiny().run_dir) / CONFIG)  # all that a start leaves that fails before its first checkpoint
    run(tiny(), quiet=True)
    assert load_config(Path(tiny().run_dir) / CONFIG).seed == tiny().seed


def test_a_longer_budget_in_the_same_folder_goes_on(tiny):
    run(tiny(budget={"steps": 512}), quiet=True)
    assert run(tiny(budget={"steps": 768}), quiet=True).step == 768


def test_a_folder_that_cannot_be_written_is_named(tiny):
    config = tiny().model_copy(update={"run_dir": "/dev/null/run"})
    with pytest.raises(CaravanError, match="the run folder /dev/null/run cannot be written: Not a directory"):
        run(config, quiet=True)


def test_the_best_checkpoint_is_kept(tiny):
    config = tiny(checkpoints={"every": 256, "keep": 1})
    trainer = trained(config, 2)
    trainer.evaluations[-1]["scores"][0]["score"] = 2.0  # better than any later one can be
    for _ in range(4):
        trainer.iterate()
    assert trainer.best_step == 512
    assert [int(path.name[5:]) for path in checkpoint_folders(trainer.run_dir)] == [512, 1536]


def test_a_budget_in_minutes_ends_the_run(tiny):
    result = run(tiny(budget={"minutes": 0.005, "steps": None}), quiet=True)
    assert result.finished and result.step >= 256
