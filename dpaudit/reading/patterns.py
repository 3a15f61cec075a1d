"""Which tests does a pattern of ``match`` stand for?

PEP 634: every test is asked of a domain, in Python's order. What a pattern binds is bound after the whole pattern has
matched, and before its guard is asked; until then it is kept under names of the rewriting.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from dpaudit.reading.rewrite import ask, at, constant, read, unreadable, written

if TYPE_CHECKING:
    from dpaudit.reading.rewrite import Statements


def as_tests(node: ast.Match, rewriter: Statements) -> list[ast.stmt]:
    """Return the rewritten ``if`` statements that do what a ``match`` does."""
    subject = rewriter.temporary()
    start = ast.Assign([written(subject)], rewriter.visit(node.subject))
    out: list[ast.stmt] = []
    cases: list[ast.If] = []
    for case in node.cases:
        pattern = _Pattern(rewriter)
        tests = pattern.tests(case.pattern, read(subject))
        if pattern.kept:
            bound = [ast.NamedExpr(written(name), value) for name, value in pattern.kept.items()]
            tests.append(at(case.pattern, ast.Tuple(list(bound), ast.Load())))
        if case.guard is not None:
            tests.append(rewriter.test(case.guard))
        cases.append(at(case.pattern, ast.If(_all(tests), rewriter.block(case.body), [])))
    for each in reversed(cases):
        each.orelse, out = out, [each]
    return [at(node, start), *out]


def _all(tests: list[ast.expr]) -> ast.expr:
    return constant(True) if not tests else tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)


class _Pattern:
    """One case: what it keeps for its names, until all of it has matched."""

    def __init__(self, rewriter: Statements) -> None:
        self._rewriter = rewriter
        self.kept: dict[str, ast.expr] = {}

    def tests(self, pattern: ast.pattern, subject: ast.expr) -> list[ast.expr]:
        """Return the tests that a pattern makes, in their order; what it keeps is a tuple, which is true."""
        return [at(pattern, each) for each in self._tests(pattern, subject)]

    def _tests(self, pattern: ast.pattern, subject: ast.expr) -> list[ast.expr]:
        if isinstance(pattern, ast.MatchValue):
            equal = ask("compare", constant("eq"), subject, self._rewriter.visit(pattern.value))
            return [ask("truth", at(pattern, equal))]
        if isinstance(pattern, ast.MatchSingleton):
            return [ask("truth", ask("compare", constant("is_"), subject, constant(pattern.value)))]
        if isinstance(pattern, ast.MatchAs):
            tests = [] if pattern.pattern is None else self.tests(pattern.pattern, subject)
            return tests if pattern.name is None else [*tests, self._keep(pattern.name, subject)]
        if isinstance(pattern, ast.MatchOr):
            return [ast.BoolOp(ast.Or(), [_all(self.tests(each, subject)) for each in pattern.patterns])]
        if isinstance(pattern, ast.MatchSequence):
            return self._sequence(pattern, subject)
        if isinstance(pattern, ast.MatchMapping):
            keys = [self._rewriter.visit(each) for each in pattern.keys]
            parts: list[Any] = [*pattern.patterns, ast.MatchAs(None, pattern.rest)]
            asked = ast.Tuple(keys, ast.Load()), constant(pattern.rest is not None)
            return self._parts(ask("match_mapping", subject, *asked), parts, pattern)
        if isinstance(pattern, ast.MatchClass):
            names = ast.Tuple([constant(each) for each in pattern.kwd_attrs], ast.Load())
            kind = self._rewriter.visit(pattern.cls)
            taken = ask("match_class", subject, kind, constant(len(pattern.patterns)), names)
            return self._parts(taken, [*pattern.patterns, *pattern.kwd_patterns], pattern)
        raise unreadable(pattern, f"a pattern {type(pattern).__name__}")

    def _sequence(self, pattern: ast.MatchSequence, subject: ast.expr) -> list[ast.expr]:
        star = next((k for k, each in enumerate(pattern.patterns) if isinstance(each, ast.MatchStar)), None)
        parts = [ast.MatchAs(None, each.name) if isinstance(each, ast.MatchStar) else each for each in pattern.patterns]
        wanted = [place for place, each in enumerate(parts) if not _takes_anything(each)]
        # as Python does, which unpacks all unless it needs nothing, or leaves a star without a name
        unpacked = bool(wanted) and (star is None or star in wanted)
        taken = ask("match_sequence", subject, constant(len(parts)), constant(star), constant(unpacked))
        if unpacked:
            return self._parts(taken, parts, pattern)
        tests: list[ast.expr] = [ast.Compare(at(pattern, taken), [ast.IsNot()], [constant(None)])]
        for place in wanted:
            name = self._rewriter.temporary()
            behind = star is not None and place > star
            part = ask("match_item", subject, constant(place - len(parts) if behind else place))
            tests.append(ast.Tuple([ast.NamedExpr(written(name), at(pattern, part))], ast.Load()))
            tests += self.tests(parts[place], read(name))
        return tests

    def _parts(self, taken: ast.expr, patterns: list[Any], pattern: ast.pattern) -> list[ast.expr]:
        name = self._rewriter.temporary()
        tests: list[ast.expr] = [
            ast.Compare(ast.NamedExpr(written(name), at(pattern, taken)), [ast.IsNot()], [constant(None)])
        ]
        for place, each in enumerate(patterns):
            tests += self.tests(at(pattern, each), ast.Subscript(read(name), constant(place), ast.Load()))
        return tests

    def _keep(self, name: str, value: ast.expr) -> ast.expr:
        if name not in self.kept:
            self.kept[name] = read(self._rewriter.temporary())
        kept = self.kept[name]
        assert isinstance(kept, ast.Name)
        return ast.Tuple([ast.NamedExpr(written(kept.id), value)], ast.Load())


def _takes_anything(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None
