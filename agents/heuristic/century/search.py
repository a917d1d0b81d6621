"""A beam search over the seat's own turns, as kernels.

Every position in the beam is one in which the seat begins a turn. All ways to play that turn lead to positions of the
next beam, of which the `width` best are kept, equal ones once. What a plan is worth is what it has claimed, discounted
by the turns until then, and at its end the worth of the position (`evaluate`), or of having won or lost the game. The
first action of the best plan is the answer.

What cannot be known is left out: merchants and point cards that chance would bring stay away, the automa's die is not
rolled, rivals pass. The automa's claims need no chance (U1), so they are part of the plan. Inside a turn the seat pays
with its lowest cubes and returns its lowest ones, except in the action that is to be chosen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.heuristic.century.evaluate import (
    W_AUTOMA_TURN,
    W_RIVAL,
    W_WIN,
    banked,
    kernel,
    lead_at_end,
    prospects,
    rivals_worth,
    supply_worth,
)
from caravan_env.core.bits import ONE, bit, lowest, popcount
from caravan_env.games.century.layout import (
    ACTIONS,
    AGAIN_ACTION,
    AUTOMA,
    DONE_ACTION,
    HIGH_START,
    PHASE_OVER,
    PHASE_PAY,
    PHASE_RETURN,
    PHASE_TRADE,
    PHASE_TURN,
    PHASE_UPGRADE,
    STATE,
    UPGRADE_START,
)
from caravan_env.games.century.rules import (
    LAST_CARDS,
    NONE,
    automa_points,
    close_turn,
    colours_in,
    cube,
    legal_sets,
    most_taken,
    number_of,
    pay,
    points,
    step,
    total,
)
from caravan_env.games.century.tables import CARAVAN, COLOUR_COUNT, ROW

MOST_TRADES = CARAVAN  # with one card in a turn; more need more cubes than a turn can begin with
STACK = 64  # a few branches for each step inside a turn
TIE = 0.5  # points; a tie with the automa is not a win (O11)
SURE = 0.1  # points of a lead that decides the game when it ends at once
HURRY = 0.85  # by which the future is worth less when a rival can end the game with its next card
SPREAD = 4.0  # points by which the lead may be wrong for each turn ahead, to the power of 1/2
TABLE_SHARE = 16  # places of the table of known positions for each place of the beam
PROBES = 8

_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


class Beam(NamedTuple):
    """The memory of a search, made once by `new_beam`.

    The positions of one turn are in one half of the places, those of the next turn in the other.

    Attributes:
        rows: (2 * width,) positions.
        gains: (2 * width,) float64, what the plan has claimed by then, discounted.
        scores: the same shape, what the plan is worth in all.
        roots: the same shape, int64, the action that the plan begins with.
        heap: (width,) int64, the places of the next turn, the lowest score first, once all of them are used.
        known: (places,) uint64, a table of the hashes of the positions met in the next turn, 0 for none.
        known_scores: the same shape, float64, their highest scores.
        stack: (STACK,) positions inside a turn; the last is the one being looked at.
        lows: (STACK,) int64, what was done last there: the colour raised, or the trades made.
        actions: (actions,) int64, the actions of one position.
        used: (1,) int64, places used for the next turn.
        best: (1,) float64, the worth of the best plan.
        choice: (1,) int64, the action that it begins with.
    """

    rows: NDArray[np.void]
    gains: NDArray[np.float64]
    scores: NDArray[np.float64]
    roots: NDArray[np.int64]
    heap: NDArray[np.int64]
    known: NDArray[np.uint64]
    known_scores: NDArray[np.float64]
    stack: NDArray[np.void]
    lows: NDArray[np.int64]
    actions: NDArray[np.int64]
    used: NDArray[np.int64]
    best: NDArray[np.float64]
    choice: NDArray[np.int64]


def new_beam(width: int) -> Beam:
    """Return the memory of a search that keeps `width` positions in each turn."""
    table = 1 << (TABLE_SHARE * width - 1).bit_length()
    return Beam(
        np.zeros(2 * width, STATE),
        np.zeros(2 * width),
        np.zeros(2 * width),
        np.zeros(2 * width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(table, np.uint64),
        np.zeros(table),
        np.zeros(STACK, STATE),
        np.zeros(STACK, np.int64),
        np.zeros(ACTIONS.size, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1),
        np.zeros(1, np.int64),
    )


class Turn(NamedTuple):
    """The turn that is being searched.

    Attributes:
        seat: who plans.
        ahead: turns ahead of the one that is to be played.
        price: what a point gained in it is worth now.
        spare: merchants that the plan leaves out but that may come.
        start: the first place of the next turn in the beam.
    """

    seat: np.int64
    ahead: int
    price: float
    spare: int
    start: int


# --- the ways to play a turn -----------------------------------------------------------------------------------------


@kernel
def list_actions(s, actions):
    """Write the legal actions of a position to `actions`; return how many there are."""
    low, high = legal_sets(s)
    count = 0
    while low != NONE:
        actions[count] = lowest(low)
        low &= low - bit(0)
        count += 1
    while high != NONE:
        actions[count] = HIGH_START + lowest(high)
        high &= high - bit(0)
        count += 1
    return count


@kernel
def keep_known(s):
    """Leave out what chance would bring, and the turn limit: no card is drawn any more."""
    s["merchant_deck"] = NONE
    s["point_deck"] = NONE
    s["reshuffle"] = 0
    s["turn_limit"] = 0


@kernel
def return_lowest(s):
    """Return the lowest of the cubes too many, and end the turn (T3)."""
    seat = np.int64(s["seat"])
    excess = total(s["cubes"][seat]) - CARAVAN
    for colour in range(COLOUR_COUNT):
        given = min(number_of(s["cubes"][seat], colour), excess)
        s["cubes"][seat] -= cube(colour) * np.uint64(given)
        excess -= given
    close_turn(s)


@kernel
def pay_and_return(s):
    """Make the choices of a turn that are not searched: pay with the lowest cubes, return the lowest ones."""
    while s["phase"] == PHASE_PAY:
        pay(s, lowest(colours_in(s["cubes"][s["seat"]])))
    if s["phase"] == PHASE_RETURN:
        return_lowest(s)


@kernel
def branch(action, low, depth, B):
    """Put on the stack, at `depth`, what an action makes of the position being looked at; return the new depth."""
    B.stack[depth] = B.stack[STACK - 1]
    step(B.stack, depth, action)
    pay_and_return(B.stack[depth])
    B.lows[depth] = low
    return depth + 1


@kernel
def branches(depth, B):
    """Put on the stack the ways to go on with the trades or upgrade steps of the position being looked at.

    Steps are made from the lowest colour up, which reaches every outcome; a turn stops early only where it must.
    """
    s = B.stack[STACK - 1]
    low = B.lows[STACK - 1]
    start = depth
    if s["phase"] == PHASE_UPGRADE:
        colours = colours_in(s["cubes"][s["seat"]])
        for colour in range(low, COLOUR_COUNT - 1):
            if colours & bit(colour):
                depth = branch(UPGRADE_START + colour, colour, depth, B)
    elif low < MOST_TRADES:
        depth = branch(AGAIN_ACTION, low + 1, depth, B)
    if depth == start or s["phase"] == PHASE_TRADE:
        depth = branch(DONE_ACTION, low, depth, B)
    return depth


@kernel
def expand(place, root, T, w, B):
    """Play the turn that begins at `place` of the beam in all ways; at the `root` these are the choice."""
    for a in range(list_actions(B.rows[place], B.actions)):
        first = B.actions[a] if root else B.roots[place]
        B.stack[STACK - 1] = B.rows[place]
        depth = branch(B.actions[a], 0, 0, B)
        while depth > 0:
            depth -= 1
            phase = B.stack[depth]["phase"]
            if phase in (PHASE_TRADE, PHASE_UPGRADE):
                B.stack[STACK - 1] = B.stack[depth]
                B.lows[STACK - 1] = B.lows[depth]
                depth = branches(depth, B)
            else:
                weigh(depth, place, first, T, w, B)


# --- what a plan is worth --------------------------------------------------------------------------------------------


@kernel
def is_finished(s):
    """Return whether the game is over, or will be when the round is (E1, O8)."""
    return s["phase"] == PHASE_OVER or (s["players"] > 1 and most_taken(s) >= LAST_CARDS[s["players"]])


@kernel
def final_worth(s, T, w):
    """Return what it is worth to have finished the game, by the lead and how certain it is."""
    if s["players"] == 1:
        automa = automa_points(s) + w[W_AUTOMA_TURN] * T.ahead * min(s["row_size"] + T.spare, ROW) / ROW
        lead = points(s, T.seat) - automa - TIE
    else:
        lead = lead_at_end(s, T.seat, s["players"] if s["phase"] == PHASE_OVER else T.seat + 1)
    return w[W_WIN] * math.tanh(lead / (SURE + SPREAD * math.sqrt(T.ahead)))


@kernel
def weigh(depth, place, first, T, w, B):
    """Weigh the position at `depth` of the stack, in which the turn from `place` of the beam is over."""
    s = B.stack[depth]
    gain = B.gains[place] + T.price * (banked(s, T.seat) - banked(B.rows[place], T.seat))
    if T.ahead == 0:
        gain -= w[W_RIVAL] * rivals_worth(s, T.seat, w)
    if is_finished(s):
        worth = gain + T.price * final_worth(s, T, w)
        if worth > B.best[0]:
            B.best[0] = worth
            B.choice[0] = first
        return
    s["seat"] = T.seat
    s["phase"] = PHASE_TURN
    worth = prospects(s, T.seat, w)
    if s["players"] == 1:
        worth += supply_worth(np.int64(s["row_size"]) + T.spare, w)
    offer(depth, gain, gain + T.price * worth, first, T, B)


# --- the beam --------------------------------------------------------------------------------------------------------


@kernel
def position_hash(s, seat):
    """Return 64 bits, not 0, that tell the positions of one search apart: what the seat's turns can change."""
    h = (_HASH_START ^ s["hand"][seat]) * _HASH_STEP
    h = (h ^ (h >> _HALF) ^ s["played"][seat]) * _HASH_STEP
    h = (h ^ (h >> _HALF) ^ s["cubes"][seat]) * _HASH_STEP
    h = (h ^ (h >> _HALF) ^ s["taken"][seat]) * _HASH_STEP
    h = (h ^ (h >> _HALF) ^ s["taken"][AUTOMA]) * _HASH_STEP
    for place in range(ROW - 1):
        h = (h ^ (h >> _HALF) ^ s["row_cubes"][place]) * _HASH_STEP
    return h ^ (h >> _HALF) | bit(0)


@kernel
def is_better(own, score, B):
    """Return whether a position, by its hash, is new or has its highest score so far; note it if there is room."""
    last = np.uint64(B.known.shape[0] - 1)
    for k in range(PROBES):
        at = ((own >> ONE) + np.uint64(k)) & last
        if B.known[at] == own and score <= B.known_scores[at]:
            return False
        if B.known[at] == own or B.known[at] == NONE:
            B.known[at] = own
            B.known_scores[at] = score
            return True
    return True


@kernel
def sink(k, scores, heap):
    """Move the place at k of the heap down to where no place below it has a lower score."""
    place = heap[k]
    while True:
        child = 2 * k + 1
        if child >= heap.shape[0]:
            break
        if child + 1 < heap.shape[0] and scores[heap[child + 1]] < scores[heap[child]]:
            child += 1
        if scores[heap[child]] >= scores[place]:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = place


@kernel
def offer(depth, gain, score, first, T, B):
    """Keep the position at `depth` of the stack if it is among the best of the next turn and no equal one is better."""
    width = B.heap.shape[0]
    full = B.used[0] == width
    if full and score <= B.scores[B.heap[0]]:
        return
    if not is_better(position_hash(B.stack[depth], T.seat), score, B):
        return
    place = B.heap[0] if full else T.start + B.used[0]
    B.rows[place] = B.stack[depth]
    B.gains[place] = gain
    B.scores[place] = score
    B.roots[place] = first
    if full:
        sink(0, B.scores, B.heap)
        return
    B.heap[B.used[0]] = place
    B.used[0] += 1
    if B.used[0] == width:
        for k in range(width // 2 - 1, -1, -1):
            sink(k, B.scores, B.heap)


@kernel
def turns_to_plan(s, depth):
    """Return how many turns there are to plan, at most `depth`, before the turn limit."""
    if s["turn_limit"] == 0:
        return depth
    return max(min(depth, np.int64(s["turn_limit"]) - np.int64(s["round"]) + 1), 1)


@kernel
def pace(s, seat, discount):
    """Return the discount of a turn, lower when the end is near (E1)."""
    for other in range(np.int64(s["players"])):
        if other != seat and popcount(s["taken"][other]) >= LAST_CARDS[s["players"]] - 1:
            return discount * HURRY
    return discount


@kernel
def plan(S, i, depth, discount, w, B):
    """Return the first action of the best plan found for the seat to move in row i."""
    seat = np.int64(S[i]["seat"])
    width = B.heap.shape[0]
    rate = pace(S[i], seat, discount)
    spare = popcount(S[i]["merchant_deck"])
    B.rows[0] = S[i]
    B.gains[0] = 0.0
    keep_known(B.rows[0])
    B.best[0] = -np.inf
    count, start, price = 1, 0, 1.0
    for ahead in range(turns_to_plan(S[i], depth)):
        turn = Turn(seat, ahead, price, spare, width - start)
        B.used[0] = 0
        B.known[:] = NONE
        for k in range(count):
            expand(start + k, ahead == 0, turn, w, B)
        if B.used[0] == 0:
            return B.choice[0]
        count, start, price = B.used[0], width - start, price * rate
    for k in range(start, start + count):
        if B.scores[k] > B.best[0]:
            B.best[0] = B.scores[k]
            B.choice[0] = B.roots[k]
    return B.choice[0]


@kernel
def plan_rows(S, depth, discount, w, B, chosen):
    """Write the planner's action of every row to `chosen` (rows,) int64; a single legal action needs no plan."""
    for i in range(S.shape[0]):
        if list_actions(S[i], B.actions) == 1:
            chosen[i] = B.actions[0]
        else:
            chosen[i] = plan(S, i, depth, discount, w, B)
