"""How is the privacy loss of one step distributed, exactly?

A step is held by a *dominating pair* (P, Q): P is the output with a record and Q the one without it, or after it
was replaced (Zhu, Dong & Wang 2022, Definition 7). Its loss is L = ln(dP/dQ). A law gives the probabilities of
{L > u} under P and Q in balls, from which the curve H(e^u) = P(L > u) − e^u·Q(L > u) follows; and a sketch of its
density in floating point, by which nodes are chosen and nothing is decided.
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.errors import UsageError

# --- How is a real number computed with certainty? Arb's balls, at a precision that belongs to one computation. ---
#
# A ball contains the exact number (Johansson 2017, Arb). Everything that accounting proves is computed in balls or in
# whole numbers; floating point only chooses where to look.

_KEPT_DIGITS = 12  # of a number that is certified
_LONGEST, _ROUNDED = 60, 30  # digits of a rational one


def flint() -> Any:
    """Return python-flint; raise `UsageError` where it is not installed."""
    try:
        import flint as library
    except ImportError:
        raise UsageError(
            "certified accounting needs python-flint; install it with: pip install 'dpaudit[proof]'"
        ) from None
    return library


@contextmanager
def precision(bits: int) -> Iterator[Any]:
    """Compute in balls of so many bits, whatever the process has set; gives python-flint."""
    library = flint()
    before, library.ctx.prec = library.ctx.prec, bits
    try:
        yield library
    finally:
        library.ctx.prec = before


def ball(value: Fraction | int) -> Any:
    """Return a ball around an exact number."""
    library = flint()
    number = Fraction(value)
    return library.arb(library.fmpq(number.numerator, number.denominator))


def middle(value: Any) -> float:
    """Return the middle of a ball as a float: for searching only."""
    return float(value.mid())


def rounded_up(value: Any, unit: int) -> int:
    """Return ⌊value·unit + 1.3⌋: at least value·unit, whatever is done to it by errors below 0.3."""
    return _floor(value * unit + ball(Fraction(13, 10)))


def rounded_down(value: Any, unit: int) -> int:
    """Return ⌊value·unit − 0.3⌋, or 0 where that is negative: at most value·unit, for values that are not negative.

    The shift keeps whole numbers, which occur, away from the jumps of ⌊·⌋, so that another way of computing
    ``value`` ends at the same whole number.
    """
    return max(0, _floor(value * unit - ball(Fraction(3, 10)), down=True))


def _floor(value: Any, *, down: bool = False) -> int:
    floor = value.floor().unique_fmpz()
    if floor is None:
        end = value.lower() if down else value.upper()
        floor = end.floor().unique_fmpz()
    return int(floor)


def decimal(value: Any, *, up: bool) -> Decimal:
    """Return a decimal of 12 digits that is certainly not below (``up``), or not above, what a ball holds."""
    end = value.upper() if up else value.lower()
    mantissa, exponent = (int(part) for part in end.man_exp())
    exactly = Fraction(mantissa) * Fraction(2) ** exponent
    context = Context(prec=_KEPT_DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return context.divide(Decimal(exactly.numerator), Decimal(exactly.denominator))


def short(value: Fraction, *, up: bool) -> Fraction:
    """Return a number itself, or rounded to one side to 30 digits where it has more than 60."""
    if max(value.numerator, value.denominator) < 10**_LONGEST:
        return value
    scale = 10 ** (_ROUNDED + max(0, len(str(value.denominator)) - len(str(value.numerator))))
    return Fraction(math.ceil(value * scale) if up else math.floor(value * scale), scale)


def outward(value: Fraction | None, *, up: bool) -> float:
    """Return the nearest float that is not inside of an interval with this end; None is infinity."""
    if value is None:
        return math.inf
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if up else sys.float_info.max
    if up and nearest < value:
        return math.nextafter(nearest, math.inf)
    return math.nextafter(nearest, -math.inf) if not up and nearest > value else nearest


# --- How is the privacy loss of one step distributed, exactly? ---

_POINTS = 4001  # of a sketch
_MOST_ATOMS = 200_000
_TWICE_LOG_TEN = Fraction(4605170185988092, 10**15)


@dataclass(frozen=True)
class Sketch:
    """A law in floating point."""

    losses: Floats  # rising, (n,); (n,) masses under P lie at ``at``, the middles of cells or the atoms
    at: Floats  # where the masses are
    masses: Floats  # under P


class LossLaw(ABC):
    """The law of the loss of a step."""

    symmetric = False  # whether the loss from Q to P has the same law

    @abstractmethod
    def sketch(self, tail: float) -> Sketch:
        """Return the law in floating point, without tails of about this mass."""

    @abstractmethod
    def reversed(self) -> LossLaw:
        """Return the law of the loss from Q to P."""


class Continuous(LossLaw):
    """A loss with a density; between finite ends, where the law has them, and perhaps with an atom at each end."""

    tested = False  # whether ``tails`` are those of events that tell only P and Q, and not how large losses are

    def reversed(self) -> Continuous:
        """Return the law of the loss from Q to P."""
        return self if self.symmetric else Reversed(self)

    @abstractmethod
    def tails(self, u: Any) -> tuple[Any, Any]:
        """Return P(L > u) and Q(L > u) for a ball u; at the upper end those of {L ≥ u}."""

    def ends(self) -> tuple[Any, Any] | None:
        """Return the least and the largest loss, as balls; None for a loss without bounds."""
        return None

    @property
    def span(self) -> Fraction | None:
        """The distance of the ends, where it is a rational number; None elsewhere."""
        return None


@dataclass(frozen=True)
class GaussianLaw(Continuous):
    """N(1, s²) against N(0, s²): L(x) = (2x − 1)/2s², so L > u where x > s²u + 1/2 (Balle & Wang 2018)."""

    square: Fraction  # s², the noise to the sensitivity
    symmetric = True

    def tails(self, u: Any) -> tuple[Any, Any]:
        """P(x > t) and Q(x > t) by the complementary error function."""
        square = ball(self.square)
        x = square * u + ball(Fraction(1, 2))
        root = (2 * square).sqrt()
        return ((x - 1) / root).erfc() / 2, (x / root).erfc() / 2

    def sketch(self, tail: float) -> Sketch:
        """Equal steps of x."""
        deviation = math.sqrt(self.square)
        x = 1 + deviation * np.linspace(-1, 1, _POINTS) * (math.sqrt(2 * math.log(1 / tail)))
        return _sketch((2 * x - 1) / (2 * float(self.square)), _cells(x - 1, deviation))


def _cells(x: Floats, deviation: float) -> Floats:
    """Masses of a normal law between points, precise in both tails."""
    from scipy.special import ndtr  # slow to import, and reports need none of it

    below, above = ndtr(x / deviation), ndtr(-x / deviation)
    return np.where(x[1:] < 0, np.diff(below), -np.diff(above))


def _sketch(losses: Floats, masses: Floats) -> Sketch:
    return Sketch(losses, (losses[1:] + losses[:-1]) / 2, np.maximum(masses, 0.0))


@dataclass(frozen=True)
class LaplaceLaw(Continuous):
    """Laplace noise of scale b around 0 and around 1: L = (|x − 1| − |x|)/b, so L > u where x < (1 − ub)/2."""

    scale: Fraction
    symmetric = True

    def tails(self, u: Any) -> tuple[Any, Any]:
        """P(x < t) = 1 − e^(−t/b)/2 and Q(x < t) = e^((t − 1)/b)/2 for 0 ≤ t ≤ 1."""
        scale = ball(self.scale)
        t = (1 - u * scale) / 2
        return 1 - (-t / scale).exp() / 2, ((t - 1) / scale).exp() / 2

    def ends(self) -> tuple[Any, Any]:
        """±1/b, both of positive probability."""
        end = ball(1 / self.scale)
        return -end, end

    @property
    def span(self) -> Fraction:
        """2/b."""
        return 2 / self.scale

    def sketch(self, tail: float) -> Sketch:
        """Equal steps of the loss, and the atoms at both ends."""
        end = float(1 / self.scale)
        losses = np.linspace(-end, end, _POINTS)
        # P(L > u) = 1 − e^((u − 1/b)/2)/2
        inner = np.diff(np.exp((losses - end) / 2) / 2)
        sketch = _sketch(losses, inner)
        at, masses = [-end, *sketch.at, end], [math.exp(-end) / 2, *inner, 0.5]
        return Sketch(losses, np.array(at), np.array(masses))


@dataclass(frozen=True)
class BoundedRangeLaw(Continuous):
    """The curve above all pairs of ε-bounded range, and so above the exponential mechanism.

    A pair has losses within [t − ε, t] for some t (Dong, Durfee & Rogers 2020). For each t the worst has only these
    two losses, and H(α) = (e^ε − e^t)(1 − αe^(−t))/(e^ε − 1); the largest, over t, is at e^2t = αe^ε and
    H(α) = (e^(ε/2) − √α)²/(e^ε − 1) for |ln α| ≤ ε. This is the curve of the law here.
    """

    epsilon: Fraction
    symmetric = True

    def tails(self, u: Any) -> tuple[Any, Any]:
        """Q = −H'(e^u) and P = H + e^u·Q."""
        epsilon = ball(self.epsilon)
        whole = epsilon.expm1()
        return (epsilon.exp() - ((epsilon + u) / 2).exp()) / whole, ((epsilon - u) / 2).expm1() / whole

    def ends(self) -> tuple[Any, Any]:
        """±ε."""
        end = ball(self.epsilon)
        return -end, end

    @property
    def span(self) -> Fraction:
        """2ε."""
        return 2 * self.epsilon

    def sketch(self, tail: float) -> Sketch:
        """Equal steps of the loss."""
        end = float(self.epsilon)
        losses = np.linspace(-end, end, _POINTS)
        # (e^((ε+u)/2) − 1)/(e^ε − 1), without overflow
        below = np.exp((losses - end) / 2) * -np.expm1(-(end + losses) / 2) / -math.expm1(-end)
        return _sketch(losses, np.diff(below))


@dataclass(frozen=True)
class SampledLaw(Continuous):
    """((1 − q)Q + qP, Q): a record takes part with probability q.

    L = ln(1 − q + q·e^L₀) rises with the loss L₀ of the step itself, so L > u where L₀ > ln(1 + (e^u − 1)/q).
    """

    law: Continuous
    rate: Fraction

    def tails(self, u: Any) -> tuple[Any, Any]:
        """Of the step itself at the loss that becomes u; 1 below ln(1 − q), which no loss undercuts."""
        rate = ball(self.rate)
        ratio = u.expm1() / rate + 1
        if not ratio > 0:
            one = ball(1)
            if ratio < 0:
                return one, one
            raise ArithmeticError("a node is too close to ln(1 - q)")
        p, q = self.law.tails(ratio.log())
        return q + rate * (p - q), q

    def ends(self) -> tuple[Any, Any] | None:
        """Those of the step, carried over."""
        ends = self.law.ends()
        if ends is None:
            return None
        low, high = (transported(end, self.rate) for end in ends)
        return low, high

    def sketch(self, tail: float) -> Sketch:
        """The step's own sketch, carried over."""
        own, rate = self.law.sketch(tail), float(self.rate)
        # (1 − q)Q + qP = P·(1 − q)e^(−L₀) + qP
        masses = own.masses * (rate + (1 - rate) * np.exp(np.minimum(-own.at, 700.0)))
        return Sketch(_transported(own.losses, rate), _transported(own.at, rate), np.minimum(masses, 1.0))


def transported(loss: Any, rate: Fraction) -> Any:
    """Return ln(1 − q + q·e^loss) in balls."""
    return (ball(rate) * loss.expm1()).log1p()


def _transported(losses: Floats, rate: float) -> Floats:
    # ln(1 − q + q·e^l); for large l as l + ln(q + (1 − q)e^(−l)), which cannot overflow
    small = np.log1p(rate * np.expm1(np.minimum(losses, 1.0)))
    return np.where(losses <= 1, small, losses + np.log(rate + (1 - rate) * np.exp(-np.maximum(losses, 1.0))))


@dataclass(frozen=True)
class Reversed(Continuous):
    """The loss from Q to P: −L under Q."""

    law: Continuous

    def tails(self, u: Any) -> tuple[Any, Any]:
        """Q(−L > u) and P(−L > u), as 1 − Q(L ≥ −u) and 1 − P(L ≥ −u); atoms at u count alike in the curve."""
        p, q = self.law.tails(-u)
        return 1 - q, 1 - p

    def ends(self) -> tuple[Any, Any] | None:
        """Turned."""
        ends = self.law.ends()
        return None if ends is None else (-ends[1], -ends[0])

    @property
    def span(self) -> Fraction | None:
        """As it was."""
        return self.law.span

    def reversed(self) -> Continuous:
        """The law that it was."""
        return self.law

    def sketch(self, tail: float) -> Sketch:
        """Turned, with the masses under Q."""
        # under Q far more of the mass lies at low losses: the sketch of P has to reach there
        own = self.law.sketch(tail * 1e-12)
        with np.errstate(over="ignore"):
            masses = np.nan_to_num(own.masses * np.exp(-own.at), nan=0.0, posinf=0.0)
        return Sketch(-own.losses[::-1], -own.at[::-1], masses[::-1])


@dataclass(frozen=True)
class Spliced(Continuous):
    """H(α) of a law for α ≥ 1, and of the loss from Q to P for α < 1: a symmetric relation, in one curve.

    Where neighbours are symmetric, H_α(A‖B) = 1 − α + α·H_1/α(B‖A) turns a bound for α ≥ 1 into one for α < 1. The
    loss 0 has what probability is left.
    """

    law: Continuous
    symmetric = True

    def tails(self, u: Any) -> tuple[Any, Any]:
        """Of the law from 0 on, and of the reversed one below."""
        ends = self.ends()
        if ends is not None and not ends[0] < u:
            return _known(u < ends[0], 1)
        if ends is not None and not u < ends[1]:
            return _known(u > ends[1], 0)
        if u >= 0:
            return self.law.tails(u)
        _known(u < 0, 0)
        return self.law.reversed().tails(u)

    def ends(self) -> tuple[Any, Any] | None:
        """The largest loss of the law, and minus that."""
        ends = self.law.ends()
        return None if ends is None else (-ends[1], ends[1])

    def sketch(self, tail: float) -> Sketch:
        """Both halves, and an atom between them."""
        upper, lower = self.law.sketch(tail), self.law.reversed().sketch(tail)
        high, low = upper.losses > 0, lower.losses < 0
        above, below = upper.at > 0, lower.at < 0
        left = max(0.0, 1.0 - float(upper.masses[above].sum() + lower.masses[below].sum()))
        return Sketch(
            np.concatenate([lower.losses[low], [0.0], upper.losses[high]]),
            np.concatenate([lower.at[below], [0.0], upper.at[above]]),
            np.concatenate([lower.masses[below], [left], upper.masses[above]]),
        )


def _known(certain: bool, value: int) -> tuple[Any, Any]:
    if not certain:
        raise ArithmeticError("a node is too close to an end of the loss")
    return ball(value), ball(value)


@dataclass(frozen=True)
class Atoms(LossLaw):
    """A loss with finitely many values."""

    # gives the balls of (loss, mass under P, mass under Q), the losses rising
    values: Callable[[], list[tuple[Any, Any, Any]]]
    # what the losses are whole multiples of, from the first on: exactly, or as a function that gives a ball; None where
    # there is no such unit
    unit: Fraction | Callable[[], Any] | None
    indices: tuple[int, ...]  # those multiples
    # infinite, lost: the mass under P of an infinite loss, and under Q of −∞
    infinite: Fraction = Fraction(0)
    lost: Fraction = Fraction(0)
    # whether ``values`` leave out a little mass; it counts as infinite from above, and not from below
    spare: bool = False
    symmetric: bool = False

    def sketch(self, tail: float) -> Sketch:
        """The atoms themselves."""
        at, masses = (np.array([middle(value[i]) for value in self.values()]) for i in (0, 1))
        return Sketch(at, at, masses)

    def reversed(self) -> Atoms:
        """The loss from Q to P."""
        if self.symmetric:
            return self
        last = self.indices[-1]
        return Atoms(
            values=lambda: [(-loss, q, p) for loss, p, q in reversed(self.values())],
            unit=self.unit,
            indices=tuple(last - index for index in reversed(self.indices)),
            infinite=self.lost,
            lost=self.infinite,
            spare=self.spare,
        )

    def sampled(self, rate: Fraction) -> Atoms:
        """Return the law of ((1 − q)Q + qP, Q): losses ln(1 − q + q·e^L), and ln(1 − q) where only Q has mass."""

        def values() -> list[tuple[Any, Any, Any]]:
            q = ball(rate)
            own = [(transported(loss, rate), q * p + (1 - q) * other, other) for loss, p, other in self.values()]
            return [((-q).log1p(), (1 - q) * ball(self.lost), ball(self.lost)), *own] if self.lost else own

        def unit() -> Any:
            low, high = (value[0] for value in values())
            return high - low

        two = len(self.indices) == 2 and not self.lost
        indices = (0, 1) if two else tuple(range(len(self.indices) + bool(self.lost)))
        return Atoms(values, unit if two else None, indices, self.infinite * rate, spare=self.spare)

    def spliced(self) -> Atoms:
        """Return H(α) of this law for α ≥ 1, and of the loss from Q to P for α < 1, as `Spliced` does."""

        def values() -> list[tuple[Any, Any, Any]]:
            own = self.values()
            high, low = ([each for each in own if (each[0] > 0) is above] for above in (True, False))
            if not all(loss <= 0 for loss, _, _ in low):
                raise ArithmeticError("a loss is too close to 0")
            left = sum((p for _, p, _ in low), ball(0)) - sum((q for _, _, q in high), ball(0))
            return [*((-loss, q, p) for loss, p, q in reversed(high)), (ball(0), left, left), *high]

        one = len(self.indices) <= 3 and len(values()) == 3
        unit = (lambda: values()[-1][0]) if one else None
        return Atoms(values, unit, (0, 1, 2), self.infinite, self.infinite, spare=self.spare, symmetric=True)


def randomised_response(epsilon: Fraction, infinite: Fraction = Fraction(0)) -> Atoms:
    """Return the law of the worst (ε, δ)-DP pair (Kairouz, Oh & Viswanath 2015): losses ±ε, and ±∞ of probability δ."""

    def values() -> list[tuple[Any, Any, Any]]:
        loss, rest = ball(epsilon), ball(1 - infinite)
        low, high = rest / (1 + loss.exp()), rest / (1 + (-loss).exp())
        return [(-loss, low, high), (loss, high, low)]

    return Atoms(values, 2 * epsilon, (0, 1), infinite, infinite, symmetric=True)


def discrete_laplace(scale: Fraction, sensitivity: int) -> Atoms:
    """Return the law of noise ∝ e^(−|k|/t) around 0 and around Δ: L = (|k − Δ| − |k|)/t.

    The losses are (Δ − 2j)/t: at k = j alone for 0 < j < Δ, at all k ≤ 0 for j = 0, at all k ≥ Δ for j = Δ.
    """

    def values() -> list[tuple[Any, Any, Any]]:
        r = ball(-1 / scale).exp()
        single, end = (1 - r) / (1 + r), 1 / (1 + r)  # P(k = 0) and P(k ≤ 0)
        masses = [(end if j == 0 else single * r**j if j < sensitivity else end * r**j) for j in range(sensitivity + 1)]
        return [
            (ball((sensitivity - 2 * j) / scale), masses[j], masses[sensitivity - j])
            for j in range(sensitivity, -1, -1)
        ]

    return Atoms(values, 2 / scale, tuple(range(sensitivity + 1)), symmetric=True)


def discrete_gaussian(square: Fraction, sensitivity: int, digits: int, most: int = _MOST_ATOMS) -> Atoms:
    """Return the law of noise ∝ e^(−k²/2σ²) around Δ and around 0: L = (2Δk − Δ²)/2σ² (Canonne, Kamath & Steinke 2020).

    The values reach to R beyond both centres, R being such that about 10^−digits is left over, which is spare. Beyond
    R the sum of e^(−k²/2σ²) is at most e^(−R²/2σ²)/(e^(R/σ²) − 1) on each side, because k² ≥ R² + 2R(k − R).

    Args:
        square: σ².
        sensitivity: Δ.
        digits: decimal digits to which the masses are wanted.
        most: how far R may be.
    """
    reach = math.isqrt(math.ceil(square * math.ceil(_TWICE_LOG_TEN * (digits + 5)))) + 1 + sensitivity
    if reach > most:
        raise UsageError(
            f"discrete Gaussian noise of sigma {math.sqrt(square):g} has more than {most:,} values to account for; "
            "give sigma and the answers in larger units"
        )

    def values() -> list[tuple[Any, Any, Any]]:
        shares = [(-ball(Fraction(k * k) / (2 * square))).exp() for k in range(reach + 1)]
        beyond = shares[-1] / ball(Fraction(reach) / square).expm1()
        whole = shares[0] + 2 * sum(shares[1:], ball(0)) + 2 * beyond.union(ball(0))
        return [
            (
                ball(Fraction(2 * sensitivity * k - sensitivity**2) / (2 * square)),
                shares[abs(k - sensitivity)] / whole,
                shares[abs(k)] / whole,
            )
            for k in range(sensitivity - reach, reach + 1)
        ]

    indices = tuple(range(2 * reach - sensitivity + 1))
    return Atoms(values, sensitivity / square, indices, spare=True, symmetric=True)


# --- What does one epoch of shuffled batches certainly lose? Events of the largest output of all batches ---


@dataclass(frozen=True)
class LargestLaw(Continuous):
    """P = mean of N(2e_t, s²I) against Q = mean of N(e_t, s²I) over T batches t, known by the events {max x_t > c}.

    The pair is attained where all other records contribute −1 (Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang
    2024). Its loss depends on all batches; what stands here for {L > u} is the event with c = s²u + 3/2, beyond which a
    known batch would lose more than u. Only P and Q of these events are certain, not the losses within.
    """

    square: Fraction  # s², the noise to the sensitivity
    batches: int
    tested = True

    def tails(self, u: Any) -> tuple[Any, Any]:
        """P(max > c) = 1 − Φ((c − 2)/s)·Φ(c/s)^(T−1), and Q with c − 1."""
        square = ball(self.square)
        c, root = square * u + ball(Fraction(3, 2)), (2 * square).sqrt()
        others, without, with_it = (-((c - moved) / root).erfc() / 2 for moved in (0, 1, 2))
        empty = others.log1p() * (self.batches - 1)
        return -(with_it.log1p() + empty).expm1(), -(without.log1p() + empty).expm1()

    def sketch(self, tail: float) -> Sketch:
        """Equal steps of c, and the loss of the largest output there."""
        _, losses, logs = self._table(tail)
        inner = np.where(logs[1:] < -0.7, np.diff(np.exp(logs)), np.diff(np.expm1(logs)))
        return Sketch(losses, (losses[1:] + losses[:-1]) / 2, np.maximum(inner, 0.0))

    def placed(self, losses: Floats, tail: float) -> Floats:
        """Return the u of the events that begin where the largest output loses so much."""
        events, own, _ = self._table(tail)
        inside = np.interp(losses, own, events)
        beyond: Floats = inside + np.maximum(losses - own[-1], 0.0) + np.minimum(losses - own[0], 0.0)
        return beyond

    def _table(self, tail: float) -> tuple[Floats, Floats, Floats]:
        """For rising events: u, the loss of the largest output there, and the logarithm of P(max ≤ c)."""
        from scipy.special import log_ndtr  # slow to import, and reports need none of it

        s, rest = math.sqrt(self.square), self.batches - 1

        def below(c: Any) -> Any:
            return log_ndtr((c - 2) / s) + rest * log_ndtr(c / s)

        low, high = -50 * s, 2 + s * math.sqrt(2 * math.log(self.batches / tail))
        least = math.log(tail)
        floor, ceiling = low, high
        for _ in range(60):
            middle = (floor + ceiling) / 2
            floor, ceiling = (middle, ceiling) if below(middle) < least else (floor, middle)
        c = np.linspace(floor, high, _POINTS)

        def density(moved: int) -> Floats:  # logarithm, over that of one empty batch
            own = (2 * moved * c - moved**2) / (2 * s * s)
            other = math.log(rest) + log_ndtr((c - moved) / s) - log_ndtr(c / s)
            loss: Floats = np.logaddexp(own, other)
            return loss

        losses = density(2) - density(1)
        rising = np.concatenate([[True], losses[1:] > np.maximum.accumulate(losses)[:-1] + 1e-12])
        return ((c - 1.5) / (s * s))[rising], losses[rising], below(c)[rising]
