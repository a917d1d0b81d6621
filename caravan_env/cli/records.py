"""Records that commands write: of the games of a match, and of a game that an agent broke off."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.arena import MatchResult

FAULT = "fault.jsonl"


@contextlib.contextmanager
def faults_recorded(path: Path | None) -> Iterator[None]:
    """Save the record of a game that an agent breaks off with an illegal action, and name its file in the error.

    Args:
        path: the file; None stands for `fault.jsonl` in the current folder.
    """
    from caravan_env.core.errors import CaravanError
    from caravan_env.core.match import AgentFault

    try:
        yield
    except AgentFault as fault:
        target = path or Path(FAULT)
        fault.record.save(target)
        raise CaravanError(f"{fault}; the record of the game is in {target}") from fault


def save_records(result: MatchResult, folder: Path, advance: Callable[[int], None]) -> None:
    """Save every game of a match as `0000.jsonl`, `0001.jsonl`, ... in a folder; tell `advance` how many are done."""
    width = max(4, len(str(result.games - 1)))
    for number in range(result.games):
        result.record(number).save(folder / f"{number:0{width}d}.jsonl")
        advance(number + 1)
