"""How many simulations a second the tree search does on one core: `python benchmarks/search.py [--sims N] [GAME ...]`.

The positions are such that lie one after the other in games of the search against itself, after an opening of random
actions. Kernels are compiled beforehand.
"""

from __future__ import annotations

import argparse
import sys
import time

from agents.search.agent import LEAVES, MctsAgent
from caravan_env import Game, State, game_names
from caravan_env.cli.options import build_game
from caravan_env.core.errors import CaravanError

OPENING = 20  # random actions


def decision(agent: MctsAgent, state: State) -> float:
    """Play the agent's next action that is not forced; return the seconds that it took, 0 at the end of the game."""
    while not state.is_terminal:
        forced = len(state.legal_actions()) == 1
        start = time.perf_counter()
        action = agent.act(state)
        seconds = time.perf_counter() - start
        state.step(action)
        if not forced:
            return seconds
    return 0.0


def opened(game: Game, seed: int) -> State:
    """Return a game after its opening."""
    state = game.new_state(seed=seed)
    for k in range(OPENING):
        actions = state.legal_actions()
        state.step(int(actions[(7 * k + seed) % len(actions)]))
    return state


def speed(game: Game, leaf: str, sims: int, decisions: int) -> tuple[float, float]:
    """Return (simulations a second, milliseconds for a decision)."""
    agent = MctsAgent(game, sims=sims, leaf=leaf, reuse=False)
    decision(agent, opened(game, 0))
    total, done, seed = 0.0, 0, 1
    while done < decisions:
        state = opened(game, seed)
        for _ in range(10):
            seconds = decision(agent, state)
            total += seconds
            done += seconds > 0
        seed += 1
    return done * sims / total, 1000 * total / done


def main() -> None:
    """Print a table of all games, or of those named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=game_names(), metavar="GAME")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a rule switch; repeatable")
    parser.add_argument("--leaf", help="what positions are judged by (default: all that need no training)")
    parser.add_argument("--sims", type=int, default=200)
    parser.add_argument("--decisions", type=int, default=100)
    options = parser.parse_args()
    if min(options.sims, options.decisions) < 1:
        parser.error("--sims and --decisions must be positive")
    try:
        show(options)
    except CaravanError as error:
        sys.exit(str(error))


def show(options: argparse.Namespace) -> None:
    """Print the table; raises CaravanError."""
    print("| game | seats | leaf | simulations/s | ms a decision |\n| --- | --- | --- | --- | --- |")
    for name in options.games:
        game = build_game(name, options.set)
        for leaf in (options.leaf,) if options.leaf else LEAVES:
            rate, each = speed(game, leaf, options.sims, options.decisions)
            print(f"| {name} | {game.players} | {leaf} | {rate:,.0f} | {each:.2f} |", flush=True)


if __name__ == "__main__":
    main()
