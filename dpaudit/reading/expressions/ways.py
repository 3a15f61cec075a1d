"""What does a function release of n numbers, on every way that the data decide, and of any number of them?

Of any number of them, what is done to each is an expression of one; sums, means, quantiles and the like are nodes over
all of them (`dpaudit.checker.moves`). What would need to know how many there are, or one of them by its place, is
refused.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import math
import statistics
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from dpaudit.reading.expressions import selections, tables
from dpaudit.reading.expressions.domain import MOST_WAYS, Expressions, Forked, _sets_outer, chosen_value
from dpaudit.reading.expressions.graph import (
    Graph,
    NotReadError,
    PlaceRelease,
    Seen,
    ShownParts,
    Value,
    exactly,
    refuse,
)
from dpaudit.reading.rewrite import ask

# --- What does a function release of n numbers, on every way that the data decide? -----------------------


@dataclass(frozen=True, slots=True)
class NumbersReading:
    """What a function releases of n numbers."""

    graph: Graph
    variables: int
    releases: tuple[PlaceRelease, ...]
    result: Any = None  # of a function that adds no noise: what it returns, numbers or arrays of them


def read(
    function: Callable[..., Any],
    variables: int,
    container: str,
    parameters: Mapping[str, Any],
    given: Mapping[str, Any],
    ways: float = math.inf,
) -> NumbersReading:
    """Read what a function releases of so many numbers.

    Args:
        function: takes them in a list or an array, and the parameters.
        variables: how many numbers.
        container: "list" or "array".
        parameters: of the function.
        given: names of further arguments, and what makes them: a generator, or `GivenNoise`.
        ways: how many calls may be read on both ways that the data decide.

    Raises:
        NotReadError: for what is not known, with the line.
        UnreadableError: for what no domain reads.
    """
    graph = Graph(ways=ways)
    values = [graph.node("var", place) for place in range(variables)]

    def run(decided: dict[int, bool]) -> tuple[tuple[PlaceRelease, ...], Any]:
        domain = Expressions(graph, decided)
        data: Any = domain.made(np.array(values, dtype=object) if container == "array" else list(values))
        return returned(domain, function, data, parameters, given)

    return NumbersReading(graph, variables, *joined(graph, run))


def returned(
    domain: Expressions, function: Any, data: Any, parameters: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[tuple[PlaceRelease, ...], Any]:
    """Return what a function releases of data on one way, and what it returns."""
    result = domain.run(function, data, **parameters, **{name: make() for name, make in given.items()})
    shown = domain.ended(result)
    return tuple(domain.releases), shown


def joined(
    graph: Graph, run: Callable[[dict[int, bool]], tuple[tuple[PlaceRelease, ...], Any]]
) -> tuple[tuple[PlaceRelease, ...], Any]:
    """Return what a function releases, on every way that the data decide."""
    ways = 0

    def on(decided: dict[int, bool]) -> tuple[tuple[PlaceRelease, ...], Any]:
        nonlocal ways
        try:
            result = run(decided)
        except Forked as fork:
            both = [on({**decided, fork.condition.place: way}) for way in (True, False)]
            return _joined(graph, fork.condition, *both)
        ways += 1
        if ways > MOST_WAYS:
            raise NotReadError(f"the data decide among more than {MOST_WAYS} ways; write np.where, or a smaller length")
        return result

    return on({})


def _joined(graph: Graph, condition: Value, one: Any, other: Any) -> tuple[tuple[PlaceRelease, ...], Any]:
    """Return what is released where a condition decides between two ways."""
    (yes, shown), (no, hidden) = one, other
    if [each.form for each in yes] != [each.form for each in no]:
        raise NotReadError("the data decide what is released, or with which noise; release the same on every way")
    joined = tuple(
        PlaceRelease(
            a.how,
            a.law,
            a.scale,
            tuple(chosen_value(graph, condition, *both) for both in zip(a.values, b.values, strict=True)),
            a.line,
            a.unit,
        )
        for a, b in zip(yes, no, strict=True)
    )
    return joined, _joined_results(graph, condition, shown, hidden)


def _joined_results(graph: Graph, condition: Value, one: Any, other: Any) -> Any:
    if (
        isinstance(one, ShownParts)
        and isinstance(other, ShownParts)
        and one.kind == other.kind
        and len(one) == len(other)
    ):
        return ShownParts(one.kind, (_joined_results(graph, condition, a, b) for a, b in zip(one, other, strict=True)))
    alike = type(one) is type(other) and not isinstance(one, Seen | Value | ShownParts) and repr(one) == repr(other)
    if not alike and all(isinstance(each, Value | int | float) for each in (one, other)):
        return chosen_value(graph, condition, one, other)  # also where both are the same number, of several types
    same = alike or (isinstance(one, Seen) and isinstance(other, Seen) and one.form == other.form)
    if not same:
        raise NotReadError("the data decide what is returned beside its numbers; return the same on every way")
    return one


def plain_numbers(result: Any) -> list[Value]:
    """Return the numbers of the data that a result shows, without noise."""
    if isinstance(result, Value):
        return [result]
    return [each for one in result for each in plain_numbers(one)] if isinstance(result, list) else []


# --- What does a function compute of any number of numbers? ----------------------------------------------

_LENGTH = "; give a length (--length 3)"


class Many:
    """Any number of values: what each of them is, of one number of the data, or of one and the next (``steps``).

    ``is_turned``: whether they stand in another order than the data.
    """

    __slots__ = ("each", "is_array", "is_turned", "steps")

    def __init__(self, each: Any, *, is_array: bool, steps: bool = False, is_turned: bool = False) -> None:
        self.each, self.is_array, self.steps, self.is_turned = each, is_array, steps, is_turned

    def like(self, each: Any, *, is_array: bool | None = None) -> Many:
        """Return as many other values."""
        is_array = self.is_array if is_array is None else is_array
        return Many(each, is_array=is_array, steps=self.steps, is_turned=self.is_turned)

    def _no(self, *_: Any) -> NoReturn:
        raise NotReadError(f"the numbers of a list of any length where a number of them is needed{_LENGTH}")

    __iter__ = __len__ = __getitem__ = __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _no
    __hash__ = __format__ = __contains__ = __array__ = __index__ = __add__ = __radd__ = __mul__ = __rmul__ = _no


class Comprehensions(selections.Flips):
    """A list that goes through values is asked of the domain as a whole."""

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # noqa: N802 – a name of the syntax tree
        """``[e for x in y]`` → ``domain.listed(e for x in domain.iterate(y))``."""
        rewritten = self.comprehension(node, "elt")
        if type(rewritten) is not ast.ListComp:
            return ask("new", rewritten)
        return ask("listed", ast.copy_location(ast.GeneratorExp(rewritten.elt, rewritten.generators), node))


class _Through:
    """Goes through any number of values, where a comprehension does: once, for each of them."""

    def __init__(self, domain: AnyLength, many: Many) -> None:
        self._domain, self.many, self._is_done = domain, many, False

    def __iter__(self) -> _Through:
        return self

    def __next__(self) -> Any:
        if self._is_done:
            raise StopIteration
        self._is_done = True
        if self._domain.through is not self:
            refuse(f"a loop over any number of numbers; write a sum, such as sum(f(v) for v in x), or np.sum{_LENGTH}")
        return self.many.each


class AnyLength(Expressions):
    """The data are any number of numbers."""

    rewriter = Comprehensions

    def __init__(self, graph: Graph, decided: Mapping[int, bool]) -> None:
        super().__init__(graph, decided)
        self.through: _Through | None = None  # what the comprehension goes through that is read

    # --- comprehensions ---------------------------------------------------------------------------------------

    def iterate(self, value: Any) -> Any:
        """``for x in a``."""
        return _Through(self, value) if isinstance(value, Many) else super().iterate(value)

    def listed(self, values: Any) -> Any:
        """A list that was written as a comprehension."""
        return self.made(self._drained(values))

    def _drained(self, values: Any) -> Any:
        """Return what a comprehension makes: a list, or any number of values."""
        through = _through(values)
        before = self.through, self._start, self._effects
        self.through, self._start = through, len(self._made)
        try:
            listed = list(values)
        finally:
            has_effects = self._effects != before[2]
            self.through, self._start, _ = before
        if through is None:
            return listed
        if has_effects or len(listed) != 1 or _sets_outer(values.gi_code):
            refuse(f"a comprehension that does more than to compute one value of each number{_LENGTH}")
        return self._many(listed[0], through.many)

    def _many(self, each: Any, like: Many) -> Many:
        if not isinstance(each, tuple):
            each = self._value(each)
        return like.like(each, is_array=False)

    def _value(self, each: Any) -> Value:
        if isinstance(each, Value):
            return each
        if isinstance(each, bool | int | float | np.number | Fraction):
            return self._graph.constant(each)
        refuse(f"any number of {type(each).__name__}s{_LENGTH}")

    # --- calls ------------------------------------------------------------------------------------------------

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's, by the table of what is known of any number of values."""
        args = tuple(each if _through(each) is None else self._drained(each) for each in args)
        if not any(map(_has_many, (*args, *keywords.values(), getattr(function, "__self__", None)))):
            return super().foreign(function, args, keywords)
        known = _KNOWN.get(id(function))
        name = getattr(function, "__name__", str(function))
        if known is not None and args and not any(map(_has_many, keywords.values())):
            try:
                return known[1](self, *args, **keywords)
            except TypeError:
                refuse(f"{name}() of any number of numbers, as it is called here{_LENGTH}")
        if id(function) in _EACH and not keywords:
            return self._mapped(tables.BY_IDENTITY[id(function)][1], *args)
        refuse(f"{name}() of any number of numbers is not known{_LENGTH}")

    def _mapped(self, apply: Callable[..., Any], *given: Any) -> Many:
        """Apply a function to each of any number of values, with numbers beside them."""
        many = self._alike(given)
        result = apply(*(each.each if isinstance(each, Many) else self._beside(each) for each in given))
        return many.like(self._value(result), is_array=True)

    def _alike(self, given: tuple[Any, ...]) -> Many:
        several = [each for each in given if isinstance(each, Many)]
        if any(isinstance(each.each, tuple) for each in several):
            refuse(f"an operation of tuples{_LENGTH}")
        if len({(each.steps, each.is_turned) for each in several}) != 1:
            refuse(f"lists of different lengths, or in different orders, together{_LENGTH}")
        return several[0]

    def _beside(self, value: Any) -> Any:
        if isinstance(value, bool | int | float | np.number | Fraction):
            return value
        if isinstance(value, Value) and self._graph.is_public(value):
            return value
        refuse(f"any number of numbers together with a {type(value).__name__}{_LENGTH}")

    # --- values -----------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        if not isinstance(owner, Many):
            return super().attribute(owner, name)
        if owner.is_array and name == "size" and not owner.steps:
            return self._count()
        if owner.is_array and name in _METHODS:
            return functools.partial(_METHODS[name], owner)
        refuse(f"the attribute {name!r} of any number of numbers{_LENGTH}")

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``: all but the first, or but the last."""
        if not isinstance(owner, Many):
            return super().item(owner, key)
        if isinstance(key, slice) and not owner.steps and self._is_data(owner):
            cut = key.start, key.stop, key.step
            if cut in ((1, None, None), (None, -1, None)):
                return Many(self._graph.node("var", int(cut[0] == 1)), is_array=owner.is_array, steps=True)
        refuse(f"a part of any number of numbers, but for x[1:] and x[:-1]{_LENGTH}")

    def _is_data(self, many: Many, which: int = 0) -> bool:
        each = many.each
        return not many.is_turned and isinstance(each, Value) and self._graph.nodes[each.place] == ("var", which)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``."""
        if _has_many((owner, key, value)):
            refuse(f"any number of numbers are changed{_LENGTH}")
        super().set_item(owner, key, value)

    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        if _has_many((owner, key)):
            refuse(f"any number of numbers are changed{_LENGTH}")
        super().delete_item(owner, key)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        if isinstance(owner, Many):
            refuse(f"any number of numbers are changed{_LENGTH}")
        super().set_attribute(owner, name, value)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        if _has_many((target, value)):
            refuse("any number of numbers are changed in place; write a = a + b")
        return super().inplace(name, target, value)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        if not _has_many((left, right)):
            return super().binary(name, left, right)
        if not any(isinstance(each, Many) and each.is_array for each in (left, right)):
            refuse(f"an operation of a list; write np.asarray(x){_LENGTH}")
        return self._mapped(functools.partial(self._operated, name), left, right)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``."""
        if not _has_many((left, right)) or (name in ("is_", "is_not") and (left is None or right is None)):
            return super().compare(name, left, right)
        if name not in tables.COMPARED:
            refuse(f"any number of numbers in a comparison{_LENGTH}")
        return self.binary(name, left, right)

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        if not isinstance(value, Many):
            return super().unary(name, value)
        if not value.is_array:
            refuse(f"an operation of a list; write np.asarray(x){_LENGTH}")
        return value.like(self._value(super().unary(name, value.each)))

    def truth(self, value: Any) -> Any:
        """``if a``: what any one number decides is no way of the function."""
        if isinstance(value, Many):
            refuse(f"whether there are any numbers, of a list of one or more; write len(x){_LENGTH}")
        if isinstance(value, Value):
            if self._graph.is_single(value):
                refuse(f"a branch on a single number; write np.where(condition, a, b), or a sum of conditions{_LENGTH}")
            if self._graph.is_public(value):
                truth = self._graph.settled(value)
                return refuse(f"a branch on how many numbers there are{_LENGTH}") if truth is None else truth
        return super().truth(value)

    def ended(self, value: Any) -> Any:
        """Release what a function returns."""
        if _has_many(value):
            refuse(f"it returns any number of numbers{_LENGTH}")
        return super().ended(value)

    # --- what is known of any number of values ------------------------------------------------------------------

    def _count(self) -> Value:
        return self._graph.node("count")

    def _reduced(self, kind: str, many: Any, *more: Any) -> Value:
        if not isinstance(many, Many) or isinstance(many.each, tuple):
            refuse(f"a sum, or the like, of tuples{_LENGTH}")
        if many.steps and kind != "total":
            refuse(f"what is no sum, of neighbours{_LENGTH}")
        return self._graph.node("steps" if many.steps else kind, self._value(many.each).place, *more)

    def total(self, many: Any, start: Any = 0) -> Any:
        """A sum."""
        return self._reduced("total", many) + self._beside(start)

    def mean(self, many: Any) -> Any:
        """A mean."""
        return self._reduced("total", self._whole(many)) / self._count()

    def _whole(self, many: Any) -> Any:
        return refuse(f"a mean of neighbours{_LENGTH}") if isinstance(many, Many) and many.steps else many

    def extreme(self, kind: str, many: Any) -> Any:
        """The largest or the smallest."""
        return self._reduced(kind, many)

    def truths(self, kind: str, many: Any) -> Any:
        """Whether any, or all, of conditions hold."""
        condition = tables._as_truth(many.each)
        return self._graph.truth(self._reduced(kind, many.like(self._value(condition))))

    def counted(self, many: Any) -> Any:
        """How many are not 0."""
        return self._reduced("total", many.like(self._value(tables._as_truth(many.each))))

    def product(self, many: Any) -> Any:
        """A product."""
        return self._reduced("product", many)

    def quantile(self, many: Any, q: Any, per: int = 1) -> Any:
        """A quantile, by linear interpolation."""
        if isinstance(q, list | tuple | np.ndarray):
            quantiles = np.empty(len(q), dtype=object)
            quantiles[:] = [self.quantile(many, each, per) for each in q]
            return self.made(quantiles)
        share = exactly(q) / per
        if not 0 <= share <= 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        return self._reduced("quantile", many, str(share))

    def norm(self, many: Any) -> Any:
        """The Euclidean length."""
        return self._reduced("total", self._mapped(lambda each: each * each, many)).called("sqrt")

    def dot(self, one: Any, other: Any) -> Any:
        """A sum of products."""
        return self._reduced("total", self._mapped(lambda a, b: a * b, one, other))

    def differences(self, many: Any) -> Any:
        """What each is less than the next."""
        if not (isinstance(many, Many) and not many.steps and self._is_data(many)):
            refuse(f"np.diff of what is not the data{_LENGTH}")
        graph = self._graph
        return Many(graph.node("var", 1) - graph.node("var", 0), is_array=True, steps=True)

    def neighbours(self, many: Any) -> Any:
        """Each with the next."""
        if not (isinstance(many, Many) and not many.steps and self._is_data(many)):
            refuse(f"neighbours of what is not the data{_LENGTH}")
        return Many((self._graph.node("var", 0), self._graph.node("var", 1)), is_array=False, steps=True)

    def together(self, one: Any, other: Any, *, strict: bool = False) -> Any:
        """``zip``: of one length, or a list with itself but for the first."""
        if not isinstance(one, Many) or not isinstance(other, Many):
            refuse(f"zip() of any number of numbers and others{_LENGTH}")
        if self._is_data(one) and not one.steps and other.steps and self._is_data(other, 1) and not strict:
            return self.neighbours(one)
        return self._alike((one, other)).like((one.each, other.each), is_array=False)

    def numbered(self, many: Any, start: Any = 0) -> Any:
        """``enumerate``."""
        if not isinstance(many, Many) or many.steps or many.is_turned or not isinstance(start, int):
            refuse(f"enumerate() of neighbours, or of a list backwards{_LENGTH}")
        place = self._graph.node("place") - (1 - start)
        return many.like((place, many.each), is_array=False)

    def backwards(self, many: Any) -> Any:
        """``reversed``: sums and the like have no order."""
        if not isinstance(many, Many) or many.steps:
            refuse(f"reversed() of neighbours{_LENGTH}")
        return Many(many.each, is_array=False, is_turned=not many.is_turned)

    def length(self, many: Many) -> Value:
        """``len``."""
        return self._count() - int(many.steps)

    def mapped(self, function: Any, many: Any) -> Any:
        """``map``."""
        if not isinstance(many, Many) or isinstance(many.each, tuple):
            refuse(f"map() of several lists{_LENGTH}")
        return self._drained(self.call(function, each) for each in _Through(self, many))


def _copied(domain: AnyLength, many: Any, dtype: Any = float, *, is_array: bool) -> Any:
    if dtype not in (float, np.float64):
        refuse(f"numbers of another type{_LENGTH}")
    return many.like(many.each, is_array=is_array) if isinstance(many, Many) else refuse("a list of lists")


def _table(**known: tuple[Any, ...]) -> dict[int, tuple[Any, Callable[..., Any]]]:
    return {id(function): (function, getattr(AnyLength, name)) for name, each in known.items() for function in each}


_KNOWN: dict[int, tuple[Any, Callable[..., Any]]] = {
    **_table(
        total=(sum,), mean=(np.mean, np.average, statistics.mean, statistics.fmean),
        counted=(np.count_nonzero,), product=(np.prod, math.prod), quantile=(np.quantile,), norm=(np.linalg.norm,),
        dot=(np.dot, np.vdot, np.inner), differences=(np.diff,), neighbours=(itertools.pairwise,), together=(zip,),
        backwards=(reversed,), numbered=(enumerate,), length=(len,), mapped=(map,),
    ),
    **{id(f): (f, lambda domain, x: domain.total(x)) for f in (np.sum, math.fsum)},
    **{id(f): (f, lambda domain, x: domain.extreme("largest", x)) for f in (max, np.max)},
    **{id(f): (f, lambda domain, x: domain.extreme("smallest", x)) for f in (min, np.min)},
    **{id(f): (f, lambda domain, x: domain.truths("largest", x)) for f in (any, np.any)},
    **{id(f): (f, lambda domain, x: domain.truths("smallest", x)) for f in (all, np.all)},
    **{id(f): (f, lambda domain, x: domain.quantile(x, Fraction(1, 2))) for f in (np.median, statistics.median)},
    id(np.percentile): (np.percentile, lambda domain, x, q: domain.quantile(x, q, 100)),
    **{id(f): (f, functools.partial(_copied, is_array=True)) for f in (np.array, np.asarray)},
    **{id(f): (f, functools.partial(_copied, is_array=False)) for f in (list, tuple)},
}  # fmt: skip
_EACH = {
    id(each) for each in (
        np.sqrt, np.exp, np.log, np.log2, np.log10, np.log1p, np.expm1, np.sin, np.cos, np.arctan, np.tanh, np.abs,
        np.sign, np.square, np.power, np.reciprocal, np.maximum, np.minimum, np.clip, np.where, np.greater, np.less,
        np.less_equal, np.greater_equal, np.logical_and, np.logical_or, np.logical_not,
    )
}  # fmt: skip
"""What NumPy does to each of any number of values."""
_METHODS: dict[str, Any] = {
    "sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod, "any": np.any, "all": np.all,
    "dot": np.dot, "copy": np.array, "tolist": list, "clip": np.clip,
}  # fmt: skip


def _has_many(value: Any) -> bool:
    if isinstance(value, Many):
        return True
    if isinstance(value, list | tuple | set):
        return any(map(_has_many, value))
    if isinstance(value, dict):
        return any(map(_has_many, value.values()))
    return tables.is_array(value) and any(map(_has_many, value.ravel().tolist()))


def _through(value: Any) -> _Through | None:
    """Return what a comprehension goes through that nobody went through yet, where that is any number of values."""
    if not isinstance(value, types.GeneratorType) or inspect.getgeneratorstate(value) != inspect.GEN_CREATED:
        return None
    source = None if value.gi_frame is None else value.gi_frame.f_locals.get(".0")
    return source if isinstance(source, _Through) else None


def read_any(
    function: Callable[..., Any], container: str, parameters: Mapping[str, Any], given: Mapping[str, Any]
) -> NumbersReading:
    """Read what a function releases of any number of numbers.

    Args:
        function, container, parameters, given: as for `dpaudit.reading.expressions.ways.read`.

    Raises:
        NotReadError: for what is not known, with the line.
        UnreadableError: for what no domain reads.
    """
    graph = Graph()
    first = graph.node("var", 0)

    def run(decided: dict[int, bool]) -> tuple[tuple[PlaceRelease, ...], Any]:
        domain = AnyLength(graph, decided)
        data = domain.made(Many(first, is_array=container == "array"))
        return returned(domain, function, data, parameters, given)

    releases, result = joined(graph, run)
    loose = [value for each in releases for value in each.values if graph.is_single(value)]
    if loose:
        raise NotReadError(f"{releases[0].line}: noise on each of any number of numbers{_LENGTH}")
    return NumbersReading(graph, 1, releases, result)


__all__ = ["AnyLength", "NumbersReading", "joined", "plain_numbers", "read", "read_any", "returned"]
