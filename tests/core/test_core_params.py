"""Rule switches as checked dataclasses, with the switches of no particular game."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from caravan_env.core.errors import BadParams, CaravanError, nearest
from caravan_env.core.params import GameParams, switch


class Table:
    """A value that knows its own JSON."""

    def to_json(self) -> str:
        return "round"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Params(GameParams):
    level: int = switch(1, "how hard", (1, 2, 3))
    name: str = switch("x", "what it is called")
    limit: int | None = switch(None, "turns, or none")
    fair: bool = switch(True, "no tricks", (True, False))
    table: Any = switch("square", "anything")

    def check(self) -> None:
        if self.players > 9:
            raise BadParams(f"{self.players} players are too many")


def test_defaults_and_json() -> None:
    params = Params(players=3, level=2, table=Table())
    assert params.to_json() == {
        "players": 3,
        "returns": "win",
        "level": 2,
        "name": "x",
        "limit": None,
        "fair": True,
        "table": "round",
    }
    plain = Params(players=3, level=2)
    assert Params.from_mapping(json.loads(json.dumps(plain.to_json()))) == plain
    assert hash(plain) == hash(Params(players=3, level=2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        plain.level = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"level": 4}, "level = 4 is not possible. Allowed: 1, 2, 3"),
        ({"level": True}, "level = True is not possible. Allowed: 1, 2, 3"),
        ({"level": 1.0}, "level = 1.0 is not possible. Allowed: 1, 2, 3"),
        ({"level": [1]}, "level = [1] is not possible. Allowed: 1, 2, 3"),
        ({"fair": 1}, "fair = 1 is not possible. Allowed: True, False"),
        ({"name": 5}, "name = 5 is not possible: it must be of type str"),
        ({"limit": "5"}, "limit = '5' is not possible: it must be of type int or NoneType"),
        ({"players": 10}, "10 players are too many"),
        ({"returns": "wins"}, "returns = 'wins' is not possible. Allowed: 'win', 'rank', 'margin'"),
        ({"levle": 1}, "'levle' is no rule switch of this game: did you mean 'level'? Allowed: fair, level, limit, "),
        ({5: 1}, "5 is no rule switch of this game: Allowed: fair, "),
    ],
)
def test_impossible_values(values: dict[Any, Any], sentence: str) -> None:
    with pytest.raises(BadParams) as error:
        Params.from_mapping(values)
    assert str(error.value).startswith(sentence)
    assert isinstance(error.value, CaravanError) and isinstance(error.value, ValueError)


def test_a_union_takes_each_of_its_types() -> None:
    assert Params(limit=5).limit == 5 and Params(limit=None).limit is None


def test_describe_lists_every_switch() -> None:
    described = {name: rest for name, *rest in Params.describe()}
    assert described["level"] == [1, (1, 2, 3), "how hard"]
    assert described["players"] == [2, None, "number of seats"]
    assert list(described) == ["players", "returns", "level", "name", "limit", "fair", "table"]


def test_nearest() -> None:
    assert nearest("alpa", ["beta", "alpha"]) == "did you mean 'alpha'? Allowed: alpha, beta"
    assert nearest("zzz", ["beta", "alpha"]) == "Allowed: alpha, beta"
