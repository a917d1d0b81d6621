"""Draws a position of Century as an SVG: point cards and merchants on the table, and a panel per seat.

Every element that shows a piece carries it in `class` and `data-` attributes, one element a line. `art` has the cards
and cubes, `panels` what stands beside the table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from caravan_env.core import svg
from caravan_env.core.svg import Box, boxed, colour, rect, text, use
from caravan_env.games.century import art, panels
from caravan_env.games.century.rules import EXPERT_COIN_POINTS
from caravan_env.games.century.tables import CARAVAN, COVERED_BY, POINT_ROW, ROW, SEATS

SEAT_COLOURS = svg.SEAT_COLOURS[:SEATS]
FACE_DOWN = "face down"
Struct = Mapping[str, Any]

# ------------------------------------------------------------------------------------------------------------- layout

MARGIN, GAP = 12, 8
HEIGHT = 640
TABLE = 640
STATUS, POINTS, PYRAMID = 66, 166, 266
MERCHANTS = HEIGHT - 2 * MARGIN - STATUS - PYRAMID - 2 * GAP
LEGEND = PYRAMID - POINTS - GAP
WIDE = (MARGIN + TABLE + GAP + panels.WIDTH + MARGIN, HEIGHT)
PAD = 12
INNER = TABLE - 2 * PAD
POINT_Y, PYRAMID_Y, PYRAMID_SCALE = 92, 36, 1.06
MERCHANT_Y, SHELF = 52, 56  # where merchants begin, and the height of what lies on them


def draw_svg(
    struct: Mapping[str, Any], highlight: str | None = None, *, theme: str = "auto", names: Sequence[str] = ()
) -> str:
    """Draw a position.

    Args:
        struct: a position as described in docs/formats-century.md.
        highlight: the words of the action or outcome that led to it; rings and the box at the top show it.
        theme: "auto" follows the system or the page; "light" and "dark" have fixed colours and no custom properties,
            which programs that turn SVG into pixels need.
        names: who plays, one name per seat; shown in the panels.

    Returns:
        The text of an `<svg>` element. Below the class `tall` the panels stand under the table instead of beside it;
        `data-tall-viewbox` holds the view box that goes with it.
    """
    boxes, tall_height = _arrange(len(struct["seats"]))
    event = _read_event(struct, highlight or "")
    lines = [
        *boxed("status", boxes["status"], _status(struct, event)),
        *boxed("points", boxes["points"], _points(struct, event), colour("frame")),
        *boxed("merchants", boxes["merchants"], _merchants(struct, event), colour("frame")),
        *_panels(struct, event, boxes, names),
    ]
    return svg.picture(
        lines,
        theme=theme,
        colours=art.PALETTE,
        definitions=art.definitions(),
        boxes=boxes,
        wide=WIDE,
        tall=(TABLE + 2 * MARGIN, tall_height),
        label=_summary(struct),
    )


def _arrange(players: int) -> tuple[dict[str, Box], float]:
    """Return the boxes by name, and the height of the tall layout, in which panels are as wide as the table."""
    room = HEIGHT - 2 * MARGIN
    if players == 1:
        table: dict[str, float] = {"status": STATUS, "points": PYRAMID, "merchants": MERCHANTS}
        sides = {"panel0": room - panels.AUTOMA_HEIGHT - GAP, "automa": float(panels.AUTOMA_HEIGHT)}
    else:
        table = {"status": STATUS, "points": POINTS, "merchants": MERCHANTS, "legend": LEGEND}
        sides = {f"panel{seat}": (room - GAP * (players - 1)) / players for seat in range(players)}
    scale = TABLE / panels.WIDTH
    heights = table | {name: height * scale for name, height in sides.items()}
    order = [name for name in heights if name != "legend"] + ["legend"] * ("legend" in heights)
    tall = svg.stacked(order, heights, MARGIN, MARGIN, GAP)
    wide = svg.stacked(list(table), table, MARGIN, MARGIN, GAP)
    wide |= svg.stacked(list(sides), sides, MARGIN + TABLE + GAP, MARGIN, GAP)
    boxes = {name: Box(TABLE, height, wide[name], tall[name]) for name, height in table.items()}
    boxes |= {name: Box(panels.WIDTH, height, wide[name], tall[name], scale) for name, height in sides.items()}
    return boxes, tall[order[-1]][1] + heights[order[-1]] + MARGIN


# -------------------------------------------------------------------------------------------------------------- event


class _Event(NamedTuple):
    """What led to a position: its words, the first of them, and the card, colours and place that they name.

    `merchant` and `point` are places from 1, 0 if none is to be marked.
    """

    words: str = ""
    kind: str = ""
    card: str = ""
    cubes: str = ""
    merchant: int = 0
    point: int = 0


_WORDS = [
    re.compile(pattern)
    for pattern in (
        r"(?P<kind>done|rest)",
        r"(?P<kind>play) (?P<card>\S+)",
        r"(?P<kind>trade) once more",
        r"(?P<kind>upgrade) (?P<cubes>[YRG] to [RGB])",
        r"(?P<kind>pay|return) (?P<cubes>[YRGB])",
        r"(?P<kind>acquire) (?P<card>\S+) at place (?P<merchant>[1-6])",
        r"(?P<kind>claim) (?P<card>\S+) at place (?P<point>[1-9]|10)",
        r"(?P<kind>draw) (?P<card>\S+) for merchant place (?P<merchant>[1-6])",
        r"(?P<kind>draw) (?P<card>\S+) for point place (?P<point>[1-9]|10)",
        r"(?P<kind>roll) (?P<merchant>[1-6])",
    )
]


def _read_event(struct: Struct, words: str) -> _Event:
    """Find out what the words of an action or outcome are about; other words mark nothing."""
    found = next(filter(None, (pattern.fullmatch(words) for pattern in _WORDS)), None)
    if found is None:
        return _Event()
    parts = found.groupdict()
    event = _Event(words, parts["kind"], parts.get("card", ""), parts.get("cubes", "").replace(" to ", ""))
    event = event._replace(merchant=int(parts.get("merchant", 0)), point=int(parts.get("point", 0)))
    if event.kind == "pay" and struct["phase"] == "pay":
        return event._replace(merchant=struct["pending"]["paid"])
    return event


def _mover(struct: Struct, event: _Event) -> int:
    """Return the seat whose action led to the position; -1 if none did. A turn that begins follows that of another."""
    if event.kind in ("", "draw", "roll"):
        return -1
    players = len(struct["seats"])
    if players == 1:
        return 0
    seat: int = struct["seat"]
    return (seat - 1) % players if struct["phase"] == "turn" else seat


def _part(struct: Struct, event: _Event) -> str:
    """Return what to mark in the mover's panel."""
    if event.kind == "trade" and struct["phase"] == "trade":
        return str(struct["pending"]["card"])
    if event.kind == "acquire" and struct["phase"] == "pay":
        return ""
    if event.kind == "rest":
        return panels.CARDS
    return panels.TRAY if event.kind in ("trade", "upgrade", "pay", "return") else event.card


# ------------------------------------------------------------------------------------------------------------- status


def _status(struct: Struct, event: _Event) -> Iterable[str]:
    yield text(16, 28, _headline(struct), "b", 20)
    yield text(16, 52, _subline(struct), size=16)
    if event.words:
        symbol = "".join(_symbol(event))
        yield text(TABLE - 104, 38, event.words, "m end", 14)
        yield f'<g class="event" data-kind="{event.kind}" transform="translate({TABLE - 52} 33)">{symbol}</g>'


def _symbol(event: _Event) -> Iterable[str]:
    """Yield a picture of an event around the origin, at most 88 wide and 58 high."""
    if event.kind == "roll":
        yield use(f"die{event.merchant}", 0, 0, 1.3)
    elif event.card in art.MERCHANT_IDS:
        yield use(art.MERCHANT_IDS[event.card], -0.19 * art.MERCHANT[0], -0.19 * art.MERCHANT[1], 0.38)
    elif event.card in art.POINT_IDS:
        yield use(art.POINT_IDS[event.card], -0.38 * art.POINT[0], -0.38 * art.POINT[1], 0.76)
    elif event.kind == "upgrade":
        yield use(event.cubes[0], -26, 0, 1.1) + art.onward(0, 0) + use(event.cubes[1], 26, 0, 1.1)
    elif event.cubes:
        yield text(-16, 8, "−", "b mid", 26) + use(event.cubes, 10, 0, 1.2)


def _headline(struct: Struct) -> str:
    if struct["phase"] == "over":
        return "Game over at the turn limit" if struct["truncated"] else f"Game over in round {struct['round']}"
    if struct["round"] == 0:
        return "Set-up"
    if struct["automa"] is not None:
        return f"Round {struct['round']}: the {'automa' if struct['seat'] < 0 else 'player'}"
    return f"Round {struct['round']}: seat {struct['seat']} ({svg.SEAT_NAMES[struct['seat']]})"


def _subline(struct: Struct) -> str:
    phase, pending = struct["phase"], struct["pending"] or {}
    if phase == "over":
        return _outcome(struct)
    if phase == "trade":
        return f"Trading with {pending['card']}, once more or not"
    if phase == "upgrade":
        return f"{_counted(pending['steps'], 'upgrade step')} left with {pending['card']}"
    if phase == "pay":
        return f"{pending['paid']} of {_counted(pending['place'] - 1, 'cube')} paid for place {pending['place']}"
    if phase == "return":
        excess = sum(struct["seats"][struct["seat"]]["cubes"].values()) - CARAVAN
        return f"{_counted(excess, 'cube')} too many, to be returned"
    if phase == "merchant":
        return f"A merchant is drawn for place {_open_merchant(struct)}"
    if phase == "point":
        return f"A point card is drawn for place {_open_point(struct)}"
    return "The die is rolled" if phase == "roll" else "A turn begins"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _outcome(struct: Struct) -> str:
    if struct["automa"] is None:
        return f"Seat {_winner(struct)} wins"
    own, other = struct["seats"][0]["score"], struct["automa"]["score"]
    verb = "wins" if own > other else "does not win, a tie is not enough" if own == other else "loses"
    return f"{'Not won' if struct['truncated'] else f'The player {verb}'}: {own:g} to {other:g} points"


def _winner(struct: Struct) -> int | None:
    """Return the seat that won, -1 for the automa, None for nobody (RULES E3, O11, O12)."""
    if struct["phase"] != "over":
        return None
    best, seat = max((side["score"], seat) for seat, side in enumerate(struct["seats"]))
    if struct["automa"] is None:
        return int(seat)
    if struct["truncated"] or best == struct["automa"]["score"]:
        return None
    return 0 if best > struct["automa"]["score"] else -1


# -------------------------------------------------------------------------------------------------------------- table


def _cloth(height: float, title: str, deck: str) -> Iterable[str]:
    yield rect(3, 3, TABLE - 6, height - 6, colour("cloth"), 'rx="8"')
    yield text(PAD + 4, 25, title, "b", 16)
    yield text(TABLE - PAD - 4, 25, deck, "m end", 14)


def _points(struct: Struct, event: _Event) -> Iterable[str]:
    deck, solo = len(struct["point_deck"]), struct["automa"] is not None
    if solo:
        yield from _cloth(PYRAMID, "Point cards", f"{deck} unseen")
        yield art.ladder(PAD + 14, PYRAMID - 28)
        yield text(TABLE - PAD - 4, PYRAMID - 23, panels.PALE, "m end", 14)
    else:
        yield from _cloth(POINTS, "Point cards", f"{deck} in the deck")
        yield from _piles(struct["coins"])
    scale, corner = (PYRAMID_SCALE, _pyramid_corner) if solo else (1, _row_corner)
    drawn = _open_point(struct)
    for place in range(len(struct["points"]), 0, -1):
        yield from _point(struct["points"][place - 1], place, *corner(place), scale, place == drawn)
    if event.point:
        x, y = corner(event.point)
        box = (x - 3, y - 3, scale * art.POINT[0] + 6, scale * art.POINT[1] + 6, 10)
        yield art.faint_mark(*box, "highlight source") if event.kind == "claim" else art.mark(*box)


def _row_corner(place: int) -> tuple[float, float]:
    return PAD + (place - 1) * (INNER - art.POINT[0]) / (POINT_ROW - 1), POINT_Y


def _pyramid_corner(place: int) -> tuple[float, float]:
    """Return the corner of a place of the inverted pyramid, whose longer rows are higher (O1)."""
    row = (math.isqrt(8 * place - 7) - 1) // 2
    column = place - 1 - row * (row + 1) // 2
    width, height = (PYRAMID_SCALE * size for size in art.POINT)
    return (TABLE - width) / 2 + (column - row / 2) * (width + 10), PYRAMID_Y + (3 - row) * (height - 10)


def _open_point(struct: Struct) -> int:
    """Return the place that a point card is drawn for, 0 in other phases: the first empty, or uncovered one (O2)."""
    if struct["phase"] != "point":
        return 0
    places = struct["points"]
    if struct["automa"] is None:
        return int(places.index(None)) + 1
    free = (all(places[cover] is None for cover in COVERED_BY[k]) for k in range(len(places)))
    return [card == FACE_DOWN and uncovered for card, uncovered in zip(places, free, strict=True)].index(True) + 1


def _point(card: str | None, place: int, x: float, y: float, scale: float, drawn: bool) -> Iterable[str]:
    size = (scale * art.POINT[0], scale * art.POINT[1])
    data = f' data-place="{place}"'
    if card is None:
        yield _hollow("point", place, x, y, size)
    elif card == FACE_DOWN:
        yield use("back", x, y, scale, f' class="point back"{data}')
    else:
        yield use(art.POINT_IDS[card], x, y, scale, f' class="point card"{data} data-card="{card}"')
    if drawn:
        yield _awaited(x, y, size)


def _hollow(kind: str, place: int, x: float, y: float, size: tuple[float, float]) -> str:
    """Return a place without a card."""
    edge = f'rx="7" stroke="{colour("rim")}" stroke-width="1.2" stroke-dasharray="4 5"'
    hollow = rect(x + 5, y + 5, size[0] - 10, size[1] - 10, colour("hollow"), edge)
    return f'<g class="place {kind}" data-place="{place}">{hollow}</g>'


def _awaited(x: float, y: float, size: tuple[float, float]) -> str:
    """Return a question mark where a card is about to be drawn."""
    x, y = x + size[0] / 2, y + size[1] / 2
    disc = f'<circle cx="{x:g}" cy="{y:g}" r="17" fill="{colour("panel")}" stroke="{colour("rim")}"/>'
    return f'<g class="awaited">{disc}{text(x, y + 8, "?", "b mid", 23)}</g>'


def _piles(coins: Mapping[str, int]) -> Iterable[str]:
    """Yield the coins that lie at the first two places (C2, C3)."""
    kinds = ["gold", "silver"] if coins["gold"] else ["silver"]
    for place, kind in enumerate(kinds, start=1):
        if coins[kind]:
            x = _row_corner(place)[0] + art.POINT[0] / 2 - 16
            yield art.coins(kind, coins[kind], x, 66, 1.25, f' data-place="{place}"')


def _merchants(struct: Struct, event: _Event) -> Iterable[str]:
    yield from _cloth(MERCHANTS, "Merchants", f"{len(struct['merchant_deck'])} in the deck")
    for place, laid in enumerate(struct["merchants"], start=1):
        yield from _merchant(place, laid)
    if struct["phase"] == "merchant":
        yield _awaited(_merchant_x(_open_merchant(struct)), MERCHANT_Y, art.MERCHANT)
    if struct["phase"] == "pay":
        yield art.faint_mark(*_around_merchant(struct["pending"]["place"]), "pending")
    if event.kind == "acquire" and struct["phase"] != "pay":
        yield art.faint_mark(*_around_merchant(event.merchant), "highlight source")
    elif event.merchant:
        yield art.mark(*_around_merchant(event.merchant))


def _open_merchant(struct: Struct) -> int:
    return [laid["card"] for laid in struct["merchants"]].index(None) + 1


def _merchant_x(place: int) -> float:
    return PAD + (place - 1) * (INNER - art.MERCHANT[0]) / (ROW - 1)


def _around_merchant(place: int) -> tuple[float, float, float, float, float]:
    width, height = art.MERCHANT
    return _merchant_x(place) - 3, MERCHANT_Y - 3, width + 6, height + SHELF + 6, 10


def _merchant(place: int, laid: Mapping[str, Any]) -> Iterable[str]:
    """Yield a place of the row: its price (A1), its card, and below it what lies on the card."""
    x, y = _merchant_x(place), MERCHANT_Y
    (width, height), card = art.MERCHANT, laid["card"]
    if card is None:
        yield text(x + width / 2, y - 8, str(place), "m mid", 12.5)
        yield _hollow("merchant", place, x, y, art.MERCHANT)
        return
    price = "free" if place == 1 else _counted(place - 1, "cube")
    yield text(x + width / 2, y - 8, f"{place}: {price}", "m mid", 12.5)
    edge = f'rx="8" stroke="{colour("rim")}" stroke-width="1.5"'
    yield rect(x + 0.75, y + height - 20, width - 1.5, SHELF + 19, colour("slot"), edge)
    data = f' data-place="{place}"'
    yield use(art.MERCHANT_IDS[card], x, y, 1, f' class="merchant card"{data} data-card="{escape(card)}"')
    names = art.names_of(laid["cubes"])
    if names:
        yield f'<g class="lying"{data} data-cubes="{names}">{_lying(names, x + width / 2, y + height)}</g>'


def _lying(names: str, middle: float, top: float) -> str:
    """Return the cubes that lie on a merchant: one by one, or counted if they are many."""
    if len(names) > 6:
        return art.tally(names, 2, middle - 31, top + 15, 44, 0.85)
    rows = 1 if len(names) <= 3 else 2
    return art.centred(names, middle, top + (SHELF - rows * art.PITCH) / 2)


# ------------------------------------------------------------------------------------------------------------- panels


def _panels(struct: Struct, event: _Event, boxes: Mapping[str, Box], names: Sequence[str]) -> Iterable[str]:
    mover, winner, over = _mover(struct, event), _winner(struct), struct["phase"] == "over"
    for seat, side in enumerate(struct["seats"]):
        box = boxes[f"panel{seat}"]
        name = names[seat] if seat < len(names) else ""
        part = _part(struct, event) if seat == mover else ""
        lines = panels.seat_lines(seat, side, box.height, name=name, part=part, won=seat == winner)
        edge = colour(f"seat{seat}") if struct["seat"] == seat and not over else ""
        yield from boxed(f"panel{seat}", box, lines, edge, f' data-seat="{seat}"')
    if struct["automa"] is None:
        yield from boxed("legend", boxes["legend"], panels.legend_lines())
        return
    edge = colour("alarm") if struct["seat"] < 0 < struct["round"] and not over else ""
    lines = panels.automa_lines(struct["automa"], EXPERT_COIN_POINTS if struct["params"]["expert"] else 1, winner == -1)
    yield from boxed("automa", boxes["automa"], lines, edge)


def _summary(struct: Struct) -> str:
    """Describe a position in one sentence, for screen readers."""
    scores = ", ".join(svg.points(side["score"]) for side in struct["seats"])
    automa = f"; automa: {svg.points(struct['automa']['score'])}" if struct["automa"] is not None else ""
    return f"Century. {_headline(struct)}. {_subline(struct)}. Scores: {scores}{automa}."
