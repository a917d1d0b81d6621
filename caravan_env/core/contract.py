"""What a game must provide, and the numbers that the contract uses.

A game is a folder of the files described in CONTRIBUTING.md. Its `rules` module holds the kernels below; each takes
the batch `S` (an array of the game's state dtype) and a row `i`, changes that row in place, allocates nothing and
touches no other row.

| kernel | does |
| --- | --- |
| `init(S, i)` | the start of a game in a row that carries its rule switches; no chance is involved |
| `to_move(S, i) -> int` | a seat, CHANCE or TERMINAL: the only way to ask |
| `legal(S, i, mask) -> int` | writes the uint8 action mask, returns the number of legal actions |
| `is_legal(S, i, action) -> bool` | the same for one action, any integer |
| `pick(S, i, ticket) -> int` | legal action number `(ticket * count) >> 32` in mask order; ticket: uint64 < 2**32 |
| `step(S, i, action)` | plays a legal action of the seat to move |
| `chance(S, i, weights) -> int` | number of chance outcomes; writes their int64 weights |
| `resolve(S, i, outcome)` | applies a chance outcome |
| `observe(S, i, seat, out)` | uint8 vector of what `seat` may know, own seat first; see `core.observation` |
| `resample(S, i, seat, R, r)` | redraws, with stream `R[r]`, what `seat` cannot know |
| `score(S, i, out)` | float64 points per seat if the game ended now |
| `returns(S, i, out)` | float64 terminal returns per seat |
| `truncated(S, i) -> bool` | the game was cut off by its turn limit |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.actions import ActionTable
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.params import GameParams

CHANCE = -1
TERMINAL = -2
ILLEGAL = -3

KERNELS = (
    "init",
    "to_move",
    "legal",
    "is_legal",
    "pick",
    "step",
    "chance",
    "resolve",
    "observe",
    "resample",
    "score",
    "returns",
    "truncated",
)


@dataclasses.dataclass(frozen=True)
class GameSpec:
    """Everything that core, envs, agents, train, viewer and cli know of a game.

    Attributes:
        name: the id, for example "caravan".
        title: the name for people.
        version: raised whenever a change makes old records or checkpoints mean something else.
        params_type: the dataclass of the rule switches.
        state_dtype: structured dtype of one game.
        actions: the numbering of the actions.
        max_outcomes: most outcomes that a chance event can have.
        observation: params -> layout of the observation vector.
        new_row: params -> array of shape (1,), the template that `init` starts from; it carries the switches.
        rules: module with the kernels named in `KERNELS`.
        text: module with `action_text(S, i, action)`, `outcome_text(S, i, outcome)`, `to_json(S, i)`,
            `from_json(struct, template)` and `board_text(S, i)`; `action_texts(S, i, actions)` if it is faster.
        draw: import path of the module with `draw_svg(struct, highlight=None, *, theme="auto", names=())` and, if it
            likes, `SEAT_COLOURS`; loaded when something is drawn.
        variants: named switch settings that have golden records, "default" among them.
        action_planes: params -> (k, height, width) int64, for games with a board: the numbers of the k actions that
            belong to each place of the observation's planes, which are its pieces of three dimensions, all of them
            (n, height, width); -1 for none, and no action twice. None: the actions belong to no places.
    """

    name: str
    title: str
    version: int
    params_type: type[GameParams]
    state_dtype: np.dtype[np.void]
    actions: ActionTable
    max_outcomes: int
    observation: Callable[[Any], ObservationLayout]
    new_row: Callable[[Any], NDArray[np.void]]
    rules: ModuleType
    text: ModuleType
    draw: str
    variants: Mapping[str, Mapping[str, Any]]
    action_planes: Callable[[Any], NDArray[np.int64]] | None = None

    def kernels(self) -> dict[str, Any]:
        """Return the game's kernels by contract name; a missing one is a TypeError that names it."""
        missing = [name for name in KERNELS if not hasattr(self.rules, name)]
        if missing:
            raise TypeError(f"game {self.name!r} lacks the kernels {', '.join(missing)} in {self.rules.__name__}")
        return {name: getattr(self.rules, name) for name in KERNELS}
