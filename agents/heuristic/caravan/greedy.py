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
OTHER_GOODS = 0.03  # share of the goods that are not the best
POINT = 1000.0  # a point in hand is worth more than any prospect
LEAST = 1e-6  # what counts as a gain
# Rows of the scratch: the position looked at, and the one it follows. Typed, or numba compiles `step` for each number.
NODE = np.int64(0)
FIRST = np.int64(1)


@kernel
def prospect(s, seat, X):
    """Return what the best good that the seat carries or could pick up brings, less the actions it still takes.

    All the goods it carries count a little, so that it goes on with another one where it cannot with the best.
    """
    empties = survey(s, seat, X)
    best = best_three(X.net)[0]
    total = 0.0
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if is_laden(code):
            kind, cell = kind_of(code), code >> CELL_SHIFT
            actions = actions_to_deliver(s, seat, kind, cell, empties, X)
            net = VALUES[kind] - ACTION_PRICE * actions - FAR * DISTANCE[cell, s["city_cell"][kind]]
            best = max(best, net)
            total += net
    return best + OTHER_GOODS * total


@kernel
def gain_so_far(s, seat, X):
    """Return a seat's points from deliveries and demand markers and, to tell equals apart, its prospect."""
    ahead = 0.0 if s["phase"] == PHASE_OVER else prospect(s, seat, X)
    return POINT * banked(s, seat) + ahead


@kernel
def list_useful(s, seat, actions, X):
    """Write the actions to choose from, the end of the turn left out; return how many there are."""
    return list_actions(s, useful_cells(s, seat, survey(s, seat, X), X), actions) - 1


@kernel
def best_step(S, i, seat, node, actions, X):
    """Return the best gain that one action of row i leads to, and that action; node and actions are scratch."""
    best = -np.inf
    choice = np.int64(END_ACTION)
    for a in range(list_useful(S[i], seat, actions, X)):
        node[0] = S[i]
        step(node, NODE, actions[a])
        skip_draws(node[0])
        gain = gain_so_far(node[0], seat, X)
        if gain > best:
            best, choice = gain, actions[a]
    return best, choice


@kernel
def grab(S, i, nodes, actions, X):
    """Return the greedy action of row i, in which a seat is to move; the scratch is as for `grab_rows`.

    First it looks one action ahead; if that gains nothing, and the turn is whole, at what follows each of its actions.
    """
    seat = np.int64(S[i]["seat"])
    best = gain_so_far(S[i], seat, X) + LEAST
    choice = np.int64(END_ACTION)
    firsts = 0
    ahead = -1
    while ahead < firsts:
        nodes[1] = S[i]
        if ahead >= 0:
            step(nodes, FIRST, actions[1, ahead])
            skip_draws(nodes[1])
        if nodes[1]["phase"] != PHASE_OVER and nodes[1]["seat"] == seat:
            gain, action = best_step(nodes, FIRST, seat, nodes, actions[0], X)
            if gain > best:
                best, choice = gain, action if ahead < 0 else actions[1, ahead]
        if ahead < 0 and choice == END_ACTION and S[i]["actions_left"] == TURN_ACTIONS:
            firsts = list_useful(S[i], seat, actions[1], X)
        ahead += 1
    return choice


@kernel
def grab_rows(S, nodes, actions, X, chosen):
    """Write the greedy action of every row to `chosen` (rows,) int64.

    `nodes` (2,) positions and `actions` (2, actions) int64 are scratch.
    """
    for i in range(S.shape[0]):
        chosen[i] = grab(S, i, nodes, actions, X)
