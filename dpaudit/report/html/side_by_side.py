"""Which of several mechanisms loses how much, and at what error? One table and one picture, as text and as a page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.report.figures.canvas import both
from dpaudit.report.figures.side_by_side import Lane, side_by_side_figure
from dpaudit.report.html.templates import environment
from dpaudit.report.text.accuracy import error_text
from dpaudit.report.text.numerals import NBSP
from dpaudit.report.text.phrases import one_line, symbol
from dpaudit.report.view import View, view

_WIDTH = 100  # columns of what is said beside the table
HEADS = ("", "Mechanism", "Verdict", "From below", "From above", "Error")
EACH = (
    "Each row is evidence of its own, with its own confidence; – is not known. A smaller bound from below is no "
    "smaller loss: that is what a bound from above says. Errors are estimated on the data of each row, and decide "
    "nothing."
)


def rows(found: Sequence[Evidence]) -> list[tuple[str, ...]]:
    """Return the table, one row for each piece of evidence, in the order of `HEADS`."""
    table: list[tuple[str, ...]] = []
    for number, evidence in enumerate(found, 1):
        shown = view(evidence)
        trusted = evidence.verdict is not Verdict.INVALID
        lower = shown.cell("lower", "–") if trusted else "–"
        error = "–" if evidence.accuracy is None else error_text(evidence.accuracy)
        table.append((str(number), _name(evidence), shown.headline.word, lower, _above(shown), error))
    return table


def _name(evidence: Evidence) -> str:
    """The target with its parameters."""
    said = ", ".join(f"{name}={value}" for name, value in evidence.target.parameters.items())
    return f"{evidence.target.name} ({said})" if said else evidence.target.name


def _above(shown: View) -> str:
    """The bound from above, with the data that it is about: a proof for one number of answers is no proof for all."""
    row = shown.row("upper")
    return "–" if row is None or math.isnan(shown.order("upper")) else row.line.partition(" (")[0]


def cautions(found: Sequence[Evidence]) -> list[str]:
    """Say what keeps rows from being compared, and what every row is."""
    said = []
    for name, values in (
        ("neighbours", [evidence.relation for evidence in found]),
        ("claims", [evidence.claim or "none" for evidence in found]),
    ):
        different = list(dict.fromkeys(values))
        if len(different) > 1:
            said.append(f"Their {name} differ ({', '.join(different)}): compare rows of the same {name}.")
    said += [
        f"{number}: {line.rstrip('.')}." for number, each in enumerate(found, 1) for line in view(each).pressing_lines
    ]
    return [*said, EACH]


def side_by_side_text(found: Sequence[Evidence]) -> str:
    """Return the table as text for a terminal, with what is to be said beside it."""
    table = [HEADS, *rows(found)]
    plain = [[one_line(cell) for cell in row] for row in table]
    widths = [max(len(row[place]) for row in plain) for place in range(len(HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in plain]
    said = [line for text in cautions(found) for line in textwrap.wrap(one_line(text), _WIDTH)]
    return "\n".join([*lines, "", *said]) + "\n"


def side_by_side_page(found: Sequence[Evidence]) -> str:
    """Return the page."""
    letter = symbol(found[0])
    lanes = [_lane(number, each) for number, each in enumerate(found, 1) if symbol(each) == letter]
    left = len(found) - len(lanes)
    return (
        environment()
        .get_template("side_by_side.html.j2")
        .render(
            heads=HEADS,
            rows=[(view(each).headline.tone, row, each.id) for each, row in zip(found, rows(found), strict=True)],
            cautions=cautions(found),
            figure=both(lambda narrow: side_by_side_figure(lanes, letter, narrow=narrow)),
            left=f"{left} of them bound{'s' if left == 1 else ''} something else than {letter}, and "
            f"{'stands' if left == 1 else 'stand'} in the table alone."
            if left
            else "",
        )
    )


def _lane(number: int, evidence: Evidence) -> Lane:
    claim, upper, found = evidence.claimed, evidence.upper, evidence.accuracy
    trusted = evidence.verdict is not Verdict.INVALID
    errors = () if found is None else found.errors
    return Lane(
        name=f"{number}{NBSP}{_name(evidence).rpartition(':')[2]}",
        lower=evidence.lower.value if trusted else math.nan,
        upper=math.nan if upper is None or not trusted else upper.value,
        claim=math.nan if claim is None else claim.value,
        error=max((each.rmse for each in errors), default=math.nan),
    )
