"""
Movers for differential tests of Century: each picks from the words of the reference's legal actions.

The random one wanders, the greedy one claims whatever it can and wanders otherwise. The purposeful one works towards
the point card that is nearest to its caravan, so that games with it end by claims. The collecting one acquires
merchants as long as there are any, which empties the deck and in the end the row; the hoarding one fills its caravan
beyond the limit.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .century import (
    CARDS,
    COLOURS,
    COST,
    COVERS,
    FACE_DOWN,
    LIMIT,
    MERCHANTS,
    NOBODY,
    POINTS,
    STARTING,
    Century,
    Cubes,
    cubes_of,
    minus,
    plus,
    results_of,
    total,
)

Mover = Callable[[Century, random.Random], str]
WEIGHT = {"Y": 1, "R": 2, "G": 3, "B": 4}


def draw_chance(game: Century, rng: random.Random) -> str:
    """Draw the words of what chance brings, by weight."""
    outcomes = game.chance()
    return rng.choices(list(outcomes), list(outcomes.values()))[0]


def random_mover(game: Century, rng: random.Random) -> str:
    """Pick any legal action."""
    return rng.choice(game.legal())


def busy_mover(game: Century, rng: random.Random) -> str:
    """Pick any legal action that goes on with something, if there is one; claims first."""
    legal = game.legal()
    claims = [words for words in legal if words.startswith("claim")]
    others = [words for words in legal if words not in ("rest", "done")]
    return rng.choice(claims or others or legal)


def greedy_mover(game: Century, rng: random.Random) -> str:
    """Claim a point card worth most; if there is none, pick any action."""
    return _best_claim(game) or random_mover(game, rng)


def _best_claim(game: Century) -> str | None:
    """Give the words of the claim that is worth most, coins included; None if nothing can be claimed."""
    claims = {
        words: POINTS[str(game.points[option[1]])] + _coin_at(game, option[1])
        for words, option in game.options().items()
        if option[0] == "claim"
    }
    return max(claims, key=lambda words: claims[words]) if claims else None


def _coin_at(game: Century, place: int) -> int:
    """Give the points of the coin that a claim at the place brings."""
    if place == 0:
        return 3 if game.gold else int(game.silver > 0)
    return int(place == 1 and game.gold > 0 and game.silver > 0)


def worth(game: Century, caravan: Cubes) -> float:
    """Tell how good a caravan is: what the nearest point card pays, less what is missing; the rest counts a little."""
    cards = [(place, card) for place, card in enumerate(game.points) if card is not None and card != FACE_DOWN]
    value = sum(WEIGHT[colour] * number for colour, number in caravan.items())
    excess = max(0, total(caravan) - LIMIT)
    progress = (_progress(caravan, card) + _coin_at(game, place) for place, card in cards)
    return max(progress, default=0.0) + 0.2 * value - 2 * excess


def _progress(caravan: Cubes, card: str) -> float:
    """Give the points of a card, less the value of the cubes that are missing for it."""
    missing = (WEIGHT[colour] * max(0, number - caravan[colour]) for colour, number in COST[card].items())
    return 0.5 * POINTS[card] - sum(missing)


def purposeful_mover(game: Century, rng: random.Random) -> str:
    """Claim if possible; else do what brings the caravan nearest to a point card."""
    if game.phase == "turn":
        return _best_claim(game) or _best_turn(game, rng)
    return _best_step(game)


def _best_turn(game: Century, rng: random.Random) -> str:
    """Give the words of the play, acquisition or rest that promises most."""
    me = game.seats[game.seat]
    now = worth(game, me.cubes)
    promises = {"rest": 0.6 * len(me.played) + rng.random()}
    for words, option in game.options().items():
        if option[0] == "play":
            best = max(worth(game, caravan) for caravan in results_of(CARDS[option[1]], me.cubes))
            promises[words] = best - now + rng.random()
        elif option[0] == "acquire":
            owned = len(me.hand) + len(me.played)
            bonus = total(game.merchants[option[1]].cubes) - option[1]
            promises[words] = 7 - 0.9 * owned + bonus + 2 * rng.random()
    return max(promises, key=lambda words: promises[words])


def _best_step(game: Century) -> str:
    """Give the words of the small action after which the caravan is worth most."""
    me = game.seats[game.seat]
    return max(game.legal(), key=lambda words: worth(game, _caravan_after(game, me.cubes, words)))


def _caravan_after(game: Century, caravan: Cubes, words: str) -> Cubes:
    """Give the caravan after a small action in the course of a turn."""
    kind, *rest = words.split()
    if kind == "trade":
        assert game.pending is not None
        card = CARDS[game.pending["card"]]
        return plus(minus(caravan, card.pays), card.gains)
    if kind == "upgrade":
        return plus(minus(caravan, cubes_of(rest[0])), cubes_of(rest[2]))
    if kind in ("pay", "return"):
        return minus(caravan, cubes_of(rest[0]))
    return caravan


def collecting_mover(game: Century, rng: random.Random) -> str:
    """Acquire merchants as long as there are any, mostly cheap ones; without, play like the purposeful one."""
    acquisitions = [words for words in game.legal() if words.startswith("acquire")]
    if game.phase != "turn" or not acquisitions:
        return purposeful_mover(game, rng)
    return _best_claim(game) or (acquisitions[0] if rng.random() < 0.8 else rng.choice(acquisitions))


def hoarding_mover(game: Century, rng: random.Random) -> str:
    """Play every card it can, trade and upgrade without end; claim only now and then."""
    if game.phase == "turn" and rng.random() < 0.3:
        return purposeful_mover(game, rng)
    going_on = [words for words in game.legal() if words.split()[0] in ("play", "trade", "upgrade")]
    return rng.choice(going_on or game.legal())


def mix(players: int, rng: random.Random) -> list[Mover]:
    """Draw one mover a seat, at least one of which brings the game on; now and then a random action is mixed in."""
    first: Mover = collecting_mover if rng.random() < 0.3 else purposeful_mover
    others = (purposeful_mover, purposeful_mover, collecting_mover, hoarding_mover, greedy_mover, random_mover)
    movers = [first, *rng.choices(others, k=players - 1)]
    rng.shuffle(movers)
    share = rng.choice((0.0, 0.1, 0.3))
    return [_stirred(mover, share) for mover in movers]


def _stirred(mover: Mover, share: float) -> Mover:
    """Give a mover that plays a random action in a share of its decisions."""
    return lambda game, rng: (random_mover if rng.random() < share else mover)(game, rng)


def random_params(rng: random.Random) -> dict[str, Any]:
    """Draw the parameters of a game, every second one solo, with any setting of the switches."""
    return {
        "players": rng.choice((1, 1, 1, 1, 2, 3, 4, 5)),
        "returns": rng.choice(("win", "rank", "margin")),
        "expert": rng.random() < 0.5,
        "automa_claims": rng.choice(("affordable", "affordable", "top_only")),
        "roll_one_refresh": rng.choice(("leftmost", "leftmost", "row", "none")),
        "automa_produces": rng.random() < 0.7,
        "reshuffle_discards": rng.random() < 0.3,
        "turn_limit": rng.choice((20, 60, 100, 200)),
    }


# Set positions.


def random_position(rng: random.Random) -> dict[str, Any]:
    """Draw a position in the middle of a game, also one that play cannot reach: crowded caravans, laden merchants."""
    params = random_params(rng) | {"turn_limit": rng.choice((0, 30, 200))}
    struct = Century(params, count=False).struct()
    seat, number = rng.randrange(params["players"]), _random_round(rng, params["turn_limit"])
    struct |= {"phase": "turn", "seat": seat, "round": number}
    for given in struct["seats"]:
        given["cubes"] = _random_cubes(rng, rng.choice((3, 8, 10, 10, 14)))
    _deal_merchants(rng, struct)
    if params["players"] == 1:
        _take_from_pyramid(rng, struct)
        struct["automa"] |= {"cubes": _random_cubes(rng, rng.choice((0, 5, 15, 25))), "coins": rng.randint(0, 9)}
        if rng.random() < 0.4 and Century.from_struct(struct, count=False).automa_choice() is None:
            struct |= {"phase": "roll", "seat": NOBODY}
    else:
        _deal_points(rng, struct)
    return _some_steps_on(Century.from_struct(struct, count=False), rng).struct()


def _random_round(rng: random.Random, limit: int) -> int:
    """Draw a number of a round, quite often the last before the limit."""
    return limit if limit and rng.random() < 0.3 else rng.randint(1, limit or 250)


def _random_cubes(rng: random.Random, most: int) -> Cubes:
    """Draw a number of cubes, the high colours no rarer than the low ones."""
    return cubes_of("".join(rng.choices(COLOURS, k=rng.randint(0, most))))


def _deal_merchants(rng: random.Random, struct: dict[str, Any]) -> None:
    """Share all merchants out among the row, the deck and the players; in solo some are discarded."""
    cards = rng.sample(MERCHANTS, len(MERCHANTS))
    in_row = 6 if rng.random() < 0.7 else rng.randint(0, 6)
    for place in range(in_row):
        lying = rng.choice((0, 1, 2, 4))
        struct["merchants"][place] = {"card": cards.pop(), "cubes": _random_cubes(rng, lying)}
    for seat in struct["seats"]:
        own = [*STARTING, *(cards.pop() for _ in range(rng.choice((0, 2, 5, 6))))]
        seat["played"] = [card for card in own if rng.random() < 0.4]
        seat["hand"] = [card for card in own if card not in seat["played"]]
    in_deck = 0 if in_row < 6 or rng.random() < 0.2 else rng.randint(1, len(cards))
    if struct["params"]["players"] > 1 and in_deck:
        in_deck = len(cards)
    elif struct["params"]["players"] > 1:
        rng.choice(struct["seats"])["hand"] += cards
    struct["merchant_deck"] = cards[:in_deck]


def _deal_points(rng: random.Random, struct: dict[str, Any]) -> None:
    """Share the point cards out, and the coins; now and then with no deck left, which play cannot reach (C4)."""
    cards = rng.sample(list(POINTS), len(POINTS))
    struct["points"] = [cards.pop() for _ in range(5)]
    for seat in struct["seats"]:
        seat["points"] = [cards.pop() for _ in range(rng.randint(0, 5))]
        seat |= {"gold": rng.randint(0, 2), "silver": rng.randint(0, 2)}
    if rng.random() < 0.2:
        cards = []
        struct["points"] = struct["points"][: rng.randint(1, 5)]
        struct["points"] += [None] * (5 - len(struct["points"]))
    struct["point_deck"] = cards
    struct["coins"] = {"gold": rng.choice((0, 1, 2)), "silver": rng.choice((0, 1, 2))}


def _take_from_pyramid(rng: random.Random, struct: dict[str, Any]) -> None:
    """Let player and automa have taken some cards of the pyramid, in a possible order; what is freed is face up."""
    places, cards = struct["points"], rng.sample(list(POINTS), len(POINTS))
    if rng.random() < 0.3:
        cards.sort(key=POINTS.__getitem__)  # neighbours are worth the same (U2)
        cut = rng.randrange(len(cards))
        cards = cards[cut:] + cards[:cut]
    for _ in range(rng.randint(0, 9)):
        free = [place for place in range(10) if places[place] is not None and _uncovered(places, place)]
        places[rng.choice(free)] = None
        rng.choice((struct["seats"][0], struct["automa"]))["points"].append(cards.pop())
    for place in range(10):
        if places[place] == FACE_DOWN and _uncovered(places, place):
            places[place] = cards.pop()
    struct["point_deck"] = cards


def _uncovered(places: list[str | None], place: int) -> bool:
    return all(places[cover] is None for cover in COVERS[place])


def _some_steps_on(game: Century, rng: random.Random) -> Century:
    """Play on for a few small actions, so that other phases come up too; never to the end of the game."""
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        ahead = game.copy()
        if ahead.legal():
            ahead.play(_of_any_kind(ahead, rng))
        else:
            ahead.resolve(draw_chance(ahead, rng))
        if ahead.phase == "over":
            break
        game = ahead
    return game


def _of_any_kind(game: Century, rng: random.Random) -> str:
    """Pick an action so that each kind is equally likely; trades that can be repeated are a kind of their own."""
    kinds: dict[Any, list[str]] = {}
    for words, option in game.options().items():
        again = option[0] == "play" and len(results_of(CARDS[option[1]], game.seats[game.seat].cubes)) > 1
        kinds.setdefault((option[0], again), []).append(words)
    return rng.choice(kinds[rng.choice(list(kinds))])


def play_game(game: Century, movers: list[Mover], rng: random.Random) -> None:
    """Play a game to its end, one mover a seat."""
    while game.phase != "over":
        if game.legal():
            game.play(movers[game.seat](game, rng))
        else:
            game.resolve(draw_chance(game, rng))
