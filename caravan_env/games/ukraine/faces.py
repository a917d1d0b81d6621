"""The faces of the tiles, derived from the catalogue, and where figures stand on them.

A tile is a square from -50 to 50; cities are areas inside lines, roads are lines. What divides a field in the catalogue
divides it in the picture, which `field_anchors` relies on.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.svg import colour, num
from caravan_env.games.ukraine.tables import TILES, Tile

HALF = 50
Point = tuple[float, float]
#: A start, then straight chunks of one point and cubic ones of three.
Line = tuple[tuple[Point, ...], ...]

_NW, _NE, _SE, _SW = (-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)
#: Middles of the edges N, E, S, W.
MIDDLES: tuple[Point, ...] = ((0, -50), (50, 0), (0, 50), (-50, 0))

# Outlines of cities, closed, not turned: cubic chunks are walls, straight ones lie at the edges of the tile.
_CAP: Line = ((_NW,), ((-27, -13), (27, -13), _NE))
_LOW_CAP: Line = ((_NW,), ((-22, -23), (22, -23), _NE))
_MEETING_CAP: Line = ((_NW,), ((-24, -14), (-12, -24), (0, -2)), ((12, -24), (24, -14), _NE))
_SPIKED_CAP: Line = (
    (_NW,),
    ((-26, -14), (0, -22), (12, -2)),
    ((20, 16), (34, 36), _SE),
    ((32, 20), (20, -14), _NE),
)
_CORNER: Line = ((_NE,), ((8, -34), (-34, 8), _SW), (_NW,))
_SPIKED_CORNER: Line = (
    (_NE,),
    ((12, -34), (6, -6), (20, 12)),
    ((30, 26), (40, 40), _SE),
    ((40, 40), (26, 30), (12, 20)),
    ((-6, 6), (-34, 12), _SW),
    (_NW,),
)
_BAND: Line = ((_NW,), ((-28, -24), (28, -24), _NE), (_SE,), ((28, 24), (-28, 24), _SW))
_HIGH_BAND: Line = ((_NW,), ((-28, -26), (28, -26), _NE), (_SE,), ((26, -6), (-26, -6), _SW))
_THREE: Line = ((_SW,), ((-28, 22), (28, 22), _SE), (_NE,), (_NW,))
_FOUR: Line = ((_NW,), (_NE,), (_SE,), (_SW,))

#: Tiles on which a point of the city reaches the south-east corner and splits the field there.
_SPIKED = {"I-07", "T-07", "T-12", "T-22"}
#: A tile on which two cities reach the village between them.
_MEETING = {"I-05"}


class _Shape(NamedTuple):
    """A kind of city, not turned: where figures stand, and where shields, goods and a cathedral are."""

    figure: Point
    sign: Point


_SHAPES = {
    "cap": _Shape((0, -36), (-24, -40)),
    "corner": _Shape((-19, -29), (-37, -31)),
    "band": _Shape((8, 0), (-32, 0)),
    "three": _Shape((4, -8), (-32, -30)),
    "four": _Shape((26, 22), (-32, -32)),
}
_KINDS = {1: "cap", 3: "three", 4: "four"}

# ----------------------------------------------------------------------------------------------------------- geometry


def rotate(point: Point, turned: int) -> Point:
    """Return a point of a tile after quarter turns clockwise."""
    x, y = point
    for _ in range(turned % 4):
        x, y = -y, x
    return x, y


def _turned(line: Line, turned: int) -> Line:
    return tuple(tuple(rotate(point, turned) for point in chunk) for chunk in line)


def _flat(line: Line, steps: int = 10) -> list[Point]:
    """Return the points of a line, those of curves included."""
    points = [line[0][0]]
    for chunk in line[1:]:
        if len(chunk) == 1:
            points.append(chunk[0])
            continue
        corners = (points[-1], *chunk)
        points += [_on_curve(corners, k / steps) for k in range(1, steps + 1)]
    return points


def _on_curve(corners: Sequence[Point], t: float) -> Point:
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x, y = (sum(w * corner[k] for w, corner in zip(weights, corners, strict=True)) for k in (0, 1))
    return x, y


def _path(line: Line) -> str:
    chunks = ("".join(f" {num(x)} {num(y)}" for x, y in chunk).strip() for chunk in line)
    return "".join(letter + words for letter, words in zip(_letters(line), chunks, strict=True))


def _letters(line: Line) -> Iterable[str]:
    return "M", *("L" if len(chunk) == 1 else "C" for chunk in line[1:])


def _walls(line: Line) -> str:
    """Return the path of the curved chunks only."""
    starts = [chunk[-1] for chunk in line]
    pairs = zip(starts, line[1:], strict=False)
    return "".join(_path(((start,), chunk)) for start, chunk in pairs if len(chunk) == 3)


def _inside(points: Sequence[Point], corners: Sequence[Point]) -> NDArray[np.bool_]:
    """Return which points lie inside an outline, shape (points,)."""
    x, y = np.array(points, np.float64).T[:, :, None]
    a, b = np.array(corners).T
    c, d = np.roll(a, -1), np.roll(b, -1)
    over = (b > y) != (d > y)
    left = x < (c - a) * (y - b) / np.where(d == b, 1, d - b) + a
    crossed: NDArray[np.bool_] = (over & left).sum(axis=1) % 2 == 1
    return crossed


def _distances(points: Sequence[Point], line: Sequence[Point]) -> NDArray[np.float64]:
    """Return how far each point is from a line, shape (points,)."""
    starts, ends = np.array(line[:-1]), np.array(line[1:])
    along, away = ends - starts, np.array(points, np.float64)[:, None] - starts
    share = np.clip((away * along).sum(-1) / np.maximum((along * along).sum(-1), 1e-9), 0, 1)
    distances: NDArray[np.float64] = np.sqrt(((away - share[..., None] * along) ** 2).sum(-1)).min(axis=1)
    return distances


def _kind_of_city(tile: Tile, city: int) -> tuple[str, int]:
    """Return the kind of a city and how far it is turned."""
    edges = set(tile.cities[city].edges)
    if len(edges) == 1:
        return "cap", min(edges)
    if len(edges) == 3:
        return "three", (min({0, 1, 2, 3} - edges) + 2) % 4
    if len(edges) == 4:
        return "four", 0
    if edges in ({0, 2}, {1, 3}):
        return "band", int(0 in edges)
    return "corner", next(turned for turned in range(4) if edges == {turned, (turned + 3) % 4})


def _city_line(tile: Tile, city: int) -> Line:
    kind, turned = _kind_of_city(tile, city)
    beside_city = "C" in (tile.edges[(turned + 1) % 4], tile.edges[(turned + 3) % 4])
    line = {
        "cap": _LOW_CAP if beside_city else _CAP,
        "corner": _CORNER,
        "band": _HIGH_BAND if tile.edges[(turned + 2) % 4] == "C" else _BAND,
        "three": _THREE,
        "four": _FOUR,
    }[kind]
    if tile.id in _SPIKED:
        line = _SPIKED_CAP if kind == "cap" else _SPIKED_CORNER
    return _turned(_MEETING_CAP if tile.id in _MEETING else line, turned)


def _has_village(tile: Tile) -> bool:
    """Return whether roads end at a village in the middle."""
    ends = sum(len(road.edges) == 1 for road in tile.roads)
    return not tile.monastery and (ends >= 3 or tile.id in _MEETING)


def _road_line(tile: Tile, road: int) -> Line:
    edges = tile.roads[road].edges
    if len(edges) == 1:
        return _road_end(tile, edges[0])
    if (edges[1] - edges[0]) % 2 == 0:
        return _turned((((0, -50),), ((7, -18), (-7, 18), (0, 50))), int(1 in edges))
    turned = next(k for k in range(4) if set(edges) == {(k + 1) % 4, (k + 2) % 4})
    return _turned((((50, 0),), ((20, 0), (0, 20), (0, 50))), turned)


def _road_end(tile: Tile, edge: int) -> Line:
    """Return a road that ends on the tile: in the middle, or under a city that is drawn above it."""
    start, end = MIDDLES[edge], (0.0, 0.0)
    if tile.cities and not _has_village(tile):
        depth, goal = _goal(max((city.edges for city in tile.cities), key=len), edge)
        end = (depth * MIDDLES[goal][0], depth * MIDDLES[goal][1])
    return ((start,), ((0.3 * start[0], 0.3 * start[1]), (0.2 * end[0], 0.2 * end[1]), end))


def _goal(city: Sequence[int], edge: int) -> tuple[float, int]:
    """Return how far towards which edge a road from another edge runs until a city covers its end."""
    opposite = (edge + 2) % 4
    if len(city) == 1:
        return 0.8, city[0]
    if len(city) == 2 and (city[1] - city[0]) % 2:
        return 0.7, city[0] if city[1] == opposite else city[1]
    return 0.5, opposite


# ------------------------------------------------------------------------------------------------------------ anchors


@functools.cache
def anchors(number: int) -> tuple[Point, ...]:
    """Return where figures stand on each segment of a tile that is not turned."""
    tile = TILES[number]
    places: dict[str, Sequence[Point]] = {
        "monastery": ((0, 4),),
        "city": [_city_anchor(tile, k) for k in range(len(tile.cities))],
        "road": [_road_anchor(tile, k) for k in range(len(tile.roads))],
        "field": field_anchors(tile),
    }
    return tuple(places[kind][k] for kind, k in tile.segments)


def _city_anchor(tile: Tile, city: int) -> Point:
    kind, turned = _kind_of_city(tile, city)
    if tile.edges[turned] == "C" and kind == "band" and tile.edges[(turned + 2) % 4] == "C":
        return rotate((8, -14), turned)
    return rotate(_SHAPES[kind].figure, turned)


def _road_anchor(tile: Tile, road: int) -> Point:
    line, edges = _road_line(tile, road), tile.roads[road].edges
    if len(edges) == 2:
        at = 0.22 if _crossing(tile) else 0.5
        return _on_curve((line[0][0], *line[1]), at)
    x, y = MIDDLES[edges[0]]
    return 0.66 * x, 0.66 * y


def _crossing(tile: Tile) -> bool:
    """Return whether two roads cross, one on a bridge."""
    return sum(len(road.edges) == 2 and road.edges[1] - road.edges[0] == 2 for road in tile.roads) == 2


_STEP = 4
_CELLS = [(float(x), float(y)) for x in range(-48, 50, _STEP) for y in range(-48, 50, _STEP)]
_ROAD_HALF = 7.5


def field_anchors(tile: Tile) -> tuple[Point, ...]:
    """Return where figures stand on each field: the point farthest from everything else."""
    free = free_points(tile)
    areas = parts(set(free))
    return tuple(_middle(_part_of(field.half_edges, areas), free) for field in tile.fields)


def free_points(tile: Tile) -> dict[Point, float]:
    """Return the points of a grid that lie in fields, and how far each is from roads, walls and the tile's edges."""
    cities = [_flat(_city_line(tile, k)) for k in range(len(tile.cities))]
    roads = [_flat(_road_line(tile, k)) for k in range(len(tile.roads))]
    if _has_village(tile) or tile.monastery:
        roads.append([(-6, 0), (6, 0)])
    gaps = [_distances(_CELLS, road) - _ROAD_HALF for road in roads]
    gaps += [_distances(_CELLS, (*city, city[0])) for city in cities]
    least = np.min([np.full(len(_CELLS), float(HALF)), *gaps], axis=0)
    taken = np.any([np.zeros(len(_CELLS), bool), *(_inside(_CELLS, city) for city in cities)], axis=0)
    return {
        _CELLS[k]: min(float(least[k]), HALF + 4 - max(map(abs, _CELLS[k])))
        for k in np.flatnonzero((least > 0) & ~taken)
    }


def parts(left: set[Point]) -> list[set[Point]]:
    """Return the parts into which points of a grid fall."""
    found_parts = []
    while left:
        found = [left.pop()]
        for x, y in found:
            beside = {(x + _STEP, y), (x - _STEP, y), (x, y + _STEP), (x, y - _STEP)} & left
            left -= beside
            found += beside
        found_parts.append(set(found))
    return found_parts


def half_edge_point(half: int) -> Point:
    """Return a grid point near the middle of a half edge."""
    return rotate((-24, -48) if half % 2 == 0 else (24, -48), half // 2)


def _part_of(half_edges: Sequence[int], parts: Sequence[set[Point]]) -> set[Point]:
    if half_edges:
        return next(part for part in parts if half_edge_point(half_edges[0]) in part)
    points = {half_edge_point(half) for half in range(8)}
    return max((part for part in parts if not part & points), key=len)


def _middle(part: Iterable[Point], free: dict[Point, float]) -> Point:
    return max(part, key=lambda point: (round(free[point]), -math.hypot(*point), point))


# -------------------------------------------------------------------------------------------------- faces of the tiles


@functools.cache
def face(number: int) -> str:
    """Return the definition of a tile's face, without what stands upright on it."""
    tile = TILES[number]
    parts = [f'<g id="cvn-{tile.id}"><use href="#cvn-ground"/>', *_roads(tile)]
    parts += [_city(_city_line(tile, k), number + k) for k in range(len(tile.cities))]
    if _has_village(tile):
        parts.append('<use href="#cvn-village"/>')
    return "".join([*parts, '<use href="#cvn-rim"/></g>'])


def _roads(tile: Tile) -> Iterable[str]:
    paths = [_path(_road_line(tile, k)) for k in range(len(tile.roads))]
    if _crossing(tile):
        yield _road(paths[0])
        yield f'<path d="M-17 0H17" stroke="{colour("wall")}" stroke-width="22"/>' + _road(paths[1])
    elif paths:
        yield _road("".join(paths))


def _road(path: str) -> str:
    return (
        f'<path d="{path}" fill="none" stroke="{colour("roadside")}" stroke-width="13"/>'
        f'<path d="{path}" fill="none" stroke="{colour("road")}" stroke-width="9"/>'
    )


def _city(line: Line, seed: int) -> str:
    walls = _walls(line)
    area = f'<path d="{_path(line)}Z" fill="{colour("city")}"/>{roofs(_flat(line), seed)}'
    if not walls:
        return area
    return (
        f'{area}<path d="{walls}" fill="none" stroke="{colour("wall")}" stroke-width="6"/>'
        f'<path d="{walls}" fill="none" stroke="{colour("stone")}" stroke-width="2.4" stroke-dasharray="3.4 2.6"/>'
    )


_ROOFS = [(x, y) for y in range(-42, 44, 14) for x in range(-42, 44, 14)]


def roofs(outline: Sequence[Point], seed: int) -> str:
    """Return roofs seen from above, scattered inside an outline, in two tones."""
    tones: tuple[list[str], list[str]] = ([], [])
    shifts = [(k * 7 + seed * 5) % 5 - 2 for k in range(len(_ROOFS))]
    spots = [(x + shift, y - shift / 2) for (x, y), shift in zip(_ROOFS, shifts, strict=True)]
    fits = _inside(spots, outline) & (_distances(spots, (*outline, outline[0])) > 7.5)
    for k in np.flatnonzero(fits):
        (x, y), size = spots[k], 7 + (k + seed) % 3
        tones[(k * 3 + seed) % 2].append(f"M{num(x - size / 2)} {num(y - 3.5)}h{size}v7h-{size}z")
    return "".join(
        f'<path d="{"".join(tone)}" fill="{colour(name)}"/>'
        for tone, name in zip(tones, ("roof", "roof2"), strict=True)
        if tone
    )


@functools.cache
def signs(number: int, turned: int) -> str:
    """Return what stands upright on a turned tile: monastery, cathedral, shields, goods, inns."""
    tile = TILES[number]
    drawn = [("monastery", (0.0, 0.0))] * tile.monastery
    for k, city in enumerate(tile.cities):
        kind, turns = _kind_of_city(tile, k)
        at = rotate(_SHAPES[kind].sign, turns)
        drawn += [("shield", at)] * bool(city.shields) + [("cathedral", (-6.0, -4.0))] * city.cathedral
        drawn += [(city.goods, at)] if city.goods else []
    drawn += [("inn", _inn(tile, k)) for k, road in enumerate(tile.roads) if road.inn]
    return "".join(f'<use href="#cvn-{name}"{_at(rotate(at, turned))}/>' for name, at in drawn)


def _at(point: Point) -> str:
    return f' x="{num(point[0])}" y="{num(point[1])}"' if any(point) else ""


def _inn(tile: Tile, road: int) -> Point:
    edges = tile.roads[road].edges
    if len(edges) == 2 and (edges[1] - edges[0]) % 2:
        x, y = (sum(MIDDLES[edge][k] for edge in edges) for k in (0, 1))
        return 0.58 * x, 0.6 * y
    return rotate((25, 25), (edges[0] + 2) % 4)


def tile(number: int, turned: int, more: str = "") -> str:
    """Return a tile around the origin of a group; `more` are attributes of the group."""
    turn = f' transform="rotate({90 * turned})"' if turned else ""
    return f'<g class="tile"{more}><use href="#cvn-{TILES[number].id}"{turn}/>{signs(number, turned)}</g>'
