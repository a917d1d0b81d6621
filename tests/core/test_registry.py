"""Finding games by name and import path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from caravan_env import game_names, make_game, register_game
from caravan_env.core import registry
from caravan_env.core.errors import CaravanError, UnknownName
from caravan_env.core.match import Thought, play_match
from caravan_env.core.record import replay
from caravan_env.core.registry import game_spec
from tests.core import toy_game

TOY_SOURCE = Path(toy_game.__file__).read_text(encoding="utf-8")


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry that forgets what a test puts into it."""
    monkeypatch.setattr(registry, "_paths", dict(registry._paths))
    monkeypatch.setattr(registry, "_specs", dict(registry._specs))


@pytest.fixture
def own_module(own_registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The module name of a game in a user's folder; the game is called "mine"."""
    folder = tmp_path / "games"
    folder.mkdir()
    (folder / "my_own_game.py").write_text(TOY_SOURCE.replace('name="heap"', 'name="mine"'), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    yield "my_own_game"
    sys.modules.pop("my_own_game", None)


def test_shipped_games_are_listed() -> None:
    assert "caravan" in game_names()
    assert game_names() == sorted(game_names())
    assert game_spec("caravan").title == "Caravan"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("caravn", "there is no game 'caravn': did you mean 'caravan'? Allowed: caravan"),
        ("Caravan", "there is no game 'Caravan': did you mean 'caravan'? Allowed: caravan"),
        ("chess", "there is no game 'chess': Allowed: caravan"),
        ("", "there is no game '': Allowed: caravan"),
        (
            "no_such_module:SPEC",
            "the game 'no_such_module:SPEC' cannot be loaded: ModuleNotFoundError: No module named",
        ),
        ("json:SPEC", "the game 'json:SPEC' cannot be loaded: AttributeError: module 'json' has no attribute 'SPEC'"),
        ("json:dumps", "'json:dumps' is no GameSpec but a function"),
        (":SPEC", "the game ':SPEC' cannot be loaded: ValueError: Empty module name"),
        (".relative:SPEC", "the game '.relative:SPEC' cannot be loaded: TypeError"),
    ],
)
def test_unknown_games(name: str, sentence: str) -> None:
    with pytest.raises(UnknownName) as error:
        make_game(name)
    assert str(error.value).startswith(sentence)
    assert isinstance(error.value, CaravanError) and isinstance(error.value, KeyError)


def test_a_game_by_import_path(own_module: str) -> None:
    game = make_game(f"{own_module}:SPEC", players=3)
    assert (game.name, game.players) == ("mine", 3)
    assert make_game("mine").spec is game.spec  # records and pickles name the game
    assert "mine" in game_names() and f"{own_module}:SPEC" not in game_names()

    class First:
        name = "first"

        def think(self, state: object) -> Thought:
            return Thought(int(state.legal_actions()[0]))  # type: ignore[attr-defined]

    record = play_match(game, [First()] * 3)
    assert [state for _, state in replay(record)][-1].is_terminal


def test_an_import_path_under_a_name_is_loaded_when_asked_for(own_module: str) -> None:
    register_game(f"{own_module}:SPEC", "mine")
    assert "mine" in game_names() and own_module not in sys.modules
    assert make_game("mine").spec.title == "Heap"
    assert own_module in sys.modules


def test_an_import_path_needs_a_name() -> None:
    with pytest.raises(TypeError, match="registered under a name"):
        register_game("somewhere:SPEC")


def test_a_spec_is_registered_under_its_own_name(own_registry: None) -> None:
    register_game(toy_game.SPEC)
    assert make_game("heap", players=4).players == 4


def test_a_game_of_a_user_does_not_take_the_name_of_a_shipped_one(own_module: str, tmp_path: Path) -> None:
    file = tmp_path / "games" / "my_own_game.py"
    file.write_text(TOY_SOURCE.replace('name="heap"', 'name="caravan"'), encoding="utf-8")
    assert make_game(f"{own_module}:SPEC").spec.title == "Heap"
    assert make_game("caravan").spec.title == "Caravan"


def test_a_module_that_fails_is_reported(own_module: str, tmp_path: Path) -> None:
    for source, kind in (("1 / 0", "ZeroDivisionError"), ("def", "SyntaxError")):
        (tmp_path / "games" / "my_own_game.py").write_text(source, encoding="utf-8")
        with pytest.raises(UnknownName, match=f"the game 'my_own_game:SPEC' cannot be loaded: {kind}"):
            make_game("my_own_game:SPEC")


def test_a_game_that_lacks_a_kernel_is_refused(own_registry: None) -> None:
    import dataclasses
    import types

    rules = types.ModuleType("rules")
    rules.__file__ = toy_game.__file__
    spec = dataclasses.replace(toy_game.SPEC, name="gaps", rules=rules)
    register_game(spec)
    with pytest.raises(TypeError, match="game 'gaps' lacks the kernels init, to_move, legal, is_legal, pick, step"):
        make_game("gaps")
