"""What changed since a baseline? Two records of one mechanism side by side, without judging the changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.html.templates import Section
from dpaudit.report.view import View, view


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One row of the comparison: a statement in both records."""

    name: str
    before: str
    now: str
    differs: bool


@dataclass(frozen=True, slots=True)
class ChangePart:
    """The section that compares with a baseline."""

    identity: str
    rows: list[ChangeRow]


def section(shown: View, baseline: Evidence | None) -> Iterator[Section]:
    """Yield the section that compares with a baseline, if there is one."""
    if baseline is not None:
        yield Section("change", "Change", {"change": change_part(baseline, shown)})


def change_part(baseline: Evidence, shown: View) -> ChangePart:
    """Return what both records state, side by side."""
    before, now = _stated(view(baseline)), _stated(shown)
    return ChangePart(
        baseline.id, [ChangeRow(name, before[name], now[name], before[name] != now[name]) for name in now]
    )


def _stated(shown: View) -> dict[str, str]:
    return {
        "Mechanism": shown.cell("target"),
        "Verdict": shown.headline.word,
        "Claim": shown.cell("claim"),
        "Lower bound": shown.sure("lower"),
        "Upper bound": shown.sure("upper"),
        "Beside the verdict": "; ".join(f"{row.label}: {row.line}" for row in shown.beside) or "nothing",
        "Runs": shown.cell("runs"),
        "Code digest": shown.cell("digest"),
        "dpaudit": shown.evidence.versions.get("dpaudit", "not recorded"),
    }
