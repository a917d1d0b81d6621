"""What a learned value function is told of a position of the Ukraine map: kernels over rows.

The evaluation's hopes, seat by seat, and what they are made of. The other seats' chips count by their number (H3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.ukraine.evaluate import (
    SCALE_AT_END,
    SCALE_AT_START,
    Desk,
    begin_decision,
    evaluate,
    hand_worth,
    kernel,
    new_desk,
    rivals_hope,
)
from agents.heuristic.ukraine.weights import PLANNER
from caravan_env.games.ukraine.layout import ACTIONS, FIGURE_KINDS, GOODS_KINDS, PHASE_FIGURE, PHASE_PLACE
from caravan_env.games.ukraine.rules import legal

PRIOR = 0  # place of the evaluation's own estimate, from which learning starts
HOPE, POINTS, STOCK, CHIPS, FIGURES = 0, 1, 2, 3, 4
GOODS = FIGURES + FIGURE_KINDS
SEAT_FEATURES = GOODS + GOODS_KINDS
OWN_CHIPS, LEFT, ON_MOVE, PLACING, FIGURE, AGAIN = range(6)
TABLE_FEATURES = 6


class Scratch(NamedTuple):
    """The memory of the kernels here.

    Attributes:
        desk: what the evaluation writes to.
        mask: (actions,) uint8.
    """

    desk: Desk
    mask: NDArray[np.uint8]


def new_scratch() -> Scratch:
    """Return the working memory of one thread."""
    return Scratch(new_desk(), np.zeros(ACTIONS.size, np.uint8))


def size(players: int) -> int:
    """Return the number of features with so many seats."""
    return 1 + players * SEAT_FEATURES + TABLE_FEATURES


@kernel
def describe_seat(s, seat, D, out, at):
    """Write what a seat has and hopes for; the position is evaluated."""
    out[at + HOPE] = np.float32(0.02) * np.float32(D.hopes[seat])
    out[at + POINTS] = np.float32(0.02) * np.float32(s["points"][seat])
    out[at + STOCK] = np.float32(0.2) * np.float32(D.stocks[seat])
    out[at + CHIPS] = np.float32(0.2) * np.float32(s["hand_size"][seat])
    for kind in range(FIGURE_KINDS):
        out[at + FIGURES + kind] = np.float32(0.2) * np.float32(s["home"][seat, kind])
    for kind in range(GOODS_KINDS):
        out[at + GOODS + kind] = np.float32(0.2) * np.float32(s["goods"][seat, kind])


@kernel
def features(S, i, seat, X, out):
    """Write what is known of row i from the view of a seat to `out`, float32 of shape (size(players),)."""
    s, D = S[i], X.desk
    players = np.int64(s["players"])
    begin_decision(s, D)
    evaluate(s, seat, (np.int64(s["seat"]) + 1) % players, PLANNER, D)
    at = np.int64(1)
    for k in range(players):
        describe_seat(s, (seat + k) % players, D, out, at)
        at += SEAT_FEATURES
    out[at + OWN_CHIPS] = np.float32(0.05) * np.float32(hand_worth(s, seat, PLANNER, D))
    out[at + LEFT] = D.turns[1]
    out[at + ON_MOVE] = np.float32(s["seat"] == seat)
    out[at + PLACING] = np.float32(s["phase"] == PHASE_PLACE)
    out[at + FIGURE] = np.float32(s["phase"] == PHASE_FIGURE and s["seat"] == seat)
    out[at + AGAIN] = np.float32(s["again"])
    out[PRIOR] = (D.hopes[seat] - rivals_hope(s, seat, PLANNER, D)) / (SCALE_AT_END + SCALE_AT_START * D.turns[1])


@kernel
def candidates(S, i, X, actions):
    """Write the legal actions of row i; return how many there are."""
    legal(S, i, X.mask)
    count = 0
    for action in range(X.mask.shape[0]):
        if X.mask[action] != 0:
            actions[count] = action
            count += 1
    return count
