"""Draws a position as an SVG: the map with its tiles, chips and figures, and a panel per seat.

Every element that shows a piece carries it in `class` and `data-` attributes, one element a line. `art` has the tiles
and signs, `board` what is printed on the map, `panels` what stands beside it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from caravan_env.core import svg
from caravan_env.core.svg import Box, boxed, colour, num, rect, text
from caravan_env.games.ukraine import art, board, faces, panels
from caravan_env.games.ukraine.tables import (
    CHIPS,
    SQUARE_NAMES,
    TILE_NUMBERS,
    TILES,
    Map,
    load_map,
    segment_name,
    square_number,
)

SEAT_COLOURS = svg.SEAT_COLOURS
Struct = Mapping[str, Any]

# ------------------------------------------------------------------------------------------------------------- layout

MARGIN, GAP = 12, 8
TABLE, HEIGHT, STATUS = 1040, 780, 62
MAP = HEIGHT - 2 * MARGIN - STATUS - GAP
WIDE = (MARGIN + TABLE + GAP + panels.WIDTH + MARGIN, HEIGHT)
COLUMN = (TABLE - GAP) / 2  # how wide panels are in the tall layout, in which they stand two by two
MOST_WITH_LEGEND = 4


def draw_svg(
    struct: Mapping[str, Any], highlight: str | None = None, *, theme: str = "auto", names: Sequence[str] = ()
) -> str:
    """Draw a position.

    Args:
        struct: a position as described in docs/formats-ukraine.md, or what `hide` leaves of it.
        highlight: the words of the action or outcome that led to it; rings and the box at the top show it.
        theme: "auto" follows the system or the page; "light" and "dark" have fixed colours and no custom properties,
            which programs that turn SVG into pixels need.
        names: who plays, one name per seat; shown in the panels.

    Returns:
        The text of an `<svg>` element. Below the class `tall` the panels stand under the map instead of beside it;
        `data-tall-viewbox` holds the view box that goes with it.
    """
    printed, words = load_map(struct["params"]["map"]), highlight or ""
    boxes, tall_height = _arrange(len(struct["seats"]))
    lines = [
        *boxed("status", boxes["status"], _status(struct, printed, words)),
        *boxed("map", boxes["map"], _map(struct, printed, words)),
        *_side(struct, boxes, names),
    ]
    shown = {laid["tile"] for laid in struct["tiles"]} | ({struct["tile"]} - {None})
    return svg.picture(
        lines,
        theme=theme,
        colours=art.PALETTE,
        definitions=art.definitions(shown),
        boxes=boxes,
        wide=WIDE,
        tall=(TABLE + 2 * MARGIN, tall_height),
        label=_summary(struct),
    )


def hide(struct: Mapping[str, Any], seat: int) -> dict[str, Any]:
    """Return what a seat may know of a position: of other hands and of the supply only how many chips (RULES H3).

    Args:
        struct: a position as described in docs/formats-ukraine.md.
        seat: who looks at it.

    Returns:
        The position, to be drawn only; the chips that the seat does not know are counted as `face down`.
    """
    seats = [
        side if other == seat else side | {"chips": _face_down(side["chips"])}
        for other, side in enumerate(struct["seats"])
    ]
    return {**struct, "seats": seats, "supply": _face_down(struct["supply"])}


def hide_outcome(words: str) -> str:
    """Return a chance outcome in the turn of another seat as the others may know it (RULES H3)."""
    return "draw a chip" if words.removeprefix("draw ") in CHIPS else words


def _face_down(chips: Mapping[str, int]) -> dict[str, int]:
    """Return chips of which only the number is known; a supply that is not in play stays empty."""
    return {art.FACE_DOWN: sum(chips.values())} if chips else {}


def _arrange(players: int) -> tuple[dict[str, Box], float]:
    """Return the boxes by name, and the height of the tall layout."""
    legend = players <= MOST_WITH_LEGEND
    room = HEIGHT - 2 * MARGIN - panels.HAND - GAP - (panels.LEGEND + GAP) * legend
    seat = (room - GAP * (players - 1)) / players
    sides = {"hand": float(panels.HAND)} | {f"panel{k}": seat for k in range(players)}
    sides |= {"legend": float(panels.LEGEND)} if legend else {}
    table = {"status": float(STATUS), "map": float(MAP)}
    wide = svg.stacked(list(table), table, MARGIN, MARGIN, GAP)
    tall = dict(wide)
    wide |= svg.stacked(list(sides), sides, MARGIN + TABLE + GAP, MARGIN, GAP)
    places, height = _two_by_two(sides)
    tall |= places
    boxes = {name: Box(TABLE, high, wide[name], tall[name]) for name, high in table.items()}
    scale = COLUMN / panels.WIDTH
    boxes |= {name: Box(panels.WIDTH, high, wide[name], tall[name], scale) for name, high in sides.items()}
    return boxes, height


def _two_by_two(sides: Mapping[str, float]) -> tuple[dict[str, tuple[float, float]], float]:
    """Return the places of the panels below the map, and where they end."""
    scale, names = COLUMN / panels.WIDTH, list(sides)
    places, y = {}, float(HEIGHT - MARGIN + GAP)
    for k in range(0, len(names), 2):
        pair = names[k : k + 2]
        for x, name in zip((MARGIN, MARGIN + COLUMN + GAP), pair, strict=False):
            places[name] = (x, y)
        y += scale * max(sides[name] for name in pair) + GAP
    return places, y - GAP + MARGIN


# ------------------------------------------------------------------------------------------------------------- status


def _status(struct: Struct, printed: Map, words: str) -> Iterable[str]:
    yield text(16, 26, _headline(struct), "b", 19)
    yield text(16, 48, _subline(struct), size=15.5)
    yield text(TABLE - 16, 26, words, "b end event", 15)
    yield text(TABLE - 16, 48, f"Map: {printed.name} ({printed.mark})", "m end", 14.5)


def _headline(struct: Struct) -> str:
    if struct["phase"] == "over":
        return "Game over"
    if struct["seat"] < 0:
        return "Set-up"
    extra = ", extra part-turn of the builder" if struct["extra"] else ""
    return f"Seat {struct['seat']} ({svg.SEAT_NAMES[struct['seat']]}){extra}"


def _subline(struct: Struct) -> str:
    again = "; the builder has earned another part-turn" if struct["again"] else ""
    return _what_comes(struct) + again


def _what_comes(struct: Struct) -> str:
    phase, pending = struct["phase"], struct["pending"] or {}
    if phase == "over":
        return _outcome(struct)
    if phase == "chip":
        draws = pending["draws"]
        return f"{draws} chip{'s are' if draws > 1 else ' is'} drawn"
    if phase == "trade":
        return f"Trading at {pending['square']}: {', '.join(pending['chips']) or 'no chip yet'}"
    if phase in ("start", "lay"):
        return f"{struct['tile']} is laid on a start square"
    return {
        "second": "The second tile is drawn",
        "tile": "A tile is drawn",
        "place": f"Laying {struct['tile']}",
        "figure": "A figure, a trade, or neither",
    }[phase]


def _winners(struct: Struct) -> list[int]:
    """Return the seats that won (RULES E5); none while the game goes on."""
    if struct["phase"] != "over":
        return []
    scores = [side["score"] for side in struct["seats"]]
    return [seat for seat, score in enumerate(scores) if score == max(scores)]


def _outcome(struct: Struct) -> str:
    winners = _winners(struct)
    if len(winners) == 1:
        return f"Seat {winners[0]} ({svg.SEAT_NAMES[winners[0]]}) wins"
    return f"Seats {', '.join(map(str, winners))} share the win"


# ---------------------------------------------------------------------------------------------------------------- map


def _map(struct: Struct, printed: Map, words: str) -> Iterable[str]:
    squares = [square_number(laid["square"]) for laid in struct["tiles"]]
    columns, rows = board.view(printed, squares)
    left, top = board.CELL * columns.start - 74, board.CELL * rows.start - 62
    size = f"{board.CELL * len(columns) + 112} {board.CELL * len(rows) + 100}"
    yield (
        f'<svg class="cvn-board" x="3" y="3" width="{TABLE - 6}" height="{MAP - 6}" viewBox="{left} {top} {size}"'
        ' preserveAspectRatio="xMidYMid meet">'
    )
    yield board.ground(printed)
    yield from board.labels(columns, rows)
    yield from map(_tile, struct["tiles"])
    for square, chips in struct["chumak"].items():
        yield from _chips(square, chips)
    yield from _marks(struct, words)
    yield from _figures(struct["tiles"])
    yield board.names_and_pointables(printed)
    yield from _points(struct["events"])
    yield from _segments(struct)
    yield "</svg>"


def _tile(laid: Struct) -> str:
    return _tile_line(laid["square"], laid["tile"], laid["turned"])


@functools.lru_cache(maxsize=4096)
def _tile_line(square: str, tile: str, turned: int) -> str:
    x, y = board.middle(square_number(square))
    data = f' data-square="{square}" data-tile="{tile}" data-turned="{turned}" transform="translate({x} {y})"'
    return faces.tile(TILE_NUMBERS[tile], turned, data)


def _chips(name: str, chips: Sequence[str]) -> Iterable[str]:
    x, y = board.middle(square_number(name))
    for (a, b), chip in zip(board.CHIP_SPOTS, sorted(chips, key=CHIPS.index), strict=False):
        yield art.chip(chip, x + a, y + b, 1.15, f' data-square="{name}"')


def _figures(tiles: Sequence[Struct]) -> Iterable[str]:
    for laid in tiles:
        if laid["figure"]:
            yield _figure(laid, **laid["figure"])


def _figure(laid: Struct, seat: int, kind: str, segment: str) -> str:
    at = _spots(laid["square"], laid["tile"], laid["turned"])[segment]
    data = f' data-kind="{kind}" data-segment="{segment}" data-seat="{seat}" data-at="{laid["square"]}"'
    title = f"<title>{kind} of seat {seat} on {segment}, {laid['square']}</title>"
    return art.figure(kind, seat, at, 1.15, segment.startswith("field"), data, title)


@functools.lru_cache(maxsize=4096)
def _spots(square: str, tile: str, turned: int) -> dict[str, faces.Point]:
    """Return where on the map the figures of each segment of a laid tile stand, by the names of the segments."""
    x, y = board.middle(square_number(square))
    number = TILE_NUMBERS[tile]
    points = [faces.rotate(anchor, turned) for anchor in faces.anchors(number)]
    return {segment_name(TILES[number], k, turned): (x + a, y + b) for k, (a, b) in enumerate(points)}


# -------------------------------------------------------------------------------------------------------------- marks


def _marks(struct: Struct, words: str) -> Iterable[str]:
    """Yield what has just happened: features that paid, the last tile, the square that the words name."""
    for event in struct["events"]:
        yield _feature(event)
    if struct["tiles"]:
        yield _ring(struct["tiles"][-1]["square"], "last", 4)
    named = re.search(r" at ([A-T]\d+)\b", words)
    if named and named[1] in SQUARE_NAMES:
        yield _ring(named[1], "highlight", 9)


def _ring(name: str, css: str, width: float) -> str:
    x, y = board.corner(square_number(name))
    ring = svg.ring(x + 1, y + 1, 98, 98, colour("mark"), 8) if css == "highlight" else ""
    ring += f'<rect x="{x + 2}" y="{y + 2}" width="96" height="96" rx="7" stroke="{colour("mark")}"'
    return f'<g class="{css}" data-ring="{name}" fill="none" pointer-events="none">{ring} stroke-width="{width}"/></g>'


def _feature(event: Struct) -> str:
    """Return the squares of a feature that paid, in the colour of who got most."""
    squares = [square_number(name) for name in event["squares"]]
    best = max(range(len(event["points"])), key=lambda seat: event["points"][seat])
    own = colour(f"seat{best}" if event["points"][best] else "muted")
    return (
        f'<g class="scored" data-event="{event["kind"]}" pointer-events="none">'
        f'<path d="{board.squares_path(squares)}" fill="{own}" fill-opacity=".22"/>'
        f'<path d="{board.outline(squares)}" stroke="{own}" stroke-width="8" stroke-linecap="round"/></g>'
    )


def _points(events: Sequence[Struct]) -> Iterable[str]:
    """Yield what features have paid, in the middle of each: points per seat, and goods."""
    for event in events:
        places = [board.middle(square_number(name)) for name in event["squares"]]
        x, y = (sum(place[k] for place in places) / len(places) for k in (0, 1))
        x, y = min(places, key=lambda place: (place[0] - x) ** 2 + (place[1] - y) ** 2)
        paid = [(seat, points) for seat, points in enumerate(event["points"]) if points]
        signs = [_plaque(seat, points) for seat, points in paid]
        signs += [_gained(good, count) for good, count in event["goods"].items()]
        drawn = "".join(
            f'<g transform="translate({num(x)} {num(y + 40 * (k - (len(signs) - 1) / 2))})">{sign}</g>'
            for k, sign in enumerate(signs)
        )
        yield f'<g class="paid" pointer-events="none">{drawn}</g>'


def _plaque(seat: int, points: float) -> str:
    words = f"+{svg.points(points)}"
    width = 26 + 16 * len(words)
    frame = f'rx="17" stroke="#fff" stroke-width="3" data-seat="{seat}" data-points="{svg.points(points)}"'
    return rect(-width / 2, -18, width, 36, colour(f"seat{seat}"), frame) + text(0, 10, words, "b mid w", 28)


def _gained(good: str, count: int) -> str:
    number = text(6, 10, f"×{count}", "b", 26) if count > 1 else ""
    return svg.use(good, -10 if count > 1 else 0, 0, 1.25) + number


def _segments(struct: Struct) -> Iterable[str]:
    """Yield a point to click on for each segment of the tile just laid, while a figure may be put there."""
    if struct["phase"] != "figure":
        return
    laid = struct["tiles"][-1]
    for name, (x, y) in _spots(laid["square"], laid["tile"], laid["turned"]).items():
        kind, *places = name.split()
        data = f'data-segment="{name}" data-word="{places[0] if kind == "field" else kind}"'
        dot = f'r="7.5" fill="{colour("white")}" stroke="{colour("ink")}" stroke-width="2.5"'
        yield f'<circle class="segment" {data} cx="{num(x)}" cy="{num(y)}" {dot}/>'


# -------------------------------------------------------------------------------------------------------------- panels


def _side(struct: Struct, boxes: Mapping[str, Box], names: Sequence[str]) -> Iterable[str]:
    over, winners = struct["phase"] == "over", _winners(struct)
    yield from boxed("hand", boxes["hand"], panels.final_lines(struct) if over else panels.hand_lines(struct))
    params = struct["params"]
    show = (bool(struct["supply"]), params["traders"] and params["expansion_rules"] == "full")
    for seat, side in enumerate(struct["seats"]):
        box = boxes[f"panel{seat}"]
        name = names[seat] if seat < len(names) else ""
        lines = panels.seat_lines(seat, side, box.height, name=name, won=seat in winners, show=show, over=over)
        edge = colour(f"seat{seat}") if struct["seat"] == seat and not over else ""
        yield from boxed(f"panel{seat}", box, lines, edge, f' data-seat="{seat}"')
    if "legend" in boxes:
        yield from boxed("legend", boxes["legend"], panels.legend_lines())


def _summary(struct: Struct) -> str:
    """Describe a position in one sentence, for screen readers."""
    scores = ", ".join(svg.points(side["score"]) for side in struct["seats"])
    return f"Carcassonne on the map of Ukraine. {_headline(struct)}. {_subline(struct)}. Scores: {scores}."
