"""What does the evidence of a target mean for the build? The rules, in their order; a violation comes first."""

from __future__ import annotations

import datetime
from dataclasses import replace

from dpaudit.evidence.evidence import Evidence, against
from dpaudit.evidence.records import Verdict
from dpaudit.gate.result import Acceptance, BaselineComparison, Outcome, OutcomeRule, TargetResult
from dpaudit.gate.schema import TargetSettings
from dpaudit.report.text.numerals import lower_text, upper_text

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
    verdict = evidence.verdict
    if verdict is Verdict.INVALID:
        return Outcome.INVALID, OutcomeRule.RUNS_INVALID, evidence.reason
    if target.expect == "violated":
        return _expected(evidence)
    if verdict is Verdict.VIOLATED:
        return Outcome.FAILED, OutcomeRule.CLAIM_VIOLATED, evidence.reason
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
        return _INCONCLUSIVE[target.inconclusive or "report"], OutcomeRule.INCONCLUSIVE, evidence.reason
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
        unused = f"accept names {accept.rule}, which was not found now; where it is mended for good, take accept out."
        return replace(result, notes=(*result.notes, unused), stale=True)
    day = accept.until.isoformat()
    if not today <= accept.until:
        over = f"It was accepted until {day}, which is over ({accept.why}): mend it, or accept it anew."
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


def _expected(evidence: Evidence) -> Decision:
    if evidence.verdict is Verdict.VIOLATED:
        return Outcome.PASSED, OutcomeRule.PASSED, f"Violated, as expected: {evidence.reason}"
    return (
        Outcome.FAILED,
        OutcomeRule.VIOLATION_MISSING,
        f"This target is expected to be violated, and that was not found: {evidence.reason}",
    )


def _leakier(comparison: BaselineComparison) -> str:
    told = f"{comparison.about} grew" if comparison.about else "The event of the baseline now tells more than it did"
    now, before = lower_text(comparison.after[0]), upper_text(comparison.before[1])
    return f"{told}: it is at least {now}, and was at most {before} in the baseline."
