"""How is the result of a gate written as SARIF 2.1.0? As one result for every target that did not pass.

Rules have stable ids, and a fingerprint depends only on the rule and the target's name, so moved lines or different
numbers do not make a known finding look new. Source: OASIS, Static Analysis Results Interchange Format (SARIF)
Version 2.1.0 Plus Errata 01, 2023.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import posixpath
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dpaudit.evidence.evidence import SPEAKS_AGAINST
from dpaudit.gate.result import Acceptance, GateResult, Location, Outcome, OutcomeRule, TargetResult
from dpaudit.gate.words import MEANINGS, Shown, shown
from dpaudit.report.text.phrases import visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULES = tuple(rule for rule in OutcomeRule if rule is not OutcomeRule.PASSED)
_PLACES: dict[OutcomeRule, int] = {rule: place for place, rule in enumerate(_RULES)}
_BESIDE: dict[str, Any] = {
    "id": "beside-verdict",
    "name": "BesideVerdict",
    "shortDescription": {"text": "Something was found beside the verdict"},
    "fullDescription": {
        "text": "The target passed, and its audit found something that says more than the verdict does, such as "
        "low-order bits that tell more than the claim allows."
    },
    "help": {
        "text": "Read the report of the target, and decide whether its verdict is enough.",
        "markdown": "**What to do.** Read the report of the target, and decide whether its verdict is enough.",
    },
    "defaultConfiguration": {"level": "warning"},
    "properties": {"tags": ["privacy", "differential-privacy"]},
}
_LEVELS = {Outcome.FAILED: "error", Outcome.INVALID: "error", Outcome.INCONCLUSIVE: "warning"}


def sarif(result: GateResult, *, configuration: str | None = None) -> dict[str, Any]:
    """Return the result as the JSON values of a SARIF log; the same result gives the same values."""
    elsewhere = None if configuration is None else Location(configuration.rpartition("/")[2], 1)
    folder = "" if configuration is None else configuration.rpartition("/")[0]
    targets = [shown(item) for item in result.results]
    stale = [
        {"level": "warning", "message": {"text": _message(f"{item.name}: {' '.join(item.notes)}")}}
        for item in result.results
        if item.stale
    ]
    run = {
        "tool": {"driver": _driver()},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": all(item.rule is not OutcomeRule.CANNOT_RUN for item in result.results),
                "exitCode": result.exit_code,
                **({"toolConfigurationNotifications": stale} if stale else {}),
            }
        ],
        "results": [
            *(_finding(target, elsewhere, folder) for target in targets if target.item.outcome is not Outcome.PASSED),
            *(
                _beside(target, line, elsewhere, folder)
                for target in targets
                if target.item.outcome is Outcome.PASSED
                for line in target.beside
            ),
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_text(result: GateResult, *, configuration: str | None = None) -> str:
    """Return the log as text, in ASCII; see `sarif`."""
    return json.dumps(sarif(result, configuration=configuration), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def seen_from_repository(configuration: Path) -> str:
    """Return the path of a file relative to its Git repository, or only its name if there is none."""
    file = configuration.absolute()
    root = next((folder for folder in file.parents if (folder / ".git").exists()), file.parent)
    return file.relative_to(root).as_posix()


def fingerprint(target: TargetResult) -> str:
    """Return the identity of a finding: a digest of the rule and the name of the target."""
    return hashlib.sha256(json.dumps([str(target.rule), target.name]).encode()).hexdigest()


def _driver() -> dict[str, Any]:
    driver: dict[str, Any] = {"name": "dpaudit", "rules": [*map(_rule, _RULES), _BESIDE]}
    with contextlib.suppress(PackageNotFoundError):  # run from a folder where it is not installed
        driver["version"] = version("dpaudit")
    return driver


def _rule(rule: OutcomeRule) -> dict[str, Any]:
    meaning = MEANINGS[rule]
    level = "warning" if rule is OutcomeRule.INCONCLUSIVE else "error"
    return {
        "id": str(rule),
        "name": "".join(word.capitalize() for word in str(rule).split("-")),
        "shortDescription": {"text": meaning.title},
        "fullDescription": {"text": meaning.says},
        "help": {
            "text": f"{meaning.says}\n\n{meaning.next}",
            "markdown": f"{meaning.says}\n\n**What to do.** {meaning.next}",
        },
        "defaultConfiguration": {"level": level},
        "properties": {"tags": ["privacy", "differential-privacy"]},
    }


def _finding(target: Shown, elsewhere: Location | None, folder: str) -> dict[str, Any]:
    item, evidence = target.item, target.item.evidence
    properties = {"target": _shown(item.target), "outcome": str(item.outcome), "cached": item.cached}
    if evidence is not None:
        properties |= {
            "verdict": target.verdict,
            "claim": _shown(target.claim),
            "bounds": target.bounds,
            "evidence": evidence.id,
        }
    if item.page is not None:
        properties["page"] = item.page
    mark = fingerprint(item)
    accepted = item.accepted
    suppressed = {} if accepted is None else {"suppressions": [_suppression(accepted)]}
    return {
        "ruleId": str(item.rule),
        "ruleIndex": _PLACES.get(item.rule, 0),
        "level": _LEVELS.get(item.outcome, "warning"),
        "message": {"text": _message(f"{item.name}: " + " ".join(target.said))},
        "locations": [_location(item, elsewhere, folder)],
        # the first is ours; GitHub recognises an alert by the second
        "partialFingerprints": {"dpaudit/v1": mark, "primaryLocationLineHash": f"{mark[:16]}:1"},
        "properties": properties,
        **suppressed,
    }


def _suppression(accepted: Acceptance) -> dict[str, Any]:
    """Return why a finding is accepted, as section 3.35 says it."""
    why = f"accepted until {accepted.until.isoformat()}: {accepted.why}"
    return {"kind": "external", "status": "accepted", "justification": _message(why)}


def _beside(target: Shown, line: str, elsewhere: Location | None, folder: str) -> dict[str, Any]:
    """Return a finding beside the verdict of a target that passed, as a separate warning."""
    name, about = target.item.name, line.partition(":")[0]
    mark = hashlib.sha256(json.dumps([_BESIDE["id"], name, about]).encode()).hexdigest()
    return {
        **_finding(target, elsewhere, folder),
        "ruleId": _BESIDE["id"],
        "ruleIndex": len(_RULES),
        "level": "warning",
        "message": {"text": _message(f"{name} passed, and beside its verdict this was found: {line}")},
        "partialFingerprints": {"dpaudit/v1": mark, "primaryLocationLineHash": f"{mark[:16]}:1"},
    }


def _location(target: TargetResult, elsewhere: Location | None, folder: str) -> dict[str, Any]:
    """Return the line at fault if a trace names it, else the mechanism's, else that of its configuration."""
    location: dict[str, Any] = {
        "logicalLocations": [
            {"name": _shown(target.name), "fullyQualifiedName": _shown(target.target), "kind": "function"}
        ]
    }
    place = _at_fault(target) or target.location or elsewhere
    if place is not None:
        location["physicalLocation"] = _place(place, folder)
    return location


def _at_fault(target: TargetResult) -> Location | None:
    """Return the line that speaks against the claim by a trace, where it is in the mechanism's own file."""
    own, trace = target.location, None if target.evidence is None else target.evidence.trace
    if own is None or trace is None or trace.word not in SPEAKS_AGAINST or not trace.findings:
        return None
    found = re.fullmatch(r"(.+):(\d+)(?: \(.*\))?", trace.findings[0].where)
    if found is None or posixpath.basename(found[1]) != posixpath.basename(own.file):
        return None
    return Location(own.file, int(found[2]))


def _place(place: Location, folder: str) -> dict[str, Any]:
    file = posixpath.normpath(posixpath.join(folder, place.file))
    return {
        "artifactLocation": {"uri": quote(file.encode("utf-8", "backslashreplace")), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": max(place.line, 1)},
    }


def _shown(text: str) -> str:
    return visible(text, one_line=True)


def _message(text: str) -> str:
    """Return plain text without placeholders (section 3.11.5) or embedded links (3.11.6)."""
    text = re.sub(r"[{}]", lambda brace: 2 * brace[0], _shown(text))
    return re.sub(r"[\[\]]", lambda bracket: "\\" + bracket[0], text) if "](" in text else text
