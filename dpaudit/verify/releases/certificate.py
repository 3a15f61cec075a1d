"""How is a derivation written down, so that others can check it? Releases, paths and columns as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpaudit.checker import FORMAT, VERSION
from dpaudit.neighbours import Relation
from dpaudit.program.tracked.movement import Ball, Bent, Condition, Movement, Part
from dpaudit.program.tracked.path import Release
from dpaudit.program.tracked.reading import Releases
from dpaudit.program.tracked.rows import ColumnDomain
from dpaudit.verify.releases.kinds import conditions_of


def release_certificate(
    releases: Releases,
    bound: Fraction,
    *,
    name: str,
    source: str,
    relation: Relation,
    parameters: Mapping[str, str],
    notion: str,
    delta: Fraction,
    account: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the derivation as plain data for JSON, which `dpaudit.checker` checks.

    Args:
        releases: what was read.
        bound: what was derived of it, of the notion and at the δ.
        name, source: of the mechanism: its name, and the digest of its code.
        relation: on records.
        parameters: exact values, as texts.
        notion: "epsilon", "rho" or "mu".
        delta: the δ at which ε is meant.
        account: the certificate of the releases' accounting, where the bound is one of it.
    """
    listed = list(dict.fromkeys(release for path in releases.paths for release in path))
    numbers = {release: number for number, release in enumerate(listed)}
    samples = list(dict.fromkeys(release.sample for release in listed if release.sample is not None))
    used = dict.fromkeys(
        each.column for release in listed for movement in release.values for each in conditions_of(movement)
    )
    columns = {column: number for number, column in enumerate(sorted(used))}
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "releases",
        "mechanism": {"name": name, "source": source},
        "scope": {
            "data": "records",
            "relation": relation.kind,
            "group": relation.group,
            "person": relation.person,
            "parameters": dict(parameters),
        },
        "notion": notion,
        "delta": str(delta),
        "bound": str(bound),
        "columns": [_column(column, releases.columns[column]) for column in columns],
        "samples": [{"rate": str(sample.rate), "times": sample.times} for sample in samples],
        "releases": [
            {
                "law": release.law,
                "scale": str(release.scale),
                "values": [_movement(each, columns) for each in release.values],
                "sample": None if release.sample is None else samples.index(release.sample),
                "times": release.times,
                "line": release.line,
                "details": {detail: str(value) for detail, value in release.details},
            }
            for release in listed
        ],
        "paths": [[numbers[release] for release in path] for path in releases.paths],
        **({} if account is None else {"account": dict(account)}),
    }


def _column(name: str, domain: ColumnDomain) -> dict[str, Any]:
    return {
        "name": name,
        "low": None if domain.values is not None or domain.low is None else str(domain.low),
        "high": None if domain.values is not None or domain.high is None else str(domain.high),
        "values": None if domain.values is None else list(map(_point, domain.values)),
        "missing": domain.missing,
    }


def _point(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return ["truth", value]
    return ["text", value] if isinstance(value, str) else ["number", str(value)]


def _movement(movement: Movement, columns: Mapping[str, int]) -> dict[str, Any]:
    if isinstance(movement, Ball):
        radius = movement.radius.coefficient
        return {"ball": _term(movement.part, -radius, radius, columns)}
    return {
        "terms": [_term(each.part, each.low.coefficient, each.high.coefficient, columns) for each in movement.terms],
        "bent": [
            {"kind": each.kind, "factor": str(each.factor), "inner": _inner(each, columns)} for each in movement.bent
        ],
    }


def _inner(bent: Bent, columns: Mapping[str, int]) -> Any:
    found = [_movement(each, columns) for each in bent.inner]
    return found if bent.kind == "among" else found[0]


def _term(part: Part, low: Fraction, high: Fraction, columns: Mapping[str, int]) -> dict[str, Any]:
    listed = sorted((_condition(each, columns) for each in part), key=repr)
    return {"if": listed, "low": str(low), "high": str(high)}


def _condition(condition: Condition, columns: Mapping[str, int]) -> list[Any]:
    operand = None if condition.operator == "missing" else _point(condition.operand)
    return [columns[condition.column], condition.operator, operand, condition.holds]


__all__ = ["Release", "release_certificate"]
