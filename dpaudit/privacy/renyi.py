"""What do zCDP and Rényi DP promise? The Rényi divergences of the two output distributions are small."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpaudit.errors import UsageError
from dpaudit.privacy.claims import Claim, Words, check_group, probabilities, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

CONCENTRATED = Words(
    kind="concentrated",
    source=(
        "Bun & Steinke (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC."
    ),
    meaning=(
        "For neighbouring datasets and every order α above 1, the Rényi divergence of order α between the two output "
        "distributions is at most {value} · α, in both orders."
    ),
    claimed=(
        "That one record changes the law of the output little, measured by averages in which rare outputs count for "
        "more and more (zero-concentrated privacy, ρ = {value})."
    ),
    proved=(
        "On average over outputs, little is learned about them; single rare outputs may still say more. This is about "
        "the mechanism as mathematics."
    ),
    not_violated=(
        "An attacker who tried these ways of telling from an output whether their record was used stayed within what "
        "the claim allows. Another attacker may not, and rare outputs were hardly seen."
    ),
    violated="Whoever sees outputs learns more about them than the average that was promised.",
)

RENYI = Words(
    kind="renyi",
    source="Mironov (2017). Rényi differential privacy. IEEE Computer Security Foundations Symposium.",
    meaning=(
        "For neighbouring datasets, the Rényi divergence of order {order} between the two output distributions is at "
        "most {value}, in both orders."
    ),
    more=" at order {order}",
    at=" at order {order}",
    claimed=(
        "That one record changes the law of the output little, measured by one average in which rare outputs count for "
        "more (a Rényi divergence of order {order} of at most {value})."
    ),
    proved=(
        "On average over outputs, little is learned about them; single rare outputs may still say more. This is about "
        "the mechanism as mathematics."
    ),
    not_violated=(
        "An attacker who tried these ways of telling from an output whether their record was used stayed within what "
        "the claim allows. Another attacker may not, and rare outputs were hardly seen."
    ),
    violated="Whoever sees outputs learns more about them than the average that was promised.",
)


@dataclass(frozen=True, slots=True)
class _Bits:
    """Logarithms of the probabilities of two bits, p > q, from which every Rényi divergence follows."""

    hit_p: Floats
    hit_q: Floats
    miss_p: Floats
    miss_q: Floats

    @classmethod
    def of(cls, p: Floats, q: Floats) -> _Bits:
        with np.errstate(divide="ignore"):
            return cls(np.log(p), np.log(q), np.log1p(-p), np.log1p(-q))

    def divergence(self, above: ArrayLike) -> Floats:
        """The larger of D_α(Bern p‖Bern q) and D_α(Bern q‖Bern p), α = 1 + ``above``; arguments broadcast."""
        swapped = _Bits(self.hit_q, self.hit_p, self.miss_q, self.miss_p)
        t = np.asarray(above, dtype=np.float64)
        return np.fmax(np.fmax(self._divergence(t), swapped._divergence(t)), 0.0)

    def _divergence(self, t: Floats) -> Floats:
        """D_α in nats (van Erven & Harremoës 2014, equation 10), as log E_p[(p/q)^t]/t with t = α − 1."""
        with np.errstate(all="ignore"):
            hit = np.where(self.hit_p > -np.inf, t * (self.hit_p - self.hit_q), 0.0)
            miss = np.where(self.miss_p > -np.inf, t * (self.miss_p - self.miss_q), 0.0)
            far = np.logaddexp(self.hit_p + hit, self.miss_p + miss) / t
            # close to order 1 the two terms add up to nearly 1, and their logarithm would be mostly rounding error
            near = np.log1p(np.exp(self.hit_p) * np.expm1(hit) + np.exp(self.miss_p) * np.expm1(miss)) / t
        return np.where(np.maximum(np.abs(hit), np.abs(miss)) < 0.5, near, far)


class _RenyiRegion(Claim):
    """What zCDP and Rényi DP share: curves that follow from the pairs (p, q) that their divergence allows.

    A test is post-processing to one bit, and a mechanism may itself release just that bit, so the pairs that the
    divergence allows are exactly the pairs that the claim allows.
    """

    __slots__ = ()

    @property
    def is_divergence(self) -> bool:
        """True."""
        return True

    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """The lower boundary of the allowed pairs, by bisection: accurate to 2^-50, and never too high."""
        alpha = np.asarray(fpr, dtype=np.float64)
        return np.asarray(1.0 - self._largest_p(np.atleast_1d(alpha)).reshape(alpha.shape))

    def _largest_p(self, q: Floats) -> Floats:
        low, high = q.copy(), np.ones_like(q)
        for _ in range(50):
            middle = (low + high) / 2
            allowed = self.least(middle, q) <= self.value
            low, high = np.where(allowed, middle, low), np.where(allowed, high, middle)
        return high

    def profile(self, epsilon: ArrayLike) -> Floats:
        """The supremum of p − e^ε·q over allowed pairs, on a refined grid of q: to about 1e-6 relative or 1e-15."""
        at = np.asarray(epsilon, dtype=np.float64)
        scale = np.exp(np.atleast_1d(at))[:, None]
        q = np.broadcast_to(np.concatenate([[0.0], np.geomspace(1e-15, 1.0, 600)]), (scale.size, 601))
        heights = self._largest_p(q[0]) - scale * q
        for _ in range(2):
            best = heights.argmax(axis=1)
            rows = np.arange(len(q))
            q = np.linspace(q[rows, np.maximum(best - 1, 0)], q[rows, np.minimum(best + 1, q.shape[1] - 1)], 61, axis=1)
            heights = self._largest_p(q) - scale * q
        return np.asarray(np.maximum(0.0, heights.max(axis=1)).reshape(at.shape))


# α − 1 for the orders that are tried; trying finitely many can only make `least` smaller, which is sound
_COARSE = np.geomspace(1e-6, 1e6, 31)
_FINER = tuple(np.geomspace(1 / ratio, ratio, 9) for ratio in (10**0.4, 10**0.1))


@dataclass(frozen=True, slots=True)
class ZeroConcentratedDP(_RenyiRegion):
    """ρ-zCDP: D_α(P‖Q) ≤ ρα for every α > 1, both ways (Bun & Steinke 2016, Definition 1.1)."""

    rho: float
    parameter: ClassVar[str] = "rho"
    symbol: ClassVar[str] = "ρ"
    notion: ClassVar[str] = "zero-concentrated differential privacy"
    variant: ClassVar[str] = "Zero-concentrated DP"
    example: ClassVar[str] = "rho=0.5"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", require("rho", self.rho, 0.0, math.inf))

    @property
    def words(self) -> Words:
        """How it is described to readers."""
        return CONCENTRATED

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """The largest D_α(Bern p‖Bern q)/α over α and both directions (data processing); 0 if p ≤ q."""
        p, q = probabilities(p, q)
        bits, lead = _Bits.of(p, q), (-1, *([1] * p.ndim))
        steps = _COARSE.reshape(lead)
        heights = bits.divergence(steps) / (1 + steps)
        for factors in _FINER:
            best = np.take_along_axis(
                np.broadcast_to(steps, heights.shape), heights.argmax(axis=0, keepdims=True), axis=0
            )
            steps = best * factors.reshape(lead)
            heights = bits.divergence(steps) / (1 + steps)
        return np.where(p > q, heights.max(axis=0), 0.0)

    def group(self, size: int) -> ZeroConcentratedDP:
        """k²ρ for groups of k (Bun & Steinke 2016, Proposition 1.9)."""
        return ZeroConcentratedDP(check_group(size) ** 2 * self.rho)


@dataclass(frozen=True, slots=True)
class RenyiDP(_RenyiRegion):
    """(α, ε)-Rényi DP: D_α(P‖Q) ≤ ε at one order α > 1, both ways (Mironov 2017, Definition 4)."""

    order: float
    epsilon: float
    parameter: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    notion: ClassVar[str] = "Rényi differential privacy"
    variant: ClassVar[str] = "Renyi DP"
    example: ClassVar[str] = "order=2, epsilon=0.5"

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", require("order", self.order, 1.0, math.inf, open_low=True))
        object.__setattr__(self, "epsilon", require("epsilon", self.epsilon, 0.0, math.inf))

    @property
    def words(self) -> Words:
        """How it is described to readers."""
        return RENYI

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """The larger D_α(Bern p‖Bern q) of both directions (data processing); 0 if p ≤ q."""
        p, q = probabilities(p, q)
        return np.where(p > q, _Bits.of(p, q).divergence(self.order - 1), 0.0)

    def group(self, size: int) -> RenyiDP:
        """Refused for groups of 2 and more, because the order changes with the group (Mironov 2017, Proposition 2)."""
        if check_group(size) == 1:
            return self
        raise UsageError(
            "a Rényi claim at one order says nothing at the same order for groups; "
            "state the claim for the group itself, for example claim='order=2, epsilon=…'"
        )
