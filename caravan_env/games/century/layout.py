"""Every constant of the arrays: the state dtype, the action numbers, the pieces of an observation, cards as arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.actions import ActionTable
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.params import RETURNS
from caravan_env.games.century.params import AUTOMA_CLAIMS, ROLL_ONE_REFRESH, CenturyParams
from caravan_env.games.century.tables import (
    CARDS,
    COLOUR_COUNT,
    DIE,
    LAST_CARD,
    MERCHANT_NAMES,
    MERCHANTS,
    POINT_CARDS,
    POINT_ROW,
    PYRAMID,
    ROW,
    SEATS,
)

AUTOMA = SEATS  # where the automa's cubes and point cards are, behind those of the seats
OWNERS = SEATS + 1
NOBODY = 255  # `seat` during the set-up and the automa's turn
NO_CARD = 255  # an empty place
FACE_DOWN = 254  # a place of the pyramid with a covered card
CARD_NUMBERS = len(MERCHANT_NAMES)

# Cubes are one uint64, a purse: 16 bits per colour, yellow lowest. Purses add and subtract as whole numbers, and one
# subtraction compares all four colours, as long as the highest bit of every lane is free.
LANE_BITS = 16
LANE_MASK = (1 << LANE_BITS) - 1
LANE_LIMIT = 1 << (LANE_BITS - 1)

PHASES = ("point", "merchant", "roll", "turn", "trade", "upgrade", "pay", "return", "over")
(
    PHASE_POINT,
    PHASE_MERCHANT,
    PHASE_ROLL,
    PHASE_TURN,
    PHASE_TRADE,
    PHASE_UPGRADE,
    PHASE_PAY,
    PHASE_RETURN,
    PHASE_OVER,
) = range(len(PHASES))
DECISIONS = PHASE_OVER - PHASE_TURN  # phases in which a seat is to move

CLAIM_AFFORDABLE, CLAIM_TOP_ONLY = range(len(AUTOMA_CLAIMS))
REFRESH_LEFTMOST, REFRESH_ROW, REFRESH_NONE = range(len(ROLL_ONE_REFRESH))

# Wide fields first, so that there is no padding: equal positions are equal bytes.
STATE = np.dtype(
    [
        # sets of card numbers
        ("hand", np.uint64, SEATS),
        ("played", np.uint64, SEATS),
        ("taken", np.uint64, OWNERS),
        ("merchant_deck", np.uint64),
        ("point_deck", np.uint64),  # in the solo game all point cards not seen yet
        ("face_up", np.uint64),  # derived from `points`, kept for speed
        # purses
        ("cubes", np.uint64, OWNERS),
        ("row_cubes", np.uint64, ROW),
        ("round", np.int32),
        ("turn_limit", np.int32),
        ("automa_coins", np.int32),
        ("standing", np.int32, SEATS),  # once the game is over: points, then the later seat (E3)
        ("card_points", np.uint16, OWNERS),  # derived from `taken`, kept for speed
        # rule switches, constant through a game
        ("players", np.uint8),
        ("point_places", np.uint8),
        ("expert", np.uint8),
        ("automa_claims", np.uint8),
        ("roll_one_refresh", np.uint8),
        ("automa_produces", np.uint8),
        ("reshuffle", np.uint8),
        ("return_mode", np.uint8),
        # the rest of the position
        ("phase", np.uint8),
        ("seat", np.uint8),
        ("truncated", np.uint8),
        ("merchants", np.uint8, ROW),
        ("row_size", np.uint8),  # derived from `merchants`
        ("points", np.uint8, PYRAMID),
        ("gold_left", np.uint8),
        ("silver_left", np.uint8),
        ("gold", np.uint8, SEATS),
        ("silver", np.uint8, SEATS),
        # what is pending, otherwise NO_CARD and 0
        ("pending_card", np.uint8),  # traded or upgraded with
        ("steps", np.uint8),  # upgrade steps left
        ("place", np.uint8),  # of the merchant being paid for, from 0
        ("paid", np.uint8),  # cubes paid for it
    ],
    align=True,
)

ACTIONS = ActionTable(
    ("play", (CARD_NUMBERS,), ("card in hand",)),
    ("again", (1,), ("one more trade",)),
    ("done", (1,), ("end of trading or upgrading",)),
    ("upgrade", (COLOUR_COUNT - 1,), ("colour that rises",)),
    ("acquire", (ROW,), ("place of the merchant",)),
    ("pay", (COLOUR_COUNT,), ("colour",)),
    ("rest", (1,), ("rest or pass",)),
    ("claim", (PYRAMID,), ("place of the point card",)),
    ("return", (COLOUR_COUNT,), ("colour",)),
)
PLAY_START = ACTIONS["play"].start
AGAIN_ACTION = ACTIONS["again"].start
DONE_ACTION = ACTIONS["done"].start
UPGRADE_START = ACTIONS["upgrade"].start
ACQUIRE_START = ACTIONS["acquire"].start
PAY_START = ACTIONS["pay"].start
REST_ACTION = ACTIONS["rest"].start
CLAIM_START = ACTIONS["claim"].start
RETURN_START = ACTIONS["return"].start
# The legal actions are two sets of 64 bits: those before this one, and those from it on.
HIGH_START = REST_ACTION

MAX_OUTCOMES = max(MERCHANTS, POINT_CARDS, DIE)


def pack(cubes: Sequence[int]) -> int:
    """Return the purse of cubes by colour."""
    return sum(int(number) << (LANE_BITS * colour) for colour, number in enumerate(cubes))


def unpack(purse: int) -> list[int]:
    """Return the cubes by colour of a purse: the inverse of `pack`."""
    return [int(purse) >> (LANE_BITS * colour) & LANE_MASK for colour in range(COLOUR_COUNT)]


def as_set(numbers: Iterable[int]) -> int:
    """Return the bit set of some card numbers."""
    return functools.reduce(operator.or_, (1 << number for number in numbers), 0)


# --- the cards as arrays ---------------------------------------------------------------------------------------------

KIND_PRODUCE, KIND_UPGRADE, KIND_TRADE = range(3)
KINDS = ("produce", "upgrade", "trade")
# No card asks for as many cubes of one colour.
PRICES = 1 + max(max(cost) for cost in [card.pay for card in CARDS.merchants] + [card.cost for card in CARDS.points])


def _payable_sets(costs: Sequence[Sequence[int]]) -> NDArray[np.uint64]:
    """Return (colours, PRICES) sets: the cards that ask for at most so many cubes of the colour."""
    return np.array(
        [
            [as_set(k for k, cost in enumerate(costs) if cost[colour] <= number) for number in range(PRICES)]
            for colour in range(COLOUR_COUNT)
        ],
        np.uint64,
    )


KIND = np.array([KINDS.index(card.kind) for card in CARDS.merchants], np.uint8)
PAY = np.array([pack(card.pay) for card in CARDS.merchants], np.uint64)
GAIN = np.array([pack(card.gain) for card in CARDS.merchants], np.uint64)
STEPS = np.array([card.upgrades for card in CARDS.merchants], np.uint8)
PLAYABLE = _payable_sets([card.pay for card in CARDS.merchants])
COST = np.array([pack(card.cost) for card in CARDS.points], np.uint64)
POINTS = np.array([card.points for card in CARDS.points], np.int64)
CLAIMABLE = _payable_sets([card.cost for card in CARDS.points])

# --- observations ----------------------------------------------------------------------------------------------------

FACE_VALUES = 2 * COLOUR_COUNT + 1  # what a merchant says: cubes to pay, cubes to gain, upgrade steps
FACES = np.array([[*card.pay, *card.gain, card.upgrades] for card in CARDS.merchants], np.uint8)
COSTS = np.array([card.cost for card in CARDS.points], np.uint8)

THRESHOLDS = PRICES - 1
SEAT_VALUES = 1 + COLOUR_COUNT + 4
ROW_VALUES = MERCHANTS + FACE_VALUES + COLOUR_COUNT + 1
PLACE_VALUES = 2 + COLOUR_COUNT + 1 + COLOUR_COUNT + 1
AUTOMA_VALUES = COLOUR_COUNT + 3
COIN_VALUES = 4
PENDING_VALUES = FACE_VALUES + ROW + 2
CLOCK_VALUES = 3
CLOCK_STEPS = 255
MOST_SHOWN = 255  # larger counts are shown as this one

CUBES_SCALE = [1 / 10] * COLOUR_COUNT
PRICE_SCALE = [1 / 5] * COLOUR_COUNT
FACE_SCALE = [*PRICE_SCALE, *PRICE_SCALE, 1 / 3]


def observation(params: CenturyParams) -> ObservationLayout:
    """Return the pieces of the observation vector; seats are relative, the observer's own first."""
    n, places = params.players, PYRAMID if params.solo else POINT_ROW
    coins = (
        "coins",
        (COIN_VALUES,),
        [1 / 10, 1 / 10, 1 / 3, 1 / 3],
        "gold left, silver left, points of the coin that place 1 gives, and place 2",
    )
    automa = (
        (
            "automa",
            (AUTOMA_VALUES,),
            [*CUBES_SCALE, 1 / 10, 1 / 10, 1 / 100],
            "cubes by colour, coins, point cards, score",
        ),
        ("automa_claims", (places,), 1, "per place: 1 if the automa can pay for the face-up point card"),
    )
    return ObservationLayout(
        ("hand", (n, CARD_NUMBERS), 1, "per seat: the cards in hand"),
        ("played", (n, CARD_NUMBERS), 1, "per seat: the played cards"),
        (
            "seats",
            (n, SEAT_VALUES),
            [1, *CUBES_SCALE, 1 / 10, 1 / 10, 1 / 10, 1 / 100],
            "per seat: 1 if to move, cubes by colour, gold, silver, point cards, score",
        ),
        ("playable", (CARD_NUMBERS,), 1, "own hand cards that the own cubes could pay for"),
        ("stock", (COLOUR_COUNT, THRESHOLDS), 1, "per colour: 1 if at least 1, 2, ... own cubes are there"),
        (
            "merchants",
            (ROW, ROW_VALUES),
            [*[1] * MERCHANTS, *FACE_SCALE, *PRICE_SCALE, 1],
            "per place: one-hot card, cubes it takes, cubes it gives, its steps, cubes on it, 1 if own cubes reach it",
        ),
        (
            "points",
            (places, PLACE_VALUES),
            [1, 1, *PRICE_SCALE, 1 / 20, *PRICE_SCALE, 1],
            "per place: 1 if face up, 1 if face down, cost, points, own missing cubes, 1 if payable",
        ),
        *(automa if params.solo else (coins,)),
        ("merchant_deck", (MERCHANTS,), 1, "the merchants that may still come"),
        ("point_deck", (POINT_CARDS,), 1, "the point cards that may still come"),
        ("phase", (DECISIONS,), 1, "one-hot: turn, trade, upgrade, pay, return"),
        (
            "pending",
            (PENDING_VALUES,),
            [*FACE_SCALE, *[1] * ROW, 1 / 5, 1 / 10],
            "cubes that the card traded with takes and gives, upgrade steps left, one-hot place of the merchant being "
            "paid for, cubes still to pay for it, cubes too many",
        ),
        (
            "clock",
            (CLOCK_VALUES,),
            [1 / CLOCK_STEPS, 1 / LAST_CARD[n], 1],
            "rounds begun / turn limit in 255 steps; most point cards of any seat, alone those of both sides; "
            "1 if they are enough to end the game",
        ),
    )


def new_row(params: CenturyParams) -> NDArray[np.void]:
    """Return an array of shape (1,) that carries the rule switches; `rules.init` does the rest."""
    row = np.zeros(1, STATE)
    row["players"] = params.players
    row["point_places"] = PYRAMID if params.solo else POINT_ROW
    row["expert"] = params.expert
    row["automa_claims"] = AUTOMA_CLAIMS.index(params.automa_claims)
    row["roll_one_refresh"] = ROLL_ONE_REFRESH.index(params.roll_one_refresh)
    row["automa_produces"] = params.automa_produces
    row["reshuffle"] = params.solo and params.reshuffle_discards
    row["return_mode"] = RETURNS.index(params.returns)
    row["turn_limit"] = params.turn_limit
    return row
