"""Is every method of bounding told, sourced and computed as its record says, and is every stored name known?"""

from __future__ import annotations

import math

import pytest
from support.forging import OLD

import dpaudit as dp
from dpaudit.evidence.records import Counts
from dpaudit.privacy import GaussianDP, PureDP, ZeroConcentratedDP
from dpaudit.stats.methods import GAUSSIAN_ONE_RUN, METHODS, method_for, method_of, plain

COUNTS = Counts((400, 400), (220, 90), (90, 220), bins=((220, 90, 90), (90, 90, 220)))


@pytest.mark.parametrize("method", METHODS.values(), ids=str)
def test_a_method_is_told_and_computed(method) -> None:
    assert method.words.endswith(".")
    assert all(source.endswith(".") for source in method.sources)
    if not method.home:
        with pytest.raises(ValueError, match="no method"):
            _ = method.computed
        return
    weight = {"none": None, "one": 0.7, "bins": (0.5, 0.5, 0.5, 0.5), "steps": None}[method.weights]
    claim = ZeroConcentratedDP(0.0) if method.weights == "bins" else PureDP(0.0)
    claim = GaussianDP(0.0) if method.name == GAUSSIAN_ONE_RUN else claim
    counts = Counts((400, 400), (220, 90), (0, 0)) if method.sides == "one" else COUNTS
    low = method.computed.lower(counts, claim, weight, 0.05)
    assert 0 < low < math.inf
    if method.interval:
        assert low < method.computed.upper(counts, claim, weight, 0.05)
    else:
        with pytest.raises(ValueError, match="no upper end"):
            method.computed.upper(counts, claim, weight, 0.05)


def test_forms_for_few_runs_and_for_any_number_belong_together() -> None:
    for name, method in METHODS.items():
        assert name == method.name
        assert not method.few or plain(method.few) == name
        assert method_for(plain(name), math.inf) == plain(name)


@pytest.mark.slow
def test_every_name_that_evidence_stores_is_known() -> None:
    for path in OLD:
        names = {attempt.bound.method for attempt in dp.Evidence.load(path).attempts}
        assert names <= METHODS.keys()


def test_an_unknown_name_says_nothing() -> None:
    unknown = method_of("of tomorrow")
    assert not (unknown.words or unknown.sources or unknown.interval or unknown.independent)
