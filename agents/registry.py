"""Agents by their spec, a string: `make_agent("planner:beam=64", game)`.

| spec | agent |
| --- | --- |
| `random`, `first` | agents for every game, see `agents.simple` |
| `greedy`, `planner`, ... | what the game brings with it, see `HEURISTICS` |
| `NAME:VALUE`, `NAME:key=value,key=value` | the same with options; a lone value is the agent's first option |
| `best` | the strongest agent known for the game and number of players, see `agents.shipped` |
| `policy:PATH` | a trained policy; one that is a value network searches its turn with `policy:PATH,beam=8` |
| `noisy:SHARE:SPEC` | another agent that plays a random action with a probability, see `agents.noisy` |
| `FILE.py:NAME` | your own: a class derived from `agents.base.Agent` or with `act(state)`, a function of a state |
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba.core import config as numba_config
from numpy.typing import NDArray

from agents.base import Agent, BadAgent
from agents.noisy import NoisyAgent
from agents.search.agent import MctsAgent
from agents.shipped import best_spec
from agents.simple import FirstAgent, RandomAgent
from caravan_env.core.errors import BadParams, UnknownName, nearest
from caravan_env.core.game import Game, State
from caravan_env.core.kernel import cache_folder

#: Game -> module with its scripted agents: `AGENTS` (name -> class) and, if it has one, `potential(S, seats)`; for the
#: tree search the same as a kernel, `potentials(S, i, X, values)`, whose memory X is made by `new_memory()`.
HEURISTICS = {
    "caravan": "agents.heuristic.caravan",
    "century": "agents.heuristic.century",
    "ukraine": "agents.heuristic.ukraine",
}
#: Agents for every game.
SIMPLE: dict[str, type[Agent]] = {"random": RandomAgent, "first": FirstAgent, "mcts": MctsAgent}
POLICY = "policy"
SEARCH_OPTIONS = ("beam", "depth", "ends", "samples", "reply")  # of a policy that is a value network
NOISY = "noisy"
BEST = "best"
_FILE_MARK = ".py:"
_TRUTH = {"true": True, "false": False}

Potential = Callable[[NDArray[np.void], NDArray[np.int64]], NDArray[np.float64]]


def agent_names(game: str | None = None) -> list[str]:
    """Return the names of the agents for a game, or for any game; `policy:PATH` and `FILE.py:NAME` come on top."""
    modules = [game] if game else list(HEURISTICS)
    return sorted({*SIMPLE, *(name for module in modules for name in _heuristic_agents(module))})


_announced: set[str] = set()


def make_agent(spec: str, game: Game, seed: int = 0) -> Agent:
    """Return the agent of a spec, see the table above.

    Args:
        spec: what to make; it becomes the agent's name.
        game: the variant it is to play.
        seed: where its own randomness starts.

    Raises:
        UnknownName: no such agent or option; the message offers the nearest one.
        BadParams: an option has a value that is not possible.
        BadAgent: a file or policy that cannot be loaded.
    """
    name, _, rest = spec.strip().partition(":")
    if name == NOISY:
        agent = _noisy(rest, game, seed)
    elif name == BEST:
        agent = make_agent(with_options(best_spec(game), rest), game, seed)
    elif _FILE_MARK in spec:
        agent = _from_file(spec.strip(), game, seed)
    elif name == POLICY:
        agent = _policy(rest, game, seed)
    else:
        kind = _agent_class(name, game)
        agent = kind(game, seed, **_read_options(name, kind, rest))
        if name not in SIMPLE:
            _announce_compilation(game)
    agent.name = spec.strip()
    return agent


def register_heuristics(game: str, module: str) -> None:
    """Register the import path of a module with a game's scripted agents, see `HEURISTICS`."""
    HEURISTICS[game] = module


def split_specs(text: str) -> list[str]:
    """Return the specs of a comma-separated list; a piece like `key=value` belongs to the spec before it."""
    specs: list[str] = []
    for piece in filter(None, map(str.strip, text.split(","))):
        if specs and "=" in piece and ":" not in piece.partition("=")[0]:
            specs[-1] += f",{piece}"
        else:
            specs.append(piece)
    return specs


def heuristic_potential(game: Game) -> Potential | None:
    """Return the game's own `potential(S, seats)`, (rows,) float64 in units of the return, or None if it has none."""
    module = heuristics(game.name)
    return getattr(module, "potential", None)


def heuristics(game: str) -> ModuleType | None:
    """Return the module with a game's scripted agents, None if it has none."""
    return importlib.import_module(HEURISTICS[game]) if game in HEURISTICS else None


def _heuristic_agents(game: str) -> Mapping[str, type[Agent]]:
    module = heuristics(game)
    return module.AGENTS if module else {}


def _announce_compilation(game: Game) -> None:
    """Say on stderr, while nothing of a game's heuristics is compiled, that the first decisions take a while."""
    module = heuristics(game.name)
    if module is None or module.__file__ is None or numba_config.DISABLE_JIT or game.name in _announced:
        return
    _announced.add(game.name)
    if not any(cache_folder(module.__file__, str(game.spec.rules.__file__)).rglob("*.nbi")):
        print(f"agents: compiling the scripted agents of {game.name!r} (once; later starts are fast)", file=sys.stderr)


def _agent_class(name: str, game: Game) -> type[Agent]:
    known = {**SIMPLE, **_heuristic_agents(game.name)}
    if name in known:
        return known[name]
    allowed = [*known, BEST, f"{POLICY}:PATH", f"{NOISY}:SHARE:SPEC", "FILE.py:NAME"]
    lack = "" if game.name in HEURISTICS else f" ({game.name} has no scripted agents of its own)"
    raise UnknownName(f"there is no agent {name!r}{lack}: {nearest(name, allowed)}")


def _read_options(name: str, kind: type[Agent], text: str) -> dict[str, Any]:
    """Return the options in the text after an agent's name: its class's keyword-only parameters."""
    parameters = inspect.signature(kind).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    if text and not defaults:
        raise UnknownName(f"agent {name!r} has no options, so {text!r} cannot be set")
    options: dict[str, Any] = {}
    for piece in filter(None, text.split(",")):
        key, equals, value = piece.partition("=")
        if not equals:
            key, value = next(iter(defaults)), piece
        if key not in defaults:
            raise UnknownName(f"agent {name!r} has no option {key!r}: {nearest(key, defaults)}")
        options[key] = _read_value(f"{name}:{key}", defaults[key], value)
    return options


def _read_value(option: str, default: Any, text: str) -> Any:
    """Return the text as a value of the type of the option's default."""
    kind = type(default)
    try:
        return _TRUTH[text.lower()] if kind is bool else kind(text)
    except (ValueError, KeyError) as error:
        raise BadParams(f"{option} = {text!r} is not possible: it must be of type {kind.__name__}") from error


def with_options(spec: str, options: str) -> str:
    """Return a spec with further options, which win over its own."""
    if not options:
        return spec
    name, colon, _ = spec.partition(":")
    return f"{spec},{options}" if colon else f"{name}:{options}"


def _policy(text: str, game: Game, seed: int) -> Agent:
    path, *pieces = text.split(",")
    if not path:
        raise BadAgent("a policy is named by its path: policy:PATH")
    try:
        neural = importlib.import_module("agents.neural")
    except ImportError as error:
        raise BadAgent(f"policy:{path} needs what training needs; install caravan_env[train] ({error})") from error
    agent: Agent = neural.load_policy(path, game, seed, **search_options(path, pieces))
    return agent


def search_options(path: str, pieces: list[str]) -> dict[str, int]:
    """Return the options after the path of a policy; raises UnknownName or BadParams."""
    options: dict[str, int] = {}
    for piece in pieces:
        key, _, value = piece.partition("=")
        if key not in SEARCH_OPTIONS:
            raise UnknownName(f"policy:{path} has no option {key!r}: {nearest(key, SEARCH_OPTIONS)}")
        options[key] = _read_value(f"policy:{key}", 0, value)
    return options


def noisy_parts(rest: str) -> tuple[float, str]:
    """Return the share and the inner spec of the text after `noisy:`; raises BadAgent."""
    text, _, inner = rest.partition(":")
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not (0 <= share <= 1 and inner):
        raise BadAgent(
            f"{NOISY}:{rest} is not of the form {NOISY}:SHARE:SPEC with a share of 0 to 1, for example noisy:0.2:greedy"
        )
    return share, inner


def _noisy(rest: str, game: Game, seed: int) -> Agent:
    share, inner = noisy_parts(rest)
    return NoisyAgent(make_agent(inner, game, seed), share, seed)


# --- agents from a user's file ---------------------------------------------------------------------------------------


class ForeignAgent(Agent):
    """Wraps anything that names an action for a state."""

    def __init__(self, game: Game, seed: int, choose: Callable[[State], Any]) -> None:
        super().__init__(game, seed)
        self._choose = choose

    def act(self, state: State) -> int:
        """Return the wrapped choice."""
        return self._whole(self._choose(state))


def _from_file(spec: str, game: Game, seed: int) -> Agent:
    path, _, name = spec.rpartition(":")
    thing = _find(_load_file(path), path, name)
    if inspect.isclass(thing):
        return _from_class(thing, spec, game, seed)
    if not callable(thing):
        raise BadAgent(f"{name} in {path} is a {type(thing).__name__}; it must be a class or a function")
    return ForeignAgent(game, seed, thing)


def _from_class(kind: Any, spec: str, game: Game, seed: int) -> Agent:
    path, _, name = spec.rpartition(":")
    if inspect.isabstract(kind) or not callable(getattr(kind, "act", None)):
        raise BadAgent(f"class {name} in {path} lacks the method act(state)")
    try:
        return kind(game, seed) if issubclass(kind, Agent) else ForeignAgent(game, seed, kind().act)
    except Exception as error:
        raise BadAgent(f"class {name} in {path} cannot be made: {type(error).__name__}: {error}") from error


def _load_file(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        raise BadAgent(f"there is no agent file {path}")
    spec = importlib.util.spec_from_file_location(f"agent_file_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise BadAgent(f"the agent file {path} cannot be loaded: it is no Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BadAgent(f"the agent file {path} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _find(module: ModuleType, path: str, name: str) -> Any:
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    if name not in vars(module):
        raise BadAgent(f"there is no {name!r} in {path}: {nearest(name, own)}")
    return getattr(module, name)
