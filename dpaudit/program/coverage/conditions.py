"""Does a piece of a program depend on parameters only, on a fold's state, or on data and noise?

The answer is read from the source and errs on the safe side: what cannot be followed counts as data. A branch that
depends on parameters only is decided by the scope of a proof. A branch that depends on data or noise, but was decided
by something other than a comparison of numbers (their type, their identity, an overflow), may go another way when the
program runs.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpaudit.program.coverage.instructions import Coverage, Gap

FREE, STATE, DATA = 0, 1, 2  # what something depends on: parameters at most, the state of a fold, data or noise
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_MAKES = {
    "list",
    "dict",
    "set",
    "bytearray",
    "deque",
    "defaultdict",
    "Counter",
    "OrderedDict",
    "zeros",
    "empty",
    "array",
}
_LIST = {"len", "isinstance", "hasattr", "type"}  # questions about a list, not about its members
_KEEPS = {"list", "tuple", "sorted", "reversed", "enumerate", "zip"}  # the result has as many members as the argument

_NOWHERE = ast.Lambda(ast.arguments([], [], None, [], [], None, []), ast.Constant(None))  # for names that a loop binds


@dataclass(slots=True)
class _Scope:
    """A function: what its names are bound to, and what its parameters depend on."""

    node: Function
    bound: dict[str, list[tuple[str, ast.AST | None]]]  # how ("value", "item", "place", "other"), and to what
    labels: dict[str, int] = field(default_factory=dict)  # of parameters, from what callers passed
    shaped: dict[str, bool] = field(default_factory=dict)  # whether it is a dataset, whose length the scope states


class Dependence:
    """What the pieces of a program depend on.

    Args:
        coverage: the code that ran, with its callers.
        parameters: the names of the mechanism's parameters.
        is_fold: whether the first argument of a function is a state.
    """

    def __init__(self, coverage: Coverage, parameters: Iterable[str], *, is_fold: bool) -> None:
        self._coverage, self._parameters, self._is_fold = coverage, frozenset(parameters), is_fold
        self._scopes: dict[ast.AST, _Scope] = {}
        self._busy: set[tuple[int, str]] = set()
        self._called: set[Function] = set()  # functions whose callers are known
        self._settle()

    # --- what callers passed -----------------------------------------------------------------------------

    def _settle(self) -> None:
        """Find what each parameter depends on: on nothing, until some call passes something that depends on more."""
        places = [(code, ran, self.function_of(code)) for code, ran in self._coverage.ran.items()]
        self._called = {node for _, _, node in places if node is not None}
        changed = True
        while changed:
            changed = False
            for code, ran, node in places:
                if node is None:
                    continue
                scope = self._scope(node)
                for caller, at in ran.callers:
                    for name, (label, shaped) in self._given(code, node, caller, at).items():
                        both = scope.shaped.get(name, True) and shaped
                        if label > scope.labels.get(name, FREE) or both != scope.shaped.get(name, True):
                            scope.labels[name] = max(label, scope.labels.get(name, FREE))
                            changed = True
                        scope.shaped[name] = both

    def _given(
        self, code: types.CodeType, node: Function, caller: types.CodeType | None, at: int
    ) -> dict[str, tuple[int, bool]]:
        """Return what one call passes to each parameter: what it depends on, and whether it is a dataset."""
        spec = node.args
        listed = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        every = [*listed, *(each.arg for each in spec.kwonlyargs)]
        every += [each.arg for each in (spec.vararg, spec.kwarg) if each is not None]
        if caller is None:
            if at == -2:
                return dict.fromkeys(every, (DATA, False))
            found = {name: (FREE if name in self._parameters else DATA, False) for name in every}
            if spec.kwarg is not None:
                found[spec.kwarg.arg] = FREE, False
            if listed and listed[0] not in self._parameters:
                found[listed[0]] = (STATE, False) if self._is_fold and listed[0] != "noise" else (DATA, True)
            return found
        call = _node_at(caller, at)
        if not isinstance(call, ast.Call):
            label = DATA if call is None else self.label(call)
            return dict.fromkeys(every, (label, False))
        whole = self.label(call)
        named = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", None)
        plain = named == code.co_name and not any(isinstance(each, ast.Starred) for each in call.args)
        if not plain or not isinstance(node, ast.FunctionDef) or node.decorator_list:
            return dict.fromkeys(every, (whole, False))
        first = 1 if isinstance(_parent(node), ast.ClassDef) and listed[:1] in (["self"], ["cls"]) else 0
        found = dict.fromkeys(every, (FREE, False))  # a parameter that is not passed has its default
        if first:
            found[listed[0]] = self.label(call.func), False
        given = dict(zip(listed[first:], call.args, strict=False))
        if spec.vararg is not None:
            found[spec.vararg.arg] = whole, False
        for keyword in call.keywords:
            if keyword.arg is None:
                rest = self.label(keyword.value)
                found |= {name: (rest, False) for name in every if name not in given}
        for keyword in call.keywords:
            if keyword.arg in every:
                given[keyword.arg] = keyword.value
            elif keyword.arg is not None and spec.kwarg is not None:
                before = found[spec.kwarg.arg][0]
                found[spec.kwarg.arg] = max(before, self.label(keyword.value)), False
        return found | {name: (self.label(value), self.is_shaped(value)) for name, value in given.items()}

    # --- expressions -------------------------------------------------------------------------------------

    def label(self, node: ast.AST | None) -> int:
        """Return what a piece of the program depends on."""
        if node is None or isinstance(node, ast.Constant):
            return FREE
        if isinstance(node, ast.Name):
            return self._of_name(node.id, node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and self.is_shaped(node.operand):
            return FREE  # whether a list of known length is empty
        if isinstance(node, ast.BoolOp):
            return max(FREE if self.is_shaped(each) else self.label(each) for each in node.values)
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await):
            return DATA
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            other = node.comparators[0]
            if isinstance(other, ast.Constant) and other.value is None:  # no number is None in any reading
                return FREE
        asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _LIST
        if asks and isinstance(node, ast.Call) and node.args and self.is_shaped(node.args[0]):
            return max(map(self.label, node.args[1:]), default=FREE)  # the dataset itself is a list of known length
        return max(map(self.label, _parts(node)), default=FREE)

    def is_shaped(self, node: ast.AST | None) -> bool:
        """Whether something has as many members as the dataset, or as many as parameters say."""
        if isinstance(node, ast.Name):
            scope = self._scope_with(node.id, node)
            if scope is None:
                return False
            bound = scope.bound.get(node.id, [])
            if any(how != "value" or not self.is_shaped(value) for how, value in bound):
                return False
            return bool(bound) or (scope.node in self._called and scope.shaped.get(node.id, True))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _KEEPS:
            return all(self.is_shaped(each) or self.label(each) == FREE for each in node.args)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self.is_shaped(node.value) and self.label(node.slice) == FREE
        if isinstance(node, ast.ListComp):
            return all(self.is_shaped(each.iter) and not each.ifs for each in node.generators)
        return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and self.is_shaped(node.operand)

    def _of_name(self, name: str, place: ast.AST) -> int:
        scope = self._scope_with(name, place)
        if scope is None:
            return FREE  # a name of the module; `KeptState` checks that it does not change
        key = (id(scope.node), name)
        if key in self._busy:
            return FREE  # it depends on itself
        self._busy.add(key)
        try:
            is_known = scope.node in self._called or scope.node is _NOWHERE or name in scope.bound
            found = scope.labels.get(name, FREE) if is_known else DATA
            for how, value in scope.bound.get(name, []):
                if how == "place" and value is not None:  # a counter: free if the length of what is counted is known
                    found = max(found, FREE if self.is_shaped(value) else self.label(value))
                elif how == "other":
                    found = DATA
                else:
                    found = max(found, self.label(value))
            return found
        finally:
            self._busy.discard(key)

    # --- names -------------------------------------------------------------------------------------------

    def _scope(self, node: Function) -> _Scope:
        if node not in self._scopes:
            self._scopes[node] = _Scope(node, _bindings(node))
        return self._scopes[node]

    def _scope_with(self, name: str, place: ast.AST) -> _Scope | None:
        found = _binder(name, place)
        return self._scope(found) if isinstance(found, Function) else found

    def function_of(self, code: types.CodeType) -> Function | None:
        """Return the function of a code object; None for other code, and if there is no source."""
        tree = _tree(code.co_filename)
        if tree is None or (code.co_name.startswith("<") and code.co_name != "<lambda>"):
            return None
        found = [each for each in _functions(code.co_filename) if _starts(each) == code.co_firstlineno]
        if code.co_name == "<lambda>":
            spans = [span for span in _spans(code) if None not in span and span[2] != span[3]]
            lambdas = [each for each in found if isinstance(each, ast.Lambda)]
            return next((each for each in lambdas if spans and all(_holds(each, span) for span in spans)), None)
        return next((each for each in found if getattr(each, "name", None) == code.co_name), None)

    # --- gaps --------------------------------------------------------------------------------------------

    def is_decided(self, gap: Gap) -> bool:
        """Whether the scope of a proof implies that no run takes this gap."""
        node = _node_at(gap.code, gap.offset)
        if node is None:
            return False
        if gap.target is None:
            while node is not None and not isinstance(node, ast.Try):
                node = _parent(node)
            return node is not None and max(map(self.label, node.body), default=FREE) < DATA
        if isinstance(node, ast.For):
            node = node.iter
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            node = node.test
        return self.is_shaped(node) or self.label(node) < DATA


def line_at(code: types.CodeType, offset: int) -> str:
    """Return a line of a program, with its text."""
    line = _span(code, offset)[0] or code.co_firstlineno
    text = linecache.getline(code.co_filename, line).strip()
    return f"{Path(code.co_filename).name}:{line}" + (f" ({text})" if text else "")


def line_of_node(code: types.CodeType, node: Any) -> str:
    """Return the line of a piece of source, with its text."""
    text = linecache.getline(code.co_filename, node.lineno).strip()
    return f"{Path(code.co_filename).name}:{node.lineno}" + (f" ({text})" if text else "")


# --- the source ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _parsed(
    text: str,
) -> tuple[ast.Module, Mapping[Any, ast.AST], tuple[Function, ...]] | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    spans: dict[Any, ast.AST] = {}
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child._parent = node  # type: ignore[attr-defined]
        if isinstance(node, ast.expr | ast.stmt):
            spans.setdefault(_span_of(node), node)
    functions = tuple(node for node in ast.walk(tree) if isinstance(node, Function))
    return tree, spans, functions


_TEXTS: dict[str, tuple[list[str], str]] = {}  # of files: the lines, and their joined text


def _source(name: str) -> str:
    lines = linecache.getlines(name)
    known = _TEXTS.get(name)
    if known is None or known[0] is not lines:
        known = _TEXTS[name] = lines, "".join(lines)
    return known[1]


def _tree(name: str) -> ast.Module | None:
    found = _parsed(_source(name))
    return None if found is None else found[0]


def _functions(name: str) -> tuple[Function, ...]:
    found = _parsed(_source(name))
    return () if found is None else found[2]


def _parent(node: ast.AST) -> ast.AST | None:
    return getattr(node, "_parent", None)


def _span_of(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


Span = tuple[int | None, int | None, int | None, int | None]


def _span(code: types.CodeType, offset: int) -> Span:
    return _spans(code)[offset // 2]


@lru_cache(maxsize=4096)
def _spans(code: types.CodeType) -> tuple[Span, ...]:
    return tuple(code.co_positions())


def _holds(node: Any, span: Any) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= (span[0], span[2]) and (span[1], span[3]) <= end


def _node_at(code: types.CodeType, offset: int) -> ast.AST | None:
    """Return the piece of source that belongs to an instruction, or the smallest one that contains it."""
    found, span = _parsed(_source(code.co_filename)), _span(code, offset)
    if found is None or not _source(code.co_filename) or None in span:
        return None
    exact = found[1].get(span)
    if exact is not None:
        return exact
    held = [node for node in found[1].values() if _holds(node, span)]
    return min(held, key=lambda node: _size(node), default=None)


def _size(node: Any) -> tuple[int, int]:
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


def _starts(node: Any) -> int:
    lines = [each.lineno for each in getattr(node, "decorator_list", [])]
    return int(min([node.lineno, *lines]))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a piece depends on: its expressions, without the names that a function binds itself."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        body = node.body if isinstance(node.body, list) else [node.body]
        own: set[str] = set()
        if not isinstance(node, ast.ClassDef):
            spec = node.args
            listed = (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg)
            own = {each.arg for each in listed if each is not None} | set(_bindings(node))
        for statement in body:
            for part in ast.walk(statement):
                if isinstance(part, ast.Name) and part.id not in own:
                    yield part
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield child.iter
            yield from child.ifs
        elif not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
            yield child


@lru_cache(maxsize=4096)
def _bindings(function: Function) -> dict[str, list[tuple[str, ast.AST | None]]]:
    """Return what the names of a function are bound to, in it and in the functions inside it."""
    bound: dict[str, list[tuple[str, ast.AST | None]]] = {}
    pending: list[ast.AST] = list(function.body) if isinstance(function.body, list) else [function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.setdefault(node.name, []).append(("value", node))
            for inner in ast.walk(node):
                if isinstance(inner, ast.Nonlocal):
                    outer = _bindings(node) if isinstance(node, Function) else {}
                    for name in inner.names:
                        bound.setdefault(name, []).extend(outer.get(name, [("other", None)]))
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _bind(target, node.value, "value", bound)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
            _bind(node.target, node.value, "value", bound)
        elif isinstance(node, ast.For | ast.AsyncFor):
            _bind(node.target, node.iter, "item", bound)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    _bind(item.optional_vars, item.context_expr, "value", bound)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.setdefault(node.name, []).append(("other", None))
        pending += ast.iter_child_nodes(node)
    made = {name for name, values in bound.items() if any(_makes(value) for _, value in values)}
    for node in ast.walk(function):  # a container made here and passed on together with data may be filled there
        if isinstance(node, ast.Call):
            _filled(node, bound)
            names = [each.id for each in node.args if isinstance(each, ast.Name) and each.id in made]
            for name in names:
                others = [each for each in node.args if not (isinstance(each, ast.Name) and each.id == name)]
                bound[name] += [("value", each) for each in [*others, *(k.value for k in node.keywords)]]
    return bound


@lru_cache(maxsize=65536)
def _binder(name: str, place: ast.AST) -> Function | _Scope | None:
    """Return the function, or the comprehension, that binds a name at a place."""
    here: ast.AST | None = place
    while here is not None:
        if isinstance(here, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            for each in here.generators:
                if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(each.target)):
                    if any(part is place for part in ast.walk(each.iter)):
                        break
                    bound: dict[str, list[tuple[str, ast.AST | None]]] = {}
                    _bind(each.target, each.iter, "item", bound)
                    return _Scope(_NOWHERE, bound)
        if isinstance(here, Function):
            arguments = here.args
            names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            names += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
            if name in _bindings(here) or any(each.arg == name for each in names):
                return here
        here = _parent(here)
    return None


def _makes(node: ast.AST | None) -> bool:
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return name in _MAKES or name[:1].isupper()
    return isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def _filled(call: ast.Call, bound: dict[str, list[tuple[str, ast.AST | None]]]) -> None:
    """Bind the arguments of a method call to its object: a method may store them there."""
    root = call.func.value if isinstance(call.func, ast.Attribute) else None
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if isinstance(root, ast.Name):
        for each in [*call.args, *(keyword.value for keyword in call.keywords)]:
            bound.setdefault(root.id, []).append(("value", each)) if root.id in bound else None


def _bind(target: ast.AST, value: ast.AST | None, how: str, bound: dict[str, list[tuple[str, ast.AST | None]]]) -> None:
    if isinstance(target, ast.Name):
        bound.setdefault(target.id, []).append((how, value))
    elif isinstance(target, ast.Starred):
        _bind(target.value, value, "item", bound)
    elif isinstance(target, ast.Tuple | ast.List):
        counted = how == "item" and isinstance(value, ast.Call) and getattr(value.func, "id", "") == "enumerate"
        same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) and how == "value"
        for place, each in enumerate(target.elts):
            if counted and place == 0:
                _bind(each, value, "place", bound)
            else:
                _bind(each, value.elts[place] if same else value, "value" if same else "item", bound)  # type: ignore[union-attr]
    elif isinstance(target, ast.Attribute | ast.Subscript):
        root: ast.AST = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if isinstance(root, ast.Name):
            bound.setdefault(root.id, []).append(("value", value))
            if isinstance(target, ast.Subscript):
                bound[root.id].append(("value", target.slice))


def module_value(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """Return what a name, or a chain of attributes of modules, stands for in a module; None if that is unknown."""
    if isinstance(node, ast.Name):
        return names.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        value = module_value(node.value, names)
        return getattr(value, node.attr, None) if isinstance(value, types.ModuleType) else None
    return None
