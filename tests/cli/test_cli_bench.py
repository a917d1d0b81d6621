"""`caravan bench`."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def short_scripts(monkeypatch):
    """Agents play a few moves only: their thinking is not what is measured."""
    monkeypatch.setattr("caravan_env.bench.SCRIPT_STEPS", 4)


def test_bench_reports_figures_and_the_machine(caravan):
    report = caravan("bench", "caravan", "--seconds", 0.01, "--no-starts", "--json").json
    assert report["game"] == "caravan"
    assert report["machine"]["processor"]
    names = [figure["name"] for figure in report["figures"]]
    assert {"rollout", "games", "batched", "aec", "loop"} <= set(names)
    rates = [figure.get("steps_per_second", figure.get("games_per_second")) for figure in report["figures"]]
    assert all(rate > 0 for rate in rates)


def test_bench_prints_a_table(caravan):
    out = caravan("bench", "--seconds", 0.01, "--no-starts", "--set", "players=3").out
    assert "caravan, 3 players" in out
    assert "steps/s" in out
    assert "games/s" in out


def test_bench_of_an_unknown_game(caravan):
    assert "did you mean 'caravan'" in caravan("bench", "karavan").sentence
