"""What does a program do, on every path? Its draws and branches as a tree, with an output at every leaf.

Node 0 is the root; children have larger numbers than their parents. Queries are the variables ``q0``, ``q1``, …;
draw number k of a path is its variable ``hk``. An output is a nested tuple whose first member names the type::

    ("float", Linear), ("int", Linear), ("float", "nan" | "inf" | "-inf"), ("bool", True), ("str", "no"), ("none",),
    ("list", output, …), ("tuple", output, …), ("dict", (key output, output), …), ("exception", "ValueError: …")

Numbers without variables, and everything that is no number, are discrete; expressions with variables are
*released*. Two outputs are equal if both parts are equal.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from dpaudit.program.laws import LAWS, NoiseLaw, Support
from dpaudit.program.symbolic.linear import Affine, Constraint, Farkas, Rational

Way = Literal["<", "<=", "=", ">=", ">"]
Output = tuple[Any, ...]
NOT_READ = -1
DEPTH = 20  # of an output

# the sides of a branch; True if the condition on that side is on the negated expression
TURNED: dict[Way, bool] = {"<": True, "<=": True, "=": False, ">=": False, ">": False}


def way_condition(expression: Affine, way: Way) -> Constraint:
    """Return the condition that holds on one side of a branch on the sign of an expression."""
    if way == "=":
        return Constraint(expression, "=")
    strict = way in ("<", ">")
    return Constraint(-expression if TURNED[way] else expression, ">" if strict else ">=")


def argmax_conditions(expressions: Sequence[Affine], winner: int) -> list[Constraint]:
    """Return the conditions under which expression number ``winner`` is the first largest."""
    return [
        Constraint(expressions[winner] - other, ">" if place < winner else ">=")
        for place, other in enumerate(expressions)
        if place != winner
    ]


@dataclass(frozen=True, slots=True)
class NoiseDraw:
    """One draw of a law of `dpaudit.program.laws`, without its location.

    A draw from a finite set of values is a uniform draw that is compared with their cumulative probabilities
    (`outcomes`).
    """

    method: str  # the name of the law
    scale: Fraction  # exact; positive
    # the call of the program, for example ("bernoulli", 1/4), which is a uniform draw compared with 1/4
    asked: tuple[Any, ...] = field(compare=False)

    @property
    def law(self) -> NoiseLaw:
        """Its law."""
        return LAWS[self.method]

    @property
    def is_discrete(self) -> bool:
        """Whether single values have a probability."""
        return LAWS[self.method].is_discrete

    def support(self, name: str) -> list[Constraint]:
        """Return the conditions that every value of the draw called ``name`` satisfies."""
        value, support = Affine.variable(name), self.law.support
        if support is Support.HALF_LINE:
            return [Constraint(value, ">=")]
        if support is Support.INTERVAL:
            return [Constraint(value, ">="), Constraint(Affine({}, self.scale) - value, ">")]
        return []


def outcomes(asked: Sequence[Any]) -> list[tuple[Any, Fraction]] | None:
    """Return the values of a draw with finite support, each with its cumulative probability; None for other draws.

    Values of probability 0 are left out. The values of a choice are the indices of its options.
    """
    method, *arguments = asked
    if method == "choice":
        weights = dict(enumerate(map(Fraction, arguments)))
    else:
        known = LAWS[method].outcomes
        if known is None:
            return None
        weights = known(*map(Fraction, arguments))
    total = sum(weights.values())
    likely = [value for value, weight in weights.items() if weight]
    sums = itertools.accumulate(weights[value] for value in likely)
    return [(value, reached / total) for value, reached in zip(likely, sums, strict=True)]


def program_value(draw: NoiseDraw, value: float) -> Any:
    """Return the program's draw for a value of the tree's draw."""
    options = outcomes(draw.asked)
    if options is not None:
        return next((option for option, reached in options if value < reached), options[-1][0])
    located = draw.law.location_and_scale
    if located is not None:
        return float(located(*draw.asked[1:])[0]) + value
    return int(value) if draw.is_discrete else value


def tree_value(asked: Sequence[Any], value: Any) -> Rational | float:
    """Return the exact value of the tree's draw for a request of the program and the value that it drew."""
    options = outcomes(asked)
    if options is not None:
        before = Fraction(0)
        for option, reached in options:
            if option == value:
                return (before + reached) / 2
            before = reached
        return before  # a value of probability 0 has no interval: this point is too close to a branch to be compared
    located = LAWS[asked[0]].location_and_scale
    if located is not None:
        return Fraction(value) - Fraction(float(located(*asked[1:])[0]))
    plain: Rational | float = value
    return plain


def draw_name(number: int) -> str:
    """Return the variable of a path's draw."""
    return f"h{number}"


def supports(draws: Sequence[NoiseDraw], start: int = 0) -> list[Constraint]:
    """Return the supports of draws number ``start``, ``start`` + 1, …, in order."""
    return [condition for number, draw in enumerate(draws, start) for condition in draw.support(draw_name(number))]


def continuous_names(draws: Sequence[NoiseDraw]) -> frozenset[str]:
    """Return the variables of the draws that have a density."""
    return frozenset(draw_name(number) for number, draw in enumerate(draws) if not draw.is_discrete)


@dataclass(slots=True)
class DrawNode:
    """A draw; node ``then`` follows."""

    draw: NoiseDraw
    then: int = NOT_READ


@dataclass(slots=True)
class CompareNode:
    """A branch on the sign of an expression with at least one variable; ``ways`` holds the node of each side."""

    expression: Affine
    ways: dict[Way, int]


@dataclass(slots=True)
class ArgmaxNode:
    """A branch on which of several expressions is the first largest; ``then`` holds the node of each."""

    expressions: tuple[Affine, ...]
    then: list[int]


@dataclass(slots=True)
class DeadNode:
    """No run reaches this node: the conditions and then the supports of the draws above it contradict each other."""

    reason: Farkas


@dataclass(slots=True)
class LeafNode:
    """The end of a run; ``leaf`` describes it."""

    leaf: ProgramPath


Node = DrawNode | CompareNode | ArgmaxNode | DeadNode | LeafNode


@dataclass(frozen=True, slots=True)
class ProgramPath:
    """One path of the program."""

    node: int  # the number of its node
    conditions: tuple[Constraint, ...]  # on the queries and draws of the runs that take it, from the root down
    draws: tuple[NoiseDraw, ...]  # all draws of the path, in order; number k is the variable ``hk``
    output: Output  # what is returned; meaningless if the leaf is null
    # whether it has probability zero for all data, because a continuous draw would have to hit one value
    is_null: bool = False

    @property
    def released(self) -> tuple[Affine, ...]:
        """The expressions with variables in the output, in order, each once."""
        return tuple(dict.fromkeys(_released(self.output)))


def _released(output: Any) -> Iterator[Affine]:
    if isinstance(output, Affine):
        if not output.is_constant:
            yield output
    elif isinstance(output, tuple):
        for member in output:
            yield from _released(member)


@dataclass(frozen=True, slots=True)
class ProgramTree:
    """A program, read for certain data and parameters."""

    nodes: tuple[Node, ...]  # all nodes; 0 is the root
    leaves: tuple[ProgramPath, ...]  # the paths, in the order in which they were read

    def surely(self, point: Mapping[str, float], draws: Sequence[float]) -> ProgramPath | None:
        """Return the leaf of a run if floats decide it for certain; None if `follow` has to decide."""
        values, number, drawn = dict(point), 0, 0
        while True:
            node = self.nodes[number]
            if isinstance(node, LeafNode):
                return None if node.leaf.is_null else node.leaf
            if isinstance(node, DrawNode):
                if drawn == len(draws):
                    return None
                values[draw_name(drawn)] = draws[drawn]
                drawn, number = drawn + 1, node.then
            elif isinstance(node, CompareNode):
                value, error = node.expression.near(values)
                if not abs(value) > error:
                    return None
                number = next(n for way, n in node.ways.items() if way in ((">", ">=") if value > 0 else ("<", "<=")))
            elif isinstance(node, ArgmaxNode):
                near = [expression.near(values) for expression in node.expressions]
                winner = max(range(len(near)), key=lambda place: near[place][0])
                least = near[winner][0] - 2 * near[winner][1]
                others = (value + 2 * error for place, (value, error) in enumerate(near) if place != winner)
                if not all(least > other for other in others):
                    return None
                number = node.then[winner]
            else:
                return None

    def follow(
        self, point: dict[str, Rational], draws: Sequence[Rational]
    ) -> tuple[ProgramPath | None, Fraction | None]:
        """Return the leaf of a run (None if it is dead or null), and how close it came to another path."""
        values, number, drawn = dict(point), 0, 0
        margin: Fraction | None = None
        while True:
            node = self.nodes[number]
            if isinstance(node, LeafNode):
                return (None if node.leaf.is_null else node.leaf), margin
            if isinstance(node, DeadNode):
                return None, margin
            if isinstance(node, DrawNode):
                values[draw_name(drawn)] = draws[drawn]
                drawn, number = drawn + 1, node.then
                continue
            if isinstance(node, CompareNode):
                value = node.expression.at(values)
                distances = [abs(Fraction(value))]
                number = next(n for way, n in node.ways.items() if way_condition(node.expression, way).holds(values))
            else:
                exact = [Fraction(expression.at(values)) for expression in node.expressions]
                winner = exact.index(max(exact))
                distances = [exact[winner] - other for place, other in enumerate(exact) if place != winner]
                number = node.then[winner]
            margin = min(distances if margin is None else [*distances, margin])
