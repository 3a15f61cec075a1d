"""Is the evidence of a target to be relied on? It is held against the request, and checked, before it decides."""

from __future__ import annotations

import json
from typing import Any

from dpaudit.answered import other_question
from dpaudit.check import TOO_MANY, check
from dpaudit.errors import UsageError
from dpaudit.evidence import Evidence
from dpaudit.gate.child import Request
from dpaudit.neighbours.digest import digest


def held(document: dict[str, Any], request: Request) -> Evidence:
    """Return the evidence in a document that answers a request, and does not fail its check.

    Raises:
        UsageError: where it is none, answers another question, or fails its check.
    """
    evidence = Evidence.from_json(json.dumps(document), name=f"the evidence of {request.target}")
    why = other_question(
        evidence,
        target=request.target,
        parameters=request.parameters,
        claim=request.claim,
        relation=request.relation,
        confidence=request.confidence,
        seed=request.seed,
        runs=request.runs,
        folder=request.root,
        false_alarm=request.false_alarm,
        types=request.types,
    )
    if why is None and request.pairs is not None and evidence.proof is None:
        asked = [tuple(map(digest, pair)) for pair in request.pairs]
        why = None if asked == [(pair.digest0, pair.digest1) for pair in evidence.pairs] else "the pairs are others"
    if why is not None:
        raise UsageError(f"its process handed over evidence about something else: {why}")
    for finding in check(evidence):
        if finding.fails or finding.what == TOO_MANY:  # nothing that a gate asks for is too much to check
            raise UsageError(
                f"its process handed over evidence that fails its check: {finding.what}: {finding.sentence}; what a "
                "target does to its process is part of it"
            )
    return evidence


def is_held(document: dict[str, Any] | None, request: Request) -> bool:
    """Whether a document holds such evidence; one that does not is worth another run."""
    try:
        return document is not None and held(document, request) is not None
    except UsageError:
        return False
