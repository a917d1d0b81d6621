"""The replay page in a headless browser: keys, list, slider, themes and narrow screens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from caravan_env.core.record import Record
from caravan_env.viewer import write_replay

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory, play_record: Callable[..., Record]) -> tuple[str, Record]:
    record = play_record(plies=40, agents=["<script>document.title='broken'</script>", "bob"])
    path: Path = write_replay(record, tmp_path_factory.mktemp("replay") / "game.html")
    return path.as_uri(), record


@pytest.fixture
def page(browser: Browser, replay: tuple[str, Record]) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda request: errors.append(request.url) if not request.url.startswith("file:") else None)
    opened.goto(replay[0])
    yield opened
    assert errors == []
    context.close()


def _step(page: Page) -> int:
    return int(page.evaluate("document.body.dataset.step"))


def _press(page: Page, *keys: str) -> int:
    for key in keys:
        page.keyboard.press(key)
    return _step(page)


def test_keys_move_through_the_game(page: Page, replay: tuple[str, Record]) -> None:
    last = len(replay[1].events)
    assert _step(page) == 0 and page.inner_text("#step") == f"0 / {last}"
    assert _press(page, "ArrowRight", "ArrowRight", "ArrowRight") == 3
    assert page.inner_text("#what") == replay[1].events[2].text
    assert page.inner_text("#list [aria-current]") == replay[1].events[2].text
    assert page.input_value("#slider") == "3"
    assert _press(page, "ArrowLeft") == 2
    assert _press(page, "ArrowDown") == 12
    assert _press(page, "ArrowUp") == 2
    assert _press(page, "End", "ArrowRight") == last
    assert _press(page, "Home", "ArrowLeft") == 0


def test_shift_moves_by_turns(page: Page) -> None:
    turns = page.evaluate("JSON.parse(document.getElementById('data').textContent).frames.map(f => f.turn)")
    starts = [k for k in range(1, len(turns)) if turns[k] != turns[k - 1]]
    for start in starts[:4]:
        assert _press(page, "Shift+ArrowRight") == start
    assert _press(page, "Shift+ArrowLeft") == starts[2]
    assert _press(page, "ArrowRight", "Shift+ArrowLeft") == starts[2]


def test_the_board_shows_the_step(page: Page, replay: tuple[str, Record]) -> None:
    moves = [k for k, event in enumerate(replay[1].events, start=1) if event.text.startswith("camel off")]
    _press(page, "Home", *["ArrowRight"] * moves[0])
    assert page.locator("#board svg g.camel").count() == 1
    assert page.locator("#board svg g.highlight").count() == 1


def test_list_slider_and_chart_lead_to_a_step(page: Page) -> None:
    page.click("#list button >> nth=7")
    assert _step(page) == 7
    page.locator("#slider").fill("20")
    assert _step(page) == 20
    entry, box = page.locator("#list [aria-current]").bounding_box(), page.locator("#list").bounding_box()
    assert entry and box and box["y"] <= entry["y"] <= box["y"] + box["height"] - entry["height"]
    page.click("#lines svg", position={"x": 5, "y": 40})
    assert _step(page) == 0


def test_it_plays_and_pauses(page: Page) -> None:
    page.select_option("#speed", "60")
    page.click("#play")
    page.wait_for_selector("body:not([data-step='0'])")
    page.click("#play")
    stopped = _step(page)
    page.wait_for_timeout(200)
    assert _step(page) == stopped
    assert page.get_attribute("#play", "aria-label") == "play"


def test_thoughts_and_scores_are_shown(page: Page, replay: tuple[str, Record]) -> None:
    first_move = next(k for k, event in enumerate(replay[1].events, start=1) if event.kind == "move")
    _press(page, *["ArrowRight"] * first_move)
    assert page.inner_text("#thought .value") == "expects +0.25"
    assert page.inner_text("#thought .played").startswith(replay[1].events[first_move - 1].text)
    assert page.locator("#lines path").count() == 2
    assert page.title().startswith("Caravan: <script>")


def test_the_theme_follows_the_system_and_the_button(page: Page) -> None:
    def shades() -> list[str]:
        colours: list[str] = page.evaluate(
            "[getComputedStyle(document.body).backgroundColor,"
            " getComputedStyle(document.querySelector('#board rect')).fill]"
        )
        return colours

    page.emulate_media(color_scheme="light")
    light = shades()
    page.emulate_media(color_scheme="dark")
    dark = shades()
    assert all(a != b for a, b in zip(light, dark, strict=True))
    page.click("#theme")
    assert shades() == light
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert shades() == dark


@pytest.mark.parametrize("width", [360, 400, 700, 1000, 1280, 1920])
def test_it_fits_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(50)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    board = page.locator("#board svg").bounding_box()
    assert board and board["width"] > 0.5 * min(width, 1000)
    assert page.evaluate("document.querySelector('#board svg').classList.contains('tall')") == (width < 640)
    controls = page.locator("#controls").bounding_box()
    assert controls and controls["y"] + controls["height"] <= 800
    if width >= 1000:
        assert page.evaluate("document.documentElement.scrollHeight") <= 800


def test_a_link_opens_a_step(browser: Browser, replay: tuple[str, Record]) -> None:
    opened = browser.new_page()
    opened.goto(f"{replay[0]}#9")
    assert _step(opened) == 9
    opened.close()
