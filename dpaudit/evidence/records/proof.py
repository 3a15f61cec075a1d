"""What was proved, and which probabilities are known with certainty?"""

from __future__ import annotations

from typing import Any, ClassVar

from dpaudit.evidence.event import Event, Record

NOT_ACCEPTED = "its certificate was not accepted:"
"""How an open end begins that is none of the program: a bound was found, and the checker refuses what shows it."""


class Comparison(Record, frozen=True):
    """How runs of the program compare with what was read of it, and what can run but was not read.

    Attributes:
        runs: how many runs drew, branched and returned what was read.
        passed_over: how many came so close to a branch that rounding may have decided it.
        compared: how many of ``paths`` were compared with a run.
        paths: all paths that runs can take; for a fold, those of its start, its steps in every state, and its end.
        open_ends: code that no path executed, what the program uses besides data, noise and parameters, and paths that
            no run could be compared with; or that the checker did not accept the certificate; in words. Nothing is
            proved if there are any.
    """

    runs: int
    passed_over: int
    compared: int
    paths: int
    open_ends: tuple[str, ...] = ()


class Proof(Record, frozen=True):
    """What was read of a program, and what was proved.

    Attributes:
        method: "alignment" for data of one length, "induction" for every length, "enumeration" of a whole domain,
            "releases" from records of any number to what is released.
        scope: what an upper bound holds for, as a sentence.
        length: how many answers, or None if any number of them, or if it has no meaning.
        paths: how many paths of the program were read.
        certificate: the proof in a form that can be checked (``docs/certificate.md``); None without a finite bound.
        domain: all datasets that were enumerated, if they were to be kept, or the declared domain of records, as JSON
            text.
        comparison: of runs with what was read; None if it was not recorded.
        prices: of the first releases of a certificate of releases, each by itself, such as "epsilon=1/2".
        whole: columns that are declared as ranges, and hold whole numbers, as those of given data do.
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

    @property
    def is_refused(self) -> bool:
        """Whether a bound was found, and the checker did not accept its certificate."""
        ends = () if self.comparison is None else self.comparison.open_ends
        return bool(ends) and ends[0].startswith(NOT_ACCEPTED)


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
