"""Is any program PROVED that does something else than what was read of it? Hostile programs, and their honest twins."""

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

import dpaudit as dp
from dpaudit.program.fold import Emit, Fold, Stop

HOSTILE: list = []
HOSTILE_FOLDS: list = []
HOSTILE_EXACT: list = []
HONEST: list = []
CALLS: list = []
COUNTER = itertools.count()
COUNTS = {"calls": 0}
GENERATOR = (number for number in range(10**9))
RNG = random.Random(0)
LATE = 0


def hostile(program):
    HOSTILE.append(program)
    return program


def honest(program):
    HONEST.append(program)
    return program


def noisy(x, noise):
    return x + noise.laplace(1)


# --- branches that something else than a number decides ------------------------------------------------


@hostile
def leaks_large_floats(data, noise):
    x = data[0]
    if type(x) in (int, float) and abs(x) > 1e6:
        return x
    return noisy(x, noise)


@hostile
def leaks_equal_objects(data, noise):
    if data[0] is data[1]:
        return data[0]
    return noisy(data[0], noise)


@hostile
def leaks_whole_numbers(data, noise):
    if isinstance(data[0], int):
        return data[0]
    return noisy(data[0], noise)


@hostile
def leaks_numpy(data, noise):
    if isinstance(data[0], np.generic):
        return data[0]
    return noisy(data[0], noise)


@hostile
def leaks_on_overflow(data, noise):
    large = data[0] * 10**300 * 10**300
    if large - large != 0:
        return data[0]
    return noisy(data[0], noise)


@hostile
def divides_by_nothing(data, noise):
    x = data[0]
    try:
        1 / (x - x)
    except ZeroDivisionError:
        return noisy(x, noise)
    return x


@hostile
def knows_the_noise(data, noise):
    if type(noise).__name__ == "SymbolicNoise":
        return noisy(data[0], noise)
    return data[0]


@hostile
def knows_the_noise_by_module(data, noise):
    if "unknown" in type(noise).__module__:
        return noisy(data[0], noise)
    return data[0]


@hostile
def knows_an_attribute(data, noise):
    if hasattr(data[0], "expression"):
        return noisy(data[0], noise)
    return data[0]


@hostile
def knows_an_attribute_of_noise(data, noise):
    if hasattr(noise, "decisions"):
        return noisy(data[0], noise)
    return data[0]


@hostile
def asks_for_an_attribute(data, noise):
    if getattr(data[0], "is_whole", None) is None:
        return data[0]
    return noisy(data[0], noise)


@hostile
def knows_the_class(data, noise):
    if data[0].__class__ is float and type(data[0]) is not float:
        return noisy(data[0], noise)
    return data[0]


@hostile
def expression_by_type(data, noise):
    return [noisy(data[0], noise), data[0]][type(data[0]) is float]


@hostile
def factor_by_type(data, noise):
    return noisy(data[0], noise) + (type(noise).__name__ == "ScalarNoise") * data[0]


@hostile
def both_arcs_by_place(data, noise):
    out = []
    for place, x in enumerate(data):
        if (type(x) is float) + (place == 0) > 0:
            out.append(x if type(x) is float else noisy(x, noise))
        else:
            out.append(noisy(x, noise))
    return out


@hostile
def rare_both_arcs(data, noise):
    out = []
    for place, x in enumerate(data):
        large = (type(x) is float) * (x > 1000)
        if large + (place == 0):
            out.append(x if large else noisy(x, noise))
        else:
            out.append(noisy(x, noise))
    return out


@hostile
def default_that_leaks(data, noise):
    out = data[0]
    if type(data[0]).__name__ == "Symbol":
        out = noisy(data[0], noise)
    return out


@hostile
def assertion(data, noise):
    assert type(data[0]) is not float, data[0]
    return noisy(data[0], noise)


@hostile
def by_size(data, noise):
    if sys.getsizeof(data[0]) == 24:
        return data[0]
    return noisy(data[0], noise)


@hostile
def by_identity(data, noise):
    if id(data[0]) == id(data[-1]) and len(data) > 1:
        return data[0]
    return noisy(data[0], noise)


@hostile
def by_memory(data, noise):
    if sys.getrefcount(data[0]) > 10**6:
        return data[0]
    return noisy(data[0], noise)


@hostile
def matched_by_class(data, noise):
    match data[0]:
        case int():
            return data[0]
    return noisy(data[0], noise)


@hostile
def swallows_what_is_refused(data, noise):
    try:
        text = str(data[0])
    except BaseException:
        return noisy(data[0], noise)
    return text


@hostile
def swallows_a_type_error(data, noise):
    try:
        return [data[0]][data[0] - data[0]]
    except TypeError:
        return noisy(data[0], noise)


@hostile
def handler_of_overflow(data, noise):
    try:
        return noisy(data[0], noise)
    except OverflowError:
        return data[0]


@hostile
def finds_a_symbol(data, noise):
    if any("ymbol" in kind.__name__ for kind in type(data[0]).__mro__):
        return noisy(data[0], noise)
    return data[0]


@hostile
def comprehension_by_type(data, noise):
    return [x for x in data if type(x) is float] or noisy(data[0], noise)


@hostile
def conditional_by_type(data, noise):
    return data[0] if type(data[0]) is float else noisy(data[0], noise)


@hostile
def key_never_called(data, noise):
    class Odd(list):
        def __len__(self):
            return 1

    made = Odd()
    if type(data[0]) is float:
        made.append(data[0])
    return [*made, noisy(data[0], noise)]


@hostile
def helper_by_type(data, noise):
    return helper(data[0], noise, type(data[0]) is float)


def helper(x, noise, flag):
    if flag:
        return x
    return noisy(x, noise)


@hostile
def partial_by_type(data, noise):
    return functools.partial(helper, data[0], noise)(type(data[0]) is float)


@hostile
def flag_in_a_list(data, noise):
    flags = []
    flags.append(type(data[0]) is float)
    if flags[0]:
        return data[0]
    return noisy(data[0], noise)


@hostile
def flag_in_an_attribute(data, noise):
    class Box:
        flag = False

    box = Box()
    box.flag = type(data[0]) is float
    if box.flag:
        return data[0]
    return noisy(data[0], noise)


@hostile
def flag_in_a_closure(data, noise):
    flag = False

    def look():
        nonlocal flag
        flag = type(data[0]) is float

    look()
    if flag:
        return data[0]
    return noisy(data[0], noise)


@hostile
def code_that_looks_at_itself(data, noise):
    if code_that_looks_at_itself.__code__.co_firstlineno > 10**6:
        return data[0]
    return noisy(data[0], noise)


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


@hostile
def tiny_branch(data, noise):
    z = data[0] + noise.laplace(1)
    if 1e-12 * z > 0:
        return data[0] if type(z) is float else z
    return z


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


# --- honest twins --------------------------------------------------------------------------------------


@honest
def plain(data, noise):
    return noisy(data[0], noise)


@honest
def checked(data, noise, *, epsilon=1, mode="add"):
    if epsilon <= 0:
        raise ValueError("epsilon")
    if mode == "subtract":
        return data[0] - noise.laplace(1 / epsilon)
    return data[0] + noise.laplace(1 / epsilon)


@honest
def guarded_length(data, noise):
    if not data or len(data) < 1:
        return None
    return noisy(data[0], noise)


@honest
def tried_parameter(data, noise, *, scale=1):
    try:
        finite = 0 < scale < math.inf
    except TypeError:
        finite = False
    if not finite:
        raise ValueError("scale")
    return data[0] + noise.laplace(scale)


@honest
def first_maximum(data, noise):
    best = winner = None
    for place, score in enumerate(data):
        value = score + noise.laplace(2)
        if winner is None or value > best:
            best, winner = value, place
    return winner


@honest
def impossible_branch(data, noise):
    z = noisy(data[0], noise)
    if z > 0:
        if z < 0:
            return data[0]
        return 1
    elif z <= 0:
        return 0
    else:
        return data[0]


@honest
def clamped(data, noise):
    return max(0, min(noisy(data[0], noise), 10))


@honest
def helper_of_parameters(data, noise, *, epsilon=1, kind="laplace"):
    return data[0] + drawn(noise, 1 / epsilon, kind)


def drawn(noise, scale, kind):
    if kind == "gumbel":
        return noise.gumbel(scale)
    if kind == "laplace":
        return noise.laplace(scale)
    raise ValueError(kind)


@honest
def first_only(data, noise):
    for x in data:
        return noisy(x, noise)
    return None


@honest
def coins(data, noise):
    if noise.bernoulli(0.5):
        return noisy(data[0], noise)
    return noise.choice(["a", "b"])


@honest
def argmax_of_many(data, noise):
    return noise.argmax([x + noise.gumbel(4) for x in data])


@honest
def nested_function(data, noise, *, doubled=False):
    def twice(x):
        return 2 * x

    value = noisy(data[0], noise)
    return twice(value) if doubled else value


@honest
def table_of_weights(data, noise, *, weights=(0, 1)):
    total = 0
    for weight, x in zip(weights, data, strict=False):
        if weight == 0:
            continue
        total += weight * x
    return total + noise.laplace(1)


@honest
def sorts(data, noise):
    return sorted(range(len(data)), key=[x + noise.laplace(4) for x in data].__getitem__)


@functools.lru_cache
def scale_of(epsilon):
    return 1 / epsilon


@honest
def cached_parameters(data, noise, *, epsilon=1):
    return data[0] + noise.laplace(scale_of(epsilon))


@honest
def raises_publicly(data, noise):
    if noisy(data[0], noise) > 3:
        raise ValueError("above")
    return 0


@honest
def loops_with_cutoff(data, noise, *, cutoff=5):
    level, above, out = noise.laplace(2), 0, []
    for x in data:
        out.append(bool(x + noise.laplace(4 * cutoff) >= level))
        if out[-1]:
            above += 1
            if above == cutoff:
                break
    return out


@honest
def dictionary(data, noise):
    return {place: x + noise.laplace(2) for place, x in enumerate(data)}


@honest
def exact_thresholds(data, noise):
    z = noisy(data[0], noise)
    return "low" if z < -1 else "high" if z > 1 else "middle"


@honest
def unpacked(data, noise):
    first, *_ = data
    return noisy(first, noise)


NAMED = {"ids": lambda each: getattr(each, "__name__", None) or getattr(getattr(each, "step", None), "__name__", None)}


def verdict_of(program, **options):
    """What a proof comes to: a verdict, or None where the program is refused."""
    try:
        return dp.prove(program, claim="epsilon=20", runs=0, seed=0, **options)
    except dp.UsageError:
        return None


@pytest.mark.parametrize("program", HOSTILE, **NAMED)
def test_what_runs_otherwise_than_it_was_read_is_not_proved(program):
    found = verdict_of(program, length=2, relation="queries")
    if found is not None:
        assert found.verdict is not dp.Verdict.PROVED
        assert found.upper is None and found.exact is None and found.proof.certificate is None
        assert found.proof.comparison.open_ends and found.proof.comparison.open_ends[0] in found.reason


@pytest.mark.parametrize("fold", HOSTILE_FOLDS, **NAMED)
def test_a_fold_that_runs_otherwise_is_not_proved(fold):
    found = verdict_of(fold, relation="queries(one)")
    assert found is None or (found.verdict is not dp.Verdict.PROVED and found.proof.comparison.open_ends)


@pytest.mark.parametrize("program", HOSTILE_EXACT, **NAMED)
def test_an_enumerated_program_that_runs_otherwise_is_not_proved(program):
    found = verdict_of(program, domain=[0, 1], relation="replace")
    assert found is None or (found.verdict is not dp.Verdict.PROVED and found.proof.comparison.open_ends)


@pytest.mark.parametrize("program", HONEST, **NAMED)
def test_honest_twins_are_proved(program):
    found = dp.prove(program, claim="epsilon=20", length=2, relation="queries", runs=0, seed=0)
    assert found.verdict is dp.Verdict.PROVED
    assert found.proof.comparison.open_ends == () and found.proof.comparison.runs >= 50
    assert found.proof.comparison.compared == found.proof.comparison.paths


def test_there_are_enough_of_them():
    assert len(HOSTILE) + len(HOSTILE_FOLDS) + len(HOSTILE_EXACT) >= 60 and len(HONEST) >= 20


def test_an_honest_domain_is_proved():
    assert dp.prove(bit, domain=[0, 1], relation="replace", claim="epsilon=1.1", runs=0, seed=0).verdict is (
        dp.Verdict.PROVED
    )
