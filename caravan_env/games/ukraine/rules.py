"""The kernels of the game, in the order in which it is played. Clauses refer to RULES.md.

What tiles join to and what features pay is in features.py, the chips in chips.py, what a seat sees in view.py.
"""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import ONE, bit, lowest, nth_set, popcount
from caravan_env.core.contract import CHANCE, TERMINAL
from caravan_env.core.kernel import kernel
from caravan_env.core.outcome import write_returns
from caravan_env.core.rng import below
from caravan_env.games.ukraine.chips import (
    add_chip,
    add_options,
    cash,
    chips_due,
    draw_chip,
    in_supply,
    pay_trade,
    trade_options,
)
from caravan_env.games.ukraine.features import (
    NODE_STARTS,
    NONE,
    final_points,
    forget_events,
    lay,
    node_at,
    put_figure,
    root_of,
    score_completed,
    strength_in,
)
from caravan_env.games.ukraine.layout import (
    ACTIONS,
    ADD_BIT,
    BUILDER,
    BUILDER_BIT,
    CHIP_KINDS,
    DONE_BIT,
    EMPTY,
    FIELD,
    FIELD_START,
    FIGURE_KINDS,
    FIGURE_START,
    FIT,
    FREE_CHUMAK,
    GOODS_KINDS,
    LARGE_BIT,
    LARGE_MEEPLE,
    LATE_WORD,
    LINKED_KINDS,
    MEEPLE,
    MONASTERY,
    MOST_EVENTS,
    MOST_TILES,
    NO_FIGURE,
    NO_FIGURE_BIT,
    NO_SQUARE,
    NO_TILE,
    NOBODY,
    NODES,
    OPTION_WORDS,
    PHASE_CHIP,
    PHASE_FIGURE,
    PHASE_LAY,
    PHASE_OVER,
    PHASE_PLACE,
    PHASE_SECOND,
    PHASE_START,
    PHASE_TILE,
    PHASE_TRADE,
    PIG,
    PLACES,
    SEGMENT_KIND,
    SEGMENTS,
    SQUARE_WORDS,
    SQUARES_A_WORD,
    START_NUMBER,
    STRENGTHS,
    SUPPLY,
    TILE_KINDS,
    TRADE_BIT,
)
from caravan_env.games.ukraine.params import SEATS
from caravan_env.games.ukraine.tables import MAX_CHUMAK, MAX_CITIES, MAX_SEGMENTS
from caravan_env.games.ukraine.view import observe

__all__ = ["observe"]

ALL_STRENGTHS = np.uint64(STRENGTHS)
ACTION_COUNT = ACTIONS.size

# --- set-up ----------------------------------------------------------------------------------------------------------


@kernel
def init(S, i):
    """Lay out the game before any chance (S1 to S4, S8)."""
    s = S[i]
    s["phase"] = PHASE_START
    s["seat"] = NOBODY
    s["extra"] = 0
    s["again"] = 0
    s["tile"] = START_NUMBER
    s["draws"] = 0
    s["trade_square"] = NO_SQUARE
    s["bag_size"] = 0
    for tile in range(TILE_KINDS):
        s["bag"][tile] = s["copies"][tile] - (tile == START_NUMBER)
        s["out"][tile] = 0
        s["bag_size"] += s["bag"][tile]
    clear_options(s)
    forget_all_events(s)
    _init_squares(s)
    _init_tiles(s)
    _init_features(s)
    _init_chips(s)
    for seat in range(SEATS):
        _init_seat(s, seat)


@kernel
def _init_squares(s):
    for square in range(PLACES):
        if s["at"][square] < FREE_CHUMAK:
            s["at"][square] = EMPTY
        s["need"][square] = s["printed"][square]
    for number in range(np.int64(s["chumaks"])):
        s["at"][s["chumak_square"][number]] = FREE_CHUMAK + number
    for word in range(SQUARE_WORDS):
        s["frontier"][word] = NONE


@kernel
def _init_tiles(s):
    s["laid"] = 0
    for order in range(MOST_TILES):
        s["laid_square"][order] = 0
        s["laid_tile"][order] = 0
        s["laid_turned"][order] = 0
        s["figure"][order] = NO_FIGURE
        s["figure_seat"][order] = 0
        for kind in range(LINKED_KINDS):
            s["first_node"][order, kind] = 0
    for word in range(2):
        s["occupied"][word] = NONE


@kernel
def _init_features(s):
    s["monks"] = 0
    s["connected"] = 0
    s["doubles_laid"] = 0
    for node in range(NODES):
        s["parent"][node] = node
        s["stuff"][node] = NONE
    for node in range(FIELD_START):
        s["doubles"][node] = NONE
        s["open"][node] = 0
        s["size"][node] = 0
    for kind in range(LINKED_KINDS):
        s["used"][kind] = NODE_STARTS[kind]
    for city in range(MAX_CITIES):
        s["open"][city] = s["city_open"][city]
        s["stuff"][city] = bit(LARGE_BIT + city) if s["city_size"][city] > 0 else NONE


@kernel
def _init_chips(s):
    for kind in range(CHIP_KINDS):
        s["supply"][kind] = SUPPLY[kind] if s["chips"] else 0
        s["added"][kind] = 0
    for number in range(MAX_CHUMAK):
        s["lying_size"][number] = 0
        for kind in range(CHIP_KINDS):
            s["lying"][number, kind] = 0


@kernel
def _init_seat(s, seat):
    s["points"][seat] = 0
    s["standing"][seat] = 0.0
    s["hand_size"][seat] = 0
    for kind in range(FIGURE_KINDS):
        s["home"][seat, kind] = s["figures"][kind] if seat < s["players"] else 0
    for kind in range(CHIP_KINDS):
        s["hand"][seat, kind] = 0
    for kind in range(GOODS_KINDS):
        s["goods"][seat, kind] = 0


@kernel
def forget_all_events(s):
    """Clear the places of events, whatever is in them."""
    s["events"] = MOST_EVENTS
    forget_events(s)


@kernel
def to_move(S, i):
    """Return the seat to move, CHANCE or TERMINAL."""
    phase = S[i]["phase"]
    if phase < PHASE_PLACE:
        return np.int64(CHANCE)
    return np.int64(TERMINAL) if phase == PHASE_OVER else np.int64(S[i]["seat"])


# --- chance ----------------------------------------------------------------------------------------------------------


@kernel
def chance(S, i, weights):
    """Write the weights of where a set-up tile lies (S4), of the next tile (G1), or of a chip (H1)."""
    s = S[i]
    phase = s["phase"]
    if phase == PHASE_CHIP:
        for kind in range(CHIP_KINDS):
            weights[kind] = s["supply"][kind]
        return np.int64(CHIP_KINDS)
    if phase in (PHASE_START, PHASE_LAY):
        for number in range(np.int64(s["starts"])):
            fit = start_rotations(s, number)
            for turned in range(4):
                weights[4 * number + turned] = (fit >> turned) & 1
        return 4 * np.int64(s["starts"])
    for tile in range(TILE_KINDS):
        weights[tile] = s["bag"][tile]
    return np.int64(TILE_KINDS)


@kernel
def start_rotations(s, number):
    """Return the set of the rotations with which the tile in hand fits a start square (S4)."""
    square = np.int64(s["start_square"][number])
    return np.int64(FIT[s["tile"], s["need"][square]]) if s["at"][square] >= FREE_CHUMAK else np.int64(0)


@kernel
def fits_a_start(s):
    """Return whether the tile in hand fits some start square (S5)."""
    rotations = np.int64(0)
    for number in range(np.int64(s["starts"])):
        rotations |= start_rotations(s, number)
    return rotations > 0


@kernel
def resolve(S, i, outcome):
    """Apply a chance outcome and go on."""
    s = S[i]
    phase = s["phase"]
    if phase == PHASE_CHIP:
        draw_chip(s, outcome)
        if s["draws"] == 0:
            begin_figures(s)
    elif phase in (PHASE_START, PHASE_LAY):
        tile = np.int64(s["tile"])
        s["tile"] = NO_TILE
        lay(s, np.int64(s["start_square"][outcome // 4]), tile, outcome % 4)
        if phase == PHASE_START and s["starts"] > 1:
            ask_for_tile(s, np.int64(PHASE_SECOND))
        else:
            begin_first_turn(s)
    else:
        draw_tile(s, outcome)


@kernel
def draw_tile(s, tile):
    """Take a tile in hand, or out of the game if it fits nowhere (G3, S5)."""
    phase = np.int64(s["phase"])
    s["bag"][tile] -= 1
    s["bag_size"] -= 1
    s["tile"] = tile
    if phase == PHASE_SECOND and fits_a_start(s):
        s["phase"] = PHASE_LAY
    elif phase == PHASE_TILE and find_places(s):
        s["phase"] = PHASE_PLACE
    else:
        s["tile"] = NO_TILE
        s["out"][tile] += 1
        ask_for_tile(s, phase)


@kernel
def ask_for_tile(s, phase):
    """Have a tile drawn, or end the game if none is left or no square is eligible (E1)."""
    if no_tile_can_come(s):
        finish(s)
    else:
        s["phase"] = phase


@kernel
def no_tile_can_come(s):
    """Return whether the game is over when the next tile is to be drawn (E1)."""
    eligible = NONE
    for word in range(SQUARE_WORDS):
        eligible |= s["frontier"][word]
    return s["bag_size"] == 0 or eligible == NONE


@kernel
def begin_first_turn(s):
    """End the set-up (S7)."""
    if no_tile_can_come(s):
        finish(s)
    else:
        s["seat"] = 0
        s["phase"] = PHASE_TILE


@kernel
def resample(S, i, seat, R, r):
    """Redraw the chips of the other seats from what the seat cannot see: those chips and the supply (H3)."""
    s = S[i]
    for other in range(np.int64(s["players"])):
        if other != seat:
            for kind in range(CHIP_KINDS):
                s["supply"][kind] += s["hand"][other, kind]
                s["hand"][other, kind] = 0
    for other in range(np.int64(s["players"])):
        if other != seat:
            for _ in range(np.int64(s["hand_size"][other])):
                kind = any_chip(s, R, r)
                s["supply"][kind] -= 1
                s["hand"][other, kind] += 1


@kernel
def any_chip(s, R, r):
    """Return the kind of a chip drawn from the supply with stream R[r]."""
    ticket = below(R, r, in_supply(s))
    for kind in range(CHIP_KINDS - 1):
        ticket -= s["supply"][kind]
        if ticket < 0:
            return np.int64(kind)
    return np.int64(CHIP_KINDS - 1)


# --- what is legal ---------------------------------------------------------------------------------------------------


@kernel
def clear_options(s):
    """Note that no action is legal."""
    for word in range(OPTION_WORDS):
        s["options"][word] = NONE
    s["choices"] = 0


@kernel
def find_places(s):
    """Note where the tile in hand may be laid (G1, G2); return whether it fits anywhere."""
    tile = np.int64(s["tile"])
    choices = np.int64(0)
    for word in range(SQUARE_WORDS):
        rest = s["frontier"][word]
        while rest != NONE:
            square = 64 * word + lowest(rest)
            rest &= rest - ONE
            fit = np.uint64(FIT[tile, s["need"][square]])
            s["options"][square // SQUARES_A_WORD] |= fit << np.uint64(4 * (square % SQUARES_A_WORD))
            choices += popcount(fit)
    s["choices"] = choices
    return choices > 0


@kernel
def figure_options(s):
    """Return the figures that the seat to move may put on the tile just laid, as bits of the options (F1 to F6)."""
    order = np.int64(s["laid"]) - 1
    tile, seat, options = np.int64(s["laid_tile"][order]), np.int64(s["seat"]), NONE
    for segment in range(np.int64(SEGMENTS[tile])):
        kind = SEGMENT_KIND[tile, segment]
        if kind == MONASTERY:
            options |= meeple_options(s, seat, segment)
            continue
        root = root_of(s, node_at(s, order, segment))
        stuff = s["stuff"][root]
        if stuff & ALL_STRENGTHS == NONE:
            options |= meeple_options(s, seat, segment)
        elif strength_in(stuff, seat) > 0:
            if kind == FIELD:
                options |= option(s, seat, np.int64(PIG), segment)
            elif s["open"][root] > 0:
                options |= option(s, seat, np.int64(BUILDER), segment)
    return options


@kernel
def option(s, seat, kind, segment):
    """Return a figure on a segment as a bit of the options, nothing if the seat has none at home."""
    return bit(kind * MAX_SEGMENTS + segment) if s["home"][seat, kind] > 0 else NONE


@kernel
def meeple_options(s, seat, segment):
    """Return the meeples that a seat may put on a segment of a feature without figures (F2)."""
    return option(s, seat, np.int64(MEEPLE), segment) | option(s, seat, np.int64(LARGE_MEEPLE), segment)


@kernel
def legal(S, i, mask):
    """Write the action mask, uint8 of shape (actions,), and return the number of legal actions."""
    s = S[i]
    mask[:] = 0
    for word in range(OPTION_WORDS):
        rest = s["options"][word]
        while rest != NONE:
            mask[64 * word + lowest(rest)] = 1
            rest &= rest - ONE
    return np.int64(s["choices"])


@kernel
def is_legal(S, i, action):
    """Return whether an action, any integer, is legal now."""
    if action < 0 or action >= ACTION_COUNT:
        return False
    return S[i]["options"][action >> 6] & bit(action & 63) != NONE


@kernel
def pick(S, i, ticket):
    """Return legal action number (ticket * count) >> 32 in mask order; ticket is a uint64 below 2**32."""
    s = S[i]
    k = np.int64((ticket * np.uint64(s["choices"])) >> np.uint64(32))
    if s["phase"] != PHASE_PLACE:
        return FIGURE_START + nth_set(s["options"][LATE_WORD], k)
    word = np.int64(0)
    here = popcount(s["options"][word])
    while k >= here:
        k -= here
        word += 1
        here = popcount(s["options"][word])
    return 64 * word + nth_set(s["options"][word], k)


# --- playing an action -----------------------------------------------------------------------------------------------


@kernel
def step(S, i, action):
    """Play a legal action of the seat to move."""
    s = S[i]
    forget_events(s)
    if action < FIGURE_START:
        place(s, action // 4, action % 4)
        return
    late = action - FIGURE_START
    if late < NO_FIGURE_BIT:
        put_figure(s, np.int64(s["laid"]) - 1, np.int64(s["seat"]), late // MAX_SEGMENTS, late % MAX_SEGMENTS)
        end_part_turn(s)
    elif late == NO_FIGURE_BIT:
        end_part_turn(s)
    elif late < ADD_BIT:
        s["trade_square"] = late - TRADE_BIT
        go_on_trading(s)
    elif late < DONE_BIT:
        add_chip(s, late - ADD_BIT)
        go_on_trading(s)
    else:
        end_trade(s)


@kernel
def place(s, square, turned):
    """Lay the tile in hand; note a builder's part-turn (B1, B2, B4); chips pay (H2) and are drawn (H1)."""
    tile, seat, before = np.int64(s["tile"]), np.int64(s["seat"]), np.int64(s["at"][square])
    s["tile"] = NO_TILE
    clear_options(s)
    met = lay(s, square, tile, turned)
    if not s["extra"] and met & bit(BUILDER_BIT + seat) != NONE:
        s["again"] = 1
    if before < EMPTY:
        cash(s, square, before - FREE_CHUMAK)
    if s["chips"]:
        s["draws"] = chips_due(s, square)
    if s["draws"] > 0:
        s["phase"] = PHASE_CHIP
    else:
        begin_figures(s)


@kernel
def set_late_options(s, phase, options):
    """Begin a phase in which the actions are those of the last word of the options."""
    s["phase"] = phase
    s["options"][LATE_WORD] = options
    s["choices"] = popcount(options)


@kernel
def begin_figures(s):
    """Ask for a figure or a trade, if the seat can put any or begin one; otherwise go on (G4)."""
    options = figure_options(s) | trade_options(s)
    if options == NONE:
        end_part_turn(s)
    else:
        set_late_options(s, np.int64(PHASE_FIGURE), options | bit(NO_FIGURE_BIT))


@kernel
def go_on_trading(s):
    """Ask for the next chip of a trade, or end it if none can follow (H4)."""
    options = add_options(s)
    if options == NONE:
        end_trade(s)
    else:
        set_late_options(s, np.int64(PHASE_TRADE), options)


@kernel
def end_trade(s):
    """Pay a trade and end the part-turn (H4)."""
    pay_trade(s)
    end_part_turn(s)


@kernel
def end_part_turn(s):
    """Score what is completed (G4); then the builder's part-turn (B1) or the next seat (S7) begins."""
    score_completed(s)
    s["options"][LATE_WORD] = NONE
    s["choices"] = 0
    s["extra"] = s["again"]
    s["again"] = 0
    if no_tile_can_come(s):
        finish(s)
        return
    s["phase"] = PHASE_TILE
    if not s["extra"]:
        s["seat"] = (s["seat"] + 1) % s["players"]


# --- the end ---------------------------------------------------------------------------------------------------------


@kernel
def finish(s):
    """End the game and add up what everybody has (E2 to E5)."""
    s["phase"] = PHASE_OVER
    s["extra"] = 0
    final_points(s, s["standing"])


@kernel
def truncated(S, i):
    """Return False: a game ends with its tiles."""
    return False


@kernel
def score(S, i, out):
    """Write each seat's points if the game ended now, float64 (players,)."""
    final_points(S[i], out)


@kernel
def returns(S, i, out):
    """Write the terminal returns, float64 (players,)."""
    s = S[i]
    for seat in range(np.int64(s["players"])):
        out[seat] = s["standing"][seat]
    write_returns(s["return_mode"], np.int64(s["players"]), s["standing"], out)
