"""Century: Spice Road: merchants turn spices into better ones, and into points. RULES.md has the rules."""

from __future__ import annotations

from caravan_env.core.contract import GameSpec
from caravan_env.games.century import layout, rules, text
from caravan_env.games.century.params import CenturyParams

SPEC = GameSpec(
    name="century",
    title="Century: Spice Road",
    version=1,
    params_type=CenturyParams,
    state_dtype=layout.STATE,
    actions=layout.ACTIONS,
    max_outcomes=layout.MAX_OUTCOMES,
    observation=layout.observation,
    new_row=layout.new_row,
    rules=rules,
    text=text,
    draw="caravan_env.games.century.draw",
    variants={
        "default": {},
        "expert": {"expert": True},
        "top-only": {"automa_claims": "top_only"},
        "refresh-row": {"roll_one_refresh": "row"},
        "refresh-none": {"roll_one_refresh": "none"},
        "automa-no-produce": {"automa_produces": False},
        "reshuffle": {"reshuffle_discards": True},
        "two": {"players": 2},
        "three": {"players": 3},
        "four": {"players": 4},
        "five": {"players": 5},
        "short-limit": {"turn_limit": 20},
    },
)
