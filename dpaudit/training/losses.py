"""What do the steps that were seen lose together? Listed for a certified accounting, from below and from above.

From below stands what certainly happened, on some data: noise no smaller than was seen, a record that moves a sum as
far as one was seen to, the steps and the sampler that were recognised. From above stands what certainly bounds it, or
nothing: clipping that is wrong, or noise that comes twice, bounds no loss.

Records that may come into an update k times, by k batches drawn at rate q: they take part with probability
1 − (1 − q)^k, and move the sum by C to k·C. A larger shift of one mixture component is easier to tell in both
directions, since the likelihood ratio rises with the output; so a shift of C bounds from below and one of k·C from
above.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpaudit.accounting import Gaussian
from dpaudit.accounting.events import Event
from dpaudit.decimals import number_of
from dpaudit.errors import UsageError
from dpaudit.evidence.training import Training, TrainingFact
from dpaudit.training.facts.finding import Finding
from dpaudit.training.seen import Seen

_MOST_TOGETHER = 64  # batches of one update: of more, no sampling is accounted for
_MOST_FACTOR = 8  # of the sensitivity, for a bound from above: beyond, an ε is of no use, and takes minutes
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
class Parts:
    """What an accounting of a loop is made of; all of it is written into evidence.

    Attributes:
        sampler: "poisson", "fixed-size", "shuffled", "fixed order" or "another rate"; empty where none is known.
        steps: (noise multiplier, sampling rate, updates).
        scale: bounds of the noise over what is claimed, from above and below: (for the lower loss, for the upper one).
        factors: the sensitivity over the clip norm, (for the lower loss, for the upper one).
        together: batches in one update.
        batch, records, epoch: where the sampler needs them.
        replaced: whether the claim is about records that are replaced, as the accounting of batches of one size is.
    """

    sampler: str
    steps: tuple[tuple[float, float, int], ...]
    scale: tuple[float, float] = (1.0, 1.0)
    factors: tuple[float, float] = (1.0, 1.0)
    together: int = 1
    batch: int | None = None
    records: int | None = None
    epoch: int | None = None
    replaced: bool = False


def parts_of(training: Training) -> Parts:
    """Return what an accounting is made of, from evidence."""
    return Parts(
        training.sampler or training.assumed,
        training.steps,
        training.scales,
        training.factors,
        training.together,
        training.batch,
        training.records,
        training.epoch,
        training.assumed == "fixed-size",
    )


def steps_of(seen: Seen, rate: float | None) -> tuple[tuple[float, float, int], ...]:
    """Return (noise multiplier, sampling rate, updates) of all updates; the rate is one for all where it is given."""
    counts: Counter[tuple[float, float]] = Counter()
    for each in seen.updates:
        own = rate if rate is not None else each.rate
        if each.sigma is not None:
            counts[each.sigma, own if own is not None else UNKNOWN] += 1
    return tuple((sigma, own, count) for (sigma, own), count in counts.items())


def factors_of(seen: Seen, finding: Finding) -> tuple[float, float]:
    """Return how far a record moves a sum, over C: certainly at least on some data, and at most.

    What records of this training moved it by is rounded to a power of 2, so that no gradient shows.
    """
    if finding.status != "wrong":
        return 1.0, 1.0
    if finding.name == "clipped per batch":  # two sums of norm C at most
        return 1.0, 2.0
    largest = [each.largest for each in seen.replays if each.looks == finding.name and math.isfinite(each.largest)]
    if finding.name in ("not clipped", "another norm") and largest:
        seen_most = min(max(largest), MOST_SEEN)
        low = 2.0 ** math.floor(math.log2(seen_most)) if seen_most > 0 else 0.0
        return low, math.inf if finding.name == "not clipped" else 2.0 ** math.ceil(math.log2(max(largest)) + 1e-3)
    return 0.0, math.inf


def unbounded(findings: Sequence[Finding] | Sequence[TrainingFact]) -> tuple[str, bool]:
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
    if "divisor" in by_fact:
        return "the divisor tells how many records a batch has", False
    return "", False


def listed(parts: Parts, *, up: bool, stored: bool = False) -> list[tuple[Event, int]] | None:
    """Return the events that bound what was seen, from above or below; None where there are none.

    Args:
        parts: what was seen.
        up: from above.
        stored: whether multipliers and rates are what floats store, as in earlier evidence.

    Raises:
        UsageError: for numbers that no event has.
    """
    factor, scale = parts.factors[up], parts.scale[up]
    if up and factor > _MOST_FACTOR:
        return None
    if not parts.steps or not 0 < factor < math.inf or not 0 < scale < math.inf:
        return None
    found: list[tuple[Event, int]] = []
    read = Fraction if stored else number_of
    for sigma, rate, updates in parts.steps:
        if not sigma > 0:
            return None
        event, count = _event(parts, read(sigma) * Fraction(scale), Fraction(factor), read(rate), updates, up=up)
        if event is None:
            return None
        if count:
            found.append((event, count))
    return found or None


def _event(
    parts: Parts, sigma: Fraction, factor: Fraction, rate: Fraction, updates: int, *, up: bool
) -> tuple[Event | None, int]:
    if rate == UNKNOWN and parts.sampler == "poisson":  # whatever the rate is, all records lose no less
        return (Gaussian(sigma, sensitivity=factor * parts.together), updates) if up else (None, 0)
    if parts.sampler in ("poisson", "another rate"):
        times = parts.together
        if times > _MOST_TOGETHER:
            return (Gaussian(sigma, sensitivity=factor * times), updates) if up else (None, 0)
        share = 1 - (1 - rate) ** times if times > 1 else rate
        if times > 1:
            share = _outward(share, up=up)
            factor = factor * (times if up else 1)
        return Gaussian(sigma, sensitivity=factor).poisson(share), updates
    if parts.together > 1:
        return None, 0
    if parts.sampler == "fixed-size" and parts.batch and parts.records:
        # a record that is replaced moves the sum by what it gave and by what it gives; one that gave nothing, by C
        moved = 2 * factor if up or parts.replaced else factor
        return Gaussian(sigma, sensitivity=moved).fixed_size(parts.batch, parts.records), updates
    epochs = 0 if not parts.epoch else -(-updates // parts.epoch) if up else updates // parts.epoch
    if parts.sampler == "shuffled" and parts.epoch:
        return Gaussian(sigma, sensitivity=factor).shuffled(parts.epoch), epochs
    if parts.sampler == "fixed order" and parts.epoch:
        return Gaussian(sigma, sensitivity=factor), epochs
    return None, 0


def _outward(value: Fraction, *, up: bool) -> Fraction:
    """A probability of 12 decimals that is no smaller, or no larger."""
    scaled = value * 10**12
    return min(Fraction(1), Fraction(math.ceil(scaled) if up else math.floor(scaled), 10**12))


def refused(error: UsageError) -> str:
    """Say why an accounting could not be made, in a sentence's second half."""
    return str(error).rstrip(".")
