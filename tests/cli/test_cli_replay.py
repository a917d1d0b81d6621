"""`caravan replay`: a record as text, with keys, as JSON, as a page; damaged records."""

from __future__ import annotations

import io
import json

import pytest

from agents.registry import make_agent
from caravan_env.cli import replay as replay_module
from caravan_env.cli.replay import next_place, scenes
from caravan_env.core.match import play_match
from caravan_env.core.record import read_record
from caravan_env.core.registry import make_game


@pytest.fixture(scope="module")
def record():
    game = make_game("caravan", turn_limit=6)
    return play_match(game, [make_agent("random", game), make_agent("first", game)], seed=2)


@pytest.fixture
def file(record, tmp_path):
    record.save(tmp_path / "game.jsonl")
    return tmp_path / "game.jsonl"


def test_without_a_terminal_every_step_is_a_line(caravan, file, record):
    lines = caravan("replay", file).out.splitlines()
    assert len(lines) == len(record.events) + 2
    assert all(event.text in line for event, line in zip(record.events, lines[1:], strict=False))
    assert lines[-1].startswith("result: random ")


def test_json_tells_what_the_record_holds(caravan, file, record):
    told = caravan("replay", file, "--json").json
    assert told["agents"] == ["random", "first"]
    assert told["steps"] == len(record.events)
    assert told["result"] == record.result


def test_a_page_is_written(caravan, file, tmp_path):
    page = tmp_path / "game.html"
    assert str(page) in caravan("replay", file, "--html", page).out
    assert "<svg" in page.read_text(encoding="utf-8")


def test_keys_move_through_the_scenes(record):
    shown = scenes(record)
    last = len(shown) - 1
    assert next_place(shown, 0, "\x1b[C") == 1
    assert next_place(shown, 0, "p") == 0
    assert next_place(shown, last, "n") == last
    assert next_place(shown, 3, "G") == last
    assert next_place(shown, 3, "g") == 0
    assert next_place(shown, 5, "x") == 5
    first_move = next(k for k, scene in enumerate(shown) if scene.seat >= 0)
    other = next_place(shown, first_move, "t")
    assert shown[other].seat != shown[first_move].seat


def test_stepping_shows_boards_until_q(caravan, file, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    keys = iter(["n", "G", "q"])
    terminal = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setattr(replay_module.click, "getchar", lambda: next(keys))
    assert caravan("replay", file).code == 0
    shown = terminal.getvalue()
    assert "0/" in shown
    assert "q: leave" in shown
    assert next(keys, None) is None


def test_a_damaged_record_names_the_line_and_can_be_shown_in_part(caravan, file, tmp_path):
    lines = file.read_text(encoding="utf-8").splitlines()
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text("\n".join([*lines[:5], lines[5][:20]]), encoding="utf-8")
    assert "line 6" in caravan("replay", damaged).sentence
    shown = caravan("replay", damaged, "--partial").out.splitlines()
    assert len(shown) == 4 + 2
    assert "not finished" in shown[-1]


def test_a_record_that_plays_otherwise_names_the_line(caravan, file, tmp_path):
    lines = file.read_text(encoding="utf-8").splitlines()
    event = json.loads(lines[3])
    lines[3] = json.dumps({**event, "digest": "00000000"})
    changed = tmp_path / "changed.jsonl"
    changed.write_text("\n".join(lines), encoding="utf-8")
    assert "line 4" in caravan("replay", changed).sentence
    assert "damaged here: line 4" in caravan("replay", changed, "--partial").out


def test_a_broken_off_game_says_why(caravan, file, record, tmp_path):
    fault = read_record(file)
    fault.result = {"type": "error", "seat": 1, "action": 5, "message": "agent 'x' in seat 1: no such action"}
    fault.save(tmp_path / "fault.jsonl")
    assert "broken off: agent 'x'" in caravan("replay", tmp_path / "fault.jsonl").out
