"""Learning a policy by PPO against a league of scripted agents, past selves and itself."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from stable_baselines3.common.logger import Logger

from agents.network import network_of
from agents.neural import PolicyAgent
from caravan_env.core.game import Game
from train.checkpoint import Tensors
from train.config import Config
from train.environment import TrainingEnv
from train.imitation import imitate
from train.league import League
from train.ppo import SelfPlayPPO

_PARTS = ("optimizer", "environment", "league")


class PPOLearner:
    """The policy, its environment and its league; see `train.learner.Learner`."""

    def __init__(self, game: Game, config: Config, logger: Logger) -> None:
        self.game = game
        self.config = config
        self.step = 0
        self.logger = logger
        self.league = League(game, config.league, config.seed)
        self.env = TrainingEnv(game, config, self.league)
        self.model = SelfPlayPPO(config, self.env, logger)

    def begin(self, seed: int) -> None:
        """Imitate, if that is asked for, and start the first games."""
        choice = self.config.imitation
        if choice.agent is not None:
            imitate(self.model.policy.net, self.game, choice, seed, self.config.threads)
        self.league.begin(0, self.model.weights())
        self.model.start(self.env.reset())

    def iterate(self, iteration: int, progress: float, seed: int) -> None:
        """Collect a rollout, learn from it, and take a past self into the league if it is time."""
        self.league.begin(iteration, self.model.weights())
        before, start, in_steps = self.step, time.perf_counter(), self.env.seconds
        self.model.iterate(progress, seed)
        self.step = self.model.num_timesteps
        self._log(time.perf_counter() - start, self.env.seconds - in_steps)
        if self.step // self.config.league.add_every > before // self.config.league.add_every:
            self.league.add(self.step, self.model.weights())

    def agent(self, sample: bool, seed: int) -> PolicyAgent:
        """Return the policy as it is now."""
        return PolicyAgent(self.game, network_of(self.game, self.model.weights()), seed, sample)

    def network(self) -> dict[str, Any]:
        """See `Learner.network`."""
        return self.config.network.model_dump()

    def weights(self) -> Tensors:
        """See `Learner.weights`."""
        return self.model.weights()

    def snapshot(self) -> tuple[Tensors, dict[str, Any]]:
        """See `Learner.snapshot`."""
        parts = (self.model.optimizer_tensors(), self.env.snapshot(), self.league.tensors())
        tensors = {f"{part}/{n}": a for part, arrays in zip(_PARTS, parts, strict=True) for n, a in arrays.items()}
        return tensors, {"updates": self.model._n_updates, "league": self.league.state()}

    def restore(self, step: int, iteration: int, weights: Tensors, tensors: Tensors, state: dict[str, Any]) -> None:
        """See `Learner.restore`."""
        optimizer, environment, league = (
            {n.removeprefix(f"{part}/"): a for n, a in tensors.items() if n.startswith(f"{part}/")} for part in _PARTS
        )
        self.step = step
        self.model.load(weights, optimizer)
        self.model.num_timesteps, self.model._n_updates = step, state["updates"]
        self.league.restore(state["league"], league)
        self.league.begin(iteration, self.model.weights())
        self.model.start(self.env.restore(environment))

    def _log(self, seconds: float, environment: float) -> None:
        record = self.logger.record
        for name, (games, score) in self.league.take_results().items():
            record(f"games/{name}", games)
            record(f"score/{name}", score)
        record("rollout/reward", float(np.mean(self.model.rollout_buffer.rewards)))
        record("league/past", len(self.league.past))
        thinking = self.league.thinking()
        for name, share in {**thinking, "environment": environment - sum(thinking.values())}.items():
            record(f"time/{name}", share / seconds)
