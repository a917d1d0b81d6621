"""Help, versions, error sentences, exit codes, and what a command imports."""

from __future__ import annotations

import subprocess
import sys
import time

import click
import pytest

from caravan_env.cli import main
from caravan_env.cli.main import COMMANDS, cli

HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "pettingzoo", "gymnasium", "matplotlib", "pydantic", "starlette")


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_explains_with_examples(caravan, command):
    text = caravan(command, "--help").out
    assert "Examples:" in text
    assert f"  caravan {command}" in text


def test_help_lists_every_command(caravan):
    text = caravan("--help").out
    assert all(f"\n  {command} " in text for command in COMMANDS)


def test_every_command_that_reports_has_json():
    ctx = click.Context(cli)
    commands = {name: cli.get_command(ctx, name) for name in COMMANDS}
    without = {name for name, command in commands.items() if all(p.name != "as_json" for p in command.params)}
    assert without == {"play", "web"}


def test_python_dash_m_is_the_command():
    done = python("-m", "caravan_env", "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("caravan_env ")


@pytest.mark.parametrize("arguments", [["--help"], ["games"], ["match", "--help"], ["train", "--help"], ["gams"]])
def test_light_commands_import_nothing_heavy(arguments):
    code = f"""
import sys
from caravan_env.cli.main import call
call({arguments!r})
print("HEAVY", [m for m in {HEAVY!r} if m in sys.modules])
"""
    done = python("-c", code)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_help_starts_in_well_under_a_second():
    python("-m", "caravan_env", "--help")
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        python("-m", "caravan_env", "--help")
        times.append(time.perf_counter() - begin)
    bare = time.perf_counter()
    python("-c", "import numba")
    bare = time.perf_counter() - bare
    assert min(times) < max(1.0, 2 * bare)  # a busy machine makes both slow


def test_unknown_command_offers_the_nearest(caravan):
    assert "there is no command 'gmaes': did you mean 'games'?" in caravan("gmaes").sentence


def test_unknown_option_is_one_sentence(caravan):
    assert "--jsno" in caravan("games", "--jsno").sentence


def test_no_command_shows_the_help(caravan):
    assert "Examples:" in caravan().err + caravan().out


def test_interrupt_has_its_own_exit_code(caravan, monkeypatch):
    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("caravan_env.core.registry.game_names", interrupted)
    outcome = caravan("games")
    assert outcome.code == 130
    assert outcome.err.strip() == "caravan: interrupted"


def test_a_missing_package_is_named_with_the_cure():
    sentence = main._sentence(ModuleNotFoundError("No module named 'torch'", name="torch"))
    assert "'torch'" in sentence
    assert "pip install" in sentence


def test_a_file_error_names_the_file(caravan, tmp_path):
    assert str(tmp_path / "no.jsonl") in caravan("replay", tmp_path / "no.jsonl").sentence


def test_a_bug_keeps_its_traceback(monkeypatch):
    def broken() -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("caravan_env.core.registry.game_names", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        main.call(["games"])
