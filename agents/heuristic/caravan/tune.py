"""How the planner's weights were found, and how to find better ones: `python -m agents.heuristic.caravan.tune --help`.

Weights play copies of themselves that are moved in a random direction, one step there against one step the other
way. Each deal is played from both seats. A regression of the margins on the directions gives the slope of the margin
in all weights at once; the weights follow it. It is the search of simultaneous perturbations (Spall 1992) with a
regression in place of the quotient, in games whose luck is halved by the shared deals.

With `--against` both play that agent in place of each other, in the same deals and with the same lots of its own
(common random numbers), and the difference of their margins counts: the weights become a best response to it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import MatchResult, play_games
from agents.base import Agent, RowAgent
from agents.heuristic.caravan import PlannerAgent
from agents.heuristic.caravan.evaluate import new_scratch
from agents.heuristic.caravan.search import new_pools, plan_rows
from agents.heuristic.caravan.weights import Weights
from agents.registry import make_agent
from caravan_env.core.errors import CaravanError
from caravan_env.core.files import write_text
from caravan_env.core.game import Game
from caravan_env.core.registry import make_game

Floats = NDArray[np.float64]
NAMES = [field.name for field in dataclasses.fields(Weights)]
#: How far a weight is moved to see what it does.
STEPS = Weights(
    common=0.35,
    rare=0.5,
    action=0.08,
    near_common=0.3,
    near_rare=0.35,
    far=0.07,
    reach_first=0.08,
    reach_second=0.06,
    reach_third=0.06,
    steal=0.08,
    one=0.7,
    two=0.5,
    three=0.4,
    four=0.35,
    theft=0.3,
    wait=0.2,
    wait_reach=0.2,
)
TURN_LIMIT = 120
LARGEST_MARGIN = 30.0
KEEP = 5  # rounds that the regression looks back on
CALM = 2.0  # standard errors of a slope that make a full stride
STRIDE = 0.35  # of a step
ROUNDS, REPORT = 0, 1  # what deals are for; none is played for both


class Planners(RowAgent):
    """The planner, with weights of its own for each deal of a match."""

    name = "planners"

    def __init__(self, game: Game, weights: Floats, beam: int) -> None:
        """Make the planners: deal d is played with the weights (rows, names) in row d % rows."""
        super().__init__(game)
        self._tables = np.stack([Weights(*row).table() for row in weights])
        self._memory = new_scratch(), new_pools(beam)

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; all rows are of the first deal."""
        return self.act_games(S, mask, np.zeros(len(S), np.int64))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`."""
        chosen = np.zeros(len(S), np.int64)
        for row, deal in enumerate(games // self.game.players):
            table = self._tables[deal % len(self._tables)]
            plan_rows(S[row : row + 1], table, *self._memory, chosen[row : row + 1])
        return chosen


class Tuner:
    """The search: current weights as a vector, and the margins of its last rounds."""

    def __init__(self, start: Weights, seed: int, beam: int, deals: int, against: str | None = None) -> None:
        """Begin a search.

        Args:
            start: weights to begin with.
            seed: decides deals and directions.
            beam: width of the search in the games.
            deals: in a round.
            against: spec of the agent that is played; None: the weights play each other.

        Raises:
            CaravanError: that agent cannot be made.
        """
        self.game = make_game("caravan", turn_limit=TURN_LIMIT)
        self.start = np.array(dataclasses.astuple(start))
        self.now = self.start.copy()
        self.steps = np.array(dataclasses.astuple(STEPS))
        self.seed, self.beam, self.deals, self.against = seed, beam, deals, against
        self._rng = np.random.default_rng(seed)
        self._rounds: list[tuple[Floats, Floats]] = []
        if against is not None:
            make_agent(against, self.game)

    def play(self, ours: Floats, theirs: Floats, seed: int) -> Floats:
        """Return by how much weights (deals, names) do better than others, (deals,) in points, both seats averaged."""
        planners = [Planners(self.game, weights, self.beam) for weights in (ours, theirs)]
        if self.against is None:
            return _margins(*_play(self.game, [planners], 2 * len(ours), seed))
        better, worse = _play(self.game, [[planner, self.against] for planner in planners], 2 * len(ours), seed)
        return _margins(better) - _margins(worse)

    def round(self) -> Floats:
        """Play a round and move the weights; return the slope of each in standard errors."""
        directions = self._rng.normal(size=(self.deals, len(self.now)))
        moves = directions * self.steps
        gains = self.play(self.now + moves, self.now - moves, _seed(self.seed, ROUNDS, len(self._rounds)))
        self._rounds.append((directions, gains))
        x = np.concatenate([d for d, _ in self._rounds[-KEEP:]])
        y = np.concatenate([m for _, m in self._rounds[-KEEP:]])
        slope = np.linalg.solve(x.T @ x + 10.0 * np.eye(x.shape[1]), x.T @ y)
        errors = slope / ((y - x @ slope).std() / len(y) ** 0.5)
        if len(self._rounds) > 1:
            self.now += STRIDE * self.steps * np.clip(errors / CALM, -1.0, 1.0)
        return np.asarray(errors)

    def report(self, games: int) -> list[dict[str, Any]]:
        """Return how the weights fare in games of fresh deals of the usual length, searched as the planner does.

        Against an agent so do those of the start, in the same deals; without one they are the opponent.
        """
        game = make_game("caravan")
        beam = PlannerAgent(game).beam
        start, now = (Planners(game, weights[None], beam) for weights in (self.start, self.now))
        if self.against is None:
            matches: dict[str, list[Agent | str]] = {"tuned": [now, start]}
        else:
            matches = {"start": [start, self.against], "tuned": [now, self.against]}
        results = _play(game, list(matches.values()), games, _seed(self.seed, REPORT, 0))
        opponent = self.against or "start"
        return [{"weights": name, "against": opponent, **_row(r)} for name, r in zip(matches, results, strict=True)]


def _play(game: Game, matches: Sequence[Sequence[Agent | str]], games: int, seed: int) -> list[MatchResult]:
    """Play matches in the same deals, each in a thread."""
    with ThreadPoolExecutor(len(matches)) as pool:
        return list(pool.map(lambda agents: play_games(game, agents, games, seed), matches))


def _margins(result: MatchResult) -> Floats:
    """Return the first agent's margin in each deal, (deals,), the mean of both seats."""
    margins = (result.scores[:, 0] - result.scores[:, 1]).reshape(-1, 2).mean(axis=1)
    mean: Floats = np.clip(margins, -LARGEST_MARGIN, LARGEST_MARGIN)
    return mean


def _row(result: MatchResult) -> dict[str, Any]:
    """Return the first agent's results for a line of JSON."""
    rate = result.win_rate(0)
    return {
        "win_rate": round(rate.share, 4),
        "interval": [round(rate.low, 4), round(rate.high, 4)],
        "margin": round(float(_margins(result).mean()), 2),
        "games": result.games,
    }


def _seed(*words: int) -> int:
    return int(np.random.SeedSequence(words).generate_state(1)[0])


def main() -> None:
    """Search for the time given and print the weights after each round as a line of JSON; then how they fare."""
    parser = argparse.ArgumentParser(description="Search for better weights of Caravan's planner by playing.")
    parser.add_argument("--against", metavar="SPEC", help="the agent to play; left out: weights play each other")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long to search; the last games come on top")
    parser.add_argument("--seed", type=int, default=1, help="decides deals and directions")
    parser.add_argument("--beam", type=int, default=12, help="width of the search in the games")
    parser.add_argument("--deals", type=int, default=60, help="deals a round, each played from both seats")
    parser.add_argument("--games", type=int, default=400, help="games that say at the end how the weights fare")
    parser.add_argument("--out", metavar="FILE", help="where to write the weights and how they fare, as JSON")
    arguments = parser.parse_args()
    if min(arguments.beam, arguments.deals, arguments.games) < 1:
        parser.error("--beam, --deals and --games must be positive")
    if arguments.out and not Path(arguments.out).absolute().parent.is_dir():
        parser.error(f"--out: there is no folder {Path(arguments.out).parent}")
    try:
        search(arguments)
    except (CaravanError, OSError) as error:
        sys.exit(str(error))


def search(arguments: argparse.Namespace) -> None:
    """Search, print each round, and write the file; raises CaravanError for an unknown agent, OSError for the file."""
    tuner = Tuner(Weights(), arguments.seed, arguments.beam, arguments.deals, arguments.against)
    end = time.monotonic() + 60 * arguments.minutes
    weights: dict[str, float] = {}
    while not weights or time.monotonic() < end:
        slopes = tuner.round()
        weights = dict(zip(NAMES, tuner.now.round(3).tolist(), strict=True))
        print(json.dumps({"weights": weights, "slopes_in_errors": slopes.round(1).tolist()}), flush=True)
    report = tuner.report(arguments.games)
    print("\n".join(map(json.dumps, report)))
    if arguments.out:
        write_text(arguments.out, json.dumps({"weights": weights, "results": report}, indent=1) + "\n")


if __name__ == "__main__":
    main()
