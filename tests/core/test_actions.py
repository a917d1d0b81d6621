"""The numbering of actions: groups in order, each a grid, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caravan_env.core.actions import ActionTable
from caravan_env.core.registry import game_names, game_spec

TABLE = ActionTable(("go", (3, 4), ("who", "where")), ("say", (2,), ("what",)), ("end", (1,), ("end",)))


def test_numbers_run_through_the_groups() -> None:
    assert TABLE.size == 12 + 2 + 1
    assert [(g.name, g.start, g.stop, g.size) for g in TABLE.groups.values()] == [
        ("go", 0, 12, 12),
        ("say", 12, 14, 2),
        ("end", 14, 15, 1),
    ]
    assert TABLE.locate(0) == ("go", (0, 0))
    assert TABLE.locate(5) == ("go", (1, 1))  # the last axis runs fastest
    assert TABLE.locate(11) == ("go", (2, 3))
    assert TABLE.locate(13) == ("say", (1,))
    assert TABLE.locate(14) == ("end", (0,))
    assert TABLE.number("go", 2, 1) == 9
    assert TABLE["say"].axes == ("what",)


@pytest.mark.parametrize("table", [TABLE, *(game_spec(name).actions for name in game_names())])
def test_number_and_locate_are_inverse(table: ActionTable) -> None:
    for action in range(table.size):
        name, place = table.locate(action)
        assert table.number(name, *place) == action
        assert len(place) == len(table[name].shape) == len(table[name].axes)


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=3), min_size=1, max_size=4), st.data())
def test_inverse_for_any_table(shapes: list[list[int]], data: st.DataObject) -> None:
    groups = [(f"g{k}", tuple(shape), tuple("a" * len(shape))) for k, shape in enumerate(shapes)]
    table = ActionTable(*groups)
    action = data.draw(st.integers(0, table.size - 1))
    name, place = table.locate(action)
    assert table.number(name, *place) == action


@pytest.mark.parametrize("action", [-1, 15, 10**30])
def test_numbers_outside_the_table(action: int) -> None:
    with pytest.raises(IndexError, match=rf"action {action} is not in 0\.\.14"):
        TABLE.locate(action)


@pytest.mark.parametrize("place", [(3, 0), (0, 4), (-1, 0), (0, -1)])
def test_places_outside_the_grid(place: tuple[int, int]) -> None:
    with pytest.raises(IndexError, match=r"is outside the grid \(3, 4\)"):
        TABLE.number("go", *place)


def test_a_place_with_too_few_or_too_many_axes() -> None:
    for place in ((1,), (1, 1, 1)):
        with pytest.raises(ValueError, match="zip"):
            TABLE.number("go", *place)
