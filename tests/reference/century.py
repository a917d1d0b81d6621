"""
Century: Spice Road in plain Python: the independent reference for differential tests.

Written from the rule texts and the description of the formats alone, to be obviously right rather than fast. Ids such
as A1 are the clauses of the rules. Cards are handled by their names, which say all there is to know of them; places
count from 1 in words and structs, from 0 in lists.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

COLOURS = "YRGB"  # M1, low to high
Cubes = dict[str, int]


def listed(names: str) -> tuple[str, ...]:
    """Give the names in a text, in its order."""
    return tuple(names.split())


MERCHANTS = listed("""
    +G +B +YR +YG +RR +YYY +YYR +YYYY
    ^3
    R>YYY G>RR G>YRR G>YYYYR B>GG B>YRG B>RRR B>YYYG B>YYRR
    YY>G YY>RR YR>B RR>GG RR>YYB RR>YYYG GG>BB GG>RRB GG>YYRB GG>YYRRR BB>YRGGG BB>RRRGG
    YYY>B YYY>RG YYY>RRR YYG>BB RRR>BB RRR>YGB RRR>GGG RRR>YYGG GGG>BBB
    YYYY>GG YYYY>GB YYYYY>BB YYYYY>GGG
""")  # M2
STARTING = ("+YY", "^2")  # M2, S3
POINT_CARDS = listed("""
    YYRR=6 YYYRR=7 RRRR=8 YYGG=8 YYRRR=8 YYRB=9 YYYGG=9 RRGG=10 RRRRR=10 YYBB=10 YYGGG=11 YYYBB=11
    GGGG=12 RRBB=12 RRGB=12 RRRGG=12 YGGB=12 YRGB=12 RRGGG=13 YYRRGG=13 GGBB=14 RRRBB=14 YYBBB=14 YYYRGB=14
    GGGGG=15 YYRRBB=15 BBBB=16 RRBBB=16 YRRRGB=16 GGGBB=17 YYGGBB=17 GGBBB=18 YRGGGB=18 RRGGBB=19 BBBBB=20 YRGBBB=20
""")  # M3
HAND_ORDER = {card: number for number, card in enumerate(MERCHANTS + STARTING)}
POINT_ORDER = {card: number for number, card in enumerate(POINT_CARDS)}

FIRST_CUBES = ("YYY", "YYYY", "YYYY", "YYYR", "YYYR")  # S4
AUTOMA_VALUE = {"Y": 0, "R": 1, "G": 2, "B": 3}  # O10
LIMIT = 10  # T3
ROW = 6  # S1, O5
POINT_ROW = 5  # S1
FACE_DOWN = "face down"
COVERS = ((), (0,), (0,), (1,), (1, 2), (2,), (3,), (3, 4), (4, 5), (5,))  # O2, by place from 0
NOBODY = -1  # the seat during the set-up and the automa's turn


def cubes_of(letters: str) -> Cubes:
    """Count the cubes in a word such as "YYG"."""
    return {colour: letters.count(colour) for colour in COLOURS}


def total(cubes: Cubes) -> int:
    """Count the cubes of all colours."""
    return sum(cubes.values())


def plus(cubes: Cubes, more: Cubes, times: int = 1) -> Cubes:
    """Add cubes, some number of times."""
    return {colour: cubes[colour] + times * more[colour] for colour in COLOURS}


def minus(cubes: Cubes, less: Cubes, times: int = 1) -> Cubes:
    """Take cubes away, some number of times."""
    return plus(cubes, less, -times)


def contains(cubes: Cubes, part: Cubes) -> bool:
    """Tell whether the part is among the cubes."""
    return all(cubes[colour] >= part[colour] for colour in COLOURS)


def lowest(cubes: Cubes) -> str | None:
    """Give the lowest colour that is there."""
    return next((colour for colour in COLOURS if cubes[colour] > 0), None)


def next_colour(colour: str) -> str | None:
    """Give the next higher colour; brown has none (P4)."""
    return dict(zip("YRG", "RGB", strict=True)).get(colour)


@dataclass(frozen=True)
class Card:
    """What a merchant or starting card does: "produce", "upgrade" or "trade"."""

    kind: str
    pays: Cubes
    gains: Cubes
    steps: int = 0


def read_card(name: str) -> Card:
    """Read what a card does from its name."""
    if name.startswith("+"):
        return Card("produce", cubes_of(""), cubes_of(name[1:]))
    if name.startswith("^"):
        return Card("upgrade", cubes_of(""), cubes_of(""), int(name[1:]))
    pays, gains = name.split(">")
    return Card("trade", cubes_of(pays), cubes_of(gains))


CARDS = {name: read_card(name) for name in MERCHANTS + STARTING}
COST = {name: cubes_of(name.split("=")[0]) for name in POINT_CARDS}
POINTS = {name: int(name.split("=")[1]) for name in POINT_CARDS}


def points_of(cards: Iterable[str]) -> int:
    """Add up point cards."""
    return sum(POINTS[card] for card in cards)


@dataclass
class Seat:
    """What one player has."""

    cubes: Cubes
    hand: list[str]
    played: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    gold: int = 0
    silver: int = 0

    def score(self) -> int:
        """Give the points if the game ended now (E2; O9: without coins, there are none)."""
        return points_of(self.points) + 3 * self.gold + self.silver + total(self.cubes) - self.cubes["Y"]


@dataclass
class Automa:
    """What the automa has."""

    cubes: Cubes
    coins: int = 0
    points: list[str] = field(default_factory=list)


@dataclass
class Stall:
    """A place of the merchant row: its card, None if empty, and the cubes that lie on it."""

    card: str | None = None
    cubes: Cubes = field(default_factory=lambda: cubes_of(""))


DEFAULTS: dict[str, Any] = {
    "players": 1,
    "returns": "win",
    "expert": False,
    "automa_claims": "affordable",
    "roll_one_refresh": "leftmost",
    "automa_produces": True,
    "reshuffle_discards": False,
    "turn_limit": 200,
}


def read_params(params: dict[str, Any]) -> dict[str, Any]:
    """Fill in the defaults and check the values, or raise ValueError that names the field."""
    unknown = set(params) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"params: there is no '{sorted(unknown)[0]}'.")
    full = DEFAULTS | params
    allowed: dict[str, tuple[Any, ...]] = {
        "players": (1, 2, 3, 4, 5),
        "returns": ("win", "rank", "margin"),
        "expert": (True, False),
        "automa_claims": ("affordable", "top_only"),
        "roll_one_refresh": ("leftmost", "row", "none"),
        "automa_produces": (True, False),
        "reshuffle_discards": (True, False),
    }
    for key, values in allowed.items():
        if full[key] not in values:
            raise ValueError(f"params: '{key}' must be one of {values}.")
    if full["turn_limit"] < 0:
        raise ValueError("params: 'turn_limit' must not be negative.")
    return full


Option = tuple[Any, ...]


class Century:
    """A game of Century: Spice Road. Chance and actions are given by their words."""

    def __init__(self, params: dict[str, Any], count: bool = True) -> None:
        """Set the game up, before anything chance decides; `count` switches the counting of clauses on."""
        self.params = read_params(params)
        self.players: int = self.params["players"]
        self.solo = self.players == 1
        self.clauses: Counter[str] = Counter()
        self.count = count
        self.merchants = [Stall() for _ in range(ROW)]
        self.merchant_deck = list(MERCHANTS)
        self.points: list[str | None] = [FACE_DOWN] * 10 if self.solo else [None] * POINT_ROW  # O1
        self.point_deck = list(POINT_CARDS)
        self.gold = self.silver = 0 if self.solo else 2 * self.players  # S2, O7
        self.seats = [Seat(cubes_of(FIRST_CUBES[n]), list(STARTING)) for n in range(self.players)]  # S3, S4, O6
        self.automa = Automa(cubes_of("YYY")) if self.solo else None  # O6
        self.seat = NOBODY
        self.round = 0
        self.truncated = False
        self.pending: dict[str, Any] | None = None
        self.phase = "point"
        self._options: dict[str, Option] | None = None
        self._raised: str | None = None  # the colour the last upgrade step of this turn led to, for counting only

    # What one can ask.

    def scores(self) -> list[int]:
        """Give each seat's points if the game ended now (E2, O9)."""
        return [seat.score() for seat in self.seats]

    def automa_score(self) -> int:
        """Give the automa's points if the game ended now (O10)."""
        assert self.automa is not None
        coins = self.automa.coins * (3 if self.params["expert"] else 1)
        cubes = sum(AUTOMA_VALUE[colour] * number for colour, number in self.automa.cubes.items())
        return points_of(self.automa.points) + coins + cubes

    def returns(self) -> list[float]:
        """Give the returns of the finished game in the mode of the parameter `returns`."""
        if self.phase != "over":
            raise ValueError("The game is not over.")
        mode, scores, n = self.params["returns"], self.scores(), self.players
        if self.solo:
            margin = scores[0] - self.automa_score()
            won = margin > 0 and not self.truncated  # O11, O12
            return [float(margin)] if mode == "margin" else [1.0 if won else -1.0]
        if mode == "margin":
            return [score - (sum(scores) - score) / (n - 1) for score in scores]
        standings = [(score, seat) for seat, score in enumerate(scores)]  # E3: the later seat is ahead
        places = [sum(other > mine for other in standings) for mine in standings]
        if mode == "rank":
            return [1 - 2 * place / (n - 1) for place in places]  # E3
        return [1.0 if place == 0 else -1 / (n - 1) for place in places]

    def chance(self) -> dict[str, int]:
        """Give the words of what chance may bring now, with weights."""
        if self.phase == "merchant":
            return {f"draw {card} for merchant place {self._empty_stall() + 1}": 1 for card in self.merchant_deck}
        if self.phase == "point":
            place = self._place_to_fill()
            assert place is not None
            return {f"draw {card} for point place {place + 1}": 1 for card in self.point_deck}
        if self.phase == "roll":
            return {f"roll {number}": 1 for number in range(1, 7)}  # U4
        return {}

    def legal(self) -> list[str]:
        """Give the words of the legal actions, each once."""
        return list(self.options())

    def struct(self) -> dict[str, Any]:
        """Give the struct of the position."""
        return {
            "game": "century",
            "params": dict(self.params),
            "phase": self.phase,
            "seat": self.seat,
            "round": self.round,
            "truncated": self.truncated,
            "merchants": [{"card": stall.card, "cubes": dict(stall.cubes)} for stall in self.merchants],
            "merchant_deck": sorted(self.merchant_deck, key=HAND_ORDER.__getitem__),
            "points": list(self.points),
            "point_deck": sorted(self.point_deck, key=POINT_ORDER.__getitem__),
            "coins": {"gold": self.gold, "silver": self.silver},
            "pending": None if self.pending is None else dict(self.pending),
            "seats": [self._seat_struct(seat) for seat in self.seats],
            "automa": self._automa_struct(),
        }

    @staticmethod
    def _seat_struct(seat: Seat) -> dict[str, Any]:
        """Give the part of the struct that describes one seat."""
        return {
            "cubes": dict(seat.cubes),
            "hand": sorted(seat.hand, key=HAND_ORDER.__getitem__),
            "played": sorted(seat.played, key=HAND_ORDER.__getitem__),
            "points": sorted(seat.points, key=POINT_ORDER.__getitem__),
            "gold": seat.gold,
            "silver": seat.silver,
            "score": seat.score(),
        }

    def _automa_struct(self) -> dict[str, Any] | None:
        """Give the part of the struct that describes the automa."""
        if self.automa is None:
            return None
        return {
            "cubes": dict(self.automa.cubes),
            "coins": self.automa.coins,
            "points": sorted(self.automa.points, key=POINT_ORDER.__getitem__),
            "score": self.automa_score(),
        }

    @classmethod
    def from_struct(cls, struct: dict[str, Any], count: bool = True) -> Century:
        """Make the game of a struct; the inverse of `struct` (the scores follow from the rest)."""
        game = cls(struct["params"], count)
        game.phase, game.seat, game.round = struct["phase"], struct["seat"], struct["round"]
        game.truncated = struct["truncated"]
        game.merchants = [Stall(stall["card"], dict(stall["cubes"])) for stall in struct["merchants"]]
        game.merchant_deck, game.point_deck = list(struct["merchant_deck"]), list(struct["point_deck"])
        game.points = list(struct["points"])
        game.gold, game.silver = struct["coins"]["gold"], struct["coins"]["silver"]
        game.pending = None if struct["pending"] is None else dict(struct["pending"])
        game.seats = [cls._seat_from(given) for given in struct["seats"]]
        if struct["automa"] is not None:
            given = struct["automa"]
            game.automa = Automa(dict(given["cubes"]), given["coins"], list(given["points"]))
        return game

    @staticmethod
    def _seat_from(given: dict[str, Any]) -> Seat:
        hand, played, points = list(given["hand"]), list(given["played"]), list(given["points"])
        return Seat(dict(given["cubes"]), hand, played, points, given["gold"], given["silver"])

    def copy(self) -> Century:
        """Give an independent copy that does not count clauses."""
        return Century.from_struct(self.struct(), count=False)

    # Chance: cards are drawn, the automa's die is rolled.

    def resolve(self, words: str) -> None:
        """Let chance bring what the words say."""
        if words not in self.chance():
            raise ValueError(f"Chance cannot bring '{words}' in phase {self.phase}.")
        self._options = None
        what = words.split()[1]
        if self.phase == "roll":
            self._automa_rolls(int(what) - 1)
        elif self.phase == "merchant":
            self.merchant_deck.remove(what)
            self.merchants[self._empty_stall()].card = what
        else:
            place = self._place_to_fill()
            assert place is not None
            self._note("O2 O4" if self.solo and self.round else "")
            self.point_deck.remove(what)
            self.points[place] = what
        self.go_on()

    def _empty_stall(self) -> int:
        """Give the first empty place of the merchant row."""
        return next(place for place, stall in enumerate(self.merchants) if stall.card is None)

    def _row_is_short(self) -> bool:
        """Tell whether a place of the merchant row is empty."""
        return any(stall.card is None for stall in self.merchants)

    def _place_to_fill(self) -> int | None:
        """Give the first point place that waits for a card: an empty one, in solo one that is to turn up (O2)."""
        for place, card in enumerate(self.points):
            if card == FACE_DOWN and all(self.points[cover] is None for cover in COVERS[place]):
                return place
            if card is None and not self.solo:
                return place
        return None

    def _reshuffle_if_due(self) -> None:
        """Make the discarded merchants the deck, if the switch asks for it and it has run out (A5)."""
        if self.solo and self.params["reshuffle_discards"] and not self.merchant_deck:
            elsewhere = {stall.card for stall in self.merchants} | {*self.seats[0].hand, *self.seats[0].played}
            self.merchant_deck = [card for card in MERCHANTS if card not in elsewhere]

    # What follows when an action, or chance, has done its work.

    def go_on(self) -> None:
        """Find out what is next: a draw, cubes to return, or the next turn."""
        self._options = None
        self.pending = None
        if self.point_deck and self._place_to_fill() is not None:
            self.phase = "point"
            return
        if self._row_is_short():
            self._reshuffle_if_due()
            if self.merchant_deck:
                self.phase = "merchant"
                return
            self._note("A5")
        if self.round == 0:
            self._note("M1 M2 M3 M4 " + ("O1 O5 O6" if self.solo else "S1 S2 S3 S4 S5"))
            self._begin_round()
        elif self.seat == NOBODY:
            self._end_round()
        elif total(self.seats[self.seat].cubes) > LIMIT:
            self.phase = "return"  # T3
        else:
            self._end_turn()

    def _begin_round(self) -> None:
        self.round += 1
        self.seat = 0
        self.phase = "turn"

    def _end_turn(self) -> None:
        if self.solo:
            self._automa_turn()
        elif self.seat + 1 < self.players:
            self.seat += 1
            self.phase = "turn"
        else:
            self._end_round()

    def _end_round(self) -> None:
        """After each seat's turn, in solo also the automa's: end the game (E1), cut it off (E4, O12), or go on."""
        enough = 6 if self.players <= 3 else 5
        if not self.solo and any(len(seat.points) >= enough for seat in self.seats):
            self._note("E1")
            self._finish()
        elif self.round == self.params["turn_limit"]:
            self._note("O12" if self.solo else "E4")
            self.truncated = True
            self._finish()
        else:
            self._begin_round()

    def _finish(self) -> None:
        self.phase = "over"
        self.pending = None
        scores = self.scores()
        self._note("O9 O10 O11" if self.solo else "E2")
        self._note("E3" if len(set(scores)) < len(scores) else "")

    # The legal actions.

    def options(self) -> dict[str, Option]:
        """Give the legal actions: their words, and what they mean as (kind, details ...)."""
        if self._options is None:
            find: dict[str, Callable[[], dict[str, Option]]] = {
                "turn": self._turn_options,
                "trade": lambda: {"trade once more": ("trade",), "done": ("done",)},
                "upgrade": lambda: self._upgrade_options() | {"done": ("done",)},
                "pay": lambda: {f"pay {colour}": ("pay", colour) for colour in self._own_colours()},
                "return": lambda: {f"return {colour}": ("return", colour) for colour in self._own_colours()},
            }
            self._options = find[self.phase]() if self.phase in find else {}
        return self._options

    def _me(self) -> Seat:
        return self.seats[self.seat]

    def _own_colours(self) -> list[str]:
        return [colour for colour in COLOURS if self._me().cubes[colour] > 0]

    def _turn_options(self) -> dict[str, Option]:
        """Play, acquire, rest or claim (T1)."""
        me = self._me()
        options: dict[str, Option] = {f"play {card}": ("play", card) for card in me.hand if self._payable(card)}
        for place, stall in enumerate(self.merchants):
            if stall.card is not None and total(me.cubes) >= place:  # A1
                options[f"acquire {stall.card} at place {place + 1}"] = ("acquire", place)
        options["rest"] = ("rest",)  # R1, R2
        for place in self.claimable(me.cubes):
            options[f"claim {self.points[place]} at place {place + 1}"] = ("claim", place)
        return options

    def _payable(self, card: str) -> bool:
        """Tell whether the mover has what a card takes; only trades take anything (P6)."""
        return contains(self._me().cubes, CARDS[card].pays)

    def claimable(self, cubes: Cubes) -> list[int]:
        """Give the places of the face-up point cards that these cubes can pay for (C1, O3)."""
        return [place for place, card in self._face_up() if contains(cubes, COST[card])]

    def _face_up(self) -> list[tuple[int, str]]:
        """Give the places and names of the face-up point cards."""
        return [(place, card) for place, card in enumerate(self.points) if card is not None and card != FACE_DOWN]

    def _upgrade_options(self) -> dict[str, Option]:
        """One upgrade step (P3, P4)."""
        steps = [(colour, next_colour(colour)) for colour in self._own_colours()]
        return {f"upgrade {low} to {high}": ("upgrade", low, high) for low, high in steps if high is not None}

    # What the actions do.

    def play(self, words: str) -> None:
        """Play an action by its words; raises ValueError, changing nothing, if it is not legal."""
        option = self.options().get(words)
        if option is None:
            raise ValueError(f"'{words}' is not legal in phase {self.phase}.")
        if self.count:
            self._count_option(option)
        self._options = None
        do: dict[str, Callable[..., None]] = {
            "play": self._do_play,
            "trade": self._do_trade,
            "done": self.go_on,
            "upgrade": self._do_upgrade,
            "acquire": self._do_acquire,
            "pay": self._do_pay,
            "rest": self._do_rest,
            "claim": self._do_claim,
            "return": self._do_return,
        }
        do[option[0]](*option[1:])

    def _do_play(self, card: str) -> None:
        me, what = self._me(), CARDS[card]
        me.hand.remove(card)
        me.played.append(card)  # P1
        if what.kind == "trade":
            self.pending = {"card": card}
            self._do_trade()
        elif what.kind == "upgrade":
            self._go_on_upgrading(card, what.steps)
        else:
            me.cubes = plus(me.cubes, what.gains)  # P2
            self.go_on()

    def _do_trade(self) -> None:
        """Trade once with the pending card (P5); ask for more only if there can be more (T2)."""
        assert self.pending is not None
        card = self.pending["card"]
        me, what = self._me(), CARDS[card]
        me.cubes = plus(minus(me.cubes, what.pays), what.gains)
        if self._payable(card):
            self.phase = "trade"
        else:
            self.go_on()

    def _do_upgrade(self, low: str, high: str) -> None:
        assert self.pending is not None
        me = self._me()
        me.cubes = plus(minus(me.cubes, cubes_of(low)), cubes_of(high))
        self._raised = high
        self._go_on_upgrading(self.pending["card"], self.pending["steps"] - 1)

    def _go_on_upgrading(self, card: str, steps: int) -> None:
        """Ask for an upgrade step if one is left and possible (T2)."""
        if steps > 0 and self._upgrade_options():
            self.pending = {"card": card, "steps": steps}
            self.phase = "upgrade"
        else:
            self.go_on()

    def _do_acquire(self, place: int) -> None:
        if place == 0:
            self._take_merchant(0)
        else:
            self.pending = {"place": place + 1, "paid": 0}
            self.phase = "pay"

    def _do_pay(self, colour: str) -> None:
        """Put a cube on the next card to the left of the wanted one (A1)."""
        assert self.pending is not None
        me, place, paid = self._me(), self.pending["place"] - 1, self.pending["paid"]
        stall = self.merchants[paid]
        me.cubes = minus(me.cubes, cubes_of(colour))
        stall.cubes = plus(stall.cubes, cubes_of(colour))
        self.pending["paid"] = paid + 1
        if paid + 1 == place:
            self._take_merchant(place)

    def _take_merchant(self, place: int) -> None:
        """Take the card and all that lies on it (A3)."""
        me, stall = self._me(), self.merchants[place]
        me.hand.append(str(stall.card))
        me.cubes = plus(me.cubes, stall.cubes)
        self._remove_merchant(place)
        self.go_on()

    def _remove_merchant(self, place: int) -> None:
        """Let the merchants to the right slide left, with their cubes (A4)."""
        del self.merchants[place]
        self.merchants.append(Stall())

    def _do_rest(self) -> None:
        me = self._me()
        me.hand += me.played
        me.played = []
        self.go_on()

    def _do_claim(self, place: int) -> None:
        me, card = self._me(), str(self.points[place])
        me.cubes = minus(me.cubes, COST[card])  # C1
        me.points.append(card)
        if not self.solo:
            self._take_coin(place)
        self._remove_point_card(place)
        if not any(self.points) and self.solo:
            self._note("O8")
            self._finish()
        else:
            self.go_on()

    def _take_coin(self, place: int) -> None:
        """Take a coin from the pile at the place, if any (C2, C3)."""
        piles = ["gold", "silver"] if self.gold > 0 else ["silver"]
        if place >= len(piles):
            return
        if piles[place] == "gold":
            self.gold -= 1
            self._me().gold += 1
        elif self.silver > 0:
            self.silver -= 1
            self._me().silver += 1

    def _remove_point_card(self, place: int) -> None:
        """Take a point card away; those to its right slide left (C4), but not in the pyramid (O3)."""
        if self.solo:
            self.points[place] = None
        else:
            del self.points[place]
            self.points.append(None)

    def _do_return(self, colour: str) -> None:
        me = self._me()
        me.cubes = minus(me.cubes, cubes_of(colour))
        self.go_on()

    # The automa.

    def _automa_turn(self) -> None:
        """Claim at once, if possible (U1), or wait for the die (U4)."""
        assert self.automa is not None
        self.seat = NOBODY
        place = self.automa_choice()
        if place is None:
            self.phase = "roll"
            return
        card = str(self.points[place])
        self.automa.cubes = minus(self.automa.cubes, COST[card])  # U3
        self.automa.points.append(card)
        self._remove_point_card(place)
        self._note("U1 U3 O3")
        if any(self.points):
            self.go_on()
        else:
            self._note("O8")
            self._finish()

    def automa_choice(self) -> int | None:
        """Give the place of the point card that the automa would claim now (U1, U2)."""
        assert self.automa is not None
        candidates = self.claimable(self.automa.cubes)
        if self.params["automa_claims"] == "top_only":
            top = max((POINTS[card] for _, card in self._face_up()), default=0)
            candidates = [place for place in candidates if POINTS[str(self.points[place])] == top]
        if not candidates:
            return None
        values = [POINTS[str(self.points[place])] for place in candidates]
        self._note("U2" if values.count(max(values)) > 1 else "")
        return candidates[values.index(max(values))]

    def _automa_rolls(self, place: int) -> None:
        """Use the merchant at the place the die names (U5 to U13)."""
        stall = self.merchants[place]
        if self.count:
            self._count_roll(place, stall)
        if stall.card is None:
            return  # U13
        if total(stall.cubes) >= 2:
            self._automa_takes_cubes(place)
            return
        self._automa_uses(CARDS[stall.card], total(stall.cubes))
        self._automa_puts_cube(stall)
        if place == 0:
            self._refresh_after_one()

    def _automa_takes_cubes(self, place: int) -> None:
        """Take the cubes and a coin; the card is discarded (U10)."""
        assert self.automa is not None
        self.automa.cubes = plus(self.automa.cubes, self.merchants[place].cubes)
        self.automa.coins += 1
        self._remove_merchant(place)

    def _automa_uses(self, card: Card, lying: int) -> None:
        """Trade or produce, with no cubes or one on the card (U5 to U8, U12)."""
        assert self.automa is not None
        mine = self.automa.cubes
        if card.kind == "trade" and contains(mine, card.pays):
            self.automa.cubes = plus(minus(mine, card.pays), card.gains)  # U5
        elif card.kind == "trade" and lying == 0:
            self.automa.cubes = plus(mine, card.pays)  # U6
        elif card.kind == "produce" and lying == 0 and self.params["automa_produces"]:
            self.automa.cubes = plus(mine, card.gains)  # U7

    def _automa_puts_cube(self, stall: Stall) -> None:
        """Put the automa's lowest cube on the card (U9)."""
        assert self.automa is not None
        colour = lowest(self.automa.cubes)
        if colour is not None:
            self.automa.cubes = minus(self.automa.cubes, cubes_of(colour))
            stall.cubes = plus(stall.cubes, cubes_of(colour))

    def _refresh_after_one(self) -> None:
        """Discard the first card, or the row, with the cubes on it (U11)."""
        discarded = {"leftmost": 1, "row": ROW, "none": 0}[self.params["roll_one_refresh"]]
        for _ in range(discarded):
            self._remove_merchant(0)

    # Counting: which clauses mattered. Nothing below changes the game.

    def _note(self, ids: str) -> None:
        """Count the clauses with these ids, if counting is on."""
        if self.count:
            self.clauses.update(ids.split())

    def _count_option(self, option: Option) -> None:
        """Count the clauses an action exercises, just before it is done."""
        if self.phase == "turn":
            self._note("T1")
            self._note("O7" if self.solo else "")
            self._note("P6" if not all(self._payable(card) for card in self._me().hand) else "")
            self._note("O3" if self.solo and FACE_DOWN in self.points else "")
        count: dict[str, Callable[..., None]] = {
            "play": self._count_play,
            "trade": lambda: self._note("P5"),
            "done": lambda: self._note("T2 P3" if self.phase == "upgrade" else "T2"),
            "upgrade": self._count_upgrade,
            "acquire": self._count_acquire,
            "rest": lambda: self._note("R1" if self._me().played else "R2"),
            "claim": self._count_claim,
            "return": lambda colour: self._note("T3"),
        }
        if option[0] in count:
            count[option[0]](*option[1:])

    def _count_play(self, card: str) -> None:
        self._note("P1 " + {"produce": "P2", "upgrade": "P3", "trade": "P5"}[CARDS[card].kind])

    def _count_upgrade(self, low: str, high: str) -> None:
        """P4: a brown cube is there, or the cube just raised is raised again, or might be."""
        assert self.pending is not None
        again = self.pending["steps"] < CARDS[self.pending["card"]].steps and self._raised == low
        self._note("P4" if again or self._me().cubes["B"] else "")

    def _count_acquire(self, place: int) -> None:
        bonus = total(self.merchants[place].cubes)
        self._note("A1 A4" if place > 0 else "A4")
        self._note("A2" if place > 0 and bonus else "")
        self._note("A3" if bonus else "")

    def _count_claim(self, place: int) -> None:
        self._note("C1")
        if not self.solo:
            self._note("C4")
            self._note("C2" if place == 0 or (place == 1 and self.gold) else "")
            self._note("C3" if (self.gold == 0 and place < 2) or (self.gold == 1 and place == 0) else "")

    def _count_roll(self, place: int, stall: Stall) -> None:
        """Count the clauses a roll exercises."""
        assert self.automa is not None
        self._note("U4")
        self._note("U14" if total(self.automa.cubes) > LIMIT else "")
        if stall.card is None:
            self._note("U13")
            return
        card, lying = CARDS[stall.card], total(stall.cubes)
        payable = card.kind == "trade" and contains(self.automa.cubes, card.pays)
        self._note("U12" if card.kind == "upgrade" else "")
        self._note("U11" if place == 0 else "")
        self._note("U10" if lying >= 2 else "U9")
        self._note("U5" if lying < 2 and payable else "")
        self._note("U6" if lying == 0 and card.kind == "trade" and not payable else "")
        self._note("U7" if lying == 0 and card.kind == "produce" else "")
        self._note("U8" if lying == 1 and not payable else "")


def new_reference(params: dict[str, Any], struct: dict[str, Any] | None = None) -> Century:
    """Make a new game, or the one of a struct: what the differential tests ask every reference for."""
    return Century(params) if struct is None else Century.from_struct(struct)


# Whole turns, from the rules of whole turns. Chains of small actions must reach the same positions, no more, no fewer.


def position_key(struct: dict[str, Any]) -> str:
    """Give a position as text that can be put into a set; the switches are left out."""
    return json.dumps({key: value for key, value in struct.items() if key != "params"}, sort_keys=True)


def same_turn(before: dict[str, Any], struct: dict[str, Any]) -> bool:
    """Tell whether the turn of the position before is still going on in the other one."""
    now = struct["phase"], struct["round"], struct["seat"]
    return now[0] != "over" and now[1:] == (before["round"], before["seat"])


def end_of_turn_positions(game: Century) -> set[str]:
    """
    Give the keys of all positions in which the turn that begins in this position can end.

    These are the first positions in which another turn is on (its seat is to move, or the automa's die is to be rolled,
    or a card is to turn up that the automa freed) or the game is over. Where chance decides during the turn (a refill,
    a card that turns up), its first outcome in the order of the table is taken.
    """
    if game.phase != "turn":
        raise ValueError(f"A turn begins in phase 'turn', not in phase '{game.phase}'.")
    before = game.struct()
    found = set()
    for after in _whole_turns(game):
        for caravan in _within_limit(after.seats[game.seat].cubes) if after.phase != "over" else [None]:
            end = after.copy()
            if caravan is not None:
                end.seats[game.seat].cubes = caravan
                end.go_on()
            while same_turn(before, end.struct()):
                end.resolve(next(iter(end.chance())))
            found.add(position_key(end.struct()))
    return found


def _whole_turns(game: Century) -> Iterator[Century]:
    """Give the game after each possible turn, cards not refilled yet and the limit of the caravan not applied."""
    yield from _whole_plays(game)
    for place, stall in enumerate(game.merchants):
        if stall.card is not None:
            yield from _whole_acquisitions(game, place)
    rested = game.copy()
    me = rested.seats[game.seat]
    me.hand, me.played = me.hand + me.played, []
    yield rested
    yield from _whole_claims(game)


def _whole_plays(game: Century) -> Iterator[Century]:
    """Play each card of the hand in every way."""
    for card in game.seats[game.seat].hand:
        for caravan in results_of(CARDS[card], game.seats[game.seat].cubes):
            played = game.copy()
            me = played.seats[game.seat]
            me.hand.remove(card)
            me.played.append(card)
            me.cubes = caravan
            yield played


def results_of(card: Card, caravan: Cubes) -> list[Cubes]:
    """Give the caravans that a card can make of one, each once, the limit not applied; none if it cannot be played."""
    if card.kind == "produce":
        return [plus(caravan, card.gains)]
    if card.kind == "upgrade":
        return _upgraded(caravan, card.steps)
    change = minus(card.gains, card.pays)
    counts = itertools.count(1)  # P6: the trade number `count` must be payable after the ones before
    payable = itertools.takewhile(lambda count: contains(plus(caravan, change, count - 1), card.pays), counts)
    return [plus(caravan, change, count) for count in payable]


def _upgraded(caravan: Cubes, steps: int) -> list[Cubes]:
    """Give the caravans after at most so many steps: first all from Y, then all from R, then all from G."""
    found = []
    for y, r, g in itertools.product(range(steps + 1), repeat=3):
        after = plus(caravan, {"Y": -y, "R": y - r, "G": r - g, "B": g})
        if y + r + g <= steps and min(after.values()) >= 0 and after not in found:
            found.append(after)
    return found


def _whole_acquisitions(game: Century, place: int) -> Iterator[Century]:
    """Acquire the merchant at a place, for every choice of cubes put on the cards to its left."""
    for colours in itertools.product(COLOURS, repeat=place):
        paid = cubes_of("".join(colours))
        if not contains(game.seats[game.seat].cubes, paid):
            continue
        after = game.copy()
        me, wanted = after.seats[game.seat], after.merchants[place]
        for stall, colour in zip(after.merchants, colours, strict=False):
            stall.cubes[colour] += 1
        me.cubes = plus(minus(me.cubes, paid), wanted.cubes)
        me.hand.append(str(wanted.card))
        after.merchants = [stall for stall in after.merchants if stall is not wanted] + [Stall()]
        yield after


def _whole_claims(game: Century) -> Iterator[Century]:
    """Claim each point card that can be paid."""
    for place in game.claimable(game.seats[game.seat].cubes):
        after = game.copy()
        card = str(after.points[place])
        me = after.seats[game.seat]
        me.cubes = minus(me.cubes, COST[card])
        me.points.append(card)
        if game.solo:
            after.points[place] = None
            after.phase = "turn" if any(after.points) else "over"
        else:
            after.points = [other for other in after.points if other != card]
            after.points += [None] * (POINT_ROW - len(after.points))
            first_pays_gold = game.gold > 0
            if place == 0 and first_pays_gold:
                me.gold, after.gold = me.gold + 1, after.gold - 1
            elif place == (1 if first_pays_gold else 0) and game.silver > 0:
                me.silver, after.silver = me.silver + 1, after.silver - 1
        yield after


def _within_limit(caravan: Cubes) -> list[Cubes]:
    """Give what can be left of a caravan at the end of a turn: all of it, or any ten cubes of it (T3)."""
    if total(caravan) <= LIMIT:
        return [caravan]
    choices = itertools.product(*(range(caravan[colour] + 1) for colour in COLOURS))
    return [dict(zip(COLOURS, kept, strict=True)) for kept in choices if sum(kept) == LIMIT]
