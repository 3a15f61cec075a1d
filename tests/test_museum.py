"""Are mistakes that people reported still found, their causes named, and their fixed twins left alone?

A small part of ``benchmarks/museum/``, one or two cases of a kind; `make museum` gives all of them to the command line.
"""

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support.nightly import mostly_at_night

ROOT = Path(__file__).parents[1]
MUSEUM = ROOT / "benchmarks" / "museum"
FOUND = [
    "sensitivity/lower_bound_twice",
    "clipping/norm_not_passed_on",
    "noise/epsilon_upside_down",
    "budget/half_is_deducted",
    "bounds/codes_by_appearance",
    "seeds/default_seed",
    "sql/null_for_nobody",
]


@pytest.fixture(scope="module")
def museum():
    sys.path.insert(0, str(MUSEUM))
    try:
        import case
        import others
        import page
        import run
    finally:
        sys.path.remove(str(MUSEUM))
    return {"case": case, "others": others, "page": page, "run": run}


@pytest.fixture(scope="module")
def every(museum):
    return list(museum["case"].cases())


@pytest.fixture(scope="module")
def rows():
    return json.loads((MUSEUM / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def released():
    return json.loads((MUSEUM / "released.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def compared():
    return json.loads((MUSEUM / "others.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("place", mostly_at_night(FOUND, stay=FOUND[-1:]))
def test_a_reported_mistake_is_found_and_its_twin_is_not_accused(museum, place):
    (found,) = museum["case"].cases(place.partition("/")[2])
    for side in found.sides:
        row = museum["run"].examined(found, side)
        assert row["word"] == "right", row["told"]
        assert row["named"] is not False, row["told"]
        assert not row["above"]


def test_every_case_names_its_source_and_has_a_name_of_its_own(every):
    assert len({case.name for case in every}) == len(every) >= 80
    assert sum(case.reported >= "2024" for case in every) >= 40
    for case in every:
        assert case.sources, case.name
        assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", source) for source in case.sources), case.name
        assert re.fullmatch(r"20\d\d(-(0[1-9]|1[0-2]))?", case.reported), case.name
        assert "{}" in case.command, case.name
        assert set(case.loss) <= set(case.sides), case.name


def test_every_kind_has_cases_and_every_folder_is_a_kind(museum, every):
    assert {case.kind for case in every} == set(museum["case"].KINDS)
    assert {path.parent.name for path in museum["case"].CASES.glob("*/*.py")} == set(museum["case"].KINDS)


def test_every_side_has_been_examined_and_the_page_shows_it(museum, every, rows, released, compared):
    assert [(row["kind"], row["name"], row["side"]) for row in rows] == [
        (case.kind, case.name, side) for case in every for side in case.sides
    ]
    drawn = museum["page"].drawn(every, rows, released, compared, museum["others"].NOT_RUN)
    assert not [case.name for case in every if f"cases/{case.kind}/{case.name}.py`" not in drawn]
    assert museum["page"].table(every, rows) == (MUSEUM / "results.md").read_text(encoding="utf-8")


def test_nobody_who_is_right_stands_accused_in_the_results(museum, rows):
    assert museum["run"].judged(rows) == []


def test_a_package_that_was_not_run_is_shown_as_such(museum, released):
    assert len(released) >= 12
    row = {"package": "opendp==0.15.1", "name": "at_the_threshold", "side": "", "word": "not run", "why": "no wheel"}
    assert "| opendp==0.15.1 | at_the_threshold | | not run: no wheel | | |" in museum["page"].drawn(
        [], [], [row], [], {}
    )


@pytest.mark.parametrize(
    ("side", "verdict", "word"),
    [
        ("wrong", "violated", "right"),
        ("wrong", "not violated", "missed"),
        ("wrong", "proved", "falsely proved"),
        ("wrong", "inconclusive", "no answer"),
        ("wrong", "none", "no answer"),
        ("fixed", "violated", "accused"),
        ("fixed", "proved", "right"),
        ("reported", "invalid", "no answer"),
    ],
)
def test_an_answer_is_right_only_where_it_says_so(museum, side, verdict, word):
    assert museum["run"].word(side, verdict) == word


def test_what_is_wrong_with_results_is_said(museum, rows):
    row = next(row for row in rows if row["side"] == "fixed")
    accused = {**row, "word": "accused"}
    above = {**row, "above": True, "certain": True}
    assert any("accused" in fault for fault in museum["run"].judged([accused]))
    assert any("above the known loss" in fault for fault in museum["run"].judged([above]))
    assert any("less than" in fault for fault in museum["run"].judged([{**row, "word": "no answer"}]))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError("a bug")])
def test_what_ends_an_answer_is_said_and_is_none(museum, monkeypatch, error, tmp_path):
    from dpaudit.cli import main

    def main_of(words):
        raise error

    monkeypatch.setattr(main.cli, "main", main_of)
    evidence, told, _ = museum["run"].answered("audit laplace", tmp_path)
    assert evidence is None and told in ("no answer within 120 s of the processor", "RuntimeError: a bug")


def test_a_case_that_lacks_a_part_is_refused(museum, tmp_path):
    path = tmp_path / "half.py"
    path.write_text('"""Half a case."""\n\nSOURCES = ()\n', encoding="utf-8")
    with pytest.raises(ValueError, match="a case holds"):
        museum["case"].read(path)


def test_a_side_that_was_not_examined_is_shown_as_such(museum, every, rows):
    first = every[0]
    others = [row for row in rows if row["name"] != first.name]
    assert f"**{first.title}** (wrong): not looked at." in museum["page"].drawn(every, others, [], [], {})


def test_a_claim_of_another_notion_is_asked_about_at_what_it_implies(museum):
    others = museum["others"]
    assert others.of_gaussian(1.0, 0.126936737506) == pytest.approx(1.0, abs=1e-6)  # Φ(-1/2) - e·Φ(-3/2)
    assert others.of_gaussian(1.0, 0.5) == 0.0
    (gaussian,) = museum["case"].cases("key_used_twice")
    assert others.claimed(gaussian) == (pytest.approx(others.of_gaussian(0.75, 0.01)), 0.01)


def test_what_one_auditor_says_leaves_the_others_as_they_are(museum):
    side = {"kind": "noise", "name": "n", "side": "wrong", "claim": 1.0}
    old = [{**side, "shown": {"JAX Privacy": 1.0, "PyStatDP": 2.0}, "why": {"privacy_guard": "slow"}}]
    (row,) = museum["others"].joined(old, [{**side, "shown": {"PyStatDP": 3.0}, "why": {}}], "pystatdp")
    assert row["shown"] == {"JAX Privacy": 1.0, "PyStatDP": 3.0} and row["why"] == {"privacy_guard": "slow"}
    (row,) = museum["others"].joined(old, [{**side, "shown": {}, "why": {"pystatdp": "no wheel"}}], "pystatdp")
    assert row["shown"] == {"JAX Privacy": 1.0} and row["why"] == {"privacy_guard": "slow", "pystatdp": "no wheel"}


def test_an_auditor_that_was_not_run_is_no_refutation(museum):
    row = {"kind": "noise", "name": "n", "side": "wrong", "claim": 1.0, "shown": {"A": 3.0}, "why": {"b": "no | δ"}}
    other = {**row, "name": "m", "shown": {"A": math.nan, "B": 0.5}, "why": {}}
    drawn = museum["page"]._others([row, other], {}, {})
    assert "| A | 1 of 2 | 0 of 0 |" in drawn and "| B | 0 of 1 | 0 of 0 |" in drawn
    assert "| n | 1 | not looked at | 3, refuted | not run | no / δ |" in drawn


@pytest.mark.slow
def test_the_largest_of_many_bounds_lies_above_the_truth_as_often_as_the_page_says(museum):
    """PrivacyGuard's bound: Clopper–Pearson limits of 95 % at every threshold, of 1,000 scores of each side."""
    runs, rng = 1_000, np.random.default_rng(0)
    count = np.arange(runs)
    upper = np.append(stats.beta.isf(0.025, count + 1, runs - count), 1.0)

    def largest(one, other, delta):
        cuts, one, other = np.sort([*one, *other]), np.sort(one), np.sort(other)
        passed = upper[runs - np.searchsorted(other, cuts)], upper[np.searchsorted(one, cuts)]
        return np.log(max(((1 - a - delta) / b).max() for a, b in (passed, passed[::-1])))

    truth, many = museum["others"].of_gaussian(1.0, 0.01), 2_000
    above = sum(largest(rng.normal(1, 1, runs), rng.normal(0, 1, runs), 0.01) > truth for _ in range(many))
    assert stats.binomtest(above, many, 0.018).pvalue > 1e-3
    scale = 1 / 0.01
    above = sum(largest(rng.laplace(1, scale, runs), rng.laplace(0, scale, runs), 0.0) > 0.01 for _ in range(many))
    assert stats.binomtest(above, many, 0.078).pvalue > 1e-3
