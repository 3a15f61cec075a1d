"""Which evidence tests the reports? One of every kind, made by hand."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np

from dpaudit.evidence.event import Coordinate, Event, Reach, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import (
    Attempt,
    Bound,
    Candidate,
    Cell,
    Counterexample,
    Counts,
    Histogram,
    PairRecord,
    Proof,
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
    """Two Laplace laws of scale 1 around 0 and 1, with the expected counts."""
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
    """A randomised response that answers truthfully far too often; some outputs occur on one side only."""
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
    """A lower bound without a claim to compare it with."""
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


def _proof(**changes: Any) -> Proof:
    basis = Proof(
        method="alignment",
        scope="all data of 5 real answers, under queries, with epsilon = 1",
        length=5,
        paths=34,
        certificate={
            "format": "dpaudit-certificate",
            "version": 1,
            "kind": "tree",
            "bound": "5/8",
            "nodes": ["0"] * 900,
        },
    )
    return msgspec.structs.replace(basis, **changes)


def _upper(value: float, exact: str | None, **changes: Any) -> Bound:
    basis = _bound(value=value, side="upper", kind="proof", confidence=1.0, method="alignment", exact=exact)
    return msgspec.structs.replace(basis, **changes)


_BELOW = Event("counterexample", (Rule("float", Coordinate(0), (0.0,), (1, 0)),))


def _laplace_counterexample(other: tuple[str, str]) -> Counterexample:
    """Laplace laws around 0 and around 1, and the outputs below 0; ``other`` encloses the probability around 1."""
    record = {"format": "dpaudit-witness", "version": 1, "scope": {"values": "real"}, "nodes": ["0"] * 50}
    return Counterexample("[0.0, 3.0]", "[1.0, 3.0]", _BELOW, ("0.5", "0.5"), other, record)


def _certain(value: float, **changes: Any) -> Bound:
    basis = _bound(value=value, kind="exact", confidence=1.0, method="witness", event=_BELOW, pair=0)
    return msgspec.structs.replace(basis, **changes)


def _attempts(hits: tuple[int, int], *values: float, event: Event = _BELOW) -> tuple[Attempt, ...]:
    """The usual attempts at 0.9 and 0.5, and that of the counterexample with these hits of 25,000 runs a side."""
    usual = laplace().lower
    counts = Counts((25_000, 25_000), hits, (0, 0))
    named = [
        Attempt(0, "stable", msgspec.structs.replace(usual, value=0.5, confidence=0.9875), ()),
        Attempt(0, "rare", msgspec.structs.replace(usual, value=0.25, confidence=0.9875), ()),
    ]
    for value, confidence in zip(values, (0.975, 0.999999), strict=False):
        bound = _bound(value=value, method="joint", weight=0.5, counts=counts, event=event, pair=0)
        named.append(Attempt(0, "counterexample", msgspec.structs.replace(bound, confidence=confidence), ()))
    return tuple(named)


def _proving(**changes: Any) -> Evidence:
    """A program that was read, with a pair that was found together with its event."""
    pairs = (PairRecord("00" * 32, "11" * 32, "given"),)
    basis = _evidence(learning=25_000, measuring=75_000, pairs=pairs, proof=_proof(), detectable=None)
    return msgspec.structs.replace(basis, **changes)


def proved() -> Evidence:
    """A proved upper bound below the claim, and a lower bound that nearly reaches it."""
    return _proving(
        verdict=Verdict.PROVED,
        reason="ε is at most 5/8, by proof.",
        lower=_certain(0.6249999999),
        upper=_upper(0.625, "5/8"),
        exact=_certain(0.6249999999),
        counterexample=_laplace_counterexample(("0.267630714259495061", "0.267630714259495062")),
        attempts=_attempts((12_480, 6_702), 0.5912),
    )


def proved_for_any_length() -> Evidence:
    """A fold without any runs: only the proof."""
    return _proving(
        verdict=Verdict.PROVED,
        reason="ε is at most 1, by proof.",
        proof=_proof(
            method="induction", length=None, scope="all data of any number of real answers, under queries", paths=7
        ),
        upper=_upper(1.0, "1", method="induction"),
        learning=0,
        measuring=0,
        pairs=(),
    )


def enumerated() -> Evidence:
    """Randomised response with fair coins, all of it: the loss is exactly ln 3."""
    scope = "the 4 datasets of the domain that was given, under replace"
    lower = _certain(1.098612288, exact="ln(3)", event=None, method="enumeration")
    return _proving(
        verdict=Verdict.PROVED,
        claim="epsilon=1.0986122886681098",
        reason="ε is at most ln(3), by enumeration.",
        proof=_proof(method="enumeration", length=None, scope=scope, paths=16, certificate=None),
        lower=lower,
        exact=lower,
        upper=_upper(1.098612289, "ln(3)", kind="exact", method="enumeration"),
        learning=0,
        measuring=0,
    )


def refuted() -> Evidence:
    """Half the noise that the claim needs: the loss is 2, by both bounds."""
    lower = _certain(1.999999999, exact="199999999999999999999/100000000000000000000")
    return _proving(
        verdict=Verdict.VIOLATED,
        reason="ε is more than the claimed 1: at least 1.999, certainly.",
        lower=lower,
        exact=lower,
        upper=_upper(2.0, "2"),
        counterexample=_laplace_counterexample(("0.0676676416183063459", "0.0676676416183063460")),
        attempts=_attempts((12_533, 1_701), 1.9204),
    )


def refuted_infinitely() -> Evidence:
    """A program that releases the answer itself: no bound, and an event that is impossible on one side."""
    event = Event("counterexample", (Rule("float", Coordinate(0), (0.0, 5e-324), (0, 1, 0)),))
    counterexample = Counterexample("[0.0, 3.0]", "[1.0, 3.0]", event, ("1", "1"), ("0", "0"), {"nodes": []})
    lower = _certain(math.inf, exact="infinite", event=event)
    return _proving(
        verdict=Verdict.VIOLATED,
        reason="ε is more than the claimed 1: infinite, certainly.",
        proof=_proof(certificate=None, length=1, scope="all data of 1 real answer, under queries", paths=1),
        lower=lower,
        exact=lower,
        counterexample=counterexample,
        attempts=_attempts((25_000, 0), 8.4321, event=event),
    )


def without_finite_bound() -> Evidence:
    """Neither alignment nor anything else found a bound."""
    usual = _attempts((0, 0))
    return _proving(
        verdict=Verdict.INCONCLUSIVE,
        reason="No finite bound was proved, and nothing was found that exceeds the claim.",
        proof=_proof(certificate=None),
        lower=msgspec.structs.replace(usual[0].bound, confidence=0.95),
        attempts=usual,
        detectable=1.0534,
    )


def above_the_claim() -> Evidence:
    """A proof that does not reach the claim, and a certain lower bound that does not exceed it."""
    return _proving(
        verdict=Verdict.INCONCLUSIVE,
        reason="ε is at most 7/4, by proof, which is more than the claimed 1; nothing was found that refutes it.",
        lower=_certain(0.6249999999),
        upper=_upper(1.75, "7/4"),
        exact=_certain(0.6249999999),
        counterexample=_laplace_counterexample(("0.267630714259495061", "0.267630714259495062")),
        attempts=_attempts((12_480, 6_702)),
        detectable=1.0534,
    )


def contradicted() -> Evidence:
    """Runs that show more than what was proved, in both looks."""
    attempts = _attempts((12_480, 2_702), 1.4637, 1.3521)
    return _proving(
        verdict=Verdict.VIOLATED,
        reason="contradicts the proof: implementation, arithmetic or prover is wrong.",
        lower=msgspec.structs.replace(attempts[2].bound, confidence=0.95),
        upper=_upper(0.625, "5/8"),
        exact=_certain(0.6249999999),
        counterexample=_laplace_counterexample(("0.267630714259495061", "0.267630714259495062")),
        attempts=attempts,
    )


def boundless() -> Evidence:
    """An infinite loss, shown exactly, with huge numbers in the request."""
    lower = _bound(value=math.inf, kind="exact", confidence=1.0)
    target = msgspec.structs.replace(_evidence().target, parameters={"n": 10**30, "scale": "inf", "text": "5"})
    return _evidence(verdict=Verdict.VIOLATED, lower=lower, target=target, detectable=1e300, claim="epsilon=1e-300")


def renyi() -> Evidence:
    """A claim whose ε does not limit the loss."""
    lower = _bound(value=0.123456, notion="order=2, epsilon=0.5", method="joint")
    plain = laplace()
    return msgspec.structs.replace(plain, claim="order=2, epsilon=0.5", lower=lower, detectable=None)


def low_bits() -> Evidence:
    """Private in real arithmetic, but violated by its low-order bits, which were to decide."""
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
    """Every text contains something that a page or a terminal would interpret."""
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


def hostile_proof() -> Evidence:
    """The same for everything in a proof."""
    plain = hostile()
    event = plain.lower.event
    assert event is not None
    texts = (HOSTILE, HOSTILE)
    attempt = msgspec.structs.replace(plain.attempts[0], name="counterexample")
    return msgspec.structs.replace(
        plain,
        lower=_certain(2.0, exact=HOSTILE[:20], event=event),
        upper=_upper(3.0, HOSTILE[:20], method=HOSTILE),
        proof=Proof(HOSTILE, HOSTILE, 10**30, 10**30, {HOSTILE: [HOSTILE]}),
        exact=_certain(2.0, exact=HOSTILE[:20], event=event),
        counterexample=Counterexample(HOSTILE, HOSTILE + "2", event, texts, texts, {HOSTILE: HOSTILE}),
        attempts=(attempt,),
    )


KINDS = {
    "laplace": laplace,
    "categories": categories,
    "inconclusive": inconclusive,
    "invalid": invalid,
    "no claim": no_claim,
    "approximate": approximate,
    "proved": proved,
    "proved for any length": proved_for_any_length,
    "enumerated": enumerated,
    "refuted": refuted,
    "refuted infinitely": refuted_infinitely,
    "without finite bound": without_finite_bound,
    "above the claim": above_the_claim,
    "contradicted": contradicted,
    "boundless": boundless,
    "renyi": renyi,
    "low bits": low_bits,
    "hostile": hostile,
    "hostile proof": hostile_proof,
}
