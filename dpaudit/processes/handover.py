"""Does this evidence answer the request? Evidence from another process is compared with what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit.evidence.canonical_json import json_values, plain_value
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.neighbours import parse_relation
from dpaudit.neighbours.digest import digest, kept_text
from dpaudit.neighbours.domain import is_two_numbers
from dpaudit.neighbours.given_moves import parse_all
from dpaudit.privacy import parse_claim
from dpaudit.request import AuditRequest, ProofRequest, Request, TraceRequest, options_of, proof_for, trace_for

Digests = Sequence[tuple[str, str]]
Compared = Iterator[tuple[str, Any, Any]]
_READ = ("seeded", "opaque")  # whose source is read, so that an audit may be a trace, or a proof
_NOISE_ALONE = "program"  # stands for its mathematics, so it has no low-order bits


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: an audit, a trace, a proof, or a proof with an audit as the alternative.

    Attributes:
        audit, proof, trace: the requests that evidence may answer; None if it may not.
        folder: where the target was searched.
        pairs: digests of the given pairs; None for the mechanism's own pairs, and for pairs that are found.
    """

    audit: AuditRequest | None = None
    proof: ProofRequest | None = None
    trace: TraceRequest | None = None
    folder: str = "."
    pairs: Digests | None = None


def other_question(evidence: Evidence, asked: Asked) -> str | None:
    """Say how evidence deviates from the request; None if it answers the request."""
    proved = evidence.proof is not None or evidence.counterexample is not None
    if asked.audit is not None and asked.audit.length is not None:
        asked = replace(asked, audit=None, proof=proof_for(asked.audit))
    elif asked.audit is not None and asked.proof is None and asked.trace is None and evidence.target.asks in _READ:
        trace = trace_for(asked.audit)
        if evidence.trace is not None:
            asked = replace(asked, trace=trace)
        elif trace is not None and proved:
            asked = replace(asked, proof=proof_for(trace))
    if (evidence.trace is not None) != (asked.trace is not None):
        return f"whether it is a trace is {evidence.trace is not None}, and {asked.trace is not None} was asked for"
    request = asked.trace or (asked.proof if proved else asked.audit)
    if request is None:
        return f"whether it is a proof is {proved}, and {not proved} was asked for"
    if not _is_called(evidence.target.name, request.target, asked.folder):
        return f"the target is {evidence.target.name!r}, and {request.target!r} was asked for"
    for what, found, wanted in _compared(evidence, request, asked.pairs):
        if found != wanted:
            return f"{what} is {found!r:.80}, and {wanted!r:.80} was asked for"
    return None


def _compared(evidence: Evidence, request: Request, pairs: Digests | None) -> Compared:
    """Yield (name, found, asked) for everything that must be equal: every option that is part of the request."""
    for name, option in options_of(type(request)).items():
        if not option.asked or not (option.if_invalid or evidence.verdict is not Verdict.INVALID):
            continue
        if name == "pairs" and pairs is not None:
            yield option.asked, [(pair.digest0, pair.digest1) for pair in evidence.pairs], [tuple(own) for own in pairs]
        elif name in _IN_OTHER_WORDS:
            yield from _IN_OTHER_WORDS[name](evidence, request)
        elif option.recorded is not None:
            yield option.asked, option.recorded(evidence), getattr(request, name)


def _parameters(evidence: Evidence, request: Any) -> Compared:
    own = evidence.target.parameters
    for name, value in (request.parameters or {}).items():
        yield f"the parameter {name}", json_values(own.get(name)), json_values(plain_value(value))


def _claim(evidence: Evidence, request: Any) -> Compared:
    if request.claim is not None:
        yield "the claim", evidence.claim, str(parse_claim(request.claim))


def _relation(evidence: Evidence, request: Any) -> Compared:
    if request.relation is not None and evidence.accounting is not None:  # accountants have a name of their own
        yield "the relation", evidence.relation, {"replace": "replace-one"}.get(request.relation, request.relation)
    elif request.relation is not None:
        yield "the relation", evidence.relation, str(parse_relation(request.relation))


def _false_alarm(evidence: Evidence, request: Any) -> Compared:
    if evidence.claim is not None and evidence.attempts:
        doubts = 1 - evidence.confidence > request.false_alarm * (1 + 1e-9)  # else one look is enough, none is recorded
        yield "the false alarm", evidence.false_alarm, request.false_alarm if doubts else None


def _seed(evidence: Evidence, request: Any) -> Compared:
    if request.seed is not None:
        yield "the seed", evidence.seed, request.seed


def _runs(evidence: Evidence, request: Any) -> Compared:
    if request.time_budget is None:
        yield "the number of runs", evidence.budget, request.runs


def _floating_point(evidence: Evidence, request: Any) -> Compared:
    examined = evidence.target.asks != _NOISE_ALONE and not request.observe and not request.sequential
    yield "what low-order bits count for", evidence.low_bits, request.floating_point if examined else "ignore"


def _observe(evidence: Evidence, request: Any) -> Compared:
    named = (request.observe,) if isinstance(request.observe, str) else request.observe
    yield "what is observed", tuple(evidence.observed), tuple(dict.fromkeys(named))


def _data(evidence: Evidence, request: Any) -> Compared:
    if evidence.verdict is not Verdict.INVALID:
        space = evidence.search or evidence.trace
        searched = space is not None and space.source == "data"
        yield "whether data are searched", searched, request.data is not None
        if space is not None and request.data is not None:
            yield "the digest of the data", space.data, digest(request.data)


def _domain(evidence: Evidence, request: Any) -> Compared:
    if evidence.proof is None:
        if evidence.verdict is not Verdict.INVALID:
            space = evidence.search or evidence.trace
            declared = None if space is None else space.domain
            yield "what records may hold", declared, None if request.domain is None else kept_text(request.domain)
        return
    domain = request.domain
    by_columns = isinstance(domain, Mapping)
    yield "whether it is proved from records", evidence.proof.method == "releases", by_columns
    if by_columns:
        yield "what the columns may hold", evidence.proof.domain, kept_text(dict(domain))
        return
    if evidence.proof.method == "moves" and is_two_numbers(domain):
        yield "the range of the numbers", evidence.proof.domain, kept_text(tuple(domain))
        return
    listed = domain is not None and not isinstance(domain, str)
    yield "whether it is proved by enumeration", evidence.proof.method == "enumeration", listed
    if isinstance(domain, str):
        word = {"integer": "whole-number", "real": "real"}.get(domain, domain)
        yield f"whether it holds for {word} answers", f" {word} answer" in evidence.proof.scope, True
    elif domain is not None:
        told = f"the {len(domain)} datasets of the domain that was given"
        yield "what it holds for", evidence.proof.scope.partition(", under ")[0], told


def _given(evidence: Evidence, request: Any) -> Compared:
    if evidence.proof is not None:
        yield "what is given", evidence.proof.given, tuple(map(str, parse_all(request.given)))


_IN_OTHER_WORDS: dict[str, Callable[[Evidence, Any], Compared]] = {
    "parameters": _parameters,
    "claim": _claim,
    "relation": _relation,
    "false_alarm": _false_alarm,
    "seed": _seed,
    "runs": _runs,
    "floating_point": _floating_point,
    "observe": _observe,
    "data": _data,
    "domain": _domain,
    "given": _given,
}
"""Options that are only compared if given, or that evidence records in another form."""


def _is_called(name: str, target: str, folder: str) -> bool:
    """Whether the target in evidence is the requested one: same file, same function."""
    place, _, own = target.rpartition(":")
    found, _, function = name.rpartition(":")
    if function != own:
        return False
    return not place.endswith(".py") or Path(found).name == (Path(folder) / place).resolve().name
