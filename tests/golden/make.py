"""
Write the golden records: one whole game of every variant of a game, played by the movers of its differential tests.

    python -m tests.golden.make [GAME ...]

A record pins down how a game is played, numbered and described; where one no longer replays, the rules, the action
numbers or the structs have changed, and the game's version has to be raised before the records are written anew. Of
some games of a variant the one is kept that exercises most clauses of the rules, the shorter one where they are even,
among those in which the switches of the variant matter often enough, or as often as they do.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any

from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game, State
from caravan_env.core.record import Event, Record, Recorder, replay
from caravan_env.core.registry import game_names, game_spec
from tests.reference.differential import movers_of, reference_of

FOLDER = Path(__file__).resolve().parent
GAMES_TRIED = 12
ENOUGH_EFFECTS = 3


def shipped_games() -> list[str]:
    """Return the registered games of the package: not those that other tests register."""
    return [name for name in game_names() if game_spec(name).rules.__name__.startswith("caravan_env.games.")]


def golden_path(name: str, variant: str) -> Path:
    """Return where the golden record of a variant lies."""
    return FOLDER / name / f"{variant}.jsonl"


def play(game: Game, seed: int) -> tuple[Record, int]:
    """Play a game with the reference's movers and return its record and how many clauses it exercised."""
    players, rng = movers_of(game.name), random.Random(f"golden {seed}")
    reference = reference_of(game.name).new_reference(game.params.to_json())
    movers = players.mix(game.players, rng)
    recorder = Recorder(game.new_state(), ["scripted"] * game.players)
    state = recorder.state
    while not state.is_terminal:
        if state.is_chance:
            words = players.draw_chance(reference, rng)
            recorder.resolve({state.outcome_text(k): k for k, _ in state.chance_outcomes()}[words])
            reference.resolve(words)
        else:
            words = movers[state.to_move](reference, rng)
            recorder.step(state.parse_action(words))
            reference.play(words)
    return recorder.finish(), len(reference.clauses)


def effects(record: Record) -> int:
    """Return at how many events of a record its switches mattered: without them it would have been another event."""
    game, found = record.game(), 0
    plain = Game(game.spec, {"players": game.players})
    before = game.new_state()
    for event, after in replay(record) if plain.params != game.params else ():
        found += event is not None and _is_other_without_switches(plain, before, event, after)
        before = after.clone()
    return found


def _is_other_without_switches(plain: Game, before: State, event: Event, after: State) -> bool:
    """Return whether an event has other alternatives, or other consequences, in the game without the switches.

    A position that there is not without them, as on another map, says nothing.
    """
    try:
        state = plain.state_from_json(before.to_json())
    except CaravanError:
        return False
    alternatives = _options(state)
    try:
        if event.kind == "move":
            state.step(state.parse_action(event.text))
        else:
            state.resolve({state.outcome_text(k): k for k, _ in state.chance_outcomes()}[event.text])
    except (CaravanError, KeyError):
        return True
    return alternatives != _options(before) or state.to_json() | {"params": None} != after.to_json() | {"params": None}


def _options(state: State) -> list[str]:
    """Return the legal actions, or the chance outcomes, in words."""
    return [state.outcome_text(k) for k, _ in state.chance_outcomes()] if state.is_chance else state.legal_texts()


def best_record(name: str, params: dict[str, Any]) -> Record:
    """Return the game that exercises most clauses, of those among some in which the switches matter enough."""
    games = [play(Game(game_spec(name), params), seed) for seed in range(GAMES_TRIED)]
    return max(games, key=lambda game: (min(effects(game[0]), ENOUGH_EFFECTS), game[1], -len(game[0].events)))[0]


def main(argv: list[str] | None = None) -> int:
    """Write the records of the games named, of all by default."""
    parser = argparse.ArgumentParser(description="Write the golden records of games.")
    parser.add_argument("games", nargs="*", metavar="GAME", help="registered games; all by default")
    for name in parser.parse_args(argv).games or shipped_games():
        for variant, params in game_spec(name).variants.items():
            path = golden_path(name, variant)
            record = best_record(name, dict(params))
            record.save(path)
            print(f"{path.relative_to(FOLDER)}: {len(record.events)} events, {record.result}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
