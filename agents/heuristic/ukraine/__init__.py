"""The scripted agents of Carcassonne on the map of Ukraine, and its potential for reward shaping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, RowAgent
from agents.heuristic.ukraine.evaluate import new_desk, new_memory, potential_rows, potentials
from agents.heuristic.ukraine.search import Table, choose_rows, new_table
from agents.heuristic.ukraine.weights import GREEDY, PLANNER, Weights
from caravan_env.core.game import Game


def choices(S: NDArray[np.void], weights: Weights, table: Table) -> NDArray[np.int64]:
    """Return the choices of the search for (rows,) games, (rows,) int64."""
    chosen = np.zeros(len(S), np.int64)
    choose_rows(S, weights, table, chosen)
    return chosen


class GreedyAgent(RowAgent):
    """Plays the part-turn, tile and figure or trade, after which it leads most if the game ended now."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        """Make a greedy agent; it draws no lots."""
        super().__init__(game, seed)
        self._table = new_table()

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        return choices(S, GREEDY, self._table)


class PlannerAgent(RowAgent):
    """Plays the part-turn, tile and figure or trade, after which it can hope for the largest lead, see `evaluate`.

    It plans anew at each decision, so that its choice depends on the position alone.
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        """Make a planner; it draws no lots."""
        super().__init__(game, seed)
        self.weights = PLANNER
        self._table = new_table()

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; depends on the positions alone."""
        return choices(S, self.weights, self._table)


def potential(S: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return about what each seat can expect as its return, for potential-based shaping (Ng, Harada and Russell 1999).

    It is the lead of a seat over its rivals, what all hope for included, through a tanh that gets steeper as the tiles
    run out. Finished games have the potential 0.

    Args:
        S: (rows,) games.
        seats: (rows,) the seat to speak for in each.

    Returns:
        (rows,) float64 in [-1, 1].
    """
    out = np.zeros(len(S))
    potential_rows(S, np.ascontiguousarray(seats, dtype=np.int64), PLANNER, new_desk(), out)
    return out


AGENTS: dict[str, type[Agent]] = {"greedy": GreedyAgent, "planner": PlannerAgent}

__all__ = ["AGENTS", "GreedyAgent", "PlannerAgent", "new_memory", "potential", "potentials"]
