"""Is what a busy machine takes longer for the same as on an idle one?"""

import time
from types import SimpleNamespace

import pytest

import dpaudit as dp
from dpaudit import settings
from dpaudit.program.symbolic import linear
from dpaudit.reading.universe import second


@pytest.fixture
def clock(monkeypatch):
    held = SimpleNamespace(clock=0.0, cpu=0.0)
    fake = SimpleNamespace(perf_counter=lambda: held.clock, process_time=lambda: held.cpu)
    monkeypatch.setattr(settings, "time", fake)
    return held


@pytest.mark.parametrize(
    ("cpu", "clock_", "taken"), [(2.0, 2.0, 2.0), (2.0, 11.0, 2.0), (0.0, 12.0, 2.0), (2.0, 24.0, 4.0)]
)
def test_seconds_are_those_of_the_cpu_and_a_sixth_of_those_that_are_waited(clock, cpu, clock_, taken):
    since = settings.Taken()
    clock.cpu, clock.clock = cpu, clock_
    assert since.seconds() == pytest.approx(taken, abs=1e-6)


@pytest.mark.parametrize(
    ("cpu", "clock_", "is_over"), [(9.0, 59.0, False), (11.0, 11.0, True), (0.0, 61.0, True), (20.0, 9.0, False)]
)
def test_a_budget_is_over_by_the_cpu_or_by_waiting_alone(clock, cpu, clock_, is_over):
    def spend():
        with linear.budget(None, 10.0, "it"):
            clock.cpu, clock.clock = cpu, clock_
            linear.spend()

    if is_over:
        with pytest.raises(dp.UsageError, match="too large for 10 s"):
            spend()
    else:
        spend()


@pytest.mark.slow
def test_real_runs_beside_a_proof_may_wait_longer_than_they_may_compute():
    def waits():
        time.sleep(1.2)
        return 1

    def computes():
        while True:
            pass

    assert second.in_a_process(waits, 1.0) == 1
    with pytest.raises(TimeoutError):
        second.in_a_process(computes, 0.2)
    with pytest.raises(TimeoutError):
        second.in_a_process(lambda: time.sleep(60), 0.02)
    with pytest.raises(RuntimeError, match="ValueError: no"):
        second.in_a_process(lambda: (_ for _ in ()).throw(ValueError("no")), 1.0)
