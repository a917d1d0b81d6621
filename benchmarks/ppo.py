"""What the drop-in policy and buffer gain MaskablePPO: `python benchmarks/ppo.py [--game caravan] [--rounds 2]`.

The same environment, network widths, batch size and epochs with sb3-contrib's own policy and with ours, in turn, so
that both see the same state of the machine. A step is a decision of the learner, its share of learning included.
"""

from __future__ import annotations

import argparse
import statistics
import time
from functools import partial

import torch
from sb3_contrib import MaskablePPO

from caravan_env import make_game
from caravan_env.core.machine import machine
from caravan_env.envs import SeatVecEnv
from train.config import NetworkConfig
from train.network import make_network
from train.policy import BooleanMaskBuffer, FastMaskedPolicy

SETTINGS = {"n_steps": 32, "batch_size": 1024, "n_epochs": 4, "device": "cpu", "seed": 0}
ROWS = 256
THREADS = 2


def models(name: str) -> dict[str, MaskablePPO]:
    """Return both learners of a game for two; the environment's opponents play at random."""
    game = make_game(name, players=2)
    network = NetworkConfig()
    widths = {"net_arch": {"pi": [*network.trunk, *network.policy], "vf": [*network.trunk, *network.value]}}
    fast = {
        "policy": FastMaskedPolicy,
        "rollout_buffer_class": BooleanMaskBuffer,
        "policy_kwargs": {"make_network": partial(make_network, game, network), "scale": game.layout.scale**0},
    }
    stock = {"policy": "MlpPolicy", "policy_kwargs": widths}
    return {
        label: MaskablePPO(env=SeatVecEnv(game, ROWS, opponents="random", seed=0), **SETTINGS, **choice)
        for label, choice in (("stock", stock), ("ours", fast))
    }


def steps_per_second(model: MaskablePPO) -> float:
    """Return the speed of a rollout and what is learned from it."""
    start = time.perf_counter()
    model.learn(ROWS * SETTINGS["n_steps"], reset_num_timesteps=False)
    return ROWS * SETTINGS["n_steps"] / (time.perf_counter() - start)


def main() -> None:
    """Measure both in turn and print the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="caravan")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(THREADS)
    both = models(arguments.game)
    for model in both.values():
        steps_per_second(model)
    speeds = {label: [] for label in both}
    for _ in range(arguments.rounds):
        for label, model in both.items():
            speeds[label].append(steps_per_second(model))
    stock, ours = (statistics.median(speeds[label]) for label in ("stock", "ours"))
    print(f"{machine()}")
    print(f"stock {stock:,.0f} steps/s, ours {ours:,.0f} steps/s: {ours / stock:.2f} times as fast")


if __name__ == "__main__":
    main()
