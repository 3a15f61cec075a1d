"""What is the mechanism? A tree of draws and branches, read from its nodes, and the conditions of its leaves.

The tree is complete by its form: a branch has all of its sides, and a side that no run takes is a dead node with a
Farkas vector. Conditions are stored as integers (expressions times a common denominator), so that adding them needs no
fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, Literal

from dpaudit.checker.reading import (
    CertificateError,
    ForgedError,
    LinearExpression,
    Steps,
    expression,
    fields,
    items,
    rational,
    shown,
    text,
    whole,
)

# --- What does the checker know about each kind of noise? Its values, and the shifts that cost |shift|/scale. ---
#
# This table is written by hand from ``docs/certificate.md`` and shares nothing with that of the prover.

Support = Literal["line", "half-line", "interval", "integers"]


@dataclass(frozen=True, slots=True)
class ShiftLaw:
    """The law of one kind of noise, of a scale b."""

    support: Support  # the values of a draw: all real numbers, [0, ∞), [0, b), or all integers
    up: bool  # whether f(x)/f(x + d) ≤ exp(d/b) for all x and d > 0, so that a draw may be shifted up
    down: bool  # whether f(x)/f(x − d) ≤ exp(d/b) for all x and d > 0, so that it may be shifted down


LAWS = {
    "laplace": ShiftLaw("line", up=True, down=True),
    "gumbel": ShiftLaw("line", up=True, down=False),
    "exponential": ShiftLaw("half-line", up=True, down=False),
    "uniform": ShiftLaw("interval", up=False, down=False),
    "discrete_laplace": ShiftLaw("integers", up=True, down=True),
}

# --- What is the mechanism? A tree of draws and branches, read from its nodes, and the conditions of its leaves. ---

ALIGNED = frozenset({"shifts", "parts", "class"})
"""What a leaf of a tree may say of its alignment: one of these."""

MOST_NODES = 100_000
MOST_DRAWS = 1_000  # on a path
MOST_LEVELS = 20  # of an output
MOST_MEMBERS = 10_000  # of an output
DIGITS_OF_EXPRESSION = 200  # of the common denominator of an expression
DIGITS_OF_VECTOR = 1_000  # of the common denominator of multipliers, or of a difference and its shift
_WAYS = (("<", ">="), ("<=", ">"), ("<", "=", ">"))
_KINDS = {"<": ">", "<=": ">=", ">": ">", ">=": ">=", "=": "="}


def to_integers(numbers: list[Fraction], digits: int, where: str) -> tuple[list[int], int]:
    """Return the numbers times their common denominator, and that denominator.

    Args:
        numbers: rational numbers.
        digits: how many the denominator may have.
        where: what to call them in messages.

    Raises:
        CertificateError: if the denominator is longer.
    """
    common = 1
    for number in numbers:
        common = lcm(common, number.denominator)
        if common > 10**digits:
            raise CertificateError(f"{where}: the common denominator has more than {digits:,} digits")
    return [number.numerator * (common // number.denominator) for number in numbers], common


@dataclass(frozen=True, slots=True)
class LeafOutput:
    """The output of a leaf: its complete form, and the expressions that it releases."""

    form: tuple[Any, ...]
    released: tuple[LinearExpression, ...]


def output(value: object, known: Mapping[str, int], where: str, steps: Steps) -> LeafOutput:
    """Return an output, with the expressions that it releases.

    Args:
        value: the output as JSON.
        known: how many variables there are of each letter.
        where: what to call it in messages.
        steps: the counter of the work.

    Raises:
        CertificateError: if it is not an output in this format, or too large.
    """
    released: list[LinearExpression] = []
    members = 0

    def form(value: object, level: int) -> tuple[Any, ...]:
        nonlocal members
        members += 1
        if level > MOST_LEVELS or members > MOST_MEMBERS:
            raise CertificateError(f"{where}: more than {MOST_LEVELS} levels or {MOST_MEMBERS:,} members")
        tag, *parts = items(value, where, MOST_MEMBERS, 1)
        steps.spend(len(parts) + 1)
        if tag in ("list", "tuple"):
            return (tag, *(form(part, level + 1) for part in parts))
        if tag == "dict":
            pairs = [items(part, where, 2, 2) for part in parts]
            return (tag, *((form(key, level + 1), form(item, level + 1)) for key, item in pairs))
        if tag == "none" and not parts:
            return (tag,)
        if len(parts) == 1:
            (part,) = parts
            if tag == "bool" and type(part) is bool:
                return (tag, part)
            if tag in ("str", "exception"):
                return (tag, text(part, where))
            if tag == "float" and type(part) is str and part in ("nan", "inf", "-inf"):
                return (tag, part)
            if tag in ("int", "float"):
                number = expression(part, known, where, steps)
                if number.terms:
                    released.append(number)
                return (tag, frozenset(number.terms.items()), number.constant)
        raise CertificateError(f"{where}: {shown(tag)} with {len(parts)} parts is no output")

    return LeafOutput(form(value, 1), tuple(released))


@dataclass(frozen=True, slots=True)
class TreeDraw:
    """One draw: its method and scale."""

    method: str
    scale: Fraction

    @property
    def continuous(self) -> bool:
        """Whether a single value has probability 0."""
        return self.law.support != "integers"

    @property
    def law(self) -> ShiftLaw:
        """Its law."""
        return LAWS[self.method]

    @property
    def support(self) -> tuple[Support, Fraction | None]:
        """The values that it takes."""
        return self.law.support, self.scale if self.law.support == "interval" else None


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression that is > 0, ≥ 0 or = 0, times a common denominator of its coefficients."""

    terms: Mapping[str, int]  # coefficients, none of them 0
    constant: int  # the constant
    kind: str  # ">", ">=" or "="
    smooth: bool  # whether it contains a continuous draw; then the expression is 0 with probability 0
    common: int = 1  # the denominator; Farkas vectors are about the expression as it was written

    @property
    def written(self) -> LinearExpression:
        """The expression as it was written."""
        terms = {name: Fraction(factor, self.common) for name, factor in self.terms.items()}
        return LinearExpression(terms, Fraction(self.constant, self.common))

    def negation(self) -> Condition:
        """Return the negation of an inequality."""
        terms = {name: -coefficient for name, coefficient in self.terms.items()}
        return Condition(terms, -self.constant, ">=" if self.kind == ">" else ">", self.smooth, self.common)


def condition(given: LinearExpression, kind: str, draws: Sequence[TreeDraw], where: str, sign: int = 1) -> Condition:
    """Return the condition that an expression, or its negative, is > 0, ≥ 0 or = 0.

    Args:
        given: the expression.
        kind: ">", ">=" or "=".
        draws: those of the path.
        where: what to call it in messages.
        sign: −1 for the negative of the expression.
    """
    (constant, *coefficients), common = to_integers(
        [given.constant, *given.terms.values()], DIGITS_OF_EXPRESSION, where
    )
    terms = {name: sign * c for name, c in zip(given.terms, coefficients, strict=True)}
    smooth = any(name[0] == "h" and draws[int(name[1:])].continuous for name in terms)
    return Condition(terms, sign * constant, kind, smooth, common)


def supports(draws: Iterable[TreeDraw]) -> list[Condition]:
    """Return the conditions that draws satisfy because of their supports."""
    known = []
    for number, draw in enumerate(draws):
        name, support = f"h{number}", draw.law.support
        if support in ("half-line", "interval"):
            known.append(Condition({name: 1}, 0, ">=", smooth=True))
        if support == "interval":
            high, common = draw.scale.numerator, draw.scale.denominator
            known.append(Condition({name: -common}, high, ">", smooth=True, common=common))
    return known


def contradict(conditions: Sequence[Condition], vector: object, where: str, steps: Steps) -> None:
    """Raise unless the Farkas vector shows that the conditions can only all hold with probability 0.

    Args:
        conditions: in the order that the vector refers to.
        vector: the multipliers as JSON.
        where: what to call it in messages.
        steps: the counter of the work.

    Raises:
        ForgedError: if it does not.
    """
    pairs = items(vector, where, len(conditions), 1)
    before, numbers, multipliers = -1, [], []
    for pair in pairs:
        number, multiplier = items(pair, where, 2, 2)
        number = whole(number, where, 0, len(conditions) - 1)
        if number <= before:
            raise CertificateError(f"{where}: the numbers of the conditions must rise")
        before = number
        numbers.append(number)
        multipliers.append(rational(multiplier, where))
        if not multipliers[-1] or (multipliers[-1] < 0 and conditions[number].kind != "="):
            raise ForgedError(f"{where}: the multiplier {multiplier} of condition {number} is not positive")
        multipliers[-1] /= conditions[number].common
    total: dict[str, int] = {}
    constant, strict = 0, False
    for number, multiplier in zip(numbers, to_integers(multipliers, DIGITS_OF_VECTOR, where)[0], strict=True):
        used = conditions[number]
        steps.spend((len(used.terms) + 4) * (1 + multiplier.bit_length() // 512))
        for name, coefficient in used.terms.items():
            total[name] = total.get(name, 0) + multiplier * coefficient
        constant += multiplier * used.constant
        strict = strict or used.kind == ">" or (used.kind == ">=" and used.smooth)
    if any(total.values()) or constant > 0 or (constant == 0 and not strict):
        raise ForgedError(f"{where}: the Farkas vector shows no contradiction")


@dataclass(frozen=True, slots=True)
class Leaf:
    """The end of a path, with its conditions, draws and output."""

    name: str  # what messages call it
    number: int  # of its node
    conditions: tuple[Condition, ...]  # from the root down
    draws: tuple[TreeDraw, ...]  # from the root down
    output: LeafOutput  # what is returned
    given: Mapping[str, Any]  # the node's fields besides its output

    @property
    def null(self) -> bool:
        """Whether the path needs an equality of probability 0."""
        return any(condition.kind == "=" and condition.smooth for condition in self.conditions)

    @property
    def discrete(self) -> bool:
        """Whether one of its draws is discrete."""
        return any(not draw.continuous for draw in self.draws)


@dataclass(frozen=True, slots=True)
class _NodePlace:
    """The place of a node: the draws and conditions above it."""

    conditions: tuple[Condition, ...] = ()
    draws: tuple[TreeDraw, ...] = ()


@dataclass(slots=True)
class CheckedTree:
    """A tree that was read and is complete."""

    name: str  # what messages call it
    variables: Mapping[str, int]  # how many data and state variables there are of each letter
    steps: Steps  # the counter of the work
    # the fields that a leaf may have besides its output, and those that it must have
    extra: tuple[set[str], frozenset[str]]
    leaves: dict[int, Leaf] = field(default_factory=dict)  # its leaves, by the number of their node
    # the supports that each draw has on the paths, by its number
    supports: list[set[tuple[Support, Fraction | None]]] = field(default_factory=list)
    dead: int = 0  # how many dead nodes it has

    def read(self, nodes: list[Any]) -> CheckedTree:
        """Read the nodes; raise `CertificateError` if they do not form a complete tree."""
        places = {0: _NodePlace()}
        for number, node in enumerate(nodes):
            where = f"{self.name}node {number}"
            place = places.pop(number, None)
            if place is None:
                raise CertificateError(f"{where}: no earlier node leads to it")
            if type(node) is not dict:
                raise CertificateError(f"{where}: must be a JSON object, not {shown(node)}")
            self.steps.spend(1 + len(place.conditions) + len(place.draws))
            for child, below in self._children(number, node, place, where):
                if not number < whole(child, f"{where}: a child", 0, MOST_NODES) < len(nodes) or child in places:
                    raise CertificateError(f"{where}: node {child} is no later node that is free to be its child")
                places[child] = below
        return self  # every child is a later node, so all nodes have been read

    def _known(self, place: _NodePlace) -> dict[str, int]:
        return {**self.variables, "h": len(place.draws)}

    def _children(
        self, number: int, node: dict[str, Any], place: _NodePlace, where: str
    ) -> list[tuple[Any, _NodePlace]]:
        """Read one node; return its children with their places."""
        if "draw" in node:
            return [self._draw(node, place, where)]
        if "compare" in node:
            return self._compare(node, place, where)
        if "argmax" in node:
            return self._argmax(node, place, where)
        if "dead" in node:
            fields(node, {"dead"}, where)
            contradict([*place.conditions, *supports(place.draws)], node["dead"], f"{where} (dead)", self.steps)
            self.dead += 1
            return []
        must, may = self.extra
        fields(node, {"leaf"} | must, where, may)
        result = output(node["leaf"], self._known(place), f"{where}: the output", self.steps)
        given = {name: value for name, value in node.items() if name != "leaf"}
        self.leaves[number] = Leaf(f"{self.name}leaf {number}", number, place.conditions, place.draws, result, given)
        return []

    def _draw(self, node: dict[str, Any], place: _NodePlace, where: str) -> tuple[Any, _NodePlace]:
        fields(node, {"draw", "scale", "then"}, where)
        method = node["draw"]
        if type(method) is not str or method not in LAWS:
            raise CertificateError(f"{where}: no draw {shown(method)}; known: {', '.join(LAWS)}")
        scale = rational(node["scale"], f"{where}: the scale")
        if scale <= 0:
            raise ForgedError(f"{where}: the scale must be positive, not {scale}")
        draw = TreeDraw(method, scale)
        if len(place.draws) == MOST_DRAWS:
            raise CertificateError(f"{where}: more than {MOST_DRAWS:,} draws on a path")
        if len(place.draws) == len(self.supports):
            self.supports.append(set())
        self.supports[len(place.draws)].add(draw.support)
        return node["then"], _NodePlace(place.conditions, (*place.draws, draw))

    def _compare(self, node: dict[str, Any], place: _NodePlace, where: str) -> list[tuple[Any, _NodePlace]]:
        ways = next((ways for ways in _WAYS if set(ways) == node.keys() - {"compare"}), None)
        if ways is None:
            raise CertificateError(f"{where}: the ways are '<' and '>=', '<=' and '>', or '<', '=' and '>'")
        given = expression(node["compare"], self._known(place), where, self.steps)
        if not given.terms:
            raise CertificateError(f"{where}: a comparison has at least one variable")
        children = []
        for way in ways:
            new = condition(given, _KINDS[way], place.draws, where, -1 if way[0] == "<" else 1)
            children.append((node[way], _NodePlace((*place.conditions, new), place.draws)))
        return children

    def _argmax(self, node: dict[str, Any], place: _NodePlace, where: str) -> list[tuple[Any, _NodePlace]]:
        fields(node, {"argmax", "then"}, where)
        known = self._known(place)
        values = [expression(value, known, where, self.steps) for value in items(node["argmax"], where, 1_000, 2)]
        then = items(node["then"], where, len(values), len(values))
        # n expressions make n·(n − 1) conditions; they count extra, because of their memory
        self.steps.spend(len(values) * sum(len(value.terms) + 50 for value in values))
        children = []
        for k, (best, child) in enumerate(zip(values, then, strict=True)):
            new = tuple(
                condition(best.minus(value), ">" if j < k else ">=", place.draws, where)
                for j, value in enumerate(values)
                if j != k
            )
            children.append((child, _NodePlace(place.conditions + new, place.draws)))
        return children
