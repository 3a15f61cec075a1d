"""How do other programs read the result of a gate? As JSON: what every format shows, and the numbers behind it."""

from __future__ import annotations

import json
from typing import Any

from dpaudit.evidence.canonical_json import json_values
from dpaudit.evidence.evidence import Evidence
from dpaudit.gate.result import GateResult, TargetResult
from dpaudit.gate.words import shown

FORMAT = "dpaudit-gate"
VERSION = 1


def gate_json(result: GateResult) -> str:
    """Return the result as JSON; infinite numbers are texts, as in evidence."""
    values = {
        "format": FORMAT,
        "version": VERSION,
        "exit_code": result.exit_code,
        "confidence": result.confidence,
        "seed": result.seed,
        "seconds": result.seconds,
        "targets": [_target(each) for each in result.results],
    }
    return json.dumps(json_values(values), indent=1, ensure_ascii=False) + "\n"


def _target(item: TargetResult) -> dict[str, Any]:
    where, compared = item.location, item.comparison
    return {
        "name": item.name,
        "target": item.target,
        "outcome": str(item.outcome),
        "rule": str(item.rule),
        "says": item.sentence,
        "beside": shown(item).beside,
        "notes": item.notes,
        "evidence": None if item.evidence is None else _bounds(item.evidence),
        "location": None if where is None else {"file": where.file, "line": where.line},
        "baseline": None
        if compared is None
        else {"before": compared.before, "after": compared.after, "leakier": compared.leakier},
        "accepted": None
        if item.accepted is None
        else {"until": item.accepted.until.isoformat(), "why": item.accepted.why, "up_to": item.accepted.up_to},
        "stale": item.stale,
        "cached": item.cached,
        "seconds": item.seconds,
        "page": item.page,
    }


def _bounds(evidence: Evidence) -> dict[str, Any]:
    """The numbers of the evidence that decide."""
    return {
        "id": evidence.id,
        "verdict": str(evidence.verdict),
        "given": [] if evidence.proof is None else list(evidence.proof.given),
        "claim": evidence.claim,
        "relation": evidence.relation,
        "parameter": evidence.lower.parameter,
        "lower": evidence.lower.value,
        "upper": None if evidence.upper is None else evidence.upper.value,
        "delta": evidence.lower.delta,
        "detectable": evidence.detectable,
    }
