"""What bound do the releases of a function prove? Read on every kind of record, and held against real runs.

Two nets, and neither leans on the other: the reading derives what is released and how far a record moves it; real runs
of the function on neighbouring frames, whose draws are shifted by as much, have to give the same. The independent
checker of certificates is the third.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.checker import CertificateError, check_certificate
from dpaudit.checker.reading import MOST_DIGITS
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence.records import DOES_NOT_HOLD
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.given_moves import GivenMove
from dpaudit.privacy import Claim
from dpaudit.program.symbolic.linear import now
from dpaudit.reading.universe.assumed import located
from dpaudit.reading.universe.drive import Reading, functions_of, read
from dpaudit.reading.universe.given import Given
from dpaudit.reading.universe.second import Compared, Limits, compared
from dpaudit.reading.universe.second_draws import Generator, GivenNoise
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.certificate import as_text, notion_of, scope_of_records
from dpaudit.verify.releases.columns import columns_of, given_frame, whole_columns
from dpaudit.verify.releases.prices import WITH_DELTA, account, price
from dpaudit.verify.releases.read import RefusedError, Releases, as_releases, release_certificate
from dpaudit.verify.releases.written import derivation

__all__ = ["Derivation", "derive"]


SECONDS = 10.0
"""Of the CPU, for the reading; most functions are read within a second."""
_GAUSSIAN = ("gaussian", "discrete_gaussian")
_PURE = {
    "laplace_threshold": "laplace", "truncated_laplace": "laplace", "propose_test_release": "select",
    "noisy_max": "laplace",
}  # fmt: skip
"""What runs are held against: releases without their δ, and every number of which the largest is released."""


@dataclass(frozen=True)
class Derivation:
    """What the releases of a function prove."""

    scope: str  # what the bound holds for, as a sentence
    relation: Relation  # which data are neighbours
    releases: Releases | None  # what was read; None where the function was refused
    bound: Fraction | None  # of the claim's parameter; None without a finite one
    # the derivation as plain data for JSON, which `dpaudit.checker` accepted; None without a bound
    certificate: dict[str, Any] | None
    derived: dict[str, Any] | None  # the same bound from the columns on; None where that is not written
    refused: str | None  # why nothing was derived, with the line; None where something was
    open_ends: tuple[str, ...]  # what was not read, or does not agree with runs; nothing is proved where there is any
    runs: int  # how many runs on neighbouring frames were compared with what was read; 0 where nothing was
    passed_over: int  # how many runs were not, because a threshold cut keys of one side alone
    pair: tuple[Any, Any]  # neighbouring frames that lose most, of those that were tried
    # columns that are declared as ranges, and were read as whole numbers, as those of given data are
    whole: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # all that the data have, in their order, where the domain does not declare some
    given: tuple[str, ...] = ()  # what is taken for granted of lines that are not read


def derive(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    *,
    domain: Any,
    relation: str | Relation | None,
    claim: Claim | None,
    data: Any = None,
    seconds: float = SECONDS,
    given: Sequence[GivenMove] = (),
) -> Derivation:
    """Derive a bound from what a function releases of its records.

    Args:
        mechanism: takes a data frame, and a generator or `Noise` where it asks for them.
        parameters: numbers are exact: a float counts as the decimal that is written.
        domain: what each column holds, as for `dpaudit.audit`.
        relation: "add-remove" or "replace", also of persons or groups; by default the mechanism's own.
        claim: whose notion is bounded; pure ε where None.
        data: a frame that has to hold what the domain says; its types are those that the reading is of.
        seconds: of the CPU, for the reading.
        given: how far the values move that some lines assign, where those are not read.

    Raises:
        UsageError: for a domain, a relation or a claim that the calculus does not know, a column that the domain does
            not declare, data that contradict it, and a function of another form.
    """
    which = parse_relation(relation or mechanism.relation_for(parameters) or "add-remove")
    frame = None if data is None else given_frame(data, domain)
    columns = columns_of(domain, frame)
    _refuse_relation(which, domain)
    notion, delta = _notion(claim)
    now("reading what it releases")
    reading = read_function(mechanism, parameters, which, columns, seconds=seconds, given=given)
    open_ends = tuple(map(str, reading.refused))
    releases = bound = certificate = known = derived = None
    if not open_ends:
        now("pricing its releases")
        try:
            releases, bound, known = priced(
                reading, replaced=which.kind == "replace", group=which.group, notion=notion, delta=delta
            )
        except RefusedError as why:
            open_ends = (str(why),)
    now("comparing runs on neighbouring frames with it")
    held = frame if given else None
    found = second_net(mechanism, parameters, which, reading, _number_by_number(reading, releases), held)
    if found.refuted is not None:
        open_ends = (f"{DOES_NOT_HOLD} {found.refuted}", *open_ends)
    if not open_ends and found.disagreement is not None:
        open_ends = (f"what was read does not agree with runs: {found.disagreement}",)
    texts = {name: as_text(value) for name, value in parameters.items()}
    if not open_ends and releases is not None and bound is not None:
        written = release_certificate(
            releases,
            bound,
            name=mechanism.name,
            source=f"sha256:{mechanism.digest}" if mechanism.digest else "",
            relation=which,
            parameters=texts,
            notion=notion,
            delta=delta,
            account=known,
            given=reading.granted,
        )
        certificate, refused = _accepted(written, bound)
        open_ends = (refused,) if refused else ()
        if certificate is not None:
            readings = (reading, replace(reading, paths=reading.plain))
            derived = next(filter(None, (derivation(each, certificate) for each in readings if each.paths)), None)
    return Derivation(
        scope=scope_of_records(which, texts, given=tuple(map(str, given))),
        relation=which,
        releases=releases,
        bound=bound if certificate is not None else None,
        certificate=certificate,
        derived=derived,
        refused=open_ends[0] if reading.refused else None,
        open_ends=open_ends,
        runs=0 if reading.refused else found.runs,
        passed_over=found.passed_over,
        pair=found.spending if bound is None and delta and found.spending is not None else found.pair,
        whole=whole_columns(domain, columns),
        columns=tuple(columns) if len(columns) > len(domain) else (),
        given=tuple(map(str, given)),
    )


def read_function(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    relation: Relation,
    columns: Mapping[str, Any],
    *,
    seconds: float = SECONDS,
    given: Sequence[GivenMove] = (),
) -> Reading:
    """Read what a function releases."""
    if mechanism.shape is Shape.SAMPLER:
        raise UsageError(
            f"{mechanism.name} returns many outputs a call (size), of which a proof says nothing; prove the function "
            "of one output, f(data, **parameters)"
        )
    reading = read(
        mechanism.function,
        columns,
        parameters,
        person=relation.person,
        replaced=relation.kind == "replace",
        seconds=seconds,
        given={name: make() for name, make in _makers(mechanism, np.random.default_rng, Given).items()},
        moves=given,
    )
    if reading.unknown_column:
        raise UsageError(f"{reading.refused[0]}. A domain declares every column that the function uses")
    return reading


def priced(
    reading: Reading, *, replaced: bool, group: int, notion: str, delta: Fraction
) -> tuple[Releases, Fraction | None, dict[str, Any] | None]:
    """Return the releases, the bound, and the account that it is of, if any.

    Comparisons with a threshold are written out for each path; where that is too much, each number is a release.
    """
    try:
        releases = as_releases(reading)
        bound = price(releases, replace=replaced, group=group, notion=notion, delta=delta)
    except RefusedError:
        if not has_comparisons(reading.paths):
            raise
        return priced(replace(reading, paths=reading.plain), replaced=replaced, group=group, notion=notion, delta=delta)
    known = account(releases, replace=replaced, delta=delta) if delta else None
    if known is not None and (bound is None or known[0] < bound):
        return releases, known[0], known[1]
    return releases, bound, None


def _number_by_number(reading: Reading, releases: Releases | None) -> Releases | None:
    """Return the releases that runs are held against, in which each noisy number is the same: all are released."""
    if releases is None or not has_comparisons(releases.paths):
        return releases
    return as_releases(replace(reading, paths=reading.plain))


def has_comparisons(paths: Sequence[Sequence[Any]]) -> bool:
    """Whether a release on any path is of comparisons, with a threshold or of each with the others."""
    return any(each.law in ("above_threshold", "noisy_max") for path in paths for each in path)


def second_net(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    relation: Relation,
    reading: Reading,
    releases: Releases | None,
    data: Any = None,
) -> Compared:
    """Hold the reading against real runs; without one, look for a pair alone."""
    paths = () if releases is None else releases.paths
    anything = (np.inf, np.inf)
    return compared(
        mechanism.function,
        reading.columns,
        reading.cuts,
        limits=anything if releases is None else _limits(releases, relation),
        unsampled=anything if releases is None else _limits(releases, relation, is_sampled=False),
        parameters=parameters,
        given=_makers(mechanism, Generator, GivenNoise),
        spends=any(each.law in WITH_DELTA for path in paths for each in path),
        person=relation.person,
        replaced=relation.kind == "replace",
        lines=located(reading.granted, functions_of(mechanism.function)),
        data=data,
    )


def _limits(releases: Releases, relation: Relation, *, is_sampled: bool = True) -> Limits:
    """Return what all noise but Gaussian costs at most, without what a δ pays for, and the μ² of Gaussian noise."""

    def bound(notion: str, *, gaussian: bool) -> float:
        paths = tuple(
            tuple(
                replace(each, law=_PURE[each.law], sample=None, details=())
                if each.law in _PURE
                else replace(each, sample=None)
                for each in path
                if (each.law in _GAUSSIAN) is gaussian and (is_sampled or each.sample is None)
            )
            for path in releases.paths
        )
        found = price(replace(releases, paths=paths), replace=relation.kind == "replace", group=1, notion=notion)
        return float("inf") if found is None else float(found)

    return bound("epsilon", gaussian=False), 2 * bound("rho", gaussian=True)


def _makers(mechanism: Mechanism, generator: Any, noise: Any) -> dict[str, Any]:
    """Return what makes the further arguments of a function, by name."""
    if mechanism.shape is Shape.PROGRAM:
        return {"noise": noise}
    return {"rng": generator} if "rng" in mechanism.asked else {}


def _accepted(certificate: dict[str, Any], bound: Fraction) -> tuple[dict[str, Any] | None, str]:
    """Return the certificate, which its checker accepted; or None, and why it did not."""
    if max(bound.numerator, bound.denominator) >= 10**MOST_DIGITS:
        return None, f"the bound has more than {MOST_DIGITS} digits: give rounder numbers"
    try:
        check_certificate(certificate)
    except CertificateError as error:
        return None, f"a bound was found, and its certificate was not accepted: {error}"
    return certificate, ""


def _notion(claim: Claim | None) -> tuple[str, Fraction]:
    if claim is None:
        return "epsilon", Fraction(0)
    notion = notion_of(claim)
    if notion is None:
        raise UsageError(
            f"the releases of a function bound ε, (ε, δ), ρ, μ or ε at an order, not {claim}; claim one of these"
        )
    return notion, limit_of(claim.delta, toward=0.0)


def _refuse_relation(relation: Relation, domain: Mapping[Any, Any]) -> None:
    if relation.kind not in ("add-remove", "replace"):
        raise UsageError(
            f"a proof from records holds under 'add-remove' (also of persons) or 'replace', not under {str(relation)!r}"
        )
    if relation.person is not None and relation.person not in map(str, domain):
        raise UsageError(f"the domain names no column {relation.person!r}, which tells persons apart; add it")
