"""What a position of Century is worth to a seat, in points: kernels over rows, like the rules.

The worth has three parts: what is banked (point cards and coins), the caravan (each cube, and how far it covers the
face-up point cards), and the merchants (how many a seat has, how many of them await a rest). Alone against the automa
there is a fourth: the fewer merchants are left for its die, the better, and without any it is frozen (U13).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.bits import popcount
from caravan_env.core.kernel import kernel_using
from caravan_env.games.century import rules
from caravan_env.games.century.layout import AUTOMA, COSTS, FACE_DOWN, PHASE_OVER, POINTS
from caravan_env.games.century.rules import GOLD_POINTS, LAST_CARDS, automa_points, number_of, points
from caravan_env.games.century.tables import CARDS, COLOUR_COUNT, CUBE_VALUES, PYRAMID, ROW, SEATS, value

kernel = kernel_using(rules.__file__)

COST_VALUES = np.array([value(card.cost) for card in CARDS.points], np.float64)
VALUES = np.array(CUBE_VALUES, np.float64)

# Places of the weights, float64 (WEIGHTS,).
W_CUBES = 0  # (colours,): a cube of each colour
W_NEAR = W_CUBES + COLOUR_COUNT  # (2,): share of the points of the nearest face-up card, and of the next
W_CARD = W_NEAR + 2  # a merchant, as long as a seat has not ENOUGH of them
W_ENOUGH = W_CARD + 1  # merchants, the starting ones included
W_MORE = W_ENOUGH + 1  # a merchant beyond that
W_PLAYED = W_MORE + 1  # a played card, which awaits a rest
W_SUPPLY = W_PLAYED + 1  # solo: a merchant less that may still lie in the row
W_FREEZE = W_SUPPLY + 1  # solo: a row without merchants instead of a full one
W_RIVAL = W_FREEZE + 1  # share of a rival's worth that counts against one's own
W_AUTOMA_TURN = W_RIVAL + 1  # solo: what the automa gains in a turn
W_WIN = W_AUTOMA_TURN + 1  # winning the game
WEIGHTS = W_WIN + 1


def default_weights():
    """Return the weights of all scripted agents, float64 (WEIGHTS,)."""
    w = np.zeros(WEIGHTS)
    w[W_CUBES : W_CUBES + COLOUR_COUNT] = (0.3, 0.9, 1.5, 2.1)
    w[W_NEAR : W_NEAR + 2] = (0.25, 0.08)
    w[W_CARD], w[W_ENOUGH], w[W_MORE], w[W_PLAYED] = 2.5, 8, 0.5, 0.25
    w[W_SUPPLY], w[W_FREEZE] = 0.3, 15.0
    w[W_RIVAL], w[W_AUTOMA_TURN], w[W_WIN] = 0.3, 2.2, 60.0
    return w


DEFAULT_WEIGHTS = default_weights()


@kernel
def banked(s, seat):
    """Return the points of a seat's cards and coins (E2)."""
    return np.int64(s["card_points"][seat]) + GOLD_POINTS * np.int64(s["gold"][seat]) + np.int64(s["silver"][seat])


@kernel
def coin_at(s, place):
    """Return the points of the coin that a claim at a place brings (C2, C3)."""
    if place == 0 and s["gold_left"] > 0:
        return np.int64(GOLD_POINTS)
    return np.int64(s["silver_left"] > 0 and place == (1 if s["gold_left"] > 0 else 0))


@kernel
def covered_share(purse, card):
    """Return how much of the cost of a point card a purse covers, by value, 0 to 1."""
    missing = 0.0
    for colour in range(COLOUR_COUNT):
        missing += VALUES[colour] * max(np.int64(COSTS[card, colour]) - number_of(purse, colour), 0)
    return 1.0 - missing / COST_VALUES[card]


@kernel
def caravan_worth(s, purse, w):
    """Return what a caravan is worth: its cubes, and its nearness to the two nearest face-up point cards."""
    worth = 0.0
    for colour in range(COLOUR_COUNT):
        worth += w[W_CUBES + colour] * number_of(purse, colour)
    first = second = 0.0
    for place in range(np.int64(s["point_places"])):
        card = np.int64(s["points"][place])
        if card < FACE_DOWN:
            share = covered_share(purse, card)
            near = (POINTS[card] + coin_at(s, place)) * share * share
            if near > first:
                first, second = near, first
            elif near > second:
                second = near
    return worth + w[W_NEAR] * first + w[W_NEAR + 1] * second


@kernel
def merchants_worth(s, seat, w):
    """Return what the merchants of a seat are worth."""
    played = np.float64(popcount(s["played"][seat]))
    cards = popcount(s["hand"][seat]) + played
    enough = min(cards, w[W_ENOUGH])
    return w[W_CARD] * enough + w[W_MORE] * (cards - enough) - w[W_PLAYED] * played


@kernel
def supply_worth(supply, w):
    """Return what it is worth that no more than `supply` merchants are left for the automa."""
    return w[W_FREEZE] * (1.0 - min(supply, ROW) / ROW) - w[W_SUPPLY] * supply


@kernel
def merchants_left(s):
    """Return how many merchants lie in the row or may still come into it."""
    return popcount(s["merchant_deck"]) + np.int64(s["row_size"])


@kernel
def prospects(s, seat, w):
    """Return what a seat has beyond what is banked."""
    return caravan_worth(s, s["cubes"][seat], w) + merchants_worth(s, seat, w)


@kernel
def rivals_worth(s, seat, w):
    """Return the worth of the best rival of a seat, what its caravan can do with the face-up point cards included."""
    if s["players"] == 1:
        return automa_points(s) + caravan_worth(s, s["cubes"][AUTOMA], w)
    best = -np.inf
    for other in range(np.int64(s["players"])):
        if other != seat:
            best = max(best, banked(s, other) + prospects(s, other, w))
    return best


# --- the end ---------------------------------------------------------------------------------------------------------


@kernel
def best_claim(s, seat):
    """Return the points, coin included, that the best claim would bring a seat now."""
    best = np.int64(0)
    for place in range(np.int64(s["point_places"])):
        card = np.int64(s["points"][place])
        if card < FACE_DOWN and covered_share(s["cubes"][seat], card) == 1.0:
            best = max(best, POINTS[card] + coin_at(s, place))
    return best


@kernel
def lead_at_end(s, seat, first_after):
    """Return the lead of a seat if each seat from `first_after` on has one turn left; the later seat wins ties (E3)."""
    own = np.float64(points(s, seat))
    lead = np.inf
    for other in range(np.int64(s["players"])):
        if other != seat:
            theirs = np.float64(points(s, other)) + (0.5 if other > seat else -0.5)
            if other >= first_after:
                theirs += best_claim(s, other)
            lead = min(lead, own - theirs)
    return lead


# --- a potential for learners ----------------------------------------------------------------------------------------

SCALE_AT_END = 8.0  # points that make a likely winner when the last card is about to be taken
SCALE_PER_CARD = 3.0  # and how many more for each card to come


@kernel
def cards_to_come(s):
    """Return how many point cards may still be taken: of the pyramid, or by the seat that has most of them."""
    most = np.int64(0)
    for seat in range(np.int64(s["players"])):
        most = max(most, popcount(s["taken"][seat]))
    if s["players"] == 1:
        return np.int64(PYRAMID) - most - popcount(s["taken"][AUTOMA])
    return LAST_CARDS[s["players"]] - most


@kernel
def potential_rows(S, seats, w, out):
    """Write the potential of seats[i] in each row i to `out` (rows,) float64; 0 where the game is over."""
    for i in range(S.shape[0]):
        s = S[i]
        out[i] = 0.0
        if s["phase"] != PHASE_OVER:
            scale = SCALE_AT_END + SCALE_PER_CARD * cards_to_come(s)
            lead = banked(s, seats[i]) + prospects(s, seats[i], w) - rivals_worth(s, seats[i], w)
            out[i] = math.tanh(lead / scale)


class Memory(NamedTuple):
    """The memory of `potentials`, made by `new_memory`.

    Attributes:
        weights: (WEIGHTS,) float64.
        worth: (SEATS,) float64, what each seat has and can hope for.
    """

    weights: NDArray[np.float64]
    worth: NDArray[np.float64]


def new_memory() -> Memory:
    """Return the memory of one thread, with the weights of all scripted agents."""
    return Memory(DEFAULT_WEIGHTS, np.zeros(SEATS))


@kernel
def potentials(S, i, X, values):
    """Write the potential of each seat in row i, which is not finished, to `values` (seats,) float64; X: `Memory`."""
    s = S[i]
    players = np.int64(s["players"])
    scale = SCALE_AT_END + SCALE_PER_CARD * cards_to_come(s)
    for seat in range(players):
        X.worth[seat] = banked(s, seat) + prospects(s, seat, X.weights)
    for seat in range(players):
        rival = rivals_worth(s, seat, X.weights) if players == 1 else -np.inf
        for other in range(players):
            if other != seat:
                rival = max(rival, X.worth[other])
        values[seat] = math.tanh((X.worth[seat] - rival) / scale)
