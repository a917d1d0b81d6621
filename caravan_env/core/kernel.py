"""The `kernel` decorator, and a disk cache of compiled kernels that cannot go stale.

numba's own cache notices an edit in the file of a kernel, but not in the files that the kernel calls or takes its
constants from. So kernels are cached in a folder named by a hash of every source file they could depend on: an edit
anywhere means another folder, and a fresh compilation.

A loop over a game's kernels is the same code for every game. numba cannot cache a function that closes over or
receives another kernel; it can cache one that finds the kernels among its globals. `bind_loops` therefore makes one
copy of each loop per game, with the game's kernels as its globals and the game's name as part of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import config as numba_config
from platformdirs import user_cache_dir

PACKAGE_ROOT = Path(__file__).resolve().parents[1]
CACHE_ROOT_VARIABLE = "CARAVAN_ENV_CACHE"
STALE_AFTER_DAYS = 30
SOURCE_SUFFIXES = (".py", ".json")  # tables of data become constants of the kernels, as code does
_CACHE_NAME = re.compile(r".+-[0-9a-f]{16}-[0-9a-f]{16}")


def sources_digest(folder: Path) -> str:
    """Hash the sources (code and tables of data) in `folder` and in the packages below it to 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(_sources(folder)):
        digest.update(str(path.relative_to(folder)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(folder: Path) -> Iterator[Path]:
    """Yield the sources of a package. Other folders below it are no part of it: runs, environments, data."""
    for path in folder.iterdir():
        if path.suffix in SOURCE_SUFFIXES and path.is_file():
            yield path
        elif (path / "__init__.py").is_file():
            yield from _sources(path)


def _core_digest() -> str:
    """Hash what every kernel depends on: core's sources, numba's version and the flags that change its output."""
    flags = f"{numba.__version__} {numba_config.BOUNDSCHECK} {numba_config.OPT}"
    return hashlib.sha256((sources_digest(PACKAGE_ROOT / "core") + flags).encode()).hexdigest()[:16]


def _writable_root() -> Path:
    """Return the folder that holds the caches: $CARAVAN_ENV_CACHE, the user's cache folder, or a temporary one."""
    chosen = os.environ.get(CACHE_ROOT_VARIABLE)
    root = Path(chosen) if chosen else Path(user_cache_dir("caravan_env"))
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            return root
    except OSError:
        return Path(tempfile.gettempdir()) / f"caravan_env-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


if numba_config.DISABLE_JIT:
    np.seterr(over="ignore")  # uint64 wraps around on purpose; compiled code never warns

CORE_DIGEST = _core_digest()
CACHE_ROOT = _writable_root()
_folder_digests: dict[Path, str] = {}


def cache_folder(source_file: str, *used: str) -> Path:
    """Return the cache folder of kernels defined in `source_file`.

    It changes with any source beside that file or beside a file in `used`.
    """
    folders = [Path(file).resolve().parent for file in (source_file, *used)]
    for folder in folders:
        if folder not in _folder_digests:
            _folder_digests[folder] = sources_digest(folder)
    digest = _folder_digests[folders[0]]
    if used:
        digest = hashlib.sha256("".join(_folder_digests[folder] for folder in folders).encode()).hexdigest()[:16]
    return CACHE_ROOT / f"{folders[0].name}-{CORE_DIGEST}-{digest}"


def _compile_into(folder: Path, function: Callable[..., Any], **options: Any) -> Any:
    """Decorate `function` with numba's cache pointed at `folder`; the locator is fixed here, at decoration.

    Without numba's memory manager (`_nrt`) a kernel cannot allocate: trying is a compile error. Nor does it count
    references to its arrays, atomically, at every call: that costs more than many a rule, and threads fight over it.
    """
    before = numba_config.CACHE_DIR
    numba_config.CACHE_DIR = str(folder)
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False, **options)(function)
    finally:
        numba_config.CACHE_DIR = before


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with numba on its first call, without the GIL, and keep it in the source-hashed cache.

    A kernel depends on the sources of core and of its own folder only; that is what its cache is keyed by. For one that
    calls kernels of another folder see `kernel_using`.
    """
    return _compile_into(cache_folder(function.__code__.co_filename), function)


def helper(function: Callable[..., Any]) -> Any:
    """Compile a part of a kernel that is to become code of its callers: for small ones, or with one caller only."""
    return _compile_into(cache_folder(function.__code__.co_filename), function, forceinline=True)


def kernel_using(*source_files: str) -> Callable[[Callable[..., Any]], Any]:
    """Return a `kernel` decorator for functions that also call kernels, or take constants, from other folders.

    Args:
        source_files: a file in each of those folders; their hashes become part of the cache folder.
    """
    return lambda function: _compile_into(cache_folder(function.__code__.co_filename, *source_files), function)


def bind_loops(
    loops: Mapping[str, Callable[..., Any]], game_name: str, kernels: Mapping[str, Any], *source_files: str
) -> dict[str, Any]:
    """Compile a copy of every loop for one game.

    Args:
        loops: plain functions that call the game's kernels by their contract names, see `core.loops`.
        game_name: becomes part of the copies' names, which keeps the games apart in the cache.
        kernels: the globals of the copies: contract name -> kernel.
        source_files: a file in each folder of sources that the kernels come from, the game's first; their hashes are
            part of the cache folder.

    Returns:
        Loop name -> compiled loop.
    """
    folder = cache_folder(*source_files)
    bound: dict[str, Any] = {}
    for name, loop in loops.items():
        own_name = f"{name}__{game_name}"
        namespace = {**loop.__globals__, **kernels, **{other: bound[other] for other in bound}}
        copy = types.FunctionType(loop.__code__.replace(co_name=own_name), namespace, own_name)
        copy.__qualname__ = own_name
        copy.__module__ = loop.__module__
        copy.__doc__ = loop.__doc__
        bound[name] = _compile_into(folder, copy)
    return bound


def announce_compilation(game_name: str, source_file: str) -> None:
    """Say on stderr, once per cold cache, that the first start takes a while."""
    if numba_config.DISABLE_JIT or any(cache_folder(source_file).rglob(f"*__{game_name}*.nbi")):
        return
    print(f"caravan_env: compiling the kernels of {game_name!r} (once; later starts are fast)", file=sys.stderr)
    remove_stale_caches()


def remove_stale_caches(days: float = STALE_AFTER_DAYS) -> list[Path]:
    """Delete cache folders in which nothing was compiled for `days` days; return the deleted ones."""
    deadline = time.time() - days * 86_400
    ours = [p for p in CACHE_ROOT.iterdir() if _CACHE_NAME.fullmatch(p.name)] if CACHE_ROOT.is_dir() else []
    stale = [p for p in ours if p.is_dir() and p.stat().st_mtime < deadline]
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return stale
