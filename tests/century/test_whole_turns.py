"""Whole turns in small actions: the kernels reach exactly the ends of turn that the rules allow, no more and no fewer.

The reference enumerates them from the rules, without small actions; the kernels by playing every sequence of actions.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from caravan_env import State, make_game
from caravan_env.core.contract import CHANCE
from tests.century.build import position, seat_of
from tests.reference import century
from tests.reference.players_century import random_position


def key(struct: dict[str, Any]) -> str:
    return json.dumps({name: value for name, value in struct.items() if name not in ("game", "params")}, sort_keys=True)


def ends_of_turn(start: State) -> set[str]:
    """Play every sequence of small actions until another turn is on; chance in between takes its first outcome."""
    mover = start.to_move
    ends: set[str] = set()
    seen: set[bytes] = set()
    left = [start.clone()]
    while left:
        state = left.pop()
        if state.row.tobytes() in seen:
            continue
        seen.add(state.row.tobytes())
        struct = state.to_json()
        if len(seen) > 1 and (struct["seat"] != mover or struct["phase"] in ("turn", "over")):
            ends.add(key(struct))
        elif state.to_move == CHANCE:
            state.resolve(state.chance_outcomes()[0][0])
            left.append(state)
        else:
            for action in state.legal_actions():
                left.append(state.clone())
                left[-1].step(int(action))
    return ends


def ends_by_the_rules(start: State) -> set[str]:
    struct = start.to_json()
    reference = century.new_reference(struct["params"], struct)
    return {key(json.loads(end)) for end in century.end_of_turn_positions(reference)}


def same_ends(start: State) -> int:
    """Compare both sets of ends and return their size."""
    ours, theirs = ends_of_turn(start), ends_by_the_rules(start)
    assert ours - theirs == set(), "the kernels reach ends of turn that the rules do not allow"
    assert theirs - ours == set(), "the kernels miss ends of turn that the rules allow"
    return len(ours)


HANDS = [
    ("YYYYRRRGGB", "+YY ^2 YY>RR RR>YYYG GG>BB", "+RR"),
    ("YYYRRRGGGB", "^3 ^2 YYY>RG B>YRG", ""),
    ("YYYYYYYYYY", "+YYYY YY>RR YYY>B YYYYY>GGG", "+B"),
    ("BBBBGGGGRR", "B>YYYG G>YYYYR BB>YRGGG BB>RRRGG", "R>YYY"),
    ("", "+YY ^2 B>RRR", ""),
    ("G", "G>YYYYR ^2", "+YY"),
    ("YRGB", "YR>B YYG>BB ^3", "+YYR +YR"),
]


@pytest.mark.parametrize("others", [[], [seat_of("YYYY")], [seat_of("YYYY"), seat_of("RR")]], ids=["1", "2", "3"])
@pytest.mark.parametrize(("cubes", "hand", "played"), HANDS)
def test_ends_of_turn_with_chosen_hands(cubes: str, hand: str, played: str, others: list[Any]) -> None:
    row = ["YYYY>GG Y", "RRR>BB", "GGG>BBB RG", "+G B", "RR>GG"]
    assert same_ends(position(seat_of(cubes, hand, played), *others, row=row)) >= 4


def test_acquiring_with_every_way_to_pay() -> None:
    row = ["YYYY>GG Y", "RRR>BB", "GGG>BBB RG", "+G B", "RR>GG YYYYYYY", "+YYY"]
    assert same_ends(position(seat_of("YYYRRGGGBB"), seat_of(), row=row)) > 500


@pytest.mark.parametrize("number", range(60))
def test_ends_of_turn_of_set_positions(number: int) -> None:
    rng = random.Random(number)
    while True:
        struct = random_position(rng)
        if struct["phase"] == "turn" and all(sum(seat["cubes"].values()) <= 12 for seat in struct["seats"]):
            break
    same_ends(make_game("century", **struct["params"]).state_from_json(struct))
