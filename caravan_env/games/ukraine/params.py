"""The rule switches of Carcassonne on the map of Ukraine."""

from __future__ import annotations

import dataclasses
from typing import Any

from caravan_env.core.errors import BadParams
from caravan_env.core.params import GameParams, switch
from caravan_env.games.ukraine.tables import MEEPLES_ON_MAP, MEEPLES_ON_PLANE, Map, load_map

SEATS = 6
EXPANSION_RULES = ("full", "tiles_only")
BORDER_MONASTERY = ("neighbours", "nine")
CHIP_MATCH = ("identical", "colour", "any")


@dataclasses.dataclass(frozen=True, kw_only=True)
class UkraineParams(GameParams):
    """Rule switches; RULES.md says what each one changes.

    Attributes:
        map: a shipped map's name, a map file's path, a mapping, or a Map (M1).
        expansion_rules: whether inns, cathedrals, goods, large meeples, builders and pigs count (X1).
        inns: whether the tiles of Inns & Cathedrals are in play (S3).
        traders: whether the tiles of Traders & Builders are in play (S3).
        chips: whether the Chumak chips are in play (S8).
        meeples: meeples of each player; 0 for 9, or 7 on the plane (S1).
        border_monastery: what a monastery at the border pays (P5).
        chip_match: which chips may be traded together (H6).
    """

    map: Any = switch("ukraine", "a shipped map, the path of a map file, or a mapping")
    expansion_rules: str = switch("full", "all rules of the expansions, or their tiles alone", EXPANSION_RULES)
    inns: bool = switch(True, "play with the tiles of Inns & Cathedrals", (True, False))
    traders: bool = switch(True, "play with the tiles of Traders & Builders", (True, False))
    chips: bool = switch(True, "play with the Chumak chips", (True, False))
    meeples: int = switch(0, "meeples of each player, 0 for 9, or 7 on the plane")
    border_monastery: str = switch("neighbours", "what a completed monastery at the border pays", BORDER_MONASTERY)
    chip_match: str = switch("identical", "in what chips traded together must match", CHIP_MATCH)

    def check(self) -> None:
        """Check what the single switches cannot; turn `map` into a Map."""
        if not 2 <= self.players <= SEATS:
            raise BadParams(f"ukraine is played by 2 to {SEATS} players, not {self.players}")
        if not 0 <= self.meeples <= MEEPLES_ON_MAP:
            raise BadParams(
                f"meeples = {self.meeples} is not possible: 1 to {MEEPLES_ON_MAP}, or 0 for the usual number"
            )
        object.__setattr__(self, "map", load_map(self.map))

    @property
    def full(self) -> bool:
        """Whether all rules of the expansions are played (X1)."""
        return self.expansion_rules == "full"

    @property
    def meeples_in_use(self) -> int:
        """Meeples of each player (S1)."""
        return self.meeples or (MEEPLES_ON_PLANE if self.map == load_map("plane") else MEEPLES_ON_MAP)

    @property
    def figures(self) -> tuple[int, int, int, int]:
        """Meeples, large meeples, builders and pigs of each player (S1, S2)."""
        large, traders = self.full and self.inns, self.full and self.traders
        return self.meeples_in_use, int(large), int(traders), int(traders)

    @property
    def chips_in_play(self) -> bool:
        """Whether there are chips: the switch, and a map with Chumak squares (S8)."""
        return self.chips and bool(self.board.chumak)

    @property
    def board(self) -> Map:
        """The map."""
        board: Map = self.map
        return board
