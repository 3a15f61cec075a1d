"""Is the visible text of a page what its evidence gives?

The page is drawn again from the evidence that it carries, and compared to the byte. Where that differs, the page was
edited, if the same versions drew it; otherwise nothing can be said of it.
"""

from __future__ import annotations

from dpaudit.evidence.evidence import Evidence
from dpaudit.report import html_page
from dpaudit.report.html.embedded_json import drawn_with, generator
from dpaudit.review.check.finding import Finding, answered, failing, unchecked


def page_finding(html: str, evidence: Evidence) -> Finding:
    """Return whether a page is drawn from its evidence."""
    try:
        again = html_page(evidence)
    except Exception as error:  # evidence that contradicts itself may be none that can be drawn
        return failing("page", f"its evidence cannot be drawn: {type(error).__name__}: {error}")
    if again.strip() == html.strip():
        return answered("page", True, "what it shows is drawn from its evidence, to the byte")
    stated, own = generator(html), drawn_with()
    if stated == own:
        return failing("page", "it does not show what its evidence gives: the visible text was edited")
    by = "no version that it names" if not stated else f"{stated:.80}"
    said = f"what it shows was not checked: it was drawn by {by}, and this is {own}; draw it anew with dpaudit report"
    return unchecked("page", said, decides=True)
