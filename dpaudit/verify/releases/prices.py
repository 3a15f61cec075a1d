"""What do releases cost, on every path and for every pair of kinds of records? As the checker prices them.

Prices, sums and rules are those of `dpaudit.checker.prices`; what certified accounting adds, for a program with one
path, is an account, which its certificate holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.checker import CertificateError, ForgedError
from dpaudit.checker.accounted import Listed, events_of, is_at_least
from dpaudit.checker.prices import farthest, order_of
from dpaudit.checker.reading import Steps
from dpaudit.checker.releases import accounted, check_releases
from dpaudit.errors import UsageError
from dpaudit.verify.releases.read import RefusedError, Releases, parts_of

WITH_DELTA = ("laplace_threshold", "propose_test_release", "truncated_laplace")
"""Releases that lose a δ of their own."""
_MOST_DIGITS = 10**20
_FINEST = 10**24  # of a bound that is no short fraction


def price(
    releases: Releases, *, replace: bool, group: int, notion: str, delta: Fraction = Fraction(0)
) -> Fraction | None:
    """Return the largest bound over all paths and pairs of kinds; None without a finite one.

    Raises:
        RefusedError: for releases that no rule prices.
    """
    if group > 1 and delta:
        raise RefusedError("groups at a δ above 0; claim pure ε, ρ or μ")
    for release in dict.fromkeys(release for path in releases.paths for release in path):
        if replace and release.law == "laplace_threshold":
            why = "the threshold rule is about records that come or go, not replaced ones"
        elif not replace and release.law == "randomised_response":
            why = "a report of every record, of which the number is private; claim it under 'replace'"
        elif release.law in WITH_DELTA and release.sample is not None:
            why = "a release with a δ of its own on a sample"
        else:
            continue
        raise RefusedError(f"{release.line}: {why}")
    given = {**parts_of(releases), "notion": notion, "delta": str(delta)}
    try:
        found, _ = check_releases(given, "replace" if replace else "add-remove", group, Steps())
    except ForgedError:
        return None
    except CertificateError as error:
        raise RefusedError(str(error)) from None
    return found if found.denominator < _MOST_DIGITS else Fraction(math.ceil(found * _FINEST), _FINEST)


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
    try:
        listed, samples = accounted(parts_of(releases), "replace" if replace else "add-remove")
        moved, epsilon, spent = farthest(listed, samples, is_replaced=replace)
    except CertificateError:
        return None
    needed = events_of(moved)
    if not needed or not spent < delta or sum(map(_lost, needed)) > _MOST:
        return None
    try:
        found = certify(_events(needed), delta=delta - spent, tolerance=TOLERANCE)
    except UsageError:  # too small a δ, too little memory, or without python-flint
        return None
    return (epsilon + Fraction(found.certificate["high"]), found.certificate) if math.isfinite(found.high) else None


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


# --- What does each release of a certificate cost by itself? By the checker, for people who follow the proof. ---

MOST_PRICED = 50
"""Releases whose prices stand in evidence, from the first on: more than anybody reads."""

_GAUSSIAN = ("gaussian", "discrete_gaussian")
_SPENDING = ("laplace_threshold", "propose_test_release", "truncated_laplace")  # a δ of their own


def prices_alone(certificate: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the price of each release by itself, such as "epsilon=1/2": of whole data, once, for a group of one."""
    return tuple(_price(certificate, release) for release in certificate["releases"][:MOST_PRICED])


def _notion(certificate: Mapping[str, Any], release: Mapping[str, Any]) -> str:
    """Return what a release is priced in: there is no ε of Gaussian noise without a δ."""
    notion: str = certificate["notion"]
    return "rho" if order_of(notion) or (notion == "epsilon" and release["law"] in _GAUSSIAN) else notion


def _price(certificate: Mapping[str, Any], release: Mapping[str, Any]) -> str:
    notion, law = _notion(certificate, release), release["law"]
    alone = {
        "columns": certificate["columns"],
        "samples": [],
        "releases": [{**release, "sample": None, "times": 1}],
        "paths": [[0]],
        "notion": notion,
        "delta": certificate["delta"] if law in _SPENDING else "0",
    }
    found, _ = check_releases(alone, certificate["scope"]["relation"], 1, Steps())
    return f"{notion}={found}"
