"""Does what evidence says about scores follow from its counts? Used by `dpaudit.review.check`."""

from __future__ import annotations

from collections.abc import Iterator

from dpaudit.auditing.scores.canaries import guesses
from dpaudit.auditing.scores.rates import gaussian_epsilon, rate_limits, roc_limits
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Rate, RocPoint, Scores
from dpaudit.stats.methods import ONE_RUN

RECORDED = ("scores", "outputs")
"""The values of ``target.asks`` for data that were recorded elsewhere; nothing is run for them."""


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
    yield _methods(evidence, scores)
    independent = scores.design == "independent"
    rocs = scores.measured == _measured(evidence) and all(
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
        holds = ONE_RUN not in methods
        return holds, "scores with a training run each are bounded as independent ones"
    plan = guesses(sum(scores.given))
    counted = [attempt.bound.counts for attempt in evidence.attempts]
    made = [(sum(counts.toward0), sum(counts.toward1)) for counts in counted if counts is not None]
    holds = methods == {ONE_RUN} and made == [(guess.high, guess.low) for guess in plan]
    holds = holds and all(counts is not None and counts.runs == scores.given for counts in counted)
    how = "are" if holds else "are not"
    return holds, f"the guesses {how} those that {sum(scores.given)} canaries of one model fix"


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
