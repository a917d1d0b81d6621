"""Measure this package and its peers in one go, on one core of one machine, and print the ratios between them.

    python benchmarks/peers.py [--json FILE] [--only NAME ...] [--seconds S] [--repeats N] [--core K] [--cache DIR]

Every peer gets a virtual environment of its own, filled from PyPI with peers/requirements/NAME.txt and kept for later
runs. Then come N rounds; in each round every worker script of peers/ runs once, alone, pinned to core K, and prints its
figures as lines of JSON, each the best of five measurements of S seconds. What counts is the best round of each figure.
A peer that cannot be installed or run is listed as missing, with the reason.

Exit status: 0, or 1 if our own figures were asked for and could not be measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path
from rich.console import Console
from rich.table import Table

WORKERS = Path(__file__).resolve().parent / "peers"
INSTALL_TIMEOUT = 1200.0
WORKER_TIMEOUT = 900.0

Figure = dict[str, Any]
Key = tuple[str, str]


class Missing(Exception):
    """A peer has no figures; the message says why."""


@dataclass(frozen=True)
class Peer:
    """One thing to measure.

    Attributes:
        name: as in `--only` and in the figures.
        worker: the script that prints the figures.
        requirements: what to install for it; without any it runs under the interpreter that runs this script.
        pins_itself: the worker chooses its cores from `--core`, as ours does for its figure with two threads.
        absent: why it is known to be missing, if it is.
    """

    name: str
    worker: Path | None = None
    requirements: Path | None = None
    pins_itself: bool = False
    absent: str = ""


def _peer(name: str, script: str) -> Peer:
    return Peer(name, WORKERS / script, WORKERS / "requirements" / f"{name}.txt")


PEERS = (
    Peer("ours", WORKERS / "ours.py", pins_itself=True),
    _peer("openspiel", "openspiel.py"),
    _peer("pgx", "pgx_cpu.py"),
    _peer("pettingzoo", "pettingzoo_aec.py"),
    _peer("catanatron", "catanatron_play.py"),
    Peer(
        "pufferlib",
        absent="not installable from PyPI alone: 3.0.0 is there as source only, and its build fetches raylib elsewhere",
    ),
)


@dataclass(frozen=True)
class Ratio:
    """A quotient of two figures, each named by (peer, metric), and the least it should be (None: for information)."""

    what: str
    over: Key
    under: Key
    goal: float | None = None


RATIOS = (
    Ratio("random play, all compiled / OpenSpiel in C++", ("ours", "rollout"), ("openspiel", "rollout"), 5.0),
    Ratio("batch, 1 thread / Pgx, step only", ("ours", "batched-1"), ("pgx", "step"), 2.0),
    Ratio("batch, 1 thread / Pgx, random actions", ("ours", "batched-1"), ("pgx", "random")),
    Ratio("batch, 2 threads / 1 thread", ("ours", "batched-2"), ("ours", "batched-1"), 1.8),
    Ratio("AEC loop / PettingZoo raw_env", ("ours", "aec"), ("pettingzoo", "aec"), 5.0),
    Ratio("Python loop / OpenSpiel from Python", ("ours", "loop"), ("openspiel", "loop")),
)


def last_words(text: str) -> str:
    """Return the line of an error output that says the most: pip's last ERROR, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it said nothing"])[-1]


def parse_figures(output: str) -> list[Figure]:
    """Return the figures among the lines of a worker's output; other lines are ignored.

    Raises:
        Missing: there is none.
    """
    found = [json.loads(line) for line in output.splitlines() if line.startswith('{"name"')]
    if not found:
        raise Missing("its worker printed no figure")
    return found


def speed(figure: Figure) -> float:
    """Return a number that is larger for the better figure: steps, games or starts per second."""
    rates = [float(figure[name]) for name in ("steps_per_second", "games_per_second") if name in figure]
    return rates[0] if rates else 1.0 / float(figure["seconds"])


def best_of(figures: Iterable[Figure]) -> dict[Key, Figure]:
    """Return the best figure of each (name, metric), with all its rounds under "rounds"."""
    groups: dict[Key, list[Figure]] = {}
    for figure in figures:
        groups.setdefault((figure["name"], figure["metric"]), []).append(figure)
    return {key: max(group, key=speed) | {"rounds": [speed(f) for f in group]} for key, group in groups.items()}


def ratio_rows(best: Mapping[Key, Figure]) -> list[dict[str, Any]]:
    """Return one row per ratio: its value and whether the goal is met, or which figure is missing for it."""
    rows: list[dict[str, Any]] = []
    for ratio in RATIOS:
        row: dict[str, Any] = {"what": ratio.what, "goal": ratio.goal, "value": None, "met": None}
        absent = [key for key in (ratio.over, ratio.under) if key not in best]
        if absent:
            row["missing"] = " ".join(absent[0])
        else:
            row["value"] = speed(best[ratio.over]) / speed(best[ratio.under])
            row["met"] = None if ratio.goal is None else row["value"] >= ratio.goal
        rows.append(row)
    return rows


def prepare(peer: Peer, cache: Path) -> str:
    """Return the interpreter to run a peer's worker with, after installing the peer if need be.

    Raises:
        Missing: it cannot be installed.
    """
    if peer.absent:
        raise Missing(peer.absent)
    if peer.requirements is None:
        return sys.executable
    home = cache / f"{peer.name}-{sys.implementation.cache_tag}"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted, stamp = peer.requirements.read_text(), home / "installed.txt"
    if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
        try:
            venv.create(home, clear=True, with_pip=True)
            run([str(python), "-m", "pip", "install", "--quiet", "-r", str(peer.requirements)], INSTALL_TIMEOUT)
        except (Missing, OSError, subprocess.CalledProcessError) as error:
            raise Missing(f"could not be installed: {error}") from error
        stamp.write_text(wanted)
    return str(python)


def run(command: Sequence[str], timeout: float) -> str:
    """Return the output of a command, run without this process's Python settings and with one thread per library.

    Raises:
        Missing: it failed or did not end in time.
    """
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")} | single
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout, env=env)
    except subprocess.TimeoutExpired:
        raise Missing(f"did not end within {timeout:g} seconds") from None
    if done.returncode:
        raise Missing(last_words(done.stderr))
    return done.stdout


@contextmanager
def pinned(cores: set[int]) -> Iterator[None]:
    """Pin this process, and with it those that it starts, to `cores`; where the system cannot, do nothing."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def allowed_cores() -> set[int]:
    """Return the cores that this process may use."""
    return set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def measure(
    peers: Sequence[Peer], args: argparse.Namespace, console: Console
) -> tuple[dict[Key, Figure], dict[str, str]]:
    """Install all the peers, then run the rounds; return the best figures and why each missing peer is missing."""
    interpreters: dict[str, str] = {}
    missing: dict[str, str] = {}
    figures: list[Figure] = []
    for peer in peers:
        console.print(f"preparing {peer.name}", style="dim")
        try:
            interpreters[peer.name] = prepare(peer, args.cache)
        except Missing as error:
            missing[peer.name] = str(error)
    options = ["--seconds", str(args.seconds), "--core", str(args.core), "--game", args.game]
    for number in range(1, args.repeats + 1):
        for peer in (peer for peer in peers if peer.name not in missing):
            console.print(f"round {number} of {args.repeats}: {peer.name}", style="dim")
            try:
                with pinned(allowed_cores() if peer.pins_itself else {args.core}):
                    output = run([interpreters[peer.name], str(peer.worker), *options], WORKER_TIMEOUT)
                figures += parse_figures(output)
            except Missing as error:
                missing[peer.name] = str(error)
    return best_of(figure for figure in figures if figure["name"] not in missing), missing


def machine() -> dict[str, Any]:
    """Say what the figures were measured on, and how busy it was before."""
    names = [line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    return {
        "cpu": names[0] if names else platform.processor(),
        "cores": len(allowed_cores()),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def show(console: Console, report: Mapping[str, Any]) -> None:
    """Print the report of `main`."""
    here, asked = report["machine"], report["settings"]
    console.print(
        f"{here['cpu']}, {here['cores']} cores, load {here['load']}, {here['system']}, Python {here['python']}; "
        f"core {asked['core']}, best of {asked['repeats']} rounds of 5 times {asked['seconds']:g} s"
    )
    table = Table("peer", "figure", "what", title="steps per second")
    table.add_column("best round", justify="right")
    table.add_column("worst round", justify="right")
    for figure in report["figures"]:
        detail, rounds = figure["detail"], figure["rounds"]
        said = [detail.get("what") or detail.get("actions", "")]
        said += [f"batch {detail['batch']}"] if "batch" in detail else []
        said += [f"{name} {version}" for name, version in detail.get("versions", {}).items() if name != "python"]
        numbers = [max(rounds), min(rounds)]
        shown = [f"{n:,.0f}" for n in numbers] if "seconds" not in figure else [f"{1 / n:.3f} s" for n in numbers]
        table.add_row(figure["name"], figure["metric"], ", ".join(filter(None, said)), *shown)
    for name, reason in report["missing"].items():
        table.add_row(name, "", f"missing: {reason}", "", "")
    console.print(table)
    table = Table("ours / peer", title="ratios")
    table.add_column("ratio", justify="right")
    table.add_column("goal", justify="right")
    table.add_column("")
    for row in report["ratios"]:
        value = "" if row["value"] is None else f"{row['value']:.2f}"
        verdict = {None: "", True: "met", False: "NOT met"}[row["met"]]
        missing = f"missing: {row['missing']}" if "missing" in row else verdict
        table.add_row(row["what"], value, "" if row["goal"] is None else f"{row['goal']:g}", missing)
    console.print(table)


def main(argv: Sequence[str] | None = None, peers: Sequence[Peer] = PEERS) -> int:
    """Run the whole comparison; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [peer.name for peer in peers]
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything to this file")
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--seconds", type=float, default=0.5, help="how long a measurement is")
    parser.add_argument("--repeats", type=int, default=3, help="how many rounds")
    parser.add_argument("--core", type=int, default=max(allowed_cores()), help="the core to pin to")
    parser.add_argument("--cache", type=Path, default=user_cache_path("caravan_env") / "peers", help="for the peers")
    parser.add_argument("--game", default="caravan", help="the game of our own benchmark")
    args = parser.parse_args(argv)
    if args.seconds <= 0 or args.repeats < 1:
        parser.error("--seconds must be above 0 and --repeats at least 1")
    if args.core not in allowed_cores():
        parser.error(f"--core must be one of {sorted(allowed_cores())}")

    console = Console(width=None if sys.stdout.isatty() else 140)
    here = machine()
    best, missing = measure([peer for peer in peers if peer.name in args.only], args, console)
    report = {
        "machine": here,
        "settings": {key: getattr(args, key) for key in ("seconds", "repeats", "core", "game")},
        "figures": list(best.values()),
        "missing": missing,
        "ratios": ratio_rows(best),
    }
    show(console, report)
    if args.json:
        args.json.write_text(json.dumps(report, indent=2) + "\n")
    return 1 if "ours" in missing else 0


if __name__ == "__main__":
    sys.exit(main())
