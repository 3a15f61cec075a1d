"""Which pair and event refute a claim, and how likely is the event, with certainty?

That alignment gives no bound refutes nothing. A counterexample does: two neighbouring datasets and an event that is
certainly more than e^ε times as likely under the first. The class and the difference that cost most say where to look.
Data and limits are searched for in floating point: every point is a dataset with values for the limits that a shape
leaves open. Queries with the same role are first moved together, by differential evolution (Storn & Price 1997) on a
scale that is linear near 0 and logarithmic far away; then every number is moved on its own, over a grid of short binary
fractions. The probabilities of the best candidate are enclosed rigorously (`dpaudit.verify.forest_probability`). Like
the proof of the upper bound, this is exact arithmetic about the tree that was read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from dpaudit.arrays import Floats
from dpaudit.decimals import Enclosure
from dpaudit.errors import UsageError
from dpaudit.events import partition, predict
from dpaudit.evidence.event import Box, Event, Rule
from dpaudit.privacy import PureDP
from dpaudit.program import batch_reading, outcome
from dpaudit.program.symbolic.linear import Affine, Constraint, spend
from dpaudit.program.symbolic.tree import Output, draw_name
from dpaudit.sampling import forms, outputs
from dpaudit.verify import alignment, certificate, differences, fold
from dpaudit.verify.forest_probability import Forest, Landscape, flint, forest, forest_probability, log_ratio

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
        form = forms.read_form(_example(output, numbers), columns)
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
        raised, in_text = outcome.Raised(name, message), list[Any]()
        forms.read_form(raised, in_text)
        numbers += [(Affine({}, Fraction(number)), True) for number in in_text]  # the numbers in its text
        return raised
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

    source: alignment.AlignedClass  # the class that it is made for
    difference: differences.Difference  # of the datasets, side 1 minus side 0
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
    source: alignment.AlignedClass,
    difference: differences.Difference,
    classes: Sequence[alignment.AlignedClass],
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
        shape = _shape(source, difference, own, dict(zip(noisy, sides, strict=True)), same, moved)
        if shape is not None:
            yield shape


def _has_draws(expression: Affine) -> bool:
    return any(name.startswith("h") for name in expression.terms)


def _limited(source: alignment.AlignedClass, own: ReadOutput, moved: Mapping[str, int]) -> list[int] | None:
    """Return the noisy numbers worth a limit: the conditions stay a forest, and depend on the queries that differ."""
    limited = [place for place, number in enumerate(own.numbers) if _has_draws(number)]
    while True:
        conditions = [*source.conditions, *(Constraint(own.numbers[place], ">=") for place in limited)]
        trees = forest(source.draws, conditions)
        if trees is not None:
            break
        if not limited:
            return None
        # the number with most draws (among equals, the last) goes without a limit
        limited.remove(max(limited, key=lambda place: (_draws_in(own.numbers[place]), place)))
    touched: set[int] = set()
    for root in trees.roots:
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
    source: alignment.AlignedClass,
    difference: differences.Difference,
    own: ReadOutput,
    sides: Mapping[int, str],
    same: Sequence[tuple[alignment.AlignedClass, ReadOutput]],
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
        bounds = predict.predicted_bound(
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
            return np.where(np.isfinite(bounds), bounds, -_BEYOND + np.where(p0 > 0, np.log(p0), -_BEYOND))

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
        together: dict[Any, list[int]] = {}
        for place, name in enumerate(self._free):
            if place < self._length:
                key: Any = (self._shape.difference[place], self._part(name))
            else:
                key = name
            together.setdefault(key, []).append(place)
        groups = np.zeros((len(together), len(self._free)))
        for row, places in enumerate(together.values()):
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
            scored = self._at(trial, groups)
            better = scored >= scores
            members[better], scores[better] = trial[better], scored[better]

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
            scored = self._score(trial)
            best = int(np.argmax(scored))
            if scored[best] > score:
                point, score = trial[best], float(scored[best])
            elif size <= self._grid.min():
                break
            else:
                size /= 4
        return point, score


_DIGITS = 30  # of a recorded probability: more than any reader needs
_UNIT = 10**20  # a bound is rounded down to a multiple of 1/_UNIT
_RUNS = 4096  # of the program on each side, a few milliseconds
_NEVER = 1e-10  # a p-value that means a mistake, not chance
_MOST_SHAPES, _MOST_DIFFERENCES = 40, 3  # shapes in all; differences of each class besides its worst
# Generations at first; then how many searches go on, and for how many more; then how many are refined. Chosen so that a
# search takes seconds.
_BRIEFLY, _ROUNDS, _FINALISTS = 10, ((8, 20), (3, 30)), 2

Data = tuple[int | float, ...]


@dataclass(frozen=True)
class ExactCounterexample:
    """Two neighbouring datasets and an event that is likelier under the first."""

    pair: tuple[Data, Data]  # the data of sides 0 and 1; every number is exactly a float
    event: Event  # the outputs that are likelier on side 0
    probabilities: tuple[Enclosure, Enclosure]  # of the event on both sides, enclosed
    proof: fold.AlignmentProof  # the proof that was tried, with its scope and its tree

    @property
    def infinite(self) -> bool:
        """Whether the event is possible on side 0 and impossible on side 1, so that no ε holds."""
        return self.probabilities[1].high == 0 and self.probabilities[0].low > 0

    @property
    def epsilon(self) -> Fraction | None:
        """A certain lower bound of ε in nats, rounded down; None if it is infinite."""
        return self.least()

    def least(self, delta: Fraction = Fraction(0)) -> Fraction | None:
        """Return a certain lower bound of ε at a δ: ln((p0 − δ)/p1), at least 0; None if it is infinite."""
        p0, p1 = self.probabilities
        if p0.low <= delta:
            return Fraction(0)
        if p1.high == 0:
            return None
        low = log_ratio(p0.low - delta, p1.high).low
        return max(Fraction(0), Fraction(math.floor(low * _UNIT), _UNIT))

    def exceeds(self, claim: Fraction) -> bool:
        """Whether it certainly refutes the claim that ε is at most ``claim`` nats."""
        return self.infinite or (self.epsilon is not None and self.epsilon > claim)

    def record(self) -> dict[str, Any]:
        """Return the counterexample as plain data for JSON, with the tree, so that everything can be recomputed.

        ``nodes`` are those of a certificate (``docs/certificate.md``); numbers are texts, and ``null`` means no limit.
        The event is the set of outputs of the given form whose numbers, in order, lie within the limits.
        """
        scope = self.proof.scope
        (rule,) = self.event.rules
        low, high = (rule.score.low, rule.score.high) if isinstance(rule.score, Box) else ((), ())
        return {
            "format": certificate.WITNESS,
            "version": certificate.WITNESS_VERSION,
            "mechanism": {"name": self.proof.name, "source": self.proof.source},
            "scope": {
                "data": "queries",
                "length": scope.length,
                "values": scope.values,
                "movement": scope.relation.movement,
                "group": scope.relation.group,
                "parameters": dict(scope.parameters),
            },
            "nodes": certificate.nodes_as_data(self.proof.tree, {}),
            "pair": [[certificate.rational(Fraction(value)) for value in data] for data in self.pair],
            "event": {
                "form": rule.form,
                "low": [None if value is None else certificate.rational(Fraction(value)) for value in low],
                "high": [None if value is None else certificate.rational(Fraction(value)) for value in high],
            },
            "probabilities": [list(each.decimals(_DIGITS)) for each in self.probabilities],
            "epsilon": "infinite" if self.epsilon is None else certificate.rational(self.epsilon),
        }

    def __str__(self) -> str:
        loss = "infinite" if self.epsilon is None else f"at least {float(self.epsilon):.6g}"
        p0, p1 = (each.decimals(4)[0] for each in self.probabilities)
        return f"ε is {loss}: {self.event.describe(0)} has probability {p0} on {self.pair[0]}, {p1} on {self.pair[1]}"


def find_counterexample(
    proof: fold.AlignmentProof,
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    *,
    budget_runs: int | None = None,
    least_mass: float | None = None,
    seed: int = 0,
) -> ExactCounterexample | None:
    """Look for the pair and the event that refute a claim most strongly."""
    objective = _objective(budget_runs, least_mass)
    flint()  # raises before the search, not after it
    likely = _search(proof, objective, seed)
    if likely is None:
        return None
    counterexample = _certified(likely, proof)
    p0, p1 = counterexample.probabilities
    if p0.low <= p1.high or p0.low < (least_mass or 0):
        return None
    # run the program on both sides; its counts must not contradict the computed probabilities
    for side, data in enumerate(counterexample.pair):
        run = partial(_run, function, data, parameters)
        result = batch_reading.run_batch(run, _RUNS, np.random.default_rng([seed, side]), outputs.taken_path)
        hits, _ = partition.count_event(counterexample.event, outputs.from_paths(result.paths, _RUNS))
        p = counterexample.probabilities[side]
        too_few, too_many = binom.cdf(hits, _RUNS, float(p.low)), binom.sf(hits - 1, _RUNS, float(p.high))
        if min(too_few, too_many) < _NEVER:
            raise AssertionError(
                f"the event {counterexample.event} occurs {hits} times in {_RUNS} runs on {data}, with probability {p}"
            )
    return counterexample


def _objective(budget_runs: int | None, least_mass: float | None) -> Objective:
    if budget_runs is not None and least_mass is not None:
        raise UsageError("give budget_runs or least_mass, not both")
    if budget_runs is not None:
        if isinstance(budget_runs, bool) or not isinstance(budget_runs, int) or budget_runs < 2:
            raise UsageError(f"budget_runs is a whole number of at least 2, not {budget_runs!r}")
        return largest_bound(budget_runs)
    if least_mass is None:
        return largest_loss()
    if not 0 < least_mass < 1:
        raise UsageError(f"least_mass is a probability between 0 and 1, not {least_mass!r}")
    return largest_loss(least_mass * (1 + 1e-3))  # so that an error of quadrature does not bring it below


def _search(proof: fold.AlignmentProof, objective: Objective, seed: int) -> LikelyCounterexample | None:
    """Return the best point over classes, differences and half-lines: all are searched briefly, the best to the end."""
    rng = np.random.default_rng(seed)
    whole = proof.scope.values == "integer"
    begun: list[tuple[float, float, ShapeSearch]] = []
    best = -math.inf
    for shape, cost in _candidates(proof.alignment.classes):
        if cost <= best:  # no event of a class can lose more than its cost
            continue
        search = ShapeSearch(shape, objective, whole=whole, rng=rng)
        best = max(best, score := search.go_on(_BRIEFLY))
        begun.append((score, cost, search))
    for count, generations in _ROUNDS:
        begun.sort(key=lambda item: -item[0])
        begun = [(search.go_on(generations), cost, search) for _, cost, search in begun[:count]]
    ended = (search.best() for _, _, search in sorted(begun, key=lambda item: -item[0])[:_FINALISTS])
    return max(ended, key=lambda one: one.score, default=None)


def _candidates(classes: Sequence[alignment.AlignedClass]) -> Iterator[tuple[EventShape, float]]:
    """Return each event once, with the largest loss that it can have; those with the largest come first."""
    reads = {place: read_output(each.output) for place, each in enumerate(classes)}
    costs = [math.inf if each.cost is None else float(each.cost) for each in classes]
    seen = set()
    for place in sorted(range(len(classes)), key=lambda place: -costs[place]):
        for difference in _differences(classes[place]):
            for shape in shapes(classes[place], difference, classes, reads):
                key = shape.form, shape.difference, tuple(shape.fixed.items()), shape.open, tuple(shape.held.items())
                if key not in seen:
                    seen.add(key)
                    yield shape, costs[place]
                if len(seen) == _MOST_SHAPES:
                    return


def _differences(each: alignment.AlignedClass) -> list[differences.Difference]:
    """Return the differences that cost most."""
    same = [tuple(map(int, shift.difference)) for shift in each.shifts if shift.cost == each.cost]
    return list(dict.fromkeys([each.worst, *same[-_MOST_DIFFERENCES:]]))


def _certified(likely: LikelyCounterexample, proof: fold.AlignmentProof) -> ExactCounterexample:
    shape = likely.shape
    after = tuple(value + change for value, change in zip(likely.data, shape.difference, strict=True))
    p0, p1 = (_probability(shape, data, likely.limits) for data in (likely.data, after))
    low, high = (
        tuple(
            None if (value := likely.limits.get(f"{side}{place}")) is None else float(value)
            for place in range(shape.count)
        )
        for side in (LEAST, MOST)
    )
    rule = Rule(shape.form, Box(low, high), (0.5,), (0, 1)) if likely.limits else Rule(shape.form, None, (), (1,))
    # real answers are floats even where they are whole, so that outputs keep the types that were read
    answer = int if proof.scope.values == "integer" else float
    pair = tuple(map(answer, likely.data)), tuple(map(answer, after))
    assert [*map(Fraction, pair[0] + pair[1])] == [*likely.data, *after], "data are short binary fractions"
    return ExactCounterexample(pair, Event("witness", (rule,)), (p0, p1), proof)


def _probability(shape: EventShape, data: Any, limits: Mapping[str, Fraction]) -> Enclosure:
    point = {**{f"q{place}": value for place, value in enumerate(data)}, **limits}
    low = high = Fraction(0)
    for region in shape.regions:
        ends = forest_probability(region.forest, region.conditions, point)
        assert ends is not None, "a shape has known draws only"
        low, high = low + ends.low, high + ends.high
    return Enclosure(low, min(high, Fraction(1)))


def _nearest(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def _run(function: Callable[..., Any], data: Data, parameters: Mapping[str, Any], noise: Any) -> Any:
    plain = {name: _nearest(value) if isinstance(value, Fraction) else value for name, value in parameters.items()}
    return function(list(data), noise, **plain)
