"""The scripted agents of Century: what they must see, that they win, and that they depend on the position alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.arena import play_games
from agents.heuristic.century import potential
from agents.registry import agent_names, make_agent
from caravan_env import Batch, State, make_game
from caravan_env.core.errors import BadParams
from tests.century.build import automa_of, position, seat_of

SMALL = "planner:beam=12,depth=6"
AGENTS = ("greedy", SMALL)
LAST_CARD_LEFT: list[str | None] = ["RRRR=8", *[None] * 9]
NINE_TAKEN = "YYRR=6 YYYRR=7 YYGG=8 YYRRR=8"
FIVE = "YYYGG=9 RRGG=10 RRRRR=10 YYBB=10 YYGGG=11"


def choice(state: State, spec: str) -> str:
    """Return what an agent plays, in words."""
    return state.action_text(make_agent(spec, state.game).act(state))


def some_positions(games: int = 32, actions: int = 60, **params: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return positions that random play reaches, and their masks."""
    batch = Batch(make_game("century", **params), games, seed=3)
    agent = make_agent("random", batch.game)
    for _ in range(actions):
        batch.step(agent.act_rows(batch.S, batch.mask))
    return batch.S.copy(), batch.mask.copy()


def test_both_agents_are_registered() -> None:
    assert {"greedy", "planner"} <= set(agent_names("century"))


@pytest.mark.parametrize("spec", AGENTS)
def test_a_payable_card_is_claimed(spec: str) -> None:
    alone = position(seat_of("RRRRG"), row=(), points=["RRRR=8", *["face down"] * 9])
    assert choice(alone, spec) == "claim RRRR=8 at place 1"
    table = position(seat_of("YYYBBBB"), seat_of("YYYY"), row=())
    assert choice(table, spec) == "claim BBBB=16 at place 4"


def test_the_planner_trades_as_often_as_its_plan_needs() -> None:
    state = position(seat_of("YYYYYYYY", hand="YY>G"), row=(), points=["GGGG=12", *["face down"] * 9])
    words = []
    while not state.is_chance:
        words.append(choice(state, SMALL))
        state.step(state.parse_action(words[-1]))
    assert words == ["play YY>G", *["trade once more"] * 3]


def test_the_planner_rests_for_the_card_that_it_needs() -> None:
    state = position(seat_of("GGYY", hand="", played="YY>G ^2"), row=(), points=["GGGG=12", *["face down"] * 9])
    assert choice(state, SMALL) == "rest"


def test_the_planner_takes_the_last_card_only_if_that_wins() -> None:
    own = seat_of("RRRR", points=FIVE)
    ahead = position(own, points=LAST_CARD_LEFT, automa=automa_of("", points=NINE_TAKEN))
    assert choice(ahead, SMALL) == "claim RRRR=8 at place 1"
    level = position(own, points=LAST_CARD_LEFT, automa=automa_of("", coins=29, points=NINE_TAKEN))
    assert level.scores()[0] + 8 - 4 == 58 == level.to_json()["automa"]["score"]  # a tie, which is not a win (O11)
    assert choice(level, SMALL) != "claim RRRR=8 at place 1"


def test_the_planner_takes_its_sixth_card_only_if_that_wins() -> None:
    own, cards = seat_of("RRRR", points=FIVE), ["YYRR=6", "GGGG=12", "RRRR=8", "BBBB=16", "YRGB=12"]
    ahead = position(own, seat_of("YYYY", points="YYYRR=7"), points=cards)
    assert choice(ahead, SMALL) == "claim RRRR=8 at place 3"
    behind = position(own, seat_of("YYYY", points="YRGBBB=20 BBBBB=20 RRGGBB=19", gold=4), points=cards)
    assert choice(behind, SMALL) != "claim RRRR=8 at place 3"


@pytest.mark.parametrize("players", [1, 2, 5])
@pytest.mark.parametrize("spec", AGENTS)
def test_choices_depend_on_the_position_alone(spec: str, players: int) -> None:
    S, mask = some_positions(players=players)
    before = S.copy()
    agent = make_agent(spec, make_game("century", players=players))
    together = agent.act_rows(S, mask)
    assert S.tobytes() == before.tobytes()
    assert mask[np.arange(len(S)), together].all()
    order = np.arange(len(S))[::-1].copy()
    assert (agent.act_rows(S[order], mask[order]) == together[order]).all()
    game = make_game("century", players=players)
    assert [make_agent(spec, game, seed=9).act(State(game, S[i : i + 1].copy())) for i in range(6)] == list(
        together[:6]
    )


def test_threads_change_nothing() -> None:
    S, mask = some_positions()
    game = make_game("century")
    one, three = make_agent(SMALL, game), make_agent(f"{SMALL},threads=3", game)
    assert (one.act_rows(S, mask) == three.act_rows(S, mask)).all()
    assert three.act_rows(S[:1], mask[:1]) == one.act_rows(S[:1], mask[:1])


@pytest.mark.parametrize("spec", AGENTS)
def test_crowded_set_positions_are_played(spec: str) -> None:
    crowded = position(seat_of("Y" * 200 + "R" * 50, hand="+YY ^3 YY>G R>YYY"), seat_of("YYYY"), row=())
    assert crowded.parse_action(choice(crowded, spec)) in crowded.legal_actions()


def test_greedy_beats_random_and_finishes_its_games() -> None:
    greedy = play_games(make_game("century"), ["greedy"], 60, seed=5)
    assert (greedy.returns > 0).mean() > 0.4
    assert greedy.truncated.mean() < 0.1
    assert (
        play_games(make_game("century", players=3), ["greedy", "random", "random"], 30, seed=5).win_rate(0).share > 0.9
    )


def test_the_planner_wins_alone_and_against_greedy() -> None:
    alone = play_games(make_game("century"), [SMALL], 60, seed=5)
    assert (alone.returns > 0).mean() > 0.85
    assert play_games(make_game("century", players=2), [SMALL, "greedy"], 30, seed=5).win_rate(0).share > 0.85


@pytest.mark.parametrize("value", ["beam=0", "depth=65", "discount=0.0", "discount=1.5", "threads=0"])
def test_impossible_options_get_a_sentence(value: str) -> None:
    with pytest.raises(BadParams, match=f"planner:{value.split('=')[0]}"):
        make_agent(f"planner:{value}", make_game("century"))


@pytest.mark.parametrize("players", [1, 3])
def test_the_potential_is_about_the_return(players: int) -> None:
    S, _ = some_positions(players=players)
    seats = np.zeros(len(S), np.int64)
    low = potential(S, seats)
    assert (np.abs(low) <= 1).all()
    richer = S.copy()
    richer["card_points"][:, 0] += 20
    assert (potential(richer, seats) > low).all()
    behind = position(seat_of("YYY"), points=LAST_CARD_LEFT, automa=automa_of("BBB", coins=30, points=NINE_TAKEN))
    assert potential(behind.row, np.zeros(1, np.int64))[0] < -0.9
    over = position(seat_of("RRRR", points=FIVE), points=LAST_CARD_LEFT, automa=automa_of("", points=NINE_TAKEN))
    over.step(over.parse_action("claim RRRR=8 at place 1"))
    assert over.is_terminal
    assert potential(over.row, np.zeros(1, np.int64))[0] == 0
