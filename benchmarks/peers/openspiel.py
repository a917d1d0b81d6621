"""OpenSpiel, connect_four: random playouts inside its C++ code, and the plain Python loop of its examples."""

from __future__ import annotations

import random
from typing import Any

import pyspiel
from common import emit, parser, rate, versions

SEED = 1
GAMES_FOR_LENGTH = 20_000
ROLLOUTS = 2_000


def play(game: Any, rng: random.Random, games: int) -> int:
    """Play random games in Python; return the number of moves."""
    moves, draw = 0, rng.random
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            moves += 1
    return moves


def main() -> None:
    """Measure both loops.

    pyspiel's RandomRolloutEvaluator is the fastest random player that Python can start, but it has no methods in
    Python. An MCTSBot with max_simulations=1 calls it exactly once, on the root itself, so that one `mcts_search` is
    ROLLOUTS random games from the first move to the last in one C++ loop: clone, legal_actions, apply_action, and no
    tree. (`evaluate_bots` with two uniform random bots also stays in C++ but takes about 1.5 times as long.)
    The C++ loop does not tell how many moves it made, so moves = rollouts * average length of a random game, and the
    average is taken over GAMES_FOR_LENGTH games of the Python loop with the same seed (standard error about 0.25%).
    """
    options = parser(__doc__).parse_args()
    game = pyspiel.load_game("connect_four")
    start = game.new_initial_state()
    about = {"versions": versions("open_spiel"), "game": "connect_four", "actions": "uniformly random legal"}

    length = play(game, random.Random(SEED), GAMES_FOR_LENGTH) / GAMES_FOR_LENGTH
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS, SEED)
    # The arguments: game, evaluator, uct_c, max_simulations, max_memory_mb, solve, seed, verbose.
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 10, False, SEED, False)

    def rollouts() -> int:
        bot.mcts_search(start)
        return ROLLOUTS

    games_per_second = rate(rollouts, options.seconds)
    emit("openspiel", "rollout", games_per_second * length, **about, moves_per_game=length, rollouts_per_call=ROLLOUTS)

    rng = random.Random(SEED)
    emit("openspiel", "loop", rate(lambda: play(game, rng, 20), options.seconds), **about)


if __name__ == "__main__":
    main()
