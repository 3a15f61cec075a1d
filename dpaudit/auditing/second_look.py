"""Is a bound above the claim found again? The second look of an audit, at fresh runs of the frozen event.

`dpaudit.stats.two_looks` says when a second look is due and what it decides; this module carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpaudit.auditing.pair import measure_event
from dpaudit.auditing.question import Question
from dpaudit.auditing.verdict import TwoLooks
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import Attempt, SecondLook
from dpaudit.processes.process import second_look_begins
from dpaudit.sampling.blocks import Phase
from dpaudit.stats.two_looks import FirstLook, first_look, second_look, second_method


def two_looks(
    question: Question,
    attempts: Sequence[Attempt],
    width: Callable[[int], int] = lambda pair: 1,
) -> TwoLooks | None:
    """Look at all attempts, and a second time if one look is not enough; None without a claim.

    Args:
        question: what is audited.
        attempts: what was measured; attempts in the low-order bits decide only if the question says so.
        width: returns how many numbers an output of a pair holds.

    Returns:
        The first look, and the second if there was one; None without a claim.

    Raises:
        InvalidRunsError: if the fresh runs cannot be trusted.
    """
    if question.claim is None:
        return None
    rule = question.rule
    deciding = [
        (number, attempt.bound)
        for number, attempt in enumerate(attempts)
        if attempt.bound.counts is not None
        and (attempt.bound.arithmetic == "real" or question.floating_point == "verdict")
    ]
    first = first_look(rule, deciding, question.claim)
    second = None
    if first is not None and not first.sure and rule.twice:
        second = _again(question, attempts[first.attempt], first, width)
    return TwoLooks(rule, first, second)


def _again(
    question: Question,
    attempt: Attempt,
    first: FirstLook,
    width: Callable[[int], int],
) -> SecondLook:
    bound, claim = attempt.bound, question.claim
    assert claim is not None and isinstance(bound.event, Event)
    _, runs = second_method(bound)

    if question.session is not None:
        question.session.total += runs
    second_look_begins()
    counts = measure_event(
        question,
        attempt.pair,
        bound.event,
        runs,
        Phase.SECOND_LOOK,
        graded=isinstance(bound.weight, tuple),
        width=width(attempt.pair),
    )
    return second_look(question.rule, first, bound, counts, claim)
