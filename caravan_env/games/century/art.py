"""What the pictures of Century are made of: colours, cubes, coins, the die, the faces of all cards."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from caravan_env.core import svg
from caravan_env.core.svg import colour, num, rect, text, use
from caravan_env.games.century.tables import CARDS, COLOURS, Merchant, PointCard, letters

#: Custom property -> (light, dark).
PALETTE = svg.COLOURS | {
    "cloth": ("#ecd9b4", "#332d27"),
    "hollow": ("#e5d1a8", "#2b2621"),
    "card": ("#fffaf0", "#4b443c"),
    "gain": ("#f6e8cb", "#5a5146"),
    "rim": ("#b89b6c", "#85775f"),
    "arrow": ("#7d6a4d", "#cfbfa3"),
    "back": ("#8c3b3b", "#6d3434"),
    "backline": ("#d9a58f", "#b47a6c"),
    "seal": ("#8c3b3b", "#b35a52"),
    "slot": ("#f0e6d2", "#1f1d22"),
    "silver": ("#c9ced6", "#c3c8d1"),
    "Y": ("#f6c52f", "#f8cf4c"),
    "R": ("#d5382b", "#e5493b"),
    "G": ("#2f9148", "#3fa95a"),
    "B": ("#774621", "#9c6736"),
}

#: Width and height of the faces, and how far cubes stand apart: on cards, and elsewhere.
MERCHANT = (92, 146)
POINT = (112, 60)
PITCH = 26
CELL = 29
_ON_FACE = 1.06  # how much larger cubes are on the face of a merchant

#: Each cube in a box from -12 to 12: an own shape, and its letter, so that no colour is needed to tell them apart.
SHAPES: dict[str, str] = {
    "Y": '<circle r="11"/>',
    "R": '<rect x="-10.5" y="-10.5" width="21" height="21" rx="3"/>',
    "G": '<path d="M0-11.5L11.5 9.5H-11.5Z"/>',
    "B": '<path d="M0-12.5L12.5 0L0 12.5L-12.5 0Z"/>',
}
_LETTERS: dict[str, str] = {
    "Y": "M-3.6-5L0 .3L3.6-5M0 .3V5.4",
    "R": "M-3 5.2V-5H.6A2.9 2.9 0 0 1 .6 .8H-3M.4 .8L3.6 5.2",
    "G": "M3 .4A3.6 3.6 0 1 0 3.4 4.2V3.2H.6",
    "B": "M-2.8 4.8V-4.8H.4A2.3 2.3 0 0 1 .4-.2H-2.8M.4-.2A2.5 2.5 0 0 1 .4 4.8H-2.8",
}
_PIPS = {1: ((0, 0),), 2: ((-1, -1), (1, 1)), 3: ((-1, -1), (0, 0), (1, 1)), 4: ((-1, -1), (1, -1), (-1, 1), (1, 1))}
_PIPS |= {5: (*_PIPS[4], (0, 0)), 6: (*_PIPS[4], (-1, 0), (1, 0))}

MERCHANT_IDS = {card.name: f"m{k}" for k, card in enumerate(CARDS.merchants)}
POINT_IDS = {card.name: f"p{k}" for k, card in enumerate(CARDS.points)}
POINT_VALUES = {card.name: card.points for card in CARDS.points}


def names_of(cubes: Mapping[str, int]) -> str:
    """Return the cubes of a struct as letters, low to high."""
    return "".join(name * cubes[name] for name in COLOURS)


def centred(names: str, middle: float, top: float, scale: float = 1) -> str:
    """Return cubes in one or two centred rows, the first row at `top`."""
    inside = "".join(
        f'<use href="#cvn-{name}" x="{num((k - (len(row) - 1) / 2) * PITCH)}" y="{num(PITCH * (line + 0.5))}"/>'
        for line, row in enumerate(_rows(names))
        for k, name in enumerate(row)
    )
    return f'<g transform="translate({num(middle)} {num(top)}) scale({scale:.3g})">{inside}</g>'


def heap(names: str, columns: int, x: float, y: float, cell: float) -> str:
    """Return cubes in rows of cells, the first cell with its middle at (x, y)."""
    inside = "".join(
        f'<use href="#cvn-{name}" x="{CELL * (k % columns)}" y="{CELL * (k // columns)}"/>'
        for k, name in enumerate(names)
    )
    return f'<g transform="translate({num(x)} {num(y)}) scale({cell / CELL:.3g})">{inside}</g>'


def tally(names: str, columns: int, x: float, y: float, step: float, scale: float) -> str:
    """Return one cube of each colour that is there, with its number; the first at (x, y)."""
    there = [name for name in COLOURS if name in names]
    spots = [(x + step * (k % columns), y + 26 * (k // columns)) for k in range(len(there))]
    return "".join(
        use(name, a, b, scale) + text(a + 13 * scale, b + 5.5, str(names.count(name)), "b", 16 * scale)
        for name, (a, b) in zip(there, spots, strict=True)
    )


def coins(kind: str, count: int, x: float, y: float, scale: float = 1, data: str = "") -> str:
    """Return a pile of coins with its number."""
    pile = "".join(use(kind, x, y - 2.5 * k * scale, scale) for k in range(min(count, 4)))
    number = text(x + 12 * scale, y + 5, f"×{count}", "b", 14)
    return f'<g class="coins {kind}" data-count="{count}"{data}>{pile}{number}</g>'


def onward(x: float, y: float, scale: float = 1) -> str:
    """Return an arrow that points to the right."""
    return f'<use href="#cvn-arrow" transform="translate({num(x)} {num(y)}) rotate(-90) scale({scale:g})"/>'


def ladder(x: float, y: float) -> str:
    """Return the colours from low to high."""
    return "".join(
        use(name, x + 44 * k, y) + (onward(x - 22 + 44 * k, y, 0.7) if k else "") for k, name in enumerate(COLOURS)
    )


def mark(x: float, y: float, width: float, height: float, radius: float) -> str:
    """Return a ring around what an event changed."""
    ring = svg.ring(x, y, width, height, colour("mark"), radius)
    return f'<g class="highlight" fill="none" pointer-events="none">{ring}</g>'


def faint_mark(x: float, y: float, width: float, height: float, radius: float, css: str) -> str:
    """Return a dashed ring around a place that something leaves."""
    ring = svg.dashed_ring(x, y, width, height, colour("mark"), radius)
    return f'<g class="{css}" fill="none" pointer-events="none">{ring}</g>'


# -------------------------------------------------------------------------------------------------------- definitions


@functools.cache
def definitions() -> str:
    """Return the definitions of everything that pictures are made of."""
    pieces = [
        *map(_cube, COLOURS),
        *map(_die, _PIPS),
        _arrow(),
        svg.coin_symbol("gold"),
        svg.coin_symbol("silver", "silver"),
    ]
    cards = [
        _card("merchant", MERCHANT, "card"),
        _card("point", POINT, "card", _seal()),
        _card("covered", POINT, "back"),
    ]
    faces = [*map(_merchant, CARDS.merchants), *map(_point, CARDS.points), _back()]
    return "".join([*pieces, *cards, *faces])


def _rows(names: str) -> list[str]:
    if len(names) <= 3:
        return [names]
    half = (len(names) + 1) // 2
    return [names[:half], names[half:]]


def _cube(name: str) -> str:
    ink = colour("coinink") if name == "Y" else "#fff"
    shift = ' transform="translate(0 2.6) scale(.86)"' if name == "G" else ""
    return (
        f'<g id="cvn-{name}" stroke-linejoin="round" stroke-linecap="round">'
        f'<g fill="{colour(name)}" stroke="{colour("ink")}" stroke-width="1.7">{SHAPES[name]}</g>'
        f'<path d="{_LETTERS[name]}" fill="none" stroke="{ink}" stroke-width="2"{shift}/></g>'
    )


def _die(number: int) -> str:
    pips = "".join(f'<circle cx="{9 * x}" cy="{9 * y}" r="3.6"/>' for x, y in _PIPS[number])
    return (
        f'<g id="cvn-die{number}"><rect x="-18" y="-18" width="36" height="36" rx="7" fill="#fff"'
        f' stroke="{colour("ink")}" stroke-width="1.6"/><g fill="#2d2620">{pips}</g></g>'
    )


def _arrow() -> str:
    return f'<path id="cvn-arrow" d="M-4-9H4V-1H10L0 9L-10-1H-4Z" fill="{colour("arrow")}"/>'


def _card(name: str, size: tuple[int, int], fill: str, more: str = "") -> str:
    width, height = size
    edge = f'rx="8" stroke="{colour("rim")}" stroke-width="1.5"'
    return f'<g id="cvn-{name}">{rect(0.75, 0.75, width - 1.5, height - 1.5, colour(fill), edge)}{more}</g>'


def _merchant(card: Merchant) -> str:
    face = {"produce": _produce, "upgrade": _upgrade, "trade": _trade}[card.kind](card)
    return f'<g id="cvn-{MERCHANT_IDS[card.name]}"><use href="#cvn-merchant"/>{face}</g>'


def _produce(card: Merchant) -> str:
    gain, middle = letters(card.gain), MERCHANT[0] / 2
    plus = f'<path d="M{middle:g} 24v24m-12-12h24" stroke="{colour("arrow")}" stroke-width="6"/>'
    return _field(58) + plus + centred(gain, middle, 102 - _height(gain) / 2, _ON_FACE)


def _trade(card: Merchant) -> str:
    pay, gain, middle = letters(card.pay), letters(card.gain), MERCHANT[0] / 2
    top = (MERCHANT[1] - _height(pay) - _height(gain) - 28) / 2
    below = top + _height(pay) + 28
    given = centred(pay, middle, top, _ON_FACE)
    return (
        _field(below - 14)
        + given
        + f'<use href="#cvn-arrow" x="{middle:g}" y="{num(below - 14)}"/>'
        + centred(gain, middle, below, _ON_FACE)
    )


def _field(top: float) -> str:
    """Return the lower part of a face, where what one gains is shown."""
    width, height = MERCHANT
    return f'<path d="M2 {num(top)}H{width - 2}V{height - 9}a7 7 0 0 1-7 7H9a7 7 0 0 1-7-7Z" fill="{colour("gain")}"/>'


def _height(names: str) -> float:
    return _ON_FACE * PITCH * len(_rows(names))


def _upgrade(card: Merchant) -> str:
    width, _ = MERCHANT
    steps = "".join(f"M{width / 2 - 20:g} {40 + 17 * k}l20-16l20 16" for k in range(card.upgrades))
    chevrons = f'<path d="{steps}" stroke="{colour("arrow")}" stroke-width="7" fill="none"/>'
    stairs = "".join(use(name, 14 + 21.3 * k, 130 - 9 * k, 0.8) for k, name in enumerate(COLOURS))
    return chevrons + stairs


def _point(card: PointCard) -> str:
    names = letters(card.cost)
    cost = centred(names, 75, POINT[1] / 2 - 11.5 * len(_rows(names)), 23 / PITCH)
    # What `use` copies is out of reach of the classes in some programs, and within it in others: hence a style.
    css = "fill:#fff;font-weight:700;text-anchor:middle"
    number = f'<text x="22" y="32" font-size="21" style="{css}">{card.points}</text>'
    return f'<g id="cvn-{POINT_IDS[card.name]}"><use href="#cvn-point"/>{number}{cost}</g>'


def _seal() -> str:
    """Return the ribbon that the number of points stands on."""
    bottom = POINT[1] - 5
    return f'<path d="M6 1.5H38V{bottom - 8}L22 {bottom}L6 {bottom - 8}Z" fill="{colour("seal")}"/>'


def _back() -> str:
    width, height = POINT
    frame = f"M12 6H{width - 12}a6 6 0 0 1 6 6V{height - 12}a6 6 0 0 1-6 6H12a6 6 0 0 1-6-6V12a6 6 0 0 1 6-6Z"
    lines = f'<path d="{frame}{"".join(_lattice(width, height))}" fill="none" stroke="{colour("backline")}"/>'
    return f'<g id="cvn-back"><use href="#cvn-covered"/>{lines}</g>'


def _lattice(width: int, height: int) -> Iterable[str]:
    """Yield a row of nested diamonds."""
    middle = height // 2
    for x in range(18, width - 10, 19):
        for r in (15, 8):
            yield f"M{x - r / 2:g} {middle}l{r / 2:g}-{r}l{r / 2:g} {r}l-{r / 2:g} {r}z"
