"""The wheel and the source distribution: what is in them, and that the wheel plays where nothing else of ours is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("caravan_env", "agents", "train")


def shipped(folder: str) -> set[str]:
    """Return the files of a package that belong into a distribution, as paths from the root."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {str(f.relative_to(ROOT)) for f in files if "__pycache__" not in f.parts and not f.name.startswith(".")}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


def test_the_wheel_holds_the_packages_and_the_configs(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = set().union(*(shipped(package) for package in PACKAGES))
    expected |= {f"train/{name}" for name in shipped("configs")}
    assert names == expected


def test_the_metadata_says_what_is_needed(wheel):
    archive = zipfile.ZipFile(wheel)
    info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(archive.read(info).decode())
    assert metadata["Requires-Python"] == "<3.14,>=3.11"
    assert set(metadata.get_all("Provides-Extra")) == {"all", "arena", "dev", "render", "train", "web"}
    requirements = metadata.get_all("Requires-Dist")
    assert all(">=" in line for line in requirements if not line.startswith("caravan"))
    base = {line.partition(">")[0] for line in requirements if "extra ==" not in line}
    assert "torch" not in base
    assert {"numpy", "numba", "gymnasium", "pettingzoo"} <= base


def test_the_sdist_holds_what_developing_needs(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "README.md", "CONTRIBUTING.md", "LICENSE", ".ci/run", "requirements/torch.txt"} <= names
    assert shipped("tests") <= names
    assert shipped("configs") <= names
    assert not any(name.startswith(("runs/", ".venv", "dist/")) for name in names)


@pytest.mark.slow
def test_the_wheel_plays_in_an_environment_of_its_own(wheel, tmp_path):
    """Installed without the source tree; the dependencies are lent by the environment that runs the tests."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    purelib = Path(_run(python, tmp_path, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    target = ["--target", str(purelib), "--no-deps", "--no-index", "--no-compile", "--quiet", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "install", *target], check=True)
    (purelib / "lent.pth").write_text(str(Path(np.__file__).resolve().parents[1]) + "\n", encoding="utf-8")

    where = _run(
        python, tmp_path, "-c", "import caravan_env, agents, train; print(caravan_env.__file__, train.__file__)"
    )
    assert str(ROOT) not in where
    games = json.loads(_run(python, tmp_path, "-m", "caravan_env", "games", "--json"))
    assert games["games"]
    match = ["match", "--agents", "first,random", "--games", "2", "--set", "turn_limit=4", "--save", "records"]
    assert json.loads(_run(python, tmp_path, "-m", "caravan_env", *match, "--json"))["games"] == 2
    _run(python, tmp_path, "-m", "caravan_env", "replay", "records/0000.jsonl", "--html", "game.html")
    assert "<svg" in (tmp_path / "game.html").read_text(encoding="utf-8")
    config = "from caravan_env.cli.training import find_config; print(find_config('smoke'))"
    assert str(purelib) in _run(python, tmp_path, "-c", config)


def _run(python: Path, cwd: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([python, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
