"""Which kinds of proof are there, and how is each made, recorded, checked, and held against its program again?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpaudit.checker import CertificateError
from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Proof
from dpaudit.neighbours.domain import is_two_numbers
from dpaudit.verify.proofs.answers import ALIGNMENT, INDUCTION
from dpaudit.verify.proofs.domains import ENUMERATION, MOVES
from dpaudit.verify.proofs.kind import UNREADABLE, CheckedProof, NotShownError, ProofKind
from dpaudit.verify.proofs.releases import RELEASES

__all__ = ["KINDS", "answers", "check_proof", "domains", "kind", "kind_asked", "open_ends", "releases"]

KINDS = {kind.method: kind for kind in (ALIGNMENT, INDUCTION, ENUMERATION, RELEASES, MOVES)}
"""Every kind of proof, by the method that evidence names."""

_MOST_RUNS = 10**6  # that are compared with what was read, within the time that a proof has


def kind_asked(domain: Any, length: int | None) -> ProofKind:
    """Return the kind of proof that is asked for."""
    if isinstance(domain, Mapping):
        return RELEASES
    if isinstance(domain, tuple) and is_two_numbers(domain):
        return MOVES
    if domain is not None and not isinstance(domain, str):
        return ENUMERATION
    return INDUCTION if length is None else ALIGNMENT


def check_proof(evidence: Evidence) -> CheckedProof:
    """Check the proof of evidence, and everything that the evidence states of it."""
    proof = evidence.proof
    if proof is None:
        raise NotShownError("an upper bound is stated, and there is no proof")
    kind = KINDS.get(proof.method)
    if kind is None:
        raise NotShownError(f"there are no proofs by {proof.method!r:.40}")
    if len(evidence.pairs) != 1:
        raise NotShownError(f"a proof ends in one pair, and {len(evidence.pairs)} are stated")
    try:
        _refuse_compared(proof)
        certain = evidence.upper if kind is not ENUMERATION else None
        if (certain is None) != (proof.certificate is None) and kind is not ENUMERATION:
            stated = (
                "an upper bound is stated, and there is no" if certain else "no upper bound is stated, and there is a"
            )
            raise NotShownError(f"{stated} proof of one")
        if evidence.upper is not None and open_ends(proof):
            raise NotShownError("an upper bound is stated, and not all that can run was read")
        if proof.derived is not None and kind is not RELEASES:
            raise NotShownError(f"what a record adds is derived, and a proof by {kind.method} is of no records")
        return kind.check(evidence, proof)
    except CertificateError as error:
        raise NotShownError(str(error)) from None
    except (UsageError, *UNREADABLE) as error:
        raise NotShownError(f"it cannot be read: {error or type(error).__name__}") from None


def _refuse_compared(proof: Proof) -> None:
    """Refuse numbers of runs and paths that cannot be."""
    if proof.paths < 0:
        raise NotShownError(f"{proof.paths} paths are stated")
    comparison = proof.comparison
    if comparison is None:
        return
    if (
        min(comparison.runs, comparison.passed_over, comparison.compared) < 0
        or comparison.runs + comparison.passed_over > _MOST_RUNS
    ):
        raise NotShownError(
            f"{comparison.runs} and {comparison.passed_over} runs are stated, more than a proof compares"
        )
    if not comparison.compared <= min(comparison.paths, comparison.runs):
        raise NotShownError(
            f"{comparison.runs} runs are said to be compared with {comparison.compared} of {comparison.paths} paths"
        )


def open_ends(proof: Proof | None) -> tuple[str, ...]:
    """Return why nothing is proved although something was read, as far as it is recorded."""
    return () if proof is None or proof.comparison is None else proof.comparison.open_ends
