"""Does an audit that bets on every run stop when it should, and say what its runs show?"""

import functools
import itertools
import math
import random
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
from dpaudit.auditing import sequential
from dpaudit.loading import load
from dpaudit.neighbours.digest import digest
from dpaudit.report.formats import summary
from dpaudit.report.text.reproduce import reproduce_command
from dpaudit.review.check import check, passes
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock, sides_of
from dpaudit.sampling.runs import outputs_of
from dpaudit.stats.e_process import log_wealth

pytestmark = pytest.mark.slow

PAIR = [(1, 0)]


def laplace(data, size, rng, b=1.0):
    return data + rng.laplace(0, b, size)


def program(data, noise, b=1.0):
    return data + noise.laplace(b)


def seeded(data, rng, b=1.0):
    return data + rng.laplace(0, b)


def opaque(data, b=1.0):
    return data + b * (random.expovariate(1) - random.expovariate(1))


def gaussian(data, size, rng):
    return data + rng.normal(0, 1, size)


def audit(function=laplace, claim="epsilon=1", **options):
    return dp.audit(function, claim=claim, **{"pairs": PAIR, "sequential": True, "runs": 2000, **options})


@pytest.mark.parametrize(
    ("function", "kept", "broken", "runs"),
    mostly_at_night(
        [
            (laplace, "epsilon=1", "epsilon=0.1", 160),
            (laplace, "epsilon=1, delta=0.01", "epsilon=0.1, delta=0.01", 160),
            (gaussian, "mu=1", "mu=0.1", 160),
            (gaussian, "rho=0.5", "rho=0.005", 300),  # fewer show nothing
        ],
        every=2,
    ),
)
def test_every_kind_of_claim_is_refuted_early_or_not_at_all(function, kept, broken, runs):
    true = audit(function, kept, runs=runs)
    assert true.verdict in {dp.Verdict.NOT_VIOLATED, dp.Verdict.INCONCLUSIVE}
    assert (true.runs, true.asked, true.sequential.stopped) == (runs, None, False)
    assert 0 < true.lower.value <= true.claimed.value
    false = audit(function, broken, runs=300)
    assert false.verdict is dp.Verdict.VIOLATED
    assert false.runs < 300
    assert (false.asked, false.sequential.stopped) == (300, True)
    assert false.lower.value > false.claimed.value
    assert (false.lower.kind, false.lower.method, false.lower.confidence) == ("sampled", "sequential", 0.95)
    assert math.log(1000) <= false.sequential.log_wealth < math.log(1000) + 2
    for evidence in (true, false):
        assert passes(check(evidence))
        again = dp.Evidence.from_json(evidence.to_json())
        assert again == evidence
        assert "--sequential" in reproduce_command(evidence)
    assert "--runs 300" in reproduce_command(false)


@pytest.mark.parametrize("function", [laplace, program, seeded, opaque])
def test_every_shape_is_audited(function):
    assert audit(function, parameters={"b": 0.25}).verdict is dp.Verdict.VIOLATED
    true = audit(function, runs=200)
    assert not true.sequential.stopped
    assert true.low_bits == "ignore"
    assert true.floating_point is None


@functools.cache
def refuted():
    """An audit that stops soon."""
    return audit(claim="epsilon=0.2")


def test_a_larger_limit_changes_nothing_before_the_stop():
    few, many = refuted(), audit(claim="epsilon=0.2", runs=50_000)
    assert few.sequential == many.sequential
    assert few.runs == many.runs


def test_the_wealth_is_the_average_of_all_pairs_and_one_bad_pair_ends_the_audit():
    pairs = [(0, 0), (3, 0), (0, 0)]
    evidence = audit(pairs=pairs, runs=9000, relation="declared")
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.runs < 1500
    assert evidence.lower.pair == 1
    runs = [sum(sum(e.stakes[0].own.runs) for e in evidence.sequential.epochs if e.pair == pair) for pair in range(3)]
    assert max(runs) - min(runs) <= 64
    assert passes(check(evidence))
    wealth = log_wealth(evidence.sequential.epochs, 3, evidence.claimed)
    assert wealth == evidence.sequential.log_wealth
    own = [
        [msgspec.structs.replace(epoch, pair=0) for epoch in evidence.sequential.epochs if epoch.pair == pair]
        for pair in range(3)
    ]
    alone = [log_wealth(epochs, 1, evidence.claimed) for epochs in own]
    assert math.exp(wealth) == pytest.approx(sum(map(math.exp, alone)) / 3)


def test_without_a_claim_the_bound_is_that_of_all_runs():
    evidence = dp.audit(laplace, pairs=PAIR, sequential=True, runs=400)
    assert evidence.verdict is dp.Verdict.NO_CLAIM
    assert evidence.runs == 400
    assert 0.3 < evidence.lower.value < 1
    assert evidence.detectable is None
    assert passes(check(evidence))


def test_a_time_budget_ends_the_audit_and_is_reproduced_by_its_runs(monkeypatch):
    ticks = itertools.count()  # every block takes a tenth of a second, whatever else the machine does
    monkeypatch.setattr(sequential, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 10))
    timed = audit(time_budget=0.75)
    assert not timed.sequential.stopped
    assert 100 < timed.runs < 300
    again = audit(runs=timed.runs)
    assert again.id == timed.id
    named = dp.audit("laplace", sequential=True, time_budget=0.75)
    assert dp.replay(named).holds
    broken = audit(claim="epsilon=0.2", time_budget=60)
    assert broken.sequential.stopped
    assert audit(claim="epsilon=0.2", runs=broken.asked or broken.runs).id == broken.id


def test_events_are_chosen_from_earlier_runs_only(monkeypatch):
    """The wealth of an epoch whose event already knew its runs would be another one."""
    seen = []
    choose = sequential.choose

    def watched(outputs0, outputs1, **options):
        seen.append(len(outputs0) + len(outputs1))
        return choose(outputs0, outputs1, **options)

    monkeypatch.setattr(sequential, "choose", watched)
    evidence = audit(runs=300)
    pasts = [sum(epoch.stakes[0].past.runs) for epoch in evidence.sequential.epochs]
    assert seen == pasts
    own = [sum(epoch.stakes[0].own.runs) for epoch in evidence.sequential.epochs]
    assert pasts == [32 + sum(own[:k]) for k in range(len(own))]


def test_runs_come_in_twos_of_both_sides_in_an_order_that_no_output_has_a_say_in():
    log = []

    def noted(data):
        log.append(data)
        return random.random()

    block = RunBlock(Phase.SEQUENTIAL, 0, 3, 200)
    experiment = Experiment(load(noted), {}, ((0, 1),), ((digest(0), digest(1)),), 7)
    (side0, side1), _ = outputs_of(experiment, block)
    assert len(side0) == len(side1) == 100
    assert sides_of(experiment, block).tolist() == log
    assert all(sum(log[i : i + 2]) == 1 for i in range(0, 200, 2))
    assert 25 < sum(log[::2]) < 75


def test_what_cannot_go_together_is_refused():
    with pytest.raises(dp.UsageError, match="low-order bits"):
        audit(floating_point="verdict")
    with pytest.raises(dp.UsageError, match="curve"):
        audit(curve=True)


def repeating(data, size, rng):
    return data + np.random.default_rng(3).laplace(0, 1, size)


def test_a_generator_that_repeats_itself_is_invalid():
    evidence = audit(repeating, claim="epsilon=0.01")
    assert evidence.verdict is dp.Verdict.INVALID
    assert "same varying sequence" in evidence.reason


@pytest.mark.nightly
def test_outputs_that_drift_are_never_a_violation():
    state = {"calls": 0}

    def drifting(data):
        state["calls"] += 1
        return state["calls"] / 300 + random.gauss(0, 1)

    random.seed(1)
    for seed in range(2):
        assert audit(drifting, claim="epsilon=0.1", runs=600, seed=seed).verdict is not dp.Verdict.VIOLATED
    assert audit(drifting, claim="epsilon=0.1", runs=20_000).verdict is dp.Verdict.INVALID


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {"log_wealth": s.log_wealth + 0.1},
        lambda s: {"stopped": not s.stopped},
        lambda s: {"epochs": s.epochs[:-1]},
        lambda s: {"epochs": s.epochs[::-1]},
        lambda s: {"epochs": (altered(s.epochs[0]), *s.epochs[1:])},
    ],
)
def test_what_was_altered_is_noticed(change):
    evidence = refuted()
    altered_one = msgspec.structs.replace(
        evidence, sequential=msgspec.structs.replace(evidence.sequential, **change(evidence.sequential))
    )
    assert passes(check(evidence))
    assert not passes(check(altered_one))


def altered(epoch):
    stake = epoch.stakes[0]
    (a, b), rest = stake.own.toward0, stake.own.toward1
    own = msgspec.structs.replace(stake.own, toward0=(a + 1, max(b - 1, 0)), toward1=rest)
    return msgspec.structs.replace(epoch, stakes=(msgspec.structs.replace(stake, own=own), *epoch.stakes[1:]))


@functools.cache
def refuted_mu():
    return audit(gaussian, claim="mu=0.2", runs=600)


@pytest.mark.parametrize(
    "change",
    [
        lambda own: None,
        lambda own: (own.bins[0][:-1], own.bins[1][:-1]),
        lambda own: ((own.bins[0][0] + 1, *own.bins[0][1:]), own.bins[1]),
        lambda own: ((own.bins[0][0] + own.bins[0][1] + 1, -1, *own.bins[0][2:]), own.bins[1]),
        lambda own: own.bins[::-1],
    ],
)
def test_a_claim_of_mu_is_bet_against_by_degrees_and_what_was_altered_in_them_is_noticed(change):
    evidence = refuted_mu()
    assert [epoch.stakes[-1].name for epoch in evidence.sequential.epochs] == ["graded"] * len(
        evidence.sequential.epochs
    )
    assert passes(check(evidence))
    last = evidence.sequential.epochs[-1]
    own = msgspec.structs.replace(last.stakes[-1].own, bins=change(last.stakes[-1].own))
    stakes = (*last.stakes[:-1], msgspec.structs.replace(last.stakes[-1], own=own))
    epochs = (*evidence.sequential.epochs[:-1], msgspec.structs.replace(last, stakes=stakes))
    altered_one = msgspec.structs.replace(
        evidence, sequential=msgspec.structs.replace(evidence.sequential, epochs=epochs)
    )
    assert not passes(check(altered_one))


def test_the_summary_says_how_it_went():
    text = summary(refuted())
    assert "stopped early, of at most 2,000" in text
    assert "last event" in text
    assert "all that were allowed" in summary(audit(runs=200))


@pytest.mark.nightly
def test_a_rare_leak_is_found():
    def leak(data, size, rng):
        outputs = data + rng.laplace(0, 2, size)
        if data == 1:
            outputs[rng.random(size) < 0.01] = 1000
        return outputs

    evidence = audit(leak, claim="epsilon=0.5", runs=60_000)
    assert evidence.verdict is dp.Verdict.VIOLATED
