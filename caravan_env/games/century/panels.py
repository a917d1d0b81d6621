"""The panels beside the table: what each seat and the automa have, and the legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from caravan_env.core import svg
from caravan_env.core.svg import colour, num, rect, text, use
from caravan_env.games.century import art
from caravan_env.games.century.rules import GOLD_POINTS
from caravan_env.games.century.tables import CARAVAN

WIDTH, AUTOMA_HEIGHT = 344, 210
PALE = "pale cards are played"
PAD = 12
_INSIDE = WIDTH - 2 * PAD
_ROOMY = 160  # height from which point cards have a row of their own
_MOST_SINGLE = 20  # more cubes than that are counted instead of shown one by one
_ORDER = list(art.MERCHANT_IDS)

#: Parts of a panel that can be marked instead of a card.
TRAY, CARDS = "tray", "cards"


def seat_lines(
    seat: int, side: Mapping[str, Any], height: float, *, name: str = "", part: str = "", won: bool = False
) -> Iterable[str]:
    """Yield the panel of a seat.

    Args:
        seat: its number.
        side: its entry in the struct.
        height: of the panel; a low one shows less of the point cards.
        name: who plays it.
        part: what to mark: the name of a card, TRAY or CARDS.
        won: whether the seat has won.
    """
    roomy = height > _ROOMY
    most = 11 if side["gold"] or side["silver"] else 18
    title = svg.shortened(name or f"Seat {seat}", most - 2 * won)
    under = f"seat {seat}, {svg.SEAT_NAMES[seat]}" if name else svg.SEAT_NAMES[seat]
    yield from _header(str(seat), f"seat{seat}", title, under if roomy else "", side["score"], won)
    for k, kind in enumerate(("gold", "silver")):
        if side[kind]:
            yield art.coins(kind, side[kind], 195 + 46 * k, 28 if roomy else 22, 0.9)
    if roomy:
        taken = 76 if height > 350 else 36
        yield from _tray(side["cubes"], 54, _INSIDE, part == TRAY)
        yield from _cards(side, 94, height - 94 - taken - 14, part)
        yield from _taken(side["points"], height - taken - 8, taken, part)
    else:
        yield from _tray(side["cubes"], 38, 206, part == TRAY)
        yield from _plaques(side["points"], PAD + 216, 38, part)
        yield from _cards(side, 66, height - 72, part)


def automa_lines(automa: Mapping[str, Any], coin: int, won: bool) -> Iterable[str]:
    """Yield the panel of the automa; a coin of it is worth `coin` points."""
    worth = f"a coin is {coin} point{'s' if coin > 1 else ''}"
    yield from _header("A", "muted", "Automa", worth, automa["score"], won)
    if automa["coins"]:
        yield art.coins("silver", automa["coins"], 222, 28)
    names = art.names_of(automa["cubes"])
    scale, columns = _fit(len(names), _INSIDE, 64, (art.CELL, art.CELL), 1.1)
    cell = art.CELL * scale
    yield _cubes(names, art.heap(names, columns, PAD + cell / 2, 54 + cell / 2, cell))
    yield from _taken(automa["points"], 128, AUTOMA_HEIGHT - 136, "")


def legend_lines() -> Iterable[str]:
    """Yield what the signs mean."""
    yield art.ladder(30, 31)
    for k, (kind, words) in enumerate((("gold", f"{GOLD_POINTS} points"), ("silver", "1 point"))):
        yield use(kind, 250 + 110 * k, 31) + text(266 + 110 * k, 36, words, size=14)
    yield text(16, 72, f"{PALE}, until a rest", "m", 14)


def _header(sign: str, fill: str, title: str, under: str, score: float, won: bool) -> Iterable[str]:
    """Yield badge, name and score, without a second line if there is nothing to say in it."""
    y = 26 if under else 19
    yield f'<circle cx="30" cy="{y}" r="14" fill="{colour(fill)}"/>' + text(30, y + 6, sign, "b mid w", 17)
    yield text(52, y - 2 if under else 25, title + (" ★" if won else ""), "b", 18)
    if under:
        yield text(52, 41, under, "m", 13)
    yield text(WIDTH - PAD, y + 9, svg.points(score), "b end score", 28 if score < 100 else 24)


def _cubes(names: str, inside: str) -> str:
    return f'<g class="tray" data-cubes="{names}">{inside}</g>'


def _tray(cubes: Mapping[str, int], y: float, width: float, marked: bool) -> Iterable[str]:
    """Yield a caravan: ten slots, and red ones for cubes that must be returned (T3)."""
    names = art.names_of(cubes)
    slots = max(CARAVAN, min(len(names), _MOST_SINGLE))
    cell, high = width / slots, width / CARAVAN
    yield _slots(range(CARAVAN), y, cell, high, "rim")
    if slots > CARAVAN:
        yield _slots(range(CARAVAN, slots), y, cell, high, "alarm")
    if len(names) > _MOST_SINGLE:
        inside = art.tally(names, 4, PAD + 17, y + high / 2, width / 4, high / 32)
    else:
        inside = art.heap(names, slots, PAD + cell / 2, y + high / 2, cell)
    yield _cubes(names, inside)
    if marked:
        yield art.mark(PAD - 4, y - 4, width + 8, high + 8, 8)


def _slots(numbers: Iterable[int], y: float, cell: float, high: float, stroke: str) -> str:
    wide = num(cell - 2)
    path = "".join(f"M{num(PAD + k * cell + 1)} {num(y)}h{wide}v{num(high)}h-{wide}z" for k in numbers)
    return f'<path d="{path}" fill="{colour("slot")}" stroke="{colour(stroke)}" stroke-linejoin="round"/>'


def _cards(side: Mapping[str, Any], y: float, height: float, part: str) -> Iterable[str]:
    """Yield the cards of a seat in the order of the table, those played pale (P1)."""
    owned = sorted([*side["hand"], *side["played"]], key=_ORDER.index)
    size = art.MERCHANT
    scale, corners = _grid(len(owned), (PAD, y), (_INSIDE, height), (size[0] + 6, size[1] + 6), 0.66)
    for card, (x, top) in zip(owned, corners, strict=True):
        state = "hand" if card in side["hand"] else "played"
        more = f' class="card {state}" data-card="{escape(card)}"' + (' opacity=".4"' if state == "played" else "")
        yield use(art.MERCHANT_IDS[card], x, top, scale, more)
    yield from _marked(part, owned, corners, scale, size)
    if part == CARDS:
        yield art.mark(PAD - 4, y - 4, _INSIDE + 8, height + 6, 8)


def _taken(cards: Sequence[str], y: float, height: float, part: str) -> Iterable[str]:
    """Yield the point cards that a side has taken."""
    if not cards:
        yield text(PAD + 2, y + height - 12, "no point cards yet", "m", 13)
    size = art.POINT
    scale, corners = _grid(len(cards), (PAD, y), (_INSIDE, height), (size[0] + 8, size[1] + 8), 0.55)
    for card, (x, top) in zip(cards, corners, strict=True):
        yield use(art.POINT_IDS[card], x, top, scale, f' class="taken" data-card="{card}"')
    yield from _marked(part, cards, corners, scale, size)


def _plaques(cards: Sequence[str], left: float, y: float, part: str) -> Iterable[str]:
    """Yield the point cards of a low panel: only what they are worth."""
    size = (18, 20)
    scale, corners = _grid(len(cards), (left, y), (WIDTH - PAD - left, 22), (20, 22), 1)
    for card, (x, top) in zip(cards, corners, strict=True):
        plaque = rect(0, 0, *size, colour("seal"), 'rx="3"') + text(9, 15, str(art.POINT_VALUES[card]), "b mid w", 13)
        where = f'transform="translate({num(x)} {num(top)}) scale({scale:.3g})"'
        yield f'<g class="taken" data-card="{card}" {where}>{plaque}</g>'
    yield from _marked(part, cards, corners, scale, size)


def _marked(
    part: str,
    cards: Sequence[str],
    corners: Sequence[tuple[float, float]],
    scale: float,
    size: tuple[float, float],
) -> Iterable[str]:
    """Yield the mark around one of the cards, if it is to be marked."""
    if part in cards:
        x, y = corners[cards.index(part)]
        yield art.mark(x - 2, y - 2, size[0] * scale + 4, size[1] * scale + 4, 6)


def _grid(
    count: int,
    corner: tuple[float, float],
    space: tuple[float, float],
    cell: tuple[float, float],
    most: float,
) -> tuple[float, list[tuple[float, float]]]:
    """Return the scale, and the corners of cells in the rows that let them be largest."""
    scale, columns = _fit(count, *space, cell, most)
    (x, y), (wide, high) = corner, cell
    return scale, [(x + k % columns * wide * scale, y + k // columns * high * scale) for k in range(count)]


def _fit(count: int, width: float, height: float, cell: tuple[float, float], most: float) -> tuple[float, int]:
    """Return the largest scale, at most `most`, at which cells fit into a space, and how many of them are in a row."""
    best = (0.0, 1)
    for rows in range(1, count + 1):
        columns = math.ceil(count / rows)
        scale = min(most, width / (columns * cell[0]), height / (rows * cell[1]))
        if scale > best[0]:
            best = (scale, columns)
    return best
