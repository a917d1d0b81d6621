"""The scripted agents of Century: Spice Road, and its potential for reward shaping."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, RowAgent
from agents.heuristic.century.evaluate import DEFAULT_WEIGHTS, new_memory, potential_rows, potentials
from agents.heuristic.century.greedy import grab_rows
from agents.heuristic.century.search import new_beam, plan_rows
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game
from caravan_env.games.century.layout import ACTIONS, STATE

MAX_BEAM = 65_536
MAX_DEPTH = 64


class GreedyAgent(RowAgent):
    """Plays the single action after which it has the most progress.

    Progress is: the points of cards and coins taken, twice, so that it claims what it can; the cubes of the caravan,
    the higher the colour the more; how far they cover the two nearest face-up point cards; merchants owned, up to a
    number, and those of them that are ready in hand. It looks no action ahead, and takes no notice of the automa or
    the other seats.
    """

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        chosen = np.zeros(len(S), np.int64)
        grab_rows(S, np.zeros(1, STATE), np.zeros(ACTIONS.size, np.int64), DEFAULT_WEIGHTS, chosen)
        return chosen


class PlannerAgent(RowAgent):
    """Plans its own turns ahead by a beam search (`search`) with a hand-made evaluation (`evaluate`).

    It plans anew at each decision, so that its choice depends on the position alone.
    """

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        *,
        beam: int = 100,
        depth: int = 10,
        discount: float = 0.96,
        threads: int = 1,
    ) -> None:
        """Make a planner; the time it takes is proportional to `beam * depth`.

        Args:
            game: a variant of Century.
            seed: not used; the planner draws no lots.
            beam: positions kept for each turn.
            depth: own turns that it plans.
            discount: what a point is worth a turn later.
            threads: threads that share the rows of a batch; choices do not depend on it.
        """
        super().__init__(game, seed)
        for name, value, most in (("beam", beam, MAX_BEAM), ("depth", depth, MAX_DEPTH), ("threads", threads, 256)):
            if not 1 <= value <= most:
                raise BadParams(f"planner:{name} = {value} is not possible: 1 to {most}")
        if not 0 < discount <= 1:
            raise BadParams(f"planner:discount = {discount} is not possible: above 0, up to 1")
        self.depth, self.discount = depth, discount
        self._beams = [new_beam(beam) for _ in range(threads)]

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        chosen = np.zeros(len(S), np.int64)
        if len(self._beams) == 1:
            plan_rows(S, self.depth, self.discount, DEFAULT_WEIGHTS, self._beams[0], chosen)
            return chosen
        parts = np.array_split(np.arange(len(S)), len(self._beams))
        with ThreadPoolExecutor(len(parts)) as pool:
            work = [(S[part], beam, chosen[part]) for part, beam in zip(parts, self._beams, strict=True)]
            plans = [
                pool.submit(plan_rows, rows, self.depth, self.discount, DEFAULT_WEIGHTS, *job) for rows, *job in work
            ]
            for done in plans:
                done.result()
        return np.concatenate([out for _, _, out in work])


def potential(S: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return about what each seat can expect as its return, for potential-based shaping (Ng, Harada and Russell 1999).

    It is the lead of a seat over its best rival, or over the automa, what both hope for included, through a tanh that
    gets steeper as the point cards run out. Finished games have the potential 0.

    Args:
        S: (rows,) games.
        seats: (rows,) the seat to speak for in each.

    Returns:
        (rows,) float64 in [-1, 1].
    """
    out = np.zeros(len(S))
    potential_rows(S, np.ascontiguousarray(seats, dtype=np.int64), DEFAULT_WEIGHTS, out)
    return out


AGENTS: dict[str, type[Agent]] = {"greedy": GreedyAgent, "planner": PlannerAgent}

__all__ = ["AGENTS", "GreedyAgent", "PlannerAgent", "new_memory", "potential", "potentials"]
