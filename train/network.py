"""The learner's networks; `agents.network` has the same ones on numpy, for playing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from agents.network import KERNEL, Board
from caravan_env.core.game import Game
from train.config import NetworkConfig

LAST_GAIN = 0.01  # of the last layers: the first policy is nearly uniform, the first values are nearly 0

Widths = Mapping[str, Sequence[int]]


class Network(nn.Module):
    """ReLU layers of a shared trunk, a policy head and a value head."""

    def __init__(self, inputs: int, actions: int, widths: Widths) -> None:
        super().__init__()
        self.trunk = _layers([inputs, *widths["trunk"]])
        stem = [inputs, *widths["trunk"]][-1]
        self.policy = _layers([stem, *widths["policy"], actions], gain=LAST_GAIN)
        self.value = _layers([stem, *widths["value"], 1], gain=LAST_GAIN)

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (rows, actions) and values (rows, 1) of observations (rows, inputs)."""
        stem = _trunk(self.trunk, obs)
        return _head(self.policy, stem), _head(self.value, stem)


class BoardNetwork(nn.Module):
    """Convolutions over the planes of an observation, joined with what is not in planes.

    The rest of the observation goes through the trunk. A linear map of what comes out is added at every place to what
    the first convolution sees. The logits of the actions that belong to a place are a linear map of the last channels
    there; all other logits and the value come from heads on the mean and the maximum of each channel and the trunk.
    """

    planes: Tensor
    vector: Tensor
    order: Tensor

    def __init__(self, board: Board, widths: Widths) -> None:
        super().__init__()
        channels, trunk = widths["channels"], [len(board.vector), *widths["trunk"]]
        stem = 2 * channels[-1] + trunk[-1]
        self.trunk = _layers(trunk)
        self.spread = _layers([trunk[-1], channels[0]])
        self.board = _convolutions([board.shape[0], *channels])
        self.places = _layers([channels[-1], board.places], gain=LAST_GAIN)
        self.policy = _layers([stem, *widths["policy"], board.others], gain=LAST_GAIN)
        self.value = _layers([stem, *widths["value"], 1], gain=LAST_GAIN)
        self.shape = board.shape
        for name in ("planes", "vector", "order"):
            self.register_buffer(name, torch.from_numpy(getattr(board, name)), persistent=False)

    def forward(self, obs: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (rows, actions) and values (rows, 1) of observations (rows, inputs)."""
        vector = _trunk(self.trunk, obs[:, self.vector])
        image = self._look(obs[:, self.planes].unflatten(1, self.shape), _head(self.spread, vector))
        stem = torch.cat([image.mean(dim=(2, 3)), image.amax(dim=(2, 3)), vector], dim=1)
        on_places = _head(self.places, image.permute(0, 2, 3, 1)).flatten(1)
        logits = torch.cat([on_places, _head(self.policy, stem)], dim=1)
        return logits[:, self.order], _head(self.value, stem)

    def _look(self, image: Tensor, spread: Tensor) -> Tensor:
        """Return the last channels (rows, channels, height, width)."""
        first, *later = self.board
        image = image.contiguous(memory_format=torch.channels_last)  # convolutions on a CPU are faster so
        image = torch.relu(first(image) + spread[:, :, None, None])
        for layer in later:
            image = torch.relu(layer(image))
        return image


PolicyNetwork = Network | BoardNetwork


def make_network(game: Game, config: NetworkConfig) -> PolicyNetwork:
    """Return a new network for a game variant, its weights from torch's generator."""
    widths = config.model_dump(exclude={"kind"})
    if config.kind == "board":
        return BoardNetwork(Board(game), widths)
    return Network(game.layout.size, game.num_actions, widths)


def _layers(widths: Sequence[int], gain: float = 2**0.5) -> nn.ModuleList:
    """Return linear layers with orthogonal weights; `gain` is the last one's."""
    return _orthogonal([nn.Linear(a, b) for a, b in zip(widths[:-1], widths[1:], strict=True)], gain)


def _convolutions(channels: Sequence[int]) -> nn.ModuleList:
    """Return convolutions that keep height and width, with orthogonal weights."""
    pairs = zip(channels[:-1], channels[1:], strict=True)
    return _orthogonal([nn.Conv2d(a, b, KERNEL, padding="same") for a, b in pairs], 2**0.5)


def _orthogonal(layers: Sequence[nn.Linear | nn.Conv2d], gain: float) -> nn.ModuleList:
    for layer in layers:
        nn.init.orthogonal_(layer.weight, gain if layer is layers[-1] else 2**0.5)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)
    return nn.ModuleList(layers)


def _trunk(layers: nn.ModuleList, x: Tensor) -> Tensor:
    for layer in layers:
        x = torch.relu(layer(x))
    return x


def _head(layers: nn.ModuleList, x: Tensor) -> Tensor:
    *before, last = layers
    for layer in before:
        x = torch.relu(layer(x))
    out: Tensor = last(x)
    return out
