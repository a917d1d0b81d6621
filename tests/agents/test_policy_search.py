"""Tree search guided by a trained policy, and which actions a search looks at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.network import Network
from agents.neural import BadCheckpoint, observe
from agents.registry import heuristics, make_agent
from agents.search.agent import MctsAgent
from agents.search.evaluators import bind
from agents.search.policy_judge import Shaping, evaluator
from agents.search.tree import ROOT
from agents.value.agent import evaluator as value_evaluator
from agents.value.binding import bound
from agents.value.network import ValueNetwork
from caravan_env import Batch, Game, State, make_game
from caravan_env.core.contract import CHANCE
from caravan_env.core.game import copy_rows
from tests.century.build import automa_of, position, seat_of
from train.checkpoint import write_checkpoint

UNSHAPED = Shaping(weight=0.0)
WIDTHS = {"trunk": [24], "policy": [16], "value": [8]}
FIVE = "YYYGG=9 RRGG=10 RRRRR=10 YYBB=10 YYGGG=11"
NINE_TAKEN = "YYRR=6 YYYRR=7 YYGG=8 YYRRR=8"


@cache
def game_of(name: str, players: int, returns: str = "win") -> Game:
    return make_game(name, players=players, returns=returns)


@cache
def positions(name: str, players: int, rows: int = 4, actions: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Return positions that random play reaches, and their masks."""
    batch = Batch(game_of(name, players), rows, seed=7)
    kept = []
    for action in range(actions):
        if action % 8 == 0:
            kept.append((batch.S.copy(), batch.mask.copy()))
        batch.step(batch.random_actions())
    return np.concatenate([S for S, _ in kept]), np.concatenate([mask for _, mask in kept])


def tensors_for(game: Game, widths: dict[str, list[int]] = WIDTHS, seed: int = 0) -> dict[str, np.ndarray]:
    """Return random weights of a policy."""
    rng, tensors = np.random.default_rng(seed), {}
    stem = [game.layout.size, *widths["trunk"]]
    ends = {"trunk": stem, "policy": [stem[-1], *widths["policy"], game.num_actions]}
    for part, sizes in {**ends, "value": [stem[-1], *widths["value"], 1]}.items():
        for layer, (inputs, outputs) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
            tensors[f"{part}.{layer}.weight"] = rng.normal(0, inputs**-0.5, (outputs, inputs)).astype(np.float32)
            tensors[f"{part}.{layer}.bias"] = rng.normal(0, 0.1, outputs).astype(np.float32)
    return tensors


def searcher(game: Game, seed: int = 0, shaped: Shaping = UNSHAPED, margin: float = 0.0, **options: Any) -> MctsAgent:
    judge = evaluator(game, Network(tensors_for(game)), shaped, heuristics(game.name), margin)
    return MctsAgent(game, seed, judge, **options)


def judged(agent: MctsAgent, S: np.ndarray, i: int) -> np.ndarray:
    values = np.full(agent.game.players, np.nan)
    agent._run["leaf"](S, i, agent._memory, values)
    return values


def edges_of(agent: MctsAgent, node: int) -> Iterator[int]:
    edge = int(agent._tree.first[node])
    while edge >= 0:
        yield edge
        edge = int(agent._tree.after[edge])


# --- the network in the kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "widths",
    [WIDTHS, {"trunk": [], "policy": [16], "value": [8]}, {"trunk": [24, 12], "policy": [], "value": []}],
    ids=["usual", "no trunk", "no heads"],
)
@pytest.mark.parametrize(("name", "players"), [("century", 1), ("century", 2), ("caravan", 2)])
def test_logits_and_values_are_those_of_the_network(name: str, players: int, widths: dict[str, list[int]]) -> None:
    game = game_of(name, players)
    network = Network(tensors_for(game, widths))
    agent = MctsAgent(game, 0, evaluator(game, network, UNSHAPED, None, 0.0))
    S, mask = positions(name, players)
    obs, before = observe(game, S), S.tobytes()
    logits, values = network.logits(obs, mask), network.values(obs)
    out = np.zeros(game.num_actions)
    for i in range(len(S)):
        for asked in (np.flatnonzero(mask[i]), np.flatnonzero(mask[i])[-2:]):  # many, few
            agent._run["prior"](S, i, agent._memory, asked, len(asked), out)
            np.testing.assert_allclose(out[: len(asked)], logits[i, asked], atol=2e-4)
        seat = int(game.spec.rules.to_move(S, i))
        assert judged(agent, S, i)[seat] == pytest.approx(np.clip(values[i], -1, 1), abs=1e-4)
    assert S.tobytes() == before
    assert np.std(values) > 1e-3


@pytest.mark.parametrize("players", [1, 2, 4])
def test_values_add_up_and_stay_in_their_range(players: int) -> None:
    game = game_of("century", players)
    agent = searcher(game)
    S, _ = positions("century", players)
    for i in range(len(S)):
        values = judged(agent, S, i)
        assert (np.abs(values) <= 1).all()
        if players > 1 and np.abs(values).max() < 1:
            assert values.sum() == pytest.approx(0, abs=1e-9)
    wild = tensors_for(game)
    wild["value.1.bias"][:] = 7.0
    high = MctsAgent(game, 0, evaluator(game, Network(wild), UNSHAPED, None, 0.0))
    assert judged(high, S, 0).max() == 1.0


def test_chance_that_is_due_is_drawn_before_a_position_is_judged() -> None:
    game = game_of("century", 1)
    state = game.new_state(seed=2)
    agent = searcher(game)
    while game.spec.rules.to_move(state.row, 0) != CHANCE:
        row = copy_rows(state.row)
        game.spec.rules.step(row, 0, int(state.legal_actions()[0]))
        if game.spec.rules.to_move(row, 0) == CHANCE:
            break
        state.step(int(state.legal_actions()[0]))
    assert game.spec.rules.to_move(row, 0) == CHANCE
    before, stream = row.tobytes(), int(agent._work.stream[0])
    assert -1 <= judged(agent, row, 0)[0] <= 1
    assert row.tobytes() == before
    assert int(agent._work.stream[0]) != stream


def test_the_potential_is_added_to_a_value_that_was_learned_from_shaped_rewards() -> None:
    game = game_of("century", 2)
    S, _ = positions("century", 2)
    module: Any = heuristics("century")
    plain, shaped, scored = (
        searcher(game, shaped=s) for s in (UNSHAPED, Shaping(weight=0.25), Shaping(0.5, "score", 100.0))
    )
    for i in range(len(S)):
        seat, scores = int(game.spec.rules.to_move(S, i)), np.zeros(2)
        game.spec.rules.score(S, i, scores)
        value = judged(plain, S, i)[seat]
        own = 0.25 * module.potential(S[i : i + 1], np.array([seat]))[0]
        assert judged(shaped, S, i)[seat] == pytest.approx(np.clip(value + own, -1, 1), abs=1e-6)
        lead = 0.005 * (scores[seat] - scores[1 - seat])
        assert judged(scored, S, i)[seat] == pytest.approx(np.clip(value + lead, -1, 1), abs=1e-6)


def test_margins_are_brought_into_the_range_of_values() -> None:
    game = game_of("century", 2, "margin")
    S, _ = positions("century", 2)
    agent, plain = searcher(game, margin=20.0), searcher(game_of("century", 2))
    seat = int(game.spec.rules.to_move(S, 0))
    assert judged(agent, S, 0)[seat] == pytest.approx(np.tanh(judged(plain, S, 0)[seat] / 20.0), abs=1e-9)


# --- the search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), [("century", 1), ("century", 3), ("caravan", 2)])
def test_equal_seeds_give_equal_searches_whose_visits_add_up(name: str, players: int) -> None:
    game = game_of(name, players)
    S, mask = positions(name, players)
    chosen = searcher(game, 3, sims=60).act_rows(S, mask)
    assert mask[np.arange(len(S)), chosen].all()
    one = searcher(game, 3, sims=60)
    parts = np.array_split(np.arange(len(S)), 5)[::-1]
    apart = {int(i): a for p in parts for i, a in zip(p, one.act_games(S[p], mask[p], p), strict=True)}
    assert [apart[i] for i in range(len(S))] == chosen.tolist()
    agent, state = searcher(game, 3, sims=150), State(game, copy_rows(S[-1:]))
    thought = agent.think(state)
    edges = list(edges_of(agent, 0))
    assert agent._tree.visits[ROOT] == 150
    assert agent._tree.edge_visits[edges].sum() == 149
    assert sorted(agent._tree.action[edges]) == state.legal_actions().tolist()
    assert agent._tree.prior[edges].sum() == pytest.approx(1)
    assert thought.value is not None
    assert -1 <= thought.value <= 1


def test_a_win_within_one_action_is_found_whatever_the_policy_says() -> None:
    left: list[str | None] = ["RRRR=8", *[None] * 9]
    state = position(seat_of("RRRR", points=FIVE), points=left, automa=automa_of("", points=NINE_TAKEN))
    assert state.action_text(searcher(state.game, sims=300).act(state)) == "claim RRRR=8 at place 1"


# --- checkpoints -----------------------------------------------------------------------------------------------------


def checkpoint(folder: Path, game: Game, tensors: dict[str, np.ndarray], kind: str = "mlp", **about: Any) -> Path:
    network = {"kind": kind, **WIDTHS}
    write_checkpoint(folder, game, {"network": network, "step": 5, "config": "abc", **about}, tensors, {}, {})
    return folder


def test_a_policys_folder_guides_the_search(tmp_path: Path) -> None:
    game = game_of("century", 1)
    path = checkpoint(tmp_path / "plain", game, tensors_for(game), shaping=UNSHAPED._asdict())
    S, mask = positions("century", 1)
    agent: Any = make_agent(f"mcts:40,leaf={path}", game, seed=3)
    np.testing.assert_array_equal(agent.act_rows(S, mask), searcher(game, 3, sims=40).act_rows(S, mask))
    usual: Any = make_agent(f"mcts:40,leaf={checkpoint(tmp_path / 'usual', game, tensors_for(game))}", game)
    assert (agent.evaluator.name, usual.evaluator.name) == ("policy", "policy_shaped")
    np.testing.assert_array_equal(judged(usual, S, 5), judged(searcher(game, shaped=Shaping()), S, 5))


def test_a_policy_that_the_kernels_cannot_evaluate_gets_a_sentence(tmp_path: Path) -> None:
    game = game_of("century", 1)
    board = checkpoint(tmp_path / "board", game, tensors_for(game), kind="board")
    with pytest.raises(BadCheckpoint, match=r"has a convolutional network \(network.kind = board\), which tree search"):
        make_agent(f"mcts:40,leaf={board}", game)
    narrow = tensors_for(game)
    narrow["policy.0.weight"] = narrow["policy.0.weight"][:, :-1]
    odd = checkpoint(tmp_path / "odd", game, narrow)
    with pytest.raises(BadCheckpoint, match=f"do not lead from {game.layout.size} observed values to 75 actions"):
        make_agent(f"mcts:40,leaf={odd}", game)


# --- candidates ------------------------------------------------------------------------------------------------------


def value_searcher(game: Game) -> MctsAgent:
    network = ValueNetwork.new(0, bound(game).features, (8, 4))
    return MctsAgent(game, 0, value_evaluator(game, network), sims=40)


@pytest.mark.parametrize("make", [lambda game: MctsAgent(game, sims=40), value_searcher], ids=["heuristic", "value"])
def test_a_search_of_caravan_looks_at_candidates_only(make: Any) -> None:
    game = game_of("caravan", 2)
    agent, parts = make(game), bound(game)
    S, mask = positions("caravan", 2)
    found = np.zeros(game.num_actions, np.int64)
    fewer = 0
    for i in range(0, len(S), 3):
        count = parts.kernels["candidates"](S, i, parts.scratch, found)
        agent.think(State(game, copy_rows(S[i : i + 1])))
        assert agent._tree.action[list(edges_of(agent, 0))].tolist() == found[:count].tolist()
        fewer += count < mask[i].sum()
    assert fewer > 0


@pytest.mark.parametrize("name", ["century", "ukraine"])
def test_other_searches_look_at_all_that_is_legal(name: str) -> None:
    game = game_of(name, 2)
    agent = MctsAgent(game, sims=20)
    S, mask = positions(name, 2)
    for i in range(0, len(S), 6):
        if mask[i].sum() > 1:
            agent.think(State(game, copy_rows(S[i : i + 1])))
            assert sorted(agent._tree.action[list(edges_of(agent, 0))]) == np.flatnonzero(mask[i]).tolist()


def test_an_evaluator_is_compiled_once_for_a_game() -> None:
    game = game_of("century", 2)
    first, second = (evaluator(game, Network(tensors_for(game, seed=s)), UNSHAPED, None, 0.0) for s in (1, 2))
    assert bind(game, first) is bind(game, second)
