"""What do verdicts and findings mean, apart from any evidence? For those who meet a word and look it up."""

from __future__ import annotations

from dpaudit.evidence.records import Verdict
from dpaudit.report.text.plain_words import FOUND, NEXT, NOT_SHOWN
from dpaudit.report.text.trace import MEANINGS

_AT_WHICH_LINE = " With the same target and data, dpaudit trace says at which line."


def verdicts_and_findings() -> dict[str, tuple[str, ...]]:
    """Return each verdict and each finding of a trace, with paragraphs on it."""
    verdicts = {
        str(verdict).upper(): (
            FOUND[verdict],
            f"What it does not show: {NOT_SHOWN[verdict]}",
            f"Next: {NEXT[verdict]}{_AT_WHICH_LINE if verdict is Verdict.VIOLATED else ''}",
        )
        for verdict in Verdict
    }
    return verdicts | {
        f"{word} (trace)": (f"{meaning[0].upper()}{meaning[1:]}.",) for word, meaning in MEANINGS.items()
    }
