"""How is the result of a gate written as JUnit XML? As one suite with a test case for each target.

A failed target is a failure, an invalid one an error, and one that is inconclusive, or accepted, is skipped;
everything else is in properties. Characters that XML does not allow are written as escapes.
"""

from __future__ import annotations

import math
from io import BytesIO

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from dpaudit.gate.result import GateResult, Outcome
from dpaudit.gate.words import MEANINGS, Shown, shown
from dpaudit.report.text.phrases import visible

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
        case.system_out = _text(said)
    else:
        found = kind(_line(item.sentence if item.accepted is None else item.notes[0]), str(item.rule))
        found.text = _text(f"{said}\n{MEANINGS[item.rule].next}")
        case.result = found
    suite.add_testcase(case)
    return suite


def _properties(target: Shown) -> dict[str, str]:
    """Return what is known besides the outcome: the rule, the evidence, the mechanism's location, and its report."""
    item = target.item
    evidence, place = item.evidence, item.location
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


def _text(text: str) -> str:
    return visible(text).translate(_NO_XML)


def _line(text: str) -> str:
    """Return the text of an attribute, in which XML does not preserve line breaks."""
    return _text(" ".join(text.split()))


def _seconds(seconds: float) -> float:
    return round(seconds, 3) if math.isfinite(seconds) and seconds >= 0 else 0.0
