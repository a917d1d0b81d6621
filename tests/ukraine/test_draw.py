"""The drawing: every tile, figure, chip and point of a position is in the picture, and the picture is sound."""

from __future__ import annotations

import copy
import functools
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from caravan_env.games.ukraine import board, faces
from caravan_env.games.ukraine.art import FIGURES, PALETTE
from caravan_env.games.ukraine.draw import SEAT_COLOURS, draw_svg, hide, hide_outcome
from caravan_env.games.ukraine.tables import CHIPS, GOODS, TILES, load_map, square_name
from tests.reference.players_ukraine import Planner, busy_mover, draw_chance
from tests.reference.ukraine import Ukraine

Struct = dict[str, Any]
Step = tuple[Struct, str | None]
PLAYERS = (2, 3, 4, 5, 6)
HREF = "href"


@functools.cache
def _played(players: int, shown: str = "ukraine", rules: str = "full") -> list[Step]:
    """Play a game of the reference: each position, and the words that led to it."""
    rng = random.Random(players)
    game = Ukraine({"players": players, "map": shown, "expansion_rules": rules}, count=False)
    movers = (Planner(), busy_mover)
    steps: list[Step] = [(game.struct(), None)]
    while game.phase != "over":
        words = movers[game.seat % 2](game, rng) if game.legal() else draw_chance(game, rng)
        (game.play if game.legal() else game.resolve)(words)
        steps.append((game.struct(), words))
    return steps


def _position(players: int = 2, phase: str = "place", **fields: Any) -> Struct:
    """Return a copy of a position in the middle of a game."""
    steps = [struct for struct, _ in _played(players) if struct["phase"] == phase]
    return copy.deepcopy(steps[len(steps) // 2]) | fields


def _elements(root: ElementTree.Element, css: str) -> Iterator[ElementTree.Element]:
    wanted = set(css.split())
    return (element for element in root.iter() if wanted <= set(element.get("class", "").split()))


def _drawn(struct: Struct, *arguments: Any, **options: Any) -> ElementTree.Element:
    return ElementTree.fromstring(draw_svg(struct, *arguments, **options))


def _box(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return next(_elements(root, f"cvn-{name}"))


def _text(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def _counts(root: ElementTree.Element, css: str, key: str) -> dict[str, int]:
    return {e.get(f"data-{key}", ""): int(e.get("data-count", 0)) for e in _elements(root, css)}


def _check_map(root: ElementTree.Element, struct: Struct) -> None:
    table = _box(root, "map")
    tiles = [(e.get("data-square"), e.get("data-tile")) for e in _elements(table, "tile")]
    assert tiles == [(laid["square"], laid["tile"]) for laid in struct["tiles"]]
    turns = [re.search(r"rotate\((\d+)\)", e[0].get("transform", "rotate(0)")) for e in _elements(table, "tile")]
    assert [int(found[1]) // 90 for found in turns if found] == [laid["turned"] for laid in struct["tiles"]]
    figures = [
        tuple(e.get(f"data-{key}") for key in ("at", "kind", "segment", "seat")) for e in _elements(table, "figure")
    ]
    standing = [(laid["square"], laid["figure"]) for laid in struct["tiles"] if laid["figure"]]
    assert figures == [(square, f["kind"], f["segment"], str(f["seat"])) for square, f in standing]
    chips = Counter((e.get("data-square"), e.get("data-chip")) for e in _elements(table, "chip"))
    assert chips == Counter((square, chip) for square, lying in struct["chumak"].items() for chip in lying)
    last = [e.get("data-ring") for e in _elements(table, "last")]
    assert last == [laid["square"] for laid in struct["tiles"][-1:]]


def _check_events(root: ElementTree.Element, struct: Struct) -> None:
    drawn = [(e.get("data-seat"), e.get("data-points")) for e in root.iter() if e.get("data-points")]
    assert drawn == [
        (str(seat), str(points)) for event in struct["events"] for seat, points in enumerate(event["points"]) if points
    ]
    assert [e.get("data-event") for e in _elements(root, "scored")] == [event["kind"] for event in struct["events"]]


def _check_panels(root: ElementTree.Element, struct: Struct) -> None:
    over = struct["phase"] == "over"
    for seat, side in enumerate(struct["seats"]):
        panel = _box(root, f"panel{seat}")
        assert [_text(e) for e in _elements(panel, "points")] == [str(side["score" if over else "points"])]
        assert ("if it ended now" in _text(panel)) is not over
        assert _counts(panel, "home", "figure") == {"meeple": side["figures"]["meeple"]} | {
            kind: count for kind, count in side["figures"].items() if count
        }
        assert _counts(panel, "held", "chip") == side["chips"]
        assert _counts(panel, "goods", "good") == (
            side["goods"] if struct["params"]["expansion_rules"] == "full" else {}
        )
    if not over:
        hand = _box(root, "hand")
        assert [e.get("data-hand") for e in _elements(hand, "tile")] == ([struct["tile"]] if struct["tile"] else [])
        assert f"{sum(struct['bag'].values())} tile" in _text(hand)
        assert _counts(hand, "supply", "chip") == struct["supply"]


def test_what_a_seat_cannot_know_is_drawn_face_down() -> None:
    struct = _position(3)
    struct["seats"][0]["chips"] = {"purple 1": 2}
    struct["seats"][1]["chips"] = {"orange 2": 3, "purple 2": 1}
    struct["seats"][2]["chips"] = {}
    kept, seen = copy.deepcopy(struct), hide(struct, 0)
    assert struct == kept
    root = _drawn(seen)
    held = [_counts(_box(root, f"panel{seat}"), "held", "chip") for seat in range(3)]
    assert held == [{"purple 1": 2}, {"face down": 4}, {}]
    assert _counts(_box(root, "hand"), "supply", "chip") == {"face down": sum(struct["supply"].values())}
    struct["seats"][1]["chips"] = {"purple 2": 4}
    struct["supply"] |= {"orange 2": struct["supply"]["orange 2"] + 3, "purple 2": struct["supply"]["purple 2"] - 3}
    assert draw_svg(hide(struct, 0)) == draw_svg(seen)
    assert draw_svg(hide(struct, 1)) != draw_svg(hide(kept, 1))


def test_without_chips_there_is_nothing_to_hide() -> None:
    struct = _position(supply={})
    for side in struct["seats"]:
        side["chips"] = {}
    assert hide(struct, 1) == struct


def test_only_drawn_chips_are_hidden_in_words() -> None:
    assert {hide_outcome(f"draw {chip}") for chip in CHIPS} == {"draw a chip"}
    assert hide_outcome("draw T-07") == "draw T-07"
    assert hide_outcome("start B-D at K5 turned 2") == "start B-D at K5 turned 2"


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
@pytest.mark.parametrize("shown", ["ukraine", "plane"])
def test_the_picture_is_well_formed(shown: str, theme: str) -> None:
    for players in (2, 6):
        for struct, words in _played(players, shown)[::90]:
            svg = draw_svg(struct, words, theme=theme)
            root = ElementTree.fromstring(svg)
            assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(svg) < 180_000
            ids = [element.get("id") for element in root.iter() if element.get("id")]
            assert len(ids) == len(set(ids))
            assert {element.get(HREF, "#")[1:] for element in root.iter() if element.get(HREF)} <= set(ids)
            if theme != "auto":
                assert "var(" not in svg and PALETTE["land"][theme == "dark"] in svg
                assert PALETTE["land"][theme == "light"] not in svg


@pytest.mark.parametrize("players", PLAYERS)
def test_everything_is_drawn(players: int) -> None:
    for struct, words in _played(players)[::31]:
        root = _drawn(struct, words)
        _check_map(root, struct)
        _check_events(root, struct)
        _check_panels(root, struct)


@pytest.mark.parametrize(("shown", "rules"), [("plane", "full"), ("ukraine", "tiles_only")])
def test_other_maps_and_rules_are_drawn(shown: str, rules: str) -> None:
    for struct, words in _played(2, shown, rules)[::50]:
        root = _drawn(struct, words)
        _check_map(root, struct)
        _check_panels(root, struct)


def test_pictures_of_the_same_position_are_the_same() -> None:
    struct = _position(3)
    assert draw_svg(struct, "x") == draw_svg(copy.deepcopy(struct), "x")


def test_neighbouring_positions_share_most_lines() -> None:
    frames = [draw_svg(struct, words).split("\n") for struct, words in _played(2)[::2]]
    distinct = {line for frame in frames for line in frame}
    assert sum(map(len, distinct)) < 8 * max(sum(map(len, frame)) for frame in frames)


@pytest.mark.parametrize("shown", ["ukraine", "plane"])
def test_every_playable_square_can_be_pointed_at(shown: str) -> None:
    root = _drawn(_played(2, shown)[0][0])
    found = [e.get("data-square") for e in root.iter() if e.get("pointer-events") == "all"]
    assert found == [square_name(square) for square in load_map(shown).playable]


def test_what_is_printed_is_drawn() -> None:
    printed = load_map("ukraine")
    root = _drawn(_played(2)[0][0])
    for css, squares in (("start", printed.starts), ("chumak", printed.chumak), ("town", sorted(printed.towns))):
        assert [e.get("data-square") for e in _elements(root, css)] == [square_name(square) for square in squares]
    assert [e.get("data-name") for e in _elements(root, "large-city")] == ["Kyiv", "Lviv", "Odesa"]
    shields = [sum(use.get(HREF) == "#cvn-shield" for use in e) for e in _elements(root, "city-name")]
    assert shields == [4, 2, 2]
    assert len(list(_elements(root, "border"))) == len(printed.borders)
    assert {"Kyiv", "Chernihiv", "Simferopol"} <= {e.text for e in root.iter() if e.tag.endswith("text")}


@pytest.mark.parametrize(("shown", "mark"), [("ukraine", "Ukraine (reconstruction)"), ("plane", "Plane (invented)")])
def test_the_mark_of_the_map_is_always_shown(shown: str, mark: str) -> None:
    for struct, words in _played(2, shown)[::120]:
        assert f"Map: {mark}" in _text(_box(_drawn(struct, words), "status"))


def test_a_plain_map_is_shown_around_its_tiles() -> None:
    plane = load_map("plane")
    assert board.view(plane, []) == (range(3, 17), range(6, 15))
    assert board.view(plane, [0]) == (range(20), range(13))
    columns, rows = board.view(plane, [0, 399])
    assert (columns, rows) == (range(20), range(20))
    for k in (5, 60, 150, 300, 399):
        columns, rows = board.view(plane, [k])
        assert k % 20 in columns and k // 20 in rows and len(columns) >= 9 and len(rows) >= 9
    assert board.view(load_map("ukraine"), [0]) == (range(19), range(12))


PHASES = {
    "start": "B-D is laid on a start square",
    "second": "The second tile is drawn",
    "lay": r"[BIT]-\w+ is laid on a start square",
    "tile": "A tile is drawn",
    "chip": r"1 chip is drawn|2 chips are drawn",
    "place": r"Laying [BIT]-\w+",
    "figure": "A figure, a trade, or neither",
    "trade": r"Trading at [A-T]\d+: (purple|light blue|orange) [12]|Trading at [A-T]\d+: no chip yet",
    "over": r"Seat \d \(\w+\) wins|Seats \d.* share the win",
}


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_is_told(phase: str) -> None:
    found = [struct for players in PLAYERS for struct, _ in _played(players) if struct["phase"] == phase]
    assert found
    for struct in found[:: max(1, len(found) // 4)]:
        root = _drawn(struct)
        assert re.search(PHASES[phase], _text(_box(root, "status")))
        segments = [e.get("data-segment") for e in _elements(root, "segment")]
        assert bool(segments) == (phase == "figure")


def test_the_builder_is_told() -> None:
    status = _text(_box(_drawn(_position(again=True)), "status"))
    assert "the builder has earned another part-turn" in status
    assert "extra part-turn of the builder" in _text(_box(_drawn(_position(extra=True)), "status"))


def test_segments_can_be_clicked_by_a_word_of_their_actions() -> None:
    struct = _position(phase="figure")
    laid = struct["tiles"][-1]
    number = next(k for k, tile in enumerate(TILES) if tile.id == laid["tile"])
    found = {e.get("data-segment", ""): e.get("data-word") for e in _elements(_drawn(struct), "segment")}
    assert len(found) == len(TILES[number].segments)
    assert all(word in name.split() for name, word in found.items())


def test_the_end_is_a_table_by_kind() -> None:
    struct = copy.deepcopy(_played(3)[-1][0])
    root = _drawn(struct)
    table = " ".join(_text(_box(root, "hand")).split())
    for kind in ("before the end", "city", "road", "monastery", "field", "goods", "in all"):
        assert kind in table
    assert table.endswith(" ".join(["in all", *(str(side["score"]) for side in struct["seats"])]))
    best = max(side["score"] for side in struct["seats"])
    winners = [seat for seat, side in enumerate(struct["seats"]) if side["score"] == best]
    assert [seat for seat in range(3) if "★" in _text(_box(root, f"panel{seat}"))] == winners


def test_a_shared_win_is_told() -> None:
    struct = copy.deepcopy(_played(3)[-1][0])
    for side, score in zip(struct["seats"], (60, 59, 60), strict=True):
        side["score"] = score
    root = _drawn(struct)
    assert "Seats 0, 2 share the win" in _text(root)
    assert ["★" in _text(_box(root, f"panel{seat}")) for seat in range(3)] == [True, False, True]


@pytest.mark.parametrize(
    ("words", "square"),
    [
        ("place B-D at H7 turned 1", "H7"),
        ("start T-07 at K5 turned 0", "K5"),
        ("trade at L6", "L6"),
        ("meeple on city N W", None),
        ("place B-D at T25 turned 1", None),
        ("draw purple 2", None),
        ("", None),
        (None, None),
    ],
)
def test_the_square_of_an_action_is_marked(words: str | None, square: str | None) -> None:
    root = _drawn(_position(), words)
    assert [e.get("data-ring") for e in _elements(root, "highlight")] == ([square] if square else [])
    assert [_text(e) for e in _elements(_box(root, "status"), "event")] == [words or ""]


def test_an_event_shows_points_and_goods_of_all_seats() -> None:
    event = {"kind": "city", "squares": ["K5", "K6"], "points": [8, 8], "goods": {"wine": 2, "cloth": 1}}
    root = _drawn(_position(events=[event]))
    (paid,) = _elements(root, "paid")
    assert _text(paid) == "+8+8×2"
    assert [e.get(HREF) for e in paid.iter() if e.get(HREF)] == ["#cvn-wine", "#cvn-cloth"]


@pytest.mark.parametrize("players", PLAYERS)
def test_full_panels_hold_everything(players: int) -> None:
    struct = _position(players)
    struct["seats"][0] |= {
        "figures": {"meeple": 9, "large meeple": 1, "builder": 1, "pig": 1},
        "chips": dict.fromkeys(CHIPS, 6),
        "goods": dict.fromkeys(GOODS, 9),
    }
    panel = _box(_drawn(struct), "panel0")
    width, height = (float(panel[0].get(name, 0)) for name in ("width", "height"))
    places = [e for e in panel.iter() if e.get("transform", "").startswith("translate") and e is not panel]
    assert len(places) == 12 + 6 + 3
    for element in places:
        x, y = map(float, re.findall(r"[\d.]+", element.get("transform", ""))[:2])
        assert 10 <= x <= width - 14 and 45 <= y <= height - 13


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("tall", [False, True])
def test_boxes_do_not_overlap(players: int, tall: bool) -> None:
    svg = draw_svg(_position(players))
    root = ElementTree.fromstring(svg)
    whole = [float(x) for x in root.get("data-tall-viewbox" if tall else "viewBox", "").split()]
    pattern = r"\.tall \.cvn-(\w+)\{transform:translate\((\S+)px,(\S+)px\)(?: scale\((\S+)\))?"
    areas = []
    for name, *found in re.findall(pattern, svg):
        box = _box(root, name)
        wide = [*re.findall(r"[\d.]+", box.get("transform", "")), 1]
        x, y, scale = (float(value or 1) for value in (found if tall else wide))
        width, height = (scale * float(box[0].get(side, 0)) for side in ("width", "height"))
        assert x + width <= whole[2] and y + height <= whole[3]
        areas.append((x, y, x + width, y + height))
    assert len(areas) == players + 3 + (players <= 4)
    for k, (left, top, right, bottom) in enumerate(areas):
        assert not any(left < c and a < right and top < d and b < bottom for a, b, c, d in areas[:k])


@pytest.mark.parametrize("theme", ["auto", "light"])
@pytest.mark.parametrize("name", ['<b>"x"', "a & b", "line\nbreak\x00", "#cvn-B-D cvn"])
def test_names_are_escaped(name: str, theme: str) -> None:
    root = _drawn(_position(), names=["ann", name], theme=theme)
    css = "cvn-panel1" if theme == "auto" else "cvn-light-panel1"
    assert name.replace("\n", "").replace("\x00", "") in _text(next(_elements(root, css)))


def test_names_of_a_map_are_escaped() -> None:
    own = {"name": "<i>&", "mark": '"cvn"', "rows": ["SoT1"], "towns": {"C1": "<b>"}}
    own |= {"cities": {"1": {"name": "a<b & c", "shields": 0}}, "borders": {"A1 N": "city", "A1 W": "road"}}
    struct = copy.deepcopy(_played(2)[0][0])
    struct["params"]["map"] = own
    root = _drawn(struct)
    assert 'Map: <i>& ("cvn")' in _text(root) and "<b>" in _text(root) and "a<b & c" in _text(root)


def test_a_theme_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="auto, light, dark"):
        draw_svg(_position(), theme="sepia")


def test_pieces_differ_in_shape_and_in_colour() -> None:
    assert len(set(FIGURES.values())) == 3
    for which in (0, 1):
        assert len({PALETTE[name][which] for name in ("purple", "lightblue", "orange", *GOODS)}) == 6
        assert len({pair[which] for pair in SEAT_COLOURS}) == 6


@pytest.mark.parametrize("number", range(len(TILES)), ids=[tile.id for tile in TILES])
class TestEveryFace:
    def test_fields_are_divided_as_in_the_catalogue(self, number: int) -> None:
        tile = TILES[number]
        free = faces.free_points(tile)
        parts = faces.parts(set(free))
        for field, anchor in zip(tile.fields, faces.field_anchors(tile), strict=True):
            part = next(part for part in parts if anchor in part)
            assert {half for half in range(8) if faces.half_edge_point(half) in part} == set(field.half_edges)

    def test_anchors_lie_on_the_tile_apart_from_each_other(self, number: int) -> None:
        anchors = faces.anchors(number)
        assert len(anchors) == len(TILES[number].segments)
        assert all(max(map(abs, anchor)) < 47 for anchor in anchors)
        for k, (x, y) in enumerate(anchors):
            assert all(abs(x - a) + abs(y - b) > 8 for a, b in anchors[:k])

    def test_signs_stand_upright_in_every_rotation(self, number: int) -> None:
        tile = TILES[number]
        wanted = Counter({"monastery": tile.monastery} | {"inn": sum(road.inn for road in tile.roads)})
        wanted += Counter(city.goods for city in tile.cities if city.goods)
        wanted += Counter({"shield": sum(city.shields for city in tile.cities)})
        wanted += Counter({"cathedral": sum(city.cathedral for city in tile.cities)})
        for turned in range(4):
            signs = faces.signs(number, turned)
            assert "rotate" not in signs
            assert Counter(re.findall(r'"#cvn-(\w+)"', signs)) == +wanted
