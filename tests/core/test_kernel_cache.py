"""Compiled kernels are kept on disk, and never outlive the sources they came from."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numba
import numpy as np
import pytest

import caravan_env
from caravan_env.core import kernel as kernel_module
from caravan_env.core.game import Game
from caravan_env.core.kernel import announce_compilation, cache_folder, kernel, remove_stale_caches, sources_digest
from tests.core import toy_game
from tests.core.processes import run_python

PACKAGE = Path(caravan_env.__file__).parent

#: Prints what a meat delivered is worth and what a finished game answers when asked who moves; and the cache's hits.
ASK_CARAVAN = """
import json
from caravan_env import make_game
from caravan_env.games.caravan import rules
game = make_game("caravan")
struct = game.new_state().to_json() | {"phase": "over", "seat": 0}
struct["seats"][0]["delivered"]["meat"] = 1
state = game.state_from_json(struct)
answer = [int(state.scores()[0]), int(rules.to_move(state.row, 0))]
hits = sum(sum(k.stats.cache_hits.values()) for k in (rules.score, rules.to_move))
print(json.dumps([rules.__file__, answer, hits]))
"""

ASK_TOY = """
import json
from caravan_env import make_game
game = make_game("toy_game:SPEC")
rules = game.spec.rules
row = game.new_rows(1)
print(json.dumps([rules.__file__, int(row["heap"][0]), sum(rules.init.stats.cache_hits.values())]))
"""


def edit(path: Path, old: str, new: str) -> None:
    """Change a source in place; its size stays the same, and so does its time."""
    text, times = path.read_text(encoding="utf-8"), path.stat()
    assert text.count(old) == 1 and len(old) == len(new)
    path.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(path, (times.st_atime, times.st_mtime))


@pytest.mark.slow
def test_an_edited_constant_is_seen_although_the_old_one_was_cached(tmp_path: Path) -> None:
    copy = tmp_path / "caravan_env"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    cache = {"CARAVAN_ENV_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def ask() -> tuple[list[int], int]:
        file, answer, hits = run_python(ASK_CARAVAN, tmp_path, cwd=tmp_path, **cache)
        assert Path(file).is_relative_to(tmp_path)
        return answer, hits

    assert ask() == ([3, -2], 0)
    assert ask() == ([3, -2], 2)  # from the cache
    edit(copy / "games" / "caravan" / "tables.py", "VALUE = (3, 3,", "VALUE = (5, 3,")
    assert ask() == ([5, -2], 0)  # rules.py, where the kernels are, has not changed
    edit(copy / "core" / "contract.py", "\nTERMINAL = -2\n", "\nTERMINAL = -7\n")
    assert ask() == ([5, -7], 0)
    edit(copy / "core" / "contract.py", "\nTERMINAL = -7\n", "\nTERMINAL = -2\n")
    assert ask() == ([5, -2], 2)  # the folder of these sources is still there
    names = sorted(path.name.split("-")[0] for path in (tmp_path / "cache").iterdir())
    assert names.count("caravan") == 3


def test_an_edited_constant_of_a_game_of_ones_own_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    source = Path(toy_game.__file__).read_text(encoding="utf-8")
    assert "\nHEAP = 60\n" in source
    head, tail = source.split("\nHEAP = 60\n")
    (folder / "toy_game.py").write_text(f"{head}\nfrom sizes import HEAP\n{tail}", encoding="utf-8")
    (folder / "sizes.py").write_text("HEAP = 60\n", encoding="utf-8")
    cache = {"CARAVAN_ENV_CACHE": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}

    def ask() -> list[int]:
        file, *answer = run_python(ASK_TOY, folder, cwd=tmp_path, **cache)
        assert Path(file).parent == folder
        return answer

    assert ask() == [60, 0]
    assert ask() == [60, 1]
    edit(folder / "sizes.py", "HEAP = 60", "HEAP = 61")
    assert ask() == [61, 0]
    (folder / "notes.txt").write_text("no source")
    (folder / "runs").mkdir()
    (folder / "runs" / "config.json").write_text("{}")
    assert ask() == [61, 1]  # what is no source does not matter
    assert list((tmp_path / "cache").glob("own-*"))


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_cache_folder_that_cannot_be_written_is_replaced(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "temporary").mkdir()
    code = "import json; from caravan_env.core import kernel, rng; print(json.dumps([str(kernel.CACHE_ROOT), "
    code += "int(rng.below(rng.streams(1, 1), 0, 1))]))"
    root, drawn = run_python(
        code, CARAVAN_ENV_CACHE=str(tmp_path / place), TMPDIR=str(tmp_path / "temporary"), cwd=tmp_path
    )
    assert Path(root).parent == tmp_path / "temporary" and drawn == 0
    assert list(Path(root).rglob("*.nbi"))


def test_the_default_folder_is_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CARAVAN_ENV_CACHE", raising=False)
    monkeypatch.setattr(kernel_module, "user_cache_dir", lambda name: str(tmp_path / "user" / name))
    assert kernel_module._writable_root() == tmp_path / "user" / "caravan_env"
    monkeypatch.setenv("CARAVAN_ENV_CACHE", str(tmp_path / "chosen"))
    assert kernel_module._writable_root() == tmp_path / "chosen" and (tmp_path / "chosen").is_dir()


def test_stale_caches_are_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "CACHE_ROOT", tmp_path)
    digest = "0123456789abcdef"
    old = [f"caravan-{digest}-{digest}", f"my-own-game-{digest}-{digest}"]
    kept = [f"core-{digest}-{digest[::-1]}", "my-holiday-pictures", f"caravan-{digest}", f"a-{digest}-{digest}.zip"]
    for name in old + kept:
        (tmp_path / name).mkdir()
        (tmp_path / name / "inside").write_text("x")
        month_ago = time.time() - 31 * 86_400
        if name != kept[0]:
            os.utime(tmp_path / name, (month_ago, month_ago))
    (tmp_path / f"file-{digest}-{digest}").write_text("a file")
    os.utime(tmp_path / f"file-{digest}-{digest}", (month_ago, month_ago))
    removed = remove_stale_caches()
    assert sorted(path.name for path in removed) == sorted(old)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*kept, f"file-{digest}-{digest}"])
    assert [path.name for path in remove_stale_caches(days=0)] == [kept[0]]
    monkeypatch.setattr(kernel_module, "CACHE_ROOT", tmp_path / "missing")
    assert remove_stale_caches() == []


def test_the_digest_covers_names_contents_and_packages_below(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("A = 1")
    seen = [sources_digest(tmp_path)]

    def changed() -> bool:
        seen.append(sources_digest(tmp_path))
        return seen[-1] not in seen[:-1]

    (tmp_path / "a.py").write_text("A = 2")
    assert changed()
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert changed()
    (tmp_path / "cards.json").write_text("[]")  # data becomes constants as code does
    assert changed()
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "c.py").write_text("C = 1")
    assert not changed()  # no package
    (tmp_path / "part" / "__init__.py").write_text("")
    assert changed()
    (tmp_path / "part" / "c.py").write_text("C = 2")
    assert changed()
    (tmp_path / "b.pyc").write_text("x")
    assert not changed()


def test_folders_of_kernels_that_use_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "_folder_digests", {})
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rules.py").write_text("A = 1")
    mine, theirs = (str(tmp_path / name / "rules.py") for name in ("mine", "theirs"))
    alone, together = cache_folder(mine), cache_folder(mine, theirs)
    assert alone != together and alone.name.startswith("mine-") and together.name.startswith("mine-")
    (tmp_path / "theirs" / "rules.py").write_text("A = 2")
    kernel_module._folder_digests.clear()
    assert cache_folder(mine) == alone and cache_folder(mine, theirs) != together


def test_compiling_is_announced_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_module, "CACHE_ROOT", tmp_path)
    monkeypatch.setattr(kernel_module, "_folder_digests", {})
    announce_compilation("heap", toy_game.__file__)
    line = capsys.readouterr().err
    assert line == "caravan_env: compiling the kernels of 'heap' (once; later starts are fast)\n"
    folder = cache_folder(toy_game.__file__)
    folder.mkdir()
    (folder / "loops.settle__heap-1.py311.nbi").write_bytes(b"")
    announce_compilation("heap", toy_game.__file__)
    assert capsys.readouterr() == ("", "")


def test_games_with_the_same_kernels_have_loops_of_their_own(toy: Game) -> None:
    import dataclasses

    other = Game(dataclasses.replace(toy_game.SPEC, name="heap_too"))
    assert other.loops["settle"] is not toy.loops["settle"]
    assert other.loops["settle"].py_func.__name__ == "settle__heap_too"
    assert Game(toy_game.SPEC, {"players": 3}).loops is toy.loops


def test_kernels_cannot_allocate() -> None:
    @kernel
    def wasteful(n):
        return np.zeros(n, np.int64).sum()

    with pytest.raises(numba.core.errors.NumbaError):
        wasteful(3)
