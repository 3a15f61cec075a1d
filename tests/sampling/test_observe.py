"""Does the run time join the output, with noise of the machine that knows nothing of the side?

Most of these tests run on a clock of their own, which the functions under test move: they are exact, and quick.
"""

import gc
import json
import math

import numpy as np
import pytest
from scipy.stats import binom

import dpaudit as dp
from dpaudit.neighbours.digest import digest
from dpaudit.report import console_summary, html_page
from dpaudit.report.view import runs as rows_of_runs
from dpaudit.sampling import runs
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock
from dpaudit.sampling.runs import outputs_of, untimed

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

PAIR = (0, 1)
ASKED = {"claim": "epsilon=1", "pairs": [PAIR], "relation": "queries", "observe": "time"}
TRUTH = 1 / (1 + math.exp(-1))


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self):
        self.now = 0

    def perf_counter_ns(self):
        return self.now

    def spend(self, nanoseconds):
        self.now += round(nanoseconds)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(runs, "time", made)
    return made


def response(data, rng):
    """Randomised response of a loss of exactly 1."""
    return data ^ int(rng.random() > TRUTH)


def wrongly_violated(function, audits, runs, **options):
    found = [dp.audit(function, runs=runs, seed=seed, **(ASKED | options)).verdict for seed in range(audits)]
    assert dp.Verdict.INVALID not in found
    return found.count(dp.Verdict.VIOLATED)


# --- what is found ----------------------------------------------------------------------------------------


def geometric(rng, stop):
    """Draws until it succeeds: the textbook sampler, which takes as long as its value is large."""
    count = 0
    while rng.random() > stop:
        count += 1
    return count


def discrete_laplace_by_loop(data, rng, epsilon=1.0):
    stop = 1 - math.exp(-epsilon)
    return data + geometric(rng, stop) - geometric(rng, stop)


@pytest.mark.nightly
def test_a_discrete_sampler_that_loops_is_private_until_its_time_is_seen():
    asked = {name: value for name, value in ASKED.items() if name != "observe"}
    assert dp.audit(discrete_laplace_by_loop, runs=20_000, **asked).verdict is dp.Verdict.NOT_VIOLATED
    seen = dp.audit(discrete_laplace_by_loop, runs=20_000, **ASKED)
    assert seen.verdict is dp.Verdict.VIOLATED
    assert seen.lower.value > 1.5


@pytest.mark.parametrize("output", ["number", "word", "nothing"])
def test_a_time_that_tells_the_side_is_found_beside_any_output(clock, output):
    def slower(data, rng):
        clock.spend(1000 + 300 * data + rng.exponential(100))
        return {"number": data + rng.laplace(), "word": "done", "nothing": None}[output]

    assert dp.audit(slower, runs=4_000, **ASKED).verdict is dp.Verdict.VIOLATED


def test_what_only_time_and_output_together_tell_is_found(clock):
    def echo(data, rng):
        lie = int(rng.random() > TRUTH)
        clock.spend(1000 + 200 * lie + rng.exponential(50))  # which answers are lies
        return data ^ lie

    evidence = dp.audit(echo, runs=4_000, **ASKED)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert dp.audit(echo, runs=4_000, **{**ASKED, "observe": ()}).verdict is not dp.Verdict.VIOLATED


# --- what is not ------------------------------------------------------------------------------------------


BITS = [0] * 2995 + [1] * 1101


def by_table(data, rng):
    """Randomised response of a loss of ln(2995/1101), in the same steps whatever comes out."""
    return (data + BITS[rng.integers(0, 4096)]) & 1


def test_a_function_of_constant_time_is_accused_no_more_often_than_stated():
    wrong = wrongly_violated(by_table, 3, 1_000, claim=f"epsilon={math.log(2995 / 1101)}")
    assert binom.sf(wrong - 1, 3, 0.05) > 1e-3


def test_a_machine_that_gets_slower_stalls_and_jitters_accuses_nobody(clock):
    machine = np.random.default_rng(7)
    state = {"speed": 1.0, "stalled": 0}

    def on_a_bad_machine(data, rng):
        state["speed"] *= 1.0005
        if machine.random() < 0.002:
            state["stalled"] = 100
        state["stalled"] = max(state["stalled"] - 1, 0)
        clock.spend(1000 * state["speed"] + machine.exponential(300) + 5000 * (state["stalled"] > 0))
        return response(data, rng)

    wrong = wrongly_violated(on_a_bad_machine, 4, 1_000)
    assert binom.sf(wrong - 1, 4, 0.05) > 1e-3


def test_caches_that_remember_the_side_before_accuse_nobody(clock):
    before = {"side": None}

    def cached(data, rng):
        clock.spend(1000 if before["side"] == data else 2000)
        before["side"] = data
        return response(data, rng)

    (side0, side1), _ = outputs_of(experiment(cached), RunBlock(Phase.LEARNING, 0, 0, 500))
    for side in (side0, side1):
        assert set(side.numbers[0][:, -1]) == {1e-6}
    evidence = dp.audit(cached, runs=2_000, **ASKED)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED


def test_times_that_vary_hide_no_generator_that_repeats_itself(clock):
    def ignores_its_generator(data, rng):
        clock.spend(machine.integers(1, 10**6))
        return state.normal() + data

    machine, state = np.random.default_rng(1), np.random.default_rng(0)
    original = runs.timed_runs

    def seeded_anew(*arguments):
        nonlocal state
        state = np.random.default_rng(0)
        return original(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpaudit.sampling.runs.timed_runs", lambda *arguments: seeded_anew(*arguments))
        for module in ("checkpoint", "runs"):
            same = "dpaudit.sampling." + module + ".generator_of"
            patch.setattr(same, lambda seed, block, stream: np.random.default_rng(stream))
        evidence = dp.audit(ignores_its_generator, runs=20_000, **ASKED)
    assert evidence.verdict is dp.Verdict.INVALID
    assert "the same varying sequence" in evidence.reason


@pytest.mark.parametrize("several", [False, True])
def test_outputs_that_drift_are_noticed_beside_their_times(clock, several):
    def drifts(data, rng):
        clock.spend(1000 + rng.exponential(100))
        drifts.calls += 1
        value = data + rng.normal() + drifts.calls / 2_000
        return [value, rng.normal()] if several else value

    drifts.calls = 0
    assert dp.audit(drifts, runs=20_000, **ASKED).verdict is dp.Verdict.INVALID


# --- how it is run ----------------------------------------------------------------------------------------


def experiment(function, seed=0):
    return Experiment(dp.mechanism(function), {}, (PAIR,), ((digest(0), digest(1)),), seed, ("time",))


def program(data, noise):
    return data + noise.laplace(1)


def sampler(data, size, rng):
    return data + rng.laplace(0, 1, size)


def seeded(data, rng):
    return data + rng.laplace(0, 1)


def opaque(data):
    return float(data)


@pytest.mark.parametrize("function", [program, sampler, seeded, opaque])
def test_every_kind_of_function_runs_once_for_every_time(function):
    (side0, side1), _ = outputs_of(experiment(function), RunBlock(Phase.LEARNING, 0, 0, 300))
    assert len(side0) + len(side1) == 300
    for side in (side0, side1):
        assert side.forms == ("(float × 2)",)
        assert np.all(side.numbers[0][:, 1] > 0)


@pytest.mark.parametrize("function", [program, sampler, seeded])
def test_outputs_hang_on_the_seed_and_times_do_not(function):
    block = RunBlock(Phase.MEASURING, 0, 3, 200)
    first, again, other = (outputs_of(experiment(function, seed), block)[0][0] for seed in (1, 1, 2))
    assert np.array_equal(untimed(first).numbers[0], untimed(again).numbers[0])
    assert not np.array_equal(first.numbers[0], again.numbers[0])
    assert not np.array_equal(untimed(first).numbers[0], untimed(other).numbers[0])


def test_an_exception_stands_for_itself():
    def fails(data, rng):
        if rng.random() < 0.5:
            raise ValueError("never again")
        return data

    (side0, _), _ = outputs_of(experiment(fails), RunBlock(Phase.LEARNING, 0, 0, 200))
    assert set(side0.forms) == {"raises ValueError: never again", "(int, float)"}
    assert untimed(side0).forms == side0.forms
    with pytest.raises(dp.UsageError, match="raises in every run"):
        dp.audit(lambda data: 1 / 0, runs=1_000, **ASKED)


def test_the_collector_is_off_while_runs_are_timed_and_on_again_afterwards():
    seen = []

    def looks(data, rng):
        seen.append(gc.isenabled())
        return data

    outputs_of(experiment(looks), RunBlock(Phase.LEARNING, 0, 0, 10))
    assert set(seen) == {False}
    assert gc.isenabled()

    def stops(data, rng):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outputs_of(experiment(stops), RunBlock(Phase.LEARNING, 0, 0, 10))
    assert gc.isenabled()


def test_the_evidence_says_what_was_observed():
    evidence = dp.audit(seeded, runs=2_000, **ASKED)
    assert (evidence.observed, evidence.reproducible, evidence.target.reading) == (("time",), False, "run by run")
    assert evidence.floating_point is None
    assert any("the run time of a call" in text for text in evidence.assumptions)
    assert dp.Evidence.from_json(evidence.to_json()) == evidence
    assert json.loads(evidence.to_json())["evidence"]["observed"] == ["time"]
    assert any("each with its run time" in row.cell + row.line for row in rows_of_runs(evidence))
    assert "--observe time" in console_summary(evidence)
    page = html_page(evidence)
    assert "the run time of every call" in page
    assert "by a clock in the same process" in page
    plain = dp.audit(seeded, runs=2_000, **{**ASKED, "observe": ()})
    assert "observed" not in json.loads(plain.to_json())["evidence"]


def test_a_sequential_audit_sees_times_too(clock):
    def slower(data, rng):
        clock.spend(1000 + 300 * data + rng.exponential(100))
        return 0

    evidence = dp.audit(slower, runs=20_000, sequential=True, **ASKED)
    assert evidence.verdict is dp.Verdict.VIOLATED
    assert evidence.runs < 5_000


def test_a_replay_counts_the_events_again(clock):
    def slower(data, rng):
        clock.spend(1000 + 300 * data + rng.exponential(100))
        return 0

    evidence = dp.audit(slower, runs=4_000, **ASKED)
    again = dp.replay(evidence, target=slower, pairs=[PAIR])
    assert again.holds
    assert again.recounts

    def mended(data, rng):
        clock.spend(1000 + rng.exponential(100))
        return 0

    assert not dp.replay(evidence, target=mended, pairs=[PAIR]).holds


def test_what_cannot_be_observed_is_refused():
    with pytest.raises(dp.UsageError, match="what can be observed beside the output is time, not 'memory'"):
        dp.audit(seeded, runs=1_000, **{**ASKED, "observe": ["time", "memory"]})
    with pytest.raises(dp.UsageError, match="leave out floating_point='verdict', or observe"):
        dp.audit(seeded, runs=1_000, floating_point="verdict", **ASKED)
