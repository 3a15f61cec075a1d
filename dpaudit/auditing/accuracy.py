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
from scipy.special import bdtr, bdtrc

from dpaudit.arrays import Floats
from dpaudit.auditing.question import Question
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.evidence.records import Accuracy, Errors, Rate, RocPoint, round_outward
from dpaudit.privacy import GaussianDP
from dpaudit.program.noise import Choice, SilentNoise
from dpaudit.sampling.checkpoint import Phase, blocks_of
from dpaudit.sampling.outputs import Outputs, concatenate, from_list, taken
from dpaudit.sampling.play import play
from dpaudit.stats.joint_region import probability_at_least, probability_at_most
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
    output = from_list([taken(_plain_answer(answer))])
    amounts = re.search(r"\b(float|int)", re.sub(r"'[^']*'", "", output.forms[0])) is not None
    return ExactAnswer(source, output, amounts and not isinstance(answer, Choice))


def _plain_answer(answer: Any) -> Any:
    if isinstance(answer, Choice):
        return int(answer)
    return type(answer)(map(_plain_answer, answer)) if type(answer) in (list, tuple) else answer


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
        played = [each for block in play(experiment, blocks, _both) for each in block.result]
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
    measured = Accuracy(
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
        return measured
    apart = errors.T if exact.shape[1] <= _MOST_APART else errors.reshape(1, -1)
    each = [_errors_of(own) for own in apart]
    if any(own is None for own in each):
        return measured
    return msgspec.structs.replace(measured, errors=tuple(own for own in each if own is not None))


def _errors_of(errors: Floats) -> Errors | None:
    """Return what errors, (n,), come to, to six digits; None if no finite number says it."""
    with np.errstate(over="ignore", invalid="ignore"):
        moments = float(errors.mean()), float(np.sqrt(np.mean(errors**2)))
    if not all(map(math.isfinite, moments)):
        return None
    ends = np.quantile(errors, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    return Errors(*(float(f"{value:.6g}") for value in (*moments, *ends)))  # sums differ in their last bits


# --- How well do scores tell members from others? True and false positive rates with exact limits, and one estimate.
#
# An attacker calls a record a member if its score is at least a threshold. The true positive rate (TPR) is the share of
# members that are called so, the false positive rate (FPR) that of others. Two statements are exact for any number of
# scores, if each comes from a training run of its own:
#
# - the ROC at thresholds chosen on other scores: all rates are within their limits at once (Clopper & Pearson 1934,
#   with Bonferroni over the four ends of every threshold); between two thresholds the rates are monotone;
# - the TPR at a given FPR x, whose threshold is unknown: the threshold is between two scores of others, by their rank
#   (David & Nagaraja 2003, Order Statistics, section 7.1), and members are counted above either of these.
#
# A NaN score is above no threshold.

FALSE_POSITIVE_RATES = (0.01, 0.001)
_POINTS = 20  # most thresholds of the ROC; they share the error level; measured by benchmarks/scores.py

LEAST = 20  # scores or outputs of a side: fewer could show nothing


def thresholds(members: Floats, others: Floats) -> Floats:
    """Return thresholds for a ROC, ascending: denser where few scores of others, or of members, are left."""
    levels = np.concatenate([np.geomspace(0.002, 0.4, _POINTS // 2 - 1), [0.6, 0.8]])
    finite = [side[~np.isnan(side)] for side in (members, others)]
    cut_levels = [
        np.quantile(side, quantiles, method="higher")
        for side, quantiles in zip(finite, (levels, 1 - levels), strict=True)
        if len(side)
    ]
    return np.unique(np.concatenate(cut_levels)) if cut_levels else np.empty(0)


def roc_counts(members: Floats, others: Floats, at: Floats) -> list[tuple[int, int]]:
    """Return how many scores of members and of others are at least each threshold."""
    return [(int(np.count_nonzero(members >= t)), int(np.count_nonzero(others >= t))) for t in at]


def roc_limits(
    counts: tuple[int, int], sizes: tuple[int, int], points: int, error: float
) -> tuple[float, float, float, float]:
    """Return limits of TPR and FPR at one of ``points`` thresholds (Clopper & Pearson 1934).

    All limits of all thresholds hold together at confidence 1 − ``error``.
    """
    own = error / (4 * points)
    positive, false = (_interval(count, count, size, own) for count, size in zip(counts, sizes, strict=True))
    return (*positive, *false)


def roc(members: Floats, others: Floats, at: Floats, error: float | None) -> tuple[RocPoint, ...]:
    """Return the ROC at given thresholds."""
    sizes = len(members), len(others)
    return tuple(
        RocPoint(float(t), counts, None if error is None else roc_limits(counts, sizes, len(at), error))
        for t, counts in zip(at, roc_counts(members, others, at), strict=True)
    )


def ranks(rate: float, others: int, error: float) -> tuple[int, int]:
    """Return the ranks between which the threshold for an FPR is (David & Nagaraja 2003, section 7.1).

    Ranks count from the highest score of the others down. With probability 1 − ``error``/4, at most a share ``rate`` of
    the others' distribution is above the score of rank c + 1; and with probability 1 − ``error``/4, every test of FPR
    at most ``rate`` has a threshold above the score of rank d.
    """
    k = np.arange(others + 1, dtype=np.float64)
    few = np.flatnonzero(bdtr(k, others, rate) <= error / 4)  # P(Bin ≤ k)
    many = np.flatnonzero(np.where(k > 0, bdtrc(k - 1, others, rate), 1.0) <= error / 4)  # P(Bin ≥ k)
    return (int(few[-1]) if len(few) else -1), (int(many[0]) if len(many) else others + 1)


def rate_limits(counts: tuple[int, int], members: int, error: float) -> tuple[float, float]:
    """Return limits of the TPR at a given FPR."""
    return _interval(*counts, members, error / 4)


def rate_at(members: Floats, others: Floats, rate: float, error: float | None) -> Rate:
    """Return the TPR at a given FPR."""
    high = np.sort(np.where(np.isnan(others), -np.inf, others))[::-1]
    values = np.where(np.isnan(members), -np.inf, members)
    allowed = int(rate * len(others))  # of the others may be called members

    def above(rank: int) -> int:
        """How many members score above the others' score of this rank: none above rank 0, all above the last."""
        if rank < 1:
            return 0
        return len(values) if rank > len(high) else int(np.count_nonzero(values > high[rank - 1]))

    estimate = round_outward(above(allowed + 1) / len(values), "lower")
    if error is None:
        return Rate(rate, estimate)
    certain, possible = ranks(rate, len(others), error)
    counts = above(certain + 1), above(possible)
    return Rate(rate, estimate, counts, rate_limits(counts, len(values), error))


def _interval(low: int, high: int, size: int, error: float) -> tuple[float, float]:
    least, most = float(probability_at_least(low, size, error)), float(probability_at_most(high, size, error))
    return round_outward(least, "lower"), round_outward(most, "upper")


def gaussian_mu(members: Floats, others: Floats) -> float | None:
    """Return the distance of the mean scores in units of their pooled standard deviation: an estimate from finite
    scores.

    None if it does not exist: no finite scores, or none that vary.
    """
    finite = [side[np.isfinite(side)] for side in (members, others)]
    if min(map(len, finite)) < 2:
        return None
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        spread = float(np.sqrt((np.var(finite[0], ddof=1) + np.var(finite[1], ddof=1)) / 2))
        distance = float(np.mean(finite[0]) - np.mean(finite[1]))
        mu = distance / spread if spread > 0 else np.nan
    return float(f"{mu:.6g}") if np.isfinite(mu) else None


def gaussian_epsilon(mu: float, delta: float) -> float | None:
    """Return the ε at which a μ-Gaussian mechanism has this δ (Dong, Roth & Su 2022); None at δ = 0, where there is
    none.
    """
    if delta <= 0:
        return None
    claim = GaussianDP(abs(mu))
    low, high = 0.0, 1.0
    while float(claim.profile(high)) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(claim.profile(middle)) > delta else (low, middle)
    return 0.0 if float(claim.profile(0.0)) <= delta else float(f"{high:.6g}")
