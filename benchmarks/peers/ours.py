"""Our own figures: run `python -m caravan_env bench GAME --json` and print its figures the way the peers do.

The command pins itself (to `--core`, and to one more core for the figure with two threads). It prints
`{"game": ..., "players": ..., "machine": {...}, "figures": [{"name": ..., "steps_per_second": ..., ...}, ...]}`; the
figures named "batched" also have "threads", those of a start have "seconds" in place of "steps_per_second", and "play"
tells random play from the games of an agent.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from common import parser

TIMEOUT = 600.0


def lines(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one figure per line of output, with the number of threads or the agent added to the name of some.

    "batched" becomes "batched-1" or "batched-2", and "rollout" along the games of a planner "rollout-planner".
    """
    about = {key: value for key, value in report.items() if key != "figures"}
    found = []
    for figure in report["figures"]:
        metric = f"batched-{figure.get('threads', 1)}" if figure["name"] == "batched" else figure["name"]
        if figure.get("play", "random") != "random":
            metric += f"-{figure['play']}"
        value = {key: figure[key] for key in ("steps_per_second", "seconds") if key in figure}
        detail = {key: figure[key] for key in figure if key not in ("name", *value)}
        found.append({"name": "ours", "metric": metric, **value, "detail": {**about, **detail}})
    return found


def main() -> None:
    """Run the command, or read what it printed before."""
    options = parser(__doc__)
    options.add_argument("--from", dest="saved", type=Path, help="read this file instead of running the command")
    args = options.parse_args()
    if args.saved:
        text = args.saved.read_text()
    else:
        command = [sys.executable, "-m", "caravan_env", "bench", args.game, "--json"]
        command += ["--seconds", str(args.seconds), "--core", str(args.core)]
        root = Path(__file__).resolve().parents[2]
        run = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True, cwd=root, timeout=TIMEOUT)
        if run.returncode:
            sys.exit(run.returncode)  # the command has said why on stderr
        text = run.stdout
    for line in lines(json.loads(text)):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
