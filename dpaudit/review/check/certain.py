"""Do certain bounds follow from their proofs?

Certificates are checked by `dpaudit.checker`; the probabilities of a counterexample are recomputed from its tree by
exact integration (`dpaudit.review.check.counterexample`), and the loss of enumerated laws from the laws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Literal

from dpaudit.decimals import limit_of
from dpaudit.errors import UsageError
from dpaudit.evidence.build import certain_bound
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Counterexample, Verdict
from dpaudit.privacy import Claim, PureDP
from dpaudit.review.check.certificate import certificate_finding
from dpaudit.review.check.counterexample import event_probabilities, leaves_of, misread, of_older_fold, scope_of, unlike
from dpaudit.review.check.finding import Finding, answered, failing, unchecked
from dpaudit.review.check.stated import fraction, open_ends
from dpaudit.verify.scope import rounded

_PLACES = Decimal("1e-18")  # for an exact bound, which has 20 decimals, from probabilities with 30 digits
_LAST = Decimal("1e-28")  # relative, for a probability, which has 30 digits
_PRECISE = Context(prec=60)


def certain(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for every statement that does not rest on sampling."""
    yield from _forms(evidence)
    enumerated = evidence.proof is not None and evidence.proof.method == "enumeration"
    if enumerated:
        yield from _enumeration(evidence)
    elif evidence.trace is not None:
        from dpaudit.review.check.trace import traced

        yield from traced(evidence)
    elif evidence.exact is not None or evidence.counterexample is not None:
        yield _counterexample(evidence)
        if evidence.counterexample is not None:
            yield _probabilities(evidence.counterexample)
    if not enumerated and (evidence.upper is not None or evidence.proof is not None):
        yield _proof(evidence)
    trees = [] if evidence.proof is None or enumerated else [evidence.proof.certificate]
    trees += [] if evidence.counterexample is None else [evidence.counterexample.record]
    if any(tree is not None and of_older_fold(evidence, tree["mechanism"]) for tree in trees):
        said = "the proof is of a fold that an older dpaudit kept beside the target; nothing ties them: prove it again"
        yield unchecked("certificate", said, decides=True)


def _forms(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for a certain bound that is not marked as certain."""
    claim = evidence.claimed or PureDP(0.0)
    method = None if evidence.proof is None else evidence.proof.method
    above: Claim = claim if method == "releases" else PureDP(0.0)
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
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, UsageError) as error:
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
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, UsageError) as error:
        return failing("probabilities", f"the tree of the counterexample cannot be read: {error}")
    if again is None:
        return failing("probabilities", "the tree is none whose probabilities can be known for certain, as is stated")
    for side, (own, stated) in enumerate(zip(again, (found.probability0, found.probability1), strict=True)):
        if not all(_same(end, text) for end, text in zip((own.low, own.high), stated, strict=True)):
            shown = own.decimals(10)[0]
            return failing("probabilities", f"the tree gives {shown} on side {side}, and {stated[0]} is stated")
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


def _enumeration(evidence: Evidence) -> Iterator[Finding]:
    from dpaudit.program.enumerate import parse_exact
    from dpaudit.verify.exact import check_every, check_record, log_interval

    assert evidence.proof is not None
    record, upper, exact = evidence.proof.certificate or {}, evidence.upper, evidence.exact
    if open_ends(evidence):
        silent = not record and upper is None and exact is None
        yield answered("enumeration", silent, "nothing is stated of what was not read whole")
        return
    if record.get("traces") != evidence.proof.paths or record.get("enumerated") is not True:
        yield failing("enumeration", "its record is of another reading")
        return
    try:
        check_record(record)
        ratio = str(record["exp_epsilon"])
        low, high = (0.0, 0.0) if ratio == "inf" else log_interval(parse_exact(ratio))
    except (UsageError, ValueError, ArithmeticError) as error:
        yield failing("enumeration", str(error))
        return
    text = "infinite" if ratio == "inf" else f"ln({ratio})"
    wanted = rounded(Fraction(low), "lower"), rounded(Fraction(high), "upper")
    if ratio == "inf":
        wanted = math.inf, math.inf
    stated = [(bound, value) for bound, value in zip((exact, upper), wanted, strict=True) if bound is not None]
    holds = all(bound.exact == text and bound.value == value for bound, value in stated)
    holds = holds and (upper is None) == (ratio == "inf")
    if not holds:
        yield failing("enumeration", f"the laws of the worst pair give {text}, and another number is stated")
        return
    scope = f"the {record.get('datasets')} datasets of the domain that was given, under {evidence.relation}"
    if (evidence.proof.scope, evidence.proof.length) != (scope, None):
        yield failing("enumeration", f"the record is of {scope}, and {evidence.proof.scope} is stated")
        return
    yield answered("enumeration", True, "the laws of the worst pair have the stated ratio")
    if upper is None:
        return
    try:
        complete = check_every(record, evidence.relation)
    except (UsageError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        yield failing("enumeration", str(error))
        return
    if complete:
        said = f"the laws on all {record['datasets']} datasets are there, and no other pair of them is worse"
        yield answered("enumeration", True, said)
    else:
        said = "that no other pair of the domain is worse is not in the file: a second reading would show it"
        yield unchecked("enumeration", said, decides=evidence.verdict in (Verdict.PROVED, Verdict.INCONCLUSIVE))


def _proof(evidence: Evidence) -> Finding:
    proof, upper = evidence.proof, evidence.upper
    if proof is None:
        return failing("certificate", "an upper bound is stated, and there is no proof")
    if not _counted_paths(evidence):
        return failing("certificate", f"{proof.paths} paths are stated, and the tree has another number")
    if upper is None:
        holds = proof.certificate is None
        return answered("certificate", holds, "no upper bound is stated" + ("" if holds else ", and there is a proof"))
    finding, checked = certificate_finding(proof.certificate)
    if checked is None:
        return finding
    if (proof.method == "releases") != (checked.kind == "releases"):
        return failing("certificate", f"the certificate is none by {proof.method}")
    if checked.kind == "releases":
        from dpaudit.review.check.releases import unlike_releases

        wrong = unlike_releases(evidence, checked)
        return failing("certificate", wrong) if wrong else finding
    bound, scope = checked.bound, scope_of(checked.scope)
    if upper.exact != str(bound) or upper.value != rounded(Fraction(bound), "upper"):
        stated = upper.exact if upper.exact != str(bound) else f"{upper.value:.10g} as a decimal"
        return failing("certificate", f"the certificate shows ε ≤ {bound}, and {stated} is stated")
    if proof.method != ("induction" if scope.length == "any" else "alignment"):
        return failing("certificate", f"the certificate is none by {proof.method}")
    wrong = unlike(evidence, scope, checked.mechanism)
    if wrong:
        return failing("certificate", wrong)
    if proof.method == "alignment" and not _same_tree(evidence):
        return failing("certificate", "the certificate and the counterexample are of different programs")
    return finding


def _counted_paths(evidence: Evidence) -> bool:
    """Whether the stated number of paths is that of the tree; a tree of values has fewer."""
    proof, found = evidence.proof, evidence.counterexample
    assert proof is not None
    trees = [] if found is None else [found.record]
    if proof.method == "alignment" and proof.certificate is not None and "values" not in proof.certificate:
        trees.append(proof.certificate)
    try:
        return all(len(leaves_of(tree["nodes"], tree["scope"]["length"])) == proof.paths for tree in trees)
    except (LookupError, TypeError, AttributeError, ValueError):
        return False


def _same_tree(evidence: Evidence) -> bool:
    """Whether the certificate and the counterexample have the same tree; a tree of values cannot be compared."""
    found, proof = evidence.counterexample, evidence.proof
    if found is None or proof is None or proof.certificate is None or "values" in proof.certificate:
        return True
    nodes = [{"leaf": node["leaf"]} if "leaf" in node else node for node in proof.certificate["nodes"]]
    return bool(nodes == found.record.get("nodes"))
