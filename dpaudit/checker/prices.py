"""What do releases cost? The price of each law, and the sums. The theorems are in ``docs/certificate.md``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum
from typing import Any

from dpaudit.checker.certificate import order_of
from dpaudit.checker.reading import CertificateError, ForgedError, Steps, fields, rational, shown, text, whole
from dpaudit.checker.reals import amplified, exponential, gaussian_epsilon, logarithm, logarithm_below, root

MOST_RELEASES = 20_000
MOST_TIMES = 10**9
NOTIONS = ("epsilon", "rho", "mu")
_RULES = 4  # by which ε at a δ is bounded
_MOST_BITS = 20_000  # of a sum of prices
_MOST_DEAREST = 5_000  # prices of which none is at least another

Amount = Fraction | None
"""A number, or None for ∞."""
Interval = tuple[Fraction, Fraction]
Sample = tuple[Fraction, int]
"""The rate of a Poisson sample, and how often it is drawn."""


@dataclass(frozen=True, slots=True)
class ReleaseNoise:
    """The law of one release."""

    law: str  # its name
    scale: Fraction  # in units of what it is added to
    sample: int | None  # the number of the sample that it is made of; None for all records
    times: int  # how often it is made where it stands
    details: tuple[tuple[str, Fraction], ...] = ()  # further numbers of the law


def read_noise(given: dict[str, Any], sample: int | None, where: str) -> ReleaseNoise:
    """Return the law of a release from its fields law, scale, times, line and details."""
    law = given["law"]
    if type(law) is not str or law not in LAWS:
        raise CertificateError(f"{where}: no law {shown(law)}; known are {', '.join(LAWS)}")
    scale = rational(given["scale"], f"{where}: scale")
    if scale <= 0:
        raise CertificateError(f"{where}: a scale is positive")
    details = fields(given["details"], _DETAILS.get(law, set()), f"{where}: details")
    numbers = tuple((name, rational(details[name], f"{where}: {name}")) for name in sorted(details))
    text(given["line"], f"{where}: line")
    return ReleaseNoise(law, scale, sample, whole(given["times"], f"{where}: times", 1, MOST_TIMES), numbers)


def read_sample(given: dict[str, Any], where: str) -> Sample:
    """Return a sample from its fields rate and times."""
    rate = rational(given["rate"], f"{where}: rate")
    if not 0 < rate <= 1:
        raise CertificateError(f"{where}: a rate is above 0 and at most 1")
    return rate, whole(given["times"], f"{where}: times", 1, MOST_TIMES)


def read_notion(given: dict[str, Any], group: int) -> tuple[str, Fraction]:
    """Return the notion and the δ of a certificate."""
    notion, delta = given["notion"], rational(given["delta"], "delta")
    order = order_of(notion)
    if order is None and (type(notion) is not str or notion not in NOTIONS):
        raise CertificateError(f"the notion is one of {', '.join(NOTIONS)}, order α, not {shown(notion)}")
    if order is not None and (order <= 1 or group > 1):
        raise CertificateError("an order is above 1, and for groups of one")
    if not 0 <= delta < 1 or (delta and (notion != "epsilon" or group > 1)):
        raise CertificateError("delta is 0, or of an epsilon between 0 and 1, for groups of one")
    return notion, delta


@dataclass(slots=True)
class Price:
    """What releases cost for one pair of neighbours: ε, ρ, μ² and δ, each by itself.

    ``gaussian`` is the μ² of Gaussian noise alone, and ``other`` the ε of all but Gaussian noise.
    """

    epsilon: Amount = Fraction(0)
    rho: Amount = Fraction(0)
    mu2: Amount = Fraction(0)
    delta: Fraction = Fraction(0)
    gaussian: Amount = Fraction(0)
    other: Amount = Fraction(0)
    is_sampled: bool = False  # whether some of it is made of a sample
    sampled: tuple[Fraction, int, Amount] | None = (
        None  # where all of it is of one: rate, how often it is drawn, and μ²
    )

    @property
    def amounts(self) -> tuple[Amount, ...]:
        """Its six numbers, each of which makes the price larger."""
        return self.epsilon, self.rho, self.mu2, self.delta, self.gaussian, self.other

    @staticmethod
    def largest(prices: Sequence[Price]) -> Price:
        """Return what is in every number the largest of these."""
        columns = zip(*(each.amounts for each in prices), strict=True)
        epsilon, rho, mu2, delta, gaussian, other = (None if None in each else max(each) for each in columns)
        return Price(epsilon, rho, mu2, delta or Fraction(0), gaussian, other)

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


def _plus(one: Amount, more: Amount, times: int) -> Amount:
    return None if one is None or more is None else one + times * more


def _refuse_long(price: Price) -> None:
    for amount in price.amounts:
        if amount is not None and amount.denominator.bit_length() > _MOST_BITS:
            raise CertificateError("a sum of prices has too many digits: give rounder numbers")


@dataclass(slots=True)
class Spent:
    """What several releases cost for one pair of neighbours: outside of samples, and inside of each."""

    outside: Price = field(default_factory=Price)
    inside: dict[int, Price] = field(default_factory=dict)

    def add(
        self, noise: ReleaseNoise, price: Price, counted: int, samples: Sequence[Sample], *, is_replaced: bool
    ) -> None:
        """Add a release that is made ``counted`` times; a sample gains nothing where a record is replaced."""
        times = noise.times * counted
        if noise.sample is None or is_replaced:
            self.outside = self.outside.plus(price, times)
        else:
            if price.delta:
                raise CertificateError("a release with a δ is made of a sample")
            if noise.times % samples[noise.sample][1]:
                raise CertificateError("a sample is drawn a number of times, and used in some of them only")
            none = Fraction(0)
            self.outside = self.outside.plus(Price(none, price.rho, price.mu2, none), times)
            before = self.inside.get(noise.sample, Price(rho=None, mu2=None))
            self.inside[noise.sample] = before.plus(price, times)
        _refuse_long(self.outside)

    def joined(self, other: Spent) -> Spent:
        """Return what both cost together."""
        inside = dict(self.inside)
        for number, price in other.inside.items():
            inside[number] = inside.get(number, Price(rho=None, mu2=None)).plus(price, 1)
        outside = self.outside.plus(other.outside, 1)
        _refuse_long(outside)
        return Spent(outside, inside)

    def amounts(self, samples: int) -> tuple[Amount, ...]:
        """Return all sums, each of which makes it dearer, for so many samples."""
        none = Price(rho=None, mu2=None)
        inside = (self.inside.get(number, none).amounts for number in range(samples)) if self.inside else ()
        return sum(inside, self.outside.amounts)

    @staticmethod
    def largest(spent: Sequence[Spent]) -> Spent:
        """Return what is in every sum the largest of these."""
        numbers = {number for each in spent for number in each.inside}
        none = Price(rho=None, mu2=None)
        inside = {number: Price.largest([each.inside.get(number, none) for each in spent]) for number in numbers}
        return Spent(Price.largest([each.outside for each in spent]), inside)

    def total(self, samples: Sequence[Sample]) -> Price:
        """Return the price of all of it."""
        total = Price().plus(self.outside, 1)
        for number, within in self.inside.items():
            rate, drawn = samples[number]
            if within.epsilon is None:
                total.epsilon = None
            elif total.epsilon is not None:
                total.epsilon += drawn * amplified(rate, within.epsilon / drawn)
        used = {number: within for number, within in self.inside.items() if within.epsilon != 0}
        total.is_sampled = bool(used)
        if len(used) == 1 and not (total.gaussian is None or total.gaussian or total.other or total.delta):
            ((number, within),) = used.items()
            total.sampled = None if within.other else (*samples[number], within.gaussian)
        elif not used and total.gaussian == 0 and not (total.other or total.delta):
            total.sampled = (Fraction(1), 1, Fraction(0))  # nothing moves
        return total


def dearest(spent: Iterable[Spent], samples: Sequence[Sample], steps: Steps) -> list[Spent]:
    """Return those of which no other is at least as large in every sum."""
    largest: list[tuple[tuple[Amount, ...], Spent]] = []
    distinct = {each.amounts(len(samples)): each for each in spent}
    for amounts, each in sorted(distinct.items(), key=lambda entry: _size(entry[0]), reverse=True):
        steps.spend(len(largest) + 1)
        if not any(_at_least(other, amounts) for other, _ in largest):
            largest.append((amounts, each))
            if len(largest) > _MOST_DEAREST:
                raise CertificateError(f"more than {_MOST_DEAREST:,} kinds of records, of which none is the dearest")
    return [each for _, each in largest]


def _at_least(one: tuple[Amount, ...], other: tuple[Amount, ...]) -> bool:
    return all(a is None or (b is not None and a >= b) for a, b in zip(one, other, strict=True))


def _size(amounts: tuple[Amount, ...]) -> tuple[int, float]:
    finite = [float(min(each, Fraction(10**100))) for each in amounts if each is not None]
    return len(amounts) - len(finite), fsum(finite)


def by_rules(price: Price, notion: str, delta: Fraction, *, alone: bool) -> list[Amount]:
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
    order = order_of(notion)
    if order is not None:  # at most ε at every order, and at most αρ (Bun & Steinke 2016, Definition 1.1)
        concentrated = None if price.delta or price.rho is None else order * price.rho
        return [None if price.delta else price.epsilon, concentrated] + [None] * (_RULES - 2)
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


class LargestByRules:
    """The largest bound that each rule gives of prices: of all paths, for all pairs of kinds.

    Args:
        notion, delta: as stated.
        alone: whether there is but one path.
    """

    def __init__(self, notion: str, delta: Fraction, *, alone: bool) -> None:
        self._notion, self._delta, self._alone = notion, delta, alone
        self._largest: list[Amount] = [Fraction(0)] * _RULES

    def add(self, price: Price) -> None:
        """Add a price."""
        rules = by_rules(price, self._notion, self._delta, alone=self._alone)
        self._largest = [
            None if one is None or other is None else max(one, other)
            for one, other in zip(self._largest, rules, strict=True)
        ]

    def bound(self, group: int = 1, by_account: Fraction | None = None) -> Fraction:
        """Return the least bound of any rule, or of an account, for so many records.

        Raises:
            ForgedError: if none is finite.
        """
        known = [each for each in (*self._largest, by_account) if each is not None]
        if not known:
            raise ForgedError(f"its releases show no finite bound of {self._notion}")
        return min(known) * (group**2 if self._notion == "rho" else group)


# --- laws: the price of one release, whose numbers move within these intervals -------------------------------


def _farthest(noise: ReleaseNoise, moves: list[Interval]) -> list[Fraction]:
    return [max(abs(low), abs(high)) / noise.scale for low, high in moves]


def _laplace(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    far = _farthest(noise, moves)
    rho = sum((each**2 / 2 for each in far), Fraction(0))
    total = sum(far, Fraction(0))
    return Price(total, rho, None if any(far) else Fraction(0), Fraction(0), other=total)


def _gaussian(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    square = sum((each**2 for each in _farthest(noise, moves)), Fraction(0))
    return Price(None if square else Fraction(0), square / 2, square, Fraction(0), gaussian=square)


def _discrete_gaussian(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    price = _gaussian(noise, moves, is_replaced)
    return Price(price.epsilon, price.rho, price.epsilon, Fraction(0), gaussian=price.epsilon)


def _select(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    spread = (max(high for _, high in moves) - min(low for low, _ in moves)) / noise.scale
    return Price(spread, spread**2 / 8, None if spread else Fraction(0), Fraction(0), other=spread)


def _noisy_max(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    price = _select(noise, moves, is_replaced)
    spread = price.other or Fraction(0)
    return Price(spread, spread**2 / 2, price.mu2, Fraction(0), other=spread)


def _laplace_threshold(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    if is_replaced:
        raise CertificateError("the threshold rule is about records that come or go")
    far = [each for each in _farthest(noise, moves) if each]
    if not far:
        return Price()
    above = [dict(noise.details)["threshold"] / noise.scale - each for each in far]
    if min(above) < 0:
        raise CertificateError("a threshold below what one record adds")
    total = sum(far, Fraction(0))
    return Price(total, None, None, sum((exponential(-each) / 2 for each in above), Fraction(0)), other=total)


def _propose_test_release(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    if len(moves) < 2:
        raise CertificateError("a lead of one option over none")
    eta = (max(high for _, high in moves) - min(low for low, _ in moves)) / noise.scale
    if not eta:
        return Price()
    above = dict(noise.details)["threshold"] / noise.scale - eta
    if above < 0:
        raise CertificateError("a threshold below what one record does to the lead")
    return Price(eta, None, None, exponential(-above) / 2, other=eta)


def _truncated_laplace(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    far = [each for each in _farthest(noise, moves) if each]
    if not far:
        return Price()
    end = dict(noise.details)["bound"] / noise.scale
    if max(far) > end:
        raise CertificateError("noise that is truncated below what one record adds")
    total = sum(far, Fraction(0))
    end = min(end, Fraction(1_000))  # the δ of less is larger, and hardly
    lost = sum((exponential(each) - 1 for each in far), Fraction(0)) / (2 * (1 / exponential(-end) - 1))
    return Price(total, None, None, lost, other=total)


def _randomised_response(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    flips = dict(noise.details)["probability"]
    if not is_replaced:
        raise CertificateError("reports of all records are about records that are replaced")
    if not 0 < flips < 1 or len(moves) > 1 or noise.scale != 1:
        raise CertificateError("a bit is flipped with a probability between 0 and 1")
    total = max(_farthest(noise, moves)) * logarithm(max(flips, 1 - flips) / min(flips, 1 - flips))
    return Price(total, total**2 / 2, None if total else Fraction(0), Fraction(0), other=total)


def _above_threshold(noise: ReleaseNoise, moves: list[Interval], is_replaced: bool) -> Price:
    details = dict(noise.details)
    above, scale = details["above"], details["noise"]
    if scale <= 0 or above.denominator != 1 or not 0 <= above <= len(moves):
        raise CertificateError("of numbers that are compared with a threshold so many are above, and noise is positive")
    first, totals = len(moves) - int(above), [Fraction(0)]
    for sign in (1, -1):
        ends = [(low, high) if sign > 0 else (-high, -low) for low, high in moves]
        shift = max([Fraction(0), *(high for _, high in ends[:first])])
        far = sum((max(Fraction(0), shift - low) for low, _ in ends[first:]), Fraction(0))
        totals.append(shift / noise.scale + far / scale)
    each = sum((max(abs(low), abs(high)) for low, high in moves), Fraction(0)) / scale
    total = min(max(totals), each)
    return Price(total, None if total else Fraction(0), None if total else Fraction(0), Fraction(0), other=total)


LAWS = {
    "laplace": _laplace,
    "discrete_laplace": _laplace,
    "gaussian": _gaussian,
    "discrete_gaussian": _discrete_gaussian,
    "select": _select,
    "noisy_max": _noisy_max,
    "laplace_threshold": _laplace_threshold,
    "propose_test_release": _propose_test_release,
    "truncated_laplace": _truncated_laplace,
    "randomised_response": _randomised_response,
    "above_threshold": _above_threshold,
}
_DETAILS = {
    "laplace_threshold": {"threshold"},
    "propose_test_release": {"threshold"},
    "truncated_laplace": {"bound"},
    "randomised_response": {"probability"},
    "above_threshold": {"above", "noise"},
}
