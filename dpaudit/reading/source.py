"""Where is the source of a function, and what is the function with its source rewritten?

A function is found by its code: the source at hand is compiled, and has to give the very code that the function runs.
So what is read is what runs, also where a name was reused, a decorator wraps, or a file was changed after it was
imported. The rewritten function has the globals, the defaults and the closure of the original.
"""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dpaudit.reading.rewrite import DOMAIN, Statements, UnreadableError

Rewriter = Callable[[str, str], Statements]
"""Makes what rewrites one function, from the name of its class and its first parameter."""

_LIBRARIES = tuple(
    os.path.realpath(path) + os.sep
    for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_path(name))
)
_OWN = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
_CATALOGUE = ("dpaudit_mechanisms", "mechanisms")


@functools.cache
def is_of_user(file: str) -> bool:
    """Whether a file is the user's own, rather than of Python, of an installed library or of dpaudit."""
    if file.startswith("<") and not file.startswith(("<ipython", "<stdin")):  # "<string>": made by a library
        return False
    path = os.path.realpath(file)
    if path.startswith(_OWN):
        return False
    if any(f"{os.sep}{name}{os.sep}" in path for name in ("site-packages", "dist-packages")):
        return any(f"{os.sep}{name}{os.sep}" in path for name in _CATALOGUE)
    return not path.startswith(_LIBRARIES)


def is_own(function: Any) -> bool:
    """Whether this is a Python function of the user's own modules."""
    return type(function) is types.FunctionType and is_of_user(function.__code__.co_filename)


@dataclass(frozen=True, slots=True)
class Place:
    """A function in a source: its node, the classes and functions around it, and the name of its own class."""

    node: ast.FunctionDef | ast.Lambda
    owner: str

    @property
    def first(self) -> str:
        """The name of its first parameter, or ""."""
        every = [*self.node.args.posonlyargs, *self.node.args.args]
        return every[0].arg if every else ""


@dataclass(frozen=True, slots=True)
class Source:
    """A file: its tree, and the code of every function that it compiles to."""

    tree: ast.Module
    codes: frozenset[types.CodeType]


def _text(code: types.CodeType, names: dict[str, Any]) -> str:
    lines = linecache.getlines(code.co_filename, names)
    if not lines:
        raise UnreadableError(
            f"the source of {code.co_qualname} cannot be had ({code.co_filename}): "
            "write it in a file, and name it as FILE:function"
        )
    return "".join(lines)


@functools.lru_cache(maxsize=256)
def _parsed(text: str, file: str) -> Source:
    try:
        tree = ast.parse(text, file)
        whole = compile(text, file, "exec", dont_inherit=True, optimize=sys.flags.optimize)
    except (SyntaxError, ValueError) as error:
        raise UnreadableError(f"the source of {file} is no Python: {error}") from None
    return Source(tree, frozenset(_codes(whole)))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from _codes(each)


def _places(node: ast.AST, owner: str = "") -> Iterator[Place]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.Lambda):
            yield Place(child, owner)
        yield from _places(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _spans(code: types.CodeType, node: ast.AST) -> bool:
    """Whether all instructions of a code lie within a node."""
    first = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
    last = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    for line, end, column, end_column in code.co_positions():
        if None in (line, end, column, end_column) or (line == code.co_firstlineno and column == end_column == 0):
            continue
        if not (first <= (line, column) and (end, end_column) <= last):
            return False
    return True


def place_of(function: types.FunctionType) -> Place:
    """Return where a function stands in its source.

    Raises:
        UnreadableError: if the source cannot be had, or is not what the function runs.
    """
    code = function.__code__
    source = _parsed(_text(code, function.__globals__), code.co_filename)
    if code not in source.codes:
        raise UnreadableError(
            f"the source of {code.co_qualname} is not what runs ({code.co_filename}): it was changed since, or the "
            "function was made by another tool"
        )
    wanted = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    fitting = [
        each
        for each in _places(source.tree)
        if isinstance(each.node, wanted)
        and (isinstance(each.node, ast.Lambda) or each.node.name == code.co_name)
        and _first_line(each.node) == code.co_firstlineno
        and _spans(code, each.node)
    ]
    if fitting and isinstance(fitting[0].node, ast.Lambda):  # a lambda within a lambda: the innermost
        fitting = fitting[-1:]
    if len(fitting) != 1:
        raise UnreadableError(f"{code.co_qualname} cannot be told from other functions of {code.co_filename}")
    return fitting[0]


def _first_line(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(each.lineno for each in decorators)]))


@functools.lru_cache(maxsize=4096)
def _template(function_code: types.CodeType, text: str, rewriter: Rewriter, place: _Placed) -> types.CodeType:
    """Return the code of the rewritten function; its domain is a free variable."""
    node = _copied(place.place.node)
    inside = rewriter(place.place.owner, place.place.first)
    if isinstance(node, ast.Lambda):
        body: ast.stmt = ast.Return(inside.visit(node))
        name = "<lambda>"
    else:
        node.decorator_list, node.returns = [], None
        node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
        node.args.kw_defaults = [None if each is None else ast.Constant(None) for each in node.args.kw_defaults]
        body, name = inside.function(node), node.name
    free = [each for each in function_code.co_freevars if each != DOMAIN]
    if "__class__" in free or place.place.owner:
        free = list(dict.fromkeys([*free, "__class__"])) if _needs_class(body) else free
    arguments = ast.arguments([], [ast.arg(each) for each in (DOMAIN, *free)], None, [], [], None, [])
    around = ast.FunctionDef("__dpaudit_around__", arguments, [body, ast.Pass()], [], None)
    around.type_params = []  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([around], []))
    whole = compile(module, function_code.co_filename, "exec", dont_inherit=True, optimize=sys.flags.optimize)
    outer = next(each for each in whole.co_consts if isinstance(each, types.CodeType))
    return next(each for each in outer.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


def _needs_class(body: ast.AST) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "__class__" for each in ast.walk(body))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A place that is told from others by its identity."""

    place: Place

    def __hash__(self) -> int:
        return id(self.place.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Placed) and other.place.node is self.place.node


def _copied(node: Any) -> Any:
    """Return a copy of a tree, which a rewriter may change."""
    new = type(node)()
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            copied: Any = [_copied(each) if isinstance(each, ast.AST) else each for each in value]
        else:
            copied = _copied(value) if isinstance(value, ast.AST) else value
        setattr(new, name, copied)
    for name in node._attributes:
        if hasattr(node, name):
            setattr(new, name, getattr(node, name))
    return new


def rewritten(function: types.FunctionType, rewriter: Rewriter, domain: Any) -> types.FunctionType:
    """Return a function with its source rewritten, which asks a domain of every operation.

    Args:
        function: of the user's own modules.
        rewriter: makes what rewrites its body.
        domain: what it asks.

    Raises:
        UnreadableError: if its source cannot be had, or is not read.
    """
    place = place_of(function)
    text = _text(function.__code__, function.__globals__)
    code = _template(function.__code__, text, rewriter, _Placed(place))
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
