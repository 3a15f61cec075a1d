"""How much privacy can a program lose at most, whatever its data are? Proof by randomness alignment.

Paths with the same output form a class: a polyhedron in the queries and the draws. If the draws of every class can be
shifted so that a run on one dataset becomes a run on its neighbour with the same output, at a cost of at most ε, then
no output is more than e^ε times as likely (Zhang & Kifer 2017; Wang, Ding, Kifer & Zhang 2020). The cheapest shift
solves a linear programme, so it is computed rather than guessed. Its cost is convex in the difference between the
datasets, so the worst difference is a vertex. ``verified/on_paper.md`` has the proof.

The bound is exact for the length, relation and parameters that were read. It need not be tight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.linear import Affine, Constraint, LinearProgram, Rational, whole_where_possible
from dpaudit.program.symbolic.tree import (
    ArgmaxNode,
    CompareNode,
    Node,
    NoiseDraw,
    Output,
    ProgramPath,
    ProgramTree,
    argmax_conditions,
    draw_name,
    way_condition,
)
from dpaudit.verify.differences import (
    MOST_DIFFERENCES,
    Difference,
    Direction,
    MergedClass,
    boxes_of,
    can_merge,
    classes,
    direction,
    is_summed,
    merge,
    worst_differences,
)

# --- For a given difference between the data, what is the cheapest shift of the draws that keeps a class? ---
#
# A class is a polyhedron of the draws: rows ≥ 0, and equalities = 0 for released numbers. If the data differ by δ,
# shifting all draws by d keeps the class if A·d + B·δ ≥ 0 and C·d + D·δ = 0: constants and the data themselves cancel.
# The density ratio of the shifted draws is at most exp(Σ |d|/scale), provided that each draw is shifted in a direction
# that its law allows (`dpaudit.program.laws`), and discrete draws by whole numbers.

_MOST_TRIES = 200  # nodes of the branch and bound for integer shifts

Cut = tuple[Mapping[int, Rational], Rational]
"""A constraint on the shifts: coefficients by draw, and the least value of their sum."""


@dataclass(frozen=True, slots=True)
class Shift:
    """How the draws of a class follow a difference of the data."""

    difference: tuple[Rational, ...]  # of each variable of the data
    shift: tuple[Rational, ...]  # of each draw
    cost: Fraction  # Σ |shift|/scale, in nats


class Shifter:
    """Finds shifts for one class, for one difference after another."""

    def __init__(
        self, rows: Sequence[Affine], equalities: Sequence[Affine], draws: Sequence[NoiseDraw], variables: Sequence[str]
    ) -> None:
        """Describe a class."""
        self._rows = list(dict.fromkeys(Affine(row.terms) for row in rows))
        self._equalities = list(dict.fromkeys(Affine(equality.terms) for equality in equalities))
        self._draws = draws
        self._variables = variables
        self._columns = [(k, sign) for k, draw in enumerate(draws) for sign in draw.law.provable_shifts]
        # the costs as whole numbers, times a common factor
        factor = math.lcm(*(draw.scale.numerator for draw in draws))
        self._costs = [whole_where_possible(factor / draws[k].scale) for k, _ in self._columns]
        self._program = self._made([])

    def _made(self, cuts: Sequence[Cut]) -> LinearProgram:
        """Return the programme: rows and equalities hold for any difference, cuts for the present one."""
        program = LinearProgram(self._costs, parameters=len(self._variables) + 1)
        for linear, factors in [(row, (1,)) for row in self._rows] + [(row, (1, -1)) for row in self._equalities]:
            for factor in factors:
                row = self._row({k: factor * number for k, number in self._of_draws(linear).items()})
                side = [-factor * linear.terms.get(name, 0) for name in self._variables]
                if row or any(side):
                    program.require_at_least(row, [*side, 0])
        for of_draws, least in cuts:
            program.require_at_least(self._row(of_draws), [0] * len(self._variables) + [least])
        return program

    def _of_draws(self, linear: Affine) -> dict[int, Rational]:
        names = {k: draw_name(k) for k in range(len(self._draws))}
        return {k: linear.terms[name] for k, name in names.items() if name in linear.terms}

    def _row(self, of_draws: Mapping[int, Rational]) -> dict[int, Rational]:
        return {column: sign * of_draws[k] for column, (k, sign) in enumerate(self._columns) if k in of_draws}

    def cheapest(self, difference: Sequence[Rational]) -> Shift | None:
        """Return the cheapest shift for a difference of the data, or None if there is none.

        With discrete draws, if the search for integer shifts gets too long, it is the best one found.
        """
        whole = [k for k, draw in enumerate(self._draws) if draw.is_discrete]
        cuts = self._cuts(whole, difference) if whole else []
        if cuts is None:
            return None
        best: Shift | None = None
        pending = [cuts]
        tries = 0
        while pending and tries < _MOST_TRIES:
            tries += 1
            cuts = pending.pop()
            shift = self._solved(self._made(cuts) if cuts else self._program, difference)
            if shift is None or (best is not None and shift.cost >= best.cost):
                continue
            broken = next((k for k in whole if Fraction(shift.shift[k]).denominator != 1), None)
            if broken is None:
                best = shift
            else:
                value = math.floor(shift.shift[broken])
                pending += [[*cuts, ({broken: 1}, value + 1)], [*cuts, ({broken: -1}, -value)]]
        if best is not None:
            self._check(best)
        return best

    def _cuts(self, whole: Sequence[int], difference: Sequence[Rational]) -> list[Cut] | None:
        """Return the cuts that rows over discrete draws imply; None if no integer shift exists (Gomory 1958).

        A row Σ a·d ≥ s with integers a of greatest common divisor g implies Σ (a/g)·d ≥ ⌈s/g⌉ for integers d.
        """
        of_data = dict(zip(self._variables, difference, strict=True))
        cuts: list[Cut] = []
        for linear, factors in [(row, (1,)) for row in self._rows] + [(row, (1, -1)) for row in self._equalities]:
            of_draws = self._of_draws(linear)
            if not of_draws or not of_draws.keys() <= set(whole):
                continue
            common = math.lcm(*(Fraction(number).denominator for number in of_draws.values()))
            divisor = Fraction(math.gcd(*(int(number * common) for number in of_draws.values())), common)
            least = -linear.along(of_data) / divisor
            if len(factors) == 2 and least.denominator != 1:
                return None
            for factor in factors:
                row = {k: whole_where_possible(factor * number / divisor) for k, number in of_draws.items()}
                cuts.append((row, math.ceil(factor * least)))
        return cuts

    def _solved(self, program: LinearProgram, difference: Sequence[Rational]) -> Shift | None:
        values = program.minimise([*difference, 1])
        if values is None:
            return None
        shift: list[Rational] = [0] * len(self._draws)
        for (k, sign), value in zip(self._columns, values, strict=True):
            shift[k] += sign * value
        return Shift(tuple(difference), tuple(shift), self.cost(shift))

    def cost(self, shift: Sequence[Rational]) -> Fraction:
        """Return Σ |shift|/scale."""
        return sum((abs(Fraction(d)) / draw.scale for d, draw in zip(shift, self._draws, strict=True)), Fraction(0))

    def _check(self, shift: Shift) -> None:
        """Verify the answer of the linear programme; a wrong one is a bug of dpaudit."""
        direction: Mapping[str, Rational] = {
            **dict(zip(self._variables, shift.difference, strict=True)),
            **{draw_name(k): d for k, d in enumerate(shift.shift)},
        }
        allowed = all(
            not d or (1 if d > 0 else -1) in draw.law.provable_shifts
            for d, draw in zip(shift.shift, self._draws, strict=True)
        )
        kept = all(row.along(direction) >= 0 for row in self._rows)
        if not allowed or not kept or any(equality.along(direction) for equality in self._equalities):
            raise AssertionError("the linear programme returned a shift that leaves its class")


# --- Which draws answer for which queries, one part at a time? Long outputs are aligned coordinate by coordinate. ---
#
# Where the queries and the draws of a class fall into parts that no condition and no released number ties together, a
# shift is found for each part alone. Then the worst differences of all parts add up, in place of all their
# combinations: a vector of n answers has 2^n vertices, and 2·n differences of parts. Running sums come apart too, since
# the differences of what is released are released. Where a part has too many differences still, its queries are taken
# one by one, and what each needs of the same draws adds up: for a sum of n answers that is the bound, elsewhere it may
# be more.

_FEW = 64  # worst differences of a class that are listed as they are
_MOST_TERMS = 200_000  # of released numbers that are solved for their draws


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """Queries and draws that belong together, by their numbers; a draw may belong to several parts."""

    queries: tuple[int, ...]
    draws: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AlignedPart:
    """A part with its shifts: of its own queries and draws, in their order."""

    part: ProgramPart
    shifts: tuple[Shift, ...]


def parts_of(
    rows: Sequence[Affine],
    equalities: Sequence[Affine],
    draws: Sequence[NoiseDraw],
    directions: Sequence[Direction],
    relation: Relation,
) -> list[ProgramPart]:
    """Return the parts of a class; none if it has but one, or few worst differences."""
    whole = any(draw.is_discrete for draw in draws)
    if is_summed(relation):
        many = 2 * len(directions)
        if whole and relation.group > 1:
            return []  # one part cannot tell how much another has left
    else:
        many = sum(math.prod(map(len, box)) for box in boxes_of(directions, relation, whole=whole))
    if many <= _FEW or sum(len(each.terms) for each in equalities) > _MOST_TERMS:
        return []
    together: dict[str, str] = {}

    def root(name: str) -> str:
        while together.setdefault(name, name) != name:
            together[name] = together[together[name]]
            name = together[name]
        return name

    for terms in [row.terms for row in rows] + _solved(equalities):
        names = list(terms)
        for name in names[1:]:
            together[root(name)] = root(names[0])
    queries: dict[str, list[int]] = {}
    own: dict[str, list[int]] = {}
    for number in range(len(directions)):
        queries.setdefault(root(f"q{number}"), []).append(number)
    for number in range(len(draws)):
        own.setdefault(root(draw_name(number)), []).append(number)
    roots = dict.fromkeys([*queries, *own])
    parts: list[ProgramPart] = []
    for at in roots:
        part = ProgramPart(tuple(queries.get(at, ())), tuple(own.get(at, ())))
        ways = [directions[number] for number in part.queries]
        discrete = any(draws[number].is_discrete for number in part.draws)
        sizes = [math.prod(map(len, box)) for box in boxes_of(ways, relation, whole=discrete)]
        if sum(sizes) > MOST_DIFFERENCES:
            parts += [ProgramPart((number,), part.draws) for number in part.queries]
        else:
            parts.append(part)
    return parts if len(parts) > 1 else []


def _solved(equalities: Iterable[Affine]) -> list[dict[str, Fraction]]:
    """Return equalities with the same solutions, each solved for a variable that is in no other one.

    Of all variables a draw is solved for, where there is one: so do running sums come apart.
    """
    solved: dict[str, dict[str, Fraction]] = {}
    uses: dict[str, set[str]] = {}
    for equality in equalities:
        terms = {name: Fraction(number) for name, number in equality.terms.items()}
        for name in [name for name in terms if name in solved]:
            _add(terms, solved[name], -terms[name])
        if not terms:
            continue
        pivot = next((name for name in terms if name[0] == "h"), next(iter(terms)))
        factor = 1 / terms[pivot]
        terms = {name: factor * number for name, number in terms.items()}
        for other in list(uses.get(pivot, ())):
            _add(solved[other], terms, -solved[other][pivot])
            for name in terms:
                uses.setdefault(name, set())
                (uses[name].add if name in solved[other] else uses[name].discard)(other)
        solved[pivot] = terms
        for name in terms:
            uses.setdefault(name, set()).add(pivot)
    return list(solved.values())


def _add(terms: dict[str, Fraction], more: Mapping[str, Fraction], factor: Fraction) -> None:
    for name, number in more.items():
        total = terms.get(name, Fraction(0)) + factor * number
        if total:
            terms[name] = total
        else:
            terms.pop(name, None)


def align_parts(
    parts: Sequence[ProgramPart],
    rows: Sequence[Affine],
    equalities: Sequence[Affine],
    draws: Sequence[NoiseDraw],
    directions: Sequence[Direction],
    relation: Relation,
) -> tuple[tuple[AlignedPart, ...], Fraction | None, Difference]:
    """Align each part by itself."""
    kept = _shares(rows, parts), _shares(equalities, parts)
    aligned: list[AlignedPart] = []
    for place, part in enumerate(parts):
        own = [draws[number] for number in part.draws]
        names = [f"q{number}" for number in range(len(part.queries))]
        shifter = Shifter(kept[0][place], kept[1][place], own, names)
        ways = [directions[number] for number in part.queries]
        shifts = []
        for difference in worst_differences(ways, relation, whole=any(draw.is_discrete for draw in own)):
            shift = shifter.cheapest(difference)
            if shift is None:
                return (), None, _placed([(part, difference)], directions, relation)
            shifts.append(shift)
        aligned.append(AlignedPart(part, tuple(shifts)))
    return (tuple(aligned), *_dearest(aligned, draws, directions, relation))


def _shares(rows: Sequence[Affine], parts: Sequence[ProgramPart]) -> list[list[Affine]]:
    """Return what each part has of each row, in the part's own numbers."""
    home: dict[str, list[tuple[int, str]]] = {}
    for place, part in enumerate(parts):
        for new, old in enumerate(part.queries):
            home.setdefault(f"q{old}", []).append((place, f"q{new}"))
        for new, old in enumerate(part.draws):
            home.setdefault(draw_name(old), []).append((place, draw_name(new)))
    shares: list[dict[Affine, None]] = [{} for _ in parts]
    for row in rows:
        own: dict[int, dict[str, Fraction | int]] = {}
        for name, number in row.terms.items():
            for place, renamed in home[name]:
                own.setdefault(place, {})[renamed] = number
        for place, terms in own.items():
            shares[place][Affine(terms)] = None
    return [list(each) for each in shares]


def _dearest(
    aligned: Sequence[AlignedPart], draws: Sequence[NoiseDraw], directions: Sequence[Direction], relation: Relation
) -> tuple[Fraction, Difference]:
    """Return the largest cost of a difference, and this difference."""
    if is_summed(relation):  # one query moves, and the draws of all other parts stay
        shift, part = max(
            ((shift, each.part) for each in aligned for shift in each.shifts), key=lambda pair: pair[0].cost
        )
        return shift.cost, _placed([(part, _whole_shift(shift))], directions, relation)
    best: tuple[Fraction, list[tuple[ProgramPart, Difference]]] | None = None
    for number in range(relation.group + 1 if relation.movement == "monotone" else 1):
        total, worst = Fraction(0), []
        for each in aligned:
            ways = [directions[query] for query in each.part.queries]
            box = boxes_of(ways, relation, whole=any(draws[draw].is_discrete for draw in each.part.draws))[number]
            dearest = max(
                (
                    shift
                    for shift in each.shifts
                    if all(moved in ends for moved, ends in zip(shift.difference, box, strict=True))
                ),
                key=lambda shift: shift.cost,
            )
            total += dearest.cost
            worst.append((each.part, _whole_shift(dearest)))
        if best is None or total > best[0]:
            best = total, worst
    assert best is not None
    return best[0], _placed(best[1], directions, relation)


def _whole_shift(shift: Shift) -> Difference:
    return tuple(map(int, shift.difference))


def _placed(
    moved: Sequence[tuple[ProgramPart, Difference]], directions: Sequence[Direction], relation: Relation
) -> Difference:
    """Return a difference of all queries, of which those of some parts are given."""
    whole = [0] * len(directions)
    for part, difference in moved:
        for query, step in zip(part.queries, difference, strict=True):
            whole[query] = step
    return tuple(whole)


# --- How much privacy can a program lose at most, whatever its data are? Proof by randomness alignment. ---


@dataclass(frozen=True, slots=True)
class AlignedClass:
    """A class of paths with the same output, and how its draws are shifted."""

    leaves: tuple[ProgramPath, ...]  # its paths; more than one only where ``merged`` describes them together
    merged: MergedClass | None  # the region of several leaves, or None for a single leaf
    conditions: tuple[Constraint, ...]  # linear conditions on queries and draws that describe the region
    shifts: tuple[Shift, ...]  # one for each worst difference, up to the first that has none
    cost: Fraction | None  # the largest cost of a shift in nats, or None where some difference has no shift
    worst: Difference  # the difference that costs most, or one that has no shift
    parts: tuple[AlignedPart, ...] = ()  # in place of shifts, those of parts whose shifts do not depend on each other

    @property
    def output(self) -> Output:
        """What all its runs return."""
        return self.leaves[0].output

    @property
    def draws(self) -> tuple[NoiseDraw, ...]:
        """What all its runs draw; number k is the variable ``hk``."""
        return self.leaves[0].draws

    @property
    def released(self) -> tuple[Affine, ...]:
        """The expressions that its runs release."""
        return self.leaves[0].released


@dataclass(frozen=True, slots=True)
class Alignment:
    """All classes of a program, aligned."""

    # ε in nats; None where some class has no shift, so that alignment gives no finite bound (which does not mean
    # that there is none)
    bound: Fraction | None
    worst: AlignedClass  # the class that costs most (or has no shift), with its worst difference
    classes: tuple[AlignedClass, ...]  # all of them


def align(tree: ProgramTree, relation: Relation, length: int, *, merging: bool = True) -> Alignment:
    """Align all classes of a program that reads the queries q0 … q{length − 1}."""
    variables = [f"q{number}" for number in range(length)]
    merging = merging and can_merge(tree)
    aligned: list[AlignedClass] = []
    for group in classes(tree):
        alone = [_aligned((leaf,), None, leaf.conditions, variables, relation) for leaf in group]
        if len(group) > 1 and merging and _loss(alone) > 0:
            merged = merge(group, tree)
            if merged is not None:
                together = _aligned(tuple(group), merged, merged.hull, variables, relation)
                if _loss([together]) < _loss(alone):
                    alone = [together]
        aligned += alone
    worst = max(aligned, key=lambda each: _loss([each]))
    return Alignment(worst.cost, worst, tuple(aligned))


def _loss(aligned: Iterable[AlignedClass]) -> Fraction | float:
    return max(float("inf") if each.cost is None else each.cost for each in aligned)


def _aligned(
    leaves: tuple[ProgramPath, ...],
    merged: MergedClass | None,
    conditions: Sequence[Constraint],
    variables: Sequence[str],
    relation: Relation,
) -> AlignedClass:
    draws = leaves[0].draws
    rows = [condition.expression for condition in conditions if condition.sign != "="]
    equalities = [condition.expression for condition in conditions if condition.sign == "="] + list(leaves[0].released)
    directions = [direction(variable, rows, equalities) for variable in variables]
    parts = parts_of(rows, equalities, draws, directions, relation)
    if parts:
        aligned, cost, worst = align_parts(parts, rows, equalities, draws, directions, relation)
        return AlignedClass(leaves, merged, tuple(conditions), (), cost, worst, aligned)
    differences = worst_differences(directions, relation, whole=any(draw.is_discrete for draw in draws))
    shifter = Shifter(rows, equalities, draws, variables)
    shifts: list[Shift] = []
    cost = Fraction(-1)
    worst = differences[0]
    for difference in differences:
        shift = shifter.cheapest(difference)
        if shift is None:
            cost, worst = None, difference
            break
        shifts.append(shift)
        if shift.cost > cost:
            cost, worst = shift.cost, difference
    return AlignedClass(leaves, merged, tuple(conditions), tuple(shifts), cost, worst)


# --- On which branches of the answers alone does a program compute a number, or come to a node? ---


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
