"""What a tree search judges positions by: a value for each seat, and which actions to look at, and which of them first.

An evaluator is two or three kernels and their memory `X`, any NamedTuple of arrays:

| kernel | does |
| --- | --- |
| `leaf(S, i, X, values)` | writes one float64 in [-1, 1] per seat: what row i, which is not finished, is worth to it; a seat is to move or chance is due |
| `prior(S, i, X, actions, count, out)` | writes a float64 logit for each of `actions[:count]`, legal actions of row i |
| `list_actions(S, i, X, mask, actions)` | writes the legal actions that are worth a look, each once, and returns how many, at least one; `mask` is that of row i; without it all legal actions are |

None changes row i or the mask, or allocates.
"""  # noqa: E501

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numba.core import config as numba_config
from numpy.typing import NDArray

from agents.search import mcts
from agents.search.judges import (
    MARGIN_SCALE,
    Trial,
    by_margin,
    by_potential,
    end_or_value,
    every_action,
    look_ahead,
    no_preference,
    play_out,
    useful_actions,
)
from caravan_env.core.contract import GameSpec
from caravan_env.core.game import Game
from caravan_env.core.kernel import bind_loops, cache_folder

STEPS = 20  # random actions before a position is judged


@dataclasses.dataclass(frozen=True)
class Evaluator:
    """What a tree search judges positions by.

    Attributes:
        name: becomes part of the names of the kernels compiled for it.
        kernels: compiled kernels, by the names by which the templates call them.
        templates: plain functions that are compiled per game before those of the search, in the order in which they
            call each other. `leaf` and `prior`, and `list_actions` if there is one, are among the kernels or the
            templates. They may call the game's kernels, `settle`, `draw_outcome` and `end_values`.
        memory: (game, stream) -> X; `stream`, (1,) uint64, is where all that is random has to come from.
        files: a file in each folder of sources that the kernels and templates come from.
    """

    name: str
    kernels: Mapping[str, Any]
    templates: Mapping[str, Callable[..., Any]]
    memory: Callable[[Game, NDArray[np.uint64]], Any]
    files: tuple[str, ...]


def _trial(game: Game, stream: NDArray[np.uint64], steps: int, memory: Any, scratch: Any = None) -> Trial:
    return Trial(
        np.zeros(1, game.spec.state_dtype),
        np.zeros(game.players),
        np.zeros(game.spec.max_outcomes, np.int64),
        stream,
        np.array([steps, margin_scale(game)]),
        memory,
        np.zeros(0) if scratch is None else scratch,
    )


def margin_scale(game: Game) -> float:
    """Return the points of margin that a search counts as 0.76, 0 where the returns are in [-1, 1]."""
    return MARGIN_SCALE if game.params.returns == "margin" and game.players > 1 else 0.0


def heuristic(module: ModuleType) -> Evaluator:
    """Return the evaluator by the potential of a game's scripted agents: that of leaves, and that after each action.

    Only the actions that its heuristics find worth a look are looked at, see docs/agents.md on `candidates`.
    """
    features = _features(module)
    kernels, lists = {"potentials": module.potentials}, {}
    if features is not None:
        kernels["candidates"], lists["list_actions"] = features.candidates, useful_actions
    return Evaluator(
        "heuristic",
        kernels,
        {"leaf": by_potential, "appraise": by_potential, "worth": end_or_value, "prior": look_ahead, **lists},
        lambda game, stream: _trial(
            game, stream, 0, module.new_memory(), None if features is None else features.new_scratch()
        ),
        (str(module.__file__),),
    )


def _features(module: ModuleType) -> ModuleType | None:
    """Return the module `features` of a game's heuristics, None if they have none."""
    name = f"{module.__name__}.features"
    return importlib.import_module(name) if hasattr(module, "__path__") and find_spec(name) else None


def rollout(module: ModuleType | None, steps: int = STEPS) -> Evaluator:
    """Return the evaluator by random play, judged after `steps` actions by the potential or, without one, the lead."""
    kernels = {"potentials": module.potentials} if module else {}
    return Evaluator(
        "rollout",
        kernels,
        {
            "appraise": by_potential if module else by_margin,
            "worth": end_or_value,
            "leaf": play_out,
            "prior": no_preference,
        },
        lambda game, stream: _trial(game, stream, steps, module.new_memory() if module else np.zeros(0)),
        (str(module.__file__),) if module else (),
    )


_compiled: dict[tuple[int, str, tuple[str, ...]], tuple[GameSpec, dict[str, Any]]] = {}


def bind(game: Game, evaluator: Evaluator) -> dict[str, Any]:
    """Return the kernels of the search, compiled for a game and an evaluator: name -> kernel, see `mcts.TEMPLATES`."""
    key = id(game.spec), evaluator.name, evaluator.files
    if key not in _compiled:
        kernels = {**game.spec.kernels(), **{name: game.loops[name] for name in ("draw_outcome", "settle")}}
        files = dict.fromkeys((str(game.spec.rules.__file__), str(mcts.__file__), __file__, *evaluator.files))
        lists = {} if "list_actions" in evaluator.kernels else {"list_actions": every_action}
        _announce_compilation(game.name, evaluator.name, *files)
        run = bind_loops(
            {"end_values": mcts.end_values, **lists, **evaluator.templates, **mcts.TEMPLATES},
            f"{game.name}_{evaluator.name}",
            {**kernels, **evaluator.kernels},
            *files,
        )
        _compiled[key] = game.spec, run  # the spec is kept, so that no other one gets its id
    return _compiled[key][1]


def _announce_compilation(game: str, evaluator: str, *files: str) -> None:
    """Say on stderr, while nothing of a search is compiled, that the first decision takes a while."""
    if not numba_config.DISABLE_JIT and not any(cache_folder(*files).rglob(f"*search__{game}_{evaluator}*.nbi")):
        print(f"agents: compiling the tree search of {game!r} (once; later starts are fast)", file=sys.stderr)


__all__ = ["Evaluator", "Trial", "bind", "heuristic", "margin_scale", "rollout"]
