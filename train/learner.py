"""What a training run asks of the thing that learns, whichever way it does."""

from __future__ import annotations

from typing import Any, Protocol

from agents.base import Agent
from caravan_env.core.game import Game
from train.checkpoint import Tensors


class Learner(Protocol):
    """Something that gets stronger by `iterate`.

    Attributes:
        game: the variant that it learns.
        step: decisions learned from so far.
    """

    game: Game
    step: int

    def begin(self, seed: int) -> None:
        """Get ready for the first iteration of a new run."""

    def iterate(self, iteration: int, progress: float, seed: int) -> None:
        """Play, learn, and record metrics.

        Args:
            iteration: number of the iteration.
            progress: how much of the budget is used, 0 to 1.
            seed: of everything random in the iteration.
        """

    def agent(self, sample: bool, seed: int) -> Agent:
        """Return an agent that plays by what is learned so far."""

    def network(self) -> dict[str, Any]:
        """Return the kind of the network and its widths, for the description of a checkpoint."""

    def weights(self) -> Tensors:
        """Return what playing needs, name -> array."""

    def snapshot(self) -> tuple[Tensors, dict[str, Any]]:
        """Return what going on needs beside the weights: arrays and JSON values."""

    def restore(self, step: int, iteration: int, weights: Tensors, tensors: Tensors, state: dict[str, Any]) -> None:
        """Go on from what `weights` and `snapshot` gave."""
