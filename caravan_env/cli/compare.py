"""`caravan compare`: is one agent better than another?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.arena import jobs_option
from caravan_env.cli.options import build_rival_game, game_option, seed_option, set_option
from caravan_env.cli.output import emit_json, json_option, progress_bar
from caravan_env.cli.records import faults_recorded

if TYPE_CHECKING:
    from agents.sequential import Comparison, SequentialTest
    from caravan_env.core.game import Game


@click.command("compare")
@click.argument("a")
@click.argument("b")
@game_option
@set_option
@click.option("--elo0", default=0.0, show_default=True, help="A is at most so many points better: not enough.")
@click.option("--elo1", default=20.0, show_default=True, help="A is at least so many points better: enough.")
@click.option("--alpha", default=0.05, show_default=True, help="Risk of saying that A is better when it is not.")
@click.option("--beta", default=0.05, show_default=True, help="Risk of saying that A is not better when it is.")
@click.option("--max-games", default=10_000, show_default=True, help="Give up after so many.")
@jobs_option
@seed_option
@json_option
def compare_command(
    a: str,
    b: str,
    game_name: str | None,
    switches: tuple[str, ...],
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    max_games: int,
    jobs: int,
    seed: int,
    as_json: bool,
) -> None:
    """Play agent A against agent B until the games tell whether A is better, and no longer.

    A sequential probability ratio test: it decides between two differences of ratings, with the risks that were asked
    for. With more than two players A has one seat and B all others; equal agents then win one game in PLAYERS.

    \b
    Examples:
      caravan compare planner:beam=32 planner
      caravan compare policy:runs/new policy:runs/old --elo1 30 --max-games 4000
      caravan compare greedy random --game century --set players=3 --elo1 100 --json
    """
    from agents.sequential import SequentialTest

    game = build_rival_game(game_name, switches)
    test = SequentialTest(elo0, elo1, alpha, beta, game.players)
    with faults_recorded(None):
        result = play(game, (a, b), test, max_games, seed, jobs, quiet=as_json)
    report = {"game": game.name, "params": game.params.to_json(), "seed": seed, **result.to_json()}
    emit_json(report) if as_json else _print(report, game.players)


def play(
    game: Game, agents: tuple[str, str], test: SequentialTest, max_games: int, seed: int, jobs: int, quiet: bool
) -> Comparison:
    """Play under a progress bar, see `agents.sequential.compare`."""
    from agents.sequential import compare

    done = 0
    with progress_bar(" - ".join(agents), max_games, quiet) as advance:

        def more(finished: int) -> None:
            nonlocal done
            done += finished
            advance(done)

        return compare(game, agents, test, max_games, seed, jobs, more)


def _print(report: dict[str, Any], players: int) -> None:
    a, b = report["agents"]
    low, high = report["bounds"]
    verdicts = {
        "better": f"{a} is better than {b}",
        "not better": f"{a} is not better than {b}",
        "undecided": f"undecided between {a} and {b} after all games",
    }
    click.echo(
        f"{verdicts[report['decision']]} ({report['elo1']:g} points against {report['elo0']:g}, "
        f"alpha {report['alpha']:g}, beta {report['beta']:g})\n"
        f"log likelihood ratio {report['llr']:.2f}, bounds {low:.2f} and {high:.2f}\n"
        f"{report['games']} games, {report['deals']} deals\n"
        f"{a} won {report['win_rate']:.1%} (95 % interval {report['interval'][0]:.1%} to {report['interval'][1]:.1%}; "
        f"equal agents {1 / players:.1%}), {_elo(report['elo'])} points "
        f"({_elo(report['elo_interval'][0])} to {_elo(report['elo_interval'][1])})"
    )


def _elo(value: float | None) -> str:
    return "no finite number of" if value is None else f"{value:+.0f}"
