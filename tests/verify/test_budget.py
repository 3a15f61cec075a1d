"""Does a proof that is too large end after so many steps, with a sentence that names what was too large?"""

import functools
from types import SimpleNamespace

import pytest

import dpaudit as dp
from dpaudit.program.fold import Fold
from dpaudit.program.symbolic import linear


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


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    ("target", "options", "named"),
    [
        (recursion, {"length": 1}, r"test_budget\.py:\d+ \(return value if value < 0"),
        (coins, {"length": 1}, r"test_budget\.py:\d+ \(while noise\.bernoulli\(0\.5\):\)"),
        (endless_sum, {"length": 1}, "while reading it"),
        (maximum, {"length": 50}, r"\(if value > values\[best\]:\).*noise\.argmax"),
        (swallowed, {"length": 1}, r"while noise\.bernoulli"),
        (ENDLESS_FOLD, {}, r"while noise\.bernoulli"),
        (dice, {"domain": [0, 1], "relation": "replace"}, "following all ways through it, [0-9,]+ paths so far"),
    ],
)
def test_what_is_too_large_is_named_after_as_many_steps_on_every_machine(target, options, named):
    asked = {"claim": "epsilon=1", "relation": "queries", **options, "runs": 0, "seed": 0, "steps": 2_000}
    with pytest.raises(dp.UsageError, match=r"is too large for 2,000 steps.*" + named + "(?s:.*)--steps") as first:
        dp.prove(target, **asked)
    with pytest.raises(dp.UsageError) as second:
        dp.prove(target, **asked)
    assert str(first.value) == str(second.value)


def clock_that_stops(monkeypatch, after):
    """Let the seconds of a budget be over from an activity on."""
    clock = [0.0]
    told = functools.partial(clock.__getitem__, 0)
    monkeypatch.setattr("dpaudit.settings.time", SimpleNamespace(perf_counter=told, process_time=told))

    def now(doing):
        clock[0] = 61.0 if after in doing else clock[0]
        linear.now(doing)

    monkeypatch.setattr("dpaudit.verify.proofs.answers.now", now)
    monkeypatch.setattr("dpaudit.verify.fold.now", now)


@pytest.mark.slow
def test_a_proof_that_was_found_stays_when_its_counterexample_takes_too_long(monkeypatch):
    pytest.importorskip("flint")
    asked = {"claim": "epsilon=1", "runs": 0, "seed": 0}
    assert dp.prove("prefix_sum", **asked).exact is not None
    clock_that_stops(monkeypatch, "looking for a counterexample")
    found = dp.prove("prefix_sum", **asked, time_budget=60)
    assert (str(found.verdict), found.exact, found.proof.length) == ("proved", None, None)


def test_seconds_are_over_before_there_is_a_proof(monkeypatch):
    clock_that_stops(monkeypatch, "reading")
    with pytest.raises(dp.UsageError, match=r"too large for 60 s: they were over while reading.*--time-budget"):
        dp.prove("above_threshold", length=3, runs=0, seed=0, time_budget=60)


@pytest.mark.slow
def test_a_shorter_program_than_four_answers_stands_beside_a_proof_for_any_number(monkeypatch):
    from dpaudit.verify import fold

    lengths, real = [], fold.prove_program

    def proved(*given, length, **options):
        lengths.append(length)
        linear.spend(10**9 if length > 1 else 1)
        return real(*given, length=length, **options)

    monkeypatch.setattr(fold, "prove_program", proved)
    found = dp.prove("prefix_sum", claim="epsilon=1", runs=0, seed=0)
    assert (str(found.verdict), lengths) == ("proved", [4, 2, 1])


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "1", True])
def test_a_budget_is_a_number_of_seconds(seconds):
    with pytest.raises(dp.UsageError, match="a time budget is a number of seconds above 0"):
        dp.prove("above_threshold", runs=0, seed=0, time_budget=seconds)


@pytest.mark.parametrize("steps", [0, -1, 1.5, "1", True])
def test_a_budget_is_a_number_of_steps(steps):
    with pytest.raises(dp.UsageError, match="steps is a whole number above 0"):
        dp.prove("above_threshold", runs=0, seed=0, steps=steps)


@pytest.mark.slow
def test_without_a_budget_there_is_no_limit():
    evidence = dp.prove("above_threshold", runs=0, seed=0, steps=None)
    assert evidence.verdict is dp.Verdict.PROVED and evidence.id == dp.prove("above_threshold", runs=0, seed=0).id


@pytest.mark.slow
def test_a_long_vector_is_proved_without_a_search_that_takes_its_time(monkeypatch):
    pytest.importorskip("flint")
    asked = {"length": 20, "relation": "queries", "claim": "epsilon=20", "runs": 0}
    monkeypatch.setattr("dpaudit.verify.proofs.answers._MOST_DRAWS", 20)
    assert dp.prove(vector, **asked).exact.value > 19
    monkeypatch.setattr("dpaudit.verify.proofs.answers._MOST_DRAWS", 19)
    found = dp.prove(vector, **asked)
    assert (found.exact, str(found.verdict)) == (None, "proved")


def vector(data, noise):
    return [answer + noise.laplace(1) for answer in data]
