"""What is the result of a gate? Plain values, from which every format is written."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import Enum

from dpaudit.evidence.evidence import Evidence


class Outcome(Enum):
    """What a target means for the build; ``str(outcome)`` is the word in lower case."""

    PASSED = "passed"
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"  # unless the policy makes it pass or fail
    INVALID = "invalid"  # there is no reliable verdict: it could not be run, or its runs cannot be trusted
    ACCEPTED = "accepted"  # its finding stands, and the configuration accepts it until a day, with a reason

    def __str__(self) -> str:
        return self.value


class OutcomeRule(Enum):
    """Why a target has its outcome: stable ids for filters."""

    PASSED = "passed"
    CLAIM_VIOLATED = "claim-violated"
    LEAKIER = "leakier-than-baseline"
    NOT_PROVED = "not-proved"
    VIOLATION_MISSING = "expected-violation-missing"
    INCONCLUSIVE = "inconclusive"
    RUNS_INVALID = "runs-invalid"
    CANNOT_RUN = "cannot-run"
    GIVEN_REFUTED = "given-refuted"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that the configuration accepts: its rule, the last day, the reason, and the largest loss if any."""

    rule: OutcomeRule
    until: datetime.date
    why: str
    up_to: float | None = None  # of the lower bound, in the parameter of the claim


@dataclass(frozen=True, slots=True)
class Location:
    """Where the mechanism is defined: a file relative to the project, with forward slashes, and its first line."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """The loss of the baseline's fixed event: exact intervals for the code of the baseline and for the present code.

    Each is (low, high) in units of the claim's parameter; they hold simultaneously at the target's confidence. Those of
    a list of releases are certified, and ``about`` says of what, such as "ε at δ = 1e-5".
    """

    before: tuple[float, float]
    after: tuple[float, float]
    about: str = ""

    @property
    def leakier(self) -> bool:
        """Whether the new interval is above the old one."""
        return self.after[0] > self.before[1]


@dataclass(frozen=True, slots=True)
class TargetResult:
    """The result of one target."""

    name: str  # unique within the gate; target: as it is configured, such as "release.py:noisy_count"
    target: str
    outcome: Outcome
    rule: OutcomeRule  # why it has its outcome; sentence: the same with numbers, for people
    sentence: str
    evidence: Evidence | None = None  # the evidence, or None
    location: Location | None = None  # the source line of the mechanism, or None if unknown
    notes: tuple[str, ...] = ()  # further sentences: what changed since the baseline, what cannot be guaranteed
    comparison: BaselineComparison | None = None  # with the baseline, if there is one
    cached: bool = False  # whether the target was unchanged and therefore not run again
    seconds: float = 0.0  # how long it took
    page: str | None = None  # its report, relative to the folder of the index; None if no pages are written
    accepted: Acceptance | None = None  # why its finding does not fail the gate; None if it has none, or does
    stale: bool = False  # whether the configuration accepts something that was not found, or whose last day is over

    @property
    def exit_code(self) -> int:
        """The exit code of a gate with only this target: 1 only if it loses too much, or what is given is false."""
        refuted = (OutcomeRule.CLAIM_VIOLATED, OutcomeRule.LEAKIER, OutcomeRule.GIVEN_REFUTED)
        if self.outcome is Outcome.FAILED and self.rule in refuted:
            return 1
        return {Outcome.PASSED: 0, Outcome.ACCEPTED: 0, Outcome.INVALID: 4}.get(self.outcome, 3)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The results of all targets, in the order of the configuration."""

    results: tuple[TargetResult, ...]
    confidence: float  # of the whole gate: 1 − the probability that any correct target fails
    seed: int | None  # the root of all random draws, or None for a nightly gate, which uses a fresh one
    seconds: float  # how long the gate took

    @property
    def exit_code(self) -> int:
        """The first that applies: 1 (refuted), 4 (invalid), 3 (inconclusive, or no evidence), 0."""
        codes = {result.exit_code for result in self.results}
        return next((code for code in (1, 4, 3) if code in codes), 0)
