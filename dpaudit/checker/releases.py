"""Do the releases of a program prove its bound? Prices of noise for every kind of record, summed along every path.

The theorems are in ``docs/certificate.md``. Everything is computed in fractions; square roots, logarithms and
exponentials are rounded up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any

from dpaudit.checker.accounted import Moved, check_accounted, events_of
from dpaudit.checker.accounting_numbers import Field
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
_RULES = 4  # by which ε at a δ is bounded
_GAUSSIAN_DIGITS, _GAUSSIAN_PLACES = 50, 12  # of the arithmetic, and of the ε that is found

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
    """What releases cost for one pair of neighbours: ε, ρ, μ² and δ, each by itself.

    ``gaussian`` is the μ² of Gaussian noise alone, and ``other`` the ε of all but Gaussian noise.
    """

    epsilon: Amount
    rho: Amount
    mu2: Amount
    delta: Fraction
    gaussian: Amount = Fraction(0)
    other: Amount = Fraction(0)
    is_sampled: bool = False  # whether some of it is made of a sample
    sampled: tuple[Fraction, int, Amount] | None = (
        None  # where all of it is of one: rate, how often it is drawn, and μ²
    )

    def plus(self, other: Price, times: int) -> Price:
        """Return the sum with another price, so often."""
        return Price(
            _plus(self.epsilon, other.epsilon, times),
            _plus(self.rho, other.rho, times),
            _plus(self.mu2, other.mu2, times),
            self.delta + times * other.delta,
            _plus(self.gaussian, other.gaussian, times),
            _plus(self.other, other.other, times),
        )


def _larger(one: Amount, other: Amount) -> Amount:
    return None if one is None or other is None else max(one, other)


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
    paths = items(given["paths"], "paths", MOST_PATHS, 1)
    alone, most_kinds = len(paths) == 1, 0
    worst: list[Amount] = [Fraction(0)] * _RULES
    for number, path in enumerate(paths):
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
                found = _by_rules(_price(listed, samples, added, removed), notion, delta, alone=alone)
                worst = [_larger(one, more) for one, more in zip(worst, found, strict=True)]
    if "account" in given:
        if not delta or not alone:
            raise CertificateError("an account is one of ε at a δ above 0, of releases on one path")
        worst.append(_accounted(given["account"], listed, samples, (kinds, relation == "replace"), delta))
    known = [each for each in worst if each is not None]
    if not known:
        raise ForgedError(f"its releases show no finite bound of {notion}")
    bound = min(known) * (group**2 if notion == "rho" else group)
    return bound, [
        f"There are {len(releases):,} releases on {len(paths):,} paths, and at most {most_kinds:,} kinds of "
        "records on a path; every pair of them was priced.",
    ]


def _accounted(
    account: object,
    listed: list[tuple[Release, int]],
    samples: list[tuple[Fraction, int]],
    among: tuple[list[Kind], bool],
    delta: Fraction,
) -> Fraction:
    """Return the ε of an account of the releases of the only path, each at the most that any kind of records moves it.

    Args:
        account: as the certificate has it.
        listed: the releases, each with how often it is made.
        samples: rate, and how often each is drawn.
        among: the kinds of records, and whether one is replaced by another.
        delta: the δ that there is.
    """
    kinds, is_replaced = among
    pairs = [(added, removed) for added in kinds for removed in (kinds if is_replaced else [None])]
    moved, epsilon, spent = [], Fraction(0), Fraction(0)
    for release, counted in listed:
        times = counted * release.times
        within = [[value.moved(added, removed) for value in release.values] for added, removed in pairs]
        prices = [
            _LAWS[release.law](release, moves, removed) for moves, (_, removed) in zip(within, pairs, strict=True)
        ]
        each = None if release.sample is None or is_replaced else samples[release.sample]
        number = None if each is None else release.sample
        if release.law == "gaussian":
            squares = max((price.gaussian or Fraction(0) for price in prices), default=Fraction(0))
            moved.append(Moved("gaussian", times, each, number, squares=squares))
        elif any(price.delta for price in prices):
            epsilon += times * max(price.other or Fraction(0) for price in prices)
            spent += times * max(price.delta for price in prices)
        elif any(price.other is None or price.gaussian is None for price in prices):
            raise ForgedError("an account of releases that have no pair of their own")
        else:
            most = max(price.other or Fraction(0) for price in prices)
            alone = release.law == "laplace" and len(release.values) == 1
            moved.append(
                Moved(
                    release.law, times, each, number, far=(most,) if alone else (), epsilon=0 * most if alone else most
                )
            )
    needed = events_of(moved)
    if not needed or not spent < delta:
        raise ForgedError("an account of releases that have no pairs of their own, or no δ left")
    return epsilon + check_accounted(account, needed, delta - spent)


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
            outside = Price(price.epsilon, Fraction(0), Fraction(0), price.delta, price.gaussian, price.other)
            total = total.plus(outside, times)
            continue
        if price.delta:
            raise CertificateError("a release with a δ is made of a sample")
        if release.times % samples[release.sample][1]:
            raise CertificateError("a sample is drawn a number of times, and used in some of them only")
        before = inside.get(release.sample, Price(Fraction(0), None, None, Fraction(0)))
        inside[release.sample] = before.plus(price, times)
    for number, within in inside.items():
        rate, drawn = samples[number]
        if within.epsilon is None:
            total.epsilon = None
        elif total.epsilon is not None:
            total.epsilon += drawn * amplified(rate, within.epsilon / drawn)
    used = {number: within for number, within in inside.items() if within.epsilon != 0}
    total.is_sampled = bool(used)
    if len(used) == 1 and not (total.gaussian is None or total.gaussian or total.other or total.delta):
        ((number, within),) = used.items()
        total.sampled = None if within.other else (*samples[number], within.gaussian)
    elif not used and total.gaussian == 0 and not (total.other or total.delta):
        total.sampled = (Fraction(1), 1, Fraction(0))  # nothing moves
    return total


def _by_rules(price: Price, notion: str, delta: Fraction, *, alone: bool) -> list[Amount]:
    """Return the bound that each rule gives of the notion that is stated; one rule has to do for all paths and kinds.

    Of ε: the sums of ε and δ; ρ at a δ; Gaussian noise at what is left of δ; the same of one sample.

    Args:
        price: of a path, for a pair of kinds.
        notion, delta: as stated.
        alone: whether there is but one path, so that every release has one dominating pair.
    """
    if notion == "mu":
        return [None if price.mu2 is None or price.delta else root(price.mu2)] + [None] * (_RULES - 1)
    if notion == "rho":
        return [None if price.delta else price.rho] + [None] * (_RULES - 1)
    sums = price.epsilon if price.delta <= delta and not (price.delta and price.is_sampled) else None
    if not delta:
        return [sums] + [None] * (_RULES - 1)
    concentrated = gaussian = sampled = None
    if price.rho is not None and not price.delta:
        concentrated = price.rho + 2 * root(price.rho * -logarithm_below(delta))
    others = bool(price.other or price.delta)
    joined = price.other is not None and price.delta < delta and (alone or not others)
    if price.gaussian is not None and price.other is not None and joined and not price.is_sampled:
        gaussian = price.other + gaussian_epsilon(price.gaussian, delta - price.delta)
    if price.sampled is not None and price.sampled[2] is not None and alone:
        rate, drawn, square = price.sampled
        if drawn == 1 and delta < rate:
            sampled = amplified(rate, gaussian_epsilon(square, delta / rate))
    return [sums, concentrated, gaussian, sampled]


# --- laws: the price of one release, whose numbers move within these intervals -------------------------------


def _farthest(release: Release, moves: list[tuple[Fraction, Fraction]]) -> list[Fraction]:
    return [max(abs(low), abs(high)) / release.scale for low, high in moves]


def _laplace(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    far = _farthest(release, moves)
    rho = sum((each**2 / 2 for each in far), Fraction(0))
    total = sum(far, Fraction(0))
    return Price(total, rho, None if any(far) else Fraction(0), Fraction(0), other=total)


def _gaussian(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    square = sum((each**2 for each in _farthest(release, moves)), Fraction(0))
    return Price(None if square else Fraction(0), square / 2, square, Fraction(0), gaussian=square)


def _discrete_gaussian(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    price = _gaussian(release, moves, _)
    return Price(price.epsilon, price.rho, price.epsilon, Fraction(0), gaussian=price.epsilon)


def _select(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    spread = (max(high for _, high in moves) - min(low for low, _ in moves)) / release.scale
    return Price(spread, spread**2 / 8, None if spread else Fraction(0), Fraction(0), other=spread)


def _laplace_threshold(release: Release, moves: list[tuple[Fraction, Fraction]], removed: Kind | None) -> Price:
    if removed is not None:
        raise CertificateError("the threshold rule is about records that come or go")
    far = max(_farthest(release, moves))
    if not far:
        return Price(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    above = dict(release.details)["threshold"] / release.scale - far
    if above < 0:
        raise CertificateError("a threshold below what one record adds")
    return Price(far, None, None, exponential(-above) / 2, other=far)


def _propose_test_release(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    if len(moves) < 2:
        raise CertificateError("a lead of one option over none")
    eta = (max(high for _, high in moves) - min(low for low, _ in moves)) / release.scale
    if not eta:
        return Price(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    above = dict(release.details)["threshold"] / release.scale - eta
    if above < 0:
        raise CertificateError("a threshold below what one record does to the lead")
    return Price(eta, None, None, exponential(-above) / 2, other=eta)


def _truncated_laplace(release: Release, moves: list[tuple[Fraction, Fraction]], _: Kind | None) -> Price:
    far = [each for each in _farthest(release, moves) if each]
    if not far:
        return Price(Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    end = dict(release.details)["bound"] / release.scale
    if max(far) > end:
        raise CertificateError("noise that is truncated below what one record adds")
    total = sum(far, Fraction(0))
    end = min(end, Fraction(1_000))  # the δ of less is larger, and hardly
    lost = sum((exponential(each) - 1 for each in far), Fraction(0)) / (2 * (1 / exponential(-end) - 1))
    return Price(total, None, None, lost, other=total)


def _randomised_response(release: Release, moves: list[tuple[Fraction, Fraction]], removed: Kind | None) -> Price:
    flips = dict(release.details)["probability"]
    if removed is None:
        raise CertificateError("reports of all records are about records that are replaced")
    if not 0 < flips < 1 or len(moves) > 1 or release.scale != 1:
        raise CertificateError("a bit is flipped with a probability between 0 and 1")
    total = max(_farthest(release, moves)) * logarithm(max(flips, 1 - flips) / min(flips, 1 - flips))
    return Price(total, total**2 / 2, None if total else Fraction(0), Fraction(0), other=total)


_LAWS = {
    "laplace": _laplace,
    "discrete_laplace": _laplace,
    "gaussian": _gaussian,
    "discrete_gaussian": _discrete_gaussian,
    "select": _select,
    "laplace_threshold": _laplace_threshold,
    "propose_test_release": _propose_test_release,
    "truncated_laplace": _truncated_laplace,
    "randomised_response": _randomised_response,
}
_DETAILS = {
    "laplace_threshold": {"threshold"},
    "propose_test_release": {"threshold"},
    "truncated_laplace": {"bound"},
    "randomised_response": {"probability"},
}


# --- numbers that are no fractions, rounded up ---------------------------------------------------------------


@lru_cache(maxsize=256)
def gaussian_epsilon(square: Fraction, delta: Fraction) -> Fraction:
    """Return a fraction above the ε at which a μ-GDP mechanism has this δ, for μ² = ``square`` (Balle & Wang 2018)."""
    if not square:
        return Fraction(0)
    field = Field(_GAUSSIAN_DIGITS + min(2_000, int(square / 4) + 2 * isqrt(int(square))))  # Φ(−μ/2 − ε/μ) is tiny
    mu = field(square).root()

    def is_enough(steps: int) -> bool:
        epsilon = field(Fraction(steps, 10**_GAUSSIAN_PLACES))
        far, near = field.beyond(epsilon / mu + mu / 2), field.beyond(epsilon / mu - mu / 2)
        return Fraction((near - epsilon.exp() * far).high) <= delta

    low, high = -1, 10**_GAUSSIAN_PLACES
    while not is_enough(high):
        low, high = high, 2 * high
        if high > 4_000 * 10**_GAUSSIAN_PLACES:
            raise CertificateError("Gaussian noise that costs an ε above 4,000")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return Fraction(high, 10**_GAUSSIAN_PLACES)


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
