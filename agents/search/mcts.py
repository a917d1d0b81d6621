"""Monte-Carlo tree search, written once for all games: templates that `agents.search.evaluators` compiles per game.

A simulation copies the root's position, redraws what its mover cannot know, and goes down the tree: at a decision by
PUCT (Rosin 2011, in the form of Silver et al. 2017), at chance by an outcome drawn by its weights. Where it reaches a
node for the first time, or the end of the game, it takes a value for each seat and adds them on the way back. At each
decision the value of the seat to move there is what counts (max^n, Luckhardt and Irani 1986).

With hidden information the nodes stand for what simulations of several positions have in common (information-set
search with one tree, Cowling, Powley and Whitehouse 2012): an edge is left out where its action is not legal, and an
action that becomes legal for the first time gets an edge then. Edges are those actions that the evaluator lists.

Every node's visits are those of its edges and the simulations that ended in it: one, if it was not for chance or the
game's end and there was room. Parameters: `T` a `Tree`, `W` a `Work`, `X` the evaluator's memory.
"""

# ruff: noqa: F821  (the game's kernels become globals of these functions when they are compiled)
# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from agents.search.tree import EDGES, EXPLORE, MARGIN, NODES, ROOT, SCRATCH, TEMPERATURE, UNSEEN
from caravan_env.core.contract import CHANCE, TERMINAL

to_move: Callable[..., Any]
legal: Callable[..., Any]
step: Callable[..., Any]
resolve: Callable[..., Any]
resample: Callable[..., Any]
returns: Callable[..., Any]
draw_outcome: Callable[..., Any]
leaf: Callable[..., Any]
prior: Callable[..., Any]
list_actions: Callable[..., Any]

NONE = np.int64(-1)
PROBES = 32  # times that a position is redrawn to see whether anything in it is hidden

_HASH_START = np.uint64(0xCBF29CE484222325)
_HASH_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


# --- positions -------------------------------------------------------------------------------------------------------


def hash_of(words, i):
    """Return 64 bits, not 0, that tell positions apart, from the bytes of row i."""
    h = _HASH_START
    for k in range(words.shape[1]):
        h = (h ^ np.uint64(words[i, k])) * _HASH_STEP
        h ^= h >> _HALF
    return h | np.uint64(1)


def end_values(S, i, scale, values):
    """Write the returns of row i, which is finished; those of margins as tanh(margin / scale), of others scale is 0."""
    returns(S, i, values)
    if scale > 0.0:
        for seat in range(values.shape[0]):
            values[seat] = math.tanh(values[seat] / scale)


def draw_hidden(T, W):
    """Make the scratch row a position that the root's mover may be in."""
    W.rows[SCRATCH] = W.rows[ROOT]
    resample(W.rows, SCRATCH, to_move(W.rows, ROOT), W.stream, ROOT)
    if T.hidden[0] == 0:
        for k in range(W.words.shape[1]):
            if W.words[ROOT, k] != W.words[SCRATCH, k]:
                T.hidden[0] = 1


def has_hidden(T, W):
    """Return whether anything was hidden from the root's mover, now or in a search before."""
    for _ in range(PROBES):
        draw_hidden(T, W)
    return T.hidden[0] != 0


# --- growing ---------------------------------------------------------------------------------------------------------


def clear(T):
    """Forget all nodes and edges; that something is hidden in this game is kept."""
    T.used[:] = 0
    T.bounds[0] = np.inf
    T.bounds[1] = -np.inf


def add_node(T, W):
    """Add a node for the position of the scratch row; return it, or -1 if there is no room."""
    node = T.used[NODES]
    if node == T.mover.shape[0]:
        return NONE
    T.used[NODES] = node + 1
    T.mover[node] = to_move(W.rows, SCRATCH)
    T.hash[node] = np.uint64(0) if T.hidden[0] else hash_of(W.words, SCRATCH)
    T.visits[node] = 0
    T.total[node, :] = 0.0
    T.first[node] = NONE
    T.twin[node] = NONE
    return node


def add_edge(T, node, action, probability):
    """Add an edge before the others of a node; return it, or -1 if there is no room."""
    edge = T.used[EDGES]
    if edge == T.action.shape[0]:
        return NONE
    T.used[EDGES] = edge + 1
    T.action[edge] = action
    T.prior[edge] = probability
    T.edge_visits[edge] = 0
    T.edge_total[edge] = 0.0
    T.child[edge] = NONE
    T.after[edge] = T.first[node]
    T.first[node] = edge
    return edge


def list_edges(W, X):
    """Write the mask of the scratch row and the actions that are worth a look there; return their number."""
    legal(W.rows, SCRATCH, W.mask)
    return list_actions(W.rows, SCRATCH, X, W.mask, W.actions)


def weigh(W, count):
    """Make probabilities of the first `count` logits."""
    highest = -np.inf
    for k in range(count):
        highest = max(highest, W.logits[k])
    total = 0.0
    for k in range(count):
        W.logits[k] = math.exp((W.logits[k] - highest) / W.settings[TEMPERATURE])
        total += W.logits[k]
    for k in range(count):
        W.logits[k] /= total


def expand(T, W, X, node):
    """Give a decision edges for all that is worth a look in the scratch row, in that order, if there is room."""
    count = list_edges(W, X)
    if T.used[EDGES] + count > T.action.shape[0]:
        return
    prior(W.rows, SCRATCH, X, W.actions, count, W.logits)
    weigh(W, count)
    for k in range(count - 1, -1, -1):
        add_edge(T, node, W.actions[k], W.logits[k])


def add_unseen(T, W, X, node):
    """Write the mask of the scratch row, and give a decision edges for what is worth a look here and has none yet."""
    count = legal(W.rows, SCRATCH, W.mask)
    seen = np.int64(0)
    edge = T.first[node]
    while edge >= 0:
        if W.mask[T.action[edge]] != 0:
            W.mask[T.action[edge]] = 2
            seen += 1
        edge = T.after[edge]
    if seen < count:
        for k in range(list_actions(W.rows, SCRATCH, X, W.mask, W.actions)):
            if W.mask[W.actions[k]] == 1:
                add_edge(T, node, W.actions[k], 1.0 / count)


# --- one simulation --------------------------------------------------------------------------------------------------


def scaled(T, value):
    """Return a mean value as a share of the range of those seen so far, as in MuZero (Schrittwieser et al. 2020)."""
    width = T.bounds[1] - T.bounds[0]
    return (value - T.bounds[0]) / width if width > 0.0 else 0.5


def best_edge(T, W, node):
    """Return the edge of a decision with the highest upper bound, the first of equal ones."""
    mover, visits = T.mover[node], np.float64(T.visits[node])
    unseen = scaled(T, T.total[node, mover] / visits) - W.settings[UNSEEN]
    reach = W.settings[EXPLORE] * math.sqrt(visits)
    best, choice = -np.inf, NONE
    edge = T.first[node]
    while edge >= 0:
        if T.hidden[0] == 0 or W.mask[T.action[edge]] != 0:
            tries = T.edge_visits[edge]
            value = scaled(T, T.edge_total[edge] / tries) if tries > 0 else unseen
            bound = value + reach * T.prior[edge] / (1.0 + tries)
            if bound > best:
                best, choice = bound, edge
        edge = T.after[edge]
    return choice


def outcome_edge(T, W, node):
    """Draw an outcome of chance in the scratch row; return its edge, a new one if need be, or -1 for lack of room."""
    outcome = draw_outcome(W.rows, SCRATCH, W.stream, ROOT, W.weights)
    edge = T.first[node]
    while edge >= 0:
        if T.action[edge] == outcome:
            return edge
        edge = T.after[edge]
    return add_edge(T, node, outcome, 0.0)


def choose(T, W, X, node):
    """Return the edge along which a simulation goes on, or -1 if it ends in this node."""
    mover = T.mover[node]
    if mover == TERMINAL or T.visits[node] == 0:
        return NONE
    if mover == CHANCE:
        return outcome_edge(T, W, node)
    if T.first[node] < 0:
        expand(T, W, X, node)
    if T.hidden[0] != 0:
        add_unseen(T, W, X, node)
    return best_edge(T, W, node)


def follow(T, W, node, edge):
    """Play an edge in the scratch row; return the node after it, a new one if need be, or -1 if there is no room."""
    if T.mover[node] == CHANCE:
        resolve(W.rows, SCRATCH, T.action[edge])
    else:
        step(W.rows, SCRATCH, T.action[edge])
    mover = to_move(W.rows, SCRATCH)
    child = T.child[edge]
    while child >= 0 and T.mover[child] != mover:
        child = T.twin[child]
    if child < 0:
        child = add_node(T, W)
        if child >= 0:
            T.twin[child] = T.child[edge]
            T.child[edge] = child
    return child


def descend(T, W, X):
    """Play the scratch row down the tree, noting the path; return the number of its edges."""
    node, depth = ROOT, np.int64(0)
    W.path[0] = ROOT
    while node >= 0:
        edge = choose(T, W, X, node)
        if edge < 0:
            return depth
        W.path_edges[depth] = edge
        node = follow(T, W, node, edge)
        depth += 1
        W.path[depth] = node
    return depth


def judge(W, X):
    """Write the value of the scratch row to each seat: the return if the game is over, or what the evaluator says."""
    if to_move(W.rows, SCRATCH) != TERMINAL:
        leaf(W.rows, SCRATCH, X, W.values)
        return
    end_values(W.rows, SCRATCH, W.settings[MARGIN], W.values)


def back_up(T, W, depth):
    """Add the values to the nodes and edges of the path."""
    for d in range(depth + 1):
        node = W.path[d]
        if node >= 0:
            T.visits[node] += 1
            for seat in range(W.values.shape[0]):
                T.total[node, seat] += W.values[seat]
    for d in range(depth):
        edge, mover = W.path_edges[d], T.mover[W.path[d]]
        T.edge_visits[edge] += 1
        if mover >= 0:
            T.edge_total[edge] += W.values[mover]
            mean = T.edge_total[edge] / T.edge_visits[edge]
            T.bounds[0] = min(T.bounds[0], mean)
            T.bounds[1] = max(T.bounds[1], mean)


def search(T, W, X, simulations):
    """Add so many simulations from the position of the root's row to the tree, and the root itself if it is empty."""
    draw_hidden(T, W)
    if T.used[NODES] == 0:
        add_node(T, W)
    if T.first[ROOT] < 0:
        expand(T, W, X, ROOT)
    for k in range(simulations):
        if k > 0:
            draw_hidden(T, W)
        depth = descend(T, W, X)
        judge(W, X)
        back_up(T, W, depth)


# --- the choice ------------------------------------------------------------------------------------------------------


def most_visited(T):
    """Return the edge of the root with the most visits; of equal ones that with the best value, then the best prior."""
    choice, edge = T.first[ROOT], T.first[ROOT]
    while edge >= 0:
        more = T.edge_visits[edge] - T.edge_visits[choice]
        if more == 0 and T.edge_visits[edge] > 0:
            better = T.edge_total[edge] > T.edge_total[choice]
        else:
            better = T.prior[edge] > T.prior[choice]
        if more > 0 or (more == 0 and better):
            choice = edge
        edge = T.after[edge]
    return choice


# --- the next decision -----------------------------------------------------------------------------------------------


def find(T, own):
    """Return the decision with a hash that was visited most, or -1."""
    found = NONE
    for node in range(T.used[NODES]):
        if T.hash[node] == own and T.mover[node] >= 0 and (found < 0 or T.visits[node] > T.visits[found]):
            found = np.int64(node)
    return found


def copy_node(T, node, B):
    """Append a node of T without its edges to B, return its place; `B.first` holds its place in T until they come."""
    place = B.used[NODES]
    B.used[NODES] = place + 1
    B.mover[place] = T.mover[node]
    B.hash[place] = T.hash[node]
    B.visits[place] = T.visits[node]
    for seat in range(T.total.shape[1]):
        B.total[place, seat] = T.total[node, seat]
    B.first[place] = node
    B.twin[place] = NONE
    return place


def copy_edge(T, edge, B):
    """Append an edge of T with the nodes after it to B; return its place there."""
    place = B.used[EDGES]
    B.used[EDGES] = place + 1
    B.action[place] = T.action[edge]
    B.prior[place] = T.prior[edge]
    B.edge_visits[place] = T.edge_visits[edge]
    B.edge_total[place] = T.edge_total[edge]
    B.after[place] = NONE
    B.child[place] = NONE
    child = T.child[edge]
    while child >= 0:
        copy = copy_node(T, child, B)
        B.twin[copy] = B.child[place]
        B.child[place] = copy
        child = T.twin[child]
    return place


def copy_below(T, node, B):
    """Write the part of T below a node to B, of the same size, with that node as the root, breadth first."""
    B.used[:] = 0
    for k in range(T.bounds.shape[0]):
        B.bounds[k] = T.bounds[k]
    B.hidden[0] = T.hidden[0]
    copy_node(T, node, B)
    at = np.int64(0)
    while at < B.used[NODES]:
        edge, last = T.first[B.first[at]], NONE
        B.first[at] = NONE
        while edge >= 0:
            place = copy_edge(T, edge, B)
            if last < 0:
                B.first[at] = place
            else:
                B.after[last] = place
            last = place
            edge = T.after[edge]
        at += 1


def keep_below(T, W, B):
    """Write what T knows of the position of the root's row to B; return whether that is anything.

    Nothing is kept where something is hidden: whether a node was reached with the same position would tell it.
    """
    if T.used[NODES] == 0 or has_hidden(T, W):
        return False
    node = find(T, hash_of(W.words, ROOT))
    if node < 0:
        return False
    copy_below(T, node, B)
    return True


TEMPLATES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        hash_of,
        draw_hidden,
        has_hidden,
        clear,
        add_node,
        add_edge,
        list_edges,
        weigh,
        expand,
        add_unseen,
        scaled,
        best_edge,
        outcome_edge,
        choose,
        follow,
        descend,
        judge,
        back_up,
        search,
        most_visited,
        find,
        copy_node,
        copy_edge,
        copy_below,
        keep_below,
    )
}
"""In the order in which they call each other."""
