"""What stands beside the map: the tile in hand, the supply, what each seat has, the scores of the end, the legend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from caravan_env.core import svg
from caravan_env.core.svg import colour, rect, text, use
from caravan_env.games.ukraine import art, faces
from caravan_env.games.ukraine.tables import CHIPS, FIGURES, GOODS, TILE_NUMBERS

WIDTH, HAND, LEGEND = 330, 150, 142
PAD = 12
#: The heights from which a panel has larger signs, and goods in a row of their own.
NORMAL, ROOMY = 100, 122
#: Kinds of what the end pays, in the order of the table.
ENDINGS = ("city", "road", "monastery", "field", "goods")
Struct = Mapping[str, Any]


def hand_lines(struct: Struct) -> Iterable[str]:
    """Yield the tile in hand, how many are left, and the supply of chips."""
    tile, left = struct["tile"], sum(struct["bag"].values())
    x = PAD + 63
    if tile is None:
        dashed = f'rx="8" stroke="{colour("edge")}" stroke-width="2" stroke-dasharray="6 6"'
        yield rect(x - 55, 20, 110, 110, "none", dashed)
        yield text(x, 80, "no tile in hand", "m mid", 13)
    else:
        data = f' data-hand="{tile}" transform="translate({x} 72) scale(1.12)"'
        yield faces.tile(TILE_NUMBERS[tile], 0, data)
        yield text(x, 144, tile, "m mid", 13)
    yield text(150, 34, f"{left} tile{'s' * (left != 1)} left", "b", 17)
    out = ", ".join(f"{name} ×{n}" if n > 1 else name for name, n in struct["out"].items())
    yield text(150, 54, svg.shortened(f"out: {out}", 26) if out else "none out of the game", "m", 13)
    if struct["supply"]:
        yield text(150, 82, f"{sum(struct['supply'].values())} chips in the supply", "m", 13)
        known = CHIPS if art.FACE_DOWN not in struct["supply"] else (art.FACE_DOWN,)
        for k, name in enumerate(known):
            yield _counted_chip(name, struct["supply"][name], 162 + 58 * (k // 2), 100 + 28 * (k % 2), 0.86, "supply")


def _counted_chip(name: str, count: int, x: float, y: float, size: float, css: str) -> str:
    """Return a chip with its number, faint if there is none."""
    faint = "" if count else ' opacity=".35"'
    number = text(x + 16 * size, y + 5, f"×{count}", "", 16 * size)
    return f'<g class="{css}" data-chip="{name}" data-count="{count}"{faint}>{art.chip(name, x, y, size)}{number}</g>'


def final_lines(struct: Struct) -> Iterable[str]:
    """Yield the table of what the end paid, by kind and seat."""
    seats = struct["seats"]
    paid = {kind: [_paid(struct, kind, seat) for seat in range(len(seats))] for kind in ENDINGS}
    ends = [sum(column) for column in zip(*paid.values(), strict=True)]
    before = [side["score"] - end for side, end in zip(seats, ends, strict=True)]
    table = {"before the end": before, **paid, "in all": [side["score"] for side in seats]}
    step = min(44, 210 / len(seats))
    for seat in range(len(seats)):
        x = WIDTH - PAD - step * (len(seats) - 1 - seat) - 8
        yield f'<circle cx="{x - 6:g}" cy="16" r="9" fill="{colour(f"seat{seat}")}"/>' + text(
            x - 6, 20.5, str(seat), "b mid w", 12.5
        )
    for line, (kind, row) in enumerate(table.items()):
        y, css = 41 + 17 * line, " b" if kind == "in all" else ""
        yield text(PAD + 2, y, kind, css.strip() or "m", 13.5)
        for seat, value in enumerate(row):
            x = WIDTH - PAD - step * (len(seats) - 1 - seat) - 6
            shown = svg.points(value) if value or kind in ("before the end", "in all") else "·"
            yield text(x, y, shown, f"end{css}", 13.5)


def _paid(struct: Struct, kind: str, seat: int) -> float:
    return float(sum(event["points"][seat] for event in struct["final"] if event["kind"] == kind))


def seat_lines(
    seat: int, side: Struct, height: float, *, name: str, won: bool, show: tuple[bool, bool], over: bool
) -> Iterable[str]:
    """Yield the panel of a seat.

    Args:
        seat: its number.
        side: its entry in the struct.
        height: of the panel; in a high one goods have a row of their own.
        name: who plays it.
        won: whether the seat has won, alone or with others.
        show: whether chips, and whether goods are in play.
        over: whether the game is over.
    """
    yield f'<circle cx="28" cy="24" r="14" fill="{colour(f"seat{seat}")}"/>' + text(28, 30, str(seat), "b mid w", 17)
    yield text(50, 22, svg.shortened(name or f"Seat {seat}", 20 - 2 * won) + (" ★" if won else ""), "b", 17)
    now = "" if over else f", {svg.points(side['score'])} if it ended now"
    yield text(50, 37, svg.SEAT_NAMES[seat] + now, "m score", 12.5)
    yield text(WIDTH - PAD, 33, svg.points(side["score" if over else "points"]), "b end points", 28)
    rows = _rows(height)
    size = 0.72 if height > NORMAL else 0.6
    yield from _figures(seat, side["figures"], rows[0], size)
    roomy = height > ROOMY
    if show[0]:
        room = WIDTH - 2 * PAD - (0 if roomy or not show[1] else 108)
        yield from _chips(side["chips"], rows[1], room, size)
    if show[1]:
        yield from _goods(side["goods"], PAD + 10 if roomy else WIDTH - 106, rows[-1], size)


def _rows(height: float) -> tuple[float, ...]:
    """Return where figures, chips and, in a high panel, goods are."""
    first, last = (59, height - 18) if height > NORMAL else (54, height - 14)
    return (first, (first + last) / 2, last) if height > ROOMY else (first, last)


def _figures(seat: int, figures: Mapping[str, int], y: float, size: float) -> Iterable[str]:
    """Yield the figures at home: meeples one by one, as far as there are any."""
    count = figures["meeple"]
    row = "".join(art.figure("meeple", seat, (PAD + 10 + 18 * k, y), size) for k in range(count))
    yield f'<g class="home" data-figure="meeple" data-count="{count}">{row}</g>'
    for k, kind in enumerate(FIGURES[1:]):
        if figures[kind]:
            shown = art.figure(kind, seat, (PAD + 202 + 44 * k, y), size)
            data = f'data-figure="{kind}" data-word="{kind.split()[0]}" data-count="{figures[kind]}"'
            yield f'<g class="home" {data}>{shown}</g>'


def _chips(chips: Mapping[str, int], y: float, room: float, size: float) -> Iterable[str]:
    """Yield the chips in hand, in a row of a width."""
    held = [(name, chips[name]) for name in (*CHIPS, art.FACE_DOWN) if chips.get(name)]
    if not held:
        yield text(PAD + 4, y + 5, "no chips", "m", 13)
    step = min(48, room / max(1, len(held)))
    size = size + 0.06 if step > 40 else 0.62
    for k, (name, count) in enumerate(held):
        yield _counted_chip(name, count, PAD + 11 + step * k, y, size, "held")


def _goods(goods: Mapping[str, int], x: float, y: float, size: float) -> Iterable[str]:
    for k, name in enumerate(GOODS):
        faint = "" if goods[name] else ' opacity=".4"'
        shown = use(name, x + 36 * k, y, size + 0.06) + text(x + 11 + 36 * k, y + 5, str(goods[name]), "b", 14)
        yield f'<g class="goods" data-good="{name}" data-count="{goods[name]}"{faint}>{shown}</g>'


_SIGNS: Sequence[tuple[str, float, str]] = (
    ("meeple", 0.75, "meeple, in a field"),
    ("large", 0.8, "large meeple"),
    ("builder", 0.75, "builder"),
    ("pig", 0.75, "pig"),
    ("shield", 0.9, "shield"),
    ("monastery", 0.5, "monastery"),
    ("cathedral", 0.42, "cathedral"),
    ("inn", 0.75, "inn at a lake"),
    ("wheel", 0.75, "Chumak square"),
)


def legend_lines() -> Iterable[str]:
    """Yield what the signs mean."""
    for k, (sign, size, words) in enumerate(_SIGNS):
        x, y = (PAD + 14, 20 + 26 * k) if k < 5 else (PAD + 190, 20 + 26 * (k - 5))
        own = f' fill="{colour("muted")}"' if k < 4 else ""
        soil = use("soil", x, y, size) if sign == "meeple" else ""
        yield soil + use(sign, x, y, size, own) + text(x + 22, y + 5, words, "m", 13)
