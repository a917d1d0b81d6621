"""The memory of a tree search: arrays made by the caller, whose places are the nodes and edges of a tree.

Nodes hold no positions. A node stands for a seat's decision, for a chance event or for the end of a game, an edge for
an action or an outcome; each simulation plays its way down in a row of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.game import Game

MAX_NODES = 1 << 20
MAX_EDGES = 1 << 23
EDGES_PER_NODE = 64  # places for edges, by default

ROOT = np.int64(0)  # node 0, and row 0 of `Work.rows`
SCRATCH = np.int64(1)  # the row that a simulation plays in
ROWS = 2
NODES = np.int64(0)  # places of `Tree.used`
EDGES = np.int64(1)

# Places of `Work.settings`.
EXPLORE = np.int64(0)  # the factor of what draws a simulation to actions that were tried little
TEMPERATURE = np.int64(1)  # by which the evaluator's logits are divided
UNSEEN = np.int64(2)  # how much less than its node an action counts that was not tried, of the range of values
MARGIN = np.int64(3)  # points of margin that make a value of 0.76; 0: returns are in [-1, 1] as they are
SETTINGS = 4


class Tree(NamedTuple):
    """The nodes and edges of a tree; node 0 is its root, -1 stands for none.

    Attributes:
        mover: (nodes,) int64, the seat to move, CHANCE or TERMINAL.
        hash: (nodes,) uint64 of the bytes of the position with which the node was first reached; 0 is none.
        visits: (nodes,) int64, simulations that came here.
        total: (nodes, seats) float64, the sums of their values.
        first: (nodes,) int64, its first edge; a decision has none until it is visited a second time.
        twin: (nodes,) int64, another node of the same edge: somebody else is to move there, which can depend on what is
            hidden.
        action: (edges,) int64, the action, or the outcome of chance.
        prior: (edges,) float64, the probability that the evaluator gives the action; 0 for outcomes.
        edge_visits: (edges,) int64, simulations that went along.
        edge_total: (edges,) float64, the sums of their values to the seat that moved; 0 for outcomes.
        child: (edges,) int64, the node after it.
        after: (edges,) int64, the next edge of the same node.
        used: (2,) int64, how many nodes and edges there are.
        bounds: (2,) float64, the lowest and highest mean value of an action so far.
        hidden: (1,) int64, 1 once a position had something that the seat at the root could not know.
    """

    mover: NDArray[np.int64]
    hash: NDArray[np.uint64]
    visits: NDArray[np.int64]
    total: NDArray[np.float64]
    first: NDArray[np.int64]
    twin: NDArray[np.int64]
    action: NDArray[np.int64]
    prior: NDArray[np.float64]
    edge_visits: NDArray[np.int64]
    edge_total: NDArray[np.float64]
    child: NDArray[np.int64]
    after: NDArray[np.int64]
    used: NDArray[np.int64]
    bounds: NDArray[np.float64]
    hidden: NDArray[np.int64]


class Work(NamedTuple):
    """What a simulation works with.

    Attributes:
        rows: (ROWS,) positions: the root's and the one that is played in.
        words: (ROWS, words) the same memory as uint64, or as uint8 if a position is no whole number of them.
        path: (nodes + 1,) int64, the nodes of this simulation; -1 for one that found no place.
        path_edges: (nodes + 1,) int64, the edges between them.
        mask: (actions,) uint8, of one position; 2 for actions that have an edge.
        actions: (actions,) int64, its actions that are worth a look.
        logits: (actions,) float64, what the evaluator says of them.
        values: (seats,) float64, of the end of this simulation.
        weights: (outcomes,) int64, of chance.
        stream: (1,) uint64, all that is random in a search.
        settings: (SETTINGS,) float64, see the places above.
    """

    rows: NDArray[np.void]
    words: NDArray[Any]
    path: NDArray[np.int64]
    path_edges: NDArray[np.int64]
    mask: NDArray[np.uint8]
    actions: NDArray[np.int64]
    logits: NDArray[np.float64]
    values: NDArray[np.float64]
    weights: NDArray[np.int64]
    stream: NDArray[np.uint64]
    settings: NDArray[np.float64]


def new_tree(game: Game, nodes: int, edges: int | None = None) -> Tree:
    """Return an empty tree with room for so many nodes and edges; memory that is not used is not touched."""
    if edges is None:
        edges = max(min(EDGES_PER_NODE * nodes, MAX_EDGES), 2 * game.num_actions)
    return Tree(
        mover=np.zeros(nodes, np.int64),
        hash=np.zeros(nodes, np.uint64),
        visits=np.zeros(nodes, np.int64),
        total=np.zeros((nodes, game.players)),
        first=np.zeros(nodes, np.int64),
        twin=np.zeros(nodes, np.int64),
        action=np.zeros(edges, np.int64),
        prior=np.zeros(edges),
        edge_visits=np.zeros(edges, np.int64),
        edge_total=np.zeros(edges),
        child=np.zeros(edges, np.int64),
        after=np.zeros(edges, np.int64),
        used=np.zeros(2, np.int64),
        bounds=np.zeros(2),
        hidden=np.zeros(1, np.int64),
    )


def new_work(game: Game, nodes: int) -> Work:
    """Return the working memory for a tree of so many nodes; the settings are 0, and for the caller to write."""
    size = game.spec.state_dtype.itemsize
    whole = size % 8 == 0
    words: NDArray[Any] = np.zeros((ROWS, size // 8 if whole else size), np.uint64 if whole else np.uint8)
    return Work(
        rows=np.frombuffer(words, game.spec.state_dtype),  # type: ignore[call-overload]
        words=words,
        path=np.zeros(nodes + 1, np.int64),
        path_edges=np.zeros(nodes + 1, np.int64),
        mask=np.zeros(game.num_actions, np.uint8),
        actions=np.zeros(game.num_actions, np.int64),
        logits=np.zeros(game.num_actions),
        values=np.zeros(game.players),
        weights=np.zeros(game.spec.max_outcomes, np.int64),
        stream=np.zeros(1, np.uint64),
        settings=np.zeros(SETTINGS),
    )
