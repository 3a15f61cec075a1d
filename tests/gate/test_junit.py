"""Is the JUnit XML of a gate valid, and does it say what came of every target?"""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from junitparser import JUnitXml
from lxml import etree
from support import gate_results as made

from dpaudit.evidence.further_records import Trace, TraceFinding
from dpaudit.gate.drawn import junit
from dpaudit.gate.result import GateResult, Outcome

SCHEMA = etree.XMLSchema(etree.parse(str(made.SCHEMAS / "junit-10.xsd")))


def parsed(result: GateResult) -> etree._Element:
    return etree.fromstring(junit(result).encode())


@pytest.mark.parametrize(
    "result", [made.whole(), made.gate(), made.gate(made.hostile(), seconds=float("inf"))], ids=["all", "none", "odd"]
)
def test_it_is_valid(result: GateResult) -> None:
    SCHEMA.assertValid(parsed(result))


def test_the_schema_can_refuse() -> None:
    root = parsed(made.whole())
    root[0].set("time", "1e-05")
    assert not SCHEMA.validate(root)


def test_outcomes_become_what_test_reports_know() -> None:
    found = {case.name: {type(item).__name__ for item in case.result} for case in cases(made.gate(*made.targets()))}
    assert found == {
        "counts": set(),
        "sum": {"Failure"},
        "mean": {"Failure"},
        "svt": {"Failure"},
        "broken": {"Failure"},
        "median": {"Skipped"},
        "stuck": {"Error"},
        "gone": {"Error"},
    }


def cases(result: GateResult) -> list[object]:
    return [case for suite in JUnitXml.fromstring(junit(result).encode()) for case in suite]


def test_the_policy_decides_about_the_inconclusive() -> None:
    undecided = made.targets()[5]
    passed, failed = replace(undecided, outcome=Outcome.PASSED), replace(undecided, outcome=Outcome.FAILED)
    assert "<skipped" not in junit(made.gate(passed)) and "<failure" not in junit(made.gate(passed))
    assert '<failure message="too few runs" type="inconclusive">' in junit(made.gate(failed))


def test_the_totals_are_the_counts() -> None:
    root = parsed(made.whole())
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "time")} == {
        "tests": "10",
        "failures": "5",
        "errors": "3",
        "time": "12.346",
    }
    assert sum(int(suite.get("skipped", "")) for suite in root) == 1
    assert [suite.get("time") for suite in root][:2] == ["0.004", "1.235"]


def test_a_failure_tells_what_was_found_and_what_to_do() -> None:
    failure = parsed(made.gate(*made.targets()))[1].find("testcase/failure")
    assert failure is not None and failure.text is not None
    assert failure.get("type") == "claim-violated"
    assert failure.get("message") == "ε ≥ 2.252 exceeds the claimed 1"
    assert "The report says what tells the two datasets apart" in failure.text


def test_a_message_names_the_pair_the_line_and_what_to_write() -> None:
    word, instead = "violated, given the stated laws", "A scale of 2 at release.py:3 would keep the claim."
    found = (TraceFinding(word, "too little noise", "release.py:3"),)
    trace = Trace(word, "data", 1, 2, 1, 1, 0, found, change="the same table, and one more", instead=instead)
    red = made.targets()[1]
    evidence = msgspec.structs.replace(red.evidence, trace=trace, relation="add-remove")
    message = parsed(made.gate(replace(red, evidence=evidence)))[0].find("testcase/failure").get("message")
    assert message.endswith(f"The pair: the same table, and one more. Too little noise, at release.py:3. {instead}")


def test_properties_name_the_evidence() -> None:
    first, *_, last = made.targets()
    assert first.evidence is not None
    root = parsed(made.gate(replace(first, page="counts.html"), last))
    known = {item.get("name"): item.get("value") for item in root[0].iter("property")}
    assert known["evidence"] == first.evidence.id
    assert known["location"] == "src/some folder/release.py:12"
    assert (known["page"], known["cached"], known["rule"]) == ("counts.html", "true", "passed")
    assert {item.get("name") for item in root[1].iter("property")} == {"rule", "cached"}


def test_hostile_text_is_shown_as_text() -> None:
    text = junit(made.gate(made.hostile()))
    case = parsed(made.gate(made.hostile()))[0].find("testcase")
    assert case is not None
    assert "<script>alert(1)</script>" in (case.get("name") or "")
    assert "\\u0000" in (case.get("name") or "")
    assert not any((ord(mark) < 32 and mark not in "\n\t") or mark in "\x7f\ufffe\uffff\u202e" for mark in text)


def test_names_that_are_shown_alike_are_both_there() -> None:
    first = made.targets()[0]
    root = parsed(made.gate(replace(first, name="a\nb"), replace(first, name="a b")))
    assert len(list(root.iter("testcase"))) == 2


def test_the_same_result_gives_the_same_text() -> None:
    assert junit(made.whole()) == junit(made.whole())
