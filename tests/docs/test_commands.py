"""Is every command that a document shows one that there is, with its options? `make docs` runs those of pages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from dpaudit.cli.main import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^ *(?:```\{command-output\} |\$ )?(dpaudit .*)$", re.MULTILINE)
INLINE = re.compile(r"`(dpaudit [^`\n]+)`")


def commands(document: Path) -> list[str]:
    """Every command of dpaudit that a document shows."""
    text = document.read_text(encoding="utf-8")
    fenced = [command for fence in FENCE.findall(text) for command in FENCED.findall(fence)]
    return [re.sub(r"\s+#.*$", "", each) for each in (*fenced, *INLINE.findall(FENCE.sub("", text)))]


def refused(command: str) -> str:
    """Why a command is none; empty if it is one."""
    words = shlex.split(command.replace("…", "x"))[1:]
    if words[0].startswith("-") or words[0].isupper():
        return ""
    found = cli.get_command(click.Context(cli), words[0])
    if found is None:
        return f"there is no command {words[0]!r}"
    try:
        found.make_parser(click.Context(found)).parse_args(words[1:])
    except click.BadOptionUsage as error:
        return "" if "requires an argument" in error.message else error.message  # it is only named
    except click.UsageError as error:
        return error.format_message()
    return ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_is_one(document: Path) -> None:
    assert {each: refused(each) for each in commands(document) if refused(each)} == {}


def test_a_command_that_is_none_would_be_noticed() -> None:
    assert "no command" in refused("dpaudit audits x")
    assert refused("dpaudit gate --no-such-option") and not refused("dpaudit gate --html pages")
    assert sum(len(commands(document)) for document in DOCUMENTS) > 100
