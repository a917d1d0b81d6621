"""Playing one recorded game between agents."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from caravan_env.core.errors import CaravanError, IllegalAction
from caravan_env.core.game import Game, State
from caravan_env.core.record import Record, Recorder
from caravan_env.core.rng import streams


@dataclasses.dataclass(frozen=True)
class Thought:
    """What an agent thinks of the position it is to move in; any part may be missing.

    Attributes:
        action: what it plays.
        value: its expected return.
        policy: action -> probability.
    """

    action: int
    value: float | None = None
    policy: Mapping[int, float] | None = None


class Player(Protocol):
    """What a match needs of an agent."""

    name: str

    def think(self, state: State) -> Thought:
        """Choose an action for the seat to move; the state must not be changed."""
        ...


class AgentFault(CaravanError):
    """An agent played an illegal action. The record so far is attached as `record`."""

    def __init__(self, message: str, record: Record) -> None:
        super().__init__(message)
        self.record = record


def play_match(game: Game, players: Sequence[Player], seed: int = 0) -> Record:
    """Play one game and return its record.

    Args:
        game: the variant.
        players: one agent per seat.
        seed: decides chance; agents have seeds of their own.

    Raises:
        AgentFault: an agent played an illegal action; the record, ending in an error line, is attached.
        ValueError: there is not one agent per seat.
    """
    if len(players) != game.players:
        raise ValueError(f"{len(players)} agents for {game.players} seats")
    recorder = Recorder(game.new_state(), [player.name for player in players])
    stream = streams(seed, 1)
    weights = np.zeros(game.spec.max_outcomes, np.int64)
    state = recorder.state
    while not state.is_terminal:
        if state.is_chance:
            recorder.resolve(int(game.loops["draw_outcome"](state.row, 0, stream, 0, weights)))
        else:
            play_one(recorder, players[state.to_move])
    return recorder.finish()


def play_one(recorder: Recorder, player: Player) -> None:
    """Let a player make the next move of a game that is being recorded; raises AgentFault, see `play_match`."""
    seat = recorder.state.to_move
    thought = player.think(recorder.state.clone())
    try:
        recorder.step(int(thought.action), thought.value, thought.policy)
    except IllegalAction as error:
        message = f"agent {player.name!r} in seat {seat}: {error}"
        raise AgentFault(message, recorder.fail(seat, int(thought.action), message)) from error
