"""Which events are the releases of a program with one path, at most? What an account of them has to list.

On a single path every release has one dominating pair, whatever was released before, so that certified accounting
holds of their list (``docs/certificate.md``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounting import check_account
from dpaudit.checker.accounting_laws import rational
from dpaudit.checker.reading import FORMAT, VERSION, CertificateError, ForgedError, fields, items

ACCOUNT = {"format", "version", "kind", "events", "parameter", "at", "low", "high", "digits", "ends"}
_NUMBER = {"gaussian": "noise", "laplace": "noise", "randomised response": "epsilon"}


@dataclass(frozen=True, slots=True)
class Moved:
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


def events_of(moved: Iterable[Moved]) -> list[Listed] | None:
    """Return the events that releases are at most, in their order; None where there is no such list."""
    found: dict[tuple[str, Fraction, Fraction | None], int] = {}
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
                found[name, number, None] = found.get((name, number, None), 0) + each.times
    for (rate, drawn), squares in inside.values():
        if squares:
            key = ("gaussian", squares, None if rate == 1 else rate)
            found[key] = found.get(key, 0) + drawn
    return [(name, number, count, rate) for (name, number, rate), count in found.items()]


def is_at_least(name: str, stated: Fraction, needed: Fraction) -> bool:
    """Whether an event loses at least as much as one that is needed."""
    if name == "randomised response":
        return stated >= needed
    return stated > 0 and stated ** (2 if name == "gaussian" else 1) * needed <= 1


def check_accounted(given: object, needed: Sequence[Listed], delta: Fraction) -> Fraction:
    """Return the ε that an account of the releases shows at a δ.

    Raises:
        ForgedError: it is one of other events, or at another δ, or does not show what it says.
    """
    account: dict[str, Any] = fields(given, ACCOUNT, "the account")
    if account["format"] != FORMAT or type(account["version"]) is not int or account["version"] != VERSION:
        raise CertificateError(f"the account is a certificate of the format {FORMAT!r}, version {VERSION}")
    if account["kind"] != "account" or account["parameter"] != "epsilon":
        raise CertificateError("the account of releases is one of ε at a δ")
    listed = items(account["events"], "the account: events", 100_000)
    if len(listed) != len(needed):
        raise ForgedError("the account is one of other events than the releases")
    for number, (event, (name, loss, count, rate)) in enumerate(zip(listed, needed, strict=True)):
        where = f"the account: event {number}"
        names = {"mechanism", "count"} | ({"sampling"} if rate is not None else set())
        event = fields(event, names, where)
        mechanism = fields(event["mechanism"], {"name", _NUMBER[name]}, where)
        stated = rational(mechanism[_NUMBER[name]], where)
        same = mechanism["name"] == name and type(event["count"]) is int and event["count"] == count
        if rate is not None:
            sampling = fields(event["sampling"], {"name", "rate"}, where)
            same = same and sampling["name"] == "poisson" and rational(sampling["rate"], where) == rate
        if not same or not is_at_least(name, stated, loss):
            raise ForgedError(f"{where} loses less than the releases, or is another one")
    found = check_account(account)
    if found.at > delta or isinstance(found.high, float):
        raise ForgedError("the account is at a larger δ than there is, or bounds nothing from above")
    return found.high
