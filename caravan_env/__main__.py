"""`python -m caravan_env` is the command `caravan`."""

from caravan_env.cli.main import run

if __name__ == "__main__":
    run()
