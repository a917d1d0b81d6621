"""Value networks: their weights, and how the kernels get them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from agents.search.evaluators import margin_scale
from agents.value.kernels import SCRATCH, Net
from caravan_env.core.game import Game

Float = NDArray[np.float32]


@dataclasses.dataclass(frozen=True)
class ValueNetwork:
    """The weights of a value network; see `agents.value.kernels.Net` for what is done with them.

    Attributes:
        tensors: name -> array: "into.weight" (first, inputs), "into.bias", "middle.weight" (second, first),
            "middle.bias", "out.weight" (1, second), "skip.weight" (1, features).
    """

    tensors: Mapping[str, Float]

    @classmethod
    def new(cls, observation: int, features: int, widths: Sequence[int], seed: int = 0) -> Self:
        """Return a network that says what the game's own evaluation says, or 0 if there is none.

        Args:
            observation: numbers of the observation that are inputs, all or none.
            features: number of features.
            widths: of the two layers.
            seed: of the weights.
        """
        rng = np.random.default_rng(seed)
        inputs, (first, second) = observation + features, widths
        skip = np.zeros((1, features), np.float32)
        skip[:, :1] = 1.0
        return cls(
            {
                "into.weight": rng.normal(0, 0.3 if features else 0.15, (first, inputs)).astype(np.float32),
                "into.bias": np.zeros(first, np.float32),
                "middle.weight": rng.normal(0, (2 / first) ** 0.5, (second, first)).astype(np.float32),
                "middle.bias": np.zeros(second, np.float32),
                "out.weight": np.zeros((1, second), np.float32),
                "skip.weight": skip,
            }
        )

    @property
    def features(self) -> int:
        """Number of features that it reads beside the observation."""
        return int(self.tensors["skip.weight"].shape[1])

    @property
    def observation(self) -> int:
        """Number of the observation's values that it reads: all or none."""
        return int(self.tensors["into.weight"].shape[1]) - self.features

    def net(self, game: Game, aim: tuple[float, float, float] = (0.0, 1.0, 1.0)) -> Net:
        """Return the network for the kernels, with memory of its own."""
        t, size = self.tensors, self.observation
        scale = np.concatenate([game.layout.scale[:size], np.ones(self.features, np.float32)])
        first, second = len(t["into.bias"]), len(t["middle.bias"])
        buffers: list[Any] = []
        for _ in range(2):
            memory = np.zeros(-(-size // 8) * 8, np.uint8)
            buffers += [memory[:size], memory.view(np.uint64)]
        return Net(
            into=np.ascontiguousarray((t["into.weight"] * scale).T, np.float32),
            into_bias=t["into.bias"].copy(),
            middle=np.ascontiguousarray(t["middle.weight"].T, np.float32),
            middle_bias=t["middle.bias"].copy(),
            out=t["out.weight"][0].copy(),
            skip=t["skip.weight"][0].copy(),
            aim=np.array([*aim, margin_scale(game)]),
            obs=buffers[0],
            words=buffers[1],
            base_obs=buffers[2],
            base_words=buffers[3],
            feats=np.zeros(self.features, np.float32),
            sums=np.zeros(first, np.float32),
            base_sums=np.zeros(first, np.float32),
            hidden=np.zeros(second, np.float32),
            rows=np.zeros(SCRATCH, game.spec.state_dtype),
            actions=np.zeros(game.num_actions, np.int64),
            values=np.zeros(game.num_actions),
            points=np.zeros(game.players),
        )
