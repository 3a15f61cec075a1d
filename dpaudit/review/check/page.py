"""Does the visible text of a page follow from its evidence?

The page is rendered again from the evidence embedded in it and compared byte for byte. If it differs although the same
versions rendered it, the page was edited; with other versions nothing can be said.
"""

from __future__ import annotations

from dpaudit.evidence.evidence import Evidence
from dpaudit.report import html_page
from dpaudit.report.html.embedded_json import drawn_with, generator
from dpaudit.review.check.finding import Finding, answered, failing, unchecked


def page_finding(html: str, evidence: Evidence) -> Finding:
    """Check that a page is rendered from its evidence."""
    try:
        again = html_page(evidence)
    except ImportError as error:
        said = f"what it shows was not compared with its evidence: that takes {error.name or error}"
        return unchecked("page", said, decides=True)
    except Exception as error:  # inconsistent evidence may be impossible to render
        return failing("page", f"its evidence cannot be drawn: {type(error).__name__}: {error}")
    if again.strip() == html.strip():
        return answered("page", True, "what it shows is drawn from its evidence, to the byte")
    stated, own = generator(html), drawn_with()
    if stated == own:
        return failing("page", "it does not show what its evidence gives: the visible text was edited")
    by = "no version that it names" if not stated else f"{stated:.80}"
    said = f"what it shows was not checked: it was drawn by {by}, and this is {own}; draw it anew with dpaudit report"
    return unchecked("page", said, decides=True)
