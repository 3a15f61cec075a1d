"""How is what was read written down so that a checker computes all of it again, and what does it cost?

A certificate of version 2: columns with their cells, expressions of a record, rows, numbers, releases and paths. What
stands in it more than once is written once.

Prices, sums and rules are those of `dpaudit.checker.prices`; what certified accounting adds, for a program with one
path, is an account, which its certificate holds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.checker import DERIVED_VERSION, CertificateError, ForgedError, accounted, records
from dpaudit.checker.certificate import ROUNDED, order_of
from dpaudit.checker.derived import CheckedDerivation
from dpaudit.checker.reading import MOST_DIGITS, Steps
from dpaudit.errors import UsageError
from dpaudit.reading.universe import cells, drive, state, steps
from dpaudit.verify.releases.read import NoBoundError, Releases, outward, parts_of

# --- How is what was read written down so that a checker computes all of it again, from the columns to the bound? ---

_DIGITS = 10**30
_TYPES = {"time": "text"}
_BY = "pandas " + ".".join(pd.__version__.split(".")[:2])


class _UnwrittenError(Exception):
    """Something that a certificate has no word for."""


def derivation(reading: drive.Reading, certificate: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the certificate of version 2 beside one of version 1; None where it cannot be written, or shows more.

    Args:
        reading: of the function.
        certificate: of version 1, with the same bound.
    """
    try:
        return _derivation(reading, certificate)
    except (_UnwrittenError, CertificateError, ArithmeticError):
        return None


def _derivation(reading: drive.Reading, certificate: Mapping[str, Any]) -> dict[str, Any] | None:
    writer = _Writer(reading, certificate["scope"]["person"])
    paths = dict.fromkeys(writer.path(path) for path in reading.paths)
    head = ("format", "kind", "mechanism", "scope", "notion", "delta")
    account = {"account": certificate["account"]} if "account" in certificate else {}
    written = {
        **{name: certificate[name] for name in head},
        "version": DERIVED_VERSION,
        "bound": certificate["bound"],
        "columns": [writer.column(name) for name in writer.names],
        "expressions": writer.expressions.listed,
        "rows": writer.rows.listed,
        "numbers": writer.numbers.listed,
        "samples": writer.samples.listed,
        "releases": writer.released.listed,
        "paths": [list(path) for path in paths],
        **account,
    }
    stated = Fraction(certificate["bound"])
    bound = CheckedDerivation(written).bound(written, certificate["scope"]["group"])
    if abs(bound - stated) > stated * ROUNDED:
        return None
    if bound.denominator >= 10**MOST_DIGITS:
        bound = Fraction(math.ceil(bound * _DIGITS), _DIGITS)
    return {**written, "bound": str(bound)}


class _Listed:
    """A list in which everything stands once."""

    def __init__(self) -> None:
        self.listed: list[Any] = []
        self._places: dict[str, int] = {}

    def place(self, given: Any, key: Any = None) -> int:
        """Return where something stands; ``key`` is what tells it from others."""
        text = json.dumps(given if key is None else key)
        if text not in self._places:
            self._places[text] = len(self.listed)
            self.listed.append(given)
        return self._places[text]


class _Writer:
    def __init__(self, reading: drive.Reading, person: str | None) -> None:
        self._reading, self._person = reading, person
        computed = {axis for path in reading.paths for each in path for axis in each.axes} - set(reading.columns)
        self.names = sorted({*(name for name, each in reading.columns.items() if each.kind != cells.UNREAD), *computed})
        self.expressions, self.rows, self.numbers = _Listed(), _Listed(), _Listed()
        self.samples, self.released = _Listed(), _Listed()
        self._used: set[str] = set()
        self._axes: dict[str, cells.Axis] = {}
        self._known: dict[tuple[int, str], int] = {}
        self.rows.place({"kind": "all"})

    # --- columns ---------------------------------------------------------------------------------------------

    def _declared(self, name: str) -> cells.Declared:
        declared: cells.Declared = (
            self._reading.columns[name] if name in self._reading.columns else cells.place_of(name)
        )
        return declared

    def axis(self, name: str) -> cells.Axis:
        """Return the cells of a column."""
        if name not in self._axes:
            self._axes[name] = cells.Axis(self._declared(name), self._reading.cuts.get(name, ()))
        return self._axes[name]

    def column(self, name: str) -> dict[str, Any]:
        """Return a column as a certificate has it."""
        declared = self._declared(name)
        is_range = declared.values is None
        return {
            "name": name,
            "type": _TYPES.get(declared.kind, declared.kind),
            "low": str(_exact(declared.low)) if is_range else None,
            "high": str(_exact(declared.high)) if is_range else None,
            "values": None if declared.values is None else list(map(_point, declared.values)),
            "missing": declared.missing,
            "cells": self._cells(name) if name in self._used else None,
        }

    def _cells(self, name: str) -> list[list[Any]]:
        declared, cells_listed = self._declared(name), []
        points = sorted({declared.low, declared.high, *self._reading.cuts.get(name, ())}) if not declared.values else []
        for low, high in self.axis(name).cells:
            if low == high:
                cells_listed.append(_point(low))
            elif declared.kind == "int64":
                cells_listed.append(["range", str(_exact(low)), str(_exact(high))])
            else:
                below, above = (max(each for each in points if each < low), min(each for each in points if each > high))
                cells_listed.append(["open", str(_exact(below)), str(_exact(above))])
        return [*cells_listed, ["missing"]] if declared.missing else cells_listed

    # --- expressions of a record -----------------------------------------------------------------------------

    def expression(self, step: steps.MadeStep) -> int:
        """Return the number of an expression."""
        return self._once(step, "expression", self._expression)

    def _once(self, step: steps.MadeStep, sort: str, write: Callable[[steps.MadeStep], int]) -> int:
        key = (id(step), sort)
        if key not in self._known:
            self._known[key] = write(step)
        return self._known[key]

    def _expression(self, step: steps.MadeStep) -> int:
        name, more = step.name, step.more
        if name == "column":
            return self._column_of(more["column"])
        if name == "constant":
            return self.expressions.place({"op": "constant", "of": [], "value": _point(more["value"])})
        if name == "table":
            return self._table(step)
        of = [self.expression(each) for each in step.of]
        fields: dict[str, Any] = {}
        if name == "clip":
            fields = {end: None if more[end] is None else str(_exact(more[end])) for end in ("low", "high")}
        elif name in ("round", "power"):
            fields = dict(more)
        elif name == "bin":
            fields = {"edges": [str(_exact(each)) for each in more["edges"]], "right": more["right"]}
        elif name == "is_in":
            fields = {"values": [_point(each) for each in more["values"]]}
        elif name == "lookup":
            table = [[_point(key), _point(value)] for key, value in more["table"]]
            fields = {"table": table, "other": ["missing"]}
        return self.expressions.place({"op": name, "of": of, **fields})

    def _column_of(self, name: str) -> int:
        self._used.add(name)
        return self.expressions.place({"op": "column", "of": [], "column": self.names.index(name)})

    def _table(self, step: steps.MadeStep) -> int:
        axes, low, high = (step.more[name] for name in ("axes", "low", "high"))
        values = [_value(first, last) for first, last in zip(low.tolist(), high.tolist(), strict=True)]
        if step.kind == "truth":
            values = [["truth", bool(each)] for each in low.tolist()]
        if len(values) != math.prod(self.axis(name).size for name in axes):
            raise _UnwrittenError  # cells of another pass
        of = [self._column_of(name) for name in axes]
        return self.expressions.place({"op": "table", "of": of, "values": values, "by": _BY, "what": step.more["what"]})

    # --- rows and numbers ------------------------------------------------------------------------------------

    def of_rows(self, step: steps.MadeStep) -> int:
        """Return the number of some rows."""
        return self._once(step, "rows", self._rows)

    def _rows(self, step: steps.MadeStep) -> int:
        if step.name == "all":
            return self.rows.place({"kind": "all"})
        of = self.of_rows(step.of[0])
        if step.name == "kept":
            return self.rows.place({"kind": "kept", "of": of, "mask": self.expression(step.of[1])})
        if step.name == "sampled":
            number, rate, times = step.more["sample"]
            sample = {"rate": str(cells.simple(rate)), "times": times, "of": "records"}
            return self.rows.place(
                {"kind": "sampled", "of": of, "sample": self.samples.place(sample, (number, str(rate), times))}
            )
        return self.rows.place({"kind": step.name, "of": of, **step.more})

    def number(self, step: steps.MadeStep) -> int:
        """Return the number of a number."""
        return self._once(step, "number", self._number)

    def _number(self, step: steps.MadeStep) -> int:
        name, more = step.name, step.more
        if name == "linear":
            of = [self.number(each) for each in step.of]
            inner = of[0] if len(of) == 1 else self.numbers.place({"kind": "stack", "of": of})
            return self._linear(inner, more["counts"], more["constants"])
        if name in ("abs", "clip", "among"):
            given: dict[str, Any] = {"kind": name, "of": self.number(step.of[0])}
            if name == "clip":
                given |= {end: None if more[end] is None else str(cells.simple(more[end])) for end in ("low", "high")}
            if name == "among":
                given |= {"to": [list(each) for each in more["to"]], "middle": more["middle"]}
            return self.numbers.place(given)
        if name in ("curve", "norm"):
            given = {"kind": name, "of": self.number(step.of[0])}
            if name == "curve":
                exponent = None if more["exponent"] is None else str(more["exponent"])
                given |= {"function": more["function"], "exponent": exponent}
            return self.numbers.place(given)
        if name == "product":
            return self.numbers.place({"kind": name, "of": [self.number(each) for each in step.of]})
        rows = self.of_rows(step.of[0])
        if name == "sums":
            keys = step.of[1:] if more["counts"] else step.of[1:-1]
            return self.numbers.place(
                {
                    "kind": "sums",
                    "rows": rows,
                    "of": None if more["counts"] else self.expression(step.of[-1]),
                    "key": [self.expression(each) for each in keys],
                    "keys": [list(map(_point, each)) for each in more["keys"]],
                }
            )
        if name == "ball":
            radius = str(cells.simple(more["radius"]))
            return self.numbers.place({"kind": "ball", "rows": rows, "norm": 2, "radius": radius})
        if name == "groups":
            person = self._person
            if person is None:
                raise _UnwrittenError
            ends = {end: str(cells.simple(more[end])) for end in ("low", "high")}
            return self.numbers.place({"kind": "groups", "rows": rows, "by": self.names.index(person), **ends})
        of_what = self.expression(step.of[1]) if len(step.of) > 1 else None
        return self.numbers.place({"kind": name, "rows": rows, "of": of_what})

    def _linear(self, inner: int, counts: Any, constants: Any = None) -> int:
        to: list[dict[str, str]] = []
        for place in range(counts.shape[1]):
            used = np.flatnonzero(counts[:, place])
            to.append({f"n{each}": str(cells.simple(counts[each, place])) for each in used.tolist()})
            if constants is not None and constants[place]:
                to[-1]["1"] = str(cells.simple(constants[place]))
        return self.numbers.place({"kind": "linear", "of": inner, "to": to})

    # --- releases --------------------------------------------------------------------------------------------

    def path(self, path: Sequence[state.Released]) -> tuple[int, ...]:
        """Return the releases of a path, by number."""
        return tuple(number for each in path for number in self._releases(each))

    def _releases(self, each: state.Released) -> list[int]:
        if each.made is None:
            raise _UnwrittenError
        whole, scales = self.number(each.made), np.broadcast_to(each.scales, each.low.shape[1:]).tolist()
        groups: dict[float, list[int]] = {}
        for place, scale in enumerate(scales):
            groups.setdefault(scale, []).append(place)
        releases = []
        for scale, places in groups.items():
            number = whole
            if len(groups) > 1:
                counts = np.eye(len(scales))[:, places]
                number = self._linear(whole, counts)
            release = {
                "law": each.law,
                "scale": str(cells.simple(scale)),
                "number": number,
                "times": each.times,
                "line": each.line,
                "details": {name: str(cells.simple(value)) for name, value in each.details},
            }
            releases.append(self.released.place(release, {**release, "line": None}))
        return releases


def _exact(value: Any) -> Fraction:
    return Fraction(int(value)) if isinstance(value, int | np.integer) else Fraction(repr(float(value)))


def _point(value: Any) -> list[Any]:
    if isinstance(value, bool | np.bool_):
        return ["truth", bool(value)]
    if hasattr(value, "isoformat"):
        return ["text", str(value.isoformat())]
    return ["text", value] if isinstance(value, str) else ["number", str(_exact(value))]


def _value(low: Any, high: Any) -> list[Any]:
    """Return a value of a table."""
    if low is None or low != low:
        return ["missing"]
    if isinstance(low, str):
        return ["text", low]
    first, last = outward(low, -1), outward(high, 1)
    return ["number", str(first)] if first == last else ["between", str(first), str(last)]


# --- What do releases cost, on every path and for every pair of kinds of records? ------------------------

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
        raise NoBoundError("groups at a δ above 0; claim pure ε, ρ or μ")
    for release in dict.fromkeys(release for path in releases.paths for release in path):
        if replace and release.law == "laplace_threshold":
            why = "the threshold rule is about records that come or go, not replaced ones"
        elif not replace and release.law == "randomised_response":
            why = "a report of every record, of which the number is private; claim it under 'replace'"
        elif release.law in WITH_DELTA and release.sample is not None:
            why = "a release with a δ of its own on a sample"
        else:
            continue
        raise NoBoundError(f"{release.line}: {why}")
    given = {**parts_of(releases), "notion": notion, "delta": str(delta)}
    try:
        bound, _ = records.check_releases(given, "replace" if replace else "add-remove", group, Steps())
    except ForgedError:
        return None
    except CertificateError as error:
        raise NoBoundError(str(error)) from None
    return bound if bound.denominator < _MOST_DIGITS else Fraction(math.ceil(bound * _FINEST), _FINEST)


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
        listed, samples = records.accounted(parts_of(releases), "replace" if replace else "add-remove")
        moved, epsilon, spent = accounted.farthest(listed, samples, is_replaced=replace)
    except CertificateError:
        return None
    needed = accounted.events_of(moved)
    if not needed or not spent < delta or sum(map(_lost, needed)) > _MOST:
        return None
    try:
        account_shown = certify(_events(needed), delta=delta - spent, tolerance=TOLERANCE)
    except UsageError:  # too small a δ, too little memory, or without python-flint
        return None
    return (
        (epsilon + Fraction(account_shown.certificate["high"]), account_shown.certificate)
        if math.isfinite(account_shown.high)
        else None
    )


def _lost(event: accounted.Listed) -> float:
    """Return about the μ² of an event: of sampled Gaussian noise q²·n·(e^μ² − 1) (Bu, Dong, Long & Su 2020)."""
    name, number, count, rate = event
    square = float(number if name == "gaussian" else number**2)
    if rate is None:
        return count * square
    return math.inf if square > _MOST else float(rate) ** 2 * count * math.expm1(square)


def _events(needed: Sequence[accounted.Listed]) -> Any:
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
        assert accounted.is_at_least(name, noise, number)
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
    price_shown, _ = records.check_releases(alone, certificate["scope"]["relation"], 1, Steps())
    return f"{notion}={price_shown}"
