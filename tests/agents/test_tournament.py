"""Arenas: who meets whom, what is kept, what is played again, and what is refused."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from agents.base import BadAgent
from agents.ratings import rate
from agents.registry import make_agent
from agents.tournament import BATCH, MIXED, Arena, BadArena, Job, frozen, play_batch, schedule
from caravan_env import Game, make_game
from caravan_env.core.errors import BadParams, UnknownName

TRIO = ["greedy", "random", "first"]
OWN = "def first(state):\n    return int(state.legal_actions()[0])\n"


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game("caravan", turn_limit=24)


def played(game: Game, agents: list[str], folder: Path, games: int = 20, threads: int = 1) -> Arena:
    arena = Arena(game, agents, folder)
    arena.play(arena.missing(games), threads)
    return arena


def lines(folder: Path) -> list[str]:
    return (folder / "games.jsonl").read_text(encoding="utf-8").splitlines()


def same(one: Arena, two: Arena) -> bool:
    keys = set(one.results) == set(two.results)
    return keys and all(np.array_equal(one.results[job], two.results[job]) for job in one.results)


# ----------------------------------------------------------------------------------------------------------- schedule


def test_two_players_meet_in_pairs() -> None:
    assert schedule(list("abc"), 2) == [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.mark.parametrize("players", [3, 4, 6])
@pytest.mark.parametrize("agents", [2, 3, 5, 9])
def test_more_players_meet_alone_and_mixed(players: int, agents: int) -> None:
    names = [f"agent {k}" for k in range(agents)]
    tables = schedule(names, players)
    assert len(set(tables)) == len(tables) and all(len(table) == players for table in tables)
    alone = [table for table in tables if len(set(table)) == 2]
    assert {(t[0], t[1]) for t in alone} == set(itertools.permutations(names, 2))
    mixed = [table for table in tables if len(set(table)) == players]
    assert len(alone) + len(mixed) == len(tables)
    if agents <= 5:
        assert {frozenset(t) for t in mixed} == {frozenset(c) for c in itertools.combinations(names, players)}


@pytest.mark.parametrize("players", [2, 3, 5])
def test_an_agent_more_adds_tables_and_takes_none_away(players: int) -> None:
    names = [f"agent {k}" for k in range(12)]
    for count in range(2, 12):
        less, more = schedule(names[:count], players), schedule(names[: count + 1], players)
        assert set(less) < set(more)
        assert all(names[count] in table for table in set(more) - set(less))


def test_mixed_tables_of_many_agents_are_balanced() -> None:
    names = [f"agent {k:02}" for k in range(20)]
    mixed = [table for table in schedule(names, 4) if len(set(table)) == 4]
    seats = Counter(itertools.chain.from_iterable(mixed))
    assert len(mixed) < 20 * MIXED
    assert all(seats[name] >= MIXED for name in names)
    assert max(seats.values()) < 6 * MIXED
    newest = Counter(itertools.chain.from_iterable(table for table in mixed if names[-1] in table))
    assert max(newest[name] for name in names[:-1]) <= 2 < newest[names[-1]] == MIXED


# ------------------------------------------------------------------------------------------------------------ playing


def test_every_table_plays_the_same_deals_with_every_seating(game: Game) -> None:
    """Two agents that play alike get the same returns against a third, deal by deal."""
    one = play_batch(game, Job(("greedy", "noisy:0.1:greedy"), 3), seed=5)
    two = play_batch(game, Job(("noisy:0:greedy", "noisy:0.1:greedy"), 3), seed=5)
    assert one.shape == (BATCH, 2, 2)
    assert np.array_equal(one, two)
    assert not np.array_equal(one, play_batch(game, Job(("greedy", "noisy:0.1:greedy"), 4), seed=5))


def test_results_do_not_depend_on_the_number_of_jobs(game: Game, tmp_path: Path) -> None:
    one, two = played(game, TRIO, tmp_path / "one"), played(game, TRIO, tmp_path / "two", threads=2)
    assert same(one, two)
    assert sorted(lines(tmp_path / "one")) == sorted(lines(tmp_path / "two"))
    ratings = [rate(arena.tables(), TRIO, resamples=10) for arena in (one, two)]
    assert ratings[0] == ratings[1]


def test_going_on_gives_what_one_run_gives(game: Game, tmp_path: Path) -> None:
    """More games, a further agent, and a folder that is opened again: nothing is played twice, nothing differs."""
    whole = played(game, TRIO, tmp_path / "whole", games=40)
    part = played(game, TRIO[:2], tmp_path / "part", games=20)
    assert len(part.results) == 1
    again = Arena(game, ["first", *TRIO[:2]], tmp_path / "part")
    assert again.agents == TRIO
    missing = again.missing(20)
    assert all("first" in job.table for job in missing) and len(missing) == 2
    again.play(missing)
    assert len(again.missing(40)) == 3
    again.play(again.missing(40), threads=2)
    assert same(whole, again)
    assert again.missing(40) == again.missing(1) == []
    assert same(whole, Arena(game, TRIO, tmp_path / "part"))
    assert len(lines(tmp_path / "part")) == 1 + 3 + 6


def test_a_stop_in_the_middle_loses_only_the_batch_at_hand(game: Game, tmp_path: Path) -> None:
    arena = Arena(game, TRIO, tmp_path)

    def stop(_games: int) -> None:
        if len(arena.results) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        arena.play(arena.missing(40), threads=1, progress=stop)
    kept = Arena(game, TRIO, tmp_path)
    assert len(kept.results) == 2 and len(kept.missing(40)) == 4
    kept.play(kept.missing(40))
    assert same(kept, played(game, TRIO, tmp_path / "whole", games=40))


def test_a_torn_line_is_played_again(game: Game, tmp_path: Path) -> None:
    whole = played(game, TRIO, tmp_path)
    file = tmp_path / "games.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    torn = Arena(game, TRIO, tmp_path)
    assert len(torn.results) == 2 and len(torn.missing(20)) == 1
    torn.play(torn.missing(20))
    assert same(whole, torn) and same(whole, Arena(game, TRIO, tmp_path))


def test_a_file_torn_in_its_first_line_begins_anew(game: Game, tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").write_text('{"type": "header", "for', encoding="utf-8")
    assert same(played(game, TRIO[:2], tmp_path), Arena(game, TRIO[:2], tmp_path))
    assert len(lines(tmp_path)) == 4


def test_a_gap_in_the_deals_ends_a_table(game: Game, tmp_path: Path) -> None:
    arena = Arena(game, TRIO[:2], tmp_path)
    table = (TRIO[0], TRIO[1])
    arena.play([Job(table, 0), Job(table, 2)])
    assert [t.returns.shape for t in arena.tables()] == [(BATCH, 2, 2)]


def test_three_players(tmp_path: Path) -> None:
    game = make_game("caravan", players=3, turn_limit=30)
    arena = played(game, TRIO, tmp_path, games=30)
    assert len(arena.results) == 7
    standings = rate(arena.tables(), arena.agents, resamples=10)
    assert standings[0].agent == "greedy"
    assert standings[0].games == 5 * 30


# ------------------------------------------------------------------------------------------------------------ refusal


def test_foreign_games_are_refused(game: Game, tmp_path: Path) -> None:
    played(game, TRIO[:2], tmp_path)
    with pytest.raises(BadArena, match="games with turn_limit = 24, not 30; choose another --out"):
        Arena(make_game("caravan", turn_limit=30), TRIO, tmp_path)
    with pytest.raises(BadArena, match="games with game = 'caravan', not 'century'"):
        Arena(make_game("century", players=2), TRIO, tmp_path)
    with pytest.raises(BadArena, match="seed = 0, not 1"):
        Arena(game, TRIO, tmp_path, seed=1)
    with pytest.raises(BadArena, match="games of greedy too; name them as well"):
        Arena(game, ["random", "first"], tmp_path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("{", "line 2 is damaged"),
        ('{"type": "games", "table": ["a", "b"], "batch": 0, "returns": [[1]]}', "returns of shape"),
        ('{"type": "odd"}', "type 'odd'"),
        ("[1]", "line 2 is damaged"),
    ],
)
def test_damaged_lines_are_named(game: Game, tmp_path: Path, damage: str, words: str) -> None:
    played(game, TRIO[:2], tmp_path)
    all_lines = lines(tmp_path)
    (tmp_path / "games.jsonl").write_text("\n".join([all_lines[0], damage, *all_lines[2:]]) + "\n", encoding="utf-8")
    with pytest.raises(BadArena, match=words):
        Arena(game, TRIO[:2], tmp_path)


def test_another_format_is_refused(game: Game, tmp_path: Path) -> None:
    played(game, TRIO[:2], tmp_path)
    header = {**json.loads(lines(tmp_path)[0]), "format": 9}
    (tmp_path / "games.jsonl").write_text(json.dumps(header) + "\n", encoding="utf-8")
    with pytest.raises(BadArena, match="in format 1, the one"):
        Arena(game, TRIO[:2], tmp_path)


def test_an_agent_that_changed_is_refused(game: Game, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(OWN, encoding="utf-8")
    agents = [f"noisy:0.1:{own}:first", "random"]
    played(game, agents, tmp_path)
    assert Arena(game, agents, tmp_path).missing(20) == []
    own.write_text(OWN + "# changed\n", encoding="utf-8")
    with pytest.raises(BadArena, match="has changed since"):
        Arena(game, agents, tmp_path)


def test_only_files_have_digests() -> None:
    game = make_game("caravan", players=2)
    assert frozen("planner:beam=4", game) == ("planner:beam=4", "")
    assert frozen("noisy:0.25:planner", game) == ("noisy:0.25:planner", "")


@pytest.mark.parametrize("spec", ["best", "best:samples=0", "noisy:0.1:best"])
def test_the_best_agent_is_frozen_as_what_it_is_now(spec: str) -> None:
    played, digest = frozen(spec, make_game("caravan", players=2))
    assert "caravan-2p" in played and digest
    assert ("samples=0" in played) == ("samples=0" in spec)


@pytest.mark.parametrize(
    ("agents", "words"),
    [(["first"], "at least two agents, not 1"), (["first", "first"], "first is named twice")],
)
def test_too_few_agents_are_refused(game: Game, tmp_path: Path, agents: list[str], words: str) -> None:
    with pytest.raises(BadParams, match=words):
        Arena(game, agents, tmp_path)


def test_mistakes_are_found_before_anything_is_written(game: Game, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'greedy'"):
        Arena(game, ["greedi", "first"], tmp_path / "arena")
    with pytest.raises(BadParams, match="at least two seats"):
        Arena(make_game("century"), TRIO, tmp_path / "arena")
    with pytest.raises(BadParams, match="at least one game"):
        Arena(game, TRIO, tmp_path / "arena").missing(0)
    assert not (tmp_path / "arena").exists()
    with pytest.raises(BadParams, match="jobs = 0"):
        Arena(game, TRIO, tmp_path / "arena").play([], threads=0)


# ------------------------------------------------------------------------------------------------------- noisy agents


def test_noise_is_a_share_of_the_actions(game: Game) -> None:
    state = game.new_state(seed=0)
    S = np.repeat(state.row, 4000)
    mask = np.repeat(state.action_mask()[None], 4000, axis=0)
    agent = make_agent("noisy:0.3:first", game, seed=1)
    actions = agent.act_rows(S, mask)
    legal = state.legal_actions()
    assert set(actions) <= set(legal)
    others = (actions != legal[0]).mean()
    assert others == pytest.approx(0.3 * (1 - 1 / len(legal)), abs=0.03)
    part = make_agent("noisy:0.3:first", game, seed=1).act_games(S[:5], mask[:5], np.arange(7, 12))
    assert np.array_equal(part, actions[7:12])


@pytest.mark.parametrize("spec", ["noisy", "noisy:x:first", "noisy:1.5:first", "noisy:0.5", "noisy:0.5:"])
def test_noise_needs_a_share_and_an_agent(game: Game, spec: str) -> None:
    with pytest.raises(BadAgent, match="noisy:SHARE:SPEC"):
        make_agent(spec, game)
