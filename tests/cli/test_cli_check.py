"""`caravan check` and `caravan doctor`."""

from __future__ import annotations

import textwrap

import pytest

BROKEN = """
import dataclasses
from caravan_env.games.caravan import SPEC as CARAVAN

SPEC = dataclasses.replace(CARAVAN, variants={"three": {"players": 3}})
"""


@pytest.fixture
def own_game(tmp_path, monkeypatch):
    """A module in the current folder whose game has no "default" variant."""
    (tmp_path / "my_broken_game.py").write_text(textwrap.dedent(BROKEN), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "my_broken_game:SPEC"


def test_a_failed_check_is_named_and_exits_with_1(caravan, own_game):
    outcome = caravan("check", own_game)
    assert outcome.code == 1
    assert "there is no variant named 'default'" in outcome.out
    assert "legal actions        ok" in outcome.out
    assert "FAILED in three" in outcome.out


def test_failed_checks_as_json(caravan, own_game):
    outcome = caravan("check", own_game, "--json")
    assert outcome.code == 1
    report = outcome.json
    assert not report["passed"]
    assert {c["check"] for c in report["checks"] if not c["passed"]} == {"layout"}


def test_one_variant_can_be_checked(caravan):
    report = caravan("check", "caravan", "--variant", "default", "--json").json
    assert report["passed"]
    assert {c["variant"] for c in report["checks"]} == {"default"}
    assert "did you mean 'default'" in caravan("check", "caravan", "--variant", "defalt").sentence


@pytest.mark.parametrize(
    ("game", "sentence"),
    [("carvan", "did you mean 'caravan'"), ("no_such_module:SPEC", "cannot be loaded"), ("json:dumps", "no GameSpec")],
)
def test_what_is_no_game_gets_a_sentence(caravan, game, sentence):
    assert sentence in caravan("check", game).sentence


def test_doctor_reports(caravan):
    report = caravan("doctor", "--json").json
    assert report["versions"]["numpy"]
    assert report["cache"]["bytes"] > 0
    assert report["first_step_s"]["warm"] > 0
    assert report["threads"]["numba"] >= 1


def test_doctor_finds_problems_and_exits_with_1(caravan, monkeypatch):
    monkeypatch.setattr("caravan_env.cli.doctor.time_to_first_step", lambda game: 0.1)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setenv("CARAVAN_ENV_CACHE", "/dev/null/cache")
    outcome = caravan("doctor")
    assert outcome.code == 1
    assert "problem: NUMBA_DISABLE_JIT is set" in outcome.out
    assert "problem: CARAVAN_ENV_CACHE=/dev/null/cache cannot be written to" in outcome.out
