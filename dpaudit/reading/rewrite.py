"""How is a function written so that every operation on a value is asked of a domain?

Calls, attributes, items, operators, comparisons, truth, iteration and texts become calls of a method of the domain,
under the name `DOMAIN`; all else stays as it is, so that Python's own rules hold (abstract interpretation: Cousot &
Cousot 1977; mediation of a program by rewriting, as RestrictedPython does). What cannot be rewritten so that it stays
true is refused by name, when the function is rewritten and not when the line is reached.
"""

from __future__ import annotations

import ast
import sys
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
SEES_FRAMES = frozenset(("locals", "vars", "eval", "exec", "compile", "globals", "dir", "breakpoint", "__import__"))
"""Functions of Python that see more than their arguments; ``vars`` and ``dir`` only where they have none."""


class UnreadableError(Exception):
    """The function does something that is not read; the text says what, and in which line."""

    file = ""  # in which a construct stands that is not read, and what is said of it; "" for anything else
    line, what = 0, ""


def unreadable(node: ast.AST, what: str) -> UnreadableError:
    """Return the exception for a construct that is not read."""
    error = UnreadableError(f"line {getattr(node, 'lineno', '?')}: {what}")
    error.line, error.what = getattr(node, "lineno", 0), what
    return error


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


def named(**values: ast.expr) -> list[ast.keyword]:
    """Return arguments by name: they are evaluated in the order that is written here, whatever that of parameters."""
    return [ast.keyword(name, value) for name, value in values.items()]


def thunk(body: ast.expr, *names: str) -> ast.Lambda:
    """Return a function of the given names that evaluates an expression."""
    return ast.Lambda(ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []), body)


def at(node: ast.AST, new: Any) -> Any:
    """Return new nodes with the place in the file of the node that they stand for.

    What is new within them has the place of what is around it (`located`, once, at the end).
    """
    for each in new if isinstance(new, list) else [new]:
        if "lineno" in each._attributes and not hasattr(each, "lineno"):
            ast.copy_location(each, node)
    return new


def located(node: ast.AST, line: int = 1, column: int = 0, end: int = 1, end_column: int = 0) -> None:
    """Give every node within a tree that has no place in the file that of the node around it."""
    for child in ast.iter_child_nodes(node):
        place = line, column, end, end_column
        if "lineno" in child._attributes:
            if hasattr(child, "lineno"):
                place = child.lineno, child.col_offset, child.end_lineno, child.end_col_offset  # type: ignore[attr-defined]
            else:
                if isinstance(child, ast.Attribute):  # a method of the domain: else Python names the last line of it
                    place = line, column, line, column
                child.lineno, child.col_offset, child.end_lineno, child.end_col_offset = place  # type: ignore[attr-defined]
        located(child, *place)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what belongs to a function itself, without the bodies of functions and classes within it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from own_nodes(child)


def assigns_names(node: ast.AST) -> bool:
    """Whether a name is assigned within an expression."""
    return any(isinstance(each, ast.NamedExpr) for each in ast.walk(node))


def refuse_what_is_ours(function: ast.FunctionDef | ast.Lambda) -> None:
    """Refuse a function that uses a name of the rewriting, or writes a global one."""
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            raise_if_written(function, node)
        for field in ("id", "arg", "name", "asname", "names"):
            names = getattr(node, field, None)
            for name in names if isinstance(names, list) else [names]:
                if isinstance(name, str) and name.startswith("__dpaudit"):
                    raise unreadable(node, f"{name} is a name of dpaudit's own")


def raise_if_written(function: ast.AST, declared: ast.Global) -> None:
    """Refuse a function that assigns to a global name; one that is only read is one name like others."""
    scopes = [each for each in ast.walk(function) if isinstance(each, _SCOPES) and declared in own_nodes(each)]
    for node in own_nodes(scopes[0]):
        stored: list[str | None] = []
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored = [node.id]
        elif isinstance(node, _BY_NAME):
            stored = [node.name]
        elif isinstance(node, ast.MatchMapping):
            stored = [node.rest]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            stored = [each.asname or each.name.partition(".")[0] for each in node.names]
        if set(stored) & set(declared.names):
            raise unreadable(node, f"global {', '.join(declared.names)}: kept from one call to the next")


_BY_NAME = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
)  # fmt: skip
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites expressions.

    Args:
        mangled: the name of the class whose method is rewritten, by which Python changes private names; "" for none.
        first: the first parameter of the method, which ``super()`` stands for.

    Attributes:
        names: that the function, or one around it, binds itself, so that they are not Python's own.
        lazy: whether annotations are not evaluated, and stay as they are.
    """

    def __init__(self, mangled: str = "", first: str = "") -> None:
        self.mangled, self.first = mangled.lstrip("_"), first
        self.names: frozenset[str] = frozenset()
        self.lazy = False
        self._temporaries = 0
        self._of_class: list[str] | None = None

    def within(self, mangled: str, first: str = "") -> Any:
        """Return what rewrites a function or class within this one."""
        inside = type(self)(mangled, first)
        inside.names, inside.lazy = self.names, self.lazy
        return inside

    def temporary(self) -> str:
        """Return a name that the function does not use."""
        self._temporaries += 1
        name = f"__dpaudit_{self._temporaries}__"
        if self._of_class is not None:
            self._of_class.append(name)
        return name

    def private(self, name: str) -> str:
        """Return an attribute's name as Python stores it."""
        hidden = self.mangled and name.startswith("__") and not name.endswith("__")
        return f"_{self.mangled}{name}" if hidden else name

    def visit(self, node: ast.AST) -> Any:
        """Rewrite a node; what stands for it has its place in the file."""
        return at(node, super().visit(node))

    # --- what is asked of the domain ----------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> Any:
        """``f(x)`` → ``domain.call(f, x)``; ``f(*a, **b)`` → ``domain.spread(f, a, ((None, b),))``."""
        function = node.func
        if isinstance(function, ast.Name) and function.id not in self.names:
            if function.id in SEES_FRAMES and not (function.id in ("vars", "dir") and node.args):
                raise unreadable(node, f"{function.id}() sees more than its arguments")
            if function.id == "super" and not node.args:
                if not self.first or not self.mangled:
                    raise unreadable(node, "super() where there is no class, or no first parameter")
                return ask("call", read("super"), read("__class__"), read(self.first))
        if isinstance(function, ast.Attribute) and function.lineno != function.end_lineno:
            self._at_last_line(node, function)
        self.generic_visit(node)
        if not any(isinstance(each, ast.Starred) for each in node.args) and all(each.arg for each in node.keywords):
            return ask("call", node.func, *node.args, keywords=node.keywords)
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            args: ast.expr = node.args[0].value
        else:
            args = ast.Tuple([self.spread_out(each) for each in node.args], ast.Load())
        pairs: list[ast.expr] = [ast.Tuple([constant(each.arg), each.value], ast.Load()) for each in node.keywords]
        return ask("spread", node.func, args, ast.Tuple(pairs, ast.Load()))

    @staticmethod
    def _at_last_line(node: ast.expr, attribute: ast.Attribute) -> None:
        """Where an expression goes over lines, a traceback names the line of the attribute."""
        assert attribute.end_lineno is not None and attribute.end_col_offset is not None
        node.lineno = attribute.end_lineno
        node.col_offset = max(attribute.end_col_offset - len(attribute.attr.encode()), 0)

    def spread_out(self, node: ast.expr) -> ast.expr:
        """``*x`` → ``*domain.iterate(x)``."""
        return ast.Starred(ask("iterate", node.value), ast.Load()) if isinstance(node, ast.Starred) else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """``o.a`` → ``domain.attribute(o, "a")``."""
        if node.lineno != node.end_lineno:
            self._at_last_line(node, node)
        value = self.visit(node.value)
        return ask("attribute", value, constant(self.private(node.attr)))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """``o[k]`` → ``domain.item(o, k)``."""
        return ask("item", self.visit(node.value), self.visit(node.slice))

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
            return ast.UnaryOp(node.op, ask("truth", self.visit(node.operand)))
        self.generic_visit(node)
        return ask("unary", constant(OPERATORS[type(node.op)]), node.operand)

    def test(self, node: ast.expr) -> ast.expr:
        """Return an expression that is True or False: an ``and`` of truths needs no value of its own."""
        if isinstance(node, ast.BoolOp):
            new: ast.expr = ast.BoolOp(node.op, [self.test(value) for value in node.values])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            new = ast.UnaryOp(node.op, self.test(node.operand))
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            new = ast.BoolOp(ast.And(), [ask("truth", each) for each in self._comparisons(node)])
        else:
            new = ask("truth", self.visit(node))
        return at(node, new)  # type: ignore[no-any-return]

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """``a and b`` → ``b if domain.truth(t := a) else t``."""
        conjunction = isinstance(node.op, ast.And)
        first, name = node.values[0], self.temporary()
        rest = node.values[1] if len(node.values) == 2 else at(node, ast.BoolOp(node.op, node.values[1:]))
        test = self._test_of_value(first, name, not conjunction)
        out = self.visit(rest)
        return ast.IfExp(test, out, read(name)) if conjunction else ast.IfExp(test, read(name), out)

    def _test_of_value(self, node: ast.expr, name: str, kept: bool) -> ast.expr:
        """Return a test of an operand that keeps the operand under a name where its truth is the given one."""
        if not isinstance(node, ast.BoolOp) or sys.version_info >= (3, 12):  # which asks some operands twice
            new: ast.expr = ask("truth", ast.NamedExpr(written(name), self.visit(node)))
        elif isinstance(node.op, ast.And) is kept:
            *others, last = node.values
            tests = [*(self.test(each) for each in others), self._test_of_value(last, name, kept)]
            new = ast.BoolOp(node.op, tests)
        else:
            new = ast.BoolOp(node.op, [self._test_of_value(each, name, kept) for each in node.values])
        return at(node, new)  # type: ignore[no-any-return]

    def visit_Compare(self, node: ast.Compare) -> Any:
        """``a < b < c`` → as ``a < b and b < c`` with ``b`` evaluated once."""
        tests = self._comparisons(node)
        out = tests[-1]
        for test in reversed(tests[:-1]):
            name = self.temporary()
            out = ast.IfExp(ask("truth", ast.NamedExpr(written(name), test)), out, read(name))
        return out

    def _comparisons(self, node: ast.Compare) -> list[ast.expr]:
        left, tests = self.visit(node.left), []
        for place, (operator, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            new = again = self.visit(right)
            if place < len(node.ops) - 1 and not isinstance(right, ast.Constant):
                name = self.temporary()
                new, again = ast.NamedExpr(written(name), new), read(name)
            tests.append(at(node, ask("compare", constant(OPERATORS[type(operator)]), left, new)))
            left = again
        return tests

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

    def comprehension(self, node: Any, *fields: str) -> ast.expr:
        """Rewrite what a comprehension goes through and what it makes of it; it stays a comprehension."""
        if any(part.is_async for part in node.generators):
            raise unreadable(node, "an asynchronous comprehension")
        through = ask("iterate", self.visit(node.generators[0].iter))
        first, self.first = self.first, ""  # a scope of its own, in which super() has no object
        generators: list[ast.comprehension] = []
        for place, part in enumerate(node.generators):
            values: ast.expr = through if place == 0 else ask("iterate", self.visit(part.iter))
            if place and assigns_names(values):  # not allowed there by Python, but in a condition before it
                name = self.temporary()
                generators[-1].ifs.append(ast.Tuple([ast.NamedExpr(written(name), values)], ast.Load()))
                values = read(name)
            target, carried = self._carried(part.target)
            clauses = [ast.comprehension(target, values, [], 0), *carried]
            clauses[-1].ifs = [self.test(each) for each in part.ifs]
            generators += clauses
        node.generators = generators
        for field in fields:
            setattr(node, field, self.visit(getattr(node, field)))
        self.first = first
        inside = [*(getattr(node, field) for field in fields), *generators[1:], *generators[0].ifs]
        if self._of_class is not None and any(assigns_names(each) for each in inside):
            # Python lets no name be assigned within a comprehension of a class; in a function within the class it does
            generators[0].iter = read("__dpaudit_through__")
            return ast.Call(thunk(node, "__dpaudit_through__"), [through], [])
        if assigns_names(through):
            name = self.temporary()
            generators[0].iter = read(name)
            both = ast.Tuple([ast.NamedExpr(written(name), through), node], ast.Load())
            return ast.Subscript(both, constant(1), ast.Load())
        return node  # type: ignore[no-any-return]

    def _carried(self, target: ast.expr) -> tuple[ast.expr, list[ast.comprehension]]:
        """Return a name for a comprehension to go by, and the clauses that carry it on from there to a target."""
        if isinstance(target, ast.Name):
            return target, []
        name = self.temporary()
        taken: ast.expr
        if isinstance(target, ast.Tuple | ast.List):
            parts = [self._carried(each.value if isinstance(each, ast.Starred) else each) for each in target.elts]
            taken = ask("unpack", read(name), *self.shape(target))
            carried = [ast.comprehension(ast.List([part for part, _ in parts], ast.Store()), taken, [], 0)]
            carried += [clause for _, clauses in parts for clause in clauses]
        else:
            taken = self.put_into(target, read(name))
            carried = [ast.comprehension(written(self.temporary()), taken, [], 0)]
        carried[0].iter = ast.Tuple([at(target, taken)], ast.Load())
        return written(name), carried

    @staticmethod
    def shape(target: Any) -> tuple[ast.Constant, ast.Constant]:
        """Return how many parts a target has, and which of them is starred."""
        stars = [place for place, each in enumerate(target.elts) if isinstance(each, ast.Starred)]
        return constant(len(target.elts)), constant(stars[0] if stars else None)

    def put_into(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """Return the expression that assigns a value to an attribute or an item."""
        if isinstance(target, ast.Attribute):
            owner, name = self.visit(target.value), constant(self.private(target.attr))
            new = ask("set_attribute", keywords=named(value=value, owner=owner, name=name))
        elif isinstance(target, ast.Subscript):
            owner, key = self.visit(target.value), self.visit(target.slice)
            new = ask("set_item", keywords=named(value=value, owner=owner, key=key))
        else:
            raise unreadable(target, "a target that is no name, attribute, item or tuple of them")
        return at(target, new)  # type: ignore[no-any-return]

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        """``[e for x in y]`` → ``domain.new([e for x in domain.iterate(y)])``."""
        return ask("new", self.comprehension(node, "elt"))

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        """A set: its members are keys."""
        new = self.comprehension(node, "elt")
        node.elt = ask("key", node.elt)
        return ask("new", new)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        """A dict: what it goes by are keys."""
        new = self.comprehension(node, "key", "value")
        node.key = ask("key", node.key)
        return ask("new", new)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        """A generator stays one: it is Python that goes on with it."""
        return self.comprehension(node, "elt")

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
        node.args = self.visit(node.args)
        first, self.first = self.first, first_parameter(node.args)
        node.body = self.visit(node.body)
        self.first = first
        return node


def first_parameter(args: ast.arguments) -> str:
    """Return the name of the first parameter, or ""."""
    every = [*args.posonlyargs, *args.args]
    return every[0].arg if every else args.vararg.arg if args.vararg else ""


class Statements(ExpressionRewriter):
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
        """``with a as b`` → ``with domain.enter(a) as b``; several are one within the other."""
        item, *others = node.items
        body = [at(node, ast.With(others, node.body))] if others else node.body
        item.context_expr = at(item.context_expr, ask("enter", self.visit(item.context_expr)))
        after: list[ast.stmt] = []
        if item.optional_vars is not None:
            item.optional_vars, after = self.target(item.optional_vars)
        node.items = [item]
        node.body = [*after, *self.block(body)]
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
        if not isinstance(target, ast.Tuple | ast.List):
            return at(target, [ast.Expr(self.put_into(target, value))])  # type: ignore[no-any-return]
        name = self.temporary()
        out: list[ast.stmt] = [ast.Assign([written(name)], at(target, ask("unpack", value, *self.shape(target))))]
        for place, each in enumerate(target.elts):
            inner = each.value if isinstance(each, ast.Starred) else each
            out += self.stored(inner, ast.Subscript(read(name), constant(place), ast.Load()))
        return at(target, out)  # type: ignore[no-any-return]

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
        """``a: T = v`` → ``a = v``: in a function nothing keeps the annotation, but the name is the function's."""
        if self._of_class is not None:
            return self._kept_annotation(node)
        target = node.target
        if node.value is not None:
            return at(node, self.stored(target, self.visit(node.value)))
        if isinstance(target, ast.Name):
            node.annotation = constant(None)
            return node
        parts = [target.value, target.slice] if isinstance(target, ast.Subscript) else [target.value]
        return [ast.Expr(self.visit(each)) for each in parts]

    def _kept_annotation(self, node: ast.AnnAssign) -> Any:
        value = None if node.value is None else self.visit(node.value)
        annotation = node.annotation if self.lazy else self.visit(node.annotation)
        if isinstance(node.target, ast.Name):
            node.value, node.annotation = value, annotation
            return node
        stored = [] if value is None else self.stored(node.target, value)
        return at(node, stored if self.lazy else [*stored, ast.Expr(annotation)]) or ast.Pass()

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
        new = self.inplace_item(operator, read(owner), ask(get, read(owner), key), value)
        return at(node, [*out, ast.Expr(ask(put, read(owner), key, new))])

    def inplace_item(self, operator: ast.expr, owner: ast.expr, old: ast.expr, value: ast.expr) -> ast.expr:
        """What is stored for ``a[k] += v`` and ``a.b += v``, of what was found there."""
        return ask("inplace", operator, old, value)

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
            elif isinstance(target, ast.Tuple | ast.List):
                out += self.visit_Delete(ast.Delete(target.elts)) if target.elts else [ast.Pass()]
            at(target, out[-1])
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

        return as_tests(node, self)

    def visit_Raise(self, node: ast.Raise) -> Any:
        """``raise E`` → ``raise domain.raised(E)``: a class is called."""
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = at(node, ask("raised", node.exc))
        return node

    def visit_Import(self, node: ast.Import) -> Any:
        """The domain is told which modules a function imports."""
        return [*(ast.Expr(ask("importing", constant(each.name))) for each in node.names), node]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        """The domain is told which modules a function imports."""
        return [ast.Expr(ask("importing", constant(node.module or "."))), node]

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        """Nothing asynchronous is read."""
        raise unreadable(node, "an asynchronous function")

    def visit_AsyncFor(self, node: ast.AST) -> Any:
        """Nothing asynchronous is read."""
        raise unreadable(node, "async")

    visit_AsyncWith: Callable[..., Any] = visit_AsyncFor  # noqa: N815

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """A function within a function: its decorators, defaults and annotations are evaluated by the outer one."""
        self.decorated(node)
        node.args = self.visit(node.args)
        node.returns = node.returns if self.lazy or node.returns is None else self.visit(node.returns)
        return self.inner(node, self.mangled)

    def visit_arg(self, node: ast.arg) -> Any:
        """A parameter: its annotation is evaluated, if Python does."""
        if node.annotation is not None and not self.lazy:
            node.annotation = self.visit(node.annotation)
        return node

    def decorated(self, node: Any) -> None:
        """``@d`` → ``@domain.decorator(d)``: it is called like any other function."""
        node.decorator_list = [at(each, ask("decorator", self.visit(each))) for each in node.decorator_list]

    def inner(self, node: ast.FunctionDef, mangled: str) -> ast.FunctionDef:
        """Return a function with its body rewritten."""
        inside: Statements = self.within(mangled, first_parameter(node.args))
        own = {each.id for each in own_nodes(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        inside.names |= own | {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        return inside.function(node)

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the body of a function."""
        node.body = self.block(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        """A class within a function: Python runs its body, rewritten; its methods are rewritten too."""
        self.decorated(node)
        node.bases = [self.spread_out(self.visit(each)) for each in node.bases]
        for keyword in node.keywords:
            if keyword.arg in ("metaclass", None):
                raise unreadable(node, "a class with a metaclass")
            keyword.value = self.visit(keyword.value)
        inside: Statements = self.within(node.name)
        inside._temporaries, inside._of_class = self._temporaries, []
        doc = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        body = inside.block(node.body[len(doc) :])
        used, self._temporaries = inside._of_class, inside._temporaries
        if not used:
            node.body = [*doc, *body]
            return node
        # what the rewriting needs to remember stands in the function around the class, not in the class
        node.body = [*doc, ast.Nonlocal(list(used)), *body]
        if self._of_class is not None:
            self._of_class += used
            return node
        return [*(ast.Assign([written(name)], constant(None)) for name in used), node]
