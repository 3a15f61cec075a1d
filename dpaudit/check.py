"""Is this evidence what it says? Its id, every bound from its counts, and every certificate, looked at once more.

Nothing is run and no target is loaded: what the file states is computed again from what the file holds. Proofs are
checked by `dpaudit.checker`, which shares no code with the prover.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.bounds.statement import lower_bound
from dpaudit.checker import CertificateError, Checked, check_certificate
from dpaudit.errors import UsageError
from dpaudit.evidence import Attempt, Bound, Counts, Evidence, Verdict, read_text, round_outward
from dpaudit.neighbours import Relation
from dpaudit.privacy import PureDP, parse_claim
from dpaudit.proof.prove import Scope, as_decimal, as_text, rounded
from dpaudit.report import evidence_from_page
from dpaudit.report.kinds import COUNTEREXAMPLE
from dpaudit.verdicts import judge

_CERTIFICATE = "dpaudit-certificate"
_DIGITS = 1e-9  # bounds are written with 10 digits
_PLACES = Decimal("1e-18")  # of an exact bound, which is written with 20, from probabilities of 30
_PRECISE = Context(prec=60)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, whether it holds, and a sentence about it."""

    what: str
    holds: bool
    sentence: str


def check_file(path: str | Path) -> list[Finding]:
    """Check an evidence file, a page that embeds one, or a certificate alone.

    Raises:
        UsageError: if it is none of these.
    """
    text = read_text(path)
    if text.lstrip().startswith("<"):
        return list(check(evidence_from_page(text)))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None  # said below, in the words of an evidence file
    if isinstance(document, dict) and document.get("format") == _CERTIFICATE:
        return [_certificate(document)[0]]
    return list(check(Evidence.from_json(text, name=str(path))))


def check(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for everything in the evidence that can be computed again."""
    yield Finding("id", True, f"the record hashes to {evidence.id}")
    for number, attempt in enumerate(evidence.attempts):
        yield _counted(evidence, number, attempt)
    yield _runs(evidence)
    yield _errors(evidence)
    yield _headline(evidence)
    if evidence.floating_point is not None:
        yield _low_bits(evidence)
    yield from _forms(evidence)
    if evidence.proof is not None and evidence.proof.method == "enumeration":
        yield _enumeration(evidence)
    elif evidence.exact is not None or evidence.counterexample is not None:
        yield _counterexample(evidence)
    if evidence.upper is not None and (evidence.proof is None or evidence.proof.method != "enumeration"):
        yield _proof(evidence)
    yield _verdict(evidence)


# --- what was sampled ------------------------------------------------------------------------------------


def _counted(evidence: Evidence, number: int, attempt: Attempt) -> Finding:
    bound, title = attempt.bound, f"attempt {number} ({attempt.name})"
    if bound.counts is None:
        return Finding("bound", bound.value == 0, f"{title}: nothing was counted")
    wrong = _impossible(evidence, bound, bound.counts)
    if wrong:
        return Finding("bound", False, f"{title}: {wrong}")
    try:
        value = lower_bound(
            bound.method,
            bound.counts,
            claim=parse_claim(bound.notion),
            weight=bound.weight,
            error=1 - bound.confidence,
        )
    except (ValueError, ArithmeticError) as error:
        return Finding("bound", False, f"{title}: {error}")
    again = round_outward(value, "lower")
    holds = again == bound.value or math.isclose(again, bound.value, rel_tol=_DIGITS, abs_tol=_DIGITS)
    stated = f"{title}: its counts give {again:.10g}"
    return Finding("bound", holds, stated if holds else f"{stated}, and it states {bound.value:.10g}")


def _impossible(evidence: Evidence, bound: Bound, counts: Counts) -> str:
    """What cannot be in a bound that was sampled, before anything is computed; empty where nothing is wrong."""
    notion = evidence.claimed or PureDP(0.0)
    if bound.notion != str(notion) or bound.delta != notion.delta or bound.parameter != notion.parameter:
        return f"it bounds {bound.parameter} of {bound.notion}, and the claim is {notion}"
    if not 0 < bound.confidence < 1 or (bound.weight is not None and not 0 < bound.weight < 1):
        return "its confidence and its weight are to lie between 0 and 1"
    filled = zip(counts.runs, counts.toward0, counts.toward1, strict=True)
    if any(min(a, b) < 0 or a + b > runs or runs < 1 for runs, a, b in filled):
        return "more runs speak for a side than were made"
    if bound.method in ("joint", "enumerated joint") and any(counts.toward0) and any(counts.toward1):
        return "an event of one side speaks for both"
    return ""


def _runs(evidence: Evidence) -> Finding:
    """Whether all that was measured is counted: the same runs by every attempt on a pair, but the counterexample's."""
    measured: dict[tuple[int, bool], set[tuple[int, int]]] = {}
    for each in evidence.attempts:
        if each.bound.arithmetic == "real" and each.bound.counts is not None:
            measured.setdefault((each.pair, each.name == COUNTEREXAMPLE), set()).add(each.bound.counts.runs)
    alike = all(len(runs) == 1 for runs in measured.values())
    counted = sum(sum(runs) for each in measured.values() for runs in each)
    holds = (alike and counted == evidence.measuring) or evidence.verdict is Verdict.INVALID
    return Finding("runs", holds, f"{counted} runs are counted, and {evidence.measuring} were measured")


def _errors(evidence: Evidence) -> Finding:
    """Whether the chances of being wrong add up to no more than the whole is allowed."""
    groups = [[each for each in evidence.attempts if each.bound.arithmetic == kind] for kind in ("real", "float")]
    if evidence.low_bits == "verdict":
        groups = [groups[0] + groups[1]]  # otherwise the low-order bits have the confidence to themselves
    spent = max(sum(1 - each.bound.confidence for each in group) for group in groups)
    holds = spent <= (1 - evidence.confidence) * (1 + _DIGITS) + _DIGITS and 0 < evidence.confidence < 1
    return Finding("confidence", holds, f"the attempts err with at most {spent:.4g}, {evidence.confidence} is stated")


def _headline(evidence: Evidence) -> Finding:
    shown = [_whole(evidence, each) for each in evidence.attempts if each.bound.arithmetic == "real"]
    exact, upper, stated = evidence.exact, evidence.upper, evidence.lower
    best = max(shown, key=lambda bound: bound.value, default=None)
    if best is None or (exact is not None and exact.value >= best.value):
        holds = stated == exact if exact is not None else stated.value == 0
    else:
        holds = stated == best
        if upper is not None and best.value > upper.value:  # a chance, where a second look did not find it again
            holds |= stated == (exact or msgspec.structs.replace(best, value=0.0))
    how = "is" if holds else "is not"
    return Finding("headline", holds, f"the headline's lower bound {stated.value:.10g} {how} the best that was shown")


def _low_bits(evidence: Evidence) -> Finding:
    shown = [_whole(evidence, each) for each in evidence.attempts if each.bound.arithmetic == "float"]
    stated = evidence.floating_point
    assert stated is not None
    holds = stated == max(shown, key=lambda bound: bound.value) if shown else stated.value == 0
    how = "is" if holds else "is not"
    return Finding("low-order bits", holds, f"their lower bound {stated.value:.10g} {how} the best that was shown")


def _whole(evidence: Evidence, attempt: Attempt) -> Bound:
    """The bound at the confidence of the whole."""
    return msgspec.structs.replace(attempt.bound, confidence=evidence.confidence)


# --- what is certain -------------------------------------------------------------------------------------


def _forms(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for a bound without sampling that does not say so."""
    pure, claim = PureDP(0.0), evidence.claimed or PureDP(0.0)
    for side, bound, notion in (("upper", evidence.upper, pure), ("lower", evidence.exact, claim)):
        if bound is None:
            continue
        said = bound.side, bound.confidence, bound.notion, bound.delta, bound.parameter
        if said != (side, 1.0, str(notion), notion.delta, "epsilon"):
            yield Finding("certain", False, f"a certain {side} bound of ε for {notion} is another: {said}")


def _counterexample(evidence: Evidence) -> Finding:
    found, exact = evidence.counterexample, evidence.exact
    if found is None:
        return Finding("counterexample", False, "a lower bound is called exact, and there is no counterexample")
    if found.record.get("probabilities") != [list(found.probability0), list(found.probability1)]:
        return Finding("counterexample", False, "its probabilities are not those that it was computed with")
    delta = 0.0 if evidence.claimed is None else evidence.claimed.delta
    try:
        value = _loss(found.probability0[0], found.probability1[1], as_decimal(delta, toward=1.0))
        holds = value <= 0 if exact is None else exact.delta == delta and _is_lower(exact, value)
    except (ValueError, ArithmeticError):
        return Finding("counterexample", False, "its probabilities or the exact bound cannot be read")
    stated = "nothing" if exact is None else f"{exact.value:.10g}"
    return Finding("counterexample", holds, f"its probabilities give a loss of {value:.10g}; {stated} is stated")


def _loss(low: str, high: str, delta: Fraction) -> Decimal:
    """ln((low − δ)/high), at least 0."""
    p, q = Decimal(low), Decimal(high)
    if not (0 <= p <= 1 and 0 <= q <= 1):
        raise ValueError(low)
    p = _PRECISE.subtract(p, _PRECISE.divide(delta.numerator, delta.denominator))
    if p <= 0:
        return Decimal(0)
    return Decimal("inf") if q == 0 else max(Decimal(0), _PRECISE.ln(_PRECISE.divide(p, q)))


def _is_lower(exact: Bound, value: Decimal) -> bool:
    """Whether a bound states a number, and 10 digits of it, rounded down."""
    if value.is_infinite() or exact.exact == "infinite":
        return value.is_infinite() and exact.exact == "infinite" and exact.value == math.inf
    stated = _fraction(exact.exact)
    written = _PRECISE.divide(stated.numerator, stated.denominator)
    return abs(written - value) <= _PLACES * max(Decimal(1), value) and exact.value == rounded(stated, "lower")


def _fraction(text: str | None) -> Fraction:
    """A fraction as it is written, without an exponent, which could ask for any number of digits."""
    if text is None or "e" in text.lower():
        raise ValueError(f"{text!r} is no fraction")
    return Fraction(text)


def _enumeration(evidence: Evidence) -> Finding:
    from dpaudit.program.exact import parse_exact
    from dpaudit.proof.exact import check_record, log_interval

    assert evidence.proof is not None
    record, upper, exact = evidence.proof.certificate or {}, evidence.upper, evidence.exact
    try:
        check_record(record)
        ratio = str(record["exp_epsilon"])
        low, high = (0.0, 0.0) if ratio == "inf" else log_interval(parse_exact(ratio))
    except (UsageError, ValueError, ArithmeticError) as error:
        return Finding("enumeration", False, str(error))
    text = "infinite" if ratio == "inf" else f"ln({ratio})"
    wanted = rounded(Fraction(low), "lower"), rounded(Fraction(high), "upper")
    if ratio == "inf":
        wanted = math.inf, math.inf
    stated = [(bound, value) for bound, value in zip((exact, upper), wanted, strict=True) if bound is not None]
    holds = all(bound.exact == text and bound.value == value for bound, value in stated)
    holds = holds and (upper is None) == (ratio == "inf")
    if not holds:
        return Finding("enumeration", False, f"the laws of the worst pair give {text}, and another number is stated")
    scope = f"the {record.get('datasets')} datasets of the domain that was given, under {evidence.relation}"
    if (evidence.proof.scope, evidence.proof.length) != (scope, None):
        return Finding("enumeration", False, f"the record is of {scope}, and {evidence.proof.scope} is stated")
    return Finding(
        "enumeration",
        True,
        "the laws of the worst pair have the stated ratio; that no other pair is worse, a second reading would show",
    )


def _proof(evidence: Evidence) -> Finding:
    proof, upper = evidence.proof, evidence.upper
    assert upper is not None
    if proof is None:
        return Finding("certificate", False, "an upper bound is stated, and there is no proof")
    finding, checked = _certificate(proof.certificate)
    if checked is None:
        return finding
    bound, scope = checked.bound, _scope(checked)
    if upper.exact != str(bound) or upper.value != rounded(bound, "upper"):
        return Finding("certificate", False, f"the certificate shows ε ≤ {bound}, and {upper.exact} is stated")
    if str(scope) != proof.scope or str(scope.relation) != evidence.relation:
        return Finding("certificate", False, f"the certificate holds for {scope}, and {proof.scope} is stated")
    if proof.length != (None if scope.length == "any" else scope.length):
        return Finding("certificate", False, f"the certificate is for length {scope.length}, not {proof.length}")
    for name, value in evidence.target.parameters.items():
        if isinstance(value, int | float) and scope.parameters.get(name) != as_text(value):
            return Finding("certificate", False, f"the certificate is not for {name} = {value}")
    own = f"sha256:{evidence.target.digest}"
    if proof.method == "alignment" and checked.mechanism["source"] != (own if evidence.target.digest else ""):
        return Finding("certificate", False, "the certificate is of another source than the target")
    if proof.method == "alignment" and not _same_tree(evidence):
        return Finding("certificate", False, "the certificate and the counterexample are of different programs")
    return finding


def _same_tree(evidence: Evidence) -> bool:
    """Whether the program was read the same for the certificate as for the counterexample."""
    found, proof = evidence.counterexample, evidence.proof
    if found is None or proof is None or proof.certificate is None:
        return True
    nodes = [{"leaf": node["leaf"]} if "leaf" in node else node for node in proof.certificate["nodes"]]
    return bool(nodes == found.record.get("nodes"))


def _scope(checked: Checked) -> Scope:
    given = checked.scope
    relation = Relation("queries", given["movement"], given["group"])
    return Scope(given["length"], given["values"], relation, given["parameters"])


def _certificate(certificate: Any) -> tuple[Finding, Checked | None]:
    try:
        checked = check_certificate(certificate)
    except CertificateError as error:
        return Finding("certificate", False, str(error)), None
    return Finding("certificate", True, f"ε ≤ {checked.bound}: " + " ".join(checked.sentences)), checked


# --- the verdict -----------------------------------------------------------------------------------------


def _verdict(evidence: Evidence) -> Finding:
    if evidence.verdict is Verdict.INVALID:
        return Finding("verdict", True, "the runs could not be trusted, which only another audit can show")
    lower, upper = evidence.lower, evidence.upper
    contradicts = upper is not None and lower.kind == "sampled" and lower.value > upper.value
    try:
        verdict, _ = judge(
            evidence.claimed,
            lower,
            evidence.detectable,
            evidence.floating_point if evidence.low_bits == "verdict" else None,
            upper=upper,
            within=_within(evidence),
        )
    except (ValueError, ArithmeticError) as error:
        return Finding("verdict", False, str(error))
    if contradicts and verdict is Verdict.PROVED:
        verdict = Verdict.VIOLATED
    holds = verdict is evidence.verdict
    how = "follows" if holds else "does not follow"
    return Finding("verdict", holds, f"{evidence.verdict} {how} from the bounds and the claim")


def _within(evidence: Evidence) -> bool:
    """Whether the upper bound is at most the claim, decided exactly."""
    claim, upper = evidence.claimed, evidence.upper
    if claim is None or upper is None or upper.exact is None:
        return False
    if upper.exact.startswith("ln("):
        from dpaudit.program.exact import exact, parse_exact
        from dpaudit.proof.exact import exp_of

        return not exact(parse_exact(upper.exact[3:-1])) > exp_of(claim.value, upward=True)
    return _fraction(upper.exact) <= as_decimal(claim.value, toward=0.0)
