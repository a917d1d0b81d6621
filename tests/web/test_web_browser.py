"""The page of `caravan web` in a headless browser: a game by keyboard and by clicks on the board, themes, widths."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
import uvicorn

from caravan_env.web.app import make_app
from caravan_env.web.menu import Preset

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

REFUSED = "400 (Bad Request)"  # what the browser says of a request that got its sentence
PRESET = Preset("caravan", {"turn_limit": 6, "starting_seat": 0}, ["first"])


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server in a thread of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(PRESET), log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """The page with a game in which the person is to move; it may load nothing from elsewhere and log no error."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on(
        "console", lambda said: errors.append(said.text) if said.type == "error" and REFUSED not in said.text else None
    )
    opened.on(
        "request", lambda request: errors.append(request.url) if not request.url.startswith((url, "data:")) else None
    )
    opened.goto(url)
    opened.select_option("#pace", "0", force=True)
    opened.keyboard.press("Enter")
    opened.wait_for_selector("body[data-turn=yours]")
    yield opened
    assert errors == []
    context.close()


def event(page: Page) -> int:
    return int(page.get_attribute("body", "data-event") or 0)


def test_a_game_by_keyboard(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("off b2")
    assert page.inner_text("#count").startswith("1 of ")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=You: camel off -> b2 >> nth=0")
    page.wait_for_selector("body:not([data-turn=theirs])")
    while page.get_attribute("body", "data-turn") != "over":
        before = event(page)
        page.fill("#filter", "end turn")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"body:not([data-event='{before}']):not([data-turn=theirs])")
    assert page.locator("#result tr").count() == 3
    assert "cut off" in page.inner_text("#result")
    assert not page.locator("#choose").is_visible()
    with page.expect_download() as download:
        page.click("#save-record")
    assert download.value.suggested_filename == "caravan.jsonl"


def test_arrow_keys_move_in_the_list_of_actions(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") != first
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.textContent") == first
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "filter"


def test_clicks_on_the_board_filter(page: Page) -> None:
    page.locator("[data-cell=b2]").click(force=True)
    assert page.input_value("#filter") == "b2"
    assert page.inner_text("#actions button") == "camel off -> b2"
    page.keyboard.press("Enter")
    page.wait_for_selector("text=You: camel off -> b2 >> nth=0")
    assert page.input_value("#filter") == ""


def test_a_hint_is_marked_and_can_be_played(page: Page) -> None:
    page.keyboard.press("?")
    page.wait_for_selector("#advice button")
    words = page.inner_text("#actions .advised")
    assert page.inner_text("#advice span") == f"first would play: {words}"
    page.click("#advice button")
    page.wait_for_selector(f"text=You: {words} >> nth=0")


def test_a_reload_keeps_the_game_and_a_new_one_can_be_started(page: Page) -> None:
    page.fill("#filter", "off c3")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=You: camel off -> c3 >> nth=0")
    page.wait_for_selector("body[data-turn=yours]")
    seen = event(page)
    page.reload()
    page.wait_for_selector("body[data-turn=yours]")
    assert event(page) == seen
    page.click("#new")
    page.click("#more summary")
    page.fill("[data-switch=players]", "9")
    page.fill("#table .row:nth-child(2) input[type=text]", "random")
    page.click("#start")
    page.wait_for_selector("#refused:not([hidden])")
    assert "2 to 4 players" in page.inner_text("#refused")
    page.select_option("#variant", "three")
    page.fill("[data-switch=starting_seat]", "0")
    page.click("#start")
    page.wait_for_selector("#dialog:not([open])", state="attached")
    page.wait_for_selector("body[data-turn=yours]")
    assert page.locator("#seats li").count() == 3


@pytest.mark.parametrize("width", [360, 700, 1000, 1600])
def test_it_fits_the_screen(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_timeout(50)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width >= 1000:
        assert page.evaluate("document.documentElement.scrollHeight") <= 800


def test_the_theme_follows_the_system_and_the_button(page: Page) -> None:
    def shade() -> str:
        return str(page.evaluate("getComputedStyle(document.querySelector('#board rect')).fill"))

    page.emulate_media(color_scheme="light")
    light = shade()
    page.emulate_media(color_scheme="dark")
    assert shade() != light
    page.click("#theme")
    assert shade() == light
