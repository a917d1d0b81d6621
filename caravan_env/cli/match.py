"""`caravan match`: agents against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.options import build_game, game_option, seed_option, set_option
from caravan_env.cli.output import emit_json, json_option, print_table, progress_bar
from caravan_env.cli.records import FAULT, faults_recorded, save_records

if TYPE_CHECKING:
    from agents.arena import MatchResult
    from caravan_env.core.game import Game

CHUNKS = 20
ROWS = (32, 256)


@click.command("match")
@game_option
@set_option
@click.option("--agents", required=True, metavar="A,B,...", help="One agent per seat, for example planner,greedy.")
@click.option("--games", default=200, show_default=True, help="Rounded up to a multiple of the number of seats.")
@seed_option
@click.option("--save", type=click.Path(file_okay=False, path_type=Path), help="Write a record of every game here.")
@json_option
def match_command(
    game_name: str | None,
    switches: tuple[str, ...],
    agents: str,
    games: int,
    seed: int,
    save: Path | None,
    as_json: bool,
) -> None:
    """Let agents play many games against each other, and show how often each wins.

    Seats rotate, and every deal of chance is played with every seating. An agent is a name with options
    (planner:beam=64), a trained policy (policy:runs/caravan-2p), or your own (my_file.py:MyAgent).

    \b
    Examples:
      caravan match --agents planner,greedy
      caravan match --agents planner,greedy,random --games 300 --set board=pinwheel
      caravan match --agents policy:runs/caravan-2p,planner --save records --json
    """
    from agents.registry import split_specs

    specs = split_specs(agents)
    game = build_game(game_name, switches, players=len(specs))
    with faults_recorded(save / FAULT if save else None):
        result = play(game, specs, games, seed, quiet=as_json)
    if save is not None:
        with progress_bar("saving records", result.games, as_json) as advance:
            save_records(result, save, advance)
    report = result.to_json()
    emit_json(report) if as_json else _print_report(report)


def play(game: Game, specs: Sequence[str], games: int, seed: int, quiet: bool) -> MatchResult:
    """Play a match under a progress bar, see `agents.arena.play_games`."""
    from agents.arena import play_games

    rows = min(max(games // CHUNKS, ROWS[0]), ROWS[1])
    done = 0
    with progress_bar(" - ".join(specs), -(-games // game.players) * game.players, quiet) as advance:

        def more(finished: int) -> None:
            nonlocal done
            done += finished
            advance(done)

        return play_games(game, specs, games, seed, rows, more)


def _print_report(report: Mapping[str, Any]) -> None:
    rows = [
        (
            agent["name"],
            f"{agent['win_rate']:.1%}",
            "{:.1%} - {:.1%}".format(*agent["interval"]),
            f"{agent['mean_score']:.1f}",
            f"{agent['mean_return']:+.3f}",
            f"{agent['ms_per_decision']:.3f}",
        )
        for agent in report["agents"]
    ]
    title = f"{report['game']}, {report['games']} games, seed {report['seed']}"
    print_table(title, ("agent", "wins", "95 % interval", "mean score", "mean return", "ms per decision"), rows)
    click.echo(
        f"\n{report['shared_wins']} games without a sole winner (a win shared by k counts 1/k), "
        f"{report['truncated']} cut off at the turn limit, {report['decisions_per_game']:.0f} decisions per game"
    )
