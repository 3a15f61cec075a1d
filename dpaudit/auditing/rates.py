"""How well do scores tell members from others? True and false positive rates with exact limits, and one estimate.

An attacker calls a record a member if its score is at least a threshold. The true positive rate (TPR) is the share of
members that are called so, the false positive rate (FPR) that of others. Two statements are exact for any number of
scores, if each comes from a training run of its own:

- the ROC at thresholds chosen on other scores: all rates are within their limits at once (Clopper & Pearson 1934, with
  Bonferroni over the four ends of every threshold); between two thresholds the rates are monotone;
- the TPR at a given FPR x, whose threshold is unknown: the threshold is between two scores of others, by their rank
  (David & Nagaraja 2003, Order Statistics, section 7.1), and members are counted above either of these.

A NaN score is above no threshold.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr, bdtrc

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Rate, RocPoint, round_outward
from dpaudit.privacy import GaussianDP
from dpaudit.stats.joint_region import probability_at_least, probability_at_most

FALSE_POSITIVE_RATES = (0.01, 0.001)
_POINTS = 20  # most thresholds of the ROC; they share the error level; measured by benchmarks/scores.py

LEAST = 20  # scores or outputs of a side: fewer could show nothing


def thresholds(members: Floats, others: Floats) -> Floats:
    """Return thresholds for a ROC, ascending: denser where few scores of others, or of members, are left."""
    levels = np.concatenate([np.geomspace(0.002, 0.4, _POINTS // 2 - 1), [0.6, 0.8]])
    finite = [side[~np.isnan(side)] for side in (members, others)]
    found = [
        np.quantile(side, quantiles, method="higher")
        for side, quantiles in zip(finite, (levels, 1 - levels), strict=True)
        if len(side)
    ]
    return np.unique(np.concatenate(found)) if found else np.empty(0)


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
