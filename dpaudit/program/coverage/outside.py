"""Does a program use anything besides its data, noise and parameters, and does it keep state between calls?

A proof is about a function of those three. This module names what may change between two calls, or may differ between
the reading and a run: clocks, files, the interpreter itself, the type or the identity of an unknown number. The values
that a program keeps in its module, closures, defaults and attributes are compared before and after it ran.
"""

from __future__ import annotations

import ast
import builtins
import functools
import gc
import hashlib
import itertools
import linecache
import pickle
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from dpaudit.program.coverage.conditions import FREE, Dependence, line_at, line_of_node, module_value
from dpaudit.program.coverage.instructions import STANDARD, Coverage, Gap
from dpaudit.program.fold import Fold

_PURE = {
    "__future__", "abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses",
    "decimal", "enum", "fractions", "functools", "heapq", "itertools", "json", "keyword", "math", "numbers",
    "operator", "re", "statistics", "string", "struct", "textwrap", "types", "typing", "warnings", "zlib",
    "hashlib", "base64", "binascii", "unicodedata",
}  # fmt: skip
_STRANGE = {"id", "hash", "vars", "dir", "globals", "locals", "eval", "exec", "compile", "open", "input", "__import__",
            "breakpoint", "memoryview"}  # fmt: skip
_LOOKS = {"type", "hasattr", "getattr", "callable", "issubclass"}
_OUTSIDE = {
    "now", "today", "Timestamp", "datetime64", "to_datetime", "get_option", "option_context", "load", "loadtxt",
    "genfromtxt", "fromfile", "memmap", "geterr", "geterrcall", "get_printoptions", "getcontext",
    "localcontext", "show_config", "HDFStore", "ExcelFile", "attrgetter", "methodcaller",
}  # fmt: skip
"""Names by which libraries that are pure else look at clocks, files and settings, or at any attribute."""
_HIDDEN = {
    "__code__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__", "__slots__", "__subclasses__",
    "__traceback__", "__self__", "__builtins__", "__dict__", "__reduce__", "__reduce_ex__", "__sizeof__", "__hash__",
    "cache_info", "cache_clear", "gi_frame", "f_back", "f_locals", "f_globals", "tb_frame", "tb_next",
    "__class__",
}  # fmt: skip
_READINGS = tuple(f"dpaudit.program.{name}" for name in ("symbolic", "enumerate"))  # modules that define numbers
_MOST = 50_000  # values of a state that are compared, to bound the time


def other_inputs(coverage: Coverage, dependence: Dependence) -> list[str]:
    """Return what a program uses besides data, noise and parameters, each with its line."""
    found: dict[str, None] = {}
    for code, ran in coverage.ran.items():
        node = dependence.function_of(code)
        if node is None:
            made = code.co_name.startswith("__") or (code.co_name.startswith("<") and code.co_name != "<lambda>")
            if not made and not linecache.getlines(code.co_filename):
                found[f"{code.co_name} has no source that could be read"] = None
            continue
        for part in ast.walk(node):
            why = _why_strange(part, ran.names, dependence)
            if why is not None:
                found[f"{line_of_node(code, part)} {why}"] = None
    return list(found)


def _why_strange(part: ast.AST, names: Mapping[str, Any], dependence: Dependence) -> str | None:
    if isinstance(part, ast.Attribute) and part.attr in _HIDDEN:
        return f"looks at .{part.attr}"
    if _is_outside(part, names):
        return f"looks outside of its data, noise and parameters ({_named(part) or 'by an import or getattr'})"
    if isinstance(part, ast.Import | ast.ImportFrom):
        listed = [part.module or ""] if isinstance(part, ast.ImportFrom) else [each.name for each in part.names]
        bad = next((name for name in listed if _is_strange_module(name)), None)
        return None if bad is None else f"looks at the module {bad}"
    if isinstance(part, ast.Compare) and any(isinstance(each, ast.Is | ast.IsNot) for each in part.ops):
        sides = [part.left, *part.comparators]
        if not any(_is_single(each) for each in sides) and dependence.label(part) != FREE:
            return "looks at whether two values are one object"
    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _LOOKS - names.keys():
        asked = part.args[:1]
        if any(dependence.label(each) != FREE and not dependence.is_shaped(each) for each in asked):
            return f"looks at the {'type' if part.func.id == 'type' else 'inside'} of a value ({part.func.id})"
    if isinstance(part, ast.Call) and getattr(part.func, "id", "") in ("setattr", "delattr") and part.args:
        return "changes a module" if isinstance(module_value(part.args[0], names), types.ModuleType) else None
    if isinstance(part, ast.Assign | ast.AugAssign):
        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
        for each in targets:
            if isinstance(each, ast.Attribute) and isinstance(module_value(each.value, names), types.ModuleType):
                return "changes a module"
    if not isinstance(part, ast.Name | ast.Attribute):
        return None
    value = module_value(part, names)
    within = module_value(getattr(part, "_parent", part), names)
    if value is sys.exit or within is sys.exit:  # == is another question to a table
        return None
    if isinstance(part, ast.Name) and part.id in _STRANGE and value is getattr(builtins, part.id, None):
        return f"calls {part.id}"
    if isinstance(value, types.ModuleType):
        return f"looks at the module {value.__name__}" if _is_strange_module(value.__name__) else None
    home = getattr(value, "__module__", None) or getattr(type(value), "__module__", None)
    if value is not None and isinstance(home, str) and _is_strange_module(home) and not _is_plain(value):
        return f"looks at {part.id if isinstance(part, ast.Name) else part.attr} of the module {home}"
    return None


def _is_outside(part: ast.AST, names: Mapping[str, Any]) -> bool:
    """Whether a piece of source names what a library knows of clocks, files and settings, or may name it."""
    if isinstance(part, ast.ImportFrom):
        return any(each.name in _OUTSIDE for each in part.names)
    if isinstance(part, ast.Call) and getattr(part.func, "id", "") == "getattr" and part.args:
        return isinstance(module_value(part.args[0], names), types.ModuleType)
    if isinstance(part, ast.Attribute):
        within = module_value(part.value, names)
        of_module = isinstance(within, types.ModuleType)
        return part.attr in _OUTSIDE or (of_module and (part.attr == "options" or part.attr.startswith("read_")))
    if not isinstance(part, ast.Name) or _is_local(part):
        return False
    value = names.get(part.id)
    home = str(getattr(value, "__module__", "")).partition(".")[0]
    name = str(getattr(value, "__name__", ""))
    return home in ("numpy", "pandas", "decimal", "_decimal", "operator", "_operator") and (
        name in _OUTSIDE or name.startswith("read_")
    )


def _is_single(node: ast.AST) -> bool:
    """Whether a piece of source is None, True, False or …, of which there is one each."""
    return isinstance(node, ast.Constant) and (node.value is None or node.value is ... or type(node.value) is bool)


def _named(part: ast.AST) -> str:
    """Return the name that a piece of source is, or the attribute; empty for anything else."""
    return part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""


def _is_local(name: ast.Name) -> bool:
    """Whether a name is an argument of a function around it, or is assigned to there."""
    above: ast.AST | None = getattr(name, "_parent", None)
    while above is not None:
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given = {each.arg for each in ast.walk(above.args) if isinstance(each, ast.arg)}
            body = above.body if isinstance(above.body, list) else [above.body]
            if name.id in given or any(name.id in _stored(each) for each in body):
                return True
        above = getattr(above, "_parent", None)
    return False


def _stored(node: ast.AST) -> Iterator[str]:
    """Yield the names that a piece of source assigns to, without scopes of their own within it."""
    if isinstance(node, _SCOPES):
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    for each in ast.iter_child_nodes(node):
        yield from _stored(each)


_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip


def _is_plain(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _is_strange_module(name: str) -> bool:
    top = name.partition(".")[0].lstrip("_")
    if name.startswith("numpy.random"):
        return True
    return top in sys.stdlib_module_names and top not in _PURE and top != "builtins"


# --- state -----------------------------------------------------------------------------------------------------


class KeptState:
    """The values that a program keeps between calls, and whether they change."""

    def __init__(self, coverage: Coverage, function: Callable[..., Any]) -> None:
        """Record the values that a program keeps now."""
        self._coverage, self._function = coverage, function
        self._held: list[Any] = []
        self._before = self._digests()

    def changed(self) -> str | None:
        """Return the name of a value that has changed since, or None."""
        now = self._digests()
        return next((name for name, digest in self._before.items() if now.get(name, digest) != digest), None)

    def _digests(self) -> dict[str, str]:
        found: dict[str, str] = {}
        roots: dict[str, Any] = {}
        for code, ran in self._coverage.ran.items():
            for name in _names_in(code):
                if name in ran.names:
                    roots.setdefault(name, ran.names[name])
        roots["something that the function holds"] = self._function
        for name, value in roots.items():
            state = hashlib.sha256()
            self._walk(value, state, {})
            found[name] = state.hexdigest()
        return found

    def _walk(self, root: Any, state: Any, seen: dict[int, int]) -> None:
        pending = [root]
        kept = []  # keeps objects alive, so that no address is used twice
        while pending and len(seen) < _MOST:
            value = pending.pop()
            kind = type(value)
            if value is None or kind in (bool, int, float, complex, str, bytes):
                state.update(f"{kind.__name__}{value!r};".encode("utf-8", "surrogatepass"))
                continue
            if id(value) in seen:
                state.update(f"again{seen[id(value)]};".encode())
                continue
            seen[id(value)] = len(seen)
            kept.append(value)
            state.update(f"{kind.__module__}.{kind.__qualname__};".encode())
            if kind.__module__.startswith(_READINGS):
                self._held.append(value)  # so that no other one is ever at its address
                state.update(f"{id(value)};".encode())
            else:
                pending += reversed(list(self._within(value, state)))

    def _within(self, value: Any, state: Any) -> Iterator[Any]:
        """Yield what a value contains."""
        if isinstance(value, types.FunctionType):
            if self._coverage.is_own(value.__code__.co_filename):
                cells = [_content(cell) for cell in value.__closure__ or ()]
                yield from (value.__code__.co_code, cells, value.__defaults__, value.__kwdefaults__, value.__dict__)
                for name in _names_in(value.__code__):
                    yield value.__globals__.get(name)
        elif isinstance(value, types.ModuleType):
            if self._coverage.is_own(str(getattr(value, "__file__", None) or STANDARD)):
                for name, each in list(vars(value).items()):
                    if not name.startswith("__") and not callable(each) and not isinstance(each, types.ModuleType):
                        yield from (name, each)
        elif isinstance(value, type):
            file = getattr(sys.modules.get(value.__module__), "__file__", None)
            if file is not None and self._coverage.is_own(file):
                for name, each in list(vars(value).items()):
                    if name not in ("__dict__", "__weakref__", "__doc__", "__abstractmethods__", "_abc_impl"):
                        yield from (name, each)
        elif isinstance(value, types.BuiltinFunctionType | types.WrapperDescriptorType | types.MethodDescriptorType):
            owner = getattr(value, "__self__", None)
            if owner is not None and not isinstance(owner, types.ModuleType | type):
                yield owner
        elif isinstance(value, types.MethodType):
            yield from (value.__self__, value.__func__)
        elif isinstance(value, functools.partial):
            yield from (value.func, value.args, value.keywords, value.__dict__)
        elif isinstance(value, dict):
            yield from (each for pair in list(value.items()) for each in pair)
            yield from _attributes(value)
        elif isinstance(value, list | tuple):
            yield from list(value)
            yield from _attributes(value)
        elif isinstance(value, set | frozenset):
            yield from sorted(value, key=repr)
            yield from _attributes(value)
        elif isinstance(value, np.ndarray):
            state.update(f"{value.dtype}{value.shape}".encode())
            yield value.tolist() if value.dtype == object else value.tobytes()
        elif isinstance(value, types.GeneratorType):
            yield value.gi_frame and (value.gi_frame.f_lasti, dict(value.gi_frame.f_locals))
        elif isinstance(value, types.CellType):
            yield _content(value)
        elif isinstance(value, functools._lru_cache_wrapper) or not _pickled(value, state):
            yield from _attributes(value)
            yield from (each for each in gc.get_referents(value) if not isinstance(each, type | types.ModuleType))


def _pickled(value: Any, state: Any) -> bool:
    attributes = getattr(value, "__dict__", None)
    if attributes or hasattr(value, "__slots__"):
        return False
    if isinstance(value, itertools.count):
        state.update(repr(value).encode())  # Python 3.14 cannot pickle these
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # for iterators, which hold state nevertheless
            state.update(pickle.dumps(value))
    except Exception:
        return False
    return True


def _attributes(value: Any) -> Iterator[Any]:
    if isinstance(getattr(value, "__dict__", None), dict):
        yield value.__dict__
    for kind in type(value).__mro__:
        for name in vars(kind).get("__slots__", ()) if not isinstance(vars(kind).get("__slots__"), str) else ():
            yield from (name, getattr(value, name, None))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # an empty cell
        return None


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names_in(each)


# --- Was everything that can run of a program read? What was not is named ---
#
# The reading itself is traced. If a gap is left at the end in the code that it executed, or the program uses anything
# besides data, noise and parameters, or a run executes code that no path read, nothing is proved.


class WatchedProgram:
    """A program that is being read, with the code that was executed and the code that was not.

    Attributes:
        coverage: what the reading executed.
        runs: what concrete runs executed.
    """

    def __init__(self, function: Callable[..., Any], parameters: Iterable[str], *, is_fold: bool = False) -> None:
        """Watch a program."""
        self.coverage = Coverage(function)
        self.runs = Coverage(function, self.coverage)
        self._function, self._parameters, self._is_fold = function, tuple(parameters), is_fold
        self._state: KeptState | None = None
        self._known: tuple[tuple[int, int], Dependence] | None = None

    def following(self, decided: Callable[[], int] | None = None) -> AbstractContextManager[None]:
        """Trace one path; ``decided`` counts its comparisons of unknown numbers.

        Every path is traced: where no gap is left, a later one may still call a function that none before it called.
        Code of which all ran costs hardly any time.
        """
        self.coverage.counter = decided
        return self.coverage.following()

    def ended(self) -> None:
        """Finish reading a path (or a call of a program with discrete noise)."""
        if self._state is None:
            self._state = KeptState(self.coverage, self._function)

    def changed(self) -> str | None:
        """Return the name of a value that the program keeps between calls and changes, or None."""
        return None if self._state is None else self._state.changed()

    def observed(self, function: Any) -> Any:
        """Return a program whose calls are traced."""
        if isinstance(function, Fold):
            init = self.observed(function.init) if callable(function.init) else function.init
            finish = None if function.finish is None else self.observed(function.finish)
            return Fold(self.observed(function.step), init, finish)

        @functools.wraps(function)
        def called(*given: Any, **parameters: Any) -> Any:
            with self.following():
                result = function(*given, **parameters)
            self.ended()
            return result

        return called

    def looks(self) -> tuple[str, ...]:
        """Return what the program uses besides data, noise and parameters, in words."""
        return tuple(other_inputs(self.coverage, self._dependence()))

    def open(self) -> tuple[str, ...]:
        """Return what can run and was not read, in words; nothing is proved if there is any."""
        found = dict.fromkeys(self._gaps())
        for code, offset in self.runs.beyond(self.coverage):
            found.setdefault(f"not covered: {line_at(code, offset)}, which a run came through")
        return (*found, *other_inputs(self.coverage, self._dependence()))

    def _dependence(self) -> Dependence:
        ran = self.coverage.ran.values()
        size = len(ran), sum(len(each.callers) for each in ran)  # these only grow, and nothing else matters
        if self._known is None or self._known[0] != size:
            self._known = size, Dependence(self.coverage, self._parameters, is_fold=self._is_fold)
        return self._known[1]

    def _gaps(self) -> list[str]:
        """Return the gaps that the scope does not decide."""
        dependence = self._dependence()
        found = [_gap_text(gap) for gap in self.coverage.gaps() if not dependence.is_decided(gap)]
        untold = [code for code, ran in self.coverage.ran.items() if not ran.steps]
        found += [f"not covered: {line_at(code, 0)}, of which no instruction was told" for code in untold]
        return found + [
            f"not covered: {line_at(code, 0)}, which was made and never called" for code in self._uncalled()
        ]

    def _uncalled(self) -> list[types.CodeType]:
        return self.coverage.uncalled()


def _gap_text(gap: Gap) -> str:
    here = line_at(gap.code, gap.offset)
    if gap.target is None:
        return f"not covered: the exception that {here} may raise"
    there = line_at(gap.code, gap.target)
    return f"not covered: {there}" if there != here else f"not covered: another way of {here}"
