"""How strongly do the runs so far refute a claim, when anyone may look at them at any time?

By betting (Shafer 2021; Ville 1939). Runs come in pairs, one of each side, and an event that was fixed beforehand
guesses the side of each run or abstains. Under the claim P(S) ≤ e^ε·Q(S) + δ, in both directions, a bet on

    g = 1{right} − e^ε·1{wrong} − δ·sides/2,      sides = how many sides the event guesses (0, 1 or 2)

does not gain on average over two runs: with T₀ and T₁ the outputs that are guesses of side 0 and 1, and g₀ and g₁ for a
run of each side, E g₀ + E g₁ = (P₀(T₀) − e^ε·P₁(T₀)) + (P₁(T₁) − e^ε·P₀(T₁)) − δ·sides, and each difference is at most
δ if its set is fixed as non-empty, and 0 if it is empty. The two runs are independent, so a bettor with 0 ≤ λ < 1/(e^ε
+ δ·sides/2) has E(1 + λg₀)(1 + λg₁) = (1 + λE g₀)(1 + λE g₁) ≤ (1 + λ(E g₀ + E g₁)/2)² ≤ 1, because the product of two
non-negative factors is at most the square of their mean. So the wealth Π(1 + λg), looked at only after complete pairs
of runs, is a non-negative supermartingale of mean at most 1, given the order of the sides. The same holds for averages
of such bettors, and for bettors who redistribute their wealth by what past runs show.
If the claim is true, the wealth ever reaches 1/a with probability at most a, however often it is looked at and whenever
one stops. A claim that is a whole curve implies (ε, δ(ε)) for every ε, so it may be bet against at each.

The wealth depends on the runs only through a few counts, so it can be recomputed from them: for every epoch, in which
the events are fixed, the past counts of each event and the epoch's own counts.

Against a claim of μ most of the wealth is bet on graded outputs, and the rest on events.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

import numpy as np
from scipy.special import bdtrik, ndtr, ndtri

from dpaudit.arrays import Floats, Integers
from dpaudit.evidence.records import Counts, Epoch, Stake
from dpaudit.privacy import ApproxDP, Claim, GaussianDP
from dpaudit.stats.two_looks import Detectable, detectable_gaussian

# --- Which points (ε, δ) does a claim imply, to bet against? ---
#
# A claim that is a whole curve implies (ε, δ(ε)) for every ε; a few of them are enough.

_POINTS = (0.0, 0.5, 1.0, 2.0, 4.0)  # of a curve, in multiples of the μ of a similar Gaussian mechanism


@lru_cache(maxsize=1024)
def points(claim: Claim) -> tuple[Floats, Floats]:
    """Return points (ε, δ) that the claim implies, to bet against: two arrays of equal length; δ is never too small."""
    if claim.is_point:
        return np.array([claim.value]), np.array([claim.delta])
    epsilon = _like_mu(claim) * np.array(_POINTS)
    if isinstance(claim, GaussianDP):
        return epsilon, np.minimum(np.asarray(claim.profile(epsilon)) * (1 + 1e-9) + 1e-15, 1.0)
    return epsilon, _profile_above(claim, epsilon)


def _like_mu(claim: Claim) -> float:
    """The μ of a Gaussian mechanism that just keeps the claim."""
    if isinstance(claim, GaussianDP):
        return claim.mu
    order = getattr(claim, "order", 1.0)
    return math.sqrt(2 * claim.value / order)


def searched(claim: Claim) -> tuple[Claim, Claim | None]:
    """Return what events are chosen for: the claim; for a curve, a point in its tail and one in its middle."""
    epsilon, delta = points(claim)
    if len(epsilon) == 1:
        return claim, None
    return ApproxDP(float(epsilon[3]), float(delta[3])), ApproxDP(float(epsilon[1]), float(delta[1]))


_GRID = np.unique(np.concatenate([np.geomspace(1e-7, 0.02, 24), np.linspace(0, 1, 41)]))
_FINER = np.linspace(0, 1, 12)


def _profile_above(claim: Claim, epsilon: Floats) -> Floats:
    """An upper bound of δ(ε): the maximum of p − e^ε·q over allowed pairs, on a grid that is refined once."""
    allowed = 1 - claim.tradeoff(_GRID)
    best = np.argmax(allowed - np.exp(epsilon)[:, None] * _GRID, axis=1)
    low, high = _GRID[np.maximum(best - 1, 0)], _GRID[np.minimum(best + 1, len(_GRID) - 1)]
    grid = np.unique(np.concatenate([_GRID, *(low + (high - low) * step for step in _FINER)]))
    height = (1 - claim.tradeoff(grid)) - np.exp(epsilon)[:, None] * grid
    return np.asarray(np.clip(_summit(grid, height) + 1e-12, 0.0, 1.0))


def _summit(grid: Floats, height: Floats) -> Floats:
    """An upper bound of concave functions between the points at which they are known, (functions, points).

    Between two points, a concave function is below the extension of the chord to their left, and of that to their
    right.
    """
    width = np.diff(grid)
    slope = np.diff(height, axis=1) / width
    rise, fall = slope[:, :-2], slope[:, 2:]  # on both sides of every inner interval
    start, end, step = height[:, 1:-2], height[:, 2:-1], width[1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        where = np.clip((end - start - fall * step) / (rise - fall), 0.0, step)
    crossing = np.where(rise > fall, start + rise * where, np.maximum(start, end))
    inner = np.where((rise > 0) & (fall < 0), crossing, np.maximum(start, end))
    first = height[:, 1] + np.maximum(-slope[:, 1], 0.0) * width[0]
    last = height[:, -2] + np.maximum(slope[:, -2], 0.0) * width[-1]
    return np.asarray(np.maximum(np.maximum(first, last), np.maximum(inner.max(axis=1), height.max(axis=1))))


# --- How strongly do graded outputs refute a claim of μ, bet by bet? ---
#
# A mechanism that keeps μ-Gaussian DP is a post-processing of N(μ, 1) against N(0, 1) (Blackwell 1951; Dong, Roth & Su
# 2022, Theorem 2.10). Let a bet pay x(s, b) for a run of side s whose output falls into bin b. With a kernel κ(b | z)
# and the densities A of N(μ, 1) and B of N(0, 1),
#
#     E x(0, b) + E x(1, b) = ∫ Σ_b κ(b | z)·(x(0, b)·A + x(1, b)·B) dz ≤ ∫ max_b (x(0, b)·A + x(1, b)·B) dz = 2h(x),
#
# so x/h(x) does not gain on average over two runs, one of each side, whatever the bins are: an e-value (Shafer 2021;
# Ville 1939). The two runs are independent, and a product of two non-negative means is at most the square of their
# average, which is 1.
#
# The integral is exact: x(0, b)·A + x(1, b)·B = B·(x(1, b) + x(0, b)·L) with the likelihood ratio L = e^{μz − μ²/2},
# and the highest of several lines in L is known on intervals of z.
#
# The counts of earlier runs in the same bins decide which x is bet on: two models of how they tell the sides apart, and
# for each the bet that grows fastest, against the closest pair that keeps the claim (the reverse information
# projection: Grünwald, de Heide & Koolen 2024, Theorem 1). Any x is valid, the best one only wins sooner.

# chosen by the runs that false claims took; any of them is valid
_HELD = 0.05  # share of the wealth that is not bet
_RIDGE, _STEPS_DOUBT = 1.0, 12.0  # shrinking of the two models, in runs
_ATOMS, _ROUNDS = 120, 150  # of the search for the closest pair that keeps the claim
_MOVED = 0.5  # share of the wealth that is divided evenly again when an epoch begins
_SLACK = 1e-9  # relative; above the rounding error of h

Bins = tuple[tuple[int, ...], tuple[int, ...]]


def fair_price(x: Floats, mu: Floats) -> Floats:
    """Return h(x), an upper bound of the average pay of two runs, one of each side, if a claim holds.

    Args:
        x: (2, bins), the pay for a run of each side in each bin, ≥ 0.
        mu: of the claims, (claims,), > 0.

    Returns:
        The bound against each claim, (claims,), rounded up.
    """
    order = np.lexsort((x[1], x[0]))
    hull: list[tuple[float, float, float]] = []  # slope, intercept, and the L from which on the line is the highest
    for slope, start in zip(x[0, order].tolist(), x[1, order].tolist(), strict=True):
        begin = 0.0
        while hull:
            last_slope, last_start, last_begin = hull[-1]
            begin = (last_start - start) / (slope - last_slope) if slope > last_slope else 0.0
            if begin > last_begin:
                break
            hull.pop()
            begin = 0.0
        hull.append((slope, start, begin))
    slopes, starts, begins = np.array(hull).T
    with np.errstate(divide="ignore"):
        at = np.log(np.maximum(begins, 0.0)) / mu[:, None] + mu[:, None] / 2
    ends = np.append(at[:, 1:], np.full((len(mu), 1), np.inf), axis=1)
    mean = slopes * (ndtr(ends - mu[:, None]) - ndtr(at - mu[:, None])) + starts * (ndtr(ends) - ndtr(at))
    return np.asarray(mean.sum(axis=1) / 2 * (1 + _SLACK))


@lru_cache(maxsize=4096)
def bets(past: Bins, mu: float) -> tuple[Floats, ...]:
    """Return what is paid by every model's bet, each (2, bins), from the counts of earlier runs of both sides."""
    counts = np.array(past, dtype=np.float64)
    return tuple(_closest(p, mu) for p in (_straight(counts), _steps(counts)))


def _straight(counts: Floats) -> Floats:
    """Log odds of the sides that are linear in the normal score of a bin's rank, (2, bins) probabilities."""
    filled = counts.sum(axis=0)
    below = np.cumsum(filled) - filled / 2
    score = -ndtri((below + 0.5) / (filled.sum() + 1))
    features = np.stack([np.ones_like(score), score])
    weights = np.zeros(2)
    for _ in range(12):  # Newton's method
        chance = 1 / (1 + np.exp(-np.clip(weights @ features, -30, 30)))
        slope = features @ (counts[0] - filled * chance) - (0, _RIDGE) * weights
        curvature = (features * (filled * chance * (1 - chance))) @ features.T + np.diag((1e-6, _RIDGE))
        weights = weights + np.linalg.solve(curvature, slope)
    return _law(weights @ features, counts)


def _steps(counts: Floats) -> Floats:
    """Log odds of the sides that only fall along the bins, (2, bins) probabilities."""
    chance = falling(counts[0] + 0.5, counts.sum(axis=0) + 1)
    runs = counts.sum()
    return _law(np.log(chance / (1 - chance)) * runs / (runs + _STEPS_DOUBT), counts)


def falling(hits: Floats, runs: Floats) -> Floats:
    """Return the likeliest chances that never rise from one bin to the next (Ayer et al. 1955), (bins,)."""
    blocks: list[tuple[float, float, int]] = []  # hits, runs, bins
    for own, both in zip(hits.tolist(), runs.tolist(), strict=True):
        blocks.append((own, both, 1))
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] <= blocks[-1][0] * blocks[-2][1]:
            (hits0, runs0, bins0), (hits1, runs1, bins1) = blocks[-2:]
            blocks[-2:] = [(hits0 + hits1, runs0 + runs1, bins0 + bins1)]
    return np.concatenate([np.full(bins, own / both) for own, both, bins in blocks])


def _law(log_odds: Floats, counts: Floats) -> Floats:
    filled = counts.sum(axis=0)
    mass = (filled + 0.5) / (filled.sum() + 0.5 * len(filled))
    chance = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    law = mass * np.stack([chance, 1 - chance])
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def _closest(law: Floats, mu: float) -> Floats:
    """The bet of the ratio of a law to the closest pair that keeps the claim, found by expectation–maximisation."""
    edges = np.r_[-np.inf, ndtri(np.linspace(0, 1, _ATOMS + 1)[1:-1]) + mu / 2, np.inf]
    atoms = np.stack([np.diff(ndtr(edges - mu)), np.diff(ndtr(edges))])
    ratio = np.log(law[0] / law[1])
    loss = np.log(atoms[0] / atoms[1])
    kernel = law.mean(axis=0) * np.exp(-0.5 * ((loss[:, None] - ratio) / max(float(ratio.std()), 0.3)) ** 2) + 1e-300
    kernel /= kernel.sum(axis=1, keepdims=True)
    for _ in range(_ROUNDS):
        kernel *= (atoms.T @ (law / np.maximum(atoms @ kernel, 1e-300))) ** 1.3
        kernel /= kernel.sum(axis=1, keepdims=True)
    return np.asarray(law / np.maximum(atoms @ kernel, 1e-12))


class GradedProcess:
    """The wealth of graded bets on one pair of datasets, against each of several values of μ.

    The bets are those for the claim; against another value they are paid out at its price.
    """

    def __init__(self, claimed: float, values: Sequence[float]) -> None:
        self._claimed, self._values = claimed, np.array(values)
        self._wealth: Floats | None = None
        self._start: Floats = np.zeros(0)
        self._pays: Floats = np.zeros(0)

    def open(self, past: Bins) -> None:
        """Begin an epoch with the counts of earlier runs in its bins."""
        bets_of = bets(past, self._claimed)
        priced = [x / fair_price(x, self._values)[:, None, None] for x in bets_of]
        self._pays = np.log(_HELD + (1 - _HELD) * np.stack(priced, axis=1))  # (values, models, 2, bins)
        if self._wealth is None:
            self._wealth = np.full((len(self._values), len(bets_of)), -math.log(len(bets_of)))
        even = np.logaddexp.reduce(self._wealth, axis=1, keepdims=True) - math.log(len(bets_of))
        self._start = np.logaddexp(math.log(_MOVED) + even, math.log1p(-_MOVED) + self._wealth)

    def watch(self, own: Integers) -> Floats:
        """Return the log wealth at several looks, (looks, values), from the epoch's own counts, (looks, 2, bins)."""
        return np.asarray(np.logaddexp.reduce(self._start + np.einsum("lsb,vmsb->lvm", own, self._pays), axis=2))

    def close(self, own: Integers) -> None:
        """End an epoch with its own counts, (2, bins)."""
        self._wealth = self._start + np.einsum("sb,vmsb->vm", own, self._pays)

    @property
    def log_wealth(self) -> Floats:
        """The log wealth after the epochs that have ended, (values,)."""
        return np.zeros(len(self._values)) if self._wealth is None else np.logaddexp.reduce(self._wealth, axis=1)


# bets, starting wealth and the grid of values were chosen by the runs that false claims took; any is valid
FRACTIONS = 0.95 * 2.0 ** -np.arange(12)  # of the largest λ
_PRIOR = np.array([1, 1, 1, 1, 1, 1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12])
_OF_POINT = np.array([[4.0], [1.0], [1.0]])  # starting wealth, over events and over points
_OF_CURVE = np.array(  # the same if the claim is a curve (see `searched`)
    [[1, 1, 4, 4, 2], [0.1, 0.1, 1, 2, 3], [0.1, 0.1, 0.1, 2, 4], [12, 40, 12, 2, 1]]
)
_CARRIED = 0.05  # share of the bettors who never change their bets
_GRADED = 0.8  # starting wealth of graded bets, where there are any
_LEAST, _MOST = 1 / 20, 100.0  # smallest value tried, as a part of the claimed one, and largest value
_STEP, _LONG_STEP = 1.03, 1.08  # factor between two values; the longer one where points of a curve are slow to compute
_AT_ONCE = 16  # values that are tried together
_HAIR = 1e-6  # relative distance of the value just above the claim

# --- one pair of datasets against one claim ---------------------------------------------------------------


def _readings(counts: Integers, speaks: Sequence[tuple[bool, bool]]) -> tuple[Integers, Integers]:
    """Return how many guesses are right, wrong and not made, and of how many sides, for two readings of each event.

    The first reading is the event itself. In the second, if the event guesses one side only, every other output is a
    guess of the other side.

    Args:
        counts: (…, events, 3, 2): runs, runs toward side 0 and toward side 1, of each side.
        speaks: for each event and each side, whether the event has an output that guesses it.

    Returns:
        Right, wrong and no guesses, (3, …, events, 2), and the sides, (events, 2).
    """
    runs, toward0, toward1 = counts[..., 0, :], counts[..., 1, :], counts[..., 2, :]
    guessed = np.array(speaks, dtype=bool).reshape(-1, 2)
    only0, only1 = guessed[:, :1] & ~guessed[:, 1:], guessed[:, 1:] & ~guessed[:, :1]
    for0 = np.stack([toward0, np.where(only1, runs - toward1, toward0)], axis=-2)
    for1 = np.stack([toward1, np.where(only0, runs - toward0, toward1)], axis=-2)
    right, wrong = for0[..., 0] + for1[..., 1], for0[..., 1] + for1[..., 0]
    sides = np.column_stack([guessed.sum(axis=1), np.where(only0 | only1, 2, guessed.sum(axis=1, keepdims=True))])
    return np.stack([right, wrong, runs.sum(axis=-1)[..., None] - right - wrong]), sides


class _Bettors:
    """All bettors on some events, against several claims: what each makes of a right, a wrong and no guess."""

    def __init__(self, claims: Sequence[Claim], speaks: Sequence[tuple[bool, bool]]) -> None:
        self._speaks = speaks
        sides = _readings(np.zeros((len(speaks), 3, 2), dtype=np.int64), speaks)[1]
        epsilon, delta = (np.stack(each) for each in zip(*map(points, claims), strict=True))
        odds, share = np.exp(epsilon)[..., None], delta[..., None] * sides[..., None, None, None] / 2
        stake = FRACTIONS / (odds + share)
        gains = np.log1p(stake * (1 - share)), np.log1p(-stake * (odds + share)), np.log1p(-stake * share)
        self._gains = gains  # (events, 2 readings, claims, points, fractions) each

    def log_wealths(self, counts: Integers, doubt: int = 0) -> Floats:
        """Return the log wealth of every bettor after counts (…, events, 3, 2), of which ``doubt`` more are wrong.

        Returns:
            (…, events, 2 readings, claims, points, fractions)
        """
        right, wrong, rest = _readings(counts, self._speaks)[0][..., None, None, None]
        of_right, of_wrong, of_rest = self._gains
        return np.asarray(right * of_right + (wrong + doubt) * of_wrong + rest * of_rest)


_BETTORS = (-5, -4, -2, -1)  # axes of the bettors against one claim


class BettingProcess:
    """The wealth of all bettors on one pair of datasets, against each of several claims.

    A twentieth of it starts with bettors who never change. The others redistribute their wealth at the start of every
    epoch, in proportion to what each bet would have made of past runs. One wrong guess is added to the past, because
    the best threshold of many often stands just before a run that would have been a wrong guess.
    """

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims
        self._carried: Floats | None = None
        self._moved = np.zeros(len(claims))
        self._weights: Floats = np.zeros(0)
        self._bettors = _Bettors(claims, [])

    def open(self, pasts: Sequence[tuple[Counts, tuple[bool, bool]]]) -> None:
        """Begin an epoch with events: counts of past runs, and the sides that each event guesses."""
        self._bettors = _Bettors(self._claims, [speaks for _, speaks in pasts])
        past = self._bettors.log_wealths(np.stack([as_array(counts) for counts, _ in pasts]), doubt=1)
        if self._carried is None:
            self._carried = np.zeros_like(past)
        weights = _prior(past.shape) + past
        self._weights = weights - _log_sum(weights, _BETTORS)[:, None, None]

    def watch(self, counts: Integers) -> Floats:
        """Return the log wealth at several looks, (looks, claims), from counts of the epoch, (looks, events, 3, 2)."""
        assert self._carried is not None
        own = self._bettors.log_wealths(counts)
        moved = self._moved + _log_sum(own + self._weights, _BETTORS)
        return self._together(_log_sum(own + self._carried + _prior(own.shape[1:]), _BETTORS), moved)

    def leading(self, counts: Integers) -> int:
        """Return the event whose bettors are wealthiest in this epoch, against all claims, from its own counts."""
        return int(np.argmax(_log_sum(self._bettors.log_wealths(counts) + self._weights, (1, 2, 3, 4))))

    def close(self, counts: Integers) -> None:
        """End an epoch with its own counts, (events, 3, 2)."""
        assert self._carried is not None
        own = self._bettors.log_wealths(counts)
        self._moved = self._moved + _log_sum(own + self._weights, _BETTORS)
        self._carried = self._carried + own

    @property
    def log_wealth(self) -> Floats:
        """The log wealth after the epochs that have ended, (claims,)."""
        if self._carried is None:
            return self._moved
        return self._together(_log_sum(self._carried + _prior(self._carried.shape), _BETTORS), self._moved)

    def _together(self, carried: Floats, moved: Floats) -> Floats:
        return np.asarray(np.logaddexp(math.log(_CARRIED) + carried, math.log1p(-_CARRIED) + moved))


def _log_sum(logs: Floats, axis: tuple[int, ...]) -> Floats:
    """log Σ exp along some axes: as SciPy's logsumexp, but much faster for few numbers."""
    most = np.max(logs, axis=axis, keepdims=True)
    return np.asarray(np.squeeze(most, axis) + np.log(np.sum(np.exp(logs - most), axis=axis)))


def _prior(shape: tuple[int, ...]) -> Floats:
    """Log weights of the bets of one pair, shape (events, readings, claims, points, fractions)."""
    events, readings, _, points, _ = shape
    known = (each for each in (_OF_POINT, _OF_CURVE) if each.shape == (events, points))
    each = next(known, np.ones((events, points)))
    start = each / each.sum() / readings
    return np.asarray(np.log(start)[:, None, None, :, None] + np.broadcast_to(np.log(_PRIOR / _PRIOR.sum()), shape))


def as_array(counts: Counts) -> Integers:
    """Return counts as an array (3, 2): runs, toward side 0, toward side 1, of each side."""
    return np.array([counts.runs, counts.toward0, counts.toward1], dtype=np.int64)


# --- all bets on one pair, all pairs, and all values of the claim -----------------------------------------


class PairProcess:
    """The wealth of all bets on one pair of datasets: on events, and for a claim of μ on graded outputs beside them.

    Args:
        claim: the claim that bets are made for.
        values: of its parameter, each of which bets are made against.
    """

    def __init__(self, claim: Claim, values: Sequence[float]) -> None:
        self._events = BettingProcess([claim.with_value(value) for value in values])
        self._grades = GradedProcess(claim.value, values) if isinstance(claim, GaussianDP) else None

    def open(self, pasts: Sequence[tuple[Counts, tuple[bool, bool]]]) -> None:
        """Begin an epoch with events: counts of past runs, and the sides that each event guesses."""
        self._events.open([past for past in pasts if past[0].bins is None])
        graded = [counts.bins for counts, _ in pasts if counts.bins is not None]
        self._grades = self._grades if graded else None
        if self._grades is not None:
            self._grades.open(graded[0])

    def watch(self, counts: Integers, bins: Integers | None = None) -> Floats:
        """Return the log wealth at several looks.

        Args:
            counts: the epoch's own, (looks, events, 3, 2).
            bins: of the graded event, (looks, 2, bins).

        Returns:
            (looks, values)
        """
        events = self._events.watch(counts)
        return events if self._grades is None or bins is None else _with_grades(events, self._grades.watch(bins))

    def leading(self, counts: Integers) -> int:
        """Return the event whose bettors are wealthiest in this epoch, from its own counts."""
        return self._events.leading(counts)

    def close(self, counts: Integers, bins: Integers | None = None) -> None:
        """End an epoch with its own counts, (events, 3, 2) and (2, bins)."""
        self._events.close(counts)
        if self._grades is not None and bins is not None:
            self._grades.close(bins)

    @property
    def log_wealth(self) -> Floats:
        """The log wealth after the epochs that have ended, (values,)."""
        events = self._events.log_wealth
        return events if self._grades is None else _with_grades(events, self._grades.log_wealth)


def _with_grades(events: Floats, grades: Floats) -> Floats:
    return np.asarray(np.logaddexp(math.log1p(-_GRADED) + events, math.log(_GRADED) + grades))


def log_wealth(epochs: Sequence[Epoch], pairs: int, claim: Claim, value: float | None = None) -> float:
    """Return the log wealth against a claim after some epochs, averaged over all pairs.

    Args:
        epochs: what was bet on, with its counts.
        pairs: number of pairs.
        claim: the claim that bets were made for.
        value: the value of its parameter that is bet against; that of the claim if None.

    Returns:
        The natural logarithm of the wealth.
    """
    return float(_log_wealths(epochs, pairs, claim, (claim.value if value is None else value,))[0])


def _log_wealths(epochs: Sequence[Epoch], pairs: int, claim: Claim, values: tuple[float, ...]) -> Floats:
    """Return the same against several values, (values,)."""
    own = [tuple(epoch for epoch in epochs if epoch.pair == pair) for pair in range(pairs)]
    each = np.stack([_of_pair(bet_on, claim, values) for bet_on in own])
    return _log_sum(each, (0,)) - math.log(pairs)


@lru_cache(maxsize=1024)  # what was refuted is asked for again by the result, and by whoever checks it
def _of_pair(epochs: tuple[Epoch, ...], claim: Claim, values: tuple[float, ...]) -> Floats:
    bettors = PairProcess(claim, values)
    for epoch in epochs:
        bettors.open([(stake.past, stake.speaks) for stake in epoch.stakes])
        own = [stake.own for stake in epoch.stakes]
        bins = [np.array(counts.bins) for counts in own if counts.bins is not None]
        bettors.close(np.stack([as_array(counts) for counts in own if counts.bins is None]), *bins)
    return bettors.log_wealth


def just_above(claim: Claim) -> Claim:
    """Return the claim with a slightly larger value: refuting it shows a loss above the claim."""
    return claim.with_value(claim.value + _HAIR * max(claim.value, 1e-3))


def sequential_bound(epochs: Sequence[Epoch], pairs: int, claim: Claim, error: float) -> float:
    """Return the largest value of the claim's parameter that is rejected together with all smaller ones; 0.0 if none
    is.

    Each value of a grid that depends on the claim alone has a wealth of its own, and is rejected if that is at least
    1/``error`` (Ville 1939). A mechanism that satisfies a smaller value also satisfies the claim, so whatever refutes
    the claim refutes all smaller values: for these the wealth is the average of their own and the claim's. The grid is
    rigorous: the bound is too large only if the smallest true value of the grid was rejected, at the one time when this
    function is called.

    Args:
        epochs: what was bet on, with its counts.
        pairs: number of pairs.
        claim: what is bounded; its value determines the grid.
        error: 1 − confidence.

    Returns:
        The bound, in the unit of the claim's parameter.
    """
    claimed, enough = just_above(claim).value, -math.log(error)
    against_claim = log_wealth(epochs, pairs, claim, claimed)
    surely = against_claim >= enough + math.log(2)  # smaller values are rejected whatever their own wealth is
    largest = 0.0
    ascending = (value for value in _values(claim) if not (surely and value < claimed))
    while values := tuple(islice(ascending, _AT_ONCE)):
        own = _log_wealths(epochs, pairs, claim, values)
        own = np.where(np.array(values) < claimed, np.logaddexp(own, against_claim) - math.log(2), own)
        kept = np.flatnonzero(~(own >= enough))
        rejected = values[: kept[0]] if len(kept) else values
        largest = rejected[-1] if rejected else largest
        if len(kept):
            break
    return largest


def _values(claim: Claim) -> Iterator[float]:
    """Yield ascending values around the claimed one, including the one just above it."""
    step = _STEP if claim.is_point or isinstance(claim, GaussianDP) else _LONG_STEP
    if claim.value > 0:
        steps = math.ceil(math.log(1 / _LEAST) / math.log(step))
        yield from (claim.value * step ** (k - steps) for k in range(steps))
    value = just_above(claim).value
    while value < _MOST:
        yield value
        value = max(value * step, 1e-3)


# --- what would have been found ---------------------------------------------------------------------------


def foresee_sequential(epochs: Sequence[Epoch], runs: int, pairs: int, claim: Claim, error: float) -> Detectable:
    """Return the smallest value of the claim's parameter that would have been refuted with probability 0.9.

    The calculation assumes that an event that guesses as often as the last one, and has that loss, is known from the
    middle of the runs on, and that earlier bets neither gained nor lost. It counts the final wealth of the best single
    bettor who never changes, starting with its share of the total, with the number of right guesses at its lower tenth.
    A violation may show on one pair alone, so the weakest pair decides. For δ > 0, an event that shows little is
    replaced by a Gaussian mechanism as the yardstick, at the error level that a single bettor has to reach.

    Args:
        epochs: all that was bet on.
        runs: the limit of runs, of all pairs.
        pairs: number of pairs.
        claim: what is to be refuted.
        error: 1 − confidence.

    Returns:
        The value, and whether it is that of an event or of the yardstick.
    """
    last = {epoch.pair: epoch for epoch in epochs}
    ahead = runs // pairs // 2
    graded = any(stake.own.bins is not None for epoch in epochs for stake in epoch.stakes)
    share = _CARRIED * ((1 - _GRADED) if graded else 1.0) / pairs
    smallest = []
    for pair in range(pairs):
        stakes = [stake for stake in last[pair].stakes if stake.own.bins is None] if pair in last else []
        each = [_least_refuted(stake, (k, len(stakes)), ahead, share, claim, error) for k, stake in enumerate(stakes)]
        smallest.append(min(each, default=math.inf))
    worst = max(smallest)
    if claim.delta > 0 and not sequential_bound(epochs, pairs, claim, error) >= claim.value / 2:
        gaussian = detectable_gaussian(claim, ahead, error * share * float(_PRIOR.min() / _PRIOR.sum()))
        if gaussian > worst:
            return Detectable(gaussian, "gaussian", ())
    return Detectable(worst, "event", ())


def _least_refuted(stake: Stake, place: tuple[int, int], ahead: int, share: float, claim: Claim, error: float) -> float:
    guesses_of, sides_of = _readings(as_array(stake.past)[None], [stake.speaks])
    (right, wrong, rest), sides = guesses_of[:, 0, 0].tolist(), int(sides_of[0, 0])
    made = right + wrong + rest
    if not sides or not made:
        return math.inf
    mass = min(max(float(right + wrong), 0.5) / made * 2 / sides, 1.0)
    guesses = int(ahead * mass * sides / 2)

    def refuted(value: float) -> bool:
        p = _likelier(claim.with_value(value), mass)
        hits = int(bdtrik(0.1, guesses, p / mass)) if guesses and p < mass else guesses
        counts = np.array([[ahead, 0], [hits, guesses - hits], [0, 0]])
        own = _Bettors([claim], [(True, sides == 2)]).log_wealths(counts[None])[0, 0]
        start = math.log(share) + _prior((place[1], 2, *own.shape))[place[0], 0]
        return bool((own + start).max() >= -math.log(error))

    low, high = claim.value, max(2 * claim.value, 1.0)
    while not refuted(high):
        low, high = high, 2 * high
        if high > 2 * _MOST:
            return math.inf
    while high - low > 1e-3 * high:
        value = (low + high) / 2
        low, high = (low, value) if refuted(value) else (value, high)
    return high


@lru_cache(maxsize=1024)
def _likelier(claim: Claim, mass: float) -> float:
    """Return the smallest p with p + q = ``mass`` at which an event (p, q) has the claim's value as its loss."""
    low, high = mass / 2, mass
    for _ in range(40):
        p = (low + high) / 2
        low, high = (low, p) if float(claim.least(p, mass - p)) >= claim.value else (p, high)
    return high
