"""What exactly is claimed, and which events would refute it?

A claim is an immutable value. Its *trade-off curve* f gives the smallest false negative rate that any attacker can
reach at a false positive rate (Dong, Roth & Su 2022, Gaussian differential privacy, Definition 2.1), its *privacy
profile* δ(ε) the smallest δ such that the claim implies (ε, δ)-DP (Balle, Barthe & Gaboardi 2018), and `least` turns
the probabilities of one event into the smallest value of the claim's own parameter that allows them. The three describe
the same set of pairs (p, q).
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from dpaudit.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from dpaudit.arrays import Floats


def number_text(value: float) -> str:
    """Write a float so that reading it back gives the same float, without padding: 1, 0.5, 1e-6."""
    text = repr(float(value)).removesuffix(".0")
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}" if e else text


def require(name: str, value: float, low: float, high: float, *, open_low: bool = False) -> float:
    """Return a number of a claim as a float.

    Args:
        name: what it is called in an error.
        value: as it was given.
        low, high: the range of values.
        open_low: whether ``low`` itself is excluded.

    Returns:
        The number; −0 becomes 0.

    Raises:
        UsageError: if it is not a finite number in the range.
    """
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(f"{name} must be a number, not {value!r}") from None
    inside = (low < number if open_low else low <= number) and number <= high and math.isfinite(number)
    if not inside:
        span = f"{'above' if open_low else 'at least'} {number_text(low)}"
        span += "" if math.isinf(high) else f" and at most {number_text(high)}"
        raise UsageError(f"{name} must be a finite number {span}, not {value!r}")
    return number + 0.0  # −0 becomes 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a claim is described to readers. Braces contain its numbers by name, {value} and, for e^value, {factor}.

    Attributes:
        kind: the kind of promise, in one word.
        source: who defined it, and where.
        meaning: what it promises, as a sentence for experts; {about} is " ≈ e^value" if that is short.
        more: what is written after its parameter.
        at: where bounds of its parameter hold, besides δ.
        claimed: what was promised, in plain words for a person in the data.
        proved, not_violated, violated: what these verdicts mean for that person.
    """

    kind: str
    source: str
    meaning: str
    more: str = ""
    at: str = ""
    claimed: str
    proved: str
    not_violated: str
    violated: str


class Claim(ABC):
    """A privacy promise: a notion with its numbers and its words.

    A new notion is a class like those below, and an entry in `NOTIONS`.

    Attributes:
        parameter: the name of the number that bounds are about: "epsilon", "rho" or "mu".
        symbol: the letter for it.
        notion: the name of the notion in words.
        variant: its name in registries of deployments.
        example: a claim of this notion as it is typed.
    """

    __slots__ = ()
    parameter: ClassVar[str]
    symbol: ClassVar[str]
    notion: ClassVar[str]
    variant: ClassVar[str] = "Custom"
    example: ClassVar[str]

    @property
    def value(self) -> float:
        """The number that bounds are compared with (of `parameter`)."""
        return float(getattr(self, self.parameter))

    @property
    def delta(self) -> float:
        """The δ at which ε is stated; 0 for every notion without one."""
        return 0.0

    @property
    def pure(self) -> bool:
        """Whether the claim is plain ε-DP, for which the guess bound is valid."""
        return False

    @property
    def is_point(self) -> bool:
        """Whether it is an (ε, δ) claim: one point of the privacy profile, where the loss of an event is a ratio."""
        return False

    @property
    def is_divergence(self) -> bool:
        """Whether it limits Rényi divergences, for which the multinomial bound is valid."""
        return False

    @property
    @abstractmethod
    def words(self) -> Words:
        """How it is described to readers."""

    @abstractmethod
    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """Return the smallest false negative rate f(fpr) that the claim allows; shape of ``fpr``."""

    @abstractmethod
    def profile(self, epsilon: ArrayLike) -> Floats:
        """Return δ(ε), the smallest δ for which the claim implies (ε, δ)-DP; shape of ``epsilon`` (nats ≥ 0)."""

    @abstractmethod
    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """Return the smallest value of `parameter` that allows an event of probabilities ``p`` and ``q``.

        Non-decreasing in ``p``, non-increasing in ``q``, 0 if nothing is shown (p ≤ q), ∞ if no finite value allows it.
        Other numbers of the claim (δ, the order) stay fixed.
        """

    @abstractmethod
    def group(self, size: int) -> Claim:
        """Return what the claim implies for datasets that differ by ``size`` neighbouring steps."""

    def gross(self) -> float:
        """Return the value of a gross violation, max(2v, v + 0.1), which every audit should be able to find."""
        return max(2 * self.value, self.value + 0.1)

    def with_value(self, value: float) -> Claim:
        """Return the same notion with another value of `parameter`."""
        return type(self)(**{**self.numbers, self.parameter: value})

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of its numbers, in their order."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    @property
    def numbers(self) -> dict[str, float]:
        """Its numbers by name, in their order."""
        return {name: getattr(self, name) for name in self.names()}

    def __str__(self) -> str:
        return ", ".join(f"{name}={number_text(value)}" for name, value in self.numbers.items())


def check_group(size: int) -> int:
    """Return the size of a group; raise `UsageError` if it is not a whole number of at least 1."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise UsageError(f"a group is a whole number of records, 1 or more, not {size!r}")
    return size


def probabilities(*values: ArrayLike) -> list[Floats]:
    """Return probabilities as arrays of one shape."""
    return [np.asarray(value, dtype=np.float64) for value in np.broadcast_arrays(*values)]


def as_claim(value: Any) -> Claim | None:
    """Return ``value`` as a claim: a Claim, its text, or None."""
    if value is None or isinstance(value, Claim):
        return value
    if isinstance(value, str):
        return parse_claim(value)
    raise UsageError(f"a claim is a Claim or a text such as 'epsilon=1, delta=1e-6', not {value!r}")


# --- What do ε-DP and (ε, δ)-DP promise? No set of outputs is much likelier for one dataset than for its neighbour ---

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
    pure = True
    is_point = True
    words = PURE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require("epsilon", self.epsilon, 0.0, math.inf))

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
    """(ε, δ)-DP: P(S) ≤ e^ε·Q(S) + δ for every S, both ways (Dwork, Kenthapadi, McSherry, Mironov & Naor 2006).

    Attributes:
        delta: `Claim.delta` is no default.
    """

    epsilon: float
    delta: float = field()
    parameter: ClassVar[str] = "epsilon"
    symbol: ClassVar[str] = "ε"
    notion: ClassVar[str] = "approximate differential privacy"
    variant: ClassVar[str] = "Approximate DP"
    example: ClassVar[str] = "epsilon=1, delta=1e-6"
    is_point = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require("epsilon", self.epsilon, 0.0, math.inf))
        object.__setattr__(self, "delta", require("delta", self.delta, 0.0, 1.0))

    @property
    def pure(self) -> bool:
        """True at δ = 0 only."""
        return self.delta == 0.0

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


# --- What does μ-Gaussian DP promise? Two neighbours are no easier to tell apart than two normal distributions ---

GAUSSIAN = Words(
    kind="gaussian",
    source="Dong, Roth & Su (2022). Gaussian differential privacy. J. of the Royal Statistical Society B 84(1).",
    meaning=(
        "Telling two neighbouring datasets apart from one output is at least as hard as telling one draw of a normal "
        "distribution with mean 0 from one with mean {value}, both with variance 1."
    ),
    claimed=(
        "That telling whether one record is in the data is at least as hard as telling which of two bell curves a "
        "number was drawn from, when their centres lie {value} standard deviations apart."
    ),
    proved=(
        "Whoever sees an output can guess what it says about them no better than the curve of the claim allows. This "
        "is about the mechanism as mathematics."
    ),
    not_violated=(
        "An attacker who tried these ways of telling from an output whether their record was used stayed within the "
        "curve of the claim. Another attacker may not."
    ),
    violated=(
        "Whoever sees an output can guess what it says about them better than was promised: with fewer mistakes than "
        "the curve of the claim allows."
    ),
)


@dataclass(frozen=True, slots=True)
class GaussianDP(Claim):
    """μ-Gaussian DP: no easier to break than N(0, 1) against N(μ, 1) (Dong, Roth & Su 2022, Definition 2.6)."""

    mu: float
    parameter: ClassVar[str] = "mu"
    symbol: ClassVar[str] = "μ"
    notion: ClassVar[str] = "Gaussian differential privacy"
    example: ClassVar[str] = "mu=1"
    words = GAUSSIAN

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", require("mu", self.mu, 0.0, math.inf))

    def tradeoff(self, fpr: ArrayLike) -> Floats:
        """Φ(Φ⁻¹(1 − α) − μ) (Dong, Roth & Su 2022, equation 6)."""
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(-ndtri(np.asarray(fpr, dtype=np.float64)) - self.mu))

    def profile(self, epsilon: ArrayLike) -> Floats:
        """Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Dong, Roth & Su 2022, Corollary 2.13; Balle & Wang 2018, Theorem 8)."""
        from scipy.special import log_ndtr

        at = np.asarray(epsilon, dtype=np.float64)
        if self.mu == 0:
            return np.zeros_like(at)
        with np.errstate(over="ignore", invalid="ignore"):
            log_p = log_ndtr(self.mu / 2 - at / self.mu)
            log_q = at + log_ndtr(-self.mu / 2 - at / self.mu)
            deltas = np.exp(log_p) * -np.expm1(np.minimum(0.0, log_q - log_p))
        return np.asarray(np.where(np.isneginf(log_p), 0.0, deltas))

    def least(self, p: ArrayLike, q: ArrayLike) -> Floats:
        """Φ⁻¹(p) − Φ⁻¹(q)."""
        from scipy.special import ndtri

        p, q = probabilities(p, q)
        with np.errstate(invalid="ignore"):
            return np.where(p > q, ndtri(p) - ndtri(q), 0.0)

    def group(self, size: int) -> GaussianDP:
        """kμ for groups of k (Dong, Roth & Su 2022, Theorem 2.14)."""
        return GaussianDP(check_group(size) * self.mu)


# --- What do zCDP and Rényi DP promise? The Rényi divergences of the two output distributions are small ---

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
    """Logarithms of the probabilities of two bits, from which every Rényi divergence follows.

    Written such that p ≥ q and p + q ≤ 1, for a bit or its complement; then D_α(Bern p‖Bern q) is the larger one of the
    two directions at every order. With a = log(p/q), b = log((1 − q)/(1 − p)), both at least 0, and s = α − ½ the
    difference of E_p[(p/q)^t] and E_q[(q/p)^t] is 2√(pq)·sinh(sa) − 2√((1 − p)(1 − q))·sinh(sb). It is 0 at s = ½, and
    sinh(sx)/sinh(x/2) rises with x; so it has the sign of a − b, which is that of (p − q)(1 − p − q).
    """

    hit_p: Floats
    hit_q: Floats
    miss_p: Floats
    miss_q: Floats

    @classmethod
    def of(cls, p: Floats, q: Floats) -> _Bits:
        p, q = np.maximum(p, q), np.minimum(p, q)
        whole = p + q <= 1
        with np.errstate(divide="ignore"):
            hit_p, hit_q, miss_p, miss_q = np.log(p), np.log(q), np.log1p(-p), np.log1p(-q)
        return cls(
            np.where(whole, hit_p, miss_q),
            np.where(whole, hit_q, miss_p),
            np.where(whole, miss_p, hit_q),
            np.where(whole, miss_q, hit_p),
        )

    def divergence(self, above: ArrayLike) -> Floats:
        """The larger of D_α(Bern p‖Bern q) and D_α(Bern q‖Bern p), α = 1 + ``above``; arguments broadcast.

        In nats (van Erven & Harremoës 2014, equation 10), as log E_p[(p/q)^t]/t with t = α − 1.
        """
        t = np.asarray(above, dtype=np.float64)
        with np.errstate(all="ignore"):
            hit = np.where(self.hit_p > -np.inf, t * (self.hit_p - self.hit_q), 0.0)
            miss = np.where(self.miss_p > -np.inf, t * (self.miss_p - self.miss_q), 0.0)
            # close to order 1 the two terms add up to nearly 1, and their logarithm would be mostly rounding error
            divergences = np.asarray(
                np.log1p(np.exp(self.hit_p) * np.expm1(hit) + np.exp(self.miss_p) * np.expm1(miss))
            )
            is_far = ~(np.maximum(hit, -miss) < 0.5)
            far = [np.broadcast_to(each, divergences.shape)[is_far] for each in (self.hit_p + hit, self.miss_p + miss)]
            divergences[is_far] = np.logaddexp(*far)
            return np.asarray(np.fmax(divergences / t, 0.0))


class _RenyiRegion(Claim):
    """What zCDP and Rényi DP share: curves that follow from the pairs (p, q) that their divergence allows.

    A test is post-processing to one bit, and a mechanism may itself release just that bit, so the pairs that the
    divergence allows are exactly the pairs that the claim allows.
    """

    __slots__ = ()

    is_divergence = True

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

    words = CONCENTRATED

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

    words = RENYI

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


NOTIONS: tuple[type[Claim], ...] = (PureDP, ApproxDP, ZeroConcentratedDP, GaussianDP, RenyiDP)
"""All notions that are known."""

_EXAMPLES = [repr(notion.example) for notion in NOTIONS]
FORMS = f"{', '.join(_EXAMPLES[:-1])} or {_EXAMPLES[-1]}"
SYMBOLS = {notion.parameter: notion.symbol for notion in NOTIONS}
"""The letter for each parameter that bounds are about."""


def needs_delta(what: str, epsilon: str) -> str:
    """Say what to claim where no finite ε holds without a δ, as of all Gaussian noise."""
    return f"{what} keeps no ε without a δ: claim both, such as 'epsilon={epsilon}, delta=1e-5'"


_ALIASES = {"eps": "epsilon", "δ": "delta", "α": "order"} | {symbol: name for name, symbol in SYMBOLS.items()}
_KINDS = {frozenset(notion.names()): notion for notion in NOTIONS}
_NAMES = frozenset().union(*_KINDS)


def _claimed_number(text: str, claim: str) -> float:
    logarithm = re.fullmatch(r"(?:ln|log)\((.+)\)", text)
    try:
        return math.log(float(logarithm[1])) if logarithm else float(text)
    except ValueError:
        raise UsageError(f"cannot read the number {text!r} in the claim {claim!r}; write {FORMS}") from None


def parse_claim(text: str) -> Claim:
    """Read a claim from its text; the inverse of ``str``.

    Numbers are decimal, or ``ln(3)``. Raises `UsageError` with the possible forms.
    """
    numbers: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        name = _ALIASES.get(name.lower(), name.lower())
        if not equals or name not in _NAMES:
            raise UsageError(f"cannot read {part!r} in the claim {text!r}; write {FORMS}")
        if name in numbers:
            raise UsageError(f"the claim {text!r} gives {name} twice")
        numbers[name] = _claimed_number(value, text)
    kind = _KINDS.get(frozenset(numbers))
    if kind is None:
        raise UsageError(f"the claim {text!r} is none that is known; write {FORMS}")
    return kind(**numbers)
