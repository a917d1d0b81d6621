"""What an agent is: it chooses legal actions for any seat of one game variant."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game, State, copy_rows
from caravan_env.core.match import Thought
from caravan_env.core.rng import streams


class BadAgent(CaravanError, ValueError):
    """An agent that cannot be made from its spec, or that does not answer with action numbers."""


class Agent(ABC):
    """Base of all agents, the user's own included: implement `act`.

    Attributes:
        game: the variant that the agent plays.
        seed: where its own randomness starts.
        name: shown in records and tables; the spec string it was made from.
    """

    name: str = "agent"

    def __init__(self, game: Game, seed: int = 0) -> None:
        self.game = game
        self.seed = seed

    @abstractmethod
    def act(self, state: State) -> int:
        """Return a legal action for the seat to move. `state` is a copy; chance is never next in it."""

    def think(self, state: State) -> Thought:
        """Return the action with whatever the agent can say about it; override it to explain."""
        return Thought(self._whole(self.act(state)))

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return an action for each of many games in which a seat is to move; fast agents override it.

        Args:
            S: (rows,) games, not to be changed.
            mask: (rows, actions) uint8 action masks of those games.

        Returns:
            (rows,) int64 legal actions.

        Raises:
            BadAgent: `act` answered with something that is no whole number.
        """
        states = (State(self.game, copy_rows(S[i : i + 1])) for i in range(len(S)))
        return np.array([self._whole(self.act(state)) for state in states], dtype=np.int64)

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return an action for each of many numbered games, see `act_rows`.

        Agents that draw lots override it and keep one random stream per game number; a match then does not depend on
        how many games are played at once. Agents that draw none need not.

        Args:
            S: (rows,) games, not to be changed.
            mask: (rows, actions) uint8 action masks of those games.
            games: (rows,) int64, the number of each game in its match, no number twice.

        Returns:
            (rows,) int64 legal actions.
        """
        return self.act_rows(S, mask)

    def _whole(self, answer: Any) -> int:
        """Return an answer of any integer type as an int."""
        try:
            return operator.index(answer)
        except TypeError:
            raise BadAgent(f"agent {self.name!r} answered {answer!r}; it must answer with an action number") from None


class RowAgent(Agent):
    """Base of agents that think in batches: implement `act_rows`, and `act` follows."""

    def act(self, state: State) -> int:
        """Return the choice of `act_rows` for this one state."""
        return int(self.act_rows(state.row, state.action_mask()[None])[0])

    @abstractmethod
    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`."""


def enough_streams(R: NDArray[np.uint64], seed: int, games: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the streams 0, 1, ... of a seed, those in `R` as they are, and new ones up to the highest of `games`."""
    missing = int(games.max(initial=-1)) + 1 - len(R)
    return np.append(R, streams(seed, missing, first=len(R))) if missing > 0 else R
