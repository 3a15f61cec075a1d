"""How does a gate read as JUnit XML? One suite with one case for each target, for whatever shows tests.

A failed target is a failure, an invalid one an error, an inconclusive one is skipped; what can be
known beside that are properties. Characters that XML cannot hold are shown, not written.
"""

from __future__ import annotations

import math
from io import BytesIO

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from dpaudit.gate.result import GateResult, Outcome, TargetResult
from dpaudit.gate.words import MEANINGS, beside_lines, comparison_text
from dpaudit.report.text.phrases import visible

_RESULTS = {Outcome.FAILED: Failure, Outcome.INVALID: Error, Outcome.INCONCLUSIVE: Skipped}
_NO_XML = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}


def junit(result: GateResult) -> str:
    """Return the gate as JUnit XML: the same result gives the same text."""
    report = JUnitXml("dpaudit gate")
    for target in result.results:
        report.add_testsuite(_suite(target))
    outcomes = [target.outcome for target in result.results]  # set by hand: the schema has no count of skipped here
    report.tests, report.time = len(outcomes), _seconds(result.seconds)
    report.failures, report.errors = outcomes.count(Outcome.FAILED), outcomes.count(Outcome.INVALID)
    buffer = BytesIO()
    report.write(buffer, pretty=True)
    return buffer.getvalue().decode("utf-8")


def _suite(target: TargetResult) -> TestSuite:
    suite = TestSuite(_line(target.name))
    for name, value in _properties(target).items():
        suite.add_property(name, _line(value))
    case = TestCase(_line(target.name), classname=_line(target.target), time=_seconds(target.seconds))
    said = "\n".join((target.sentence, *beside_lines(target), *target.notes))
    kind = _RESULTS.get(target.outcome)
    if kind is None:
        case.system_out = _text(said)
    else:
        found = kind(_line(target.sentence), str(target.rule))
        found.text = _text(f"{said}\n{MEANINGS[target.rule].next}")
        case.result = found
    suite.add_testcase(case)
    return suite


def _properties(target: TargetResult) -> dict[str, str]:
    """What stands beside the result: the rule, the evidence, where the mechanism is, and its report."""
    evidence, place = target.evidence, target.location
    properties = {"rule": str(target.rule), "cached": str(target.cached).lower()}
    if evidence is not None:
        properties |= {
            "verdict": str(evidence.verdict),
            "claim": evidence.claim or "none",
            "lower": repr(evidence.lower.value),
            "runs": str(evidence.runs),
            "evidence": evidence.id,
        }
    properties |= {f"beside the verdict {number}": line for number, line in enumerate(beside_lines(target), 1)}
    if target.comparison is not None:
        properties["baseline"] = comparison_text(target.comparison)
    if place is not None:
        properties["location"] = f"{place.file}:{place.line}"
    if target.page is not None:
        properties["page"] = target.page
    return properties


def _text(text: str) -> str:
    return visible(text).translate(_NO_XML)


def _line(text: str) -> str:
    """An attribute, in which XML keeps no line breaks."""
    return _text(" ".join(text.split()))


def _seconds(seconds: float) -> float:
    return round(seconds, 3) if math.isfinite(seconds) and seconds >= 0 else 0.0
