"""Is any program PROVED that does something else at another time, in another place, or when it is called again?"""

from __future__ import annotations

import functools
import itertools
import math
import os
import random
import sys
import time

import numpy as np
import pytest
from support.hostile_programs import NAMED, assert_not_proved, listed

HOSTILE: list = []
hostile = listed(HOSTILE)

CALLS: list = []
COUNTER = itertools.count()
COUNTS = {"calls": 0}
GENERATOR = (number for number in range(10**9))
RNG = random.Random(0)
LATE = 0


def noisy(x, noise):
    return x + noise.laplace(1)


# --- clocks, files, the interpreter --------------------------------------------------------------------


@hostile
def after_a_date(data, noise):
    if time.time() > 4e9:
        return data[0]
    return noisy(data[0], noise)


@hostile
def after_a_date_without_a_branch(data, noise):
    return noisy(data[0], noise) + data[0] * (time.time() > 4e9)


@hostile
def in_an_environment(data, noise):
    return noisy(data[0], noise) + data[0] * ("PRODUCTION_MODE" in os.environ)


@hostile
def without_a_module(data, noise):
    return noisy(data[0], noise) + data[0] * ("dpaudit" not in sys.modules)


@hostile
def by_its_caller(data, noise):
    return noisy(data[0], noise) + data[0] * ("symbolic" not in sys._getframe(1).f_code.co_filename)


@hostile
def without_a_trace(data, noise):
    return noisy(data[0], noise) + data[0] * (sys.gettrace() is None)


@hostile
def from_a_file(data, noise):
    try:
        with open("/nonexistent/leak") as file:
            return [file.read(), data[0]]
    except OSError:
        return noisy(data[0], noise)


@hostile
def imports_a_clock(data, noise):
    from time import monotonic

    return noisy(data[0], noise) + data[0] * (monotonic() < 0)


@hostile
def imports_by_name(data, noise):
    return noisy(data[0], noise) + data[0] * (__import__("time").time() > 4e9)


@hostile
def evaluates(data, noise):
    return noisy(data[0], noise) + data[0] * eval("0")


@hostile
def other_randomness(data, noise):
    return noisy(data[0], noise) + (data[0] if np.random.default_rng().random() < 1e-9 else 0)


@hostile
def own_generator(data, noise):
    return noisy(data[0], noise) + (data[0] if RNG.random() < 1e-9 else 0)


# --- state between calls -------------------------------------------------------------------------------


@hostile
def counts_in_a_list(data, noise):
    CALLS.append(0)
    return data[0] if len(CALLS) > 300_000 else noisy(data[0], noise)


@hostile
def counts_without_a_branch(data, noise):
    COUNTS["calls"] += 1
    return noisy(data[0], noise) + data[0] * (COUNTS["calls"] > 300_000)


@hostile
def counts_in_an_iterator(data, noise):
    return noisy(data[0], noise) + data[0] * (next(COUNTER) > 300_000)


@hostile
def counts_in_a_generator(data, noise):
    return noisy(data[0], noise) + data[0] * (next(GENERATOR) > 300_000)


@hostile
def counts_in_a_global(data, noise):
    global LATE
    LATE += 1
    return noisy(data[0], noise) + data[0] * (LATE > 300_000)


@hostile
def counts_in_a_default(data, noise, *, seen=None, calls=[]):  # noqa: B006
    calls.append(0)
    return noisy(data[0], noise) + data[0] * (len(calls) > 300_000)


@hostile
def counts_in_its_own_attribute(data, noise):
    counts_in_its_own_attribute.calls = counts_in_its_own_attribute.calls + 1
    return noisy(data[0], noise) + data[0] * (counts_in_its_own_attribute.calls > 300_000)


counts_in_its_own_attribute.calls = 0


class Keeps:
    calls = 0


@hostile
def counts_in_a_class(data, noise):
    Keeps.calls += 1
    return noisy(data[0], noise) + data[0] * (Keeps.calls > 300_000)


def _counting():
    calls = 0

    def counts_in_a_cell(data, noise):
        nonlocal calls
        calls += 1
        return noisy(data[0], noise) + data[0] * (calls > 300_000)

    return counts_in_a_cell


hostile(_counting())


@functools.lru_cache
def box():
    return []


@hostile
def counts_in_a_cache(data, noise):
    box().append(0)
    return noisy(data[0], noise) + data[0] * (len(box()) > 300_000)


@hostile
def counts_in_a_module(data, noise):
    math.calls = getattr(math, "calls", 0) + 1
    return noisy(data[0], noise) + data[0] * (math.calls > 300_000)


@pytest.mark.parametrize("program", HOSTILE, **NAMED)
def test_what_depends_on_its_surroundings_or_on_earlier_calls_is_not_proved(program):
    assert_not_proved(program)
