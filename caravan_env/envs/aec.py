"""The PettingZoo view: every registered game as an AEC (agent, environment, cycle) environment.

    from caravan_env import env

    game = env("caravan", players=3)
    game.reset(seed=7)
    for agent in game.agent_iter():
        observation, reward, termination, truncation, info = game.last()
        done = termination or truncation
        game.step(None if done else game.action_space(agent).sample(observation["action_mask"]))

PettingZoo's games wrap `raw_env` into checks of order, bounds and legality, each of which costs more than a whole step
here. Those checks are part of `raw_env`, so `env` is the same environment by the name that PettingZoo users look for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from caravan_env.core.contract import TERMINAL
from caravan_env.core.errors import CaravanError, GameOver, IllegalAction, NotStarted, WrongSeat, nearest
from caravan_env.core.game import Game, State, illegal_action_message, whole_number
from caravan_env.core.record import Record, Recorder
from caravan_env.core.rng import streams
from caravan_env.envs.common import (
    RENDER_FPS,
    RENDER_MODES,
    as_game,
    check_render_mode,
    fresh_seed,
    observation_box,
    render,
)

Observation = dict[str, NDArray[Any]]
MASK = np.dtype(np.int8)
VALUES = np.dtype(np.float32)
_SET_BY_RESET = frozenset(
    ("agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards", "_state", "_recorder")
)


class raw_env(AECEnv[str, Observation, int]):  # type: ignore[misc]
    """A game for the seats "player_0", "player_1", ... with every check on.

    - An observation is `{"observation": float32 vector, "action_mask": int8 vector}`, own seat first. The mask is also
      in `infos[agent]`, and all zero for a seat that is not to move. Arrays are new at every step and never rewritten.
    - A seat may be selected several times in a row: a turn can have several actions.
    - Chance is resolved inside. `reset(seed)` together with the actions determines the game; `reset()` goes on with the
      stream of the last seed, or with one that nobody chose.
    - The game pays when it ends, so every `last()` before pays 0, and a seat's rewards sum to its return.
    - A game that ends by its rules terminates every seat; one that its turn limit cuts off truncates every seat. Both
      pay in full, so a learner should not add its own value of the last position to the pay of a truncated game.
    - What does not fit raises an error of `caravan_env.core.errors` and changes nothing.

    As one seat acts at a time, the parallel API and PettingZoo's conversions to it do not apply.
    """

    metadata: dict[str, Any] = {
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
        "is_parallelizable": False,
    }

    def __init__(
        self, game: str | Game = "caravan", *, render_mode: str | None = None, record: bool = False, **params: Any
    ) -> None:
        """Prepare a game; `reset` starts it.

        Args:
            game: the name of a registered game, or a ready variant.
            render_mode: None, "ansi", "rgb_array" or "human", see `envs.common.render`.
            record: keep a record of each game; slower, because every move is put in words.
            **params: rule switches of the game, for example `players=3`.

        Raises:
            UnknownName: no such game or render mode.
            BadParams: a rule switch that does not exist or does not fit.
        """
        super().__init__()
        check_render_mode(render_mode)
        self.game = as_game(game, params)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "name": f"{self.game.name}_v{self.game.spec.version}"}
        self.possible_agents = [f"player_{seat}" for seat in range(self.game.players)]
        self.agents: list[str] = []
        self.action_spaces = {agent: spaces.Discrete(self.game.num_actions) for agent in self.possible_agents}
        self.observation_spaces = {agent: _observation_space(self.game) for agent in self.possible_agents}
        self._recording = record
        self._stream = streams(fresh_seed(), 1)
        self._weights = np.zeros(self.game.spec.max_outcomes, np.int64)
        self._counts = np.zeros(self.game.layout.size, np.uint8)
        self._over = True
        self._next: Observation | None = None

    def __getattr__(self, name: str) -> Any:
        if name in _SET_BY_RESET or hasattr(type(self), name):  # the latter: a property that misses one of the former
            raise NotStarted("this environment has not started; call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the observation space of a seat, the same object at every call."""
        return self.observation_spaces[self.possible_agents[self._seat(agent)]]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the action space of a seat, the same object at every call."""
        return self.action_spaces[self.possible_agents[self._seat(agent)]]

    @property
    def position(self) -> State:
        """A copy of the current position, for agents to think about; chance in it is left to the caller."""
        return self._state.clone()

    @property
    def record(self) -> Record:
        """The record of the current game so far; the environment must be made with `record=True`."""
        if not self._recording:
            raise CaravanError("this environment keeps no records; make it with record=True")
        return self._recorder.record

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game.

        Args:
            seed: where the stream of chance starts anew, any non-negative integer; None lets it run on.
            options: part of PettingZoo's API; the games have none.
        """
        if seed is not None:
            self._stream = streams(index(seed), 1)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._no_mask()} for agent in self.agents}
        self._state = self.game.new_state()
        if self._recording:
            self._recorder = Recorder(self._state, self.possible_agents[:])
        self.agent_selection = self.possible_agents[self._settle()]
        self._over = False
        self._select(self.observe(self.agent_selection))
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Play an action of the selected seat and select the next; a seat whose game is over steps with None.

        Raises:
            IllegalAction: the rules do not allow the action now.
            GameOver: the game is over for the selected seat, or for all of them.
            NotStarted: `reset` has not been called.
        """
        if self._over:
            self._leave(action)
            return
        game = self.game
        number = whole_number(action)
        mask, values = np.empty(game.num_actions, MASK), np.empty(game.layout.size, VALUES)
        if self._recording:
            mover = self._step_recorded(number, mask, values)
        else:
            known = number if 0 <= number < game.num_actions else -1
            mover = game.loops["seat_step"](
                self._state.row, self._stream, self._weights, known, mask, self._counts, game.layout.scale, values
            )
        if mover >= 0:
            agent = self.possible_agents[mover]
            if agent != self.agent_selection:
                self.infos[self.agent_selection] = {"action_mask": self._no_mask()}
                self.agent_selection = agent
            self._select({"observation": values, "action_mask": mask})
        elif mover == TERMINAL:
            self._finish()
        else:
            raise IllegalAction(illegal_action_message(game, self._state.row, 0, number))
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Return what a seat knows now, at the end of the game too; its mask is all zero unless it is to move.

        Raises:
            WrongSeat: there is no such seat.
            NotStarted: `reset` has not been called.
        """
        mask, values = np.empty(self.game.num_actions, MASK), np.empty(self.game.layout.size, VALUES)
        self._view(self._seat(agent), mask, values)
        return {"observation": values, "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last action, termination, truncation and info of the selected seat."""
        agent = self.agent_selection
        observation = None
        if observe:
            # `step` has looked already, but an array given out may have been written on: look again for the next call.
            observation = self._next or self.observe(agent)
            self._next = None
        try:
            pay, info = self._cumulative_rewards[agent], self.infos[agent]
            return observation, pay, self.terminations[agent], self.truncations[agent], info
        except KeyError:
            raise GameOver(self._nobody_left()) from None

    def agent_iter(self, max_iter: int = sys.maxsize) -> Iterator[str]:
        """Yield the selected seat, at most `max_iter` times, until every seat has left; step once for each."""
        self._state  # noqa: B018 - raises NotStarted before the first reset
        for _ in range(min(max_iter, sys.maxsize)):
            if not self.agents:
                return
            yield self.agent_selection

    def render(self) -> str | NDArray[np.uint8] | None:
        """Show the position, see `envs.common.render`."""
        return render(self._state, self.render_mode)

    def close(self) -> None:
        """Do nothing: there are no windows or processes to close."""

    def _no_mask(self) -> NDArray[np.int8]:
        return np.zeros(self.game.num_actions, MASK)

    def _seat(self, agent: str) -> int:
        try:
            return self.possible_agents.index(agent)
        except ValueError:
            raise WrongSeat(f"there is no seat {agent!r}: {nearest(str(agent), self.possible_agents)}") from None

    def _select(self, observation: Observation) -> None:
        self._next = observation
        self.infos[self.agent_selection] = {"action_mask": observation["action_mask"]}

    def _view(self, seat: int, mask: NDArray[np.int8], values: NDArray[np.float32]) -> None:
        """Write what a seat knows now."""
        scale = self.game.layout.scale
        self.game.loops["seat_observe"](self._state.row, seat, mask, self._counts, scale, values)

    def _settle(self) -> int:
        """Resolve chance, in the record if one is kept, and return who is to move."""
        loops = self.game.loops
        if not self._recording:
            return int(loops["settle"](self._state.row, 0, self._stream, 0, self._weights))
        while self._state.is_chance:
            self._recorder.resolve(int(loops["draw_outcome"](self._state.row, 0, self._stream, 0, self._weights)))
        return self._state.to_move

    def _step_recorded(self, number: int, mask: NDArray[np.int8], values: NDArray[np.float32]) -> int:
        """Do what the loop `seat_step` does, and write it down."""
        self._recorder.step(number)
        mover = self._settle()
        if mover >= 0:
            self._view(mover, mask, values)
        return mover

    def _finish(self) -> None:
        """Pay every seat its return; the seats then leave in order, each with a last observation."""
        truncated = self._state.truncated
        for agent, value in zip(self.possible_agents, self._state.returns(), strict=True):
            self.rewards[agent] = self._cumulative_rewards[agent] = float(value)
            self.terminations[agent] = not truncated
            self.truncations[agent] = truncated
        self.infos[self.agent_selection] = {"action_mask": self._no_mask()}
        self.agent_selection = self.possible_agents[0]
        self._over = True
        self._next = None
        if self._recording:
            self._recorder.finish()

    def _leave(self, action: int | None) -> None:
        """Take the selected seat out of the finished game."""
        if not self.agents:
            self._state  # noqa: B018 - raises NotStarted before the first reset
            raise GameOver(self._nobody_left())
        agent = self.agent_selection
        if action is not None:
            raise GameOver(f"this game of {self.game.name} is over: {agent} can only step with None, not {action!r}")
        self.agents.remove(agent)
        for table in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
            del table[agent]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.agents:
            self.agent_selection = self.agents[0]

    def _nobody_left(self) -> str:
        return f"every seat has left this game of {self.game.name}; call reset() to start a new one"


def env(game: str | Game = "caravan", **options: Any) -> raw_env:
    """Return the environment of a game, checks included; see `raw_env` for the options."""
    return raw_env(game, **options)


def _observation_space(game: Game) -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": observation_box(game),
            "action_mask": spaces.Box(0, 1, (game.num_actions,), np.int8),
        }
    )
