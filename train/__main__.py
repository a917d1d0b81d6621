"""`python -m train CONFIG [KEY=VALUE]...`: the same as `caravan train`, without the command line around it."""

from __future__ import annotations

import sys

from caravan_env.core.errors import CaravanError
from train.config import load_config
from train.evaluate import table
from train.run import run

MISTAKE = 2  # of the user, as with `caravan`
INTERRUPTED = 130  # what a shell reports after Ctrl-C


def main(arguments: list[str]) -> int:
    """Train as the arguments say; return the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else MISTAKE
    try:
        result = run(load_config(arguments[0], arguments[1:]))
    except CaravanError as error:
        print(f"error: {error}", file=sys.stderr)
        return MISTAKE
    print(table(result.scores) if result.finished else result.checkpoint)
    if result.rating:
        print(f"rating on the scale of the anchors: {result.rating}")
    return 0 if result.finished else INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
