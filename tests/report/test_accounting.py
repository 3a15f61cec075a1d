"""Does every rendering of an accounting show both bounds, the claim, what is listed and what was not checked?"""

from __future__ import annotations

import copy
import json
import math

import msgspec
import pytest
from lxml import html

import dpaudit as dp
from dpaudit.evidence.canonical_json import content_id
from dpaudit.report import FORMATS, console_summary, evidence_card, evidence_from_page, html_page
from dpaudit.report.html.index import IndexEntry, index_page
from dpaudit.report.text.listed import other_place, release_words
from dpaudit.report.view import view


@pytest.fixture(scope="module")
def proved() -> dp.Evidence:
    return dp.account(
        dp.accounting.Gaussian(2).poisson("0.1").times(3), claim="epsilon=0.3, delta=0.001", tolerance=0.01
    )


@pytest.fixture(scope="module")
def all_kinds(proved) -> dict[str, dp.Evidence]:
    listed = dp.accounting.Exponential(1).times(4)
    found = {
        "violated": dp.account(listed, claim=["epsilon=1", "epsilon=4"], alone=True),
        "inconclusive": dp.account(listed, claim="epsilon=3", alone=True),
        "no claim": dp.account(listed, epsilon="2.5", alone=True),
    }
    return {"proved": proved, **found}


KINDS = ["proved", "violated", "inconclusive", "no claim"]


def plain(text: str) -> str:
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").split())


def words(page: str) -> str:
    return plain(html.fromstring(page).text_content())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_says_what_was_certified_and_carries_its_evidence(kind, all_kinds):
    evidence = all_kinds[kind]
    page = html_page(evidence)
    text = words(page)
    assert str(evidence.verdict) == kind and kind.upper() in text
    assert evidence_from_page(page).id == evidence.id
    for said in ("What is certified", "What was listed", "no data and no queries lose more", "nothing was run"):
        assert said in text
    assert "this function was run" not in text and "at 100 % confidence" not in text


def test_the_page_shows_the_curve_and_what_others_say(proved):
    page = html_page(proved)
    assert 'aria-label="δ against ε, certified from below and from above' in page
    assert "dp-accounting, PLD" in words(page) and "certified interval" in words(page)


def test_a_page_of_hostile_text_obeys_none_of_it(proved):
    record = copy.deepcopy(proved.record())
    evil = "<script>alert(1)</script>\u202e"
    record["target"]["name"] = record["unit"] = evil
    record["accounting"]["releases"][0]["name"] = evil
    record["accounting"]["others"][0]["name"] = evil
    record["accounting"]["note"] = evil
    found = dp.Evidence.from_json(json.dumps({"id": content_id(record), "evidence": record, "run": None}))
    page = html_page(found)
    assert "<script>alert" not in page
    assert "\u202e" not in console_summary(found) and "<script>" not in FORMATS["markdown"].draw([found], None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_summary_has_the_verdict_first_and_few_lines(kind, all_kinds):
    lines = console_summary(all_kinds[kind]).splitlines()
    assert lines[0].startswith(f"{kind.upper()}: ") and 8 <= len(lines) <= 16
    text = plain(console_summary(all_kinds[kind]))
    assert "certified" in text and "neighbours" in text
    assert "no program was looked at" in text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("pdf", "html", "json")])
def test_every_format_draws_it(name, kind, all_kinds):
    drawn = FORMATS[name].draw([all_kinds[kind]], None)
    assert isinstance(drawn, str) and len(drawn) > 100


def test_index_card_and_comparison_show_it(all_kinds):
    page = index_page("All", "", [IndexEntry(each, "a.html") for each in all_kinds.values()])
    assert "ε ≥ 2" in words(page)
    assert "VIOLATED" in evidence_card(all_kinds["violated"])
    assert "VIOLATED" in words(html_page(all_kinds["violated"], baseline=all_kinds["inconclusive"]))


def test_a_citation_calls_it_an_accounting(proved):
    assert "accounting of Gaussian(2)" in view(proved).cell("cite")


def test_where_another_accountant_lies_is_said_of_both_ends(proved):
    stated = proved.accounting.statements[0]
    other = proved.accounting.others[0]
    for value, said in (
        (stated.low - 0.01, "certainly too little"),
        ((stated.low + stated.high) / 2, "inside"),
        (stated.high + 0.01, "an upper bound that holds"),
        (math.nextafter(stated.low, 0), "certainly too little"),
    ):
        assert said in other_place(msgspec.structs.replace(other, value=value), stated)
    estimate = msgspec.structs.replace(other, value=stated.high + 1, side="estimate")
    assert "certainly too much" in other_place(estimate, stated)


def test_a_release_that_cannot_be_read_is_shown_as_it_is_written(proved):
    release = proved.accounting.releases[0]
    assert "Poisson" in release_words(release)
    for text in ("nope", "Gaussian(1).poisson(7)", ""):
        assert text in release_words(msgspec.structs.replace(release, event=text))


@pytest.mark.parametrize(
    "change",
    [
        {"statements": ()},
        {"releases": ()},
        {"certificates": ()},
        {"curve": {"epsilons": (0.0, 1.0), "lows": (0.0,), "highs": (math.nan, 2.0)}},
        {"curve": {"epsilons": (0.0, 0.0), "lows": (0.0, 0.0), "highs": (0.0, 0.0)}},
    ],
    ids=str,
)
def test_a_record_that_makes_no_sense_is_drawn_all_the_same(change, proved):
    from dpaudit.evidence.further_records import AccountingCurve

    change = {name: AccountingCurve(**value) if name == "curve" else value for name, value in change.items()}
    odd = msgspec.structs.replace(proved, accounting=msgspec.structs.replace(proved.accounting, **change))
    assert html_page(odd) and console_summary(odd)


@pytest.mark.slow
def test_a_thousand_releases_have_a_page_and_a_summary_of_few_lines(proved):
    release = proved.accounting.releases[0]
    many = tuple(msgspec.structs.replace(release, name=f"release {number}") for number in range(1000))
    odd = msgspec.structs.replace(proved, accounting=msgspec.structs.replace(proved.accounting, releases=many))
    assert len(console_summary(odd).splitlines()) < 25
    assert "and 900 more" in words(html_page(odd))
