"""What a figure depends on: the machine and the versions it was measured with."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import numba
import numpy as np

from caravan_env import __version__


def machine() -> dict[str, Any]:
    """Return what a figure depends on: processor, cores, versions."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": np.__version__,
        "caravan_env": __version__,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
