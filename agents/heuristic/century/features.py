"""What a learned value function is told of a position of Century: kernels over rows.

The evaluation's own parts, seat by seat, and which merchants the seat itself owns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.century.evaluate import (
    DEFAULT_WEIGHTS,
    SCALE_AT_END,
    SCALE_PER_CARD,
    banked,
    best_claim,
    caravan_worth,
    cards_to_come,
    coin_at,
    covered_share,
    kernel,
    merchants_left,
    merchants_worth,
    rivals_worth,
    supply_worth,
)
from caravan_env.core.bits import ONE, popcount
from caravan_env.games.century.layout import ACTIONS, AUTOMA, CARD_NUMBERS, FACE_DOWN, PHASE_RETURN, PHASE_TURN, POINTS
from caravan_env.games.century.rules import automa_points, legal, number_of
from caravan_env.games.century.tables import COLOUR_COUNT, PYRAMID, ROW

PRIOR = 0  # place of the evaluation's own estimate, from which learning starts
BANKED, CARAVAN, MERCHANTS, CLAIM, TAKEN, HAND, PLAYED, CUBES = 0, 1, 2, 3, 4, 5, 6, 7
SEAT_FEATURES = CUBES + COLOUR_COUNT
CARDS = 0  # (places, 2): share of a point card's cost that the seat covers, and its points where all is covered
SUPPLY = 2 * PYRAMID
CLOCK = SUPPLY + 3
OWNED = CLOCK + 4
TABLE_FEATURES = OWNED + 2 * CARD_NUMBERS


class Scratch(NamedTuple):
    """The memory of `candidates`.

    Attributes:
        mask: (actions,) uint8.
    """

    mask: NDArray[np.uint8]


def new_scratch() -> Scratch:
    """Return the working memory of one thread."""
    return Scratch(np.zeros(ACTIONS.size, np.uint8))


def size(players: int) -> int:
    """Return the number of features with so many seats; alone, the automa is the second."""
    return 1 + max(players, 2) * SEAT_FEATURES + TABLE_FEATURES


@kernel
def describe_owner(s, owner, out, at):
    """Write what a seat, or the automa, has."""
    for colour in range(COLOUR_COUNT):
        out[at + CUBES + colour] = np.float32(0.2) * np.float32(number_of(s["cubes"][owner], colour))
    out[at + CARAVAN] = np.float32(0.1) * np.float32(caravan_worth(s, s["cubes"][owner], DEFAULT_WEIGHTS))
    out[at + TAKEN] = np.float32(0.2) * np.float32(popcount(s["taken"][owner]))


@kernel
def describe_seat(s, seat, out, at):
    """Write what a seat has and can hope for."""
    describe_owner(s, seat, out, at)
    out[at + BANKED] = np.float32(0.05) * np.float32(banked(s, seat))
    out[at + MERCHANTS] = np.float32(0.1) * np.float32(merchants_worth(s, seat, DEFAULT_WEIGHTS))
    out[at + CLAIM] = np.float32(0.1) * np.float32(best_claim(s, seat))
    out[at + HAND] = np.float32(0.1) * np.float32(popcount(s["hand"][seat]))
    out[at + PLAYED] = np.float32(0.1) * np.float32(popcount(s["played"][seat]))


@kernel
def describe_cards(s, seat, out, at):
    """Write how near a seat is to each face-up point card."""
    for place in range(np.int64(s["point_places"])):
        card = np.int64(s["points"][place])
        if card < FACE_DOWN:
            share = np.float32(covered_share(s["cubes"][seat], card))
            points = np.float32(0.1) * np.float32(POINTS[card] + coin_at(s, place))
            out[at + CARDS + 2 * place] = share * points
            out[at + CARDS + 2 * place + 1] = points if share == np.float32(1.0) else np.float32(0.0)


@kernel
def describe_table(s, seat, out, at):
    """Write what lies on the table, how far the game is, and the seat's merchants: ready and played."""
    describe_cards(s, seat, out, at)
    left = merchants_left(s)
    out[at + SUPPLY] = np.float32(0.1) * np.float32(left)
    out[at + SUPPLY + 1] = np.float32(0.1) * np.float32(supply_worth(left, DEFAULT_WEIGHTS))
    out[at + SUPPLY + 2] = np.float32(np.int64(s["row_size"])) / np.float32(ROW)
    out[at + CLOCK] = np.float32(0.1) * np.float32(cards_to_come(s))
    out[at + CLOCK + 1] = np.float32(s["seat"] == seat)
    out[at + CLOCK + 2] = np.float32(s["phase"] == PHASE_TURN)
    out[at + CLOCK + 3] = np.float32(s["phase"] == PHASE_RETURN)
    hand, played = s["hand"][seat], s["played"][seat]
    for card in range(CARD_NUMBERS):
        out[at + OWNED + card] = np.float32(hand & ONE)
        out[at + OWNED + CARD_NUMBERS + card] = np.float32(played & ONE)
        hand >>= ONE
        played >>= ONE


@kernel
def features(S, i, seat, X, out):
    """Write what is known of row i from the view of a seat to `out`, float32 of shape (size(players),)."""
    s = S[i]
    out[:] = np.float32(0.0)
    players = np.int64(s["players"])
    at = np.int64(1)
    for k in range(players):
        describe_seat(s, (seat + k) % players, out, at)
        at += SEAT_FEATURES
    if players == 1:
        describe_owner(s, np.int64(AUTOMA), out, at)
        out[at + BANKED] = np.float32(0.05) * np.float32(automa_points(s))
        at += SEAT_FEATURES
    describe_table(s, seat, out, at)
    w = DEFAULT_WEIGHTS
    lead = banked(s, seat) + caravan_worth(s, s["cubes"][seat], w) + merchants_worth(s, seat, w)
    lead -= rivals_worth(s, seat, w)
    out[PRIOR] = lead / (SCALE_AT_END + SCALE_PER_CARD * cards_to_come(s))


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
