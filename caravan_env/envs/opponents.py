"""Opponents: whoever plays the seats that the learner does not.

Seats are counted from the learner here, as in an observation: column 0 is the learner, column k the seat k places after
it.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game, State

#: A spec such as "greedy", an agent with `act` or `act_rows`, or a callable (game, seed) -> agent.
Opponent = str | Callable[[Game, int], Any] | Any


@dataclasses.dataclass(frozen=True)
class FinishedGames:
    """What became of k games that a step finished.

    Attributes:
        rows: (k,) int64, where they were played.
        seats: (k,) int64, the learner's seat.
        opponents: (k, players) int64, index in `OpponentPool.agents` by column; column 0 means nothing.
        returns: (k, players) float64 by column: the learner's return first.
        lengths: (k,) int64, decisions of the learner.
        truncated: (k,) bool, whether the turn limit ended the game.
    """

    rows: NDArray[np.int64]
    seats: NDArray[np.int64]
    opponents: NDArray[np.int64]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    truncated: NDArray[np.bool_]


class OpponentPool(Protocol):
    """Chooses opponents for every new game: what a league must offer to be trained against.

    Attributes:
        agents: the opponents, each with `act_rows(S, mask)` as in `agents.base.Agent`; it may grow and change between
            steps.
    """

    agents: Sequence[Any]

    def assign(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return who plays the new games in `rows`: (len(rows), players) indices of `agents` by column."""
        ...

    def report(self, finished: FinishedGames) -> None:
        """Take note of finished games."""
        ...


class FixedPool:
    """The same opponents in every game: one for all seats, or one for each seat after the learner's, in turn order."""

    def __init__(self, agents: Sequence[Any], players: int) -> None:
        self.agents = agents
        columns = np.arange(-1, players - 1) % max(len(agents), 1)  # a game for one needs none
        self._columns = columns.astype(np.int64)

    def assign(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `OpponentPool.assign`."""
        return np.tile(self._columns, (len(rows), 1))

    def report(self, finished: FinishedGames) -> None:
        """Do nothing: the choice does not depend on results."""


def make_opponents(opponents: Opponent | Sequence[Opponent], game: Game, seed: int) -> list[Any]:
    """Return one agent for all seats but the learner's, or one for each of them.

    Args:
        opponents: one opponent, or a list of one per seat after the learner's, in turn order.
        game: the variant to play.
        seed: where the randomness of opponents that are made here starts; ready agents keep their own.

    Raises:
        BadParams: the number of opponents does not fit, or one of them is nothing that can play.
    """
    listed = list(opponents) if isinstance(opponents, (list, tuple)) else [opponents]
    if len(listed) not in (1, game.players - 1):
        raise BadParams(
            f"{len(listed)} opponents for {game.players - 1} seats: name one for all of them, or one for each"
        )
    return [_make(opponent, game, seed + k) for k, opponent in enumerate(listed)]


def name_of(agent: Any) -> str:
    """Return how error messages call an agent."""
    return str(getattr(agent, "name", type(agent).__name__))


def act_in_state(agent: Any, state: State) -> int:
    """Return an agent's action in one state; the agent gets a copy."""
    copy = state.clone()
    if hasattr(agent, "act"):
        return int(agent.act(copy))
    return int(agent.act_rows(copy.row, copy.action_mask()[None])[0])


def act_in_rows(
    agent: Any, game: Game, S: NDArray[np.void], mask: NDArray[np.uint8], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return an agent's actions in many games, (k,) int64.

    Args:
        agent: one with `act_games`, `act_rows` or `act`, asked in this order.
        game: the variant played.
        S: (k,) copies of the games.
        mask: (k, actions) their masks.
        rows: (k,) the numbers of the games, for agents that keep a random stream for each.
    """
    if hasattr(agent, "act_games"):
        actions: NDArray[np.int64] = agent.act_games(S, mask, rows)
    elif hasattr(agent, "act_rows"):
        actions = agent.act_rows(S, mask)
    else:
        actions = np.array([agent.act(State(game, S[k : k + 1])) for k in range(len(S))], np.int64)
    return actions


def _make(opponent: Opponent, game: Game, seed: int) -> Any:
    if isinstance(opponent, str):
        # By name: the layer above brings the specs of agents, and this one must not depend on it.
        return importlib.import_module("agents.registry").make_agent(opponent, game, seed)
    plays = hasattr(opponent, "act") or hasattr(opponent, "act_rows")
    if callable(opponent) and (isinstance(opponent, type) or not plays):
        return _make_ready(opponent(game, seed), game)
    return _make_ready(opponent, game)


def _make_ready(agent: Any, game: Game) -> Any:
    if not (hasattr(agent, "act") or hasattr(agent, "act_rows")):
        raise BadParams(
            f"{agent!r} cannot play: an opponent is a spec, an agent with act(state), or (game, seed) -> agent"
        )
    own = getattr(agent, "game", game)
    if (own.name, own.params) != (game.name, game.params):
        raise BadParams(f"opponent {name_of(agent)!r} was made for {own!r} and cannot play {game!r}")
    return agent
