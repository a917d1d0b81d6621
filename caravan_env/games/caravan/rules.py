"""The rules of Caravan as kernels, in the order in which a game is played. Clause numbers refer to RULES.md."""

from __future__ import annotations

import numpy as np

from caravan_env.core.bits import ONE, bit, lowest, nth_set, popcount
from caravan_env.core.contract import CHANCE, TERMINAL
from caravan_env.core.kernel import helper, kernel
from caravan_env.core.outcome import write_returns
from caravan_env.games.caravan.layout import (
    CAMEL_START,
    CELL_SHIFT,
    CLOCK_STEPS,
    END_ACTION,
    KIND_MASK,
    KIND_SHIFT,
    KINDS,
    MOVE_START,
    MOVE_TARGETS,
    NO_CAMEL,
    NO_KIND,
    OFF_BOARD,
    PHASE_FILL,
    PHASE_OVER,
    PHASE_PLAY,
    PHASE_START,
    PICK_START,
    RAINBOW_START,
    RAINBOW_TARGET,
    REFILL_AT,
    SCORE_OFFSET,
    SEAT_VALUES,
    SEATS,
    SLOT_VALUES,
    SLOTS,
    START_UNKNOWN,
    STEAL_START,
    TURN_ACTIONS,
    UNDER_BIT,
)
from caravan_env.games.caravan.tables import (
    CARRYING_PENALTY,
    CELLS,
    FULL_SUPPLY,
    OUTER_SPACES,
    SHORT_SUPPLY,
    SIZE,
    SPACES,
    VALUE,
)


def _cells(*, rows: range = range(SIZE), columns: range = range(SIZE)) -> np.uint64:
    return np.uint64(sum(1 << (row * SIZE + column) for row in rows for column in columns))


NONE = np.uint64(0)
GRID = _cells()
INNER = _cells(rows=range(1, SIZE - 1), columns=range(1, SIZE - 1))
NOT_FIRST_COLUMN = _cells(columns=range(1, SIZE))
NOT_LAST_COLUMN = _cells(columns=range(SIZE - 1))
# Place of the n-th one of a set of slots: [set, n], 0 where there is none.
NTH_SLOT = np.zeros((1 << SLOTS, SLOTS), np.uint8)
for _slots in range(1 << SLOTS):
    _ones = [slot for slot in range(SLOTS) if _slots >> slot & 1]
    NTH_SLOT[_slots, : len(_ones)] = _ones
LOW_BYTE = np.uint64(255)
BITS_OF = np.array([[byte >> k & 1 for k in range(8)] for byte in range(256)], np.uint8)
VALUES = np.array(VALUE, np.int64)
PENALTIES = np.array(CARRYING_PENALTY, np.int64)
CELL_BITS = np.uint64(CELL_SHIFT)
LOAD_BITS = np.uint64(KIND_MASK << KIND_SHIFT)
UNDER = np.uint64(UNDER_BIT)
LAST_BIT = np.uint64(63)
NO_CODE = np.uint64(NO_CAMEL)
ONE_LEFT = np.uint64(1)
ONE_ROW = np.uint64(SIZE)
MAX_TURN = 65_535
STANDING_STEP = 64  # more than the goods that anybody can deliver, for the tie-break of E4


# --- set-up and chance -----------------------------------------------------------------------------------------------


@kernel
def init(S, i):
    """Lay out the game before any chance (S1, S2, S4, X1)."""
    s = S[i]
    s["turn"] = 0
    s["actions_left"] = 0
    s["truncated"] = 0
    s["rainbow_cell"] = OFF_BOARD
    s["free_at"] = NONE
    s["seat"] = s["starting_seat"]
    s["phase"] = PHASE_START if s["starting_seat"] == START_UNKNOWN else PHASE_FILL
    for kind in range(KINDS):
        s["bag"][kind] = SHORT_SUPPLY[kind] if s["short_goods"] else FULL_SUPPLY[kind]
    for space in range(SPACES):
        s["free"][space] = 0
        s["space_markers"][space] = 0
    for space in OUTER_SPACES:
        s["space_markers"][space] = 1
    for seat in range(SEATS):
        _init_seat(s, seat)


@helper
def _init_seat(s, seat):
    playing = seat < s["players"]
    s["theft"][seat] = 1 if playing else 0
    s["markers"][seat] = 0
    s["standing"][seat] = 0
    s["on_board"][seat] = NONE
    s["empty_at"][seat] = NONE
    s["top_at"][seat] = NONE
    s["empty_slots"][seat] = 1 if playing else 0
    s["empties"][seat] = s["camels"] if playing else 0
    for kind in range(KINDS):
        s["delivered"][seat, kind] = 0
    for slot in range(SLOTS):
        s["camel"][seat, slot] = OFF_BOARD << CELL_SHIFT if playing and slot < s["camels"] else NO_CAMEL


@kernel
def to_move(S, i):
    """Return the seat to move, CHANCE or TERMINAL."""
    phase = S[i]["phase"]
    if phase == PHASE_PLAY:
        return np.int64(S[i]["seat"])
    return np.int64(TERMINAL) if phase == PHASE_OVER else np.int64(CHANCE)


@helper
def seat_after(s, seat, places):
    """Return the seat that many places after `seat`, fewer than all, in turn order (S5)."""
    later = seat + places
    return later - s["players"] if later >= s["players"] else later


@kernel
def chance(S, i, weights):
    """Write the weights of the starting seats (S5), or of the kinds for the next empty space (S3, R3)."""
    s = S[i]
    if s["phase"] == PHASE_START:
        for seat in range(s["players"]):
            weights[seat] = 1
        return np.int64(s["players"])
    for kind in range(KINDS):
        weights[kind] = s["bag"][kind]
    return np.int64(KINDS)


@kernel
def resolve(S, i, outcome):
    """Apply a starting seat, or put a good of kind `outcome` on the next empty space."""
    s = S[i]
    if s["phase"] == PHASE_START:
        s["seat"] = outcome
        s["phase"] = PHASE_FILL
        return
    s["bag"][outcome] -= 1
    space = next_empty_space(s)
    s["free"][space] = outcome + 1
    refresh_free(s)
    if next_empty_space(s) < 0 or bag_total(s) == 0:  # set positions may have an odd number of goods
        s["phase"] = PHASE_PLAY
        if s["turn"] == 0:
            s["turn"] = 1
            s["actions_left"] = 1
        elif s["actions_left"] == 0:
            end_turn(s)


@helper
def next_empty_space(s):
    """Return the index of the lowest-numbered space without a good, or -1."""
    for space in range(SPACES):
        if s["free"][space] == 0:
            return np.int64(space)
    return np.int64(-1)


@helper
def refresh_free(s):
    """Derive the cells with a free good."""
    cells = NONE
    for space in range(SPACES):
        cells |= bit(s["source_cell"][space]) * np.uint64(s["free"][space] != 0)
    s["free_at"] = cells


@kernel
def resample(S, i, seat, R, r):
    """Do nothing: everything in Caravan is open to everybody."""


# --- what is legal ---------------------------------------------------------------------------------------------------


@helper
def group_of(start, camels):
    """Return the cells of `camels` connected orthogonally to the set `start` (G2)."""
    group = start
    while True:
        wider = group | (group << ONE_ROW) | (group >> ONE_ROW)
        wider |= ((group & NOT_LAST_COLUMN) << ONE_LEFT) | ((group & NOT_FIRST_COLUMN) >> ONE_LEFT)
        wider &= camels
        if wider == group:
            return group
        group = wider


@helper
def rainbow_bit(s):
    """Return the cell of the Rainbow Camel as a set, empty while it is off the board."""
    cell = s["rainbow_cell"]
    return bit(cell) if cell < OFF_BOARD else NONE


@helper
def occupied(s):
    """Return the cells with one or more camels, the Rainbow Camel included (T4, X2)."""
    cells = rainbow_bit(s)
    for seat in range(s["players"]):
        cells |= s["on_board"][seat]
    return cells


@helper
def is_laden(code):
    """Whether a camel code stands for a camel with a good."""
    return ((code >> KIND_SHIFT) & KIND_MASK != 0) & (code != NO_CAMEL)


@helper
def pick_set(s, seat):
    """Return the spaces at which the seat may pick up (P1, P3, P4)."""
    spaces = NONE
    if s["empties"][seat] < 2 or s["empty_at"][seat] & s["free_at"] == NONE:
        return spaces
    for space in range(SPACES):
        if s["free"][space] != 0 and s["empty_at"][seat] & bit(s["source_cell"][space]):
            spaces |= bit(space)
    return spaces


@helper
def steal_set(s, seat):
    """Return the thefts open to the seat, bit opponent * SLOTS + slot (H1, H3, H4)."""
    thefts = NONE
    if s["theft"][seat] == 0 or (s["ban_on_steal"] and s["empties"][seat] < 2):
        return thefts
    for opponent in range(s["players"] - 1):
        victim = seat_after(s, seat, 1 + opponent)
        if s["top_at"][victim] & s["empty_at"][seat] == NONE:
            continue
        before = np.int64(-1)
        for slot in range(s["camels"]):
            code = np.int64(s["camel"][victim, slot])
            on_top = code != before and is_laden(code) and not code & UNDER_BIT
            if on_top and s["empty_at"][seat] & bit(code >> CELL_SHIFT):
                thefts |= bit(opponent * SLOTS + slot)
            before = code
    return thefts


@helper
def move_set(s, seat):
    """Return the moves of goods open to the seat, bit from * MOVE_TARGETS + to (G1, G2, X3, X4)."""
    moves = NONE
    rainbow = rainbow_bit(s)
    if s["empties"][seat] == s["camels"] or s["empty_at"][seat] | rainbow == NONE:
        return moves
    links = s["on_board"][seat] | rainbow
    before = np.int64(-1)
    for slot in range(s["camels"]):
        code = np.int64(s["camel"][seat, slot])
        if code != before and is_laden(code):
            group = group_of(bit(code >> CELL_SHIFT), links)
            moves |= _targets(s, seat, code, group) << np.uint64(slot * MOVE_TARGETS)
        before = code
    return moves


@helper
def _targets(s, seat, code, group):
    """Return the receiving slots, and bit RAINBOW_TARGET, for the good of camel `code` in its group."""
    targets = NONE
    rest = np.uint64(s["empty_slots"][seat])
    while rest != NONE:
        slot = lowest(rest)
        rest &= rest - ONE
        cell = s["camel"][seat, slot] >> CELL_SHIFT
        if cell < OFF_BOARD and group & bit(cell):
            targets |= bit(slot)
    # With an own empty camel in the same space the delivery is the same position, so it is that action alone.
    city = s["city_cell"][((code >> KIND_SHIFT) & KIND_MASK) - 1]
    if city == s["rainbow_cell"] and group & bit(city) and not s["empty_at"][seat] & bit(city):
        targets |= bit(RAINBOW_TARGET)
    return targets


@helper
def rainbow_set(s, seat):
    """Return the cells to which the seat may move the Rainbow Camel (X1)."""
    if s["rainbow_in_play"] and s["markers"][seat] > 0:
        return INNER & ~rainbow_bit(s)
    return NONE


@helper
def affordable_cells(s):
    """Return the cells that a camel can go to with the actions left (T3, T4)."""
    return GRID if s["actions_left"] >= 2 else GRID & ~occupied(s)


@helper
def legal_sets(s):
    """Return every legal action as sets.

    Returns:
        (slots whose camel can be moved, cells they can go to before their own is taken off, goods spaces to pick up at,
        thefts, moves of goods, cells for the Rainbow Camel), all uint64. Ending the turn is always legal (T2).
    """
    seat = np.int64(s["seat"])
    slots = np.uint64(s["empty_slots"][seat])
    picks = pick_set(s, seat)
    thefts = steal_set(s, seat)
    return slots, affordable_cells(s), picks, thefts, move_set(s, seat), rainbow_set(s, seat)


@helper
def _destinations(s, seat, slot, cells):
    """Return where the camel in `slot` can go: `cells` without its own (T5)."""
    cell = s["camel"][seat, slot] >> CELL_SHIFT
    return cells & ~bit(cell) if cell < OFF_BOARD else cells


@helper
def _mark(mask, start, chosen):
    """Set mask[start + k] for every k in `chosen`; return how many."""
    rest = chosen
    while rest != NONE:
        mask[start + lowest(rest)] = 1
        rest &= rest - ONE
    return popcount(chosen)


@helper
def _mark_cells(mask, start, cells):
    """Write all 49 mask values of a set of cells, eight at a time; return its size."""
    row = mask[start : start + CELLS]
    for part in range(CELLS // 8):
        eight = (cells >> np.uint64(8 * part)) & LOW_BYTE
        for k in range(8):
            row[8 * part + k] = BITS_OF[eight, k]
    row[CELLS - 1] = cells >> np.uint64(CELLS - 1)
    return popcount(cells)


@kernel
def legal(S, i, mask):
    """Write the action mask, uint8 of shape (actions,), and return the number of legal actions."""
    s = S[i]
    slots, cells, picks, thefts, moves, rainbow = legal_sets(s)
    seat = np.int64(s["seat"])
    mask[:] = 0
    count = 1
    while slots != NONE:
        slot = lowest(slots)
        slots &= slots - ONE
        count += _mark_cells(mask, CAMEL_START + slot * CELLS, _destinations(s, seat, slot, cells))
    count += _mark(mask, PICK_START, picks)
    count += _mark(mask, STEAL_START, thefts)
    count += _mark(mask, MOVE_START, moves)
    count += _mark(mask, RAINBOW_START, rainbow)
    mask[END_ACTION] = 1
    return np.int64(count)


@kernel
def is_legal(S, i, action):
    """Return whether an action, any integer, is legal now; looks only at the set that the action belongs to."""
    s = S[i]
    if action < CAMEL_START or action > END_ACTION:
        return False
    seat = np.int64(s["seat"])
    if action >= RAINBOW_START:
        return action == END_ACTION or rainbow_set(s, seat) & bit(action - RAINBOW_START) != NONE
    if action < PICK_START:
        slot, cell = divmod(action - CAMEL_START, CELLS)
        can_move = s["empty_slots"][seat] & bit(slot) != NONE
        return can_move and _destinations(s, seat, slot, affordable_cells(s)) & bit(cell) != NONE
    if action < STEAL_START:
        return pick_set(s, seat) & bit(action - PICK_START) != NONE
    if action < MOVE_START:
        return steal_set(s, seat) & bit(action - STEAL_START) != NONE
    return move_set(s, seat) & bit(action - MOVE_START) != NONE


@kernel
def pick(S, i, ticket):
    """Return legal action number (ticket * count) >> 32 in mask order; ticket is a uint64 below 2**32."""
    s = S[i]
    slots, cells, picks, thefts, moves, rainbow = legal_sets(s)
    seat = np.int64(s["seat"])
    # `cells` holds the cells of all own camels or of none, so the rows of all camels on the board are equally long.
    row = popcount(cells) - (cells == GRID)
    off = s["camel"][seat, s["camels"] - 1] >> CELL_SHIFT == OFF_BOARD
    on_board = (popcount(slots) - off) * row
    camels = on_board + off * popcount(cells)
    n_picks, n_thefts, n_moves, n_rainbow = popcount(picks), popcount(thefts), popcount(moves), popcount(rainbow)
    count = camels + n_picks + n_thefts + n_moves + n_rainbow + 1
    k = np.int64((ticket * np.uint64(count)) >> np.uint64(32))
    if k < on_board:
        index = np.int64(np.uint64(k) // np.uint64(row))
        return _nth_camel_action(s, seat, slots, cells, index, k - index * row)
    if k < camels:
        return _nth_camel_action(s, seat, slots, cells, popcount(slots) - 1, k - on_board)
    k -= camels
    if k < n_picks:
        return PICK_START + nth_set(picks, k)
    k -= n_picks
    if k < n_thefts:
        return STEAL_START + nth_set(thefts, k)
    k -= n_thefts
    if k < n_moves:
        return MOVE_START + nth_set(moves, k)
    k -= n_moves
    return RAINBOW_START + nth_set(rainbow, k) if k < n_rainbow else np.int64(END_ACTION)


@helper
def _nth_camel_action(s, seat, slots, cells, index, k):
    """Return the k-th destination of the index-th movable camel."""
    slot = np.int64(NTH_SLOT[slots, index])
    if cells == GRID:
        own = np.int64(s["camel"][seat, slot] >> CELL_SHIFT)
        return CAMEL_START + slot * CELLS + k + (k >= own)
    return CAMEL_START + slot * CELLS + nth_set(cells, k)


# --- playing an action -----------------------------------------------------------------------------------------------


@kernel
def step(S, i, action):
    """Play a legal action of the seat to move."""
    s = S[i]
    if action < PICK_START:
        slot, cell = divmod(action - CAMEL_START, CELLS)
        move_camel(s, slot, cell)
    elif action < STEAL_START:
        pick_up(s, action - PICK_START)
    elif action < MOVE_START:
        opponent, slot = divmod(action - STEAL_START, SLOTS)
        steal(s, opponent, slot)
    elif action < RAINBOW_START:
        origin, target = divmod(action - MOVE_START, MOVE_TARGETS)
        move_good(s, origin, target)
    elif action < END_ACTION:
        move_rainbow(s, action - RAINBOW_START)
    else:
        end_turn(s)


@helper
def move_camel(s, slot, cell):
    """Place or move an empty camel: 1 action, or 2 to an occupied space (T3, T4)."""
    price = 2 if occupied(s) & bit(cell) else 1
    seat = np.int64(s["seat"])
    replace_camel(s, seat, slot, cell << CELL_SHIFT)
    spend(s, price)


@helper
def pick_up(s, space):
    """Take the free good and the demand markers of a space (P1, P2); refill if four goods are left (R1)."""
    seat = np.int64(s["seat"])
    kind = np.int64(s["free"][space])
    s["free"][space] = 0
    refresh_free(s)
    s["markers"][seat] += s["space_markers"][space]
    s["space_markers"][space] = 0
    load_camel(s, seat, np.int64(s["source_cell"][space]), kind << KIND_SHIFT)
    s["actions_left"] -= 1
    if refill_is_due(s):
        start_refill(s)
    elif s["actions_left"] == 0:
        end_turn(s)


@helper
def refill_is_due(s):
    """Return whether only four free goods are left while the bag holds some (R1, R4)."""
    free = 0
    for space in range(SPACES):
        free += s["free"][space] != 0
    return free == REFILL_AT and bag_total(s) > 0


@helper
def bag_total(s):
    """Return how many goods are in the bag."""
    total = np.int64(0)
    for kind in range(KINDS):
        total += s["bag"][kind]
    return total


@helper
def start_refill(s):
    """Put a demand marker on each space that still has a good (R2); chance then draws the goods (R3)."""
    for space in range(SPACES):
        if s["free"][space] != 0:
            s["space_markers"][space] += 1
    s["phase"] = PHASE_FILL


@helper
def steal(s, opponent, slot):
    """Take the good of an opponent's camel under an own one, for a theft marker (H1 to H3)."""
    seat = np.int64(s["seat"])
    victim = seat_after(s, seat, 1 + opponent)
    code = np.int64(s["camel"][victim, slot])
    cell = code >> CELL_SHIFT
    s["theft"][seat] -= 1
    s["theft"][victim] += 1
    replace_camel(s, victim, slot, cell << CELL_SHIFT)
    load_camel(s, seat, cell, (code & (KIND_MASK << KIND_SHIFT)) | UNDER_BIT)
    spend(s, 1)


@helper
def move_good(s, origin, target):
    """Move a good within a group and deliver it if it arrives (G1, G4, G5, X4)."""
    seat = np.int64(s["seat"])
    code = np.int64(s["camel"][seat, origin])
    kind = (code >> KIND_SHIFT) & KIND_MASK
    goal = np.int64(s["rainbow_cell"])
    if target != RAINBOW_TARGET:
        goal = np.int64(s["camel"][seat, target] >> CELL_SHIFT)
    replace_camel(s, seat, origin, (code >> CELL_SHIFT) << CELL_SHIFT)
    if goal != s["city_cell"][kind - 1]:
        # The slots may have moved, but any empty camel on the goal cell other than the emptied one will do: they
        # are equal, and within one cell giving the good to either leaves the same camels.
        load_camel(s, seat, goal, kind << KIND_SHIFT)
        spend(s, 1)
        return
    s["delivered"][seat, kind - 1] += 1
    if bag_total(s) == 0:
        s["actions_left"] -= 1
        finish(s)
    else:
        spend(s, 1)


@helper
def move_rainbow(s, cell):
    """Place or move the Rainbow Camel for one demand marker, which leaves the game (X1)."""
    s["markers"][s["seat"]] -= 1
    s["rainbow_cell"] = cell
    spend(s, 1)


@helper
def load_camel(s, seat, cell, load):
    """Give a load (kind and under bit) to an empty camel of the seat on `cell`."""
    slot = 0
    while s["camel"][seat, slot] != cell << CELL_SHIFT:
        slot += 1
    replace_camel(s, seat, slot, (cell << CELL_SHIFT) | load)


@helper
def replace_camel(s, seat, slot, code):
    """Put another code in place of the one in `slot`, and keep the seat's camels sorted and its sets derived.

    No branch depends on the camels: in varied play the processor could not predict it.
    """
    camels = s["camel"]
    carry = np.int64(code)
    for k in range(SLOTS - 1):
        other = np.int64(camels[seat, k + (k >= slot)])
        camels[seat, k] = min(other, carry)
        carry = max(other, carry)
    camels[seat, SLOTS - 1] = carry
    refresh_sets(s, seat)


@helper
def refresh_sets(s, seat):
    """Derive the seat's sets from its camels."""
    on_board = NONE
    empty_at = NONE
    top_at = NONE
    empty_slots = NONE
    laden = 0
    before = NO_CODE
    for slot in range(SLOTS):
        code = np.uint64(s["camel"][seat, slot])
        cell = bit((code >> CELL_BITS) & LAST_BIT) & GRID
        empty = np.uint64(code & LOAD_BITS == NONE)
        on_board |= cell
        empty_at |= cell * empty
        top_at |= cell * np.uint64((code & UNDER == NONE) & (empty == NONE))
        empty_slots |= (empty * np.uint64(code != before)) << np.uint64(slot)
        laden += (empty == NONE) & (code != NO_CODE)
        before = code
    s["on_board"][seat] = on_board
    s["empty_at"][seat] = empty_at
    s["top_at"][seat] = top_at
    s["empty_slots"][seat] = empty_slots
    s["empties"][seat] = s["camels"] - laden


@helper
def spend(s, actions):
    """Use up actions; the turn ends by itself when none is left (T2)."""
    s["actions_left"] -= actions
    if s["actions_left"] == 0:
        end_turn(s)


@helper
def end_turn(s):
    """Pass the turn on (S5, S6), or cut the game off at its turn limit (E5)."""
    s["actions_left"] = 0
    if s["turn_limit"] > 0 and s["turn"] >= s["turn_limit"]:
        s["truncated"] = 1
        finish(s)
        return
    s["turn"] = min(s["turn"] + 1, MAX_TURN)
    s["seat"] = seat_after(s, np.int64(s["seat"]), 1)
    s["actions_left"] = min(s["turn"], TURN_ACTIONS)


# --- the end ---------------------------------------------------------------------------------------------------------


@helper
def goods_delivered(s, seat):
    """Return how many goods the seat has delivered."""
    number = np.int64(0)
    for kind in range(KINDS):
        number += s["delivered"][seat, kind]
    return number


@helper
def points(s, seat):
    """Return a seat's points if the game ended now (E2, E3)."""
    total = np.int64(s["markers"][seat]) - PENALTIES[s["camels"] - s["empties"][seat]]
    for kind in range(KINDS):
        total += VALUES[kind] * np.int64(s["delivered"][seat, kind])
    return total


@helper
def finish(s):
    """End the game: score it, goods delivered breaking ties (E4)."""
    s["phase"] = PHASE_OVER
    for seat in range(s["players"]):
        s["standing"][seat] = points(s, seat) * STANDING_STEP + goods_delivered(s, seat)


@kernel
def truncated(S, i):
    """Return whether the turn limit ended the game (E5)."""
    return S[i]["truncated"] != 0


@kernel
def score(S, i, out):
    """Write each seat's points if the game ended now, float64 (players,)."""
    s = S[i]
    for seat in range(s["players"]):
        out[seat] = points(s, seat)


@kernel
def returns(S, i, out):
    """Write the terminal returns, float64 (players,)."""
    score(S, i, out)
    write_returns(S[i]["return_mode"], np.int64(S[i]["players"]), S[i]["standing"], out)


# --- what a seat sees ------------------------------------------------------------------------------------------------


@kernel
def observe(S, i, seat, out):
    """Write the observation of a seat, uint8 of shape (layout.size,), seats relative to it; see layout.observation."""
    s = S[i]
    out[:] = 0
    players = np.int64(s["players"])
    at = 0
    for k in range(players):
        at = _observe_camels(s, seat_after(s, seat, k), out, at)
    for k in range(players):
        at = _observe_seat(s, seat_after(s, seat, k), out, at)
    for space in range(SPACES):
        if s["free"][space] != 0:
            out[at + space * KINDS + np.int64(s["free"][space]) - 1] = 1
        out[at + SPACES * KINDS + space] = s["space_markers"][space]
    at += SPACES * KINDS + SPACES
    for kind in range(KINDS):
        out[at + kind] = s["bag"][kind]
    _observe_clock(s, out, at + KINDS)


@helper
def _observe_camels(s, seat, out, at):
    for slot in range(SLOTS):
        code = np.int64(s["camel"][seat, slot])
        if code != NO_CAMEL:
            kind = (code >> KIND_SHIFT) & KIND_MASK
            out[at + (code >> CELL_SHIFT)] = 1
            out[at + NO_KIND + kind] = 1
            out[at + SLOT_VALUES - 1] = code & UNDER_BIT
        at += SLOT_VALUES
    return at


@helper
def _observe_seat(s, seat, out, at):
    out[at] = s["theft"][seat]
    out[at + 1] = s["markers"][seat]
    for kind in range(KINDS):
        out[at + 2 + kind] = s["delivered"][seat, kind]
    out[at + 2 + KINDS] = points(s, seat) + SCORE_OFFSET
    return at + SEAT_VALUES


@helper
def _observe_clock(s, out, at):
    if s["actions_left"] > 0:
        out[at + np.int64(s["actions_left"]) - 1] = 1
    at += TURN_ACTIONS
    out[at] = bag_total(s) == 0
    if s["turn_limit"] > 0:
        out[at + 1] = np.uint64(s["turn"]) * np.uint64(CLOCK_STEPS) // np.uint64(s["turn_limit"])
    if s["rainbow_in_play"]:
        out[at + 2 + np.int64(s["rainbow_cell"])] = 1
