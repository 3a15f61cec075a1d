"""Do certain bounds follow from their proofs?

Every kind of proof checks its own record (`dpaudit.verify.proofs`), with certificates by `dpaudit.checker`; the
probabilities of a counterexample are recomputed from its tree by exact integration
(`dpaudit.review.check.certain`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal

from dpaudit.auditing.verdict import LEAK, TRACE
from dpaudit.checker.reading import rational
from dpaudit.decimals import Enclosure, limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence import build, further_records, records
from dpaudit.evidence.event import DATASETS, Box, Event, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.neighbours.digest import digest
from dpaudit.privacy import Claim, PureDP
from dpaudit.program.laws import BY_TITLE
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import Output, ProgramPath, ProgramTree
from dpaudit.review.check.finding import CheckFinding, answered, failing, unchecked
from dpaudit.review.check.stated import fraction
from dpaudit.tracing.certain import CertainStep, loss_of
from dpaudit.tracing.pair import WORDS, Word
from dpaudit.verify.certificate import VALUES, WITNESS, WITNESS_VERSION, rounded
from dpaudit.verify.counterexample import read_output
from dpaudit.verify.differences import classes, merge
from dpaudit.verify.forest_probability import probability
from dpaudit.verify.proofs import KINDS, answers, check_proof
from dpaudit.verify.proofs.kind import UNREADABLE, NotShownError, unlike_target

# --- How likely is the event of a counterexample, according to the tree in the file? ---
#
# The tree is read by the reader of certificates. Every leaf whose output has the form of the event adds the probability
# of its conditions and the limits on its numbers, by exact integration
# (`dpaudit.verify.forest_probability`). If the conditions of the paths with one output form a cycle of
# draws, their hull is tried.

_RECORD = {"format", "version", "mechanism", "scope", "nodes", "pair", "event", "probabilities", "epsilon"}


def misread(evidence: Evidence, counterexample: records.Counterexample) -> str:
    """Say what differs between a counterexample and the record that it was computed from; empty if nothing does."""
    record, given = counterexample.record, answers.scope_of(counterexample.record["scope"])
    if record.keys() != _RECORD or (record["format"], record["version"]) != (WITNESS, WITNESS_VERSION):
        return f"its record is none of the format {WITNESS!r}, version {WITNESS_VERSION}"
    pair = [[rational(value, "the pair") for value in data] for data in record["pair"]]
    answer = int if given.values == "integer" else float
    data = [[answer(value) for value in side] for side in pair]
    if [counterexample.data0, counterexample.data1] != list(map(repr, data)):
        return "its data are not those of its record"
    if counterexample.event != _event(record["event"]):
        return "its event is not that of its record"
    if [digest(side) for side in data] != [evidence.pairs[0].digest0, evidence.pairs[0].digest1]:
        return "its data are not the pair of the evidence"
    if record["scope"]["data"] != "queries" or given.values not in VALUES or len(data[0]) != given.length:
        return "its scope is not that of its data"
    if evidence.proof is not None and evidence.proof.method == "alignment":
        wrong = answers.unlike_scope(evidence, given)
    else:
        wrong = answers.unlike_relation(evidence, given)
    return wrong or unlike_target(evidence, record["mechanism"], given.parameters)


def _event(given: Mapping[str, Any]) -> Event:
    low, high = (tuple(map(_limit, given[side])) for side in ("low", "high"))
    if low:
        return Event("witness", (Rule(given["form"], Box(low, high), (0.5,), (0, 1)),))
    return Event("witness", (Rule(given["form"], None, (), (1,)),))


def _limit(text: str | None) -> float | None:
    return None if text is None else float(rational(text, "a limit"))


def event_probabilities(counterexample: records.Counterexample) -> tuple[Enclosure, Enclosure] | None:
    """Return the probabilities of the event on both sides; None if exact integration cannot compute them."""
    record = counterexample.record
    leaves = answers.leaves_of(record["nodes"], record["scope"]["length"])
    tree = ProgramTree((), tuple(leaves))
    first, second = (
        _probability(tree, record["event"], [rational(value, "the pair") for value in data]) for data in record["pair"]
    )
    return None if first is None or second is None else (first, second)


def _probability(tree: ProgramTree, event: Mapping[str, Any], data: Sequence[Fraction]) -> Enclosure | None:
    point = {f"q{place}": value for place, value in enumerate(data)}
    low = high = Fraction(0)
    for group in classes(tree):
        limits = _limits(group[0].output, event)
        if limits is None or not all(limit.holds({}) for limit in limits if limit.expression.is_constant):
            continue  # the event misses it whatever is drawn, so that its conditions need not be integrated
        share = _of_class(group, tree, limits, point)
        if share is None:
            return None
        low, high = low + share.low, high + share.high
    return Enclosure(low, min(high, Fraction(1)))


def _of_class(
    group: Sequence[ProgramPath], tree: ProgramTree, limits: Sequence[Constraint], point: Mapping[str, Fraction]
) -> Enclosure | None:
    alone = [probability(leaf.draws, [*leaf.conditions, *limits], point) for leaf in group]
    known = [each for each in alone if each is not None]
    if len(known) == len(alone):
        return Enclosure(
            sum((each.low for each in known), Fraction(0)), sum((each.high for each in known), Fraction(0))
        )
    merged = merge(group, tree) if len(group) > 1 else None
    return None if merged is None else probability(group[0].draws, [*merged.hull, *limits], point)


def _limits(output: Output, event: Mapping[str, Any]) -> list[Constraint] | None:
    """Return the conditions of the event on an output's numbers; None for an output of another form."""
    read = read_output(output)
    if read is None or read.form != event["form"]:
        return None
    return list(_within(read.numbers, event))


def _within(numbers: Sequence[Affine], event: Mapping[str, Any]) -> Iterator[Constraint]:
    for side, sign in (("low", 1), ("high", -1)):
        for number, text in zip(numbers, event[side], strict=bool(event[side])):
            if text is not None:
                yield Constraint((number - Affine({}, rational(text, "a limit"))).times(sign), ">=")


# --- Do certain bounds follow from their proofs? ---

_PLACES = Decimal("1e-18")  # for an exact bound, which has 20 decimals, from probabilities with 30 digits
_LAST = Decimal("1e-28")  # relative, for a probability, which has 30 digits
_PRECISE = Context(prec=60)


def certain(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield a finding for every statement that does not rest on sampling."""
    yield from _forms(evidence)
    proof, counterexample = evidence.proof, evidence.counterexample
    if evidence.trace is not None:
        yield from traced(evidence)
    elif counterexample is not None or (
        evidence.exact is not None and (proof is None or proof.method != "enumeration")
    ):
        yield _counterexample(evidence)
        if counterexample is not None:
            yield _probabilities(counterexample)
    if evidence.upper is not None or proof is not None:
        yield from _proof(evidence)


def _proof(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield what the proof shows, by the check that every kind of proof has."""
    kind = None if evidence.proof is None else KINDS.get(evidence.proof.method)
    title = "certificate" if kind is None else kind.title
    try:
        shown = check_proof(evidence)
    except NotShownError as error:
        yield failing(title, str(error))
        return
    for sentence in shown.sentences:
        yield answered(title, True, sentence)
    if shown.unseen:
        rests = evidence.upper is not None and evidence.verdict is not records.Verdict.VIOLATED
        yield unchecked(title, shown.unseen, decides=rests or evidence.counterexample is not None)


def _forms(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield a finding for a certain bound that is not marked as certain."""
    claim = evidence.claimed or PureDP(0.0)
    method = None if evidence.proof is None else evidence.proof.method
    above: Claim = claim if method in ("releases", "moves") else PureDP(0.0)
    kind = "exact" if method == "enumeration" else "proof"
    wanted: tuple[tuple[Literal["upper", "lower"], str, records.Bound | None, Claim], ...]
    wanted = (("upper", kind, evidence.upper, above), ("lower", "exact", evidence.exact, claim))
    for side, kind, bound, notion in wanted:
        if bound is None or (side == "lower" and evidence.trace is not None):
            continue
        plain = build.certain_bound(bound.value, notion, side=side, kind=kind, method=method or "", exact=bound.exact)
        if bound != plain:
            yield failing("certain", f"a certain {side} bound for {notion} says something else of itself")


def _counterexample(evidence: Evidence) -> CheckFinding:
    counterexample, exact = evidence.counterexample, evidence.exact
    if counterexample is None:
        return failing("counterexample", "a lower bound is called exact, and there is no counterexample")
    if counterexample.record.get("probabilities") != [
        list(counterexample.probability0),
        list(counterexample.probability1),
    ]:
        return failing("counterexample", "its probabilities are not those that it was computed with")
    try:
        wrong = misread(evidence, counterexample)
    except (*UNREADABLE, UsageError) as error:
        wrong = f"its record cannot be read: {error}"
    if wrong:
        return failing("counterexample", wrong)
    delta = 0.0 if evidence.claimed is None else evidence.claimed.delta
    try:
        value = _loss(counterexample.probability0[0], counterexample.probability1[1], limit_of(delta, toward=1.0))
        holds = value <= 0 if exact is None else exact.delta == delta and _is_lower(exact, value)
        pure = _loss(counterexample.probability0[0], counterexample.probability1[1], Fraction(0))
        holds = holds and _is_stated(counterexample.record.get("epsilon"), pure)
    except (ValueError, ArithmeticError):
        return failing("counterexample", "its probabilities or the exact bound cannot be read")
    stated = "nothing" if exact is None else f"{exact.value:.10g}"
    said = f"its probabilities give a loss of {value:.10g}; {stated} is stated"
    return answered("counterexample", holds, said)


def _probabilities(counterexample: records.Counterexample) -> CheckFinding:
    """Check that the probabilities of a counterexample are those of its event in its tree."""
    try:
        again = event_probabilities(counterexample)
    except (*UNREADABLE, UsageError) as error:
        return failing("probabilities", f"the tree of the counterexample cannot be read: {error}")
    if again is None:
        return failing("probabilities", "the tree is none whose probabilities can be known for certain, as is stated")
    for side, (own, stated) in enumerate(
        zip(again, (counterexample.probability0, counterexample.probability1), strict=True)
    ):
        if not all(_same(end, text) for end, text in zip((own.low, own.high), stated, strict=True)):
            shown = own.decimals(10)[0]
            return failing("probabilities", f"the tree gives {shown} on {DATASETS[side]}, and {stated[0]} is stated")
    return answered("probabilities", True, "the tree gives the event these probabilities, by exact integration")


def _same(own: Fraction, stated: str) -> bool:
    """Whether a probability agrees with the stated one in 28 of its 30 digits."""
    written = Decimal(stated)
    exact = _PRECISE.divide(own.numerator, own.denominator)
    return written.is_finite() and abs(_PRECISE.subtract(written, exact)) <= _LAST * exact


def _is_stated(text: Any, value: Decimal) -> bool:
    """Whether the record of a counterexample states its loss at δ = 0."""
    if value.is_infinite() or text == "infinite":
        return value.is_infinite() and text == "infinite"
    stated = fraction(text if isinstance(text, str) else None)
    return abs(_PRECISE.divide(stated.numerator, stated.denominator) - value) <= _PLACES * max(Decimal(1), value)


def _loss(low: str, high: str, delta: Fraction) -> Decimal:
    """Return ln((low − δ)/high), at least 0."""
    p, q = Decimal(low), Decimal(high)
    if not (0 <= p <= 1 and 0 <= q <= 1):
        raise ValueError(low)
    p = _PRECISE.subtract(p, _PRECISE.divide(delta.numerator, delta.denominator))
    if p <= 0:
        return Decimal(0)
    return Decimal("inf") if q == 0 else max(Decimal(0), _PRECISE.ln(_PRECISE.divide(p, q)))


def _is_lower(exact: records.Bound, value: Decimal) -> bool:
    """Whether a bound's text is this number, and its value is the number rounded down to 10 digits."""
    if value.is_infinite() or exact.exact == "infinite":
        return value.is_infinite() and exact.exact == "infinite" and exact.value == math.inf
    stated = fraction(exact.exact)
    written = _PRECISE.divide(stated.numerator, stated.denominator)
    return abs(written - value) <= _PLACES * max(Decimal(1), value) and exact.value == rounded(stated, "lower")


# --- Does what is certain of a trace follow from its steps? The loss of noises that move is computed again. ---
#
# Which noises move, and how far, was recorded in runs that are in no file, as counts are: only a replay shows it.

_NEAR = 1e-4  # relative: prices are kept with 6 digits
_ALL = 40  # lines of draws that a record holds at most
_RECOGNISED = 0.031  # relative: the scale of recognised noise is an estimate


def traced(evidence: Evidence) -> Iterator[CheckFinding]:
    """Yield findings about the record of a trace."""
    trace, exact = evidence.trace, evidence.exact
    assert trace is not None
    yield answered("trace", *_worded(trace))
    wrong = _impossible(trace, evidence)
    if wrong:
        yield failing("trace", wrong)
    said = "which draws there were, how far they move, and what was not followed"
    yield unchecked("runs of the trace", f"{said}, its runs showed, which are in no file; a replay does", decides=False)
    loss = trace.loss
    if loss is None or not loss.value > 0:
        if exact is not None:
            yield failing("certain", "a lower bound is called exact, and the trace found no loss that is certain")
        return
    notion = evidence.claimed or PureDP(0.0)
    wanted = build.exact_bound(loss.value, notion, method=LEAK if loss.leaks else TRACE, pair=trace.pair)
    if exact != wanted:
        yield failing("certain", "the exact bound is not the loss that the trace found")
    elif not loss.steps:
        tried = loss.why.startswith("all ways") and not trace.calls
        if not math.isinf(loss.value) and (loss.leaks or not tried):
            yield failing("certain", "a finite loss is stated, and neither shifts of noise nor choices that lose it")
            return
        said = "it is the loss that the trace states; what its runs returned is in no file, and only a replay shows it"
        yield unchecked("certain", said, decides=evidence.verdict is records.Verdict.VIOLATED and _rests_on(evidence))
    else:
        try:
            steps = [
                CertainStep(BY_TITLE[each.law], each.scale, each.by, each.where, each.other) for each in loss.steps
            ]
        except KeyError as error:
            yield failing("certain", f"no law of noise is called {error}")
            return
        again = loss_of(steps, evidence.claimed)
        value = None if again is None else records.round_outward(again.epsilon, "lower")
        holds = value is not None and (value == loss.value or math.isclose(value, loss.value, rel_tol=1e-6))
        yield answered(
            "certain", holds, f"the shifts of the noise give a loss of at least {value}; {loss.value} is stated"
        )


def _worded(trace: further_records.Trace) -> tuple[bool, str]:
    """Whether the word of a trace is the worst of its findings, and what certain loss there is agrees with it."""
    words = {text: word for word, text in WORDS.items()}
    if trace.word not in words or any(each.word not in words for each in trace.findings):
        return False, f"a trace finds one of {', '.join(words)}"
    if trace.findings and words[trace.word] != max(words[each.word] for each in trace.findings):
        return False, "its word is not the worst of what it found"
    sure = words[trace.word] in (Word.LEAKS, Word.VIOLATED)
    if sure and (trace.loss is None or not trace.loss.value > 0):
        return False, f"{trace.word!r} is said, and no loss is certain"
    return True, f"{trace.word}, as its findings say"


def _impossible(trace: further_records.Trace, evidence: Evidence) -> str:
    """Say what of a trace cannot be; empty if nothing is wrong."""
    if min(trace.runs, trace.tried, trace.paths, trace.limit) < 1 or min(trace.left_out, trace.drawn) < 0:
        return "its numbers of runs, pairs and paths cannot be"
    if not trace.findings:
        return "it found nothing, not even that nothing was seen"
    if len(set(trace.findings)) < len(trace.findings):
        return "it found one thing twice"
    if not 0 <= trace.pair < max(len(evidence.pairs), 1):
        return "what it found is on a pair that is not there"
    is_searched = trace.source in ("data", "domain")
    if trace.source not in ("given", "mechanism", "data", "domain") or is_searched != bool(trace.found):
        return "where its pair comes from, and how that was found, do not agree"
    if (trace.source == "data") != (trace.data is not None) or (trace.source == "domain" and trace.domain is None):
        return "its data, or their domain, are not what its source says"
    if trace.drawn and (trace.domain is None or trace.drawn > trace.tried):
        return "pairs were drawn over a domain that it does not name, or more than it would"
    if trace.loss is not None and trace.unseen:
        return "a loss is called certain, and not everything was followed"
    if (trace.epsilon is None) != (trace.mu is None) and trace.mu is None:
        return "its price has no part of Gaussian noise"
    if any(value is not None and not 0 <= value < math.inf for value in (trace.epsilon, trace.mu)):
        return "its price is none"
    return _unlike_checked(trace) or _unlike_calls(trace) or _over(trace, evidence)


def _rests_on(evidence: Evidence) -> bool:
    """Whether no runs show what the trace calls certain."""
    return evidence.exact is not None and evidence.lower == evidence.exact


def _unlike_checked(trace: further_records.Trace) -> str:
    """Say where a run with shifted noise, or none, does not go with the word."""
    if trace.word != str(Word.SUPPORTED) or trace.findings[0].text.startswith("all ways"):
        return ""
    if trace.checked is False:
        return "a run with shifted noise returned something else, and the path is called supported"
    moved = any(call.moved for call in trace.calls)
    if trace.checked is None and moved and not any(call.recognised for call in trace.calls):
        return "a path on which noise moves is called supported, and no run with shifted noise was made"
    return ""


def _unlike_calls(trace: further_records.Trace) -> str:
    """Say where the price of a path is not that of its draws."""
    pure, squares, stated = 0.0, 0.0, False
    for call in trace.calls:
        cost, law = call.cost, BY_TITLE.get(call.law)
        stated |= call.law.endswith("as stated")
        if call.moved < 0 or call.draws < max(call.moved, 1) or (not call.moved and (call.by or cost)):
            return f"{call.where} moves by {call.by}, and {call.moved} of its {call.draws} draws move"
        if cost is None or law is None or not call.moved:
            continue
        each = abs(call.by) / call.scale if call.scale > 0 else math.inf
        most = each * (math.sqrt(call.moved) if law.cost == "gaussian" else call.moved)
        if not each * (1 - _NEAR) <= cost <= most * (1 + _NEAR):
            return f"{call.where} costs {each:.6g} at least, and {cost:.6g} is stated"
        if law.cost == "gaussian":
            squares += cost**2
        elif law.cost == "pure":
            pure += cost
    whole = not stated and len(trace.calls) < _ALL and all(call.cost is not None for call in trace.calls)
    if whole and trace.mu is not None and not math.isclose(trace.mu, math.sqrt(squares), rel_tol=_NEAR, abs_tol=1e-9):
        return f"its draws cost μ = {math.sqrt(squares):.6g}, and {trace.mu:.6g} is stated"
    total = max(pure + (trace.chance or 0.0), 0.0)
    known = whole and trace.chance is not None and trace.epsilon is not None
    if known and not math.isclose(trace.epsilon or 0.0, total, rel_tol=_NEAR, abs_tol=1e-9):
        return f"its draws and choices cost ε = {total:.6g}, and {trace.epsilon} is stated"
    return ""


def _over(trace: further_records.Trace, evidence: Evidence) -> str:
    """Say where a path is called supported, and costs more than a plain claim allows."""
    claim = evidence.claimed
    if trace.word != str(Word.SUPPORTED) or trace.epsilon is None or not isinstance(claim, PureDP):
        return ""
    if trace.findings[0].text.startswith("all ways"):  # the loss itself is known, and is less than the price of a path
        return ""
    if trace.epsilon > claim.value * (1 + _RECOGNISED) or trace.mu:
        return f"ε = {trace.epsilon:.6g} is called supported, and {claim} is claimed"
    return ""
