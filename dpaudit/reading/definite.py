"""Which names may be read before they are bound? Those for which Python's control flow does not rule it out."""

from __future__ import annotations

import ast
from collections.abc import Iterable


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
