"""MaskablePPO of sb3-contrib with schedules that follow a budget, steered from outside one iteration at a time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from train.config import Config
from train.environment import TrainingEnv
from train.network import make_network
from train.policy import BooleanMaskBuffer, FastMaskedPolicy

_LIKE_SB3 = (
    "n_steps",
    "batch_size",
    "n_epochs",
    "gamma",
    "gae_lambda",
    "clip_range",
    "vf_coef",
    "max_grad_norm",
    "target_kl",
)


class SelfPlayPPO(MaskablePPO):
    """One rollout and one update per `iterate`; `learn` is not used: evaluation and checkpoints come between."""

    env: TrainingEnv
    policy: FastMaskedPolicy

    def __init__(self, config: Config, env: TrainingEnv, logger: Logger) -> None:
        ppo, game = config.ppo, env.game
        super().__init__(
            FastMaskedPolicy,
            env,
            learning_rate=lambda remaining: at(ppo.learning_rate_end, ppo.learning_rate, remaining),
            rollout_buffer_class=BooleanMaskBuffer,
            policy_kwargs={"make_network": partial(make_network, game, config.network), "scale": game.layout.scale},
            seed=config.seed,
            device="cpu",
            **{name: getattr(ppo, name) for name in _LIKE_SB3},
        )
        self.config = ppo
        self.set_logger(logger)
        self._callback = self._init_callback(None)

    def start(self, observations: NDArray[Any]) -> None:
        """Begin with the observations of the first decisions, of new games or of those of a checkpoint."""
        self._last_obs = observations
        # Only the first step of a rollout could be taken for the end of an episode by this flag, and it never is.
        self._last_episode_starts = np.zeros(self.n_envs, dtype=bool)

    def iterate(self, progress: float, seed: int) -> None:
        """Collect one rollout and learn from it.

        Args:
            progress: how much of the budget is used, 0 to 1; learning rate and entropy coefficient follow it.
            seed: of everything random in the iteration.
        """
        torch.manual_seed(seed)
        self._current_progress_remaining = 1.0 - progress
        self.ent_coef = at(self.config.ent_coef, self.config.ent_coef_end, progress)
        self.collect_rollouts(self.env, self._callback, self.rollout_buffer, self.n_steps)
        self.train()
        self.logger.record("train/ent_coef", self.ent_coef)

    def _update_info_buffer(self, infos: list[dict[str, Any]], dones: NDArray[np.bool_] | None = None) -> None:
        """Do nothing: the league keeps the results."""

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return a copy of the network's weights by name."""
        return {name: tensor.numpy(force=True).copy() for name, tensor in self.policy.net.state_dict().items()}

    def optimizer_tensors(self) -> dict[str, NDArray[Any]]:
        """Return the optimizer's moments and step counts, "<parameter>.<what>" -> array."""
        state = self.policy.optimizer.state_dict()["state"]
        return {f"{k}.{what}": tensor.numpy(force=True).copy() for k, s in state.items() for what, tensor in s.items()}

    def load(self, weights: Mapping[str, NDArray[Any]], optimizer: Mapping[str, NDArray[Any]]) -> None:  # type: ignore[override]
        """Take back what `weights` and `optimizer_tensors` gave."""
        self.policy.net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in optimizer.items():
            number, _, what = name.partition(".")
            state.setdefault(int(number), {})[what] = torch.from_numpy(array)
        whole = self.policy.optimizer.state_dict()
        self.policy.optimizer.load_state_dict({"state": state, "param_groups": whole["param_groups"]})


def at(start: float, end: float, progress: float) -> float:
    """Return the value between start (progress 0) and end (progress 1)."""
    return start + (end - start) * progress
