"""The registered games. A game registers by import path, so that nothing is imported before it is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from caravan_env.core.contract import GameSpec
from caravan_env.core.errors import UnknownName, nearest
from caravan_env.core.game import Game

_paths: dict[str, str] = {
    "caravan": "caravan_env.games.caravan:SPEC",
    "century": "caravan_env.games.century:SPEC",
    "ukraine": "caravan_env.games.ukraine:SPEC",
}
_specs: dict[str, GameSpec] = {}


def register_game(game: GameSpec | str, name: str | None = None) -> None:
    """Register a game: a spec, or `name` with an import path "module:ATTRIBUTE" that is loaded when first asked for."""
    if isinstance(game, GameSpec):
        _specs[game.name] = game
    elif name is not None:
        _paths[name] = game
    else:
        raise TypeError("an import path is registered under a name: register_game(path, name)")


def game_names() -> list[str]:
    """Return the names of the registered games."""
    return sorted({*_paths, *(name for name in _specs if ":" not in name)})


def game_spec(name: str) -> GameSpec:
    """Return the spec of a registered game, or of an import path "module:ATTRIBUTE".

    Raises:
        UnknownName: no such game; the message offers the nearest one.
    """
    if name not in _specs:
        if name not in _paths and ":" not in name:
            raise UnknownName(f"there is no game {name!r}: {nearest(name, game_names())}")
        spec = _load(_paths.get(name, name))
        _specs[name] = spec
        if spec.name not in _paths:
            _specs.setdefault(spec.name, spec)  # records name the game, not its import path
    return _specs[name]


def make_game(name: str, **params: Any) -> Game:
    """Return a variant of a registered game, for example `make_game("caravan", players=3)`."""
    return Game(game_spec(name), params)


def _load(path: str) -> GameSpec:
    module_name, _, attribute = path.partition(":")
    try:
        spec = getattr(importlib.import_module(module_name), attribute)
    except Exception as error:
        raise UnknownName(f"the game {path!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(spec, GameSpec):
        raise UnknownName(f"{path!r} is no GameSpec but a {type(spec).__name__}")
    return spec
