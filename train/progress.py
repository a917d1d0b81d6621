"""What a run shows on a terminal: a bar over its budget, and a line for everything worth one."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich import progress
from rich.console import Console

if TYPE_CHECKING:
    from train.run import Trainer


class Progress:
    """A progress bar on stderr; where stderr is no terminal, only the lines."""

    def __init__(self, quiet: bool = False) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TimeRemainingColumn(),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=1.0)
        self._evaluations = 0

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, markup=False, soft_wrap=True)

    def show(self, trainer: Trainer) -> None:
        """Move the bar, and print the last evaluation if it is new."""
        speed = trainer.speed
        self._bar.update(self._task, completed=trainer.progress, description=f"{trainer.step:,} steps, {speed:,.0f}/s")
        if len(trainer.evaluations) > self._evaluations:
            last = trainer.evaluations[-1]
            rates = ", ".join(f"{s['opponent']} {s['score']:.0%}" for s in last["scores"])
            self.say(f"{last['step']:>12,} steps, {trainer.seconds:5.0f} s: {rates}")
        self._evaluations = len(trainer.evaluations)
