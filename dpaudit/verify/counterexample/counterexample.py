"""Is the claim certainly wrong? From a proof that failed to two datasets, an event, and its exact probabilities.

That alignment gives no bound refutes nothing. A counterexample does: two neighbouring datasets and an event that is
certainly more than e^ε times as likely under the first. The class and the difference that cost most say where to look.
Data and limits are searched for in floating point, and the probabilities of the best candidate are then enclosed
rigorously (`dpaudit.verify.counterexample.forest_probability`). Like the proof of the upper bound, this is exact
arithmetic about the tree that was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from dpaudit.decimals import Enclosure
from dpaudit.errors import UsageError
from dpaudit.events.partition import count_event
from dpaudit.evidence.event import Box, Event, Rule
from dpaudit.program.batch_reading import run_batch
from dpaudit.sampling.outputs import from_paths, taken_path
from dpaudit.verify.alignment import AlignedClass
from dpaudit.verify.certificate import WITNESS, WITNESS_VERSION, nodes_as_data, rational
from dpaudit.verify.counterexample.forest_probability import flint, forest_probability, log_ratio
from dpaudit.verify.counterexample.search import (
    LEAST,
    MOST,
    EventShape,
    LikelyCounterexample,
    Objective,
    ShapeSearch,
    largest_bound,
    largest_loss,
    read_output,
    shapes,
)
from dpaudit.verify.differences import Difference
from dpaudit.verify.fold import AlignmentProof

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
    proof: AlignmentProof  # the proof that was tried, with its scope and its tree

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
            "format": WITNESS,
            "version": WITNESS_VERSION,
            "mechanism": {"name": self.proof.name, "source": self.proof.source},
            "scope": {
                "data": "queries",
                "length": scope.length,
                "values": scope.values,
                "movement": scope.relation.movement,
                "group": scope.relation.group,
                "parameters": dict(scope.parameters),
            },
            "nodes": nodes_as_data(self.proof.tree, {}),
            "pair": [[rational(Fraction(value)) for value in data] for data in self.pair],
            "event": {
                "form": rule.form,
                "low": [None if value is None else rational(Fraction(value)) for value in low],
                "high": [None if value is None else rational(Fraction(value)) for value in high],
            },
            "probabilities": [list(each.decimals(_DIGITS)) for each in self.probabilities],
            "epsilon": "infinite" if self.epsilon is None else rational(self.epsilon),
        }

    def __str__(self) -> str:
        loss = "infinite" if self.epsilon is None else f"at least {float(self.epsilon):.6g}"
        p0, p1 = (each.decimals(4)[0] for each in self.probabilities)
        return f"ε is {loss}: {self.event.describe(0)} has probability {p0} on {self.pair[0]}, {p1} on {self.pair[1]}"


def find_counterexample(
    proof: AlignmentProof,
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
    found = _search(proof, objective, seed)
    if found is None:
        return None
    counterexample = _certified(found, proof)
    p0, p1 = counterexample.probabilities
    if p0.low <= p1.high or p0.low < (least_mass or 0):
        return None
    # run the program on both sides; its counts must not contradict the computed probabilities
    for side, data in enumerate(counterexample.pair):
        run = partial(_run, function, data, parameters)
        result = run_batch(run, _RUNS, np.random.default_rng([seed, side]), taken_path)
        hits, _ = count_event(counterexample.event, from_paths(result.paths, _RUNS))
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


def _search(proof: AlignmentProof, objective: Objective, seed: int) -> LikelyCounterexample | None:
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
    return max(ended, key=lambda found: found.score, default=None)


def _candidates(classes: Sequence[AlignedClass]) -> Iterator[tuple[EventShape, float]]:
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


def _differences(each: AlignedClass) -> list[Difference]:
    """Return the differences that cost most."""
    same = [tuple(map(int, shift.difference)) for shift in each.shifts if shift.cost == each.cost]
    return list(dict.fromkeys([each.worst, *same[-_MOST_DIFFERENCES:]]))


def _certified(found: LikelyCounterexample, proof: AlignmentProof) -> ExactCounterexample:
    shape = found.shape
    after = tuple(value + change for value, change in zip(found.data, shape.difference, strict=True))
    p0, p1 = (_probability(shape, data, found.limits) for data in (found.data, after))
    low, high = (
        tuple(
            None if (value := found.limits.get(f"{side}{place}")) is None else float(value)
            for place in range(shape.count)
        )
        for side in (LEAST, MOST)
    )
    rule = Rule(shape.form, Box(low, high), (0.5,), (0, 1)) if found.limits else Rule(shape.form, None, (), (1,))
    # real answers are floats even where they are whole, so that outputs keep the types that were read
    answer = int if proof.scope.values == "integer" else float
    pair = tuple(map(answer, found.data)), tuple(map(answer, after))
    assert [*map(Fraction, pair[0] + pair[1])] == [*found.data, *after], "data are short binary fractions"
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
