"""`caravan eval`: a trained policy against fixed opponents."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.options import parse_switches, seed_option, set_option
from caravan_env.cli.output import emit_json, json_option, print_scores, progress_bar
from caravan_env.cli.records import faults_recorded

if TYPE_CHECKING:
    from caravan_env.core.game import Game


@click.command("eval")
@click.argument("policy")
@click.option(
    "--opponents", default="random,greedy,planner", show_default=True, metavar="A,B,...", help="One match each."
)
@click.option("--games", default=200, show_default=True, help="Games against each opponent.")
@click.option("--sample", is_flag=True, help="Sample actions instead of taking the most probable one.")
@set_option
@seed_option
@json_option
def eval_command(
    policy: str, opponents: str, games: int, sample: bool, switches: tuple[str, ...], seed: int, as_json: bool
) -> None:
    """Let the policy of a run, or of one of its checkpoints, play fixed opponents, one match for each.

    The rule switches are those it was trained with, unless --set changes them. Seats rotate; with more than two players
    the opponent plays all other seats.

    \b
    Examples:
      caravan eval runs/caravan-2p
      caravan eval runs/caravan-2p --opponents planner,planner:beam=128 --games 1000
      caravan eval runs/caravan-2p/checkpoints/step-000000200000 --opponents greedy --json
    """
    from agents.registry import split_specs

    game = policy_game(policy, switches)
    rows = evaluate_policy(policy, game, split_specs(opponents), games, seed, sample, quiet=as_json)
    if as_json:
        emit_json({"policy": policy, "game": game.name, "params": game.params.to_json(), "opponents": rows})
        return
    print_scores(f"{policy} ({game.name}, seed {seed})", rows)


def policy_game(path: str, switches: Sequence[str]) -> Game:
    """Return the game variant that a policy was trained in, with switches changed."""
    from agents.neural import Description, resolve
    from caravan_env.core.game import Game
    from caravan_env.core.registry import game_spec

    description = Description.read(resolve(path))
    spec = game_spec(description.game)
    return Game(spec, {**description.params, **parse_switches(spec, switches)})


def evaluate_policy(
    path: str, game: Game, opponents: Sequence[str], games: int, seed: int, sample: bool, quiet: bool
) -> list[dict[str, Any]]:
    """Return one line per opponent, as `train.evaluate.Score` has it."""
    from agents.neural import load_policy
    from train.evaluate import ALONE, evaluate

    agent = load_policy(path, game, seed, sample)
    rows: list[dict[str, Any]] = []
    matches = opponents if game.players > 1 else [ALONE]
    with faults_recorded(None), progress_bar(f"evaluating {path}", len(matches), quiet) as advance:
        for opponent in matches:
            rows += [dataclasses.asdict(score) for score in evaluate(game, agent, [opponent], games, seed)]
            advance(len(rows))
    return rows
