"""The agent that plays by a learned value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import RowAgent, enough_streams
from agents.search.evaluators import Evaluator
from agents.search.judges import useful_actions
from agents.value import kernels
from agents.value.binding import Bound, bound, new_ahead, new_beam
from agents.value.kernels import ROOT, TEMPLATES, Net
from agents.value.network import ValueNetwork
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game, State
from caravan_env.core.match import Thought
from caravan_env.core.rng import streams

#: What a search may be told: option -> (least, most).
LIMITS = {"beam": (0, 4096), "depth": (1, 64), "ends": (1, 4096), "samples": (0, 4096), "reply": (1, 4096)}


class Plan(NamedTuple):
    """The rest of a turn as it was decided on.

    Attributes:
        position: the bytes of the position in which it goes on.
        actions: what is played there, one after the other.
        value: what it was expected to be worth.
    """

    position: bytes
    actions: list[int]
    value: float


class ValueAgent(RowAgent):
    """Plays the action after which the position is worth most, or the best way found to play its turn.

    A turn found by a search is played as it was found, until something happens that was not known. What the seat
    cannot know is drawn anew for each decision.
    """

    def __init__(
        self,
        game: Game,
        network: ValueNetwork,
        seed: int = 0,
        *,
        beam: int = 0,
        depth: int = 8,
        ends: int = 12,
        samples: int = 0,
        reply: int = 4,
        name: str = "value",
    ) -> None:
        """Make the agent.

        Args:
            game: the variant.
            network: what positions are worth.
            seed: where its own randomness starts.
            beam: positions kept after each action of the turn; 0: it looks one action ahead.
            depth: actions that a search of the turn goes ahead at most.
            ends: with `samples`, ends of the turn that are played on.
            samples: how often each of them is played on until the end of the own next turn before the worse half is
                dropped; 0: it is judged as it is.
            reply: the beam of the turns played there.
            name: shown in records and tables.

        Raises:
            BadParams: a value that is not possible.
        """
        super().__init__(game, seed)
        self.options = {"beam": beam, "depth": depth, "ends": ends, "samples": samples, "reply": reply}
        for option, value in self.options.items():
            least, most = LIMITS[option]
            if not least <= value <= most:
                raise BadParams(f"{name}:{option} = {value} is not possible: {least} to {most}")
        if samples and not beam:
            raise BadParams(f"{name}:samples = {samples} is not possible without a search of the turn: set beam, too")
        self.name = name
        self.network = network
        self.beam, self.depth = beam, depth
        self._bound: Bound = bound(game, network.features > 0)
        self._net = network.net(game)
        self._beam = new_beam(game, max(beam, 1), depth, ends if samples else 1)
        self._ahead = new_ahead(game, ends, samples, reply, depth)
        self._streams = streams(seed, 1)
        self._plans: dict[int, Plan] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> ValueAgent:
        """Return an agent of its own memory, for another thread."""
        return ValueAgent(self.game, self.network, self.seed, **self.options, name=self.name)

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; row i draws from stream i."""
        return self.act_games(S, mask, np.arange(len(S)))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`; game g draws from stream g."""
        if self.beam == 0:
            return self._decide(S, games)[0]
        return np.array([self._plan(S[i : i + 1], int(game)).action for i, game in enumerate(games)], np.int64)

    def think(self, state: State) -> Thought:
        """Return the action with the value of what it leads to."""
        if self.beam > 0:
            return self._plan(state.row, 0)
        chosen, values = self._decide(state.row, np.zeros(1, np.int64))
        return Thought(int(chosen[0]), float(values[0]))

    def _plan(self, row: NDArray[np.void], game: int) -> Thought:
        """Return the next action of the game's plan, or the first one of a new plan if it does not fit."""
        plan = self._plans.pop(game, None)
        if plan is None or plan.position != row.tobytes():
            _, values = self._decide(row, np.array([game]))
            place = self._beam.chosen[0]
            plan = Plan(b"", self._beam.paths[place, : self._beam.lengths[place]].tolist(), float(values[0]))
        action, *rest = plan.actions
        if rest:
            after = row.copy()
            self.game.spec.rules.step(after, ROOT, action)
            if self.game.spec.rules.is_legal(after, ROOT, rest[0]):  # not if the action showed what was drawn otherwise
                self._plans[game] = Plan(after.tobytes(), rest, plan.value)
        return Thought(action, plan.value)

    def _decide(self, S: NDArray[np.void], games: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        self._streams = enough_streams(self._streams, self.seed, games)
        chosen, values, own = np.zeros(len(S), np.int64), np.zeros(len(S)), self._streams[games]
        most = self.depth if self.beam > 0 else 0
        memory = self._net, self._bound.scratch, self._beam, self._ahead
        self._bound.run["decide_rows"](S, own, most, *memory, chosen, values)
        self._streams[games] = own
        return chosen, values


# --- judging the positions of a tree search --------------------------------------------------------------------------


#: The templates that judging takes, in the order in which they call each other.
JUDGING = ("add_scaled", "copy_to", "head", "look", "value_after", "final_value", "worth_after")


class Judge(NamedTuple):
    """The memory of the evaluator.

    Attributes:
        net: the network.
        scratch: the memory of the game's features.
    """

    net: Net
    scratch: Any


def evaluator(game: Game, network: ValueNetwork) -> Evaluator:
    """Return what makes a tree search judge positions, and prefer actions, by a network."""
    parts = bound(game, network.features > 0)
    judging = {name: TEMPLATES[name] for name in JUDGING} | {"list_actions": useful_actions}
    return Evaluator(
        "value" if network.features else "value_plain",
        parts.kernels,
        {**parts.templates, **judging, "leaf": kernels.leaf, "prior": kernels.prior},
        lambda game, _: Judge(network.net(game), bound(game, network.features > 0).scratch),
        parts.files,
    )
