"""Which events has an account of releases to list, and which ε does it show?

On a single path every release has one dominating pair, whatever was released before, so that certified accounting
holds of their list (``docs/certificate.md``). The account is a certificate by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker import check_certificate
from dpaudit.checker.prices import Price, ReleaseNoise, Sample
from dpaudit.checker.reading import DIGITS_OF_ACCOUNT, CertificateError, ForgedError, fields, items, rational

_NUMBER = {"gaussian": "noise", "laplace": "noise", "randomised response": "epsilon"}
_MOST_EVENTS = 100_000


@dataclass(frozen=True, slots=True)
class Accounted:
    """A release of the only path: its law, how often it is made there, of how many numbers, its price for each kind."""

    noise: ReleaseNoise
    counted: int
    size: int
    prices: Sequence[Price]


@dataclass(frozen=True, slots=True)
class MovedRelease:
    """A release of the path, and how far it moves at most in units of its scale."""

    law: str  # of the noise
    times: int  # how often it is made
    sample: tuple[Fraction, int] | None  # rate, and how often the sample is drawn; None for all records
    number: int | None  # which sample
    squares: Fraction = Fraction(0)  # Σ d² of Gaussian noise; else 0
    far: tuple[Fraction, ...] = ()  # d of each Laplace draw; else none
    epsilon: Fraction = Fraction(0)  # of anything else; else 0


Listed = tuple[str, Fraction, int, Fraction | None]
"""Name, number (Σ d² for gaussian, d for laplace, ε for randomised response), count, and rate of the sample."""


def events_of(moved: Iterable[MovedRelease]) -> list[Listed] | None:
    """Return the events that releases are at most, in their order; None where there is no such list."""
    counts: dict[tuple[str, Fraction, Fraction | None], int] = {}
    inside: dict[int, tuple[tuple[Fraction, int], Fraction]] = {}
    for each in moved:
        if each.sample is not None and each.number is not None:
            if each.far or each.epsilon:
                return None  # nothing but Gaussian noise on a sample has a pair of its own
            before = inside.get(each.number, (each.sample, Fraction(0)))[1]
            inside[each.number] = each.sample, before + each.squares * each.times / each.sample[1]
            continue
        parts = [("laplace", far) for far in each.far]
        parts += [("gaussian", each.squares)] if each.squares else []
        parts += [("randomised response", each.epsilon)] if each.epsilon else []
        for name, number in parts:
            if number:
                counts[name, number, None] = counts.get((name, number, None), 0) + each.times
    for (rate, drawn), squares in inside.values():
        if squares:
            key = ("gaussian", squares, None if rate == 1 else rate)
            counts[key] = counts.get(key, 0) + drawn
    return [(name, number, count, rate) for (name, number, rate), count in counts.items()]


def is_at_least(name: str, stated: Fraction, needed: Fraction) -> bool:
    """Whether an event loses at least as much as one that is needed."""
    if name == "randomised response":
        return stated >= needed
    return stated > 0 and stated ** (2 if name == "gaussian" else 1) * needed <= 1


def by_account(
    given: Mapping[str, Any],
    paths: Sequence[Iterable[Accounted]],
    samples: Sequence[Sample],
    delta: Fraction,
    *,
    is_replaced: bool,
) -> Fraction | None:
    """Return the ε of an account of the releases of the only path; None where a certificate has none.

    Raises:
        ForgedError: it is one of other events, or at another δ, or does not show what it says.
    """
    if "account" not in given:
        return None
    account = given["account"]
    if not delta or len(paths) != 1:
        raise CertificateError("an account is one of ε at a δ above 0, of releases on one path")
    moved, epsilon, spent = farthest(paths[0], samples, is_replaced=is_replaced)
    needed = events_of(moved)
    if not needed or not spent < delta:
        raise ForgedError("an account of releases that have no pairs of their own, or no δ left")
    if type(account) is not dict or (account.get("kind"), account.get("parameter")) != ("account", "epsilon"):
        raise CertificateError("the account of releases is one of ε at a δ")
    events = items(account.get("events"), "the account: events", _MOST_EVENTS)
    if len(events) != len(needed):
        raise ForgedError("the account is one of other events than the releases")
    for number, (event, (name, loss, count, rate)) in enumerate(zip(events, needed, strict=True)):
        where = f"the account: event {number}"
        names = {"mechanism", "count"} | ({"sampling"} if rate is not None else set())
        event = fields(event, names, where)
        mechanism = fields(event["mechanism"], {"name", _NUMBER[name]}, where)
        stated = rational(mechanism[_NUMBER[name]], where, DIGITS_OF_ACCOUNT)
        same = mechanism["name"] == name and type(event["count"]) is int and event["count"] == count
        if rate is not None:
            sampling = fields(event["sampling"], {"name", "rate"}, where)
            stated_rate = rational(sampling["rate"], where, DIGITS_OF_ACCOUNT)
            same = same and sampling["name"] == "poisson" and stated_rate == rate
        if not same or not is_at_least(name, stated, loss):
            raise ForgedError(f"{where} loses less than the releases, or is another one")
    proved = check_certificate(account)
    if Fraction(proved.scope["at"]) > delta - spent or isinstance(proved.bound, float):
        raise ForgedError("the account is at a larger δ than there is, or bounds nothing from above")
    return epsilon + proved.bound


def farthest(
    listed: Iterable[Accounted], samples: Sequence[Sample], *, is_replaced: bool
) -> tuple[list[MovedRelease], Fraction, Fraction]:
    """Return the releases of the only path, each at the most that any kind of records moves it; and ε and δ of others.

    Args:
        listed: the releases.
        samples: that they are made of.
        is_replaced: whether one record is replaced by another.
    """
    moved, epsilon, spent = [], Fraction(0), Fraction(0)
    for release in listed:
        noise, prices = release.noise, release.prices
        times = release.counted * noise.times
        number = None if is_replaced else noise.sample
        each = None if number is None else samples[number]
        if noise.law == "gaussian":
            squares = max((price.gaussian or Fraction(0) for price in prices), default=Fraction(0))
            moved.append(MovedRelease("gaussian", times, each, number, squares=squares))
        elif any(price.delta for price in prices):
            epsilon += times * max(price.other or Fraction(0) for price in prices)
            spent += times * max(price.delta for price in prices)
        elif any(price.other is None or price.gaussian is None for price in prices):
            raise ForgedError("an account of releases that have no pair of their own")
        else:
            most = max(price.other or Fraction(0) for price in prices)
            alone = noise.law == "laplace" and release.size == 1
            moved.append(
                MovedRelease(
                    noise.law, times, each, number, far=(most,) if alone else (), epsilon=0 * most if alone else most
                )
            )
    return moved, epsilon, spent
