"""Can the fields of an audit be what they say, and do those agree that state one thing in two places?

No bound follows from them: names, the shape of events, the cells of a histogram, the order of a curve of scores.
Whoever reads a page takes them for what was seen, so that what contradicts itself is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Any

from dpaudit.auditing.assumed import RECORDED, SHARE
from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import json_values, plain_value
from dpaudit.evidence.event import Coordinate, Event, Reach, Rows, Step
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Cell, Histogram, Proof, Scores, Verdict
from dpaudit.loading.named import load, public_name
from dpaudit.neighbours.data_files import with_tables
from dpaudit.neighbours.digest import digest
from dpaudit.stats.methods import METHODS, method_of
from dpaudit.targets.mechanism import Mechanism
from dpaudit.verify.proofs.kind import UNREADABLE, Asked
from dpaudit.verify.proofs.kinds import KINDS

# --- What was checked, and does it hold? ---
#
# There are three answers, never two: what was not recomputed neither holds nor fails.

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
class Finding:
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


def answered(what: str, holds: bool, sentence: str) -> Finding:
    """Return a finding about what was recomputed."""
    return Finding(what, CheckResult.HOLDS if holds else CheckResult.FAILS, sentence)


def failing(what: str, sentence: str) -> Finding:
    """Return a finding about what is not as stated."""
    return Finding(what, CheckResult.FAILS, sentence)


def unchecked(what: str, sentence: str, *, decides: bool) -> Finding:
    """Return a finding about what was not recomputed."""
    return Finding(what, CheckResult.NOT_CHECKED, sentence, decides)


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 1 if something fails, 3 if something that the verdict rests on was not checked, else 0."""
    answers = {(finding.answer, finding.decides) for finding in findings}
    if any(answer is CheckResult.FAILS for answer, _ in answers):
        return 1
    return 3 if (CheckResult.NOT_CHECKED, True) in answers else 0


def passes(findings: Iterable[Finding]) -> bool:
    """Whether nothing fails, and nothing that the verdict rests on was left unchecked."""
    return exit_code(findings) == 0


def agrees(again: float, stated: float, accuracy: float = DIGITS) -> bool:
    """Whether a recomputed number agrees with the stated one; NaN never does."""
    return again == stated or math.isclose(again, stated, rel_tol=accuracy, abs_tol=accuracy)


# --- Can the fields of an audit be what they say, and do those agree that state one thing in two places? ---

NAMES = ("stable", "rare", "counterexample", "sequential", "low-order bits")
"""What attempts are called; those of canaries say which are guessed."""

STAKES = ("stable", "rare", "unseen", "middle", "graded")
AXES = ("output", "score", "category")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LOW_BITS = "low-order bits"


def fields(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for the fields that no bound follows from; one that holds, or one for each that does not."""
    wrong = list(filter(None, _all(evidence)))
    if not wrong:
        yield answered("fields", True, "names, events, cells and scores agree with what stands beside them")
    for each in wrong:
        yield failing("fields", each)


def _all(evidence: Evidence) -> Iterator[str]:
    for number, attempt in enumerate(evidence.attempts):
        yield _attempt(f"attempt {number}", attempt)
    yield _digests(evidence)
    if evidence.histogram is not None:
        yield _histogram(evidence.histogram)
    if evidence.scores is not None and evidence.verdict is not Verdict.INVALID:
        yield _scores(evidence.scores)
    yield _recorded(evidence)
    for epoch in () if evidence.sequential is None else evidence.sequential.epochs:
        if other := {stake.name for stake in epoch.stakes} - {*STAKES}:
            yield f"no event that is bet on is called {min(other)!r:.40}"


def _attempt(title: str, attempt: Attempt) -> str:
    bound = attempt.bound
    if attempt.name not in NAMES and not method_of(bound.method).canaries:
        return f"{title} is called {attempt.name!r:.40}, and attempts are called {', '.join(NAMES)}"
    if bound.event is not None and (wrong := _event(bound.event)):
        return f"{title}: {wrong}"
    unknown = next((each.method for each in attempt.considered if each.method not in METHODS), None)
    if unknown is not None:
        return f"{title}: nothing is bounded by {unknown!r:.40}"
    families = {each.family for each in attempt.considered}
    chosen = bound.event is not None and attempt.name != _LOW_BITS and families
    if chosen and bound.event is not None and bound.event.family not in families:
        return f"{title}: its event, of the family {bound.event.family!r:.40}, is none of those that were considered"
    return ""


def _event(event: Event) -> str:
    """What is wrong with the shape of an event; empty where nothing is."""
    for rule in event.rules:
        if any(not low < high for low, high in pairwise(rule.edges)):
            return "the edges of its event do not ascend"
        cells = len(rule.score.rows) + 1 if isinstance(rule.score, Rows) else len(rule.edges) + 1
        if len(rule.labels) != cells:
            return f"its event has {cells} cells, and {len(rule.labels)} labels"
        if isinstance(rule.score, Coordinate | Reach | Step) and rule.score.index < 0:
            return "its event looks at a number that there is none of"
    forms = [rule.form for rule in event.rules]
    return "its event has two rules for one form" if len(set(forms)) < len(forms) else ""


def _digests(evidence: Evidence) -> str:
    own = [digest for pair in evidence.pairs for digest in (pair.digest0, pair.digest1)]
    own += [each.data for each in (evidence.search, evidence.trace) if each is not None and each.data is not None]
    other = next((each for each in own if not _DIGEST.fullmatch(each)), None)
    return "" if other is None else f"{other!r:.40} is no digest of data"


def _histogram(histogram: Histogram) -> str:
    """What is wrong with the cells of a histogram; empty where nothing is."""
    if histogram.axis not in AXES:
        return f"a histogram is of {', '.join(AXES)}, and not of {histogram.axis!r:.40}"
    before: tuple[str, float | None] | None = None
    for cell in histogram.cells:
        if cell.low is None and cell.high is None:
            before = None
            continue
        form = _form(cell)
        if form is None:
            return f"the cell {cell.label!r:.40} is labelled otherwise than it lies"
        if before is not None and before[0] == form and (before[1] is None or cell.low is None or before[1] > cell.low):
            return f"the cell {cell.label!r:.40} overlaps the one before it"
        before = form, cell.high
    return ""


def _form(cell: Cell) -> str | None:
    """The form of the outputs in a cell, as its label says; None where the label says another place."""
    low = "below" if cell.low is None else f"{cell.low:.4g} to"
    high = "and more" if cell.high is None else f"{cell.high:.4g}"
    if cell.low is not None and cell.high is not None and not cell.low < cell.high:
        return None
    place = f"{low} {high}"
    return cell.label.removesuffix(place) if cell.label.endswith(place) else None


def _scores(scores: Scores) -> str:
    """What is wrong with what scores show beside the bound; empty where nothing is."""
    if any(not 0 <= part <= whole for part, whole in zip(scores.measured, scores.given, strict=True)):
        return f"{scores.measured} scores are measured, of {scores.given}"
    if any(not before.threshold < after.threshold for before, after in pairwise(scores.roc)):
        return "the thresholds of the ROC do not ascend"
    for side in (0, 1):
        counts = [point.counts[side] for point in scores.roc]
        if counts != sorted(counts, reverse=True) or any(not 0 <= each <= scores.given[side] for each in counts):
            return "the counts of the ROC are not those of thresholds that ascend"
    if any(not before.at > after.at for before, after in pairwise(scores.rates)):
        return "the false positive rates do not descend"
    for rate in scores.rates:
        if not (0 < rate.at < 1 and 0 <= rate.estimate <= 1):
            return f"{rate.estimate} is no true positive rate at {rate.at}"
        if rate.counts is not None and not _between(rate.estimate, rate.counts, scores.given[0]):
            return f"the estimate {rate.estimate:.6g} is none of {rate.counts} members of {scores.given[0]}"
    return ""


def _between(estimate: float, counts: tuple[int, int], members: int) -> bool:
    low, high = (count / members for count in counts)
    return low - 1e-6 <= estimate <= high + 1e-6


def _recorded(evidence: Evidence) -> str:
    """What is wrong with the numbers of what was recorded elsewhere; empty where nothing is."""
    if evidence.target.asks not in RECORDED:
        return ""
    if evidence.relation != "declared":
        return f"what was recorded elsewhere is declared to be of neighbours, and not {evidence.relation!r:.40}"
    scores = evidence.scores
    if scores is None or scores.design != "independent" or evidence.verdict is Verdict.INVALID:
        return "" if evidence.learning >= 0 else "numbers of runs are not negative"
    learned = sum(round(SHARE * given) for given in scores.given if math.isfinite(given))
    whole, measured = sum(scores.given), sum(scores.measured)
    if evidence.learning != learned or measured > whole - learned:
        return f"{evidence.learning} and {measured} of {whole} scores chose the event and measured it"
    return ""


# --- Is the evidence about this target? Its code is loaded, and if it was proved, the program is read again. ---
#
# Nothing is run: digest, name, parameters and claim are compared, and for a proof also the tree, the fold or the laws
# of the program today with those of the record. Only a replay can show that the counts come from runs.


def against(evidence: Evidence, name: str) -> Iterator[Finding]:
    """Yield a finding for each property of the target that the evidence states."""
    mechanism, target = load(name), evidence.target
    own = public_name(mechanism)
    same = own.rpartition(":")[2] == target.name.rpartition(":")[2]
    yield answered("name", same, f"the target is {own}, and the evidence is of {target.name}")
    code = mechanism.digest_like(target.digest)
    if code is None or target.digest is None:
        yield unchecked("code", "there is no code to compare", decides=True)
    else:
        how = "that" if code == target.digest else "not that"
        yield answered("code", code == target.digest, f"its code is {how} of the evidence: {code}")
    try:
        given = mechanism.parameters_with(with_tables(target.parameters))
    except UsageError as error:
        yield failing("parameters", str(error))
        return
    stated = json_values(plain_value(given)) == json_values(target.parameters)
    yield answered("parameters", stated, "all parameters are stated" if stated else "other parameters are stated")
    claim, unit = mechanism.claim_for(given), mechanism.unit
    if claim is None or str(claim) != evidence.claim:
        said = (
            f"the target itself claims {claim or 'nothing'}, and the evidence is about {evidence.claim or 'no claim'}"
        )
        yield unchecked("claim", said, decides=False)
    else:
        yield answered("claim", True, f"the target itself claims {claim}")
    yield from _described(evidence, mechanism, given)
    if unit:
        yield answered("unit", unit == evidence.unit, f"a record of the target is {unit!r:.80}")
    if evidence.proof is not None:
        yield _read_again(evidence, evidence.proof, mechanism, given)


def _described(evidence: Evidence, mechanism: Mechanism, given: dict[str, Any]) -> Iterator[Finding]:
    """Yield findings about what the target says of itself: what it asks for, its own pairs, and what they lose."""
    target, asks = evidence.target, str(mechanism.shape)
    if target.asks != asks:
        yield failing("kind", f"the target is of the kind {asks}, and {target.asks!r:.40} is stated")
    named = [pair for pair in evidence.pairs if pair.origin == "mechanism"]
    if named:
        known = {(digest(one), digest(two)) for one, two in mechanism.pairs_for(given)}
        holds = {(pair.digest0, pair.digest1) for pair in named} <= known
        how = "that the target names" if holds else "that the target does not name"
        yield answered("pairs", holds, f"{len(named)} of its pairs are of the mechanism: pairs {how}")
    if target.true_loss is not None:
        own = mechanism.true_loss_for(given)
        if own is None or not agrees(own, target.true_loss):
            yield failing("true loss", f"the target states {own}, and {target.true_loss:.10g} stands in the evidence")
    for what, text, own_text in (
        ("summary", target.summary, mechanism.summary),
        ("source", target.source, mechanism.source),
    ):
        if text != own_text:
            yield unchecked(what, f"the target is described otherwise today: {own_text!r:.80}", decides=False)


def _read_again(evidence: Evidence, proof: Proof, mechanism: Mechanism, given: dict[str, Any]) -> Finding:
    kind = KINDS.get(proof.method)
    if kind is None:
        return failing("program", f"there are no proofs by {proof.method!r:.40}")
    try:
        same = kind.read_again(evidence, proof, Asked(mechanism, given, evidence.relation, claim=evidence.claimed))
    except (*UNREADABLE, UsageError) as error:
        return failing("program", f"the program cannot be read as it was: {error}")
    if same is None:
        return unchecked("program", "the record does not hold what the program could be compared with", decides=True)
    how = "has" if same else "does not have"
    return answered("program", same, f"read again, the program {how} the {kind.reads} of the record")
