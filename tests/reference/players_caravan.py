"""
Movers for differential tests of Caravan: each picks from the words of the reference's legal actions.

The random one wanders, the greedy one takes what scores at once, the purposeful one builds chains of camels from goods
to their cities, so that games with it run through all refills and end by a delivery. The hoarding one turns late in the
game from delivering to taking all it can carry, for the clauses that need many laden camels.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from typing import Any

from .caravan import CELLS, GOODS, INNER, NEIGHBOURS, PENALTY, VALUE, Camel, Caravan, Option

Mover = Callable[[Caravan, random.Random], str]


def draw_chance(game: Caravan, rng: random.Random) -> str:
    """Draw the words of what chance brings, by weight."""
    outcomes = game.chance()
    return rng.choices(list(outcomes), list(outcomes.values()))[0]


def random_mover(game: Caravan, rng: random.Random) -> str:
    """Pick any legal action."""
    return rng.choice(game.legal())


def busy_mover(game: Caravan, rng: random.Random) -> str:
    """Pick any legal action that is not the placing of a camel, if there is one."""
    others = [words for words in game.legal() if not words.startswith("camel") and words != "end turn"]
    return rng.choice(others or game.legal())


def greedy_mover(game: Caravan, rng: random.Random) -> str:
    """Pick an action that gains most points at once; if none gains any, any action, but seldom the end of the turn."""
    gains = {words: _gain(game, option) for words, option in game.options().items()}
    best = max(gains.values())
    if best > 0:
        return rng.choice([words for words, gain in gains.items() if gain == best])
    others = [words for words in gains if words != "end turn"]
    return rng.choice(others) if others and rng.random() < 0.95 else "end turn"


def _gain(game: Caravan, option: Option) -> int:
    """Give the change of the mover's score by an action."""
    carried = game.seats[game.seat].carried()
    kind = option[0]
    if kind == "rainbow":
        return -1
    if kind in ("pick up", "steal"):
        markers = option[1].markers if kind == "pick up" else 0
        return markers + PENALTY[carried] - PENALTY[carried + 1]
    good = _delivered(game, option)
    return VALUE[good] + PENALTY[carried] - PENALTY[carried - 1] if good else 0


def _delivered(game: Caravan, option: Option) -> str | None:
    """Give the good an action delivers, if it does."""
    if option[0] == "move to rainbow" or (option[0] == "move" and option[4] == game.board.cities[option[2]]):
        return str(option[2])
    return None


def purposeful_mover(game: Caravan, rng: random.Random) -> str:
    """Deliver if possible; else take a good, or bring a carried one nearer to its city, or go to a free one."""
    me = game.seats[game.seat]
    options = game.options()
    deliveries = {words: VALUE[good] for words, option in options.items() if (good := _delivered(game, option))}
    if deliveries:
        return max(deliveries, key=lambda words: deliveries[words])
    if me.carried() < 3 and rng.random() < 0.5:
        steals = [words for words, option in options.items() if option[0] == "steal"]
        if steals:
            return rng.choice(steals)
    if me.carried() < 2:
        takes = [words for words, option in options.items() if option[0] == "pick up"]
        if takes:
            return rng.choice(takes)
    return (_bring_nearer(game, rng) if me.carried() else _go_for_a_good(game)) or "end turn"


def hoarding_mover(game: Caravan, rng: random.Random) -> str:
    """Play like the purposeful one until few goods are left in the bag; then take whatever can be taken."""
    me = game.seats[game.seat]
    if sum(game.bag.values()) > 8:
        return purposeful_mover(game, rng)
    takes = [words for words, option in game.options().items() if option[0] in ("pick up", "steal")]
    if takes:
        return rng.choice(takes)
    goals = {source.cell for source in game.sources if source.good}
    for seat in game.seats:
        if seat is not me and me.theft:
            goals.update(str(camel.at) for camel in seat.camels if camel.good and not camel.stolen)
    goals = {cell for cell in goals if not me.empty_at(cell)}
    there = [words for words, option in game.options().items() if option[0] == "camel" and option[2] in goals]
    if there and me.carried() + 1 < len(me.camels):
        return rng.choice(there)
    return purposeful_mover(game, rng)


def mix(players: int, rng: random.Random) -> list[Mover]:
    """Draw one mover a seat, at least one of which brings the game on; now and then a random action is mixed in."""
    if rng.random() < 0.2:
        movers: list[Mover] = [hoarding_mover] * players
    else:
        others = (purposeful_mover, purposeful_mover, hoarding_mover, greedy_mover, random_mover)
        movers = [purposeful_mover, *rng.choices(others, k=players - 1)]
    rng.shuffle(movers)
    share = rng.choice((0.0, 0.1, 0.3))
    return [_stirred(mover, share) for mover in movers]


def _stirred(mover: Mover, share: float) -> Mover:
    """Give a mover that plays a random action in a share of its decisions."""
    return lambda game, rng: (random_mover if rng.random() < share else mover)(game, rng)


def _prices(game: Caravan) -> dict[str, int]:
    """Give what it costs the mover to have a link of its chain on each cell."""
    prices = dict.fromkeys(CELLS, 1)
    for seat in game.seats:
        prices.update({camel.at: 2 for camel in seat.camels if camel.at})
    prices.update({camel.at: 0 for camel in game.seats[game.seat].camels if camel.at})
    return prices | {game.rainbow: 0} if game.rainbow else prices


def _cheapest_paths(prices: dict[str, int], start: str) -> dict[str, tuple[int, int, list[str]]]:
    """Give, for each cell, the price, the length and the cells of a cheapest chain from the start."""
    found: dict[str, tuple[int, int, list[str]]] = {}
    queue: list[tuple[int, int, list[str]]] = [(prices[start], 0, [start])]
    while queue:
        price, length, path = heapq.heappop(queue)
        if path[-1] in found:
            continue
        found[path[-1]] = (price, length, path)
        for step in NEIGHBOURS[path[-1]]:
            if step not in found:
                heapq.heappush(queue, (price + prices[step], length + 1, [*path, step]))
    return found


def _bring_nearer(game: Caravan, rng: random.Random) -> str | None:
    """Work on the chain of the carried good nearest to its city or, where nothing can be done for that, of the next."""
    prices = _prices(game)
    laden = [camel for camel in game.seats[game.seat].camels if camel.good is not None and camel.at is not None]
    chains = [(_cheapest_paths(prices, str(c.at))[game.board.cities[str(c.good)]], n) for n, c in enumerate(laden)]
    for (_, _, path), which in sorted(chains):
        missing = [cell for cell in path if prices[cell] > 0]
        words = _extend(game, rng, path, missing) or _pass_on(game, laden[which], path, missing)
        if words:
            return words
    return None


def _extend(game: Caravan, rng: random.Random, path: list[str], missing: list[str]) -> str | None:
    """Put a camel on a missing cell of the chain: one to spare or, if its first cell is missing, the chain's last."""
    if rng.random() < 0.4:
        words = [f"rainbow -> {cell}" for cell in missing if cell in INNER]
        if words and words[0] in game.options():
            return words[0]
    camels = game.seats[game.seat].camels
    movers = _spare_camels(camels, path)
    if not movers and missing[:1] == path[1:2]:
        there = [camel for camel in camels if camel.good is None]
        movers = sorted(there, key=lambda camel: -path.index(str(camel.at)))[:1]
    words = [f"camel {camel.at or 'off'} -> {cell}" for cell in missing for camel in movers]
    return next((w for w in words if w in game.options()), None)


def _spare_camels(camels: list[Camel], path: list[str]) -> list[Camel]:
    """Give the empty camels the chain does not need, off the board first."""
    empty = [camel for camel in camels if camel.good is None]
    there = [camel.at for camel in empty]
    spare = [camel for n, camel in enumerate(empty) if camel.at not in path or there.index(camel.at) < n]
    return sorted(spare, key=lambda camel: camel.at is not None)


def _pass_on(game: Caravan, camel: Camel, path: list[str], missing: list[str]) -> str | None:
    """Move the good to the farthest empty camel of the chain before its first gap."""
    what = f"move {'stolen ' if camel.stolen else ''}{camel.good} {camel.at} ->"
    linked = path[1 : path.index(missing[0])] if missing else path[1:]
    return next((words for cell in reversed(linked) if (words := f"{what} {cell}") in game.options()), None)


def _go_for_a_good(game: Caravan) -> str | None:
    """Put a camel on the space of the free good that is worth most for the price of its chain."""
    prices = _prices(game)
    best: tuple[float, str, list[str]] | None = None
    for source in game.sources:
        if source.good is not None:
            price, length, path = _cheapest_paths(prices, source.cell)[game.board.cities[source.good]]
            worth = (VALUE[source.good] + source.markers) / (2 + price + length / 4)
            best = max(best or (0.0, "", []), (worth, source.cell, path))
    if best is None:
        return None
    camels = game.seats[game.seat].camels
    movers = _spare_camels(camels, best[2]) or [camel for camel in camels if camel.good is None]
    words = [f"camel {camel.at or 'off'} -> {best[1]}" for camel in movers]
    return next((w for w in words if w in game.options()), None)


def random_params(rng: random.Random) -> dict[str, Any]:
    """Draw the parameters of a game: any number of players and any setting of the switches."""
    players = rng.choice((2, 3, 4))
    return {
        "players": players,
        "returns": rng.choice(("win", "rank", "margin")),
        "camels": rng.choice((5, 6)),
        "goods": rng.choice(("auto", "full", "short")),
        "starting_seat": rng.randrange(-1, players),
        "board": rng.choice(("symmetric", "pinwheel", "diagonal", random_board(rng))),
        "last_camel_ban_on_steal": rng.random() < 0.5,
        "rainbow_camel": rng.random() < 0.5,
        "turn_limit": rng.choice((60, 120, 200)),
    }


def random_board(rng: random.Random) -> dict[str, Any]:
    """Draw a user's board: sixteen distinct cells, on the edge or not, sources next to cities or not."""
    cells = [list(divmod(cell, 7)) for cell in rng.sample(range(49), 16)]
    numbers = [str(k) for k in range(1, 9)]
    return {
        "name": "drawn",
        "mark": "random board",
        "sources": dict(zip(numbers, cells[:8], strict=True)),
        "cities": dict(zip(GOODS, cells[8:], strict=True)),
    }


def random_position(rng: random.Random) -> dict[str, Any]:
    """Draw a position in the middle of a turn, also one that play cannot reach: crowds, goods in their cities."""
    params = random_params(rng)
    game = Caravan(params, count=False)
    while game.phase != "play":
        game.resolve(draw_chance(game, rng))
    struct = game.struct()
    struct |= {"turn": rng.randint(4, 50), "actions_left": rng.randint(1, 4)}
    cities = list(game.board.cities.items())
    # A few cells for all camels make them meet.
    cells = [cell for _, cell in rng.sample(cities, 3)] + rng.sample(CELLS, rng.randint(1, 6))
    for seat in struct["seats"]:
        camels = [_random_camel(rng, cells, cities) for _ in seat["camels"]]
        seat["camels"] = sorted(camels, key=lambda camel: Camel(camel["at"], camel["good"], camel["stolen"]).rank())
        seat |= {"theft": rng.randint(0, 2), "markers": rng.randint(0, 2)}
    if params["rainbow_camel"]:
        struct["rainbow"] = rng.choice([None, *(cell for cell in cells if cell in INNER)])
    if rng.random() < 0.3:
        struct["bag"] = dict.fromkeys(struct["bag"], 0)
    return Caravan.from_struct(struct, count=False).struct()


def _random_camel(rng: random.Random, cells: list[str], cities: list[tuple[str, str]]) -> dict[str, Any]:
    at = rng.choice([None, *cells])
    good = rng.choice([None, *(good for good, cell in cities if cell in cells)]) if at and rng.random() < 0.7 else None
    return {"at": at, "good": good, "stolen": good is not None and rng.random() < 0.3}


def play_game(game: Caravan, movers: list[Mover], rng: random.Random) -> None:
    """Play a game to its end, one mover a seat."""
    while game.phase != "over":
        if game.phase == "play":
            game.play(movers[game.seat](game, rng))
        else:
            game.resolve(draw_chance(game, rng))
