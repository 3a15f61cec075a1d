"""Which event should be measured? Learning runs in, one or two frozen events out.

Each candidate event of every family of `families` gets a *predicted bound*, lowered by several standard deviations of
its own estimate. Without that penalty the best of many candidates is mostly the luckiest one. Two finalists are
measured: a stable one (large penalty, most of the error level) and a rare one (small penalty), because one penalty does
not fit both a broad difference and a rare leak.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.events.candidate_partitions import FittedPartition, families
from dpaudit.events.partition import Partition
from dpaudit.events.predict import (
    FEW_CELLS,
    Lead,
    LikelihoodOrder,
    Orders,
    by_position,
    by_ratio,
    method_for_both_sides,
    method_for_one_side,
    predicted_bound,
    refined,
    same_everywhere,
    smooth_loss,
    smoothed,
)
from dpaudit.events.quantise import Quantised, graded
from dpaudit.evidence.event import Event
from dpaudit.evidence.records import Candidate
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.methods import BOTH_SIDES, GUESS, JOINT, method_of

# --- What bound would this pair probably give? A quick prediction from a few hundred runs, to compare pairs ---
#
# A search examines hundreds of pairs, most of them in vain, so it tries far fewer events than `choose` does: single
# thresholds along every order of cells, and a few pairs of thresholds. The *penalised predicted bound* of the best of
# them is one half of the prediction. The penalty is large because pairs are compared by it: without it, the best of
# many pairs is mostly the luckiest one. But few runs hardly show tails, where many releases reveal most, and under that
# penalty tails count for nothing. So the other half is what a smooth loss predicts that is fitted to all of the runs,
# however few of them are in the tails. The prediction is only used to choose among pairs, and proves nothing.

# measured by benchmarks/search.py
_PENALTY, _PENALTY_FEW = 4.5, 2.0  # standard deviations; a few categories leave less room for luck
_THRESHOLDS, _PAIRED = 48, 14  # thresholds tried alone, and in pairs
_LEAST_TAIL, _TAILS = 5, 24  # runs in the smallest tail of a smooth loss, and number of tails tried
_KNOWN = 1e9  # runs that a smooth loss counts as, because its uncertainty is subtracted separately


def quick_predict(outputs0: Outputs, outputs1: Outputs, *, claim: Claim, measuring: int, error: float) -> float:
    """Return the predicted bound of a pair: the mean of a counted and a smooth prediction for the best event.

    Args:
        outputs0, outputs1: runs of side 0 and of side 1, whose numbers may differ widely.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that would measure the event.
        error: the error level of the bound.

    Returns:
        The prediction; negative if nothing would be shown, and −inf if too few runs say anything.
    """
    if not len(outputs0) or not len(outputs1):
        return -np.inf
    counted = smooth = -np.inf
    for item in families(outputs0, outputs1, quick=True):
        for ordering, penalty in _quick_orderings(item):
            counted = max(counted, _quick_best(ordering, penalty, claim, measuring, error))
        if item.ordered:
            smooth = max(smooth, _smooth(item, claim, measuring, error))
    return float((counted + max(counted, smooth)) / 2)


def _smooth(item: FittedPartition, claim: Claim, measuring: int, error: float) -> float:
    """The bound that the best tail would probably show if the loss were smooth, minus one standard deviation."""
    smooth = smooth_loss(item.places, item.counts)
    total0, total1 = (max(float(side.sum()), 1.0) for side in item.counts)
    tails = []  # (p, q, q with the doubt about it), all predicted at once
    for order in (slice(None), slice(None, None, -1)):
        runs, share, basis = smooth.runs[order], smooth.share[order], smooth.basis[order]
        caught = np.cumsum(runs)
        sizes = np.geomspace(_LEAST_TAIL, max(caught[-1], _LEAST_TAIL), _TAILS, endpoint=False)
        at = np.unique(np.minimum(np.searchsorted(caught, sizes), len(runs) - 1))
        tail0, tail1 = np.cumsum(runs * share)[at] / total0, np.cumsum(runs * (1 - share))[at] / total1
        mean = np.cumsum(runs[:, None] * basis, axis=0)[at] / np.maximum(caught[at], 1.0)[:, None]
        off = np.exp(np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", mean, smooth.doubt, mean), 0.0)))
        tails += [(p, q, np.minimum(q * off, 1.0)) for p, q in ((tail0, tail1), (tail1, tail0))]
    p, q, high = (np.concatenate(column) for column in zip(*tails, strict=True))
    shown = predicted_bound(
        p, high, _KNOWN, _KNOWN, ahead=measuring / 2, claim=claim, error=error, penalty=0.0, two_sided=False
    )
    return float(np.max(np.where(p + q <= 1, shown, -np.inf)))


def _quick_orderings(item: FittedPartition) -> list[tuple[LikelihoodOrder, float]]:
    cells = item.partition.telling
    if item.ordered:
        return [(by_position(cells, item.counts, item.apart, rising=rising), _PENALTY) for rising in (True, False)]
    penalty = _PENALTY_FEW if len(cells) <= FEW_CELLS else _PENALTY
    return [(by_ratio(cells, item.first, item.second), penalty)]


def _quick_best(ordering: LikelihoodOrder, penalty: float, claim: Claim, measuring: int, error: float) -> float:
    alone, coarse = ordering.spread(_THRESHOLDS), ordering.spread(_PAIRED)
    runs0, runs1 = (max(ordering.known * total, 1.0) for total in (ordering.total0, ordering.total1))
    n = np.array([[runs0], [runs1]])
    above0, above1, below0, below1 = ordering.rates(alone)
    p, q = np.stack([above0, below1]), np.stack([above1, below0]) + ordering.slack[alone] / n[::-1]
    single = predicted_bound(
        p, q, n, n[::-1], ahead=measuring / 2, claim=claim, error=error, penalty=penalty, two_sided=False
    )
    # right and wrong guesses are averages over both sides, as uncertain as those of so many runs of a fair coin
    both = 4 / (1 / runs0 + 1 / runs1)
    first, second = (coarse[index] for index in np.triu_indices(len(coarse)))
    above0, above1, _, _ = ordering.rates(first)
    _, _, below0, below1 = ordering.rates(second)
    slack = (ordering.slack[first] + ordering.slack[second]) / both
    paired = predicted_bound(
        (above0 + below1) / 2,
        (above1 + below0) / 2 + slack,
        both,
        both,
        ahead=measuring,
        claim=claim,
        error=error,
        penalty=penalty,
        two_sided=True,
    )
    # an event with p + q > 1 shows less than its complement, which is also tried
    return max(float(np.max(np.where(p + q <= 1, single, -np.inf))), float(np.max(paired)))


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
_NEARLY_ALL = 0.9  # of the largest share of runs that guess
_FEW_VALUES = 60  # up to which the loss may jump from one value to the next, and is not smoothed
_FINE, _COARSE = 400, 64  # thresholds tried alone, and in pairs


@dataclass(frozen=True, slots=True)
class SelectedEvent:
    """A frozen event with the method by which its counts will be bounded."""

    name: str  # "stable" or "rare"
    event: Event  # what is counted
    method: str  # as `dpaudit.stats.joint_region.lower_bound` takes it
    weight: float | tuple[float, ...] | None  # w₁ of a joint bound, all weights of a multinomial one, else None
    share: float  # this choice's share of the error level
    considered: tuple[Candidate, ...]  # the best candidate of every family and method, best first

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
class _Design:
    """What a choice is made for: the claim, the measuring runs of each side, and the error level."""

    claim: Claim
    ahead: tuple[float, float]
    error: float

    @classmethod
    def of(cls, claim: Claim, measuring: int | tuple[int, int], error: float) -> _Design:
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
    leads: Sequence[Lead] = (),
) -> tuple[tuple[SelectedEvent, ...], Partition]:
    """Choose what to measure, from learning runs alone.

    Args:
        outputs0, outputs1: learning runs of side 0 and side 1.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that will measure the choice; or those of each side, of which a
            two-sided event will use equally many.
        error: the error level of all choices together.
        learn: a learner whose score is a candidate too (see `learned_fits`), or None.
        leads: paths that runs made earlier point to.

    Returns:
        The choices, and a partition for the histogram.

    Raises:
        ValueError: if there are no learning runs.
    """
    if not len(outputs0) + len(outputs1):
        raise ValueError("there are no learning runs to choose an event from")
    design = _Design.of(claim, measuring, error)
    fitted = list(families(outputs0, outputs1, learn, leads=leads))
    stables, rares = _searched(fitted, design)
    stable, rare = _best(stables), _best(rares)
    picture = _to_draw(fitted, stable.partition)
    bins = graded(fitted, claim=claim, measuring=int(design.balanced), error=error)
    if bins is not None and bins.predicted > max(stable.predicted, rare.predicted, 0.0):
        return (_graded_choice(bins, stables),), picture
    alike = rare.method == stable.method and rare.partition.event(rare.labels) == stable.partition.event(stable.labels)
    few = rare.partition.size <= FEW_CELLS + 2
    share = _FEW_SHARE if few else _RARE_SHARE
    if alike or rare.p > stable.p * (0.7 if few else 0.25):
        return (_choice("stable", stable, stables, design, 1.0),), picture
    return (
        _choice("stable", stable, stables, design, 1 - share),
        _choice("rare", rare, rares, design, share),
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
        design = _Design.of(claim, measuring, error)
        stables, _ = _searched(fitted, design, rare=False)
        best = _best(stables)
        # right and wrong guesses are counted on all runs, an advantage that predictions understate
        both = max((s for s in stables if s.method != JOINT), key=lambda s: s.predicted)
        best = both if both.predicted > as_good * best.predicted else best
        chosen.append((_choice(str(claim), best, stables, design, 1.0), best.predicted))
    return chosen


def _searched(
    fitted: list[FittedPartition], design: _Design, *, rare: bool = True
) -> tuple[list[_Scored], list[_Scored]]:
    """The best events of every family, for the stable finalist and, if asked for, for the rare one."""
    stables: list[_Scored] = []
    rares: list[_Scored] = []
    candidates = _candidate_orders(fitted)
    asked: list[tuple[list[_Scored], _CandidateOrder, float]] = []
    for candidate in candidates.every:
        asked.append((stables, candidate, design.smooth[0] if candidate.trust is None else candidate.trust[0]))
        if rare and candidate.trust is not None:
            asked.append((rares, candidate, candidate.trust[1]))
    of_one = _best_of_one([(candidate, penalty) for _, candidate, penalty in asked], design)
    of_both = _best_of_both(
        [(candidate, penalty, band) for _, candidate, penalty in asked for band in candidate.bands],
        candidates.orders,
        design,
    )
    for best, candidate, _ in asked:
        best += islice(of_one, 2)
        best += islice(of_both, len(candidate.bands))
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


def _best(scored_events: list[_Scored]) -> _Scored:
    """The highest prediction; if nothing is predicted to show, the best two-sided event, of those that guess most."""
    best = max(scored_events, key=lambda scored: scored.predicted)
    if best.predicted > 0:
        return best
    both = [scored for scored in scored_events if scored.method != JOINT]
    most = max(scored.p + scored.q for scored in both)
    return max((s for s in both if s.p + s.q >= _NEARLY_ALL * most), key=lambda s: s.predicted)


def _to_draw(fitted: list[FittedPartition], stable: Partition) -> Partition:
    """The partition to draw: few categories, else the histogram of 64, else that of the stable event."""
    shown = {f.partition.family: f.partition for f in fitted}
    categories = shown.get("categories")
    if categories is not None and categories.size <= _MOST_SHOWN:
        return categories
    return shown.get("histogram of 64") or stable


def _choice(name: str, scored: _Scored, others: list[_Scored], design: _Design, share: float) -> SelectedEvent:
    event, error = scored.partition.event(scored.labels), design.error * share
    if event.toward(0) and event.toward(1):
        half = design.balanced / 2
        method, weight = method_for_both_sides(scored.rates, (half, half), design.claim, error)
    else:
        p, q = scored.p, scored.q
        if scored.method != JOINT:  # it was tried as a two-sided event, but points to one side only
            p, q = (scored.rates[0], scored.rates[3]) if event.toward(0) else (scored.rates[2], scored.rates[1])
        own = design.ahead if event.toward(0) else design.ahead[::-1]
        method, weight = method_for_one_side(p, q, (own[0], own[1]), design.claim, error)
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
class _CandidateOrder:
    """One order of the cells, prepared for a search with any penalty."""

    partition: Partition  # the cells
    ordering: LikelihoodOrder  # their order
    counted: LikelihoodOrder | None  # the same order with the actual counts, if ``ordering`` is a smoothed one
    # number, number_counted: which of all orders these are
    number: int
    number_counted: int
    # the penalties for the stable and for the rare finalist; None if the order is a smoothed one
    trust: tuple[float, float] | None
    fine: Integers  # the thresholds tried alone

    @property
    def smooth(self) -> bool:
        """Whether the order is a smoothed one."""
        return self.counted is not None

    @property
    def bands(self) -> tuple[int, ...]:
        """The kinds of two-sided events that are tried (see `dpaudit.events.predict`)."""
        return (0, 1, -1) if self.counted is None and self.ordering.known == 1 else (0,)


@dataclass(frozen=True, slots=True)
class _CandidateOrders:
    every: list[_CandidateOrder]
    orders: Orders


def _candidate_orders(fitted: list[FittedPartition]) -> _CandidateOrders:
    """All orders of the cells of all families."""
    every: list[_CandidateOrder] = []
    orders: list[LikelihoodOrder] = []

    def add(item: FittedPartition, ordering: LikelihoodOrder, counted: LikelihoodOrder | None, kind: str) -> None:
        number = len(orders)
        orders.extend([ordering] if counted is None else [ordering, counted])
        trust = None if counted is not None else _TRUST[kind]
        fine = ordering.spread(_FINE)
        every.append(
            _CandidateOrder(item.partition, ordering, counted, number, number + (counted is not None), trust, fine)
        )

    for item in fitted:
        for kind, ordering in _orderings(item):
            add(item, ordering, None, kind)
        for ordering, counted in _smooth_orderings(item):
            add(item, ordering, counted, "smooth")
    return _CandidateOrders(every, Orders(orders))


def _best_of_one(asked: Sequence[tuple[_CandidateOrder, float]], design: _Design) -> Iterator[_Scored]:
    """Yield for each candidate and penalty the best event that points to side 0 alone, and that to side 1."""
    tried = [_one_sided(candidate.ordering, candidate.fine) for candidate, _ in asked]
    rows = [(*own, penalty, candidate.smooth) for own, (candidate, penalty) in zip(tried, asked, strict=True)]
    rows += [(*_one_sided(c.counted, c.fine), design.smooth[1], True) for c, _ in asked if c.counted is not None]
    sizes = [row[0].shape[1] for row in rows]
    p, q = (np.concatenate([row[place] for row in rows], axis=1) for place in (0, 1))
    n, m = (np.repeat(np.concatenate([row[place] for row in rows], axis=1), sizes, axis=1) for place in (2, 3))
    penalties, smooth = (np.broadcast_to(np.repeat([row[place] for row in rows], sizes), p.shape) for place in (4, 5))
    shown = np.split(
        design.predict(p, q, n, m, penalties, two_sided=False, smooth=smooth), np.cumsum(sizes)[:-1], axis=1
    )
    counted = iter(shown[len(asked) :])
    for (candidate, _), (p, q, n, m), values in zip(asked, tried, shown, strict=False):
        if candidate.smooth:  # at most what the counts predict
            values = np.minimum(values, next(counted))
        # an event with p + q > 1 shows less than its complement, which is also tried
        values = np.where(p + q <= 1, values, -np.inf)
        for side, best in enumerate(np.argmax(values, axis=1)):
            threshold, at = int(candidate.fine[best]), (side, best)
            labels = candidate.ordering.labels(*((threshold, None) if side == 0 else (None, threshold)))
            yield _scored(values[at], candidate.partition, labels, JOINT, p[at], q[at], n[side, 0], m[side, 0])


def _best_of_both(
    asked: Sequence[tuple[_CandidateOrder, float, int]], orders: Orders, design: _Design
) -> Iterator[_Scored]:
    """Yield for each candidate, penalty and band the best event that points to both sides."""
    candidates, penalties, bands = zip(*asked, strict=True)
    number, counted = (np.array(own) for own in zip(*((c.number, c.number_counted) for c in candidates), strict=True))
    smooth, penalty, band = number != counted, np.array(penalties), np.array(bands)
    starts: dict[tuple[int, int], Integers] = {}
    for candidate, _, tried in asked:
        if (candidate.number, tried) not in starts:
            coarse = candidate.ordering.spread(_COARSE)
            starts[candidate.number, tried] = orders.promising(candidate.number, coarse, tried, design.claim.delta)

    def predicted(search: Integers, thresholds: Integers) -> Floats:
        """Predict bounds; in a smoothed order at most what the counts predict."""
        p, q, n = orders.averaged(number[search], thresholds, band[search])
        twice = np.flatnonzero(smooth[search])
        again = orders.averaged(counted[search[twice]], thresholds[twice], band[search[twice]])
        p, q, n = np.append(p, again[0]), np.append(q, again[1]), np.append(n, n[twice])
        doubt = np.append(penalty[search], np.full(len(twice), design.smooth[1]))
        alike = np.append(smooth[search], np.full(len(twice), True))
        values, counts = np.split(design.predict(p, q, n, n, doubt, two_sided=True, smooth=alike), [len(search)])
        values[twice] = np.minimum(values[twice], counts)
        return values

    best_of: dict[int, tuple[float, Integers]] = {}
    for banded in (False, True):
        own = np.flatnonzero((band != 0) == banded)
        if len(own):
            tops = refined(
                [starts[candidates[place].number, bands[place]] for place in own],
                [candidates[place].fine for place in own],
                orders.lengths[number[own]],
                lambda search, thresholds, own=own: predicted(own[search], thresholds),  # type: ignore[misc]
                banded=banded,
            )
            best_of |= dict(zip(own.tolist(), tops, strict=True))
    best = np.stack([best_of[place][1] for place in range(len(asked))])
    p, q, n = orders.averaged(number, best, band)
    rates = np.stack(orders.rates(number, best, band), axis=1)
    for place, candidate in enumerate(candidates):
        ordering = candidate.ordering
        labels = (bands[place] or 1) * ordering.labels(*best[place].tolist())
        rated = p[place], q[place], n[place], n[place]
        runs = np.repeat(np.maximum(ordering.known * np.array([ordering.total0, ordering.total1]), 1.0), 2)
        right0, wrong0, right1, wrong1 = ((rates[place] * runs + 0.5) / (runs + 1.5)).tolist()
        scored = _scored(best_of[place][0], candidate.partition, labels, design.two_sided, *rated)
        yield replace(scored, rates=(right0, wrong0, right1, wrong1))


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
