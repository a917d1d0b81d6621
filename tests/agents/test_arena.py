"""Matches in batch: rotation, shared chance, intervals, records, and what happens to cheats."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.arena import MatchResult, play_games, wilson
from agents.base import Agent, BadAgent, RowAgent
from agents.registry import make_agent
from caravan_env import Game, State, make_game
from caravan_env.core.errors import BadParams
from caravan_env.core.match import AgentFault, play_match
from caravan_env.core.record import replay

TRIO = ["greedy", "random", "first"]


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game("caravan", players=3, turn_limit=30)


@pytest.fixture(scope="module")
def match(game: Game) -> MatchResult:
    return play_games(game, TRIO, 12, seed=7)


def same(one: MatchResult, two: MatchResult) -> bool:
    moves = all(np.array_equal(a, b) for a, b in zip(one.moves, two.moves, strict=True))
    return moves and np.array_equal(one.returns, two.returns) and np.array_equal(one.scores, two.scores)


def test_results_do_not_depend_on_how_many_games_are_played_at_once(game: Game, match: MatchResult) -> None:
    for rows in (1, 5, 12):
        assert same(match, play_games(game, TRIO, 12, seed=7, rows=rows))
    assert not same(match, play_games(game, TRIO, 12, seed=8))


def test_every_agent_sits_in_every_seat_and_each_deal_is_played_by_every_seating(match: MatchResult) -> None:
    seats = {agent: [] for agent in TRIO}
    for number in range(match.games):
        names = match.record(number).header["agents"]
        for agent in TRIO:
            seats[agent].append(names.index(agent))
    assert all(sorted(taken) == [0] * 4 + [1] * 4 + [2] * 4 for taken in seats.values())
    deals = [[e.action for e in match.record(k).events if e.kind == "chance"][:9] for k in range(match.games)]
    assert all(deals[k] == deals[k - k % 3] for k in range(match.games))
    assert len({tuple(deal) for deal in deals}) == 4


def test_records_lead_to_the_results_of_the_match(match: MatchResult) -> None:
    for number in (0, 4, 11):
        record = match.record(number)
        *_, (_, end) = replay(record)
        order = [record.header["agents"].index(name) for name in match.agents]
        assert end.returns()[order] == pytest.approx(match.returns[number])
        assert end.scores()[order] == pytest.approx(match.scores[number])
        assert end.truncated == match.truncated[number]
        assert record.result is not None
        assert record.result["plies"] == len(match.moves[number])
    with pytest.raises(BadParams, match="games 0 to 11"):
        match.record(12)


def test_a_match_of_one_game_is_the_game_that_play_match_plays() -> None:
    game = make_game("caravan", turn_limit=30)
    agents = [make_agent(name, game) for name in ("greedy", "first")]
    alone = play_match(game, agents, seed=3)
    batch = play_games(game, agents, 2, seed=3).record(0)
    assert [event.action for event in alone.events] == [event.action for event in batch.events]


def test_counts_and_times(match: MatchResult, game: Game) -> None:
    struct = match.to_json()
    assert struct["games"] == 12
    assert struct["truncated"] == int(match.truncated.sum())
    assert match.decisions.sum() == sum(len(moves) for moves in match.moves)
    assert struct["decisions_per_game"] == pytest.approx(match.decisions.sum() / 12, abs=0.01)
    assert (match.seconds > 0).all()
    assert [agent["name"] for agent in struct["agents"]] == TRIO
    assert sum(agent["win_rate"] for agent in struct["agents"]) == pytest.approx(1, abs=1e-3)
    finished: list[int] = []
    assert play_games(game, TRIO, 4, rows=4, progress=finished.append).games == 6
    assert sum(finished) == 6
    assert min(finished) > 0


def test_a_shared_win_is_shared() -> None:
    game = make_game("caravan", players=3, turn_limit=1)  # a turn of one action: nobody can score
    match = play_games(game, ["first"] * 3, 3)
    assert match.shared == 3
    assert match.wins == pytest.approx(np.full((3, 3), 1 / 3))
    assert match.win_rate(0).share == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    # From the table in Newcombe (Statistics in Medicine 17, 1998), method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_intervals(wins: int, games: int, low: float, high: float) -> None:
    interval = wilson(wins, games)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)
    assert interval.share == wins / games


def test_a_match_needs_an_agent_per_seat_and_a_game(game: Game) -> None:
    with pytest.raises(BadParams, match="2 agents for 3 seats"):
        play_games(game, ["first", "first"], 3)
    with pytest.raises(BadParams, match="at least one game"):
        play_games(game, TRIO, 0)


class Cheat(Agent):
    """Plays the first legal action, and from its turn 5 on one that does not exist."""

    name = "cheat"

    def act(self, state: State) -> int:
        return int(state.legal_actions()[0]) if state.to_json()["turn"] < 5 else self.game.num_actions


def test_an_illegal_action_is_a_fault_with_the_record_of_that_game(game: Game) -> None:
    agents = [make_agent("first", game), Cheat(game), make_agent("first", game)]
    with pytest.raises(AgentFault, match="agent 'cheat' in seat . turn|agent 'cheat' in seat .: action") as caught:
        play_games(game, agents, 6, seed=1)
    record = caught.value.record
    assert record.result is not None
    assert record.result["type"] == "error"
    assert record.result["action"] == game.num_actions
    assert record.header["agents"][record.result["seat"]] == "cheat"
    *_, (_, last) = replay(record)
    assert last.to_move == record.result["seat"]
    assert last.to_json()["turn"] >= 5


class Odd(RowAgent):
    """Answers a batch with what it was given."""

    def __init__(self, game: Game, answers: NDArray[np.float64]) -> None:
        super().__init__(game)
        self.answers = answers

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        return self.answers  # type: ignore[return-value]


@pytest.mark.parametrize("answers", [np.zeros(1), np.zeros((1, 1), np.int64)])
def test_answers_that_are_not_a_number_a_game_get_a_sentence(answers: NDArray[np.float64]) -> None:
    game = make_game("caravan", starting_seat=0)
    with pytest.raises(BadAgent, match="action number for each of 1 games"):
        play_games(game, [Odd(game, answers), Odd(game, answers)], 2, rows=1)
