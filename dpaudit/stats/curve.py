"""How much of the whole privacy curve do the counts of a few events prove, all of it at once?

A region of (p, q) bounds every point of the curve, whatever its event was chosen for (Balle, Barthe & Gaboardi 2018,
Theorem 1; Dong, Roth & Su 2022, Definition 2.1): with its confidence

    δ(ε) ≥ min_j (p_j − e^ε·q_j)  for every ε,      μ ≥ min_j (Φ⁻¹(p_j) − Φ⁻¹(q_j)),

and an attacker who says "side 0" when the event occurs has false positive rate q and power p, so the chords from (0, 0)
to (q, p) to (1, 1) are below the power that the mechanism leaves to attackers. A mechanism satisfies a claim in both
orders of the pair: the complement of the event gives the mirrored point (1 − p, 1 − q). The regions hold simultaneously
at the sum of their error levels, and at every point of the curve the best of them is used.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpaudit.arrays import Floats
from dpaudit.evidence.records import Bound
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.privacy.claims import Words
from dpaudit.stats.joint_region import ConfidenceRegion, region_from

_SLACK = 1e-15  # larger than the rounding error of a difference of probabilities


class _About(Claim):
    """The quantity that a statement about the curve bounds. Nobody claims it, and only `least` has a meaning."""

    __slots__ = ()

    @property
    def words(self) -> Words:
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
            found = np.fmax(p - scale * q, (1 - q) - scale * (1 - p)) - _SLACK
        return np.where((p > q) & (found > 0), found, 0.0)


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
        found = np.fmax(_chords(self.fpr, q, p), _chords(self.fpr, 1 - p, 1 - q))
        between = (np.minimum(q, 1 - p) <= self.fpr) & (self.fpr <= np.maximum(q, 1 - p))
        found = np.where(between, np.fmax(found, p - q + self.fpr), found)
        return np.where(p > q, np.maximum(found - self.fpr - _SLACK, 0.0), 0.0)


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
    found = re.fullmatch(r"(\w+)=([-+.e\d]+)", notion)
    kind = kinds.get(f"{parameter} {found[1]}") if found else None
    if found is None or kind is None or not float(found[2]) >= 0:
        raise ValueError(f"no statement is about {parameter} of {notion!r}")
    return kind(float(found[2]))


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
    found = [
        max((float(region.least(kind(float(point)).least)) for region in regions), default=0.0)
        for point in points.ravel()
    ]
    return np.asarray(found, dtype=np.float64).reshape(points.shape)
