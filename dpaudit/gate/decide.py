"""What does the evidence of a target mean for the build? The rules, in their order; a violation comes first."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.accounts.account import asked_of, plan_for
from dpaudit.accounts.plan import settings_plan
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence, against
from dpaudit.evidence.further_records import Release
from dpaudit.evidence.records import Verdict
from dpaudit.gate.result import Acceptance, BaselineComparison, Outcome, OutcomeRule, TargetResult
from dpaudit.gate.schema import TargetSettings
from dpaudit.gate.target_process import Request, options_in, other_training, traced_options
from dpaudit.neighbours.data_files import read_pairs
from dpaudit.neighbours.digest import digest
from dpaudit.neighbours.relation import neighbouring
from dpaudit.processes import Asked, other_question
from dpaudit.report.text.numerals import lower_text, upper_text
from dpaudit.report.text.training import instead
from dpaudit.request import AccountRequest, AuditRequest, ProofRequest, TraceRequest
from dpaudit.review.check import TOO_MANY, check

Decision = tuple[Outcome, OutcomeRule, str]

_INCONCLUSIVE = {"report": Outcome.INCONCLUSIVE, "pass": Outcome.PASSED, "fail": Outcome.FAILED}
OPAQUE = (
    "This function draws randomness of its own, which no seed reaches: dpaudit cannot promise that unchanged code "
    "always ends the same."
)


def decide(
    target: TargetSettings, evidence: Evidence, comparison: BaselineComparison | None, unproved: str | None
) -> Decision:
    """Return the outcome of a target, the rule that led to it, and a sentence.

    Args:
        target: its settings, with the policy.
        evidence: of the target; a violation in it is already confirmed.
        comparison: with the baseline, or None.
        unproved: why a program could not be read for a proof, or None.
    """
    verdict, training = evidence.verdict, evidence.training
    told = evidence.reason if training is None else f"{evidence.reason}{instead(training)}"
    if verdict is Verdict.INVALID:
        return Outcome.INVALID, OutcomeRule.RUNS_INVALID, evidence.reason
    if target.expect == "violated":
        if evidence.verdict is Verdict.VIOLATED:
            return Outcome.PASSED, OutcomeRule.PASSED, f"Violated, as expected: {evidence.reason}"
        return (
            Outcome.FAILED,
            OutcomeRule.VIOLATION_MISSING,
            f"This target is expected to be violated, and that was not found: {evidence.reason}",
        )
    if verdict is Verdict.VIOLATED:
        return Outcome.FAILED, OutcomeRule.CLAIM_VIOLATED, told
    if comparison is not None and comparison.leakier:
        return Outcome.FAILED, OutcomeRule.LEAKIER, _leakier(comparison)
    if evidence.proof is not None and evidence.proof.is_refuted:
        return Outcome.FAILED, OutcomeRule.GIVEN_REFUTED, evidence.reason
    if target.require == "proved" and verdict is not Verdict.PROVED:
        # this refutes nothing, and only a refuted claim ends with exit code 1
        why = f"no proof: {unproved}" if unproved else evidence.reason
        return Outcome.INCONCLUSIVE, OutcomeRule.NOT_PROVED, f"Not proved, and the policy asks for a proof; {why}"
    if verdict is Verdict.INCONCLUSIVE and target.inconclusive == "pass" and against(evidence):
        # a policy may tolerate what was not decided, but no word that passes stands above what speaks against the claim
        return Outcome.INCONCLUSIVE, OutcomeRule.INCONCLUSIVE, evidence.reason
    if verdict is Verdict.INCONCLUSIVE:
        return _INCONCLUSIVE[target.inconclusive or "report"], OutcomeRule.INCONCLUSIVE, told
    return Outcome.PASSED, OutcomeRule.PASSED, evidence.reason


def accepted(result: TargetResult, accept: Acceptance | None, today: datetime.date, *, compared: bool) -> TargetResult:
    """Return a result of which the configuration accepts a finding: never as passed, and with all that was found.

    Args:
        result: of the target.
        accept: what is accepted of it, if anything.
        today: an acceptance holds through its last day.
        compared: whether what is accepted could have been found at all.
    """
    if accept is None:
        return result
    if result.outcome is Outcome.PASSED or result.rule is not accept.rule:
        if result.outcome is Outcome.INVALID or not compared:
            return result
        unused = f"accept names {accept.rule}, which was not found now; where it is fixed for good, take accept out."
        return replace(result, notes=(*result.notes, unused), stale=True)
    day = accept.until.isoformat()
    if not today <= accept.until:
        over = f"It was accepted until {day}, which is over ({accept.why}): fix it, or accept it anew."
        return replace(result, notes=(over, *result.notes), stale=True)
    if accept.up_to is not None:
        lower = None if result.evidence is None else result.evidence.lower.value
        if lower is None or not lower <= accept.up_to:
            shown = "an unknown loss" if lower is None else lower_text(lower)
            more = f"It is accepted up to {upper_text(accept.up_to)} only ({accept.why}), and {shown} was found."
            return replace(result, notes=(more, *result.notes))
    size = "" if accept.up_to is None else f", up to {upper_text(accept.up_to)}"
    stands = f"Accepted until {day}{size}: {accept.why}. The finding stands."
    return replace(result, outcome=Outcome.ACCEPTED, notes=(stands, *result.notes), accepted=accept)


def _leakier(comparison: BaselineComparison) -> str:
    told = f"{comparison.about} grew" if comparison.about else "The event of the baseline now tells more than it did"
    now, before = lower_text(comparison.after[0]), upper_text(comparison.before[1])
    return f"{told}: it is at least {now}, and was at most {before} in the baseline."


# --- Can the evidence of a target be relied on? It is compared with the request, and checked, before it decides. ---


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
