"""Playing by a learned value, written once for all games: templates that `agents.value.binding` compiles per game.

A network says what a position is worth to a seat, usually to the one that has just acted: chance that is due is not
resolved first. Its inputs are the seat's observation and the features that the game's heuristics may add. Observations
are mostly zeros, and change little by an action: the first layer's sums are kept for the position before, and only
what differs is added, as in efficiently updatable networks (Nasu 2018).
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.contract import TERMINAL
from caravan_env.core.rng import below, next_u64, uniform

init: Callable[..., Any]
to_move: Callable[..., Any]
step: Callable[..., Any]
legal: Callable[..., Any]
observe: Callable[..., Any]
resample: Callable[..., Any]
score: Callable[..., Any]
returns: Callable[..., Any]
settle: Callable[..., Any]
features: Callable[..., Any]
candidates: Callable[..., Any]

ROOT = np.int64(0)  # rows of a network's scratch memory: the position to play
TRIED = np.int64(1)  # after an action
SCRATCH = 2
POOLS = 3
ENDS = np.int64(2)  # pool of the ends of the turn
FIRST = np.int64(0)  # place
NOWHERE = np.int64(-1)
OUT = np.int64(-1)
SHARPNESS = 15.0  # logits for each unit of value

_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Net(NamedTuple):
    """A value network and the memory to evaluate it in; made by `agents.value.network.ValueNetwork.net`.

    The value is tanh(skip . features + out . relu(middle relu(into . inputs))).

    Attributes:
        into: (observation + features, first) float32, the observation's scales included.
        into_bias: (first,) float32.
        middle: (first, second) float32.
        middle_bias: (second,) float32.
        out: (second,) float32.
        skip: (features,) float32.
        aim: (4,) float64, what is learned: the share of the margin, the points that make it 0.76, the factor by which
            the value above a loss shrinks with each decision, and the points that make a return 0.76; 0: it is one.
        obs: (observation,) uint8, of the position looked at.
        words: the same memory as uint64.
        base_obs, base_words: the same of the position before.
        feats: (features,) float32.
        sums, base_sums: (first,) float32.
        hidden: (second,) float32.
        rows: (SCRATCH,) positions.
        actions: (actions,) int64, the actions to choose from.
        values: (actions,) float64, their values.
        points: (seats,) float64.
    """

    into: NDArray[np.float32]
    into_bias: NDArray[np.float32]
    middle: NDArray[np.float32]
    middle_bias: NDArray[np.float32]
    out: NDArray[np.float32]
    skip: NDArray[np.float32]
    aim: NDArray[np.float64]
    obs: NDArray[np.uint8]
    words: NDArray[np.uint64]
    base_obs: NDArray[np.uint8]
    base_words: NDArray[np.uint64]
    feats: NDArray[np.float32]
    sums: NDArray[np.float32]
    base_sums: NDArray[np.float32]
    hidden: NDArray[np.float32]
    rows: NDArray[np.void]
    actions: NDArray[np.int64]
    values: NDArray[np.float64]
    points: NDArray[np.float64]


class Beam(NamedTuple):
    """The memory of a search of one's own turn, made by `agents.value.binding.new_beam`.

    Its places are three pools: positions after as many actions, those after one more (these two take turns), and ends
    of the turn. One place follows them, of the position that is looked at.

    Attributes:
        rows: (places,) positions.
        words: the bytes of `rows` as uint64.
        values, hashes: (places,) float64, uint64: their values and hashes.
        paths: (places, depth) int64, the actions that led there.
        lengths: (places,) int64, how many.
        starts: (POOLS + 1,) int64, where the pools begin, and where the last one ends.
        counts: (POOLS,) int64, places used.
        chosen: (1,) int64, the place that was decided on last.
    """

    rows: NDArray[np.void]
    words: NDArray[np.uint64]
    values: NDArray[np.float64]
    hashes: NDArray[np.uint64]
    paths: NDArray[np.int64]
    lengths: NDArray[np.int64]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    chosen: NDArray[np.int64]


class Ahead(NamedTuple):
    """The memory of looking beyond one's own turn, made by `agents.value.binding.new_ahead`.

    Attributes:
        samples: (1,) int64, how often an end of the turn is played on before the worse half is dropped; 0: not at all.
        totals: (ends,) float64, sums of what the ends came to.
        played: (ends,) int64, how often they were played on; OUT for those that were dropped.
        rows: (1,) the position that is played on.
        stream: (1,) uint64, of the chance met there.
        weights: (outcomes,) int64, of chance.
        beam: for the turns of the others, and the next one of one's own.
    """

    samples: NDArray[np.int64]
    totals: NDArray[np.float64]
    played: NDArray[np.int64]
    rows: NDArray[np.void]
    stream: NDArray[np.uint64]
    weights: NDArray[np.int64]
    beam: Beam


class Log(NamedTuple):
    """Decisions to learn from, the k-th in place k of each array.

    Attributes:
        obs: (decisions, observation) uint8, after the action, from the view of the seat that acted.
        feats: (decisions, features) float32.
        seats: (decisions,) int64.
        values: (decisions,) float32, the value of the best action there.
        targets: (decisions,) float32, what the network is to say.
    """

    obs: NDArray[np.uint8]
    feats: NDArray[np.float32]
    seats: NDArray[np.int64]
    values: NDArray[np.float32]
    targets: NDArray[np.float32]


# --- the network -----------------------------------------------------------------------------------------------------


def add_scaled(sums, weights, factor):
    """Add a row of weights to the sums, times a factor."""
    for j in range(sums.shape[0]):
        sums[j] += factor * weights[j]


def copy_to(target, source):
    """Copy an array; numba would allocate to do it by a slice."""
    for j in range(target.shape[0]):
        target[j] = source[j]


def head(N):
    """Return the value from the sums of the first layer, which the features are added to."""
    first = N.obs.shape[0]
    total = np.float32(0.0)
    for k in range(N.feats.shape[0]):
        if N.feats[k] != 0:
            add_scaled(N.sums, N.into[first + k], N.feats[k])
            total += N.skip[k] * N.feats[k]
    copy_to(N.hidden, N.middle_bias)
    for j in range(N.sums.shape[0]):
        if N.sums[j] > 0:
            add_scaled(N.hidden, N.middle[j], N.sums[j])
    for j in range(N.hidden.shape[0]):
        if N.hidden[j] > 0:
            total += N.out[j] * N.hidden[j]
    return math.tanh(np.float64(total))


def look(S, i, seat, N):
    """Remember the position of row i as the one before, from the view of a seat."""
    if N.obs.shape[0] > 0:
        observe(S, i, seat, N.base_obs)
    copy_to(N.base_sums, N.into_bias)
    for k in range(N.base_obs.shape[0]):
        if N.base_obs[k] != 0:
            add_scaled(N.base_sums, N.into[k], np.float32(N.base_obs[k]))


def value_after(S, i, seat, N, X):
    """Return what row i, which differs little from the position before, is worth to a seat."""
    if N.obs.shape[0] > 0:
        observe(S, i, seat, N.obs)
    copy_to(N.sums, N.base_sums)
    for word in range(N.words.shape[0]):
        if N.words[word] != N.base_words[word]:
            for k in range(8 * word, min(8 * word + 8, N.obs.shape[0])):
                if N.obs[k] != N.base_obs[k]:
                    add_scaled(N.sums, N.into[k], np.float32(N.obs[k]) - np.float32(N.base_obs[k]))
    features(S, i, seat, X, N.feats)
    return head(N)


def final_value(S, i, seat, N):
    """Return what a finished game is worth to a seat: its return in [-1, 1], and for a part the margin of points."""
    returns(S, i, N.points)
    value = N.points[seat]
    if N.aim[3] > 0.0:
        value = math.tanh(value / N.aim[3])
    if N.aim[0] > 0.0 and N.points.shape[0] > 1:
        score(S, i, N.points)
        best = -np.inf
        for other in range(N.points.shape[0]):
            if other != seat:
                best = max(best, N.points[other])
        value += N.aim[0] * (math.tanh((N.points[seat] - best) / N.aim[1]) - value)
    return value


def worth_after(S, i, seat, N, X):
    """Return what row i is worth to a seat, finished or not."""
    if to_move(S, i) == TERMINAL:
        return final_value(S, i, seat, N)
    return value_after(S, i, seat, N, X)


# --- one action ahead ------------------------------------------------------------------------------------------------


def all_legal(S, i, X, actions):
    """Write the legal actions of row i in ascending order to `actions`; return how many there are."""
    count = 0
    legal(S, i, X)
    for action in range(X.shape[0]):
        if X[action] != 0:
            actions[count] = action
            count += 1
    return count


def no_features(S, i, seat, X, out):
    """Write nothing: the features of a game that has none."""


def weigh_actions(S, i, N, X):
    """Write the actions to choose from in row i and their values to N; return (their number, the place of the best)."""
    seat = to_move(S, i)
    look(S, i, seat, N)
    count = candidates(S, i, X, N.actions)
    best = np.int64(0)
    for k in range(count):
        N.rows[TRIED] = S[i]
        step(N.rows, TRIED, N.actions[k])
        N.values[k] = worth_after(N.rows, TRIED, seat, N, X)
        if N.values[k] > N.values[best]:
            best = np.int64(k)
    return count, best


# --- a search of one's own turn --------------------------------------------------------------------------------------


def hash_of(words, i):
    """Return 64 bits that tell rows apart, from their bytes as uint64 (rows, words)."""
    h = _HASH_START
    for k in range(words.shape[1]):
        h = (h ^ words[i, k]) * _HASH_STEP
        h ^= h >> _HALF
    return h


def offer(pool, before, action, value, B):
    """Keep the position looked at, an action after the one at `before`, if it is new in a pool and among the best."""
    last = B.rows.shape[0] - 1
    first, count = B.starts[pool], B.counts[pool]
    place = first + count
    is_full = place == B.starts[pool + 1]
    if is_full:
        place = first + np.argmin(B.values[first:place])
        if value <= B.values[place]:
            return
    own = hash_of(B.words, last)
    for k in range(first, first + count):
        if B.hashes[k] == own:
            return
    if not is_full:
        B.counts[pool] = count + 1
    B.rows[place] = B.rows[last]
    B.values[place] = value
    B.hashes[place] = own
    length = B.lengths[before]
    for d in range(length):
        B.paths[place, d] = B.paths[before, d]
    B.paths[place, length] = action
    B.lengths[place] = length + 1


def expand(place, seat, pool, N, X, B):
    """Offer every position one action after the one at `place` to a pool, or to that of the ends of the turn."""
    last = B.rows.shape[0] - 1
    look(B.rows, place, seat, N)
    for k in range(candidates(B.rows, place, X, N.actions)):
        B.rows[last] = B.rows[place]
        step(B.rows, last, N.actions[k])
        value = worth_after(B.rows, last, seat, N, X)
        offer(pool if to_move(B.rows, last) == seat else ENDS, place, N.actions[k], value, B)


def best_of(pool, best, B):
    """Return the place in a pool with the highest value, or `best` if its value is as high (-1: no place)."""
    for place in range(B.starts[pool], B.starts[pool] + B.counts[pool]):
        if best < 0 or B.values[place] > B.values[best]:
            best = place
    return best


def search_turn(S, i, most, N, X, B):
    """Return the place in B of the best way found to play on in row i until others move or chance is due.

    A beam search: as many positions as B has room for are kept after each action, at most `most` actions far. Where
    none of them ends the turn, the best position of the last ones counts.
    """
    seat = to_move(S, i)
    B.rows[0] = S[i]
    B.lengths[0] = 0
    B.counts[0] = 1
    B.counts[ENDS] = 0
    for depth in range(most):
        pool = depth & 1
        B.counts[1 - pool] = 0
        for k in range(B.counts[pool]):
            expand(B.starts[pool] + k, seat, 1 - pool, N, X, B)
    return best_of(most & 1, best_of(ENDS, NOWHERE, B), B)


# --- beyond one's own turn -------------------------------------------------------------------------------------------


def follow(S, i, place, B):
    """Play the actions that led to a place in row i."""
    for d in range(B.lengths[place]):
        step(S, i, B.paths[place, d])


def play_on(place, seat, most, N, X, B, A):
    """Return what the end of a turn at `place` comes to: after the turns of the others, the value of the own next one.

    Everybody plays by the search of the turn. Without others it is the own next turn that counts.
    """
    A.rows[ROOT] = B.rows[place]
    passed = N.points.shape[0] == 1
    mover = settle(A.rows, ROOT, A.stream, ROOT, A.weights)
    while mover >= 0:
        best = search_turn(A.rows, ROOT, most, N, X, A.beam)
        if mover == seat and passed:
            return A.beam.values[best]
        passed |= mover != seat
        follow(A.rows, ROOT, best, A.beam)
        mover = settle(A.rows, ROOT, A.stream, ROOT, A.weights)
    return final_value(A.rows, ROOT, seat, N)


def play_on_often(place, seat, start, most, N, X, B, A):
    """Play an end of the turn on some more times, and make its value the mean of all of them."""
    k = place - B.starts[ENDS]
    for _ in range(A.samples[0]):
        A.stream[0] = start + np.uint64(A.played[k])
        A.stream[0] = next_u64(A.stream, ROOT)  # neighbouring starts would be shifted copies of each other
        A.totals[k] += play_on(place, seat, most, N, X, B, A)
        A.played[k] += 1
    B.values[place] = A.totals[k] / A.played[k]


def drop_worse_half(left, B, A):
    """Take the lower half of the ends of the turn that are in play out of it; return how many are left."""
    for _ in range(left - left // 2):
        worst = NOWHERE
        for place in range(B.starts[ENDS], B.starts[ENDS] + B.counts[ENDS]):
            if A.played[place - B.starts[ENDS]] >= 0 and (worst < 0 or B.values[place] < B.values[worst]):
                worst = np.int64(place)
        A.played[worst - B.starts[ENDS]] = OUT
        B.values[worst] = -np.inf
    return left // 2


def search_ahead(S, i, P, p, most, N, X, B, A):
    """Return the place in B of the best way to play on in row i, after playing on from the ends of the turn.

    Sequential halving (Karnin, Koren and Somekh 2013): all of them are played on equally often, the better half of
    them again, and so on. Chance is the same for all (common random numbers), and drawn from P[p].
    """
    best = search_turn(S, i, most, N, X, B)
    left = B.counts[ENDS]
    if A.samples[0] == 0 or left < 2:
        return best
    start = next_u64(P, p)
    A.totals[:] = 0.0
    A.played[:] = 0
    while True:
        for place in range(B.starts[ENDS], B.starts[ENDS] + B.counts[ENDS]):
            if A.played[place - B.starts[ENDS]] >= 0:
                play_on_often(place, to_move(S, i), start, most, N, X, B, A)
        if left < 4:
            return best_of(ENDS, NOWHERE, B)
        left = drop_worse_half(left, B, A)


# --- agents ----------------------------------------------------------------------------------------------------------


def decide(S, i, P, p, most, N, X, B, A):
    """Return the place in B of what the seat to move does in row i, with the path and the value.

    What the seat cannot know is drawn from P[p].
    """
    N.rows[ROOT] = S[i]
    resample(N.rows, ROOT, to_move(S, i), P, p)
    if most > 0:
        return search_ahead(N.rows, ROOT, P, p, most, N, X, B, A)
    _, best = weigh_actions(N.rows, ROOT, N, X)
    B.values[0] = N.values[best]
    B.paths[0, 0] = N.actions[best]
    B.lengths[0] = 1
    return FIRST


def decide_rows(S, P, most, N, X, B, A, chosen, values):
    """Write the action of every row, in which a seat is to move, and its value; row i draws from P[i]."""
    for i in range(S.shape[0]):
        place = decide(S, i, P, i, most, N, X, B, A)
        B.chosen[0] = place
        chosen[i] = B.paths[place, 0]
        values[i] = B.values[place]


def explore(S, i, P, p, X, N):
    """Return a random one of the actions to choose from."""
    return N.actions[below(P, p, candidates(S, i, X, N.actions))]


# --- judging the positions of a tree search, see `agents.search.evaluators` -------------------------------------------


def leaf(S, i, X, values):
    """Write what row i, which is not finished, is worth to each seat."""
    for seat in range(values.shape[0]):
        look(S, i, seat, X.net)
        values[seat] = value_after(S, i, seat, X.net, X.scratch)


def prior(S, i, X, actions, count, out):
    """Write as logits what each action leads to: the value after it, times SHARPNESS."""
    N = X.net
    seat = to_move(S, i)
    look(S, i, seat, N)
    for k in range(count):
        N.rows[TRIED] = S[i]
        step(N.rows, TRIED, actions[k])
        out[k] = SHARPNESS * worth_after(N.rows, TRIED, seat, N, X.scratch)


# --- games to learn from ---------------------------------------------------------------------------------------------


def note(S, i, action, seat, value, N, X, L, at):
    """Write a decision in row i to the log, unless it ends the game; return how many are in the log."""
    N.rows[TRIED] = S[i]
    step(N.rows, TRIED, action)
    if to_move(N.rows, TRIED) == TERMINAL:
        return at
    if L.obs.shape[1] > 0:
        observe(N.rows, TRIED, seat, L.obs[at])
    features(N.rows, TRIED, seat, X, L.feats[at])
    L.seats[at] = seat
    L.values[at] = value
    return at + 1


def look_back(S, i, first, last, trace, N, L):
    """Write the targets of the decisions first..last of the finished game in row i: TD(lambda) of Sutton (1988)."""
    for seat in range(N.points.shape[0]):
        goal = final_value(S, i, seat, N)
        for k in range(last - 1, first - 1, -1):
            if L.seats[k] == seat:
                L.targets[k] = goal
                goal = N.aim[2] * (trace * goal + (1.0 - trace) * L.values[k] + 1.0) - 1.0


def play_plan(S, place, P, seat, chance, N, X, B, L, at):
    """Play and note the actions that led to a place in B, the last of them a random one where the lot says so.

    Returns:
        How many decisions are in the log, or -1 if it was full.
    """
    value = B.values[place]
    for d in range(B.lengths[place]):
        action = B.paths[place, d]
        strays = uniform(P, ROOT) < chance
        if strays:
            action = explore(S, ROOT, P, ROOT, X, N)
        if at == L.seats.shape[0]:
            return NOWHERE
        at = note(S, ROOT, action, seat, value, N, X, L, at)
        step(S, ROOT, action)
        if strays:
            break
    return at


def play_to_log(S, R, P, weights, template, chance, most, trace, learner, N, M, X, B, A, L, results):
    """Play games in row 0 of S until the log is full; the game that fills it is dropped.

    Args:
        S: (1,) game.
        R: (1,) uint64 stream of the games' chance.
        P: (1,) uint64 stream of the players' lots.
        weights: (outcomes,) int64 scratch.
        template: (1,) the start of a game.
        chance: probability of a random action.
        most: actions that a search of the turn goes ahead; 0 for one action ahead without a search.
        trace: lambda.
        learner: the seat whose decisions are logged and that N plays; -1: all seats, game after game.
        N: the network that learns.
        M: the network that plays the other seats.
        X: the features' memory.
        B: the search's memory.
        A: that of looking beyond the turn.
        L: the log.
        results: (2,) float64, written: the games finished, and the sum of a single learner's returns.

    Returns:
        The number of decisions in the log.
    """
    at = np.int64(0)
    results[:] = 0.0
    own = np.int64(learner)
    while True:
        first = at
        S[ROOT] = template[ROOT]
        init(S, ROOT)
        mover = settle(S, ROOT, R, ROOT, weights)
        while mover >= 0:
            learns = learner < 0 or mover == own
            place = decide(S, ROOT, P, ROOT, most, N if learns else M, X, B, A)
            if learns:
                at = play_plan(S, place, P, mover, chance, N, X, B, L, at)
                if at < 0:
                    return first
            else:
                follow(S, ROOT, place, B)
            mover = settle(S, ROOT, R, ROOT, weights)
        look_back(S, ROOT, first, at, trace, N, L)
        results[0] += 1.0
        if learner >= 0:
            returns(S, ROOT, N.points)
            results[1] += N.points[own]
            own = (own + 1) % N.points.shape[0]


TEMPLATES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        add_scaled,
        copy_to,
        head,
        look,
        value_after,
        final_value,
        worth_after,
        weigh_actions,
        hash_of,
        offer,
        expand,
        best_of,
        search_turn,
        follow,
        play_on,
        play_on_often,
        drop_worse_half,
        search_ahead,
        decide,
        decide_rows,
        explore,
        note,
        play_plan,
        look_back,
        play_to_log,
    )
}
"""In the order in which they call each other."""

__all__ = ["TEMPLATES", "Ahead", "Beam", "Log", "Net", "all_legal", "no_features"]
