"""How is the result of a gate shown on pages? One for each evidence, and an index of all targets."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import write_whole
from dpaudit.gate.result import GateResult, Outcome
from dpaudit.gate.words import MEANINGS, NO_PROOF, headline, scope, shown
from dpaudit.report import html_page
from dpaudit.report.html.templates import environment, source

INDEX = "index.html"
# the name of the index itself, and device names of Windows
_TAKEN = {"index", "con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
_LONGEST = 60  # characters of a file name, far below any system's limit
# the colours of outcomes; a target that passed has none, since that is not a proof of privacy
_TONES = {
    Outcome.FAILED: "violated",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.INVALID: "invalid",
    Outcome.ACCEPTED: "inconclusive",
}


def write_pages(result: GateResult, folder: Path) -> GateResult:
    """Write the page of each evidence and the index into a folder, which is created if it is missing.

    Files are written atomically and the index last, so that it never links to a missing page.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {str(folder)!r}: {error.strerror}; name another for --html") from None
    paged = []
    taken = set(_TAKEN)
    for item in result.results:
        page = None
        if item.evidence is not None:
            page = _file_name(item.name, taken)
            write_whole(folder / page, html_page(item.evidence))
        paged.append(replace(item, page=page))
    written = replace(result, results=tuple(paged))
    write_whole(folder / INDEX, index_page(written))
    return written


def index_page(result: GateResult) -> str:
    """Return the index as a self-contained page; its only script sorts the table and is allowed by its hash."""
    script = source("index.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    used = {item.rule for item in result.results}
    targets = [shown(item) for item in result.results]
    template = files("dpaudit.gate").joinpath("index.html.j2").read_text(encoding="utf-8")
    return (
        environment()
        .from_string(template)
        .render(
            title=headline(result, targets),
            tone=next((_TONES[outcome] for outcome in _TONES if _any(result, outcome)), "plain"),
            scope=scope(result),
            caution=NO_PROOF,
            exit_code=result.exit_code,
            rows=[(target, _TONES.get(target.item.outcome, "plain")) for target in targets],
            meanings=[(str(rule), meaning) for rule, meaning in MEANINGS.items() if rule in used],
            script=script,
            script_hash=f"sha256-{digest}",
        )
    )


def _any(result: GateResult, outcome: Outcome) -> bool:
    return any(item.outcome is outcome for item in result.results)


def _file_name(name: str, taken: set[str]) -> str:
    """Return a file name for a target that is valid on every system and unique."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:_LONGEST].strip("-").lower() or "target"
    number, chosen = 1, stem
    while chosen in taken:
        number += 1
        chosen = f"{stem}-{number}"
    taken.add(chosen)
    return f"{chosen}.html"
