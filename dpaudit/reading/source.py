"""Where is the source of a function, and what is the function with its source rewritten?

A function is found by its code: the source at hand is compiled, and has to give the very code that the function runs.
So what is read is what runs, also where a name was reused, a decorator wraps, or a file was changed after it was
imported. The rewritten function has the globals, the defaults and the closure of the original.
"""

from __future__ import annotations
import __future__

import ast
import collections
import contextlib
import dis
import functools
import inspect
import linecache
import os
import sys
import sysconfig
import types
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dpaudit.reading.rewrite import DOMAIN, Statements, UnreadableError, first_parameter, located, refuse_what_is_ours

Rewriter = Callable[[str, str], Statements]
"""Makes what rewrites one function, from the name of its class and its first parameter."""

_LIBRARIES = tuple(
    os.path.realpath(path) + os.sep
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)
_OWN = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
_CATALOGUE = ("dpaudit_mechanisms", "mechanisms")
_AROUND = "__dpaudit_around__"
_LAZY = __future__.annotations.compiler_flag


@functools.cache
def is_of_user(file: str) -> bool:
    """Whether a file is the user's own, rather than of Python, of an installed library or of dpaudit."""
    if file.startswith("<"):  # "<string>": made by a library; what is typed has a source that can be had
        return file.startswith(_TYPED)
    path = os.path.realpath(file)
    if path.startswith(_OWN):
        return False
    if path.startswith(tuple(_TOO)):
        return True
    for name in ("site-packages", "dist-packages"):
        _, installed, rest = path.rpartition(f"{os.sep}{name}{os.sep}")
        if installed:
            return rest.partition(os.sep)[0] in _CATALOGUE
    return not path.startswith(_LIBRARIES)


_TOO: set[str] = set()


def read_too(function: Any) -> None:
    """Let the package of an installed program count as the user's own from now on: it is what is looked at."""
    inner = inspect.unwrap(function)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    if code is None or is_of_user(code.co_filename) or code.co_filename.startswith(("<", _OWN)):
        return
    top = getattr(sys.modules.get(inner.__module__.partition(".")[0]), "__file__", None) or ""
    folder = os.path.basename(top) == "__init__.py"
    _TOO.add(os.path.dirname(os.path.realpath(top)) + os.sep if folder else os.path.realpath(code.co_filename))
    is_of_user.cache_clear()


_TYPED = ("<ipython", "<stdin", "<python-input", "<doctest", "<console")


def is_own(function: Any) -> bool:
    """Whether this is a Python function of the user's own modules."""
    return type(function) is types.FunctionType and is_of_user(function.__code__.co_filename)


def is_rewritten(running: types.FunctionType | types.FrameType) -> bool:
    """Whether a function, or what runs in a frame, asks a domain already: so does all within a rewritten function."""
    code = running.f_code if isinstance(running, types.FrameType) else running.__code__
    return _rewritten_codes.get(id(code)) is code


_rewritten_codes: dict[int, types.CodeType] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A function in a source: its node, and the name of its class, which Python puts before private names."""

    node: ast.FunctionDef | ast.Lambda
    owner: str


@dataclass(frozen=True, slots=True)
class Source:
    """A file: where each function stands that it compiles to."""

    lines: list[str]
    places: Mapping[types.CodeType, Place]


_sources: dict[tuple[str, int, bool], Source] = {}


def _source_of(function: types.FunctionType) -> Source:
    """Return the source of a function, as it is known now."""
    code, names = function.__code__, function.__globals__
    lines = linecache.getlines(code.co_filename, names)
    if not lines:
        raise UnreadableError(
            f"the source of {code.co_qualname} cannot be had ({code.co_filename}): "
            "write it in a file, and name it as FILE:function"
        )
    lazy = code.co_flags & _LAZY  # a notebook compiles all cells alike, whatever stands in this one
    hook = names.get("__loader__")
    hook = hook if type(hook).__name__ == "AssertionRewritingHook" else None
    key = code.co_filename, lazy, hook is not None
    source_text = _sources.get(key)
    if source_text is None or source_text.lines is not lines:
        source_text = _sources[key] = Source(lines, _places("".join(lines), code.co_filename, lazy, hook))
    return source_text


def _places(text: str, file: str, lazy: int, hook: Any) -> dict[types.CodeType, Place]:
    """Return where the functions of a source stand, by the code that each compiles to."""
    try:
        tree = ast.parse(text, file)
        whole = _compiled(text, file, lazy)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"the source of {file} is no Python: {error}") from None
    standing = dict(_standing(tree))
    lambdas = collections.Counter(key[0] for key in standing if len(key) == 4)
    standing |= {
        ("<lambda>", key[0]): standing[key] for key in list(standing) if lambdas[key[0]] == 1 and len(key) == 4
    }
    places = {code: standing[key] for code, key in _functions(whole) if key in standing}
    if hook is not None:
        places.update(
            (code, standing[key]) for code, key in _functions(_asserting(text, file, hook)) if key in standing
        )
    return places


def _asserting(text: str, file: str, hook: Any) -> types.CodeType:
    """Return what pytest makes of a test module: asserts that say what they compared. What they decide is the same."""
    from _pytest.assertion.rewrite import rewrite_asserts

    tree = ast.parse(text, file)
    rewrite_asserts(tree, text.encode(), file, hook.config)
    return _compiled(tree, file)


def _compiled(source: str | ast.Module, file: str, flags: int = 0) -> types.CodeType:
    """Compile what Python has compiled, and warned of, before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimize = sys.flags.optimize
        return compile(source, file, "exec", flags=flags, dont_inherit=True, optimize=optimize)  # type: ignore[no-any-return]


_Key = tuple[Any, ...]


def _standing(node: ast.AST, owner: str = "") -> Iterator[tuple[_Key, Place]]:
    """Yield the functions of a tree, by what tells them apart: name and first line, or the span of a lambda."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
            yield (child.name, first), Place(child, owner)
        elif isinstance(child, ast.Lambda):
            yield (child.lineno, child.end_lineno, child.col_offset, child.end_col_offset), Place(child, owner)
        yield from _standing(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _functions(code: types.CodeType) -> Iterator[tuple[types.CodeType, _Key]]:
    """Yield the codes within one, by what tells them apart."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    lambdas = [each for each in inner if each.co_name == "<lambda>"]
    if lambdas:  # where the code around it makes the function, the whole of the lambda is said to stand
        for each in dis.get_instructions(code):
            if each.opname == "LOAD_CONST" and any(each.argval is one for one in lambdas) and each.positions:
                known = None not in each.positions  # not under -X no_debug_ranges
                yield each.argval, tuple(each.positions) if known else ("<lambda>", each.argval.co_firstlineno)
    for one in inner:
        if one.co_name != "<lambda>":
            yield one, (one.co_name, one.co_firstlineno)
        yield from _functions(one)


def place_of(function: types.FunctionType) -> Place:
    """Return where a function stands in its source."""
    code = function.__code__
    place = _source_of(function).places.get(code)
    if place is None:
        linecache.checkcache(code.co_filename)
        place = _source_of(function).places.get(code)
    if place is None:
        raise UnreadableError(
            f"the source of {code.co_qualname} is not what runs ({code.co_filename}): it was changed since, or the "
            "function was made by another tool"
        )
    return place


def look_up(functions: Iterable[types.FunctionType]) -> None:
    """Read the sources of functions once, for all processes that fork from this one."""
    for each in functions:
        with contextlib.suppress(UnreadableError):  # said where the function is called
            place_of(each)


@functools.lru_cache(maxsize=4096)
def _template(code: types.CodeType, rewriter: Rewriter, place: Place) -> types.CodeType:
    """Return the code of the rewritten function; its domain is a free variable."""
    refuse_what_is_ours(place.node)
    node = copied(place.node)
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [None if each is None else ast.Constant(None) for each in node.args.kw_defaults]
    inside = rewriter(place.owner, first_parameter(node.args))
    inside.names = frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))
    inside.lazy = bool(code.co_flags & _LAZY) or sys.version_info >= (3, 14)
    is_lambda = isinstance(node, ast.Lambda)
    if not is_lambda:
        first = ast.Constant(
            None, lineno=code.co_firstlineno, col_offset=0, end_lineno=code.co_firstlineno, end_col_offset=0
        )
        node.decorator_list = [first] if node.decorator_list else []  # the code begins in its line
        node.returns = None
        for each in ast.walk(node.args):
            if isinstance(each, ast.arg):
                each.annotation = None
        if hasattr(node, "type_params"):
            node.type_params = []  # they are in the closure
        node.name = _AROUND  # its own name would hide the global one from it
    try:
        body: ast.stmt = ast.Expr(inside.visit(node)) if is_lambda else inside.function(node)
    except UnreadableError as error:
        error.file = code.co_filename
        raise
    around: ast.stmt = body
    if place.owner:  # private names, whatever underscores their class begins with, and __class__
        around = ast.ClassDef("_" * 9 + place.owner, [], [], [body], [])
        around.type_params = []  # type: ignore[attr-defined]
    free = [ast.arg(each) for each in (DOMAIN, *code.co_freevars) if each != "__class__" or not place.owner]
    outer = ast.FunctionDef(_AROUND, ast.arguments([], free, None, [], [], None, []), [around], [], None)
    outer.type_params = []  # type: ignore[attr-defined]
    module = ast.Module([outer], [])
    located(module)
    whole = _compiled(module, code.co_filename, code.co_flags & _LAZY)
    for _ in range(2 if place.owner else 1):
        whole = _only(whole)
    made = _only(whole)
    named = _named(made, made.co_qualname, code.co_qualname).replace(co_name=code.co_name)
    _keep_known(named)
    return named


def _only(code: types.CodeType) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType))


def _named(code: types.CodeType, old: str, new: str) -> types.CodeType:
    """Return a code of which all that is within has the names of the original, and is known to be rewritten."""
    consts = tuple(
        _named(each, old, new)
        if isinstance(each, types.CodeType)
        else new + each.removeprefix(old)
        if isinstance(each, str) and each.startswith(old)
        else each
        for each in code.co_consts
    )
    return code.replace(co_consts=consts, co_qualname=new + code.co_qualname.removeprefix(old))


def _keep_known(code: types.CodeType) -> None:
    """Remember a code, and all codes within, as rewritten."""
    _rewritten_codes[id(code)] = code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            _keep_known(each)


def copied(node: Any) -> Any:
    """Return a copy of a tree, which a rewriter may change."""
    kind: Any = type(node)
    new = kind.__new__(kind)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            own: Any = [copied(each) if isinstance(each, ast.AST) else each for each in value]
        else:
            own = copied(value) if isinstance(value, ast.AST) else value
        setattr(new, name, own)
    for name in node._attributes:
        if hasattr(node, name):
            setattr(new, name, getattr(node, name))
    return new


def rewritten(function: types.FunctionType, rewriter: Rewriter, domain: Any) -> types.FunctionType:
    """Return a function with its source rewritten, which asks a domain of every operation."""
    code = _template(function.__code__, rewriter, place_of(function))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[DOMAIN] = types.CellType(domain)
    missing = [name for name in code.co_freevars if name not in cells]
    if missing:
        raise UnreadableError(f"{function.__code__.co_qualname} refers to {missing[0]}, which is not in its closure")
    new = types.FunctionType(
        code,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    new.__kwdefaults__ = function.__kwdefaults__
    new.__qualname__, new.__module__, new.__doc__ = function.__qualname__, function.__module__, function.__doc__
    return new
