"""benchmarks/peers.py without any peer: parsing, the ratios, and what it says of a peer that is missing."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
REPORT = {
    "game": "caravan",
    "players": 2,
    "machine": {"cpu": "test"},
    "figures": [
        {"name": "rollout", "what": "random play", "steps_per_second": 30e6},
        {"name": "rollout", "play": "planner", "steps_per_second": 40e6, "threads": 1},
        {"name": "batched", "play": "random", "steps_per_second": 9e6, "threads": 1},
        {"name": "batched", "steps_per_second": 17e6, "threads": 2},
        {"name": "aec", "steps_per_second": 90e3},
        {"name": "loop", "steps_per_second": 1e6},
        {"name": "start_warm", "seconds": 0.5},
    ],
}


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


peers = _load(BENCHMARKS / "peers.py")
common = _load(BENCHMARKS / "peers" / "common.py")


def figure(name: str, metric: str, steps: float) -> dict[str, Any]:
    return {"name": name, "metric": metric, "steps_per_second": steps, "detail": {}}


def ours_worker(saved: Path) -> str:
    command = [sys.executable, str(BENCHMARKS / "peers" / "ours.py"), "--from", str(saved)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def fake_worker(path: Path, *figures: dict[str, Any], code: str = "") -> Any:
    path.write_text("\n".join([f"print({json.dumps(f)!r})" for f in figures] + [code]))
    return peers.Peer(path.stem, path)


def test_parse_figures_ignores_other_lines() -> None:
    line = json.dumps(figure("pgx", "step", 4e6))
    assert peers.parse_figures(f"pygame 2.6\n{line}\n") == [figure("pgx", "step", 4e6)]
    with pytest.raises(peers.Missing, match="no figure"):
        peers.parse_figures("hello\n")


def test_best_of_keeps_the_fastest_round_and_the_shortest_start() -> None:
    rounds = [figure("pgx", "step", 3.0), figure("pgx", "step", 4.0)]
    rounds += [{"name": "ours", "metric": "start_warm", "seconds": s, "detail": {}} for s in (0.5, 0.25)]
    best = peers.best_of(rounds)
    assert best["pgx", "step"]["steps_per_second"] == 4.0
    assert best["pgx", "step"]["rounds"] == [3.0, 4.0]
    assert best["ours", "start_warm"]["seconds"] == 0.25


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ERROR: no such thing\nWARNING: upgrade pip\n", "ERROR: no such thing"),
        ("Traceback\nModuleNotFoundError: pgx\n\n", "ModuleNotFoundError: pgx"),
        ("", "it said nothing"),
    ],
)
def test_last_words(text: str, said: str) -> None:
    assert peers.last_words(text) == said


def test_ratios_of_our_canned_report(tmp_path: Path) -> None:
    saved = tmp_path / "bench.json"
    saved.write_text(json.dumps(REPORT))
    mine = peers.parse_figures(ours_worker(saved))
    assert [f["metric"] for f in mine] == [
        "rollout",
        "rollout-planner",
        "batched-1",
        "batched-2",
        "aec",
        "loop",
        "start_warm",
    ]
    assert mine[0]["detail"] == {"game": "caravan", "players": 2, "machine": {"cpu": "test"}, "what": "random play"}
    theirs = [figure("openspiel", "rollout", 3e6), figure("pgx", "step", 5e6), figure("pgx", "random", 4.5e6)]
    rows = peers.ratio_rows(peers.best_of(mine + theirs))
    assert [row["value"] for row in rows] == pytest.approx([10.0, 1.8, 2.0, 17 / 9, None, None])
    assert [row["met"] for row in rows] == [True, False, None, True, None, None]
    assert [row.get("missing") for row in rows[4:]] == ["pettingzoo aec", "openspiel loop"]


def test_pick_from_wraps_round() -> None:
    mask = np.array([0, 1, 0, 0, 1, 0], np.int8)
    assert [common.pick_from(mask, start) for start in range(12)] == [1, 1, 4, 4, 4, 1] * 2


def test_every_peer_has_its_files() -> None:
    for peer in peers.PEERS:
        assert peer.absent or (
            peer.worker and peer.worker.exists() and (peer.requirements is None or peer.requirements.exists())
        )


def test_main_lists_missing_peers_and_writes_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team = [
        fake_worker(tmp_path / "ours.py", figure("ours", "rollout", 30e6)),
        fake_worker(tmp_path / "openspiel.py", figure("openspiel", "rollout", 3e6)),
        fake_worker(tmp_path / "pgx.py", code="raise SystemExit('jax is broken')"),
        peers.Peer("pufferlib", absent="cannot be had"),
    ]
    out = tmp_path / "report.json"
    options = ["--repeats", "2", "--seconds", "0.1", "--cache", str(tmp_path), "--json", str(out)]
    assert peers.main(options, team) == 0
    report = json.loads(out.read_text())
    assert report["missing"] == {"pufferlib": "cannot be had", "pgx": "jax is broken"}
    assert report["ratios"][0]["value"] == 10.0
    assert [len(f["rounds"]) for f in report["figures"]] == [2, 2]
    printed = capsys.readouterr().out
    assert "missing: jax is broken" in printed and "missing: cannot be had" in printed


def test_exit_status_is_1_only_when_ours_was_asked_for_and_failed(tmp_path: Path) -> None:
    team = [
        fake_worker(tmp_path / "ours.py", code="raise SystemExit(1)"),
        fake_worker(tmp_path / "openspiel.py", figure("openspiel", "rollout", 3e6)),
    ]
    options = ["--repeats", "1", "--seconds", "0.1"]
    assert peers.main(options, team) == 1
    assert peers.main([*options, "--only", "openspiel"], team) == 0
