"""An agent that now and then plays a random action instead of another agent's choice.

Scripted agents differ so much that the weaker one of two hardly ever wins, and a distance cannot be measured by games
that all end the same way. Noise of several shares makes the rungs in between.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, RowAgent, enough_streams
from agents.simple import RandomAgent
from caravan_env.core.kernel import kernel
from caravan_env.core.rng import streams, uniform

_COINS = (0xC0, 0x14)  # tells the stream of coins from those that games and agents draw from


class NoisyAgent(RowAgent):
    """Plays a random legal action with the probability `share`, and what `inner` says otherwise.

    A coin is thrown for each action; each game of a match has a stream of its own for them, as `RandomAgent` has.
    """

    def __init__(self, inner: Agent, share: float, seed: int = 0) -> None:
        super().__init__(inner.game, seed)
        self.inner = inner
        self.share = share
        self._random = RandomAgent(inner.game, seed)
        self._seed_of_coins = int(np.random.SeedSequence(seed, spawn_key=_COINS).generate_state(1, np.uint64)[0])
        self._coins = streams(self._seed_of_coins, 1)

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; row i draws from stream i."""
        return self.act_games(S, mask, np.arange(len(S)))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`; game g draws from stream g."""
        self._coins = enough_streams(self._coins, self._seed_of_coins, games)
        tickets = np.empty(len(games))
        _draw_tickets(self._coins, games, tickets)
        actions = np.empty(len(S), np.int64)
        noisy = tickets < self.share
        for agent, rows in ((self._random, np.flatnonzero(noisy)), (self.inner, np.flatnonzero(~noisy))):
            if len(rows):
                actions[rows] = agent.act_games(S[rows], mask[rows], games[rows])
        return actions


@kernel
def _draw_tickets(R, rows, tickets):  # type: ignore[no-untyped-def]
    """Write a uniform number in [0, 1) for each row of streams."""
    for k in range(rows.shape[0]):
        tickets[k] = uniform(R, rows[k])
