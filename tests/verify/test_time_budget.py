"""Does a proof that is too large end in time, with a sentence that names what was too large?"""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

import dpaudit as dp
from dpaudit.program.fold import Fold
from dpaudit.program.symbolic import budget


def recursion(data, noise):
    def down(value):
        return value if value < 0 else down(value - 1)

    return bool(down(data[0] + noise.laplace(1)) < 0)


def coins(data, noise):
    tossed = 0
    while noise.bernoulli(0.5):
        tossed += 1
    return tossed


def endless_sum(data, noise):
    total = data[0]
    while True:
        total = total + 1


def maximum(data, noise):
    values = [answer + noise.laplace(1) for answer in data]
    best = 0
    for place, value in enumerate(values):
        if value > values[best]:
            best = place
    return best


def swallowed(data, noise):
    try:
        return coins(data, noise)
    except Exception:
        return 0


def dice(data, noise):
    return [noise.choice(range(6)) for _ in range(7)] + [data]


ENDLESS_FOLD = Fold(lambda s, x, noise: coins([x], noise), init=0)


@pytest.mark.parametrize(
    ("target", "options", "named"),
    [
        (recursion, {"length": 1}, r"test_time_budget\.py:\d+ \(return value if value < 0"),
        (coins, {"length": 1}, r"test_time_budget\.py:\d+ \(while noise\.bernoulli\(0\.5\):\)"),
        (endless_sum, {"length": 1}, "while reading it"),
        (maximum, {"length": 50}, r"\(if value > values\[best\]:\).*noise\.argmax"),
        (swallowed, {"length": 1}, r"while noise\.bernoulli"),
        (ENDLESS_FOLD, {}, r"while noise\.bernoulli"),
        (dice, {"domain": [0, 1], "relation": "replace"}, "following all ways through it, [0-9,]+ paths so far"),
    ],
)
@pytest.mark.slow
def test_what_is_too_large_is_named_in_time(target, options, named):
    clock = time.monotonic()
    with pytest.raises(dp.UsageError, match=r"is too large for 0\.2 s.*" + named + "(?s:.*)--time-budget"):
        dp.prove(target, claim="epsilon=1", **{"relation": "queries", **options}, runs=0, seed=0, time_budget=0.2)
    assert time.monotonic() - clock < 10  # one step is never long, whatever the machine


def test_a_search_for_a_counterexample_counts_too(monkeypatch):
    pytest.importorskip("flint")
    clock = [0.0]
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    def now(doing):
        budget.now(doing)
        clock[0] = 61.0  # from the beginning of the search on

    monkeypatch.setattr("dpaudit.verify.prove_and_audit.now", now)
    with pytest.raises(dp.UsageError, match="too large for 60 s: they were over while looking for a counterexample"):
        dp.prove("svt_unlimited", length=4, runs=0, seed=0, time_budget=60)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "1", True])
def test_a_budget_is_a_number_of_seconds(seconds):
    with pytest.raises(dp.UsageError, match="a time budget is a number of seconds above 0"):
        dp.prove("above_threshold", runs=0, seed=0, time_budget=seconds)


@pytest.mark.slow
def test_without_a_budget_there_is_no_limit():
    evidence = dp.prove("above_threshold", runs=0, seed=0, time_budget=None)
    assert evidence.verdict is dp.Verdict.PROVED and evidence.id == dp.prove("above_threshold", runs=0, seed=0).id


def test_a_long_vector_is_proved_without_a_search_that_takes_its_time(monkeypatch):
    pytest.importorskip("flint")
    asked = {"length": 20, "relation": "queries", "claim": "epsilon=20", "runs": 0}
    monkeypatch.setattr("dpaudit.verify.prove_and_audit._MOST_DRAWS", 20)
    assert dp.prove(vector, **asked).exact.value > 19
    monkeypatch.setattr("dpaudit.verify.prove_and_audit._MOST_DRAWS", 19)
    found = dp.prove(vector, **asked)
    assert (found.exact, str(found.verdict)) == (None, "proved")


def vector(data, noise):
    return [answer + noise.laplace(1) for answer in data]
