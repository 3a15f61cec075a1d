"""What did recorded and replayed runs show?"""

from __future__ import annotations

from dpaudit.evidence.event import Record


class TracedCall(Record, frozen=True):
    """Draws at one line, on the path that shows most, and what hiding the change asks of them.

    Attributes:
        where: the line; met: that of the first operation by which data that differ came to them, empty where none is
            known.
        law: of the noise; scale: of the one that moves most.
        draws: how many there were; moved: how many of them have to move.
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
    """What was found, in one of the words of a trace, and where."""

    word: str
    text: str
    where: str
    met: str = ""


class TraceStep(Record, frozen=True):
    """Noise of a law and scale that moves by so much between the two datasets; ``other``: its scale on the second."""

    law: str
    scale: float
    by: float
    where: str
    other: float | None = None


class TraceLoss(Record, frozen=True):
    """A loss of the pair that is certain, given the stated laws.

    Attributes:
        why: in words; where: a line, or a place of the output.
        value: at least so much is lost, in the claim's parameter, at its δ; infinite where outputs never agree.
        steps: noises and their shifts, of which it is the loss together; empty where it follows from no such steps.
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
        tried: pairs that were traced; left_out: further candidates that were not.
        runs: executions for the trace.
        paths: ways through the code that were looked at, on the pair that shows most; limit: how many were allowed from
            either dataset.
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
