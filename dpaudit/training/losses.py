"""What do the steps that were seen lose together, and how much does one of them tell?

From below stands what certainly happened, on some data: noise no smaller than was seen, a record that moves a sum as
far as one was seen to, the steps and the sampler that were recognised. From above stands what certainly bounds it, or
nothing: clipping that is wrong, or noise that comes twice, bounds no loss.

Records that may come into an update k times, by k batches drawn at rate q: they take part with probability
1 − (1 − q)^k, and move the sum by C to k·C. A larger shift of one mixture component is easier to tell in both
directions, since the likelihood ratio rises with the output; so a shift of C bounds from below and one of k·C from
above.

A batch that is trained on t times moves t sums of the records that were drawn for it, together by √t·C: the same draw
decides of all of them.

A record moves a clipped sum by at most C. Whoever sees a coordinate of a noisy sum, along which it moves by C, tells
N from N + C, N being the noise. So the law of the noise gives the attacker's trade-off curve: at each threshold t the
false positive rate 1 − F(t) and the true positive rate 1 − F(t − C). F is bounded on a lattice of thresholds, fixed by
σ alone, at all of them at once: exact binomial intervals (Clopper & Pearson 1934) that share the error.

A bound of μ is one point of a curve, and does not compose. The hull of all points does: it is the curve of a discrete
pair, which is not easier to tell apart than the true one, also after sampling and over steps. Its composition is summed
by FFT, losses rounded down; the error of floats is far below `_MARGIN`, which δ is lowered by. The bound is
*conditional*: it holds if steps are independent and records come in as was seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import stats

from dpaudit.accounting import Gaussian, events
from dpaudit.arrays import Floats, Integers
from dpaudit.decimals import number_of
from dpaudit.errors import UsageError
from dpaudit.evidence.further_records import Training, TrainingFact
from dpaudit.training import batches, clipping
from dpaudit.training.seen import Fact, TrainingRun, Update
from dpaudit.training.updates import UNEXPLAINED

# --- What do the steps that were seen lose together? -----------------------------------------------------

_MOST_TOGETHER = 64  # batches of one update: of more, no sampling is accounted for
_MOST_KINDS = 8  # of steps, which are composed with each other
_MOST_FACTOR = 8  # of the sensitivity, for a bound from above: beyond, an ε is of no use, and takes minutes
DEPENDENT = "the noise of one update hangs on that of others, and no such noise is accounted for"
"""Why nothing is certified of it, from below either."""
UNKNOWN = 0.0
"""The rate of records whose sampling is not known."""
MOST_SEEN = 8.0
"""The largest factor of the sensitivity that is written down, in powers of 2."""
_INFINITE = {
    "repetition": "noise that comes twice can be subtracted",
    "parameters": "some of what is released has no noise",
    "noise": "some coordinates have no noise",
    "records": "some state of the model has no noise, or mixes records",
    "numbers": "a gradient that is no number reaches the weights",
}


@dataclass(frozen=True, slots=True)
class LoopParts:
    """What an accounting of a loop is made of; all of it is written into evidence."""

    sampler: str  # "poisson", "fixed-size", "shuffled", "fixed order" or "another rate"; empty where none is known
    steps: tuple[tuple[float, float, int], ...]  # (noise multiplier, sampling rate, updates)
    # bounds of the noise over what is claimed, from above and below: (for the lower loss, for the upper one)
    scale: tuple[float, float] = (1.0, 1.0)
    # the sensitivity over the clip norm, (for the lower loss, for the upper one)
    factors: tuple[float, float] = (1.0, 1.0)
    # (noise multiplier, sampling rate, batches k in one update, Σm² of the updates into which a batch comes m times,
    # how many such groups); an update of which it is not known is in none
    groups: tuple[tuple[float, float, int, int, int], ...] = ()
    loose: int = 0  # how many updates are in no group
    # of shuffled or fixed batches, (least Σm², most Σm², how many epochs); None where not known
    rounds: tuple[tuple[int, int, int], ...] | None = None
    # batch, records, epoch: where the sampler needs them
    batch: int | None = None
    records: int | None = None
    epoch: int | None = None
    # whether the claim is about records that are replaced, as the accounting of batches of one size is
    replaced: bool = False

    @property
    def together(self) -> int:
        """The largest number of batches in one update."""
        return max([1, *(together for _, _, together, _, _ in self.groups)])

    @property
    def apart(self) -> bool:
        """Whether every update is of one batch, which is in no other."""
        return not self.loose and all(together == square == 1 for _, _, together, square, _ in self.groups)


def parts_of(training: Training) -> LoopParts:
    """Return what an accounting is made of, from evidence."""
    return LoopParts(
        training.sampler or training.assumed,
        training.steps,
        training.scales,
        training.factors,
        tuple((sigma, rate, training.together, 1, count) for sigma, rate, count in training.steps)
        if training.groups is None
        else training.groups,
        training.loose,
        training.rounds,
        training.batch,
        training.records,
        training.epoch,
        training.assumed == "fixed-size",
    )


def steps_of(seen: TrainingRun, rate: float | None) -> tuple[tuple[float, float, int], ...]:
    """Return (noise multiplier, sampling rate, updates) of all updates; the rate is one for all where it is given."""
    counts = Counter((each.sigma, _rate_of(each, rate)) for each in seen.updates if each.sigma is not None)
    return tuple((sigma, own, count) for (sigma, own), count in counts.items() if sigma is not None)


def groups_of(
    seen: TrainingRun, use: batches.Use | None, rate: float | None
) -> tuple[tuple[tuple[float, float, int, int, int], ...], int]:
    """Return the groups of `LoopParts`, and how many updates are in none; each batch that was not seen is one."""
    if use is None:
        return tuple((sigma, own, 1, 1, count) for sigma, own, count in steps_of(seen, rate)), 0
    grouped, loose = use.groups()
    counts: Counter[tuple[float, float, int, int]] = Counter()
    rest = len(loose)
    for numbers, together, square in grouped:
        noises = {seen.updates[number].sigma for number in numbers}
        sigma = noises.pop()
        if noises or sigma is None:
            rest += len(numbers)
        else:
            counts[sigma, _rate_of(seen.updates[numbers[0]], rate), together, square] += 1
    return tuple((*each, count) for each, count in counts.items()), rest


def rounds_of_use(seen: TrainingRun, use: batches.Use | None, fixed: bool) -> tuple[tuple[int, int, int], ...] | None:
    """Return (least, most, how many) of the Σm² of the batches of an epoch; None where batches were not seen."""
    if use is None or not seen.epoch or seen.batches is None:
        return None
    squares, alone = use.squares(), use.alone()
    of = {each.drawn: squares[number] for number, each in enumerate(seen.deliveries) if each.drawn is not None}
    sure = {each.drawn for number, each in enumerate(seen.deliveries) if number in alone}
    epochs = batches.rounds_of(seen.passes, seen.epoch, len(seen.batches))
    if fixed:
        places = range(seen.epoch)
        totals = [sum(of.get(one[at], 0) for one in epochs if at < len(one)) for at in places]
        certain = [sum(of.get(one[at], 0) for one in epochs if at < len(one) and one[at] in sure) for at in places]
        return ((max(certain), max(totals), 1),)
    counts = Counter(
        (
            min(of.get(each, 0) if each in sure else 0 for each in one) if len(one) == seen.epoch else 0,
            max(of.get(each, 0) for each in one),
        )
        for one in epochs
    )
    return tuple((least, most, count) for (least, most), count in counts.items() if most)


def _rate_of(update: Update, rate: float | None) -> float:
    own = rate if rate is not None else update.rate
    return own if own is not None else UNKNOWN


def factors_of(seen: TrainingRun | None, finding: Fact | TrainingFact) -> tuple[float, float]:
    """Return how far a record moves a sum, over C: certainly at least on some data, and at most.

    What records of this training moved it by is rounded to a power of 2, so that no gradient shows.
    """
    if finding.status != "wrong":
        return 1.0, 1 + max(clipping.DIGITS.values()) if finding.name == clipping.ROUNDED else 1.0
    if finding.name == "clipped per batch":  # two sums of norm C at most
        return 1.0, 2.0
    replays = [] if seen is None else seen.replays
    largest = [each.largest for each in replays if each.looks == finding.name and math.isfinite(each.largest)]
    if finding.name == "clipped by layer" and largest:  # as the loop states it: no record shows
        return math.floor(max(largest) * 1e6) / 1e6, math.ceil(max(largest) * 1e6) / 1e6
    if finding.name in ("not clipped", "another norm") and largest:
        seen_most = min(max(largest), MOST_SEEN)
        low = 2.0 ** math.floor(math.log2(seen_most)) if seen_most > 0 else 0.0
        return low, math.inf if finding.name == "not clipped" else 2.0 ** math.ceil(math.log2(max(largest)) + 1e-3)
    return 0.0, math.inf


def unbounded(findings: Sequence[Fact] | Sequence[TrainingFact]) -> tuple[str, bool]:
    """Return why nothing bounds the loss from above, and whether it is then certainly infinite; empty where nothing."""
    by_fact = {each.fact: each for each in findings if each.status == "wrong"}
    if "repetition" in by_fact:
        return _INFINITE["repetition"], True
    if "parameters" in by_fact:
        return _INFINITE["parameters"], by_fact["parameters"].name == "moved without noise"
    noise = by_fact.get("noise")
    if noise is not None and noise.name == "coordinates without noise":
        return _INFINITE["noise"], True
    for fact in ("records", "numbers"):
        if fact in by_fact:
            return _INFINITE[fact], False
    if noise is not None and noise.name != "too little noise":
        return "the noise is not Gaussian of one scale", False
    if "independence" in by_fact:
        return "the noise is not independent", False
    if any(each.fact == "independence" and each.name == clipping.CORRELATED for each in findings):
        return DEPENDENT, False
    if "divisor" in by_fact:
        return "the divisor tells how many records a batch has", False
    if "altered" in by_fact:
        return "the rate of learning tells the losses of batches, without noise", False
    steps = next((each for each in findings if each.fact == "steps"), None)
    if steps is not None and steps.name == "batches are cut":
        return "a record more moves others in or out of batches that are cut", False
    if steps is not None and steps.name == UNEXPLAINED:
        return "which records some updates hold was not seen", False
    return "", False


def listed(parts: LoopParts, *, up: bool) -> list[tuple[events.PrivacyEvent, int]] | None:
    """Return the events that bound what was seen, from above or below; None where there are none."""
    factor, scale = parts.factors[up], parts.scale[up]
    if up and factor > _MOST_FACTOR:
        return None
    if not parts.steps or not 0 < factor < math.inf or not 0 < scale < math.inf:
        return None
    events_listed: list[tuple[events.PrivacyEvent, int]] = []
    if up and parts.loose:
        return None
    if parts.sampler in ("shuffled", "fixed order"):
        events_listed = _in_epochs(parts, Fraction(factor), Fraction(scale), up=up)
        return events_listed or None
    if not all(sigma > 0 for sigma, _, _, _, _ in parts.groups):
        return None
    for sigma, rate, together, square, groups in _few(parts.groups, up=up):
        noise = number_of(sigma) * Fraction(scale)
        event = _event(parts, noise, Fraction(factor), number_of(rate), together, square, up=up)
        if event is None and up:
            return None
        if event is not None and groups:
            events_listed.append((event, groups))
    return events_listed or None


def _few(groups: Sequence[tuple[float, float, int, int, int]], *, up: bool) -> list[tuple[float, float, int, int, int]]:
    """The same groups, of few noise multipliers: of those that lie close, the smallest for a bound from above.

    Each kind of step is composed by itself, so that a plan with another multiplier each time would take minutes.
    """
    if len(groups) <= _MOST_KINDS:
        return list(groups)
    logs = [math.log(sigma) for sigma, _, _, _, _ in groups]
    width = (max(logs) - min(logs)) / _MOST_KINDS or 1.0
    fewest: dict[tuple[int, float, int, int], tuple[float, int]] = {}
    for sigma, rate, together, square, count in groups:
        key = min(_MOST_KINDS - 1, int((math.log(sigma) - min(logs)) / width)), rate, together, square
        before, others = fewest.get(key, (sigma, 0))
        fewest[key] = (min if up else max)(before, sigma), others + count
    return [(sigma, rate, together, square, count) for (_, rate, together, square), (sigma, count) in fewest.items()]


def _event(
    parts: LoopParts, sigma: Fraction, factor: Fraction, rate: Fraction, together: int, square: int, *, up: bool
) -> events.PrivacyEvent | None:
    """What a group of updates loses; None where nothing is accounted for."""
    moved = factor * _root(square, up=up)
    if rate == UNKNOWN and parts.sampler == "poisson":  # whatever the rate is, all records lose no less
        return Gaussian(sigma, sensitivity=moved * together) if up else None
    if parts.sampler in ("poisson", "another rate"):
        if together > _MOST_TOGETHER:
            return Gaussian(sigma, sensitivity=moved * together) if up else None
        share = _outward(1 - (1 - rate) ** together, up=up) if together > 1 else rate
        return Gaussian(sigma, sensitivity=moved * (together if up else 1)).poisson(share)
    if together > 1 or parts.sampler != "fixed-size" or not parts.batch or not parts.records:
        return None
    # a record that is replaced moves the sum by what it gave and by what it gives; one that gave nothing, by C
    moved = 2 * moved if up or parts.replaced else moved
    return Gaussian(sigma, sensitivity=moved).fixed_size(parts.batch, parts.records)


def _in_epochs(
    parts: LoopParts, factor: Fraction, scale: Fraction, *, up: bool
) -> list[tuple[events.PrivacyEvent, int]]:
    """What shuffled or fixed batches lose: each record is in one batch of an epoch."""
    noises = {sigma for sigma, _, _, _, _ in parts.groups}
    if not parts.epoch or parts.together > 1 or not noises or not min(noises) > 0:
        return []
    sigma = number_of(min(noises) if up else max(noises)) * scale
    updates = sum(groups for _, _, _, _, groups in parts.groups)
    rounds = parts.rounds
    if rounds is None:
        epochs = -(-updates // parts.epoch) if up else updates // parts.epoch
        rounds = ((1, 1, epochs),)
    events_listed: list[tuple[events.PrivacyEvent, int]] = []
    for least, most, epochs in rounds:
        square = most if up else least
        if not square or not epochs:
            continue
        noise = Gaussian(sigma, sensitivity=factor * _root(square, up=up))
        events_listed.append((noise.shuffled(parts.epoch) if parts.sampler == "shuffled" else noise, epochs))
    return events_listed


def _root(square: int, *, up: bool) -> Fraction:
    """√square, exactly where it is whole, else to 12 decimals and no smaller, or no larger."""
    whole = math.isqrt(square)
    if whole * whole == square:
        return Fraction(whole)
    return Fraction(math.isqrt(square * 10**24) + up, 10**12)


def _outward(value: Fraction, *, up: bool) -> Fraction:
    """A probability of 12 decimals that is no smaller, or no larger."""
    scaled = value * 10**12
    return min(Fraction(1), Fraction(math.ceil(scaled) if up else math.floor(scaled), 10**12))


def refused(error: UsageError) -> str:
    """Say why an accounting could not be made, in a sentence's second half."""
    return str(error).rstrip(".")


# --- How much does one step tell, by the noise that was seen, and what do all steps tell together? -------

_PARTS = 8  # thresholds in a shift; 4 to 16 give the same to three digits (σ from .6 to 4)
_REACH = 5.0  # standard deviations
_MOST = 400  # thresholds
_MARGIN = 1e-9  # of δ, for sums in floats
_NOISE = 1e-14  # of a mass: of this size are errors of the transform
_LEAST_DELTA = 1e-7
_CELLS = 2**18
_WIDEST = 60.0  # of ε


@dataclass(frozen=True, slots=True)
class StepLoss:
    """What is certified of one step."""

    # fpr, tpr: corners of the hull, from (0, 0) to (1, 1): no attacker has less at more than this
    fpr: Floats
    tpr: Floats
    mu: float  # if the step keeps μ-GDP, μ is at least this


def thresholds(sigma: float) -> tuple[Floats, int]:
    """Return thresholds in units of σ·C, and how many of them a shift by C is."""
    parts = _PARTS
    reach = _REACH + 1 / sigma
    while 2 * reach * sigma * parts > _MOST and parts > 1:
        parts -= 1
    step = 1 / sigma / parts
    if 2 * reach / step > _MOST:  # much noise: a shift is less than a step
        step, parts = 1 / sigma, 1
    number = int(np.ceil(reach / step))
    return np.asarray(np.arange(-number, number + 1) * step, dtype=np.float64), parts


def counted(values: Floats, sigma: float) -> Integers:
    """Return how many values are at most each threshold."""
    at, _ = thresholds(sigma)
    return np.asarray(np.searchsorted(np.sort(values), at, side="right"), dtype=np.int64)


def certified(below: Integers, values: int, sigma: float, error: float) -> StepLoss:
    """Return what the counts certify of a step."""
    _, parts = thresholds(sigma)
    share = error / (2 * len(below))
    above = values - below
    with np.errstate(all="ignore"):
        most = np.where(above >= values, 1.0, stats.beta.isf(share, above + 1, np.maximum(below, 1)))
        least = np.where(above <= 0, 0.0, stats.beta.ppf(share, np.maximum(above, 1), below + 1))
    fpr, tpr = most[parts:], least[:-parts]  # 1 − F(t) at most, 1 − F(t − C) at least
    with np.errstate(invalid="ignore"):
        mu = stats.norm.ppf(tpr) - stats.norm.ppf(fpr)
    # the upper concave hull of the points, with (0, 0) and (1, 1)
    hull: list[tuple[float, float]] = []
    for point in sorted([(0.0, 0.0), *zip(fpr.tolist(), tpr.tolist(), strict=True), (1.0, 1.0)]):
        while len(hull) > 1 and _left(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    corners = np.array(hull)
    return StepLoss(corners[:, 0], corners[:, 1], float(max(0.0, np.nanmax(np.where(np.isfinite(mu), mu, 0.0)))))


def _left(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    return (b[1] - a[1]) * (c[0] - a[0]) <= (c[1] - a[1]) * (b[0] - a[0])


# --- many steps ---------------------------------------------------------------------------------------------


def composed(step: StepLoss, rate: float, steps: int, delta: float) -> float | None:
    """Return the ε that so many steps certainly lose at δ, with records sampled at a rate (1: none)."""
    if delta < _LEAST_DELTA:
        return None
    with_record, without = np.diff(step.tpr), np.diff(step.fpr)
    some = without > 0  # what only the record makes is left out: less is told
    p, q = with_record[some], without[some]
    mixed = (1 - rate) * q + rate * p
    with np.errstate(divide="ignore"):
        loss = np.log(mixed / q)
    finite = np.isfinite(loss)
    p, q, loss = mixed[finite], q[finite], loss[finite]
    return max(_least(loss, p, steps, delta), _least(-loss, q, steps, delta))


def _least(loss: Floats, mass: Floats, steps: int, delta: float) -> float:
    """Return the ε at which δ(ε) passes δ, after so many steps; losses are rounded down to a grid."""
    size = 2 * _half_width(loss, mass, steps) / _CELLS
    cells = np.floor(loss / size).astype(np.int64)
    low = int(cells.min())
    each = np.zeros(_CELLS)
    np.add.at(each, cells - low, mass)
    total = np.maximum(np.fft.irfft(np.fft.rfft(each) ** steps, _CELLS), 0)
    middle = round(float((cells - low) @ mass) * steps)
    shift = middle - _CELLS // 2
    at = ((np.arange(_CELLS) - shift) % _CELLS + shift + low * steps) * size
    few = (total > _NOISE) & (at > 0)  # to leave some out tells less
    at, total = at[few], total[few]

    def told(epsilon: float) -> float:
        return float(total @ np.maximum(0, -np.expm1(np.minimum(0, epsilon - at)))) - _MARGIN

    if told(0.0) <= delta:
        return 0.0
    lower, upper = 0.0, _WIDEST
    for _ in range(50):
        half = (lower + upper) / 2
        lower, upper = (half, upper) if told(half) > delta else (lower, half)
    return lower


def _half_width(loss: Floats, mass: Floats, steps: int) -> float:
    """Return how far around its mean the sum of losses lies, but for a hundredth of the margin (Chernoff 1952)."""
    mean = float(loss @ mass) / float(mass.sum())
    spread = float(np.sqrt((loss - mean) ** 2 @ mass))
    most = float(np.ptp(loss)) * steps
    half = 8 * spread * math.sqrt(steps) + 1e-9
    tilts = np.geomspace(1e-3, 1e3, 60) / max(spread * np.sqrt(steps), 1e-12)
    while half < most:
        log_tail = math.inf
        for sign in (1, -1):
            powers = tilts[:, None] * sign * (loss - mean)
            tops = powers.max(1)
            logs = steps * (tops + np.log(np.exp(powers - tops[:, None]) @ mass)) - tilts * half
            log_tail = min(log_tail, float(logs.min())) if sign == 1 else max(log_tail, float(logs.min()))
        if log_tail < math.log(_MARGIN / 200):
            return half
        half *= 1.3
    return most + 1e-9
