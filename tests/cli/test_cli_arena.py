"""`caravan arena` and `caravan compare`: tables, JSON, going on, anchors, and error sentences."""

from __future__ import annotations

import json

import pytest

from agents import anchors, tournament

SHORT = ("--set", "turn_limit=24", "--jobs", "1")


def test_an_arena_as_a_table_leaves_its_files(caravan, tmp_path):
    out = tmp_path / "arena"
    outcome = caravan("arena", "--agents", "greedy,random,first", "--games", 20, "--out", out, *SHORT)
    assert outcome.code == 0
    assert "Caravan, 2 players" in outcome.out and "95 % interval" in outcome.out
    assert "the mean rating is 0" in outcome.out
    names = {"games.jsonl", "ratings.json", "leaderboard.md", "leaderboard.svg"}
    assert {path.name for path in out.iterdir()} == names
    assert all(str(out / name) in outcome.out for name in names - {"games.jsonl"})


def test_an_arena_as_json_goes_on_where_it_was(caravan, tmp_path, monkeypatch):
    played = []
    play_batch = tournament.play_batch
    monkeypatch.setattr(tournament, "play_batch", lambda *a: played.append(a[1]) or play_batch(*a))

    def arena(agents, games):
        played.clear()
        return caravan("arena", "--agents", agents, "--games", games, "--out", tmp_path, *SHORT, "--json").json

    report = arena("greedy,random", 20)
    assert len(played) == 1
    assert [agent["agent"] for agent in report["agents"]] == ["greedy", "random"]
    assert report["files"] == [str(tmp_path / name) for name in ("ratings.json", "leaderboard.md", "leaderboard.svg")]
    assert arena("greedy,random", 20) == report
    assert played == []
    more = arena("greedy,random,first", 40)
    assert len(played) == 5
    assert {agent["games"] for agent in more["agents"]} == {80}
    written = json.loads((tmp_path / "ratings.json").read_text(encoding="utf-8"))
    assert {**written, "files": more["files"]} == more


def test_three_players(caravan, tmp_path):
    arguments = ("--agents", "greedy,first", "--games", 30, "--set", "players=3", "--out", tmp_path, *SHORT, "--json")
    report = caravan("arena", *arguments).json
    assert report["params"]["players"] == 3
    assert report["agents"][0]["games"] == 60


def test_anchors_can_be_made_and_join(caravan, tmp_path, monkeypatch):
    file = tmp_path / "anchors.json"
    monkeypatch.setattr(anchors, "_read", lambda _path: json.loads(file.read_text())["tables"] if file.exists() else [])
    monkeypatch.setattr(anchors, "write_text", lambda _path, text: file.write_text(text))
    agents = ("arena", "--games", 20, *SHORT, "--json")
    made = caravan(*agents, "--agents", "greedy,first", "--out", tmp_path / "a", "--make-anchors").json
    assert made["anchored"] and {agent["anchor"] for agent in made["agents"]} == {True}
    used = caravan(*agents, "--agents", "random", "--anchors", "--out", tmp_path / "b").json
    fixed = {agent["agent"]: agent["rating"] for agent in used["agents"] if agent["anchor"]}
    assert fixed == {agent["agent"]: agent["rating"] for agent in made["agents"]}
    assert len(used["agents"]) == 3


def test_a_comparison_as_text_and_as_json(caravan):
    arguments = ("compare", "greedy", "random", "--elo1", "200", "--set", "turn_limit=40", "--jobs", "1", "--seed", 1)
    text = caravan(*arguments)
    assert text.code == 0
    assert text.out.startswith("greedy is better than random (200 points against 0, alpha 0.05, beta 0.05)\n")
    assert "log likelihood ratio" in text.out and "equal agents 50.0%" in text.out
    report = caravan(*arguments, "--json").json
    assert report["decision"] == "better"
    assert report["games"] == 2 * report["deals"] < 10_000
    assert report["llr"] >= report["bounds"][1]


def test_an_open_comparison_says_so(caravan):
    arguments = ("--max-games", "20", "--set", "turn_limit=1", "--jobs", "1")
    assert "undecided between first and random after all games" in caravan("compare", "first", "random", *arguments).out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--agents", "greedi,random"], "did you mean 'greedy'"),
        (["--agents", "greedy"], "at least two agents, not 1"),
        (["--agents", "greedy,first,greedy"], "greedy is named twice"),
        (["--agents", "greedy,first", "--games", "0"], "at least one game"),
        (["--agents", "greedy,first", "--jobs", "0"], "jobs = 0"),
        (["--agents", "greedy,first", "--game", "century", "--set", "players=1"], "at least two seats"),
        (["--anchors", "--set", "turn_limit=3"], "no anchors for this variant of caravan"),
        (["--agents", "policy:nowhere,first"], "no checkpoint in nowhere"),
        (["--agents", "nothing.py:x,first"], "nothing.py"),
        (["--agents", "noisy:2:first,first"], "noisy:SHARE:SPEC"),
    ],
)
def test_mistakes_in_an_arena_get_a_sentence(caravan, tmp_path, arguments, sentence):
    assert sentence in caravan("arena", "--out", tmp_path / "arena", *arguments).sentence
    assert not (tmp_path / "arena").exists()


def test_a_folder_of_another_arena_gets_a_sentence(caravan, tmp_path):
    caravan("arena", "--agents", "random,first", "--games", 20, "--out", tmp_path, *SHORT)
    again = ("arena", "--agents", "random,first", "--out", tmp_path)
    assert "turn_limit = 24, not 200; choose another --out" in caravan(*again).sentence
    (tmp_path / "games.jsonl").write_text("nonsense\n", encoding="utf-8")
    assert "line 1 is damaged" in caravan(*again, *SHORT).sentence


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["greedy", "greedi"], "did you mean 'greedy'"),
        (["greedy", "first", "--elo0", "30"], "elo1 must be the greater"),
        (["greedy", "first", "--beta", "0.7"], "beta = 0.7"),
        (["greedy", "first", "--max-games", "0"], "a comparison needs"),
        (["greedy"], "Missing argument 'B'"),
    ],
)
def test_mistakes_in_a_comparison_get_a_sentence(caravan, arguments, sentence):
    assert sentence in caravan("compare", *arguments).sentence
