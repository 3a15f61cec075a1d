"""What is δ(ε) of shifted noise, with certainty? Rigorous intervals, after any number of releases.

δ(ε) = sup over events S of P(S) − e^ε·Q(S), where P is the noise and Q is the noise moved by ``shift``. All
noises here are symmetric and log-concave: both orders of the pair give the same δ, and a smaller shift gives a
smaller δ, so the upper end holds for every shift up to ``shift``.

Gaussian noise has a formula. Every other noise has a privacy loss ln(P/Q) on a grid: randomised response and
the discrete Laplace and Gaussian exactly, the Laplace once its outputs are cut into cells. Keeping each cell as
one output is a post-processing and gives the lower end. Splitting the mass of a cell between its two ends, so
that P and Q keep their masses, gives a pair that can be post-processed into the true one, and so the upper end
(Doroshenko, Ghazi, Kamath, Kumar & Manurangsi 2022, "Connect the dots"). Both survive composition.

Masses are whole numbers in units of 2^−160, rounded down for the lower end and up for the upper. The loss of k
releases is the k-th power of a polynomial (python-flint's `fmpz_poly`, exact). Mass that is trimmed at high
losses counts as an infinite loss in the upper end. Everything else is computed in Arb's balls (Johansson 2017).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dpaudit.errors import UsageError
from dpaudit.verify.exact import Number, exp_of, number_of

_BITS = 160  # far below any δ of interest, so that rounding does not show (benchmarks/exact.py)
_TRIMMED = 1 << 40  # units of mass that may be trimmed at either end: 2^−120
_PRECISION = 256  # bits of the balls, well above the 160 of the masses
_MOST_CELLS = 4_000_000  # values of a loss; more would not fit into memory


@dataclass(frozen=True)
class Enclosure:
    """An interval that certainly contains a number, with exact ends."""

    low: Fraction
    high: Fraction

    def __contains__(self, value: Any) -> bool:
        return self.low <= Fraction(value) <= self.high

    @property
    def gap(self) -> float:
        """The width relative to the upper end; 0 for a point."""
        return float((self.high - self.low) / self.high) if self.high else 0.0

    def decimals(self, digits: int = 15) -> tuple[str, str]:
        """Return both ends as decimals, rounded outward to ``digits`` significant digits."""
        return _decimal(self.low, digits, ROUND_FLOOR), _decimal(self.high, digits, ROUND_CEILING)

    def __str__(self) -> str:
        return "[{}, {}]".format(*self.decimals())


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    # a quotient of two exact integers, rounded once
    return format(context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context), "g")


def _flint() -> Any:
    try:
        import flint
    except ImportError:
        raise UsageError(
            "certified divergences need python-flint; install it with: pip install 'dpaudit[proof]'"
        ) from None
    return flint


class _Balls:
    """A context that sets Arb's precision and restores it afterwards."""

    def __init__(self, bits: int = _PRECISION) -> None:
        self._context = _flint().ctx
        self._bits = bits

    def __enter__(self) -> Any:
        self._before = self._context.prec
        self._context.prec = self._bits
        return _flint()

    def __exit__(self, *_: object) -> None:
        self._context.prec = self._before


def _ball(flint: Any, value: Fraction) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _ends(ball: Any) -> tuple[Fraction, Fraction]:
    if not ball.is_finite():
        raise UsageError("a number of this divergence is too large or too small to enclose")
    low, high = (_dyadic(end.man_exp()) for end in (ball.lower(), ball.upper()))
    return low, high


def _dyadic(parts: tuple[Any, Any]) -> Fraction:
    mantissa, exponent = map(int, parts)
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _epsilon(flint: Any, epsilon: Number) -> Any:
    """Return ε as a ball: a decimal exactly as it is written, ``"ln(3)"`` as the logarithm."""
    number = exp_of(epsilon)
    if number < 1:
        raise UsageError(f"ε must be at least 0, not {epsilon!r}")
    if number.fraction is not None:
        return _ball(flint, number.fraction).log()
    top, bottom = number.sums
    if bottom != {Fraction(0): 1} or len(top) != 1:
        raise UsageError(f"ε is a number or ln(a number), not the logarithm of {number}")
    ((exponent, coefficient),) = top.items()
    return _ball(flint, exponent) + flint.arb(coefficient).log()


def _positive(name: str, value: Number) -> Fraction:
    number = None if isinstance(value, bool) else number_of(value).fraction
    if number is None or number <= 0:
        raise UsageError(f"{name} must be a positive rational number, not {value!r}")
    return number


def _whole(name: str, value: int, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return value


# --- a formula -------------------------------------------------------------------------------------------


def gaussian(sigma: Number, epsilon: Number, *, shift: Number = 1, releases: int = 1) -> Enclosure:
    """Return δ(ε) of Gaussian noise of standard deviation ``sigma``.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with μ = √k·shift/σ (Balle & Wang 2018, Theorem 8; k releases are
    one of √k times the shift). The precision grows until the relative width of the enclosure is 1e-15.

    Args:
        sigma: the standard deviation σ.
        epsilon: nats; see `dpaudit.verify.exact.exp_of`.
        shift: how far the answers on neighbouring datasets are apart.
        releases: the number k of independent releases.

    Raises:
        UsageError: for an argument out of range, and where python-flint is not installed.
    """
    ratio = _positive("shift", shift) / _positive("sigma", sigma)
    square = ratio**2 * _whole("releases", releases)
    bits = 128
    while True:
        with _Balls(bits) as flint:
            mu, at = _ball(flint, square).sqrt(), _epsilon(flint, epsilon)
            root = flint.arb(2).sqrt()
            delta = ((at / mu - mu / 2) / root).erfc() / 2 - at.exp() * ((at / mu + mu / 2) / root).erfc() / 2
            low, high = _ends(delta) if delta.is_finite() else (Fraction(-1), Fraction(1))
        if low > 0 and high - low <= high * Fraction(1, 10**15):
            return Enclosure(low, high)
        if bits > 1 << 16:
            raise UsageError("δ(ε) of this Gaussian noise is too small to enclose; take a smaller ε")
        bits *= 2


# --- losses on a grid ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Loss:
    """The law of ln(P/Q) under P: the loss start + step·i has mass masses[i]/2^160, an infinite one infinite/2^160.

    For the upper end masses are never too small, and for the lower end never too large.
    """

    start: Fraction
    step: Fraction
    masses: Any  # fmpz_poly
    infinite: int
    upper: bool


def _rounded(ball: Any, upper: bool) -> int:
    low, high = _ends(ball)
    return math.ceil(high * (1 << _BITS)) if upper else max(0, math.floor(low * (1 << _BITS)))


def _trim(masses: list[Any], first: int, infinite: int, upper: bool) -> tuple[list[Any], int, int]:
    """Drop small mass at both ends. For the upper end, high losses become infinite and low ones the first one kept."""
    low = high = 0
    start, end = 0, len(masses)
    while start < end - 1 and low + masses[start] < _TRIMMED:
        low += masses[start]
        start += 1
    while end - 1 > start and high + masses[end - 1] < _TRIMMED:
        end -= 1
        high += masses[end]
    kept = masses[start:end]
    if upper:
        kept[0] += low
        infinite += high
    return kept, first + start, int(infinite)


def _product(flint: Any, left: Any, right: Any, upper: bool) -> Any:
    """Return the law of the sum of two independent losses, rounded."""
    if left.degree() + right.degree() > _MOST_CELLS:
        raise UsageError(f"the loss has more than {_MOST_CELLS:,} values; take fewer releases or a coarser grid")
    more = (1 << _BITS) - 1 if upper else 0
    return flint.fmpz_poly([(mass + more) >> _BITS for mass in (left * right).coeffs()])


def _power(flint: Any, loss: _Loss, releases: int) -> _Loss:
    """Return the law of the sum of k independent losses, by repeated squaring."""
    result, first, infinite = flint.fmpz_poly([1 << _BITS]), 0, 0
    base, base_first, base_infinite = loss.masses, 0, loss.infinite
    remaining = releases
    while remaining:
        if remaining & 1:
            # P(a or b infinite) is at most the sum of both (union bound)
            masses, first, infinite = _trim(
                _product(flint, result, base, loss.upper).coeffs(),
                first + base_first,
                infinite + base_infinite,
                loss.upper,
            )
            result = flint.fmpz_poly(masses)
        remaining >>= 1
        if remaining:
            masses, base_first, base_infinite = _trim(
                _product(flint, base, base, loss.upper).coeffs(), 2 * base_first, 2 * base_infinite, loss.upper
            )
            base = flint.fmpz_poly(masses)
    return _Loss(releases * loss.start + first * loss.step, loss.step, result, infinite, loss.upper)


def _delta(flint: Any, loss: _Loss, epsilon: Number) -> Fraction:
    """Return an upper or lower bound of E[(1 − e^(ε − loss))₊], as ``loss.upper`` says."""
    at = _epsilon(flint, epsilon)
    masses = loss.masses.coeffs()
    begin = (at - _ball(flint, loss.start)) / _ball(flint, loss.step)
    first = max(0, math.floor(_ends(begin)[0]))
    total = flint.arb(0)
    if first < len(masses):
        factor = (at - _ball(flint, loss.start + first * loss.step)).exp()
        ratio = (-_ball(flint, loss.step)).exp()
        for mass in masses[first:]:
            share = 1 - factor
            if share > 0 or (loss.upper and not share < 0):
                total += flint.arb(mass) * share
            factor *= ratio
    low, high = _ends(total)
    units = Fraction(1, 1 << _BITS)
    return min(Fraction(1), (high + loss.infinite) * units) if loss.upper else max(Fraction(0), low * units)


Masses = Callable[[Any, bool], tuple[Fraction, Fraction, Sequence[Any], Any]]


def _enclosure(law: Masses, epsilon: Number, releases: int) -> Enclosure:
    """Return δ(ε) from a law of the loss: (flint, upper) → start, step, balls of the masses, ball of infinite mass."""
    _whole("releases", releases)
    ends = []
    with _Balls() as flint:
        for upper in (False, True):
            start, step, balls, beyond = law(flint, upper)
            masses = flint.fmpz_poly([_rounded(ball, upper) for ball in balls])
            loss = _Loss(start, step, masses, _rounded(beyond, True) if upper else 0, upper)
            ends.append(_delta(flint, _power(flint, loss, releases), epsilon))
    return Enclosure(*ends)


def randomised_response(epsilon0: Number, epsilon: Number, *, releases: int = 1) -> Enclosure:
    """Return δ(ε) of randomised response that is ``epsilon0``-DP: the worst of all such mechanisms.

    The loss is ±ε₀, with probabilities in the ratio e^ε₀ (Kairouz, Oh & Viswanath 2015).

    Args:
        epsilon0: ε₀ of one release, in nats.
        epsilon: nats; see `dpaudit.verify.exact.exp_of`.
        releases: the number of independent releases.

    Raises:
        UsageError: for an argument out of range, and where python-flint is not installed.
    """
    size = _positive("epsilon0", epsilon0)

    def law(flint: Any, upper: bool) -> tuple[Fraction, Fraction, Sequence[Any], Any]:
        lie = 1 / (1 + _ball(flint, size).exp())
        return -size, 2 * size, [lie, 1 - lie], flint.arb(0)

    return _enclosure(law, epsilon, releases)


def laplace(scale: Number, epsilon: Number, *, shift: Number = 1, releases: int = 1, cells: int = 200) -> Enclosure:
    """Return δ(ε) of Laplace noise: by the formula for one release, else from its losses cut into ``cells``.

    One release: 1 − e^((ε − shift/scale)/2), where positive. With h = shift/(scale·cells), the loss is shift/scale
    with mass ½, the opposite with e^(−shift/scale)/2, and lies in the cell of middle m = shift/scale − (2i + 1)·h
    with mass ½·e^(−i·h)·(1 − e^(−h)). That middle is the loss of the whole cell; for the upper end the mass goes
    to m + h and m − h in the ratio 1 : e^(−h), which keeps the masses under both P and Q.

    Args:
        scale: of the noise.
        epsilon: nats; see `dpaudit.verify.exact.exp_of`.
        shift: how far the answers on neighbouring datasets are apart.
        releases: the number of independent releases.
        cells: how many; more make the interval narrower and the computation slower.

    Raises:
        UsageError: for an argument out of range, and where python-flint is not installed.
    """
    size = _positive("shift", shift) / _positive("scale", scale)
    _whole("cells", cells)
    if _whole("releases", releases) == 1:
        with _Balls() as flint:
            low, high = _ends(1 - ((_epsilon(flint, epsilon) - _ball(flint, size)) / 2).exp())
        return Enclosure(max(Fraction(0), low), max(Fraction(0), high))
    h = size / cells

    def law(flint: Any, upper: bool) -> tuple[Fraction, Fraction, Sequence[Any], Any]:
        shrink = (-_ball(flint, h)).exp()
        masses = [flint.arb(0)] * (2 * cells + 1)  # of the losses −size + h·i
        masses[0], masses[-1] = (-_ball(flint, size)).exp() / 2, flint.arb(1) / 2
        mass = (1 - shrink) / 2
        for index in range(2 * cells - 1, 0, -2):
            if upper:
                masses[index + 1] += mass / (1 + shrink)
                masses[index - 1] += mass * shrink / (1 + shrink)
            else:
                masses[index] = mass
            mass *= shrink
        if upper:  # only every second loss has mass
            return -size, 2 * h, masses[::2], flint.arb(0)
        return -size, h, masses, flint.arb(0)

    return _enclosure(law, epsilon, releases)


def discrete_laplace(scale: Number, epsilon: Number, *, shift: int = 1, releases: int = 1) -> Enclosure:
    """Return δ(ε) of integer noise with P(x) ∝ t^|x|, t = e^(−1/scale), moved by a whole number.

    The loss (|x − shift| − |x|)/scale is (shift − 2x)/scale for 0 < x < shift, with mass t^x·(1 − t)/(1 + t), and
    ±shift/scale beyond, with masses 1/(1 + t) and t^shift/(1 + t).

    Args:
        scale: of the noise.
        epsilon: nats; see `dpaudit.verify.exact.exp_of`.
        shift: how far the answers on neighbouring datasets are apart, a whole number.
        releases: the number of independent releases.

    Raises:
        UsageError: for an argument out of range, and where python-flint is not installed.
    """
    step = 1 / _positive("scale", scale)
    _whole("shift", shift)

    def law(flint: Any, upper: bool) -> tuple[Fraction, Fraction, Sequence[Any], Any]:
        t = (-_ball(flint, step)).exp()
        inner = [t**x * (1 - t) / (1 + t) for x in range(shift - 1, 0, -1)]
        return -shift * step, 2 * step, [t**shift / (1 + t), *inner, 1 / (1 + t)], flint.arb(0)

    return _enclosure(law, epsilon, releases)


def discrete_gaussian(variance: Number, epsilon: Number, *, shift: int = 1, releases: int = 1) -> Enclosure:
    """Return δ(ε) of integer noise with P(x) ∝ exp(−x²/(2·variance)), moved by a whole number.

    The loss ((x − shift)² − x²)/(2·variance) lies on a grid of steps shift/variance (Canonne, Kamath & Steinke
    2020, Definition 1). Beyond 20 standard deviations (4·10⁻⁸⁹ of the mass) high losses count as infinite in the
    upper end, and low ones as the lowest on the grid; both tails are missing in the lower end.

    Args:
        variance: the parameter σ².
        epsilon: nats; see `dpaudit.verify.exact.exp_of`.
        shift: how far the answers on neighbouring datasets are apart, a whole number.
        releases: the number of independent releases.

    Raises:
        UsageError: for an argument out of range, and where python-flint is not installed.
    """
    square = _positive("variance", variance)
    _whole("shift", shift)
    reach = math.isqrt(math.ceil(400 * square)) + 2
    if 2 * reach > _MOST_CELLS:
        raise UsageError(f"the variance {variance!r} needs more than {_MOST_CELLS:,} values of the loss")

    return _enclosure(_gaussian_cells(square, shift, reach), epsilon, releases)


def _gaussian_cells(square: Fraction, shift: int, reach: int) -> Masses:
    """Return the law of the loss of discrete Gaussian noise, summed over the values from −reach to reach."""

    def law(flint: Any, upper: bool) -> tuple[Fraction, Fraction, Sequence[Any], Any]:
        unit = _ball(flint, 1 / (2 * square))
        half = [(-unit * x * x).exp() for x in range(reach + 2)]
        # Σ_{x > reach}: each term is at most the first times a power of the first ratio
        tail = half[reach + 1] / (1 - half[reach + 1] / half[reach])
        inside = half[0] + 2 * sum(half[1 : reach + 1], flint.arb(0))
        whole = inside + (2 * tail).union(flint.arb(0))
        masses = [half[abs(x)] / whole for x in range(reach, -reach - 1, -1)]
        if upper:
            masses[0] += tail / whole
        start = Fraction(shift**2 - 2 * shift * reach) / (2 * square)
        return start, shift / square, masses, tail / whole

    return law
