"""Do sampled bounds follow from their counts, and that of a sequential audit from its bets?

Every bound is recomputed from its counts, every count compared with the number of runs, and the headline and the
smallest detectable violation are derived again. For every epoch and event of a sequential audit, the file contains the
counts of the past and of the epoch's own runs, which determine the wealth. It cannot show that these runs were read in
their order, or that the events were chosen on earlier runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from dpaudit.auditing.verdict import RECORDED, TwoLooks, headline_of
from dpaudit.checker.bounds import Hits, Notion, TooLongError, second_bound
from dpaudit.evidence import build, records
from dpaudit.evidence.event import DATASETS, Trees
from dpaudit.evidence.evidence import Evidence
from dpaudit.privacy import ApproxDP, Claim, GaussianDP, PureDP, parse_claim
from dpaudit.report.text.phrases import COUNTEREXAMPLE
from dpaudit.review.check.finding import DIGITS, CheckFinding, agrees, answered, failing, unchecked
from dpaudit.stats.e_process import foresee_sequential, log_wealth, sequential_bound
from dpaudit.stats.joint_region import ConfidenceRegion, lower_bound
from dpaudit.stats.methods import SEQUENTIAL, method_of
from dpaudit.stats.renyi import about, delta_at_least, fnr_at_most, mu_at_least, region_of_bound
from dpaudit.stats.two_looks import Detectable, FirstLook, LooksRule, first_look, foresee, second_look, second_method

_SEARCHED = 2e-3  # relative; the accuracy of the search for it


def check_bets(evidence: Evidence, sequential: records.Sequential) -> Iterator[CheckFinding]:
    """Yield a finding for everything that follows from the bets."""
    notion = evidence.claimed or PureDP(0.0)
    wrong = _impossible_bets(evidence, sequential)
    if wrong:
        yield failing("bets", wrong)
        return
    bound, pairs, error = evidence.attempts[0].bound, len(evidence.pairs), 1 - evidence.confidence
    enough = error if evidence.false_alarm is None else evidence.false_alarm
    wealth = log_wealth(sequential.epochs, pairs, notion)
    said = f"the bets leave a log wealth of {wealth:.6g}"
    yield answered("wealth", agrees(wealth, sequential.log_wealth, 1e3 * DIGITS), said)
    again = records.round_outward(sequential_bound(sequential.epochs, pairs, notion, error), "lower")
    refuted = again if enough == error else sequential_bound(sequential.epochs, pairs, notion, enough)
    stopped = evidence.claimed is not None and refuted > notion.value
    holds = agrees(again, bound.value) and stopped == sequential.stopped
    yield answered("bound", holds, f"{len(sequential.epochs)} epochs of bets reject up to {again:.10g}")
    yield _runs_of_bets(evidence, sequential)
    if evidence.claimed is None:
        yield answered("power", evidence.detectable is None, "nothing was to be found")
        return
    limit = _limit(evidence)
    foreseen = foresee_sequential(sequential.epochs, limit, pairs, notion, enough)
    stated = evidence.detectable
    holds = stated is not None and agrees(foreseen.value, stated, _SEARCHED)
    holds = holds and foreseen.where == evidence.detectable_on and not evidence.power
    said = f"{notion.symbol} of {foreseen.value:.6g} would have been found with probability 0.9"
    yield answered("power", holds, said)


def _impossible_bets(evidence: Evidence, sequential: records.Sequential) -> str:
    """Say what is impossible, before anything is computed; empty if nothing is wrong."""
    if len(evidence.attempts) != 1 or evidence.attempts[0].bound.method != SEQUENTIAL:
        return "a sequential audit has one attempt, by bets"
    bound, notion = evidence.attempts[0].bound, evidence.claimed or PureDP(0.0)
    if evidence.attempts[0].pair != bound.pair:
        return "its attempt and its bound are about different pairs"
    if (bound.notion, bound.delta, bound.parameter) != (str(notion), notion.delta, notion.parameter):
        return f"it bounds {bound.parameter} of {bound.notion}, and the claim is {notion}"
    if bound.confidence != evidence.confidence or not 0 < bound.confidence < 1 or bound.weight is not None:
        return "its confidence is to be that of the whole, and it has no weight"
    for pair in range(len(evidence.pairs)):
        wrong = _disordered(
            [epoch for epoch in sequential.epochs if epoch.pair == pair], isinstance(notion, GaussianDP)
        )
        if wrong:
            return wrong
    if {epoch.pair for epoch in sequential.epochs} not in (set(), set(range(len(evidence.pairs)))):
        return "bets are made on all pairs of the evidence, and on no other"
    if bound.event is None:
        return "" if bound.counts is None else "counts stand there without an event"
    last = [epoch for epoch in sequential.epochs if epoch.pair == bound.pair][-1:]
    stakes = [stake for epoch in last for stake in epoch.stakes if stake.event == str(bound.event)]
    if not any(bound.counts in (None, stake.own) for stake in stakes):
        return "the event that is shown, or its counts, are not those of the last epoch"
    return ""


def _disordered(epochs: Sequence[records.Epoch], may_grade: bool) -> str:
    """Say what is wrong with the epochs of a pair: the past of each must be exactly the runs before it."""
    so_far: tuple[int, int] | None = None
    graded = may_grade and any(stake.own.bins is not None for epoch in epochs for stake in epoch.stakes)
    for epoch in epochs:
        if not epoch.stakes:
            return "an epoch has no event"
        if wrong := _misgraded(epoch.stakes, graded):
            return wrong
        own = epoch.stakes[0].own.runs
        for stake in epoch.stakes:
            if not (_counts_add_up(stake.past, stake.speaks) and _counts_add_up(stake.own, stake.speaks)):
                return "more runs point to a dataset than were made, or some to one that the event does not name"
            if stake.own.runs != own or stake.past.runs != epoch.stakes[0].past.runs:
                return "events of one epoch were counted on different runs"
        past = epoch.stakes[0].past.runs
        if so_far is not None and past != so_far:
            return "an epoch knows other runs than those before it"
        so_far = past[0] + own[0], past[1] + own[1]
    return ""


def _misgraded(stakes: Sequence[records.Stake], graded: bool) -> str:
    """Say what is wrong with degrees: they are those of the last event of every epoch, or there are none."""
    expected = [False] * (len(stakes) - 1) + [graded]
    told = [(stake.past.bins is not None, stake.own.bins is not None) for stake in stakes]
    if told != [(each, each) for each in expected]:
        return "degrees are bet on in the last event of every epoch or in none, and for a claim of μ alone"
    if not graded:
        return ""
    bins = [*(stakes[-1].past.bins or ()), *(stakes[-1].own.bins or ())]
    runs = (*stakes[-1].past.runs, *stakes[-1].own.runs)
    if len(stakes) < 2 or len({len(side) for side in bins}) > 1 or any(min(side, default=-1) < 0 for side in bins):
        return "the degrees of an event are counted differently before the epoch and in it"
    return "" if tuple(map(sum, bins)) == runs else "the degrees of an event do not add up to its runs"


def _counts_add_up(counts: records.Counts, speaks: tuple[bool, bool]) -> bool:
    filled = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    said = zip(speaks, (counts.toward0, counts.toward1), strict=True)
    named = all(names or not any(toward) for names, toward in said)
    return named and all(min(a, b) >= 0 and a + b <= runs for runs, a, b in filled)


def _runs_of_bets(evidence: Evidence, sequential: records.Sequential) -> CheckFinding:
    looked, own = sequential.looked, sum(sum(epoch.stakes[0].own.runs) for epoch in sequential.epochs)
    firsts = {epoch.pair: sum(epoch.stakes[0].past.runs) for epoch in reversed(sequential.epochs)}
    known = len(firsts) < len(evidence.pairs) or sum(firsts.values()) + looked == evidence.learning
    holds = own == evidence.measuring and known and (looked == 0 or (looked > 0 and sequential.stopped))
    holds = holds and evidence.learning + evidence.measuring - looked <= _limit(evidence)
    return answered("runs", holds, f"{own} runs were bet on, and {evidence.measuring} are stated")


def _limit(evidence: Evidence) -> int:
    """Return the largest number of runs that could have been bet on."""
    limit = evidence.budget
    return limit - (0 if evidence.search is None else evidence.search.runs)


# --- Is a bound above the claim a violation under the rule of two looks? Both looks are recomputed from their counts.


def rule_of(evidence: Evidence) -> LooksRule | None:
    """Return the rule by which a bound above the claim is a violation; None if any such bound is."""
    if evidence.false_alarm is None or evidence.claim is None:
        return None
    again = evidence.sequential is None and evidence.target.asks not in RECORDED
    return LooksRule(1 - evidence.confidence, evidence.false_alarm, again)


def _is_possible(rule: LooksRule) -> bool:
    return 0 < rule.false_alarm < rule.error < 1


def planned_share(evidence: Evidence) -> float:
    """Return the share of the error level at which a single look detects as much as the rule."""
    rule = rule_of(evidence)
    return 1.0 if rule is None else rule.planned / rule.error


def is_certain(evidence: Evidence) -> bool:
    """Whether the claim is exceeded without sampling, or against a proof, which has its own second look."""
    exact, upper, claim = evidence.exact, evidence.upper, evidence.claimed
    if evidence.proof is None or claim is None:
        return False
    real = [attempt.bound.value for attempt in evidence.attempts if attempt.bound.arithmetic == "real"]
    most = max(real, default=0.0)
    known = exact is not None and exact.value >= most
    return known or most <= claim.value or (upper is not None and most > upper.value)


def looks_of(evidence: Evidence) -> TwoLooks | None:
    """Return the result of both looks: the first from the counts, the second as stated (`check_looks` checks it)."""
    rule, claim = rule_of(evidence), evidence.claimed
    if rule is None or claim is None or not evidence.attempts or not _is_possible(rule):
        return None
    if is_certain(evidence):
        return TwoLooks(rule, None)
    if evidence.sequential is not None:
        stopped, above = evidence.sequential.stopped, evidence.lower.value > claim.value
        return TwoLooks(rule, FirstLook(0, "real", rule.at_once if stopped else rule.error, stopped) if above else None)
    deciding = [
        (number, attempt.bound)
        for number, attempt in enumerate(evidence.attempts)
        if attempt.bound.counts is not None and (attempt.bound.arithmetic == "real" or evidence.low_bits == "verdict")
    ]
    return TwoLooks(rule, first_look(rule, deciding, claim), evidence.second)


def check_looks(
    evidence: Evidence, impossible: Callable[[Evidence, records.Bound, records.Counts], str]
) -> Iterator[CheckFinding]:
    """Yield a finding for the stated false alarm probability, and for the second look.

    ``impossible`` says what is impossible in a counted bound; empty if nothing is wrong.
    """
    rule, second, claim = rule_of(evidence), evidence.second, evidence.claimed
    if rule is None:
        if second is not None or evidence.false_alarm is not None:
            yield failing("second look", "there is a second look, or a false alarm, and nothing that asks for it")
        return
    if not _is_possible(rule):
        yield failing("second look", f"a false alarm of {rule.false_alarm} asks for no other look than one")
        return
    looks = looks_of(evidence)
    first = None if looks is None else looks.first
    due = first is not None and not first.sure and rule.twice and evidence.verdict is not records.Verdict.INVALID
    if second is None or not due:
        holds = second is None and not due
        said = f"{'one' if due else 'none'} was due, and there is {'none' if second is None else 'one'}"
        yield answered("second look", holds, said)
        return
    assert first is not None and claim is not None
    bound = evidence.attempts[first.attempt].bound
    method, runs = second_method(bound)
    stated = (second.attempt, second.p, second.method, sum(second.counts.runs))
    if stated != (first.attempt, first.p, method, runs):
        said = f"attempt {first.attempt}, at p = {first.p:.6g}, by {method} bounds on {runs} runs"
        yield failing("second look", f"the first look asks for another one: {said}")
        return
    wrong = impossible(evidence, msgspec.structs.replace(bound, method=method), second.counts)
    if wrong:
        yield failing("second look", wrong)
        return
    again = second_look(rule, first, bound, second.counts, claim)
    holds = agrees(again.value, second.value) and agrees(again.level, second.level, DIGITS)
    holds = holds and second.confirmed == (second.value > claim.value)
    said = f"its counts give {again.value:.10g} at the error level {again.level:.4g}"
    yield answered("second look", holds, said if holds else f"{said}, and something else is stated")


# --- Do sampled bounds follow from their counts? ---

_SECOND_DIGITS = 1e-6  # relative, for a bound that is computed in another way
_POWER_DIGITS = 1e-6  # relative, for the detectable violation
_ROUGH_DIGITS = 2e-2  # the same for evidence without power, where it was computed by another rule
_FORESEEN = 1e-9  # relative; numbers of runs are rounded to 2 digits, so this only absorbs float noise
_LOW_BITS_SHARE = 0.2  # of the error, if low-order bits decide too; the share that audits give them


def sampled(evidence: Evidence, *, second: bool = True) -> Iterator[CheckFinding]:
    """Yield a finding for everything that follows from counts; ``second``: by other means too."""
    sequential = evidence.sequential
    if sequential is not None:
        yield from check_bets(evidence, sequential)
    else:
        for number, attempt in enumerate(evidence.attempts):
            yield from _counted(evidence, number, attempt, second=second)
        yield _runs(evidence)
    yield _errors(evidence)
    yield _headline(evidence)
    if evidence.floating_point is not None:
        yield _low_bits(evidence)
    if evidence.histogram is not None:
        yield from _histogram(evidence)
    yield from check_looks(evidence, impossible)
    if sequential is None:
        yield _power(evidence)
    yield from _scores(evidence)


def _scores(evidence: Evidence) -> Iterator[CheckFinding]:
    """Look at what scores show besides the bound, where anything is said of scores or of recorded data."""
    if evidence.target.asks in RECORDED or evidence.scores is not None:
        from dpaudit.auditing.canaries import recomputed

        for holds, sentence in recomputed(evidence):
            yield answered("scores", holds, sentence)


# --- one bound --------------------------------------------------------------------------------------------


def _counted(evidence: Evidence, number: int, attempt: records.Attempt, *, second: bool) -> Iterator[CheckFinding]:
    bound, title = attempt.bound, f"attempt {number} ({attempt.name})"
    counts = bound.counts
    wrong = _misplaced(evidence, attempt)
    if counts is None:
        wrong = wrong or ("" if bound.value == 0 else "a bound without counts")
        yield answered("bound", not wrong, f"{title}: {wrong or 'nothing was counted'}")
        return
    wrong = wrong or impossible(evidence, bound, counts)
    if wrong:
        yield failing("bound", f"{title}: {wrong}")
        return
    claim, error = parse_claim(bound.notion), 1 - bound.confidence
    try:
        value = lower_bound(bound.method, counts, claim=claim, weight=bound.weight, error=error)
    except (ValueError, ArithmeticError) as problem:
        yield failing("bound", f"{title}: {problem}")
        return
    again = records.round_outward(value, "lower")
    holds = agrees(again, bound.value)
    said = f"{title}: its counts give {again:.10g}"
    yield answered("bound", holds, said if holds else f"{said}, and it states {bound.value:.10g}")
    if second:
        yield from second_opinion(title, bound, counts, claim)


def second_opinion(title: str, bound: records.Bound, counts: records.Counts, claim: Claim) -> Iterator[CheckFinding]:
    """Yield whether the same bound is found in another way, without SciPy, where there is one for the method."""
    hits = Hits(counts.runs, counts.toward0, counts.toward1)
    notion = Notion(claim.parameter, claim.delta, claim.numbers.get("order"))
    weight = bound.weight if isinstance(bound.weight, float) else None
    try:
        value = second_bound(bound.method, hits, notion, weight, 1 - bound.confidence)
    except TooLongError as error:
        yield unchecked("second opinion", f"{title}: {error} takes too long", decides=False)
        return
    if value is not None:
        holds = agrees(value, bound.value, _SECOND_DIGITS)
        yield answered("second opinion", holds, f"{title}: computed in another way, it is {value:.7g}")


def _notion(evidence: Evidence) -> Claim:
    """Return the privacy notion that is bounded: the claim's; without a claim ε, for recorded data perhaps at a δ."""
    if evidence.claimed is None and evidence.target.asks in RECORDED:
        return ApproxDP(0.0, evidence.lower.delta) if evidence.lower.delta > 0 else PureDP(0.0)
    return evidence.claimed or PureDP(0.0)


def _misplaced(evidence: Evidence, attempt: records.Attempt) -> str:
    """Say what is wrong with a sampled bound before its counts are considered; empty if nothing is."""
    bound = attempt.bound
    if (bound.side, bound.kind, bound.exact) != ("lower", "sampled", None):
        return "what was sampled is a lower bound, and this one says something else of itself"
    if bound.pair != attempt.pair or not 0 <= attempt.pair < len(evidence.pairs):
        return "it is of no pair of this evidence"
    if bound.arithmetic not in ("real", "float") or (bound.arithmetic == "float" and evidence.low_bits == "ignore"):
        return f"its arithmetic is called {bound.arithmetic!r}, and low-order bits count for {evidence.low_bits!r}"
    if bound.assumes != evidence.assumptions:
        return "it assumes something else than the evidence"
    rules = () if bound.event is None else bound.event.rules
    if evidence.learn is None and any(isinstance(rule.score, Trees) for rule in rules):
        return "its event has learned trees, and no learner is named"
    return ""


def impossible(evidence: Evidence, bound: records.Bound, counts: records.Counts) -> str:
    """Say what is impossible in a counted bound, before anything is computed; empty if nothing is wrong."""
    notion = _notion(evidence)
    if bound.notion != str(notion) or bound.delta != notion.delta or bound.parameter != notion.parameter:
        return f"it bounds {bound.parameter} of {bound.notion}, and the claim is {notion}"
    method = method_of(bound.method)
    graded = method.weights == "bins"
    weights = bound.weight if isinstance(bound.weight, tuple) else () if bound.weight is None else (bound.weight,)
    stepped = method.weights == "steps"
    if not 0 < bound.confidence < 1 or not (stepped or all(0 < weight < 1 for weight in weights)):
        return "its confidence and its weight are to lie between 0 and 1"
    if stepped:
        if isinstance(bound.weight, float) or (bound.weight is None) != (counts.bins is None):
            return "guesses of several steps have numbers, values and blocks of ranks, and others have none"
        graded = bound.weight is not None
    elif isinstance(bound.weight, tuple) != graded or (len(weights) == 1) != (method.weights == "one"):
        return "a joint bound has a weight, a multinomial one has many, and no other has one"
    if (counts.bins is not None) != graded or (graded and not stepped and not _bins_add_up(bound, counts)):
        return "its bins are not those of its event, or do not hold all runs"
    filled = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    if any(min(a, b) < 0 or a + b > runs or runs < 1 for runs, a, b in filled):
        return "more runs point to a dataset than were made"
    if method.sides == "one" and any(counts.toward0) and any(counts.toward1):
        return "an event of one dataset points to both"
    if method.sides == "both" and not _speaks_for_both(bound):
        return "an event of both datasets points to one"
    if method.canaries:
        return "" if bound.event is None else "guesses by rank have no event that was fixed"
    if bound.event is None:
        return "it counts an event, and has none"
    for side, guesses in enumerate((counts.toward0, counts.toward1)):
        if any(guesses) and not bound.event.toward(side):
            return f"no output of its event points to {DATASETS[side]}, and some were counted"
    return ""


def _speaks_for_both(bound: records.Bound) -> bool:
    """Whether outputs speak for either side (even if none occurred), or there is only one output."""
    if bound.event is None or (bound.event.toward(0) and bound.event.toward(1)):
        return True
    return all(label != 0 for rule in bound.event.rules for label in rule.labels)  # a single output speaks for a side


def _bins_add_up(bound: records.Bound, counts: records.Counts) -> bool:
    """Whether there is a count for every degree of the event, and they add up to the other counts."""
    if bound.event is None or counts.bins is None:
        return False
    most, least = bound.event.degrees
    return all(
        len(bins) == most - least
        and min(bins) >= 0
        and sum(bins) == runs
        and sum(bins[:most]) == toward0
        and sum(bins[most:]) >= toward1
        for bins, runs, toward0, toward1 in zip(counts.bins, counts.runs, counts.toward0, counts.toward1, strict=True)
    )


# --- all of them ------------------------------------------------------------------------------------------


def _runs(evidence: Evidence) -> CheckFinding:
    """Check that all measuring runs are counted: every attempt on a pair uses the same runs, except the counterexample.

    Every pair that the file names must have been measured.
    """
    measured: dict[tuple[int, bool], set[tuple[int, int]]] = {}
    for each in evidence.attempts:
        if each.bound.arithmetic == "real" and each.bound.counts is not None:
            measured.setdefault((each.pair, each.name == COUNTEREXAMPLE), set()).add(each.bound.counts.runs)
    tried = {each.pair for each in evidence.attempts if each.bound.arithmetic == "real"}
    missing = [str(pair) for pair in range(len(evidence.pairs)) if evidence.attempts and pair not in tried]
    if missing:
        return failing("runs", f"the evidence names pairs on which nothing was measured: {', '.join(missing)}")
    alike = all(len(runs) == 1 for runs in measured.values())
    counted = sum(sum(runs) for each in measured.values() for runs in each)
    holds = (alike and counted == evidence.measuring) or evidence.verdict is records.Verdict.INVALID
    return answered("runs", holds, f"{counted} runs are counted, and {evidence.measuring} were measured")


def _errors(evidence: Evidence) -> CheckFinding:
    """Check that the error probabilities of all bounds add up to that of the whole audit."""
    real, low = (
        sum(1 - each.bound.confidence for each in evidence.attempts if each.bound.arithmetic == kind)
        for kind in ("real", "float")
    )
    allowed = 1 - evidence.confidence
    decides = evidence.low_bits == "verdict"  # otherwise the bound on low-order bits has the confidence to itself
    shares = [1 - _LOW_BITS_SHARE] if decides else [1.0]
    spent = real + low if decides else max(real, low)
    holds = 0 < evidence.confidence < 1 and spent <= allowed * (1 + DIGITS) + DIGITS
    if evidence.attempts:
        holds = holds and any(agrees(real, share * allowed) for share in shares)
    return answered("confidence", holds, f"the attempts err with at most {spent:.4g}, {evidence.confidence} is stated")


def _headline(evidence: Evidence) -> CheckFinding:
    shown = _bounds_at_confidence(evidence, "real")
    exact, upper, stated = evidence.exact, evidence.upper, evidence.lower
    best = max(shown, key=lambda bound: bound.value, default=None)
    if best is None and exact is None:
        holds = stated == _nothing(evidence, "real")
    elif best is None or (exact is not None and exact.value >= best.value):
        holds = stated == exact
    else:
        bounds = [attempt.bound for attempt in evidence.attempts if attempt.bound.arithmetic == "real"]
        decided = headline_of(bounds, evidence.confidence, looks_of(evidence), evidence.claimed)
        known = exact is not None and exact.value >= decided.value
        holds = stated == best or (stated == exact if known else _same_bound(stated, decided))
        if upper is not None and best.value > upper.value:  # by chance, since a second look did not confirm it
            holds |= stated == (exact or msgspec.structs.replace(best, value=0.0))
    how = "is" if holds else "is not"
    return answered("headline", holds, f"the headline's lower bound {stated.value:.10g} {how} the best that was shown")


def _low_bits(evidence: Evidence) -> CheckFinding:
    shown = _bounds_at_confidence(evidence, "float")
    stated = evidence.floating_point
    assert stated is not None
    best = max(shown, key=lambda bound: bound.value, default=_nothing(evidence, "float"))
    holds = stated == best
    if shown and evidence.low_bits == "verdict":
        bounds = [attempt.bound for attempt in evidence.attempts if attempt.bound.arithmetic == "float"]
        decided = headline_of(bounds, evidence.confidence, looks_of(evidence), evidence.claimed)
        holds = holds or _same_bound(stated, decided)
    how = "is" if holds else "is not"
    return answered("low-order bits", holds, f"their lower bound {stated.value:.10g} {how} the best that was shown")


def _same_bound(stated: records.Bound, again: records.Bound) -> bool:
    """Whether two bounds are the same but for the last digits of a value that was computed again."""
    return stated == msgspec.structs.replace(again, value=stated.value) and agrees(again.value, stated.value)


def _bounds_at_confidence(evidence: Evidence, arithmetic: str) -> list[records.Bound]:
    """Return the bounds of the attempts, at the confidence of the whole audit."""
    bounds = [attempt.bound for attempt in evidence.attempts]
    return [build.at_whole(bound, evidence.confidence) for bound in bounds if bound.arithmetic == arithmetic]


def _nothing(evidence: Evidence, arithmetic: str) -> records.Bound:
    """Return the bound when nothing was measured."""
    return build.no_bound(_notion(evidence), evidence.confidence, arithmetic)


def _histogram(evidence: Evidence) -> Iterator[CheckFinding]:
    """Check that every run in the histogram is in one of its cells, and was measured."""
    histogram = evidence.histogram
    assert histogram is not None
    cells, pair = histogram.cells, histogram.pair
    filled = sum(cell.count0 for cell in cells), sum(cell.count1 for cell in cells)
    holds = filled == histogram.runs and all(min(cell.count0, cell.count1) >= 0 for cell in cells)
    own = [
        each.bound
        for each in evidence.attempts
        if each.pair == pair and each.bound.counts is not None and each.name != COUNTEREXAMPLE
    ]
    for bound in own:
        assert bound.counts is not None
        same = bound.arithmetic == "float"  # counted on the same runs as the histogram
        pairs = zip(histogram.runs, bound.counts.runs, strict=True)
        holds = holds and all(a == b if same else a <= b for a, b in pairs)
    shown = [each for each in evidence.attempts if each.bound.arithmetic == "real" and each.name != COUNTEREXAMPLE]
    holds = holds and pair == max(shown, key=lambda each: each.bound.value).pair
    if histogram.exact is not None:
        holds = holds and all(_are_probabilities(side, len(cells)) for side in histogram.exact)
    said = f"{filled[0]} and {filled[1]} runs lie in its cells, of {histogram.runs[0]} and {histogram.runs[1]}"
    yield answered("histogram", holds, said)
    if holds and histogram.exact is not None:
        said = "the law that it shows beside the counts is the mechanism's own word; no verdict rests on it"
        yield unchecked("histogram", said, decides=False)


def _are_probabilities(stated: Sequence[float], cells: int) -> bool:
    """Whether a stated law has a probability for each cell, rounded to 10 decimals, with a sum of at most 1."""
    return len(stated) == cells and all(0 <= each <= 1 for each in stated) and sum(stated) <= 1 + 1e-10 * (cells + 1)


# --- what would have been found ---------------------------------------------------------------------------


def _power(evidence: Evidence) -> CheckFinding:
    claim = evidence.claimed
    real = [
        each
        for each in evidence.attempts
        if each.bound.arithmetic == "real" and each.name != COUNTEREXAMPLE and each.bound.counts is not None
    ]
    stated, where = evidence.detectable, evidence.detectable_on
    if claim is None or not real:
        holds = stated is None and where == "event" and not evidence.power
        return answered("power", holds, "nothing was to be found" if holds else f"{stated} could not have been found")
    if any(method_of(each.bound.method).canaries for each in real):
        from dpaudit.auditing.canaries import foresee_guesses

        again = Detectable(foresee_guesses(claim, real, planned_share(evidence)), "event", ())
    else:
        again = foresee(claim, real, evidence.learning, planned_share(evidence))
    accuracy = _POWER_DIGITS if evidence.power else _ROUGH_DIGITS
    holds = stated is not None and agrees(records.round_outward(again.value, "upper"), stated, accuracy)
    holds = holds and (where == again.where or again.value == math.inf) and _alike(again.smaller, evidence.power)
    said = f"{claim.symbol} of {again.value:.6g} would have been found with probability 0.9"
    return answered("power", holds, said if holds else f"{said} (by: {again.where}), and something else is stated")


def _alike(again: Sequence[records.Power], stated: Sequence[records.Power]) -> bool:
    """Whether the runs for smaller violations are as stated, where any are."""
    return not stated or (
        len(again) == len(stated)
        and all(
            agrees(own.value, other.value, _POWER_DIGITS) and agrees(own.runs, other.runs, _FORESEEN)
            for own, other in zip(again, stated, strict=True)
        )
    )


# --- Does the privacy curve follow from the counts of its statements? ---


def curve(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield a finding for every statement of the curve, for their confidence, and for the points of the curve."""
    curve_stated = evidence.curve
    if curve_stated is None:
        return
    regions = []
    for number, bound in enumerate(curve_stated.statements):
        title = f"curve, statement {number} ({bound.parameter}, {bound.notion})"
        wrong = _impossible(evidence, bound)
        if wrong:
            yield failing("curve", f"{title}: {wrong}")
            return
        regions.append(region_of_bound(bound))
        again = records.round_outward(float(regions[-1].least(about(bound.parameter, bound.notion).least)), "lower")
        yield answered("curve", agrees(again, bound.value), f"{title}: its counts give {again:.10g}")
    spent = sum(1 - bound.confidence for bound in curve_stated.statements)
    holds = (
        curve_stated.confidence == evidence.confidence
        and spent <= (1 - curve_stated.confidence) * (1 + DIGITS) + DIGITS
    )
    yield answered("curve", holds, f"its statements err with at most {spent:.4g}, {curve_stated.confidence} is stated")
    yield _points(curve_stated, regions)


def _impossible(evidence: Evidence, bound: records.Bound) -> str:
    """Say what is impossible in a counted statement; empty if nothing is wrong."""
    said = bound.side, bound.kind, bound.arithmetic, bound.delta, bound.exact
    if said != ("lower", "sampled", "real", 0.0, None) or bound.assumes != evidence.assumptions:
        return "it is a lower bound from counts, and says something else of itself"
    method = method_of(bound.method)
    if not method.whole_curve or not isinstance(bound.weight, float) or not 0 < bound.weight < 1:
        return f"a statement is bounded by a joint method with a weight, not by {bound.method!r}"
    if bound.pair is None or not 0 <= bound.pair < len(evidence.pairs) or not 0 < bound.confidence < 1:
        return "it is of no pair of this evidence, or of no confidence"
    counts, event = bound.counts, bound.event
    if counts is None or event is None:
        return "nothing was counted"
    filled = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    if counts.bins is not None or any(min(a, b) < 0 or a + b > runs or runs < 1 for runs, a, b in filled):
        return "more runs point to a dataset than were made"
    if any(any(hits) and not event.toward(side) for side, hits in enumerate((counts.toward0, counts.toward1))):
        return "no output of its event points to a dataset, and some were counted"
    if method.sides == "one" and event.toward(0) and event.toward(1):
        return "an event of one dataset points to both"
    measured = {each.bound.counts.runs for each in evidence.attempts if each.pair == bound.pair and each.bound.counts}
    return "" if counts.runs in measured else "it counts other runs than the attempts on its pair"


def _points(curve_stated: records.Curve, regions: Sequence[ConfidenceRegion]) -> CheckFinding:
    """Check that every point is what the regions show, and that the points are in order and at the right places."""
    ordered = all(
        list(at) == sorted(set(at)) and min(at, default=0.0) >= 0 for at in (curve_stated.epsilons, curve_stated.fprs)
    )
    if not ordered or max(curve_stated.fprs, default=0.0) > 1:
        return failing("curve", "its points do not stand in order, or lie outside of what can be asked")
    deltas, fnrs = delta_at_least(regions, curve_stated.epsilons), fnr_at_most(regions, curve_stated.fprs)
    holds = len(deltas) == len(curve_stated.deltas) and len(fnrs) == len(curve_stated.fnrs)
    holds = holds and all(
        agrees(records.round_outward(float(value), "lower"), said)
        for value, said in zip(deltas, curve_stated.deltas, strict=True)
    )
    holds = holds and all(
        agrees(records.round_outward(float(value), "upper"), said)
        for value, said in zip(fnrs, curve_stated.fnrs, strict=True)
    )
    holds = holds and agrees(records.round_outward(mu_at_least(regions), "lower"), curve_stated.mu)
    said = f"its {len(curve_stated.deltas)} values of δ, {len(curve_stated.fnrs)} of fnr and μ"
    return answered("curve", holds, f"{said} {'follow' if holds else 'do not follow'} from the statements")
