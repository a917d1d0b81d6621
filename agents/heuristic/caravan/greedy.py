"""The greedy choice: the one action that gains most at once, as kernels."""

from __future__ import annotations

import numpy as np

from agents.heuristic.caravan.evaluate import (
    ACTION_PRICE,
    DISTANCE,
    actions_to_deliver,
    best_three,
    kernel,
    kind_of,
    secured,
    survey,
    useful_cells,
)
from agents.heuristic.caravan.search import list_actions, skip_draws
from caravan_env.games.caravan.layout import CELL_SHIFT, END_ACTION, PHASE_OVER
from caravan_env.games.caravan.rules import VALUES, is_laden, step

FAR = 0.01  # points for each cell that a carried good is away from its city, to tell equal prospects apart


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
def grab(S, i, node, actions, X):
    """Return the action of row i after which the seat to move has most points and, of those, the best prospect.

    `node` is a row of one position, `actions` (actions,) int64: scratch. If no action makes things better, the turn ends.
    """
    seat = np.int64(S[i]["seat"])
    s = node[0]
    useful = useful_cells(S[i], seat, survey(S[i], seat, X), X)
    best_points = secured(S[i], seat)
    best = prospect(S[i], seat, X)
    choice = np.int64(END_ACTION)
    for a in range(list_actions(S[i], useful, actions)):
        node[0] = S[i]
        step(node, 0, actions[a])
        skip_draws(s)
        have = secured(s, seat)
        if have < best_points:
            continue
        ahead = best if s["phase"] == PHASE_OVER else prospect(s, seat, X)
        if have > best_points or ahead > best:
            best_points, best, choice = have, ahead, actions[a]
    return choice


@kernel
def grab_rows(S, node, actions, X, chosen):
    """Write the greedy action of every row to `chosen` (rows,) int64."""
    for i in range(S.shape[0]):
        chosen[i] = grab(S, i, node, actions, X)
