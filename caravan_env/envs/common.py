"""What the environment views share: checked arguments, reward shaping, rendering."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from caravan_env.core.errors import BadParams, CaravanError, UnknownName, nearest
from caravan_env.core.game import Game, State
from caravan_env.core.registry import make_game

#: Which seat learns: a fixed one, a random one in every game, or each in turn.
Seat = int | Literal["random", "rotate"]
#: What the turn limit means to a learner. "score": it is part of the game, so the returns of the position are paid and
#: the episode terminates. "bootstrap": nothing is paid and the episode is truncated, so that the learner puts its own
#: value of the last position in place of the missing rest. Never both, which would count the end twice.
TurnLimit = Literal["score", "bootstrap"]

#: So many games in a row without a move of the learner's seat are taken for a variant in which it has none.
MOST_RESTARTS = 1_000

#: "ansi" returns text, "rgb_array" returns pixels (needs the extra `render`), "human" prints the text after every step.
RENDER_MODES = ("ansi", "rgb_array", "human")
RENDER_FPS = 2
#: Rasterisers know no custom properties, so that pixels have the fixed colours of one theme.
PIXEL_THEME = "light"


@dataclasses.dataclass(frozen=True)
class Shaping:
    """Potential-based reward shaping, which leaves the best policy as it is (Ng, Harada and Russell, ICML 1999).

    From one decision of the learner to its next, `gamma * potential(next) - potential(now)` is added to the reward; the
    potential of a terminal position counts as 0.

    Attributes:
        potential: function of games (k,) of the state dtype and seats (k,) int64 to potentials (k,) float64.
        gamma: the learner's discount factor.
    """

    potential: Callable[[NDArray[np.void], NDArray[np.int64]], NDArray[np.float64]]
    gamma: float


def as_game(game: str | Game, params: Mapping[str, Any]) -> Game:
    """Return the variant meant by a registered game's name and its rule switches, or by a ready `Game`.

    Raises:
        UnknownName: no such game; the message offers the nearest one.
        BadParams: a switch that does not exist or does not fit, or switches beside a ready `Game`.
    """
    if not isinstance(game, Game):
        return make_game(game, **params)
    if params:
        raise BadParams(f"{game!r} already has its switches; {', '.join(params)} cannot be set beside it")
    return game


def fresh_seed() -> int:
    """Return a seed that nobody chose, from the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def check_render_mode(mode: str | None) -> None:
    """Raise UnknownName unless a render mode is None or one of RENDER_MODES."""
    if mode is not None and mode not in RENDER_MODES:
        raise UnknownName(f"there is no render mode {mode!r}: {nearest(mode, RENDER_MODES)}")


def check_seat(game: Game, seat: Seat) -> None:
    """Raise BadParams unless `seat` is one of the game's, "random" or "rotate"."""
    if seat not in ("random", "rotate") and not (isinstance(seat, int) and 0 <= seat < game.players):
        raise BadParams(f"seat = {seat!r} is not possible: 0 to {game.players - 1}, 'random' or 'rotate'")


def check_turn_limit(choice: TurnLimit) -> None:
    """Raise BadParams unless a choice is one of `TurnLimit`."""
    if choice not in get_args(TurnLimit):
        raise BadParams(f"at_turn_limit = {choice!r} is not possible: {nearest(str(choice), get_args(TurnLimit))}")


def never_moves(game: Game) -> CaravanError:
    """Return the error for a variant in which the learner never gets to move."""
    return CaravanError(f"{MOST_RESTARTS} games of {game!r} ended before the learner's seat could move")


def render(state: State, mode: str | None) -> str | NDArray[np.uint8] | None:
    """Show a position in one of RENDER_MODES.

    "human" prints the text and opens no window, so that it works over ssh and in notebooks alike; `caravan replay`
    makes the pages that are nicer to look at.

    Returns:
        Text for "ansi", pixels as uint8 of shape (height, width, 3) for "rgb_array", None for "human" and without mode.

    Raises:
        ImportError: "rgb_array" without the extra `render`; the message says how to install it.
    """
    if mode is None:
        gymnasium.logger.warn(f"render() shows nothing without a render_mode, one of {', '.join(RENDER_MODES)}")
        return None
    if mode == "rgb_array":
        return _pixels(state)
    text = state.board_text()
    if mode == "ansi":
        return text
    print(text, flush=True)
    return None


def _pixels(state: State) -> NDArray[np.uint8]:
    # By name: only this one function needs the drawing packages, and envs and viewer do not depend on each other.
    draw = importlib.import_module(state.game.spec.draw)
    raster = importlib.import_module("caravan_env.viewer.raster")
    pixels: NDArray[np.uint8] = raster.svg_to_rgb(draw.draw_svg(state.to_json(), theme=PIXEL_THEME))
    return pixels


def observation_box(game: Game) -> spaces.Box:
    """Return the space of scaled observations: counts are 0 to 255, see `core.observation`."""
    return spaces.Box(np.zeros_like(game.layout.scale), 255 * game.layout.scale, dtype=np.float32)
