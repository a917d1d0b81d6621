"""Carcassonne on the map of Ukraine, with Chumak chips: tiles, figures and hidden chips. RULES.md has the rules."""

from __future__ import annotations

from caravan_env.core.contract import GameSpec
from caravan_env.games.ukraine import layout, rules, text
from caravan_env.games.ukraine.params import UkraineParams

SPEC = GameSpec(
    name="ukraine",
    title="Carcassonne: Ukraine with Chumak chips",
    version=1,
    params_type=UkraineParams,
    state_dtype=layout.STATE,
    actions=layout.ACTIONS,
    max_outcomes=layout.MAX_OUTCOMES,
    observation=layout.observation,
    action_planes=layout.action_planes,
    new_row=layout.new_row,
    rules=rules,
    text=text,
    draw="caravan_env.games.ukraine.draw",
    variants={
        "default": {},
        "three": {"players": 3},
        "four": {"players": 4},
        "five": {"players": 5},
        "six": {"players": 6},
        "tiles-only": {"expansion_rules": "tiles_only"},
        "base-on-the-plane": {"map": "plane", "inns": False, "traders": False},
        "inns": {"traders": False},
        "traders": {"inns": False},
        "no-chips": {"chips": False},
        "nine": {"border_monastery": "nine"},
        "match-colour": {"chip_match": "colour"},
        "match-any": {"chip_match": "any"},
        "plane": {"map": "plane"},
    },
)
