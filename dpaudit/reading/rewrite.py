"""How is a function written so that every operation on a value is asked of a domain?

Calls, attributes, items, operators, comparisons, truth, iteration and texts become calls of a method of the domain,
under the name `DOMAIN`; all else stays as it is, so that Python's own rules hold (abstract interpretation: Cousot &
Cousot 1977; mediation of a program by rewriting, as RestrictedPython does). What cannot be rewritten so that it stays
true is refused by name, when the function is rewritten and not when the line is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

DOMAIN = "__dpaudit__"
"""The name under which rewritten code finds its domain."""

OPERATORS: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Is: "is_", ast.IsNot: "is_not", ast.In: "in_", ast.NotIn: "not_in",
    ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert",
}  # fmt: skip
_SIMPLE = (ast.Name, ast.Constant)
_SEES_FRAMES = frozenset(("locals", "vars", "eval", "exec", "compile", "globals", "dir", "breakpoint", "__import__"))


class UnreadableError(Exception):
    """The function does something that is not read; the text says what, and in which line."""


def unreadable(node: ast.AST, what: str) -> UnreadableError:
    """Return the exception for a construct that is not read."""
    return UnreadableError(f"line {getattr(node, 'lineno', '?')}: {what}")


def ask(what: str, *args: ast.expr, keywords: Sequence[ast.keyword] = (), owner: str = DOMAIN) -> ast.Call:
    """Return a call of a method of the domain, or of another object that rewritten code knows by name."""
    return ast.Call(ast.Attribute(read(owner), what, ast.Load()), list(args), list(keywords))


def read(name: str) -> ast.Name:
    """Return a name that is read."""
    return ast.Name(name, ast.Load())


def written(name: str) -> ast.Name:
    """Return a name that is assigned."""
    return ast.Name(name, ast.Store())


def constant(value: Any) -> ast.Constant:
    """Return a constant."""
    return ast.Constant(value)


def thunk(body: ast.expr, *names: str) -> ast.Lambda:
    """Return a function of the given names that evaluates an expression."""
    return ast.Lambda(ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []), body)


def at(node: ast.AST, new: Any) -> Any:
    """Return new nodes with the place in the file of the node that they stand for."""
    for each in new if isinstance(new, list) else [new]:
        for inner in ast.walk(each):
            if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
                ast.copy_location(inner, node)
    return new


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what belongs to a function itself, without the bodies of functions and classes within it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from own_nodes(child)


class Expressions(ast.NodeTransformer):
    """Rewrites expressions.

    Args:
        mangled: the name of the class whose method is rewritten, by which Python changes private names; "" for none.
        first: the first parameter of the method, which ``super()`` stands for.
    """

    def __init__(self, mangled: str = "", first: str = "") -> None:
        self.mangled, self.first = mangled.lstrip("_"), first
        self._temporaries = 0

    def temporary(self) -> str:
        """Return a name that the function does not use."""
        self._temporaries += 1
        return f"__dpaudit_{self._temporaries}__"

    def private(self, name: str) -> str:
        """Return an attribute's name as Python stores it."""
        hidden = self.mangled and name.startswith("__") and not name.endswith("__")
        return f"_{self.mangled}{name}" if hidden else name

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; what stands for it has its place in the file."""
        return at(node, super().visit(node))

    # --- what is asked of the domain ----------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> Any:
        """``f(x)`` → ``domain.call(f, x)``."""
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == DOMAIN:
            node.args = [self.visit(each) for each in node.args]
            return node
        if isinstance(function, ast.Name):
            if function.id in _SEES_FRAMES and not (function.id in ("vars", "dir") and node.args):
                raise unreadable(node, f"{function.id}() sees more than its arguments")
            if function.id == "super" and not node.args:
                return ask("call", read("super"), read("__class__"), read(self.first))
        self.generic_visit(node)
        args = [self.spread_out(each) for each in node.args]
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = ask("mapping", keyword.value)
        return ask("call", node.func, *args, keywords=node.keywords)

    def spread_out(self, node: ast.expr) -> ast.expr:
        """``*x`` → ``*domain.iterate(x)``."""
        return ast.Starred(ask("iterate", node.value), ast.Load()) if isinstance(node, ast.Starred) else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """``o.a`` → ``domain.attribute(o, "a")``."""
        self.generic_visit(node)
        node.attr = self.private(node.attr)
        return ask("attribute", node.value, constant(node.attr)) if isinstance(node.ctx, ast.Load) else node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """``o[k]`` → ``domain.item(o, k)``."""
        self.generic_visit(node)
        return ask("item", node.value, node.slice) if isinstance(node.ctx, ast.Load) else node

    def visit_Slice(self, node: ast.Slice) -> Any:
        """``a:b:c`` → ``domain.slice(a, b, c)``."""
        self.generic_visit(node)
        return ask("slice", *(part or constant(None) for part in (node.lower, node.upper, node.step)))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        """``a + b`` → ``domain.binary("add", a, b)``."""
        self.generic_visit(node)
        return ask("binary", constant(OPERATORS[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """``-a`` → ``domain.unary("neg", a)``; ``not a`` → ``not domain.truth(a)``."""
        if isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self.test(node.operand))
        self.generic_visit(node)
        return ask("unary", constant(OPERATORS[type(node.op)]), node.operand)

    def test(self, node: ast.expr) -> ast.expr:
        """Return an expression that is True or False: an ``and`` of truths needs no value of its own."""
        if isinstance(node, ast.BoolOp):
            new: ast.expr = ast.BoolOp(node.op, [self.test(value) for value in node.values])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            new = ast.UnaryOp(node.op, self.test(node.operand))
        else:
            new = ask("truth", self.visit(node))
        at(node, new)
        return new

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """``a and b`` → ``b if domain.truth(t := a) else t``."""
        values = [self.visit(value) for value in node.values]
        out = values[-1]
        for value in reversed(values[:-1]):
            name = self.temporary()
            test = ask("truth", ast.NamedExpr(written(name), value))
            arms = (out, read(name)) if isinstance(node.op, ast.And) else (read(name), out)
            out = ast.IfExp(test, *arms)
        return out

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``a < b < c`` → as ``a < b and b < c`` with ``b`` evaluated once."""
        self.generic_visit(node)
        left, tests = node.left, []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            again = right
            if right is not node.comparators[-1] and not isinstance(right, _SIMPLE):
                name = self.temporary()
                right, again = ast.NamedExpr(written(name), right), read(name)
            tests.append(ask("compare", constant(OPERATORS[type(operator)]), left, right))
            left = again
        out: ast.expr = tests[-1]
        for test in reversed(tests[:-1]):
            name = self.temporary()
            out = ast.IfExp(ask("truth", ast.NamedExpr(written(name), test)), out, read(name))
        return out

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """``a if c else b`` → ``a if domain.truth(c) else b``."""
        node.test, node.body, node.orelse = self.test(node.test), self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        """``f"{a}"`` → ``domain.join([domain.format(a, -1, "")])``."""
        self.generic_visit(node)
        return ask("join", ast.List(node.values, ast.Load()))

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        """``{a!r:>5}`` → ``domain.format(a, 114, ">5")``."""
        self.generic_visit(node)
        return ask("format", node.value, constant(node.conversion), node.format_spec or constant(""))

    def visit_List(self, node: ast.List) -> Any:
        """``[a, *b]`` → ``domain.new([a, *domain.iterate(b)])``."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        node.elts = [self.spread_out(each) for each in node.elts]
        return ask("new", node)

    def visit_Tuple(self, node: ast.Tuple) -> Any:
        """``(a, *b)`` → ``(a, *domain.iterate(b))``."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.elts = [self.spread_out(each) for each in node.elts]
        return node

    def visit_Set(self, node: ast.Set) -> Any:
        """``{a}`` → ``domain.new({domain.key(a)})``."""
        self.generic_visit(node)
        node.elts = [self.spread_out(each) if isinstance(each, ast.Starred) else ask("key", each) for each in node.elts]
        return ask("new", node)

    def visit_Dict(self, node: ast.Dict) -> Any:
        """``{a: b, **c}`` → ``domain.new({domain.key(a): b, **domain.mapping(c)})``."""
        self.generic_visit(node)
        node.values = [
            value if key is not None else ask("mapping", value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        node.keys = [None if key is None else ask("key", key) for key in node.keys]
        return ask("new", node)

    def comprehension(self, node: Any) -> Any:
        """Rewrite what a comprehension goes through and by what it selects; it stays a comprehension."""
        for part in node.generators:
            if part.is_async:
                raise unreadable(node, "an asynchronous comprehension")
            if any(isinstance(each, ast.Attribute | ast.Subscript) for each in ast.walk(part.target)):
                raise unreadable(node, "a comprehension that assigns to an attribute or an item")
            through = self.visit(part.iter)
            if any(isinstance(each, ast.NamedExpr) for each in ast.walk(through)):  # not allowed there by Python
                through = ast.Call(thunk(through), [], [])
            part.iter = ask("iterate", through)
            part.ifs = [self.test(each) for each in part.ifs]
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """``[e for x in y]`` → ``domain.new([e for x in domain.iterate(y)])``."""
        node = self.comprehension(node)
        node.elt = self.visit(node.elt)
        return ask("new", node)

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        """A set: its members are keys."""
        node = self.comprehension(node)
        node.elt = ask("key", self.visit(node.elt))
        return ask("new", node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        """A dict: what it goes by are keys."""
        node = self.comprehension(node)
        node.key, node.value = ask("key", self.visit(node.key)), self.visit(node.value)
        return ask("new", node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        """A generator stays one: it is Python that goes on with it."""
        node = self.comprehension(node)
        node.elt = self.visit(node.elt)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        """``yield from a`` → ``yield from domain.iterate(a)``."""
        self.generic_visit(node)
        node.value = ask("iterate", node.value)
        return node

    def visit_Await(self, node: ast.Await) -> Any:
        """Nothing asynchronous is read."""
        raise unreadable(node, "await")

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        """A function within a function is rewritten with it."""
        self.generic_visit(node)
        return node


class Statements(Expressions):
    """Rewrites statements: control flow stays Python's own, and every store is one of a name or of the domain."""

    def visit_If(self, node: Any) -> Any:
        """``if a`` → ``if domain.truth(a)``."""
        node.test = self.test(node.test)
        for part in ("body", "orelse"):
            if hasattr(node, part):
                setattr(node, part, self.block(getattr(node, part)))
        if getattr(node, "msg", None) is not None:
            node.msg = self.visit(node.msg)
        return node

    visit_While = visit_Assert = visit_If  # noqa: N815 – names of the syntax tree

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite some statements."""
        out: list[ast.stmt] = []
        for each in body:
            new = self.visit(each)
            out += new if isinstance(new, list) else [new]
        return out

    def visit_For(self, node: ast.For) -> Any:
        """``for x in y`` → ``for x in domain.iterate(y)``."""
        node.iter = ask("iterate", self.visit(node.iter))
        target, after = self.target(node.target)
        node.target = target
        node.body = [*at(node, after), *self.block(node.body)]
        node.orelse = self.block(node.orelse)
        return node

    def visit_With(self, node: ast.With) -> Any:
        """``with a as b`` → ``with domain.enter(a) as b``."""
        after: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = ask("enter", self.visit(item.context_expr))
            if item.optional_vars is not None:
                if after:
                    raise unreadable(node, "several targets of one with")
                item.optional_vars, after = self.target(item.optional_vars)
        node.body = [*at(node, after), *self.block(node.body)]
        return node

    # --- stores: one statement a target, from left to right -----------------------------------------------

    def target(self, node: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
        """Return a name to assign to, and the statements that carry it on from there to a target."""
        if isinstance(node, ast.Name):
            return node, []
        name = self.temporary()
        return written(name), self.stored(node, read(name))

    def stored(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that assign a value to a target."""
        if isinstance(target, ast.Name):
            return [ast.Assign([target], value)]
        if isinstance(target, ast.Attribute):
            attribute = constant(self.private(target.attr))
            return [ast.Expr(ask("set_attribute", self.visit(target.value), attribute, value))]
        if isinstance(target, ast.Subscript):
            return [ast.Expr(ask("set_item", self.visit(target.value), self.visit(target.slice), value))]
        if isinstance(target, ast.Tuple | ast.List):
            stars = [place for place, each in enumerate(target.elts) if isinstance(each, ast.Starred)]
            name = self.temporary()
            count, star = constant(len(target.elts)), constant(stars[0] if stars else None)
            out: list[ast.stmt] = [ast.Assign([written(name)], ask("unpack", value, count, star))]
            for place, each in enumerate(target.elts):
                inner = each.value if isinstance(each, ast.Starred) else each
                out += self.stored(inner, ast.Subscript(read(name), constant(place), ast.Load()))
            return out
        raise unreadable(target, "a target that is no name, attribute, item or tuple of them")

    def visit_Assign(self, node: ast.Assign) -> Any:
        """``a = b.c = v``: the value once, then each target."""
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return at(node, self.stored(node.targets[0], value))
        name = self.temporary()
        out: list[ast.stmt] = [ast.Assign([written(name)], value)]
        for target in node.targets:
            out += self.stored(target, read(name))
        return at(node, out)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """``a: T = v`` → ``a = v``; in a function nothing keeps the annotation."""
        return [ast.Pass()] if node.value is None else at(node, self.stored(node.target, self.visit(node.value)))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """``a += v`` → ``a = domain.inplace("add", a, v)``, really in place where Python does."""
        operator, target, value = constant(OPERATORS[type(node.op)]), node.target, self.visit(node.value)
        if isinstance(target, ast.Name):
            return at(node, self.stored(target, ask("inplace", operator, self.visit(read(target.id)), value)))
        owner, out = self.temporary(), []
        out.append(ast.Assign([written(owner)], self.visit(target.value)))
        if isinstance(target, ast.Attribute):
            key: ast.expr = constant(self.private(target.attr))
            get, put = "attribute", "set_attribute"
        else:
            place = self.temporary()
            out.append(ast.Assign([written(place)], self.visit(target.slice)))
            key, get, put = read(place), "item", "set_item"
        new = ask("inplace", operator, ask(get, read(owner), key), value)
        return at(node, [*out, ast.Expr(ask(put, read(owner), key, new))])

    def visit_Delete(self, node: ast.Delete) -> Any:
        """``del a[k]`` → ``domain.delete_item(a, k)``."""
        out: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Name):
                out.append(ast.Delete([target]))
            elif isinstance(target, ast.Subscript):
                out.append(ast.Expr(ask("delete_item", self.visit(target.value), self.visit(target.slice))))
            elif isinstance(target, ast.Attribute):
                name = constant(self.private(target.attr))
                out.append(ast.Expr(ask("delete_attribute", self.visit(target.value), name)))
            else:
                raise unreadable(node, "del of several targets in brackets")
        return at(node, out)

    # --- control ------------------------------------------------------------------------------------------

    def visit_Try(self, node: ast.Try) -> Any:
        """What the domain raises goes past every handler of the function."""
        if node.handlers:
            passed = ast.ExceptHandler(ast.Attribute(read(DOMAIN), "control", ast.Load()), None, [ast.Raise()])
            for handler in node.handlers:
                handler.type = None if handler.type is None else self.visit(handler.type)
                handler.body = self.block(handler.body)
            node.handlers.insert(0, at(node, passed))
        node.body, node.orelse, node.finalbody = map(self.block, (node.body, node.orelse, node.finalbody))
        return node

    def visit_TryStar(self, node: Any) -> Any:
        """Groups of exceptions are not read."""
        raise unreadable(node, "except*")

    def visit_Match(self, node: ast.Match) -> Any:
        """``match`` → ``if`` with the tests that each pattern stands for."""
        from dpaudit.reading.patterns import as_tests

        return self.block(at(node, as_tests(node, self.temporary)))

    def visit_Import(self, node: ast.Import) -> Any:
        """The domain is told which modules a function imports."""
        return [*(ast.Expr(ask("importing", constant(each.name))) for each in node.names), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """The domain is told which modules a function imports."""
        return [ast.Expr(ask("importing", constant(node.module or "."))), node]

    def visit_Global(self, node: ast.Global) -> Any:
        """What is kept from one call to the next is not read."""
        raise unreadable(node, f"global {', '.join(node.names)}: kept from one call to the next")

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        """Nothing asynchronous is read."""
        raise unreadable(node, "an asynchronous function")

    def visit_AsyncFor(self, node: ast.AST) -> Any:
        """Nothing asynchronous is read."""
        raise unreadable(node, "async")

    visit_AsyncWith: Callable[..., Any] = visit_AsyncFor  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A function within a function: its decorators and defaults are evaluated by the outer one."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args = self.visit(node.args)
        node.returns = None
        return self.inner(node, self.mangled)

    def inner(self, node: ast.FunctionDef, mangled: str) -> ast.FunctionDef:
        """Return a function with its body rewritten."""
        first = (node.args.posonlyargs + node.args.args)[:1]
        inside = type(self)(mangled, first[0].arg if first else "")
        return inside.function(node)

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function."""
        for each in [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]:
            if each is not None:
                each.annotation = None
        node.body = self.block(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """A class within a function: its body is run by Python, its methods are rewritten."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.bases = [self.visit(each) for each in node.bases]
        if node.keywords:
            raise unreadable(node, "a class with a metaclass or keywords")
        body: list[ast.stmt] = []
        for each in node.body:
            if isinstance(each, ast.FunctionDef):
                each.decorator_list = [self.visit(one) for one in each.decorator_list]
                each.args = self.visit(each.args)
                body.append(self.inner(each, node.name))
            elif isinstance(each, ast.AnnAssign):  # dataclasses read annotations
                each.value = None if each.value is None else self.visit(each.value)
                body.append(each)
            else:
                new = self.visit(each)
                body += new if isinstance(new, list) else [new]
        node.body = body
        return node
