"""What did several audits find, side by side? One page with a row for each, sortable where scripts may run."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report.html.templates import environment, source
from dpaudit.report.text.findings import pressing_lines
from dpaudit.report.text.numerals import claim_text, count_text, estimate_text, upper_text
from dpaudit.report.text.phrases import bound_text, claim_words, full_text

_SCRIPT = "index.js"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: the evidence, where its file or page lies, and a remark."""

    evidence: Evidence
    link: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A cell: its text, and the number that it is sorted by."""

    text: str
    order: float


def index_page(title: str, lead: str, entries: Sequence[Entry]) -> str:
    """Return the page over these entries, in their order.

    It loads nothing; the one script that sorts the table is named by its hash in the security policy.
    """
    script = source(_SCRIPT)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rows = [_row(entry) for entry in entries]
    return (
        environment()
        .get_template("index.html.j2")
        .render(title=title, lead=lead, rows=rows, script=script, script_hash=f"sha256-{digest}")
    )


def _row(entry: Entry) -> dict[str, object]:
    evidence = entry.evidence
    claim = evidence.claimed
    loss = evidence.target.true_loss
    claimed = None if claim is None else claim.value
    return {
        "name": evidence.target.name,
        "link": entry.link,
        "remark": entry.remark,
        "beside": pressing_lines(evidence),
        "verdict": str(evidence.verdict),
        "tone": str(evidence.verdict).replace(" ", "-"),
        "claim": _Shown("none" if claim is None else claim_words(claim), math.nan if claimed is None else claimed),
        "lower": _lower(evidence),
        "upper": _upper(evidence),
        "loss": _Shown("unknown", math.nan) if loss is None else _Shown(_loss_text(loss), loss),
        "detectable": _detectable(evidence.detectable),
        "runs": _Shown(count_text(evidence.runs), evidence.runs),
        "claimed_short": "" if claimed is None else claim_text(claimed),
        "identity": evidence.id,
    }


def _lower(evidence: Evidence) -> _Shown:
    if evidence.verdict is Verdict.INVALID:
        return _Shown("–", math.nan)
    if evidence.lower.value <= 0:
        return _Shown("none above 0", 0.0)
    return _Shown(bound_text(evidence.lower, evidence.claimed), evidence.lower.value)


def _upper(evidence: Evidence) -> _Shown:
    if evidence.upper is None:
        return _Shown("–" if evidence.proof is None else "none found", math.nan)
    return _Shown(full_text(evidence.upper, evidence.claimed), evidence.upper.value)


def _loss_text(loss: float) -> str:
    return "∞" if math.isinf(loss) else estimate_text(loss, 5)


def _detectable(value: float | None) -> _Shown:
    return _Shown("–", math.nan) if value is None else _Shown(upper_text(value), value)
