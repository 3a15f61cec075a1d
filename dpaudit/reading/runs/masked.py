"""How is control rewritten so that runs which branch differently stay in one pass?

``if``, loops, ``return``, ``raise``, ``try`` act on a mask of the active runs; whatever an arm assigns is joined: the
runs that are active get the new value, the others keep theirs (as AutoGraph rewrites control flow: Moldovan et al.
2019). What has no masked form (``with`` of a manager that sees exceptions, ``yield``, ``match``, classes) is refused;
such a function is rewritten with Python's own control instead, and runs that differ are split there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from dpaudit.reading.definite import Definite, Looping
from dpaudit.reading.rewrite import OPERATORS, ask, at, constant, own_nodes, read, thunk, unreadable, written

_FRAME, _GOES = "__dpaudit_frame__", "__dpaudit_goes__"
_WHOLE = frozenset((
    "sum", "list", "tuple", "set", "dict", "sorted", "max", "min", "any", "all", "frozenset", "join",
    "Counter",
))  # fmt: skip
"""What takes all of a generator at once, so that it may be a list."""
_QUIET = frozenset(("errstate", "catch_warnings", "nullcontext", "localcontext", "option_context", "printoptions"))
"""Managers that see no exception of what is within them."""


class Masked(Looping):
    """Rewrites a function so that all of its control acts on masks of runs."""

    def __init__(self, mangled: str = "", first: str = "") -> None:
        super().__init__(mangled, first)
        self._loops: list[str] = []
        self._maybe: set[str] = set()
        self._mine: set[str] = set()
        self._outer: set[str] = set()  # of functions around this one, which may not have bound them when it is called

    def within(self, mangled: str, first: str = "") -> Any:
        """Return what rewrites a function within this one."""
        inside = super().within(mangled, first)
        inside._outer = self._outer | self._mine
        return inside

    # --- expressions: what decides by truth is asked with its arms as functions ---------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """``a and b`` → ``domain.bool_op(True, lambda: a, lambda: b)``."""
        self._no_walrus(node)
        return ask(
            "bool_op", constant(isinstance(node.op, ast.And)), *(thunk(self.visit(each)) for each in node.values)
        )

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """``not a`` → ``domain.not_(a)``."""
        if isinstance(node.op, ast.Not):
            return ask("not_", self.visit(node.operand))
        return super().visit_UnaryOp(node)

    def test(self, node: ast.expr) -> ast.expr:
        """Return an expression whose truth the domain is asked of by what it is given to."""
        new: ast.expr = self.visit(node)
        return new

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``a < b < c`` → ``domain.chain(a, "lt", lambda: b, "lt", lambda: c)``."""
        if len(node.ops) == 1:
            return super().visit_Compare(node)
        self._no_walrus(node)
        rest: list[ast.expr] = []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            rest += [constant(OPERATORS[type(operator)]), thunk(self.visit(right))]
        return ask("chain", self.visit(node.left), *rest)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """``a if c else b`` → ``domain.if_exp(c, lambda: a, lambda: b)``."""
        self._no_walrus(node)
        return ask("if_exp", self.visit(node.test), thunk(self.visit(node.body)), thunk(self.visit(node.orelse)))

    def _no_walrus(self, node: ast.AST) -> None:
        if any(isinstance(each, ast.NamedExpr | ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
            raise unreadable(node, "a name that is assigned within a condition, under a mask")

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        """``(a := b)`` → ``(a := domain.put(b, a))``."""
        node.value = self._put(node.target.id, self.visit(node.value))
        return node

    def called(self, node: ast.Call) -> Any:
        """A generator may stand where all of it is taken at once; elsewhere its laziness would shift later draws."""
        for each in node.args:
            if isinstance(each, ast.GeneratorExp):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name not in _WHOLE or len(node.args) > 1 + (name == "sum"):
                    raise unreadable(each, "a generator that is not taken at once, under a mask")
                each.taken = True  # type: ignore[attr-defined]
        lazy = isinstance(node.func, ast.Name) and node.func.id in ("any", "all") and len(node.args) == 1
        if lazy and isinstance(node.args[0], ast.GeneratorExp):
            if len(node.args[0].generators) > 1:
                raise unreadable(node, "any or all of a generator that goes through several, under a mask")
            return self._comprehension(node.args[0], node.func.id)  # type: ignore[attr-defined]
        return super().called(node)

    def _comprehension(self, node: Any, kind: str) -> Any:
        self._no_walrus(node)
        bound = {each.id for part in node.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)}
        for each in ast.walk(node):
            if isinstance(each, ast.Lambda) and bound & {one.id for one in ast.walk(each) if isinstance(one, ast.Name)}:
                raise unreadable(node, "a function made in a comprehension, under a mask")
        element: ast.expr = ast.Tuple([node.key, node.value], ast.Load()) if kind == "dict" else node.elt
        element = self.visit(element)
        for place in reversed(range(len(node.generators))):
            part = node.generators[place]
            names = [part.target] if isinstance(part.target, ast.Name) else getattr(part.target, "elts", [None])
            if part.is_async or not all(isinstance(each, ast.Name) for each in names):
                raise unreadable(node, "a comprehension that takes apart more than a tuple of names, under a mask")
            targets = [each.id for each in names]
            width = constant(0 if isinstance(part.target, ast.Name) else len(targets))
            keep: ast.expr = constant(True)
            if part.ifs:
                keep = ask("bool_op", constant(True), *(thunk(self.visit(each)) for each in part.ifs))
            last = place == len(node.generators) - 1
            element = ask(
                "comprehension",
                constant(kind if place == 0 else "list"),
                width,
                self.visit(part.iter),
                thunk(keep, *targets),
                thunk(element, *targets),
                constant(last),
            )
        return element

    def comprehended(self, node: Any) -> Any:
        """``[e for x in y if c]`` → ``domain.comprehension("list", y, lambda x: c, lambda x: e)``."""
        kind = {ast.SetComp: "set", ast.DictComp: "dict"}.get(type(node), "list")
        return self._comprehension(node, kind)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        """As a list."""
        if not getattr(node, "taken", False):
            raise unreadable(node, "a generator, under a mask")
        return self._comprehension(node, "list")

    def visit_Dict(self, node: ast.Dict) -> Any:
        """``{a: b}`` → ``domain.new_dict([(a, b)])``: keys may differ by run."""
        pairs: list[ast.expr] = []
        for key, value in zip(node.keys, node.values, strict=True):
            parts = (
                [constant(None), ask("mapping", self.visit(value))]
                if key is None
                else [self.visit(key), self.visit(value)]
            )
            pairs.append(ast.Tuple([constant(key is None), *parts], ast.Load()))
        return ask("new_dict", ast.List(pairs, ast.Load()))

    def visit_Set(self, node: ast.Set) -> Any:
        """``{a}`` → ``domain.new_set([a])``."""
        return ask("new_set", ast.List([self.spread_out(self.visit(each)) for each in node.elts], ast.Load()))

    def visit_Yield(self, node: ast.AST) -> Any:
        """Runs cannot wait for one another."""
        raise unreadable(node, "yield, under a mask")

    visit_YieldFrom = visit_Yield  # noqa: N815

    def visit_Name(self, node: ast.Name) -> Any:
        """A name that some runs may not have bound yet is looked at."""
        if isinstance(node.ctx, ast.Load):
            if node.id in self._maybe:
                return ask("got", node, constant(node.id))
            if node.id in self._outer and node.id not in self._mine:
                return ask("got", node, constant(node.id), constant(True))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """A function within: its parameters are bound."""
        inside = self.within(self.mangled, self.first)
        inside._mine = set(parameters(node.args))
        node.args = self.visit(node.args)
        node.body = inside.visit(node.body)
        return node

    # --- statements: blocks under masks -------------------------------------------------------------------

    def under(self, owner: str, what: str, body: list[ast.stmt], *args: ast.expr, asks: bool = True) -> list[ast.stmt]:
        """Return ``with owner.what(*args) as goes: if goes: body``."""
        if not body:
            return []
        inside: list[ast.stmt] = [ast.If(read(_GOES), body, [])] if asks else body
        item = ast.withitem(ask(what, *args, owner=owner), written(_GOES) if asks else None)
        return [ast.With([item], inside)]

    def do(self, owner: str, what: str, *args: ast.expr) -> ast.stmt:
        """Return ``owner.what(*args)`` as a statement."""
        return ast.Expr(ask(what, *args, owner=owner))

    def visit_If(self, node: Any) -> Any:
        """Both arms, each under its mask."""
        name = self.temporary()
        return at(
            node,
            [
                ast.Assign([written(name)], ask("branch", self.visit(node.test))),
                *self.under(name, "arm", self.block(node.body), constant(True)),
                *self.under(name, "arm", self.block(node.orelse), constant(False)),
                self.do(name, "join"),
            ],
        )

    def visit_Assert(self, node: ast.Assert) -> Any:
        """``assert a, b`` → ``if not a: raise AssertionError(b)``."""
        raised = ast.Raise(ast.Call(read("AssertionError"), [] if node.msg is None else [node.msg], []), None)
        return self.visit_If(at(node, ast.If(node.test, [ast.Pass()], [raised])))

    def _loop(self, node: Any, start: ast.expr, goes: list[ast.expr], first: list[ast.stmt]) -> Any:
        name = self.temporary()
        self._loops.append(name)
        body = [*[self._of_loop(each, name) for each in first], *self.block(node.body)]
        self._loops.pop()
        return at(
            node,
            [
                ast.Assign([written(name)], start),
                ast.While(ask("go", *goes, owner=name), self.under(name, "body", body, asks=False), []),
                *self.under(name, "orelse", self.block(node.orelse)),
                self.do(name, "end"),
            ],
        )

    @staticmethod
    def _of_loop(node: ast.stmt, name: str) -> ast.stmt:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id == "__dpaudit_loop__":
                each.id = name
        return node

    def visit_While(self, node: ast.While) -> Any:
        """The runs for which the condition holds go through the body, until there is none."""
        self._no_walrus(node.test)
        return self._loop(node, ask("loop"), [thunk(self.visit(node.test))], [])

    def through(self, node: ast.For) -> Any:
        """The runs that still have an item go through the body."""
        first = self.stored(node.target, ask("item", owner="__dpaudit_loop__"))
        return self._loop(node, ask("loop", self.visit(node.iter)), [], first)

    def visit_Break(self, node: ast.Break) -> Any:
        """The active runs leave the loop."""
        return at(node, self.do(self._loops[-1], "leave", constant(True)))

    def visit_Continue(self, node: ast.Continue) -> Any:
        """The active runs wait for the next round."""
        return at(node, self.do(self._loops[-1], "leave", constant(False)))

    def visit_Return(self, node: ast.Return) -> Any:
        """The active runs leave the function with a value."""
        value = constant(None) if node.value is None else self.visit(node.value)
        return at(node, self.do(_FRAME, "back", value))

    def visit_Raise(self, node: ast.Raise) -> Any:
        """The active runs leave with an exception."""
        parts = [constant(None) if node.exc is None else self.visit(node.exc)]
        parts += [] if node.cause is None else [self.visit(node.cause)]
        return at(node, ast.Expr(ask("throw", *parts)))

    def visit_Try(self, node: ast.Try) -> Any:
        """Runs that raised go to the handlers, each to the first that fits."""
        name = self.temporary()
        out: list[ast.stmt] = [ast.Assign([written(name)], ask("trying"))]
        out += self.under(name, "body", self.block(node.body), asks=False)
        out += self.under(name, "orelse", self.block(node.orelse))
        for handler in node.handlers:
            bound, unbound = [], []
            if handler.name is not None:
                bound = self.stored(written(handler.name), ask("raised", owner=name))
                unbound = self.stored(written(handler.name), ask("unbound"))
            kind = read("BaseException") if handler.type is None else self.visit(handler.type)
            out += self.under(name, "handler", [*bound, *self.block(handler.body), *unbound], thunk(kind))
        if node.finalbody:
            leaves = (ast.Return, ast.Break, ast.Continue)
            if any(isinstance(each, leaves) for part in node.finalbody for each in [part, *own_nodes(part)]):
                raise unreadable(node, "a finally that leaves, under a mask")
            out += self.under(name, "final", self.block(node.finalbody))
        return at(node, [*out, self.do(name, "end")])

    def visit_With(self, node: ast.With) -> Any:
        """Managers that see no exception stay Python's."""
        for item in node.items:
            call = item.context_expr
            name = getattr(getattr(call, "func", None), "attr", getattr(getattr(call, "func", None), "id", ""))
            if name not in _QUIET or item.optional_vars is not None:
                raise unreadable(node, "with, under a mask")
            item.context_expr = ask("enter", self.visit(call))
        node.body = self.block(node.body)
        return node

    def visit_Delete(self, node: ast.Delete) -> Any:
        """A name that is deleted is unbound again."""
        out: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._maybe.add(target.id)
                out.append(ast.Assign([written(target.id)], ask("put", ask("unbound"), read(target.id))))
            else:
                new = super().visit_Delete(ast.Delete([target]))
                out += new if isinstance(new, list) else [new]
        return at(node, out)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """A class within a function has no masked form."""
        raise unreadable(node, "a class within a function, under a mask")

    def visit_Match(self, node: ast.Match) -> Any:
        """A pattern has no masked form."""
        raise unreadable(node, "match, under a mask")

    # --- stores -------------------------------------------------------------------------------------------

    def _put(self, name: str, value: ast.expr) -> ast.expr:
        if name.startswith("__dpaudit_"):
            return value
        return ask("put" if name in self._maybe or name not in self._mine else "bind", value, read(name))

    def stored(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that assign a value to a target; a name is joined with what it had."""
        if isinstance(target, ast.Name):
            return [ast.Assign([target], self._put(target.id, value))]
        return super().stored(target, value)

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function: its names are unbound at first, and it returns what each run returned."""
        names = set(parameters(node.args))
        outer = [each for each in node.body if isinstance(each, ast.Nonlocal)]
        away = {name for each in own_nodes(node) if isinstance(each, ast.Nonlocal) for name in each.names}
        assigned = {
            each.id for each in own_nodes(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
        }
        handled = {each.name for each in own_nodes(node) if isinstance(each, ast.ExceptHandler) and each.name}
        assigned |= handled
        assigned |= {each.name for each in own_nodes(node) if isinstance(each, ast.FunctionDef)}
        imported = {
            (each.asname or each.name).partition(".")[0]
            for part in own_nodes(node)
            if isinstance(part, ast.Import | ast.ImportFrom)
            for each in part.names
        }
        self._mine = (assigned | names) - away
        self._maybe = Definite(self._mine - imported).of(node, names) | handled
        for each in [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]:
            if each is not None:
                each.annotation = None
        doc = node.body[:1] if ast.get_docstring(node) is not None else []
        rest = [each for each in node.body if each not in outer and each not in doc]
        body = self.block(rest) or [ast.Pass()]
        start: list[ast.stmt] = [
            ast.Assign([written(name)], ask("unbound")) for name in sorted(self._mine - names - imported)
        ]
        start += [ast.Assign([written(name)], ask("received", read(name))) for name in starred(node.args)]
        node.body = [
            *doc,
            *outer,
            *start,
            ast.Assign([written(_FRAME)], ask("frame")),
            ast.With([ast.withitem(read(_FRAME), None)], body),
            ast.Return(ask("end", owner=_FRAME)),
        ]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A function within a function is a value that a name gets, after its decorators were called with it."""
        out: list[ast.stmt] = []
        decorators = [self.temporary() for _ in node.decorator_list]
        for place, decorator in zip(decorators, node.decorator_list, strict=True):
            out.append(ast.Assign([written(place)], self.visit(decorator)))
        node.decorator_list = []
        new = super().visit_FunctionDef(node)
        name, new.name = new.name, self.temporary()
        value: ast.expr = ask("named", read(new.name), constant(name))
        for each in reversed(decorators):
            value = ask("call", read(each), value)
        return at(node, [*out, new, ast.Assign([written(name)], self._put(name, value))])


def parameters(args: ast.arguments) -> Iterable[str]:
    """Return the names of all parameters."""
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return [each.arg for each in every if each is not None]


def starred(args: ast.arguments) -> list[str]:
    """Return the names of ``*args`` and ``**keywords``."""
    return [each.arg for each in (args.vararg, args.kwarg) if each is not None]
