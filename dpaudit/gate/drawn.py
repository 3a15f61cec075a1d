"""How is the result of a gate written for others: as JSON, JUnit XML, Markdown and SARIF?"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from dpaudit.errors import UsageError
from dpaudit.evidence.canonical_json import json_values, write_whole
from dpaudit.evidence.evidence import Evidence
from dpaudit.gate.result import (
    MEANINGS,
    NO_PROOF,
    Acceptance,
    GateResult,
    Location,
    Outcome,
    OutcomeRule,
    Shown,
    TargetResult,
    at_fault,
    headline,
    scope,
    shown,
)
from dpaudit.report import formats, html_page
from dpaudit.report.document import (
    Cells,
    Content,
    Facts,
    Page,
    Span,
    Text,
    TextCell,
    code,
    note,
    number,
    plainly,
    said,
    section,
    strong,
    table,
)
from dpaudit.report.html.templates import drawn_page, source
from dpaudit.report.text.findings import trace_story
from dpaudit.report.text.phrases import visible
from dpaudit.report.text.reproduce import reproduce_command

# --- How do other programs read the result of a gate? As JSON: what every format shows, and the numbers behind it. ---

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


# --- How is the result of a gate written as JUnit XML? As one suite with a test case for each target. ---
#
# A failed target is a failure, an invalid one an error, and one that is inconclusive, or accepted, is skipped;
# everything else is in properties. Characters that XML does not allow are written as escapes.

_RESULTS = {Outcome.FAILED: Failure, Outcome.INVALID: Error, Outcome.INCONCLUSIVE: Skipped, Outcome.ACCEPTED: Skipped}
_NO_XML = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}


def junit(result: GateResult) -> str:
    """Return the result as JUnit XML; the same result gives the same text."""
    report = JUnitXml("dpaudit gate")
    for item in result.results:
        report.add_testsuite(_suite(shown(item)))
    outcomes = [item.outcome for item in result.results]  # set by hand: the schema has no count of skipped here
    report.tests, report.time = len(outcomes), _seconds(result.seconds)
    report.failures, report.errors = outcomes.count(Outcome.FAILED), outcomes.count(Outcome.INVALID)
    buffer = BytesIO()
    report.write(buffer, pretty=True)
    return buffer.getvalue().decode("utf-8")


def _suite(target: Shown) -> TestSuite:
    item = target.item
    suite = TestSuite(_line(item.name))
    for name, value in _properties(target).items():
        suite.add_property(name, _line(value))
    case = TestCase(_line(item.name), classname=_line(item.target), time=_seconds(item.seconds))
    said = "\n".join(target.said)
    kind = _RESULTS.get(item.outcome)
    if kind is None:
        case.system_out = _xml_text(said)
    else:
        first = item.sentence if item.accepted is None else item.notes[0]
        story = () if item.evidence is None else trace_story(item.evidence)  # of a message alone many see no more
        element = kind(_line(" ".join([first, *story])), str(item.rule))
        element.text = _xml_text(f"{said}\n{MEANINGS[item.rule].next}")
        case.result = element
    suite.add_testcase(case)
    return suite


def _properties(target: Shown) -> dict[str, str]:
    """Return what is known besides the outcome: the rule, the evidence, the mechanism's location, and its report."""
    item = target.item
    evidence, place = item.evidence, target.place
    properties = {"rule": str(item.rule), "cached": str(item.cached).lower()}
    if evidence is not None:
        properties |= {
            "verdict": target.verdict,
            "claim": target.claim,
            "lower": repr(evidence.lower.value),
            "runs": str(evidence.runs),
            "evidence": evidence.id,
        }
    properties |= {f"beside the verdict {number}": line for number, line in enumerate(target.beside, 1)}
    if target.comparison:
        properties["baseline"] = target.comparison
    if place is not None:
        properties["location"] = f"{place.file}:{place.line}"
    if item.page is not None:
        properties["page"] = item.page
    return properties


def _xml_text(text: str) -> str:
    return visible(text).translate(_NO_XML)


def _line(text: str) -> str:
    """Return the text of an attribute, in which XML does not preserve line breaks."""
    return _xml_text(" ".join(text.split()))


def _seconds(seconds: float) -> float:
    return round(seconds, 3) if math.isfinite(seconds) and seconds >= 0 else 0.0


# --- How is the result of a gate shown on the page of a build? As a short table, and below it what did not pass. ---
#
# Names and sentences come from outside: everything that Markdown or HTML would interpret is written as a character
# reference, so that it is shown literally.

_ROWS, _DETAILS = 200, 50  # the page of a build is limited to a megabyte
_NAME = 120


def markdown(result: GateResult) -> str:
    """Return the summary in GitHub's Markdown: all targets in their order, then details of some."""
    targets = [shown(item) for item in result.results]
    troubled = [target for target in targets if target.is_told]
    parts = [f"## dpaudit: {headline(result, targets)}", _table(targets)]
    parts += [_details(target) for target in troubled[:_DETAILS]]
    if len(troubled) > _DETAILS:
        left = len(troubled) - _DETAILS
        parts.append(f"{left} more did not pass, or showed more; their details stand in the other formats.")
    return "\n\n".join([*parts, scope(result), NO_PROOF]) + "\n"


def _code(text: str) -> str:
    return f"<code>{formats.escaped(text, _NAME)}</code>"


def _table(targets: Sequence[Shown]) -> str:
    rows = targets
    if len(rows) > _ROWS:
        rows = sorted(rows, key=lambda target: not target.is_told)[:_ROWS]
    lines = ["| Target | Outcome | Verdict | Claim | Bounds | Rule |", "|---|---|---|---|---|---|"]
    for target in rows:
        item = target.item
        outcome = str(item.outcome) if item.outcome is Outcome.PASSED else f"**{item.outcome}**"
        cells = (target.verdict, target.claim, "; ".join(target.in_row), str(item.rule))
        unchanged = " (unchanged, not run again)" if item.cached else ""
        lines.append(f"| {_code(item.name)} | {outcome}{unchanged} | {' | '.join(map(formats.escaped, cells))} |")
    text = "\n".join(lines)
    left = len(targets) - len(rows)
    return f"{text}\n\n{left} more targets are left out here." if left else text


def _details(target: Shown) -> str:
    """Return the details of a target that did not pass, or has other findings."""
    item, meaning = target.item, MEANINGS[target.item.rule]
    lines = [
        "<details open>",
        f"<summary>{_code(item.name)}: {item.outcome}. {meaning.title}</summary>",
        "",
        f"- What was found: {formats.escaped(item.sentence)}",
        *(f"- Beside the verdict: **{formats.escaped(line)}**" for line in target.beside),
        *(f"- Note: {formats.escaped(note)}" for note in item.notes),
        f"- What to do: {meaning.next}",
    ]
    if target.comparison:
        lines.append(f"- Baseline: {formats.escaped(target.comparison)}")
    place = target.place
    if place is not None:
        lines.append(f"- Where: {_code(f'{place.file}:{place.line}')}")
    if item.page is not None:
        lines.append(f"- Report: {_code(item.page)} in the folder of the pages")
    if item.evidence is not None:
        lines.append(f"- Evidence: <code>{item.evidence.id}</code>")
        command = reproduce_command(item.evidence)
        if command is not None:
            lines.append(f"- Run it again: <code>{formats.escaped(visible(command, one_line=True), 2_000)}</code>")
    return "\n".join([*lines, "", "</details>"])


# --- How is the result of a gate written as SARIF 2.1.0? As one result for every target that did not pass. ---
#
# Rules have stable ids, and a fingerprint depends only on the rule and the target's name, so moved lines or different
# numbers do not make a known finding look new. Source: OASIS, Static Analysis Results Interchange Format (SARIF)
# Version 2.1.0 Plus Errata 01, 2023.

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
    properties = {"target": _visible(item.target), "outcome": str(item.outcome), "cached": item.cached}
    if evidence is not None:
        properties |= {
            "verdict": target.verdict,
            "claim": _visible(target.claim),
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
    proof = None if target.item.evidence is None else target.item.evidence.proof
    passed = f"passed ({target.verdict})" if proof is not None and proof.given else "passed"
    mark = hashlib.sha256(json.dumps([_BESIDE["id"], name, about]).encode()).hexdigest()
    return {
        **_finding(target, elsewhere, folder),
        "ruleId": _BESIDE["id"],
        "ruleIndex": len(_RULES),
        "level": "warning",
        "message": {"text": _message(f"{name} {passed}, and beside its verdict this was found: {line}")},
        "partialFingerprints": {"dpaudit/v1": mark, "primaryLocationLineHash": f"{mark[:16]}:1"},
    }


def _location(target: TargetResult, elsewhere: Location | None, folder: str) -> dict[str, Any]:
    """Return the line at fault if a trace names it, else the mechanism's, else that of its configuration."""
    location: dict[str, Any] = {
        "logicalLocations": [
            {"name": _visible(target.name), "fullyQualifiedName": _visible(target.target), "kind": "function"}
        ]
    }
    place = at_fault(target) or target.location or elsewhere
    if place is not None:
        location["physicalLocation"] = _place(place, folder)
    return location


def _place(place: Location, folder: str) -> dict[str, Any]:
    file = posixpath.normpath(posixpath.join(folder, place.file))
    return {
        "artifactLocation": {"uri": quote(file.encode("utf-8", "backslashreplace")), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": max(place.line, 1)},
    }


def _visible(text: str) -> str:
    return visible(text, one_line=True)


def _message(text: str) -> str:
    """Return plain text without placeholders (section 3.11.5) or embedded links (3.11.6)."""
    text = re.sub(r"[{}]", lambda brace: 2 * brace[0], _visible(text))
    return re.sub(r"[\[\]]", lambda bracket: "\\" + bracket[0], text) if "](" in text else text


# --- How is the result of a gate shown on pages? One for each evidence, and an index of all targets. ---

INDEX = "index.html"
# the name of the index itself, and device names of Windows
_TAKEN = {"index", "con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
_LONGEST = 60  # characters of a file name, far below any system's limit
# the colours of outcomes; a target that passed has none, since that is not a proof of privacy
_TONES = {
    Outcome.FAILED: "violated",
    Outcome.INCONCLUSIVE: "inconclusive",
    Outcome.INVALID: "invalid",
    Outcome.ACCEPTED: "inconclusive",
}


def write_pages(result: GateResult, folder: Path) -> GateResult:
    """Write the page of each evidence and the index into a folder, which is created if it is missing.

    Files are written atomically and the index last, so that it never links to a missing page.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {str(folder)!r}: {error.strerror}; name another for --html") from None
    paged = []
    taken = set(_TAKEN)
    for item in result.results:
        page = None
        if item.evidence is not None:
            page = _file_name(item.name, taken)
            write_whole(folder / page, html_page(item.evidence))
        paged.append(replace(item, page=page))
    written = replace(result, results=tuple(paged))
    write_whole(folder / INDEX, index_page(written))
    return written


def index_page(result: GateResult) -> str:
    """Return the index as a self-contained page; its only script sorts the table and is allowed by its hash."""
    used, targets = {item.rule for item in result.results}, [shown(item) for item in result.results]
    title = headline(result, targets)
    title = f"{title[:1].upper()}{title[1:]}"
    tone = next((_TONES[outcome] for outcome in _TONES if _any(result, outcome)), "plain")
    listed = replace(table("targets", list(map(_row, targets)), exit_code=result.exit_code), sorted=True)
    meanings = [
        (Span("anchor", str(rule), str(rule)), (meaning.says, " ", note(meaning.next)))
        for rule, meaning in MEANINGS.items()
        if rule in used
    ]
    told = [Text(scope(result), "sentence"), Text(NO_PROOF, "caution")]
    sections = [
        section("gate", *told, kind=f"verdict {tone}", headless=True),
        section("targets", listed if targets else Text(said("targets.none"))),
        section("rules", Facts(meanings, "glossary")),
    ]
    script, footer = source("index.js"), plainly("gate.footer")
    page = Page(title, "Differential privacy gate", title, sections, "", "gate", script, footer, "dpaudit gate")
    return drawn_page(page)


def _row(target: Shown) -> Cells:
    """Return the row of a target."""
    item, where = target.item, target.item.location
    name = (
        Span("link", item.name, item.page) if item.page else item.name,
        note(item.target) if item.target != item.name else "",
        note(f"{where.file}, line {where.line}") if where else "",
    )
    told: list[Content] = [Span("told", item.sentence)]
    told += [Span("told", f"Baseline: {target.comparison}.")] if target.comparison else []
    told += [Span("told note", text) for text in item.notes]
    told += [] if item.evidence is None else [Span("told note", code(item.evidence.id))]
    verdict = "plain" if item.evidence is None else str(item.evidence.verdict).replace(" ", "-")
    return (
        name,
        TextCell(str(item.outcome), f"word {_TONES.get(item.outcome, 'plain')}"),
        Span("link", str(item.rule), f"#{item.rule}"),
        TextCell(target.verdict, f"word {verdict}"),
        target.claim,
        number((target.bounds, *(Span("beside-verdict", strong(line)) for line in target.beside))),
        TextCell(tuple(told), "found"),
        target.time,
    )


def _any(result: GateResult, outcome: Outcome) -> bool:
    return any(item.outcome is outcome for item in result.results)


def _file_name(name: str, taken: set[str]) -> str:
    """Return a file name for a target that is valid on every system and unique."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:_LONGEST].strip("-").lower() or "target"
    number, chosen = 1, stem
    while chosen in taken:
        number += 1
        chosen = f"{stem}-{number}"
    taken.add(chosen)
    return f"{chosen}.html"
