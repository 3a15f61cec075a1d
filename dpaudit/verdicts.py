"""What do the bounds say of the claim?

The rules in their order: INVALID before VIOLATED, PROVED, INCONCLUSIVE and NOT VIOLATED.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from dpaudit.members import Bound, Verdict
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import number_text


def shown(value: float) -> str:
    """Four digits, rounded down."""
    if value == 0 or not math.isfinite(value):
        return "∞" if value == math.inf else "0"
    return number_text(float(Context(prec=4, rounding=ROUND_FLOOR).plus(Decimal(repr(value)))))


def judge(
    claim: Claim | None,
    lower: Bound,
    detectable: float | None,
    low_bits: Bound | None = None,
    *,
    upper: Bound | None = None,
    within: bool = False,
    scope: str = "",
    contradicts: bool = False,
) -> tuple[Verdict, str]:
    """Return the verdict and a sentence that says why.

    Args:
        claim: what was claimed, or None.
        lower: the headline's lower bound.
        detectable: the smallest violation that would have been found with probability 0.9.
        low_bits: a lower bound for whoever reads the low-order bits, where it decides too.
        upper: an upper bound by proof or exact computation; ``within`` whether it is at most the claim, compared
            exactly; ``scope`` what it holds for.
        contradicts: whether ``lower`` was sampled, exceeds ``upper``, and did so again at a much smaller error.
    """
    if math.isnan(lower.value) or (low_bits is not None and math.isnan(low_bits.value)):
        raise ArithmeticError("a bound is not a number; it can decide nothing")
    sure = "certainly" if lower.kind == "exact" else f"at {lower.confidence:.6g} confidence"
    if claim is None:
        return Verdict.NO_CLAIM, f"No claim was made; ε is at least {shown(lower.value)}, {sure}."
    symbol = claim.symbol
    claimed = f"{symbol} = {number_text(claim.value)}"
    if lower.value > claim.value:
        how = "contradicts the proof: implementation, arithmetic or prover is wrong; " if contradicts else ""
        return (
            Verdict.VIOLATED,
            how
            + f"{symbol} is more than the claimed {number_text(claim.value)}: at least {shown(lower.value)}, {sure}.",
        )
    if low_bits is not None and low_bits.value > claim.value:
        return (
            Verdict.VIOLATED,
            f"{symbol} is more than the claimed {number_text(claim.value)} for someone who reads the low-order bits "
            f"of the output: at least {shown(low_bits.value)}, at {low_bits.confidence:.6g} confidence.",
        )
    if upper is not None and within:
        return (
            Verdict.PROVED,
            f"{symbol} is at most {_above(upper)}, certainly, for {scope}: not more than the claimed "
            f"{number_text(claim.value)}, in real arithmetic and with perfect sampling.",
        )
    if upper is not None:
        return (
            Verdict.INCONCLUSIVE,
            f"Between the claimed {number_text(claim.value)} and the proved bound nothing is known: {symbol} is at "
            f"most {_above(upper)}, for {scope}, and at least {shown(lower.value)}, {sure}.",
        )
    if detectable is None or not detectable <= claim.gross():
        return Verdict.INCONCLUSIVE, _too_few(claim, claimed, detectable)
    return (
        Verdict.NOT_VIOLATED,
        f"No violation of {claimed} was found; {symbol} is at least {shown(lower.value)}, {sure}. "
        "This is not a proof of privacy.",
    )


def _above(upper: Bound) -> str:
    """The exact value where it is short, else four digits, rounded up."""
    if upper.exact is not None and len(upper.exact) <= 20:
        return upper.exact
    return number_text(float(Context(prec=4, rounding=ROUND_CEILING).plus(Decimal(repr(upper.value)))))


def _too_few(claim: Claim, claimed: str, detectable: float | None) -> str:
    if detectable is None or not math.isfinite(detectable):
        return f"These runs could not have shown any violation of {claimed}, however large; use more runs."
    return (
        f"These runs would have shown a violation of {claimed} only from {claim.symbol} = {detectable:.3g} on: "
        f"even a gross one ({claim.symbol} = {claim.gross():.3g}) could have gone unseen; use more runs."
    )
