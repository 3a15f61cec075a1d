"""What is the result of a gate, what does each rule mean, and what should be done about it?"""

from __future__ import annotations

import datetime
import io
import math
import os
import posixpath
import re
import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from dpaudit.evidence.evidence import SPEAKS_AGAINST, Evidence, qualified
from dpaudit.evidence.records import DOES_NOT_HOLD
from dpaudit.report.text.phrases import NBSP, confidence_text, lower_text, one_line, shortened, upper_text
from dpaudit.report.view import view

# --- What is the result of a gate? -----------------------------------------------------------------------


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


# --- What does each rule mean, and what should be done about it? -----------------------------------------

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
        "The report says what tells the two datasets apart: the line at fault, or an event. Fix the mechanism, or "
        "claim what it gives. A list of releases needs more noise, smaller batches or fewer steps.",
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
        "Give it more runs; or, if the target is fixed by now, expect what it claims.",
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
        "Read what it said, fix that, and run the gate again.",
    ),
}


def headline(result: GateResult, targets: Sequence[Shown]) -> str:
    """Say in one line what the result of a gate with these targets is."""
    count = len(result.results)
    if not count:
        return "no target was run"
    parts = []
    for outcome in (Outcome.FAILED, Outcome.INVALID, Outcome.INCONCLUSIVE, Outcome.ACCEPTED, Outcome.PASSED):
        many = sum(item.outcome is outcome for item in result.results)
        if many:
            parts.append(f"{many} {outcome}")
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
    """A target as every format shows it: its result, and what is selected from the view of its evidence."""

    item: TargetResult  # the result of the target
    # verdict, claim, bounds: of its evidence; a dash if there is none
    verdict: str
    claim: str
    bounds: str
    # findings that are worse than the verdict; every format shows them, even for targets that passed
    beside: tuple[str, ...]
    comparison: str  # with the baseline, or empty. time: how long it took.
    time: str

    @property
    def is_told(self) -> bool:
        """Whether there is more to say about it than its row."""
        return self.item.outcome is not Outcome.PASSED or bool(self.beside) or self.item.stale

    @property
    def place(self) -> Location | None:
        """The line at fault where a trace names it, else that of the mechanism."""
        return at_fault(self.item) or self.item.location

    @property
    def in_row(self) -> tuple[str, ...]:
        """What its row says, in which a finding stands beside the word "passed" alone: all others are told below."""
        return (self.bounds, *(self.beside if self.item.outcome is Outcome.PASSED else ()))

    @property
    def said(self) -> tuple[str, ...]:
        """The sentence of the target, its other findings, and its notes."""
        return (self.item.sentence, *self.beside, *self.item.notes)


def at_fault(target: TargetResult) -> Location | None:
    """Return the line that a trace names, or of which something is given that runs refute, in the mechanism's file."""
    own, evidence = target.location, target.evidence
    if own is None or evidence is None:
        return None
    trace = evidence.trace
    lines = [] if trace is None or trace.word not in SPEAKS_AGAINST else [each.where for each in trace.findings[:1]]
    if evidence.proof is not None and evidence.proof.comparison is not None and evidence.proof.is_refuted:
        lines.append(evidence.proof.comparison.open_ends[0].removeprefix(DOES_NOT_HOLD).strip().partition(" ")[0])
    for line in lines:
        match = re.fullmatch(r"(.+):(\d+)(?: \(.*\))?", line)
        if match is not None and posixpath.basename(match[1]) == posixpath.basename(own.file):
            return Location(own.file, int(match[2]))
    return None


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


# --- What does a user need to see of a gate in a terminal? One row for each target, then what to do. ---
#
# If the output is not a terminal, a row is a line of plain text that starts with the outcome.

_STYLES = {
    Outcome.PASSED: "green",
    Outcome.FAILED: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.INVALID: "bold magenta",
    Outcome.ACCEPTED: "yellow",
}
_WIDTH, _NAME = 100, 60


def summary(result: GateResult, *, terminal: bool = False, width: int | None = None, pages: str = "") -> str:
    """Return the result of a gate as text that ends in a line break; ``pages`` is the folder of its pages."""
    columns = width or (shutil.get_terminal_size((_WIDTH, 24)).columns if terminal else _WIDTH)
    targets = [shown(item) for item in result.results]
    rows = _drawn(targets, columns) if terminal else _aligned(targets)
    parts = [rows, *(_details(target, columns, pages) for target in targets if target.is_told)]
    last = f"dpaudit gate: {headline(result, targets)}. {scope(result)}\n".replace(NBSP, " ")
    return "".join(parts) + ("\n" if len(parts) > 1 else "") + last


def _aligned(targets: Sequence[Shown]) -> str:
    longest = max((len(_name(target)) for target in targets), default=0)
    return "".join(
        f"{str(target.item.outcome).upper():<12}  {_name(target):<{longest}}  {_facts(target)}\n" for target in targets
    )


def _name(target: Shown) -> str:
    return shortened(target.item.name, _NAME)


def _facts(target: Shown) -> str:
    facts = [str(target.item.rule), target.verdict, *target.in_row, target.time]
    return "; ".join(facts).replace(NBSP, " ")


def _drawn(targets: Sequence[Shown], width: int) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for head in ("Outcome", "Target", "Rule", "Verdict", "Bounds", "Time"):
        table.add_column(head)
    for target in targets:  # Text, so that brackets in a name are not markup
        item, known = target.item, "\n".join(target.in_row)
        texts = (_name(target), str(item.rule), target.verdict, known, target.time)
        table.add_row(Text(str(item.outcome), style=_STYLES[item.outcome]), *map(Text, texts))
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=width, highlight=False).print(table)
    return stream.getvalue()


def _details(target: Shown, width: int, pages: str) -> str:
    """Return the sentence of a target that did not pass, its notes, and what to do next."""
    item = target.item
    further = () if item.outcome is Outcome.PASSED else (MEANINGS[item.rule].next,)
    notes = [*target.said, *further]
    if target.comparison:
        notes.insert(1, target.comparison)
    lines = [f"\n{_name(target)}: {item.outcome}"]
    place = target.place
    if place is not None:
        lines[0] += f" ({one_line(place.file)}:{place.line})"
    for note in notes:
        lines += textwrap.wrap(
            one_line(" ".join(note.split())),
            max(width, 40),
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    page = "" if item.page is None else f"  report: {one_line(os.path.join(pages, item.page))}\n"
    return "\n".join(lines) + "\n" + page
