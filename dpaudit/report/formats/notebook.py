"""How does evidence look in a notebook? A card: the verdict with its caution, and the line that its numbers lie on."""

from __future__ import annotations

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.figures.number_line import line_drawing
from dpaudit.report.html.templates import environment
from dpaudit.report.text.findings import pressing
from dpaudit.report.text.headline import headline
from dpaudit.report.text.numerals import count_text
from dpaudit.report.text.phrases import shortened


def card(evidence: Evidence) -> str:
    """Return a piece of HTML that needs no style sheet and no script."""
    return (
        environment()
        .get_template("card.html.j2")
        .render(
            head=headline(evidence),
            pressing=pressing(evidence),
            name=shortened(evidence.target.name, 80),
            drawing=line_drawing(evidence),
            runs=count_text(evidence.runs),
            identity=evidence.id,
        )
    )
