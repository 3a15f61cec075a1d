"""What does a function make of each value of a column? It is read on a value that nobody knows, both ways at branches.

The function must treat each row by itself: what it closes over is looked through as that of post-processing is.
"""

from __future__ import annotations

import types
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.program.tracked.columns import Column, expression
from dpaudit.program.tracked.guarded import Guarded
from dpaudit.program.tracked.joins import plain_cell
from dpaudit.program.tracked.magnitude import Magnitude, hull, of
from dpaudit.program.tracked.movement import Condition, Part
from dpaudit.program.tracked.path import PATH, refuse
from dpaudit.program.tracked.posted import refuse_private
from dpaudit.program.tracked.private import Additive, Private
from dpaudit.program.tracked.released import ReleasedNumber
from dpaudit.program.tracked.rows import EVERYTHING, ColumnDomain, Mask, consistent

_MOST_WAYS = 64  # through one function
_COMPARED: dict[Any, str] = {
    np.less: "__lt__", np.less_equal: "__le__", np.greater: "__gt__", np.greater_equal: "__ge__", np.equal: "__eq__",
    np.not_equal: "__ne__",
}  # fmt: skip
_TURNED = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}


class _Way:
    """One way through a function: what was decided, and which records go it."""

    def __init__(self, tape: list[tuple[Any, bool]]) -> None:
        self.tape, self.taken = tape, 0
        self.left: list[list[tuple[Any, bool]]] = []
        self.parts: tuple[Part, ...] = (EVERYTHING,)
        self._known: dict[Any, bool] = {}

    def decide(self, mask: Mask) -> bool:
        """Return whether a test of the value holds on this way."""
        key = frozenset(mask.parts)
        if key in self._known:
            return self._known[key]
        if self.taken >= _MOST_WAYS:
            refuse(f"a function of rows that decides more than {_MOST_WAYS} times")
        if self.taken == len(self.tape):
            self.left.append([*self.tape, (key, False)])
            self.tape = [*self.tape, (key, True)]
        asked, holds = self.tape[self.taken]
        if asked != key:
            refuse("a function of rows that does something else when it is called again")
        self.taken += 1
        self._known[key] = holds
        more = (mask if holds else ~mask).parts
        both = (here | each for here in self.parts for each in more)
        self.parts = tuple(part for part in both if consistent(part))
        return holds


_WAY: ContextVar[_Way | None] = ContextVar("way", default=None)


class Told(Guarded):
    """Whether a comparison of a value holds; asking for it is a branch of the function."""

    __slots__ = ("_mask",)
    sort = "private"
    is_private = True
    inner = Guarded.inner | {"is_private", "_mask"}

    def __init__(self, mask: Mask) -> None:
        self._mask = mask

    def __bool__(self) -> bool:
        way = _WAY.get()
        if way is None:
            refuse("a branch on a private value outside of the function that was given it")
        return way.decide(self._mask)

    def __eq__(self, other: object) -> Any:
        return refuse("a comparison of a comparison")

    __ne__ = __eq__
    __hash__ = Private.__hash__


class Cell(Additive):
    """One value of a column, whichever."""

    inner = Private.inner | {"column"}

    def __init__(self, column: Column) -> None:
        self.column = column

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Return a comparison that NumPy began, or arithmetic."""
        name = _COMPARED.get(ufunc)
        if name is None or method != "__call__" or keywords:
            return super().__array_ufunc__(ufunc, method, *inputs, **keywords)
        if isinstance(inputs[0], Cell):
            return inputs[0]._told(name, inputs[1])
        return self._told(_TURNED.get(name, name), inputs[0])

    def _plus(self, other: Any, sign: int) -> Any:
        return Cell(self.column._plus(_bare(other), sign))

    def __neg__(self) -> Any:
        return Cell(-self.column)

    def __abs__(self) -> Any:
        return Cell(abs(self.column))

    def __mul__(self, other: Any) -> Any:
        return Cell(self.column * _bare(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return Cell(self.column / _bare(other))

    def _told(self, name: str, other: Any) -> Told:
        if isinstance(other, Private | Told):
            refuse("a comparison of a value with another one of its row; compare with a constant")
        return Told(getattr(self.column, name)(other))

    def __lt__(self, other: Any) -> Any:
        return self._told("__lt__", other)

    def __le__(self, other: Any) -> Any:
        return self._told("__le__", other)

    def __gt__(self, other: Any) -> Any:
        return self._told("__gt__", other)

    def __ge__(self, other: Any) -> Any:
        return self._told("__ge__", other)

    def __eq__(self, other: Any) -> Any:
        return self._told("__eq__", other)

    def __ne__(self, other: Any) -> Any:
        return self._told("__ne__", other)

    __hash__ = Private.__hash__


def _bare(other: Any) -> Any:
    if isinstance(other, Cell):
        return other.column
    return refuse("arithmetic of a value of a row and something else") if isinstance(other, Private | Told) else other


def applied(column: Column, function: Any) -> Column:
    """Return what a function gives of each value: numbers, or texts.

    Args:
        column: without missing values.
        function: a function of Python, of one value.
    """
    if not isinstance(function, types.FunctionType):
        refuse("apply() of something else than a function of one value that is written in Python")
    if column.is_truth:
        refuse("apply() on truth values; filter by the column, or count it")
    if column.missing:
        refuse("apply() on values that may be missing; fillna(constant) or dropna first")
    if _WAY.get() is not None:
        refuse("apply() within apply()")
    refuse_private((function,), function)
    pending: list[list[tuple[Any, bool]]] = [[]]
    found: list[tuple[tuple[Part, ...], Any]] = []
    calls = 0
    while pending:
        calls += 1
        if calls > _MOST_WAYS:
            refuse(f"a function of rows with more than {_MOST_WAYS} ways through it")
        way = _Way(pending.pop())
        token = _WAY.set(way)
        try:
            result = function(Cell(column))
        except Exception as error:
            refuse(f"a function of rows that raises {type(error).__name__} for some: {error}")
        finally:
            _WAY.reset(token)
        if way.taken < len(way.tape):
            refuse("a function of rows that does something else when it is called again")
        pending += way.left
        if way.parts:
            found.append((way.parts, result))
    return _pieced(column, found)


def _pieced(column: Column, found: list[tuple[tuple[Part, ...], Any]]) -> Column:
    """Return a column with what each way through a function gives."""
    constants: list[Fraction | str] = []
    ends: list[Magnitude] = []
    for parts, result in found:
        if isinstance(result, Cell):
            if result.column.rows != column.rows:
                refuse("a function of rows that returns a value of another frame")
            ends += [end for part in parts for end in _within(result.column, column, part)]
            continue
        if isinstance(result, Told):
            refuse("a function of rows that returns a comparison; write 1 if … else 0, or compare the column itself")
        value = result.magnitude.coefficient if _is_constant(result) else result
        value = value if isinstance(value, Fraction) else plain_cell(value)
        if not isinstance(value, Fraction | str):
            refuse(f"a function of rows that returns a {type(result).__name__}; known are numbers and texts")
        constants.append(value)
    kinds = {type(value) for value in constants} | ({Fraction} if ends else set())
    if len(kinds) != 1:
        refuse("a function of rows that returns numbers for some and texts for others")
    if not ends:
        domain = ColumnDomain(values=tuple(dict.fromkeys(constants)))
    else:
        low, high = hull((*ends, *(of(value) for value in constants if isinstance(value, Fraction))))
        if low.unit or high.unit:
            refuse("a function of rows of values that were clipped to a released number")
        domain = ColumnDomain(low.coefficient, high.coefficient)
    return made(column, "applied", domain)


def _is_constant(value: Any) -> bool:
    return isinstance(value, ReleasedNumber) and value.is_constant


def _within(result: Column, column: Column, part: Part) -> tuple[Magnitude, Magnitude]:
    """Return the bounds of a result, which conditions make narrower where it is the value itself."""
    low, high = result.ends
    if result is not column or low.unit or high.unit:
        return low, high
    name = column.rows.column(column.name)
    for each in part:
        if each.column == name and each.operator in ("<", "<="):
            low, high = _cut(low, high, each)
    return low, high


def _cut(low: Magnitude, high: Magnitude, condition: Condition) -> tuple[Magnitude, Magnitude]:
    limit = of(min(max(condition.operand, low.coefficient), high.coefficient))
    return (low, limit) if condition.holds else (limit, high)


def mapped(column: Column, table: dict[Any, Any]) -> Column:
    """Return what a public dict says of each value."""
    domain = column.rows.known.get(column.name)
    if domain is None or domain.values is None or any(type(value) is bool for value in domain.values):
        return refuse("map() by a dict of a column whose numbers or texts are not listed in the domain")
    keys = {plain_cell(key): plain_cell(value) for key, value in table.items()}
    if not keys or len(keys) < len(table) or {type(key) for key in keys} != {type(value) for value in domain.values}:
        refuse("map() by a dict whose keys are missing values, or of another kind than the column")
    values = [keys.get(value) for value in domain.values]
    present = tuple(dict.fromkeys(value for value in values if value is not None))
    kinds = {type(value) for value in present}
    if len(kinds) != 1 or kinds == {bool}:
        refuse("map() by a dict that gives no numbers and no texts alone")
    missing = column.missing or None in values
    return made(column, "mapped", ColumnDomain(values=present, missing=missing))


def made(column: Column, how: str, domain: ColumnDomain) -> Column:
    """Return a column of which the values are known, and how they hang together with those of another is not.

    Of no rows pandas leaves the type as it was: numbers are floats then, whatever the function gives.
    """
    known = column.rows.known.get(column.name)
    gives_texts = domain.values is not None and isinstance(domain.values[0], str)
    if known is not None and known.values is not None and isinstance(known.values[0], str) and not gives_texts:
        refuse(
            "numbers made of texts, where pandas keeps texts if there are no rows; join a table of the numbers: "
            "frame.merge(table, on='column')"
        )
    name = expression(how, column, str(PATH.get().fresh()), str(domain))
    column.rows.known[name] = domain
    return Column.of_data(column.rows, name, domain)
