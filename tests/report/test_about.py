"""Does the first screen say of what and for whom it is, and how sure, without a word too much?"""

from __future__ import annotations

import math
import re
from statistics import NormalDist

import msgspec
import pytest
from support import made_evidence as made

from dpaudit.evidence.further_records import Trace, TraceFinding
from dpaudit.evidence.records import Verdict
from dpaudit.report import html_page
from dpaudit.report.text.chain import noise_reach
from dpaudit.report.text.reviewer import about, pair_line, sure


@pytest.mark.parametrize("kind", made.KINDS)
def test_every_page_says_of_what_and_for_whom(kind: str) -> None:
    evidence = made.KINDS[kind]()
    said = dict(about(evidence))
    assert {"Claim", "Neighbours", "Parameters", "Made with"} <= said.keys()
    assert all(text.strip() for text in said.values())
    assert "queries(" not in said["Neighbours"]


def test_how_often_it_is_wrong_is_one_sentence_with_both_numbers() -> None:
    evidence = msgspec.structs.replace(made.laplace(), false_alarm=0.001)
    assert len(re.findall(r"\.(?: |$)", sure(evidence))) == 1
    assert "95\N{NO-BREAK SPACE}% confidence" in sure(evidence) and "5\N{NO-BREAK SPACE}% of" in sure(evidence)
    assert "VIOLATED in at most 0.1\N{NO-BREAK SPACE}%" in sure(evidence)
    older = msgspec.structs.replace(evidence, false_alarm=None)
    assert "VIOLATED in at most 5\N{NO-BREAK SPACE}%" in sure(older)
    assert "VIOLATED" not in sure(msgspec.structs.replace(evidence, claim=None, verdict=Verdict.NO_CLAIM))
    assert sure(msgspec.structs.replace(evidence, verdict=Verdict.INVALID)) == ""


@pytest.mark.slow
def test_the_pair_is_one_line_in_the_words_of_its_data() -> None:
    word = "violated, given the stated laws"
    found = TraceFinding(word, "too little noise", "release.py:3")
    trace = Trace(word, "data", 1, 2, 1, 1, 0, (found,), change="the same table, and one more")
    of_records = msgspec.structs.replace(made.laplace(), trace=trace, relation="add-remove")
    assert pair_line(of_records) == "The same table, and one more."
    answers = msgspec.structs.replace(made.laplace(), trace=trace)  # they have no records
    assert pair_line(answers) == "The answers [0, 1, 2] and [0, 1, 3]."
    assert "The pair: the same table" not in html_page(answers)
    assert pair_line(made.refuted()).startswith(("The answers ", "The datasets "))


def test_a_bound_above_the_claim_is_not_said_to_prove_it() -> None:
    assert not {"Proved", "Proved for"} & dict(about(made.proved())).keys()  # the verdict says it
    above = dict(about(made.above_the_claim()))
    assert "Proved for" not in above and above["Proved"].startswith("ε\N{NO-BREAK SPACE}≤")


def test_what_is_signed_is_open_from_the_start() -> None:
    page = html_page(made.invalid())
    opened = re.findall(r'<details class="part" id="(\w+)"( open)?>', page)
    assert opened == [("reviewers", " open"), ("engineers", ""), ("statisticians", "")]


def _beyond(law: str, scale: float, reach: float) -> float:
    """The chance of noise that goes farther than ``reach``, summed term by term or from the distribution."""
    if law == "laplace":
        return math.exp(-reach / scale)
    if law == "gaussian":
        return 2 * NormalDist(0, scale).cdf(-reach)
    weight = (
        (lambda k: math.exp(-abs(k) / scale))
        if law == "discrete_laplace"
        else lambda k: math.exp(-((k / scale) ** 2) / 2)
    )
    whole = range(-2000, 2001)
    return sum(weight(k) for k in whole if abs(k) > reach) / sum(map(weight, whole))


@pytest.mark.parametrize("law", ["laplace", "gaussian", "discrete_laplace", "discrete_gaussian"])
@pytest.mark.parametrize("scale", [0.2, 1.0, 7.5, 40.0])
def test_noise_goes_farther_than_is_said_in_five_of_a_hundred_draws_at_most(law: str, scale: float) -> None:
    reach = float(noise_reach(law, scale).replace("\N{NARROW NO-BREAK SPACE}", "").replace(",", ""))
    assert _beyond(law, scale, reach) <= 0.05
    assert reach == 0 or _beyond(law, scale, reach - max(1.0 if "discrete" in law else 0, 0.001 * reach)) > 0.05


def test_laws_that_add_no_number_have_no_accuracy() -> None:
    assert (
        noise_reach("select", 1.0) == noise_reach("randomised_response", 1.0) == noise_reach("laplace", math.inf) == ""
    )
