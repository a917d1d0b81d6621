"""The layout of an observation vector: consecutive named pieces, each with a shape and a meaning."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True)
class Piece:
    """A named run of an observation vector.

    Attributes:
        name: what it shows, for example "bag".
        shape: how to reshape the run.
        meaning: one line for the documentation, with the scale of the values.
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
    """The pieces of one game variant's observation, in order."""

    def __init__(self, *pieces: tuple[str, tuple[int, ...], str]) -> None:
        start = 0
        self.pieces: dict[str, Piece] = {}
        for name, shape, meaning in pieces:
            self.pieces[name] = Piece(name, shape, meaning, start)
            start = self.pieces[name].stop
        self.size = start

    def __getitem__(self, name: str) -> Piece:
        return self.pieces[name]

    def split(self, vector: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
        """Return views of an observation, or of a batch of them (..., size), by piece name and in piece shape."""
        return {
            name: vector[..., piece.start : piece.stop].reshape(*vector.shape[:-1], *piece.shape)
            for name, piece in self.pieces.items()
        }
