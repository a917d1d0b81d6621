"""Fill in the README's tables of results, `make results`: each from what a command measured on this machine.

    python docs/make_results.py [policy] [agents] [speed] [peers] [--run DIR] [--games N] [--peers FILE]

| table | comes from |
| --- | --- |
| policy | the final evaluation in the run folder that `make train` left |
| agents | matches that are played now |
| speed | `caravan bench`, run now |
| peers | the file that `python benchmarks/peers.py --json FILE` wrote |

A table whose input is missing stays as it is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agents.arena import play_games
from agents.registry import agent_names
from caravan_env.bench import bench, machine
from caravan_env.core.files import write_text
from caravan_env.core.registry import make_game

README = Path(__file__).resolve().parents[1] / "README.md"
GAME = "caravan"
SCRIPTED = ("planner", "greedy", "random")


class NoInput(Exception):
    """There is nothing to make a table from; the message says what is missing."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the tables that are asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all by default")
    parser.add_argument("--run", type=Path, default=Path("runs/caravan-2p"), help="the run folder of `make train`")
    parser.add_argument("--games", type=int, default=400, help="games of each match between agents")
    parser.add_argument("--peers", type=Path, default=Path("peers.json"), help="what benchmarks/peers.py wrote")
    options = parser.parse_args(arguments)
    if unknown := set(options.tables) - set(TABLES):
        parser.error(f"there is no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    for name in options.tables or TABLES:
        try:
            lines = TABLES[name](options)
        except NoInput as reason:
            print(f"{name}: left as it was, {reason}")
        else:
            write_text(README, fill(README.read_text(encoding="utf-8"), name, lines))
            print(f"{name}: filled in")


def fill(text: str, name: str, lines: Iterable[str]) -> str:
    """Return a document with the lines between the marks of a table."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the marks {begin} and {end} must be there once each")
    body = "\n".join([begin, *lines, end])
    return re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: body, text, flags=re.DOTALL)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(columns) - 1)]
    return ["| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows)]


def here() -> str:
    """Return what measured, in words."""
    m = machine()
    return f"{m['processor']}, {m['cores']} cores, Python {m['python']}, numba {m['numba']}"


def policy_table(options: argparse.Namespace) -> list[str]:
    """Return the final evaluation of a run."""
    results, config = options.run / "results.json", options.run / "config.yaml"
    if not results.exists():
        raise NoInput(f"{results} does not exist; it comes with `make train`")
    found = json.loads(results.read_text(encoding="utf-8"))
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    rows = [
        (s["opponent"], percent(s["score"]), interval(s["low"], s["high"]), str(s["games"]), points(s))
        for s in found["scores"]
    ]
    players = settings["game"]["params"].get("players", 2)
    return [
        f"The policy of one `make train` ({players} players, {found['seconds'] / 60:.0f} minutes, "
        f"{found['step']:,} decisions, seed {settings['seed']}) on {here()}:",
        "",
        *table(("against", "wins", "95 % interval", "games", "points"), rows),
    ]


def agents_table(options: argparse.Namespace) -> list[str]:
    """Return the matches of the scripted agents against each other."""
    game = make_game(GAME)
    known = [name for name in SCRIPTED if name in agent_names(GAME)]
    rows = []
    for pair in itertools.combinations(known, 2):
        result = play_games(game, pair, options.games)
        rate, mean = result.win_rate(0), result.scores.mean(axis=0)
        limit = percent(float(result.truncated.mean()))
        scores = f"{mean[0]:.1f} : {mean[1]:.1f}"
        names = f"{pair[0]} - {pair[1]}"
        rows.append((names, percent(rate.share), interval(rate.low, rate.high), str(result.games), scores, limit))
    columns = ("match", "wins of the first", "95 % interval", "games", "points", "cut off at the turn limit")
    return [
        f"The scripted agents against each other, {game.players} players, board `symmetric`:",
        "",
        *table(columns, rows),
    ]


def speed_table(options: argparse.Namespace) -> list[str]:
    """Return the figures of `caravan bench`."""
    figures = [figure.to_json() for figure in bench(make_game(GAME), core=0)]
    rows = [(f"{f['what']}{play(f)}", str(f["threads"]), amount(f)) for f in figures]
    return [
        f"Speed with 2 players, best of several rounds, pinned to one core (two for two threads) of {here()}:",
        "",
        *table(("what", "threads", ""), rows),
    ]


def peers_table(options: argparse.Namespace) -> list[str]:
    """Return the ratios to other projects, with what is missing."""
    if not options.peers.exists():
        raise NoInput(f"{options.peers} does not exist; `python benchmarks/peers.py --json {options.peers}` writes it")
    report = json.loads(options.peers.read_text(encoding="utf-8"))
    rows = [
        (row["what"], "missing" if row["value"] is None else f"{row['value']:.1f}", f"{row['goal'] or ''}")
        for row in report["ratios"]
    ]
    about = report["machine"]
    missing = [f"{name} is missing: {reason}." for name, reason in report["missing"].items()]
    return [
        f"Ratios to peers, measured in one go on one core of {about['cpu']} (`python benchmarks/peers.py`); the peers "
        "play other and smaller games, so read them as orders of magnitude:",
        "",
        *table(("ours / theirs", "ratio", "goal"), rows),
        *(["", " ".join(missing)] if missing else []),
    ]


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{share:.1%}".replace("%", " %")


def interval(low: float, high: float) -> str:
    """Return the two ends of an interval of shares."""
    return f"{100 * low:.1f} - {percent(high)}"


def points(score: Mapping[str, Any]) -> str:
    """Return own and other points of a line of an evaluation."""
    return f"{score['points']:.1f} : {score['opponent_points']:.1f}"


def play(figure: Mapping[str, Any]) -> str:
    """Return whose moves a figure follows."""
    return f" ({figure['play']} play)" if figure.get("play") else ""


def amount(figure: Mapping[str, Any]) -> str:
    """Return a figure with its unit."""
    return f"{figure['seconds']:.2f} s" if "seconds" in figure else f"{figure['steps_per_second']:,.0f} steps/s"


TABLES: dict[str, Callable[[argparse.Namespace], list[str]]] = {
    "policy": policy_table,
    "agents": agents_table,
    "speed": speed_table,
    "peers": peers_table,
}

if __name__ == "__main__":
    main()
