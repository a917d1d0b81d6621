"""The server of `caravan web`: games through its API, what it refuses, and the page."""

from __future__ import annotations

import dataclasses
import re
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from caravan_env.cli.main import call
from caravan_env.core.record import parse_record, replay
from caravan_env.core.registry import game_names, game_spec, make_game
from caravan_env.web.app import make_app
from caravan_env.web.menu import Preset, menu
from caravan_env.web.session import Session, Sessions

LOCAL = "http://127.0.0.1:8000"
SHORT = {"game": "caravan", "switches": {"turn_limit": 4}, "agents": ["random"], "seed": 7}


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(make_app(Preset("caravan", agents=["random"]), most=3), base_url=LOCAL) as opened:
        yield opened


def start(client: TestClient, **other: Any) -> dict[str, Any]:
    answer = client.post("/api/games", json={**SHORT, **other})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: Any, status: int = 400) -> str:
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    return answer.json()["error"]


def play_out(client: TestClient, view: dict[str, Any]) -> list[dict[str, Any]]:
    """Play the first legal action until the game is over; return all views."""
    views = [view]
    while not view["over"]:
        address = f"/api/games/{view['id']}"
        body = {"event": view["event"]}
        if view["yours"]:
            view = client.post(f"{address}/moves", json={**body, "action": view["actions"][0][0]}).json()
        else:
            view = client.post(f"{address}/advance", json=body).json()
        views.append(view)
    return views


def test_a_whole_game_is_played_and_its_record_replays(client):
    views = play_out(client, start(client, seat=1))
    last = views[-1]
    assert last["truncated"]
    assert not last["actions"]
    assert last["names"] == ["random", "human"]
    assert [v["event"] for v in views] == sorted({v["event"] for v in views})
    assert all(v["event"] - len(v["events"]) == before["event"] for before, v in zip(views, views[1:], strict=False))

    answer = client.get(f"/api/games/{last['id']}/record")
    assert 'attachment; filename="caravan.jsonl"' in answer.headers["content-disposition"]
    record = parse_record(answer.text.removesuffix("\n").split("\n"))
    assert [event.text for event in record.events] == [e["text"] for view in views for e in view["events"]]
    assert list(replay(record))[-1][1].is_terminal
    page = client.get(f"/api/games/{last['id']}/replay")
    assert "inline" in page.headers["content-disposition"]
    assert "cut off at its turn limit" in page.text
    assert "attachment" in client.get(f"/api/games/{last['id']}/replay?save").headers["content-disposition"]


@pytest.mark.parametrize("game", game_names())
def test_every_game_is_drawn_and_can_be_moved_in(client, game):
    others = game_spec(game).params_type().players - 1
    view = start(client, game=game, switches={}, agents=["first"] * others)
    while not view["yours"]:
        view = client.post(f"/api/games/{view['id']}/advance", json={"event": view["event"]}).json()
    assert view["svg"].startswith("<svg")
    action, text = view["actions"][-1]
    moved = client.post(f"/api/games/{view['id']}/moves", json={"event": view["event"], "action": action}).json()
    assert moved["events"][0] == {"seat": 0, "text": text}


def swap_chips(session: Session, other: int) -> None:
    """Exchange a chip in another hand for one of the supply, in the position and in the words of what was drawn."""
    recorder = session._recorder
    struct = recorder.state.to_json()
    held, supply = struct["seats"][other]["chips"], struct["supply"]
    old = next(chip for chip in held)
    new = next(chip for chip, left in supply.items() if left and chip not in held)
    struct["seats"][other]["chips"] = held | {old: held[old] - 1, new: 1}
    if held[old] == 1:
        del struct["seats"][other]["chips"][old]
    supply |= {old: supply[old] + 1, new: supply[new] - 1}
    recorder.state = recorder.state.game.state_from_json(struct)
    events, movers = recorder.record.events, {}
    for number, event in enumerate(events):
        movers[number] = event.seat if event.seat >= 0 else movers.get(number - 1)
    drawn = max(k for k, event in enumerate(events) if event.text == f"draw {old}" and movers[k] == other)
    events[drawn] = dataclasses.replace(events[drawn], text=f"draw {new}")


@pytest.mark.parametrize("watcher", [0, 1])
def test_chips_in_other_hands_are_not_on_the_page(watcher):
    session = Session(make_game("ukraine"), ["random"], watcher, 5)
    other, count = 1 - watcher, 0
    while count < 1 or not session.view()["yours"]:
        view = session.view()
        session.play(view["actions"][0][0], view["event"]) if view["yours"] else session.advance(view["event"])
        count = sum(session._recorder.state.to_json()["seats"][other]["chips"].values())
    before = session.view()
    own = make_own_view(session, other)
    swap_chips(session, other)
    assert session.view() == before
    assert make_own_view(session, other) != own
    assert {"seat": -1, "text": "draw a chip"} in before["events"]
    assert f'data-chip="face down" data-count="{count}"' in before["svg"]


def make_own_view(session: Session, seat: int) -> dict[str, Any]:
    """Return the page as another seat would see it."""
    session.seat, watcher = seat, session.seat
    try:
        return session.view()
    finally:
        session.seat = watcher


def test_an_unfinished_game_can_be_saved(client):
    view = start(client)
    record = parse_record(client.get(f"/api/games/{view['id']}/record").text.rstrip("\n").split("\n"), partial=True)
    assert len(record.events) == view["event"]
    assert "The game was not finished" in client.get(f"/api/games/{view['id']}/replay").text


def test_the_same_seed_is_the_same_game(client):
    first, second = (play_out(client, start(client))[-1] for _ in range(2))
    assert first["svg"] == second["svg"]
    assert first["id"] != second["id"]


def yours(client: TestClient) -> dict[str, Any]:
    """A game in which the person is to move."""
    return start(client, switches={"turn_limit": 4, "starting_seat": 0})


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"action": 10**6}, "action 1000000 does not exist"),
        ({"action": "end turn"}, "must be of type int"),
        ({"action": True}, "must be of type int"),
        ({}, "'action'"),
        ({"action": 0, "event": 1}, "gone on meanwhile"),
    ],
)
def test_a_wrong_move_gets_a_sentence_and_changes_nothing(client, body, sentence):
    view = yours(client)
    answer = client.post(f"/api/games/{view['id']}/moves", json={"event": view["event"], **body})
    assert sentence in refused(answer)
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_an_illegal_move_is_named_in_words(client):
    view = yours(client)
    legal = {action for action, _ in view["actions"]}
    illegal = next(a for a in range(game_spec("caravan").actions.size) if a not in legal)
    answer = client.post(f"/api/games/{view['id']}/moves", json={"event": view["event"], "action": illegal})
    assert re.search(r"action \d+ \(.+\) is not legal for seat 0 now", refused(answer))
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_nobody_moves_for_the_other(client):
    view = yours(client)
    assert refused(client.post(f"/api/games/{view['id']}/advance", json={"event": view["event"]})) == "it is your turn"
    theirs = start(client, switches={"starting_seat": 1})
    for what in ("moves", "hint"):
        body = {"event": theirs["event"], "action": 0}
        assert refused(client.post(f"/api/games/{theirs['id']}/{what}", json=body)) == "it is not your turn"
    over = play_out(client, view)[-1]
    assert "this game is over" in refused(
        client.post(f"/api/games/{view['id']}/moves", json={"event": over["event"], "action": 0})
    )


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"game": "caravn"}, "there is no game 'caravn': did you mean 'caravan'?"),
        ({"game": "os:path"}, "there is no game 'os:path'"),
        ({"game": 3}, "must be of type str"),
        ({"agents": ["randon"]}, "there is no agent 'randon' to choose here: did you mean 'random'?"),
        ({"agents": ["random:speed=1"]}, "agent 'random' has no options"),
        ({"agents": ["policy:runs/x"]}, "there is no agent 'policy:runs/x' to choose here"),
        ({"agents": ["own.py:Agent"]}, "there is no agent 'own.py:Agent' to choose here"),
        ({"agents": ["random:own.py:Agent"]}, "there is no agent"),
        ({"agents": [1]}, "list of texts"),
        ({"agents": []}, "0 agents are named for 1 other seats"),
        ({"seat": 2}, "seat 2 does not exist: this game has the seats 0 to 1"),
        ({"seed": -1}, "seed = -1 is not possible"),
        ({"switches": {"plyers": 3}}, "did you mean 'players'"),
        ({"switches": {"players": 9}}, "2 to 4 players"),
        ({"switches": {"players": 2.5}}, "must be of type int"),
        ({"switches": {"camels": 7}}, "camels = 7 is not possible. Allowed: 5, 6"),
        ({"switches": {"board": "/etc/passwd"}}, "board = '/etc/passwd' is not possible. Allowed: 'symmetric'"),
        ({"switches": []}, "must be of type dict"),
    ],
)
def test_a_game_that_cannot_be_gets_a_sentence(client, other, sentence):
    assert sentence in refused(client.post("/api/games", json={**SHORT, **other}))
    assert len(client.app.state.sessions) == 0


def test_requests_of_another_form_are_refused(client):
    assert "JSON object" in refused(
        client.post("/api/games", content="[]", headers={"Content-Type": "application/json"})
    )
    assert "JSON object" in refused(
        client.post("/api/games", content="{", headers={"Content-Type": "application/json"})
    )
    assert "content type" in refused(client.post("/api/games", content='{"game": "caravan"}'))
    huge = {**SHORT, "agents": ["x" * 70_000]}
    assert "65536 bytes" in refused(client.post("/api/games", json=huge))
    view = start(client)
    assert "since" in refused(client.get(f"/api/games/{view['id']}?since=-1"))
    assert refused(client.get("/api/nothing"), 404) == "Not Found"
    assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 400


def test_the_game_left_alone_for_longest_makes_room(client):
    first, second, third = (start(client) for _ in range(3))
    assert client.get(f"/api/games/{first['id']}").status_code == 200
    fourth = start(client)
    assert "the last 3 games" in refused(client.get(f"/api/games/{second['id']}"), 404)
    for kept in (first, third, fourth):
        assert client.get(f"/api/games/{kept['id']}").status_code == 200


def test_a_hint_is_a_legal_action(client):
    view = yours(client)
    for body, agent in (({}, "random"), ({"agent": "first"}, "first")):
        advice = client.post(f"/api/games/{view['id']}/hint", json=body).json()
        assert advice["agent"] == agent
        assert [advice["action"], advice["text"]] in view["actions"]
    assert "no agent" in refused(client.post(f"/api/games/{view['id']}/hint", json={"agent": "x.py:y"}))
    assert client.get(f"/api/games/{view['id']}").json() == view


def test_an_illegal_move_by_an_agent_ends_the_game_with_its_record(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("def cheat(state):\n    return -5\n")
    own = f"{file}:cheat"
    app = make_app(Preset("caravan", agents=[own]))
    with TestClient(app, base_url=LOCAL) as client:
        view = play_out(client, start(client, agents=[own]))[-1]
        assert "action -5 does not exist" in view["fault"]
        assert '"type": "error"' in client.get(f"/api/games/{view['id']}/record").text


def test_the_preset_may_name_what_requests_may_not():
    preset = Preset("caravan", {"board": {"name": "mine"}, "players": 3}, ["policy:runs/x", "greedy"], 1)
    shown = menu(preset)
    game = next(g for g in shown["games"] if g["name"] == "caravan")
    assert shown["preset"]["seat"] == 1
    assert game["agents"][0] == "policy:runs/x"
    assert {"name": "mine"} in next(s["choices"] for s in game["switches"] if s["name"] == "board")
    assert Sessions(preset).preset is preset


def test_the_page_is_self_contained(client):
    answer = client.get("/")
    page = answer.text
    assert "{{" not in page
    assert not re.search(r"""(src|href)=["'](?!#|data:|")""", page.replace('href="/api', ""))
    assert not re.search(r"https?://", page)
    assert "@import" not in page
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert all(game_spec(name).title in page for name in game_names())


# ------------------------------------------------------------------------------------------------------- the command


def sentence(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code = call(["web", *arguments])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("caravan: ")]
    assert code == 2 and len(lines) == 1
    return lines[0]


def test_the_command_serves_its_preset(capsys, monkeypatch):
    served, opened = [], []
    monkeypatch.setattr("caravan_env.web.app.serve", lambda app, sock: served.append((app, sock.getsockname())))
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert call(["web", "--agents", "first,random", "--set", "players=4", "--seat", "2", "--port", "0", "--open"]) == 0
    app, (host, port) = served[0]
    assert host == "127.0.0.1"
    assert opened == [f"http://127.0.0.1:{port}/"]
    assert app.state.sessions.preset == Preset("caravan", {"players": 4}, ["first", "random", "random"], 2)


def test_a_busy_port_is_one_sentence(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port} at 127.0.0.1 cannot be used" in sentence(capsys, "--port", str(port))


def test_a_missing_extra_is_one_sentence(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert 'pip install "caravan_env[web]"' in sentence(capsys)


def test_mistakes_in_the_preset_are_one_sentence(capsys):
    assert "did you mean 'random'" in sentence(capsys, "--agents", "randon")
    assert "the game has the seats 0 to 1" in sentence(capsys, "--seat", "2")
