"""Does a green word stand above a finding that contradicts it, in any format, or in an exit code? It must not.

Protects: the worst finding is the verdict.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from support import made_evidence as made
from support.forging import noticed

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.evidence.evidence import SPEAKS_AGAINST, Evidence, against, exit_code, settled
from dpaudit.evidence.further_records import Trace, TraceFinding
from dpaudit.evidence.records import Curve, Moved, Search, Verdict
from dpaudit.gate.drawn import gate_json, junit, sarif_text
from dpaudit.gate.drawn import markdown as gate_markdown
from dpaudit.gate.result import GateResult, Outcome, TargetResult
from dpaudit.gate.result import summary as gate_summary
from dpaudit.gate.run import decide
from dpaudit.gate.schema import TargetSettings
from dpaudit.report import html_page
from dpaudit.report.formats import markdown, statement_text, summary
from dpaudit.report.html.page import card
from dpaudit.report.registry import registry_yaml
from dpaudit.tracing.pair import WORDS, Word

LINE = "topk.py:28"


def trace(word: str = "not supported") -> Trace:
    found = TraceFinding(word, "the shift costs ε = 3", LINE)
    return Trace(word, "given", 1, 8, 1, 24, 0, (found,), epsilon=3.0)


def moved(exceeded: bool = True) -> Moved:
    return Moved("1", 1.0, 2.0, 2.0, "a record less", exceeded, "a record less", 9, 0, 0.0, (), ("0" * 64, "1" * 64))


def searched(led: str | None) -> Search:
    return Search("data", 9, 0, 100, "a record less", (), led=led, replayed=9)


def green(**found: Any) -> Evidence:
    return msgspec.structs.replace(
        made.laplace(), reason="No violation was found. This is not a proof of privacy.", **found
    )


CONTRADICTED = {
    "trace": (green(trace=trace()), LINE),
    "leak": (green(trace=trace("leaks")), LINE),
    "a finding that the word hides": (
        green(trace=msgspec.structs.replace(trace(), word="supported on this path")),
        LINE,
    ),
    "sensitivity": (green(sensitivity=moved()), "moves by 2"),
    "curve": (green(curve=Curve(0.95, (), (0.0, 1.0), (0.4, 0.2), (), (), 0.0)), "δ ≥ 0.2 at ε = 1"),
    "search": (green(search=searched("not supported")), "dpaudit trace names the line"),
    "proof": (msgspec.structs.replace(made.proved(), trace=trace()), LINE),
}
IN_ORDER = {
    "nothing": green(),
    "supported": green(trace=trace("supported on this path")),
    "not priced": green(trace=trace("not priced")),
    "sensitivity": green(sensitivity=moved(False)),
    "curve": green(curve=Curve(0.95, (), (0.0, 1.0), (0.4, 0.0), (), (), 0.0)),
    "search": green(search=searched(None)),
    "no claim": green(claim=None, verdict=Verdict.NO_CLAIM, trace=trace()),
    "violated": green(verdict=Verdict.VIOLATED, trace=trace()),
}


@pytest.mark.parametrize("name", CONTRADICTED)
def test_a_finding_takes_the_green_away_and_says_why(name: str) -> None:
    evidence, says = CONTRADICTED[name]
    found = settled(evidence)
    assert found.verdict is Verdict.INCONCLUSIVE and found.verdict.exit_code == 3
    assert says in found.reason and "not a proof of privacy" not in found.reason
    assert settled(found) is found


@pytest.mark.parametrize("name", IN_ORDER)
def test_nothing_else_does(name: str) -> None:
    assert settled(IN_ORDER[name]) is IN_ORDER[name]


def test_the_words_are_those_of_a_trace() -> None:
    assert {str(word) for word in Word if word >= Word.NOT_SUPPORTED} == set(SPEAKS_AGAINST) <= set(WORDS.values())


@pytest.mark.parametrize("name", CONTRADICTED)
def test_a_file_is_read_so_and_keeps_its_id(name: str) -> None:
    evidence = CONTRADICTED[name][0]
    read = Evidence.from_json(evidence.to_json())
    assert (read.verdict, read.id) == (Verdict.INCONCLUSIVE, evidence.id)
    assert read.record()["verdict"] == str(evidence.verdict)  # as it was written
    again = Evidence.from_json(read.to_json())
    assert (again.id, again.verdict) == (evidence.id, Verdict.INCONCLUSIVE)


@pytest.mark.slow
def test_a_green_word_that_was_put_above_a_finding_is_noticed() -> None:
    record = dp.trace(
        _both, pairs=[([0.0, 1.0], [3.0, 1.0])], relation="replace", claim="epsilon=4", runs=20_000, seed=1
    ).record()
    assert record["verdict"] == "inconclusive" and not noticed(record)
    forged = {**record, "verdict": "not violated"}
    assert Evidence.from_json(json.dumps({"id": content_id(forged), "evidence": forged, "run": None}))
    assert noticed(forged)


def _both(data: Any, noise: Any) -> bool:
    """Two decisions whose noise has to move by 3 and by 6, on outputs that hardly ever differ."""
    first, second = sum(data) + noise.laplace(1.0), 2 * sum(data) + noise.laplace(1.0)
    return bool(first > 50) and bool(second > 50)


def test_a_word_without_a_finding_counts_too() -> None:
    assert settled(green(trace=msgspec.structs.replace(trace(), findings=()))).verdict is Verdict.INCONCLUSIVE


GREEN = re.compile(r"NOT VIOLATED|not violated|PROVED\b|\bPASSED|\bpassed:? [1-9]")


@pytest.mark.slow(rows="all")
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", CONTRADICTED)
def test_no_format_shows_a_green_word_and_each_names_the_finding(name: str) -> None:
    evidence = settled(CONTRADICTED[name][0])
    says = CONTRADICTED[name][1]
    target = TargetSettings(target="topk.py:f", claim="epsilon=1")
    outcome, rule, sentence = decide(target, evidence, None, None)
    assert outcome is Outcome.INCONCLUSIVE and says in sentence
    result = GateResult((TargetResult("topk", "topk.py:f", outcome, rule, sentence, evidence),), 0.95, 1, 1.0)
    assert result.exit_code == 3
    texts = {
        "terminal": summary(evidence),
        "markdown": markdown([evidence]),
        "page": re.sub(r"<style.*?</style>|<script.*?</script>", "", html_page(evidence), flags=re.S),
        "card": card(evidence),
        "in-toto": statement_text([evidence]),
        "registry": registry_yaml(evidence),
        "gate": gate_summary(result),
        "junit": junit(result),
        "sarif": json.dumps(json.loads(sarif_text(result)), ensure_ascii=False),
        "gate markdown": gate_markdown(result),
        "gate json": gate_json(result),
    }
    for kind, text in texts.items():
        flat = " ".join(text.replace("\u00a0", " ").replace("\\", "").split())
        assert says in flat, (kind, flat)
        assert "inconclusive" in flat.lower() or kind == "registry", kind
        assert not GREEN.search(flat) or kind == "page", kind  # the page explains all words
    assert summary(evidence).startswith("INCONCLUSIVE: A finding speaks against the claim")
    assert says in " ".join(summary(evidence).replace("\u00a0", " ").split("\n")[0:3])


@pytest.mark.parametrize("policy", ["report", "pass", "fail"])
def test_no_policy_passes_it(policy: str) -> None:
    target = TargetSettings(target="topk.py:f", claim="epsilon=1", inconclusive=policy)
    outcome, _, _ = decide(target, settled(CONTRADICTED["trace"][0]), None, None)
    assert outcome is (Outcome.FAILED if policy == "fail" else Outcome.INCONCLUSIVE)
    undecided = made.inconclusive()
    assert (decide(target, undecided, None, None)[0] is Outcome.PASSED) == (policy == "pass")


@pytest.mark.parametrize(
    ("word", "verdict", "code"),
    [
        ("not supported", Verdict.INCONCLUSIVE, 1),
        ("leaks", Verdict.VIOLATED, 1),
        ("supported on this path", Verdict.NOT_VIOLATED, 0),
        ("supported on this path", Verdict.INCONCLUSIVE, 3),
        ("not priced", Verdict.NOT_VIOLATED, 3),
        ("not seen", Verdict.NOT_VIOLATED, 3),
        ("not supported", Verdict.INVALID, 4),
    ],
)
def test_exit_codes_where_support_is_required(word: str, verdict: Verdict, code: int) -> None:
    evidence = green(trace=trace(word), verdict=verdict)
    assert exit_code(evidence, "supported") == code
    assert exit_code(evidence) == verdict.exit_code
    assert against(evidence) == "" or word in SPEAKS_AGAINST
