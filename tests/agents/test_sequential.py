"""The sequential test on simulated deals: how often it errs, what it looks at, and where it stops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.sequential import (
    BETTER,
    NOT_BETTER,
    UNDECIDED,
    SequentialTest,
    compare,
    elo_of,
    expected_share,
    share_interval,
)
from caravan_env import make_game
from caravan_env.core.errors import BadParams

TRIALS = 300
LOOK = 10  # deals between two looks, as in `compare`


def deals(rng: np.random.Generator, share: float, players: int, count: int) -> NDArray[np.float64]:
    """Mean shares of the win in deals whose luck changes with the seat: a good one for A is a bad one for B."""
    luck = rng.normal(0, 0.15, (count, 1)) * np.resize([1, -1], players)
    return (rng.random((count, players)) < np.clip(share + luck, 0, 1)).mean(axis=1)


def decide(test: SequentialTest, samples: NDArray[np.float64]) -> tuple[str, int]:
    for count in range(LOOK, len(samples) + 1, LOOK):
        decision = test.decide(samples[:count])
        if decision != UNDECIDED:
            return decision, count
    return UNDECIDED, len(samples)


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize(("elo", "wrong"), [(0, BETTER), (60, NOT_BETTER)])
def test_errors_are_as_rare_as_asked_for(players: int, elo: float, wrong: str) -> None:
    test = SequentialTest(0, 60, 0.05, 0.05, players)
    rng = np.random.default_rng(players)
    share = expected_share(elo, players)
    results = [decide(test, deals(rng, share, players, 2000)) for _ in range(TRIALS)]
    assert sum(decision == wrong for decision, _ in results) <= 0.05 * TRIALS + 2 * math.sqrt(0.05 * 0.95 * TRIALS)
    assert all(decision != UNDECIDED for decision, _ in results)
    assert np.mean([count for _, count in results]) < 350


def test_a_large_difference_is_seen_sooner() -> None:
    rng = np.random.default_rng(0)
    test = SequentialTest(0, 60)
    counts = {
        elo: np.mean([decide(test, deals(rng, expected_share(elo), 2, 3000))[1] for _ in range(40)])
        for elo in (-100, 30, 200)
    }
    assert counts[-100] < counts[30] / 2 and counts[200] < counts[30] / 2


def test_the_ratio_is_that_of_the_exact_model_where_that_is_known() -> None:
    """Deals that are won or lost whole are Bernoulli trials, whose likelihoods are known."""
    samples = np.repeat([1.0, 0.0], [260, 240])
    test = SequentialTest(0, 40)
    p = expected_share(40)
    exact = 260 * math.log(p / 0.5) + 240 * math.log((1 - p) / 0.5)
    assert test.llr(samples) == pytest.approx(exact, rel=1e-3)


def test_paired_games_count_for_more_when_they_cancel_luck() -> None:
    """With the same share of wins, deals that are mostly split evenly leave less doubt."""
    test = SequentialTest(0, 20)
    split = np.repeat([1.0, 0.5, 0.0], [60, 400, 40])
    whole = np.repeat([1.0, 0.0], [260, 240])
    assert split.mean() == whole.mean()
    assert test.llr(split) > 3 * test.llr(whole) > 0


def test_equal_samples_decide_nothing_at_once() -> None:
    test = SequentialTest(0, 20)
    assert test.decide(np.ones(10)) == test.decide(np.zeros(10)) == UNDECIDED
    assert test.decide(np.zeros(500)) == NOT_BETTER
    assert test.decide(np.ones(500)) == BETTER
    assert test.bounds == pytest.approx((-math.log(19), math.log(19)))


@pytest.mark.parametrize("players", [2, 3, 6])
def test_shares_and_points_are_inverse(players: int) -> None:
    assert expected_share(0, players) == pytest.approx(1 / players)
    assert [elo_of(expected_share(elo, players), players) for elo in (-70, 0, 300)] == pytest.approx(
        [-70, 0, 300], abs=1e-9
    )
    assert elo_of(0, players) == -math.inf and elo_of(1, players) == math.inf


def test_intervals_of_the_share_hold_it_and_have_a_width() -> None:
    rng = np.random.default_rng(4)
    intervals = [share_interval(deals(rng, 0.6, 2, 60)) for _ in range(400)]
    assert 0.92 <= np.mean([i.low <= 0.6 <= i.high for i in intervals]) <= 0.98
    sure = share_interval(np.ones(20))
    assert (sure.share, sure.high) == (1, 1) and 0.7 < sure.low < 0.95


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((5, 5, 0.05, 0.05), "elo1 must be the greater"),
        ((0, 9, 0, 0.05), "alpha = 0"),
        ((0, 9, 0.05, 0.5), "beta = 0.5"),
    ],
)
def test_impossible_tests_get_a_sentence(values: tuple[float, float, float, float], words: str) -> None:
    with pytest.raises(BadParams, match=words):
        SequentialTest(*values)


@pytest.mark.parametrize("players", [2, 3])
def test_games_are_played_until_the_test_decides(players: int) -> None:
    game = make_game("caravan", players=players, turn_limit=40)
    test = SequentialTest(0, 300, players=players)
    seen: list[int] = []
    found = compare(game, ("greedy", "random"), test, 600, seed=2, progress=seen.append)
    assert found.decision == BETTER
    report = found.to_json()
    assert report["games"] == sum(seen) == players * report["deals"] < 600
    assert report["interval"][0] <= report["win_rate"] <= report["interval"][1]
    assert report["win_rate"] > 1 / players
    two = compare(game, ("greedy", "random"), test, 600, seed=2, threads=2)
    assert two.to_json() == report
    worse = compare(game, ("random", "greedy"), test, 600, seed=2)
    assert worse.decision == NOT_BETTER and worse.samples.mean() < 1 / players


def test_without_enough_games_it_stays_open() -> None:
    game = make_game("caravan", turn_limit=1)  # nobody can score: all games are drawn
    found = compare(game, ("first", "first"), SequentialTest(), 21)
    assert found.decision == UNDECIDED
    assert found.samples.tolist() == [0.5] * 20
    with pytest.raises(BadParams, match="needs two seats and a game"):
        compare(game, ("first", "first"), SequentialTest(), 0)
