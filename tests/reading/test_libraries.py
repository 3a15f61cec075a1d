"""Are the calls of libraries that draw by themselves made in each run, and the rest of the function read once?"""

import sysconfig
import types
from pathlib import Path

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.evidence.records import Verdict
from dpaudit.reading import callables
from dpaudit.reading.runs.passes import UnreadError, make
from dpaudit.review.check import check
from dpaudit.review.check.finding import CheckResult

SHELF = """
import random

class Laplace:
    def __init__(self, scale, random_state=None):
        self.scale, self.random_state = scale, random_state
        self._random = random.SystemRandom() if random_state is None else random.Random(random_state)

    def randomise(self, value):
        if self.scale <= 0:
            raise ValueError("the scale is positive")
        x = self._random.expovariate(1 / self.scale) - self._random.expovariate(1 / self.scale)
        return [each + x for each in value] if isinstance(value, list) else value + x

    def __call__(self, value):
        return self.randomise(value)

class Accountant:
    def __init__(self):
        self.calls = 0

    def randomise(self, value):
        self.calls += 1
        return value + self.calls
"""


@pytest.fixture
def shelf(monkeypatch):
    """A library of mechanisms, as if it was installed."""
    made = types.ModuleType("shelf.mechanisms")
    exec(compile(SHELF, str(Path(sysconfig.get_path("purelib")) / "shelf.py"), "exec"), made.__dict__)
    monkeypatch.setattr(callables, "_LIBRARIES", ("shelf",))
    monkeypatch.setattr(callables, "_RANDOM", ("shelf.mechanisms",))
    monkeypatch.setattr(callables, "_HOLD_NOTHING", ("shelf.mechanisms",))
    return made


def _made(function, runs=300, repeated=300):
    return make(function, ([1.0] * 40,), {}, runs, np.random.SeedSequence(3), repeated)


def test_only_the_call_is_made_in_each_run(shelf):
    kept = shelf.Laplace(1.0)

    def once(data):
        total = float(np.sum(np.asarray(data)))
        x = kept(total)
        return "many" if x > 40 else round(shelf.Laplace(2.0).randomise(x), 2)

    made = _made(once)
    assert set(made.libraries) == {"shelf.mechanisms.Laplace", "shelf.mechanisms.Laplace.randomise"}
    assert len(made.repeated) == 300
    assert sum(len(part.runs) for part in made.parts) == 300


def test_what_a_library_returns_belongs_to_the_run(shelf):
    def changed(data):
        out = shelf.Laplace(1.0).randomise([1.0, 2.0])
        out.append(0.0)
        out[0] = -out[0]
        return out

    assert len(_made(changed).repeated) == 300


@pytest.mark.slow
def test_an_exception_of_the_library_is_an_output(shelf):
    def raising(data):
        x = np.random.laplace()  # noqa: NPY002
        try:
            return shelf.Laplace(x).randomise(3.0)
        except ValueError as error:
            return str(error)

    def called(data):
        mechanism = shelf.Laplace(abs(np.random.laplace()))  # noqa: NPY002
        return mechanism([1.0, 2.0]), mechanism.scale > 1

    assert len(_made(raising).repeated) == 300
    assert len(_made(called).repeated) == 300


def test_a_fixed_seed_is_not_shared_by_all_runs(shelf):
    def seeded(data):
        return shelf.Laplace(1.0, random_state=4).randomise(3.0)

    with pytest.raises(UnreadError, match="differs from the function"):
        _made(seeded)


def test_what_is_not_listed_is_called_with_the_whole_function(shelf, monkeypatch):
    monkeypatch.setattr(callables, "_HOLD_NOTHING", ())
    kept = shelf.Accountant()

    def counting(data):
        return kept.randomise(len(data))

    with pytest.raises(UnreadError, match="may draw, or remember something"):
        _made(counting)


@pytest.mark.slow
def test_an_audit_says_what_was_called_and_is_not_reproducible(shelf):
    mechanism = shelf.Laplace(1.0)

    def released(data):
        return mechanism(float(len(data)))

    evidence = dp.audit(released, pairs=[([1.0], [1.0, 2.0])], claim="epsilon=0.5", runs=20_000, seed=1)
    assert evidence.verdict is Verdict.VIOLATED
    assert evidence.target.reading == "rewritten; called in each run: shelf.mechanisms.Laplace"
    assert not evidence.reproducible
    assert any("own randomness" in each for each in evidence.assumptions)
    assert not [finding for finding in check(evidence) if finding.answer is CheckResult.FAILS]
