"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from caravan_env.core.files import atomic_path, write_text


def test_write_makes_folders_and_replaces(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "file.txt"
    write_text(target, "one\n")
    write_text(str(target), "zwei: ü\n")
    assert target.read_bytes() == "zwei: ü\n".encode()
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]
    assert target.stat().st_mode & 0o777 == 0o644


def test_a_failure_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    target = tmp_path / "file.json"
    write_text(target, "old")
    with pytest.raises(RuntimeError, match="in the middle"), atomic_path(target) as temporary:
        assert temporary.parent == tmp_path and temporary.suffix == ".json"
        temporary.write_text("half of")
        raise RuntimeError("in the middle")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_seen_before_the_end(tmp_path: Path) -> None:
    target = tmp_path / "file"
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
