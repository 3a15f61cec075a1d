"""What did a second look show, and what does an unconfirmed bound above the claim mean? In words, for every view."""

from __future__ import annotations

from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Bound, Verdict
from dpaudit.report.text.numerals import confidence_text, count_text, estimate_text
from dpaudit.report.text.phrases import bound_text, certainty


def doubted(evidence: Evidence) -> Bound | None:
    """Return the sampled bound that is above the claim without counting as a violation; None if there is none."""
    claim, second = evidence.claimed, evidence.second
    if claim is None or evidence.verdict not in (Verdict.NOT_VIOLATED, Verdict.INCONCLUSIVE):
        return None
    if second is not None and second.attempt < len(evidence.attempts):
        real = evidence.attempts[second.attempt].bound.arithmetic == "real" or evidence.floating_point is None
        return evidence.lower if real else evidence.floating_point
    above = evidence.lower.kind == "sampled" and evidence.lower.value > claim.value
    return evidence.lower if above and evidence.false_alarm is not None and evidence.proof is None else None


def doubt_sentence(evidence: Evidence) -> str:
    """Say what such a bound means; empty if there is none."""
    bound, second = doubted(evidence), evidence.second
    if bound is None:
        return ""
    reader = " for someone who reads the low-order bits" if bound.arithmetic == "float" else ""
    by_chance = estimate_text(1 / (1 - evidence.confidence))
    shown = f"{bound_text(bound, evidence.claimed)} {certainty(bound)}{reader}"
    claim = evidence.claimed
    if second is not None and claim is not None and bound.value <= claim.value:
        return (
            f"The audit shows {shown}. At {confidence_text(evidence.confidence)} confidence the runs show more than "
            f"is claimed, as they do by chance in up to one of {by_chance} audits of a mechanism that just keeps its "
            f"claim; {count_text(sum(second.counts.runs))} fresh runs of the same event did not confirm it."
        )
    text = (
        f"The bound that is shown, {shown}, is above the claim, as it is by chance in up to one of {by_chance} audits "
        "of a mechanism that just keeps its claim"
    )
    if second is None:
        return f"{text}; that is too often for a violation."
    return f"{text}; {count_text(sum(second.counts.runs))} fresh runs of the same event did not confirm it."


def second_text(evidence: Evidence) -> str | None:
    """Say in one line what the second look showed; None if there was none."""
    second = evidence.second
    if second is None:
        return None
    runs, sign = count_text(sum(second.counts.runs)), "≤" if second.confirmed else ">"
    how = "confirm the first look" if second.confirmed else "did not confirm the first look"
    return f"{runs} fresh runs of its event {how} (p₁ ≤ {second.p:.3g}, p₂ {sign} {second.level:.3g})"
