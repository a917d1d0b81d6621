"""The league: whom the learner plays. Scripted agents, the policy that is being trained, and past selves of it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from agents.network import network_of
from agents.neural import PolicyAgent
from agents.registry import make_agent
from caravan_env.core.game import Game, State
from caravan_env.envs.opponents import FinishedGames
from train.config import LeagueConfig

LATEST = "latest"
PAST = "past"
RECENT_FACTOR = 0.5  # with "recent" sampling, a past self weighs so much of the next younger one
MEMORY = 200.0  # win rates are averaged over about so many games

Weights = Mapping[str, NDArray[np.float32]]


class TimedAgent(Agent):
    """An agent whose thinking is timed: `seconds` so far."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent.game, agent.seed)
        self.name = agent.name
        self.agent = agent
        self.seconds = 0.0

    def act(self, state: State) -> int:
        """See `Agent.act`."""
        return self.agent.act(state)

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`."""
        start = time.perf_counter()
        actions = self.agent.act_games(S, mask, games)
        self.seconds += time.perf_counter() - start
        return actions


@dataclasses.dataclass
class PastSelf:
    """A snapshot of the learner: when it was taken, its weights, and how the learner fares against it."""

    step: int
    weights: Weights
    games: float = 0.0
    score: float = 0.0

    @property
    def win_rate(self) -> float:
        """The learner's win rate against it, half until it has been played."""
        return (self.score + 0.5) / (self.games + 1.0)


class League:
    """Opponents of a training environment, see `caravan_env.envs.opponents.OpponentPool`.

    Everything random comes from (seed, iteration), so that a run that was broken off and goes on meets the same
    opponents.

    Attributes:
        agents: the latest policy, the scripted agents, then the past selves, oldest first.
        past: the past selves in the same order.
        results: opponent name -> [games, score] since the last `take_results`; past selves count together.
    """

    def __init__(self, game: Game, config: LeagueConfig, seed: int) -> None:
        self.game = game
        self.config = config
        self.seed = seed
        self.agents: list[TimedAgent] = []
        self.past: list[PastSelf] = []
        self.results: dict[str, NDArray[np.float64]] = {}
        self._rng = np.random.default_rng(seed)

    def begin(self, iteration: int, weights: Weights) -> None:
        """Make all agents anew for an iteration, the latest policy with the given weights."""
        sequence = np.random.SeedSequence((self.seed, iteration))
        self._rng = np.random.default_rng(sequence)
        seeds = [int(s) for s in sequence.generate_state(1 + len(self.config.scripted) + len(self.past))]
        policies = [weights, *(member.weights for member in self.past)]
        names = [LATEST, *(f"{PAST}:{member.step}" for member in self.past)]
        learned = [
            TimedAgent(PolicyAgent(self.game, network_of(self.game, w), seeds.pop(), True, name))
            for w, name in zip(policies, names, strict=True)
        ]
        scripted = [TimedAgent(make_agent(spec, self.game, seeds.pop())) for spec in self.config.scripted]
        self.agents = [learned[0], *scripted, *learned[1:]]

    def thinking(self) -> dict[str, float]:
        """Return the seconds that scripted agents and learned ones have thought in this iteration."""
        first_past = 1 + len(self.config.scripted)
        total, scripted = (sum(agent.seconds for agent in part) for part in (self.agents, self.agents[1:first_past]))
        return {"scripted_opponents": scripted, "learned_opponents": total - scripted}

    def add(self, step: int, weights: Weights) -> None:
        """Take a snapshot of the learner into the league; the oldest leaves if there are too many."""
        self.past.append(PastSelf(step, {name: array.copy() for name, array in weights.items()}))
        del self.past[: -self.config.keep]

    def assign(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw the opponents of new games, see `OpponentPool.assign`."""
        shape = (len(rows), self.game.players)
        return self._rng.choice(len(self.agents), size=shape, p=self.shares()).astype(np.int64)

    def shares(self) -> NDArray[np.float64]:
        """Return the probability of each agent, (agents,)."""
        weights = [self.config.latest, *self.config.scripted.values()]
        if self.past:
            weights += list(self.config.past * self._past_shares())
        shares = np.array(weights)
        return shares / shares.sum()

    def report(self, finished: FinishedGames) -> None:
        """Take note of finished games, see `OpponentPool.report`: the learner's score against each opponent."""
        own, theirs = finished.returns[:, :1], finished.returns[:, 1:]
        scores = (own > theirs) + 0.5 * (own == theirs)
        for number, score in zip(finished.opponents[:, 1:].ravel(), scores.ravel(), strict=True):
            self._note(int(number), float(score))

    def take_results(self) -> dict[str, tuple[int, float]]:
        """Return opponent name -> (games, the learner's mean score) since the last call."""
        taken = {name: (int(games), float(score / games)) for name, (games, score) in sorted(self.results.items())}
        self.results = {}
        return taken

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return the weights of the past selves for a checkpoint."""
        return {f"{PAST}.{m.step}.{name}": array for m in self.past for name, array in m.weights.items()}

    def state(self) -> list[dict[str, Any]]:
        """Return the rest of the past selves for a checkpoint, as JSON values."""
        return [{"step": m.step, "games": m.games, "score": m.score} for m in self.past]

    def restore(self, state: list[dict[str, Any]], tensors: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` and `tensors` gave."""
        self.past = []
        for struct in state:
            prefix = f"{PAST}.{struct['step']}."
            weights = {n.removeprefix(prefix): array for n, array in tensors.items() if n.startswith(prefix)}
            self.past.append(PastSelf(weights=weights, **struct))

    def _past_shares(self) -> NDArray[np.float64]:
        if self.config.sampling == "prioritized":
            shares = np.array([(1.0 - member.win_rate) ** 2 for member in self.past])
        elif self.config.sampling == "recent":
            shares = RECENT_FACTOR ** np.arange(len(self.past))[::-1]
        else:
            shares = np.ones(len(self.past))
        return shares / shares.sum()

    def _note(self, number: int, score: float) -> None:
        first_past = 1 + len(self.config.scripted)
        name = PAST if number >= first_past else self.agents[number].name
        self.results.setdefault(name, np.zeros(2))[:] += (1.0, score)
        if number >= first_past:
            member = self.past[number - first_past]
            keep = 1.0 - 1.0 / MEMORY
            member.games, member.score = member.games * keep + 1.0, member.score * keep + score
