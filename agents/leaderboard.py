"""What an arena shows: ratings as JSON, a page of Markdown, and a drawing."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.anchors import anchors, variant
from agents.ratings import CONFIDENCE, Standing, comparisons, rate
from agents.tournament import Arena
from caravan_env.core import svg
from caravan_env.core.files import write_text
from caravan_env.core.game import Game
from caravan_env.core.svg import Box, colour, num, text

FORMAT = 1
JSON = "ratings.json"
MARKDOWN = "leaderboard.md"
DRAWING = "leaderboard.svg"

_NAMES, _PLOT, _VALUES, _MARGIN = 330, 520, 150, 16  # widths of the columns of the drawing
_HEAD, _ROW, _FOOT = 70, 30, 44
_REACH = 150  # points that the axis goes beyond the ratings, at least; longer intervals end in an arrow
_GRIDS = (50, 100, 200, 250, 500, 1000, 2000)
_LONGEST = 40  # characters of a name


@dataclasses.dataclass(frozen=True)
class Leaderboard:
    """The standings of an arena, and what is said about them.

    Attributes:
        game: the variant.
        seed: of the arena.
        standings: best first.
        scores: (agents, agents) share of the comparisons that the first won against the second, nan where there are
            none; in the order of the standings.
        counts: (agents, agents) number of those comparisons.
    """

    game: Game
    seed: int
    standings: tuple[Standing, ...]
    scores: NDArray[np.float64]
    counts: NDArray[np.float64]

    @classmethod
    def of(cls, arena: Arena, anchored: bool = True) -> Leaderboard:
        """Return the leaderboard of all games that an arena has played.

        Args:
            arena: with games.
            anchored: whether anchors among the agents fix the scale.
        """
        tables = arena.tables()
        standings = rate(tables, arena.agents, anchors(arena.game) if anchored else None)
        wins = comparisons(tables, [standing.agent for standing in standings]).sum(axis=0)
        counts = wins + wins.T
        scores = np.divide(wins, counts, out=np.full_like(wins, np.nan), where=counts > 0)
        return cls(arena.game, arena.seed, tuple(standings), scores, counts)

    @property
    def scale(self) -> str:
        """What the ratings are measured against, in a sentence."""
        fixed = [f"{s.agent} = {s.rating:.0f}" for s in self.standings if s.anchor]
        if fixed:
            return f"The scale is fixed by {_listed(fixed)}."
        return "No anchor is among the agents: the mean rating is 0, and these ratings compare with no others."

    @property
    def notes(self) -> list[str]:
        """What else must be said about the ratings, in sentences."""
        members = [[s.agent for s in self.standings if s.group == n] for n in range(len(self.standings))]
        groups = "; ".join(", ".join(names) for names in members if names)
        if not members[1]:
            return []
        return [
            "Between these groups one never won, so that their distances say little more than the ends of the "
            f"intervals; agents of a strength in between would connect them: {groups}."
        ]

    def to_json(self) -> dict[str, Any]:
        """Return everything, for machines."""
        names = [standing.agent for standing in self.standings]
        return {
            "format": FORMAT,
            **variant(self.game),
            "seed": self.seed,
            "anchored": any(standing.anchor for standing in self.standings),
            "confidence": CONFIDENCE,
            "agents": [_rounded(standing) for standing in self.standings],
            "pairs": [
                {"agent": one, "against": two, "score": round(float(self.scores[i, j]), 4), "compared": compared}
                for i, one in enumerate(names)
                for j, two in enumerate(names)
                if (compared := int(self.counts[i, j]))
            ],
        }

    def markdown(self) -> str:
        """Return the page: a table of ratings and a table of pairs."""
        rows = [
            f"| {place} | `{s.agent}` | {s.rating:.0f} | {interval(s)} | {s.games} | {s.win_rate:.1%} |"
            for place, s in enumerate(self.standings, 1)
        ]
        return "\n".join(
            [
                f"# {self.title}",
                "",
                f"![Ratings with their intervals]({DRAWING})",
                "",
                f"| | agent | rating | {100 * CONFIDENCE:g} % interval | games | win rate |",
                "|---:|---|---:|---:|---:|---:|",
                *rows,
                "",
                f"400 points are odds of 10 to 1. {self.scale}",
                *self.notes,
                "",
                "## Pairs",
                "",
                f"How often the agent of the row {self._meaning}.",
                "",
                *self._pairs(),
                "",
            ]
        )

    @property
    def title(self) -> str:
        """The game in words."""
        return f"{self.game.spec.title}, {self.game.players} players"

    @property
    def _meaning(self) -> str:
        won = "won against that of the column, a draw being half a win"
        return won if self.game.players == 2 else "came before that of the column where the game set them apart"

    def _pairs(self) -> Iterable[str]:
        numbers = range(1, len(self.standings) + 1)
        yield "| | agent | " + " | ".join(map(str, numbers)) + " |"
        yield "|---:|---|" + "---:|" * len(self.standings)
        for place, standing, row in zip(numbers, self.standings, self.scores, strict=True):
            cells = ("" if math.isnan(score) else f"{score:.1%}" for score in row)
            yield f"| {place} | `{standing.agent}` | " + " | ".join(cells) + " |"

    def drawing(self, theme: str = "auto") -> str:
        """Return the drawing, an SVG of dots with their intervals; for the theme see `caravan_env.core.svg.picture`."""
        axis = _Axis.of(self.standings)
        height = _HEAD + _ROW * len(self.standings) + _FOOT
        width = 2 * _MARGIN + _NAMES + _PLOT + _VALUES
        box = Box(width - 2 * _MARGIN, height - 2 * _MARGIN, (_MARGIN, _MARGIN), (_MARGIN, _MARGIN))
        lines = [
            text(_MARGIN, 28, self.title, "b", 17),
            *axis.grid(_HEAD - 14, height - _FOOT - 2 * _MARGIN),
            *(line for number, s in enumerate(self.standings) for line in _row(axis, number, s)),
        ]
        best = self.standings[0]
        return svg.picture(
            svg.boxed("board", box, lines),
            theme=theme,
            colours=svg.COLOURS,
            definitions="",
            boxes={"board": box},
            wide=(width, height),
            tall=(width, height),
            label=f"Ratings of {len(self.standings)} agents; the best is {best.agent} with {best.rating:.0f}",
        )

    def write(self, folder: Path) -> list[Path]:
        """Write JSON, MARKDOWN and DRAWING into a folder, and return their paths."""
        contents = {
            JSON: json.dumps(self.to_json(), indent=1, ensure_ascii=False) + "\n",
            MARKDOWN: self.markdown(),
            DRAWING: self.drawing() + "\n",
        }
        for name, content in contents.items():
            write_text(folder / name, content)
        return [folder / name for name in contents]


def interval(standing: Standing) -> str:
    """Return the interval of a rating in words."""
    return "anchor" if standing.anchor else f"{standing.low:.0f} to {standing.high:.0f}"


def _rounded(standing: Standing) -> dict[str, Any]:
    struct = dataclasses.asdict(standing)
    return {
        **struct,
        **{key: round(struct[key], 1) for key in ("rating", "low", "high")},
        "win_rate": round(struct["win_rate"], 4),
    }


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# ------------------------------------------------------------------------------------------------------------ drawing


@dataclasses.dataclass(frozen=True)
class _Axis:
    """The axis of ratings, in the coordinates of the box."""

    low: float
    high: float

    @classmethod
    def of(cls, standings: Sequence[Standing]) -> _Axis:
        """Return an axis that shows all ratings, and intervals as far as they do not squeeze the ratings together."""
        ratings = [s.rating for s in standings]
        reach = max(_REACH, (max(ratings) - min(ratings)) / 4)
        low = max(min(s.low for s in standings), min(ratings) - reach)
        high = min(max(s.high for s in standings), max(ratings) + reach)
        return cls(min(low, min(ratings) - _REACH / 3), max(high, max(ratings) + _REACH / 3))

    def x(self, rating: float) -> float:
        """Return the place of a rating, at the edge if it is beyond."""
        share = (min(max(rating, self.low), self.high) - self.low) / (self.high - self.low)
        return _NAMES + share * _PLOT

    def grid(self, top: float, bottom: float) -> Iterable[str]:
        """Yield lines at round ratings, with labels."""
        step = next((grid for grid in _GRIDS if (self.high - self.low) / grid <= 8), _GRIDS[-1])
        for rating in range(math.ceil(self.low / step) * step, math.floor(self.high) + 1, step):
            x = num(self.x(rating))
            yield f'<path d="M{x} {num(top)}V{num(bottom)}" stroke="{colour("edge")}"/>'
            yield text(self.x(rating), bottom + 18, svg.points(rating), "m mid", 12)


def _row(axis: _Axis, number: int, standing: Standing) -> Iterable[str]:
    """Yield the name, the interval, the dot and the rating of an agent."""
    y = _HEAD + _ROW * number
    ink = colour("muted" if standing.anchor else "seat1")
    yield text(_MARGIN, y + 5, svg.shortened(standing.agent, _LONGEST), size=14)
    if not standing.anchor:
        path = f"M{num(axis.x(standing.low))} {num(y)}H{num(axis.x(standing.high))}" + _ends(axis, standing, y)
        yield f'<path d="{path}" stroke="{ink}" stroke-width="2" fill="none"/>'
    yield f'<circle cx="{num(axis.x(standing.rating))}" cy="{num(y)}" r="5" fill="{ink}"/>'
    yield text(_NAMES + _PLOT + _VALUES - _MARGIN, y + 5, _value(standing), "end", 14)


def _ends(axis: _Axis, standing: Standing, y: float) -> str:
    """Return the ends of an interval as the end of a path: a bar, or an arrow where it goes on beyond the axis."""
    path = ""
    for rating, beyond, inward in (
        (standing.low, standing.low < axis.low, 5),
        (standing.high, standing.high > axis.high, -5),
    ):
        x = axis.x(rating)
        back = inward if beyond else 0
        path += f"M{num(x + back)} {num(y - 5)}L{num(x)} {num(y)}L{num(x + back)} {num(y + 5)}"
    return path


def _value(standing: Standing) -> str:
    rating = svg.points(round(standing.rating))
    return f"{rating} (anchor)" if standing.anchor else rating
