"""Which (p, q) do the counts leave possible, when runs are so few that every outcome can be enumerated?

Stouffer's combination (`dpaudit.stats.joint_region`) adds two p-values that are both conservative, because counts are
whole numbers; with a few hundred runs this costs more than everything else. Here the outcomes are ordered before
measuring, and the region holds every (p, q) under which an outcome at least as extreme as the observed one has a
probability above the error level: the best region for that order (Buehler 1957; Kabaila & Lloyd 1997), by summation
over the outcomes (Barnard 1945), cut by Clopper–Pearson bounds at error γ each (Berger & Boos 1994).

The order is that of an approximate lower bound: the smallest loss at Jeffreys quantiles of p and q, at three points of
the line w₁z₁ + w₂z₂ = z(1 − error) (one would suffice if the loss were smooth). A poor order costs tightness, never
validity. For any order the outcomes are extended so that more hits, or fewer of the others, are never less extreme; the
probability of that set increases in p and decreases in q, so a grid of both gives a rigorous staircase.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betaincinv, gammaln, ndtr, ndtri, xlog1py, xlogy

from dpaudit.arrays import Floats, Integers
from dpaudit.evidence.records import Counts
from dpaudit.privacy import Claim
from dpaudit.stats.event_bound import Weight, of_one_side, single
from dpaudit.stats.joint_region import CUT, ConfidenceRegion, Joint, probability_at_least, probability_at_most

# the grid is rigorous for any of these, which were chosen by tightness and time
CORNERS = 300
_ALONG = 0.7  # standard deviations between the three points by which an outcome is ranked
_HALVINGS = 14  # of the range of p, to place a corner
_LEAST_FAR, _MOST_FAR = 4.0, 12.0  # how far the staircase extends, in standard deviations of q below and of p above
_SPARE = 8.0  # standard deviations around the range of p within which outcomes are summed one by one
_ROUNDING = 1e-8  # relative; larger than the rounding error of any sum here


def enumerated_region(
    hits: ArrayLike,
    runs: int,
    others: ArrayLike,
    other_runs: int,
    *,
    claim: Claim,
    weight: float,
    error: float,
    corners: int = CORNERS,
) -> ConfidenceRegion:
    """Return the region for a one-sided event (Buehler 1957; Kabaila & Lloyd 1997).

    Args:
        hits, others: counts on the side where the event is likelier (p) and on the other (q), broadcast. Each takes a
            sum over all outcomes, 0.05 s at 1,000 runs a side.
        runs, other_runs: runs of the two sides.
        claim: the notion whose loss orders the outcomes; its own value is not used.
        weight: w₁, fixed before measuring.
        error: 1 − confidence.
        corners: of the staircase; fewer are faster and never invalid.

    Returns:
        The region, with corners of shape (…, corners).
    """
    return _Outcomes(runs, other_runs, claim, weight, error).regions(hits, others, corners)


class _Outcomes:
    """Counts k ~ Bin(n, p) and l ~ Bin(m, q) of both sides."""

    def __init__(self, runs: int, other_runs: int, claim: Claim, weight: float, error: float) -> None:
        if not 0 < weight < 1:
            raise ValueError(f"the weight must lie strictly between 0 and 1, not {weight!r}")
        self.n = runs
        counts = np.arange(runs + 1)
        self.m: Integers = np.full(runs + 1, other_runs)
        self.claim, self.error = claim, error
        self.weights = weight, math.sqrt(1 - weight * weight)
        self.critical = -float(ndtri(error))
        w1, w2 = self.weights
        along = np.array([[-_ALONG], [0.0], [_ALONG]])
        low = ndtr(along * w2 - self.critical * w1)
        self.high_levels = ndtr(along * w1 + self.critical * w2)
        self.low: Floats = np.asarray(betaincinv(counts + 0.5, runs - counts + 0.5, low), dtype=np.float64)

    def rank(self, k: Integers, others: Integers) -> Floats:
        """How extreme an outcome is: an approximate lower bound of the claim's parameter."""
        low, high = self.low[:, k], betaincinv(others + 0.5, self.m[k] - others + 0.5, self.high_levels)
        return np.asarray(np.min(self.claim.least(low, high), axis=0))

    def most_others(self, rank: float) -> Integers:
        """Return, for each k, the largest l at which the outcome is as extreme as ``rank``; −1 if none is.

        By bisection: whatever the last digits of the loss, a smaller ``rank`` gives a larger set.
        """
        k = np.arange(self.n + 1)
        inside, outside = np.full(self.n + 1, -1), self.m + 1
        while np.any(open_ := outside - inside > 1):
            at, middle = k[open_], (inside[open_] + outside[open_]) // 2
            extreme = self.rank(at, middle) >= rank
            inside[open_] = np.where(extreme, middle, inside[open_])
            outside[open_] = np.where(extreme, outside[open_], middle)
        return np.maximum.accumulate(inside)  # more hits allow at least as many others

    def regions(self, hits: ArrayLike, others: ArrayLike, corners: int) -> ConfidenceRegion:
        """Return the corners for every outcome, shape (*outcomes, corners)."""
        hits, others = np.broadcast_arrays(np.asarray(hits, dtype=np.int64), np.asarray(others, dtype=np.int64))
        shape = (*hits.shape, corners)
        p, q = np.zeros(shape), np.ones(shape)
        for at in np.ndindex(hits.shape):
            p[at], q[at] = self._corners(int(hits[at]), int(others[at]), corners)
        return ConfidenceRegion(p, q)

    def _corners(self, hits: int, others: int, corners: int) -> tuple[Floats, Floats]:
        nothing = np.zeros(corners), np.ones(corners)
        if hits == 0:
            return nothing
        rank = float(self.rank(np.array([hits]), np.array([others]))[0])
        if not rank > 0:
            return nothing
        spare = 1e-12
        while others > (most := self.most_others(rank - spare * (1 + rank)))[hits]:
            spare *= 10  # the outcome itself must belong to the set, despite rounding
        gamma = self.error / CUT
        cut = -float(ndtri(gamma))
        w1, w2 = self.weights
        # where the line w₁z₁ + w₂z₂ = z(1 − error) leaves the cut, with one standard deviation to spare
        far_q, far_p = (
            min(max((a * cut - self.critical) / b + 1, _LEAST_FAR), _MOST_FAR) for a, b in ((w1, w2), (w2, w1))
        )
        q = probability_at_most(others, int(self.m[hits]), ndtr(-np.linspace(-far_q, cut, corners)))
        low, high = (float(probability_at_least(hits, self.n, level)) for level in (gamma, ndtr(far_p)))
        chance = _Chance(self.n, self.m, most, low, high, np.concatenate([[0.0], q[:-1]]))
        allowed = (self.error - 2 * gamma) * (1 - _ROUNDING)
        # for each q, the largest p found at which the set is still too unlikely, or the cut
        p, above = np.full(corners, low), np.full(corners, high)
        for _ in range(_HALVINGS):
            middle = (p + above) / 2
            unlikely = chance(middle) < allowed
            p, above = np.where(unlikely, middle, p), np.where(unlikely, above, middle)
        return p, q


class _Chance:
    """P(l ≤ most[k]) for p from ``low`` to ``high``, each with its own q; never too small except for rounding.

    Outcomes are summed one by one where p makes them likely. Outside this window, the chance of the others, which
    increases with k, is replaced by its value at the end of the window below, and by 1 above.
    """

    def __init__(self, n: int, m: Integers, most: Integers, low: float, high: float, q: Floats) -> None:
        self.n = n
        spread = [_SPARE * math.sqrt(n * p * (1 - p)) + _SPARE for p in (low, high)]
        self.first, self.last = max(0, math.floor(n * low - spread[0])), min(n, math.ceil(n * high + spread[1]))
        self.k = k = np.arange(self.first, self.last + 1)
        self.ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
        limits, of = most[k], m[k]
        if of[0] == of[-1]:  # one law for all k, which is summed
            at_most = _at_most(int(of[0]), q, int(limits.max(initial=0)))[:, limits.clip(0)]
            self.others = np.where(limits < 0, 0.0, np.where(limits >= of, 1.0, at_most))
            return
        # neighbouring k often have the same limit, which is computed once
        (limits, of), place = np.unique(np.stack([limits, of]), axis=1, return_inverse=True)
        at_most = betaincc(np.maximum(limits + 1, 1), np.maximum(of - limits, 1), q[:, None])
        self.others = np.where(limits < 0, 0.0, np.where(limits >= of, 1.0, at_most))[:, place.reshape(-1)]

    def __call__(self, p: Floats) -> Floats:
        log_p, log_rest = np.log(p)[:, None], np.log1p(-p)[:, None]
        mass = np.exp(self.ways + self.k * log_p + (self.n - self.k) * log_rest)
        probabilities = np.einsum("jk,jk->j", mass, self.others)
        if self.first > 0:
            probabilities += betaincc(self.first, self.n - self.first + 1, p) * self.others[:, 0]
        if self.last < self.n:
            probabilities += betainc(self.last + 1, self.n - self.last, p)
        return np.asarray(probabilities)


def _at_most(m: int, q: Floats, last: int) -> Floats:
    """Return P(l ≤ 0), …, P(l ≤ last) for l ~ Bin(m, q), shape (len(q), last + 1): each to twelve digits or so."""
    counts = np.arange(last + 1)
    ways = gammaln(m + 1) - gammaln(counts + 1) - gammaln(m - counts + 1)
    masses = np.exp(ways + xlogy(counts, q[:, None]) + xlog1py(m - counts, -q[:, None]))
    return np.cumsum(masses, axis=1)


# --- the methods --------------------------------------------------------------------------------------------


class EnumeratedJoint(Joint):
    """As `Joint`, by enumerating every outcome; for the lower bound alone."""

    def lower(self, counts: Counts, claim: Claim, weight: Weight, error: float) -> float:
        """Return the smallest value that some point of the region allows; arguments as for `EventBound.lower`."""
        region = enumerated_region(*of_one_side(counts), claim=claim, weight=single(weight), error=error)
        return float(region.least(claim.least))
