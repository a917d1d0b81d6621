"""The conformance suite: every registered game passes it, and a game broken in any one way fails with its sentence."""

from __future__ import annotations

import dataclasses
import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from caravan_env.core import conformance, registry
from caravan_env.core.conformance import CHECKS, CheckResult, check_game
from caravan_env.core.contract import KERNELS, GameSpec
from caravan_env.core.game import Game
from caravan_env.core.kernel import kernel
from caravan_env.core.params import GameParams
from caravan_env.core.registry import game_names, game_spec
from tests.core import toy_game
from tests.core.conftest import SHIPPED
from tests.core.toy_game import SPEC

TEXTS = ("action_text", "outcome_text", "to_json", "from_json", "board_text")


@pytest.mark.parametrize(("name", "variant"), [(name, v) for name in SHIPPED for v in game_spec(name).variants])
def test_shipped_games_keep_the_contract(name: str, variant: str) -> None:
    for check in CHECKS:
        check(Game(game_spec(name), game_spec(name).variants[variant]), 0)


def test_the_toy_game_keeps_the_contract() -> None:
    results = list(check_game(SPEC, seed=3))
    assert [result for result in results if not result.passed] == []
    assert {(result.check, result.variant) for result in results} == set(
        itertools.product([check.__name__.removeprefix("check_").replace("_", " ") for check in CHECKS], SPEC.variants)
    )


def test_a_game_that_is_not_registered_can_be_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_specs", {})
    assert "heap" not in game_names()
    monkeypatch.setattr(conformance, "CHECKS", (conformance.check_record,))
    assert [result.passed for result in check_game(SPEC)] == [True] * len(SPEC.variants)


def broken(rules: dict[str, Any] | None = None, text: dict[str, Any] | None = None, **fields: Any) -> GameSpec:
    """Return the toy game with some kernels, texts or fields replaced, and one variant.

    Plain functions do for the replaced kernels: the checks call them from Python. Loops come from the cache of the toy
    game, compiled with its own kernels; so a kernel that only a loop calls has to have a game's name of its own.
    """
    own_rules = types.ModuleType("rules")
    vars(own_rules).update({name: getattr(toy_game, name) for name in KERNELS} | (rules or {}))
    own_rules.__file__ = toy_game.__file__
    own_text = types.ModuleType("text")
    vars(own_text).update({name: getattr(toy_game, name) for name in TEXTS} | (text or {}))
    fields = {"rules": own_rules, "text": own_text, "variants": {"default": {}}} | fields
    return dataclasses.replace(SPEC, **fields)


def failure(spec: GameSpec, check: Callable[[Game, int], None], monkeypatch: pytest.MonkeyPatch) -> str:
    """Run one check as `check_game` runs all and return why it failed."""
    monkeypatch.setattr(conformance, "CHECKS", (check,))
    (result,) = check_game(spec)
    assert isinstance(result, CheckResult) and result.variant == next(iter(spec.variants))
    assert result.check == check.__name__.removeprefix("check_").replace("_", " ")
    assert not result.passed
    return result.detail


def changing(name: str, change: Callable[..., Any]) -> dict[str, Any]:
    """Replace a kernel by one that plays the original, and then `change(result, S, i, ...)`, which gives the result."""
    original = getattr(toy_game, name)
    return {name: lambda *arguments: change(original(*arguments), *arguments)}


# --- layout, start ---------------------------------------------------------------------------------------------------


def test_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    padded = np.dtype([("a", np.uint8), ("b", np.int32)], align=True)
    words = failure(broken(state_dtype=padded), conformance.check_layout, monkeypatch)
    assert words == "the state dtype has 3 bytes of padding"
    plain = broken(state_dtype=np.dtype(np.int64))
    assert failure(plain, conformance.check_layout, monkeypatch) == "the state dtype must be structured"


def test_no_default_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    words = failure(broken(variants={"other": {}}), conformance.check_layout, monkeypatch)
    assert words == "there is no variant named 'default'"


def test_impossible_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    words = failure(broken(variants={"crowd": {"players": 9}}), conformance.check_layout, monkeypatch)
    assert words == "BadParams: heap is played by 2 to 4 players, not 9"


def test_switches_that_do_not_survive_json(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Forgetful(toy_game.HeapParams):
        def to_json(self) -> dict[str, Any]:
            return {"players": self.players + 1}

    words = failure(broken(params_type=Forgetful), conformance.check_layout, monkeypatch)
    assert words.startswith("the switches ") and words.endswith(" do not survive JSON")
    assert issubclass(Forgetful, GameParams)


def test_a_start_that_keeps_something(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(S: np.ndarray, i: int) -> None:
        heap = int(S[i]["heap"])
        toy_game.init(S, i)
        S[i]["standing"][0] = heap

    words = failure(broken({"init": init}), conformance.check_start, monkeypatch)
    assert words == "init leaves something of the game before in the row"


def test_a_missing_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = broken()
    del spec.rules.resample
    words = failure(spec, conformance.check_layout, monkeypatch)
    assert words == "TypeError: game 'heap' lacks the kernels resample in rules"


# --- what is legal ---------------------------------------------------------------------------------------------------


def mark(value: int) -> Callable[..., Any]:
    def change(count: int, S: np.ndarray, i: int, mask: np.ndarray) -> int:
        mask[2] = value
        return count

    return change


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        (changing("legal", mark(2)), "the mask holds values other than 0 and 1"),
        (changing("legal", mark(0)), "legal() returns 4, the mask has 3 legal actions"),
        (changing("legal", lambda count, *_: count + 1), "legal() returns 5, the mask has 4 legal actions"),
        (changing("is_legal", lambda told, S, i, a: told and a != 1), "is_legal() and legal() disagree"),
        (changing("is_legal", lambda told, S, i, a: told or a < 0), "is_legal() accepts the action -1"),
        (changing("is_legal", lambda told, S, i, a: told or a >= 4), "is_legal() accepts the action 4"),
        (changing("pick", lambda action, *_: 3 - action), "pick() does not give the legal actions in mask order"),
        (changing("pick", lambda action, *_: 0), "pick() does not give the legal actions in mask order"),
    ],
)
def test_masks_and_picks(rules: dict[str, Any], sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert failure(broken(rules), conformance.check_legal_actions, monkeypatch) == sentence


def test_nothing_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(S: np.ndarray, i: int, mask: np.ndarray) -> int:
        mask[:] = 0
        return 0

    words = failure(broken({"legal": nothing}), conformance.check_legal_actions, monkeypatch)
    assert words == "legal() returns 0, the mask has 0 legal actions"


# --- words, structs, observations ------------------------------------------------------------------------------------


def test_words_that_are_not_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = broken(text={"action_text": lambda S, i, action: f"take {max(action, 1)}"})
    words = failure(spec, conformance.check_words, monkeypatch)
    assert words.startswith("two legal actions have the same words: ['take 1', 'take 1', ")


def test_words_that_do_not_lead_back(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = broken(text={"action_text": lambda S, i, action: f"take  {action}"})  # two spaces
    words = failure(spec, conformance.check_words, monkeypatch)
    assert words.startswith("IllegalAction: 'take  2' is not among the 4 legal actions now")


def test_structs_that_are_not_invertible(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(struct: dict[str, Any], template: np.ndarray) -> np.ndarray:
        return toy_game.from_json(struct | {"turn": 1}, template)

    words = failure(broken(text={"from_json": forget}), conformance.check_structs, monkeypatch)
    assert words.startswith("the struct does not lead back to the position: {'game': 'heap'")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ((1, 2), "the struct holds values that JSON changes"),
        (np.uint8(3), "TypeError: Object of type uint8 is not JSON serializable"),
    ],
)
def test_structs_that_json_changes(value: Any, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = broken(text={"to_json": lambda S, i: toy_game.to_json(S, i) | {"extra": value}})
    assert failure(spec, conformance.check_structs, monkeypatch) == sentence


def test_observations_with_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    def gap(S: np.ndarray, i: int, seat: int, out: np.ndarray) -> None:
        kept = out[4]
        toy_game.observe(S, i, seat, out)
        out[4] = kept

    words = failure(broken({"observe": gap}), conformance.check_observations, monkeypatch)
    assert words == "the observation of seat 0 has gaps"


def test_observing_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def count(_: Any, S: np.ndarray, i: int, *rest: Any) -> None:
        S[i]["standing"] += 1

    words = failure(broken(changing("observe", count)), conformance.check_observations, monkeypatch)
    assert words == "observe() changes the game"


def test_secrets_in_an_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    def leak(_: Any, S: np.ndarray, i: int, seat: int, out: np.ndarray) -> None:
        out[0] = S[i]["card"][1 - seat]

    words = failure(broken(changing("observe", leak)), conformance.check_hidden_information, monkeypatch)
    assert words == "resample() changes what seat 0 sees"


def test_resampling_what_the_mover_may_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(_: Any, S: np.ndarray, i: int, seat: int, R: np.ndarray, r: int) -> None:
        S[i]["passed"][seat] = 1 - S[i]["passed"][seat]

    rules = changing("resample", spoil) | {"observe": lambda S, i, seat, out: out.fill(0)}
    words = failure(broken(rules), conformance.check_hidden_information, monkeypatch)
    assert words == "resample() changes what is legal"


# --- rows, chance, end -----------------------------------------------------------------------------------------------


def touch(_: Any, S: np.ndarray, i: int, *rest: Any) -> Any:
    S[i - 1]["heap"] += 1
    return _


@pytest.mark.parametrize("name", ["step", "init", "resolve", "resample"])
def test_touching_another_row(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = failure(broken(changing(name, touch)), conformance.check_other_rows, monkeypatch)
    assert words == f"{name}() touches another row"


@pytest.mark.parametrize("name", ["legal", "is_legal", "pick", "observe", "score", "truncated", "chance"])
def test_looking_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = failure(broken(changing(name, touch)), conformance.check_other_rows, monkeypatch)
    assert words == f"{name}() changes the game"


@pytest.mark.parametrize(
    ("planes", "sentence"),
    [
        (np.zeros((2, 3)), "action planes are float64 (2, 3)"),
        (np.array([[[0, 4]]]), "action planes hold numbers other than -1 and 0 to 3"),
        (np.array([[[-2, 1]]]), "action planes hold numbers other than -1 and 0 to 3"),
        (np.array([[[2, 2]]]), "action planes hold an action twice"),
        (np.array([[[2, -1, -1]]]), "action planes are (1, 3), the observation's []"),
    ],
)
def test_impossible_action_planes(planes: np.ndarray, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = broken(action_planes=lambda _: planes)
    assert failure(spec, conformance.check_action_planes, monkeypatch) == sentence


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ([2, -1, 1], "impossible weights [ 2 -1  1]"),
        ([0, 0, 0], "impossible weights [0 0 0]"),
        ([], "chance() gives 0 outcomes, max_outcomes is 3"),
    ],
)
def test_impossible_chance(weights: list[int], sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = itertools.count()

    def chance(S: np.ndarray, i: int, out: np.ndarray) -> int:
        if next(calls) == 0:  # the first call is the check's own; later ones play the game
            out[: len(weights)] = weights
            return len(weights)
        return int(toy_game.chance(S, i, out))

    assert failure(broken({"chance": chance}), conformance.check_chance, monkeypatch) == sentence


def test_returns_that_do_not_sum_to_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    def generous(_: Any, S: np.ndarray, i: int, out: np.ndarray) -> None:
        out += 1.0

    words = failure(broken(changing("returns", generous)), conformance.check_end, monkeypatch)
    assert words.startswith("returns ") and words.endswith(" do not sum to zero")
    endless = changing("returns", lambda _, S, i, out: out.fill(np.nan))
    assert failure(broken(endless), conformance.check_end, monkeypatch) == "returns are [nan nan]"


def test_a_game_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "MOST_PLIES", 3)
    words = failure(broken(), conformance.check_end, monkeypatch)
    assert words == "a random game is not over after 3 actions"


def test_records_that_do_not_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    count = itertools.count()
    spec = broken(text={"to_json": lambda S, i: toy_game.to_json(S, i) | {"moment": next(count)}})
    monkeypatch.setattr(registry, "_specs", {"heap": spec})
    words = failure(spec, conformance.check_record, monkeypatch)
    assert words.startswith("BadRecord: line 2: after 'card ") and words.endswith(
        "the position is not the recorded one"
    )


# --- with the compiler -----------------------------------------------------------------------------------------------


def test_kernels_that_know_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel
    def observe(S, i, seat, out):
        toy_game.observe(S, i, seat, out)
        out[0] = i

    spec = broken({"observe": observe}, name="heap_rows")
    words = failure(spec, conformance.check_batches, monkeypatch)
    assert words == "observations depend on the size of the batch"


def test_a_kernel_compiled_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    @kernel
    def truncated(S, i):
        return S[i]["truncated"] != 0

    spec = broken({"truncated": truncated})
    for index in (np.int32(0), 0):
        truncated(spec.new_row(toy_game.HeapParams()), index)
    words = failure(spec, conformance.check_kernels, monkeypatch)
    assert words == "kernel truncated is compiled for 2 signatures"


def test_any_other_exception_is_reported_with_its_type(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any) -> None:
        raise IndexError("index 9 is out of bounds")

    spec = broken({"observe": crash})
    words = failure(spec, conformance.check_observations, monkeypatch)
    assert words == "IndexError: index 9 is out of bounds"
