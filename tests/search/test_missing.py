"""Is a missing value tried where it is declared, also beside other records, and is it named?"""

import numpy as np
import pandas
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.neighbours.relation import parse_relation
from dpaudit.report.view import view


def raises_on_missing(people):
    amounts = people["amount"]
    if amounts.isna().any():
        raise ValueError("missing amount")
    return amounts.clip(0, 100).sum() + np.random.laplace(0, 100)  # noqa: NPY002


def takes_missing_for_nothing(people):
    return people["amount"].fillna(0).clip(0, 100).sum() + np.random.laplace(0, 100)  # noqa: NPY002


@pytest.mark.parametrize(
    ("allowed", "reading"),
    mostly_at_night(
        [([0, None], "read"), ([(0, 100), None], "calls"), ([(0.5, 100), None], "read"), ([(0.5, 100), None], "calls")],
        every=4,
    ),
)
@pytest.mark.slow
def test_a_function_that_raises_on_a_missing_value_is_found(allowed, reading):
    options = {"claim": "epsilon=1", "relation": "add-remove", "runs": 2000, "seed": 0}
    found = dp.audit(raises_on_missing, domain={"amount": allowed}, **options, **READING[reading])
    assert str(found.verdict) == "violated"
    told = found.search.found if found.trace is None else view(found).headline.sentence
    assert "amount = NaN" in told or "{amount: NaN}" in told
    right = dp.audit(takes_missing_for_nothing, domain={"amount": allowed}, **options, **READING[reading])
    assert str(right.verdict) in ("proved", "not violated")


READING = {"calls": {"reading": "calls"}, "read": {}}


def reads_whole_numbers(people):
    total = 0
    for amount in people["amount"]:
        total += min(max(int(amount), 0), 100)
    return total + np.random.laplace(0, 100)  # noqa: NPY002


def reads_what_is_there(people):
    total = 0
    for amount in people["amount"]:
        total += 0 if amount != amount else min(max(int(amount), 0), 100)
    return total + np.random.laplace(0, 100)  # noqa: NPY002


@pytest.mark.parametrize(
    ("reading", "relation"),
    mostly_at_night(
        [("calls", "add-remove"), ("read", "add-remove"), ("calls", "replace"), ("read", "replace")], every=4
    ),
)
@pytest.mark.slow
def test_a_missing_value_that_is_declared_is_tried_where_the_data_hold_whole_numbers(reading, relation):
    """pandas reads whole numbers as floats as soon as one is missing: the other records are the same."""
    people = pandas.DataFrame({"amount": range(40, 80), "age": range(40)})
    options = {"data": people, "claim": "epsilon=1", "relation": relation, "runs": 2000, "seed": 0}
    options |= {"domain": {"amount": [(0, 100), None]}, **READING[reading]}
    found = dp.audit(reads_whole_numbers, **options)
    assert str(found.verdict) == "violated"
    told = found.search.found if found.trace is None else view(found).headline.sentence
    assert "amount = NaN" in told or "amount missing" in told
    if found.trace is not None:  # the line that raises, and what to write there
        assert f"test_missing.py:{LINE} (reads_whole_numbers)" in told and "fill, clip or leave out" in told
    assert str(dp.audit(reads_what_is_there, **options).verdict) == "not violated"


LINE = reads_whole_numbers.__code__.co_firstlineno + 3


def test_whole_numbers_are_the_same_records_beside_a_gap():
    """Two files of which one has a gap are neighbours; any other number that differs is another record."""
    whole, gap = pandas.DataFrame({"a": [1, 2, 3]}), pandas.DataFrame({"a": [1, 2, 3, None]})
    relation = parse_relation("add-remove")
    for one, other in ((whole, gap), (whole["a"], gap["a"]), (gap, whole)):
        assert relation.accepts(one, other)
    assert not relation.accepts(whole, pandas.DataFrame({"a": [1, 2, 3.5, None]}))
    assert not relation.accepts(
        pandas.DataFrame({"a": [1, 2, 2**53 + 1]}), pandas.DataFrame({"a": [1, 2, 2.0**53, None]})
    )
    assert not relation.accepts(whole, pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}))
