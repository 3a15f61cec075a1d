"""Which names may be read before they are bound? Those for which Python's control flow does not rule it out."""

from __future__ import annotations

import ast
import copy
import hashlib
import math
import pickle
import sys
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpaudit.reading.rewrite import Statements, ask, at, constant, read, thunk, written


class Definite:
    """Which names may be read before they are bound, by Python's own control flow?

    Args:
        names: of the function.
    """

    def __init__(self, names: set[str]) -> None:
        self._names = names
        self._maybe: set[str] = set()

    def of(self, node: ast.FunctionDef, bound: set[str]) -> set[str]:
        """Return the names for which a read may come first."""
        self._block(node.body, set(bound))
        return self._maybe

    def _block(self, body: list[ast.stmt], bound: set[str]) -> set[str] | None:
        """Return the names that are bound after some statements; None if nothing comes after them."""
        for each in body:
            after = self._statement(each, bound)
            if after is None:
                return None
            bound = after
        return bound

    def _reads(self, node: ast.AST | None, bound: set[str]) -> None:
        if node is not None:
            for each in ast.walk(node):
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id in self._names - bound:
                    self._maybe.add(each.id)

    def _both(self, *ends: set[str] | None) -> set[str] | None:
        whole = [each for each in ends if each is not None]
        return set.intersection(*whole) if whole else None

    def _statement(self, node: ast.stmt, bound: set[str]) -> set[str] | None:
        if isinstance(node, ast.If):
            self._reads(node.test, bound)
            bound = bound | _assigned(node.test)
            return self._both(self._block(node.body, set(bound)), self._block(node.orelse, set(bound)))
        if isinstance(node, ast.While | ast.For):
            self._reads(node.test if isinstance(node, ast.While) else node.iter, bound)
            inside = set(bound) | (_assigned(node.target) if isinstance(node, ast.For) else set())
            self._block(node.body, inside)
            self._block(node.orelse, set(bound))
            return bound
        if isinstance(node, ast.Try):
            end = self._block(node.body, set(bound))
            ends = [None if end is None else self._block(node.orelse, end)]
            for handler in node.handlers:
                self._reads(handler.type, bound)
                ends.append(self._block(handler.body, bound | ({handler.name} if handler.name else set())))
            after = self._both(*ends)
            last = self._block(node.finalbody, set(bound))
            return None if after is None or last is None else after | last
        if isinstance(node, ast.With):
            for item in node.items:
                self._reads(item.context_expr, bound)
                bound = bound | (set() if item.optional_vars is None else _assigned(item.optional_vars))
            return self._block(node.body, set(bound))
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._reads(node, bound | {node.name} | set(_parameters_within(node)))
            return bound | {node.name}
        self._reads(node, bound)
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return bound
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id in self._names - bound
        ):
            self._maybe.add(node.target.id)
        if isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue):
            return None
        return bound | _assigned(node)


def _assigned(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _parameters_within(node: ast.AST) -> Iterable[str]:
    return [each.arg for each in ast.walk(node) if isinstance(each, ast.arg)]


# --- Which loops are left to Python as they stand? Those that read plain values alone, by operations that are listed
# here.
#
# A loop over the rows of a table asks a domain some hundred thousand times what Python knows. So a loop or
# comprehension that is written with nothing but these statements, expressions, methods and builtins is kept beside its
# rewriting; where all that it reads is plain when it is reached, Python runs it. It draws nothing then, calls nothing
# of the user's, and changes only containers of this call. The same loop on equal values is run once.

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NODES = (
    ast.For, ast.While, ast.If, ast.Assign, ast.AugAssign, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Name,
    ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.Set, ast.Dict, ast.Call, ast.Attribute, ast.keyword, ast.JoinedStr, ast.FormattedValue,
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.comprehension, *_COMPREHENSIONS,
)  # fmt: skip
_KEYWORDS = frozenset(("index", "name", "strict", "start", "default", "ndigits", "reverse"))
_READS = frozenset((
    "iterrows", "itertuples", "items", "keys", "values", "get", "tolist", "to_list", "to_numpy", "lower", "upper",
    "to_dict", "strip", "lstrip", "rstrip", "split", "startswith", "endswith", "title", "capitalize", "isdigit",
    "isalpha", "find", "index", "count", "join", "sum", "min", "max", "mean", "item", "is_integer", "bit_length",
))  # fmt: skip
_WRITES = frozenset(("append", "add", "extend", "setdefault", "insert", "discard", "remove"))
_KNOWN_METHODS = _READS | _WRITES
_BUILTINS = (
    Counter, abs, all, any, bool, dict, divmod, enumerate, float, frozenset, int, len, list, max, min, ord, pow, range,
    reversed, round, set, sorted, str, sum, tuple, zip,
)  # fmt: skip
_OF_PANDAS = frozenset(("isna", "notna", "isnull", "notnull"))
_SCALARS = frozenset(
    map(id, (int, float, bool, str, bytes, types.NoneType, np.float64, np.int64, np.bool_, np.int32, np.float32))
)
"""Types by identity: a type is not asked what it is equal to."""
_OF_NUMPY = tuple(each for each in vars(np).values() if type(each) is np.ufunc)
_FLAT = frozenset(map(id, (list, dict, set, defaultdict, OrderedDict)))
_VALUE = "__dpaudit_value__"
"""Under which a comprehension, which assigns no name, leaves its value."""
_FACTORIES = frozenset(map(id, (int, float, list, dict, set, None)))
_MOST_KNOWN = 64
_SHORT = 64


@dataclass(frozen=True, slots=True)
class _Known:
    """What a loop left: names, containers and exception, as a text; and whether a second run of it left the same."""

    left: bytes
    is_confirmed: bool


_KNOWN: OrderedDict[bytes, _Known] = OrderedDict()


class LoopPlan(NamedTuple):
    """What has to hold of the values that a loop reads."""

    text: str  # the source of the loop
    names: tuple[str, ...]  # that it reads before it assigns them
    stored: tuple[str, ...]  # that it assigns
    called: tuple[str, ...]  # of those it reads, that are called
    added: tuple[str, ...]  # of those it reads, that are changed by an operator, so that they have to be scalars
    changed: tuple[str, ...]  # of those it reads, into which it writes
    # of those it reads, that have to be modules: with a function that is called, and of how many arguments
    modules: tuple[tuple[str, str, int], ...]
    bare: tuple[str, ...]  # of those it reads, that stand for themselves somewhere, and so are no modules
    through: str  # of those it reads, what a comprehension goes through; "" if that has no name


def plan_of(loop: ast.For | ast.expr, maybe: Callable[[Any, set[str]], set[str]]) -> LoopPlan | None:
    """Return what has to hold where a loop or a comprehension is left to Python; None if it is not written so."""
    nodes = list(ast.walk(loop))
    if not all(isinstance(each, _NODES) for each in nodes) or not all(map(_is_listed, nodes)):
        return None
    bound = _bound_within(nodes)
    if bound is None or not _taken_at_once(nodes):
        return None
    names = [each for each in nodes if isinstance(each, ast.Name) and each.id not in bound]
    stored = {each.id for each in names if isinstance(each.ctx, ast.Store)}
    calls = [each for each in nodes if isinstance(each, ast.Call)]
    called = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
    methods = [(each.func, each) for each in calls if isinstance(each.func, ast.Attribute)]
    writes = [method.value for method, _ in methods if method.attr in _WRITES]
    writes += [each for each in nodes if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store)]
    if writes and not isinstance(loop, ast.For):
        return None
    others = [
        (method.value, method.attr, len(call.args)) for method, call in methods if method.attr not in _KNOWN_METHODS
    ]
    modules = {(owner.id, name, count) for owner, name, count in others if isinstance(owner, ast.Name)}
    changed = {root for root in map(_root, writes) if root is not None}
    added = {each.target.id for each in nodes if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name)}
    if (
        any(not isinstance(owner, ast.Name) for owner, *_ in others)
        or None in map(_root, writes)
        or (stored | bound) & (changed | called | {name for name, *_ in modules})
        or added & _otherwise_assigned(nodes)
    ):
        return None
    owners = {id(owner) for owner, *_ in others} | {id(each.func) for each in calls}
    wanted = {each.id for each in names} - (stored - maybe(loop, stored))
    bare = {each.id for each in names if id(each) not in owners and each.id in wanted}
    reads, stores, calls_, adds, changes, stands = (
        tuple(sorted(each)) for each in (wanted, stored, called, added, changed, bare)
    )
    text, first = ast.unparse(loop), None if isinstance(loop, ast.For) else _gone_through(loop)
    through = first.id if isinstance(first, ast.Name) else ""
    return LoopPlan(text, reads, stores or (_VALUE,), calls_, adds, changes, tuple(sorted(modules)), stands, through)


def _bound_within(nodes: list[ast.AST]) -> set[str] | None:
    """Return the names that comprehensions bind; None if one of them is a name of something else too."""
    bound: set[str] = set()
    inside: set[int] = set()
    for each in nodes:
        if isinstance(each, _COMPREHENSIONS):
            targets = {one.id for part in each.generators for one in ast.walk(part.target) if isinstance(one, ast.Name)}
            first = set(map(id, ast.walk(each.generators[0].iter)))  # outside of its scope
            inside |= {
                id(one)
                for one in ast.walk(each)
                if isinstance(one, ast.Name) and one.id in targets and id(one) not in first
            }
            bound |= targets
    named = (each for each in nodes if isinstance(each, ast.Name) and each.id in bound)
    return bound if all(id(each) in inside for each in named) else None


def _taken_at_once(nodes: list[ast.AST]) -> bool:
    """Whether every generator goes to a function, or to ``join``; its name is one of those that are listed."""
    lazy = {id(each) for each in nodes if isinstance(each, ast.GeneratorExp)}
    for each in nodes:
        if isinstance(each, ast.Call) and (isinstance(each.func, ast.Name) or each.func.attr == "join"):  # type: ignore[attr-defined]
            lazy -= set(map(id, each.args))
    return not lazy


def _is_listed(node: ast.AST) -> bool:
    """Whether a node is no more than what is listed: no private name, no other keyword, no attribute that is stored."""
    if isinstance(node, ast.Name):
        return not node.id.startswith("__")
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Load) and not node.attr.startswith("_")
    if isinstance(node, ast.Call):
        named = [each.arg for each in node.keywords]
        module = isinstance(node.func, ast.Attribute) and node.func.attr not in _KNOWN_METHODS
        return (
            _KEYWORDS.issuperset(named) and not (module and named) and isinstance(node.func, ast.Name | ast.Attribute)
        )
    return True


def _root(node: ast.expr) -> str | None:
    """Return the name of what is changed by a change of a part of it."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
            node = node.func.value
        else:
            return node.id if isinstance(node, ast.Name) else None


def _otherwise_assigned(nodes: list[ast.AST]) -> set[str]:
    """Return the names that get something else than a constant."""
    out: set[str] = set()
    for node in nodes:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant):
            targets = node.targets
        elif isinstance(node, ast.For):
            targets = [node.target]
        out |= {each.id for part in targets for each in ast.walk(part) if isinstance(each, ast.Name)}
    return out


def _gone_through(node: ast.AST) -> ast.expr | None:
    """Return what a comprehension, or the one in a call, goes through first."""
    return next((each.generators[0].iter for each in ast.walk(node) if isinstance(each, _COMPREHENSIONS)), None)


class Looping(Statements):
    """Keeps such a loop beside its rewriting; to be mixed into what rewrites statements."""

    def through(self, node: ast.For) -> Any:
        """Rewrite a loop."""
        return super().visit_For(node)

    def _or_left(self, node: ast.expr, rest: Callable[[Any], Any]) -> Any:
        """``[…]`` → ``domain.left_value(k) if (k := domain.left_to_python(…)) is not None else …``."""
        plan = None
        if self._of_class is None and not isinstance(_gone_through(node), ast.Constant | ast.Tuple | ast.List):
            plan = plan_of(node, lambda _, stored: stored)
        if plan is None:
            return rest(node)
        kept, name = copy.deepcopy(node), self.temporary()
        made = ast.Tuple([ast.Dict([constant(_VALUE)], [kept]), constant(None)], ast.Load())
        function = thunk(made, "__dpaudit_locals__", *plan.names)
        values = thunk(ast.Tuple([read(each) for each in plan.names], ast.Load()))
        asked = ast.NamedExpr(written(name), ask("left_to_python", constant(tuple(plan)), function, values))
        return ast.IfExp(ast.Compare(asked, [ast.IsNot()], [constant(None)]), ask("left_value", read(name)), rest(node))

    def comprehended(self, node: Any) -> Any:
        """Rewrite a comprehension."""
        return getattr(super(), f"visit_{type(node).__name__}")(node)

    def called(self, node: ast.Call) -> Any:
        """Rewrite a call."""
        return super().visit_Call(node)

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # noqa: N802
        """``[e for x in y]``."""
        return self._or_left(node, self.comprehended)

    def visit_SetComp(self, node: ast.SetComp) -> Any:  # noqa: N802
        """``{e for x in y}``."""
        return self._or_left(node, self.comprehended)

    def visit_DictComp(self, node: ast.DictComp) -> Any:  # noqa: N802
        """``{k: e for x in y}``."""
        return self._or_left(node, self.comprehended)

    def visit_Call(self, node: ast.Call) -> Any:  # noqa: N802
        """``f(e for x in y)``."""
        lazy = any(isinstance(each, ast.GeneratorExp) for each in node.args)
        return self._or_left(node, self.called) if lazy else self.called(node)

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802 – a name of the syntax tree
        """``for x in y: …`` → ``k = domain.left_to_python(plan, loop, names)``; where that is None, rewritten."""
        plan = None
        if self._of_class is None:
            plan = plan_of(node, lambda loop, stored: Definite(stored).of(ast.Module([loop], []), set()))  # type: ignore[arg-type]
        if plan is None:
            return self.through(node)
        kept, name, function = copy.deepcopy(node), self.temporary(), self.temporary()
        rest = self.through(node)
        seen, error = "__dpaudit_locals__", "__dpaudit_error__"
        both = ast.Tuple([ast.Call(read(seen), [], []), read(error)], ast.Load())
        handler = ast.ExceptHandler(read("Exception"), error, [ast.Return(both)])
        ended = ast.Return(ast.Tuple([ast.Call(read(seen), [], []), constant(None)], ast.Load()))
        args = ast.arguments([], [ast.arg(each) for each in (seen, *plan.names)], None, [], [], None, [])
        body: list[ast.stmt] = [ast.Try([kept], [handler], [], []), ended]
        taken: list[ast.stmt] = []
        for each in plan.stored:
            value = ast.Subscript(ast.Attribute(read(name), "names", ast.Load()), constant(each), ast.Load())
            bound = ast.Compare(constant(each), [ast.In()], [ast.Attribute(read(name), "names", ast.Load())])
            taken.append(ast.If(bound, self.stored(written(each), value), []))
        values = thunk(ast.Tuple([read(each) for each in plan.names], ast.Load()))
        asked = ask("left_to_python", constant(tuple(plan)), read(function), values)
        again = ast.Compare(read(name), [ast.Is()], [constant(None)])
        return at(
            node,
            [
                ast.FunctionDef(function, args, body, [], None, None),
                ast.Assign([written(name)], asked),
                ast.If(
                    again,
                    rest if isinstance(rest, list) else [rest],
                    [*taken, ast.Expr(ask("left", ast.Attribute(read(name), "error", ast.Load())))],
                ),
            ],
        )


@dataclass(slots=True)
class Looped:
    """What a loop did."""

    names: dict[str, Any]  # that it assigned, with their values
    error: Exception | None  # that it raised, or None


class PlainLoops:
    """A domain whose values are Python's own wherever nothing is drawn: such loops are left to Python."""

    rewriter = Looping

    def left_to_python(
        self, plan: tuple[Any, ...], function: Callable[..., Any], values: Callable[[], Any]
    ) -> Looped | None:
        """``for x in y: …``, if it is left to Python as it stands."""
        try:
            return looped(LoopPlan(*plan), function, values())
        except NameError:  # of a name that has no value yet
            return None

    def left(self, error: Exception | None) -> None:
        """Such a loop is over."""
        if error is not None:
            raise error

    def left_value(self, done: Looped) -> Any:
        """The value of such a comprehension."""
        self.left(done.error)
        return done.names[_VALUE]


def looped(plan: LoopPlan, function: Callable[..., Any], values: tuple[Any, ...]) -> Looped | None:
    """Run a loop on values as Python knows them; None if not all of them are plain."""
    given = dict(zip(plan.names, values, strict=True))
    if _is_short(given.get(plan.through)) or not _holds(plan, given):
        return None
    changed = [given[name] for name in plan.changed]
    is_kept = plan.stored != (_VALUE,) and all(is_flat(each) for each in changed)
    key = _key(plan, given) if is_kept else None
    known = None if key is None else _KNOWN.get(key)
    if key is not None and known is not None and known.is_confirmed:
        _KNOWN.move_to_end(key)
        names, contents, error = pickle.loads(known.left)
        for own, content in zip(changed, contents, strict=True):
            _fill(own, content)
        return Looped(names, error)
    try:
        names_after, error = function(locals, *values)
    except Exception as raised:  # of a comprehension
        names_after, error = {}, raised
    names = {name: names_after[name] for name in plan.stored if name in names_after}
    if _VALUE in names and not is_plain([names[_VALUE]]):
        return None
    kept = not any(id(type(each)) in _FLAT for each in names.values()) and all(map(is_flat, changed))
    if key is not None and kept:
        _keep(key, (names, changed, error), known)
    return Looped(names, error)


def _is_short(value: Any) -> bool:
    """Whether there is less to go through than to look at."""
    return type(value) in (list, tuple, dict, set, range, np.ndarray) and len(value) < _SHORT


def _keep(key: bytes, left: Any, known: _Known | None) -> None:
    """Keep what a loop left, if it left the same before; what it leaves for the first time has to be confirmed."""
    try:
        text = pickle.dumps(left, 5)
    except Exception:  # it is made again
        return
    _KNOWN[key] = _Known(text, known is not None and known.left == text)
    if len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.popitem(last=False)


def _holds(plan: LoopPlan, given: dict[str, Any]) -> bool:
    """Whether every value that a loop reads is one with which it does what is listed, and nothing else."""
    for name in plan.called:
        if not any(given[name] is each for each in _BUILTINS):
            return False
    if not all(id(type(given[name])) in _SCALARS for name in plan.added if name in given):
        return False
    if not all(id(type(given[name])) in _FLAT for name in plan.changed):
        return False
    if not all(_is_pure(given[name], attribute, count) for name, attribute, count in plan.modules):
        return False
    modules = {name for name, *_ in plan.modules} - set(plan.bare)
    return is_plain(value for name, value in given.items() if name not in plan.called and name not in modules)


def _is_pure(module: Any, name: str, count: int) -> bool:
    if type(module) is not types.ModuleType:
        return False
    function: Any = getattr(module, name, None)
    if module is math:
        return type(function) is types.BuiltinFunctionType and function.__self__ is math
    if module is np:  # one that numpy made, and without a place to write to
        return any(function is each for each in _OF_NUMPY) and count <= function.nin
    pandas = sys.modules.get("pandas")
    return module is pandas and name in _OF_PANDAS and function is getattr(pandas.core.dtypes.missing, name)


def is_flat(value: Any) -> bool:
    """Whether a container holds no other."""
    return all(id(type(each)) in _SCALARS for each in (value.values() if isinstance(value, dict) else value))


def is_plain(values: Iterable[Any]) -> bool:
    """Whether values are of exact types whose methods are Python's, NumPy's and pandas' own, to the bottom."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if id(kind) in _SCALARS or kind is range:
            continue
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            waiting += [each for each in value if id(type(each)) not in _SCALARS]
        elif kind is dict or kind is OrderedDict or kind is defaultdict or kind is Counter:
            if kind is defaultdict and id(value.default_factory) not in _FACTORIES:
                return False
            waiting += [each for pair in value.items() for each in pair if id(type(each)) not in _SCALARS]
        elif kind is np.ndarray:
            if value.dtype.kind not in "fiubUS" and not (value.dtype == object and _SCALARS.issuperset(_kinds(value))):
                return False
        elif not _is_plain_table(value, kind):
            return False
    return True


def _kinds(values: Any) -> set[int]:
    return set(map(id, map(type, values.ravel().tolist() if isinstance(values, np.ndarray) else values)))


def _is_plain_table(value: Any, kind: type) -> bool:
    import pandas as pd

    if kind is pd.DataFrame:
        columns = [value.iloc[:, place] for place in range(value.shape[1])]
        return all(map(_is_plain_column, [value.index, value.columns, *columns]))
    return kind is pd.Series and _is_plain_column(value) and _is_plain_column(value.index)


def _is_plain_column(column: Any) -> bool:
    import pandas as pd

    if isinstance(column, pd.MultiIndex):
        return False
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _is_plain_column(column.dtype.categories)
    if column.dtype == object:
        return _SCALARS.issuperset(_kinds(column.tolist()))
    return isinstance(column.dtype, pd.StringDtype) or (
        isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiubM"
    )


def _key(plan: LoopPlan, given: dict[str, Any]) -> bytes | None:
    """Return a text by which equal loops on equal values are one; None if there is none."""
    parts = [
        (name, value.__name__ if type(value) is types.ModuleType else value) for name, value in sorted(given.items())
    ]
    try:
        return hashlib.blake2b(pickle.dumps((tuple(plan), parts), 5)).digest()
    except Exception:
        return None


def _fill(own: Any, content: Any) -> None:
    """Put another content into a container."""
    own.clear()
    own.extend(content) if type(own) is list else own.update(content)
