"""How was a value made, in words that a checker can do again? A step for each operation on records, rows and numbers.

A reading keeps them beside what pandas computes for every kind of record. Where no word fits, a step is the table of
what the library computed: that it computes it so is then taken for granted, and named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

MOST_OF_TABLE = 20_000
"""Kinds of records of a table that is written out."""
MOST_TABLES = 200
"""Places of a number for each of which a table is written out."""
MOST_OF_LINEAR = 1_000_000
"""Coefficients of numbers that are made of others."""
OF_ROWS = ("sum", "sums", "deviations")
"""Numbers that are made of rows."""
_ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "maximum": "maximum", "minimum": "minimum",
}  # fmt: skip
_TESTS = {"lt": "less", "le": "less_equal", "eq": "equal", "ne": "not_equal"}
_TURNED = {"gt": "less", "ge": "less_equal"}
_OF_ONE = {
    "neg": "negative", "abs": "absolute", "floor": "floor", "ceil": "ceil", "trunc": "truncate", "sqrt": "sqrt",
    "exp": "exp", "log": "log",
}  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class MadeStep:
    """One operation."""

    name: str  # of the operation, as certificates call it
    of: tuple[MadeStep, ...] = ()  # what it is made of
    more: Mapping[str, Any] = field(default_factory=dict)  # its further fields
    kind: str = "number"  # of an expression: "number", "text" or "truth"
    size: int = 1  # of a number: how many places it has


def column(name: str, values: Any) -> MadeStep:
    """Return the step of a column of the data."""
    return MadeStep("column", more={"column": name}, kind=_kind_of(values) or "text")


def constant(value: Any) -> MadeStep | None:
    """Return the step of a constant; None of one that a certificate does not write."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return MadeStep("constant", more={"value": value}, kind="truth")
    if isinstance(value, int | float) and math.isfinite(value):
        return MadeStep("constant", more={"value": value})
    return MadeStep("constant", more={"value": value}, kind="text") if isinstance(value, str) else None


def table(space: Any, low: Any, high: Any, what: str) -> MadeStep | None:
    """Return what a library computed for every kind of record, as a table; None of one that is too large to write.

    Args:
        space: the kinds.
        low, high: an item for each of them.
        what: was computed, for people, such as "str.len of".
    """
    axes = tuple(sorted(space.axes))
    sizes = [space.universe.sizes[name] for name in axes]
    if len(axes) > 3 or math.prod(sizes) > MOST_OF_TABLE or any(map(is_match, axes)):
        return None
    kind = _kind_of(low)
    if kind is None or kind != _kind_of(high) or (kind != "number" and low is not high):
        return None
    ends = []
    for values in (low, high):
        values = values.to_numpy() if isinstance(values, pd.Series) else np.asarray(values)
        if kind == "text":
            values = np.array([_text(each) for each in values], object)
        values_of = np.full(math.prod(sizes), "" if kind == "text" else 0, values.dtype)
        values_of[space.keys(axes)] = values
        ends.append(values_of)
    if not axes:
        return constant(ends[0][0]) if ends[0][0] == ends[1][0] else None
    return MadeStep(
        "table", more={"axes": axes, "low": ends[0], "high": ends[1], "what": f"{what} {', '.join(axes)}"}, kind=kind
    )


def is_match(name: str) -> bool:
    """Whether an axis tells several rows of one record apart; no column of the data has such a name."""
    return name.startswith("=match")


def _kind_of(values: Any) -> str | None:
    if np.ndim(values) != 1:
        return None
    kind = getattr(values.dtype, "kind", "O")
    if kind in "biuf":
        return "truth" if kind == "b" else "number"
    if kind == "M":
        return "text"
    listed = [each for each in values.tolist() if not (each is None or each != each)]
    return "text" if all(isinstance(each, str) for each in listed) else None


def _text(value: Any) -> Any:
    if value is None or value != value:
        return None
    return value if isinstance(value, str) else pd.Timestamp(value).isoformat()


def as_number(step: MadeStep | None) -> MadeStep | None:
    """Return a truth as 0 or 1, and a number as it is."""
    if step is None or step.kind == "text":
        return None
    return step if step.kind == "number" else MadeStep("number", (step,))


def operation(name: str, own: MadeStep | None, others: Sequence[Any]) -> MadeStep | None:
    """Return the step of an operation on a column and on steps or constants; None where no word fits it."""
    given = [each if isinstance(each, MadeStep) or each is None else constant(each) for each in others]
    one = as_number(own)
    if own is None:
        return None
    if len(given) == 1 and name in _ARITHMETIC and one is not None:
        other = as_number(given[0])
        return None if other is None else MadeStep(_ARITHMETIC[name], (one, other))
    if len(given) == 1 and (name in _TESTS or name in _TURNED) and given[0] is not None:
        pair = (own, given[0]) if name in _TESTS else (given[0], own)
        if own.kind != given[0].kind or (own.kind != "number" and name not in ("eq", "ne")):
            return None
        return MadeStep(_TESTS.get(name) or _TURNED[name], pair, kind="truth")
    if name in ("and", "or", "xor") and len(given) == 1 and given[0] is not None:
        return MadeStep(name, (own, given[0]), kind="truth")
    if name == "invert" and own.kind == "truth":
        return MadeStep("not", (own,), kind="truth")
    if name in ("isna", "notna") and not given:
        missing = MadeStep("is_missing", (own,), kind="truth")
        return missing if name == "isna" else MadeStep("not", (missing,), kind="truth")
    if name == "fillna" and given and given[0] is not None and given[0].kind == own.kind != "truth":
        return MadeStep("fill", (own, given[0]), kind=own.kind)
    if name == "where" and len(given) == 2 and own.kind == "truth":
        return _chosen(own, *given)
    return None if one is None else _of_one(name, one, others)


def _of_one(name: str, one: MadeStep, others: Sequence[Any]) -> MadeStep | None:
    if name in _OF_ONE and not others:
        return MadeStep(_OF_ONE[name], (one,))
    if name in ("pos", "copy") and not others:
        return one
    if name == "rint" and not others:
        return MadeStep("round", (one,), {"digits": 0})
    if name == "round" and len(others) == 1 and type(others[0]) is int and -15 <= others[0] <= 15:
        return MadeStep("round", (one,), {"digits": others[0]})
    if name == "clip" and len(others) == 2 and all(each is None or _is_finite(each) for each in others):
        return MadeStep("clip", (one,), dict(zip(("low", "high"), others, strict=True)))
    if name == "pow" and len(others) == 1 and type(others[0]) is int and 1 <= others[0] <= 100:
        return MadeStep("power", (one,), {"exponent": others[0]})
    if name == "bin" and len(others) == 2:
        edges, right = others
        rises = all(_is_finite(each) for each in edges) and all(np.diff(np.asarray(edges, float)) > 0)
        return MadeStep("bin", (one,), {"edges": tuple(edges), "right": bool(right)}) if rises and len(edges) else None
    return None


def _chosen(test: MadeStep, yes: MadeStep | None, no: MadeStep | None) -> MadeStep | None:
    if yes is not None and no is not None and yes.kind != no.kind:
        yes, no = as_number(yes), as_number(no)
    return None if yes is None or no is None else MadeStep("where", (test, yes, no), kind=yes.kind)


def between(own: MadeStep | None, low: Any, high: Any, inclusive: str) -> MadeStep | None:
    """Return ``low <= x <= high``, with those ends that are included."""
    first = operation("ge" if inclusive in ("both", "left") else "gt", own, (low,))
    last = operation("le" if inclusive in ("both", "right") else "lt", own, (high,))
    return operation("and", first, (last,)) if first is not None and last is not None else None


def is_in(own: MadeStep | None, values: Sequence[Any]) -> MadeStep | None:
    """Return whether it is one of some constants."""
    listed = [constant(each) for each in values]
    if own is None or any(each is None or each.kind != own.kind for each in listed):
        return None
    return MadeStep("is_in", (own,), {"values": tuple(each.more["value"] for each in listed if each)}, kind="truth")


def looked_up(own: MadeStep | None, pairs: Mapping[Any, Any]) -> MadeStep | None:
    """Return what a table that the program has says of it; what is not there is missing."""
    keys, results = ([constant(each) for each in given] for given in (pairs, pairs.values()))
    kinds = {None if each is None else each.kind for each in results}
    if own is None or len(kinds) != 1 or not kinds <= {"number", "text"} or not keys:
        return None
    if any(each is None or each.kind != own.kind for each in keys):
        return None
    return MadeStep("lookup", (own,), {"table": tuple(pairs.items())}, kind=str(next(iter(kinds))))


def cast(own: MadeStep | None, kind: str, is_whole: bool) -> MadeStep | None:
    """Return a column as "float64", "int64" or "bool"; whole numbers stay what they are."""
    if kind == "bool":
        return own if own is not None and own.kind == "truth" else operation("ne", own, (0,))
    one = as_number(own)
    return one if kind == "float64" or is_whole or one is None else MadeStep("truncate", (one,))


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value)


# --- numbers of rows ---------------------------------------------------------------------------------------


def kept(rows: MadeStep | None, mask: MadeStep | None) -> MadeStep | None:
    """Return the rows for which a mask holds."""
    return None if rows is None or mask is None else MadeStep("kept", (rows, mask))


def filled(added: MadeStep | None, values: Any) -> MadeStep | None:
    """Return what a sum of pandas adds for a record, which leaves out what is missing."""
    one = as_number(added)
    if one is None or not np.isnan(np.asarray(values, float)).any():
        return one
    return MadeStep("fill", (one, MadeStep("constant", more={"value": 0})))


def total(rows: MadeStep | None, added: MadeStep | None, values: Any) -> MadeStep | None:
    """Return the sum of a column over its rows."""
    one = filled(added, values)
    return None if rows is None or one is None else MadeStep("sum", (rows, one))


def by_key(
    rows: MadeStep | None, added: MadeStep | None, keys: Sequence[MadeStep | None], listed: Sequence[Any]
) -> MadeStep | None:
    """Return sums by key, with a place for each of those that are listed; counts where nothing is added."""
    wanted = [[constant(value) for value in each] for each in listed]
    if rows is None or not wanted or any(key is None for key in keys):
        return None
    for each in wanted:
        if len(each) != len(keys) or any(
            a is None or b is None or a.kind != b.kind for a, b in zip(each, keys, strict=True)
        ):
            return None
    values = tuple(tuple(value.more["value"] for value in each if value is not None) for each in wanted)
    if len(set(values)) < len(values):
        return None
    is_count = added is None or (added.name == "constant" and added.more["value"] == 1)
    given = tuple(key for key in keys if key is not None)
    parts = (rows, *given) if is_count or added is None else (rows, *given, added)
    return MadeStep("sums", parts, {"keys": values, "counts": is_count}, size=len(values))


def of_persons(rows: MadeStep | None, low: float, high: float) -> Parts | None:
    """Return a sum over persons of a number of each of them between two ends."""
    return None if rows is None else alone(MadeStep("groups", (rows,), {"low": low, "high": high}))


# --- numbers, as sums of parts -----------------------------------------------------------------------------

Parts = tuple[tuple[MadeStep, ...], Any]
"""Steps of numbers, and what one of each place counts in each place of what is made of them: (places, *shape)."""


def alone(step: MadeStep | None, shape: tuple[int, ...] = ()) -> Parts | None:
    """Return the parts of a number that is a step of its own."""
    if step is None or step.size**2 > MOST_OF_LINEAR:
        return None
    return (step,), np.eye(step.size).reshape(step.size, *shape)


def joined(first: Parts | None, second: Parts | None) -> tuple[tuple[MadeStep, ...], Any, Any] | None:
    """Return the parts of two numbers, and what each counts in the one and in the other."""
    if first is None or second is None:
        return None
    if len(first[0]) == len(second[0]) and all(a is b for a, b in zip(first[0], second[0], strict=True)):
        return first[0], first[1], second[1]
    new = [each for each in second[0] if all(each is not known for known in first[0])]
    listed = (*first[0], *new)
    sizes = np.cumsum([0, *(each.size for each in listed)])
    at = {id(each): int(start) for each, start in zip(listed, sizes, strict=False)}
    many, tables = int(sizes[-1]), []
    for steps, counts in (first, second):
        if many * counts[0].size > MOST_OF_LINEAR:
            return None
        lined_up, start = np.zeros((many, *counts.shape[1:])), 0
        for each in steps:
            lined_up[at[id(each)] : at[id(each)] + each.size] = counts[start : start + each.size]
            start += each.size
        tables.append(lined_up)
    return listed, tables[0], tables[1]


def stacked(listed: Sequence[Parts | None]) -> Parts | None:
    """Return the parts of several numbers of one shape, along a new first axis."""
    first, places, parts_joined = listed[0], [], listed[0]
    for each in listed[1:]:
        both = joined(parts_joined, each)
        if both is None:
            return None
        parts_joined = both[0], both[1]
    if first is None or parts_joined is None or len(parts_joined[1]) * len(listed) * first[1][0].size > MOST_OF_LINEAR:
        return None
    for each in listed:
        both = joined((parts_joined[0], np.zeros_like(parts_joined[1])), each)
        assert both is not None
        places.append(both[2])
    return parts_joined[0], np.stack(places, 1)


def vector(parts: Parts | None, constant: Any = None) -> MadeStep | None:
    """Return all places of a number as one step, in their order, perhaps with what is public in each."""
    if parts is None:
        return None
    steps, counts = parts
    counts = counts.reshape(len(counts), -1)
    constants = np.zeros(counts.shape[1]) if constant is None else np.ravel(constant)
    is_itself = len(steps) == 1 and counts.shape[0] == counts.shape[1] and np.array_equal(counts, np.eye(len(counts)))
    if is_itself and not constants.any():
        return steps[0]
    return MadeStep("linear", steps, {"counts": counts, "constants": constants}, size=counts.shape[1])


def of_numbers(name: str, *of: MadeStep | None, shape: tuple[int, ...] = (), **more: Any) -> Parts | None:
    """Return what a function makes of numbers: "abs", "clip", "among", "curve", "product" or "norm"."""
    if any(each is None for each in of):
        return None
    return alone(MadeStep(name, tuple(each for each in of if each), more, size=math.prod(shape)), shape)


__all__ = [
    "MadeStep",
    "Parts",
    "alone",
    "as_number",
    "between",
    "by_key",
    "cast",
    "column",
    "constant",
    "filled",
    "is_in",
    "joined",
    "kept",
    "looked_up",
    "of_numbers",
    "of_persons",
    "operation",
    "stacked",
    "table",
    "total",
    "vector",
]
