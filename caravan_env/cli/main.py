"""The group of commands, and what becomes of errors: one line on stderr and an exit code."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import click

EXIT_FAILED_CHECK = 1
EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
OWN_PACKAGES = ("caravan_env", "agents", "train")

#: Command -> the module of `caravan_env.cli` that defines it, in the order of the help.
COMMANDS = {
    "games": "games",
    "play": "play",
    "web": "web",
    "match": "match",
    "arena": "arena",
    "compare": "compare",
    "train": "training",
    "eval": "evaluation",
    "plot": "training",
    "replay": "replay",
    "bench": "bench",
    "check": "check",
    "doctor": "doctor",
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is looked up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"caravan_env.cli.{COMMANDS[cmd_name]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of a command line; an unknown one is an error that offers the nearest."""
        from caravan_env.core.errors import nearest

        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}: {nearest(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)


def _print_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from caravan_env import __version__

        click.echo(f"caravan_env {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`caravan COMMAND --help` explains a command and shows examples.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Trading board games as reinforcement-learning environments: play, match, train, look.

    \b
    Examples:
      caravan games                              what there is to play
      caravan play --agents planner              play against an agent
      caravan web --open                         the same in the browser
      caravan match --agents planner,greedy      let agents play each other
      caravan train configs/caravan-2p.yaml      train a policy by self-play
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command line and leave the process with its exit code.

    0 is success, 1 a check that failed, 2 an error of the user's (one line on stderr says which), 130 Ctrl-C.
    """
    sys.exit(call(arguments))


def call(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code, see `run`."""
    try:
        code: Any = cli.main(arguments, prog_name="caravan", standalone_mode=False)
    except click.Abort:
        return _complain("interrupted", EXIT_INTERRUPTED)
    except click.ClickException as error:
        return _complain(error.format_message(), EXIT_USER_ERROR)
    except _user_errors() as error:
        if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] in OWN_PACKAGES:
            raise
        return _complain(_sentence(error), EXIT_USER_ERROR)
    return code if isinstance(code, int) else 0


def _user_errors() -> tuple[type[Exception], ...]:
    from caravan_env.core.errors import CaravanError

    return (CaravanError, ImportError, OSError)


def _sentence(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f'this needs the package {error.name!r}, which is not installed: pip install "caravan_env[all]"'
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _complain(message: str, code: int) -> int:
    click.echo("caravan: " + " ".join(message.split()), err=True)
    return code
