"""Checkpoints of a run: folders that appear whole or not at all, without pickle.

`checkpoints/step-000000200000/` holds `policy.safetensors` and `policy.json`, which are all that playing needs
(`agents.neural`), and `training.safetensors` and `training.json`, which are what it takes to go on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors.numpy import save

from agents.neural import (
    CHECKPOINTS,
    DESCRIPTION,
    WEIGHTS,
    BadCheckpoint,
    Description,
    checkpoint_folders,
    read_tensors,
)
from caravan_env.core.game import Game

TENSORS = "training.safetensors"
STATE = "training.json"
_UNFINISHED = ".unfinished-"

Tensors = Mapping[str, NDArray[Any]]


def folder_of(run_dir: Path, step: int) -> Path:
    """Return the folder of the checkpoint at a step."""
    return run_dir / CHECKPOINTS / f"step-{step:012d}"


def step_of(folder: Path) -> int:
    """Return the step of a checkpoint folder: the inverse of `folder_of`."""
    return int(folder.name.removeprefix("step-"))


def write_checkpoint(
    run_dir: Path, game: Game, about: Mapping[str, Any], weights: Tensors, training: Tensors, state: Mapping[str, Any]
) -> Path:
    """Write a checkpoint under a temporary name, flush it to the disk, and rename it.

    Args:
        run_dir: folder of the run.
        game: the variant that is trained.
        about: `network`, `step` and `config` of its description.
        weights: the policy's weights.
        training: the other arrays that it takes to go on.
        state: the other JSON values that it takes to go on.

    Returns:
        The folder of the checkpoint.
    """
    target = folder_of(run_dir, about["step"])
    target.parent.mkdir(parents=True, exist_ok=True)
    contents = {WEIGHTS: save(dict(weights)), TENSORS: save(dict(training)), STATE: _json(state)}
    sha256 = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    contents[DESCRIPTION] = _json(vars(Description.of_game(game, **about, sha256=sha256)))
    temporary = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=target.parent))
    try:
        temporary.chmod(0o755)
        for name, data in contents.items():
            _write_synced(temporary / name, data)
        _sync_folder(temporary)
        temporary.rename(target)
        _sync_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def read_checkpoint(folder: Path, game: Game) -> tuple[dict[str, Any], Tensors, Tensors]:
    """Read a checkpoint to go on from.

    Returns:
        (state, weights, training): the arguments of `write_checkpoint` of these names.

    Raises:
        BadCheckpoint: it is damaged, or of another game, version or rule switches.
    """
    description = Description.read(folder)
    description.check(game, folder)
    weights, training = read_tensors(folder, WEIGHTS, description), read_tensors(folder, TENSORS, description)
    try:
        data = (folder / STATE).read_bytes()
    except OSError as error:
        raise BadCheckpoint(f"the checkpoint {folder} is damaged: {STATE} cannot be read: {error}") from error
    if hashlib.sha256(data).hexdigest() != description.sha256.get(STATE):
        raise BadCheckpoint(f"the checkpoint {folder} is damaged: {STATE} is not as it was written")
    return json.loads(data), weights, training


def prune(run_dir: Path, keep: int, also: Sequence[int] = ()) -> None:
    """Delete all but the last `keep` checkpoints and the steps in `also`, and what a killed run left half-written."""
    for folder in checkpoint_folders(run_dir)[:-keep]:
        if step_of(folder) not in also:
            folder.rename(folder.with_name(_UNFINISHED + folder.name))  # so that it, too, goes whole or not at all
    for folder in (run_dir / CHECKPOINTS).glob(f"{_UNFINISHED}*"):
        shutil.rmtree(folder, ignore_errors=True)


def set_aside(folder: Path) -> None:
    """Rename a damaged checkpoint so that it is no longer taken for one."""
    folder.rename(folder.with_name(f"damaged-{time.time_ns()}-{folder.name}"))


def _json(struct: Mapping[str, Any]) -> bytes:
    return (json.dumps(struct, indent=1) + "\n").encode()


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
