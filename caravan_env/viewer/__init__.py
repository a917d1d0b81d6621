"""Shows any registered game: a record becomes SVG frames, one HTML page, or pixels."""

from __future__ import annotations

from caravan_env.viewer.frames import Frame, frames_from_record, iter_frames
from caravan_env.viewer.html import replay_html, replay_page, write_replay
from caravan_env.viewer.raster import svg_to_png, svg_to_rgb

__all__ = [
    "Frame",
    "frames_from_record",
    "iter_frames",
    "replay_html",
    "replay_page",
    "svg_to_png",
    "svg_to_rgb",
    "write_replay",
]
