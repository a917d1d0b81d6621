"""Anchors: reference agents whose ratings are fixed, so that the ratings of different arenas can be compared.

`anchors.json` has one table for each game variant, written by `caravan arena --make-anchors`. In each table `greedy`,
or the agent in the middle if that is not in it, has the rating `ORIGIN`. An anchor is what its spec says in this
version of the package: when the scripted agents change, the tables are to be made again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.ratings import Standing
from caravan_env.core.errors import CaravanError
from caravan_env.core.files import write_text
from caravan_env.core.game import Game

ANCHORS = Path(__file__).with_name("anchors.json")
ORIGIN = 1000.0
_NAMED = "greedy"


class NoAnchors(CaravanError, LookupError):
    """A game variant without anchors."""


def anchors(game: Game, path: Path = ANCHORS) -> dict[str, float]:
    """Return agent -> rating of the anchors of a game variant, the best first; empty if it has none."""
    return next((table["ratings"] for table in _read(path) if _variant(table) == variant(game)), {})


def known_anchors(game: Game, path: Path = ANCHORS) -> dict[str, float]:
    """Return the anchors of a game variant; raises NoAnchors if it has none."""
    found = anchors(game, path)
    if not found:
        raise NoAnchors(
            f"there are no anchors for this variant of {game.name}; name the agents with --agents, "
            "and --make-anchors freezes their ratings"
        )
    return found


def make_anchors(game: Game, standings: Sequence[Standing], games: int, path: Path = ANCHORS) -> dict[str, float]:
    """Write the ratings of agents as the anchors of a game variant, in place of those that it had.

    Args:
        game: the variant.
        standings: of an arena of the anchors alone, best first.
        games: how many games each table had at least.
        path: the file, read and written again.

    Returns:
        agent -> rating, the best first.
    """
    named = [standing for standing in standings if standing.agent == _NAMED]
    shift = ORIGIN - (*named, standings[len(standings) // 2])[0].rating
    ratings = {standing.agent: round(standing.rating + shift, 1) for standing in standings}
    others = [table for table in _read(path) if _variant(table) != variant(game)]
    intervals = {s.agent: [round(s.low + shift, 1), round(s.high + shift, 1)] for s in standings}
    tables = [*others, {**variant(game), "games": games, "ratings": ratings, "intervals": intervals}]
    tables.sort(key=lambda table: (table["game"], table["params"]["players"], json.dumps(table["params"])))
    write_text(path, json.dumps({"tables": tables}, indent=1) + "\n")
    return ratings


def variant(game: Game) -> dict[str, Any]:
    """Return what tells a game variant from others, as JSON values: its game, version and params."""
    params: Mapping[str, Any] = json.loads(json.dumps(game.params.to_json()))
    return {"game": game.name, "version": game.spec.version, "params": params}


def _variant(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: table[key] for key in ("game", "version", "params")}


def _read(path: Path) -> list[dict[str, Any]]:
    tables: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["tables"] if path.exists() else []
    return tables
