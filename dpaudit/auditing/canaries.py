"""Which canaries of one model are guessed, and does what evidence says of scores follow from its counts?

The k highest scores are guessed "in", the lowest "out". k is fixed before, by a plan (below); choosing k by its result
would make it right more often than claimed. A learning split would not do: the canaries share one model, so some scores
reveal the coins of others, and for δ > 0 the theorems require a number of guesses that does not depend on them.

Which of equal scores are guessed must not depend on the coins. Canaries are given by side, so no order of positions
would do, not even one drawn by a seed: given the seed, the sides of its positions are known. Ties are therefore guessed
in the least favourable way: every way of breaking them without the coins has at least as many correct guesses. NaN is
placed in the middle, where it is guessed last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr

from dpaudit.arrays import Booleans, Floats
from dpaudit.auditing.accuracy import LEAST, gaussian_epsilon, rate_limits, roc_limits
from dpaudit.auditing.verdict import RECORDED, measured_bound
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Bound, Counts, Rate, RocPoint, Scores, Verdict
from dpaudit.privacy import Claim, GaussianDP, parse_claim
from dpaudit.stats.guessing import LAST, StepsBound, gaussian_bound, right_guesses, sharp_bound, split_guesses
from dpaudit.stats.methods import GAUSSIAN_ONE_RUN, SHARP_ONE_RUN, method_of

# --- Which canaries of one model are guessed, at which tested values, and how many of the guesses are right? ---

# --- How many canaries of one model are guessed, at which tested values, and at what share of the error? ---
#
# Everything is fixed by the number of canaries, the notion of the claim and the error level. Most of the error goes to
# a *staircase*: at each tested value, as many guesses at both ends as would show most for an attack that gets there on
# scores N(μ, 1) of members and N(0, 1) of others (`dpaudit.stats.guessing`). That model only chooses; the bound holds
# for all scores. The rest goes to a few numbers of guesses that are tried at every value, at both ends and at the upper
# end alone, so that a leak is found that looks different, such as that of a few canaries. benchmarks/scores.py measures
# the shares.

STAIRCASE = 0.8  # of the error
_FEWEST = 12  # guesses of a step: fewer would show little even if all were right
_MUS = {"epsilon": np.geomspace(0.02, 8, 120), "mu": np.geomspace(0.1, 6, 40)}  # of the attacks that steps are made for
_MOST_STEPS_MU = 20_000  # guesses of a step for μ: more would show hardly more, and take long
_HALVINGS = 14  # of an interval of μ, while steps are chosen
_APART = 8  # factor between two numbers of guesses that are tried at every value
_FEWEST_ALWAYS = 16


@dataclass(frozen=True, slots=True)
class PlannedGuesses:
    """What one bound is made of."""

    name: str  # of the attempt
    # high, low: the highest scores that are guessed in, and the lowest that are guessed out; of a staircase the most
    high: int
    low: int
    steps: tuple[float, ...] | None  # of a staircase, as `dpaudit.stats.guessing` wants them; else None
    share: float  # of the error level


def method_name(notion: Claim) -> str:
    """Return the name of the method that bounds this notion."""
    return GAUSSIAN_ONE_RUN if isinstance(notion, GaussianDP) else SHARP_ONE_RUN


def plan_guesses(canaries: int, notion: Claim, error: float) -> list[PlannedGuesses]:
    """Return what is guessed."""
    steps = staircase(canaries, notion.parameter, notion.delta, float(f"{error * STAIRCASE:.12g}"))
    most = int(max(steps[::2]))
    always = [split_guesses(n) for n in _shrinking(canaries)] + [(n, 0) for n in _shrinking(canaries // 16)]
    own = (1 - STAIRCASE) / len(always)
    return [
        PlannedGuesses("both ends", *split_guesses(most), steps, STAIRCASE),
        *(PlannedGuesses(_guesses_text(high, low), high, low, None, own) for high, low in always),
    ]


def _guesses_text(high: int, low: int) -> str:
    return f"{high} highest in, {low} lowest out" if low else f"{high} highest in"


def _shrinking(most: int) -> list[int]:
    sizes = []
    while most >= _FEWEST_ALWAYS:
        sizes.append(most)
        most //= _APART
    return sizes


@lru_cache(maxsize=64)
def staircase(canaries: int, parameter: str, delta: float, error: float) -> tuple[float, ...]:
    """Return the steps for a number of canaries: numbers of guesses, each with the value up to which it is tried."""
    made = [canaries if parameter == "epsilon" else min(canaries, _MOST_STEPS_MU)]
    while made[-1] // 2 >= _FEWEST:
        made.append(made[-1] // 2)
    mus, guesses = _MUS[parameter][:, None], np.array(made, dtype=np.float64)
    right = guesses * _rate(mus, guesses / (2 * canaries))
    if parameter == "epsilon":
        shown = sharp_bound(right, guesses, canaries * delta, error)
    else:
        shown = gaussian_bound(right, guesses, canaries, error, halvings=_HALVINGS)
    best, reached = np.argmax(shown, axis=1), np.maximum.accumulate(shown.max(axis=1))
    steps: list[tuple[int, float]] = []
    for before, after in zip(range(len(best) - 1), range(1, len(best)), strict=True):
        end = float(f"{(reached[before] + reached[after]) / 2:.6g}")
        if best[after] != best[before] and end > (steps[-1][1] if steps else 0.0):
            steps.append((made[int(best[before])], end))
    return tuple(float(each) for step in [*steps, (made[int(best[-1])], LAST)] for each in step)


def _rate(mu: Floats, share: Floats) -> Floats:
    """The probability that a score is of N(μ, 1) if it is among a share of the highest of N(μ, 1) and N(0, 1)."""
    low, high = np.full(np.broadcast(mu, share).shape, -12.0), np.full(np.broadcast(mu, share).shape, 24.0)
    for _ in range(50):
        at = (low + high) / 2
        more = (ndtr(-at) + ndtr(mu - at)) / 2 > share
        low, high = np.where(more, at, low), np.where(more, high, at)
    return np.asarray(ndtr(mu - low) / (ndtr(mu - low) + ndtr(-low)))


# --- counting ---------------------------------------------------------------------------------------------


def count_guesses(ranked: Booleans, planned: PlannedGuesses, notion: Claim, error: float) -> Counts:
    """Return how many scores of members and of others are guessed in and out."""
    total = np.concatenate([[0], np.cumsum(ranked)])
    members, canaries = int(total[-1]), len(ranked)
    runs = members, canaries - members
    if planned.steps is None:
        return _toward(total, planned.high, planned.low)
    places = cuts(planned.steps, canaries)
    inside = np.diff(total[places])
    outside = np.diff(places) - inside
    bins = tuple(int(each) for each in inside), tuple(int(each) for each in outside)
    counts = Counts(runs, (0, 0), (0, 0), bins)
    method = method_of(method_name(notion)).computed
    assert isinstance(method, StepsBound)
    _, guesses = method.walk(counts, notion, planned.steps, error)
    shown = _toward(total, *split_guesses(guesses))
    return Counts(runs, shown.toward0, shown.toward1, bins)


def _toward(total: Floats, high: int, low: int) -> Counts:
    members, canaries = int(total[-1]), len(total) - 1
    within, without = int(total[high]), members - int(total[canaries - low])
    return Counts((members, canaries - members), (within, high - within), (without, low - without))


def cuts(steps: Sequence[float], canaries: int) -> list[int]:
    """Return the ranks at which blocks begin and end: those at which guesses of some step end."""
    ends = [split_guesses(int(guesses)) for guesses in steps[::2]]
    return sorted({0, canaries, *(high for high, _ in ends), *(canaries - low for _, low in ends)})


# --- Which canaries of one model are guessed, and how many of the guesses are right? ---

_NO_COIN = 1e-9  # probability below which numbers of members and others are not taken for fair coins


def ranked_members(members: Floats, others: Floats, missing: int = 0) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return whether each score is a member's, by descending score; others first among ties, NaN in the middle.

    Canaries without a score are in the middle too, in the half that is guessed in as others, and in the half that is
    guessed out as members: whatever their coins were, at least as many guesses were right.
    """
    scores, own = np.concatenate([members, others]), np.repeat([True, False], [len(members), len(others)])
    own = own[np.lexsort((own, -scores))]  # NaN comes last
    numbers = len(scores) - int(np.count_nonzero(np.isnan(scores)))
    upper = numbers - numbers // 2
    ranked = np.concatenate([own[:upper], own[numbers:], own[upper:numbers]])
    whole, half = len(ranked) + missing, len(ranked) - len(ranked) // 2
    without = np.arange(missing) >= whole - whole // 2 - half  # those of the lower half
    return np.concatenate([ranked[:half], without, ranked[half:]])


def guessed(
    members: Floats, others: Floats, notion: Claim, confidence: float, assumes: tuple[str, ...], missing: int = 0
) -> list[Attempt]:
    """Return the guesses that the number of canaries fixes, each with its bound."""
    ranked, method, attempts = ranked_members(members, others, missing), method_name(notion), []
    for planned in plan_guesses(len(ranked), notion, 1 - confidence):
        error = (1 - confidence) * planned.share
        counts = count_guesses(ranked, planned, notion, 1 - (1 - error))
        bound = measured_bound(method, counts, notion, weight=planned.steps, error=error, pair=0, assumes=assumes)
        attempts.append(Attempt(0, planned.name, bound, ()))
    return attempts


def foresee_guesses(claim: Claim, attempts: Sequence[Attempt], share: float = 1.0) -> float:
    """The smallest value that some of these guesses would have shown to exceed the claim, with probability 0.9."""
    values = []
    for bound in (each.bound for each in attempts):
        assert bound.counts is not None
        method, error = method_of(bound.method).computed, (1 - bound.confidence) * share
        values.append(method.detectable(bound.counts, claim, bound.weight, error))
    return min(values)


def refuse_other_notions(notion: Claim) -> None:
    """Raise `UsageError` for a privacy notion that no theorem here bounds."""
    if not (notion.is_point or isinstance(notion, GaussianDP)):
        raise UsageError(
            f"scores of one run bound ε at a δ, or μ, and the claim {notion} is of another notion; claim the (ε, δ) "
            "that it implies, such as 'epsilon=1, delta=1e-5'"
        )


def refuse_no_coin(members: int, others: int, missing: int = 0) -> None:
    """Raise `UsageError` if fair coins would practically never have produced these numbers.

    Those of ``missing`` canaries are not known: they are taken to have evened the numbers out.
    """
    fewer = min(min(members, others) + missing, (members + others + missing) // 2)
    if 2 * float(bdtr(fewer, members + others + missing, 0.5)) < _NO_COIN:
        more = f", even if the {missing} without a score were all {'out' if others < members else 'in'}"
        raise UsageError(
            f"{members} canaries were in and {others} out{more if missing else ''}: no fair coin decided that. The "
            "design 'one-run' needs every canary of the model, each included with probability ½ (say how many there "
            "were, with canaries= or --canaries, where not all have a score); for one training run a score use "
            "'independent'"
        )


# --- Does what evidence says about scores follow from its counts? ----------------------------------------


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
    if evidence.verdict is Verdict.INVALID:  # nothing was measured
        return
    yield _methods(evidence, scores)
    independent = scores.design == "independent"
    rocs = scores.measured == (_measured(evidence) if scores.canaries is None else scores.given) and all(
        _roc(point, evidence, scores) if independent else point.limits is None for point in scores.roc
    )
    yield rocs, f"the limits of the ROC {_follow(rocs)} from its {len(scores.roc)} counts"
    rates = all(_rate_holds(rate, evidence, scores) if independent else rate.limits is None for rate in scores.rates)
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
        holds = not any(method_of(name).canaries for name in methods)
        holds = holds and scores.canaries is None
        return holds, "scores with a training run each are bounded as independent ones"
    counted = [attempt.bound.counts for attempt in evidence.attempts]
    runs = _counted(scores)
    holds = bool(counted) and runs is not None
    holds = holds and all(counts is not None and counts.runs == runs for counts in counted)
    holds = holds and is_planned(evidence.attempts, scores.canaries or sum(scores.given), 1 - evidence.confidence)
    how = "are" if holds else "are not"
    return holds, f"the guesses {how} those that {scores.canaries or sum(scores.given)} canaries of one model fix"


def _counted(scores: Scores) -> tuple[int, int] | None:
    """Return as how many members and others the canaries count; None if there cannot be so few."""
    missing = 0 if scores.canaries is None else scores.canaries - sum(scores.given)
    if missing < 0 or (scores.canaries is not None and missing == 0):
        return None
    upper = -(-(sum(scores.given) + missing) // 2) - -(-sum(scores.given) // 2)  # counted as others
    return scores.given[0] + missing - upper, scores.given[1] + upper


def is_planned(attempts: Sequence[Attempt], canaries: int, error: float) -> bool:
    """Return whether the guesses, the steps of the staircase and the shares of the error are those of the plan."""
    if not attempts or canaries < 2 * LEAST or not 0 < error < 1:
        return False
    notion = parse_claim(attempts[0].bound.notion)
    plan = plan_guesses(canaries, notion, error)
    if len(plan) != len(attempts):
        return False
    for planned, attempt in zip(plan, attempts, strict=True):
        bound = attempt.bound
        if attempt.name != planned.name:
            return False
        if bound.method != method_name(notion) or not _close(1 - bound.confidence, error * planned.share):
            return False
        if planned.steps is None:
            assert bound.counts is not None
            made = sum(bound.counts.toward0), sum(bound.counts.toward1)
            if made != (planned.high, planned.low) or bound.weight is not None or bound.counts.bins is not None:
                return False
        elif not _climbed(bound, notion, planned.steps):
            return False
    return True


def _climbed(bound: Bound, notion: Claim, steps: tuple[float, ...]) -> bool:
    """Whether a staircase has these steps and their blocks of ranks, and shows the guesses at which its walk ended."""
    counts, weight = bound.counts, bound.weight
    assert counts is not None
    if counts.bins is None or not isinstance(weight, tuple) or len(weight) != len(steps):
        return False
    if weight[::2] != steps[::2] or not all(map(_close, weight[1::2], steps[1::2])):
        return False
    inside, outside = counts.bins
    sizes = [a + b for a, b in zip(inside, outside, strict=True)] if len(inside) == len(outside) else []
    places = cuts(steps, sum(counts.runs))
    if sizes != [after - before for before, after in pairwise(places)] or min(*inside, *outside) < 0:
        return False
    method = method_of(bound.method).computed
    assert isinstance(method, StepsBound)
    try:
        _, guessed = method.walk(counts, notion, weight, 1 - bound.confidence)
    except ValueError:
        return False
    high, low = split_guesses(guessed)
    shown = counts.toward0[0] + counts.toward1[1]
    return (
        (sum(inside), sum(outside)) == counts.runs
        and (sum(counts.toward0), sum(counts.toward1)) == (high, low)
        and shown == right_guesses(counts, guessed)
        and counts.toward0[0] == sum(inside[: places.index(high)])
    )


def _close(stated: float, planned: float) -> bool:
    return math.isclose(stated, planned, rel_tol=1e-4, abs_tol=1e-9)  # steps have 6 digits


def _roc(point: RocPoint, evidence: Evidence, scores: Scores) -> bool:
    if not all(0 <= count <= size for count, size in zip(point.counts, scores.measured, strict=True)):
        return False
    return point.limits == roc_limits(point.counts, scores.measured, len(scores.roc), 1 - evidence.confidence)


def _measured(evidence: Evidence) -> tuple[int, int]:
    counts = evidence.attempts[0].bound.counts if evidence.attempts else None
    return (0, 0) if counts is None else counts.runs


def _rate_holds(rate: Rate, evidence: Evidence, scores: Scores) -> bool:
    if rate.counts is None or not 0 <= rate.counts[0] <= rate.counts[1] <= scores.given[0]:
        return False
    return rate.limits == rate_limits(rate.counts, scores.given[0], 1 - evidence.confidence)
