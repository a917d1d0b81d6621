"""The greedy choice: the one action that gains most at once, as kernels."""

from __future__ import annotations

import numpy as np

from agents.heuristic.century.evaluate import W_CARD, W_CUBES, banked, kernel, prospects
from agents.heuristic.century.search import keep_known, list_actions
from caravan_env.core.bits import popcount
from caravan_env.games.century.layout import PHASE_PAY, PHASE_UPGRADE
from caravan_env.games.century.rules import step, total
from caravan_env.games.century.tables import CARAVAN

BANKED = 2.0  # what a point of a card or coin is worth, so that nothing keeps it from a claim
STEP_WORTH = 0.5  # points that a pending upgrade step is worth
EXCESS_COST = 1.0  # points that each cube beyond the limit costs
READY_CARD = 0.4  # points that a card in hand is worth more than a played one


@kernel
def progress(s, seat, w):
    """Return the points that a seat has and can hope for, in the course of its turn too."""
    worth = BANKED * banked(s, seat) + prospects(s, seat, w)
    worth -= EXCESS_COST * max(total(s["cubes"][seat]) - CARAVAN, 0)
    worth += READY_CARD * popcount(s["hand"][seat])
    if s["seat"] == seat and s["phase"] == PHASE_UPGRADE:
        worth += STEP_WORTH * np.int64(s["steps"])
    if s["seat"] == seat and s["phase"] == PHASE_PAY:
        unpaid = np.int64(s["place"]) - np.int64(s["paid"])
        worth += w[W_CARD] - 2.0 * w[W_CUBES] * unpaid
    return worth


@kernel
def grab(S, i, node, actions, w):
    """Return the action of row i after which the seat to move has the most progress.

    `node` is a row of one position, `actions` (actions,) int64: scratch.
    """
    seat = np.int64(S[i]["seat"])
    best = -np.inf
    choice = np.int64(-1)
    for a in range(list_actions(S[i], actions)):
        node[0] = S[i]
        keep_known(node[0])
        step(node, 0, actions[a])
        worth = progress(node[0], seat, w)
        if worth > best:
            best, choice = worth, actions[a]
    return choice


@kernel
def grab_rows(S, node, actions, w, chosen):
    """Write the greedy action of every row to `chosen` (rows,) int64."""
    for i in range(S.shape[0]):
        chosen[i] = grab(S, i, node, actions, w)
