"""What does a call do in many runs: of the user's own functions, of libraries, of what draws?"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from dpaudit.reading import callables, definite, dispatch, draws, python, rewrite
from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.runs import builtin_calls, containers, numbers, table_methods, tables
from dpaudit.reading.runs.active import DeadError, Generating, SplitError, unbound_error
from dpaudit.reading.runs.applied import apply, apply_method, call_method, each_alternative, plainly
from dpaudit.reading.runs.draws import Drawing
from dpaudit.reading.runs.masked import Masked
from dpaudit.reading.runs.values import (
    UNBOUND,
    Alternatives,
    Array,
    Container,
    Member,
    Numbers,
    Table,
    Windows,
    differs,
    is_of_pandas,
    raw,
)
from dpaudit.reading.source import is_own, rewritten

_SHOWING = frozenset((
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "diagonal", "view", "asarray", "asanyarray",
    "atleast_1d", "atleast_2d", "expand_dims", "broadcast_to", "flip", "fliplr", "flipud", "rot90", "rollaxis", "diag",
    "ascontiguousarray", "matrix_transpose", "real", "imag", "require", "to_numpy",
))  # fmt: skip
"""Functions and methods of NumPy whose result may be a part of what they are given."""


_OF_PANDAS = {
    "map": ("Series",),
    "apply": ("Series", "DataFrame", "SeriesGroupBy", "DataFrameGroupBy"),
    "agg": ("SeriesGroupBy",),
    "aggregate": ("SeriesGroupBy",),
    "pipe": ("Series", "DataFrame", "SeriesGroupBy", "DataFrameGroupBy"),
    "assign": ("DataFrame",),
}
"""Methods of pandas that call a function for each value, row or group, or for all, and the types whose they are."""
_MARK = 2.0**52


class RunCalls(Drawing):
    """The calls of many runs."""

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten with control under masks; where that has no form, with Python's own."""
        twin = self._twins.get(function)
        if twin is None:
            try:
                twin = rewritten(function, Masked, self)
            except rewrite.UnreadableError:
                try:
                    twin = rewritten(function, definite.Looping, self)
                except rewrite.UnreadableError as error:
                    self.give_up(str(error))
                twin.__dict__["closes"] = True
            self._twins[function] = twin
        return twin

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``."""
        function = self.present(function)
        kind = type(function)
        if kind is types.FunctionType:
            if is_own(function):
                new = function if python.is_rewritten(function) else self.twin(function)
                return self._entered(new, args, keywords)
        elif kind is Member:
            return self._bearing(self._method(function.owner, function.name, args, keywords))
        elif kind is Alternatives:
            title = self._title_of_all(function)
            if title is not None:
                return self.of_library(_call, title, (function, *args), keywords)
            return each_alternative(self, function, lambda each: self.call(each, *args, **keywords))
        elif function is UNBOUND:
            self.leave(unbound_error("a function"))
        return self._bearing(super().call(function, *args, **keywords))

    def _bearing(self, made: Any) -> Any:
        """Return what a call made; an iterator is of this call."""
        if hasattr(type(made), "__next__"):
            self.own_iterators[id(made)] = made
        return made

    def _entered(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a rewritten function: exceptions cross from Python's control to that under masks, and back."""
        closes = bool(function.__dict__.get("closes")) or (
            self.closes and "__dpaudit_frame__" not in function.__code__.co_varnames
        )
        if function.__code__.co_flags & inspect.CO_GENERATOR:
            return Generating(self, function(*args, **keywords))
        if closes == self.closes:
            return function(*args, **keywords)
        before, self.closes = self.closes, closes
        try:
            if closes:
                try:
                    return function(*args, **keywords)
                except self.control:
                    raise
                except Exception as error:
                    self.closes = before
                    self.leave(error)
            return self._within(function, args, keywords, before)
        finally:
            self.closes = before

    def _within(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any], before: bool) -> Any:
        """Call a function under masks from Python's own control: what its runs raised is raised there."""
        entry = self.active
        mine: list[tuple[Array, Any]] = []
        self.leaving.append(mine)
        try:
            value = function(*args, **keywords)
        except DeadError:
            if not mine:
                raise
            value = None
        finally:
            self.leaving.pop()
        if mine:
            self.closes = before
            self.active = entry
            chosen, error = mine[0]
            if np.array_equal(chosen, entry.chosen):
                raise error
            raise SplitError(chosen)
        return value

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's."""
        own = builtin_calls.BUILTINS.get(function) if type(function) in _HASHED else None
        if own is not None:
            return own(self, *args, **keywords)
        if draws.is_seeder(function):
            self.give_up(f"{getattr(function, '__qualname__', 'seed')}: what is seeded is no noise")
        source = draws.source_of(function)
        if source is not None:
            return self.drawn(source, function, args, keywords)
        if draws.is_maker(function):
            return self.generator(function, args, keywords)
        if type(function) is types.FunctionType and function.__code__ is python.OF_CONTEXTLIB:
            wrapped = getattr(function, "__wrapped__", None)
            if not self.closes or not is_own(wrapped):
                self.give_up(f"{_title(function)}, a manager")
            return contextlib.contextmanager(functools.partial(self.call, wrapped))(*args, **keywords)
        if not differs((args, tuple(keywords.values()))) and callables.makes(function, args, keywords):
            return plainly(self, function, args, keywords)
        title = callables.title_of(function)
        if title is not None:
            return self.of_library(function, title, args, keywords)
        bound = getattr(function, "__self__", None)
        if type(bound) is Generating:
            with self.as_python:
                return function(*args, **keywords)
        if bound is not None and type(bound) is not types.ModuleType and not isinstance(bound, type):
            return self._method(bound, function.__name__, args, keywords, function)
        return self._function(function, args, keywords)

    def _gone_through(self, function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return arguments with a list in place of an iterator, whose members may differ by run."""
        if not any(hasattr(type(each), "__next__") for each in args):
            return args
        if getattr(function, "__module__", "") == "itertools" and any(type(each) is Generating for each in args):
            self.give_up(f"{_title(function)} of a generator")
        return tuple(Container(list(self.iterate(each))) if hasattr(type(each), "__next__") else each for each in args)

    def _function(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        effect = effect_of(function)
        if effect is Effect.SILENT:
            return None
        if is_bare(function) or is_plain_dataclass(function):
            return self._made_really(function, args, keywords)
        args, keywords = self.callbacks(args, keywords)
        args = self._gone_through(function, args)
        if effect is Effect.PURE and not _draws_within(args, keywords):
            if keywords.get("out") is not None or (type(function) is np.ufunc and len(args) > function.nin):
                self.give_up(f"{_title(function)} with out=")
            made = tables.made(self, function, args, keywords)
            if made is NotImplemented:
                made = apply(self, function, args, keywords, numbers.function_of_arrays(self, function, keywords))
            return self.shown(getattr(function, "__name__", ""), args, made)
        if effect is Effect.ONCE and not differs((args, tuple(keywords.values()))):
            return plainly(self, function, args, keywords)
        if effect is Effect.CHANGES:
            self.give_up(f"{getattr(function, '__name__', function)}(), which changes its argument")
        self.give_up(f"{_title(function)}, which may draw, or remember something, by itself")

    def callbacks(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments whose functions a library may call: only what draws nothing, in one run at a time."""

        def called(each: Any) -> Any:
            return _Callback(self, each) if _is_users(each) else each

        return tuple(map(called, args)), {name: called(each) for name, each in keywords.items()}

    def _title_of_all(self, owner: Alternatives, name: str = "") -> str | None:
        """Return the name of a call that is made in each run, if it is that of every object of a library."""
        values = owner.values
        if not callables.is_of_library(values[0]) or len(set(map(type, values))) > 1:
            return None
        titles = {callables.title_of(getattr(each, name) if name else each) for each in values}
        return titles.pop() if len(titles) == 1 else None

    def _method(self, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any], bound: Any = None) -> Any:
        owner = self.present(owner)
        if type(owner) is Alternatives:
            title = self._title_of_all(owner, name)
            if title is not None:
                return self.of_library(functools.partial(call_method, name), title, (owner, *args), keywords)
        if self.differs_nearly_everywhere(owner) and not any(
            type(each) is Container and containers.base_of(each.content) for each in owner.values
        ):
            return apply_method(self, owner, name, args, keywords)
        if type(owner) is Alternatives:
            return each_alternative(self, owner, lambda each: self._method(each, name, args, keywords))
        if name in _OF_PANDAS and any(map(_is_users, (*args[:1], *keywords.values()))):
            result = self._by_users(owner, name, args, keywords)
            if result is not NotImplemented:
                return result
        if (
            type(owner) is Container
            and not isinstance(owner.content, np.ndarray | Numbers | Table)
            and not is_of_pandas(type(owner.content))
        ):
            return containers.method(self, owner, name, args, keywords)
        if type(owner) in (Container, Numbers, Table, Windows):
            return self.array_method(owner, name, args, keywords)
        effect = effect_of(bound if bound is not None else getattr(type(owner), name, None), owner, name)
        if effect is Effect.SILENT:
            return None
        if effect is Effect.CHANGES:
            if type(owner) in (list, dict, set, np.ndarray):
                self.give_up(f".{name}() of something that was not made in this call")
            self.give_up(f".{name}() of a {type(owner).__name__}")
        args, keywords = self.callbacks(args, keywords)
        args = self._gone_through(bound, args)
        if effect is Effect.PURE and not _draws_within(args, keywords):
            return apply_method(self, owner, name, args, keywords)
        if not differs((owner, args, tuple(keywords.values()))) and self.active.whole and effect is Effect.ONCE:
            return plainly(self, getattr(raw(owner), name), args, keywords)
        if effect is Effect.ONCE:
            self.give_up(f".{name}() of a {type(owner).__name__}")
        self.give_up(f".{name}() of a {type(owner).__name__}, which may draw, or remember something, by itself")

    def _by_users(self, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Let pandas call a user's function that may draw, and put what it returns where pandas puts a mark for it.

        NotImplemented for an owner that is not of pandas.
        """
        kind = type(raw(owner))
        if kind.__name__ not in _OF_PANDAS[name] or not kind.__module__.startswith("pandas"):
            return NotImplemented
        if name == "pipe" and args:
            return self.call(args[0], owner, *args[1:], **keywords)
        if name == "assign":
            made = self._method(owner, "copy", (), {})
            for key, value in keywords.items():
                self.set_item(made, key, self.call(value, made) if callable(raw(value)) else value)
            return made
        if not args or not _is_users(args[0]):
            return NotImplemented
        returned: list[Any] = []

        def marked(*given: Any, **more: Any) -> Any:
            value = _plainly_called(self, args[0], given, more)
            returned.append(value)
            return -_MARK - len(returned) if differs(value) else raw(value)

        made = apply_method(self, owner, name, (marked, *args[1:]), keywords)
        if not any(map(differs, returned)):
            return made
        marks = [-_MARK - number if differs(value) else raw(value) for number, value in enumerate(returned, start=1)]
        made = raw(made)
        kept = is_of_pandas(type(made)) and made.ndim == 1 and made.tolist() == marks
        if not kept or not all(map(_is_single, returned)):
            self.give_up(f".{name}() of a function that draws, where what it returns is not simply kept")
        return self.call(type(made), Container(returned), index=made.index, name=made.name)

    def array_method(self, owner: Any, name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call a method of an array, a series or a frame."""
        return self.shown(name, (owner,), table_methods.method(self, owner, name, args, keywords))

    def shown(self, name: str, args: tuple[Any, ...], made: Any) -> Any:
        """Return what was made of arrays; it may show a part of them."""
        if name in _SHOWING and type(made) is Container:
            for each in args:
                if type(each) is Container and each is not made and containers.base_of(each.content) is None:
                    each.view(made)
        return made

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class."""
        init = dispatch.in_class(kind, "__init__")
        if type(dispatch.in_class(kind, "__new__")) is staticmethod and is_own(
            dispatch.in_class(kind, "__new__").__func__
        ):
            self.give_up(f"{_title(kind)}, which has a __new__ of its own")
        if dispatch.in_class(kind, "__new__") is not object.__dict__["__new__"] or not is_own(init):
            if init is object.__init__ or is_plain_dataclass(kind):
                return self._made_really(kind, args, keywords)
            if is_own(init):
                self.give_up(f"{_title(kind)}, whose __init__ Python calls")
            return self._function(kind, args, keywords)
        made: Any = object.__new__(kind)
        self.own_objects[id(made)] = made
        self.call(init, made, *args, **keywords)
        return made

    def _made_really(self, kind: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Make an object that keeps what it is given, whatever it is."""
        with self.as_python:
            made = kind(*args, **keywords)
        self.own_objects[id(made)] = made
        return made

    def _by_name(self, function: Any, owner: Any, name: Any, *rest: Any) -> Any:
        if function not in (getattr, hasattr) or (function is getattr and not rest):
            return super()._by_name(function, owner, name, *rest)
        asked = any(dispatch.method(owner, each) is not None for each in ("__getattr__", "__getattribute__"))
        if asked or dispatch.getter(owner, name) is not None or dispatch.computed(owner, name) is not None:
            self.give_up(f"{function.__name__}() of what is computed")
        value = getattr(owner, raw(name), UNBOUND)
        if type(value) is Alternatives and any(each is UNBOUND for each in value.values):
            self.give_up(f"{function.__name__}() of what some runs have")
        return value is not UNBOUND if function is hasattr else rest[0] if value is UNBOUND else value


class _Callback:
    """A user's function that a library calls: with plain values, and it may not draw.

    Args:
        domain: that the function asks.
        function: the user's.
    """

    def __init__(self, domain: RunCalls, function: Any) -> None:
        self._domain, self._function = domain, function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        events = len(self._domain.events)
        value = _plainly_called(self._domain, self._function, args, keywords)
        if len(self._domain.events) > events or differs(value):
            self._domain.give_up("a function that draws, called by a library")
        return raw(value)


def _plainly_called(domain: RunCalls, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a user's function for a library, which knows of no masks: all its runs have to go on."""
    before, closes = domain.active, domain.closes
    domain.closes = True
    try:
        value = domain.call(function, *args, **keywords)
    finally:
        domain.closes = closes
    if domain.active is not before:
        domain.give_up("a function that some runs leave, called by a library")
    return value


def is_bare(kind: Any) -> bool:
    """Whether a class is made as any object is, by nothing of its own."""
    plain = type(kind) is type and kind.__flags__ & _IN_PYTHON
    return bool(plain) and kind.__new__ is object.__new__ and kind.__init__ is object.__init__


def is_plain_dataclass(kind: Any) -> bool:
    """Whether a class keeps what it is given, by a constructor that `dataclasses` wrote and nothing else."""
    if not isinstance(kind, type) or "__dataclass_fields__" not in vars(kind):
        return False
    fields = vars(kind)["__dataclass_fields__"].values()
    init = dispatch.in_class(kind, "__init__")
    return not (
        is_own(init)
        or any(is_own(dispatch.in_class(kind, name)) for name in ("__post_init__", "__setattr__"))
        or any(is_own(each.default_factory) for each in fields)
    )


_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _is_users(value: Any) -> bool:
    return isinstance(value, types.FunctionType | types.MethodType) and is_own(getattr(value, "__func__", value))


def _draws_within(args: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
    """Whether a generator is handed on."""
    return any(isinstance(each, np.random.Generator | np.random.RandomState) for each in (*args, *keywords.values()))


def _call(function: Any, /, *args: Any, **keywords: Any) -> Any:
    return function(*args, **keywords)


def _is_single(value: Any) -> bool:
    if type(value) is Alternatives:
        return all(map(_is_single, value.values))
    return value.array.ndim == 1 if type(value) is Numbers else np.ndim(raw(value)) == 0 and not differs(value)


def _title(function: Any) -> str:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return f"{name or type(function).__name__}()" if module in (None, "builtins") else f"{module}.{name}()"


_HASHED = (types.BuiltinFunctionType, type, types.FunctionType)
