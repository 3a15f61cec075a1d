"""Is nothing called checked that was not? Three answers, and the exit code that follows from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.forging import forged

import dpaudit as dp
from dpaudit.cli.commands.evidence import check_command as command
from dpaudit.evidence.canonical_json import content_id
from dpaudit.review.check import CheckFinding, CheckResult, check, check_file, exit_code, passes

OLD = Path(__file__).parent / "old"
HOLDS = CheckFinding("bound", CheckResult.HOLDS, "")
FAILS = CheckFinding("bound", CheckResult.FAILS, "")
OPEN = CheckFinding("verdict", CheckResult.NOT_CHECKED, "")
BESIDE = CheckFinding("search", CheckResult.NOT_CHECKED, "", decides=False)


def record_of(name: str) -> Any:
    return json.loads((OLD / f"{name}.json").read_text(encoding="utf-8"))["evidence"]


def failed(record: Any) -> set[str]:
    """What fails in a record with an id of its own."""
    text = json.dumps({"id": content_id(record), "evidence": record, "run": None})
    return {finding.what for finding in check(dp.Evidence.from_json(text)) if finding.fails}


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([HOLDS], 0),
        ([HOLDS, BESIDE], 0),
        ([HOLDS, OPEN], 3),
        ([HOLDS, OPEN, FAILS, BESIDE], 1),
    ],
    ids=["holds", "beside", "open", "fails"],
)
def test_the_exit_code_follows_from_the_answers(findings: list[CheckFinding], code: int) -> None:
    assert exit_code(findings) == code
    assert passes(findings) == (code == 0)


@pytest.mark.parametrize(
    ("name", "what", "code"),
    [("invalid", "verdict", 3), ("searched", "search", 0), ("opaque", "pair", 0)],
)
def test_what_a_file_cannot_show_is_not_said_to_hold(name: str, what: str, code: int) -> None:
    answers = [finding for finding in check_file(OLD / f"{name}.json") if finding.what == what]
    (said,) = [finding for finding in answers if finding.answer is CheckResult.NOT_CHECKED]
    assert said.decides == (code == 3)
    shown = CliRunner().invoke(command, [str(OLD / f"{name}.json")], standalone_mode=False)
    assert shown.return_value == code
    assert f"not checked  {what}" in shown.output


def test_a_tree_that_cannot_be_integrated_fails(tmp_path: Path) -> None:
    """Gumbel noise in place of Laplace noise: nothing certain is known of it, and "exact" is stated."""
    record = record_of("refuted_infinite")
    nodes = record["counterexample"]["record"]["nodes"]
    for place, node in enumerate(nodes):
        if node.get("draw") == "laplace":
            record = forged(record, ("counterexample", "record", "nodes", place, "draw"), "gumbel")
    assert "probabilities" in failed(record)


@pytest.mark.parametrize("name", ["refuted", "refuted_infinite", "proved"])
@pytest.mark.slow
def test_without_python_flint_the_probabilities_are_computed_all_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)
    (said,) = [finding for finding in check_file(OLD / f"{name}.json") if finding.what == "probabilities"]
    assert said.holds
    assert "probabilities" in failed(forged(record_of(name), ("counterexample", "record", "nodes", 0, "scale"), "7"))


def test_a_fraction_among_parameters_is_written_one_way():
    from fractions import Fraction

    from dpaudit.evidence.canonical_json import plain_value
    from dpaudit.verify.certificate import as_text

    for value in (Fraction(1, 3), Fraction(2), Fraction(-7, 4)):
        assert plain_value(value) == as_text(value) == as_text(plain_value(value)) == str(value)
    assert plain_value([Fraction(1, 3), 2]) == ["1/3", 2]
    evidence = dp.prove("laplace", parameters={"epsilon": Fraction(1, 3)}, claim="epsilon=1", length=1, runs=0, seed=0)
    assert evidence.target.parameters["epsilon"] == "1/3"
    assert not any(finding.fails for finding in check(evidence))
    older = evidence.record()
    older["target"] = {**older["target"], "parameters": {**older["target"]["parameters"], "epsilon": "Fraction(1, 3)"}}
    text = json.dumps({"id": content_id(older), "evidence": older, "run": None})
    assert not any(finding.fails for finding in check(dp.Evidence.from_json(text)))
