"""How does evidence look in a notebook? A card: the verdict with its caution, and the line that its numbers lie on."""

from __future__ import annotations

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.figures.number_line import line_drawing
from dpaudit.report.html.templates import environment
from dpaudit.report.text.phrases import shortened
from dpaudit.report.view import view


def card(evidence: Evidence) -> str:
    """Return a piece of HTML that needs no style sheet and no script."""
    shown = view(evidence)
    name, drawing = shortened(shown.cell("target"), 80), line_drawing(evidence)
    return environment().get_template("card.html.j2").render(view=shown, name=name, drawing=drawing)
