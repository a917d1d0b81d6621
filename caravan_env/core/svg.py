"""Writing pictures of positions as SVG: elements, themes, and boxes that stand beside or below each other.

A picture is a list of lines, one element or group a line, so that a viewer can store the lines that two positions
share only once. Colours are CSS custom properties: with `theme="auto"` they follow the system, or the nearest
`data-theme="light"` or `"dark"` of the page around. Every class, id and property that a picture defines starts with
`cvn`, so that none of them can meet those of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

THEMES = ("auto", "light", "dark")

#: Custom property -> (light, dark): what every picture has.
COLOURS: dict[str, tuple[str, str]] = {
    "page": ("#faf6ee", "#1b1a1f"),
    "panel": ("#fffdf8", "#26242b"),
    "edge": ("#e2d8c4", "#3b3842"),
    "text": ("#2d2620", "#efe9de"),
    "muted": ("#6f6455", "#a89f92"),
    "frame": ("#c9a66b", "#57472f"),
    "sand": ("#f3e2bd", "#3d352b"),
    "ink": ("#33271b", "#0f0d0b"),
    "mark": ("#1f1a16", "#ffffff"),
    "halo": ("#ffffff", "#000000"),
    "alarm": ("#c1121f", "#ff7b72"),
    "coin": ("#f2b705", "#f2c230"),
    "coinink": ("#4a3200", "#3a2800"),
    "seat0": ("#e8590c", "#f97b2f"),
    "seat1": ("#1c6fd0", "#4c9bf5"),
    "seat2": ("#0b9a7b", "#22bf9b"),
    "seat3": ("#7b2fb0", "#b678ea"),
    "seat4": ("#a67c00", "#e3b93c"),
    "seat5": ("#5c6370", "#aeb6c2"),
}
SEAT_NAMES = ("orange", "blue", "teal", "violet", "bronze", "grey")
SEAT_COLOURS = tuple(COLOURS[f"seat{seat}"] for seat in range(len(SEAT_NAMES)))

_RULES = (
    ".cvn{font-family:system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}",
    ".cvn text{fill:var(--cvn-text)}.cvn .b{font-weight:700}.cvn .m{fill:var(--cvn-muted)}",
    ".cvn .mid{text-anchor:middle}.cvn .end{text-anchor:end}.cvn .w{fill:#fff}.cvn .k{fill:var(--cvn-coinink)}"
    ".cvn .v{fill:var(--cvn-text);font-weight:700;font-size:15px}",
)

# ----------------------------------------------------------------------------------------------------------- elements


def num(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def points(score: float) -> str:
    """Return a score as people write it, with a real minus sign."""
    return f"{score:g}".replace("-", "−")


def plain(text: str) -> str:
    """Escape text for XML, without what XML forbids, and so that it is never taken for one of our own names."""
    return escape("".join(c for c in text if c.isprintable())).replace("cvn", "&#99;vn")


def shortened(text: str, most: int) -> str:
    """Return text of at most `most` characters, with an ellipsis where some are left out."""
    return text if len(text) <= most else text[: most - 1] + "…"


def colour(name: str) -> str:
    """Return the custom property of a colour, to be used as the value of an attribute."""
    return f"var(--cvn-{name})"


def text(x: float, y: float, words: str, css: str = "", size: float = 15, **attributes: str) -> str:
    """Return a line of text; classes: b bold, m muted, mid and end anchored there, w white, k on a coin."""
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    css = f' class="{css}"' if css else ""
    return f'<text x="{num(x)}" y="{num(y)}" font-size="{num(size)}"{css}{more}>{plain(words)}</text>'


def use(symbol: str, x: float, y: float, scale: float = 1, more: str = "") -> str:
    """Return a copy of the definition `cvn-symbol`, its origin at (x, y)."""
    return f'<use href="#cvn-{symbol}" transform="translate({num(x)} {num(y)}) scale({scale:.3g})"{more}/>'


def rect(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> str:
    """Return a rectangle."""
    return f'<rect x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" fill="{fill}" {more}/>'


def ring(x: float, y: float, width: float, height: float, stroke: str, radius: float) -> str:
    """Return a frame around something that an action leads to; the group around it has `fill="none"`."""
    box = _frame(x, y, width, height, radius)
    return (
        f'<rect {box} stroke="{colour("halo")}" stroke-width="7" stroke-opacity=".7"/>'
        f'<rect {box} stroke="{stroke}" stroke-width="3.5"/>'
    )


def dashed_ring(x: float, y: float, width: float, height: float, stroke: str, radius: float) -> str:
    """Return a frame around something that an action comes from; the group around it has `fill="none"`."""
    return f'<rect {_frame(x, y, width, height, radius)} stroke="{stroke}" stroke-width="2" stroke-dasharray="5 5"/>'


def _frame(x: float, y: float, width: float, height: float, radius: float) -> str:
    return f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}" rx="{num(radius)}"'


def coin_symbol(name: str = "coin", fill: str = "coin") -> str:
    """Return the definition of a coin of radius 10, in a colour."""
    ink = colour("coinink")
    return (
        f'<g id="cvn-{name}"><circle r="10" fill="{colour(fill)}" stroke="{ink}" stroke-width="1.4"/>'
        f'<circle r="7.2" fill="none" stroke="{ink}" stroke-opacity=".45"/></g>'
    )


# -------------------------------------------------------------------------------------------------------------- boxes


class Box(NamedTuple):
    """A part of a picture that moves as a whole: its size, and its places in the wide and in the tall layout.

    In the tall layout it is enlarged by `scale`.
    """

    width: float
    height: float
    wide: tuple[float, float]
    tall: tuple[float, float]
    scale: float = 1


def boxed(name: str, box: Box, lines: Iterable[str], edge: str = "", data: str = "") -> Iterable[str]:
    """Yield a box as a panel with `lines` in it, in its own coordinates; `edge` is the colour of a strong frame."""
    yield f'<g class="cvn-{name}"{data} transform="translate({num(box.wide[0])} {num(box.wide[1])})">'
    stroke = f'stroke="{edge or colour("edge")}" stroke-width="{3 if edge else 1}"'
    yield rect(0, 0, box.width, box.height, colour("panel"), f'rx="10" {stroke}')
    yield from lines
    yield "</g>"


# ------------------------------------------------------------------------------------------------------ whole pictures


def picture(
    lines: Iterable[str],
    *,
    theme: str,
    colours: Mapping[str, tuple[str, str]],
    definitions: str,
    boxes: Mapping[str, Box],
    wide: tuple[float, float],
    tall: tuple[float, float],
    label: str,
) -> str:
    """Put a picture together.

    Args:
        lines: the elements.
        theme: "auto" follows the system or the page; "light" and "dark" have fixed colours and no custom properties,
            which programs that turn SVG into pixels need.
        colours: custom property -> (light, dark).
        definitions: what `use` refers to.
        boxes: what moves in the tall layout, drawn by `boxed`.
        wide: width and height of the wide layout.
        tall: width and height of the tall layout.
        label: the position in a sentence, for screen readers.

    Returns:
        The text of an `<svg>` element. Below the class `tall` it has the tall layout; `data-tall-viewbox` holds the
        view box that goes with it.
    """
    if theme not in THEMES:
        raise ValueError(f"theme = {theme!r} is not possible. Allowed: {', '.join(THEMES)}")
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="cvn" viewBox="0 0 {wide[0]:g} {wide[1]:g}"'
        f' data-tall-viewbox="0 0 {tall[0]:g} {tall[1]:g}" role="img" aria-label="{plain(label)}">'
    )
    ground = f'<rect width="100%" height="100%" fill="{colour("page")}"/>'
    whole = [head, _style(theme, colours, boxes), f"<defs>{definitions}</defs>", ground, *lines, "</svg>"]
    return _fix_theme("\n".join(whole), theme, colours)


def _style(theme: str, colours: Mapping[str, tuple[str, str]], boxes: Mapping[str, Box]) -> str:
    rules = [*_RULES]
    if theme == "auto":
        light, dark = (";".join(f"--cvn-{name}:{pair[k]}" for name, pair in colours.items()) for k in (0, 1))
        rules += [f".cvn{{{light}}}", f"@media(prefers-color-scheme:dark){{.cvn{{{dark}}}}}"]
        rules += [f"[data-theme=light] .cvn,.cvn[data-theme=light]{{{light}}}"]
        rules += [f"[data-theme=dark] .cvn,.cvn[data-theme=dark]{{{dark}}}"]
        rules += [f".cvn.tall .cvn-{name}{{transform:{_to_tall(box)}}}" for name, box in boxes.items()]
    return f"<style>{''.join(rules)}</style>"


def _to_tall(box: Box) -> str:
    x, y = box.tall
    return f"translate({x:g}px,{y:g}px)" + (f" scale({box.scale:.4g})" if box.scale != 1 else "")


def _fix_theme(svg: str, theme: str, colours: Mapping[str, tuple[str, str]]) -> str:
    """Put the colours of a theme in place of the custom properties.

    Names get the theme as a suffix, so that pictures of different themes do not disturb each other on one page.
    """
    if theme == "auto":
        return svg
    which = THEMES.index(theme) - 1
    svg = re.sub(r"var\(--cvn-(\w+)\)", lambda found: colours[found[1]][which], svg)
    return re.sub(r"\bcvn\b", f"cvn-{theme}", svg)


def stacked(
    names: Sequence[str], heights: Mapping[str, float], x: float, y: float, gap: float
) -> dict[str, tuple[float, float]]:
    """Return the places of boxes that stand below each other, from (x, y) on."""
    places = {}
    for name in names:
        places[name] = (x, y)
        y += heights[name] + gap
    return places
