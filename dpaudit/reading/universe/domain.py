"""What does every operation of a function do with private, released and public values? The domain of the universe.

Every operation is asked here. Of public values Python does it; what is made of released and public values is released;
what private values do stands in tables, and all else is refused, with the line. Refusals stay, and the reading goes on
after one with an unknown value, so that all of them are told at once.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import inspect
import io
import logging
import operator
import os
import random
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpaudit.reading import dispatch
from dpaudit.reading.draws import is_maker, is_seeder, source_of
from dpaudit.reading.python import CONVERSIONS, IN_PLACE, OPERATION, Python
from dpaudit.reading.rewrite import UnreadableError
from dpaudit.reading.source import is_of_user, is_own
from dpaudit.reading.universe import calls, methods, records
from dpaudit.reading.universe.columns import COMPARISONS, Column, plain
from dpaudit.reading.universe.frames import Frame, Groups, Keyed, Loc, PerPerson, Sampling
from dpaudit.reading.universe.noise import Coins, Draw, Exponentials, Half, Perturbed, Shifted, drawn, largest, meet
from dpaudit.reading.universe.numbers import Number, among, length_of
from dpaudit.reading.universe.records import UNBOUND, Adding, Cell, Records, Row, Unbound
from dpaudit.reading.universe.released import Token, array, combined, items, number, refuse_uncertain
from dpaudit.reading.universe.rewriting import Rewriter
from dpaudit.reading.universe.state import (
    NOISE_FIRST,
    Left,
    Pass,
    Private,
    Refusal,
    Refused,
    Unknown,
    line,
    refuse,
    refuse_and_leave,
)
from dpaudit.reading.universe.values import PRIVATE, PUBLIC, RELEASED, is_of_users_class, sort_of

_RAISES: dict[str, tuple[type[Exception], ...]] = {
    "division": (ZeroDivisionError,),
    "power": (ZeroDivisionError, OverflowError),
    "int": (ValueError, OverflowError),
    "any": (TypeError, ValueError, ZeroDivisionError, OverflowError, IndexError, KeyError, AttributeError),
}
_VIEWS = (type({}.keys()), type({}.values()), type({}.items()), enumerate, zip, map, filter, type(reversed([])))
_INDEXERS = frozenset(("_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer"))
_DUNDERS = frozenset(
    (
        "__name__",
        "__doc__",
        "__qualname__",
        "__init__",
        "__class__",
        "__members__",
        "__post_init__",
        "__len__",
        "__enter__",
        "__exit__",
        "__call__",
        "__str__",
        "__eq__",
    )
)
_CONTEXT_HELPER = contextlib.contextmanager(lambda: iter(())).__code__  # type: ignore[attr-defined,arg-type,return-value]
_MANAGERS = (contextlib.nullcontext, np.errstate, warnings.catch_warnings)


class Bound:
    """A method of a private or released value, not yet called."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name


def _hook(function: Callable[..., Any]) -> Callable[..., Any]:
    """Note what the tables refuse, and go on with an unknown value."""

    @functools.wraps(function)
    def asked(self: Universe, /, *args: Any, **keywords: Any) -> Any:
        self.state.step()
        for each in args:
            if type(each) is Unknown:
                return each
        try:
            return function(self, *args, **keywords)
        except Refusal as why:
            self.state.note(Refused(line(), *why.args))
        except UnreadableError as why:
            self.state.note(Refused(line(), str(why)))
        except Exception as error:
            if is_natural(error):
                raise
            self.state.note(Refused(line(), f"the reading fails here ({type(error).__name__}: {error})"))
            if os.environ.get("DPAUDIT_TRACE_READING"):
                traceback.print_exc()
        return Unknown()

    return asked


def is_natural(error: BaseException) -> bool:
    """Whether an exception is one of the function: raised by it, or by Python or a library from public values."""
    if getattr(error, "_dpaudit_natural", False):
        return True
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and is_of_user(at.tb_frame.f_code.co_filename)


def naturally(function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """Let Python or a library do something with public values; what it raises, the function may catch."""
    try:
        return function(*args, **keywords)
    except Left:
        raise
    except Exception as error:
        error._dpaudit_natural = True  # type: ignore[attr-defined]
        raise


class Universe(Python):
    """Reads a function for all data of a declared domain."""

    control = (Left,)
    rewriter = Rewriter

    def __init__(self, state: Pass, used: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.state, self.used = state, used
        state.domain = self  # type: ignore[attr-defined]
        self._mine: dict[int, tuple[Any, int]] = {}
        self.tainted: dict[int, tuple[Any, Token]] = {}
        self._generators: dict[Any, Any] = {}
        self._made_generators: list[Any] = []
        self._guesses: set[str] = set()

    # --- what was made here -------------------------------------------------------------------------------

    def born(self, value: Any) -> Any:
        """Note that a value was made in this call, and for this record."""
        self._mine[id(value)] = (value, self.state.record)
        return value

    def own(self, value: Any) -> None:
        """Refuse a change of what was not made here, or not for this record."""
        known = self._mine.get(id(value))
        if known is None or known[0] is not value:
            refuse(
                "this changes something that was not made in this call (a global, a default, an argument, a view)",
                "a copy of it, and the change of that",
            )
        if known[1] != self.state.record:
            refuse("this changes, for each record, something that was there before it", "a sum: total += x")

    def fresh(self, value: Any, *given: Any) -> Any:
        """Note a result of a library that is no part of what it was given."""
        kind = type(value)
        if kind in (
            list,
            dict,
            set,
            collections.OrderedDict,
            collections.Counter,
            collections.deque,
            collections.defaultdict,
            types.SimpleNamespace,
        ):
            if all(value is not each for each in given):
                self.born(value)
        elif kind in (np.ndarray, pd.Series, pd.DataFrame):
            base = getattr(value, "base", None)
            if all(value is not each for each in given):
                if base is None and not any(
                    isinstance(each, np.ndarray) and np.shares_memory(value, each)
                    for each in given
                    if kind is np.ndarray
                ):
                    self.born(value)
                else:  # a view: neither may be changed from here on
                    self._mine.pop(id(base), None)
                    for each in given:
                        if isinstance(each, np.ndarray):
                            self._mine.pop(id(each), None)
        elif kind is tuple:
            for each in value:
                if isinstance(each, np.ndarray | list | dict):
                    self.fresh(each, *given)
        return value

    def seen(self, value: Any) -> Any:
        """Return what an array that was written into stands for."""
        if self.tainted:
            known = self.tainted.get(id(value))
            if known is not None and known[0] is value:
                return known[1]
        return value

    def raises(self, what: str) -> None:
        """Decide whether an operation on released values raises, where the function could see it."""
        if self.state.attempts and not self.state.record:
            kinds = _RAISES[what]
            way = self.state.decide((None, *kinds))
            if way is not None:
                error = way(Token())
                error._dpaudit_natural = True
                raise error

    # --- loops, handlers, blocks --------------------------------------------------------------------------

    def ran(self, where: int) -> None:
        """Note that a block is run."""
        frame = sys._getframe(1)
        self.state.told.ran.add((frame.f_code.co_filename, where))

    @_hook
    def outer(self, names: str) -> None:
        """A function that sets names of a function around it is entered."""
        if self.state.record:
            refuse(f"a function that sets {names}, from outside of it, for each record", "sums: total += x in the loop")

    def trying(self, step: int) -> None:
        """Enter or leave a part in which exceptions are seen."""
        self.state.attempts += step

    def loop(self, value: Any) -> Any:
        """What a loop goes through: records, or what Python goes through."""
        try:
            found = records.records_of(value) if isinstance(value, Private) else None
        except Refusal as why:
            self.state.note(Refused(line(), *why.args))
            return iter((Unknown(),))
        return self.iterate(value) if found is None else found

    def is_records(self, value: Any) -> bool:
        """Whether a loop goes through private records."""
        return type(value) is Records

    def bound(self, value: Callable[[], Any]) -> Any:
        """Return the value of a name, or `UNBOUND`."""
        try:
            return value()
        except NameError:
            return UNBOUND

    def unbound(self, value: Any) -> bool:
        """Whether a name has no value."""
        return type(value) is Unbound

    def fold(self, through: Records, body: Callable[..., Any], *before: Any) -> Any:
        """A loop over records."""
        try:
            return records.folded(through, body, before)
        except Refusal as why:
            self.state.note(Refused(line(), *why.args))
        except UnboundLocalError as why:
            self.state.note(
                Refused(
                    line(),
                    f"a loop over records that keeps {why.name!r} from one record to the next",
                    "sums: total += x",
                )
            )
        return [Unknown() for _ in before]

    @_hook
    def comprehended(self, through: Records, element: Callable[[Any], Any], keep: Any) -> Any:
        """A comprehension over records."""
        return records.comprehended(through, element, keep)

    def call_of_record(self, function: Any, value: Any) -> Any:
        """Call a function of one record."""
        try:
            return self.call(function, value)
        except Left:
            raise
        except Exception as error:
            return refuse(
                f"it raises {type(error).__name__} for some records of the domain: whether it does is private"
            )

    # --- calls --------------------------------------------------------------------------------------------

    @_hook
    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``."""
        args = tuple(map(self.seen, args))
        kind = type(function)
        if kind is Bound:
            return self._method(function.owner, function.name, args, keywords)
        if kind is Token:
            if any(sort_of(each) == PRIVATE for each in (*args, *keywords.values())):
                refuse("a private value that is handed to something released", NOISE_FIRST)
            self.raises("any")
            return Token()
        if issubclass(kind, Private):
            refuse(f"a call of a {function.noun}")
        if kind is types.FunctionType and function.__code__ is _CONTEXT_HELPER:
            inner = function.__wrapped__
            return contextlib._GeneratorContextManager(self.twin(inner) if is_own(inner) else inner, args, keywords)
        if isinstance(function, type) and issubclass(function, enum.Enum):
            return self._public(function, args, keywords)
        if isinstance(function, type) and is_of_users_class(function):
            return self.construct(function, *args, **keywords)
        if args and not keywords and (function is iter or function is next):
            return self.foreign(function, args, keywords)
        return super().call(function, *args, **keywords)

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class."""
        if not is_of_users_class(kind):
            refuse(f"the class {kind.__name__}, which is made of what is not read")
        new = dispatch.in_class(kind, "__new__")
        if is_own(new):
            refuse(f"{kind.__name__}.__new__", "__init__")
        init = dispatch.in_class(kind, "__init__")
        if issubclass(kind, tuple) or init is object.__dict__["__init__"]:
            made: Any = naturally(kind, *args, **keywords)
        elif is_own(init):
            made = object.__new__(kind)
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
        import dataclasses

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
        """Call what is not the user's."""
        kind = type(function)
        name = getattr(function, "__name__", kind.__name__)
        if is_seeder(function):
            refuse("a fixed seed: the noise is the same in every run, which is none", "no call of seed")
        if is_maker(function):
            return self._maker(function, args, keywords)
        source = source_of(function)
        if source is not None:
            if self.state.record:
                refuse("a draw for each record", "noise on the sum, or a sample: df[np.random.random(len(df)) < 0.1]")
            self._not_seeded(source)
            return drawn(source, args, keywords)
        handled = calls.BUILTINS.get(id(function))
        if handled is not None:
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
        module = getattr(function, "__module__", "") or ""
        if module == "time" and name in calls.CLOCK:
            return number("float")
        if function is warnings.warn or (module == "logging" and name == "getLogger"):
            return self._quiet(function, args, keywords)
        if function is time.sleep:
            return None
        if id(function) in calls.ITERATING:
            return function(*[self.iterate(each) if not isinstance(each, int) else each for each in args], **keywords)
        if kind is types.FunctionType and name in ("wraps", "update_wrapper") and module == "functools":
            refuse("functools.wraps within the function", "the decorator without it")
        row = calls.pure(function)
        if row is None:
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
        self.raises("any")
        first = self.seen(args[0]) if args else None
        if of_numpy and isinstance(first, Token) and first.is_array and not keywords:
            if name in (
                "clip",
                "round",
                "around",
                "abs",
                "absolute",
                "nan_to_num",
                "floor",
                "ceil",
                "rint",
                "exp",
                "log",
                "sqrt",
                "square",
                "argsort",
                "sort",
                "cumsum",
            ):
                return array(first.shape or ())
            if name in ("sum", "mean", "max", "min", "median", "std", "var", "argmax", "argmin") and len(args) == 1:
                return number("np.float64")
        if (
            isinstance(function, np.ufunc)
            and len(args) == 2
            and name in ("maximum", "minimum", "add", "subtract", "multiply", "divide")
        ):
            return combined({"subtract": "sub", "multiply": "mul", "divide": "truediv"}.get(name, "add"), *args)
        if name in ("clip", "maximum", "minimum", "round") and isinstance(first, Token) and first.is_number:
            return number("np.float64")
        if (
            of_numpy
            and name in ("array", "asarray")
            and isinstance(first, list | tuple)
            and all((isinstance(each, Token) and each.is_number) or type(each) in (int, float) for each in first)
        ):
            return array((len(first),))
        if name in ("where", "clip", "array", "asarray") and isinstance(first, Token) and first.is_array:
            others = [
                each
                for each in args[1:]
                if not isinstance(each, Token) or not each.is_array or each.shape != first.shape
            ]
            if all(
                each is None or isinstance(each, int | float) or (isinstance(each, Token) and each.is_number)
                for each in others
            ):
                return array(first.shape or ())
        self._certain(args, keywords)
        return Token()

    def _copied(self, value: Any, name: str) -> Any:
        """A copy of containers, arrays and tables; no copy of a generator, which would draw the same again."""
        kind = type(value)
        if kind in (int, float, str, bool, bytes, type(None), tuple) and name == "copy":
            return value
        if isinstance(value, Frame | Column | Number):
            return (
                methods.c_copy(value)
                if isinstance(value, Column)
                else value.m_copy()
                if isinstance(value, Frame)
                else methods.n_copy(value)
            )
        if name == "copy" and kind in (list, dict, set):
            return self.born(value.copy())
        if kind in (list, tuple):
            found = [self._copied(each, name) for each in value]
            return self.born(found) if kind is list else tuple(found)
        if kind is dict:
            return self.born({key: self._copied(each, name) for key, each in value.items()})
        if kind in (np.ndarray, pd.Series, pd.DataFrame) and sort_of(value) == PUBLIC:
            return self.born(value.copy())
        if kind in (int, float, str, bool, bytes, type(None), Token):
            return value
        return refuse(f"{name} of a {kind.__name__}", "the values themselves")

    def _certain(self, *values: Any) -> None:
        """Refuse a number whose type hangs on the data where its type may be seen."""
        pending = list(values)
        while pending:
            each = pending.pop()
            if isinstance(each, Token):
                if not each.is_certain:
                    refuse_uncertain()
            elif type(each) in (list, tuple, set):
                pending += list(each)
            elif type(each) is dict:
                pending += list(each.values())

    def _public(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Python or a library does it, with callbacks rewritten."""
        given = [self._callback(each) for each in args]
        named = {name: self._callback(each) for name, each in keywords.items()}
        return self.fresh(naturally(function, *given, **named), *args, *keywords.values())

    def _callback(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType | types.MethodType | functools.partial):
            return functools.partial(self.call, value)
        return value

    def _row_of_private(self, function: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        module = (getattr(function, "__module__", "") or "").split(".")[0]
        if isinstance(function, np.ufunc) or module == "numpy":
            found = methods.NUMPY.get(name)
            listed = [each for each in args if isinstance(each, Draw | Token)]
            if found is not None and any(isinstance(each, Draw) for each in args) and name in methods._OPERATORS:
                return self.binary(methods._OPERATORS[name], *args)
            del listed
        elif module == "pandas":
            found = methods.PANDAS.get(name)
            if function in (pd.Series, pd.DataFrame):
                return self._table(function, args, keywords)
        elif name == "SimpleNamespace" and not args:
            return self.born(function(**keywords))
        else:
            found = None
        if found is None:
            refuse(
                f"{name} of private values is not known to treat each record by itself, nor how far it moves",
                NOISE_FIRST,
            )
        return self._with_signature(found, name, args, keywords)

    def _table(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A series or frame of private numbers."""
        given = args[0] if args else None
        if function is pd.Series and len(args) == 1 and type(given) is dict and not keywords and given:
            if all(isinstance(each, Number) and not each.shape for each in given.values()):
                found = methods.numbers.stacked(given.values())
                return found.like(found.low, found.high, labels=pd.Index(list(given)))
        return refuse("a table of private values", "noise on each of them first")

    def _with_signature(
        self, function: Callable[..., Any], name: str, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Call a row of a table, whose signature says which arguments are read."""
        try:
            inspect.signature(function).bind(*args, **keywords)
        except TypeError:
            shown = ", ".join([f"{each}=" for each in keywords]) or f"{len(args)} arguments"
            refuse(f"{name} with {shown} is not read in this form")
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
        except (Refusal, Left):
            raise
        except IndexError:
            raise
        except Exception as error:
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
        if isinstance(owner, np.random.Generator):
            seeds = owner.bit_generator.seed_seq
            entropy = getattr(seeds, "entropy", None)
            if not isinstance(entropy, int) or entropy < 2**80:
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

    def _reduce(self, function: Any, values: Any, *start: Any) -> Any:
        listed = list(self.iterate(values))
        found = start[0] if start else listed.pop(0)
        for each in listed:
            found = self.call(function, found, each)
        return found

    def _quiet(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """What goes to a log is an output."""
        if sort_of((args, keywords)) == PRIVATE:
            refuse("a private value that goes to a log", "the released value")
        if self.state.record:
            refuse("a message for each record", "no message there")
        self._certain(args, keywords)
        return function(*args, **keywords) if getattr(function, "__name__", "") == "getLogger" else None

    # --- methods ------------------------------------------------------------------------------------------

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
            used = [each for each in owner.columns if each in self.used or not self.used]
            found = records.of_frame(owner, name, used)
            if name == "itertuples" and keywords.get("index", True) is False:
                return found
            return found
        if isinstance(owner, Column):
            function = methods.column_method(owner, name)
            if function is None:
                owner.refuse_others(name)
            return self._with_signature(function, name, (owner, *args), keywords)
        if isinstance(owner, Number):
            function = methods.number_method(owner, name)
            if function is None:
                if name in calls.READS[pd.Series] and name in methods._OPERATORS.values() | {
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

    def _method_of_token(self, owner: Token, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if sort_of((args, keywords)) == PRIVATE:
            refuse("a private value that is handed to something released", NOISE_FIRST)
        if not owner.is_certain and name not in ("__float__",):
            refuse_uncertain()
        self._certain(args, keywords)
        self.raises("any")
        if owner.is_array or (owner.kinds and owner.kinds <= frozenset(("series", "frame"))):
            if name in ("clip", "round", "astype", "copy", "abs", "fillna", "cumsum") and not any(
                isinstance(each, pd.Series) for each in args
            ):
                return Token(owner.shape, owner.kinds, owner.labels, owner.columns)
            if (
                name in ("sum", "mean", "max", "min", "std", "median")
                and not args
                and not keywords
                and owner.columns is None
            ):
                return number("np.float64")
            if name in ("to_numpy",) and owner.shape is not None:
                return array(owner.shape)
            if name in ("tolist", "to_list") and owner.shape is not None and len(owner.shape) == 1:
                return self.born([number("float") for _ in range(owner.shape[0])])
            if name in ("to_dict", "items") and owner.labels is not None and owner.columns is None:
                pairs = [(label, number("float")) for label in owner.labels]
                return self.born(dict(pairs)) if name == "to_dict" else pairs
            if name in ("where", "mask") and owner.labels is not None:
                return Token(owner.shape, owner.kinds, owner.labels, owner.columns)
        if owner.is_number and name in ("item", "clip", "round"):
            return number("number")
        return Token()

    def _method_of_public(
        self, function: Any, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """A method of an object of a library, or of a container of anything."""
        if isinstance(owner, logging.Logger) and name in calls.LOGGING:
            self._quiet(function, args, keywords)
            return Token() if name == "isEnabledFor" else None
        if isinstance(owner, type):
            return self._class_method(function, owner, name, args, keywords)
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
        sort, within = sort_of((args, keywords)), sort_of(owner)
        if name in writes:
            self.own(owner)
        if sort == within == PUBLIC:
            named = {key: self._callback(each) for key, each in keywords.items()}
            return self.fresh(naturally(function, *map(self._callback, args), **named), owner, *args)
        if kind in (list, collections.deque) and name in calls.MOVES_ALONE and not keywords:
            if name in ("insert", "pop", "rotate") and args and sort_of(args[0]) != PUBLIC:
                refuse(f".{name} at a place that is not public")
            if name == "extend":
                args = (list(self.iterate(args[0])),)
            found = naturally(function, *args)
            return self.born(found) if name == "copy" else found
        if kind in (dict, collections.OrderedDict, collections.defaultdict) and (
            name in calls.MOVES_ALONE or name in ("get", "setdefault", "update")
        ):
            if args and name in ("get", "setdefault", "pop") and sort_of(args[0]) != PUBLIC:
                if sort_of(args[0]) == RELEASED and within <= RELEASED and name == "get":
                    return Token()
                refuse("a key that is not public", "public keys")
            if name == "update":
                pairs = args[0] if args else {}
                if type(pairs) is not dict:
                    refuse("update by something else than a dict")
                owner.update(pairs, **keywords)
                return None
            found = naturally(function, *args)
            return self.born(found) if name == "copy" else found
        if kind is list and name == "sort" and max(sort, within) == RELEASED:
            self._certain(owner)
            owner[:] = [Token() for _ in owner]
            return None
        if max(sort, within) == RELEASED and name not in writes:
            self._certain(args, keywords, owner)
            self.raises("any")
            return Token()
        return refuse(f".{name} with values that are not public", NOISE_FIRST)

    def _class_method(
        self, function: Any, owner: type, name: str, args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        sort = sort_of((args, keywords))
        if name in ("now", "today", "utcnow") and owner.__module__ == "datetime":
            return Token()
        known = {(dict, "fromkeys"), (pd.MultiIndex, "from_product"), (pd.MultiIndex, "from_tuples"), (pd.DataFrame, "from_dict"),
                 (pd.DataFrame, "from_records"), (pd.IntervalIndex, "from_breaks"), (str, "maketrans"), (float, "fromhex")}  # fmt: skip
        if (owner, name) not in known or (sort == PRIVATE and name != "fromkeys"):
            refuse(f"{owner.__name__}.{name} is not known here")
        if sort == RELEASED and name != "fromkeys":
            return Token()
        return self.fresh(function(*args, **keywords))

    # --- builtins -----------------------------------------------------------------------------------------

    def _plain_builtin(self, function: Any, *args: Any, **keywords: Any) -> Any:
        sort = sort_of((args, keywords))
        name = function.__name__
        if sort == PRIVATE:
            refuse(f"{name}() of a private value", NOISE_FIRST)
        if sort == PUBLIC:
            return self._public(function, args, keywords)
        self._certain(args, keywords)
        self.raises("any")
        return Token()

    def b_len(self, value: Any) -> Any:
        """``len``."""
        if isinstance(value, Token):
            self.raises("any")
            return value.shape[0] if value.shape and value.kinds is not None else Token()
        if isinstance(value, Private):
            return methods.length(value)
        return naturally(len, value)

    def b_sum(self, values: Any, start: Any = 0) -> Any:
        """``sum``."""
        if isinstance(values, Token):
            return number("number")
        if isinstance(values, Column):
            if type(start) is not int or start:
                refuse("sum of records with a start", "the start added to the sum")
            if np.isnan(plain(values.low).astype(float)).any():
                refuse("sum() of values that may be missing", ".sum(), which leaves them out, or .fillna(0)")
            found = methods.column_sum(values)
            kind = plain(values.low).dtype.kind
            kinds = {"i": {"int"}, "b": {"int"}, "f": {"int", "float"}}[kind]
            return found.like(
                found.low,
                found.high,
                kinds=frozenset(kinds if values.is_series or values.is_stable else kinds | {"np.float64", "np.int64"}),
            )
        for each in self.iterate(values):
            start = self.binary("add", start, each)
        return start

    def _extreme(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        values = list(self.iterate(args[0])) if len(args) == 1 and not isinstance(args[0], Private) else list(args)
        if len(args) == 1 and isinstance(args[0], Number):
            return args[0].extreme()
        if len(args) == 1 and isinstance(args[0], Private) and isinstance(args[0], Column):
            args[0].refuse_others("max")
        if any(isinstance(each, Cell) for each in values) and not keywords:
            return records.extreme(function, values)
        if set(keywords) == {"key"} and all(sort_of(each) == PUBLIC for each in values) and values:
            found = [self.call(keywords["key"], each) for each in values]
            if all(isinstance(each, Perturbed) for each in found) and function is max:
                return largest(found)
            if max(map(sort_of, found)) == RELEASED:
                return Token()
            if max(map(sort_of, found)) == PRIVATE:
                refuse(f"{function.__name__}() by private values", "Gumbel noise on each of them")
            return values[found.index(function(found))]
        sort = sort_of((values, keywords))
        if sort == PUBLIC:
            return function(values, **{name: self._callback(each) for name, each in keywords.items()})
        if sort == PRIVATE:
            if keywords or not all(isinstance(each, Number | int | float | np.number) for each in values):
                refuse(f"{function.__name__}() of private values in this form", NOISE_FIRST)
            return among(values)
        self._certain(values)
        if all(
            (isinstance(each, Token) and each.is_number) or type(each) in (int, float, np.float64, np.int64)
            for each in values
        ):
            kinds = {kind for each in values if isinstance(each, Token) for kind in each.kinds or ()}
            kinds |= {"float" if type(each) is float else "int" for each in values if not isinstance(each, Token)}
            return number(kinds.pop() if len(kinds) == 1 else "number")
        self.raises("any")
        return Token()

    def b_min(self, *args: Any, **keywords: Any) -> Any:
        """``min``."""
        return self._extreme(min, args, keywords)

    def b_max(self, *args: Any, **keywords: Any) -> Any:
        """``max``."""
        return self._extreme(max, args, keywords)

    def b_abs(self, value: Any) -> Any:
        """``abs``."""
        return self.absolute(value)

    def absolute(self, value: Any) -> Any:
        """``abs(x)``."""
        if isinstance(value, Token):
            return Token(value.shape, value.kinds, value.labels, value.columns)
        if isinstance(value, Column):
            return methods.c_abs(value)
        if isinstance(value, Number | Cell):
            return value.absolute()
        return abs(value) if sort_of(value) == PUBLIC else refuse("abs() of this", NOISE_FIRST)

    def b_round(self, value: Any, digits: Any = None) -> Any:
        """``round``."""
        if isinstance(value, Token):
            self.raises("int")
            return (
                number("int" if digits is None and value.kinds in ({"float"}, {"int"}, {"np.float64"}) else "number")
                if value.is_number
                else Token()
            )
        if isinstance(value, Private):
            refuse("round() of a private value, which jumps where it does not", "round after the noise")
        return naturally(round, value) if digits is None else naturally(round, value, digits)

    def b_int(self, *args: Any) -> Any:
        """``int``."""
        return self._converted(int, args)

    def b_float(self, *args: Any) -> Any:
        """``float``."""
        if args and isinstance(args[0], Number) and not args[0].shape:
            return args[0].cast(float)
        return self._converted(float, args)

    def _converted(self, kind: type, args: tuple[Any, ...]) -> Any:
        if args and isinstance(args[0], Token):
            if not args[0].is_number:
                self.raises("any")
            elif kind is int:
                self.raises("int")
            return number(kind.__name__)
        if args and isinstance(args[0], Number) and args[0].is_whole and kind is int:
            return args[0].cast(int)
        if sort_of(args) != PUBLIC:
            refuse(f"{kind.__name__}() of a private value", NOISE_FIRST)
        return naturally(kind, *args)

    def b_bool(self, value: Any = False) -> Any:
        """``bool``."""
        if isinstance(value, Token):
            return number("bool")
        return self.truth(value)

    def b_str(self, *args: Any) -> Any:
        """``str``."""
        return self.format(args[0], -1, "") if len(args) == 1 else self._plain_builtin(str, *args)

    def b_repr(self, value: Any) -> Any:
        """``repr``."""
        return self.format(value, 114, "")

    def b_list(self, values: Any = ()) -> Any:
        """``list``."""
        found = records.records_of(values) if isinstance(values, Private) else None
        if isinstance(values, Column):
            return methods.c_to_numpy(values) if values.is_series else values
        if found is not None:
            return found
        if isinstance(values, Token) and items(values) is None:
            self.raises("any")
            return Token()
        return self.born(list(self.iterate(values)))

    def b_tuple(self, values: Any = ()) -> Any:
        """``tuple``."""
        if isinstance(values, Token) and items(values) is None:
            self.raises("any")
            return Token()
        return tuple(self.iterate(values))

    def b_dict(self, values: Any = (), **keywords: Any) -> Any:
        """``dict``."""
        if isinstance(values, Token):
            self.raises("any")
            return Token()
        pairs = list(values.items()) if isinstance(values, dict) else list(self.iterate(values))
        if any(isinstance(each, Token) for each in pairs):
            return (
                Token()
                if sort_of((pairs, keywords)) == RELEASED
                else refuse("a dict of released keys and private values")
            )
        both = [tuple(self.unpack(each, 2, None)) for each in pairs]
        return self.born(dict([(self._key(key), value) for key, value in both], **keywords))

    def b_set(self, values: Any = ()) -> Any:
        """``set``."""
        if isinstance(values, Private):
            refuse("a set of what records hold", "the set of values that are possible")
        listed = list(self.iterate(values))
        if sort_of(listed) == RELEASED:
            self._certain(listed)
            return Token()
        return self.born(set(map(self._key, listed)))

    b_frozenset = b_set

    def b_sorted(self, values: Any, *, key: Any = None, reverse: Any = False) -> Any:
        """``sorted``."""
        if isinstance(values, Private):
            refuse("sorted() of private values", NOISE_FIRST)
        if isinstance(values, Token) and items(values) is None:
            self.raises("any")
            return Token()
        listed = list(self.iterate(values))
        keys = [each if key is None else self.call(key, each) for each in listed]
        sort = max(sort_of(keys), sort_of(reverse))
        if sort == PRIVATE or sort_of(listed) == PRIVATE:
            refuse("sorting of or by private values", "sorting by released values")
        if sort == PUBLIC:
            order = sorted(range(len(listed)), key=keys.__getitem__, reverse=bool(reverse))
            return self.born([listed[place] for place in order])
        self._certain(keys, listed)
        self.raises("any")
        kinds = {each.kinds if isinstance(each, Token) and each.is_number else None for each in listed}
        one = next(iter(kinds)) if len(kinds) == 1 else None
        return self.born([Token((), one) if one is not None else Token() for _ in listed])

    def b_enumerate(self, values: Any, start: int = 0) -> Any:
        """``enumerate``."""
        if records.records_of(values) is not None if isinstance(values, Private) else False:
            refuse("enumerate() of records, whose order is private", "a loop without numbers")
        return enumerate(self.iterate(values), start)

    def b_zip(self, *values: Any, strict: bool = False) -> Any:
        """``zip``."""
        if any(isinstance(each, Column | Records) for each in values):
            return records.zipped(values)
        return zip(*[self.iterate(each) for each in values], strict=strict)

    def b_map(self, function: Any, *values: Any) -> Any:
        """``map``."""
        if len(values) == 1 and isinstance(values[0], Column):
            return records.applied(function, values[0], "map")
        return map(lambda *each: self.call(function, *each), *[self.iterate(each) for each in values])

    def b_filter(self, function: Any, values: Any) -> Any:
        """``filter``."""
        return filter(
            lambda each: self.truth(each if function is None else self.call(function, each)), self.iterate(values)
        )

    def b_any(self, values: Any) -> Any:
        """``any``."""
        if isinstance(values, Token):
            return number("bool")
        return any(self.truth(each) for each in self.iterate(values))

    def b_all(self, values: Any) -> Any:
        """``all``."""
        if isinstance(values, Token):
            return number("bool")
        return all(self.truth(each) for each in self.iterate(values))

    def b_iter(self, values: Any) -> Any:
        """``iter``."""
        found = self.iterate(values)
        return found if isinstance(found, types.GeneratorType) else iter(found)

    def b_next(self, iterator: Any, *default: Any) -> Any:
        """``next``."""
        known = isinstance(iterator, types.GeneratorType | map | filter | zip | enumerate) or type(
            iterator
        ).__name__.endswith("iterator")
        if not known:
            refuse("next() of this", "a loop")
        if self.state.record:
            refuse("next() for each record", "a sum")
        return naturally(next, iterator, *default)

    def b_reversed(self, values: Any) -> Any:
        """``reversed``."""
        if type(values) not in (list, tuple, range, str, dict):
            refuse("reversed() of this", "reversed(list(x))")
        return reversed(values)

    def b_range(self, *args: Any) -> Any:
        """``range``."""
        if sort_of(args) == RELEASED:
            return Token()
        return range(*args) if sort_of(args) == PUBLIC else refuse("a range of a private length", NOISE_FIRST)

    def b_isinstance(self, value: Any, kind: Any) -> Any:
        """``isinstance``."""
        if isinstance(value, Frame):
            return kind is pd.DataFrame if isinstance(kind, type) else refuse("isinstance() of the data in this form")
        if isinstance(value, Column) and isinstance(kind, type):
            return kind is (pd.Series if value.is_series else np.ndarray)
        if isinstance(value, Token):
            self._certain(value)
            return Token()
        if isinstance(value, Private):
            refuse("isinstance() of a private value, whose type may hang on the data", "no test of its type")
        return isinstance(value, kind)

    def b_hasattr(self, value: Any, name: Any) -> Any:
        """``hasattr``."""
        if sort_of((value, name)) != PUBLIC or type(name) is not str or name[:1] == "_":
            refuse("hasattr() of what is not public")
        return hasattr(value, name)

    def b_getattr(self, value: Any, name: Any, *default: Any) -> Any:
        """``getattr``."""
        if type(name) is not str or (default and not isinstance(value, Private | Token) and not hasattr(value, name)):
            return default[0] if default and type(name) is str else refuse("getattr() by a name that is not public")
        return self.attribute(value, name)

    def b_setattr(self, value: Any, name: Any, new: Any) -> None:
        """``setattr``."""
        if type(name) is not str:
            refuse("setattr() by a name that is not public")
        self.set_attribute(value, name, new)

    def b_type(self, value: Any, *more: Any) -> Any:
        """``type``."""
        if more or isinstance(value, Private | Token):
            refuse("type() of what is not public", "no test of its type")
        return type(value)

    def b_super(self, *args: Any) -> Any:
        """``super``."""
        return super(*args) if len(args) == 2 else refuse("super() in this form")

    def b_print(self, *args: Any, **keywords: Any) -> None:
        """``print``: an output."""
        if set(keywords) - {"sep", "end", "flush"}:
            refuse("print to a file", "print without file=")
        self._quiet(print, args, keywords)

    def b_callable(self, value: Any) -> Any:
        """``callable``."""
        return callable(value) if sort_of(value) == PUBLIC else refuse("callable() of what is not public")

    def b_format(self, value: Any, specification: Any = "") -> Any:
        """``format``."""
        return self.format(value, -1, specification)

    # --- values -------------------------------------------------------------------------------------------

    @_hook
    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        owner_ = self.seen(owner)
        if isinstance(owner_, Token):
            if name == "shape" and owner_.shape is not None and owner_.kinds is not None:
                return owner_.shape
            if name == "size" and owner_.shape is not None and owner_.kinds is not None:
                return int(np.prod(owner_.shape))
            if name == "index" and owner_.labels is not None:
                return owner_.labels
            if name == "columns" and owner_.columns is not None:
                return owner_.columns
            if name == "values" and owner_.kinds and owner_.kinds <= frozenset(("series", "frame")):
                return array(owner_.shape or ())
            if name in ("loc", "iloc", "at", "iat") and not isinstance(owner, np.ndarray):
                return owner_ if name in ("loc", "at") else Token()
            if name[:2] == "__":
                refuse(f"the attribute {name}")
            if name not in ("T", "dtype", "name", "real", "imag", "str", "dt", "args"):
                return Bound(owner_, name)
            self._certain(owner_)
            self.raises("any")
            return Token()
        if isinstance(owner, Private):
            return self._attribute_of_private(owner, name)
        if name[:2] == "__" and name not in _DUNDERS:
            refuse(f"the attribute {name}")
        if isinstance(owner, types.ModuleType):
            top = owner.__name__.split(".")[0]
            file = getattr(owner, "__file__", None)
            if top not in calls.MODULES and not (file and is_of_user(file)):
                refuse(f"the module {owner.__name__} is not known here")
            return naturally(getattr, owner, name)
        kind = type(owner)
        if is_of_users_class(kind) and kind is not type:
            return self._attribute_of_object(owner, name)
        if isinstance(owner, type):
            return naturally(getattr, owner, name)
        if isinstance(owner, super):
            return naturally(getattr, owner, name)
        if isinstance(owner, BaseException):
            if name != "args":
                refuse(f".{name} of an exception")
            return owner.args
        if isinstance(owner, types.FunctionType | types.MethodType | functools.partial):
            if name in ("__name__", "__qualname__", "__doc__"):
                return naturally(getattr, owner, name)
            refuse(f".{name} of a function")
        if name.startswith("_"):
            refuse(f"the attribute {name}")
        if name == "rvs" and source_of(getattr(owner, name, None)) is not None:
            return getattr(owner, name)
        if sort_of(owner) == PRIVATE and kind not in calls.READS and kind not in (types.SimpleNamespace,):
            refuse(f".{name} of a {kind.__name__} is not known here")
        if kind is types.SimpleNamespace:
            return naturally(getattr, owner, name)
        found = naturally(getattr, owner, name)
        if isinstance(owner, np.ndarray) and isinstance(found, np.ndarray):
            self.fresh(found, owner)
        return found

    def _attribute_of_private(self, owner: Private, name: str) -> Any:
        if name.startswith("_"):
            refuse(f"the attribute {name}")
        if isinstance(owner, Frame) and name in ("iterrows", "itertuples"):
            return Bound(owner, name)
        if isinstance(owner, Column):
            return (
                Bound(owner, name)
                if methods.column_method(owner, name) is not None
                else methods.column_attribute(owner, name)
            )
        if isinstance(owner, Number):
            known = methods.number_method(owner, name) is not None or name in ("add", "sub", "mul", "div")
            return Bound(owner, name) if known else methods.number_attribute(owner, name)
        if isinstance(owner, Draw):
            return owner.shape if name == "shape" else refuse(f".{name} of noise", "the noise added to a number")
        if owner.method(name) is not None:
            return Bound(owner, name)
        return owner.get(name)

    def _attribute_of_object(self, owner: Any, name: str) -> Any:
        """An attribute of an object of the user's; what Python would run for it is called rewritten."""
        kind = type(owner)
        found = dispatch.in_class(kind, name)
        mine = getattr(owner, "__dict__", {})
        if isinstance(found, property):
            return self.call(found.fget, owner)
        if isinstance(found, functools.cached_property):
            if name not in mine:
                value = self.call(found.func, owner)
                self.own(owner)
                mine[name] = value
            return mine[name]
        if name in mine:
            return mine[name]
        if found is None:
            if dispatch.method(owner, "__getattr__") is not None:
                return self.call(dispatch.method(owner, "__getattr__"), name)
            return naturally(getattr, owner, name)
        known = (
            types.FunctionType,
            staticmethod,
            classmethod,
            types.MemberDescriptorType,
            types.WrapperDescriptorType,
            types.MethodDescriptorType,
        )
        if (
            not isinstance(found, known)
            and hasattr(type(found), "__get__")
            and not (isinstance(owner, tuple | enum.Enum))
        ):
            refuse(f".{name}, a descriptor of a kind that is not known here", "a property")
        return naturally(getattr, owner, name)

    @_hook
    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        kind = type(owner)
        if isinstance(owner, Frame):
            refuse("a column that is set as an attribute", f'df["{name}"] = …')
        if name[:2] == "__" or isinstance(owner, type | types.ModuleType | types.FunctionType):
            refuse(f"an assignment to the attribute {name}, which lasts", "a local name")
        if kind is not types.SimpleNamespace and not is_of_users_class(kind):
            refuse(f"an assignment to an attribute of a {kind.__name__}")
        self.own(owner)
        found = dispatch.in_class(kind, name)
        if isinstance(found, property):
            if found.fset is None:
                naturally(setattr, owner, name, value)
            if found.fset is None:
                raise AttributeError(f"property {name!r} of {kind.__name__!r} object has no setter")
            self.call(found.fset, owner, value)
            return
        setter = dispatch.method(owner, "__setattr__")
        if setter is not None:
            self.call(setter, name, value)
            return
        naturally(setattr, owner, name, value)

    @_hook
    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        self.own(owner)
        delattr(owner, name)

    @_hook
    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        method = dispatch.method(owner, "__getitem__")
        if method is not None:
            return self.call(method, key)
        owner = self.seen(owner)
        if isinstance(owner, Private):
            return self._item_of_private(owner, key)
        sort = sort_of(key)
        if isinstance(owner, Token):
            return self._item_of_token(owner, key, sort)
        if isinstance(key, Sampling | Column):
            refuse("a choice by a private mask of what is not of the same rows", "a mask of the same frame")
        if sort == PRIVATE:
            refuse("a choice by a private value", NOISE_FIRST)
        if sort == RELEASED:
            if sort_of(owner) == PRIVATE:
                refuse("a private value that a released one chooses", "noise on all of them first")
            self._certain(key)
            self.raises("any")
            return Token()
        kind = type(owner)
        if kind is collections.defaultdict:
            if key not in owner:
                self.own(owner)
                owner[key] = self.call(owner.default_factory)
            return owner[key]
        if kind in (
            list,
            tuple,
            dict,
            str,
            bytes,
            range,
            collections.OrderedDict,
            collections.Counter,
            collections.deque,
            types.MappingProxyType,
        ) or isinstance(owner, tuple):
            found = naturally(operator.getitem, owner, key)
            return self.born(found) if isinstance(key, slice) and kind is list else found
        if kind.__name__ in _INDEXERS or (
            isinstance(owner, np.ndarray | pd.Series | pd.Index | pd.DataFrame | type) and sort_of(owner) == PUBLIC
        ):
            if kind.__name__ in _INDEXERS and sort_of(owner.obj) != PUBLIC:
                refuse("a part of a table that is not public")
            return self.fresh(naturally(operator.getitem, owner, key), owner)
        if isinstance(owner, pd.DataFrame | pd.Series) and sort_of(owner) == RELEASED:
            self.raises("any")
            return Token()
        return refuse(f"an item of a {kind.__name__} is not known here")

    def _item_of_private(self, owner: Private, key: Any) -> Any:
        if isinstance(owner, Column):
            return self._item_of_column(owner, key)
        if isinstance(owner, Number | Draw):
            return owner.at(key)
        if isinstance(owner, Frame | Groups | Keyed | Loc | Row):
            return owner.select(key)
        return refuse(f"an item of a {owner.noun}", NOISE_FIRST)

    def _item_of_column(self, owner: Column, key: Any) -> Any:
        if isinstance(key, Column):
            return owner.kept(key)
        if isinstance(key, Sampling):
            rows = key.of(owner.rows)
            return Column(rows, owner.space, owner.low, owner.high, owner.source, is_stable=owner.is_stable)
        if (
            owner.width
            and isinstance(key, tuple)
            and len(key) == 2
            and key[0] == slice(None)
            and isinstance(key[1], int | slice)
        ):
            low = owner.low[key]
            return owner.with_values(owner.space, low, None if owner.is_exact else owner.high[key])
        return refuse("a choice of rows by place: which record stands where is private", "a mask: x[x > 0]")

    def _item_of_token(self, owner: Token, key: Any, sort: int) -> Any:
        if sort == PRIVATE:
            refuse("a released value that a private one chooses", NOISE_FIRST)
        self._certain(owner)
        if (
            sort == PUBLIC
            and owner.is_array
            and owner.shape
            and type(key) is int
            and len(owner.shape) == 1
            and -owner.shape[0] <= key < owner.shape[0]
        ):
            return number("np.float64")
        if sort == PUBLIC and owner.is_array and owner.shape:
            try:
                shape = np.broadcast_to(0.0, owner.shape)[key].shape
                return array(shape) if shape else number("np.float64")
            except (IndexError, TypeError, ValueError):
                pass
        if (
            sort == PUBLIC
            and owner.labels is not None
            and owner.columns is None
            and not isinstance(key, list | slice | np.ndarray)
            and key in owner.labels
        ):
            return number("np.float64")
        if (
            sort == PUBLIC
            and owner.columns is not None
            and isinstance(key, str)
            and key in owner.columns
            and owner.shape
        ):
            return Token(owner.shape[:1], frozenset(("series",)), owner.labels)
        self.raises("any")
        return Token()

    @_hook
    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``."""
        method = dispatch.method(owner, "__setitem__")
        if method is not None:
            self.call(method, key, value)
            return
        if isinstance(owner, Frame | Loc):
            owner.store(key, value)
            return
        owner_ = self.seen(owner)
        if isinstance(owner_, Private):
            refuse(f"an assignment into a {owner_.noun}", "x.where(mask, other)")
        sort, of_key = sort_of(value), sort_of(key)
        if isinstance(owner_, Token):
            if max(sort, of_key) == PRIVATE:
                refuse("a private value that is put into a released one", NOISE_FIRST)
            self._certain(key, value)
            self.raises("any")
            if not owner_.is_array:
                owner_.shape = owner_.kinds = owner_.labels = owner_.columns = None
            return
        kind, target = type(owner), owner
        if kind.__name__ in _INDEXERS:
            kind, owner = type(owner.obj), owner.obj
        if kind not in (
            list,
            dict,
            np.ndarray,
            pd.Series,
            pd.DataFrame,
            collections.OrderedDict,
            collections.Counter,
            collections.defaultdict,
            collections.deque,
        ):
            refuse(f"an assignment into a {kind.__name__}")
        self.own(owner)
        if of_key != PUBLIC:
            refuse("a key or place that is not public", "public keys")
        if kind in (np.ndarray, pd.Series, pd.DataFrame):
            if sort == PRIVATE:
                refuse("a private value that is put into an array or table", "noise first, or np.array([…]) of all")
            if sort == RELEASED:
                if kind is np.ndarray and owner.base is not None:
                    refuse("a released value that is put into a view of an array", "an array of its own")
                self._certain(value)
                token = array(owner.shape) if kind is np.ndarray and owner.dtype.kind == "f" else Token()
                if kind is pd.Series and key in owner.index and owner.index.is_unique:
                    token = Token(owner.shape, frozenset(("series",)), owner.index)
                self.tainted[id(owner)] = (owner, token)
                return
        naturally(operator.setitem, target, key, value)

    @_hook
    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        if sort_of(key) != PUBLIC or type(owner) not in (list, dict, collections.OrderedDict):
            refuse("del of this")
        self.own(owner)
        naturally(operator.delitem, owner, key)

    def slice(self, *parts: Any) -> Any:
        """``a:b:c``."""
        return slice(*parts)

    @_hook
    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        for method, other in dispatch.operators(name, left, right):
            value = self.call(method, other)
            if value is not NotImplemented:
                return value
        left, right = self.seen(left), self.seen(right)
        if isinstance(left, Private) or isinstance(right, Private):
            return self._binary_of_private(name, left, right)
        sorts = sort_of(left), sort_of(right)
        if max(sorts) == PUBLIC:
            return self.fresh(naturally(OPERATION[name], left, right), left, right)
        if name in ("add", "mul") and type(left) in (list, tuple) and type(right) in (list, tuple, int):
            found = OPERATION[name](left, right)
            return self.born(found) if type(found) is list else found
        if name == "or_" and type(left) is dict and type(right) is dict:
            return self.born(left | right)
        if max(sorts) == PRIVATE:
            refuse("an operator on a collection that holds private values", "the values one by one")
        self._raising(name, left, right)
        return combined(name, left, right)

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
        if isinstance(left, Half) or isinstance(right, Half):
            if name in ("add", "sub") and isinstance(left, Half):
                return left.meets(right, 1 if name == "add" else -1)
            refuse("noise of one side alone, by which some outputs are impossible", "np.random.laplace(0, scale)")
        if isinstance(left, Draw) or isinstance(right, Draw):
            return self._with_draw(name, left, right)
        if isinstance(left, Coins) or isinstance(right, Coins):
            if name in ("lt", "le") and isinstance(left, Coins):
                return left.below(right)
            if name in ("gt", "ge") and isinstance(right, Coins):
                return right.below(left)
            refuse("a random number of each record other than compared with a rate", "np.random.random(len(df)) < 0.1")
        if isinstance(left, Cell) or isinstance(right, Cell):
            if isinstance(left, Adding) and name in ("add", "sub"):
                return left.plus(right, 1 if name == "add" else -1)
            if isinstance(right, Adding) and name == "add":
                return right.plus(left, 1)
            first, other = (left, right) if isinstance(left, Cell) else (right, left)
            if name in COMPARISONS:
                return first.compared(name, other, is_left=first is left)
            return first.combined(name, other, is_left=first is left)
        if isinstance(left, Adding) or isinstance(right, Adding):
            if name in ("add", "sub") and isinstance(left, Adding):
                return left.plus(right, 1 if name == "add" else -1)
            if name == "add" and isinstance(right, Adding):
                return right.plus(left, 1)
            refuse("a loop over records that does more than add to a number", "sums: total += x")
        if isinstance(left, methods.Turned) and name == "matmul":
            return left.times(right)
        if isinstance(left, Column) or isinstance(right, Column):
            return self._of_columns(name, left, right)
        if isinstance(left, PerPerson) and name in COMPARISONS and isinstance(right, int | float):
            return left.test()
        if isinstance(left, Exponentials):
            return (
                left.over(right) if name == "truediv" else refuse("arithmetic of exponentials of scores", "e / e.sum()")
            )
        if isinstance(left, Shifted) or isinstance(right, Shifted):
            shifted, factor = (left, right) if isinstance(left, Shifted) else (right, left)
            if name == "mul" or (name == "truediv" and shifted is left):
                return Shifted(shifted.scores.times(factor) if name == "mul" else shifted.scores.over(factor))
            refuse("arithmetic of scores less their largest")
        if isinstance(left, Number) or isinstance(right, Number):
            return self._of_numbers(name, left, right)
        noun = (left if isinstance(left, Private) else right).noun
        return refuse(f"an operator on a {noun}", NOISE_FIRST)

    def _with_draw(self, name: str, left: Any, right: Any) -> Any:
        draw, other = (left, right) if isinstance(left, Draw) else (right, left)
        if name == "add":
            return meet(draw, other, 1)
        if name == "sub":
            if isinstance(left, Draw) and isinstance(right, Draw):
                return meet(left, right, -1)
            if draw is right:
                if draw.law in ("exponential", "geometric") and isinstance(other, Number):
                    return meet(draw, other, -1)
                return meet(draw.negative(), other, 1)
            negative = other if isinstance(other, Token) else self.unary("neg", other)
            return meet(draw, negative, 1)
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
        if isinstance(left, Column):
            if isinstance(right, Number):
                refuse("a private column with a private number, by which every record moves", "a constant in its place")
            if name == "matmul":
                if not left.width or not left.is_exact or isinstance(right, Private):
                    refuse("a product of rows with what is no public vector", "sums of columns, times constants")
                return (
                    left.apply("matmul", operator.matmul, right)
                    if np.shape(right) == (left.width,)
                    else refuse("a product of rows with what has another shape")
                )
            if name in ("and_", "or_", "xor"):
                if not left.is_mask or not (isinstance(right, Column) and right.is_mask):
                    refuse("&, | or ^ of what are no masks", "comparisons of columns, in brackets")
                return left.apply("and", OPERATION[name], right)
            if name == "mul" and right is left and not left.is_exact:
                return left.apply("pow", operator.pow, 2)
            return left.apply(name, OPERATION[name], right)
        function = OPERATION[name]
        if isinstance(left, Number):
            refuse("a private column with a private number, by which every record moves", "a constant in its place")
        reflected = {"add": "add", "mul": "mul", "sub": "sub"} | {each: each for each in COMPARISONS}
        found = reflected.get(name, f"reflected {name}")
        flipped = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
        if name in COMPARISONS:
            return right.apply(flipped.get(name, name), OPERATION[flipped.get(name, name)], left)
        return right.apply(found, lambda values, other: function(other, values), left)

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
            return exact.times(other)
        if name == "truediv" and isinstance(left, Number):
            return left.over(right)
        if name in COMPARISONS:
            refuse("a comparison of a private number", "noise first, and the comparison of what is released")
        return refuse(
            f"an operator ({name}) on a private number, which may move it farther than a record does", NOISE_FIRST
        )

    @_hook
    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            method = dispatch.method(right, "__contains__")
            if method is not None:
                return self.truth(self.call(method, left)) == (name == "in_")
            return self._contains(left, right) if name == "in_" else self._negated(self._contains(left, right))
        if name not in ("is_", "is_not"):
            return self.binary(name, left, right)
        for each, other in ((left, right), (right, left)):
            if isinstance(each, Token):
                if other is None and each.kinds is not None:
                    return name == "is_not"
                self._certain(each)
                return Token()
            if isinstance(each, Frame | Column | Number) and other is None:
                return name == "is_not"
            if isinstance(each, Private):
                refuse("'is' of a private value")
        return OPERATION[name](left, right)

    def _negated(self, value: Any) -> Any:
        return number("bool") if isinstance(value, Token) else not value

    def _contains(self, member: Any, container: Any) -> Any:
        container = self.seen(container)
        if isinstance(container, Frame):
            return member in container.columns if isinstance(member, str) else refuse("'in' of the data")
        if isinstance(container, Private) or isinstance(member, Private):
            refuse("'in' of a private value", "isin([…]) of a column, or noise first")
        if (
            type(container) in (dict, collections.OrderedDict, collections.defaultdict)
            and sort_of(member) == PUBLIC
            and sort_of(list(container)) == PUBLIC
        ):
            return member in container
        sort = max(sort_of(member), sort_of(container))
        if sort == PRIVATE:
            refuse("'in' of a collection that holds private values", NOISE_FIRST)
        if sort == RELEASED:
            self._certain(member, container)
            self.raises("any")
            return number("bool")
        return naturally(OPERATION["in_"], member, container)

    @_hook
    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        method = dispatch.method(value, f"__{name.strip('_')}__")
        if method is not None:
            return self.call(method)
        value = self.seen(value)
        if isinstance(value, Token):
            if not (value.is_number or value.is_array):
                self._certain(value)
                self.raises("any")
            return Token(value.shape, value.kinds, value.labels, value.columns)
        if isinstance(value, Column):
            if name == "invert" and not value.is_mask:
                refuse("~ of what is no mask", "~(x > 0)")
            return value.apply(name, OPERATION[name])
        if isinstance(value, Number) and name in ("neg", "pos"):
            return value.times(-1) if name == "neg" else value
        if isinstance(value, Draw) and name == "neg":
            return value.negative()
        if isinstance(value, Cell) and name == "neg":
            return value.negative()
        if sort_of(value) != PUBLIC:
            refuse(f"an operator ({name}) on what is not public", NOISE_FIRST)
        return self.fresh(naturally(OPERATION[name], value), value)

    @_hook
    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        method = dispatch.method(target, f"__i{name.strip('_')}__")
        if method is not None:
            found = self.call(method, value)
            if found is not NotImplemented:
                return found
        seen = self.seen(target)
        if type(target) is list and name == "add":
            self.own(target)
            target += list(self.iterate(value))
            return target
        if isinstance(seen, Token):
            if isinstance(value, Private) and not isinstance(value, Draw):
                refuse("a private value that is added to a released one in place", NOISE_FIRST)
            return self.binary(name, seen, value)
        if isinstance(target, np.ndarray | pd.Series | pd.DataFrame | set | dict | collections.deque | bytearray):
            if sort_of((target, value)) == PUBLIC:
                self.own(target)
                return naturally(IN_PLACE[name], target, value)
            refuse("an array or container that is changed in place by what is not public", "a = a + b")
        if isinstance(target, Column):
            return self.binary(name, target, value)
        return self.binary(name, target, value)

    def truth(self, value: Any) -> Any:
        """``if a``."""
        self.state.step()
        kind = type(value)
        if kind is bool:
            return value
        if kind is Unknown:
            return self._guessed()
        value = self.seen(value)
        if isinstance(value, Token):
            try:
                if not value.is_certain and not value.is_number:
                    refuse_uncertain()
                if value.shape is None:
                    self.raises("any")
                return value.decided()
            except Refusal as why:
                self.state.note(Refused(line(), *why.args))
                return self._guessed()
        if isinstance(value, Private):
            if isinstance(value, Cell):
                return value.compared("ne", 0, is_left=True)
            self.state.note(
                Refused(line(), f"a branch on a {value.noun}", "noise first, and the branch on what is released")
            )
            return self._guessed()
        if kind in (
            list,
            tuple,
            dict,
            set,
            str,
            frozenset,
            collections.deque,
            collections.defaultdict,
            collections.OrderedDict,
            collections.Counter,
        ):
            return bool(value)
        for name in ("__bool__", "__len__"):
            method = dispatch.method(value, name)
            if method is not None:
                return self.truth(self.call(method))
        if sort_of(value) != PUBLIC:
            refuse_and_leave(
                "a branch on something that is not public", "noise first, and the branch on what is released"
            )
        return bool(value)

    def _guessed(self) -> bool:
        """Go on where the reading is refused anyway, for what else there is to say: into a part, once."""
        where = line()
        known = where in self._guesses
        self._guesses.add(where)
        return not known

    def iterate(self, value: Any) -> Any:
        """``for x in a``."""
        self.state.step()
        if type(value) is Unknown:
            return iter((value,))
        try:
            return self._iterated(self.seen(value))
        except Refusal as why:
            self.state.note(Refused(line(), *why.args))
            return iter((Unknown(),))

    def _iterated(self, value: Any) -> Any:
        kind = type(value)
        if (
            kind
            in (
                list,
                tuple,
                dict,
                set,
                str,
                range,
                frozenset,
                types.GeneratorType,
                collections.deque,
                collections.OrderedDict,
                collections.Counter,
                collections.defaultdict,
            )
            or kind in _VIEWS
        ):
            return value
        method = dispatch.method(value, "__iter__")
        if method is not None:
            return self.call(method)
        if isinstance(value, Token):
            found = items(value)
            if found is None:
                refuse(
                    "a loop over something released of which the length is not known",
                    "a loop over public keys or places",
                )
            return iter(found)
        if isinstance(value, Number | Draw):
            return iter(value.parts())
        if isinstance(value, Frame):
            return iter(list(value.columns))
        if isinstance(value, Private):
            refuse(
                f"a loop over a {value.noun} that does more than add to numbers, or ends early: what it keeps from one "
                "record to the next cannot be followed",
                "columns, or total += x in a plain loop",
            )
        if (
            kind.__module__ == "itertools"
            or kind.__name__.endswith("iterator")
            or isinstance(value, enum.EnumMeta)
            or isinstance(value, tuple)
        ):
            return value
        if sort_of(value) == PUBLIC and isinstance(
            value, np.ndarray | pd.Index | pd.Series | pd.DataFrame | types.MappingProxyType
        ):
            return value
        return refuse(f"a loop over a {kind.__name__} is not known here", "a list")

    def unpack(self, value: Any, count: int, star: int | None) -> Sequence[Any]:
        """``a, *b = v``."""
        value = self.seen(value)
        if type(value) is Unknown:
            return [value] * count
        if isinstance(value, Token) and items(value) is None:
            if star is not None:
                self.state.note(Refused(line(), "a starred target of something released of unknown length", ""))
                self.state.leave()
            self.raises("any")
            return [Token() for _ in range(count)]
        return super().unpack(value, count, star)

    @_hook
    def mapping(self, value: Any) -> Any:
        """``**a``."""
        return value if type(value) is dict else refuse("** of something that is no dict")

    def _key(self, value: Any) -> Any:
        if sort_of(value) != PUBLIC:
            refuse("a key that is not public", "public keys")
        return value

    def key(self, value: Any) -> Any:
        """What a dict or set goes by."""
        try:
            return self._key(value)
        except Refusal as why:
            self.state.note(Refused(line(), *why.args))
            return self.state.leave()

    def new(self, value: Any) -> Any:
        """A list, set or dict that was written down."""
        return self.born(value)

    @_hook
    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        value = self.seen(value)
        sort = max(sort_of(value), sort_of(specification))
        if sort == PRIVATE:
            refuse("the text of a private value", NOISE_FIRST)
        if sort == RELEASED:
            is_shown_alike = isinstance(value, Token) and value.is_number and conversion in (-1, 115) and specification
            if not is_shown_alike:
                self._certain(value)
            self.raises("any")
            return Token()
        if dispatch.has_own_methods(type(value)) or is_of_users_class(type(value)):
            method = dispatch.method(value, "__format__") if specification else None
            method = (
                method
                or dispatch.method(value, "__repr__" if conversion == 114 else "__str__")
                or dispatch.method(value, "__repr__")
            )
            if method is not None:
                found = (
                    self.call(method, specification) if method.__func__.__name__ == "__format__" else self.call(method)
                )
                return found if not isinstance(found, str) else format(found, specification)
        if "0x" in repr(value) if not isinstance(value, str | int | float) else False:
            refuse("the text of an object that shows where it is stored")
        return format(CONVERSIONS[conversion](value) if conversion != -1 else value, specification)

    @_hook
    def join(self, parts: list[Any]) -> Any:
        """The parts of a text."""
        sort = sort_of(parts)
        return (
            "".join(parts)
            if sort == PUBLIC
            else Token((), frozenset(("str",)))
            if sort == RELEASED
            else refuse("the text of a private value", NOISE_FIRST)
        )

    def enter(self, manager: Any) -> Any:
        """``with a``."""
        if dispatch.method(manager, "__enter__") is not None:
            return super().enter(manager)
        if isinstance(manager, contextlib._GeneratorContextManager) or type(manager) in _MANAGERS:
            return manager
        self.state.note(
            Refused(line(), f"with {type(manager).__name__}, which is not known here", "the statements without it")
        )
        return contextlib.nullcontext(Unknown())

    def importing(self, name: str) -> None:
        """``import a`` within a function."""
        if name.split(".")[0] not in calls.MODULES:
            self.state.note(Refused(line(), f"import {name} within the function", "the import at the top of the file"))

    # --- patterns -----------------------------------------------------------------------------------------

    def match_sequence(self, value: Any, count: int, star: int | None) -> Sequence[Any] | None:
        """``case [a, *b]``."""
        return super().match_sequence(self._matched(value), count, star)

    def match_mapping(self, value: Any, keys: tuple[Any, ...]) -> Sequence[Any] | None:
        """``case {k: a}``."""
        return super().match_mapping(self._matched(value), keys)

    def match_class(self, value: Any, kind: Any, places: int, names: tuple[str, ...]) -> Sequence[Any] | None:
        """``case C(a)``."""
        return super().match_class(self._matched(value), kind, places, names)

    def _matched(self, value: Any) -> Any:
        if isinstance(self.seen(value), Token | Private):
            refuse_and_leave("a match of something that is not public", "if and comparisons")
        return value


__all__ = ["Bound", "Mapping", "Universe", "io", "length_of"]
