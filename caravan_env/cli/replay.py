"""`caravan replay`: look at a recorded game, in the terminal or as a page."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.output import emit_json, json_option

if TYPE_CHECKING:
    from caravan_env.core.record import Record

FORWARD = ("\x1b[C", "\x1b[B", " ", "n", "l", "j", "\r", "\n")
BACKWARD = ("\x1b[D", "\x1b[A", "p", "h", "k")
FIRST = ("\x1b[H", "\x1b[1~", "g")
LAST = ("\x1b[F", "\x1b[4~", "G")
NEXT_MINE = ("t",)
LEAVE = ("q", "\x1b", "\x04")
KEYS = "arrows or n, p: step   t: next turn of another seat   g, G: first, last   q: leave"


@dataclasses.dataclass(frozen=True)
class Scene:
    """One position of a game as text: what led to it, by whom (-1 is chance), and the board."""

    caption: str
    seat: int
    board: str


@click.command("replay")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Write one self-contained page instead.")
@click.option("--partial", is_flag=True, help="Show a damaged record as far as it can be read.")
@json_option
def replay_command(file: Path, html: Path | None, partial: bool, as_json: bool) -> None:
    """Show a recorded game: step through it with keys, or write it as an HTML page.

    Every position is checked against the record. Where the output is no terminal, all steps are printed.

    \b
    Examples:
      caravan replay game.jsonl
      caravan replay game.jsonl --html game.html
      caravan replay damaged.jsonl --partial
      caravan replay game.jsonl --json
    """
    from caravan_env.core.record import read_record

    record = read_record(file, partial=partial)
    if html is not None:
        _write_page(record, html, as_json)
    elif as_json:
        emit_json(summary(record))
    elif sys.stdin.isatty() and sys.stdout.isatty():
        _step_through(scenes(record, partial))
    else:
        for scene in scenes(record, partial):
            click.echo(scene.caption)
        click.echo(scenes_end(record))


def summary(record: Record) -> dict[str, Any]:
    """Return what a record says of itself, after playing it again, as JSON values."""
    from caravan_env.core.record import replay

    steps = sum(1 for _ in replay(record)) - 1
    return {**record.header, "steps": steps, "result": record.result}


def scenes(record: Record, partial: bool = False) -> list[Scene]:
    """Return the positions of a game as text; with `partial` up to the first event that cannot be played."""
    from caravan_env.core.errors import BadRecord
    from caravan_env.core.record import replay

    found: list[Scene] = []
    total = len(record.events)
    try:
        for number, (event, state) in enumerate(replay(record)):
            who = "start" if event is None else "chance" if event.kind == "chance" else f"seat {event.seat}"
            words = "" if event is None else f": {event.text}"
            found.append(
                Scene(f"{number}/{total} {who}{words}", -1 if event is None else event.seat, state.board_text())
            )
    except BadRecord as error:
        if not partial:
            raise
        found.append(Scene(f"the record is damaged here: {error}", -1, ""))
    return found


def scenes_end(record: Record) -> str:
    """Return how a game ended, in a line."""
    result = record.result
    if result is None:
        return "the record ends here; the game was not finished"
    if result["type"] == "error":
        return f"broken off: {result['message']}"
    names = record.header["agents"]
    scores = ", ".join(f"{name} {score:g}" for name, score in zip(names, result["scores"], strict=False))
    return f"result: {scores}" + (" (cut off at the turn limit)" if result["truncated"] else "")


def next_place(shown: list[Scene], place: int, key: str) -> int:
    """Return the place in the list of scenes that a key leads to."""
    if key in FORWARD:
        place += 1
    elif key in BACKWARD:
        place -= 1
    elif key in FIRST:
        place = 0
    elif key in LAST:
        place = len(shown) - 1
    elif key in NEXT_MINE:
        seat = shown[place].seat
        others = (k for k in range(place + 1, len(shown)) if shown[k].seat >= 0 and shown[k].seat != seat)
        place = next(others, len(shown) - 1)
    return min(max(place, 0), len(shown) - 1)


def _step_through(shown: list[Scene]) -> None:
    place = 0
    while True:
        click.clear()
        click.echo(f"{shown[place].caption}\n\n{shown[place].board}\n\n{KEYS}")
        key = click.getchar()
        if key in LEAVE:
            return
        place = next_place(shown, place, key)


def _write_page(record: Record, path: Path, as_json: bool) -> None:
    from caravan_env.viewer.html import write_replay

    written = write_replay(record, path)
    emit_json({"html": str(written)}) if as_json else click.echo(f"page: {written}")
