"""The policies that come with the package, and which agent is the strongest one known for each game: the spec `best`.

For each game `best.json` lists agents with the rule switches that they are for; the first that fits a variant plays it.
`policy:NAME` and `leaf=NAME` in a spec mean a folder here.
Such a folder holds the policy and `card.json`: where it comes from and how strong it was measured to be.
"""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path

from caravan_env.core.errors import UnknownName
from caravan_env.core.game import Game

FOLDER = Path(__file__).parent
TABLE = FOLDER / "best.json"
CARD = "card.json"
_NAMES = ("policy:", "leaf=")  # what goes before the name of a folder


def best_entry(game: Game) -> str:
    """Return the spec of the strongest agent known for a game as `best.json` has it, with names of folders here.

    Raises:
        UnknownName: none is known for this game.
    """
    switches = game.params.to_json()
    for entry in json.loads(TABLE.read_text(encoding="utf-8")).get(game.name, []):
        if all(switches[name] == value for name, value in entry.get("params", {}).items()):
            return str(entry["agent"])
    raise UnknownName(f"no best agent is known for {game.name} with {game.players} players; name another agent")


def best_spec(game: Game) -> str:
    """Return the spec of the strongest agent known for a game, with paths.

    Raises:
        UnknownName: none is known for this game.
    """
    return reduce(lambda text, mark: text.replace(mark, f"{mark}{FOLDER}/"), _NAMES, best_entry(game))
