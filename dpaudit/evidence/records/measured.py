"""What did runs show? Attempts with their second looks, histograms, curves, bets, scores and sensitivity."""

from __future__ import annotations

from typing import Annotated

import msgspec

from dpaudit.evidence.event import Event, Record
from dpaudit.evidence.records.bounds import Bound, Counts


class Candidate(Record, frozen=True):
    """An event that was considered on the learning runs, and the bound predicted for it."""

    family: str
    method: str
    predicted: float


class Attempt(Record, frozen=True):
    """One measured event on one pair: its bound, its share of the error, and the other candidates."""

    pair: int
    name: str
    bound: Bound
    considered: tuple[Candidate, ...]


class Led(Record, frozen=True):
    """The outputs of a replayed path that would show most in very many runs; a forecast, which no bound rests on.

    Attributes:
        pair: whose path it is.
        event: those outputs, with the side they speak for.
        runs: learning runs of each side; met: how many of them had such an output.
        needs: about how many measuring runs, of both sides, would show more than is claimed if outputs were as frequent
            as there; None where no number would.
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
        method: how its counts become a bound, fixed before they were counted; the weight is that of the attempt.
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

    ``low`` and ``high`` are the interval [low, high) of the output (or score), with None for an open end; both are None
    for a category.
    """

    label: str
    low: float | None
    high: float | None
    count0: int
    count1: int


class Histogram(Record, frozen=True):
    """Counts over cells that were fixed on learning runs, for the pair of the headline.

    ``axis`` is "output", "score" or "category"; ``runs`` are the measuring runs counted (side 0, side 1). If the
    mechanism states the law of its outputs, ``exact`` has the probability of each cell on each side, rounded to 10
    decimals, for comparison with the counts.
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
        name: "stable", "rare", "unseen" or "middle"; "graded" if its degrees are bet on, whose counts are ``bins``.
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
    """Consecutive runs of one pair that were bet on with the same events."""

    pair: int
    stakes: tuple[Stake, ...]


class Sequential(Record, frozen=True):
    """How a sequential audit went.

    Attributes:
        log_wealth: natural logarithm of the final wealth of a gambler who bets against the claim (against ε = 0 without
            a claim) and starts with 1. Its exponential is an e-value: those of independent audits multiply.
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

    ``limits`` are low and high of the true positive rate, then of the false positive rate; they hold for all thresholds
    simultaneously. None if no exact limits are known.
    """

    threshold: float
    counts: tuple[int, int]
    limits: tuple[float, float, float, float] | None = None


class Rate(Record, frozen=True):
    """An estimate of the true positive rate at a false positive rate, with exact limits if there are any.

    ``counts`` are the numbers of members above the two scores of others between which the threshold certainly lies.
    """

    at: float
    estimate: float
    counts: tuple[int, int] | None = None
    limits: tuple[float, float] | None = None


class Scores(Record, frozen=True):
    """What scores of members (side 0) and of others (side 1) show besides the bound; does not affect the verdict.

    Attributes:
        design: "independent" (a training run for every score) or "one-run" (all scores from one model).
        given: the numbers of scores of members and of others; measured: how many of them the ROC counts.
        delta: the δ of ``epsilon_if_gaussian``.
        roc: the ROC at thresholds that were chosen on learning scores, counted on measuring scores.
        rates: the true positive rate at a few false positive rates, from all scores.
        mu: the distance of the means in standard deviations, or None if it is not defined.
        epsilon_if_gaussian: ε at δ if the scores were those of a Gaussian mechanism with this μ: an estimate under an
            assumption that was not checked.
        canaries: all canaries of the one model, if not each has a score; those without one are counted as guessed
            wrong, in the upper half as others and in the lower half as members.
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
    """The errors of one number: their mean (the bias), their root mean square, and the middle 90 % of them."""

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
        runs: that were looked at; compared: how many of them have the form of the exact answer.
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
        finite: the largest distance among the pairs on which the query returns numbers, shown by ``finite_change``;
            None if there are none.
        exceeded: whether it is larger than the claim allows under the relation, by more than rounding explains.
        change: what changes between the two datasets that show it, without values of the data.
        tried: on how many pairs the query was evaluated; silent: on how many of them it returned no number on both
            sides.
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
