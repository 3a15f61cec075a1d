"""What does Python itself do with every operation? The domain that every other one is held against."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dpaudit.reading import dispatch
from dpaudit.reading.rewrite import DOMAIN, Statements
from dpaudit.reading.source import is_own, rewritten

_IN_PLACE = {"and_": "iand", "or_": "ior"}
OPERATION: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(operator, name)
        for name in (
            "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift",
            "rshift", "lt", "le", "gt", "ge", "eq", "ne", "is_", "is_not", "neg", "pos", "invert",
        )
    },
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


def is_rewritten(function: Any) -> bool:
    """Whether a function asks a domain already, as one within a rewritten function does."""
    return DOMAIN in function.__code__.co_freevars


class _Entered:
    """A user's context manager, whose methods are called rewritten."""

    def __init__(self, domain: Python, manager: Any) -> None:
        self._domain, self._manager = domain, manager

    def __enter__(self) -> Any:
        return self._domain.call(dispatch.method(self._manager, "__enter__"))

    def __exit__(self, *what: Any) -> bool:
        if what[0] is not None and self._domain.control and issubclass(what[0], self._domain.control):
            return False  # the domain leaves, and nobody stops it
        return bool(self._domain.truth(self._domain.call(dispatch.method(self._manager, "__exit__"), *what)))


class Python:
    """Every operation is Python's own; user functions are called rewritten, so that their operations are asked too.

    A subclass changes what it knows better.
    """

    control: tuple[type[BaseException], ...] = ()
    """What the domain raises for its own purposes; no handler of the function sees it."""
    rewriter = Statements

    def __init__(self) -> None:
        self._twins: dict[types.FunctionType, types.FunctionType] = {}

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten for this domain."""
        found = self._twins.get(function)
        if found is None:
            found = self._twins[function] = rewritten(function, self.rewriter, self)
        return found

    # --- calls --------------------------------------------------------------------------------------------

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``: what is the user's is called rewritten, all else by `foreign`."""
        kind = type(function)
        if kind is types.FunctionType:
            if is_own(function):
                return (function if is_rewritten(function) else self.twin(function))(*args, **keywords)
        elif kind is types.MethodType:
            if is_own(function.__func__):
                return self.call(function.__func__, function.__self__, *args, **keywords)
        elif kind is type:
            if dispatch.has_own_methods(function):
                return self.construct(function, *args, **keywords)
        elif kind is functools.partial:
            return self.call(function.func, *function.args, *args, **{**function.keywords, **keywords})
        elif args and not keywords and function in dispatch.OF_BUILTINS:
            method = dispatch.method(args[0], dispatch.OF_BUILTINS[function])
            if method is not None:
                return self.call(method, *args[1:])
        elif (method := dispatch.method(function, "__call__")) is not None:
            return self.call(method, *args, **keywords)
        return self.foreign(function, args, keywords)

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's: a library, or Python itself."""
        return function(*args, **keywords)

    def construct(self, kind: type, /, *args: Any, **keywords: Any) -> Any:
        """Make an object of a user's class: ``__init__`` is called rewritten."""
        init = dispatch.in_class(kind, "__init__")
        if dispatch.in_class(kind, "__new__") is not object.__dict__["__new__"] or not is_own(init):
            return self.foreign(kind, args, keywords)
        made: Any = object.__new__(kind)
        self.call(init, made, *args, **keywords)
        return made

    # --- values -------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``; a property is a call."""
        getter = dispatch.getter(owner, name)
        return getattr(owner, name) if getter is None else self.call(getter, owner)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        setattr(owner, name, value)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        delattr(owner, name)

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        method = dispatch.method(owner, "__getitem__")
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
        del owner[key]

    def slice(self, *parts: Any) -> Any:
        """``a:b:c``."""
        return slice(*parts)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        for method, other in dispatch.operators(name, left, right):
            value = self.call(method, other)
            if value is not NotImplemented:
                return value
        return OPERATION[name](left, right)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in ("in_", "not_in"):
            method = dispatch.method(right, "__contains__")
            if method is not None:
                return self.truth(self.call(method, left)) == (name == "in_")
        elif name not in ("is_", "is_not"):
            return self.binary(name, left, right)
        return OPERATION[name](left, right)

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        method = dispatch.method(value, f"__{name}__")
        return OPERATION[name](value) if method is None else self.call(method)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        method = dispatch.method(target, f"__i{name.strip('_')}__")
        if method is not None:
            found = self.call(method, value)
            if found is not NotImplemented:
                return found
        if dispatch.operators(name, target, value):
            return self.binary(name, target, value)
        return IN_PLACE[name](target, value)

    def truth(self, value: Any) -> Any:
        """``if a``."""
        for name in ("__bool__", "__len__"):
            method = dispatch.method(value, name)
            if method is not None:
                return bool(self.call(method))
        return bool(value)

    def iterate(self, value: Any) -> Iterable[Any]:
        """``for x in a``."""
        method = dispatch.method(value, "__iter__")
        return value if method is None else self.call(method)  # type: ignore[no-any-return]

    def unpack(self, value: Any, count: int, star: int | None) -> Sequence[Any]:
        """``a, *b = v``: the parts, of which the starred one is a list.

        Raises:
            ValueError: if there are too many or too few, as Python does.
        """
        if type(value) is tuple and star is None and len(value) == count:
            return value
        taken = []
        rest = iter(self.iterate(value))
        least = count - (star is not None)
        for each in rest:
            taken.append(each)
            if star is None and len(taken) > count:
                raise ValueError(f"too many values to unpack (expected {count})")
        if len(taken) < least:
            told = "at least " if star is not None else ""
            raise ValueError(f"not enough values to unpack (expected {told}{least}, got {len(taken)})")
        if star is None:
            return taken
        end = len(taken) - (least - star)
        return [*taken[:star], self.new(taken[star:end]), *taken[end:]]

    def mapping(self, value: Any) -> Mapping[str, Any]:
        """``**a``."""
        return value  # type: ignore[no-any-return]

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
            return self.call(method, specification)
        kind: Any = type(value)
        if not specification and dispatch.has_own_methods(kind):
            return self.call(str, value)
        return format(value, specification)

    def join(self, parts: list[Any]) -> Any:
        """The parts of a text, put together."""
        return "".join(parts)

    def enter(self, manager: Any) -> Any:
        """``with a``: a user's manager is entered and left rewritten."""
        return manager if dispatch.method(manager, "__enter__") is None else _Entered(self, manager)

    def importing(self, name: str) -> None:
        """``import a`` within a function."""

    # --- patterns -----------------------------------------------------------------------------------------

    def match_sequence(self, value: Any, count: int, star: int | None) -> Sequence[Any] | None:
        """``case [a, *b]``: the parts, or None."""
        if not isinstance(value, list | tuple) and not (
            isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
        ):
            return None
        size = len(value)
        if size < count - (star is not None) or (star is None and size != count):
            return None
        return self.unpack(list(value), count, star)

    def match_mapping(self, value: Any, keys: tuple[Any, ...]) -> Sequence[Any] | None:
        """``case {k: a}``: the values, or None."""
        if not isinstance(value, Mapping) or any(key not in value for key in keys):
            return None
        return [value[key] for key in keys]

    def match_class(self, value: Any, kind: Any, places: int, names: tuple[str, ...]) -> Sequence[Any] | None:
        """``case C(a, b=c)``: the attributes, or None."""
        if not isinstance(value, kind):
            return None
        if places and kind in _WHOLE:
            return [value, *(self.attribute(value, name) for name in names)]
        positional = getattr(kind, "__match_args__", ())[:places]
        if len(positional) < places:
            raise TypeError(f"{kind.__name__}() accepts {len(positional)} positional sub-patterns ({places} given)")
        wanted = [*positional, *names]
        if not all(hasattr(value, name) for name in wanted):
            return None
        return [self.attribute(value, name) for name in wanted]


_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
