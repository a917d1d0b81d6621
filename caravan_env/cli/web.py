"""`caravan web`: a person in the browser against agents, on this machine."""

from __future__ import annotations

import contextlib
import socket
import webbrowser
from typing import TYPE_CHECKING

import click

from caravan_env.cli.options import build_game, game_option, parse_switches, set_option
from caravan_env.cli.play import DEFAULT_OPPONENT, seat_opponents

if TYPE_CHECKING:
    from caravan_env.web.menu import Preset

LOCAL = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS = ("", "0.0.0.0", "::")


@click.command("web")
@game_option
@set_option
@click.option("--agents", metavar="A,B,...", help="The opponents; the last fills the rest.  [default: greedy]")
@click.option("--seat", default=0, show_default=True, help="Your seat.")
@click.option("--host", default=LOCAL[0], show_default=True, help="The address to listen at.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in the browser.")
def web_command(
    game_name: str | None,
    switches: tuple[str, ...],
    agents: str | None,
    seat: int,
    host: str,
    port: int,
    open_browser: bool,
) -> None:
    """Play in the browser against agents; Ctrl-C stops the server.

    The options are what the form of a new game shows first. Only this machine can reach the page, unless --host
    says otherwise; there is no password. Needs the extra `web`.

    \b
    Examples:
      caravan web --open
      caravan web --agents planner --seat 1 --set board=pinwheel
      caravan web --agents planner,greedy --set players=3 --port 8080
    """
    _require_packages()
    from caravan_env.web.app import LOOPBACK, make_app, serve

    preset = make_preset(game_name, switches, agents, seat)
    with _listen(host, port) as listening:
        hosts = LOOPBACK if host in LOCAL else ("*",) if host in EVERY_ADDRESS else (*LOOPBACK, host)
        app = make_app(preset, hosts=hosts)
        shown = LOCAL[0] if host in EVERY_ADDRESS else f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listening.getsockname()[1]}/"
        click.echo(f"{url}  (Ctrl-C stops)")
        if open_browser:
            webbrowser.open(url)
        with contextlib.suppress(KeyboardInterrupt):
            serve(app, listening)


def make_preset(game_name: str | None, switches: tuple[str, ...], agents: str | None, seat: int) -> Preset:
    """Return what the form shows first; whatever is wrong with it gets its sentence now."""
    from agents.registry import split_specs
    from caravan_env.web.menu import Preset

    game = build_game(game_name, switches)
    specs = [DEFAULT_OPPONENT] * (game.players > 1) if agents is None else split_specs(agents)
    opponents = [player.name for player in seat_opponents(game, seat, specs, seed=0) if player is not None]
    return Preset(game.name, parse_switches(game.spec, switches), opponents, seat)


def _require_packages() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise click.UsageError(
            f'this needs the package {error.name!r}, which is not installed: pip install "caravan_env[web]"'
        ) from error


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; the browser may connect before the server runs."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise click.UsageError(f"--host {host} cannot be listened at: {error.strerror}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except OSError as error:
        listening.close()
        raise click.UsageError(
            f"--port {port} at {host} cannot be used ({error.strerror}); another one can, for example --port {port + 1}"
        ) from error
    return listening
