"""`caravan bench`: how fast a game is on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.options import build_game, set_option
from caravan_env.cli.output import emit_json, json_option, print_table, progress_bar

if TYPE_CHECKING:
    from caravan_env.bench import Figure
    from caravan_env.core.game import Game

MOST_FIGURES = 10


@click.command("bench")
@click.argument("game_name", metavar="[GAME]", required=False)
@set_option
@click.option("--seconds", default=1.0, show_default=True, help="Length of a round; the best of several counts.")
@click.option("--core", default=0, show_default=True, help="The core to pin to; -1 leaves it to the system.")
@click.option("--no-starts", is_flag=True, help="Leave out the first start, which compiles everything anew.")
@json_option
def bench_command(
    game_name: str | None, switches: tuple[str, ...], seconds: float, core: int, no_starts: bool, as_json: bool
) -> None:
    """Measure the speed of GAME: in the kernel, in batches, as a PettingZoo environment, as a plain loop, its start.

    \b
    Examples:
      caravan bench caravan
      caravan bench caravan --set players=4 --seconds 0.2 --no-starts
      caravan bench caravan --json > bench.json
    """
    game = build_game(game_name, switches)
    report = measure(game, seconds, None if core < 0 else core, not no_starts, quiet=as_json)
    emit_json(report) if as_json else _print_report(report)


def measure(game: Game, seconds: float, core: int | None, starts: bool, quiet: bool) -> dict[str, Any]:
    """Return all figures and the machine they are from, as JSON values."""
    from caravan_env.bench import bench
    from caravan_env.core.machine import machine

    figures: list[Figure] = []
    with progress_bar(f"measuring {game.name}", MOST_FIGURES, quiet) as advance:
        for figure in bench(game, seconds, core, starts):
            figures.append(figure)
            advance(len(figures))
    return {
        "game": game.name,
        "players": game.players,
        "params": game.params.to_json(),
        "machine": machine(),
        "figures": [figure.to_json() for figure in figures],
    }


def _print_report(report: Mapping[str, Any]) -> None:
    machine = report["machine"]
    rows = [(f["name"], f.get("play", ""), f["threads"], _amount(f), f["what"]) for f in report["figures"]]
    print_table(
        f"{report['game']}, {report['players']} players",
        ("figure", "play", "threads", "", "what"),
        rows,
        left=(0, 1, 4),
    )
    click.echo(
        f"\n{machine['processor']}, Python {machine['python']}, numba {machine['numba']}; best of several rounds"
    )


def _amount(figure: Mapping[str, Any]) -> str:
    if "seconds" in figure:
        return f"{figure['seconds']:.2f} s"
    if "games_per_second" in figure:
        return f"{figure['games_per_second']:,.0f} games/s"
    return f"{figure['steps_per_second']:,.0f} steps/s"
