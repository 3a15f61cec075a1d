"""What does evidence hold of an accounting, of a trace, and of a training loop that was watched?"""

from __future__ import annotations

from typing import Any

from dpaudit.evidence.event import Record
from dpaudit.evidence.records import Attempt, Verdict

# --- What was released, and what is certified of it? ---


class Release(Record, frozen=True):
    """One release of an accounting.

    Attributes:
        event: what was run, as text that reads back (`dpaudit.accounts.plan`); its numbers are exact.
        steps: how often.
        name: what people call it.
    """

    event: str
    steps: int
    name: str = ""


class Statement(Record, frozen=True):
    """What an accounting says of one claim, or of ε at a δ, or of δ at an ε.

    Attributes:
        claim: what it is held against; None where a number was asked for.
        parameter: what lies between the two bounds: "epsilon", "delta", "mu" or "rho".
        at: the other one, as an exact fraction.
        low, high: the bounds, rounded outward; ``high`` is infinite where nothing finite holds.
        verdict: "proved", "violated", "inconclusive" or "no claim".
        certificate: which of the certificates shows it.
    """

    claim: str | None
    parameter: str
    at: str
    low: float
    high: float
    verdict: Verdict
    certificate: int


class AccountingCurve(Record, frozen=True):
    """δ from below and above at some ε, each bound certain; rounded outward.

    Attributes:
        epsilons: places on the curve.
        lows, highs: bounds of δ there.
    """

    epsilons: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


class OtherAccountant(Record, frozen=True):
    """What another accountant says of the first statement's number; it decides nothing.

    Attributes:
        name: the library and its method.
        version: that was asked.
        value: what it says.
        side: what it says that its number is: "upper" or "estimate".
    """

    name: str
    version: str
    value: float
    side: str


class Accounting(Record, frozen=True):
    """Bounds from both sides of what a list of releases loses, with their certificates.

    Attributes:
        releases: what was run, in the order in which it was given.
        statements: what was asked, each with its bounds and its verdict.
        certificates: what shows the bounds (``docs/certificate.md``).
        tolerance: the width that was wished for, in ε.
        curve: δ at ε from both sides, of the first statement's compositions; None where there is none.
        others: what other accountants say.
        recorded_by: the library that recorded the releases; empty where somebody wrote them down.
        note: why an interval is wider than was wished for; empty where none is.
    """

    releases: tuple[Release, ...]
    statements: tuple[Statement, ...]
    certificates: tuple[dict[str, Any], ...]
    tolerance: float
    curve: AccountingCurve | None = None
    others: tuple[OtherAccountant, ...] = ()
    recorded_by: str = ""
    note: str = ""


# --- What did recorded and replayed runs show? ---


class TracedCall(Record, frozen=True):
    """Draws at one line, on the path that shows most, and what hiding the change asks of them.

    Attributes:
        where: the line.
        met: that of the first operation by which data that differ came to them, empty where none is known.
        law: of the noise.
        scale: of the one that moves most.
        draws: how many there were.
        moved: how many of them have to move.
        by: how far the one moves that costs most.
        cost: Σ|by|/scale of all that move; of Gaussian noise √Σ(by/scale)². None where it is not known.
        recognised: whether law and scale were recognised from a sample of what a formula makes of other noise.
        name: what the line assigns to, where the code says; "" where it does not.
    """

    where: str
    met: str
    law: str
    scale: float
    draws: int
    moved: int
    by: float
    cost: float | None
    recognised: bool = False
    name: str = ""


class TraceFinding(Record, frozen=True):
    """What was found.

    Attributes:
        word, text: how much it says, in one of the words of a trace, and what.
        where: the line, or the place of the output.
        met: the line of the first operation by which data that differ came to the noise.
    """

    word: str
    text: str
    where: str
    met: str = ""


class TraceStep(Record, frozen=True):
    """Noise that moves between the two datasets.

    Attributes:
        law, scale, by, where: of the noise: its law, its scale, how far it moves, and the line.
        other: its scale on the second dataset, where that is another one.
    """

    law: str
    scale: float
    by: float
    where: str
    other: float | None = None


class TraceLoss(Record, frozen=True):
    """A loss of the pair that is certain, given the stated laws.

    Attributes:
        why: in words.
        where: a line, or a place of the output.
        value: at least so much is lost, in the claim's parameter, at its δ; infinite where outputs never agree.
        steps: noises and their shifts, of which it is the loss together; empty where it follows from no such
            steps.
        leaks: whether it follows from the flow of data, whatever the laws of the noise are.
    """

    why: str
    where: str
    value: float
    steps: tuple[TraceStep, ...]
    leaks: bool


class Trace(Record, frozen=True):
    """What a few recorded and replayed runs show; beside the verdict, but for a certain loss.

    Attributes:
        word: the worst of what was found: "leaks", "violated, given the stated laws", "not supported", "not priced",
            "supported on this path" or "not seen".
        source: where pairs came from: the "mechanism", "given", neighbours of "data", or a "domain" alone.
        tried, left_out: pairs that were traced, and further candidates that were not.
        runs: executions for the trace.
        paths, limit: ways through the code that were looked at, on the pair that shows most, and how many were allowed
            from either dataset.
        pair: which pair shows most; of neighbours that were tried, the only one.
        found: what changes in it, where it was found; no value of the data.
        findings: what was found on it, the worst first.
        calls: the draws of the path that shows most.
        epsilon, mu: what the shift costs on that path; None where there is none.
        chance: what choices cost, as a part of ε; None where there is no price.
        checked: whether a run with the shifted noise returned the recorded output; None where none was made.
        loss: what is certain of the pair, or None.
        unseen: what was not followed, in words.
        data, domain, beyond, kept: as in `Search`.
        drawn: further pairs, drawn over the domain where noise has to move farther.
        change: the two datasets in one line, where a record or a person is all that differs; it holds values.
        beside: what else was seen or left out: an edge that many functions share, records outside of the domain.
        instead: what to write instead, where that is known.
        unproved: why no proof is stated, where an audit tried one or could have, and what to do.
    """

    word: str
    source: str
    tried: int
    runs: int
    paths: int
    limit: int
    pair: int
    findings: tuple[TraceFinding, ...]
    calls: tuple[TracedCall, ...] = ()
    epsilon: float | None = None
    mu: float | None = None
    checked: bool | None = None
    loss: TraceLoss | None = None
    unseen: tuple[str, ...] = ()
    found: str = ""
    left_out: int = 0
    data: str | None = None
    domain: str | None = None
    beyond: bool = False
    kept: str | None = None
    chance: float | None = None
    drawn: int = 0
    change: str = ""
    beside: tuple[str, ...] = ()
    instead: str = ""
    unproved: str = ""


# --- What does evidence hold of a training loop that was watched? ---
#
# Nothing here depends on a record but whether a finding is right or wrong: memberships, sizes of batches, gradients and
# the noise itself stay in memory. Noise beside released weights would give gradients away, and published memberships
# the amplification by sampling.


class TrainingFact(Record, frozen=True):
    """What was seen of one fact of the loop.

    Attributes:
        fact: which.
        status: "right", "wrong", "note" (costs no privacy that was claimed) or "not seen".
        name: in a word or two.
        text: in a sentence.
        error: the probability with which a right loop is called wrong here; 0.0 where it cannot be.
    """

    fact: str
    status: str
    name: str
    text: str
    error: float = 0.0


class TrainingLoss(Record, frozen=True):
    """What is lost by the steps that were seen, certified from one side.

    Attributes:
        releases: the steps, as an accounting lists them; empty where nothing is accounted for.
        value: of ε at the claim's δ, rounded outward; infinite where nothing bounds it.
        certificate: which of the certificates shows it; None where ``value`` is 0 or infinite.
        why: why nothing bounds it, or why nothing is certain; empty where it follows from the releases.
    """

    releases: tuple[Release, ...]
    value: float
    certificate: int | None = None
    why: str = ""


class TrainingStep(Record, frozen=True):
    """What the noise that was seen says of one step, and of all of them if they are independent.

    Attributes:
        sigma: the noise multiplier.
        rate: of Poisson sampling, 1.0 without.
        steps: how many.
        values: of noise.
        below: how many of them are at most each threshold, which follow from ``sigma``.
        confidence: of everything that follows from these counts.
        delta: of the claim.
        mu: if a step keeps μ-GDP, μ is at least this.
        epsilon: all steps together lose at least this at δ; None where that is not summed.
    """

    sigma: float
    rate: float
    steps: int
    values: int
    below: tuple[int, ...]
    confidence: float
    delta: float
    mu: float
    epsilon: float | None = None


class TrainingCanaries(Record, frozen=True):
    """What the canaries of one run show, whatever the sampler and the noise were.

    Attributes:
        kind: "gradients", which stood in place of records, or "records" of the training set.
        given: canaries that were in the training data, and that were not.
        epsilon: at the confidence of the evidence, ε at the claim's δ is at least this.
        mu: at the same confidence, if the run keeps μ-GDP, μ is at least this.
        sure: the same of ε, at its share of the chance of a false alarm.
        attempts: the guesses that bound ε, by their counts in blocks of ranks.
        gaussian: those that bound μ.
    """

    kind: str
    given: tuple[int, int]
    epsilon: float
    mu: float
    sure: float
    attempts: tuple[Attempt, ...]
    gaussian: tuple[Attempt, ...]


class Training(Record, frozen=True):
    """What was seen of a training loop.

    Attributes:
        how: which kind of loop, and how it was watched.
        facts: the checklist, in its order.
        assumed: the sampling that the claim's accounting assumes: "poisson", "fixed-size" or "shuffled".
        sampler: the one that was recognised, empty where none was.
        steps: (noise multiplier, sampling rate, updates with noise), as they were made.
        clip: the clip norm that is claimed.
        batch, records, epoch: the size of batches, the records of the training set, and the batches of an epoch; only
            where the accounting of the sampler needs them.
        scale: bounds of the noise's standard deviation over σ·C, at the confidence of the evidence; None where none was
            seen.
        values: how many values of noise there were.
        scales: what the accounting takes for it: (for ``low``, for ``high``).
        factors: the sensitivity over C, from below and above, as far as it was seen.
        together: the largest number of batches in one update.
        groups: what is accounted for: (noise multiplier, rate, batches k in one update, Σm² over the updates into which
            one batch came m times, how many such groups); None where each step is of ``together`` batches, that are in
            no other.
        loose: updates in none of these groups, of which it is not known what they hold.
        rounds: of shuffled or fixed batches, (the least Σm² of the batches of an epoch, the most, how many epochs).
        enough: what the same steps would lose with just enough noise for the claim; None where they keep it, and where
            nothing is known to be enough.
        times: the standard deviation of that noise, over σ·C.
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
    enough: TrainingLoss | None = None
    times: float = 1.0
