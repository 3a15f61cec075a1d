"""What does a program compute of its answers before noise is added, and how far do neighbours move that?

``abs(x)``, ``max(data)``, a median, a clip and a branch on data lead to other paths on the neighbour, so that no shift
keeps a path. But where all ways through such branches draw the same noise and compare and release it in the same way,
the program is one tree that reads *values*: numbers that branches on the answers alone compute. A value may be computed
on two different branches for two neighbours, and its movement is bounded for every pair of them (Farina, Chong &
Gaboardi 2017, relational symbolic execution). The tree of values is then aligned like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, contradiction, spend
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
from dpaudit.verify.alignment import Alignment, Branches, PartsError, align, drawn_part, is_of_data, known_part
from dpaudit.verify.differences import FloatLinearProgram, is_summed

# --- Which tree is left of a program if its branches on answers alone become values? ---
#
# All ways through such branches are read at once. They have to draw the same noise, and to compare and release it in
# the same way; what differs between them is a number that the answers alone decide, and is read as one value.


@dataclass(frozen=True, slots=True)
class _TreePlace:
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
        pending = [_TreePlace(self._from(0), None, None, (), ())]
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

    def _node(self, place: _TreePlace, number: int) -> list[_TreePlace]:
        """Add the node of a place, and return the places below it."""
        here, draws = place.here, place.draws
        nodes = [self.tree.nodes[each] for each in here.leaves()]
        if not nodes:
            reason = contradiction([*place.conditions, *supports(draws)], continuous_names(draws))
            if reason is None:
                raise PartsError
            self.nodes.append(DeadNode(reason))
            return []
        if len({type(each) for each in nodes}) > 1:
            raise PartsError
        first = nodes[0]
        if isinstance(first, LeafNode):
            self._leaf(place, number, [each.leaf for each in nodes if isinstance(each, LeafNode)])
            return []
        if isinstance(first, DrawNode):
            if any(not isinstance(each, DrawNode) or each.draw != first.draw for each in nodes):
                raise PartsError
            self.nodes.append(DrawNode(first.draw))
            below = here.mapped(lambda each: self._from(self._then(each)))
            return [_TreePlace(below, number, None, place.conditions, (*draws, first.draw))]
        if isinstance(first, CompareNode):
            ways: list[Way] = list(first.ways)
            if any(not isinstance(each, CompareNode) or list(each.ways) != ways for each in nodes):
                raise PartsError
            asked = self._expression(here, lambda each: self._compare(each).expression)
            self.nodes.append(CompareNode(asked, dict.fromkeys(ways, NOT_READ)))
            return [
                _TreePlace(
                    here.mapped(lambda each, way=way: self._from(self._compare(each).ways[way])),  # type: ignore[misc]
                    number,
                    way,
                    (*place.conditions, way_condition(asked, way)),
                    draws,
                )
                for way in ways
            ]
        return self._argmax(place, number, [each for each in nodes if isinstance(each, ArgmaxNode)])

    def _then(self, number: int) -> int:
        node = self.tree.nodes[number]
        assert isinstance(node, DrawNode), "all nodes here are draws"
        return node.then

    def _compare(self, number: int) -> CompareNode:
        node = self.tree.nodes[number]
        assert isinstance(node, CompareNode), "all nodes here compare"
        return node

    def _argmax(self, place: _TreePlace, number: int, nodes: Sequence[ArgmaxNode]) -> list[_TreePlace]:
        count = len(nodes[0].expressions)
        if any(len(each.expressions) != count for each in nodes):
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
            _TreePlace(
                place.here.mapped(lambda each, way=way: self._from(at(each).then[way])),  # type: ignore[misc]
                number,
                way,
                (*place.conditions, *argmax_conditions(asked, way)),
                place.draws,
            )
            for way in range(count)
        ]

    def _leaf(self, place: _TreePlace, number: int, paths: Sequence[ProgramPath]) -> None:
        if len({each.is_null for each in paths}) > 1:
            raise PartsError
        output: Output = ("none",)
        if not paths[0].is_null:
            by_node = {each.node: each.output for each in paths}
            output = self._output(place.here, by_node)
        leaf = ProgramPath(number, place.conditions, place.draws, output, paths[0].is_null)
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


# --- What does a program compute of its answers before noise is added, and how far do neighbours move that? ---

MOST_REASONS = 4_100  # of all values, one for every pair of leaves of each, so that they are found within seconds
MOST_SLOPE_REASONS = 10_000  # where a value has a slope for each query; these are found faster
_LEAST_RISE = 1e-6  # of a movement that turned out larger; less is rounding, or no progress
_DENOMINATOR = 10_000  # a movement is rounded to a fraction at most this fine


@dataclass(frozen=True, slots=True)
class Slope:
    """By how much a query that moves by 1 moves a value at most, and why, for each pair of leaves."""

    query: str
    slope: Fraction
    up: tuple[Farkas, ...]
    down: tuple[Farkas, ...]


@dataclass(frozen=True, slots=True)
class AnswerValue:
    """A number that is computed of the answers, in units in which neighbours move it by at most 1."""

    tree: Branches  # the branches that compute it; its leaves are expressions
    pairs: tuple[Farkas, ...] = ()  # for each pair of leaves, why it moves by at most 1; empty where slopes are given
    slopes: tuple[Slope, ...] = ()  # for each query that it depends on


@dataclass(frozen=True, slots=True)
class AnswerTree:
    """A program as a tree that reads values."""

    found: tuple[AnswerValue, ...]  # the values; number k is the query ``qk`` of the tree
    tree: ProgramTree  # the program, from the values on
    relation: Relation  # how neighbours move the values
    alignment: Alignment  # of the tree, under this relation


def branches_on_data(tree: ProgramTree) -> bool:
    """Whether a program has a branch on answers alone."""
    return any(is_of_data(node) for node in tree.nodes)


def align_values(tree: ProgramTree, relation: Relation, length: int, *, integer: bool = False) -> AnswerTree | None:
    """Return the program as a tree of values, aligned; None if there is no such tree, or no bound of it."""
    try:
        taken = ValueTree(tree)
        taken.read()
        if not taken.values:
            return None
        summed = _summed(taken.values) if is_summed(relation) else None
        values, units = summed or _boxed(taken.values, relation, length)
    except PartsError:
        return None
    if integer and any(draw.is_discrete for leaf in taken.leaves for draw in leaf.draws):
        numbers = [
            one for value in values for leaf in value.tree.leaves() for one in (leaf.constant, *leaf.terms.values())
        ]
        if any(Fraction(one).denominator != 1 for one in numbers):
            return None
    scaled = taken.scaled(units)
    how = Relation("queries") if summed is None else Relation("queries", "norm=1", relation.group)
    return AnswerTree(values, scaled, how, align(scaled, how, len(values)))


# --- how far values move ------------------------------------------------------------------------------------

_Leaf = tuple[tuple[Constraint, ...], Affine]


def _leaves_of(tree: Branches) -> list[_Leaf]:
    """Return the leaves of a value; raise if data alone do not show that a way is dead."""
    leaves: list[_Leaf] = []
    for conditions, leaf in tree.regions():
        if leaf is not None:
            leaves.append((conditions, leaf))
        elif contradiction(conditions) is None:
            raise PartsError
    return leaves


def _boxed(
    trees: Sequence[Branches], relation: Relation, length: int
) -> tuple[tuple[AnswerValue, ...], list[Fraction]]:
    """Return the values where every answer may move, each in units of its own movement."""
    group = relation.group
    if sum(len(list(tree.leaves())) ** 2 for tree in trees) > MOST_REASONS:
        raise PartsError
    values: list[AnswerValue] = []
    units: list[Fraction] = []
    moved = {f"q{number}": f"s{number}" for number in range(length)}
    box = [Constraint(Affine({f"s{number}": sign}, group), ">=") for number in range(length) for sign in (1, -1)]
    for tree in trees:
        # how far a value moves on one leaf, or between two if it is constant on all: mostly how far it moves
        leaves = _leaves_of(tree)
        steepest = max(sum((abs(Fraction(n)) for n in one.terms.values()), Fraction(0)) for _, one in leaves)
        constants = [Fraction(one.constant) for _, one in leaves]
        unit = steepest * group or max(constants) - min(constants) or Fraction(1)
        reasons: list[Farkas] | float = 0.0
        while not isinstance(reasons, list):
            scaled = _over(tree, unit)
            reasons = _reasons(_leaves_of(scaled), moved, box)
            if not isinstance(reasons, list):
                unit *= Fraction(reasons).limit_denominator(_DENOMINATOR)
        values.append(AnswerValue(scaled, tuple(reasons)))
        units.append(unit)
    return tuple(values), units


def _reasons(leaves: Sequence[_Leaf], moved: Mapping[str, str], box: Sequence[Constraint]) -> list[Farkas] | float:
    """Return for each pair of leaves why a value moves by at most 1, or a movement that is larger."""
    reasons: list[Farkas] = []
    for one in leaves:
        for other in leaves:
            known, apart = _known_of_both(one, other, moved)
            reason = _reason(known, box, Constraint(apart - Affine({}, 1), ">"))
            if reason is None:
                return _largest([*known[0], *known[1], *box], apart)
            reasons.append(reason)
    return reasons


def _summed(trees: Sequence[Branches]) -> tuple[tuple[AnswerValue, ...], list[Fraction]] | None:
    """Return the values where the sum of all movements is limited, in units that a query moves by 1 in sum.

    None if a value jumps, or has too many leaves; then it still moves no farther than if all queries might move.
    """
    if sum(len(list(tree.leaves())) ** 2 for tree in trees) > MOST_SLOPE_REASONS:
        return None
    listed = [_leaves_of(tree) for tree in trees]
    steepest: list[dict[str, Fraction]] = []
    for leaves in listed:
        own: dict[str, Fraction] = {}
        for conditions, one in leaves:
            for each in conditions:
                own.update((name, own.get(name, Fraction(0))) for name in each.expression.terms)
            for name, number in one.terms.items():
                own[name] = max(own.get(name, Fraction(0)), abs(Fraction(number)))
        steepest.append(own)
    if sum(2 * len(own) * len(leaves) ** 2 for own, leaves in zip(steepest, listed, strict=True)) > MOST_SLOPE_REASONS:
        return None
    largest = [max(own.values(), default=Fraction(0)) or Fraction(1) for own in steepest]
    shares: dict[str, Fraction] = {}
    for own, most in zip(steepest, largest, strict=True):
        for name, slope in own.items():
            shares[name] = shares.get(name, Fraction(0)) + slope / most
    together = max(shares.values(), default=Fraction(1)) or Fraction(1)
    units = [most * together for most in largest]
    values: list[AnswerValue] = []
    for tree, own, unit in zip(trees, steepest, units, strict=True):
        scaled = _over(tree, unit)
        leaves = _leaves_of(scaled)
        slopes: list[Slope] = []
        for name, size in sorted(own.items()):
            up, down = (_slope_reasons(leaves, name, size / unit, sign) for sign in (1, -1))
            if up is None or down is None:
                return None
            slopes.append(Slope(name, size / unit, up, down))
        values.append(AnswerValue(scaled, (), tuple(slopes)))
    return tuple(values), units


def _slope_reasons(leaves: Sequence[_Leaf], query: str, slope: Fraction, sign: int) -> tuple[Farkas, ...] | None:
    """Return for each pair of leaves why a value moves by no more than the slope, or None if it jumps."""
    ahead = [Constraint(Affine.variable("s0"), ">=")]
    reasons: list[Farkas] = []
    for one in leaves:
        for other in leaves:
            known, apart = _known_of_both(one, other, {query: "s0"})
            reason = _reason(known, ahead, Constraint(apart.times(sign) - Affine({"s0": slope}), ">"))
            if reason is None:
                return None
            reasons.append(reason)
    return tuple(reasons)


def _over(tree: Branches, unit: Fraction) -> Branches:
    return tree.mapped(lambda one: Branches(leaf=one.times(1 / unit)))


def _known_of_both(
    one: _Leaf, other: _Leaf, moved: Mapping[str, str]
) -> tuple[tuple[Sequence[Constraint], Sequence[Constraint]], Affine]:
    """Return what is known where a value is computed on two leaves, of each, and how far apart it is on both sides."""
    spend()
    there = [Constraint(_at(each.expression, moved), each.sign) for each in other[0]]
    return (one[0], there), _at(other[1], moved) - one[1]


def _reason(
    known: tuple[Sequence[Constraint], Sequence[Constraint]], ranges: Sequence[Constraint], contrary: Constraint
) -> Farkas | None:
    """Return why a condition contradicts what is known of two leaves, and ranges; None if it does not.

    The leaves are first taken one by one, since a small linear programme is solved much faster.
    """
    conditions = [*known[0], *known[1], *ranges, contrary]
    first, both = len(known[0]), len(known[0]) + len(known[1])
    for chosen in (range(first), range(first, both), range(both)):
        names = {name for n in (*chosen, -1) for name in conditions[n].expression.terms}
        own = [*chosen]
        own += [n for n in range(both, len(conditions) - 1) if not names.isdisjoint(conditions[n].expression.terms)]
        own.append(len(conditions) - 1)
        reason = contradiction([conditions[n] for n in own])
        if reason is not None:
            return tuple((own[place], factor) for place, factor in reason)
    return None


def _at(given: Affine, moved: Mapping[str, str]) -> Affine:
    """Return an expression at the neighbour, in the queries and in how far each moves."""
    terms = dict(given.terms)
    terms.update((moved[name], number) for name, number in given.terms.items() if name in moved)
    return Affine(terms, given.constant)


def _largest(known: Sequence[Constraint], apart: Affine) -> float:
    """Return the largest movement, which is above 1, as a float; raise if there is none."""
    programme = FloatLinearProgram()
    most = programme.unknown(free=True)  # the negative of the movement
    names = sorted({name for each in known for name in each.expression.terms} | set(apart.terms))
    columns = {name: programme.unknown(free=True) for name in names}
    for each in known:
        row = {columns[name]: float(number) for name, number in each.expression.terms.items()}
        programme.require(row, -float(each.expression.constant), exactly=each.sign == "=")
    row = {columns[name]: float(number) for name, number in apart.terms.items()}
    programme.require({**row, most: 1.0}, -float(apart.constant), exactly=True)
    solution = programme.minimise(most)
    if solution is None or not -solution[most] > 1 + _LEAST_RISE:
        raise PartsError
    return -solution[most]
