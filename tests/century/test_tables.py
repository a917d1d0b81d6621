"""The cards: complete, as the documents list them, and every damage to the card file refused by name."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from caravan_env.games.century import layout, tables
from tests.century.build import MERCHANTS, POINT_CARDS

FORMATS = Path(__file__).parents[2] / "docs" / "formats-century.md"
FILE = resources.files("caravan_env.games.century") / "cards.json"


def cards_file() -> dict[str, Any]:
    struct: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return struct


def test_the_order_is_that_of_the_documents() -> None:
    text = FORMATS.read_text(encoding="utf-8")
    listed = re.findall(r"`([^`]+)`", text[text.index("`+G`, `+B`") : text.index("Places are numbered")])
    assert listed == [*tables.MERCHANT_NAMES, *tables.POINT_NAMES]
    assert [*MERCHANTS, "+YY", "^2"] == list(tables.MERCHANT_NAMES)
    assert list(tables.POINT_NAMES) == POINT_CARDS


def test_sums() -> None:
    assert sum(card.points for card in tables.CARDS.points) == 468
    trades = [card for card in tables.CARDS.merchants if card.kind == "trade"]
    raises = [tables.value(card.gain) - tables.value(card.pay) for card in trades]
    assert (min(raises), max(raises), len(raises)) == (1, 4, 34)


def test_names_say_what_cards_do() -> None:
    for card in tables.CARDS.merchants:
        assert (card.kind == "produce") == card.name.startswith("+")
        assert (card.kind == "upgrade") == (card.name == f"^{card.upgrades}")
        if card.kind == "trade":
            assert card.name == f"{tables.letters(card.pay)}>{tables.letters(card.gain)}"
    names = [name.lower() for name in (*tables.MERCHANT_NAMES, *tables.POINT_NAMES)]
    assert len(set(names)) == len(names) == 43 + 2 + 36


def test_arrays_hold_what_the_cards_say() -> None:
    for number, card in enumerate(tables.CARDS.merchants):
        assert layout.unpack(layout.PAY[number]) == list(card.pay)
        assert layout.unpack(layout.GAIN[number]) == list(card.gain)
        assert (layout.KINDS[layout.KIND[number]], layout.STEPS[number]) == (card.kind, card.upgrades)
    for number, point_card in enumerate(tables.CARDS.points):
        assert layout.unpack(layout.COST[number]) == list(point_card.cost)
        assert layout.POINTS[number] == point_card.points


def change(group: str, number: int, **fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda struct: struct[group][number].update(fields)


DAMAGES: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda struct: struct["merchants"].pop(), "there must be 43 merchants, not 42"),
    (lambda struct: struct["starting"].pop(), "there must be 2 starting cards, not 1"),
    (lambda struct: struct["points"].append(struct["points"][0]), "there must be 36 point cards, not 37"),
    (lambda struct: struct.pop("points"), "the field 'points' is missing in the cards"),
    (lambda struct: struct["points"][3].pop("cost"), "the field 'cost' is missing in the cards"),
    (change("merchants", 0, name="+R"), "card '+R' must be named '+G' after what it does"),
    (change("points", 0, name="YYRR=7"), "card 'YYRR=7' must be named 'YYRR=6' after its cost and points"),
    (change("points", 0, points=7), "card 'YYRR=6' has 7 points, but its cost is worth 6"),
    (change("points", 0, cost=[1, 2, 0, 0]), "card 'YYRR=6' has 6 points, but its cost is worth 5"),
    (change("merchants", 18, gain=[0, 1, 0, 0]), "card 'YY>G' must raise the value of the cubes by 1 to 4"),
    (change("merchants", 18, gain=[0, 0, 0, 2]), "card 'YY>G' must raise the value of the cubes by 1 to 4"),
    (change("merchants", 0, upgrades=1), "card '+G' must either upgrade or give cubes"),
    (change("merchants", 0, gain=[0, 0, 0, 0]), "card '+G' must either upgrade or give cubes"),
    (change("merchants", 0, gain=[0, 0, 1]), "card '+G' must have 4 numbers of cubes, not [0, 0, 1]"),
    (change("merchants", 0, gain=[0, 0, -1, 0]), "card '+G' must have 4 numbers of cubes, not [0, 0, -1, 0]"),
    (change("merchants", 0, name="+YY", gain=[2, 0, 0, 0]), "there is more than one card +YY"),
    (change("merchants", 0, name="^4", gain=[0] * 4, upgrades=4), "there must be 8 produce cards, not 7"),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES, ids=[sentence for _, sentence in DAMAGES])
def test_damaged_cards_are_refused_by_name(damage: Callable[[dict[str, Any]], Any], sentence: str) -> None:
    struct = copy.deepcopy(cards_file())
    assert tables.load_cards(json.dumps(struct)) == tables.CARDS
    damage(struct)
    with pytest.raises(ValueError) as error:
        tables.load_cards(json.dumps(struct))
    assert str(error.value) == sentence
