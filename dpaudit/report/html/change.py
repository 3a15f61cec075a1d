"""What changed since a baseline? Two records of one mechanism side by side; whether it matters is not judged here."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound
from dpaudit.report.text.findings import beside
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import bound_text, certainty, claim_words


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One thing in both records."""

    name: str
    before: str
    now: str
    differs: bool


@dataclass(frozen=True, slots=True)
class ChangePart:
    """The section against a baseline."""

    identity: str
    rows: list[ChangeRow]


def change_part(baseline: Evidence | None, evidence: Evidence) -> ChangePart | None:
    """Return the section; None without a baseline."""
    if baseline is None:
        return None
    before, now = _shown(baseline), _shown(evidence)
    return ChangePart(
        baseline.id, [ChangeRow(name, before[name], now[name], before[name] != now[name]) for name in now]
    )


def _shown(evidence: Evidence) -> dict[str, str]:
    claim = evidence.claimed
    return {
        "Mechanism": evidence.target.name,
        "Verdict": str(evidence.verdict).upper(),
        "Claim": "none" if claim is None else claim_words(claim),
        "Lower bound": _bound(evidence.lower, evidence),
        "Upper bound": "none" if evidence.upper is None else _bound(evidence.upper, evidence),
        "Beside the verdict": "; ".join(f"{found.label}: {found.line}" for found in beside(evidence)) or "nothing",
        "Runs": count_text(evidence.runs),
        "Code digest": evidence.target.digest or "not available",
        "dpaudit": evidence.versions.get("dpaudit", "not recorded"),
    }


def _bound(bound: Bound, evidence: Evidence) -> str:
    if bound.side == "lower" and bound.value <= 0:
        return "none above 0"
    return f"{bound_text(bound, evidence.claimed)} {certainty(bound)}"
