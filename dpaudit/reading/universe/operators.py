"""What do operators and methods of private numbers do, and of arrays and tables of them?

Operators by what meets what: columns, numbers, noise. Methods by name: each row is a Python function whose signature is
what is read, and an argument that it does not name is refused.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading.python import OPERATION
from dpaudit.reading.universe import (
    builtin_calls,
    column_methods,
    columns,
    given,
    keys,
    sizes,
    steps,
    undecided,
    vectors,
)
from dpaudit.reading.universe.groups import Keyed, PerPerson
from dpaudit.reading.universe.noise import Draw, Exponentials, Half, Normaliser, RowCoins, Shifted, meet
from dpaudit.reading.universe.numbers import Number
from dpaudit.reading.universe.records import Adding, RecordNumber
from dpaudit.reading.universe.state import NOISE_FIRST, Private, current_domain, refuse, refuse_form
from dpaudit.reading.universe.undecided import Undecided
from dpaudit.reading.universe.values import NP_FLOAT, NP_INT, PUBLIC, Token, combined, sort_of

_OPTIONS = frozenset(("arg", "by_row", "convert_dtype", "engine", "na_action"))
_KNOWN = frozenset(("int", "float", "np.int64", "np.float64"))
Function = Callable[..., Any]

# --- numbers ---------------------------------------------------------------------------------------------


def n_clip(x: Number, lower: Any = None, upper: Any = None) -> Number:
    """``clip(low, high)``."""
    clipped = x.clipped(lower, upper)
    if x.shape or not x.kinds <= _KNOWN:
        return clipped
    whole = x.kinds <= {"int", "np.int64"} and all(type(each) in (int, type(None)) for each in (lower, upper))
    return clipped.same(kinds=NP_INT if whole else NP_FLOAT)


def n_sum(x: Number, axis: Any = "") -> Number:
    """``sum()``: of a table over its rows, where no axis is said."""
    if x.columns is not None and axis not in ("", 0, 1):
        refuse_form("a sum over an axis that is not there")
    return x.total(None if axis == "" else axis)


def n_median(x: Number) -> Number:
    """``median()`` of an array: as any of a place in their order, it moves no farther than one of them."""
    return x.extreme(middle=True).same(is_whole=False, kinds=NP_FLOAT)


def n_cumsum(x: Number) -> Number:
    """``cumsum()``."""
    if len(x.shape) != 1:
        refuse("cumsum of a private table", "one row of it")
    return x.mapped(lambda table: table.cumsum(1)).rounded()


def n_to_numpy(x: Number, dtype: Any = None) -> Number:
    """``to_numpy()``."""
    return x.as_array() if dtype is None else x.as_array().cast(dtype)


def n_items(x: Number) -> Any:
    """``items()``."""
    if x.labels is None or x.columns is not None:
        refuse_form("items() of this private table")
    return current_domain().born(zip(list(x.labels), x.parts(), strict=True))


def n_to_dict(x: Number) -> dict[Any, Number]:
    """``to_dict()``."""
    members: dict[Any, Number] = current_domain().born(dict(n_items(x)))
    return members


def n_tolist(x: Number) -> list[Number]:
    """``tolist()``."""
    if len(x.shape) != 1:
        refuse_form("tolist() of a private table")
    members: list[Number] = current_domain().born(x.as_array().parts())
    return members


def n_to_frame(x: Number, name: str) -> Number:
    """``to_frame(name)``."""
    if x.labels is None or x.columns is not None or not isinstance(name, str):
        refuse("to_frame of this", 'table.to_frame("n")')
    return x.mapped(lambda table: table[..., None], columns=pd.Index([name]))


def n_rename_axis(x: Number, name: str) -> Number:
    """``rename_axis(text)``."""
    if x.labels is None or x.labels.nlevels > 1 or x.columns is not None or not isinstance(name, str):
        refuse("rename_axis of this private table", '.rename_axis("key") of a series with one key')
    return x.mapped(lambda table: table, labels=x.labels.rename(name))


def n_reset_index(x: Number, *, name: Any = None) -> column_methods.Written:
    """``reset_index(name=text)``: its labels are public columns."""
    names = [] if x.labels is None or x.columns is not None else [*x.labels.names, name]
    if not names or not all(isinstance(each, str) for each in names) or len(set(names)) < len(names):
        refuse("reset_index in this form", '.rename_axis("key").reset_index(name="n")')
    unlabelled = x.mapped(lambda table: table[..., None], labels=pd.RangeIndex(x.shape[0]), columns=pd.Index([name]))
    return column_methods.Written(unlabelled, x.labels.to_frame(index=False))


def n_sort_index(x: Number) -> Number:
    """``sort_index()``."""
    if x.labels is None or x.columns is not None:
        refuse_form("sort_index() of this private table")
    places = x.labels.argsort()
    return x.mapped(lambda table: table[:, places], labels=x.labels[places])


def n_drop(x: Number, labels: Any) -> Number:
    """``drop(label)``, or ``drop([label, label])``."""
    listed = labels if isinstance(labels, list) else [labels]
    if x.labels is None or x.columns is not None or not x.labels.is_unique or any(e not in x.labels for e in listed):
        refuse("drop of something else than labels of this private table", "labels that it has")
    gone = {x.labels.get_loc(each) for each in listed}
    places = [place for place in range(len(x.labels)) if place not in gone]
    return x.mapped(lambda table: table[:, places], labels=x.labels[places])


def n_reindex(x: Number, labels: Any, *, fill_value: Any = None) -> Number:
    """``reindex(labels, fill_value=0)`` of a table whose labels are public."""
    wanted = pd.Index(list(labels))
    if (
        x.labels is None
        or x.columns is not None
        or not wanted.is_unique
        or any(each not in x.labels for each in wanted)
    ):
        refuse("reindex of this private table", "labels that it has")
    wanted = wanted.rename(labels.name if hasattr(labels, "name") else x.labels.name)
    places = [int(x.labels.get_loc(each)) for each in wanted]
    return x.mapped(lambda table: table[:, places], labels=wanted)


def n_reshape(x: Number, *shape: Any) -> Number:
    """``reshape(rows, columns)``."""
    if x.labels is not None:
        refuse("reshape of a table with labels", ".to_numpy().reshape(…)")
    size = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    shape = np.empty(x.shape).reshape(size).shape
    return x.mapped(lambda table: table.reshape(len(table), *shape))


def n_pipe(x: Number, function: Any, *args: Any, **keywords: Any) -> Any:
    """``pipe(f)`` of a series or frame."""
    if x.labels is None and x.columns is None:
        refuse("pipe of a private number", NOISE_FIRST)
    return current_domain().call(function, x, *args, **keywords)


def n_apply(x: Number, func: Any, args: Any = (), **keywords: Any) -> Any:
    """``apply(f)`` and ``map(f)`` of a series: what a function makes of each of its numbers, with its labels."""
    is_function = isinstance(func, types.FunctionType | types.MethodType)
    if x.labels is None or x.columns is not None or not is_function or type(args) is not tuple:
        refuse("map of this private table", "table.map(lambda n: n + laplace(…))")
    if _OPTIONS.intersection(keywords):
        refuse("an option of pandas beside the function", "table.map(lambda n: n + laplace(…))")
    domain = current_domain()
    return domain.call(pd.Series, [domain.call(func, each, *args, **keywords) for each in x.parts()], index=x.labels)


ROUNDED = "a private number that is rounded, which jumps where the number does not", "round after the noise"
NUMBER: dict[str, Function] = {
    name[2:]: function for name, function in list(globals().items()) if name.startswith("n_") and callable(function)
}
NUMBER |= {
    "max": lambda x: x.extreme(),
    "min": lambda x: x.extreme(),
    "astype": lambda x, dtype: x.cast(dtype),
    "copy": lambda x: x.same(),
    "keys": lambda x: x.labels if x.labels is not None else refuse_form("keys() of a private array"),
    "round": lambda x, *_: refuse(*ROUNDED),
    "map": lambda x, func, **keywords: n_apply(x, func, **keywords),
    "to_list": n_tolist,
    "item": lambda x: x,
    "flatten": lambda x: n_reshape(x, -1),
    "ravel": lambda x: n_reshape(x, -1),
}


def number_method(x: Number, name: str) -> Function | None:
    """Return a method of a private number or table."""
    return NUMBER.get(name)


def number_attribute(x: Number, name: str) -> Any:
    """Return an attribute of a private number or table that is no method."""
    if name == "shape":
        return x.shape
    if name == "size":
        return int(np.prod(x.shape))
    if name == "ndim":
        return len(x.shape)
    if name == "index" and x.labels is not None:
        return x.labels
    if name == "columns" and x.columns is not None:
        return x.columns
    if name == "values":
        return x.as_array()
    if name == "loc" and x.labels is not None and x.columns is None:
        return x
    if name == "T" and len(x.shape) == 2:
        return x.mapped(lambda table: table.swapaxes(1, 2), labels=x.columns, columns=x.labels)
    if x.columns is not None and name in x.columns and not hasattr(pd.DataFrame, name):
        return x.at(name)
    return refuse(f".{name} of a private number is not known", NOISE_FIRST)


_OF_KEYS = (Keyed, keys.DrawOfKeys, keys.NoisyKeys)
_BY_ZERO = ("floordiv", "mod")
"""Operators of whole numbers that give floats where pandas divides by 0, and whole numbers elsewhere."""
_OF_KEY_LOOPS = (keys.Key, keys.KeyCount, keys.NoisyInLoop)


class Operators(builtin_calls.Builtins):
    """Arithmetic and comparisons of private values."""

    def _raising(self, name: str, left: Any, right: Any) -> None:
        """An operator on released values that may raise."""
        numeric = all(
            (isinstance(each, Token) and (each.is_number or each.is_array)) or isinstance(each, int | float | np.number)
            for each in (left, right)
        )
        if not numeric:
            self.raises("any")
        elif name in ("truediv", "floordiv", "mod"):
            self.raises("division")
        elif name == "pow":
            self.raises("power")

    def _binary_of_private(self, name: str, left: Any, right: Any) -> Any:
        for each in (left, right):
            if not isinstance(each, Private | Token) and sort_of(each) != PUBLIC:
                refuse("an operator on a private value and a collection that is not public", "the values one by one")
        if isinstance(left, vectors.OF_ROWS) or isinstance(right, vectors.OF_ROWS):
            return vectors.operated(name, left, right)
        if isinstance(left, _OF_KEYS) or isinstance(right, _OF_KEYS):
            return keys.operated(name, left, right)
        if isinstance(left, _OF_KEY_LOOPS) or isinstance(right, _OF_KEY_LOOPS):
            return keys.operated_in_loop(name, left, right)
        if isinstance(left, given.FlippedRecords) or isinstance(right, given.FlippedRecords):
            return given.operated(name, left, right)
        if isinstance(left, Undecided) or isinstance(right, Undecided):
            return undecided.operated(name, left, right)
        if isinstance(left, Half) or isinstance(right, Half):
            if name in ("add", "sub") and isinstance(left, Half):
                return left.meets(right, 1 if name == "add" else -1)
            refuse("noise of one side alone, by which some outputs are impossible", "np.random.laplace(0, scale)")
        if isinstance(left, Draw) or isinstance(right, Draw):
            return self._with_draw(name, left, right)
        if isinstance(left, RowCoins) or isinstance(right, RowCoins):
            if name in ("lt", "le") and isinstance(left, RowCoins):
                return left.below(right)
            if name in ("gt", "ge") and isinstance(right, RowCoins):
                return right.below(left)
            refuse("a random number of each record other than compared with a rate", "np.random.random(len(df)) < 0.1")
        if isinstance(left, RecordNumber) or isinstance(right, RecordNumber):
            if isinstance(left, Adding) and name in ("add", "sub"):
                return left.plus(right, 1 if name == "add" else -1)
            if isinstance(right, Adding) and name == "add":
                return right.plus(left, 1)
            first, other = (left, right) if isinstance(left, RecordNumber) else (right, left)
            if name in columns.COMPARISONS:
                return first.compared(name, other, is_left=first is left)
            return first.combined(name, other, is_left=first is left)
        if isinstance(left, Adding) or isinstance(right, Adding):
            if name in ("add", "sub") and isinstance(left, Adding):
                return left.plus(right, 1 if name == "add" else -1)
            if name == "add" and isinstance(right, Adding):
                return right.plus(left, 1)
            refuse("a loop over records that does more than add to a number", "sums: total += x")
        if isinstance(left, column_methods.TurnedRows) and name == "matmul":
            return left.times(right)
        if isinstance(left, columns.Column) or isinstance(right, columns.Column):
            return self._of_columns(name, left, right)
        if isinstance(left, PerPerson) and name in columns.COMPARISONS and isinstance(right, int | float):
            return left.test()
        if isinstance(left, PerPerson) or isinstance(right, PerPerson):
            own, other = (left, right) if isinstance(left, PerPerson) else (right, left)
            return own.operated(name, other, is_left=own is left)
        if isinstance(left, Exponentials):
            return (
                left.over(right) if name == "truediv" else refuse("arithmetic of exponentials of scores", "e / e.sum()")
            )
        if isinstance(left, Shifted) or isinstance(right, Shifted):
            shifted, factor = (left, right) if isinstance(left, Shifted) else (right, left)
            if shifted.is_whole:
                refuse_form("arithmetic of scores less their largest")
            if name == "mul" or (name == "truediv" and shifted is left):
                return Shifted(shifted.scores.times(factor) if name == "mul" else shifted.scores.over(factor))
            refuse_form("arithmetic of scores less their largest")
        if isinstance(right, Normaliser) and name == "sub" and right.scores is left:
            return Shifted(left, is_whole=True)
        if isinstance(left, Number) or isinstance(right, Number):
            return self._of_numbers(name, left, right)
        noun = (left if isinstance(left, Private) else right).noun
        return refuse(f"an operator on a {noun}", NOISE_FIRST)

    def _with_draw(self, name: str, left: Any, right: Any) -> Any:
        draw, other = (left, right) if isinstance(left, Draw) else (right, left)
        if name == "add":
            return meet(draw, other, 1) if isinstance(other, Private | Token) else draw.added_to(other)
        if name == "sub":
            if isinstance(left, Draw) and isinstance(right, Draw):
                return meet(left, right, -1)
            if draw is right:
                if draw.law in ("exponential", "geometric") and isinstance(other, Number):
                    return meet(draw, other, -1)
                return meet(draw.negative(), other, 1)
            negative = other if isinstance(other, Token) else self.unary("neg", other)
            return meet(draw, negative, 1)
        if isinstance(other, Token) and other.size is not None and (name == "mul" or (name, draw) == ("truediv", left)):
            return draw.in_units(other if name == "mul" else sizes.inverse(other))
        if name == "mul":
            if isinstance(other, Private | Token):
                return self._drawn_alone(draw, other, name)
            return draw.times(other)
        if name == "truediv" and draw is left:
            if isinstance(other, Private | Token):
                return self._drawn_alone(draw, other, name)
            return draw.times(1 / np.asarray(other, float) if np.ndim(other) else 1 / other)
        return self._drawn_alone(draw, other, name)

    def _drawn_alone(self, draw: Draw, other: Any, name: str) -> Any:
        """Noise that hides nothing is a random number."""
        if isinstance(other, Private):
            if isinstance(other, Draw):
                return combined(name, draw.alone(), other.alone())
            refuse("noise together with a private value in another way than a sum", "x + noise")
        return combined(name, draw.alone(), other)

    def _of_columns(self, name: str, left: Any, right: Any) -> Any:
        self.raises("any")
        if isinstance(left, Token) or isinstance(right, Token):
            column, other = (left, right) if isinstance(left, columns.Column) else (right, left)
            if name in columns.COMPARISONS and other.is_number and column.is_of_numbers:
                return Undecided(column.rows, column.space)
            if not column.is_series:
                return vectors.operated(name, left, right)
        if isinstance(left, columns.Column):
            if isinstance(right, Number):
                refuse("a private column with a private number, by which every record moves", "a constant in its place")
            if name == "matmul":
                if not left.width or not left.is_exact or isinstance(right, Private):
                    refuse("a product of rows with what is no public vector", "sums of columns, times constants")
                return (
                    left.apply("matmul", operator.matmul, right)
                    if np.shape(right) == (left.width,)
                    else refuse_form("a product of rows with what has another shape")
                )
            if name in ("and_", "or_", "xor"):
                if not left.is_mask or not (isinstance(right, columns.Column) and right.is_mask):
                    refuse("&, | or ^ of what are no masks", "comparisons of columns, in brackets")
                return left.apply(name.rstrip("_"), OPERATION[name], right)
            if name == "mul" and right is left and not left.is_exact:
                return left.apply("pow", operator.pow, 2)
            return left.apply(name, OPERATION[name], right, dtype_hangs=name in _BY_ZERO)
        function = OPERATION[name]
        if isinstance(left, Number):
            refuse("a private column with a private number, by which every record moves", "a constant in its place")
        reflected = {"add": "add", "mul": "mul", "sub": "sub"} | {each: each for each in columns.COMPARISONS}
        known_name = reflected.get(name, f"reflected {name}")
        flipped = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
        if name in columns.COMPARISONS:
            return right.apply(flipped.get(name, name), OPERATION[flipped.get(name, name)], left)
        made = steps.operation(name, steps.constant(left), (right.step(),))
        return right.apply(
            known_name, lambda values, other: function(other, values), left, made=made, dtype_hangs=name in _BY_ZERO
        )

    def _of_numbers(self, name: str, left: Any, right: Any) -> Any:
        exact, other = (left, right) if isinstance(left, Number) else (right, left)
        if isinstance(other, Private) and not isinstance(other, Number):
            refuse(f"a private number together with a {other.noun}", NOISE_FIRST)
        if name == "sub" and isinstance(left, Number) and isinstance(right, Number) and right.largest_of is left:
            return Shifted(left)
        if name == "add":
            return exact.plus(other, 1)
        if name == "sub":
            return left.plus(right, -1) if isinstance(left, Number) else right.times(-1).plus(left, 1)
        if name == "mul":
            size = other.size if isinstance(other, Token) else None
            if size is not None:
                return sizes.over(exact, sizes.inverse(other))
            return vectors.product(left, right) if isinstance(other, Number) else exact.times(other)
        if name == "truediv" and isinstance(left, Number):
            if isinstance(right, Token) and right.size is not None:
                return sizes.over(left, right)
            return vectors.product(left, vectors.power(right, -1.0)) if isinstance(right, Number) else left.over(right)
        if name == "truediv":
            return vectors.power(right, -1.0).times(left)
        if name == "pow" and isinstance(left, Number) and isinstance(right, int | float | np.integer | np.floating):
            return vectors.power(left, right)
        if name == "matmul":
            return exact.product(other, is_left=exact is right)
        if name in columns.COMPARISONS:
            refuse("a comparison of a private number", "noisy = n + laplace(…); noisy > LIMIT")
        return refuse(
            f"an operator ({name}) on a private number, which may move it farther than a record does", NOISE_FIRST
        )
