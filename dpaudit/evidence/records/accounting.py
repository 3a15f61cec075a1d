"""What was released, and what is certified of it?"""

from __future__ import annotations

from typing import Any

from dpaudit.evidence.event import Record
from dpaudit.evidence.records.bounds import Verdict


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
    """δ from below and above at some ε, each bound certain; rounded outward."""

    epsilons: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


class OtherAccountant(Record, frozen=True):
    """What another accountant says of the first statement's number; it decides nothing.

    Attributes:
        name: the library and its method; version: that was asked.
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
