"""Which events can reveal a class? Outputs of its form, with limits on the numbers whose values are left open.

An event is a box: all outputs of one form whose numbers lie within limits. Discrete values are fixed; a number that is
released with noise gets a half-line; a number that depends only on the data is held at its value on side 0. Outputs of
another class may lie in the same box, so the event is a union of regions: the conditions of every class of that form,
with the limits on its own numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpaudit.program.outcome import Raised
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import Output, draw_name
from dpaudit.sampling.forms import read_form
from dpaudit.verify.alignment import AlignedClass
from dpaudit.verify.counterexample.forest_probability import Forest, forest
from dpaudit.verify.differences import Difference

LEAST, MOST = "least", "most"  # the limits of number 0 are the variables least0 and most0

_MOST_SIDES = 8  # choices of half-lines that are tried, to keep the search short
_SLACK = Fraction(1, 1 << 20)  # around a number without noise, since programs compute it in floats


# --- the form and the numbers of an output ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ReadOutput:
    """An output of the tree as events see it: its form, its numbers in order, and which of them are whole."""

    form: str
    numbers: tuple[Affine, ...]
    whole: tuple[bool, ...]


def read_output(output: Output) -> ReadOutput | None:
    """Return the form and numbers of an output, or None where they cannot be matched."""
    numbers: list[tuple[Affine, bool]] = []
    columns: list[Any] = []
    try:
        form = read_form(_example(output, numbers), columns)
    except TypeError:  # a noisy number used as a key
        return None
    if len(columns) != len(numbers):
        return None
    return ReadOutput(form, tuple(number for number, _ in numbers), tuple(whole for _, whole in numbers))


def _example(output: Output, numbers: list[tuple[Affine, bool]]) -> Any:
    """Return a value of the output's form, and append its numbers."""
    kind = output[0]
    if kind == "bool":
        numbers.append((Affine({}, int(output[1])), True))
        return output[1]
    if kind in ("int", "float"):
        if not isinstance(output[1], Affine):
            return float(output[1])
        numbers.append((output[1], kind == "int"))
        value = output[1].constant if output[1].is_constant else 1
        return int(value) if kind == "int" else float(value)
    if kind == "exception":
        name, _, message = output[1].partition(": ")
        found, in_text = Raised(name, message), list[Any]()
        read_form(found, in_text)
        numbers += [(Affine({}, Fraction(number)), True) for number in in_text]  # the numbers in its text
        return found
    if kind == "dict":
        return {_example(key, []): _example(value, numbers) for key, value in output[1:]}
    if kind in ("list", "tuple"):
        return (list if kind == "list" else tuple)(_example(member, numbers) for member in output[1:])
    return output[1] if kind == "str" else None


# --- events with open limits -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassRegion:
    """A class within the limits: conditions over draws, queries and limits."""

    forest: Forest
    conditions: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class EventShape:
    """An event whose limits are variables."""

    source: AlignedClass  # the class that it is made for
    difference: Difference  # of the datasets, side 1 minus side 0
    form: str  # of the outputs
    count: int  # how many numbers they have
    fixed: Mapping[str, Fraction]  # known limits, by their variable (``least0``, ``most0``, …)
    open: tuple[str, ...]  # the variables of the half-lines
    held: Mapping[str, Affine]  # limits that depend on the data of side 0, by their variable
    regions: tuple[ClassRegion, ...]  # disjoint; the event is their union

    @property
    def limits(self) -> tuple[str, ...]:
        """The variables of all limits."""
        return (*self.fixed, *self.open, *self.held)


def shapes(
    source: AlignedClass,
    difference: Difference,
    classes: Sequence[AlignedClass],
    reads: Mapping[int, ReadOutput | None],
) -> Iterator[EventShape]:
    """Yield events for a class, the simplest choice of half-lines first; none if no probability can be computed.

    Args:
        source: the class.
        difference: of the datasets, side 1 minus side 0.
        classes: all classes of the program.
        reads: the form and numbers of each class, by its place.
    """
    own = reads[next(place for place, each in enumerate(classes) if each is source)]
    if own is None or any(each is None for each in reads.values()):
        return
    moved = {f"q{place}": change for place, change in enumerate(difference) if change}
    noisy = _limited(source, own, moved)
    if noisy is None:
        return
    same = [(each, read) for place, each in enumerate(classes) if (read := reads[place]) and read.form == own.form]
    for sides in _sides([own.numbers[place] for place in noisy], moved):
        found = _shape(source, difference, own, dict(zip(noisy, sides, strict=True)), same, moved)
        if found is not None:
            yield found


def _has_draws(expression: Affine) -> bool:
    return any(name.startswith("h") for name in expression.terms)


def _limited(source: AlignedClass, own: ReadOutput, moved: Mapping[str, int]) -> list[int] | None:
    """Return the noisy numbers worth a limit: the conditions stay a forest, and depend on the queries that differ."""
    limited = [place for place, number in enumerate(own.numbers) if _has_draws(number)]
    while True:
        conditions = [*source.conditions, *(Constraint(own.numbers[place], ">=") for place in limited)]
        found = forest(source.draws, conditions)
        if found is not None:
            break
        if not limited:
            return None
        # the number with most draws (among equals, the last) goes without a limit
        limited.remove(max(limited, key=lambda place: (_draws_in(own.numbers[place]), place)))
    touched: set[int] = set()
    for root in found.roots:
        pending, draws, ties = [root], set(), set()
        while pending:
            branch = pending.pop()
            draws.add(draw_name(branch.draw))
            ties |= {place for place, _, _ in branch.ties}
            pending += branch.children
        if any(not moved.keys().isdisjoint(conditions[place].expression.terms) for place in ties):
            touched |= ties
    start = len(source.conditions)
    return [place for index, place in enumerate(limited) if start + index in touched]


def _draws_in(expression: Affine) -> int:
    return sum(name.startswith("h") for name in expression.terms)


def _sides(numbers: Sequence[Affine], moved: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Yield choices of half-lines: first those that point away from side 1, then others."""
    first = tuple(MOST if number.along(moved) > 0 else LEAST for number in numbers)
    other = {MOST: LEAST, LEAST: MOST}
    # the choices that differ least from the first or from its opposite come first
    flips = sorted(
        itertools.product((False, True), repeat=len(numbers)) if len(numbers) <= 10 else [(False,) * len(numbers)],
        key=lambda flip: (min(sum(flip), len(flip) - sum(flip)), sum(flip)),
    )
    for flip in flips[:_MOST_SIDES]:
        yield tuple(other[side] if turned else side for side, turned in zip(first, flip, strict=True))


def _shape(
    source: AlignedClass,
    difference: Difference,
    own: ReadOutput,
    sides: Mapping[int, str],
    same: Sequence[tuple[AlignedClass, ReadOutput]],
    moved: Mapping[str, int],
) -> EventShape | None:
    fixed: dict[str, Fraction] = {}
    held: dict[str, Affine] = {}
    for place, (number, whole) in enumerate(zip(own.numbers, own.whole, strict=True)):
        if _has_draws(number):
            continue
        change = abs(Fraction(number.along(moved)))
        constant = number.is_constant
        slack = Fraction(0) if constant and whole else change / 4 if change else _SLACK
        for name, signed in ((f"{LEAST}{place}", -slack), (f"{MOST}{place}", slack)):
            if constant:
                fixed[name] = Fraction(float(number.constant + signed))
            else:
                held[name] = number + Affine({}, signed)
    opened = tuple(f"{side}{place}" for place, side in sides.items())
    regions = []
    for each, read in same:
        conditions = list(each.conditions)
        for name in (*fixed, *opened, *held):
            number = read.numbers[int(name.removeprefix(LEAST).removeprefix(MOST))]
            limit = Affine({}, fixed[name]) if name in fixed else Affine.variable(name)
            conditions.append(Constraint(number - limit if name.startswith(LEAST) else limit - number, ">="))
        certain = [each for each in conditions if each.expression.is_constant]
        if not all(each.holds({}) for each in certain):
            continue
        kept = tuple(each for each in conditions if not each.expression.is_constant)
        tied = forest(each.draws, kept)
        if tied is None or not tied.is_known:
            return None
        regions.append(ClassRegion(tied, kept))
    return EventShape(source, difference, own.form, len(own.numbers), fixed, opened, held, tuple(regions))
