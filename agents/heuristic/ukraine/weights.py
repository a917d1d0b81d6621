"""The weights of the scripted agents, one table: what each means, and how much it is for greedy and for the planner."""

from __future__ import annotations

from typing import NamedTuple


class Weights(NamedTuple):
    """What an evaluation reckons with; points unless something else is said.

    Attributes:
        use: share of its turns that a seat can use to fill a given gap of a feature; 0: nothing gets completed.
        extend: what a tile counts that fits into a gap but opens the feature elsewhere; one that closes it counts 1.
        gap: factor on the chance of completion for each gap after the first.
        fill: share of its turns that a seat can use to fill a given square beside a monastery.
        best_rival: share of the best rival in what a seat compares itself with; the mean of all has the rest.
        meeples: what all meeples together are worth at home, with many turns left.
        meeple_scale: meeples at home with which a seat has 63 % of that.
        meeple_time: own turns left with which a meeple is worth half of what it is worth at the start.
        large: meeples that a large one counts as.
        back: share of the meeples on features likely to be completed that counts as being at home.
        builder_home, builder_on: a builder at home, and one on something that can be extended.
        pig_home: a pig at home.
        again: the extra part-turn of a builder.
        field_early: how much of its points a field is worth at the start; all of them at the end.
        goods_spread: goods by which the lead in a kind may still change, for each that is not taken, to the power 1/2.
        chip_hold: share of the points of its best trades that a hand of chips is worth.
        chip_grow: share of the step to a trade with one chip more.
        chip_time: own turns left with which a chip in hand is worth half of that.
        chip: a chip that is not known.
        lying: how likely a seat builds on a Chumak square if its tile fits.
    """

    use: float
    extend: float
    gap: float
    fill: float
    best_rival: float
    meeples: float
    meeple_scale: float
    meeple_time: float
    large: float
    back: float
    builder_home: float
    builder_on: float
    pig_home: float
    again: float
    field_early: float
    goods_spread: float
    chip_hold: float
    chip_grow: float
    chip_time: float
    chip: float
    lying: float


#: Counts what would be paid if the game ended now; figures and chips only break ties.
GREEDY = Weights(
    use=0.0,
    extend=0.0,
    gap=1.0,
    fill=0.0,
    best_rival=1.0,
    meeples=0.5,
    meeple_scale=4.0,
    meeple_time=1.0,
    large=1.5,
    back=0.0,
    builder_home=0.0,
    builder_on=0.1,
    pig_home=0.05,
    again=0.2,
    field_early=1.0,
    goods_spread=0.0,
    chip_hold=0.2,
    chip_grow=0.0,
    chip_time=1.0,
    chip=0.2,
    lying=0.0,
)

PLANNER = Weights(
    use=0.15,
    extend=0.15,
    gap=0.85,
    fill=0.5,
    best_rival=0.5,
    meeples=18.0,
    meeple_scale=4.0,
    meeple_time=8.0,
    large=1.4,
    back=0.9,
    builder_home=2.0,
    builder_on=5.0,
    pig_home=1.0,
    again=4.0,
    field_early=0.25,
    goods_spread=0.8,
    chip_hold=0.85,
    chip_grow=0.6,
    chip_time=2.0,
    chip=2.0,
    lying=0.7,
)
