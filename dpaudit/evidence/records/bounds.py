"""What was counted, which bound follows, and what is concluded?"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from enum import Enum
from typing import ClassVar, Literal

from dpaudit.evidence.event import Event, Record

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

    ``bins``: for an event with degrees, the number of runs with each label, from the largest to the smallest. Runs that
    speak for neither side count with label −1, so that the bins add up to all runs. For canaries of one model, the
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
    """A violation smaller than the detectable one, and the total number of runs that finds it with probability 0.9."""

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
