"""Which event should be measured? Learning runs in, one or two frozen events out.

Every family of `families` is fitted on half of the learning runs; on the other half each of its candidate
events gets a *predicted bound*, lowered by several standard deviations of its own estimate. Without that
penalty the best of many candidates is mostly the luckiest one. (A family of a few cells has so few events
that all learning runs may both fit and validate it.) Two finalists are measured: a stable one
(heavy penalty, most of the error) and a rare one (light penalty), since one penalty does not fit both a
broad difference and a rare leak.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtr

from dpaudit.attack.families import Fitted, families
from dpaudit.attack.partition import Partition
from dpaudit.bounds import joint_weight, two_sided_weight
from dpaudit.event import Event
from dpaudit.evidence import Candidate
from dpaudit.game.outputs import Outputs
from dpaudit.privacy import Claim

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]

_STABLE, _RARE = 4.0, 2.5
_RARE_SHARE = 0.2
_LEAST_COUNT = 5
_MOST_SHOWN = 400
_FEW_CELLS = 12  # the order of so few cells follows hardly more noise than the penalty allows for
_ONE_SIDED, _TWO_SIDED = 200, 32  # how many thresholds are tried


@dataclass(frozen=True, slots=True)
class Choice:
    """A frozen event with the kind of bound that will be read from its counts.

    Attributes:
        name: "stable" or "rare".
        event: what is counted.
        method: "guess", "two-sided joint" or "joint".
        weight: w₁ of a joint bound, None for a guess.
        share: this choice's share of the error level.
        considered: the best candidate of every family and method, best first.
    """

    name: str
    event: Event
    method: str
    weight: float | None
    share: float
    considered: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class _Scored:
    predicted: float
    partition: Partition
    labels: Integers
    method: str
    p: float
    q: float


def halves(outputs: Outputs) -> tuple[Outputs, Outputs]:
    """Return the learning runs of a side that families are fitted on, and those that know nothing of that."""
    half = len(outputs) // 2
    return outputs.take(np.arange(half)), outputs.take(np.arange(half, len(outputs)))


def choose(
    outputs0: Outputs, outputs1: Outputs, *, claim: Claim, measuring: int, error: float
) -> tuple[tuple[Choice, ...], Partition]:
    """Choose what to measure, from learning runs alone.

    Args:
        outputs0, outputs1: learning runs of side 0 and side 1.
        claim: the notion to bound (its δ or order; its own value is not used).
        measuring: the runs, of both sides together, that will measure the choice.
        error: the error level of all choices together.

    Returns:
        The choices, and a partition to draw the loss histogram over.
    """
    if not len(outputs0) + len(outputs1):
        raise ValueError("there are no learning runs to choose an event from")
    fit, validate = zip(halves(outputs0), halves(outputs1), strict=True)
    fitted = list(families(*fit))
    best: dict[float, list[_Scored]] = {_STABLE: [], _RARE: []}
    for candidate in fitted:
        counts_fit = tuple(candidate.partition.counts(outputs) for outputs in fit)
        fresh = tuple(candidate.partition.counts(outputs) for outputs in validate)
        together = tuple(map(np.add, counts_fit, fresh))
        if len(candidate.partition.telling) <= _FEW_CELLS:
            counts_fit = fresh = together
        counts = together if candidate.blind else fresh
        sets = _candidate_sets(_order(candidate, counts_fit), counts)
        for penalty, found in best.items():
            found += _score(candidate.partition, sets, claim, measuring, error, penalty)
    stable, rare = (_best(best[penalty]) for penalty in (_STABLE, _RARE))
    picture = _picture(fitted, stable.partition)
    alike = rare.method == stable.method and rare.partition.event(rare.labels) == stable.partition.event(stable.labels)
    if alike or _rarity(rare) > _rarity(stable) / 4:
        return (_choice("stable", stable, best[_STABLE], claim, measuring, 1.0),), picture
    return (
        _choice("stable", stable, best[_STABLE], claim, measuring, 1 - _RARE_SHARE),
        _choice("rare", rare, best[_RARE], claim, measuring, _RARE_SHARE),
    ), picture


def _best(found: list[_Scored]) -> _Scored:
    """The highest prediction; where nothing is predicted to show, the two-sided event that says most."""
    best = max(found, key=lambda scored: scored.predicted)
    return best if best.predicted > 0 else max((s for s in found if s.method != "joint"), key=lambda s: s.predicted)


def _rarity(scored: _Scored) -> float:
    return scored.p


def _picture(fitted: list[Fitted], stable: Partition) -> Partition:
    """The partition to draw: few categories, else the histogram of 64, else what the stable event is made of."""
    shown = {f.partition.family: f.partition for f in fitted}
    categories = shown.get("categories")
    if categories is not None and categories.size <= _MOST_SHOWN:
        return categories
    return shown.get("histogram of 64") or stable


def _same_everywhere(value: float) -> float:
    """Keep 6 digits: the last bits of logarithms differ between processors, and evidence should not."""
    return float(f"{value:.6g}")


def _choice(name: str, scored: _Scored, others: list[_Scored], claim: Claim, measuring: int, share: float) -> Choice:
    ranked = sorted(others, key=lambda item: -item.predicted)
    considered = tuple(
        Candidate(item.partition.family, item.method, _same_everywhere(item.predicted)) for item in ranked[:12]
    )
    weight = None if scored.method == "guess" else _same_everywhere(_weight(scored, claim, max(measuring, 2)))
    event = scored.partition.event(scored.labels)
    return Choice(name, event, scored.method, weight, share, considered)


def _weight(scored: _Scored, claim: Claim, runs: int) -> float:
    p, q = np.array(scored.p), np.array(scored.q)
    slope_p, slope_q = (float(slope) for slope in sensitivity(claim.least, p, q, claim.delta))
    if scored.method == "joint":
        return joint_weight(scored.p, scored.q, runs / 2, runs / 2, slope_p, slope_q)
    return two_sided_weight(scored.p, scored.q, runs, slope_p, slope_q)


@dataclass(frozen=True, slots=True)
class _Sets:
    """Cells in order, from those that speak most for side 0, with what the validation runs put at each prefix.

    ``prefix0[i]`` are the runs of side 0 in the first i cells, ``total0`` those in all cells, and so on.
    """

    order: Integers
    prefix0: Floats
    prefix1: Floats
    total0: int
    total1: int
    cells: int

    def rates(self, ends: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the frequencies, under side 0 and side 1, of the cells before each end and of those after it."""
        n0, n1 = max(self.total0, 1), max(self.total1, 1)
        front0, front1 = self.prefix0[ends] / n0, self.prefix1[ends] / n1
        return front0, front1, self.prefix0[-1] / n0 - front0, self.prefix1[-1] / n1 - front1


def _order(candidate: Fitted, counts: tuple[Integers, ...]) -> list[Integers]:
    """Return the orders of the telling cells that are worth trying."""
    cells = candidate.partition.telling
    if candidate.ordered:
        return [cells, cells[::-1]]
    smooth = 0.5
    rates = [(side[cells] + smooth) / (side.sum() + smooth * len(cells)) for side in counts]
    return [cells[np.argsort(np.log(rates[1]) - np.log(rates[0]), kind="stable")]]


def _candidate_sets(orders: list[Integers], counts: tuple[Integers, ...]) -> list[_Sets]:
    sets = []
    for order in orders:
        prefix0, prefix1 = (np.concatenate([[0], np.cumsum(side[order])]).astype(np.float64) for side in counts)
        sets.append(_Sets(order, prefix0, prefix1, int(counts[0].sum()), int(counts[1].sum()), len(counts[0])))
    return sets


def _positions(sets: _Sets, points: int) -> Integers:
    """Return prefixes to try, spread over the mass of both sides and into both ends."""
    length = len(sets.order)
    if length + 1 <= points:
        return np.arange(length + 1)
    mass = sets.prefix0 + sets.prefix1
    total = max(mass[-1], 1.0)
    ends = np.geomspace(1 / total, 1, points // 2)
    fractions = np.unique(np.concatenate([np.linspace(0, 1, points // 2), ends, 1 - ends]))
    return np.unique(np.searchsorted(mass, fractions * mass[-1]).clip(0, length))


def _score(
    partition: Partition, sets: list[_Sets], claim: Claim, measuring: int, error: float, penalty: float
) -> list[_Scored]:
    """Return the best candidate of each order and method, with its predicted bound."""
    found = []
    for item in sets:
        n0, n1 = item.total0, item.total1
        ends = _positions(item, _ONE_SIDED)
        front0, front1, back0, back1 = item.rates(ends)
        half = measuring / 2

        def predict(
            p: Floats,
            q: Floats,
            n: float,
            m: float,
            ahead: float,
            guess: bool,
            least: Callable[..., Floats] = claim.least,
        ) -> Floats:
            return predicted_bound(p, q, n, m, ahead, least, claim.delta, error, penalty, guess)

        for label, hits, misses, n, m in ((1, front0, front1, n0, n1), (-1, back1, back0, n1, n0)):
            # an event with p + q > 1 says less than its complement, which is also tried
            values = np.where(hits + misses <= 1, predict(hits, misses, n, m, half, False), -np.inf)
            at = int(np.argmax(values))
            labels = np.zeros(item.cells, dtype=np.int64)
            chosen = item.order[: ends[at]] if label == 1 else item.order[ends[at] :]
            labels[chosen] = label
            found.append(_scored(values[at], partition, labels, "joint", hits[at], misses[at], n, m))
        found.append(_best_two_sided(partition, item, predict, measuring, claim))
    return found


def _best_two_sided(
    partition: Partition, sets: _Sets, predict: Callable[..., Floats], measuring: int, claim: Claim
) -> _Scored:
    ends = _positions(sets, _TWO_SIDED)
    front0, front1, back0, back1 = sets.rates(ends)
    first, second = np.triu_indices(len(ends))
    right, wrong = (front0[first] + back1[second]) / 2, (front1[first] + back0[second]) / 2
    both = sets.total0 + sets.total1
    values = predict(right, wrong, both, both, measuring, True)
    at = int(np.argmax(values))
    labels = np.zeros(sets.cells, dtype=np.int64)
    labels[sets.order[: ends[first[at]]]] = 1
    labels[sets.order[ends[second[at]] :]] = -1
    method = "guess" if claim.pure else "two-sided joint"
    return _scored(values[at], partition, labels, method, right[at], wrong[at], both, both)


def _scored(
    value: float, partition: Partition, labels: Integers, method: str, p: float, q: float, n: float, m: float
) -> _Scored:
    smooth_p, smooth_q = (p * n + 0.5) / (n + 1), (q * m + 0.5) / (m + 1)
    return _Scored(float(value), partition, labels, method, float(smooth_p), float(smooth_q))


def predicted_bound(
    p: Floats,
    q: Floats,
    n: float,
    m: float,
    ahead: float,
    least: Callable[[Floats, Floats], Floats],
    delta: float,
    error: float,
    penalty: float,
    guess: bool,
) -> Floats:
    """Predict the bound of events from validation frequencies; it only ever chooses, and proves nothing.

    Args:
        p, q: frequencies of the event on the side it speaks for and on the other.
        n, m: the validation runs behind them.
        ahead: the measuring runs to come, of each.
        least: the loss of (p, q); delta: the δ in it.
        error: the error level of the bound to come; penalty: standard deviations of the validation noise.
        guess: whether the bound is two-sided (its noise is relative to the guesses).

    Noise is measured by quantiles of the Jeffreys gamma posterior of each count, which stay honest for few
    counts, where the delta method hides rare events. p and q are moved against the event along the
    direction that the joint bound would take.
    """
    a, b = p * n + 0.5, q * m + 0.5
    p, q = a / (n + 1), b / (m + 1)
    shrink_p = np.ones_like(p) if guess else np.sqrt(np.maximum(1 - p, 1e-9))
    shrink_q = np.ones_like(q) if guess else np.sqrt(np.maximum(1 - q, 1e-9))
    chance = float(ndtr(-penalty))
    with np.errstate(all="ignore"):
        slope_p, slope_q = sensitivity(least, p, q, delta)
        low, high = p, q
        for noise_p, noise_q in (
            (shrink_p * _below(a, chance), shrink_q * _above(b, chance)),
            (shrink_p * _below(p * ahead + 0.5, error), shrink_q * _above(q * ahead + 0.5, error)),
        ):
            along_p, along_q = slope_p * noise_p, slope_q * noise_q
            length = np.maximum(np.hypot(along_p, along_q), 1e-300)
            low, high = low * np.exp(-noise_p * along_p / length), high * np.exp(noise_q * along_q / length)
        high = np.minimum(high, 1.0)
        value = least(low, high)
        # where nothing would be shown, a negative number says how far the event is from showing anything
        short = np.minimum(np.log(np.maximum(low - delta, 1e-300)) - np.log(high), 0.0)
        value = np.where(value > 0, value, short)
    return np.where((p > delta) & (a >= _LEAST_COUNT) & np.isfinite(value), value, -np.inf)


def sensitivity(least: Callable[[Floats, Floats], Floats], p: Floats, q: Floats, delta: float) -> tuple[Floats, Floats]:
    """Return how fast the loss falls as log p falls and as log q rises; that of log((p − δ)/q) where it is 0."""
    step = 1e-4
    with np.errstate(all="ignore"):
        here = least(p, q)
        down_p = (here - least(p * np.exp(-step), q)) / step
        down_q = (here - least(p, np.minimum(q * np.exp(step), 1.0))) / step
        usable = (here > 0) & np.isfinite(down_p) & np.isfinite(down_q) & (down_p + down_q > 0)
        return np.where(usable, down_p, p / np.maximum(p - delta, 1e-12)), np.where(usable, down_q, 1.0)


def _below(counts: Floats, chance: float) -> Floats:
    """How far below (in logarithm) a rate may lie, given its count."""
    return -np.log(np.maximum(gammaincinv(counts, chance) / counts, 1e-12))


def _above(counts: Floats, chance: float) -> Floats:
    """How far above (in logarithm) a rate may lie, given its count."""
    return np.log(gammaincinv(counts, 1 - chance) / counts)
