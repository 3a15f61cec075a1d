"""What was looked at, and does it hold?

Three answers, never two: what was not computed again neither holds nor fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

DIGITS = 1e-9
"""Relative: bounds are written with 10 digits, in the last of which machines may differ."""


class CheckResult(Enum):
    """What a look at one thing came to; ``str(answer)`` is the word."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_CHECKED = "not checked"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, the answer, and a sentence about it.

    ``decides``: whether the verdict rests on it, so that evidence does not pass without an answer.
    """

    what: str
    answer: CheckResult
    sentence: str
    decides: bool = True

    @property
    def holds(self) -> bool:
        """Whether it was computed again and is as stated; False also where it was not computed."""
        return self.answer is CheckResult.HOLDS

    @property
    def fails(self) -> bool:
        """Whether it was computed again and is not as stated."""
        return self.answer is CheckResult.FAILS


def answered(what: str, holds: bool, sentence: str) -> Finding:
    """Return a finding about what was computed again."""
    return Finding(what, CheckResult.HOLDS if holds else CheckResult.FAILS, sentence)


def failing(what: str, sentence: str) -> Finding:
    """Return a finding about what is not as stated."""
    return Finding(what, CheckResult.FAILS, sentence)


def unchecked(what: str, sentence: str, *, decides: bool) -> Finding:
    """Return a finding about what was not computed again; ``decides`` whether the verdict rests on it."""
    return Finding(what, CheckResult.NOT_CHECKED, sentence, decides)


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 1 where something fails, 3 where something that the verdict rests on was not checked, 0 elsewhere."""
    answers = {(finding.answer, finding.decides) for finding in findings}
    if any(answer is CheckResult.FAILS for answer, _ in answers):
        return 1
    return 3 if (CheckResult.NOT_CHECKED, True) in answers else 0


def passes(findings: Iterable[Finding]) -> bool:
    """Whether nothing fails, and nothing that the verdict rests on was left unchecked."""
    return exit_code(findings) == 0


def agrees(again: float, stated: float, accuracy: float = DIGITS) -> bool:
    """Whether a number that was computed again is the stated one; NaN never is."""
    return again == stated or math.isclose(again, stated, rel_tol=accuracy, abs_tol=accuracy)
