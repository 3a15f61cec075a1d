"""Can the evidence of a target be relied on? It is compared with the request, and checked, before it decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpaudit.accounts.account import asked_of, plan_for
from dpaudit.accounts.plan import settings_plan
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Release
from dpaudit.gate.target_process import Request, options_in, traced_options
from dpaudit.gate.training import other_training
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.inferred import neighbouring
from dpaudit.neighbours.pair_files import read_pairs
from dpaudit.processes.handover import Asked, other_question
from dpaudit.request import AccountRequest, AuditRequest, ProofRequest, TraceRequest
from dpaudit.review.check import TOO_MANY, check


def relied_on(document: dict[str, Any], request: Request) -> Evidence:
    """Return the evidence in a document, if it answers the request and does not fail its check."""
    evidence = Evidence.from_json(json.dumps(document), name=f"the evidence of {request.target}")
    if request.training is not None:
        why = other_training(evidence, request)
    elif request.account is None:
        why = other_question(evidence, asked_by(request, evidence.relation))
    else:
        why = _other_list(evidence, request)
    if why is not None:
        raise UsageError(f"its process handed over evidence about something else: {why}")
    for finding in check(evidence):
        if finding.fails or finding.what == TOO_MANY:  # no gate asks for too many runs to check
            raise UsageError(
                f"its process handed over evidence that fails its check: {finding.what}: {finding.sentence}; what a "
                "target does to its process is part of it"
            )
    return evidence


def _other_list(evidence: Evidence, request: Request) -> str | None:
    """Say where evidence accounts for other releases, or other claims, than were asked for; None if for these."""
    if evidence.accounting is None:
        return "it is no accounting"
    plan = settings_plan(request.account, request.root)
    if evidence.accounting.releases != tuple(Release(str(run.event), run.steps, run.name) for run in plan.runs):
        return "it is of other releases"
    wanted = [claim for _, _, claim in asked_of(plan_for(AccountRequest(plan, claim=request.claim)))]
    if [each.claim for each in evidence.accounting.statements] != [None if it is None else str(it) for it in wanted]:
        return "it is about other claims"
    return None


def asked_by(request: Request, relation: str) -> Asked:
    """Return what a request asks of its evidence; ``relation`` distinguishes one pair in a file from a list."""
    pairs = None if request.pairs is None else [(pair[0], pair[1]) for pair in request.pairs]
    if request.files:
        pairs = read_pairs([Path(request.root) / file for file in request.files], neighbouring(relation))
    digests = None if pairs is None else [(digest(data0), digest(data1)) for data0, data1 in pairs]
    if request.trace:
        asked = TraceRequest(request.target, **traced_options(request, pairs))
        return Asked(trace=asked, folder=request.root, pairs=digests)
    return Asked(
        audit=AuditRequest(request.target, **options_in(request, AuditRequest)),
        proof=ProofRequest(request.target, **options_in(request, ProofRequest)) if request.prove else None,
        folder=request.root,
        pairs=digests,
    )


def is_reliable(document: dict[str, Any] | None, request: Request) -> bool:
    """Whether a document has such evidence; otherwise the target is run again."""
    try:
        return document is not None and relied_on(document, request) is not None
    except UsageError:
        return False
