"""Checks that a game keeps the contract, for the games of this package and for games of others.

`check_game` plays random games of every variant and looks at each promise of `core.contract`. Run it on a game of your
own with `caravan check your_module:SPEC`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba.core import config as numba_config
from numba.core.types.misc import unliteral

from caravan_env.core.batch import Batch
from caravan_env.core.contract import CHANCE, KERNELS, TERMINAL, GameSpec
from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game, State
from caravan_env.core.match import Thought, play_match
from caravan_env.core.record import parse_record, replay
from caravan_env.core.registry import game_names, register_game
from caravan_env.core.rng import streams

MOST_PLIES = 100_000
PLIES_LOOKED_AT = 60
DRAWS = 4_000
CHANGING = ("init", "step", "resolve", "resample")


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """The outcome of one check on one variant; `detail` is empty where it passed."""

    check: str
    variant: str
    passed: bool
    detail: str = ""


class NotKept(Exception):
    """A promise of the contract is not kept; the message says which, and where."""


def require(condition: bool, message: str) -> None:
    """Raise NotKept with the message unless the condition holds."""
    if not condition:
        raise NotKept(message)


def check_game(spec: GameSpec, seed: int = 0) -> Iterator[CheckResult]:
    """Run every check on every variant of a game and yield the results as they come.

    Args:
        spec: the game.
        seed: random play and chance follow from it.
    """
    if spec.name not in game_names():
        register_game(spec)  # replaying a record looks the game up
    for variant, params in spec.variants.items():
        for check in CHECKS:
            name = check.__name__.removeprefix("check_").replace("_", " ")
            try:
                check(Game(spec, params), seed)
            except NotKept as error:
                yield CheckResult(name, variant, False, str(error))
            except Exception as error:
                yield CheckResult(name, variant, False, f"{type(error).__name__}: {error}")
            else:
                yield CheckResult(name, variant, True)


def check_layout(game: Game, seed: int) -> None:
    """The dtype has no padding, a "default" variant exists, switches survive JSON."""
    dtype = game.spec.state_dtype
    names = dtype.names or ()
    require(bool(names), "the state dtype must be structured")
    used = sum(dtype[name].itemsize for name in names)
    require(used == dtype.itemsize, f"the state dtype has {dtype.itemsize - used} bytes of padding")
    require("default" in game.spec.variants, "there is no variant named 'default'")
    again = game.spec.params_type.from_mapping(json.loads(json.dumps(game.params.to_json())))
    require(again == game.params, f"the switches {game.params} do not survive JSON")


def check_start(game: Game, seed: int) -> None:
    """`init` involves no chance and forgets whatever was in the row, the switches apart."""
    fresh = game.new_rows(1)
    used = _random_state(game, seed, plies=30).row.copy()
    game.spec.rules.init(used, 0)
    require(fresh.tobytes() == used.tobytes(), "init leaves something of the game before in the row")
    require(fresh.tobytes() == game.new_rows(1).tobytes(), "two starts differ")


def check_legal_actions(game: Game, seed: int) -> None:
    """Mask, count, `is_legal` and `pick` agree; nothing else is legal; a mover always has an action."""
    for state in _positions(game, seed):
        _check_legal_here(game, state)


def _check_legal_here(game: Game, state: State) -> None:
    rules, mask = game.spec.rules, np.full(game.num_actions, 7, np.uint8)
    count = int(rules.legal(state.row, 0, mask))
    require(set(np.unique(mask)) <= {0, 1}, "the mask holds values other than 0 and 1")
    require(count == int(mask.sum()) >= 1, f"legal() returns {count}, the mask has {int(mask.sum())} legal actions")
    told = [bool(rules.is_legal(state.row, 0, a)) for a in range(game.num_actions)]
    require(told == [bool(m) for m in mask], "is_legal() and legal() disagree")
    for outside in (-1, -(10**9), game.num_actions, 10**9):
        require(not rules.is_legal(state.row, 0, outside), f"is_legal() accepts the action {outside}")
    tickets = [-(-(k << 32) // count) for k in range(count)] + [(1 << 32) - 1]
    picked = [int(rules.pick(state.row, 0, np.uint64(ticket))) for ticket in tickets]
    expected = [int(a) for a in np.flatnonzero(mask)]
    require(picked == [*expected, expected[-1]], "pick() does not give the legal actions in mask order")


def check_words(game: Game, seed: int) -> None:
    """Legal actions have different words, and the words lead back to the action."""
    for state in _positions(game, seed):
        words = [state.action_text(int(a)) for a in state.legal_actions()]
        require(state.legal_texts() == words, "action_texts() and action_text() disagree")
        require(len(set(words)) == len(words), f"two legal actions have the same words: {sorted(words)}")
        action = int(state.legal_actions()[len(words) // 2])
        require(state.parse_action(state.action_text(action)) == action, "words do not lead back to their action")


def check_structs(game: Game, seed: int) -> None:
    """A position survives JSON bit for bit, and the struct holds plain JSON values only."""
    for state in _positions(game, seed, chance=True):
        struct = state.to_json()
        require(json.loads(json.dumps(struct)) == struct, "the struct holds values that JSON changes")
        back = game.state_from_json(struct)
        require(back.row.tobytes() == state.row.tobytes(), f"the struct does not lead back to the position: {struct}")


def check_observations(game: Game, seed: int) -> None:
    """Observations are written whole, and leave the game as it was."""
    for state in _positions(game, seed, chance=True):
        before = state.row.tobytes()
        for seat in range(game.players):
            out = np.zeros((2, game.layout.size), np.uint8)
            out[1] = 255
            for k in range(2):
                game.spec.rules.observe(state.row, 0, seat, out[k])
            require(np.array_equal(out[0], out[1]), f"the observation of seat {seat} has gaps")
        require(state.row.tobytes() == before, "observe() changes the game")


def check_action_planes(game: Game, seed: int) -> None:
    """Actions that belong to places are actions, none twice, and the places are those of the observation's planes."""
    actions = game.action_planes
    if actions is None:
        return
    require(actions.dtype == np.int64 and actions.ndim == 3, f"action planes are {actions.dtype} {actions.shape}")
    chosen = actions[actions != -1]
    within = bool(((chosen >= 0) & (chosen < game.num_actions)).all())
    require(within, f"action planes hold numbers other than -1 and 0 to {game.num_actions - 1}")
    require(len(np.unique(chosen)) == len(chosen), "action planes hold an action twice")
    boards = {piece.shape[1:] for piece in game.layout.pieces.values() if len(piece.shape) == 3}
    require(boards == {actions.shape[1:]}, f"action planes are {actions.shape[1:]}, the observation's {sorted(boards)}")


def check_hidden_information(game: Game, seed: int) -> None:
    """`resample` changes nothing that the seat can see, and keeps the options of the mover."""
    stream = streams(seed, 1)
    for state in _positions(game, seed):
        seat = state.to_move
        seen, mask = state.observe(seat), state.action_mask()
        game.spec.rules.resample(state.row, 0, seat, stream, 0)
        require(np.array_equal(seen, state.observe(seat)), f"resample() changes what seat {seat} sees")
        require(np.array_equal(mask, state.action_mask()), "resample() changes what is legal")


def check_other_rows(game: Game, seed: int) -> None:
    """No kernel touches another row than its own, and those that only look leave that one alone too."""
    for state in _positions(game, seed, chance=True):
        for name, arguments in _calls(game, state).items():
            rows = np.repeat(state.row, 3)
            getattr(game.spec.rules, name)(rows, 1, *arguments)
            others = rows[:3:2] if name in CHANGING else rows
            touched = any(row.tobytes() != state.row[0].tobytes() for row in others)
            require(not touched, f"{name}() touches another row" if name in CHANGING else f"{name}() changes the game")


def _calls(game: Game, state: State) -> dict[str, tuple[Any, ...]]:
    """Return the kernels that may be called in a position, with the arguments after (S, i)."""
    mover, values = state.to_move, np.zeros(game.players)
    calls: dict[str, tuple[Any, ...]] = {"init": (), "to_move": (), "truncated": (), "score": (values,)}
    calls["observe"] = (0, np.zeros(game.layout.size, np.uint8))
    if mover == TERMINAL:
        calls["returns"] = (values,)
    elif mover == CHANCE:
        calls["chance"] = (np.zeros(game.spec.max_outcomes, np.int64),)
        calls["resolve"] = (state.chance_outcomes()[-1][0],)
    else:
        action = int(state.legal_actions()[-1])
        calls |= {"is_legal": (action,), "step": (action,), "pick": (np.uint64(0),)}
        calls |= {"legal": (state.action_mask(),), "resample": (mover, streams(0, 1), 0)}
    return calls


def check_chance(game: Game, seed: int) -> None:
    """Weights are whole, not negative and not all zero; draws come as often as the weights say."""
    stream, weights = streams(seed, 1), np.zeros(game.spec.max_outcomes, np.int64)
    tested = 0
    for state in _positions(game, seed, chance=True):
        if not state.is_chance:
            continue
        n = int(game.spec.rules.chance(state.row, 0, weights))
        require(
            1 <= n <= game.spec.max_outcomes, f"chance() gives {n} outcomes, max_outcomes is {game.spec.max_outcomes}"
        )
        require(bool((weights[:n] >= 0).all()) and weights[:n].sum() > 0, f"impossible weights {weights[:n]}")
        if tested < 3:
            tested += 1
            _check_draws(game, state, stream, weights, n)


def _check_draws(game: Game, state: State, stream: Any, weights: Any, n: int) -> None:
    expected = weights[:n] / weights[:n].sum()
    draw = game.loops["draw_outcome"]
    drawn = np.bincount([draw(state.row, 0, stream, 0, weights) for _ in range(DRAWS)], minlength=n) / DRAWS
    slack = 6 * np.sqrt(expected * (1 - expected) / DRAWS) + 1e-9
    require(bool((abs(drawn - expected) <= slack).all()), f"draws come with {drawn} where the weights say {expected}")


def check_end(game: Game, seed: int) -> None:
    """Games end; then the mask is empty, the returns are finite and, with several seats, sum to zero."""
    for number in range(3):
        state = _random_state(game, seed + number, plies=MOST_PLIES)
        require(state.is_terminal, f"a random game is not over after {MOST_PLIES} actions")
        returns = state.returns()
        require(bool(np.isfinite(returns).all()), f"returns are {returns}")
        require(game.players == 1 or abs(returns.sum()) < 1e-9, f"returns {returns} do not sum to zero")


def check_batches(game: Game, seed: int) -> None:
    """A row's games do not depend on the number of rows or threads, and a copied row goes on in the same way."""
    small, large = Batch(game, 3, seed), Batch(game, 8, seed, threads=3)
    for _ in range(150):
        small.step(small.random_actions())
        large.step(large.random_actions())
        require(small.S.tobytes() == large.S[:3].tobytes(), "rows depend on the size of the batch or on threads")
        require(np.array_equal(small.obs, large.obs[:3]), "observations depend on the size of the batch")
        require(np.array_equal(small.mask, large.mask[:3]), "masks depend on the size of the batch")


def check_illegal_actions(game: Game, seed: int) -> None:
    """An illegal action is refused in words and changes nothing."""
    for state in _positions(game, seed):
        illegal = np.flatnonzero(state.action_mask() == 0)
        before = state.row.tobytes()
        for action in (-1, game.num_actions, *(int(a) for a in illegal[:: max(1, len(illegal) // 5)])):
            try:
                state.step(action)
            except CaravanError as error:
                require(str(action) in str(error), f"the error does not name the action {action}: {error}")
            else:
                raise NotKept(f"the illegal action {action} is played")
        require(state.row.tobytes() == before, "a refused action changes the game")


def check_record(game: Game, seed: int) -> None:
    """A recorded random game is read back and replays to the same positions."""

    class _Random:
        name = "random"
        rng = np.random.default_rng(seed)

        def think(self, state: State) -> Thought:
            return Thought(int(self.rng.choice(state.legal_actions())))

    record = play_match(game, [_Random()] * game.players, seed)
    again = parse_record(record.to_lines())
    require(again == record, "a record does not survive its file format")
    last = None
    for _, state in replay(again):
        last = state
    require(last is not None and last.is_terminal, "a replayed record does not reach the end")


def check_kernels(game: Game, seed: int) -> None:
    """Every kernel is compiled for one set of types only; the decorator sees to it that none allocates.

    A caller that passes a literal row number makes numba compile once more: a waste, but the caller's and no fault.
    """
    if numba_config.DISABLE_JIT:
        return
    state = _random_state(game, seed, plies=10)
    _check_legal_here(game, state)
    for name in KERNELS:
        signatures = {tuple(map(unliteral, one)) for one in getattr(game.spec.rules, name).signatures}
        require(len(signatures) <= 1, f"kernel {name} is compiled for {len(signatures)} signatures")


CHECKS: tuple[Callable[[Game, int], None], ...] = (
    check_layout,
    check_start,
    check_legal_actions,
    check_words,
    check_structs,
    check_observations,
    check_action_planes,
    check_hidden_information,
    check_other_rows,
    check_chance,
    check_end,
    check_batches,
    check_illegal_actions,
    check_record,
    check_kernels,
)


def _random_state(game: Game, seed: int, plies: int) -> State:
    """Return a game after some random actions, its chance resolved by the seed."""
    state, stream = game.new_state(seed), streams(seed + 1, 1)
    actions = np.zeros(1, np.int64)
    for _ in range(plies):
        if state.is_terminal:
            break
        game.loops["random_rows"](state.row, stream, actions)
        state.step(int(actions[0]))
    return state


def _positions(game: Game, seed: int, chance: bool = False) -> Iterator[State]:
    """Yield copies of positions of random games: where a seat is to move, and with `chance` all others too."""
    state, rng = game.new_state(), np.random.default_rng(seed)
    for _ in range(PLIES_LOOKED_AT):
        mover = state.to_move
        if mover >= 0 or chance:
            yield state.clone()
        if mover == TERMINAL:
            state = game.new_state()
        elif mover == CHANCE:
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            state.resolve(int(rng.choice(outcomes, p=odds)))
        else:
            state.step(int(rng.choice(state.legal_actions())))
