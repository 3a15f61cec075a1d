"""Do μ, ρ, or the largest losses of a list add up to what its certificate says? Rational numbers alone.

μ adds up as squares (Dong, Roth & Su 2022, Corollary 3.3), ρ as it is (Bun & Steinke 2016, Lemma 2.3). From below count
the events that lose exactly so much, Gaussian noise and claims of μ and ρ: one mechanism and some data have all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounting_laws import Step
from dpaudit.checker.reading import CertificateError, ForgedError

ADDED = {"mu": "μ", "rho": "ρ"}
_ATTAINED = ("gaussian", "concentrated claim")


def check_sum(
    listed: list[Any],
    steps: list[Step],
    parameter: str,
    given: tuple[Fraction, Fraction, Fraction, int],
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
    if at or digits or ends:
        raise CertificateError("μ and ρ add up: they are at no δ, and there are no digits and no ends")
    total = least = Fraction(0)
    for event, one in zip(listed, steps, strict=True):
        attained = event["mechanism"]["name"] in _ATTAINED and "sampling" not in event
        if one.rho is None or (parameter == "mu" and event["mechanism"]["name"] != "gaussian"):
            raise ForgedError(f"no theorem says {ADDED[parameter]} of {one.name}")
        total += one.rho * one.count
        least += one.rho * one.count if attained else 0
    # μ² = 2ρ of Gaussian noise
    if not (low**2 <= 2 * total <= high**2 if parameter == "mu" else low <= least and total <= high):
        raise ForgedError(f"{ADDED[parameter]} of the events does not add up to the interval")
    return [f"{ADDED[parameter]} of all steps was added up."]


def exact_sum(
    listed: list[Any], parameter: str, given: tuple[Fraction, Fraction, Fraction], ends: list[Any]
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
