"""What is each expression of a record, on every cell of the columns that it is made of?

An expression of one column is computed on every cell of it. Cells that no such expression tells apart are one from
there on: expressions of several columns are computed on one cell of each kind, and so is what a record adds.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpaudit.checker import ranges
from dpaudit.checker.ranges import EITHER, DomainColumn, Number, NumberRange, Value, on_numbers, plain
from dpaudit.checker.reading import CertificateError, Steps, fields, items, point, rational, shown, text, whole

MOST_EXPRESSIONS = 20_000
MOST_CELLS = 100_000  # of the columns of an expression, in all
MOST_VALUES = 10_000  # of a list in an expression
_LARGEST_WHOLE = 2**53  # up to here floats are whole numbers, and int64 does not wrap
Cells = tuple[int, ...]
"""A cell of each column of an expression, by number."""


@dataclass(slots=True)
class ColumnExpression:
    """One expression, and its values."""

    type: str  # "number", "text" or "truth"
    columns: tuple[int, ...]  # the numbers of the columns that it is made of, rising
    of: tuple[int, ...]  # the expressions that it is made of, by number
    apply: Callable[..., Value]  # what it makes of their values
    # "source" (a column, a constant, a table), "exact" (one of its values, or what floats compute exactly), "rounded"
    # (what floats round), or "jump" (what a rounding before it can change altogether)
    how: str = "exact"
    whole: bool = False  # whether its values are whole numbers
    widened: bool = False  # whether a jump rounds before it jumps
    values: dict[Cells, Value] = field(default_factory=dict)  # on each cell of its columns
    is_exact: bool = True  # whether floats compute it without rounding
    is_asked_roughly: bool = False
    # what floats may make of it on each cell, where that is asked
    roughly: dict[Cells, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Operation:
    """What an operation takes and makes: the types of its expressions, and the fields that it has besides."""

    of: tuple[str, ...]
    type: str
    apply: Callable[..., Value]
    how: str = "exact"
    whole: bool = False  # where all that it is made of is


_TWO, _TRUTHS = ("number", "number"), ("truth", "truth")
_OPERATIONS = {
    "add": _Operation(_TWO, "number", on_numbers(ranges.add, operator.add), "rounded", whole=True),
    "subtract": _Operation(_TWO, "number", on_numbers(ranges.subtract, operator.sub), "rounded", whole=True),
    "multiply": _Operation(_TWO, "number", on_numbers(ranges.multiply, operator.mul), "rounded", whole=True),
    "divide": _Operation(_TWO, "number", on_numbers(ranges.divide), "rounded"),
    "floor_divide": _Operation(_TWO, "number", on_numbers(ranges.floor_divide), "jump", whole=True),
    "remainder": _Operation(_TWO, "number", on_numbers(ranges.remainder), "jump", whole=True),
    "minimum": _Operation(_TWO, "number", on_numbers(ranges.minimum, min), whole=True),
    "maximum": _Operation(_TWO, "number", on_numbers(ranges.maximum, max), whole=True),
    "negative": _Operation(("number",), "number", on_numbers(ranges.negative, operator.neg), whole=True),
    "absolute": _Operation(("number",), "number", on_numbers(ranges.absolute, abs), whole=True),
    "floor": _Operation(("number",), "number", on_numbers(ranges.floor), "jump", whole=True),
    "ceil": _Operation(("number",), "number", on_numbers(ranges.ceil), "jump", whole=True),
    "truncate": _Operation(("number",), "number", on_numbers(ranges.truncate), "jump", whole=True),
    "sqrt": _Operation(("number",), "number", on_numbers(ranges.square_root), "rounded"),
    "exp": _Operation(("number",), "number", on_numbers(ranges.exponentiated), "rounded"),
    "log": _Operation(("number",), "number", on_numbers(ranges.natural_logarithm), "rounded"),
    "less": _Operation(_TWO, "truth", ranges.less, "jump"),
    "less_equal": _Operation(_TWO, "truth", ranges.less_equal, "jump"),
    "equal": _Operation(("any", "same"), "truth", ranges.equal, "jump"),
    "not_equal": _Operation(
        ("any", "same"), "truth", lambda one, other: ranges.negated(ranges.equal(one, other)), "jump"
    ),
    "and": _Operation(_TRUTHS, "truth", ranges.both),
    "or": _Operation(_TRUTHS, "truth", ranges.any_of),
    "xor": _Operation(_TRUTHS, "truth", ranges.one_of),
    "not": _Operation(("truth",), "truth", ranges.negated),
    "is_missing": _Operation(("any",), "truth", ranges.is_missing),
    "fill": _Operation(("any", "same"), "same", ranges.filled, whole=True),
    "where": _Operation(("truth", "any", "same"), "same", ranges.chosen, whole=True),
    "number": _Operation(("truth",), "number", ranges.counted, whole=True),
}
_ALWAYS_WHOLE = ("floor_divide", "floor", "ceil", "truncate", "number")


class ColumnExpressions:
    """All expressions of a certificate, with their values on the cells of its columns.

    Attributes:
        columns: of the domain.
        of: the expressions.
        kinds: for each column a cell of each kind, once `settle` was called.
        tables: what is taken of a library, such as "pandas 3.0 computes .str.len()", with the number of tables.
    """

    def __init__(self, columns: Sequence[DomainColumn], given: object, steps: Steps) -> None:
        self.columns, self.steps = columns, steps
        self.of: list[ColumnExpression] = []
        self.kinds: list[tuple[int, ...]] = [() for _ in columns]
        self.tables: dict[str, int] = {}
        for number, each in enumerate(items(given, "expressions", MOST_EXPRESSIONS)):
            self.of.append(self._read(each, f"expression {number}"))

    # --- reading ---------------------------------------------------------------------------------------------

    def _read(self, value: object, where: str) -> ColumnExpression:
        if type(value) is not dict or type(value.get("op")) is not str:
            raise CertificateError(f"{where}: an expression is a JSON object with an op, not {shown(value)}")
        op = value["op"]
        operation, reader = _OPERATIONS.get(op), _READERS.get(op)
        if operation is not None:
            of = self._members(fields(value, {"op", "of"}, where)["of"], operation.of, where)
            expression = self._operation(op, operation, of, where)
        elif reader is not None:
            names, types, read = reader
            given = fields(value, {"op", "of", *names}, where)
            expression = read(self, given, self._members(given["of"], types, where), where)
        else:
            raise CertificateError(
                f"{where}: no operation {shown(op)}; known are {', '.join((*_READERS, *_OPERATIONS))}"
            )
        before = [self.of[each] for each in expression.of]
        if expression.how in ("exact", "rounded") and before:
            expression.is_exact = all(each.is_exact for each in before) and (
                expression.how == "exact" or expression.whole
            )
        return expression

    def _members(self, value: object, types: tuple[str, ...] | None, where: str) -> list[int]:
        most = MOST_VALUES if types is None else len(types)
        listed = items(value, f"{where}: of", most, 0 if types is None else most)
        places = [whole(each, f"{where}: of", 0, len(self.of) - 1) for each in listed]
        for each, wanted in zip(places, types or (), strict=False):
            own = self.of[each].type
            if wanted not in ("any", "same", own):
                raise CertificateError(f"{where}: it is of {wanted}s, and expression {each} is a {own}")
        alike = {
            self.of[each].type for each, wanted in zip(places, types or (), strict=False) if wanted in ("any", "same")
        }
        if len(alike) > 1:
            raise CertificateError(f"{where}: expressions of one type are needed, not of {' and '.join(sorted(alike))}")
        return places

    def _operation(self, op: str, operation: _Operation, of: list[int], where: str) -> ColumnExpression:
        before = [self.of[each] for each in of]
        kept = before[-1].type if operation.type == "same" else operation.type
        numbers = [each for each in before if each.type == "number"]
        is_whole = kept == "number" and (
            op in _ALWAYS_WHOLE or (operation.whole and all(each.whole for each in numbers) and bool(numbers))
        )
        widened = op in ("floor_divide", "remainder") and not all(each.whole for each in numbers)
        return self._made(kept, of, operation.apply, operation.how, is_whole, widened)

    def _made(
        self,
        kind: str,
        of: Sequence[int],
        apply: Callable[..., Value],
        how: str = "exact",
        is_whole: bool = False,
        widened: bool = False,
    ) -> ColumnExpression:
        columns = sorted({column for each in of for column in self.of[each].columns})
        return ColumnExpression(kind, tuple(columns), tuple(of), apply, how, is_whole, widened)

    def _column(self, given: dict[str, Any], _: list[int], where: str) -> ColumnExpression:
        number = whole(given["column"], f"{where}: a column", 0, len(self.columns) - 1)
        column = self.columns[number]
        if column.cells is None:
            raise CertificateError(f"{where}: the column {shown(column.name)} has no cells")
        values: dict[Cells, Value] = {(place,): cell for place, cell in enumerate(column.cells)}
        return ColumnExpression(column.type, (number,), (), _none, "source", column.whole, values=values)

    def _constant(self, given: dict[str, Any], _: list[int], where: str) -> ColumnExpression:
        kind, value = _point(given["value"], where)
        return ColumnExpression(kind, (), (), _none, "source", type(value) is int, values={(): value})

    def _power(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        before, exponent = self.of[of[0]], whole(given["exponent"], f"{where}: the exponent", 1, 100)
        return self._made(
            "number", of, on_numbers(lambda one: ranges.power(one, exponent)), "rounded", before.whole
        )  # fmt: skip

    def _round(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        before, digits = self.of[of[0]], whole(given["digits"], f"{where}: digits", -15, 15)
        is_whole = digits <= 0 or before.whole
        widened = digits != 0 and not before.whole
        return self._made(
            "number", of, on_numbers(lambda one: ranges.rounded(one, digits)), "jump", is_whole, widened=widened
        )

    def _clip(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        before = self.of[of[0]]
        low, high = _ends(given, where)
        is_whole = before.whole and not any(type(end) is Fraction for end in (low, high))
        return self._made("number", of, on_numbers(lambda one: ranges.clip(one, low, high)), "exact", is_whole)

    def _bin(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        edges = [plain(rational(each, f"{where}: an edge")) for each in items(given["edges"], where, MOST_VALUES, 1)]
        right = given["right"]
        if type(right) is not bool or any(one >= other for one, other in itertools.pairwise(edges)):
            raise CertificateError(f"{where}: edges rise, and right is true or false")
        return self._made("number", of, on_numbers(lambda one: ranges.bins(one, edges, right)), "jump", is_whole=True)

    def _is_in(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        before = self.of[of[0]]
        listed = [_point(each, where) for each in items(given["values"], f"{where}: values", MOST_VALUES)]
        if any(kind != before.type for kind, _ in listed):
            raise CertificateError(f"{where}: its values are of the type of what is looked for")
        values = frozenset(value for _, value in listed)
        return self._made("truth", of, lambda one: ranges.among(one, values), "jump")

    def _table(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        before = [self.of[each] for each in of]
        if not 1 <= len(of) <= 3 or any(each.how != "source" or len(each.columns) != 1 or each.of for each in before):
            raise CertificateError(f"{where}: a table is one of 1 to 3 columns")
        columns = [each.columns[0] for each in before]
        if columns != sorted(set(columns)):
            raise CertificateError(f"{where}: the columns of a table rise")
        cells = [range(len(self.columns[each].cells or ())) for each in columns]
        many = math.prod(map(len, cells))
        self.steps.spend(many)
        listed = items(given["values"], f"{where}: values", MOST_CELLS)
        if len(listed) != many:
            raise CertificateError(f"{where}: {len(listed):,} values for {many:,} cells")
        read = [_result(each, where) for each in listed]
        kind = _type_of(read, where)
        told = f"{text(given['by'], f'{where}: by')} computes {text(given['what'], f'{where}: what')}"
        self.tables[told] = self.tables.get(told, 0) + 1
        values = {key: value for key, (_, value) in zip(itertools.product(*cells), read, strict=True)}
        is_whole = kind == "number" and all(value is None or type(value) is int for value in values.values())
        return ColumnExpression(kind, tuple(columns), tuple(of), _none, "source", is_whole, values=values)

    def _lookup(self, given: dict[str, Any], of: list[int], where: str) -> ColumnExpression:
        types = [self.of[each].type for each in of]
        if not 1 <= len(of) <= 3:
            raise CertificateError(f"{where}: a table is looked up by 1 to 3 values")
        table: dict[tuple[Value, ...], Value] = {}
        results = [_result(given["other"], where)]
        for row in items(given["table"], f"{where}: table", MOST_CELLS):
            *keys, result = items(row, f"{where}: a row of the table", len(of) + 1, len(of) + 1)
            read = [_point(key, where) for key in keys]
            results.append(_result(result, where))
            key = tuple(value for _, value in read)
            if [kind for kind, _ in read] != types or key in table:
                raise CertificateError(f"{where}: a key of the table is of another type, or there twice")
            table[key] = results[-1][1]
        kind, other = _type_of(results, where), results[0][1]
        is_whole = kind == "number" and all(value is None or type(value) is int for _, value in results)

        def look(*values: Value) -> Value:
            if not any(type(each) is NumberRange or each is EITHER for each in values):
                return table.get(values, other)
            self.steps.spend(len(table))
            possible = [result for key, result in table.items() if all(map(may_be, values, key))]
            result = other
            for each in possible:
                result = ranges.hull(result, each)
            return result

        return self._made(kind, of, look, "jump", is_whole)

    # --- computing -------------------------------------------------------------------------------------------

    def settle(self, used: Iterable[int]) -> None:
        """Compute all expressions; those that are ``used`` outside of expressions tell cells apart.

        Raises:
            CertificateError: if an expression is of too many cells, or a value cannot be bounded.
        """
        seen = set(used)
        for each in self.of:
            if len(each.columns) > 1:
                seen.update(before for before in each.of if len(self.of[before].columns) == 1)
        self._ask_roughly()
        for number, each in enumerate(self.of):
            if len(each.columns) <= 1:
                self._compute(number, {column: range(len(self.columns[column].cells or ())) for column in each.columns})
        for number, column in enumerate(self.columns):
            cells = range(len(column.cells or ()))
            if column.match:
                self.kinds[number] = tuple(cells)
                continue
            own = [self.of[each] for each in sorted(seen) if self.of[each].columns == (number,)]
            telling = [each.values for each in own]
            telling += [each.roughly for each in own if each.is_asked_roughly]
            self.steps.spend(len(cells) * (len(telling) + 1))
            distinct: dict[tuple[Value, ...], int] = {}
            for cell in cells:
                distinct.setdefault(tuple(_key(values[cell,]) for values in telling), cell)
            self.kinds[number] = tuple(distinct.values())
        for number, each in enumerate(self.of):
            if len(each.columns) > 1:
                self._compute(number, {column: self.kinds[column] for column in each.columns})

    def cells_of(self, columns: Sequence[int]) -> Iterator[Cells]:
        """Yield a cell of each kind of these columns, in all combinations."""
        many = math.prod(len(self.kinds[column]) for column in columns)
        if many > MOST_CELLS:
            names = ", ".join(self.columns[column].name for column in columns)
            raise CertificateError(
                f"{many:,} kinds of records are told apart, more than {MOST_CELLS:,}, by {names:.200}"
            )
        self.steps.spend(many)
        return itertools.product(*(self.kinds[column] for column in columns))

    def _ask_roughly(self) -> None:
        """Find the expressions of which it counts what floats make of them: what jumps is made of them."""
        for each in reversed(self.of):
            if each.how == "jump" or each.is_asked_roughly:
                for before in each.of:
                    self.of[before].is_asked_roughly = not self.of[before].is_exact

    def _compute(self, number: int, cells: dict[int, Sequence[int]]) -> None:
        each = self.of[number]
        if each.how == "source":
            return
        many = math.prod(map(len, cells.values()))
        if many > MOST_CELLS:
            raise CertificateError(f"expression {number}: {many:,} kinds of records, more than {MOST_CELLS:,}")
        each.values = self._on(each, cells, exactly=each.how != "jump", widened=each.widened)
        if each.is_asked_roughly:
            rounds = each.how == "rounded"
            values = self._on(each, cells, exactly=False, widened=rounds)
            each.roughly = {key: ranges.rough(value) for key, value in values.items()} if rounds else values
        if each.whole and each.how == "rounded":
            for value in each.values.values():
                if value is not None and _largest(value) > _LARGEST_WHOLE:
                    raise CertificateError(f"expression {number}: whole numbers above 2^53, which floats round")

    def _on(
        self, each: ColumnExpression, cells: dict[int, Sequence[int]], *, exactly: bool, widened: bool
    ) -> dict[Cells, Value]:
        before = []
        for number in each.of:
            inner = self.of[number]
            places = [each.columns.index(column) for column in inner.columns]
            values = inner.values if exactly or inner.is_exact else inner.roughly
            before.append((values, places, widened and inner.type == "number"))
        results = {}
        each_costs = (1 + len(before)) * (1 if exactly and not widened else 10)  # ends with many digits
        self.steps.spend(math.prod(map(len, cells.values())) * each_costs)
        for key in itertools.product(*cells.values()):
            given = [values[tuple(key[place] for place in places)] for values, places, _ in before]
            if widened:
                given = [
                    ranges.rough(value) if wide else value for value, (_, _, wide) in zip(given, before, strict=True)
                ]
            results[key] = each.apply(*given)
        return results


def _none(*_: Value) -> Value:
    raise AssertionError("a source has its values")


def _largest(value: Value) -> Number:
    given = NumberRange.of(value)
    return max(abs(given.low), abs(given.high))


def _key(value: Value) -> Value:
    """Return a value so that no two of different types are equal."""
    return (type(value), value)


def may_be(value: Value, key: Value) -> bool:
    """Whether a value is a key, or could be."""
    if type(value) is NumberRange:
        return value.holds(key)
    return value is EITHER or (value is not None and bool(value == key))


def _point(value: object, where: str) -> tuple[str, Value]:
    read = point(value, where)
    if isinstance(read, str):
        return "text", read
    if isinstance(read, bool):
        return "truth", read
    return "number", plain(read)


def _result(value: object, where: str) -> tuple[str | None, Value]:
    """Return a value of a table with its type: a point, what lies between two ends, or a missing one."""
    members = items(value, where, 3, 1)
    if members == ["missing"]:
        return None, None
    if members[0] == "between" and type(members[0]) is str and len(members) == 3:
        low, high = (plain(rational(end, where)) for end in members[1:])
        if low > high:
            raise CertificateError(f"{where}: a value between {low} and {high}, the wrong way round")
        return "number", NumberRange(low, high).value
    return _point(members, where)


def _type_of(results: Sequence[tuple[str | None, Value]], where: str) -> str:
    kinds = {kind for kind, _ in results if kind is not None}
    missing = any(kind is None for kind, _ in results)
    if len(kinds) > 1 or (missing and kinds == {"truth"}):
        raise CertificateError(f"{where}: a table has values of one type, and truths are never missing")
    return next(iter(kinds), "number")


def _ends(given: dict[str, Any], where: str) -> tuple[Number, Number]:
    low = -math.inf if given["low"] is None else plain(rational(given["low"], f"{where}: low"))
    high = math.inf if given["high"] is None else plain(rational(given["high"], f"{where}: high"))
    if low > high:
        raise CertificateError(f"{where}: low is above high")
    return low, high


_Read = Callable[[ColumnExpressions, dict[str, Any], list[int], str], ColumnExpression]
_READERS: dict[str, tuple[tuple[str, ...], tuple[str, ...] | None, _Read]] = {
    "column": (("column",), (), ColumnExpressions._column),
    "constant": (("value",), (), ColumnExpressions._constant),
    "power": (("exponent",), ("number",), ColumnExpressions._power),
    "round": (("digits",), ("number",), ColumnExpressions._round),
    "clip": (("low", "high"), ("number",), ColumnExpressions._clip),
    "bin": (("edges", "right"), ("number",), ColumnExpressions._bin),
    "is_in": (("values",), ("any",), ColumnExpressions._is_in),
    "table": (("values", "by", "what"), None, ColumnExpressions._table),
    "lookup": (("table", "other"), None, ColumnExpressions._lookup),
}
"""Operations with fields of their own: which, the types of their expressions (None: any number), and their reader."""
