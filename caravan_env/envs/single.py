"""The Gymnasium view: one seat learns, chosen opponents play the others.

`import caravan_env.envs` registers an id per game, so that `gymnasium.make("caravan_env/Caravan-v0", players=3,
opponents="greedy", seat="rotate")` makes a `SeatEnv` with these arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.spaces.space import MaskNDArray
from numpy.typing import NDArray

from caravan_env.core.contract import TERMINAL
from caravan_env.core.errors import BadParams, GameOver, IllegalAction, NotStarted, nearest
from caravan_env.core.game import Game, State
from caravan_env.envs.common import (
    MOST_RESTARTS,
    RENDER_FPS,
    RENDER_MODES,
    Seat,
    Shaping,
    TurnLimit,
    as_game,
    check_render_mode,
    check_seat,
    check_turn_limit,
    never_moves,
    observation_box,
    render,
)
from caravan_env.envs.opponents import Opponent, act_in_state, make_opponents, name_of

SEEDS = 2**63
#: What an illegal action does: "raise" an error that changes nothing, or "lose" the game at once, for learners and
#: checkers that know no masks.
IllegalActions = Literal["raise", "lose"]
LOSS = -1.0


class LegalDiscrete(spaces.Discrete):
    """Actions of which `sample()` draws only those that are legal at the time, so that any checker can play a game."""

    def __init__(self, legal: NDArray[np.int8]) -> None:
        """Make the space of len(legal) actions; `legal` is looked at anew whenever something is drawn."""
        super().__init__(len(legal))
        self._legal = legal

    def sample(self, mask: MaskNDArray | None = None, probability: MaskNDArray | None = None) -> np.int64:
        """Return a random action: one that `mask` allows, or that `probability` weighs, or that is legal now."""
        if mask is None and probability is None and self._legal.any():
            mask = self._legal
        return super().sample(mask, probability)


class SeatEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A game seen by one seat.

    - The observation is the float32 vector of the learner's seat, own seat first. The action mask is in
      `info["action_mask"]` (int8) and in `action_masks()` (bool), where sb3-contrib looks for it.
    - A step's reward is everything from the learner's action to its next decision, opponents' moves included. Without
      shaping the rewards of a game sum to the seat's return.
    - `reset(seed)` together with the actions determines the game, if the opponents were named by specs; ready agents
      keep randomness of their own.
    - Illegal actions raise IllegalAction and change nothing, unless the environment was told that they lose the game.
      `action_space.sample()` draws legal ones only.

    Attributes:
        game: the variant that is played.
        seat: the learner's seat in the current game.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}

    def __init__(
        self,
        game: str | Game = "caravan",
        *,
        opponents: Opponent | Sequence[Opponent] = "random",
        seat: Seat = 0,
        shaping: Shaping | None = None,
        at_turn_limit: TurnLimit = "score",
        illegal_actions: IllegalActions = "raise",
        render_mode: str | None = None,
        **params: Any,
    ) -> None:
        """Prepare a game; `reset` starts it.

        Args:
            game: the name of a registered game, or a ready variant.
            opponents: one opponent for all other seats, or a list of one per seat after the learner's, in turn order.
                An opponent is a spec such as "greedy", an agent, or a callable (game, seed) -> agent.
            seat: which seat learns: a number, "random", or "rotate" (each game one seat further).
            shaping: adds potential-based rewards.
            at_turn_limit: what the learner is told when the turn limit ends a game, see `envs.common.TurnLimit`.
            illegal_actions: "raise" or "lose", see `IllegalActions`; a lost game ends with the reward -1, whatever the
                game's returns are made of, and says why in `info["illegal_action"]`.
            render_mode: None, "ansi", "rgb_array" or "human", see `envs.common.render`.
            **params: rule switches of the game, for example `players=3`.

        Raises:
            UnknownName: no such game, opponent or render mode.
            BadParams: a switch, seat or opponent that does not fit.
        """
        self.game = as_game(game, params)
        check_seat(self.game, seat)
        check_turn_limit(at_turn_limit)
        check_render_mode(render_mode)
        if illegal_actions not in get_args(IllegalActions):
            wrong = nearest(str(illegal_actions), get_args(IllegalActions))
            raise BadParams(f"illegal_actions = {illegal_actions!r} is not possible: {wrong}")
        self.render_mode = render_mode
        self._illegal_loses = illegal_actions == "lose"
        self._lost = False
        self.seat = 0
        self._mask = np.zeros(self.game.num_actions, np.int8)
        self.observation_space: spaces.Space[Any] = observation_box(self.game)
        self.action_space = LegalDiscrete(self._mask)
        self._seat_choice = seat
        self._opponent_choice = opponents
        self._shaping = shaping
        self._bootstrap = at_turn_limit == "bootstrap"
        self._opponents = make_opponents(opponents, self.game, 0)
        self._games = 0
        self._state: State | None = None

    @property
    def state(self) -> State:
        """A copy of the position; chance in it is left to the caller."""
        return self._started().clone()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a new game and play until the learner is to move.

        Args:
            seed: where all randomness starts anew; None lets it run on.
            options: part of Gymnasium's API; the games have none.

        Returns:
            The observation, float32 of shape (observation,), and the info.
        """
        super().reset(seed=seed)
        self._lost = False
        if seed is not None or self._state is None:
            self._games = 0
            self._opponents = make_opponents(self._opponent_choice, self.game, self._draw_seed())
        for _ in range(MOST_RESTARTS):
            self.seat = self._choose_seat()
            self._state = self.game.new_state(self._draw_seed())
            self._games += 1
            self._play_opponents(self._state)
            if not self._state.is_terminal:
                break
        else:
            raise never_moves(self.game)
        self._look(self._state)
        self._potential = self._potential_of(self._state)
        if self.render_mode == "human":
            self.render()
        return self._state.observe(self.seat), self._info()

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play an action of the learner, then the opponents' until it is to move again or the game is over.

        Returns:
            Observation, reward, terminated, truncated, info. At the end of a game the info also holds "returns" by seat
            and "truncated": whether the turn limit ended it.

        Raises:
            IllegalAction: the rules do not allow the action, and nothing has changed; or an opponent's.
            GameOver: the game is finished; call reset().
            NotStarted: `reset` has not been called.
        """
        state = self._started()
        if self._lost:
            raise GameOver(f"this game of {self.game.name} was lost by an illegal action; call reset() to go on")
        try:
            state.step(action)
        except IllegalAction as error:
            if not self._illegal_loses:
                raise
            return self._lose(state, str(error))
        self._play_opponents(state)
        self._look(state)
        over, info = state.is_terminal, self._info()
        goes_on = over and state.truncated and self._bootstrap
        reward = 0.0
        if over:
            returns = state.returns()
            reward = 0.0 if goes_on else float(returns[self.seat])
            info |= {"returns": returns, "truncated": state.truncated}
        reward += self._shaping_reward(state, ends=over and not goes_on)
        if self.render_mode == "human":
            self.render()
        return state.observe(self.seat), reward, over and not goes_on, goes_on, info

    def _lose(self, state: State, why: str) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        self._lost = True
        self._mask[:] = 0
        reward = LOSS + self._shaping_reward(state, ends=True)
        return state.observe(self.seat), reward, True, False, self._info() | {"illegal_action": why}

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's action mask, (actions,) bool; all False once the game is over."""
        return self._mask.astype(np.bool_)

    def render(self) -> Any:
        """Show the position, see `envs.common.render`."""
        return render(self._started(), self.render_mode)

    def close(self) -> None:
        """Do nothing: there are no windows or processes to close."""

    def _started(self) -> State:
        if self._state is None:
            raise NotStarted("this environment has not started; call reset() first")
        return self._state

    def _draw_seed(self) -> int:
        return int(self.np_random.integers(SEEDS))

    def _choose_seat(self) -> int:
        if self._seat_choice == "random":
            return int(self.np_random.integers(self.game.players))
        if self._seat_choice == "rotate":
            return self._games % self.game.players
        return int(self._seat_choice)

    def _play_opponents(self, state: State) -> None:
        mover = state.to_move
        while mover not in (self.seat, TERMINAL):
            place = (mover - self.seat) % self.game.players
            agent = self._opponents[(place - 1) % len(self._opponents)]
            try:
                state.step(act_in_state(agent, state))
            except IllegalAction as error:
                raise IllegalAction(f"opponent {name_of(agent)!r}: {error}") from error
            mover = state.to_move

    def _look(self, state: State) -> None:
        self._mask[:] = state.action_mask()

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask.copy(), "seat": self.seat}

    def _potential_of(self, state: State) -> float:
        if self._shaping is None:
            return 0.0
        return float(self._shaping.potential(state.row, np.array([self.seat]))[0])

    def _shaping_reward(self, state: State, ends: bool) -> float:
        if self._shaping is None:
            return 0.0
        before = self._potential
        self._potential = 0.0 if ends else self._potential_of(state)
        return self._shaping.gamma * self._potential - before
