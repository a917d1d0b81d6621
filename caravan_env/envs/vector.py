"""Many games at once for Stable-Baselines3: a native `VecEnv` over the batched core.

One row is one game, and one seat of it learns. A step plays the learner's action in every row and then the opponents'
moves, all rows together, until the learner is to move everywhere again. There are no subprocesses and there is no
Python loop over rows: what is done for a single row is done when its game ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from caravan_env.core.batch import Batch
from caravan_env.core.contract import TERMINAL
from caravan_env.core.errors import BadParams, IllegalAction, NotStarted
from caravan_env.core.game import Game
from caravan_env.envs.common import (
    MOST_RESTARTS,
    Seat,
    Shaping,
    TurnLimit,
    as_game,
    check_seat,
    check_turn_limit,
    never_moves,
    observation_box,
)
from caravan_env.envs.opponents import (
    FinishedGames,
    FixedPool,
    Opponent,
    OpponentPool,
    act_in_rows,
    make_opponents,
    name_of,
)

StepReturn = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


class SeatVecEnv(VecEnv):
    """One learning seat in each of many games, for MaskablePPO and others.

    - A step's reward is everything from the learner's action to its next decision, opponents' moves included. Without
      shaping the rewards of a game sum to the seat's return.
    - Masks come as one array from `env_method("action_masks")`, which is what `get_action_masks` of sb3-contrib calls.
    - Arrays that were handed out are never rewritten.
    - Where a game ends, `infos[row]` holds "terminal_observation", "TimeLimit.truncated" (only with
      `at_turn_limit="bootstrap"`, see `envs.common.TurnLimit`), "episode" with r (unshaped), l and t as from a Monitor,
      "truncated" (whether the turn limit ended the game) and "seat". Elsewhere it is empty.
    - The same seed gives the same games whatever `threads` is, as far as the opponents' own randomness allows.

    Attributes:
        game: the variant that is played.
        seats: (rows,) int64, the learner's seat in each row.
        pool: chooses and knows the opponents.
    """

    render_mode = None

    def __init__(
        self,
        game: str | Game = "caravan",
        rows: int = 256,
        *,
        opponents: Opponent | Sequence[Opponent] | OpponentPool = "random",
        seat: Seat = "rotate",
        seed: int | None = None,
        threads: int = 1,
        shaping: Shaping | None = None,
        at_turn_limit: TurnLimit = "score",
        **params: Any,
    ) -> None:
        """Prepare the games; `reset` starts them.

        Args:
            game: the name of a registered game, or a ready variant.
            rows: number of games.
            opponents: one opponent for all other seats, a list of one per seat after the learner's, or an
                OpponentPool. An opponent is a spec such as "greedy", an agent, or a callable (game, seed) -> agent.
            seat: which seat learns: a number, "random", or "rotate" (seat i in row i, each game one seat further).
            seed: decides chance, seats, and opponents made here; None chooses one.
            threads: how many threads share the rows; worth it from some thousand rows on.
            shaping: adds potential-based rewards.
            at_turn_limit: what the learner is told when the turn limit ends a game.
            **params: rule switches of the game, for example `players=3`.

        Raises:
            UnknownName: no such game or opponent.
            BadParams: a switch, seat or opponent that does not fit.
        """
        self.game = as_game(game, params)
        check_seat(self.game, seat)
        check_turn_limit(at_turn_limit)
        if rows < 1 or threads < 1:
            raise BadParams(f"rows = {rows} and threads = {threads} are not possible: both must be at least 1")
        self.seats = np.zeros(rows, np.int64)
        self._opponents = np.zeros((rows, self.game.players), np.int64)
        self._lengths = np.zeros(rows, np.int64)
        self._games = np.zeros(rows, np.int64)
        self._seat_choice = seat
        self._opponent_choice = opponents
        self._threads = threads
        self._shaping = shaping
        self._bootstrap = at_turn_limit == "bootstrap"
        self._batch: Batch | None = None
        self._columns = np.arange(self.game.players)
        self._born = time.perf_counter()
        super().__init__(rows, observation_box(self.game), spaces.Discrete(self.game.num_actions))
        self.seed(seed)
        self.pool = self._choose_pool(0)

    @property
    def batch(self) -> Batch:
        """The games themselves; between steps the learner is to move in every row."""
        if self._batch is None:
            raise NotStarted("this environment has not started; call reset() first")
        return self._batch

    def reset(self) -> NDArray[np.float32]:
        """Start new games in all rows, from the seed if `seed` was called since the last reset.

        Returns:
            (rows, observation) float32, what the learner knows at its first decision.
        """
        seed = self._seeds[0]
        if seed is None:
            self.batch.start()
        else:
            self.pool = self._choose_pool(seed)
            self._batch = Batch(self.game, self.num_envs, seed, self._threads)
            self._rng = np.random.default_rng(seed)
            self._games[:] = 0
        self._reset_seeds()
        self._reset_options()
        self._lengths[:] = 0
        self._begin_step()
        self._done[:] = True  # games that end before the learner's first decision are nobody's episodes
        self._seat(np.arange(self.num_envs))
        self._play_on()
        self._look()
        if self._shaping is not None:
            self._potential = self._shaping.potential(self.batch.S, self.seats)
        return self._obs

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the learner's actions, (rows,) integers; `step_wait` plays them."""
        self._actions = actions

    def step_wait(self) -> StepReturn:
        """Play the actions, and the opponents' until the learner is to move in every row; see the class for the rest.

        Returns:
            Observations (rows, observation) float32, rewards (rows,) float32, dones (rows,) bool, infos.

        Raises:
            IllegalAction: an action of the learner is not legal, and nothing has changed; or one of an opponent.
            NotStarted: `reset` has not been called.
        """
        self.batch.play(self._actions)
        self._lengths += 1
        self._begin_step()
        self._play_on()
        self._look()
        if self._shaping is not None:
            self._shape_rewards(self._shaping)
        return self._obs, self._rewards, self._done, self._infos

    def close(self) -> None:
        """Do nothing: there are no processes or windows to close."""

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the masks of the learner's next decisions, (rows, actions) bool."""
        return self.batch.mask.view(np.bool_)

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> Any:
        """Return `action_masks`, the only method that rows have, as one array rather than a list of rows."""
        if method_name != "action_masks":
            raise AttributeError(f"rows of this environment have no method {method_name!r}, only 'action_masks'")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Return an attribute of the environment, which all rows share, once for each row."""
        return [getattr(self, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refuse: rows have no attributes of their own."""
        raise AttributeError(
            f"rows of this environment have no attributes of their own, so {attr_name!r} cannot be set"
        )

    def env_is_wrapped(self, wrapper_class: type[Any], indices: int | Iterable[int] | None = None) -> list[bool]:
        """Say that there is no wrapper, except that the work of Stable-Baselines3's Monitor is done."""
        return [issubclass(wrapper_class, Monitor)] * len(list(self._get_indices(indices)))

    def _choose_pool(self, seed: int) -> OpponentPool:
        """Return the given pool, or make the opponents anew so that their randomness starts from the seed too."""
        if hasattr(self._opponent_choice, "assign"):
            return cast(OpponentPool, self._opponent_choice)
        return FixedPool(make_opponents(self._opponent_choice, self.game, seed), self.game.players)

    def _begin_step(self) -> None:
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._done = np.zeros(self.num_envs, np.bool_)
        self._infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._potential_at_end = np.zeros(self.num_envs)

    def _play_on(self) -> None:
        """Let opponents move, close finished games and open new ones, until the learner is to move in every row."""
        batch, movers = self.batch, self.game.loops["mover_rows"]
        restarts = 0
        while True:
            movers(batch.S, batch.seats)
            over = np.flatnonzero(batch.seats == TERMINAL)
            if over.size:
                restarts += 1
                if restarts > MOST_RESTARTS:
                    raise never_moves(self.game)
                self._close_games(over[~self._done[over]])
                self._open_games(over)
                continue
            waiting = np.flatnonzero(batch.seats != self.seats)
            if not waiting.size:
                return
            self._play_opponents(waiting)

    def _play_opponents(self, waiting: NDArray[np.int64]) -> None:
        """Play one move in each of the rows in which an opponent is to move."""
        batch = self.batch
        S = batch.S.take(waiting)  # several times faster than indexing for structured arrays
        mask = np.empty((len(waiting), self.game.num_actions), np.uint8)
        self.game.loops["legal_rows"](S, mask)
        who = self._opponent_to_move(waiting)
        actions = np.zeros(self.num_envs, np.int64)
        for number in np.flatnonzero(np.bincount(who)):
            group = np.flatnonzero(who == number)
            rows, agent = waiting[group], self.pool.agents[int(number)]
            actions[rows] = act_in_rows(agent, self.game, S.take(group), mask.take(group, axis=0), rows)
        moves = np.zeros(self.num_envs, np.uint8)
        moves[waiting] = 1
        try:
            batch.play(actions, moves)
        except IllegalAction as error:
            row = self.game.loops["first_illegal"](batch.S, actions, moves)
            agent = self.pool.agents[self._opponent_to_move(np.array([row]))[0]]
            raise IllegalAction(f"opponent {name_of(agent)!r}: {error}") from error

    def _opponent_to_move(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        column = (self.batch.seats[rows] - self.seats[rows]) % self.game.players
        who: NDArray[np.int64] = self._opponents[rows, column]
        return who

    def _open_games(self, rows: NDArray[np.int64]) -> None:
        which = np.zeros(self.num_envs, np.uint8)
        which[rows] = 1
        self.batch.start(which)
        self._seat(rows)

    def _seat(self, rows: NDArray[np.int64]) -> None:
        """Choose the learner's seat and its opponents for the new games in some rows."""
        players = self.game.players
        if self._seat_choice == "random":
            self.seats[rows] = self._rng.integers(players, size=len(rows))
        elif self._seat_choice == "rotate":
            self.seats[rows] = (rows + self._games[rows]) % players
        else:
            self.seats[rows] = self._seat_choice
        self._games[rows] += 1
        self._opponents[rows] = self.pool.assign(rows)

    def _close_games(self, rows: NDArray[np.int64]) -> None:
        """Pay the learner in finished games and note what became of them."""
        if not rows.size:
            return
        game, seats, S = self.game, self.seats[rows], self.batch.S.take(rows)
        by_column = (seats[:, None] + self._columns) % game.players
        returns = self.batch.returns[rows[:, None], by_column]
        truncated = np.array([game.spec.rules.truncated(S, k) for k in range(len(rows))], np.bool_)
        finished = FinishedGames(rows, seats, self._opponents[rows], returns, self._lengths[rows], truncated)
        last = np.empty((len(rows), game.layout.size), np.uint8)
        game.loops["observe_rows"](S, seats, last)
        goes_on = truncated & self._bootstrap
        self._rewards[rows] = np.where(goes_on, 0.0, returns[:, 0])
        self._done[rows] = True
        self._lengths[rows] = 0
        if self._shaping is not None and goes_on.any():
            self._potential_at_end[rows] = np.where(goes_on, self._shaping.potential(S, seats), 0.0)
        for k, row in enumerate(rows):
            self._infos[row] = self._info(finished, k, self._shown(last[k]))
        self.pool.report(finished)

    def _info(self, finished: FinishedGames, k: int, last: NDArray[np.float32]) -> dict[str, Any]:
        truncated = bool(finished.truncated[k])
        elapsed = round(time.perf_counter() - self._born, 6)
        return {
            "terminal_observation": last,
            "TimeLimit.truncated": truncated and self._bootstrap,
            "episode": {"r": float(finished.returns[k, 0]), "l": int(finished.lengths[k]), "t": elapsed},
            "truncated": truncated,
            "seat": int(finished.seats[k]),
        }

    def _look(self) -> None:
        """View every row as its learner, into new arrays: the old ones were handed out."""
        batch = self.batch
        batch.mask = np.empty_like(batch.mask)
        batch.refresh()
        self._obs = self._shown(batch.obs)

    def _shown(self, counts: NDArray[np.uint8]) -> NDArray[Any]:
        """Return observations as they are handed out, in a new array."""
        return self.game.layout.scaled(counts)

    def _shape_rewards(self, shaping: Shaping) -> None:
        now = shaping.potential(self.batch.S, self.seats)
        ahead = np.where(self._done, self._potential_at_end, now)
        self._rewards += (shaping.gamma * ahead - self._potential).astype(np.float32)
        self._potential = now
