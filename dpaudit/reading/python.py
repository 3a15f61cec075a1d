"""What does Python itself do with every operation? The domain that every other one is held against."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import inspect
import itertools
import operator
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dpaudit.reading import dispatch, source
from dpaudit.reading.rewrite import SEES_FRAMES, Statements, UnreadableError
from dpaudit.reading.source import is_rewritten as is_rewritten

_IN_PLACE = {"and_": "iand", "or_": "ior"}
OPERATION: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(operator, name)
        for name in (
            "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift",
            "rshift", "lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not", "neg", "pos", "invert",
        )
    },
    "divmod": divmod,
    "in_": lambda member, container: member in container,
    "not_in": lambda member, container: member not in container,
}  # fmt: skip
"""What each operator does, by its name in rewritten code."""
IN_PLACE: dict[str, Callable[..., Any]] = {
    name: getattr(operator, _IN_PLACE.get(name, "i" + name))
    for name in OPERATION
    if hasattr(operator, _IN_PLACE.get(name, "i" + name)) and name not in ("is_", "is_not", "invert", "neg", "pos")
}
"""What each operator does in place."""
CONVERSIONS: dict[int, Callable[[Any], Any]] = {115: str, 114: repr, 97: ascii}
"""What ``!s``, ``!r`` and ``!a`` do in a text, by their number in the syntax tree."""

_SEES_FRAMES = dispatch.by_identity(
    *(getattr(builtins, name) for name in SEES_FRAMES), sys._getframe, inspect.currentframe, inspect.stack
)
_OF_BUILTINS = dispatch.by_identity(*dispatch.OF_BUILTINS)
OF_CONTEXTLIB = contextlib.contextmanager(lambda: iter(())).__code__
_OF_SINGLEDISPATCH: Any = functools.singledispatch(len)
_DEPTH, _DEEPEST = 4, 12_000
"""How many calls of Python one call of a rewritten function takes, and how many the stack of a process bears."""


@functools.cache
def _unpacker(count: int, star: int | None) -> Callable[[Any], tuple[Any, ...]]:
    """Return Python's own unpacking into so many parts."""
    parts = [f"{'*' if place == star else ''}_{place}" for place in range(count)]
    names = "".join(f"_{place}, " for place in range(count))
    made: dict[str, Any] = {}
    exec(f"def unpacked(value):\n [{', '.join(parts)}] = value\n return ({names})", made)
    return made["unpacked"]  # type: ignore[no-any-return]


def _called(function: Any) -> str:
    """What Python calls a function in its errors."""
    name, module = getattr(function, "__qualname__", None), getattr(function, "__module__", None)
    if name is None:
        return str(function)
    return f"{name}()" if module in (None, "builtins") else f"{module}.{name}()"


class Python:
    """Every operation is Python's own; user functions are called rewritten, so that their operations are asked too.

    A subclass changes what it knows better.
    """

    control: tuple[type[BaseException], ...] = (UnreadableError,)
    """What the domain raises for its own purposes; no handler of the function sees it."""
    rewriter = Statements

    def __init__(self) -> None:
        self._twins: dict[types.FunctionType, types.FunctionType] = {}

    def run(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """Call a function from outside: what it calls of its own takes more of the interpreter's depth than in Python.

        Raises:
            UnreadableError: if something in it, or in what it calls, is not read.
        """
        depth = sys.getrecursionlimit()
        sys.setrecursionlimit(max(depth, min(_DEPTH * depth, _DEEPEST)))
        try:
            return self.call(function, *args, **keywords)
        finally:
            sys.setrecursionlimit(depth)

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten for this domain."""
        if is_rewritten(function):
            return function
        twin = self._twins.get(function)
        if twin is None or twin.__wrapped_code__ is not function.__code__:  # type: ignore[attr-defined]
            twin = self._twins[function] = source.rewritten(function, self.rewriter, self)
            twin.__wrapped_code__ = function.__code__  # type: ignore[attr-defined]
        twin.__defaults__, twin.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return twin

    # --- calls --------------------------------------------------------------------------------------------

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``: what is the user's is called rewritten, all else by `foreign`."""
        kind = type(function)
        if kind is types.FunctionType:
            if source.is_own(function):
                return self.twin(function)(*args, **keywords)
        elif kind is types.MethodType:
            if source.is_own(function.__func__):
                return self.call(function.__func__, function.__self__, *args, **keywords)
        elif kind is functools.partial:
            return self.call(function.func, *function.args, *args, **{**function.keywords, **keywords})
        elif issubclass(kind, type):
            if dispatch.has_own_methods(function) and kind.__call__ is type.__call__:
                return self.construct(function, *args, **keywords)
        elif (method := dispatch.method(function, "__call__")) is not None:
            return self.call(method, *args, **keywords)
        if args and not keywords and id(function) in _OF_BUILTINS:
            special = self._special(function, args)
            if special is not None:
                return special()
        if id(function) in _SEES_FRAMES and not (args and id(function) in (id(vars), id(dir))):
            raise UnreadableError(f"{function.__name__}() sees more than its arguments")
        return self.foreign(function, args, keywords)

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's: a library, or Python itself; what that calls of the user's asks the domain."""
        if type(function) is types.MethodType and getattr(function.__func__, "__code__", None) is OF_CONTEXTLIB:
            return self.foreign(function.__func__, (function.__self__, *args), keywords)
        code = function.__code__ if type(function) is types.FunctionType else None
        if code is not None:
            if code is OF_CONTEXTLIB and source.is_own(getattr(function, "__wrapped__", None)):
                return contextlib.contextmanager(self.twin(function.__wrapped__))(*args, **keywords)
            if code is _OF_SINGLEDISPATCH.__code__ and args:
                return self.call(function.dispatch(type(args[0])), *args, **keywords)
        args, keywords = dispatch.prepared(self, function, args, keywords)
        return function(*args, **keywords)

    def spread(self, function: Any, args: Iterable[Any], pairs: tuple[tuple[str | None, Any], ...]) -> Any:
        """``f(*a, b=c, **d)``: the last as (("b", c), (None, d))."""
        through = args if type(args) is tuple else self.iterate(args)
        if not (hasattr(type(through), "__iter__") or hasattr(type(through), "__getitem__")):
            kind = type(args).__name__
            raise TypeError(f"{_called(function)} argument after * must be an iterable, not {kind}")
        keywords: dict[str, Any] = {}
        for name, value in pairs:
            more = {name: value} if name is not None else self.mapping(value)
            if not hasattr(more, "keys"):
                kind = type(value).__name__
                raise TypeError(f"{_called(function)} argument after ** must be a mapping, not {kind}")
            for each in more:
                if each in keywords:
                    raise TypeError(f"{_called(function)} got multiple values for keyword argument '{each}'")
            keywords.update(more)
        return self.call(function, *through, **keywords)

    def decorator(self, function: Any) -> Any:
        """``@f``: what is called with the function, or the class, that stands below."""
        return functools.partial(self.call, function)

    def raised(self, exception: Any) -> Any:
        """``raise E``: what is raised; a user's class is called."""
        own = issubclass(type(exception), type) and dispatch.has_own_methods(exception)
        return self.call(exception) if own and issubclass(exception, BaseException) else exception

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class, as ``type.__call__`` does: its ``__new__`` and ``__init__`` are called."""
        new, init = dispatch.in_class(kind, "__new__"), dispatch.in_class(kind, "__init__")
        if isinstance(new, staticmethod) and source.is_own(new.__func__):
            made = self.call(new.__func__, kind, *args, **keywords)
        elif not source.is_own(init):
            if init is not None and init.__qualname__ == f"{kind.__qualname__}.__init__":
                return self._dataclass(kind, init, args, keywords)
            return self.foreign(kind, args, keywords)
        elif new is object.__dict__["__new__"]:
            made = self.blank(kind)
        else:
            made = self.foreign(kind.__new__, (kind, *args), keywords)
        if not issubclass(type(made), kind):
            return made
        init = dispatch.in_class(type(made), "__init__")
        returned = self.call(dispatch.bound(init, made), *args, **keywords) if init is not object.__init__ else None
        if returned is not None:
            raise TypeError(f"__init__() should return None, not '{type(returned).__name__}'")
        return made

    def blank(self, kind: type) -> Any:
        """Return a new object of a user's class, before anything is put into it."""
        return object.__new__(kind)

    def _dataclass(self, kind: Any, init: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Make an object whose ``__init__`` was written by `dataclasses`, which calls ``__post_init__``."""
        fields = kind.__dict__.get("__dataclass_fields__")
        after = dispatch.in_class(kind, "__post_init__")
        factories = [each for each in (fields or {}).values() if source.is_own(each.default_factory)]
        if fields is None or not (source.is_own(after) or factories):
            return self.foreign(kind, args, keywords)
        made = self.blank(kind)
        try:
            given = inspect.signature(init).bind(made, *args, **keywords).arguments
        except TypeError:
            return self.foreign(kind, args, keywords)  # which says what is wrong
        put = object.__setattr__ if kind.__dataclass_params__.frozen else self.set_attribute
        handed = []
        for name, each in fields.items():
            if each._field_type is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
                continue
            if name in given:
                value = given[name]
            elif each.default_factory is not dataclasses.MISSING:
                value = self.call(each.default_factory)
            elif each.default is not dataclasses.MISSING and each.init:
                value = each.default
            else:
                continue
            if each._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
                handed.append(value)
            else:
                put(made, name, value)
        if after is not None:
            self.call(dispatch.bound(after, made), *handed)
        return made

    def asking(self, function: Any) -> Any:
        """Return a function to be called by others, which asks the domain if it is the user's."""
        if source.is_own(function):
            return self.twin(function)
        called = type(function) is types.MethodType and source.is_own(function.__func__)
        if called or type(function) is functools.partial or dispatch.method(function, "__call__") is not None:
            return functools.partial(self.call, function)
        own = issubclass(type(function), type) and dispatch.has_own_methods(function)
        return functools.partial(self.call, function) if own else function

    def checked(self, function: Any, owner: Any, name: str, value: Any, *rest: Any) -> Any:
        """What a builtin makes of what a user's method returned: it checks it."""
        return function(dispatch.answering(type(owner).__name__, name, value), *rest)

    def _special(self, function: Any, args: tuple[Any, ...]) -> Callable[[], Any] | None:
        """Return what a builtin does with a user's object, by its methods; None if it does not call them."""
        value, *rest = args
        if function is divmod and len(rest) == 1 and any(map(dispatch.is_of_own_class, args)):
            return lambda: self.binary("divmod", *args)
        if function is sum and type(value) in (list, tuple) and any(map(dispatch.is_of_own_class, value)):
            return lambda: functools.reduce(functools.partial(self.binary, "add"), value, *(rest or [0]))
        if not dispatch.is_of_own_class(value):
            return None
        if function in (getattr, hasattr, setattr, delattr):
            return functools.partial(self._by_name, function, *args)
        if function is next and dispatch.method(value, "__next__") is not None:
            return lambda: next(dispatch.Iterating(self, value), *rest)
        if function is iter and not rest and dispatch.method(value, "__iter__") is not None:
            return lambda: self.checked(iter, value, "__iter__", self.call(dispatch.method(value, "__iter__")))
        if function is format:
            return lambda: self.format(value, -1, *(rest or [""]))
        if function is pow and len(rest) == 1:
            return lambda: self.binary("pow", value, rest[0])
        for name in dispatch.OF_BUILTINS[function]:
            method = dispatch.method(value, name)
            if method is not None:
                if function in (str, int, bytes) and rest:
                    return None
                return lambda: self.checked(function, value, name, self.call(method, *rest), *rest)
            if dispatch.in_class(type(value), name) not in (None, dispatch.in_class(object, name)):
                return None
        return None

    def _by_name(self, function: Any, owner: Any, name: Any, *rest: Any) -> Any:
        if function is setattr or function is delattr:
            return (self.set_attribute if function is setattr else self.delete_attribute)(owner, name, *rest)
        try:
            value = self.attribute(owner, name)
        except AttributeError:
            if function is getattr and not rest:
                raise
            return rest[0] if function is getattr else False
        return value if function is getattr else True

    # --- values -------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``; a property is a call."""
        if not dispatch.is_of_own_class(owner):
            getter = dispatch.getter(owner, name) if type(owner) is super else None
            return getattr(owner, name) if getter is None else self.call(getter, owner.__self__)
        general = dispatch.method(owner, "__getattribute__")
        if general is not None:
            look: Callable[[], Any] = functools.partial(self.call, general, name)
        elif (getter := dispatch.getter(owner, name)) is not None:
            look = functools.partial(self.call, getter, owner)
        elif (function := dispatch.computed(owner, name)) is not None:
            value = owner.__dict__[name] = self.call(function, owner)
            return value
        else:
            missing = dispatch.method(owner, "__getattr__")
            if missing is None:
                return getattr(owner, name)
            look = functools.partial(object.__getattribute__, owner, name)
        missing = dispatch.method(owner, "__getattr__")
        if missing is None:
            return look()
        try:
            return look()
        except AttributeError:
            pass
        return self.call(missing, name)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``; a property is a call."""
        method, setter = dispatch.method(owner, "__setattr__"), dispatch.setter(owner, name)
        if method is not None:
            self.call(method, name, value)
        elif setter is not None:
            self.call(setter, owner, value)
        else:
            setattr(owner, name, value)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``; a property is a call."""
        method, deleter = dispatch.method(owner, "__delattr__"), dispatch.deleter(owner, name)
        if method is not None:
            self.call(method, name)
        elif deleter is not None:
            self.call(deleter, owner)
        else:
            delattr(owner, name)

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        method = dispatch.method(owner, "__getitem__")
        if (
            method is None
            and issubclass(type(owner), dict)
            and (missing := dispatch.method(owner, "__missing__")) is not None
        ):
            return owner[key] if key in owner else self.call(missing, key)
        return owner[key] if method is None else self.call(method, key)

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``."""
        method = dispatch.method(owner, "__setitem__")
        if method is None:
            owner[key] = value
        else:
            self.call(method, key, value)

    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        method = dispatch.method(owner, "__delitem__")
        if method is None:
            del owner[key]
        else:
            self.call(method, key)

    def slice(self, *parts: Any) -> Any:
        """``a:b:c``."""
        return slice(*parts)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        tries = dispatch.attempts(name, left, right)
        return self._tried(name, left, right, tries) if tries else OPERATION[name](left, right)

    def _tried(self, name: str, left: Any, right: Any, tries: list[tuple[Any, Any]], inplace: bool = False) -> Any:
        """Return the first answer that is one; Python's own where there is none."""
        for method, other in tries:
            negated = type(method) is dispatch.Negated
            value = self.call(method.equal if negated else method, other)
            if value is not NotImplemented:
                return not self.truth(value) if negated else value
        if name in ("eq", "ne"):
            return (left is right) == (name == "eq")
        raise dispatch.no_operator(name, left, right, inplace)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            return self.contains(right, left) == (name == "in_")
        if name in ("is_", "is_not"):
            return OPERATION[name](left, right)
        return self.binary(name, left, right)

    def contains(self, container: Any, member: Any) -> Any:
        """``a in b``."""
        method = dispatch.method(container, "__contains__")
        if method is not None:
            return self.truth(self.call(method, member))
        kind: Any = type(container)
        through = dispatch.method(container, "__iter__") or dispatch.method(container, "__getitem__")
        if hasattr(kind, "__contains__") or through is None:
            return member in container
        return any(each is member or self.truth(self.compare("eq", each, member)) for each in self.iterate(container))

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        method = dispatch.method(value, f"__{name}__")
        return OPERATION[name](value) if method is None else self.call(method)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        special = f"__i{name.strip('_')}__"
        changing = dispatch.in_class(type(target), special)
        closed = changing is None and hasattr(type(target), special)
        tries = [] if closed else dispatch.attempts(name, target, value)
        if not tries and dispatch.method(target, special) is None:
            return IN_PLACE[name](target, value)
        if changing is not None:
            own = (dispatch.bound(changing, target), value)
            last = type(target) in dispatch.SEQUENCES and name in ("add", "mul")  # a sequence is asked last
            tries = dispatch.attempts(name, target, value, always=True)
            tries = [*tries[:-1], own] if last else [own, *tries]
        return self._tried(name, target, value, tries, inplace=True)

    def truth(self, value: Any) -> Any:
        """``if a``."""
        if not dispatch.is_of_own_class(value):
            return bool(value)
        special = self._special(bool, (value,))
        return bool(value) if special is None else special()

    def iterate(self, value: Any) -> Iterable[Any]:
        """``for x in a``."""
        kind: Any = type(value)
        if not dispatch.has_own_methods(kind):
            return value  # type: ignore[no-any-return]
        method = dispatch.method(value, "__iter__")
        if method is not None:
            value = self.checked(iter, value, "__iter__", self.call(method))
        elif dispatch.in_class(kind, "__iter__") is None and dispatch.method(value, "__getitem__") is not None:
            return self._items(value)
        elif dispatch.in_class(kind, "__iter__") is None or dispatch.method(value, "__next__") is None:
            return value  # type: ignore[no-any-return]
        else:
            value = iter(value)
        return value if dispatch.method(value, "__next__") is None else dispatch.Iterating(self, value)

    def _items(self, value: Any) -> Iterable[Any]:
        for place in itertools.count():
            try:
                item = self.item(value, place)
            except (IndexError, StopIteration):
                return
            yield item

    def unpack(self, value: Any, count: int, star: int | None) -> Sequence[Any]:
        """``a, *b = v``: the parts, of which the starred one is a list."""
        parts = _unpacker(count, star)(self.iterate(value))
        return parts if star is None else (*parts[:star], self.new(parts[star]), *parts[star + 1 :])

    def mapping(self, value: Any) -> Mapping[str, Any]:
        """``**a``."""
        plain = issubclass(type(value), dict) and dispatch.method(value, "__iter__") is None
        if plain or not dispatch.is_of_own_class(value) or dispatch.method(value, "keys") is None:
            return value  # type: ignore[no-any-return]
        return {key: self.item(value, key) for key in self.iterate(self.call(self.attribute(value, "keys")))}

    def key(self, value: Any) -> Any:
        """What a dict or set goes by."""
        return value

    def new(self, value: Any) -> Any:
        """A list, set or dict that was written down."""
        return value

    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        if conversion != -1:
            return format(self.call(CONVERSIONS[conversion], value), specification)
        method = dispatch.method(value, "__format__")
        if method is not None:
            return self.checked(format, value, "__format__", self.call(method, specification))
        kind: Any = type(value)
        plain = not specification and dispatch.in_class(kind, "__format__") is object.__dict__["__format__"]
        return self.call(str, value) if plain else format(value, specification)

    def join(self, parts: list[Any]) -> Any:
        """The parts of a text, put together."""
        return "".join(parts)

    def enter(self, manager: Any) -> Any:
        """``with a``: a user's manager is entered and left rewritten."""
        kind: Any = type(manager)
        both = [dispatch.in_class(kind, name) for name in ("__enter__", "__exit__")]
        return dispatch.Entered(self, manager) if None not in both and any(map(source.is_own, both)) else manager

    def told_on_exit(self, *what: Any) -> tuple[Any, ...]:
        """What a user's manager is told when it is left: class, exception and traceback, or None three times."""
        return what

    def importing(self, name: str) -> None:
        """``import a`` within a function."""

    # --- patterns -----------------------------------------------------------------------------------------

    def match_sequence(self, value: Any, count: int, star: int | None, unpacked: bool) -> Sequence[Any] | None:
        """``case [a, *b]``: the parts, or None."""
        if not type(value).__flags__ & _IS_SEQUENCE:
            return None
        size = count - 1 if star is not None and count == 1 else self.call(len, value)
        if size < count - (star is not None) or (star is None and size != count):
            return None
        return self.unpack(value, count, star) if unpacked else ()

    def match_item(self, value: Any, place: int) -> Any:
        """One part of a sequence; one behind the starred one is counted from the end."""
        return self.item(value, place if place >= 0 else self.call(len, value) + place)

    def match_mapping(self, value: Any, keys: tuple[Any, ...], rest: bool) -> Sequence[Any] | None:
        """``case {k: a, **b}``: the values, then a dict of the others; or None."""
        if not type(value).__flags__ & _IS_MAPPING or (keys and self.call(len, value) < len(keys)):
            return None
        values: list[Any] = []
        get = self.attribute(value, "get") if keys else None
        for place, key in enumerate(keys):
            if key in keys[:place]:
                raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
            values.append(self.call(get, key, _NOTHING))
            if values[-1] is _NOTHING:
                return None
        if not rest:
            return [*values, None]
        others = dict(self.mapping(value))
        for key in keys:
            del others[key]
        return [*values, self.new(others)]

    def match_class(self, value: Any, kind: Any, places: int, names: tuple[str, ...]) -> Sequence[Any] | None:
        """``case C(a, b=c)``: the attributes, or None."""
        if not issubclass(type(kind), type):
            match value:
                case kind():  # raises as Python does
                    return None
        if not self.call(isinstance, value, kind):
            return None
        whole = bool(places and not hasattr(kind, "__match_args__") and kind.__flags__ & _IS_WHOLE)
        positional = getattr(kind, "__match_args__", ())
        if places and type(positional) is not tuple:
            raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(positional).__name__})")
        allowed = 1 if whole else len(positional)
        if places > allowed:
            plural = "" if allowed == 1 else "s"
            raise TypeError(f"{kind.__name__}() accepts {allowed} positional sub-pattern{plural} ({places} given)")
        wanted = [*(() if whole else positional[:places]), *names]
        parts: list[Any] = [value] if whole else []
        for place, name in enumerate(wanted):
            if not isinstance(name, str):
                raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
            if name in wanted[:place]:
                raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
            try:
                parts.append(self.attribute(value, name))
            except AttributeError:
                return None
        return parts


_NOTHING = object()
_IS_SEQUENCE, _IS_MAPPING, _IS_WHOLE = 1 << 5, 1 << 6, 1 << 22
"""Py_TPFLAGS_SEQUENCE, Py_TPFLAGS_MAPPING, _Py_TPFLAGS_MATCH_SELF."""
