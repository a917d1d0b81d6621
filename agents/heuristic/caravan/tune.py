"""How the planner's weights were found, and how to find better ones: `python -m agents.heuristic.caravan.tune --help`.

Weights play copies of themselves that are moved in a random direction, one step there against one step the other
way. Each deal is played from both seats. A regression of the margins on the directions gives the slope of the margin
in all weights at once; the weights follow it. It is the search of simultaneous perturbations (Spall 1992) with a
regression in place of the quotient, in games whose luck is halved by the shared deals.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from agents.heuristic.caravan.evaluate import new_scratch
from agents.heuristic.caravan.search import new_pools, plan_rows
from agents.heuristic.caravan.weights import Weights
from caravan_env.core.game import Game
from caravan_env.core.registry import make_game
from caravan_env.core.rng import streams

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


def make_duels(game: Game) -> Callable[..., None]:
    """Return a compiled loop over deals for two seats; it writes the margins (deals, 2) of the first weights."""
    settle, rules = game.loops["settle"], game.spec.rules
    init, step, score = rules.init, rules.step, rules.score

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator]
    def duels(S, template, R, ours, theirs, X, B, chance, margins):  # type: ignore[no-untyped-def]
        chosen, points, stream = np.zeros(1, np.int64), np.zeros(2), np.zeros(1, np.uint64)
        for deal in range(R.shape[0]):
            for seat in range(2):
                stream[0] = R[deal]
                S[0] = template[0]
                init(S, 0)
                mover = settle(S, 0, stream, 0, chance)
                while mover >= 0:
                    plan_rows(S, ours[deal] if mover == seat else theirs[deal], X, B, chosen)
                    step(S, 0, chosen[0])
                    mover = settle(S, 0, stream, 0, chance)
                score(S, 0, points)
                margins[deal, seat] = points[seat] - points[1 - seat]

    return duels  # type: ignore[no-any-return]


class Tuner:
    """The search: current weights as a vector, and the margins of its last rounds."""

    def __init__(self, start: Weights, seed: int, beam: int, deals: int) -> None:
        self.game = make_game("caravan", turn_limit=TURN_LIMIT)
        self.now = np.array(dataclasses.astuple(start))
        self.steps = np.array(dataclasses.astuple(STEPS))
        self.seed, self.beam, self.deals = seed, beam, deals
        self._rng = np.random.default_rng(seed)
        self._duels = make_duels(self.game)
        self._rounds: list[tuple[Floats, Floats]] = []
        self._dealt = 0

    def play(self, ours: Floats, theirs: Floats) -> Floats:
        """Return the mean margin over both seats, (deals,), of weights (deals, names) against others."""
        deals, margins = len(ours), np.zeros((len(ours), 2))
        tables = [np.stack([Weights(*row).table() for row in rows]) for rows in (ours, theirs)]
        chance = np.zeros(self.game.spec.max_outcomes, np.int64)
        R = streams(self.seed, deals, self._dealt)
        self._dealt += deals
        S, memory = self.game.new_rows(1), (new_scratch(), new_pools(self.beam))
        self._duels(S, self.game.template, R, *tables, *memory, chance, margins)
        mean: Floats = np.clip(margins.mean(axis=1), -LARGEST_MARGIN, LARGEST_MARGIN)
        return mean

    def round(self) -> Floats:
        """Play a round and move the weights; return the slope of each in standard errors."""
        directions = self._rng.normal(size=(self.deals, len(self.now)))
        moves = directions * self.steps
        self._rounds.append((directions, self.play(self.now + moves, self.now - moves)))
        x = np.concatenate([d for d, _ in self._rounds[-KEEP:]])
        y = np.concatenate([m for _, m in self._rounds[-KEEP:]])
        slope = np.linalg.solve(x.T @ x + 10.0 * np.eye(x.shape[1]), x.T @ y)
        errors = slope / ((y - x @ slope).std() / len(y) ** 0.5)
        if len(self._rounds) > 1:
            self.now += STRIDE * self.steps * np.clip(errors / CALM, -1.0, 1.0)
        return np.asarray(errors)


def main() -> None:
    """Search for the time given and print the weights after each round as a line of JSON."""
    parser = argparse.ArgumentParser(description="Search for better weights of Caravan's planner by playing.")
    parser.add_argument("--minutes", type=float, default=30.0, help="how long to search")
    parser.add_argument("--seed", type=int, default=1, help="decides deals and directions")
    parser.add_argument("--beam", type=int, default=12, help="width of the search in the games")
    parser.add_argument("--deals", type=int, default=60, help="deals a round, each played from both seats")
    arguments = parser.parse_args()
    tuner = Tuner(Weights(), arguments.seed, arguments.beam, arguments.deals)
    end = time.monotonic() + 60 * arguments.minutes
    while time.monotonic() < end:
        slopes = tuner.round()
        line: dict[str, Any] = {"weights": dict(zip(NAMES, tuner.now.round(3).tolist(), strict=True))}
        print(json.dumps(line | {"slopes_in_errors": slopes.round(1).tolist()}), flush=True)
    start = np.broadcast_to(dataclasses.astuple(Weights()), (arguments.deals, len(NAMES)))
    margins = tuner.play(np.broadcast_to(tuner.now, start.shape), start)
    error = margins.std() / len(margins) ** 0.5
    print(json.dumps({"margin_against_start": round(float(margins.mean()), 2), "error": round(float(error), 2)}))


if __name__ == "__main__":
    main()
