"""Is a number of runs found that fits into a number of seconds? On a clock that only runs as slowly as it is told."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.auditing import audit, pair
from dpaudit.auditing.audit import affordable, runs_within
from dpaudit.auditing.question import validated
from dpaudit.request import AuditRequest
from dpaudit.sampling.runs import UnreadRunsError

pytestmark = pytest.mark.slow

PAIR = [([0], [1])]


@dataclass
class Clock:
    """Seconds that pass for calls, and for audits: each has a cost of its own and one for every run."""

    call: float
    audit: float = 0.0
    now: float = 0.0
    rehearsed: list[int] = field(default_factory=list)
    verdict: dp.Verdict = dp.Verdict.NOT_VIOLATED

    def perf_counter(self) -> float:
        return self.now

    process_time = perf_counter

    def release(self, data, rng):
        self.now += self.call
        return data[0] + rng.random()

    def rehearse(self, question, runs):
        self.now += self.audit + runs * self.call
        self.rehearsed.append(runs)
        return self


def calibrated(clock, seconds, monkeypatch, least=100):
    monkeypatch.setattr(audit, "time", clock)
    monkeypatch.setattr("dpaudit.settings.time", clock)
    question = validated(AuditRequest(clock.release, claim="epsilon=1", pairs=PAIR, relation="declared", seed=0))
    return runs_within(seconds, question, least, clock.rehearse)


@pytest.mark.parametrize("call", [1e-5, 1e-3, 0.01])
@pytest.mark.parametrize("audit", [0.0, 0.05])
def test_most_of_the_time_is_used_and_no_more(call, audit, monkeypatch):
    clock = Clock(call, audit)
    runs = calibrated(clock, 60.0, monkeypatch)
    rehearsing = clock.now
    clock.rehearse(None, runs)
    assert rehearsing < 0.2 * 60
    assert 0.7 * 60 < clock.now <= 60


def test_what_is_too_slow_is_not_rehearsed_and_makes_the_least_number_of_runs(monkeypatch):
    clock = Clock(1.0)
    assert calibrated(clock, 30.0, monkeypatch) == 100
    assert clock.rehearsed == [] and clock.now < 10


def test_rehearsals_grow_and_are_few(monkeypatch):
    clock = Clock(1e-6, 0.01)
    calibrated(clock, 60.0, monkeypatch)
    assert clock.rehearsed == sorted(clock.rehearsed) and len(clock.rehearsed) < 8


def test_runs_that_cannot_be_trusted_end_the_rehearsals(monkeypatch):
    clock = Clock(1e-3, verdict=dp.Verdict.INVALID)
    assert 40_000 < calibrated(clock, 60.0, monkeypatch) < 60_000
    assert len(clock.rehearsed) == 1


@pytest.mark.parametrize("options", [{}, {"pairs": PAIR * 3}, {"curve": True}, {"search": True, "pairs": PAIR * 3}])
def test_the_number_that_was_found_gives_the_same_evidence(options):
    def sampler(data, size, rng):
        return data[0] + rng.laplace(size=size)

    asked = {"claim": "epsilon=1", "pairs": PAIR, "seed": 5, "floating_point": "ignore", **options}
    started = time.perf_counter()
    evidence = dp.audit(sampler, time_budget=0.05, **asked)
    assert time.perf_counter() > started
    assert dp.audit(sampler, runs=evidence.budget, **asked).id == evidence.id


def noisy_count(data):
    return len(data) + np.random.default_rng().laplace(0, 1)


@pytest.mark.parametrize(("most", "runs"), [(64, 150), (10**6, 400_000)])
def test_what_is_read_in_a_few_runs_and_not_in_many_makes_as_many_as_its_calls_leave_time_for(most, runs, monkeypatch):
    made = pair.outputs_of

    def outputs_of(experiment, block):
        if block.size > most:
            raise UnreadRunsError("some runs change it")
        return made(experiment, block)

    monkeypatch.setattr(pair, "outputs_of", outputs_of)
    monkeypatch.setattr(audit, "_seconds_of_a_read_run", lambda question, enough, room: enough / 2)
    monkeypatch.setattr(audit, "_seconds_of_a_call", lambda question, enough: 0.1)
    question = validated(AuditRequest(noisy_count, claim="epsilon=1", pairs=PAIR, relation="declared", seed=0))
    assert affordable(question, 400_000, 15.0) == runs
