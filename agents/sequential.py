"""A sequential test of whether one agent is better than another, which stops as soon as the games say so.

This is the generalised sequential probability ratio test with which the testers of chess engines work: Wald's bounds
(Annals of Mathematical Statistics 16, 1945) on the logarithm of the ratio of the largest likelihoods under the two
hypotheses (Li, Liu, Liu and Ying, "Generalized sequential probability ratio test for separate families of hypotheses",
Sequential Analysis 33, 2014). One sample is a deal, played with every seating, and its value the mean share of the win:
the games of a deal hang together, and counting them one by one would make the test too sure or too slow. For two seats
these are the five results of a pair of games of the "pentanomial" model (Van den Bergh, "The generalized maximum
likelihood ratio for the expectation value of a distribution", 2017). Nothing but the mean of a sample is supposed.

With more than two seats agent A has one seat and B all others, and a difference of e points means that A's share of
wins is w / (w + seats - 1), w = 10 ** (e / 400): the fair share 1 / seats for e = 0, and the usual curve for two seats.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from agents.arena import Interval
from agents.tournament import Job, batches_of, crew, frozen, play_batch
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game

Float = NDArray[np.float64]

BETTER = "better"
NOT_BETTER = "not better"
UNDECIDED = "undecided"
_UNSEEN = 1e-3  # samples that the least and the greatest value are given, so that any mean between them is possible
_Z = 1.959964  # of a 95 % interval


def expected_share(elo: float, players: int = 2) -> float:
    """Return the share of wins of an agent that is `elo` points above those in the other seats."""
    strength = 10 ** (elo / 400)
    return float(strength / (strength + players - 1))


def elo_of(share: float, players: int = 2) -> float:
    """Return the points above the other seats that a share of wins means, infinite for 0 and 1."""
    if share <= 0 or share >= 1:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share * (players - 1) / (1 - share))


@dataclasses.dataclass(frozen=True)
class SequentialTest:
    """A test of "A is elo0 points better" against "A is elo1 points better".

    Attributes:
        elo0: difference of ratings under the null hypothesis.
        elo1: difference under the alternative, greater.
        alpha: probability of deciding for the alternative though the null hypothesis holds.
        beta: probability of deciding for the null hypothesis though the alternative holds.
        players: number of seats.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    players: int = 2

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise BadParams(f"elo0 = {self.elo0:g} and elo1 = {self.elo1:g} are not possible: elo1 must be the greater")
        for name, risk in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < risk < 0.5:
                raise BadParams(f"{name} = {risk:g} is not possible: a probability between 0 and 0.5 is needed")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which the test decides for the null hypothesis and for the alternative."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, samples: Float) -> float:
        """Return the log likelihood ratio of the alternative to the null hypothesis.

        Args:
            samples: (deals,) float64, A's mean share of the win in each deal, from 0 to 1.
        """
        values, counts = np.unique(np.concatenate([samples, [0.0, 1.0]]), return_counts=True)
        weights = counts.astype(np.float64)
        weights[[0, -1]] += _UNSEEN - 1
        likely = [_log_likelihood(values, weights, expected_share(elo, self.players)) for elo in (self.elo0, self.elo1)]
        return likely[1] - likely[0]

    def decide(self, samples: Float) -> str:
        """Return BETTER, NOT_BETTER or UNDECIDED for the samples so far."""
        ratio, (low, high) = self.llr(samples), self.bounds
        return BETTER if ratio >= high else NOT_BETTER if ratio <= low else UNDECIDED


def _log_likelihood(values: Float, weights: Float, mean: float) -> float:
    """Return the largest log likelihood of samples under distributions on their values with a given mean.

    It is less by a constant, that of the frequencies themselves. The most likely distribution has the probabilities
    p / (1 + t (value - mean)), with p the frequencies and t such that the mean is right (Owen, "Empirical likelihood",
    2001).

    Args:
        values: (k,) ascending; the mean lies between the first and the last.
        weights: (k,) how often each was seen, positive.
        mean: the expectation.
    """
    off = values - mean
    least, most = -1 / off[-1], -1 / off[0]
    inset = 1e-12 * (most - least)
    tilt = brentq(lambda t: float((weights * off / (1 + t * off)).sum()), least + inset, most - inset)
    return -float((weights * np.log1p(tilt * off)).sum())


def share_interval(samples: Float) -> Interval:
    """Return the mean of samples with its 95 % interval.

    The interval is the usual one of a mean, after two samples of 0 and two of 1 were added, as Agresti and Coull (The
    American Statistician 52, 1998) do for a proportion; it has some width even if all samples are the same.
    """
    padded = np.concatenate([samples, [0.0, 0.0, 1.0, 1.0]])
    centre, half = padded.mean(), _Z * padded.std() / math.sqrt(len(padded))
    return Interval(float(samples.mean()), float(max(centre - half, 0)), float(min(centre + half, 1)))


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What came of a sequential test.

    Attributes:
        test: the test.
        agents: A and B.
        decision: BETTER, NOT_BETTER or UNDECIDED.
        samples: (deals,) A's mean share of the win in each deal.
    """

    test: SequentialTest
    agents: tuple[str, str]
    decision: str
    samples: Float

    def to_json(self) -> dict[str, Any]:
        """Return the result for machines; Elo differences that are infinite are None."""
        share = share_interval(self.samples)
        elos = [elo_of(s, self.test.players) for s in (share.share, share.low, share.high)]
        elo, low, high = (round(e, 1) if math.isfinite(e) else None for e in elos)
        return {
            "agents": list(self.agents),
            "decision": self.decision,
            "llr": round(self.test.llr(self.samples), 3),
            "bounds": [round(bound, 3) for bound in self.test.bounds],
            "elo0": self.test.elo0,
            "elo1": self.test.elo1,
            "alpha": self.test.alpha,
            "beta": self.test.beta,
            "deals": len(self.samples),
            "games": len(self.samples) * self.test.players,
            "win_rate": round(share.share, 4),
            "interval": [round(share.low, 4), round(share.high, 4)],
            "elo": elo,
            "elo_interval": [low, high],
        }


def compare(
    game: Game,
    agents: tuple[str, str],
    test: SequentialTest,
    max_games: int,
    seed: int = 0,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Play A, in one seat, against B, in all others, until the test decides or the games are used up.

    Args:
        game: the variant, of at least two seats.
        agents: the specs of A and B.
        test: when to stop.
        max_games: when to give up; rounded up to whole batches.
        seed: decides chance and the agents' lots.
        threads: how many batches are played at once; the result does not depend on it.
        progress: called with the number of games of each batch that counts.
    """
    if game.players < 2 or max_games < 1:
        raise BadParams(f"a comparison needs two seats and a game, not {game.players} and {max_games}")
    one, two = (frozen(agent, game)[0] for agent in agents)
    table = (one, *[two] * (game.players - 1))
    samples, decision = np.zeros(0), UNDECIDED
    for returns in _batches(game, table, batches_of(max_games, game.players), seed, threads):
        samples = np.concatenate([samples, _shares(returns)])
        if progress is not None:
            progress(returns.shape[0] * returns.shape[1])
        decision = test.decide(samples)
        if decision != UNDECIDED:
            break
    return Comparison(test, agents, decision, samples)


def _shares(returns: Float) -> Float:
    """Return (deals,) the first agent's mean share of the win in each deal."""
    best = returns == returns.max(axis=2, keepdims=True)
    shares: Float = (best[:, :, 0] / best.sum(axis=2)).mean(axis=1)
    return shares


def _batches(game: Game, table: tuple[str, ...], count: int, seed: int, threads: int) -> Iterator[Float]:
    """Yield the returns of a table's batches in their order; others are played ahead while one is used."""
    numbers = iter(range(count))
    with crew(threads) as (pool, check):
        ahead: deque[Future[Float]] = deque()

        def begin(more: int) -> None:
            ahead.extend(
                pool.submit(play_batch, game, Job(table, n), seed, check) for n in itertools.islice(numbers, more)
            )

        begin(threads)
        while ahead:
            returns = ahead.popleft().result()
            begin(1)
            yield returns
