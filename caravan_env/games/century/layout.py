"""Every constant of the arrays: the state dtype, the action numbers, the pieces of an observation, cards as arrays."""

from __future__ import annotations

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
        ("automa_coins", np.int32),
        ("standing", np.int32, SEATS),  # once the game is over: points, then the later seat (E3)
        ("turn_limit", np.int32),
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
    return sum(1 << number for number in numbers)


# --- the cards as arrays ---------------------------------------------------------------------------------------------

KIND_PRODUCE, KIND_UPGRADE, KIND_TRADE = range(3)
KINDS = ("produce", "upgrade", "trade")
PRICES = 1 + max(number for card in CARDS.points for number in card.cost)  # no card asks for as many of one colour


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

# Counts are multiplied by these, which is much faster than a division.
CUBE_UNIT = np.float32(1 / 10)
PRICE_UNIT = np.float32(1 / 5)
STEP_UNIT = np.float32(1 / 3)
COIN_UNIT = np.float32(1 / 10)
CARD_UNIT = np.float32(1 / 10)
POINT_UNIT = np.float32(1 / 20)
SCORE_UNIT = np.float32(1 / 100)

THRESHOLDS = PRICES - 1
FACE_VALUES = 2 * COLOUR_COUNT + 1  # what a merchant says: cubes to pay, cubes to gain, upgrade steps
ROW_VALUES = MERCHANTS + FACE_VALUES + COLOUR_COUNT + 1
PLACE_VALUES = 2 + COLOUR_COUNT + 1 + COLOUR_COUNT + 1
SEAT_VALUES = COLOUR_COUNT + 5
COIN_VALUES = 4
AUTOMA_VALUES = COLOUR_COUNT + 4
PENDING_VALUES = FACE_VALUES + ROW + 2
CLOCK_VALUES = 3

#: What each merchant says, as it is written into observations: (CARD_NUMBERS, FACE_VALUES).
FACES = np.array([[*card.pay, *card.gain, 0] for card in CARDS.merchants], np.float32) * PRICE_UNIT
FACES[:, -1] = STEPS * STEP_UNIT


def observation(params: CenturyParams) -> ObservationLayout:
    """Return the pieces of the observation vector; seats are relative, the observer's own first."""
    n, places = params.players, PYRAMID if params.solo else POINT_ROW
    coins = ("coins", (COIN_VALUES,), "gold and silver left / 10, points of the coin at places 1 and 2 / 5")
    automa = (
        ("automa", (AUTOMA_VALUES,), "cubes by colour / 10, coins / 10, point cards / 10, score / 100, own lead / 100"),
        ("automa_claims", (places,), "per place: 1 if the automa can pay for the face-up point card"),
    )
    return ObservationLayout(
        ("hand", (n, CARD_NUMBERS), "per seat: the cards in hand"),
        ("played", (n, CARD_NUMBERS), "per seat: the played cards"),
        (
            "seats",
            (n, SEAT_VALUES),
            "per seat: 1 if to move, cubes by colour / 10, gold / 10, silver / 10, point cards / 10, score / 100",
        ),
        ("playable", (CARD_NUMBERS,), "own hand cards that could be played with the own cubes"),
        ("stock", (COLOUR_COUNT, THRESHOLDS), "per colour: 1 if at least 1, 2, ... own cubes are there"),
        (
            "merchants",
            (ROW, ROW_VALUES),
            "per place: one-hot card, its pays and gains / 5, its steps / 3, cubes on it / 5, 1 if own cubes reach it",
        ),
        (
            "points",
            (places, PLACE_VALUES),
            "per place: 1 if face up, 1 if face down, cost / 5, points / 20, own missing cubes / 5, 1 if payable",
        ),
        *(automa if params.solo else (coins,)),
        ("merchant_deck", (MERCHANTS,), "the merchants that may still come"),
        ("point_deck", (POINT_CARDS,), "the point cards that may still come"),
        ("phase", (DECISIONS,), "one-hot: turn, trade, upgrade, pay, return"),
        (
            "pending",
            (PENDING_VALUES,),
            "card traded with: pays and gains / 5; upgrade steps left / 3; one-hot place of the merchant being paid for; "
            "cubes still to pay / 5; cubes too many / 10",
        ),
        (
            "clock",
            (CLOCK_VALUES,),
            "rounds played / turn limit; point cards taken (most of any seat, or all in solo) of those that end the game; "
            "1 if they do",
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
