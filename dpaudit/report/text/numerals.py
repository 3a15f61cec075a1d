"""How is a number written so that the statement stays true, and is it sampled, exact or proved?

A lower bound is rounded down and an upper bound up. A number is never rounded across the claim that it is compared
with: ``ε ≥ 1.098`` next to a claim of 1.0986 would say the opposite of what was found.

The headline of evidence is the larger of the sampled and the exact lower bound; a report shows both separately.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from fractions import Fraction

import msgspec

from dpaudit.evidence.build import at_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Proof, Verdict
from dpaudit.privacy.claims import number_text

# --- How is a number written so that the statement stays true? -------------------------------------------


NBSP = "\N{NO-BREAK SPACE}"
DIGITS = 4  # of a bound, enough to compare it with a claim
_ENCLOSED = 6  # digits of a probability between two exact limits
_FULL = 10  # digits of bounds in evidence


def _written(value: float) -> str:
    """Write a float that already has few digits: positional in the middle range, else like 1.2e-6."""
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if math.isnan(value):
        return "not a number"
    if 1e-3 <= abs(value) < 1e7:
        text = format(Decimal(repr(value)), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
    else:
        text = number_text(value)
    return text.replace("-", "−", 1) if text.startswith("-") else text


def _rounded(value: float, rounding: str, digits: int) -> float:
    """Round the decimal that Python writes for a float: 0.3 is 3/10, not slightly less."""
    if not math.isfinite(value):
        return value
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))))


def lower_text(value: float, *, claim: float | None = None, digits: int = DIGITS) -> str:
    """Write a lower bound, rounded down."""
    for many in range(digits, _FULL):
        rounded = _rounded(value, ROUND_FLOOR, many)
        if claim is None or not value > claim or rounded > claim:
            return _written(rounded)
    return _written(value)


def upper_text(value: float, *, claim: float | None = None, digits: int = DIGITS) -> str:
    """Write an upper bound, rounded up."""
    for many in range(digits, _FULL):
        rounded = _rounded(value, ROUND_CEILING, many)
        if claim is None or not value <= claim or rounded <= claim:
            return _written(rounded)
    return _written(value)


def claim_text(value: float) -> str:
    """Write a claimed number as it was given; if it has many digits, the first six and an ellipsis."""
    exact = number_text(value)
    if len(exact) <= 8 or not math.isfinite(value):
        return exact
    cut = _rounded(value, ROUND_FLOOR, 6)
    return exact if cut == value else _written(cut) + "…"


def enclosure_text(low: str, high: str) -> str:
    """Write a probability between two decimals in percent: one number if they agree, else both, rounded outward."""
    ends = []
    for text, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING)):
        try:
            ends.append(Context(prec=_ENCLOSED, rounding=rounding).multiply(Decimal(100), Decimal(text)))
        except InvalidOperation:
            return f"{low} to {high}"  # not written by dpaudit, so shown literally
    written = [_written(float(end)) if float(end) or not end else str(end.normalize()).lower() for end in ends]
    if ends[1] == 0:
        return f"0{NBSP}%, impossible"
    return f"{written[0]}{NBSP}%" if ends[0] == ends[1] else f"{written[0]} to {written[1]}{NBSP}%"


def estimate_text(value: float, digits: int = 3) -> str:
    """Write an estimate, rounded to the nearest number."""
    if not math.isfinite(value) or value == 0:
        return _written(value)
    return _written(_rounded(value, ROUND_HALF_EVEN, digits))


def confidence_text(confidence: float) -> str:
    """Write a confidence in percent: exactly if that is short, else rounded down."""
    percent = Decimal(repr(confidence)) * 100
    short = Context(prec=8, rounding=ROUND_FLOOR).plus(percent)
    return _written(float(short)) + NBSP + "%"


def error_text(confidence: float) -> str:
    """Write 1 − confidence in percent, rounded up."""
    percent = (1 - Decimal(repr(confidence))) * 100
    return _written(float(Context(prec=4, rounding=ROUND_CEILING).plus(percent))) + NBSP + "%"


def share_text(value: float, *, rounding: str = "nearest") -> str:
    """Write a share in percent with 3 digits; ``rounding`` is "nearest", "lower" or "upper"."""
    percent = 100 * value
    if percent == 0 or not math.isfinite(percent):
        return _written(percent) + NBSP + "%"
    how = {"nearest": ROUND_HALF_EVEN, "lower": ROUND_FLOOR, "upper": ROUND_CEILING}[rounding]
    short = Context(prec=3, rounding=how).plus(Decimal(percent))
    if short < Decimal("0.001"):
        return _written(float(short)) + NBSP + "%"
    places = max(0, 2 - short.adjusted())  # trailing zeros count as digits: 18.0 % next to 49.2 %
    return f"{short:.{places}f}{NBSP}%"


def count_text(count: int) -> str:
    """Write a whole number in groups of three."""
    return f"{count:,}"


# --- Is a bound sampled, exact or proved? ----------------------------------------------------------------


COUNTEREXAMPLE = "counterexample"  # the name of the attempt that measures the event of the counterexample
_LONGEST = 24  # characters of an exact value that is shown next to its decimals; longer ones are hard to read


def is_proof(evidence: Evidence) -> bool:
    """Whether the evidence rests on more than runs, so that each kind of number needs its own name."""
    return evidence.proof is not None or evidence.exact is not None


def exact_lower(evidence: Evidence) -> Bound | None:
    """Return the certain lower bound, or None."""
    return evidence.exact or (evidence.lower if evidence.lower.kind == "exact" else None)


def sampled_attempt(evidence: Evidence) -> Attempt | None:
    """Return the attempt that showed most, among those in real arithmetic."""
    return max(
        (attempt for attempt in evidence.attempts if attempt.bound.arithmetic == "real"),
        key=lambda attempt: attempt.bound.value,
        default=None,
    )


def sampled_lower(evidence: Evidence) -> Bound | None:
    """Return the sampled lower bound, at the confidence of the whole audit; None if nothing was run."""
    if evidence.lower.kind == "sampled":
        return evidence.lower if evidence.measuring > 0 or evidence.lower.value > 0 else None
    best = sampled_attempt(evidence)
    if best is None:
        return None
    bound = at_whole(best.bound, evidence.confidence)
    return msgspec.structs.replace(bound, value=0.0) if unconfirmed(evidence) else bound


def unconfirmed(evidence: Evidence) -> bool:
    """Whether runs showed more than is certain or claimed, and fresh runs did not confirm it: then it is not shown."""
    claim, best = evidence.claimed, sampled_attempt(evidence)
    if claim is None or best is None or evidence.lower.kind != "exact" or evidence.verdict is Verdict.VIOLATED:
        return False
    return best.bound.value > claim.value


def counterexample_attempt(evidence: Evidence) -> Attempt | None:
    """Return the attempt that measured the counterexample's event; if there are two, the one of higher confidence."""
    named = [attempt for attempt in evidence.attempts if attempt.name == COUNTEREXAMPLE]
    return max(named, key=lambda attempt: attempt.bound.confidence, default=None)


def contradicting(evidence: Evidence) -> Bound | None:
    """Return the sampled bound that contradicts the proof with the highest confidence; None if none decided."""
    upper, lower = evidence.upper, evidence.lower
    # a sampled headline exceeds a proved bound only if it was confirmed (`dpaudit.verify.answer`)
    decided = evidence.verdict is Verdict.VIOLATED and lower.kind == "sampled"
    if upper is None or not decided or lower.value <= upper.value:
        return None
    above = [
        attempt.bound
        for attempt in evidence.attempts
        if attempt.bound.arithmetic == "real" and attempt.bound.value > upper.value
    ]
    return max(above, key=lambda bound: bound.confidence, default=evidence.lower)


@dataclass(frozen=True, slots=True)
class Proved:
    """A proved upper bound of ε for drawings; it has the colour of a proof only if it keeps the claim."""

    value: float
    text: str
    keeps_claim: bool


def proved_limit(evidence: Evidence) -> Proved | None:
    """Return the upper bound of ε at δ = 0, with which curves can be drawn; None if there is none."""
    upper = evidence.upper
    if upper is None or upper.parameter != "epsilon" or upper.delta > 0 or not math.isfinite(upper.value):
        return None
    if contradicting(evidence) is not None:
        return None
    limit = evidence.claimed.value if evidence.claimed is not None else None
    text = f"ε ≤ {upper_text(upper.value, claim=limit)}"
    return Proved(upper.value, text, evidence.verdict is Verdict.PROVED)


def without_bound(evidence: Evidence) -> str:
    """Say what it means that no finite upper bound was found."""
    exact = exact_lower(evidence)
    if exact is not None and math.isinf(exact.value):
        return "the exact lower bound is infinite"
    return "this by itself refutes nothing"


def proved_for(proof: Proof | None) -> str:
    """Say for which data a proof holds, short enough for a headline."""
    if proof is None:
        return "within the scope of the proof"
    if proof.method == "enumeration":
        return "for every dataset of the domain"
    if proof.method == "releases":
        stated = f", given that {' and '.join(proof.given)}" if proof.given else ""
        return f"for data frames of any length{stated}"
    if proof.method == "moves":
        grows = "" if proof.exceeds_at is None else f" (it exceeds the claim at n = {proof.exceeds_at})"
        return "for any n" if proof.length is None else f"for n = {proof.length}{grows}"
    if proof.length is None:
        return "for any number of answers" if proof.method == "induction" else "within the scope of the proof"
    return f"for {answers(proof.length)}"


def answers(length: int) -> str:
    """Return the number of answers as text."""
    return f"{count_text(length)}{NBSP}answer{'' if length == 1 else 's'}"


def exact_value(bound: Bound, written: str) -> str:
    """Return the text after the decimals ``written`` of a bound: " = 5/8", " (exact: 1/3)", or nothing."""
    text = bound.exact
    if text is None or text == written or text == "infinite" or len(text) > _LONGEST:
        return ""
    try:
        if Fraction(text) == Fraction(written):
            return f"{NBSP}={NBSP}{text}"
    except (ValueError, ZeroDivisionError):
        pass  # ln(3), or a number in our own notation, like 1.2e-7
    return f" (exact: {text})"
