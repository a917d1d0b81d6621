"""Caravan: camels carry goods over a 7x7 grid to the cities that want them. RULES.md has the rules."""

from __future__ import annotations

from caravan_env.core.contract import GameSpec
from caravan_env.games.caravan import layout, rules, text
from caravan_env.games.caravan.params import CaravanParams

SPEC = GameSpec(
    name="caravan",
    title="Caravan",
    version=1,
    params_type=CaravanParams,
    state_dtype=layout.STATE,
    actions=layout.ACTIONS,
    max_outcomes=layout.MAX_OUTCOMES,
    observation=layout.observation,
    new_row=layout.new_row,
    rules=rules,
    text=text,
    draw="caravan_env.games.caravan.draw",
    variants={
        "default": {},
        "three": {"players": 3},
        "four": {"players": 4},
        "full": {"goods": "full"},
        "six-camels": {"camels": 6},
        "rainbow": {"rainbow_camel": True},
        "rainbow-three": {"players": 3, "rainbow_camel": True, "camels": 6},
        "no-ban": {"last_camel_ban_on_steal": False},
        "pinwheel": {"board": "pinwheel"},
        "diagonal": {"board": "diagonal"},
        "seat-one-starts": {"starting_seat": 1},
        "short-limit": {"turn_limit": 20},
    },
)
