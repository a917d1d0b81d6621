"""Many games between agents, played in batch, and what came of them."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, BadAgent
from agents.registry import make_agent
from caravan_env.core.contract import TERMINAL
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game, illegal_action_message
from caravan_env.core.match import AgentFault
from caravan_env.core.record import Record, Recorder
from caravan_env.core.rng import streams

ROWS = 256
NO_MOVE = -1


@dataclasses.dataclass(frozen=True)
class Interval:
    """A share with its confidence interval."""

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.share:.1%} [{self.low:.1%}, {self.high:.1%}]"


def wilson(wins: float, games: int, confidence: float = 0.95) -> Interval:
    """Return the score interval of Wilson (1927) for a share of games.

    Args:
        wins: games won; a shared win counts as a part of one.
        games: games played, at least 1.
        confidence: probability that the interval holds the true share.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, shrink = wins / games, 1 + z * z / games
    centre = (share + z * z / (2 * games)) / shrink
    half = z / shrink * (share * (1 - share) / games + z * z / (4 * games * games)) ** 0.5
    return Interval(share, max(centre - half, 0.0), min(centre + half, 1.0))


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """What came of a match of `games` games; agent a sat in seat (a + g) % players in game g.

    Game g draws its chance from stream g // players of the seed, so that each deal is played with every seating.

    Attributes:
        game: the variant played.
        agents: their names.
        seed: of the chance streams.
        returns: (games, agents) float64 terminal returns.
        scores: (games, agents) float64 points at the end.
        truncated: (games,) bool, cut off by the turn limit.
        moves: the actions of each game in order, all seats together; int32 arrays.
        decisions: (agents,) int64, decisions of each agent in all games.
        seconds: (agents,) float64, time spent in them.
    """

    game: Game
    agents: tuple[str, ...]
    seed: int
    returns: NDArray[np.float64]
    scores: NDArray[np.float64]
    truncated: NDArray[np.bool_]
    moves: tuple[NDArray[np.int32], ...]
    decisions: NDArray[np.int64]
    seconds: NDArray[np.float64]

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.returns)

    @property
    def wins(self) -> NDArray[np.float64]:
        """(games, agents): 1 for the agent with the highest return, shared equally if there are several.

        An agent alone, against what the game itself plays, wins with a return above 0 and shares the win with 0.
        """
        if len(self.agents) == 1:
            return (np.sign(self.returns) + 1) / 2
        best = self.returns == self.returns.max(axis=1, keepdims=True)
        shares: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
        return shares

    @property
    def shared(self) -> int:
        """Number of games that had no sole winner."""
        wins = self.wins
        return int(((wins > 0) & (wins < 1)).any(axis=1).sum())

    def win_rate(self, agent: int) -> Interval:
        """Return an agent's share of wins with its 95 % Wilson interval; a win shared by k counts 1/k for each."""
        return wilson(float(self.wins[:, agent].sum()), self.games)

    def to_json(self) -> dict[str, Any]:
        """Return the result without the single games, for machines."""
        return {
            "game": self.game.name,
            "params": self.game.params.to_json(),
            "seed": self.seed,
            "games": self.games,
            "shared_wins": self.shared,
            "truncated": int(self.truncated.sum()),
            "decisions_per_game": round(float(self.decisions.sum() / self.games), 2),
            "agents": [self._agent_json(agent) for agent in range(len(self.agents))],
        }

    def _agent_json(self, agent: int) -> dict[str, Any]:
        rate = self.win_rate(agent)
        return {
            "name": self.agents[agent],
            "win_rate": round(rate.share, 4),
            "interval": [round(rate.low, 4), round(rate.high, 4)],
            "mean_score": round(float(self.scores[:, agent].mean()), 2),
            "mean_return": round(float(self.returns[:, agent].mean()), 4),
            "ms_per_decision": round(1000 * float(self.seconds[agent] / max(self.decisions[agent], 1)), 4),
        }

    def record(self, number: int) -> Record:
        """Return the record of game `number`, played again from its moves.

        Raises:
            BadParams: there is no such game.
        """
        if not 0 <= number < self.games:
            raise BadParams(f"there is no game {number}: this match has the games 0 to {self.games - 1}")
        return _replay(self.game, self.agents, self.seed, number, self.moves[number]).finish()


def play_games(
    game: Game,
    agents: Sequence[Agent | str],
    games: int,
    seed: int = 0,
    rows: int = ROWS,
    progress: Callable[[int], None] | None = None,
) -> MatchResult:
    """Play a match with rotating seats.

    Every agent sits in every seat equally often, and each deal of chance is played once for each seating, which
    takes luck out of the comparison. Results do not depend on `rows`, provided that an agent's choice depends on the
    position alone, or on that and its number of the game (`Agent.act_games`); so it is with all agents of this package.

    Args:
        game: the variant.
        agents: one per seat: agents, or specs for `make_agent`, which get seeds from `seed` and their place.
        games: how many; rounded up to a multiple of the number of seats.
        seed: decides chance and the agents' lots.
        rows: how many games are played at once.
        progress: called with the number of games finished since the last call.

    Raises:
        AgentFault: an agent played an illegal action; the record of that game is attached.
        BadAgent: an agent did not answer with action numbers.
        BadParams: there is not one agent per seat, or no game to play.
    """
    if len(agents) != game.players:
        raise BadParams(f"{len(agents)} agents for {game.players} seats; a match needs one per seat")
    if games < 1 or rows < 1:
        raise BadParams(f"a match needs at least one game and one row, not {games} and {rows}")
    players = [make_agent(a, game, seed + k) if isinstance(a, str) else a for k, a in enumerate(agents)]
    total = -(-games // game.players) * game.players
    chunks = []
    for first in range(0, total, rows):
        chunks.append(_Chunk(game, players, seed, np.arange(first, min(first + rows, total))))
        chunks[-1].play(progress)
    return _collect(game, players, seed, chunks)


def _collect(game: Game, players: Sequence[Agent], seed: int, chunks: Sequence[_Chunk]) -> MatchResult:
    return MatchResult(
        game=game,
        agents=tuple(player.name for player in players),
        seed=seed,
        returns=np.concatenate([chunk.by_agent(chunk.returns) for chunk in chunks]),
        scores=np.concatenate([chunk.by_agent(chunk.scores()) for chunk in chunks]),
        truncated=np.concatenate([chunk.truncated() for chunk in chunks]),
        moves=tuple(moves for chunk in chunks for moves in chunk.moves()),
        decisions=np.sum([chunk.decisions for chunk in chunks], axis=0),
        seconds=np.sum([chunk.seconds for chunk in chunks], axis=0),
    )


class _Chunk:
    """Games that are played at once, one row each."""

    def __init__(self, game: Game, players: Sequence[Agent], seed: int, numbers: NDArray[np.int64]) -> None:
        rows = len(numbers)
        self.game = game
        self.players = players
        self.seed = seed
        self.numbers = numbers
        self.S = np.repeat(game.template, rows)
        self.returns = np.zeros((rows, game.players))
        self.decisions = np.zeros(game.players, np.int64)
        self.seconds = np.zeros(game.players)
        self._chance = _chance_streams(seed, numbers // game.players)
        self._weights = np.zeros(game.spec.max_outcomes, np.int64)
        self._seats = np.zeros(rows, np.int64)
        self._mask = np.zeros((rows, game.num_actions), np.uint8)
        self._log: list[NDArray[np.int32]] = []

    def play(self, progress: Callable[[int], None] | None) -> None:
        """Play all games to their ends, and tell how many have ended since the last call."""
        loops, everywhere = self.game.loops, np.ones(len(self.S), np.uint8)
        loops["start_rows"](self.S, self._chance, self._weights, self.game.template, everywhere)
        counts, ended = np.zeros(len(self.S), np.int64), np.zeros(len(self.S), np.uint8)
        obs = np.zeros((len(self.S), self.game.layout.size), np.uint8)
        while True:
            loops["view_rows"](self.S, self._seats, self._mask, counts, obs)
            alive = self._seats != TERMINAL
            if not alive.any():
                return
            actions = self._ask(alive)
            flags = alive.astype(np.uint8)
            loops["step_rows"](self.S, self._chance, self._weights, actions, flags, self.returns, ended)
            self._log.append(np.where(alive, actions, NO_MOVE).astype(np.int32))
            if progress is not None and ended.any():
                progress(int(ended.sum()))

    def _ask(self, alive: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the actions of all agents for the rows in which they are to move."""
        actions = np.zeros(len(self.S), np.int64)
        movers = (self._seats - self.numbers) % self.game.players
        for agent, player in enumerate(self.players):
            rows = np.flatnonzero(alive & (movers == agent))
            if len(rows):
                start = time.perf_counter()
                actions[rows] = _answers(player, self.S[rows], self._mask[rows], self.numbers[rows])
                self.seconds[agent] += time.perf_counter() - start
                self.decisions[agent] += len(rows)
        row = int(self.game.loops["first_illegal"](self.S, actions, alive.astype(np.uint8)))
        if row >= 0:
            raise self._fault(row, int(actions[row]))
        return actions

    def _fault(self, row: int, action: int) -> AgentFault:
        """Return the error for an illegal action, with the record of the game so far."""
        number, seat = int(self.numbers[row]), int(self._seats[row])
        names = [player.name for player in self.players]
        moves = np.array([log[row] for log in self._log], np.int32)
        recorder = _replay(self.game, names, self.seed, number, moves)
        name = self.players[(seat - number) % self.game.players].name
        message = f"agent {name!r} in seat {seat}: {illegal_action_message(self.game, self.S, row, action)}"
        return AgentFault(message, recorder.fail(seat, action, message))

    def by_agent(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (rows, seats) values in the order of the agents."""
        seats = (np.arange(self.game.players) + self.numbers[:, None]) % self.game.players
        return np.take_along_axis(values, seats, axis=1)

    def scores(self) -> NDArray[np.float64]:
        """Return (rows, seats) points."""
        out = np.zeros_like(self.returns)
        for row in range(len(self.S)):
            self.game.spec.rules.score(self.S, row, out[row])
        return out

    def truncated(self) -> NDArray[np.bool_]:
        """Return (rows,) whether the turn limit ended the game."""
        return np.array([bool(self.game.spec.rules.truncated(self.S, row)) for row in range(len(self.S))])

    def moves(self) -> list[NDArray[np.int32]]:
        """Return the actions of each game."""
        log = np.array(self._log, np.int32).T
        return [row[row != NO_MOVE].copy() for row in log]


def _answers(
    player: Agent, S: NDArray[np.void], mask: NDArray[np.uint8], numbers: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return an agent's actions, checked to be a whole number for each game."""
    answers = np.asarray(player.act_games(S, mask, numbers))
    if answers.shape != (len(S),) or answers.dtype.kind not in "iu":
        raise BadAgent(
            f"agent {player.name!r} answered with {answers.dtype} of shape {answers.shape}; "
            f"it must answer with an action number for each of {len(S)} games"
        )
    return answers.astype(np.int64)


def _chance_streams(seed: int, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the starts of the streams with these ascending numbers."""
    first = int(numbers[0])
    return streams(seed, int(numbers[-1]) + 1 - first, first)[numbers - first]


def _replay(game: Game, agents: Sequence[str], seed: int, number: int, moves: NDArray[np.int32]) -> Recorder:
    """Play the moves of game `number` of a match again and note them."""
    names = [agents[(seat - number) % game.players] for seat in range(game.players)]
    recorder = Recorder(game.new_state(), names, seed=seed, number=number)
    state, stream = recorder.state, streams(seed, 1, number // game.players)
    weights = np.zeros(game.spec.max_outcomes, np.int64)
    for action in [*moves, None]:
        while state.is_chance:
            recorder.resolve(int(game.loops["draw_outcome"](state.row, 0, stream, 0, weights)))
        if action is not None:
            recorder.step(int(action))
    return recorder
