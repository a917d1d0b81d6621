"""The kernels of `agents.value.kernels` compiled for a game, with what its heuristics know of positions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core import config as numba_config

from agents.value import kernels
from agents.value.kernels import POOLS, TEMPLATES, Ahead, Beam, Log
from caravan_env.core.contract import GameSpec
from caravan_env.core.game import Game
from caravan_env.core.kernel import bind_loops, cache_folder


class Bound(NamedTuple):
    """What a game's value agents are made of.

    Attributes:
        kernels: compiled kernels that the templates call: the game's, and those of its features.
        templates: plain functions that stand for the features of a game without any.
        files: a file in each folder of sources that they come from.
        run: name -> compiled kernel, see `agents.value.kernels`.
        features: number of features.
        scratch: the memory that the features' kernels write to.
    """

    kernels: Mapping[str, Any]
    templates: Mapping[str, Callable[..., Any]]
    files: tuple[str, ...]
    run: dict[str, Any]
    features: int
    scratch: Any


def bound(game: Game, use_features: bool = True) -> Bound:
    """Return the kernels for a game; the scratch memory is new, so that threads can have one each.

    Args:
        game: the variant.
        use_features: whether the game's own features are among the network's inputs, if it has any.
    """
    module = _features(game.name) if use_features else None
    rules: dict[str, Any] = {**game.spec.kernels(), "settle": game.loops["settle"]}
    files: tuple[str, ...] = (str(game.spec.rules.__file__), str(kernels.__file__))
    if module is None:
        templates: dict[str, Callable[..., Any]] = {"features": kernels.no_features, "candidates": kernels.all_legal}
        run = _compiled(game, f"{game.name}_plain", {**templates, **TEMPLATES}, rules, files)
        return Bound(rules, templates, files, run, 0, np.zeros(game.num_actions, np.uint8))
    rules |= {"features": module.features, "candidates": module.candidates}
    files += (str(module.__file__),)
    run = _compiled(game, game.name, TEMPLATES, rules, files)
    return Bound(rules, {}, files, run, module.size(game.players), module.new_scratch())


def new_beam(game: Game, width: int, depth: int, ends: int = 1) -> Beam:
    """Return the memory of a search of the turn.

    Args:
        game: the variant.
        width: positions kept after each action.
        depth: actions that it goes ahead at most.
        ends: ends of the turn that are kept.
    """
    starts = np.cumsum([0, width, width, ends])
    places = int(starts[-1]) + 1  # the last one is being looked at
    words = np.zeros((places, -(-game.spec.state_dtype.itemsize // 8)), np.uint64)
    return Beam(
        rows=np.frombuffer(words, game.spec.state_dtype),
        words=words,
        values=np.zeros(places),
        hashes=np.zeros(places, np.uint64),
        paths=np.zeros((places, depth), np.int64),
        lengths=np.zeros(places, np.int64),
        starts=starts,
        counts=np.zeros(POOLS, np.int64),
        chosen=np.zeros(1, np.int64),
    )


def new_ahead(game: Game, ends: int, samples: int, width: int, depth: int) -> Ahead:
    """Return the memory of looking beyond the own turn.

    Args:
        game: the variant.
        ends: ends of the turn that are played on.
        samples: how often, before the worse half of them is dropped; 0: not at all.
        width: positions kept by the searches of the turns that follow.
        depth: actions that they go ahead at most.
    """
    return Ahead(
        samples=np.array([samples]),
        totals=np.zeros(ends),
        played=np.zeros(ends, np.int64),
        rows=np.zeros(1, game.spec.state_dtype),
        stream=np.zeros(1, np.uint64),
        weights=np.zeros(game.spec.max_outcomes, np.int64),
        beam=new_beam(game, width, depth),
    )


def new_log(game: Game, observation: int, features: int, decisions: int) -> Log:
    """Return an empty log."""
    return Log(
        np.zeros((decisions, observation), np.uint8),
        np.zeros((decisions, features), np.float32),
        np.zeros(decisions, np.int64),
        np.zeros(decisions, np.float32),
        np.zeros(decisions, np.float32),
    )


_compiled_for: dict[tuple[int, str], tuple[GameSpec, dict[str, Any]]] = {}


def _compiled(
    game: Game,
    name: str,
    templates: Mapping[str, Callable[..., Any]],
    rules: Mapping[str, Any],
    files: tuple[str, ...],
) -> dict[str, Any]:
    key = id(game.spec), name
    if key not in _compiled_for:
        if not numba_config.DISABLE_JIT and not any(cache_folder(*files).rglob(f"*decide_rows__{name}-*.nbi")):
            print(f"agents: compiling the value agents of {game.name!r} (once; later starts are fast)", file=sys.stderr)
        _compiled_for[key] = game.spec, bind_loops(templates, name, rules, *files)
    return _compiled_for[key][1]  # the spec is kept, so that no other one gets its id


def _features(game: str) -> ModuleType | None:
    """Return the module with a game's features, None if it has none."""
    name = f"agents.heuristic.{game}.features"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):
            return None
        raise
