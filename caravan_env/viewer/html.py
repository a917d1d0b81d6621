"""One self-contained HTML page that replays a game: no network, works from a file, knows no game.

Neighbouring positions draw nearly the same lines of SVG. The page therefore holds every distinct line once, and a
frame as the list of its line numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from caravan_env.core.errors import BadRecord
from caravan_env.core.files import write_text
from caravan_env.core.record import Record
from caravan_env.core.svg import SEAT_COLOURS
from caravan_env.viewer.frames import TOP_ACTIONS, Frame, iter_frames, seat_colours


def write_replay(record: Record, path: str | Path, title: str | None = None, top: int = TOP_ACTIONS) -> Path:
    """Write the replay page of a record to an HTML file and return its path, see `replay_page`."""
    write_text(path, replay_page(record, title, top))
    return Path(path)


def replay_page(record: Record, title: str | None = None, top: int = TOP_ACTIONS) -> str:
    """Return the replay page of a record.

    A record that stops being playable is shown up to there, with the error above the board.

    Args:
        record: the game, whole or in part.
        title: heading of the page; None takes the game's title.
        top: how many of the mover's most probable actions are shown.

    Raises:
        BadRecord: not even the first position can be shown.
    """
    spec = record.game().spec
    frames: list[Frame] = []
    notice = _notice(record)
    try:
        frames.extend(iter_frames(record, top))
    except BadRecord as error:
        notice = f"This record is damaged and shown as far as it goes. {error}"
    return replay_html(
        frames,
        title=title or spec.title,
        agents=record.header["agents"],
        params=record.header["params"],
        result=record.result,
        notice=notice,
        colours=seat_colours(spec),
    )


def replay_html(
    frames: Sequence[Frame],
    *,
    title: str = "Replay",
    agents: Sequence[str] = (),
    params: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    notice: str = "",
    colours: Sequence[tuple[str, str]] = SEAT_COLOURS,
) -> str:
    """Return the replay page of a sequence of frames.

    Args:
        frames: the positions in order, at least one; text in their SVG must be escaped already.
        title: heading of the page.
        agents: who plays, one name per seat.
        params: rule switches, shown below the heading.
        result: the record's result line, for the final scores and returns.
        notice: a sentence shown above the board, for example why the game stopped.
        colours: a (light, dark) colour per seat.
    """
    if not frames:
        raise ValueError("a replay needs at least one frame")
    seats = max(len(agents), len(frames[0].scores))
    names = [str(agents[k]) if k < len(agents) else f"Seat {k}" for k in range(seats)]
    parts = {
        "title": _clean(": ".join([title, " against ".join(names)]) if agents else title),
        "heading": _clean(title),
        "seats": _seats(names, result),
        "params": _params(params or {}),
        "notice": f'<p class="notice" role="status">{_clean(notice)}</p>' if notice else "",
        "colours": _colour_rules(colours),
        "css": asset("page.css"),
        "js": asset("common.js") + asset("page.js"),
        "data": script_json({"agents": names, **pack_frames(frames)}),
    }
    return fill(asset("page.html"), parts)


def pack_frames(frames: Sequence[Frame]) -> dict[str, Any]:
    """Return the frames as JSON values: the distinct SVG lines, and per frame the numbers of its lines and the rest."""
    numbers: dict[str, int] = {}
    packed = []
    for frame in frames:
        lines = [numbers.setdefault(line, len(numbers)) for line in frame.svg.split("\n")]
        entry: dict[str, Any] = {"svg": lines, "text": frame.text, "seat": frame.seat}
        entry["scores"] = [_short(x) for x in frame.scores]
        if frame.turn is not None:
            entry["turn"] = frame.turn
        if frame.value is not None:
            entry["value"] = _short(frame.value)
        if frame.policy:
            entry["policy"] = [[words, _short(p)] for words, p in frame.policy]
        packed.append(entry)
    return {"lines": list(numbers), "frames": packed}


def _short(value: float) -> float | int:
    """Round to what is shown, and write whole numbers as such."""
    rounded = round(float(value), 4)
    return int(rounded) if rounded == int(rounded) else rounded


def asset(name: str, package: str = __package__) -> str:
    """Return the text of a file that lies beside a package's modules."""
    return (resources.files(package) / name).read_text(encoding="utf-8")


def fill(template: str, parts: Mapping[str, str]) -> str:
    """Return a template with every `{{name}}` replaced by that part; parts must be escaped already."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _clean(text: str) -> str:
    return escape("".join(c for c in text if c.isprintable()))


def script_json(value: Any) -> str:
    """Return JSON that cannot end the script element around it."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _colour_rules(colours: Sequence[tuple[str, str]]) -> str:
    light, dark = (";".join(f"--seat{k}:{pair[which]}" for k, pair in enumerate(colours)) for which in (0, 1))
    return (
        f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}"
        f":root[data-theme=light]{{{light}}}:root[data-theme=dark]{{{dark}}}"
    )


def _seats(names: Sequence[str], result: Mapping[str, Any] | None) -> str:
    returns = list((result or {}).get("returns", ()))
    scores = list((result or {}).get("scores", ()))
    items = []
    for seat, name in enumerate(names):
        won = bool(returns) and returns[seat] == max(returns) and max(returns) > min(returns)
        points = f' <b class="points">{_signed(scores[seat], "g")}</b>' if seat < len(scores) else ""
        gain = f' <span class="muted">({_signed(returns[seat], "+.2g")})</span>' if seat < len(returns) else ""
        css = ' class="won" title="winner"' if won else ""
        items.append(f'<li{css}><i style="background:var(--seat{seat})"></i>{_clean(name)}{points}{gain}</li>')
    return f'<ul class="seats" aria-label="players">{"".join(items)}</ul>'


def _signed(value: float, form: str) -> str:
    return format(value, form).replace("-", "−")


def _params(params: Mapping[str, Any]) -> str:
    def shown(value: Any) -> str:
        if isinstance(value, Mapping):
            value = value.get("name", "custom")
        return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

    items = (f"<span>{_clean(name.replace('_', ' '))}: {_clean(shown(value))}</span>" for name, value in params.items())
    return " ".join(items)


def _notice(record: Record) -> str:
    result = record.result
    if result is None:
        return "The game was not finished."
    if result.get("type") == "error":
        return f"Broken off in the turn of seat {result['seat']}: {result['message']}"
    return "The game was cut off at its turn limit." if result.get("truncated") else ""
