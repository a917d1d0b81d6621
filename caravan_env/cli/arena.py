"""`caravan arena`: a round robin of agents, and their ratings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from caravan_env.cli.options import build_rival_game, game_option, seed_option, set_option
from caravan_env.cli.output import emit_json, json_option, print_table, progress_bar
from caravan_env.cli.records import FAULT, faults_recorded

if TYPE_CHECKING:
    from agents.leaderboard import Leaderboard
    from agents.tournament import Arena
    from caravan_env.core.game import Game

jobs_option = click.option(
    "--jobs", type=int, default=os.cpu_count() or 1, show_default="all cores", help="Batches of games played at once."
)


@click.command("arena")
@game_option
@set_option
@click.option("--agents", default="", metavar="A,B,...", help="The agents; any number of them.")
@click.option("--anchors", "with_anchors", is_flag=True, help="The anchors of the game variant play too.")
@click.option("--games", default=200, show_default=True, help="At each table; rounded up to whole batches of 10 deals.")
@click.option(
    "--out",
    default="arena",
    show_default=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Games and ratings are kept here; the same command again goes on.",
)
@jobs_option
@seed_option
@click.option("--make-anchors", is_flag=True, help="Freeze the ratings as the anchors of this game variant.")
@json_option
def arena_command(
    game_name: str | None,
    switches: tuple[str, ...],
    agents: str,
    with_anchors: bool,
    games: int,
    out: Path,
    jobs: int,
    seed: int,
    make_anchors: bool,
    as_json: bool,
) -> None:
    """Let every agent play every other, and rate them all on one scale.

    With two players all pairs meet; with more, each agent sits against each other one in all other seats, and at mixed
    tables. Each deal is played with every seating and at every table. Nothing is played twice: after Ctrl-C, with more
    --games or with further --agents the same command plays what is missing. Anchors, agents with fixed ratings, make
    the ratings of different folders comparable.

    \b
    Examples:
      caravan arena --agents random,greedy,planner
      caravan arena --agents policy:runs/caravan-2p,planner:beam=32 --anchors --games 1000 --out arenas/2p
      caravan arena --set players=3 --agents random,greedy,planner --jobs 2 --out arenas/3p --json
    """
    from agents.leaderboard import Leaderboard
    from agents.tournament import Arena

    game = build_rival_game(game_name, switches)
    arena = Arena(game, _names(game, agents, with_anchors), out, seed)
    with faults_recorded(out / FAULT):
        play(arena, games, jobs, quiet=as_json)
    board = Leaderboard.of(arena, anchored=not make_anchors)
    if make_anchors:
        board = _freeze(arena, board)
    files = board.write(out)
    if as_json:
        emit_json({**board.to_json(), "files": [str(file) for file in files]})
    else:
        _print(board, files)


def play(arena: Arena, games: int, jobs: int, quiet: bool) -> None:
    """Play what an arena lacks, under a progress bar, see `agents.tournament.Arena`."""
    missing = arena.missing(games)
    done = 0
    with progress_bar("arena", arena.games_in(missing), quiet) as advance:

        def more(finished: int) -> None:
            nonlocal done
            done += finished
            advance(done)

        arena.play(missing, jobs, more)


def _names(game: Game, agents: str, with_anchors: bool) -> list[str]:
    from agents.anchors import known_anchors
    from agents.registry import split_specs

    named = split_specs(agents)
    return named + [name for name in (known_anchors(game) if with_anchors else ()) if name not in named]


def _freeze(arena: Arena, board: Leaderboard) -> Leaderboard:
    """Write the ratings of an arena as the anchors of its variant, and return the leaderboard that they fix."""
    from agents.anchors import make_anchors
    from agents.leaderboard import Leaderboard

    games = min(table.returns.shape[0] * table.returns.shape[1] for table in arena.tables())
    make_anchors(arena.game, board.standings, games)
    return Leaderboard.of(arena)


def _print(board: Leaderboard, files: Sequence[Path]) -> None:
    from agents.leaderboard import interval

    rows = [(s.agent, f"{s.rating:.0f}", interval(s), s.games, f"{s.win_rate:.1%}") for s in board.standings]
    print_table(board.title, ("agent", "rating", "95 % interval", "games", "wins"), rows)
    click.echo(f"\n{board.scale}")
    for line in [*board.notes, *map(str, files)]:
        click.echo(line)
