"""Gymnasium ids of the games: "caravan_env/NAME-v0", with NAME in camel case."""

from __future__ import annotations

import gymnasium

from caravan_env.core.registry import game_names

NAMESPACE = "caravan_env"
ENV_VERSION = 0


def env_id(game: str) -> str:
    """Return the Gymnasium id of a registered game."""
    words = game.replace("-", "_").split("_")
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in words)}-v{ENV_VERSION}"


def register_envs() -> list[str]:
    """Register every game that has no id yet and return the ids of all; call it again after adding a game."""
    ids = {env_id(game): game for game in game_names()}
    for name in ids.keys() - gymnasium.registry.keys():
        gymnasium.register(name, entry_point="caravan_env.envs.single:SeatEnv", kwargs={"game": ids[name]})
    return sorted(ids)
