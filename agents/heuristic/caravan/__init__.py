"""The scripted agents of Caravan, and its potential for reward shaping."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, RowAgent
from agents.heuristic.caravan.evaluate import new_memory, new_scratch, potential_rows, potentials
from agents.heuristic.caravan.greedy import grab_rows
from agents.heuristic.caravan.search import new_pools, plan_rows
from agents.heuristic.caravan.weights import DEFAULT_WEIGHTS
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game
from caravan_env.games.caravan.layout import ACTIONS, STATE

MAX_BEAM = 4096


class GreedyAgent(RowAgent):
    """Plays the single action with the best immediate gain.

    The gain is, first, points: delivering, or collecting demand markers. Among actions with equally many points it is
    progress: what the best good that the seat carries or could pick up brings, less the actions that this still takes.
    So it places camels where they link that good to its city, picks it up, moves it on, and delivers. If no action of a
    whole turn gains anything, it takes the first of the two that do; if there are none, it ends the turn. It never
    steals on purpose, and takes no notice of the other seats or of the end of the game.
    """

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        chosen = np.zeros(len(S), np.int64)
        grab_rows(S, np.zeros(2, STATE), np.zeros((2, ACTIONS.size), np.int64), new_scratch(), chosen)
        return chosen


class PlannerAgent(RowAgent):
    """Searches the action sequences of its own turn for the one that leaves it best off against the others.

    A beam search (`search`) with a hand-made evaluation (`evaluate`): what is delivered and collected; goods
    carried, by the actions to their cities; goods within reach; theft; camels at hand; the same for the others, who
    move next. It plans anew at each decision, so that its choice depends on the position alone.
    """

    def __init__(self, game: Game, seed: int = 0, *, beam: int = 16, threads: int = 1) -> None:
        """Make a planner.

        Args:
            game: a variant of Caravan.
            seed: not used; the planner draws no lots.
            beam: positions kept for each number of actions left; the time it takes is proportional.
            threads: threads that share the rows of a batch; choices do not depend on it.
        """
        super().__init__(game, seed)
        for name, value, most in (("beam", beam, MAX_BEAM), ("threads", threads, 256)):
            if not 1 <= value <= most:
                raise BadParams(f"planner:{name} = {value} is not possible: 1 to {most}")
        self.beam = beam
        self.threads = threads

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        parts = np.array_split(S, max(1, min(self.threads, len(S))))
        if len(parts) == 1:
            return self._plan(S)
        with ThreadPoolExecutor(len(parts)) as pool:
            return np.concatenate(list(pool.map(self._plan, parts)))

    def _plan(self, S: NDArray[np.void]) -> NDArray[np.int64]:
        chosen = np.zeros(len(S), np.int64)
        plan_rows(S, DEFAULT_WEIGHTS, new_scratch(), new_pools(self.beam), chosen)
        return chosen


def potential(S: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return about what each seat can expect as its return, for potential-based shaping (Ng, Harada and Russell 1999).

    It is the planner's evaluation (points had and expected, less the mean of the others') through a tanh that was
    fitted to the "win" returns of the planner's games against itself with two players. Finished games have the
    potential 0.

    Args:
        S: (rows,) games.
        seats: (rows,) the seat to speak for in each.

    Returns:
        (rows,) float64 in [-1, 1].
    """
    out = np.zeros(len(S))
    potential_rows(S, np.ascontiguousarray(seats, dtype=np.int64), DEFAULT_WEIGHTS, new_scratch(), out)
    return out


AGENTS: dict[str, type[Agent]] = {"greedy": GreedyAgent, "planner": PlannerAgent}

__all__ = ["AGENTS", "GreedyAgent", "PlannerAgent", "new_memory", "potential", "potentials"]
