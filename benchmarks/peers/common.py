"""What the worker scripts share: their options, a timed loop and the line they print. Standard library only."""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

ROUNDS = 5  # as many as caravan_env.bench has, so that best of all is the same for everyone


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return the options that every worker takes; the caller has already pinned the process to `--core`."""
    options = argparse.ArgumentParser(description=doc)
    options.add_argument("--seconds", type=float, default=1.0, help="how long a round of a figure is")
    options.add_argument("--core", type=int, default=0, help="the core that the process is pinned to")
    options.add_argument("--game", default="caravan", help="the game of our own benchmark; peers ignore it")
    return options


def rate(work: Callable[[], int], seconds: float, rounds: int = ROUNDS) -> float:
    """Return the steps per second of the best of `rounds` rounds; `work` does some steps and returns how many."""
    work()
    best = 0.0
    for _ in range(rounds):
        steps, begin, spent = 0, time.perf_counter(), 0.0
        while spent < seconds:
            steps += work()
            spent = time.perf_counter() - begin
        best = max(best, steps / spent)
    return best


def pick_from(mask: Any, start: int) -> int:
    """Return the first legal action from `start` on, cyclically, as `caravan_env.bench` chooses in our own loops.

    Args:
        mask: (actions,) array, nonzero where the action is legal.
        start: where to begin, any integer.
    """
    offset = start % len(mask)
    ahead = int(mask[offset:].argmax())
    return offset + ahead if mask[offset + ahead] else int(mask.argmax())


def versions(*packages: str) -> dict[str, str]:
    """Return the installed version of each package, and Python's."""
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}


def emit(name: str, metric: str, steps_per_second: float, **detail: Any) -> None:
    """Print one figure as one line of JSON, which is all that peers.py reads."""
    if hasattr(os, "sched_getaffinity"):
        detail["cores"] = sorted(os.sched_getaffinity(0))
    figure = {"name": name, "metric": metric, "steps_per_second": steps_per_second, "detail": detail}
    print(json.dumps(figure), flush=True)
