"""The cards as named data: reading and checking `cards.json`, and the sizes that the rules fix."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

#: Colours of the cubes, low to high (RULES M1).
COLOURS = "YRGB"
COLOUR_COUNT = len(COLOURS)
#: What a cube of each colour adds to the points of a card that asks for it (RULES M3).
CUBE_VALUES = (1, 2, 3, 4)
#: What a cube of each colour is worth to the automa at the end (RULES O10).
AUTOMA_CUBE_VALUES = (0, 1, 2, 3)

SEATS = 5
CARAVAN = 10  # most cubes at the end of a turn (RULES T3)
ROW = 6  # places of merchants (RULES S1, O5)
POINT_ROW = 5  # places of point cards in the normal game (RULES S1)
PYRAMID = 10  # places of point cards in the solo game (RULES O1)
DIE = 6
#: Cubes of each seat at the start, by colour (RULES S4); the automa has those of seat 0 (O6).
START_CUBES = ((3, 0, 0, 0), (4, 0, 0, 0), (4, 0, 0, 0), (3, 1, 0, 0), (3, 1, 0, 0))
#: For each place of the pyramid, the places (both from 0) of the cards that cover its card (RULES O2).
COVERED_BY = ((), (0,), (0,), (1,), (1, 2), (2,), (3,), (3, 4), (4, 5), (5,))

#: By number of players: which point card of a seat ends the game (RULES E1), alone which one of both sides (O8).
LAST_CARD = (0, PYRAMID, 6, 6, 5, 5)

MERCHANTS = 43
STARTING = 2
POINT_CARDS = 36
#: Merchants of each kind (RULES M2).
KIND_COUNTS = {"produce": 8, "upgrade": 1, "trade": 34}
#: By how much a trade may raise the value of the cubes.
TRADE_GAINS = range(1, 5)


@dataclasses.dataclass(frozen=True)
class Merchant:
    """A merchant card.

    Attributes:
        name: what it does, for example `YY>G`.
        pay: cubes by colour that a trade costs; all 0 on other cards.
        gain: cubes by colour that it gives; all 0 on an upgrade card.
        upgrades: single steps of an upgrade card; 0 on other cards.
    """

    name: str
    pay: tuple[int, ...]
    gain: tuple[int, ...]
    upgrades: int

    @property
    def kind(self) -> str:
        """What the card does: "produce", "upgrade" or "trade"."""
        if self.upgrades:
            return "upgrade"
        return "trade" if any(self.pay) else "produce"


@dataclasses.dataclass(frozen=True)
class PointCard:
    """A point card: its name, for example `YYRR=6`, its cost in cubes by colour, its points."""

    name: str
    cost: tuple[int, ...]
    points: int


@dataclasses.dataclass(frozen=True)
class Cards:
    """All cards, in the order of their numbers.

    Attributes:
        merchants: the 43 of the deck, then the two starting cards.
        points: the 36 point cards.
    """

    merchants: tuple[Merchant, ...]
    points: tuple[PointCard, ...]


def load_cards(text: str) -> Cards:
    """Read and check the contents of a card file.

    Raises:
        ValueError: something is missing, or a card is repeated, misnamed or impossible; the message names it.
    """
    struct = json.loads(text)
    try:
        deck = tuple(_read_merchant(card) for card in struct["merchants"])
        starting = tuple(_read_merchant(card) for card in struct["starting"])
        points = tuple(_read_point_card(card) for card in struct["points"])
    except KeyError as error:
        raise ValueError(f"the field {error} is missing in the cards") from error
    _check_number("merchants", deck, MERCHANTS)
    _check_number("starting cards", starting, STARTING)
    _check_number("point cards", points, POINT_CARDS)
    for kind, number in KIND_COUNTS.items():
        _check_number(f"{kind} cards", [card for card in deck if card.kind == kind], number)
    _check_unique([card.name for card in (*deck, *starting)] + [card.name for card in points])
    return Cards((*deck, *starting), points)


def letters(cubes: Iterable[int]) -> str:
    """Return cubes by colour as letters, low to high: (2, 0, 1, 0) is YYG."""
    return "".join(colour * number for colour, number in zip(COLOURS, cubes, strict=True))


def value(cubes: Sequence[int]) -> int:
    """Return the value of cubes by colour: 1, 2, 3, 4 per Y, R, G, B."""
    return sum(worth * number for worth, number in zip(CUBE_VALUES, cubes, strict=True))


def _read_merchant(struct: Mapping[str, Any]) -> Merchant:
    name = struct["name"]
    card = Merchant(name, _cubes(name, struct["pay"]), _cubes(name, struct["gain"]), struct["upgrades"])
    is_upgrade = card.upgrades > 0 and not any(card.pay) and not any(card.gain)
    if not is_upgrade and (card.upgrades or not any(card.gain)):
        raise ValueError(f"card {name!r} must either upgrade or give cubes")
    if card.kind == "trade" and value(card.gain) - value(card.pay) not in TRADE_GAINS:
        raise ValueError(f"card {name!r} must raise the value of the cubes by 1 to {max(TRADE_GAINS)}")
    expected = {
        "produce": f"+{letters(card.gain)}",
        "upgrade": f"^{card.upgrades}",
        "trade": f"{letters(card.pay)}>{letters(card.gain)}",
    }[card.kind]
    if name != expected:
        raise ValueError(f"card {name!r} must be named {expected!r} after what it does")
    return card


def _read_point_card(struct: Mapping[str, Any]) -> PointCard:
    card = PointCard(struct["name"], _cubes(struct["name"], struct["cost"]), struct["points"])
    by_formula = value(card.cost) + max(0, sum(number > 0 for number in card.cost) - 2)
    if card.points != by_formula:
        raise ValueError(f"card {card.name!r} has {card.points} points, but its cost is worth {by_formula}")
    expected = f"{letters(card.cost)}={card.points}"
    if card.name != expected:
        raise ValueError(f"card {card.name!r} must be named {expected!r} after its cost and points")
    return card


def _cubes(name: str, numbers: Any) -> tuple[int, ...]:
    if len(numbers) != COLOUR_COUNT or any(type(n) is not int or n < 0 for n in numbers):
        raise ValueError(f"card {name!r} must have {COLOUR_COUNT} numbers of cubes, not {numbers}")
    return tuple(numbers)


def _check_number(what: str, cards: Sequence[Any], number: int) -> None:
    if len(cards) != number:
        raise ValueError(f"there must be {number} {what}, not {len(cards)}")


def _check_unique(names: Sequence[str]) -> None:
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(f"there is more than one card {', '.join(sorted(repeated))}")


CARDS = load_cards((resources.files(__package__) / "cards.json").read_text(encoding="utf-8"))
MERCHANT_NAMES = tuple(card.name for card in CARDS.merchants)
POINT_NAMES = tuple(card.name for card in CARDS.points)
