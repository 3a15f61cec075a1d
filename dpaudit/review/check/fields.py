"""Can the fields of an audit be what they say, and do those agree that state one thing in two places?

No bound follows from them: names, the shape of events, the cells of a histogram, the order of a curve of scores.
Whoever reads a page takes them for what was seen, so that what contradicts itself is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise

from dpaudit.auditing.assumed import RECORDED, SHARE
from dpaudit.evidence.event import Coordinate, Event, Reach, Rows, Step
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Attempt, Cell, Histogram, Scores, Verdict
from dpaudit.review.check.finding import Finding, answered, failing
from dpaudit.stats.methods import METHODS, method_of

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
