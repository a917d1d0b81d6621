"""Views of the games for the usual libraries; importing this package registers the Gymnasium ids.

| library | view |
| --- | --- |
| PettingZoo | `env`, `raw_env`: all seats, one acting at a time |
| Gymnasium | `SeatEnv`, `gymnasium.make("caravan_env/Caravan-v0")`: one seat against opponents |
| Stable-Baselines3 | `SeatVecEnv`: one seat in each of many games, batched |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from caravan_env.envs.registration import register_envs

if TYPE_CHECKING:
    from caravan_env.envs.aec import env, raw_env
    from caravan_env.envs.common import Shaping
    from caravan_env.envs.opponents import FinishedGames, OpponentPool
    from caravan_env.envs.single import SeatEnv
    from caravan_env.envs.vector import SeatVecEnv

_LAZY = {
    "env": "aec",
    "raw_env": "aec",
    "SeatEnv": "single",
    "SeatVecEnv": "vector",
    "Shaping": "common",
    "OpponentPool": "opponents",
    "FinishedGames": "opponents",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


register_envs()

__all__ = ["FinishedGames", "OpponentPool", "SeatEnv", "SeatVecEnv", "Shaping", "env", "raw_env", "register_envs"]
