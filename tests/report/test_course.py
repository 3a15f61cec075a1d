"""Does a page say of each kind of audit how it went, in its own words, and what it leaves open?"""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec
import numpy as np
import pytest
from support import made_evidence as made

import dpaudit as dp
from dpaudit.report import html_page
from dpaudit.report.document import Figure, Text
from dpaudit.report.figures.event import LineMark, line_figure
from dpaudit.report.html.certain import line
from dpaudit.report.html.measured import loss_section
from dpaudit.report.text.phrases import limits
from dpaudit.report.text.reproduce import how_fixed, method_sentence, reproduce_command, sources
from dpaudit.report.text.reviewer import layers
from dpaudit.report.view import view


@functools.cache
def audited(kind: str) -> Any:
    rng = np.random.default_rng(0)
    members, others = rng.normal(1, 1, 400), rng.normal(0, 1, 400)
    if kind in ("independent", "one-run"):
        return dp.tools.audit_scores(members, others, claim="epsilon=1, delta=1e-5", design=kind)
    if kind == "outputs":
        return dp.tools.audit_outputs(members, others, claim="epsilon=1")
    return dp.audit("laplace", runs=1_000, sequential=kind == "sequential")


@functools.cache
def text_of(kind: str) -> str:
    body = re.sub(r"<(style|script|svg)[ >].*?</\1>", "", html_page(audited(kind)), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).replace("\u00a0", " ").split())


KINDS = ("runs", "sequential", "independent", "one-run", "outputs")
SAID = {
    "runs": ["fixed after the learning runs and measured on fresh runs of pair 0", "fresh measuring runs"],
    "sequential": ["fixed before the runs that were bet on with it of pair 0", "were bet on as they came"],
    "independent": ["fixed on scores that had been set apart for learning", "scores, picked by the seed"],
    "one-run": ["was fixed by their number, before any look at the scores", "canaries, each in the training data"],
    "outputs": ["fixed on outputs that had been set apart for learning", "outputs, picked by the seed"],
}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_each_kind_has_its_own_words_and_none_of_another(kind: str) -> None:
    own = f"{how_fixed(audited(kind), 0)} {method_sentence(audited(kind))}"
    for other, parts in SAID.items():
        for part in parts:
            assert (part in own) == (other == kind), (other, part)
            assert (part in text_of(kind)) == (other == kind), (other, part)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", KINDS)
def test_only_counts_of_independent_draws_have_exact_intervals(kind: str) -> None:
    exact = kind not in ("sequential", "one-run")
    assert ("fell into the event; intervals are exact" in text_of(kind)) == exact
    assert ("no exact intervals of their own" in text_of(kind)) == (not exact)
    assert text_of(kind).count("share interval") == (2 if exact else 0)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_has_its_name(kind: str) -> None:
    name = {"independent": "scores", "one-run": "scores", "outputs": "outputs"}.get(kind, "runs")
    assert re.search(rf"First dataset, [\d,]+ {name} ", text_of(kind))
    assert f"{name.capitalize()} {audited(kind).runs:,} " in text_of(kind)


def test_theorems_are_those_that_were_used() -> None:
    used = {kind: " ".join(sources(audited(kind))) for kind in KINDS}
    assert {kind for kind in KINDS if "Steinke, Nasr & Jagielski (2023)" in used[kind]} == {"one-run"}
    assert {kind for kind in KINDS if "Ville (1939)" in used[kind]} == {"sequential"}
    assert {kind for kind in KINDS if "Clopper" in used[kind]} == {"runs", "independent", "outputs"}


def test_scores_have_limits_of_their_own() -> None:
    names = {kind: {name for name, _ in limits(audited(kind))} for kind in KINDS}
    assert all(("Other attacks" in found) == (kind in ("independent", "one-run")) for kind, found in names.items())
    assert all(("Side channels" in found) != ("Other attacks" in found) for found in names.values())
    assert "Rare events" in names["independent"]
    assert "Rare events" not in names["one-run"]


# --- layers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "proved", "opaque"])
def test_what_nobody_told_stays_open(kind: str) -> None:
    evidence = made.proved() if kind == "proved" else audited("runs" if kind == "opaque" else kind)
    if kind == "opaque":
        evidence = msgspec.structs.replace(evidence, target=msgspec.structs.replace(evidence.target, asks="opaque"))
    found = {layer.name: layer for layer in layers(evidence)}
    for name in ("Contribution bounds", "Accounting", "Post-processing", "Model", "Data collection and access control"):
        assert found[name].is_open
        assert found[name].answer.startswith("not in this evidence")
    assert found["Implementation"].is_open == (evidence.target.asks == "program")
    assert found["Algorithm"].is_open == (kind in ("independent", "one-run", "outputs"))
    assert found["Random source"].is_open == (evidence.target.asks != "program")
    assert found["Running time"].is_open
    assert not any(re.search(r"\bprivate\b|\bsafe\b|\bcomplian", layer.answer) for layer in found.values())


def test_a_library_of_the_versions_is_named() -> None:
    evidence = msgspec.structs.replace(made.laplace(), versions={"dpaudit": "1", "numpy": "2", "opendp": "0.14"})
    found = {layer.name: layer for layer in layers(evidence)}["Library and its version"]
    assert (found.answer, found.is_open) == ("opendp 0.14", False)


# --- the line ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_smaller_violations_stand_once() -> None:
    evidence = dp.audit("laplace", runs=4_000)
    assert evidence.power
    assert "smaller violation" not in {name for name, *_ in line(evidence)}
    text = re.sub(r"<svg.*?</svg>", "", html_page(evidence), flags=re.DOTALL)
    most = f"{max(item.runs for item in evidence.power):,}"
    assert text.count(f'<td class="number">{most}</td>') == 1


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("detectable", [1.01, 1.05, 1.1, 1.2, 1.5, 3.0])
def test_the_claims_line_crosses_no_text_of_a_yardstick(detectable: float, narrow: bool) -> None:
    marks = [
        LineMark("claim", "claim", 1.0, "1"),
        LineMark("detectable", "detectable", detectable, f"from {detectable}"),
    ]
    drawn = line_figure(marks, "ε", narrow=narrow)
    anchor = re.search(r"text-anchor: (\w+)[^>]*>from ", drawn)
    assert anchor is None or anchor[1] == "start"  # right of its marker, which is right of the claim


@pytest.mark.parametrize("narrow", [False, True])
def test_the_text_of_a_bound_below_the_claim_stays_below_it(narrow: bool) -> None:
    for value, side in ((0.3, "start"), (0.93, "end")):  # where there is room it stands outside of the bar
        marks = [LineMark("lower", "lower bound", value, f"≥ {value}"), LineMark("claim", "claim", 1.0, "1")]
        anchor = re.search(r"text-anchor: (\w+)[^>]*>≥ ", line_figure(marks, "ε", narrow=narrow))
        assert ("start" if anchor is None else anchor[1]) == side


@pytest.mark.slow
def test_a_curve_is_asked_for_again() -> None:
    evidence = dp.audit("gaussian", runs=1_000, curve=True)
    assert "--curve" in (reproduce_command(evidence) or "").split()


# --- the stated law ---------------------------------------------------------------------------------------


def stated(name: str, claim: str | None = None) -> str:
    evidence = dp.audit(name, runs=8_000, claim=claim)
    (section,) = loss_section(view(evidence))
    said = [str(block.content) for block in section.blocks if isinstance(block, Text)]
    (drawing,) = (block.drawing for block in section.blocks if isinstance(block, Figure))
    found = next((text for text in said if text.startswith("Over the bars stands the law")), "")
    assert ("stated law, first dataset" in drawing) == bool(found)
    return found.replace("\u00a0", " ")


@pytest.mark.nightly
def test_a_stated_law_stands_over_the_bars_and_only_where_it_is_known() -> None:
    assert stated("rounded_laplace") == ""
    assert stated("geometric").endswith("By this law no cell lies beyond ±ε.")
    half = stated("geometric", "epsilon=0.5")
    assert re.search(r"By this law [\d.]+ % of the outputs on the first dataset fall into cells above \+ε", half)
    assert half.endswith("of those on the second into cells below −ε.")
    assert "By this law" not in stated("gaussian")  # a claim that limits no single loss


@pytest.mark.slow
def test_the_excess_of_a_stated_law_is_held_against_delta() -> None:
    excess = r"the excess over the cells is \S+ % and \S+ %, "
    assert re.search(excess + "not more than δ", stated("gaussian_classic", "epsilon=0.2, delta=0.1"))
    assert re.search(excess + "more than δ", stated("gaussian_classic", "epsilon=0.1, delta=1e-5"))
