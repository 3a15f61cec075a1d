"""Is a proof from records held against the data that are given, and are data that contradict their domain named?"""

import json

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.review.check import check, exit_code
from dpaudit.verify.releases.derive import columns_of, given_frame

pandas = pytest.importorskip("pandas")

DOMAIN = {"age": (0, 120), "weight": [(0.0, 60.0), None], "city": ["bern", "oslo"], "smoker": [True, False]}
DATA = {"age": [3, 120], "weight": [60.0, np.nan], "city": ["bern", "oslo"], "smoker": [True, False]}


def changed(**columns):
    return pandas.DataFrame({**DATA, **columns})


def test_data_that_keep_to_their_domain_are_taken_in_their_order():
    assert list(columns_of(DOMAIN, given_frame(changed(ages=["a", "b"])[["ages", *DOMAIN]], DOMAIN))) == [
        "ages",
        *DOMAIN,
    ]
    assert len(given_frame([{"age": 3}, {"age": 4.5}], {"age": (0, 120)})) == 2
    assert len(given_frame(changed(city=pandas.Categorical(["bern", "oslo"])), DOMAIN)) == 2


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (changed(age=[3, 121]), r"'age' holds 121 in row 1 .* its domain is \[0, 120\]; widen the domain"),
        (changed(age=[-1, 121]), "and 1 more rows contradict it"),
        (changed(age=[3, np.nan]), "'age' has a missing value in row 1"),
        (changed(age=[3, np.inf]), "'age' holds inf in row 1"),
        (changed(weight=[61.0, np.nan]), r"'weight' holds 61.0 in row 0 .* \[0.0, 60.0\] or missing"),
        (changed(city=["bern", "rome"]), "'city' holds 'rome' in row 1"),
        (changed(city=["bern", None]), "'city' has a missing value in row 1"),
        (changed(city=[1, 2]), "'city' is of the type int64, and the proof is of texts"),
        (changed(age=["3", "4"]), "'age' is of the type .*, and the proof is of numbers of 64 bits"),
        (changed(smoker=[1, 0]), "'smoker' is of the type int64, and the proof is of truth values"),
        (changed(age=np.array([3, 120], dtype=np.int8)), "the type int8, in which sums and products may wrap around"),
        (changed(age=pandas.array([3, None], dtype="Int64")), "'age' is of the type Int64"),
        (changed().drop(columns="age"), "names the column 'age', which the data do not have"),
        (pandas.concat([changed(), changed()], axis=1), "several columns 'age'"),
        ([1, 2], "of pandas frames, and the data are a list"),
    ],
)
def test_data_that_contradict_their_domain_are_refused_by_column_and_row(data, sentence):
    with pytest.raises(dp.UsageError, match=sentence):
        given_frame(data, DOMAIN)


def size(people, noise):
    return len(people) + noise.laplace(1)


def proved(program, data, **options):
    return dp.prove(program, domain={"age": (0, 120)}, data=data, claim="epsilon=1", runs=0, seed=0, **options)


@pytest.mark.slow
def test_a_proof_is_compared_with_runs_on_the_data_and_does_not_hold_them():
    evidence = proved(size, pandas.DataFrame({"age": [77.125] * 3}))
    assert str(evidence.verdict) == "proved"
    assert evidence.id == proved(size, None).id  # anybody can replay it
    assert "77.125" not in evidence.to_json()


@pytest.mark.slow
def test_a_program_that_changes_given_data_is_refused():
    def changes(people, noise):
        if 77.125 in people["age"].tolist():
            people["age"] = 0.0
        return len(people) + noise.laplace(1)

    evidence = proved(changes, pandas.DataFrame({"age": [77.125] * 3}))
    assert evidence.upper is None
    assert "test_given_data.py:" in evidence.proof.comparison.open_ends[0]


def test_data_without_a_domain_by_columns_are_refused():
    with pytest.raises(dp.UsageError, match="held against a domain by columns"):
        dp.prove("above_threshold", data=pandas.DataFrame(DATA), runs=0)


def of_some_columns(people, noise):
    people = people.sort_values("age").groupby("age").head(3).drop(columns="notes")
    return (people["age"] > 40).sum() + noise.laplace(1) * len(people.columns)


def of_all_columns(people, noise):
    return len(people.dropna()) + noise.laplace(1)


def by_their_number(people, noise):
    return len(people["notes"] if people.shape[1] == 3 else people) + noise.laplace(1)


@pytest.mark.slow
@pytest.mark.parametrize("program", [size, of_some_columns])
def test_columns_that_the_domain_does_not_declare_may_hold_anything_where_nothing_is_read_of_them(program):
    data = pandas.DataFrame({"name": ["a", "b"], "age": [3.0, 4.0], "notes": ["", None]})
    evidence = proved(program, data)
    assert evidence.proof.columns == ("name", "age", "notes")
    assert "whatever stands in 'name', 'notes', of which nothing is read" in evidence.proof.scope
    assert "notes" not in json.dumps(evidence.proof.certificate) + json.dumps(evidence.proof.derived)
    assert exit_code(check(evidence)) == 0 and dp.replay(evidence, target=program).identical


@pytest.mark.slow
@pytest.mark.parametrize("program", [of_all_columns, by_their_number])
def test_what_looks_at_a_column_that_the_domain_does_not_declare_is_refused_by_its_line(program):
    data = pandas.DataFrame({"name": ["a", "b"], "age": [3.0, 4.0], "notes": ["", None]})
    evidence = proved(program, data)
    assert evidence.upper is None
    (why,) = evidence.proof.comparison.open_ends
    assert "of which the domain says nothing" in why and "--domain 'n" in why
    with pytest.raises(dp.UsageError, match="'name', which tells persons apart"):
        proved(program, data, relation="add-remove(person=name)")
