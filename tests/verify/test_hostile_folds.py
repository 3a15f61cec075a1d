"""Is a fold PROVED, or an enumerated program, that runs otherwise than it was read?"""

from __future__ import annotations

import itertools
import os
import random
import sys
import time

import pytest
from support.hostile_programs import NAMED, verdict_of

import dpaudit as dp
from dpaudit.program.fold import Emit, Fold, Stop

HOSTILE_FOLDS: list = []
HOSTILE_EXACT: list = []

CALLS: list = []
COUNTER = itertools.count()
RNG = random.Random(0)
LATE = 0


# --- folds ---------------------------------------------------------------------------------------------

SEEN: list = []


def clears(noise):
    SEEN.clear()
    return noise.laplace(2)


def hidden_state(level, answer, noise):
    SEEN.append(0)
    if len(SEEN) > 5:
        return Emit(answer, level)
    return Emit(bool(answer + noise.laplace(4) >= level), Stop())


def hidden_count(level, answer, noise):
    SEEN.append(0)
    return Emit(answer * (len(SEEN) > 300_000) + noise.laplace(4), level)


def by_type(level, answer, noise):
    if type(answer) is float and answer > 1000:
        return Emit(answer, level)
    return Emit(answer + noise.laplace(4), level)


def state_by_type(state, answer, noise):
    if type(state) is float:
        return Emit(answer, state)
    return Emit(answer + noise.laplace(4), state)


def late(state, answer, noise):
    return Emit(answer + noise.laplace(4) + answer * (time.time() > 4e9), state)


def whole_numbers(state, answer, noise):
    if isinstance(answer, int):
        return Emit(answer, state)
    return Emit(answer + noise.laplace(4), state)


HOSTILE_FOLDS += [
    Fold(hidden_state, init=clears, finish=None),
    Fold(hidden_count, init=0, finish=None),
    Fold(by_type, init=0, finish=None),
    Fold(state_by_type, init=lambda noise: noise.laplace(1), finish=None),
    Fold(late, init=0, finish=None),
    Fold(whole_numbers, init=0, finish=None),
]


# --- discrete noise ------------------------------------------------------------------------------------


def bit(data, noise):
    return data if noise.bernoulli(0.75) else 1 - data


def exact_by_noise(data, noise):
    return [bit(data, noise), data * (type(noise).__name__ == "ScalarNoise")]


def exact_by_clock(data, noise):
    return [bit(data, noise), data * (time.time() > 4e9)]


def exact_count(data, noise):
    CALLS.append(0)
    return [bit(data, noise), data * (len(CALLS) > 300_000)]


def exact_iterator(data, noise):
    return [bit(data, noise), data * (next(COUNTER) > 300_000)]


def exact_environment(data, noise):
    return [bit(data, noise), data * ("PRODUCTION_MODE" in os.environ)]


def exact_by_caller(data, noise):
    return [bit(data, noise), data * (sys._getframe(1).f_lineno < 0)]


def exact_by_generator(data, noise):
    return [bit(data, noise), data * (RNG.random() < 1e-9)]


def exact_global(data, noise):
    global LATE
    LATE += 1
    return [bit(data, noise), data * (LATE > 300_000)]


HOSTILE_EXACT += [exact_by_noise, exact_by_clock, exact_count, exact_iterator, exact_environment, exact_by_caller,
                  exact_by_generator, exact_global]  # fmt: skip


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("fold", HOSTILE_FOLDS, **NAMED)
def test_a_fold_that_runs_otherwise_is_not_proved(fold):
    found = verdict_of(fold, relation="queries(one)")
    assert found is None or (found.verdict is not dp.Verdict.PROVED and found.proof.comparison.open_ends)


@pytest.mark.parametrize("program", HOSTILE_EXACT, **NAMED)
def test_an_enumerated_program_that_runs_otherwise_is_not_proved(program):
    found = verdict_of(program, domain=[0, 1], relation="replace")
    assert found is None or (found.verdict is not dp.Verdict.PROVED and found.proof.comparison.open_ends)


def test_an_honest_domain_is_proved():
    assert dp.prove(bit, domain=[0, 1], relation="replace", claim="epsilon=1.1", runs=0, seed=0).verdict is (
        dp.Verdict.PROVED
    )
