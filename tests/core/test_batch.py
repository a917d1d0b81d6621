"""Many games at once: the same games for any number of rows and threads, refused whole when one action is illegal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from caravan_env import Batch
from caravan_env.core.errors import CaravanError, GameOver, IllegalAction
from caravan_env.core.game import Game, State
from caravan_env.core.registry import game_spec
from caravan_env.core.rng import streams

VIEWS = ("S", "seats", "mask", "counts", "obs", "returns", "ended")


def everything(batch: Batch, rows: slice = slice(None)) -> bytes:
    return b"".join(getattr(batch, name)[rows].tobytes() for name in VIEWS)


def short(game: Game) -> Game:
    """A variant whose random games end soon, if the game has a turn limit, so that tests see many ends."""
    switches = {name for name, *_ in game.spec.params_type.describe()}
    return Game(game.spec, {"turn_limit": 8} if "turn_limit" in switches else {})


def test_shapes_and_types(game: Game) -> None:
    batch = Batch(game, 5, seed=1)
    assert batch.S.shape == (5,) and batch.S.dtype == game.spec.state_dtype
    assert batch.mask.shape == (5, game.num_actions) and batch.mask.dtype == np.uint8
    assert batch.obs.shape == (5, game.layout.size) and batch.obs.dtype == np.uint8
    assert batch.returns.shape == (5, game.players) and batch.ended.shape == (5,)
    assert np.array_equal(batch.counts, batch.mask.sum(axis=1)) and (batch.counts > 0).all()


def test_a_row_is_a_state(game: Game) -> None:
    """Views and steps of every row are what a State of it says."""
    game = short(game)
    batch = Batch(game, 6, seed=3)
    states = [State(game, batch.S[i : i + 1].copy()) for i in range(6)]
    for i, state in enumerate(states):
        state._draws_chance, state._stream = True, batch._chance[i : i + 1].copy()
    for _ in range(60):
        actions = batch.random_actions()
        batch.step(actions)
        for i, state in enumerate(states):
            state.step(int(actions[i]))
            assert bool(batch.ended[i]) == state.is_terminal
            if state.is_terminal:
                assert np.array_equal(batch.returns[i], state.returns())
                stream = state._stream
                states[i] = state = State(game, game.new_rows(1))
                state._draws_chance, state._stream = True, stream
                game.loops["settle"](state.row, 0, stream, 0, state._weights)
            assert state.row.tobytes() == batch.S[i : i + 1].tobytes()
            assert state.to_move == batch.seats[i]
            assert np.array_equal(state.action_mask(), batch.mask[i])
            assert np.array_equal(state.observe(state.to_move), game.layout.scaled(batch.obs[i]))


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_rows_do_not_depend_on_their_number_or_on_threads(game: Game, threads: int) -> None:
    game = short(game)
    few, many = Batch(game, 3, seed=9), Batch(game, 20, seed=9, threads=threads)
    for _ in range(80):
        few.step(few.random_actions())
        many.step(many.random_actions())
    assert everything(few) == everything(many, slice(3))


def test_more_threads_than_rows(toy: Game) -> None:
    one, many = Batch(toy, 2, seed=0), Batch(toy, 2, seed=0, threads=8)
    for _ in range(20):
        one.step(one.random_actions())
        many.step(many.random_actions())
    assert everything(one) == everything(many)


@pytest.mark.parametrize("method", ["step", "play"])
def test_an_illegal_action_leaves_every_row(game: Game, method: str) -> None:
    batch = Batch(game, 6, seed=2)
    for _ in range(5):
        batch.step(batch.random_actions())
    before = everything(batch), batch._chance.tobytes()
    actions = batch.random_actions()
    illegal = int(np.flatnonzero(batch.mask[4] == 0)[0]) if (batch.mask[4] == 0).any() else game.num_actions
    for wrong in (illegal, -1, game.num_actions, 2**62):
        chosen = actions.copy()
        chosen[4] = chosen[5] = wrong
        with pytest.raises(IllegalAction) as error:
            getattr(batch, method)(chosen)
        assert str(error.value).startswith(f"row 4: action {wrong} ")
        words = game.spec.text.action_text(batch.S, 4, wrong) if 0 <= wrong < game.num_actions else "does not exist"
        assert words in str(error.value)
        assert (everything(batch), batch._chance.tobytes()) == before
    getattr(batch, method)(actions)


@pytest.mark.parametrize(
    "actions",
    [np.zeros(3, np.int64), np.zeros((4, 1), np.int64), np.zeros(4), np.zeros(4, bool), ["a"] * 4, 3, None],
)
def test_actions_of_a_wrong_shape_or_type(toy: Game, actions: Any) -> None:
    batch = Batch(toy, 4)
    before = everything(batch)
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(4,\), not"):
        batch.step(actions)
    assert everything(batch) == before


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint64, np.int64])
def test_actions_of_any_integer_type(toy: Game, dtype: Any) -> None:
    batch, reference = Batch(toy, 4), Batch(toy, 4)
    for _ in range(10):
        actions = reference.random_actions()
        reference.step(actions)
        batch.step(np.repeat(actions, 2).astype(dtype)[::2])  # strided too
    assert everything(batch) == everything(reference)
    assert len(toy.loops["advance_rows"].signatures) == 1


@pytest.mark.parametrize("which", [np.ones(3), np.ones((4, 1)), True])
def test_which_of_a_wrong_shape(toy: Game, which: Any) -> None:
    batch = Batch(toy, 4)
    for call in (batch.reset, batch.start, lambda w: batch.play(batch.random_actions(), w)):
        with pytest.raises(ValueError, match=r"which must have the shape \(4,\)"):
            call(which)


def test_ended_and_returns_speak_of_the_game_that_ended(game: Game) -> None:
    game = short(game)
    batch = Batch(game, 8, seed=4)
    ends = 0
    last = batch.returns.copy()
    for _ in range(1000):
        before = batch.S.copy()
        actions, chance = batch.random_actions(), batch._chance.copy()
        batch.step(actions)
        for i in np.flatnonzero(batch.ended):
            state = State(game, before[i : i + 1].copy())
            state._draws_chance, state._stream = True, chance[i : i + 1]
            state.step(int(actions[i]))
            assert state.is_terminal and np.array_equal(batch.returns[i], state.returns())
            assert batch.seats[i] >= 0 and batch.counts[i] > 0  # the position to play now is the next game's
        going = batch.ended == 0
        assert np.array_equal(batch.returns[going], last[going])  # kept until the row's next end
        last = batch.returns.copy()
        ends += int(batch.ended.sum())
        if ends > 8:
            return
    raise AssertionError(f"only {ends} games of {game!r} ended")


def test_play_leaves_finished_games_finished(toy: Game) -> None:
    batch, twin = Batch(toy, 6, seed=5), Batch(toy, 6, seed=5)
    finished = np.zeros(6, bool)
    for _ in range(200):
        actions = batch.random_actions()
        batch.play(actions, ~finished)
        assert not (batch.ended[finished]).any()
        finished |= batch.ended == 1
        if finished.all():
            break
        batch.refresh()
        assert (batch.seats[finished] == -2).all() and not batch.mask[finished].any()
        assert not batch.obs[finished].any() and not batch.counts[finished].any()
    assert finished.all()
    with pytest.raises(GameOver, match="row 0: this game is over; reset the row to go on"):
        batch.play(np.zeros(6, np.int64))
    with pytest.raises(GameOver, match="row 0: this game is over"):
        batch.step(np.zeros(6, np.int64))
    # step() starts anew what play() leaves; until then both play the same games from the same streams.
    over = np.zeros(6, bool)
    for _ in range(200):
        twin.step(twin.random_actions())
        new = (twin.ended == 1) & ~over
        assert np.array_equal(twin.returns[new], batch.returns[new])
        over |= new
    assert over.all()


def test_play_only_in_chosen_rows(game: Game) -> None:
    batch = Batch(game, 5, seed=6)
    before = batch.S.copy()
    actions = batch.random_actions()
    actions[[0, 2, 4]] = -1  # not looked at
    batch.play(actions, np.array([0, 1, 0, 1, 0]))
    changed = [batch.S[i].tobytes() != before[i].tobytes() for i in range(5)]
    assert changed == [False, True, False, True, False]


def test_reset_of_chosen_rows(game: Game) -> None:
    batch = Batch(game, 5, seed=7)
    for _ in range(15):
        batch.step(batch.random_actions())
    before, chance = batch.S.copy(), batch._chance.copy()
    which = np.array([True, False, False, True, False])
    batch.reset(which)
    kept = [batch.S[i].tobytes() == before[i].tobytes() for i in range(5)]
    assert [kept[i] for i in (1, 2, 4)] == [True] * 3
    for i in (0, 3):
        start = game.new_rows(1)
        game.loops["settle"](start, 0, chance, i, np.zeros(game.spec.max_outcomes, np.int64))
        assert batch.S[i].tobytes() == start[0].tobytes() != before[i].tobytes()
    seats = [game.spec.rules.to_move(batch.S, i) for i in range(5)]
    assert list(batch.seats) == seats


def test_a_copied_row_goes_on_in_the_same_way(game: Game) -> None:
    """Snapshot and restore: a row, put anywhere, and its streams decide everything that follows."""
    game = short(game)
    batch = Batch(game, 4, seed=8)
    for _ in range(9):
        batch.step(batch.random_actions())
    snapshot = batch.S[1:2].copy(), batch._chance[1], batch._picks[1]
    other = Batch(game, 3, seed=99)
    other.S[2:3], other._chance[2], other._picks[2] = snapshot
    other.refresh()
    for _ in range(60):
        batch.step(batch.random_actions())
        other.step(other.random_actions())
        assert all(getattr(batch, view)[1].tobytes() == getattr(other, view)[2].tobytes() for view in VIEWS[:5])
        assert batch.ended[1] == other.ended[2]
        assert not batch.ended[1] or np.array_equal(batch.returns[1], other.returns[2])
    batch.S[1:2] = snapshot[0]
    batch.refresh()
    again = State(game, snapshot[0].copy())
    assert batch.seats[1] == again.to_move and np.array_equal(batch.mask[1], again.action_mask())


def test_observe_any_seat(game: Game) -> None:
    batch = Batch(game, 4, seed=1)
    for _ in range(6):
        batch.step(batch.random_actions())
    assert np.array_equal(batch.observe(batch.seats), batch.obs)
    for seat in range(game.players):
        seen = game.layout.scaled(batch.observe(np.full(4, seat)))
        assert all(np.array_equal(seen[i], State(game, batch.S[i : i + 1].copy()).observe(seat)) for i in range(4))
    for seats in (np.zeros(3), np.full(4, game.players), np.full(4, -1)):
        with pytest.raises(ValueError, match="seats must be 4 numbers from 0 to"):
            batch.observe(seats)


@pytest.mark.parametrize(("rows", "threads"), [(0, 1), (-1, 1), (2, 0)])
def test_impossible_sizes(toy: Game, rows: int, threads: int) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        Batch(toy, rows, threads=threads)


def test_random_actions_are_uniform(toy: Game) -> None:
    rows = 4_000
    batch = Batch(toy, rows, seed=3)
    assert (batch.counts == 4).all()  # take 1, 2, 3, or pass
    counts = np.bincount(batch.random_actions(), minlength=4)
    assert (abs(counts - rows / 4) < 5 * np.sqrt(rows * 3 / 16)).all()


@pytest.mark.parametrize("steps", [1, 50])
def test_rollouts_in_the_kernel_are_steps_of_a_batch(game: Game, steps: int) -> None:
    game = short(game)
    batch = Batch(game, 4, seed=2)
    S, chance, picks = batch.S.copy(), batch._chance.copy(), batch._picks.copy()
    weights = np.zeros(game.spec.max_outcomes, np.int64)
    games = game.loops["random_rollout"](S, chance, weights, picks, game.template, steps)
    ends = 0
    for _ in range(steps):
        batch.step(batch.random_actions())
        ends += int(batch.ended.sum())
    assert (S.tobytes(), chance.tobytes(), picks.tobytes()) == (
        batch.S.tobytes(),
        batch._chance.tobytes(),
        batch._picks.tobytes(),
    )
    assert games == ends


def test_a_playout_ends_the_game(game: Game) -> None:
    game = short(game)
    row, values = game.new_rows(1), np.zeros(game.players)
    weights = np.zeros(game.spec.max_outcomes, np.int64)
    played = game.loops["random_playout"](row, 0, streams(3, 1), 0, weights, values)
    state = State(game, row)
    assert played > 0 and state.is_terminal and np.array_equal(values, state.returns())


def test_errors_name_no_game_in_particular() -> None:
    batch = Batch(Game(game_spec("heap")), 2)
    with pytest.raises(CaravanError, match="row 0: action 9 does not exist: heap has the actions 0 to 3"):
        batch.step(np.array([9, 0]))
