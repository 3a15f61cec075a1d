"""What changed since a baseline? Two records of one mechanism side by side; whether it matters is not judged here."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.view import view


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
    shown = view(evidence)
    return {
        "Mechanism": shown.cell("target"),
        "Verdict": shown.headline.word,
        "Claim": shown.cell("claim"),
        "Lower bound": shown.sure("lower"),
        "Upper bound": shown.sure("upper"),
        "Beside the verdict": "; ".join(f"{row.label}: {row.line}" for row in shown.beside) or "nothing",
        "Runs": shown.cell("runs"),
        "Code digest": shown.cell("digest"),
        "dpaudit": evidence.versions.get("dpaudit", "not recorded"),
    }
