"""How fast a game is: figures from one pinned core, best of several rounds.

Random legal play is the usual measure, but in some games it never gets anywhere; so the same is measured along games
that an agent played on purpose. What a figure times, and what it leaves out, is in its `what`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.batch import Batch
from caravan_env.core.game import Game
from caravan_env.core.kernel import CACHE_ROOT_VARIABLE
from caravan_env.core.registry import make_game
from caravan_env.core.rng import streams

ROUNDS = 5
ROLLOUT_ROWS = 64
PLAYOUTS = 16  # games between two looks at the clock
BATCH_ROWS = (256, 2048, 8192)  # the best counts: few rows stay in the cache, many keep two threads busy
SCRIPT_STEPS = 400
PURPOSEFUL_AGENTS = ("greedy", "planner")
START_CODE = (
    "import time; t = time.perf_counter(); import caravan_env; game = caravan_env.make_game({game!r}); "
    "state = game.new_state(seed=0); state.step(int(state.legal_actions()[0])); print(time.perf_counter() - t)"
)


@dataclasses.dataclass(frozen=True)
class Figure:
    """One measured figure: steps or games per second, or the seconds of a start.

    Attributes:
        name: "rollout", "games", "batched", "aec", "loop", "start_warm" or "start_cold".
        play: "random", or the agent whose games were followed; "" for a start.
        what: what is timed.
        steps_per_second: best round, None for a start.
        games_per_second: the same for whole games.
        seconds: best of the starts, None for the others.
        threads: threads used.
        floor: what bounds the figure, for example bytes written a step.
    """

    name: str
    what: str
    play: str = ""
    steps_per_second: float | None = None
    games_per_second: float | None = None
    seconds: float | None = None
    threads: int = 1
    floor: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the figure without what it does not have."""
        return {key: value for key, value in dataclasses.asdict(self).items() if value not in (None, "")}


def bench(game: Game, seconds: float = 1.0, core: int | None = None, starts: bool = True) -> Iterator[Figure]:
    """Measure a game and yield the figures as they come.

    Args:
        game: the variant.
        seconds: length of one round of a figure; each has `ROUNDS` rounds, and the best counts.
        core: the core to pin to (and the next one for the figure with two threads); None leaves it to the system.
        starts: whether to measure the first start too; the cold one compiles everything and takes a while.
    """
    script = purposeful_script(game)
    with pinned(core, 1):
        yield _rollout(game, seconds)
        yield _games(game, seconds)
        if script is not None:
            yield _scripted(game, seconds, *script)
        yield _batched(game, seconds, threads=1)
    with pinned(core, 2):
        yield _batched(game, seconds, threads=2)
    with pinned(core, 1):
        if script is not None:
            yield _batched_script(game, seconds, *script)
        yield _aec(game, seconds)
        yield _loop(game, seconds)
        if starts and _is_registered(game):
            yield from _starts(game)


@contextlib.contextmanager
def pinned(core: int | None, cores: int) -> Iterator[None]:
    """Keep this process on `cores` cores from `core` on, where the system can do that."""
    if core is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    wanted = {(core + k) % (os.cpu_count() or 1) for k in range(cores)} & before
    os.sched_setaffinity(0, wanted or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def best_rate(work: Callable[[], int], seconds: float) -> float:
    """Return the steps, or games, per second of the best round; `work` does some of them and returns how many."""
    work()
    best = 0.0
    for _ in range(ROUNDS):
        steps, begin, spent = 0, time.perf_counter(), 0.0
        while spent < seconds:
            steps += work()
            spent = time.perf_counter() - begin
        best = max(best, steps / spent)
    return best


def purposeful_script(game: Game, rows: int = ROLLOUT_ROWS) -> tuple[str, NDArray[np.int64]] | None:
    """Let the first of PURPOSEFUL_AGENTS that the game has play; return its name and actions (rows, SCRIPT_STEPS)."""
    from agents.registry import agent_names, make_agent

    names = [name for name in PURPOSEFUL_AGENTS if name in agent_names(game.name)]
    if not names:
        return None
    agent, batch = make_agent(names[0], game), Batch(game, rows)
    script = np.zeros((rows, SCRIPT_STEPS), np.int64)
    for t in range(SCRIPT_STEPS):
        script[:, t] = agent.act_rows(batch.S, batch.mask)
        batch.step(script[:, t])
    return names[0], script


def _rollout(game: Game, seconds: float) -> Figure:
    batch, steps = Batch(game, ROLLOUT_ROWS), 200
    weights = np.zeros(game.spec.max_outcomes, np.int64)
    R, P, run = streams(1, ROLLOUT_ROWS), streams(2, ROLLOUT_ROWS), game.loops["random_rollout"]

    def work() -> int:
        run(batch.S, R, weights, P, game.template, steps)
        return ROLLOUT_ROWS * steps

    size = game.spec.state_dtype.itemsize
    what = "in the kernel: choosing a random legal action, step, chance; finished games start anew"
    return Figure("rollout", what, "random", best_rate(work, seconds), floor=f"{size} bytes of state")


def _games(game: Game, seconds: float) -> Figure:
    weights, P, values = np.zeros(game.spec.max_outcomes, np.int64), streams(2, 1), np.zeros(game.players)
    play, start, row = game.loops["random_playout"], game.new_rows(1), np.empty_like(game.template)

    def work() -> int:
        for _ in range(PLAYOUTS):
            row[:] = start
            play(row, 0, P, 0, weights, values)
        return PLAYOUTS

    what = "in the kernel: whole games of random legal actions, from the opening's chance to the returns"
    return Figure("games", what, "random", games_per_second=best_rate(work, seconds))


def _scripted(game: Game, seconds: float, agent: str, script: NDArray[np.int64]) -> Figure:
    rows, steps = script.shape
    weights = np.zeros(game.spec.max_outcomes, np.int64)
    run, P = game.loops["scripted_rollout"], streams(2, rows)

    def work() -> int:
        batch = Batch(game, rows)
        run(batch.S, batch._chance, weights, P, game.template, script)
        return rows * steps

    what = "in the kernel: the same along games of the agent (its thinking left out, its batch's start included)"
    return Figure("rollout", what, agent, best_rate(work, seconds))


def _batched(game: Game, seconds: float, threads: int) -> Figure:
    """Time `Batch.step` alone, at the best number of rows: actions are chosen between the timed calls."""
    batches = [Batch(game, rows, threads=threads) for rows in BATCH_ROWS]
    best, rows = max((_step_rate(batch, seconds), batch.rows) for _ in range(ROUNDS) for batch in batches)
    written = game.layout.size + game.num_actions
    what = f"Batch.step with {rows} rows from Python: check, step, chance, restart, full mask, observation"
    return Figure("batched", what, "random", best, threads=threads, floor=f"{written} bytes of observation and mask")


def _step_rate(batch: Batch, seconds: float) -> float:
    spent, steps = 0.0, 0
    while spent < seconds:
        actions = batch.random_actions()
        begin = time.perf_counter()
        batch.step(actions)
        spent += time.perf_counter() - begin
        steps += batch.rows
    return steps / spent


def _batched_script(game: Game, seconds: float, agent: str, script: NDArray[np.int64]) -> Figure:
    rows, steps = script.shape

    def work() -> int:
        batch = Batch(game, rows)
        for t in range(steps):
            batch.step(script[:, t])
        return rows * steps

    what = f"Batch.step with {rows} rows along games of the agent (its thinking left out)"
    return Figure("batched_purposeful", what, agent, best_rate(work, seconds))


def pick_from(mask: NDArray[Any], start: int) -> int:
    """Return the first legal action from `start` on, cyclically: a cheap chooser that any environment can use."""
    offset = start % len(mask)
    ahead = int(mask[offset:].argmax())
    return offset + ahead if mask[offset + ahead] else int(mask.argmax())


def _aec(game: Game, seconds: float) -> Figure:
    from caravan_env.envs.aec import raw_env

    environment, count = raw_env(game), 0

    def work() -> int:
        nonlocal count
        environment.reset(seed=count)
        steps = 0
        for _ in environment.agent_iter():
            observation, _, termination, truncation, _ = environment.last()
            if termination or truncation or observation is None:
                environment.step(None)
                continue
            count += 7919
            steps += 1
            environment.step(pick_from(observation["action_mask"], count))
        return steps

    what = "PettingZoo AEC loop: agent_iter, last, a cheap choice from the mask, step; all checks on"
    return Figure("aec", what, "random", best_rate(work, seconds))


def _loop(game: Game, seconds: float) -> Figure:
    count = 0

    def work() -> int:
        nonlocal count
        state = game.new_state(seed=count)
        steps = 0
        while not state.is_terminal:
            count += 7919
            steps += 1
            state.step(pick_from(state.action_mask(), count))
        return steps

    what = "plain Python loop over one State: is_terminal, action_mask, a cheap choice, step with checks and chance"
    return Figure("loop", what, "random", best_rate(work, seconds))


def _starts(game: Game) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        cold = _start_seconds(game, folder)
        warm = min(_start_seconds(game, folder) for _ in range(ROUNDS))
    what = "new process: import caravan_env, make a game, first step"
    yield Figure("start_cold", f"{what}; nothing compiled", seconds=cold)
    yield Figure("start_warm", f"{what}; kernels in the cache", seconds=warm)


def _start_seconds(game: Game, cache: str) -> float:
    command = [sys.executable, "-c", START_CODE.format(game=game.name)]
    environment = {**os.environ, CACHE_ROOT_VARIABLE: cache}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(run.stdout)


def _is_registered(game: Game) -> bool:
    """Whether a new process can make the default variant of this game by its name."""
    from caravan_env.core.registry import game_names

    return game.name in game_names() and make_game(game.name).spec is game.spec
