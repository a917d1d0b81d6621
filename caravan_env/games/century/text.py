"""Century: Spice Road in words and as JSON structs, see docs/formats-century.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import BadParams
from caravan_env.core.fields import index_of, list_of, whole
from caravan_env.games.century import rules
from caravan_env.games.century.layout import (
    ACTIONS,
    AUTOMA,
    FACE_DOWN,
    KIND,
    KIND_TRADE,
    KIND_UPGRADE,
    LANE_LIMIT,
    NO_CARD,
    NOBODY,
    PAY,
    PHASE_MERCHANT,
    PHASE_OVER,
    PHASE_PAY,
    PHASE_POINT,
    PHASE_ROLL,
    PHASE_TRADE,
    PHASE_UPGRADE,
    PHASES,
    POINTS,
    STEPS,
    as_set,
    pack,
    unpack,
)
from caravan_env.games.century.tables import (
    CARAVAN,
    COLOURS,
    COVERED_BY,
    MERCHANT_NAMES,
    MERCHANTS,
    POINT_NAMES,
    ROW,
    letters,
)

HIDDEN = "face down"
MOST_CUBES = 255  # of one colour in a caravan or on a card of a set position
MOST_COINS = 100
MOST_ROUNDS = 10**9
#: The rows of the pyramid from the top one down, places from 0 (RULES O1).
PYRAMID_ROWS = (range(6, 10), range(3, 6), range(1, 3), range(1))
PYRAMID_CELL = 13


# --- words -----------------------------------------------------------------------------------------------------------


def action_text(S: NDArray[np.void], i: int, action: int) -> str:
    """Return an action of the seat to move in words."""
    group, (place, *_) = ACTIONS.locate(action)
    if group == "play":
        return f"play {MERCHANT_NAMES[place]}"
    if group == "acquire":
        return f"acquire {_merchant_at(S[i], place) or 'nothing'} at place {place + 1}"
    if group == "claim":
        return f"claim {_point_card_at(S[i], place) or 'nothing'} at place {place + 1}"
    if group == "upgrade":
        return f"upgrade {COLOURS[place]} to {COLOURS[place + 1]}"
    if group in ("pay", "return"):
        return f"{group} {COLOURS[place]}"
    return {"again": "trade once more", "done": "done", "rest": "rest"}[group]


def outcome_text(S: NDArray[np.void], i: int, outcome: int) -> str:
    """Return a chance outcome in words."""
    s = S[i]
    if s["phase"] == PHASE_ROLL:
        return f"roll {outcome + 1}"
    if s["phase"] == PHASE_MERCHANT:
        return f"draw {MERCHANT_NAMES[outcome]} for merchant place {int(s['row_size']) + 1}"
    return f"draw {POINT_NAMES[outcome]} for point place {int(rules.next_point_place(s)) + 1}"


def _merchant_at(s: Any, place: int) -> str | None:
    card = int(s["merchants"][place])
    return None if card == NO_CARD else MERCHANT_NAMES[card]


def _point_card_at(s: Any, place: int) -> str | None:
    card = int(s["points"][place])
    if card == FACE_DOWN:
        return HIDDEN
    return None if card == NO_CARD else POINT_NAMES[card]


# --- to JSON ---------------------------------------------------------------------------------------------------------


def to_json(S: NDArray[np.void], i: int) -> dict[str, Any]:
    """Return the struct of a position, without game and params."""
    s = S[i]
    seat = int(s["seat"])
    solo = int(s["players"]) == 1
    return {
        "phase": PHASES[int(s["phase"])],
        "seat": -1 if seat == NOBODY else seat,
        "round": int(s["round"]),
        "truncated": bool(s["truncated"]),
        "merchants": [
            {"card": _merchant_at(s, place), "cubes": _by_colour(s["row_cubes"][place])} for place in range(ROW)
        ],
        "merchant_deck": _names(s["merchant_deck"], MERCHANT_NAMES),
        "points": [_point_card_at(s, place) for place in range(int(s["point_places"]))],
        "point_deck": _names(s["point_deck"], POINT_NAMES),
        "coins": {"gold": int(s["gold_left"]), "silver": int(s["silver_left"])},
        "pending": _pending_to_json(s),
        "seats": [_seat_to_json(s, k) for k in range(int(s["players"]))],
        "automa": _automa_to_json(s) if solo else None,
    }


def _pending_to_json(s: Any) -> dict[str, Any] | None:
    phase = int(s["phase"])
    if phase == PHASE_PAY:
        return {"place": int(s["place"]) + 1, "paid": int(s["paid"])}
    if phase == PHASE_TRADE:
        return {"card": MERCHANT_NAMES[int(s["pending_card"])]}
    if phase == PHASE_UPGRADE:
        return {"card": MERCHANT_NAMES[int(s["pending_card"])], "steps": int(s["steps"])}
    return None


def _seat_to_json(s: Any, seat: int) -> dict[str, Any]:
    return {
        "cubes": _by_colour(s["cubes"][seat]),
        "hand": _names(s["hand"][seat], MERCHANT_NAMES),
        "played": _names(s["played"][seat], MERCHANT_NAMES),
        "points": _names(s["taken"][seat], POINT_NAMES),
        "gold": int(s["gold"][seat]),
        "silver": int(s["silver"][seat]),
        "score": int(rules.points(s, seat)),
    }


def _automa_to_json(s: Any) -> dict[str, Any]:
    return {
        "cubes": _by_colour(s["cubes"][AUTOMA]),
        "coins": int(s["automa_coins"]),
        "points": _names(s["taken"][AUTOMA], POINT_NAMES),
        "score": int(rules.automa_points(s)),
    }


def _by_colour(purse: Any) -> dict[str, int]:
    return dict(zip(COLOURS, unpack(purse), strict=True))


def _names(cards: Any, names: tuple[str, ...]) -> list[str]:
    return [name for number, name in enumerate(names) if int(cards) >> number & 1]


# --- from JSON -------------------------------------------------------------------------------------------------------


def from_json(struct: Mapping[str, Any], template: NDArray[np.void]) -> NDArray[np.void]:
    """Return the row of a struct: the inverse of `to_json`.

    Args:
        struct: a position, see docs/formats-century.md.
        template: array of shape (1,) that carries the rule switches.

    Raises:
        BadParams: the struct lacks something or holds an impossible value; the message names the field.
    """
    row = template.copy()
    rules.init(row, 0)
    try:
        _fill_turn(row[0], struct)
        _fill_table(row[0], struct)
        for seat, owner in enumerate(list_of("seats", struct["seats"], int(row[0]["players"]))):
            _fill_seat(row[0], seat, owner)
        _fill_automa(row[0], struct["automa"])
        _fill_pending(row[0], struct["pending"])
        _check_cards(row[0])
        _check_pyramid(row[0])
        _check_phase(row[0])
    except KeyError as error:
        raise BadParams(f"this is no position of century: the field {error} is missing") from error
    except (ValueError, TypeError) as error:
        raise BadParams(f"this is no position of century: {error}") from error
    if struct["phase"] == "over":
        rules.finish(row[0])
    return row


def _fill_turn(s: Any, struct: Mapping[str, Any]) -> None:
    phase = index_of("phase", struct["phase"], PHASES)
    is_decision = PHASE_ROLL < phase < PHASE_OVER
    s["phase"] = phase
    s["round"] = whole("round", struct["round"], int(phase >= PHASE_ROLL), MOST_ROUNDS)
    nobody_may = not is_decision and (s["players"] == 1 or s["round"] == 0)
    anybody_may = phase != PHASE_ROLL and s["round"] > 0
    seat = whole("seat", struct["seat"], -1 if nobody_may else 0, int(s["players"]) - 1 if anybody_may else -1)
    s["seat"] = NOBODY if seat < 0 else seat
    s["truncated"] = index_of("truncated", struct["truncated"], (False, True))


def _fill_table(s: Any, struct: Mapping[str, Any]) -> None:
    for place, merchant in enumerate(list_of("merchants", struct["merchants"], ROW)):
        field = f"merchants[{place}]"
        s["row_cubes"][place] = _purse(f"{field}.cubes", merchant["cubes"], MOST_CUBES)
        if merchant["card"] is None:
            if s["row_cubes"][place]:
                raise ValueError(f"{field} has cubes, but no card")
        elif place > s["row_size"]:
            raise ValueError(f"{field} has a card behind an empty place; empty places are the last ones")
        else:
            s["merchants"][place] = index_of(f"{field}.card", merchant["card"], MERCHANT_NAMES[:MERCHANTS])
            s["row_size"] = place + 1
    choices = (None, HIDDEN, *POINT_NAMES) if s["players"] == 1 else (None, *POINT_NAMES)
    for place, name in enumerate(list_of("points", struct["points"], int(s["point_places"]))):
        index_of(f"points[{place}]", name, choices)
        s["points"][place] = {None: NO_CARD, HIDDEN: FACE_DOWN}.get(name) or POINT_NAMES.index(name)
    s["face_up"] = as_set(int(card) for card in s["points"] if card < FACE_DOWN)
    s["merchant_deck"] = _card_set("merchant_deck", struct["merchant_deck"], MERCHANT_NAMES[:MERCHANTS])
    s["point_deck"] = _card_set("point_deck", struct["point_deck"], POINT_NAMES)
    s["gold_left"] = _coins(s, "coins.gold", struct["coins"]["gold"])
    s["silver_left"] = _coins(s, "coins.silver", struct["coins"]["silver"])


def _fill_seat(s: Any, seat: int, struct: Mapping[str, Any]) -> None:
    field = f"seats[{seat}]"
    s["cubes"][seat] = _purse(f"{field}.cubes", struct["cubes"], MOST_CUBES)
    s["hand"][seat] = _card_set(f"{field}.hand", struct["hand"], MERCHANT_NAMES)
    s["played"][seat] = _card_set(f"{field}.played", struct["played"], MERCHANT_NAMES)
    s["gold"][seat] = _coins(s, f"{field}.gold", struct["gold"])
    s["silver"][seat] = _coins(s, f"{field}.silver", struct["silver"])
    _fill_taken(s, seat, _card_set(f"{field}.points", struct["points"], POINT_NAMES))


def _fill_automa(s: Any, struct: Mapping[str, Any] | None) -> None:
    if s["players"] > 1 or struct is None:
        if s["players"] > 1 and struct is None:
            return
        raise ValueError("automa must be null in the normal game, and an object in the solo game")
    s["cubes"][AUTOMA] = _purse("automa.cubes", struct["cubes"], LANE_LIMIT - 1)
    s["automa_coins"] = whole("automa.coins", struct["coins"], 0, MOST_ROUNDS)
    _fill_taken(s, AUTOMA, _card_set("automa.points", struct["points"], POINT_NAMES))


def _fill_taken(s: Any, owner: int, cards: int) -> None:
    s["taken"][owner] = cards
    s["card_points"][owner] = sum(int(POINTS[card]) for card in range(len(POINTS)) if cards >> card & 1)


def _fill_pending(s: Any, pending: Mapping[str, Any] | None) -> None:
    phase = int(s["phase"])
    if phase not in (PHASE_TRADE, PHASE_UPGRADE, PHASE_PAY):
        if pending is not None:
            raise ValueError(f"pending is {pending!r}, and must be null in phase {PHASES[phase]!r}")
        return
    if pending is None:
        raise ValueError(f"pending is null, but something is pending in phase {PHASES[phase]!r}")
    if phase == PHASE_PAY:
        s["place"] = whole("pending.place", pending["place"], 2, max(2, int(s["row_size"]))) - 1
        s["paid"] = whole("pending.paid", pending["paid"], 0, int(s["place"]) - 1)
        return
    card = index_of("pending.card", pending["card"], _names(s["played"][s["seat"]], MERCHANT_NAMES))
    s["pending_card"] = card = MERCHANT_NAMES.index(pending["card"])
    if KIND[card] != (KIND_TRADE if phase == PHASE_TRADE else KIND_UPGRADE):
        raise ValueError(f"pending.card is {pending['card']!r}, which does not {PHASES[phase]}")
    if phase == PHASE_UPGRADE:
        s["steps"] = whole("pending.steps", pending["steps"], 1, int(STEPS[card]))


def _check_cards(s: Any) -> None:
    """Raise ValueError if a card is in two places."""
    hands = [int(cards) for cards in (*s["hand"], *s["played"])]
    merchants = [int(s["merchant_deck"]), as_set(map(int, s["merchants"][: int(s["row_size"])]))]
    deck = as_set(range(MERCHANTS))
    _check_disjoint([*merchants, *(cards & deck for cards in hands)], MERCHANT_NAMES)
    for seat in range(int(s["players"])):
        _check_disjoint([int(s["hand"][seat]), int(s["played"][seat])], MERCHANT_NAMES)
    _check_disjoint([int(s["point_deck"]), int(s["face_up"]), *map(int, s["taken"])], POINT_NAMES)
    face_up = [int(card) for card in s["points"] if card < FACE_DOWN]
    if len(set(face_up)) < len(face_up) or merchants[1].bit_count() < s["row_size"]:
        raise ValueError("a card lies at two places of the table")


def _check_pyramid(s: Any) -> None:
    """Raise ValueError if a card of the pyramid is face up though covered, or too few cards are left to turn up."""
    hidden, unseen = int(sum(s["points"] == FACE_DOWN)), int(s["point_deck"]).bit_count()
    if hidden > unseen:
        raise ValueError(f"{hidden} point cards are face down, but point_deck has only {unseen}")
    for place in range(int(s["point_places"]) if s["players"] == 1 else 0):
        covering = [k for k in COVERED_BY[place] if s["points"][k] != NO_CARD]
        if s["points"][place] < FACE_DOWN and covering:
            raise ValueError(f"points[{place}] is face up, but points[{covering[0]}] covers it")


def _check_disjoint(sets: Iterable[int], names: tuple[str, ...]) -> None:
    seen = 0
    for cards in sets:
        if seen & cards:
            raise ValueError(f"the card {_names(seen & cards, names)[0]!r} is in two places")
        seen |= cards


def _check_phase(s: Any) -> None:
    """Raise ValueError if what the phase asks for is not possible."""
    phase, name = int(s["phase"]), PHASES[int(s["phase"])]
    point_due = bool(s["point_deck"]) and rules.next_point_place(s) >= 0
    merchant_due = bool(s["merchant_deck"]) and int(s["row_size"]) < ROW
    if phase == PHASE_OVER:
        return
    if point_due if phase > PHASE_MERCHANT else point_due != (phase == PHASE_POINT):
        raise ValueError(f"in phase {name!r} {'a' if point_due else 'no'} point card is to turn up")
    if phase == PHASE_MERCHANT and not merchant_due:
        raise ValueError("phase 'merchant' needs an empty place and a merchant in the deck")
    if phase > PHASE_ROLL:
        _check_cubes(s, int(s["cubes"][s["seat"]]), name)


def _check_cubes(s: Any, purse: int, phase: str) -> None:
    cubes = unpack(purse)
    possible = {
        "turn": True,
        "trade": bool(rules.covers(np.uint64(purse), PAY[min(int(s["pending_card"]), len(PAY) - 1)])),
        "upgrade": sum(cubes[:-1]) > 0,
        "pay": int(s["row_size"]) > s["place"] and sum(cubes) >= int(s["place"]) - int(s["paid"]),
        "return": sum(cubes) > CARAVAN,
    }
    if not possible[phase]:
        raise ValueError(f"phase {phase!r} is not possible with the cubes {letters(cubes) or 'none'}")


def _coins(s: Any, field: str, value: Any) -> int:
    return whole(field, value, 0, 0 if s["players"] == 1 else MOST_COINS)


def _purse(field: str, struct: Mapping[str, Any], most: int) -> int:
    return pack([whole(f"{field}.{colour}", struct[colour], 0, most) for colour in COLOURS])


def _card_set(field: str, value: Any, names: tuple[str, ...]) -> int:
    numbers = [index_of(f"{field}[{k}]", name, names) for k, name in enumerate(list_of(field, value))]
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"{field} holds a card twice")
    return as_set(numbers)


# --- the terminal ----------------------------------------------------------------------------------------------------


def board_text(S: NDArray[np.void], i: int) -> str:
    """Return the position for a terminal: point cards, merchants, who has what, the decks."""
    struct = to_json(S, i)
    lines = [_turn_line(struct)]
    lines += _pyramid_lines(struct) if struct["automa"] else [_points_line(struct)]
    row = [
        f"{place}:{merchant['card']}{_lying(merchant['cubes'])}"
        for place, merchant in enumerate(struct["merchants"], start=1)
        if merchant["card"]
    ]
    lines.append("merchants  " + ("   ".join(row) or "none"))
    for seat, owner in enumerate(struct["seats"]):
        coins = "" if struct["automa"] else f", {owner['gold']} gold, {owner['silver']} silver"
        lines.append(f"seat {seat}: {owner['score']} points, cubes {_cubes_text(owner['cubes'])}{coins}")
        lines += [f"    {what}: {' '.join(owner[what]) or '-'}" for what in ("hand", "played", "points")]
    if struct["automa"]:
        owner = struct["automa"]
        lines.append(f"automa: {owner['score']} points, cubes {_cubes_text(owner['cubes'])}, {owner['coins']} coins")
        lines.append(f"    points: {' '.join(owner['points']) or '-'}")
    unseen = "point cards not seen" if struct["automa"] else "point cards in the deck"
    lines.append(f"{len(struct['merchant_deck'])} merchants in the deck, {len(struct['point_deck'])} {unseen}")
    return "\n".join(lines)


def _turn_line(struct: Mapping[str, Any]) -> str:
    pending = {"place": "merchant {}", "card": "{}", "paid": "{} paid", "steps": "{} steps left"}
    details = [pending[key].format(value) for key, value in (struct["pending"] or {}).items()]
    mover = f"seat {struct['seat']}" if struct["seat"] >= 0 else "automa" if struct["round"] else "set-up"
    return ", ".join([f"round {struct['round']}", mover, struct["phase"], *details])


def _points_line(struct: Mapping[str, Any]) -> str:
    coins = [f" (+ {number} {coin})" for coin, number in struct["coins"].items() if number]
    cards = [f"{place}:{card or '-'}" for place, card in enumerate(struct["points"], start=1)]
    marked = [card + coin for card, coin in zip(cards, [*coins, *[""] * len(cards)], strict=False)]
    return "points     " + "   ".join(marked)


def _pyramid_lines(struct: Mapping[str, Any]) -> list[str]:
    shown = {None: "-", HIDDEN: "###"}
    cells = [f"{place}:{shown.get(card, card)}" for place, card in enumerate(struct["points"], start=1)]
    width = PYRAMID_CELL * len(PYRAMID_ROWS[0])
    rows = ["".join(f"{cells[place]:^{PYRAMID_CELL}}" for place in places) for places in PYRAMID_ROWS]
    return ["points", *(f"{row:^{width}}".rstrip() for row in rows)]


def _lying(cubes: Mapping[str, int]) -> str:
    return f" ({letters(cubes.values())})" if any(cubes.values()) else ""


def _cubes_text(cubes: Mapping[str, int]) -> str:
    most = max(cubes.values())
    if most > CARAVAN:
        return " ".join(f"{number}{colour}" for colour, number in cubes.items() if number)
    return letters(cubes.values()) or "none"
