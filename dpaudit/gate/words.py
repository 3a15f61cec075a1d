"""What does each rule mean, and what should be done about it? The words that all formats share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.evidence.evidence import qualified
from dpaudit.gate.result import BaselineComparison, GateResult, Outcome, OutcomeRule, TargetResult
from dpaudit.report.text.numerals import confidence_text, lower_text, upper_text
from dpaudit.report.view import view

NO_PROOF = (
    "A target that passed was not proved private by that: runs see some pairs and some events. "
    "Only the verdict “proved” is about all data of its scope."
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A rule in words: what it means for a target, and what to do next."""

    title: str
    says: str
    next: str


MEANINGS = {
    OutcomeRule.PASSED: Meaning(
        "Nothing speaks against it",
        "The verdict is one that the policy lets pass, and the target is not leakier than its baseline.",
        "Nothing; the report says what this audit could have found.",
    ),
    OutcomeRule.CLAIM_VIOLATED: Meaning(
        "The claim is violated",
        "The privacy loss is larger than what is claimed: at the stated confidence where it was sampled, certainly "
        "where it was computed exactly.",
        "Look at the event in the report: it tells the two datasets apart. Mend the mechanism, or claim what it gives. "
        "A list of releases needs more noise, smaller batches or fewer steps.",
    ),
    OutcomeRule.LEAKIER: Meaning(
        "Leakier than its baseline",
        "The event of the baseline tells more than it did, or the list of releases loses more: the two intervals do "
        "not meet. The claim may still hold.",
        "Find the change that made it so. Where it is meant, write the baseline again with --update-baseline.",
    ),
    OutcomeRule.NOT_PROVED: Meaning(
        "Not proved",
        "The policy asks for a proof, and none was found that reaches the claim. That refutes nothing.",
        "Write the target as a program that can be read, claim what is proved, or ask for less.",
    ),
    OutcomeRule.GIVEN_REFUTED: Meaning(
        "What is given does not hold",
        "A proof was asked for that takes for granted how far the value of a line moves, and runs show that it moves "
        "farther, or that the line does something else. The claim itself is not refuted by that.",
        "Give how far the value moves, bound it in the function, or write the line so that it is read.",
    ),
    OutcomeRule.VIOLATION_MISSING: Meaning(
        "An expected violation was not found",
        "The target is there to be caught and was not, so this gate may be blind to what it is meant to see.",
        "Give it more runs; or, if the target is mended by now, expect what it claims.",
    ),
    OutcomeRule.INCONCLUSIVE: Meaning(
        "Nothing was decided",
        "The runs could not have found even a gross violation, or what is known from below and above leaves the claim "
        "between.",
        "Give the target more runs, or let the policy say what an inconclusive target is to mean.",
    ),
    OutcomeRule.RUNS_INVALID: Meaning(
        "The runs cannot be trusted",
        "Blocks with different seeds return the same outputs, the outputs drift, or the runs died. No number of this "
        "audit says anything.",
        "Draw all randomness from the argument that is passed in, and keep no state between calls.",
    ),
    OutcomeRule.CANNOT_RUN: Meaning(
        "It could not be run",
        "There is no verdict: the target was not found, its configuration does not fit it, or it raises in every run.",
        "Read what it said, mend that, and run the gate again.",
    ),
}


def headline(result: GateResult, targets: Sequence[Shown]) -> str:
    """Say in one line what the result of a gate with these targets is."""
    count = len(result.results)
    if not count:
        return "no target was run"
    parts = []
    for outcome in (Outcome.FAILED, Outcome.INVALID, Outcome.INCONCLUSIVE, Outcome.ACCEPTED, Outcome.PASSED):
        found = sum(item.outcome is outcome for item in result.results)
        if found:
            parts.append(f"{found} {outcome}")
    more = sum(bool(target.beside) for target in targets)
    also = f"; beside the verdict of {more} something more was found" if more else ""
    stale = sum(item.stale for item in result.results)
    if stale:
        also += f"; of {stale} what is accepted is out of date"
    return f"{', '.join(parts)} of {count} target{'' if count == 1 else 's'}{also}"


def scope(result: GateResult) -> str:
    """Say what the confidence of the whole gate means."""
    seed = "a fresh seed" if result.seed is None else f"seed {result.seed}"
    return (
        f"Confidence of the whole gate: {confidence_text(result.confidence)} that no correct target fails; {seed}; "
        f"{seconds_text(result.seconds)}."
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A target as every format shows it: its result, and what is selected from the view of its evidence.

    Attributes:
        item: the result of the target.
        verdict, claim, bounds: of its evidence; a dash if there is none.
        beside: findings that are worse than the verdict; every format shows them, even for targets that passed.
        comparison: with the baseline, or empty. time: how long it took.
    """

    item: TargetResult
    verdict: str
    claim: str
    bounds: str
    beside: tuple[str, ...]
    comparison: str
    time: str

    @property
    def is_told(self) -> bool:
        """Whether there is more to say about it than its row."""
        return self.item.outcome is not Outcome.PASSED or bool(self.beside) or self.item.stale

    @property
    def said(self) -> tuple[str, ...]:
        """The sentence of the target, its other findings, and its notes."""
        return (self.item.sentence, *self.beside, *self.item.notes)


def shown(item: TargetResult) -> Shown:
    """Return a result as every format shows it."""
    evidence = item.evidence
    comparison = "" if item.comparison is None else comparison_text(item.comparison)
    time = "unchanged, not run again" if item.cached else seconds_text(item.seconds)
    if evidence is None:
        return Shown(item, "–", "–", "–", (), comparison, time)
    seen = view(evidence)
    lower, upper = seen.order("lower") > 0, not math.isnan(seen.order("upper"))
    known = [seen.cell("lower")] * lower + [seen.cell("upper")] * upper
    return Shown(
        item=item,
        verdict=qualified(evidence),
        claim=evidence.claim or "none",
        bounds=", ".join(known) or "none shown",
        beside=tuple(seen.pressing_lines),
        comparison=comparison,
        time=time,
    )


def comparison_text(comparison: BaselineComparison) -> str:
    """Write both intervals, rounded outward."""
    before, after = (f"{lower_text(low)} to {upper_text(high)}" for low, high in (comparison.before, comparison.after))
    word = "leakier" if comparison.leakier else "not shown to be leakier"
    of = f"{comparison.about} was" if comparison.about else "the baseline's event lost"
    return f"{word}: {of} {before} before, and {after} now"


def seconds_text(seconds: float) -> str:
    """Write a duration."""
    return f"{seconds:.1f} s" if math.isfinite(seconds) else "unknown time"
