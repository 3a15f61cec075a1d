"""Does the verdict follow, and does everything else that one part of the file says about another?"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dpaudit.auditing.sensitivity import ROUNDING
from dpaudit.auditing.verdict import ASSUMED, LOST, RECORDED, SHARE, SOME_CANARIES, TwoLooks, assumed, decide
from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence import build, records
from dpaudit.evidence.event import TYPES, Coordinate, Event, Reach, Rows, Step, types_agree
from dpaudit.evidence.evidence import Evidence, against, lowered
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.digest import digest, read_kept
from dpaudit.review.check.finding import CheckFinding, answered, failing, unchecked
from dpaudit.review.check.sampled import looks_of
from dpaudit.stats.methods import METHODS, method_of
from dpaudit.targets.signature import Shape
from dpaudit.verify.proofs import open_ends

_READINGS = {Shape.PROGRAM: "batch", Shape.SAMPLER: "sampler"}


def stated(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield a finding for everything that follows from other parts of the evidence."""
    for number, pair in enumerate(evidence.pairs):
        yield from _pair(evidence, number, pair)
    yield from fields(evidence)
    yield from searched(evidence)
    yield _target(evidence)
    yield _assumptions(evidence)
    yield from _sensitivity(evidence)
    yield from _led(evidence)
    yield from _accuracy(evidence)
    yield from _verdict(evidence)


def _sensitivity(evidence: Evidence) -> Iterator[CheckFinding]:
    """Check what is said of the query's movement and the declared sensitivity, as far as floats allow."""
    moved = evidence.sensitivity
    if moved is None:
        return
    allowed = math.inf if moved.claimed is None else moved.claimed * parse_relation(evidence.relation).group
    last_digits = 1e-12 * allowed if math.isfinite(allowed) else 0.0
    room = max(moved.room, ROUNDING * allowed) if moved.room else 0.0
    too_far = moved.largest > allowed + room + last_digits
    within = moved.largest <= allowed + room - last_digits
    holds = not (too_far and not moved.exceeded) and not (within and moved.exceeded)
    holds = holds and (moved.finite is None or moved.finite <= moved.largest) and 0 <= moved.silent <= moved.tried
    shown = "a" if moved.exceeded else "no"
    if not holds:
        yield failing("sensitivity", f"{shown} counterexample does not follow from the distances")
        return
    said = f"{shown} counterexample follows from the distances; the query, which gave them, is in no file"
    yield unchecked("sensitivity", said, decides=False)


def _accuracy(evidence: Evidence) -> Iterator[CheckFinding]:
    """Look at what is said of errors: learning runs are in no file."""
    accuracy = evidence.accuracy
    if accuracy is None:
        return
    counts = 0 <= accuracy.same <= accuracy.compared <= accuracy.runs and accuracy.numbers >= 0
    if accuracy.pair is None:
        counts = counts and accuracy.side is None and evidence.search is not None
    else:
        counts = counts and accuracy.runs <= evidence.learning
        counts = counts and 0 <= accuracy.pair < len(evidence.pairs) and accuracy.side in (0, 1)
    errors = len(accuracy.errors) in (0, 1, accuracy.numbers) and all(
        all(map(math.isfinite, (each.bias, each.rmse, each.low, each.high)))
        and abs(each.bias) <= each.rmse * (1 + 1e-5)
        and each.low <= each.high
        for each in accuracy.errors
    )
    if not counts or not errors:
        yield failing("accuracy", "such errors cannot be those of the runs")
    else:
        yield unchecked("accuracy", "errors were estimated from runs that are in no file", decides=False)


# --- the verdict ------------------------------------------------------------------------------------------


def _led(evidence: Evidence) -> Iterator[CheckFinding]:
    """Look at what is said of outputs that a trace points to: learning runs are in no file."""
    for led in evidence.led:
        one_sided = led.event.toward(0) != led.event.toward(1)
        met = all(0 <= met <= runs for met, runs in zip(led.met, led.runs, strict=True))
        possible = one_sided and met and (led.needs is None or led.needs >= 1)
        if not 0 <= led.pair < len(evidence.pairs) or not possible:
            yield failing("led", "what a trace points to cannot have come up as often as is said")
        elif evidence.trace is None and (evidence.search is None or evidence.search.led is None):
            yield failing("led", "outputs of a replayed path are named, and nothing was replayed")
        elif sum(led.runs) > evidence.learning:
            yield failing("led", "it came up in more learning runs than were made")
        else:
            said = f"outputs of a replayed path came up in {sum(led.met)} of {sum(led.runs)} learning runs"
            yield unchecked("led", f"{said}; only a replay shows that they did", decides=False)


def _verdict(evidence: Evidence) -> Iterator[CheckFinding]:
    if evidence.verdict is records.Verdict.INVALID:
        holds = not evidence.attempts and evidence.histogram is None and evidence.detectable is None
        if holds:
            yield unchecked("verdict", "that the runs could not be trusted, only another audit can show", decides=True)
        else:
            yield failing("verdict", "runs that could not be trusted show nothing, and these do")
        return
    lower, upper, looks = evidence.lower, evidence.upper, looks_of(evidence)
    stated = evidence.verdict if evidence.written is None else records.Verdict(evidence.written["verdict"])
    contradicts = upper is not None and lower.kind == "sampled" and lower.value > upper.value
    try:
        verdict, reason = decide(
            evidence.claimed,
            lower,
            evidence.detectable,
            evidence.floating_point if evidence.low_bits == "verdict" else None,
            looks=looks,
            upper=upper,
            within=_within(evidence),
            scope="" if evidence.proof is None else evidence.proof.scope,
            contradicts=contradicts,
            open_ends=open_ends(evidence.proof),
        )
    except (ValueError, ArithmeticError) as error:
        yield failing("verdict", str(error))
        return
    if contradicts and verdict is records.Verdict.PROVED:
        verdict, reason = records.Verdict.VIOLATED, evidence.reason
    finding = against(evidence)
    verdict, reason = lowered(verdict, reason, finding)
    holds = verdict is stated
    how = "follows" if holds else "does not follow"
    also = f", and from what was found: {finding}" if finding and verdict is records.Verdict.INCONCLUSIVE else ""
    yield answered("verdict", holds, f"{stated} {how} from the bounds and the claim{also}")
    yield from _decided(evidence, looks)
    # other versions may word the reason differently, but not with different numbers
    same = evidence.versions.get("dpaudit") == build.installed_version("dpaudit")
    same_reason = evidence.reason == reason if same else _numerals_in(evidence.reason) == _numerals_in(reason)
    if holds and not same_reason:
        yield failing("reason", f"the sentence of the verdict is: {reason}")
    elif holds and evidence.reason != reason:
        yield unchecked("reason", f"another dpaudit wrote its words; today they are: {reason}", decides=False)


def _decided(evidence: Evidence, looks: TwoLooks | None) -> Iterator[CheckFinding]:
    """Check that a violation rests on the stated bound: that of low-order bits, or that of real numbers."""
    claim = evidence.claimed
    above = claim is not None and evidence.lower.value > claim.value
    by_one_look = "float" if evidence.verdict is records.Verdict.VIOLATED and not above else "real"
    decided = by_one_look if looks is None else looks.decided_in
    unsaid = evidence.decided_in == "real" and not above  # as in older evidence
    if evidence.decided_in != decided and not unsaid:
        what = {"float": "on low-order bits", "real": "on low-order bits, and they are said to decide"}[decided]
        yield failing("verdict", f"it rests {'' if decided == 'float' else 'not '}{what}")


def _numerals_in(text: str) -> set[str]:
    return set(re.findall(r"\d[\d.,/e+-]*", text))


def _within(evidence: Evidence) -> bool:
    """Whether the upper bound is at most the claim, decided exactly."""
    claim, upper = evidence.claimed, evidence.upper
    if claim is None or upper is None or upper.exact is None:
        return False
    if upper.exact.startswith("ln("):
        from dpaudit.program.enumerate import exact, parse_exact
        from dpaudit.verify.exact import exp_of

        return not exact(parse_exact(upper.exact[3:-1])) > exp_of(claim.value, upward=True)
    return fraction(upper.exact) <= limit_of(claim.value, toward=0.0)


def fraction(text: str | None) -> Fraction:
    """Read a fraction; an exponent is refused, since it could demand any number of digits."""
    if text is None or "e" in text.lower():
        raise ValueError(f"{text!r} is no fraction")
    return Fraction(text)


# --- what was audited -------------------------------------------------------------------------------------


def _types(evidence: Evidence) -> str:
    """Say what is wrong with whether types count; empty if nothing is."""
    events = [bound.event for bound in (evidence.lower, *(each.bound for each in evidence.attempts)) if bound.event]
    if evidence.types in TYPES and types_agree(events, evidence.types):
        return ""
    return f"types are said to {evidence.types!r:.40}, and the forms of the events say something else"


def _target(evidence: Evidence) -> CheckFinding:
    """Check that the kind of the target, how it was read, and what follows for the runs agree."""
    target = evidence.target
    wrong = ""
    if target.asks in RECORDED:
        holds = evidence.low_bits == "ignore" and "declared" in evidence.relation and evidence.reproducible
        wrong = _types(evidence)
        return answered("target", holds and not wrong, wrong or f"{target.asks} that were recorded elsewhere")
    try:
        shape = Shape(target.asks)
    except ValueError:
        return failing("target", f"no function is of the kind {target.asks!r}")
    own_randomness = _own_randomness(evidence)
    if _is_rewritten(target):
        return _rewritten(evidence, shape, own_randomness)
    reading = "run by run" if own_randomness or evidence.observed else _READINGS.get(shape, "run by run")
    if target.reading != reading and not target.reading.startswith("run by run: "):
        wrong = f"a function of the kind {shape} is not read as {target.reading!r}"
    elif own_randomness != (shape is Shape.OPAQUE) and shape in (Shape.OPAQUE, Shape.PROGRAM):
        wrong = f"a {shape} is said {'' if own_randomness else 'not '}to have randomness of its own"
    elif evidence.reproducible != (not own_randomness and not evidence.observed):
        watched = ", whose run time is observed," if evidence.observed else ""
        own = ", of which randomness of its own is assumed," if own_randomness else ""
        called = "" if evidence.reproducible else "not "
        wrong = f"a function of the kind {shape}{own}{watched} is called {called}reproducible"
    elif parse_relation(evidence.relation).kind == "declared" and not any(
        "declared" in it for it in evidence.assumptions
    ):
        wrong = "the relation is declared, and it is not assumed"
    wrong = wrong or _of_runs(evidence, shape)
    return answered("target", not wrong, wrong or f"of the kind {shape}, read as {target.reading.partition(':')[0]}")


def _rewritten(evidence: Evidence, shape: Shape, own_randomness: bool) -> CheckFinding:
    """Check what follows where the source of a function was read: every draw hangs on the seed, but a library's own."""
    wrong, called = "", evidence.target.reading != "rewritten"
    if shape not in (Shape.OPAQUE, Shape.SEEDED) or evidence.observed:
        wrong = f"a function of the kind {shape} is not read as 'rewritten'"
    elif called and (not own_randomness or evidence.reproducible):
        wrong = "a library that is called in each run has randomness of its own, which no seed repeats"
    elif not called and (own_randomness or not evidence.reproducible):
        wrong = "where the source is read, every draw hangs on the seed"
    wrong = wrong or _of_runs(evidence, shape)
    return answered("target", not wrong, wrong or f"of the kind {shape}, its source read")


def _of_runs(evidence: Evidence, shape: Shape) -> str:
    """Say what is wrong with low-order bits, types, the seed and the numbers of runs; empty if nothing is."""
    if evidence.low_bits not in (("ignore",) if shape is Shape.PROGRAM else ("ignore", "report", "verdict")):
        return f"low-order bits of a {shape} count for {evidence.low_bits!r}"
    if (evidence.floating_point is None) != (evidence.low_bits == "ignore") and _judged(evidence):
        return "low-order bits are examined, and nothing is said of them, or the other way round"
    if min(evidence.seed, evidence.learning, evidence.measuring) < 0:
        return "a seed and numbers of runs are not negative"
    return _types(evidence)


def _is_rewritten(target: records.Target) -> bool:
    return target.reading == "rewritten" or target.reading.startswith("rewritten; called in each run: ")


def _own_randomness(evidence: Evidence) -> bool:
    """Whether the runs depend on more than the seed, as those of opaque functions and some others do."""
    return any("own randomness" in it for it in evidence.assumptions)


def _assumptions(evidence: Evidence) -> CheckFinding:
    """Check that the assumptions follow from the kind of the target, the relation and what is observed."""
    asks, stated = evidence.target.asks, evidence.assumptions
    if asks in RECORDED:
        design = "outputs" if evidence.scores is None else evidence.scores.design
        some = evidence.scores is not None and evidence.scores.canaries is not None
        design = SOME_CANARIES if some else design
        known = [ASSUMED[design]] if design.startswith("one-run") else [ASSUMED[design], (*ASSUMED[design], LOST)]
    else:
        declared = parse_relation(evidence.relation).kind == "declared"
        own = Shape(asks) is Shape.OPAQUE or (Shape(asks) is not Shape.PROGRAM and _own_randomness(evidence))
        own = _own_randomness(evidence) if _is_rewritten(evidence.target) else own
        known = [
            assumed(own, declared=declared, observed=bool(evidence.observed), repeated=repeated)
            for repeated in (False, True)
        ]
    holds = stated in known
    return answered("assumptions", holds, "; ".join(stated) if holds else f"what is assumed is: {'; '.join(known[0])}")


def _judged(evidence: Evidence) -> bool:
    return evidence.verdict is not records.Verdict.INVALID and bool(evidence.attempts)


def _pair(evidence: Evidence, number: int, pair: records.PairRecord) -> Iterator[CheckFinding]:
    """Yield findings for a pair whose data are in the file: their digests, and that they are neighbours."""
    if pair.origin not in ("mechanism", "given", "found", "made"):
        yield failing("pair", f"pair {number}: nothing comes from {pair.origin!r}")
    data = []
    for kept, shown, own in ((pair.data0, pair.shown0, pair.digest0), (pair.data1, pair.shown1, pair.digest1)):
        for dataset in [*([] if kept is None else [read_kept(kept)]), *_data_in(shown)]:
            if digest(dataset) != own:
                yield failing("pair", f"pair {number}: data that it shows have another digest")
                return
        data += [read_kept(kept)] if kept is not None else _data_in(shown)
    if len(data) < 2:
        said = f"pair {number}: its data are there by digest alone, so that nothing shows that they are neighbours"
        yield unchecked("pair", said, decides=False)
        return
    try:
        parse_relation(evidence.relation).check(*data)
    except UsageError as error:
        yield failing("pair", f"pair {number}: {error}")
    else:
        yield answered(
            "pair", True, f"pair {number}: the data have these digests, under the relation {evidence.relation}"
        )


def _data_in(text: str | None) -> list[Any]:
    """Return the data in a text, as the only member of a list; empty if the text does not show all of them."""
    try:
        return [] if text is None else [ast.literal_eval(text)]
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return []


# --- Can the fields of an audit be what they say, and do those agree that state one thing in two places? ---
#
# No bound follows from them: names, the shape of events, the cells of a histogram, the order of a curve of scores.
# Whoever reads a page takes them for what was seen, so that what contradicts itself is refused.

NAMES = ("stable", "rare", "counterexample", "sequential", "low-order bits")
"""What attempts are called; those of canaries say which are guessed."""

STAKES = ("stable", "rare", "unseen", "middle", "graded")
AXES = ("output", "score", "category")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LOW_BITS = "low-order bits"


def fields(evidence: Evidence) -> Iterator[CheckFinding]:
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
    if evidence.scores is not None and evidence.verdict is not records.Verdict.INVALID:
        yield _scores(evidence.scores)
    yield _recorded(evidence)
    for epoch in () if evidence.sequential is None else evidence.sequential.epochs:
        if other := {stake.name for stake in epoch.stakes} - {*STAKES}:
            yield f"no event that is bet on is called {min(other)!r:.40}"


def _attempt(title: str, attempt: records.Attempt) -> str:
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


def _histogram(histogram: records.Histogram) -> str:
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


def _form(cell: records.Cell) -> str | None:
    """The form of the outputs in a cell, as its label says; None where the label says another place."""
    low = "below" if cell.low is None else f"{cell.low:.4g} to"
    high = "and more" if cell.high is None else f"{cell.high:.4g}"
    if cell.low is not None and cell.high is not None and not cell.low < cell.high:
        return None
    place = f"{low} {high}"
    return cell.label.removesuffix(place) if cell.label.endswith(place) else None


def _scores(scores: records.Scores) -> str:
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
    if scores is None or scores.design != "independent" or evidence.verdict is records.Verdict.INVALID:
        return "" if evidence.learning >= 0 else "numbers of runs are not negative"
    learned = sum(round(SHARE * given) for given in scores.given if math.isfinite(given))
    whole, measured = sum(scores.given), sum(scores.measured)
    if evidence.learning != learned or measured > whole - learned:
        return f"{evidence.learning} and {measured} of {whole} scores chose the event and measured it"
    return ""


# --- Can the pair have been found as the file says? A search cannot be repeated without the data. ---

SOURCES = ("data", "domain", "given", "mechanism")


def searched(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield a finding for how the pair was found."""
    search = evidence.search
    is_searched = any(pair.origin == "found" for pair in evidence.pairs)
    if search is None:
        if is_searched and evidence.trace is not None and evidence.trace.found:
            said = f"{evidence.trace.found!r} was found by a trace of {evidence.trace.tried} pairs"
            yield unchecked("search", f"{said}; only a replay shows that it was", decides=False)
        elif is_searched and evidence.verdict is not records.Verdict.INVALID:
            yield failing("search", "a pair is called found, and nothing says how")
        return
    wrong = _impossible_search(search) or _data(search)
    if not wrong and not (is_searched and len(evidence.pairs) == 1):
        wrong = "a search finds one pair, and measures no other"
    if wrong:
        yield failing("search", wrong)
        return
    said = f"{search.found!r} of {search.candidates} pairs, by {search.runs} runs that no bound looks at, can have been"
    yield unchecked("search", f"{said}; only a replay shows that it was", decides=False)


def _impossible_search(search: records.Search) -> str:
    """Say what is impossible; empty if nothing is wrong."""
    if search.source not in SOURCES:
        return f"nothing is searched for in {search.source!r}"
    if not 0 <= search.raised < max(search.candidates, 1) or min(search.runs, search.shrunk) < 0:
        return "its numbers of pairs and of runs cannot be"
    known = search.climbed is not None or (bool(search.tried) and search.tried[0].name == search.found)
    if not known or len(search.tried) > search.candidates:
        return "what was found is not the best of what was tried"
    predicted = [one.predicted for one in search.tried]
    if any(map(math.isnan, predicted)) or any(a < b for a, b in pairwise(predicted)):
        return "the pairs that were tried do not stand in their order"
    if sum(one.runs for one in search.tried) > search.runs or any(one.runs < 0 for one in search.tried):
        return "single pairs were run more often than all of them"
    if search.records is not None and (not search.shrunk or min(search.records) < 0):
        return "a pair that was not made simpler has no size of its own"
    made = search.source in ("data", "domain")
    if not made and (search.shrunk or search.domain is not None or search.climbed is not None):
        return "only pairs that are made have a domain and simpler neighbours"
    if (search.data is None) != (search.source in ("mechanism", "domain")) or (search.beyond and search.domain is None):
        return "its data, or their domain, are not what its source says"
    if (search.led is None) != (search.replayed == 0) or search.replayed < 0 or (search.led and not made):
        return "what a replay found, and its runs, cannot be"
    if search.led is not None:
        from dpaudit.tracing.pair import LEADS

        if search.led not in LEADS:
            return f"{search.led!r} is no lead"
    if search.source == "domain" and search.domain is None:
        return "it searches over a domain, and names none"
    return ""


def _data(search: records.Search) -> str:
    try:
        if search.domain is not None:
            read_kept(search.domain)
        if search.kept is not None and digest(read_kept(search.kept)) != search.data:
            return "the data that it keeps have another digest"
    except UsageError as error:
        return str(error)
    return ""
