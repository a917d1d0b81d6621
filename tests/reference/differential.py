"""
Play games with the kernels and with the plain-Python reference side by side and compare everything.

    python -m tests.reference.differential caravan --games 20000 --jobs 2

Each game draws its switches and movers from its number alone, so a failing game can be repeated with
`--first N --games 1`. At the end a table tells how often each clause of the rules was exercised; a clause that never
was is an error.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from caravan_env.core.game import State
from caravan_env.core.registry import game_spec, make_game


class Difference(AssertionError):
    """The kernels and the reference disagree."""


def movers_of(name: str) -> Any:
    """Return the module with the movers, switches and set positions of a game's differential tests."""
    return importlib.import_module(f".players_{name}", __package__)


def reference_of(name: str) -> Any:
    """Return the module with the reference implementation of a game."""
    return importlib.import_module(f".{name}", __package__)


def legal_by_words(state: State) -> dict[str, int]:
    """Return the legal actions of the kernels by their words; two actions with the same words are a difference."""
    actions = [int(a) for a in state.legal_actions()]
    words = dict(zip(state.legal_texts(), actions, strict=True))
    if len(words) != len(actions):
        raise Difference(f"{len(actions)} legal actions have only {len(words)} wordings")
    return words


def chance_by_words(state: State) -> dict[str, tuple[int, float]]:
    """Return the chance outcomes of the kernels: words -> (outcome, probability)."""
    return {state.outcome_text(k): (k, p) for k, p in state.chance_outcomes()}


def compare_structs(state: State, reference: Any) -> None:
    """Raise Difference unless both describe the same position, switches included."""
    ours, theirs = state.to_json(), reference.struct()
    if ours != theirs:
        keys = [key for key in theirs.keys() | ours.keys() if ours.get(key) != theirs.get(key)]
        raise Difference("; ".join(f"{key}: kernels {ours.get(key)!r}, reference {theirs.get(key)!r}" for key in keys))


def compare_options(state: State, reference: Any) -> dict[str, int]:
    """Compare the whole legal set, or the whole chance event, and return words -> action or outcome."""
    if reference.phase == "over":
        if not state.is_terminal:
            raise Difference("the game is over for the reference only")
        return {}
    if state.is_chance:
        ours, theirs = chance_by_words(state), reference.chance()
        total = sum(theirs.values())
        if {w: round(p, 12) for w, (_, p) in ours.items()} != {w: round(n / total, 12) for w, n in theirs.items()}:
            raise Difference(f"chance: kernels {ours}, reference {theirs}")
        return {words: outcome for words, (outcome, _) in ours.items()}
    legal, expected = legal_by_words(state), reference.legal()
    if set(legal) != set(expected) or len(expected) != len(set(expected)):
        extra, missing = sorted(set(legal) - set(expected)), sorted(set(expected) - set(legal))
        raise Difference(f"legal sets differ: kernels have {extra} too many and lack {missing}")
    return legal


def compare_ends(state: State, reference: Any) -> None:
    """Compare what a finished game pays."""
    if [round(x, 9) for x in state.returns()] != [round(x, 9) for x in reference.returns()]:
        raise Difference(f"returns: kernels {state.returns()}, reference {reference.returns()}")
    if list(state.scores()) != list(reference.scores()) or state.truncated != reference.truncated:
        raise Difference("scores or truncation differ")


def play_both(state: State, reference: Any, movers: list[Any], rng: random.Random, most_plies: int = 10**9) -> int:
    """Play one game on both, comparing at every ply; return the number of plies."""
    players = movers_of(state.game.name)
    plies = 0
    while True:
        compare_structs(state, reference)
        options = compare_options(state, reference)
        if not options or plies >= most_plies:
            break
        plies += 1
        if state.is_chance:
            words = players.draw_chance(reference, rng)
            state.resolve(options[words])
            reference.resolve(words)
        else:
            if state.to_move != reference.seat:
                raise Difference(f"seat {state.to_move} is to move, seat {reference.seat} for the reference")
            words = movers[state.to_move](reference, rng)
            state.step(options[words])
            reference.play(words)
    if state.is_terminal:
        compare_ends(state, reference)
    return plies


def run_game(name: str, number: int) -> Counter[str]:
    """Play differential game `number`; return how often each rule clause was exercised."""
    players, rng = movers_of(name), random.Random(number)
    params = players.random_params(rng)
    state = make_game(name, **params).new_state()
    reference = reference_of(name).new_reference(params)
    movers = players.mix(params["players"], rng)
    try:
        plies = play_both(state, reference, movers, rng)
    except Exception as error:
        raise Difference(f"game {number} with {json.dumps(params)}: {error}") from error
    return reference.clauses + Counter(games=1, plies=plies, truncated=int(reference.truncated))


def run_position(name: str, number: int, plies: int = 6) -> Counter[str]:
    """Compare from a set position that play may never reach, for some plies of random moves."""
    players, rng = movers_of(name), random.Random(f"position {number}")
    struct = players.random_position(rng)
    state = make_game(name, **struct["params"]).state_from_json(struct)
    reference = reference_of(name).new_reference(struct["params"], struct)
    movers = [rng.choice((players.random_mover, players.busy_mover))] * len(struct["seats"])
    try:
        played = play_both(state, reference, movers, rng, plies)
    except Exception as error:
        raise Difference(f"position {number}, {json.dumps(struct)}: {error}") from error
    return reference.clauses + Counter(positions=1, plies=played)


def run_range(name: str, numbers: Iterable[int]) -> Counter[str]:
    """Play many differential games, and one set position for each; return the summed clause counts."""
    total: Counter[str] = Counter()
    for number in numbers:
        total += run_game(name, number)
        total += run_position(name, number)
    return total


def clauses_of(name: str) -> list[str]:
    """Return the clause numbers of a game's RULES.md, in order."""
    rules = Path(str(game_spec(name).rules.__file__)).with_name("RULES.md").read_text(encoding="utf-8")
    return re.findall(r"^- \*\*([A-Z]+\d+)\*\*", rules, flags=re.MULTILINE)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 0 if nothing differs and every clause was exercised."""
    parser = argparse.ArgumentParser(description="Compare a game's kernels with its plain-Python reference.")
    parser.add_argument("game")
    parser.add_argument("--games", type=int, default=20_000, help="differential games (default 20000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first game (default 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    chosen = parser.parse_args(argv)
    numbers = range(chosen.first, chosen.first + chosen.games)
    chunks = [numbers[k : k + 50] for k in range(0, len(numbers), 50)]
    total: Counter[str] = Counter()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for done, counts in enumerate(pool.map(run_range, [chosen.game] * len(chunks), chunks), start=1):
            total += counts
            print(f"\r{done * 50} games", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    never = print_table(chosen.game, total)
    return 1 if never and chosen.games > 100 else 0


def print_table(name: str, total: Counter[str]) -> list[str]:
    """Print how often each clause was exercised, and return the clauses that never were."""
    clauses = clauses_of(name)
    print(f"{total['games']} games, {total['positions']} set positions, {total['plies']} plies compared, ", end="")
    print(f"{total['truncated']} games truncated")
    print("| clause | exercised |\n| --- | --- |")
    for clause in clauses:
        print(f"| {clause} | {total[clause]} |")
    never = [clause for clause in clauses if not total[clause]]
    if never:
        print(f"never exercised: {', '.join(never)}")
    return never


if __name__ == "__main__":
    sys.exit(main())
