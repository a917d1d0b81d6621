"""How the evaluation weighs what a seat has: a few numbers, and the table that the kernels read.

The defaults were found by playing: `tune.py` pits weights against slightly different ones, with width 12 in the
search, and follows what wins by more points. docs/agents.md says from where it started and what it brought.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from caravan_env.games.caravan.layout import SLOTS

MAX_ACTIONS = 16  # goods that need more actions to be delivered count as needing that many
NEAR = 4  # actions that a single turn can do
HALFWAY = 8  # actions that two turns can do
CLASSES = 2  # common and rare goods

# Places of the weights in a row of the table, (2, WEIGHTS) float64; row 0 is for the seat that moves next, row 1 for
# others.
W_CARRIED = 0  # (CLASSES, MAX_ACTIONS): a carried good by the actions to deliver it
W_REACH = W_CARRIED + CLASSES * MAX_ACTIONS  # (3,): points less actions of the three best goods to pick up
W_STEAL = W_REACH + 3  # the same of the best good to steal
W_EMPTIES = W_STEAL + 1  # (SLOTS + 1,): by the number of empty camels
W_THEFT = W_EMPTIES + SLOTS + 1  # a theft marker
WEIGHTS = W_THEFT + 1


@dataclasses.dataclass(frozen=True)
class Weights:
    """The numbers behind the table, all in points unless said otherwise.

    Attributes:
        common: a carried common good, were it delivered at once.
        rare: a carried rare good, were it delivered at once.
        action: what each action to its delivery takes off.
        near_common: what it takes off a common good that one turn cannot deliver.
        near_rare: the same for a rare good.
        far: what each action beyond two turns takes off in addition.
        reach: shares that the three best goods to pick up count, of their points less actions.
        steal: share that the best good to steal counts.
        one, two, three, four: having so many empty camels rather than five.
        theft: a theft marker.
        wait: what not being next to move takes off a carried good.
        wait_reach: factor of `reach` and `steal` for seats that are not next to move.
    """

    common: float = 3.9
    rare: float = 6.16
    action: float = 0.44
    near_common: float = 0.47
    near_rare: float = 0.72
    far: float = 0.11
    reach_first: float = 0.24
    reach_second: float = 0.17
    reach_third: float = 0.05
    steal: float = 0.26
    one: float = -4.39
    two: float = -4.91
    three: float = -3.07
    four: float = -1.01
    theft: float = 0.7
    wait: float = 0.32
    wait_reach: float = 0.56

    def table(self) -> NDArray[np.float64]:
        """Return the table that the kernels read, (2, WEIGHTS) float64."""
        table = np.zeros((2, WEIGHTS))
        for waits, row in enumerate(table):
            share = self.wait_reach if waits else 1.0
            for kind, (points, near) in enumerate(((self.common, self.near_common), (self.rare, self.near_rare))):
                first = W_CARRIED + kind * MAX_ACTIONS
                row[first : first + MAX_ACTIONS] = self._carried(points - self.wait * waits, near)
            row[W_REACH : W_REACH + 3] = share * np.array([self.reach_first, self.reach_second, self.reach_third])
            row[W_STEAL] = share * self.steal
            row[W_EMPTIES : W_EMPTIES + SLOTS + 1] = self._empties()
            row[W_THEFT] = self.theft
        return table

    def _carried(self, points: float, near: float) -> NDArray[np.float64]:
        actions = np.arange(1, MAX_ACTIONS + 1)
        late = self.far * np.maximum(actions - HALFWAY, 0)
        carried: NDArray[np.float64] = points - self.action * actions - near * (actions > NEAR) - late
        return carried

    def _empties(self) -> NDArray[np.float64]:
        return np.array([self.one - 2.0, self.one, self.two, self.three, self.four, 0.0, 0.0])


DEFAULT_WEIGHTS = Weights().table()
