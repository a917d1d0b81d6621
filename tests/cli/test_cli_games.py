"""`caravan games` and the reading of rule switches."""

from __future__ import annotations

import click
import pytest

from caravan_env.cli.options import build_game, parse_switches
from caravan_env.core.errors import BadParams
from caravan_env.core.registry import game_names, game_spec


def test_lists_every_game(caravan):
    assert [game["name"] for game in caravan("games", "--json").json["games"]] == game_names()
    assert all(name in caravan("games").out for name in game_names())


@pytest.mark.parametrize("name", game_names())
def test_describes_a_game(caravan, name):
    spec = game_spec(name)
    details = caravan("games", name, "--json").json
    assert [s["name"] for s in details["switches"]] == [row[0] for row in spec.params_type.describe()]
    assert sum(group["number"] for group in details["actions"]) == spec.actions.size
    assert set(details["variants"]) == set(spec.variants)
    text = caravan("games", name).out
    assert all(switch["name"] in text for switch in details["switches"])


def test_unknown_game_offers_the_nearest(caravan):
    assert "did you mean 'caravan'?" in caravan("games", "carvan").sentence


def test_switches_get_their_types():
    values = parse_switches(
        game_spec("caravan"),
        ["players=3", "rainbow_camel=yes", "goods=FULL", "last-camel-ban-on-steal=off", "board=pinwheel"],
    )
    assert values == {
        "players": 3,
        "rainbow_camel": True,
        "goods": "full",
        "last_camel_ban_on_steal": False,
        "board": "pinwheel",
    }


def test_a_board_can_be_given_as_json():
    with pytest.raises(BadParams, match="lacks the field"):
        parse_switches(game_spec("caravan"), ['board={"name": "mine"}'])


@pytest.mark.parametrize(
    ("switch", "sentence"),
    [
        ("plyers=3", "did you mean 'players'"),
        ("players=many", "must be of type int"),
        ("players=9", "2 to 4 players"),
        ("goods=none", "Allowed: 'auto', 'short', 'full'"),
        ("rainbow_camel=maybe", "Allowed: True, False"),
    ],
)
def test_wrong_switches_say_what_is_allowed(switch, sentence):
    with pytest.raises(BadParams, match=sentence):
        parse_switches(game_spec("caravan"), [switch])


@pytest.mark.parametrize("switches", [["players"], ["players=2", "players=3"], ["board={x"]])
def test_malformed_switches_are_usage_errors(switches):
    with pytest.raises(click.UsageError):
        parse_switches(game_spec("caravan"), switches)


def test_players_follow_from_the_agents_unless_set():
    assert build_game("caravan", [], players=4).players == 4
    assert build_game("caravan", ["players=3"], players=4).players == 3
