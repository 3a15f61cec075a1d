"""Do the releases of a program prove its bound? Prices of noise for every kind of record, summed along every path.

The theorems are in ``docs/certificate.md``. Everything is computed in fractions; square roots, logarithms and
exponentials are rounded up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import isqrt
from typing import Any

from dpaudit.checker.reading import CertificateError, ForgedError, Steps, fields, items, rational, shown, text, whole
from dpaudit.checker.records import Kind, Value, kinds_of, read_columns, read_value

MOST_RELEASES = 20_000
MOST_PATHS = 20_000
MOST_TIMES = 10**9
RELATIONS = ("add-remove", "replace")
NOTIONS = ("epsilon", "rho", "mu")
_PRECISE = Context(prec=60, rounding=ROUND_CEILING)
_ROOM = Fraction(1, 10**40)  # relative: far more than the last of 60 digits
_ROOT_DIGITS = 40

Amount = Fraction | None
"""A number, or None for ∞."""


@dataclass(frozen=True, slots=True)
class Release:
    """Noise on private numbers, or a choice by scores; ``details`` are further numbers of the law."""

    law: str
    scale: Fraction
    values: tuple[Value, ...]
    sample: int | None
    times: int
    details: tuple[tuple[str, Fraction], ...]


@dataclass(slots=True)
class Price:
    """What releases cost for one pair of neighbours: ε, ρ, μ² and δ, each by itself."""

    epsilon: Amount
    rho: Amount
    mu2: Amount
    delta: Fraction

    def plus(self, other: Price, times: int) -> Price:
        """Return the sum with another price, so often."""
        return Price(
            _plus(self.epsilon, other.epsilon, times),
            _plus(self.rho, other.rho, times),
            _plus(self.mu2, other.mu2, times),
            self.delta + times * other.delta,
        )


def _plus(one: Amount, more: Amount, times: int) -> Amount:
    return None if one is None or more is None else one + times * more


def check_releases(given: dict[str, Any], relation: str, group: int, steps: Steps) -> tuple[Fraction, list[str]]:
    """Return the bound that the releases show, and what was checked; raises where something fails."""
    columns = read_columns(given["columns"])
    samples = []
    for number, each in enumerate(items(given["samples"], "samples", MOST_RELEASES)):
        each = fields(each, {"rate", "times"}, f"sample {number}")
        rate = rational(each["rate"], f"sample {number}: rate")
        if not 0 < rate <= 1:
            raise CertificateError(f"sample {number}: a rate is above 0 and at most 1")
        samples.append((rate, whole(each["times"], f"sample {number}: times", 1, MOST_TIMES)))
    releases = [
        _release(each, columns, len(samples), f"release {number}", steps)
        for number, each in enumerate(items(given["releases"], "releases", MOST_RELEASES))
    ]
    notion, delta = given["notion"], rational(given["delta"], "delta")
    if type(notion) is not str or notion not in NOTIONS:
        raise CertificateError(f"the notion is one of {', '.join(NOTIONS)}, not {shown(notion)}")
    if not 0 <= delta < 1 or (delta and (notion != "epsilon" or group > 1)):
        raise CertificateError("delta is 0, or of an epsilon between 0 and 1, for groups of one")
    worst, most_kinds = Fraction(0), 0
    for number, path in enumerate(items(given["paths"], "paths", MOST_PATHS, 1)):
        counted = Counter(
            whole(each, f"path {number}", 0, len(releases) - 1) for each in items(path, f"path {number}", MOST_RELEASES)
        )
        listed = [(releases[place], times) for place, times in counted.items()]
        tests = set().union(*(value.tests() for release, _ in listed for value in release.values))
        kinds = kinds_of(tests, columns, steps)
        most_kinds = max(most_kinds, len(kinds))
        for added in kinds:
            for removed in kinds if relation == "replace" else [None]:
                steps.spend(sum(len(value.terms) + 1 for release, _ in listed for value in release.values))
                price = _price(listed, samples, added, removed)
                found = _in_notion(price, notion, delta)
                if found is None:
                    raise ForgedError(f"path {number}: its releases show no finite bound of {notion}")
                worst = max(worst, found)
    bound = worst * (group**2 if notion == "rho" else group)
    return bound, [
        f"There are {len(releases):,} releases on {len(given['paths']):,} paths, and at most {most_kinds:,} kinds of "
        "records on a path; every pair of them was priced.",
    ]


def _release(value: object, columns: Any, samples: int, where: str, steps: Steps) -> Release:
    given = fields(value, {"law", "scale", "values", "sample", "times", "line", "details"}, where)
    law = given["law"]
    if type(law) is not str or law not in _LAWS:
        raise CertificateError(f"{where}: no law {shown(law)}; known are {', '.join(_LAWS)}")
    scale = rational(given["scale"], f"{where}: scale")
    if scale <= 0:
        raise CertificateError(f"{where}: a scale is positive")
    values = tuple(
        read_value(each, columns, where, steps) for each in items(given["values"], f"{where}: values", MOST_RELEASES, 1)
    )
    if any(value.ball for value in values) and (law != "gaussian" or len(values) > 1):
        raise CertificateError(f"{where}: only Gaussian noise hides a vector of which the length is known")
    sample = None if given["sample"] is None else whole(given["sample"], f"{where}: sample", 0, samples - 1)
    details = fields(given["details"], _DETAILS.get(law, set()), f"{where}: details")
    numbers = tuple((name, rational(details[name], f"{where}: {name}")) for name in sorted(details))
    text(given["line"], f"{where}: line")
    times = whole(given["times"], f"{where}: times", 1, MOST_TIMES)
    return Release(law, scale, values, sample, times, numbers)


def _price(
    listed: list[tuple[Release, int]], samples: list[tuple[Fraction, int]], added: Kind, removed: Kind | None
) -> Price:
    """Return what all releases of a path cost for one pair of kinds."""
    total, inside = Price(Fraction(0), Fraction(0), Fraction(0), Fraction(0)), dict[int, Price]()
    for release, counted in listed:
        moves = [value.moved(added, removed) for value in release.values]
        price = _LAWS[release.law](release, moves, removed)
        times = release.times * counted
        total = total.plus(Price(Fraction(0), price.rho, price.mu2, Fraction(0)), times)
        if release.sample is None or removed is not None:
            total = total.plus(Price(price.epsilon, Fraction(0), Fraction(0), price.delta), times)
            continue
        if price.delta:
            raise CertificateError("a release with a δ is made of a sample")
        before = inside.get(release.sample, Price(Fraction(0), None, None, Fraction(0)))
        inside[release.sample] = before.plus(price, times)
    for number, within in inside.items():
        rate, drawn = samples[number]
        if within.epsilon is None:
            total.epsilon = None
        elif total.epsilon is not None:
            total.epsilon += drawn * amplified(rate, within.epsilon / drawn)
    return total


def _in_notion(price: Price, notion: str, delta: Fraction) -> Amount:
    """Return the bound that a price is, of the notion that is stated."""
    if notion == "mu":
        return None if price.mu2 is None or price.delta else root(price.mu2)
    if notion == "rho":
        return None if price.delta else price.rho
    found = price.epsilon if price.delta <= delta else None
    if delta and price.rho is not None and not price.delta:
        converted = price.rho + 2 * root(price.rho * -logarithm_below(delta))
        return converted if found is None else min(found, converted)
    return found


# --- laws: the price of one release, whose numbers move within these intervals -------------------------------


def _farthest(release: Release, moves: list[tuple[Fraction, Fraction]]) -> list[Fraction]:
    return [max(abs(low), abs(high)) / release.scale for low, high in moves]


def _laplace(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    far = _farthest(release, moves)
    rho = sum((each**2 / 2 for each in far), Fraction(0))
    return Price(sum(far, Fraction(0)), rho, None if any(far) else Fraction(0), Fraction(0))


def _gaussian(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    square = sum((each**2 for each in _farthest(release, moves)), Fraction(0))
    return Price(None if square else Fraction(0), square / 2, square, Fraction(0))


def _discrete_gaussian(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    price = _gaussian(release, moves, _)
    return Price(price.epsilon, price.rho, price.epsilon, Fraction(0))


def _select(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    spread = (max(high for _, high in moves) - min(low for low, _ in moves)) / release.scale
    return Price(spread, spread**2 / 8, None if spread else Fraction(0), Fraction(0))


def _laplace_threshold(release: Release, moves: list[tuple[Fraction, Fraction]], removed: Kind | None) -> Price:
    if removed is not None:
        raise CertificateError("the threshold rule is about records that come or go")
    far = max(_farthest(release, moves))
    if not far:
        return Price(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    above = dict(release.details)["threshold"] / release.scale - far
    if above < 0:
        raise CertificateError("a threshold below what one record adds")
    return Price(far, None, None, exponential(-above) / 2)


_LAWS = {
    "laplace": _laplace,
    "discrete_laplace": _laplace,
    "gaussian": _gaussian,
    "discrete_gaussian": _discrete_gaussian,
    "select": _select,
    "laplace_threshold": _laplace_threshold,
}
_DETAILS = {"laplace_threshold": {"threshold"}}


# --- numbers that are no fractions, rounded up ---------------------------------------------------------------


def root(value: Fraction) -> Fraction:
    """Return a fraction at or above the square root: the root itself where it is a fraction."""
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top**2 == value.numerator and bottom**2 == value.denominator:
        return Fraction(top, bottom)
    scale = 10**_ROOT_DIGITS
    return Fraction(isqrt(value.numerator * scale**2 // value.denominator) + 1, scale)


def exponential(value: Fraction) -> Fraction:
    """Return a fraction above e^value."""
    if value > 10_000:
        raise CertificateError("a cost of more than 10,000")
    found = Fraction(_PRECISE.exp(_decimal(value)))
    return found * (1 + _ROOM)


def logarithm(value: Fraction) -> Fraction:
    """Return a fraction above ln(value), for a value of at least 1."""
    return Fraction(_PRECISE.ln(_decimal(value))) + _ROOM * max(1, value.numerator.bit_length())


def logarithm_below(value: Fraction) -> Fraction:
    """Return a fraction below ln(value), for a value of at most 1."""
    return -logarithm(1 / value)


def _decimal(value: Fraction) -> Decimal:
    """Return a decimal at or above a fraction, to 60 digits."""
    return _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def amplified(rate: Fraction, epsilon: Fraction) -> Fraction:
    """Return a fraction above ln(1 + q(e^ε − 1)), at most ε."""
    if rate == 1 or not epsilon:
        return epsilon
    return min(epsilon, logarithm(1 + rate * (exponential(epsilon) - 1)))
