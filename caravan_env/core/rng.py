"""One random stream per row of a batch: splitmix64 on a uint64.

Results then depend neither on the size of the batch nor on the number of threads. The generator is Steele, Lea and
Flood's splitmix64 (OOPSLA 2014); a stream starts from the hash of (seed, index), so that neighbours are unrelated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.kernel import helper

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


def streams(seed: int, count: int, first: int = 0) -> NDArray[np.uint64]:
    """Return the start of `count` independent streams, numbered from `first`.

    Args:
        seed: any non-negative integer.
        count: number of streams.
        first: number of the first stream; stream k of a seed is the same whatever `first` and `count` are.

    Returns:
        uint64 array of shape (count,).
    """
    if seed < 0:
        raise ValueError(f"seed must be a non-negative integer, not {seed}")
    words = [
        np.random.SeedSequence(entropy=seed, spawn_key=(k,)).generate_state(1, np.uint64)[0]
        for k in range(first, first + count)
    ]
    return np.array(words, dtype=np.uint64)


@helper
def next_u64(R, r):
    """Advance stream `R[r]` and return 64 random bits."""
    R[r] += _GAMMA
    z = R[r]
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@helper
def below(R, r, n):
    """Advance stream `R[r]` and return an integer in [0, n), n < 2**32; bias is below n / 2**32."""
    return np.int64(((next_u64(R, r) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@helper
def uniform(R, r):
    """Advance stream `R[r]` and return a float64 in [0, 1)."""
    return np.float64(next_u64(R, r) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
