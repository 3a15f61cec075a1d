"""Does a program depend on its data, parameters and noise alone, and on numbers only by what they are?

A proof reads a program on numbers that are not known. What it finds holds for all numbers only if nothing but
comparisons of numbers decides which way the program goes: not the type of a number or its identity, no exception that
only floats raise, no clock, no file, nothing that an earlier call left behind. So the program is run with its source
rewritten, and every operation is held against lists of what is harmless; whatever else it does is named with its line,
and nothing is proved of it.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import copy
import dis
import functools
import linecache
import operator
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dpaudit.program.enumerate import Exact, NotExactError
from dpaudit.program.fold import Fold
from dpaudit.program.noise import Noise
from dpaudit.program.symbolic.noise import AbandonedError, SymbolicNoise
from dpaudit.program.symbolic.value import RefusedError, SymbolicValue
from dpaudit.reading import python, source
from dpaudit.reading.callables import Effect, effect_of
from dpaudit.reading.rewrite import OPERATORS, Statements, UnreadableError, ask, at, constant, read, thunk, written
from dpaudit.reading.source import is_of_user, is_own, is_rewritten

_OURS = ("dpaudit.program.fold", "dpaudit.program.enumerate.number", "dpaudit.errors")
"""Modules of dpaudit that programs use."""
_PURE = frozenset((
    "__future__", "abc", "array", "bisect", "builtins", "cmath", "collections", "contextlib", "copy", "dataclasses",
    "decimal", "enum", "fractions", "functools", "heapq", "itertools", "json", "keyword", "math", "numbers",
    "operator", "re", "statistics", "string", "struct", "textwrap", "types", "typing", "warnings", "zlib",
    "hashlib", "base64", "binascii", "unicodedata",
))  # fmt: skip
"""Modules of Python of which a program may use what depends on its arguments alone."""
_BY_OPERATORS = frozenset((
    "builtins", "operator", "itertools", "functools", "collections", "heapq", "bisect", "copy", "math", "dataclasses",
))  # fmt: skip
"""Modules of Python whose functions ask a number by operators only, or only move it."""
_OF_NUMPY = frozenset((
    "array", "asarray", "argmax", "argmin", "sum", "cumsum", "max", "min", "maximum", "minimum", "sort", "argsort",
    "concatenate", "stack", "add", "subtract", "multiply", "divide", "exp", "expm1", "absolute", "abs", "negative",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "dot", "mean",
))  # fmt: skip
"""Functions of NumPy of which the same is so."""
_OF_STATISTICS = ("median", "median_low", "median_high")
_NEVER = frozenset((
    "id", "hash", "vars", "dir", "globals", "locals", "eval", "exec", "compile", "open", "input", "__import__",
    "breakpoint", "memoryview", "attrgetter", "methodcaller", "is_", "is_not", "now", "today", "Timestamp",
    "datetime64", "to_datetime", "get_option", "option_context", "load", "loadtxt", "genfromtxt", "fromfile", "memmap",
    "geterr", "geterrcall", "get_printoptions", "getcontext", "localcontext", "show_config", "HDFStore", "ExcelFile",
))  # fmt: skip
"""What looks at the interpreter, clocks, files and settings, or at any attribute, in libraries that are pure else."""
_ASKS = {"isinstance": "the type", "type": "the type", "issubclass": "the type", "callable": "the type",
         "hasattr": "the inside", "getattr": "the inside"}  # fmt: skip
_WRITES = frozenset(("repr", "str", "ascii", "format", "print", "join", "dumps"))
_DUNDERS = frozenset((
    "__init__", "__new__", "__name__", "__doc__", "__len__", "__getitem__", "__contains__", "__iter__", "__next__",
    "__enter__", "__exit__", "__post_init__",
))  # fmt: skip
"""Attributes with underscores around them that say nothing of how Python keeps a value."""
_NUMBERS = (bool, int, float, complex, np.generic, SymbolicValue, Exact)
_CLOSED = (*_NUMBERS, str, bytes, tuple, frozenset, type(None))
_CONTAINERS = (list, tuple, dict, set, frozenset)
_CHANGING = (list, dict, set, bytearray, collections.deque)
_READS = frozenset(("__iter__", "__getitem__", "__len__", "__contains__", "__eq__", "__lt__", "__reversed__"))
_QUIET = (Effect.PURE, Effect.SILENT)
_RUNNING = (types.FrameType, types.TracebackType, types.CodeType)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)
_PLACES = (KeyError, IndexError, LookupError, StopIteration, AssertionError, NotImplementedError)
"""Exceptions of Python that no arithmetic raises."""

# --- What is written otherwise than in other rewritten code? ---


class _IsOne(ast.Is):
    """``a is True``: of what is written there, there is one."""


class _IsNotOne(ast.IsNot):
    """``a is not True``."""


_ONE: dict[type, type] = {ast.Is: _IsOne, ast.IsNot: _IsNotOne}
_OF_ONE = {"is_one": "is_", "is_not_one": "is_not"}
OPERATORS.update({_IsOne: "is_one", _IsNotOne: "is_not_one"})


class _Telling(Statements):
    """Tells the domain what was done within a ``try`` whose handlers a run may come to."""

    def visit_Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        """``a is True`` is told from ``a is b``."""
        sides = [node.left, *node.comparators]
        for place, each in enumerate(node.ops):
            if type(each) in _ONE and any(map(_is_one, sides[place : place + 2])):
                node.ops[place] = _ONE[type(each)]()
        return super().visit_Compare(node)

    def visit_Try(self, node: ast.Try) -> Any:  # noqa: N802
        """``try: a except E: b`` → ``try: try: a finally: domain.tried(begun, lambda: (E,)) except E: b``."""
        kinds = [each.type for each in node.handlers] + [None] * bool(node.finalbody)
        named = [source.copied(each) for each in kinds if each is not None and _is_named(each)]
        if not kinds:
            return super().visit_Try(node)
        asked = thunk(ast.Tuple(named, ast.Load())) if len(named) == len(kinds) else constant(None)
        begun = self.temporary()
        whole: Any = super().visit_Try(node)
        whole.body = at(node, [ast.Try(whole.body, [], [], [ast.Expr(ask("tried", read(begun), asked))])])
        return [at(node, ast.Assign([written(begun)], ask("trying"))), whole]


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or type(node.value) is bool)


def _is_named(node: ast.expr) -> bool:
    parts = ast.Name | ast.Attribute | ast.Tuple | ast.Load
    return all(isinstance(each, parts) for each in ast.walk(node))


# --- What does a program do beside computing with numbers? ---


class Alone(python.Python):
    """What a program does beside computing with numbers.

    Attributes:
        open: what it does that is not known to be harmless, each with its line, in words.
    """

    control = (UnreadableError, RefusedError, AbandonedError, NotExactError)
    rewriter = _Telling

    def __init__(self) -> None:
        super().__init__()
        self.open: dict[str, None] = {}
        self._made: dict[int, Any] = {}  # what this call made, and may change
        self._unread: set[Any] = set()
        self._native: set[types.CodeType] = set()  # of libraries
        self._touched = 0  # operations on numbers that are not known, on this path

    # --- how a program is run -----------------------------------------------------------------------------

    def observed(self, function: Any) -> Any:
        """Return a program, or a fold, whose calls are looked at."""
        if isinstance(function, Fold):
            init = self._observed(function.init, 0) if callable(function.init) else function.init
            finish = None if function.finish is None else self._observed(function.finish, 1)
            return Fold(self._observed(function.step, 1), init, finish)
        return self._observed(function, 0)

    def _observed(self, function: Any, touched: int) -> Any:
        """Return a function whose calls are looked at; a state may be made of numbers already: ``touched``."""
        source.read_too(function)

        @functools.wraps(function)
        def called(*given: Any, **parameters: Any) -> Any:
            self._touched = touched
            with self._watching():
                try:
                    return self.run(function, *given, **parameters)
                finally:
                    self._made = {}

        return called

    @contextlib.contextmanager
    def _watching(self) -> Iterator[None]:
        """Name code of the user's that Python, or a library, runs by itself as it is."""
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(before)

    def _entered(self, frame: types.FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code in self._native or is_rewritten(frame):
            return
        if not is_of_user(code.co_filename):
            self._native.add(code)
        elif code not in self._unread:
            self.open[f"{_line(frame)} is run by Python or a library, where it is not looked at"] = None

    # --- what is said -------------------------------------------------------------------------------------

    def _say(self, what: str) -> None:
        """Name something with its line."""
        frame: Any = sys._getframe(1)
        while frame is not None and not is_of_user(frame.f_code.co_filename):
            frame = frame.f_back
        self.open[f"{'it' if frame is None else _line(frame)} {what}"] = None

    def _is_unknown(self, value: Any) -> bool:
        """Whether a value is a number of the data or a draw, or holds one."""
        kind: Any = type(value)
        if kind is SymbolicValue:
            return not value.known
        if kind in _CONTAINERS:
            through = (*value.keys(), *value.values()) if kind is dict else value
            return any(map(self._is_unknown, through))
        return kind is np.ndarray and value.dtype == object and any(map(self._is_unknown, value.ravel().tolist()))

    def _touch(self, *values: Any) -> bool:
        """Note an operation on numbers; return whether one of them is not known."""
        is_touched = any(map(self._is_unknown, values))
        self._touched += is_touched
        return is_touched

    def _looks(self, value: Any, what: str) -> None:
        """Name a question about a number that is no comparison."""
        if type(value) is SymbolicValue:
            is_open = not value.known
        else:
            is_open = isinstance(value, Noise | Exact) or (isinstance(value, _NUMBERS) and self._touched > 0)
        if is_open:
            self._say(f"looks at {what} of a value")

    def _decides(self, *values: Any) -> None:
        """Name a branch on numbers that cancel, as ``x - x``: floats may be too large for that."""
        for each in values:
            if type(each) is SymbolicValue and not each.known and each.expression.is_constant:
                self._say("decides by numbers that cancel, which floats need not do")

    def _fresh(self, value: Any) -> Any:
        """Note what this call made, and may change."""
        if not isinstance(value, _CLOSED):
            self._made[id(value)] = value
        return value

    def _changes(self, owner: Any) -> None:
        if id(owner) not in self._made:
            name = getattr(owner, "__name__", None) or f"a {type(owner).__name__}"
            self._say(f"changes {name}, which outlasts a call; a program must not keep a state")

    def _passes(self, through: Any) -> Any:
        """Name an iterator that other calls go on with, and a set, which has another order in each process."""
        if isinstance(through, types.GeneratorType):
            if through.gi_frame is not None and not is_rewritten(through.gi_frame):
                self._say("goes on with a generator that outlasts a call")
        elif hasattr(type(through), "__next__") and id(through) not in self._made:
            self._say("goes on with an iterator that outlasts a call")
        elif isinstance(through, set | frozenset) and not all(isinstance(each, int) for each in through):
            self._say("goes through a set, which has another order in each process")
        return through

    def _is_known_type(self, value: Any) -> None:
        """Name a value of Python's own library that may tell of a clock, a file or the interpreter."""
        home = _top(type(value).__module__)
        if (home in sys.stdlib_module_names and home not in _PURE) or isinstance(value, _RUNNING):
            self._say(f"looks at a {type(value).__name__} of the module {home}")
        elif value is sys.modules:
            self._say("looks at the modules of the interpreter")

    # --- exceptions ---------------------------------------------------------------------------------------

    def trying(self) -> int:
        """A ``try`` begins."""
        return self._touched

    def tried(self, begun: int, kinds: Callable[[], Any] | None) -> None:
        """A ``try`` ends: what numbers alone may raise, a handler must not take."""
        if self._touched == begun:
            return
        named: tuple[Any, ...] = ()
        if kinds is not None:
            with contextlib.suppress(Exception):
                named = kinds()
        flat = [one for each in named for one in (each if isinstance(each, tuple) else (each,))]
        if not flat or not all(map(_is_raised_by_hand, flat)):
            self._say("may raise an exception by numbers that no path has, and it is handled")

    def enter(self, manager: Any) -> Any:
        """``with a``: it is told of exceptions."""
        self._is_known_type(manager)
        kind, entered = type(manager), super().enter(manager)
        silent = kind in (contextlib.nullcontext, np.errstate) or kind.__name__ == "_GeneratorContextManager"
        return entered if silent else _Told(self, entered)

    # --- calls --------------------------------------------------------------------------------------------

    def twin(self, function: types.FunctionType) -> types.FunctionType:
        """Return a user's function rewritten; one that cannot be is named, and run as it is."""
        if function.__code__ in self._unread:
            return function
        try:
            if not is_rewritten(function) and _sets(function.__code__, frozenset(function.__code__.co_freevars)):
                self.open[f"{function.__name__} changes a variable around it, which outlasts a call"] = None
            return super().twin(function)
        except UnreadableError as error:
            self._unread.add(function.__code__)
            self.open[f"{function.__name__} cannot be read: {error}"] = None
            return function

    def call(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        """``f(x)``."""
        if type(function) is functools._lru_cache_wrapper and is_own(function.__wrapped__):
            value = self.call(function.__wrapped__, *args, **keywords)
            if not _is_plain(value):
                self._say(f"keeps what {function.__wrapped__.__name__} returned for later calls")
            return value
        return super().call(function, *args, **keywords)

    def blank(self, kind: type) -> Any:
        """Return a new object of a user's class."""
        made = super().blank(kind)
        return self._fresh(made) if _is_simple(kind) else made

    def foreign(self, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call what is not the user's."""
        owner, rest = getattr(function, "__self__", None), args
        if isinstance(owner, types.ModuleType):
            owner = None
        elif isinstance(function, _DESCRIPTORS) and args:
            owner, rest = args[0], args[1:]
        if isinstance(owner, Noise):
            self._touched += isinstance(owner, SymbolicNoise)
            if function.__name__ in ("post", "repeat"):
                args = tuple(functools.partial(self.call, each) if callable(each) else each for each in args)
            return super().foreign(function, args, keywords)
        name = str(getattr(function, "__name__", type(function).__name__))
        self._judge(function, name, owner, rest, keywords)
        result = super().foreign(function, args, keywords)
        if self._is_fresh(function, name, owner, args, result):
            self._fresh(result)
            for each in getattr(result, "__dataclass_fields__", {}).values():
                value = getattr(result, each.name, None)
                if each.default_factory in _CHANGING and not any(value is one for one in (*args, *keywords.values())):
                    self._fresh(value)
        return result

    def _is_fresh(self, function: Any, name: str, owner: Any, args: tuple[Any, ...], result: Any) -> bool:
        """Whether what a call returns was made by it, and nobody else has it."""
        if result is owner or any(result is each for each in args):
            return False
        if isinstance(result, np.ndarray):
            return result.base is None and (_top(type(owner).__module__) == "numpy" or owner is None)
        if isinstance(function, type) or name == "__new__":
            kind: Any = type(result)
            return _is_simple(kind) or hasattr(kind, "__next__")
        if isinstance(owner, _CHANGING):
            return name in ("copy", "union", "intersection", "difference", "symmetric_difference", "__iter__")
        return function in (sorted, iter, copy.copy, copy.deepcopy) or isinstance(owner, str | bytes)

    def _judge(self, function: Any, name: str, owner: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        """Name a call that is not known to depend on its arguments alone, or that looks at numbers."""
        named = getattr(function, "__module__", None) or (type(function) if owner is None else type(owner)).__module__
        top, everything = _top(str(named)), (*args, *keywords.values())
        unknown = self._touch(owner, *everything)
        if named in _OURS or function is sys.exit:
            return
        is_users = self._is_of_users_class(function, owner)
        if name in _NEVER or name.startswith("read_") or type(function).__name__ in _NEVER:
            self._say(f"calls {name}")
        elif top == "builtins" and name in _ASKS and args and owner is None:
            self._looks(args[0], _ASKS[name])
            if name in ("hasattr", "getattr") and len(args) > 1:
                self._is_known_attribute(args[0], args[1])
        elif isinstance(owner, _CHANGING):
            if name not in _READS and effect_of(function, owner, name) is not Effect.PURE:
                self._changes(owner)
            if isinstance(owner, set) and name == "pop":
                self._passes(owner)
        elif not (owner is None or isinstance(owner, (*_CLOSED, type)) or id(owner) in self._made):
            if effect_of(function, owner, name) is not Effect.PURE:
                self._say(f"calls {name}() of a {type(owner).__name__}, which outlasts a call")
        elif _is_changing(top, name):
            self._changes(args[0] if args else None)
        elif top in sys.stdlib_module_names and top not in _PURE:
            self._say(f"looks at {name} of the module {named}")
        elif top not in _PURE and not is_users and effect_of(function, owner, name) not in _QUIET:
            self._say(f"calls {name}() of {named}, of which it is not known that it depends on its arguments alone")
        if isinstance(owner, str) and name in ("format", "format_map") and ("." in owner or "[" in owner):
            self._say("looks at an attribute, or a part, by a text")
        if function is iter and args:
            self._passes(args[0])
        if name in _WRITES and any(map(_is_placed, everything)):
            self._say("looks at where in memory an object lies")
        for each in everything:
            if hasattr(type(each), "__next__"):
                self._passes(each)
            elif callable(each) and not isinstance(each, type) and not source.is_own(each):
                self._is_harmless(each)
            elif isinstance(each, type) and each is type:
                self._say("hands the type of values on")
        moves = (
            top in _BY_OPERATORS
            or is_users
            or (top == "statistics" and name in _OF_STATISTICS)
            or (top == "numpy" and (name in _OF_NUMPY or owner is not None))
        )
        if unknown and not moves:
            self._say(f"hands a number to {name}() of {named}, which may look at more than its value")
        if "out" in keywords:
            self._changes(keywords["out"])

    @staticmethod
    def _is_of_users_class(function: Any, owner: Any) -> bool:
        """Whether a class of the user's is called, or a method that an object of it has from Python's own classes."""
        kind: Any = function if isinstance(function, type) else type(owner)
        module = sys.modules.get(kind.__module__)
        return is_of_user(getattr(module, "__file__", None) or "<")

    def _is_harmless(self, function: Any) -> None:
        """Name a function of a library that another one is to call, where it is not looked at."""
        while isinstance(function, functools.partial):
            function = function.func
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__name__", type(function).__name__)
        if isinstance(owner, Noise) or isinstance(function, types.MethodType) or source.is_own(function):
            return
        if isinstance(owner, types.ModuleType):
            owner = None
        effect = effect_of(function) if owner is None else effect_of(function, owner, name)
        if name in _NEVER or name in _ASKS or (effect is not Effect.PURE and not name.startswith("__getitem")):
            self._say(f"hands {name} on, which is called where it is not looked at")

    # --- values -------------------------------------------------------------------------------------------

    def _is_known_attribute(self, owner: Any, name: Any) -> None:
        if isinstance(owner, types.ModuleType):
            top = _top(owner.__name__)
            strange = top in sys.stdlib_module_names and top not in _PURE
            if (strange and not (owner is sys and name == "exit")) or owner.__name__.startswith("numpy.random"):
                self._say(f"looks at the module {owner.__name__}")
            return
        self._is_known_type(owner)
        text = str(name)
        if text.startswith("__") and text.endswith("__") and text not in _DUNDERS:
            self._say(f"looks at .{text}")
        elif isinstance(owner, Noise):
            if text.startswith("_") or not callable(getattr(Noise, text, None)):
                self._say(f"looks at .{text} of the noise")
        elif isinstance(owner, _NUMBERS):
            self._looks(owner, f".{text}")

    def attribute(self, owner: Any, name: str) -> Any:
        """``o.a``."""
        self._is_known_attribute(owner, name)
        return super().attribute(owner, name)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """``o.a = v``."""
        self._changes(owner)
        super().set_attribute(owner, name, value)

    def delete_attribute(self, owner: Any, name: str) -> None:
        """``del o.a``."""
        self._changes(owner)
        super().delete_attribute(owner, name)

    def item(self, owner: Any, key: Any) -> Any:
        """``o[k]``."""
        self._is_known_type(owner)
        is_made = id(owner) in self._made
        member = super().item(owner, key)
        if isinstance(owner, collections.defaultdict):
            is_new = is_made and owner.default_factory in _CHANGING
        else:
            is_new = isinstance(key, slice) and (type(owner) is list or (is_made and isinstance(owner, np.ndarray)))
        return self._fresh(member) if is_new else member

    def set_item(self, owner: Any, key: Any, value: Any) -> None:
        """``o[k] = v``."""
        self._changes(owner)
        super().set_item(owner, key, value)

    def delete_item(self, owner: Any, key: Any) -> None:
        """``del o[k]``."""
        self._changes(owner)
        super().delete_item(owner, key)

    def binary(self, name: str, left: Any, right: Any) -> Any:
        """``a + b``."""
        self._touch(left, right)
        result = super().binary(name, left, right)
        plain = {type(left), type(right)} <= {list, set, dict, int, float, np.ndarray, SymbolicValue}
        return self._fresh(result) if plain else result

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """``a < b``, ``a is b``, ``a in b``."""
        if name in _OF_ONE:
            return super().compare(_OF_ONE[name], left, right)
        if name in ("is_", "is_not"):
            both = [isinstance(side, _CLOSED) and side is not None for side in (left, right)]
            if all(both) and (self._touched or self._is_unknown([left, right])):
                self._say("looks at whether two values are one object")
        elif name in ("in_", "not_in"):
            self._is_known_type(right)
            if hasattr(type(right), "__next__"):
                self._passes(right)
            self._touch(left, right)
        self._decides(left, right)
        return super().compare(name, left, right)

    def unary(self, name: str, value: Any) -> Any:
        """``-a``."""
        self._touch(value)
        return super().unary(name, value)

    def inplace(self, name: str, target: Any, value: Any) -> Any:
        """``a += b``."""
        self._touch(target, value)
        if not isinstance(target, _CLOSED):
            self._changes(target)
        return super().inplace(name, target, value)

    def truth(self, value: Any) -> Any:
        """``if a``."""
        self._touched += type(value) is SymbolicValue and not value.known
        self._decides(value)
        return super().truth(value)

    def format(self, value: Any, conversion: int, specification: Any) -> Any:
        """``{a!r:>5}`` in a text."""
        self._touch(value)
        if _is_placed(value):
            self._say("looks at where in memory an object lies")
        return super().format(value, conversion, specification)

    def iterate(self, value: Any) -> Iterable[Any]:
        """``for x in a``."""
        self._is_known_type(value)
        return super().iterate(self._passes(value))

    def new(self, value: Any) -> Any:
        """A list, set or dict that was written down."""
        return self._fresh(value)

    def importing(self, name: str) -> None:
        """``import a`` within a function."""
        if _top(name) in sys.stdlib_module_names and _top(name) not in _PURE:
            self._say(f"looks at the module {name}")


class _Told:
    """A manager that is told of exceptions: of those that numbers alone may raise it must not be."""

    def __init__(self, domain: Alone, manager: Any) -> None:
        self._domain, self._manager, self._begun = domain, manager, 0

    def __enter__(self) -> Any:
        self._begun = self._domain.trying()
        return self._manager.__enter__()

    def __exit__(self, *what: Any) -> Any:
        self._domain.tried(self._begun, None)
        return self._manager.__exit__(*what)


def _top(module: str) -> str:
    return module.partition(".")[0].lstrip("_")


def _line(frame: Any) -> str:
    name, line = frame.f_code.co_filename, frame.f_lineno
    return f"{os.path.basename(name)}:{line} ({linecache.getline(name, line).strip()})"


def _is_changing(top: str, name: str) -> bool:
    """Whether a function changes its first argument."""
    if top == "operator":
        return name in ("setitem", "delitem") or (
            name[:1] == "i" and hasattr(operator, f"__{name}__") and name[1:] in _IN
        )
    return name in ("setattr", "delattr") or (top == "heapq" and name[:4] == "heap") or name.startswith("insort")


_IN = frozenset(("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift",
                 "rshift", "concat"))  # fmt: skip


def _is_raised_by_hand(kind: Any) -> bool:
    """Whether an exception is raised by no operation on numbers, but by name: it is the user's, or about places."""
    if not isinstance(kind, type) or kind in _PLACES:
        return kind in _PLACES
    home = getattr(sys.modules.get(kind.__module__), "__file__", None) or "<"
    return is_of_user(home) or _top(kind.__module__) == "dpaudit"


def _is_placed(value: Any) -> bool:
    """Whether the text of a value says where in memory something lies."""
    if isinstance(value, _CONTAINERS):
        through = (*value.keys(), *value.values()) if isinstance(value, dict) else value
        return any(map(_is_placed, through))
    kind: Any = type(value)
    return kind.__repr__ is object.__repr__ or isinstance(value, _PLACED) or hasattr(kind, "__next__")


_PLACED = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)


@functools.lru_cache(maxsize=4096)
def _is_simple(kind: type) -> bool:
    """Whether a new object of a class holds nothing of others that it would change by itself."""
    known = (object, tuple, collections.defaultdict, collections.OrderedDict, collections.Counter, *_CHANGING)
    return all(
        base in known
        or base.__module__ in ("abc", "typing", "enum")
        or is_of_user(getattr(sys.modules.get(base.__module__), "__file__", None) or "<")
        or (base.__module__ == "builtins" and issubclass(base, BaseException))
        for base in kind.__mro__
    )


def _is_plain(value: Any) -> bool:
    """Whether nobody can change a value."""
    if isinstance(value, tuple | frozenset):
        return all(map(_is_plain, value))
    return isinstance(value, _CLOSED) or type(value).__module__ in ("fractions", "decimal")


@functools.cache
def _sets(code: types.CodeType, outer: frozenset[str]) -> bool:
    """Whether a function, or one within it, sets a variable of what is around it."""
    own = outer & set(code.co_freevars)
    stored = {each.argval for each in dis.get_instructions(code) if each.opname in ("STORE_DEREF", "DELETE_DEREF")}
    return bool(stored & own) or any(_sets(each, own) for each in code.co_consts if isinstance(each, types.CodeType))
