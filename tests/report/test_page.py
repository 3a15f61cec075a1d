"""Does a page say what the evidence says, safely, and the same every time?"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from support import made_evidence as made
from support.drawings import undrawn
from support.nightly import mostly_at_night

from dpaudit.errors import UsageError
from dpaudit.evidence.records import Verdict
from dpaudit.report import console_summary, evidence_from_page, html_page
from dpaudit.report.document import Facts, Text, section, strong
from dpaudit.report.html.certain import line_drawing
from dpaudit.report.html.templates import checker
from dpaudit.report.view import view

PAGES: dict[str, str] = {}
DRAWN = {"laplace", "categories", "refuted", "low bits", "hostile"}  # one of every drawing


def page(kind: str) -> str:
    """Return the page of a kind, made once for all tests; of kinds that show no drawing of their own, without any."""
    if kind not in PAGES:
        with nullcontext() if kind in DRAWN else undrawn():
            PAGES[kind] = html_page(made.KINDS[kind]())
    return PAGES[kind]


class Reader(HTMLParser):
    """What a browser would find: tags with attributes, and the text outside of style and script."""

    _VOID = frozenset({"meta", "link", "br", "img", "input", "hr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self._VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "script"}:
            self.texts.append((self.open[-1], data))

    @property
    def text(self) -> str:
        return " ".join(" ".join(text for _, text in self.texts).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def said(kind: str) -> str:
    return Reader(page(kind)).text.replace("\u00a0", " ")


@pytest.mark.parametrize("kind", mostly_at_night(made.KINDS))
@pytest.mark.slow
def test_evidence_reads_back_with_the_same_id(kind: str) -> None:
    evidence = made.KINDS[kind]()
    read = evidence_from_page(page(kind))
    assert read.id == evidence.id
    assert read.run == evidence.run
    assert evidence.id in Reader(page(kind)).text


@pytest.mark.parametrize("kind", mostly_at_night(["laplace", "hostile"]))
@pytest.mark.slow
def test_same_evidence_gives_the_same_bytes(kind: str) -> None:
    import matplotlib

    with matplotlib.rc_context({"xtick.major.size": 30, "svg.fonttype": "path", "legend.handlelength": 9}):
        assert html_page(made.KINDS[kind]()) == page(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_at_night(made.KINDS))
def test_page_is_well_formed_and_loads_nothing(kind: str) -> None:
    reader = Reader(page(kind))
    assert not reader.unbalanced
    assert not reader.open
    names = {tag for tag, _ in reader.tags}
    assert not names & {"img", "iframe", "object", "embed", "form", "base", "image", "foreignobject"}
    addresses = [
        value
        for _, attrs in reader.tags
        for name, value in attrs.items()
        if name in {"src", "href", "xlink:href", "action", "data", "srcset", "poster"}
    ]
    assert addresses
    assert all(value is not None and (value.startswith("#") or value == "data:,") for value in addresses)
    style = re.search(r"<style>(.*?)</style>", page(kind), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert not any(name.startswith("on") for _, attrs in reader.tags for name in attrs)
    assert all("://" not in text for tag, text in reader.texts if tag != "code")
    assert len(page(kind).encode("utf-8")) < 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", made.KINDS)
def test_policy_is_strict_and_scripts_are_data_and_the_checker_of_a_proof(kind: str) -> None:
    reader = Reader(page(kind))
    policy = next(a["content"] for a in reader.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    types = [script.get("type") for script in reader.all("script")]
    proved = "script-src" in policy
    assert types == (["application/json", "text/plain", None] if proved else ["application/json"])
    run = re.findall("<script>(.*?)</script>", page(kind), re.DOTALL) + [checker()] * proved
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
    assert re.findall("script-src ([^;]*)", policy) == [" ".join(f"'sha256-{digest}'" for digest in digests)] * proved
    packed = re.search('id="checker">([^<]*)<', page(kind))
    assert (packed is not None) is proved and (
        not packed or gzip.decompress(base64.b64decode(packed[1])).decode() == run[1]
    )


def test_hostile_text_is_shown_as_text() -> None:
    html = page("hostile")
    reader = Reader(html)
    assert "<script>alert(1)</script>" in reader.text  # what the reader sees
    assert html.count("<script") == 1  # what the browser runs: the data block only
    for mark in ("\x1b", "\u202e"):
        assert mark not in html
    drawn = [text for tag, text in reader.texts if tag == "text"]
    assert any("<script>alert" in text for text in drawn)  # in the drawing too
    assert "$x_{$" in "".join(drawn)  # not read as mathematics


@pytest.mark.slow
def test_ids_are_unique_and_references_resolve() -> None:
    for kind in ("laplace", "categories", "approximate"):
        reader = Reader(page(kind))
        ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
        assert len(ids) == len(set(ids))
        used = re.findall(r"url\(#([^)]*)\)", page(kind))
        used += [value[1:] for _, a in reader.tags if (value := a.get("href")) and value.startswith("#")]
        assert used
        assert set(used) <= set(ids)


SECTIONS = (
    "Scope",
    "What this audit cannot show",
    "The event",
    "The privacy loss",
    "Every attempt",
    "Method",
    "Reproduce",
    "Check and cite",
    "Glossary",
    "Raw evidence",
)


@pytest.mark.parametrize("kind", made.KINDS)
def test_every_section_has_its_heading(kind: str) -> None:
    texts = Reader(page(kind)).texts
    headings, inner = ([" ".join(text.split()) for tag, text in texts if tag == own] for own in ("h2", "h3"))
    assert set(SECTIONS) <= set(inner)
    assert any(re.fullmatch(r"Where [εμρ] lies", text) for text in headings)
    assert any(text.startswith("The pair") for text in inner)
    assert headings[0] == view(made.KINDS[kind]()).headline.word
    assert headings[-3:] == ["For reviewers", "For engineers", "For statisticians"]


@pytest.mark.parametrize("kind", made.KINDS)
def test_tables_and_drawings_can_be_read_aloud(kind: str) -> None:
    reader = Reader(page(kind))
    assert all(attrs.get("scope") for attrs in reader.all("th"))
    drawings = [attrs for attrs in reader.all("svg") if attrs.get("aria-hidden") != "true"]
    assert drawings
    assert all(attrs.get("role") == "img" and attrs.get("aria-label") for attrs in drawings)
    assert reader.all("html")[0]["lang"] == "en"
    assert len(reader.all("h1")) == 1


def test_not_violated_is_never_sold_as_privacy() -> None:
    text = said("laplace")
    assert "This is not a proof of privacy." in text
    assert 'class="verdict not-violated"' in page("laplace")
    style = page("laplace").partition("</style>")[0]
    assert ".not-violated" not in style  # it has the neutral tone; green belongs to PROVED
    for word in ("is private", "is safe", "compliant", "compliance", "passed"):
        assert word not in text


def test_lower_bounds_are_rounded_down_and_upper_ones_up() -> None:
    text = said("laplace")
    assert "ε ≥ 0.9857 at 95 % confidence" in text  # 0.98576…
    assert "0.9858" not in text
    assert "had ε been 1.015 or more" in text.lower()  # 1.01476…
    assert "ε ≤ 1 is proved for any number of answers" in said("proved for any length")


def test_violated_names_the_chance_of_error() -> None:
    text = said("categories")
    assert "The runs contradict the claim ε = 1: they show ε ≥ 2.252 at 95 % confidence." in text
    assert "with a probability of at most 5 %" in text


def test_event_and_its_counts() -> None:
    text = said("categories")
    assert "An output that is 'red' points to the first dataset" in text
    for number in ("4,000", "5.99 %", "80.0 %", "81.8 %"):
        assert number in text
    assert "was right 8,100 times (93.0 %)" in text
    assert "'leak'" in text


def test_infinite_loss_and_rare_cells_are_told_apart() -> None:
    text = said("categories")
    assert (
        "1.74 % of the runs on the first dataset fell into cells that the second dataset never reached" in text
    )  # 87 of 5,000
    assert "3 runs lie in cells that only one dataset reached" in text


def test_data_is_shown_only_where_it_is_public() -> None:
    assert "<mark>2</mark>" in page("laplace")
    assert "<mark>3</mark>" in page("laplace")
    assert "<mark>" not in page("categories")
    assert "Its data are not part of the evidence" in said("categories")


def test_missing_parts_say_so() -> None:
    text = said("invalid")
    assert "blocks with different seeds return the same sequence" in text
    for sentence in ("No event was measured.", "No histogram of outputs was recorded.", "Nothing was measured."):
        assert sentence in text
    assert "≥" not in text.partition("Glossary")[0]  # no bound is shown where none may be used
    assert "No claim was given, so there is nothing to judge." in said("no claim")


def test_other_notions_keep_their_symbol_and_have_no_lines() -> None:
    assert "Where μ lies" in said("inconclusive")
    for kind in ("inconclusive", "renyi"):
        assert "sets no limit to the loss of a single output" in said(kind)
        assert "± claimed" not in said(kind)
    assert "± claimed" in said("laplace")
    assert "at order 2" in said("renyi")


def part(kind: str, name: str) -> str:
    """The text of one section of a page."""
    html = re.search(rf'<section id="{name}"[^>]*>.*?</section>', page(kind), re.DOTALL)
    return "" if html is None else Reader(html[0]).text.replace("\u00a0", " ")


def rows(kind: str, name: str) -> dict[str, str]:
    """The rows of the tables of a section, by their first cell."""
    found = re.search(rf'<section id="{name}"[^>]*>.*?</section>', page(kind), re.DOTALL)
    assert found is not None
    texts = [Reader(row).text.replace("\u00a0", " ") for row in re.findall(r"<tr.*?</tr>", found[0], re.DOTALL)]
    return {text.split(" ")[0]: text for text in texts}


PROOFS = tuple(kind for kind, build in made.KINDS.items() if build().proof is not None)


def test_what_is_proved_exact_and_sampled_is_named_apart() -> None:
    shown = rows("proved", "line")
    assert shown["sampled"] == "sampled lower bound ε ≥ 0.5912 counted in runs 95 % ε is at least this"
    assert shown["exact"].startswith("exact lower bound ε ≥ 0.6249 computed exactly certain")
    assert shown["proved"].startswith("proved upper bound ε ≤ 0.625 = 5/8 proved by alignment certain")
    assert rows("enumerated", "line")["proved"].startswith("proved upper bound ε ≤ 1.099 (exact: ln(3))")
    drawn = 'aria-label="The ε line: sampled ≥ 0.5912; exact ≥ 0.6249; claim 1; proved ≤ 0.625 = 5/8"'
    assert page("proved").count(drawn) == 1
    assert "exact infinite" in page("refuted infinitely")


def test_a_proof_says_for_what_it_holds_and_how_to_check_it() -> None:
    text = part("proved", "verdict")
    assert "The claim is ε = 1, and ε ≤ 0.625 = 5/8 is proved for 5 answers." in text
    assert "by proof" not in text  # the recorded reason would say the same again
    assert "The proof holds for all data of 5 real answers, under queries, with epsilon = 1." in text
    text = part("proved", "proof")
    for words in (
        "Answers exactly 5, of any value",
        "34, all of them",
        "dpaudit check FILE",
        "Certificate 4 kB of JSON",
        "Real arithmetic and perfect sampling.",
        "exactly 5 answers; nothing is said of fewer or more",
    ):
        assert words in text
    text = part("proved for any length", "proof")
    assert "Answers any number of them" in text
    assert "nothing is said of fewer or more" not in text
    assert "1 answer;" in part("refuted infinitely", "proof")


def test_a_bound_that_is_rounded_above_the_claim_is_explained() -> None:
    assert "exactly, it does not exceed the claim" in part("enumerated", "verdict")
    assert "exactly, it does not exceed the claim" not in part("proved", "verdict")
    assert "does not reach the claim" not in part("enumerated", "proof")


def test_without_a_finite_bound_nothing_is_refuted() -> None:
    text = part("without finite bound", "proof")
    assert "No finite upper bound of ε was found; this by itself refutes nothing." in text
    assert "Tried for all data" in text
    assert "dpaudit check" not in text
    assert "none found" in rows("without finite bound", "line")["proved"]
    assert "the exact lower bound is infinite" in part("refuted infinitely", "proof")
    assert "refutes nothing" not in part("refuted infinitely", "proof")


def test_a_counterexample_keeps_the_exact_and_the_sampled_apart() -> None:
    text = part("refuted", "verdict")
    assert "The claim ε = 1 certainly does not hold: ε ≥ 1.999 by exact computation." in text
    assert "Runs of the same event show ε ≥ 1.92 at 97.5 % confidence." in text
    text = part("refuted", "exact")
    assert text.startswith("Exact counterexample Two neighbouring datasets")
    assert "The event is an output that is below 0 ; it points to the first dataset." in text
    shown = rows("refuted", "exact")
    assert shown["exact"] == "exact computed 50 % 6.76676 to 6.76677 % ε ≥ 1.999 certain"
    assert shown["sampled"].endswith("6.80 %, interval 6.49 % to 7.13 % ε ≥ 1.92 97.5 %")
    assert "1,701 of 25,000" in shown["sampled"]
    assert "fixed after the learning runs" not in part("refuted", "event")
    assert page("refuted").count("<mark>1.0</mark>") == 1  # there, and not a second time with the pair that was run
    assert "Its data stand above" in part("refuted", "pair")
    assert "The pair was found together with the event" in part("refuted", "pair")


def test_an_infinite_loss_is_impossible_on_one_side() -> None:
    assert "ε = ∞ by exact computation" in part("refuted infinitely", "verdict")
    assert rows("refuted infinitely", "exact")["exact"] == "exact computed 100 % 0 %, impossible ε = ∞ certain"
    assert "impossible on the second dataset and possible on the first" in part("refuted infinitely", "exact")


def test_a_certain_bound_below_the_claim_is_no_counterexample() -> None:
    for kind in ("proved", "above the claim", "enumerated"):
        assert part(kind, "exact").startswith("Exact lower bound")
        assert "Exact counterexample" not in said(kind)
    assert "No runs of this event were made." in part("above the claim", "exact")
    assert not part("proved for any length", "exact")


def test_a_proof_that_does_not_reach_the_claim_decides_nothing() -> None:
    text = part("above the claim", "verdict")
    assert "The audit could not decide on the claim ε = 1." in text
    assert "ε is at most 7/4, by proof, which is more than the claimed 1" in text
    assert "It does not reach the claim, which refutes nothing" in part("above the claim", "proof")
    assert "ε ≤ 1.75 = 7/4" in rows("above the claim", "line")["proved"]


@pytest.mark.parametrize("kind", PROOFS)
def test_the_colour_of_a_proof_belongs_to_the_verdict_proved(kind: str) -> None:
    drawing = line_drawing(made.KINDS[kind]())
    assert drawing is not None
    assert ("var(--proved)" in drawing) == (made.KINDS[kind]().verdict is Verdict.PROVED)
    assert ('class="verdict proved"' in page(kind)) == (made.KINDS[kind]().verdict is Verdict.PROVED)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_runs_that_contradict_a_proof_are_headed_so() -> None:
    text = part("contradicted", "verdict")
    assert "The runs contradict the proof and the claim ε = 1: they show ε ≥ 1.352 at 99.9999 % confidence" in text
    assert "Contradicts the proof: implementation, arithmetic or prover is wrong." in text
    assert "This is certain" not in part("contradicted", "proof")
    assert "contradicted" in rows("contradicted", "line")["proved"]
    assert "ε ≥ 0.6249" in rows("contradicted", "line")["exact"]  # though the headline was sampled
    evidence = msgspec.structs.replace(made.contradicted(), claim="epsilon=3")
    text = Reader(html_page(evidence)).text.replace("\u00a0", " ")
    assert "The runs contradict the proof: they show" in text  # and not the claim, which is larger
    assert "and the claim" not in text.partition("Where ε lies")[0]


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_runs_that_cannot_be_trusted_leave_the_proof_alone() -> None:
    reason = "The runs cannot be trusted: they drift."
    evidence = msgspec.structs.replace(made.refuted(), verdict=Verdict.INVALID, reason=reason)
    shown = Reader(html_page(evidence)).text.partition("What it does not cover")[0]
    for text in (shown, console_summary(evidence)):
        text = " ".join(text.replace("\u00a0", " ").split())
        assert "What is proved or exact does not rest on them." in text
        assert "ε ≤ 2" in text
        assert "ε ≥ 1.999" in text
        assert "1.92" not in text


def test_a_page_of_a_proof_alone_speaks_of_no_runs() -> None:
    text = said("proved for any length")
    for sentence in (
        "Runs none",
        "No event was measured: nothing was run",
        "no pair was run",
        "Nothing was run, so there",
    ):
        assert sentence in text
    assert "learning runs" not in text.partition("Glossary")[0]
    assert "Ε is" not in text  # a Greek letter that was made a capital


def low_bits_page(**changes: Any) -> str:
    found = msgspec.structs.replace(made.low_bits().floating_point, **changes)
    kept = msgspec.structs.replace(
        made.low_bits(), floating_point=found, low_bits="report", verdict=Verdict.NOT_VIOLATED
    )
    with undrawn():
        return Reader(html_page(kept)).text.replace("\u00a0", " ")


@pytest.mark.slow
def test_low_order_bits_are_shown_plainly() -> None:
    text = low_bits_page(value=7.5)
    assert "reads the low-order bits of the output learns more: ε ≥ 7.5 at 95 % confidence" in text
    assert "the verdict is about the mathematics" in text
    assert "No violation of the claim ε = 1 was found in outputs read as real numbers." in text
    assert "The low-order bits Numbers in a computer lie on a grid" in text
    assert "An output that is no sum of 1 and a double points to the first dataset." in text
    assert "64,500" in text
    assert "they are a statement of their own" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"value": 0.0}, "Nothing was found in the low-order bits of the output (at 95 % confidence)."),
        ({"value": 0.5}, "The low-order bits of the output showed no more than the output itself: ε ≥ 0.5"),
        (
            {"value": 0.0, "method": "none", "event": None, "counts": None},
            "The outputs have no low-order bits to read",
        ),
    ],
)
def test_low_order_bits_that_say_nothing_more_are_not_made_a_finding(changes: dict[str, Any], sentence: str) -> None:
    text = low_bits_page(**changes)
    assert sentence in text
    assert "learns more" not in text


def test_low_order_bits_that_decide_are_named_in_the_verdict() -> None:
    text = said("low bits")
    assert "the claim ε = 1 for someone who reads the low-order bits of the output: they show ε ≥ 9.976" in text
    assert "asked to let it decide the verdict too" in text
    assert "they are a statement of their own" not in text
    assert "--floating-point verdict" in text


def test_low_order_bits_that_were_not_examined_have_no_section() -> None:
    html = page("laplace")
    assert 'id="low-bits"' not in html
    assert 'href="#low-bits"' not in html
    assert "that was not examined" in said("laplace")


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_record_that_is_too_long_is_embedded_and_not_shown() -> None:
    plain = made.laplace()
    html = html_page(msgspec.structs.replace(plain, reason="<x>" * 70_000))
    page = re.sub("(&lt;|<)x(&gt;|>)", "", html)  # what shows the reason
    assert len(page) < 400_000
    assert "too long to show" in html
    assert evidence_from_page(html).reason == "<x>" * 70_000
    kept = re.search('id="dpaudit-evidence">(.*?)</script>', html)
    assert kept is not None
    cut = kept[1][: len(kept[1]) // 8 * 4]
    for wrong in (cut, kept[1] + kept[1], base64.b64encode(gzip.compress(b"0" * (10**8 + 1))).decode(), "H4sI"):
        with pytest.raises(UsageError, match=r"unpacked|goes on|padding"):
            evidence_from_page(html.replace(kept[1], wrong))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda html: "<p>nothing</p>", "no evidence"),
        (lambda html: html + html, "2 blocks"),
        (lambda html: html.replace('"seed":7', '"seed":8'), "altered"),
        (lambda html: re.sub(r'(id="dpaudit-evidence">).*?</script>', r"\1{}</script>", html), "no evidence file"),
    ],
)
def test_reading_refuses_what_is_not_a_page_of_ours(edit: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        evidence_from_page(edit(page("laplace")))


def test_the_embedded_block_is_json_as_it_stands() -> None:
    block = re.search(r'id="dpaudit-evidence">(.*?)</script>', page("hostile"), re.DOTALL)
    assert block is not None
    assert json.loads(block[1])["evidence"]["target"]["name"] == made.HOSTILE
    assert not set("<>&") & set(block[1])


@pytest.mark.slow
def test_importing_the_report_is_light() -> None:
    code = "import dpaudit.report, sys; print([m for m in ('matplotlib', 'jinja2', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_a_section_is_blocks_and_needs_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpaudit.report.html import page as module

    def new(_: Any) -> Any:
        facts = Facts([("Name", (strong("<i>"), " Text"))])
        yield section("new", Text("One <b> thing."), facts, title="A new section")

    layout = module.LAYOUT
    monkeypatch.setattr(module, "LAYOUT", replace(layout, reviewers=(new, *layout.reviewers)))
    html = html_page(made.boundless())
    assert html.index('<li><a href="#new">A new section</a></li>') < html.index('<a href="#scope">')
    assert '<section id="new">\n<h3>A new section</h3>\n<p>One &lt;b&gt; thing.</p>' in html
    assert "<div><dt>Name</dt><dd><strong>&lt;i&gt;</strong> Text</dd></div>" in html
