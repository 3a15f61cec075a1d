"""How many runs fit into a number of seconds? Measured first, by runs that are thrown away.

A few calls show whether there is time for a rehearsal. Then the whole audit is rehearsed with a seed of its own and
ever more runs, until a tenth of the time is spent; choosing events, searching and everything else is thus timed
together with the runs. The result is a single number of runs. The audit continues as if that number had been requested:
passing the same number as ``runs`` gives the same evidence. On a machine that turns out to be slower, the audit takes
longer.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpaudit.auditing.pair import read_of
from dpaudit.auditing.question import LEAST_RUNS, Question
from dpaudit.auditing.search import first_of
from dpaudit.auditing.seeds import fresh_seed
from dpaudit.errors import InvalidRunsError, Notice
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.sampling.blocks import Block, Phase
from dpaudit.sampling.play import RepeatDetector, play
from dpaudit.settings import lent
from dpaudit.targets.signature import Shape

# chosen by taste: rehearsals should cost little, and a run of bad luck should not exceed the budget
_SHARE, _LONGEST = 0.1, 10.0  # no longer rehearsal begins after this share of the time, or after so many seconds
_USED = 0.9  # share of the remaining time that is planned for
_GROWTH = 10  # largest factor between two rehearsals
_CALLS, _FEW_CALLS = 2, 400
_LEAST_MEASURED = 60  # runs; fewer show not even that outputs tell the sides apart
_REHEARSED = 3  # calls that say how long one takes
_FAR = 10
_READ_CALLS, _MUCH = (64, 1024), 2  # runs of a block, and how much longer than asked for runs that are read may take


def runs_within(seconds: float, question: Question, least: int, audit: Callable[[Question, int], Evidence]) -> int:
    """Return how many runs an audit can make within a time budget."""
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
        if evidence.verdict is Verdict.INVALID:  # the audit will find the same
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


def _of_a_call(question: Question, calls: int = _CALLS) -> float:
    """Return how many seconds a call takes. Measured twice, because the first calls may include preparation."""
    spent = 0.0
    for index in range(2):
        clock = time.perf_counter()
        with contextlib.suppress(InvalidRunsError):
            list(play(question.experiment, [Block(Phase.SETTLING, 0, index, calls)], _nothing))
        spent = time.perf_counter() - clock
    return spent / calls


def _nothing(side0: object, side1: object) -> None:
    """Discard the outputs of a block."""


def affordable(question: Question, runs: int, seconds: float | None) -> int:
    """How many runs measure a pair that is known: fewer than asked for where a call takes long, none where few."""
    least = max(_LEAST_MEASURED, LEAST_RUNS * len(question.pairs))
    shape = question.mechanism.shape
    of_records = hasattr(question.pairs[0][0], "columns")
    if not runs or seconds is None or shape is Shape.SAMPLER or (shape is Shape.PROGRAM and not of_records):
        return runs
    if shape is Shape.PROGRAM:
        each = _of_a_call(first_of(question), _FEW_CALLS)  # one call for all of them, where its noise is read so
    elif (read := read_of(question)) is not None:
        each = _seconds_of_a_read_run(first_of(read))
        if each * runs < _MUCH * seconds:
            return runs
    else:
        each = _seconds_of_a_call(question, seconds / least)
    may = int(seconds / max(each, 1e-9))
    if may >= runs:
        return runs
    return 0 if may < least else int(float(f"{may:.2g}"))


def _seconds_of_a_read_run(question: Question) -> float:
    """Return how long one more run takes where all are read at once."""
    few, many = _READ_CALLS
    return (many * _of_a_call(question, many) - few * _of_a_call(question, few)) / (many - few)


def _seconds_of_a_call(question: Question, enough: float) -> float:
    """Return how long a call takes, the shortest of a few; the first, where that is far more than ``enough``."""
    mechanism = question.mechanism
    rng = np.random.default_rng(0)
    filled = {"rng": rng, "size": 1}
    took = []
    for number in range(_REHEARSED):
        data = question.pairs[0][number % 2]
        began = time.perf_counter()
        try:
            with lent():
                mechanism.function(data, **{name: filled[name] for name in mechanism.asked}, **question.parameters)
        except (Exception, SystemExit):
            pass  # an exception is an output, and takes its time too
        took.append(time.perf_counter() - began)
        if took[-1] > _FAR * enough:
            break
    return min(took)
