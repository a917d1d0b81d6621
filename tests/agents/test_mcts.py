"""Tree search: what its counts add up to, what it finds, what it depends on, and that it plays every game."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.registry import heuristics, make_agent
from agents.search.agent import MctsAgent
from agents.search.tree import EDGES, NODES, ROOT, Tree, new_tree
from caravan_env import Batch, Game, State, game_names, make_game
from caravan_env.core.contract import CHANCE, TERMINAL
from caravan_env.core.errors import BadParams, UnknownName
from caravan_env.core.match import play_match
from caravan_env.core.rng import streams
from tests.caravan.build import position as caravan
from tests.caravan.build import seat_of as camels
from tests.century.build import automa_of
from tests.century.build import position as century
from tests.century.build import seat_of as merchant
from tests.core.processes import run_python
from tests.core.toy_game import SPEC as HEAP
from tests.ukraine.build import SALT
from tests.ukraine.build import position as ukraine

FIVE = "YYYGG=9 RRGG=10 RRRRR=10 YYBB=10 YYGGG=11"


def searcher(game: Game, seed: int = 0, **options: Any) -> MctsAgent:
    return MctsAgent(game, seed, **options)


def choice(state: State, **options: Any) -> str:
    return state.action_text(searcher(state.game, **options).act(state))


def heap(counters: int = 60, **params: Any) -> State:
    """Return a position of the toy game; the other seats' cards are hidden."""
    state = Game(HEAP, params).new_state(seed=4)
    return state.game.state_from_json(state.to_json() | {"heap": counters}, seed=4)


def edges_of(tree: Tree, node: int) -> Iterator[int]:
    edge = int(tree.first[node])
    while edge >= 0:
        yield edge
        edge = int(tree.after[edge])


def children_of(tree: Tree, edge: int) -> Iterator[int]:
    child = int(tree.child[edge])
    while child >= 0:
        yield child
        child = int(tree.twin[child])


def check_counts(tree: Tree) -> None:
    """A node's visits are those of its edges and, unless it is an end, one; nothing is reached twice."""
    reached = [0]
    for node in range(tree.used[NODES]):
        edges = list(edges_of(tree, node))
        assert len({int(tree.action[edge]) for edge in edges}) == len(edges)
        if tree.mover[node] == TERMINAL:
            assert edges == []
        else:
            assert tree.visits[node] == 1 + tree.edge_visits[edges].sum()
        for edge in edges:
            below = list(children_of(tree, edge))
            assert tree.edge_visits[edge] == tree.visits[below].sum()
            reached += below
            if tree.mover[node] >= 0:
                assert tree.edge_total[edge] == pytest.approx(tree.total[below, tree.mover[node]].sum())
        if tree.mover[node] >= 0 and edges:
            assert tree.prior[edges].sum() >= 1 - 1e-9
    assert sorted(reached) == list(range(tree.used[NODES]))


# --- the tree --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [heap(players=3), century(merchant("YYYRG")), century(merchant(), merchant())])
def test_visits_add_up(state: State) -> None:
    agent = searcher(state.game, sims=300)
    thought = agent.think(state)
    tree = agent._tree
    assert tree.visits[ROOT] == 300
    check_counts(tree)
    assert (tree.mover[: tree.used[NODES]] == CHANCE).any()
    assert thought.policy is not None
    assert sum(thought.policy.values()) == pytest.approx(1)
    assert thought.policy[thought.action] == max(thought.policy.values())
    assert thought.value is not None
    assert -1 <= thought.value <= 1


def test_a_new_tree_has_the_shapes_it_says() -> None:
    tree = new_tree(make_game("century", players=4), 10, 20)
    assert tree.total.shape == (10, 4)
    assert {len(a) for a in (tree.mover, tree.hash, tree.visits, tree.first, tree.twin)} == {10}
    edges = (tree.action, tree.prior, tree.edge_visits, tree.edge_total, tree.child, tree.after)
    assert {len(a) for a in edges} == {20}


@pytest.mark.parametrize(("nodes", "edges"), [(5, 10_000), (400, 40), (1, 1)])
def test_a_full_tree_goes_on_counting(nodes: int, edges: int) -> None:
    state = century(merchant("YYYRG"), merchant())
    agent = searcher(state.game, sims=200)
    agent._tree = new_tree(state.game, nodes, edges)
    if edges == 1:  # not even the actions of the root have room: the search cannot choose
        agent._place(state.row, keep=False)
        agent._simulate()
        assert agent._tree.visits[ROOT] == 200
        return
    assert agent.act(state) in state.legal_actions()
    assert agent._tree.used[NODES] <= nodes
    assert agent._tree.used[EDGES] <= edges
    assert agent._tree.visits[ROOT] == 200
    assert agent._tree.edge_visits[list(edges_of(agent._tree, 0))].sum() == 199


@pytest.mark.parametrize("players", [2, 3, 4])
def test_values_are_one_for_each_seat(players: int) -> None:
    state = heap(4, players=players)
    agent = searcher(state.game, sims=200)
    agent.act(state)
    tree = agent._tree
    ends = np.flatnonzero(tree.mover[: tree.used[NODES]] == TERMINAL)
    assert len(ends) > 0
    for end in ends:
        assert tree.total[end].sum() == pytest.approx(0, abs=1e-9)  # returns sum to zero
        assert (np.abs(tree.total[end]) <= tree.visits[end] + 1e-9).all()
    assert tree.total.shape[1] == players


def test_margins_are_brought_into_the_range_of_values() -> None:
    state = heap(30, returns="margin", players=2)
    agent = searcher(state.game, sims=400, c=4.0)
    agent.act(state)
    tree = agent._tree
    assert (np.abs(tree.total).max(axis=1) <= tree.visits).all()
    near = heap(3, returns="margin", players=2)
    assert choice(near, sims=200) == "take 3"


# --- what it finds ---------------------------------------------------------------------------------------------------


def test_caravan_the_delivery_that_wins_at_once() -> None:
    ours = camels("d5", "d6 meat", "g1 salt", markers=3)
    state = caravan(ours, camels("a1", markers=0), bag={}, left=1)
    assert choice(state, sims=400) == "move meat d6 -> d5"


def test_caravan_the_first_of_two_actions_that_win() -> None:
    ours = camels("d6 meat", "g1 salt", markers=3)
    state = caravan(ours, camels("a1", markers=0), bag={}, left=2)
    agent = searcher(state.game, sims=1000)
    for _ in range(2):
        state.step(agent.act(state))
    assert state.is_terminal
    assert state.returns()[0] == 1


def test_century_the_claim_that_wins() -> None:
    cards = ["YYRR=6", "GGGG=12", "RRRR=8", "BBBB=16", "YRGB=12"]
    state = century(merchant("YYYY", points="YYYRR=7"), merchant("RRRR", points=FIVE), seat=1, points=cards)
    agent = searcher(state.game, sims=300)
    thought = agent.think(state)
    assert state.action_text(thought.action) == "claim RRRR=8 at place 3"
    assert thought.value is not None
    assert thought.value > 0.5


def test_century_alone_the_last_card_is_taken_only_if_that_wins() -> None:
    own, last = merchant("RRRR", points=FIVE), ["RRRR=8", *[None] * 9]
    nine = "YYRR=6 YYYRR=7 YYGG=8 YYRRR=8"
    ahead = century(own, points=last, automa=automa_of("", points=nine))
    assert choice(ahead, sims=300) == "claim RRRR=8 at place 1"
    level = century(own, points=last, automa=automa_of("", coins=29, points=nine))
    assert choice(level, sims=300) != "claim RRRR=8 at place 1"


def test_ukraine_the_last_tile_scores_and_its_meeple_after_it() -> None:
    state = ukraine("B-D K11 0", "B-F K10 1", tile="B-E", bag={}, points=[0, 5])
    agent = searcher(state.game, sims=300)
    words = []
    while not state.is_terminal:
        action = agent.act(state)
        words.append(state.action_text(action))
        state.step(action)
    assert words[:2] == ["place B-E at K9 turned 2", "meeple on city S"]
    assert state.returns()[0] == 1


def test_heap_the_last_counters_by_random_play_alone() -> None:
    state = heap(3)
    assert choice(state, leaf="rollout", sims=200) == "take 3"


# --- what it depends on ----------------------------------------------------------------------------------------------


def thoughts(state: State, seed: int, **options: Any) -> list[Any]:
    agent = searcher(state.game, seed, sims=120, **options)
    state = state.clone()
    out = []
    for _ in range(4):
        out.append(agent.think(state))
        state.step(out[-1].action)
        if state.is_chance:
            state.resolve(state.chance_outcomes()[0][0])
        if state.is_terminal:
            break
    return out


def test_equal_seeds_give_equal_thoughts_and_others_do_not() -> None:
    state = century(merchant("YYYRG"), merchant("YYYY"))
    assert thoughts(state, 5) == thoughts(state, 5)
    assert thoughts(state, 5) != thoughts(state, 6)
    assert thoughts(heap(20), 5) == thoughts(heap(20), 5)
    assert thoughts(heap(20), 5) != thoughts(heap(20), 6)


def hidden_twins() -> Iterator[tuple[State, State]]:
    """Yield positions that differ only in what the seat to move cannot know."""
    for chips in ("purple 1, orange 2, orange 2", "light blue 1, light blue 2, purple 2"):
        yield tuple(
            ukraine("B-D B2 0", "B-U B3 0", tile="B-U", map=SALT, chips=["purple 1, purple 1", theirs], bag={"B-U": 3})
            for theirs in (chips, "orange 1, orange 1, purple 2")
        )  # type: ignore[misc]
    state = heap(9, players=3)
    for seed in range(3):
        other = state.clone()
        state.game.spec.rules.resample(other.row, 0, state.to_move, streams(seed, 1), 0)
        if other.row.tobytes() != state.row.tobytes():
            yield state, other


def test_the_choice_does_not_depend_on_what_is_hidden() -> None:
    pairs = list(hidden_twins())
    assert len(pairs) >= 3
    for one, other in pairs:
        assert one.row.tobytes() != other.row.tobytes()
        first, second = searcher(one.game, 3, sims=80), searcher(one.game, 3, sims=80)
        for _ in range(2):  # the second time there would be a tree to keep
            assert first.think(one) == second.think(other)
        assert first._tree.hidden[0] == 1
        assert first._tree.visits[ROOT] == 80


def test_actions_that_hidden_things_forbid_or_allow_are_handled() -> None:
    chips = ["", "purple 1, purple 1, orange 2, orange 2"]
    state = ukraine("B-D B2 0", "B-U B3 0", tile="B-U", map=SALT, chips=chips, bag={"B-U": 3})
    agent = searcher(state.game, sims=600)
    assert agent.act(state) in state.legal_actions()
    check_counts_hidden(agent._tree)


def check_counts_hidden(tree: Tree) -> None:
    for node in range(tree.used[NODES]):
        if tree.mover[node] != TERMINAL:
            assert tree.visits[node] == 1 + tree.edge_visits[list(edges_of(tree, node))].sum()


def test_a_batch_comes_out_the_same_however_it_is_split() -> None:
    batch = Batch(make_game("century", players=2), 6, seed=1)
    for _ in range(10):
        batch.step(batch.random_actions())
    games = np.arange(6)
    whole, parts = searcher(batch.game, 1, sims=60), searcher(batch.game, 1, sims=60)
    before = batch.S.tobytes()
    for _ in range(2):
        together = whole.act_games(batch.S, batch.mask, games)
        order = [np.array([5, 2]), np.array([0, 1, 3, 4])]
        apart = np.zeros(6, np.int64)
        for part in order:
            apart[part] = parts.act_games(batch.S[part].copy(), batch.mask[part].copy(), part)
        assert (together == apart).all()
    assert batch.S.tobytes() == before
    assert batch.mask[np.arange(6), together].all()
    assert (searcher(batch.game, 1, sims=60).act_rows(batch.S, batch.mask)).shape == (6,)


# --- reuse -----------------------------------------------------------------------------------------------------------


def test_the_tree_of_the_next_position_is_kept() -> None:
    state = century(merchant("YYYRG"), merchant("YYYY"))
    agent, forgets = (searcher(state.game, sims=300, reuse=reuse) for reuse in (True, False))
    action = agent.act(state)
    edge = next(e for e in edges_of(agent._tree, 0) if agent._tree.action[e] == action)
    known = agent._tree.visits[agent._tree.child[edge]]
    state.step(action)
    while state.is_chance:
        state.resolve(state.chance_outcomes()[0][0])
        known = None
    assert known is None or known > 1
    agent.think(state)
    assert agent._tree.visits[ROOT] > 300
    if known is not None:
        assert agent._tree.visits[ROOT] == 300 + known
    check_counts(agent._tree)
    forgets.act(state)
    forgets.act(state)
    assert forgets._tree.visits[ROOT] == 300


def test_thinking_again_goes_on_and_a_full_tree_starts_anew() -> None:
    state = century(merchant("YYYRG"), merchant("YYYY"))
    agent = searcher(state.game, sims=100)
    visits = []
    for _ in range(6):
        agent.act(state)
        visits.append(int(agent._tree.visits[ROOT]))
        check_counts(agent._tree)
    assert visits[:3] == [100, 200, 300]
    assert 100 in visits[3:]
    other = century(merchant("YYYBB"), merchant("YYYY"))
    agent.act(other)
    assert agent._tree.visits[ROOT] == 100


# --- the evaluators --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), [("caravan", 3), ("century", 1), ("century", 3), ("ukraine", 3)])
def test_potentials_are_the_potential_of_each_seat(name: str, players: int) -> None:
    batch = Batch(make_game(name, players=players), 6, seed=1)
    for _ in range(50):
        batch.step(batch.random_actions())
    module = heuristics(name)
    assert module is not None
    memory, values = module.new_memory(), np.zeros(players)
    apart = np.array([module.potential(batch.S, np.full(6, seat)) for seat in range(players)])
    for i in range(6):
        module.potentials(batch.S, i, memory, values)
        assert values == pytest.approx(apart[:, i])
    assert len(set(apart.ravel())) > 3


# --- every game, every option ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", game_names())
def test_every_game_is_played_by_name(name: str) -> None:
    for params in make_game(name).spec.variants.values():
        game = make_game(name, **params)
        state = game.new_state(seed=2)
        agent = make_agent("mcts:6", game, seed=1)
        assert agent.name == "mcts:6"
        for _ in range(3):
            thought = agent.think(state)
            assert thought.action in state.legal_actions()
            state.step(thought.action)


def test_a_game_without_scripted_agents_is_played_out_at_random() -> None:
    game = Game(HEAP, {"players": 4, "returns": "margin"})
    agents = [make_agent(spec, game, seed=2) for spec in ("mcts:20", "mcts:sims=20,leaf=rollout", "random", "first")]
    record = play_match(game, agents, seed=3)
    assert record.result is not None
    assert searcher(game).evaluator.name == "rollout"


def test_it_beats_random_play_in_the_toy_game() -> None:
    game = Game(HEAP, {})
    won = 0.0
    for seed in range(10):
        players = [make_agent("mcts:60", game, seed), make_agent("random", game, seed)]
        result = play_match(game, players if seed % 2 else players[::-1], seed).result
        won += result["returns"][0 if seed % 2 else 1] > 0
    assert won >= 7


def test_a_forced_action_is_played_at_once() -> None:
    state = century(merchant("RRRR"), merchant("YYYY"), phase="pay", pending={"place": 2, "paid": 0})
    assert len(state.legal_actions()) == 1
    thought = searcher(state.game).think(state)
    assert thought.value is None
    assert thought.policy == {thought.action: 1.0}


def test_time_ends_a_search() -> None:
    state = century(merchant("YYYRG"), merchant("YYYY"))
    agent = searcher(state.game, sims=100_000, seconds=0.02)
    agent.act(state)
    assert 0 < agent._tree.visits[ROOT] < 100_000
    assert agent._tree.visits[ROOT] % 16 == 0


@pytest.mark.parametrize(
    ("options", "error", "part"),
    [
        ("0", BadParams, "mcts:sims = 0"),
        ("many", BadParams, "mcts:sims = 'many'"),
        ("seconds=-1", BadParams, "mcts:seconds = -1.0"),
        ("seconds=nan", BadParams, "mcts:seconds = nan"),
        ("c=0", BadParams, "mcts:c = 0.0"),
        ("temperature=0", BadParams, "mcts:temperature = 0.0"),
        ("steps=-1", BadParams, "mcts:steps = -1"),
        ("leaf=guess", BadParams, "heuristic, rollout or the folder"),
        ("reuse=maybe", BadParams, "mcts:reuse"),
        ("evaluator=x", UnknownName, "no option 'evaluator'"),
    ],
)
def test_impossible_options_get_a_sentence(options: str, error: type[Exception], part: str) -> None:
    with pytest.raises(error, match=part.replace(".", r"\.")):
        make_agent(f"mcts:{options}", make_game("century"))


UNCOMPILED = """
import json
from agents.search.agent import MctsAgent
from caravan_env import Game
from tests.core.toy_game import SPEC
state = Game(SPEC, {}).new_state(seed=4)
thought = MctsAgent(state.game, 3, sims=12).think(state)
print(json.dumps([thought.action, thought.value, thought.policy]))
"""


OWN_EVALUATOR = """
import json
from agents.search.agent import MctsAgent
from agents.search.evaluators import Evaluator
from caravan_env import Game
from tests.core.toy_game import SPEC

def prior(S, i, X, actions, count, out):
    for k in range(count):
        out[k] = 9.0 if actions[k] == 3 else 0.0

def leaf(S, i, X, values):
    values[:] = 0.0
    values[1] = X[0]

def memory(game, stream):
    return [0.5]

own = Evaluator("own", {}, {"leaf": leaf, "prior": prior}, memory, (__file__,))
state = Game(SPEC, {"players": 3}).new_state(seed=4)
agent = MctsAgent(state.game, 3, own, sims=50)
print(json.dumps([agent.think(state).action, list(agent._tree.total[0])]))
"""


def test_another_evaluator_takes_the_place_of_the_leaf(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_EVALUATOR)
    action, total = run_python("import own", tmp_path, NUMBA_DISABLE_JIT="1")
    assert action == 3
    assert total == [0, 25, 0]


def test_it_works_without_compilation() -> None:
    plain = run_python(UNCOMPILED, NUMBA_DISABLE_JIT="1")
    thought = searcher(Game(HEAP, {}), 3, sims=12).think(Game(HEAP, {}).new_state(seed=4))
    assert plain == [thought.action, thought.value, {str(a): share for a, share in thought.policy.items()}]
