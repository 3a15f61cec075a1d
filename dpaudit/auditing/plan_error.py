"""Which ε does a wanted error need?

People choose ε by what it costs. The mechanism is run at several values of its privacy parameter, and its outputs are
compared with the exact answer (`dpaudit.auditing.accuracy`). The answer is the smallest value, to two digits, at which
at least 90 % of the answers are within the wanted error; errors are taken to fall as the parameter grows. It is an
estimate on one dataset: on others the error may be another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.auditing.accuracy import LEVEL, ExactAnswer, accuracy_of, exact_answer
from dpaudit.auditing.pair import gather, joined, with_call_style
from dpaudit.auditing.question import LEAST_RUNS, validated, whole
from dpaudit.auditing.seeds import given_or_fresh
from dpaudit.errors import UsageError
from dpaudit.evidence.records import Accuracy
from dpaudit.loading.named import load, public_name
from dpaudit.neighbours import Relation
from dpaudit.request import AuditRequest, known_keywords
from dpaudit.sampling.blocks import Phase, blocks_of
from dpaudit.sampling.outputs import Outputs
from dpaudit.settings import own_settings
from dpaudit.targets.mechanism import Mechanism

_LEAST, _MOST = 1e-3, 1e3  # where a parameter of privacy is looked for; chosen
_STEPS = 12  # of a bisection of its logarithm: to 0.4 %


@dataclass(frozen=True, slots=True)
class ErrorAt:
    """What the error is at one value of the parameter: the share of answers within the wanted error, and the errors."""

    value: float
    within: float
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class ErrorPlan:
    """What a wanted error needs.

    Attributes:
        target: what was run.
        error: the wanted error: of an amount, or the share of answers that are not the exact one.
        parameter: the parameter that was varied.
        value: its smallest value that is enough; None if none up to 1,000 is.
        places: what the error is at this value and around it, from small to large.
        spent: executions.
    """

    target: str
    error: float
    parameter: str
    value: float | None
    places: tuple[ErrorAt, ...]
    spent: int


@known_keywords
@own_settings()
def plan_error(
    target: str | Mechanism | Callable[..., Any],
    error: float,
    *,
    vary: str = "epsilon",
    parameters: Mapping[str, Any] | None = None,
    pairs: Sequence[tuple[Any, Any]] | None = None,
    relation: str | Relation | None = None,
    runs: int | float = 40_000,
    seed: int | None = None,
) -> ErrorPlan:
    """Find the smallest ε at which 90 % of the answers are within a wanted error.

    Args:
        target, parameters, pairs, relation, seed: as for `audit`. The error is that on the first dataset of the first
            pair.
        error: above 0, in the unit of the answers; for answers that are no amounts, the share that may not be exact,
            below 1.
        vary: the parameter that decides on privacy; larger is less private.
        runs: executions at each value, of both datasets together.

    Returns:
        The value, and the errors around it.

    Raises:
        UsageError: if there is no such parameter, or no exact answer is known.
    """
    if isinstance(error, bool) or not isinstance(error, int | float) or not 0 < error < math.inf:
        raise UsageError(f"a wanted error is a number above 0, such as 5, not {error!r}")
    mechanism = load(target)
    if vary not in mechanism.defaults and not mechanism.open_ended:
        known = ", ".join(mechanism.defaults) or "none"
        raise UsageError(f"{public_name(mechanism)} has no parameter {vary!r} to vary; it has: {known}")
    root, each = given_or_fresh(seed), whole("runs", runs, least=LEAST_RUNS)
    spent = 0

    def at(value: float) -> ErrorAt:
        nonlocal spent
        spent += each
        request = AuditRequest(
            mechanism,
            parameters={**(parameters or {}), vary: value},
            pairs=pairs,
            relation=relation,
            seed=root,
            floating_point="ignore",
        )
        return _error_at(request, value, error, each)

    low, high = _LEAST, _MOST
    enough = at(high)
    if enough.within < LEVEL:
        return ErrorPlan(public_name(mechanism), float(error), vary, None, (enough,), spent)
    for _ in range(_STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if at(middle).within >= LEVEL else (middle, high)
    value = _two_digits_up(high)
    places = tuple(at(value * factor) for factor in (0.25, 0.5, 1, 2, 4))
    return ErrorPlan(public_name(mechanism), float(error), vary, value, places, spent)


def _two_digits_up(value: float) -> float:
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.2g}")


def _error_at(request: AuditRequest, value: float, error: float, runs: int) -> ErrorAt:
    question = with_call_style(validated(request))
    if not question.pairs:
        raise UsageError(f"{question.mechanism.name} names no data to run on; give a pair")
    answer = exact_answer(question.mechanism, question.pairs[0][0], question.parameters)
    sides, _ = gather(question, blocks_of(question.runs_as, Phase.LEARNING, 0, runs))
    outputs = joined(sides)[0]
    found = None if answer is None else accuracy_of(outputs, answer, 0, 0)
    if answer is None or found is None:
        raise UsageError(
            f"no exact answer of {question.mechanism.name} is known: it draws no noise of dpaudit, or has no most "
            "likely draw; expose the query within: @mechanism(query=…)"
        )
    if not found.errors and error >= 1:
        raise UsageError(
            f"answers of {question.mechanism.name} are no amounts: a wanted error is the share of them that may not be "
            f"exact, such as 0.05, not {error:g}"
        )
    return ErrorAt(value, _within(outputs, answer, found, error), found)


def _within(outputs: Outputs, answer: ExactAnswer, found: Accuracy, error: float) -> float:
    """Return the share of runs within the wanted error; of answers without amounts, `LEVEL` if few enough are wrong."""
    if not found.errors:
        return LEVEL if 1 - found.same / found.runs <= error else 0.0
    numbers = outputs.numbers[outputs.forms.index(answer.output.forms[0])]
    close = np.abs(numbers - answer.output.numbers[0]) <= error
    return float(close.mean() * found.compared / found.runs)
