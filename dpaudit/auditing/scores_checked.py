"""Does what evidence says about scores follow from its counts? Used by `dpaudit.review.check`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dpaudit.auditing.accuracy import LEAST, gaussian_epsilon, rate_limits, roc_limits
from dpaudit.auditing.assumed import RECORDED
from dpaudit.auditing.canaries import cuts, method_name, plan_guesses
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Rate, RocPoint, Scores, Verdict
from dpaudit.privacy import Claim, parse_claim
from dpaudit.stats.methods import method_of
from dpaudit.stats.one_run import StepsBound, right_guesses, split_guesses


def recomputed(evidence: Evidence) -> Iterator[tuple[bool, str]]:
    """Yield, for everything besides the bounds, whether it follows from the counts, and a sentence."""
    scores = evidence.scores
    if evidence.target.asks in RECORDED and evidence.target.reading != "recorded":
        yield False, f"what was recorded elsewhere is not read as {evidence.target.reading!r}"
    if (evidence.target.asks == "scores") != (scores is not None):
        yield False, "an audit of scores says what they show beside the bound, and no other audit does"
    if scores is None:
        return
    if evidence.target.parameters != {"design": scores.design}:
        yield False, f"the target's design is {evidence.target.parameters}, and {scores.design!r} is stated"
    if evidence.verdict is Verdict.INVALID:  # nothing was measured
        return
    yield _methods(evidence, scores)
    independent = scores.design == "independent"
    rocs = scores.measured == (_measured(evidence) if scores.canaries is None else scores.given) and all(
        _roc(point, evidence, scores) if independent else point.limits is None for point in scores.roc
    )
    yield rocs, f"the limits of the ROC {_follow(rocs)} from its {len(scores.roc)} counts"
    rates = all(_rate(rate, evidence, scores) if independent else rate.limits is None for rate in scores.rates)
    yield rates, f"the limits of {len(scores.rates)} true positive rates {_follow(rates)} from their counts"
    mu = scores.mu
    again = scores.epsilon_if_gaussian == (None if mu is None else gaussian_epsilon(mu, scores.delta))
    yield again, f"the estimate for a Gaussian mechanism {_follow(again)} from its μ"


def _follow(holds: bool) -> str:
    return "follow" if holds else "do not follow"


def _methods(evidence: Evidence, scores: Scores) -> tuple[bool, str]:
    """Whether scores of one model are bounded as such, by exactly the guesses that their number fixes."""
    methods = {attempt.bound.method for attempt in evidence.attempts}
    if scores.design != "one-run":
        holds = not any(method_of(name).canaries for name in methods)
        holds = holds and scores.canaries is None
        return holds, "scores with a training run each are bounded as independent ones"
    counted = [attempt.bound.counts for attempt in evidence.attempts]
    runs = _counted(scores)
    holds = bool(counted) and runs is not None
    holds = holds and all(counts is not None and counts.runs == runs for counts in counted)
    holds = holds and _planned(evidence, scores)
    how = "are" if holds else "are not"
    return holds, f"the guesses {how} those that {scores.canaries or sum(scores.given)} canaries of one model fix"


def _counted(scores: Scores) -> tuple[int, int] | None:
    """Return as how many members and others the canaries count; None if there cannot be so few."""
    missing = 0 if scores.canaries is None else scores.canaries - sum(scores.given)
    if missing < 0 or (scores.canaries is not None and missing == 0):
        return None
    upper = -(-(sum(scores.given) + missing) // 2) - -(-sum(scores.given) // 2)  # counted as others
    return scores.given[0] + missing - upper, scores.given[1] + upper


def _planned(evidence: Evidence, scores: Scores) -> bool:
    return is_planned(evidence.attempts, scores.canaries or sum(scores.given), 1 - evidence.confidence)


def is_planned(attempts: Sequence[Attempt], canaries: int, error: float) -> bool:
    """Return whether the guesses, the steps of the staircase and the shares of the error are those of the plan."""
    if not attempts or canaries < 2 * LEAST or not 0 < error < 1:
        return False
    notion = parse_claim(attempts[0].bound.notion)
    plan = plan_guesses(canaries, notion, error)
    if len(plan) != len(attempts):
        return False
    for planned, attempt in zip(plan, attempts, strict=True):
        bound = attempt.bound
        if attempt.name != planned.name:
            return False
        if bound.method != method_name(notion) or not _close(1 - bound.confidence, error * planned.share):
            return False
        if planned.steps is None:
            assert bound.counts is not None
            made = sum(bound.counts.toward0), sum(bound.counts.toward1)
            if made != (planned.high, planned.low) or bound.weight is not None or bound.counts.bins is not None:
                return False
        elif not _climbed(bound, notion, planned.steps):
            return False
    return True


def _climbed(bound: Bound, notion: Claim, steps: tuple[float, ...]) -> bool:
    """Whether a staircase has these steps and their blocks of ranks, and shows the guesses at which its walk ended."""
    counts, weight = bound.counts, bound.weight
    assert counts is not None
    if counts.bins is None or not isinstance(weight, tuple) or len(weight) != len(steps):
        return False
    if weight[::2] != steps[::2] or not all(map(_close, weight[1::2], steps[1::2])):
        return False
    inside, outside = counts.bins
    sizes = [a + b for a, b in zip(inside, outside, strict=True)] if len(inside) == len(outside) else []
    places = cuts(steps, sum(counts.runs))
    if sizes != [after - before for before, after in pairwise(places)] or min(*inside, *outside) < 0:
        return False
    method = method_of(bound.method).computed
    assert isinstance(method, StepsBound)
    try:
        _, guessed = method.walk(counts, notion, weight, 1 - bound.confidence)
    except ValueError:
        return False
    high, low = split_guesses(guessed)
    shown = counts.toward0[0] + counts.toward1[1]
    return (
        (sum(inside), sum(outside)) == counts.runs
        and (sum(counts.toward0), sum(counts.toward1)) == (high, low)
        and shown == right_guesses(counts, guessed)
        and counts.toward0[0] == sum(inside[: places.index(high)])
    )


def _close(stated: float, planned: float) -> bool:
    return math.isclose(stated, planned, rel_tol=1e-4, abs_tol=1e-9)  # steps have 6 digits


def _roc(point: RocPoint, evidence: Evidence, scores: Scores) -> bool:
    if not all(0 <= count <= size for count, size in zip(point.counts, scores.measured, strict=True)):
        return False
    return point.limits == roc_limits(point.counts, scores.measured, len(scores.roc), 1 - evidence.confidence)


def _measured(evidence: Evidence) -> tuple[int, int]:
    counts = evidence.attempts[0].bound.counts if evidence.attempts else None
    return (0, 0) if counts is None else counts.runs


def _rate(rate: Rate, evidence: Evidence, scores: Scores) -> bool:
    if rate.counts is None or not 0 <= rate.counts[0] <= rate.counts[1] <= scores.given[0]:
        return False
    return rate.limits == rate_limits(rate.counts, scores.given[0], 1 - evidence.confidence)
