"""Does every rendering show the rows that it has room for, and is nothing pressing left out of the shortest?"""

from __future__ import annotations

import html
import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from support import made_evidence as made

import dpaudit as dp
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.further_records import Trace, TraceFinding
from dpaudit.evidence.records import Curve, Moved, Verdict
from dpaudit.gate import pytest_plugin
from dpaudit.gate.drawn import index_page as gate_page
from dpaudit.gate.drawn import junit, sarif_text
from dpaudit.gate.drawn import markdown as gate_markdown
from dpaudit.gate.result import GateResult, Outcome, OutcomeRule, TargetResult
from dpaudit.gate.result import summary as gate_console
from dpaudit.report import console_summary, evidence_card, html_page
from dpaudit.report.document import Importance, Row
from dpaudit.report.formats import markdown, statement, statement_text
from dpaudit.report.html.index import IndexEntry, index_page
from dpaudit.report.registry import registry_yaml
from dpaudit.report.text.findings import FINDINGS
from dpaudit.report.view import ORDER, view
from dpaudit.review.compare import compare, compare_json, compare_page, compare_text

pytestmark = pytest.mark.usefixtures("undrawn")


def whole(**changes: object) -> Evidence:
    """Not violated, with every finding that can stand beside a verdict, each more than the verdict says."""
    plain = made.laplace()
    found = made.low_bits().floating_point
    moved = Moved("1", 1.0, 90.0, 90.0, "a record at the end", True, "a record at the end", 7, 0, 0.0, (), ("a", "b"))
    curve = Curve(0.95, (), (0.5, 1.0, 2.0), (0.3, 0.2, 0.05), (0.0,), (0.7,), 1.5)
    evidence = msgspec.structs.replace(
        plain,
        target=msgspec.structs.replace(plain.target, asks="sampler"),
        floating_point=found,
        low_bits="report",
        sensitivity=moved,
        curve=curve,
        constant=(0,),
        trace=Trace(
            "not supported",
            "given",
            1,
            16,
            2,
            12,
            0,
            (TraceFinding("not supported", "it moves far", "a.py:3 (f)"),),
            unproved="no domain is declared",
        ),
    )
    assert evidence.verdict is Verdict.NOT_VIOLATED
    return msgspec.structs.replace(evidence, **changes)


def gate(evidence: Evidence) -> GateResult:
    target = TargetResult("counts", "a.py:counts", Outcome.PASSED, OutcomeRule.PASSED, evidence.reason, evidence)
    return GateResult((target,), 0.95, 0, 1.0)


def now_column(text: str) -> str:
    return "\n".join(line[60:] for line in text.splitlines())


FULL: dict[str, Callable[[Evidence], str]] = {
    "console": lambda evidence: console_summary(evidence, width=1000),
    "page": html_page,
    "page over another": lambda evidence: html_page(made.laplace(), baseline=evidence),
    "Markdown": lambda evidence: markdown([evidence]),
    "in-toto": lambda evidence: statement_text([evidence]),
    "registry": registry_yaml,
    "compare, as text": lambda evidence: now_column(
        compare_text(made.laplace(), evidence, compare(evidence, evidence))
    ),
    "compare, as a page": lambda evidence: compare_page(evidence, evidence, compare(evidence, evidence)),
    "compare, as JSON": lambda evidence: compare_json(evidence, evidence, compare(evidence, evidence)),
}
SHORT: dict[str, Callable[[Evidence], str]] = {
    "card": evidence_card,
    "index": lambda evidence: index_page("two", "", [IndexEntry(evidence, "a.html")]),
    "Markdown over several": lambda evidence: markdown([evidence, made.proved()]).partition("\n## ")[0],
    "gate, plain": lambda evidence: gate_console(gate(evidence), width=1000).partition("\n")[0],
    "gate, terminal": lambda evidence: gate_console(gate(evidence), terminal=True, width=1000),
    "gate, Markdown": lambda evidence: gate_markdown(gate(evidence)).partition("<details")[0],
    "gate, page": lambda evidence: gate_page(gate(evidence)),
    "JUnit": lambda evidence: junit(gate(evidence)),
    "SARIF": lambda evidence: sarif_text(gate(evidence)),
}


def read(text: str) -> str:
    """A rendering as somebody reads it: without markup, escapes, kinds of spaces and line breaks."""
    text = re.sub(r"\\u([0-9a-f]{4})", lambda mark: chr(int(mark[1], 16)), text)
    text = html.unescape(html.unescape(re.sub(r"\x1b\[[0-9;]*m|<[^>]*>", " ", text)))
    return re.sub(r"[\s\N{NO-BREAK SPACE}]+", "", text)


def shows(text: str, finding: Row) -> bool:
    return any(read(said) in read(text) for said in (finding.line, finding.text))


def test_the_evidence_of_these_tests_has_every_finding() -> None:
    assert len(view(whole()).beside) == len(FINDINGS)
    assert [row.label for row in view(whole()).pressing] == ["curve", "low bits", "sensitivity", "trace"]


@pytest.mark.parametrize("rendering", FULL)
@pytest.mark.slow
def test_full_renderings_show_every_finding(rendering: str) -> None:
    text, evidence = FULL[rendering](whole()), whole()
    assert [found.label for found in view(evidence).beside if not shows(text, found)] == []


@pytest.mark.parametrize("rendering", SHORT)
def test_no_rendering_is_too_short_for_what_presses(rendering: str) -> None:
    text, evidence = SHORT[rendering](whole()), whole()
    assert [found.label for found in view(evidence).pressing if not shows(text, found)] == []


@pytest.mark.parametrize("rendering", [*FULL, *SHORT])
def test_nothing_presses_where_the_verdict_says_all(rendering: str) -> None:
    text = {**FULL, **SHORT}[rendering](made.laplace())
    assert read("more than is claimed") not in read(text)
    assert read("something more was found") not in read(text)


@pytest.mark.slow
def test_a_real_leak_of_low_order_bits_stands_everywhere() -> None:
    def noisy_count(data, size, rng):
        return len(data) + rng.laplace(size=size)

    evidence = dp.audit(
        noisy_count, claim="epsilon=1", pairs=[([1, 1], [1])], relation="add-remove", runs=8_000, seed=0
    )
    assert evidence.verdict is Verdict.NOT_VIOLATED
    (found,) = view(evidence).pressing
    assert found.label == "low bits" and evidence.floating_point.value > 2
    for rendering, drawn in {**FULL, **SHORT}.items():
        assert shows(drawn(evidence), found) or rendering == "page over another", rendering
    assert gate_console(gate(evidence)).endswith("seed 0; 1.0 s.\n")
    assert "beside the verdict of 1 something more was found" in gate_console(gate(evidence))


def test_a_build_attests_no_more_than_a_warning() -> None:
    assert statement([whole()])["predicate"]["result"] == "WARNED"
    assert statement([made.laplace()])["predicate"]["result"] == "PASSED"


def test_sarif_warns_of_a_target_that_passed() -> None:
    (run,) = json.loads(sarif_text(gate(whole())))["runs"]
    assert {result["ruleId"] for result in run["results"]} == {"beside-verdict"}
    assert all(
        run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "beside-verdict" for result in run["results"]
    )
    assert len({result["partialFingerprints"]["dpaudit/v1"] for result in run["results"]}) == len(run["results"]) == 4


@pytest.mark.parametrize(
    ("claim", "presses"),
    [
        ("epsilon=1", True),
        ("epsilon=1, delta=0.1", True),
        ("epsilon=1, delta=0.2", False),
        ("epsilon=3", False),
        ("mu=1", True),
        ("mu=2", False),
        ("rho=1", False),
        ("order=2, epsilon=0.5", False),
    ],
)
def test_a_curve_presses_where_it_exceeds_the_claim(claim: str, presses: bool) -> None:
    evidence = whole(claim=claim, floating_point=None, sensitivity=None, trace=None)
    assert bool(view(evidence).pressing) is presses


@pytest.mark.parametrize(("value", "claim", "presses"), [(0.9, "epsilon=1", False), (0.98, "epsilon=1", False),
                                                         (1.2, "epsilon=1", True), (float("nan"), "epsilon=1", True),
                                                         (1.2, None, True), (0.1, None, False)])  # fmt: skip
def test_low_order_bits_press_where_they_say_more_than_the_claim(
    value: float, claim: str | None, presses: bool
) -> None:
    bound = msgspec.structs.replace(made.low_bits().floating_point, value=value)
    evidence = whole(claim=claim, floating_point=bound, sensitivity=None, curve=None)
    assert [found.is_urgent for found in view(evidence).beside if found.label == "low bits"] == [presses]


# --- a new row --------------------------------------------------------------------------------------------

# the least importance that each rendering shows, of rows that it does not ask for by name
LEAST = {
    **dict.fromkeys([*FULL, *SHORT], Importance.EVERYWHERE),
    "pytest": Importance.BRIEF,
    "console": Importance.SUMMARY,
    "Markdown": Importance.FULL,
}
RENDERINGS: dict[str, Callable[[Evidence], str]] = {
    **FULL,
    **SHORT,
    "pytest": lambda evidence: pytest_plugin._message(view(evidence), "not violated", True, []),
}


@pytest.mark.parametrize("rendering", RENDERINGS)
def test_a_new_row_stands_wherever_there_is_room_for_its_importance(
    rendering: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def new(_evidence: Evidence) -> Iterator[Row]:
        for level in Importance:
            yield Row("new", "new row", "A new row", f"of importance {level:d}", importance=level)

    monkeypatch.setattr("dpaudit.report.view.ORDER", (*ORDER, new))
    text = read(RENDERINGS[rendering](made.laplace()))
    shown = [level for level in Importance if read(f"of importance {level:d}") in text]
    assert shown == [level for level in Importance if level >= LEAST[rendering]]


def test_every_module_that_says_a_verdict_draws_from_the_view() -> None:
    """A new rendering that says the verdict's headline has to say what stands beside it too."""
    folder = Path(importlib.util.find_spec("dpaudit").origin).parent  # type: ignore[union-attr, arg-type]
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.py"))}
    said = [name for name, text in texts.items() if re.search(r"text\.verdict import (\([^)]*|.*)\bheadline\b", text)]
    assert said == ["view.py"]
    assert sum("report.view import" in text for text in texts.values()) > 5
