"""Agents that need no knowledge of a game: a uniformly random one and one that takes the first legal action."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import RowAgent, enough_streams
from caravan_env.core.game import Game
from caravan_env.core.rng import streams


class RandomAgent(RowAgent):
    """Plays each legal action with the same probability.

    It keeps one random stream per game of a match (`act_games`) and one per row otherwise (`act_rows`): a choice
    depends on the agent's seed, the number of the game or row, and how many choices were made there before.
    """

    def __init__(self, game: Game, seed: int = 0) -> None:
        super().__init__(game, seed)
        self._streams = streams(seed, 1)

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return random legal actions; row i draws from stream i."""
        return self.act_games(S, mask, np.arange(len(S)))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return random legal actions; game g draws from stream g."""
        self._streams = enough_streams(self._streams, self.seed, games)
        own = self._streams[games]
        actions = np.zeros(len(S), np.int64)
        self.game.loops["random_rows"](S, own, actions)
        self._streams[games] = own
        return actions


class FirstAgent(RowAgent):
    """Plays the legal action with the lowest number: the simplest agent that is the same in every game."""

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the lowest-numbered legal actions."""
        return mask.argmax(axis=1).astype(np.int64)
