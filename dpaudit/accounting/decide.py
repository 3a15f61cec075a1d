"""Does a list of events keep what is claimed? Proved, refuted, or neither.

PROVED takes the certified upper bound, VIOLATED a certified loss that is strictly larger than the claim; between them
stands INCONCLUSIVE.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.accounting.added import certify_added, sums
from dpaudit.accounting.certify import MEMORY, TOLERANCE, Certified, certify
from dpaudit.accounting.events import Event, Events, as_events, stated
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
    try:
        found = certify(events, delta=claim.delta, tolerance=tolerance, points=points, memory=memory)
    except UsageError:
        if claim.delta or not _unbounded(events):
            raise
        reason = "Some losses have no bound, so that no finite ε holds at δ = 0; a claim with a δ above 0 could hold."
        return Decision(VIOLATED, claim, reason, None, math.inf, math.inf)
    verdict, reason = _judged(found.low, found.high, claim.value, "ε", f" at δ = {number_text(claim.delta)}")
    return Decision(verdict, claim, reason, found, found.low, found.high)


def _unbounded(events: Events) -> bool:
    from dpaudit.accounting.certify import Account

    return Account(events, TOLERANCE, MEMORY).unbounded()


def _judged(low: float, high: float, claimed: float, symbol: str, at: str) -> tuple[str, str]:
    """A float that is claimed is the number that it stores, and the ends are rounded outward."""
    if high <= claimed:
        return PROVED, f"{symbol} ≤ {high:.6g}{at} for all neighbours, which is within {claimed:.6g}."
    if low > claimed:
        return VIOLATED, f"Some data with some queries lose {symbol} ≥ {low:.6g}{at}, more than {claimed:.6g}."
    return INCONCLUSIVE, f"{symbol} is between {low:.6g} and {high:.6g}{at}, with {claimed:.6g} between them."


def _concentrated(events: Events, claim: Claim) -> Decision:
    """μ and ρ add up as squares and as they are; for Gaussian noise this is exact."""
    gaussian = isinstance(claim, GaussianDP)
    parameter = "mu" if gaussian else "rho"
    most, least = sums(events, parameter)
    found = certify_added(events, parameter)
    limit = stated(claim.value) ** 2 if gaussian else stated(claim.value)
    symbol, low, high = claim.symbol, found.low, found.high
    if most <= limit:
        return Decision(PROVED, claim, f"{symbol} ≤ {high:.6g} for all neighbours.", found, low, high)
    if least > limit:
        reason = f"Some data with some queries have {symbol} ≥ {low:.6g}, more than {claim.value:.6g}."
        return Decision(VIOLATED, claim, reason, found, low, high)
    reason = f"{symbol} is between {low:.6g} and {high:.6g}, with {claim.value:.6g} between them."
    return Decision(INCONCLUSIVE, claim, reason, found, low, high)


__all__ = ["INCONCLUSIVE", "PROVED", "VIOLATED", "Decision", "decide"]
