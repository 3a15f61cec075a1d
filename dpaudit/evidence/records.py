"""What is evidence made of? Verdict, counts, bounds, and what else an audit or a proof leaves behind.

Each member says what it means; `dpaudit.evidence.evidence` puts them together and gives the whole an id.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from typing import Any, ClassVar, Literal

from dpaudit.evidence.event import Event, Record

_DIGITS = 10


class Verdict(Enum):
    """What an audit concludes; ``str(verdict)`` is the word in lower case."""

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

    ``bins``: for an event with degrees, how many runs speak to each, from the largest label to −1 and on to the
    smallest. Runs that speak for neither side stand with −1, so that all runs are there.
    """

    runs: tuple[int, int]
    toward0: tuple[int, int]
    toward1: tuple[int, int]
    bins: tuple[tuple[int, ...], tuple[int, ...]] | None = None


class Bound(Record, frozen=True):
    """A bound of the claim's parameter, with everything that is needed to check it.

    Attributes:
        value: the bound, rounded outward to 10 digits.
        side: "lower" or "upper".
        kind: "sampled", "exact" or "proof".
        parameter: what is bounded: "epsilon", "mu" or "rho".
        notion: the claim whose parameter it is, as text (its own value is not used), so that δ or an
            order that the bound holds at is known.
        confidence: 1 − the chance that this statement is wrong; 1.0 for a proof.
        delta: the δ at which ε is meant.
        method: how counts became the bound, by its name in `dpaudit.stats.methods`; "none" where nothing was measured;
            of what is certain, the method of the proof.
        weight: the share of the joint bound's statistic that the first count carries, or all weights of a
            multinomial bound; fixed before measuring.
        counts, event: what was counted, and of what; None where nothing was measured.
        pair: the index of the pair in the evidence.
        arithmetic: "real" or "float".
        assumes: what is taken on trust.
        exact: the value itself as text where it is a rational number or infinite, such as "5/8"; None elsewhere.
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


class Candidate(Record, frozen=True):
    """An event that was considered on the learning runs, and the bound that was predicted for it."""

    family: str
    method: str
    predicted: float


class Attempt(Record, frozen=True):
    """One measured event on one pair: its bound, its share of the error, and what else was considered."""

    pair: int
    name: str
    bound: Bound
    considered: tuple[Candidate, ...]


class SecondLook(Record, frozen=True):
    """Fresh runs of an event whose bound lay above the claim, before that is called a violation.

    Attributes:
        attempt: the number of the attempt whose event it is.
        p: how surely the first look speaks against the claim: its p-value is at most this, for the whole audit.
        level: the error level of the second look (`dpaudit.stats.two_looks`).
        method: how its counts become a bound, fixed before they were counted; the weight is the attempt's.
        counts: of the fresh runs.
        value: the lower bound that they give at confidence 1 − ``level``.
        confirmed: whether it is above the claim, so that the claim is violated.
    """

    attempt: int
    p: float
    level: float
    method: str
    counts: Counts
    value: float
    confirmed: bool


class Power(Record, frozen=True):
    """A violation smaller than the detectable one, and how many runs in all would find it with probability 0.9."""

    value: float
    runs: int


class PairRecord(Record, frozen=True):
    """Two neighbouring datasets, by digest; the data itself only where it is public, or was asked to be kept.

    ``origin`` is "mechanism", "given" or "found" (by a search). ``shown0`` and ``shown1`` are public data for people to
    read, perhaps cut off; ``data0`` and ``data1`` are data that were kept on request, as JSON text
    (`dpaudit.neighbours.serialise`).
    """

    stored_as: ClassVar[str] = "pair"
    digest0: str
    digest1: str
    origin: str
    shown0: str | None = None
    shown1: str | None = None
    data0: str | None = None
    data1: str | None = None


class Cell(Record, frozen=True):
    """A set of outputs and how many measuring runs of each side fell into it.

    ``low`` and ``high`` are the interval [low, high) of the output (or score) where the cell is one, with
    None for an open end; both are None for a category.
    """

    label: str
    low: float | None
    high: float | None
    count0: int
    count1: int


class Histogram(Record, frozen=True):
    """Counts over cells that were frozen on learning runs, for the headline's pair.

    ``axis`` is "output", "score" or "category"; ``runs`` are the measuring runs counted (side 0, side 1). ``exact`` is,
    for each side, the probability of each cell where the mechanism states the law of its outputs: to look at beside
    what was counted, rounded to 10 decimals.
    """

    pair: int
    axis: str
    runs: tuple[int, int]
    cells: tuple[Cell, ...]
    exact: tuple[tuple[float, ...], tuple[float, ...]] | None = None


class Target(Record, frozen=True):
    """What was audited.

    ``asks`` is "program", "sampler", "seeded" or "opaque"; ``reading`` says how a program was run.
    ``digest`` is the SHA-256 of the source of the function (None where there is none).
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


class Comparison(Record, frozen=True):
    """How runs of the program compare with what was read of it, and what can run and was not read.

    Attributes:
        runs: how many runs drew, branched and returned what was read.
        passed_over: how many came so close to a branch that rounding may have decided it.
        compared: with how many of ``paths`` some run was compared.
        paths: all ways that runs can take; of a fold, through its start, its steps in every state, and its end.
        open_ends: code that no path came through, what the program looks at beside data, noise and parameters, and
            paths that no run could be compared with; in words. Nothing is proved where there is any.
    """

    runs: int
    passed_over: int
    compared: int
    paths: int
    open_ends: tuple[str, ...] = ()


class Proof(Record, frozen=True):
    """What was read of a program, and what of it is proved.

    Attributes:
        method: "alignment" for data of one length, "induction" for every length, "enumeration" of a whole domain.
        scope: what an upper bound holds for, as a sentence.
        length: how many answers, or None for any number of them or where that says nothing.
        paths: how many ways through the program were read.
        certificate: the proof for whoever wants to check it (``docs/certificate.md``); None without a finite bound.
        domain: all datasets that were enumerated, where they were to be kept, as JSON text.
        comparison: of runs with what was read; None where nothing was recorded of it.
    """

    stored_as: ClassVar[str] = "proof"
    method: str
    scope: str
    length: int | None
    paths: int
    certificate: dict[str, Any] | None = None
    domain: str | None = None
    comparison: Comparison | None = None


class Counterexample(Record, frozen=True):
    """Two neighbouring datasets and an event whose probabilities are known for certain.

    Attributes:
        data0, data1: the data of both sides, as text.
        event: what speaks for side 0.
        probability0, probability1: the event's probability on each side, as (low, high) in decimals.
        record: everything that these were computed from.
    """

    data0: str
    data1: str
    event: Event
    probability0: tuple[str, str]
    probability1: tuple[str, str]
    record: dict[str, Any]


class RocPoint(Record, frozen=True):
    """One threshold of the scores: how many (members, others) score at least as much, and how often they would.

    ``limits`` of the true positive rate, low and high, then of the false positive rate; those of all thresholds hold
    together. None where no exact limits are known.
    """

    threshold: float
    counts: tuple[int, int]
    limits: tuple[float, float, float, float] | None = None


class Rate(Record, frozen=True):
    """The true positive rate at a false positive rate, as estimated, and its exact limits where there are any.

    ``counts`` are the members above the two scores of others between which the threshold certainly lies.
    """

    at: float
    estimate: float
    counts: tuple[int, int] | None = None
    limits: tuple[float, float] | None = None


class Scores(Record, frozen=True):
    """What scores of members (side 0) and of others (side 1) show beside the bound; it decides nothing.

    Attributes:
        design: "independent" (a training run for every score) or "one-run" (all scores from one model).
        given: scores of members and of others; measured: those of them that the ROC counts.
        delta: the δ at which ``epsilon_if_gaussian`` is meant.
        roc: the ROC at thresholds that learning scores chose, counted on measuring scores.
        rates: the true positive rate at a few false positive rates, from all scores.
        mu: the distance of the means in standard deviations, or None where there is none.
        epsilon_if_gaussian: ε at δ, were the scores those of a Gaussian mechanism with this μ. An estimate on a
            condition that nobody checked.
    """

    design: str
    given: tuple[int, int]
    measured: tuple[int, int]
    delta: float
    roc: tuple[RocPoint, ...]
    rates: tuple[Rate, ...]
    mu: float | None = None
    epsilon_if_gaussian: float | None = None


class Curve(Record, frozen=True):
    """What is shown of the whole privacy curve, all of it at once, at one confidence.

    Attributes:
        confidence: that every number here is true; each statement has a share of the error.
        statements: bounds of δ at an ε, of μ, or of an attacker's power at a false positive rate (``parameter`` and
            ``notion`` say which), each by an event that was fixed before measuring. Every region of probabilities
            that a statement rests on says something of the whole curve, and the best of them stands below.
        epsilons, deltas: δ(ε) is at least ``deltas`` at each of ``epsilons``.
        fprs, fnrs: no trade-off curve that the mechanism keeps lies above ``fnrs`` at each of ``fprs``.
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
    """An event that was bet on in an epoch.

    Attributes:
        name: "stable", "rare", "unseen" or "middle".
        event: which outputs speak for which side, in words.
        speaks: whether any output speaks for side 0, and for side 1.
        past: what all runs before the epoch come to, from which the event was chosen.
        own: what the runs of the epoch come to, up to the end of the audit.
    """

    name: str
    event: str
    speaks: tuple[bool, bool]
    past: Counts
    own: Counts


class Epoch(Record, frozen=True):
    """Runs of one pair that were bet on with the same events."""

    pair: int
    stakes: tuple[Stake, ...]


class Sequential(Record, frozen=True):
    """How a sequential audit went.

    Attributes:
        log_wealth: natural logarithm of the wealth at the end of whoever bet against the claim (against ε = 0 without
            a claim), having started with 1. Its exponential is an e-value: those of independent audits multiply.
        stopped: whether the claim was refuted, which ended the audit.
        epochs: all that was bet on, in order; the wealth follows from it.
        looked: runs after the end that nothing was bet on: they show whether calls hang together.
    """

    log_wealth: float
    stopped: bool
    epochs: tuple[Epoch, ...]
    looked: int = 0


class Moved(Record, frozen=True):
    """How far the deterministic query of a mechanism was moved by one pair of neighbours; it decides no verdict.

    Attributes:
        norm: "1", "2" or "inf", in which distances are meant.
        claimed: the declared sensitivity, for one neighbouring step; None where none is declared.
        largest: the largest distance found; infinite where the query gives no number on one side alone.
        finite: the largest distance among the pairs on which the query gives numbers, by ``finite_change``; None where
            there are none.
        exceeded: whether it is larger than the claim allows under the relation, by more than rounding explains.
        change: what changes between the two datasets that show it, without a value of the data.
        tried: on how many pairs the query was asked; silent: on how many of them both sides gave no number.
        room: the room for rounding in the distance; 0.0 where all numbers are exact.
        troubles: what the query did on one side alone in place of a number, and where.
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


class Tried(Record, frozen=True):
    """A pair that a search looked at: what changes in it, the runs spent on it, and the bound predicted from them."""

    name: str
    runs: int
    predicted: float


class Search(Record, frozen=True):
    """How the pair was found, on search runs alone, which no bound looks at.

    Attributes:
        source: what was searched: neighbours of one dataset ("data"), datasets over a "domain" alone, or pairs that
            were "given" or are the "mechanism"'s own.
        candidates: how many pairs were compared; raised: how many of them were dropped, because every run of both
            sides raised the same.
        left_out: how many more were thought of and not tried, for want of runs.
        runs: executions for the search, both sides, all pairs.
        found: what changes in the pair that was chosen, without a value of the data.
        tried: the pairs that were left longest, best first.
        climbed: how many datasets over the domain were tried beyond the candidates; None where that was not done.
        shrunk: how often a simpler pair took the place of the chosen one.
        records: how many records each side of that simpler pair has; None where there is none, or what has no size.
        data: the digest of the dataset, or of all pairs; None for the mechanism's own, and over a domain alone.
        domain: the declared domain as JSON text; beyond: whether what lies outside it was tried.
        kept: the dataset or all pairs as JSON text, where data were to be kept.
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


class RunInfo(Record, frozen=True):
    """When, how long, where and with how many workers: not part of the id.

    ``files`` are the names of the files that pairs, data or scores came from, as they were typed; empty where they came
    from Python. ``named``: whether the name of the target finds it from a command line.
    """

    started: str
    duration: float
    host: str
    workers: int
    files: tuple[str, ...] = ()
    named: bool = True


def round_outward(value: float, side: Literal["lower", "upper"], digits: int = _DIGITS) -> float:
    """Round a bound so that it stays true: a lower bound down, an upper bound up, to ``digits`` digits."""
    if not math.isfinite(value) or value == 0:
        return value
    rounding = {"lower": ROUND_FLOOR, "upper": ROUND_CEILING}[side]
    return float(Context(prec=digits, rounding=rounding).plus(Decimal(repr(float(value)))))
