"""What does a limit of time limit? The work that was asked for; a second look has twice as long to itself."""

from __future__ import annotations

import pytest

import dpaudit as dp
from dpaudit.auditing import second_look
from dpaudit.cli import apart
from dpaudit.gate import process as of_gate
from dpaudit.gate.target_process import Request
from dpaudit.processes.process import Limits, run

LIMIT = Limits(1.5)
CHILD = """
import time
from dpaudit.processes.process import received, second_look_begins

asked, answering = received()
{work}
answering.hand_over("done")
"""


@pytest.fixture
def ended(tmp_path, monkeypatch):
    """What comes of a process that does this work."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def call(work, limits=LIMIT):
        (tmp_path / "child_of_test.py").write_text(CHILD.format(work=work), encoding="utf-8")
        return run("child_of_test", {}, limits=limits)

    return call


@pytest.mark.slow
def test_a_second_look_has_as_long_as_its_runs_need(ended):
    assert ended("time.sleep(4)").over == "time"
    assert ended("second_look_begins(); time.sleep(2)").answer == "done"
    assert ended("second_look_begins(); time.sleep(2)", Limits()).answer == "done"


def test_it_has_no_longer_however_often_it_begins(ended):
    assert ended("while True: second_look_begins(); time.sleep(0.1)").over == "second look"


def test_an_audit_says_when_its_second_look_begins(monkeypatch):
    said = []
    monkeypatch.setattr(second_look, "second_look_begins", lambda: said.append(True))

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
        monkeypatch.setattr(of_gate.process, "run", lambda *_, over=over, **__: of_gate.process.Ended(over=over))
        asked = Request(target="f", root=".", runs=100, seed=0)
        assert says in of_gate.run(asked, Limits(5), None).error
