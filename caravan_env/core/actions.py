"""The table that numbers a game's actions: consecutive groups, each a small grid of choices."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math


@dataclasses.dataclass(frozen=True)
class ActionGroup:
    """A run of actions of one kind.

    Attributes:
        name: what the actions of the group do, for example "camel".
        shape: the grid of choices; the last axis runs fastest.
        axes: what each axis of the grid means.
        start: the first action number of the group.
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    start: int

    @functools.cached_property
    def size(self) -> int:
        """Number of actions in the group."""
        return math.prod(self.shape)

    @functools.cached_property
    def stop(self) -> int:
        """One past the last action number of the group."""
        return self.start + self.size


class ActionTable:
    """The numbering of all actions of a game, built once from its groups in order."""

    def __init__(self, *groups: tuple[str, tuple[int, ...], tuple[str, ...]]) -> None:
        start = 0
        self.groups: dict[str, ActionGroup] = {}
        for name, shape, axes in groups:
            self.groups[name] = ActionGroup(name, shape, axes, start)
            start = self.groups[name].stop
        self.size = start
        self._located = [
            (name, place)
            for name, group in self.groups.items()
            for place in itertools.product(*map(range, group.shape))
        ]

    def __getitem__(self, name: str) -> ActionGroup:
        return self.groups[name]

    def locate(self, action: int) -> tuple[str, tuple[int, ...]]:
        """Return the group of an action and its place in the group's grid.

        Raises:
            IndexError: the action number is not in [0, size).
        """
        if not 0 <= action < self.size:
            raise IndexError(f"action {action} is not in 0..{self.size - 1}")
        return self._located[action]

    def number(self, name: str, *place: int) -> int:
        """Return the number of the action at `place` in the grid of group `name`: the inverse of `locate`."""
        group = self.groups[name]
        offset = 0
        for index, extent in zip(place, group.shape, strict=True):
            if not 0 <= index < extent:
                raise IndexError(f"{name}{place} is outside the grid {group.shape}")
            offset = offset * extent + index
        return group.start + offset
