"""Which lower bound do the counts of one event prove, by the method that was fixed for it?"""

from __future__ import annotations

import math

from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import Weight, single
from dpaudit.stats.joint_region import ConfidenceRegion, Joint
from dpaudit.stats.methods import method_of


def lower_bound(method: str, counts: Counts, *, claim: Claim, weight: Weight, error: float) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 if nothing is shown.

    Args:
        method: its name (`dpaudit.stats.methods`); fixed, like ``weight``, before measuring.
        counts: what was measured.
        claim: the notion to bound, with its δ or order; its own value is not used.
        weight: w₁ of a joint bound, all weights of a multinomial one, None for others.
        error: 1 − confidence.

    Returns:
        The bound, in the unit of the claim's parameter.

    Raises:
        ValueError: if the method is unknown, is not valid for the claim, or lacks its weights or bins.
        ArithmeticError: if the bound is not a number.
    """
    found = method_of(method)
    if found.pure and not claim.pure:
        raise ValueError(f"a bound by the method {method!r} holds for pure DP only, not for {claim}")
    value = found.computed.lower(counts, claim, weight, error)
    if math.isnan(value):
        raise ArithmeticError(f"the {method} bound of {counts} is not a number")
    return value


def region_from(method: str, counts: Counts, *, weight: Weight, error: float) -> ConfidenceRegion:
    """Return the region of both probabilities that a joint method leaves possible, for every loss at once.

    Args:
        method, counts, weight, error: as for `lower_bound`.

    Returns:
        The region, with corners of shape (corners,).

    Raises:
        ValueError: if the method has no such region.
    """
    found = method_of(method)
    if not found.whole_curve or not isinstance(found.computed, Joint):
        raise ValueError(f"the method {method!r} has no region that holds for every loss")
    return found.computed.region(counts, single(weight), error)
