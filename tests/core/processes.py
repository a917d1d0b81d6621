"""Running Python in a process of its own, with other sources, caches or compiler flags."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


def run_python(code: str, *folders: Path, cwd: Path = REPOSITORY, **environment: str) -> Any:
    """Run code that prints one line of JSON, and return its value.

    Args:
        code: the program.
        folders: where it looks for modules first.
        cwd: where it runs.
        environment: variables to set.
    """
    path = os.pathsep.join(str(folder) for folder in (*folders, REPOSITORY))
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "COV_", "PYTEST_"))}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=clean | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
