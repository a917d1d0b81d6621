"""`caravan play`: a person in the terminal against agents."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from caravan_env.cli.choice import Quit, ask_action
from caravan_env.cli.options import build_game, game_option, set_option
from caravan_env.cli.records import faults_recorded

if TYPE_CHECKING:
    from agents.base import Agent
    from caravan_env.core.game import Game, State
    from caravan_env.core.record import Event, Recorder

HUMAN = "human"
DEFAULT_OPPONENT = "greedy"


@click.command("play")
@game_option
@set_option
@click.option("--agents", metavar="A,B,...", help="The opponents; the last fills the rest.  [default: greedy]")
@click.option("--seat", default=0, show_default=True, help="Your seat.")
@click.option("--seed", type=int, help="Makes the game repeatable.  [default: another game every time]")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the record of the game here.")
def play_command(
    game_name: str | None, switches: tuple[str, ...], agents: str | None, seat: int, seed: int | None, save: Path | None
) -> None:
    """Play in the terminal against agents.

    On your turn, type the number of an action, its words, or a part of them to list the actions that fit.

    \b
    Examples:
      caravan play
      caravan play --agents planner --seat 1 --set board=pinwheel
      caravan play --agents planner,greedy --set players=3 --save game.jsonl
    """
    from agents.registry import split_specs
    from caravan_env.core.record import Recorder

    game = build_game(game_name, switches)
    chosen = secrets.randbits(31) if seed is None else seed
    specs = [DEFAULT_OPPONENT] * (game.players > 1) if agents is None else split_specs(agents)
    players = seat_opponents(game, seat, specs, chosen)
    names = [HUMAN if player is None else player.name for player in players]
    click.echo(f"{game.spec.title}: " + ", ".join(f"seat {k} is {name}" for k, name in enumerate(names)))
    recorder = Recorder(game.new_state(), names)
    with faults_recorded(save):
        finished = play_out(recorder, players, chosen)
    if finished:
        _print_result(recorder.state, names)
    if save is not None:
        recorder.record.save(save)
        click.echo(f"record: {save}")


def seat_opponents(game: Game, seat: int, specs: Sequence[str], seed: int) -> list[Agent | None]:
    """Return who plays each seat: None for the person, else an agent; the last spec fills what is left.

    Raises:
        click.UsageError: the seat does not exist, or there are no specs, or too many.
    """
    from agents.registry import make_agent

    if not 0 <= seat < game.players:
        raise click.UsageError(f"--seat {seat} does not exist: the game has the seats 0 to {game.players - 1}")
    others = game.players - 1
    if not min(1, others) <= len(specs) <= others:
        raise click.UsageError(f"--agents names {len(specs)} opponents for {others} other seats")
    filled = [*specs, *[specs[-1] for _ in range(others - len(specs))]]
    seated: list[Agent | None] = [make_agent(spec, game, seed + k) for k, spec in enumerate(filled, start=1)]
    seated.insert(seat, None)
    return seated


def play_out(recorder: Recorder, players: Sequence[Agent | None], seed: int) -> bool:
    """Play a game to its end, telling what happens; return whether it got there or the person stopped it."""
    import numpy as np

    from caravan_env.core.rng import streams

    state, stream = recorder.state, streams(seed, 1)
    weights = np.zeros(state.game.spec.max_outcomes, np.int64)
    told = 0
    try:
        while not state.is_terminal:
            if state.is_chance:
                recorder.resolve(int(state.game.loops["draw_outcome"](state.row, 0, stream, 0, weights)))
            else:
                told = _tell(recorder.record.events, told)
                _move(recorder, players[state.to_move])
    except Quit:
        click.echo("\nstopped")
        return False
    _tell(recorder.record.events, told)
    recorder.finish()
    return True


def _move(recorder: Recorder, player: Agent | None) -> None:
    from caravan_env.core.match import play_one

    state = recorder.state
    if player is None:
        click.echo("\n" + state.board_text() + "\n")
        recorder.step(ask_action(state, f"seat {state.to_move} > "))
    else:
        play_one(recorder, player)


def _tell(events: Sequence[Event], told: int) -> int:
    """Print the events after the first `told`, chance on one line; return how many have been told now."""
    chance = [event.text for event in events[told:] if event.kind == "chance"]
    for event in events[told:]:
        if event.kind == "move":
            click.echo(f"seat {event.seat}: {event.text}")
    if chance:
        click.echo("chance: " + "; ".join(chance))
    return len(events)


def _print_result(state: State, names: Sequence[str]) -> None:
    click.echo("\n" + state.board_text() + "\n\nThe game was cut off." * state.truncated + "\n\nFinal result:")
    for seat, (name, score, value) in enumerate(zip(names, state.scores(), state.returns(), strict=True)):
        click.echo(f"  seat {seat} {name}: {score:g} points, return {value:+.3g}")
