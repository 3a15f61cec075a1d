"""What does a limit of time limit? The work that was asked for; a second look has twice as long to itself."""

import math
import os
import subprocess
from types import SimpleNamespace

import pytest

import dpaudit as dp
from dpaudit import processes
from dpaudit.auditing import audit
from dpaudit.cli import apart
from dpaudit.gate import target_process as of_gate
from dpaudit.gate.target_process import Request
from dpaudit.processes import Limits

LIMIT = Limits(1.5)
CHILD = """
from pathlib import Path
from dpaudit import processes

asked, answering = processes.received()
said = [Path(answering._place + ".again").exists()]
processes.second_look_begins()
said.append(Path(answering._place + ".again").exists())
answering.hand_over(said)
"""


@pytest.fixture
def ended(tmp_path, monkeypatch):
    """Which limit ends a process, on a clock that only its parent's looks at it move."""

    def call(*, begins, answers, limits=LIMIT, queued=0.0):
        clock, place = [0.0], tmp_path / f"answer to {begins}, {answers}, {queued}"

        def wait(seconds):
            clock[0] = round(clock[0] + seconds, 6)
            if begins <= clock[0]:
                processes._second_look_file(place).touch()
            if answers <= clock[0]:
                place.touch()
            raise subprocess.TimeoutExpired("a child", seconds)

        with monkeypatch.context() as patch:
            patch.setattr(processes, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
            patch.setattr(processes, "queued_of", lambda pid: queued * clock[0])
            return processes._watch(SimpleNamespace(wait=wait, pid=0), place, limits, 0.0, None), clock[0]

    return call


def test_a_second_look_has_as_long_as_its_runs_need(ended):
    never = math.inf
    assert ended(begins=never, answers=1.4) == (None, 1.4)
    assert ended(begins=never, answers=4) == ("time", 1.55)
    assert ended(begins=1.4, answers=4.2) == (None, 4.2)
    assert ended(begins=1.25, answers=never) == ("second look", 4.3)
    assert ended(begins=1.4, answers=9, limits=Limits()) == (None, 9)


def test_a_busy_machine_takes_no_time_from_a_target(ended):
    """Of four seconds, three went by in which others had the processor; but nobody waits for ever."""
    assert ended(begins=math.inf, answers=5.5, queued=0.75) == (None, 5.5)
    assert ended(begins=math.inf, answers=7, queued=0.75)[0] == "time"
    assert ended(begins=math.inf, answers=math.inf, queued=1.0) == ("time", 15.05)


def test_what_a_process_waited_for_is_read_where_it_is_told():
    assert 0 <= processes.queued_of(os.getpid()) < 1e6
    assert processes.queued_of(2**30) == 0


@pytest.mark.slow
def test_a_process_says_when_its_second_look_begins(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "child_of_test.py").write_text(CHILD, encoding="utf-8")
    assert processes.run("child_of_test", {}, limits=Limits()).answer == [False, True]


@pytest.mark.slow
def test_an_audit_says_when_its_second_look_begins(monkeypatch):
    said = []
    monkeypatch.setattr(audit, "second_look_begins", lambda: said.append(True))

    def release(data, noise):
        return data[0] + noise.laplace(1.0)

    asked = {"claim": "epsilon=1", "pairs": [([1.0], [0.0])], "relation": "declared", "runs": 4_000}
    for seed in (0, 19):
        assert len(said) == 0
        evidence = dp.audit(release, seed=seed, **asked)
    assert evidence.second is not None and said == [True]


def test_what_took_too_long_is_named(monkeypatch):
    for over, says in (
        ("time", "it took more than 5 seconds"),
        ("second look", "second look took more than 10 seconds"),
    ):
        assert says in apart._why(over, None, Limits(5))
        monkeypatch.setattr(of_gate.processes, "run", lambda *_, over=over, **__: processes.Ended(over=over))
        asked = Request(target="f", root=".", runs=100, seed=0)
        assert says in of_gate.run(asked, Limits(5), None).error
