"""How does a build attest what was found? With an unsigned in-toto Statement, which the build system signs.

The Statement (in-toto Attestation Framework, v1) names the evidence and the code by their digests; its predicate is
the framework's test result (``https://in-toto.io/attestation/test-result/v0.1``). A passed test found nothing against
a claim; it does not say that the claim holds. A proof, which does say so, is a separate test.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from dpaudit.evidence.evidence import Evidence, qualified
from dpaudit.evidence.records import Verdict
from dpaudit.report.text.phrases import one_line
from dpaudit.report.view import View, view

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

_FAILED, _WARNED, _PASSED = "FAILED", "WARNED", "PASSED"
_ASKED = ("claim", "relation", "learning", "measuring", "confidence", "seed", "low_bits", "versions")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def statement(evidences: Sequence[Evidence]) -> dict[str, Any]:
    """Return one Statement about one or several audits, as JSON values.

    ``result`` is FAILED if a claim is violated or runs cannot be trusted; else WARNED if nothing was decided, nothing
    was claimed, or a finding beside the verdict is worse than the verdict; else PASSED.
    """
    lists: dict[str, list[str]] = {_PASSED: [], _WARNED: [], _FAILED: []}
    views = [view(evidence) for evidence in evidences]
    for evidence, shown in zip(evidences, views, strict=True):
        lists[_result(shown)].append(f"no violation of the claim found: {_title(evidence)}")
        if evidence.verdict is Verdict.PROVED:
            lists[_PASSED].append(f"claim {qualified(evidence)}: {_title(evidence)}")
    return {
        "_type": STATEMENT,
        "subject": _unique([subject for evidence in evidences for subject in _subjects(evidence)]),
        "predicateType": PREDICATE,
        "predicate": {
            "result": next(result for result in (_FAILED, _WARNED, _PASSED) if lists[result]),
            "configuration": [_configuration(evidence) for evidence in evidences],
            "passedTests": lists[_PASSED],
            "warnedTests": lists[_WARNED],
            "failedTests": lists[_FAILED],
            "dpaudit_findings": [_finding(shown) for shown in views],
        },
    }


def statement_text(evidences: Sequence[Evidence]) -> str:
    """Return the Statement as text."""
    return json.dumps(statement(evidences), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _result(shown: View) -> str:
    verdict = shown.evidence.verdict
    if verdict in (Verdict.VIOLATED, Verdict.INVALID):
        return _FAILED
    if verdict in (Verdict.INCONCLUSIVE, Verdict.NO_CLAIM):
        return _WARNED
    return _WARNED if shown.pressing else _PASSED


def _title(evidence: Evidence) -> str:
    """Return a test name that a policy can refer to: the target and its claim, as they are written."""
    return one_line(f"{evidence.target.name} ({evidence.claim or 'no claim'})")


def _subjects(evidence: Evidence) -> list[dict[str, Any]]:
    """Return what is attested: the record by its id, its evidence file, and the function's source."""
    identity = evidence.id.removeprefix("dpa1:")
    file = hashlib.sha256(evidence.to_json().encode("utf-8")).hexdigest()
    found = [_subject(evidence.id, identity), _subject(f"{evidence.id}.json", file)]
    source = evidence.target.digest
    if source is not None and _DIGEST.fullmatch(source):
        found.append(_subject(f"source of {one_line(evidence.target.name)} {source[:12]}", source))
    return found


def _subject(name: str, digest: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": digest}}


def _unique(subjects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each artifact once, for digests that two audits share and evidence that is given twice."""
    return list({subject["digest"]["sha256"]: subject for subject in reversed(subjects)}.values())[::-1]


def _configuration(evidence: Evidence) -> dict[str, Any]:
    """Return the settings of the audit, with the SHA-256 of the RFC 8785 form of its annotations."""
    import rfc8785

    record = evidence.record()
    asked = {
        "target": record["target"]["name"],
        "parameters": record["target"]["parameters"],
        "pairs": [[pair["digest0"], pair["digest1"]] for pair in record["pairs"]],
        **{name: record.get(name) for name in _ASKED},
    }
    return {
        "name": f"configuration of {evidence.id}",
        "digest": {"sha256": hashlib.sha256(rfc8785.dumps(asked)).hexdigest()},
        "mediaType": "application/json",
        "annotations": asked,
    }


def _finding(shown: View) -> dict[str, Any]:
    return {
        "evidence": shown.evidence.id,
        "verdict": qualified(shown.evidence),
        "sentence": one_line(shown.headline.sentence),
        "caution": one_line(shown.headline.caution),
        "beside": [{"about": row.name, "text": one_line(row.text)} for row in shown.beside],
    }
