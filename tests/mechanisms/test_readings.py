"""Do the scalar and the batch reading of every program agree in distribution? An attacker tries to tell them apart."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import mechanisms
from dpaudit import PureDP
from dpaudit.events import choose, count_event
from dpaudit.evidence.records import Counts
from dpaudit.program.batch.reading import run_batch
from dpaudit.program.outcome import run_once
from dpaudit.program.scalar import ScalarNoise
from dpaudit.sampling.outputs import from_list, from_paths
from dpaudit.stats.statement import lower_bound
from dpaudit.targets.mechanism import Shape

RUNS = 2_000
PROGRAMS = [name for name in mechanisms.__all__ if getattr(mechanisms, name).shape is Shape.PROGRAM]


def told_apart(batch, scalar):
    """Return the certain ε between two sets of runs, at error 1e-6: learned on one half, measured on the other."""
    half = RUNS // 2
    learn, fresh = (
        [outputs.take(np.arange(start, start + half)) for outputs in (batch, scalar)] for start in (0, half)
    )
    choices, _ = choose(*learn, claim=PureDP(0), measuring=2 * half, error=1e-6)
    losses = []
    for choice in choices:
        counted = [count_event(choice.event, outputs) for outputs in fresh]
        counts = Counts((half, half), (counted[0][0], counted[1][0]), (counted[0][1], counted[1][1]))
        # sides of fixed size have no coin, so that a guess is no binomial: the two-sided event as a one-sided one
        method, weight = ("joint", choice.weight or np.sqrt(0.5))
        if any(counts.toward0):
            counts = Counts(counts.runs, counts.toward0, (0, 0))
        losses.append(lower_bound(method, counts, claim=PureDP(0), weight=float(weight), error=1e-6))
    return max(losses)


def readings(program, seed):
    result = run_batch(program, RUNS, np.random.default_rng(seed))
    noise = [ScalarNoise(np.random.default_rng([seed, run])) for run in range(RUNS)]
    return result, from_paths(result.paths, RUNS), from_list([run_once(program, own) for own in noise])


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_readings_agree(name):
    mechanism = getattr(mechanisms, name)
    parameters = mechanism.parameters_with(None)
    for seed, data in enumerate(mechanism.pairs_for(parameters)[0]):
        program = partial(_call, mechanism.function, data, parameters)
        result, batch, scalar = readings(program, seed)
        assert result.fell_back is None
        assert told_apart(batch, scalar) == 0.0


def _call(function, data, parameters, noise):
    return function(data, noise=noise, **parameters)


def test_readings_that_differ_are_told_apart():
    _, narrow, _ = readings(lambda noise: noise.laplace(1), 0)
    _, _, wide = readings(lambda noise: noise.laplace(1.5), 1)
    assert told_apart(narrow, wide) > 0
