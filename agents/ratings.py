"""Ratings by maximum likelihood: the Bradley-Terry model, with bootstrap intervals and anchors.

An agent of strength w comes before one of strength v with probability w / (w + v) (Bradley and Terry, Biometrika 39,
1952); a rating is 400 log10 w, so that 400 points are odds of 10 to 1, as in chess. In games of more than two seats the
same holds for every two of them under the model of Plackett and Luce (Plackett, Applied Statistics 24, 1975), and the
comparisons of all pairs of seats estimate its strengths consistently (Azari Soufiani et al., NIPS 2013, "Generalized
method-of-moments for rank aggregation"). What is compared is the return, the aim of the game variant:

- the higher return of two comes first,
- two that share the win count half each,
- two that both lost with the same return are not compared: the game does not say who was better.

An agent that always wins has no finite maximum. So every agent is thought to have drawn `PRIOR` more games, spread
evenly over all others: a prior that favours nobody, and fades as games are played.

Intervals come from the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981): each deal, with all its seatings and
at whatever tables it was played, is one unit and gets a random weight. The drawn games of the prior get random weights
too, so that the interval of an agent that never lost reaches far up instead of being a point.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

Float = NDArray[np.float64]

POINTS = 400 / np.log(10)  # rating points of a factor e
PRIOR = 1.0  # drawn games that every agent is given
RESAMPLES = 500
CONFIDENCE = 0.95
_GRADIENT = 1e-9  # of the likelihood of one comparison, where a fit may stop
_LEAST_WEIGHT = 1e-6  # of a prior game in a resample; keeps the fit within what floats can tell apart


@dataclasses.dataclass(frozen=True)
class TableResults:
    """What came of the games at one table.

    Attributes:
        members: its agents; one may have several seats.
        returns: (deals, seatings, seats) float64 returns in the order of the members; deal d of every table has the
            same chance.
    """

    members: tuple[str, ...]
    returns: Float


@dataclasses.dataclass(frozen=True)
class Standing:
    """An agent's place among others.

    Attributes:
        agent: its name.
        rating: in points, 400 for odds of 10 to 1.
        low: lower end of its interval.
        high: upper end.
        games: that it played, with one seat or several.
        win_rate: mean share of the win per seat that it had.
        anchor: whether its rating was given and not estimated.
        group: number of its group, see `groups`; the prior alone keeps the distances between groups finite.
    """

    agent: str
    rating: float
    low: float
    high: float
    games: int
    win_rate: float
    anchor: bool
    group: int


def rate(
    tables: Sequence[TableResults],
    agents: Sequence[str],
    anchors: Mapping[str, float] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Standing]:
    """Return the standings of agents, best first.

    Args:
        tables: all games.
        agents: their names, at least two.
        anchors: agent -> rating that is held fixed; those that are not among the agents do not matter. Without any
            the mean rating is 0.
        resamples: number of bootstrap resamples for the intervals.
        seed: of the bootstrap.
    """
    units = comparisons(tables, agents)
    fixed = np.array([(anchors or {}).get(agent, np.nan) for agent in agents]) / POINTS
    ratings = fit(units.sum(axis=0) + prior(len(agents)), fixed) * POINTS
    low, high = intervals(units, fixed, ratings / POINTS, resamples, seed) * POINTS
    games, rates = _counts(tables, agents)
    known = ~np.isnan(fixed)
    group = groups(units.sum(axis=0), known, ratings)
    standings = [
        Standing(name, float(ratings[k]), float(low[k]), float(high[k]), games[k], rates[k], bool(known[k]), group[k])
        for k, name in enumerate(agents)
    ]
    return sorted(standings, key=lambda standing: -standing.rating)


def comparisons(tables: Sequence[TableResults], agents: Sequence[str]) -> Float:
    """Return (deals, agents, agents): how often, in the games of a deal, the first agent came before the second.

    Args:
        tables: all games.
        agents: every member of a table is one of them.
    """
    number = {agent: k for k, agent in enumerate(agents)}
    deals = max((len(table.returns) for table in tables), default=0)
    units = np.zeros((deals, len(agents), len(agents)))
    for table in tables:
        best = table.returns.max(axis=2)
        for i, one in enumerate(table.members):
            for j, two in enumerate(table.members):
                if one != two:
                    mine, theirs = table.returns[:, :, i], table.returns[:, :, j]
                    count = (mine > theirs) + 0.5 * ((mine == theirs) & (mine == best))
                    units[: len(count), number[one], number[two]] += count.sum(axis=1)
    return units


def prior(agents: int) -> Float:
    """Return (agents, agents): the comparisons that every two agents are given, see `PRIOR`."""
    return PRIOR / 2 / (agents - 1) * (1 - np.eye(agents))


def fit(wins: Float, fixed: Float | None = None, start: Float | None = None) -> Float:
    """Return the maximum-likelihood log strengths of a Bradley-Terry model.

    Args:
        wins: (agents, agents), how often one came before the other; positive for each two agents.
        fixed: (agents,) log strengths that are known, nan for those to be estimated; if none is known, their mean
            is 0.
        start: (agents,) where to start.

    Returns:
        (agents,) float64.
    """
    known = np.full(len(wins), np.nan) if fixed is None else fixed
    loose = np.isnan(known).all()
    values = np.nan_to_num(known) if start is None else np.where(np.isnan(known), start, known)
    free = np.isnan(known)
    free[0] &= not loose  # strengths are relative: without anchors one may stay where it is
    if free.any():
        objective = _Likelihood(wins, values, free)
        values = objective.whole(objective.lowest(values[free]))
    return values - values.mean() if loose else values


class _Likelihood:
    """The negative log likelihood of the free log strengths, divided by the number of comparisons."""

    def __init__(self, wins: Float, values: Float, free: NDArray[np.bool_]) -> None:
        self.wins = wins / wins.sum()
        self.values = values
        self.free = free

    def whole(self, x: Float) -> Float:
        values = self.values.copy()
        values[self.free] = x
        return values

    def __call__(self, x: Float) -> float:
        values = self.whole(x)
        return float((self.wins * np.logaddexp(0, values[None, :] - values[:, None])).sum())

    def slope(self, x: Float) -> Float:
        values = self.whole(x)
        surprise = self.wins * expit(values[None, :] - values[:, None])
        return (surprise.sum(axis=0) - surprise.sum(axis=1))[self.free]

    def curvature(self, x: Float) -> Float:
        values = self.whole(x)
        chance = expit(values[None, :] - values[:, None])
        link = (self.wins + self.wins.T) * chance * (1 - chance)
        hessian = np.diag(link.sum(axis=1)) - link
        return hessian[np.ix_(self.free, self.free)]

    def lowest(self, start: Float) -> Float:
        found = minimize(
            self, start, method="trust-exact", jac=self.slope, hess=self.curvature, options={"gtol": _GRADIENT}
        )
        least: Float = found.x
        return least


def intervals(units: Float, fixed: Float, centre: Float, resamples: int, seed: int) -> Float:
    """Return (2, agents): the ends of the bootstrap intervals of the log strengths.

    Args:
        units: (deals, agents, agents), see `comparisons`.
        fixed: see `fit`.
        centre: (agents,) the estimate.
        resamples: number of resamples.
        seed: of the weights.
    """
    rng = np.random.default_rng(seed)
    agents = len(centre)
    shape = np.where(np.eye(agents), 1.0, prior(agents))
    fits = np.empty((resamples, agents))
    for number in range(resamples):
        weights = rng.exponential(size=len(units))
        given = np.maximum(rng.gamma(shape), _LEAST_WEIGHT) * (1 - np.eye(agents))
        fits[number] = fit(np.tensordot(weights, units, axes=1) + given, fixed, centre)
    tail = (1 - CONFIDENCE) / 2
    ends: Float = np.quantile(fits, [tail, 1 - tail], axis=0)
    return ends


def groups(wins: Float, known: NDArray[np.bool_], ratings: Float) -> list[int]:
    """Return the group of each agent, 0 for the one with the best.

    Within a group each agent can be reached from each other along comparisons that were won, and anchors have known
    distances; between two groups one never won. So only the first distances have a finite maximum of the likelihood
    (Ford, American Mathematical Monthly 64, 1957).

    Args:
        wins: (agents, agents), see `comparisons`.
        known: (agents,) whether the rating is given.
        ratings: (agents,) which decide the order.
    """
    links = (wins > 0) | np.outer(known, known)
    _, labels = connected_components(links, directed=True, connection="strong")
    order = dict.fromkeys(labels[np.argsort(-ratings, kind="stable")])
    numbers = {label: number for number, label in enumerate(order)}
    return [numbers[label] for label in labels]


def _counts(tables: Sequence[TableResults], agents: Sequence[str]) -> tuple[list[int], list[float]]:
    """Return the games of each agent, and its mean share of the win per seat."""
    games, seats, wins = (dict.fromkeys(agents, 0.0) for _ in range(3))
    for table in tables:
        best = table.returns == table.returns.max(axis=2, keepdims=True)
        shares = (best / best.sum(axis=2, keepdims=True)).sum(axis=(0, 1))
        played = table.returns.shape[0] * table.returns.shape[1]
        for agent in set(table.members):
            games[agent] += played
        for agent, share in zip(table.members, shares, strict=True):
            seats[agent] += played
            wins[agent] += float(share)
    return [int(games[a]) for a in agents], [wins[a] / seats[a] if seats[a] else 0.0 for a in agents]
