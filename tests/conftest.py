"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")  # no windows
os.environ["COLUMNS"] = "160"  # tables of the command line have the same width everywhere

# No deadline: the first example of a test may compile kernels. In CI the same examples are tried every time.
settings.register_profile(
    "here", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("here")
