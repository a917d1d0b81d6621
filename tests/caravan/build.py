"""Caravan positions in few words, built as JSON structs and read by the kernels."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from caravan_env import Game, State, make_game

GOODS = ("meat", "swords", "salt", "hides", "ivory", "cloth", "gems", "paper")
CELLS = tuple(f"{column}{row}" for row in range(1, 8) for column in "abcdefg")
#: On the symmetric board: where spaces 1 to 8 are, and which city wants what.
SPACES = ("a1", "g1", "b2", "f2", "b6", "f6", "a7", "g7")
CITIES = dict(zip(GOODS, ("d5", "e4", "d3", "c4", "d1", "g4", "d7", "a4"), strict=True))
EIGHT = ("meat", "meat", "swords", "swords", "salt", "salt", "hides", "hides")

Struct = dict[str, Any]


def camel(words: str) -> Struct:
    """Describe a camel: "d4", "d4 meat" (on top), "d4 meat under", or "off"."""
    at, good, under = (*words.split(), None, None)[:3]
    return {"at": None if at == "off" else at, "good": good, "stolen": under == "under"}


def seat_of(*camels: str, of: int = 5, theft: int = 1, markers: int = 0, **delivered: int) -> Struct:
    """Describe a seat with `of` camels; those not named are off the board. Keywords are goods delivered."""
    there = [camel(words) for words in camels] + [camel("off")] * (of - len(camels))
    return {"camels": there, "theft": theft, "markers": markers, "delivered": dict.fromkeys(GOODS, 0) | delivered}


def position(
    *seats: Struct,
    free: Sequence[str | None] = EIGHT,
    markers: Mapping[int, int] | None = None,
    bag: Mapping[str, int] | None = None,
    seat: int = 0,
    left: int = 4,
    turn: int = 9,
    rainbow: str | None = None,
    **params: Any,
) -> State:
    """Return a position in the middle of a turn: a new game's struct with these parts put in the place of its own.

    Args:
        seats: as `seat_of` describes them; their number is the number of players.
        free: the goods on spaces 1 to 8.
        markers: space number -> demand markers there.
        bag: kind -> goods in the bag, four meat by default.
        seat: whose turn it is.
        left: actions left.
        turn: number of the turn.
        rainbow: cell of the Rainbow Camel.
        params: other rule switches.
    """
    game, start = _start_of(json.dumps({"players": len(seats), **params}, sort_keys=True))
    struct = start | {"seat": seat, "turn": turn, "actions_left": left, "rainbow": rainbow}
    struct["bag"] = dict.fromkeys(GOODS, 0) | dict({"meat": 4} if bag is None else bag)
    struct["sources"] = [{"good": good, "markers": (markers or {}).get(n, 0)} for n, good in enumerate(free, 1)]
    struct["seats"] = list(seats)
    return game.state_from_json(struct)


@functools.lru_cache
def _start_of(params: str) -> tuple[Game, Struct]:
    """Return a variant, its switches as JSON, and the struct after its set-up."""
    state = new_game(**json.loads(params))
    return state.game, state.to_json()


def new_game(goods_drawn: Iterable[str] = (), **params: Any) -> State:
    """Return a game after its set-up: seat 0 starts if chance decides, then the goods given, then any."""
    state = make_game("caravan", **params).new_state()
    wanted = list(goods_drawn)
    while state.is_chance:
        outcomes = {state.outcome_text(k): k for k, _ in state.chance_outcomes()}
        if "seat 0 starts" in outcomes:
            state.resolve(outcomes["seat 0 starts"])
            continue
        good = f"draw {wanted.pop(0)} " if wanted else ""
        state.resolve(next(k for words, k in outcomes.items() if words.startswith(good)))
    return state


def legal(state: State, start: str = "") -> set[str]:
    """Return the words of the legal actions that begin with `start`."""
    words = [state.action_text(int(action)) for action in state.legal_actions()]
    assert len(words) == len(set(words)), "two actions share their words"
    return {w for w in words if w.startswith(start)}


def play(state: State, *actions: str) -> Struct:
    """Play actions given in words, or chance outcomes in words, and return the struct they lead to."""
    for words in actions:
        if state.is_chance:
            state.resolve({state.outcome_text(k): k for k, _ in state.chance_outcomes()}[words])
        else:
            state.step(state.parse_action(words))
    return state.to_json()


def after(state: State, *actions: str) -> Struct:
    """Return the struct that actions lead to, leaving the state as it is."""
    return play(state.clone(), *actions)


def camels(struct: Struct, seat: int) -> list[str]:
    """Return the camels of a seat in the words that `camel` reads."""
    return [
        " ".join([c["at"] or "off", *([c["good"]] if c["good"] else []), *(["under"] if c["stolen"] else [])])
        for c in struct["seats"][seat]["camels"]
    ]


def in_play(struct: Struct) -> dict[str, int]:
    """Return how many goods of each kind there are: in the bag, free, carried and delivered."""
    total = dict(struct["bag"])
    for seat in struct["seats"]:
        for good, number in seat["delivered"].items():
            total[good] += number
    lying = [space["good"] for space in struct["sources"]]
    for good in lying + [c["good"] for seat in struct["seats"] for c in seat["camels"]]:
        if good is not None:
            total[good] += 1
    return total
