"""Is every command that a document shows one that there is, with its options, and does it give what stands behind it?

`make docs` runs those of which pages show what they print; here are run those that say in a comment what comes of them.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

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


# --- what is promised behind a command --------------------------------------------------------------------

FILE = re.compile(r"^```python\n(# (\w+\.py)\n.*?)^```$", re.MULTILINE | re.DOTALL)
PROMISED = re.compile(r"^(?:\.venv/bin/)?(dpaudit (\w+) [^#\n]*?) +# ((?:NOT )?[A-Z]{5,})[: ]*(.*)$", re.MULTILINE)
NUMBER = re.compile(r"[≥≤=] ?(\d[\d.]*\d|\d)")
NEEDS_MORE = {"docs/training.md"}  # PyTorch: run by `make test-training`


def promises() -> list[tuple[str, str, str, str, dict[str, str]]]:
    """Every (document, command, word, rest of the comment, files that the document shows before it)."""
    found = []
    for document in DOCUMENTS:
        name, text = document.relative_to(ROOT).as_posix(), document.read_text(encoding="utf-8")
        for each in PROMISED.finditer(text):
            files = {file[2]: file[1] for file in FILE.finditer(text[: each.start()])}
            if name not in NEEDS_MORE:
                found.append((name, each[1], each[3], each[4], files))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "command", "word", "rest", "files"), promises(), ids=lambda value: str(value)[:50]
)
def test_a_command_gives_what_is_promised_behind_it(document, command, word, rest, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = shlex.split(command)[1:]
    if words[0] == "prove":
        words += ["--runs", "2000"]
    said = CliRunner().invoke(cli, [*words, *(["--seed", "0"] if words[0] != "account" else [])]).output
    assert said.startswith(word), said[:300]
    shown = " ".join(said.split()).replace("\N{NO-BREAK SPACE}", " ")
    at_least = rest.partition(" or more")[0].rpartition("≥ ")[2] if "or more" in rest else ""
    if at_least:
        assert float(re.search(r"ε ≥ ([\d.]+)", shown)[1].rstrip(".")) >= float(at_least)
    for number in [] if at_least else NUMBER.findall(rest):
        assert re.search(rf"[≥≤=] ?{re.escape(number)}(?!\d)", shown), (number, shown[:300])


def test_promises_are_found():
    assert {document for document, *_ in promises()} >= {"README.md", "docs/proofs.md"}
    assert len(promises()) >= 8
