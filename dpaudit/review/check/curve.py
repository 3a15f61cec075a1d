"""Does the privacy curve follow from the counts of its statements?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Curve, round_outward
from dpaudit.review.check.finding import DIGITS, Finding, agrees, answered, failing
from dpaudit.stats.curve import about, delta_at_least, fnr_at_most, mu_at_least, region_of_bound
from dpaudit.stats.joint_region import ConfidenceRegion
from dpaudit.stats.methods import method_of


def curve(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for every statement of the curve, for their confidence, and for the points of the curve."""
    found = evidence.curve
    if found is None:
        return
    regions = []
    for number, bound in enumerate(found.statements):
        title = f"curve, statement {number} ({bound.parameter}, {bound.notion})"
        wrong = _impossible(evidence, bound)
        if wrong:
            yield failing("curve", f"{title}: {wrong}")
            return
        regions.append(region_of_bound(bound))
        again = round_outward(float(regions[-1].least(about(bound.parameter, bound.notion).least)), "lower")
        yield answered("curve", agrees(again, bound.value), f"{title}: its counts give {again:.10g}")
    spent = sum(1 - bound.confidence for bound in found.statements)
    holds = found.confidence == evidence.confidence and spent <= (1 - found.confidence) * (1 + DIGITS) + DIGITS
    yield answered("curve", holds, f"its statements err with at most {spent:.4g}, {found.confidence} is stated")
    yield _points(found, regions)


def _impossible(evidence: Evidence, bound: Bound) -> str:
    """Say what is impossible in a counted statement; empty if nothing is wrong."""
    said = bound.side, bound.kind, bound.arithmetic, bound.delta, bound.exact
    if said != ("lower", "sampled", "real", 0.0, None) or bound.assumes != evidence.assumptions:
        return "it is a lower bound from counts, and says something else of itself"
    method = method_of(bound.method)
    if not method.whole_curve or not isinstance(bound.weight, float) or not 0 < bound.weight < 1:
        return f"a statement is bounded by a joint method with a weight, not by {bound.method!r}"
    if bound.pair is None or not 0 <= bound.pair < len(evidence.pairs) or not 0 < bound.confidence < 1:
        return "it is of no pair of this evidence, or of no confidence"
    counts, event = bound.counts, bound.event
    if counts is None or event is None:
        return "nothing was counted"
    filled = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    if counts.bins is not None or any(min(a, b) < 0 or a + b > runs or runs < 1 for runs, a, b in filled):
        return "more runs speak for a side than were made"
    if any(any(hits) and not event.toward(side) for side, hits in enumerate((counts.toward0, counts.toward1))):
        return "no output of its event speaks for a side, and some were counted"
    if method.sides == "one" and event.toward(0) and event.toward(1):
        return "an event of one side speaks for both"
    measured = {each.bound.counts.runs for each in evidence.attempts if each.pair == bound.pair and each.bound.counts}
    return "" if counts.runs in measured else "it counts other runs than the attempts on its pair"


def _points(found: Curve, regions: Sequence[ConfidenceRegion]) -> Finding:
    """Check that every point is what the regions show, and that the points are in order and at the right places."""
    ordered = all(list(at) == sorted(set(at)) and min(at, default=0.0) >= 0 for at in (found.epsilons, found.fprs))
    if not ordered or max(found.fprs, default=0.0) > 1:
        return failing("curve", "its points do not stand in order, or lie outside of what can be asked")
    deltas, fnrs = delta_at_least(regions, found.epsilons), fnr_at_most(regions, found.fprs)
    holds = len(deltas) == len(found.deltas) and len(fnrs) == len(found.fnrs)
    holds = holds and all(
        agrees(round_outward(float(value), "lower"), said) for value, said in zip(deltas, found.deltas, strict=True)
    )
    holds = holds and all(
        agrees(round_outward(float(value), "upper"), said) for value, said in zip(fnrs, found.fnrs, strict=True)
    )
    holds = holds and agrees(round_outward(mu_at_least(regions), "lower"), found.mu)
    said = f"its {len(found.deltas)} values of δ, {len(found.fnrs)} of fnr and μ"
    return answered("curve", holds, f"{said} {'follow' if holds else 'do not follow'} from the statements")
