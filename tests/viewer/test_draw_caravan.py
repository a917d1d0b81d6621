"""The drawing of Caravan: every piece of a position is in the picture, and the picture is sound."""

from __future__ import annotations

import copy
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from caravan_env.core.errors import BadParams
from caravan_env.games.caravan.draw import COLOURS, SYMBOLS, draw_svg
from caravan_env.games.caravan.tables import GOODS, SHIPPED_BOARDS, load_board

Struct = dict[str, Any]
MakeStruct = Callable[..., Struct]


def _elements(svg: str, css: str) -> Iterator[ElementTree.Element]:
    for element in ElementTree.fromstring(svg).iter():
        if css in element.get("class", "").split():
            yield element


def _text(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("board", SHIPPED_BOARDS)
@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_the_picture_is_well_formed(make_struct: MakeStruct, players: int, board: str, theme: str) -> None:
    svg = draw_svg(make_struct(players, board), "camel a1 -> d4", theme=theme)
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert len(svg) < 40_000


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_camel_and_its_load_is_drawn(make_struct: MakeStruct, players: int) -> None:
    struct = make_struct(players)
    wanted = Counter(
        (str(seat), camel["at"], camel["good"], str(camel["stolen"]).lower() if camel["good"] else None)
        for seat, side in enumerate(struct["seats"])
        for camel in side["camels"]
        if camel["at"]
    )
    drawn = [
        tuple(element.get(f"data-{name}") for name in ("seat", "at", "good", "stolen"))
        for element in _elements(draw_svg(struct), "camel")
    ]
    assert Counter(drawn) == wanted


def test_camels_of_one_cell_do_not_hide_each_other(make_struct: MakeStruct) -> None:
    struct = make_struct(4)
    places = [e.get("transform") for e in _elements(draw_svg(struct), "camel") if e.get("data-at") == "d4"]
    assert len(places) == len(set(places)) == 7
    points = [tuple(map(float, re.findall(r"[\d.]+", place or "")[:2])) for place in places]
    assert all(abs(a[0] - b[0]) + abs(a[1] - b[1]) > 15 for a, b in itertools.combinations(points, 2))
    assert all(34 + 3 * 90 <= x <= 34 + 4 * 90 and 34 + 3 * 90 <= y <= 34 + 4 * 90 for x, y in points)


def test_goods_and_markers_lie_on_their_spaces(make_struct: MakeStruct) -> None:
    struct = make_struct()
    svg = draw_svg(struct)
    free = {(e.get("data-space"), e.get("data-good")) for e in _elements(svg, "free")}
    markers = {(e.get("data-space"), e.get("data-count")) for e in _elements(svg, "markers")}
    sources = list(enumerate(struct["sources"], start=1))
    assert free == {(str(k), s["good"]) for k, s in sources if s["good"]}
    assert markers == {(str(k), str(s["markers"])) for k, s in sources if s["markers"]}
    assert len(list(_elements(svg, "space"))) == 8


def test_cities_are_named(make_struct: MakeStruct) -> None:
    cities = {e.get("data-good"): _text(e) for e in _elements(draw_svg(make_struct()), "city")}
    assert cities == {good: good for good in GOODS} | {"ivory": "Marrakesh"}


def test_the_panels_tell_the_rest(make_struct: MakeStruct) -> None:
    struct = make_struct(4, rainbow="d3")
    svg = draw_svg(struct, names=["ann", "bob", "cem", "dan"])
    assert [_text(e) for e in _elements(svg, "score")] == [f"{side['score']}" for side in struct["seats"]]
    assert [e.get("data-count") for e in _elements(svg, "off")] == ["2", "1", "0", "0"]
    assert [e.get("data-count") for e in _elements(svg, "coins")] == ["3"] * 4
    assert [e.get("data-count") for e in _elements(svg, "theft")] == ["1"] * 4
    assert {e.get("data-good"): e.get("data-count") for e in _elements(svg, "bag")} == {
        good: str(count) for good, count in struct["bag"].items()
    }
    delivered = Counter((e.get("data-good"), e.get("data-count")) for e in _elements(svg, "delivered"))
    assert delivered == Counter([("salt", "2"), ("meat", "1"), ("ivory", "1"), ("paper", "2")])
    assert [e.get("data-at") for e in _elements(svg, "rainbow")] == ["d3"]
    words = _text(ElementTree.fromstring(svg))
    for part in ("ann", "dan", "Turn 9: seat 1 (blue)", "3 actions left", "Board: symmetric (reconstruction)"):
        assert part in words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"phase": "start", "seat": -1, "turn": 0, "actions_left": 0}, "The starting seat is drawn"),
        ({"phase": "fill", "seat": 0, "turn": 0, "actions_left": 0}, "Goods are drawn from the bag"),
        ({"phase": "over"}, "Seat 1 wins"),
        ({"phase": "over", "truncated": True}, "Game over at the turn limit"),
        ({"bag": dict.fromkeys(GOODS, 0)}, "a delivery ends the game"),
    ],
)
def test_every_phase_is_told(make_struct: MakeStruct, fields: Struct, words: str) -> None:
    assert words in _text(ElementTree.fromstring(draw_svg(make_struct(**fields))))


def test_a_shared_win_is_told(make_struct: MakeStruct) -> None:
    struct = make_struct(phase="over")
    struct["seats"][1] = copy.deepcopy(struct["seats"][0])
    assert "Seats 0, 1 share the win" in draw_svg(struct)


@pytest.mark.parametrize(
    ("words", "rings", "arrows"),
    [
        ("camel off -> d4", 1, 0),
        ("camel a1 -> d4", 1, 1),
        ("pick up meat at a1", 1, 0),
        ("steal meat from seat 1 at d4", 1, 0),
        ("move meat d4 -> e4", 1, 1),
        ("move stolen meat d4 -> d4", 1, 0),
        ("move meat d4 -> rainbow d3", 1, 1),
        ("rainbow -> d4", 1, 0),
        ("draw meat for space 5", 1, 0),
        ("end turn", 0, 0),
        ("seat 1 starts", 0, 0),
        (None, 0, 0),
    ],
)
def test_actions_are_highlighted(make_struct: MakeStruct, words: str | None, rings: int, arrows: int) -> None:
    groups = list(_elements(draw_svg(make_struct(), words), "highlight"))
    assert len(groups) == rings
    assert sum(len(g.findall("{*}polygon")) for g in groups) == 2 * arrows


@pytest.mark.parametrize(("words", "points"), [("move meat d4 -> d5", "+3"), ("move stolen gems d4 -> d7", "+6")])
def test_a_delivery_shows_its_points(make_struct: MakeStruct, words: str, points: str) -> None:
    assert [_text(e) for e in _elements(draw_svg(make_struct(), words), "delivery")] == [points]
    assert not list(_elements(draw_svg(make_struct(), words.replace("-> d", "-> e")), "delivery"))


def test_kinds_differ_in_shape_and_in_colour() -> None:
    assert set(SYMBOLS) == set(GOODS)
    shapes = {re.findall(r' d="([^"]+)"| rx="([^"]+)"', symbol)[0] for symbol in SYMBOLS.values()}
    assert len(shapes) == len(GOODS)
    for which in (0, 1):
        assert len({COLOURS[good][which] for good in GOODS}) == len(GOODS)


def test_a_fixed_theme_leaves_no_custom_property(make_struct: MakeStruct) -> None:
    for which, theme in enumerate(("light", "dark")):
        svg = draw_svg(make_struct(), theme=theme)
        assert "var(" not in svg
        assert COLOURS["sand"][which] in svg and COLOURS["sand"][1 - which] not in svg
    with pytest.raises(ValueError, match="auto, light, dark"):
        draw_svg(make_struct(), theme="sepia")


@pytest.mark.parametrize("theme", ["auto", "light"])
@pytest.mark.parametrize("name", ['<script>alert("1")</script>', "a & b", "line\nbreak\x00", "var(--cvn-x) #cvn-y"])
def test_names_are_escaped(make_struct: MakeStruct, name: str, theme: str) -> None:
    svg = draw_svg(make_struct(), names=[name[:16], name], theme=theme)
    assert "<script" not in svg
    shown = name.replace("\n", "").replace("\x00", "")
    assert shown[:16] in _text(ElementTree.fromstring(svg))


def test_a_board_of_the_user_is_drawn_and_named(make_struct: MakeStruct) -> None:
    board = load_board("diagonal").to_mapping() | {"name": "my <board>", "mark": "mine"}
    svg = draw_svg(make_struct(board=board))
    assert "Board: my <board> (mine)" in _text(ElementTree.fromstring(svg))
    with pytest.raises(BadParams):
        draw_svg(make_struct(board={"name": "x"}))
