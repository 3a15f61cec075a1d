"""Mistakes of a rewriting that a conformance kit has to notice, each alone: domains that are wrong on purpose."""

from __future__ import annotations

import ast
import copy
import itertools
import types
from typing import Any

from dpaudit.reading import dispatch, patterns
from dpaudit.reading.python import IN_PLACE, OPERATION, Python
from dpaudit.reading.rewrite import Statements, ask, at, constant

MISTAKES: dict[str, type[Python]] = {}


def _domain(mistake: str, **changed: Any) -> None:
    MISTAKES[mistake] = type("Wrong", (Python,), changed)


def _rewriting(mistake: str, **changed: Any) -> None:
    _domain(mistake, rewriter=type("WrongStatements", (Statements,), changed))


# --- expressions ---


def _swapped(self, node):
    node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    return Statements.visit_BoolOp(self, node)


def _eager(self, node):
    first, *rest = node.values
    taken = ast.Subscript(
        ast.Tuple([first, ast.BoolOp(node.op, rest) if rest[1:] else rest[0]], ast.Load()), constant(0)
    )
    taken.ctx = ast.Load()
    return Statements.visit_BoolOp(self, at(node, ast.BoolOp(node.op, [at(node, taken), node.values[-1]])))


def _middle_twice(self, node):
    if len(node.ops) == 1:
        return Statements.visit_Compare(self, node)
    places = [node.left, *node.comparators]
    pairs = [at(node, ast.Compare(places[k], [op], [places[k + 1]])) for k, op in enumerate(node.ops)]
    return self.visit(at(node, ast.BoolOp(ast.And(), copy.deepcopy(pairs))))


def _not_of_value(self, node):
    return self.visit(node.operand) if isinstance(node.op, ast.Not) else Statements.visit_UnaryOp(self, node)


_rewriting("or does what and does", visit_BoolOp=_swapped)
_rewriting("and evaluates all of its operands", visit_BoolOp=_eager)
_rewriting("a chain of comparisons evaluates its middle twice", visit_Compare=_middle_twice)
_rewriting("not is lost", visit_UnaryOp=_not_of_value)
_rewriting(
    "a condition is asked for its truth twice", test=lambda s, n: at(n, ask("truth", at(n, ask("truth", s.visit(n)))))
)
_rewriting("a generator is a list", visit_GeneratorExp=lambda s, n: s.visit(at(n, ast.ListComp(n.elt, n.generators))))
_rewriting(
    "conversions of texts are lost",
    visit_FormattedValue=lambda s, n: ask("format", s.visit(n.value), constant(-1), constant("")),
)
_rewriting("private names are not changed", private=lambda s, name: name)
_rewriting("what is assigned within an expression is lost", visit_NamedExpr=lambda s, n: s.visit(n.value))
_rewriting("keys are evaluated after values", visit_Dict=lambda s, n: at(n, ask("new", at(n, ast.DictComp(
    ast.Name("k", ast.Load()), ast.Name("v", ast.Load()), [ast.comprehension(
        ast.Tuple([ast.Name("v", ast.Store()), ast.Name("k", ast.Store())], ast.Store()),
        ast.List([ast.Tuple([s.visit(v), s.visit(k)], ast.Load()) for k, v in zip(n.keys, n.values)], ast.Load()), [], 0)])))
) if all(n.keys) else Statements.visit_Dict(s, n))  # fmt: skip


# --- statements ---


def _owner_first(self, target, value):
    new = Statements.put_into(self, target, value)
    new.keywords = [*new.keywords[1:], new.keywords[0]]
    return new


def _value_first(self, node):
    if isinstance(node.target, ast.Name):
        name = self.temporary()
        kept = at(node, ast.Assign([ast.Name(name, ast.Store())], self.visit(node.value)))
        node.value = ast.Name(name, ast.Load())
        return [kept, *Statements.visit_AugAssign(self, node)]
    return Statements.visit_AugAssign(self, node)


def _else_always(self, node):
    orelse, node.orelse = node.orelse, []
    return [Statements.visit_For(self, node), *self.block(orelse)]


def _finally_as_else(self, node):
    if node.handlers and not node.orelse:
        node.orelse, node.finalbody = node.finalbody, []
    return Statements.visit_Try(self, node)


def _catches_all(self, node):
    for handler in node.handlers[:1]:
        handler.type = at(handler, ast.Name("Exception", ast.Load()))
    return Statements.visit_Try(self, node)


def _without_cause(self, node):
    node.cause = None
    return Statements.visit_Raise(self, node)


def _first_decorator_last(self, node):
    node.decorator_list.reverse()
    Statements.decorated(self, node)


def _kept(self, node):
    rest = [each for each in node.targets if not isinstance(each, ast.Name)]
    return Statements.visit_Delete(self, at(node, ast.Delete(rest))) if rest else ast.Pass()


def _without_guard(self, node):
    for case in node.cases:
        case.guard = None
    return Statements.visit_Match(self, node)


def _bound_at_once(self, node):
    found = patterns._Pattern._keep
    patterns._Pattern._keep = lambda pattern, name, value: ast.Tuple(
        [ast.NamedExpr(ast.Name(name, ast.Store()), value)], ast.Load()
    )
    try:
        return Statements.visit_Match(self, node)
    finally:
        patterns._Pattern._keep = found


def _one_line(self, node):
    new = Statements.function(self, node)
    for each in ast.walk(new):
        if hasattr(each, "lineno"):
            each.lineno = each.end_lineno = new.lineno
            each.col_offset = each.end_col_offset = 0
    return new


def _last_target_first(self, node):
    node.targets.reverse()
    return Statements.visit_Assign(self, node)


def _local_by_annotation(self, node):
    return ast.Pass() if node.value is None and self._of_class is None else Statements.visit_AnnAssign(self, node)


_rewriting("an item's owner is evaluated before its value", put_into=_owner_first)
_rewriting("an augmented assignment evaluates its value first", visit_AugAssign=_value_first)
_rewriting("else of a loop is always run", visit_For=_else_always)
_rewriting("finally is run only where nothing is raised", visit_Try=_finally_as_else)
_rewriting("the first handler catches everything", visit_Try=_catches_all)
_rewriting("raise loses its cause", visit_Raise=_without_cause)
_rewriting("decorators are called from top to bottom", decorated=_first_decorator_last)
_rewriting("a name that is deleted is kept", visit_Delete=_kept)
_rewriting("guards are not asked", visit_Match=_without_guard)
_rewriting("names of a pattern are bound before it has matched", visit_Match=_bound_at_once)
_rewriting("all is said to be in the first line", function=_one_line)
_rewriting("targets are assigned from right to left", visit_Assign=_last_target_first)
_rewriting("an annotated name stays global", visit_AnnAssign=_local_by_annotation)
_rewriting("annotations are lost", visit_arg=lambda s, n: ast.arg(n.arg))


# --- functions, classes, calls ---


def _copied_closure(self, function):
    twin = Python.twin(self, function)
    if twin is function:
        return twin
    cells = []
    for name, cell in zip(twin.__code__.co_freevars, twin.__closure__ or (), strict=True):
        try:
            cells.append(types.CellType(cell.cell_contents) if name != "__dpaudit__" else cell)
        except ValueError:
            cells.append(cell)
    made = types.FunctionType(twin.__code__, twin.__globals__, twin.__name__, twin.__defaults__, tuple(cells))
    made.__kwdefaults__, made.__qualname__ = twin.__kwdefaults__, twin.__qualname__
    return made


def _copied_defaults(self, function):
    twin = Python.twin(self, function)
    twin.__defaults__ = copy.deepcopy(function.__defaults__)
    return twin


def _made_without_new(self, kind, /, *args, **keywords):
    made = object.__new__(kind)
    made.__init__(*args, **keywords)
    return made


def _forward_only(self, name, left, right):
    method = dispatch.method(left, f"__{name.strip('_')}__")
    return OPERATION[name](left, right) if method is None else self.call(method, right)


_domain("closures are copied", twin=_copied_closure)
_domain("defaults are made for each call", twin=_copied_defaults)
_domain("classes are made without __new__", construct=_made_without_new)
_domain("the right operand is never asked", binary=_forward_only)
_domain("in place makes something new", inplace=lambda s, name, target, value: s.binary(name, target, value))
_domain(
    "in place changes what cannot be changed",
    inplace=lambda s, name, t, v: IN_PLACE[name](list(t) if type(t) is tuple else t, v),
)
_domain("truth is that of the length", truth=lambda s, v: bool(len(v)) if hasattr(v, "__len__") else bool(v))
_domain("loops go through a copy", iterate=lambda s, v: list(itertools.islice(Python.iterate(s, v), 1000)))
_domain(
    "the starred part is a tuple",
    unpack=lambda s, v, c, star: tuple(
        tuple(p) if k == star else p for k, p in enumerate(Python.unpack(s, v, c, star))
    ),
)
_domain("slices lose their step", slice=lambda s, *parts: slice(*parts[:2]))
_domain(
    "is compares values",
    compare=lambda s, name, a, b: Python.compare(s, {"is_": "eq", "is_not": "ne"}.get(name, name), a, b),
)
_domain(
    "repeated keywords are taken",
    spread=lambda s, f, args, pairs: s.call(
        f, *s.iterate(args), **{k: v for n, p in pairs for k, v in ([(n, p)] if n else dict(p).items())}
    ),
)
_domain("managers swallow everything", enter=lambda s, m: _Swallowing(m))
_domain("attributes that are missing are None", attribute=lambda s, o, n: getattr(o, n, None))


class _Swallowing:
    def __init__(self, manager):
        self.manager = manager

    def __enter__(self):
        return self.manager.__enter__()

    def __exit__(self, *what):
        self.manager.__exit__(*what)
        return True


def _past_the_property(self, owner, name, value):
    if dispatch.setter(owner, name) is None:
        Python.set_attribute(self, owner, name, value)
    else:
        vars(owner)[name] = value


_domain("attributes are set past their property", set_attribute=_past_the_property)
