"""Does the summary of a build say what came of every target, and obey nothing that they say?"""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from support import gate_results as made

from dpaudit.gate.drawn import markdown
from dpaudit.gate.result import GateResult, Outcome
from dpaudit.report.formats import escaped

RENDERER = MarkdownIt("commonmark", {"html": True}).enable("table")
OURS = {"h2", "table", "thead", "tbody", "tr", "th", "td", "p", "ul", "li", "strong", "code", "details", "summary"}


def rendered(result: GateResult) -> str:
    return str(RENDERER.render(markdown(result)))


def tags(text: str) -> set[str]:
    return set(re.findall(r"<([a-zA-Z][a-zA-Z0-9]*)", text))


def test_the_heading_says_what_came_of_it() -> None:
    assert markdown(made.gate(made.targets()[0])).startswith("## dpaudit: 1 passed of 1 target\n")
    assert markdown(made.gate()).startswith("## dpaudit: no target was run\n")
    assert markdown(made.gate(*made.targets())).startswith(
        "## dpaudit: 4 failed, 2 invalid, 1 inconclusive, 1 passed of 8 targets\n"
    )


def test_every_target_has_a_row_and_only_troubled_ones_have_details() -> None:
    page = rendered(made.gate(*made.targets()))
    assert page.count("<tr>") == 1 + 8
    assert page.count("<details") == 7
    assert "<summary><code>counts</code>" not in page
    assert "<summary><code>sum</code>: failed. The claim is violated</summary>" in page


def test_details_tell_the_comparison_the_place_the_evidence_and_the_command() -> None:
    mean = replace(made.targets()[2], page="mean.html")
    assert mean.evidence is not None
    text = markdown(made.gate(mean))
    assert "lost 0.5 to 0.6124 before, and 0.9987 to 1.2 now" in text  # each end rounded outward
    assert "<code>src/some folder/release.py:12</code>" in text
    assert mean.evidence.id in text
    assert "dpaudit audit laplace" in text
    assert "<code>mean.html</code>" in text


def test_a_pass_is_not_sold_as_privacy() -> None:
    text = markdown(made.gate(made.targets()[0]))
    assert "not proved private" in text
    assert not re.search(r"[✅✓✔]|is private|safe", text)


def test_hostile_text_is_shown_as_text() -> None:
    page = rendered(made.whole())
    assert tags(page) <= OURS
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    shown = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert "**bold** [link](https://example.org) ![x](y) {0}" in shown
    assert page.count("<tr>") == 1 + 10  # no bar opened a cell, no line break a row
    assert page.count("<h2>") == 1
    assert "\x1b" not in page and "\u202e" not in page


def test_a_bar_in_a_name_opens_no_cell() -> None:
    page = rendered(made.gate(replace(made.targets()[0], name="a | b")))
    assert "<td><code>a | b</code></td>" in page
    assert page.count("<td>") == 6


def test_without_escaping_the_same_text_is_obeyed() -> None:
    page = str(RENDERER.render(f"| {made.HOSTILE.splitlines()[0]} |\n|---|\n"))
    assert tags(page) - OURS


@pytest.mark.parametrize(
    "text", ["a|b", "`a`", "*a*", "_a_", "<b>", "[a](b)", "#1", "@a", "$x$", "~~a~~", "&lt;", "\\"]
)
def test_what_is_escaped_reads_as_it_was(text: str) -> None:
    page = str(RENDERER.renderInline(escaped(text)))
    assert html.unescape(page) == text
    assert not tags(page)


@pytest.mark.parametrize("text", ["https://example.org", "www.example.org", "@someone", "#12"])
def test_nothing_becomes_a_link(text: str) -> None:
    assert not re.search(r"https?://|www\.|@\w|#\d+(?!;)", escaped(text).replace("&#", ""))


@pytest.mark.nightly
def test_a_huge_gate_stays_within_what_a_build_shows() -> None:
    two = made.targets()[:2]
    many = [replace(item, name=f"{item.name} {number}") for number in range(400) for item in two]
    text = markdown(made.gate(*many))
    assert len(text.encode()) < 200_000
    assert "600 more targets are left out here." in text
    assert "350 more did not pass" in text
    assert "counts 1<" not in text  # what is left out is what passed


def test_the_policy_decides_about_the_inconclusive() -> None:
    undecided = made.targets()[5]
    assert "<details" in markdown(made.gate(undecided))
    assert "<details" not in markdown(made.gate(replace(undecided, outcome=Outcome.PASSED)))
