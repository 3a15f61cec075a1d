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

from dpaudit.checker.reading import rational
from dpaudit.decimals import limit_of
from dpaudit.enclosure import Enclosure
from dpaudit.errors import UsageError
from dpaudit.evidence.build import certain_bound
from dpaudit.evidence.event import DATASETS, Box, Event, Rule
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counterexample, Verdict
from dpaudit.neighbours.digest import digest
from dpaudit.privacy import Claim, PureDP
from dpaudit.program.symbolic.linear import Affine, Constraint
from dpaudit.program.symbolic.tree import Output, ProgramPath, ProgramTree
from dpaudit.review.check.finding import Finding, answered, failing, unchecked
from dpaudit.review.check.stated import fraction
from dpaudit.review.check.trace import traced
from dpaudit.verify.counterexample.forest_probability import probability
from dpaudit.verify.counterexample.search import read_output
from dpaudit.verify.differences import classes, merge
from dpaudit.verify.proofs.answers import leaves_of, scope_of, unlike_relation, unlike_scope
from dpaudit.verify.proofs.kind import UNREADABLE, NotShownError, unlike_target
from dpaudit.verify.proofs.kinds import KINDS, check_proof
from dpaudit.verify.scope import VALUES, WITNESS, WITNESS_VERSION, rounded

# --- How likely is the event of a counterexample, according to the tree in the file? ---
#
# The tree is read by the reader of certificates. Every leaf whose output has the form of the event adds the probability
# of its conditions and the limits on its numbers, by exact integration
# (`dpaudit.verify.counterexample.forest_probability`). If the conditions of the paths with one output form a cycle of
# draws, their hull is tried.

_RECORD = {"format", "version", "mechanism", "scope", "nodes", "pair", "event", "probabilities", "epsilon"}


def misread(evidence: Evidence, found: Counterexample) -> str:
    """Say what differs between a counterexample and the record that it was computed from; empty if nothing does."""
    record, given = found.record, scope_of(found.record["scope"])
    if record.keys() != _RECORD or (record["format"], record["version"]) != (WITNESS, WITNESS_VERSION):
        return f"its record is none of the format {WITNESS!r}, version {WITNESS_VERSION}"
    pair = [[rational(value, "the pair") for value in data] for data in record["pair"]]
    answer = int if given.values == "integer" else float
    data = [[answer(value) for value in side] for side in pair]
    if [found.data0, found.data1] != list(map(repr, data)):
        return "its data are not those of its record"
    if found.event != _event(record["event"]):
        return "its event is not that of its record"
    if [digest(side) for side in data] != [evidence.pairs[0].digest0, evidence.pairs[0].digest1]:
        return "its data are not the pair of the evidence"
    if record["scope"]["data"] != "queries" or given.values not in VALUES or len(data[0]) != given.length:
        return "its scope is not that of its data"
    if evidence.proof is not None and evidence.proof.method == "alignment":
        wrong = unlike_scope(evidence, given)
    else:
        wrong = unlike_relation(evidence, given)
    return wrong or unlike_target(evidence, record["mechanism"], given.parameters)


def _event(given: Mapping[str, Any]) -> Event:
    low, high = (tuple(map(_limit, given[side])) for side in ("low", "high"))
    if low:
        return Event("witness", (Rule(given["form"], Box(low, high), (0.5,), (0, 1)),))
    return Event("witness", (Rule(given["form"], None, (), (1,)),))


def _limit(text: str | None) -> float | None:
    return None if text is None else float(rational(text, "a limit"))


def event_probabilities(found: Counterexample) -> tuple[Enclosure, Enclosure] | None:
    """Return the probabilities of the event on both sides; None if exact integration cannot compute them."""
    record = found.record
    leaves = leaves_of(record["nodes"], record["scope"]["length"])
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
        found = _of_class(group, tree, limits, point)
        if found is None:
            return None
        low, high = low + found.low, high + found.high
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


def certain(evidence: Evidence) -> Iterator[Finding]:
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


def _proof(evidence: Evidence) -> Iterator[Finding]:
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
        rests = evidence.upper is not None and evidence.verdict is not Verdict.VIOLATED
        yield unchecked(title, shown.unseen, decides=rests or evidence.counterexample is not None)


def _forms(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for a certain bound that is not marked as certain."""
    claim = evidence.claimed or PureDP(0.0)
    method = None if evidence.proof is None else evidence.proof.method
    above: Claim = claim if method in ("releases", "moves") else PureDP(0.0)
    kind = "exact" if method == "enumeration" else "proof"
    wanted: tuple[tuple[Literal["upper", "lower"], str, Bound | None, Claim], ...]
    wanted = (("upper", kind, evidence.upper, above), ("lower", "exact", evidence.exact, claim))
    for side, kind, bound, notion in wanted:
        if bound is None or (side == "lower" and evidence.trace is not None):
            continue
        plain = certain_bound(bound.value, notion, side=side, kind=kind, method=method or "", exact=bound.exact)
        if bound != plain:
            yield failing("certain", f"a certain {side} bound for {notion} says something else of itself")


def _counterexample(evidence: Evidence) -> Finding:
    found, exact = evidence.counterexample, evidence.exact
    if found is None:
        return failing("counterexample", "a lower bound is called exact, and there is no counterexample")
    if found.record.get("probabilities") != [list(found.probability0), list(found.probability1)]:
        return failing("counterexample", "its probabilities are not those that it was computed with")
    try:
        wrong = misread(evidence, found)
    except (*UNREADABLE, UsageError) as error:
        wrong = f"its record cannot be read: {error}"
    if wrong:
        return failing("counterexample", wrong)
    delta = 0.0 if evidence.claimed is None else evidence.claimed.delta
    try:
        value = _loss(found.probability0[0], found.probability1[1], limit_of(delta, toward=1.0))
        holds = value <= 0 if exact is None else exact.delta == delta and _is_lower(exact, value)
        pure = _loss(found.probability0[0], found.probability1[1], Fraction(0))
        holds = holds and _is_stated(found.record.get("epsilon"), pure)
    except (ValueError, ArithmeticError):
        return failing("counterexample", "its probabilities or the exact bound cannot be read")
    stated = "nothing" if exact is None else f"{exact.value:.10g}"
    said = f"its probabilities give a loss of {value:.10g}; {stated} is stated"
    return answered("counterexample", holds, said)


def _probabilities(found: Counterexample) -> Finding:
    """Check that the probabilities of a counterexample are those of its event in its tree."""
    try:
        again = event_probabilities(found)
    except (*UNREADABLE, UsageError) as error:
        return failing("probabilities", f"the tree of the counterexample cannot be read: {error}")
    if again is None:
        return failing("probabilities", "the tree is none whose probabilities can be known for certain, as is stated")
    for side, (own, stated) in enumerate(zip(again, (found.probability0, found.probability1), strict=True)):
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


def _is_lower(exact: Bound, value: Decimal) -> bool:
    """Whether a bound's text is this number, and its value is the number rounded down to 10 digits."""
    if value.is_infinite() or exact.exact == "infinite":
        return value.is_infinite() and exact.exact == "infinite" and exact.value == math.inf
    stated = fraction(exact.exact)
    written = _PRECISE.divide(stated.numerator, stated.denominator)
    return abs(written - value) <= _PLACES * max(Decimal(1), value) and exact.value == rounded(stated, "lower")
