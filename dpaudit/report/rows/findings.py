"""What was found beside the verdict, and must not be missing from any summary?

A verdict answers one question: do the runs, with outputs as real numbers, show more than the claim allows? Everything
else that an audit finds is a row here. Full renderings show all of these rows; the shortest, a row of a table, shows
those that are worse than the verdict (`Row.is_urgent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpaudit.evidence.build import NOTHING
from dpaudit.evidence.evidence import SPEAKS_AGAINST, Evidence, beyond_claim, low_bits_show_more
from dpaudit.evidence.records import Curve, Verdict, round_outward
from dpaudit.privacy.claims import number_text
from dpaudit.report.rows import Importance, Row
from dpaudit.report.text.numerals import confidence_text
from dpaudit.report.text.phrases import bound_text, certainty, lacks_line, low_bits_sentence, symbol
from dpaudit.report.text.sensitivity import sensitivity_line, sensitivity_part
from dpaudit.report.text.trace import trace_line, trace_part


def findings(evidence: Evidence) -> Iterator[Row]:
    """Yield everything that was found beside the verdict, in reading order."""
    for finding in FINDINGS:
        yield from finding(evidence)


def _finding(key: str, name: str, line: str, text: str, is_urgent: bool, cell: str = "", note: str = "") -> Row:
    importance = Importance.EVERYWHERE if is_urgent else Importance.SUMMARY
    return Row(key, key, name, cell or line, line, text, note, importance, "beside")


# --- the whole curve --------------------------------------------------------------------------------------


def _curve(evidence: Evidence) -> Iterator[Row]:
    """Yield the curve; it has its own confidence, so it may exceed a claim that the bound in the headline does not."""
    curve = evidence.curve
    if curve is None or evidence.verdict is Verdict.INVALID:
        return
    beyond = beyond_claim(curve, evidence.claimed)
    how = f"all at once, at {confidence_text(curve.confidence)} confidence"
    shown = f"{_places(curve)} ({how})"
    line = f"{beyond}, more than is claimed; {shown}" if beyond else shown
    text = f"The whole privacy curve was bounded too: {shown}."
    if beyond:
        text += f" It exceeds the claim: {beyond}. The verdict does not rest on it."
    yield _finding("curve", "Curve", line, text, bool(beyond))


def _places(curve: Curve) -> str:
    """Return a few points of a certified curve: the first and the last that say anything, and one between."""
    known = [(epsilon, delta) for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True) if delta > 0]
    places = [known[place] for place in sorted({0, len(known) // 2, len(known) - 1})] if known else []
    listed = ", ".join(f"{_delta(delta)} at ε = {number_text(epsilon)}" for epsilon, delta in places)
    return f"δ ≥ {listed}" if listed else "no δ above 0 was shown at any ε"


def _delta(value: float) -> str:
    return number_text(round_outward(value, "lower", 3))


# --- low-order bits ---------------------------------------------------------------------------------------


def _low_bits(evidence: Evidence) -> Iterator[Row]:
    text, bound = low_bits_sentence(evidence), evidence.floating_point
    if text is None or bound is None:
        return
    claim = evidence.claimed
    is_urgent = low_bits_show_more(evidence)
    if bound.method == NOTHING:
        yield _finding("low bits", "Low-order bits", "the outputs have none to read", text, is_urgent)
        return
    cell, shown = bound_text(bound, claim), f"none above 0 was shown for {symbol(evidence)}"
    nothing = bound.value <= 0
    line = f"{shown if nothing else cell} ({bound.kind}, {certainty(bound)}), reading the low-order bits"
    line += ", more than is claimed" if is_urgent and claim is not None else ""
    cell, note = ("none above 0", "") if nothing else (cell, certainty(bound))
    yield _finding("low bits", "Low-order bits", line, text, is_urgent, cell, note)


# --- the query's sensitivity ------------------------------------------------------------------------------


def _sensitivity(evidence: Evidence) -> Iterator[Row]:
    line, part = sensitivity_line(evidence), sensitivity_part(evidence)
    if line is None or part is None:
        return
    yield _finding("sensitivity", "Sensitivity", line, " ".join(part.sentences), part.exceeded)


# --- outputs that never vary ------------------------------------------------------------------------------


def _constant(evidence: Evidence) -> Iterator[Row]:
    """Yield a warning about runs that all returned the same output: they may all be the same draw."""
    if not evidence.constant:
        return
    line = "all runs of a side returned the same output: no noise, or noise that was drawn once and remembered"
    text = (
        "All runs of a side returned the same output. Either the mechanism draws no noise, or it draws it once and "
        "remembers it (a cache, a seed that is set within): then all runs of a side were one draw, and say nothing of "
        "how likely it was. To audit such a mechanism, let every call draw anew."
    )
    yield _finding("same output", "The same output", line, text, evidence.verdict is Verdict.VIOLATED)


# --- what a trace found -----------------------------------------------------------------------------------


def _trace(evidence: Evidence) -> Iterator[Row]:
    """Yield what recorded and replayed runs show; what speaks against the claim is urgent."""
    line, part = trace_line(evidence), trace_part(evidence)
    if line is None or part is None or evidence.trace is None:
        return
    is_urgent = evidence.trace.word in SPEAKS_AGAINST
    yield _finding("trace", "Trace", line, " ".join(part.sentences), is_urgent, evidence.trace.word)


def _unproved(evidence: Evidence) -> Iterator[Row]:
    """Yield why an audit of a function as it is states no proof."""
    said = "" if evidence.trace is None else evidence.trace.unproved
    if said:
        yield _finding("no proof", "Why there is no proof", said, f"Nothing is proved for all data: {said}.", False)


def next_step(evidence: Evidence) -> Iterator[Row]:
    """Yield how to look for the line at fault, where runs show a violation and nothing names a line."""
    if lacks_line(evidence):
        text = "dpaudit trace, with the same options, looks for the line at fault"
        yield Row("next", "next", "At which line", text, importance=Importance.SUMMARY)


FINDINGS: tuple[Callable[[Evidence], Iterator[Row]], ...] = (
    _curve,
    _low_bits,
    _sensitivity,
    _trace,
    _unproved,
    _constant,
)
