"""A game variant (`Game`) and a single position of it (`State`) for plain Python use."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.contract import CHANCE, ILLEGAL, TERMINAL, GameSpec
from caravan_env.core.errors import CaravanError, GameOver, IllegalAction, WrongSeat
from caravan_env.core.kernel import announce_compilation, bind_loops
from caravan_env.core.loops import LOOPS
from caravan_env.core.observation import ObservationLayout
from caravan_env.core.params import GameParams
from caravan_env.core.rng import streams

_loops_of_spec: dict[int, tuple[GameSpec, dict[str, Any]]] = {}


def _bound_loops(spec: GameSpec) -> dict[str, Any]:
    """Return the loops compiled for a spec; the spec is kept beside them, so that no other one gets its id."""
    if id(spec) not in _loops_of_spec:
        source = str(spec.rules.__file__)
        announce_compilation(spec.name, source)
        kernels = {**spec.kernels(), "MAX_OUTCOMES": spec.max_outcomes}
        _loops_of_spec[id(spec)] = spec, bind_loops(LOOPS, spec.name, kernels, source)
    return _loops_of_spec[id(spec)][1]


class Game:
    """One variant of a game: its spec together with a choice of rule switches.

    Attributes:
        spec: the game.
        params: the rule switches.
        name: the game's id.
        players: number of seats.
        num_actions: size of the action mask.
        layout: the named pieces of the observation vector.
        action_planes: (k, height, width) int64, the actions that belong to each place of the observation's planes, or
            None; see `GameSpec`.
        loops: compiled loops over batches, by name (`core.loops`).
        template: array of shape (1,), a row that carries the switches; a game starts from a copy of it.
    """

    def __init__(self, spec: GameSpec, params: GameParams | Mapping[str, Any] | None = None) -> None:
        if not isinstance(params, GameParams):
            params = spec.params_type.from_mapping(params or {})
        self.spec = spec
        self.params = params
        self.name = spec.name
        self.players = params.players
        self.num_actions = spec.actions.size
        self.layout: ObservationLayout = spec.observation(params)
        self.action_planes = None if spec.action_planes is None else spec.action_planes(params)
        self.template = spec.new_row(params)
        self.loops = _bound_loops(spec)

    def __repr__(self) -> str:
        return f"Game({self.name!r}, {self.params!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the game itself: nothing in it ever changes."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Send a game to another process by name and switches; the kernels are looked up there."""
        from caravan_env.core.registry import make_game

        return partial(make_game, **vars(self.params)), (self.name,)

    def new_rows(self, rows: int) -> NDArray[np.void]:
        """Return `rows` games before their opening chance, as an array of the state dtype."""
        S = np.repeat(self.template, rows)
        for i in range(rows):
            self.spec.rules.init(S, i)
        return S

    def new_state(self, seed: int | None = None) -> State:
        """Return a new game; with a seed its chance is resolved by that stream, without one by the caller."""
        return State(self, self.new_rows(1), seed)

    def state_from_json(self, struct: Mapping[str, Any], seed: int | None = None) -> State:
        """Return the position that a JSON struct describes (the inverse of `State.to_json`)."""
        return State(self, self.spec.text.from_json(struct, self.template), seed)


class State:
    """One position of a game. `row` is the array of shape (1,) that holds it; copying the row copies the position."""

    def __init__(self, game: Game, row: NDArray[np.void], seed: int | None = None) -> None:
        self.game = game
        self.row = row
        self._kernels = game.spec.rules
        self._weights = np.zeros(game.spec.max_outcomes, np.int64)
        self._draws_chance = seed is not None
        self._stream = np.zeros(1, np.uint64) if seed is None else streams(seed, 1)
        if self._draws_chance:
            game.loops["settle"](row, 0, self._stream, 0, self._weights)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_kernels": None}  # a module cannot be copied or sent to another process

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values, _kernels=values["game"].spec.rules)

    def clone(self) -> Self:
        """Return an independent copy, chance stream included."""
        copy = type(self)(self.game, copy_rows(self.row))
        copy._draws_chance, copy._stream = self._draws_chance, self._stream.copy()
        return copy

    @property
    def to_move(self) -> int:
        """The seat to move, CHANCE (-1) or TERMINAL (-2)."""
        return int(self._kernels.to_move(self.row, 0))

    @property
    def is_chance(self) -> bool:
        """Whether a chance event is next."""
        return self.to_move == CHANCE

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.to_move == TERMINAL

    @property
    def truncated(self) -> bool:
        """Whether the game was cut off by its turn limit."""
        return bool(self._kernels.truncated(self.row, 0))

    def action_mask(self) -> NDArray[np.uint8]:
        """Return the uint8 mask of shape (actions,); all zero unless a seat is to move."""
        mask = np.empty(self.game.num_actions, np.uint8)
        self.game.loops["mask_row"](self.row, mask)
        return mask

    def legal_actions(self) -> NDArray[np.int64]:
        """Return the legal action numbers in ascending order."""
        return np.flatnonzero(self.action_mask())

    def step(self, action: int, seat: int | None = None) -> None:
        """Play a legal action, then resolve chance if the state was made with a seed.

        Args:
            action: the action number.
            seat: who plays it; checked if given.

        Raises:
            GameOver: the game is finished.
            WrongSeat: it is not this seat's move, or chance is to be resolved first.
            IllegalAction: the rules do not allow the action now. In all cases the state is unchanged.
        """
        if seat is not None:
            self.check_seat(seat)
        number = whole_number(action)
        known = number if 0 <= number < self.game.num_actions else -1
        played = self.game.loops["play_row"](
            self.row, self._stream, self._weights, known, -1 if seat is None else seat, self._draws_chance
        )
        if played == ILLEGAL:
            raise self._refusal(number, seat)

    def _refusal(self, action: int, seat: int | None) -> CaravanError:
        """Return the error for an action that cannot be played now."""
        mover = self.to_move
        if mover == TERMINAL:
            return GameOver(f"this game of {self.game.name} is over; start a new one to go on")
        if mover == CHANCE:
            return WrongSeat("chance is to be resolved before a seat can move; call resolve()")
        if seat is not None and seat != mover:
            return WrongSeat(f"seat {seat} cannot move now: it is the turn of seat {mover}")
        return IllegalAction(illegal_action_message(self.game, self.row, 0, action))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return (outcome, probability) of every outcome of the chance event that is next; [] if none is."""
        if not self.is_chance:
            return []
        n = int(self._kernels.chance(self.row, 0, self._weights))
        weights = self._weights[:n]
        return [(k, float(weights[k] / weights.sum())) for k in range(n) if weights[k] > 0]

    def resolve(self, outcome: int) -> None:
        """Apply an outcome of the chance event that is next.

        Raises:
            IllegalAction: no chance event is next, or the outcome cannot happen.
        """
        possible = [k for k, _ in self.chance_outcomes()]
        if outcome not in possible:
            raise IllegalAction(f"chance outcome {outcome} cannot happen now; possible: {possible}")
        self._kernels.resolve(self.row, 0, int(outcome))

    def observe(self, seat: int) -> NDArray[np.float32]:
        """Return the scaled observation vector of a seat, float32 of shape (layout.size,), own seat first."""
        self.check_seat(seat)
        out = np.zeros(self.game.layout.size, np.uint8)
        self._kernels.observe(self.row, 0, seat, out)
        return self.game.layout.scaled(out)

    def scores(self) -> NDArray[np.float64]:
        """Return each seat's points if the game ended now, shape (players,)."""
        out = np.zeros(self.game.players)
        self._kernels.score(self.row, 0, out)
        return out

    def returns(self) -> NDArray[np.float64]:
        """Return each seat's terminal return, shape (players,); all zero while the game goes on."""
        out = np.zeros(self.game.players)
        if self.is_terminal:
            self._kernels.returns(self.row, 0, out)
        return out

    def action_text(self, action: int) -> str:
        """Return an action of the mover in words."""
        return str(self.game.spec.text.action_text(self.row, 0, int(action)))

    def legal_texts(self) -> list[str]:
        """Return the legal actions in words, in the order of `legal_actions`."""
        text, actions = self.game.spec.text, self.legal_actions()
        if hasattr(text, "action_texts"):
            return list(text.action_texts(self.row, 0, actions))
        return [self.action_text(int(action)) for action in actions]

    def parse_action(self, words: str) -> int:
        """Return the legal action with these words.

        Raises:
            IllegalAction: no legal action has these words.
        """
        wanted = " ".join(words.split()).lower()
        for action, text in zip(self.legal_actions(), self.legal_texts(), strict=True):
            if text.lower() == wanted:
                return int(action)
        raise IllegalAction(f"{words!r} is not among the {len(self.legal_actions())} legal actions now")

    def outcome_text(self, outcome: int) -> str:
        """Return a chance outcome in words."""
        return str(self.game.spec.text.outcome_text(self.row, 0, int(outcome)))

    def to_json(self) -> dict[str, Any]:
        """Return the position as a JSON struct with the rule switches in it."""
        struct: dict[str, Any] = self.game.spec.text.to_json(self.row, 0)
        return {"game": self.game.name, "params": self.game.params.to_json(), **struct}

    def board_text(self) -> str:
        """Return the position as text for a terminal."""
        return str(self.game.spec.text.board_text(self.row, 0))

    def check_seat(self, seat: int) -> None:
        """Raise WrongSeat unless `seat` exists."""
        if not 0 <= seat < self.game.players:
            raise WrongSeat(f"seat {seat} does not exist: this game has the seats 0 to {self.game.players - 1}")


def copy_rows(S: NDArray[np.void]) -> NDArray[np.void]:
    """Return a copy of one or more games; numpy's own, field by field, takes many times as long."""
    return np.frombuffer(bytearray(S.tobytes()), S.dtype)


def whole_number(action: Any) -> int:
    """Return an action of any integer type as an int; raise IllegalAction if it is of another."""
    try:
        return operator.index(action)
    except TypeError:
        raise IllegalAction(f"an action is a whole number, not {action!r}") from None


def illegal_action_message(game: Game, S: NDArray[np.void], i: int, action: int) -> str:
    """Return the error sentence for an action that row i does not allow."""
    if not 0 <= action < game.num_actions:
        return f"action {action} does not exist: {game.name} has the actions 0 to {game.num_actions - 1}"
    mask = np.zeros(game.num_actions, np.uint8)
    count = game.spec.rules.legal(S, i, mask)
    seat = game.spec.rules.to_move(S, i)
    words = game.spec.text.action_text(S, i, int(action))
    return f"action {action} ({words}) is not legal for seat {seat} now; {count} other actions are"


__all__ = ["CHANCE", "ILLEGAL", "TERMINAL", "Game", "State", "copy_rows", "illegal_action_message", "whole_number"]
