"""The catalogue of tiles: complete, consistent in itself, turned and named as the documents say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import pytest

from caravan_env.games.ukraine import tables
from caravan_env.games.ukraine.tables import TILE_NUMBERS, TILES, City, Field, Road, Tile, edge_at, segment_name

TURNS = range(4)


def tile(name: str) -> Tile:
    return TILES[TILE_NUMBERS[name]]


def total(what: Callable[[Tile], int]) -> tuple[int, ...]:
    """Sum something over the copies of each set."""
    return tuple(sum(t.copies * what(t) for t in TILES if t.set == name) for name in tables.SETS)


def names(t: Tile, turned: int) -> list[str]:
    return [segment_name(t, segment, turned) for segment in range(len(t.segments))]


def test_totals() -> None:
    assert total(lambda t: 1) == (72, 18, 24)
    assert tuple(total(lambda t, kind=kind: t.edges.count(kind))[0] for kind in "FRC") == (115, 94, 79)  # type: ignore[misc]
    assert total(lambda t: bool(t.roads))[0] == 45
    assert total(lambda t: len(t.roads))[0] == 62
    assert total(lambda t: len(t.fields)) == (126, 35, 56)
    assert total(lambda t: len(t.cities)) == (49, 20, 29)
    assert total(lambda t: sum(city.shields for city in t.cities)) == (10, 3, 0)
    assert total(lambda t: t.monastery) == (6, 1, 1)
    assert total(lambda t: sum(city.cathedral for city in t.cities)) == (0, 2, 0)
    assert total(lambda t: sum(road.inn for road in t.roads)) == (0, 6, 0)


def test_goods() -> None:
    goods = Counter(city.goods for t in TILES for city in t.cities for _ in range(t.copies) if city.goods)
    assert tuple(goods[name] for name in tables.GOODS) == (9, 6, 5)
    assert sum(goods.values()) == 20


def test_chips() -> None:
    assert tables.CHIPS == ("purple 1", "purple 2", "light blue 1", "light blue 2", "orange 1", "orange 2")
    assert sum(tables.CHIP_COPIES) == 30
    assert all(name.endswith(f" {n}") for name, n in zip(tables.CHIPS, tables.CHIP_VALUES, strict=True))


def test_squares_are_named_row_by_row() -> None:
    assert [tables.square_name(k) for k in (0, 19, 20, 399)] == ["A1", "T1", "A2", "T20"]
    assert [tables.square_number(tables.square_name(k)) for k in range(tables.SQUARES)] == list(range(400))
    assert [tables.neighbour(tables.square_number("B2"), edge) for edge in TURNS] == [1, 22, 41, 20]
    assert [tables.neighbour(0, edge) for edge in TURNS] == [-1, 1, 20, -1]
    assert [tables.neighbour(399, edge) for edge in TURNS] == [379, -1, -1, 398]


@pytest.mark.parametrize("t", TILES, ids=lambda t: t.id)
class TestEveryTile:
    def test_every_edge_has_its_segments(self, t: Tile) -> None:
        cities = Counter(edge for city in t.cities for edge in city.edges)
        roads = Counter(edge for road in t.roads for edge in road.edges)
        fields = Counter(half for field in t.fields for half in field.half_edges)
        assert cities == Counter(e for e in TURNS if t.edges[e] == "C")
        assert roads == Counter(e for e in TURNS if t.edges[e] == "R")
        assert fields == Counter(half for half in range(8) if t.edges[half // 2] != "C")

    def test_a_plain_field_edge_belongs_to_one_field(self, t: Tile) -> None:
        for edge in (e for e in TURNS if t.edges[e] == "F"):
            assert sum({2 * edge, 2 * edge + 1} <= set(field.half_edges) for field in t.fields) == 1

    def test_fields_border_the_cities_around_the_corner(self, t: Tile) -> None:
        for field in t.fields:
            assert len(set(field.cities)) == len(field.cities)
            beside = {(half + (1 if half % 2 else -1)) % 8 // 2 for half in field.half_edges}
            around = {k for k, city in enumerate(t.cities) if beside & set(city.edges)}
            assert around <= set(field.cities) <= set(range(len(t.cities)))
            assert field.half_edges or field.cities

    def test_segments_are_in_order_and_not_too_many(self, t: Tile) -> None:
        kinds = [kind for kind, _ in t.segments]
        assert kinds == sorted(kinds, key=("monastery", "city", "road", "field").index)
        assert kinds.count("monastery") == t.monastery
        assert [k for kind, k in t.segments if kind == "field"] == list(range(len(t.fields)))
        assert 1 <= len(kinds) <= tables.MAX_SEGMENTS

    def test_segment_names_are_unique_in_every_rotation(self, t: Tile) -> None:
        for turned in TURNS:
            assert len(set(names(t, turned))) == len(t.segments)

    def test_names_tell_what_is_at_the_edges(self, t: Tile) -> None:
        for turned in TURNS:
            edges = {edge: kind for name in names(t, turned) for kind, *at in [name.split()] for edge in at}
            letters = {"city": "C", "road": "R"}
            for number, edge in enumerate("NESW"):
                assert letters.get(edges.get(edge, ""), "F") == edge_at(t, number, turned)

    def test_rotations_are_those_that_look_different(self, t: Tile) -> None:
        looks = {frozenset(describe(t, turned)) for turned in range(t.rotations)}
        assert len(looks) == t.rotations
        assert {frozenset(describe(t, turned)) for turned in TURNS} == looks


def describe(t: Tile, turned: int) -> Iterable[object]:
    """Yield what a turned tile shows, each thing by the names of the segments it belongs to."""
    called = dict(zip(t.segments, names(t, turned), strict=True))
    for k, city in enumerate(t.cities):
        yield called["city", k], city.shields, city.cathedral, city.goods
    for k, road in enumerate(t.roads):
        yield called["road", k], road.inn
    for k, field in enumerate(t.fields):
        yield called["field", k], frozenset(called["city", city] for city in field.cities)
    yield t.monastery


def test_rotations() -> None:
    by_rotations = {n: {t.id for t in TILES if t.rotations == n} for n in (1, 2)}
    assert by_rotations[1] == {"B-B", "B-C", "B-X", "I-01", "I-03", "T-24"}
    assert by_rotations[2] == {"B-F", "B-G", "B-H", "B-U", "I-02", "I-05", "I-10", "I-15", "I-17", "T-15", "T-19"}


def test_turning() -> None:
    t = tile("B-D")
    assert [edge_at(t, edge, 1) for edge in TURNS] == ["R", "C", "R", "F"]
    assert names(t, 0) == ["city N", "road E W", "field ENE WNW", "field ESE SSE SSW WSW"]
    assert names(t, 1) == ["city E", "road N S", "field NNE SSE", "field NNW SSW WSW WNW"]


@pytest.mark.parametrize("name", ["I-07", "T-07", "T-12", "T-22"])
def test_a_city_point_splits_the_field_in_the_south_east_corner(name: str) -> None:
    t = tile(name)
    east, south = (next(f for f in t.fields if half in f.half_edges) for half in (3, 4))
    assert east != south
    assert east.cities == south.cities == (0,)
    assert "C" not in (t.edges[1], t.edges[2])


def test_the_roads_of_t24_cross() -> None:
    t = tile("T-24")
    assert t.roads == (Road((0, 2), False), Road((1, 3), False))
    assert [field.half_edges for field in t.fields] == [(0, 7), (1, 2), (3, 4), (5, 6)]
    assert names(t, 0)[:2] == ["road N S", "road E W"]


def test_fields_inside() -> None:
    inside = {t.id for t in TILES if any(not field.half_edges for field in t.fields)}
    assert inside == {"I-03", "T-03", "T-04", "T-06", "T-14"}
    assert names(tile("T-14"), 2) == ["city E S", "city N W", "field inside"]


def test_the_road_of_the_monastery_does_not_split_the_field() -> None:
    t = tile("B-A")
    assert (t.monastery, t.roads) == (True, (Road((2,), False),))
    assert t.fields == (Field(tuple(range(8)), ()),)
    assert names(t, 1) == ["monastery", "road W", "field NNW NNE ENE ESE SSE SSW WSW WNW"]


def test_the_start_tile() -> None:
    t = tile(tables.START_TILE)
    assert (t.edges, t.set, t.copies) == ("CRFR", "base", 4)
    assert t.cities == (City((0,), 0, False, None),)
