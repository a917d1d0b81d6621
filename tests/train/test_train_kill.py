"""Runs that are killed: nothing is corrupted, at most one checkpoint interval is lost, and Ctrl-C saves."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.neural import checkpoint_folders
from train.checkpoint import read_checkpoint, step_of

EVERY = 256
END = 6144


@pytest.fixture
def command(tiny, tmp_path):
    config = tiny(budget={"steps": END}, evaluation={"every": 2048}, checkpoints={"every": EVERY})
    config.save(tmp_path / "tiny.yaml")
    return [sys.executable, "-m", "train", str(tmp_path / "tiny.yaml")], config


def start(arguments: list[str]) -> subprocess.Popen[str]:
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    return subprocess.Popen(arguments, env=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def last_line(path: Path) -> int:
    """Return the step of the last whole line of metrics, 0 if there is none."""
    whole = path.read_text().rpartition("\n")[0].splitlines() if path.exists() else []
    return int(json.loads(whole[-1])["step"]) if whole else 0


def wait_for_step(process: subprocess.Popen[str], metrics: Path, step: int) -> None:
    while last_line(metrics) < step:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        time.sleep(0.005)


@pytest.mark.slow
def test_a_run_survives_being_killed(command):
    arguments, config = command
    run_dir, rng = Path(config.run_dir), random.Random(0)
    metrics = run_dir / "metrics.jsonl"
    for _ in range(3):
        process = start(arguments)
        wait_for_step(process, metrics, last_line(metrics) + rng.randint(1, 3) * EVERY)
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        reached, saved = last_line(metrics), checkpoint_folders(run_dir)
        read_checkpoint(saved[-1], config.game.make())
        assert reached - step_of(saved[-1]) <= EVERY
    process = start(arguments)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    steps = [json.loads(line)["step"] for line in metrics.read_text().splitlines()]
    assert steps == list(range(EVERY, END + 1, EVERY))
    evaluated = [json.loads(line)["step"] for line in (run_dir / "evaluations.jsonl").read_text().splitlines()]
    assert evaluated == [*range(2048, END + 1, 2048), END]  # the last one is the final evaluation
    assert not list((run_dir / "checkpoints").glob(".*"))


def test_ctrl_c_saves_and_says_where(command):
    arguments, config = command
    run_dir = Path(config.run_dir)
    process = start(arguments)
    wait_for_step(process, run_dir / "metrics.jsonl", EVERY)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=300)
    last = checkpoint_folders(run_dir)[-1]
    assert process.returncode == 130, errors
    assert str(last) in out and f"saved {last}" in errors.replace("\n", "")
    assert "Traceback" not in errors
    assert step_of(last) == last_line(run_dir / "metrics.jsonl")
