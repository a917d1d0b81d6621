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
from numpy.typing import NDArray

from agents.anchors import anchors
from agents.arena import MatchResult, play_games, wilson
from agents.base import Agent
from agents.ratings import TableResults, rate
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
_SELF = "the policy"  # among the anchors


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


@dataclasses.dataclass(frozen=True)
class Match:
    """The games of an agent against one opponent, which had all other seats.

    Attributes:
        opponent: its spec, or ALONE.
        parts: the games in order, the measured agent first.
    """

    opponent: str
    parts: Sequence[MatchResult]

    def score(self) -> Score:
        """Return how the agent fared."""
        arrays = ((part.wins, part.scores, part.truncated) for part in self.parts)
        wins, points, truncated = (np.concatenate(values) for values in zip(*arrays, strict=True))
        rate = wilson(float(wins[:, 0].sum()), len(wins))
        return Score(
            opponent=self.opponent,
            games=len(wins),
            score=round(rate.share, 4),
            low=round(rate.low, 4),
            high=round(rate.high, 4),
            points=round(float(points[:, 0].mean()), 2),
            opponent_points=None if self.opponent == ALONE else round(float(points[:, 1:].mean()), 2),
            truncated=round(float(truncated.mean()), 4),
        )

    def returns(self) -> NDArray[np.float64]:
        """Return the (deals, seatings, seats) returns, the measured agent first, as ratings take them."""
        returns = np.concatenate([part.returns for part in self.parts])
        seats = returns.shape[1]
        return returns.reshape(-1, seats, seats)


@dataclasses.dataclass(frozen=True)
class Rating:
    """A rating on the scale of the anchors of the variant, see `agents.anchors`.

    Attributes:
        rating: in points, 400 for odds of 10 to 1.
        low: lower end of its 95 % interval, the anchors being fixed.
        high: upper end.
        games: against anchors.
    """

    rating: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{self.rating:.0f} [{self.low:.0f}, {self.high:.0f}]"


def evaluate(
    game: Game, agent: Agent, opponents: Sequence[str], games: int, seed: int, threads: int = 1
) -> list[Score]:
    """Play a match against each opponent and return the scores, see `play_matches`."""
    return [match.score() for match in play_matches(game, agent, opponents, games, seed, threads)]


def play_matches(
    game: Game, agent: Agent, opponents: Sequence[str], games: int, seed: int, threads: int = 1
) -> list[Match]:
    """Play a match against each opponent, with the same deals.

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
        Match(opponent, [r for (name, _), r in zip(parts, results, strict=True) if name == opponent])
        for opponent in opponents
    ]


def other_anchors(game: Game, opponents: Sequence[str]) -> list[str]:
    """Return the anchors of a variant that are not among the opponents, the best first; none for one player."""
    return [anchor for anchor in anchors(game) if anchor not in opponents]


def rating_of(game: Game, matches: Sequence[Match]) -> Rating | None:
    """Return the rating that the games against anchors give, None if none of the opponents is one."""
    known = anchors(game)
    rated = [match for match in matches if match.opponent in known]
    if not rated:
        return None
    tables = [TableResults((_SELF, *[m.opponent] * (game.players - 1)), m.returns()) for m in rated]
    standings = rate(tables, [_SELF, *(match.opponent for match in rated)], known)
    own = next(standing for standing in standings if standing.agent == _SELF)
    return Rating(round(own.rating, 1), round(own.low, 1), round(own.high, 1), own.games)


def write_results(
    run_dir: Path,
    game: Game,
    agent: Agent,
    scores: Sequence[Score],
    notes: dict[str, Any],
    rival: str | None,
    about: str = "",
) -> None:
    """Write the table of scores as Markdown and, with some notes, as JSON; and a game to look at.

    Args:
        run_dir: where to write RESULTS, TABLE, REPLAY and REPLAY_PAGE.
        game: the variant.
        agent: the policy.
        scores: of the final evaluation.
        notes: what else the JSON file is to say.
        rival: whom the agent plays in the game to look at; None: there is no such game.
        about: what is to be said under the table.
    """
    struct = {**notes, "scores": [dataclasses.asdict(score) for score in scores]}
    write_text(run_dir / RESULTS, json.dumps(struct, indent=1) + "\n")
    write_text(run_dir / TABLE, table(scores) + (f"\n{about}\n" if about else ""))
    if rival is not None:
        others = [make_agent(rival, game, seat) for seat in range(1, game.players)]
        record = play_match(game, [agent, *others])
        record.save(run_dir / REPLAY)
        write_replay(record, run_dir / REPLAY_PAGE)


def rating_sentence(game: Game, rating: Rating | None) -> str:
    """Return in a sentence what the rating is, or why there is none."""
    if rating is None:
        return f"There are no anchors for this variant of {game.name}, so there is no rating."
    scale = ", ".join(f"`{name}` = {value:.0f}" for name, value in anchors(game).items())
    return (
        f"Rating on the scale of the anchors: {rating.rating:.0f}, 95 % interval {rating.low:.0f} to "
        f"{rating.high:.0f}, from {rating.games:,} games against them ({scale})."
    )


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
