"""Value networks: what the kernels compute, what the features of the games are, and how agents play by them."""

from __future__ import annotations

import copy
import importlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.neural import BadCheckpoint, load_policy
from agents.registry import heuristics, make_agent
from agents.value.agent import ValueAgent
from agents.value.binding import Bound, bound, new_ahead, new_beam
from agents.value.network import ValueNetwork
from caravan_env import Batch, Game, State, make_game
from caravan_env.core.errors import BadParams, UnknownName
from caravan_env.core.game import copy_rows
from caravan_env.core.rng import next_u64, streams
from tests.century.build import automa_of, position, seat_of
from train.checkpoint import write_checkpoint

SEATS = [("caravan", range(2, 5)), ("century", range(1, 6)), ("ukraine", range(2, 7))]
TABLES = [(name, players) for name, seats in SEATS for players in seats]
NAMES = [name for name, _ in SEATS]
FIVE = "YYYGG=9 RRGG=10 RRRRR=10 YYBB=10 YYGGG=11"
NINE_TAKEN = "YYRR=6 YYYRR=7 YYGG=8 YYRRR=8"


@cache
def game_of(name: str, players: int = 2) -> Game:
    return make_game(name, players=players)


@cache
def positions(name: str, players: int = 2, rows: int = 6, actions: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Return positions that random play reaches, spread over the first `actions` actions, and their masks."""
    batch = Batch(game_of(name, players), rows, seed=7)
    kept = []
    for action in range(actions):
        if action % 8 == 0:
            kept.append((batch.S.copy(), batch.mask.copy()))
        batch.step(batch.random_actions())
    return np.concatenate([S for S, _ in kept]), np.concatenate([mask for _, mask in kept])


def network_for(game: Game, features: bool = True, seed: int = 0) -> ValueNetwork:
    """Return a network with random weights everywhere."""
    count = bound(game, features).features
    start = ValueNetwork.new(0 if count else game.layout.size, count, (16, 8), seed)
    rng = np.random.default_rng(seed)
    noise = {name: rng.normal(0, 0.1, array.shape).astype(np.float32) for name, array in start.tensors.items()}
    return ValueNetwork({name: array + noise[name] for name, array in start.tensors.items()})


def observation(game: Game, S: np.ndarray, seat: int) -> np.ndarray:
    obs = np.empty((1, game.layout.size), np.uint8)
    game.loops["observe_rows"](S, np.array([seat]), obs)
    return obs


def features_of(parts: Bound, S: np.ndarray, i: int, seat: int) -> np.ndarray:
    """Return the features of a row, and check that all of them are written and nothing else."""
    memory = np.full(parts.features + 8, np.nan, np.float32)
    if parts.features:
        parts.kernels["features"](S, i, seat, parts.scratch, memory[: parts.features])
    assert np.isnan(memory[parts.features :]).all()
    return memory[: parts.features]


def forward(network: ValueNetwork, game: Game, parts: Bound, S: np.ndarray, seat: int) -> float:
    """Return the value of a single row by the formula."""
    t = network.tensors
    feats = features_of(parts, S, 0, seat).astype(np.float64)
    seen = game.layout.scaled(observation(game, S, seat))[0] if network.observation else np.zeros(0)
    first = np.maximum(t["into.weight"] @ np.concatenate([seen, feats]) + t["into.bias"], 0)
    second = np.maximum(t["middle.weight"] @ first + t["middle.bias"], 0)
    return float(np.tanh(t["out.weight"][0] @ second + t["skip.weight"][0] @ feats))


# --- the network in the kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [True, False], ids=["features", "plain"])
@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_that_of_the_formula_whatever_position_was_looked_at_before(name: str, features: bool) -> None:
    game = game_of(name)
    parts, network = bound(game, features), network_for(game, features)
    assert (network.features > 0) == features == (network.observation == 0)
    net, run = network.net(game), parts.run
    values = []
    for row, mask in zip(*positions(name), strict=True):
        before = np.repeat(row, 1)
        after = copy_rows(before)
        seat = int(game.spec.rules.to_move(before, 0))
        game.spec.rules.step(after, 0, int(np.flatnonzero(mask)[-1]))
        run["look"](before, 0, seat, net)
        incremental = run["value_after"](after, 0, seat, net, parts.scratch)
        run["look"](after, 0, seat, net)
        values.append(run["value_after"](after, 0, seat, net, parts.scratch))
        assert incremental == pytest.approx(values[-1], abs=1e-4)
        assert values[-1] == pytest.approx(forward(network, game, parts, after, seat), abs=1e-4)
    assert np.std(values) > 1e-3


def test_a_new_network_says_what_the_games_own_evaluation_says() -> None:
    game = game_of("century")
    network = ValueNetwork.new(0, bound(game).features, (8, 8))
    S, _ = positions("century")
    module: Any = heuristics("century")
    for i in range(len(S)):
        value = forward(network, game, bound(game), S[i : i + 1], 1)
        assert value == pytest.approx(module.potential(S[i : i + 1], np.ones(1, np.int64))[0], abs=1e-5)


# --- features and candidates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_features_are_finite_begin_with_the_potential_and_tell_nothing_hidden(name: str, players: int) -> None:
    game = game_of(name, players)
    parts, module = bound(game), heuristics(name)
    assert module is not None
    assert parts.features == importlib.import_module(f"agents.heuristic.{name}.features").size(players)
    S, _ = positions(name, players)
    lots = streams(3, 1)
    for i in range(len(S)):
        for seat in range(players):
            feats = features_of(parts, S, i, seat)
            assert np.isfinite(feats).all()
            potential = module.potential(S[i : i + 1], np.array([seat]))[0]
            assert np.tanh(np.float64(feats[0])) == pytest.approx(potential, abs=1e-5)
            drawn = copy_rows(S[i : i + 1])
            game.spec.rules.resample(drawn, 0, seat, lots, 0)
            np.testing.assert_array_equal(features_of(parts, drawn, 0, seat), feats)


def test_something_is_hidden_on_the_map() -> None:
    game, lots = game_of("ukraine", 3), streams(3, 1)
    S, _ = positions("ukraine", 3)
    drawn = copy_rows(S)
    for i in range(len(S)):
        game.spec.rules.resample(drawn, i, 0, lots, 0)
    assert drawn.tobytes() != S.tobytes()


@pytest.mark.parametrize("features", [True, False], ids=["features", "plain"])
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_candidates_are_legal_not_none_and_each_once(name: str, players: int, features: bool) -> None:
    game = game_of(name, players)
    parts = bound(game, features)
    choose = parts.kernels["candidates"] if features else parts.run["candidates"]
    S, mask = positions(name, players)
    actions = np.zeros(game.num_actions, np.int64)
    for i in range(len(S)):
        found = actions[: choose(S, i, parts.scratch, actions)]
        assert len(found) > 0
        assert mask[i, found].all()
        assert len(set(found.tolist())) == len(found)
        assert features or len(found) == mask[i].sum()


# --- agents ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beam", [0, 4])
@pytest.mark.parametrize(("name", "players"), TABLES)
def test_choices_are_legal_and_do_not_depend_on_the_batch(name: str, players: int, beam: int) -> None:
    game = game_of(name, players)
    network = network_for(game)

    def agent() -> ValueAgent:
        return ValueAgent(game, network, seed=4, beam=beam, depth=3)

    S, mask = positions(name, players)
    before = S.tobytes()
    together = agent().act_rows(S, mask)
    assert S.tobytes() == before
    assert mask[np.arange(len(S)), together].all()
    parts = np.array_split(np.arange(len(S)), 7)
    one = agent()
    np.testing.assert_array_equal(np.concatenate([one.act_games(S[p], mask[p], p) for p in parts]), together)
    twin = copy.deepcopy(agent())
    assert (twin.beam, twin.depth) == (beam, 3)
    np.testing.assert_array_equal(twin.act_rows(S, mask), together)
    state = State(game, copy_rows(S[:1]))
    thought = agent().think(state)
    assert thought.action == agent().act(state) == together[0]
    assert thought.value is not None
    assert -1 <= thought.value <= 1


def test_one_action_ahead_is_the_best_of_all_actions() -> None:
    game = game_of("century")
    network, parts = network_for(game), bound(game)
    S, mask = positions("century")
    chosen = ValueAgent(game, network).act_rows(S, mask)
    for i in range(0, len(S), 5):
        values = {}
        for action in np.flatnonzero(mask[i]):
            after = copy_rows(S[i : i + 1])
            seat = int(game.spec.rules.to_move(after, 0))
            game.spec.rules.step(after, 0, int(action))
            if game.spec.rules.to_move(after, 0) != -2:
                values[int(action)] = forward(network, game, parts, after, seat)
        assert values[int(chosen[i])] >= max(values.values()) - 1e-4


def test_a_wide_beam_finds_at_least_as_good_an_end_of_the_turn() -> None:
    game = game_of("caravan")
    parts, net = bound(game), network_for(game).net(game)
    S, _ = positions("caravan")
    narrow, wide = new_beam(game, 1, 4), new_beam(game, 1024, 4)
    gains = []
    for i in range(0, len(S), 4):
        values = [beam.values[parts.run["search_turn"](S, i, 4, net, parts.scratch, beam)] for beam in (narrow, wide)]
        gains.append(values[1] - values[0])
    assert min(gains) >= -1e-4
    assert max(gains) > 1e-3


# --- plans -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_ends_of_a_turn_are_what_their_paths_lead_to(name: str) -> None:
    game = game_of(name)
    parts, net, beam = bound(game), network_for(game).net(game), new_beam(game, 3, 4, ends=5)
    S, _ = positions(name)
    ends = 0
    for i in range(0, len(S), 3):
        best = parts.run["search_turn"](S, i, 4, net, parts.scratch, beam)
        first = int(beam.starts[2])
        found = range(first, first + int(beam.counts[2]))
        for place in found:
            row = copy_rows(S[i : i + 1])
            parts.run["follow"](row, 0, place, beam)
            assert row.tobytes() == beam.rows[place : place + 1].tobytes()
            assert beam.values[place] <= beam.values[best]
        assert len({beam.rows[place].tobytes() for place in found}) == len(found)
        ends += len(found)
    assert ends > len(S) / 3


def test_a_turn_is_played_as_it_was_planned() -> None:
    game = game_of("caravan")
    agent, state = ValueAgent(game, network_for(game), beam=4), game.new_state(seed=3)
    longest = 0
    for _ in range(12):
        seat, thoughts = state.to_move, []
        while state.to_move == seat:
            thoughts.append(agent.think(state))
            state.step(thoughts[-1].action)
        longest = max(longest, len(thoughts))
        assert len({thought.value for thought in thoughts}) == 1
    assert longest > 2


def test_a_plan_is_dropped_where_it_has_become_illegal(monkeypatch: pytest.MonkeyPatch) -> None:
    game = game_of("caravan")
    agent, state = ValueAgent(game, network_for(game), beam=4), game.new_state(seed=3)
    legal = int(np.flatnonzero(state.action_mask())[0])
    after = copy_rows(state.row)
    game.spec.rules.step(after, 0, legal)
    illegal = int(np.flatnonzero(State(game, after).action_mask() == 0)[0])

    def decide(row: np.ndarray, games: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        agent._beam.chosen[0], agent._beam.lengths[0], agent._beam.paths[0, :2] = 0, 2, (legal, illegal)
        return np.array([legal]), np.zeros(1)

    monkeypatch.setattr(agent, "_decide", decide)
    state.step(agent.think(state).action)
    monkeypatch.undo()
    assert state.action_mask()[agent.think(state).action]


def test_a_plan_is_dropped_where_the_position_is_another() -> None:
    game = game_of("caravan")
    agent, state = ValueAgent(game, network_for(game), beam=4), game.new_state(seed=3)
    state.step(agent.act(state))
    other = game.new_state(seed=8)
    assert agent.act(other) == ValueAgent(game, network_for(game), beam=4).act(other)
    two = [game.new_state(seed=3), game.new_state(seed=8)]
    side_by_side, alone = (
        ValueAgent(game, network_for(game), beam=4),
        [agent, ValueAgent(game, network_for(game), beam=4)],
    )
    for _ in range(8):
        rows = np.concatenate([state.row for state in two])
        mask = np.stack([state.action_mask() for state in two])
        chosen = side_by_side.act_rows(rows, mask)
        for k, state in enumerate(two):
            assert chosen[k] == alone[k].act(state)
            state.step(int(chosen[k]))


# --- the end of a game -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("returns", ["win", "margin"])
def test_a_finished_game_is_worth_its_return_between_minus_one_and_one(returns: str) -> None:
    game = make_game("caravan", players=3, returns=returns)
    state, greedy = game.new_state(seed=2), make_agent("greedy", game)
    while not state.is_terminal:
        state.step(greedy.act(state))
    net = network_for(game).net(game)
    found = [bound(game).run["final_value"](state.row, 0, seat, net) for seat in range(3)]
    expected = np.tanh(state.returns() / 20) if returns == "margin" else state.returns()
    assert np.any(expected != 0)
    np.testing.assert_allclose(found, expected, atol=1e-12)


# --- beyond one's own turn -------------------------------------------------------------------------------------------


def played_on(game: Game, network: ValueNetwork, row: np.ndarray, seat: int, stream: np.ndarray) -> float:
    """Return what playing on from an end of a turn comes to, with what `decide_rows` says of each turn."""
    parts, net, rules = bound(game), network.net(game), game.spec.rules
    beam, ahead = new_beam(game, 2, 4), new_ahead(game, 1, 0, 1, 1)
    row, weights, others = copy_rows(row), np.zeros(game.spec.max_outcomes, np.int64), game.players == 1
    while True:
        mover = game.loops["settle"](row, 0, stream, 0, weights)
        if mover < 0:
            return float(parts.run["final_value"](row, 0, seat, net))
        chosen, values = np.zeros(1, np.int64), np.zeros(1)
        parts.run["decide_rows"](row, np.zeros(1, np.uint64), 4, net, parts.scratch, beam, ahead, chosen, values)
        if mover == seat and others:
            return float(values[0])
        others |= mover != seat
        for action in beam.paths[beam.chosen[0], : beam.lengths[beam.chosen[0]]]:
            rules.step(row, 0, int(action))


@pytest.mark.parametrize(("name", "players"), [("caravan", 2), ("caravan", 3), ("century", 1), ("century", 3)])
def test_playing_on_goes_through_the_turns_of_the_others_to_the_next_of_ones_own(name: str, players: int) -> None:
    game = game_of(name, players)
    network, parts = network_for(game), bound(game)
    beam, ahead = new_beam(game, 2, 4, ends=3), new_ahead(game, 3, 1, 2, 4)
    S, _ = positions(name, players)
    for i in range(0, len(S), 5):
        seat = int(game.spec.rules.to_move(S, i))
        net = network.net(game)
        parts.run["search_turn"](S, i, 4, net, parts.scratch, beam)
        for place in range(int(beam.starts[2]), int(beam.starts[2] + beam.counts[2])):
            ahead.stream[0], own = 7, np.array([7], np.uint64)
            value = parts.run["play_on"](place, seat, 4, net, parts.scratch, beam, ahead)
            assert value == pytest.approx(played_on(game, network, beam.rows[place : place + 1], seat, own), abs=1e-6)
            assert ahead.stream[0] == own[0]


def test_each_time_an_end_is_played_on_chance_has_a_stream_of_its_own() -> None:
    game = game_of("caravan")
    network, parts = network_for(game), bound(game)
    net, beam, ahead = network.net(game), new_beam(game, 2, 4, ends=3), new_ahead(game, 3, 3, 2, 4)
    S, _ = positions("caravan")
    for i in range(0, len(S), 9):
        parts.run["search_turn"](S, i, 4, net, parts.scratch, beam)
        seat, place = int(game.spec.rules.to_move(S, i)), int(beam.starts[2])
        ahead.totals[:], ahead.played[:] = 0, 0
        parts.run["play_on_often"](place, seat, np.uint64(5), 4, net, parts.scratch, beam, ahead)
        starts = [np.array([next_u64(np.array([start], np.uint64), 0)]) for start in (5, 6, 7)]
        total = sum(played_on(game, network, beam.rows[place : place + 1], seat, start) for start in starts)
        assert ahead.totals[0] == pytest.approx(total, abs=1e-6)


def test_ends_are_played_on_the_more_often_the_better_they_are() -> None:
    game = game_of("caravan")
    network, parts = network_for(game), bound(game)
    net, beam, ahead = network.net(game), new_beam(game, 8, 4, ends=8), new_ahead(game, 8, 2, 1, 4)
    S, _ = positions("caravan")
    for i in range(0, len(S), 7):
        best = parts.run["search_ahead"](S, i, streams(5, 1), 0, 4, net, parts.scratch, beam, ahead)
        count = int(beam.counts[2])
        played, values = ahead.played[:count].tolist(), beam.values[beam.starts[2] : beam.starts[2] + count]
        if count == 8:
            assert sorted(played) == [-1] * 6 + [6] * 2
        kept = [k for k in range(count) if played[k] > 0]
        assert best - beam.starts[2] in kept
        for k in kept:
            assert values[k] == pytest.approx(ahead.totals[k] / played[k])
            assert values[k] <= beam.values[best]


@pytest.mark.parametrize(("name", "players"), [("caravan", 4), ("century", 1), ("ukraine", 3)])
def test_looking_ahead_is_repeated_by_its_seed(name: str, players: int) -> None:
    game = game_of(name, players)
    S, mask = positions(name, players)
    S, mask = S[:6], mask[:6]
    options = {"beam": 3, "depth": 3, "ends": 4, "samples": 1, "reply": 1}
    agents = [ValueAgent(game, network_for(game), seed=4, **options) for _ in range(2)]
    first, again = (agent.act_rows(S, mask) for agent in agents)
    np.testing.assert_array_equal(first, again)
    assert mask[np.arange(len(S)), first].all()


@pytest.mark.parametrize("beam", [0, 1, 8])
def test_a_win_within_one_action_is_taken(beam: int) -> None:
    left: list[str | None] = ["RRRR=8", *[None] * 9]
    state = position(seat_of("RRRR", points=FIVE), points=left, automa=automa_of("", points=NINE_TAKEN))
    thought = ValueAgent(state.game, network_for(state.game), beam=beam).think(state)
    assert state.action_text(thought.action) == "claim RRRR=8 at place 1"
    assert thought.value == 1.0


@pytest.mark.parametrize(
    "options", [{"beam": -1}, {"beam": 4097}, {"depth": 0}, {"depth": 65}, {"ends": 0}, {"samples": -1}, {"reply": 0}]
)
def test_impossible_options_get_a_sentence(options: dict[str, int]) -> None:
    game = game_of("century")
    ((name, value),) = options.items()
    with pytest.raises(BadParams, match=f"value:{name} = {value} is not possible: "):
        ValueAgent(game, network_for(game), **options)


def test_playing_on_needs_a_search_of_the_turn() -> None:
    game = game_of("century")
    with pytest.raises(BadParams, match="samples = 2 is not possible without a search of the turn: set beam"):
        ValueAgent(game, network_for(game), samples=2)


# --- checkpoints -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a checkpoint of a value network of Century."""
    path = tmp_path_factory.mktemp("value")
    about = {"network": {"kind": "value", "widths": [16, 8]}, "step": 5, "config": "abc"}
    game = game_of("century")
    write_checkpoint(path, game, about, dict(network_for(game).tensors), {}, {})
    return path


@pytest.fixture(scope="module")
def other_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with a checkpoint that says it is of a policy."""
    path = tmp_path_factory.mktemp("policy")
    about = {"network": {"kind": "mlp", "trunk": [], "policy": [], "value": []}, "step": 5, "config": "abc"}
    write_checkpoint(path, game_of("century"), about, {"policy.0.bias": np.zeros(1, np.float32)}, {}, {})
    return path


def test_a_spec_names_a_value_network_and_its_search(folder: Path) -> None:
    game = game_of("century")
    agent = make_agent(f"policy:{folder},beam=4,depth=3", game, seed=2)
    assert isinstance(agent, ValueAgent)
    assert (agent.beam, agent.depth, agent.name) == (4, 3, f"policy:{folder},beam=4,depth=3")
    S, mask = positions("century")
    plain = load_policy(folder, game, seed=2)
    assert isinstance(plain, ValueAgent)
    chosen = ValueAgent(game, network_for(game), seed=2).act_rows(S, mask)
    np.testing.assert_array_equal(plain.act_rows(S, mask), chosen)
    for name, array in plain.network.tensors.items():
        np.testing.assert_array_equal(array, network_for(game).tensors[name])


def test_bad_options_of_a_policy_get_a_sentence(folder: Path, other_folder: Path) -> None:
    game = game_of("century")
    with pytest.raises(BadParams, match="beam = 5000 is not possible: 0 to 4096"):
        make_agent(f"policy:{folder},beam=5000", game)
    with pytest.raises(BadParams, match="policy:beam = 'x' is not possible"):
        make_agent(f"policy:{folder},beam=x", game)
    with pytest.raises(UnknownName, match="has no option 'width'"):
        make_agent(f"policy:{folder},width=4", game)
    with pytest.raises(UnknownName, match="has no option 'beam': only value networks search"):
        make_agent(f"policy:{other_folder},beam=4", game)


@pytest.mark.parametrize(("observed", "features"), [(0, 5), (7, 0)])
def test_a_network_of_other_inputs_is_refused(tmp_path: Path, observed: int, features: int) -> None:
    game, network = game_of("century"), ValueNetwork.new(observed, features, (4, 4))
    about = {"network": {"kind": "value", "widths": [4, 4]}, "step": 5, "config": "abc"}
    write_checkpoint(tmp_path, game, about, dict(network.tensors), {}, {})
    sentence = f"reads {observed} observed values and {features} features; century has "
    with pytest.raises(BadCheckpoint, match=sentence):
        make_agent(f"policy:{tmp_path}", game)
    with pytest.raises(BadCheckpoint, match=sentence):
        make_agent(f"mcts:30,leaf={tmp_path}", game)


def test_tree_search_judges_by_a_value_network(folder: Path, other_folder: Path, tmp_path: Path) -> None:
    game = game_of("century")
    agent = make_agent(f"mcts:30,leaf={folder}", game, seed=1)
    S, mask = positions("century")
    chosen = agent.act_rows(S[:6], mask[:6])
    assert mask[np.arange(6), chosen].all()
    np.testing.assert_array_equal(make_agent(f"mcts:30,leaf={folder}", game, seed=1).act_rows(S[:6], mask[:6]), chosen)
    with pytest.raises(BadParams, match="mcts:leaf = .* is not possible: heuristic, rollout or the folder of a policy"):
        make_agent(f"mcts:30,leaf={tmp_path / 'none'}", game)
    with pytest.raises(BadCheckpoint, match="there is no checkpoint in"):
        make_agent(f"mcts:30,leaf={tmp_path}", game)
    with pytest.raises(BadCheckpoint, match="the weights of the policy .* do not lead from"):
        make_agent(f"mcts:30,leaf={other_folder}", game)
