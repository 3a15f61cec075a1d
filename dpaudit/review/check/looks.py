"""Is a bound above the claim a violation under the rule of two looks? Both looks are recomputed from their counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from dpaudit.auditing.assumed import RECORDED
from dpaudit.auditing.verdict import TwoLooks
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counts, Verdict
from dpaudit.review.check.finding import DIGITS, Finding, agrees, answered, failing
from dpaudit.stats.two_looks import FirstLook, LooksRule, first_look, second_look, second_method


def rule_of(evidence: Evidence) -> LooksRule | None:
    """Return the rule by which a bound above the claim is a violation; None if any such bound is."""
    if evidence.false_alarm is None or evidence.claim is None:
        return None
    again = evidence.sequential is None and evidence.target.asks not in RECORDED
    return LooksRule(1 - evidence.confidence, evidence.false_alarm, again)


def _is_possible(rule: LooksRule) -> bool:
    return 0 < rule.false_alarm < rule.error < 1


def planned_share(evidence: Evidence) -> float:
    """Return the share of the error level at which a single look detects as much as the rule."""
    rule = rule_of(evidence)
    return 1.0 if rule is None else rule.planned / rule.error


def is_certain(evidence: Evidence) -> bool:
    """Whether the claim is exceeded without sampling, or against a proof, which has its own second look."""
    exact, upper, claim = evidence.exact, evidence.upper, evidence.claimed
    if evidence.proof is None or claim is None:
        return False
    real = [attempt.bound.value for attempt in evidence.attempts if attempt.bound.arithmetic == "real"]
    most = max(real, default=0.0)
    known = exact is not None and exact.value >= most
    return known or most <= claim.value or (upper is not None and most > upper.value)


def looks_of(evidence: Evidence) -> TwoLooks | None:
    """Return the result of both looks: the first from the counts, the second as stated (`check_looks` checks it)."""
    rule, claim = rule_of(evidence), evidence.claimed
    if rule is None or claim is None or not evidence.attempts or not _is_possible(rule):
        return None
    if is_certain(evidence):
        return TwoLooks(rule, None)
    if evidence.sequential is not None:
        stopped, above = evidence.sequential.stopped, evidence.lower.value > claim.value
        return TwoLooks(rule, FirstLook(0, "real", rule.at_once if stopped else rule.error, stopped) if above else None)
    deciding = [
        (number, attempt.bound)
        for number, attempt in enumerate(evidence.attempts)
        if attempt.bound.counts is not None and (attempt.bound.arithmetic == "real" or evidence.low_bits == "verdict")
    ]
    return TwoLooks(rule, first_look(rule, deciding, claim), evidence.second)


def check_looks(evidence: Evidence, impossible: Callable[[Evidence, Bound, Counts], str]) -> Iterator[Finding]:
    """Yield a finding for the stated false alarm probability, and for the second look.

    ``impossible`` says what is impossible in a counted bound; empty if nothing is wrong.
    """
    rule, second, claim = rule_of(evidence), evidence.second, evidence.claimed
    if rule is None:
        if second is not None or evidence.false_alarm is not None:
            yield failing("second look", "there is a second look, or a false alarm, and nothing that asks for it")
        return
    if not _is_possible(rule):
        yield failing("second look", f"a false alarm of {rule.false_alarm} asks for no other look than one")
        return
    looks = looks_of(evidence)
    first = None if looks is None else looks.first
    due = first is not None and not first.sure and rule.twice and evidence.verdict is not Verdict.INVALID
    if second is None or not due:
        holds = second is None and not due
        said = f"{'one' if due else 'none'} was due, and there is {'none' if second is None else 'one'}"
        yield answered("second look", holds, said)
        return
    assert first is not None and claim is not None
    bound = evidence.attempts[first.attempt].bound
    method, runs = second_method(bound)
    stated = (second.attempt, second.p, second.method, sum(second.counts.runs))
    if stated != (first.attempt, first.p, method, runs):
        said = f"attempt {first.attempt}, at p = {first.p:.6g}, by {method} bounds on {runs} runs"
        yield failing("second look", f"the first look asks for another one: {said}")
        return
    wrong = impossible(evidence, msgspec.structs.replace(bound, method=method), second.counts)
    if wrong:
        yield failing("second look", wrong)
        return
    again = second_look(rule, first, bound, second.counts, claim)
    holds = agrees(again.value, second.value) and agrees(again.level, second.level, DIGITS)
    holds = holds and second.confirmed == (second.value > claim.value)
    said = f"its counts give {again.value:.10g} at the error level {again.level:.4g}"
    yield answered("second look", holds, said if holds else f"{said}, and something else is stated")
