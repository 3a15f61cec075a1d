"""Do notebooks, terminals and lists of reports show the same as the page, and nothing that text can break?"""

from __future__ import annotations

import io
import re
from typing import Any

import msgspec
import pytest
from support import made_evidence as made

from dpaudit.report import console_summary, evidence_card, html_page, wants_colour
from dpaudit.report.html.index import IndexEntry, index_page
from dpaudit.report.text.reproduce import bibtex, citation, sources
from dpaudit.report.view import view

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.mark.parametrize("kind", made.KINDS)
@pytest.mark.slow
def test_a_notebook_shows_the_verdict_its_caution_and_the_line(kind: str) -> None:
    evidence = made.KINDS[kind]()
    card = evidence._repr_html_()
    assert card == evidence_card(evidence)
    assert str(evidence.verdict).upper() in card
    assert evidence.id in card
    assert not re.search(r"<script|<link|@import|https?://|\bon\w+=", card)
    assert len(card) < 60_000
    used, known = set(re.findall(r"var\(--(\w+)\)", card)), set(re.findall(r"--(\w+):", card))
    assert used <= known  # a notebook has no style sheet of ours
    assert card.count("<div") == card.count("</div>")


def test_colour_is_only_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())


@pytest.mark.parametrize("kind", made.KINDS)
def test_colour_adds_nothing_but_itself(kind: str) -> None:
    evidence = made.KINDS[kind]()
    plain, coloured = console_summary(evidence), console_summary(evidence, colour=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    word = view(evidence).headline.word
    assert word.startswith(str(evidence.verdict).upper())
    assert re.match(r"\x1b\[1(;3[1235])?m" + word + r"\x1b\[0m:", coloured)
    assert ("\x1b[1;32m" in coloured) == word.startswith("PROVED")  # green belongs to a proof


def test_the_citation_names_what_was_found_and_its_id() -> None:
    evidence = made.refuted()
    for text in (bibtex(evidence), citation(evidence)):
        assert evidence.id in text
        assert "violated" in text
        assert "2026" in text


def test_sources_are_those_that_were_used() -> None:
    assert any("CheckDP" in text for text in sources(made.proved()))
    assert not any("CheckDP" in text for text in sources(made.laplace()))
    assert any("Rényi" in text for text in sources(made.renyi()))
    assert any("Gaussian differential privacy" in text for text in sources(made.inconclusive()))
    for kind in made.KINDS.values():
        listed = sources(kind())
        assert len(set(listed)) == len(listed)


@pytest.mark.slow
def test_a_baseline_stands_beside_the_evidence() -> None:
    before = made.laplace()
    now = msgspec.structs.replace(made.categories(), target=before.target)
    html = html_page(now, baseline=before)
    assert before.id in html
    section = re.search(r'<section id="change">.*?</section>', html, re.DOTALL)
    assert section is not None
    assert "NOT VIOLATED" in section[0]
    assert "VIOLATED" in section[0].replace("NOT VIOLATED", "")
    assert 'id="change"' not in html_page(now)


def row(evidence: Any) -> list[str]:
    html = index_page("title", "lead", [IndexEntry(evidence, "x.html")])
    return [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<t[dh][ >].*?</t[dh]>", html, re.DOTALL)[-9:]]


def test_a_list_shows_both_bounds() -> None:
    assert "ε\u00a0≤\u00a00.625\u00a0=\u00a05/8" in row(made.proved())
    assert "none found" in row(made.without_finite_bound())
    assert "ε\u00a0≥\u00a00.9857" in row(made.laplace())
    assert row(made.invalid())[4:6] == ["–", "–"]
    assert "ε\u00a0=\u00a0∞" in row(made.refuted_infinitely())
