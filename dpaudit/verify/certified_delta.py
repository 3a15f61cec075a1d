"""What is δ(ε) of shifted noise, with certainty? Rigorous intervals, after any number of releases.

δ(ε) = sup over events S of P(S) − e^ε·Q(S), where P is the noise and Q is the noise moved by ``shift``. All
noises here are symmetric and log-concave: both orders of the pair give the same δ, and a smaller shift gives a
smaller δ, so the upper end holds for every shift up to ``shift``.

This reads numbers as proofs do, ``"ln(3)"`` as a logarithm, and floats as the decimals that are written for them; the
intervals are those of certified accounting (`dpaudit.accounting.compose`, proofs in ``docs/accounting.md``).
"""

from __future__ import annotations

from fractions import Fraction

from dpaudit.accounting.compose import Level, enclosed, formula
from dpaudit.accounting.losses import GaussianLaw, LaplaceLaw, flint
from dpaudit.accounting.losses import discrete_gaussian as discrete_gaussian_law
from dpaudit.accounting.losses import discrete_laplace as discrete_laplace_law
from dpaudit.accounting.losses import randomised_response as randomised_response_law
from dpaudit.decimals import Enclosure
from dpaudit.errors import UsageError
from dpaudit.verify.exact import Number, exact_number, exp_of

_MOST_VALUES = 2_000_000  # of discrete noise, on each side; more would not fit into memory


def _level(epsilon: Number) -> Level:
    """Return ε: a decimal exactly as it is written, ``"ln(3)"`` as the logarithm."""
    flint()
    number = exp_of(epsilon)
    if number < 1:
        raise UsageError(f"ε must be at least 0, not {epsilon!r}")
    if number.fraction is not None:
        return Level(Fraction(0), number.fraction)
    top, bottom = number.sums
    if bottom != {Fraction(0): 1} or len(top) != 1:
        raise UsageError(f"ε is a number or ln(a number), not the logarithm of {number}")
    ((exponent, coefficient),) = top.items()
    return Level(exponent, Fraction(coefficient))


def _positive(name: str, value: Number) -> Fraction:
    number = None if isinstance(value, bool) else exact_number(value).fraction
    if number is None or number <= 0:
        raise UsageError(f"{name} must be a positive rational number, not {value!r}")
    return number


def _refuse_no_count(name: str, value: int, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return value


def gaussian(sigma: Number, epsilon: Number, *, shift: Number = 1, releases: int = 1) -> Enclosure:
    """Return δ(ε) of Gaussian noise of standard deviation ``sigma``.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) with μ = √k·shift/σ (Balle & Wang 2018, Theorem 8; k releases are
    one of √k times the shift). The precision grows until the relative width of the enclosure is 1e-15.
    """
    ratio = _positive("shift", shift) / _positive("sigma", sigma)
    return formula(GaussianLaw(1 / (ratio**2 * _refuse_no_count("releases", releases))), _level(epsilon))


def randomised_response(epsilon0: Number, epsilon: Number, *, releases: int = 1) -> Enclosure:
    """Return δ(ε) of randomised response that is ``epsilon0``-DP: the worst of all such mechanisms.

    The loss is ±ε₀, with probabilities in the ratio e^ε₀ (Kairouz, Oh & Viswanath 2015).
    """
    law = randomised_response_law(_positive("epsilon0", epsilon0))
    return enclosed(lambda _: law, _refuse_no_count("releases", releases), _level(epsilon))


def laplace(scale: Number, epsilon: Number, *, shift: Number = 1, releases: int = 1, cells: int = 200) -> Enclosure:
    """Return δ(ε) of Laplace noise: by the formula for one release, else from its losses cut into cells.

    One release: 1 − e^((ε − shift/scale)/2), where positive. The losses reach from −shift/scale to shift/scale, which
    is cut into 2·``cells``; from above chords of the curve, from below test lines at their ends are composed.
    """
    law = LaplaceLaw(_positive("scale", scale) / _positive("shift", shift))
    _refuse_no_count("cells", cells)
    if _refuse_no_count("releases", releases) == 1:
        return formula(law, _level(epsilon))
    return enclosed(lambda _: law, releases, _level(epsilon), cells=2 * cells)


def discrete_laplace(scale: Number, epsilon: Number, *, shift: int = 1, releases: int = 1) -> Enclosure:
    """Return δ(ε) of integer noise with P(x) ∝ t^|x|, t = e^(−1/scale), moved by a whole number.

    The loss (|x − shift| − |x|)/scale is (shift − 2x)/scale for 0 < x < shift, with mass t^x·(1 − t)/(1 + t), and
    ±shift/scale beyond, with masses 1/(1 + t) and t^shift/(1 + t).
    """
    law = discrete_laplace_law(_positive("scale", scale), _refuse_no_count("shift", shift))
    return enclosed(lambda _: law, _refuse_no_count("releases", releases), _level(epsilon))


def discrete_gaussian(variance: Number, epsilon: Number, *, shift: int = 1, releases: int = 1) -> Enclosure:
    """Return δ(ε) of integer noise with P(x) ∝ exp(−x²/(2·variance)), moved by a whole number.

    The loss ((x − shift)² − x²)/(2·variance) lies on a grid of steps shift/variance (Canonne, Kamath & Steinke
    2020, Definition 1). Far values, of less mass than what is wanted of δ, count as an infinite loss in the upper end,
    and are missing in the lower.
    """
    square = _positive("variance", variance)
    _refuse_no_count("shift", shift)
    return enclosed(
        lambda digits: discrete_gaussian_law(square, shift, digits, _MOST_VALUES),
        _refuse_no_count("releases", releases),
        _level(epsilon),
    )
