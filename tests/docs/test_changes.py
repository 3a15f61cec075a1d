"""Can a release be put together from the fragments of `changes/`? Each has a known kind, and one paragraph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = re.findall(r"^\| `(\w+)` \|", (ROOT / "changes" / "README.md").read_text("utf-8"), re.M)


def wrong(name: str, text: str) -> str:
    """What is wrong with a fragment; empty if nothing is."""
    if not re.fullmatch(rf"[a-z0-9]+(-[a-z0-9]+)*\.({'|'.join(KINDS)})\.md", name):
        return f"its name is NAME.KIND.md, in lower case with hyphens; kinds: {', '.join(KINDS)}"
    if not re.fullmatch(r"[A-Z`][^\n]*[.`)]\n", text):
        return "one paragraph, in one line, of whole sentences"
    return "" if len(text.split()) <= 100 else "at most 100 words"


def test_fragments_are_well_formed() -> None:
    files = [file for file in (ROOT / "changes").iterdir() if file.name != "README.md"]
    assert {file.name: bad for file in files if (bad := wrong(file.name, file.read_text("utf-8")))} == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("search.md", "A search is faster.\n"),
        ("Search.fixed.md", "A search is faster.\n"),
        ("search.faster.md", "A search is faster.\n"),
        ("search.fixed.md", "- A search is faster.\n"),
        ("search.fixed.md", "A search is faster.\n\nMuch.\n"),
        ("search.fixed.md", "Search " * 101 + "it.\n"),
    ],
)
def test_what_is_not_well_formed_is_named(name: str, text: str) -> None:
    assert len(KINDS) == 5 and not wrong("search.fixed.md", "A search is faster.\n")
    assert wrong(name, text)
