"""Errors that a user can cause. Each message is one sentence that names the thing and says what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CaravanError(Exception):
    """Base of every error that bad input raises in this project."""


class IllegalAction(CaravanError):
    """An action that the rules do not allow now; the state is as it was before."""


class WrongSeat(CaravanError):
    """A seat acted out of turn, or does not exist."""


class GameOver(CaravanError):
    """A finished game was asked to go on."""


class NotStarted(CaravanError, AttributeError):
    """An environment was used before its first reset."""


class BadParams(CaravanError, ValueError):
    """A rule switch, board or player count that does not exist or does not fit."""


class BadRecord(CaravanError, ValueError):
    """A game record that is damaged, truncated or of another version."""


class UnknownName(CaravanError, KeyError):
    """A name that is not registered; the message offers the nearest one."""

    def __str__(self) -> str:
        return str(self.args[0])


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error sentence: the closest known name and the list of all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}Allowed: {', '.join(names)}"
