"""The rule switches of Century and the reading of its structs: what is refused, and in which words."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from caravan_env import make_game
from caravan_env.core.errors import BadParams
from caravan_env.games.century.params import CenturyParams
from tests.century.build import POINTS, automa_of, cubes, merchant, play, position, seat_of


@pytest.mark.parametrize(
    ("switches", "sentence"),
    [
        ({"players": 0}, "century is played by 1 to 5 players, not 0"),
        ({"players": 6}, "century is played by 1 to 5 players, not 6"),
        ({"players": "1"}, "players = '1' is not possible: it must be of type int"),
        ({"players": True}, "players = True is not possible: it must be of type int"),
        ({"expert": 1}, "expert = 1 is not possible. Allowed: True, False"),
        ({"automa_claims": "top"}, "automa_claims = 'top' is not possible. Allowed: 'affordable', 'top_only'"),
        ({"roll_one_refresh": None}, "roll_one_refresh = None is not possible. Allowed: 'leftmost', 'row', 'none'"),
        ({"automa_produces": "no"}, "automa_produces = 'no' is not possible. Allowed: True, False"),
        ({"reshuffle_discards": 0}, "reshuffle_discards = 0 is not possible. Allowed: True, False"),
        ({"returns": "sum"}, "returns = 'sum' is not possible. Allowed: 'win', 'rank', 'margin'"),
        ({"turn_limit": -1}, "turn_limit = -1 is not possible: 0 to 60000 turns, 0 for none"),
        ({"turn_limit": 60_001}, "turn_limit = 60001 is not possible: 0 to 60000 turns, 0 for none"),
        ({"turn_limit": 10.5}, "turn_limit = 10.5 is not possible: it must be of type int"),
        ({"automa_claim": "top_only"}, "'automa_claim' is no rule switch of this game: did you mean 'automa_claims'? "),
    ],
)
def test_impossible_switches(switches: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("century", **switches)
    assert str(error.value).startswith(sentence)


def test_the_solo_game_is_the_default() -> None:
    params = CenturyParams()
    assert params.players == 1 and params.solo
    assert not CenturyParams(players=2).solo


def test_switches_survive_json() -> None:
    params = CenturyParams(expert=True, automa_claims="top_only", roll_one_refresh="row", automa_produces=False)
    assert CenturyParams.from_mapping(json.loads(json.dumps(params.to_json()))) == params


def test_every_switch_is_described() -> None:
    described = {name: meaning for name, _, _, meaning in CenturyParams.describe()}
    assert set(described) == set(CenturyParams().to_json())
    assert all(described.values())


def test_switches_of_the_solo_game_change_nothing_in_the_normal_game() -> None:
    others = {"expert": True, "automa_claims": "top_only", "roll_one_refresh": "row", "automa_produces": False}
    plain = make_game("century", players=2).new_state(seed=3)
    same = make_game("century", players=2, reshuffle_discards=True, **others).new_state(seed=3)
    for turn in range(60):
        action = int(plain.legal_actions()[turn % len(plain.legal_actions())])
        plain.step(action)
        same.step(action)
        assert plain.to_json() | {"params": None} == same.to_json() | {"params": None}


def normal() -> dict[str, Any]:
    return position(seat_of("YYRR", "+YY", "^2"), seat_of("G")).to_json()


def solo() -> dict[str, Any]:
    return position(seat_of("YYRR", "+YY YY>RR", "^2 +RR")).to_json()


def without_cubes(*cards: str | None) -> list[dict[str, Any]]:
    return [{"card": card, "cubes": cubes("")} for card in cards]


NORMAL = [
    ({"phase": "done"}, "phase is 'done', and must be one of 'point', 'merchant', 'roll', 'turn', 'trade'"),
    ({"seat": 2}, "seat is 2, and must be a whole number from 0 to 1"),
    ({"seat": -1}, "seat is -1, and must be a whole number from 0 to 1"),
    ({"seat": True}, "seat is True, and must be"),
    ({"round": 0}, "round is 0, and must be a whole number from 1 to"),
    ({"truncated": "no"}, "truncated is 'no', and must be one of False, True"),
    ({"merchants": []}, "merchants must be a list of 6, not []"),
    ({"merchants": without_cubes("+YY", *[None] * 5)}, "merchants[0].card is '+YY', and must be one of '+G', "),
    ({"merchants": without_cubes(None, "+G", *[None] * 4)}, "merchants[1] has a card behind an empty place"),
    (
        {"merchants": [merchant("+G Y"), *[{"card": None, "cubes": cubes("Y")}] * 5]},
        "merchants[1] has cubes, but no",
    ),
    ({"merchants": without_cubes("+G", "+G", *[None] * 4), "merchant_deck": []}, "a card lies at two places of the"),
    ({"merchant_deck": ["+G"]}, "the card '+G' is in two places"),
    ({"merchant_deck": ["+RR", "+RR"]}, "merchant_deck holds a card twice"),
    ({"merchant_deck": ["+YY"]}, "merchant_deck[0] is '+YY', and must be one of '+G', "),
    ({"merchant_deck": None}, "merchant_deck must be a list, not None"),
    ({"points": [*POINTS[:4], "face down"]}, "points[4] is 'face down', and must be one of None, 'YYRR=6', "),
    ({"points": [*POINTS[:4], POINTS[0]], "point_deck": []}, "a card lies at two places of the table"),
    ({"points": [*POINTS[:4], None]}, "in phase 'turn' a point card is to turn up"),
    ({"point_deck": ["YYRR=6"]}, "the card 'YYRR=6' is in two places"),
    ({"coins": {"gold": 4}}, "the field 'silver' is missing"),
    ({"coins": {"gold": -1, "silver": 0}}, "coins.gold is -1, and must be a whole number from 0 to 100"),
    ({"pending": {"place": 2, "paid": 0}}, "pending is {'place': 2, 'paid': 0}, and must be null in phase 'turn'"),
    ({"phase": "trade"}, "pending is null, but something is pending in phase 'trade'"),
    ({"phase": "trade", "pending": {"card": "^2"}}, "pending.card is '^2', which does not trade"),
    ({"phase": "upgrade", "pending": {"card": "+YY", "steps": 1}}, "pending.card is '+YY', and must be one of '^2'"),
    (
        {"phase": "upgrade", "pending": {"card": "^2", "steps": 3}},
        "pending.steps is 3, and must be a whole number",
    ),
    (
        {"phase": "pay", "pending": {"place": 1, "paid": 0}},
        "pending.place is 1, and must be a whole number from 2",
    ),
    ({"phase": "pay", "pending": {"place": 3, "paid": 2}}, "pending.paid is 2, and must be a whole number from 0 to 1"),
    ({"phase": "pay", "pending": {"place": 6, "paid": 0}}, "phase 'pay' is not possible with the cubes YYRR"),
    ({"phase": "return"}, "phase 'return' is not possible with the cubes YYRR"),
    ({"phase": "roll", "seat": -1}, "seat is -1, and must be a whole number from 0 to -1"),
    ({"phase": "merchant"}, "phase 'merchant' needs an empty place and a merchant in the deck"),
    ({"phase": "point"}, "in phase 'point' no point card is to turn up"),
    ({"seats": []}, "seats must be a list of 2, not []"),
    ({"seats": [seat_of(), seat_of(gold=-1)]}, "seats[1].gold is -1, and must be"),
    ({"seats": [seat_of("Y" * 256), seat_of()]}, "seats[0].cubes.Y is 256, and must be a whole number from 0 to 255"),
    ({"seats": [seat_of(hand="+YY", played="+YY"), seat_of()]}, "the card '+YY' is in two places"),
    ({"seats": [seat_of(hand="+RR"), seat_of(played="+RR")], "merchant_deck": []}, "the card '+RR' is in two places"),
    ({"seats": [seat_of(points="YYRR=6"), seat_of()]}, "the card 'YYRR=6' is in two places"),
    ({"seats": [seat_of(hand="+RRR"), seat_of()]}, "seats[0].hand[0] is '+RRR', and must be one of"),
    ({"automa": automa_of()}, "automa must be null in the normal game, and an object in the solo game"),
]


@pytest.mark.parametrize(("fields", "sentence"), NORMAL, ids=[sentence[:50] for _, sentence in NORMAL])
def test_impossible_position_of_the_normal_game(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        make_game("century", players=2).state_from_json(normal() | fields)
    assert str(error.value).startswith(f"this is no position of century: {sentence}")


HIDDEN = ["face down"]
SOLO = [
    ({"coins": {"gold": 2, "silver": 0}}, "coins.gold is 2, and must be a whole number from 0 to 0"),
    ({"seats": [seat_of(silver=1)]}, "seats[0].silver is 1, and must be a whole number from 0 to 0"),
    ({"automa": None}, "automa must be null in the normal game, and an object in the solo game"),
    ({"automa": {"cubes": cubes(""), "coins": -1, "points": []}}, "automa.coins is -1, and must be"),
    ({"automa": automa_of("Y" * 32_768)}, "automa.cubes.Y is 32768, and must be a whole number from 0 to 32767"),
    ({"automa": automa_of(points="YYRR=6")}, "the card 'YYRR=6' is in two places"),
    ({"points": [None, *HIDDEN * 9]}, "in phase 'turn' a point card is to turn up"),
    ({"points": ["YYRR=6", *HIDDEN * 8, "BBBB=16"], "point_deck": [*POINTS[1:3]]}, "8 point cards are face down, but"),
    ({"points": ["YYRR=6", "RRRR=8", *HIDDEN * 8]}, "points[1] is face up, but points[0] covers it"),
    ({"phase": "roll"}, "seat is 0, and must be a whole number from -1 to -1"),
    ({"phase": "trade", "pending": {"card": "YY>RR"}}, "pending.card is 'YY>RR', and must be one of '+RR', '^2'"),
    ({"phase": "trade", "pending": {"card": "+RR"}}, "pending.card is '+RR', which does not trade"),
]


@pytest.mark.parametrize(("fields", "sentence"), SOLO, ids=[sentence[:50] for _, sentence in SOLO])
def test_impossible_position_of_the_solo_game(fields: dict[str, Any], sentence: str) -> None:
    struct = solo() | fields
    if "points" in fields:
        shown = {*struct["points"], "YYRR=6"}
        struct["point_deck"] = fields.get("point_deck", [card for card in struct["point_deck"] if card not in shown])
    with pytest.raises(BadParams) as error:
        make_game("century").state_from_json(struct)
    assert str(error.value).startswith(f"this is no position of century: {sentence}")


@pytest.mark.parametrize("players", [1, 2])
def test_every_field_of_a_struct_is_needed_but_the_score(players: int) -> None:
    game, struct = make_game("century", players=players), solo() if players == 1 else normal()
    for field in set(struct) - {"game", "params"}:
        with pytest.raises(BadParams, match=f"the field '{field}' is missing"):
            game.state_from_json({key: value for key, value in struct.items() if key != field})
    for owner in [struct["seats"][0], *([struct["automa"]] if players == 1 else [])]:
        for field in list(owner):
            less = copy.deepcopy(struct)
            where = less["seats"][0] if owner is struct["seats"][0] else less["automa"]
            del where[field]
            if field == "score":
                assert game.state_from_json(less).to_json() == struct
            else:
                with pytest.raises(BadParams, match=f"the field '{field}' is missing"):
                    game.state_from_json(less)


@pytest.mark.parametrize("struct", [None, [], "position", 5])
def test_what_is_no_struct_at_all(struct: Any) -> None:
    with pytest.raises(BadParams, match="this is no position of century"):
        make_game("century").state_from_json(struct)


def test_cards_of_a_struct_may_come_in_any_order() -> None:
    struct = normal()
    shuffled = copy.deepcopy(struct)
    shuffled["merchant_deck"].reverse()
    shuffled["point_deck"].reverse()
    assert make_game("century", players=2).state_from_json(shuffled).to_json() == struct


def test_a_set_position_may_have_more_than_ten_cubes_and_short_rows() -> None:
    state = position(seat_of("Y" * 40), seat_of(), row=["^3"], points=[*POINTS[:2], None, None, None], point_deck=[])
    struct = play(state, "rest", *["return Y"] * 30)
    assert (struct["seat"], struct["seats"][0]["cubes"]) == (1, cubes("Y" * 10))
