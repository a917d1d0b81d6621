"""Game records: the way to a file and back, and every kind of damage named by its line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from caravan_env.core.errors import BadRecord, CaravanError, GameOver, IllegalAction, WrongSeat
from caravan_env.core.game import Game, State
from caravan_env.core.match import Thought, play_match
from caravan_env.core.record import Event, Record, Recorder, parse_record, position_digest, read_record, replay


class RandomPlayer:
    """Plays at random and says what it thinks."""

    def __init__(self, name: str = "random", seed: int = 0) -> None:
        self.name = name
        self.rng = np.random.default_rng(seed)

    def think(self, state: State) -> Thought:
        actions = state.legal_actions()
        chosen = int(self.rng.choice(actions))
        return Thought(chosen, value=0.25, policy={chosen: 0.75, int(actions[0]): 0.125})


def recorded(game: Game, seed: int = 1) -> Record:
    return play_match(game, [RandomPlayer(f"player {k}", k) for k in range(game.players)], seed)


@pytest.fixture
def lines(toy: Game) -> list[str]:
    return recorded(toy).to_lines()


def last_state(record: Record) -> State:
    return [state for _, state in replay(record)][-1]


def test_round_trip(game: Game, tmp_path: Path) -> None:
    switches = {"turn_limit": 30} if hasattr(game.params, "turn_limit") else {}
    record = recorded(Game(game.spec, switches))
    path = tmp_path / "folder" / "game.jsonl"
    record.save(path)
    again = read_record(path)
    assert again == record
    assert again.game().params == Game(game.spec, switches).params
    state = last_state(again)
    assert state.is_terminal and record.result is not None
    assert record.result["scores"] == list(state.scores()) and record.result["truncated"] == state.truncated
    assert record.result["returns"] == pytest.approx(list(state.returns()), abs=1e-6)
    assert record.result["plies"] == sum(event.kind == "move" for event in record.events)


def test_the_lines_are_as_documented(toy: Game) -> None:
    record = recorded(toy)
    header, chance, *rest = [json.loads(line) for line in record.to_lines()]
    assert header.pop("package")
    assert header == {
        "type": "header",
        "format": 1,
        "game": "heap",
        "version": 1,
        "params": {"players": 2, "returns": "win", "turn_limit": 100},
        "agents": ["player 0", "player 1"],
    }
    assert set(chance) == {"type", "outcome", "text", "digest"} and chance["text"].startswith("card ")
    move = next(line for line in rest if line["type"] == "move")
    assert set(move) == {"type", "seat", "action", "text", "legal", "digest", "value", "policy"}
    assert (move["seat"], move["legal"], move["value"]) == (0, 4, 0.25)
    assert set(rest[-1]) == {"type", "returns", "scores", "truncated", "plies"} and rest[-1]["type"] == "result"


def test_the_digest_is_of_the_struct_without_params(toy: Game) -> None:
    import hashlib

    state = toy.new_state(seed=4)
    struct = {key: value for key, value in state.to_json().items() if key != "params"}
    text = json.dumps(struct, sort_keys=True, separators=(",", ":"))
    assert position_digest(state) == hashlib.sha256(text.encode()).hexdigest()[:8]
    other = Game(toy.spec, {"turn_limit": 9}).state_from_json(state.to_json())
    assert position_digest(other) == position_digest(state)


@pytest.mark.parametrize(
    "name", ["plain", "Zoë", "two\nlines", "a\u2028b", "a\x85b", "\x1c\x1d", '"quoted"\\', "\t", "🐪", ""]
)
def test_names_of_any_characters_survive(toy: Game, name: str, tmp_path: Path) -> None:
    record = play_match(toy, [RandomPlayer(name), RandomPlayer("b")])
    record.save(tmp_path / "game.jsonl")
    assert read_record(tmp_path / "game.jsonl").header["agents"] == [name, "b"]
    assert len((tmp_path / "game.jsonl").read_bytes().rstrip(b"\n").split(b"\n")) == len(record.to_lines())


def test_notes_in_the_header_survive(toy: Game) -> None:
    recorder = Recorder(toy.new_state(), ["a", "b"], event="final", round=3)
    again = parse_record(recorder.record.to_lines(), partial=True)
    assert (again.header["event"], again.header["round"]) == ("final", 3)


def test_windows_line_ends_are_read(lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes("\r\n".join([*lines, ""]).encode())
    assert read_record(path) == parse_record(lines)


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_record_cut_anywhere_names_the_first_line_that_is_missing(lines: list[str]) -> None:
    for kept in range(len(lines)):
        expected = f"line {kept + 1}: " + ("the record is empty" if kept == 0 else "the record ends without a result")
        with pytest.raises(BadRecord, match=expected):
            parse_record(lines[:kept])
        if kept:
            partial = parse_record(lines[:kept], partial=True)
            assert [event.text for event in partial.events] == [json.loads(line)["text"] for line in lines[1:kept]]
            assert len(list(replay(partial))) == kept
    with pytest.raises(BadRecord, match="line 1: the record is empty"):
        parse_record([], partial=True)


def test_a_record_cut_within_a_line_names_it(lines: list[str], tmp_path: Path) -> None:
    text = "\n".join(lines) + "\n"
    path = tmp_path / "game.jsonl"
    for length in range(1, len(text) - 2, 37):
        path.write_text(text[:length], encoding="utf-8")
        number = text[:length].count("\n") + 1
        whole = text[:length].endswith("\n") or text[length] == "\n"
        number += text[:length].endswith("\n") is False and whole
        with pytest.raises(BadRecord) as error:
            read_record(path)
        assert str(error.value).startswith(f"line {number}: "), length
        if number > 1:
            assert len(read_record(path, partial=True).events) == number - 2


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "{",
        "nonsense",
        "[1, 2]",
        "5",
        "null",
        '{"no": "type"}',
        "\x00",
        "[" * 100_000,
        '{"type": ' + "9" * 5000 + "}",
    ],
)
def test_garbage_names_its_line(lines: list[str], garbage: str) -> None:
    for number in (1, 2, 7, len(lines)):
        damaged = [*lines[: number - 1], garbage, *lines[number:]]
        with pytest.raises(BadRecord, match=rf"^line {number}: "):
            parse_record(damaged)
        if number > 1:
            assert len(parse_record(damaged, partial=True).events) == number - 2


def edited(lines: list[str], number: int, change: Callable[[dict[str, Any]], None]) -> list[str]:
    """Return the lines with line `number` changed."""
    line = json.loads(lines[number - 1])
    change(line)
    return [*lines[: number - 1], json.dumps(line), *lines[number:]]


def setting(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda line: line.update(fields)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"type": "move"}, "a record must begin with a header"),
        ({"format": 2}, "this is record format 2, and this package reads format 1"),
        ({"format": "1"}, "the field 'format' must be of type int"),
        ({"game": 5}, "the field 'game' must be of type str"),
        ({"params": []}, "the field 'params' must be of type dict"),
        ({"agents": "a"}, "the field 'agents' must be of type list"),
        ({"version": True}, "the field 'version' must be of type int"),
    ],
)
def test_damaged_header(lines: list[str], fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRecord) as error:
        parse_record(edited(lines, 1, setting(**fields)))
    assert str(error.value) == f"line 1: {sentence}"
    for field in ("format", "game", "version", "params", "agents"):
        with pytest.raises(BadRecord, match=f"line 1: the field '{field}' must be of type"):
            parse_record(edited(lines, 1, lambda line, field=field: line.pop(field)))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"version": 2}, "line 1: the record is of heap version 2, and this package plays version 1"),
        ({"game": "hep"}, "line 1: there is no game 'hep': did you mean 'heap'? Allowed: "),
        ({"game": "os:path"}, "line 1: there is no game 'os:path': Allowed: "),
        ({"params": {"players": 7}}, "line 1: heap is played by 2 to 4 players, not 7"),
        ({"params": {"plyers": 2}}, "line 1: 'plyers' is no rule switch of this game: did you mean 'players'?"),
    ],
)
def test_records_of_other_games_versions_or_switches(lines: list[str], fields: dict[str, Any], sentence: str) -> None:
    record = parse_record(edited(lines, 1, setting(**fields)))
    with pytest.raises(BadRecord) as error:
        list(replay(record))
    assert str(error.value).startswith(sentence)


def test_a_flipped_digest_names_its_line(lines: list[str]) -> None:
    for number in range(2, len(lines)):
        digest = json.loads(lines[number - 1])["digest"]
        flipped = ("0" if digest[0] != "0" else "1") + digest[1:]
        record = parse_record(edited(lines, number, setting(digest=flipped)))
        with pytest.raises(BadRecord, match=rf"^line {number}: after '.*' the position is not the recorded one"):
            list(replay(record))
        seen = 0
        with pytest.raises(BadRecord):
            for _ in replay(record):
                seen += 1
        assert seen == number - 1  # what comes before the damage can be shown


def test_a_changed_action_names_its_line(lines: list[str]) -> None:
    for number in range(2, len(lines)):
        line = json.loads(lines[number - 1])
        field = "outcome" if line["type"] == "chance" else "action"
        for other in {0, 1, 2, 3, -1, 4, 10**30} - {line[field]}:
            record = parse_record(edited(lines, number, setting(**{field: other})))
            with pytest.raises(BadRecord, match=rf"^line {number}: "):
                list(replay(record))


def test_a_changed_seat_or_kind_names_its_line(lines: list[str]) -> None:
    number = next(n for n, line in enumerate(lines, 1) if json.loads(line)["type"] == "move")
    seat = json.loads(lines[number - 1])["seat"]
    for other in (1 - seat, 2, -1):
        with pytest.raises(BadRecord, match=rf"^line {number}: seat {other} "):
            list(replay(parse_record(edited(lines, number, setting(seat=other)))))
    with pytest.raises(BadRecord, match=rf"^line {number}: chance outcome 0 cannot happen now"):
        list(replay(parse_record(edited(lines, number, setting(type="chance", outcome=0)))))
    with pytest.raises(BadRecord, match=r"^line 2: chance is to be resolved before"):
        list(replay(parse_record(edited(lines, 2, setting(type="move", seat=0, action=0, legal=1)))))


def test_a_missing_line_names_where_it_is_missing(lines: list[str]) -> None:
    for number in range(2, len(lines)):
        record = parse_record([*lines[: number - 1], *lines[number:]])
        with pytest.raises(BadRecord) as error:
            list(replay(record))
        # Two equal lines in a row cannot be told apart until the next one that differs.
        assert number <= int(str(error.value).split(":")[0].removeprefix("line ")) <= len(lines)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"type": "note"}, "unknown type 'note'. Allowed: chance, move, result, error"),
        ({"type": ["move"]}, "this is no JSON object with a type"),
        ({"seat": "0"}, "the field 'seat' must be of type int"),
        ({"action": 1.0}, "the field 'action' must be of type int"),
        ({"legal": None}, "the field 'legal' must be of type int"),
        ({"digest": 5}, "the field 'digest' must be of type str"),
        ({"text": 5}, "the field 'text' must be of type str"),
        ({"value": "high"}, "value or policy is damaged"),
        ({"value": [1]}, "value or policy is damaged"),
        ({"policy": [0.5]}, "value or policy is damaged"),
        ({"policy": {"one": 0.5}}, "value or policy is damaged"),
        ({"policy": {"1": "much"}}, "value or policy is damaged"),
    ],
)
def test_damaged_fields_of_a_move(lines: list[str], fields: dict[str, Any], sentence: str) -> None:
    number = next(n for n, line in enumerate(lines, 1) if json.loads(line)["type"] == "move")
    with pytest.raises(BadRecord) as error:
        parse_record(edited(lines, number, setting(**fields)))
    assert str(error.value).startswith(f"line {number}: {sentence}")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"returns": [0.0, 0.0]}, r"returns is \[0\.0, 0\.0\], but the game came to"),
        ({"scores": [99.0, 1.0]}, r"scores is \[99\.0, 1\.0\], but the game came to"),
        ({"truncated": True}, "truncated is True, but the game came to False"),
        ({"plies": 3}, "plies is 3, but the game came to"),
    ],
)
def test_a_result_that_is_not_the_games(lines: list[str], fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRecord, match=f"^line {len(lines)}: {sentence}"):
        list(replay(parse_record(edited(lines, len(lines), setting(**fields)))))


def test_a_result_before_the_end(lines: list[str]) -> None:
    with pytest.raises(BadRecord, match=r"^line 9: there is a result, but the game is not over"):
        list(replay(parse_record([*lines[:8], lines[-1]])))


def test_lines_after_the_result(lines: list[str]) -> None:
    for extra in (lines[5], lines[-1], lines[0]):
        with pytest.raises(BadRecord, match=f"^line {len(lines) + 1}: there is a line after the result"):
            parse_record([*lines, extra])
    assert parse_record([*lines, lines[5]], partial=True) == parse_record(lines)


def test_a_move_after_the_end_of_the_game(lines: list[str]) -> None:
    again = [*lines[:-1], lines[-2], lines[-1]]
    with pytest.raises(BadRecord, match=rf"^line {len(lines)}: this game of heap is over"):
        list(replay(parse_record(again)))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b""])
def test_files_that_are_no_text(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes(content)
    for partial in (False, True):
        with pytest.raises(BadRecord, match="cannot be read|line 1: the record is empty"):
            read_record(path, partial)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.jsonl"):
        with pytest.raises(BadRecord, match="cannot be read"):
            read_record(path)
    assert issubclass(BadRecord, CaravanError) and issubclass(BadRecord, ValueError)


# --- noting events ---------------------------------------------------------------------------------------------------


def test_refused_events_are_not_noted(game: Game) -> None:
    recorder = Recorder(game.new_state(), ["a"] * game.players)
    with pytest.raises(WrongSeat):
        recorder.step(0)
    with pytest.raises(IllegalAction):
        recorder.resolve(-1)
    while recorder.state.is_chance:
        recorder.resolve(recorder.state.chance_outcomes()[0][0])
    noted = len(recorder.record.events)
    for action in (-1, game.num_actions, 10**30):
        with pytest.raises(IllegalAction):
            recorder.step(action)
    assert len(recorder.record.events) == noted
    recorder.step(int(recorder.state.legal_actions()[0]))
    assert len(recorder.record.events) == noted + 1


def test_a_finished_game_takes_no_more_events(toy: Game) -> None:
    record = recorded(toy)
    recorder = Recorder(last_state(record), ["a", "b"])
    with pytest.raises(GameOver):
        recorder.step(0)
    assert recorder.record.events == []


def test_thoughts_are_rounded_and_optional() -> None:
    event = Event("move", 3, "pass", "01234567", 1, 4, value=1 / 3, policy={3: 2 / 3})
    assert (event.to_json()["value"], event.to_json()["policy"]) == (0.3333, {"3": 0.6667})
    plain = Event("move", 3, "pass", "01234567", 1, 4).to_json()
    assert "value" not in plain and "policy" not in plain


def test_replay_yields_the_first_position_too(lines: list[str]) -> None:
    record = parse_record(lines)
    texts = [None if event is None else event.text for event, _ in replay(copy.deepcopy(record))]
    assert texts == [None, *(event.text for event in record.events)]
