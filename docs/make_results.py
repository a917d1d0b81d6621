"""Fill in the tables of results in README.md and docs/results.md, each from what was measured on this machine.

    python docs/make_results.py [TABLE ...] [--runs DIR] [--games N] [--seconds S] [--peers FILE]

| table | comes from |
| --- | --- |
| policy | the final evaluation in the run folder that `make train` left |
| best | the cards of the policies in the package, and which agent plays with them |
| agents | matches of Caravan's scripted agents that are played now |
| solo | games of Century against the automa that are played now; policies from run folders, else those in the package |
| duel | matches of Century for two that are played now, the same |
| ukraine | matches of the Ukraine map for two that are played now, the same |
| switches | games of Century's greedy agent with one rule switch changed, played now |
| speed | `caravan bench` for each game, run now |
| peers | the file that `python benchmarks/peers.py --json FILE` wrote |
| trainers | docs/results/curves.json, a copy of what `python benchmarks/trainers.py` wrote |
| strength | docs/results/strength.json, which `python benchmarks/strength.py --json` wrote |

A table whose input is missing stays as it is.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from agents.arena import Interval, MatchResult, play_games, wilson
from agents.registry import agent_names, make_agent
from agents.shipped import CARD, FOLDER, best_entry
from caravan_env.bench import Figure, bench
from caravan_env.core.batch import Batch
from caravan_env.core.files import write_text
from caravan_env.core.game import Game
from caravan_env.core.machine import machine
from caravan_env.core.registry import game_names, make_game
from train.curves import DRAWINGS, read_curves
from train.curves import table as curves_table

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "results.md")
GAME = "caravan"
CURVES = ROOT / "docs" / "results" / "curves.json"
STRENGTH = CURVES.with_name("strength.json")
SOLO = {"standard": {"players": 1}, "expert": {"players": 1, "expert": True}}
SCRIPTED = ("planner", "greedy", "random")
THREADS = 2
SPEED_ROWS = {
    "rollout": "rollouts in the kernel: choice, step, chance",
    "games": "whole games in the kernel, games per second",
    "batched": "`Batch.step` from Python: check, step, chance, restart, mask, observation",
    "batched_purposeful": "`Batch.step`, 64 rows",
    "aec": "PettingZoo AEC loop, all checks on",
    "loop": "Python loop over one `State`",
    "start_cold": "import to first step, nothing compiled",
    "start_warm": "import to first step, kernels in the cache",
}


class NoInput(Exception):
    """There is nothing to make a table from; the message says what is missing."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Fill in the tables that are asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"{', '.join(TABLES)}; all by default")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the folder with the run folders")
    parser.add_argument("--games", type=int, default=400, help="games of each match between agents")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one round of a figure of speed")
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
            document = document_of(name)
            write_text(document, fill(document.read_text(encoding="utf-8"), name, lines))
            print(f"{name}: filled in")


def document_of(name: str) -> Path:
    """Return the document that has the marks of a table."""
    return next(path for path in DOCUMENTS if f"<!-- {name}:begin -->" in path.read_text(encoding="utf-8"))


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
    run = options.runs / "caravan-2p"
    results, config = run / "results.json", run / "config.yaml"
    if not results.exists():
        raise NoInput(f"{results} does not exist; it comes with `make train`")
    found = json.loads(results.read_text(encoding="utf-8"))
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    rows = [
        (s["opponent"], percent(s["score"]), interval(s["low"], s["high"]), str(s["games"]), points(s))
        for s in found["scores"]
    ]
    players = settings["game"]["params"].get("players", 2)
    rating = found.get("rating")
    standing = (
        "Rating on the scale of the anchors: {rating:.0f}, 95 % interval {low:.0f} to {high:.0f}, {games:,} games."
    )
    return [
        f"The policy of one `make train` ({players} players, {found['seconds'] / 60:.0f} minutes, "
        f"{found['step']:,} decisions, seed {settings['seed']}) on {here()}:",
        "",
        *table(("against", "wins", "95 % interval", "games", "points"), rows),
        *(["", standing.format(**rating)] if rating else []),
    ]


def best_table(options: argparse.Namespace) -> list[str]:
    """Return how strong the agent `best` was measured to be, where a policy from the package plays in it."""
    rows = []
    for path in FOLDER.glob(f"*/{CARD}"):
        card = json.loads(path.read_text(encoding="utf-8"))
        game = make_game(card["config"]["game"]["name"], **card["config"]["game"]["params"])
        rows += [best_row(game, match) for match in card.get("matches", []) if match["agent"] == best_entry(game)]
    return table(("game", "players", "`best` is", "against", "wins", "95 % interval", "games", "rating"), sorted(rows))


def best_row(game: Game, match: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a match from the card of a policy as cells."""
    return (
        in_words(game),
        str(game.players),
        f"`{match['agent']}`",
        (match["opponent"] or "the automa") + "s in all other seats" * (game.players > 2),
        percent(match["score"]),
        interval(match["low"], match["high"]),
        f"{match['games']:,}",
        "{rating:.0f} ({low:.0f} to {high:.0f})".format(**match["rating"]) if match.get("rating") else "",
    )


def in_words(game: Game) -> str:
    """Return the game with the rule switches, but for the number of players, that are not as it comes."""
    usual = make_game(game.name, players=game.players).params.to_json()
    changed = [f"{name}={value}" for name, value in game.params.to_json().items() if value != usual[name]]
    return ", ".join([game.name, *changed])


def agents_table(options: argparse.Namespace) -> list[str]:
    """Return the matches of the scripted agents against each other."""
    game = make_game(GAME)
    known = [name for name in SCRIPTED if name in agent_names(GAME)]
    rows = []
    for pair in itertools.combinations(known, 2):
        result = play_games(game, pair, options.games)
        rows.append((*match_row(pair, result), percent(float(result.truncated.mean()))))
    columns = ("match", "wins of the first", "95 % interval", "games", "points", "cut off at the turn limit")
    return [
        f"The scripted agents against each other, {game.players} players, board `symmetric`:",
        "",
        *table(columns, rows),
    ]


def match_row(names: Sequence[str], result: MatchResult) -> tuple[str, ...]:
    """Return a match of two as cells: names, wins of the first with their interval, games, mean points."""
    mean = result.scores.mean(axis=0)
    shares = share_cells(result.win_rate(0))
    return (" - ".join(names), *shares, str(result.games), f"{mean[0]:.1f} : {mean[1]:.1f}")


def share_cells(rate: Interval) -> tuple[str, str]:
    """Return a share and its interval as two cells."""
    return percent(rate.share), interval(rate.low, rate.high)


def solo_table(options: argparse.Namespace) -> list[str]:
    """Return how often each agent beats the automa of Century, and how often it empties the merchant row."""
    rows = []
    for (mode, params), name in itertools.product(SOLO.items(), ("random", "greedy", "planner", "policy")):
        game = make_game("century", **params)
        spec = name if name != "policy" else policy_of(options, f"century-solo{'-expert' * (mode == 'expert')}")
        if spec is None:
            continue
        S, returns = play_out(game, spec, options.games)
        rate, empty = wilson(float((returns > 0).sum()), len(S)), float((S["row_size"] == 0).mean())
        rows.append((f"{mode}, {name}", *share_cells(rate), percent(empty), str(len(S))))
    columns = ("Century alone against the automa", "wins", "95 % interval", "merchant row empty", "games")
    return [
        "A game that the turn limit cuts off is not a win. *Merchant row empty*: games at whose end no merchant was "
        "left, so that the automa, which lives on the row, was starved:",
        "",
        *table(columns, rows),
    ]


def duel_table(name: str, options: argparse.Namespace) -> list[str]:
    """Return matches of a game for two: the scripted agents, and the policy if there is one."""
    game = make_game(name, players=2)
    policy = policy_of(options, f"{name}-2p")
    pairs = [("planner", "greedy"), ("greedy", "random")]
    if policy:
        pairs += [(policy, opponent) for opponent in ("random", "greedy", "planner")]
    rows = []
    for pair in pairs:
        names = ["policy" if spec == policy else spec for spec in pair]
        rows.append(match_row(names, play_games(game, pair, options.games)))
    return table((f"{name}, 2 players", "wins of the first", "95 % interval", "games", "points"), rows)


def switches_table(options: argparse.Namespace) -> list[str]:
    """Return what each rule switch of Century's solo game does to the greedy agent's share of wins."""
    settings: list[dict[str, Any]] = [{}]
    for name, default, choices, _ in make_game("century").params.describe():
        if choices and name != "returns":
            settings += [{name: choice} for choice in choices if choice != default]
    rows = []
    for setting in settings:
        _, returns = play_out(make_game("century", players=1, **setting), "greedy", options.games)
        rate = wilson(float((returns > 0).sum()), len(returns))
        label = ", ".join(f"`{name} = {json.dumps(value)}`" for name, value in setting.items()) or "as shipped"
        rows.append((label, *share_cells(rate), str(len(returns))))
    return table(("Century alone, greedy, with", "wins", "95 % interval", "games"), rows)


def policy_of(options: argparse.Namespace, run: str) -> str | None:
    """Return the spec of the policy of a run, else of the one of that name in the package, None if there is neither."""
    for folder, part in ((options.runs / run, "results.json"), (FOLDER / run, CARD)):
        if (folder / part).exists():
            return f"policy:{folder}"
    return None


def play_out(game: Game, spec: str, games: int, seed: int = 0) -> tuple[NDArray[np.void], NDArray[np.float64]]:
    """Let an agent play games for one to their ends; return the last positions (games,) and its returns (games,)."""
    batch = Batch(game, games, seed)
    parts = np.array_split(np.arange(games), THREADS)
    agents = [make_agent(spec, game, seed) for _ in parts]
    with ThreadPoolExecutor(THREADS) as pool:
        while (batch.seats >= 0).any():
            alive = [part[batch.seats[part] >= 0] for part in parts]
            actions = np.zeros(games, np.int64)
            chosen = pool.map(lambda a, rows: a.act_games(batch.S[rows], batch.mask[rows], rows), agents, alive)
            for rows, some in zip(alive, chosen, strict=True):
                actions[rows] = some
            batch.play(actions, batch.seats >= 0)
            batch.refresh()
    return batch.S, batch.returns[:, 0]


def speed_table(options: argparse.Namespace) -> list[str]:
    """Return the figures of `caravan bench`, a column for each game."""
    figures: dict[tuple[str, int], dict[str, str]] = {}
    for name in game_names():
        for figure in bench(make_game(name), options.seconds, core=0):
            figures.setdefault((f"{SPEED_ROWS[figure.name]}{play(figure)}", figure.threads), {})[name] = amount(figure)
    rows = [
        (what, str(threads), *(found.get(name, "-") for name in game_names()))
        for (what, threads), found in figures.items()
    ]
    return [
        f"Speed, best of several rounds, pinned to one core (two for two threads) of {here()}:",
        "",
        *table(("steps per second, or seconds", "threads", *game_names()), rows),
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


def trainers_table(options: argparse.Namespace) -> list[str]:
    """Return the ratings of the trainers that were compared, and their drawing if it is there."""
    if not CURVES.exists():
        raise NoInput(f"{CURVES} does not exist; it is a copy of what `python benchmarks/trainers.py` writes")
    curves = read_curves(CURVES)
    about = curves["machine"]
    seeds, games = ({row[key] for row in curves["rows"]} for key in ("seed", "games"))
    drawing = CURVES.with_name(DRAWINGS[0])
    picture = ["", f"![Rating against CPU minutes](results/{drawing.name})"] if drawing.exists() else []
    return [
        f"Rating after so many CPU minutes of learning on one thread, {curves['game']} for "
        f"{curves['params'].get('players', 1)}, mean of {len(seeds)} seeds, {min(games):,} games for each checkpoint, "
        f"on {about['processor']}, {about['cores']} cores, Python {about['python']}, numba {about['numba']}:",
        "",
        *curves_table(curves),
        *picture,
    ]


def strength_table(options: argparse.Namespace) -> list[str]:
    """Return how often the tree search wins with so many simulations."""
    if not STRENGTH.exists():
        raise NoInput(f"{STRENGTH} does not exist; `python benchmarks/strength.py GAME --json {STRENGTH}` writes it")
    rows = [
        (
            in_words(make_game(row["game"], **row["params"])),
            f"{row['leaf']}, {row['options']}" if row["options"] else row["leaf"],
            row["opponent"],
            f"{row['sims']:,}",
            percent(row["wins"] / row["games"]),
            interval(row["low"], row["high"]),
            f"{row['games']:,}",
            f"{1000 * row['seconds_per_decision']:.1f}",
        )
        for row in json.loads(STRENGTH.read_text(encoding="utf-8"))["rows"]
    ]
    columns = ("game", "leaf", "against", "simulations", "wins", "95 % interval", "games", "ms a decision")
    return table(columns, rows)


def percent(share: float) -> str:
    """Return a share in percent."""
    return f"{share:.1%}".replace("%", " %")


def interval(low: float, high: float) -> str:
    """Return the two ends of an interval of shares."""
    return f"{100 * low:.1f} - {percent(high)}"


def points(score: Mapping[str, Any]) -> str:
    """Return own and other points of a line of an evaluation."""
    other = score["opponent_points"]
    return f"{score['points']:.1f}" + ("" if other is None else f" : {other:.1f}")


def play(figure: Figure) -> str:
    """Return whose moves a figure follows."""
    return f", {figure.play} play" if figure.play else ""


def amount(figure: Figure) -> str:
    """Return a figure with its unit."""
    return f"{figure.seconds:.2f} s" if figure.seconds else f"{figure.steps_per_second or figure.games_per_second:,.0f}"


TABLES: dict[str, Callable[[argparse.Namespace], list[str]]] = {
    "policy": policy_table,
    "best": best_table,
    "agents": agents_table,
    "solo": solo_table,
    "duel": partial(duel_table, "century"),
    "ukraine": partial(duel_table, "ukraine"),
    "switches": switches_table,
    "speed": speed_table,
    "peers": peers_table,
    "trainers": trainers_table,
    "strength": strength_table,
}

if __name__ == "__main__":
    main()
