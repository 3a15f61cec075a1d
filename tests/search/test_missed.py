"""Is what a search once missed among the first that it tries, and is what it leaves out said?"""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pandas as pd
import pytest

import dpaudit as dp
from dpaudit.events import quick_predict
from dpaudit.neighbours.candidates.candidates import KINDS, candidates, chosen
from dpaudit.privacy import PureDP
from dpaudit.report import console_summary, html_page
from dpaudit.review.check import check, passes
from dpaudit.sampling.outputs import from_array

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 90, 100),
        "income": RNG.normal(50_000, 15_000, 100).clip(0, 200_000),
        "visits": RNG.poisson(3, 100),
        "score": RNG.uniform(0, 100, 100),
    }
)
DOMAIN = {"age": (18, 90), "income": (0.0, 200_000.0), "visits": (0, 20), "score": (0.0, 100.0)}
EVENTS = pd.DataFrame({"user": RNG.integers(0, 40, 120), "ts": RNG.integers(0, 24, 120), "x": RNG.uniform(0, 1, 120)})


@pytest.mark.parametrize("column", DOMAIN)
@pytest.mark.parametrize("limit", [100, 333])
def test_one_and_two_records_at_opposite_ends_of_one_column_are_tried(column, limit):
    others = [name for name in DOMAIN if name != column]
    found = []
    for one in candidates(FRAME, "add-remove", domain=DOMAIN, limit=limit):
        if one.kind in ("base", "tiny"):
            less, more = sorted(one.pair(), key=len)
            ends = (less[column].tolist(), sorted(more[column].tolist())) if len(less) == 1 else None
            if ends is not None and ends[1] == list(DOMAIN[column]) and (more[others].nunique() == 1).all():
                found.append(one.name)
    assert found


def mean_of_unknown_n(data, size, rng):
    """Noise for the number of records that there happen to be: one record beside two gives itself away in the tails."""
    n = max(len(data), 1)
    return data["income"].clip(0, 200_000).sum() / n + rng.laplace(0, 200_000 / n, size)


def test_a_mean_of_unknown_n_is_found_in_few_runs():
    evidence = dp.audit(
        mean_of_unknown_n, claim="epsilon=1", data=FRAME, domain=DOMAIN, runs=20_000, seed=7, floating_point="ignore"
    )
    assert evidence.verdict is dp.Verdict.VIOLATED and evidence.lower.value > 1.5
    # a replay of the noise leads there, and what it found is in the evidence
    assert evidence.search.led == "not supported" and 0 < evidence.search.replayed < 1_000
    assert passes(check(evidence, second=False))
    for change in ({"led": None}, {"led": "supported on this path"}, {"replayed": 0}, {"replayed": -4}):
        search = msgspec.structs.replace(evidence.search, **change)
        assert not passes(check(msgspec.structs.replace(evidence, search=search), second=False)), change


TELLING = {  # laws of two sides, each with a loss far beyond 1 that few runs show
    "one record and two at opposite ends": lambda rng, n: (rng.laplace(0, 100, n), rng.laplace(50, 50, n)),
    "Gaussian noise, a distance of 1.5": lambda rng, n: (rng.normal(0, 1, n), rng.normal(1.5, 1, n)),
    "rounded noise": lambda rng, n: (rng.laplace(0, 100, n).round(), rng.laplace(50, 50, n).round()),
}
DULL = {  # and of exactly 1, or none
    "exactly 1": lambda rng, n: (rng.laplace(0, 1, n), rng.laplace(1, 1, n)),
    "one law": lambda rng, n: (rng.laplace(0, 1, n), rng.laplace(0, 1, n)),
    "clipped noise": lambda rng, n: (rng.laplace(0, 1, n).clip(-1, 2), rng.laplace(1, 1, n).clip(-1, 2)),
    "randomised response": lambda rng, n: (1.0 * (rng.random(n) < 0.731), 1.0 * (rng.random(n) < 0.269)),
    "uniform noise": lambda rng, n: (rng.random(n), rng.random(n)),
}


def test_a_few_hundred_runs_promise_what_lies_in_the_tails():
    rng = np.random.default_rng(0)
    looks = {name: np.sort([glanced(law(rng, 350)) for _ in range(10)]) for name, law in {**TELLING, **DULL}.items()}
    for telling, dull in itertools.product(TELLING, DULL):
        assert looks[telling][1] > looks[dull][8], (telling, dull)  # nine in ten beyond nine in ten


def glanced(outputs):
    side0, side1 = map(from_array, outputs)
    return quick_predict(side0, side1, claim=PureDP(1), measuring=10_000, error=0.05)


@pytest.mark.parametrize("relation", ["add-remove(person=user)", "replace(person=user)"])
@pytest.mark.parametrize("domain", [None, {"ts": (0, 23), "x": (0.0, 1.0)}])
def test_a_person_with_many_different_records_is_tried(relation, domain):
    most = 0
    for one in candidates(EVENTS, relation, domain=domain, limit=60):
        if "different records" in one.name:
            for side in one.pair():
                once = side.drop_duplicates(["user", "ts"])
                most = max(most, int(once["user"].value_counts().max()))
            assert dp.neighbours.parse_relation(relation).accepts(*one.pair())
    assert most >= 20


def test_names_of_different_records_hold_no_value_of_the_data():
    secret = EVENTS.assign(ts=EVENTS["ts"] + 777_000)
    assert not [one.name for one in candidates(secret, "add-remove(person=user)") if "777" in one.name]


MAY_BE_MISSING = {"income": [(0.0, 1e6), None]}


@pytest.mark.parametrize("limit", [24, 40])
def test_where_few_can_be_tried_a_missing_value_is_among_them(limit):
    found, left = chosen(FRAME, "add-remove", limit=limit)
    assert len(found) == limit and left > 100
    assert {one.kind for one in found} == set(KINDS) - {"tiny", "code"}
    found, left = chosen(FRAME, "add-remove", limit=limit, domain=MAY_BE_MISSING)
    assert len(found) == limit and any("NaN" in one.name for one in found)


def test_no_sort_of_change_comes_twice_before_all_came_once():
    found, _ = chosen(FRAME, "add-remove", limit=60)
    everything, left = chosen(FRAME, "add-remove", limit=10_000)
    assert left == 0
    for kind in KINDS:
        few, all_of_it = ([one.sort for one in listed if one.kind == kind] for listed in (found, everything))
        assert len(set(few)) == min(len(few), len(set(all_of_it)))


def sum_of_all(data, size, rng):
    return float(data["income"].clip(0, 1e5).sum(skipna=False)) / 1e5 + rng.laplace(0, 1, size)


def test_few_runs_find_a_missing_value_and_say_what_was_left_out():
    evidence = dp.audit(sum_of_all, claim="epsilon=1", data=FRAME, domain=MAY_BE_MISSING, runs=20_000, seed=0,
                        floating_point="ignore")  # fmt: skip
    assert evidence.verdict is dp.Verdict.VIOLATED and "NaN" in evidence.search.found
    left = evidence.search.left_out
    assert left > 0
    assert f"({left} more were not tried)" in " ".join(console_summary(evidence, width=400).split())
    assert f"{left} further pairs were thought of and not tried" in html_page(evidence)


OPTIONS = [{}, {"sequential": True}, {"search": True}, {"time_budget": 60}, {"curve": True}, {"observe": "time"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_function_that_raises_in_every_run_is_refused_at_once(options):
    calls = 0

    def sampler(data, size, rng):
        nonlocal calls
        calls += size
        raise ValueError("never works")

    def seeded(data, rng):
        nonlocal calls
        calls += 1
        raise ValueError("never works")

    for function in (sampler, seeded):
        calls = 0
        with pytest.raises(dp.UsageError, match="raises in every run, so nothing can be measured: ValueError: never"):
            dp.audit(function, claim="epsilon=1", pairs=[([1], [])], relation="add-remove", seed=0, **options)
        assert calls < 5_000


def test_a_function_that_raises_in_nearly_every_run_is_audited():
    def rarely(data, rng):
        if rng.random() < 0.99:
            raise ValueError("nothing is released")
        return len(data)

    evidence = dp.audit(rarely, claim="epsilon=1", pairs=[([1], [])], relation="add-remove", runs=40_000, seed=3)
    assert evidence.verdict is dp.Verdict.VIOLATED
