"""How sure must runs be before a claim is called violated, and what violation would they have shown?

A bound at an error level a, such as 5 %, is above a claim that is just kept in up to a of all audits. This is what its
confidence says; for a verdict it is too often. So a violation has an error level α of its own, the *false alarm*:

    no bound at a is above the claim:       not violated;
    one at α/2 is:                          violated;
    else fresh runs of that event, twice as many as measured it, and violated if their bound at c/p is above the claim.

Here p is the smallest of the levels a, a/2, a/4, …, not below α, down to which every bound is above the claim (the
first look's p-value, rounded up), and c = (α/2)/(1 + m/2) where m is how often a was halved. It is the rule p₁·p₂ ≤ c
of Bauer & Köhne (1994, Evaluation of experiments with adaptive interim analyses) on levels that are fixed beforehand.

Theorem. A mechanism that keeps its claim is called violated with probability at most α. Proof: a bound at a level t
exceeds a true claim with probability at most t, so P(p ≤ aⱼ) ≤ aⱼ for each aⱼ = a/2ʲ; nothing else is required of the
bounds, in particular not that their rejection regions are nested. The second look uses fresh runs, at a level that is
fixed given the first. So the probability is at most α/2 + Σⱼ P(p = aⱼ)·c/aⱼ. As c/aⱼ grows with j, the sum is largest
if P(p ≤ aⱼ) = aⱼ for each j: then it is (a₀ − a₁)c/a₀ + … + aₘ·c/aₘ = m·c/2 + c = α/2. ∎

Attempts (pairs, events) share every level as they share the error level of the audit, so p is the smallest over them
all. If a is at most α, one look at a is enough. Data that cannot be run again have one look, at α.

The violation that an audit would have shown is computed for the events that were measured
(`dpaudit.stats.event_bound`); for δ > 0, where a broad event shows little, for a Gaussian mechanism as a yardstick.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import msgspec
import numpy as np
from scipy.special import ndtr, ndtri

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Attempt, Bound, Counts, Power, SecondLook, round_outward
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.stats import event_bound, methods
from dpaudit.stats.joint_region import joint_region, joint_weight, lower_bound

# --- How sure must runs be before a claim is called violated? --------------------------------------------

FALSE_ALARM = 1e-3
AGAIN = 2  # factor of runs for the second look; its cost and power are measured by benchmarks/two_looks.py
_POWER = 0.9


@dataclass(frozen=True, slots=True)
class LooksRule:
    """When a bound above the claim is a violation."""

    error: float  # 1 − confidence, at which bounds are shown
    false_alarm: float  # the chance that a mechanism that keeps its claim is called violated
    repeatable: bool = True  # whether more runs can be made

    @property
    def doubts(self) -> bool:
        """Whether a bound at the stated confidence alone is not enough for a violation."""
        return self.error > self.false_alarm * (1 + 1e-9)  # 1 − 0.95 is more than 0.05, in floats

    @property
    def twice(self) -> bool:
        """Whether there may be a second look."""
        return self.doubts and self.repeatable

    @property
    def at_once(self) -> float:
        """The level at which one look is enough."""
        if self.twice:
            return self.false_alarm / 2
        return self.false_alarm if self.doubts else self.error

    @property
    def levels(self) -> tuple[float, ...]:
        """The possible values of p: a, a/2, a/4, … down to α."""
        levels_tried = [self.error]
        while self.doubts and levels_tried[-1] / 2 >= self.false_alarm:
            levels_tried.append(levels_tried[-1] / 2)
        return tuple(levels_tried)

    def second(self, p: float) -> float:
        """The level of the second look, c/p."""
        return self.false_alarm / (1 + len(self.levels)) / p

    @property
    def planned(self) -> float:
        """The level at which a single look has power 0.9 for the same violation as this rule."""
        return _planned(self) if self.twice else self.at_once


@lru_cache(maxsize=256)
def _planned(rule: LooksRule) -> float:
    """The same, for statistics that a violation shifts by some standard deviations: √2 as far in the second look."""
    critical = [-float(ndtri(level)) for level in rule.levels] + [-float(ndtri(rule.at_once))]

    def power(shift: float) -> float:
        power_reached = float(ndtr(shift - critical[-1]))
        for level, low, high in zip(rule.levels, critical[:-1], critical[1:], strict=True):
            again = ndtr(math.sqrt(AGAIN) * shift + ndtri(rule.second(level)))
            power_reached += float((ndtr(shift - low) - ndtr(shift - high)) * again)
        return power_reached

    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle) < _POWER else (low, middle)
    return min(float(ndtr(float(ndtri(_POWER)) - high)), rule.error)


@dataclass(frozen=True, slots=True)
class FirstLook:
    """An attempt whose bound is above the claim, and how surely."""

    attempt: int  # its number
    arithmetic: str  # of its bound
    p: float  # the smallest level at which the bound is above the claim, for the whole audit
    sure: bool  # whether that is enough for a violation


def first_look(rule: LooksRule, bounds: Iterable[tuple[int, Bound]], claim: Claim) -> FirstLook | None:
    """Return the attempt with the strongest evidence against the claim; None if no bound is above it.

    Args:
        rule: of the whole audit.
        bounds: of the attempts that decide, with their numbers; each has its share of the error level.
        claim: what they are compared with.

    Returns:
        The attempt and its p, or None.
    """
    above = [(number, bound) for number, bound in bounds if bound.value > claim.value]

    def rejects(bound: Bound, level: float) -> bool:
        if level == rule.error:
            return True
        own = (1 - bound.confidence) * (level / rule.error)
        assert bound.counts is not None
        value = lower_bound(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own)
        return round_outward(value, "lower") > claim.value

    def order(looked: tuple[int, Bound]) -> tuple[bool, float]:
        return looked[1].arithmetic == "real", looked[1].value

    above.sort(key=order, reverse=True)
    for number, bound in above:
        if rejects(bound, rule.at_once):
            return FirstLook(number, bound.arithmetic, rule.at_once, True)
    best: FirstLook | None = None
    for number, bound in above:
        p = rule.error
        for level in rule.levels:
            if not rejects(bound, level):
                break
            p = level
        if best is None or p < best.p:
            best = FirstLook(number, bound.arithmetic, p, False)
    return best


def at_deciding(rule: LooksRule, bound: Bound, claim: Claim) -> Bound:
    """Return the same bound at the confidence at which one look is enough, stated for the whole audit.

    Args:
        rule: of the whole audit.
        bound: of an attempt, with its share of the error level.
        claim: the notion that is bounded; its own value is not used.
    """
    if bound.counts is None:  # nothing was measured
        return msgspec.structs.replace(bound, confidence=1 - rule.at_once)
    own = (1 - bound.confidence) * (rule.at_once / rule.error)
    value = lower_bound(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own)
    return msgspec.structs.replace(bound, value=round_outward(value, "lower"), confidence=1 - rule.at_once)


def second_method(bound: Bound) -> tuple[str, int]:
    """Return the method of the second look and its number of runs; both are determined by the first look."""
    assert bound.counts is not None
    runs = AGAIN * sum(bound.counts.runs)
    return methods.method_for(methods.plain(bound.method), runs / 2), runs


def second_look(rule: LooksRule, first: FirstLook, bound: Bound, counts: Counts, claim: Claim) -> SecondLook:
    """Return the record of the second look.

    Args:
        rule: of the whole audit.
        first: the first look.
        bound: of the attempt that is looked at again.
        counts: of its event in fresh runs.
        claim: what it is compared with.

    Returns:
        The bound from the fresh counts, and whether it confirms the violation.
    """
    level = rule.second(first.p)
    method, _ = second_method(bound)
    value = round_outward(lower_bound(method, counts, claim=claim, weight=bound.weight, error=level), "lower")
    return SecondLook(first.attempt, first.p, level, method, counts, value, value > claim.value)


# --- What violation would an audit have shown, and how many runs would show a smaller one? ---------------

_ROWS = 3  # of the report's table of smaller violations


def detectable(method: str, counts: Counts, *, claim: Claim, weight: event_bound.Weight, error: float) -> float:
    """Return the smallest value of the claim's parameter that this frozen event would have shown to exceed the claim.

    Args:
        method: of the bound (`dpaudit.stats.methods`).
        counts: what was measured.
        claim: what is to be exceeded.
        weight: of the bound, fixed before measuring.
        error: 1 − confidence.

    Returns:
        The value that is shown with probability 0.9; infinity if there is none.
    """
    return methods.method_of(method).computed.detectable(counts, claim, weight, error)


def runs_to_show(
    method: str, counts: Counts, *, claim: Claim, weight: event_bound.Weight, error: float, value: float
) -> float:
    """Return the measuring runs in which this frozen event would show a loss of ``value`` with probability 0.9.

    Args:
        method, counts, claim, weight, error: as for `detectable`.
        value: the loss, in the unit of the claim's parameter.

    Returns:
        The runs of both sides together, rounded up to 1 %; infinity if no number suffices.
    """
    if value - claim.value <= 0:
        return math.inf
    return methods.method_of(method).computed.runs_to_show(counts, claim, weight, error, value)


# --- the yardstick for δ > 0 --------------------------------------------------------------------------------


def detectable_gaussian(claim: Claim, runs: int, error: float) -> float:
    """Return the smallest ε at the claim's δ that would be shown to exceed the claim on a Gaussian mechanism.

    For δ > 0 the loss is in the tails, and a broad event says little about it: the Gaussian mechanism is the yardstick
    of what these runs can find at this δ. Its best one-sided event is used, in its unlucky tenth.

    Args:
        claim: what is to be exceeded.
        runs: of both sides.
        error: 1 − confidence.

    Returns:
        The value that is shown with probability 0.9; infinity beyond 200.
    """
    return event_bound.least_shown(partial(_gaussian_margin, claim, runs, error), claim.value, 200, 1e-3)


def runs_to_show_gaussian(claim: Claim, runs: int, error: float, value: float) -> float:
    """Return the measuring runs that would show the loss of a Gaussian mechanism with probability 0.9.

    Args:
        claim: what is to be exceeded.
        runs: a first guess.
        error: 1 − confidence.
        value: the loss, in the unit of the claim's parameter.

    Returns:
        The runs of both sides together, rounded up to 1 %; infinity if no number suffices.
    """
    if not value > claim.value:
        return math.inf
    margin = lambda ahead: _gaussian_margin(claim, round(ahead), error, value)  # noqa: E731
    return event_bound.least_runs(margin, value - claim.value, runs)


def _gaussian_margin(claim: Claim, runs: int, error: float, value: float) -> float:
    """By how much the best event's bound exceeds the claim in its unlucky tenth (event by normal approximation)."""
    half, critical = runs // 2, event_bound.UNLUCKY - float(ndtri(error))
    p, q, told, noise = _gaussian_events(claim, value)
    usable = (half * p >= 5) & (half * q >= 1) & (told > 0)
    if not usable.any():
        return -claim.value
    loss = np.log(np.where(usable, told, 1.0) / q) - critical * noise / math.sqrt(half)
    best = int(np.argmax(np.where(usable, loss, -math.inf)))
    own_p, own_q, slope = float(p[best]), float(q[best]), float(p[best] / told[best])
    weight = joint_weight(own_p, own_q, half, half, slope_p=slope)

    def bound(numbers: event_bound.Numbers) -> float:
        return float(joint_region(*numbers, weight=weight, error=error).least(claim.least))

    return event_bound.unlucky_bound(bound, own_p, own_q, half, half, weight) - claim.value


def _gaussian_runs(claim: Claim, error: float, value: float) -> float:
    """An approximate number of runs that show a Gaussian mechanism of loss ``value`` (by normal theory; too few)."""
    _, q, told, noise = _gaussian_events(claim, value)
    excess = np.log(np.maximum(told, 1e-300) / q) - claim.value
    shows = excess > 0
    if not shows.any():
        return math.inf
    return 2 * float(np.min(((event_bound.UNLUCKY - float(ndtri(error))) * noise[shows] / excess[shows]) ** 2))


def _gaussian_events(claim: Claim, value: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Events of a Gaussian mechanism of loss ``value``: p, q, p − δ, and the noise of log((p − δ)/q) in one run."""
    mu, thresholds = _gaussian_with(value, claim.delta), np.linspace(-1.0, 5.5, 131)
    p, q = ndtr(mu - thresholds), ndtr(-thresholds)
    told = p - claim.delta
    return p, q, told, np.sqrt((1 - p) * p / np.maximum(told, 1e-30) ** 2 + (1 - q) / q)


def _gaussian_with(epsilon: float, delta: float) -> float:
    """Return the μ whose Gaussian mechanism has exactly δ(ε) = delta."""
    low, high = 0.0, 1.0
    while float(GaussianDP(high).profile(epsilon)) < delta:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(GaussianDP(middle).profile(epsilon)) < delta else (low, middle)
    return high


# --- what a whole audit would have shown --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest violation that an audit would have found with probability 0.9, and where it would have shown.

    ``smaller`` says how many runs of a whole audit smaller violations would take.
    """

    value: float
    where: str
    smaller: tuple[Power, ...]

    @property
    def members(self) -> dict[str, Any]:
        """The same as fields of the evidence."""
        value = round_outward(self.value, "upper")
        return {"detectable": value, "detectable_on": self.where, "power": self.smaller}


def foresee(claim: Claim, attempts: Sequence[Attempt], learning: int, share: float = 1.0) -> Detectable:
    """Return what these attempts would have found with probability 0.9.

    A violation may show on one pair alone, so what is reliably found is what the weakest pair would find, by the better
    of its events.

    Args:
        claim: what is to be exceeded.
        attempts: what was measured, at least one.
        learning: runs made before them.
        share: of each attempt's error level, at which a single look finds as much as the two-look rule
            (`LooksRule.planned`).

    Returns:
        The smallest violation, and the runs that smaller ones would take.
    """
    pairs = {attempt.pair for attempt in attempts}
    least = max(
        (
            min((_found(claim, each, share) for each in attempts if each.pair == pair), key=_Detectable.order)
            for pair in pairs
        ),
        key=_Detectable.order,
    )
    measuring = {each.pair: sum(each.bound.counts.runs) for each in attempts if each.bound.counts is not None}
    whole = (learning + sum(measuring.values())) / measuring[least.attempt.pair]  # all runs per measuring run of a pair
    rows = tuple(
        Power(round_outward(value, "upper"), int(round_outward(whole * runs, "upper", 2)))
        for value, runs in least.smaller(claim)
        if whole * runs < event_bound.MOST_RUNS
    )
    return Detectable(least.value, least.where, rows)


@dataclass(frozen=True, slots=True)
class _Detectable:
    """The smallest violation that an attempt would have shown, and where: on its event or on the yardstick."""

    value: float
    where: str
    attempt: Attempt
    own: float  # the error level

    def order(self) -> tuple[float, str]:
        return self.value, self.where

    def smaller(self, claim: Claim) -> Iterator[tuple[float, float]]:
        """Yield a few smaller violations, and the measuring runs of the pair that would show them."""
        unit, gap = claim.gross() - claim.value, self.value - claim.value
        for step in _steps_below(min(gap / unit, 2.0)):
            value = claim.value + step * unit
            yield value, (self._scaled if math.isfinite(gap) else self._searched)(claim, value)

    def _scaled(self, claim: Claim, value: float) -> float:
        """The runs by scaling: the gap that is shown falls like noise/√runs. Much faster than a search."""
        bound = self.attempt.bound
        assert bound.counts is not None
        runs, own = sum(bound.counts.runs), self.own
        if self.where == "gaussian":
            return runs * _gaussian_runs(claim, own, value) / _gaussian_runs(claim, own, self.value)
        noisier = 1.0
        frozen = methods.method_of(bound.method).computed.frozen(bound.counts, claim, bound.weight, own)
        if frozen is not None:
            if not frozen.two_sided and sum(frozen.rates(self.value)) > event_bound.MIRRORED:
                return self._searched(claim, value)  # whether event or complement shows more changes with the runs
            spreads = frozen.spread(value), frozen.spread(self.value)
            if not all(0 < spread < math.inf for spread in spreads):
                return self._searched(claim, value)
            noisier = spreads[0] / spreads[1]
        return runs * (noisier * (self.value - claim.value) / (value - claim.value)) ** 2

    def _searched(self, claim: Claim, value: float) -> float:
        bound = self.attempt.bound
        assert bound.counts is not None
        own = self.own
        if self.where == "gaussian":
            return runs_to_show_gaussian(claim, sum(bound.counts.runs), own, value)
        return runs_to_show(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own, value=value)


def _steps_below(most: float) -> list[float]:
    """The next few of …, 1, 0.5, 0.2, 0.1, … below a number."""
    steps: list[float] = []
    decade = math.floor(math.log10(most)) if most > 0 else 0
    while most > 0 and len(steps) < _ROWS:
        steps += [float(f"{digit}e{decade}") for digit in (5, 2, 1) if digit * 10.0**decade < 0.9 * most]
        decade -= 1
    return steps[:_ROWS]


def _found(claim: Claim, attempt: Attempt, share: float) -> _Detectable:
    bound = attempt.bound
    assert bound.counts is not None
    own = (1 - bound.confidence) * share
    value = detectable(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own)
    if claim.delta > 0 and bound.value < claim.value / 2:
        # the event says little about the tails that δ depends on: use the yardstick too
        gaussian = detectable_gaussian(claim, sum(bound.counts.runs), own)
        if gaussian > value:
            return _Detectable(gaussian, "gaussian", attempt, own)
    return _Detectable(value, "event", attempt, own)
