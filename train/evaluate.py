"""How strong a policy is: matches against fixed opponents with rotated seats, a table, and a game to look at."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena import MatchResult, play_games, wilson
from agents.base import Agent
from agents.registry import make_agent
from caravan_env.core.files import write_text
from caravan_env.core.game import Game
from caravan_env.core.match import play_match
from caravan_env.viewer.html import write_replay

TABLE = "results.md"
RESULTS = "results.json"
REPLAY = "replay.jsonl"
REPLAY_PAGE = "replay.html"
PART = 64  # games that one thread plays side by side
ALONE = "the game itself"  # whom one player plays against


@dataclasses.dataclass(frozen=True)
class Score:
    """How an agent fared against one opponent, which had all other seats.

    Attributes:
        opponent: its spec, or ALONE.
        games: how many were played.
        score: share of wins; a win shared by k seats counts 1/k.
        low: lower end of the 95 % interval of the share (Wilson 1927).
        high: upper end.
        points: mean points at the end.
        opponent_points: the opponent's; None for ALONE.
        truncated: share of games that the turn limit ended.
    """

    opponent: str
    games: int
    score: float
    low: float
    high: float
    points: float
    opponent_points: float | None
    truncated: float


def evaluate(
    game: Game, agent: Agent, opponents: Sequence[str], games: int, seed: int, threads: int = 1
) -> list[Score]:
    """Play a match against each opponent.

    Args:
        game: the variant.
        agent: who is measured.
        opponents: agent specs; a game for one player is played against ALONE in their place.
        games: games per match, rounded up so that every seating is played equally often.
        seed: of chance and of the opponents.
        threads: how many share the games; results do not depend on it.
    """
    opponents = opponents if game.players > 1 else [ALONE]
    parts = [(opponent, first) for opponent in opponents for first in range(0, games, PART)]

    def play(part: tuple[str, int]) -> MatchResult:
        opponent, first = part
        seats: list[Agent | str] = [deepcopy(agent), *[opponent] * (game.players - 1)]
        return play_games(game, seats, min(PART, games - first), seed + first)

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(play, parts))
    return [
        _score(opponent, [r for (name, _), r in zip(parts, results, strict=True) if name == opponent])
        for opponent in opponents
    ]


def write_results(run_dir: Path, game: Game, agent: Agent, scores: Sequence[Score], notes: dict[str, Any]) -> None:
    """Write the table of scores as Markdown and, with some notes, as JSON; and a game against the last opponent.

    Args:
        run_dir: where to write RESULTS, TABLE, REPLAY and REPLAY_PAGE.
        game: the variant.
        agent: the policy.
        scores: of the final evaluation.
        notes: what else the JSON file is to say.
    """
    struct = {**notes, "scores": [dataclasses.asdict(score) for score in scores]}
    write_text(run_dir / RESULTS, json.dumps(struct, indent=1) + "\n")
    write_text(run_dir / TABLE, table(scores))
    if scores:
        others = [make_agent(scores[-1].opponent, game, seat) for seat in range(1, game.players)]
        record = play_match(game, [agent, *others])
        record.save(run_dir / REPLAY)
        write_replay(record, run_dir / REPLAY_PAGE)


def table(scores: Sequence[Score]) -> str:
    """Return the scores as a Markdown table."""
    lines = [
        "| opponent | win rate | 95 % interval | games | points | opponent's points |",
        "|---|---|---|---|---|---|",
    ]
    for s in scores:
        interval = f"{s.low:.1%} to {s.high:.1%}"
        lines.append(
            f"| {s.opponent} | {s.score:.1%} | {interval} | {s.games} | {s.points:.1f} | {opponent_points(s)} |"
        )
    return "\n".join(lines) + "\n"


def opponent_points(score: Score) -> str:
    """Return the opponent's points in words."""
    return "-" if score.opponent_points is None else f"{score.opponent_points:.1f}"


def _score(opponent: str, results: Sequence[MatchResult]) -> Score:
    wins, points = (np.concatenate(arrays) for arrays in zip(*((r.wins, r.scores) for r in results), strict=True))
    rate = wilson(float(wins[:, 0].sum()), len(wins))
    return Score(
        opponent=opponent,
        games=len(wins),
        score=round(rate.share, 4),
        low=round(rate.low, 4),
        high=round(rate.high, 4),
        points=round(float(points[:, 0].mean()), 2),
        opponent_points=None if opponent == ALONE else round(float(points[:, 1:].mean()), 2),
        truncated=round(float(np.concatenate([r.truncated for r in results]).mean()), 4),
    )
