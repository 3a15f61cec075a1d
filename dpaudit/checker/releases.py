"""Do the releases of a program prove its bound? Prices of noise for every kind of record, summed along every path.

This is version 1, in which every release says how far a record of each kind moves it (``docs/certificate.md``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.checker.prices import (
    LAWS,
    MOST_RELEASES,
    RULES,
    Accounted,
    Amount,
    Noise,
    Price,
    Sample,
    Spent,
    by_account,
    by_rules,
    larger,
    read_noise,
    read_notion,
    read_sample,
)
from dpaudit.checker.reading import CertificateError, ForgedError, Steps, fields, items, whole
from dpaudit.checker.records import Column, Interval, Kind, Value, kinds_of, read_columns, read_value

MOST_PATHS = 20_000
RELATIONS = ("add-remove", "replace")
Listed = list[tuple["Release", int]]
"""The releases of a path, each with how often it is made there."""


@dataclass(frozen=True, slots=True)
class Release:
    """Noise on private numbers, or a choice by scores."""

    noise: Noise
    values: tuple[Value, ...]


def _read(given: dict[str, Any], steps: Steps) -> tuple[list[Column], list[Sample], list[Release]]:
    columns = read_columns(given["columns"])
    samples = [
        read_sample(fields(each, {"rate", "times"}, f"sample {number}"), f"sample {number}")
        for number, each in enumerate(items(given["samples"], "samples", MOST_RELEASES))
    ]
    releases = [
        _release(each, columns, len(samples), f"release {number}", steps)
        for number, each in enumerate(items(given["releases"], "releases", MOST_RELEASES))
    ]
    return columns, samples, releases


def accounted(given: dict[str, Any], relation: str) -> tuple[list[Accounted], list[Sample]]:
    """Return the releases of the only path with their prices, and the samples that they are made of."""
    steps = Steps()
    columns, samples, releases = _read(given, steps)
    (path,) = given["paths"]
    return _accounted([(releases[place], times) for place, times in Counter(path).items()], columns, relation, steps), (
        samples
    )


def _accounted(listed: Listed, columns: list[Column], relation: str, steps: Steps) -> list[Accounted]:
    kinds = kinds_of(set().union(*(value.tests() for one, _ in listed for value in one.values)), columns, steps)
    pairs = [(added, removed) for added in kinds for removed in (kinds if relation == "replace" else [None])]
    return [
        Accounted(each.noise, times, len(each.values), [_price(each, *pair) for pair in pairs])
        for each, times in listed
    ]


def check_releases(given: dict[str, Any], relation: str, group: int, steps: Steps) -> tuple[Fraction, list[str]]:
    """Return the bound that the releases show, and what was checked; raises where something fails."""
    columns, samples, releases = _read(given, steps)
    notion, delta = read_notion(given, group)
    paths = items(given["paths"], "paths", MOST_PATHS, 1)
    alone, most_kinds = len(paths) == 1, 0
    worst: list[Amount] = [Fraction(0)] * RULES
    for number, path in enumerate(paths):
        counted = Counter(
            whole(each, f"path {number}", 0, len(releases) - 1) for each in items(path, f"path {number}", MOST_RELEASES)
        )
        listed = [(releases[place], times) for place, times in counted.items()]
        tests = set().union(*(value.tests() for release, _ in listed for value in release.values))
        kinds = kinds_of(tests, columns, steps)
        most_kinds = max(most_kinds, len(kinds))
        met: set[tuple[Interval, ...]] = set()  # the price of a pair hangs on its moves alone
        for added in kinds:
            for removed in kinds if relation == "replace" else [None]:
                steps.spend(sum(len(value.terms) + 1 for release, _ in listed for value in release.values))
                moves = tuple(value.moved(added, removed) for release, _ in listed for value in release.values)
                if moves in met:
                    continue
                met.add(moves)
                found = by_rules(_spent(listed, samples, added, removed).total(samples), notion, delta, alone=alone)
                worst = [larger(one, more) for one, more in zip(worst, found, strict=True)]
    if "account" in given:
        if not delta or not alone:
            raise CertificateError("an account is one of ε at a δ above 0, of releases on one path")
        priced = _accounted(listed, columns, relation, steps)
        worst.append(by_account(given["account"], priced, samples, delta, is_replaced=relation == "replace"))
    known = [each for each in worst if each is not None]
    if not known:
        raise ForgedError(f"its releases show no finite bound of {notion}")
    bound = min(known) * (group**2 if notion == "rho" else group)
    return bound, [
        f"There are {len(releases):,} releases on {len(paths):,} paths, and at most {most_kinds:,} kinds of "
        "records on a path; every pair of them was priced.",
    ]


def _release(value: object, columns: Any, samples: int, where: str, steps: Steps) -> Release:
    given = fields(value, {"law", "scale", "values", "sample", "times", "line", "details"}, where)
    sample = None if given["sample"] is None else whole(given["sample"], f"{where}: sample", 0, samples - 1)
    noise = read_noise(given, sample, where)
    values = tuple(
        read_value(each, columns, where, steps) for each in items(given["values"], f"{where}: values", MOST_RELEASES, 1)
    )
    if any(value.ball for value in values) and (noise.law != "gaussian" or len(values) > 1):
        raise CertificateError(f"{where}: only Gaussian noise hides a vector of which the length is known")
    return Release(noise, values)


def _price(release: Release, added: Kind, removed: Kind | None) -> Price:
    moves = [value.moved(added, removed) for value in release.values]
    return LAWS[release.noise.law](release.noise, moves, removed is not None)


def _spent(listed: Listed, samples: list[Sample], added: Kind, removed: Kind | None) -> Spent:
    """Return what all releases of a path cost for one pair of kinds."""
    spent = Spent()
    for release, counted in listed:
        price = _price(release, added, removed)
        spent.add(release.noise, price, counted, samples, is_replaced=removed is not None)
    return spent
