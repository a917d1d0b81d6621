"""Small operations on 64-bit sets. LLVM turns the population count into one instruction."""

from __future__ import annotations

import numpy as np

from caravan_env.core.kernel import helper

ONE = np.uint64(1)
_M1 = np.uint64(0x5555555555555555)
_M2 = np.uint64(0x3333333333333333)
_M4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_H01 = np.uint64(0x0101010101010101)


@helper
def popcount(bits):
    """Return the number of ones in a uint64."""
    x = bits - ((bits >> np.uint64(1)) & _M1)
    x = (x & _M2) + ((x >> np.uint64(2)) & _M2)
    x = (x + (x >> np.uint64(4))) & _M4
    return np.int64((x * _H01) >> np.uint64(56))


@helper
def lowest(bits):
    """Return the index of the lowest one of a uint64 that is not 0."""
    return popcount((bits & (~bits + ONE)) - ONE)


@helper
def nth_set(bits, n):
    """Return the index of the n-th one (from 0, lowest first) of a uint64 that has more than n ones.

    Halves the range six times without a branch, which a random n would make unpredictable.
    """
    base = np.uint64(0)
    left = np.uint64(n)
    for step in (32, 16, 8, 4, 2, 1):
        width = np.uint64(step)
        here = np.uint64(popcount((bits >> base) & ((ONE << width) - ONE)))
        beyond = np.uint64(left >= here)
        left -= here * beyond
        base += width * beyond
    return np.int64(base)


@helper
def bit(index):
    """Return the uint64 set that holds `index` alone."""
    return ONE << np.uint64(index)
