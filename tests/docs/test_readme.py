"""The README does what it says: its Python runs, its commands run, its make targets exist."""

from __future__ import annotations

import io
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from caravan_env.cli.main import COMMANDS, call

ROOT = Path(__file__).resolve().parents[2]
#: Not `game_names()`: other tests register games of their own in the same process.
SHIPPED_GAMES = [path.parent.name for path in (ROOT / "caravan_env" / "games").glob("*/rules.py")]
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: What makes the expensive commands cheap, appended to them; everything else runs as it stands there.
CHEAPER = {
    "match": ["--games", "2"],
    "bench": ["--seconds", "0.01", "--no-starts"],
    "eval": ["--games", "4"],
    "check": ["--variant", "default"],
    "web": ["--port", "0"],
}


def blocks(language: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
    return [text for name, text in fenced if name == language]


def commands(program: str) -> list[str]:
    lines = (line.partition("#")[0].strip() for block in blocks("") for line in block.splitlines())
    return [line for line in lines if line.startswith(f"{program} ")]


def test_the_first_screen_has_the_two_commands_a_picture_and_ten_lines_of_python():
    screen = README[: README.index("## Install")]
    assert "make train" in screen
    assert "make test" in screen
    assert 'src="docs/images/' in screen
    assert len([line for line in blocks("python")[0].splitlines() if line]) <= 12


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.splitlines()[0])
def test_python_runs(block, tmp_path):
    command = [sys.executable, "-W", "error", "-c", block]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_commands_run_in_the_order_they_stand(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())  # nobody plays
    monkeypatch.setattr("caravan_env.bench.SCRIPT_STEPS", 4)
    monkeypatch.setattr("caravan_env.web.app.serve", lambda *_: None)
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    for line in commands("caravan"):
        name, *arguments = shlex.split(line)[1:]
        assert call([name, *arguments, *CHEAPER.get(name, [])]) == 0, (line, capsys.readouterr().err)
    assert (tmp_path / "game.html").exists()


def test_every_command_is_shown():
    assert {line.split()[1] for line in commands("caravan")} == set(COMMANDS)


def test_make_targets_exist():
    shown = {line.split()[1] for line in commands("make")} | set(re.findall(r"`make ([a-z]+)`", README))
    for target in shown:
        dry = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=False)
        assert dry.returncode == 0, dry.stderr
        assert dry.stdout.strip()


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*.svg")), ids=lambda path: path.name)
def test_pictures_are_svg_of_their_own(picture):
    text = picture.read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert "var(--" not in text
    assert 'href="http' not in text


def test_every_game_has_a_picture_and_a_line():
    for name in SHIPPED_GAMES:
        assert (ROOT / "docs" / "images" / f"{name}.svg").exists()
        assert f"| `{name}` |" in README
