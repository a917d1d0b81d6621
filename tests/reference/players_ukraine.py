"""
Movers for differential tests of Carcassonne on the map of Ukraine: each picks from the reference's legal actions.

The random one wanders, the greedy one takes the most points at once. The planners look at what a tile joins; their
weights make builders, farmers, traders of chips and players who push into the features of others of them. Most games
are played on small maps, drawn at random or made by hand, where borders, large cities and Chumak squares are near.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .ukraine import (
    CHIPS,
    EDGES,
    GOODS,
    PLACES,
    START_TILE,
    STRENGTH,
    TRADE_POINTS,
    Feature,
    Map,
    Square,
    Ukraine,
    next_to,
    read_map,
    square_name,
)

Mover = Callable[[Ukraine, random.Random], str]
LOOKED_AT = 10  # placements that a planner compares


def draw_chance(game: Ukraine, rng: random.Random) -> str:
    """Draw the words of what chance brings, by weight."""
    outcomes = game.chance()
    return rng.choices(list(outcomes), list(outcomes.values()))[0]


def random_mover(game: Ukraine, rng: random.Random) -> str:
    """Pick any legal action."""
    return rng.choice(game.legal())


def busy_mover(game: Ukraine, rng: random.Random) -> str:
    """Pick any kind of action, then any action of it, so that figures and trades of all kinds come up."""
    kinds: dict[str, list[str]] = {}
    for words, option in game.options().items():
        kinds.setdefault(str(option[1]) if option[0] == "put" else option[0], []).append(words)
    if len(kinds) > 1:
        kinds.pop("no figure", None)
    return rng.choice(kinds[rng.choice(list(kinds))])


@dataclass
class Planner:
    """What a planner values; called like any mover."""

    extend: float = 0.3
    complete: float = 1.0
    join: float = 0.0
    chips: float = 0.5
    builder: float = 3.0
    farm: float = 1.0
    meeple: float = 1.0
    large: float = 0.0
    trade: float = 1.0

    def __call__(self, game: Ukraine, rng: random.Random) -> str:
        """Give the words of the best action among those looked at."""
        options = list(game.options().items())
        if game.phase == "place":
            options = rng.sample(options, min(LOOKED_AT, len(options)))
        value = {"place": self._place, "figure": self._figure, "trade": self._trade}[game.phase]
        return max(options, key=lambda one: value(game, one[1]) + rng.random())[0]

    def _place(self, game: Ukraine, option: tuple[Any, ...]) -> float:
        """Value a placement."""
        _, square, turned = option
        seen = game.with_tile(square, turned)
        value = self.chips * seen.chips_due(square) + chips_on(game, square)
        for number, segment in enumerate(seen.tiles[square].segments()):
            if segment.kind in ("city", "road"):
                value += self._feature(seen, seen.feature(square, number))
        return value

    def _feature(self, seen: Ukraine, feature: Feature) -> float:
        """Value a road or city that a tile joins."""
        figures = seen.figures_in(feature)
        winners, worth = seen.winners(figures), seen.worth(feature)
        if not figures:
            return self.complete * worth / 2 if feature.complete else 0.5
        value = self.join if len({figure.seat for figure in figures}) > 1 else 0.0
        if any(figure.kind == "builder" and figure.seat == seen.seat for figure in figures):
            value += self.builder
        if seen.seat in winners:
            return value + (self.complete if feature.complete else self.extend) * (worth or len(feature.squares))
        return value - (self.complete * worth if feature.complete else 0)

    def _figure(self, game: Ukraine, option: tuple[Any, ...]) -> float:
        """Value a figure, a trade, or neither."""
        if option[0] == "no figure":
            return 1.0
        if option[0] == "trade":
            return self.trade * TRADE_POINTS[longest_trade(game, option[1])] - 1
        _, kind, number = option
        if not STRENGTH[kind]:
            return self.builder if kind == "builder" else self.farm + 1
        feature = game.feature(game.last_square(), number)
        value = self.large if kind == "large meeple" else 0.0
        if feature.kind == "field":
            return value + self.farm * len(game.bordered_cities(feature)) + 0.3 * self.meeple
        if feature.kind == "monastery":
            return value + 2 * self.meeple
        return value + (self.complete * game.worth(feature) if feature.complete else self.meeple + 0.5)

    def _trade(self, game: Ukraine, option: tuple[Any, ...]) -> float:
        """Value a chip that is added to a trade."""
        if option[0] == "done":
            return 0.2
        return game.seats[game.seat].chips[option[1]] / 2


def greedy_mover(game: Ukraine, rng: random.Random) -> str:
    """Take the most points at once; where nothing pays, pick any action."""
    options = list(game.options().items())
    options = rng.sample(options, min(2 * LOOKED_AT, len(options)))
    return max(options, key=lambda one: points_at_once(game, one[1]))[0]


def points_at_once(game: Ukraine, option: tuple[Any, ...]) -> int:
    """Give the points that an action brings the player, as far as one sees at once."""
    if option[0] == "place":
        seen = game.with_tile(*option[1:])
        done = seen.completed_by(option[1])
        return chips_on(game, option[1]) + sum(seen.feature_payment(one).points[game.seat] for one in done)
    if option[0] == "put":
        feature = game.feature(game.last_square(), option[2])
        if feature.kind not in ("road", "city"):
            return int(not STRENGTH[option[1]])
        return game.worth(feature) if feature.complete else 0
    return TRADE_POINTS[longest_trade(game, option[1])] if option[0] == "trade" else 0


def chips_on(game: Ukraine, square: Square) -> int:
    """Add up the chips on a Chumak square."""
    return sum(int(chip[-1]) for chip in game.lying.get(square, []))


def longest_trade(game: Ukraine, square: Square) -> int:
    """Count the chips that could be traded at a Chumak square."""
    mine = game.seats[game.seat].chips
    most = max((sum(mine[other] for other in CHIPS if game.match(one, other)) for one in mine if mine[one]), default=0)
    return int(min(most, PLACES - len(game.lying[square])))


PLANNERS: tuple[Planner, ...] = (
    Planner(),
    Planner(extend=0.1, complete=2),
    Planner(extend=1, complete=0.2, builder=9, meeple=2),
    Planner(join=8, large=1, meeple=2),
    Planner(chips=5, trade=3, meeple=0.3),
    Planner(chips=3, trade=0.3, join=2),
    Planner(farm=4, complete=1.5, builder=1),
    Planner(farm=3, large=2, join=4, builder=0),
)


def mix(players: int, rng: random.Random) -> list[Mover]:
    """Draw one mover a seat, at least one of them a planner; now and then a random action is mixed in."""
    others: tuple[Mover, ...] = (*PLANNERS, *PLANNERS, greedy_mover, busy_mover, busy_mover, random_mover)
    movers: list[Mover] = [rng.choice(PLANNERS), *rng.choices(others, k=players - 1)]
    rng.shuffle(movers)
    share = rng.choice((0.0, 0.1, 0.3))
    return [_stirred(mover, share) for mover in movers]


def _stirred(mover: Mover, share: float) -> Mover:
    """Give a mover that plays a random action in a share of its decisions."""
    return lambda game, rng: (random_mover if rng.random() < share else mover)(game, rng)


# Switches and maps.


def random_params(rng: random.Random) -> dict[str, Any]:
    """Draw the parameters of a game, mostly on small maps, with any setting of the switches."""
    where = rng.random()
    return {
        "players": rng.choice((2, 2, 3, 3, 4, 5, 6)),
        "returns": rng.choice(("win", "rank", "margin")),
        "map": "ukraine" if where < 0.12 else "plane" if where < 0.17 else small_map(rng),
        "expansion_rules": rng.choice(("full", "full", "full", "tiles_only")),
        "inns": rng.random() < 0.8,
        "traders": rng.random() < 0.8,
        "chips": rng.random() < 0.9,
        "meeples": rng.choice((0, 0, 0, 1, 2, 4, 9)),
        "border_monastery": rng.choice(("neighbours", "nine")),
        "chip_match": rng.choice(("identical", "colour", "any")),
    }


def made_map(name: str, rows: str, shields: str = "", borders: str = "", towns: str = "") -> dict[str, Any]:
    """Write a map file's mapping: rows, shields of the large cities and what is printed at borders, in short."""
    cities = {str(number): {"name": f"City {number}", "shields": int(n)} for number, n in enumerate(shields, start=1)}
    printed = {}
    for place in borders.split():
        square, edge, letter = place.split("-")
        printed[f"{square} {edge}"] = {"R": "road", "C": "city"}[letter]
    names = dict(town.split("-") for town in towns.split())
    return {
        "name": name,
        "mark": "invented",
        "rows": rows.split(),
        "cities": cities,
        "towns": names,
        "borders": printed,
    }


MADE_MAPS = (
    made_map("Six cities", "1o2o3 oSoCo 4o5o6 oCoSo", "012340"),
    made_map("Twenty-four", "ooooo o111o o111o oCSoo", "4", "A1-N-C E1-N-C A4-S-R"),
    made_map("Salt", "oCCCCo SCCCCS oCooCo", borders="A1-N-R F1-N-C"),
    made_map("Strip", "SooCooCooS", borders="D1-N-R C1-S-C G1-S-R J1-E-R"),
    made_map("Locked", "So1S", "0", "D1-N-R D1-E-C D1-S-R"),
    made_map("Half locked", "So1S oooo", "1", "D1-N-R D1-E-C"),
    made_map("Ring", "oooo o..o oSoC", borders="A1-N-R D1-E-C"),
    made_map("Quilt", "S.oToo oooCo. .o11oo oC1.oS oooo.o", "2", "A1-N-R B2-N-C F5-W-R", "D1-Lutsk"),
    made_map("Narrow", "S o o C o o S", borders="A2-W-C A3-E-C A5-W-R A5-E-R A7-S-C"),
    made_map("Tiny", "So oo", borders="A2-S-C"),
    made_map("Cross", ".oo. oSCo oCSo .oo."),
    made_map("Long city", "oooooo S1111o oooCoS", "3", "A1-N-C"),
)
ALONE = made_map("Alone", "S")


def small_map(rng: random.Random) -> dict[str, Any]:
    """Draw one of the maps made by hand, or make one at random."""
    if rng.random() < 0.01:
        return ALONE
    if rng.random() < 0.4:
        return rng.choice(MADE_MAPS)
    while True:
        given = _scattered_map(rng)
        if given is not None:
            return given


def _scattered_map(rng: random.Random) -> dict[str, Any] | None:
    """Make a map at random; None if it came out as one that is not allowed."""
    height, width = rng.randint(1, 7), rng.randint(2, 7)
    holes = rng.choice((0, 0.1, 0.25))
    grid = {(row, column): "o" for row in range(height) for column in range(width) if rng.random() > holes}
    _draw_cities(rng, grid)
    free = [square for square, letter in grid.items() if letter == "o"]
    rng.shuffle(free)
    for letter, most in (("S", 1 + rng.choice((0, 1, 1, 2, 3))), ("C", rng.choice((0, 1, 3, 3, 6, 16))), ("T", 1)):
        for square in free[:most]:
            grid[square] = letter
        free = free[most:]
    rows = ["".join(grid.get((row, column), ".") for column in range(width)) for row in range(height)]
    digits = sorted({letter for letter in grid.values() if letter.isdigit()})
    towns = " ".join(f"{square_name(square)}-Town" for square, letter in grid.items() if letter == "T")
    given = made_map("Scattered", " ".join(rows), "".join(str(rng.randint(0, 3)) for _ in digits), towns=towns)
    given["borders"] = _draw_borders(rng, read_map(given))
    return given if _allowed(given) else None


def _draw_cities(rng: random.Random, grid: dict[Square, str]) -> None:
    """Draw up to three large cities of one square to five, which do not touch."""
    if not grid:
        return
    number = 1
    for _ in range(rng.choice((0, 1, 2, 3))):
        city = [rng.choice(list(grid))]
        for _ in range(rng.randint(0, 4)):
            city.append(next_to(rng.choice(city), rng.randrange(4)))
        near = [next_to(square, edge) for square in city for edge in range(4)]
        if all(grid.get(square) == "o" for square in city) and all(grid.get(square, "o") == "o" for square in near):
            grid.update(dict.fromkeys(city, str(number)))
            number += 1


def _draw_borders(rng: random.Random, where: Map) -> dict[str, str]:
    """Print roads and cities at some outer edges."""
    share = rng.choice((0, 0, 0.15, 0.4))
    return {
        f"{square_name(square)} {EDGES[edge]}": rng.choice(("road", "city"))
        for square in sorted(where.playable)
        for edge in range(4)
        if not where.exists(next_to(square, edge)) and rng.random() < share
    }


def _allowed(given: dict[str, Any]) -> bool:
    """Tell whether a map keeps the rules of maps: start squares, connection, open edges, a place for the start tile."""
    where = read_map(given)
    if not 1 <= len(where.starts) <= 4 or len(where.chumak) > 16:
        return False
    for city in where.shields:
        near = (next_to(square, edge) for square in where.squares_of(city) for edge in range(4))
        if not where.playable.intersection(near):
            return False
    seen = {where.starts[0]}
    todo = list(seen)
    while todo:
        square = todo.pop()
        new = {other for edge in range(4) if where.exists(other := next_to(square, edge))} - seen
        seen |= new
        todo += new
    hangs_together = len(seen) == len(where.playable) + len(where.large)
    return hangs_together and bool(Ukraine({"map": given}, count=False).starting_places(START_TILE))


# Set positions.


def random_position(rng: random.Random) -> dict[str, Any]:
    """Draw a position from the middle of a game, then move tiles, chips, goods and points to where they seldom are."""
    while True:
        params = random_params(rng) | {"map": "ukraine" if rng.random() < 0.1 else small_map(rng)}
        game = Ukraine(params, count=False)
        movers: list[Mover] = [rng.choice((busy_mover, random_mover))] * game.players
        for _ in range(rng.choice((1, 5, 20, 40, 80))):
            if game.phase != "over":
                step(game, movers, rng)
        if game.phase != "over":
            return _moved_about(game, rng).struct()


def _moved_about(game: Ukraine, rng: random.Random) -> Ukraine:
    """Move tiles, chips, goods and points about."""
    if game.phase in ("place", "tile", "figure") and rng.random() < 0.5:
        _empty_bag(game, rng)
    if game.phase in ("place", "tile") and game.has_chips and rng.random() < 0.7:
        _deal_chips(game, rng)
    if game.full and game.params["traders"] and rng.random() < 0.5:
        for seat in game.seats:
            seat.goods = Counter({good: rng.choice((0, 0, 0, 1)) for good in GOODS})
    for seat in game.seats:
        seat.points += rng.choice((0, 0, 3, 50))
    return Ukraine.from_struct(game.struct(), count=False)


def _empty_bag(game: Ukraine, rng: random.Random) -> None:
    """Put all tiles but a few out of the game."""
    tiles = list(game.bag.elements())
    rng.shuffle(tiles)
    kept = max(rng.choice((0, 1, 2, 4)), int(game.phase == "tile"))
    game.bag, game.out = Counter(tiles[:kept]), game.out + Counter(tiles[kept:])


def _deal_chips(game: Ukraine, rng: random.Random) -> None:
    """Share the chips out anew among the players, the Chumak squares and the supply, which is often small."""
    chips = list(game.supply.elements())
    for holder in (*(seat.chips.elements() for seat in game.seats), *game.lying.values()):
        chips += holder
    rng.shuffle(chips)
    for square in game.lying:
        number = min(rng.choice((0, 0, 1, 3, 4)), len(chips))
        game.lying[square] = [chips.pop() for _ in range(number)]
    for seat in game.seats:
        number = min(rng.choice((0, 1, 3, 6, 10)), len(chips))
        seat.chips = Counter(chips.pop() for _ in range(number))
    keep = len(chips) if rng.random() < 0.4 else min(len(chips), rng.choice((0, 1, 2)))
    game.supply = Counter(chips[:keep])
    rng.choice(game.seats).chips += Counter(chips[keep:])


def step(game: Ukraine, movers: list[Mover], rng: random.Random) -> None:
    """Bring a game on by one action, or by what chance brings."""
    if game.legal():
        game.play(movers[game.seat](game, rng))
    else:
        game.resolve(draw_chance(game, rng))


def play_game(game: Ukraine, movers: list[Mover], rng: random.Random) -> None:
    """Play a game to its end, one mover a seat."""
    while game.phase != "over":
        step(game, movers, rng)
