"""Learning the value of positions by TD(lambda) from games against itself, as TD-Gammon did (Tesauro 1995).

Games are played whole inside the kernels, by the network as it is (`agents.value.kernels`): it says what the position
after each action is worth, and the best action, or the best way to play the turn, is played. The network then learns
from a memory of the last decisions. What plays and what is saved is the moving average of its weights.

With `td.against` it plays one seat and a frozen network all others: it learns an approximate best response to that
network, whose win rate says how exploitable the network is at least (Timbers et al. 2022).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.logger import Logger
from torch import Tensor

from agents.neural import load_policy
from agents.registry import BEST, make_agent
from agents.value.agent import ValueAgent
from agents.value.binding import bound, new_ahead, new_beam, new_log
from agents.value.kernels import Log
from agents.value.network import ValueNetwork
from caravan_env.core.game import Game
from caravan_env.core.rng import streams
from train.checkpoint import Tensors
from train.config import BadConfig, Config
from train.ppo import at

PARTS = 4  # of the games of an iteration; the result does not depend on the threads that share them
SELF_PLAY = -1
FROZEN = "frozen/"  # before the names of the frozen network's weights in a checkpoint


class TDLearner:
    """The network, the memory that it learns from, and how its games are played; see `train.learner.Learner`."""

    def __init__(self, game: Game, config: Config, logger: Logger) -> None:
        self.game = game
        self.config = config
        self.step = 0
        self.logger = logger
        choice = config.td
        self._players = [Player(game, config) for _ in range(PARTS)]
        features = self._players[0].features
        start = ValueNetwork.new(self._players[0].observation, features, choice.widths, config.seed)
        self._raw = {name: torch.tensor(array).requires_grad_() for name, array in start.tensors.items()}
        self._mean = {name: tensor.detach().clone() for name, tensor in self._raw.items()}
        self._optimizer = torch.optim.Adam(self._raw.values(), lr=choice.learning_rate)
        self._scale = torch.tensor(game.layout.scale[: self._players[0].observation])
        self._memory = Memory(choice.memory, self._players[0].observation, features)
        self._frozen: ValueNetwork | None = None

    def begin(self, seed: int) -> None:
        """Read the networks that the configuration names.

        Raises:
            BadConfig: one that is not for this run.
            BadCheckpoint: one that cannot be read, or not be used in this variant.
            UnknownName: there is no best agent for this variant.
        """
        choice = self.config.td
        if choice.against is not None:
            if self.game.players == 1:
                raise BadConfig(f"td.against = {choice.against!r} is not possible: {self.game.name} has one seat here")
            self._frozen = self._named("td.against", choice.against)
        if choice.start is not None:
            start = self._named("td.start", choice.start)
            widths = [len(start.tensors[f"{layer}.bias"]) for layer in ("into", "middle")]
            if widths != choice.widths:
                raise BadConfig(
                    f"td.widths = {choice.widths} is not possible: td.start = {choice.start!r} has the widths {widths}"
                )
            self._set(start.tensors, start.tensors)

    def iterate(self, iteration: int, progress: float, seed: int) -> None:
        """Play games, remember their decisions, and learn from the memory.

        Raises:
            BadConfig: a game is longer than the log of decisions.
        """
        start = time.perf_counter()
        network = ValueNetwork(self.weights())
        with ThreadPoolExecutor(self.config.threads) as pool:
            games = sum(pool.map(lambda k: self._players[k].play(network, seed, k, self._frozen), range(PARTS)))
        played = time.perf_counter() - start
        new = sum(self._memory.add(player.log, player.decisions) for player in self._players)
        if new == 0:
            raise BadConfig(f"td.decisions = {self.config.td.decisions} is too small: no game ends within so many")
        self.step += new
        loss = self._learn(new, progress, seed)
        record = self.logger.record
        record("train/loss", loss)
        record("train/variance_of_targets", self._memory.variance())
        record("rollout/games", games)
        if self._frozen is not None:
            record("rollout/return", sum(player.returns for player in self._players) / games)
        record("time/self_play", played / (time.perf_counter() - start))

    def agent(self, sample: bool, seed: int) -> ValueAgent:
        """Return an agent that plays by the mean weights, with the search that it learns with."""
        choice = self.config.td
        return ValueAgent(self.game, ValueNetwork(self.weights()), seed, beam=choice.beam, depth=choice.depth)

    def network(self) -> dict[str, Any]:
        """See `Learner.network`."""
        return {"kind": "value", "widths": self.config.td.widths}

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the mean weights."""
        return {name: tensor.numpy().copy() for name, tensor in self._mean.items()}

    def snapshot(self) -> tuple[Tensors, dict[str, Any]]:
        """Return the weights as they are, the optimizer's moments and the frozen network.

        A run that goes on thus meets the same opponent, wherever the name in the configuration leads to by then. The
        memory is not kept, it fills again.
        """
        tensors = {f"raw/{name}": tensor.detach().numpy().copy() for name, tensor in self._raw.items()}
        if self._frozen is not None:
            tensors |= {f"{FROZEN}{name}": array for name, array in self._frozen.tensors.items()}
        for number, moments in self._optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{number}.{what}": tensor.numpy().copy() for what, tensor in moments.items()}
        return tensors, {}

    def restore(self, step: int, iteration: int, weights: Tensors, tensors: Tensors, state: dict[str, Any]) -> None:
        """See `Learner.restore`."""
        self.step = step
        self._set({name: tensors[f"raw/{name}"] for name in self._raw}, weights)
        if self.config.td.against is not None:
            self._frozen = ValueNetwork({name: tensors[f"{FROZEN}{name}"] for name in self._raw})
        moments: dict[int, dict[str, Tensor]] = {}
        for name, array in tensors.items():
            if name.startswith("optimizer/"):
                number, _, what = name.removeprefix("optimizer/").partition(".")
                moments.setdefault(int(number), {})[what] = torch.from_numpy(array)
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": moments, "param_groups": groups})

    def values(self, obs: Tensor, feats: Tensor) -> Tensor:
        """Return the values (rows,) of observations (rows, observation) uint8 and features; see `kernels.Net`."""
        w = self._raw
        inputs = torch.cat([obs.float() * self._scale, feats], dim=1)
        first = torch.relu(inputs @ w["into.weight"].T + w["into.bias"])
        second = torch.relu(first @ w["middle.weight"].T + w["middle.bias"])
        return torch.tanh((second @ w["out.weight"].T)[:, 0] + (feats @ w["skip.weight"].T)[:, 0])

    def _named(self, key: str, name: str) -> ValueNetwork:
        """Return the network that `key` of the configuration names; see `begin` for what it raises."""
        agent = make_agent(BEST, self.game) if name == BEST else load_policy(name, self.game)
        if not isinstance(agent, ValueAgent):
            raise BadConfig(f"{key} = {name!r} is not possible: it has no value network")
        network, player = agent.network, self._players[0]
        if (network.observation, network.features) != (player.observation, player.features):
            raise BadConfig(
                f"{key} = {name!r} is not possible: it reads {network.observation} observed values and "
                f"{network.features} features; this run's network reads {player.observation} and {player.features}"
            )
        return network

    def _set(self, raw: Tensors, mean: Tensors) -> None:
        """Copy weights to the network that learns, and to the mean."""
        with torch.no_grad():
            for name, tensor in self._raw.items():
                tensor.copy_(torch.from_numpy(raw[name]))
                self._mean[name].copy_(torch.from_numpy(mean[name]))

    def _learn(self, new: int, progress: float, seed: int) -> float:
        """Make `reuse` passes' worth of steps over as many decisions as are new; return the mean loss."""
        choice = self.config.td
        for group in self._optimizer.param_groups:
            group["lr"] = at(choice.learning_rate, choice.learning_rate_end, progress)
        generator = torch.Generator().manual_seed(seed)
        losses = []
        for _ in range(max(1, round(new * choice.reuse / choice.batch_size))):
            obs, feats, targets = self._memory.draw(choice.batch_size, generator)
            loss = (self.values(obs, feats) - targets).square().mean()
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._optimizer.step()
            for name, mean in self._mean.items():
                mean.lerp_(self._raw[name].detach(), 1.0 - choice.average)
            losses.append(loss.item())
        return float(np.mean(losses))


class Player:
    """Plays games by a network on its own or against another one, and logs its decisions.

    Attributes:
        observation, features: numbers of inputs.
        log: the decisions of the last call of `play`.
        decisions: how many.
        returns: sum of its returns in those games; 0 if it was on its own.
    """

    def __init__(self, game: Game, config: Config) -> None:
        self._game, self._choice = game, config.td
        self._bound = bound(game, config.td.features)
        self.features = self._bound.features
        self.observation = 0 if self.features else game.layout.size
        self.log: Log = new_log(game, self.observation, self.features, config.td.decisions // PARTS)
        self.decisions = 0
        self.returns = 0.0
        self._beam = new_beam(game, max(config.td.beam, 1), config.td.depth)
        self._ahead = new_ahead(game, 1, 0, 1, 1)

    def play(self, network: ValueNetwork, seed: int, part: int, frozen: ValueNetwork | None = None) -> int:
        """Fill the log with the network's decisions in whole games; return the number of games.

        Args:
            network: plays all seats, or with a frozen one a single seat, the next one in each game.
            seed: of the games.
            part: which of those with this seed; also moves the seat of the first game.
            frozen: plays the other seats, never at random, and counts a finished game by its return alone.
        """
        choice, game, results = self._choice, self._game, np.zeros(2)
        net = network.net(game, (choice.margin, choice.margin_scale, choice.patience))
        chance, lots = streams(seed, 1, 2 * part), streams(seed, 1, 2 * part + 1)
        other = net if frozen is None else frozen.net(game)
        self.decisions = self._bound.run["play_to_log"](
            np.repeat(game.template, 1),
            chance,
            lots,
            np.zeros(game.spec.max_outcomes, np.int64),
            game.template,
            choice.explore,
            choice.depth if choice.beam else 0,
            choice.trace,
            SELF_PLAY if frozen is None else (seed + part) % game.players,
            net,
            other,
            self._bound.scratch,
            self._beam,
            self._ahead,
            self.log,
            results,
        )
        self.returns = float(results[1])
        return int(results[0])


class Memory:
    """The last decisions, the oldest overwritten first."""

    def __init__(self, size: int, observation: int, features: int) -> None:
        self._arrays: Mapping[str, Tensor] = {
            "obs": torch.zeros(size, observation, dtype=torch.uint8),
            "feats": torch.zeros(size, features),
            "targets": torch.zeros(size),
        }
        self._size, self._next, self._filled = size, 0, 0

    def add(self, log: Log, decisions: int) -> int:
        """Take in the first decisions of a log; return how many there are."""
        places = (self._next + torch.arange(decisions)) % self._size
        for name, array in self._arrays.items():
            array[places] = torch.from_numpy(getattr(log, name)[:decisions])
        self._next = (self._next + decisions) % self._size
        self._filled = min(self._size, self._filled + decisions)
        return decisions

    def draw(self, rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Return observations, features and targets of decisions drawn with replacement."""
        places = torch.randint(self._filled, (rows,), generator=generator)
        obs, feats, targets = (array[places] for array in self._arrays.values())
        return obs, feats, targets

    def variance(self) -> float:
        """Return the variance of the targets."""
        return float(self._arrays["targets"][: self._filled].var())
