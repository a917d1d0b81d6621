"""Every constant of the arrays: the state dtype, the action numbers, the pieces of an observation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.actions import ActionTable
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.params import RETURNS
from caravan_env.games.caravan.params import CaravanParams
from caravan_env.games.caravan.tables import CARRYING_PENALTY, CELLS, GOODS, SPACES

SEATS = 4
SLOTS = 6
KINDS = len(GOODS)
OFF_BOARD = CELLS  # the "cell" of a camel that is not on the board
NO_CAMEL = 0xFFFF  # a slot that the five-camel game does not use

# A camel is one uint16, so that a seat's camels, sorted, have one order only:
# cell << 5 | kind << 1 | under, with kind 0 for an empty camel and 1 + index in GOODS for a laden one.
CELL_SHIFT = 5
KIND_SHIFT = 1
KIND_MASK = 15
UNDER_BIT = 1

PHASE_START, PHASE_FILL, PHASE_PLAY, PHASE_OVER = range(4)
PHASES = ("start", "fill", "play", "over")
TURN_ACTIONS = 4
REFILL_AT = 4
START_UNKNOWN = 255

# Wide fields first, so that there is no padding: equal positions are equal bytes.
STATE = np.dtype(
    [
        # derived from `camel`, kept for speed: cells with any camel of the seat, with an empty one, with a good on top
        ("on_board", np.uint64, SEATS),
        ("empty_at", np.uint64, SEATS),
        ("top_at", np.uint64, SEATS),
        ("free_at", np.uint64),  # derived from `free`: cells with a free good
        ("standing", np.int32, SEATS),  # once the game is over: points, then goods delivered (E4)
        ("camel", np.uint16, (SEATS, SLOTS)),
        ("turn", np.uint16),
        ("turn_limit", np.uint16),
        # rule switches, constant through a game
        ("players", np.uint8),
        ("camels", np.uint8),
        ("short_goods", np.uint8),
        ("starting_seat", np.uint8),
        ("ban_on_steal", np.uint8),
        ("rainbow_in_play", np.uint8),
        ("return_mode", np.uint8),
        ("source_cell", np.uint8, SPACES),
        ("city_cell", np.uint8, KINDS),
        # the rest of the position
        ("phase", np.uint8),
        ("seat", np.uint8),
        ("actions_left", np.uint8),
        ("truncated", np.uint8),
        ("rainbow_cell", np.uint8),
        ("empty_slots", np.uint8, SEATS),  # derived: set of slots with an empty camel, equal ones once
        ("empties", np.uint8, SEATS),  # derived: number of empty camels, those off the board included
        ("theft", np.uint8, SEATS),
        ("markers", np.uint8, SEATS),
        ("bag", np.uint8, KINDS),
        ("free", np.uint8, SPACES),  # kind + 1 of the free good on each space, 0 for none
        ("space_markers", np.uint8, SPACES),
        ("delivered", np.uint8, (SEATS, KINDS)),
    ],
    align=True,
)

ACTIONS = ActionTable(
    ("camel", (SLOTS, CELLS), ("slot of an empty own camel", "cell it goes to")),
    ("pick", (SPACES,), ("goods space",)),
    ("steal", (SEATS - 1, SLOTS), ("opponent, 0 = next seat", "slot of the robbed camel")),
    ("move", (SLOTS, SLOTS + 1), ("slot of the laden camel", "slot of the receiving camel, or 6 = Rainbow Camel")),
    ("rainbow", (CELLS,), ("cell the Rainbow Camel goes to",)),
    ("end", (1,), ("end of the turn",)),
)
CAMEL_START = ACTIONS["camel"].start
PICK_START = ACTIONS["pick"].start
STEAL_START = ACTIONS["steal"].start
MOVE_START = ACTIONS["move"].start
RAINBOW_START = ACTIONS["rainbow"].start
END_ACTION = ACTIONS["end"].start
MOVE_TARGETS = SLOTS + 1
RAINBOW_TARGET = SLOTS

MAX_OUTCOMES = max(KINDS, SEATS)

# Values of one camel slot in an observation: one-hot where it stands (49 = off the board), one-hot what it carries
# (0 = nothing), whether from under.
SLOT_VALUES = (CELLS + 1) + (1 + KINDS) + 1
NO_KIND = CELLS + 1
SEAT_VALUES = 1 + 1 + KINDS + 1
SCORE_OFFSET = CARRYING_PENALTY[-1]  # a score is never below minus that
CLOCK_STEPS = 255


def observation(params: CaravanParams) -> ObservationLayout:
    """Return the pieces of the observation vector; seats are relative, the observer's own first."""
    n = params.players
    seat_scale = [1 / SEATS, 1 / 10, *[1 / 9] * KINDS, 1 / 50]
    return ObservationLayout(
        (
            "camels",
            (n, SLOTS, SLOT_VALUES),
            1,
            "per seat and slot: one-hot cell (49 = off the board), one-hot good (0 = none), 1 if under",
        ),
        (
            "seats",
            (n, SEAT_VALUES),
            seat_scale,
            "per seat: theft markers, demand markers, delivered by kind, score + 15",
        ),
        ("sources", (SPACES, KINDS), 1, "per goods space, one-hot: the free good"),
        ("space_markers", (SPACES,), 1 / 10, "per goods space: demand markers"),
        ("bag", (KINDS,), 1 / 9, "per kind: goods in the bag"),
        ("actions_left", (TURN_ACTIONS,), 1, "one-hot: actions left in the turn, 1 to 4"),
        ("last_call", (1,), 1, "1 if the bag is empty, so that the next delivery ends the game"),
        ("time", (1,), 1 / CLOCK_STEPS, "turns begun / turn limit, in 255 steps"),
        ("rainbow", (CELLS + 1,), 1, "one-hot: cell of the Rainbow Camel (49 = off the board); zeros if not in play"),
    )


def new_row(params: CaravanParams) -> NDArray[np.void]:
    """Return an array of shape (1,) that carries the rule switches; `rules.init` does the rest."""
    row = np.zeros(1, STATE)
    row["players"] = params.players
    row["camels"] = params.camels
    row["short_goods"] = params.short_goods
    row["starting_seat"] = START_UNKNOWN if params.starting_seat < 0 else params.starting_seat
    row["ban_on_steal"] = params.last_camel_ban_on_steal
    row["rainbow_in_play"] = params.rainbow_camel
    row["return_mode"] = RETURNS.index(params.returns)
    row["source_cell"] = params.board.sources
    row["city_cell"] = params.board.cities
    row["turn_limit"] = params.turn_limit
    return row
