"""Does every verdict and kind of claim have its plain words, and does none of them say too much?"""

from __future__ import annotations

import itertools
import re
import string

import msgspec
import pytest
from support import made_evidence as made

from dpaudit.evidence.records import Verdict
from dpaudit.privacy import parse_claim
from dpaudit.privacy.claims import NOTIONS
from dpaudit.report.document import words
from dpaudit.report.text.phrases import relation_words
from dpaudit.report.text.verdict import plain_words

CLAIMS = {
    "pure": "epsilon=1",
    "approximate": "epsilon=1, delta=1e-6",
    "gaussian": "mu=1",
    "concentrated": "rho=0.5",
    "renyi": "order=2, epsilon=0.5",
    "none": None,
}


def plain(verdict: Verdict, kind: str):
    return plain_words(msgspec.structs.replace(made.laplace(), verdict=verdict, claim=CLAIMS[kind]))


@pytest.mark.parametrize(("verdict", "kind"), list(itertools.product(Verdict, CLAIMS)), ids=str)
def test_every_cell_exists_and_is_filled_in(verdict: Verdict, kind: str) -> None:
    said = plain(verdict, kind)
    for sentence in (said.claimed, said.found, said.means, said.not_shown):
        assert sentence.endswith(".")
        assert not set("{}") & set(sentence)
        assert not re.search(r"\bNone\b|  | \.", sentence)
        assert not re.search(r"\billegal|\bcomplian|\blawful|\bliab|\bGDPR", sentence)  # no legal conclusion


def test_every_kind_of_claim_has_its_row() -> None:
    plain = words()["plain"]
    own = {"low_bits", "contradiction", "once"}  # of situations, and not of a verdict
    assert set(plain["found"]) - own == set(plain["not_shown"]) == set(plain["next"]) == set(map(str, Verdict))
    assert set(plain["means"]) - own == set(map(str, Verdict)) - {"proved", "not violated", "violated"}
    claims = {kind: parse_claim(text) for kind, text in CLAIMS.items() if text is not None}
    assert {type(claim) for claim in claims.values()} == set(NOTIONS)
    assert all(claim.words.kind == kind for kind, claim in claims.items())
    assert parse_claim("epsilon=1, delta=0").words.kind == "pure"


@pytest.mark.parametrize("verdict", [Verdict.NOT_VIOLATED, Verdict.INCONCLUSIVE, Verdict.INVALID, Verdict.NO_CLAIM])
def test_without_a_proof_nothing_is_sold_as_privacy(verdict: Verdict) -> None:
    for kind in CLAIMS:
        said = plain(verdict, kind)
        for sentence in (said.found, said.means, said.not_shown):
            words = set(sentence.lower().translate(str.maketrans("", "", string.punctuation)).split())
            assert not words & {"private", "safe", "guaranteed", "guarantees", "protected", "secure", "proved"}


def test_only_a_violation_says_that_more_is_given_away_than_promised() -> None:
    for verdict, kind in itertools.product(Verdict, CLAIMS):
        promised = (
            "than was promised" in plain(verdict, kind).means or "that was promised" in plain(verdict, kind).means
        )
        assert promised == (verdict is Verdict.VIOLATED and kind != "none")


def test_the_numbers_are_those_of_the_claim() -> None:
    assert "more than 2.72 times as likely" in plain(Verdict.PROVED, "pure").claimed
    assert "a probability of 1e-6" in plain(Verdict.PROVED, "approximate").claimed
    assert "a chance of 1e-6" in plain(Verdict.PROVED, "approximate").means
    assert "order 2 of at most 0.5" in plain(Verdict.PROVED, "renyi").claimed


def test_contradictions_and_low_order_bits_have_words_of_their_own() -> None:
    assert "more than what was proved to be possible" in plain_words(made.contradicted()).found
    assert plain_words(made.low_bits()).found.startswith("The last bits of the outputs")
    assert plain_words(made.refuted()).found == words()["plain"]["found"]["violated"]


@pytest.mark.parametrize("kind", ["add-remove", "replace"])
def test_neighbours_that_differ_in_a_person_are_not_said_to_differ_in_a_record(kind: str) -> None:
    words = relation_words(f"{kind}(person={{user}}, group=2)")
    assert "(by the column {user})" in words and "up to 2 such steps" in words
    assert "a record" not in words
    assert {"add-remove": "a record", "replace": "one record"}[kind] in relation_words(kind)
