"""What does a call do with private, released and public values? The function is found in the tables, or refused."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import functools
import inspect
import logging
import random
import sys
import time
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading import dispatch
from dpaudit.reading.draws import is_maker, is_seeder, source_of
from dpaudit.reading.seeded import has_fixed_seed, seeded_by
from dpaudit.reading.source import is_own
from dpaudit.reading.universe import calls, column_methods, decisions, library_calls, operators, records, sizes, vectors
from dpaudit.reading.universe.base import UncalledMethod, hook, is_natural, naturally, runs
from dpaudit.reading.universe.columns import Column, ListedColumn
from dpaudit.reading.universe.frames import Frame, made_of
from dpaudit.reading.universe.noise import Draw, drawn
from dpaudit.reading.universe.numbers import Number, stacked
from dpaudit.reading.universe.operators import Operators
from dpaudit.reading.universe.state import (
    ANY,
    LESSONS,
    NOISE_FIRST,
    Left,
    Private,
    RefusalError,
    refuse,
    refuse_by_name,
    refuse_raising,
)
from dpaudit.reading.universe.values import (
    OF_EACH,
    PRIVATE,
    PUBLIC,
    REDUCING,
    RELEASED,
    SHAPED,
    Token,
    array,
    combined,
    is_of_numbers,
    is_of_users_class,
    number,
    refuse_order,
    refuse_uncertain,
    shaped,
    sort_of,
)

QUIET = frozenset(("ignore", "warn"))
"""What NumPy does at most where it could raise."""
_CONTEXT_HELPER = contextlib.contextmanager(lambda: iter(())).__code__

_MAKES_ITERATORS = {id(each) for each in (zip, map, filter, enumerate, reversed)} | set(calls.ITERATING)
_ITERATORS: tuple[type, ...] = (
    types.GeneratorType,
    enumerate,
    zip,
    map,
    filter,
    type(iter([])),
    type(iter(())),
    type(iter(range(0))),
)

_NEVER_RAISING = frozenset(("len", "float", "int", "list", "map", "zip", "filter", "isinstance", "iter", "tuple"))
"""Builtins that raise of no private value of which they are read."""
_ASKING = (max, min, sum, sorted, any, all, next, getattr, str, repr, format, functools.reduce)
"""Functions that ask the domain of each of their operands, or look at those alone that they give."""
_OF_VALUES = frozenset(("builtins", "collections", "numpy", "pandas", "scipy", "statistics"))
"""Modules whose functions have a lesson by name."""


class Calls(Operators):
    """Calls of functions of the user, of libraries, and of methods."""

    @hook
    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``."""
        if function is len and len(args) == 1 and id(args[0]) in self.state.filled:
            return len(args[0])
        args = tuple(map(self.seen, args))
        keywords = {name: self.seen(each) for name, each in keywords.items()}
        kind = type(function)
        if self.state.followed and (result := decisions.chosen(self.state, function, args, keywords)) is not None:
            return result
        if kind is UncalledMethod:
            return self._method(function.owner, function.name, args, keywords)
        if kind is Token:
            if any(sort_of(each) == PRIVATE for each in (*args, *keywords.values())):
                refuse("a private value that is handed to something released", NOISE_FIRST)
            self.unasked(args, keywords)
            self.raises("any")
            return Token()
        if issubclass(kind, Private):
            refuse(f"a call of a {function.noun}")
        if kind is types.FunctionType and function.__code__ is _CONTEXT_HELPER:
            inner = function.__wrapped__
            return contextlib._GeneratorContextManager(self.twin(inner) if is_own(inner) else inner, args, keywords)
        if isinstance(function, type) and issubclass(function, enum.Enum):
            if is_own(getattr(dispatch.in_class(function, "_missing_"), "__func__", None)):
                refuse(f"{function.__name__}._missing_", "a dict of the members")
            if sort_of((args, keywords)) == PRIVATE:
                refuse(f"a {function.__name__} of a private value", NOISE_FIRST)
            if sort_of((args, keywords)) == RELEASED:
                self.unasked(args)
                self.raises("any")
                return Token()
            return self._public(function, args, keywords)
        if isinstance(function, type) and is_of_users_class(function):
            return self.construct(function, *args, **keywords)
        if args and not keywords and (function is iter or function is next):
            return self.foreign(function, args, keywords)
        result = super().call(function, *args, **keywords)
        makes = id(function) in _MAKES_ITERATORS or inspect.isgeneratorfunction(getattr(function, "__func__", function))
        return self.born(result) if makes and not any(result is each for each in args) else result

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class."""
        if not is_of_users_class(kind):
            refuse(f"the class {kind.__name__}, which is made of what is not read")
        if is_own(dispatch.in_class(kind, "__del__")):
            refuse(f"{kind.__name__}.__del__, which Python calls when nobody knows", "with, and __exit__")
        new = dispatch.in_class(kind, "__new__")
        if is_own(getattr(new, "__func__", new)):
            refuse(f"{kind.__name__}.__new__", "__init__")
        init = dispatch.in_class(kind, "__init__")
        if init is object.__dict__["__init__"]:
            is_looked_at = issubclass(kind, int | str) or (issubclass(kind, tuple) and not hasattr(kind, "_fields"))
            if is_looked_at and sort_of((args, keywords)) != PUBLIC:
                refuse(f"a {kind.__name__} of what is not public, of which it keeps a text or a number", "a dataclass")
            made: Any = naturally(kind, *args, **keywords)
        elif is_own(init):
            is_error = issubclass(kind, BaseException)  # which keeps what it is made of
            made = BaseException.__new__(kind, *args) if is_error else object.__new__(kind)
            self.born(made)
            self.call(init, made, *args, **keywords)
            return made
        elif (
            hasattr(kind, "__dataclass_fields__")
            and isinstance(init, types.FunctionType)
            and init.__code__.co_filename == "<string>"
        ):
            return self._dataclass(kind, init, args, keywords)
        elif issubclass(kind, BaseException):
            made = naturally(kind, *args, **keywords)
        else:
            refuse(f"how an object of the class {kind.__name__} is made")
        return self.born(made)

    def _dataclass(self, kind: Any, init: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A dataclass: its fields, with what their factories make, and ``__post_init__`` rewritten."""
        given = naturally(inspect.signature(init).bind, None, *args, **keywords)
        made = object.__new__(kind)
        self.born(made)
        later = []
        for each in dataclasses.fields(kind):
            if each.init and each.name in given.arguments:
                value = given.arguments[each.name]
            elif each.default is not dataclasses.MISSING:
                value = each.default
            elif each.default_factory is not dataclasses.MISSING:
                value = self.call(each.default_factory)
            else:
                continue
            object.__setattr__(made, each.name, value)
        for name, each in kind.__dataclass_fields__.items():
            if each._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
                later.append(given.arguments.get(name, each.default))
        after = dispatch.method(made, "__post_init__")
        if after is not None:
            self.call(after, *later)
        return made

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's; what is released, and was not computed, asked none of its operands."""
        result = self._foreign(function, args, keywords)
        if type(result) is Token and not any(function is each for each in _ASKING):
            self.unasked(args, keywords, getattr(function, "__self__", None))
        return result

    def _foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        kind = type(function)
        name = getattr(function, "__name__", kind.__name__)
        if is_seeder(function):
            refuse("a fixed seed: the noise is the same in every run, which is none", "no call of seed")
        if is_maker(function):
            return self._maker(function, args, keywords)
        source = source_of(function)
        if source is not None:
            if self.state.record and self.state.of_key is None:
                refuse("a draw for each record", "noise on the sum, or a sample: df[np.random.random(len(df)) < 0.1]")
            self._not_seeded(source)
            return drawn(source, args, keywords)
        handled = calls.BUILTINS.get(id(function))
        if handled is not None:
            if self.state.attempts and handled not in _NEVER_RAISING and sort_of((args, keywords)) == PRIVATE:
                self.raises("any")
            return getattr(self, f"b_{handled}", functools.partial(self._plain_builtin, function))(*args, **keywords)
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType) and not isinstance(function, type):
            return self._method_of_public(function, owner, name, args, keywords)
        if kind.__module__.startswith("scipy.stats") and hasattr(function, "rvs"):
            if sort_of((args, keywords)) != PUBLIC:
                refuse("a distribution with arguments that are not public", "a public scale")
            return function(*args, **keywords)
        if function is functools.reduce:
            return self._reduce(*args, **keywords)
        if function is functools.partial or function in (dataclasses.dataclass, dataclasses.field):
            return naturally(function, *args, **keywords)
        if function is dataclasses.asdict and len(args) == 1 and not keywords:
            return self._as_dict(args[0])
        module = getattr(function, "__module__", "") or ""
        if module == "time" and name in calls.CLOCK:
            return number("float")
        logs = type(function) is types.FunctionType and module == "logging" and name in (*calls.LOGGING, "getLogger")
        if function is warnings.warn or (logs and function is getattr(logging, name)):
            return self._quiet(function, args, keywords)
        if function is np.errstate and not args and set(keywords.values()) <= QUIET:
            return self.born(np.errstate(**keywords))
        if function is warnings.catch_warnings and not args and not keywords:
            return self.born(warnings.catch_warnings())
        if (function is warnings.simplefilter or function is warnings.filterwarnings) and args[:1] == ("ignore",):
            return None
        if function is time.sleep:
            if sort_of((args, keywords)) == PRIVATE:
                refuse("a pause as long as something private says", "a pause that is the same for all data")
            return None
        if id(function) in calls.ITERATING:
            if name == "islice" and sort_of(args[1:]) != PUBLIC:
                refuse("islice() up to what is not public", "a constant")
            return function(*[self.iterate(each) if not isinstance(each, int) else each for each in args], **keywords)
        if kind is types.FunctionType and name in ("wraps", "update_wrapper") and module == "functools":
            refuse("functools.wraps within the function", "the decorator without it")
        special = sys.modules.get("scipy.special") if module.startswith("scipy.special") else None
        if special is not None and name in library_calls.SCIPY and function is getattr(special, name, None):
            if sort_of((args, keywords)) == PRIVATE:
                return self._with_signature(library_calls.SCIPY[name], name, args, keywords)
            return self._public(function, args, keywords) if sort_of((args, keywords)) == PUBLIC else Token()
        row = calls.pure(function)
        if row is None:
            if name in LESSONS and module.split(".")[0] in _OF_VALUES and sort_of((args, keywords)) == PRIVATE:
                refuse_by_name(name, "private values")
            refuse(
                f"what {module + '.' if module not in ('', 'builtins') else ''}{name} does is not known here",
                "a function of NumPy, pandas or the standard library that is",
            )
        return self._row(function, row, args, keywords)

    def _row(self, function: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A function whose result is made of its arguments alone."""
        sort = sort_of((args, keywords))
        bad = calls.NEVER & keywords.keys() - ({"default"} if name == "select" else set())
        of_numpy = isinstance(function, np.ufunc) or getattr(function, "__module__", "") in ("numpy", "numpy.linalg")
        if (
            bad
            or (isinstance(function, np.ufunc) and len(args) > function.nin)
            or (of_numpy and len(args) > calls.POSITIONAL.get(name, 9))
        ):
            refuse(
                f"{name} with {', '.join(sorted(bad)) or 'an argument that may be changed'}", f"the result of {name}"
            )
        if name in ("copy", "deepcopy"):
            return self._copied(args[0], name) if len(args) == 1 and not keywords else refuse(f"{name} in this form")
        if sort == PRIVATE:
            return self._row_of_private(function, name, args, keywords)
        if sort == PUBLIC:
            return self._public(function, args, keywords)
        if name == "SimpleNamespace":
            return self.born(function(*args, **keywords))
        if (many := sizes.called(function, name, args, keywords)) is not None:
            return many
        self.raises("any")
        first = self.seen(args[0]) if len(args) == 1 and not keywords else None
        is_alone = isinstance(first, Token) and first.is_array
        if of_numpy and (choice := decisions.of_numbers(first, name)) is not None:
            return choice
        if of_numpy and name in REDUCING and is_alone:
            return number("np.float64")
        if (
            isinstance(function, np.ufunc)
            and len(args) == 2
            and name in ("maximum", "minimum", "add", "subtract", "multiply", "divide")
        ):
            return combined({"subtract": "sub", "multiply": "mul", "divide": "truediv"}.get(name, "add"), *args)
        if of_numpy and name == "lstsq":
            solution = shaped(lambda *given, **named: function(*given, **named)[0], args, keywords)
            return solution, Token(), Token(), Token()
        if of_numpy and (name in SHAPED or (name == "where" and len(args) == 3)):
            return shaped(function, args, keywords)
        self._certain(args, keywords)
        return Token()

    def _public(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Python or a library does it, with callbacks rewritten."""
        if function is not frozenset:
            refuse_order(args, keywords)
        given = [self._callback(each) for each in args]
        named = {name: self._callback(each) for name, each in keywords.items()}
        return self.fresh(naturally(function, *given, **named), *args, *keywords.values())

    def _callback(self, value: Any) -> Any:
        return functools.partial(self.call, value) if runs(value) and not isinstance(value, type) else value

    def _row_of_private(self, function: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        module = (getattr(function, "__module__", "") or "").split(".")[0]
        if isinstance(function, np.ufunc) or module == "numpy":
            args = tuple(each.as_array() if isinstance(each, ListedColumn) else each for each in args)
            if name == "norm" and args and isinstance(args[0], Number | Column | Frame) and "axis" not in keywords:
                return self._with_signature(library_calls.np_norm, name, args, keywords)
            if name == "norm" or any(isinstance(each, vectors.OF_ROWS) for each in args):
                return vectors.of_numpy(name, args, keywords)
            if any(isinstance(each, Token) for each in args) and any(isinstance(each, Column) for each in args):
                return vectors.of_numpy(name, args, keywords)
            row = library_calls.NUMPY.get(name)
            if row is not None and any(isinstance(each, Draw) for each in args) and name in library_calls.OF_OPERATORS:
                return self.binary(library_calls.OF_OPERATORS[name], *args)
        elif module == "pandas":
            row = library_calls.PANDAS.get(name)
            if function in (pd.Series, pd.DataFrame):
                return self._table(function, args, keywords)
        elif name == "SimpleNamespace" and not args:
            return self.born(function(**keywords))
        elif function is collections.Counter and len(args) == 1 and not keywords:
            return column_methods.tally(args[0])
        else:
            row = library_calls.MATH.get(name) if module == "math" else None
        if row is None:
            refuse_by_name(name, "private values")
        return self._with_signature(row, name, args, keywords)

    def _table(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A series or frame of private numbers."""
        given: Any = args[0] if args else None
        is_series = function is pd.Series and len(args) == 1 and type(given) is dict and not keywords and given
        if is_series and all(isinstance(each, Number) and not each.shape for each in given.values()):
            table = stacked(given.values())
            return table.same(labels=pd.Index(list(given)))
        if function is pd.DataFrame and len(args) == 1 and type(given) is dict and not keywords:
            return made_of(given)
        return refuse("a table of private values", "noise on each of them first")

    def _with_signature(
        self, function: Callable[..., Any], name: str, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Call a row of a table, whose signature says which arguments are read."""
        self.raises("any")
        try:
            owner = [function.__self__] if isinstance(function, types.MethodType) else []
            _signature(getattr(function, "__func__", function)).bind(*owner, *args, **keywords)
        except TypeError:
            shown = ", ".join([f"{each}=" for each in keywords]) or f"{len(args)} arguments"
            refuse(f"{name} with {shown}, which is read as {_form(function, name)}", LESSONS.get(name, ("", ANY))[1])
        for each in (*args[1:], *keywords.values()):
            if (
                isinstance(each, list | dict | tuple)
                and sort_of(each) == PRIVATE
                and name
                not in ("select", "stack", "concatenate", "array", "asarray", "assign", "agg", "pipe", "aggregate")
            ):
                refuse(f"{name} with a collection of private values")
        try:
            return function(*args, **keywords)
        except (RefusalError, Left):
            raise
        except IndexError:
            raise
        except Exception as error:
            if is_natural(error):
                raise
            return refuse(f"{name} in a form that is not known here ({type(error).__name__}: {str(error)[:80]})")

    def _maker(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        seed = [each for each in (*args, *keywords.values()) if each is not None]
        if function in (np.random.Generator,) or seed:
            refuse("a fixed seed: the noise is the same in every run, which is none", "np.random.default_rng()")
        made = function()
        self._made_generators.append(made)
        return made

    def _not_seeded(self, source: Any) -> None:
        """Refuse a generator of which it is not known that it was made without a seed, and by itself."""
        owner = source.owner
        if any(owner is each for each in self._made_generators):
            return
        if source.has_own_state:
            refuse("a distribution with a random_state of its own, which may be a fixed seed", "np.random.laplace()")
        if self._seeded is None or self._seeded[0] != len(self._twins):
            self._seeded = len(self._twins), seeded_by(self._twins)
        if why := self._seeded[1].why(source):
            refuse(why, "no seed there, or np.random.default_rng(0) for what is no noise")
        if isinstance(owner, np.random.Generator):
            seeds = owner.bit_generator.seed_seq
            entropy = getattr(seeds, "entropy", None)
            if has_fixed_seed(owner):
                refuse(
                    "a generator with a fixed seed: the noise is the same in every run, which is none",
                    "np.random.default_rng()",
                )
            known = self._generators.setdefault((entropy, getattr(seeds, "spawn_key", ())), owner)
            if known is not owner:
                refuse("a copy of a generator, which draws the same noise again", "one generator")
        elif isinstance(owner, np.random.RandomState | random.Random):
            is_shared = owner is np.random.mtrand._rand or owner is getattr(random, "_inst", None)
            if (
                not is_shared
                and type(owner) is not random.SystemRandom
                and not any(owner is each for each in self._made_generators)
            ):
                refuse("a generator of which it is not known whether it has a fixed seed", "np.random.default_rng()")

    def _as_dict(self, value: Any) -> Any:
        """``dataclasses.asdict``: of lists, tuples, dicts and dataclasses a copy, all else as it is."""
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self.born(
                {each.name: self._as_dict(self.attribute(value, each.name)) for each in dataclasses.fields(value)}
            )
        if type(value) in (list, tuple):
            return (
                self.born([self._as_dict(each) for each in value])
                if type(value) is list
                else tuple(map(self._as_dict, value))
            )
        if type(value) is dict:
            return self.born({key: self._as_dict(each) for key, each in value.items()})
        if isinstance(value, Token | Number | int | float | str | None):
            return value
        return refuse(f"dataclasses.asdict of a {type(value).__name__}", "a dict of what is released")

    def _reduce(self, function: Any, values: Any, *start: Any) -> Any:
        listed = list(self.iterate(values))
        reduced = start[0] if start else listed.pop(0)
        for each in listed:
            reduced = self.call(function, reduced, each)
        return reduced

    def _quiet(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What goes to a log is an output."""
        if sort_of((args, keywords)) == PRIVATE:
            refuse("a private value that goes to a log", "the released value")
        if self.state.record:
            refuse("a message for each record", "no message there")
        self._certain(args, keywords)
        for each in (*args, *keywords.values()):
            self.b_str(each) if dispatch.has_own_methods(type(each)) else self.unasked(each)
        return function(*args, **keywords) if getattr(function, "__name__", "") == "getLogger" else None

    def _method(self, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A method of a private or released value."""
        bad = calls.NEVER & (keywords.keys() - {"where"})
        if bad:
            refuse(f".{name}({', '.join(sorted(bad))}=)", f"the result of .{name}()")
        if isinstance(owner, Token):
            return self._method_of_token(owner, name, args, keywords)
        if isinstance(owner, Frame) and name in ("iterrows", "itertuples"):
            if args or set(keywords) - {"index", "name"}:
                refuse(f".{name} in this form")
            owner.is_grouped = True  # it may show later changes
            return records.of_frame(owner, name, self._used(owner))
        if isinstance(owner, Frame) and name == "to_dict":
            if (args, keywords) not in ((("records",), {}), ((), {"orient": "records"})):
                refuse_by_name(".to_dict", "a private data frame")
            return records.of_frame(owner, name, self._used(owner))
        if isinstance(owner, Column):
            function = column_methods.column_method(owner, name)
            if function is None:
                owner.refuse_others(name)
            return self._with_signature(function, name, (owner, *args), keywords)
        if isinstance(owner, Number):
            function = operators.number_method(owner, name)
            if function is None:
                if name in calls.READS[pd.Series] and name in {
                    *library_calls.OF_OPERATORS.values(),
                    "div",
                    "add",
                    "sub",
                    "mul",
                }:
                    return self.binary({"div": "truediv"}.get(name, name), owner, *args)
                refuse(f".{name} of a private number is not known", NOISE_FIRST)
            return self._with_signature(function, name, (owner, *args), keywords)
        function = owner.method(name)
        if function is None:
            return owner.get(name)
        return self._with_signature(function, name, args, keywords)

    def _used(self, frame: Frame) -> list[str]:
        return [each for each in frame.columns if each in self.used or not self.used]

    def applied_to_rows(self, function: Any, frame: Frame) -> Column:
        """``frame.apply(function, axis=1)``."""
        through = records.of_frame(frame, "iterrows", self._used(frame))
        return records.applied_to_rows(function, through, list(frame.columns))

    def _method_of_token(self, owner: Token, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if sort_of((args, keywords)) == PRIVATE:
            refuse("a private value that is handed to something released", NOISE_FIRST)
        if name == "pipe" and args and callable(args[0]):
            return self.call(args[0], owner, *args[1:], **keywords)
        args, keywords = self._called_for_each(args, keywords)
        if not owner.is_certain and name not in ("__float__",):
            refuse_uncertain()
        self._certain(args, keywords)
        self.raises("any")
        if owner.is_array or (owner.kinds and owner.kinds <= frozenset(("series", "frame"))):
            others = [
                each for each in (*args, *keywords.values()) if each is not None and type(each) not in (str, type)
            ]
            is_plain = all(is_of_numbers(each) and not np.shape(each) for each in others)
            if name in OF_EACH and is_plain and (name != "cumsum" or not owner.is_array or len(owner.shape or ()) == 1):
                return Token(owner.shape, owner.kinds, owner.labels, owner.columns)
            if (
                name in ("sum", "mean", "max", "min", "std", "median")
                and not args
                and not keywords
                and owner.columns is None
            ):
                return number("np.float64")
            if not args and not keywords and (choice := decisions.of_numbers(owner, name)) is not None:
                return choice
            if name in ("to_numpy",) and owner.shape is not None:
                return array(owner.shape)
            if name in ("tolist", "to_list") and owner.shape is not None and len(owner.shape) == 1:
                return self.born([number("float") for _ in range(owner.shape[0])])
            if name in ("to_dict", "items") and owner.labels is not None and owner.columns is None:
                pairs = zip(owner.labels, [number("float") for _ in owner.labels], strict=True)
                return self.born(dict(pairs) if name == "to_dict" else pairs)
            if name == "rolling" and owner.kinds == frozenset(("series",)) and sort_of((args, keywords)) == PUBLIC:
                return Token(owner.shape, frozenset(("windows",)), owner.labels)
            if name in ("where", "mask") and owner.labels is not None:
                return Token(owner.shape, owner.kinds, owner.labels, owner.columns)
        if owner.kinds == frozenset(("windows",)) and name in ("mean", "sum", "max", "min", "median", "std"):
            return Token(owner.shape, frozenset(("series",)), owner.labels)
        if owner.is_number and name in ("item", "clip", "round"):
            return number("number")
        return Token()

    def _called_for_each(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        """Call the functions that a method of something released calls so often as it likes; return the others.

        They stand for any round of it, as a repeated step does, and can change nothing that was there before.
        """
        state = self.state
        called = list(filter(runs, (*args, *keywords.values())))
        for function in called:
            before, state.levels = state.level, state.levels + 1
            state.level = (*before, state.levels)
            try:
                if sort_of(self.call(function, Token())) == PRIVATE:
                    refuse("a function that gives a private value for what is released", NOISE_FIRST)
            finally:
                state.level = before
        known = set(map(id, called))
        others = tuple(each for each in args if id(each) not in known)
        named = {name: each for name, each in keywords.items() if id(each) not in known}
        self.unasked(others, named)
        return others, named

    def _method_of_public(
        self, function: Any, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """A method of an object of a library, or of a container of anything."""
        if isinstance(owner, logging.Logger) and name in calls.LOGGING:
            self._quiet(function, args, keywords)
            return Token() if name == "isEnabledFor" else None
        if isinstance(owner, type):
            return self._class_method(function, owner, name, args, keywords)
        if isinstance(owner, np.ufunc) and name in ("accumulate", "reduce") and calls.pure(owner):
            return self._along(function, owner.__name__, args, keywords)
        if isinstance(owner, BaseException) and name == "__init__" and not keywords:
            self.own(owner)
            return naturally(function, *args)
        kind = type(owner)
        if isinstance(owner, pd.Index):
            kind = pd.Index
        reads, writes = calls.READS.get(kind, frozenset()), calls.WRITES.get(kind, frozenset())
        bad = calls.NEVER & (keywords.keys() - ({"where"} if kind in (pd.Series, pd.DataFrame) else set()))
        if (
            (name not in reads and name not in writes)
            or bad
            or (kind is np.ndarray and len(args) > (2 if name in ("clip", "reshape", "transpose") else 1))
        ):
            refuse(f".{name}({', '.join(sorted(bad))}) of a {kind.__name__} is not known here")
        owner_ = self.seen(owner)
        if isinstance(owner_, Token):
            if name in writes:
                self.own(owner)
                return None
            return self._method_of_token(owner_, name, args, keywords)
        if name in ("join", "extend", "update") and len(args) == 1 and type(args[0]) in _ITERATORS:
            args = (list(self.iterate(args[0])),)
        sort, within = sort_of((args, keywords)), sort_of(owner)
        if name in writes:
            self.own(owner)
        if sort == within == PUBLIC:
            if kind not in (set, frozenset) and name not in ("isin", "issuperset"):
                refuse_order(args, keywords)
            elif name == "pop":
                refuse_order(owner)
            named = {key: self._callback(each) for key, each in keywords.items()}
            return self.fresh(
                naturally(function, *map(self._callback, args), **named), owner, *args, *keywords.values()
            )
        if kind in (list, collections.deque) and name in calls.MOVES_ALONE and not keywords:
            if name in ("insert", "pop", "rotate") and args and sort_of(args[0]) != PUBLIC:
                refuse(f".{name} at a place that is not public")
            if name == "extend":
                args = (list(self.iterate(args[0])),)
            result = naturally(function, *args)
            return self.born(result) if name == "copy" else result
        if kind in (dict, collections.OrderedDict, collections.defaultdict) and (
            name in calls.MOVES_ALONE or name in ("get", "setdefault", "update")
        ):
            if args and name in ("get", "setdefault", "pop") and sort_of(args[0]) != PUBLIC:
                if sort <= RELEASED and within <= RELEASED and name == "get":
                    return Token()
                refuse("a key that is not public", "public keys")
            if name == "update":
                pairs = args[0] if args else {}
                if type(pairs) is not dict:
                    refuse("update by something else than a dict")
                owner.update(pairs, **keywords)
                return None
            result = naturally(function, *args)
            return self.born(result) if name == "copy" else result
        if kind is list and name == "sort" and max(sort, within) == RELEASED and not args:
            owner[:] = self.b_sorted(owner, **keywords)
            return None
        if max(sort, within) == RELEASED and name not in writes:
            args, keywords = self._called_for_each(args, keywords)
            self._certain(args, keywords, owner)
            self.raises("any")
            return Token()
        return refuse(f".{name} with values that are not public", NOISE_FIRST)

    def _along(self, function: Any, of: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """``np.maximum.accumulate(x)``, ``np.logical_and.reduce([mask, mask])``."""
        name = f"np.{of}.{function.__name__}"
        if len(args) != 1 or keywords:
            refuse(f"{name} in this form", f"{name}(x), of an array with one axis")
        sort = sort_of(args)
        if sort == PUBLIC:
            return self._public(function, args, keywords)
        if sort == PRIVATE:
            return library_calls.reduced(name, args[0])
        self._certain(args)
        self.raises("any")
        return shaped(function, args, keywords)

    def _class_method(
        self, function: Any, owner: type, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        sort = sort_of((args, keywords))
        if name in ("now", "today", "utcnow") and owner.__module__ == "datetime":
            return Token()
        known = {
            (dict, "fromkeys"), (pd.MultiIndex, "from_product"), (pd.MultiIndex, "from_tuples"), (str, "maketrans"),
            (pd.DataFrame, "from_dict"), (pd.DataFrame, "from_records"), (pd.IntervalIndex, "from_breaks"),
        }  # fmt: skip
        if (owner, name) not in known or (sort == PRIVATE and name != "fromkeys"):
            refuse(f"{owner.__name__}.{name} is not known here")
        if name == "fromkeys":
            args = (list(map(self.key, self.iterate(args[0]))), *args[1:])
        elif sort == RELEASED:
            return Token()
        return self.fresh(function(*args, **keywords))

    def call_of_record(self, function: Any, value: Any) -> Any:
        """Call a function of one record."""
        try:
            return self.call(function, value)
        except Left:
            raise
        except (Exception, SystemExit) as error:
            refuse_raising("it", error)


_signature = functools.lru_cache(maxsize=1_000)(inspect.signature)


def _form(function: Callable[..., Any], name: str) -> str:
    """Return the form of a method or function that is read."""
    told = [each for each in inspect.signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
    names = [each.name if each.default is each.empty else f"{each.name}=" for each in told]
    return f"{name}({', '.join(names)})"
