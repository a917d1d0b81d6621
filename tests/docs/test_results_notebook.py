"""The notebook of results draws the measured files once they are there; without them it is run by test_notebooks.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import nbformat
import pytest

from caravan_env import make_game
from train.curves import Row, curves_of, write_curves

PATH = Path(__file__).resolve().parents[2] / "notebooks" / "05-results.ipynb"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with both files of results, of the right form."""
    rows = [Row("td", 0, "as trained", 9, minutes, 2.0, 1000.0, 900.0, 1100.0, 200) for minutes in (1.0, 8.0)]
    write_curves(tmp_path, curves_of(make_game("caravan"), 8.0, {"greedy": 1000.0}, rows))
    about = {"game": "caravan", "players": 2, "params": {}, "leaf": "heuristic", "options": "", "opponent": "greedy"}
    measured = [
        {**about, "games": 100, "sims": sims, "wins": wins, "low": wins / 100 - 0.1, "high": wins / 100 + 0.1}
        for sims, wins in ((400, 70.0), (100, 50.0))
    ]
    lines = [{**row, "seconds_per_decision": row["sims"] / 1e5} for row in measured]
    (tmp_path / "strength.json").write_text(json.dumps({"machine": {}, "rows": lines}))
    return tmp_path


def test_the_notebook_draws_what_was_measured(results, tmp_path, monkeypatch, capsys):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    cells = [cell.source for cell in nbformat.read(PATH, as_version=4).cells if cell.cell_type == "code"]
    names: dict[str, Any] = {}
    exec(cells[0], names)
    names["RESULTS"] = results
    for cell in cells[1:3]:
        exec(cell, names)
    told = capsys.readouterr().out
    assert "| td | 1000 | 1000 | 1000 | 1000 |" in told
    assert "caravan, heuristic: 4 ms a decision with 400 simulations" in told
    assert "Not measured yet" not in told
    (axes,) = names["figure"].axes
    assert axes.get_legend().get_texts()[0].get_text() == "caravan (2), heuristic against greedy"
    assert list(axes.get_lines()[0].get_xdata()) == [100, 400]
    matplotlib.pyplot.close("all")
