"""How is a function rewritten for the universe? As for any domain; and loops over records and handlers are told.

A loop over private records stands for every record at once: its body is called for each kind of records, and what it
adds to numbers is kept. All other loops stay what they are.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

from dpaudit.reading.rewrite import Statements, ask, at, constant, own_nodes, read, thunk, written

_LEAVES = (
    ast.Return,
    ast.Break,
    ast.Yield,
    ast.YieldFrom,
    ast.Global,
    ast.Nonlocal,
    ast.Await,
    ast.Try,
    ast.With,
    ast.Delete,
)


class LoopEnding(ast.Return):
    """The end of what a loop's body becomes, which is rewritten already."""


class Continued(ast.NodeTransformer):
    """Replaces ``continue`` of a loop by the end of the function that its body becomes."""

    def __init__(self, end: ast.stmt) -> None:
        self.end = end

    def visit_Continue(self, node: ast.Continue) -> Any:
        """``continue`` → ``return …``."""
        return copy.deepcopy(self.end)

    def visit_For(self, node: ast.For) -> Any:
        """An inner loop has its own."""
        return node

    visit_While: Any = visit_For  # noqa: N815 – names of the syntax tree
    visit_FunctionDef: Any = visit_For  # noqa: N815
    visit_Lambda: Any = visit_For  # noqa: N815
    visit_ClassDef: Any = visit_For  # noqa: N815


def _stored(loop: ast.For) -> list[str]:
    """Return the names that a loop sets: those that Python's compiler takes for a function's own, if it were one."""
    nothing = ast.arguments([], [], None, [], [], None, [])
    around = ast.FunctionDef("loop", nothing, [copy.deepcopy(loop)], [], None)
    around.type_params = []  # type: ignore[attr-defined]
    made = compile(ast.fix_missing_locations(ast.Module([around], [])), "<loop>", "exec")
    (code,) = (each for each in made.co_consts if isinstance(each, types.CodeType))
    return [*code.co_varnames, *code.co_cellvars]


def _touched(body: list[ast.stmt]) -> list[str]:
    """Return the names of containers of which an item is assigned."""
    names_touched: dict[str, None] = {}
    for each in body:
        for node in [each, *own_nodes(each)]:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                while isinstance(node, ast.Subscript):
                    node = node.value
                if isinstance(node, ast.Name):
                    names_touched.setdefault(node.id)
    return list(names_touched)


def _appended(body: list[ast.stmt]) -> list[str]:
    """Return the names of lists to which something is appended."""
    nodes = [node for each in body for node in [each, *own_nodes(each)] if isinstance(node, ast.Attribute)]
    return [each.value.id for each in nodes if each.attr == "append" and isinstance(each.value, ast.Name)]


_FACTORIES = ("int", "float", "Counter", "collections.Counter", "lambda: 0", "lambda: 0.0", "lambda: defaultdict(int)",
              "lambda: collections.defaultdict(int)")  # fmt: skip
_EMPTY = frozenset(
    ("{}", "[]", "dict()", "list()", "Counter()", "collections.Counter()",
     *(f"{made}({each})" for made in ("defaultdict", "collections.defaultdict") for each in _FACTORIES))
)  # fmt: skip
"""How an empty list or dict is written down; what it is the domain looks at."""


def _emptied(node: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """Return the names that a statement sets to an empty list or dict, each with what makes it."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    if len(targets) != 1 or (value := getattr(node, "value", None)) is None:
        return []
    pairs: list[tuple[ast.expr, ast.expr]] = [(targets[0], value)]
    if isinstance(targets[0], ast.Tuple) and isinstance(value, ast.Tuple) and len(targets[0].elts) == len(value.elts):
        pairs = list(zip(targets[0].elts, value.elts, strict=True))
    return [(name, made) for name, made in pairs if isinstance(name, ast.Name) and ast.unparse(made) in _EMPTY]


def _holds(around: ast.AST, place: tuple[int, int]) -> bool:
    """Whether a loop is around the one at a place."""
    inner = [each for each in ast.walk(around) if each is not around and isinstance(each, ast.For)]
    return any((each.lineno, each.col_offset) == place for each in inner)


class Rewriter(Statements):
    """Rewrites for the universe."""

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite some statements, and tell that they are run."""
        out = super().block(body)
        if body and not isinstance(body[0], ast.Pass):
            told = at(body[0], ast.Expr(ask("ran", constant(body[0].lineno))))
            is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
            out.insert(1 if is_text else 0, told)
        return out

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function."""
        self._around = copy.deepcopy(node)
        return super().function(node)

    _around: ast.AST | None = None

    def _is_captured(self, names: list[str], loop: ast.For) -> bool:
        """Whether a function that was made outside of a loop may look at a name that the loop sets."""
        pending: list[ast.AST] = [] if self._around is None else [self._around]
        declared = [each for one in pending for each in ast.walk(one) if isinstance(each, ast.Nonlocal | ast.Global)]
        names_declared = {name for each in declared for name in each.names}
        place = (loop.lineno, loop.col_offset)
        while pending:
            for each in ast.iter_child_nodes(pending.pop()):
                if isinstance(each, ast.For) and (each.lineno, each.col_offset) == place:
                    continue
                if isinstance(each, ast.FunctionDef | ast.Lambda | ast.GeneratorExp | ast.ClassDef):
                    names_declared |= {one.id for one in ast.walk(each) if isinstance(one, ast.Name)}
                pending.append(each)
        return bool(names_declared & set(names))

    def _fresh(self, name: str, loop: ast.For) -> ast.expr:
        """Say whether `_is_fresh`; of what is made by a call, whether Python's own function is what is called."""
        nodes = [] if self._around is None else list(ast.walk(self._around))
        made = [value for each in nodes for target, value in _emptied(each) if target.id == name]
        called = [one for each in made for one in ast.walk(each) if isinstance(one, ast.Call)]
        if not called or not self._is_fresh(name, loop):
            return constant(not called and self._is_fresh(name, loop))
        function = called[0]  # what is called within it has the same name
        owner = next(one.id for one in ast.walk(function.func) if isinstance(one, ast.Name))
        bound = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
        bound |= {getattr(one, field, "") or "" for one in nodes for field in ("name", "arg", "asname")}
        return constant(False) if owner in bound else ask("is_of_python", read(owner))

    def _is_fresh(self, name: str, loop: ast.For) -> bool:
        """Whether a name is that of an empty list or dict that was made for this loop, and that nothing else holds.

        It is set once before it, to an empty one that is written down, nobody reads it up to there, and the loop is
        within no other one.
        """
        place = (loop.lineno, loop.col_offset)
        nodes = [] if self._around is None else list(ast.walk(self._around))
        made = [target for each in nodes for target, _ in _emptied(each) if target.id == name]
        others = [each for each in nodes if isinstance(each, ast.Name) and each.id == name and each not in made]
        around = [each for each in nodes if isinstance(each, ast.For | ast.While) and _holds(each, place)]
        first = min(((each.lineno, each.col_offset) for each in others), default=place)
        through = [each for each in ast.walk(loop.iter) if isinstance(each, ast.Name) and each.id == name]
        return len(made) == 1 and not around and not through and (made[0].lineno, 0) < place < first

    def inplace_item(self, operator: ast.expr, owner: ast.expr, old: ast.expr, value: ast.expr) -> ast.expr:
        """Whose item it is says whether others keep it."""
        return ask("inplace_item", operator, owner, old, value)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> Any:  # noqa: N802
        """A name of a function around: what is done with a record may not set it."""
        return [node, at(node, ast.Expr(ask("outer", constant(", ".join(node.names)))))]

    def visit_LoopEnding(self, node: LoopEnding) -> Any:  # noqa: N802
        """``continue``."""
        return ast.Return(node.value)

    def visit_For(self, node: ast.For) -> Any:  # noqa: N802
        """A loop over records is one over every kind of them."""
        inner = [each for statement in node.body for each in [statement, *own_nodes(statement)]]
        if node.orelse or any(isinstance(each, _LEAVES) for each in inner):
            return super().visit_For(node)
        names = list(dict.fromkeys([*_stored(node), *_touched(node.body)]))
        appended = [each for each in _appended(node.body) if self._is_fresh(each, node)]
        names = list(dict.fromkeys([*names, *appended]))
        if self._is_captured(names, node):
            return super().visit_For(node)
        through, given, folded_name = self.temporary(), self.temporary(), self.temporary()
        body_name = self.temporary()
        end = ast.Return(ast.Tuple([ask("bound", thunk(read(name))) for name in names], ast.Load()))
        body = [Continued(at(node, LoopEnding(end.value))).visit(each) for each in copy.deepcopy(node.body)]
        unbound: list[ast.stmt] = [
            ast.If(ask("unbound", read(name)), [ast.Delete([ast.Name(name, ast.Del())])], []) for name in names
        ]
        arguments = ast.arguments([], [ast.arg(given), *map(ast.arg, names)], None, [], [], None, [])
        each_record = ast.FunctionDef(body_name, arguments, [], [], None)
        each_record.type_params = []  # type: ignore[attr-defined]
        each_record.body = [*unbound, *self.stored(copy.deepcopy(node.target), read(given)), *self.block(body), end]
        fresh = ast.Tuple([self._fresh(name, node) for name in names], ast.Load())
        folded = ask(
            "fold", read(through), read(body_name), fresh, *(ask("bound", thunk(read(name))) for name in names)
        )
        after: list[ast.stmt] = [each_record, ast.Assign([written(folded_name)], folded)]
        for place, name in enumerate(names):
            after.append(ast.Assign([written(name)], ast.Subscript(read(folded_name), constant(place), ast.Load())))
            after.append(ast.If(ask("unbound", read(name)), [ast.Delete([ast.Name(name, ast.Del())])], []))
        iterable = ask("loop", self.visit(node.iter))
        node.iter = ast.Name(through, ast.Load())
        target, first = self.target(node.target)
        node.target, node.body = target, [*at(node, first), *self.block(node.body)]
        start = ast.Assign([written(through)], iterable)
        gone = ast.Assign([written(through)], constant(None))
        return at(node, [start, ast.If(ask("is_records", read(through)), after, [node]), gone])

    def _comprehension(self, node: Any) -> Any:
        part = node.generators[0]
        walrus = any(isinstance(each, ast.NamedExpr) for each in ast.walk(node))
        if len(node.generators) != 1 or walrus or part.is_async:
            return None
        name, given = self.temporary(), self.temporary()
        element, tests, target = copy.deepcopy(node.elt), copy.deepcopy(part.ifs), part.target
        parameters: list[str]
        if isinstance(target, ast.Name):
            parameters, around = [target.id], None
        elif isinstance(target, ast.Tuple) and all(isinstance(each, ast.Name) for each in target.elts):
            parameters = [each.id for each in target.elts if isinstance(each, ast.Name)]
            around = ask("unpack", read(given), constant(len(parameters)), constant(None))
        else:
            return None

        def function(body: ast.expr) -> ast.expr:
            inner = thunk(body, *parameters)
            if around is None:
                return inner
            return thunk(ast.Call(inner, [ast.Starred(copy.deepcopy(around), ast.Load())], []), given)

        keep = (
            function(self.test(ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0]))
            if tests
            else constant(None)
        )
        through = ask("loop", self.visit(part.iter))
        is_once = constant(isinstance(node, ast.GeneratorExp))
        over = ask("comprehended", read(name), function(self.visit(element)), keep, is_once)
        part.iter = read(name)
        part.ifs = [self.test(each) for each in part.ifs]
        node.elt = self.visit(node.elt)
        return through, name, over, node

    def visit_ListComp(self, node: ast.ListComp) -> Any:  # noqa: N802
        """A list of what becomes of each record is a column."""
        parts = self._comprehension(node)
        if parts is None:
            return super().visit_ListComp(node)
        through, name, over, plain = parts
        return ast.IfExp(ask("is_records", ast.NamedExpr(written(name), through)), over, ask("new", plain))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:  # noqa: N802
        """A generator over records is a column."""
        parts = self._comprehension(node)
        if parts is None:
            return ask("new", super().visit_GeneratorExp(node))
        through, name, over, plain = parts
        return ast.IfExp(ask("is_records", ast.NamedExpr(written(name), through)), over, ask("new", plain))

    def visit_Try(self, node: ast.Try) -> Any:  # noqa: N802
        """Within it, whether an operation on released values raises is seen."""
        mine = node.handlers[:]
        types = [part for each in mine for part in getattr(each.type, "elts", [each.type])]
        names = ast.Tuple([constant("" if each is None else ast.unparse(each)) for each in types], ast.Load())
        node = super().visit_Try(node)
        for each in mine:
            each.type = None if each.type is None else at(each, ask("handled", each.type))
        node.body = self._watched(node, node.body, names)
        return node

    def visit_With(self, node: ast.With) -> Any:  # noqa: N802
        """A context manager sees what is raised within it."""
        node = super().visit_With(node)
        node.body = self._watched(node, node.body, constant(None))
        return node

    def _watched(self, node: ast.stmt, body: list[ast.stmt], names: ast.expr) -> list[ast.stmt]:
        entered = self.temporary()
        before, after = ast.Assign([written(entered)], ask("trying", names)), ast.Expr(ask("tried", read(entered)))
        inner = ast.Try(body, [], [], [after])
        statements: list[ast.stmt] = at(node, [before, inner])
        return statements
