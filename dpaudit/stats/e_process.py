"""How surely do the runs so far refute a claim, when anyone may look at them at any time?

By betting (Shafer 2021; Ville 1939). Runs come in twos, one of each side, and an event that was fixed beforehand
guesses the side of each run or passes. Under the claim P(S) ≤ e^ε·Q(S) + δ, both ways, a bet on

    g = 1{right} − e^ε·1{wrong} − δ·sides/2,      sides = how many sides the event speaks for (0, 1 or 2)

does not gain on average over two runs: with T₀ and T₁ for what speaks for side 0 and 1, and g₀ and g₁ for a run of each
side, E g₀ + E g₁ = (P₀(T₀) − e^ε·P₁(T₀)) + (P₁(T₁) − e^ε·P₀(T₁)) − δ·sides, and each difference is at most δ where its
set is fixed as not empty, 0 where it is empty. The two runs are independent, so that a bettor with 0 ≤ λ <
1/(e^ε + δ·sides/2) has E(1 + λg₀)(1 + λg₁) = (1 + λE g₀)(1 + λE g₁) ≤ (1 + λ(E g₀ + E g₁)/2)² ≤ 1: two factors that are
not negative have no larger product than twice their mean. So the wealth Π(1 + λg), looked at after whole twos alone, is
a non-negative supermartingale of mean at most 1, given the order of the sides, and so are averages of such bettors, and
bettors who divide their wealth anew by what past runs say.
If the claim is true, the wealth ever reaches 1/a with a probability of at most a, however often it is looked at and
whenever one stops. A claim that is a whole curve implies (ε, δ(ε)) for every ε, so it may be bet against at each.

The wealth depends on the runs through few counts, so it can be computed again from them: for every epoch, in which
events are fixed, what the past said of each event, and what the epoch's own runs came to.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import bdtrik

from dpaudit.arrays import Floats, Integers
from dpaudit.evidence.records import Counts, Epoch, Stake
from dpaudit.privacy import ApproxDP, Claim, GaussianDP
from dpaudit.stats.power import Detectable, detectable_gaussian

FRACTIONS = 0.95 * 2.0 ** -np.arange(12)  # of the largest λ
_PRIOR = np.array([1, 1, 1, 1, 1, 1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12])
_OF_POINT = np.array([[4.0], [1.0], [1.0]])  # how the wealth starts, over events and over points
_OF_CURVE = np.array(  # the same where the claim is a curve (see `searched`)
    [[1, 1, 4, 4, 2], [0.1, 0.1, 1, 2, 3], [0.1, 0.1, 0.1, 2, 4], [12, 40, 12, 2, 1]]
)
_CARRIED = 0.05  # the share of those who let their bets run on from epoch to epoch
_POINTS = (0.0, 0.5, 1.0, 2.0, 4.0)  # of a curve, in multiples of the μ that it is like
_LEAST, _MOST = 1 / 20, 100.0  # the values that are tried: from a part of the claimed one on
_STEP, _LONG_STEP = 1.03, 1.08  # from one to the next; the longer where the points of a curve take long to find
_HAIR = 1e-6  # a claim is refuted together with values that are larger by so little


@lru_cache(maxsize=1024)
def points(claim: Claim) -> tuple[Floats, Floats]:
    """Return points (ε, δ) that the claim implies, to bet against: two arrays of one length; δ is never too small."""
    if claim.is_point:
        return np.array([claim.value]), np.array([claim.delta])
    epsilon = _like_mu(claim) * np.array(_POINTS)
    if isinstance(claim, GaussianDP):
        return epsilon, np.minimum(np.asarray(claim.profile(epsilon)) * (1 + 1e-9) + 1e-15, 1.0)
    return epsilon, _profile_above(claim, epsilon)


def _like_mu(claim: Claim) -> float:
    """The μ of a Gaussian mechanism that just keeps the claim."""
    if isinstance(claim, GaussianDP):
        return claim.mu
    order = getattr(claim, "order", 1.0)
    return math.sqrt(2 * claim.value / order)


def searched(claim: Claim) -> tuple[Claim, Claim | None]:
    """Return what events are to be chosen for: the claim; of a curve a point in its tail, and one in its middle."""
    epsilon, delta = points(claim)
    if len(epsilon) == 1:
        return claim, None
    return ApproxDP(float(epsilon[3]), float(delta[3])), ApproxDP(float(epsilon[1]), float(delta[1]))


_GRID = np.unique(np.concatenate([np.geomspace(1e-7, 0.02, 24), np.linspace(0, 1, 41)]))
_FINER = np.linspace(0, 1, 12)


def _profile_above(claim: Claim, epsilon: Floats) -> Floats:
    """δ(ε) from above: the highest that p − e^ε·q can be over allowed pairs, on a grid that is refined once."""
    allowed = 1 - claim.tradeoff(_GRID)
    best = np.argmax(allowed - np.exp(epsilon)[:, None] * _GRID, axis=1)
    low, high = _GRID[np.maximum(best - 1, 0)], _GRID[np.minimum(best + 1, len(_GRID) - 1)]
    grid = np.unique(np.concatenate([_GRID, *(low + (high - low) * step for step in _FINER)]))
    height = (1 - claim.tradeoff(grid)) - np.exp(epsilon)[:, None] * grid
    return np.asarray(np.clip(_summit(grid, height) + 1e-12, 0.0, 1.0))


def _summit(grid: Floats, height: Floats) -> Floats:
    """The most that concave functions can reach between the points at which they are known, (functions, points).

    Between two points a concave function lies below the chord to the left of them, and below that to the right, each
    extended.
    """
    width = np.diff(grid)
    slope = np.diff(height, axis=1) / width
    rise, fall = slope[:, :-2], slope[:, 2:]  # on both sides of every inner interval
    start, end, step = height[:, 1:-2], height[:, 2:-1], width[1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        where = np.clip((end - start - fall * step) / (rise - fall), 0.0, step)
    crossing = np.where(rise > fall, start + rise * where, np.maximum(start, end))
    inner = np.where((rise > 0) & (fall < 0), crossing, np.maximum(start, end))
    first = height[:, 1] + np.maximum(-slope[:, 1], 0.0) * width[0]
    last = height[:, -2] + np.maximum(slope[:, -2], 0.0) * width[-1]
    return np.asarray(np.maximum(np.maximum(first, last), np.maximum(inner.max(axis=1), height.max(axis=1))))


# --- one pair of datasets against one claim ---------------------------------------------------------------


def _readings(counts: Integers, speaks: tuple[bool, bool]) -> list[tuple[Integers, Integers, Integers, int]]:
    """Return right, wrong and no guesses, and for how many sides is guessed, of an event read in two ways.

    As it is; and, where it speaks for one side only, with every other output as a guess of the other side.

    Args:
        counts: (…, 3, 2): runs, runs toward side 0 and toward side 1, of each side.
        speaks: for which sides the event has an output that speaks for it.
    """
    runs, toward0, toward1 = counts[..., 0, :], counts[..., 1, :], counts[..., 2, :]
    ways = [(toward0, toward1, sum(speaks))]
    if speaks == (True, False):
        ways.append((toward0, runs - toward0, 2))
    elif speaks == (False, True):
        ways.append((runs - toward1, toward1, 2))
    else:
        ways.append(ways[0])
    found = []
    for for0, for1, sides in ways:
        right, wrong = for0[..., 0] + for1[..., 1], for0[..., 1] + for1[..., 0]
        found.append((right, wrong, runs.sum(axis=-1) - right - wrong, sides))
    return found


def _log_wealths(claim: Claim, counts: Integers, speaks: tuple[bool, bool], doubt: int = 0) -> Floats:
    """Return the log wealth of every bettor on an event, shape (…, 2 readings, points, fractions).

    ``doubt`` wrong guesses are added to those that were counted.
    """
    epsilon, delta = points(claim)
    odds = np.exp(epsilon)[:, None]
    found = []
    for right, wrong, rest, sides in _readings(counts, speaks):
        share = delta[:, None] * sides / 2
        stake = FRACTIONS / (odds + share)
        found.append(
            right[..., None, None] * np.log1p(stake * (1 - share))
            + (wrong + doubt)[..., None, None] * np.log1p(-stake * (odds + share))
            + rest[..., None, None] * np.log1p(-stake * share)
        )
    return np.stack(found, axis=-3)


class BettingProcess:
    """The wealth of all who bet on one pair of datasets, against one claim.

    A twentieth of it starts with bettors who never change; the others divide their wealth anew at the start of every
    epoch, in proportion to what past runs, had they been bet on, would have made of each bet. The past counts with one
    wrong guess more than it had: the best of many events often stands just before a run that would have spoken against
    it.
    """

    def __init__(self, claim: Claim) -> None:
        self._claim = claim
        self._carried: Floats | None = None
        self._moved = 0.0
        self._weights: Floats = np.zeros(0)
        self._speaks: list[tuple[bool, bool]] = []

    def open(self, pasts: Sequence[tuple[Counts, tuple[bool, bool]]]) -> None:
        """Begin an epoch with events: counts of past runs, and the sides that each event speaks for."""
        self._speaks = [speaks for _, speaks in pasts]
        past = self._each(np.stack([as_array(counts) for counts, _ in pasts]), doubt=1)
        if self._carried is None:
            self._carried = np.zeros_like(past)
        weights = _prior(past.shape) + past
        self._weights = weights - _log_sum(weights)

    def watch(self, counts: Integers) -> Floats:
        """Return the log wealth at several looks, from the epoch's own counts, (looks, events, 3, 2) → (looks,)."""
        assert self._carried is not None
        own = self._each(counts)
        axes = tuple(range(1, own.ndim))
        moved = self._moved + _log_sum(own + self._weights, axis=axes)
        return self._together(_log_sum(own + self._carried + _prior(own.shape[1:]), axis=axes), moved)

    def leading(self, counts: Integers) -> int:
        """Return the event whose bettors are the wealthiest in this epoch, from its own counts."""
        return int(np.argmax(_log_sum(self._each(counts) + self._weights, axis=(1, 2, 3))))

    def close(self, counts: Integers) -> None:
        """End an epoch with its own counts, (events, 3, 2)."""
        assert self._carried is not None
        own = self._each(counts)
        self._moved += float(_log_sum(own + self._weights))
        self._carried = self._carried + own

    @property
    def settled(self) -> float:
        """The log wealth after the epochs that have ended."""
        if self._carried is None:
            return 0.0
        return float(self._together(_log_sum(self._carried + _prior(self._carried.shape)), np.array(self._moved)))

    def _together(self, carried: Floats, moved: Floats) -> Floats:
        return np.asarray(np.logaddexp(math.log(_CARRIED) + carried, math.log1p(-_CARRIED) + moved))

    def _each(self, counts: Integers, doubt: int = 0) -> Floats:
        numbered = enumerate(self._speaks)
        found = [_log_wealths(self._claim, counts[..., k, :, :], speaks, doubt) for k, speaks in numbered]
        return np.stack(found, axis=-4)


def _log_sum(logs: Floats, axis: tuple[int, ...] | None = None) -> Floats:
    """log Σ exp along some axes: as SciPy's, and much faster for few numbers."""
    most = np.max(logs, axis=axis, keepdims=True)
    return np.asarray(np.squeeze(most, axis) + np.log(np.sum(np.exp(logs - most), axis=axis)))


def _prior(shape: tuple[int, ...]) -> Floats:
    """Log weights of the bets of one pair, shape (events, readings, points, fractions)."""
    events, readings, points, _ = shape
    known = (each for each in (_OF_POINT, _OF_CURVE) if each.shape == (events, points))
    each = next(known, np.ones((events, points)))
    start = each / each.sum() / readings
    return np.asarray(np.log(start)[:, None, :, None] + np.broadcast_to(np.log(_PRIOR / _PRIOR.sum()), shape))


def as_array(counts: Counts) -> Integers:
    """Return counts as an array (3, 2): runs, toward side 0, toward side 1, of each side."""
    return np.array([counts.runs, counts.toward0, counts.toward1], dtype=np.int64)


# --- all pairs, and all values of the claim ---------------------------------------------------------------


def log_wealth(epochs: Sequence[Epoch], pairs: int, claim: Claim) -> float:
    """Return the log wealth against a claim after some epochs, the average over all pairs."""
    return float(_log_sum(np.array([_of_pair(epochs, pair, claim) for pair in range(pairs)]))) - math.log(pairs)


def _of_pair(epochs: Sequence[Epoch], pair: int, claim: Claim) -> float:
    bettors = BettingProcess(claim)
    for epoch in epochs:
        if epoch.pair == pair:
            bettors.open([(stake.past, stake.speaks) for stake in epoch.stakes])
            bettors.close(np.stack([as_array(stake.own) for stake in epoch.stakes]))
    return bettors.settled


def just_above(claim: Claim) -> Claim:
    """Return the claim with a value that is larger by a hair: whoever refutes it has shown a loss above the claim."""
    return claim.with_value(claim.value + _HAIR * max(claim.value, 1e-3))


def sequential_bound(epochs: Sequence[Epoch], pairs: int, claim: Claim, error: float) -> float:
    """Return the largest value of the claim's parameter that is rejected with all that are smaller; 0.0 if none.

    Each value of a grid that hangs on the claim alone has a wealth of its own, and is rejected where that is at
    least 1/``error``. Who keeps less than the claim keeps the claim too, so that whatever refutes this speaks against
    all that is smaller: a smaller value has the average of its own wealth and the claim's. The grid is rigorous: the
    bound is too large only if the least value of the grid that is true was rejected, at the one time when this is
    asked.
    """
    claimed, enough = just_above(claim).value, -math.log(error)
    against_claim = log_wealth(epochs, pairs, claim.with_value(claimed))
    found = 0.0
    for value in _values(claim):
        if value < claimed:
            if against_claim >= enough + math.log(2):
                continue  # rejected, whatever its own wealth is
            own = np.logaddexp(log_wealth(epochs, pairs, claim.with_value(value)), against_claim) - math.log(2)
        else:
            own = against_claim if value == claimed else log_wealth(epochs, pairs, claim.with_value(value))
        if own < enough:
            break
        found = value
    return found


def _values(claim: Claim) -> Iterator[float]:
    """Yield ascending values around the claimed one; among them the one a hair above it."""
    step = _STEP if claim.is_point or isinstance(claim, GaussianDP) else _LONG_STEP
    if claim.value > 0:
        steps = math.ceil(math.log(1 / _LEAST) / math.log(step))
        yield from (claim.value * step ** (k - steps) for k in range(steps))
    value = just_above(claim).value
    while value < _MOST:
        yield value
        value = max(value * step, 1e-3)


# --- what would have been found ---------------------------------------------------------------------------


def foresee_sequential(epochs: Sequence[Epoch], runs: int, pairs: int, claim: Claim, error: float) -> Detectable:
    """Return the least value of the claim's parameter that would have been refuted with probability 0.9.

    The rule: an event that guesses as often as the last one that was bet on, and has that loss, is known from the
    middle of the runs on, and what was bet before has neither gained nor lost. It counts what the best single one of
    the bettors who never change has at the end, who started with his share of the whole; the number of right guesses
    is its lower tenth. A violation may show on one pair alone, so the weakest pair decides. For δ > 0 an event that
    says little is replaced by a Gaussian mechanism as the yardstick, at the error that a single bettor has to reach.

    Args:
        epochs: all that was bet on.
        runs: the limit of runs, of all pairs.
        pairs: how many there are.
        claim: what is to be refuted.
        error: 1 − confidence.
    """
    last = {epoch.pair: epoch for epoch in epochs}
    ahead = runs // pairs // 2
    share = _CARRIED / pairs
    found = []
    for pair in range(pairs):
        stakes = last[pair].stakes if pair in last else ()
        each = [_least_refuted(stake, (k, len(stakes)), ahead, share, claim, error) for k, stake in enumerate(stakes)]
        found.append(min(each, default=math.inf))
    worst = max(found)
    if claim.delta > 0 and not sequential_bound(epochs, pairs, claim, error) >= claim.value / 2:
        gaussian = detectable_gaussian(claim, ahead, error * share * float(_PRIOR.min() / _PRIOR.sum()))
        if gaussian > worst:
            return Detectable(gaussian, "gaussian", ())
    return Detectable(worst, "event", ())


def _least_refuted(stake: Stake, place: tuple[int, int], ahead: int, share: float, claim: Claim, error: float) -> float:
    right, wrong, rest, sides = (np.asarray(each) for each in _readings(as_array(stake.past), stake.speaks)[0])
    made = int(right + wrong + rest)
    if not sides or not made:
        return math.inf
    mass = min(max(float(right + wrong), 0.5) / made * 2 / int(sides), 1.0)
    guesses = int(ahead * mass * int(sides) / 2)

    def refuted(value: float) -> bool:
        p = _likelier(claim.with_value(value), mass)
        hits = int(bdtrik(0.1, guesses, p / mass)) if guesses and p < mass else guesses
        counts = np.array([[ahead, 0], [hits, guesses - hits], [0, 0]])
        own = _log_wealths(claim, counts, (True, bool(sides == 2)))[0]
        start = math.log(share) + _prior((place[1], 2, *own.shape))[place[0], 0]
        return bool((own + start).max() >= -math.log(error))

    low, high = claim.value, max(2 * claim.value, 1.0)
    while not refuted(high):
        low, high = high, 2 * high
        if high > 2 * _MOST:
            return math.inf
    while high - low > 1e-3 * high:
        value = (low + high) / 2
        low, high = (low, value) if refuted(value) else (value, high)
    return high


def _likelier(claim: Claim, mass: float) -> float:
    """Return the least p, p + q = ``mass``, at which an event (p, q) has the claim's value as its loss."""
    low, high = mass / 2, mass
    for _ in range(40):
        p = (low + high) / 2
        low, high = (low, p) if float(claim.least(p, mass - p)) >= claim.value else (p, high)
    return high
