"""Agents by their specs: names, options, files of the user's own, and the sentence for each mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from numba.core import config as numba_config

from agents import registry
from agents.base import Agent, BadAgent
from agents.registry import agent_names, heuristic_potential, make_agent, register_heuristics, split_specs
from caravan_env import Game, make_game
from caravan_env.core.errors import BadParams, CaravanError, UnknownName
from tests.core.toy_game import SPEC as TOY

Write = Callable[[str], str]


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game("caravan")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an agent file and return its path."""

    def _write(text: str) -> str:
        path = tmp_path / "mine.py"
        path.write_text(text)
        return str(path)

    return _write


def sentence(spec: str, game: Game, error: type[CaravanError]) -> str:
    with pytest.raises(error) as caught:
        make_agent(spec, game)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_names_of_all_games_and_of_one() -> None:
    assert {"random", "first", "greedy", "planner"} <= set(agent_names())
    assert agent_names("caravan") == ["first", "greedy", "mcts", "planner", "random"]
    assert agent_names("a game without heuristics") == ["first", "mcts", "random"]


@pytest.mark.parametrize("spec", ["random", "first", "greedy", "planner", "planner:8", "planner:beam=4,threads=2"])
def test_an_agent_is_named_by_its_spec_and_plays_legally(spec: str, game: Game) -> None:
    agent = make_agent(spec, game, seed=3)
    assert isinstance(agent, Agent)
    assert agent.name == spec
    state = game.new_state(seed=1)
    assert agent.act(state) in state.legal_actions()


@pytest.mark.parametrize(
    ("spec", "error", "parts"),
    [
        (
            "planer",
            UnknownName,
            ["no agent 'planer'", "did you mean 'planner'?", "random", "policy:PATH", "FILE.py:NAME"],
        ),
        ("planner:beem=3", UnknownName, ["no option 'beem'", "did you mean 'beam'?"]),
        ("planner:beam=wide", BadParams, ["planner:beam = 'wide'", "of type int"]),
        ("planner:beam=0", BadParams, ["planner:beam = 0", "1 to 4096"]),
        ("planner:threads=0", BadParams, ["planner:threads = 0"]),
        ("greedy:7", UnknownName, ["'greedy' has no options", "'7'"]),
        ("policy", BadAgent, ["policy:PATH"]),
        ("nowhere/mine.py:Mine", BadAgent, ["there is no agent file nowhere/mine.py"]),
    ],
)
def test_a_wrong_spec_gets_a_sentence(spec: str, error: type[CaravanError], parts: list[str], game: Game) -> None:
    message = sentence(spec, game, error)
    assert [part for part in parts if part not in message] == []


def test_a_game_without_scripted_agents_says_so() -> None:
    message = sentence("greedy", Game(TOY), UnknownName)
    assert f"{TOY.name} has no scripted agents of its own" in message
    assert heuristic_potential(Game(TOY)) is None


def test_the_first_start_says_that_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], game: Game
) -> None:
    monkeypatch.setattr(registry, "cache_folder", lambda *files: tmp_path)
    monkeypatch.setattr(registry, "_announced", set())
    make_agent("planner", game)
    make_agent("random", game)
    if not numba_config.DISABLE_JIT:
        assert capsys.readouterr().err.count("compiling the scripted agents of 'caravan'") == 1
    (tmp_path / "plan_rows.nbi").touch()
    registry._announced.clear()
    make_agent("planner", game)
    assert capsys.readouterr().err == ""


def test_heuristics_of_another_package_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "HEURISTICS", dict(registry.HEURISTICS))
    register_heuristics("my_game", "agents.heuristic.caravan")
    assert "planner" in agent_names("my_game")


def test_lists_of_specs_are_split_at_commas_that_part_specs() -> None:
    assert split_specs("greedy, planner:beam=8,threads=2,random") == ["greedy", "planner:beam=8,threads=2", "random"]
    assert split_specs("planner:8,,first") == ["planner:8", "first"]


OWN_AGENTS = """
import numpy as np
from agents.base import Agent

class Derived(Agent):
    def act(self, state):
        return int(state.legal_actions()[self.seed])

class Plain:
    def act(self, state):
        return np.int64(state.legal_actions()[-1])

def function(state):
    return state.legal_actions()[0]
"""


def test_own_agents_from_a_file(write: Write, game: Game) -> None:
    path = write(OWN_AGENTS)
    state = game.new_state(seed=1)
    legal = [int(action) for action in state.legal_actions()]
    assert make_agent(f"{path}:Derived", game, seed=2).act(state) == legal[2]
    assert make_agent(f"{path}:Plain", game).act(state) == legal[-1]
    function = make_agent(f"{path}:function", game)
    assert function.act(state) == legal[0]
    assert function.name == f"{path}:function"


@pytest.mark.parametrize(
    ("text", "name", "parts"),
    [
        ("class Bot:\n    def act(self, state): return 0", "Bott", ["no 'Bott'", "did you mean 'Bot'?"]),
        ("", "Bot", ["no 'Bot'"]),
        ("class Bot: pass", "Bot", ["class Bot", "lacks the method act(state)"]),
        ("from agents.base import Agent\nclass Bot(Agent): pass", "Bot", ["lacks the method act(state)"]),
        ("Bot = 3", "Bot", ["is a int", "must be a class or a function"]),
        ("import nothing_like_it", "Bot", ["cannot be loaded", "ModuleNotFoundError", "nothing_like_it"]),
        ("class Bot(:", "Bot", ["cannot be loaded", "SyntaxError"]),
        ("class Bot:\n    def __init__(self, x): pass\n    def act(self, state): pass", "Bot", ["cannot be made"]),
    ],
)
def test_a_wrong_agent_file_gets_a_sentence(text: str, name: str, parts: list[str], write: Write, game: Game) -> None:
    message = sentence(f"{write(text)}:{name}", game, BadAgent)
    assert [part for part in parts if part not in message] == []


@pytest.mark.parametrize("answer", ["None", "'end'", "0.5"])
def test_an_answer_that_is_no_number_gets_a_sentence(answer: str, write: Write, game: Game) -> None:
    path = write(
        "from agents.base import Agent\n"
        f"def function(state): return {answer}\n"
        f"class Derived(Agent):\n    def act(self, state): return {answer}\n"
    )
    state = game.new_state(seed=1)
    for name in ("function", "Derived"):
        agent = make_agent(f"{path}:{name}", game)
        with pytest.raises(BadAgent, match=f"{name}' answered {answer}; it must answer with an action number"):
            agent.think(state)
        with pytest.raises(BadAgent, match="action number"):
            agent.act_rows(state.row, state.action_mask()[None])
