"""How is a derivation written down, so that others can check it? Releases, paths and columns as plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpaudit.checker import FORMAT, VERSION
from dpaudit.neighbours import Relation
from dpaudit.neighbours.given_moves import GivenMove
from dpaudit.verify.releases.kinds import conditions_of
from dpaudit.verify.releases.movement import Ball, ColumnDomain, Condition, Movement, Part, Releases


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
    given: Sequence[GivenMove] = (),
) -> dict[str, Any]:
    """Return the derivation as plain data for JSON, which `dpaudit.checker` checks."""
    listed = list(dict.fromkeys(release for path in releases.paths for release in path))
    numbers = {release: number for number, release in enumerate(listed)}
    samples = list(dict.fromkeys(release.sample for release in listed if release.sample is not None))
    used = dict.fromkeys(
        each.column for release in listed for movement in release.values for each in conditions_of(movement)
    )
    columns = {column: number for number, column in enumerate(sorted({*used, *releases.columns}))}
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
        **({"given": [{"line": each.place, "by": str(each.by)} for each in given]} if given else {}),
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
        return {"ball": _term(movement.part, -movement.radius, movement.radius, columns)}
    return {"terms": [_term(each.part, each.low, each.high, columns) for each in movement.terms], "bent": []}


def _term(part: Part, low: Fraction, high: Fraction, columns: Mapping[str, int]) -> dict[str, Any]:
    listed = sorted((_condition(each, columns) for each in part), key=repr)
    return {"if": listed, "low": str(low), "high": str(high)}


def _condition(condition: Condition, columns: Mapping[str, int]) -> list[Any]:
    operand = None if condition.operator == "missing" else _point(condition.operand)
    return [columns[condition.column], condition.operator, operand, condition.holds]


__all__ = ["release_certificate"]
