"""What does certified accounting say of the releases of a program with one path? An account that its certificate holds.

On a single path every release has one dominating pair, whatever was released before: the list of them composes as
independent steps do (Dong, Roth & Su 2022; Zhu, Dong & Wang 2022, Theorem 10, for adaptive composition).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpaudit.checker.accounted import Listed, Moved, events_of, is_at_least
from dpaudit.errors import UsageError
from dpaudit.verify.releases.kinds import Kind, kinds_of, moved
from dpaudit.verify.releases.movement import Release, Releases
from dpaudit.verify.releases.prices import WITH_DELTA, priced_alone

TOLERANCE = 2e-4  # in ε, so that a thousand sampled steps are checked within a second
_DIGITS = 10**12
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
        noise = Fraction(math.isqrt(int(_DIGITS**2 / number)) if name == "gaussian" else int(_DIGITS / number), _DIGITS)
        assert is_at_least(name, noise, number)
        event: Any = Gaussian(noise) if name == "gaussian" else Laplace(noise)
        parts.append((event if rate is None else event.poisson(rate), count))
    return Events(tuple(parts))
