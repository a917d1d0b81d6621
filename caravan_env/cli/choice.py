"""Choosing one of many legal actions in a terminal: by number, by words, or by narrowing down."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from caravan_env.cli.output import console

if TYPE_CHECKING:
    from caravan_env.core.game import State

SHORT_LIST = 30
LONG_LIST = 120
HELP = """\
  a number          plays the action with that number
  words             play the action with these words, or the only one that contains them all;
                    if several do, they are listed
  (nothing)         lists what you can do again
  b                 shows the board again
  q                 stops the game"""


class Quit(Exception):
    """The person wants to stop."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A legal action in the list: its place from 1, its number, its group and its words."""

    place: int
    action: int
    group: str
    words: str


def entries(state: State) -> list[Entry]:
    """Return the legal actions of the seat to move."""
    table = state.game.spec.actions
    legal = (int(action) for action in state.legal_actions())
    return [Entry(k, a, table.locate(a)[0], state.action_text(a)) for k, a in enumerate(legal, start=1)]


def matching(menu: Sequence[Entry], line: str) -> list[Entry]:
    """Return the entries that a line means: the one of that number or wording, or all that contain its words."""
    wanted = " ".join(line.lower().split())
    if wanted.isdigit():
        return [entry for entry in menu if entry.place == int(wanted)]
    exact = [entry for entry in menu if entry.words.lower() == wanted]
    return exact or [entry for entry in menu if all(part in entry.words.lower() for part in wanted.split())]


def ask_action(state: State, prompt: str) -> int:
    """Ask until the answer is one legal action, and return it.

    Raises:
        Quit: the person typed q, or the input has ended.
    """
    menu = entries(state)
    _print_lines(overview(menu))
    while True:
        line = _read(prompt)
        if line in ("q", "quit", "exit"):
            raise Quit
        if line in ("?", "h", "help"):
            click.echo(HELP)
        elif line == "b":
            click.echo(state.board_text())
        elif not line:
            _print_lines(overview(menu))
        else:
            found = matching(menu, line)
            if len(found) == 1:
                return found[0].action
            _print_lines(_listing(found) if found else [f"no legal action fits {line!r}; ? for help"])


def overview(menu: Sequence[Entry]) -> Iterator[str]:
    """Yield the lines that present the legal actions: all of a few, and of a large group only its size."""
    groups: dict[str, list[Entry]] = {}
    for entry in menu:
        groups.setdefault(entry.group, []).append(entry)
    for name, members in groups.items():
        if len(menu) <= SHORT_LIST or len(members) <= SHORT_LIST // 2:
            yield from map(_numbered, members)
        else:
            places, example = f"{members[0].place:>4}-{members[-1].place}", members[0].words
            yield f"{places} {name}: {len(members)} actions, such as {example!r}; type {name!r} for all"


def _listing(found: Sequence[Entry]) -> list[str]:
    lines = [_numbered(entry) for entry in found[:LONG_LIST]]
    return lines if len(found) <= LONG_LIST else [*lines, f"... and {len(found) - LONG_LIST} more; type more words"]


def _numbered(entry: Entry) -> str:
    return f"{entry.place:>4} {entry.words}"


def _read(prompt: str) -> str:
    try:
        return input(prompt).strip()
    except EOFError as error:
        raise Quit from error


def _print_lines(lines: Iterator[str] | Sequence[str]) -> None:
    from rich.columns import Columns
    from rich.text import Text

    console().print(Columns([Text(line) for line in lines], padding=(0, 2), column_first=True))
