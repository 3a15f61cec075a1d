"""Which tree is left of a program if its branches on answers alone become values?

All ways through such branches are read at once. They have to draw the same noise, and to compare and release it in the
same way; what differs between them is a number that the answers alone decide, and is read as one value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.program.symbolic.linear import Affine, Constraint, contradiction, spend
from dpaudit.program.symbolic.tree import (
    NOT_READ,
    ArgmaxNode,
    CompareNode,
    DeadNode,
    DrawNode,
    LeafNode,
    Node,
    NoiseDraw,
    Output,
    ProgramPath,
    ProgramTree,
    Way,
    argmax_conditions,
    continuous_names,
    supports,
    way_condition,
)
from dpaudit.verify.branches import Branches, PartsError, drawn_part, is_of_data, known_part


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the tree of values that is still to be read: where the program may be, and what is above."""

    here: Branches
    parent: int | None
    way: Any
    conditions: tuple[Constraint, ...]
    draws: tuple[NoiseDraw, ...]


class ValueTree:
    """The tree of values of a program, as it is taken from its tree."""

    def __init__(self, tree: ProgramTree) -> None:
        self.tree = tree
        self.nodes: list[Node] = []
        self.leaves: list[ProgramPath] = []
        self.values: list[Branches] = []
        self._numbers: dict[Branches, int] = {}

    def read(self) -> None:
        """Read the program, all its branches on data at once."""
        pending = [_Place(self._from(0), None, None, (), ())]
        while pending:
            spend()
            place = pending.pop()
            number = len(self.nodes)
            if place.parent is not None:
                self._link(place.parent, place.way, number)
            pending += reversed(self._node(place, number))

    def _from(self, number: int) -> Branches:
        """Return where the program may be, given that it has come to a node: behind all branches on data."""
        node = self.tree.nodes[number]
        if isinstance(node, DeadNode):
            return Branches()
        if isinstance(node, CompareNode) and is_of_data(node):
            return Branches.of(node, [(way, self._from(then)) for way, then in node.ways.items()])
        if isinstance(node, ArgmaxNode) and is_of_data(node):
            return Branches.of(node, [(way, self._from(then)) for way, then in enumerate(node.then)])
        return Branches(leaf=number)

    def _link(self, parent: int, way: Any, child: int) -> None:
        node = self.nodes[parent]
        if isinstance(node, DrawNode):
            node.then = child
        elif isinstance(node, CompareNode):
            node.ways[way] = child
        elif isinstance(node, ArgmaxNode):
            node.then[way] = child

    def _node(self, place: _Place, number: int) -> list[_Place]:
        """Add the node of a place, and return the places below it."""
        here, draws = place.here, place.draws
        found = [self.tree.nodes[each] for each in here.leaves()]
        if not found:
            reason = contradiction([*place.conditions, *supports(draws)], continuous_names(draws))
            if reason is None:
                raise PartsError
            self.nodes.append(DeadNode(reason))
            return []
        if len({type(each) for each in found}) > 1:
            raise PartsError
        first = found[0]
        if isinstance(first, LeafNode):
            self._leaf(place, number, [each.leaf for each in found if isinstance(each, LeafNode)])
            return []
        if isinstance(first, DrawNode):
            if any(not isinstance(each, DrawNode) or each.draw != first.draw for each in found):
                raise PartsError
            self.nodes.append(DrawNode(first.draw))
            below = here.mapped(lambda each: self._from(self._then(each)))
            return [_Place(below, number, None, place.conditions, (*draws, first.draw))]
        if isinstance(first, CompareNode):
            ways: list[Way] = list(first.ways)
            if any(not isinstance(each, CompareNode) or list(each.ways) != ways for each in found):
                raise PartsError
            asked = self._expression(here, lambda each: self._compare(each).expression)
            self.nodes.append(CompareNode(asked, dict.fromkeys(ways, NOT_READ)))
            return [
                _Place(
                    here.mapped(lambda each, way=way: self._from(self._compare(each).ways[way])),  # type: ignore[misc]
                    number,
                    way,
                    (*place.conditions, way_condition(asked, way)),
                    draws,
                )
                for way in ways
            ]
        return self._argmax(place, number, [each for each in found if isinstance(each, ArgmaxNode)])

    def _then(self, number: int) -> int:
        node = self.tree.nodes[number]
        assert isinstance(node, DrawNode), "all nodes here are draws"
        return node.then

    def _compare(self, number: int) -> CompareNode:
        node = self.tree.nodes[number]
        assert isinstance(node, CompareNode), "all nodes here compare"
        return node

    def _argmax(self, place: _Place, number: int, found: Sequence[ArgmaxNode]) -> list[_Place]:
        count = len(found[0].expressions)
        if any(len(each.expressions) != count for each in found):
            raise PartsError

        def at(each: int) -> ArgmaxNode:
            node = self.tree.nodes[each]
            assert isinstance(node, ArgmaxNode), "all nodes here choose"
            return node

        asked = tuple(
            self._expression(place.here, lambda each, way=way: at(each).expressions[way])  # type: ignore[misc]
            for way in range(count)
        )
        self.nodes.append(ArgmaxNode(asked, [NOT_READ] * count))
        return [
            _Place(
                place.here.mapped(lambda each, way=way: self._from(at(each).then[way])),  # type: ignore[misc]
                number,
                way,
                (*place.conditions, *argmax_conditions(asked, way)),
                place.draws,
            )
            for way in range(count)
        ]

    def _leaf(self, place: _Place, number: int, found: Sequence[ProgramPath]) -> None:
        if len({each.is_null for each in found}) > 1:
            raise PartsError
        output: Output = ("none",)
        if not found[0].is_null:
            by_node = {each.node: each.output for each in found}
            output = self._output(place.here, by_node)
        leaf = ProgramPath(number, place.conditions, place.draws, output, found[0].is_null)
        self.nodes.append(LeafNode(leaf))
        self.leaves.append(leaf)

    def _output(self, here: Branches, outputs: Mapping[int, Any]) -> Any:
        """Return the output of a leaf, with values in the places of what differs between branches."""
        first = next(iter(outputs.values()))
        if isinstance(first, Affine):
            if not all(isinstance(each, Affine) for each in outputs.values()):
                raise PartsError
            return self._expression(here, outputs.__getitem__)
        if isinstance(first, tuple):
            if any(not isinstance(each, tuple) or len(each) != len(first) for each in outputs.values()):
                raise PartsError
            return tuple(
                self._output(here, {node: each[place] for node, each in outputs.items()}) for place in range(len(first))
            )
        if any(type(each) is not type(first) or each != first for each in outputs.values()):
            raise PartsError
        return first

    def _expression(self, here: Branches, at: Callable[[int], Affine]) -> Affine:
        """Return an expression over values and draws that is the program's on every branch."""
        drawn = [drawn_part(at(node)) for node in here.leaves()]
        if any(each != drawn[0] for each in drawn):
            raise PartsError
        known = here.mapped(lambda node: Branches(leaf=known_part(at(node))))
        anyone = next((each for each in known.leaves() if each.terms), None)
        if anyone is None and not known.ways:
            return Affine(drawn[0], known.leaf.constant)
        # the same value up to a factor and a constant is one value
        factor, constant = Fraction(1), known.leaf.constant if not known.ways else Fraction(0)
        if anyone is not None:
            factor, constant = Fraction(anyone.terms[min(anyone.terms)]), anyone.constant
        plain = known.mapped(lambda one: Branches(leaf=(one - Affine({}, constant)).times(1 / Fraction(factor))))
        number = self._numbers.setdefault(plain, len(self.values))
        if number == len(self.values):
            self.values.append(plain)
        return Affine({**drawn[0], f"q{number}": factor}, constant)

    def scaled(self, units: Sequence[Fraction]) -> ProgramTree:
        """Return the tree over values in these units."""

        def over(one: Affine) -> Affine:
            terms = {name: n * units[int(name[1:])] if name[0] == "q" else n for name, n in one.terms.items()}
            return Affine(terms, one.constant)

        def output(given: Any) -> Any:
            if isinstance(given, Affine):
                return over(given)
            return tuple(map(output, given)) if isinstance(given, tuple) else given

        leaves = tuple(
            ProgramPath(
                each.node,
                tuple(Constraint(over(one.expression), one.sign) for one in each.conditions),
                each.draws,
                output(each.output),
                each.is_null,
            )
            for each in self.leaves
        )
        by_node = {each.node: each for each in leaves}
        nodes: list[Node] = []
        for number, node in enumerate(self.nodes):
            if isinstance(node, CompareNode):
                nodes.append(CompareNode(over(node.expression), node.ways))
            elif isinstance(node, ArgmaxNode):
                nodes.append(ArgmaxNode(tuple(map(over, node.expressions)), node.then))
            else:
                nodes.append(LeafNode(by_node[number]) if isinstance(node, LeafNode) else node)
        return ProgramTree(tuple(nodes), leaves)
