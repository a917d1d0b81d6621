"""Imports go one way, and core and games stay free of libraries: the contracts of import-linter in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parents[1]


def test_import_contracts_are_kept(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize("package", ["core", "envs", "viewer", "cli", "web"])
def test_game_names_stay_in_their_folders(package):
    """No branch on a particular game outside its folder; the registry of import paths alone lists them."""
    games = [path.name for path in (ROOT / "caravan_env" / "games").iterdir() if (path / "rules.py").exists()]
    for path in (ROOT / "caravan_env" / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for game in games:
            assert f'== "{game}"' not in text, f"{path.name} compares a name with {game}"
