"""What the pictures of the game are made of, besides the faces of the tiles: colours, figures, chips, signs."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

from caravan_env.core import svg
from caravan_env.core.svg import colour, num
from caravan_env.games.ukraine.faces import Point, face
from caravan_env.games.ukraine.tables import CHIPS, TILE_NUMBERS

#: Custom property -> (light, dark).
PALETTE = svg.COLOURS | {
    "sea": ("#d3e0e2", "#1a242b"),
    "coast": ("#b4c9cd", "#24343d"),
    "land": ("#f3e9cf", "#35322a"),
    "grid": ("#dccba2", "#46423a"),
    "border": ("#8a7350", "#8d8069"),
    "grass": ("#a5c168", "#566b38"),
    "tuft": ("#8aab50", "#678045"),
    "soil": ("#8f6b3d", "#6d5030"),
    "furrow": ("#c59a60", "#a27f4e"),
    "roadside": ("#8b7a58", "#2f291f"),
    "road": ("#f8efd9", "#cdbf9f"),
    "city": ("#d9a766", "#8a6236"),
    "roof": ("#c07f45", "#a5733f"),
    "roof2": ("#e6c08a", "#704d28"),
    "wall": ("#6b4226", "#2d1b0f"),
    "stone": ("#f0d9b0", "#c39c68"),
    "water": ("#6fb1d6", "#4d8db3"),
    "white": ("#fffdf6", "#efe8da"),
    "dome": ("#2f8f6b", "#3aa37c"),
    "gold": ("#e9b72c", "#e9bd45"),
    "shield": ("#2863b5", "#3b7bd0"),
    "purple": ("#7a3fa6", "#9257c2"),
    "lightblue": ("#79c6ee", "#79c6ee"),
    "orange": ("#ef8b2c", "#f2963d"),
    "wine": ("#7c2f57", "#a3467a"),
    "grain": ("#f0c43a", "#f0c950"),
    "cloth": ("#c5475a", "#d65a6d"),
}

#: A chip of which it is not known which one it is (RULES H3); stands in structs and pictures for the name of a chip.
FACE_DOWN = "face down"

# ------------------------------------------------------------------------------------------------------------ figures

#: Figures stand with the middle of their feet at (0, 15); all are 30 high, the large meeple is drawn larger.
FIGURES = {
    "meeple": (
        "M0-17C3.6-17 5.4-14.8 5.6-12L12-10.4Q12.6-8.4 10-8.2L5.8-7.6C5.4-5.4 4.6-4.2 3.4-3.4C8.4-1.6 10.4 5 11 13.4"
        "Q11 15 9.4 15H-9.4Q-11 15-11 13.4C-10.4 5-8.4-1.6-3.4-3.4C-4.6-4.2-5.4-5.4-5.8-7.6L-10-8.2"
        "Q-12.6-8.4-12-10.4L-5.6-12C-5.4-14.8-3.6-17 0-17Z"
    ),
    "builder": (
        "M-1-17L7-8.6L5-8.2C5-5.8 4.4-4.4 3.2-3.4C5.4-2.8 7-1.4 8-.2L11.4-5.6L8.8-8L12.6-12.6L17-8.6L14.4-5.4L9.8 3.8"
        "L8.2 4L9 15H1.8L0 8L-1.8 15H-9L-8.6-.4C-7.6-2-6-3-3.4-3.4C-4.8-4.4-5.4-5.8-5.4-8L-8-8.4Z"
    ),
    "pig": (
        "M-15-2C-15-9-8-10.6-1-10.4C2-10.4 4-10 6-9.4L8.6-13L11-8.4C13-7 14-5.4 14.6-3.6L17-3V2.2L13.6 3.2"
        "C12.6 5.4 11 7 9 7.8V14H4.4V8.6H-6.4V14H-11V6.6C-13.4 4.8-15 2-15-2Z"
        "M-15-3.6C-18-4-18.4-8-15.6-8.6L-15-7C-16.4-6.6-16-5-14.6-5Z"
    ),
}


def figure(
    kind: str, seat: int, at: Point, size: float = 1, soil: bool = False, more: str = "", title: str = ""
) -> str:
    """Return a figure in a seat's colour around a point; on a field it stands on ploughed soil."""
    if kind == "large meeple":
        size *= 1.35
    place = f'transform="translate({num(at[0])} {num(at[1])}) scale({size:.3g})"'
    under = '<use href="#cvn-soil"/>' if soil else ""
    inside = f'{under}<use href="#cvn-{kind.split()[0]}"/>{title}'
    return f'<g class="figure" fill="{colour(f"seat{seat}")}"{more} {place}>{inside}</g>'


def chip(name: str, x: float, y: float, size: float = 1, more: str = "") -> str:
    """Return a chip around a point."""
    data = f'class="chip" data-chip="{name}" data-word="{name.split()[0]}"{more}'
    return f'<use href="#cvn-{chip_id(name)}" {data} transform="translate({num(x)} {num(y)}) scale({size:.3g})"/>'


def chip_id(name: str) -> str:
    """Return the name of a chip's definition."""
    return name.replace(" ", "")


# -------------------------------------------------------------------------------------------------------- definitions


@functools.cache
def common_definitions() -> str:
    """Return what every picture needs, in one line."""
    parts = [_ground(), _rim(), _village(), _monastery(), _cathedral(), _inn_sign(), _shield(), _wheel()]
    return "".join([*parts, *_goods(), *map(_chip, CHIPS), _back(), *_figures()])


def definitions(tiles: Iterable[str]) -> str:
    """Return the definitions that pictures with these tiles need, one line for what is common and one per tile."""
    return "\n".join([common_definitions(), *(face(TILE_NUMBERS[name]) for name in sorted(set(tiles)))])


def _rim() -> str:
    """Return the edge of a tile, which tells it from its neighbours."""
    return f'<path id="cvn-rim" d="M-49.5-49.5h99v99h-99z" fill="none" stroke="{colour("ink")}" stroke-opacity=".28"/>'


def _ground() -> str:
    """Return a meadow with tufts of grass, a little different at each of its edges."""
    spots = [(-36, -22), (-14, -38), (16, -26), (37, -37), (-27, 8), (33, 6), (-39, 36), (-10, 27), (14, 41), (39, 30)]
    tufts = "".join(f"M{x} {y}l-2-5M{x} {y}v-6M{x} {y}l2.4-4.4" for x, y in (*spots, (3, 3)))
    return (
        f'<g id="cvn-ground"><rect x="-50" y="-50" width="100" height="100" fill="{colour("grass")}"/>'
        f'<path d="{tufts}" stroke="{colour("tuft")}" stroke-width="1.8" stroke-linecap="round" fill="none"/></g>'
    )


def _house(x: float, y: float, wall: str = "white", roof: str = "roof") -> str:
    return (
        f'<path d="M{num(x - 6)} {num(y)}v-6h12v6z" fill="{colour(wall)}"/>'
        f'<path d="M{num(x - 8)} {num(y - 5.5)}l8-7l8 7z" fill="{colour(roof)}"/>'
    )


def _village() -> str:
    houses = _house(-8, 0) + _house(9, 3) + _house(-1, 13)
    ring = f'<circle r="15" fill="{colour("road")}" stroke="{colour("roadside")}" stroke-width="2"/>'
    return f'<g id="cvn-village">{ring}<g stroke="{colour("wall")}" stroke-width="1.2">{houses}</g></g>'


def _dome(x: float, y: float, size: float) -> str:
    """Return an onion dome with a cross, its foot at (x, y)."""
    s = size
    return (
        f'<path d="M{num(x - s)} {num(y)}C{num(x - 1.7 * s)} {num(y - 1.1 * s)} {num(x - 0.4 * s)} {num(y - 1.3 * s)}'
        f" {num(x)} {num(y - 2.3 * s)}C{num(x + 0.4 * s)} {num(y - 1.3 * s)} {num(x + 1.7 * s)} {num(y - 1.1 * s)}"
        f' {num(x + s)} {num(y)}Z" fill="{colour("dome")}"/>'
        f'<path d="M{num(x)} {num(y - 2.2 * s)}v-{num(1.3 * s)}m-{num(0.45 * s)} {num(0.45 * s)}h{num(0.9 * s)}"'
        f' stroke="{colour("gold")}" stroke-width="1.6" fill="none"/>'
    )


def _monastery() -> str:
    garden = f'<ellipse cy="13" rx="27" ry="10" fill="{colour("tuft")}" stroke="none"/>'
    walls = f'<path d="M-22 16V3H22V16Z" fill="{colour("white")}"/><path d="M-8 3V-12H8V3Z" fill="{colour("white")}"/>'
    roof = f'<path d="M-24 3.5L-18-4H-8V3.5ZM24 3.5L18-4H8V3.5Z" fill="{colour("roof")}"/>'
    door = f'<path d="M-3.5 16V9a3.5 3.5 0 0 1 7 0V16Z" fill="{colour("wall")}"/>'
    return (
        f'<g id="cvn-monastery" stroke="{colour("wall")}" stroke-width="1.4" stroke-linejoin="round">'
        f"{garden}{walls}{roof}{door}{_dome(0, -12, 6.4)}</g>"
    )


def _cathedral() -> str:
    body = f'<path d="M-26 26V0H-12V-10H12V0H26V26Z" fill="{colour("white")}"/>'
    door = f'<path d="M-5 26V14a5 5 0 0 1 10 0V26Z" fill="{colour("wall")}"/>'
    domes = _dome(-19, 0, 5) + _dome(19, 0, 5) + _dome(0, -10, 8)
    return (
        f'<g id="cvn-cathedral" stroke="{colour("wall")}" stroke-width="1.6" stroke-linejoin="round">'
        f"{body}{door}{domes}</g>"
    )


def _inn_sign() -> str:
    lake = f'<ellipse cx="2" cy="7" rx="17" ry="9" fill="{colour("water")}" stroke="{colour("white")}"/>'
    line = f'stroke="{colour("wall")}" stroke-width="1.2" stroke-linejoin="round"'
    return (
        f'<g id="cvn-inn" transform="scale(.92)" {line}>{lake}'
        f'<path d="M-9 6V-4H7V6Z" fill="{colour("white")}"/><path d="M-12-3L-1-13L10-3Z" fill="{colour("alarm")}"/>'
        f'<path d="M-3.4 6V0H1.4V6Z" fill="{colour("wall")}"/></g>'
    )


def _shield() -> str:
    return (
        f'<g id="cvn-shield"><path d="M-9-10H9V1C9 7 4 10 0 12C-4 10-9 7-9 1Z" fill="{colour("shield")}"'
        f' stroke="{colour("white")}" stroke-width="2"/><path d="M0-6V7M-4.5-4V1Q-4.5 4 0 4Q4.5 4 4.5 1V-4" fill="none"'
        f' stroke="{colour("gold")}" stroke-width="2"/></g>'
    )


def _goods() -> Iterable[str]:
    """Yield the goods, each in a disc of radius 12 and with an outline of its own."""
    grapes = "".join(
        f'<circle cx="{x}" cy="{y}" r="2.7"/>' for x, y in ((-5, -3), (0, -3), (5, -3), (-2.5, 1.4), (2.5, 1.4), (0, 6))
    )
    yield _good("wine", f'<g fill="{colour("wine")}">{grapes}</g><path d="M0-5Q1-9 4-9.4" fill="none"/>')
    ears = "".join(
        f"M0 {y}Q-6 {y - 1}-5 {y - 5}Q-1 {y - 4} 0 {y}Q6 {y - 1} 5 {y - 5}Q1 {y - 4} 0 {y}" for y in (6, 1.5, -3)
    )
    yield _good("grain", f'<path d="{ears}" fill="{colour("grain")}"/><path d="M0 9V-8"/>')
    bolt = f'<path d="M-7-5H5Q8-5 8-2V7H-4Q-7 7-7 4Z" fill="{colour("cloth")}"/>'
    yield _good("cloth", bolt + '<path d="M-7-5Q-4-5-4-2V7M-1-1H8M-1 3H8" fill="none"/>')


def _good(name: str, shape: str) -> str:
    disc = f'<circle r="12" fill="{colour("white")}" stroke="{colour("wall")}" stroke-width="1.4"/>'
    return f'<g id="cvn-{name}">{disc}<g stroke="#3a2418" stroke-width="1">{shape}</g></g>'


def _wheel() -> str:
    """Return the wheel of a Chumak's cart."""
    spokes = "".join(
        f"M{num(4 * math.cos(a))} {num(4 * math.sin(a))}L{num(13 * math.cos(a))} {num(13 * math.sin(a))}"
        for a in (k * math.pi / 4 for k in range(8))
    )
    return (
        f'<g id="cvn-wheel" fill="none" stroke="{colour("border")}" stroke-width="2.6"><circle r="14.5"/>'
        f'<circle r="4"/><path d="{spokes}"/></g>'
    )


def _chip(name: str) -> str:
    own, number = name.replace(" ", "")[:-1], name[-1]
    ink = "#1f2a33" if own == "lightblue" else "#fff"
    dashes = "66" if number == "1" else "4 2.6"
    css = "font-weight:700;text-anchor:middle"  # what `use` copies is out of reach of the classes in some programs
    return (
        f'<g id="cvn-{chip_id(name)}"><circle r="14" fill="{colour(own)}" stroke="{colour("ink")}" stroke-width="1.6"/>'
        f'<circle r="10.6" fill="none" stroke="{ink}" stroke-opacity=".6" stroke-dasharray="{dashes}"/>'
        f'<text y="5.6" font-size="16" style="{css};fill:{ink}">{number}</text></g>'
    )


def _back() -> str:
    """Return a chip that lies face down."""
    spokes = "M0-8V8M-6.9-4L6.9 4M-6.9 4L6.9-4"
    return (
        f'<g id="cvn-{chip_id(FACE_DOWN)}"><circle r="14" fill="{colour("wall")}" stroke="{colour("ink")}"'
        f' stroke-width="1.6"/><circle r="8" fill="none" stroke="{colour("stone")}" stroke-width="1.6"/>'
        f'<path d="{spokes}" stroke="{colour("stone")}" stroke-width="1.4"/></g>'
    )


def _figures() -> Iterable[str]:
    """Yield the figures; the large meeple carries a two."""
    line = f'stroke="{colour("halo")}" stroke-width="5" stroke-opacity=".85" stroke-linejoin="round"'
    ink = f'stroke="{colour("ink")}" stroke-width="1.6" stroke-linejoin="round"'
    two = (
        '<path d="M-2.2 4.6Q-2.2 2.4 0 2.4T2.2 4.4Q2.2 5.8-2.2 9.6H2.6" fill="none" stroke="#fff" stroke-width="1.5"/>'
    )
    furrows = "M-15 12Q0 8 15 12M-17 15.5Q0 11.5 17 15.5M-13 19Q0 15 13 19"
    yield (
        f'<g id="cvn-soil"><ellipse cy="14.5" rx="20" ry="8" fill="{colour("soil")}" stroke="{colour("ink")}"/>'
        f'<path d="{furrows}" fill="none" stroke="{colour("furrow")}" stroke-width="1.6"/></g>'
    )
    for name, shape in (*FIGURES.items(), ("large", FIGURES["meeple"])):
        more = two if name == "large" else ""
        yield f'<g id="cvn-{name}"><path d="{shape}" {line}/><path d="{shape}" {ink}/>{more}</g>'
