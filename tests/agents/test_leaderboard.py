"""Leaderboards and anchors: the page, the drawing, the JSON, and the file of fixed ratings."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agents import anchors as anchors_module
from agents.anchors import ANCHORS, ORIGIN, NoAnchors, anchors, known_anchors, make_anchors
from agents.leaderboard import DRAWING, JSON, MARKDOWN, Leaderboard
from agents.registry import make_agent
from agents.tournament import Arena
from caravan_env import Game, make_game
from caravan_env.core.registry import game_spec
from caravan_env.core.svg import THEMES

AGENTS = ["random", "noisy:0.2:greedy", "greedy"]


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game("caravan", turn_limit=40)


@pytest.fixture(scope="module")
def arena(game: Game, tmp_path_factory: pytest.TempPathFactory) -> Arena:
    arena = Arena(game, AGENTS, tmp_path_factory.mktemp("arena"))
    arena.play(arena.missing(40))
    return arena


@pytest.fixture(scope="module")
def board(arena: Arena) -> Leaderboard:
    return Leaderboard.of(arena)


def test_files(board: Leaderboard, tmp_path: Path) -> None:
    written = board.write(tmp_path)
    assert sorted(path.name for path in written) == sorted(path.name for path in tmp_path.iterdir())
    assert {path.name for path in written} == {JSON, MARKDOWN, DRAWING}
    struct = json.loads((tmp_path / JSON).read_text(encoding="utf-8"))
    assert struct == board.to_json()


def test_the_struct_says_what_was_played(board: Leaderboard, game: Game) -> None:
    struct = board.to_json()
    assert (struct["game"], struct["params"]["turn_limit"], struct["seed"]) == ("caravan", 40, 0)
    assert struct["anchored"] is False
    agents = struct["agents"]
    assert {agent["agent"] for agent in agents} == set(AGENTS)
    assert [a["rating"] for a in agents] == sorted((a["rating"] for a in agents), reverse=True)
    pairs = {(pair["agent"], pair["against"]): pair for pair in struct["pairs"]}
    assert len(pairs) == 6
    for (one, two), pair in pairs.items():
        assert pair["compared"] == 40
        assert pair["score"] + pairs[two, one]["score"] == pytest.approx(1)


def test_the_page_has_two_whole_tables(board: Leaderboard) -> None:
    page = board.markdown()
    assert page.startswith("# Caravan, 2 players\n")
    assert f"]({DRAWING})" in page
    assert "the mean rating is 0" in page
    tables = re.findall(r"(?:^\|.*\n)+", page, flags=re.MULTILINE)
    assert len(tables) == 2
    for table in tables:
        rows = table.splitlines()
        assert len(rows) == 2 + len(AGENTS)
        assert len({row.count("|") for row in rows}) == 1
        assert all(f"`{agent}`" in table for agent in AGENTS)


@pytest.mark.parametrize("theme", THEMES)
def test_the_drawing_shows_every_agent(board: Leaderboard, theme: str) -> None:
    root = ElementTree.fromstring(board.drawing(theme))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    dots = root.findall(".//{*}circle")
    assert len(dots) == len(AGENTS)
    assert all(0 < float(dot.attrib["cx"]) < width and 0 < float(dot.attrib["cy"]) < height for dot in dots)
    places = [float(dot.attrib["cx"]) for dot in dots]
    assert places == sorted(places, reverse=True)
    words = [element.text for element in root.findall(".//{*}text")]
    assert set(AGENTS) < set(words)


def test_hostile_names_stay_text(board: Leaderboard) -> None:
    name = 'policy:runs/<b onload="x">&/' + "very-long/" * 9
    best = dataclasses.replace(board.standings[0], agent=name, low=-9000.0, high=9000.0)
    odd = dataclasses.replace(board, standings=(best, *board.standings[1:]))
    root = ElementTree.fromstring(odd.drawing())
    shown = [str(e.text) for e in root.findall(".//{*}text") if str(e.text).startswith("policy:")]
    assert len(shown) == 1 and shown[0].endswith("…") and len(shown[0]) <= 40


def test_groups_that_no_win_connects_are_named(board: Leaderboard) -> None:
    apart = tuple(dataclasses.replace(s, group=k) for k, s in enumerate(board.standings))
    together = tuple(dataclasses.replace(s, group=0) for s in board.standings)
    assert dataclasses.replace(board, standings=together).notes == []
    (note,) = dataclasses.replace(board, standings=apart).notes
    assert note.endswith(f"{apart[0].agent}; {apart[1].agent}; {apart[2].agent}.")


def test_anchors_are_made_kept_and_used(arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "anchors.json"
    loose = Leaderboard.of(arena, anchored=False)
    ratings = make_anchors(arena.game, loose.standings, 40, file)
    assert ratings["greedy"] == ORIGIN
    other = make_game("caravan", turn_limit=41)
    unnamed = [dataclasses.replace(standing, agent=f"not {standing.agent}") for standing in loose.standings]
    assert list(make_anchors(other, unnamed, 40, file).values())[1] == ORIGIN
    assert make_anchors(arena.game, loose.standings, 40, file) == anchors(arena.game, file) == ratings
    assert len(json.loads(file.read_text(encoding="utf-8"))["tables"]) == 2
    assert anchors(make_game("caravan", turn_limit=42), file) == {}
    monkeypatch.setattr(anchors_module, "_read", lambda _path: json.loads(file.read_text(encoding="utf-8"))["tables"])
    fixed = Leaderboard.of(arena)
    assert {s.agent: s.rating for s in fixed.standings} == pytest.approx(ratings)
    assert "greedy = " in fixed.scale and "fixed by" in fixed.scale
    assert "anchor" in fixed.markdown() and "(anchor)" in fixed.drawing()
    assert fixed.to_json()["anchored"] is True


def test_a_variant_without_anchors_gets_a_sentence(game: Game) -> None:
    with pytest.raises(NoAnchors, match="no anchors for this variant of caravan"):
        known_anchors(game)


def test_shipped_anchors_are_of_this_package() -> None:
    """Every table is of a game's current version, of agents that can be made, on a scale with `ORIGIN` in it."""
    for table in json.loads(ANCHORS.read_text(encoding="utf-8"))["tables"]:
        assert table["version"] == game_spec(table["game"]).version
        game = make_game(table["game"], **table["params"])
        assert known_anchors(game) == table["ratings"]
        assert list(table["ratings"].values()) == sorted(table["ratings"].values(), reverse=True)
        assert ORIGIN in table["ratings"].values()
        assert all(low <= table["ratings"][agent] <= high for agent, (low, high) in table["intervals"].items())
        for agent in table["ratings"]:
            make_agent(agent, game)
