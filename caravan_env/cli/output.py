"""How commands speak: tables and progress for people, JSON for machines."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def console(err: bool = False) -> Console:
    """Return a console on stdout or stderr that follows the terminal's width and colours."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, soft_wrap=False)


def emit_json(value: Any) -> None:
    """Print a value as one JSON object."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], left: Sequence[int] = (0,)) -> None:
    """Print a table; the columns numbered in `left` are texts, the others numbers and aligned to the right."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="left" if number in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console().print(table)


def print_scores(title: str, scores: Sequence[Mapping[str, Any]]) -> None:
    """Print how a policy fared against its opponents: the rows are `train.evaluate.Score`s as mappings."""
    columns = ("opponent", "wins", "95 % interval", "games", "points", "theirs")
    rows = [
        (
            s["opponent"],
            f"{s['score']:.1%}",
            f"{s['low']:.1%} - {s['high']:.1%}",
            s["games"],
            f"{s['points']:.1f}",
            "-" if s["opponent_points"] is None else f"{s['opponent_points']:.1f}",
        )
        for s in scores
    ]
    print_table(title, columns, rows)


@contextlib.contextmanager
def progress_bar(title: str, total: int, quiet: bool = False) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on stderr, if that is a terminal; yield what takes the number of steps done so far."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    screen = console(err=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=quiet or not screen.is_terminal) as progress:
        task = progress.add_task(title, total=total)
        yield lambda done: progress.update(task, completed=done)
