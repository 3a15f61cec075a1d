"""What bound does a method compute from the counts of one frozen event, and what violation would they have shown?

`EventBound` is the interface of a method (`dpaudit.stats.methods`): the lower bound and, if the method has one, the
upper end of the event's loss. What the event would have shown follows from these.

The statement is: "Had the loss been so large through the chosen event, this audit would have shown a violation with
probability 0.9." The mass of a frozen event is assumed to stay the same whatever its loss: for a two-sided event the
probability of a guess, for a one-sided one its probability on the other side. If that is more than a half, as for a
constant, there is little room above it; the event and its complement are then taken as a guess in every run. The counts
are moved to their unlucky tenth along the direction of the bound's own weights (a first-order reliability point); for
guesses this is the exact binomial quantile. An enumerated bound is taken to be no better than the plain one, which is
slightly pessimistic.

Nothing here bounds events that were not chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim

Weight = float | Sequence[float] | None
Numbers = tuple[int, int, int, int]
"""Hits and runs of the side on which an event is likelier, then of the other; if two-sided: right, all, wrong, all."""
Rates = tuple[float, float, float, float]
"""Rates of right and of wrong guesses on side 0, and then on side 1."""

UNLUCKY = 1.2815515655446004  # Φ⁻¹(0.9)
POWER = 0.9
MIRRORED = 0.8  # p + q above which the complement of an event may show about as much
MOST_RUNS = 1e15  # no larger number of runs is named
_FEW = 400  # guesses, up to which the power visibly jumps from one number of guesses to the next

# --- how counts read ----------------------------------------------------------------------------------------


def guesses_of(counts: Counts) -> tuple[int, int]:
    """Right and wrong guesses: of the side that produced the output, and of the other side."""
    return counts.toward0[0] + counts.toward1[1], counts.toward0[1] + counts.toward1[0]


def guesses_by_side(counts: Counts) -> tuple[int, int]:
    """Guesses on side 0 and on side 1, right or wrong."""
    return counts.toward0[0] + counts.toward1[0], counts.toward0[1] + counts.toward1[1]


def of_one_side(counts: Counts) -> Numbers:
    """Hits and runs of the side that the event points to, then of the other side."""
    if any(counts.toward0):
        return counts.toward0[0], counts.runs[0], counts.toward0[1], counts.runs[1]
    return counts.toward1[1], counts.runs[1], counts.toward1[0], counts.runs[0]


def of_both_sides(counts: Counts) -> Numbers:
    """Right guesses, all runs, wrong guesses, all runs."""
    (right, wrong), runs = guesses_of(counts), sum(counts.runs)
    return right, runs, wrong, runs


def single(weight: Weight) -> float:
    """Return the single weight of a joint bound.

    Raises:
        ValueError: if there is none, or more than one.
    """
    if not isinstance(weight, float | int):
        raise ValueError("a joint bound needs its weight")
    return weight


def counts_at(rates: Rates, runs: tuple[float, float]) -> Counts:
    """Return the expected counts, rounded, in at least one run a side."""
    n, m = (max(round(each), 1) for each in runs)
    right0, wrong0 = _rounded(rates[:2], n)
    right1, wrong1 = _rounded(rates[2:], m)
    return Counts((n, m), toward0=(right0, wrong1), toward1=(wrong0, right1))


def _rounded(rates: tuple[float, float], runs: int) -> tuple[int, int]:
    right = min(round(rates[0] * runs), runs)
    return right, min(round(rates[1] * runs), runs - right)


# --- a method, and what an event would have shown by it -----------------------------------------------------


class EventBound:
    """How the counts of a frozen event become bounds. A new method implements `lower`, and more if it can.

    Overriding methods take the arguments that are described here.
    """

    # whether right and wrong guesses are counted among all runs, rather than hits on each side
    two_sided: ClassVar[bool] = False
    # whether only the number of right guesses counts, given the number of all guesses
    by_guesses: ClassVar[bool] = False

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of the claim's parameter.

        Args:
            counts: of the event in measuring runs.
            claim: the notion to bound, with its δ or order; its own value is not used.
            weight: w₁ of a joint bound, all weights of a multinomial one, None for others; fixed before measuring.
            error: 1 − confidence.

        Returns:
            The bound; 0.0 if nothing is shown.
        """
        raise NotImplementedError

    def upper(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return an upper bound of the event's own loss; infinity if the counts leave any loss possible.

        Args:
            counts, claim, weight, error: as for `lower`.

        Returns:
            The bound, in the unit of the claim's parameter.

        Raises:
            ValueError: if this method has no upper bound.
        """
        raise ValueError(f"the loss of an event has no upper end by {type(self).__name__}")

    def expected(self, rates: Rates, runs: tuple[float, float], claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound expected from a number of runs.

        Args:
            rates: of right and wrong guesses on side 0, and then on side 1.
            runs: of side 0 and side 1.
            claim, weight, error: as for `lower`.

        Returns:
            The bound at the rounded expected counts.
        """
        return self.lower(counts_at(rates, runs), claim, weight, error)

    def frozen(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> CountedEvent | None:
        """Return the event as it was counted; None if it is more than one event.

        Args:
            counts, claim, weight, error: as for `lower`.

        Returns:
            The event with its counts.
        """
        if self.two_sided:
            runs = sum(counts.runs)
            return CountedEvent(self, claim, weight, error, (runs, runs), sum(guesses_of(counts)) / runs, counts)
        _, n, others, m = of_one_side(counts)
        return CountedEvent(self, claim, weight, error, (n, m), (others + 0.5) / (m + 1), counts)

    def shown(self, event: CountedEvent, value: float, times: float) -> float:
        """Return the bound in the unlucky tenth of the counts, if the event had a given loss.

        Args:
            event: as it was counted.
            value: its loss, in the unit of the claim's parameter.
            times: the number of runs, as a multiple of those that were counted.

        Returns:
            The lower bound.
        """
        p, q = event.rates(value)
        n, m = (max(round(times * runs), 1) for runs in event.runs)

        def bound(numbers: Numbers) -> float:
            return self.lower(_counts_of(numbers, self.two_sided), event.claim, event.weight, event.error)

        weight = event.weight if isinstance(event.weight, float) else math.sqrt(0.5)
        return unlucky_bound(bound, p, q, n, m, weight, two_sided=self.two_sided)

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest value of the claim's parameter that the event would have shown to exceed the claim.

        Args:
            counts, weight, error: as for `lower`.
            claim: what is to be exceeded.

        Returns:
            The value that is shown with probability 0.9, rounded up to 4 digits; infinity if there is none.
        """
        event = self.frozen(counts, claim, weight, error)
        assert event is not None
        return least_shown(event.margin, claim.value, 1e4, 1e-4)

    def runs_to_show(self, counts: Counts, claim: Claim, weight: Weight, error: float, value: float) -> float:
        """Return the measuring runs in which the event would show a given loss with probability 0.9.

        Args:
            counts, weight, error: as for `lower`.
            claim: what is to be exceeded.
            value: the loss, in the unit of the claim's parameter.

        Returns:
            The runs of both sides together; infinity if no number suffices.
        """
        event = self.frozen(counts, claim, weight, error)
        assert event is not None
        return event.runs_to_show(value)


def _counts_of(numbers: Numbers, two_sided: bool) -> Counts:
    """Counts from which the method reads these numbers."""
    hits, runs, others, other_runs = numbers
    if two_sided:
        return Counts((runs, 0), toward0=(hits, 0), toward1=(others, 0))
    return Counts((runs, other_runs), toward0=(hits, others), toward1=(0, 0))


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """A frozen event with its counts."""

    method: EventBound  # computes its bound
    # claim, weight, error: as for `EventBound.lower`
    claim: Claim
    weight: Weight
    error: float
    # as the method counts them: of the side that the event points to, and of the other; or all, twice
    runs: tuple[int, int]
    # what does not change with the loss: the probability of a guess, or of the event on the other side (if that is more
    # than a half, the event and its complement are a guess in every run instead)
    kept: float
    counts: Counts  # as measured

    @property
    def two_sided(self) -> bool:
        """Whether right and wrong guesses are counted among all runs."""
        return self.method.two_sided

    def rates(self, value: float) -> tuple[float, float]:
        """The probabilities that the bound is about, if the loss is ``value``."""
        if self.method.by_guesses:
            right = self.kept * float(expit(value))
            return right, self.kept - right
        mass = self.kept if self.two_sided else 1.0
        if self.two_sided or self.kept > 0.5:
            p = _likelier(self.claim, value, lambda p: mass - p, mass)
            return p, mass - p
        return _likelier(self.claim, value, lambda p: np.full_like(p, self.kept), 1.0), self.kept

    def margin(self, value: float, times: float = 1.0) -> float:
        """By how much the unlucky tenth of the bound exceeds the claim, at loss ``value`` and ``times`` the runs."""
        return self.method.shown(self, value, times) - self.claim.value

    def runs_to_show(self, value: float) -> float:
        """The measuring runs of both sides that would show a loss of ``value``."""
        if self.kept <= 0:
            return math.inf
        runs = self.runs[0] if self.two_sided else sum(self.runs)
        needed = least_runs(lambda ahead: self.margin(value, ahead / runs), value - self.claim.value, runs)
        if self.method.by_guesses and needed * self.kept < _FEW:
            # one more guess can lower the power: find the number from which on it is always large enough
            tried = range(math.ceil(needed * self.kept), math.ceil(1.3 * needed * self.kept) + 1)
            poor = [guesses for guesses in tried if self.margin(value, guesses / self.kept / runs) <= 0]
            needed = max([needed, *((guesses + 1) / self.kept for guesses in poor)])
        return needed

    def spread(self, value: float) -> float:
        """The standard deviation of the event's estimated loss at ``value`` (delta method)."""
        p, q = self.rates(value)
        if not (p > 0 and q > 0):
            return math.inf
        step, loss = 1e-5, self.claim.least
        slope_p = float(loss(p * (1 + step), q) - loss(p, q)) / (step * p)
        slope_q = float(loss(p, q * (1 - step)) - loss(p, q)) / (step * q)
        n, m = self.runs
        both = 2 * slope_p * slope_q * p * q / n if self.two_sided else 0.0
        return math.sqrt(slope_p**2 * p * (1 - p) / n + slope_q**2 * q * (1 - q) / m + both)


def unlucky_bound(
    bound: Callable[[Numbers], float], p: float, q: float, n: int, m: int, weight: float, *, two_sided: bool = False
) -> float:
    """Return the bound of an event (p, q) in the unlucky tenth of its counts.

    Args:
        bound: computes the bound from the four numbers of the event.
        p, q: the probabilities that the bound is about.
        n, m: the runs that they are counted in.
        weight: w₁, which gives the direction in which the counts are unlucky.
        two_sided: whether q is the probability of wrong guesses among the runs that are not right.

    Returns:
        The lower bound.
    """
    ways = [(weight, math.sqrt(1 - weight * weight))]
    if not two_sided and p + q > MIRRORED:
        # the complement shows about as much, and the larger of the two losses counts: unlucky is what lowers both
        ways.append((math.sqrt(0.5), math.sqrt(0.5)))

    def along(way: tuple[float, float]) -> float:
        hits = math.floor(n * p - UNLUCKY * way[0] * math.sqrt(max(n * p * (1 - p), 0.0)))
        if hits <= 0:
            return 0.0
        rest, chance = (n - hits, min(q / max(1 - p, 1e-300), 1.0)) if two_sided else (m, q)
        others = math.ceil(rest * chance + UNLUCKY * way[1] * math.sqrt(max(rest * chance * (1 - chance), 0.0)))
        return bound((hits, n, max(min(others, rest), 0), m))

    return min(map(along, ways))


def least_shown(margin: Callable[[float], float], claimed: float, most: float, accuracy: float) -> float:
    """Return the loss at which an increasing margin turns positive.

    The root of the chord is tried from both sides, and then the middle, so that few margins are computed.

    Args:
        margin: by how much the bound at a loss exceeds the claim.
        claimed: the smallest loss considered.
        most: the largest loss considered.
        accuracy: relative.

    Returns:
        The loss, rounded up to the accuracy; infinity beyond ``most``.
    """
    low, high = claimed, max(2 * claimed, 1.0)
    at_low, at_high = margin(low), margin(high)
    while at_high <= 0:
        low, high, at_low = high, 2 * high, at_high
        if high > most:
            return math.inf
        at_high = margin(high)
    while high - low > accuracy * high:
        root = low + (high - low) * at_low / (at_low - at_high)
        for tried in (root - accuracy * high / 3, root + accuracy * high / 3, None):
            loss = (low + high) / 2 if tried is None else tried
            if low < loss < high:
                value = margin(loss)
                low, high, at_low, at_high = (low, loss, at_low, value) if value > 0 else (loss, high, value, at_high)
    return high


def least_runs(margin: Callable[[float], float], gap: float, start: float) -> float:
    """Return the number of runs at which a margin turns positive that is approximately gap − c/√runs.

    Args:
        margin: by how much the bound from so many runs exceeds the claim.
        gap: its limit for ever more runs.
        start: a first guess.

    Returns:
        The runs, rounded up to 1 %; infinity if no number up to `MOST_RUNS` suffices.
    """
    low, high, runs = 1.0, math.inf, float(start)
    while high > 1.01 * low:
        at_start = margin(runs)
        low, high = (low, runs) if at_start > 0 else (runs, high)
        if low > MOST_RUNS:
            return math.inf
        root = runs * (min(max(gap - at_start, 0.03 * gap), 30 * gap) / gap) ** 2
        for tried in (1.004 * root, 0.996 * root) if at_start else ():  # found is 0 if nothing is shown at a claim of 0
            runs = tried
            if low < tried < high and not low / 1.001 < tried < low * 1.001:
                break
        else:
            runs = math.sqrt(low * high) if math.isfinite(high) else 2 * low
    return high


def _likelier(claim: Claim, value: float, other: Callable[[Floats], Floats], most: float) -> float:
    """Return the smallest p ≤ ``most`` at which an event (p, other(p)) has the loss ``value``."""
    low, high = 0.0, most
    for _ in range(12):
        tried = np.linspace(low, high, 17)[1:-1]
        enough = claim.least(tried, np.maximum(other(tried), 0.0)) >= value
        first = int(np.argmax(enough)) if enough.any() else len(tried)
        low, high = (tried[first - 1] if first else low), (tried[first] if first < len(tried) else high)
    return float(high)
