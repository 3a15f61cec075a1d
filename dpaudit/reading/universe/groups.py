"""What comes of grouping the rows of a private table? Groups, sums by key, and totals of persons."""

from __future__ import annotations

import itertools
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.universe import cells, numbers, records, steps
from dpaudit.reading.universe.columns import Column, Selection, plain, same
from dpaudit.reading.universe.frames import GROUPED, OF_FRAMES, REINDEX, Frame
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.sizes import refuse_to_wrap
from dpaudit.reading.universe.state import Private, current, current_domain, refuse, refuse_form
from dpaudit.reading.universe.values import NP_FLOAT, NP_INT, Token

MEANS = (
    "sums, n = [each.reindex(VALUES, fill_value=0) + laplace(…, size=len(VALUES)) "
    "for each in (df.groupby(KEY)[NAME].sum(), df[KEY].value_counts())]; sums / n.clip(1)"
)
_OF_PERSON = ("mean", "median", "max", "min", "first", "last", "nunique")
"""What is made of the rows of each person, between the ends of the column."""
_EITHER = frozenset(("np.int64", "np.float64"))
_OBSERVED = int(pd.__version__.partition(".")[0]) >= 3  # whether groups are of the categories that are there alone
OF_KEYED: dict[str, Callable[..., Any]] = {}
"""Methods of tables by keys that loop over the keys, by name: those of `keys`."""
CUT = "noisy = counts + np.random.laplace(0, scale, len(counts)); noisy[noisy >= threshold].sort_index()"


class Groups(Private):
    """``frame.groupby(keys)[column]``; ``observed`` False: of all categories, whether or not a row has them."""

    __slots__ = ("frame", "is_sorted", "keys", "name", "observed")
    noun = "grouped private frame"

    def __init__(
        self, frame: Frame, keys: list[Column], name: Any, *, is_sorted: bool = False, observed: bool = True
    ) -> None:
        self.frame, self.keys, self.name = frame, keys, name
        self.is_sorted, self.observed = is_sorted, observed
        frame.is_grouped = True  # groups show some of the later changes of their frame, and not others

    def select(self, key: Any) -> Groups:
        """``groups[name]``."""
        self.frame.select(key)
        return Groups(self.frame, self.keys, key, is_sorted=self.is_sorted, observed=self.observed)

    def get(self, name: str) -> Any:
        """``groups.name``."""
        if name in self.frame.columns and self.name is None and not hasattr(pd.core.groupby.DataFrameGroupBy, name):
            return self.select(name)
        if name in ("mean", "std", "var", "median"):
            refuse(
                f"groupby(…).{name} divides by a private number",
                MEANS,
            )
        return refuse(f"groupby(…).{name} is no sum of what each record adds", "sums and counts by key")

    def method(self, name: str) -> Any:
        """Return a method."""
        if name in _OF_PERSON and self._is_of_persons():
            return lambda: self.m_agg(name)
        return getattr(self, f"m_{name}", None)

    def _is_of_persons(self) -> bool:
        state = current()
        return (
            self.frame.rows.selection.kind == "unbounded"
            and len(self.keys) == 1
            and self.keys[0].source == state.person
        )

    def part(self, how: Any, name: Any = None) -> Column:
        """Return what each row adds."""
        name = self.name if name is None else name
        if how in ("size", "count") and name is None:
            first = self.keys[0]
            ones = np.ones(len(first.space), "int64")
            return Column(first.rows, first.space, ones, ones, made=steps.constant(1))
        if not isinstance(name, str):
            refuse("an aggregate of all columns", 'groupby("city")["income"].sum()')
        column = self.frame.column(name)
        if how == "sum":
            return column
        if how == "count":
            return column.apply("notna", lambda values: values.notna())
        if how == "size":
            return column.with_values(column.space, np.ones(len(column.space), "int64"), made=steps.constant(1))
        return refuse(f"groupby(…).agg({how!r:.30}) is no sum of what each record adds", '"sum", "count" or "size"')

    def m_size(self) -> Any:
        """``size()``."""
        if self._is_of_persons():
            return PerPerson(self.frame, 0.0, math.inf)
        return self._of_all(Keyed(self.keys, {"size": self.part("size")}, "size", is_sorted=self.is_sorted))

    def m_count(self) -> Any:
        """``count()``."""
        return self.m_agg("count")

    def m_sum(self) -> Any:
        """``sum()``."""
        return self.m_agg("sum")

    @staticmethod
    def _ends_of_persons(how: str, column: Column) -> tuple[float, float]:
        """Return between which ends a number of a person is that is made of any number of a column's rows, or none."""
        if how in ("size", "count", "nunique"):
            return 0.0, math.inf
        low, high = (np.asarray(plain(each)) for each in (column.low, column.high))
        if low.ndim != 1 or low.dtype.kind not in "biuf" or high.dtype.kind not in "biuf":
            refuse(f"agg({how!r:.30}) of what is no column of numbers", '["x"].sum()')
        known = ~(np.isnan(low) | np.isnan(high))
        least, most = float(low[known].min(initial=0.0)), float(high[known].max(initial=0.0))
        if how == "sum":
            return (0.0 if least == 0 else -math.inf), (0.0 if most == 0 else math.inf)
        return least, most

    def _of_all(self, keyed: Keyed) -> Any:
        """Return sums by all categories, in their order, where groups are of all of them."""
        listed = None if self.observed else keyed.categories
        return keyed if listed is None else keyed.m_reindex(listed, fill_value=0)

    def m_apply(self, function: Any) -> Any:
        """``apply(FUNCTION)``, of a function that is a sum over the records of a group."""
        if not isinstance(self.name, str) or isinstance(function, str):
            refuse("groupby(…).apply in this form", 'df.groupby(KEY)["x"].apply(lambda x: x.clip(0, 100).sum())')
        return self.m_agg(function)

    def m_nunique(self) -> Any:
        """Refused."""
        return refuse(
            "groupby(…).nunique(): a person may be counted in every group", "counts after groupby(person).head(1)"
        )

    def m_agg(self, how: Any = None, **named: Any) -> Any:
        """``agg("sum")``, ``agg({"x": "sum"})``, ``agg(total=("x", "sum"))``."""
        if not named and isinstance(how, dict):
            named = {name: (name, each) for name, each in how.items()}
        elif not named and isinstance(how, list) and isinstance(self.name, str):
            named = {str(each): (self.name, each) for each in how}
        elif not named and isinstance(self.name, list):
            named = {name: (name, how) for name in self.name}
        if not all(isinstance(each, tuple) and len(each) == 2 for each in named.values()):
            refuse("agg in this form", 'agg(total=("income", "sum"))')
        if not named and not isinstance(self.name, str):
            refuse("an aggregate of all columns", 'groupby("city")["income"].sum()')
        if self._is_of_persons():
            totals = {name: self._of_person(each, column) for name, (column, each) in named.items()}
            return PersonTable(totals) if named else self._of_person(how, self.name)
        if named:
            return Keyed(self.keys, {name: self._of(each, column) for name, (column, each) in named.items()}, None)
        keyed = Keyed(self.keys, {self.name: self._of(how, self.name)}, self.name)
        return self._of_all(keyed) if isinstance(how, str) else keyed

    m_aggregate = m_agg

    def _of_person(self, how: Any, name: Any) -> PerPerson:
        if not isinstance(how, str) or not isinstance(name, str):
            refuse("this aggregate of each person", f'groupby({current().person!r})["x"].sum().clip(low, high)')
        if how not in ("size", "sum", "count", *_OF_PERSON):
            refuse(f"agg({how!r:.30}) of each person", '"sum", "count", "mean", "max" or "min", clipped')
        return PerPerson(self.frame, *self._ends_of_persons(how, self.frame.column(name)))

    def _of(self, how: Any, name: Any) -> Column:
        if isinstance(how, str):
            return self.part(how, name)
        if how is sum and isinstance(name, str) and pd.isna(plain(self.frame.column(name).low)).any():
            refuse("Python's sum of groups in which a value may be missing, which makes it missing", 'agg("sum")')
        if how is len or how is np.sum or how is sum:
            return self.part("size" if how is len else "sum", name)
        if callable(how) and isinstance(name, str):
            return summand_of(how, self.frame.column(name))
        return refuse("an aggregate that is no sum of what each record adds", '"sum", "count" or "size"')

    def m_head(self, n: int = 5) -> Frame:
        """``head(k)``: the first rows of each group."""
        return self.frame.first_of_each(self.keys, n)

    def m_first(self) -> Any:
        """Refused."""
        return refuse("groupby(…).first() shows the keys", ".head(1)")


def summand_of(function: Any, column: Column) -> Column:
    """Return what each record adds to a sum that a user's function computes of a column; refused for anything else.

    It is called for each group of the data, so that it may change and draw no more than what is called for each record.
    """
    with records.one_record():
        number = current_domain().call_of_record(function, column)
    if not isinstance(number, Number) or number.summand is None or number.selection is not column.rows.selection:
        refuse(
            "an aggregate by a function that is no sum over the records of the group", 'agg("sum") of a computed column'
        )
    made: Column = number.summand
    return made


def leaves_holes(fill: Any) -> bool:
    """Whether cells without a record hold something else than the whole number 0."""
    return type(fill) is not int or fill != 0


class Keyed(Private):
    """Sums by keys that the data hold: which keys there are is private until they are named.

    ``is_of_all``: all categories are there, in an order that is private.
    """

    __slots__ = ("has_holes", "is_filled", "is_of_all", "is_sorted", "is_table", "keys", "parts", "single")
    noun = "private table by keys of the data"

    def __init__(
        self,
        keys: list[Column],
        parts: dict[str, Column],
        single: Any,
        *,
        is_table: bool = False,
        has_holes: bool = False,
        is_sorted: bool = False,
        is_of_all: bool = False,
        is_filled: bool = False,
    ) -> None:
        self.keys, self.parts, self.single = keys, parts, single
        self.is_filled = is_filled  # where there were holes, whole numbers are floats
        self.is_table, self.has_holes, self.is_of_all = is_table, has_holes, is_of_all
        self.is_sorted = is_sorted  # whether its keys stand in their own order

    @property
    def categories(self) -> pd.CategoricalIndex | None:
        """All values that the only key may have, in the order of its categories; None where it is of another type."""
        known = getattr(getattr(self.keys[0].low, "dtype", None), "categories", None)
        if known is None or len(self.keys) > 1:
            return None
        key = self.keys[0].low
        return pd.CategoricalIndex(known, categories=known, ordered=key.dtype.ordered, name=key.name)

    def get(self, name: str) -> Any:
        """Refuse what shows the keys."""
        if name in self.parts and self.single is None and not hasattr(pd.DataFrame, name):
            return self.select(name)
        return refuse(f".{name} of a table whose keys are those of the data", f"{REINDEX}; or, at a δ, {CUT}")

    def select(self, key: Any) -> Any:
        """``table[name]`` of one aggregate."""
        if self.single is None and isinstance(key, str) and key in self.parts:
            return Keyed(self.keys, {key: self.parts[key]}, key, has_holes=self.has_holes, is_filled=self.is_filled)
        return refuse("a key of the data may not be there", REINDEX)

    def method(self, name: str) -> Any:
        """Return a method."""
        known = OF_KEYED.get(name)
        return getattr(self, f"m_{name}", None) if known is None else types.MethodType(known, self)

    def m_fillna(self, value: Any) -> Keyed:
        """``fillna(0)``."""
        if type(value) not in (int, float) or value != 0:
            refuse("fillna other than with 0 of a table by keys", ".fillna(0)")
        filled = self.is_filled or self.has_holes
        return Keyed(self.keys, self.parts, self.single, is_table=self.is_table, is_filled=filled)

    def m_unstack(self, *, fill_value: Any = None) -> Keyed:
        """``unstack(fill_value=0)`` of a table with two keys."""
        if len(self.keys) != 2 or self.single is None or self.is_table:
            refuse("unstack in this form", "unstack(fill_value=0) of a count by two keys")
        return Keyed(self.keys, self.parts, self.single, is_table=True, has_holes=leaves_holes(fill_value))

    def m_sort_index(self) -> Any:
        """``sort_index()``: its order is looked at in a loop, and after reindex; that of all categories is public."""
        if self.is_of_all:
            return self.m_reindex(self.categories, fill_value=0)
        return Keyed(
            self.keys, self.parts, self.single, is_table=self.is_table, has_holes=self.has_holes, is_sorted=True,
            is_filled=self.is_filled,
        )  # fmt: skip

    def m_rename(self, name: Any) -> Keyed:
        """``rename(text)``."""
        return self if isinstance(name, str) else refuse_form("rename of keys")

    def m_astype(self, kind: Any) -> Keyed:
        """``astype(float)``."""
        return (
            self
            if kind in (float, "float", "float64", np.float64)
            else refuse("this type for a private table", ".astype(float)")
        )

    def m_get(self, key: Any, default: Any = None) -> Number:
        """``get(key, 0)``."""
        if type(default) is not int or default != 0 or len(self.keys) > 1:
            refuse(".get(key) of a table whose keys are those of the data", ".get(key, 0)")
        count: Number = self.m_reindex([key], fill_value=0).at(key)
        return count.same(kinds=count.kinds | {"int"})

    def m_reindex(self, labels: Any = None, *, index: Any = None, columns: Any = None, fill_value: Any = None) -> Any:
        """``reindex(labels, fill_value=0)``."""
        wanted = index if labels is None else labels
        if isinstance(wanted, Private | Token) or isinstance(columns, Private | Token):
            refuse("keys that are not public", REINDEX)
        if wanted is None or (columns is None) == self.is_table:
            refuse("reindex of one of two keys, or of none", "reindex(index=ROWS, columns=COLUMNS, fill_value=0)")
        filled = fill_value is not None
        if filled and (type(fill_value) not in (int, float) or fill_value != 0):
            refuse("reindex with another value than 0 for a key that is not there", REINDEX)
        if self.has_holes:
            refuse(
                "cells of pairs of keys that do not occur together are missing, whatever reindex fills in",
                "fill_value=0 in unstack or pivot_table, or .fillna(0)",
            )
        self.is_filled |= type(fill_value) is float
        index_, hits, space = self._hits(wanted, columns)
        if self.single is None:
            listed = {name: self._number(part, space, hits, index_, None) for name, part in self.parts.items()}
            lined_up = numbers.stacked(listed.values())
            lined_up = lined_up.mapped(
                lambda table: np.moveaxis(table, 1, -1), labels=index_, columns=pd.Index(list(listed))
            )
        else:
            heads = None if columns is None else self._named(columns, self.keys[1:])
            lined_up = self._number(self.parts[self.single], space, hits, index_, heads)
        known = self.categories if self.is_of_all and columns is None else None
        return lined_up if filled or (known is not None and index_.isin(known).all()) else Holes(lined_up)

    def _named(self, wanted: Any, keys: list[Column]) -> pd.Index:
        """Return labels by the name that pandas gives them: their own, where they may have one, or that of the keys."""
        labels = wanted if isinstance(wanted, pd.Index) else pd.Index(wanted if type(wanted) is range else list(wanted))
        if hasattr(wanted, "name"):
            return labels if isinstance(wanted, pd.Index) else labels.rename(wanted.name)
        return labels.set_names([getattr(each.low, "name", None) for each in keys][: labels.nlevels])

    def _hits(self, wanted: Any, columns: Any) -> tuple[Any, Any, cells.Space]:
        """Return labels, which kinds are under which of them, and the space of the keys."""
        space, places = self.keys[0].space, [np.arange(len(self.keys[0].space))]
        for each in self.keys[1:]:
            space, mine, theirs = space.join(each.space)
            places = [place[mine] for place in places] + [theirs]
        if not all(each.is_exact for each in self.keys):
            refuse(
                "keys of which only bounds are known",
                "pd.cut(x, EDGES), or the values that are possible, in the domain",
            )
        labels = self._named(wanted, self.keys[:1] if self.is_table else self.keys)
        if self.is_table:
            heads = self._named(columns, self.keys[1:])
            first, second = hit(self.keys[0].low, labels), hit(self.keys[1].low, heads)
            return labels, first[places[0]][:, :, None] & second[places[1]][:, None, :], space
        if len(self.keys) == 1:
            return labels, hit(self.keys[0].low, labels)[places[0]], space
        if not isinstance(labels, pd.MultiIndex) or labels.nlevels != len(self.keys):
            refuse("labels that are no tuples, for several keys", "reindex([(a, b), …], fill_value=0)")
        hits = np.ones((len(space), len(labels)), bool)
        for level, (key, place) in enumerate(zip(self.keys, places, strict=True)):
            hits &= hit(key.low, labels.get_level_values(level))[place]
        return labels, hits, space

    def _number(self, part: Column, space: cells.Space, hits: Any, labels: Any, columns: Any) -> Number:
        if not part.is_stable:
            refuse("a sum of a column whose type hangs on the data", ".astype(float) of the column")
        joined, mine, theirs = space.join(part.space)
        low, high = plain(part.low), plain(part.high)
        if low.dtype.kind not in "ifb":
            refuse(f"sums of a column of type {part.low.dtype}", "numbers")
        refuse_to_wrap(low, high)
        is_whole = low.dtype.kind in "ib"
        shape = (-1, *[1] * (hits.ndim - 1))
        least, most = (
            np.where(np.isnan(v := end.astype(float)[theirs]), 0.0, v).reshape(shape) * hits[mine]
            for end in (low, high)
        )
        keys = list(labels) if columns is None else list(itertools.product(labels, columns))
        listed = [each if isinstance(each, tuple) else (each,) for each in keys]
        added = steps.filled(part.step(), low)
        made = steps.by_key(part.rows.made, added, [each.step() for each in self.keys], listed)
        return numbers.summed_of(
            part.rows,
            joined,
            least,
            most,
            whole=is_whole,
            labels=labels,
            columns=columns,
            kinds=None if not is_whole else _EITHER if self.is_filled else NP_INT,
            made=made,
            what="what a record adds to the sum of each group, from",
            is_sum=True,
        )


def hit(values: Any, labels: Any) -> Any:
    """Return which kinds have which label, by pandas' own matching of labels."""
    if labels.hasnans:
        refuse_form("a missing value among the labels")
    array = pd.Index(values if isinstance(values, pd.Series) else pd.Series(values))
    if (array.inferred_type == "boolean") != all(isinstance(each, bool | np.bool_) for each in labels):
        refuse("truth values among other labels, or others among them, which match in some tables", "[True, False]")
    known = array.unique().dropna()
    hits = np.zeros((len(array), len(labels)), bool)
    places = known.get_indexer(labels)
    for number, place in enumerate(places):
        if place >= 0:
            hits[:, number] = same(array, np.full(len(array), known[place], object if array.dtype == object else None))
    return hits


class Tally(Private):
    """``Counter(column)``: how often each value occurs, and 0 for one that does not."""

    __slots__ = ("counts", "kind")
    noun = "Counter of private values"

    def __init__(self, counts: Keyed) -> None:
        index = pd.Index(plain(counts.keys[0].low)).dropna()
        self.counts, self.kind = counts, {"integer": int, "boolean": bool, "string": str}.get(index.inferred_type)

    def select(self, key: Any) -> Number:
        """``counts[key]``, of a key of the type that the values have: others may equal one, as 1 equals True."""
        if type(key) is not self.kind:
            refuse(
                f"a key of another type than the values of the {self.noun} have", "whole numbers, truth values or texts"
            )
        count = self.counts.m_get(key, 0)
        return count.same(kinds=frozenset(("int",)))

    def m_get(self, key: Any, default: Any = None) -> Number:
        """``get(key, 0)``."""
        return (
            self.select(key) if type(default) is int and default == 0 else refuse(".get(key) of this", ".get(key, 0)")
        )

    def method(self, name: str) -> Any:
        """Return a method."""
        return self.m_get if name == "get" else None

    def get(self, name: str) -> Any:
        """Refuse what shows the keys."""
        refuse(f".{name} of a {self.noun} shows which values there are", "{v: counts[v] + laplace(…) for v in VALUES}")


class Holes(Private):
    """Counts in which a key that is not there is missing."""

    __slots__ = ("number",)
    noun = "private table in which keys may be missing"

    def __init__(self, number: Number) -> None:
        self.number = number

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    def m_fillna(self, value: Any) -> Number:
        """``fillna(0)``."""
        if value != 0 or isinstance(value, bool):
            refuse("fillna other than with 0 of a table by keys", ".fillna(0)")
        return self.number.same(kinds=_EITHER)


class PerPerson(Private):
    """A number for each person, of which only bounds are known."""

    __slots__ = ("frame", "high", "is_whole", "low")
    noun = "number of each person"

    def __init__(self, frame: Frame, low: float, high: float, *, is_whole: bool = False) -> None:
        self.frame, self.low, self.high, self.is_whole = frame, low, high, is_whole

    def method(self, name: str) -> Any:
        """Return a method."""
        return getattr(self, f"m_{name}", None)

    def m_clip(self, lower: Any = None, upper: Any = None) -> PerPerson:
        """``clip(low, high)``."""
        for each in (lower, upper):
            if each is not None and not (isinstance(each, int | float) and math.isfinite(each)):
                refuse("a person's number that is clipped at what is no constant", "clip(0, 10)")
        low, high = self.low, self.high
        if lower is not None and upper is not None and lower > upper:
            refuse_form("clip with the ends the wrong way round")
        low, high = (low, high) if lower is None else (max(low, lower), max(high, lower))
        low, high = (low, high) if upper is None else (min(low, upper), min(high, upper))
        return PerPerson(self.frame, low, high)

    def operated(self, name: str, other: Any, *, is_left: bool) -> PerPerson:
        """Return arithmetic with a constant, or with another number of the same persons."""
        is_number = type(other) in (int, float) and math.isfinite(other)
        if isinstance(other, PerPerson) and other.frame.rows is self.frame.rows:
            ends = [other.low, other.high]
        elif is_number and not (name == "truediv" and (not is_left or not other)):
            ends = [other]
        else:
            refuse(f"an operator on a {self.noun}", "arithmetic with constants")
        if name not in ("add", "sub", "mul") and not (name == "truediv" and is_number):
            refuse(f"this operator on a {self.noun} ({name})", "sums, differences and products, clipped")
        function = getattr(operator, name)
        pairs = [(end, each) if is_left else (each, end) for end in (self.low, self.high) for each in ends]
        results = [function(*pair) for pair in pairs]
        unbounded = any(map(math.isnan, results))  # ∞ - ∞, or 0 · ∞
        return PerPerson(self.frame, *((-math.inf, math.inf) if unbounded else (min(results), max(results))))

    def test(self) -> PerPerson:
        """Return whether something holds of each person's number."""
        return PerPerson(self.frame, 0.0, 1.0, is_whole=True)

    def m_sum(self) -> Number:
        """``sum()`` over persons."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            refuse("a person's total may be anything", ".clip(low, high) before .sum()")
        return self._total(min(self.low, 0.0), max(self.high, 0.0), self.is_whole)

    def _total(self, low: float, high: float, whole: bool) -> Number:
        rows = self.frame.rows
        state = current()
        if not hasattr(state, "totals"):
            state.totals = Selection("total")  # type: ignore[attr-defined]
        return Number(
            self.frame.universe, (), np.array([low]), np.array([high]), state.totals, rows.sample,  # type: ignore[attr-defined]
            is_whole=whole, kinds=NP_INT if whole else NP_FLOAT,
            terms=steps.of_persons(rows.made, low, high),
        )  # fmt: skip

    def m_count(self) -> Number:
        """How many persons there are."""
        return self._total(0.0, 1.0, True)


class PersonTable(Private):
    """A table with a row for each person."""

    __slots__ = ("parts",)
    noun = "table of persons"

    def __init__(self, parts: dict[str, PerPerson]) -> None:
        self.parts = parts

    def select(self, key: Any) -> PerPerson:
        """``table[name]``."""
        if not isinstance(key, str) or key not in self.parts:
            refuse(f"a choice of rows or columns of a {self.noun}", "a column of it by its name, clipped and summed")
        return self.parts[key]

    def get(self, name: str) -> Any:
        """``table.name``."""
        if hasattr(pd.DataFrame, name):
            refuse(f".{name} of a {self.noun}", "a column of it by its name, clipped and summed")
        return self.select(name)


__all__ = ["Groups", "Holes", "Keyed", "PerPerson", "PersonTable", "summand_of"]


# --- methods of frames that group rows --------------------------------------------------------------------


def groupby(
    frame: Frame, by: Any, *, as_index: bool = True, sort: bool = True, observed: Any = None, group_keys: bool = True
) -> Any:
    """``groupby(names)``."""
    observed = _OBSERVED if observed is None else observed
    if type(observed) is not bool or type(sort) is not bool:
        refuse_form("groupby with sort or observed other than True and False")
    observed = observed or not sort  # groups that are not sorted come as the data have them, the others after them
    if as_index is not True:
        refuse("groupby(as_index=False), which shows the keys", REINDEX)
    if isinstance(by, Column):
        if not by.rows.same(frame.rows):
            refuse("groupby by a column of other rows", "a column of this frame")
        return Groups(frame, [by], None, observed=observed)
    names = by if isinstance(by, list) else [by]
    if len(set(map(str, names))) < len(names):
        refuse_form("groupby by a column twice")
    keys = [frame.column(name) for name in names]
    return Groups(frame, keys, None, is_sorted=sort, observed=observed)


def pivot_table(
    frame: Frame, values: Any = None, index: Any = None, columns: Any = None, aggfunc: Any = "mean", *,
    fill_value: Any = None,
) -> Any:  # fmt: skip
    """``pivot_table(values, index, columns, aggfunc="sum")``."""
    if not all(isinstance(name, str) for name in (values, index, columns)) or aggfunc not in ("sum", "count"):
        refuse("pivot_table other than of sums or counts of one column by two", GROUPED)
    keys = [frame.column(index), frame.column(columns)]
    part = Groups(frame, keys, values).part(aggfunc)
    return Keyed(keys, {values: part}, values, is_table=True, has_holes=leaves_holes(fill_value))


OF_FRAMES |= {"groupby": groupby, "pivot_table": pivot_table}
