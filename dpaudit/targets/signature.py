"""What does a function ask for, and which code is it, with everything that it reaches?

=================  =======================================  =================================
asks for           signature                                runs as
=================  =======================================  =================================
``noise``          ``f(data, noise, **parameters)``         a program: one output a run
``size``           ``f(data, size, rng, **parameters)``     a sampler: ``size`` outputs a call; without
                                                            ``rng`` one, as an opaque function
``rng`` alone      ``f(data, rng, **parameters)``           seeded: one output a call
none of these      ``f(data, **parameters)``                opaque: randomness of its own
=================  =======================================  =================================

Its digest starts from the function, and everything that its code names is followed, as far as it can be seen without
running it: helpers of its own package or folder, classes with their attributes, closures, default values, and the
module constants that are read. A library (an installed package, or one of Python's own modules) counts by name and
version. Source counts as its syntax tree without docstrings, so layout and comments do not matter, and Python 3.11 to
3.13 give the same digest. Without source, bytecode counts, which differs between versions of Python. What only a run
reveals (``getattr`` with a computed name, ``exec``, files, the environment) is not covered.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import hashlib
import importlib.util
import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from dpaudit.errors import UsageError

# --- What does a function ask for, and so how is it run? -------------------------------------------------

FILLED = ("noise", "rng", "size")


class Shape(Enum):
    """What a function asks for, and so how it is run."""

    PROGRAM = "program"
    SAMPLER = "sampler"
    SEEDED = "seeded"
    OPAQUE = "opaque"
    READ = "read"  # of runs alone: a seeded or opaque function whose source is read, so that one pass makes many

    def __str__(self) -> str:
        return self.value


FORMS = (
    "f(data, noise, **parameters), f(data, size, rng, **parameters), "
    "f(data, rng, **parameters) or f(data, **parameters)"
)


def title_of(function: Any) -> str:
    """Return the name of a function, or of the class of a callable."""
    if isinstance(function, functools.partial):
        return title_of(function.func)
    return str(getattr(function, "__name__", None) or type(function).__name__)


def _parameters_of(function: Callable[..., Any], *, follow: bool) -> list[inspect.Parameter]:
    try:
        listed = list(inspect.signature(function, follow_wrapped=follow).parameters.values())
    except (TypeError, ValueError):
        raise UsageError(
            f"{title_of(function)} has no readable signature; wrap it in one of the forms {FORMS}, "
            "or give shape='opaque'"
        ) from None
    if not listed or listed[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise UsageError(f"{title_of(function)} takes no data; the forms of a mechanism are {FORMS}")
    return listed


def _takes_any(listed: list[inspect.Parameter]) -> bool:
    return listed[-1].kind is inspect.Parameter.VAR_KEYWORD


def names_taken(function: Callable[..., Any]) -> tuple[dict[str, Any], bool]:
    """Return what a function takes by name after its data, with defaults, and whether it takes any other name.

    A wrapper (functools.wraps) that takes ``**names`` passes them on to the inner function, whose names count too;
    except ``noise``, ``rng`` and ``size`` if the wrapper itself asks for one of them.
    """
    try:
        own = _parameters_of(function, follow=False)
    except UsageError:
        own = _parameters_of(function, follow=True)  # a wrapper without its own signature, such as a cache
    names = _by_name(own, title_of(function))
    if not _takes_any(own):
        return names, False
    inner = _parameters_of(function, follow=True)
    handed_on = _by_name(inner, title_of(function))
    if not names.keys().isdisjoint(FILLED):
        handed_on = {name: default for name, default in handed_on.items() if name not in FILLED}
    return {**handed_on, **names}, _takes_any(inner)


def _by_name(listed: list[inspect.Parameter], title: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for item in listed[1:]:
        if item.kind is inspect.Parameter.POSITIONAL_ONLY:
            if item.default is inspect.Parameter.empty:
                raise UsageError(f"{title} takes {item.name} by position only; give it by name: write {FORMS}")
        elif item.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            names[item.name] = item.default
    return names


def inferred(names: Mapping[str, Any], title: str) -> tuple[Shape, frozenset[str]]:
    """Return how a function is run, and which of noise, rng and size it asks for."""
    asked = frozenset(
        name for name in FILLED if name in names and (names[name] is inspect.Parameter.empty or names[name] is None)
    )
    if "noise" in asked:
        if asked != {"noise"}:
            raise UsageError(f"{title} asks for noise and for {', '.join(sorted(asked - {'noise'}))}; write {FORMS}")
        return Shape.PROGRAM, asked
    if "size" in asked:
        return Shape.SAMPLER, asked
    return (Shape.SEEDED if "rng" in asked else Shape.OPAQUE), asked


_SIZES = ("n_samples", "num_samples", "nsamples", "n_runs", "samples", "n")


def size_hint(missing: list[str]) -> str:
    """Advice if the number of outputs of a call has another name than ``size``."""
    other = next((name for name in missing if name in _SIZES), None)
    return "" if other is None else f"; where {other} says how many outputs a call returns, name it size"


_NEEDED = {Shape.PROGRAM: "noise", Shape.SAMPLER: "size", Shape.SEEDED: "rng", Shape.OPAQUE: None}


def stated(shape: str | Shape, names: Mapping[str, Any], anything: bool, title: str) -> tuple[Shape, frozenset[str]]:
    """Return the call style that was stated explicitly, and what such a function receives."""
    try:
        kind = Shape(str(shape))
        needed = _NEEDED[kind]
    except (ValueError, KeyError):
        raise UsageError(f"shape is one of {', '.join(map(str, _NEEDED))}, not {shape!r}") from None
    if needed is not None and needed not in names and not anything:
        raise UsageError(f"{title} cannot run as {kind}: it does not take {needed}; write {FORMS}")
    given = {"size", "rng"} if kind is Shape.SAMPLER else {needed}
    return kind, frozenset(name for name in FILLED if name in given and (name in names or anything))


def refuse_other_callables(function: Callable[..., Any], title: str) -> None:
    """Raise `UsageError` for callables that do not return outputs of a mechanism."""
    if inspect.isclass(function):
        raise UsageError(
            f"{title} is a class, and a call of it makes an object; write a function around it: "
            f"def release(data, rng): return {title}(…).its_method(data)"
        )
    if inspect.iscoroutinefunction(function):
        raise UsageError(
            f"{title} is async, and a call of it returns a coroutine; write a function around it: "
            f"def release(data): return asyncio.run({title}(data))"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            f"{title} is a generator, and a call of it runs nothing; write a function that returns what it yields: "
            f"def release(data, rng): return list({title}(data, rng))"
        )
    qualified = getattr(function, "__qualname__", "")
    owner = qualified.rpartition(".")[0].rpartition(".")[2]
    if inspect.isfunction(function) and owner.isidentifier() and _first_parameter(function) == "self":
        raise UsageError(
            f"{qualified} is a method without its object, so that the data would stand for self; write a function "
            f"around it: def release(data, rng): return {owner}(…).{title}(data)"
        )


def _first_parameter(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    return str(code.co_varnames[0]) if code is not None and code.co_argcount else ""


# --- Which code is this function, with everything that it reaches? ---------------------------------------

PREFIX = "reached1:"
"""The prefix of digests that cover everything a function reaches; older ones cover its own source alone."""

_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
_MOST_PARTS = 10_000
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_STATED = frozenset({"dpaudit", "numpy", "scipy"})  # evidence records their versions separately
_UNSAID = frozenset({"ctx", "kind", "type_comment", "type_ignores"})  # irrelevant to what runs


def reached_digest(function: Any) -> str | None:
    """Return the digest of a function and everything that it reaches; None if there is no code to read."""
    walk = _Walk(_module_of(function).partition(".")[0])
    text = walk.value(function)
    return PREFIX + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest() if walk.read else None


def _module_of(function: Any) -> str:
    while isinstance(function, functools.partial) or _is_mechanism(function):
        function = function.func if isinstance(function, functools.partial) else function.function
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _is_mechanism(value: Any) -> bool:
    return (type(value).__module__, type(value).__name__) == ("dpaudit.targets.mechanism", "Mechanism")


class _Walk:
    """Descriptions of what is reached; each object is described once, and then referred to by its number."""

    def __init__(self, top: str) -> None:
        self.read = 0  # functions whose code was read
        self._top = "" if top == "dpaudit" else top
        self._seen: dict[int, int] = {}
        self._kept: list[Any] = []  # so that no id is reused

    def value(self, value: Any) -> str:
        """Describe a value, a function, a class or a module."""
        if type(value) in _PLAIN:
            return f"{type(value).__name__} {value!r}"
        if id(value) in self._seen:
            return f"again {self._seen[id(value)]}"
        if len(self._seen) > _MOST_PARTS:
            return "more"
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._described(value)

    def _described(self, value: Any) -> str:
        if _is_mechanism(value):
            return self.value(value.function)
        if isinstance(value, ModuleType):
            return _library(value.__name__) if self._is_library(value.__name__) else "module"
        if isinstance(value, functools.partial):
            return self._parts("partial", value.func, value.args, value.keywords)
        if type(value) in (list, tuple):
            return self._parts(type(value).__name__, *value)
        if isinstance(value, dict):
            return self._parts("dict", *(part for item in value.items() for part in item))
        if isinstance(value, set | frozenset):
            return f"{type(value).__name__} {sorted(map(self.value, value))}"
        if isinstance(value, classmethod | staticmethod):
            return self._parts(type(value).__name__, value.__func__)
        if isinstance(value, property):
            return self._parts("property", value.fget)
        if inspect.ismethod(value):
            return self._parts("method", value.__func__, value.__self__)
        if inspect.isclass(value):
            return self._class(value)
        if isinstance(getattr(value, "__code__", None), CodeType):
            return self._function(value)
        return self._object(value)

    def _parts(self, kind: str, *parts: Any) -> str:
        return f"{kind}({', '.join(map(self.value, parts))})"

    def _function(self, function: Any) -> str:
        inner = getattr(function, "__wrapped__", None)
        if self.read and inner is None and self._is_library(function.__module__):
            return f"{_library(function.__module__)} {function.__qualname__}"
        self.read += 1
        parts = [_source(function.__code__), self.value(function.__defaults__), self.value(function.__kwdefaults__)]
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # an empty cell
                parts.append(self.value(cell.cell_contents))
        parts += self._names(function.__code__, function.__globals__)
        if inner is not None:
            parts.append(self.value(inner))
        return f"function({'; '.join(parts)})"

    def _class(self, cls: type) -> str:
        if self._is_library(cls.__module__):
            return f"{_library(cls.__module__)} {cls.__qualname__}"
        parts = [f"class {cls.__name__}", *(self.value(base) for base in cls.__bases__ if base is not object)]
        for name, member in sorted(vars(cls).items()):
            if name in _OF_CLASSES or getattr(getattr(member, "__code__", None), "co_filename", "").startswith("<"):
                continue  # the latter are made by a library, such as the methods of a dataclass
            parts.append(f"{name}: {self.value(member)}")
        return f"({'; '.join(parts)})"

    def _object(self, value: Any) -> str:
        """Describe an object that is not a function: by its class and its attributes, or by a library's repr."""
        kind = type(value)
        if hasattr(value, "__wrapped__"):
            return f"{kind.__name__} of {self.value(value.__wrapped__)}"
        if inspect.isbuiltin(value) or inspect.isroutine(value):
            return f"{_library(str(getattr(value, '__module__', None)))} {getattr(value, '__qualname__', '')}"
        if hasattr(value, "dtype") and hasattr(value, "tobytes"):
            content = repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
            own = content.encode() if isinstance(content, str) else content
            return f"array {value.dtype} {getattr(value, 'shape', ())} {hashlib.sha256(own).hexdigest()}"
        parts = getattr(value, "__functions__", None)
        if isinstance(parts, tuple):
            return self._parts("functions", *parts)
        if not self._is_library(kind.__module__):
            return self._parts("object", kind, dict(getattr(value, "__dict__", {})))
        with contextlib.suppress(Exception):  # whatever a library does where it is to be written
            return f"{_library(kind.__module__)} {_ADDRESS.sub('', repr(value))}"
        return f"{_library(kind.__module__)} {kind.__qualname__}"

    # --- names in code ------------------------------------------------------------------------------------

    def _names(self, code: CodeType, space: Mapping[str, Any]) -> Iterator[str]:
        """Yield what the global names of a code object refer to, in the order of the names, and what it imports."""
        names, attributes, imports = _named_code(code)
        for name in sorted(names):
            if name in space:
                yield f"{name}: {self.value(space[name])}"
                if isinstance(space[name], ModuleType):
                    yield from self._members(space[name], attributes, name)
        for name, level in sorted(imports):
            with contextlib.suppress(ImportError, ValueError, AttributeError):
                full = importlib.util.resolve_name("." * level + name, str(space.get("__package__") or ""))
                yield from self._imported(full)

    def _imported(self, name: str) -> Iterator[str]:
        """Yield what a function imports when it runs: the whole file, which may not be imported yet."""
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            file = Path(spec.origin)
            top = name.partition(".")[0]
            own = top == self._top or (_INSTALLED.isdisjoint(file.parts) and top not in sys.stdlib_module_names)
            yield f"import {_tree_text(_parsed(spec.origin)) if own else _library(name)}"

    def _members(self, module: ModuleType, attributes: set[str], path: str) -> Iterator[str]:
        """Yield what attributes refer to in a module of the user's own, and in the modules within it."""
        if self._is_library(module.__name__) or path.count(".") > len(attributes):
            return
        for name in sorted(attributes & vars(module).keys()):
            member = vars(module)[name]
            if isinstance(member, ModuleType):
                yield from self._members(member, attributes, f"{path}.{name}")
            else:
                yield f"{path}.{name}: {self.value(member)}"

    def _is_library(self, name: str | None) -> bool:
        top = (name or "").partition(".")[0]
        if not top or top == "__main__" or top == self._top:
            return False
        if top == "dpaudit" or top in sys.stdlib_module_names:
            return True
        module = sys.modules.get(name or "")
        file = getattr(module, "__file__", None)
        return not _INSTALLED.isdisjoint(Path(file).parts) if file else not hasattr(module, "__path__")


_OF_CLASSES = frozenset(
    {
        *("__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__", "__firstlineno__"),
        *("__static_attributes__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__match_args__"),
        *("__dataclass_params__", "__dataclass_fields__", "__abstractmethods__", "_abc_impl", "__parameters__"),
    }
)


def _named_code(code: CodeType) -> tuple[set[str], set[str], set[tuple[str, int]]]:
    """The global names, attributes and imports in a code object and all code objects within it."""
    names: set[str] = set()
    attributes: set[str] = set()
    imports: set[tuple[str, int]] = set()
    level = 0
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(str(step.argval))
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(str(step.argval))
        elif step.opname == "IMPORT_NAME":
            imports.add((str(step.argval), level))
        if step.opname in ("LOAD_CONST", "LOAD_SMALL_INT") and type(step.argval) is int:
            level = step.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            for own, more in zip((names, attributes, imports), _named_code(inner), strict=True):
                own |= more  # type: ignore[operator]
    return names, attributes, imports


# --- source -------------------------------------------------------------------------------------------------


def _source(code: CodeType) -> str:
    """The syntax of a function, or its bytecode without source."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, OSError):
        trees = [_tree_text(node) for node in _functions(code.co_filename).get((code.co_firstlineno, code.co_name), ())]
        if trees:
            return " ".join(trees)
    return _bytecode(code)


def _parsed(file: str) -> ast.Module:
    return ast.parse("".join(linecache.getlines(file)))


def _functions(file: str) -> Mapping[tuple[int, str], list[ast.AST]]:
    linecache.checkcache(file)
    return _functions_of("".join(linecache.getlines(file)))


@functools.lru_cache(maxsize=64)
def _functions_of(text: str) -> Mapping[tuple[int, str], list[ast.AST]]:
    """All functions of a source, by their first line and name; lambdas on one line are grouped."""
    functions: dict[tuple[int, str], list[ast.AST]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            functions.setdefault((first, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            functions.setdefault((node.lineno, "<lambda>"), []).append(node)
    return functions


def _tree_text(node: Any) -> str:
    """Write a syntax tree in the same way for every version of Python, without empty fields and docstrings."""
    if isinstance(node, list):
        return f"[{', '.join(map(_tree_text, node))}]"
    if not isinstance(node, ast.AST):
        return f"{type(node).__name__} {node!r}"
    parts = []
    for name, part in ast.iter_fields(node):
        if name == "body" and isinstance(part, list) and _is_documented(node):
            part = part[1:]
        if part is not None and part != [] and name not in _UNSAID:
            parts.append(f"{name}={_tree_text(part)}")
    return f"{type(node).__name__}({', '.join(parts)})"


def _is_documented(node: ast.AST) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
        return False
    return ast.get_docstring(node, clean=False) is not None


def _bytecode(code: CodeType) -> str:
    constants = [_bytecode(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    python = ".".join(map(str, sys.version_info[:2]))
    return f"bytecode of Python {python}: {code.co_code.hex()} {code.co_names} {constants}"


@functools.cache
def _library(name: str) -> str:
    """A library by name and version."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names or top in _STATED:
        return f"library {top}"
    with contextlib.suppress(PackageNotFoundError):
        return f"library {top} {version(top)}"
    with contextlib.suppress(PackageNotFoundError, LookupError):
        return f"library {top} {version(packages_distributions()[top][0])}"
    return f"library {top} {getattr(sys.modules.get(top), '__version__', '')}".rstrip()
