"""Which numbers are on the ε line? Every number of an audit with its kind, its origin, and its meaning."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Training
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import number_text
from dpaudit.report.figures.canvas import alone
from dpaudit.report.figures.event import Mark, line_figure
from dpaudit.report.text.bound_kinds import (
    contradicting,
    exact_lower,
    exact_value,
    is_proof,
    sampled_lower,
    without_bound,
)
from dpaudit.report.text.numerals import NBSP, claim_text, confidence_text, estimate_text, upper_text
from dpaudit.report.text.phrases import (
    claim_words,
    detectable_sentence,
    full_text,
    kind_words,
    symbol,
    value_text,
    yardstick,
)


@dataclass(frozen=True, slots=True)
class LineRow:
    """A number in the table next to the line."""

    name: str
    value: str
    how: str
    confidence: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Line:
    """The numbers of the line as a table."""

    rows: list[LineRow]


def line(evidence: Evidence, claim: Claim | None) -> Line:
    """Return the line of an audit: sampled and exact lower bounds, claim, upper bound and yardsticks."""
    return Line([row for row, _ in _entries(evidence, claim)])


def line_drawing(evidence: Evidence, *, narrow: bool = False) -> Markup | None:
    """Return the drawing, wide or for half of a page; None if there are no numbers."""
    marks = _marks(_entries(evidence, evidence.claimed))
    if not marks:
        return None
    drawing = line_figure(marks, symbol(evidence), narrow=narrow)
    return alone(drawing) if narrow else Markup(drawing)


def line_reading(evidence: Evidence) -> str:
    """Say how to read the drawing, for those of its marks that are there; empty without a bound."""
    letter, marks = symbol(evidence), _marks(_entries(evidence, evidence.claimed))
    kinds = {mark.kind for mark in marks if mark.value > 0}
    said = []
    if kinds & {"lower", "exact"}:
        said.append(f"{letter} is at least what a bar reaches")
    if kinds & {"upper", "proved"}:
        said.append(f"{'at most' if said else f'{letter} is at most'} where the hatching begins")
    if not said:
        return ""
    if "claim" in kinds:
        said.append("the dashed line is the claim")
    if "true" in kinds:
        said.append("the circle is the true loss, known from theory")
    by_verdict = evidence.verdict is Verdict.NOT_VIOLATED  # the box of the verdict says it
    rest = detectable_sentence(evidence) if "detectable" in kinds and not by_verdict else ""
    return f"How to read this: {'; '.join(said)}. {rest}".strip()


def _marks(entries: list[tuple[LineRow, Mark | None]]) -> list[Mark]:
    return [mark for _, mark in entries if mark is not None and not math.isnan(mark.value)]


def _entries(evidence: Evidence, claim: Claim | None) -> list[tuple[LineRow, Mark | None]]:
    if evidence.training is not None:
        return _watched(evidence, evidence.training, claim)
    if evidence.accounting is not None:
        return _certified(evidence, claim)
    entries: list[tuple[LineRow, Mark | None]] = []
    entries += _lower(evidence, claim)
    if claim is not None:
        row = LineRow("claim", claim_words(claim), "stated", "–", "what somebody says of the mechanism")
        entries.append((row, Mark("claim", "claim", claim.value, claim_text(claim.value))))
    entries += _upper(evidence, claim)
    return entries + _price(evidence) + _yardsticks(evidence)


def _certified(evidence: Evidence, claim: Claim | None) -> list[tuple[LineRow, Mark | None]]:
    """Return both bounds of an accounting, and the claim between, below or above them."""
    letter, lower, upper = symbol(evidence), evidence.lower, evidence.upper
    meaning = f"{letter} is certainly at least this, on some data"
    row = _row("certified from below", lower, claim, meaning, letter)
    entries: list[tuple[LineRow, Mark | None]] = [
        (row, Mark("exact", "from below", lower.value, _short(lower, claim))),
    ]
    if claim is not None:
        row = LineRow("claim", claim_words(claim), "stated", "–", "what somebody says of what is listed")
        entries.append((row, Mark("claim", "claim", claim.value, claim_text(claim.value))))
    if upper is None:
        return entries
    row = _row("certified from above", upper, claim, f"{letter} is certainly at most this, for every pair", letter)
    kind = "proved" if evidence.verdict is Verdict.PROVED else "upper"
    return [*entries, (row, Mark(kind, "from above", upper.value, _short(upper, claim)))]


def _watched(evidence: Evidence, training: Training, claim: Claim | None) -> list[tuple[LineRow, Mark | None]]:
    """Return what a watched loop loses from below and above, and its claim."""
    lower, entries = evidence.lower, list[tuple[LineRow, Mark | None]]()
    row = _row("as seen, from below", lower, claim, "what was seen loses at least this, on some data", "ε")
    row = LineRow(row.name, row.value, "certified for what was seen", row.confidence, row.meaning)
    entries.append((row, Mark("lower", "as seen, from below", lower.value, _short(lower, claim))))
    if claim is not None:
        row = LineRow("claim", claim_words(claim), "stated", "–", "what somebody says of the loop")
        entries.append((row, Mark("claim", "claim", claim.value, claim_text(claim.value))))
    high = training.high.value
    if math.isfinite(high):
        text = upper_text(high, claim=None if claim is None else claim.value, digits=7)
        meaning = "what was seen loses at most this"
        row = LineRow(
            "as seen, from above",
            f"ε ≤ {text}",
            "certified for what was seen",
            confidence_text(lower.confidence),
            meaning,
        )
        entries.append((row, Mark("upper", "as seen, from above", high, text)))
    return entries


def _lower(evidence: Evidence, claim: Claim | None) -> list[tuple[LineRow, Mark | None]]:
    letter, apart = symbol(evidence), is_proof(evidence)
    entries: list[tuple[LineRow, Mark | None]] = []
    sampled, exact = sampled_lower(evidence), exact_lower(evidence)
    if evidence.verdict is Verdict.INVALID:
        pass  # numbers from invalid runs are not shown
    elif sampled is not None:
        name = "sampled lower bound" if apart else "lower bound"
        row = _row(name, sampled, claim, f"{letter} is at least this", letter)
        entries.append((row, Mark("lower", "sampled" if apart else name, sampled.value, _short(sampled, claim))))
    elif evidence.proof is not None:
        meaning = "nothing was run"
        entries.append((LineRow("sampled lower bound", "none", "no runs", "–", meaning), None))
    if exact is not None:
        name = "exact lower bound" if apart else "lower bound"
        meaning = f"{letter} is certainly at least this, on one pair of datasets"
        if math.isinf(exact.value):
            meaning = f"no {letter} is enough: the event is impossible on one side, and possible on the other"
        row = _row(name, exact, claim, meaning, letter)
        entries.append((row, Mark("exact", "exact" if apart else name, exact.value, _short(exact, claim))))
    return entries


def _upper(evidence: Evidence, claim: Claim | None) -> list[tuple[LineRow, Mark | None]]:
    letter, upper, proof = symbol(evidence), evidence.upper, evidence.proof
    name = "proved upper bound" if is_proof(evidence) else "upper bound"
    if upper is None:
        if proof is None:
            return []
        how = f"{proof.method} gave no {'bound that is accepted' if proof.is_refused else 'finite bound'}"
        return [(LineRow(name, "none found", how, "–", without_bound(evidence)), None)]
    row = _row(name, upper, claim, f"{letter} is certainly at most this, within the scope of the proof", letter)
    if proof is not None and proof.given:
        row = LineRow(row.name, row.value, row.how, row.confidence, f"{row.meaning}, {proof.granted}")
    if proof is not None:
        by = "every output enumerated" if proof.method == "enumeration" else f"proved by {proof.method}"
        row = LineRow(row.name, row.value, by, row.confidence, row.meaning)
    if contradicting(evidence) is not None:
        row = LineRow(
            row.name, row.value, row.how, "contradicted", "runs show more: this or the implementation is wrong"
        )
    # only the verdict PROVED has the colour of a proof
    kind = "proved" if evidence.verdict is Verdict.PROVED else "upper"
    return [(row, Mark(kind, "proved" if is_proof(evidence) else name, upper.value, _short(upper, claim)))]


def _row(name: str, bound: Bound, claim: Claim | None, meaning: str, letter: str) -> LineRow:
    nothing = bound.side == "lower" and bound.value <= 0
    text = f"none above 0 for {letter}" if nothing else full_text(bound, claim)
    sure = confidence_text(bound.confidence) if bound.kind == "sampled" else "certain"
    return LineRow(name, text, kind_words(bound), sure, meaning)


def _short(bound: Bound, claim: Claim | None) -> str:
    """Return the short text next to a marker."""
    if bound.side == "lower" and bound.value <= 0:
        return "none above 0"
    if math.isinf(bound.value):
        return "infinite"
    text = value_text(bound, claim)
    return f"{'≥' if bound.side == 'lower' else '≤'} {text}{exact_value(bound, text)}".replace(NBSP, " ")


def _price(evidence: Evidence) -> list[tuple[LineRow, Mark | None]]:
    """Return what the shift costs that a trace found: an upper bound of one way, on one path and pair."""
    trace, claim = evidence.trace, evidence.claimed
    if trace is None or trace.epsilon is None or claim is None or (trace.mu and claim.parameter == "epsilon"):
        return []
    value = trace.mu if claim.parameter == "mu" else trace.epsilon
    if not value or claim.parameter not in ("epsilon", "mu"):
        return []
    text = f"{symbol(evidence)} = {number_text(value)}"
    meaning = "what hiding the change costs on the path that shows most, one way; more than the claim refutes nothing"
    return [(LineRow("price of the shift", text, "traced", "–", meaning), None)]


def _yardsticks(evidence: Evidence) -> list[tuple[LineRow, Mark | None]]:
    letter = symbol(evidence)
    entries: list[tuple[LineRow, Mark | None]] = []
    found = evidence.detectable
    if found is not None and evidence.verdict is not Verdict.INVALID:
        text = "none of any size" if math.isinf(found) else f"from {upper_text(found)}"
        entries.append(
            (_detectable_row(found, letter, yardstick(evidence)), Mark("detectable", "detectable", found, text))
        )
    true = evidence.target.true_loss
    if true is not None:
        meaning = "from theory, for these pairs; not used by the audit"
        row = LineRow("true loss", f"{letter} = {estimate_text(true, 6)}", "stated by the catalogue", "–", meaning)
        entries.append((row, Mark("true", "true loss", true, estimate_text(true, 4))))
    return entries


def _detectable_row(value: float, letter: str, where: str) -> LineRow:
    how = "computed from the counts"
    if math.isinf(value):
        return LineRow("detectable", "none", how, "–", "no violation of any size could be counted on to be found")
    meaning = f"a violation so large would have been found, had it shown {where}"
    return LineRow("detectable", f"{letter} ≥ {upper_text(value)}", how, "probability 0.9", meaning)
