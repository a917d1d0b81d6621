"""`caravan check`: does a game keep the contract?"""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING

import click

from caravan_env.cli.main import EXIT_FAILED_CHECK
from caravan_env.cli.options import find_spec
from caravan_env.cli.output import emit_json, json_option, print_table, progress_bar

if TYPE_CHECKING:
    from caravan_env.core.conformance import CheckResult
    from caravan_env.core.contract import GameSpec


@click.command("check")
@click.argument("game")
@click.option("--variant", "variants", multiple=True, metavar="NAME", help="Check this variant only; may be repeated.")
@click.option("--seed", default=0, show_default=True, help="Decides the random games that the checks play.")
@json_option
@click.pass_context
def check_command(ctx: click.Context, game: str, variants: tuple[str, ...], seed: int, as_json: bool) -> None:
    """Check that GAME keeps the contract, in every one of its variants.

    GAME is a registered name, or the import path "module:SPEC" of your own; modules in the current folder are found.
    The exit code is 1 if a check fails.

    \b
    Examples:
      caravan check caravan
      caravan check my_game:SPEC
      caravan check my_game:SPEC --variant default --json
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    spec = only_variants(find_spec(game), variants)
    results = run_checks(spec, seed, quiet=as_json)
    failed = [result for result in results if not result.passed]
    if as_json:
        emit_json({"game": spec.name, "passed": not failed, "checks": [dataclasses.asdict(r) for r in results]})
    else:
        _print_results(spec, results)
    ctx.exit(EXIT_FAILED_CHECK if failed else 0)


def only_variants(spec: GameSpec, names: tuple[str, ...]) -> GameSpec:
    """Return the spec with the named variants alone, or as it is if none are named.

    Raises:
        UnknownName: there is no such variant; the message offers the nearest one.
    """
    from caravan_env.core.errors import UnknownName, nearest

    for name in names:
        if name not in spec.variants:
            raise UnknownName(f"{spec.name} has no variant {name!r}: {nearest(name, spec.variants)}")
    return dataclasses.replace(spec, variants={name: spec.variants[name] for name in names}) if names else spec


def run_checks(spec: GameSpec, seed: int, quiet: bool) -> list[CheckResult]:
    """Run the conformance suite under a progress bar and return all results."""
    from caravan_env.core.conformance import CHECKS, check_game

    results: list[CheckResult] = []
    with progress_bar(f"checking {spec.name}", len(CHECKS) * len(spec.variants), quiet) as advance:
        for result in check_game(spec, seed):
            results.append(result)
            advance(len(results))
    return results


def _print_results(spec: GameSpec, results: list[CheckResult]) -> None:
    failed = [result for result in results if not result.passed]
    for name in dict.fromkeys(result.check for result in results):
        bad = [result.variant for result in failed if result.check == name]
        click.echo(f"  {name:<20} " + (f"FAILED in {', '.join(bad)}" if bad else "ok"))
    if failed:
        print_table(
            "\nWhat failed", ("check", "variant", "why"), [(r.check, r.variant, r.detail) for r in failed], (0, 1, 2)
        )
    click.echo(
        f"\n{spec.name}: {len(results) - len(failed)} of {len(results)} checks passed in {len(spec.variants)} variants"
    )
