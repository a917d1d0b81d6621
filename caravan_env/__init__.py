"""Trading board games as reinforcement-learning environments with a numba-jitted core.

`make_game` gives a variant of a game; `env` and `raw_env` its PettingZoo view; `Batch` many games at once.
Nothing but numpy and numba is imported until it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from caravan_env.core.batch import Batch
from caravan_env.core.contract import CHANCE, TERMINAL
from caravan_env.core.game import Game, State
from caravan_env.core.registry import game_names, make_game, register_game

if TYPE_CHECKING:
    from caravan_env.envs.aec import env, raw_env

try:
    __version__ = version("caravan_env")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0.0.0"

_LAZY = {"env": "caravan_env.envs.aec", "raw_env": "caravan_env.envs.aec"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'caravan_env' has no attribute {name!r}")


__all__ = [
    "CHANCE",
    "TERMINAL",
    "Batch",
    "Game",
    "State",
    "__version__",
    "env",
    "game_names",
    "make_game",
    "raw_env",
    "register_game",
]
