"""How strong the tree search is with so many simulations: `python benchmarks/strength.py GAME [--leaf RUN] ...`.

It plays `mcts:sims=N,leaf=RUN` for each N of `--sims`: a game for one player against the game itself, others with the
`--opponent` in all other seats. Each deal is played from every seat. With `--json FILE` the rows become part of that
file, in the place of such that were measured before with the same settings.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agents.arena import play_games
from caravan_env import Game, game_names
from caravan_env.cli.options import build_game
from caravan_env.core.errors import CaravanError
from caravan_env.core.files import write_text
from caravan_env.core.machine import machine

HEAD = "| game | seats | leaf | opponent | sims | wins | 95 % interval | games | ms a decision |\n" + 9 * "| --- " + "|"
MEASURED = ("wins", "low", "high", "seconds_per_decision")  # what two measurements of the same thing differ in

Row = dict[str, Any]


def measure(game: Game, options: argparse.Namespace, sims: int) -> Row:
    """Play the games of one row; return it."""
    extra = f",{options.options}" if options.options else ""
    opponents = [options.opponent] * (game.players - 1)
    played = play_games(game, [f"mcts:sims={sims},leaf={options.leaf}{extra}", *opponents], options.games, options.seed)
    rate = played.win_rate(0)
    return {
        "game": game.name,
        "players": game.players,
        "params": game.params.to_json(),
        "leaf": options.label or options.leaf,
        "options": options.options,
        "opponent": options.opponent if opponents else "the game itself",
        "sims": sims,
        "seed": options.seed,
        "games": played.games,
        "wins": float(played.wins[:, 0].sum()),
        "low": round(rate.low, 4),
        "high": round(rate.high, 4),
        "seconds_per_decision": round(float(played.seconds[0] / max(played.decisions[0], 1)), 6),
    }


def line(row: Row) -> str:
    """Return a row of the Markdown table."""
    cells = [row["game"], row["players"], row["leaf"], row["opponent"], f"{row['sims']:,}"]
    cells += [f"{row['wins'] / row['games']:.1%}", f"{row['low']:.1%} to {row['high']:.1%}", row["games"]]
    return "| " + " | ".join(str(cell) for cell in [*cells, f"{1000 * row['seconds_per_decision']:.1f}"]) + " |"


def write(file: Path, rows: Sequence[Row]) -> None:
    """Add rows to a file, in the place of those that measured the same."""

    def what(row: Row) -> Row:
        return {key: value for key, value in row.items() if key not in MEASURED}

    new = [what(row) for row in rows]
    old = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []
    whole = [row for row in old if what(row) not in new] + list(rows)
    write_text(file, json.dumps({"machine": machine(), "rows": whole}, indent=1) + "\n")


def numbers(text: str) -> list[int]:
    """Return numbers that are separated by commas."""
    return [int(piece) for piece in text.split(",")]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", choices=game_names(), metavar="GAME")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a rule switch; repeatable")
    parser.add_argument("--leaf", default="heuristic", help="what positions are judged by, see docs/agents.md")
    parser.add_argument("--label", help="what to call it in the table (default: as given)")
    parser.add_argument("--options", default="", help="further options of the search: c=2,temperature=1.5")
    parser.add_argument("--opponent", default="greedy", help="the agent in all other seats")
    parser.add_argument("--sims", type=numbers, default=[100, 400, 1600], help="numbers, separated by commas")
    parser.add_argument("--games", type=int, default=200, help="for each number")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="rows measured at once; times are best with one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file, too")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error("--jobs must be positive")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, row by row, and write the file."""
    options = parse(arguments)
    try:
        game = build_game(options.game, options.set)
        print(HEAD, flush=True)
        with ThreadPoolExecutor(options.jobs) as pool:
            for row in pool.map(lambda sims: measure(game, options, sims), options.sims):
                print(line(row), flush=True)
                if options.json is not None:
                    write(options.json, [row])
    except CaravanError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
