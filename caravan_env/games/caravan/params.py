"""The rule switches of Caravan."""

from __future__ import annotations

import dataclasses
from typing import Any

from caravan_env.core.errors import BadParams
from caravan_env.core.params import GameParams, switch
from caravan_env.games.caravan.tables import Board, load_board

MAX_TURNS = 60_000


@dataclasses.dataclass(frozen=True, kw_only=True)
class CaravanParams(GameParams):
    """Rule switches; RULES.md says what each one changes.

    Attributes:
        camels: camels of each player, 5 or 6 (S1).
        goods: "short" (32 goods), "full" (48) or "auto": short with 2 or 3 players, full with 4 (S2).
        starting_seat: the seat that begins, or -1 for a random one (S5).
        board: a shipped board's name, a board file's path, a mapping, or a Board (B1).
        last_camel_ban_on_steal: whether the last empty camel may not steal either (H4).
        rainbow_camel: whether the Rainbow Camel is in play (X1).
        turn_limit: turns of all seats together after which the game is truncated; 0 for no limit (E5).
    """

    camels: int = switch(5, "camels of each player", (5, 6))
    goods: str = switch("auto", "32 goods, 48 goods, or by the number of players", ("auto", "short", "full"))
    starting_seat: int = switch(-1, "the seat that begins, -1 for a random one")
    board: Any = switch("symmetric", "a shipped board, the path of a board file, or a mapping")
    last_camel_ban_on_steal: bool = switch(True, "the last empty camel may not steal either", (True, False))
    rainbow_camel: bool = switch(False, "play with the neutral Rainbow Camel", (True, False))
    turn_limit: int = switch(200, "turns of all seats together before truncation, 0 for no limit")

    def check(self) -> None:
        """Check what the single switches cannot; turn `board` into a Board."""
        if not 2 <= self.players <= 4:
            raise BadParams(f"caravan is played by 2 to 4 players, not {self.players}")
        if not -1 <= self.starting_seat < self.players:
            raise BadParams(
                f"starting_seat = {self.starting_seat} is not possible: -1 for random, or 0 to {self.players - 1}"
            )
        if not 0 <= self.turn_limit <= MAX_TURNS:
            raise BadParams(f"turn_limit = {self.turn_limit} is not possible: 0 to {MAX_TURNS} turns, 0 for none")
        object.__setattr__(self, "board", load_board(self.board))

    @property
    def short_goods(self) -> bool:
        """Whether 32 goods are in play rather than 48."""
        return self.goods == "short" or (self.goods == "auto" and self.players < 4)

    @property
    def board_in_use(self) -> Board:
        """The board, for displays and results."""
        board: Board = self.board
        return board
