"""`caravan games`: what there is to play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.output import emit_json, json_option, print_table

if TYPE_CHECKING:
    from caravan_env.core.contract import GameSpec


@click.command("games")
@click.argument("name", required=False)
@json_option
def games_command(name: str | None, as_json: bool) -> None:
    """List the games, or describe one: its rule switches, variants, actions and observation.

    \b
    Examples:
      caravan games
      caravan games caravan
      caravan games caravan --json
    """
    from caravan_env.core.registry import game_names, game_spec

    if name is not None:
        details = describe_game(game_spec(name))
        emit_json(details) if as_json else _print_details(details)
        return
    summaries = [_summary(game_spec(game)) for game in game_names()]
    if as_json:
        emit_json({"games": summaries})
        return
    columns = ("name", "title", "players", "actions", "observation", "switches", "variants")
    print_table("Games", columns, [[game[c] for c in columns] for game in summaries], left=(0, 1))
    click.echo("\n`caravan games NAME` describes one.")


def describe_game(spec: GameSpec) -> dict[str, Any]:
    """Return everything that the command shows of a game, as JSON values."""
    params = spec.params_type()
    switches = [
        {"name": name, "default": default, "choices": list(choices) if choices else None, "meaning": meaning}
        for name, default, choices, meaning in spec.params_type.describe()
    ]
    return {
        "name": spec.name,
        "title": spec.title,
        "version": spec.version,
        "switches": switches,
        "variants": {name: dict(values) for name, values in spec.variants.items()},
        "actions": [
            {"group": g.name, "first": g.start, "number": g.size, "axes": list(g.axes)}
            for g in spec.actions.groups.values()
        ],
        "observation": [
            {"piece": p.name, "first": p.start, "shape": list(p.shape), "meaning": p.meaning}
            for p in spec.observation(params).pieces.values()
        ],
    }


def _summary(spec: GameSpec) -> dict[str, Any]:
    params = spec.params_type()
    return {
        "name": spec.name,
        "title": spec.title,
        "version": spec.version,
        "players": params.players,
        "actions": spec.actions.size,
        "observation": spec.observation(params).size,
        "switches": len(spec.params_type.describe()),
        "variants": len(spec.variants),
    }


def _print_details(game: dict[str, Any]) -> None:
    click.echo(f"{game['title']} ({game['name']}, version {game['version']})\n")
    switches = [
        (s["name"], s["default"], ", ".join(map(str, s["choices"] or ())), s["meaning"]) for s in game["switches"]
    ]
    print_table("Rule switches (--set NAME=VALUE)", ("name", "default", "allowed", "meaning"), switches, left=range(4))
    variants = [(n, ", ".join(f"{k}={v}" for k, v in values.items())) for n, values in game["variants"].items()]
    print_table("\nVariants with golden records", ("name", "switches"), variants, left=range(2))
    actions = [(a["group"], a["first"], a["number"], " x ".join(a["axes"])) for a in game["actions"]]
    print_table("\nActions", ("group", "first", "number", "axes"), actions, left=(0, 3))
    pieces = [(p["piece"], p["first"], " x ".join(map(str, p["shape"])), p["meaning"]) for p in game["observation"]]
    print_table(
        "\nObservation with the default switches", ("piece", "first", "shape", "meaning"), pieces, left=(0, 2, 3)
    )
