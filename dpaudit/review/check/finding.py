"""What was checked, and does it hold?

There are three answers, never two: what was not recomputed neither holds nor fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

DIGITS = 1e-9
"""A relative tolerance: bounds have 10 digits, and machines may differ in the last."""


class CheckResult(Enum):
    """The result of one check; ``str(answer)`` is the word."""

    HOLDS = "holds"
    FAILS = "fails"
    NOT_CHECKED = "not checked"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One thing that was checked, the answer, and a sentence about it.

    ``decides``: whether the verdict rests on it, so that evidence does not pass unless it was checked.
    """

    what: str
    answer: CheckResult
    sentence: str
    decides: bool = True

    @property
    def holds(self) -> bool:
        """Whether it was recomputed and is as stated; also False if it was not recomputed."""
        return self.answer is CheckResult.HOLDS

    @property
    def fails(self) -> bool:
        """Whether it was recomputed and is not as stated."""
        return self.answer is CheckResult.FAILS


def answered(what: str, holds: bool, sentence: str) -> CheckFinding:
    """Return a finding about what was recomputed."""
    return CheckFinding(what, CheckResult.HOLDS if holds else CheckResult.FAILS, sentence)


def failing(what: str, sentence: str) -> CheckFinding:
    """Return a finding about what is not as stated."""
    return CheckFinding(what, CheckResult.FAILS, sentence)


def unchecked(what: str, sentence: str, *, decides: bool) -> CheckFinding:
    """Return a finding about what was not recomputed."""
    return CheckFinding(what, CheckResult.NOT_CHECKED, sentence, decides)


def exit_code(findings: Iterable[CheckFinding]) -> int:
    """Return 1 if something fails, 3 if something that the verdict rests on was not checked, else 0."""
    answers = {(finding.answer, finding.decides) for finding in findings}
    if any(answer is CheckResult.FAILS for answer, _ in answers):
        return 1
    return 3 if (CheckResult.NOT_CHECKED, True) in answers else 0


def passes(findings: Iterable[CheckFinding]) -> bool:
    """Whether nothing fails, and nothing that the verdict rests on was left unchecked."""
    return exit_code(findings) == 0


def agrees(again: float, stated: float, accuracy: float = DIGITS) -> bool:
    """Whether a recomputed number agrees with the stated one; NaN never does."""
    return again == stated or math.isclose(again, stated, rel_tol=accuracy, abs_tol=accuracy)
