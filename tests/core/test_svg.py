"""Writing SVG: numbers, text that cannot break out, boxes, and fixed themes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from caravan_env.core import svg
from caravan_env.core.svg import Box

BOXES = {"status": Box(100, 40, (10, 20), (1, 2), 1.5), "other": Box(60, 30, (10, 70), (5, 6))}


def _picture(theme: str, words: str = "words") -> str:
    lines = [svg.text(1, 2, words), *svg.boxed("status", BOXES["status"], [svg.use("coin", 5, 5)], svg.colour("mark"))]
    return svg.picture(
        lines,
        theme=theme,
        colours=svg.COLOURS | {"own": ("#123456", "#654321")},
        definitions=svg.coin_symbol(fill="own"),
        boxes=BOXES,
        wide=(200, 100),
        tall=(120, 240.5),
        label=f"a <{words}>",
    )


@pytest.mark.parametrize(("value", "written"), [(1, "1"), (2.0, "2"), (1.25, "1.2"), (10.04, "10"), (-3.5, "-3.5")])
def test_coordinates_are_short(value: float, written: str) -> None:
    assert svg.num(value) == written


def test_scores_have_a_real_minus_sign() -> None:
    assert svg.points(-2.0) == "\u22122" and svg.points(1.5) == "1.5"


def test_long_text_ends_with_an_ellipsis() -> None:
    assert svg.shortened("abcde", 5) == "abcde" and svg.shortened("abcdef", 5) == "abcd\u2026"


@pytest.mark.parametrize("words", ["<b>&\"'", "line\nbreak\x00", "cvn-page var(--cvn-page)"])
@pytest.mark.parametrize("theme", svg.THEMES)
def test_text_stays_text(theme: str, words: str) -> None:
    root = ElementTree.fromstring(_picture(theme, words))
    shown = words.replace("\n", "").replace("\x00", "")
    assert [element.text for element in root.findall(".//{*}text")] == [shown]
    assert root.get("aria-label") == f"a <{shown}>"


def test_the_automatic_theme_has_both_sets_of_colours_and_both_layouts() -> None:
    picture = _picture("auto")
    assert picture.count("--cvn-own:#123456") == 2 and picture.count("--cvn-own:#654321") == 2
    assert ".cvn.tall .cvn-status{transform:translate(1px,2px) scale(1.5)}" in picture
    assert ".cvn.tall .cvn-other{transform:translate(5px,6px)}" in picture
    assert 'data-tall-viewbox="0 0 120 240.5"' in picture and 'viewBox="0 0 200 100"' in picture


@pytest.mark.parametrize(("theme", "own", "other"), [("light", "#123456", "#654321"), ("dark", "#654321", "#123456")])
def test_a_fixed_theme_has_its_colours_and_names_of_its_own(theme: str, own: str, other: str) -> None:
    picture = _picture(theme)
    assert own in picture and other not in picture and "var(" not in picture
    assert f'id="cvn-{theme}-coin"' in picture and f'href="#cvn-{theme}-coin"' in picture


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ValueError, match="auto, light, dark"):
        _picture("sepia")


def test_boxes_stand_below_each_other() -> None:
    assert svg.stacked(["a", "b"], {"a": 10, "b": 5}, 3, 4, 2) == {"a": (3, 4), "b": (3, 16)}
