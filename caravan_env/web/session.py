"""Games that are being played: one person against agents, kept in memory."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.base import Agent
from agents.registry import make_agent
from caravan_env.core.errors import BadParams, CaravanError, GameOver, UnknownName, WrongSeat
from caravan_env.core.game import Game
from caravan_env.core.match import AgentFault, play_one
from caravan_env.core.record import Recorder
from caravan_env.core.rng import streams
from caravan_env.viewer import replay_page
from caravan_env.viewer.frames import draw_module
from caravan_env.web.menu import Preset, check_agent, check_game, check_switches

HUMAN = "human"
MOST_SESSIONS = 32
MOST_SEED = 2**31 - 1


class Session:
    """One game. Every method may be called from any thread.

    Attributes:
        id: a random name that cannot be guessed.
        seat: the person's seat.
        opponents: spec of the agent in every other seat, in order.
    """

    def __init__(self, game: Game, agents: Sequence[str], seat: int, seed: int) -> None:
        self.id = secrets.token_urlsafe(12)
        self.seat = seat
        self.opponents = list(agents)
        self._seed = seed
        self._players: list[Agent | None] = [make_agent(a, game, seed + k) for k, a in enumerate(agents, start=1)]
        self._players.insert(seat, None)
        self._recorder = Recorder(game.new_state(), [HUMAN if p is None else p.name for p in self._players])
        self._draw = draw_module(game.spec)
        self._stream = streams(seed, 1)
        self._weights = np.zeros(game.spec.max_outcomes, np.int64)
        self._adviser: tuple[str, Agent] | None = None
        self._lock = threading.RLock()
        self._settle()

    def view(self, since: int = 0) -> dict[str, Any]:
        """Return the position as the person may see it, as JSON values; of the events those from number `since` on."""
        with self._lock:
            state, record = self._recorder.state, self._recorder.record
            names = record.header["agents"]
            last = next((event.text for event in reversed(record.events) if event.kind == "move"), None)
            yours = self._is_yours()
            return {
                "id": self.id,
                "game": state.game.name,
                "title": state.game.spec.title,
                "params": record.header["params"],
                "names": names,
                "seat": self.seat,
                "seed": self._seed,
                "mover": state.to_move,
                "yours": yours,
                "over": record.result is not None,
                "fault": (record.result or {}).get("message"),
                "truncated": state.truncated,
                "event": len(record.events),
                "events": self._events()[since:],
                "scores": state.scores().tolist(),
                "returns": state.returns().tolist(),
                "actions": self._actions() if yours else [],
                "svg": self._draw.draw_svg(self._struct(), last, names=names),
            }

    def play(self, action: int, event: int) -> None:
        """Play the person's action.

        Args:
            action: the action number.
            event: how many events the person has seen, so that a move made twice by mistake does not count twice.

        Raises:
            GameOver: the game is over.
            WrongSeat: an opponent is to move, or the game has gone on meanwhile.
            IllegalAction: the rules do not allow the action. In all cases the game is as it was.
        """
        with self._lock:
            self._check_turn(event, yours=True)
            self._recorder.step(action)
            self._settle()

    def advance(self, event: int) -> None:
        """Let the opponent whose turn it is make one move; an illegal one ends the game. Errors are those of `play`."""
        with self._lock:
            self._check_turn(event, yours=False)
            player = self._players[self._recorder.state.to_move]
            assert player is not None
            try:
                play_one(self._recorder, player)
            except AgentFault:
                return  # the record says so, and the view shows it
            self._settle()

    def hint(self, agent: str) -> dict[str, Any]:
        """Return what an agent would play for the person: `action`, its `text`, and the `value` it expects, or None."""
        with self._lock:
            state = self._recorder.state
            self._check_turn(len(self._recorder.record.events), yours=True)
            if self._adviser is None or self._adviser[0] != agent:
                self._adviser = (agent, make_agent(agent, state.game, self._seed))
            thought = self._adviser[1].think(state.clone())
            action = int(thought.action)
            return {"agent": agent, "action": action, "text": state.action_text(action), "value": thought.value}

    def record_text(self) -> str:
        """Return the record of the game so far as the text of a file."""
        with self._lock:
            return "\n".join(self._recorder.record.to_lines()) + "\n"

    def replay_text(self) -> str:
        """Return the replay page of the game so far."""
        with self._lock:
            return replay_page(self._recorder.record)

    @property
    def game_name(self) -> str:
        """The name of the game."""
        return self._recorder.state.game.name

    def _actions(self) -> list[tuple[int, str]]:
        state = self._recorder.state
        return list(zip(state.legal_actions().tolist(), state.legal_texts(), strict=True))

    def _struct(self) -> dict[str, Any]:
        """Return the position, without what the person's seat may not know if the game hides anything."""
        struct = self._recorder.state.to_json()
        hidden: dict[str, Any] = self._draw.hide(struct, self.seat) if hasattr(self._draw, "hide") else struct
        return hidden

    def _events(self) -> list[dict[str, Any]]:
        """Return seat and words of all events; chance in the turn of an opponent in words that hide what it drew."""
        hide, turn, events = getattr(self._draw, "hide_outcome", str), self.seat, []
        for event in self._recorder.record.events:
            turn = event.seat if event.kind == "move" else turn
            is_hidden = event.kind == "chance" and turn != self.seat
            events.append({"seat": event.seat, "text": hide(event.text) if is_hidden else event.text})
        return events

    def _is_yours(self) -> bool:
        return self._recorder.record.result is None and self._recorder.state.to_move == self.seat

    def _check_turn(self, event: int, yours: bool) -> None:
        record = self._recorder.record
        if record.result is not None:
            raise GameOver("this game is over; start a new one")
        if event != len(record.events):
            raise WrongSeat("the game has gone on meanwhile; look at it again before you move")
        if yours != self._is_yours():
            raise WrongSeat("it is not your turn" if yours else "it is your turn")

    def _settle(self) -> None:
        """Resolve chance until a seat is to move, and note the result of a finished game."""
        state = self._recorder.state
        draw = state.game.loops["draw_outcome"]
        while state.is_chance:
            self._recorder.resolve(int(draw(state.row, 0, self._stream, 0, self._weights)))
        if state.is_terminal:
            self._recorder.finish()


class NoSession(CaravanError):
    """A game that is not kept, or not any more."""


class Sessions:
    """The games of a server; when there are too many, the one that was left alone for longest goes."""

    def __init__(self, preset: Preset, most: int = MOST_SESSIONS) -> None:
        self.preset = preset
        self.most = most
        self._kept: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()  # two threads must not compile the same game

    def __len__(self) -> int:
        return len(self._kept)

    def start(
        self, game: str, switches: Mapping[str, Any], agents: Sequence[str], seat: int, seed: int | None = None
    ) -> Session:
        """Begin a game and keep it.

        Args:
            game: name of a registered game.
            switches: its rule switches.
            agents: specs of the opponents in the order of their seats, one for every seat but the person's.
            seat: the person's seat.
            seed: decides chance and the agents' dice; None takes another every time.

        Raises:
            CaravanError: something of it is not possible; nothing is kept.
        """
        spec = check_game(game)
        check_switches(spec, switches, self.preset)
        for agent in agents:
            check_agent(agent, game, self.preset)
        with self._making:
            variant = Game(spec, switches)
            _check_seats(variant, agents, seat)
            session = Session(variant, agents, seat, _seed(seed))
        with self._lock:
            self._kept[session.id] = session
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
        return session

    def find(self, name: str) -> Session:
        """Return the game with this id; raise NoSession if there is none."""
        with self._lock:
            if name not in self._kept:
                raise NoSession(f"this game is not kept here (any more): the last {self.most} games are")
            self._kept.move_to_end(name)
            return self._kept[name]

    def hint(self, session: Session, agent: str | None) -> dict[str, Any]:
        """Return an agent's advice in a game; None takes the first opponent, see `Session.hint`."""
        if agent is None:
            if not session.opponents:
                raise UnknownName("there is no opponent to ask for a hint: name an agent")
            agent = session.opponents[0]
        check_agent(agent, session.game_name, self.preset)
        return session.hint(agent)


def _check_seats(game: Game, agents: Sequence[str], seat: int) -> None:
    if not 0 <= seat < game.players:
        raise BadParams(f"seat {seat} does not exist: this game has the seats 0 to {game.players - 1}")
    if len(agents) != game.players - 1:
        raise BadParams(f"{len(agents)} agents are named for {game.players - 1} other seats")


def _seed(seed: int | None) -> int:
    if seed is None:
        return secrets.randbits(31)
    if not 0 <= seed <= MOST_SEED:
        raise BadParams(f"seed = {seed} is not possible: a whole number from 0 to {MOST_SEED}")
    return seed
