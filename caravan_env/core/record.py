"""The game record: one game, one JSON-lines file, replayable without a seed. docs/formats.md has the format."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from caravan_env.core.errors import BadRecord, CaravanError, nearest
from caravan_env.core.files import write_text
from caravan_env.core.game import Game, State
from caravan_env.core.registry import game_names, game_spec

FORMAT = 1
_HEADER_FIELDS = {"format": int, "game": str, "version": int, "params": dict, "agents": list}
_EVENT_FIELDS: dict[str, dict[str, type]] = {
    "chance": {"outcome": int, "text": str, "digest": str},
    "move": {"seat": int, "action": int, "text": str, "legal": int, "digest": str},
    "result": {"returns": list, "scores": list, "truncated": bool, "plies": int},
    "error": {"seat": int, "action": int, "message": str},
}


@dataclasses.dataclass(frozen=True)
class Event:
    """One line of play.

    Attributes:
        kind: "chance" or "move".
        action: the action, or the chance outcome.
        text: the same in words.
        digest: digest of the position after it, see `position_digest`.
        seat: the mover, -1 for chance.
        legal: number of legal actions before a move, 0 for chance.
        value: what the agent expected as its return, if it said so.
        policy: action -> probability as the agent saw it, if it said so.
    """

    kind: str
    action: int
    text: str
    digest: str
    seat: int = -1
    legal: int = 0
    value: float | None = None
    policy: Mapping[int, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the event as the object of its line."""
        if self.kind == "chance":
            return {"type": "chance", "outcome": self.action, "text": self.text, "digest": self.digest}
        line: dict[str, Any] = {"type": "move", "seat": self.seat, "action": self.action, "text": self.text}
        line |= {"legal": self.legal, "digest": self.digest}
        if self.value is not None:
            line["value"] = round(float(self.value), 4)
        if self.policy is not None:
            line["policy"] = {str(a): round(float(p), 4) for a, p in self.policy.items()}
        return line


@dataclasses.dataclass
class Record:
    """A game, whole or as far as it got.

    Attributes:
        header: game, version, params, agents, and whatever else was noted.
        events: chance outcomes and moves in the order of play.
        result: the result or error line, or None while the game is unfinished.
    """

    header: dict[str, Any]
    events: list[Event] = dataclasses.field(default_factory=list)
    result: dict[str, Any] | None = None

    def to_lines(self) -> list[str]:
        """Return the lines of the file."""
        objects = [{"type": "header", **self.header}, *(event.to_json() for event in self.events)]
        if self.result is not None:
            objects.append(self.result)
        return [json.dumps(line, ensure_ascii=False) for line in objects]

    def save(self, path: str | Path) -> None:
        """Write the record to a file, atomically."""
        write_text(path, "\n".join(self.to_lines()) + "\n")

    def game(self) -> Game:
        """Return the game variant that was played.

        Raises:
            BadRecord: there is no such game, the record is of another version of it, or its params do not fit.
        """
        name = self.header["game"]
        if name not in game_names():  # a record may not name an import path: reading it would run that module
            raise BadRecord(f"line 1: there is no game {name!r}: {nearest(name, game_names())}")
        spec = game_spec(name)
        if spec.version != self.header["version"]:
            raise BadRecord(
                f"line 1: the record is of {spec.name} version {self.header['version']}, "
                f"and this package plays version {spec.version}"
            )
        try:
            return Game(spec, self.header["params"])
        except CaravanError as error:
            raise BadRecord(f"line 1: {error}") from error


def position_digest(state: State) -> str:
    """Return the first 8 hexadecimal digits of the SHA-256 of the position's struct without its params."""
    struct = {"game": state.game.name, **state.game.spec.text.to_json(state.row, 0)}
    text = json.dumps(struct, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _result_of(state: State, events: list[Event]) -> dict[str, Any]:
    return {
        "returns": [round(float(x), 6) for x in state.returns()],
        "scores": [float(x) for x in state.scores()],
        "truncated": state.truncated,
        "plies": sum(event.kind == "move" for event in events),
    }


class Recorder:
    """Plays events on a state and notes them."""

    def __init__(self, state: State, agents: list[str], **notes: Any) -> None:
        from caravan_env import __version__

        self.state = state
        game = state.game
        header = {"format": FORMAT, "game": game.name, "version": game.spec.version, "params": game.params.to_json()}
        self.record = Record({**header, "agents": agents, "package": __version__, **notes})

    def resolve(self, outcome: int) -> None:
        """Apply a chance outcome and note it."""
        text = self.state.outcome_text(outcome)
        self.state.resolve(outcome)
        self.record.events.append(Event("chance", int(outcome), text, position_digest(self.state)))

    def step(self, action: int, value: float | None = None, policy: Mapping[int, float] | None = None) -> None:
        """Play a legal action and note it; an illegal one raises and is not noted."""
        seat, legal = self.state.to_move, len(self.state.legal_actions())
        text = self.state.action_text(action) if seat >= 0 and 0 <= action < self.state.game.num_actions else ""
        self.state.step(action)
        digest = position_digest(self.state)
        self.record.events.append(Event("move", int(action), text, digest, seat, legal, value, policy))

    def finish(self) -> Record:
        """Note the result of the finished game and return the record."""
        self.record.result = {"type": "result", **_result_of(self.state, self.record.events)}
        return self.record

    def fail(self, seat: int, action: int, message: str) -> Record:
        """Note that an agent broke off the game and return the record."""
        self.record.result = {"type": "error", "seat": seat, "action": int(action), "message": message}
        return self.record


def read_record(path: str | Path, partial: bool = False) -> Record:
    """Read a record file.

    Args:
        path: the file.
        partial: accept a damaged file and return what is readable before the damage.

    Raises:
        BadRecord: the file cannot be read, or a line is damaged or missing; the message names the line.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecord(f"the record {path} cannot be read: {error}") from error
    return parse_record(lines, partial)


def parse_record(lines: list[str], partial: bool = False) -> Record:
    """Parse the lines of a record file, see `read_record`."""
    if not any(lines):
        raise BadRecord("line 1: the record is empty; it must begin with a header")
    record = Record(_parse_header(lines[0]))
    for number, line in enumerate(lines[1:], start=2):
        try:
            _parse_line(record, number, line)
        except BadRecord:
            if partial:
                return record
            raise
    if record.result is None and not partial:
        raise BadRecord(f"line {len(lines) + 1}: the record ends without a result; it was truncated")
    return record


def replay(record: Record) -> Iterator[tuple[Event | None, State]]:
    """Play a record again: yield (None, first position), then (event, position after it). The state is reused.

    Raises:
        BadRecord: an event cannot be played, or leads to another position than the record says; names the line.
    """
    state = record.game().new_state()
    yield None, state
    for number, event in enumerate(record.events, start=2):
        try:
            if event.kind == "chance":
                state.resolve(event.action)
            else:
                state.step(event.action, seat=event.seat)
        except CaravanError as error:
            raise BadRecord(f"line {number}: {error}") from error
        if position_digest(state) != event.digest:
            raise BadRecord(f"line {number}: after {event.text!r} the position is not the recorded one")
        yield event, state
    _check_result(record, state)


def _check_result(record: Record, state: State) -> None:
    """Raise BadRecord unless the result line, if there is one, says what the replayed game came to."""
    if record.result is None or record.result["type"] == "error":
        return
    number = len(record.events) + 2
    if not state.is_terminal:
        raise BadRecord(f"line {number}: there is a result, but the game is not over")
    for field, value in _result_of(state, record.events).items():
        if record.result[field] != value:
            raise BadRecord(f"line {number}: {field} is {record.result[field]!r}, but the game came to {value!r}")


def _load_line(number: int, line: str) -> dict[str, Any]:
    try:
        struct = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"line {number}: this is no JSON object: {error}") from error
    if not isinstance(struct, dict) or not isinstance(struct.get("type"), str):
        raise BadRecord(f"line {number}: this is no JSON object with a type")
    return struct


def _require(number: int, struct: Mapping[str, Any], fields: Mapping[str, type]) -> None:
    for field, kind in fields.items():
        if type(struct.get(field)) is not kind:
            raise BadRecord(f"line {number}: the field {field!r} must be of type {kind.__name__}")


def _parse_header(line: str) -> dict[str, Any]:
    struct = _load_line(1, line)
    if struct.pop("type") != "header":
        raise BadRecord("line 1: a record must begin with a header")
    _require(1, struct, _HEADER_FIELDS)
    if struct["format"] != FORMAT:
        raise BadRecord(f"line 1: this is record format {struct['format']}, and this package reads format {FORMAT}")
    return struct


def _parse_line(record: Record, number: int, line: str) -> None:
    struct = _load_line(number, line)
    kind = struct["type"]
    if record.result is not None:
        raise BadRecord(f"line {number}: there is a line after the result")
    if kind not in _EVENT_FIELDS:
        raise BadRecord(f"line {number}: unknown type {kind!r}. Allowed: {', '.join(_EVENT_FIELDS)}")
    _require(number, struct, _EVENT_FIELDS[kind])
    if kind in ("result", "error"):
        record.result = struct
    elif kind == "chance":
        record.events.append(Event("chance", struct["outcome"], struct["text"], struct["digest"]))
    else:
        record.events.append(_parse_move(number, struct))


def _parse_move(number: int, struct: Mapping[str, Any]) -> Event:
    value, policy = struct.get("value"), struct.get("policy")
    try:
        policy = None if policy is None else {int(a): float(p) for a, p in policy.items()}
        value = None if value is None else float(value)
    except (AttributeError, TypeError, ValueError) as error:
        raise BadRecord(f"line {number}: value or policy is damaged: {error}") from error
    fields = (struct["action"], struct["text"], struct["digest"], struct["seat"], struct["legal"])
    return Event("move", *fields, value, policy)
