"""What bound do the releases of a function as it is prove? Read on every kind of record, and held against real runs.

Two nets, and neither leans on the other: the reading derives what is released and how far a record moves it; real runs
of the function on neighbouring frames, whose draws are shifted by as much, have to give the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.checker.reading import MOST_DIGITS
from dpaudit.errors import UsageError
from dpaudit.neighbours import Relation
from dpaudit.neighbours.domain import Range, allowed_of
from dpaudit.program.tracked.path import RefusedReading
from dpaudit.program.tracked.reading import Releases
from dpaudit.reading.universe.cells import Declared, declared
from dpaudit.reading.universe.drive import Reading, read
from dpaudit.reading.universe.given import Given
from dpaudit.reading.universe.second import PAIRS, Compared, Generator, compared
from dpaudit.reading.universe.second_noise import GivenNoise
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.releases.accounted import account
from dpaudit.verify.releases.certificate import release_certificate
from dpaudit.verify.releases.prices import WITH_DELTA, price
from dpaudit.verify.releases.read import as_releases
from dpaudit.verify.scope import as_text

_GAUSSIAN = ("gaussian", "discrete_gaussian")
_PURE = {"laplace_threshold": "laplace", "truncated_laplace": "laplace", "propose_test_release": "select"}
"""What releases at a δ are apart from it."""
SECONDS = 60.0
"""For the reading, on a machine that does other things as well; most functions are read within a second."""


def columns_of(domain: Mapping[str, Any], frame: Any) -> dict[str, Declared]:
    """Return what each column holds, in the types of given data where there are any.

    Raises:
        UsageError: for a domain that cannot be read, and for data of other types than those of the proof.
    """
    found = {}
    for name, given in domain.items():
        dtype = None if frame is None else frame[str(name)].dtype
        found[str(name)] = each = declared(str(name), given, dtype)
        wanted = {"int64": "int64", "float64": "float64", "text": "str", "truth": "bool"}.get(each.kind)
        if dtype is not None and wanted is not None and str(dtype) != wanted:
            raise UsageError(
                f"the data contradict the domain: {str(name)!r} is of the type {dtype}, and the proof is of {wanted}; "
                f"convert it: data.astype({{{str(name)!r}: {wanted!r}}})"
            )
    return found


def whole_columns(domain: Mapping[str, Any], columns: Mapping[str, Declared]) -> tuple[str, ...]:
    """Return the columns that are declared as ranges, and hold whole numbers."""
    return tuple(
        str(name)
        for name, given in domain.items()
        if isinstance(allowed_of(given), Range) and columns[str(name)].kind == "int64"
    )


def read_as_it_is(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    relation: Relation,
    columns: Mapping[str, Declared],
    *,
    seconds: float = SECONDS,
) -> Reading:
    """Read a function that draws its own noise.

    Raises:
        UsageError: for a function of another form, and for a column that the domain does not declare.
    """
    if mechanism.shape is Shape.SAMPLER:
        raise UsageError(
            f"{mechanism.name} returns many outputs a call (size), of which a proof says nothing; prove the function "
            "of one output, f(data, **parameters)"
        )
    given = {name: make() for name, make in _makers(mechanism, np.random.default_rng, Given).items()}
    reading = read(
        mechanism.function,
        columns,
        parameters,
        person=relation.person,
        replaced=relation.kind == "replace",
        seconds=seconds,
        given=given,
    )
    if reading.unknown_column:
        raise UsageError(f"{reading.refused[0]}. A domain declares every column that the function uses")
    return reading


def priced(
    reading: Reading, *, replaced: bool, group: int, notion: str, delta: Fraction
) -> tuple[Releases, Fraction | None, dict[str, Any] | None]:
    """Return the releases, the bound, and the account that it is of, if any.

    Raises:
        RefusedReading: where there are too many of them, or a rule does not apply.
    """
    releases = as_releases(reading)
    bound = price(releases, replace=replaced, group=group, notion=notion, delta=delta).bound
    known = account(releases, replace=replaced, delta=delta) if delta else None
    if known is not None and (bound is None or known[0] < bound):
        return releases, known[0], known[1]
    return releases, bound, None


def second_net(
    mechanism: Mechanism, parameters: Mapping[str, Any], relation: Relation, reading: Reading, releases: Releases | None
) -> Compared:
    """Hold the reading against real runs; without one, look for a pair alone."""
    replaced = relation.kind == "replace"
    epsilon, squares = (np.inf, np.inf) if releases is None else _limits(releases, replaced)
    return compared(
        mechanism.function,
        reading.columns,
        reading.cuts,
        epsilon=epsilon,
        squares=squares,
        parameters=parameters,
        given=_makers(mechanism, Generator, GivenNoise),
        spends=releases is not None and any(each.law in WITH_DELTA for path in releases.paths for each in path),
        person=relation.person,
        replaced=replaced,
        pairs=PAIRS,
    )


def _limits(releases: Releases, replaced: bool) -> tuple[float, float]:
    """Return what all noise but Gaussian costs at most, without what a δ pays for, and the μ² of Gaussian noise."""
    gaussian, other = (
        [
            tuple(replace(each, law=_PURE.get(each.law, each.law), sample=None) for each in path if (each.law in _GAUSSIAN) is is_it)
            for path in releases.paths
        ]
        for is_it in (True, False)
    )
    epsilon = price(replace(releases, paths=tuple(other)), replace=replaced, group=1, notion="epsilon").bound
    rho = price(replace(releases, paths=tuple(gaussian)), replace=replaced, group=1, notion="rho").bound
    return float("inf") if epsilon is None else float(epsilon), float("inf") if rho is None else 2 * float(rho)


def _makers(mechanism: Mechanism, generator: Any, noise: Any) -> dict[str, Any]:
    """Return what makes the further arguments of a function, by name."""
    if mechanism.shape is Shape.PROGRAM:
        return {"noise": noise}
    return {"rng": generator} if "rng" in mechanism.asked else {}


def certified(
    releases: Releases,
    bound: Fraction,
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    relation: Relation,
    *,
    notion: str,
    delta: Fraction,
    known: Mapping[str, Any] | None,
) -> tuple[dict[str, Any] | None, str]:
    """Return the certificate, which its checker accepted; or None, and why it did not."""
    if max(bound.numerator, bound.denominator) >= 10**MOST_DIGITS:
        return None, f"the bound has more than {MOST_DIGITS} digits: give rounder numbers"
    certificate = release_certificate(
        releases,
        bound,
        name=mechanism.name,
        source=f"sha256:{mechanism.digest}" if mechanism.digest else "",
        relation=relation,
        parameters={name: as_text(value) for name, value in parameters.items()},
        notion=notion,
        delta=delta,
        account=known,
    )
    try:
        check_certificate(certificate)
    except CertificateError as error:
        return None, f"a bound was found, and its certificate was not accepted: {error}"
    return certificate, ""


__all__ = ["RefusedReading", "certified", "columns_of", "priced", "read_as_it_is", "second_net", "whole_columns"]
