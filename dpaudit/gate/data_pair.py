"""On which pair is a target with data compared with its baseline?

Every audit finds a pair of its own in the data, which the next one may not meet. So a baseline has one that hangs on no
seed and on no source: among the first neighbours of the data the one on which a few runs show most. It is known again
by its digests, and no data are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpaudit.auditing.audit import audited
from dpaudit.auditing.question import Question
from dpaudit.evidence.evidence import Evidence
from dpaudit.neighbours.candidates.candidates import candidates
from dpaudit.neighbours.candidates.lazy_pair import LazyPair
from dpaudit.neighbours.digest import digest
from dpaudit.request import AuditRequest

_FIRST = 16  # neighbours among which the pair is chosen
_LOOKS = 32  # runs of each of them, for that choice


def known_again(question: Question, digests: tuple[str, str]) -> Question | None:
    """Return the question about the first pair with these digests; None if the data have no such neighbours."""
    found = (one.pair() for one in _first(question))
    return next((question.about(pair) for pair in found if (digest(pair[0]), digest(pair[1])) == digests), None)


def measured(question: Question, runs: int, options: dict[str, Any]) -> Evidence:
    """Return the evidence of an audit of the pair of the baseline.

    Args:
        question: about the target and its data.
        runs: of the audit.
        options: of the audit of the data.
    """
    from dpaudit.tracing.runs import Target
    from dpaudit.tracing.search import worst_pair

    first = list(_first(question))
    target = Target(question.mechanism, question.parameters)
    seed = question.seed % 2**31
    worst = worst_pair(target, [one.make for one in first], question.claim, seed=seed, most=_LOOKS * len(first))
    chosen = first[0 if worst is None else worst.place].pair()
    own = {"pairs": [chosen], "data": None, "domain": None, "beyond_domain": False, "runs": runs, "sequential": False}
    return audited(AuditRequest(question.mechanism, **{**options, **own, "relation": question.relation}))


def _first(question: Question) -> Iterator[LazyPair]:
    space = question.space
    assert space is not None
    yield from candidates(
        space.data, question.relation, domain=space.domain, beyond_domain=space.beyond, seed=0, limit=_FIRST
    )
