"""Caravan in words and as JSON structs, see docs/formats.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import BadParams
from caravan_env.core.fields import index_of, list_of, whole
from caravan_env.games.caravan import rules
from caravan_env.games.caravan.layout import (
    ACTIONS,
    CELL_SHIFT,
    KIND_MASK,
    KIND_SHIFT,
    NO_CAMEL,
    OFF_BOARD,
    PHASE_START,
    PHASES,
    RAINBOW_TARGET,
    SLOTS,
    START_UNKNOWN,
    TURN_ACTIONS,
    UNDER_BIT,
)
from caravan_env.games.caravan.tables import CELLS, FULL_SUPPLY, GOODS, SIZE, SPACES, cell_name

SEAT_LETTERS = "ABCD"
CELL_NAMES = tuple(map(cell_name, range(CELLS)))
MOST = 255  # markers of either kind that a position may have in one place


def action_text(S: NDArray[np.void], i: int, action: int) -> str:
    """Return an action of the seat to move in words."""
    group, place = ACTIONS.locate(action)
    s = S[i]
    seat = int(s["seat"])
    if group == "camel":
        slot, cell = place
        return f"camel {_camel_place(s, seat, slot)} -> {cell_name(cell)}"
    if group == "pick":
        kind = int(s["free"][place[0]])
        return f"pick up {GOODS[kind - 1] if kind else 'nothing'} at {cell_name(int(s['source_cell'][place[0]]))}"
    if group == "steal":
        opponent, slot = place
        victim = (seat + 1 + opponent) % int(s["players"])
        return f"steal {_load(s, victim, slot)} from seat {victim} at {_camel_place(s, victim, slot)}"
    if group == "move":
        origin, target = place
        goal = f"rainbow {_cell_or_off(int(s['rainbow_cell']))}" if target == RAINBOW_TARGET else None
        return (
            f"move {_load(s, seat, origin)} {_camel_place(s, seat, origin)} -> {goal or _camel_place(s, seat, target)}"
        )
    return f"rainbow -> {cell_name(place[0])}" if group == "rainbow" else "end turn"


def action_texts(S: NDArray[np.void], i: int, actions: NDArray[np.int64]) -> list[str]:
    """Return many actions of the seat to move in words: `action_text` of each, faster."""
    s = S[i]
    places = [_camel_place(s, int(s["seat"]), slot) for slot in range(SLOTS)]
    last_camel = ACTIONS["camel"].stop  # the camels' actions are the first ones
    return [
        f"camel {places[a // CELLS]} -> {CELL_NAMES[a % CELLS]}" if a < last_camel else action_text(S, i, a)
        for a in actions.tolist()
    ]


def outcome_text(S: NDArray[np.void], i: int, outcome: int) -> str:
    """Return a chance outcome in words."""
    if S[i]["phase"] == PHASE_START:
        return f"seat {outcome} starts"
    return f"draw {GOODS[outcome]} for space {int(rules.next_empty_space(S[i])) + 1}"


def to_json(S: NDArray[np.void], i: int) -> dict[str, Any]:
    """Return the struct of a position, without game and params."""
    s = S[i]
    seat = int(s["seat"])
    return {
        "phase": PHASES[int(s["phase"])],
        "seat": -1 if seat == START_UNKNOWN else seat,
        "turn": int(s["turn"]),
        "actions_left": int(s["actions_left"]),
        "truncated": bool(s["truncated"]),
        "bag": _by_kind(s["bag"]),
        "sources": [
            {"good": GOODS[int(s["free"][k]) - 1] if s["free"][k] else None, "markers": int(s["space_markers"][k])}
            for k in range(SPACES)
        ],
        "rainbow": cell_name(int(s["rainbow_cell"])) if s["rainbow_cell"] < OFF_BOARD else None,
        "seats": [_seat_to_json(S, i, k) for k in range(int(s["players"]))],
    }


def from_json(struct: Mapping[str, Any], template: NDArray[np.void]) -> NDArray[np.void]:
    """Return the row of a struct: the inverse of `to_json`.

    Args:
        struct: a position, see docs/formats.md.
        template: array of shape (1,) that carries the rule switches.

    Raises:
        BadParams: the struct lacks something or holds an impossible value; the message names the field.
    """
    row = template.copy()
    rules.init(row, 0)
    try:
        _fill_row(row[0], struct)
    except KeyError as error:
        raise BadParams(f"this is no position of caravan: the field {error} is missing") from error
    except (ValueError, TypeError) as error:
        raise BadParams(f"this is no position of caravan: {error}") from error
    rules.refresh_free(row[0])
    for seat in range(int(row[0]["players"])):
        rules.refresh_sets(row[0], seat)
    if struct["phase"] == "over":
        rules.finish(row[0])
    return row


def _fill_row(s: Any, struct: Mapping[str, Any]) -> None:
    s["phase"] = index_of("phase", struct["phase"], PHASES)
    at_start, in_play = struct["phase"] == "start", struct["phase"] == "play"
    seat = whole("seat", struct["seat"], *((-1, -1) if at_start else (0, int(s["players"]) - 1)))
    s["seat"] = START_UNKNOWN if seat < 0 else seat
    s["turn"] = whole("turn", struct["turn"], int(in_play), rules.MAX_TURN)
    s["actions_left"] = whole("actions_left", struct["actions_left"], int(in_play), TURN_ACTIONS)
    s["truncated"] = index_of("truncated", struct["truncated"], (False, True))
    s["bag"] = _counts("bag", struct["bag"])
    for k, space in enumerate(list_of("sources", struct["sources"], SPACES)):
        s["free"][k] = index_of(f"sources[{k}].good", space["good"], (None, *GOODS))
        s["space_markers"][k] = whole(f"sources[{k}].markers", space["markers"], 0, MOST)
    if struct["phase"] == "fill" and (s["free"].all() or not s["bag"].any()):
        raise ValueError("phase 'fill' needs a space without a good and a good in the bag")
    if struct["rainbow"] is not None and not s["rainbow_in_play"]:
        raise ValueError(f"rainbow is {struct['rainbow']!r}, but the game has no Rainbow Camel")
    s["rainbow_cell"] = _cell("rainbow", struct["rainbow"])
    for k, owner in enumerate(list_of("seats", struct["seats"], int(s["players"]))):
        _fill_seat(s, k, owner)


def _fill_seat(s: Any, k: int, struct: Mapping[str, Any]) -> None:
    s["theft"][k] = whole(f"seats[{k}].theft", struct["theft"], 0, MOST)
    s["markers"][k] = whole(f"seats[{k}].markers", struct["markers"], 0, MOST)
    s["delivered"][k] = _counts(f"seats[{k}].delivered", struct["delivered"])
    camels = list_of(f"seats[{k}].camels", struct["camels"], int(s["camels"]))
    codes = [_camel_code(f"seats[{k}].camels[{n}]", camel) for n, camel in enumerate(camels)]
    s["camel"][k] = sorted(codes) + [NO_CAMEL] * (SLOTS - len(codes))


def _counts(field: str, struct: Any) -> list[int]:
    return [whole(f"{field}.{good}", struct[good], 0, max(FULL_SUPPLY)) for good in GOODS]


def _cell(field: str, name: Any) -> int:
    if name is None:
        return OFF_BOARD
    if name not in CELL_NAMES:
        raise ValueError(f"{field} is {name!r}, and must be null or a cell, a1 to g7")
    return CELL_NAMES.index(name)


def board_text(S: NDArray[np.void], i: int) -> str:
    """Return the position for a terminal: the grid, the seats, the bag."""
    struct = to_json(S, i)
    rows = ["    " + "".join(f"{c:^9}" for c in "abcdefg")]
    for row in range(SIZE):
        cells = [_cell_text(S[i], struct, row * SIZE + column) for column in range(SIZE)]
        rows.append(f" {row + 1}  " + "".join(f"{top:^9}" for top, _ in cells))
        rows.append("    " + "".join(f"{below:^9}" for _, below in cells))
    lines = [f"turn {struct['turn']}, {struct['phase']}, seat {struct['seat']}, {struct['actions_left']} actions left"]
    for k, seat in enumerate(struct["seats"]):
        off = sum(camel["at"] is None for camel in seat["camels"])
        delivered = ", ".join(f"{n} {good}" for good, n in seat["delivered"].items() if n) or "nothing"
        lines.append(
            f"seat {k} ({SEAT_LETTERS[k]}): {seat['score']} points, {seat['markers']} demand markers, "
            f"{seat['theft']} theft markers, {off} camels off the board; delivered {delivered}"
        )
    bag = ", ".join(f"{n} {good}" for good, n in struct["bag"].items() if n) or "nothing"
    return "\n".join([*rows, *lines, f"bag: {bag}"])


def _cell_text(s: Any, struct: Mapping[str, Any], cell: int) -> tuple[str, str]:
    """Return the two lines of a cell: what is printed and lies there; the camels (letter, * laden, ~ from under)."""
    top = "."
    for k in range(SPACES):
        if s["source_cell"][k] == cell:
            source = struct["sources"][k]
            top = f"{k + 1}:{source['good'] or '-'}" + "'" * source["markers"]
    for kind, good in enumerate(GOODS):
        if s["city_cell"][kind] == cell:
            top = f"[{good}]"
    camels = "R" if struct["rainbow"] == cell_name(cell) else ""
    for k, seat in enumerate(struct["seats"]):
        for camel in seat["camels"]:
            if camel["at"] == cell_name(cell):
                load = "" if camel["good"] is None else ("~" if camel["stolen"] else "*") + camel["good"][:2]
                camels += SEAT_LETTERS[k] + load
    return top, camels


def _seat_to_json(S: NDArray[np.void], i: int, seat: int) -> dict[str, Any]:
    s = S[i]
    camels = [_camel_to_json(int(code)) for code in s["camel"][seat][: int(s["camels"])]]
    return {
        "camels": camels,
        "theft": int(s["theft"][seat]),
        "markers": int(s["markers"][seat]),
        "delivered": _by_kind(s["delivered"][seat]),
        "score": int(rules.points(S[i], seat)),
    }


def _camel_to_json(code: int) -> dict[str, Any]:
    cell, kind = code >> CELL_SHIFT, (code >> KIND_SHIFT) & KIND_MASK
    return {
        "at": None if cell >= CELLS else cell_name(cell),
        "good": GOODS[kind - 1] if kind else None,
        "stolen": bool(code & UNDER_BIT),
    }


def _camel_code(field: str, camel: Mapping[str, Any]) -> int:
    cell = _cell(f"{field}.at", camel["at"])
    kind = index_of(f"{field}.good", camel["good"], (None, *GOODS))
    if kind and cell == OFF_BOARD:
        raise ValueError(f"{field} carries {camel['good']} off the board")
    if index_of(f"{field}.stolen", camel["stolen"], (False, True)) and not kind:
        raise ValueError(f"{field} has a stolen good, but no good")
    return cell << CELL_SHIFT | kind << KIND_SHIFT | (UNDER_BIT if camel["stolen"] else 0)


def _by_kind(numbers: Any) -> dict[str, int]:
    return {good: int(n) for good, n in zip(GOODS, numbers, strict=True)}


def _cell_or_off(cell: int) -> str:
    return cell_name(cell) if cell < OFF_BOARD else "off"


def _camel_place(s: Any, seat: int, slot: int) -> str:
    code = int(s["camel"][seat, slot])
    return "nowhere" if code == NO_CAMEL else _cell_or_off(code >> CELL_SHIFT)


def _load(s: Any, seat: int, slot: int) -> str:
    code = int(s["camel"][seat, slot])
    kind = (code >> KIND_SHIFT) & KIND_MASK
    if code == NO_CAMEL or not kind:
        return "nothing"
    return ("stolen " if code & UNDER_BIT else "") + GOODS[kind - 1]
