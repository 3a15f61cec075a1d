"""What does a reader see first, beside the verdict? The ε line, and a picture of what outputs give away.

Both are drawn once, small enough for a phone and for half of a page. The words here are for readers who know nothing of
sides, events and cells: two datasets, and outputs that point to one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim
from dpaudit.report.figures.canvas import alone
from dpaudit.report.figures.loss import loss_glance
from dpaudit.report.figures.loss_bins import Losses, beyond, cell_losses, loss_bins
from dpaudit.report.figures.number_line import line_drawing, line_reading
from dpaudit.report.html.accounting import curve_drawing
from dpaudit.report.html.templates import Section
from dpaudit.report.text.about import about, sure
from dpaudit.report.text.accounting import accounting_of
from dpaudit.report.text.bound_kinds import proved_limit
from dpaudit.report.text.drawn import released
from dpaudit.report.text.numerals import NBSP, claim_text, estimate_text, share_text
from dpaudit.report.text.phrases import symbol
from dpaudit.report.text.plain_words import plain_words
from dpaudit.report.view import View


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing with its heading, the name that is read aloud, and what is said below it.

    ``rows`` are (name, text).
    """

    title: str
    name: str
    drawing: Markup | None
    sentences: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield the pictures beside the verdict, and what it means for a person."""
    pictures = [_line(shown.evidence), *_loss(shown.evidence), *_curve(shown.evidence)]
    yield Section("glance", "At a glance", {"pictures": pictures})


def _line(evidence: Evidence) -> Picture:
    letter, meaning = symbol(evidence), plain_words(evidence)
    rows = (("For a person in the data", meaning.means),)
    how, drawing = line_reading(evidence), line_drawing(evidence, narrow=True)
    return Picture(f"Where {letter} lies", f"The {letter} line", drawing, (how,) if how else (), rows)


def _loss(evidence: Evidence) -> Iterator[Picture]:
    losses, claim = cell_losses(evidence.histogram), evidence.claimed
    if losses is None:
        return
    limit = claim.value if claim is not None and claim.is_point else None
    text = "" if limit is None else f"ε = {claim_text(limit)}"
    bins = loss_bins(losses, limit)
    drawing = alone(loss_glance(bins, limit, text, proved_limit(evidence)))
    yield Picture(
        "What outputs give away", "Histogram of the privacy loss", drawing, tuple(_reading(losses, claim, limit))
    )


def _reading(losses: Losses, claim: Claim | None, limit: float | None) -> Iterator[str]:
    """Yield how to read the histogram, and what lies beyond the claim."""
    how = (
        "How to read this: the same was run on two neighbouring datasets, shown under The pair. Each bar is the share "
        "of outputs that point to one of them so strongly. In the middle they tell nothing; the farther out, the more "
        "they give away."
    )
    if claim is None or limit is None:
        yield how
        return
    found = beyond(losses, limit)
    if claim.delta > 0:
        yield how
        yield (
            f"Beyond the shaded band the claim allows an excess of {_percent(claim.delta)}. Estimated from the runs it "
            f"is {share_text(found.excess[0])} for the first dataset and {share_text(found.excess[1])} for the second."
        )
        return
    yield f"{how} The claim allows nothing outside the shaded band."
    if any(found.clear):
        yield (
            f"Clearly outside it: {share_text(found.clear[0])} of the outputs on the first dataset, and "
            f"{share_text(found.clear[1])} of those on the second."
        )
    else:
        yield "Nothing lies clearly outside it."


def _percent(share: float) -> str:
    return f"{estimate_text(100 * share)}{NBSP}%"


def _curve(evidence: Evidence) -> Iterator[Picture]:
    accounting = accounting_of(evidence)
    drawing = None if accounting is None else curve_drawing(accounting)
    if drawing is not None:
        sentences = (
            "For every ε, the δ with which (ε, δ)-differential privacy holds: below the solid line it certainly does "
            "not hold on some data, on the dashed line and above it always does. Where only one line is seen, the two "
            "agree.",
        )
        yield Picture("The certified curve", "The certified privacy curve", drawing, sentences)


# --- What stands on the first screen below the verdict? Of what it is, what it does not show, and what is released. ---


def about_section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield what the page is about, the releases of a proof, and what was found beside the verdict."""
    evidence = shown.evidence
    rows = dict(about(evidence))
    made = {"made_with": rows.pop("Made with"), "digest": evidence.target.digest}
    parts = {"about": list(rows.items()), "not_shown": plain_words(evidence).not_shown, "sure": sure(evidence)}
    yield Section("about", "What it is about", parts)
    table = released(evidence)
    if table is not None:
        yield Section("released", "What is released", {"released": table})
    yield Section("made", "What made it", made)
    told = [row for row in shown.beside if not row.is_urgent]
    if told:
        yield Section("beside", "Found beside", {"told": told})
