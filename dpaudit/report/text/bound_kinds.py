"""Is a bound sampled, exact or proved? The three kinds are kept apart, each with its own name.

The headline of evidence is the larger of the sampled and the exact lower bound; a report shows both separately.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import msgspec

from dpaudit.evidence.build import at_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Proof, Verdict
from dpaudit.report.text.numerals import NBSP, count_text, upper_text

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
