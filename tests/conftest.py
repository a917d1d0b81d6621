"""What all tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
os.environ["COLUMNS"] = "160"  # tables of the command line have the same width everywhere

# No deadline: the first example of a test may compile kernels. In CI the same examples are tried every time.
settings.register_profile(
    "here", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("here")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window; tests that need one are left out where there is none."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("there is no chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield chromium
        chromium.close()
