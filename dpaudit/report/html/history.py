"""How did the evidence about one target change over time? One page, from the oldest to the newest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report.figures.canvas import both
from dpaudit.report.figures.history import Place, history_figure
from dpaudit.report.html.templates import environment
from dpaudit.report.text.phrases import symbol
from dpaudit.report.view import view


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of evidence, and when it was made or committed."""

    evidence: Evidence
    when: str
    remark: str = ""


def history_page(entries: Sequence[Entry]) -> str:
    """Return the page."""
    newest = entries[-1].evidence
    letter = symbol(newest)
    places = [_place(each.evidence) for each in entries if symbol(each.evidence) == letter]
    views = [view(each.evidence) for each in entries]
    changes = ["" if number == 0 else _changed(entries[number - 1], each) for number, each in enumerate(entries)]
    return (
        environment()
        .get_template("history.html.j2")
        .render(
            name=newest.target.name,
            letter=letter,
            newest=views[-1],
            figure=both(lambda narrow: history_figure(places, letter, narrow=narrow)),
            rows=list(zip(entries, views, changes, strict=True))[::-1],
        )
    )


def _place(evidence: Evidence) -> Place:
    claim, upper = evidence.claimed, evidence.upper
    trusted = evidence.verdict is not Verdict.INVALID
    return Place(
        lower=evidence.lower.value if trusted else math.nan,
        upper=math.nan if upper is None else upper.value,
        claim=math.nan if claim is None else claim.value,
        violated=evidence.verdict is Verdict.VIOLATED,
    )


def _changed(before: Entry, now: Entry) -> str:
    """Say what is another than before: the verdict, the claim, the code, the parameters, dpaudit."""
    old, new = before.evidence, now.evidence
    said = [
        name
        for name, one, other in (
            ("verdict", old.verdict, new.verdict),
            ("claim", old.claim, new.claim),
            ("code", old.target.digest, new.target.digest),
            ("parameters", old.target.parameters, new.target.parameters),
            ("neighbours", old.relation, new.relation),
            ("dpaudit", old.versions.get("dpaudit"), new.versions.get("dpaudit")),
        )
        if one != other
    ]
    return ", ".join(said) or "nothing but the runs"
