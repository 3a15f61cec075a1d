"""Do the paths with the same output form a convex region together?

A shift is found for each path alone, or for a whole class: all paths with the same output and the same draws. Keeping
one path may be harder than keeping the class, for example where a maximum is found by comparing one value after
another. If the conditions that hold on all paths of a class (its *hull*) are met by no other path, they describe the
class exactly, since every run takes some path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.program.noise import Support
from dpaudit.program.symbolic.linear import Constraint, Farkas, contradiction
from dpaudit.program.symbolic.tree import NoiseDraw, ProgramPath, ProgramTree, continuous_names, supports

MOST_COMPARISONS = 50_000  # of a class with another leaf, in one tree, so that a proof ends within minutes


@dataclass(frozen=True, slots=True)
class MergedClass:
    """The region of a class of several leaves."""

    hull: tuple[Constraint, ...]  # the conditions > 0 and ≥ 0 that describe it
    # for each leaf of the class and each condition of the hull, why the leaf's runs satisfy the condition: a
    # contradiction between the leaf's conditions, the negated condition, and the supports
    inside: tuple[tuple[ProgramPath, tuple[Farkas, ...]], ...]
    # for each other leaf that is not null, why none of its runs is in the hull: a contradiction between the hull,
    # the leaf's conditions, and the supports of all draws of the class and the leaf
    apart: tuple[tuple[ProgramPath, Farkas], ...]


def classes(tree: ProgramTree) -> list[list[ProgramPath]]:
    """Return the leaves that are not null, grouped by output and draws."""
    groups: dict[Any, list[ProgramPath]] = {}
    for leaf in tree.leaves:
        if not leaf.is_null:
            groups.setdefault((leaf.output, leaf.draws), []).append(leaf)
    return list(groups.values())


def can_merge(tree: ProgramTree) -> bool:
    """Whether each draw has the same support on all paths, as merging requires."""
    found: dict[int, tuple[Any, ...]] = {}
    for leaf in tree.leaves:
        for number, draw in enumerate(leaf.draws):
            if found.setdefault(number, _support(draw)) != _support(draw):
                return False
    groups = [len(group) for group in classes(tree)]
    return sum(size > 1 for size in groups) * sum(groups) <= MOST_COMPARISONS


def _support(draw: NoiseDraw) -> tuple[Any, ...]:
    support = draw.law.support
    return support, draw.scale if support is Support.INTERVAL else None


def merge(group: Sequence[ProgramPath], tree: ProgramTree) -> MergedClass | None:
    """Return the hull of a class of leaves, or None if runs of other leaves meet it too."""
    draws = group[0].draws
    smooth, bounds = continuous_names(draws), supports(draws)
    candidates = dict.fromkeys(condition for leaf in group for condition in leaf.conditions if condition.sign != "=")
    reasons: dict[Constraint, tuple[Farkas, ...]] = {}
    for condition in candidates:
        why = []
        for leaf in group:
            reason = contradiction([*leaf.conditions, condition.negation, *bounds], smooth)
            if reason is None:
                break
            why.append(reason)
        else:
            reasons[condition] = tuple(why)
    hull = list(reasons)
    for condition in list(hull):
        others = [other for other in hull if other is not condition]
        if contradiction([*others, condition.negation, *bounds], smooth) is not None:
            hull = others
    members = {leaf.node for leaf in group}
    apart: list[tuple[ProgramPath, Farkas]] = []
    for leaf in tree.leaves:
        if leaf.is_null or leaf.node in members:
            continue
        everything = draws + leaf.draws[len(draws) :]
        found = contradiction([*hull, *leaf.conditions, *supports(everything)], continuous_names(everything))
        if found is None:
            return None
        apart.append((leaf, found))
    inside = tuple((leaf, tuple(reasons[condition][place] for condition in hull)) for place, leaf in enumerate(group))
    return MergedClass(tuple(hull), inside, tuple(apart))
