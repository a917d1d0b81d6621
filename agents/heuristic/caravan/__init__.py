"""The scripted agents of Caravan, and its potential for reward shaping."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, RowAgent
from agents.heuristic.caravan.evaluate import new_scratch, potential_rows
from agents.heuristic.caravan.greedy import grab_rows
from agents.heuristic.caravan.search import new_pools, plan_rows
from agents.heuristic.caravan.weights import DEFAULT_WEIGHTS
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game
from caravan_env.games.caravan.layout import ACTIONS, STATE

MAX_BEAM = 4096


class GreedyAgent(RowAgent):
    """Plays the single action with the best immediate gain.

    The gain is, first, points: delivering, or collecting demand markers, less what carrying costs. Among actions with
    equally many points it is progress: the points per action of the best good that the seat carries or could pick
    up, so that it places camels where they link that good to its city, moves it on, and delivers. It never looks two
    actions ahead, never steals on purpose, and takes no notice of the other seats.
    """

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        chosen = np.zeros(len(S), np.int64)
        grab_rows(S, np.zeros(2, STATE), np.zeros((2, ACTIONS.size), np.int64), new_scratch(), chosen)
        return chosen


class PlannerAgent(RowAgent):
    """Searches the action sequences of its own turn for the one that leaves it best off against the others.

    A beam search (`search.plan`) with a hand-made evaluation (`evaluate`): what is delivered and collected; goods
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
        self._memories = [(new_scratch(), new_pools(beam)) for _ in range(threads)]

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        chosen = np.zeros(len(S), np.int64)
        if len(self._memories) == 1:
            plan_rows(S, DEFAULT_WEIGHTS, *self._memories[0], chosen)
            return chosen
        parts = np.array_split(np.arange(len(S)), len(self._memories))
        with ThreadPoolExecutor(len(parts)) as pool:
            work = [(S[part], memory, chosen[part]) for part, memory in zip(parts, self._memories, strict=True)]
            list(pool.map(lambda job: plan_rows(job[0], DEFAULT_WEIGHTS, *job[1], job[2]), work))
            return np.concatenate([job[2] for job in work])


def potential(S: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return about what each seat can expect as its return, for potential-based shaping (Ng, Harada and Russell 1999).

    It is the planner's evaluation (points had and expected, less the mean of the others') through a tanh that gets
    steeper as the goods run out; about the expected return of "win" with two players. Finished games have the
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
