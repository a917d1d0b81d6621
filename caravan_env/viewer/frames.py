"""Frames: what a replay shows of each position, made by playing a record again."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from caravan_env.core.contract import GameSpec
from caravan_env.core.game import State
from caravan_env.core.record import Event, Record, replay
from caravan_env.core.svg import SEAT_COLOURS

CHANCE_SEAT = -1
TOP_ACTIONS = 5


@dataclasses.dataclass(frozen=True)
class Frame:
    """One position of a game and the event that led to it.

    Attributes:
        svg: the position, drawn.
        text: the event in words; empty for the first position.
        seat: who moved, -1 for chance and for the first position.
        scores: each seat's points in the position.
        turn: the turn or round that the position belongs to, if the game counts them.
        value: the return that the mover expected, if it said so.
        policy: (action in words, probability) as the mover saw it, most probable first; empty if it did not say.
    """

    svg: str
    text: str = ""
    seat: int = CHANCE_SEAT
    scores: Sequence[float] = ()
    turn: int | None = None
    value: float | None = None
    policy: Sequence[tuple[str, float]] = ()


def iter_frames(record: Record, top: int = TOP_ACTIONS) -> Iterator[Frame]:
    """Play a record again and yield its frames, the first position first.

    Args:
        record: the game.
        top: how many of the mover's most probable actions a frame keeps.

    Raises:
        BadRecord: an event cannot be played; the frames before it have been yielded.
    """
    draw = draw_module(record.game().spec)
    names = [str(name) for name in record.header["agents"]]
    before: State | None = None
    for event, state in replay(record):
        yield _frame(draw, names, event, before, state, top)
        before = state.clone()


def frames_from_record(record: Record, top: int = TOP_ACTIONS) -> list[Frame]:
    """Return the frames of a record, see `iter_frames`."""
    return list(iter_frames(record, top))


def draw_module(spec: GameSpec) -> Any:
    """Return the module that draws a game: it has `draw_svg(struct, highlight, theme=..., names=...)`."""
    return importlib.import_module(spec.draw)


def seat_colours(spec: GameSpec) -> Sequence[tuple[str, str]]:
    """Return a (light, dark) colour per seat: the game's own, or the usual ones."""
    colours: Sequence[tuple[str, str]] = getattr(draw_module(spec), "SEAT_COLOURS", SEAT_COLOURS)
    return colours


def _frame(draw: Any, names: Sequence[str], event: Event | None, before: State | None, state: State, top: int) -> Frame:
    struct = state.to_json()
    scores = tuple(float(x) for x in state.scores())
    turn = struct.get("turn", struct.get("round"))
    svg = draw.draw_svg(struct, event.text if event else None, names=names)
    if event is None or before is None:
        return Frame(svg, scores=scores, turn=turn)
    policy = _in_words(before, event.policy or {}, top)
    return Frame(svg, event.text, event.seat, scores, turn, event.value, policy)


def _in_words(state: State, policy: Mapping[int, float], top: int) -> tuple[tuple[str, float], ...]:
    best = sorted(policy.items(), key=lambda item: -item[1])[:top]
    legal = set(state.legal_actions().tolist()) if best else set()
    return tuple((state.action_text(a) if a in legal else f"action {a}", float(p)) for a, p in best)
