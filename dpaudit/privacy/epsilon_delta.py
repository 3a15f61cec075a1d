"""What do ε-DP and (ε, δ)-DP promise? No set of outputs is much likelier for one dataset than for its neighbour."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpaudit.privacy.claims import Claim, Words, check_group, probabilities, require

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

PURE = Words(
    kind="pure",
    source="Dwork, McSherry, Nissim & Smith (2006). Calibrating noise to sensitivity in private data analysis. TCC.",
    meaning=(
        "For neighbouring datasets, no set of outputs is more than e^{value}{about} times as likely for one as for the "
        "other."
    ),
    claimed="That one record, whatever it says, makes no output more than {factor} times as likely, or as unlikely.",
    proved=(
        "Whoever sees an output cannot become much surer of what it says about them: the table below says how sure at "
        "most. This is about the mechanism as mathematics."
    ),
    not_violated=(
        "An attacker who tried these ways of telling from an output whether their record was used did no better than "
        "the claim allows. Another attacker may do better."
    ),
    violated=(
        "Whoever sees an output can become surer of what it says about them than was promised: the table below "
        "says how sure at least, for some outputs."
    ),
)

APPROXIMATE = Words(
    kind="approximate",
    source=(
        "Dwork, Kenthapadi, McSherry, Mironov & Naor (2006). Our data, ourselves: privacy via distributed noise "
        "generation. EUROCRYPT."
    ),
    meaning=(
        "For neighbouring datasets and every set S of outputs, P(S) ≤ e^{value} · Q(S) + {delta}, in both orders of "
        "the two."
    ),
    more=", δ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{delta}",
    claimed=(
        "That one record, whatever it says, makes no set of outputs more than {factor} times as likely, but for a "
        "probability of {delta} that is left out of the promise."
    ),
    proved=(
        "Whoever sees an output becomes surer of what it says about them by no more than the factor above, but for a "
        "chance of {delta} in which anything may come out. This is about the mechanism as mathematics."
    ),
    not_violated=(
        "An attacker who tried these ways of telling from an output whether their record was used did no better than "
        "the claim allows. Another attacker may do better, and what happens as seldom as δ was hardly seen."
    ),
    violated=(
        "Whoever sees an output can become surer of what it says about them than was promised, and more often than the "
        "{delta} that the promise leaves out."
    ),
)

AT_ZERO = replace(PURE, more=APPROXIMATE.more)


def _approximate_loss(p: ArrayLike, q: ArrayLike, delta: float) -> Floats:
    """ε of an event and of its complement: log((p − δ)/q) and log((1 − q − δ)/(1 − p))."""
    p, q = probabilities(p, q)
    # a remainder after δ that may be due to rounding shows nothing
    rounding = 4 * np.finfo(np.float64).eps if delta > 0 else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        event = np.where(p - delta > rounding, np.log(np.maximum(p - delta, 0.0)) - np.log(q), 0.0)
        rest = np.where(1 - q - delta > rounding, np.log1p(-np.minimum(q + delta, 1.0)) - np.log1p(-p), 0.0)
    return np.where(p > q, np.maximum(np.fmax(event, rest), 0.0), 0.0)


@dataclass(frozen=True, slots=True)
class PureDP(Claim):
    """ε-differential privacy (Dwork, McSherry, Nissim & Smith 2006, Definition 1)."""

    epsilon: float
    parameter: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    notion: ClassVar[str] = "pure differential privacy"
    variant: ClassVar[str] = "Pure DP"
    example: ClassVar[str] = "epsilon=1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require("epsilon", self.epsilon, 0.0, math.inf))

    @property
    def pure(self) -> bool:
        """True: this is plain ε-DP."""
        return True

    @property
    def is_point(self) -> bool:
        """True."""
        return True

    @property
    def words(self) -> Words:
        """How it is described to readers."""
        return PURE

    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """max(0, 1 − e^ε·α, e^−ε·(1 − α)) (Wasserman & Zhou 2010, Theorem 2.4; Kairouz, Oh & Viswanath 2015)."""
        return ApproxDP(self.epsilon, 0.0).tradeoff(fpr)

    def profile(self, epsilon: ArrayLike) -> Floats:
        """(e^ε₀ − e^ε)₊ / (1 + e^ε₀): randomised response is the worst (Kairouz, Oh & Viswanath 2015, Theorem 3.2)."""
        return ApproxDP(self.epsilon, 0.0).profile(epsilon)

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """The larger log ratio of the event and of its complement."""
        return _approximate_loss(p, q, 0.0)

    def group(self, size: int) -> PureDP:
        """kε for groups of k (Dwork & Roth 2014, Theorem 2.2)."""
        return PureDP(check_group(size) * self.epsilon)


@dataclass(frozen=True, slots=True)
class ApproxDP(Claim):
    """(ε, δ)-DP: P(S) ≤ e^ε·Q(S) + δ for every S, both ways (Dwork, Kenthapadi, McSherry, Mironov & Naor 2006)."""

    epsilon: float
    delta: float = field()  # `Claim.delta` is no default
    parameter: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    notion: ClassVar[str] = "approximate differential privacy"
    variant: ClassVar[str] = "Approximate DP"
    example: ClassVar[str] = "epsilon=1, delta=1e-6"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require("epsilon", self.epsilon, 0.0, math.inf))
        object.__setattr__(self, "delta", require("delta", self.delta, 0.0, 1.0))

    @property
    def pure(self) -> bool:
        """True at δ = 0 only."""
        return self.delta == 0.0

    @property
    def is_point(self) -> bool:
        """True."""
        return True

    @property
    def words(self) -> Words:
        """How it is described to readers; at δ = 0 as pure."""
        return APPROXIMATE if self.delta > 0 else AT_ZERO

    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """max(0, 1 − δ − e^ε·α, e^−ε·(1 − δ − α)) (Dong, Roth & Su 2022, Proposition 2.5)."""
        alpha = np.asarray(fpr, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            steep = np.where(alpha > 0, 1 - self.delta - np.exp(self.epsilon) * alpha, 1 - self.delta)
        flat = np.exp(-self.epsilon) * (1 - self.delta - alpha)
        return np.asarray(np.maximum(0.0, np.maximum(steep, flat)))

    def profile(self, epsilon: ArrayLike) -> Floats:
        """δ + (1 − δ)·(e^ε₀ − e^ε)₊/(1 + e^ε₀), the conjugate of the trade-off curve at its corner."""
        at = np.asarray(epsilon, dtype=np.float64)
        # (e^a − e^b)/(1 + e^a) = (1 − e^(b−a))/(1 + e^−a), which cannot overflow
        gap = np.maximum(0.0, -np.expm1(np.minimum(0.0, at - self.epsilon)) / (1 + np.exp(-self.epsilon)))
        return np.asarray(self.delta + (1 - self.delta) * gap)

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """The larger of log((p − δ)/q) and log((1 − q − δ)/(1 − p))."""
        return _approximate_loss(p, q, self.delta)

    def group(self, size: int) -> ApproxDP:
        """(kε, δ·(e^kε − 1)/(e^ε − 1)) for groups of k (Vadhan 2017, Lemma 2.2)."""
        k = check_group(size)
        try:
            factor = math.expm1(k * self.epsilon) / math.expm1(self.epsilon) if self.epsilon > 0 else k
        except OverflowError:
            factor = math.inf
        return ApproxDP(k * self.epsilon, min(1.0, self.delta * factor) if self.delta > 0 else 0.0)
