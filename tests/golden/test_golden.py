"""Golden records: every variant of every registered game has one, and it replays to the digests that were written."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from caravan_env.core.game import Game
from caravan_env.core.record import read_record, replay
from caravan_env.core.registry import game_spec
from tests.golden.make import ENOUGH_EFFECTS, FOLDER, effects, golden_path, shipped_games

VARIANTS = [(name, variant) for name in shipped_games() for variant in game_spec(name).variants]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_variant_has_a_golden_record_that_replays(name: str, variant: str) -> None:
    path = golden_path(name, variant)
    assert path.is_file(), f"{name} {variant} has no golden record; write it with python -m tests.golden.make {name}"
    record = read_record(path)
    assert record.game().params == Game(game_spec(name), game_spec(name).variants[variant]).params
    positions = list(replay(record))
    assert len(positions) == len(record.events) + 1
    assert positions[-1][1].is_terminal
    assert record.result is not None and record.result["type"] == "result"
    assert record.result["truncated"] or record.result["plies"] > 50


def test_no_golden_record_is_left_over() -> None:
    kept = {(path.parent.name, path.stem) for path in FOLDER.glob("*/*.jsonl")}
    assert kept - set(VARIANTS) == set()


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_kernels_agree_with_each_other_in_purposeful_games(name: str, variant: str) -> None:
    """What the conformance suite asks of random games, asked of games in which everything happens."""
    record = read_record(golden_path(name, variant))
    for number, (_, state) in enumerate(replay(record)):
        game, rules = state.game, state.game.spec.rules
        assert game.state_from_json(state.to_json()).row.tobytes() == state.row.tobytes(), number
        if number % 5 or state.to_move < 0:
            continue
        legal = [int(action) for action in state.legal_actions()]
        assert [a for a in range(-1, game.num_actions + 1) if rules.is_legal(state.row, 0, a)] == legal, number
        tickets = [np.uint64(-(-(k << 32) // len(legal))) for k in range(len(legal))]
        assert [rules.pick(state.row, 0, ticket) for ticket in tickets] == legal, number
        assert rules.pick(state.row, 0, np.uint64((1 << 32) - 1)) == legal[-1], number


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_words_of_a_golden_record_lead_to_its_actions(name: str, variant: str) -> None:
    """The words and the number of legal actions are as recorded too: the digests do not cover them."""
    record = read_record(golden_path(name, variant))
    state = record.game().new_state()
    for event in record.events[:120]:
        if event.kind == "chance":
            assert state.outcome_text(event.action) == event.text
            state.resolve(event.action)
        else:
            assert (state.parse_action(event.text), len(state.legal_actions())) == (event.action, event.legal)
            state.step(event.action)


@pytest.mark.parametrize(
    ("name", "variant"), [("century", "automa-no-produce"), ("ukraine", "nine"), ("ukraine", "match-colour")]
)
def test_a_rare_switch_matters_in_the_golden_record_of_its_variant(name: str, variant: str) -> None:
    assert effects(read_record(golden_path(name, variant))) >= ENOUGH_EFFECTS
    assert effects(read_record(golden_path(name, "default"))) == 0


def test_caravan_records_hold_all_that_happens_in_a_game() -> None:
    records = [read_record(golden_path("caravan", variant)) for variant in game_spec("caravan").variants]
    kinds = Counter(" ".join(event.text.split()[:1]) for record in records for event in record.events)
    assert set(kinds) == {"camel", "pick", "steal", "move", "rainbow", "end", "draw", "seat"}
    texts = [event.text for record in records for event in record.events]
    assert any(text.startswith("move stolen") for text in texts)
    assert any("-> rainbow" in text for text in texts)
    whole = [record for record in records if record.result and not record.result["truncated"]]
    assert len(whole) >= 11
    for record in whole:  # every good was drawn: all refills happened
        assert sum(event.text.startswith("draw") for event in record.events) in (32, 48)


def test_records_are_small_enough_to_keep() -> None:
    for path in FOLDER.glob("*/*.jsonl"):
        assert path.stat().st_size < 120_000, path
        assert json.loads(path.read_text(encoding="utf-8").partition("\n")[0])["type"] == "header"
