"""What violation would the counts of one event have shown, and how many runs would show a smaller one?

"Had the loss been so large through the chosen event, this audit would have said so with probability 0.9." What a
frozen event keeps, whatever its loss, is its mass: a two-sided one the probability of a guess, a one-sided one its
probability on the other side. Where that is more than a half, as of a constant, there is little room above it: the
event and its complement are then taken for a guess in every run. Its counts are moved to their unlucky tenth along the
direction of the bound's own weights (a first-order reliability point); for a guess that is the exact binomial
quantile. An enumerated bound is held to be no better than the plain one, which is slightly too modest.

Nothing here bounds events that were not chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betainc, expit, ndtr, ndtri

from dpaudit.evidence.records import Attempt, Counts, Power, round_outward
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.stats.guessing import detectable_guess, guess_bound, guess_bound_given_sides
from dpaudit.stats.joint_region import joint_weight
from dpaudit.stats.odds_ratio import odds_bound
from dpaudit.stats.region_given_sides import region_given_sides
from dpaudit.stats.renyi import detectable_divergence
from dpaudit.stats.statement import (
    BOTH_SIDES,
    GUESS,
    MULTINOMIAL,
    ODDS,
    SWAPPED,
    Weight,
    bins_of,
    guesses_by_side,
    guesses_of,
    numbers_of,
    region_of,
)

Floats = np.ndarray[Any, np.dtype[np.float64]]

POWER = 0.9
_GUESSES = ("guess", GUESS)
_Z = 1.2815515655446004  # Φ⁻¹(0.9)
_MIRRORED = 0.8  # p + q, from which the complement of an event may tell about as much
_FEW = 400  # guesses, up to which the chance to show something visibly jumps from one number to the next
_MOST_RUNS = 1e15
_ROWS = 3  # of the table of smaller violations


def detectable(method: str, counts: Counts, *, claim: Claim, weight: Weight, error: float) -> float:
    """Return the least value of the claim's parameter that this frozen event would have shown to exceed the claim."""
    if method == "guess":
        return detectable_guess(sum(guesses_of(counts)), claim.value, error)
    if method == GUESS:
        return detectable_guess(guesses_by_side(counts), claim.value, error)
    if method in (MULTINOMIAL, SWAPPED):
        assert isinstance(weight, Sequence)
        return detectable_divergence(*bins_of(method, counts), claim=claim, weights=weight, error=error)
    return _least_shown(_Frozen.of(method, counts, claim, weight, error).margin, claim.value, 1e4, 1e-4)


def runs_to_show(method: str, counts: Counts, *, claim: Claim, weight: Weight, error: float, value: float) -> float:
    """Return the measuring runs, of both sides, in which this frozen event would show a loss of ``value``.

    To 1 % and from above; infinity where no number of runs would do.
    """
    gap, runs = value - claim.value, sum(counts.runs)
    if gap <= 0:
        return math.inf
    if method not in (MULTINOMIAL, SWAPPED):
        return _Frozen.of(method, counts, claim, weight, error).runs_to_show(value)
    assert isinstance(weight, Sequence)
    bins = bins_of(method, counts)

    def margin(ahead: float) -> float:
        more = [[round(count * ahead / runs) for count in side] for side in bins]
        return value - detectable_divergence(*more, claim=claim, weights=weight, error=error)

    return _least_runs(margin, gap, runs)


@dataclass(frozen=True, slots=True)
class _Frozen:
    """A frozen event as it was counted.

    Attributes:
        runs: as the method counts them: of the side that the event speaks for, and of the other; or all, twice.
        kept: what does not change with the loss: the probability of a guess, or of the event on the other side (where
            that is more than a half, what is kept is that event and complement are a guess in every run).
    """

    method: str
    claim: Claim
    weight: Weight
    error: float
    runs: tuple[int, int]
    kept: float
    counts: Counts

    @classmethod
    def of(cls, method: str, counts: Counts, claim: Claim, weight: Weight, error: float) -> _Frozen:
        if method in _GUESSES or method.startswith("two-sided"):
            runs = sum(counts.runs)
            return cls(method, claim, weight, error, (runs, runs), sum(guesses_of(counts)) / runs, counts)
        _, n, others, m = numbers_of(method, counts)
        return cls(method, claim, weight, error, (n, m), (others + 0.5) / (m + 1), counts)

    @property
    def two_sided(self) -> bool:
        return self.method in _GUESSES or self.method.startswith("two-sided")

    def rates(self, value: float) -> tuple[float, float]:
        """The probabilities that the bound is about, where the loss is ``value``."""
        if self.method in _GUESSES:
            right = self.kept * float(expit(value))
            return right, self.kept - right
        mass = self.kept if self.two_sided else 1.0
        if self.two_sided or self.kept > 0.5:
            p = _likelier(self.claim, value, lambda p: mass - p, mass)
            return p, mass - p
        return _likelier(self.claim, value, lambda p: np.full_like(p, self.kept), 1.0), self.kept

    def margin(self, value: float, times: float = 1.0) -> float:
        """By how much the unlucky tenth of an event of loss ``value``, in so many times the runs, exceeds the claim."""
        p, q = self.rates(value)
        n, m = (max(round(times * runs), 1) for runs in self.runs)
        if self.method == "guess":
            shown = _shown_by_guesses(round(n * self.kept), value, self.error)
        elif self.method == GUESS:
            made = guesses_by_side(self.counts)
            shown = _shown_by_guesses((round(times * made[0]), round(times * made[1])), value, self.error)
        elif self.method == BOTH_SIDES:
            assert isinstance(self.weight, float)
            shown = _shown_given_sides(p, q, times, self.counts, self.claim, self.weight, self.error)
        else:
            assert not isinstance(self.weight, Sequence)
            shown = _shown(self.method, p, q, n, m, self.claim, self.weight, self.error)
        return shown - self.claim.value

    def runs_to_show(self, value: float) -> float:
        """The measuring runs of both sides that would show a loss of ``value``."""
        if self.kept <= 0:
            return math.inf
        runs = self.runs[0] if self.two_sided else sum(self.runs)
        found = _least_runs(lambda ahead: self.margin(value, ahead / runs), value - self.claim.value, runs)
        if self.method in _GUESSES and found * self.kept < _FEW:
            # one guess more can make the chance smaller: from how many guesses on is it large enough?
            tried = range(math.ceil(found * self.kept), math.ceil(1.3 * found * self.kept) + 1)
            poor = [guesses for guesses in tried if self.margin(value, guesses / self.kept / runs) <= 0]
            found = max([found, *((guesses + 1) / self.kept for guesses in poor)])
        return found

    def spread(self, value: float) -> float:
        """The noise of the loss that is counted, where it is ``value`` (delta method)."""
        p, q = self.rates(value)
        if not (p > 0 and q > 0):
            return math.inf
        step, loss = 1e-5, self.claim.least
        slope_p = float(loss(p * (1 + step), q) - loss(p, q)) / (step * p)
        slope_q = float(loss(p, q * (1 - step)) - loss(p, q)) / (step * q)
        n, m = self.runs
        both = 2 * slope_p * slope_q * p * q / n if self.two_sided else 0.0
        return math.sqrt(slope_p**2 * p * (1 - p) / n + slope_q**2 * q * (1 - q) / m + both)


def _least_shown(margin: Callable[[float], float], claimed: float, most: float, accuracy: float) -> float:
    """Return the loss, to an accuracy and from above, where a rising margin turns positive; infinity beyond ``most``.

    The root of the chord is tried from both sides, and then the middle, so that few margins are computed.
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


def _least_runs(margin: Callable[[float], float], gap: float, start: float) -> float:
    """Return the runs, to 1 % and from above, where a margin turns positive that is about gap − c/√runs."""
    low, high, runs = 1.0, math.inf, float(start)
    while high > 1.01 * low:
        found = margin(runs)
        low, high = (low, runs) if found > 0 else (runs, high)
        if low > _MOST_RUNS:
            return math.inf
        root = runs * (min(max(gap - found, 0.03 * gap), 30 * gap) / gap) ** 2
        for tried in (1.004 * root, 0.996 * root) if found else ():  # 0 where nothing is shown at a claim of 0
            runs = tried
            if low < tried < high and not low / 1.001 < tried < low * 1.001:
                break
        else:
            runs = math.sqrt(low * high) if math.isfinite(high) else 2 * low
    return high


def _likelier(claim: Claim, value: float, other: Callable[[Floats], Floats], most: float) -> float:
    """Return the least p ≤ ``most`` at which an event (p, other(p)) has the loss ``value``."""
    low, high = 0.0, most
    for _ in range(6):
        tried = np.linspace(low, high, 257)[1:-1]
        enough = claim.least(tried, np.maximum(other(tried), 0.0)) >= value
        first = int(np.argmax(enough)) if enough.any() else len(tried)
        low, high = (tried[first - 1] if first else low), (tried[first] if first < len(tried) else high)
    return float(high)


def _shown_by_guesses(made: int | tuple[int, int], value: float, error: float) -> float:
    """Return the bound of so many guesses, of all or of each side, of loss ``value`` in their unlucky tenth."""
    chance, guesses = float(expit(value)), made if isinstance(made, int) else sum(made)
    middle = guesses * chance - _Z * math.sqrt(guesses * chance * (1 - chance))
    near = np.arange(max(math.floor(middle) - 3, 1), min(math.ceil(middle) + 4, guesses) + 1)
    often = near[betainc(near, guesses - near + 1, chance) >= POWER]  # P(Bin(n, p) ≥ k)
    if not len(often):
        return 0.0
    if isinstance(made, int):
        return float(guess_bound(often[-1], guesses - often[-1], error))
    return float(guess_bound_given_sides(often[-1], *made, error))


def _shown_given_sides(
    p: float, q: float, times: float, counts: Counts, claim: Claim, weight: float, error: float
) -> float:
    """Return the bound, in its unlucky tenth, of an event of both sides with so many times the runs.

    Right guesses, and wrong ones, are divided between the sides as they were counted, as far as a side has runs.
    """
    made = [max(round(times * runs), 1) for runs in counts.runs]
    total = sum(made)
    seen = (counts.toward0[0] + 0.5, counts.toward1[1] + 0.5), (counts.toward1[0] + 0.5, counts.toward0[1] + 0.5)
    right = total * p - _Z * weight * math.sqrt(max(total * p * (1 - p), 0.0))
    rest = total - right
    chance = min(q / max(1 - p, 1e-300), 1.0)
    wrong = rest * chance + _Z * math.sqrt((1 - weight * weight) * max(rest * chance * (1 - chance), 0.0))
    hits = _fitting([math.floor(right * own / sum(seen[0])) for own in seen[0]], made)
    left = [runs - own for runs, own in zip(made, hits, strict=True)]
    others = _fitting([math.ceil(wrong * own / sum(seen[1])) for own in seen[1]], left)
    sides = list(zip(hits, others, made, strict=True))
    return float(region_given_sides(sides[0], sides[1], weight=weight, error=error).least(claim.least))


def _fitting(wanted: Sequence[int], most: Sequence[int]) -> list[int]:
    """Return numbers of two sides where each has room for so many: what is too much for one goes to the other."""
    over = [max(own - room, 0) for own, room in zip(wanted, most, strict=True)]
    return [min(max(own + more, 0), room) for own, more, room in zip(wanted, reversed(over), most, strict=True)]


def _shown(method: str, p: float, q: float, n: int, m: int, claim: Claim, weight: float | None, error: float) -> float:
    """Return the bound of an event (p, q) in its unlucky tenth."""
    own = joint_weight(p, q, n, m) if weight is None else weight
    ways = [(own, math.sqrt(1 - own * own))]
    if not method.startswith("two-sided") and p + q > _MIRRORED:
        # the complement tells about as much, and the larger loss of the two counts: unlucky is what lowers both
        ways.append((math.sqrt(0.5), math.sqrt(0.5)))
    return min(_shown_along(way, method, p, q, n, m, claim, weight, error) for way in ways)


def _shown_along(
    way: tuple[float, float],
    method: str,
    p: float,
    q: float,
    n: int,
    m: int,
    claim: Claim,
    weight: float | None,
    error: float,
) -> float:
    hits = math.floor(n * p - _Z * way[0] * math.sqrt(max(n * p * (1 - p), 0.0)))
    if hits <= 0:
        return 0.0
    if method.startswith("two-sided"):  # the bound looks at the wrong guesses among the runs that are not right
        rest, chance = n - hits, min(q / max(1 - p, 1e-300), 1.0)
    else:
        rest, chance = m, q
    others = math.ceil(rest * chance + _Z * way[1] * math.sqrt(max(rest * chance * (1 - chance), 0.0)))
    numbers = hits, n, max(min(others, rest), 0), m
    if method == ODDS:
        return odds_bound(*numbers, error)
    assert weight is not None
    region = region_of(method.replace("enumerated ", ""), numbers, claim, weight, error)
    return float(region.least(claim.least))


# --- the yardstick for δ > 0 --------------------------------------------------------------------------------


def detectable_gaussian(claim: Claim, runs: int, error: float) -> float:
    """Return the least ε at the claim's δ that ``runs`` runs would show to exceed the claim on a Gaussian mechanism.

    For δ > 0 the loss lives in the tails, and a broad event says little about it: the Gaussian mechanism is
    the yardstick of what these runs can find at this δ. Its best one-sided event is used, in its unlucky tenth.
    """
    return _least_shown(partial(_gaussian_margin, claim, runs, error), claim.value, 200, 1e-3)


def runs_to_show_gaussian(claim: Claim, runs: int, error: float, value: float) -> float:
    """Return the measuring runs that would show a Gaussian mechanism of loss ``value``, as `runs_to_show` does."""
    if not value > claim.value:
        return math.inf
    margin = lambda ahead: _gaussian_margin(claim, round(ahead), error, value)  # noqa: E731
    return _least_runs(margin, value - claim.value, runs)


def _gaussian_margin(claim: Claim, runs: int, error: float, value: float) -> float:
    """By how much the best event's unlucky tenth exceeds the claim; the event is found by the normal approximation."""
    half, critical = runs // 2, _Z - float(ndtri(error))
    p, q, told, noise = _gaussian_events(claim, value)
    usable = (half * p >= 5) & (half * q >= 1) & (told > 0)
    if not usable.any():
        return -claim.value
    loss = np.log(np.where(usable, told, 1.0) / q) - critical * noise / math.sqrt(half)
    best = int(np.argmax(np.where(usable, loss, -math.inf)))
    own_p, own_q, slope = float(p[best]), float(q[best]), float(p[best] / told[best])
    weight = joint_weight(own_p, own_q, half, half, slope_p=slope)
    return _shown("joint", own_p, own_q, half, half, claim, weight, error) - claim.value


def _gaussian_runs(claim: Claim, error: float, value: float) -> float:
    """About how many runs show a Gaussian mechanism of loss ``value``, by the normal approximation: too few."""
    _, q, told, noise = _gaussian_events(claim, value)
    excess = np.log(np.maximum(told, 1e-300) / q) - claim.value
    shows = excess > 0
    if not shows.any():
        return math.inf
    return 2 * float(np.min(((_Z - float(ndtri(error))) * noise[shows] / excess[shows]) ** 2))


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
class Foreseen:
    """What an audit would have found with probability 0.9: from which loss on, and where it would have had to show.

    ``smaller`` says how many runs of a whole audit smaller violations would take.
    """

    value: float
    where: str
    smaller: tuple[Power, ...]

    @property
    def members(self) -> dict[str, Any]:
        """The same as members of evidence."""
        value = round_outward(self.value, "upper")
        return {"detectable": value, "detectable_on": self.where, "power": self.smaller}


def foresee(claim: Claim, attempts: Sequence[Attempt], learning: int, share: float = 1.0) -> Foreseen:
    """Return what these attempts, after so many learning runs, would have found.

    ``share`` is that of each attempt's error level at which one look finds as much as the rule by which a violation is
    called one (`looks.Rule.planned`). A violation may show on one pair alone: what is surely found is what the weakest
    pair would find, by the better of its events.
    """
    pairs = {attempt.pair for attempt in attempts}
    found = max(
        (
            min((_found(claim, each, share) for each in attempts if each.pair == pair), key=_Found.order)
            for pair in pairs
        ),
        key=_Found.order,
    )
    measuring = {each.pair: sum(each.bound.counts.runs) for each in attempts if each.bound.counts is not None}
    whole = (learning + sum(measuring.values())) / measuring[found.attempt.pair]  # a pair's measuring runs make so many
    rows = tuple(
        Power(round_outward(value, "upper"), int(round_outward(whole * runs, "upper", 2)))
        for value, runs in found.smaller(claim)
        if whole * runs < _MOST_RUNS
    )
    return Foreseen(found.value, found.where, rows)


@dataclass(frozen=True, slots=True)
class _Found:
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
        """The gap to the claim that shows falls like noise/√runs: a fraction of what it takes to search for it."""
        bound = self.attempt.bound
        assert bound.counts is not None
        runs, own = sum(bound.counts.runs), self.own
        if self.where == "gaussian":
            return runs * _gaussian_runs(claim, own, value) / _gaussian_runs(claim, own, self.value)
        noisier = 1.0
        if bound.method not in (MULTINOMIAL, SWAPPED):
            frozen = _Frozen.of(bound.method, bound.counts, claim, bound.weight, own)
            if not frozen.two_sided and sum(frozen.rates(self.value)) > _MIRRORED:
                return self._searched(claim, value)  # which of event and complement tells more changes with the runs
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
    found: list[float] = []
    decade = math.floor(math.log10(most)) if most > 0 else 0
    while most > 0 and len(found) < _ROWS:
        found += [float(f"{digit}e{decade}") for digit in (5, 2, 1) if digit * 10.0**decade < 0.9 * most]
        decade -= 1
    return found[:_ROWS]


def _found(claim: Claim, attempt: Attempt, share: float) -> _Found:
    bound = attempt.bound
    assert bound.counts is not None
    own = (1 - bound.confidence) * share
    value = detectable(bound.method, bound.counts, claim=claim, weight=bound.weight, error=own)
    if claim.delta > 0 and bound.value < claim.value / 2:
        # the event says little about the tails in which δ lives: ask the yardstick too
        gaussian = detectable_gaussian(claim, sum(bound.counts.runs), own)
        if gaussian > value:
            return _Found(gaussian, "gaussian", attempt, own)
    return _Found(value, "event", attempt, own)
