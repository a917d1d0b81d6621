"""Loops over the rows of a batch, written once for all games.

These functions are templates: they are never called as they stand. `kernel.bind_loops` compiles one copy per game
with the game's kernels (the names declared below) among its globals. Shapes: `S` (rows,) of the game's state dtype,
`R` (rows,) uint64 chance streams, `mask` (rows, actions) uint8, `obs` (rows, observation) uint8, `weights`
(max_outcomes,) int64 scratch for chance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from caravan_env.core.contract import CHANCE, ILLEGAL, TERMINAL
from caravan_env.core.rng import below, next_u64

MAX_OUTCOMES: int
init: Callable[..., Any]
to_move: Callable[..., Any]
legal: Callable[..., Any]
is_legal: Callable[..., Any]
pick: Callable[..., Any]
step: Callable[..., Any]
chance: Callable[..., Any]
resolve: Callable[..., Any]
observe: Callable[..., Any]
returns: Callable[..., Any]


def draw_outcome(S, i, R, r, weights):
    """Draw a chance outcome of row i with stream R[r]; `weights` (MAX_OUTCOMES,) int64 is scratch."""
    n = chance(S, i, weights)
    total = np.int64(0)
    for k in range(n):
        total += weights[k]
    ticket = below(R, r, total)
    for k in range(n):
        ticket -= weights[k]
        if ticket < 0:
            return k
    return n - 1


def settle(S, i, R, r, weights):
    """Resolve chance in row i until a seat is to move or the game is over; return `to_move`."""
    mover = to_move(S, i)
    while mover == CHANCE:
        resolve(S, i, draw_outcome(S, i, R, r, weights))
        mover = to_move(S, i)
    return mover


def start_rows(S, R, weights, template, which):
    """Start a new game in every row i with which[i] != 0 (uint8), and resolve its opening chance."""
    for i in range(S.shape[0]):
        if which[i]:
            S[i] = template[0]
            init(S, i)
            settle(S, i, R, i, weights)


def first_illegal(S, actions, which):
    """Return the first row with which[i] != 0 in which actions[i] (int64) cannot be played now, or -1."""
    for i in range(S.shape[0]):
        if which[i] and (to_move(S, i) < 0 or not is_legal(S, i, actions[i])):
            return i
    return -1


def view_rows(S, seats, mask, counts, obs):
    """Write who is to move, the mask, the number of legal actions and the mover's observation of every row.

    Finished rows get seat TERMINAL, an all-zero mask, count 0 and an all-zero observation.
    """
    for i in range(S.shape[0]):
        mover = to_move(S, i)
        seats[i] = mover
        if mover >= 0:
            counts[i] = legal(S, i, mask[i])
            observe(S, i, mover, obs[i])
        else:
            counts[i] = 0
            mask[i, :] = 0
            obs[i, :] = 0


def mover_rows(S, seats):
    """Write who is to move in every row: a seat, CHANCE or TERMINAL."""
    for i in range(S.shape[0]):
        seats[i] = to_move(S, i)


def legal_rows(S, mask):
    """Write the mask of every row; in each of them a seat must be to move."""
    for i in range(S.shape[0]):
        legal(S, i, mask[i])


def observe_rows(S, seats, obs):
    """Write what seats[i] may know of row i, also in finished rows."""
    for i in range(S.shape[0]):
        observe(S, i, seats[i], obs[i])


def step_rows(S, R, weights, actions, which, values, ended):
    """Play actions[i] in every row with which[i] != 0 and resolve chance; rows that end get their returns in values[i].

    Rows that are left out get ended[i] = 0, so `ended` marks the games that this call finished.
    """
    for i in range(S.shape[0]):
        ended[i] = 0
        if which[i]:
            step(S, i, actions[i])
            if settle(S, i, R, i, weights) == TERMINAL:
                ended[i] = 1
                returns(S, i, values[i])


def advance_rows(S, R, weights, template, actions, seats, mask, counts, obs, values, ended):
    """Play, resolve chance, start finished rows anew, and view: `step_rows`, `start_rows` and `view_rows` in one pass.

    values[i] and ended[i] speak of the game that just ended; seats, mask, counts and obs of the position to play now.
    """
    for i in range(S.shape[0]):
        step(S, i, actions[i])
        mover = settle(S, i, R, i, weights)
        ended[i] = 0
        if mover == TERMINAL:
            ended[i] = 1
            returns(S, i, values[i])
            S[i] = template[0]
            init(S, i)
            mover = settle(S, i, R, i, weights)
        seats[i] = mover
        counts[i] = legal(S, i, mask[i])
        observe(S, i, mover, obs[i])


def random_rows(S, P, actions):
    """Write a uniformly random legal action of every row that is not finished, with the streams P (rows,) uint64."""
    for i in range(S.shape[0]):
        if to_move(S, i) >= 0:
            actions[i] = pick(S, i, next_u64(P, i) >> np.uint64(32))


def random_rollout(S, R, weights, P, template, steps):
    """Play `steps` random legal actions in every row, starting finished games anew; return the games finished."""
    games = 0
    for i in range(S.shape[0]):
        for _ in range(steps):
            step(S, i, pick(S, i, next_u64(P, i) >> np.uint64(32)))
            if settle(S, i, R, i, weights) == TERMINAL:
                games += 1
                S[i] = template[0]
                init(S, i)
                settle(S, i, R, i, weights)
    return games


def scripted_rollout(S, R, weights, P, template, script):
    """Play script[i, t] (rows, steps) int64 in row i, choosing and ignoring a random legal action at every step.

    Measures what a rollout costs in games that somebody plays purposefully. Every action must be legal where it is
    played.

    Returns:
        (games finished, sum of the actions chosen and ignored, which keeps the compiler from leaving them out).
    """
    games = 0
    ignored = 0
    for i in range(S.shape[0]):
        for t in range(script.shape[1]):
            ignored += pick(S, i, next_u64(P, i) >> np.uint64(32))
            step(S, i, script[i, t])
            if settle(S, i, R, i, weights) == TERMINAL:
                games += 1
                S[i] = template[0]
                init(S, i)
                settle(S, i, R, i, weights)
    return games, ignored


def random_playout(S, i, P, r, weights, values):
    """Play row i to its end with random legal actions and stream P[r]; write the returns; return the number of actions.

    `weights` (MAX_OUTCOMES,) int64 is scratch.
    """
    played = 0
    while settle(S, i, P, r, weights) != TERMINAL:
        step(S, i, pick(S, i, next_u64(P, r) >> np.uint64(32)))
        played += 1
    returns(S, i, values)
    return played


def seat_observe(S, seat, mask, counts, scale, obs):
    """Write what `seat` may know of row 0 as floats, and its mask (int8), all zero unless the seat is to move.

    `counts` (observation,) uint8 is scratch, `scale` (observation,) float32 is the layout's, `obs` is float32.
    """
    i = S.shape[0] - 1  # row 0; the literal 0 would compile every kernel once more
    bits = mask.view(np.uint8)
    if to_move(S, i) == seat:
        legal(S, i, bits)
    else:
        bits[:] = 0
    observe(S, i, seat, counts)
    for k in range(counts.shape[0]):
        obs[k] = np.float32(counts[k]) * scale[k]


def play_row(S, R, weights, action, seat, chance_too):
    """Play one action of the single row 0 if the seat (any, if negative) may, and resolve chance if chance_too != 0.

    Returns:
        The next `to_move`, or ILLEGAL (-3) with nothing changed.
    """
    i = S.shape[0] - 1  # row 0; the literal 0 would compile every kernel once more
    mover = to_move(S, i)
    if mover < 0 or (seat >= 0 and seat != mover) or not is_legal(S, i, action):
        return ILLEGAL
    step(S, i, action)
    if chance_too:
        return settle(S, i, R, i, weights)
    return to_move(S, i)


def mask_row(S, mask):
    """Write the mask of the single row 0, all zero unless a seat is to move; return the number of legal actions."""
    i = S.shape[0] - 1  # row 0; the literal 0 would compile every kernel once more
    if to_move(S, i) >= 0:
        return legal(S, i, mask)
    mask[:] = 0
    return 0


def seat_step(S, R, weights, action, mask, counts, scale, obs):
    """Play one action of the single row 0 if it is legal, resolve chance, and view the position as the next mover.

    mask and obs are rewritten if a seat is to move next, see `seat_observe`.

    Returns:
        The next `to_move`, or ILLEGAL (-3) with nothing changed.
    """
    i = S.shape[0] - 1  # row 0; the literal 0 would compile every kernel once more
    if to_move(S, i) < 0 or not is_legal(S, i, action):
        return ILLEGAL
    step(S, i, action)
    mover = settle(S, i, R, i, weights)
    if mover >= 0:
        seat_observe(S, mover, mask, counts, scale, obs)
    return mover


LOOPS: dict[str, Callable[..., Any]] = {
    loop.__name__: loop
    for loop in (
        draw_outcome,
        settle,
        start_rows,
        first_illegal,
        view_rows,
        mover_rows,
        legal_rows,
        observe_rows,
        step_rows,
        advance_rows,
        random_rows,
        random_rollout,
        scripted_rollout,
        random_playout,
        seat_observe,
        play_row,
        mask_row,
        seat_step,
    )
}
