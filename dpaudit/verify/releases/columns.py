"""What does each column hold, as it is declared and as given data have it? A proof is of data of these types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpaudit.errors import UsageError, nearest
from dpaudit.neighbours.dataset import is_missing
from dpaudit.neighbours.domain import Range, Values, allowed_of, by_columns
from dpaudit.reading.universe.cells import UNREAD, Declared, declared

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
    found = {}
    for name in map(str, domain if frame is None else frame.columns):
        if name.startswith("="):
            raise UsageError(f"the column {name!r} begins with '=', as what a certificate computes does; rename it")
    for key, given in domain.items():
        name = str(key)
        _refuse_half_a_range(given, name)
        dtype = None if frame is None else frame[name].dtype
        found[name] = each = declared(name, given, dtype)
        wanted = {"int64": "int64", "float64": "float64", "text": "str", "truth": "bool"}.get(each.kind)
        if dtype is not None and wanted is not None and str(dtype) != wanted:
            raise UsageError(
                f"the data contradict the domain: {name!r} is of the type {dtype}, and the proof is of {wanted}; "
                f"convert it: data.astype({{{name!r}: {wanted!r}}})"
            )
    return found if frame is None else {name: found.get(name) or Declared(name, UNREAD) for name in frame.columns}


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


def _refuse_type(dtype: Any, name: str, allowed: Range | Values) -> None:
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


def _refuse_values(column: Any, name: str, allowed: Range | Values) -> None:
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


__all__ = ["columns_of", "given_frame", "whole_columns"]
