"""What did several audits find? One page with a row for each, sortable if scripts may run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.html.templates import environment, source
from dpaudit.report.view import view

_SCRIPT = "index.js"
_COLUMNS = (  # heading, key of the row, text if there is none
    ("Claim", "claim", "none"),
    ("Lower bound", "lower", "–"),
    ("Upper bound", "upper", "–"),
    ("True loss on the pairs", "loss", "unknown"),
    ("Detectable from", "detectable", "–"),
    ("Runs", "runs", "–"),
)


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One row: the evidence, the link to its file or page, and a remark."""

    evidence: Evidence
    link: str
    remark: str = ""


def index_page(title: str, lead: str, entries: Sequence[IndexEntry]) -> str:
    """Return an index page.

    It loads nothing; its only script, which sorts the table, is allowed by its hash in the content security policy.
    """
    script = source(_SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rows = [(entry, view(entry.evidence)) for entry in entries]
    return (
        environment()
        .get_template("index.html.j2")
        .render(title=title, lead=lead, rows=rows, columns=_COLUMNS, script=script, script_hash=f"sha256-{digest}")
    )
