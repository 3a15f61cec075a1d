"""What does a function compute of n numbers? Each number of its data an expression, every operation a node.

A branch that the data decide is read on both ways, and what comes of them is one expression again: a where b holds, and
else c. Noise is added to expressions, and what is released is listed.
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.reading.draws import is_maker, is_seeder, source_of
from dpaudit.reading.expressions import tables
from dpaudit.reading.expressions.graph import (
    Graph,
    Noisy,
    NotReadError,
    PlaceRelease,
    Seen,
    ShownParts,
    UnaddedNoise,
    Value,
    exactly,
    noise_of,
    refuse,
)
from dpaudit.reading.expressions.selections import Coin, Flips, Largest, Order, drawn, flipped, picked, selected
from dpaudit.reading.python import OPERATION, Python
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.seeded import seeded_by
from dpaudit.reading.source import is_own, is_rewritten

_MOST_DECIDED = 60
MOST_WAYS = 256
"""Ways through a function that the data may decide."""
_ADDED = ("add", "sub")
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_CONTAINERS = (list, tuple, dict, set, np.ndarray)
_KEPT = frozenset((
    "append", "setflags", "setfield", "byteswap", "extend", "insert", "pop", "remove", "clear", "sort",
    "reverse", "update", "setdefault", "popitem", "add", "discard", "fill", "put", "itemset", "resize", "partition",
))  # fmt: skip
_READ = frozenset((
    "copy", "count", "index", "get", "keys", "values", "items", "join", "format", "split", "strip", "lower",
    "upper", "startswith", "endswith", "item", "astype", "round",
))  # fmt: skip
_PLAIN = str | bytes | int | float | complex | np.generic | None
_SHOWN = _PLAIN | Value | Seen | Noisy | UnaddedNoise
_BLANK = (np.zeros, np.ones, np.full, np.zeros_like, np.ones_like)  # which numbers of the data may be put into
_LAWS = {"laplace": "laplace", "gaussian": "gaussian", "gumbel": "gumbel", "exponential": "exponential"}


class Forked(BaseException):
    """The data decide which way the function goes."""

    def __init__(self, condition: Value) -> None:
        self.condition = condition


class GivenNoise:
    """Stands for the `noise` that a program asks for."""


class Expressions(Python):
    """Numbers of the data are expressions; what is public is what Python makes of it."""

    control = (UnreadableError, NotReadError, Forked)
    rewriter = Flips

    def __init__(self, graph: Graph, decided: Mapping[int, bool]) -> None:
        super().__init__()
        self._graph, self.decided, self.releases = graph, decided, list[PlaceRelease]()
        self._made: dict[int, tuple[Any, int]] = {}  # containers of this call, and when they were made
        self._start = self._effects = 0  # what was made since a function was called; what it changed of what was before
        self._seeded: tuple[int, Any] = (-1, None)
        self._steps, self._step = 0, 0  # items of random orders that were looked at, and the one that is

    def made(self, value: Any) -> Any:
        """Note a container that this call made, and may change."""
        if isinstance(value, _CONTAINERS) or hasattr(type(value), "__next__"):
            self._made[id(value)] = value, len(self._made)
        return value

    def _changes(self, owner: Any) -> None:
        if id(owner) not in self._made:
            refuse("what outlasts a call is changed; keep to values of the call")
        self._effects += self._made[id(owner)][1] < self._start

    def _passes(self, through: Any) -> Any:
        """Refuse to go through what another call goes on with, or through what has no order of its own."""
        if isinstance(through, Value | UnaddedNoise | Noisy):
            refuse("a number of the data where several values are needed")
        if isinstance(through, types.GeneratorType):
            is_known = through.gi_frame is None or is_rewritten(through.gi_frame)
            self._effects += inspect.getgeneratorstate(through) != inspect.GEN_CREATED
        else:
            is_iterator = hasattr(type(through), "__next__")
            is_known = not is_iterator or id(through) in self._made
            self._effects += is_iterator and is_known and self._made[id(through)][1] < self._start
        if not is_known:
            refuse("an iterator that outlasts a call")
        if isinstance(through, set | frozenset) and not all(isinstance(each, int | float) for each in through):
            refuse("a loop over a set, which has another order in each process; write sorted(…)")
        return through

    # --- calls ------------------------------------------------------------------------------------------------

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's, by the tables of known functions."""
        source = source_of(function)
        if source is not None:
            self._refuse_seeded(source)
            self._effects += 1
            if source.name == "shuffle" and args:
                self._changes(args[0])
            result = drawn(source, args, keywords, self.releases)
            if isinstance(result, UnaddedNoise):
                result.step = self._step
            return self.made(result)
        if is_seeder(function) or (is_maker(function) and (args or keywords)):
            refuse("noise with a fixed seed, which is no noise")
        if is_maker(function):
            return function()
        owner = getattr(function, "__self__", None)
        if isinstance(function, Seen):
            return self._made_of(function, "call", args, keywords)
        return self.made(self._called(function, owner, args, keywords))

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``; an object that is being made may be changed."""
        if type(function) is types.MethodType and function.__name__ == "__init__":
            self.made_object(function.__self__)
        if not is_own(function):
            return super().call(function, *args, **keywords)
        start, before = self._start, self._effects
        self._start = len(self._made)
        self._effects += _sets_outer(function.__code__)
        try:
            return super().call(function, *args, **keywords)
        except Forked as fork:
            if self._effects != before or any(hasattr(type(each), "__next__") for each in args):
                raise
            return self._both_ways(fork, function, args, keywords)
        finally:
            self._start = start

    def _both_ways(self, fork: Forked, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a function that changes nothing on both ways, and join what it returns."""
        decided, before, results = self.decided, self._effects, []
        self._graph.ways -= 1
        if self._graph.ways < 0:
            refuse("the data decide among too many ways; write np.where, or a smaller length")
        try:
            for way in (True, False):
                self.decided = {**decided, fork.condition.place: way}
                results.append(self.call(function, *args, **keywords))
        finally:
            self.decided = decided
        if self._effects != before:
            raise fork
        try:
            return _joined_numbers(self._graph, fork.condition, *results)
        except NotReadError:
            raise fork from None

    def made_object(self, value: Any) -> None:
        """Note an object of a user's class that this call made."""
        self._made[id(value)] = value, len(self._made)

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class."""
        made = super().construct(kind, *args, **keywords)
        self.made_object(made)
        return made

    def _refuse_seeded(self, source: Any) -> None:
        if self._seeded[0] != len(self._twins):
            self._seeded = len(self._twins), seeded_by(self._twins)
        if why := self._seeded[1].why(source):
            refuse(why)

    def _called(self, function: Any, owner: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        name = getattr(function, "__name__", str(function))
        if isinstance(function, _Noise):
            self._effects += 1
            return function(*args, **keywords)
        if id(function) in tables.STRUCTURAL:
            if any(map(callable, keywords.values())):
                refuse(f"{name}() with a function by its name; give it by its place")
            for each in args:
                self._passes(each)
            return super().foreign(function, self._asking(function, args), keywords)
        if function in (any, all) and len(args) == 1 and hasattr(type(args[0]), "__next__"):
            return self._until(function, args[0])
        args = tuple(
            list(self._passes(each)) if hasattr(type(each), "__next__") or isinstance(each, _VIEWS) else each
            for each in args
        )
        if function is isinstance and not _holds(args[0], Value, UnaddedNoise, Noisy, Seen, deep=False):
            return isinstance(*args)
        if isinstance(owner, list | dict | set | str | tuple) and name in _KEPT | _READ:
            return self._method(owner, name, function, args, keywords)
        given = (owner, *args) if type(owner) is np.ndarray else args
        everything = (*given, *keywords.values())
        if _is_argmax(function, owner) and any(_holds(each, Noisy) for each in everything):
            self._effects += 1
            return selected(list(np.asarray(given[0], dtype=object).ravel()), self.releases)
        if (
            function is max
            and len(args) == 1
            and (keywords.keys() == {"key"} or (not keywords and _holds(args, Noisy)))
        ):
            return self._largest(list(args[0]), keywords.get("key"))
        if _holds(everything, Noisy, UnaddedNoise, Seen):
            return self._with_noise(function, owner, name, args, keywords, everything)
        if _holds(everything, Value):
            return self._of_values(function, owner, name, given, args, keywords)
        module = getattr(function, "__module__", None) or type(owner).__module__
        is_pure = module.partition(".")[0] in tables.PURE and not module.startswith("numpy.random")
        if isinstance(owner, types.ModuleType):
            owner = None
        is_plain = owner is None or isinstance(owner, _PLAIN | np.ndarray | np.ufunc)
        into = "out" in keywords or (isinstance(function, np.ufunc) and len(args) > function.nin)
        if not (is_pure and is_plain) or into or name.startswith("__") or name in tables.NOT_PURE | _KEPT:
            refuse(f"{name}() of {module}, of which it is not known that it depends on its arguments alone")
        result = super().foreign(function, args, keywords)
        return result.astype(object) if function in _BLANK and result.dtype == float else result

    def _largest(self, items: list[Any], key: Any) -> Any:
        """``max`` of numbers with noise, of tuples that begin with one, or by one."""
        by = items if key is None else [self.call(key, each) for each in items]
        if key is None and all(isinstance(each, tuple) and each for each in items):
            by = [each[0] for each in items]
        if by and not _holds(by, Value, Noisy, UnaddedNoise, Seen):
            return items[max(range(len(by)), key=by.__getitem__)]
        if not all(isinstance(each, Noisy) and each.place == -1 for each in by):
            refuse("the largest of numbers of which some have no noise, or were seen before")
        self._effects += 1
        return Largest(items) if by is items else picked(items, by, self.releases)

    def _until(self, function: Any, values: Any) -> Any:
        """``any`` and ``all`` of an iterator, which is asked no further than the first answer."""
        truths: list[Any] = []
        for each in self._passes(values):
            if isinstance(each, Value):
                truths.append(each)
            elif bool(self.truth(each)) is (function is any):
                return function is any
        return tables.BY_IDENTITY[id(function)][1](truths) if truths else function is all

    def _asking(self, function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """What a builtin calls by itself asks this domain."""
        place = tables.CALLING.get(id(function))
        if place is None or len(args) <= place:
            return args
        called = args[place]
        if function is filter:
            return (lambda each: self.truth(each if called is None else self.call(called, each)), *args[1:])
        if is_own(called):
            return args
        return (*args[:place], lambda *given: self.call(called, *given), *args[place + 1 :])

    def _method(self, owner: Any, name: str, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if isinstance(owner, str) and _holds((*args, *keywords.values()), Value, Noisy, UnaddedNoise, Seen):
            if _holds((*args, *keywords.values()), Value):
                refuse("a number of the data is written into a text")
            return self._made_of(name, owner, args, keywords)
        if name in _KEPT:
            self._changes(owner)
        if _holds((owner, args), Value):
            if name == "sort" and not args and not keywords.keys() - {"reverse"}:
                owner[:] = tables.BY_IDENTITY[id(sorted)][1](owner, **keywords)
                return None
            if name in ("sort", "remove", "index", "count"):
                refuse(f"{name}() of numbers of the data; write sorted(x)[k], or a sum of conditions")
        elif _holds((owner, args), Noisy) and name == "index":
            if len(args) == 1 and isinstance(args[0], Largest) and args[0].is_of(owner):
                return selected(owner, self.releases)
            refuse("a place by the value of an output with noise; write np.argmax")
        return super().foreign(function, args, keywords)

    def _of_values(
        self, function: Any, owner: Any, name: str, given: tuple[Any, ...], args: tuple[Any, ...], keywords: Any
    ) -> Any:
        """Call a known function of values."""
        table = tables.known(function)
        if type(owner) is np.ndarray:
            table = tables.BY_METHOD.get(name)
        is_moved = id(function) in tables.BY_NUMPY or (type(owner) is np.ndarray and name in tables.METHODS)
        if table is None and not is_moved:
            if name == "astype" and args and args[0] in (float, np.float64, int, "float", "int", "float64"):
                return (
                    owner if args[0] not in (int, "int") or _are_truths(owner) else refuse("numbers cut to whole ones")
                )
            if name == "int" and len(args) == 1 and isinstance(args[0], Value) and args[0].graph.is_whole(args[0]):
                return args[0]
            if name == "bool" and len(args) == 1:
                return self.truth(args[0])
            if name in ("isnan", "isinf") and len(args) == 1:
                return False if isinstance(args[0], Value) else np.zeros(np.shape(args[0]), dtype=bool)
            refuse(f"{name}() of numbers of the data is not known")
        if keywords.get("dtype") in (float, np.float64):
            keywords = {key: value for key, value in keywords.items() if key != "dtype"}
        if "out" in keywords or "dtype" in keywords or "where" in keywords:
            refuse(f"{name}() with out, dtype or where")
        try:
            if table is not None:
                return table(*given, **keywords)
            arrays = [
                np.asarray(each, dtype=object) if _holds(each, Value) and name in _TAKES_ARRAYS else each
                for each in args
            ]
            return function(*arrays, **keywords)
        except (NotReadError, UnreadableError) as error:
            refuse(str(error))
        except (TypeError, AttributeError, ValueError, IndexError) as error:
            refuse(f"{name}() of numbers of the data: {error}")

    def _with_noise(
        self, function: Any, owner: Any, name: str, args: tuple[Any, ...], keywords: Any, everything: Any
    ) -> Any:
        """Call a function of numbers with noise: they are seen, and what is made of them says no more."""
        if name in _ONLY_MOVES and (id(function) in tables.BY_NUMPY or type(owner) is np.ndarray):
            return super().foreign(function, args, keywords)
        if _holds(everything, Value):
            refuse(f"{name}() of numbers with noise and numbers of the data together")
        if function is sum and _holds(args, UnaddedNoise):
            refuse("a sum of several draws of noise")
        module = getattr(function, "__module__", None) or type(owner).__module__
        if module.partition(".")[0] not in tables.PURE or name in tables.NOT_PURE:
            refuse(f"{name}() of {module}, of which it is not known that it depends on its arguments alone")
        return self._made_of(name, module, everything, tuple(keywords))

    def _made_of(self, *parts: Any) -> Seen:
        """What is made of outputs with noise, and of public values."""
        return Seen(*map(self._form, parts))

    def _form(self, value: Any) -> Any:
        """Return what tells how a value came about; of what cannot be told, something that is like nothing else."""
        if isinstance(value, set | frozenset):
            return object()
        if type(value) is np.ndarray:
            return "array", value.shape, tuple(map(self._form, value.ravel().tolist()))
        if not isinstance(value, list | tuple | dict):
            value = self._see(value)
        if isinstance(value, Seen):
            return value.form
        if isinstance(value, list | tuple):
            return type(value).__name__, tuple(map(self._form, value))
        if isinstance(value, dict):
            return "dict", tuple((self._form(key), self._form(each)) for key, each in value.items())
        return (
            repr(value)
            if isinstance(value, str | bytes | int | float | types.NoneType | np.generic | type)
            else object()
        )

    def _see(self, value: Any) -> Any:
        """Release all of a value that has noise."""
        self._effects += isinstance(value, Noisy | UnaddedNoise)
        if isinstance(value, Noisy):
            return value.seen(self.releases)
        if isinstance(value, UnaddedNoise):
            return Noisy(self._graph.constant(0), value).seen(self.releases)
        if isinstance(value, list | tuple | set):
            return [self._see(each) for each in value]
        if isinstance(value, dict):
            return [self._see(each) for each in value.values()]
        return [self._see(each) for each in value.ravel()] if tables.is_array(value) else value

    # --- values -----------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        if isinstance(owner, Seen | Noisy):
            return self._made_of("attribute", owner, name)
        if isinstance(owner, GivenNoise):
            return _Noise(_LAWS[name]) if name in _LAWS else refuse(f"noise.{name}")
        if isinstance(owner, Value | UnaddedNoise) or (
            tables.is_array(owner) and name in ("dtype", "flags", "data", "nbytes")
        ):
            refuse(f"the attribute {name!r} of a number of the data")
        if name in ("__init__", "__setattr__", "__dict__") and type(owner) is not super:
            refuse(f"the attribute {name!r}, by which an object may be changed that outlasts a call")
        return super().attribute(owner, name)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        self._changes(owner)
        super().set_attribute(owner, name, value)

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        if isinstance(owner, Seen) or isinstance(key, Seen):
            if _holds((owner, key), Value):
                refuse("a number of the data by an output with noise")
            return self._made_of("item", owner, key)
        if isinstance(owner, Value | Noisy | UnaddedNoise):
            refuse("a part of one number")
        if _holds(key, Value, Noisy, UnaddedNoise):
            refuse("a choice of records by numbers of the data; write np.where(condition, x, 0)")
        return self.made(super().item(owner, key))

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``."""
        self._changes(owner)
        if _holds(key, Value, Noisy, Seen):
            refuse("a place by a number of the data; write np.where(condition, a, b)")
        if type(owner) is np.ndarray and owner.dtype != object and _holds(value, Value, Noisy, UnaddedNoise, Seen):
            refuse("a number of the data put into an array of plain numbers; write np.array([…])")
        super().set_item(owner, key, value)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        if not _holds((left, right), Value, UnaddedNoise, Noisy, Seen):
            return self.made(super().binary(name, left, right))
        if isinstance(left, list | tuple) and isinstance(right, list | tuple | int):
            return self.made(super().binary(name, left, right))
        if name == "matmul":
            return self.foreign(np.matmul, (left, right), {})
        return self.made(self._each(lambda a, b: self._operated(name, a, b), left, right))

    def _each(self, apply: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        if type(left) is np.ndarray or type(right) is np.ndarray:
            return tables.each(apply, left, right)
        return apply(left, right)

    def _operated(self, name: str, a: Any, b: Any) -> Any:
        if isinstance(a, Noisy | Seen | UnaddedNoise) or isinstance(b, Noisy | Seen | UnaddedNoise):
            return self._noised(name, a, b)
        try:
            return (tables.COMPARED.get(name) or OPERATION[name])(a, b)
        except (NotReadError, TypeError, AttributeError, OverflowError, ZeroDivisionError) as error:
            refuse(str(error))

    def _noised(self, name: str, a: Any, b: Any) -> Any:
        """An operation of noise, or of what has some."""
        draw = a if isinstance(a, UnaddedNoise) else b if isinstance(b, UnaddedNoise) else None
        other = b if draw is a else a
        if isinstance(draw, Coin) and name == "eq" and isinstance(other, int) and other == 1:
            return draw
        if draw is not None and draw.law == "uniform" and isinstance(other, Value):
            if name not in (("lt", "le") if draw is a else ("gt", "ge")) or draw.scale != 1 or draw.shift:
                refuse("a uniform number with a number of the data, other than in rng.random() < p")
            draw.use()
            return Coin(other, draw.step)
        if draw is not None and isinstance(other, Value) and name in _ADDED:
            minus = name == "sub"
            if minus and draw.law not in ("laplace", "gaussian"):
                refuse(f"minus {draw.law} noise")
            if minus:
                draw = draw.times(-1) if draw is b else draw
                other = -other if draw is a else other
            return Noisy(other, draw)
        if draw is not None and isinstance(other, int | float | np.number):
            if name in _ADDED:
                first = draw.times(-1) if name == "sub" and draw is b else draw
                return first.plus(-other if name == "sub" and draw is a else other)
            if name == "mul" or (name == "truediv" and draw is a):
                return draw.times(other if name == "mul" else 1 / exactly(other))
        if _holds((a, b), Value):
            refuse("a number of the data together with an output that has noise, or noise times such a number")
        if isinstance(a, UnaddedNoise) and isinstance(b, UnaddedNoise):
            refuse("a sum of several draws of noise")
        return self._made_of(name, a, b)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``."""
        if name in ("is_", "is_not"):
            if left is not None and right is not None and _holds((left, right), Value, Noisy, Seen):
                refuse("a number of the data is compared by identity; write ==")
            return super().compare(name, left, right)
        if name in ("in_", "not_in") and _holds((left, right), Value, Noisy, Seen):
            refuse("membership of a number of the data; compare it: (x == a) | (x == b)")
        return super().compare(name, left, right)

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        if isinstance(value, UnaddedNoise):
            return self._noised("sub", 0, value)
        if isinstance(value, Noisy | Seen):
            return self._made_of(name, value)
        if tables.is_array(value):
            return self.made(tables.each(lambda one: self.unary(name, one), value))
        try:
            return super().unary(name, value)
        except NotReadError as error:
            refuse(str(error))

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        if not isinstance(target, _SHOWN | tuple | np.ndarray):
            self._changes(target)
            return super().inplace(name, target, value)
        if type(target) is np.ndarray:
            self._changes(target)
            result = self.binary(name, target, value)
            if np.shape(result) != target.shape or (target.dtype != object and tables.is_array(result)):
                refuse("an array is changed in place to what it cannot hold; write a = a + b")
            target[...] = result
            return target
        if _holds((target, value), Value, UnaddedNoise, Noisy, Seen):
            return self.binary(name, target, value)
        return super().inplace(name, target, value)

    def truth(self, value: Any) -> Any:
        """``if a``: both ways, where the data decide."""
        if isinstance(value, Noisy | Seen | UnaddedNoise) or (
            tables.is_array(value) and _holds(value, Noisy, Seen, UnaddedNoise)
        ):
            refuse("a branch on an output with noise; return it, and decide outside of the function")
        if tables.is_array(value) and value.size == 1:
            value = value.ravel()[0]
        if not isinstance(value, Value):
            if tables.is_array(value):
                refuse("the truth of an array; write np.any or np.all")
            return super().truth(value)
        condition = tables._as_truth(value)
        if not isinstance(condition, Value):
            return bool(condition)
        if condition.constant is not None:
            return bool(condition.constant)
        if condition.place not in self.decided:
            if len(self.decided) >= _MOST_DECIDED:
                refuse("a loop that the data end, or too many branches on one way; write np.where, or np.sum")
            raise Forked(condition)
        return self.decided[condition.place]

    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        if _holds(value, Value):
            refuse("a number of the data is written into a text")
        if _holds(value, Seen, Noisy, UnaddedNoise):
            return self._made_of("format", value, conversion, specification)
        return super().format(value, conversion, specification)

    def join(self, parts: list[Any]) -> Any:
        """The parts of a text."""
        return self._made_of("join", parts) if _holds(parts, Seen) else super().join(parts)

    def is_order(self, value: Any) -> bool:
        """Whether a loop goes through a random order."""
        return Order.of(value) is not None

    def forgotten(self) -> UnaddedNoise:
        """What a loop through a random order computed for one of its items, and nobody may see."""
        return UnaddedNoise("forgotten", Fraction(1))

    def first(self, through: Any, flip: Callable[[Any], Any]) -> Seen:
        """Return the item of a random order whose coin is the first that shows its head."""
        order, chances = Order.of(through), []
        assert order is not None
        for item in order.items:
            self._steps += 1
            before = self._start, self._effects, self._step
            self._start, self._step = len(self._made), self._steps
            try:
                coin = flip(item)
            except self.control:
                raise
            except Exception as error:
                refuse(f"a loop through a random order: {error}")
            finally:
                has_effects = self._effects != before[1] + 1  # but for the coin
                self._start, _, self._step = before
            if has_effects or not isinstance(coin, Coin) or coin.step != self._steps:
                refuse(
                    "a loop through a random order that does more than to compute a chance, and to flip a coin by it"
                )
            chances.append(coin.chance)
        return flipped(order, chances, self.releases)

    def iterate(self, value: Any) -> Any:
        """``for x in a``."""
        return super().iterate(self._passes(value))

    def key(self, value: Any) -> Any:
        """What a dict or set goes by."""
        if _holds(value, Value, Noisy, UnaddedNoise, Seen):
            refuse("a key that is a number of the data, or made of one")
        return value

    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        self._changes(owner)
        super().delete_item(owner, key)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        self._changes(owner)
        super().delete_attribute(owner, name)

    def new(self, value: Any) -> Any:
        """A list, set or dict that was written down."""
        return self.made(value)

    def ended(self, value: Any) -> Any:
        """Release what a function returns; what has no noise is returned."""
        kind = type(value)
        if isinstance(
            value,
            str | bytes | int | float | complex | np.generic | Value | Seen | Noisy | UnaddedNoise | types.NoneType,
        ):
            return self._see(value)
        if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(kind, "_fields")):
            return ShownParts(kind, map(self.ended, value))
        if kind is dict:
            return ShownParts((kind, *map(self._form, value)), map(self.ended, value.values()))
        if kind is np.ndarray:
            return ShownParts((kind, value.shape, str(value.dtype)), map(self.ended, value.ravel().tolist()))
        raise NotReadError(f"it returns a {kind.__name__}; known are numbers, arrays, lists and dicts")


class _Noise:
    """A method of the `noise` of a program."""

    def __init__(self, law: str) -> None:
        self._law = law

    def __call__(self, scale: Any = 1) -> Any:
        return noise_of(self._law, scale)


_ONLY_MOVES = frozenset((
    "asarray", "array", "copy", "ravel", "reshape", "concatenate", "stack", "append", "tolist", "flatten", "size",
    "shape", "ndim", "transpose",
))  # fmt: skip
_TAKES_ARRAYS = frozenset(tables.ARITHMETIC) - {"concatenate", "stack", "hstack", "vstack", "column_stack"}


@functools.cache
def _sets_outer(code: types.CodeType) -> bool:
    """Whether a function, or one within it, sets a variable of the function around it."""
    stored = {each.argval for each in dis.get_instructions(code) if each.opname in ("STORE_DEREF", "DELETE_DEREF")}
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return bool(stored & set(code.co_freevars)) or any(map(_sets_outer, inner))


def _joined_numbers(graph: Graph, condition: Value, one: Any, other: Any) -> Any:
    """Join what a function returned on two ways: numbers, or lists and tuples of them."""
    if isinstance(one, list | tuple) and type(one) is type(other) and len(one) == len(other):
        return type(one)(_joined_numbers(graph, condition, a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, bool | int | float | Value) and isinstance(other, bool | int | float | Value):
        return chosen_value(graph, condition, one, other)
    raise NotReadError("the data decide what is returned")


def chosen_value(graph: Graph, condition: Value, one: Any, other: Any) -> Any:
    one, other = condition.of(one), condition.of(other)
    return graph.chosen(condition, one, other)


def _is_argmax(function: Any, owner: Any) -> bool:
    return function is np.argmax or (type(owner) is np.ndarray and getattr(function, "__name__", "") == "argmax")


def _are_truths(value: Any) -> bool:
    return all(not isinstance(each, Value) or each.graph.is_whole(each) for each in np.ravel(value))


def _holds(value: Any, *kinds: type, deep: bool = True) -> bool:
    """Whether a value is of these kinds, or a container of such."""
    if isinstance(value, kinds):
        return True
    if not deep:
        return False
    if isinstance(value, list | tuple | set):
        return any(_holds(each, *kinds) for each in value)
    if isinstance(value, dict):
        return any(_holds(each, *kinds) for each in value.values())
    return tables.is_array(value) and any(_holds(each, *kinds) for each in value.ravel().tolist())


__all__ = ["MOST_WAYS", "Expressions", "Forked", "GivenNoise"]
