"""The networks of trained policies on numpy alone; `train.network` has the same ones in torch, where they learn.

A network of kind "mlp" takes an observation as one vector. One of kind "board" takes the planes of the observation as
an image, for games whose `GameSpec.action_planes` says which actions belong to which places of it. One of kind "value"
says what positions are worth, see `agents.value.network`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from caravan_env.core.errors import CaravanError
from caravan_env.core.game import Game

Float = NDArray[np.float32]
Layers = list[tuple[Float, Float]]

KINDS = ("mlp", "board", "value")
KERNEL = 3  # convolutions see so many places across and down


class Board:
    """How the planes of a game variant's observations lie, and which actions belong to their places.

    Attributes:
        shape: (planes, height, width).
        planes: (planes * height * width,) int64, the columns of an observation that are planes, plane by plane.
        vector: int64, all other columns.
        places: actions that belong to each place.
        others: number of actions that belong to none.
        order: (actions,) int64, where each action's logit stands among the (height, width, places) logits of the
            places, followed by the others'.
    """

    def __init__(self, game: Game) -> None:
        """Look at a variant; one whose actions belong to no places is a CaravanError."""
        if game.action_planes is None:
            raise CaravanError(
                f"network.kind = board is not possible for {game.name}: its actions belong to no places; say "
                "network.kind=mlp"
            )
        is_plane = np.zeros(game.layout.size, bool)
        for piece in game.layout.pieces.values():
            is_plane[piece.start : piece.stop] = len(piece.shape) == 3
        self.planes, self.vector = np.flatnonzero(is_plane), np.flatnonzero(~is_plane)
        self.places, height, width = game.action_planes.shape
        self.shape = (len(self.planes) // (height * width), height, width)
        self.order = _order(game.action_planes, game.num_actions)
        self.others = game.num_actions - int((game.action_planes >= 0).sum())


class Network:
    """Inference with the trained weights: ReLU layers of a trunk, then a policy head and a value head.

    Attributes:
        parts: "trunk", "policy" and "value" -> the weights (in, out) and the biases (out,) of each of its layers.
    """

    def __init__(self, tensors: Mapping[str, Float]) -> None:
        """Take weights named "<part>.<layer>.weight" (out, in) and "<part>.<layer>.bias" (out,)."""
        self.parts = {part: _layers(tensors, part) for part in ("trunk", "policy", "value")}

    def logits(self, obs: Float, mask: NDArray[np.uint8]) -> Float:
        """Return the masked logits (rows, actions) of observations (rows, observation)."""
        return np.where(mask.astype(bool), self._policy(obs), np.float32(-np.inf))

    def fits(self, observation: int, actions: int) -> bool:
        """Return whether the layers follow on each other, from so many observed values to so many actions."""
        stem = _width_after(self.parts["trunk"], observation)
        return _width_after(self.parts["policy"], stem) == actions and _width_after(self.parts["value"], stem) == 1

    def values(self, obs: Float) -> Float:
        """Return the expected returns (rows,) of observations (rows, observation)."""
        return _head(self.parts["value"], _trunk(self.parts["trunk"], obs))[:, 0]

    def _policy(self, obs: Float) -> Float:
        return _head(self.parts["policy"], _trunk(self.parts["trunk"], obs))


class BoardNetwork(Network):
    """Inference with convolutions over the planes; `train.network.BoardNetwork` says what is done with them."""

    def __init__(self, tensors: Mapping[str, Float], board: Board) -> None:
        """Take weights named as those of Network; a convolution's have the shape (out, in, 3, 3)."""
        super().__init__(tensors)
        self._board = board
        self.parts |= {part: _layers(tensors, part) for part in ("spread", "places", "board")}

    def values(self, obs: Float) -> Float:
        """See `Network.values`."""
        return _head(self.parts["value"], self._look(obs)[1])[:, 0]

    def _policy(self, obs: Float) -> Float:
        image, stem = self._look(obs)
        (weight, bias), rows = self.parts["places"][0], len(obs)
        on_places = image.reshape(-1, image.shape[3]) @ weight + bias
        others = _head(self.parts["policy"], stem)
        return np.concatenate([on_places.reshape(rows, -1), others], axis=1)[:, self._board.order]

    def _look(self, obs: Float) -> tuple[Float, Float]:
        """Return what the convolutions see, (rows, height, width, channels), and the stem of the heads."""
        vector = _trunk(self.parts["trunk"], obs[:, self._board.vector])
        image = obs[:, self._board.planes].reshape(-1, *self._board.shape).transpose(0, 2, 3, 1)
        spread = _head(self.parts["spread"], vector)[:, None, None]
        (weight, bias), *later = self.parts["board"]
        image = np.maximum(_convolve(image, weight) + (bias + spread), np.float32(0))
        for weight, bias in later:
            image = np.maximum(_convolve(image, weight) + bias, np.float32(0))
        return image, np.concatenate([image.mean(axis=(1, 2)), image.max(axis=(1, 2)), vector], axis=1)


def network_of(game: Game, tensors: Mapping[str, Float]) -> Network:
    """Return the network that weights belong to: their names tell its kind."""
    return BoardNetwork(tensors, Board(game)) if "board.0.weight" in tensors else Network(tensors)


def _order(action_planes: NDArray[np.int64], actions: int) -> NDArray[np.int64]:
    on_places = action_planes.transpose(1, 2, 0).ravel()
    order = np.full(actions, -1, np.int64)
    order[on_places[on_places >= 0]] = np.flatnonzero(on_places >= 0)
    others = np.flatnonzero(order < 0)
    order[others] = len(on_places) + np.arange(len(others))
    return order


def _layers(tensors: Mapping[str, Float], part: str) -> Layers:
    """Return the weights, inputs first and outputs last, and the biases of a part's layers."""
    count = sum(name.startswith(f"{part}.") and name.endswith(".weight") for name in tensors)
    names = [f"{part}.{layer}" for layer in range(count)]
    return [(np.ascontiguousarray(tensors[f"{n}.weight"].T), tensors[f"{n}.bias"]) for n in names]


def _width_after(layers: Layers, width: int) -> int:
    """Return how many numbers layers give for so many; -1 if they take others."""
    for weight, bias in layers:
        if weight.shape != (width, len(bias)):
            return -1
        width = len(bias)
    return width


def _trunk(layers: Layers, x: Float) -> Float:
    for weight, bias in layers:
        x = np.maximum(x @ weight + bias, np.float32(0))
    return x


def _head(layers: Layers, x: Float) -> Float:
    weight, bias = layers[-1]
    return _trunk(layers[:-1], x) @ weight + bias


def _convolve(image: Float, weight: Float) -> Float:
    """Return the convolution of images (rows, height, width, in) with a kernel (across, down, in, out), same size.

    The padded images are one long row of places, in which a step down is a step of constant length. So each of the
    nine products takes a contiguous part of it, and nothing is copied.
    """
    rows, height, width, channels = image.shape
    padded = np.zeros((rows, height + KERNEL - 1, width + KERNEL - 1, channels), np.float32)
    padded[:, 1:-1, 1:-1] = image
    flat, down = padded.reshape(-1, channels), width + KERNEL - 1
    whole = len(flat) - (KERNEL - 1) * (down + 1)
    out = np.zeros((len(flat), weight.shape[3]), np.float32)
    for y in range(KERNEL):
        for x in range(KERNEL):
            start = y * down + x
            out[:whole] += flat[start : start + whole] @ weight[x, y]
    return out.reshape(*padded.shape[:3], -1)[:, :height, :width]
