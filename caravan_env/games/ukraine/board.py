"""The map under the tiles: squares, large cities, borders, towns, all as they are printed."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from caravan_env.core import svg
from caravan_env.core.svg import colour, rect, text
from caravan_env.games.ukraine import faces
from caravan_env.games.ukraine.tables import COLUMNS, EDGES, PLAYABLE, SIZE, START, TOWN, Map, neighbour, square_name

#: Least columns and rows that are shown of a plain map, and columns per row.
LEAST, ASPECT = 9, 1.5
#: Width of a square; the middle of A1 is at (50, 50).
CELL = 100
_HALO = f'paint-order="stroke" stroke="{colour("halo")}" stroke-width="5" stroke-linejoin="round"'
#: What the middles of printed borders point to, by edge.
_OUTWARD = ((0, -1), (1, 0), (0, 1), (-1, 0))


def corner(square: int) -> tuple[int, int]:
    """Return the north-western corner of a square."""
    return square % SIZE * CELL, square // SIZE * CELL


def middle(square: int) -> tuple[int, int]:
    """Return the middle of a square."""
    x, y = corner(square)
    return x + CELL // 2, y + CELL // 2


def is_plain(board: Map) -> bool:
    """Return whether nothing is printed but a start square: then only what lies there says which part to show."""
    return len(board.playable) == board.width * board.height and set(board.letters.values()) <= {PLAYABLE, START}


def outline(squares: Iterable[int]) -> str:
    """Return the path of all edges between the squares and others."""
    inside = set(squares)
    return "".join(
        edge_path(square, edge)
        for square in sorted(inside)
        for edge in range(4)
        if neighbour(square, edge) not in inside
    )


def edge_path(square: int, edge: int) -> str:
    """Return the path of an edge of a square."""
    x, y = corner(square)
    return (f"M{x} {y}h100", f"M{x + CELL} {y}v100", f"M{x} {y + CELL}h100", f"M{x} {y}v100")[edge]


def squares_path(squares: Iterable[int]) -> str:
    """Return the path of squares as areas."""
    return "".join("M{} {}h100v100h-100z".format(*corner(square)) for square in squares)


@functools.lru_cache(maxsize=16)
def ground(board: Map) -> str:
    """Return all that is printed under the tiles, in one line."""
    lines = (
        *_land(board),
        *(line for digit in board.cities for line in _city(board, digit)),
        *(_border(square, edge, what) for (square, edge), what in sorted(board.borders.items())),
        *(_start(square) for square in board.starts),
        *(_chumak(square) for square in board.chumak),
        *(_town(square) for square, letter in board.letters.items() if letter == TOWN),
    )
    return "".join(lines)


@functools.lru_cache(maxsize=16)
def names_and_pointables(board: Map) -> str:
    """Return, in one line, what lies above tiles and figures: names, and where a page can ask for the square."""
    return "".join((*_names(board), *map(_pointable, board.playable)))


def _pointable(square: int) -> str:
    """Return a square of which nothing is to be seen."""
    x, y = corner(square)
    data = f'pointer-events="all" data-square="{square_name(square)}"'
    return f'<rect x="{x}" y="{y}" width="100" height="100" fill="none" {data}/>'


def _land(board: Map) -> Iterable[str]:
    coast = outline(board.letters)
    yield rect(-2 * SIZE * CELL, -2 * SIZE * CELL, 5 * SIZE * CELL, 5 * SIZE * CELL, colour("sea"), "")
    for width, opacity in ((84, 0.4), (40, 0.7)):
        line = f'stroke-width="{width}" stroke-opacity="{opacity}" stroke-linecap="round"'
        yield f'<path d="{coast}" fill="none" stroke="{colour("coast")}" {line}/>'
    land = f'fill="{colour("land")}" stroke="{colour("grid")}" stroke-width="2"'
    yield f'<path class="land" d="{squares_path(board.playable)}" {land}/>'
    yield f'<path d="{coast}" fill="none" stroke="{colour("border")}" stroke-width="7" stroke-linecap="round"/>'


def _city(board: Map, digit: int) -> Iterable[str]:
    """Yield a large city: its area, walls where it has no open edge, its name and shields."""
    squares = board.city_squares[digit]
    name, shields = board.cities[digit]
    area = squares_path(squares)
    edges = [(square, edge) for square in squares for edge in range(4)]
    closed = "".join(edge_path(*at) for at in edges if neighbour(*at) not in board.letters)
    open_edges = "".join(edge_path(*at) for at in edges if board.is_playable(neighbour(*at)))
    yield (
        f'<g class="large-city" data-name="{svg.plain(name)}"><path d="{area}" fill="{colour("city")}"/>'
        + "".join(_roofs(square) for square in squares)
        + f'<path d="{open_edges}" stroke="{colour("wall")}" stroke-width="3" stroke-dasharray="14 9"/>'
        f'<path d="{closed}" stroke="{colour("wall")}" stroke-width="10" stroke-linecap="square"/>'
        f'<path d="{closed}" stroke="{colour("stone")}" stroke-width="4" stroke-dasharray="6 5"/></g>'
    )
    yield _city_label(squares, name, shields)


def _roofs(square: int) -> str:
    whole = ((-60, -60), (60, -60), (60, 60), (-60, 60))
    x, y = middle(square)
    return f'<g transform="translate({x} {y})">{faces.roofs(whole, square)}</g>'


def _city_label(squares: Sequence[int], name: str, shields: int) -> str:
    """Return name and shields, in the row where a large city is widest."""
    rows = [[square for square in squares if square // SIZE == row] for row in sorted({s // SIZE for s in squares})]
    widest = max(rows, key=len)
    x, y = sum(middle(square)[0] for square in widest) / len(widest), middle(widest[0])[1]
    step = min(22, 84 * len(widest) / max(1, shields))
    row = "".join(svg.use("shield", x + (k - (shields - 1) / 2) * step, y + 20, 0.85) for k in range(shields))
    size = min(28, 150 * len(widest) / len(name))
    return f'<g class="city-name">{text(x, y - 2, name, "b mid", size).replace("<text", f"<text {_HALO}")}{row}</g>'


def _border(square: int, edge: int, what: str) -> str:
    """Return what is printed outside an outer edge: a stub of a road, or a gate tower."""
    x, y = middle(square)
    (a, b), turned = _OUTWARD[edge], 90 * edge
    data = f'class="border" data-border="{square_name(square)} {EDGES[edge]}"'
    if what == "R":
        shape = (
            f'<path d="M0 6V-20" stroke="{colour("wall")}" stroke-width="17"/>'
            f'<path d="M0 8V-24" stroke="{colour("road")}" stroke-width="10"/>'
        )
    else:
        shape = (
            f'<path d="M-34 0C-28-30 28-30 34 0Z" fill="{colour("city")}" stroke="{colour("wall")}" stroke-width="6"/>'
        )
    return f'<g {data} transform="translate({x + 50 * a} {y + 50 * b}) rotate({turned})">{shape}</g>'


def _start(square: int) -> str:
    x, y = middle(square)
    star = "M0-26L7.6-8.4L26.6-6.6L12.3 6L16.6 24.6L0 14.8L-16.6 24.6L-12.3 6L-26.6-6.6L-7.6-8.4Z"
    return (
        f'<g class="start" data-square="{square_name(square)}" transform="translate({x} {y})">'
        f'<circle r="40" fill="none" stroke="{colour("border")}" stroke-width="4" stroke-dasharray="9 7"/>'
        f'<path d="{star}" fill="{colour("gold")}" stroke="{colour("border")}" stroke-width="3"/></g>'
    )


def _chumak(square: int) -> str:
    x, y = middle(square)
    places = "".join(f'<circle cx="{a}" cy="{b}" r="16"/>' for a, b in CHIP_SPOTS)
    return (
        f'<g class="chumak" data-square="{square_name(square)}" transform="translate({x} {y})">'
        f'<g fill="none" stroke="{colour("border")}" stroke-width="2.2" stroke-dasharray="5 4">{places}</g>'
        '<use href="#cvn-wheel"/></g>'
    )


#: The places of the chips on a Chumak square, around its middle.
CHIP_SPOTS = ((-29, -29), (29, -29), (-29, 29), (29, 29))


def _town(square: int) -> str:
    x, y = middle(square)
    return f'<g class="town" data-square="{square_name(square)}">{svg.use("village", x, y - 12, 1.35)}</g>'


def _names(board: Map) -> Iterable[str]:
    """Yield the names of the towns."""
    for square, name in sorted(board.towns.items()):
        x, y = middle(square)
        size = min(21, 160 / len(name))
        yield text(x, y + 42, name, "mid", size, **{"pointer-events": "none"}).replace("<text", f"<text {_HALO}")


def labels(columns: range, rows: range) -> Iterable[str]:
    """Yield the letters of the columns and the numbers of the rows, beside the part of the map that is shown."""
    left, top = columns.start * CELL, rows.start * CELL
    for column in columns:
        yield text(column * CELL + 50, top - 12, COLUMNS[column], "m mid b", 27)
    for row in rows:
        yield text(left - 46, row * CELL + 60, str(row + 1), "m mid b", 27)


def view(board: Map, squares: Iterable[int]) -> tuple[range, range]:
    """Return the columns and rows to show: the whole map, or of a plain one what surrounds these squares."""
    if not is_plain(board):
        return range(board.width), range(board.height)
    shown = [*squares, *board.starts]
    across, down = [square % SIZE for square in shown], [square // SIZE for square in shown]
    wide, high = (max(LEAST, max(places) - min(places) + 3) for places in (across, down))
    columns = _around(across, board.width, max(wide, round(high * ASPECT)))
    return columns, _around(down, board.height, max(high, round(wide / ASPECT)))


def _around(places: Sequence[int], size: int, number: int) -> range:
    """Return a number of places with some in the middle, as far as there are that many."""
    low = (min(places) + max(places) + 1 - number) // 2
    low = max(0, min(low, size - number))
    return range(low, min(size, low + number))
