"""Do μ, ρ, or the largest losses of a list add up to what its certificate says? And what follows for Gaussian noise?

μ adds up as squares (Dong, Roth & Su 2022, Corollary 3.3), ρ as it is (Bun & Steinke 2016, Lemma 2.3). From below it is
no less than the mean loss, its order 1, which Gaussian noise, discrete or not, and claims of μ and ρ have in full.
Sums are rational numbers; δ of Gaussian noise is computed between decimals, with more digits until it is decided.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounting_laws import Discrete, Step
from dpaudit.checker.accounting_numbers import Field, Real
from dpaudit.checker.reading import CertificateError, ForgedError

ADDED = {"mu": "μ", "rho": "ρ"}
MOST_LOSS = 3_000
_ATTAINED = ("gaussian", "concentrated claim")
_DIGITS = (60, 240, 1_000)  # of decimals, until a claim is decided


def check_sum(
    listed: list[Any],
    steps: list[Step],
    parameter: str,
    given: tuple[Fraction, Fraction | float, Fraction | float, int],
    ends: list[Any],
) -> list[str]:
    """Return what was checked, for people.

    Args:
        listed: the events of the certificate, which were read.
        steps: the same.
        parameter: "mu" or "rho".
        given: the number at which the interval is, which has to be 0, its ends, and the digits of masses, none.
        ends: compositions, none.

    Raises:
        ForgedError: where the interval does not hold the sum.
        CertificateError: where there is more than a sum needs.
    """
    at, low, high, digits = given
    if isinstance(low, float) or isinstance(high, float):
        raise CertificateError("μ and ρ that add up are finite")
    if at or digits or ends:
        raise CertificateError("μ and ρ add up: they are at no δ, and there are no digits and no ends")
    total = exactly = Fraction(0)
    field = Field(_DIGITS[0])
    more = field(0)
    for event, one in zip(listed, steps, strict=True):
        if one.rho is None or (parameter == "mu" and event["mechanism"]["name"] != "gaussian"):
            raise ForgedError(f"no theorem says {ADDED[parameter]} of {one.name}")
        total += one.rho * one.count
        if _attained(event) or (event["mechanism"]["name"] == "discrete gaussian" and "sampling" not in event):
            exactly += one.rho * one.count
        else:
            more = more + _mean(event["mechanism"], one) * one.count
    # μ² = 2ρ of Gaussian noise
    lost = low <= exactly or field(low).high <= (field(exactly) + more).low
    if not (low**2 <= 2 * total <= high**2 if parameter == "mu" else lost and total <= high):
        raise ForgedError(f"{ADDED[parameter]} of the events does not add up to the interval")
    return [f"{ADDED[parameter]} of all steps was added up."]


def gaussian_sum(
    listed: list[Any],
    parameter: str,
    given: tuple[Fraction, Fraction | float, Fraction | float],
    bounded: bool,
) -> list[str]:
    """Return what was checked of ε or δ of a list by the formula of Gaussian noise.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8), which falls as ε rises and rises with μ. A
    claim of ρ is kept by Gaussian noise with μ² = 2ρ.

    Args:
        listed: the events of the certificate, which were read.
        parameter: "epsilon" or "delta".
        given: the δ or the ε, and the ends of the interval.
        bounded: whether the upper end was shown in another way.

    Raises:
        ForgedError: where the interval does not hold what the formula says.
        CertificateError: where an ε is too large to check.
    """
    at, low, high = given
    if isinstance(low, float):
        raise ForgedError("ε of Gaussian noise is finite at every δ above 0")
    if not bounded and any(event["mechanism"]["name"] != "gaussian" or "sampling" in event for event in listed):
        raise ForgedError("without masses only Gaussian noise and claims of μ, of all records, have a bound from above")
    square = sum((_square(event["mechanism"]) * event["count"] for event in listed if _attained(event)), Fraction(0))
    if low and not square:
        raise ForgedError("without masses only Gaussian noise and claims of μ and ρ have a bound from below")
    shown = []
    if not bounded and not isinstance(high, float):
        shown = [(high, at, "at most") if parameter == "epsilon" else (at, high, "at most")]
    shown += [(low, at, "above") if parameter == "epsilon" else (at, low, "above")] if low else []
    for epsilon, delta, side in shown:
        if epsilon > MOST_LOSS:
            raise CertificateError(f"an ε above {MOST_LOSS:,} is too large to check")
        if _above(square, epsilon, delta) != (side == "above"):
            raise ForgedError(f"δ is not shown to be {side} {float(delta):.6g}")
    return [f"δ of Gaussian noise with μ² = {float(square):.6g} was computed by its formula."]


def _mean(mechanism: dict[str, Any], step: Step) -> Real:
    """The mean loss of the attained pair, which ρ is at least (Laplace noise: ε + e^(−ε) − 1)."""
    law = step.below
    if isinstance(law, Discrete):
        found = law.values[0][1].field(0)
        for loss, mass, _ in law.values:
            found = found + loss * mass
        return found
    assert mechanism["name"] == "laplace" and law.high is not None
    return law.high + (-law.high).exp() - 1


def _attained(event: dict[str, Any]) -> bool:
    return event["mechanism"]["name"] in _ATTAINED and "sampling" not in event


def _square(mechanism: dict[str, Any]) -> Fraction:
    """μ² of Gaussian noise, or of noise that keeps a claim of ρ."""
    return 2 * Fraction(mechanism["rho"]) if "rho" in mechanism else 1 / Fraction(mechanism["noise"]) ** 2


def _above(square: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether δ of Gaussian noise at an ε is certainly above another one, or certainly at most it.

    Raises `ForgedError` where that is not decided.
    """
    for digits in _DIGITS if delta < 1 else ():
        field = Field(digits)
        found, wanted = _delta(field(square).root(), field(epsilon)), field(delta)
        if found.high <= wanted.low:
            return False
        if found.low > wanted.high:
            return True
    if delta < 1:
        raise ForgedError(f"δ is too close to {float(delta):.6g} to tell on which side it is")
    return False


def _delta(mu: Real, epsilon: Real) -> Real:
    """δ = Φᶜ(z) − e^ε·Φᶜ(z + μ) with z = ε/μ − μ/2, where e^ε is φ(z)/φ(z + μ)."""
    field = mu.field
    near = epsilon / mu - mu / 2
    density, far = field.normal(near), near + mu
    tail = density * field.mills(near) if field.far(near) else field.beyond(near)
    return tail - (density * field.mills(far) if field.far(far) else epsilon.exp() * field.beyond(far))


def exact_sum(
    listed: list[Any], parameter: str, given: tuple[Fraction, Fraction, Fraction | float], ends: list[Any]
) -> list[str]:
    """Return what was checked of ε at δ = 0, where all largest losses are rational; nothing where one is not.

    Args:
        listed: the events of the certificate, which were read.
        parameter: of the interval.
        given: the δ, and the ends of the interval.
        ends: compositions, none.
    """
    at, low, high = given
    if parameter != "epsilon" or at or ends:
        return []
    sums = [Fraction(0), Fraction(0)]
    for event in listed:
        mechanism = event["mechanism"]
        if "sampling" in event or mechanism["name"] not in _LARGEST or Fraction(mechanism.get("delta", 0)):
            return []
        for side in (0, 1):
            sums[side] += _LARGEST[mechanism["name"]](mechanism)[side] * event["count"]
    if not (low <= sums[0] and sums[1] <= high):
        raise ForgedError("the largest losses do not add up to the interval")
    return ["The largest losses of all steps were added, exactly."]


def _noise(mechanism: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return (Fraction(mechanism.get("sensitivity", 1)) / Fraction(mechanism["noise"]),) * 2


def _epsilon(mechanism: dict[str, Any]) -> tuple[Fraction, Fraction]:
    return (Fraction(mechanism["epsilon"]),) * 2


_LARGEST: dict[str, Callable[[dict[str, Any]], tuple[Fraction, Fraction]]] = {
    "laplace": _noise,
    "discrete laplace": _noise,
    "randomised response": _epsilon,
    "claim": _epsilon,
    # the range of its losses is ε; some data and queries lose ε/2
    "exponential": lambda mechanism: (_epsilon(mechanism)[0] / 2, _epsilon(mechanism)[1]),
}
