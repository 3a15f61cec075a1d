"""What can be said of a claim at once? That it is proved, where it is; else what a trace and runs show.

a function as it is → a proof, where a domain is declared → a trace → runs that measure the pair of one of the two
lists of n numbers  → a proof, and the pair that moves farthest → a trace of it → runs that measure it

Two readings that share nothing but the rewriting have to agree before an audit says PROVED: the proof over all data,
and the trace of runs on neighbours. Everything else that is audited is audited by runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from dpaudit.auditing.audit import audited
from dpaudit.auditing.question import given_or_fresh
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence, against
from dpaudit.evidence.records import Verdict
from dpaudit.loading.named import load
from dpaudit.neighbours.domain import is_two_numbers
from dpaudit.reading.source import is_own
from dpaudit.request import AuditOptions, AuditRequest, TraceRequest, proof_for, taking, trace_for
from dpaudit.settings import own_settings
from dpaudit.targets.mechanism import Mechanism
from dpaudit.targets.signature import Shape

if TYPE_CHECKING:
    from dpaudit.auditing.trace import Tracing
    from dpaudit.verify.prove_and_audit import Proving

_CONTRADICTS = (
    "the reading for all data found that the claim is kept, and this contradicts it, so that nothing is proved: "
    "implementation, arithmetic or prover is wrong"
)
_FEW = 50  # candidates for the worst neighbours that a trace tries beside a proof of the claim
_MOST_NAMED = 6  # columns that a sentence lists
_CERTAINLY, _IN_WORDS = "certainly", "in words"


@taking(AuditRequest)
@own_settings()
def audit(target: str | Mechanism | Callable[..., Any], **options: Unpack[AuditOptions]) -> Evidence:
    """Audit a mechanism: compute a certified lower bound of its privacy loss and compare it with the claim.

    A function as it is, with noise of its own, is traced and measured on the neighbours of its data. Where a domain of
    columns is declared, or a range of so many numbers, its claim is proved for all such data, if it can be.

    Args:
        {options}

    Returns:
        The evidence. Its verdict is INVALID if the runs cannot be trusted.

    Raises:
        UsageError: if the request cannot be carried out as it stands.
    """
    request = AuditRequest(target, **options)
    if request.length is not None:
        return _of_numbers(request)
    asked = _as_trace(request)
    return audited(request) if asked is None else _answer(asked)


def _as_trace(request: AuditRequest) -> TraceRequest | None:
    """Return the trace that answers an audit of a function of the user's own, which is read; None for any other."""
    asked = trace_for(request)
    if asked is None:
        return None
    mechanism = load(request.target)
    own = is_own(getattr(mechanism.function, "__func__", mechanism.function)) and mechanism.query is None
    return asked if own and mechanism.shape in (Shape.OPAQUE, Shape.SEEDED) else None


def _answer(asked: TraceRequest) -> Evidence:
    """Return the evidence of the proof or of the trace: which one is settled before anything is measured."""
    from dpaudit.auditing.trace import Tracing  # an audit of anything else starts without them
    from dpaudit.verify.prove_and_audit import proving

    asked = replace(asked, seed=given_or_fresh(asked.seed))
    wanted = proof_for(asked)
    if wanted is None:
        return _told(Tracing.of(asked).concluded(), "" if asked.data is None else _undeclared(asked))
    try:
        found = proving(wanted)
    except UsageError as error:
        return _told(Tracing.of(asked).concluded(), str(error))
    said = f"{found.why_not} (dpaudit prove tells more)"
    if found.found.upper is not None:
        few = Tracing.of(replace(asked, candidates=min(asked.candidates, _FEW)))
        spoken = _speaks_against(few, found)
        if spoken == ("" if found.keeps_claim else _IN_WORDS):
            return found.measured()  # on the pair of the proof, which is small, and shows more
        said = _CONTRADICTS if found.keeps_claim else said
    found.question.engine.close()
    return _told(Tracing.of(asked).concluded(), said)


def _of_numbers(request: AuditRequest) -> Evidence:
    """Return the evidence of an audit on lists of so many numbers: of the proof, and of the pair that it ends in."""
    from dpaudit.auditing.trace import Tracing
    from dpaudit.verify.prove_and_audit import proving

    request = replace(request, seed=given_or_fresh(request.seed))
    asked, wanted = trace_for(request), proof_for(request)
    if asked is None or wanted is None or request.data is not None or not is_two_numbers(request.domain):
        raise UsageError(
            "a length is of lists of numbers within a range, whose worst pair is found by a proof: give "
            "domain=(0, 1), length=3 (--domain '[0, 1]' --length 3), without data or pairs, or what only runs can be "
            "asked for"
        )
    found = proving(wanted)
    if not found.keeps_claim:
        return found.measured()
    tracing = Tracing.of(replace(asked, domain=None, pairs=[found.found.pair], relation=found.question.relation))
    if _speaks_against(tracing, found):
        found.question.engine.close()
        return _told(tracing.concluded(), _CONTRADICTS)
    return found.measured()


def _speaks_against(tracing: Tracing, found: Proving) -> str:
    """Say whether a trace speaks against the claim or the bound: with certainty, or in words alone; "" for not."""
    seen, most = tracing.concluded(measured=False), found.found.upper
    if seen.relation != str(found.question.relation):
        return _CERTAINLY
    if seen.verdict in (Verdict.VIOLATED, Verdict.INVALID) or (most is not None and seen.lower.value > most):
        return _CERTAINLY
    return _IN_WORDS if against(seen) else ""


def _undeclared(asked: TraceRequest) -> str:
    """Say what to declare: by name, the columns that stand in the function, or all; never what the data hold."""
    from dpaudit.reading.universe.drive import texts_in

    kinds = getattr(asked.data, "dtypes", None)
    listed = [] if kinds is None or getattr(asked.data, "ndim", 0) != 2 else list(kinds.items())
    written = set(texts_in(load(asked.target).function))
    used = [(name, kind) for name, kind in listed if name in written] or listed
    others = [str(name) for name, _ in listed if name not in dict(used)]
    forms = [f"'{name}={'[LOW, HIGH]' if kind.kind in 'iuf' else '[VALUES]'}'" for name, kind in used[:_MOST_NAMED]]
    more = " …" if len(used) > _MOST_NAMED else ""
    given = " ".join(f"--domain {form}" for form in forms or ["'age=[0, 120]'"])
    said = f"no domain is declared; say what the columns that are used may hold, whatever the data are: {given}{more}"
    left = ", ".join(others[:_MOST_NAMED]) + (", …" if len(others) > _MOST_NAMED else "")
    return f"{said}. Leave what is not used out of the data, or declare it too: {left}" if others else said


def _told(evidence: Evidence, said: str) -> Evidence:
    """Return the evidence of a trace that also says what came of the proof."""
    if not said or evidence.trace is None:
        return evidence
    trace = msgspec.structs.replace(evidence.trace, unproved=said.removesuffix("."))
    return msgspec.structs.replace(evidence, trace=trace)
