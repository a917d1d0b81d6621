"""The training environment: `SeatVecEnv` with a clock, snapshots for checkpoints, and counts for observations."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from agents.registry import heuristic_potential
from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game
from caravan_env.envs.common import Shaping
from caravan_env.envs.vector import SeatVecEnv, StepReturn
from train.config import Config, ShapingConfig
from train.league import League


class TrainingEnv(SeatVecEnv):
    """Games of the learner against its league.

    Observations are the uint8 counts themselves: a rollout holds many, and its policy scales those of a minibatch.

    Attributes:
        seconds: spent in steps so far, opponents' thinking included.
    """

    seconds = 0.0

    def __init__(self, game: Game, config: Config, league: League) -> None:
        shaping = make_shaping(game, config.shaping, config.ppo.gamma)
        super().__init__(game, config.ppo.n_envs, opponents=league, seed=config.seed, shaping=shaping)
        self.observation_space = spaces.Box(0, 255, (game.layout.size,), np.uint8)

    def step_wait(self) -> StepReturn:
        """See `SeatVecEnv.step_wait`."""
        start = time.perf_counter()
        result = super().step_wait()
        self.seconds += time.perf_counter() - start
        return result

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return arrays that `restore` goes on from; none of them is structured."""
        return {
            "games": self.batch.S.view(np.uint8).reshape(self.num_envs, -1).copy(),
            "chance": self.batch._chance.copy(),
            "seats": self.seats.copy(),
            "opponents": self._opponents.copy(),
            "lengths": self._lengths.copy(),
            "counts": self._games.copy(),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
        """Go on from a snapshot; return the observations of the learner's next decisions."""
        self.reset()
        self.batch.S[:] = arrays["games"].reshape(-1).view(self.batch.S.dtype)
        self.batch._chance[:] = arrays["chance"]
        self.seats[:] = arrays["seats"]
        self._opponents[:] = arrays["opponents"]
        self._lengths[:] = arrays["lengths"]
        self._games[:] = arrays["counts"]
        self._look()
        if self._shaping is not None:
            self._potential = self._shaping.potential(self.batch.S, self.seats)
        return self._obs

    def _shown(self, counts: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return counts.copy()


def make_shaping(game: Game, config: ShapingConfig, gamma: float) -> Shaping | None:
    """Return the shaping that a configuration asks for, None if it is switched off."""
    if config.weight == 0:
        return None
    own = heuristic_potential(game) if config.potential == "heuristic" else ScorePotential(game, config.scale)
    if own is None:
        raise CaravanError(f"{game.name} has no potential of its own; say shaping.potential=score")

    def potential(S: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float64]:
        return config.weight * own(S, seats)

    return Shaping(potential, gamma)


class ScorePotential:
    """Own score minus the best of the others', over a scale: for every game."""

    def __init__(self, game: Game, scale: float) -> None:
        self.game = game
        self.scale = scale

    def __call__(self, S: NDArray[np.void], seats: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the potentials (rows,) of seats (rows,) in games (rows,)."""
        rows = np.arange(len(S))
        scores = np.zeros((len(S), self.game.players))
        for row in rows:
            self.game.spec.rules.score(S, row, scores[row])
        own = scores[rows, seats]
        scores[rows, seats] = -np.inf
        margin: NDArray[np.float64] = (own - scores.max(axis=1)) / self.scale
        return margin
