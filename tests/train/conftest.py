"""A training that ends in seconds."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from caravan_env.core import registry
from caravan_env.core.observation import ObservationLayout
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


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Threads that wait for each other at every tiny layer would cost more than the layers."""
    torch.set_num_threads(1)


@pytest.fixture
def tiny(tmp_path: Path) -> Callable[..., Config]:
    """Return a function that makes the tiny configuration, with sections changed, in a folder of the test."""

    def make(folder: str = "run", **sections: Any) -> Config:
        values: dict[str, Any] = {**TINY, "run_dir": str(tmp_path / folder)}
        for name, section in sections.items():
            values[name] = {**values.get(name, {}), **section} if isinstance(section, dict) else section
        return make_config(values)

    return make


@pytest.fixture
def nim() -> Iterator[None]:
    """Register the tiny game of the tests of the views, as one with a board of a single place, where tokens lie."""
    path = Path(__file__).parents[1] / "envs" / "nim_game.py"
    spec = importlib.util.spec_from_file_location("nim_game", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nim_game"] = module
    spec.loader.exec_module(module)
    registry.register_game(
        dataclasses.replace(module.SPEC, observation=_on_a_board, action_planes=lambda _: np.array([[[0]], [[1]]]))
    )
    yield
    del registry._specs["nim"]


def _on_a_board(params: Any) -> ObservationLayout:
    return ObservationLayout(
        ("tokens", (params.players, 1, 1), 1, "by seat, own first"), ("pile", (1,), 0.5, ""), ("taken", (1,), 1, "")
    )
