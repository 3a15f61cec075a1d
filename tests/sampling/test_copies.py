"""Are runs shared with other processes only where copies cannot repeat each other, and are those processes fresh?"""

import functools
import math
import os
import random
import sys
import threading
import warnings

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import Notice
from dpaudit.neighbours.digest import digest
from dpaudit.sampling.checkpoint import Experiment, Phase, RunBlock
from dpaudit.sampling.play import play, why_alone

PAIR = ([1, 1], [1])
ASKED = {"claim": "epsilon=1", "pairs": [PAIR], "relation": "add-remove", "runs": 6_000}
OWN = np.random.default_rng(0)
SCALE = 1.0


def named(data, rng):
    return len(data) + rng.laplace(0, SCALE)


def helper(x):
    return SCALE * x


def where(data, rng):
    return f"{os.getpid()} {threading.active_count() < 50} {getattr(sys, 'dpaudit_marked', False)}"


def _plain():
    scale, table = 2.0, np.arange(3)
    return lambda data, rng: len(data) + rng.laplace(0, scale) + helper(table[0]) + math.pi


def _generator():
    own = np.random.default_rng(0)
    return lambda data, rng: len(data) + own.laplace()


def _bound_method():
    draw = np.random.default_rng(0).laplace
    return lambda data, rng: len(data) + draw()


def _global():
    return lambda data, rng: [len(data) + OWN.laplace() for _ in range(2)]


def _within():
    return lambda data, rng: [item + OWN.laplace() for item in data]  # a comprehension is code within code


def _default():
    def function(data, rng, own=random.Random(0)):  # noqa: B008
        return len(data) + own.random()

    return function


def _listed():
    own = [np.random.default_rng(0)]
    return lambda data, rng: len(data) + own[0].laplace()


def _partial():
    return functools.partial(lambda data, rng, own: len(data) + own.laplace(), own=np.random.default_rng(0))


class _Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self, data, rng):
        self.calls += 1
        return len(data) + self.calls


def _indirect():
    inner = _generator()
    return lambda data, rng: inner(data, rng)


def alone(function):
    return why_alone(dp.load(function), ({}, [PAIR]))


@pytest.mark.parametrize("function", [named, _plain(), functools.partial(lambda data, rng, by: by, by=2.0)])
def test_plain_functions_are_shared(function):
    assert alone(function) is None


@pytest.mark.parametrize(
    "made", [_generator, _bound_method, _global, _within, _default, _listed, _partial, _Counter, _indirect]
)
def test_what_may_hold_a_state_stays_in_one_process(made):
    why = alone(made())
    assert why is not None
    assert "copies might make the same noise again" in why


def test_other_reasons_to_stay_in_one_process():
    assert "randomness of its own" in alone(lambda data: len(data))
    lock = threading.Lock()
    assert "an object of type lock" in alone(lambda data, rng: lock)
    assert "run times are measured in one process" in why_alone(dp.load(named), timed=True)
    assert "cannot be copied" in why_alone(dp.load(_plain()), threading.Lock())


@pytest.mark.slow
def test_an_audit_says_it_and_finds_the_same():
    function = _generator()
    with pytest.warns(Notice, match="runs in one process"):
        evidence = dp.audit(function, workers=2, reading="calls", **ASKED)
    assert evidence.verdict is not dp.Verdict.INVALID
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = (dp.audit(_plain(), workers=workers, **ASKED) for workers in (1, 2))
    assert one.id == two.id


def _forms(side0, side1):
    return side0.forms, side1.forms


@pytest.mark.parametrize("function", [where, lambda data, rng: where(data, rng)])
def test_workers_are_started_afresh_and_never_forked(function):
    sys.dpaudit_marked = True  # a forked process would have it too
    try:
        mechanism = dp.load(function)
        shared = mechanism.reference or mechanism
        digests = ((digest(PAIR[0]), digest(PAIR[1])),)
        experiment = Experiment(shared, {}, (PAIR,), digests, 0, copied=mechanism.reference is None)
        blocks = [RunBlock(Phase.LEARNING, 0, index, 30) for index in range(6)]
        found = {
            form for played in play(experiment, blocks, _forms, workers=2) for side in played.result for form in side
        }
    finally:
        del sys.dpaudit_marked
    assert found
    for form in found:
        pid, few_threads, marked = form.strip("'").split()
        assert int(pid) != os.getpid()
        assert (few_threads, marked) == ("True", "False")


def test_no_setting_of_the_users_own_makes_workers_fork():
    from joblib import parallel_config

    with parallel_config(backend="multiprocessing"):
        test_workers_are_started_afresh_and_never_forked(where)
