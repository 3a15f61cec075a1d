"""Is this evidence what it says? Its id, every bound from its counts, and every certificate, looked at once more.

Nothing is run and no target is loaded: what the file states is computed again from what the file holds. Proofs are
checked by `dpaudit.checker`, which shares no code with the prover.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpaudit.bounds.statement import lower_bound
from dpaudit.checker import CertificateError, check_certificate
from dpaudit.errors import UsageError
from dpaudit.evidence import Attempt, Bound, Evidence, Verdict, read_text, round_outward
from dpaudit.privacy import parse_claim
from dpaudit.report import evidence_from_page

_CERTIFICATE = "dpaudit-certificate"
_DIGITS = 1e-9  # bounds are written with 10 digits


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
        return [_certificate(document, None)]
    return list(check(Evidence.from_json(text, name=str(path))))


def check(evidence: Evidence) -> Iterator[Finding]:
    """Yield a finding for everything in the evidence that can be computed again."""
    yield Finding("id", True, f"the record hashes to {evidence.id}")
    for number, attempt in enumerate(evidence.attempts):
        if attempt.bound.counts is not None:
            yield _counted(number, attempt)
    yield _headline(evidence)
    if evidence.exact is not None and evidence.counterexample is not None:
        yield _counterexample(evidence)
    if evidence.proof is not None and evidence.upper is not None:
        yield _proof(evidence)
    yield _verdict(evidence)


def _counted(number: int, attempt: Attempt) -> Finding:
    bound = attempt.bound
    assert bound.counts is not None
    value = lower_bound(
        bound.method, bound.counts, claim=parse_claim(bound.notion), weight=bound.weight, error=1 - bound.confidence
    )
    again = round_outward(value, "lower")
    holds = math.isclose(again, bound.value, rel_tol=_DIGITS, abs_tol=_DIGITS)
    stated = f"attempt {number} ({attempt.name}): its counts give {again:.10g}"
    return Finding("bound", holds, stated if holds else f"{stated}, and it states {bound.value:.10g}")


def _headline(evidence: Evidence) -> Finding:
    real = [attempt.bound.value for attempt in evidence.attempts if attempt.bound.arithmetic == "real"]
    stated = evidence.lower.value
    known = [*real, *([] if evidence.exact is None else [evidence.exact.value]), 0.0]
    holds = stated <= max(known)
    return Finding("headline", holds, f"the headline's lower bound {stated:.10g} is one of those that were shown")


def _counterexample(evidence: Evidence) -> Finding:
    found, exact = evidence.counterexample, evidence.exact
    assert found is not None and exact is not None
    try:
        low, high = Fraction(found.probability0[0]), Fraction(found.probability1[1])
        low -= Fraction(repr(exact.delta))
        value = 0.0 if low <= 0 else math.inf if high == 0 else math.log(low / high)
    except (ValueError, ZeroDivisionError):
        return Finding("counterexample", False, "the probabilities of the counterexample cannot be read")
    holds = exact.value <= value * (1 + 1e-12) + 1e-12
    return Finding(
        "counterexample", holds, f"its probabilities give a loss of {value:.10g}; {exact.value:.10g} is stated"
    )


def _proof(evidence: Evidence) -> Finding:
    assert evidence.proof is not None and evidence.upper is not None
    if evidence.proof.method == "enumeration":
        return _enumeration(evidence)
    return _certificate(evidence.proof.certificate, evidence.upper)


def _enumeration(evidence: Evidence) -> Finding:
    from dpaudit.proof.exact import check_record

    assert evidence.proof is not None and evidence.upper is not None
    try:
        check_record(evidence.proof.certificate or {})
    except UsageError as error:
        return Finding("enumeration", False, str(error))
    return Finding(
        "enumeration",
        True,
        "the laws of the worst pair have the stated ratio; that no other pair is worse, a second reading would show",
    )


def _certificate(certificate: Any, upper: Bound | None) -> Finding:
    try:
        checked = check_certificate(certificate)
    except CertificateError as error:
        return Finding("certificate", False, str(error))
    if upper is not None and (upper.exact != str(checked.bound) or upper.value < checked.bound):
        return Finding(
            "certificate", False, f"the certificate shows ε ≤ {checked.bound}, and the evidence states {upper.exact}"
        )
    return Finding("certificate", True, f"ε ≤ {checked.bound}: " + " ".join(checked.sentences))


def _verdict(evidence: Evidence) -> Finding:
    claim, verdict = evidence.claimed, evidence.verdict
    if claim is None:
        holds = verdict in {Verdict.NO_CLAIM, Verdict.INVALID}
    elif verdict is Verdict.VIOLATED:
        low_bits = evidence.floating_point
        decides = evidence.low_bits == "verdict" and low_bits is not None and low_bits.value > claim.value
        holds = evidence.lower.value > claim.value or decides
    elif verdict is Verdict.PROVED:
        holds = evidence.upper is not None and evidence.upper.value <= claim.value * (1 + _DIGITS)
    else:
        holds = verdict is Verdict.INVALID or evidence.lower.value <= claim.value
    how = "follows" if holds else "does not follow"
    return Finding("verdict", holds, f"{verdict} {how} from the bounds and the claim")
