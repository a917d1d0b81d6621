"""Rule switches as frozen dataclasses: one field per switch, checked, to JSON and back."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Self

from caravan_env.core.errors import BadParams, nearest

#: What the returns of a finished game are made of, see `GameParams.returns`.
RETURNS = ("win", "rank", "margin")


def switch(default: Any, meaning: str, choices: tuple[Any, ...] | None = None) -> Any:
    """Declare a rule switch: a dataclass field with its meaning and, where it is an enumeration, its choices."""
    return dataclasses.field(default=default, metadata={"meaning": meaning, "choices": choices})


@dataclasses.dataclass(frozen=True, kw_only=True)
class GameParams:
    """What every game has. Subclasses add their switches and override `check`.

    Attributes:
        players: number of seats.
        returns: "win" (1 for a sole winner, the others share -1; n-way ties split), "rank" (1 for the first to -1
            for the last, evenly spaced, ties take the mean), "margin" (own score minus the mean of the others').
    """

    players: int = switch(2, "number of seats")
    returns: str = switch("win", "what the terminal returns are made of", RETURNS)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            self._check_field(field)
        self.check()

    def check(self) -> None:
        """Raise BadParams where values do not fit together; subclasses override it."""

    def _check_field(self, field: dataclasses.Field[Any]) -> None:
        value, choices = getattr(self, field.name), field.metadata.get("choices")
        if choices is not None:
            if type(value) not in {type(c) for c in choices} or value not in choices:
                allowed = ", ".join(repr(c) for c in choices)
                raise BadParams(f"{field.name} = {value!r} is not possible. Allowed: {allowed}")
            return
        allowed_types = _plain_types(typing.get_type_hints(type(self))[field.name])
        if Any not in allowed_types and type(value) not in allowed_types:
            names = " or ".join(t.__name__ for t in allowed_types)
            raise BadParams(f"{field.name} = {value!r} is not possible: it must be of type {names}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Make params from a mapping of switch names; an unknown name is an error that offers the nearest one."""
        known = [f.name for f in dataclasses.fields(cls)]
        for name in values:
            if name not in known:
                raise BadParams(f"{name!r} is no rule switch of this game: {nearest(str(name), known)}")
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        """Return the switches as plain JSON values; `from_mapping` is the inverse."""
        return {f.name: _to_json(getattr(self, f.name)) for f in dataclasses.fields(self)}

    @classmethod
    def describe(cls) -> list[tuple[str, Any, tuple[Any, ...] | None, str]]:
        """Return (name, default, choices, meaning) of every switch, for help texts and documentation."""
        return [
            (f.name, f.default, f.metadata.get("choices"), f.metadata.get("meaning", ""))
            for f in dataclasses.fields(cls)
        ]


def _plain_types(hint: Any) -> tuple[Any, ...]:
    if isinstance(hint, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _to_json(value: Any) -> Any:
    return value.to_json() if hasattr(value, "to_json") else value
