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
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Accuracy
from dpaudit.program.silent import Choice, SilentNoise
from dpaudit.sampling.outputs import Outputs, from_list, taken
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

LEVEL = 0.9  # of the interval of errors
_MOST_RUNS, _MOST_NUMBERS = 100_000, 1_000_000  # for an interval that is known to 1 % of its coverage


def sample(outputs: Outputs) -> Outputs:
    """Return a copy of the first runs, enough for errors."""
    wide = max((rows.shape[1] for rows in outputs.numbers), default=1)
    most = min(len(outputs), _MOST_RUNS, max(_MOST_NUMBERS // max(wide, 1), 1))
    return outputs.take(np.arange(most))


@dataclass(frozen=True, slots=True)
class ExactAnswer:
    """What a release would be without noise, as one output.

    Attributes:
        source: "query" or "silent", a program without noise.
        output: of one run.
        is_number: whether it has amounts, and is no mere choice.
    """

    source: str
    output: Outputs
    is_number: bool


def exact_answer(mechanism: Mechanism, data: Any, parameters: Mapping[str, Any]) -> ExactAnswer | None:
    """Return the exact answer on a dataset, or None where nothing gives one.

    Args:
        mechanism: with a query, or a program.
        data: as the mechanism takes it.
        parameters: all of them.
    """
    query = mechanism.query_for(parameters)
    with warnings.catch_warnings(action="ignore"):
        try:
            if query is not None:
                return _as_answer("query", query(data))
            if mechanism.shape is Shape.PROGRAM:
                return _as_answer("silent", mechanism.function(data, noise=SilentNoise(), **parameters))
        except Exception:  # of whoever wrote the function: there is no exact answer
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


def accuracy_of(outputs: Outputs, answer: ExactAnswer, pair: int = 0, side: int = 0) -> Accuracy | None:
    """Return how far outputs are from the exact answer; None if none has its form.

    Args:
        outputs: of runs on one dataset.
        answer: the exact one on that dataset.
        pair, side: which dataset.
    """
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
    is_amount = answer.is_number and exact.shape[1] > 0 and not is_coin
    return _with_errors(found, errors.ravel()) if is_amount else found


def _with_errors(found: Accuracy, errors: Floats) -> Accuracy:
    with np.errstate(over="ignore", invalid="ignore"):
        moments = float(errors.mean()), float(np.sqrt(np.mean(errors**2)))
    if not all(map(math.isfinite, moments)):
        return found
    ends = np.quantile(errors, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    bias, rmse, low, high = (float(f"{value:.6g}") for value in (*moments, *ends))  # sums differ in their last bits
    return msgspec.structs.replace(found, bias=bias, rmse=rmse, low=low, high=high)
