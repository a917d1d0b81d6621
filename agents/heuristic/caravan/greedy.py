"""The greedy choice: the action that gains most at once, as kernels."""

from __future__ import annotations

import numpy as np

from agents.heuristic.caravan.evaluate import (
    ACTION_PRICE,
    DISTANCE,
    actions_to_deliver,
    banked,
    best_three,
    kernel,
    kind_of,
    survey,
    useful_cells,
)
from agents.heuristic.caravan.search import list_actions, skip_draws
from caravan_env.games.caravan.layout import CELL_SHIFT, END_ACTION, PHASE_OVER, TURN_ACTIONS
from caravan_env.games.caravan.rules import VALUES, is_laden, step

FAR = 0.01  # points for each cell that a carried good is away from its city, to tell equal prospects apart
POINT = 1000.0  # a point in hand is worth more than any prospect
LEAST = 1e-6  # what counts as a gain


@kernel
def prospect(s, seat, X):
    """Return what the best good that the seat carries or could pick up brings, less the actions it still takes."""
    empties = survey(s, seat, X)
    best = best_three(X.net)[0]
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            kind, cell = kind_of(code), code >> CELL_SHIFT
            actions = actions_to_deliver(s, seat, kind, cell, empties, X)
            away = DISTANCE[cell, s["city_cell"][kind]]
            best = max(best, VALUES[kind] - ACTION_PRICE * actions - FAR * away)
    return best


@kernel
def gain_so_far(s, seat, X):
    """Return a seat's points from deliveries and demand markers and, to tell equals apart, its prospect."""
    ahead = 0.0 if s["phase"] == PHASE_OVER else prospect(s, seat, X)
    return POINT * banked(s, seat) + ahead


@kernel
def best_step(S, i, depth, nodes, actions, X):
    """Return the best gain that `depth` actions (1 or 2) from row i lead to, and the first of them.

    Rows `depth - 1` of `nodes` and of `actions` (2, actions) int64 are scratch.
    """
    seat = np.int64(S[i]["seat"])
    s = nodes[depth - 1]
    own = actions[depth - 1]
    best = -np.inf
    choice = np.int64(END_ACTION)
    useful = useful_cells(S[i], seat, survey(S[i], seat, X), X)
    for a in range(list_actions(S[i], useful, own) - 1):
        nodes[depth - 1] = S[i]
        step(nodes, depth - 1, own[a])
        skip_draws(s)
        gain = -np.inf
        if depth == 1 or s["phase"] == PHASE_OVER or s["seat"] != seat:
            gain = gain_so_far(s, seat, X)
        else:
            gain = best_step(nodes, 1, 1, nodes, actions, X)[0]
        if gain > best:
            best, choice = gain, own[a]
    return best, choice


@kernel
def grab(S, i, nodes, actions, X):
    """Return the greedy action of row i, in which a seat is to move."""
    have = gain_so_far(S[i], np.int64(S[i]["seat"]), X) + LEAST
    best, choice = best_step(S, i, 1, nodes, actions, X)
    if best <= have and S[i]["actions_left"] == TURN_ACTIONS:
        best, choice = best_step(S, i, 2, nodes, actions, X)
    return choice if best > have else np.int64(END_ACTION)


@kernel
def grab_rows(S, nodes, actions, X, chosen):
    """Write the greedy action of every row to `chosen` (rows,) int64."""
    for i in range(S.shape[0]):
        chosen[i] = grab(S, i, nodes, actions, X)
