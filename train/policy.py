"""The learner's network as a policy of MaskablePPO, lean where the stock one spends its time.

Sampling inverts the cumulative distribution (30 times faster than torch.multinomial on a CPU), masks stay boolean, and
log-probabilities and entropies come from one masked log-softmax with a gradient of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import Tensor

from train.network import PolicyNetwork

MASKED = 1e8  # taken off the logits of illegal actions; finite, so that 0 * MASKED is 0


class MaskedLogProbs(torch.autograd.Function):
    """(logits, mask, actions) -> log-probability of each action and entropy of each row, both (rows,)."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, mask: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Compute both from the masked logits; exp of log-probabilities would be slow, as they underflow."""
        masked = _masked(logits, mask)
        log_probs, probs = torch.log_softmax(masked, dim=1), torch.softmax(masked, dim=1)
        entropy = -(probs * log_probs).sum(dim=1)
        ctx.save_for_backward(log_probs, probs, entropy, actions)
        return log_probs.gather(1, actions[:, None]).squeeze(1), entropy

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        """Chain d log p(a) = [a] - p and d entropy = -p (log p + entropy)."""
        log_probs, probs, entropy, actions = ctx.saved_tensors
        grad_log_prob, grad_entropy = grads[0][:, None], grads[1][:, None]
        grad = (log_probs + entropy[:, None]).mul_(-grad_entropy).sub_(grad_log_prob).mul_(probs)
        return grad.scatter_add_(1, actions[:, None], grad_log_prob), None, None


class FastMaskedPolicy(MaskableActorCriticPolicy):
    """Drop-in policy of MaskablePPO for flat observations, as uint8 counts, and one discrete action."""

    net: PolicyNetwork
    scale: Tensor

    def __init__(
        self, *args: Any, make_network: Callable[[], PolicyNetwork], scale: NDArray[np.float32], **kwargs: Any
    ) -> None:
        """Make the policy.

        Args:
            *args: see MaskableActorCriticPolicy.
            make_network: makes the network, once the generators are seeded.
            scale: (observation,) what the counts are multiplied by.
            **kwargs: see MaskableActorCriticPolicy.
        """
        self._make_network = make_network  # the base class calls `_build`
        super().__init__(*args, **kwargs)
        self.register_buffer("scale", torch.from_numpy(scale), persistent=False)

    def _build(self, lr_schedule: Any) -> None:
        self.net = self._make_network()
        make_optimizer = cast(Callable[..., torch.optim.Optimizer], self.optimizer_class)
        self.optimizer = make_optimizer(self.net.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: NDArray[Any] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return actions (rows,), values (rows, 1) and log-probabilities (rows,)."""
        logits, values = self.net(obs * self.scale)
        if action_masks is not None:
            logits = _masked(logits, torch.from_numpy(action_masks))
        probs = torch.softmax(logits, dim=1)
        actions = probs.argmax(dim=1) if deterministic else draw(probs)
        return actions, values, probs.gather(1, actions[:, None]).squeeze(1).log()

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return values (rows, 1), log-probabilities (rows,) and entropies (rows,), with gradients."""
        logits, values = self.net(obs * self.scale)
        mask = torch.ones_like(logits, dtype=torch.bool) if action_masks is None else action_masks
        log_prob, entropy = MaskedLogProbs.apply(logits, mask, actions)
        return values, log_prob, entropy

    def predict_values(self, obs: Tensor) -> Tensor:  # type: ignore[override]
        """Return values (rows, 1)."""
        values: Tensor = self.net(obs * self.scale)[1]
        return values

    def _predict(  # type: ignore[override]
        self, observation: Tensor, deterministic: bool = False, action_masks: NDArray[Any] | None = None
    ) -> Tensor:
        return self.forward(observation, deterministic, action_masks)[0]


class BooleanMaskBuffer(MaskableRolloutBuffer):
    """Rollout buffer with boolean masks, and minibatches drawn with torch's generator, the only one of the learner."""

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.action_masks = np.zeros(self.action_masks.shape, dtype=bool)

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Yield the rollout in random minibatches."""
        total = self.buffer_size * self.n_envs
        names = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
        columns = [torch.from_numpy(getattr(self, name)).flatten(0, 1) for name in names]
        for chosen in torch.randperm(total).split(batch_size or total):
            yield MaskableRolloutBufferSamples(*(column[chosen] for column in columns))


def draw(probs: Tensor) -> Tensor:
    """Draw one index per row of probabilities (rows, n), by inverting the cumulative distribution."""
    cumulative = probs.cumsum(dim=1, dtype=torch.float64)
    tickets = torch.rand(len(probs), 1) * cumulative[:, -1:]  # below the last: a float32 has no rounding up to it
    return torch.searchsorted(cumulative, tickets, right=True).squeeze(1)


def _masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Take MASKED off the logits where a boolean mask is False; twice as fast as masked_fill."""
    return logits + mask.reshape(logits.shape).to(logits.dtype).sub_(1.0).mul_(MASKED)
