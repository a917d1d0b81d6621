"""Pgx, connect_four, on the CPU with one thread: jit(vmap(step)) with auto-reset, at the batch size that suits it best.

Three figures, each the best over BATCHES. In all of them the State holds the observation, the legal-action mask, the
rewards and the flags of every game after every step.
    step: one jitted call per step; the actions are legal ones recorded beforehand, so choosing them costs nothing.
    random: one jitted call per step, which also draws a uniformly random legal action with Pgx's own `act_randomly`.
    scan: as random, with STEPS steps in one jitted call by lax.scan, so Python is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pgx
from common import emit, parser, rate, versions
from pgx.experimental import act_randomly, auto_reset

BATCHES = (256, 512, 1024, 2048, 4096, 8192, 16384)
STEPS = 32


def loops(env: Any, batch: int) -> dict[str, Callable[[], int]]:
    """Return the three loops for one batch size; each call plays STEPS steps in every game and returns their number."""
    start = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), batch))
    vstep = jax.vmap(auto_reset(env.step, env.init))
    reset_keys = jax.random.split(jax.random.PRNGKey(1), batch)
    step, pick = jax.jit(vstep), jax.jit(act_randomly)

    def draw_and_step(state: Any, key: Any) -> tuple[Any, Any]:
        key, key_act, key_step = jax.random.split(key, 3)
        action = act_randomly(key_act, state.legal_action_mask)
        return vstep(state, action, jax.random.split(key_step, batch)), key

    one = jax.jit(draw_and_step)
    many = jax.jit(lambda *carry: jax.lax.scan(lambda c, _: (draw_and_step(*c), None), carry, length=STEPS)[0])

    recorded, state = [], start
    for key in jax.random.split(jax.random.PRNGKey(2), 2 * STEPS):
        recorded.append(pick(key, state.legal_action_mask))
        state = step(state, recorded[-1], reset_keys)

    def replay() -> int:
        state = start
        for action in recorded:
            state = step(state, action, reset_keys)
        jax.block_until_ready(state)
        return batch * len(recorded)

    carry = (start, jax.random.PRNGKey(3))

    def random() -> int:
        nonlocal carry
        for _ in range(STEPS):
            carry = one(*carry)
        jax.block_until_ready(carry)
        return batch * STEPS

    def scan() -> int:
        nonlocal carry
        carry = jax.block_until_ready(many(*carry))
        return batch * STEPS

    return {"step": replay, "random": random, "scan": scan}


def main() -> None:
    """Try every batch size for one round, then measure the best one of each loop properly."""
    options = parser(__doc__).parse_args()
    env = pgx.make("connect_four")
    about = {"versions": versions("pgx", "jax", "jaxlib"), "game": "connect_four", "device": str(jax.devices()[0])}
    actions = {"step": "legal, recorded beforehand"}
    by_batch = {batch: loops(env, batch) for batch in BATCHES}
    for metric in ("step", "random", "scan"):
        tried = {batch: rate(by_batch[batch][metric], options.seconds, rounds=1) for batch in BATCHES}
        best = max(tried, key=tried.__getitem__)
        speed = max(tried[best], rate(by_batch[best][metric], options.seconds))
        drawn = actions.get(metric, "uniformly random legal, drawn in the jitted call")
        emit("pgx", metric, speed, **about, batch=best, actions=drawn, by_batch=tried)


if __name__ == "__main__":
    main()
