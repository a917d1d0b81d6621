"""The agent that plays by a learned value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.base import RowAgent, enough_streams
from agents.search.evaluators import Evaluator
from agents.value import kernels
from agents.value.binding import Bound, bound, new_beam
from agents.value.kernels import TEMPLATES, Net
from agents.value.network import ValueNetwork
from caravan_env.core.errors import BadParams
from caravan_env.core.game import Game, State
from caravan_env.core.match import Thought
from caravan_env.core.rng import streams

MAX_BEAM = 4096
MAX_DEPTH = 64


class ValueAgent(RowAgent):
    """Plays the action after which the position is worth most, or begins the best way found to play its turn.

    What the seat cannot know is drawn anew for each decision.
    """

    def __init__(
        self, game: Game, network: ValueNetwork, seed: int = 0, *, beam: int = 0, depth: int = 8, name: str = "value"
    ) -> None:
        """Make the agent.

        Args:
            game: the variant.
            network: what positions are worth.
            seed: where its own randomness starts.
            beam: positions kept after each action of the turn; 0: it looks one action ahead.
            depth: actions that a search of the turn goes ahead at most.
            name: shown in records and tables.

        Raises:
            BadParams: a value that is not possible.
        """
        super().__init__(game, seed)
        for option, value, least, most in (("beam", beam, 0, MAX_BEAM), ("depth", depth, 1, MAX_DEPTH)):
            if not least <= value <= most:
                raise BadParams(f"{name}:{option} = {value} is not possible: {least} to {most}")
        self.name = name
        self.network = network
        self.beam, self.depth = beam, depth
        self._bound: Bound = bound(game, network.features > 0)
        self._net = network.net(game)
        self._beam = new_beam(game, max(beam, 1))
        self._streams = streams(seed, 1)

    def __deepcopy__(self, memo: dict[int, Any]) -> ValueAgent:
        """Return an agent of its own memory, for another thread."""
        return ValueAgent(self.game, self.network, self.seed, beam=self.beam, depth=self.depth, name=self.name)

    def act_rows(self, S: NDArray[np.void], mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """See `Agent.act_rows`; row i draws from stream i."""
        return self.act_games(S, mask, np.arange(len(S)))

    def act_games(self, S: NDArray[np.void], mask: NDArray[np.uint8], games: NDArray[np.int64]) -> NDArray[np.int64]:
        """See `Agent.act_games`; game g draws from stream g."""
        return self._decide(S, games)[0]

    def think(self, state: State) -> Thought:
        """Return the action with the value of what it leads to."""
        chosen, values = self._decide(state.row, np.zeros(1, np.int64))
        return Thought(int(chosen[0]), float(values[0]))

    def _decide(self, S: NDArray[np.void], games: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        self._streams = enough_streams(self._streams, self.seed, games)
        chosen, values, own = np.zeros(len(S), np.int64), np.zeros(len(S)), self._streams[games]
        most = self.depth if self.beam > 0 else 0
        memory = self._net, self._bound.scratch, self._beam
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
    judging = {name: TEMPLATES[name] for name in JUDGING}
    return Evaluator(
        "value" if network.features else "value_plain",
        parts.kernels,
        {**parts.templates, **judging, "leaf": kernels.leaf, "prior": kernels.prior},
        lambda game, _: Judge(network.net(game), bound(game, network.features > 0).scratch),
        parts.files,
    )
