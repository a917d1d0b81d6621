"""`caravan doctor`: what is installed, where compiled rules are kept, and how long a start takes."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from caravan_env.cli.main import EXIT_FAILED_CHECK
from caravan_env.cli.options import find_spec, game_option
from caravan_env.cli.output import emit_json, json_option

REQUIRED = ("numpy", "numba", "gymnasium", "pettingzoo", "click", "rich", "platformdirs")
OPTIONAL = (
    "scipy",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "matplotlib",
    "tensorboard",
    "resvg-py",
    "starlette",
    "uvicorn",
)


@click.command("doctor")
@game_option
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, game_name: str | None, as_json: bool) -> None:
    """Examine the installation: versions, cache of compiled rules, time to the first step, threads.

    Problems are listed at the end, with what to do; the exit code is 1 if there are any.

    \b
    Examples:
      caravan doctor
      caravan doctor --json
    """
    report = examine(find_spec(game_name).name)
    if as_json:
        emit_json(report)
    else:
        _print_report(report)
    ctx.exit(EXIT_FAILED_CHECK if report["problems"] else 0)


def examine(game_name: str) -> dict[str, Any]:
    """Return the report on the installation, as JSON values."""
    from caravan_env import __version__

    versions: dict[str, str | None] = {"caravan_env": __version__, "python": platform.python_version()}
    versions |= {name: _version(name) for name in (*REQUIRED, *OPTIONAL)}
    report = {
        "platform": f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
        "versions": versions,
        "cache": cache_report(),
        "first_step_s": {"first": time_to_first_step(game_name), "warm": time_to_first_step(game_name)},
        "threads": thread_report(),
    }
    return {**report, "problems": problems(report)}


def cache_report() -> dict[str, Any]:
    """Return where compiled rules are kept, and how much of it there is."""
    from caravan_env.core.kernel import CACHE_ROOT

    files = [path.stat().st_size for path in CACHE_ROOT.rglob("*") if path.is_file()]
    return {"folder": str(CACHE_ROOT), "files": len(files), "bytes": sum(files)}


def time_to_first_step(game_name: str) -> float:
    """Return the seconds that a new process takes from its first import to its first step."""
    from caravan_env.bench import START_CODE

    command = [sys.executable, "-c", START_CODE.format(game=game_name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return round(float(done.stdout), 2)


def thread_report() -> dict[str, Any]:
    """Return how many threads numba and, where it is installed, PyTorch would use."""
    import numba

    report: dict[str, Any] = {"numba": int(numba.config.NUMBA_NUM_THREADS)}
    if _version("torch") is not None:
        import torch

        report["torch"] = torch.get_num_threads()
        report["cuda"] = torch.cuda.is_available()
    return report


def problems(report: dict[str, Any]) -> list[str]:
    """Return what is wrong, a sentence each."""
    from caravan_env.core.kernel import CACHE_ROOT_VARIABLE

    found = [f"{name} is not installed: pip install {name}" for name in REQUIRED if report["versions"][name] is None]
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        found.append("NUMBA_DISABLE_JIT is set, so that rules run hundreds of times slower: unset it")
    chosen = os.environ.get(CACHE_ROOT_VARIABLE)
    if chosen and Path(chosen) != Path(report["cache"]["folder"]):
        found.append(f"{CACHE_ROOT_VARIABLE}={chosen} cannot be written to: choose another folder")
    return found


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _print_report(report: dict[str, Any]) -> None:
    cache, first = report["cache"], report["first_step_s"]
    click.echo(report["platform"])
    for name, version in report["versions"].items():
        click.echo(f"  {name:<18} {version or 'not installed'}")
    click.echo(f"cache: {cache['folder']} ({cache['files']} files, {cache['bytes'] / 1e6:.1f} MB)")
    click.echo(f"first import to first step: {first['first']:.2f} s, then {first['warm']:.2f} s")
    click.echo("threads: " + ", ".join(f"{name} {number}" for name, number in report["threads"].items()))
    click.echo("\n".join(f"problem: {line}" for line in report["problems"]) or "no problems found")
