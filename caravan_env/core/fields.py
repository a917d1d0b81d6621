"""Checking the fields of a position's JSON struct. Each failure is a ValueError that names field, value and range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def whole(field: str, value: Any, lowest: int, highest: int) -> int:
    """Return a whole number from `lowest` to `highest`; anything else is a ValueError."""
    if type(value) is not int or not lowest <= value <= highest:
        raise ValueError(f"{field} is {value!r}, and must be a whole number from {lowest} to {highest}")
    return value


def index_of(field: str, value: Any, choices: Sequence[Any]) -> int:
    """Return the index of a value among its choices; any other value is a ValueError."""
    if value not in choices:
        raise ValueError(f"{field} is {value!r}, and must be one of {', '.join(map(repr, choices))}")
    return choices.index(value)


def list_of(field: str, value: Any, length: int | None = None) -> list[Any]:
    """Return a list or tuple, of `length` entries if that is given, as a list; anything else is a ValueError."""
    if not isinstance(value, list | tuple) or length not in (None, len(value)):
        wanted = "a list" if length is None else f"a list of {length}"
        raise ValueError(f"{field} must be {wanted}, not {value!r}")
    return list(value)
