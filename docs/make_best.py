"""Take the policy of a finished run into the package: `python docs/make_best.py RUN NAME [--matches FILE ...]`.

NAME becomes a folder of agents/shipped with the policy and a card; agents/shipped/best.json says who plays with it.
The card says what the run's final evaluation found, and what the matches did, each a file that
`caravan match --json` or `benchmarks/strength.py --json` wrote.
"""

from __future__ import annotations

import argparse
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import yaml

from agents.neural import DESCRIPTION, WEIGHTS, resolve
from agents.shipped import CARD, FOLDER
from caravan_env.core.files import write_text


def main() -> None:
    """Copy the policy of a run and write its card."""
    parser = argparse.ArgumentParser(description="Take the policy of a finished run into the package.")
    parser.add_argument("run", type=Path, help="folder of the run")
    parser.add_argument("name", help="of the folder in agents/shipped")
    parser.add_argument("--matches", type=Path, nargs="*", default=[], help="results of matches with the policy")
    arguments = parser.parse_args()
    results = json.loads((arguments.run / "results.json").read_text(encoding="utf-8"))
    config = yaml.safe_load((arguments.run / "config.yaml").read_text(encoding="utf-8"))
    target = FOLDER / arguments.name
    target.mkdir(exist_ok=True)
    for name in (WEIGHTS, DESCRIPTION):
        shutil.copyfile(resolve(arguments.run) / name, target / name)
    card = {
        "date": datetime.now(UTC).date().isoformat(),
        "decisions": results["step"],
        "cpu_hours": round(results.get("cpu_seconds", results["seconds"] * config["threads"]) / 3600, 2),
        "machine": results["machine"],
        "scores": results["scores"],
        "rating": results.get("rating"),
        "matches": [json.loads(path.read_text(encoding="utf-8")) for path in arguments.matches],
        "config": {key: value for key, value in config.items() if key != "run_dir"},
    }
    write_text(target / CARD, json.dumps(card, indent=1) + "\n")
    print(f"{target}: {sum(file.stat().st_size for file in target.iterdir()):,} bytes")


if __name__ == "__main__":
    main()
