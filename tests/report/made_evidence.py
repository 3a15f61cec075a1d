"""Hand-made evidence of every kind, for the tests of the reports."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from dpaudit.event import Coordinate, Event, Reach, Rule
from dpaudit.evidence import (
    Attempt,
    Bound,
    Candidate,
    Cell,
    Counts,
    Evidence,
    Histogram,
    PairRecord,
    RunInfo,
    Target,
    Verdict,
)

HOSTILE = "<script>alert(1)</script>\"'&$x_{$ \x1b[31m\u202e]]></style></svg>"


def _bound(**changes: Any) -> Bound:
    basis = Bound(
        value=0.0,
        side="lower",
        kind="sampled",
        parameter="epsilon",
        notion="epsilon=1",
        confidence=0.95,
        delta=0.0,
        method="none",
    )
    return msgspec.structs.replace(basis, **changes)


def _evidence(**changes: Any) -> Evidence:
    basis = Evidence(
        target=Target("a mechanism", "ab" * 32, {"epsilon": 1.0}, "program", "batch", "What it does.", "Somebody 2006"),
        claim="epsilon=1",
        relation="queries",
        unit="one person",
        pairs=(PairRecord("00" * 32, "11" * 32, "mechanism", "[0, 1, 2]", "[0, 1, 3]"),),
        seed=7,
        confidence=0.95,
        learning=100_000,
        measuring=300_000,
        verdict=Verdict.NOT_VIOLATED,
        reason="A reason.",
        lower=_bound(),
        attempts=(),
        histogram=None,
        versions={"dpaudit": "0.1.0", "python": "3.11.2"},
        detectable=1.0147671,
        run=RunInfo("2026-01-02T03:04:05+00:00", 1.5, "host", 2),
    )
    return msgspec.structs.replace(basis, **changes)


def laplace() -> Evidence:
    """Two Laplace laws of scale 1 around 0 and 1, their counts the expected ones."""
    edges = np.concatenate([[-8.0], np.linspace(-3, 4, 50), [9.0]])

    def cdf(x: Any, at: float) -> Any:
        z = np.asarray(x) - at
        return np.where(z < 0, 0.5 * np.exp(np.minimum(z, 0)), 1 - 0.5 * np.exp(-np.maximum(z, 0)))

    shares = [np.diff(np.concatenate([[0.0], cdf(edges, at), [1.0]])) for at in (0.0, 1.0)]
    lows, highs = [None, *edges.tolist()], [*edges.tolist(), None]
    cells = tuple(
        Cell(f"cell {i}", lows[i], highs[i], round(150_000 * shares[0][i]), round(150_000 * shares[1][i]))
        for i in range(len(lows))
    )
    event = Event("tails", (Rule("float", Coordinate(0), (0.0, 1.0), (1, 0, -1)),))
    counts = Counts((150_000, 150_000), (75_000, 27_591), (27_591, 75_000))
    lower = _bound(value=0.9857612345, method="guess", counts=counts, event=event, pair=0)
    attempt = Attempt(0, "stable", lower, (Candidate("tails", "guess", 0.98),))
    histogram = Histogram(0, "output", (150_000, 150_000), cells)
    return _evidence(
        target=msgspec.structs.replace(_evidence().target, name="laplace", true_loss=1.0),
        lower=lower,
        attempts=(attempt,),
        histogram=histogram,
    )


def categories() -> Evidence:
    """A randomised response that answers truly far too often; some outputs on one side only."""
    event = Event("categories", (Rule("'red'", None, (), (1,)), Rule("'blue'", None, (), (-1,))))
    counts = Counts((5_000, 5_010), (4_000, 300), (310, 4_100))
    lower = _bound(value=2.2526789, method="guess", counts=counts, event=event, pair=0)
    cells = (
        Cell("'red'", None, None, 4_000, 300),
        Cell("'blue'", None, None, 310, 4_100),
        Cell("'green'", None, None, 600, 610),
        Cell("'leak'", None, None, 87, 0),
        Cell("'once'", None, None, 3, 0),
    )
    return _evidence(
        verdict=Verdict.VIOLATED,
        target=msgspec.structs.replace(_evidence().target, asks="opaque", reading="run by run"),
        relation="declared",
        pairs=(PairRecord("00" * 32, "11" * 32, "given"),),
        lower=lower,
        attempts=(Attempt(0, "stable", lower, ()),),
        histogram=Histogram(0, "category", (5_000, 5_010), cells),
        reproducible=False,
        assumptions=("the pair is neighbouring: declared, not checked",),
    )


def inconclusive() -> Evidence:
    """A Gaussian claim and too few runs."""
    event = Event("tails", (Rule("float", Coordinate(0), (1.5,), (0, -1)),))
    lower = _bound(
        value=0.0,
        parameter="mu",
        notion="mu=1",
        method="joint",
        weight=0.5,
        counts=Counts((40, 40), (0, 0), (3, 9)),
        event=event,
        pair=0,
    )
    cells = (Cell("below 1.5", None, 1.5, 37, 31), Cell("1.5 and more", 1.5, None, 3, 9))
    return _evidence(
        verdict=Verdict.INCONCLUSIVE,
        claim="mu=1",
        reason="These runs could not have shown any violation of μ = 1, however large; use more runs.",
        learning=20,
        measuring=80,
        lower=lower,
        attempts=(Attempt(0, "stable", lower, ()),),
        histogram=Histogram(0, "output", (40, 40), cells),
        detectable=math.inf,
    )


def invalid() -> Evidence:
    """Runs that cannot be trusted."""
    reason = "The runs cannot be trusted: blocks with different seeds return the same sequence."
    return _evidence(verdict=Verdict.INVALID, reason=reason, detectable=None, run=None, measuring=0)


def no_claim() -> Evidence:
    """A lower bound and nothing to hold it against."""
    return msgspec.structs.replace(laplace(), verdict=Verdict.NO_CLAIM, claim=None, detectable=None)


def approximate() -> Evidence:
    """An (ε, δ) claim, two pairs, a score axis."""
    plain = laplace()
    lower = _bound(
        value=1.2345678,
        notion="epsilon=2, delta=1e-6",
        delta=1e-6,
        method="two-sided joint",
        counts=plain.lower.counts,
        event=plain.lower.event,
        pair=1,
    )
    assert plain.histogram is not None
    return msgspec.structs.replace(
        plain,
        claim="epsilon=2, delta=1e-6",
        lower=lower,
        pairs=plain.pairs * 2,
        histogram=msgspec.structs.replace(plain.histogram, axis="score", pair=1),
    )


def proved() -> Evidence:
    """An upper bound by proof, exactly at the claim."""
    upper = _bound(value=1.0, side="upper", kind="proof", confidence=1.0, method="alignment")
    return msgspec.structs.replace(laplace(), verdict=Verdict.PROVED, upper=upper, reason="Proved for n = 5.")


def boundless() -> Evidence:
    """An infinite loss, shown exactly, by someone who asked for huge numbers."""
    lower = _bound(value=math.inf, kind="exact", confidence=1.0)
    target = msgspec.structs.replace(_evidence().target, parameters={"n": 10**30, "scale": "inf", "text": "5"})
    return _evidence(verdict=Verdict.VIOLATED, lower=lower, target=target, detectable=1e300, claim="epsilon=1e-300")


def renyi() -> Evidence:
    """A claim whose ε is no limit of the loss."""
    lower = _bound(value=0.123456, notion="order=2, epsilon=0.5", method="joint")
    plain = laplace()
    return msgspec.structs.replace(plain, claim="order=2, epsilon=0.5", lower=lower, detectable=None)


def low_bits() -> Evidence:
    """Private in real arithmetic, and found out by its last bits, which were asked to decide."""
    plain = laplace()
    event = Event("low-order bits", (Rule("float", Reach(0, 1.0), (0.5,), (1, 0)),))
    counts = Counts((150_000, 150_000), (64_500, 0), (0, 0))
    found = _bound(value=9.976, method="guess", counts=counts, event=event, pair=0, arithmetic="float", confidence=0.99)
    return msgspec.structs.replace(
        plain,
        target=Target("noisy_counts", "ab" * 32, {"epsilon": 1.0}, "sampler", "sampler", "What it does."),
        verdict=Verdict.VIOLATED,
        reason="ε is more than the claimed 1 for someone who reads the low-order bits of the output.",
        attempts=(*plain.attempts, Attempt(0, "low-order bits", found, ())),
        floating_point=msgspec.structs.replace(found, confidence=0.95),
        low_bits="verdict",
    )


def hostile() -> Evidence:
    """Every text says what a page or a terminal would obey."""
    event = Event(HOSTILE, (Rule(HOSTILE, None, (), (1,)),))
    lower = _bound(value=2.0, method="guess", counts=Counts((100, 100), (90, 1), (0, 0)), event=event, pair=0)
    cells = (Cell(HOSTILE, None, None, 90, 1), Cell("b", None, None, 10, 99))
    return _evidence(
        verdict=Verdict.VIOLATED,
        target=Target(HOSTILE, None, {HOSTILE: HOSTILE}, "program", HOSTILE, HOSTILE, HOSTILE),
        relation=HOSTILE,
        unit=HOSTILE,
        pairs=(PairRecord("0", "1", HOSTILE, HOSTILE, HOSTILE + "2"),),
        reason=HOSTILE,
        lower=lower,
        attempts=(Attempt(0, HOSTILE, lower, (Candidate(HOSTILE, HOSTILE, 1.0),)),),
        histogram=Histogram(0, "category", (100, 100), cells),
        versions={HOSTILE: HOSTILE},
        assumptions=(HOSTILE,),
        run=RunInfo(HOSTILE, 1.0, HOSTILE, 1),
    )


KINDS = {
    "laplace": laplace,
    "categories": categories,
    "inconclusive": inconclusive,
    "invalid": invalid,
    "no claim": no_claim,
    "approximate": approximate,
    "proved": proved,
    "boundless": boundless,
    "renyi": renyi,
    "low bits": low_bits,
    "hostile": hostile,
}
