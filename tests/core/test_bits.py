"""64-bit sets against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caravan_env.core.bits import bit, lowest, nth_set, popcount

SETS = st.one_of(
    st.integers(1, 2**64 - 1),
    st.integers(0, 63).map(lambda k: 1 << k),
    st.integers(0, 63).map(lambda k: (2**64 - 1) ^ (1 << k)),
)


def ones(number: int) -> list[int]:
    return [k for k in range(64) if number >> k & 1]


@given(SETS)
@example(2**64 - 1)
@example(1 << 63)
def test_counts_and_places(number: int) -> None:
    bits = np.uint64(number)
    assert popcount(bits) == number.bit_count()
    assert lowest(bits) == ones(number)[0]
    assert [nth_set(bits, n) for n in range(number.bit_count())] == ones(number)


def test_the_empty_set() -> None:
    assert popcount(np.uint64(0)) == 0


@pytest.mark.parametrize("index", range(64))
def test_bit(index: int) -> None:
    assert int(bit(index)) == 1 << index
    assert type(bit(index)) in (int, np.uint64)
