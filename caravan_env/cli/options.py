"""Options that several commands share, and the reading of rule switches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from caravan_env.core.contract import GameSpec
    from caravan_env.core.game import Game

set_option = click.option(
    "--set",
    "switches",
    multiple=True,
    metavar="KEY=VALUE",
    help="A rule switch; may be repeated. See `caravan games NAME`.",
)
seed_option = click.option("--seed", default=0, show_default=True, help="Decides chance and the agents' dice.")
game_option = click.option(
    "--game",
    "game_name",
    metavar="NAME",
    help='A registered game, or "module:SPEC".  [default: the first of `caravan games`]',
)

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def find_spec(name: str | None) -> GameSpec:
    """Return the spec of a game by name or import path; None means the first registered game."""
    from caravan_env.core.registry import game_names, game_spec

    return game_spec(name or game_names()[0])


def build_game(name: str | None, switches: Sequence[str], players: int | None = None) -> Game:
    """Return the game variant that --game and --set describe.

    Args:
        name: see `find_spec`.
        switches: texts "key=value".
        players: number of seats, used unless a switch sets it.
    """
    from caravan_env.core.game import Game

    spec = find_spec(name)
    values = parse_switches(spec, switches)
    if players is not None:
        values.setdefault("players", players)
    return Game(spec, values)


def build_rival_game(name: str | None, switches: Sequence[str]) -> Game:
    """Return the game variant that --game and --set describe, for two players where it is else played alone."""
    players = int(find_spec(name).params_type().players)
    return build_game(name, switches, players=max(players, 2))


def parse_switches(spec: GameSpec, switches: Sequence[str]) -> dict[str, Any]:
    """Return the rule switches of texts "key=value", each with the type that the game declares.

    Raises:
        click.UsageError: a text is not of the form key=value, or a key is given twice.
        BadParams: no such switch; the message offers the nearest one.
    """
    kinds = {name: (default, choices) for name, default, choices, _ in spec.params_type.describe()}
    values: dict[str, Any] = {}
    for switch in switches:
        key, equals, text = switch.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise click.UsageError(f"--set {switch!r} is not of the form KEY=VALUE, for example --set players=2")
        if key in values:
            raise click.UsageError(f"--set {key} is given twice")
        values[key] = _typed(text.strip(), *kinds.get(key, ("", None)))
    spec.params_type.from_mapping(values)
    return values


def _typed(text: str, default: Any, choices: tuple[Any, ...] | None) -> Any:
    """Return a value of the switch's type if the text can be read as one, or the text itself for the game to refuse."""
    for choice in choices or ():
        if str(choice).lower() == text.lower():
            return choice
    if isinstance(default, bool):
        return _WORDS.get(text.lower(), text)
    if isinstance(default, int | float):
        try:
            return type(default)(text)
        except ValueError:
            return text
    return _maybe_object(text)


def _maybe_object(text: str) -> Any:
    if not text.startswith("{"):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise click.UsageError(f"--set value {text!r} is no JSON object: {error}") from error
