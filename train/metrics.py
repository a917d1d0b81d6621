"""Metrics of a run as JSON lines and for TensorBoard, and how they are cut back when a run goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from stable_baselines3.common.logger import KVWriter, Logger
from torch.utils.tensorboard import SummaryWriter

from caravan_env.core.errors import CaravanError
from caravan_env.core.files import write_text

METRICS = "metrics.jsonl"
EVALUATIONS = "evaluations.jsonl"
TENSORBOARD = "tensorboard"
DIGITS = 6


class JsonLinesWriter(KVWriter):
    """Appends one JSON object per dump: the step, then the values by name."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
        """Append a line."""
        append_line(self.path, {"step": step, **{name: _plain(v) for name, v in sorted(key_values.items())}})

    def close(self) -> None:
        """Do nothing: the file is closed after every line."""


class TensorBoardWriter(KVWriter):
    """Writes scalars; events at or after `first_step`, left by a run that was broken off, are purged."""

    def __init__(self, folder: Path, first_step: int) -> None:
        self._writer = SummaryWriter(str(folder), purge_step=first_step)  # type: ignore[no-untyped-call]

    def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
        """Write the values of one step."""
        for name, value in key_values.items():
            self._writer.add_scalar(name, value, step)  # type: ignore[no-untyped-call]
        self._writer.flush()  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()  # type: ignore[no-untyped-call]


def make_logger(run_dir: Path, step: int) -> Logger:
    """Return the logger of a run that goes on at `step`; lines of later steps and broken lines are removed first."""
    for name in (METRICS, EVALUATIONS):
        cut_back(run_dir / name, step)
    return Logger(
        str(run_dir), [JsonLinesWriter(run_dir / METRICS), TensorBoardWriter(run_dir / TENSORBOARD, step + 1)]
    )


def append_line(path: Path, struct: Mapping[str, Any]) -> None:
    """Append a JSON object to a file of JSON lines."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(struct) + "\n")


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines, [] if there is none; a broken last line is left out.

    Raises:
        CaravanError: the file cannot be read.
    """
    if not path.exists():
        return []
    try:
        return list(_whole_lines(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise CaravanError(f"{path} cannot be read: {error}") from error


def cut_back(path: Path, step: int) -> None:
    """Keep the whole lines up to a step."""
    kept = [line for line in read_lines(path) if line["step"] <= step]
    if path.exists():
        write_text(path, "".join(json.dumps(line) + "\n" for line in kept))


def _whole_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            struct = json.loads(line)
        except json.JSONDecodeError:
            return
        if isinstance(struct, dict) and "step" in struct:
            yield struct


def _plain(value: Any) -> Any:
    """Return a number that JSON knows, rounded to six digits that count."""
    number = float(value)
    if not np.isfinite(number):
        return None
    return int(number) if number.is_integer() else float(f"{number:.{DIGITS}g}")
