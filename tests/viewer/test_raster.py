"""SVG to pixels."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from caravan_env.games.caravan.draw import COLOURS, draw_svg
from caravan_env.viewer import svg_to_png, svg_to_rgb

Struct = dict[str, Any]


def _rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5))


@pytest.mark.parametrize(("which", "theme"), [(0, "light"), (1, "dark")])
def test_pixels_have_the_colours_of_the_theme(make_struct: Callable[..., Struct], which: int, theme: str) -> None:
    pixels = svg_to_rgb(draw_svg(make_struct(4), theme=theme), width=500)
    assert pixels.dtype == np.uint8 and pixels.shape[1:] == (500, 3) and 300 < pixels.shape[0] < 400
    assert tuple(pixels[2, 2]) == _rgb(COLOURS["page"][which])
    for name in ("sand", "seat0", "seat1", "seat2", "seat3", "coin"):
        assert (pixels == _rgb(COLOURS[name][which])).all(axis=2).any(), name


def test_png_has_the_natural_size(make_struct: Callable[..., Struct]) -> None:
    png = svg_to_png(draw_svg(make_struct(), theme="light"))
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20], "big") == 1008


def test_an_svg_that_follows_a_page_is_refused(make_struct: Callable[..., Struct]) -> None:
    with pytest.raises(ValueError, match="light"):
        svg_to_png(draw_svg(make_struct()))


def test_a_missing_library_is_named(make_struct: Callable[..., Struct], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match=r"caravan_env\[render\]"):
        svg_to_png(draw_svg(make_struct(), theme="light"))
