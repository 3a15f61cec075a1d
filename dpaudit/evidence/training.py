"""What does evidence hold of a training loop that was watched? Findings, statistics of its noise, certified losses.

Nothing here depends on a record but whether a finding is right or wrong: memberships, sizes of batches, gradients and
the noise itself stay in memory. Noise beside released weights would give gradients away, and published memberships the
amplification by sampling.
"""

from __future__ import annotations

from typing import Any

from dpaudit.evidence.event import Record
from dpaudit.evidence.records import Attempt, Release


class TrainingFact(Record, frozen=True):
    """What was seen of one fact of the loop."""

    fact: str  # which
    status: str  # "right", "wrong", "note" (costs no privacy that was claimed) or "not seen"
    name: str  # in a word or two; text: in a sentence
    text: str
    error: float = 0.0  # the probability with which a right loop is called wrong here; 0.0 where it cannot be


class TrainingLoss(Record, frozen=True):
    """What is lost by the steps that were seen, certified from one side."""

    releases: tuple[Release, ...]  # the steps, as an accounting lists them; empty where nothing is accounted for
    value: float  # of ε at the claim's δ, rounded outward; infinite where nothing bounds it
    certificate: int | None = None  # which of the certificates shows it; None where ``value`` is 0 or infinite
    why: str = ""  # why nothing bounds it, or why nothing is certain; empty where it follows from the releases


class TrainingStep(Record, frozen=True):
    """What the noise that was seen says of one step, and of all of them if they are independent."""

    sigma: float  # the noise multiplier; rate: of Poisson sampling, 1.0 without; steps: how many
    rate: float
    steps: int
    values: int  # of noise; below: how many of them are at most each threshold, which follow from ``sigma``
    below: tuple[int, ...]
    confidence: float  # of everything that follows from these counts
    delta: float  # of the claim
    mu: float  # if a step keeps μ-GDP, μ is at least this
    epsilon: float | None = None  # all steps together lose at least this at δ; None where that is not summed


class TrainingCanaries(Record, frozen=True):
    """What the canaries of one run show, whatever the sampler and the noise were."""

    kind: str  # "gradients", which stood in place of records, or "records" of the training set
    given: tuple[int, int]  # canaries that were in the training data, and that were not
    epsilon: float  # at the confidence of the evidence, ε at the claim's δ is at least this
    mu: float  # at the same confidence, if the run keeps μ-GDP, μ is at least this
    sure: float  # the same of ε, at its share of the chance of a false alarm
    # the guesses that bound ε, by their counts in blocks of ranks; gaussian: those that bound μ
    attempts: tuple[Attempt, ...]
    gaussian: tuple[Attempt, ...]


class Training(Record, frozen=True):
    """What was seen of a training loop.

    Attributes:
        how: which kind of loop, and how it was watched.
        facts: the checklist, in its order.
        assumed: the sampling that the claim's accounting assumes; sampler: the one that was recognised, empty where
            none was.
        steps: (noise multiplier, sampling rate, updates with noise), as they were made.
        clip: the clip norm that is claimed.
        batch, records, epoch: the size of batches, the records of the training set, and the batches of an epoch; only
            where the accounting of the sampler needs them.
        scale: bounds of the noise's standard deviation over σ·C; None where none was seen. values: how many there were.
        scales: what the accounting takes for it: (for ``low``, for ``high``).
        factors: the sensitivity over C, from below and above, as far as it was seen.
        together: the largest number of batches in one update.
        groups: what is accounted for: (noise multiplier, rate, batches k in one update, Σm² over the updates into which
            one batch came m times, how many such groups); None where each step is of ``together`` batches, that are in
            no other.
        loose: updates in none of these groups, of which it is not known what they hold.
        rounds: of shuffled or fixed batches, (the least Σm² of the batches of an epoch, the most, how many epochs).
        low, high: what all steps lose together, certified from below (on some data) and from above.
        certificates: what shows them (``docs/certificate.md``).
        gaussian: ``low`` of Gaussian noise at the upper bound of the scale, which rests on the noise alone; None where
            it was not computed.
        step: a step's audit; None without noise.
        stated: what the loop's own accountant says of ε at the claim's δ; None without one.
        partial: why not all of the loop was seen; empty where it was.
        canaries: what those of one run show; None without.
    """

    how: str
    facts: tuple[TrainingFact, ...]
    assumed: str
    sampler: str
    steps: tuple[tuple[float, float, int], ...]
    clip: float
    low: TrainingLoss
    high: TrainingLoss
    certificates: tuple[dict[str, Any], ...] = ()
    batch: int | None = None
    records: int | None = None
    epoch: int | None = None
    scale: tuple[float, float] | None = None
    values: int = 0
    scales: tuple[float, float] = (1.0, 1.0)
    factors: tuple[float, float] = (1.0, 1.0)
    together: int = 1
    gaussian: float | None = None
    step: TrainingStep | None = None
    stated: float | None = None
    partial: str = ""
    canaries: TrainingCanaries | None = None
    groups: tuple[tuple[float, float, int, int, int], ...] | None = None
    loose: int = 0
    rounds: tuple[tuple[int, int, int], ...] | None = None
