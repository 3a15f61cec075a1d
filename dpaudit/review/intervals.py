"""Does a mechanism lose more, or less, than at an earlier audit? What can be said with statistical certainty.

Two lower bounds cannot be compared: each says "at least", and the smaller bound may belong to the larger loss. But one
event on one pair, fixed before either audit measured it, can be: each audit has counts of it, and counts give an
interval for the loss of that event (`dpaudit.stats.joint_region`). If the two intervals do not overlap, the event's
loss has changed.

An audit reports its most revealing event, so each of its intervals gets a share of the error, and all of them hold
simultaneously. The two audits get half of the error each, so that they need not be independent; audits with the same
seed may have drawn the same noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Verdict, round_outward
from dpaudit.privacy import parse_claim
from dpaudit.report.text.numerals import COUNTEREXAMPLE, NBSP, claim_text
from dpaudit.stats.joint_region import loss_interval
from dpaudit.stats.methods import BOTH_SIDES, method_of, plain

_LISTED = "accounting"  # the method of an interval that is about a whole list of releases

_EVEN = 0.7071  # 1/√2: equal weights for both counts of an event with many degrees, which has no weight of its own


@dataclass(frozen=True, slots=True)
class EventLoss:
    """One measured event, and an interval for its loss.

    Attributes:
        event: which outputs speak for which side, in words.
        pair: digests of the two datasets.
        parameter: the parameter of the ends: "epsilon", "mu" or "rho"; at ``delta`` or a Rényi ``order``, else 0.
        method: the method of the bound; for many degrees, that of an event with two sides.
        runs: measuring runs of both sides.
        low, high: exact limits, rounded outward; ``high`` is ∞ if the counts do not exclude any loss.
        considered: how many events of the audit have an interval; they share the error.
    """

    event: str
    pair: tuple[str, str]
    parameter: str
    delta: float
    order: float
    method: str
    runs: tuple[int, int]
    low: float
    high: float
    considered: int


@dataclass(frozen=True, slots=True)
class LossComparison:
    """The losses of two events, of an earlier audit and of a later one.

    Attributes:
        before, after: None if an audit measured nothing that gives an interval.
        confidence: that both intervals hold.
        obstacle: why the two intervals cannot be compared, as a sentence; empty if both are about the same event.
    """

    before: EventLoss | None
    after: EventLoss | None
    confidence: float
    obstacle: str

    @property
    def change(self) -> str:
        """Return "more", "less" or "none shown", or "not comparable"."""
        if self.obstacle or self.before is None or self.after is None:
            return "not comparable"
        if self.after.low > self.before.high:
            return "more"
        return "less" if self.after.high < self.before.low else "none shown"

    @property
    def listed(self) -> bool:
        """Whether the intervals are about whole lists of releases."""
        return self.before is not None and self.before.method == _LISTED

    @property
    def significant(self) -> bool:
        """Whether the loss of one event on one pair has changed, at the confidence."""
        return self.change in ("more", "less")


def compare(before: Evidence, after: Evidence) -> LossComparison:
    """Compare the losses of two audits from their counts.

    If both audits measured the same event on the same pair, that event is compared (the most revealing one in the later
    audit). Otherwise the most revealing event of each is returned, and they are not comparable.
    """
    if before.accounting is not None and after.accounting is not None:
        return _certified(before, after)
    old, new = _measured(before), _measured(after)
    # ordered by their bounds, and for equal bounds by their place
    pairs = [(i, k) for k in _ranked(new) for i in _ranked(old) if not _obstacle(old[i], new[k], before, after)]
    i, k = pairs[0] if pairs else (next(iter(_ranked(old)), None), next(iter(_ranked(new)), None))
    first = None if i is None else _interval(old[i], before, len(old))
    second = None if k is None else _interval(new[k], after, len(new))
    error = ((1 - before.confidence) + (1 - after.confidence)) / 2
    return LossComparison(first, second, 1 - error, _why_not(before, after, old, new, i, k))


def _certified(before: Evidence, after: Evidence) -> LossComparison:
    """Compare two lists of releases by their certified intervals, which are about all that they list."""
    first, second = _listed(before), _listed(after)
    obstacle = ""
    other = first.parameter == "delta" and before.lower.notion != after.lower.notion  # at another ε
    if other or (first.parameter, first.delta, before.relation) != (second.parameter, second.delta, after.relation):
        obstacle = "The two intervals are of different parameters, at a different δ or ε, or about other neighbours."
    return LossComparison(first, second, 1.0, obstacle)


def _listed(evidence: Evidence) -> EventLoss:
    low, upper = evidence.lower, evidence.upper
    high = math.inf if upper is None else upper.value
    name = evidence.target.name
    return EventLoss(name, ("", ""), low.parameter, low.delta, 0.0, _LISTED, (0, 0), low.value, high, 1)


def _measured(evidence: Evidence) -> list[Bound]:
    """Return the bounds whose events, and numbers of runs, were fixed in advance.

    Runs that cannot be trusted are ignored. The second look at a counterexample is left out, since whether it was taken
    depended on the first.
    """
    if evidence.verdict is Verdict.INVALID:
        return []
    found, looked = [], False
    for attempt in evidence.attempts:
        again, looked = looked and attempt.name == COUNTEREXAMPLE, looked or attempt.name == COUNTEREXAMPLE
        if not again and _is_countable(attempt.bound):
            found.append(attempt.bound)
    return found


def _is_countable(bound: Bound) -> bool:
    counted = bound.counts is not None and bound.event is not None and bound.pair is not None
    return counted and bound.arithmetic == "real" and method_of(_method(bound)).interval


def _ranked(bounds: Sequence[Bound]) -> list[int]:
    return sorted(range(len(bounds)), key=lambda number: -bounds[number].value)


def _method(bound: Bound) -> str:
    """Return the method for the loss of an event; one with many degrees counts as an event with two sides."""
    if isinstance(bound.weight, tuple):
        return BOTH_SIDES
    return plain(bound.method)  # the variant for few runs only orders the outcomes


def _interval(bound: Bound, evidence: Evidence, considered: int) -> EventLoss:
    assert bound.counts is not None and bound.event is not None
    notion, method = parse_claim(bound.notion), _method(bound)
    weight = _EVEN if isinstance(bound.weight, tuple) else bound.weight
    error = (1 - evidence.confidence) / 2 / considered
    low, high = loss_interval(method, bound.counts, claim=notion, weight=weight, error=error)
    return EventLoss(
        event=bound.event.words,
        pair=_pair(bound, evidence),
        parameter=notion.parameter,
        delta=notion.delta,
        order=float(getattr(notion, "order", 0.0)),
        method=method,
        runs=bound.counts.runs,
        low=round_outward(low, "lower"),
        high=round_outward(high, "upper"),
        considered=considered,
    )


def _pair(bound: Bound, evidence: Evidence) -> tuple[str, str]:
    pair = evidence.pairs[bound.pair or 0]
    return pair.digest0, pair.digest1


def _why_not(
    before: Evidence, after: Evidence, old: Sequence[Bound], new: Sequence[Bound], i: int | None, k: int | None
) -> str:
    if i is not None and k is not None:
        return _obstacle(old[i], new[k], before, after)
    who = (
        "Neither audit"
        if i is None and k is None
        else "Only the later audit"
        if i is None
        else "Only the earlier audit"
    )
    return f"{who} measured an event whose loss can be bounded from both sides."


def _obstacle(old: Bound, new: Bound, before: Evidence, after: Evidence) -> str:
    """Say why two events cannot be compared; empty if they can."""
    assert old.event is not None and new.event is not None
    if _pair(old, before) != _pair(new, after):
        return "The two audits measured on different pairs of datasets, so each interval is about its own pair."
    if old.event.rules != new.event.rules:
        return (
            "The two audits measured different events, so each interval is about what its own event shows; a gate "
            "with a baseline counts the earlier event again."
        )
    notions = [parse_claim(bound.notion).with_value(0.0) for bound in (old, new)]
    if notions[0] != notions[1]:
        one, other = (_unit(bound) for bound in (old, new))
        return f"One audit is about {one} and the other about {other}, which are not the same thing."
    if _method(old) != _method(new):
        return "The two audits read the loss of the event in different ways, which give different numbers."
    return ""


def _unit(bound: Bound) -> str:
    notion = parse_claim(bound.notion)
    order = getattr(notion, "order", None)
    at = f" at order{NBSP}{claim_text(order)}" if order is not None else ""
    return notion.symbol + (f" at δ{NBSP}={NBSP}{claim_text(notion.delta)}" if notion.delta > 0 else at)
