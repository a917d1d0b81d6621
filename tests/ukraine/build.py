"""Positions of Carcassonne in few words, built as JSON structs and read by the kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from caravan_env import State, make_game

#: Copies of each tile, written down again here: a letter or number, `x` and the copies where there are several.
_TILES = {
    "B-": "Bx4 Ax2 Dx4 C Sx2 T Fx2 G Nx3 Mx2 Px3 Ox2 Rx3 Q Jx3 Lx3 Kx3 Ex5 Hx3 Ix2 X Wx4 Vx9 Ux8",
    "I-": "01x2 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17",
    "T-": "01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24",
}
COPIES = {
    prefix + word.split("x")[0]: int((word.split("x") + ["1"])[1])
    for prefix, words in _TILES.items()
    for word in words.split()
}
CHIPS = ("purple 1", "purple 2", "light blue 1", "light blue 2", "orange 1", "orange 2")
CHIP_COPIES = dict(zip(CHIPS, (6, 4) * 3, strict=True))
GOODS = ("wine", "grain", "cloth")
FIGURES = ("meeple", "large meeple", "builder", "pig")

Struct = dict[str, Any]


def board(*rows: str, shields: Mapping[str, int] | None = None, **borders: str) -> Struct:
    """Return a map: rows of letters, shields by large city, borders such as `A1_N="road"`."""
    digits = sorted({letter for row in rows for letter in row if letter.isdigit()})
    cities = {digit: {"name": f"City {digit}", "shields": (shields or {}).get(digit, 0)} for digit in digits}
    edges = {place.replace("_", " "): what for place, what in borders.items()}
    return {"name": "Test", "mark": "invented", "rows": list(rows), "cities": cities, "borders": edges}


#: A Chumak square two steps east of the start square.
SALT = board("ooooo", "oSoCo", "ooooo")


def chumak_squares(map: Any) -> list[str]:
    """Return the Chumak squares of a map."""
    rows = map["rows"] if isinstance(map, dict) else []
    return [f"{'ABCDEFGHIJKLMNOPQRST'[x]}{y}" for y, row in enumerate(rows, 1) for x, c in enumerate(row) if c == "C"]


def figures_of(players: int = 2, **params: Any) -> dict[str, int]:
    """Return the figures of one player (S1, S2)."""
    full = params.get("expansion_rules", "full") == "full"
    meeples = params.get("meeples") or (7 if params.get("map") == "plane" else 9)
    large, traders = full and params.get("inns", True), full and params.get("traders", True)
    return dict(zip(FIGURES, (meeples, int(large), int(traders), int(traders)), strict=True))


def laid_tile(words: str) -> Struct:
    """Describe a laid tile: "B-E K10 2", or "B-E K10 2: 0 large meeple on city S" with a figure of seat 0."""
    where, _, standing = words.partition(": ")
    tile, square, turned = where.split()
    figure = None
    if standing:
        who, _, segment = standing.partition(" on ")
        seat, _, kind = who.partition(" ")
        figure = {"seat": int(seat), "kind": kind, "segment": segment}
    return {"square": square, "tile": tile, "turned": int(turned), "figure": figure}


def position(
    *laid: str,
    tile: str | None = None,
    seat: int = 0,
    phase: str | None = None,
    extra: bool = False,
    again: bool = False,
    bag: Mapping[str, int] | None = None,
    chips: Sequence[str] = (),
    lying: Mapping[str, str] | None = None,
    points: Sequence[int] = (),
    goods: Sequence[str] = (),
    pending: Struct | None = None,
    **params: Any,
) -> State:
    """Return a position in the middle of a game.

    Args:
        laid: the tiles, as `laid_tile` reads them, in their order.
        tile: the tile in hand; without one a tile is to be drawn.
        seat, phase, extra, again, pending: as in the struct.
        bag: the tiles that may still come, all that are left by default; the others are out.
        chips: per seat the chips in hand, "purple 1, orange 2"; lying: the same per Chumak square.
        points, goods: per seat points, and goods as "wine wine cloth".
        params: the rule switches; the plane by default.
    """
    params = {"players": 2, "map": "plane"} | params
    tiles = [laid_tile(words) for words in laid]
    switch_of = {"B-": "base", "I-": "inns", "T-": "traders"}
    left = Counter({name: n for name, n in COPIES.items() if params.get(switch_of[name[:2]], True)})
    left -= Counter([t["tile"] for t in tiles] + ([tile] if tile else []))
    inside = left if bag is None else Counter(bag)
    squares = chumak_squares(params["map"]) if params.get("chips", True) else []
    free = [square for square in squares if square not in {t["square"] for t in tiles}]
    on = {square: chip_list((lying or {}).get(square, "")) for square in free}
    hands = [chip_list(chips[k]) if k < len(chips) else [] for k in range(params["players"])]
    used = Counter(chip for held in [*on.values(), *hands] for chip in held)
    struct = {
        "phase": phase or ("place" if tile else "tile"),
        "seat": seat,
        "extra": extra,
        "again": again,
        "tile": tile,
        "tiles": tiles,
        "bag": dict(inside),
        "out": dict(left - inside),
        "chumak": on,
        "supply": {chip: n - used[chip] for chip, n in CHIP_COPIES.items()} if squares else {},
        "pending": pending,
        "seats": [
            {
                "points": points[k] if k < len(points) else 0,
                "score": 0,
                "figures": _at_home(tiles, k, figures_of(**params)),
                "chips": dict(Counter(hands[k])),
                "goods": {good: (goods[k] if k < len(goods) else "").split().count(good) for good in GOODS},
            }
            for k in range(params["players"])
        ],
        "events": [],
        "final": [],
    }
    return make_game("ukraine", **params).state_from_json(struct)


def _at_home(tiles: list[Struct], seat: int, figures: dict[str, int]) -> dict[str, int]:
    away = Counter(t["figure"]["kind"] for t in tiles if t["figure"] and t["figure"]["seat"] == seat)
    return {kind: number - away[kind] for kind, number in figures.items()}


def chip_list(words: str) -> list[str]:
    """Return the chips in "purple 1, purple 1, orange 2", in the order of chips."""
    return sorted(filter(None, words.split(", ")), key=CHIPS.index)


def over(*laid: str, seat: int = 0, **others: Any) -> Struct:
    """Return the struct of a game that ended with these tiles, all others being out."""
    return position(*laid, phase="over", seat=seat, bag={}, **others).to_json()


def new_game(**params: Any) -> State:
    """Return a new game before its first chance."""
    return make_game("ukraine", **params).new_state()


def legal(state: State, start: str = "") -> set[str]:
    """Return the words of the legal actions that begin with `start`."""
    words = [state.action_text(int(action)) for action in state.legal_actions()]
    assert len(words) == len(set(words)), "two actions share their words"
    return {w for w in words if w.startswith(start)}


def squares(state: State) -> set[str]:
    """Return the squares on which the tile in hand may be laid."""
    return {words.split()[3] for words in legal(state, "place")}


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


def points(struct: Struct) -> list[int]:
    """Return the points of all seats so far."""
    return [seat["points"] for seat in struct["seats"]]


def scores(struct: Struct) -> list[int]:
    """Return the points of all seats if the game ended now."""
    return [seat["score"] for seat in struct["seats"]]


def home(struct: Struct, seat: int = 0) -> str:
    """Return the figures of a seat at home, "7 1 1 1"."""
    return " ".join(str(struct["seats"][seat]["figures"][kind]) for kind in FIGURES)


def paid(struct: Struct, field: str = "events") -> list[str]:
    """Return events in words: "city K10 K11: 4 0", with goods behind the points."""
    return [
        f"{' '.join([e['kind'], *e['squares']])}: {' '.join(map(str, e['points']))}"
        + "".join(f" {good}" * n for good, n in e["goods"].items())
        for e in struct[field]
    ]
