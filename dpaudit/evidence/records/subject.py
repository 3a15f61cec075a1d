"""What was audited, on which pair, how was the pair found, and when was it?"""

from __future__ import annotations

from typing import Any, ClassVar

from dpaudit.evidence.event import Record


class Target(Record, frozen=True):
    """What was audited.

    ``asks`` is "program", "sampler", "seeded" or "opaque"; ``reading`` says how a program was run.
    ``digest`` is the SHA-256 of the function's source (None if there is no source).
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

    ``origin`` is "mechanism", "given" or "found" (by a search). ``shown0`` and ``shown1`` are public data for people to
    read, perhaps shortened; ``data0`` and ``data1`` are data that were kept on request, as JSON text
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


class Tried(Record, frozen=True):
    """A pair that a search tried: what changes in it, the runs spent on it, and the bound predicted from them."""

    name: str
    runs: int
    predicted: float


class Search(Record, frozen=True):
    """How the pair was found, from search runs only, which no bound uses.

    Attributes:
        source: what was searched: neighbours of one dataset ("data"), datasets over a "domain" only, or pairs that
            were "given" or are the "mechanism"'s own.
        candidates: how many pairs were compared; raised: how many of them were dropped, because every run of both
            sides raised the same exception.
        left_out: how many more candidates were not tried, because there were too few runs.
        runs: executions for the search, of both sides and all pairs.
        found: what changes in the chosen pair, without values of the data.
        tried: the pairs that stayed in the race longest, best first.
        climbed: how many datasets over the domain were tried beyond the candidates; None if none were to be.
        shrunk: how often a simpler pair replaced the chosen one.
        records: how many records each side of that simpler pair has; None if there is none, or it has no size.
        data: the digest of the dataset, or of all pairs; None for the mechanism's own, and over a domain only.
        domain: the declared domain as JSON text; beyond: whether values outside it were tried.
        kept: the dataset or all pairs as JSON text, if data were to be kept.
        led: what replayed runs found on the candidate that they singled out, in the words of a trace; None where they
            singled out none. It stayed in the race, with runs of its own.
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

    ``files`` are the names of the files with pairs, data or scores, as they were typed; empty if the data came from
    Python. ``named``: whether the command line finds the target by its name.
    """

    started: str
    duration: float
    host: str
    workers: int
    files: tuple[str, ...] = ()
    named: bool = True
