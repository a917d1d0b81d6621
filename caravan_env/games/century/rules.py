"""The rules of Century: Spice Road as kernels, in the order in which a game is played. Clauses refer to RULES.md."""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import ONE, bit, lowest, nth_set, popcount
from caravan_env.core.contract import CHANCE, TERMINAL
from caravan_env.core.kernel import kernel
from caravan_env.core.outcome import RETURN_MARGIN, write_returns
from caravan_env.games.century.layout import (
    ACQUIRE_START,
    AGAIN_ACTION,
    AUTOMA,
    AUTOMA_VALUES,
    CARD_NUMBERS,
    CLAIM_START,
    CLAIM_TOP_ONLY,
    CLAIMABLE,
    CLOCK_STEPS,
    COIN_VALUES,
    COST,
    COSTS,
    DECISIONS,
    DONE_ACTION,
    FACE_DOWN,
    FACE_VALUES,
    FACES,
    GAIN,
    HIGH_START,
    KIND,
    KIND_PRODUCE,
    KIND_TRADE,
    LANE_BITS,
    LANE_LIMIT,
    LANE_MASK,
    MOST_SHOWN,
    NO_CARD,
    NOBODY,
    OWNERS,
    PAY,
    PAY_START,
    PENDING_VALUES,
    PHASE_MERCHANT,
    PHASE_OVER,
    PHASE_PAY,
    PHASE_POINT,
    PHASE_RETURN,
    PHASE_ROLL,
    PHASE_TRADE,
    PHASE_TURN,
    PHASE_UPGRADE,
    PLACE_VALUES,
    PLAY_START,
    PLAYABLE,
    POINTS,
    PRICES,
    REFRESH_LEFTMOST,
    REFRESH_ROW,
    REST_ACTION,
    RETURN_START,
    ROW_VALUES,
    SEAT_VALUES,
    STEPS,
    THRESHOLDS,
    UPGRADE_START,
    as_set,
    pack,
)
from caravan_env.games.century.tables import (
    AUTOMA_CUBE_VALUES,
    CARAVAN,
    COLOUR_COUNT,
    COVERED_BY,
    DIE,
    LAST_CARD,
    MERCHANTS,
    POINT_CARDS,
    POINT_ROW,
    PYRAMID,
    ROW,
    SEATS,
    START_CUBES,
)

NONE = np.uint64(0)
ALL_MERCHANTS = np.uint64(as_set(range(MERCHANTS)))
ALL_POINT_CARDS = np.uint64(as_set(range(POINT_CARDS)))
ALL_CARDS = np.uint64(as_set(range(CARD_NUMBERS)))
STARTING_CARDS = np.uint64(as_set(range(MERCHANTS, CARD_NUMBERS)))
START_PURSES = np.array([pack(cubes) for cubes in START_CUBES], np.uint64)

CAN_TRADE_AGAIN = np.uint64(as_set([AGAIN_ACTION, DONE_ACTION]))
CAN_STOP = np.uint64(as_set([DONE_ACTION]))
CAN_REST = np.uint64(as_set([REST_ACTION - HIGH_START]))

EACH_COLOUR = np.uint64(pack([1] * COLOUR_COUNT))
EACH_LIMIT = np.uint64(pack([LANE_LIMIT] * COLOUR_COUNT))
LOWER_COLOURS = np.uint64(pack([LANE_MASK] * (COLOUR_COUNT - 1)))  # all that can rise (P4)
HIGHER_COLOURS = np.uint64(pack([0] + [LANE_MASK] * (COLOUR_COUNT - 1)))  # all that count at the end (E2)
LANE = np.uint64(LANE_MASK)
TOP_LANE = np.uint64(LANE_BITS * (COLOUR_COUNT - 1))

COVERS = np.array([as_set(places) for places in COVERED_BY], np.uint64)
LAST_CARDS = np.array(LAST_CARD, np.int64)
COINS_PER_PLAYER = 2
GOLD_POINTS = 3
EXPERT_COIN_POINTS = 3
STANDING_STEP = 8  # more than there are seats, for the tie-break of E3


# --- purses: see layout.LANE_BITS ------------------------------------------------------------------------------------


@kernel
def cube(colour):
    """Return the purse of one cube."""
    return ONE << np.uint64(LANE_BITS * colour)


@kernel
def number_of(purse, colour):
    """Return the cubes of a colour in a purse."""
    return np.int64((purse >> np.uint64(LANE_BITS * colour)) & LANE)


@kernel
def total(purse):
    """Return the cubes in a purse of fewer than 65,536."""
    return np.int64((purse * EACH_COLOUR) >> TOP_LANE)


@kernel
def covers(purse, price):
    """Return whether a purse holds all cubes of a price."""
    return ((purse | EACH_LIMIT) - price) & EACH_LIMIT == EACH_LIMIT


@kernel
def colours_in(purse):
    """Return the set of the colours in a purse."""
    colours = NONE
    for colour in range(COLOUR_COUNT):
        if number_of(purse, colour) > 0:
            colours |= bit(colour)
    return colours


@kernel
def playable(purse):
    """Return the merchants that a purse pays for at least once; produce and upgrade cards cost nothing (P6)."""
    cards = ALL_CARDS
    for colour in range(COLOUR_COUNT):
        cards &= PLAYABLE[colour, min(number_of(purse, colour), PRICES - 1)]
    return cards


@kernel
def claimable(purse):
    """Return the point cards that a purse pays for (C1)."""
    cards = ALL_POINT_CARDS
    for colour in range(COLOUR_COUNT):
        cards &= CLAIMABLE[colour, min(number_of(purse, colour), PRICES - 1)]
    return cards


# --- set-up and chance -----------------------------------------------------------------------------------------------


@kernel
def init(S, i):
    """Lay out the game before any chance (S1 to S4, O1, O5, O6)."""
    s = S[i]
    solo = s["players"] == 1
    s["phase"] = PHASE_POINT
    s["seat"] = NOBODY
    s["round"] = 0
    s["truncated"] = 0
    s["merchant_deck"] = ALL_MERCHANTS
    s["point_deck"] = ALL_POINT_CARDS
    s["face_up"] = NONE
    s["automa_coins"] = 0
    s["gold_left"] = 0 if solo else COINS_PER_PLAYER * s["players"]
    s["silver_left"] = s["gold_left"]
    s["row_size"] = 0
    for place in range(ROW):
        s["merchants"][place] = NO_CARD
        s["row_cubes"][place] = NONE
    for place in range(PYRAMID):
        s["points"][place] = FACE_DOWN if solo else NO_CARD
    forget_pending(s)
    for seat in range(SEATS):
        _init_seat(s, seat)
    for owner in range(OWNERS):
        s["taken"][owner] = NONE
        s["card_points"][owner] = 0
    s["cubes"][AUTOMA] = START_PURSES[0] if solo else NONE


@kernel
def _init_seat(s, seat):
    playing = seat < s["players"]
    s["hand"][seat] = STARTING_CARDS if playing else NONE
    s["played"][seat] = NONE
    s["cubes"][seat] = START_PURSES[seat] if playing else NONE
    s["gold"][seat] = 0
    s["silver"][seat] = 0
    s["standing"][seat] = 0


@kernel
def forget_pending(s):
    """Note that nothing is pending."""
    s["pending_card"] = NO_CARD
    s["steps"] = 0
    s["place"] = 0
    s["paid"] = 0


@kernel
def to_move(S, i):
    """Return the seat to move, CHANCE or TERMINAL."""
    phase = S[i]["phase"]
    if phase < PHASE_TURN:
        return np.int64(CHANCE)
    return np.int64(TERMINAL) if phase == PHASE_OVER else np.int64(S[i]["seat"])


@kernel
def chance(S, i, weights):
    """Write the weights of the merchants or point cards that may come (M4, O4), or of the die (U4)."""
    s = S[i]
    if s["phase"] == PHASE_ROLL:
        weights[:DIE] = 1
        return np.int64(DIE)
    deck, cards = s["merchant_deck"], MERCHANTS
    if s["phase"] == PHASE_POINT:
        deck, cards = s["point_deck"], POINT_CARDS
    for card in range(cards):
        weights[card] = np.int64((deck >> np.uint64(card)) & ONE)
    return np.int64(cards)


@kernel
def resolve(S, i, outcome):
    """Turn up merchant or point card number `outcome`, or apply the automa's roll, and go on."""
    s = S[i]
    if s["phase"] == PHASE_POINT:
        s["points"][next_point_place(s)] = outcome
        s["point_deck"] &= ~bit(outcome)
        s["face_up"] |= bit(outcome)
    elif s["phase"] == PHASE_MERCHANT:
        s["merchants"][s["row_size"]] = outcome
        s["merchant_deck"] &= ~bit(outcome)
        s["row_size"] += 1
    else:
        use_roll(s, outcome)
    go_on(s)


@kernel
def next_point_place(s):
    """Return the place, from 0, of the next point card that is to turn up (S1, C4, O1, O2), or -1."""
    cards = s["points"]
    if s["players"] > 1:
        for place in range(POINT_ROW):
            if cards[place] == NO_CARD:
                return np.int64(place)
        return np.int64(-1)
    left = NONE
    for place in range(PYRAMID):
        if cards[place] != NO_CARD:
            left |= bit(place)
    for place in range(PYRAMID):
        if cards[place] == FACE_DOWN and COVERS[place] & left == NONE:
            return np.int64(place)
    return np.int64(-1)


@kernel
def point_card_is_due(s):
    """Return whether a point card is to turn up (C4, O2)."""
    return s["point_deck"] != NONE and next_point_place(s) >= 0


@kernel
def merchant_is_due(s):
    """Return whether a merchant is to be drawn for an empty place (A4, A5); make discards the deck where allowed."""
    if s["row_size"] == ROW:
        return False
    if s["merchant_deck"] == NONE and s["reshuffle"]:
        s["merchant_deck"] = discarded(s)
    return s["merchant_deck"] != NONE


@kernel
def discarded(s):
    """Return the merchants of the solo game that are in no row, deck, hand or pile of played cards."""
    elsewhere = s["merchant_deck"] | s["hand"][0] | s["played"][0]
    for place in range(np.int64(s["row_size"])):
        elsewhere |= bit(np.int64(s["merchants"][place]))
    return ALL_MERCHANTS & ~elsewhere


@kernel
def resample(S, i, seat, R, r):
    """Do nothing: what is hidden is drawn when it turns up, and is not in the state (M4)."""


# --- what is legal ---------------------------------------------------------------------------------------------------


@kernel
def legal_sets(s):
    """Return every legal action as two sets: bit k of the first is action k, of the second action HIGH_START + k."""
    phase = s["phase"]
    if phase == PHASE_TURN:
        return _turn_sets(s)
    if phase == PHASE_TRADE:
        return CAN_TRADE_AGAIN, NONE
    purse = s["cubes"][s["seat"]]
    if phase == PHASE_UPGRADE:
        return CAN_STOP | colours_in(purse & LOWER_COLOURS) << np.uint64(UPGRADE_START), NONE
    if phase == PHASE_PAY:
        return colours_in(purse) << np.uint64(PAY_START), NONE
    return NONE, colours_in(purse) << np.uint64(RETURN_START - HIGH_START)


@kernel
def _turn_sets(s):
    """Return the ways to begin a turn (T1): hand cards, merchants within reach, resting, payable point cards."""
    purse = s["cubes"][s["seat"]]
    plays = s["hand"][s["seat"]] & playable(purse)
    reach = min(np.int64(s["row_size"]), total(purse) + 1)
    merchants = (bit(reach) - ONE) << np.uint64(ACQUIRE_START)
    claims = places_of(s, claimable(purse)) << np.uint64(CLAIM_START - HIGH_START)
    return plays | merchants, CAN_REST | claims


@kernel
def places_of(s, cards):
    """Return the places of those point cards of a set that lie face up."""
    places = NONE
    if cards & s["face_up"] != NONE:
        for place in range(np.int64(s["point_places"])):
            card = np.int64(s["points"][place])
            if card < FACE_DOWN and cards & bit(card):
                places |= bit(place)
    return places


@kernel
def _write_set(chosen, out, at):
    """Set out[at + k] to 1 for every k in a set."""
    rest = chosen
    while rest != NONE:
        out[at + lowest(rest)] = 1
        rest &= rest - ONE


@kernel
def legal(S, i, mask):
    """Write the action mask, uint8 of shape (actions,), and return the number of legal actions."""
    s = S[i]
    low, high = legal_sets(s)
    mask[:] = 0
    _write_set(low, mask, np.int64(PLAY_START))
    _write_set(high, mask, np.int64(HIGH_START))
    return popcount(low) + popcount(high)


@kernel
def is_legal(S, i, action):
    """Return whether an action, any integer, is legal now."""
    s = S[i]
    if action < PLAY_START or action >= RETURN_START + COLOUR_COUNT:
        return False
    low, high = legal_sets(s)
    return low & bit(action) != NONE if action < HIGH_START else high & bit(action - HIGH_START) != NONE


@kernel
def pick(S, i, ticket):
    """Return legal action number (ticket * count) >> 32 in mask order; ticket is a uint64 below 2**32."""
    s = S[i]
    low, high = legal_sets(s)
    below = popcount(low)
    k = np.int64((ticket * np.uint64(below + popcount(high))) >> np.uint64(32))
    return nth_set(low, k) if k < below else HIGH_START + nth_set(high, k - below)


# --- playing an action -----------------------------------------------------------------------------------------------


@kernel
def step(S, i, action):
    """Play a legal action of the seat to move."""
    s = S[i]
    if action < AGAIN_ACTION:
        play(s, action - PLAY_START)
    elif action == AGAIN_ACTION:
        trade(s, np.int64(s["pending_card"]))
    elif action == DONE_ACTION:
        close_turn(s)
    elif action < ACQUIRE_START:
        upgrade(s, action - UPGRADE_START)
    elif action < PAY_START:
        acquire(s, action - ACQUIRE_START)
    elif action < REST_ACTION:
        pay(s, action - PAY_START)
    elif action == REST_ACTION:
        rest(s)
    elif action < RETURN_START:
        claim(s, action - CLAIM_START)
    else:
        give_back(s, action - RETURN_START)


@kernel
def play(s, card):
    """Play a hand card: produce, trade once, or begin to upgrade (P1 to P5)."""
    seat = np.int64(s["seat"])
    s["hand"][seat] &= ~bit(card)
    s["played"][seat] |= bit(card)
    if KIND[card] == KIND_PRODUCE:
        s["cubes"][seat] += GAIN[card]
        close_turn(s)
    elif KIND[card] == KIND_TRADE:
        trade(s, card)
    else:
        s["pending_card"] = card
        s["steps"] = STEPS[card]
        go_on_upgrading(s)


@kernel
def trade(s, card):
    """Trade once; the turn ends by itself if the card is not payable once more (P5, T2)."""
    seat = np.int64(s["seat"])
    s["cubes"][seat] += GAIN[card] - PAY[card]
    if covers(s["cubes"][seat], PAY[card]):
        s["phase"] = PHASE_TRADE
        s["pending_card"] = card
    else:
        close_turn(s)


@kernel
def upgrade(s, colour):
    """Raise a cube by one step (P3, P4)."""
    s["cubes"][s["seat"]] += cube(colour + 1) - cube(colour)
    s["steps"] -= 1
    go_on_upgrading(s)


@kernel
def go_on_upgrading(s):
    """Ask for the next step, or end the turn if there is none (T2)."""
    if s["steps"] > 0 and s["cubes"][s["seat"]] & LOWER_COLOURS != NONE:
        s["phase"] = PHASE_UPGRADE
    else:
        close_turn(s)


@kernel
def acquire(s, place):
    """Take the first merchant at once, or begin to pay for another one (A1)."""
    if place == 0:
        take_merchant(s, place)
    else:
        s["phase"] = PHASE_PAY
        s["place"] = place


@kernel
def pay(s, colour):
    """Put a cube on the next merchant to the left of the one paid for, and take that one after the last (A1, A2)."""
    s["cubes"][s["seat"]] -= cube(colour)
    s["row_cubes"][s["paid"]] += cube(colour)
    s["paid"] += 1
    if s["paid"] == s["place"]:
        take_merchant(s, np.int64(s["place"]))


@kernel
def take_merchant(s, place):
    """Take a merchant into the hand and its cubes into the caravan (A3)."""
    seat = np.int64(s["seat"])
    s["hand"][seat] |= bit(np.int64(s["merchants"][place]))
    s["cubes"][seat] += s["row_cubes"][place]
    remove_merchant(s, place)
    close_turn(s)


@kernel
def remove_merchant(s, place):
    """Take a merchant out of the row; those to its right slide left with their cubes (A4)."""
    for k in range(place, ROW - 1):
        s["merchants"][k] = s["merchants"][k + 1]
        s["row_cubes"][k] = s["row_cubes"][k + 1]
    s["merchants"][ROW - 1] = NO_CARD
    s["row_cubes"][ROW - 1] = NONE
    s["row_size"] -= 1


@kernel
def rest(s):
    """Take all played cards back into the hand (R1, R2)."""
    seat = np.int64(s["seat"])
    s["hand"][seat] |= s["played"][seat]
    s["played"][seat] = NONE
    close_turn(s)


@kernel
def claim(s, place):
    """Claim the point card at a place, with the coin that lies there (C1 to C4, O3, O8)."""
    seat = np.int64(s["seat"])
    take_coin(s, seat, place)
    take_point_card(s, seat, place)
    if pyramid_is_taken(s):
        finish(s)
    else:
        go_on(s)


@kernel
def take_coin(s, seat, place):
    """Give the seat the coin at a place, if there is one: gold lies at place 1, silver at 2 or, without gold, at 1."""
    if place == 0 and s["gold_left"] > 0:
        s["gold_left"] -= 1
        s["gold"][seat] += 1
    elif s["silver_left"] > 0 and place == (1 if s["gold_left"] > 0 else 0):
        s["silver_left"] -= 1
        s["silver"][seat] += 1


@kernel
def take_point_card(s, owner, place):
    """Pay for a point card and take it; in the row those to its right slide left (C1, C4, O3)."""
    card = np.int64(s["points"][place])
    s["cubes"][owner] -= COST[card]
    s["taken"][owner] |= bit(card)
    s["card_points"][owner] += POINTS[card]
    s["face_up"] &= ~bit(card)
    if s["players"] > 1:
        for k in range(place, POINT_ROW - 1):
            s["points"][k] = s["points"][k + 1]
        s["points"][POINT_ROW - 1] = NO_CARD
    else:
        s["points"][place] = NO_CARD


@kernel
def pyramid_is_taken(s):
    """Return whether the last point card of the solo game was taken (O8)."""
    return s["players"] == 1 and s["face_up"] == NONE and next_point_place(s) < 0


@kernel
def give_back(s, colour):
    """Return a cube too many to the supply (T3)."""
    s["cubes"][s["seat"]] -= cube(colour)
    close_turn(s)


# --- from turn to turn -----------------------------------------------------------------------------------------------


@kernel
def go_on(s):
    """Let chance turn up the point cards that are due (C4, O2); then close the turn."""
    if point_card_is_due(s):
        s["phase"] = PHASE_POINT
    else:
        close_turn(s)


@kernel
def close_turn(s):
    """Refill the row of merchants (A4), have cubes too many returned (T3), and end the turn.

    The automa's turn, and the set-up, end the round.
    """
    forget_pending(s)
    if merchant_is_due(s):
        s["phase"] = PHASE_MERCHANT
    elif s["seat"] == NOBODY:
        end_round(s)
    elif total(s["cubes"][s["seat"]]) > CARAVAN:
        s["phase"] = PHASE_RETURN
    else:
        end_turn(s)


@kernel
def end_turn(s):
    """Pass the turn on to the next seat (S5), to the automa (O6), or to the next round (E1)."""
    if s["players"] == 1:
        play_automa(s)
    elif s["seat"] + 1 < s["players"]:
        s["seat"] += 1
        s["phase"] = PHASE_TURN
    elif most_taken(s) >= LAST_CARDS[s["players"]]:
        finish(s)
    else:
        end_round(s)


@kernel
def end_round(s):
    """Begin the next round, or cut the game off at its turn limit (E4, O12)."""
    if s["turn_limit"] > 0 and s["round"] >= s["turn_limit"]:
        s["truncated"] = 1
        finish(s)
    else:
        s["round"] += 1
        s["seat"] = 0
        s["phase"] = PHASE_TURN


# --- the automa ------------------------------------------------------------------------------------------------------


@kernel
def play_automa(s):
    """Let the automa claim a point card if it can (U1 to U3); otherwise its die is to be rolled (U4)."""
    s["seat"] = NOBODY
    place = automa_goal(s)
    if place < 0:
        s["phase"] = PHASE_ROLL
        return
    take_point_card(s, np.int64(AUTOMA), place)
    if pyramid_is_taken(s):
        finish(s)
    elif point_card_is_due(s):
        s["phase"] = PHASE_POINT
    else:
        end_round(s)


@kernel
def automa_goal(s):
    """Return the place of the point card that the automa claims (U1, U2), or -1."""
    payable = claimable(s["cubes"][AUTOMA]) & s["face_up"]
    if payable == NONE:
        return np.int64(-1)
    wanted = highest_value(s["face_up"] if s["automa_claims"] == CLAIM_TOP_ONLY else payable)
    places = places_of(s, payable)
    while places != NONE:
        place = lowest(places)
        if POINTS[s["points"][place]] == wanted:
            return place
        places &= places - ONE
    return np.int64(-1)


@kernel
def highest_value(cards):
    """Return the points of the best card of a set."""
    best = np.int64(0)
    rest = cards
    while rest != NONE:
        best = max(best, POINTS[lowest(rest)])
        rest &= rest - ONE
    return best


@kernel
def use_roll(s, place):
    """Let the automa use the merchant at a place, from 0 (U5 to U13)."""
    if place >= s["row_size"]:
        return
    lying = total(s["row_cubes"][place])
    if lying >= 2:
        automa_gains(s, s["row_cubes"][place])
        s["automa_coins"] += 1
        remove_merchant(s, place)
        return
    use_merchant(s, np.int64(s["merchants"][place]), lying)
    put_lowest_cube(s, place)
    if place == 0:
        refresh_row(s)


@kernel
def use_merchant(s, card, lying):
    """Let the automa trade with or gain from a merchant with no cubes on it, or one (U5 to U8, U12)."""
    if KIND[card] == KIND_TRADE:
        if covers(s["cubes"][AUTOMA], PAY[card]):
            automa_gains(s, GAIN[card] - PAY[card])
        elif lying == 0:
            automa_gains(s, PAY[card])
    elif KIND[card] == KIND_PRODUCE and lying == 0 and s["automa_produces"]:
        automa_gains(s, GAIN[card])


@kernel
def automa_gains(s, cubes):
    """Give the automa cubes (U14); what would be its cube number 32,768 of a colour is left out with the rest."""
    after = s["cubes"][AUTOMA] + cubes
    if after & EACH_LIMIT == NONE:
        s["cubes"][AUTOMA] = after


@kernel
def put_lowest_cube(s, place):
    """Put the automa's lowest cube, if it has any, on a merchant (U9)."""
    for colour in range(COLOUR_COUNT):
        if number_of(s["cubes"][AUTOMA], colour) > 0:
            s["cubes"][AUTOMA] -= cube(colour)
            s["row_cubes"][place] += cube(colour)
            return


@kernel
def refresh_row(s):
    """Discard the first merchant, or the whole row, after a roll of 1 (U11)."""
    if s["roll_one_refresh"] == REFRESH_LEFTMOST:
        remove_merchant(s, np.int64(0))
    elif s["roll_one_refresh"] == REFRESH_ROW:
        while s["row_size"] > 0:
            remove_merchant(s, np.int64(s["row_size"]) - 1)


# --- the end ---------------------------------------------------------------------------------------------------------


@kernel
def most_taken(s):
    """Return the point cards of the seat with the most of them, or in the solo game of both sides together."""
    most = np.int64(0)
    for seat in range(np.int64(s["players"])):
        most = max(most, popcount(s["taken"][seat]))
    return most + popcount(s["taken"][AUTOMA])


@kernel
def points(s, seat):
    """Return a seat's points if the game ended now (E2, O9)."""
    coins = GOLD_POINTS * np.int64(s["gold"][seat]) + np.int64(s["silver"][seat])
    return np.int64(s["card_points"][seat]) + coins + total(s["cubes"][seat] & HIGHER_COLOURS)


@kernel
def automa_points(s):
    """Return the automa's points if the game ended now (O10)."""
    sum_of_all = np.int64(s["card_points"][AUTOMA])
    sum_of_all += np.int64(s["automa_coins"]) * (EXPERT_COIN_POINTS if s["expert"] else 1)
    for colour in range(COLOUR_COUNT):
        sum_of_all += AUTOMA_CUBE_VALUES[colour] * number_of(s["cubes"][AUTOMA], colour)
    return sum_of_all


@kernel
def finish(s):
    """End the game: score it, the later seat winning ties (E3)."""
    s["phase"] = PHASE_OVER
    for seat in range(np.int64(s["players"])):
        s["standing"][seat] = points(s, seat) * STANDING_STEP + seat


@kernel
def truncated(S, i):
    """Return whether the turn limit ended the game (E4, O12)."""
    return S[i]["truncated"] != 0


@kernel
def score(S, i, out):
    """Write each seat's points if the game ended now, float64 (players,)."""
    s = S[i]
    for seat in range(np.int64(s["players"])):
        out[seat] = points(s, seat)


@kernel
def returns(S, i, out):
    """Write the terminal returns, float64 (players,); alone, a win is 1 and anything else -1 (O11, O12)."""
    s = S[i]
    score(S, i, out)
    if s["players"] > 1:
        write_returns(s["return_mode"], np.int64(s["players"]), s["standing"], out)
        return
    lead = out[0] - automa_points(s)
    if s["return_mode"] == RETURN_MARGIN:
        out[0] = lead
    else:
        out[0] = 1.0 if lead > 0 and not s["truncated"] else -1.0


# --- what a seat sees ------------------------------------------------------------------------------------------------


@kernel
def seat_after(s, seat, places):
    """Return the seat that many places after `seat`, fewer than all, in turn order (S5)."""
    later = seat + places
    return later - s["players"] if later >= s["players"] else later


@kernel
def observe(S, i, seat, out):
    """Write the observation of a seat, uint8 of shape (layout.size,), seats relative to it; see layout.observation."""
    s = S[i]
    out[:] = 0
    players = np.int64(s["players"])
    purse = s["cubes"][seat]
    for k in range(players):
        owner = seat_after(s, seat, k)
        _write_set(s["hand"][owner], out, k * CARD_NUMBERS)
        _write_set(s["played"][owner], out, (players + k) * CARD_NUMBERS)
    at = 2 * players * CARD_NUMBERS
    for k in range(players):
        at = _observe_seat(s, seat_after(s, seat, k), out, at)
    _write_set(s["hand"][seat] & playable(purse), out, at)
    at = _observe_stock(purse, out, at + CARD_NUMBERS)
    at = _observe_row(s, purse, out, at)
    at = _observe_points(s, purse, out, at)
    at = _observe_automa(s, out, at) if players == 1 else _observe_coins(s, out, at)
    _write_set(s["merchant_deck"], out, at)
    _write_set(s["point_deck"], out, at + MERCHANTS)
    at = _observe_pending(s, out, at + MERCHANTS + POINT_CARDS)
    _observe_clock(s, out, at)


@kernel
def _observe_cubes(purse, out, at):
    for colour in range(COLOUR_COUNT):
        out[at + colour] = min(number_of(purse, colour), MOST_SHOWN)


@kernel
def _observe_seat(s, seat, out, at):
    out[at] = seat == s["seat"]
    _observe_cubes(s["cubes"][seat], out, at + 1)
    out[at + COLOUR_COUNT + 1] = s["gold"][seat]
    out[at + COLOUR_COUNT + 2] = s["silver"][seat]
    out[at + COLOUR_COUNT + 3] = popcount(s["taken"][seat])
    out[at + COLOUR_COUNT + 4] = min(points(s, seat), MOST_SHOWN)
    return at + SEAT_VALUES


@kernel
def _observe_stock(purse, out, at):
    for colour in range(COLOUR_COUNT):
        for k in range(THRESHOLDS):
            out[at + k] = number_of(purse, colour) > k
        at += THRESHOLDS
    return at


@kernel
def _observe_row(s, purse, out, at):
    reach = total(purse)
    for place in range(np.int64(s["row_size"])):
        start = at + place * ROW_VALUES
        card = np.int64(s["merchants"][place])
        out[start + card] = 1
        _observe_face(card, out, start + MERCHANTS)
        _observe_cubes(s["row_cubes"][place], out, start + MERCHANTS + FACE_VALUES)
        out[start + ROW_VALUES - 1] = place <= reach
    return at + ROW * ROW_VALUES


@kernel
def _observe_face(card, out, at):
    for k in range(FACE_VALUES):
        out[at + k] = FACES[card, k]


@kernel
def _observe_points(s, purse, out, at):
    for place in range(np.int64(s["point_places"])):
        card = np.int64(s["points"][place])
        if card < FACE_DOWN:
            _observe_point_card(card, purse, out, at)
        elif card == FACE_DOWN:
            out[at + 1] = 1
        at += PLACE_VALUES
    return at


@kernel
def _observe_point_card(card, purse, out, at):
    out[at] = 1
    out[at + 2 + COLOUR_COUNT] = POINTS[card]
    for colour in range(COLOUR_COUNT):
        cost = np.int64(COSTS[card, colour])
        out[at + 2 + colour] = cost
        out[at + 3 + COLOUR_COUNT + colour] = max(cost - number_of(purse, colour), 0)
    out[at + PLACE_VALUES - 1] = covers(purse, COST[card])


@kernel
def _observe_coins(s, out, at):
    gold, silver = s["gold_left"] > 0, s["silver_left"] > 0
    out[at] = s["gold_left"]
    out[at + 1] = s["silver_left"]
    out[at + 2] = GOLD_POINTS if gold else silver
    out[at + 3] = gold and silver
    return at + COIN_VALUES


@kernel
def _observe_automa(s, out, at):
    _observe_cubes(s["cubes"][AUTOMA], out, at)
    out[at + COLOUR_COUNT] = min(s["automa_coins"], MOST_SHOWN)
    out[at + COLOUR_COUNT + 1] = popcount(s["taken"][AUTOMA])
    out[at + COLOUR_COUNT + 2] = min(automa_points(s), MOST_SHOWN)
    _write_set(places_of(s, claimable(s["cubes"][AUTOMA])), out, at + AUTOMA_VALUES)
    return at + AUTOMA_VALUES + PYRAMID


@kernel
def _observe_pending(s, out, at):
    """Write the pieces "phase" and "pending"."""
    phase = s["phase"]
    if PHASE_TURN <= phase < PHASE_OVER:
        out[at + phase - PHASE_TURN] = 1
    at += DECISIONS
    if phase == PHASE_TRADE:
        _observe_face(np.int64(s["pending_card"]), out, at)
    elif phase == PHASE_UPGRADE:
        out[at + FACE_VALUES - 1] = s["steps"]
    elif phase == PHASE_PAY:
        out[at + FACE_VALUES + s["place"]] = 1
        out[at + FACE_VALUES + ROW] = s["place"] - s["paid"]
    elif phase == PHASE_RETURN:
        out[at + FACE_VALUES + ROW + 1] = min(total(s["cubes"][s["seat"]]) - CARAVAN, MOST_SHOWN)
    return at + PENDING_VALUES


@kernel
def _observe_clock(s, out, at):
    most = most_taken(s)
    if s["turn_limit"] > 0:
        begun = np.uint64(min(np.int64(s["round"]), np.int64(s["turn_limit"])))
        out[at] = begun * np.uint64(CLOCK_STEPS) // np.uint64(s["turn_limit"])
    out[at + 1] = most
    out[at + 2] = most >= LAST_CARDS[s["players"]]
