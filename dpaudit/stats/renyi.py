"""How large must a Rényi divergence be, or a whole privacy curve, given how several bins or events fill?

One event shows little of a divergence that is spread over all outputs. For any positive function h of the output,

    D_α(P‖Q) ≥ α/(α − 1)·log E_P[h^(α−1)] − log E_Q[h^α],        D_1(P‖Q) ≥ E_P[log h] − log E_Q[h]

(Hölder's inequality; Donsker & Varadhan 1983; Birrell, Dupuis, Katsoulakis, Rey-Bellet & Wang 2021, Theorem 3.1), with
equality at h = dP/dQ. The right side increases in the first mean and decreases in the second, so certified bounds of
two means give one of the divergence, whatever h is. D_1 is the smallest D_α, and it stands for the limit α → 1: ρ ≥
D_α/α for every α > 1, and the limit of D_α/α is D_1.

The bins are ordered, the one that points most to P first. Of n runs N₁ fall into the first, N₂ of the others into the
second, and so on: independent binomials, given the earlier ones. Each has a p-value for its probability βᵢ, too small
on the side of P and too large on that of Q. As in `joint_region`, their zᵢ are added with weights, ∑wᵢ² = 1, that were
fixed beforehand (Stouffer): ∑wᵢzᵢ ≤ z(1 − error') is the region, cut by zᵢ ≤ κ (Berger & Boos 1994). zᵢ below −κ count
as −κ, which errs with probability Φ(−κ) each and keeps an empty bin from deciding everything. The least favourable
point of the region is found by dynamic programming over how much of the sum each bin uses up, in whole steps; every
step is rounded against the bound, so the grid is rigorous. The region holds for all h and α at once: both may depend on
the counts.

A region of (p, q) bounds every point of the curve, whatever its event was chosen for (Balle, Barthe & Gaboardi 2018,
Theorem 1; Dong, Roth & Su 2022, Definition 2.1): with its confidence

    δ(ε) ≥ min_j (p_j − e^ε·q_j)  for every ε,      μ ≥ min_j (Φ⁻¹(p_j) − Φ⁻¹(q_j)),

and an attacker who says "side 0" when the event occurs has false positive rate q and power p, so the chords from (0, 0)
to (q, p) to (1, 1) are below the power that the mechanism leaves to attackers. A mechanism satisfies a claim in both
orders of the pair: the complement of the event gives the mirrored point (1 − p, 1 − q). The regions hold simultaneously
at the sum of their error levels, and at every point of the curve the best of them is used.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from dpaudit.arrays import Floats, Integers
from dpaudit.evidence.records import Bound, Counts
from dpaudit.privacy import Claim, GaussianDP, RenyiDP, claims
from dpaudit.stats.event_bound import UNLUCKY, CountedEvent, EventBound, Weight, least_runs
from dpaudit.stats.joint_region import ConfidenceRegion, probability_at_least, probability_at_most, region_from

# --- How large must a Rényi divergence be, given how the runs of both sides fill several bins? -----------

# chosen by tightness and time; the bound is valid for any of these
ORDERS = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 64.0, 128.0)
_CUT_SHARE = 1 / 25  # of the error level, for all cuts together
_COARSE, _FINE = 0.02, 0.005  # steps of the sum: the coarse one finds the order, the fine one gives the bound
_LEAST_WEIGHT = 0.02
_FARTHEST, _HALVINGS = 16.0, 9  # range of t, and bisection steps, in the search for a detectable value


def orders_of(claim: Claim) -> tuple[float, ...]:
    """Return orders α whose divergence bounds the claim's parameter; 1 stands for the limit."""
    if not claim.is_divergence:
        raise ValueError(f"a multinomial bound is for zCDP and Rényi claims, not for {claim}")
    if isinstance(claim, RenyiDP):  # a divergence increases in its order (van Erven & Harremoës 2014, Theorem 3)
        return (*(order for order in ORDERS if order < claim.order), claim.order)
    return ORDERS


def value_of(claim: Claim, order: float, divergence: ArrayLike) -> Floats:
    """Return the bound of the claim's parameter that a divergence gives: D_α/α for ρ, D_α for Rényi's ε.

    Args:
        claim: a zCDP or Rényi claim.
        order: α.
        divergence: D_α, of any shape.

    Returns:
        The bounds, in the same shape.
    """
    return np.asarray(divergence) / (1.0 if isinstance(claim, RenyiDP) else order)


def variational(order: float, log_h: ArrayLike, p: ArrayLike, q: ArrayLike) -> float:
    """Return the right side of the module's inequality (Birrell et al. 2021, Theorem 3.1).

    Args:
        order: α, at least 1.
        log_h: (bins,) logarithm of h.
        p, q: (bins,) probabilities of the bins.

    Returns:
        A lower bound of D_α in nats.
    """
    first, second = _functions(order, np.asarray(log_h, dtype=np.float64))
    return float(_joined(order, np.dot(first, p), np.dot(second, q)))


def variational_noise(order: float, log_h: ArrayLike, p: ArrayLike, q: ArrayLike, n: float, m: float) -> float:
    """Return the standard deviation of `variational` if p and q are estimated from runs (delta method).

    Args:
        order, log_h, p, q: as for `variational`.
        n, m: runs that estimate p and q.

    Returns:
        The standard deviation in nats.
    """
    first, second = _functions(order, np.asarray(log_h, dtype=np.float64))
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    along_p, along_q = _slopes(order, first, second, p, q)
    return math.sqrt(np.dot(p, (along_p - np.dot(p, along_p)) ** 2) / n + np.dot(q, along_q**2) / m)


def multinomial_weights(
    p: Sequence[float] | Floats, q: Sequence[float] | Floats, n: float, m: float, order: float
) -> tuple[float, ...]:
    """Return the weights of both sides' bins except the last: each one's share of the noise, as learned.

    Poor weights cost tightness, never validity.

    Args:
        p, q: (bins,) probabilities as learned, all positive, with the bin that points most to the side of p first.
        n, m: measuring runs of the two sides.
        order: the α at which the bound will probably be best.

    Returns:
        2·(bins − 1) weights whose squares add up to 1.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    slopes = _slopes(order, *_functions(order, _falling(np.log(p / q), p + q)), p, q)
    weights = np.concatenate([_stick_noise(p, slopes[0], n), _stick_noise(q, slopes[1], m)])
    weights = np.maximum(weights / max(float(np.linalg.norm(weights)), 1e-300), _LEAST_WEIGHT)
    return tuple(float(weight) for weight in weights / np.linalg.norm(weights))


def multinomial_bound(
    bins_p: Sequence[int], bins_q: Sequence[int], *, claim: Claim, weights: Sequence[float], error: float
) -> float:
    """Return the lower bound of the claim's parameter at confidence 1 − ``error``; 0.0 if nothing is shown.

    Args:
        bins_p, bins_q: (bins,) runs of each side in every bin, with the bin that points most to the side of P first.
        claim: a zCDP or Rényi claim; its own value is not used.
        weights: (2·(bins − 1),) of the bins of P and then of Q, without the last of each; fixed before measuring; only
            their ratios matter.
        error: 1 − confidence.

    Returns:
        ρ, or ε at the claim's order, in nats.

    Raises:
        ValueError: for other claims, or if bins and weights do not match.
    """
    orders = orders_of(claim)
    sides = np.asarray(bins_p, dtype=np.int64), np.asarray(bins_q, dtype=np.int64)
    if sides[0].shape != sides[1].shape or sides[0].ndim != 1 or len(weights) != 2 * (len(sides[0]) - 1):
        raise ValueError(f"{len(weights)} weights do not fit bins of shapes {sides[0].shape} and {sides[1].shape}")
    if len(weights) == 0 or not all(0 < weight < math.inf for weight in weights):
        raise ValueError("there must be at least two bins, and positive weights for them")
    region = _ChancesLeft(*sides, np.asarray(weights, dtype=np.float64), error)
    coarse, order = max((float(value_of(claim, order, region.divergence(order, _COARSE))), order) for order in orders)
    return max(0.0, coarse, float(value_of(claim, order, region.divergence(order, _FINE))))


def detectable_divergence(
    bins_p: Sequence[int], bins_q: Sequence[int], *, claim: Claim, weights: Sequence[float], error: float
) -> float:
    """Return the smallest value of the claim's parameter that these bins would have shown to exceed the claim.

    With probability 0.9, if the sides filled them like p ∝ √(ab)·(a/b)^t and q ∝ √(ab)·(b/a)^t, where a and b are the
    observed frequencies: as observed at t = 1/2, and closer or farther apart for other t. The counts are moved to their
    unlucky tenth (a first-order reliability point).

    Args:
        bins_p, bins_q, weights, error: as for `multinomial_bound`.
        claim: what is to be exceeded.

    Returns:
        The value; infinity if no such t would be shown.
    """
    n, m = sum(bins_p), sum(bins_q)
    logs = [np.log((np.asarray(bins) + 0.5) / (sum(bins) + 0.5 * len(bins))) for bins in (bins_p, bins_q)]
    middle, apart = (logs[0] + logs[1]) / 2, _falling(logs[0] - logs[1], np.asarray(bins_p) + np.asarray(bins_q) + 1.0)

    def shown(t: float) -> tuple[float, float]:
        """The value that bins so far apart have, and the bound that they give."""
        p, q = (np.exp(middle + sign * t * apart) for sign in (1, -1))
        p, q = p / p.sum(), q / q.sum()
        divergences = ((variational(order, 2 * t * apart, p, q), order) for order in orders_of(claim))
        value, order = max((float(value_of(claim, order, divergence)), order) for divergence, order in divergences)
        slopes = _slopes(order, *_functions(order, 2 * t * apart), p, q)
        noise = max(variational_noise(order, 2 * t * apart, p, q, n, m), 1e-300)
        unlucky_p = p * (1 - UNLUCKY * (slopes[0] - np.dot(p, slopes[0])) / (n * noise))
        unlucky_q = q * (1 + UNLUCKY * slopes[1] / (m * noise))
        bins = (np.floor(np.maximum(side, 0)).astype(np.int64) for side in (n * unlucky_p, m * unlucky_q))
        region = _ChancesLeft(next(bins), next(bins), np.asarray(weights, dtype=np.float64), error)
        return value, float(value_of(claim, order, region.divergence(order, _COARSE)))

    low, high = 0.0, 0.5
    while shown(high)[1] <= claim.value:
        low, high = high, 2 * high
        if high > _FARTHEST:
            return math.inf
    for _ in range(_HALVINGS):
        t = (low + high) / 2
        low, high = (low, t) if shown(t)[1] > claim.value else (t, high)
    return shown(high)[0]


class _ChancesLeft:
    """The bin probabilities that the counts leave possible, and the smallest divergence over them."""

    def __init__(self, bins_p: Integers, bins_q: Integers, weights: Floats, error: float) -> None:
        most = len(bins_p) - 1
        weights = weights / (float(np.linalg.norm(weights)) * (1 + 1e-12))  # ∑wᵢ² at most 1, whatever is rounded
        gamma = error * _CUT_SHARE / (4 * most)
        self.cut = -float(ndtri(gamma))
        self.critical = -float(ndtri(error * (1 - _CUT_SHARE)))
        self.weights = weights[:most], weights[most:]
        self.hits = bins_p[:-1], bins_q[:-1]
        self.left = tuple(np.cumsum(bins[::-1])[::-1][:-1] for bins in (bins_p, bins_q))
        self.runs = int(bins_p.sum()), int(bins_q.sum())
        # at order 1 the ratio of the counts is best, above it the least favourable one; any h would be valid
        self.log_h = self._ratio(0.0), self._ratio(self.critical)

    def _chances(self, side: int, bin_: int, z: ArrayLike) -> Floats:
        """The conditional probability of a bin, given no earlier one, at which its statistic is z; decreasing for P."""
        bound = probability_at_most if side else probability_at_least
        return bound(self.hits[side][bin_], self.left[side][bin_], ndtr(-np.asarray(z, dtype=np.float64)))

    def _ratio(self, far: float) -> Floats:
        """log h: the decreasing ratio of the bins' probabilities, ``far`` into the region along its weights."""
        logs = []
        for side, runs in enumerate(self.runs):
            sticks = [float(self._chances(side, i, far * w)) for i, w in enumerate(self.weights[side])]
            rest = np.concatenate([[1.0], np.cumprod(1 - np.array(sticks))])
            logs.append(np.log(np.maximum(rest * np.array([*sticks, 1.0]), 0.5 / (runs + 1))))
        return _falling(logs[0] - logs[1], np.exp(logs[0]) + np.exp(logs[1]))

    def divergence(self, order: float, step: float) -> float:
        """Return the minimum of the variational form over the region; −∞ if it says nothing."""
        first, second = _functions(order, self.log_h[order > 1])
        # every statistic is at most κ, which bounds their sum
        reach = max(float(w.sum()) for w in self.weights) * self.cut
        most = math.ceil(reach / step) + 2 * len(first)
        means = [self._means(side, scores, step, most) for side, scores in ((0, first), (1, second))]
        # P uses up more than g − 1 steps and at most g, so less than the rest after g − 1 steps is left for Q
        used = np.arange(-most, most + 1)
        rest = math.ceil(self.critical / step) - used + 1
        possible = rest >= -most
        at = np.minimum(rest[possible], most) + most
        first_mean, second_mean = means[0][possible], means[1][at]
        both = np.isfinite(first_mean) & np.isfinite(second_mean)
        return float(np.min(_joined(order, first_mean[both], second_mean[both])))

    def _means(self, side: int, scores: Floats, step: float, most: int) -> Floats:
        """Return the smallest mean of decreasing scores (for Q the largest), for each number of steps used up.

        Shape (2·most + 1,), for −most to most steps; ∞, for Q −∞, if that is too few for any point of the region.
        """
        nothing, better = (-np.inf, np.fmax) if side else (np.inf, np.fmin)
        width = 2 * most + 1
        inner = np.full(width, scores[-1])
        inner[:most] = nothing
        for i in range(len(scores) - 2, -1, -1):
            weight = self.weights[side][i]
            cells = np.arange(math.floor(-self.cut * weight / step), math.ceil(self.cut * weight / step))
            chances = self._chances(side, i, np.minimum((cells + 1) * step / weight, self.cut))
            padded = np.concatenate([np.full(cells[-1] + 1, nothing), inner, np.full(-cells[0], inner[-1])])
            means = np.full(width, nothing)
            # the mean increases with the probability of the higher score, so one end of the cell is least favourable
            for cell, chance in zip(cells, chances, strict=True):
                start = cells[-1] + 1 - cell
                with np.errstate(invalid="ignore"):  # 0·∞ is NaN where no point is possible, and fmin skips it
                    better(means, chance * scores[i] + (1 - chance) * padded[start : start + width], out=means)
            inner = means
        return inner


def _functions(order: float, log_h: Floats) -> tuple[Floats, Floats]:
    """The functions of the bins whose means under P and under Q are bounded; h is scaled to at most 1."""
    log_h = log_h - log_h.max()
    return (log_h if order == 1 else np.exp((order - 1) * log_h)), np.exp(order * log_h)


def _joined(order: float, first: ArrayLike, second: ArrayLike) -> Floats:
    """The variational form from its two means."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    with np.errstate(divide="ignore"):
        known = first if order == 1 else order / (order - 1) * np.log(np.maximum(first, 0.0))
        return np.asarray(known - np.log(second))


def _slopes(order: float, first: Floats, second: Floats, p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """How fast the variational form rises with the probability of each bin under P, and falls under Q."""
    tiny = 1e-300
    along_p = first if order == 1 else order / (order - 1) * first / max(float(np.dot(first, p)), tiny)
    along_q = second / max(float(np.dot(second, q)), tiny)
    return along_p, along_q - 1


def _stick_noise(p: Floats, slope: Floats, runs: float) -> Floats:
    """The noise that each bin's conditional probability contributes to ∑ slope·p; all bins but the last."""
    left = np.maximum(np.cumsum(p[::-1])[::-1], 1e-300)
    later = np.cumsum((slope * p)[::-1])[::-1]
    chance = np.clip(p[:-1] / left[:-1], 1e-12, 1 - 1e-12)
    return np.asarray(
        left[:-1] * (slope[:-1] - later[1:] / left[1:]) * np.sqrt(chance * (1 - chance) / (runs * left[:-1]))
    )


def _falling(values: Floats, weights: Floats) -> Floats:
    """The decreasing sequence nearest to ``values`` (pool adjacent violators)."""
    from scipy.optimize import isotonic_regression  # importing takes a tenth of a second; only these claims need it

    return np.asarray(isotonic_regression(values, weights=weights, increasing=False).x, dtype=np.float64)


# --- the methods --------------------------------------------------------------------------------------------


class Multinomial(EventBound):
    """By the counts of many bins: the divergence of side 0 from side 1."""

    swapped: ClassVar[bool] = False

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the lower bound of ρ, or of ε at the claim's order; arguments as for `EventBound.lower`."""
        return multinomial_bound(*self._bins(counts), claim=claim, weights=_all(weight), error=error)

    def frozen(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> CountedEvent | None:
        """Return None: the bins are many events."""
        return None

    def detectable(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest value of the claim's parameter that these bins would have shown to exceed the claim."""
        return detectable_divergence(*self._bins(counts), claim=claim, weights=_all(weight), error=error)

    def runs_to_show(self, counts: Counts, claim: Claim, weight: Weight, error: float, value: float) -> float:
        """Return the measuring runs, of both sides, in which these bins would show a loss of ``value``."""
        runs, bins, weights = sum(counts.runs), self._bins(counts), _all(weight)

        def margin(ahead: float) -> float:
            more = [[round(count * ahead / runs) for count in side] for side in bins]
            return value - detectable_divergence(*more, claim=claim, weights=weights, error=error)

        return least_runs(margin, value - claim.value, runs)

    def _bins(self, counts: Counts) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The bins of the side whose divergence is bounded, and of the other; most typical of the first side first."""
        if counts.bins is None:
            raise ValueError("a multinomial bound needs the counts of its bins")
        side0, side1 = counts.bins
        return (side1[::-1], side0[::-1]) if self.swapped else (side0, side1)


class SwappedMultinomial(Multinomial):
    """The same for the divergence of side 1 from side 0."""

    swapped = True


def _all(weight: Weight) -> Sequence[float]:
    if weight is None or isinstance(weight, float | int):
        raise ValueError("a multinomial bound needs the weights of its bins")
    return weight


# --- How much of the whole privacy curve do the counts of a few events prove, all of it at once? ---------

_SLACK = 1e-15  # larger than the rounding error of a difference of probabilities


class _About(Claim):
    """The quantity that a statement about the curve bounds. Nobody claims it, and only `least` has a meaning."""

    __slots__ = ()

    @property
    def words(self) -> claims.Words:
        """Not available."""
        raise NotImplementedError(f"{self} is no claim")

    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """Not available."""
        raise NotImplementedError(f"{self} is no claim")

    def profile(self, epsilon: ArrayLike) -> Floats:
        """Not available."""
        raise NotImplementedError(f"{self} is no claim")

    def group(self, size: int) -> Claim:
        """Not available."""
        raise NotImplementedError(f"{self} is no claim")


@dataclass(frozen=True, slots=True)
class DeltaAt(_About):
    """δ at one ε (nats)."""

    epsilon: float
    parameter: ClassVar[str] = "delta"
    symbol: ClassVar[str] = "δ"
    notion: ClassVar[str] = "the privacy profile"

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """The larger of p − e^ε·q and, for the complement, 1 − q − e^ε·(1 − p); 0 if both are negative."""
        p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = np.exp(self.epsilon)
            excess = np.fmax(p - scale * q, (1 - q) - scale * (1 - p)) - _SLACK
        return np.where((p > q) & (excess > 0), excess, 0.0)


@dataclass(frozen=True, slots=True)
class PowerAt(_About):
    """The excess of an attacker's power over one false positive rate."""

    fpr: float
    parameter: ClassVar[str] = "power"
    symbol: ClassVar[str] = "1 − fnr − fpr"
    notion: ClassVar[str] = "the trade-off curve"

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """The height of the chords over (q, p) and its mirror image, minus the rate; 0 if p ≤ q."""
        p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
        height = np.fmax(_chords(self.fpr, q, p), _chords(self.fpr, 1 - p, 1 - q))
        between = (np.minimum(q, 1 - p) <= self.fpr) & (self.fpr <= np.maximum(q, 1 - p))
        height = np.where(between, np.fmax(height, p - q + self.fpr), height)
        return np.where(p > q, np.maximum(height - self.fpr - _SLACK, 0.0), 0.0)


def _chords(at: float, x: Floats, y: Floats) -> Floats:
    """The height at ``at`` of the chords from (0, 0) to (x, y) to (1, 1)."""
    with np.errstate(all="ignore"):
        return np.where(at < x, y * (at / x), np.where(x < 1, y + (1 - y) * ((at - x) / (1 - x)), 1.0))


def about(parameter: str, notion: str) -> Claim:
    """Return what a statement is about, from its two texts; the inverse of ``parameter`` and ``str``.

    Raises:
        ValueError: if no statement has these texts.
    """
    kinds: dict[str, type[DeltaAt] | type[PowerAt] | type[GaussianDP]]
    kinds = {"delta epsilon": DeltaAt, "power fpr": PowerAt, "mu mu": GaussianDP}
    match = re.fullmatch(r"(\w+)=([-+.e\d]+)", notion)
    kind = kinds.get(f"{parameter} {match[1]}") if match else None
    if match is None or kind is None or not float(match[2]) >= 0:
        raise ValueError(f"no statement is about {parameter} of {notion!r}")
    return kind(float(match[2]))


def region_of_bound(bound: Bound) -> ConfidenceRegion:
    """Return the region that a statement rests on, from its counts.

    Raises:
        ValueError: if it holds no counts of a joint method.
    """
    if bound.counts is None or not isinstance(bound.weight, float):
        raise ValueError("a statement of the curve needs counts and a weight")
    return region_from(bound.method, bound.counts, weight=bound.weight, error=1 - bound.confidence)


def delta_at_least(regions: Sequence[ConfidenceRegion], epsilons: ArrayLike) -> Floats:
    """Return the lower bound of δ that the regions together give at every ε (nats, at least 0), in its shape."""
    return _best(regions, epsilons, DeltaAt)


def fnr_at_most(regions: Sequence[ConfidenceRegion], fprs: ArrayLike) -> Floats:
    """Return the upper bound of the false negative rate that the regions together give at every false positive rate."""
    rates = np.asarray(fprs, dtype=np.float64)
    return np.asarray(np.maximum(1 - rates - _best(regions, rates, PowerAt), 0.0))


def mu_at_least(regions: Sequence[ConfidenceRegion]) -> float:
    """Return the largest lower bound of μ that some region gives."""
    return max((float(region.least(GaussianDP(0.0).least)) for region in regions), default=0.0)


def _best(regions: Sequence[ConfidenceRegion], at: ArrayLike, kind: type[DeltaAt] | type[PowerAt]) -> Floats:
    points = np.asarray(at, dtype=np.float64)
    values = [
        max((float(region.least(kind(float(point)).least)) for region in regions), default=0.0)
        for point in points.ravel()
    ]
    return np.asarray(values, dtype=np.float64).reshape(points.shape)
