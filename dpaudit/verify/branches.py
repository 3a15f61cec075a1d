"""On which branches of the answers alone does a program compute a number, or come to a node?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import ArgmaxNode, CompareNode, Node, argmax_conditions, way_condition


class PartsError(Exception):
    """The branches on data lead to different noise, or to different outputs: the program reads no values."""


@dataclass(frozen=True, slots=True)
class Branches:
    """A tree of branches on the answers alone."""

    # the branch, as the node of a program's tree; None at a leaf
    asked: CompareNode | ArgmaxNode | None = field(default=None, compare=False)
    ways: tuple[tuple[Any, Branches], ...] = ()  # what follows, by the way or the place of the largest; empty at a leaf
    leaf: Any = None  # at a leaf the number of a node, or an expression; None where no run comes
    told: Any = None  # what is asked, to compare branches

    @classmethod
    def of(cls, node: CompareNode | ArgmaxNode, ways: Sequence[tuple[Any, Branches]]) -> Branches:
        """Return a branch; if all ways lead to the same, this."""
        live = {each for _, each in ways if not each.is_dead}
        if len(live) == 1:
            return live.pop()
        told = node.expression if isinstance(node, CompareNode) else node.expressions
        return cls(node, tuple(ways), None, told) if live else cls()

    @property
    def is_dead(self) -> bool:
        """Whether no run comes here."""
        return not self.ways and self.leaf is None

    def leaves(self) -> Iterator[Any]:
        """Yield what the leaves are, in order."""
        if not self.ways and self.leaf is not None:
            yield self.leaf
        for _, each in self.ways:
            yield from each.leaves()

    def mapped(self, function: Callable[[Any], Branches]) -> Branches:
        """Return the tree with every leaf replaced."""
        if not self.ways:
            return self if self.leaf is None else function(self.leaf)
        assert self.asked is not None, "a tree with ways asks for one"
        return Branches.of(self.asked, [(way, each.mapped(function)) for way, each in self.ways])

    def regions(self, above: tuple[Constraint, ...] = ()) -> Iterator[tuple[tuple[Constraint, ...], Any]]:
        """Yield each leaf with the conditions above it."""
        if not self.ways:
            yield above, self.leaf
        for way, each in self.ways:
            yield from each.regions((*above, *branch_conditions(self.asked, way)))


def branch_conditions(node: CompareNode | ArgmaxNode | None, way: Any) -> list[Constraint]:
    """Return the conditions on one way of a branch."""
    if isinstance(node, CompareNode):
        return [way_condition(node.expression, way)]
    assert isinstance(node, ArgmaxNode), "a leaf has no ways"
    return argmax_conditions(node.expressions, way)


def is_of_data(node: Node) -> bool:
    """Whether the answers alone decide which way a node goes."""
    if isinstance(node, CompareNode):
        return not drawn_part(node.expression)
    return isinstance(node, ArgmaxNode) and not any(map(drawn_part, node.expressions))


def drawn_part(expression: Affine) -> dict[str, Any]:
    """Return the part of an expression that is drawn."""
    return {name: number for name, number in expression.terms.items() if name.startswith("h")}


def known_part(expression: Affine) -> Affine:
    """Return the part of an expression that is known before any draw."""
    terms = {name: number for name, number in expression.terms.items() if not name.startswith("h")}
    return Affine(terms, expression.constant)
