"""Does a list of events keep what is claimed? Proved, refuted, or neither.

PROVED takes the certified upper bound, VIOLATED a certified loss that is strictly larger than the claim; between them
stands INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accounting.added import certify_added
from dpaudit.accounting.certify import MEMORY, TOLERANCE, Certified, certify
from dpaudit.accounting.events import Event, Events, as_events
from dpaudit.decimals import number_of, root_of
from dpaudit.errors import UsageError
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, ZeroConcentratedDP
from dpaudit.privacy.claims import as_claim, number_text

PROVED, VIOLATED, INCONCLUSIVE = "PROVED", "VIOLATED", "INCONCLUSIVE"


@dataclass(frozen=True)
class Decision:
    """What is certain of a claim.

    Attributes:
        verdict: "PROVED", "VIOLATED" or "INCONCLUSIVE".
        claim: the claim.
        reason: why, in a sentence.
        certified: the interval from which it follows; None where ε is infinite.
        low, high: bounds of the claim's own parameter: certainly lost by some data, and by no data exceeded.
    """

    verdict: str
    claim: Claim
    reason: str
    certified: Certified | None
    low: float
    high: float


def decide(
    events: Events | Event | Sequence[Event],
    claim: Claim | str,
    *,
    tolerance: float = TOLERANCE,
    points: int = 0,
    memory: int = MEMORY,
) -> Decision:
    """Return what is certain of a claim.

    Args:
        events: a list of events, or one.
        claim: pure ε, (ε, δ), μ-GDP or ρ-zCDP.
        tolerance: the width in ε that is wished for.
        points: how many points of the curve to give for a picture.
        memory: the most bytes to use, about.

    Raises:
        UsageError: for a claim of which nothing can be proved, and as `certify` does.
    """
    listed, claimed = as_events(events), as_claim(claim)
    if isinstance(claimed, PureDP | ApproxDP):
        return _in_epsilon(listed, claimed, tolerance, points, memory)
    if isinstance(claimed, GaussianDP | ZeroConcentratedDP):
        return _concentrated(listed, claimed)
    raise UsageError(f"accounting decides claims of ε, (ε, δ), μ-GDP and ρ-zCDP, not {claimed}")


def _in_epsilon(events: Events, claim: Claim, tolerance: float, points: int, memory: int) -> Decision:
    found = certify(events, delta=number_of(claim.delta), tolerance=tolerance, points=points, memory=memory)
    verdict, reason = _judged(found, claim, f" at δ = {number_text(claim.delta)}")
    return Decision(verdict, claim, reason, found, found.low, found.high)


def judged(claim: Claim, low: Fraction | None, high: Fraction | None) -> str:
    """Return the verdict on a claim whose parameter certainly lies between two numbers, of which None is infinity."""
    claimed = root_of(claim.value) if isinstance(claim, GaussianDP) else number_of(claim.value)
    if high is not None and high <= claimed:
        return PROVED
    return VIOLATED if low is None or low > claimed else INCONCLUSIVE


def _judged(found: Certified, claim: Claim, at: str) -> tuple[str, str]:
    verdict = judged(claim, *(number(found.certificate[end]) for end in ("low", "high")))
    symbol, low, high, claimed = claim.symbol, found.low, found.high, claim.value
    if verdict == PROVED:
        return PROVED, f"{symbol} ≤ {high:.6g}{at} for all neighbours, which is within {claimed:.6g}."
    if verdict == VIOLATED:
        return VIOLATED, f"Some data with some queries have {symbol} ≥ {low:.6g}{at}, more than {claimed:.6g}."
    return verdict, f"{symbol} is between {low:.6g} and {high:.6g}{at}, with {claimed:.6g} between them."


def number(text: str) -> Fraction | None:
    """Return a number as certificates write it; None for "infinity"."""
    if text == "infinity":
        return None
    if "e" in text.lower():  # an exponent could ask for any number of digits
        raise ValueError(f"{text!r} is no fraction")
    return Fraction(text)


def _concentrated(events: Events, claim: Claim) -> Decision:
    """μ and ρ add up as squares and as they are; for Gaussian noise this is exact."""
    found = certify_added(events, "mu" if isinstance(claim, GaussianDP) else "rho")
    verdict, reason = _judged(found, claim, "")
    return Decision(verdict, claim, reason, found, found.low, found.high)


__all__ = ["INCONCLUSIVE", "PROVED", "VIOLATED", "Decision", "decide", "judged", "number"]
