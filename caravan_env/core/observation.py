"""The layout of an observation vector: consecutive named pieces of small counts, each with a scale and a meaning.

Kernels write observations as uint8: counts and one-hots as they are, four times smaller and much faster to write than
floats. Learners want values around 1: `scaled` multiplies each by its piece's scale.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True)
class Piece:
    """A named run of an observation vector.

    Attributes:
        name: what it shows, for example "bag".
        shape: how to reshape the run.
        meaning: one line for the documentation: what the counts are.
        start: index of the first value.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    start: int

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    @property
    def stop(self) -> int:
        """One past the index of the last value."""
        return self.start + self.size


class ObservationLayout:
    """The pieces of one game variant's observation, in order.

    Attributes:
        pieces: by name.
        size: number of values.
        scale: (size,) float32; counts times scale are what learners see.
    """

    def __init__(self, *pieces: tuple[str, tuple[int, ...], float | Sequence[float], str]) -> None:
        """Lay the pieces out.

        Args:
            *pieces: (name, shape, scale, meaning); the scale is a number or one number per entry of the last axis.
        """
        start = 0
        self.pieces: dict[str, Piece] = {}
        scales = []
        for name, shape, scale, meaning in pieces:
            self.pieces[name] = Piece(name, shape, meaning, start)
            start = self.pieces[name].stop
            scales.append(np.broadcast_to(np.asarray(scale, np.float32), shape).ravel())
        self.size = start
        self.scale: NDArray[np.float32] = np.concatenate(scales)

    def __getitem__(self, name: str) -> Piece:
        return self.pieces[name]

    def scaled(self, counts: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return observations as learners see them, (..., size) float32, from those that kernels write."""
        return counts * self.scale

    def split(self, vector: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return views of an observation, or of a batch of them (..., size), by piece name and in piece shape."""
        return {
            name: vector[..., piece.start : piece.stop].reshape(*vector.shape[:-1], *piece.shape)
            for name, piece in self.pieces.items()
        }
