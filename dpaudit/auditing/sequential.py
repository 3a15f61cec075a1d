"""How does an audit proceed that may stop early, or that asks for the whole privacy curve?

Of an audit that may stop early, all runs are bet on in their order, with events chosen from earlier runs only: the
first few runs choose, and ever longer *epochs* follow, each with events chosen from all runs before it. Within an epoch
the blocks of all pairs take turns, so that a single pair that breaks the claim ends the audit early. After every two
runs, one of each side (less often in long blocks), the wealth of the bets is examined (`dpaudit.stats.e_process`). The
audit stops when the wealth refutes the claim, at the limit of runs, or when the time is over. The bets are valid
whenever the audit stops. The runs that count are those read by then; the block that contains them was run to its end.

Statements about the curve are chosen on the learning runs: δ at about a dozen values of ε, μ, and an attacker's power
at some false positive rates, each with the event that probably shows most of it. Fresh runs, the same ones that measure
the headline, give each statement a joint region at its share of the error level. These regions hold simultaneously, and
each bounds every point of the curve (`dpaudit.stats.renyi`). The curve is a finding of its own: it does not share the
confidence of the verdict's bound, and never decides a verdict.
"""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from dpaudit.arrays import Floats, Integers
from dpaudit.auditing import independence, verdict
from dpaudit.auditing.pair import both_sides, joined, numbers_a_run, refuse_if_nothing_ran
from dpaudit.auditing.question import Question
from dpaudit.errors import InvalidRunsError, UsageError
from dpaudit.events import SelectedEvent, choose, choose_each, count_event, degree_of_each, families, graded_along
from dpaudit.events.partition import score_of
from dpaudit.evidence import build, records
from dpaudit.evidence.event import Coordinate, Event, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import Claim, GaussianDP
from dpaudit.sampling.checkpoint import Phase, RunBlock, block_size, sides_of
from dpaudit.sampling.outputs import Outputs
from dpaudit.sampling.play import play
from dpaudit.sampling.runs import RaisedTogetherError
from dpaudit.stats import joint_region, methods, renyi, two_looks
from dpaudit.stats.e_process import PairProcess, foresee_sequential, just_above, log_wealth, searched, sequential_bound
from dpaudit.targets.signature import Shape

# --- How does an audit proceed that may stop as soon as the claim is refuted? ----------------------------

# chosen by the runs that false claims took
_FIRST, _GROWTH = 32, 1.25  # runs of a pair that choose the first events; factor between the ends of two epochs
_PARTS, _LEAST_BLOCK = 16, 32  # a block is 1/16 of the runs so far, but at least 32 runs
_LOOKS = 512  # at most, within a block
_LEARNING_CAP, _LEARNING_NUMBERS = 1_000_000, 20_000_000  # runs, and numbers, that events are chosen from
_NEVER = 10**15
_STEADY = 1024  # runs of a pair that are checked for drift and dependence before a claim is called refuted
_SHOWN = 8  # smallest number of runs of each side for which the counts of an event are shown


@dataclass(frozen=True, slots=True)
class SequentialResult:
    """The result of a sequential audit."""

    attempt: records.Attempt
    sequential: records.Sequential
    learning: int
    measuring: int
    limit: int
    foreseen: two_looks.Detectable | None
    fallback_reason: str | None
    constant: tuple[int, ...]
    looks: verdict.TwoLooks | None


@dataclass(slots=True)
class _Graded:
    """The event with degrees of an epoch: its counts before the epoch, (2, degrees), and the epoch's own."""

    event: Event
    past: Integers
    own: Integers

    @classmethod
    def along(cls, event: Event, outputs: tuple[Outputs, Outputs]) -> _Graded:
        """Make degrees along the score of an event, from all runs so far."""
        event = graded_along(event, outputs)
        degrees = event.degrees[0] - min(event.degrees[1], -1)
        past = np.stack([np.bincount(degree_of_each(event, side), minlength=degrees) for side in outputs])
        return cls(event, past, np.zeros_like(past))

    def looked(self, sides: Integers, outputs: tuple[Outputs, Outputs], looks: Integers) -> Integers:
        """Return the epoch's own counts after so many runs of a block, (looks, 2, degrees)."""
        made = np.zeros((len(looks), *self.own.shape), dtype=np.int64)
        for side in (0, 1):
            seen_at = np.searchsorted(looks, np.flatnonzero(sides == side), side="right")
            np.add.at(made[:, side], (seen_at, degree_of_each(self.event, outputs[side])), 1)
        return np.asarray(self.own + np.cumsum(made, axis=0))

    def stake(self) -> records.Stake:
        """The record of it."""
        most = self.event.degrees[0]

        def counts(bins: Integers) -> records.Counts:
            runs, toward0, toward1 = bins.sum(axis=1), bins[:, :most].sum(axis=1), bins[:, most:].sum(axis=1)
            filled = _counts(np.stack([runs, toward0, toward1]))
            return msgspec.structs.replace(filled, bins=(tuple(bins[0].tolist()), tuple(bins[1].tolist())))

        return records.Stake("graded", str(self.event), (True, True), counts(self.past), counts(self.own))


@dataclass(slots=True)
class _WatchedPair:
    """The state of one pair during the audit."""

    number: int
    limit: int
    bettors: PairProcess
    outputs: list[tuple[Outputs, Outputs]] = field(default_factory=list)
    kept: int = 0  # runs in ``outputs``
    made: int = 0
    constant: bool = False  # whether all runs of a side returned the same output
    blocks: int = 0
    width: int = 1
    choices: tuple[SelectedEvent, ...] = ()
    pasts: tuple[records.Counts, ...] = ()
    own: Integers = field(default_factory=lambda: np.zeros((0, 3, 2), dtype=np.int64))  # of events without degrees
    graded: _Graded | None = None  # against a claim of μ
    epochs: list[records.Epoch] = field(default_factory=list)

    @property
    def speaks(self) -> list[tuple[bool, bool]]:
        return [(choice.event.toward(0), choice.event.toward(1)) for choice in self.choices]

    def count(self, own: Integers, graded: Integers | None) -> None:
        """Set the epoch's own counts."""
        self.own = own
        if self.graded is not None and graded is not None:
            self.graded.own = graded

    def epoch(self) -> records.Epoch:
        """The record of the current epoch."""
        stakes = [
            records.Stake(choice.name, str(choice.event), speaks, past, _counts(own))
            for choice, speaks, past, own in zip(self.choices, self.speaks, self.pasts, self.own, strict=True)
        ]
        return records.Epoch(self.number, (*stakes, *([] if self.graded is None else [self.graded.stake()])))


def audit_sequentially(question: Question, total: int, seconds: float | None) -> SequentialResult:
    """Bet on runs until the claim is refuted, all runs are made, or the time is over."""
    course = _Course(question, total, seconds)
    try:
        return course.run()
    except RaisedTogetherError:
        if any(pair.choices for pair in course.pairs):
            raise
        return _Course(replace(question, made_as=Shape.SEEDED), total, seconds).run()


class _Course:
    """The course of one sequential audit."""

    def __init__(self, question: Question, total: int, seconds: float | None) -> None:
        self.question, self.seconds = question, seconds
        self.claim = just_above(question.notion)
        count = len(question.pairs)
        limits = [total // count // 2 * 2 if seconds is None else _NEVER for _ in range(count)]
        bettors = [PairProcess(question.notion, (self.claim.value,)) for _ in limits]
        self.pairs = [_WatchedPair(k, limit, own) for k, (limit, own) in enumerate(zip(limits, bettors, strict=True))]
        self.total, self.error = sum(limits), 1 - question.confidence
        self.enough = replace(question.rule, repeatable=False).at_once  # the level at which the claim is refuted
        self.wealth = np.zeros(count)  # log wealth of each pair, as of now
        self.finished: list[records.Epoch] = []
        self.clock = time.perf_counter()
        self.fallback_reason: str | None = None
        self.learning = self.reached = self.looked = 0

    def run(self) -> SequentialResult:
        """Run epoch after epoch."""
        stopped, over = False, False
        end = _FIRST
        while not stopped and not over and any(pair.made < pair.limit for pair in self.pairs):
            stopped, over = self._epoch(end)
            end = max(int(end * _GROWTH) // 2 * 2, end + _LEAST_BLOCK)
        for pair in self.pairs:
            if stopped:
                self._look_on(pair)
            self._refuse_unsteady(pair)
        return self._result(stopped)

    def _look_on(self, pair: _WatchedPair) -> None:
        """Make runs without betting on them, if those so far are too few to tell whether calls are dependent."""
        size = _STEADY - pair.made
        if size > 0 and self.question.runs_as in (Shape.SEEDED, Shape.OPAQUE):
            block = RunBlock(Phase.SEQUENTIAL, pair.number, pair.blocks, size)
            for played in play(self.question.experiment, [block], both_sides, workers=1, watch=self.question.watch):
                pair.outputs.append(played.result)
            self.looked += size

    def _epoch(self, end: int) -> tuple[bool, bool]:
        """Run an epoch of every pair, up to ``end`` runs; return whether it refuted the claim, or used up the time."""
        for pair in self.pairs:
            if pair.kept and pair.kept == pair.made:
                self._learn(pair)
        rounds = list(self._blocks(end))
        order = [block for blocks in rounds for block in blocks]
        last = {id(blocks[-1]) for blocks in rounds}
        experiment, workers = self.question.experiment, self.question.engine
        playing = play(experiment, order, both_sides, workers=workers, watch=self.question.watch)
        for block, played in zip(order, playing, strict=True):
            self.fallback_reason = self.fallback_reason or played.fallback_reason
            stopped = self._read(self.pairs[block.pair], block, played.result)
            late = self.seconds is not None and time.perf_counter() - self.clock > self.seconds
            if stopped or (late and id(block) in last):
                with warnings.catch_warnings(action="ignore"):  # about blocks that workers made needlessly
                    cast(Generator[Any, None, None], playing).close()
                return stopped, not stopped
        return False, False

    def _blocks(self, end: int) -> Iterator[list[RunBlock]]:
        """Yield the blocks of an epoch, one of every pair at a time. Limits truncate blocks and do not change any
        other.
        """
        ends = {pair.number: min(end, pair.limit) for pair in self.pairs}
        made = {pair.number: pair.made for pair in self.pairs}
        while any(made[number] < ends[number] for number in ends):
            blocks = []
            for pair in self.pairs:
                done = made[pair.number]
                asked = self.question
                largest = block_size(asked.runs_as, pair.width, asked.block_size)
                size = min(max(done // _PARTS, _LEAST_BLOCK) if done else _FIRST, largest, end - done)
                size = min(size, ends[pair.number] - done) // 2 * 2
                if size > 0:
                    blocks.append(RunBlock(Phase.SEQUENTIAL, pair.number, pair.blocks, size))
                    pair.blocks += 1
                    made[pair.number] += size
            yield blocks

    def _learn(self, pair: _WatchedPair) -> None:
        """End a pair's epoch and choose the events of the next one, from all runs so far."""
        if pair.choices:
            pair.bettors.close(pair.own, None if pair.graded is None else pair.graded.own)
            self.finished.append(pair.epoch())
        outputs = joined(pair.outputs)
        pair.outputs = [outputs]
        refuse_if_nothing_ran(self.question, pair.number, outputs)
        pair.width = numbers_a_run(outputs)
        self._refuse_unsteady(pair)
        pair.choices = self._choose(outputs, pair)
        pair.pasts = tuple(_past(choice.event, outputs) for choice in pair.choices)
        pair.own = np.zeros((len(pair.choices), 3, 2), dtype=np.int64)
        if isinstance(self.claim, GaussianDP):
            pair.graded = _Graded.along(pair.choices[0].event, outputs)
        pair.bettors.open([(stake.past, stake.speaks) for stake in pair.epoch().stakes])

    def _choose(self, outputs: tuple[Outputs, Outputs], pair: _WatchedPair) -> tuple[SelectedEvent, ...]:
        """Choose a stable and a rare event (possibly the same), outputs of one side alone, and for a curve a middle
        event.
        """
        tail, middle = searched(self.claim)
        leads = self.question.leads_of(pair.number)
        choose_for = partial(
            choose, *outputs, measuring=pair.made, error=self.error, learn=self.question.learn, leads=leads
        )
        choices, _ = choose_for(claim=tail)
        chosen = (replace(choices[0], name="stable"), replace(choices[-1], name="rare"), _unseen(outputs))
        if middle is None:
            return chosen
        return (*chosen, replace(choose_for(claim=middle)[0][0], name="middle"))

    def _read(self, pair: _WatchedPair, block: RunBlock, outputs: tuple[Outputs, Outputs]) -> bool:
        """Read the runs of a block one by one; return whether they refuted the claim, so that reading stopped."""
        self.reached = pair.made + block.size
        if pair.made + block.size <= self._cap(pair) and pair.kept == pair.made:
            pair.outputs.append(outputs)
            pair.kept += block.size
        if not pair.choices:
            pair.made += block.size
            self.learning += block.size
            return False
        sides = sides_of(self.question.experiment, block)
        labels = [_in_order(choice.event, outputs, sides) for choice in pair.choices]
        twos = block.size // 2  # bets gain nothing on average over two runs, so looks come only after both
        looks = 2 * np.unique(np.linspace(0, twos, min(twos, _LOOKS) + 1).astype(np.int64)[1:])
        counts = pair.own + np.stack([_looked(sides, own, looks) for own in labels], axis=1)
        degrees = None if pair.graded is None else pair.graded.looked(sides, outputs, looks)
        own = pair.bettors.watch(counts, degrees)[:, 0]
        others = np.delete(self.wealth, pair.number)
        together = own if not len(others) else np.logaddexp(own, np.logaddexp.reduce(others))
        for look in self._promising(together - math.log(len(self.pairs))) if self.question.claim is not None else ():
            pair.count(counts[look], None if degrees is None else degrees[look])
            if self._refuted():
                self.wealth[pair.number] = own[look]
                pair.made += int(looks[look])
                return True
        pair.count(counts[-1], None if degrees is None else degrees[-1])
        self.wealth[pair.number] = own[-1]
        pair.made += block.size
        return False

    def _promising(self, wealth: Floats) -> list[int]:
        """The first look at which the claim is rejected, and the first at which every smaller value is surely rejected
        too.
        """
        firsts = (np.flatnonzero(wealth >= math.log(times / self.enough))[:1] for times in (1, 2.001))
        return sorted({int(look) for first in firsts for look in first})

    def _refuted(self) -> bool:
        """Whether smaller values are rejected as well, so that the bound is above the claim."""
        bound = sequential_bound(self._epochs(), len(self.pairs), self.question.notion, self.enough)
        return bound > self.question.notion.value

    def _cap(self, pair: _WatchedPair) -> int:
        return min(_LEARNING_CAP, max(_LEARNING_NUMBERS // pair.width, _FIRST))

    def _refuse_unsteady(self, pair: _WatchedPair) -> None:
        if self.question.runs_as is not Shape.PROGRAM and pair.outputs:
            outputs = joined(pair.outputs)
            independence.homogeneity_cells(outputs, self.question.observe)
            pair.constant = independence.are_constant(outputs)

    def _epochs(self) -> tuple[records.Epoch, ...]:
        return (*self.finished, *(pair.epoch() for pair in self.pairs if pair.choices))

    # --- the result ---------------------------------------------------------------------------------------

    def _result(self, stopped: bool) -> SequentialResult:
        question, notion, epochs = self.question, self.question.notion, self._epochs()
        pairs = len(self.pairs)
        value = sequential_bound(epochs, pairs, notion, self.error)
        best = self.pairs[int(np.argmax(self.wealth))]
        event = counts = None
        considered: tuple[records.Candidate, ...] = ()
        if best.choices:
            shown = best.bettors.leading(best.own)
            event, considered = best.choices[shown].event, best.choices[shown].considered
            counts = _counts(best.own[shown]) if best.own[shown, 0].min() >= _SHOWN else None
        bound = build.sampled_bound(
            value,
            notion,
            method=methods.SEQUENTIAL,
            confidence=question.confidence,
            counts=counts,
            event=event,
            pair=best.number,
            assumes=question.assumptions,
        )
        made = sum(pair.made for pair in self.pairs)
        limit = self.total if self.seconds is None else pairs * self.reached
        foreseen = None if question.claim is None else foresee_sequential(epochs, limit, pairs, notion, self.enough)
        return SequentialResult(
            attempt=records.Attempt(best.number, "sequential", bound, considered),
            sequential=records.Sequential(log_wealth(epochs, pairs, notion), stopped, epochs, self.looked),
            learning=self.learning + self.looked,
            measuring=made - self.learning,
            limit=limit,
            foreseen=foreseen,
            fallback_reason=self.fallback_reason,
            constant=tuple(pair.number for pair in self.pairs if pair.constant),
            looks=None if question.claim is None else self._looks(bound, stopped),
        )

    def _looks(self, bound: records.Bound, stopped: bool) -> verdict.TwoLooks:
        """Bets are one look that never ends: the claim is refuted once they have won enough."""
        above = bound.value > self.question.notion.value
        first = two_looks.FirstLook(0, "real", self.enough if stopped else self.error, stopped) if above else None
        return verdict.TwoLooks(replace(self.question.rule, repeatable=False), first)


def _unseen(outputs: tuple[Outputs, Outputs]) -> SelectedEvent:
    """Return the outputs that only one side showed, most often: numbers beyond the other side's range, or another form.

    Nothing is fitted here, so few runs are enough for a rare leak; the bets on past runs decide whether to trust it.
    """
    tables = [dict(zip(side.forms, side.numbers, strict=True)) for side in outputs]
    best, rule = 0, None
    for side, label in ((0, 1), (1, -1)):
        for form, own in tables[side].items():
            other = tables[1 - side].get(form)
            rules = []
            if other is None or not len(other):
                rules = [(len(own), Rule(form, None, (), (label,)))]
            elif own.shape[1] == 1:
                low, high = float(other.min()), float(np.nextafter(other.max(), np.inf))
                rules = [
                    (int(np.count_nonzero(own < low)), Rule(form, Coordinate(0), (low,), (label, 0))),
                    (int(np.count_nonzero(own >= high)), Rule(form, Coordinate(0), (high,), (0, label))),
                ]
            for seen, tried in rules:
                if seen > best:
                    best, rule = seen, tried
    return SelectedEvent("unseen", Event("unseen", () if rule is None else (rule,)), methods.SEQUENTIAL, None, 1.0, ())


def _in_order(event: Event, outputs: tuple[Outputs, Outputs], sides: Integers) -> Integers:
    """Return which side each run of a block points to: 1 for side 0, −1 for side 1, 0 for neither; (runs,)."""
    labels = np.zeros(len(sides), dtype=np.int64)
    for side in (0, 1):
        labels[sides == side] = _labels(event, outputs[side])
    return labels


def _labels(event: Event, outputs: Outputs) -> Integers:
    marks = np.zeros(len(outputs), dtype=np.int64)
    index = {form: code for code, form in enumerate(outputs.forms)}
    for rule in event.rules:
        code = index.get(rule.form)
        if code is None or not len(outputs.numbers[code]):
            continue
        labels = np.sign(np.asarray(rule.labels, dtype=np.int64))
        cells: Integers | int = 0
        if rule.score is not None and rule.edges:
            cells = np.searchsorted(np.asarray(rule.edges), score_of(rule.score, outputs.numbers[code]), side="right")
        marks[outputs.codes == code] = labels[cells]
    return marks


def _looked(sides: Integers, labels: Integers, looks: Integers) -> Integers:
    """Return the counts of the first so many runs of a block, (looks, 3, 2)."""
    counted = np.empty((len(looks), 3, 2), dtype=np.int64)
    for side in (0, 1):
        own = sides == side
        for row, kind in enumerate((own, own & (labels > 0), own & (labels < 0))):
            counted[:, row, side] = np.cumsum(kind)[looks - 1]
    return counted


def _past(event: Event, outputs: tuple[Outputs, Outputs]) -> records.Counts:
    toward = [count_event(event, side) for side in outputs]
    return _counts(np.array([[len(side) for side in outputs], *zip(*toward, strict=True)]))


def _counts(array: Integers) -> records.Counts:
    runs, toward0, toward1 = ((int(row[0]), int(row[1])) for row in array)
    return records.Counts(runs, toward0, toward1)


# --- How private is a mechanism at every ε at once? ------------------------------------------------------

# chosen by how close the curve of a Gaussian comes
_STATEMENTS = 12  # about δ at some ε, approximately
_STEPS = tuple(factor * 10.0**power for power in range(-3, 2) for factor in (1.0, 2.0, 2.5, 5.0))
_RATES = (0.01, 0.05, 0.25)
_FARTHEST, _HALVINGS = 64.0, 4  # of the search for the largest ε at which a δ is shown
_AS_GOOD = 0.93  # share of the best predicted δ at which a two-sided event, counted on all runs, is preferred
_DRAWN, _NEAREST = 101, 1e-4  # points of the drawn curves (smooth to the eye), and their smallest positive rate

# --- learning runs ---------------------------------------------------------------------------------------


def choose_statements(
    outputs0: Outputs, outputs1: Outputs, measuring: int, *, error: float, learn: str | None = None
) -> tuple[SelectedEvent, ...]:
    """Choose the statements about the curve, from learning runs alone."""
    level = error / (_STATEMENTS + len(_RATES) + 1)

    fitted = list(families(outputs0, outputs1, learn))
    useful: set[str] = set()

    def chosen(claims: Sequence[Claim], as_good: float = 1.0) -> list[tuple[SelectedEvent, float]]:
        chosen_events = choose_each(fitted, claims=claims, measuring=measuring, error=level, as_good=as_good)
        useful.update(choice.event.family for choice, _ in chosen_events)
        return chosen_events

    def shows(epsilon: float) -> bool:
        return chosen([renyi.DeltaAt(epsilon)])[0][1] > 0

    last = _last(shows)
    chosen([GaussianDP(0.0), renyi.PowerAt(_RATES[0])])
    # families that were best nowhere along the curve so far are not tried at every point
    fitted = [item for item in fitted if item.partition.family in useful]
    epsilons = _round_values(last)
    deltas = [renyi.DeltaAt(epsilon) for epsilon in epsilons]
    others = [GaussianDP(0.0), *(renyi.PowerAt(rate) for rate in _RATES)]
    notions = [*others, *deltas]
    joined: dict[Any, SelectedEvent] = {}
    for notion, (choice, _) in zip(notions, [*chosen(others), *chosen(deltas, _AS_GOOD)], strict=True):
        # enumerating a region would take a second, and there are many
        method = methods.plain(choice.method)
        key = choice.event, method
        own = joined.get(key) or SelectedEvent(
            f"{notion.parameter} {notion}", choice.event, method, choice.weight, 0.0, ()
        )
        joined[key] = dataclasses.replace(own, share=own.share + 1 / len(notions))
    return tuple(joined.values())


def _round_values(last: float) -> list[float]:
    """Round values from 0 to ``last``, about `_STATEMENTS` of them, because round values are what people ask for."""
    step = next(step for step in _STEPS if last <= (_STATEMENTS - 1) * step)
    return [float(f"{step * i:.6g}") for i in range(int(last / step * (1 + 1e-9)) + 1)]


def _last(shows: Callable[[float], bool]) -> float:
    """The largest ε at which a positive δ will probably be shown, approximately."""
    high = 1.0
    while high < _FARTHEST and shows(high):
        high *= 2
    low = high / 2 if high > 1 else 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if shows(middle) else (low, middle)
    return low


# --- measuring runs --------------------------------------------------------------------------------------


def statement(
    choice: SelectedEvent, counts: records.Counts, pair: int, error: float, assumes: tuple[str, ...]
) -> records.Bound:
    """Return the bound that the counts of one chosen statement prove.

    Args:
        choice: the statement, with its event, method and share of the error level.
        counts: of its event, in measuring runs.
        pair: index of the pair.
        error: the error level of all statements of the pair together.
        assumes: what the bound takes on trust.

    Returns:
        The bound, rounded down.
    """
    parameter, _, notion = choice.name.partition(" ")
    own = renyi.about(parameter, notion)
    made = build.sampled_bound(
        0.0,
        own,
        method=choice.method,
        confidence=1 - error * choice.share,
        weight=choice.weight,
        counts=counts,
        event=choice.event,
        pair=pair,
        assumes=assumes,
    )
    value = float(renyi.region_of_bound(made).least(own.least))
    return msgspec.structs.replace(made, value=records.round_outward(value, "lower"))


def curve_of(statements: Sequence[records.Bound], confidence: float) -> records.Curve:
    """Return what the statements show of the curve, at the points needed to draw it."""
    regions = [renyi.region_of_bound(bound) for bound in statements]
    epsilons = tuple(float(f"{epsilon:.6g}") for epsilon in np.linspace(0, _reach(regions), _DRAWN))
    near = np.concatenate([np.geomspace(_NEAREST, 0.05, _DRAWN // 2), np.linspace(0.05, 0.95, _DRAWN // 2 + 1)[1:]])
    fprs = tuple(dict.fromkeys(float(f"{rate:.6g}") for rate in (0.0, *near, 1.0)))
    return records.Curve(
        confidence=confidence,
        statements=tuple(statements),
        epsilons=epsilons,
        deltas=tuple(records.round_outward(float(delta), "lower") for delta in renyi.delta_at_least(regions, epsilons)),
        fprs=fprs,
        fnrs=tuple(records.round_outward(float(fnr), "upper") for fnr in renyi.fnr_at_most(regions, fprs)),
        mu=records.round_outward(renyi.mu_at_least(regions), "lower"),
    )


def _reach(regions: Sequence[joint_region.ConfidenceRegion]) -> float:
    """The smallest ε at which nothing is shown any more, rounded up to two digits; at least 1."""
    low, high = 0.0, 1.0
    while high < _FARTHEST and renyi.delta_at_least(regions, high) > 0:
        low, high = high, 2 * high
    while high - low > 0.01 * high and high > 1:
        middle = (low + high) / 2
        low, high = (middle, high) if renyi.delta_at_least(regions, middle) > 0 else (low, middle)
    return float(f"{high * 1.005:.2g}")


@dataclass(frozen=True)
class PrivacyCurve:
    """Certified lower bounds of the whole privacy curve, all true at once with `confidence`."""

    evidence: Evidence  # the evidence that all of it is computed from
    _regions: tuple[joint_region.ConfidenceRegion, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.evidence.verdict is records.Verdict.INVALID:
            raise InvalidRunsError(self.evidence.reason)
        object.__setattr__(self, "_regions", tuple(renyi.region_of_bound(bound) for bound in self.curve.statements))

    @property
    def curve(self) -> records.Curve:
        """The record of the curve."""
        if self.evidence.curve is None:
            raise UsageError("this evidence has no curve; audit with curve=True, or --curve")
        return self.evidence.curve

    @property
    def confidence(self) -> float:
        """The probability that all numbers here are valid at once."""
        return self.curve.confidence

    @property
    def mu(self) -> float:
        """If the mechanism keeps μ-GDP, then μ is at least this."""
        return self.curve.mu

    @property
    def points(self) -> tuple[tuple[float, float], ...]:
        """Points (fpr, fnr), by increasing false positive rate. No trade-off curve that the mechanism satisfies is
        above them.
        """
        return tuple(zip(self.curve.fprs, self.curve.fnrs, strict=True))

    def delta(self, epsilon: ArrayLike) -> Floats | float:
        """Return a lower bound of δ(ε) at any ε (nats, at least 0): a float for a number, else the shape of
        ``epsilon``.
        """
        return self._at(epsilon, "epsilon", np.inf, lambda at: renyi.delta_at_least(self._regions, at))

    def fnr(self, fpr: ArrayLike) -> Floats | float:
        """Return an upper bound of the smallest false negative rate, at any false positive rate from 0 to 1."""
        return self._at(fpr, "fpr", 1.0, lambda at: renyi.fnr_at_most(self._regions, at))

    @staticmethod
    def _at(given: ArrayLike, name: str, most: float, computed: Callable[[Floats], Floats]) -> Floats | float:
        try:
            at = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is a number or an array of them, not {given!r:.80}") from None
        if not np.all((at >= 0) & (at <= most)):
            raise UsageError(f"{name} lies between 0 and {most:g}; {given!r:.80} does not")
        values = computed(at)
        return float(values) if at.ndim == 0 else values
