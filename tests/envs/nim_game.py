"""A tiny game for the tests of the views: it ends by its rules within a few moves, or by its turn limit.

Chance puts 1 to `most` tokens on a pile. In a turn a seat takes one token (action 0) or two (1), then may take again or
pass (2); two takings end its turn. Whoever has most tokens when the pile is empty wins. Seat 0 begins.
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

SEATS = 4
MOST = 9
PASS = 2
WORDS = ("take one", "take two", "pass")
STATE = np.dtype(
    [
        ("tokens", np.int32, SEATS),
        ("pile", np.int32),
        ("most", np.int32),
        ("turn", np.int32),
        ("turn_limit", np.int32),
        ("players", np.int32),
        ("seat", np.int32),
        ("taken", np.int32),
        ("drawn", np.int32),
        ("return_mode", np.int32),
        ("truncated", np.int32),
    ]
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NimParams(GameParams):
    """Switches: the largest pile, and after how many turns the game is cut off (0: never)."""

    most: int = switch(MOST, "largest pile")
    turn_limit: int = switch(0, "turns before truncation, 0 for no limit")

    def check(self) -> None:
        """Check the ranges."""
        if not (2 <= self.players <= SEATS and 1 <= self.most <= MOST):
            raise BadParams("nim is played by 2 to 4 players with 1 to 9 tokens")


def new_row(params: NimParams) -> Any:
    """Return the template row."""
    row = np.zeros(1, STATE)
    row["players"] = params.players
    row["most"] = params.most
    row["turn_limit"] = params.turn_limit
    row["return_mode"] = RETURNS.index(params.returns)
    return row


def observation(params: NimParams) -> ObservationLayout:
    """Return the pieces of the observation."""
    return ObservationLayout(
        ("tokens", (params.players,), 1, "by seat, own first"), ("pile", (1,), 0.5, ""), ("taken", (1,), 1, "")
    )


@kernel
def init(S, i):
    """Start."""
    s = S[i]
    s["drawn"] = 0
    s["pile"] = 0
    s["turn"] = 1
    s["seat"] = 0
    s["taken"] = 0
    s["truncated"] = 0
    s["tokens"][:] = 0


@kernel
def to_move(S, i):
    """Return who is to move."""
    if S[i]["drawn"] == 0:
        return np.int64(CHANCE)
    if S[i]["pile"] == 0 or S[i]["truncated"] != 0:
        return np.int64(TERMINAL)
    return np.int64(S[i]["seat"])


@kernel
def legal(S, i, mask):
    """Write the mask."""
    mask[0] = 1
    mask[1] = S[i]["pile"] >= 2
    mask[2] = S[i]["taken"] > 0
    return np.int64(mask[0]) + mask[1] + mask[2]


@kernel
def is_legal(S, i, action):
    """Return whether an action is legal."""
    return action == 0 or (action == 1 and S[i]["pile"] >= 2) or (action == PASS and S[i]["taken"] > 0)


@kernel
def pick(S, i, ticket):
    """Return a legal action by its place."""
    two, may_pass = np.uint64(S[i]["pile"] >= 2), np.uint64(S[i]["taken"] > 0)
    place = np.int64((ticket * (np.uint64(1) + two + may_pass)) >> np.uint64(32))
    if place == 0:
        return np.int64(0)
    return np.int64(1) if place == 1 and two else np.int64(PASS)


@kernel
def step(S, i, action):
    """Play an action."""
    s = S[i]
    if action != PASS:
        s["tokens"][s["seat"]] += action + 1
        s["pile"] -= action + 1
        s["taken"] += 1
    if s["pile"] > 0 and (action == PASS or s["taken"] == 2):
        s["truncated"] = s["turn"] == s["turn_limit"]
        s["turn"] += 1
        s["taken"] = 0
        s["seat"] = (s["seat"] + 1) % s["players"]


@kernel
def chance(S, i, weights):
    """Write the weights of the sizes of the pile."""
    for k in range(S[i]["most"]):
        weights[k] = 1
    return np.int64(S[i]["most"])


@kernel
def resolve(S, i, outcome):
    """Lay out the pile."""
    S[i]["pile"] = outcome + 1
    S[i]["drawn"] = 1


@kernel
def observe(S, i, seat, out):
    """Write the observation."""
    s = S[i]
    for k in range(s["players"]):
        out[k] = s["tokens"][(seat + k) % s["players"]]
    out[s["players"]] = s["pile"]
    out[s["players"] + 1] = s["taken"]


@kernel
def resample(S, i, seat, R, r):
    """Do nothing: everything is open."""


@kernel
def score(S, i, out):
    """Write the tokens taken."""
    for seat in range(S[i]["players"]):
        out[seat] = S[i]["tokens"][seat]


@kernel
def returns(S, i, out):
    """Write the returns."""
    score(S, i, out)
    write_returns(S[i]["return_mode"], np.int64(S[i]["players"]), S[i]["tokens"], out)


@kernel
def truncated(S, i):
    """Return whether the turn limit ended the game."""
    return S[i]["truncated"] != 0


def action_text(S: Any, i: int, action: int) -> str:
    """Return an action in words."""
    return WORDS[action]


def outcome_text(S: Any, i: int, outcome: int) -> str:
    """Return an outcome in words."""
    return f"pile of {outcome + 1}"


def to_json(S: Any, i: int) -> dict[str, Any]:
    """Return the struct."""
    return {name: S[i][name].tolist() for name in STATE.names or ()}


def from_json(struct: Any, template: Any) -> Any:
    """Return the row of a struct."""
    row = template.copy()
    for name in STATE.names or ():
        row[name] = struct[name]
    return row


def board_text(S: Any, i: int) -> str:
    """Return the position as text."""
    return f"pile {S[i]['pile']}, tokens {S[i]['tokens'].tolist()}"


def draw_svg(struct: Any, highlight: str | None = None, theme: str = "auto") -> str:
    """Draw a position."""
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="9">{struct["pile"]}</text></svg>'


SPEC = GameSpec(
    name="nim",
    title="Nim",
    version=3,
    params_type=NimParams,
    state_dtype=STATE,
    actions=ActionTable(("take", (2,), ("tokens less one",)), ("pass", (1,), ("",))),
    max_outcomes=MOST,
    observation=observation,
    new_row=new_row,
    rules=sys.modules[__name__],
    text=sys.modules[__name__],
    draw=__name__,
    variants={"default": {}},
)
