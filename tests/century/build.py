"""Century positions in few words, built as JSON structs and read by the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from caravan_env import State, make_game

#: Written down again here, so that a test does not take what it expects from the cards it tests.
_MERCHANTS = """
+G +B +YR +YG +RR +YYY +YYR +YYYY ^3 R>YYY G>RR G>YRR G>YYYYR B>GG B>YRG B>RRR B>YYYG B>YYRR YY>G YY>RR
YR>B RR>GG RR>YYB RR>YYYG GG>BB GG>RRB GG>YYRB GG>YYRRR BB>YRGGG BB>RRRGG YYY>B YYY>RG YYY>RRR YYG>BB
RRR>BB RRR>YGB RRR>GGG RRR>YYGG GGG>BBB YYYY>GG YYYY>GB YYYYY>BB YYYYY>GGG
"""
_POINT_CARDS = """
YYRR=6 YYYRR=7 RRRR=8 YYGG=8 YYRRR=8 YYRB=9 YYYGG=9 RRGG=10 RRRRR=10 YYBB=10 YYGGG=11 YYYBB=11 GGGG=12
RRBB=12 RRGB=12 RRRGG=12 YGGB=12 YRGB=12 RRGGG=13 YYRRGG=13 GGBB=14 RRRBB=14 YYBBB=14 YYYRGB=14 GGGGG=15
YYRRBB=15 BBBB=16 RRBBB=16 YRRRGB=16 GGGBB=17 YYGGBB=17 GGBBB=18 YRGGGB=18 RRGGBB=19 BBBBB=20 YRGBBB=20
"""
MERCHANTS, POINT_CARDS = _MERCHANTS.split(), _POINT_CARDS.split()
ROW = ("^3", "+G", "YY>G", "+B", "RR>GG", "+YYY")
POINTS = ("YYRR=6", "RRRR=8", "GGGG=12", "BBBB=16", "YRGB=12")
PYRAMID = ("YYRR=6", *["face down"] * 9)

Struct = dict[str, Any]


def cubes(letters: str) -> dict[str, int]:
    """Return cubes by colour of letters such as "YYG"."""
    assert set(letters) <= set("YRGB")
    return {colour: letters.count(colour) for colour in "YRGB"}


def letters(numbers: dict[str, int]) -> str:
    """Return the letters of cubes by colour: the inverse of `cubes`."""
    return "".join(colour * numbers[colour] for colour in "YRGB")


def seat_of(
    have: str = "YYY", hand: str = "+YY ^2", played: str = "", points: str = "", gold: int = 0, silver: int = 0
) -> Struct:
    """Describe a seat by its cubes and the names of its cards."""
    owner = {"cubes": cubes(have), "hand": hand.split(), "played": played.split(), "points": points.split()}
    return owner | {"gold": gold, "silver": silver, "score": 0}


def automa_of(have: str = "YYY", coins: int = 0, points: str = "") -> Struct:
    """Describe the automa."""
    return {"cubes": cubes(have), "coins": coins, "points": points.split(), "score": 0}


def merchant(words: str) -> Struct:
    """Describe a merchant in the row: "YY>G", or "YY>G YR" with cubes on it."""
    card, lying = (*words.split(), "")[:2]
    return {"card": card, "cubes": cubes(lying)}


def position(
    *seats: Struct,
    row: Sequence[str] = ROW,
    points: Sequence[str | None] | None = None,
    deck: Sequence[str] | None = None,
    point_deck: Sequence[str] | None = None,
    automa: Struct | None = None,
    coins: tuple[int, int] | None = None,
    seat: int = 0,
    round: int = 5,
    phase: str = "turn",
    pending: Struct | None = None,
    **params: Any,
) -> State:
    """Return a position in the middle of a game.

    Args:
        seats: as `seat_of` describes them; one is the solo game.
        row: the merchants from place 1 on, as `merchant` reads them; missing ones are empty places.
        points: the point cards by place.
        deck, point_deck: the cards that may still come; all that are nowhere else by default, no merchant if the row is
            short.
        automa: as `automa_of` describes it.
        coins: gold and silver left.
        seat, round, phase, pending: as in the struct.
        params: other rule switches.
    """
    solo = len(seats) == 1
    points = (PYRAMID if solo else POINTS) if points is None else points
    automa = automa or automa_of()
    merchants = [merchant(words) for words in row]
    merchants += [{"card": None, "cubes": cubes("")}] * (6 - len(merchants))
    held = {card for owner in seats for card in (*owner["hand"], *owner["played"])} | {m["card"] for m in merchants}
    taken = {card for owner in (*seats, automa) for card in owner["points"]} | set(points)
    if deck is None:
        deck = [card for card in MERCHANTS if card not in held and len(row) == 6]
    gold, silver = coins or ((0, 0) if solo else (2 * len(seats), 2 * len(seats)))
    struct = {
        "phase": phase,
        "seat": seat,
        "round": round,
        "truncated": False,
        "merchants": merchants,
        "merchant_deck": list(deck),
        "points": list(points),
        "point_deck": [c for c in POINT_CARDS if c not in taken] if point_deck is None else list(point_deck),
        "coins": {"gold": gold, "silver": silver},
        "pending": pending,
        "seats": list(seats),
        "automa": automa if solo else None,
    }
    return make_game("century", players=len(seats), **params).state_from_json(struct)


def automa_turn(row: Sequence[str] = ROW, automa: Struct | None = None, **others: Any) -> State:
    """Return a position of the solo game in which the automa's die is to be rolled."""
    others = {"seat": -1, "phase": "roll"} | others
    return position(seat_of(), row=row, automa=automa, **others)


def new_game(**params: Any) -> State:
    """Return a game after its set-up, the first possible card drawn each time."""
    state = make_game("century", **params).new_state()
    draw_first(state)
    return state


def draw_first(state: State) -> State:
    """Resolve chance with the first possible outcome until a seat is to move, the die rolls, or the game is over."""
    while state.is_chance and state.to_json()["phase"] != "roll":
        state.resolve(state.chance_outcomes()[0][0])
    return state


def legal(state: State, start: str = "") -> set[str]:
    """Return the words of the legal actions that begin with `start`."""
    words = [state.action_text(int(action)) for action in state.legal_actions()]
    assert len(words) == len(set(words)), "two actions share their words"
    return {w for w in words if w.startswith(start)}


def chances(state: State) -> dict[str, float]:
    """Return the outcomes of the chance event that is next: words -> probability."""
    return {state.outcome_text(k): p for k, p in state.chance_outcomes()}


def play(state: State, *actions: str) -> Struct:
    """Play actions, or chance outcomes, given in words, and return the struct they lead to."""
    for words in actions:
        if state.is_chance:
            state.resolve({state.outcome_text(k): k for k, _ in state.chance_outcomes()}[words])
        else:
            state.step(state.parse_action(words))
    return state.to_json()


def after(state: State, *actions: str) -> Struct:
    """Return the struct that actions lead to, leaving the state as it is."""
    return play(state.clone(), *actions)


def row_of(struct: Struct) -> list[str]:
    """Return the merchants of the row in the words that `merchant` reads, empty places left out."""
    return [f"{m['card']} {letters(m['cubes'])}".strip() for m in struct["merchants"] if m["card"]]


def have(struct: Struct, seat: int = 0) -> str:
    """Return the cubes of a seat as letters."""
    return letters(struct["seats"][seat]["cubes"])


def automa_has(struct: Struct) -> str:
    """Return the cubes of the automa as letters."""
    return letters(struct["automa"]["cubes"])


def scores(struct: Struct) -> list[int]:
    """Return the points of all seats."""
    return [seat["score"] for seat in struct["seats"]]
