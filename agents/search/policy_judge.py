"""Judging the positions of a tree search by a trained policy: its value head, and its probabilities of actions.

The network is evaluated inside the kernels, position by position. Only what is not 0 goes through a layer: most of an
observation is 0, and so is about half of what a ReLU leaves. Of the last layer of the policy head only the logits of
the actions asked for are computed, if they are few.

A value head that learned from shaped rewards says by how much a seat can expect more than the potential that it has
already (Ng, Harada and Russell 1999; Wiewiora 2003). So the potential is added to it.
"""

# ruff: noqa: F821  (the game's kernels become globals of these functions when they are compiled)
# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.network import Network
from agents.search.evaluators import Evaluator, margin_scale
from caravan_env.core.contract import TERMINAL
from caravan_env.core.game import Game

to_move: Callable[..., Any]
observe: Callable[..., Any]
score: Callable[..., Any]
potentials: Callable[..., Any]
settle: Callable[..., Any]
shaping: Callable[..., Any]
end_values: Callable[..., Any]

ROW = np.int64(0)
PARTS = ("trunk", "policy", "value")
POLICY = np.int64(1)  # places of `Judge.firsts`: where the layers of a part begin
VALUE = np.int64(2)
START, INPUTS, OUTPUTS = np.int64(0), np.int64(1), np.int64(2)  # columns of `Judge.layers`
ALL, BUT_LAST = np.int64(0), np.int64(1)  # layers that `feed_part` leaves out
FEW = 10  # times that one output alone costs more than one among all
GAME, NETWORK, FACTOR = np.int64(0), np.int64(1), np.int64(2)  # places of `Judge.scales`


class Judge(NamedTuple):
    """The memory of the evaluator, X: the network, and what it is evaluated in.

    The layers of the trunk, the policy head and the value head are numbered through.

    Attributes:
        weights: float32, of all layers one after the other, each (inputs, outputs) row by row; the scales of the
            observation are part of them.
        layers: (layers, 3) int64, where the weights of a layer start, its inputs and its outputs.
        biases: (layers, widest) float32.
        firsts: (4,) int64, the first layer of each part, and the number of layers.
        outputs: (layers + 1, widest) float32: place 0 is the observation, k + 1 what layer k gives, before the ReLU.
        obs: (observation,) uint8, of the position looked at.
        words: the same memory as uint64; at least a byte more than the observation.
        known: (words,) uint64, the observation that the trunk was computed for.
        row: (1,) position in which chance is resolved.
        weigh: (outcomes,) int64, of chance.
        stream: (1,) uint64, for what is random.
        scales: (3,) float64, the points of margin that make a value of 0.76, of the game's returns and of the value
            head, 0 where they are in [-1, 1] as they are; and the factor of the potential.
        points: (seats,) float64, potentials or scores.
        memory: what the game's potential writes to.
    """

    weights: NDArray[np.float32]
    layers: NDArray[np.int64]
    biases: NDArray[np.float32]
    firsts: NDArray[np.int64]
    outputs: NDArray[np.float32]
    obs: NDArray[np.uint8]
    words: NDArray[np.uint64]
    known: NDArray[np.uint64]
    row: NDArray[np.void]
    weigh: NDArray[np.int64]
    stream: NDArray[np.uint64]
    scales: NDArray[np.float64]
    points: NDArray[np.float64]
    memory: Any


# --- the network -----------------------------------------------------------------------------------------------------


def add_scaled(sums, weights, factor):
    """Add a row of weights to the sums, times a factor."""
    for j in range(weights.shape[0]):
        sums[j] += factor * weights[j]


def feed(X, layer, source):
    """Compute a layer from what is at a place of the outputs."""
    at, width = X.layers[layer, START], X.layers[layer, OUTPUTS]
    inputs, sums, biases = X.outputs[source], X.outputs[layer + 1], X.biases[layer]
    for j in range(width):
        sums[j] = biases[j]
    for k in range(X.layers[layer, INPUTS]):
        if inputs[k] > 0:
            add_scaled(sums, X.weights[at : at + width], inputs[k])
        at += width


def feed_part(X, part, leave):
    """Compute the layers of a head, ALL or BUT_LAST; return the place of the outputs where the rest begins."""
    source = X.firsts[POLICY]  # what the trunk gave: its last layer is that before the policy's first
    for layer in range(X.firsts[part], X.firsts[part + 1] - leave):
        feed(X, layer, source)
        source = np.int64(layer + 1)
    return source


def look(S, i, seat, X):
    """Compute the trunk for what a seat sees in row i, unless that was done last."""
    observe(S, i, seat, X.obs)
    same = True
    for k in range(X.words.shape[0]):
        if X.words[k] != X.known[k]:
            X.known[k] = X.words[k]
            same = False
    if same:
        return
    for k in range(X.obs.shape[0]):
        X.outputs[0, k] = np.float32(X.obs[k])
    for layer in range(X.firsts[POLICY]):
        feed(X, layer, layer)


# --- what the rewards were shaped by, one of these as `shaping` -------------------------------------------------------


def unshaped(S, i, seat, X):
    """Return the potential where there is none."""
    return 0.0


def by_own(S, i, seat, X):
    """Return the game's own potential of a seat, as it was weighted."""
    potentials(S, i, X.memory, X.points)
    return X.scales[FACTOR] * X.points[seat]


def by_score(S, i, seat, X):
    """Return a seat's lead in points over the best other, as it was weighted."""
    score(S, i, X.points)
    best = -np.inf
    for other in range(X.points.shape[0]):
        if other != seat:
            best = max(best, X.points[other])
    return X.scales[FACTOR] * (X.points[seat] - best)


# --- the evaluator, see `agents.search.evaluators` -------------------------------------------------------------------


def share(value, mover, X, values):
    """Write a mover's expected return as the values of all seats: alone it has all; else returns sum to 0."""
    seats = values.shape[0]
    for seat in range(seats):
        own = value if seat == mover else -value / (seats - 1.0)
        if X.scales[NETWORK] > 0.0:
            values[seat] = math.tanh(own / X.scales[NETWORK])
        else:
            values[seat] = min(max(own, -1.0), 1.0)


def leaf(S, i, X, values):
    """Write what row i is worth to each seat: the value head's word on the next decision, chance until then drawn."""
    X.row[ROW] = S[i]
    mover = settle(X.row, ROW, X.stream, ROW, X.weigh)
    if mover == TERMINAL:
        end_values(X.row, ROW, X.scales[GAME], values)
        return
    look(X.row, ROW, mover, X)
    value = np.float64(X.outputs[feed_part(X, VALUE, ALL), 0])
    share(value + shaping(X.row, ROW, mover, X), mover, X, values)


def ask(X, layer, source, actions, count, out):
    """Write the outputs of the last layer of the policy head that stand for actions, without those between them."""
    for n in range(count):
        out[n] = X.biases[layer, actions[n]]
    at = X.layers[layer, START]
    for k in range(X.layers[layer, INPUTS]):
        value = X.outputs[source, k]
        if value > 0:
            for n in range(count):
                out[n] += np.float64(value * X.weights[at + actions[n]])
        at += X.layers[layer, OUTPUTS]


def prior(S, i, X, actions, count, out):
    """Write the policy head's logits of actions."""
    look(S, i, to_move(S, i), X)
    source, last = feed_part(X, POLICY, BUT_LAST), X.firsts[VALUE] - 1
    if FEW * count < X.layers[last, OUTPUTS]:
        ask(X, last, source, actions, count, out)
        return
    feed(X, last, source)
    for n in range(count):
        out[n] = X.outputs[last + 1, actions[n]]


TEMPLATES: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (add_scaled, feed, feed_part, look, share, leaf, ask, prior)
}
"""In the order in which they call each other."""


class Shaping(NamedTuple):
    """What the rewards were shaped by that a policy learned from, see `train.config.ShapingConfig`.

    Attributes:
        weight: factor of the potential; 0: they were not.
        potential: "heuristic", the game's own, or "score".
        scale: score points that are a potential of 1.
    """

    weight: float = 1.0
    potential: str = "heuristic"
    scale: float = 50.0


def evaluator(game: Game, network: Network, shaped: Shaping, module: ModuleType | None, margin: float) -> Evaluator:
    """Return what makes a tree search judge positions, and prefer actions, by a policy.

    Args:
        game: the variant.
        network: of kind "mlp", for the observations and actions of this variant.
        shaped: the shaping that it learned with.
        module: the game's scripted agents with its potential, None if there are none.
        margin: points of margin that make a value of 0.76, for a network that learned from margins; 0 for others.
    """
    if shaped.weight == 0 or (shaped.potential == "heuristic" and module is None):
        name, shaping, factor = "policy", unshaped, 0.0
    elif shaped.potential == "heuristic":
        name, shaping, factor = "policy_shaped", by_own, shaped.weight
    else:
        name, shaping, factor = "policy_scored", by_score, shaped.weight / shaped.scale
    own = module if shaping is by_own else None
    return Evaluator(
        name,
        {"potentials": own.potentials} if own else {},
        {"shaping": shaping, **TEMPLATES},
        lambda game, stream: new_judge(
            game, network, stream, (margin_scale(game), margin, factor), own.new_memory() if own else np.zeros(0)
        ),
        (__file__, str(own.__file__)) if own else (__file__,),
    )


def new_judge(
    game: Game, network: Network, stream: NDArray[np.uint64], scales: tuple[float, float, float], memory: Any
) -> Judge:
    """Return the memory of the evaluator; for the arguments see `Judge`."""
    layers = [layer for part in PARTS for layer in network.parts[part]]
    firsts = np.cumsum([0, *(len(network.parts[part]) for part in PARTS)])
    starts = np.cumsum([0, *(weight.size for weight, _ in layers)])
    widest = max(game.layout.size, *(len(bias) for _, bias in layers))
    biases = np.zeros((len(layers), widest), np.float32)
    for place, (_, bias) in enumerate(layers):
        biases[place, : len(bias)] = bias
    reading = range(1) if network.parts["trunk"] else firsts[POLICY : VALUE + 1]  # layers that see the observation
    scaled = [w * game.layout.scale[:, None] if k in reading else w for k, (w, _) in enumerate(layers)]
    words = np.zeros(game.layout.size // 8 + 1, np.uint64)
    return Judge(
        weights=np.concatenate([weight.ravel() for weight in scaled]),
        layers=np.array([(start, *weight.shape) for start, (weight, _) in zip(starts, layers, strict=False)]),
        biases=biases,
        firsts=firsts,
        outputs=np.zeros((len(layers) + 1, widest), np.float32),
        obs=words.view(np.uint8)[: game.layout.size],
        words=words,
        known=np.full_like(words, 2**64 - 1),  # what no observation is: the bytes after one are 0
        row=np.zeros(1, game.spec.state_dtype),
        weigh=np.zeros(game.spec.max_outcomes, np.int64),
        stream=stream,
        scales=np.array(scales),
        points=np.zeros(game.players),
        memory=memory,
    )
