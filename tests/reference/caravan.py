"""
Caravan in plain Python: the independent reference for differential tests.

Written from the rule texts and the description of the formats alone, to be obviously right rather than fast. Ids such
as P4 are the clauses of the rules. Cells are handled by their names ("a1" is the top left corner, "g1" the top right).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

GOODS = ("meat", "swords", "salt", "hides", "ivory", "cloth", "gems", "paper")
COMMON = frozenset(GOODS[:4])
VALUE = {good: 3 if good in COMMON else 6 for good in GOODS}  # M3, E2
FULL_BAG = {good: 9 if good in COMMON else 3 for good in GOODS}  # M3
SHORT_BAG = {good: 6 if good in COMMON else 2 for good in GOODS}  # S2
PENALTY = (0, 0, 1, 3, 6, 10, 15)  # E3
FIRST_MARKERS = (1, 2, 7, 8)  # S4
TURN_ACTIONS = 4  # S6
SIZE = 7  # M1


def cell_name(row: int, column: int) -> str:
    """Give the name of a cell, its row and column counted from 0 at the top left."""
    return f"{'abcdefg'[column]}{row + 1}"


def _cells_at(row: int, column: int, steps: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Name the cells of the grid that lie the given steps away from a cell."""
    places = [(row + down, column + right) for down, right in steps]
    return tuple(cell_name(r, c) for r, c in places if 0 <= r < SIZE and 0 <= c < SIZE)


_PLACES = {cell_name(row, column): (row, column) for row in range(SIZE) for column in range(SIZE)}
CELLS = tuple(_PLACES)  # row-major
ORDER = {cell: index for index, cell in enumerate(CELLS)}
NEIGHBOURS = {cell: _cells_at(*place, [(-1, 0), (0, -1), (0, 1), (1, 0)]) for cell, place in _PLACES.items()}  # M1
DIAGONALS = {cell: _cells_at(*place, [(-1, -1), (-1, 1), (1, -1), (1, 1)]) for cell, place in _PLACES.items()}
INNER = tuple(cell for cell, place in _PLACES.items() if all(0 < x < SIZE - 1 for x in place))  # X1

# Digits are goods spaces; m meat, s swords, a salt, h hides, i ivory, c cloth, g gems, p paper are cities.
_LETTERS = dict(zip("msahicgp", GOODS, strict=True))
_DRAWINGS = {
    "symmetric": """
        1 . . i . . 2
        . 3 . . . 4 .
        . . . a . . .
        p . h . s . c
        . . . m . . .
        . 5 . . . 6 .
        7 . . g . . 8""",
    "pinwheel": """
        1 . . i . . 2
        . . 3 . . . .
        . . . a . 4 .
        p . h . s . c
        . 5 . m . . .
        . . . . 6 . .
        7 . . g . . 8""",
    "diagonal": """
        1 . . i . . 2
        . 3 . . . 4 .
        . . a . s . .
        p . . . . . c
        . . h . m . .
        . 5 . . . 6 .
        7 . . g . . 8""",
}


@dataclass(frozen=True)
class Board:
    """Where the eight goods spaces (in order) and the eight cities lie."""

    name: str
    sources: tuple[str, ...]
    cities: dict[str, str]


def _shipped_board(name: str) -> Board:
    """Read one of the drawings."""
    signs = dict(zip(CELLS, _DRAWINGS[name].split(), strict=True))
    sources = {sign: cell for cell, sign in signs.items() if sign.isdigit()}
    cities = {_LETTERS[sign]: cell for cell, sign in signs.items() if sign in _LETTERS}
    return Board(name, tuple(sources[str(number)] for number in range(1, 9)), cities)


def _read_cells(spec: dict[str, Any], part: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Check one half of a board given as a dict, and name its cells (B2)."""
    given = spec.get(part)
    if not isinstance(given, dict) or set(given) != set(keys):
        raise ValueError(f"board: '{part}' must name exactly {', '.join(keys)}.")
    for key, place in given.items():
        fits = isinstance(place, list | tuple) and len(place) == 2 and all(type(x) is int for x in place)
        if not fits or not all(0 <= x < SIZE for x in place):
            raise ValueError(f"board: '{part}.{key}' must be [row, column], each 0 to 6.")
    return {key: cell_name(*given[key]) for key in keys}


def read_board(spec: str | dict[str, Any]) -> Board:
    """Give the board of a shipped name or of a dict, or raise ValueError that names the field (B1, B2)."""
    if isinstance(spec, str):
        if spec not in _DRAWINGS:
            raise ValueError(f"board: there is no board '{spec}'.")
        return _shipped_board(spec)
    sources = _read_cells(spec, "sources", tuple("12345678"))
    cities = _read_cells(spec, "cities", GOODS)
    taken: dict[str, str] = {}
    for part, cells in (("sources", sources), ("cities", cities)):
        for key, cell in cells.items():
            if cell in taken:
                raise ValueError(f"board: '{part}.{key}' lies on the cell of '{taken[cell]}'.")
            taken[cell] = f"{part}.{key}"
    return Board(str(spec.get("name", "")), tuple(sources.values()), cities)


@dataclass
class Camel:
    """A camel: its cell (None: off the board), its good if any, and whether that good is stolen (under it)."""

    at: str | None = None
    good: str | None = None
    stolen: bool = False

    def rank(self) -> tuple[int, int, bool]:
        """Give the place of the camel in the struct's order."""
        where = len(CELLS) if self.at is None else ORDER[self.at]
        return where, -1 if self.good is None else GOODS.index(self.good), self.stolen


@dataclass
class Seat:
    """What one player has."""

    camels: list[Camel]
    theft: int = 1  # S1
    markers: int = 0
    delivered: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GOODS, 0))

    def carried(self) -> int:
        """Count the goods on and under the player's camels."""
        return sum(camel.good is not None for camel in self.camels)

    def score(self) -> int:
        """Give the points if the game ended now (E2, E3)."""
        points = sum(VALUE[good] * number for good, number in self.delivered.items())
        return points + self.markers - PENALTY[self.carried()]

    def standing(self) -> tuple[int, int]:
        """Give what decides the game: points, then goods delivered (E4)."""
        return self.score(), sum(self.delivered.values())

    def empty_at(self, cell: str) -> bool:
        """Tell whether an empty camel of the player stands on the cell."""
        return any(camel.at == cell and camel.good is None for camel in self.camels)

    def find(self, cell: str | None, good: str | None, stolen: bool) -> Camel:
        """Give one camel like that; there must be one."""
        return next(c for c in self.camels if (c.at, c.good, c.stolen) == (cell, good, stolen))


@dataclass
class Source:
    """A goods space: its cell, the free good there if any, and its demand markers."""

    cell: str
    good: str | None = None
    markers: int = 0


DEFAULTS: dict[str, Any] = {
    "players": 2,
    "returns": "win",
    "camels": 5,
    "goods": "auto",
    "starting_seat": -1,
    "board": "symmetric",
    "last_camel_ban_on_steal": True,
    "rainbow_camel": False,
    "turn_limit": 200,
}


def read_params(params: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults and check the values, or raise ValueError that names the field."""
    unknown = set(params) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"params: there is no '{sorted(unknown)[0]}'.")
    full = DEFAULTS | params
    allowed: dict[str, Iterable[Any]] = {
        "players": (2, 3, 4),
        "returns": ("win", "rank", "margin"),
        "camels": (5, 6),
        "goods": ("auto", "full", "short"),
        "last_camel_ban_on_steal": (True, False),
        "rainbow_camel": (True, False),
    }
    for key, values in allowed.items():
        if full[key] not in values:
            raise ValueError(f"params: '{key}' must be one of {values}.")
    if full["starting_seat"] not in range(-1, full["players"]):
        raise ValueError("params: 'starting_seat' must be -1 or the number of a seat.")
    if full["turn_limit"] < 0:
        raise ValueError("params: 'turn_limit' must not be negative.")
    return full


def connected(cells: set[str], start: str, diagonals: bool = False) -> set[str]:
    """Give those of the cells that can be reached from the start by steps from one to the next (G2)."""
    reached, todo = {start}, [start]
    while todo:
        cell = todo.pop()
        steps = NEIGHBOURS[cell] + DIAGONALS[cell] if diagonals else NEIGHBOURS[cell]
        for step in steps:
            if step in cells and step not in reached:
                reached.add(step)
                todo.append(step)
    return reached


Option = tuple[Any, ...]


class Caravan:
    """A game of Caravan. Chance and actions are given by their words."""

    def __init__(self, params: dict[str, Any], count: bool = True) -> None:
        """Set the game up, before anything chance decides; `count` switches the counting of clauses on."""
        self.params = read_params(params)
        self.board = read_board(self.params["board"])
        self.players: int = self.params["players"]
        self.clauses: Counter[str] = Counter()
        self.count = count
        kind = self.params["goods"]
        if kind == "auto":
            kind = "full" if self.players == 4 else "short"  # S2
        self.bag = dict(FULL_BAG if kind == "full" else SHORT_BAG)
        self.sources = [Source(cell, None, int(n in FIRST_MARKERS)) for n, cell in enumerate(self.board.sources, 1)]
        self.seats = [Seat([Camel() for _ in range(self.params["camels"])]) for _ in range(self.players)]
        self.rainbow: str | None = None
        self.turn = 0
        self.actions_left = 0
        self.truncated = False
        self._seat: int = self.params["starting_seat"]
        self._phase = "start" if self._seat == -1 else "fill"
        self._options: dict[str, Option] | None = None
        self._done: list[str] = []  # kinds of the actions of this turn, for counting only

    # What one can ask.

    @property
    def phase(self) -> str:
        """Give "start", "fill", "play" or "over"."""
        return self._phase

    @property
    def seat(self) -> int:
        """Give the seat whose turn it is; -1 before the starting seat is known."""
        return self._seat

    def scores(self) -> list[int]:
        """Give each seat's points if the game ended now (E2, E3)."""
        return [seat.score() for seat in self.seats]

    def winners(self) -> list[int]:
        """Give the seats that would win if the game ended now (E4)."""
        best = max(seat.standing() for seat in self.seats)
        return [i for i, seat in enumerate(self.seats) if seat.standing() == best]

    def returns(self) -> list[float]:
        """Give the returns of the finished game in the mode of the parameter `returns`."""
        if self._phase != "over":
            raise ValueError("The game is not over.")
        n, mode = self.players, self.params["returns"]
        if mode == "win":
            winners = self.winners()
            return [(n * (1 / len(winners) if i in winners else 0) - 1) / (n - 1) for i in range(n)]
        if mode == "margin":
            scores = self.scores()
            return [score - (sum(scores) - score) / (n - 1) for score in scores]
        standings = [seat.standing() for seat in self.seats]
        return [self._rank_return(standings, mine) for mine in standings]

    @staticmethod
    def _rank_return(standings: list[tuple[int, int]], mine: tuple[int, int]) -> float:
        """Give +1 for the first place to -1 for the last; equal ones share the mean of their places (0 = first)."""
        first = sum(other > mine for other in standings)
        last = first + standings.count(mine) - 1
        return 1 - 2 * ((first + last) / 2) / (len(standings) - 1)

    def chance(self) -> dict[str, int]:
        """Give the words of what chance may bring now, with weights."""
        if self._phase == "start":
            return {f"seat {i} starts": 1 for i in range(self.players)}
        if self._phase == "fill":
            space = self._lowest_empty_space()
            return {f"draw {good} for space {space}": number for good, number in self.bag.items() if number > 0}
        return {}

    def legal(self) -> list[str]:
        """Give the words of the legal actions, each once."""
        return list(self.options())

    def struct(self) -> dict[str, Any]:
        """Give the struct of the position."""
        return {
            "game": "caravan",
            "params": dict(self.params),
            "phase": self._phase,
            "seat": self._seat,
            "turn": self.turn,
            "actions_left": self.actions_left,
            "truncated": self.truncated,
            "bag": dict(self.bag),
            "sources": [{"good": source.good, "markers": source.markers} for source in self.sources],
            "rainbow": self.rainbow,
            "seats": [self._seat_struct(seat) for seat in self.seats],
        }

    @staticmethod
    def _seat_struct(seat: Seat) -> dict[str, Any]:
        """Give the part of the struct that describes one seat."""
        camels = sorted(seat.camels, key=Camel.rank)
        return {
            "camels": [{"at": camel.at, "good": camel.good, "stolen": camel.stolen} for camel in camels],
            "theft": seat.theft,
            "markers": seat.markers,
            "delivered": dict(seat.delivered),
            "score": seat.score(),
        }

    @classmethod
    def from_struct(cls, struct: dict[str, Any], count: bool = True) -> Caravan:
        """Make the game of a struct; the inverse of `struct` (the scores follow from the rest)."""
        game = cls(struct["params"], count)
        game._phase, game._seat = struct["phase"], struct["seat"]
        game.turn, game.actions_left = struct["turn"], struct["actions_left"]
        game.truncated, game.rainbow = struct["truncated"], struct["rainbow"]
        game.bag = {good: struct["bag"][good] for good in GOODS}
        for source, given in zip(game.sources, struct["sources"], strict=True):
            source.good, source.markers = given["good"], given["markers"]
        for seat, given in zip(game.seats, struct["seats"], strict=True):
            seat.camels = [Camel(camel["at"], camel["good"], camel["stolen"]) for camel in given["camels"]]
            seat.theft, seat.markers = given["theft"], given["markers"]
            seat.delivered = {good: given["delivered"][good] for good in GOODS}
        return game

    # Chance: the starting seat, and the goods drawn at the set-up and at a refill.

    def resolve(self, words: str) -> None:
        """Let chance bring what the words say."""
        if words not in self.chance():
            raise ValueError(f"Chance cannot bring '{words}' in phase {self._phase}.")
        self._options = None
        if self._phase == "start":
            self._seat = int(words.split()[1])
            self._phase = "fill"
            return
        good = words.split()[1]
        source = self.sources[self._lowest_empty_space() - 1]
        source.good = good
        self.bag[good] -= 1
        if self.turn > 0 and self.count and self._camels_on(source.cell) > 0:
            self.clauses["R3"] += 1
        if not self._bag_size() or all(source.good for source in self.sources):
            self._filled()

    def _filled(self) -> None:
        """Go on after the goods spaces were filled: begin the first turn, or go on with the turn in progress."""
        self._phase = "play"
        if self.turn == 0:
            self._note("M1 M2 M3 M4 B1 B2 S1 S2 S3 S4 S5 S6")
            self._begin_turn(self._seat)
            return
        if self._bag_size() == 0:
            self._note("R5")
        if self.actions_left == 0:
            self._end_turn()

    def _lowest_empty_space(self) -> int:
        """Give the number of the lowest-numbered space without a good."""
        return next(number for number, source in enumerate(self.sources, 1) if source.good is None)

    def _bag_size(self) -> int:
        return sum(self.bag.values())

    # The legal actions.

    def options(self) -> dict[str, Option]:
        """Give the legal actions: their words, and what they mean as (kind, details ...)."""
        if self._options is None:
            self._options = {}
            if self._phase == "play":
                self._options["end turn"] = ("end",)  # T2
                self._options |= self._camel_options()
                if not self._would_be_last_empty():
                    self._options |= self._pick_up_options()  # P4
                if not (self.params["last_camel_ban_on_steal"] and self._would_be_last_empty()):
                    self._options |= self._steal_options()  # H4
                self._options |= self._move_options()
                self._options |= self._rainbow_options()
        return self._options

    def _me(self) -> Seat:
        return self.seats[self._seat]

    def _occupied(self) -> set[str]:
        """Give the cells with one or more camels, of any colour (X2: the Rainbow Camel counts)."""
        cells = {camel.at for seat in self.seats for camel in seat.camels if camel.at is not None}
        return cells | {self.rainbow} if self.rainbow else cells

    def _would_be_last_empty(self) -> bool:
        """Tell whether one more good would leave all camels of the seat laden (P4; off the board counts as empty)."""
        me = self._me()
        return me.carried() + 1 >= len(me.camels)

    def _camel_options(self) -> dict[str, Option]:
        """Place or move an empty own camel (T3 to T7)."""
        occupied = self._occupied()
        prices = {cell: 2 if cell in occupied else 1 for cell in CELLS}
        targets = [(cell, price) for cell, price in prices.items() if price <= self.actions_left]
        options: dict[str, Option] = {}
        for start in dict.fromkeys(camel.at for camel in self._me().camels if camel.good is None):
            for cell, price in targets:
                if cell != start:
                    options[f"camel {start or 'off'} -> {cell}"] = ("camel", start, cell, price)
        return options

    def _pick_up_options(self) -> dict[str, Option]:
        """Pick up a free good where an empty own camel stands (P1), the ban of P4 left aside."""
        me = self._me()
        return {
            f"pick up {source.good} at {source.cell}": ("pick up", source)
            for source in self.sources
            if source.good is not None and me.empty_at(source.cell)
        }

    def _steal_options(self, under: bool = False) -> dict[str, Option]:
        """Steal a good on top of an opponent's camel (H1), the ban left aside; `under`: those H3 protects, to count."""
        me = self._me()
        options: dict[str, Option] = {}
        if me.theft == 0:
            return options
        for number, other in enumerate(self.seats):
            for camel in other.camels if other is not me else []:
                if camel.good and camel.at and camel.stolen == under and me.empty_at(camel.at):
                    words = f"steal {camel.good} from seat {number} at {camel.at}"
                    options[words] = ("steal", camel.good, number, camel.at)
        return options

    def _link_cells(self) -> set[str]:
        """Give the cells that link groups of the seat: own camels' and the Rainbow Camel's (G2, X3)."""
        cells = {camel.at for camel in self._me().camels if camel.at is not None}
        return cells | {self.rainbow} if self.rainbow else cells

    def _move_options(self) -> dict[str, Option]:
        """Move a good from a laden own camel to an empty one of its group, or to the Rainbow Camel (G1, X4)."""
        me, links = self._me(), self._link_cells()
        options: dict[str, Option] = {}
        for camel in me.camels:
            if camel.good is None or camel.at is None:
                continue
            what = f"move {'stolen ' if camel.stolen else ''}{camel.good} {camel.at} ->"
            group = connected(links, camel.at)
            for other in me.camels:
                if other.good is None and other.at in group:
                    options[f"{what} {other.at}"] = ("move", camel.at, camel.good, camel.stolen, other.at)
            # X4. Where an empty own camel stands with it in the city, the delivery is the same action, worded as above.
            city = self.board.cities[camel.good]
            if self.rainbow == city and city in group and not me.empty_at(city):
                options[f"{what} rainbow {city}"] = ("move to rainbow", camel.at, camel.good, camel.stolen)
        return options

    def _rainbow_options(self) -> dict[str, Option]:
        """Place or move the Rainbow Camel (X1, X2)."""
        if not self.params["rainbow_camel"] or self._me().markers == 0:
            return {}
        return {f"rainbow -> {cell}": ("rainbow", cell) for cell in INNER if cell != self.rainbow}

    # What the actions do.

    def play(self, words: str) -> None:
        """Play an action by its words; raises ValueError, changing nothing, if it is not legal."""
        if self._phase != "play":
            raise ValueError(f"'{words}' cannot be played in phase {self._phase}.")
        option = self.options().get(words)
        if option is None:
            raise ValueError(f"'{words}' is not legal now.")
        if self.count:
            self._count_position()
            self._count_option(option)
        self._options = None
        kind, details = option[0], option[1:]
        if kind == "end":
            self._end_turn()
            return
        self._done.append(kind)
        do: dict[str, Callable[..., None]] = {
            "camel": self._do_camel,
            "pick up": self._do_pick_up,
            "steal": self._do_steal,
            "move": self._do_move,
            "move to rainbow": self._do_move_to_rainbow,
            "rainbow": self._do_rainbow,
        }
        do[kind](*details)
        if self._phase == "play" and self.actions_left == 0:
            self._end_turn()  # T2; after a refill, if one is due: R1

    def _do_camel(self, start: str | None, cell: str, price: int) -> None:
        self._me().find(start, None, False).at = cell
        self.actions_left -= price

    def _do_pick_up(self, source: Source) -> None:
        me = self._me()
        me.find(source.cell, None, False).good = source.good
        me.markers += source.markers  # P2
        source.good, source.markers = None, 0
        self.actions_left -= 1
        self._refill_if_due()

    def _do_steal(self, good: str, robbed: int, cell: str) -> None:
        me, other = self._me(), self.seats[robbed]
        other.find(cell, good, False).good = None
        thief = me.find(cell, None, False)
        thief.good, thief.stolen = good, True  # H3
        me.theft -= 1
        other.theft += 1  # H2
        self.actions_left -= 1

    def _do_move(self, start: str, good: str, stolen: bool, cell: str) -> None:
        me = self._me()
        giver, receiver = me.find(start, good, stolen), me.find(cell, None, False)
        giver.good, giver.stolen = None, False
        self.actions_left -= 1
        if cell == self.board.cities[good]:
            self._deliver(good)  # G5
        else:
            receiver.good = good  # G4: on top

    def _do_move_to_rainbow(self, start: str, good: str, stolen: bool) -> None:
        giver = self._me().find(start, good, stolen)
        giver.good, giver.stolen = None, False
        self.actions_left -= 1
        self._deliver(good)

    def _do_rainbow(self, cell: str) -> None:
        self._me().markers -= 1
        self.rainbow = cell
        self.actions_left -= 1

    def _deliver(self, good: str) -> None:
        """Count a good as delivered; with the bag empty that ends the game (E1)."""
        self._me().delivered[good] += 1
        if self._bag_size() == 0:
            self._note("E1")
            self._finish()

    def _refill_if_due(self) -> None:
        """Begin a refill if only four free goods are left (R1, R2, R4)."""
        left = [source for source in self.sources if source.good is not None]
        if len(left) > 4:
            return
        if self._bag_size() == 0:
            self._note("R4")
            return
        self._note("R1")
        for source in left:
            self._note("R2" if source.markers else "")
            source.markers += 1
        self._phase = "fill"

    # Turns and the end.

    def _begin_turn(self, seat: int) -> None:
        self._seat = seat
        self.turn += 1
        self.actions_left = min(self.turn, TURN_ACTIONS)  # S6
        self._done = []

    def _end_turn(self) -> None:
        """End the turn; after the last turn of the limit the game is cut off (E5)."""
        self._note("T2")
        self._note("T1" if self.actions_left or len(set(self._done)) < len(self._done) else "")
        if self.turn == self.params["turn_limit"]:
            self._note("E5")
            self.truncated = True
            self.actions_left = 0
            self._finish()
        else:
            self._begin_turn((self._seat + 1) % self.players)

    def _finish(self) -> None:
        self._phase = "over"
        scores = self.scores()
        self._note("E2")
        self._note("E3" if any(seat.carried() > 1 for seat in self.seats) else "")
        self._note("E4" if scores.count(max(scores)) > 1 else "")

    # Counting: which clauses mattered. Nothing below changes the game.

    def _note(self, ids: str) -> None:
        """Count the clauses with these ids, if counting is on."""
        if self.count:
            self.clauses.update(ids.split())

    def _camels_on(self, cell: str) -> int:
        """Count the camels on a cell, the Rainbow Camel included."""
        return sum(c.at == cell for seat in self.seats for c in seat.camels) + (self.rainbow == cell)

    def _count_position(self) -> None:
        """Count the clauses that forbid something in this position that would be possible otherwise."""
        me = self._me()
        if me.carried():
            self._note("T6 G6")
            self._count_missing_links()
        last = self._would_be_last_empty()
        if last and self._pick_up_options():
            self._note("P4 X2" if self.rainbow else "P4")
        if last and self.params["last_camel_ban_on_steal"] and self._steal_options():
            self._note("H4 X2" if self.rainbow else "H4")
        if not last and self._steal_options(under=True):
            self._note("H3")

    def _count_missing_links(self) -> None:
        """Count G2 and G3: a good could be moved to another camel if diagonals, or opponents' camels, did connect."""
        me, links, everything = self._me(), self._link_cells(), self._occupied()
        empty = {camel.at for camel in me.camels if camel.good is None and camel.at is not None}
        by_diagonals = by_opponents = False
        for start in {camel.at for camel in me.camels if camel.good is not None and camel.at is not None}:
            apart = empty - connected(links, start)
            if apart:
                by_diagonals |= not apart.isdisjoint(connected(links, start, diagonals=True))
                by_opponents |= not apart.isdisjoint(connected(everything, start))
        self._note("G2" if by_diagonals else "")
        self._note("G3" if by_opponents else "")

    def _count_option(self, option: Option) -> None:
        """Count the clauses an action exercises, just before it is done."""
        count: dict[str, Callable[..., None]] = {
            "camel": self._count_camel,
            "pick up": self._count_pick_up,
            "steal": self._count_steal,
            "move": self._count_move,
            "move to rainbow": self._count_move_to_rainbow,
            "rainbow": self._count_rainbow,
        }
        if option[0] in count:
            count[option[0]](*option[1:])

    def _count_camel(self, start: str | None, cell: str, price: int) -> None:
        others = self._camels_on(cell)
        self._note("T3" if price == 1 else "T4")
        self._note("T5" if start is None or cell not in NEIGHBOURS[start] else "")
        self._note("T7" if others > 1 else "")
        self._note("X2" if others == 1 and self.rainbow == cell else "")

    def _count_pick_up(self, source: Source) -> None:
        self._note("P1")
        self._note("P2" if source.markers else "")
        self._note("P3" if self._camels_on(source.cell) > 1 else "")
        city = self.board.cities[str(source.good)]
        if self._me().empty_at(city) and city in connected(self._link_cells(), source.cell):
            self._note("P5")

    def _count_steal(self, good: str, robbed: int, cell: str) -> None:
        other = self.seats[robbed]
        self._note("H1")
        self._note("H2" if other.theft > 0 or "steal" in self._done else "")
        self._note("H4" if self._would_be_last_empty() else "")
        self._note("H5" if other.markers else "")
        self._note("H6" if self.board.cities[good] == cell else "")

    def _count_move(self, start: str, good: str, stolen: bool, cell: str) -> None:
        delivers = self.board.cities[good] == cell
        self._note("G1")
        self._note("G4" if (stolen or start == cell) and not delivers else "")
        self._note("G5" if delivers else "")
        own = {camel.at for camel in self._me().camels if camel.at is not None}
        self._note("X3" if self.rainbow and cell not in connected(own, start) else "")

    def _count_move_to_rainbow(self, start: str, good: str, stolen: bool) -> None:
        self._note("X4")

    def _count_rainbow(self, cell: str) -> None:
        self._note("X1")
        self._note("X2" if self._camels_on(cell) else "")


def new_reference(params: dict[str, Any], struct: dict[str, Any] | None = None) -> Caravan:
    """Make a new game, or the one of a struct: what the differential tests ask every reference for."""
    return Caravan(params) if struct is None else Caravan.from_struct(struct)
