"""`caravan train` and `caravan plot`: self-play training, and looking at how it went."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from caravan_env.cli.main import EXIT_INTERRUPTED
from caravan_env.cli.output import emit_json, json_option, print_scores

if TYPE_CHECKING:
    from train.config import Config
    from train.run import RunResult


@click.command("train")
@click.argument("config")
@click.argument("overrides", nargs=-1, metavar="[KEY=VALUE]...")
@click.option("--new", is_flag=True, help="Train in a new folder if there is a run in the configured one.")
@json_option
@click.pass_context
def train_command(ctx: click.Context, config: str, overrides: tuple[str, ...], new: bool, as_json: bool) -> None:
    """Train a policy by self-play as CONFIG says, evaluate it, and leave a run folder.

    CONFIG is a YAML file, the name of a shipped one, or the folder of a run that is to go on. KEY=VALUE overrides
    its entries. A run that was stopped, by Ctrl-C or otherwise, goes on when the same command is given again.

    \b
    Examples:
      caravan train configs/caravan-2p.yaml
      caravan train smoke run_dir=runs/try seed=3
      caravan train caravan-2p budget.minutes=60 --new
      caravan train runs/caravan-2p
    """
    from train.run import run

    loaded = load(config, overrides)
    if new:
        loaded = loaded.model_copy(update={"run_dir": str(unused_folder(Path(loaded.run_dir)))})
    result = run(loaded, quiet=as_json)
    report = run_report(result)
    emit_json(report) if as_json else _print_result(report)
    ctx.exit(0 if result.finished else EXIT_INTERRUPTED)


@click.command("plot")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@json_option
def plot_command(runs: tuple[Path, ...], as_json: bool) -> None:
    """Draw the learning curves and win rates of run folders again, as PNG files in each folder.

    \b
    Examples:
      caravan plot runs/caravan-2p
      caravan plot runs/a runs/b
    """
    from train.plots import write_plots

    written = {str(run): [str(path) for path in write_plots(run)] for run in runs}
    if as_json:
        emit_json({"plots": written})
    for path in [] if as_json else [path for paths in written.values() for path in paths]:
        click.echo(path)


def load(config: str, overrides: tuple[str, ...]) -> Config:
    """Return the configuration that the command line describes, see `find_config`."""
    from train.config import load_config

    return load_config(find_config(config), overrides)


def find_config(name: str) -> Path:
    """Return the file of a configuration: a path, a run folder's, or a shipped one by its name.

    Raises:
        UnknownName: there is none; the message offers the nearest shipped one.
    """
    from caravan_env.core.errors import UnknownName, nearest

    path = Path(name)
    if path.is_dir():
        path = path / "config.yaml"
    if path.is_file():
        return path
    shipped = {file.stem: file for file in shipped_configs()}
    stem = name.removeprefix("configs/").removesuffix(".yaml")
    if stem in shipped:
        return shipped[stem]
    raise UnknownName(f"there is no configuration {name!r}: {nearest(name, shipped)}, or a YAML file, or a run folder")


def shipped_configs() -> list[Path]:
    """Return the configurations of this package: beside it in a source tree, in it when it is installed."""
    import train

    package = Path(str(train.__file__)).parent
    folder = package / "configs" if (package / "configs").is_dir() else package.parent / "configs"
    return sorted(folder.glob("*.yaml"))


def unused_folder(folder: Path) -> Path:
    """Return the folder if nothing is there, or the first of folder-2, folder-3, ... that is not taken."""
    candidates = (folder.with_name(f"{folder.name}-{k}") for k in range(2, 10_000))
    return folder if not folder.exists() else next(path for path in candidates if not path.exists())


def run_report(result: RunResult) -> dict[str, Any]:
    """Return what came of a run, as JSON values."""
    return {
        "run_dir": str(result.run_dir),
        "checkpoint": str(result.checkpoint),
        "step": result.step,
        "seconds": round(result.seconds, 1),
        "finished": result.finished,
        "scores": [dataclasses.asdict(score) for score in result.scores],
        "rating": dataclasses.asdict(result.rating) if result.rating else None,
        "files": run_files(result.run_dir),
    }


def run_files(run_dir: Path) -> list[str]:
    """Return the files of a run folder that are made to be looked at, as paths."""
    return [str(path) for path in sorted(run_dir.iterdir()) if path.is_file() and not path.name.startswith(".")]


def _print_result(report: Mapping[str, Any]) -> None:
    if report["scores"]:
        print_scores("Final evaluation", report["scores"])
    if report["rating"]:
        sentence = "\nRating on the scale of the anchors: {rating:.0f} [{low:.0f}, {high:.0f}]"
        click.echo(sentence.format(**report["rating"]))
    click.echo(f"\n{report['step']:,} steps in {report['seconds'] / 60:.1f} minutes; in {report['run_dir']}:")
    for path in report["files"]:
        click.echo(f"  {path}")
    click.echo(f"  {report['checkpoint']}, the policy; it plays as policy:{report['run_dir']}")
