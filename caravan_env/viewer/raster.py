"""Turns an SVG into pixels, for `render_mode="rgb_array"` and for pictures in documents.

Needs the extra `render` (resvg-py and pillow). The SVG must have fixed colours: draw it with `theme="light"` or
`"dark"`, because rasterisers know no CSS custom properties.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HINT = 'drawing pixels needs resvg-py and pillow: pip install "caravan_env[render]"'


def svg_to_png(svg: str, width: int | None = None) -> bytes:
    """Return a PNG picture of an SVG.

    Args:
        svg: the text of an `<svg>` element with fixed colours.
        width: in pixels; None takes the SVG's own. The height follows.

    Raises:
        ImportError: resvg-py is not installed; the message says how to install it.
        ValueError: the SVG uses custom properties, or is malformed.
    """
    if '="var(--' in svg:
        raise ValueError('this SVG follows the theme of a page; draw it with theme="light" or theme="dark"')
    resvg: Any = _load("resvg_py")
    png: bytes = resvg.svg_to_bytes(svg_string=svg, width=width, font_family="sans-serif")
    return png


def svg_to_rgb(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """Return the pixels of an SVG as a uint8 array of shape (height, width, 3), see `svg_to_png`."""
    import numpy as np

    image: Any = _load("PIL.Image")
    with image.open(io.BytesIO(svg_to_png(svg, width))) as picture:
        return np.asarray(picture.convert("RGB"), dtype=np.uint8).copy()


def _load(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(_HINT) from error
