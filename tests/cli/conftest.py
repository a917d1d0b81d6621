"""Running command lines inside the test process."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from caravan_env.cli.main import call


@dataclasses.dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one line that a user's error prints."""
        lines = [line for line in self.err.splitlines() if not line.startswith("caravan_env: compiling")]
        assert self.code == 2, (self.code, self.err)
        assert len(lines) == 1, self.err
        assert lines[0].startswith("caravan: "), self.err
        return lines[0].removeprefix("caravan: ")


@pytest.fixture
def caravan(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = call([str(a) for a in arguments])
        return Outcome(code, *capsys.readouterr())

    return run
