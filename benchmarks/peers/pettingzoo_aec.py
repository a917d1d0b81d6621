"""PettingZoo, connect_four_v3.raw_env: the AEC loop of its documentation, without any of its wrappers.

`env()` puts three wrappers around raw_env (TerminateIllegal, AssertOutOfBounds, OrderEnforcing); raw_env has none.
"""

from __future__ import annotations

import os
import random
import warnings
from typing import Any

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
warnings.simplefilter("ignore", DeprecationWarning)  # importing an environment module is the API of before 1.27

from common import emit, parser, pick_from, rate, versions  # noqa: E402
from pettingzoo.classic import connect_four_v3  # noqa: E402

COLUMNS = 7


def play(env: Any, rng: random.Random) -> int:
    """Play one game; return the number of moves (the closing step(None) of each agent is timed, not counted)."""
    env.reset()
    moves, draw = 0, rng.random
    for _ in env.agent_iter():
        observation, _reward, termination, truncation, _info = env.last()
        if termination or truncation:
            action = None
        else:
            action = pick_from(observation["action_mask"], int(draw() * COLUMNS))
            moves += 1
        env.step(action)
    return moves


def main() -> None:
    """Measure the loop."""
    options = parser(__doc__).parse_args()
    env, rng = connect_four_v3.raw_env(), random.Random(1)
    speed = rate(lambda: play(env, rng), options.seconds)
    about = {"versions": versions("pettingzoo", "gymnasium", "numpy"), "game": "connect_four_v3", "wrappers": 0}
    emit("pettingzoo", "aec", speed, **about, actions="the first legal one from a random column")


if __name__ == "__main__":
    main()
