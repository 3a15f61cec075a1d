"""Is the SARIF log of a gate valid, and is a finding known again after lines and numbers changed?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from support import gate_results as made

import dpaudit as dp
from dpaudit.gate.drawn import sarif, sarif_text, seen_from_repository
from dpaudit.gate.result import GateResult, Location, Outcome, OutcomeRule

SCHEMA = jsonschema.Draft4Validator(made.schema("sarif-2.1.0.json"))


def findings(result: GateResult, **options: Any) -> list[dict[str, Any]]:
    return sarif(result, **options)["runs"][0]["results"]


@pytest.mark.parametrize("result", [made.whole(), made.gate()], ids=["all", "none"])
@pytest.mark.parametrize("configuration", [None, "pyproject.toml"])
def test_it_is_valid(result: GateResult, configuration: str | None) -> None:
    log = json.loads(sarif_text(result, configuration=configuration))
    assert list(SCHEMA.iter_errors(log)) == []


@pytest.mark.parametrize(
    "break_it",
    [
        lambda log: log.update(version="2.0.0"),
        lambda log: log["runs"][0]["tool"]["driver"].pop("name"),
        lambda log: log["runs"][0]["results"][0].pop("message"),
        lambda log: log["runs"][0]["results"][0].update(level="fatal"),
    ],
)
def test_the_schema_can_refuse(break_it: Any) -> None:
    log = sarif(made.whole())
    break_it(log)
    assert list(SCHEMA.iter_errors(log))


def test_only_what_did_not_pass_is_a_finding() -> None:
    found = findings(made.gate(*made.targets()))
    rules = [each.rule for each in made.targets()]
    assert [item["ruleId"] for item in found] == [str(rule) for rule in rules if rule is not OutcomeRule.PASSED]
    assert [item["level"] for item in found] == ["error"] * 4 + ["warning"] + ["error"] * 2
    forgiven = replace(made.targets()[5], outcome=Outcome.PASSED)
    assert findings(made.gate(forgiven)) == []


def test_rules_have_stable_ids_and_help() -> None:
    rules = sarif(made.gate())["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        "claim-violated",
        "leakier-than-baseline",
        "not-proved",
        "expected-violation-missing",
        "inconclusive",
        "runs-invalid",
        "cannot-run",
        "given-refuted",
        "beside-verdict",
    ]
    assert all(rule["help"]["text"] and rule["help"]["markdown"] for rule in rules)
    for item in findings(made.whole()):
        assert rules[item["ruleIndex"]]["id"] == item["ruleId"]


def test_the_place_is_the_mechanism_s_own_line() -> None:
    place = findings(made.gate(*made.targets()))[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "release.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 3}


def test_a_path_is_written_as_an_address() -> None:
    odd = replace(made.targets()[1], location=Location("a b/100 %/#ü.py", 7))
    uri = findings(made.gate(odd))[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri) == "a b/100 %/#ü.py"
    assert not set(uri) & set(" #ü")


def test_without_a_line_there_is_a_logical_place() -> None:
    location = findings(made.gate(made.targets()[-1]))[0]["locations"][0]
    assert location == {
        "logicalLocations": [{"name": "gone", "fullyQualifiedName": "nowhere.py:gone", "kind": "function"}]
    }


def places(result: GateResult, configuration: str | None) -> list[str]:
    found = findings(result, configuration=configuration)
    return [item["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for item in found]


def test_a_configuration_stands_in_for_a_line_that_is_unknown() -> None:
    assert places(made.gate(made.targets()[1], made.targets()[-1]), "dpaudit.toml") == ["release.py", "dpaudit.toml"]


def test_places_are_seen_from_the_repository() -> None:
    result = made.gate(made.targets()[1], made.targets()[-1])
    assert places(result, "a b/shop/dpaudit.toml") == ["a%20b/shop/release.py", "a%20b/shop/dpaudit.toml"]
    outside = replace(made.targets()[1], location=Location("../common/release.py", 3))
    assert places(made.gate(outside), "shop/dpaudit.toml") == ["common/release.py"]


def test_the_repository_is_where_git_is(tmp_path: Path) -> None:
    folder = tmp_path / "services" / "shop"
    folder.mkdir(parents=True)
    assert seen_from_repository(folder / "pyproject.toml") == "pyproject.toml"
    (tmp_path / ".git").mkdir()
    assert seen_from_repository(folder / "pyproject.toml") == "services/shop/pyproject.toml"
    assert seen_from_repository(tmp_path / "pyproject.toml") == "pyproject.toml"


def test_a_finding_is_known_again_when_lines_and_numbers_change() -> None:
    before = made.targets()[1]
    after = replace(
        before,
        location=Location("moved/release.py", 99),
        sentence="ε ≥ 2.3 exceeds the claimed 1",
        evidence=made.targets()[2].evidence,
        seconds=7.0,
    )
    marks = [findings(made.gate(item))[0]["partialFingerprints"] for item in (before, after)]
    assert marks[0] == marks[1]
    # written down: another value would make every known finding look new
    assert marks[0]["dpaudit/v1"] == "275aef21762b08627290e1c7d55a998fe46ab221a4e246abcc01c111c1988804"


def test_other_findings_have_other_fingerprints() -> None:
    first = made.targets()[1]
    others = [first, replace(first, name="other"), replace(first, rule=OutcomeRule.LEAKIER)]
    assert len({item["partialFingerprints"]["dpaudit/v1"] for item in findings(made.gate(*others))}) == 3


def test_a_message_is_no_link_and_no_placeholder() -> None:
    text = findings(made.gate(made.hostile()))[0]["message"]["text"]
    assert "{{0}}" in text
    assert "[link](" not in text and "\\[link\\](" in text
    assert not any(ord(mark) < 32 for mark in text)


def test_the_log_says_whether_everything_ran() -> None:
    def ran(result: GateResult) -> Any:
        return sarif(result)["runs"][0]["invocations"][0]

    assert ran(made.gate(*made.targets()[:3])) == {"executionSuccessful": True, "exitCode": 1}
    assert ran(made.gate(made.targets()[-1])) == {"executionSuccessful": False, "exitCode": 4}


def test_the_same_result_gives_the_same_text() -> None:
    text = sarif_text(made.whole())
    assert text == sarif_text(made.whole())
    assert text.isascii()


@pytest.mark.slow
def test_where_a_trace_names_the_line_at_fault_that_is_the_place(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("import numpy as np\n\n\ndef f(x):\n    n = len(x)\n    return n + np.random.laplace(0, 0.5)\n")
    evidence = dp.trace(f"{file}:f", pairs=[([1.0], [1.0, 2.0])], claim="epsilon=1", runs=0, seed=1)
    target = replace(made.targets()[1], evidence=evidence, location=Location("own.py", 4))
    place = findings(made.gate(target))[0]["locations"][0]["physicalLocation"]
    assert place["region"] == {"startLine": 6}
    other = replace(target, location=Location("other.py", 4))
    assert findings(made.gate(other))[0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 4}
