"""How sure must runs be before a claim is called violated? The two-look rule.

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
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import msgspec
from scipy.special import ndtr, ndtri

from dpaudit.evidence.records import Bound, Counts, SecondLook, round_outward
from dpaudit.privacy import Claim
from dpaudit.stats.joint_region import lower_bound
from dpaudit.stats.methods import method_for, plain

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
        found = [self.error]
        while self.doubts and found[-1] / 2 >= self.false_alarm:
            found.append(found[-1] / 2)
        return tuple(found)

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
        found = float(ndtr(shift - critical[-1]))
        for level, low, high in zip(rule.levels, critical[:-1], critical[1:], strict=True):
            again = ndtr(math.sqrt(AGAIN) * shift + ndtri(rule.second(level)))
            found += float((ndtr(shift - low) - ndtr(shift - high)) * again)
        return found

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
    return method_for(plain(bound.method), runs / 2), runs


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
