"""Which data and limits make an event most revealing? A search in floating point, whose result is certified elsewhere.

Every point is a dataset with values for the limits that a shape leaves open. Queries with the same role are first
moved together, by differential evolution (Storn & Price 1997) on a scale that is linear near 0 and logarithmic far
away; then every number is moved on its own, over a grid of short binary fractions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.arrays import Floats
from dpaudit.events.predict import predicted_bound
from dpaudit.privacy import PureDP
from dpaudit.program.outcome import Raised
from dpaudit.program.symbolic.linear import Affine, Constraint, spend
from dpaudit.program.symbolic.tree import Output, draw_name
from dpaudit.sampling.forms import read_form
from dpaudit.verify.alignment import AlignedClass
from dpaudit.verify.counterexample.forest_probability import Forest, Landscape, forest
from dpaudit.verify.differences import Difference

# --- Which events can reveal a class? Outputs of its form, with limits on the numbers whose values are left open. ---
#
# An event is a box: all outputs of one form whose numbers lie within limits. Discrete values are fixed; a number that
# is released with noise gets a half-line; a number that depends only on the data is held at its value on side 0.
# Outputs of another class may lie in the same box, so the event is a union of regions: the conditions of every class of
# that form, with the limits on its own numbers.

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


# --- Which data and limits make an event most revealing? A search in floating point, whose result is certified
# elsewhere.

Objective = Callable[[Floats, Floats, float], Floats]
"""A score of probabilities (p0, p1), given the penalty of an event that is too rare, for each nat of ln p0."""

# The sizes of the search were chosen so that it takes seconds.
_REACH = 40.0  # how far from 0 data and limits may lie, in units of the largest scale
_RARE = 1e-60  # the least probability of an event
_BEYOND = 1e4  # more than any loss
_ERROR = 0.05  # of the bound that is predicted
_EXACTLY = 1e12  # a number of learning runs that stands for known probabilities
_PENALTY, _STRICT = 5.0, 1e6  # for an event that is too rare: mild during the search, strict at the end
_POPULATION = 36
_CONVERGED = 1e-6  # the difference between the best and the worst score
_REFINED = 30  # generations in which every variable moves on its own
_STEPS = 60  # of the final search
_RANDOM = 24  # random directions in each step


def largest_loss(least_mass: float = _RARE) -> Objective:
    """Return the loss ln(p0/p1), less a penalty where p0 is too small; infinite losses are ordered by ln p0."""

    def objective(p0: Floats, p1: Floats, penalty: float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            mass = np.maximum(np.log(p0), -_BEYOND)
            loss = np.where(p1 > 0, mass - np.log(p1), _BEYOND + mass)
            short = np.maximum(math.log(least_mass) - mass, 0.0)
            return np.where(p0 > 0, loss - penalty * short, -_BEYOND - penalty * short)

    return objective


def largest_bound(runs: int) -> Objective:
    """Return the bound that is expected from ``runs`` runs, of both sides together, at 95 % confidence."""

    def objective(p0: Floats, p1: Floats, penalty: float) -> Floats:
        found = predicted_bound(
            p0,
            p1,
            _EXACTLY,
            _EXACTLY,
            ahead=runs / 2,
            claim=PureDP(1.0),
            error=_ERROR,
            penalty=0.0,
            two_sided=False,
        )
        with np.errstate(divide="ignore"):
            return np.where(np.isfinite(found), found, -_BEYOND + np.where(p0 > 0, np.log(p0), -_BEYOND))

    return objective


@dataclass(frozen=True, slots=True)
class LikelyCounterexample:
    """A point that the search found: dataset 0 and all limits, exact, with their approximate score."""

    shape: EventShape
    score: float
    data: tuple[Fraction, ...]
    limits: dict[str, Fraction]


class ShapeSearch:
    """The search over the points of one shape."""

    def __init__(self, shape: EventShape, objective: Objective, *, whole: bool, rng: np.random.Generator) -> None:
        """Prepare a search."""
        self._shape = shape
        self._objective = objective
        self._penalty = _PENALTY
        self._rng = rng
        self._length = len(shape.difference)
        self._free = [*(f"q{place}" for place in range(self._length)), *shape.open]
        variables = [*self._free, *shape.held]
        self._landscapes = [Landscape(each.forest, each.conditions, variables) for each in shape.regions]
        self._difference = np.array([*shape.difference, *[0] * (len(variables) - self._length)], dtype=np.float64)
        self._held = np.array([[float(held.terms.get(name, 0)) for name in self._free] for held in shape.held.values()])
        self._held_at = np.array([float(held.constant) for held in shape.held.values()])
        scales = [float(draw.scale) for draw in shape.source.draws] or [1.0]
        self._unit = max(scales)
        constants = [abs(float(each.expression.constant)) for region in shape.regions for each in region.conditions]
        self._bound = math.asinh(_REACH + max(constants, default=0.0) / self._unit)
        step = 2.0 ** math.floor(math.log2(self._unit / 32))
        self._grid = np.array([max(step, 1.0) if whole else step] * self._length + [step] * len(shape.open))
        self._groups = self._parts()
        self._members = rng.uniform(-self._bound, self._bound, (_POPULATION, len(self._groups)))
        self._members[: _POPULATION // 2] *= rng.random((_POPULATION // 2, 1))  # near 0 as well as far away
        self._scores = self._at(self._members, self._groups)

    def _parts(self) -> Floats:
        """Return which variables move together: (groups, variables) of 0 and 1."""
        found: dict[Any, list[int]] = {}
        for place, name in enumerate(self._free):
            if place < self._length:
                key: Any = (self._shape.difference[place], self._part(name))
            else:
                key = name
            found.setdefault(key, []).append(place)
        groups = np.zeros((len(found), len(self._free)))
        for row, places in enumerate(found.values()):
            groups[row, places] = 1
        return groups

    def _part(self, name: str) -> tuple[Any, ...]:
        """Return what a query is compared with, except for the numbers of draws."""
        parts = []
        for region in self._shape.regions:
            for condition in region.conditions:
                terms = condition.expression.terms
                if name in terms:
                    draws = region.forest.draws
                    others = sorted(
                        (str(value), draws[int(other[1:])].method, str(draws[int(other[1:])].scale))
                        for other, value in terms.items()
                        if other.startswith("h")
                    )
                    limits = sorted(other for other in terms if other.startswith((LEAST, MOST)))
                    parts.append((str(terms[name]), tuple(others), tuple(limits), condition.sign))
        return tuple(sorted(parts))

    def _complete(self, points: Floats) -> Floats:
        if not len(self._held):
            return points
        return np.hstack([points, points @ self._held.T + self._held_at])

    def _masses(self, points: Floats) -> tuple[Floats, Floats]:
        full = self._complete(points)
        p0, p1 = (
            np.sum([each.masses(data) for each in self._landscapes], axis=0) for data in (full, full + self._difference)
        )
        return p0, p1

    def _score(self, points: Floats) -> Floats:
        return self._objective(*self._masses(points), self._penalty)

    def go_on(self, generations: int) -> float:
        """Continue the search with groups moved together, and return the best score so far."""
        self._evolve(generations, self._groups)
        return float(self._scores.max())

    def best(self) -> LikelyCounterexample:
        """Finish the search and return the best point found."""
        point = self._members[np.argmax(self._scores)] @ self._groups
        spread = self._rng.normal(0, 1, (_POPULATION, len(point))) * self._rng.choice([0.02, 0.2], (_POPULATION, 1))
        self._members = np.clip(np.vstack([point, point + spread[1:]]), -self._bound, self._bound)
        everything = np.eye(len(point))
        self._scores = self._at(self._members, everything)
        self._evolve(_REFINED, everything)
        point = self._unit * np.sinh(self._members[np.argmax(self._scores)])
        point, _ = self._polished(np.round(point / self._grid) * self._grid)
        self._penalty = _STRICT
        point, score = self._polished(point)
        data = tuple(Fraction(float(value)) for value in point[: self._length])
        at = {f"q{place}": value for place, value in enumerate(data)}
        opened = zip(self._shape.open, point[self._length :], strict=True)
        limits = {
            **self._shape.fixed,
            **{name: Fraction(float(value)) for name, value in opened},
            **{name: Fraction(float(Fraction(held.at(at)))) for name, held in self._shape.held.items()},
        }
        return LikelyCounterexample(self._shape, score, data, limits)

    def _at(self, members: Floats, groups: Floats) -> Floats:
        return self._score(self._unit * np.sinh(members @ groups))

    def _evolve(self, generations: int, groups: Floats) -> None:
        """Improve the members, which hold one value per group on an asinh scale."""
        rng, members, scores = self._rng, self._members, self._scores
        for _ in range(generations):
            spend(100)
            if np.ptp(scores) <= _CONVERGED:
                break
            first, second, third = (rng.permutation(_POPULATION) for _ in range(3))
            towards = np.where(rng.random((_POPULATION, 1)) < 0.5, members[np.argmax(scores)], members[third])
            trial = members + rng.uniform(0.3, 1.0, (_POPULATION, 1)) * (towards - members)
            trial += rng.uniform(0.3, 1.0, (_POPULATION, 1)) * (members[first] - members[second])
            kept = rng.random(trial.shape) < 0.2
            trial = np.clip(np.where(kept, members, trial), -self._bound, self._bound)
            found = self._at(trial, groups)
            better = found >= scores
            members[better], scores[better] = trial[better], found[better]

    def _polished(self, point: Floats) -> tuple[Floats, float]:
        """Return the best point of the grid nearby."""
        count = len(self._free)
        straight = np.unique(np.vstack([np.eye(count), self._groups, np.ones((1, count))]), axis=0)
        size = self._unit * 4
        score = float(self._score(point[None])[0])
        farthest = np.floor(self._unit * math.sinh(self._bound) / self._grid) * self._grid
        for _ in range(_STEPS):
            anywhere = self._rng.normal(0, 1, (_RANDOM, count)) * (self._rng.random((_RANDOM, count)) < 0.5)
            moves = np.vstack([straight, -straight, anywhere])
            moves = np.vstack([moves * size, moves * (size / 4)])
            trial = np.clip(point + np.round(moves / self._grid) * self._grid, -farthest, farthest)
            found = self._score(trial)
            best = int(np.argmax(found))
            if found[best] > score:
                point, score = trial[best], float(found[best])
            elif size <= self._grid.min():
                break
            else:
                size /= 4
        return point, score
