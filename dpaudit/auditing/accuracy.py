"""How far are outputs from the exact answer? People choose ε by what it costs; the learning runs show that too.

The exact answer is that of the mechanism's query where it exposes one, and else what a program returns without noise.
Errors are estimates from runs on one dataset, mostly the worst for privacy; they decide nothing. The answer itself is
not kept.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from dpaudit.arrays import Floats
from dpaudit.auditing.question import Question
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence.records import Accuracy, Errors
from dpaudit.program.noise import Choice, SilentNoise
from dpaudit.sampling.blocks import Phase, blocks_of
from dpaudit.sampling.outputs import Outputs, concatenate, from_list, taken
from dpaudit.sampling.play import play
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

LEVEL = 0.9  # of the interval of errors
_LEAST_OWN, _MOST_OWN = 50, 4_000  # runs on data of which pairs are made; chosen
_MOST_APART = 12  # numbers of an output whose errors are told apart; what a table shows
_MOST_RUNS, _MOST_NUMBERS = 100_000, 1_000_000  # for an interval that is known to 1 % of its coverage


def sample(outputs: Outputs) -> Outputs:
    """Return a copy of the first runs, enough for errors."""
    wide = max((rows.shape[1] for rows in outputs.numbers), default=1)
    most = min(len(outputs), _MOST_RUNS, max(_MOST_NUMBERS // max(wide, 1), 1))
    return outputs.take(np.arange(most))


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """What a release would be without noise, as one output."""

    source: str  # "query" or "silent", a program without noise
    output: Outputs  # of one run
    is_number: bool  # whether it has amounts, and is no mere choice


def exact_answer(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> ExactAnswer | None:
    """Return the exact answer on a dataset, or None where nothing gives one."""
    query = mechanism.query_for(parameters)
    with warnings.catch_warnings(action="ignore"):
        try:
            if query is not None:
                return _as_answer("query", query(data))
            if mechanism.shape is Shape.PROGRAM:
                return _as_answer("silent", mechanism.function(data, noise=SilentNoise(), **parameters))
        except (Exception, SystemExit):  # of whoever wrote the function: there is no exact answer
            return None
    return None


def _as_answer(source: str, answer: Any) -> ExactAnswer:
    output = from_list([taken(_plain(answer))])
    amounts = re.search(r"\b(float|int)", re.sub(r"'[^']*'", "", output.forms[0])) is not None
    return ExactAnswer(source, output, amounts and not isinstance(answer, Choice))


def _plain(answer: Any) -> Any:
    if isinstance(answer, Choice):
        return int(answer)
    return type(answer)(map(_plain, answer)) if type(answer) in (list, tuple) else answer


def accuracy(question: Question, sampled: Outputs | None, total: int) -> Accuracy | None:
    """Return how far outputs are from the exact answer, as far as that is known.

    On the first dataset of the first pair, from learning runs; or on the data that were given, where a pair was made
    from them: that pair may hold a single record. Those have runs of their own, one in fifty.

    Args:
        question: what was audited.
        sampled: learning runs of side 0 of the first pair.
        total: runs of the audit.
    """
    if question.observe or question.own_randomness or sampled is None:
        return None
    space = question.space
    if space is None or not space.made:
        answer = exact_answer(question.mechanism, question.pairs[0][0], question.parameters)
        return None if answer is None else accuracy_of(sampled, answer, 0, 0)
    own = min(total // 50, _MOST_OWN)
    answer = None if space.source == "domain" else exact_answer(question.mechanism, space.data, question.parameters)
    if answer is None or own < _LEAST_OWN:
        return None
    experiment = replace(question.experiment, pairs=((space.data, space.data),), digests=(), session=None)
    blocks = blocks_of(question.runs_as, Phase.ACCURACY, 0, own)
    try:
        played = [each for found in play(experiment, blocks, _both) for each in found.result]
    except (InvalidRunsError, UsageError):  # the bounds are measured, and do not rest on these runs
        return None
    return accuracy_of(concatenate(played), answer)


def _both(side0: Outputs, side1: Outputs) -> tuple[Outputs, Outputs]:
    return side0, side1


def accuracy_of(
    outputs: Outputs, answer: ExactAnswer, pair: int | None = None, side: int | None = None
) -> Accuracy | None:
    """Return how far outputs are from the exact answer; None if none has its form."""
    form, exact = answer.output.forms[0], answer.output.numbers[0]
    if form not in outputs.forms or not np.isfinite(exact).all():
        return None
    numbers = outputs.numbers[outputs.forms.index(form)]
    if not len(numbers) or numbers.shape[1] != exact.shape[1]:
        return None
    errors = numbers - exact
    found = Accuracy(
        source=answer.source,
        pair=pair,
        side=side,
        runs=len(outputs),
        compared=len(numbers),
        same=int((errors == 0).all(axis=1).sum()),
        numbers=int(exact.shape[1]),
    )
    is_coin = np.isin(numbers, (0, 1)).all() and np.isin(exact, (0, 1)).all()
    if not answer.is_number or exact.shape[1] == 0 or is_coin:
        return found
    apart = errors.T if exact.shape[1] <= _MOST_APART else errors.reshape(1, -1)
    each = [_errors_of(own) for own in apart]
    if any(own is None for own in each):
        return found
    return msgspec.structs.replace(found, errors=tuple(own for own in each if own is not None))


def _errors_of(errors: Floats) -> Errors | None:
    """Return what errors, (n,), come to, to six digits; None if no finite number says it."""
    with np.errstate(over="ignore", invalid="ignore"):
        moments = float(errors.mean()), float(np.sqrt(np.mean(errors**2)))
    if not all(map(math.isfinite, moments)):
        return None
    ends = np.quantile(errors, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return Errors(*(float(f"{value:.6g}") for value in (*moments, *ends)))  # sums differ in their last bits
