"""Which values may a record hold, and by how much does a value move that is not read? What a user declares.

A pair of numbers ``(low, high)`` means everything from low to high; a list means its members, where None is a missing
value, and ``[(low, high), None]`` means everything from low to high, or missing. A dictionary gives them by columns;
anything else is the domain of plain values. A column without a declared domain may hold whatever its type can hold.

The statement is written ``release.py:7 moves by 1``: between neighbours the value that is assigned in line 7 of that
file differs by at most 1, and the line does nothing else. A proof goes on under it, and says so.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.errors import UsageError, nearest
from dpaudit.neighbours.dataset import DataColumn, Dataset, Sort, dataset_of, is_missing, python_value

# --- Which values may a record hold? ---------------------------------------------------------------------

FORMS = "(low, high) for everything between two numbers, or a list of the allowed values"


@dataclass(frozen=True, slots=True)
class Range:
    """Every value from low to high, both included; ``missing``: or none at all."""

    low: Any
    high: Any
    missing: bool = False

    def __contains__(self, value: Any) -> bool:
        if self.missing and is_missing(value):
            return True
        try:
            return bool(self.low <= value <= self.high)
        except TypeError:
            return False

    def holds(self, values: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say which of these values, a list or an array, are within the range."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iufM":
            inside = (values >= self.low) & (values <= self.high)
            return np.asarray(inside | (values != values) if self.missing else inside, dtype=bool)
        return np.array([value in self for value in values], dtype=bool)


@dataclass(frozen=True, slots=True)
class ListedValues:
    """These values and no others; None is a missing value."""

    values: tuple[Any, ...]

    def __contains__(self, value: Any) -> bool:
        if is_missing(value):
            return None in self.values
        plain = value.item() if isinstance(value, np.generic) and value.dtype.kind != "M" else value
        return any(isinstance(plain, bool) == isinstance(known, bool) and plain == known for known in self.values)

    def holds(self, values: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Say which of these values, a list or an array, are allowed."""
        known: dict[Any, bool] = {}
        are_allowed = []
        for value in values.tolist() if isinstance(values, np.ndarray) else values:
            try:
                if value not in known:
                    known[value] = value in self
                are_allowed.append(known[value])
            except TypeError:  # a container is no allowed value
                are_allowed.append(False)
        return np.array(are_allowed, dtype=bool)


Allowed = Range | ListedValues


def by_columns(domain: Any) -> bool:
    """Whether a domain is given by columns, rather than for plain values."""
    return isinstance(domain, Mapping) and set(domain) != {"values"}


def allowed_of(given: Any, where: str = "the domain") -> Allowed:
    """Read what is allowed in one column; raises `UsageError` with the possible forms."""
    if isinstance(given, Range | ListedValues):
        return given
    if isinstance(given, Mapping) and set(given) == {"values"}:
        return allowed_of(list(given["values"]), where)
    if isinstance(given, tuple) and len(given) == 2 and not any(isinstance(end, str | bool) for end in given):
        return _range(python_value(given[0]), python_value(given[1]), where)
    if isinstance(given, list | set | frozenset | tuple | np.ndarray | range):
        values = [None if is_missing(value) else python_value(value) for value in given]
        values = sorted(values, key=repr) if isinstance(given, set | frozenset) else values
        if not values:
            raise UsageError(f"{where} allows no value at all; give {FORMS}")
        if len(values) == 2 and values[1] is None and isinstance(values[0], list | tuple):
            within = allowed_of(tuple(values[0]), where)
            if isinstance(within, Range):
                return replace(within, missing=True)
        if any(isinstance(value, list | dict | set | np.ndarray) for value in values):
            raise UsageError(f"{where} is a list of containers; give {FORMS}")
        return ListedValues(tuple(dict.fromkeys(values)))
    raise UsageError(f"{where} cannot be {given!r:.60}; give {FORMS}")


def _range(low: Any, high: Any, where: str) -> Range:
    if any(isinstance(end, float) and not math.isfinite(end) for end in (low, high)):
        raise UsageError(f"{where} ends at {low!r} and {high!r}; give finite ends, or leave the column out")
    try:
        ordered = bool(low <= high)
    except TypeError:
        raise UsageError(f"{where} has the ends {low!r} and {high!r}, which cannot be compared; give {FORMS}") from None
    if not ordered:
        raise UsageError(f"{where} starts at {low!r} and ends below, at {high!r}; give the lower end first")
    return Range(low, high)


def column_domains(domain: Any, dataset: Dataset) -> dict[int, Allowed]:
    """Return what is allowed in each column that has a declared domain, by the number of the column."""
    if domain is None:
        return {}
    columns = dataset.columns
    names = [str(column.name) for column in columns if column.name is not None]
    if not by_columns(domain):
        if names:
            shown = ", ".join(map(repr, names[:8])) + (", …" if len(names) > 8 else "")
            raise UsageError(
                f"the domain {domain!r:.60} is one of plain values, and the data have columns ({shown}); "
                f"give it by columns: {{{names[0]!r}: (low, high)}}, or --domain '{names[0]}=[LOW, HIGH]'"
            )
        return {0: _fitting(allowed_of(domain), columns[0])}
    if not names:
        raise UsageError(
            f"the domain names columns ({', '.join(map(repr, domain))}), and the data are plain values; give {FORMS}"
        )
    domains = {}
    for name, given in domain.items():
        if str(name) not in names:
            raise UsageError(
                f"the domain names the column {str(name)!r}, which the data do not have; {nearest(str(name), names)}"
            )
        number = dataset.numbered(name)
        domains[number] = _fitting(allowed_of(given, f"the domain of {str(name)!r}"), columns[number])
    return domains


def _fitting(allowed: Allowed, column: DataColumn) -> Allowed:
    """Return the domain in the type of its column; raises `UsageError` if it does not suit it."""
    holds = (
        f"{column.title!r} holds {column.sort.value}"
        if column.name is not None
        else f"the data are {column.sort.value}"
    )
    if isinstance(allowed, Range):
        return _fitting_range(allowed, column, holds)
    kinds: dict[Sort, Any] = {Sort.WHOLE: int, Sort.REAL: int | float, Sort.TEXT: str, Sort.TRUTH: bool}
    for value in allowed.values:
        if value is None:
            continue
        fits = column.sort not in kinds or (
            isinstance(value, kinds[column.sort]) and isinstance(value, bool) == (column.sort is Sort.TRUTH)
        )
        if not fits or (column.sort is Sort.CHOICE and value not in column.choices):
            raise UsageError(f"{holds}, and its domain allows {value!r}; give values of the column's own type")
        if column.sort is Sort.WHOLE and not column.ends[0] <= value <= column.ends[1]:
            raise UsageError(f"{holds} of the type {column.dtype}, which cannot be {value!r}; leave it out")
    if column.sort is Sort.REAL:
        return ListedValues(tuple(None if value is None else float(value) for value in allowed.values))
    return allowed


def _fitting_range(allowed: Range, column: DataColumn, holds: str) -> Range:
    low, high = allowed.low, allowed.high
    if column.sort is Sort.TIME:
        try:
            return Range(np.datetime64(low), np.datetime64(high), allowed.missing)
        except (TypeError, ValueError):
            raise UsageError(f"{holds}, and its domain has the ends {low!r} and {high!r}; give dates") from None
    if not column.sort.numeric:
        raise UsageError(f"{holds}, and its domain is a range, {low!r} to {high!r}; give a list of the allowed values")
    if not all(isinstance(end, int | float) for end in (low, high)):
        raise UsageError(f"{holds}, and its domain has the ends {low!r} and {high!r}; give numbers")
    least, most = column.ends
    whole = column.sort is Sort.WHOLE
    low, high = (
        max(math.ceil(low) if whole else float(low), least),
        min(math.floor(high) if whole else float(high), most),
    )
    if low > high:
        raise UsageError(f"{holds}, and none lies from {allowed.low!r} to {allowed.high!r}; widen the domain")
    return Range(low, high, allowed.missing)


def outside(dataset: Dataset, domains: Mapping[int, Allowed]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Say which records of the data are outside their declared domain: (size,)."""
    are_outside = np.zeros(dataset.size, dtype=bool)
    for number, allowed in domains.items():
        are_outside |= ~allowed.holds(dataset.values(number))
    return are_outside


def pattern_of(domain: Any) -> Any:
    """Return a record within a domain, which shows what one looks like: a dict of columns, or a plain value."""
    if domain is None:
        raise UsageError("nothing says what a record looks like; give a domain: {'age': (0, 120)}, or (0, 1)")
    if not by_columns(domain):
        return _a_value(allowed_of(domain))
    if not domain:
        raise UsageError("the domain names no column; give one: {'age': (0, 120)}")
    return {name: _a_value(allowed_of(given, f"the domain of {str(name)!r}")) for name, given in domain.items()}


def may_miss(given: Any) -> bool:
    """Whether a column may hold missing values, by what is declared of it."""
    allowed = allowed_of(given)
    return allowed.missing if isinstance(allowed, Range) else None in allowed.values


def blank(domain: Any) -> Dataset:
    """Return a dataset without records that has the columns of a domain: a list of dicts, or of plain values."""
    return dataset_of([], pattern=pattern_of(domain))


def _a_value(allowed: Allowed) -> Any:
    """A value whose type suits all of them."""
    known = (allowed.low, allowed.high) if isinstance(allowed, Range) else allowed.values
    known = tuple(value for value in known if value is not None)
    return next((value for value in known if isinstance(value, float)), known[0] if known else None)


def _quoted(value: str) -> str:
    """Put quotes around the words of a list of words and nulls, as they are typed where a shell takes quotes away."""
    words = [word.strip() for word in value.strip("[]").split(",")]
    if value != f"[{value.strip('[]')}]" or not all(word == "null" or _WORD.fullmatch(word) for word in words):
        return value
    return f"[{', '.join(word if word == 'null' else json.dumps(word) for word in words)}]"


_WORD = re.compile(r"(?!(?:true|false|null|none|nan|inf|infinity)$)[^\W\d][\w .-]*", re.IGNORECASE)


def read_domain(texts: Iterable[str]) -> Any:
    """Read a domain as it is typed: ``NAME=JSON`` for each column, or one ``JSON`` for plain values.

    A JSON list of two numbers is a range, ``[[0, 120], null]`` one with missing values; any other list holds the
    allowed values; ``{"values": [0, 1]}`` means exactly these numbers. Words of a list need no quotes: ``[free, pro]``.
    """
    named: dict[str | None, Any] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        bare = text.lstrip().startswith(("[", "{")) or not sign
        try:
            read = json.loads(text) if bare else json.loads(_quoted(value))
        except (ValueError, RecursionError):
            raise UsageError(
                f"the domain {text!r:.60} is no NAME=JSON; write 'age=[0, 120]' for a range, "
                """'species=["Adelie", "Gentoo"]' for the allowed values"""
            ) from None
        if not isinstance(read, list | dict) or not (bare or name):
            raise UsageError(
                f"the domain {text!r:.60} names no values; write 'age=[0, 120]', or '[0, 120]' for numbers"
            )
        if bare and not by_columns(read):
            given: dict[str | None, Any] = {None: read}
        else:
            given = dict(read) if bare else {name: read}
        for key, inner in given.items():
            if key in named:
                raise UsageError(f"the domain {'' if key is None else f'of {key!r} '}is given twice; give it once")
            named[key] = _from_json(inner)
    if None in named and len(named) > 1:
        raise UsageError("one domain names no column, and another does; write NAME=JSON for each column")
    return named.get(None, named) if named else None


def declared_domain(table: Mapping[str, Any] | list[Any]) -> Any:
    """Read a domain as settings declare it: a column and what it may hold, where a text is JSON (``"[1, null]"``).

    A list is the domain of plain values. Raises `UsageError` if a column allows nothing that can be read.
    """
    if isinstance(table, list):
        plain = _from_json(table)
        allowed_of(plain)
        return plain
    if not table:
        raise UsageError("the domain names no column; give one: { age = [0, 120] }")
    domain: dict[str, Any] = {}
    for name, given in table.items():
        try:
            read = json.loads(given) if isinstance(given, str) else given
        except (ValueError, RecursionError):
            raise UsageError(
                f"the domain of {name!r} is no JSON: {given!r:.60}; write [0, 120] for a range, "
                """'["Adelie", null]' for the allowed values"""
            ) from None
        domain[name] = _from_json(read)
        allowed_of(domain[name], f"the domain of {name!r}")
    return domain


def _from_json(read: Any) -> Any:
    if _two_numbers(read):
        return tuple(read)
    # a list of two numbers reads as a range; as {"values": […]} it becomes the list itself
    return read["values"] if isinstance(read, dict) and _two_numbers(read.get("values")) else read


def _two_numbers(read: Any) -> bool:
    return isinstance(read, list) and is_two_numbers(read)


def is_two_numbers(domain: Any) -> bool:
    """Whether a domain may be a range of numbers: two of them, in a list or a tuple."""
    return isinstance(domain, list | tuple) and len(domain) == 2 and all(type(end) in (int, float) for end in domain)


# --- What does a user state of a value that is not read? -------------------------------------------------

_FORM = re.compile(r"\s*(?P<file>\S.*):(?P<line>[0-9]+)\s+moves\s+by\s+(?:at\s+most\s+)?(?P<by>\S+)\s*\Z")
_DIGITS, _LARGEST = 12, 100
_WRITTEN = "'release.py:7 moves by 1'"


@dataclass(frozen=True, slots=True)
class GivenMove:
    """How far the value that a line assigns moves between neighbours, at most, as it is stated."""

    file: str  # where the line is: the name of the file, with as many of its folders as tell it from others
    line: int  # its number
    by: Fraction  # how far the value moves

    @property
    def place(self) -> str:
        """File and line, as in every refusal."""
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def distance(self) -> str:
        """How far, as a decimal."""
        return f"{Decimal(self.by.numerator) / Decimal(self.by.denominator):f}"

    def __str__(self) -> str:
        return f"{self.place} moves by at most {self.distance}"


def parse_given(text: object) -> GivenMove:
    """Read a statement such as ``release.py:7 moves by 1``.

    Raises:
        UsageError: if it has another form, or states no distance that is finite and not negative.
    """
    if isinstance(text, GivenMove):
        return text
    match = _FORM.match(text) if isinstance(text, str) else None
    if match is None:
        raise UsageError(
            f"what is given is a file, a line and by how much the value that is assigned there moves, {_WRITTEN}; "
            f"{text!r:.80} is none of this form"
        )
    try:
        by = Decimal(match["by"])
    except InvalidOperation:
        by = Decimal("nan")
    if not by.is_finite() or by < 0:
        raise UsageError(f"a value moves by a finite number that is not negative, {_WRITTEN}, not by {match['by']:.40}")
    if len(by.normalize().as_tuple().digits) > _DIGITS or abs(by.adjusted()) > _LARGEST:
        raise UsageError(f"a distance has at most {_DIGITS} digits; {match['by']:.40} has more: round it up")
    return GivenMove(match["file"], int(match["line"]), Fraction(by))


def parse_all(given: str | GivenMove | Iterable[str | GivenMove] | None) -> tuple[GivenMove, ...]:
    """Read several statements, one for each line."""
    listed = () if given is None else (given,) if isinstance(given, str | GivenMove) else tuple(given)
    moves = tuple(map(parse_given, listed))
    places = [each.place for each in moves]
    for each in moves:
        if places.count(each.place) > 1:
            raise UsageError(f"{each.place} is given twice; say once by how much it moves")
    return moves


__all__ = ["GivenMove", "parse_all", "parse_given"]
