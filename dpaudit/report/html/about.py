"""What stands on the first screen below the verdict? Of what it is, what it does not show, and what is released.

A reviewer who reads no farther has read what a signature is about.
"""

from __future__ import annotations

from collections.abc import Iterator

from dpaudit.evidence.evidence import Evidence
from dpaudit.report.html.templates import Section
from dpaudit.report.text.about import about, sure
from dpaudit.report.text.drawn import released
from dpaudit.report.text.plain_words import plain_words
from dpaudit.report.view import View


def section(shown: View, _: Evidence | None) -> Iterator[Section]:
    """Yield what the page is about, the releases of a proof, and what was found beside the verdict."""
    evidence = shown.evidence
    parts = {
        "about": list(about(evidence)),
        "not_shown": plain_words(evidence).not_shown,
        "sure": sure(evidence),
        "digest": evidence.target.digest,
    }
    yield Section("about", "What it is about", parts)
    table = released(evidence)
    if table is not None:
        yield Section("released", "What is released", {"released": table})
    told = [row for row in shown.beside if not row.is_urgent]
    if told:
        yield Section("beside", "Found beside", {"told": told})
