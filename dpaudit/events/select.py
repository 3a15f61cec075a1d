"""Which event should be measured? Learning runs in, one or two frozen events out.

Each candidate event of every family of `families` gets a *predicted bound*, lowered by several standard deviations of
its own estimate. Without that penalty the best of many candidates is mostly the luckiest one. Two finalists are
measured: a stable one (large penalty, most of the error level) and a rare one (small penalty), because one penalty does
not fit both a broad difference and a rare leak.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice

import numpy as np

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.events.candidate_partitions import FittedPartition, families
from dpaudit.events.likelihood_order import FEW_CELLS, LikelihoodOrder, by_position, by_ratio, smoothed
from dpaudit.events.methods import method_for_both_sides, method_for_one_side, same_everywhere
from dpaudit.events.partition import Partition
from dpaudit.events.predict import predicted_bound
from dpaudit.events.quantise import Quantised, graded
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import Candidate
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.methods import BOTH_SIDES, GUESS, JOINT, method_of

Runs = float | Floats

# All of these are measured by benchmarks/goal_table.py (tuned on its seeds 0 to 99).
# Penalties in standard deviations by which predictions are lowered, for the stable and for the rare finalist.
_TRUST = {"ordered": (3.5, 3.0), "few": (3.5, 1.0), "ranked": (3.5, 2.5)}
# A smooth loss hides a rare leak, so it must not predict more than the counts do, lowered by the second number. At
# δ > 0 the loss is in the tails, and a threshold that is too cautious costs more than a lucky one. Otherwise the
# penalty grows with the number of events that are as rare, since the best of them is the luckiest (`predicted_bound`).
_SMOOTH, _SMOOTH_DELTA = (0.75, 1.0), (0.75, 0.5)
_RARE_SHARE, _FEW_SHARE = 0.2, 0.4
_MOST_SHOWN = 400
_FEW_VALUES = 60  # up to which the loss may jump from one value to the next, and is not smoothed
_RARE = 0.05  # largest share of runs of an event that may leave out cells between its two sides
_FINE, _COARSE, _NEAR = 400, 64, 12  # thresholds tried alone, in pairs, and around the best


@dataclass(frozen=True, slots=True)
class SelectedEvent:
    """A frozen event with the method by which its counts will be bounded.

    Attributes:
        name: "stable" or "rare".
        event: what is counted.
        method: as `dpaudit.stats.statement.lower_bound` takes it.
        weight: w₁ of a joint bound, all weights of a multinomial one, else None.
        share: this choice's share of the error level.
        considered: the best candidate of every family and method, best first.
    """

    name: str
    event: Event
    method: str
    weight: float | tuple[float, ...] | None
    share: float
    considered: tuple[Candidate, ...]

    @property
    def graded(self) -> bool:
        """Whether the event has degrees, each of which is counted."""
        return method_of(self.method).weights == "bins"


@dataclass(frozen=True, slots=True)
class _Scored:
    predicted: float
    partition: Partition
    labels: Integers
    method: str
    p: float
    q: float
    rates: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)  # right and wrong on side 0, then on side 1


@dataclass(frozen=True, slots=True)
class _Stakes:
    """What a choice is made for: the claim, the measuring runs of each side, and the error level."""

    claim: Claim
    ahead: tuple[float, float]
    error: float

    @classmethod
    def of(cls, claim: Claim, measuring: int | tuple[int, int], error: float) -> _Stakes:
        halves = (measuring / 2, measuring / 2) if isinstance(measuring, int) else measuring
        return cls(claim, (max(halves[0], 1), max(halves[1], 1)), error)

    @property
    def balanced(self) -> float:
        """The runs of both sides on which a two-sided event is measured: equally many of each."""
        return 2 * min(self.ahead)

    @property
    def two_sided(self) -> str:
        """The method for events that point to both sides."""
        return GUESS if self.claim.pure else BOTH_SIDES

    @property
    def smooth(self) -> tuple[float, float]:
        """How far smooth predictions are lowered, and how far the counts that they must agree with."""
        return _SMOOTH_DELTA if self.claim.delta > 0 else _SMOOTH

    def predict(
        self,
        p: Floats,
        q: Floats,
        n: Runs,
        m: Runs,
        penalty: float | Floats,
        *,
        two_sided: bool,
        smooth: bool | Booleans = False,
    ) -> Floats:
        """Predict the bounds of events (see `predicted_bound`)."""
        return predicted_bound(
            p,
            q,
            n,
            m,
            ahead=self.balanced if two_sided else (np.array(self.ahead)[:, None], np.array(self.ahead)[::-1, None]),
            claim=self.claim,
            error=self.error,
            penalty=penalty,
            two_sided=two_sided,
            rivals=smooth if self.claim.delta == 0 else False,
        )


def choose(
    outputs0: Outputs,
    outputs1: Outputs,
    *,
    claim: Claim,
    measuring: int | tuple[int, int],
    error: float,
    learn: str | None = None,
) -> tuple[tuple[SelectedEvent, ...], Partition]:
    """Choose what to measure, from learning runs alone.

    Args:
        outputs0, outputs1: learning runs of side 0 and side 1.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that will measure the choice; or those of each side, of which a
            two-sided event will use equally many.
        error: the error level of all choices together.
        learn: a learner whose score is a candidate too (see `learned`), or None.

    Returns:
        The choices, and a partition for the histogram.

    Raises:
        ValueError: if there are no learning runs.
    """
    if not len(outputs0) + len(outputs1):
        raise ValueError("there are no learning runs to choose an event from")
    stakes = _Stakes.of(claim, measuring, error)
    fitted = list(families(outputs0, outputs1, learn))
    stables, rares = _searched(fitted, stakes)
    stable, rare = _best(stables), _best(rares)
    picture = _to_draw(fitted, stable.partition)
    bins = graded(fitted, claim=claim, measuring=int(stakes.balanced), error=error)
    if bins is not None and bins.predicted > max(stable.predicted, rare.predicted, 0.0):
        return (_graded_choice(bins, stables),), picture
    alike = rare.method == stable.method and rare.partition.event(rare.labels) == stable.partition.event(stable.labels)
    few = rare.partition.size <= FEW_CELLS + 2
    share = _FEW_SHARE if few else _RARE_SHARE
    if alike or rare.p > stable.p * (0.7 if few else 0.25):
        return (_choice("stable", stable, stables, stakes, 1.0),), picture
    return (
        _choice("stable", stable, stables, stakes, 1 - share),
        _choice("rare", rare, rares, stakes, share),
    ), picture


def choose_each(
    fitted: list[FittedPartition], *, claims: Sequence[Claim], measuring: int, error: float, as_good: float = 1.0
) -> list[tuple[SelectedEvent, float]]:
    """Choose one event for each of several notions.

    Args:
        fitted: candidate partitions of the learning runs (`families`).
        claims: the notions to bound.
        measuring: the runs, of both sides together, that will measure the choices.
        error: the error level of each choice.
        as_good: a two-sided event is chosen if its prediction is more than this share of the best one.

    Returns:
        For every notion its stable choice, and its predicted bound.
    """
    chosen = []
    for claim in claims:
        stakes = _Stakes.of(claim, measuring, error)
        stables, _ = _searched(fitted, stakes, rare=False)
        best = _best(stables)
        # right and wrong guesses are counted on all runs, an advantage that predictions understate
        both = max((s for s in stables if s.method != JOINT), key=lambda s: s.predicted)
        best = both if both.predicted > as_good * best.predicted else best
        chosen.append((_choice(str(claim), best, stables, stakes, 1.0), best.predicted))
    return chosen


def _searched(
    fitted: list[FittedPartition], stakes: _Stakes, *, rare: bool = True
) -> tuple[list[_Scored], list[_Scored]]:
    """The best events of every family, for the stable finalist and, if asked for, for the rare one."""
    stables: list[_Scored] = []
    rares: list[_Scored] = []
    for item in fitted:
        asked: list[tuple[list[_Scored], _Contest, float]] = []
        for kind, ordering in _orderings(item):
            contest = _contest(item.partition, ordering, None, stakes)
            asked.append((stables, contest, _TRUST[kind][0]))
            if rare:
                asked.append((rares, contest, _TRUST[kind][1]))
        for ordering, counted in _smooth_orderings(item):
            asked.append((stables, _contest(item.partition, ordering, counted, stakes), stakes.smooth[0]))
        climbs = [_Climb(contest, penalty, band) for _, contest, penalty in asked for band in contest.starts]
        tops = iter(_climbed(climbs, stakes))
        for found, contest, penalty in asked:
            found += _best_of_one(contest, penalty)
            found += [_best_of_both(climb, *top) for climb, top in islice(tops, len(contest.starts))]
    return stables, rares


def _orderings(item: FittedPartition) -> Iterator[tuple[str, LikelihoodOrder]]:
    """Yield the orders of the cells that are worth trying, and their kind."""
    cells = item.partition.telling
    if not item.ordered:
        yield "few" if len(cells) <= FEW_CELLS else "ranked", by_ratio(cells, item.first, item.second)
        return
    for rising in (True, False):
        yield "ordered", by_position(cells, item.counts, item.apart, rising=rising)


def _smooth_orderings(item: FittedPartition) -> Iterator[tuple[LikelihoodOrder, LikelihoodOrder]]:
    """Yield the orders of many ordered cells, with the counts of a smooth loss and with the actual counts."""
    cells = item.partition.telling
    if not item.ordered or len(cells) <= _FEW_VALUES:
        return
    smooth = smoothed(item.places, item.counts)
    for rising in (True, False):
        yield (
            by_position(cells, smooth, item.apart, rising=rising),
            by_position(cells, item.counts, item.apart, rising=rising),
        )


def _best(found: list[_Scored]) -> _Scored:
    """The highest prediction; if nothing is predicted to show, the best two-sided event."""
    best = max(found, key=lambda scored: scored.predicted)
    return best if best.predicted > 0 else max((s for s in found if s.method != JOINT), key=lambda s: s.predicted)


def _to_draw(fitted: list[FittedPartition], stable: Partition) -> Partition:
    """The partition to draw: few categories, else the histogram of 64, else that of the stable event."""
    shown = {f.partition.family: f.partition for f in fitted}
    categories = shown.get("categories")
    if categories is not None and categories.size <= _MOST_SHOWN:
        return categories
    return shown.get("histogram of 64") or stable


def _choice(name: str, scored: _Scored, others: list[_Scored], stakes: _Stakes, share: float) -> SelectedEvent:
    event, error = scored.partition.event(scored.labels), stakes.error * share
    if event.toward(0) and event.toward(1):
        half = stakes.balanced / 2
        method, weight = method_for_both_sides(scored.rates, (half, half), stakes.claim, error)
    else:
        p, q = scored.p, scored.q
        if scored.method != JOINT:  # it was tried as a two-sided event, but points to one side only
            p, q = (scored.rates[0], scored.rates[3]) if event.toward(0) else (scored.rates[2], scored.rates[1])
        own = stakes.ahead if event.toward(0) else stakes.ahead[::-1]
        method, weight = method_for_one_side(p, q, (own[0], own[1]), stakes.claim, error)
    return SelectedEvent(name, event, method, weight, share, _considered(others))


def _considered(scored: list[_Scored]) -> tuple[Candidate, ...]:
    """The best candidates, for the record."""
    ranked = sorted(scored, key=lambda item: -item.predicted)
    return tuple(Candidate(item.partition.family, item.method, same_everywhere(item.predicted)) for item in ranked[:12])


def _graded_choice(bins: Quantised, others: list[_Scored]) -> SelectedEvent:
    own = Candidate(bins.partition.family, bins.method, same_everywhere(bins.predicted))
    considered = (own, *_considered(others)[:-1])
    return SelectedEvent("stable", bins.partition.event(bins.labels), bins.method, bins.weights, 1.0, considered)


@dataclass(frozen=True, slots=True)
class _Contest:
    """One order of the cells, prepared for a search with any penalty.

    Attributes:
        partition: the cells.
        ordering: their order.
        counted: the same order with the actual counts, if ``ordering`` is a smoothed one.
        stakes: what the choice is made for.
        fine: the thresholds tried alone.
        starts: for each kind of two-sided event (see `_Climb`), the thresholds to start from, (starts, 3).
    """

    partition: Partition
    ordering: LikelihoodOrder
    counted: LikelihoodOrder | None
    stakes: _Stakes
    fine: Integers
    starts: dict[int | None, Integers]


def _contest(
    partition: Partition, ordering: LikelihoodOrder, counted: LikelihoodOrder | None, stakes: _Stakes
) -> _Contest:
    bands = (None, 1, -1) if counted is None and ordering.known == 1 else (None,)
    coarse = ordering.spread(_COARSE)
    starts = {band: _promising(ordering, coarse, band, stakes) for band in bands}
    return _Contest(partition, ordering, counted, stakes, ordering.spread(_FINE), starts)


def _best_of_one(contest: _Contest, penalty: float) -> Iterator[_Scored]:
    """Yield the best event that points to side 0 alone, and to side 1; at most what the counts predict."""
    ordering, stakes, one = contest.ordering, contest.stakes, contest.fine
    p, q, n, m = _one_sided(ordering, one)
    smooth = contest.counted is not None
    values = stakes.predict(p, q, n, m, penalty, two_sided=False, smooth=smooth)
    if contest.counted is not None:
        counted = _one_sided(contest.counted, one)
        values = np.minimum(values, stakes.predict(*counted, stakes.smooth[1], two_sided=False, smooth=True))
    # an event with p + q > 1 shows less than its complement, which is also tried
    values = np.where(p + q <= 1, values, -np.inf)
    for side, best in enumerate(np.argmax(values, axis=1)):
        labels = ordering.labels(*((int(one[best]), None) if side == 0 else (None, int(one[best]))))
        at = side, best
        yield _scored(values[at], contest.partition, labels, JOINT, p[at], q[at], n[side, 0], m[side, 0])


@dataclass(frozen=True, slots=True)
class _Climb:
    """The search for the best event that points to both sides, given by three thresholds.

    The cells down to the first threshold point to side 0 (to side 1 if ``band`` is −1), and the cells between the
    second and the third threshold to the other side. Without a ``band`` the third is the last of all.
    """

    contest: _Contest
    penalty: float
    band: int | None

    def refined(self) -> Generator[Integers, Floats, tuple[float, Integers]]:
        """Search from the starts of the contest (see `_refined`)."""
        contest = self.contest
        return _refined(contest.starts[self.band], contest.fine, len(contest.ordering.thresholds), self.band)

    def rates(self, thresholds: Integers) -> Iterator[_Rates]:
        """Yield what has to be predicted of events, the smallest of which counts: (p, q, n, m, penalty, smooth)."""
        contest = self.contest
        p, q, n = _averaged(contest.ordering, thresholds, self.band)
        yield p, q, n, n, self.penalty, contest.counted is not None
        if contest.counted is not None:
            yield *_averaged(contest.counted, thresholds, self.band), n, contest.stakes.smooth[1], True


_Rates = tuple[Floats, Floats, float, float, float, bool]


def _climbed(climbs: Sequence[_Climb], stakes: _Stakes) -> list[tuple[_Climb, tuple[float, Integers]]]:
    """Return each climb with its best prediction and its thresholds.

    All climbs proceed together, and their requests are predicted at once, because separate calls would take longer than
    the computation.
    """
    tops: dict[int, tuple[float, Integers]] = {}
    going = {number: climb.refined() for number, climb in enumerate(climbs)}
    asked = {number: next(climb) for number, climb in going.items()}
    while asked:
        shown = _predicted([(climbs[number], thresholds) for number, thresholds in asked.items()], stakes)
        for number, values in zip(list(asked), shown, strict=True):
            try:
                asked[number] = going[number].send(values)
            except StopIteration as stop:
                tops[number] = stop.value
                del asked[number]
    return [(climb, tops[number]) for number, climb in enumerate(climbs)]


def _predicted(asked: Sequence[tuple[_Climb, Integers]], stakes: _Stakes) -> list[Floats]:
    """Return the predictions for the thresholds that each climb asks for."""
    rates = [list(climb.rates(thresholds)) for climb, thresholds in asked]
    every = [each for own in rates for each in own]
    sizes = [len(each[0]) for each in every]
    p, q = (np.concatenate([each[place] for each in every]) for place in (0, 1))
    n, m, penalty, smooth = (np.repeat(column, sizes) for column in zip(*(each[2:] for each in every), strict=True))
    found = iter(np.split(stakes.predict(p, q, n, m, penalty, two_sided=True, smooth=smooth), np.cumsum(sizes)[:-1]))
    return [reduce(np.minimum, islice(found, len(own))) for own in rates]


def _best_of_both(climb: _Climb, predicted: float, best: Integers) -> _Scored:
    """Return the event that a climb found."""
    contest, band = climb.contest, climb.band
    ordering, at = contest.ordering, best[None]
    p, q, n = _averaged(ordering, at, band)
    labels = (band or 1) * ordering.labels(*(int(threshold) for threshold in best))
    found = _scored(predicted, contest.partition, labels, contest.stakes.two_sided, p[0], q[0], n, n)
    totals = (max(ordering.known * ordering.total0, 1.0), max(ordering.known * ordering.total1, 1.0))
    right0, wrong0, right1, wrong1 = (float(rate[0]) for rate in _rates(ordering, at, band))
    own0 = (right0 * totals[0] + 0.5) / (totals[0] + 1.5), (wrong0 * totals[0] + 0.5) / (totals[0] + 1.5)
    own1 = (right1 * totals[1] + 0.5) / (totals[1] + 1.5), (wrong1 * totals[1] + 0.5) / (totals[1] + 1.5)
    return replace(found, rates=(*own0, *own1))


def _refined(
    starts: Integers, fine: Integers, count: int, band: int | None
) -> Generator[Integers, Floats, tuple[float, Integers]]:
    """Move each threshold to the best of many while the others stay, first over long and then over short distances.

    The two inner thresholds of a band move together, and each alone: cells that hold much of both sides are left out.
    Yields indices of thresholds, (events, 3), and is sent their predictions; returns the best prediction and its
    thresholds.
    """
    found, values = starts.copy(), np.empty(len(starts))
    each = np.arange(len(found))
    near = np.arange(-_NEAR, _NEAR + 1)
    for far in (True, False):
        for moved in ([0], [1]) if band is None else ([0, 1], [2], [0], [1]):
            around = (found[:, moved[0], None] + near).clip(0, count - 1)
            if far and band is not None and moved in ([0], [1]):  # into the gap
                around = np.linspace(found[:, 0], found[:, 1], len(near), axis=1).astype(np.int64)
            elif far:
                around = np.tile(fine, (len(found), 1))
            tried = np.repeat(found[:, None], 1 + around.shape[1], axis=1)
            tried[:, 1:, moved] = around[:, :, None]
            falling = (tried[..., 0] <= tried[..., 1]) & (tried[..., 1] <= tried[..., 2])
            shown = np.full(falling.shape, -np.inf)
            _, first, again = np.unique(tried[falling] @ (count**2, count, 1), return_index=True, return_inverse=True)
            shown[falling] = (yield tried[falling][first])[again]
            best = np.argmax(shown, axis=1)
            found, values = tried[each, best], shown[each, best]
    top = int(np.argmax(values))
    return float(values[top]), found[top]


def _promising(ordering: LikelihoodOrder, coarse: Integers, band: int | None, stakes: _Stakes) -> Integers:
    """Return the thresholds whose loss is most significant, for several penalties: a quick look at very many."""
    index = np.triu_indices(len(coarse), 0 if band is None or len(coarse) == 1 else 1)
    first, last = coarse[index[0]], coarse[index[1]]
    beside = np.minimum(coarse[np.minimum(index[0] + 1, len(coarse) - 1)], last)
    end = np.full_like(last, len(ordering.thresholds) - 1)
    shapes = ((first, last, end),) if band is None else ((first, first, last), (first, beside, last))
    thresholds = np.concatenate([np.stack(shape, axis=1) for shape in shapes])
    p, q, n = _averaged(ordering, thresholds, band)
    low, high = (p * n + 0.5) / (n + 1), (q * n + 0.5) / (n + 1)
    loss = np.log(np.maximum(low - stakes.claim.delta, 1e-300) / high)
    noise = np.sqrt((1 / low + 1 / high) / (n + 1))
    best = {int(np.argmax(loss - doubt * noise)) for doubt in (1.0, 2.0, 4.0)}
    return np.asarray(thresholds[sorted(best)])


def _averaged(ordering: LikelihoodOrder, thresholds: Integers, band: int | None) -> tuple[Floats, Floats, float]:
    """Frequencies of right and of wrong guesses, averaged over the sides, and the runs behind them."""
    # the number of runs that estimates the mean equally well, if the sides have different numbers
    both = max(
        4 * ordering.known * ordering.total0 * ordering.total1 / max(ordering.total0 + ordering.total1, 1.0), 1.0
    )
    first, second, third = np.moveaxis(thresholds, -1, 0)
    slack = ordering.slack[first] + ordering.slack[third if band else second]
    right0, wrong0, right1, wrong1 = _rates(ordering, thresholds, band)
    right, wrong = (right0 + right1) / 2, (wrong0 + wrong1) / 2 + slack / both
    if band:  # only a rare event may leave out the cells between its sides
        right = np.where((first == second) | (right <= _RARE), right, 0.0)
    return right, wrong, both


def _rates(ordering: LikelihoodOrder, thresholds: Integers, band: int | None) -> tuple[Floats, ...]:
    """Frequencies of right and of wrong guesses on side 0, and then on side 1."""
    front, above, down_to = (ordering.rates_above(thresholds[..., threshold]) for threshold in range(3))
    back = down_to[0] - above[0], down_to[1] - above[1]
    if band == -1:
        front, back = back, front
    return front[0], back[0], back[1], front[1]


def _one_sided(ordering: LikelihoodOrder, at: Integers) -> tuple[Floats, Floats, Floats, Floats]:
    """Frequencies of the events that point to side 0 and to side 1, shape (2, thresholds), and the runs behind them.

    Under the side they point to, and under the other; the runs have shape (2, 1).
    """
    above0, above1, below0, below1 = ordering.rates(at)
    runs = np.maximum(ordering.known * np.array([[ordering.total0], [ordering.total1]]), 1.0)
    p, q = np.stack([above0, below1]), np.stack([above1, below0])
    return p, q + ordering.slack[at] / runs[::-1], runs, runs[::-1]


def _scored(
    value: float, partition: Partition, labels: Integers, method: str, p: float, q: float, n: float, m: float
) -> _Scored:
    smooth_p, smooth_q = (p * n + 0.5) / (n + 1), (q * m + 0.5) / (m + 1)
    return _Scored(float(value), partition, labels, method, float(smooth_p), float(smooth_q))
