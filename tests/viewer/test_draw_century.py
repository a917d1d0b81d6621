"""The drawing of Century: every card, cube and coin of a position is in the picture, and the picture is sound."""

from __future__ import annotations

import copy
import functools
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from caravan_env.core.record import read_record
from caravan_env.games.century.art import PALETTE, SHAPES
from caravan_env.games.century.draw import SEAT_COLOURS, draw_svg
from caravan_env.viewer import write_replay
from tests.reference.century import COLOURS, FACE_DOWN, HAND_ORDER, MERCHANTS, POINT_CARDS, STARTING, Century, cubes_of
from tests.reference.players_century import draw_chance, mix

Struct = dict[str, Any]
Step = tuple[Struct, str | None, int]
PLAYERS = (1, 2, 3, 4, 5)
HREF = "href"
GOLDEN = Path(__file__).parents[1] / "golden" / "century"


@functools.cache
def _played(players: int) -> list[Step]:
    """Play a game of the reference: each position, the words that led to it, and who moved."""
    rng = random.Random(players)
    game = Century({"players": players}, count=False)
    movers = mix(players, rng)
    steps: list[Step] = [(game.struct(), None, -1)]
    while game.phase != "over":
        seat = game.seat if game.legal() else -1
        words = movers[seat](game, rng) if game.legal() else draw_chance(game, rng)
        (game.play if game.legal() else game.resolve)(words)
        steps.append((game.struct(), words, seat))
    return steps


def _position(players: int = 2, **fields: Any) -> Struct:
    """Return a copy of a position in the middle of a game in which a turn begins."""
    steps = [struct for struct, _, _ in _played(players) if struct["phase"] == "turn"]
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


def _cubes(element: ElementTree.Element) -> Counter[str]:
    """Count the cubes that are drawn one by one in an element."""
    refs = (use.get(HREF, "").removeprefix("#cvn-") for use in element.iter() if use.tag.endswith("}use"))
    return Counter(ref for ref in refs if ref in COLOURS)


def _check_row(root: ElementTree.Element, struct: Struct) -> None:
    cards = {int(e.get("data-place", 0)): e.get("data-card") for e in _elements(root, "merchant card")}
    lying = {int(e.get("data-place", 0)): _cubes(e) for e in _elements(root, "lying")}
    empty = {int(e.get("data-place", 0)) for e in _elements(root, "place merchant")}
    places = dict(enumerate(struct["merchants"], start=1))
    assert cards == {k: place["card"] for k, place in places.items() if place["card"]}
    assert empty == {k for k, place in places.items() if not place["card"]}
    few = {k: +Counter(place["cubes"]) for k, place in places.items() if 0 < sum(place["cubes"].values()) <= 6}
    assert {k: lying[k] for k in few} == few and len(lying) == sum(any(p["cubes"].values()) for p in places.values())


def _check_points(root: ElementTree.Element, struct: Struct) -> None:
    cards = {int(e.get("data-place", 0)): e.get("data-card") for e in _elements(root, "point card")}
    backs = {int(e.get("data-place", 0)) for e in _elements(root, "point back")}
    empty = {int(e.get("data-place", 0)) for e in _elements(root, "place point")}
    places = dict(enumerate(struct["points"], start=1))
    assert cards == {k: card for k, card in places.items() if card not in (None, FACE_DOWN)}
    assert backs == {k for k, card in places.items() if card == FACE_DOWN}
    assert empty == {k for k, card in places.items() if card is None}
    piles = {kind: int(e.get("data-count", 0)) for kind in struct["coins"] for e in _elements(root, f"coins {kind}")}
    assert piles == {kind: count for kind, count in struct["coins"].items() if count}


def _check_side(panel: ElementTree.Element, side: Struct) -> None:
    for state in ("hand", "played"):
        drawn = [e.get("data-card") for e in _elements(panel, f"card {state}")]
        assert drawn == sorted(side[state], key=HAND_ORDER.__getitem__)
    coins = {
        kind: int(e.get("data-count", 0)) for kind in ("gold", "silver") for e in _elements(panel, f"coins {kind}")
    }
    assert coins == {kind: side[kind] for kind in ("gold", "silver") if side[kind]}
    _check_holdings(panel, side)


def _check_holdings(panel: ElementTree.Element, side: Struct) -> None:
    (tray,) = _elements(panel, "tray")
    assert cubes_of(tray.get("data-cubes", "")) == side["cubes"]
    assert sum(side["cubes"].values()) > 20 or _cubes(tray) == +Counter(side["cubes"])
    assert [e.get("data-card") for e in _elements(panel, "taken")] == side["points"]
    assert [_text(e) for e in _elements(panel, "score")] == [str(side["score"])]


def _check_whole(root: ElementTree.Element, struct: Struct) -> None:
    _check_row(_box(root, "merchants"), struct)
    _check_points(_box(root, "points"), struct)
    for seat, side in enumerate(struct["seats"]):
        _check_side(_box(root, f"panel{seat}"), side)
    if struct["automa"]:
        _check_holdings(_box(root, "automa"), struct["automa"])
        coins = [int(e.get("data-count", 0)) for e in _elements(_box(root, "automa"), "coins")]
        assert coins == [struct["automa"]["coins"]] * (struct["automa"]["coins"] > 0)


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_the_picture_is_well_formed(players: int, theme: str) -> None:
    for struct, words, _ in _played(players)[::40]:
        svg = draw_svg(struct, words, theme=theme)
        root = ElementTree.fromstring(svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(svg) < 70_000
        ids = [element.get("id") for element in root.iter() if element.get("id")]
        assert len(ids) == len(set(ids))
        assert {element.get(HREF, "#")[1:] for element in root.iter() if element.get(HREF)} <= set(ids)
        if theme != "auto":
            assert "var(" not in svg and PALETTE["cloth"][theme == "dark"] in svg
            assert PALETTE["cloth"][theme == "light"] not in svg


@pytest.mark.parametrize("players", PLAYERS)
def test_every_card_cube_and_coin_is_drawn(players: int) -> None:
    for struct, words, _ in _played(players)[::11]:
        _check_whole(_drawn(struct, words), struct)


def test_every_face_of_a_card_shows_what_it_does() -> None:
    root = _drawn(_position())
    faces = {element.get("id"): element for element in root.iter() if element.get("id")}
    for number, name in enumerate((*MERCHANTS, *STARTING)):
        shown = _cubes(faces[f"cvn-m{number}"])
        assert shown == (Counter(COLOURS) if name.startswith("^") else Counter(re.sub("[+>]", "", name)))
    for number, name in enumerate(POINT_CARDS):
        cost, points = name.split("=")
        face = faces[f"cvn-p{number}"]
        assert _cubes(face) == Counter(cost) and _text(face) == points


def test_cubes_differ_in_shape_and_in_colour() -> None:
    assert set(SHAPES) == set(COLOURS) and len({shape.split()[0] + shape[-20:] for shape in SHAPES.values()}) == 4
    for which in (0, 1):
        assert len({PALETTE[colour][which] for colour in COLOURS}) == 4
    assert len(SEAT_COLOURS) == 5


PHASES = {
    "turn": "A turn begins",
    "trade": r"Trading with [YRGB]+>[YRGB]+, once more or not",
    "upgrade": r"[123] upgrade steps? left with \^[23]",
    "pay": r"\d of \d cubes? paid for place \d",
    "merchant": r"A merchant is drawn for place \d",
    "point": r"A point card is drawn for place \d",
    "roll": "The die is rolled",
    "return": r"\d+ cubes? too many, to be returned",
}


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_is_told(phase: str) -> None:
    found = [struct for players in PLAYERS for struct, _, _ in _played(players) if struct["phase"] == phase]
    assert found
    for struct in found[:: max(1, len(found) // 5)]:
        root = _drawn(struct)
        assert re.search(PHASES[phase], _text(_box(root, "status")))
        assert len(list(_elements(root, "awaited"))) == (phase in ("merchant", "point"))
        assert len(list(_elements(root, "pending"))) == (phase == "pay")


@pytest.mark.parametrize(
    ("own", "other", "truncated", "words", "star"),
    [
        (50, 49, False, "The player wins: 50 to 49 points", "panel0"),
        (49, 50, False, "The player loses: 49 to 50 points", "automa"),
        (50, 50, False, "The player does not win, a tie is not enough", None),
        (50, 49, True, "Not won: 50 to 49 points", None),
    ],
)
def test_the_end_of_a_solo_game_is_told(own: int, other: int, truncated: bool, words: str, star: str | None) -> None:
    struct = _position(1, phase="over", truncated=truncated)
    struct["seats"][0]["score"], struct["automa"]["score"] = own, other
    root = _drawn(struct)
    assert words in _text(root) and ("Game over at the turn limit" in _text(root)) == truncated
    assert [name for name in ("panel0", "automa") if "★" in _text(_box(root, name))] == ([star] if star else [])


def test_of_tied_players_the_later_wins() -> None:
    struct = _position(3, phase="over")
    for side, score in zip(struct["seats"], (60, 60, 59), strict=True):
        side["score"] = score
    root = _drawn(struct)
    assert "Seat 1 wins" in _text(root) and "★" in _text(_box(root, "panel1"))


@pytest.mark.parametrize("players", PLAYERS)
def test_the_mark_is_in_the_panel_of_the_mover(players: int) -> None:
    marked: Counter[str] = Counter()
    claims = [step for step in _played(players) if str(step[1]).startswith("claim")]
    for struct, words, mover in (*_played(players)[1::4], *claims):
        root = _drawn(struct, words)
        panels = [seat for seat in range(players) if list(_elements(_box(root, f"panel{seat}"), "highlight"))]
        kind = str(words).split()[0]
        in_panel = mover >= 0 and kind != "done" and not (kind == "acquire" and struct["phase"] == "pay")
        assert panels == ([mover] if in_panel else []), words
        assert [e.get("data-kind") for e in _elements(root, "event")] == [kind]
        assert str(words) in _text(_box(root, "status"))
        marked[kind] += 1
    assert {"play", "acquire", "claim", "draw", "rest"} <= set(marked)


@pytest.mark.parametrize(
    ("words", "fields", "merchants", "points"),
    [
        ("acquire YY>G at place 3", {}, "source", ""),
        ("acquire YY>G at place 3", {"phase": "pay", "pending": {"place": 3, "paid": 0}}, "full", ""),
        ("pay Y", {"phase": "pay", "pending": {"place": 3, "paid": 1}}, "full", ""),
        ("pay Y", {}, "", ""),
        ("claim YYRR=6 at place 1", {}, "", "source"),
        ("draw YY>G for merchant place 6", {}, "full", ""),
        ("draw YYRR=6 for point place 5", {}, "", "full"),
        ("roll 4", {}, "full", ""),
        ("play +YY", {}, "", ""),
        ("trade once more", {}, "", ""),
        ("upgrade Y to R", {}, "", ""),
        ("return Y", {}, "", ""),
        ("rest", {}, "", ""),
        ("done", {}, "", ""),
        ("roll 7", {}, "", ""),
        ("acquire YY>G at place 9", {}, "", ""),
        ("something else", {}, "", ""),
        (None, {}, "", ""),
    ],
)
def test_places_are_marked(words: str | None, fields: Struct, merchants: str, points: str) -> None:
    root = _drawn(_position(**fields), words)
    for box, wanted in (("merchants", merchants), ("points", points)):
        marks = [
            "source" if "source" in e.get("class", "") else "full" for e in _elements(_box(root, box), "highlight")
        ]
        assert marks == ([wanted] if wanted else [])


def test_the_die_shows_what_was_rolled() -> None:
    for number in range(1, 7):
        (event,) = _elements(_drawn(_position(1), f"roll {number}"), "event")
        assert event[0].get(HREF) == f"#cvn-die{number}"


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("many", ["Y" * 11, "YYYYYRRRRRGGGGGBBBBB", "Y" * 14 + "R" * 9 + "B" * 12])
def test_more_cubes_than_ten_are_shown(players: int, many: str) -> None:
    struct = _position(players)
    struct["seats"][0]["cubes"] = cubes_of(many)
    struct["merchants"][0] = {"card": "YY>G", "cubes": cubes_of(many)}
    root = _drawn(struct)
    _check_side(_box(root, "panel0"), struct["seats"][0])
    (tray,) = _elements(_box(root, "panel0"), "tray")
    (lying,) = (e for e in _elements(_box(root, "merchants"), "lying") if e.get("data-place") == "1")
    numbers = "".join(str(count) for count in cubes_of(many).values() if count)
    assert _text(tray) == (numbers if len(many) > 20 else "") and _text(lying) == numbers


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("count", [2, 12, 43])
def test_cards_stay_in_their_panel(players: int, count: int) -> None:
    struct = _position(players)
    struct["seats"][0] |= {"hand": list(HAND_ORDER)[:count], "played": [], "points": list(POINT_CARDS)[:9]}
    panel = _box(_drawn(struct), "panel0")
    width, height = (float(panel[0].get(name, 0)) for name in ("width", "height"))
    for css, size in (("card", (92, 146)), ("taken", (18, 20))):
        for element in _elements(panel, css):
            x, y, scale = map(float, re.findall(r"[\d.]+", element.get("transform", "")))
            assert x > 0 and x + size[0] * scale <= width
            assert y > 0 and y + size[1] * scale <= height


@pytest.mark.parametrize("players", PLAYERS)
def test_the_tall_layout_has_every_box_below_the_one_before(players: int) -> None:
    svg = draw_svg(_position(players))
    root = ElementTree.fromstring(svg)
    tall = [float(x) for x in root.get("data-tall-viewbox", "").split()]
    ends, bottom = {}, 0.0
    for name, x, y, scale in re.findall(
        r"\.tall \.cvn-(\w+)\{transform:translate\((\S+)px,(\S+)px\)(?: scale\((\S+)\))?", svg
    ):
        frame = _box(root, name)[0]
        width, height = (float(frame.get(side, 0)) * float(scale or 1) for side in ("width", "height"))
        assert float(x) + width <= tall[2]
        ends[float(y)] = float(y) + height
    for top, end in sorted(ends.items()):
        assert top >= bottom
        bottom = end
    assert len(ends) == players + 4 and bottom <= tall[3]


@pytest.mark.parametrize("theme", ["auto", "light"])
@pytest.mark.parametrize("name", ['<b>"x"', "a & b", "line\nbreak\x00", "#cvn-m1 cvn"])
def test_names_are_escaped(name: str, theme: str) -> None:
    struct = _position()
    struct["seats"][1] |= {"gold": 0, "silver": 0}
    root = _drawn(struct, names=["ann", name], theme=theme)
    css = "cvn-panel1" if theme == "auto" else "cvn-light-panel1"
    assert name.replace("\n", "").replace("\x00", "") in _text(next(_elements(root, css)))


def test_a_theme_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="auto, light, dark"):
        draw_svg(_position(), theme="sepia")


@pytest.mark.parametrize("variant", ["default", "five"])
def test_a_whole_game_is_a_small_page_of_rounds(variant: str, tmp_path: Path) -> None:
    record = read_record(GOLDEN / f"{variant}.jsonl")
    page = write_replay(record, tmp_path / "game.html").read_text(encoding="utf-8")
    assert len(page) < 1_500_000
    turns = [int(turn) for turn in re.findall(r'"turn":(\d+)', page)]
    assert len(turns) == len(record.events) + 1 and turns == sorted(turns) and turns[-1] > turns[0] == 0
