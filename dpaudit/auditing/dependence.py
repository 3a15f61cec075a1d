"""Do the runs of a side depend on one another in the order of their calls?

Every bound counts runs as independent draws from one distribution. Runs that share noise with earlier runs (a Markov
chain that continues from its last state, a buffer of noise, a cache that is renewed from time to time) each have the
right distribution, show no drift, and fill the counts of an event as if there were fewer of them. The following tests
of the order of a side's runs detect this. All are exact if the order does not matter, and none chooses anything by the
data it tests.

*Lags.* Runs are put into disjoint pairs (i, i + lag). Given how many runs of all pairs are in a set of cells, every
arrangement of them is equally likely (the permutation argument of Fisher 1935), so the number of pairs with exactly one
run in the set has a known distribution, whatever the mechanism (`discordant_tail`).

*Across.* Runs come in pairs of one run of each side. Among the runs of side 0 in one set of cells, the number whose
partner of side 1 is in another set is hypergeometric, given how many runs are in each (Fisher 1935), unless they share
their noise.

*Windows.* If outputs repeat to the last bit, the share of windows of consecutive runs that hold an output twice is
compared with that of windows of as many runs from far apart. The first half of each block provides the former, the
second half the latter, so given how many windows repeat an output, the number of consecutive ones among them is
hypergeometric (Fisher 1935).

*Echoes.* If there are few distinct outputs, a reused buffer of noise gives no twins, but runs of a side that agree with
those a fixed number of calls before them, whatever that number is. All distances are searched for it, and it is tested
by the distribution of *Lags*.

*Twins.* Runs with the same output are put into disjoint pairs, in an order that does not depend on theirs. Time is cut
into spans of equal length, alternately odd and even. Given how many of the paired runs are in even spans, every
arrangement of them is again equally likely, so the number of twins with exactly one run there has the distribution of
`discordant_tail`. A reused buffer of noise gives twins whose distance is the size of the buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from dpaudit.arrays import Floats, Integers

CLASSES = 32
"""The largest number of classes of cells; the tables of pairs have as many rows and columns."""

MOST_RUNS = 2**14
"""How many runs of a side of one block are tested: the first ones."""

LAGS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64, 100, 128, 256, 500, 512, 1000, 1024, 2048)
OFFSETS = (-1, 0, 1)
WINDOWS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
SPANS = tuple(2**power for power in range(1, 13))
"""Numbers of spans into which time is cut."""

COME_BACK = "come back, to the last bit, at distances in time that independent runs do not have"

_FINEST = SPANS[-1]

COMMON = 4
"""How many outputs, the most common ones, are searched for echoes."""

_ERROR = 1e-9  # probability of a false alarm, for all sets, lags, windows and spans of one side together
_FEW = 16  # distinct outputs up to which comparing with each is faster than a search
_TRIED = 8  # distances tested for each output
_WORTH_A_LOOK = 5.5  # standard deviations; nearer to the mean, an exact tail is never below the error level


@dataclass(frozen=True, slots=True)
class RunOrder:
    """Statistics of the order of a side's runs; those of several blocks add up."""

    pairs: Integers  # (lags, classes, classes) pairs with their first run in one class and their second in another
    near: Integers  # (sizes, 2) windows of consecutive runs that repeat an output, and that do not
    far: Integers  # (n,) the outputs, as integers, of the runs used for windows of distant runs and for twins

    def __add__(self, other: RunOrder) -> RunOrder:
        return RunOrder(self.pairs + other.pairs, self.near + other.near, np.concatenate([self.far, other.far]))


def order_of_runs(classes: Integers, outputs: Integers) -> RunOrder:
    """Return the statistics of the order of runs."""
    near, far = np.split(outputs, [len(outputs) // 2])
    return RunOrder(np.stack([_paired(classes, lag) for lag in LAGS]), _repeating(near, apart=False), far)


def together(orders: list[RunOrder]) -> RunOrder:
    """Return the sum of the statistics of several blocks."""
    pairs = np.zeros((len(LAGS), CLASSES, CLASSES), dtype=np.int64)
    nothing = RunOrder(pairs, np.zeros((len(WINDOWS), 2), dtype=np.int64), np.zeros(0, dtype=np.int64))
    return reduce(RunOrder.__add__, orders, nothing)


def _paired(classes: Integers, lag: int) -> Integers:
    # runs in groups of 2·lag: each of the first half with the one a lag after it
    whole = len(classes) // (2 * lag) * 2 * lag
    groups, rest = classes[:whole].reshape(-1, 2, lag), classes[whole:]
    twos = max(len(rest) - lag, 0)
    first = np.concatenate([groups[:, 0].ravel(), rest[:twos]])
    second = np.concatenate([groups[:, 1].ravel(), rest[lag:]])
    table = np.bincount(first * CLASSES + second, minlength=CLASSES * CLASSES)
    return table.reshape(CLASSES, CLASSES).astype(np.int64)


def across(classes0: Integers, classes1: Integers) -> Integers:
    """Return the classes of neighbouring runs of the two sides, (offsets, classes, classes).

    They are the i-th run of side 0 and the (i + offset)-th of side 1: of the same pair of runs, and of neighbouring
    pairs.
    """
    tables = []
    for offset in OFFSETS:
        first, second = classes0[max(-offset, 0) :], classes1[max(offset, 0) :]
        twos = min(len(first), len(second))
        tables.append(np.bincount(first[:twos] * CLASSES + second[:twos], minlength=CLASSES * CLASSES))
    return np.stack(tables).reshape(len(OFFSETS), CLASSES, CLASSES).astype(np.int64)


def sharing(tables: Integers) -> bool:
    """Whether neighbouring runs of the two sides share their noise."""
    limit = np.log(_ERROR / (len(OFFSETS) * 2 * CLASSES * 2))
    return any(_matched(table, limit) for table in tables)


def _matched(table: Integers, limit: float) -> bool:
    """Whether sets of about equally many runs of each side hold too many, or too few, pairs."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    up_to, of_other = rows.cumsum(), columns.cumsum()
    nearest = np.abs(of_other - up_to[:, None]).argmin(axis=1)  # by the margins, which say nothing about pairs
    joint = table.cumsum(axis=0).cumsum(axis=1)[np.arange(CLASSES), nearest]
    sets = np.diagonal(table), rows, columns
    within = joint, up_to, of_other[nearest]
    pairs = int(table.sum())
    for both, first, second in zip(*(np.concatenate(parts) for parts in zip(sets, within, strict=True)), strict=True):
        if not (0 < first < pairs and 0 < second < pairs):
            continue
        mean = first * second / pairs
        deviation = np.sqrt(mean * (pairs - first) * (pairs - second) / (pairs * (pairs - 1)))
        if abs(both - mean) > _WORTH_A_LOOK * deviation:
            near, far = (both, first - both), (second - both, pairs - first - second + both)
            if _log_hypergeometric_tail(np.array(near), np.array(far)) <= limit:
                return True
    return False


def _repeating(outputs: Integers, *, apart: bool) -> Integers:
    """Return how many windows of each size hold an output twice, and how many do not, (sizes, 2)."""
    distinct = int(np.count_nonzero(np.diff(np.sort(outputs)))) + 1
    windows_repeating = []
    for size in WINDOWS:
        windows = len(outputs) // size
        if distinct < size:
            repeating = windows
        elif distinct == len(outputs):
            repeating = 0
        else:
            runs = outputs[: windows * size]
            ordered = np.sort(runs.reshape(size, -1).T if apart else runs.reshape(-1, size), axis=1)
            repeating = int(np.count_nonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)))
        windows_repeating.append((repeating, windows - repeating))
    return np.array(windows_repeating, dtype=np.int64)


def hanging_together(order: RunOrder) -> str | None:
    """Say how runs depend on one another, as the rest of a sentence about "the outputs of a side", or None."""
    limit = np.log(_ERROR / (len(LAGS) * 2 * CLASSES * 2 + len(WINDOWS) * 2 + len(SPANS) * 2))
    for lag, table in zip(LAGS, order.pairs, strict=True):
        differs_at = _alike(table, limit)
        if differs_at is not None:
            return f"agree {'more' if differs_at < 0 else 'less'} often than independent runs {_lag_text(lag)}"
    fars = _repeating(order.far, apart=True)
    begins = _log_hypergeometric(order.near, fars)  # a tail is at least as large as its first summand
    for size, near, far, begin in zip(WINDOWS, order.near, fars, begins, strict=True):
        if begin <= limit and _log_hypergeometric_tail(near, far) <= limit:
            more = near[0] * far.sum() > far[0] * near.sum()
            return (
                f"repeat one another {'more' if more else 'less'} often within {size} consecutive calls than between "
                "calls that are far apart"
            )
    return COME_BACK if _coming_back(order.far, limit) else None


def coming_back(outputs: Integers) -> bool:
    """Whether outputs, as integers in the order of their runs, repeat at distances that reveal reused noise."""
    return _coming_back(outputs, np.log(_ERROR / (len(SPANS) * 2)))


def echo(outputs: Integers, sides: Integers) -> int | None:
    """Return a distance, in calls, at which runs of a side agree as independent runs do not; None if there is none."""
    runs = len(outputs)
    limit = np.log(_ERROR / (max(runs, 1) * COMMON * 2 * 2))
    values, counts = np.unique(outputs, return_counts=True)
    for value in values[np.argsort(-counts, kind="stable")[:COMMON]]:
        ones = outputs == value
        for lag in _promising(ones, sides):
            first = np.arange(runs - lag)
            first = first[((first // lag) % 2 == 0) & (sides[first] == sides[first + lag])]
            for side in (0, 1):
                own = first[sides[first] == side]
                early, late = ones[own], ones[own + lag]
                if _strays(len(own), int(early.sum() + late.sum()), int(np.count_nonzero(early != late)), limit):
                    return int(lag)
    return None


def _promising(ones: Any, sides: Integers) -> Integers:
    """Return the distances at which runs of one side agree most, or least.

    A Fourier transform gives the agreement at all distances at once (Wiener 1930, Khinchin 1934); it only selects which
    distances are tested.
    """
    runs = len(ones)
    size = 1 << (2 * runs).bit_length()
    power, weight = np.zeros(size // 2 + 1), 0.0
    for side in (0, 1):
        own = sides == side
        mean = float(ones[own].mean()) if own.any() else 0.0
        spectrum = np.fft.rfft(np.where(own, ones - mean, 0.0), size)
        power += spectrum.real**2 + spectrum.imag**2
        weight += (mean * (1 - mean)) ** 2 * float(own.mean()) ** 2 if runs else 0.0
    agreement = np.fft.irfft(power, size)[:runs]
    deviations = np.abs(agreement) / np.sqrt(np.maximum(weight * (runs - np.arange(runs)), 1e-9))
    worth: Integers = np.flatnonzero(deviations[1:] > _WORTH_A_LOOK) + 1
    return worth[np.argsort(-deviations[worth], kind="stable")[:_TRIED]]


def _coming_back(outputs: Integers, limit: float) -> bool:
    first, second = _twins(outputs)
    runs = np.bincount(first, minlength=_FINEST) + np.bincount(second, minlength=_FINEST)
    apart = np.bincount(first ^ second, minlength=_FINEST)
    for spans in SPANS:
        odd = (np.arange(_FINEST) * spans // _FINEST) % 2 == 1  # exactly one of two numbers is odd where their ^ is
        if _strays(len(first), int(runs[~odd].sum()), int(apart[odd].sum()), limit):
            return True
    return False


@lru_cache(maxsize=2)  # both sides have the same number, in several checks
def _shuffled(runs: int) -> tuple[Integers, Any]:
    """Return a random order of the runs, and the span of each in that order, of the largest number of spans."""
    order = np.random.default_rng(0).permutation(runs)
    return order, (order * _FINEST // runs).astype(np.uint16)


def _twins(outputs: Integers) -> tuple[Any, Any]:
    """Return disjoint pairs of runs with equal outputs, each run as the number of its span."""
    ordered = np.sort(outputs)
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    if begins.all():  # as of most continuous noise
        return np.zeros(0, dtype=np.uint16), np.zeros(0, dtype=np.uint16)
    starts = np.flatnonzero(begins)
    repeated = np.diff(starts, append=len(ordered)) > 1
    values = ordered[starts[repeated]]
    if len(values) <= _FEW:
        codes = np.zeros(len(outputs), dtype=np.uint8)
        for value in values[1:]:
            codes += outputs >= value
    else:
        codes = np.minimum(np.searchsorted(values, outputs), len(values) - 1)
        codes = codes.astype(np.uint16) if len(values) < 2**16 else codes  # these are sorted faster
    order, spans = _shuffled(len(outputs))
    if not repeated.all():
        twice = (values[codes] == outputs)[order]
        order, spans = order[twice], spans[twice]
    codes = codes[order]
    spans = spans[np.argsort(codes, kind="stable")]
    counts = np.bincount(codes, minlength=len(values))
    spans = np.delete(spans, np.cumsum(counts)[counts % 2 == 1] - 1)  # the last of an odd number is left over
    return spans[::2], spans[1::2]


def _strays(pairs: int, ones: int, discordant: int, limit: float) -> bool:
    """Whether a number of discordant pairs is too unlikely."""
    if pairs < 2:
        return False
    means, deviations = discordant_moments(pairs, np.array([ones]))
    mean, deviation = float(means[0]), float(deviations[0])
    if deviation == 0 or abs(discordant - mean) <= _WORTH_A_LOOK * deviation:
        return False
    return discordant_tail(pairs, ones, discordant, few=discordant < mean) <= limit


def _lag_text(lag: int) -> str:
    return "from one call to the next" if lag == 1 else f"at a distance of {lag} calls"


def _alike(table: Integers, limit: float) -> float | None:
    """Return the standardised deviation of a number of discordant pairs that is too unlikely (< 0: few), or None."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    single = np.diagonal(table), rows, columns
    within = np.diagonal(table.cumsum(axis=0).cumsum(axis=1)), rows.cumsum(), columns.cumsum()
    both, first, second = (np.concatenate(parts) for parts in zip(single, within, strict=True))
    pairs, ones = int(table.sum()), first + second
    discordant = ones - 2 * both
    if pairs < 2:
        return None
    mean, deviation = discordant_moments(pairs, ones)
    strayed = (discordant - mean) / np.maximum(deviation, 1e-9)
    for place in np.flatnonzero((np.abs(strayed) > _WORTH_A_LOOK) & (deviation > 0)):
        few = bool(strayed[place] < 0)
        if discordant_tail(pairs, int(ones[place]), int(discordant[place]), few=few) <= limit:
            return float(strayed[place])
    return None


def discordant_moments(pairs: int, ones: Integers) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the number of discordant pairs, of 2·``pairs`` runs with so many ones."""
    runs = 2 * pairs
    one, other = np.asarray(ones, dtype=np.float64), runs - np.asarray(ones, dtype=np.float64)
    mean = one * other / (runs - 1)
    two = pairs * (pairs - 1) * 4 * one * (one - 1) * other * (other - 1)
    two /= runs * (runs - 1) * (runs - 2) * (runs - 3)
    return mean, np.sqrt(np.maximum(two + mean - mean * mean, 0.0))


def discordant_tail(pairs: int, ones: int, discordant: int, *, few: bool) -> float:
    """Return the log-probability of at most, or at least, so many discordant pairs if every order is equally likely.

    Of the C(2m, k) arrangements of k ones on m pairs, m!/(a! d! c!)·2^d have d discordant pairs, a = (k − d)/2 of ones
    and c = m − a − d of others (counting; the permutation argument is Fisher's, 1935).
    """
    most = min(ones, 2 * pairs - ones)
    counts = np.arange(ones % 2, most + 1, 2, dtype=np.float64)
    alike = (ones - counts) / 2
    others = pairs - alike - counts
    arrangements = gammaln(pairs + 1) - gammaln(alike + 1) - gammaln(counts + 1) - gammaln(others + 1)
    logs = arrangements + counts * np.log(2)
    chosen = counts <= discordant if few else counts >= discordant
    return float(logsumexp(logs[chosen]) - logsumexp(logs)) if chosen.any() else -np.inf


def _log_hypergeometric(near: Integers, far: Integers) -> Floats:
    """Return the log-probability of this split of repeats between near and far windows, the rows of both."""
    windows = near + far
    ways = [_log_choose(part.sum(axis=1), part[:, 0]) for part in (near, far, windows)]
    return ways[0] + ways[1] - ways[2]


def _log_hypergeometric_tail(near: Integers, far: Integers) -> float:
    """Return the log-probability of a split of repeats at least this uneven, in the direction observed."""
    total, repeating, drawn = int(near.sum() + far.sum()), int(near[0] + far[0]), int(near.sum())
    counts = np.arange(max(0, drawn + repeating - total), min(repeating, drawn) + 1, dtype=np.float64)
    logs = _log_choose(repeating, counts) + _log_choose(total - repeating, drawn - counts)
    more = near[0] * far.sum() > far[0] * near.sum()
    chosen = counts >= near[0] if more else counts <= near[0]
    return float(logsumexp(logs[chosen]) - logsumexp(logs))


def _log_choose(n: int | Integers, k: Floats | Integers) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def classes_of(counts: Integers) -> Integers:
    """Return a class for each cell, (cells,): neighbouring cells are grouped so that classes hold about equally many
    runs.
    """
    before = np.cumsum(counts) - counts / 2
    share = before / max(float(np.sum(counts)), 1.0)
    return np.minimum((share * CLASSES).astype(np.int64), CLASSES - 1)
