"""The rule switches of Century: Spice Road."""

from __future__ import annotations

import dataclasses

from caravan_env.core.errors import BadParams
from caravan_env.core.params import GameParams, switch
from caravan_env.games.century.tables import SEATS

MAX_TURNS = 60_000

AUTOMA_CLAIMS = ("affordable", "top_only")
ROLL_ONE_REFRESH = ("leftmost", "row", "none")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CenturyParams(GameParams):
    """Rule switches; RULES.md says what each one changes. Those of the solo game change nothing in the normal game.

    Attributes:
        players: 1 is the solo game against the automa, 2 to 5 the normal game.
        expert: solo only: the automa's coins count 3 points instead of 1 (O10).
        automa_claims: solo only: which point cards the automa claims (U1).
        roll_one_refresh: solo only: which merchants a roll of 1 discards (U11).
        automa_produces: solo only: whether the automa gains from produce cards (U7).
        reshuffle_discards: solo only: whether discarded merchants become the new deck (A5).
        turn_limit: turns of each seat after which the game is truncated; 0 for no limit (E4, O12).
    """

    players: int = switch(1, "number of seats; 1 is the solo game against the automa")
    expert: bool = switch(False, "solo: the automa's coins count 3 points instead of 1", (True, False))
    automa_claims: str = switch("affordable", "solo: the point cards that the automa goes for", AUTOMA_CLAIMS)
    roll_one_refresh: str = switch("leftmost", "solo: the merchants that a roll of 1 discards", ROLL_ONE_REFRESH)
    automa_produces: bool = switch(True, "solo: the automa gains from produce cards", (True, False))
    reshuffle_discards: bool = switch(False, "solo: discarded merchants become the new deck", (True, False))
    turn_limit: int = switch(200, "turns of each seat before truncation, 0 for no limit")

    def check(self) -> None:
        """Check what the single switches cannot."""
        if not 1 <= self.players <= SEATS:
            raise BadParams(f"century is played by 1 to {SEATS} players, not {self.players}")
        if not 0 <= self.turn_limit <= MAX_TURNS:
            raise BadParams(f"turn_limit = {self.turn_limit} is not possible: 0 to {MAX_TURNS} turns, 0 for none")

    @property
    def solo(self) -> bool:
        """Whether this is the solo game against the automa."""
        return self.players == 1
