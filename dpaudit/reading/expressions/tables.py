"""Which functions are known of numbers of the data? One table: what is not in it is refused by its name.

Arrays hold values as objects, so that NumPy itself does what only moves numbers, adds and multiplies them; what
compares them, or is a function of one number, is done here.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import statistics
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.reading.expressions.graph import NotReadError, Value, exactly

Function = Callable[..., Any]


def is_array(value: Any) -> bool:
    """Whether this is an array of values."""
    return type(value) is np.ndarray and value.dtype == object


def each(apply: Callable[..., Any], *given: Any) -> Any:
    """Apply a function of numbers to each place of arrays, lists and numbers."""
    arrays = [np.asarray(one, dtype=object) for one in given]
    results = np.frompyfunc(apply, len(arrays), 1)(*arrays)
    return results


def value_of(number: Any, apply: Callable[[Value], Any], plain: Callable[[Any], Any]) -> Any:
    """Apply a function to a value, or Python's own to a plain number."""
    return apply(number) if isinstance(number, Value) else plain(number)


def _unary(name: str, plain: Callable[[Any], Any] | None = None) -> Function:
    own = plain or getattr(math, name)
    return lambda x: each(lambda v: value_of(v, lambda value: value.called(name), own), x)


def maximum(one: Any, other: Any) -> Any:
    """Return the larger of two numbers."""
    return (
        one.maximum(other)
        if isinstance(one, Value)
        else other.maximum(one)
        if isinstance(other, Value)
        else max(one, other)
    )


def minimum(one: Any, other: Any) -> Any:
    """Return the smaller of two numbers."""
    return (
        one.minimum(other)
        if isinstance(one, Value)
        else other.minimum(one)
        if isinstance(other, Value)
        else min(one, other)
    )


def above(one: Any, other: Any) -> Any:
    """``one > other``, as 0 or 1."""
    return one.above(other) if isinstance(one, Value) else other.below(one) if isinstance(other, Value) else one > other


def not_above(one: Any, other: Any) -> Any:
    """``one <= other``, as 0 or 1."""
    truth = above(one, other)
    return ~truth if isinstance(truth, Value) else not truth


def equal(one: Any, other: Any) -> Any:
    """``one == other``, as 0 or 1."""
    if not isinstance(one, Value) and not isinstance(other, Value):
        return one == other
    return not_above(one, other) & not_above(other, one)


def unequal(one: Any, other: Any) -> Any:
    """``one != other``, as 0 or 1."""
    truth = equal(one, other)
    return ~truth if isinstance(truth, Value) else not truth


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    "gt": above,
    "lt": lambda one, other: above(other, one),
    "le": not_above,
    "ge": lambda one, other: not_above(other, one),
    "eq": equal,
    "ne": unequal,
}
"""What compares numbers, by the name of the operator."""


def ordered(values: Iterable[Any]) -> list[Any]:
    """Return numbers in their order: a network of comparisons of neighbours (odd and even places by turns)."""
    in_order = list(values)
    for turn in range(len(in_order)):
        for i in range(turn % 2, len(in_order) - 1, 2):
            in_order[i], in_order[i + 1] = minimum(in_order[i], in_order[i + 1]), maximum(in_order[i], in_order[i + 1])
    return in_order


def _flat(x: Any, axis: Any = None) -> list[Any]:
    array = np.asarray(x, dtype=object)
    if axis is not None and array.ndim != 1:
        raise NotReadError("an order statistic along an axis of a table; take it column by column")
    return array.ravel().tolist()


def _quantile(x: Any, q: Any, axis: Any, method: str, of: int) -> Any:
    """Return quantiles at parts of ``of``: of 1, or of 100 as percentiles are."""
    if method != "linear":
        raise NotReadError(f"a quantile by {method!r:.40}; known is 'linear'")
    values = ordered(_flat(x, axis))
    quantiles = [_at(values, exactly(one) / of) for one in np.ravel(q)]
    return np.array(quantiles, dtype=object) if np.ndim(q) else quantiles[0]


def _at(values: list[Any], q: Any) -> Any:
    place = exactly(q) * (len(values) - 1)
    first = math.floor(place)
    rest = place - first
    return values[first] * (1 - rest) + values[first + 1] * rest if rest else values[first]


def _mean(x: Any, axis: Any = None) -> Any:
    array = np.asarray(x, dtype=object)
    return np.sum(array, axis=axis) / Fraction(array.size if axis is None else array.shape[axis])


def _variance(x: Any, axis: Any = None, *, ddof: Any = 0) -> Any:
    array = np.asarray(x, dtype=object)
    many = array.size if axis is None else array.shape[axis]
    mean = np.sum(array, axis=axis, keepdims=True) / Fraction(many)
    return np.sum((array - mean) ** 2, axis=axis) / (many - exactly(ddof))


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Any:  # noqa: A002 – NumPy's name
    array = np.asarray(x, dtype=object)
    if array.ndim != 1 and (axis is None or ord not in (None, 1, 2)):
        raise NotReadError("the norm of a table; known are norms of vectors")
    if ord in (None, 2):
        return _sqrt(np.sum(array * array, axis=axis))
    if ord == 1:
        return np.sum(each(abs, array), axis=axis)
    if ord != np.inf:
        raise NotReadError(f"the norm {ord!r:.20}")
    return _reduced(maximum)(each(abs, array))


def _reduced(apply: Callable[[Any, Any], Any]) -> Function:
    def reduced(x: Any, axis: Any = None) -> Any:
        array = np.asarray(x, dtype=object)
        if axis is None:
            return functools.reduce(apply, array.ravel().tolist())
        return functools.reduce(lambda one, other: each(apply, one, other), np.moveaxis(array, axis, 0))

    return reduced


def _of_builtin(apply: Callable[[Any, Any], Any]) -> Function:
    def called(*given: Any) -> Any:
        return functools.reduce(apply, list(given[0]) if len(given) == 1 else given)

    return called


def _choose(condition: Any, one: Any, other: Any) -> Any:
    if not isinstance(condition, Value):
        return one if condition else other
    return condition.graph.chosen(_as_truth(condition), condition.of(one), condition.of(other))


def _as_truth(value: Any) -> Any:
    """Return whether a number is not 0."""
    return value if not isinstance(value, Value) or value.graph.is_truth(value) else unequal(value, 0)


def _clip(x: Any, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Any:  # noqa: A002
    low, high = min if low is None else low, max if high is None else high
    clipped = x if low is None else each(maximum, x, low)
    return clipped if high is None else each(minimum, clipped, high)


def _sign(v: Any) -> Any:
    return above(v, 0) * 1 - above(0, v) * 1


def _trues(apply: Callable[[Any, Any], Any], start: bool) -> Function:
    return lambda values: functools.reduce(apply, map(_as_truth, values), start)


def _total(values: Iterable[Any], start: Any = 0) -> Any:
    return functools.reduce(operator.add, values, start)


def _product(values: Iterable[Any], *, start: Any = 1) -> Any:
    return functools.reduce(operator.mul, values, start)


def _tanh(v: Any) -> Any:
    return value_of(v, lambda x: 1 - 2 / ((2 * x).called("exp") + 1), math.tanh)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0) -> Any:
    array = np.asarray(y, dtype=object)
    width = exactly(dx) if x is None else np.diff(np.asarray(x, dtype=object))
    return np.sum(width * (array[1:] + array[:-1]) / 2)


_sqrt = _unary("sqrt")
_log = _unary("log")
_exp = _unary("exp")


def _log_of(x: Any, base: Any = None) -> Any:
    if base is None:
        return _log(x)
    return _log(x) / (_log(base) if isinstance(base, Value) else _a_value(x).of(base).called("log"))


def _a_value(x: Any) -> Value:
    value: Value = next(one for one in np.asarray(x, dtype=object).ravel() if isinstance(one, Value))
    return value


def _log_by(base: int) -> Function:
    return lambda x: each(
        lambda v: v.called("log") / v.of(base).called("log") if isinstance(v, Value) else math.log(v, base), x
    )


_OF_ANY: dict[str, Function] = {
    "median": lambda x, axis=None: _at(ordered(_flat(x, axis)), Fraction(1, 2)),
    "deviation": lambda x, axis=None, *, ddof=0: _sqrt(_variance(x, axis, ddof=ddof)),
    "any": lambda x, axis=None: _reduced(maximum)(each(_as_truth, x), axis),
    "all": lambda x, axis=None: _reduced(minimum)(each(_as_truth, x), axis),
    "hypot": lambda *given: _sqrt(_total(one * one for one in given)),
}
"""What several libraries have."""
_FUNCTIONS: dict[Any, Function] = {
    np.sqrt: _sqrt,
    np.exp: _exp,
    np.log: _log,
    np.log2: _log_by(2),
    np.log10: _log_by(10),
    np.log1p: lambda x: _log(each(lambda v: 1 + v, x)),
    np.expm1: lambda x: each(lambda v: value_of(v, lambda value: value.called("exp") - 1, math.expm1), x),
    np.sin: _unary("sin"),
    np.cos: _unary("cos"),
    np.arctan: _unary("atan", math.atan),
    np.tanh: lambda x: each(_tanh, x),
    np.abs: lambda x: each(abs, x),
    np.fabs: lambda x: each(abs, x),
    np.sign: lambda x: each(_sign, x),
    np.heaviside: lambda x, half: each(lambda v, h: above(v, 0) + equal(v, 0) * h, x, half),
    np.square: lambda x: each(lambda v: v**2, x),
    np.power: lambda x, y: each(operator.pow, x, y),
    np.reciprocal: lambda x: each(lambda v: 1 / v, x),
    np.maximum: lambda x, y: each(maximum, x, y),
    np.minimum: lambda x, y: each(minimum, x, y),
    np.fmax: lambda x, y: each(maximum, x, y),
    np.fmin: lambda x, y: each(minimum, x, y),
    np.clip: _clip,
    np.where: lambda condition, one, other: each(_choose, condition, one, other),
    np.hypot: _OF_ANY["hypot"],
    np.sort: lambda x, axis=-1: np.array(ordered(_flat(x, axis)), dtype=object),
    np.median: _OF_ANY["median"],
    np.quantile: lambda x, q, axis=None, *, method="linear": _quantile(x, q, axis, method, of=1),
    np.percentile: lambda x, q, axis=None, *, method="linear": _quantile(x, q, axis, method, of=100),
    np.mean: _mean,
    np.average: _mean,
    np.var: _variance,
    np.std: _OF_ANY["deviation"],
    np.max: _reduced(maximum),
    np.min: _reduced(minimum),
    np.ptp: lambda x, axis=None: _reduced(maximum)(x, axis) - _reduced(minimum)(x, axis),
    np.linalg.norm: _norm,
    np.count_nonzero: lambda x, axis=None: np.sum(each(_as_truth, x), axis=axis),
    np.any: _OF_ANY["any"],
    np.all: _OF_ANY["all"],
    np.logical_and: lambda x, y: each(lambda a, b: _as_truth(a) & _as_truth(b), x, y),
    np.logical_or: lambda x, y: each(lambda a, b: _as_truth(a) | _as_truth(b), x, y),
    np.logical_not: lambda x: each(lambda a: ~_as_truth(a) if isinstance(a, Value) else not a, x),
    **{
        getattr(np, long): functools.partial(each, COMPARED[short])
        for long, short in (
            ("greater", "gt"),
            ("less", "lt"),
            ("less_equal", "le"),
            ("greater_equal", "ge"),
            ("equal", "eq"),
            ("not_equal", "ne"),
        )
    },
    **{getattr(np, name): _trapezoid for name in ("trapezoid", "trapz") if hasattr(np, name)},
    math.sqrt: _sqrt,
    math.exp: _exp,
    math.log: _log_of,
    math.log2: _log_by(2),
    math.log10: _log_by(10),
    math.log1p: lambda x: (1 + x).called("log"),
    math.expm1: lambda x: x.called("exp") - 1,
    math.sin: _unary("sin"),
    math.cos: _unary("cos"),
    math.atan: _unary("atan", math.atan),
    math.tanh: _tanh,
    math.fabs: abs,
    math.pow: operator.pow,
    math.hypot: _OF_ANY["hypot"],
    math.fsum: _total,
    math.prod: _product,
    math.dist: lambda x, y: _norm(np.asarray(x, dtype=object) - np.asarray(y, dtype=object)),
    builtins.sum: _total,
    builtins.abs: lambda x: each(abs, x) if is_array(x) else abs(x),
    builtins.max: _of_builtin(maximum),
    builtins.min: _of_builtin(minimum),
    builtins.sorted: lambda values, *, reverse=False: ordered(values)[:: -1 if reverse else 1],
    builtins.float: lambda x: x * 1,
    builtins.pow: operator.pow,
    builtins.any: _trues(maximum, start=False),
    builtins.all: _trues(minimum, start=True),
    statistics.mean: _mean,
    statistics.fmean: _mean,
    statistics.median: _OF_ANY["median"],
    statistics.median_low: lambda values: (in_order := ordered(values))[(len(in_order) - 1) // 2],
    statistics.median_high: lambda values: (in_order := ordered(values))[len(in_order) // 2],
    statistics.pvariance: _variance,
    statistics.variance: functools.partial(_variance, ddof=1),
    statistics.pstdev: _OF_ANY["deviation"],
    statistics.stdev: functools.partial(_OF_ANY["deviation"], ddof=1),
}


_OF_SCIPY: dict[str, Function] = {
    "softmax": lambda x: (exponentials := _exp(x)) / np.sum(exponentials),
    "logsumexp": lambda x: _log(np.sum(_exp(x))),
    "expit": lambda x: each(lambda v: 1 / (1 + _exp(-v)), x),
}


def known(function: Any) -> Function | None:
    """Return what a function does with values; None where it is not known."""
    row = BY_IDENTITY.get(id(function))
    special = sys.modules.get("scipy.special")
    name = getattr(function, "__name__", "")
    if row is None and name in _OF_SCIPY and function is getattr(special, name, None):
        return _OF_SCIPY[name]
    return None if row is None else row[1]


BY_IDENTITY: dict[int, tuple[Any, Function]] = {id(key): (key, function) for key, function in _FUNCTIONS.items()}
"""What each function does with values, by the identity of the function."""
ARITHMETIC = (
    "add", "subtract", "multiply", "divide", "true_divide", "negative", "positive", "sum", "prod", "cumsum", "cumprod",
    "diff", "dot", "vdot", "inner", "outer", "matmul", "trace", "asarray", "array", "copy", "atleast_1d", "ravel",
    "reshape", "concatenate", "stack", "hstack", "vstack", "column_stack", "append", "roll", "flip", "transpose",
    "squeeze", "expand_dims", "tile", "repeat", "broadcast_to", "diagonal", "take", "split", "array_split", "meshgrid",
    "triu", "tril", "size", "shape", "ndim", "flipud", "fliplr", "swapaxes", "delete", "zeros_like", "ones_like",
    "ascontiguousarray", "asanyarray", "convolve",
)  # fmt: skip
"""What NumPy does by itself with arrays of values: it moves, adds and multiplies them."""
BY_NUMPY = {id(getattr(np, name)): getattr(np, name) for name in ARITHMETIC if hasattr(np, name)}
METHODS = frozenset((
    "sum", "prod", "cumsum", "cumprod", "dot", "copy", "ravel", "flatten", "reshape", "transpose", "squeeze", "take",
    "repeat", "diagonal", "trace", "tolist", "swapaxes",
))  # fmt: skip
"""Methods of arrays that NumPy itself does."""
BY_METHOD: dict[str, Function] = {
    "mean": _mean, "var": _variance, "std": _OF_ANY["deviation"], "max": _reduced(maximum), "min": _reduced(minimum),
    "clip": _clip, "any": _OF_ANY["any"], "all": _OF_ANY["all"], "ptp": _FUNCTIONS[np.ptp],
}  # fmt: skip
"""Methods of arrays that are done here."""
STRUCTURAL = {id(one): one for one in (
    zip, enumerate, reversed, list, tuple, dict, iter, next, map, filter, len, range, slice, functools.reduce,
    itertools.accumulate, itertools.chain, itertools.combinations, itertools.islice, itertools.pairwise,
    itertools.product, itertools.repeat, itertools.starmap, itertools.chain.from_iterable,
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg,
)}  # fmt: skip
"""What hands values on without looking at them."""
CALLING = {id(map): 0, id(filter): 0, id(functools.reduce): 0, id(itertools.starmap): 0, id(itertools.accumulate): 1}
"""Those of them that call a function, and its place among the arguments."""
PURE = ("builtins", "math", "statistics", "functools", "itertools", "operator", "numpy", "fractions")
"""Modules whose functions of public values are called as they are: they keep nothing, and read nothing else."""
NOT_PURE = frozenset((
    "copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis", "at", "setitem", "delitem", "iadd", "isub",
    "imul", "itruediv", "iconcat", "ior", "iand", "setbufsize", "vectorize", "frompyfunc", "apply_along_axis",
    "fromfunction", "fromiter", "piecewise", "nditer", "lru_cache", "cache", "attrgetter", "methodcaller", "call",
    "open", "input", "id", "hash", "print", "help", "__import__", "eval", "exec", "compile", "vars", "globals",
    "locals", "setattr", "delattr", "memoryview", "object", "breakpoint", "exit", "quit", "load", "loadtxt",
    "genfromtxt", "fromfile", "memmap", "fromregex", "empty", "empty_like", "seterr", "errstate", "get_include",
    "save", "savez", "savetxt",
))  # fmt: skip
"""What of these modules is not called."""
