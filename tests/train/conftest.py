"""A training that ends in seconds, and what the tests compare runs by."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from train.config import Config, make_config

TINY: dict[str, Any] = {
    "game": {"name": "caravan", "params": {"turn_limit": 12}},
    "seed": 3,
    "threads": 1,
    "budget": {"steps": 1536},
    "ppo": {"n_envs": 16, "n_steps": 16, "batch_size": 128, "n_epochs": 2},
    "network": {"trunk": [16], "policy": [16], "value": [16]},
    "league": {"scripted": {"random": 0.2, "greedy": 0.2}, "add_every": 512, "keep": 2},
    "evaluation": {"opponents": ["random"], "games": 4, "every": 512, "final_games": 4},
    "checkpoints": {"every": 256, "keep": 3},
}


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Config]:
    """Return a function that makes the tiny configuration, with sections changed, in a folder of the test."""

    def make(folder: str = "run", **sections: Any) -> Config:
        values: dict[str, Any] = {**TINY, "run_dir": str(tmp_path / folder)}
        for name, section in sections.items():
            values[name] = {**values.get(name, {}), **section} if isinstance(section, dict) else section
        return make_config(values)

    return make


def lines_without_times(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines without what depends on the clock."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{name: value for name, value in line.items() if not name.startswith("time/")} for line in lines]
