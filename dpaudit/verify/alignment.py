"""How much privacy can a program lose at most, whatever its data are? Proof by randomness alignment.

Paths with the same output form a class: a polyhedron in the queries and the draws. If the draws of every class can be
shifted so that a run on one dataset becomes a run on its neighbour with the same output, at a cost of at most ε, then
no output is more than e^ε times as likely (Zhang & Kifer 2017; Wang, Ding, Kifer & Zhang 2020). The cheapest shift
solves a linear programme, so it is computed rather than guessed. Its cost is convex in the difference between the
datasets, so the worst difference is a vertex. ``docs/certificate.md`` has the proof.

The bound is exact for the length, relation and parameters that were read. It need not be tight.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.neighbours.relation import Relation
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import NoiseDraw, Output, ProgramPath, ProgramTree
from dpaudit.verify.differences import Difference, direction, worst_differences
from dpaudit.verify.merging import MergedClass, can_merge, classes, merge
from dpaudit.verify.parts import AlignedPart, align_parts, parts_of
from dpaudit.verify.shifts import Shift, Shifter


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
    found: list[AlignedClass] = []
    for group in classes(tree):
        alone = [_aligned((leaf,), None, leaf.conditions, variables, relation) for leaf in group]
        if len(group) > 1 and merging and _loss(alone) > 0:
            merged = merge(group, tree)
            if merged is not None:
                together = _aligned(tuple(group), merged, merged.hull, variables, relation)
                if _loss([together]) < _loss(alone):
                    alone = [together]
        found += alone
    worst = max(found, key=lambda each: _loss([each]))
    return Alignment(worst.cost, worst, tuple(found))


def _loss(found: Iterable[AlignedClass]) -> Fraction | float:
    return max(float("inf") if each.cost is None else each.cost for each in found)


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
        found = shifter.cheapest(difference)
        if found is None:
            cost, worst = None, difference
            break
        shifts.append(found)
        if found.cost > cost:
            cost, worst = found.cost, difference
    return AlignedClass(leaves, merged, tuple(conditions), tuple(shifts), cost, worst)
