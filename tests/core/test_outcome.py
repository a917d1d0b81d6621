"""Terminal returns from standings, against the sentence of `GameParams.returns` in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caravan_env.core.outcome import RETURN_MARGIN, RETURN_RANK, RETURN_WIN, write_returns
from caravan_env.core.params import RETURNS

SEATS = st.integers(2, 6)


def computed(mode: int, standing: list[int], scores: list[float]) -> list[float]:
    out = np.array(scores, np.float64)
    write_returns(mode, len(standing), np.array([*standing, 99, 99], np.int32), out)
    return list(out)


def expected_win(standing: list[int]) -> list[float]:
    """A sole winner has 1 and the others share -1; winners who tie split what they would have had one by one."""
    n, best = len(standing), max(standing)
    winners = [seat for seat, s in enumerate(standing) if s == best]
    one_wins = [[1.0 if seat == winner else -1.0 / (n - 1) for seat in range(n)] for winner in winners]
    return [sum(values) / len(winners) for values in zip(*one_wins, strict=True)]


def expected_rank(standing: list[int]) -> list[float]:
    """Places from 1 to -1, evenly spaced; those who tie get the mean of the places they take together."""
    n = len(standing)
    places = [1 - 2 * k / (n - 1) for k in range(n)]
    order = sorted(standing, reverse=True)
    shares = {s: [p for p, other in zip(places, order, strict=True) if other == s] for s in standing}
    return [sum(shares[s]) / len(shares[s]) for s in standing]


def expected_margin(scores: list[float]) -> list[float]:
    others = [[x for k, x in enumerate(scores) if k != seat] for seat in range(len(scores))]
    return [mine - sum(rest) / len(rest) for mine, rest in zip(scores, others, strict=True)]


standings = SEATS.flatmap(lambda n: st.lists(st.integers(-3, 3), min_size=n, max_size=n))


@given(standings)
def test_win(standing: list[int]) -> None:
    values = computed(RETURN_WIN, standing, [7.0] * len(standing))
    assert values == pytest.approx(expected_win(standing)) and sum(values) == pytest.approx(0)


@given(standings)
def test_rank(standing: list[int]) -> None:
    values = computed(RETURN_RANK, standing, [7.0] * len(standing))
    assert values == pytest.approx(expected_rank(standing)) and sum(values) == pytest.approx(0)


@given(SEATS.flatmap(lambda n: st.lists(st.integers(-50, 200), min_size=n, max_size=n)))
def test_margin(scores: list[int]) -> None:
    values = computed(RETURN_MARGIN, [0] * len(scores), [float(x) for x in scores])
    assert values == pytest.approx(expected_margin([float(x) for x in scores])) and sum(values) == pytest.approx(0)


@pytest.mark.parametrize(
    ("mode", "standing", "returns"),
    [
        ("win", [3, 1], [1, -1]),
        ("win", [2, 2], [0, 0]),
        ("win", [1, 5, 2], [-0.5, 1, -0.5]),
        ("win", [5, 5, 2], [0.25, 0.25, -0.5]),
        ("win", [4, 4, 4, 4], [0, 0, 0, 0]),
        ("rank", [3, 1], [1, -1]),
        ("rank", [1, 5, 2], [-1, 1, 0]),
        ("rank", [1, 2, 3, 4], [-1, -1 / 3, 1 / 3, 1]),
        ("rank", [9, 9, 1], [0.5, 0.5, -1]),
        ("rank", [2, 2, 2], [0, 0, 0]),
    ],
)
def test_examples(mode: str, standing: list[int], returns: list[float]) -> None:
    values = computed(RETURNS.index(mode), standing, [0.0] * len(standing))
    assert values == pytest.approx(returns)


def test_margin_examples() -> None:
    assert computed(RETURN_MARGIN, [0, 0], [41.0, 37.0]) == [4.0, -4.0]
    assert computed(RETURN_MARGIN, [0, 0, 0], [10.0, 4.0, 2.0]) == [7.0, -2.0, -5.0]


def test_seats_beyond_the_players_are_not_written() -> None:
    out = np.array([5.0, 1.0, 77.0])
    for mode in (RETURN_WIN, RETURN_RANK, RETURN_MARGIN):
        write_returns(mode, 2, np.array([2, 1, 9], np.int32), out)
        assert out[2] == 77.0
