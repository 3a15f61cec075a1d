"""Which tests does a pattern of ``match`` stand for?

PEP 634, in the forms of which every test can be asked of a domain: values, names, alternatives without names,
sequences, mappings and classes. What a pattern binds is bound after the whole pattern has matched.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from dpaudit.reading.rewrite import ask, constant, read, unreadable, written

_SEQUENCES, _MAPPINGS = "__dpaudit__.match_sequence", "__dpaudit__.match_mapping"


def as_tests(node: ast.Match, temporary: Callable[[], str]) -> list[ast.stmt]:
    """Return ``if`` statements, not yet rewritten, that do what a ``match`` does.

    Args:
        node: the statement.
        temporary: makes names that the function does not use.
    """
    subject = temporary()
    out: list[ast.stmt] = []
    for case in reversed(node.cases):
        bound: list[tuple[str, ast.expr]] = []
        tests = _tests(case.pattern, read(subject), bound, temporary)
        body = [*(ast.Assign([written(name)], value) for name, value in bound), *case.body]
        if case.guard is not None:
            if out and bound:
                raise unreadable(case.pattern, "a case with a guard and names, before other cases")
            if not bound:
                tests.append(case.guard)
            else:
                body = [*body[: len(bound)], ast.If(case.guard, case.body, [])]
        test: ast.expr = constant(True) if not tests else tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        out = [ast.If(test, body, out)]
    return [ast.Assign([written(subject)], node.subject), *out]


def _tests(
    pattern: ast.pattern, subject: ast.expr, bound: list[tuple[str, ast.expr]], temporary: Callable[[], str]
) -> list[ast.expr]:
    """Return the tests that a pattern makes, in their order; the names that it binds are added to ``bound``."""
    if isinstance(pattern, ast.MatchValue):
        return [ast.Compare(subject, [ast.Eq()], [pattern.value])]
    if isinstance(pattern, ast.MatchSingleton):
        return [ast.Compare(subject, [ast.Is()], [constant(pattern.value)])]
    if isinstance(pattern, ast.MatchAs):
        tests = [] if pattern.pattern is None else _tests(pattern.pattern, subject, bound, temporary)
        if pattern.name is not None:
            bound.append((pattern.name, subject))
        return tests
    if isinstance(pattern, ast.MatchOr):
        arms: list[ast.expr] = []
        for each in pattern.patterns:
            inner: list[tuple[str, ast.expr]] = []
            tests = _tests(each, subject, inner, temporary)
            if inner:
                raise unreadable(pattern, "alternatives that bind names")
            arms.append(constant(True) if not tests else tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests))
        return [ast.BoolOp(ast.Or(), arms)]
    name = temporary()
    if isinstance(pattern, ast.MatchSequence):
        star = next((k for k, each in enumerate(pattern.patterns) if isinstance(each, ast.MatchStar)), None)
        taken = ask("match_sequence", subject, constant(len(pattern.patterns)), constant(star))
        parts = [ast.MatchAs(None, each.name) if isinstance(each, ast.MatchStar) else each for each in pattern.patterns]
    elif isinstance(pattern, ast.MatchMapping):
        if pattern.rest is not None:
            raise unreadable(pattern, "a pattern with **rest")
        taken = ask("match_mapping", subject, ast.Tuple(list(pattern.keys), ast.Load()))
        parts = list(pattern.patterns)
    elif isinstance(pattern, ast.MatchClass):
        names = ast.Tuple([constant(each) for each in pattern.kwd_attrs], ast.Load())
        taken = ask("match_class", subject, pattern.cls, constant(len(pattern.patterns)), names)
        parts = [*pattern.patterns, *pattern.kwd_patterns]
    else:
        raise unreadable(pattern, f"a pattern {type(pattern).__name__}")
    tests = [ast.Compare(ast.NamedExpr(written(name), taken), [ast.IsNot()], [constant(None)])]
    for place, each in enumerate(parts):
        tests += _tests(each, ast.Subscript(read(name), constant(place), ast.Load()), bound, temporary)
    return tests
