"""Does a finding beside the bounds speak against a green verdict? The worst finding is the verdict.

Bounds decide a verdict (`dpaudit.auditing.verdict`). Some of what else is found refutes nothing, and still contradicts
the words "not violated" and "proved": such evidence is at most INCONCLUSIVE. Audits and traces end with `settled`, and
so does whoever reads a file, so that no format, and no exit code, has a rule of its own.

The low-order bits do not contradict: a verdict is about outputs as real numbers, and says so where they show more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from dpaudit.errors import UsageError
from dpaudit.evidence.records import Curve, Trace, TraceFinding, Verdict, round_outward
from dpaudit.privacy import Claim
from dpaudit.privacy.claims import number_text

if TYPE_CHECKING:
    from dpaudit.evidence.evidence import Evidence

SPEAKS_AGAINST = ("leaks", "violated, given the stated laws", "not supported")
"""What a trace may find that no claim agrees with."""

SUPPORTED = "supported on this path"

LOWERED = "A finding speaks against the claim, and refutes nothing by itself"
"""How the reason begins where a finding made a green verdict INCONCLUSIVE."""

_GREEN = (Verdict.PROVED, Verdict.NOT_VIOLATED)
_NO_PROOF = " This is not a proof of privacy."


def against(evidence: Evidence) -> str:
    """Return the worst finding that no green verdict may stand above, without a full stop; empty if there is none."""
    try:
        claim, moved = evidence.claimed, evidence.sensitivity
    except UsageError:  # no claim that can be read: a check says so
        return ""
    if claim is None:
        return ""
    if evidence.trace is not None and (worst := _worst_of(evidence.trace)) is not None:
        where = f", at {worst.where}" if worst.where else ""
        what = ": ".join(filter(None, (worst.word, worst.text)))
        return f"{what}, for a claim of {claim.symbol} = {number_text(claim.value)}{where}"
    if moved is not None and moved.exceeded:
        by = number_text(moved.largest) if moved.largest < float("inf") else "any distance"
        most = "" if moved.claimed is None else f", and {number_text(moved.claimed)} is declared"
        return f"the query moves by {by}{most} ({moved.change})"
    beyond = "" if evidence.curve is None else beyond_claim(evidence.curve, claim)
    if beyond and evidence.curve is not None:
        return f"the whole curve shows more than is claimed: {beyond}, at {evidence.curve.confidence:.6g} confidence"
    if evidence.search is not None and evidence.search.led in SPEAKS_AGAINST:
        return (
            f"runs that were replayed on a neighbour found: {evidence.search.led}, for a claim of {claim.symbol} = "
            f"{number_text(claim.value)} (dpaudit trace names the line)"
        )
    return ""


def _worst_of(trace: Trace) -> TraceFinding | None:
    """Return what a trace found against the claim, whether its word or only a finding says so; None if nothing."""
    found = [each for each in trace.findings if each.word in SPEAKS_AGAINST]
    if not found and trace.word in SPEAKS_AGAINST:
        return TraceFinding(trace.word, "", "")
    return min(found, key=lambda each: SPEAKS_AGAINST.index(each.word), default=None)


def beyond_claim(curve: Curve, claim: Claim | None) -> str:
    """Say where the curve exceeds a claim; empty if it does not, or if the two cannot be compared."""
    if claim is not None and claim.parameter == "mu":
        return "" if curve.mu <= claim.value else f"μ ≥ {number_text(round_outward(curve.mu, 'lower', 3))}"
    if claim is None or not claim.is_point:
        return ""
    for epsilon, delta in zip(curve.epsilons, curve.deltas, strict=True):
        if epsilon >= claim.value and not delta <= claim.delta:
            return f"δ ≥ {number_text(round_outward(delta, 'lower', 3))} at ε = {number_text(epsilon)}"
    return ""


def low_bits_show_more(evidence: Evidence) -> bool:
    """Whether the low-order bits, which do not decide, show more than is claimed and than all else shows."""
    bound, claim = evidence.floating_point, evidence.claimed
    if bound is None or bound.method == "none" or evidence.low_bits == "verdict":
        return False
    return not bound.value <= evidence.lower.value and (claim is None or not bound.value <= claim.value)


def is_contradicted(evidence: Evidence) -> bool:
    """Whether the verdict is green, and a finding speaks against it."""
    return evidence.verdict in _GREEN and bool(against(evidence))


def settled(evidence: Evidence) -> Evidence:
    """Return evidence whose verdict no finding in it contradicts: what was green is INCONCLUSIVE, and says why."""
    if not is_contradicted(evidence):
        return evidence
    verdict, reason = lowered(evidence.verdict, evidence.reason, against(evidence))
    return msgspec.structs.replace(evidence, verdict=verdict, reason=reason)


def lowered(verdict: Verdict, reason: str, finding: str) -> tuple[Verdict, str]:
    """Return the verdict and the reason that bounds gave, after a finding; both are as they were where none counts."""
    if verdict not in _GREEN or not finding:
        return verdict, reason
    return Verdict.INCONCLUSIVE, f"{LOWERED}: {finding}. {reason.removesuffix(_NO_PROOF)}"


def exit_code(evidence: Evidence, require: str | None = None) -> int:
    """Return the exit code of a command that found this evidence.

    Args:
        evidence: what was found.
        require: "supported" where the trace has to support the claim: what it finds against the claim is 1 then, and
            what it could not follow or price is 3, as for an inconclusive audit; None for the verdict alone.
    """
    code, trace = evidence.verdict.exit_code, evidence.trace
    if require is None or evidence.verdict is Verdict.INVALID:
        return code
    if trace is not None and _worst_of(trace) is not None:
        return 1
    supported = trace is not None and trace.word == SUPPORTED
    return code if supported else code or Verdict.INCONCLUSIVE.exit_code
