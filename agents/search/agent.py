"""The agent that chooses by Monte-Carlo tree search."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, enough_streams
from agents.search.evaluators import STEPS, Evaluator, bind, heuristic, margin_scale, rollout
from agents.search.tree import (
    EDGES,
    EXPLORE,
    MARGIN,
    MAX_NODES,
    NODES,
    ROOT,
    TEMPERATURE,
    UNSEEN,
    new_tree,
    new_work,
)
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game, State
from caravan_env.core.match import Thought
from caravan_env.core.rng import streams

LEAVES = ("heuristic", "rollout")
MAX_SIMS = 10**7
MAX_STEPS = 10**6
KEPT = 4  # times its simulations that a tree has room for
LEAST_NODES = 256
PESSIMISM = 0.1  # how much less than its node an action counts that was not tried
CHUNK = 16  # simulations between two looks at the clock


class MctsAgent(Agent):
    """Searches a tree of positions by simulations, see `agents.search.mcts`, and plays the action most of them took.

    `act` and `think` go on with the tree of the decision before where the new position is in it and nothing is
    hidden; they draw from one stream. `act_rows` and `act_games` start each search anew, with one stream per row or
    game number. With a budget of simulations, equal seeds give equal choices. A forced action is played at once.
    """

    def __init__(
        self,
        game: Game,
        seed: int = 0,
        evaluator: Evaluator | None = None,
        *,
        sims: int = 200,
        seconds: float = 0.0,
        leaf: str = "heuristic",
        c: float = 1.25,
        temperature: float = 1.0,
        steps: int = STEPS,
        reuse: bool = True,
    ) -> None:
        """Make a searcher.

        Args:
            game: the variant.
            seed: where its own randomness starts: chance, hidden things and random play in its simulations.
            evaluator: what judges positions, in the place of what `leaf` names.
            sims: simulations for each decision, those of a kept tree not counted.
            seconds: time for each decision, 0 for none; whichever of both ends first.
            leaf: "heuristic", the potential of the game's scripted agents, for a game without one "rollout"; or
                "rollout", random actions and then the same, or the lead in points where there is no potential; or the
                folder of a trained policy or value network, which then guides the search.
            c: how much is explored.
            temperature: of the evaluator's probabilities of actions; the higher, the more alike they are.
            steps: random actions of a rollout.
            reuse: whether `act` keeps what it knows of the next position.

        Raises:
            BadParams: a value that is not possible.
        """
        super().__init__(game, seed)
        self._check(sims, seconds, leaf, c, temperature, steps)
        self.sims, self.seconds, self.reuse = sims, seconds, reuse
        self.evaluator = _evaluator(game, leaf, steps) if evaluator is None else evaluator
        nodes = min(max(KEPT * sims, LEAST_NODES), MAX_NODES)
        self._tree, self._spare = new_tree(game, nodes), new_tree(game, nodes if reuse else 1)
        self._work = new_work(game, nodes)
        for place, setting in ((EXPLORE, c), (TEMPERATURE, temperature), (UNSEEN, PESSIMISM)):
            self._work.settings[place] = setting
        self._work.settings[MARGIN] = margin_scale(game)
        self._memory = self.evaluator.memory(game, self._work.stream)
        self._run: dict[str, Any] = bind(game, self.evaluator)
        self._streams = streams(seed, 1)

    @staticmethod
    def _check(sims: int, seconds: float, leaf: str, c: float, temperature: float, steps: int) -> None:
        for name, number, least, most in (("sims", sims, 1, MAX_SIMS), ("steps", steps, 0, MAX_STEPS)):
            if not least <= number <= most:
                raise BadParams(f"mcts:{name} = {number} is not possible: {least} to {most}")
        if not 0 <= seconds < math.inf:
            raise BadParams(f"mcts:seconds = {seconds} is not possible: 0 for no limit, or a positive number")
        for name, value in (("c", c), ("temperature", temperature)):
            if not 0 < value < math.inf:
                raise BadParams(f"mcts:{name} = {value} is not possible: it must be a positive number")
        if leaf not in LEAVES and not Path(leaf).is_dir():
            raise BadParams(f"mcts:leaf = {leaf!r} is not possible: {', '.join(LEAVES)} or the folder of a policy")

    def act(self, state: State) -> int:
        """Return the action that most simulations took; ties go to the higher value."""
        return self.think(state).action

    def think(self, state: State) -> Thought:
        """Return the action with its mean value and the share of the simulations of each action."""
        self._work.stream[0] = self._streams[0]
        thought = self._decide(state.row, state.legal_actions(), self.reuse)
        self._streams[0] = self._work.stream[0]
        return thought

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; row i draws from stream i."""
        return self.act_games(S, mask, np.arange(len(S)))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`; game g draws from stream g."""
        self._streams = enough_streams(self._streams, self.seed, games)
        chosen = np.zeros(len(S), np.int64)
        for i, game in enumerate(games):
            self._work.stream[0] = self._streams[game]
            chosen[i] = self._decide(S[i : i + 1], np.flatnonzero(mask[i]), keep=False).action
            self._streams[game] = self._work.stream[0]
        return chosen

    def _decide(self, row: NDArray[np.void], legal: NDArray[np.int64], keep: bool) -> Thought:
        """Return the thought on one position, which draws from the stream of the working memory."""
        if len(legal) == 1:
            return Thought(int(legal[0]), None, {int(legal[0]): 1.0})
        self._place(row, keep)
        self._simulate()
        return self._thought()

    def _place(self, row: NDArray[np.void], keep: bool) -> None:
        """Make the tree one of this position: what is known of it already, or an empty one."""
        words = self._work.words
        words[ROOT] = np.frombuffer(row.tobytes(), words.dtype)
        if keep and self._run["keep_below"](self._tree, self._work, self._spare):
            self._tree, self._spare = self._spare, self._tree
            tree = self._tree
            if 2 * tree.used[NODES] <= len(tree.mover) and 2 * tree.used[EDGES] <= len(tree.action):
                return  # there is room for as much again
        self._run["clear"](self._tree)

    def _simulate(self) -> None:
        """Run simulations until the budget is spent, one at least."""
        left, chunk = self.sims, CHUNK if self.seconds > 0 else self.sims
        end = time.perf_counter() + self.seconds
        while left > 0:
            self._run["search"](self._tree, self._work, self._memory, min(left, chunk))
            left -= chunk
            if self.seconds > 0 and time.perf_counter() >= end:
                break

    def _thought(self) -> Thought:
        tree = self._tree
        choice = int(self._run["most_visited"](tree))
        edges = []
        edge = int(tree.first[ROOT])
        while edge >= 0:
            if tree.edge_visits[edge] > 0:
                edges.append(edge)
            edge = int(tree.after[edge])
        total = max(int(tree.edge_visits[edges].sum()), 1)
        policy = {int(tree.action[edge]): float(tree.edge_visits[edge] / total) for edge in edges}
        visits = int(tree.edge_visits[choice])
        mover = int(tree.mover[ROOT])
        value = tree.edge_total[choice] / visits if visits else tree.total[ROOT, mover] / tree.visits[ROOT]
        return Thought(int(tree.action[choice]), float(value), policy)


def _evaluator(game: Game, leaf: str, steps: int) -> Evaluator:
    """Return the evaluator for a leaf, see `MctsAgent`."""
    from agents.registry import heuristics  # the registry knows this agent, too

    if leaf not in LEAVES:
        from agents.neural import load_evaluator

        return load_evaluator(leaf, game)
    module = heuristics(game.name)
    if module is not None and not hasattr(module, "potentials"):
        module = None
    return heuristic(module) if leaf == "heuristic" and module is not None else rollout(module, steps)
