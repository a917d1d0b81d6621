"""The replay page: complete, self-contained, compact, and safe with any name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from caravan_env.core.record import Record
from caravan_env.viewer import Frame, frames_from_record, replay_html, write_replay

PlayRecord = Callable[..., Record]


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def _data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def _svgs(page: str) -> list[str]:
    data = _data(page)
    return ["\n".join(data["lines"][n] for n in frame["svg"]) for frame in data["frames"]]


def _toy_frames() -> list[Frame]:
    return [
        Frame(f"<svg viewBox='0 0 9 9'>\n<text>{k}</text>\n</svg>", f"step {k}" if k else "", k % 2 - 1, (k, -k))
        for k in range(4)
    ]


def test_frames_tell_what_the_record_tells(play_record: PlayRecord) -> None:
    record = play_record(plies=12)
    frames = frames_from_record(record)
    assert [frame.text for frame in frames] == ["", *(event.text for event in record.events)]
    assert [frame.seat for frame in frames] == [-1, *(event.seat for event in record.events)]
    for frame, event in zip(frames[1:], record.events, strict=True):
        assert frame.value == event.value
        if event.kind == "move":
            assert (event.text, 0.5) in frame.policy and len(frame.policy) <= 2
        else:
            assert not frame.policy
    turns = [frame.turn for frame in frames if frame.turn is not None]
    assert len(turns) == len(frames) and turns == sorted(turns)


def test_the_page_holds_every_frame(play_record: PlayRecord, tmp_path: Path) -> None:
    record = play_record(plies=12)
    page = write_replay(record, tmp_path / "game.html").read_text(encoding="utf-8")
    frames = frames_from_record(record)
    assert _svgs(page) == [frame.svg for frame in frames]
    packed = _data(page)["frames"]
    assert [frame["text"] for frame in packed] == [frame.text for frame in frames]
    assert [frame["scores"] for frame in packed] == [list(frame.scores) for frame in frames]
    assert "The game was not finished." in page


def test_any_game_can_be_shown() -> None:
    page = replay_html(_toy_frames(), title="Toy", params={"size": 3, "fast": True})
    assert _svgs(page) == [frame.svg for frame in _toy_frames()]
    assert "<h1>Toy</h1>" in page and "fast: yes" in page and "Seat 1" in page
    with pytest.raises(ValueError, match="at least one frame"):
        replay_html([])


def test_the_header_names_players_board_and_result(play_record: PlayRecord, tmp_path: Path) -> None:
    record = play_record(agents=["ann", "bob"], turn_limit=5, board="pinwheel")
    page = write_replay(record, tmp_path / "game.html").read_text(encoding="utf-8")
    assert record.result and record.result["truncated"]
    for part in ("<h1>Caravan</h1>", "ann", "bob", "board: pinwheel", "turn limit: 5", "cut off at its turn limit"):
        assert part in page
    scores = [f"{x:g}".replace("-", "−") for x in record.result["scores"]]
    assert re.findall(r'<b class="points">(.*?)</b>', page) == scores


def test_the_page_loads_nothing(play_record: PlayRecord, tmp_path: Path) -> None:
    page = write_replay(play_record(plies=12), tmp_path / "game.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert not re.findall(r"(?:https?:)?//(?!www\.w3\.org/(?:2000/svg|1999/xlink))[a-z]+\.[a-z]", page)
    assert not re.findall(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", page)
    for tag, attributes in _Tags(page).tags:
        assert tag not in ("link", "img", "iframe", "object")
        assert "src" not in attributes and not (attributes.get("href") or "#").startswith("http")


@pytest.mark.parametrize("players", [2, 4])
def test_a_long_game_is_small(play_record: PlayRecord, tmp_path: Path, players: int) -> None:
    record = play_record(plies=300, players=players)
    path = write_replay(record, tmp_path / "game.html")
    assert path.stat().st_size < 2_000_000


def test_names_cannot_break_out(play_record: PlayRecord, tmp_path: Path) -> None:
    evil = '</script><script>document.title="broken"</script>'
    record = play_record(plies=6, agents=[evil, '"><img src=x onerror=alert(1)>'])
    page = write_replay(record, tmp_path / "game.html", title="<b>{{data}}</b>").read_text(encoding="utf-8")
    tags = [tag for tag, _ in _Tags(page).tags]
    assert tags.count("script") == 2 and "img" not in tags
    assert "&lt;b&gt;{{data}}&lt;/b&gt;" in page
    assert _data(page)["agents"][0] == evil
    assert all("<script" not in svg and "<img" not in svg for svg in _svgs(page))


def test_a_damaged_record_is_shown_as_far_as_it_goes(play_record: PlayRecord, tmp_path: Path) -> None:
    record = play_record(plies=8)
    for line in (-3, -1):
        event = record.events[line]
        object.__setattr__(event, "digest", "00000000")
    page = write_replay(record, tmp_path / "game.html").read_text(encoding="utf-8")
    assert len(_data(page)["frames"]) == len(record.events) - 2
    assert f"line {len(record.events) - 1}:" in page


def test_a_broken_off_game_says_why(play_record: PlayRecord, tmp_path: Path) -> None:
    record = play_record(plies=3)
    record.result = {"type": "error", "seat": 1, "action": 5, "message": "action 5 <is> not legal"}
    page = write_replay(record, tmp_path / "game.html").read_text(encoding="utf-8")
    assert "Broken off in the turn of seat 1: action 5 &lt;is&gt; not legal" in page
