"""What does a public table say of each record? A join by one column, in which a record has so many rows as it matches.

A record's own rows depend on nothing but itself and the table, whatever the other records are.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpaudit.decimals import decimal_of
from dpaudit.program.tracked.columns import Column
from dpaudit.program.tracked.path import PATH, refuse
from dpaudit.program.tracked.rows import ColumnDomain, Mask, Rows

if TYPE_CHECKING:
    from dpaudit.program.tracked.frame import Frame

_MOST_KEYS = 200  # each is a condition of its own
_ON = "frame.merge(table, on='column')"


def joined(frame: Frame, columns: dict[str, Column], table: Any, how: str, on: Any) -> tuple[Rows, dict[str, Column]]:
    """Return the rows and the columns of a join.

    Args:
        frame: the data.
        columns: of the data, by name.
        table: a public frame of pandas.
        how: "inner" or "left".
        on: the column that both have.
    """
    import pandas

    if type(table) is not pandas.DataFrame:
        refuse(f"a join with something else than a public table of pandas; write {_ON}")
    table = pickle.loads(pickle.dumps(table))  # what is looked up is remembered in a table, and would look like a state
    if not isinstance(on, str) or how not in ("inner", "left"):
        refuse(f"a join in another form than {_ON}, of how='inner' or 'left': rows of the table that no record matches")
    if on not in columns or on not in table.columns or not table.columns.is_unique:
        refuse(f"a join on {on!r}, which both sides have to have, once")
    twice = [str(name) for name in table.columns if name != on and name in columns]
    if twice or not all(isinstance(name, str) for name in table.columns):
        refuse(f"a join of two columns of one name, {', '.join(twice)}; rename one of them")
    if frame.person in table.columns and frame.person != on:
        refuse(f"a table with a column {frame.person!r}, which names persons; rename it")
    key = columns[on]
    if key.missing:
        refuse(f"a join on {on!r}, which may be missing: pandas lets a missing value match one; dropna first")
    keys = [plain_cell(value) for value in table[on].tolist()]
    if None in keys or len({type(each) for each in keys}) > 1 or bool in map(type, keys):
        refuse(f"a table whose {on!r} has missing values, truth values, or several kinds of values")
    if len(set(keys)) > _MOST_KEYS:
        refuse(f"a join with more than {_MOST_KEYS} keys; keep those that are used")
    known = frame.rows.known.get(key.name)
    if known is None or key.name.startswith("=") or not {type(each) for each in keys} <= _kinds(known):
        refuse(f"a join on {on!r}, which is no column of the data of the kind that the table has")
    possible = [each for each in keys if known.values is None or each in known.values]
    if not possible:
        refuse("a join in which no key matches")
    rows = _matched(frame, key, possible, max(map(possible.count, possible)), how)
    taken = [place for place, each in enumerate(keys) if each in possible]
    made = {name: _moved(each, rows) for name, each in columns.items()}
    for name in table.columns:
        if name != on:
            values = [plain_cell(table[name].tolist()[place]) for place in taken]
            made[name] = _further(rows, name, values, may_lack=how == "left")
    return rows, made


def _matched(frame: Frame, key: Column, keys: Sequence[Any], most: int, how: str) -> Rows:
    """Return the rows of a join: those that match, and of a left one the others once."""
    rows = frame.rows
    path = PATH.get()
    if how == "inner":
        mask = key.isin([float(each) if isinstance(each, Fraction) else each for each in keys])
        assert isinstance(mask, Mask)
        rows = rows.kept(mask.parts)
    if most > 1:
        if rows.most is None:
            refuse("a person may have any number of rows; bound them first, by groupby(person).head(k)")
        path.samples += 1
        rows = replace(rows.bounded(path.samples, most * rows.most), distinct=None)
    path.samples += 1
    return replace(rows, labels=path.samples)


def _moved(column: Column, rows: Rows) -> Column:
    return Column(rows, column.name, column.low, column.high, missing=column.missing, whole=column.whole)


def _further(rows: Rows, name: str, values: Sequence[Any], *, may_lack: bool) -> Column:
    """Return a column of the table: each row has one of its values."""
    present = tuple(dict.fromkeys(value for value in values if value is not None))
    kinds = {type(value) for value in present}
    if len(kinds) != 1 or kinds == {bool}:
        refuse(f"the column {name!r} of the table, which holds no numbers and no texts alone")
    missing = may_lack or None in values
    whole = kinds == {Fraction} and not missing and all(value.denominator == 1 for value in present)
    domain = ColumnDomain(values=present, missing=missing, whole=whole)
    made = f"=joined {PATH.get().fresh()} {name} of {sorted(map(str, present))}{' or none' if missing else ''}"
    rows.known[made] = domain
    return Column.of_data(rows, made, domain)


def _kinds(domain: ColumnDomain) -> set[type]:
    return {Fraction} if domain.values is None else {type(each) for each in domain.values}


def plain_cell(value: Any) -> Any:
    """Return a cell of a public table as values of a domain are: fractions, texts, truth values, None."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if type(value) is str:
        return value
    if type(value) in (int, float) and math.isfinite(value):
        return decimal_of(value)
    return refuse(f"a table that holds a {type(value).__name__}; known are finite numbers and texts")
