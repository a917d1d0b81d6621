"""The game in words and as JSON structs, see docs/formats-ukraine.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import BadParams
from caravan_env.core.fields import index_of, list_of, whole
from caravan_env.games.ukraine import chips, features, rules
from caravan_env.games.ukraine.layout import (
    ACTIONS,
    CITY,
    EMPTY,
    EVENT_CHIPS,
    EVENT_CITY,
    EVENT_KINDS,
    EVENT_MONASTERY,
    EVENT_ROAD,
    EVENT_TRADE,
    FIELD_START,
    FIT,
    FREE_CHUMAK,
    FREE_LIMIT,
    IS_MONASTERY,
    KIND_NAMES,
    LARGE_CITY,
    MONASTERY,
    MOST_EVENTS,
    NO_FIGURE,
    NO_FIGURE_BIT,
    NO_SEGMENT,
    NO_TILE,
    NOBODY,
    PHASE_CHIP,
    PHASE_FIGURE,
    PHASE_LAY,
    PHASE_OVER,
    PHASE_PLACE,
    PHASE_SECOND,
    PHASE_START,
    PHASE_TILE,
    PHASE_TRADE,
    PHASES,
    ROAD,
    ROAD_START,
    SEGMENT_KIND,
    SEGMENTS,
    START_NUMBER,
    STRENGTHS,
    VOID,
)
from caravan_env.games.ukraine.tables import (
    CHIP_PLACES,
    CHIPS,
    FIGURES,
    GOODS,
    MAX_SEGMENTS,
    SIZE,
    SQUARE_NAMES,
    TILE_NUMBERS,
    TILES,
    edge_at,
    segment_name,
    square_name,
    square_number,
)

MOST_POINTS = 60_000
MOST_GOODS = 100
#: What is found at the end, in the order of the struct's `final`.
FINAL_KINDS = ("city", "road", "monastery", "field", "goods")
SETTING_UP = (PHASE_START, PHASE_SECOND, PHASE_LAY)
#: Phases between the laying of a tile and the scoring of what it completed.
UNSETTLED = (PHASE_CHIP, PHASE_FIGURE, PHASE_TRADE)

Struct = dict[str, Any]


# --- words -----------------------------------------------------------------------------------------------------------


def action_text(S: NDArray[np.void], i: int, action: int) -> str:
    """Return an action of the seat to move in words."""
    s = S[i]
    group, place = ACTIONS.locate(action)
    if group == "place":
        return f"place {_tile_id(s['tile']) or 'a tile'} at {square_name(place[0])} turned {place[1]}"
    if group == "figure":
        return f"{FIGURES[place[0]]} on {_last_segment_name(s, place[1])}"
    if group == "trade":
        return f"trade at {_chumak_name(s, place[0])}"
    return f"add {CHIPS[place[0]]}" if group == "add" else group


def action_texts(S: NDArray[np.void], i: int, actions: Iterable[int]) -> list[str]:
    """Return several actions in words."""
    return [action_text(S, i, int(action)) for action in actions]


def outcome_text(S: NDArray[np.void], i: int, outcome: int) -> str:
    """Return a chance outcome in words."""
    s = S[i]
    phase = int(s["phase"])
    if phase == PHASE_CHIP:
        return f"draw {CHIPS[outcome]}"
    if phase in (PHASE_START, PHASE_LAY):
        square = square_name(int(s["start_square"][outcome // 4]))
        return f"start {_tile_id(s['tile'])} at {square} turned {outcome % 4}"
    return f"{'second' if phase == PHASE_SECOND else 'draw'} {TILES[outcome].id}"


def _tile_id(number: Any) -> str | None:
    return None if number == NO_TILE else TILES[int(number)].id


def _segment_name(s: Any, order: int, segment: int) -> str:
    return segment_name(TILES[int(s["laid_tile"][order])], segment, int(s["laid_turned"][order]))


def _last_segment_name(s: Any, segment: int) -> str:
    order = int(s["laid"]) - 1
    if order < 0 or segment >= SEGMENTS[s["laid_tile"][order]]:
        return f"segment {segment}"
    return _segment_name(s, order, segment)


def _chumak_name(s: Any, number: int) -> str:
    return square_name(int(s["chumak_square"][number])) if number < s["chumaks"] else f"Chumak square {number + 1}"


# --- features, for the structs ---------------------------------------------------------------------------------------


class _Features:
    """The squares of the features of a position."""

    def __init__(self, s: Any) -> None:
        self.s = s
        self.parent: list[int] = s["parent"].tolist()
        self.squares: dict[int, list[int]] = {}
        self.segments: dict[tuple[int, int], int] = {}  # the lowest of a root on a square
        for order in range(int(s["laid"])):
            tile, square = int(s["laid_tile"][order]), int(s["laid_square"][order])
            for segment in range(int(SEGMENTS[tile])):
                if SEGMENT_KIND[tile, segment] != MONASTERY:
                    root = self.root(self.node(order, segment))
                    self.segments.setdefault((root, square), segment)
                    known = self.squares.setdefault(root, [])
                    if known[-1:] != [square]:
                        known.append(square)
        large = np.flatnonzero((s["at"] >= LARGE_CITY) & (s["at"] < VOID)).tolist()
        for square in large:
            self.squares.setdefault(self.root(int(s["at"][square]) - LARGE_CITY), []).append(square)

    def node(self, order: int, segment: int) -> int:
        kind = int(SEGMENT_KIND[self.s["laid_tile"][order], segment])
        return int(self.s["first_node"][order, kind - CITY]) + segment

    def root(self, node: int) -> int:
        while self.parent[node] != node:
            node = self.parent[node]
        return node

    def names(self, root: int) -> list[str]:
        return [square_name(square) for square in sorted(self.squares[root])]

    def first_segment(self, root: int) -> int:
        """Return the lowest segment on the first square, by which features of the same squares are told apart."""
        return self.segments.get((root, min(self.squares[root])), 0)


# --- to JSON ---------------------------------------------------------------------------------------------------------


def to_json(S: NDArray[np.void], i: int) -> Struct:
    """Return the struct of a position, without game and params."""
    s = S[i]
    players, seat = int(s["players"]), int(s["seat"])
    scores = np.zeros(players)
    rules.score(S, i, scores)
    return {
        "phase": PHASES[int(s["phase"])],
        "seat": -1 if seat == NOBODY else seat,
        "extra": bool(s["extra"]),
        "again": bool(s["again"]),
        "tile": _tile_id(s["tile"]),
        "tiles": [_laid_to_json(s, order) for order in range(int(s["laid"]))],
        "bag": _counts(s["bag"], [tile.id for tile in TILES]),
        "out": _counts(s["out"], [tile.id for tile in TILES]),
        "chumak": {
            _chumak_name(s, number): _chip_list(s["lying"][number])
            for number in range(int(s["chumaks"]))
            if s["at"][s["chumak_square"][number]] == FREE_CHUMAK + number
        },
        "supply": dict(zip(CHIPS, s["supply"].tolist(), strict=True)) if s["chips"] else {},
        "pending": _pending_to_json(s),
        "seats": [_seat_to_json(s, k, int(scores[k])) for k in range(players)],
        "events": _events_to_json(s),
        "final": _final_to_json(s) if s["phase"] == PHASE_OVER else [],
    }


def _counts(numbers: NDArray[Any], names: Sequence[str]) -> dict[str, int]:
    return {name: number for name, number in zip(names, numbers.tolist(), strict=True) if number}


def _chip_list(numbers: NDArray[Any]) -> list[str]:
    return [chip for chip, number in zip(CHIPS, numbers.tolist(), strict=True) for _ in range(number)]


def _laid_to_json(s: Any, order: int) -> Struct:
    figure = int(s["figure"][order])
    standing = {
        "seat": int(s["figure_seat"][order]),
        "kind": FIGURES[figure // MAX_SEGMENTS % len(FIGURES)],
        "segment": _segment_name(s, order, figure % MAX_SEGMENTS) if figure != NO_FIGURE else None,
    }
    return {
        "square": square_name(int(s["laid_square"][order])),
        "tile": TILES[int(s["laid_tile"][order])].id,
        "turned": int(s["laid_turned"][order]),
        "figure": None if figure == NO_FIGURE else standing,
    }


def _pending_to_json(s: Any) -> Struct | None:
    if s["phase"] == PHASE_CHIP:
        return {"draws": int(s["draws"])}
    if s["phase"] == PHASE_TRADE:
        return {"square": _chumak_name(s, int(s["trade_square"])), "chips": _chip_list(s["added"])}
    return None


def _seat_to_json(s: Any, seat: int, score: int) -> Struct:
    return {
        "points": int(s["points"][seat]),
        "score": score,
        "figures": dict(zip(FIGURES, s["home"][seat].tolist(), strict=True)),
        "chips": _counts(s["hand"][seat], CHIPS),
        "goods": dict(zip(GOODS, s["goods"][seat].tolist(), strict=True)),
    }


def _events_to_json(s: Any) -> list[Struct]:
    found = _Features(s) if s["events"] else None
    numbers = sorted(range(int(s["events"])), key=lambda number: _event_segment(s, found, number))
    return _in_order([_event_to_json(s, found, number) for number in numbers], EVENT_KINDS)


def _pays_feature(s: Any, number: int) -> bool:
    """Return whether an event is about a feature of more than the last tile, which names its segment there."""
    is_feature = int(s["event_kind"][number]) in (EVENT_CITY, EVENT_ROAD)
    return is_feature and int(s["event_where"][number]) != NO_SEGMENT


def _event_segment(s: Any, found: Any, number: int) -> int:
    if not _pays_feature(s, number):
        return 0
    return int(found.first_segment(found.root(found.node(int(s["laid"]) - 1, int(s["event_where"][number])))))


def _event_to_json(s: Any, found: Any, number: int) -> Struct:
    kind, where = int(s["event_kind"][number]), int(s["event_where"][number])
    if _pays_feature(s, number):
        squares = found.names(found.root(found.node(int(s["laid"]) - 1, where)))
    elif kind in (EVENT_CITY, EVENT_ROAD):
        squares = [square_name(int(s["laid_square"][int(s["laid"]) - 1]))]
    else:
        squares = [_chumak_name(s, where) if kind == EVENT_TRADE else square_name(where)]
    paid = {seat: int(s["event_points"][number]) for seat in _seats_in(s["event_seats"][number])}
    goods = _counts(s["event_goods"][number], GOODS)
    return _paid_to_json(s, EVENT_KINDS[kind - 1], squares, paid, goods)


def _paid_to_json(
    s: Any, kind: str, squares: list[str], paid: Mapping[int, int], goods: Mapping[str, int] | None = None
) -> Struct:
    points = [paid.get(seat, 0) for seat in range(int(s["players"]))]
    return {"kind": kind, "squares": squares, "points": points, "goods": dict(goods or {})}


def _seats_in(seats: Any) -> list[int]:
    return [seat for seat in range(8) if int(seats) >> seat & 1]


def _in_order(events: list[Struct], kinds: Sequence[str]) -> list[Struct]:
    return sorted(events, key=lambda event: (kinds.index(event["kind"]), [*map(square_number, event["squares"])]))


def _final_to_json(s: Any) -> list[Struct]:
    """Return what the end paid (E2 to E4)."""
    found, paid = _Features(s), []
    for root in sorted(np.flatnonzero(s["stuff"] & np.uint64(STRENGTHS)).tolist(), key=found.first_segment):
        kind = "city" if root < ROAD_START else "road" if root < FIELD_START else "field"
        seats = _seats_in(features.winners(s["stuff"][root]))
        points = {
            seat: int(features.field_worth(s, root, seat) if kind == "field" else features.worth(s, root))
            for seat in seats
        }
        paid.append(_paid_to_json(s, kind, found.names(root), points))
    for order in range(int(s["laid"])):
        if features.is_monk(s, order):
            square = int(s["laid_square"][order])
            points = {int(s["figure_seat"][order]): int(features.monastery_worth(s, square))}
            paid.append(_paid_to_json(s, "monastery", [square_name(square)], points))
    for number, name in enumerate(GOODS):
        points = dict.fromkeys(_seats_in(features.most_goods(s, number)), features.GOODS_POINTS)
        paid.append(_paid_to_json(s, "goods", [], points, {name: 1}))
    return _in_order([event for event in paid if any(event["points"])], FINAL_KINDS)


# --- from JSON -------------------------------------------------------------------------------------------------------


def from_json(struct: Mapping[str, Any], template: NDArray[np.void]) -> NDArray[np.void]:
    """Return the row of a struct: the inverse of `to_json`.

    Args:
        struct: a position, see docs/formats-ukraine.md.
        template: array of shape (1,) that carries the rule switches and the map.

    Raises:
        BadParams: the struct lacks something or holds an impossible value; the message names the field.
    """
    row = template.copy()
    rules.init(row, 0)
    s = row[0]
    try:
        _fill_turn(s, struct)
        _fill_tiles(s, struct)
        _fill_bag(s, struct)
        for seat, owner in enumerate(list_of("seats", struct["seats"], int(s["players"]))):
            _fill_seat(s, seat, owner)
        _fill_chips(s, struct)
        _fill_pending(s, struct["pending"])
        _check_figures(s)
        _fill_events(s, list_of("events", struct["events"]))
        _begin_phase(s)
    except KeyError as error:
        raise BadParams(f"this is no position of ukraine: the field {error} is missing") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise BadParams(f"this is no position of ukraine: {error}") from error
    return row


def _fill_turn(s: Any, struct: Mapping[str, Any]) -> None:
    phase = index_of("phase", struct["phase"], PHASES)
    s["phase"] = phase
    setting_up = phase in SETTING_UP
    lowest = -1 if setting_up or phase == PHASE_OVER else 0
    seat = whole("seat", struct["seat"], lowest, -1 if setting_up else int(s["players"]) - 1)
    s["seat"] = NOBODY if seat < 0 else seat
    s["extra"] = index_of("extra", struct["extra"], (False, True))
    s["again"] = index_of("again", struct["again"], (False, True))
    if s["extra"] and (setting_up or phase == PHASE_OVER or not s["expansions"]):
        raise ValueError(f"extra is true, which is not possible in phase {PHASES[phase]!r} with these rules")
    if s["again"] and (phase not in UNSETTLED or s["extra"] or not s["expansions"]):
        raise ValueError("again is true, which is possible in phases 'chip', 'figure' and 'trade' without extra only")


def _fill_tiles(s: Any, struct: Mapping[str, Any]) -> None:
    """Lay the tiles one after the other, as they were laid in the game, and put the figures on them."""
    laid = list_of("tiles", struct["tiles"])
    set_up = 2 if s["starts"] > 1 else 1
    phase = int(s["phase"])
    least, most = {PHASE_START: (0, 0), PHASE_SECOND: (1, 1), PHASE_LAY: (1, 1)}.get(phase, (set_up, len(laid)))
    if not (least if s["seat"] != NOBODY else min(least, 1)) <= len(laid) <= most:
        raise ValueError(f"tiles lists {len(laid)} tiles, which is not possible in phase {PHASES[phase]!r}")
    for order, tile in enumerate(laid):
        _lay(s, f"tiles[{order}]", tile, order < set_up)
    for order, tile in enumerate(laid):
        if tile["figure"] is not None:
            _put(s, f"tiles[{order}].figure", order, tile["figure"])


def _lay(s: Any, field: str, laid: Mapping[str, Any], set_up: bool) -> None:
    tile = _tile_number(f"{field}.tile", laid["tile"])
    if s["laid"] == 0 and tile != START_NUMBER:
        raise ValueError(f"{field}.tile is {laid['tile']!r}, and must be the start tile {TILES[START_NUMBER].id!r}")
    square = SQUARE_NAMES.index(laid["square"]) if laid["square"] in SQUARE_NAMES else -1
    if square < 0 or s["at"][square] < FREE_CHUMAK or FREE_LIMIT <= s["at"][square] < EMPTY:
        raise ValueError(f"{field}.square is {laid['square']!r}, and must be a playable square without a tile")
    if set_up and square not in s["start_square"][: s["starts"]]:
        raise ValueError(f"{field}.square is {laid['square']!r}, and must be a start square")
    if not set_up and not int(s["frontier"][square // 64]) >> square % 64 & 1:
        raise ValueError(f"{field}.square is {laid['square']!r}, which is not eligible: nothing lies next to it")
    turned = whole(f"{field}.turned", laid["turned"], 0, TILES[tile].rotations - 1)
    if not FIT[tile, s["need"][square]] >> turned & 1:
        raise ValueError(f"{field} does not fit: {laid['tile']} at {laid['square']} turned {turned}")
    if s["laid"] > 0:
        _take_from_bag(s, f"{field}.tile", tile)
    features.lay(s, square, tile, turned)


def _take_from_bag(s: Any, field: str, tile: int) -> None:
    if s["bag"][tile] == 0:
        raise ValueError(f"{field} is {TILES[tile].id!r}, of which there are only {s['copies'][tile]}")
    s["bag"][tile] -= 1


def _tile_number(field: str, name: Any) -> int:
    if not isinstance(name, str) or name not in TILE_NUMBERS:
        raise ValueError(f"{field} is {name!r}, which is no tile of the catalogue")
    return TILE_NUMBERS[name]


def _put(s: Any, field: str, order: int, figure: Mapping[str, Any]) -> None:
    seat = whole(f"{field}.seat", figure["seat"], 0, int(s["players"]) - 1)
    kind = index_of(f"{field}.kind", figure["kind"], FIGURES)
    names = [_segment_name(s, order, segment) for segment in range(int(SEGMENTS[s["laid_tile"][order]]))]
    segment = index_of(f"{field}.segment", figure["segment"], names)
    places = {"builder": ("city", "road"), "pig": ("field",)}.get(FIGURES[kind], KIND_NAMES)
    if names[segment].split()[0] not in places:
        raise ValueError(f"{field}: a {FIGURES[kind]} cannot stand on a {names[segment].split()[0]}")
    if s["home"][seat, kind] == 0:
        raise ValueError(f"{field}: seat {seat} has only {s['figures'][kind]} of the figures {FIGURES[kind]!r}")
    features.put_figure(s, order, seat, kind, segment)


def _fill_bag(s: Any, struct: Mapping[str, Any]) -> None:
    """Read `tile`, `out` and `bag`, which together hold what is not laid."""
    phase = int(s["phase"])
    if phase == PHASE_START:
        if struct["tile"] != TILES[START_NUMBER].id:
            raise ValueError(f"tile is {struct['tile']!r}, and must be {TILES[START_NUMBER].id!r} in phase 'start'")
    elif phase in (PHASE_PLACE, PHASE_LAY):
        s["tile"] = _tile_number("tile", struct["tile"])
        _take_from_bag(s, "tile", int(s["tile"]))
    else:
        s["tile"] = NO_TILE
        if struct["tile"] is not None:
            raise ValueError(f"tile is {struct['tile']!r}, and must be null in phase {PHASES[phase]!r}")
    for name, number in struct["out"].items():
        for _ in range(whole(f"out.{name}", number, 1, 255)):
            _take_from_bag(s, f"out.{name}", _tile_number("out", name))
        s["out"][TILE_NUMBERS[name]] = number
    left = _counts(s["bag"], [tile.id for tile in TILES])
    if dict(struct["bag"]) != left:
        wrong = next(name for name in TILE_NUMBERS if struct["bag"].get(name) != left.get(name))
        raise ValueError(f"bag.{wrong} is {struct['bag'].get(wrong, 0)!r}, but {left.get(wrong, 0)} are left")
    s["bag_size"] = sum(left.values())


def _fill_seat(s: Any, seat: int, struct: Mapping[str, Any]) -> None:
    field = f"seats[{seat}]"
    s["points"][seat] = whole(f"{field}.points", struct["points"], 0, MOST_POINTS)
    for kind, name in enumerate(FIGURES):
        home = int(s["home"][seat, kind])
        whole(f"{field}.figures.{name}", struct["figures"][name], home, home)
    for kind, name in enumerate(GOODS):
        most = MOST_GOODS if s["expansions"] else 0
        s["goods"][seat, kind] = whole(f"{field}.goods.{name}", struct["goods"][name], 0, most)
    for name, number in struct["chips"].items():
        kind = index_of(f"{field}.chips", name, CHIPS)
        s["hand"][seat, kind] = whole(f"{field}.chips.{name}", number, 1, int(s["supply"][kind]))
        s["supply"][kind] -= number
    s["hand_size"][seat] = s["hand"][seat].sum()


def _fill_chips(s: Any, struct: Mapping[str, Any]) -> None:
    free = [number for number in range(int(s["chumaks"])) if s["at"][s["chumak_square"][number]] >= FREE_CHUMAK]
    names = [_chumak_name(s, number) for number in free]
    if sorted(struct["chumak"]) != sorted(names):
        raise ValueError(f"chumak lists {', '.join(struct['chumak']) or 'nothing'}, and must list {names or 'nothing'}")
    for number, name in zip(free, names, strict=True):
        lying = list_of(f"chumak.{name}", struct["chumak"][name])
        if len(lying) > CHIP_PLACES:
            raise ValueError(f"chumak.{name} holds {len(lying)} chips, and has {CHIP_PLACES} places")
        for chip in lying:
            kind = index_of(f"chumak.{name}", chip, CHIPS)
            if s["supply"][kind] == 0:
                raise ValueError(f"chumak.{name} holds {chip!r}, of which there are not so many")
            s["lying"][number, kind] += 1
            s["supply"][kind] -= 1
        s["lying_size"][number] = len(lying)
    left = dict(zip(CHIPS, s["supply"].tolist(), strict=True)) if s["chips"] else {}
    if dict(struct["supply"]) != left:
        raise ValueError(f"supply is {dict(struct['supply'])!r}, but {left!r} are left")


def _fill_pending(s: Any, pending: Mapping[str, Any] | None) -> None:
    phase = int(s["phase"])
    if phase not in (PHASE_CHIP, PHASE_TRADE):
        if pending is not None:
            raise ValueError(f"pending is {pending!r}, and must be null in phase {PHASES[phase]!r}")
    elif pending is None:
        raise ValueError(f"pending is null, but something is pending in phase {PHASES[phase]!r}")
    elif phase == PHASE_CHIP:
        s["draws"] = whole("pending.draws", pending["draws"], 1, int(s["supply"].sum()))
    else:
        names = [_chumak_name(s, number) for number in range(int(s["chumaks"]))]
        s["trade_square"] = number = index_of("pending.square", pending["square"], names)
        for chip in list_of("pending.chips", pending["chips"]):
            s["added"][index_of("pending.chips", chip, CHIPS)] += 1
        if s["at"][s["chumak_square"][number]] < FREE_CHUMAK:
            raise ValueError(f"pending.square is {pending['square']!r}, which is built on")
        if (s["added"] > s["lying"][number]).any():
            raise ValueError("pending.chips holds chips that do not lie on pending.square")


def _check_figures(s: Any) -> None:
    """Raise ValueError if a figure stands where it cannot, or where it would have come home."""
    last, unsettled = int(s["laid"]) - 1, s["phase"] in UNSETTLED
    found, pairs = _Features(s), []
    for order in range(last + 1):
        figure = int(s["figure"][order])
        if figure == NO_FIGURE:
            continue
        kind, segment = figure // MAX_SEGMENTS, figure % MAX_SEGMENTS
        if unsettled and order == last:
            raise ValueError(f"tiles[{order}].figure must be null before phase 'figure' has ended")
        if IS_MONASTERY[s["laid_tile"][order]] and segment == 0:
            _check_monk(s, order, unsettled)
            continue
        root = found.root(found.node(order, segment))
        pairs.append((order, kind, int(s["figure_seat"][order]), root))
    meeples = {(seat, root) for _, kind, seat, root in pairs if FIGURES[kind].endswith("meeple")}
    new = {found.root(found.node(last, k)) for k in _linked(s, last)} if last >= 0 and unsettled else set()
    for order, kind, seat, root in pairs:
        if not FIGURES[kind].endswith("meeple") and (seat, root) not in meeples:
            raise ValueError(f"tiles[{order}].figure: a {FIGURES[kind]} stands without a meeple of its seat")
        if root < FIELD_START and s["open"][root] == 0 and root not in new:
            raise ValueError(f"tiles[{order}].figure stands in a completed feature, and would have come home")


def _linked(s: Any, order: int) -> list[int]:
    tile = int(s["laid_tile"][order])
    return [k for k in range(int(SEGMENTS[tile])) if SEGMENT_KIND[tile, k] != MONASTERY]


def _check_monk(s: Any, order: int, unsettled: bool) -> None:
    square, last = int(s["laid_square"][order]), int(s["laid_square"][int(s["laid"]) - 1])
    filled, there = features.monastery_state(s, square)
    beside = max(abs(square // SIZE - last // SIZE), abs(square % SIZE - last % SIZE)) <= 1
    if filled == there and not (unsettled and beside):
        raise ValueError(f"tiles[{order}].figure stands on a completed monastery, and would have come home")


def _fill_events(s: Any, events: list[Any]) -> None:
    if len(events) > MOST_EVENTS or (events and (s["laid"] == 0 or s["seat"] == NOBODY)):
        raise ValueError(f"events lists {len(events)} events, which is not possible")
    found, taken = _Features(s) if events else None, set[int]()
    read = [_read_event(s, found, taken, f"events[{k}]", event) for k, event in enumerate(events)]
    order = (EVENT_CHIPS, EVENT_TRADE, EVENT_CITY, EVENT_MONASTERY)
    read.sort(key=lambda event: (order.index(EVENT_CITY if event[0] == EVENT_ROAD else event[0]), *event[:2][::-1]))
    for number, (kind, where, points, seats, goods) in enumerate(read):
        s["event_kind"][number] = kind
        s["event_where"][number] = where
        s["event_points"][number] = points
        s["event_seats"][number] = sum(1 << seat for seat in seats)
        s["event_goods"][number] = goods
    s["events"] = len(read)


def _read_event(
    s: Any, found: Any, taken: set[int], field: str, event: Mapping[str, Any]
) -> tuple[int, int, int, list[int], list[int]]:
    """Return (kind, where, points, seats, goods) of an event, as the state keeps it."""
    kind = 1 + index_of(f"{field}.kind", event["kind"], EVENT_KINDS)
    squares = list_of(f"{field}.squares", event["squares"])
    where = _event_where(s, found, taken, kind, squares)
    if where < 0:
        raise ValueError(f"{field}.squares is {squares}, where no {event['kind']} can have paid now")
    paid = [
        whole(f"{field}.points", p, 0, MOST_POINTS)
        for p in list_of(f"{field}.points", event["points"], int(s["players"]))
    ]
    seats = [seat for seat, points in enumerate(paid) if points]
    if len({paid[seat] for seat in seats}) > 1:
        raise ValueError(f"{field}.points is {paid}, and must be the same for all who get any")
    for name in event["goods"]:
        index_of(f"{field}.goods", name, GOODS)
    goods = [whole(f"{field}.goods.{name}", event["goods"].get(name, 0), 0, MOST_GOODS) for name in GOODS]
    if any(goods) and kind != EVENT_CITY:
        raise ValueError(f"{field}.goods is {event['goods']}, and must be empty for {event['kind']!r}")
    if not seats and not any(goods):
        raise ValueError(f"{field} pays neither points nor goods")
    return kind, where, max(paid), seats, goods


def _event_where(s: Any, found: Any, taken: set[int], kind: int, squares: list[Any]) -> int:
    """Return where the state says that something has paid, -1 if it cannot have."""
    last = int(s["laid"]) - 1
    if kind in (EVENT_CITY, EVENT_ROAD):
        wanted = CITY if kind == EVENT_CITY else ROAD
        roots = [(found.root(found.node(last, segment)), segment) for segment in _linked(s, last)]
        for root, segment in sorted(roots, key=lambda there: found.first_segment(there[0])):
            is_free = SEGMENT_KIND[s["laid_tile"][last], segment] == wanted and root not in taken
            if is_free and s["open"][root] == 0 and found.names(root) == squares:
                taken.add(root)
                return NO_SEGMENT if features.is_alone(s, root) else segment
        return -1
    if len(squares) != 1 or squares[0] not in SQUARE_NAMES:
        return -1
    square = SQUARE_NAMES.index(squares[0])
    if kind == EVENT_TRADE:
        numbers = s["chumak_square"][: s["chumaks"]].tolist()
        return numbers.index(square) if square in numbers else -1
    if kind == EVENT_CHIPS:
        return square if square == s["laid_square"][last] else -1
    order = int(s["at"][square])
    return square if order < FREE_CHUMAK and IS_MONASTERY[s["laid_tile"][order]] else -1


def _begin_phase(s: Any) -> None:
    """Find the legal actions; raise ValueError if the phase is not possible."""
    phase = int(s["phase"])
    over = phase not in (PHASE_START, PHASE_PLACE, PHASE_LAY, *UNSETTLED) and bool(rules.no_tile_can_come(s))
    possible = {
        PHASE_SECOND: lambda: s["starts"] > 1 and not over,
        PHASE_LAY: lambda: s["starts"] > 1 and bool(rules.fits_a_start(s)),
        PHASE_TILE: lambda: not over,
        PHASE_PLACE: lambda: bool(rules.find_places(s)),
        PHASE_FIGURE: lambda: _begin_choice(s, rules.figure_options(s) | chips.trade_options(s)),
        PHASE_TRADE: lambda: _begin_trade(s),
        PHASE_OVER: lambda: over,
    }
    if not possible.get(phase, lambda: True)():
        raise ValueError(f"phase {PHASES[phase]!r} is not possible in this position")
    if phase == PHASE_OVER:
        rules.finish(s)


def _begin_choice(s: Any, options: Any) -> bool:
    if options:
        rules.set_late_options(s, PHASE_FIGURE, np.uint64(options) | np.uint64(1 << NO_FIGURE_BIT))
    return bool(options)


def _begin_trade(s: Any) -> bool:
    options = chips.add_options(s)
    if options:
        rules.set_late_options(s, PHASE_TRADE, options)
    return bool(options)


# --- the terminal ----------------------------------------------------------------------------------------------------


def board_text(S: NDArray[np.void], i: int) -> str:
    """Return the position for a terminal: the map with its tiles, who has what.

    A square takes three lines of three characters: the edges of a tile (C city, R road, . field) around the seat of the
    figure on it, or M for a monastery.
    """
    s, struct = S[i], to_json(S, i)
    lines = [_turn_line(struct)]
    lines.append("   " + "".join(f" {square_name(column)[0]} " for column in range(int(s["width"]))))
    for row in range(int(s["height"])):
        cells = [_cell(s, row * SIZE + column) for column in range(int(s["width"]))]
        for k, label in enumerate(("", str(row + 1), "")):
            lines.append(f"{label:>2} " + "".join(cell[k] for cell in cells).rstrip())
    for seat, owner in enumerate(struct["seats"]):
        figures = ", ".join(f"{n} {name}" for name, n in owner["figures"].items() if n) or "no figures"
        goods = ", ".join(f"{n} {name}" for name, n in owner["goods"].items() if n) or "no goods"
        held = sum(owner["chips"].values())
        lines.append(f"seat {seat}: {owner['points']} points ({owner['score']}), {figures}, {goods}, {held} chips")
    lying = [f"{name}: {', '.join(on)}" for name, on in struct["chumak"].items() if on]
    lines += [f"chips at {'; '.join(lying)}"] if lying else []
    out = sum(struct["out"].values())
    lines.append(f"{sum(struct['bag'].values())} tiles in the bag, {out} out of the game")
    return "\n".join(lines)


def _turn_line(struct: Struct) -> str:
    parts = [f"seat {struct['seat']}" if struct["seat"] >= 0 else "set-up", struct["phase"]]
    parts += ["extra part-turn"] if struct["extra"] else []
    if struct["tile"] is not None:
        tile = TILES[TILE_NUMBERS[struct["tile"]]]
        printed = [segment_name(tile, segment, 0) for segment in range(len(tile.segments))]
        parts.append(f"{struct['tile']} ({', '.join(printed)})")
    if struct["phase"] == "figure":
        parts.append(f"on {struct['tiles'][-1]['square']}")
    return ", ".join(parts)


def _cell(s: Any, square: int) -> tuple[str, str, str]:
    what = int(s["at"][square])
    if what >= FREE_CHUMAK:
        middle = "*" if what == EMPTY else "K"
        return (
            ("   ", f" {middle} ", "   ")
            if what == EMPTY or what < FREE_LIMIT
            else ("   ",) * 3
            if what == VOID
            else ("###",) * 3
        )
    tile, turned, figure = TILES[int(s["laid_tile"][what])], int(s["laid_turned"][what]), int(s["figure"][what])
    north, east, south, west = (edge_at(tile, edge, turned).replace("F", ".") for edge in range(4))
    middle = "M" if tile.monastery else "+"
    if figure != NO_FIGURE:
        middle = str(s["figure_seat"][what])
    return f" {north} ", f"{west}{middle}{east}", f" {south} "
