"""Heap: a whole game in one small file, for tests of core that must not need a real game.

A heap of counters lies on the table. Each seat is dealt a secret card. In turn a seat takes one to three counters or,
once a game, passes. After three were taken a die may put one back. The game ends with the heap, or at its turn limit;
points are counters taken and the card.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import numpy as np

from caravan_env.core.actions import ActionTable
from caravan_env.core.contract import CHANCE, TERMINAL, GameSpec
from caravan_env.core.errors import BadParams
from caravan_env.core.kernel import kernel
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.outcome import write_returns
from caravan_env.core.params import RETURNS, GameParams, switch
from caravan_env.core.rng import below

HEAP = 60
MOST = 3
SEATS = 4
DECK = (3, 2, 1)  # how many cards are worth 0, 1 and 2 points
UNDEALT = 255
PHASE_DEAL, PHASE_PLAY, PHASE_ROLL, PHASE_OVER = range(4)
PHASES = ("deal", "play", "roll", "over")
PASS = MOST

STATE = np.dtype(
    [
        ("standing", np.int32, SEATS),
        ("taken", np.uint8, SEATS),
        ("card", np.uint8, SEATS),
        ("passed", np.uint8, SEATS),
        ("heap", np.uint8),
        ("seat", np.uint8),
        ("phase", np.uint8),
        ("turn", np.uint8),
        ("truncated", np.uint8),
        ("players", np.uint8),
        ("limit", np.uint8),
        ("mode", np.uint8),
    ],
    align=True,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class HeapParams(GameParams):
    """The switches of Heap."""

    turn_limit: int = switch(100, "turns after which the game is cut off")

    def check(self) -> None:
        if not 2 <= self.players <= SEATS:
            raise BadParams(f"heap is played by 2 to {SEATS} players, not {self.players}")
        if not 1 <= self.turn_limit <= 200:
            raise BadParams(f"turn_limit = {self.turn_limit} is not possible: 1 to 200")


def observation(params: HeapParams) -> ObservationLayout:
    return ObservationLayout(
        ("heap", (1,), 1 / HEAP, "counters on the heap"),
        ("seats", (params.players, 2), [1 / HEAP, 1], "per seat, own first: counters taken; 1 if the pass is used"),
        ("card", (len(DECK),), 1, "one-hot: the own card"),
        ("turn", (1,), 1 / params.turn_limit, "the turn"),
    )


def new_row(params: HeapParams) -> np.ndarray:
    row = np.zeros(1, STATE)
    row["players"], row["limit"], row["mode"] = params.players, params.turn_limit, RETURNS.index(params.returns)
    return row


# --- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def init(S, i):
    s = S[i]
    s["heap"] = HEAP
    s["seat"] = 0
    s["phase"] = PHASE_DEAL
    s["turn"] = 1
    s["truncated"] = 0
    for seat in range(SEATS):
        s["standing"][seat] = 0
        s["taken"][seat] = 0
        s["passed"][seat] = 0
        s["card"][seat] = UNDEALT


@kernel
def to_move(S, i):
    phase = S[i]["phase"]
    if phase == PHASE_PLAY:
        return np.int64(S[i]["seat"])
    return np.int64(TERMINAL) if phase == PHASE_OVER else np.int64(CHANCE)


@kernel
def is_legal(S, i, action):
    if action == PASS:
        return S[i]["passed"][S[i]["seat"]] == 0
    return action >= 0 and action < MOST and action < S[i]["heap"]


@kernel
def legal(S, i, mask):
    count = 0
    for action in range(MOST + 1):
        mask[action] = is_legal(S, i, action)
        count += mask[action]
    return np.int64(count)


@kernel
def pick(S, i, ticket):
    count = np.int64(0)
    for action in range(MOST + 1):
        count += is_legal(S, i, action)
    k = np.int64((ticket * np.uint64(count)) >> np.uint64(32))
    for action in range(MOST + 1):
        k -= is_legal(S, i, action)
        if k < 0:
            return np.int64(action)
    return np.int64(PASS)


@kernel
def step(S, i, action):
    s = S[i]
    seat = s["seat"]
    if action == PASS:
        s["passed"][seat] = 1
    else:
        s["taken"][seat] += action + 1
        s["heap"] -= action + 1
    if s["heap"] == 0:
        finish(S, i)
    elif action == MOST - 1:
        s["phase"] = PHASE_ROLL
    else:
        end_turn(S, i)


@kernel
def end_turn(S, i):
    s = S[i]
    s["phase"] = PHASE_PLAY
    if s["turn"] >= s["limit"]:
        s["truncated"] = 1
        finish(S, i)
        return
    s["turn"] += 1
    s["seat"] = s["seat"] + 1 if s["seat"] + 1 < s["players"] else 0


@kernel
def finish(S, i):
    S[i]["phase"] = PHASE_OVER
    for seat in range(S[i]["players"]):
        S[i]["standing"][seat] = points(S, i, seat)


@kernel
def points(S, i, seat):
    card = S[i]["card"][seat]
    return np.int64(S[i]["taken"][seat]) + (np.int64(card) if card != UNDEALT else np.int64(0))


@kernel
def next_undealt(S, i):
    seat = np.int64(0)
    while S[i]["card"][seat] != UNDEALT:
        seat += 1
    return seat


@kernel
def chance(S, i, weights):
    if S[i]["phase"] == PHASE_ROLL:
        weights[0] = 2
        weights[1] = 1
        return np.int64(2)
    for value in range(len(DECK)):
        weights[value] = DECK[value]
        for seat in range(S[i]["players"]):
            weights[value] -= S[i]["card"][seat] == value
    return np.int64(len(DECK))


@kernel
def resolve(S, i, outcome):
    s = S[i]
    if s["phase"] == PHASE_ROLL:
        s["heap"] += outcome
        end_turn(S, i)
        return
    seat = next_undealt(S, i)
    s["card"][seat] = outcome
    if seat == s["players"] - 1:
        s["phase"] = PHASE_PLAY


@kernel
def observe(S, i, seat, out):
    s = S[i]
    players = s["players"]
    out[:] = 0
    out[0] = s["heap"]
    for k in range(players):
        other = (seat + k) % players
        out[1 + 2 * k] = s["taken"][other]
        out[2 + 2 * k] = s["passed"][other]
    at = 1 + 2 * players
    if s["card"][seat] != UNDEALT:
        out[at + s["card"][seat]] = 1
    out[at + len(DECK)] = s["turn"]


@kernel
def resample(S, i, seat, R, r):
    s = S[i]
    for other in range(s["players"]):
        if other != seat:
            s["card"][other] = UNDEALT
    for other in range(s["players"]):
        if s["card"][other] == UNDEALT:
            s["card"][other] = draw_card(S, i, R, r)


@kernel
def draw_card(S, i, R, r):
    left = np.int64(0)
    for value in range(len(DECK)):
        left += cards_left(S, i, value)
    ticket = below(R, r, left)
    value = 0
    ticket -= cards_left(S, i, value)
    while ticket >= 0:
        value += 1
        ticket -= cards_left(S, i, value)
    return value


@kernel
def cards_left(S, i, value):
    left = np.int64(DECK[value])
    for seat in range(S[i]["players"]):
        left -= S[i]["card"][seat] == value
    return left


@kernel
def score(S, i, out):
    for seat in range(S[i]["players"]):
        out[seat] = points(S, i, seat)


@kernel
def returns(S, i, out):
    score(S, i, out)
    write_returns(S[i]["mode"], np.int64(S[i]["players"]), S[i]["standing"], out)


@kernel
def truncated(S, i):
    return S[i]["truncated"] != 0


# --- words, structs, pictures ----------------------------------------------------------------------------------------


def action_text(S: np.ndarray, i: int, action: int) -> str:
    return "pass" if action == PASS else f"take {action + 1}"


def outcome_text(S: np.ndarray, i: int, outcome: int) -> str:
    if S[i]["phase"] == PHASE_ROLL:
        return f"roll {outcome}"
    return f"card {outcome} for seat {int(next_undealt(S, i))}"


def to_json(S: np.ndarray, i: int) -> dict[str, Any]:
    s = S[i]
    cards = [None if card == UNDEALT else int(card) for card in s["card"]]
    return {
        "phase": PHASES[int(s["phase"])],
        "seat": int(s["seat"]),
        "turn": int(s["turn"]),
        "truncated": bool(s["truncated"]),
        "heap": int(s["heap"]),
        "seats": [
            {
                "taken": int(s["taken"][k]),
                "card": cards[k],
                "passed": bool(s["passed"][k]),
                "score": int(points(S, i, k)),
            }
            for k in range(int(s["players"]))
        ],
    }


def from_json(struct: dict[str, Any], template: np.ndarray) -> np.ndarray:
    row = template.copy()
    init(row, 0)
    s = row[0]
    for field in ("seat", "turn", "truncated", "heap"):
        s[field] = struct[field]
    s["phase"] = PHASES.index(struct["phase"])
    for k, seat in enumerate(struct["seats"]):
        s["taken"][k], s["passed"][k] = seat["taken"], seat["passed"]
        s["card"][k] = UNDEALT if seat["card"] is None else seat["card"]
    if struct["phase"] == "over":
        finish(row, 0)
    return row


def board_text(S: np.ndarray, i: int) -> str:
    return f"heap {int(S[i]['heap'])}, taken {[int(n) for n in S[i]['taken']]}"


def draw_svg(struct: dict[str, Any], highlight: Any = None, **_: Any) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg"><text>{struct["heap"]}</text></svg>'


SPEC = GameSpec(
    name="heap",
    title="Heap",
    version=1,
    params_type=HeapParams,
    state_dtype=STATE,
    actions=ActionTable(("take", (MOST,), ("counters, less one",)), ("pass", (1,), ("pass",))),
    max_outcomes=len(DECK),
    observation=observation,
    new_row=new_row,
    rules=sys.modules[__name__],
    text=sys.modules[__name__],
    draw=__name__,
    variants={
        "default": {},
        "four": {"players": 4, "returns": "rank"},
        "short": {"turn_limit": 5, "returns": "margin"},
    },
)
