"""Which bound would fresh runs of an event probably give? Predictions are only used for choices, and prove nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri

from dpaudit.arrays import Booleans, Floats, Integers
from dpaudit.events.partition import Partition
from dpaudit.evidence.event import Box, Event, Linear, Rule, Score
from dpaudit.evidence.records import Led
from dpaudit.privacy import Claim
from dpaudit.sampling.outputs import Outputs
from dpaudit.stats.event_bound import Rates
from dpaudit.stats.joint_region import joint_weight, two_sided_weight
from dpaudit.stats.methods import METHODS, BoundMethod, method_for

_LEAST_COUNT = 5  # runs below which nothing is predicted of an event; measured by benchmarks/goal_table.py
_AT_ONCE = 1000  # events whose Rényi divergences, at many orders each, fit into the cache of a processor
_MANY = 30  # runs from which the approximation has four correct digits


def predicted_bound(
    p: Floats,
    q: Floats,
    n: float | Floats,
    m: float | Floats,
    *,
    ahead: float | tuple[Floats, Floats],
    claim: Claim,
    error: float,
    penalty: float | Floats,
    two_sided: bool,
    rivals: bool | Booleans = False,
) -> Floats:
    """Predict the bound of events from their frequencies in learning runs.

    p and q are moved against the event in the direction in which the joint bound moves them, first for their
    uncertainty, then by what the bound itself costs.
    """
    a, b = p * n + 0.5, q * m + 0.5
    p, q = a / (n + 1), b / (m + 1)
    able = (p > claim.delta) & (a >= _LEAST_COUNT)
    shown = np.full(p.shape, -np.inf)
    if not np.any(able):
        return shown
    ahead_p, ahead_q = (
        np.broadcast_to(x, p.shape)[able] if isinstance(x, np.ndarray) else x
        for x in (ahead if isinstance(ahead, tuple) else (ahead, ahead))
    )
    p, q, a, b = p[able], q[able], a[able], b[able]
    doubt = penalty[able] if isinstance(penalty, np.ndarray) else penalty
    if np.any(rivals):
        alike = rivals[able] if isinstance(rivals, np.ndarray) else rivals
        doubt = doubt + np.where(alike, np.sqrt(-2 * np.log(np.minimum(p, 1.0))), 0.0)
    chance = ndtr(-doubt)
    shrink_p = 1.0 if two_sided else np.sqrt(np.maximum(1 - p, 1e-9))
    shrink_q = 1.0 if two_sided else np.sqrt(np.maximum(1 - q, 1e-9))
    with np.errstate(all="ignore"):
        slope_p, slope_q = sensitivity(claim, p, q)
        low, high = p, q
        for noise_p, noise_q in (
            (shrink_p * _below(a, chance), shrink_q * _above(b, chance)),
            (shrink_p * _below(p * ahead_p + 0.5, error), shrink_q * _above(q * ahead_q + 0.5, error)),
        ):
            along_p, along_q = slope_p * noise_p, slope_q * noise_q
            length = np.maximum(np.hypot(along_p, along_q), 1e-300)
            low, high = low * np.exp(-noise_p * along_p / length), high * np.exp(noise_q * along_q / length)
        value = _signed_loss(claim, low, np.minimum(high, 1.0))
        shown[able] = _given_sides(value, p + q, ahead_p) if two_sided and claim.pure else value
    return shown


def _given_sides(value: Floats, guessing: Floats, runs: float | Floats) -> Floats:
    """What guesses that are bounded given the sides show, if one side happens to guess more often than the other.

    With G guesses in all, of which the sides differ by d, t = tanh(ε/2) becomes t', where t = t' + (d/G)²/(4t') (see
    `dpaudit.stats.guessing`); d² is its mean. That matters where ε is small, and not at all where every run guesses.
    """
    apart = np.maximum(1 - guessing, 0.0) / (runs * np.maximum(guessing, 1e-300))
    t = np.tanh(np.maximum(value, 0.0) / 2)
    inside = t * t - apart
    # ε is lowered by the share by which t falls; where it is large it would fall by more, but other methods cost less
    left = value * (t + np.sqrt(np.maximum(inside, 0.0))) / np.maximum(2 * t, 1e-300)
    return np.where(inside >= 0, np.where(apart > 0, left, value), np.minimum(value, 0.0) - np.sqrt(apart) + t)


def _signed_loss(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The loss; if nothing would be shown, a negative number that says how far from it."""
    ratio = np.log(np.maximum(p - claim.delta, 1e-300)) - np.log(q)
    value = ratio if claim.is_point else np.where((loss := _least(claim, p, q)) > 0, loss, np.minimum(ratio, 0.0))
    return np.where(np.isfinite(value), value, -np.inf)


def sensitivity(claim: Claim, p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return how fast the loss falls as log p falls and as log q rises; where it is 0, that of log((p − δ)/q).

    Args:
        claim: the notion, with its δ or order.
        p, q: probabilities of the event, arrays of one shape.

    Returns:
        Two arrays of that shape.
    """
    with np.errstate(all="ignore"):
        ratio_p, ratio_q = p / np.maximum(p - claim.delta, 1e-12), np.ones_like(q)
        if claim.is_point:
            return ratio_p, ratio_q
        step = 1e-4
        here = _least(claim, p, q)
        down_p = (here - _least(claim, p * np.exp(-step), q)) / step
        down_q = (here - _least(claim, p, np.minimum(q * np.exp(step), 1.0))) / step
        usable = (here > 0) & np.isfinite(down_p) & np.isfinite(down_q) & (down_p + down_q > 0)
        return np.where(usable, down_p, ratio_p), np.where(usable, down_q, ratio_q)


def _least(claim: Claim, p: Floats, q: Floats) -> Floats:
    """The claim's `least`, computed only where p > q: elsewhere it is 0."""
    levels, more = np.zeros(p.shape), np.flatnonzero(p > q)
    for first in range(0, len(more), _AT_ONCE):
        part = more[first : first + _AT_ONCE]
        levels.flat[part] = claim.least(p.flat[part], q.flat[part])
    return levels


def event_weight(p: float, q: float, runs: tuple[float, float], claim: Claim) -> float:
    """Return w₁ of the joint bound for a one-sided event.

    Args:
        p, q: its probabilities on the side that it points to and on the other.
        runs: of that side and of the other.
        claim: the notion to bound.

    Returns:
        w₁, strictly between 0 and 1.
    """
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(p), np.array(q)))
    return joint_weight(p, q, *runs, slope_p, slope_q)


def _below(counts: Floats, chance: float | Floats) -> Floats:
    """How far below its estimate (in log) a rate may be, given its count."""
    return -np.log(np.maximum(_quantile(counts, chance), 1e-12))


def _above(counts: Floats, chance: float | Floats) -> Floats:
    """How far above its estimate (in log) a rate may be, given its count."""
    return np.log(_quantile(counts, 1 - chance))


def _quantile(counts: Floats, chance: float | Floats) -> Floats:
    """A quantile of the gamma distribution of shape ``counts`` over its mean (large: Wilson & Hilferty 1931)."""
    root = 1 - 1 / (9 * counts) + ndtri(chance) / (3 * np.sqrt(counts))
    quantiles = np.maximum(root, 0.0) ** 3
    few = counts < _MANY
    if np.any(few):
        # small counts occur many times, and each quantile is slow
        at: float | Floats = chance
        if isinstance(at, np.ndarray):
            pairs, again = np.unique(counts[few] + 1j * at[few], return_inverse=True)
            asked, at = pairs.real, pairs.imag
        else:
            asked, again = np.unique(counts[few], return_inverse=True)
        quantiles[few] = (gammaincinv(asked, at) / asked)[again]
    return np.asarray(quantiles)


# --- Which method will probably give the best bound for an event? Chosen from learning runs, like the event itself ---
#
# The methods are valid given the sides, and differ in their cost. For a two-sided event, guesses cost least if both
# sides guess about equally often, and a joint region if they do not; for a one-sided event the odds ratio costs least
# if the event is rare. Each bound is computed from the expected counts, and the best method is chosen.

Chosen = tuple[str, float | None]


def same_everywhere(value: float) -> float:
    """Keep 6 digits: the last bits of logarithms differ between processors, and evidence should not."""
    return float(f"{value:.6g}")


def method_for_one_side(p: float, q: float, runs: tuple[float, float], claim: Claim, error: float) -> Chosen:
    """Return the method, and its weight, for an event that points to one side."""
    weight = same_everywhere(event_weight(p, q, runs, claim))
    return _best("one", (p, 0.0, 0.0, q), runs, claim, weight, error)


def method_for_both_sides(rates: Rates, runs: tuple[float, float], claim: Claim, error: float) -> Chosen:
    """Return the method, and its weight, for an event that points to both sides."""
    a, b = (rates[0] + rates[2]) / 2, (rates[1] + rates[3]) / 2
    slope_p, slope_q = (float(x) for x in sensitivity(claim, np.array(a), np.array(b)))
    weight = same_everywhere(two_sided_weight(a, b, sum(runs), slope_p, slope_q))
    return _best("both", rates, runs, claim, weight, error)


def _best(sides: str, rates: Rates, runs: tuple[float, float], claim: Claim, weight: float, error: float) -> Chosen:
    """The method with the highest expected bound for such an event; the first among equals."""
    offered = [each for each in METHODS.values() if each.offered == sides and (claim.pure or not each.pure)]

    def expected(method: BoundMethod) -> float:
        return method.computed.expected(rates, runs, claim, weight, error)

    best = offered[0] if len(offered) == 1 else max(offered, key=expected)
    return method_for(best.name, max(runs)), weight if best.weights == "one" else None


# --- Where would the outputs of a path differ that runs made earlier point to? Boxes, and the loss as a score ---
#
# A path that seems to cost more than is claimed says which numbers of its outputs move, and which way: then its outputs
# tell most that are far out on the side that they move away from. Where to cut is said by learning runs, and so is the
# middle of each number: nothing else is known here than outputs, and how far they move.

_SHARES = np.geomspace(1e-4, 0.9, 24)  # of the runs of a path, inside a box
_LEAST = 5  # runs in it
_UNCLIPPED = 1e9


@dataclass(frozen=True, slots=True)
class Lead:
    """A path whose outputs may show a violation."""

    form: str  # of its outputs
    fixed: tuple[float | None, ...]  # (numbers,) those that the path decides; None for those with noise
    moves: tuple[float, ...]  # (numbers,) how far each moves from the recorded side to the other; 0 for those that stay
    # (numbers,) the largest loss of each by itself, |move|/scale; of Gaussian noise (move/scale)². Empty where they are
    # not known, or do not add up.
    losses: tuple[float, ...] = ()
    clipped: bool = True  # whether the loss of a number stops growing beyond its two middles, as for Laplace noise

    def scores(self, rows: Floats) -> Iterator[tuple[Score, bool]]:
        """Yield scores that may tell the sides apart, and whether each is a box, with two values.

        Args:
            rows: (runs, numbers), learning runs of this form, of both sides.
        """
        if rows.shape[1] != len(self.fixed):
            return
        decided = [place for place, value in enumerate(self.fixed) if value is not None]
        own = rows[(rows[:, decided] == [self.fixed[place] for place in decided]).all(axis=1)]
        if len(own) < _LEAST:
            return
        if decided:
            yield Box(self.fixed, self.fixed), True
        moved = np.flatnonzero(self.moves)
        if not len(moved):
            return
        shares = _SHARES[_SHARES * len(own) >= _LEAST]
        for sign in (1.0, -1.0):
            up = sign * np.array(self.moves)[moved] < 0  # what moves down tells most far up
            for limits in np.quantile(np.where(up, -own[:, moved], own[:, moved]), shares, axis=0):
                low, high = list(self.fixed), list(self.fixed)
                for place, limit, is_up in zip(moved.tolist(), limits.tolist(), up.tolist(), strict=True):
                    if is_up:
                        low[place] = -limit
                    else:
                        high[place] = limit
                yield Box(tuple(low), tuple(high)), True
        if self.losses and not decided:
            yield self._loss(own), False

    def _loss(self, own: Floats) -> Linear:
        """The privacy loss of independent noises.

        With f the density of noise of scale s and a move m, ln f(x)/f(x − m) is |m|/s·clip((c − x)/h, −1, 1) for
        Laplace noise, and (m/s)²/2·(c − x)/h for Gaussian noise, h = m/2 and c in the middle between both.
        """
        moves = np.array(self.moves)
        weights = -np.sign(moves) * np.array(self.losses) / (1.0 if self.clipped else 2.0)
        scale = np.where(moves == 0, 1.0, abs(moves) / 2)
        clip = 1.0 if self.clipped else _UNCLIPPED
        return Linear(tuple(np.median(own, axis=0).tolist()), _rounded(scale), (clip,), (_rounded(weights),))


def _rounded(values: Floats) -> tuple[float, ...]:
    """Keep 2 digits: events are published, and the data of the pair are not."""
    return tuple(float(f"{value:.2g}") for value in values.tolist())


# --- How many runs would show what a replayed path points to? A forecast from learning runs, which proves nothing ---

LED = "a replayed path"
_DOUBT = 1.0  # standard deviations by which frequencies are lowered
_EVER = 1e12  # runs
_AHEAD = [digit * 10.0**decade for decade in range(2, 10) for digit in (1, 2, 5)]  # measuring runs of a side


def led(sides: tuple[Outputs, Outputs], leads: Sequence[Lead], *, claim: Claim, error: float, pair: int) -> Led | None:
    """Return which outputs of the paths would show most in very many runs; None without a path.

    Args:
        sides: learning runs.
        leads: the paths.
        claim: what is claimed.
        error: the error level of a bound.
        pair: whose paths these are.
    """
    rules = list(dict.fromkeys(_rules(sides, leads)))
    if not rules:
        return None
    cells = [Partition(LED, (Rule(rule.form, rule.score, rule.edges, ()),)) for rule in rules]
    met = np.array([[each.counts(side)[len(each.rules[0].edges)] for side in sides] for each in cells])
    runs = np.array([max(len(side), 1) for side in sides])

    def predicted(place: int, toward: int, ahead: float, penalty: float) -> float:
        rates = met[place] / runs
        p, q = rates[[toward]], rates[[1 - toward]]
        n, m = float(runs[toward]), float(runs[1 - toward])
        return float(
            predicted_bound(p, q, n, m, ahead=ahead, claim=claim, error=error, penalty=penalty, two_sided=False)[0]
        )

    best = max(
        ((predicted(place, toward, _EVER, _DOUBT), int(met[place].sum()), -place, toward)
         for place in range(len(rules)) for toward in (0, 1)),
    )  # fmt: skip
    place, toward = -best[2], best[3]
    needs = next((2 * int(ahead) for ahead in _AHEAD if predicted(place, toward, ahead, _DOUBT) > claim.value), None)
    rule, label = rules[place], 1 if toward == 0 else -1
    labels = (0, label) if rule.edges else (label,)
    return Led(
        pair=pair,
        event=Event(LED, (Rule(rule.form, rule.score, rule.edges, labels),)),
        runs=(len(sides[0]), len(sides[1])),
        met=(int(met[place, 0]), int(met[place, 1])),
        needs=needs,
    )


def _rules(sides: tuple[Outputs, Outputs], leads: Sequence[Lead]) -> Iterator[Rule]:
    """Yield all outputs of each path, and parts of them."""
    for lead in leads:
        decided = any(value is not None for value in lead.fixed)
        yield Rule(lead.form, Box(lead.fixed, lead.fixed) if decided else None, (0.5,) if decided else (), ())
        rows = [
            numbers
            for side in sides
            for form, numbers in zip(side.forms, side.numbers, strict=True)
            if form == lead.form
        ]
        if rows:
            scored = lead.scores(np.concatenate(rows))
            yield from (Rule(lead.form, score, (0.5,), ()) for score, is_box in scored if is_box)


# --- In which order do cells point to a side, and how many runs would each threshold of that order catch? ---
#
# A `LikelihoodOrder` sorts a partition's cells by a value: the higher the value, the more a cell points to side 0.
# Cells at or above a threshold point to side 0, cells below it to side 1. A run must not be scored by an ordering that
# it was used to fit. So if the learning runs themselves decide which cell points to which side, each run is counted at
# the value that its cell would have *without it* (leave-one-out). Every learning run thus both fits the order and tests
# it, without bias.

Counts = Integers | Floats  # a smoothed count need not be whole

_SMOOTH = 0.5  # added to every count
_SPARSE = 10  # runs per cell, both sides together, below which single runs are left out
FEW_CELLS = 12  # ordering so few cells overfits hardly more than choosing among them, which is allowed for


@dataclass(frozen=True, slots=True)
class LikelihoodOrder:
    """Cells by value, and the learning runs that fresh thresholds would have caught."""

    cells: Integers  # the cells that may carry a label
    values: Floats  # (cells,) how strongly each of them points to side 0
    thresholds: Floats  # decreasing thresholds; the first is +∞, so that nothing points to side 0
    # above0, above1: (thresholds,) runs of side 0 and of side 1 at or above each threshold
    above0: Floats
    above1: Floats
    # total0, total1: runs of each side, in any cell; ``all0``, ``all1`` those in ``cells``
    total0: float
    total1: float
    size: int  # the number of cells of the partition
    slack: Floats  # (thresholds,) runs of the other side that each threshold has probably just missed
    # the number of independent runs that the frequencies are worth, as a share of the runs; less than 1 if the order is
    # learned, since runs that cross a threshold together make counts noisier
    known: float
    gaps: np.ndarray[Any, np.dtype[np.bool_]] | None  # (cells,) which cells of an order hold no run at all, or None

    @property
    def all0(self) -> float:
        """Runs of side 0 in the ordered cells."""
        return float(self.above0[-1])

    @property
    def all1(self) -> float:
        """Runs of side 1 in the ordered cells."""
        return float(self.above1[-1])

    def rates(self, at: Integers) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the frequencies, under side 0 and side 1, of runs at or above some thresholds, and below them."""
        n0, n1 = max(self.total0, 1), max(self.total1, 1)
        above0, above1 = self.above0[at], self.above1[at]
        return above0 / n0, above1 / n1, (self.all0 - above0) / n0, (self.all1 - above1) / n1

    def labels(self, above: int | None, below: int | None, down_to: int | None = None) -> Integers:
        """Return labels of all cells: 1 for side 0, −1 for side 1, 0 for neither."""
        labels = np.zeros(len(self.cells), dtype=np.int64)
        if above is not None:
            labels[self.values >= self.thresholds[above]] = 1
        if below is not None:
            lowest = -np.inf if down_to is None else self.thresholds[down_to]
            labels[(self.values < self.thresholds[below]) & (self.values >= lowest)] = -1
        return self._placed(labels)

    def _placed(self, labels: Integers) -> Integers:
        """Labels of all cells of the partition; a gap between cells with different labels points to neither side."""
        if self.gaps is not None and len(filled := np.flatnonzero(~self.gaps)):
            after = np.searchsorted(filled, np.flatnonzero(self.gaps))
            before, after = filled[np.maximum(after - 1, 0)], filled[np.minimum(after, len(filled) - 1)]
            labels[self.gaps] = np.where(labels[before] == labels[after], labels[before], 0)
        whole = np.zeros(self.size, dtype=np.int64)
        whole[self.cells] = labels
        return whole

    def spread(self, points: int) -> Integers:
        """Return about ``points`` thresholds, spread over the mass of both sides and into both ends."""
        length = len(self.thresholds)
        if length <= points:
            return np.arange(length)
        mass = self.above0 + self.above1
        ends = np.geomspace(1 / max(mass[-1], 1.0), 1, points // 2)
        fractions = np.unique(np.concatenate([np.linspace(0, 1, points // 2), ends, 1 - ends]))
        return np.unique(np.searchsorted(mass, fractions * mass[-1]).clip(0, length - 1))


def by_position(cells: Integers, counts: tuple[Counts, Counts], apart: Floats, *, rising: bool) -> LikelihoodOrder:
    """Return the order of cells that are ordered already.

    The best threshold often stands just before a run of the wrong side. One such run is counted as if it had been
    caught, except in a wide gap.
    """
    values = (cells if rising else -cells).astype(np.float64)
    seen = ((values, counts[0][cells], 0), (values, counts[1][cells], 1))
    missed = 1.0 - apart  # thresholds decrease: the first is above all cells, the last below them
    slack = np.concatenate([[0.0], missed[::-1] if rising else missed, [0.0]])
    gaps = counts[0][cells] + counts[1][cells] == 0
    return _counted_order(cells, values, seen, counts, slack, gaps, known=1.0)


def by_ratio(cells: Integers, first: tuple[Integers, Integers], second: tuple[Integers, Integers]) -> LikelihoodOrder:
    """Return the order of cells by the log ratio of their counts, each run counted by an order made without it.

    If there are so many cells that they hold few runs each, each run is left out by itself. Otherwise each half is
    counted by the order that the other half makes, because leaving one run out of many decides where the whole cell
    goes, with all its runs, which is a coin toss at every threshold.
    """
    counts = first[0] + second[0], first[1] + second[1]
    a, b = (side[cells] for side in counts)
    base = float(np.log(counts[0].sum() + _SMOOTH) - np.log(counts[1].sum() + _SMOOTH))
    values = _ratio(a, b, base)
    seen: tuple[tuple[Floats, Counts, int], ...]
    if len(cells) <= FEW_CELLS:
        seen = ((values, a, 0), (values, b, 1))
    elif a.sum() + b.sum() < _SPARSE * len(cells):
        seen = ((_ratio(a - 1, b, base), a, 0), (_ratio(a, b - 1, base), b, 1))
    else:
        seen = tuple(
            (order, counted[side][cells], side)
            for made, counted in ((first, second), (second, first))
            for order in [_ratio(made[0][cells], made[1][cells], base)]
            for side in (0, 1)
        )
    return _counted_order(cells, values, seen, counts, None, None, known=1.0 if len(cells) <= FEW_CELLS else 0.5)


@dataclass(frozen=True, slots=True)
class SmoothLoss:
    """A smooth loss along an order of cells, fitted by logistic regression of the side."""

    runs: Floats  # (cells,) runs of both sides in each cell
    share: Floats  # (cells,) the fitted share of side 0 among them
    basis: Floats  # (cells, functions) the log odds are a linear combination of these
    doubt: Floats  # (functions, functions) the approximate covariance of their weights


def smooth_loss(places: Floats, counts: tuple[Integers, Integers]) -> SmoothLoss:
    """Fit the log odds of the side by a few functions of a cell's position, with a ridge penalty.

    The functions are linear, with kinks where the loss of Laplace noise has them. Neighbouring cells inform one
    another, which makes tails less dependent on luck.
    """
    a, b = (side[:-1].astype(np.float64) for side in counts)
    runs, base = a + b, (a.sum() + 0.5) / (a.sum() + b.sum() + 1)
    total = max(runs.sum(), 1.0)
    middle = float(np.interp(0.5, np.cumsum(runs) / total, places))
    with np.errstate(all="ignore"):
        x = places / 2 - middle / 2  # halved, so that the largest floats do not overflow
        x = x / max(float(np.sqrt(np.sum(runs * np.minimum(x * x, 1e200)) / total)), 1e-300)
    x = np.clip(np.nan_to_num(x), -6, 6)
    basis = np.stack([np.ones_like(x), x, *(np.clip(x, -k, k) for k in (0.1, 0.4, 1.2)), np.abs(x)], axis=1)
    weights = np.zeros(basis.shape[1])
    ridge = np.diag([0.0, *[1.0] * (basis.shape[1] - 1)])
    offset = float(np.log(base) - np.log1p(-base))
    share = np.full_like(x, base)
    hessian = ridge
    for _ in range(8):  # Newton's method
        gradient = basis.T @ (a - runs * share) - ridge @ weights
        hessian = (basis * (runs * share * (1 - share))[:, None]).T @ basis + ridge + 1e-9 * np.eye(len(weights))
        weights = weights + np.linalg.solve(hessian, gradient)
        share = 1 / (1 + np.exp(-np.clip(offset + basis @ weights, -30, 30)))
    return SmoothLoss(runs, share, basis, np.linalg.inv(hessian))


def smoothed(places: Floats, counts: tuple[Integers, Integers]) -> tuple[Floats, Floats]:
    """Return the counts of ordered cells that a smooth loss predicts; their sum over the sides is kept."""
    smooth = smooth_loss(places, counts)
    ahead, behind = smooth.runs * smooth.share, smooth.runs * (1 - smooth.share)
    return np.append(ahead, counts[0][-1]), np.append(behind, counts[1][-1])


def _ratio(hits: Integers, others: Integers, base: float) -> Floats:
    """The log ratio of smoothed counts. Equal counts give the same number, whichever side the omitted run has."""
    one, other = np.maximum(hits, 0) + _SMOOTH, np.maximum(others, 0) + _SMOOTH
    return np.asarray(np.round(np.log(one / other) - base, 9))


def _counted_order(
    cells: Integers,
    values: Floats,
    seen: tuple[tuple[Floats, Counts, int], ...],
    counts: tuple[Counts, Counts],
    slack: Floats | None,
    gaps: np.ndarray[Any, np.dtype[np.bool_]] | None,
    *,
    known: float,
) -> LikelihoodOrder:
    """Count runs from the top of the order down; ``seen`` holds values, the runs at each value, and their side."""
    levels = np.concatenate([values, *(at for at, _, _ in seen)])
    order = np.argsort(-levels, kind="stable")
    levels = levels[order]
    last = np.flatnonzero(np.append(levels[1:] != levels[:-1], True)) if len(levels) else np.empty(0, dtype=np.intp)
    fronts = []
    for side in (0, 1):
        runs = np.concatenate([np.zeros(len(values)), *(n if s == side else 0 * n for _, n, s in seen)])
        fronts.append(np.concatenate([[0.0], np.cumsum(runs[order])[last]]))
    thresholds = np.concatenate([[np.inf], levels[last]])
    totals = float(counts[0].sum()), float(counts[1].sum())
    slack = np.zeros(len(thresholds)) if slack is None else slack
    return LikelihoodOrder(cells, values, thresholds, fronts[0], fronts[1], *totals, len(counts[0]), slack, known, gaps)


# --- Which thresholds of an order of cells are tried, and what would their events catch? For many orders at once ---
#
# Three thresholds give an event that points to both sides: the cells down to the first of them point to side 0, and the
# cells between the second and the third to side 1. Its *band* says where the third is: 0 behind all cells; 1 anywhere,
# so that an event of few runs is cut out of an order; −1 anywhere, with the sides exchanged.
#
# A call of NumPy takes longer than its work on few numbers, so the orders of all families stand in one row here.

# measured by benchmarks/goal_table.py (tuned on its seeds 0 to 99)
_RARE = 0.05  # largest share of runs of an event that may leave out cells between its two sides
_NEAR = 12  # thresholds tried around the best


class Orders:
    """The runs that the thresholds of several orders of cells would catch."""

    def __init__(self, orders: Sequence[LikelihoodOrder]) -> None:
        self.lengths = np.array([len(order.thresholds) for order in orders])
        self._begin = np.cumsum(self.lengths) - self.lengths
        self._above = tuple(np.concatenate([(order.above0, order.above1)[side] for order in orders]) for side in (0, 1))
        self._slack = np.concatenate([order.slack for order in orders])
        self._totals = tuple(
            np.array([max((order.total0, order.total1)[side], 1.0) for order in orders]) for side in (0, 1)
        )
        # the number of runs that estimates the mean equally well, if the sides have different numbers
        self._both = np.array(
            [
                max(4 * order.known * order.total0 * order.total1 / max(order.total0 + order.total1, 1.0), 1.0)
                for order in orders
            ]
        )

    def averaged(
        self, order: int | Integers, thresholds: Integers, band: int | Integers
    ) -> tuple[Floats, Floats, Floats]:
        """Return the frequencies of right and of wrong guesses, averaged over the sides, and the runs behind them."""
        right0, wrong0, right1, wrong1 = self.rates(order, thresholds, band)
        first, second, third = thresholds.T
        begin, both = self._begin[order], self._both[order]
        slack = self._slack[begin + first] + self._slack[begin + np.where(band, third, second)]
        right, wrong = (right0 + right1) / 2, (wrong0 + wrong1) / 2 + slack / both
        # only a rare event may leave out the cells between its sides
        common = np.not_equal(band, 0) & (first != second) & (right > _RARE)
        return np.where(common, 0.0, right), wrong, np.broadcast_to(both, right.shape)

    def rates(self, order: int | Integers, thresholds: Integers, band: int | Integers) -> tuple[Floats, ...]:
        """Return the frequencies of right and of wrong guesses on side 0, and then on side 1 (see `averaged`)."""
        at = self._begin[order] + thresholds.T
        rates: list[Floats] = []
        for side in (0, 1):
            first, second, third = self._above[side][at] / self._totals[side][order]
            to0, to1 = np.where(np.equal(band, -1), (third - second, first), (first, third - second))
            rates += [to0, to1] if side == 0 else [to1, to0]
        return tuple(rates)

    def promising(self, order: int, coarse: Integers, band: int, delta: float) -> Integers:
        """Return the thresholds whose loss is most significant, for several penalties: a quick look at very many."""
        index = np.triu_indices(len(coarse), 0 if not band or len(coarse) == 1 else 1)
        first, last = coarse[index[0]], coarse[index[1]]
        beside = np.minimum(coarse[np.minimum(index[0] + 1, len(coarse) - 1)], last)
        end = np.full_like(last, self.lengths[order] - 1)
        shapes = ((first, first, last), (first, beside, last)) if band else ((first, last, end),)
        thresholds = np.concatenate([np.stack(shape, axis=1) for shape in shapes])
        p, q, n = self.averaged(order, thresholds, band)
        low, high = (p * n + 0.5) / (n + 1), (q * n + 0.5) / (n + 1)
        loss = np.log(np.maximum(low - delta, 1e-300) / high)
        noise = np.sqrt((1 / low + 1 / high) / (n + 1))
        best = {int(np.argmax(loss - doubt * noise)) for doubt in (1.0, 2.0, 4.0)}
        return np.asarray(thresholds[sorted(best)])


def refined(
    starts: Sequence[Integers],
    fine: Sequence[Integers],
    lengths: Integers,
    predicted: Callable[[Integers, Integers], Floats],
    *,
    banded: bool,
) -> list[tuple[float, Integers]]:
    """Move each threshold to the best of many while the others stay, first over long and then over short distances.

    The two inner thresholds of a band move together, and each alone: cells that hold much of both sides are left out.
    """
    search = np.repeat(np.arange(len(starts)), [len(own) for own in starts])
    thresholds, values = np.concatenate(starts), np.empty(len(search))
    each, most, near = np.arange(len(search)), int(np.max(lengths)), np.arange(-_NEAR, _NEAR + 1)
    for far in (True, False):
        for moved in ([0, 1], [2], [0], [1]) if banded else ([0], [1]):
            beside, around = np.repeat(each, len(near)), (thresholds[:, moved[0], None] + near).ravel()
            if far and banded and moved in ([0], [1]):  # into the gap
                around = np.linspace(thresholds[:, 0], thresholds[:, 1], len(near), axis=1).astype(np.int64).ravel()
            elif far:
                around = np.concatenate([fine[number] for number in search.tolist()])
                beside = np.repeat(each, [len(fine[number]) for number in search.tolist()])
            tried = np.concatenate([thresholds, thresholds[beside]])
            tried[len(each) :, moved] = around.clip(0, lengths[search[beside]] - 1)[:, None]
            start = np.concatenate([each, beside])
            falling = (tried[:, 0] <= tried[:, 1]) & (tried[:, 1] <= tried[:, 2])
            start, tried = start[falling], tried[falling]
            number = search[start]
            for threshold in tried.T:
                number = number * most + threshold
            _, once, again = np.unique(number, return_index=True, return_inverse=True)
            shown = predicted(search[start[once]], tried[once])[again]
            best = _first_best(shown, start, len(each))
            thresholds, values = tried[best], shown[best]
    return [(float(values[top]), thresholds[top]) for top in _first_best(values, search, len(starts))]


def _first_best(values: Floats, group: Integers, groups: int) -> Integers:
    """Where the largest value of each group is, the first of them if there are several."""
    order = np.argsort(group, kind="stable")
    values, group = values[order], group[order]
    begin = np.searchsorted(group, np.arange(groups))
    hits = np.flatnonzero(values == np.maximum.reduceat(values, begin)[group])
    return np.asarray(order[hits[np.searchsorted(group[hits], np.arange(groups))]])
