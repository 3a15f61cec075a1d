"""Does a whole audit say what its runs show, and nothing else?"""

import math
import os
import random

import numpy as np
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.auditing import pair as rounds
from dpaudit.sampling.checkpoint import Phase

pytestmark = pytest.mark.slow

PAIR = [([1], [0])]


def program(data, noise, *, epsilon=1.0):
    return sum(data) + noise.laplace(1 / epsilon)


def sampler(data, size, rng, epsilon=1.0):
    return sum(data) + rng.laplace(0, 1 / epsilon, size)


def seeded(data, rng, epsilon=1.0):
    return sum(data) + rng.laplace(0, 1 / epsilon)


def opaque(data, epsilon=1.0):
    return sum(data) + random.expovariate(epsilon) - random.expovariate(epsilon)


def test_laplace_with_a_million_runs():
    evidence = dp.audit("laplace", parameters={"epsilon": 1}, runs=1e6, seed=0)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert str(evidence.verdict) == "not violated"
    assert 0.98 < evidence.lower.value < 1
    assert evidence.lower.confidence == 0.95
    assert evidence.lower.kind == "sampled"
    assert evidence.lower.event is not None
    assert evidence.upper is None
    assert evidence.runs == 1_000_000


def test_a_claim_that_is_too_small_is_violated():
    evidence = dp.audit("laplace", runs=1e6, seed=0, claim="epsilon=0.8")
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.lower.value > 0.8


def test_two_coins_come_close_to_ln_3():
    evidence = dp.audit("two_coins", seed=1)
    assert 1.08 <= evidence.lower.value <= math.log(3)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED


@pytest.mark.parametrize("name", ["exact_count", "count_with_minimum_set_size", "k_anonymous_release"])
def test_releases_without_privacy_are_violated(name):
    assert dp.audit(name, runs=40_000).verdict is dp.Verdict.VIOLATED


@pytest.mark.parametrize("function", [program, sampler, seeded])
def test_every_seeded_shape_is_audited_and_reproducible(function):
    first, again, other = (
        dp.audit(function, claim="epsilon=1", pairs=PAIR, runs=20_000, seed=seed) for seed in (7, 7, 8)
    )
    assert first.id == again.id
    assert first.id != other.id
    assert first.reproducible
    assert 0.8 < first.lower.value < 1.1
    too_little = dp.audit(function, parameters={"epsilon": 1.5}, claim="epsilon=1", pairs=PAIR, runs=20_000)
    assert too_little.verdict is dp.Verdict.VIOLATED


def test_an_opaque_function_is_audited_and_says_that_it_cannot_be_reproduced():
    evidence = dp.audit(opaque, claim="epsilon=1", pairs=PAIR, runs=20_000, reading="calls")
    assert not evidence.reproducible
    assert dp.audit(opaque, claim="epsilon=1", pairs=PAIR, runs=2_000).reproducible  # its source is read
    assert 0.8 < evidence.lower.value < 1.2
    assert dp.audit(opaque, parameters={"epsilon": 2}, claim="epsilon=1", pairs=PAIR, runs=20_000).verdict is (
        dp.Verdict.VIOLATED
    )


SHARED = {
    "paths": ("report_noisy_max", {"runs": 40_000}),
    "exceptions": ("k_anonymous_release", {"runs": 40_000}),
    "made of others": ("two_counts", {"runs": 20_000}),
    "low-order bits": ("float_laplace", {"runs": 150_000}),
    "bins": ("discrete_gaussian", {"runs": 20_000, "claim": "rho=0.5"}),
    "a curve": ("gaussian", {"runs": 40_000, "curve": True}),
    "bets": ("laplace", {"runs": 300, "claim": "epsilon=0.1", "sequential": True}),
    "a second look": ("randomised_response", {"runs": 300, "claim": "epsilon=0.9", "seed": 7}),
}


@pytest.mark.parametrize("name", mostly_at_night(SHARED, every=8))
def test_workers_do_not_change_the_evidence(name):
    target, asked = SHARED[name]
    alone, together = (dp.audit(target, **{"seed": 3, **asked}, workers=workers) for workers in (1, 2))
    assert alone.id == together.id
    assert (alone.run.workers, together.run.workers) == (1, 2)
    assert dp.replay(alone, workers=2).identical


def test_runs_and_errors_are_shared_between_pairs():
    pairs = [([1], [0]), ([2], [1]), ([1, 1], [1])]
    evidence = dp.audit(program, claim="epsilon=1", pairs=pairs, relation="declared", runs=30_001)
    assert evidence.runs == 30_001
    assert {attempt.pair for attempt in evidence.attempts} == {0, 1, 2}
    assert sum(1 - attempt.bound.confidence for attempt in evidence.attempts) <= 0.05 + 1e-12
    assert evidence.lower.value == max(attempt.bound.value for attempt in evidence.attempts)
    for attempt in evidence.attempts:
        assert sum(attempt.bound.counts.runs) < 30_001 / 3


def test_the_worst_of_several_pairs_is_found():
    pairs = [([0], [0]), ([5], [0]), ([0], [0])]
    evidence = dp.audit(sampler, claim="epsilon=1", pairs=pairs, relation="declared", runs=40_000)
    assert evidence.lower.pair == 1
    assert evidence.verdict is dp.Verdict.VIOLATED


def test_no_measuring_run_is_played_before_its_event_is_frozen(monkeypatch):
    order = []
    play, choose = rounds.play, rounds.choose

    def watched_play(experiment, blocks, *arguments, **options):
        order.extend(block.phase for block in blocks)
        return play(experiment, blocks, *arguments, **options)

    def watched_choose(*arguments, **options):
        order.append("choose")
        return choose(*arguments, **options)

    monkeypatch.setattr(rounds, "play", watched_play)
    monkeypatch.setattr(rounds, "choose", watched_choose)
    dp.audit(program, claim="epsilon=1", pairs=PAIR, runs=20_000)
    at = order.index("choose")
    assert order.count("choose") == 1
    assert set(order[:at]) == {Phase.LEARNING}
    assert set(order[at + 1 :]) == {Phase.MEASURING}


def test_without_a_claim_there_is_no_verdict_on_it():
    evidence = dp.audit(program, pairs=PAIR, runs=20_000)
    assert evidence.verdict is dp.Verdict.NO_CLAIM
    assert evidence.claim is None
    assert evidence.detectable is None
    assert evidence.lower.value > 0.8


def test_too_few_runs_are_inconclusive():
    evidence = dp.audit(program, parameters={"epsilon": 0.1}, claim="epsilon=0.1", pairs=PAIR, runs=300)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE
    assert evidence.detectable > 0.2


def test_a_gaussian_at_a_small_delta_is_inconclusive():
    evidence = dp.audit("gaussian", parameters={"epsilon": 0.1, "delta": 1e-7}, claim="epsilon=0.1, delta=1e-7")
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE


def test_constants_are_point_masses():
    same = dp.audit(lambda data: "released", claim="epsilon=1", pairs=PAIR, runs=2_000)
    assert same.verdict is dp.Verdict.NOT_VIOLATED
    assert same.lower.value == 0.0
    assert dp.audit(lambda data: sum(data), claim="epsilon=1", pairs=PAIR, runs=2_000).verdict is dp.Verdict.VIOLATED


@pytest.mark.parametrize("claim", ["epsilon=1", "epsilon=1, delta=0.01", "mu=1", "rho=0.5"])
@pytest.mark.parametrize("output", ["released", 0.5], ids=str)
def test_a_constant_is_not_violated_in_any_notion(claim, output):
    same = dp.audit(lambda data: output, claim=claim, pairs=PAIR, runs=10_000, seed=0)
    assert same.verdict is dp.Verdict.NOT_VIOLATED
    assert same.lower.value == 0.0 and 1 < same.detectable / same.claimed.value < 1.9


def test_every_notion_is_bounded_in_its_own_parameter():
    def gaussian(data, size, rng):
        return data + rng.normal(0, 1, size)

    for claim, parameter, truth in (
        ("mu=1", "mu", 1.0),
        ("rho=0.5", "rho", 0.5),
        ("order=2, epsilon=1", "epsilon", 1.0),
        ("epsilon=4.3772, delta=1e-5", "epsilon", 4.3772),
    ):
        evidence = dp.audit(gaussian, claim=claim, pairs=[(0, 1)], runs=40_000)
        assert evidence.lower.parameter == parameter
        assert 0.2 * truth < evidence.lower.value < 1.02 * truth
    half = dp.audit(gaussian, claim="mu=0.5", pairs=[(0, 1)], runs=20_000)
    assert half.verdict is dp.Verdict.VIOLATED


def test_an_exception_is_an_output():
    def shy(data, noise):
        if noise.bernoulli(0.05) and sum(data):
            raise ValueError("12.5 is too large")
        return noise.laplace(1)

    evidence = dp.audit(shy, claim="epsilon=1", pairs=PAIR, runs=40_000)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert "raises ValueError: #.# is too large" in str(evidence.lower.event)


def test_exceptions_that_differ_between_the_sides_are_measured():
    def tells(data, rng):
        raise KeyError("present") if sum(data) else ValueError("absent")

    assert dp.audit(tells, claim="epsilon=1", pairs=PAIR, runs=2_000).verdict is dp.Verdict.VIOLATED


def test_a_mechanism_that_always_raises_measures_nothing():
    def broken(data, noise):
        raise KeyError("epsilon 3")

    with pytest.raises(dp.UsageError, match=r"broken raises in every run.*KeyError: 'epsilon 3'"):
        dp.audit(broken, claim="epsilon=1", pairs=PAIR, runs=2_000)


def test_data_that_changes_is_refused():
    def greedy(data, noise):
        data.append(1)
        return noise.laplace(1)

    with pytest.raises(dp.UsageError, match="changes its data"):
        dp.audit(greedy, claim="epsilon=1", pairs=[([1], [0])], runs=2_000)


def test_a_generator_that_repeats_itself_is_invalid():
    def repeating(data, size, rng):
        return sum(data) + np.random.default_rng(0).laplace(0, 1, size)

    evidence = dp.audit(repeating, claim="epsilon=1", pairs=PAIR, runs=20_000)
    assert evidence.verdict is dp.Verdict.INVALID
    assert "same varying sequence" in evidence.reason
    assert evidence.lower.value == 0.0
    assert 0 < evidence.runs < 20_000


def test_blocks_of_poor_outputs_may_agree_by_chance():
    def rare(data, size, rng):
        return rng.random(size) < 1e-4

    assert dp.audit(rare, claim="epsilon=1", pairs=PAIR, runs=400_000).verdict is not dp.Verdict.INVALID


def test_outputs_that_drift_are_invalid():
    calls = iter(range(10**9))

    def drifting(data):
        return next(calls) / 2_000 + random.random()

    evidence = dp.audit(drifting, claim="epsilon=1", pairs=PAIR, runs=20_000)
    assert evidence.verdict is dp.Verdict.INVALID
    assert "drift" in evidence.reason


def test_a_budget_that_runs_out_is_invalid():
    calls = iter(range(10**9))

    def accountant(data):
        if next(calls) > 5_000:
            raise RuntimeError("privacy budget exhausted")
        return sum(data) + random.expovariate(1) - random.expovariate(1)

    assert dp.audit(accountant, claim="epsilon=1", pairs=PAIR, runs=20_000).verdict is dp.Verdict.INVALID


def test_a_worker_that_dies_is_invalid(tmp_path):
    file = tmp_path / "dying.py"
    file.write_text("import os\ndef dies(data, rng):\n    os._exit(1)\n", encoding="utf-8")
    evidence = dp.audit(f"{file}:dies", claim="epsilon=1", pairs=PAIR, runs=2_000, workers=2, seed=0)
    assert evidence.verdict is dp.Verdict.INVALID
    assert "died" in evidence.reason
    assert os.getpid()


def test_a_time_budget_becomes_a_number_of_runs():
    evidence = dp.audit(program, claim="epsilon=1", pairs=PAIR, runs=10**12, time_budget=0.15, seed=4)
    assert 100 <= evidence.budget < 10**8
    assert dp.audit(program, claim="epsilon=1", pairs=PAIR, runs=evidence.budget, seed=4).id == evidence.id


def test_the_claim_of_a_mechanism_grows_with_the_group():
    evidence = dp.audit("count", relation="add-remove(group=3)", pairs=[([1, 1, 1], [])], runs=20_000, confidence=0.999)
    assert evidence.claim == "epsilon=3"
    assert evidence.verdict is not dp.Verdict.VIOLATED


def test_listeners_hear_every_run():
    heard = []
    dp.audit(program, claim="epsilon=1.2", pairs=PAIR * 2, runs=50_000, listen=lambda *told: heard.append(told))
    assert heard[-1] == ("measuring", 50_000, 50_000)
    assert [done for _, done, _ in heard] == sorted(done for _, done, _ in heard)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"runs": 50}, "runs must be at least 100"),
        ({"runs": 1000.5}, "runs is a whole number"),
        ({"runs": math.nan}, "runs is a whole number"),
        ({"confidence": 1.0}, "confidence lies strictly between 0 and 1"),
        ({"confidence": math.nan}, "confidence lies strictly between 0 and 1"),
        ({"confidence": 1 - 1e-13}, "promises fewer errors than one in 10\\^12"),
        ({"confidence": math.nextafter(1, 0)}, "promises fewer errors than one in 10\\^12"),
        ({"false_alarm": 1e-300}, "promises fewer errors than one in 10\\^12"),
        ({"false_alarm": 5e-324}, "promises fewer errors than one in 10\\^12"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"time_budget": 0}, "time_budget is a positive number"),
        ({"time_budget": math.nan}, "time_budget is a positive number"),
        ({"claim": "epsilon=-1"}, "epsilon must be a finite number"),
        ({"claim": 3}, "a claim is a Claim or a text"),
        ({"pairs": []}, "pairs is empty"),
        ({"pairs": [[1]]}, "a pair is two datasets"),
        ({"pairs": None}, "names no pair of neighbouring datasets"),
        ({"relation": "add-remove", "pairs": [([1], [2])]}, "not neighbouring"),
        ({"parameters": {"epsilonn": 1}}, "did you mean 'epsilon'"),
        ({"floating_point": "maybe"}, "floating_point is"),
    ],
)
def test_bad_input_gets_a_sentence(options, words):
    with pytest.raises(dp.UsageError, match=words):
        dp.audit(program, **{"pairs": PAIR, "claim": "epsilon=1", "runs": 1_000, **options})
