"""A start better than chance: behaviour cloning of a scripted agent before self-play.

Where random play never reaches a reward, as in Caravan, a policy that has to find the first one by itself wastes
most of a short run. AlphaStar's league (Vinyals et al. 2019) begins from imitation for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

from agents.registry import make_agent
from caravan_env.core.batch import Batch
from caravan_env.core.game import Game
from train.config import ImitationConfig
from train.network import PolicyNetwork
from train.policy import MaskedLogProbs

ROWS = 128  # games that are played side by side
MIN_SHARE = 0.02  # of the learning rate, at the end


def imitate(network: PolicyNetwork, game: Game, config: ImitationConfig, seed: int, threads: int) -> float:
    """Train a network's policy to choose as an agent does.

    Args:
        network: is changed; its value head is left alone.
        game: the variant to play.
        config: the agent, how much of it, and how long to learn.
        seed: of everything random.
        threads: how many share the agent's thinking; the result does not depend on it.

    Returns:
        Mean cross-entropy in nats over the last epoch.
    """
    torch.manual_seed(seed)
    S, actions = collect(game, config, seed, threads)
    optimizer = torch.optim.Adam(network.parameters(), lr=config.learning_rate)
    total = config.epochs * -(-len(S) // config.batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: max(MIN_SHARE, 1.0 - k / total))
    losses: list[float] = []
    for _ in range(config.epochs):
        losses = []
        for chosen in torch.randperm(len(S)).split(config.batch_size):
            obs, mask = views(game, S[chosen.numpy()])
            log_prob, _ = MaskedLogProbs.apply(network(obs)[0], mask, torch.from_numpy(actions[chosen.numpy()]))
            loss = -log_prob.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    return float(np.mean(losses))


def collect(game: Game, config: ImitationConfig, seed: int, threads: int) -> tuple[NDArray[np.void], NDArray[np.int64]]:
    """Let the agent play against itself, and note what it chooses.

    Now and then a random action is played instead, so that the positions are not only those that the agent gets
    into; what is noted is always the agent's choice.

    Returns:
        Games (decisions,) of the state dtype, and the agent's actions (decisions,) int64.
    """
    batch = Batch(game, ROWS, seed)
    rng = np.random.default_rng(seed)
    choose = _chooser(game, config.agent or "", seed, threads)
    rounds = -(-config.decisions // ROWS)
    games, choices = np.empty((rounds, ROWS), batch.S.dtype), np.empty((rounds, ROWS), np.int64)
    for k in range(rounds):
        games[k], choices[k] = batch.S, choose(batch)
        strays = rng.random(ROWS) < config.noise
        batch.step(np.where(strays, batch.random_actions(), choices[k]))
    return games.ravel(), choices.ravel()


def views(game: Game, S: NDArray[np.void]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return observations (rows, observation) float32 and masks (rows, actions) bool of the seats to move."""
    rows = len(S)
    counts, mask = np.empty((rows, game.layout.size), np.uint8), np.empty((rows, game.num_actions), np.uint8)
    game.loops["view_rows"](S, np.empty(rows, np.int64), mask, np.empty(rows, np.int64), counts)
    return torch.from_numpy(game.layout.scaled(counts)), torch.from_numpy(mask.view(np.bool_))


def _chooser(game: Game, spec: str, seed: int, threads: int) -> Callable[[Batch], NDArray[np.int64]]:
    """Return a function that asks one agent per thread about its share of the rows; kernels run without the GIL."""
    spans = np.array_split(np.arange(ROWS), threads)
    agents = [make_agent(spec, game, seed) for _ in spans]
    pool = ThreadPoolExecutor(threads)

    def choose(batch: Batch) -> NDArray[np.int64]:
        parts = pool.map(lambda agent, rows: agent.act_games(batch.S[rows], batch.mask[rows], rows), agents, spans)
        return np.concatenate(list(parts))

    return choose
