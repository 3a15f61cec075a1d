"""Is a missing value tried where it is declared, also beside other records, and is it named?"""

from __future__ import annotations

import numpy as np
import pytest

import dpaudit as dp
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
    [([0, None], "read"), ([(0, 100), None], "calls"), ([(0.5, 100), None], "read"), ([(0.5, 100), None], "calls")],
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
