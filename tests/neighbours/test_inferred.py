"""Is every pair checked where nobody says which datasets are neighbours, and is nothing taken for "declared"?"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.evidence.evidence import Evidence
from dpaudit.evidence.records import Verdict
from dpaudit.neighbours.relation import inferred, neighbouring

FRAME = pd.DataFrame({"age": [1, 2, 3], "sex": ["a", "b", "a"]})
STEPS = [
    (([1, 1], [1]), "add-remove"),
    (([], [7]), "add-remove"),
    (([3, 1, 2], [3, 2]), "add-remove"),
    (([1, 2], [1, 9]), "replace"),
    ((np.zeros(4), np.array([0, 0, 5.0, 0])), "replace"),
    ((np.zeros((3, 2)), np.zeros((2, 2))), "add-remove"),
    ((FRAME, FRAME.iloc[1:]), "add-remove"),
    ((FRAME, FRAME.assign(age=[1, 2, 9])), "replace"),
    (({"a": 1}, {"a": 2}), "replace"),
    (({"a": 1}, {}), "add-remove"),
    ((0, 1), "queries"),
    ((0.0, -0.5), "queries"),
    ((np.float64(3), np.array(3.5)), "queries"),
    ((True, False), "replace"),
]
REFUSED = [
    (([1, 1, 1], [1]), "2 records are in the first dataset alone, and 0 in the second"),
    (([0, 0], [1, 1]), "2 records are in the first dataset alone, and 2 in the second"),
    (([1, 2], [2, 1]), "both sides hold the same records"),
    (
        ([3, 1, 2], [2, 3]),
        "1 records are in the first dataset alone, and 0 in the second, and others stand in another order",
    ),
    (([1], [1]), "both sides hold the same records"),
    (([1, 2, 3], [1, 5]), "2 records are in the first dataset alone, and 1 in the second"),
    ((FRAME, FRAME.iloc[:1]), "2 records are in the first dataset alone"),
    ((FRAME, FRAME.assign(sex="c")), "3 records are in the first dataset alone"),
    ((0, 10), "lie 10 apart"),
    ((0, 0), "the same number"),
    ((0.0, float("nan")), "lie nan apart"),
    ((0.0, float("inf")), "lie inf apart"),
    (("a.csv", "b.csv"), "'a.csv' is no list"),
    ((object(), object()), "is no list"),
    ((None, 1), "None is no list"),
    ((1, [1]), "1 is no list"),
    ((True, True), "True is no list"),
]


@pytest.mark.parametrize(("pair", "relation"), STEPS)
def test_a_single_step_says_which_relation_was_meant(pair, relation):
    assert str(inferred([pair])) == relation
    assert str(inferred([pair[::-1]])) == relation
    assert neighbouring(None)(pair)


@pytest.mark.parametrize(("pair", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_what_is_no_single_step_is_refused_with_what_to_say(pair, why):
    with pytest.raises(dp.UsageError) as refusal:
        inferred([pair])
    assert why in str(refusal.value)
    assert "relation" in str(refusal.value) or "give a pair" in str(refusal.value)
    assert not neighbouring(None)(pair)


def test_pairs_of_two_kinds_need_a_word():
    with pytest.raises(dp.UsageError, match="under 'add-remove' and 'replace'"):
        inferred([([1], [1, 2]), ([1], [2])])


def count(data, rng):
    return len(data) + rng.laplace()


def sampled(data, size, rng):
    return len(data) + rng.laplace(size=size)


FAR = [([1, 1, 1], [1])]  # two records apart: this count is private, and would be called VIOLATED


def audit(**options) -> Evidence:
    return dp.audit(sampled, claim="epsilon=1", runs=20_000, seed=0, floating_point="ignore", **options)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: audit(pairs=FAR),
        lambda: audit(pairs=FAR, search=True),
        lambda: audit(pairs=[*FAR, ([1], [])]),
        lambda: audit(pairs=FAR, sequential=True),
        lambda: dp.plan(sampled, 1.1, claim="epsilon=1", pairs=FAR, seed=0),
        lambda: dp.tools.privacy_curve(sampled, claim="epsilon=1", pairs=FAR, runs=1_000, seed=0),
        lambda: dp.tools.sensitivity(len, pairs=FAR, claimed=1, seed=0),
        lambda: dp.audit(dp.mechanism(sampled, claim="epsilon=1", pairs=FAR), runs=1_000, seed=0),
    ],
    ids=["audit", "search", "several", "sequential", "plan", "curve", "sensitivity", "the mechanism's own"],
)
def test_no_way_to_ask_skips_the_check(ask):
    with pytest.raises(dp.UsageError, match="no relation is stated"):
        ask()


@pytest.mark.slow
def test_the_relation_that_was_inferred_stands_in_the_evidence():
    evidence = audit(pairs=[([1, 1], [1])])
    assert (evidence.relation, evidence.verdict) == ("add-remove", Verdict.NOT_VIOLATED)
    assert not any("declared" in text for text in evidence.assumptions)
    assert evidence.id == audit(pairs=[([1, 1], [1])], relation="add-remove").id


@pytest.mark.slow
def test_declared_is_there_for_whoever_asks():
    evidence = audit(pairs=FAR, relation="declared")
    assert evidence.relation == "declared" and evidence.verdict is Verdict.VIOLATED


@pytest.mark.nightly
def test_the_command_line_checks_a_pair_and_says_which_relation(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text("def count(data, size, rng):\n    return len(data) + rng.laplace(size=size)\n")
    (tmp_path / "far.json").write_text(json.dumps([[1, 1, 1], [1]]))
    (tmp_path / "near.json").write_text(json.dumps([[1, 1], [1]]))
    from dpaudit.cli.main import main

    common = ["--claim", "epsilon=1", "--runs", "2000", "--seed", "0"]
    for command in (["audit", "m.py:count", *common], ["plan", "m.py:count", *common[:2], "--detect", "epsilon=2"]):
        with pytest.raises(SystemExit) as stop:
            main([*command, "--pair", "far.json"])
        assert stop.value.code == 2
        assert "no relation is stated" in capfd.readouterr().err
    with pytest.raises(SystemExit):
        main(["audit", "m.py:count", *common, "--pair", "near.json"])
    assert "one dataset has a record that the other has not (add-remove)" in capfd.readouterr().out
