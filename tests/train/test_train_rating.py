"""The rating of a policy at the end of its training, on the scale of the anchors of its variant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.registry import make_agent
from caravan_env import make_game
from train.evaluate import other_anchors, play_matches, rating_of, rating_sentence
from train.run import run

LADDER = {"greedy": 1000.0, "noisy:0.5:greedy": 600.0, "random": 0.0}


@pytest.fixture
def anchored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every variant the anchors of LADDER."""
    monkeypatch.setattr("train.evaluate.anchors", lambda game: LADDER)


def test_a_run_plays_the_anchors_that_are_not_among_its_opponents(tiny, anchored):
    result = run(tiny(evaluation={"opponents": ["first", "greedy"], "anchor_games": 6}), quiet=True)
    assert [(score.opponent, score.games) for score in result.scores] == [
        ("first", 4),
        ("greedy", 4),
        ("noisy:0.5:greedy", 6),
        ("random", 6),
    ]
    rating = result.rating
    assert rating is not None and rating.low < rating.rating < rating.high
    assert rating.games == 4 + 6 + 6
    results = json.loads((result.run_dir / "results.json").read_text())
    assert results["rating"] == {k: getattr(rating, k) for k in ("rating", "low", "high", "games")}
    assert results["cpu_seconds"] > 0 and len(results["scores"]) == 4
    text = (result.run_dir / "results.md").read_text()
    assert f"Rating on the scale of the anchors: {rating.rating:.0f}, 95 % interval" in text
    assert "`noisy:0.5:greedy` = 600" in text
    last = json.loads((result.run_dir / "evaluations.jsonl").read_text().splitlines()[-1])
    assert [score["opponent"] for score in last["scores"]] == ["first", "greedy"]
    header = json.loads((result.run_dir / "replay.jsonl").read_text().splitlines()[0])
    assert header["agents"][1] == "greedy"


def test_a_run_in_a_variant_without_anchors_says_so(tiny):
    result = run(tiny(evaluation={"anchor_games": 6}), quiet=True)
    assert result.rating is None and [score.opponent for score in result.scores] == ["random"]
    sentence = "There are no anchors for this variant of caravan, so there is no rating."
    assert (result.run_dir / "results.md").read_text().endswith(f"\n{sentence}\n")
    assert json.loads((result.run_dir / "results.json").read_text())["rating"] is None


def test_without_anchor_games_nothing_is_said_of_a_rating(tiny, anchored):
    result = run(tiny(), quiet=True)
    assert result.rating is None
    assert "ating" not in (Path(result.run_dir) / "results.md").read_text()


def test_a_rating_is_that_of_an_anchor_that_plays_like_it(anchored):
    game = make_game("caravan", players=3, turn_limit=30)
    agent = make_agent("noisy:0.5:greedy", game, seed=9)
    rating = rating_of(game, play_matches(game, agent, ["noisy:0.5:greedy", "first"], 63, seed=1))
    assert rating is not None and rating.low < 600 < rating.high
    assert rating.games == 63
    assert "63 games" in rating_sentence(game, rating)


def test_one_player_has_no_anchors():
    game = make_game("century", players=1)
    assert other_anchors(game, []) == []
    assert rating_of(game, play_matches(game, make_agent("random", game), [], 2, seed=0)) is None


def test_the_shipped_variants_have_anchors():
    for name in ("caravan", "century", "ukraine"):
        others = other_anchors(make_game(name, players=2), ["planner"])
        assert "planner" not in others and {"greedy", "random"} <= set(others)
