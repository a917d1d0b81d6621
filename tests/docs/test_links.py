"""Links between the documents, and to files of the repository, lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("caravan_env/games/*/*.md")),
]
LINK = re.compile(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"")


def links(text: str) -> list[str]:
    without_code = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return [a or b for a, b in LINK.findall(without_code)]


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for link in links(text):
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


def test_commands_in_backticks_exist():
    """`caravan COMMAND` anywhere in the documents is a command, and `make TARGET` a target."""
    from caravan_env.cli.main import COMMANDS

    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for command in re.findall(r"`caravan ([a-z]+)[ `]", text):
            assert command in COMMANDS, (document.name, command)
        for target in re.findall(r"`make ([a-z]+)`", text):
            assert target in targets, (document.name, target)
