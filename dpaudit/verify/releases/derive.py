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
from dpaudit.errors import UsageError, nearest
from dpaudit.evidence.records import DOES_NOT_HOLD
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.neighbours.dataset import is_missing
from dpaudit.neighbours.domain import GivenMove, ListedValues, Range, allowed_of, by_columns
from dpaudit.privacy import Claim
from dpaudit.program.symbolic.linear import now
from dpaudit.reading.universe.assumed import located
from dpaudit.reading.universe.cells import UNREAD, Declared, declared
from dpaudit.reading.universe.drive import Reading, functions_of, read
from dpaudit.reading.universe.given import Given
from dpaudit.reading.universe.second import Compared, Limits, compared
from dpaudit.reading.universe.second_draws import PendingNoise
from dpaudit.reading.universe.second_sources import Generator
from dpaudit.sampling.runs import exception_of_call
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.certificate import as_text, notion_of, scope_of_records
from dpaudit.verify.releases.read import NoBoundError, Releases, as_releases, release_certificate
from dpaudit.verify.releases.written import WITH_DELTA, account, derivation, price

# --- What does each column hold, as it is declared and as given data have it? ----------------------------

_NUMBERS = (("int64", "float64"), "numbers of 64 bits", "float64")
_TYPES = {
    str: (("object", "str", "string", "category"), "texts", "str"),
    bool: (("bool", "object"), "truth values", "bool"),
}
"""By the kind of values: which types a column may have, what they are called, and one to convert to."""


def columns_of(domain: Any, frame: Any) -> dict[str, Declared]:
    """Return what each column holds, in the types of given data where there are any, and in their order.

    Columns of the data that the domain does not declare are there as such that a reading may not look at.
    """
    if not by_columns(domain) or not domain:
        raise UsageError(
            "a proof from records needs a domain by columns, such as domain={'age': (0, 120), 'city': ['Bern', 'Oslo']}"
        )
    declared_columns = {}
    for name in map(str, domain if frame is None else frame.columns):
        if name.startswith("="):
            raise UsageError(f"the column {name!r} begins with '=', as what a certificate computes does; rename it")
    for key, given in domain.items():
        name = str(key)
        _refuse_half_a_range(given, name)
        dtype = None if frame is None else frame[name].dtype
        declared_columns[name] = each = declared(name, given, dtype)
        wanted = {"int64": "int64", "float64": "float64", "text": "str", "truth": "bool"}.get(each.kind)
        if dtype is not None and wanted is not None and str(dtype) != wanted:
            raise UsageError(
                f"the data contradict the domain: {name!r} is of the type {dtype}, and the proof is of {wanted}; "
                f"convert it: data.astype({{{name!r}: {wanted!r}}})"
            )
    return (
        declared_columns
        if frame is None
        else {name: declared_columns.get(name) or Declared(name, UNREAD) for name in frame.columns}
    )


def _refuse_half_a_range(given: Any, name: str) -> None:
    if not isinstance(given, list | tuple) or len(given) != 2 or sum(each is None for each in given) != 1:
        return
    if any(isinstance(each, int | float) and not isinstance(each, bool) for each in given):
        raise UsageError(
            f"the domain of {name!r} has one number and a null: write [0, 1e6] for a range (a wide one where the end "
            "is not known: clip(a, b) says what counts), [[0, 1e6], null] for one in which values may be missing, or "
            '{"values": [0, null]} for the number or nothing'
        )


def whole_columns(domain: Mapping[str, Any], columns: Mapping[str, Declared]) -> tuple[str, ...]:
    """Return the columns that are declared as ranges, and hold whole numbers."""
    return tuple(
        str(name)
        for name, given in domain.items()
        if isinstance(allowed_of(given), Range) and columns[str(name)].kind == "int64"
    )


def in_order_of(data: Any, domain: Mapping[str, Any]) -> dict[str, Any]:
    """Return a domain with its columns in the order in which data have them: a function may tell (`df.columns[0]`)."""
    rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
    names = list(map(str, getattr(data, "columns", dict.fromkeys(name for row in rows for name in row))))
    return dict(sorted(domain.items(), key=lambda pair: names.index(str(pair[0])) if str(pair[0]) in names else 0))


def given_frame(data: Any, domain: Mapping[str, Any]) -> Any:
    """Return given data as a frame, which holds what a domain says of its columns, and perhaps others."""
    import pandas

    frame = data
    if isinstance(data, list) and data and all(isinstance(row, dict) for row in data):
        frame = pandas.DataFrame(data)
    if not isinstance(frame, pandas.DataFrame):
        raise UsageError(
            f"a proof from records is of pandas frames, and the data are a {type(data).__name__}; give a frame, a list "
            "of dicts, or a .csv or .parquet file with a line of names"
        )
    names = [str(name) for name in frame.columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise UsageError(f"the data have several columns {twice[0]!r}; rename all but one")
    for name in domain:
        if str(name) not in names:
            raise UsageError(
                f"the domain names the column {str(name)!r}, which the data do not have; {nearest(str(name), names)}"
            )
    frame = frame.set_axis(names, axis=1)
    for key, given in domain.items():
        name, allowed = str(key), allowed_of(given, f"the domain of {str(key)!r}")
        _refuse_type(frame[name].dtype, name, allowed)
        _refuse_values(frame[name], name, allowed)
    return frame


def _refuse_type(dtype: Any, name: str, allowed: Range | ListedValues) -> None:
    present = () if isinstance(allowed, Range) else [value for value in allowed.values if value is not None]
    kind = type(present[0]) if present else float
    right, said, instead = _TYPES.get(kind, _NUMBERS)
    if (unit := getattr(present[0] if present else None, "unit", None)) is not None:  # a time of pandas
        instead = f"datetime64[{unit}]"
        right, said = (instead,), f"times of the type {instead}"
    if str(dtype) in right:
        return
    narrow = isinstance(dtype, np.dtype) and dtype.kind in "iuf" and said == _NUMBERS[1]
    why = ", in which sums and products may wrap around or be rounded early" if narrow else ""
    raise UsageError(
        f"the data contradict the domain: {name!r} is of the type {dtype}{why}, and the proof is of {said}; "
        f"convert it: data.astype({{{name!r}: {instead!r}}})"
    )


def _refuse_values(column: Any, name: str, allowed: Range | ListedValues) -> None:
    values = list(column) if getattr(column.dtype, "kind", "") == "M" else column.to_numpy()
    outside = np.flatnonzero(~allowed.holds(values))
    if not len(outside):
        return
    place = int(outside[0])
    value = values[place]
    holds = "has a missing value" if is_missing(value) else f"holds {getattr(value, 'item', lambda: value)()!r:.60}"
    others = f", and {len(outside) - 1:,} more rows contradict it" if len(outside) > 1 else ""
    if isinstance(allowed, Range):
        said = f"[{allowed.low}, {allowed.high}]" + (" or missing" if allowed.missing else "")
    else:
        said = f"{list(allowed.values)!r:.80}"
    raise UsageError(
        f"the data contradict the domain: {name!r} {holds} in row {place} (the first is row 0), and its domain is "
        f"{said}{others}; widen the domain, or leave such rows out before"
    )


__all__ = ["Derivation", "columns_of", "derive", "given_frame", "whole_columns"]

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
        except NoBoundError as why:
            open_ends = (str(why),)
    now("comparing runs on neighbouring frames with it")
    held = frame if given else None
    checked = second_net(mechanism, parameters, which, reading, _number_by_number(reading, releases), held)
    if checked.refuted is not None:
        open_ends = (f"{DOES_NOT_HOLD} {checked.refuted}", *open_ends)
    if checked.raised == checked.runs > 0:
        errors = [exception_of_call(mechanism, each, parameters) for each in checked.pair]
        if any(errors):
            said = errors[1] or errors[0]
            raise UsageError(f"{mechanism.name} raises on all data that was tried ({checked.runs} runs): {said}")
        open_ends = open_ends or ("what was read is held against no runs, which all raise where noise is followed",)
    if not open_ends and checked.disagreement is not None:
        open_ends = (f"what was read does not agree with runs: {checked.disagreement}",)
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
        runs=0 if reading.refused else checked.runs,
        passed_over=checked.passed_over,
        pair=checked.spending if bound is None and delta and checked.spending is not None else checked.pair,
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
    except NoBoundError:
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
        given=_makers(mechanism, Generator, PendingNoise),
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
        bound_without = price(
            replace(releases, paths=paths), replace=relation.kind == "replace", group=1, notion=notion
        )
        return float("inf") if bound_without is None else float(bound_without)

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
