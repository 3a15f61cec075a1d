"""What does evidence consist of? Verdict, counts, bounds, and the other results of an audit or a proof.

`dpaudit.evidence.evidence` puts these records together and gives the whole an id. The name under which a record is
stored does not depend on the module in which it stands.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from dpaudit.evidence.event import Event, Record

# --- What was counted, which bound follows, and what is concluded? ---

_DIGITS = 10  # of a bound: more than sampling ever supports, and stable across machines


class Verdict(Enum):
    """The conclusion of an audit; ``str(verdict)`` is the word in lower case."""

    PROVED = "proved"
    NOT_VIOLATED = "not violated"
    VIOLATED = "violated"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"
    NO_CLAIM = "no claim"

    def __str__(self) -> str:
        return self.value

    @property
    def exit_code(self) -> int:
        """The exit code of the command line: 1 only for VIOLATED, 3 inconclusive, 4 invalid, else 0."""
        return {Verdict.VIOLATED: 1, Verdict.INCONCLUSIVE: 3, Verdict.INVALID: 4}.get(self, 0)


class Counts(Record, frozen=True):
    """Measuring runs of both sides, and how many of each fell into the event; pairs are (side 0, side 1).

    Attributes:
        runs: of each side.
        toward0, toward1: how many of them spoke for side 0, and for side 1.
        bins: for an event with degrees, the runs with each label, from the largest to the smallest. Runs that speak for
            neither side count with label −1, so that the bins add up to all runs. For canaries of one model, the
            canaries of each side in blocks of ranks, from the highest score down.
    """

    runs: tuple[int, int]
    toward0: tuple[int, int]
    toward1: tuple[int, int]
    bins: tuple[tuple[int, ...], tuple[int, ...]] | None = None


class Bound(Record, frozen=True):
    """A bound on the claim's parameter, with everything that is needed to check it.

    Attributes:
        value: the bound, rounded outward to 10 digits.
        side: "lower" or "upper".
        kind: "sampled", "exact" or "proof".
        parameter: what is bounded: "epsilon", "mu" or "rho".
        notion: the claim whose parameter it is, as text (its own value is not used); it states the δ or the order at
            which the bound holds.
        confidence: 1 − the probability that this statement is wrong; 1.0 for a proof.
        delta: the δ at which ε is bounded.
        method: how counts became the bound, by its name in `dpaudit.stats.methods`; "none" if nothing was measured;
            for a certain bound, the method of the proof.
        weight: the weight of the first count in the statistic of a joint bound, all weights of a multinomial bound, or
            numbers of guesses about canaries, each with the value up to which it is tried; fixed before measuring.
        counts, event: the counts, and the event that was counted; None if nothing was measured.
        pair: the index of the pair in the evidence.
        arithmetic: "real" or "float".
        assumes: what is assumed without a check.
        exact: the exact value as text if it is rational or infinite, such as "5/8"; else None.
    """

    stored_as: ClassVar[str] = "bound"
    value: float
    side: str
    kind: str
    parameter: str
    notion: str
    confidence: float
    delta: float
    method: str
    weight: float | tuple[float, ...] | None = None
    counts: Counts | None = None
    event: Event | None = None
    pair: int | None = None
    arithmetic: str = "real"
    assumes: tuple[str, ...] = ()
    exact: str | None = None


class Power(Record, frozen=True):
    """A violation smaller than the detectable one, and the number of runs that finds it.

    Attributes:
        value: the violation.
        runs: how many in all would find it with probability 0.9.
    """

    value: float
    runs: int


def round_outward(value: float, side: Literal["lower", "upper"], digits: int = _DIGITS) -> float:
    """Round a bound so that it stays true: a lower bound down, an upper bound up.

    Args:
        value: the bound.
        side: "lower" or "upper".
        digits: significant digits of the result.
    """
    if not math.isfinite(value) or value == 0:
        return value
    rounding = {"lower": ROUND_FLOOR, "upper": ROUND_CEILING}[side]
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))))


# --- What did runs show? Attempts with their second looks, histograms, curves, bets, scores and sensitivity ---


class Candidate(Record, frozen=True):
    """An event that was considered on the learning runs.

    Attributes:
        family: the kind of score.
        method: of the bound.
        predicted: the bound that was predicted.
    """

    family: str
    method: str
    predicted: float


class Attempt(Record, frozen=True):
    """One measured event on one pair: its bound, its share of the error, and the other candidates.

    Attributes:
        pair: the number of the pair.
        name: what the event is called: "stable", "rare", "counterexample", …; of canaries, which are guessed.
        bound: from the counts of the event; its share of the error is 1 − ``bound.confidence``.
        considered: all candidates, best first by what was predicted on the learning runs.
    """

    pair: int
    name: str
    bound: Bound
    considered: tuple[Candidate, ...]


class Led(Record, frozen=True):
    """The outputs of a replayed path that would show most in very many runs; a forecast, which no bound rests on.

    Attributes:
        pair: whose path it is.
        event: those outputs, with the side they speak for.
        runs: learning runs of each side.
        met: how many of them had such an output.
        needs: about how many measuring runs, of both sides, would show more than is claimed if outputs were as
            frequent as there; None where no number would.
    """

    pair: int
    event: Event
    runs: tuple[int, int]
    met: tuple[int, int]
    needs: int | None


class SecondLook(Record, frozen=True):
    """Fresh runs of an event whose bound was above the claim, made before the claim is called violated.

    Attributes:
        attempt: the number of the attempt whose event it is.
        p: an upper bound on the p-value of the first look against the claim, for the whole audit.
        level: the error level of the second look (`dpaudit.stats.two_looks`).
        method: how its counts become a bound, fixed before they were counted; the weight is that of the
            attempt.
        counts: of the fresh runs.
        value: the lower bound from them at confidence 1 − ``level``.
        confirmed: whether it is above the claim, so that the claim is violated.
    """

    attempt: int
    p: float
    level: float
    method: str
    counts: Counts
    value: float
    confirmed: bool


class Cell(Record, frozen=True):
    """A set of outputs and how many measuring runs of each side fell into it.

    Attributes:
        label: the cell in words.
        low, high: the interval [low, high) of the output or score; None for an open end, both for a category.
        count0, count1: runs of each side.
    """

    label: str
    low: float | None
    high: float | None
    count0: int
    count1: int


class Histogram(Record, frozen=True):
    """Counts over cells that were fixed on learning runs, for the pair of the headline.

    Attributes:
        pair: the index of the pair.
        axis: "output", "score" or "category".
        runs: measuring runs that are counted here, the first ones.
        cells: all cells that a run fell into.
        exact: of each side, the probability of each cell by the law that the mechanism states for its outputs, rounded
            to 10 decimals; None where it states none.
    """

    pair: int
    axis: str
    runs: tuple[int, int]
    cells: tuple[Cell, ...]
    exact: tuple[tuple[float, ...], tuple[float, ...]] | None = None


class Curve(Record, frozen=True):
    """Bounds on the whole privacy curve that hold simultaneously, at one confidence.

    Attributes:
        confidence: that all numbers here are true; each statement has a share of the error.
        statements: bounds on δ at an ε, on μ, or on an attacker's power at a false positive rate (``parameter`` and
            ``notion`` say which), each by an event that was fixed before measuring. The confidence region of each
            statement bounds the whole curve; the best of these bounds are listed below.
        epsilons, deltas: δ(ε) is at least ``deltas`` at each of ``epsilons``.
        fprs, fnrs: no trade-off curve that the mechanism keeps is above ``fnrs`` at each of ``fprs``.
        mu: if the mechanism keeps μ-GDP, then μ is at least this.
    """

    confidence: float
    statements: tuple[Bound, ...]
    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    fprs: tuple[float, ...]
    fnrs: tuple[float, ...]
    mu: float


class Stake(Record, frozen=True):
    """An event that was bet on during an epoch.

    Attributes:
        name: "stable", "rare", "unseen" or "middle"; "graded" if its degrees are bet on, whose counts are
            ``bins``.
        event: which outputs speak for which side, in words.
        speaks: whether any output speaks for side 0, and for side 1.
        past: counts of all runs before the epoch, on which the event was chosen.
        own: counts of the runs in the epoch, up to the end of the audit.
    """

    name: str
    event: str
    speaks: tuple[bool, bool]
    past: Counts
    own: Counts


class Epoch(Record, frozen=True):
    """Consecutive runs of one pair that were bet on with the same events.

    Attributes:
        pair: the index of the pair.
        stakes: the events.
    """

    pair: int
    stakes: tuple[Stake, ...]


class Sequential(Record, frozen=True):
    """How a sequential audit went.

    Attributes:
        log_wealth: natural logarithm of the final wealth of a gambler who bets against the claim (against ε = 0
            without a claim) and starts with 1. Its exponential is an e-value: those of independent audits
            multiply.
        stopped: whether the claim was refuted, which ended the audit.
        epochs: all bets, in order; the wealth follows from them.
        looked: runs after the end on which no bets were made; they show whether calls depend on each other.
    """

    log_wealth: float
    stopped: bool
    epochs: tuple[Epoch, ...]
    looked: int = 0


class RocPoint(Record, frozen=True):
    """One threshold of the scores, with the counts of (members, others) at or above it and limits of their rates.

    Attributes:
        threshold: of the score.
        counts: members and others that score at least as much.
        limits: low and high of the true positive rate, then of the false positive rate, for all thresholds
            simultaneously; None if no exact limits are known.
    """

    threshold: float
    counts: tuple[int, int]
    limits: tuple[float, float, float, float] | None = None


class Rate(Record, frozen=True):
    """An estimate of the true positive rate at a false positive rate, with exact limits if there are any.

    Attributes:
        at: the false positive rate.
        estimate: the true positive rate there.
        counts: members above the two scores of others between which the threshold certainly is.
        limits: exact limits of the true positive rate.
    """

    at: float
    estimate: float
    counts: tuple[int, int] | None = None
    limits: tuple[float, float] | None = None


class Scores(Record, frozen=True):
    """What scores of members (side 0) and of others (side 1) show besides the bound; does not affect the verdict.

    Attributes:
        design: "independent" (a training run for every score) or "one-run" (all scores from one model).
        given: the numbers of scores of members and of others.
        measured: how many of them the ROC counts.
        delta: the δ of ``epsilon_if_gaussian``.
        roc: the ROC at thresholds that were chosen on learning scores, counted on measuring scores.
        rates: the true positive rate at a few false positive rates, from all scores.
        mu: the distance of the means in standard deviations, or None if it is not defined.
        epsilon_if_gaussian: ε at δ if the scores were those of a Gaussian mechanism with this μ: an estimate
            under an assumption that was not checked.
        canaries: all canaries of the one model, if not each has a score; those without one are counted as
            guessed wrong, in the upper half as others and in the lower half as members.
    """

    design: str
    given: tuple[int, int]
    measured: tuple[int, int]
    delta: float
    roc: tuple[RocPoint, ...]
    rates: tuple[Rate, ...]
    mu: float | None = None
    epsilon_if_gaussian: float | None = None
    canaries: int | None = None


class Errors(Record, frozen=True):
    """The errors of one number.

    Attributes:
        bias, rmse: their mean and their root mean square.
        low, high: the middle 90 % of them.
    """

    bias: float
    rmse: float
    low: float
    high: float


class Accuracy(Record, frozen=True):
    """How far outputs are from the exact answer, in runs on one dataset; does not affect the verdict.

    Attributes:
        source: where the exact answer comes from: the mechanism's "query", or the program without noise ("silent").
        pair, side: which dataset, whose learning runs were looked at; or None for the data that were given to be
            searched, which had runs of their own.
        runs: that were looked at.
        compared: how many of them have the form of the exact answer.
        same: how many are the exact answer.
        numbers: how many numbers an output has.
        errors: those of each number, or one of all numbers together where they are many; empty where the answer has no
            amounts.
    """

    source: Annotated[str, msgspec.Meta(pattern="^(query|silent)$")]
    pair: int | None
    side: int | None
    runs: int
    compared: int
    same: int
    numbers: int
    errors: tuple[Errors, ...] = ()


class Moved(Record, frozen=True):
    """How far one pair of neighbours moves the deterministic query of a mechanism; does not affect the verdict.

    Attributes:
        norm: "1", "2" or "inf", of distances.
        claimed: the declared sensitivity for one neighbouring step; None if none is declared.
        largest: the largest distance found; infinite if the query returns a number on one side only.
        finite: the largest distance among the pairs on which the query returns numbers; None if there are none.
        finite_change: what changes between the two datasets that show it.
        exceeded: whether it is larger than the claim allows under the relation, by more than rounding explains.
        change: what changes between the two datasets that show it, without values of the data.
        tried: on how many pairs the query was evaluated.
        silent: on how many of them it returned no number on both sides.
        room: the allowance for rounding in the distance; 0.0 if all numbers are exact.
        troubles: what the query did instead of returning a number on one side only, and where.
        digests: of the two datasets.
    """

    norm: str
    claimed: float | None
    largest: float
    finite: float | None
    finite_change: str
    exceeded: bool
    change: str
    tried: int
    silent: int
    room: float
    troubles: tuple[str, ...]
    digests: tuple[str, str]


# --- What was audited, on which pair, how was the pair found, and when was it? ---


class Target(Record, frozen=True):
    """What was audited.

    Attributes:
        name: what to type to audit it again.
        digest: SHA-256 of the code of the function and all that it reaches, after "reached1:"; in older evidence of the
            function's own source, without that; None where there is none.
        parameters: all of them, as JSON; what JSON cannot hold is text.
        asks: the kind of function: "program", "sampler", "seeded", "opaque"; or "scores", "outputs" that were recorded
            elsewhere.
        reading: how a program was run, and why where part of it was run another way.
        summary, source: what the mechanism says of itself, and its authors.
        true_loss: the true value of the claim's parameter on the mechanism's own pairs, where it is known.
    """

    stored_as: ClassVar[str] = "target"
    name: str
    digest: str | None
    parameters: dict[str, Any]
    asks: str
    reading: str
    summary: str = ""
    source: str = ""
    true_loss: float | None = None


class PairRecord(Record, frozen=True):
    """Two neighbouring datasets, by digest; the data themselves only if they are public or were kept on request.

    Attributes:
        digest0, digest1: SHA-256 of the values of the two datasets (`dpaudit.neighbours.digest`).
        origin: "mechanism", "given", "found" (by a search) or "made" (by a proof, from what is declared).
        shown0, shown1: public data, or data that were kept on request, for people to read, perhaps shortened.
        data0, data1: data that were kept on request, as JSON text that reads back as they were.
        change: of two tables that a proof made up: both in one line, with what differs.
    """

    stored_as: ClassVar[str] = "pair"
    digest0: str
    digest1: str
    origin: str
    shown0: str | None = None
    shown1: str | None = None
    data0: str | None = None
    data1: str | None = None
    change: str = ""


class Tried(Record, frozen=True):
    """A pair that a search tried.

    Attributes:
        name: what changes in it.
        runs: executions spent on it.
        predicted: the bound that was predicted of it, less a penalty for luck.
    """

    name: str
    runs: int
    predicted: float


class Search(Record, frozen=True):
    """How the pair was found, from search runs only, which no bound uses.

    Attributes:
        source: what was searched: neighbours of one dataset ("data"), datasets over a "domain" only, or pairs
            that were "given" or are the "mechanism"'s own.
        candidates: how many pairs were compared.
        raised: how many of them were dropped, because every run of both sides raised the same exception.
        runs: executions for the search, of both sides and all pairs.
        found: what changes in the chosen pair, without values of the data.
        tried: the pairs that stayed in the race longest, best first.
        climbed: how many datasets over the domain were tried beyond the candidates; None if none were to be.
        shrunk: how often a simpler pair replaced the chosen one.
        records: how many records each side of that simpler pair has; None if there is none, or it has no size.
        data: the digest of the dataset, or of all pairs; None for the mechanism's own, and over a domain only.
        domain: the declared domain as JSON text.
        beyond: whether values outside it were tried.
        kept: the dataset or all pairs as JSON text, if data were to be kept.
        left_out: how many more candidates were not tried, because there were too few runs.
        led: what replayed runs found on the candidate that they singled out, in the words of a trace; None
            where they singled out none. It stayed in the race, with runs of its own.
        replayed: executions for that, of all candidates.
    """

    source: str
    candidates: int
    raised: int
    runs: int
    found: str
    tried: tuple[Tried, ...]
    climbed: int | None = None
    shrunk: int = 0
    records: tuple[int, int] | None = None
    data: str | None = None
    domain: str | None = None
    beyond: bool = False
    kept: str | None = None
    left_out: int = 0
    led: str | None = None
    replayed: int = 0


class RunInfo(Record, frozen=True):
    """When, how long, where and with how many workers the audit ran; not part of the id.

    Attributes:
        started: date and time.
        duration: in seconds.
        host: the machine.
        workers: processes.
        files: names of the files with pairs, data or scores, as they were typed; empty if the data came from Python.
        named: whether the command line finds the target by its name.
    """

    started: str
    duration: float
    host: str
    workers: int
    files: tuple[str, ...] = ()
    named: bool = True


# --- What was proved, and which probabilities are known with certainty? ---

NOT_ACCEPTED = "its certificate was not accepted:"
"""How an open end begins that is none of the program: a bound was found, and the checker refuses what shows it."""

DOES_NOT_HOLD = "what is given does not hold:"
"""How an open end begins that is none of the program either: runs refute what was stated of a line."""


class Comparison(Record, frozen=True):
    """How runs of the program compare with what was read of it, and what can run but was not read.

    Attributes:
        runs: how many runs drew, branched and returned what was read.
        passed_over: how many came so close to a branch that rounding may have decided it.
        compared: how many of ``paths`` were compared with a run.
        paths: all paths that runs can take; for a fold, those of its start, its steps in every state, and its
            end.
        open_ends: code that no path executed, what the program uses besides data, noise and parameters, and
            paths that no run could be compared with; or that the checker did not accept the certificate; in
            words. Nothing is proved if there are any.
    """

    runs: int
    passed_over: int
    compared: int
    paths: int
    open_ends: tuple[str, ...] = ()


class Proof(Record, frozen=True):
    """What was read of a program, and what was proved.

    Attributes:
        method: "alignment" for data of one length, "induction" for every length, "enumeration" of a whole
            domain, "releases" from records of any number to what is released, "moves" from numbers of one
            length or any.
        scope: what an upper bound holds for, as a sentence.
        length: how many answers or numbers, or None if any number of them, or if it has no meaning.
        paths: how many paths of the program were read.
        certificate: the proof in a form that can be checked (``docs/certificate.md``); None without a finite
            bound.
        domain: all datasets that were enumerated, if they were to be kept, or the declared domain of records,
            as JSON text.
        comparison: of runs with what was read; None if it was not recorded.
        prices: of the first releases of a certificate of releases, each by itself, such as "epsilon=1/2".
        whole: columns that are declared as ranges, and hold whole numbers, as those of given data do.
        given: what is taken for granted of lines that are not read, such as "release.py:7 moves by at most 1":
            whoever asked for the proof stated it, and the proof holds under it alone.
        exceeds_at: of how many numbers a bound of the same kind would be more than the claim, the least that
            was found; None for none.
        derived: the same bound computed from the columns on, as a certificate of version 2; None where none was
            written.
        columns: all columns of the data, in their order, where the domain does not declare some: the program looks at
            nothing of these.
    """

    stored_as: ClassVar[str] = "proof"
    method: str
    scope: str
    length: int | None
    paths: int
    certificate: dict[str, Any] | None = None
    domain: str | None = None
    comparison: Comparison | None = None
    prices: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    exceeds_at: int | None = None
    derived: dict[str, Any] | None = None
    columns: tuple[str, ...] = ()

    @property
    def granted(self) -> str:
        """What stands behind the word of a verdict that rests on statements, or on libraries; empty without any."""
        computed = self.computed if len(self.computed) <= 2 else (*self.computed[:2], f"{len(self.computed) - 2} more")
        stated = (*self.given, *computed)
        return f"given that {' and '.join(stated)}" if stated else ""

    @property
    def computed(self) -> tuple[str, ...]:
        """What libraries compute of a record, and nobody computed again."""
        return computed_of(self.derived)

    @property
    def is_refuted(self) -> bool:
        """Whether runs show that what is given does not hold."""
        ends = () if self.comparison is None else self.comparison.open_ends
        return bool(ends) and ends[0].startswith(DOES_NOT_HOLD)

    @property
    def is_refused(self) -> bool:
        """Whether a bound was found, and the checker did not accept its certificate."""
        ends = () if self.comparison is None else self.comparison.open_ends
        return bool(ends) and ends[0].startswith(NOT_ACCEPTED)


def computed_of(derived: dict[str, Any] | None) -> tuple[str, ...]:
    """Return what a certificate of version 2 takes for granted of libraries."""
    listed = [] if derived is None else derived.get("expressions", [])
    tables = [each for each in listed if isinstance(each, dict) and each.get("op") == "table"]
    return tuple(dict.fromkeys(f"{each.get('by')} computes {each.get('what')}" for each in tables))


class Counterexample(Record, frozen=True):
    """Two neighbouring datasets and an event whose probabilities are known with certainty.

    Attributes:
        data0, data1: the data of both sides, as text.
        event: the outputs that speak for side 0.
        probability0, probability1: the event's probability on each side, as (low, high) in decimals.
        record: everything that these were computed from.
    """

    data0: str
    data1: str
    event: Event
    probability0: tuple[str, str]
    probability1: tuple[str, str]
    record: dict[str, Any]
