"""Draws a position of Caravan as an SVG: the desert, what stands on it, and a panel per seat.

The artwork is our own. Every element that shows a piece carries it in `class` and `data-` attributes, one element a
line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from caravan_env.core import svg
from caravan_env.core.svg import Box, boxed, colour, num, rect, text, use
from caravan_env.games.caravan.tables import (
    CARRYING_PENALTY,
    GOODS,
    SIZE,
    VALUE,
    Board,
    cell_name,
    cell_number,
    load_board,
)

SEATS = 4

# ---------------------------------------------------------------------------------------------------------- colours

#: Custom property -> (light, dark).
COLOURS = svg.COLOURS | {
    "sand2": ("#efdab0", "#383027"),
    "dune": ("#dfc48e", "#4a3f31"),
    "oasis": ("#fbf3df", "#2c2721"),
    "ring": ("#b08d52", "#8a7350"),
    "meat": ("#d9413a", "#e5534b"),
    "swords": ("#3f74d8", "#5f92f0"),
    "salt": ("#ffffff", "#f6f6f6"),
    "hides": ("#9c6430", "#b97c42"),
    "ivory": ("#b4b9c2", "#a7adb8"),
    "cloth": ("#8b4fcf", "#a873e8"),
    "gems": ("#2f9e5b", "#43bd74"),
    "paper": ("#ec8fb8", "#f09fc4"),
}
SEAT_COLOURS = svg.SEAT_COLOURS[:SEATS]
CITY_NAMES = {good: good for good in GOODS} | {"ivory": "Marrakesh"}

# ---------------------------------------------------------------------------------------------------------- symbols

CAMEL = (
    "M-18-18C-17.5-22-14-24.5-10.5-25C-8.5-30-6-33.5-3-33.5C1-33.5 3-29 5.5-24.5C8-22 10-22 11.5-23"
    "C14.5-25 14-30.5 15.5-34L16-37.5L18-36.3C19.5-37 21-36.5 22-35.5L26-33.5C28-32.5 27.5-30.3"
    " 25.5-30.3L20.5-30C19.5-25.5 19-20 13.5-16.5C13-14 13.3-9 13.8-1Q13.8 0 12.8 0L11 0Q10 0 9.9-1"
    "L8.7-12.5L7.2-11.5L6.6-1Q6.5 0 5.5 0L4 0Q3 0 3-1L3-12C-1-11-5-11-8-12L-7-8L-6.6-1Q-6.6 0-7.6 0"
    "L-9.2 0Q-10.2 0-10.3-1L-11-7L-12.4-10L-12.6-1Q-12.6 0-13.6 0L-15.2 0Q-16.2 0-16.2-1L-16.3-10"
    "C-17.5-12-18.5-15-18-18Z"
)
_PELT = (
    "M-2.5-10L2.5-10L4-6.5L10-8.5L8.5-3.5L6-1.5L6.5 4L10 8L6.5 9.5L2.5 7.5L0 11"
    "L-2.5 7.5L-6.5 9.5L-10 8L-6.5 4L-6-1.5L-8.5-3.5L-10-8.5L-4-6.5Z"
)
_SWORD = '<path d="M-8 8L8-8"/><path d="M-8.5 2.5L-2.5 8.5"/>'
_SWORDS = f'{_SWORD}<g transform="scale(-1 1)">{_SWORD}</g>'

#: Each good in a box from -12 to 12: own colour and own outline.
SYMBOLS: dict[str, str] = {
    "meat": '<path d="M2 2L8 8" fill="none" stroke="{ink}" stroke-width="5"/>'
    '<g fill="#fff4e0"><circle cx="9" cy="6.5" r="2.4"/><circle cx="6.5" cy="9" r="2.4"/></g>'
    '<path d="M2 2L7.5 7.5" fill="none" stroke="#fff4e0" stroke-width="2.6"/>'
    '<ellipse cx="-2.5" cy="-2.5" rx="8.8" ry="7" transform="rotate(45-2.5-2.5)" fill="{own}"/>'
    '<path d="M-8-3.5C-8-6.5-6-8.5-3.5-8.5" fill="none" stroke="#fff" stroke-opacity=".6"/>',
    "swords": f'<g fill="none" stroke="{{ink}}" stroke-width="5.4">{_SWORDS}</g>'
    f'<g fill="none" stroke="{{own}}" stroke-width="2.8">{_SWORDS}</g>',
    "salt": '<path d="M-11 8.5L-2-7.5Q0-10.5 2-7.5L11 8.5Z" fill="{own}"/>'
    '<path d="M0-9L2.5 1L-1.5 8.5M2.5 1L6.5 4" fill="none" stroke="#8d98a5" stroke-width="1.2"/>',
    "hides": f'<path d="{_PELT}" fill="{{own}}"/>'
    '<path d="M0-6V5" fill="none" stroke="#fff" stroke-opacity=".55" stroke-dasharray="2 2.5"/>',
    "ivory": '<path d="M-10-9C-10.5 3-3 10.5 11 8.5C4 6.5-1.5 0-2.5-9Q-6.3-11-10-9Z" fill="{own}"/>'
    '<path d="M-8.5-4.5Q-5.5-6-2.7-4.5" fill="none" stroke-width="1.2"/>',
    "cloth": '<path d="M-9.5-9H9.5V7.5Q6.3 11 3.2 7.5Q0 4 -3.2 7.5Q-6.3 11-9.5 7.5Z" fill="{own}"/>'
    '<path d="M-9.5-5H9.5M-9.5-.5H9.5" fill="none" stroke="#fff" stroke-opacity=".75" stroke-width="1.6"/>',
    "gems": '<path d="M-6-8.5H6L11.5-2L0 10.5L-11.5-2Z" fill="{own}"/>'
    '<path d="M-11.5-2H11.5M-6-8.5L-3.5-2L0 10.5L3.5-2L6-8.5" fill="none" stroke="#fff" stroke-opacity=".7"'
    ' stroke-width="1.1"/>',
    "paper": '<path d="M-8-10.5H2.5L8-5V10.5H-8Z" fill="{own}"/><path d="M2.5-10.5V-5H8" fill="none"/>'
    '<path d="M-4.5-1.5H4.5M-4.5 2H4.5M-4.5 5.5H1.5" fill="none" stroke-width="1.3"/>',
}
_SKYLINE = "M-36 0V-13H-27V-22Q-21.5-31-16-22V-13H-9V-17Q0-32 9-17V-13H17V-27L20.5-33L24-27V-13H36V0Z"
_RAINBOW = ("#e5484d", "#f5a524", "#f7e04b", "#3fb56b", "#3f8ff0", "#9a5be0")

# ----------------------------------------------------------------------------------------------------------- layout

CELL = 90
BOARD_X, BOARD_Y = 34, 34
BOARD = CELL * SIZE
MARGIN, GAP = 12, 8
PANEL_WIDTH = 320
WIDE = (MARGIN + 22 + BOARD + 12 + PANEL_WIDTH + MARGIN, MARGIN + 22 + BOARD + MARGIN)
TALL_WIDTH = MARGIN + 22 + BOARD + MARGIN
STATUS, BAG, LEGEND = 84, 118, 104


def draw_svg(
    struct: Mapping[str, Any], highlight: str | None = None, *, theme: str = "auto", names: Sequence[str] = ()
) -> str:
    """Draw a position.

    Args:
        struct: a position as described in docs/formats.md.
        highlight: the words of the action or outcome that led to it; an arrow or a ring shows it.
        theme: "auto" follows the system or the page; "light" and "dark" have fixed colours and no custom properties,
            which programs that turn SVG into pixels need.
        names: who plays, one name per seat; shown in the panels.

    Returns:
        The text of an `<svg>` element. Below the class `tall` the panels stand under the board instead of beside it;
        `data-tall-viewbox` holds the view box that goes with it.
    """
    board = load_board(struct["params"]["board"])
    boxes, tall_height = _arrange(len(struct["seats"]))
    lines = [
        *_desert(),
        *_sites(board, struct),
        *_camels(board, struct),
        *_highlight(board, highlight),
        *_side(struct, board, boxes, names),
    ]
    return svg.picture(
        lines,
        theme=theme,
        colours=COLOURS,
        definitions=_definitions(),
        boxes=boxes,
        wide=WIDE,
        tall=(TALL_WIDTH, tall_height),
        label=_summary(struct),
    )


def _corner(cell: int) -> tuple[float, float]:
    row, column = divmod(cell, SIZE)
    return BOARD_X + column * CELL, BOARD_Y + row * CELL


# -------------------------------------------------------------------------------------------------------- definitions


def _definitions() -> str:
    ink = colour("ink")
    goods = "".join(
        f'<g id="cvn-{good}" stroke="{ink}" stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round">'
        f"{shape.format(own=colour(good), ink=ink)}</g>"
        for good, shape in SYMBOLS.items()
    )
    stops = "".join(
        f'<stop offset="{(k + end) / len(_RAINBOW):.3f}" stop-color="{stripe}"/>'
        for k, stripe in enumerate(_RAINBOW)
        for end in (0, 1)
    )
    return (
        f'{goods}<path id="cvn-camel" d="{CAMEL}" stroke="{ink}" stroke-width="1.5" stroke-linejoin="round"/>'
        f'<linearGradient id="cvn-rainbow" x1="0" x2="1" y1="0" y2="0">{stops}</linearGradient>'
        f'<path id="cvn-city" d="{_SKYLINE}"/>'
        + svg.coin_symbol()
        + f'<g id="cvn-theft"><path d="M0-10.5L9.5-6V1Q8.5 8 0 11Q-8.5 8-9.5 1V-6Z" fill="{colour("alarm")}"'
        f' stroke="{ink}" stroke-width="1.4"/><path d="M-7-3.5Q-3.5-5.5 0-3Q3.5-5.5 7-3.5Q6.5 2 3 1.5Q1 1 0-1'
        'Q-1 1-3 1.5Q-6.5 2-7-3.5Z" fill="#fff"/></g>'
    )


# ------------------------------------------------------------------------------------------------------------ desert


def _desert() -> Iterable[str]:
    yield rect(BOARD_X - 4, BOARD_Y - 4, BOARD + 8, BOARD + 8, colour("frame"), 'rx="8"')
    yield rect(BOARD_X, BOARD_Y, BOARD, BOARD, colour("sand"), 'rx="5"')
    odd = "".join(
        f"M{BOARD_X + CELL * (k % SIZE)} {BOARD_Y + CELL * (k // SIZE)}h{CELL}v{CELL}h-{CELL}z"
        for k in range(1, SIZE * SIZE, 2)
    )
    yield f'<path d="{odd}" fill="{colour("sand2")}"/>'
    yield f'<path d="{_dunes()}" fill="none" stroke="{colour("dune")}" stroke-width="1.5" stroke-linecap="round"/>'
    for k in range(SIZE * SIZE):  # nothing to see: a page can ask which cell lies under the pointer
        yield rect(*_corner(k), CELL, CELL, "none", f'pointer-events="all" data-cell="{cell_name(k)}"')
    middle = CELL / 2
    for k in range(SIZE):
        yield text(BOARD_X + k * CELL + middle, BOARD_Y - 10, "abcdefg"[k], "m mid b")
        yield text(BOARD_X - 16, BOARD_Y + k * CELL + middle + 5, str(k + 1), "m mid b")


def _dunes() -> str:
    """Three ripples of sand in every cell, a little different from cell to cell."""
    strokes = []
    for cell in range(SIZE * SIZE):
        x, y = _corner(cell)
        for k, (left, top) in enumerate(((14, 26), (38, 50), (20, 72))):
            shift = (cell * 17 + k * 29) % 23 - 11
            strokes.append(f"M{x + left + shift:g} {y + top + shift / 3:.0f}q9-6 18 0t18 0")
    return "".join(strokes)


def _sites(board: Board, struct: Mapping[str, Any]) -> Iterable[str]:
    camels = {camel["at"] for side in struct["seats"] for camel in side["camels"]} | {struct.get("rainbow")}
    for good, cell in zip(GOODS, board.cities, strict=True):
        yield from _city(good, *_corner(cell))
    for k, cell in enumerate(board.sources):
        yield from _space(k + 1, struct["sources"][k], cell_name(cell) in camels, *_corner(cell))


def _city(good: str, x: float, y: float) -> Iterable[str]:
    own, name = colour(good), CITY_NAMES[good]
    box = f'x="{x + 4:g}" y="{y + 4:g}" width="82" height="82" rx="9"'
    fit = {"textLength": "54", "lengthAdjust": "spacingAndGlyphs"} if len(name) > 7 else {}
    yield (
        f'<g class="city" data-good="{good}"><rect {box} stroke="{colour("ink")}" stroke-width="5.5"/>'
        f'<rect {box} fill="{colour("oasis")}" stroke="{own}" stroke-width="4"/>'
        + use("city", x + 45, y + 84, 1.08, f' fill="{own}" fill-opacity=".38"')
        + use(good, x + 18, y + 18, 0.8)
        + text(x + 30, y + 22, name, "b", 13 if len(name) < 6 else 12, **fit)
        + "</g>"
    )


def _space(number: int, source: Mapping[str, Any], crowded: bool, x: float, y: float) -> Iterable[str]:
    """Draw a goods space; its good makes room at the top for camels."""
    yield (
        f'<g class="space" data-space="{number}"><rect x="{x + 4:g}" y="{y + 4:g}" width="82" height="82" rx="41"'
        f' fill="{colour("oasis")}" stroke="{colour("ring")}" stroke-width="2.5" stroke-dasharray="1 5.5"'
        f' stroke-linecap="round"/><circle cx="{x + 15:g}" cy="{y + 15:g}" r="11" fill="{colour("ring")}"/>'
        + text(x + 15, y + 20.2, str(number), "b mid w")
        + "</g>"
    )
    if source["good"]:
        data = f' class="good free" data-good="{source["good"]}" data-space="{number}"'
        yield use(source["good"], x + 45, y + (17 if crowded else 48), 1.1 if crowded else 1.9, data)
    if source["markers"]:
        yield (
            f'<g class="markers" data-space="{number}" data-count="{source["markers"]}">'
            + use("coin", x + 75, y + 15, 1.1)
            + text(x + 75, y + 20.2, str(source["markers"]), "b mid k")
            + f"<title>{source['markers']} demand marker(s)</title></g>"
        )


# ------------------------------------------------------------------------------------------------------------ camels


class _Camel(NamedTuple):
    seat: int | None
    at: str
    good: str | None
    stolen: bool


def _camels(board: Board, struct: Mapping[str, Any]) -> Iterable[str]:
    cells: dict[str, list[_Camel]] = {}
    for seat, side in enumerate(struct["seats"]):
        for camel in side["camels"]:
            if camel["at"]:
                cells.setdefault(camel["at"], []).append(_Camel(seat, camel["at"], camel["good"], camel["stolen"]))
    if struct.get("rainbow"):
        cells.setdefault(struct["rainbow"], []).append(_Camel(None, struct["rainbow"], None, False))
    used = {*board.sources, *board.cities}
    for name, herd in sorted(cells.items()):
        cell = cell_number(name)
        x, y = _corner(cell)
        top = 28 if cell in used else 6
        yield from _herd(herd, x + 3, y + top, CELL - 6, CELL - 4 - top)


def _herd(herd: Sequence[_Camel], x: float, y: float, width: float, height: float) -> Iterable[str]:
    """Place camels in a box, in as many rows as let them be largest."""
    first = 53 if any(camel.good and not camel.stolen for camel in herd) else 40
    below = 7 if any(camel.stolen for camel in herd) else 0
    columns, scale = _rows(len(herd), width, height, first + below)
    rows = math.ceil(len(herd) / columns)
    step = (height - (first + below) * scale) / max(1, rows - 1)
    for k, camel in enumerate(herd):
        row, column = divmod(k, columns)
        in_row = min(columns, len(herd) - row * columns)
        middle = x + width / 2 + (column - (in_row - 1) / 2) * (width - 4) / columns
        feet = y + height - below * scale - (rows - 1 - row) * step
        yield _camel(camel, middle - 3.5 * scale, feet - 1, scale)


def _rows(count: int, width: float, height: float, tall: float) -> tuple[int, float]:
    """Return how many camels stand side by side, and the largest scale that fits; neighbours may overlap a little."""
    best = (1, 0.0)
    for columns in range(1, count + 1):
        rows = math.ceil(count / columns)
        scale = min(1.1, width / (50 + 39 * (columns - 1)), height / (tall + (tall - 8) * (rows - 1)))
        if scale > best[1] + 1e-9:
            best = (columns, scale)
    return best


def _camel(camel: _Camel, x: float, y: float, scale: float) -> str:
    rainbow = camel.seat is None
    fill = "url(#cvn-rainbow)" if rainbow else colour(f"seat{camel.seat}")
    kind = "rainbow" if rainbow else "camel"
    data = "" if rainbow else f' data-seat="{camel.seat}"'
    if camel.good:
        data += f' data-good="{camel.good}" data-stolen="{str(camel.stolen).lower()}"'
    return (
        f'<g class="{kind}" data-at="{camel.at}"{data} transform="translate({num(x)} {num(y)}) scale({scale:.3g})">'
        f'<use href="#cvn-camel" fill="{fill}"/>'
        + ("" if rainbow else text(-2.5, -15, str(camel.seat), "b mid w", 13))
        + _load(camel, 1 if scale > 0.7 else 1.25)
        + f"<title>{_camel_words(camel)}</title></g>"
    )


def _load(camel: _Camel, size: float = 1) -> str:
    if not camel.good:
        return ""
    if not camel.stolen:
        return use(camel.good, -3, -39, 0.92 * size)
    ring = f'<circle cx="-1.5" cy="-3" r="10.5" fill="{colour("oasis")}" stroke="{colour("alarm")}"'
    return f'{ring} stroke-width="2" stroke-dasharray="3.5 2.5"/>' + use(camel.good, -1.5, -3, 0.66)


def _camel_words(camel: _Camel) -> str:
    who = "Rainbow Camel" if camel.seat is None else f"camel of seat {camel.seat}"
    load = f" with {'stolen ' if camel.stolen else ''}{camel.good}" if camel.good else ""
    return f"{who} at {camel.at}{load}"


# --------------------------------------------------------------------------------------------------------- highlight


def _highlight(board: Board, words: str | None) -> Iterable[str]:
    """Show an action: a ring where it names one cell, an arrow where it names two, the points of a delivery."""
    cells = [cell_number(name) for name in re.findall(r"\b[a-g][1-7]\b", words or "")]
    drawn = re.search(r"for space ([1-8])$", words or "")
    if drawn:
        cells = [board.sources[int(drawn[1]) - 1]]
    if not cells or words is None:
        return
    css = "highlight steal" if words.startswith("steal") else "highlight"
    stroke = colour("alarm" if words.startswith("steal") else "mark")
    x, y = _corner(cells[-1])
    parts = [svg.ring(x + 1, y + 1, CELL - 2, CELL - 2, stroke, 11)]
    if len(cells) > 1 and cells[0] != cells[-1]:
        x, y = _corner(cells[0])
        parts += [
            svg.dashed_ring(x + 3, y + 3, CELL - 6, CELL - 6, stroke, 10),
            _arrow(cells[0], cells[-1], stroke),
        ]
    parts += _delivery(board, words, cells[-1])
    yield f'<g class="{css}" fill="none" pointer-events="none">{"".join(parts)}</g>'


def _arrow(start: int, stop: int, stroke: str) -> str:
    """Return a bent arrow from one cell into the ring around the other."""
    (x0, y0), (x1, y1) = ((a + CELL / 2, b + CELL / 2) for a, b in (_corner(start), _corner(stop)))
    length = math.hypot(x1 - x0, y1 - y0)
    ux, uy = (x1 - x0) / length, (y1 - y0) / length
    bend = min(40, length * 0.16)
    cx, cy = (x0 + x1) / 2 - uy * bend, (y0 + y1) / 2 + ux * bend
    x0, y0 = x0 + ux * 18, y0 + uy * 18
    to_end = math.hypot(x1 - cx, y1 - cy)
    vx, vy = (x1 - cx) / to_end, (y1 - cy) / to_end
    tip = (x1 - vx * 32, y1 - vy * 32)
    base = (tip[0] - vx * 15, tip[1] - vy * 15)
    path = f'd="M{num(x0)} {num(y0)}Q{num(cx)} {num(cy)} {num(base[0])} {num(base[1])}" stroke-linecap="round"'
    corners = (tip, (base[0] - vy * 9, base[1] + vx * 9), (base[0] + vy * 9, base[1] - vx * 9))
    head = " ".join(f"{num(a)},{num(b)}" for a, b in corners)
    halo = colour("halo")
    return (
        f'<path {path} stroke="{halo}" stroke-width="9" stroke-opacity=".7"/>'
        f'<polygon points="{head}" fill="{halo}" stroke="{halo}" stroke-width="5" stroke-opacity=".7"/>'
        f'<path {path} stroke="{stroke}" stroke-width="4"/><polygon points="{head}" fill="{stroke}"/>'
    )


def _delivery(board: Board, words: str, cell: int) -> list[str]:
    moved = re.match(r"move (?:stolen )?(\w+) ", words)
    if not moved or moved[1] not in GOODS or board.cities[GOODS.index(moved[1])] != cell:
        return []
    x, y = _corner(cell)
    points = VALUE[GOODS.index(moved[1])]
    return [
        f'<g class="delivery"><circle cx="{x + 72:g}" cy="{y + 64:g}" r="16" fill="{colour("mark")}"/>'
        + text(x + 72, y + 69.5, f"+{points}", "b mid", 17, style=f"fill:{colour('page')}")
        + "</g>"
    ]


# ------------------------------------------------------------------------------------------------------------- panels


def _arrange(players: int) -> tuple[dict[str, Box], float]:
    """Return the boxes beside the board by name, and the height of the tall layout."""
    names = ["status", *(f"panel{k}" for k in range(players)), "bag", *(["legend"] if players < 4 else [])]
    heights: dict[str, float] = {"status": STATUS, "bag": BAG, "legend": LEGEND}
    spare = WIDE[1] - 2 * MARGIN - GAP * (len(names) - 1) - sum(heights.get(name, 0) for name in names)
    heights |= {f"panel{k}": spare / players for k in range(players)}
    wide = svg.stacked(names, heights, WIDE[0] - MARGIN - PANEL_WIDTH, MARGIN, GAP)
    tall, tall_height = _flow([n for n in names if n not in ("status", "bag")], heights)
    return {name: Box(PANEL_WIDTH, heights[name], wide[name], tall[name]) for name in names}, tall_height


def _flow(names: Sequence[str], heights: Mapping[str, float]) -> tuple[dict[str, tuple[float, float]], float]:
    """Place boxes in two columns below the board; status and bag come first."""
    order = ["status", "bag", *names]
    right = TALL_WIDTH - MARGIN - PANEL_WIDTH
    places: dict[str, tuple[float, float]] = {}
    y = BOARD_Y + BOARD + 16.0
    for k in range(0, len(order), 2):
        pair = order[k : k + 2]
        for x, name in zip((MARGIN, right), pair, strict=False):
            places[name] = (x, y)
        y += max(heights[name] for name in pair) + GAP
    return places, y - GAP + MARGIN


def _side(struct: Mapping[str, Any], board: Board, boxes: Mapping[str, Box], names: Sequence[str]) -> Iterable[str]:
    yield from boxed("status", boxes["status"], _status(struct, board))
    winners = _winners(struct)
    for seat, side in enumerate(struct["seats"]):
        box = boxes[f"panel{seat}"]
        name = names[seat] if seat < len(names) else ""
        edge = colour(f"seat{seat}") if struct["seat"] == seat and struct["phase"] != "over" else ""
        lines = _seat(seat, side, name, box.height, seat in winners)
        yield from boxed(f"panel{seat}", box, lines, edge, f' data-seat="{seat}"')
    yield from boxed("bag", boxes["bag"], _bag(struct))
    if "legend" in boxes:
        yield from boxed("legend", boxes["legend"], _legend())


def _status(struct: Mapping[str, Any], board: Board) -> Iterable[str]:
    yield text(16, 30, _headline(struct), "b", 19)
    seat, left = struct["seat"], struct["actions_left"]
    if struct["phase"] == "play":
        for k in range(min(struct["turn"], 4)):
            own = colour(f"seat{seat}")
            pip = f'fill="{own if k < left else "none"}" stroke="{own}" stroke-width="2"'
            yield f'<circle cx="{24 + 20 * k}" cy="49" r="7" {pip}/>'
        yield text(24 + 20 * min(struct["turn"], 4), 54, f"{left} action{'s' * (left != 1)} left", size=16)
    else:
        yield text(16, 54, _subline(struct), size=16)
    yield text(16, 74, f"Board: {board.name} ({board.mark})", "m", 14)


def _headline(struct: Mapping[str, Any]) -> str:
    if struct["phase"] == "over":
        return "Game over at the turn limit" if struct["truncated"] else f"Game over after turn {struct['turn']}"
    if struct["turn"] == 0:
        return "Set-up"
    return f"Turn {struct['turn']}: seat {struct['seat']} ({svg.SEAT_NAMES[struct['seat']]})"


def _subline(struct: Mapping[str, Any]) -> str:
    if struct["phase"] == "start":
        return "The starting seat is drawn"
    if struct["phase"] == "fill":
        return "Goods are drawn from the bag"
    winners = sorted(_winners(struct))
    if len(winners) == 1:
        return f"Seat {winners[0]} wins"
    return f"Seats {', '.join(map(str, winners))} share the win"


def _winners(struct: Mapping[str, Any]) -> set[int]:
    """Return the seats that won (RULES E4); none while the game goes on."""
    if struct["phase"] != "over":
        return set()
    keys = [(side["score"], sum(side["delivered"].values())) for side in struct["seats"]]
    return {seat for seat, key in enumerate(keys) if key == max(keys)}


def _seat(seat: int, side: Mapping[str, Any], name: str, height: float, won: bool) -> Iterable[str]:
    rows = 4 if height > 140 else 3
    first = 27 if rows == 3 else 32
    step = (height - first - 12) / (rows - 1)
    yield use("camel", 34, first + 12, 0.86, f' fill="{colour(f"seat{seat}")}"')
    title = name or f"Seat {seat}"
    yield text(62, first, svg.shortened(title, 17), "b", 18)
    under = f"seat {seat}, {svg.SEAT_NAMES[seat]}" if name else svg.SEAT_NAMES[seat]
    yield text(62, first + 16, f"{under}{', winner' if won else ''}", "m", 13.5)
    yield text(PANEL_WIDTH - 16, first + 8, svg.points(side["score"]), "b end score", 30)
    yield from _delivered(side, first + step + (8 if rows == 3 else 6))
    if rows == 4:
        yield from _carried(side, first + 2 * step)
    yield from _counters(side, first + (rows - 1) * step)


def _delivered(side: Mapping[str, Any], y: float) -> Iterable[str]:
    done = [(good, side["delivered"][good]) for good in GOODS if side["delivered"][good]]
    if not done:
        yield text(16, y, "nothing delivered yet", "m", 14)
    for k, (good, count) in enumerate(done):
        x = 26 + k * min(48, (PANEL_WIDTH - 30) / max(1, len(done)))
        yield (
            f'<g class="delivered" data-good="{good}" data-count="{count}">{use(good, x, y - 5, 0.82)}'
            + text(x + 12, y, str(count), "b", 15)
            + "</g>"
        )


def _carried(side: Mapping[str, Any], y: float) -> Iterable[str]:
    goods = [camel["good"] for camel in side["camels"] if camel["good"]]
    if not goods:
        yield text(16, y, "carrying nothing", "m", 14)
        return
    yield text(16, y, "carrying", "m", 14)
    for k, good in enumerate(goods):
        yield use(good, 90 + 26 * k, y - 5, 0.8)
    loss = CARRYING_PENALTY[len(goods)]
    if loss:
        yield text(PANEL_WIDTH - 16, y, f"−{loss} at the end", "m end", 14)


def _counters(side: Mapping[str, Any], y: float) -> Iterable[str]:
    off = sum(camel["at"] is None for camel in side["camels"])
    fields = (
        ("off", off, "off board", use("camel", 26, y + 3, 0.52, f' fill="{colour("muted")}"')),
        ("theft", side["theft"], "theft", use("theft", 140, y - 5, 0.9)),
        ("coins", side["markers"], "markers", use("coin", 218, y - 5, 0.9)),
    )
    for (css, count, label, icon), x in zip(fields, (46, 154, 232), strict=True):
        words = f'<text x="{x}" y="{num(y)}" font-size="13" class="m"><tspan class="v">{count}</tspan> {label}</text>'
        yield f'<g class="{css}" data-count="{count}">{icon}{words}</g>'


def _bag(struct: Mapping[str, Any]) -> Iterable[str]:
    total = sum(struct["bag"].values())
    if total == 0 and struct["phase"] == "play":
        yield text(16, 27, "Bag empty: a delivery ends the game", size=13.5)
    else:
        yield text(16, 27, f"Bag: {total}", "b", 16)
    for k, good in enumerate(GOODS):
        x, y = 28 + 76 * (k % 4), 52 + 40 * (k // 4)
        faint = "" if struct["bag"][good] else ' opacity=".45"'
        yield (
            f'<g class="bag" data-good="{good}" data-count="{struct["bag"][good]}"{faint}>{use(good, x, y, 0.95)}'
            + text(x + 16, y + 1, str(struct["bag"][good]), "b", 16)
            + text(x + 16, y + 14, good, "m", 12.5)
            + "</g>"
        )


def _legend() -> Iterable[str]:
    camel = f' fill="{colour("muted")}"'
    yield use("camel", 28, 42, 0.6, camel) + use("meat", 26, 20, 0.55) + text(54, 33, "good on top", size=13.5)
    stolen = _load(_Camel(None, "", "meat", True))
    yield use("camel", 28, 84, 0.6, camel) + f'<g transform="translate(28 84) scale(.6)">{stolen}</g>'
    yield text(54, 78, "stolen good", size=13.5)
    yield use("coin", 172, 28, 0.95) + text(172, 33, "1", "b mid k", 14) + text(190, 33, "demand marker", size=13.5)
    yield use("theft", 172, 73, 0.95) + text(190, 78, "theft marker", size=13.5)


def _summary(struct: Mapping[str, Any]) -> str:
    """Describe a position in one sentence, for screen readers."""
    scores = ", ".join(f"seat {k}: {side['score']:g} points" for k, side in enumerate(struct["seats"]))
    return f"Caravan. {_headline(struct)}. {scores}."
