"""Take the policy of a finished run into the package, or add to its card how strong it was measured to be.

    python docs/make_best.py caravan-2p --run runs/caravan-2p-long
    python docs/make_best.py caravan-2p --matches match.json arena/ratings.json

NAME is a folder of agents/shipped, with the policy and a card; agents/shipped/best.json says who plays with it. A file
of matches is what `caravan match --agents best,OTHER,... --json` printed, or an arena's ratings.json with `best` in it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from agents.anchors import variant
from agents.arena import wilson
from agents.neural import DESCRIPTION, WEIGHTS, resolve
from agents.shipped import CARD, FOLDER, best_entry
from caravan_env.core.errors import CaravanError
from caravan_env.core.files import write_text
from caravan_env.core.registry import make_game

BEST = "best"


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the folder in agents/shipped")
    parser.add_argument("--run", type=Path, help="folder of a run, whose policy is taken")
    parser.add_argument("--matches", type=Path, nargs="*", default=[], help="files of matches of `best`")
    options = parser.parse_args(arguments)
    target = FOLDER / options.name
    if options.run is not None:
        take(options.run, target)
    for path in options.matches:
        try:
            add(target / CARD, json.loads(path.read_text(encoding="utf-8")))
        except CaravanError as error:
            sys.exit(f"{path}: {error}")
    print(f"{target}: {sum(file.stat().st_size for file in target.iterdir()):,} bytes")


def take(run: Path, target: Path) -> None:
    """Copy the policy of a run and write its card."""
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    target.mkdir(exist_ok=True)
    for name in (WEIGHTS, DESCRIPTION):
        shutil.copyfile(resolve(run) / name, target / name)
    card = {
        "date": datetime.now(UTC).date().isoformat(),
        "decisions": results["step"],
        "cpu_hours": round(results.get("cpu_seconds", results["seconds"] * config["threads"]) / 3600, 2),
        "machine": results["machine"],
        "scores": results["scores"],
        "rating": results.get("rating"),
        "matches": [],
        "config": {key: value for key, value in config.items() if key != "run_dir"},
    }
    write_text(target / CARD, json.dumps(card, indent=1) + "\n")


def add(path: Path, found: Mapping[str, Any]) -> None:
    """Add the match in a file of matches to a card, in the place of an earlier one of the same agents.

    Raises:
        CaravanError: the match is of another game variant than the policy, `best` is not in it as it comes, or an
            arena is not for two.
    """
    card = json.loads(path.read_text(encoding="utf-8"))
    learned = make_game(card["config"]["game"]["name"], **card["config"]["game"]["params"])
    if variant(make_game(found["game"], **found["params"])) != variant(learned):
        raise CaravanError(f"the match is of another game variant than {path.parent.name}")
    agent = best_entry(make_game(found["game"], **found["params"]))
    row = {"agent": agent, **(arena_row(found) if "pairs" in found else match_row(found))}
    same = ("agent", "opponent")
    others = [match for match in card.get("matches", []) if any(match[key] != row[key] for key in same)]
    write_text(path, json.dumps({**card, "matches": [*others, row]}, indent=1) + "\n")


def match_row(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `caravan match --json` says of `best`, which must be named first."""
    best, *others = found["agents"]
    if best["name"] != BEST:
        raise CaravanError(f"the first agent must be {BEST}, not {best['name']}")
    return {
        "opponent": others[0]["name"] if others else None,
        "games": found["games"],
        "score": best["win_rate"],
        "low": best["interval"][0],
        "high": best["interval"][1],
        "ms_per_decision": best["ms_per_decision"],
    }


def arena_row(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an arena for two says of `best` against the first other agent, and its rating."""
    best = next((agent for agent in found["agents"] if agent["agent"] == BEST), None)
    pair = next((pair for pair in found["pairs"] if (pair["agent"], pair["against"]) == (BEST, "planner")), None)
    if best is None or pair is None or found["params"]["players"] != 2:
        raise CaravanError(f"an arena for two of {BEST} and planner is needed")
    rate = wilson(pair["score"] * pair["compared"], pair["compared"])
    return {
        "opponent": pair["against"],
        "games": pair["compared"],
        "score": pair["score"],
        "low": round(rate.low, 4),
        "high": round(rate.high, 4),
        "rating": {key: best[key] for key in ("rating", "low", "high", "games")} if found["anchored"] else None,
    }


if __name__ == "__main__":
    main()
