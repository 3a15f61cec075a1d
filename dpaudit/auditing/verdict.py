"""What do the bounds say about the claim, and what do they rest on that no file shows?

The rules, in their order: INVALID before VIOLATED, PROVED, INCONCLUSIVE and NOT VIOLATED. A sampled bound above the
claim is a violation if the two-look rule says so (`dpaudit.stats.two_looks`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from dpaudit.evidence.build import at_whole, sampled_bound
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import DOES_NOT_HOLD, NOT_ACCEPTED, Bound, Counts, SecondLook, Verdict
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import number_text
from dpaudit.stats import guessing, methods, two_looks
from dpaudit.stats.joint_region import lower_bound

# --- What do the bounds say about the claim? -------------------------------------------------------------

NO_PROOF = "This is not a proof of privacy."
TRACE, LEAK = "trace", "leak"
"""The methods of a bound that follows from the laws of the noise as a trace saw it, or from the flow of data alone."""

_TOLD = 6  # open ends that a sentence lists
_SURE = {TRACE: "given the stated laws of its noise", LEAK: "whatever its noise is"}
READS_LOW_BITS = "reads the low-order bits"


def shown(value: float) -> str:
    """Four digits, rounded down."""
    if value == 0 or not math.isfinite(value):
        return "∞" if value == math.inf else "0"
    return number_text(float(Context(prec=4, rounding=ROUND_FLOOR).plus(Decimal(repr(value)))))


@dataclass(frozen=True, slots=True)
class TwoLooks:
    """The result of one or two looks.

    ``first`` is the attempt with the strongest evidence against the claim, or None; ``second`` is the second look at
    it, or None if there was none.
    """

    rule: two_looks.LooksRule
    first: two_looks.FirstLook | None
    second: SecondLook | None = None

    @property
    def violated(self) -> bool:
        """Whether the claim is violated."""
        return self.first is not None and (self.first.sure or (self.second is not None and self.second.confirmed))

    def condemns(self, arithmetic: str) -> bool:
        """Whether the claim is violated by a bound in this arithmetic."""
        return self.violated and self.first is not None and self.first.arithmetic == arithmetic

    @property
    def decided_in(self) -> str:
        """The arithmetic of the bound that a violation rests on; "real" if there is none."""
        return "float" if self.condemns("float") else "real"

    @property
    def members(self) -> dict[str, Any]:
        """The same as fields of the evidence."""
        false_alarm = self.rule.false_alarm if self.rule.doubts else None
        return {"false_alarm": false_alarm, "second": self.second, "decided_in": self.decided_in}


def headline_of(bounds: Sequence[Bound], confidence: float, looks: TwoLooks | None, claim: Claim | None) -> Bound:
    """Return the largest of several bounds, at the confidence of the whole audit.

    Where a bound at that confidence is above the claim and fresh runs did not confirm it, the bounds are shown at the
    confidence that decided: no verdict stands beside a number that contradicts it.
    """
    if claim is None or looks is None or looks.second is None or looks.violated:
        shown = [at_whole(bound, confidence) for bound in bounds]
    else:
        shown = [two_looks.at_deciding(looks.rule, bound, claim) for bound in bounds]
    return max(shown, key=lambda bound: bound.value)


def decide(
    claim: Claim | None,
    lower: Bound,
    detectable: float | None,
    low_bits: Bound | None = None,
    *,
    looks: TwoLooks | None = None,
    upper: Bound | None = None,
    within: bool = False,
    scope: str = "",
    contradicts: bool = False,
    open_ends: Sequence[str] = (),
) -> tuple[Verdict, str]:
    """Return the verdict and a sentence that says why.

    Args:
        claim: what was claimed, or None.
        lower: the headline's lower bound.
        detectable: the smallest violation that would have been found with probability 0.9.
        low_bits: a lower bound for someone who reads the low-order bits, if it decides too.
        looks: whether a sampled bound above the claim is a violation; None if every one is.
        upper: an upper bound by proof or exact computation.
        within: whether ``upper`` is at most the claim, compared exactly.
        scope: what ``upper`` holds for.
        contradicts: whether ``lower`` was sampled, exceeds ``upper``, and did so again at a much smaller error level.
        open_ends: parts of a program that can run and were not read, so that nothing is proved about it; or why its
            certificate was not accepted.

    Returns:
        The verdict, and its reason.
    """
    if math.isnan(lower.value) or (low_bits is not None and math.isnan(low_bits.value)):
        raise ArithmeticError("a bound is not a number; it can decide nothing")
    sure = _SURE.get(lower.method, "certainly") if lower.kind == "exact" else f"at {lower.confidence:.6g} confidence"
    if claim is None:
        return Verdict.NO_CLAIM, f"No claim was made; ε is at least {shown(lower.value)}, {sure}."
    symbol = claim.symbol
    claimed = f"{symbol} = {number_text(claim.value)}"
    certain = lower.kind == "exact" or contradicts or looks is None
    again = _confirmed(looks)
    if lower.value > claim.value and (certain or (looks is not None and looks.condemns("real"))):
        how = "contradicts the proof: implementation, arithmetic or prover is wrong; " if contradicts else ""
        also = "" if lower.kind == "exact" or contradicts else again
        return (
            Verdict.VIOLATED,
            how + f"{symbol} is more than the claimed {number_text(claim.value)}: at least {shown(lower.value)}, {sure}"
            f"{also}.",
        )
    if low_bits is not None and low_bits.value > claim.value and (looks is None or looks.condemns("float")):
        return (
            Verdict.VIOLATED,
            f"{symbol} is more than the claimed {number_text(claim.value)} for someone who {READS_LOW_BITS} "
            f"of the output: at least {shown(low_bits.value)}, at {low_bits.confidence:.6g} confidence{again}.",
        )
    if open_ends:
        more = "".join(f"; {each}" for each in open_ends[1:_TOLD])
        more += "" if len(open_ends) <= _TOLD else f" (and {len(open_ends) - _TOLD} more)"
        why = "because not all that can run was read: "
        if open_ends[0].startswith(NOT_ACCEPTED):
            why = "although a bound was found; "
        if open_ends[0].startswith(DOES_NOT_HOLD):
            why = "because "
        return (
            Verdict.INCONCLUSIVE,
            f"Nothing is proved, {why}{open_ends[0]}{more}. {symbol} is at least {shown(lower.value)}, {sure}.",
        )
    doubted = _doubted(claim, lower, low_bits, looks, detectable)
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
    if doubted and (looks is None or looks.second is None):
        return Verdict.INCONCLUSIVE, doubted
    if detectable is None or not detectable <= claim.gross():
        return Verdict.INCONCLUSIVE, f"{doubted} {_too_few(claim, lower, detectable, looks)}".strip()
    if doubted:
        return Verdict.NOT_VIOLATED, f"{doubted} {NO_PROOF}"
    return (
        Verdict.NOT_VIOLATED,
        f"No violation of {claimed} was found; {symbol} is at least {shown(lower.value)}, {sure}. " + NO_PROOF,
    )


def _confirmed(looks: TwoLooks | None) -> str:
    """What a second look adds to the reason for a violation."""
    if looks is None or looks.second is None:
        return ""
    return f"; {sum(looks.second.counts.runs):,} fresh runs of the same event confirm it"


def _doubted(
    claim: Claim, lower: Bound, low_bits: Bound | None, looks: TwoLooks | None, detectable: float | None
) -> str:
    """Why a bound above the claim is not a violation; empty if there is none."""
    if looks is None or looks.first is None or looks.violated or lower.kind == "exact":
        return ""
    first, second, rule = looks.first, looks.second, looks.rule
    real = first.arithmetic == "real" or low_bits is None
    bound, reader = (lower, "") if real or low_bits is None else (low_bits, f" for someone who {READS_LOW_BITS}")
    chance = f"in up to one of {_times(rule.error)} audits of a mechanism that just keeps its claim"
    if second is not None:
        return (
            f"{claim.symbol} is at least {shown(bound.value)}{reader}, at {bound.confidence:.6g} confidence. At "
            f"{1 - rule.error:.6g} confidence the runs show more than the claimed {number_text(claim.value)}, as they "
            f"do by chance {chance} (p ≤ {first.p:.3g}). {sum(second.counts.runs):,} fresh runs of the same event did "
            f"not confirm it (p > {second.level:.3g}), so no violation was found."
        )
    text = (
        f"The lower bound of {claim.symbol}{reader}, {shown(bound.value)} at {lower.confidence:.6g} confidence, is "
        f"above the claimed {number_text(claim.value)}, as it is by chance {chance}"
    )
    less = f"a violation is called one where chance does this in at most one of {_times(rule.false_alarm)}"
    if lower.method == methods.SEQUENTIAL:
        return f"{text}; {less}. Allow more runs: the same audit goes on from there."
    if detectable is None or not math.isfinite(detectable):
        return f"{text}; {less}. {_too_few(claim, lower, detectable, looks)}"
    return f"{text}; {less}. What was recorded cannot be run again: record twice as much anew, and audit that alone."


def _times(chance: float) -> str:
    """The n of "one in n"."""
    return number_text(float(f"{1 / chance:.3g}"))


def _above(upper: Bound) -> str:
    """The exact value if it is short, else four digits, rounded up."""
    if upper.exact is not None and len(upper.exact) <= 20:
        return upper.exact
    return number_text(float(Context(prec=4, rounding=ROUND_CEILING).plus(Decimal(repr(upper.value)))))


def _too_few(claim: Claim, lower: Bound, detectable: float | None, looks: TwoLooks | None) -> str:
    claimed = f"{claim.symbol} = {number_text(claim.value)}"
    if detectable is None or not math.isfinite(detectable):
        return _nothing(claim, claimed, lower, looks)
    return (
        f"These runs would have shown a violation of {claimed} only from {claim.symbol} = {detectable:.3g} on: "
        f"even a gross one ({claim.symbol} = {claim.gross():.3g}) could have gone unseen; use more runs."
    )


def _nothing(claim: Claim, claimed: str, lower: Bound, looks: TwoLooks | None) -> str:
    """Why no violation would reliably have been shown, however large, and what would help."""
    if looks is None and lower.counts is None:
        return (
            f"No runs measured anything, so that none could have shown a violation of {claimed}; what was looked at "
            "stands beside. Measuring runs settle it: dpaudit audit, or dpaudit trace with more --runs."
        )
    if looks is None or not looks.rule.doubts:
        return f"These runs could not have shown any violation of {claimed}, however large; use more runs."
    if looks.rule.repeatable or lower.method == methods.SEQUENTIAL:
        # a second look may show what no first one could
        return f"These runs were too few to count on showing any violation of {claimed}, however large; use more runs."
    never = f"could not have shown a violation of {claimed}, however large, with a false alarm of 1 in "
    never += _times(looks.rule.false_alarm)
    if not methods.method_of(lower.method).canaries or lower.counts is None:
        return f"What was recorded {never}: record more."
    if not claim.is_point or not guessing.is_limited_by_delta(sum(lower.counts.runs), claim.value, claim.delta):
        return f"So few canaries {never}: put more into one model."
    return (
        f"These canaries {never}, even if every guess had been right: at δ = {number_text(claim.delta)} a model that "
        "just keeps its claim may lead to that more often, and more canaries change little. Claim a smaller δ, or "
        "allow a larger false alarm."
    )


# --- What does a bound from counts rest on that no file shows? -------------------------------------------

RECORDED = ("scores", "outputs")
"""The values of ``target.asks`` for data that were recorded elsewhere; nothing is run for them."""

SHARE = 0.3  # of recorded outputs choose the event; tuned on other seeds than benchmarks/scores.py reports
_DECLARED = "the two datasets are neighbours: declared, not checked"
SOME_CANARIES = "one-run, not all canaries"
ASSUMED = {
    "independent": (
        "each score comes from its own training run, and all scores of a side are draws of one law",
        "scores of side 0 are of records in the training data, those of side 1 of records that are not",
        _DECLARED,
    ),
    "one-run": (
        "all scores come from one model: a fair coin of its own put each canary into the training data or left it out",
        "no score was computed with knowledge of the coins, and every canary is handed in, on its side",
        "training data that differ by one canary are neighbours: declared, not checked",
    ),
    SOME_CANARIES: (
        "all scores come from one model: a fair coin of its own put each canary into the training data or left it out",
        "no score was computed, and none was left out, with knowledge of the coins; each is on its side, and canaries "
        "without one were guessed wrong",
        "training data that differ by one canary are neighbours: declared, not checked",
    ),
    "outputs": ("outputs of a side are independent draws of one law", _DECLARED),
}
LOST = "outputs were sorted before they were handed in: whether they hang together in time cannot be seen"


def assumed(own_randomness: bool, *, declared: bool, observed: bool, repeated: bool = False) -> tuple[str, ...]:
    """Return the assumptions that bounds rest on.

    Args:
        own_randomness: whether the function has randomness of its own.
        declared: whether the pair is neighbouring by declaration only.
        observed: whether run times are observed.
        repeated: whether the audit was resumed in another process.

    Returns:
        One sentence for each assumption.
    """
    assumptions = ["the pair is neighbouring: declared, not checked"] if declared else []
    if own_randomness:
        assumptions.append("runs are independent: the function's own randomness cannot be seeded or seen")
    else:
        assumptions.append("runs are independent draws of the mechanism's law")
    if observed:
        assumptions.append(
            "the run time of a call depends on its data and its noise, and on nothing that knows the side"
        )
    if repeated and own_randomness:
        assumptions.append("a function with randomness of its own does not begin with the same noise in every process")
    return tuple(assumptions)


def measured_bound(
    method: str,
    counts: Counts,
    notion: Claim,
    *,
    weight: float | tuple[float, ...] | None,
    error: float,
    pair: int,
    assumes: tuple[str, ...],
    event: Event | None = None,
    arithmetic: str = "real",
) -> Bound:
    """Return the lower bound that counts give by a method."""
    confidence = 1 - error
    own = 1 - confidence  # as computed from the confidence in the evidence
    value = lower_bound(method, counts, claim=notion, weight=weight, error=own)
    return sampled_bound(
        value,
        notion,
        method=method,
        confidence=confidence,
        weight=weight,
        counts=counts,
        event=event,
        pair=pair,
        arithmetic=arithmetic,
        assumes=assumes,
    )
