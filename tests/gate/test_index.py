"""Do the pages of a gate stand together, safely: one for each evidence, and an index over all targets?"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from support import gate_results as made

from dpaudit.errors import UsageError
from dpaudit.gate.drawn import index_page, write_pages
from dpaudit.gate.result import GateResult
from dpaudit.report import evidence_from_page


class Reader(HTMLParser):
    """Tags with attributes, and the text outside of style and script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.rows: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append("")
        if tag not in {"meta", "link"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.texts.append(data)
            if "tr" in self.open:
                self.rows[-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).replace("\u00a0", " ").split())


@pytest.mark.slow
def test_every_evidence_has_its_page_and_every_target_its_row(tmp_path: Path) -> None:
    gate = made.gate(*made.targets()[1:6:4], made.targets()[-1])
    written = write_pages(gate, tmp_path / "new" / "pages")
    folder = tmp_path / "new" / "pages"
    reader = Reader((folder / "index.html").read_text(encoding="utf-8"))
    assert len(reader.rows) == 1 + 3
    for item, row in zip(written.results, reader.rows[1:], strict=True):
        assert item.name in row and str(item.outcome) in row and str(item.rule) in row and item.sentence in row
        if item.evidence is None:
            assert item.page is None
        else:
            assert item.page is not None
            page = (folder / item.page).read_text(encoding="utf-8")
            assert evidence_from_page(page).id == item.evidence.id
    links = {attrs["href"] for tag, attrs in reader.tags if tag == "a"}
    assert {item.page for item in written.results if item.page} <= links
    assert replace(written, results=tuple(replace(item, page=None) for item in written.results)) == gate


def test_bounds_claims_and_comparisons_are_told() -> None:
    reader = Reader(index_page(made.gate(*made.targets())))
    for told in (
        "ε ≥ 2.252",
        "ε ≤ 1.75",
        "none shown",
        "epsilon=1",
        "mu=1",
        "0.5 to 0.6124 before",
        "release.py, line 3",
    ):
        assert told in reader.text
    assert "4 failed, 2 invalid, 1 inconclusive, 1 passed of 8 targets" in reader.text
    assert "95 % that no correct target fails" in reader.text


def test_it_reads_without_a_script_and_loads_nothing() -> None:
    html = index_page(made.whole())
    reader = Reader(html)
    assert reader.open == []
    assert [attrs for tag, attrs in reader.tags if tag == "script"] == [{}]
    policy = next(
        attrs["content"] for tag, attrs in reader.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None and policy.startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-"
    )
    assert "hidden" not in {name for _, attrs in reader.tags for name in attrs}
    addresses = [value for _, attrs in reader.tags for name, value in attrs.items() if name in {"src", "href"}]
    assert all(re.fullmatch(r"#[a-z-]+|data:,", value or "") for value in addresses)
    assert not any(name.startswith("on") for _, attrs in reader.tags for name in attrs)
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in addresses if value and value.startswith("#")} <= set(ids)


def test_the_policy_names_the_script_that_is_there() -> None:
    import base64
    import hashlib

    html = index_page(made.gate())
    script = re.search(r"<script>(.*)</script>", html, re.DOTALL)
    assert script is not None
    assert base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode() in html


def test_hostile_text_is_shown_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpaudit.gate.drawn.html_page", lambda evidence: "a page")
    written = write_pages(made.whole(), tmp_path)
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script>alert(1)</script>" in Reader(html).text
    assert html.count("<script") == 1
    assert "\x1b" not in html and "\u202e" not in html and "\x00" not in html
    assert all(re.fullmatch(r"[a-z0-9_-]+\.html", item.page) for item in written.results if item.page)


def test_a_pass_is_not_sold_as_privacy() -> None:
    html = index_page(made.gate(made.targets()[0]))
    assert "not proved private" in Reader(html).text
    assert 'class="verdict plain"' in html
    assert 'class="verdict proved"' not in html and 'class="word proved"' not in html


@pytest.mark.parametrize(
    ("names", "pages"),
    [
        (["a/b", "a b", "A-B"], ["a-b.html", "a-b-2.html", "a-b-3.html"]),
        (["a-2", "a", "a"], ["a-2.html", "a.html", "a-3.html"]),
        (
            ["index", "CON", "..", "", "ε"],
            ["index-2.html", "con-2.html", "target.html", "target-2.html", "target-3.html"],
        ),
        (["x" * 300], ["x" * 60 + ".html"]),
        (["../../etc/passwd", "C:\\x"], ["etc-passwd.html", "c-x.html"]),
    ],
)
def test_pages_have_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], pages: list[str]
) -> None:
    monkeypatch.setattr("dpaudit.gate.drawn.html_page", lambda evidence: "a page")
    target = made.targets()[0]
    written = write_pages(made.gate(*(replace(target, name=name) for name in names)), tmp_path)
    assert [item.page for item in written.results] == pages
    assert sorted(os.listdir(tmp_path)) == sorted({*pages, "index.html"})


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder"):
        write_pages(made.gate(), tmp_path / "file")


def test_the_index_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> str:
        raise RuntimeError

    monkeypatch.setattr("dpaudit.gate.drawn.html_page", fails)
    with pytest.raises(RuntimeError):
        write_pages(made.gate(made.targets()[0]), tmp_path)
    assert os.listdir(tmp_path) == []


def test_an_index_over_nothing() -> None:
    assert "No target was run." in Reader(index_page(GateResult((), 0.95, None, 0.0))).text
