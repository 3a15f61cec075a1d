"""What does a path of releases cost? ε, ρ, μ² and δ for each pair of kinds of records, and the largest of all.

Along a path ε, ρ, μ² and δ add up, and the largest sum over paths is valid although outputs choose the path (ε, ρ: by
induction from the leaves, Rogers, Roth, Ullman & Vadhan 2016, Feldman & Zrnic 2021; μ: Smith & Thakurta 2022). The sums
are closed: what certified accounting would make tighter is all in `composed`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from scipy.optimize import brentq
from scipy.stats import norm

from dpaudit.checker.accounted import Listed, Moved, events_of, is_at_least
from dpaudit.checker.prices import order_of
from dpaudit.errors import UsageError
from dpaudit.verify.releases.movement import (
    Ball,
    ColumnDomain,
    Condition,
    Linear,
    Movement,
    Part,
    RefusedError,
    Release,
    Releases,
    Sample,
)

# --- Which kinds of records do the releases of a path tell apart, and how far does each kind move a number? ---

MOST_KINDS = 5_000
Kind = Mapping[str, Any]
"""A value for each column that is tested: records that meet the same tests are of one kind."""
_ZERO = Fraction(0)


def conditions_of(movement: Movement) -> Iterator[Condition]:
    """Yield all conditions that a movement depends on."""
    if isinstance(movement, Ball):
        yield from movement.part
        return
    for term in movement.terms:
        yield from term.part


def kinds_of(releases: Iterable[Release], columns: Mapping[str, ColumnDomain]) -> list[Kind]:
    """Return every kind of records that releases tell apart."""
    tests: dict[str, dict[tuple[str, Any], None]] = {}
    for release in releases:
        for movement in release.values:
            for each in conditions_of(movement):
                tests.setdefault(each.column, {}).setdefault((each.operator, each.operand))
    points = {column: _points(columns[column], list(asked)) for column, asked in sorted(tests.items())}
    if math.prod(map(len, points.values())) > MOST_KINDS:
        raise RefusedError(
            f"the conditions tell more than {MOST_KINDS:,} kinds of records apart, by {', '.join(points)}; use fewer"
        )
    return [dict(zip(points, chosen, strict=True)) for chosen in itertools.product(*points.values())]


def holds(value: Any, operator: str, operand: Any) -> bool:
    """Whether a value meets a test; None is a missing one."""
    if operator == "missing":
        return value is None
    if value is None or isinstance(value, bool | str) != isinstance(operand, bool | str):
        return False
    if operator == "==":
        return type(value) is type(operand) and bool(value == operand)
    return bool(value < operand or (operator == "<=" and value == operand))


def _points(domain: ColumnDomain, tests: Sequence[tuple[str, Any]]) -> list[Any]:
    """Return a value for each way in which the tests can come out."""
    if domain.values is not None:
        candidates: list[Any] = list(domain.values)
    else:
        marks = sorted({operand for _, operand in tests if isinstance(operand, Fraction)})
        low = domain.low if domain.low is not None else (marks[0] if marks else _ZERO) - 1
        high = domain.high if domain.high is not None else (marks[-1] if marks else _ZERO) + 1
        marks = [low, *(mark for mark in marks if low < mark < high), high]
        candidates = [*marks, *((one + other) / 2 for one, other in itertools.pairwise(marks))]
    if domain.missing:
        candidates.append(None)
    found: dict[tuple[bool, ...], Any] = {}
    for value in candidates:
        found.setdefault(tuple(holds(value, *test) for test in tests), value)
    return list(found.values())


def is_in(kind: Kind, part: Part) -> bool:
    """Whether records of a kind meet all conditions of a part."""
    return all(holds(kind[each.column], each.operator, each.operand) is each.holds for each in part)


def moved(movement: Movement, added: Kind, removed: Kind | None) -> tuple[Fraction, Fraction]:
    """Return how far a number moves where a record of one kind comes, and one of another goes; a ball: its radius."""
    if isinstance(movement, Ball):
        here = [kind for kind in (added, removed) if kind is not None and is_in(kind, movement.part)]
        length = len(here) * movement.radius
        return -length, length
    return _linear(movement, added, removed)


def _linear(movement: Linear, added: Kind, removed: Kind | None) -> tuple[Fraction, Fraction]:
    low, high = _ZERO, _ZERO
    for term in movement.terms:
        least, most = term.low, term.high
        if is_in(added, term.part):
            low, high = low + least, high + most
        if removed is not None and is_in(removed, term.part):
            low, high = low - most, high - least
    return low, high


# --- What does a path of releases cost? ε, ρ, μ² and δ for each pair of kinds of records, and the largest of all. ---

WITH_DELTA = ("laplace_threshold", "propose_test_release", "truncated_laplace")
"""Releases that lose a δ of their own."""
_MOST_PRICES = 3_000_000  # of values, over all paths and pairs of kinds
_DIGITS = 30
_CONTEXT = Context(prec=_DIGITS, rounding=ROUND_CEILING)


@dataclass(slots=True)
class Spent:
    """What one path costs for one pair of kinds; None is ∞.

    ``gaussian`` is the μ² of Gaussian noise alone, None where whole-number noise has none; ``other`` the ε of all else.
    ``within``: ε of each sample by itself, which its sampling makes smaller; ``blocks``: what releases are made of.
    """

    epsilon: Fraction | None = _ZERO
    rho: Fraction | None = _ZERO
    mu2: Fraction | None = _ZERO
    delta: Fraction = _ZERO
    gaussian: Fraction | None = _ZERO
    other: Fraction | None = _ZERO
    within: dict[Sample, Fraction | None] = field(default_factory=dict)
    blocks: set[Sample | None] = field(default_factory=set)

    def add(self, release: Release, moves: Sequence[tuple[Fraction, Fraction]], times: int, *, sampled: bool) -> None:
        """Add a release whose numbers move within intervals, done so often."""
        epsilon, rho, mu2, delta = priced_alone(release, moves)
        if sampled and release.sample is not None:
            before = self.within.get(release.sample, _ZERO)
            self.within[release.sample] = _sum(before, epsilon, times)
        else:
            self.epsilon = _sum(self.epsilon, epsilon, times)
        self.rho, self.mu2 = _sum(self.rho, rho, times), _sum(self.mu2, mu2, times)
        self.delta += times * delta
        if not epsilon and epsilon is not None:
            return
        self.blocks.add(release.sample if sampled else None)
        if "gaussian" in release.law:
            self.gaussian = _sum(self.gaussian, mu2, times)
        else:
            self.other = _sum(self.other, epsilon, times)


def _sum(one: Fraction | None, more: Fraction | None, times: int) -> Fraction | None:
    return None if one is None or more is None else one + times * more


def priced_alone(
    release: Release, moves: Sequence[tuple[Fraction, Fraction]]
) -> tuple[Fraction | None, Fraction | None, Fraction | None, Fraction]:
    """Return ε, ρ, μ² and δ of one release."""
    far = [max(-low, high, _ZERO) / release.scale for low, high in moves]
    if not any(far):
        return _ZERO, _ZERO, _ZERO, _ZERO
    square = sum((each * each for each in far), _ZERO)
    if release.law in ("laplace", "discrete_laplace"):
        # ρ = ε²/2 of each draw (Bun & Steinke 2016, Proposition 1.4)
        return sum(far, _ZERO), square / 2, None, _ZERO
    if release.law == "gaussian":
        # Bun & Steinke 2016, Proposition 1.6; Dong, Roth & Su 2022, Theorem 2.7
        return None, square / 2, square, _ZERO
    if release.law == "discrete_gaussian":
        # Canonne, Kamath & Steinke 2020, Theorem 4; its trade-off curve is no Gaussian one
        return None, square / 2, None, _ZERO
    if release.law == "select":
        # bounded range η: ε = η (McSherry & Talwar 2007), ρ = η²/8 (Cesar & Rogers 2021)
        eta = (max(high for _, high in moves) - min(low for low, _ in moves)) / release.scale
        return eta, eta * eta / 8, None, _ZERO
    if release.law == "laplace_threshold":
        # a key that one side lacks passes with probability ½e^{−(τ − Δ)/b} (Korolova et al. 2009)
        above = dict(release.details)["threshold"] / release.scale - far[0]
        if above < 0:
            raise RefusedError(f"{release.line}: a threshold below what one record adds")
        return far[0], None, None, above_exp(-above) / 2
    if release.law == "propose_test_release":
        # the lead is at most the spread η of the movements where the first one changes (Vadhan 2017, Section 3.2)
        eta = (max(high for _, high in moves) - min(low for low, _ in moves)) / release.scale
        above = dict(release.details)["threshold"] / release.scale - eta
        if above < 0:
            raise RefusedError(f"{release.line}: a threshold below what one record does to the lead")
        return eta, None, None, above_exp(-above) / 2 if eta else _ZERO
    if release.law == "truncated_laplace":
        # where only one of both has values: ½(e^d − 1)/(e^{A/b} − 1) each (Geng, Ding, Guo & Kumar 2020, Theorem 1)
        end = dict(release.details)["bound"] / release.scale
        if max(far) > end:
            raise RefusedError(f"{release.line}: noise that is truncated below what one record adds")
        lost = sum((above_exp(each) - 1 for each in far if each), _ZERO) / (
            2 * (below_exp(min(end, Fraction(1_000))) - 1)
        )
        return sum(far, _ZERO), None, None, lost
    if release.law == "above_threshold":
        return _compared(release, moves), None, None, _ZERO
    if release.law == "randomised_response":
        # a bit that is flipped with probability p has the ratio (1 − p)/p (Warner 1965)
        flips = dict(release.details)["probability"]
        epsilon = far[0] * above_log(max(1 - flips, flips) / min(1 - flips, flips))
        return epsilon, epsilon * epsilon / 2, None, _ZERO
    raise RefusedError(f"{release.line}: the price of {release.law} noise is not known")


def _compared(release: Release, moves: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Return the ε of comparisons with one noisy threshold, of which the last numbers are above.

    The threshold's noise is shifted by t, at least as far as a number below may rise, so that each stays below; the
    noise of a number above by what it takes to stay there (Dwork & Roth 2014, Theorem 3.23; Lyu, Su & Li 2017, Theorem
    2). Or each number's noise by as far as it moves.
    """
    details = dict(release.details)
    many, noise = int(details["above"]), details["noise"]
    dearest = _ZERO
    for ends in (moves, [(-high, -low) for low, high in moves]):
        below, above = ends[: len(ends) - many], ends[len(ends) - many :]
        shift = max([_ZERO, *(high for _, high in below)])
        dearest = max(
            dearest, shift / release.scale + sum((max(_ZERO, shift - low) for low, _ in above), _ZERO) / noise
        )
    return min(dearest, sum((max(-low, high) for low, high in moves), _ZERO) / noise)


@dataclass(frozen=True, slots=True)
class Priced:
    """The bound, and where it is reached: the path, and the kinds of the record that comes and of the one that goes."""

    bound: Fraction | None
    path: tuple[Release, ...]
    added: Kind
    removed: Kind | None


def composed(spent: Spent, notion: str, delta: Fraction, *, alone: bool) -> dict[str, Fraction]:
    """Return the bounds of a notion that a path's releases have together, by the rule that gives each.

    One rule has to do for all paths and kinds: a path that outputs choose is no mechanism by itself, so that the best
    rule of each path proves nothing of the whole.
    """
    found: dict[str, Fraction | None] = {}
    if notion == "mu":
        found["sums"] = None if spent.mu2 is None or spent.delta else above_root(spent.mu2)
    elif notion == "rho":
        found["sums"] = None if spent.delta else spent.rho
    elif (order := order_of(notion)) is not None:
        found["sums"] = None if spent.delta else _summed(spent)
        found["concentrated"] = None if spent.delta or spent.rho is None else order * spent.rho
    else:
        found["sums"] = _summed(spent) if spent.delta <= delta else None
    if notion == "epsilon" and delta:
        if spent.rho is not None and not spent.delta:
            # ρ-zCDP is (ρ + 2√(ρ ln(1/δ)), δ)-DP (Bun & Steinke 2016, Proposition 1.3)
            found["concentrated"] = spent.rho + 2 * above_root(spent.rho * above_log(1 / delta))
        found |= _of_gaussians(spent, delta, alone=alone)
    return {rule: bound for rule, bound in found.items() if bound is not None}


def _summed(spent: Spent) -> Fraction | None:
    total = spent.epsilon
    for sample, inner in spent.within.items():
        if total is None or inner is None or (spent.delta and inner):
            return None
        total += sample.times * _amplified(sample.rate, inner / sample.times)
    return total


def _of_gaussians(spent: Spent, delta: Fraction, *, alone: bool) -> dict[str, Fraction | None]:
    """Return ε at δ where Gaussian noise has all of δ that is left, and other releases their ε.

    Gaussian releases alone are μ-GDP, whatever chooses the path; others may join them where there is but one path. All
    releases of one sample are amplified together (Balle, Barthe & Gaboardi 2018, Theorem 8).
    """
    if spent.gaussian is None or spent.other is None:
        return {}
    found: dict[str, Fraction | None] = {}
    if spent.blocks <= {None} and (alone or not (spent.other or spent.delta)) and spent.delta < delta:
        found["gaussian"] = spent.other + _gaussian_epsilon(spent.gaussian, delta - spent.delta)
    if alone and not spent.blocks:
        found["sampled"] = _ZERO
    if alone and len(spent.blocks) == 1 and not (spent.other or spent.delta):
        (sample,) = spent.blocks
        if sample is not None and sample.times == 1 and delta < sample.rate:
            found["sampled"] = _amplified(sample.rate, _gaussian_epsilon(spent.gaussian, delta / sample.rate))
    return found


@lru_cache(maxsize=256)
def _gaussian_epsilon(square: Fraction, delta: Fraction) -> Fraction:
    """Return an ε, hardly above the least, at which a μ-GDP mechanism has this δ, for μ² = ``square``.

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang 2018, Theorem 8). Found in floats; the checker of certificates
    computes it again with certain errors.
    """
    if not square:
        return _ZERO
    mu = math.sqrt(square)

    def excess(epsilon: float) -> float:
        far = float(norm.logsf(epsilon / mu + mu / 2))
        return float(norm.sf(epsilon / mu - mu / 2)) - math.exp(epsilon + far) - float(delta)

    if excess(0.0) <= 0:
        return _ZERO
    high = 1.0
    while excess(high) > 0:
        high *= 2
    found = float(brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14))
    return Fraction(math.ceil((found * (1 + 2e-10) + 3e-12) * 10**14), 10**14)


def price(releases: Releases, *, replace: bool, group: int, notion: str, delta: Fraction = _ZERO) -> Priced:
    """Return the largest bound over all paths and pairs of kinds."""
    if group > 1 and delta:
        raise RefusedError("groups at a δ above 0; claim pure ε, ρ or μ")
    alone, work = len(releases.paths) == 1, 0
    worst: dict[str, Priced] | None = None
    for path in releases.paths:
        counted = Counter(path)
        kinds = kinds_of(counted, releases.columns)
        pairs: Iterable[tuple[Kind, Kind | None]]
        pairs = ((one, other) for one in kinds for other in (kinds if replace else (None,)))
        work += len(kinds) * (len(kinds) if replace else 1) * sum(len(release.values) for release in counted)
        if work > _MOST_PRICES:
            raise RefusedError("there are too many paths, kinds of records and releases to price them all")
        for added, removed in pairs:
            bounds = composed(_spent(counted, added, removed), notion, delta, alone=alone)
            here = {rule: Priced(bound, path, added, removed) for rule, bound in bounds.items()}
            if worst is not None:
                here = {rule: max(here[rule], worst[rule], key=_bound_of) for rule in here.keys() & worst.keys()}
            if not here:
                return Priced(None, path, added, removed)
            worst = here
    assert worst is not None
    best = min(worst.values(), key=_bound_of)
    return Priced(_bound_of(best) * (group**2 if notion == "rho" else group), best.path, best.added, best.removed)


def _bound_of(priced: Priced) -> Fraction:
    assert priced.bound is not None
    return priced.bound


def _spent(counted: Mapping[Release, int], added: Kind, removed: Kind | None) -> Spent:
    spent = Spent()
    for release, times in counted.items():
        if removed is not None and release.law == "laplace_threshold":
            raise RefusedError(
                f"{release.line}: the threshold rule is about records that come or go, not replaced ones"
            )
        if removed is None and release.law == "randomised_response":
            raise RefusedError(
                f"{release.line}: a report of every record, of which the number is private; claim it under 'replace'"
            )
        if release.law in WITH_DELTA and release.sample is not None:
            raise RefusedError(f"{release.line}: a release with a δ of its own on a sample")
        moves = [moved(each, added, removed) for each in release.values]
        spent.add(release, moves, times * release.times, sampled=removed is None)
    return spent


# --- numbers that are no fractions, rounded up -------------------------------------------------------------


def above_root(value: Fraction) -> Fraction:
    """Return a fraction at or above the square root; the root itself where it is a fraction."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if (top * top, bottom * bottom) == (value.numerator, value.denominator):
        return Fraction(top, bottom)
    return _up(_decimal(value).sqrt(_CONTEXT))


def above_exp(value: Fraction) -> Fraction:
    """Return a fraction above e^value."""
    return _up(_decimal(value).exp(_CONTEXT))


def below_exp(value: Fraction) -> Fraction:
    """Return a fraction below e^value, for a value of at least 0."""
    return 1 / (above_exp(-value) * (1 + Fraction(1, 10 ** (_DIGITS - 10))))


def above_log(value: Fraction) -> Fraction:
    """Return a fraction above ln(value), for a value of at least 1."""
    return _up(_decimal(value).ln(_CONTEXT))


def _amplified(rate: Fraction, epsilon: Fraction) -> Fraction:
    """ln(1 + q(e^ε − 1)) of a Poisson sample (Balle, Barthe & Gaboardi 2018, Theorem 8), rounded up."""
    if rate == 1 or not epsilon:
        return epsilon
    return min(epsilon, above_log(1 + rate * (above_exp(epsilon) - 1)))


def _decimal(value: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _up(value: Decimal) -> Fraction:
    """A fraction of few digits, safely above a number that was rounded to 30."""
    found = Fraction(value) * (1 + Fraction(1, 10 ** (_DIGITS - 4)))
    places = 10 ** (_DIGITS - 10)
    if abs(found) < Fraction(1, 10**10):
        return found
    return Fraction(math.ceil(found * places), places)


# --- What does certified accounting say of the releases of a program with one path? An account that its certificate
# holds.
#
# On a single path every release has one dominating pair, whatever was released before: the list of them composes as
# independent steps do (Dong, Roth & Su 2022; Zhu, Dong & Wang 2022, Theorem 10, for adaptive composition).

TOLERANCE = 2e-4  # in ε, so that a thousand sampled steps are checked within a second
_OF_LISTED = 10**12
_MOST = 64.0  # of what all events together lose, about, as a μ²: beyond, an account takes minutes, and says little


def account(releases: Releases, *, replace: bool, delta: Fraction) -> tuple[Fraction, dict[str, Any]] | None:
    """Return an ε at a δ with the account that shows it; None where there is none.

    Args:
        releases: what was read.
        replace: whether a neighbour replaces a record; else it adds or removes one.
        delta: above 0.
    """
    from dpaudit.accounting import certify  # takes a tenth of a second, which few proofs need

    if len(releases.paths) != 1 or not delta:
        return None
    counted = Counter(releases.paths[0])
    kinds = kinds_of(counted, releases.columns)
    pairs = [(added, removed) for added in kinds for removed in (kinds if replace else [None])]
    listed, epsilon, spent = [], Fraction(0), Fraction(0)
    numbers = {sample: place for place, sample in enumerate({release.sample for release in counted})}
    for release, times in counted.items():
        most = _most(release, pairs)
        if most is None:
            return None
        pure, squares, own = most
        if release.law in WITH_DELTA:
            epsilon, spent = epsilon + times * release.times * pure, spent + times * release.times * own
            continue
        sample = None if release.sample is None or replace else (release.sample.rate, release.sample.times)
        alone = release.law == "laplace" and len(release.values) == 1
        listed.append(
            Moved(
                release.law,
                times * release.times,
                sample,
                None if sample is None else numbers[release.sample],
                squares=squares,
                far=(pure,) if alone else (),
                epsilon=Fraction(0) if alone else pure,
            )
        )
    needed = events_of(listed)
    if not needed or not spent < delta or sum(map(_lost, needed)) > _MOST:
        return None
    try:
        found = certify(_events(needed), delta=delta - spent, tolerance=TOLERANCE)
    except UsageError:  # too small a δ, too little memory, or without python-flint
        return None
    return (epsilon + Fraction(found.certificate["high"]), found.certificate) if math.isfinite(found.high) else None


def _most(release: Release, pairs: Sequence[tuple[Kind, Kind | None]]) -> tuple[Fraction, Fraction, Fraction] | None:
    """Return the largest ε of all but Gaussian noise, Σ d² of Gaussian noise and δ; None where there is none."""
    pure = squares = own = Fraction(0)
    for added, removed in pairs:
        epsilon, _, square, delta = priced_alone(release, [moved(each, added, removed) for each in release.values])
        own = max(own, delta)
        if release.law == "gaussian" and square is not None:
            squares = max(squares, square)
        elif epsilon is None:
            return None
        else:
            pure = max(pure, epsilon)
    return pure, squares, own


def _lost(event: Listed) -> float:
    """Return about the μ² of an event: of sampled Gaussian noise q²·n·(e^μ² − 1) (Bu, Dong, Long & Su 2020)."""
    name, number, count, rate = event
    square = float(number if name == "gaussian" else number**2)
    if rate is None:
        return count * square
    return math.inf if square > _MOST else float(rate) ** 2 * count * math.expm1(square)


def _events(needed: Sequence[Listed]) -> Any:
    from dpaudit.accounting import Events, Gaussian, Laplace, RandomisedResponse

    parts = []
    for name, number, count, rate in needed:
        if name == "randomised response":
            parts.append((RandomisedResponse(number), count))
            continue
        noise = Fraction(
            math.isqrt(int(_OF_LISTED**2 / number)) if name == "gaussian" else int(_OF_LISTED / number),
            _OF_LISTED,
        )
        assert is_at_least(name, noise, number)
        event: Any = Gaussian(noise) if name == "gaussian" else Laplace(noise)
        parts.append((event if rate is None else event.poisson(rate), count))
    return Events(tuple(parts))
