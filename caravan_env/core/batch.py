"""Many games at once: numpy arrays in, numpy arrays out, one Python call per step."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import GameOver, IllegalAction
from caravan_env.core.game import Game, illegal_action_message
from caravan_env.core.rng import streams

PICK_SEEDS = 2**40  # far from the seeds of chance that people choose


class Batch:
    """A batch of games that advance together.

    The arrays below are owned by the batch and rewritten in place by every call; copy what you keep.

    Attributes:
        game: the variant played.
        S: (rows,) state dtype; `S[i]` is one game. Copying rows snapshots and restores games.
        seats: (rows,) int64, the seat to move, or TERMINAL (-2).
        mask: (rows, actions) uint8, 1 where the action is legal.
        counts: (rows,) int64, number of legal actions.
        obs: (rows, observation) uint8, what the seat to move knows, as counts; `game.layout.scaled(obs)` for learners.
        returns: (rows, players) float64, terminal returns of the last game that ended in the row.
        ended: (rows,) uint8, 1 where the last step ended a game.
    """

    def __init__(self, game: Game, rows: int, seed: int = 0, threads: int = 1) -> None:
        """Start `rows` games.

        Args:
            game: the variant.
            rows: number of games, at least 1.
            seed: row i draws its chance from stream i of this seed, whatever the number of rows or threads.
            threads: how many threads share the rows; results do not depend on it.
        """
        if rows < 1:
            raise ValueError(f"rows must be at least 1, not {rows}")
        if threads < 1:
            raise ValueError(f"threads must be at least 1, not {threads}")
        self.game = game
        self.rows = rows
        self.S = np.repeat(game.template, rows)
        self.seats = np.zeros(rows, np.int64)
        self.mask = np.zeros((rows, game.num_actions), np.uint8)
        self.counts = np.zeros(rows, np.int64)
        self.obs = np.zeros((rows, game.layout.size), np.uint8)
        self.returns = np.zeros((rows, game.players))
        self.ended = np.zeros(rows, np.uint8)
        self._chance = streams(seed, rows)
        self._picks = streams(seed + PICK_SEEDS, rows)
        self._all = np.ones(rows, np.uint8)
        self._loops = game.loops
        self._spans = _spans(rows, threads)
        self._scratch = np.zeros((threads, game.spec.max_outcomes), np.int64)
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self.reset()

    def reset(self, which: NDArray[Any] | None = None) -> None:
        """Start new games in all rows, or in those where `which` (rows,) is true, and refresh the views."""
        self.start(which)
        self.refresh()

    def start(self, which: NDArray[Any] | None = None) -> None:
        """Start new games as `reset` does, but update no view; call `refresh` when the views are needed."""
        flags = self._flags(which)
        template, start = self.game.template, self._loops["start_rows"]
        self._share(lambda a, scratch: start(self.S[a], self._chance[a], scratch, template, flags[a]))

    def refresh(self) -> None:
        """Write seats, mask, counts and obs again, after rows of S were changed from outside."""
        view = self._loops["view_rows"]
        self._share(lambda a, _: view(self.S[a], self.seats[a], self.mask[a], self.counts[a], self.obs[a]))

    def step(self, actions: NDArray[Any]) -> None:
        """Play one action per row, resolve chance, start finished games anew, and refresh every array.

        `returns` and `ended` speak of the game that ended; seats, mask, counts and obs of the position to play now.

        Args:
            actions: (rows,) integers, the action of the seat to move in each row.

        Raises:
            IllegalAction: an action is not legal; it names the first such row, and no row has changed.
        """
        chosen = self._checked(actions)
        template, advance = self.game.template, self._loops["advance_rows"]
        self._share(
            lambda a, scratch: advance(
                self.S[a],
                self._chance[a],
                scratch,
                template,
                chosen[a],
                self.seats[a],
                self.mask[a],
                self.counts[a],
                self.obs[a],
                self.returns[a],
                self.ended[a],
            )
        )

    def play(self, actions: NDArray[Any], which: NDArray[Any] | None = None) -> None:
        """Play one action in the rows where `which` is true (all by default); finished games stay finished.

        Updates `returns` and `ended` only; call `refresh` when the views are needed.

        Raises:
            IllegalAction: an action of a chosen row is not legal; no row has changed.
        """
        flags = self._flags(which)
        chosen = self._checked(actions, flags)
        step = self._loops["step_rows"]
        self._share(
            lambda a, scratch: step(
                self.S[a], self._chance[a], scratch, chosen[a], flags[a], self.returns[a], self.ended[a]
            )
        )

    def random_actions(self) -> NDArray[np.int64]:
        """Return a uniformly random legal action of every row, (rows,) int64, from streams of their own."""
        actions = np.zeros(self.rows, np.int64)
        pick = self._loops["random_rows"]
        self._share(lambda a, _: pick(self.S[a], self._picks[a], actions[a]))
        return actions

    def observe(self, seats: NDArray[Any]) -> NDArray[np.uint8]:
        """Return what seats[i] may know of row i, (rows, observation) uint8 counts; finished rows included."""
        out = np.empty_like(self.obs)
        who = np.ascontiguousarray(seats, dtype=np.int64)
        if who.shape != (self.rows,) or who.min() < 0 or who.max() >= self.game.players:
            raise ValueError(f"seats must be {self.rows} numbers from 0 to {self.game.players - 1}")
        self._loops["observe_rows"](self.S, who, out)
        return out

    def _flags(self, which: NDArray[Any] | None) -> NDArray[np.uint8]:
        if which is None:
            return self._all
        flags = np.ascontiguousarray(which, dtype=np.uint8)
        if flags.shape != (self.rows,):
            raise ValueError(f"which must have the shape ({self.rows},), not {flags.shape}")
        return flags

    def _checked(self, actions: NDArray[Any], flags: NDArray[np.uint8] | None = None) -> NDArray[np.int64]:
        given = np.asarray(actions)
        if given.shape != (self.rows,) or given.dtype.kind not in "iu":
            raise ValueError(f"actions must be integers of shape ({self.rows},), not {given.dtype} {given.shape}")
        chosen = np.ascontiguousarray(given, dtype=np.int64)
        row = int(self._loops["first_illegal"](self.S, chosen, self._all if flags is None else flags))
        if row >= 0:
            if self.game.spec.rules.to_move(self.S, row) < 0:
                raise GameOver(f"row {row}: this game is over; reset the row to go on")
            raise IllegalAction(f"row {row}: " + illegal_action_message(self.game, self.S, row, int(chosen[row])))
        return chosen

    def _share(self, work: Callable[[slice, NDArray[np.int64]], None]) -> None:
        """Let the threads do `work` on their rows, each with scratch space of its own for chance weights."""
        if self._pool is None:
            work(self._spans[0], self._scratch[0])
        else:
            others = [self._pool.submit(work, *share) for share in zip(self._spans[1:], self._scratch[1:], strict=True)]
            work(self._spans[0], self._scratch[0])
            for other in others:
                other.result()


def _spans(rows: int, threads: int) -> list[slice]:
    edges = np.linspace(0, rows, threads + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]
