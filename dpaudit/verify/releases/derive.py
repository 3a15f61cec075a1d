"""What bound do the releases of a program prove? From a function on records to a bound with its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.reading import MOST_DIGITS
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.neighbours import Relation, parse_relation
from dpaudit.privacy import Claim
from dpaudit.program.coverage.watching import WatchedProgram
from dpaudit.program.symbolic.budget import now
from dpaudit.program.tracked.path import RefusedReading, UnknownColumnError
from dpaudit.program.tracked.reading import Releases, read_releases
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape
from dpaudit.verify.releases import as_is
from dpaudit.verify.releases.accounted import account
from dpaudit.verify.releases.agreement import PAIRS, compare
from dpaudit.verify.releases.certificate import release_certificate
from dpaudit.verify.releases.frames import column_domains
from dpaudit.verify.releases.given import given_frame
from dpaudit.verify.releases.prices import price
from dpaudit.verify.scope import NOTIONS, as_text, scope_of_records


@dataclass(frozen=True)
class Derivation:
    """What the release calculus says of a program.

    Attributes:
        scope: what the bound holds for, as a sentence.
        relation: which data are neighbours.
        releases: what was read; None where the program was refused.
        bound: of the claim's parameter; None without a finite one.
        certificate: the derivation as plain data for JSON, which `dpaudit.checker` checks; None without a bound.
        refused: why nothing was derived, with the line; None where something was.
        open_ends: what can run and was not read, or does not agree with runs; nothing is proved where there is any.
        runs: how many runs on neighbouring frames were compared with what was read; 0 where nothing was.
        passed_over: how many runs were not, because a threshold cut keys of one side alone.
        pair: neighbouring frames that lose most, of those that were tried.
        whole: columns that are declared as ranges, and were read as whole numbers, as those of given data are.
    """

    scope: str
    relation: Relation
    releases: Releases | None
    bound: Fraction | None
    certificate: dict[str, Any] | None
    refused: str | None
    open_ends: tuple[str, ...]
    runs: int
    passed_over: int
    pair: tuple[Any, Any]
    whole: tuple[str, ...] = ()


def derive(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    *,
    domain: Any,
    relation: str | Relation | None,
    claim: Claim | None,
    seed: int = 0,
    pairs: int = PAIRS,
    data: Any = None,
) -> Derivation:
    """Derive a bound from what a program releases of its records.

    Args:
        mechanism: a program, ``f(frame, noise, **parameters)``.
        parameters: numbers are exact: a float counts as the decimal that is written.
        domain: what each column holds, as for `dpaudit.audit`.
        relation: "add-remove" or "replace", also of persons or groups; by default the mechanism's own.
        claim: whose notion is bounded; pure ε where None.
        seed: of the frames that the reading is compared on.
        pairs: how many pairs of frames that is.
        data: a frame that has to hold what the domain says; the reading is compared on neighbours of it, too.

    Raises:
        UsageError: for a domain, a relation or a claim that the calculus does not know, a column that the domain does
            not declare, data that contradict it, and a function that changes its data.
    """
    which = parse_relation(relation or mechanism.relation_for(parameters) or "add-remove")
    if True:
        return _as_it_is(mechanism, parameters, domain, which, claim, data)
    columns = column_domains(domain)
    _refuse_relation(which, columns)
    frame = None if data is None else given_frame(data, domain)
    notion, delta = _notion(claim)
    now("reading what it releases")
    watched = WatchedProgram(mechanism.function, parameters, strict=True)
    releases, priced, refused, known = None, None, None, None
    try:
        releases = read_releases(
            mechanism.function,
            columns,
            parameters,
            person=which.person,
            replaced=which.kind == "replace",
            watched=watched,
        )
        now("pricing its releases")
        priced = price(releases, replace=which.kind == "replace", group=which.group, notion=notion, delta=delta)
        if delta:
            now("accounting of its releases")
            known = account(releases, replace=which.kind == "replace", delta=delta)
    except UnknownColumnError as why:
        raise UsageError(f"{why} A domain declares every column that the function uses") from None
    except RefusedReading as why:
        refused = str(why)
    now("comparing runs on neighbouring frames with it")
    compared = compare(
        mechanism.function,
        parameters,
        columns,
        which,
        releases if refused is None else None,
        notion=notion,
        watched=watched if refused is None else None,
        seed=seed,
        pairs=pairs,
        data=frame,
    )
    if compared.changed:
        raise UsageError(
            f"{mechanism.name} changes the frame that it is given, which is the caller's: write "
            "frame.assign(column=…), which makes another one" + ("" if refused is None else f" ({refused})")
        )
    open_ends = () if refused is None else (refused,)
    if refused is None:
        told = () if compared.disagreement is None else (compared.disagreement,)
        open_ends = (*told, *watched.open())
    bound = None if priced is None or open_ends else priced.bound
    if known is not None and (priced is None or priced.bound is None or known[0] < priced.bound):
        bound = None if open_ends else known[0]
    else:
        known = None
    if bound is not None and max(bound.numerator, bound.denominator) >= 10**MOST_DIGITS:
        bound, open_ends = None, (f"the bound has more than {MOST_DIGITS} digits: give rounder numbers",)
    certificate = None
    if bound is not None and releases is not None:
        certificate = release_certificate(
            releases,
            bound,
            name=mechanism.name,
            source=f"sha256:{mechanism.digest}" if mechanism.digest else "",
            relation=which,
            parameters={name: as_text(value) for name, value in parameters.items()},
            notion=notion,
            delta=delta,
            account=None if known is None else known[1],
        )
    return Derivation(
        scope=scope_of_records(which, {name: as_text(value) for name, value in parameters.items()}),
        relation=which,
        releases=releases,
        bound=bound,
        certificate=certificate,
        refused=refused,
        open_ends=open_ends,
        runs=compared.runs if refused is None else 0,
        passed_over=compared.passed_over if refused is None else 0,
        pair=compared.worst,
    )


def _as_it_is(
    mechanism: Mechanism,
    parameters: Mapping[str, Any],
    domain: Mapping[str, Any],
    which: Relation,
    claim: Claim | None,
    data: Any,
) -> Derivation:
    """Derive a bound from what a function that draws its own noise releases of its records."""
    columns = as_is.columns_of(domain, None if data is None else given_frame(data, domain))
    _refuse_relation(which, columns)
    notion, delta = _notion(claim)
    now("reading what it releases")
    reading = as_is.read_as_it_is(mechanism, parameters, which, columns)
    open_ends = tuple(map(str, reading.refused))
    releases = bound = certificate = known = None
    if not open_ends:
        now("pricing its releases")
        try:
            replaced = which.kind == "replace"
            releases, bound, known = as_is.priced(
                reading, replaced=replaced, group=which.group, notion=notion, delta=delta
            )
        except RefusedReading as why:
            open_ends = (str(why),)
    now("comparing runs on neighbouring frames with it")
    found = as_is.second_net(mechanism, parameters, which, reading, releases)
    if not open_ends and found.disagreement is not None:
        open_ends = (f"what was read does not agree with runs: {found.disagreement}",)
    if not open_ends and releases is not None and bound is not None:
        certificate, refused = as_is.certified(
            releases, bound, mechanism, parameters, which, notion=notion, delta=delta, known=known
        )
        open_ends = (refused,) if refused else ()
    texts = {name: as_text(value) for name, value in parameters.items()}
    return Derivation(
        scope=scope_of_records(which, texts),
        relation=which,
        releases=releases,
        bound=bound if certificate is not None else None,
        certificate=certificate,
        refused=open_ends[0] if reading.refused else None,
        open_ends=open_ends,
        runs=0 if reading.refused else found.runs,
        passed_over=0,
        pair=found.pair,
        whole=as_is.whole_columns(domain, columns),
    )


def _notion(claim: Claim | None) -> tuple[str, Fraction]:
    if claim is None:
        return "epsilon", Fraction(0)
    notion = NOTIONS.get(type(claim))
    if notion is None:
        raise UsageError(f"the releases of a program bound ε, (ε, δ), ρ or μ, and not {claim}; claim one of these")
    return notion, limit_of(claim.delta, toward=0.0)


def _refuse_relation(relation: Relation, columns: Mapping[str, Any]) -> None:
    if relation.kind not in ("add-remove", "replace"):
        raise UsageError(
            f"a proof from records holds under 'add-remove' (also of persons) or 'replace', not under {str(relation)!r}"
        )
    if relation.person is not None and relation.person not in columns:
        raise UsageError(f"the domain names no column {relation.person!r}, which tells persons apart; add it")


__all__ = ["Derivation", "derive"]
