"""What a person can choose for a new game, and the check of what a request has chosen.

Requests come from a browser, so they may neither name a file nor a module: an agent is one of the game's by name, a
switch without fixed choices is a number, or a value that a variant of the game or the preset has. Whoever starts the
server may name anything; that is the preset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.registry import agent_names
from caravan_env.core.contract import GameSpec
from caravan_env.core.errors import BadParams, UnknownName, nearest
from caravan_env.core.registry import game_names, game_spec
from caravan_env.viewer.frames import seat_colours

DEFAULT_AGENT = "greedy"


@dataclasses.dataclass(frozen=True)
class Preset:
    """What the form of a new game shows first.

    Attributes:
        game: name of a registered game.
        switches: rule switches of that game that differ from their defaults.
        agents: specs of the opponents in the order of their seats.
        seat: the person's seat.
    """

    game: str
    switches: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    agents: Sequence[str] = ()
    seat: int = 0


def menu(preset: Preset) -> dict[str, Any]:
    """Return everything that can be chosen, and the preset, as JSON values."""
    return {
        "games": [_describe(game_spec(name), preset) for name in game_names()],
        "preset": dataclasses.asdict(preset),
    }


def _describe(spec: GameSpec, preset: Preset) -> dict[str, Any]:
    agents = allowed_agents(spec.name, preset)
    return {
        "name": spec.name,
        "title": spec.title,
        "switches": list(_switches(spec, preset)),
        "variants": {name: dict(values) for name, values in spec.variants.items()},
        "agents": agents,
        "agent": DEFAULT_AGENT if DEFAULT_AGENT in agents else agents[0],
        "colours": seat_colours(spec),
    }


def _switches(spec: GameSpec, preset: Preset) -> Iterator[dict[str, Any]]:
    """Yield the switches; `choices` is None for a number, which the game itself checks."""
    for name, default, choices, meaning in spec.params_type.describe():
        entry = {"name": name, "default": default, "meaning": meaning, "choices": choices}
        if choices is None and type(default) not in (int, float):
            values = [default, *(variant[name] for variant in spec.variants.values() if name in variant)]
            if spec.name == preset.game and name in preset.switches:
                values.append(preset.switches[name])
            entry["choices"] = [value for k, value in enumerate(values) if value not in values[:k]]
        yield entry


def allowed_agents(game: str, preset: Preset) -> list[str]:
    """Return the agents that a request may name; those of the preset come first."""
    own = list(preset.agents) if game == preset.game else []
    return list(dict.fromkeys([*own, *agent_names(game)]))


def check_game(name: str) -> GameSpec:
    """Return the spec of a registered game.

    Raises:
        UnknownName: there is none of that name; an import path is no name.
    """
    if name not in game_names():
        raise UnknownName(f"there is no game {name!r}: {nearest(name, game_names())}")
    return game_spec(name)


def check_switches(spec: GameSpec, values: Mapping[str, Any], preset: Preset) -> None:
    """Raise BadParams where a request sets a switch that does not exist, or to a value that is not offered."""
    offered = {entry["name"]: entry["choices"] for entry in _switches(spec, preset)}
    for name, value in values.items():
        if name not in offered:
            raise BadParams(f"{name!r} is no rule switch of this game: {nearest(name, offered)}")
        choices = offered[name]
        if choices is not None and value not in choices:
            raise BadParams(f"{name} = {value!r} is not possible. Allowed: {', '.join(map(repr, choices))}")


def check_agent(spec: str, game: str, preset: Preset) -> None:
    """Raise UnknownName unless a request may name this agent: one of `allowed_agents`, options added or not."""
    allowed = allowed_agents(game, preset)
    name, _, options = spec.partition(":")
    if spec not in allowed and (name not in agent_names(game) or ":" in options):
        raise UnknownName(f"there is no agent {spec!r} to choose here: {nearest(name, allowed)}")
