"""Games of both implementations in which hypothesis chooses every action and every chance outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.reference import differential


def drawn_play(
    data: st.DataObject, state: Any, reference: Any, plies: int, order: Callable[[str], Any] | None = None
) -> None:
    """Let hypothesis choose, compare, and play it on both sides.

    Args:
        data: where the choices come from.
        state: of the kernels.
        reference: the same position of the reference.
        plies: how many at most.
        order: sorts the words of the options; small numbers of hypothesis mean the first ones. By default the alphabet.
    """
    for _ in range(plies):
        differential.compare_structs(state, reference)
        options = differential.compare_options(state, reference)
        if not options:
            differential.compare_ends(state, reference)
            return
        words = sorted(options, key=order)
        chosen = words[data.draw(st.integers(0, len(words) - 1), label=f"one of {len(words)}")]
        if state.is_chance:
            state.resolve(options[chosen])
            reference.resolve(chosen)
        else:
            state.step(options[chosen])
            reference.play(chosen)
    differential.compare_structs(state, reference)
