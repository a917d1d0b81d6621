"""Terminal returns from final standings, the same for every game."""

from __future__ import annotations

import numpy as np

from caravan_env.core.kernel import kernel

RETURN_WIN, RETURN_RANK, RETURN_MARGIN = range(3)  # the order of params.RETURNS


@kernel
def write_returns(mode, players, standing, out):
    """Turn final standings into returns that sum to zero, see `GameParams.returns`.

    Args:
        mode: RETURN_WIN, RETURN_RANK or RETURN_MARGIN.
        players: number of seats, at least 2; a game for one says itself what it is to win.
        standing: integer array, at least (players,); higher is better, equal is a tie.
        out: (players,) float64; holds the scores on entry and the returns on exit.
    """
    if mode == RETURN_MARGIN:
        _margins(players, out)
        return
    for seat in range(players):
        above = 0
        level = 0
        for other in range(players):
            above += standing[other] > standing[seat]
            level += standing[other] == standing[seat]
        if mode == RETURN_WIN:
            out[seat] = ((players / level if above == 0 else 0.0) - 1.0) / (players - 1.0)
        else:
            place = above + 0.5 * (level - 1.0)
            out[seat] = 1.0 - 2.0 * place / (players - 1.0)


@kernel
def _margins(players, out):
    total = 0.0
    for seat in range(players):
        total += out[seat]
    for seat in range(players):
        out[seat] -= (total - out[seat]) / (players - 1.0) if players > 1 else np.float64(0.0)
