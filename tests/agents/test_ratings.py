"""Ratings on simulated games of known strengths: estimates, intervals, anchors, and agents that never lose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.ratings import POINTS, TableResults, comparisons, fit, groups, prior, rate

TRUE = {"a": 300.0, "b": 150.0, "c": 0.0, "d": -150.0, "e": -300.0}
AGENTS = list(TRUE)


def duels(rng: np.random.Generator, deals: int, agents: dict[str, float] = TRUE) -> list[TableResults]:
    """Games for two of all pairs; the two games of a deal lean the same way."""
    tables = []
    for one, two in itertools.combinations(agents, 2):
        gap = (agents[one] - agents[two]) / POINTS
        won = rng.random((deals, 2)) < 1 / (1 + np.exp(-gap))
        won[:, 1] = np.where(rng.random(deals) < 0.3, won[:, 0], won[:, 1])
        tables.append(TableResults((one, two), np.where(won[..., None], [1.0, -1.0], [-1.0, 1.0])))
    return tables


def ranked(rng: np.random.Generator, deals: int, seats: int, returns: NDArray[np.float64]) -> list[TableResults]:
    """Games of the Plackett-Luce model at all tables of `seats` agents; `returns` are those of the places."""
    tables = []
    for members in itertools.combinations(AGENTS, seats):
        strengths = np.array([TRUE[m] for m in members]) / POINTS
        luck = strengths + rng.gumbel(size=(deals, seats, seats))
        places = (-luck).argsort(axis=2).argsort(axis=2)
        tables.append(TableResults(members, returns[places]))
    return tables


def test_known_strengths_are_found_within_their_intervals() -> None:
    standings = rate(duels(np.random.default_rng(3), 300), AGENTS, resamples=200)
    assert [standing.agent for standing in standings] == AGENTS
    assert all(abs(s.rating - TRUE[s.agent]) < 30 and s.low < s.rating < s.high for s in standings)
    assert sum(s.low <= TRUE[s.agent] <= s.high for s in standings) >= 4
    assert all(10 < s.high - s.low < 80 and s.group == 0 and not s.anchor for s in standings)
    assert sum(s.rating for s in standings) == pytest.approx(0, abs=1e-6)
    assert [s.games for s in standings] == [4 * 600] * 5
    assert sum(s.win_rate for s in standings) == pytest.approx(5 / 2)


@pytest.mark.parametrize("returns", [[1.0, 0.0, -1.0], [1.0, -0.5, -0.5]], ids=["ranks", "winner only"])
def test_games_for_three_give_the_same_strengths(returns: list[float]) -> None:
    tables = ranked(np.random.default_rng(5), 400, 3, np.array(returns))
    ratings = {s.agent: s for s in rate(tables, AGENTS, resamples=100)}
    assert all(abs(ratings[agent].rating - true) < 45 for agent, true in TRUE.items())
    assert sum(s.low <= TRUE[a] <= s.high for a, s in ratings.items()) >= 4


def test_an_agent_alone_against_copies_of_another() -> None:
    rng = np.random.default_rng(2)
    strengths = np.array([200.0, 0.0, 0.0, 0.0]) / POINTS
    best = (strengths + rng.gumbel(size=(1500, 4, 4))).argmax(axis=2)
    returns = np.where(best[..., None] == np.arange(4), 1.0, -1 / 3)
    first, second = rate([TableResults(("a", "b", "b", "b"), returns)], ["b", "a"], resamples=20)
    assert (first.agent, second.agent) == ("a", "b")
    assert first.rating - second.rating == pytest.approx(200, abs=25)
    assert first.win_rate + 3 * second.win_rate == pytest.approx(1)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    hits = [
        standing.low <= TRUE[standing.agent] <= standing.high
        for number in range(80)
        for standing in rate(duels(rng, 60), AGENTS, resamples=80, seed=number)
    ]
    assert 0.90 <= np.mean(hits) <= 0.98


def test_a_deal_played_often_is_one_unit() -> None:
    """Games that repeat each other say no more than one of them."""
    table = duels(np.random.default_rng(1), 80, {"a": 50.0, "b": 0.0})[0]
    once = TableResults(table.members, table.returns[:, :1])
    often = TableResults(table.members, np.repeat(table.returns[:, :1], 8, axis=1))
    narrow, wide = (rate([t], ["a", "b"], resamples=200)[0] for t in (often, once))
    assert narrow.high - narrow.low == pytest.approx(wide.high - wide.low, rel=0.1)


def test_draws_are_half_wins_and_two_losers_are_not_compared() -> None:
    returns = np.array([[[0.0, 0.0], [1.0, -1.0]]])
    assert comparisons([TableResults(("a", "b"), returns)], ["a", "b"])[0].tolist() == [[0, 1.5], [0.5, 0]]
    returns = np.array([[[1.0, -0.5, -0.5], [0.5, 0.5, -1.0]]])
    wins = comparisons([TableResults(("a", "b", "c"), returns)], ["a", "b", "c"])
    assert wins[0].tolist() == [[0, 1.5, 2], [0.5, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("opponents", [1, 3])
def test_an_agent_that_never_loses_has_a_finite_rating_and_a_long_interval(opponents: int) -> None:
    weak = dict(list(TRUE.items())[1 : 1 + opponents])
    won = np.tile([1.0, -1.0], (50, 2, 1))
    tables = [TableResults(("best", other), won) for other in weak]
    tables += duels(np.random.default_rng(0), 50, weak)
    best, *others = rate(tables, [*weak, "best"])
    assert (best.agent, best.group) == ("best", 0)
    assert all(other.group == 1 for other in others)
    assert np.isfinite([best.rating, best.high]).all()
    assert best.rating - max(other.rating for other in others) > 400
    assert best.high - best.rating > best.rating - best.low > 50


def test_anchors_fix_the_scale() -> None:
    tables = duels(np.random.default_rng(3), 300)
    loose = {s.agent: s.rating for s in rate(tables, AGENTS, resamples=20)}
    one = {s.agent: s for s in rate(tables, AGENTS, {"c": 1000.0, "unknown": 7.0}, resamples=20)}
    assert (one["c"].rating, one["c"].low, one["c"].high, one["c"].anchor) == (1000, 1000, 1000, True)
    shift = {agent: one[agent].rating - loose[agent] for agent in AGENTS}
    assert all(value == pytest.approx(shift["c"], abs=1.5) for value in shift.values())
    two = {s.agent: s for s in rate(tables, AGENTS, {"a": 1300.0, "e": 700.0}, resamples=100)}
    assert all(abs(two[agent].rating - 1000 - TRUE[agent]) < 35 for agent in "bcd")


def test_ratings_of_two_arenas_compare_by_their_anchors() -> None:
    """Whoever else plays: an agent has the same rating, as far as the intervals tell."""
    rng = np.random.default_rng(8)
    fixed = {"c": 1000.0, "d": 850.0}
    small = {s.agent: s for s in rate(duels(rng, 200, {k: TRUE[k] for k in "acd"}), list("acd"), fixed)}
    large = {s.agent: s for s in rate(duels(rng, 200), AGENTS, fixed)}
    assert all(abs(s["a"].rating - 1300) < 65 for s in (small, large))
    assert small["a"].low < large["a"].high and large["a"].low < small["a"].high


def test_only_anchors_keep_their_ratings() -> None:
    tables = duels(np.random.default_rng(3), 10, {"a": 0.0, "b": 0.0})
    assert [s.rating for s in rate(tables, ["a", "b"], {"a": 5.0, "b": 10.0}, resamples=2)] == [10, 5]


def test_the_fit_is_the_maximum() -> None:
    wins = np.array([[0.0, 30, 50], [20, 0, 40], [10, 25, 0]])
    strengths = fit(wins)
    expected = (wins + wins.T) / (1 + np.exp(strengths - strengths[:, None]))
    assert expected.sum(axis=1) == pytest.approx(wins.sum(axis=1))
    assert strengths.sum() == pytest.approx(0)
    assert fit(np.array([[0.0, 10], [1, 0]]))[0] * POINTS == pytest.approx(200)


def test_the_prior_is_one_drawn_game_an_agent() -> None:
    assert prior(5).sum(axis=1) == pytest.approx(np.full(5, 0.5))
    assert (prior(5) == prior(5).T).all()


def test_groups_are_what_no_win_connects() -> None:
    wins = np.array([[0.0, 5, 5, 5], [0, 0, 3, 5], [0, 2, 0, 5], [0, 0, 0, 0]])
    ratings = np.array([3.0, 1, 2, 0])
    nobody, ends = np.zeros(4, bool), np.array([True, False, False, True])
    assert groups(wins, nobody, ratings) == [0, 1, 1, 2]
    assert groups(wins, ends, ratings) == [0, 0, 0, 0]


def test_the_same_seed_gives_the_same_intervals() -> None:
    tables = duels(np.random.default_rng(3), 20)
    assert rate(tables, AGENTS, resamples=5, seed=1) == rate(tables, AGENTS, resamples=5, seed=1)
    assert rate(tables, AGENTS, resamples=5, seed=1) != rate(tables, AGENTS, resamples=5, seed=2)
