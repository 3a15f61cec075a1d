"""How many runs fit into a number of seconds? Found before anything else, by runs that are thrown away.

A few calls say whether there is time to rehearse at all. Then the whole audit is rehearsed in small, with a seed of its
own and ever more runs, until that took a tenth of the time: so choosing events, searching and everything else is timed
along with the runs. What is found is one number, and the audit goes on as if it had been asked for that many runs: the
same number, given as ``runs``, gives the same evidence. On a machine that turns out slower the audit takes longer.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

from dpaudit.auditing.question import Question
from dpaudit.auditing.search import first_of
from dpaudit.auditing.seeds import fresh_seed
from dpaudit.errors import InvalidRunsError, Notice
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.sampling.blocks import Block, Phase
from dpaudit.sampling.play import RepeatDetector, play

_SHARE, _LONGEST = 0.1, 10.0  # of the time, and seconds, after which no longer rehearsal begins
_USED = 0.9  # of the time that is left is planned for
_GROWTH = 10  # of rehearsals
_CALLS = 2


def runs_within(seconds: float, question: Question, least: int, audit: Callable[[Question, int], Evidence]) -> int:
    """Return how many runs an audit may make to be over in time.

    Args:
        question: what is audited.
        seconds: for the whole audit, in wall time.
        least: the fewest runs that it can be asked for; that many are made however long they take.
        audit: carries out a question with a number of runs.

    Raises:
        UsageError: if the audit cannot be carried out.
    """
    begun = time.perf_counter()
    rehearsed = replace(
        question,
        seed=fresh_seed(),
        watch=RepeatDetector(),
        session=None,
        fixed=(),
        false_alarm=1 - question.confidence,  # one look
    )
    each, runs = _of_a_call(first_of(rehearsed)), least
    while each * runs < seconds:
        clock = time.perf_counter()
        with warnings.catch_warnings(action="ignore", category=Notice):
            evidence = audit(rehearsed, runs)
        if evidence.verdict is Verdict.INVALID:  # the audit will say it too, of as many runs as calls have time for
            break
        now = time.perf_counter()
        each = (now - clock) / runs
        room = min(_SHARE * seconds, _LONGEST) - (now - begun)
        larger = min(int(room / each), _GROWTH * runs)
        if larger < 2 * runs:
            break
        runs = larger
    left = seconds - (time.perf_counter() - begun)
    return max(int(_USED * left / each), least)


def _of_a_call(question: Question) -> float:
    """Return how many seconds a call takes; the first one may have something to prepare."""
    spent = 0.0
    for index in range(2):
        clock = time.perf_counter()
        with contextlib.suppress(InvalidRunsError):
            list(play(question.experiment, [Block(Phase.SETTLING, 0, index, _CALLS)], _nothing))
        spent = time.perf_counter() - clock
    return spent / _CALLS


def _nothing(side0: object, side1: object) -> None:
    """Keep nothing of a block."""
