"""Is any program PROVED that something else than a number takes on another path than the one that was read?"""

from __future__ import annotations

import functools
import sys

import numpy as np
import pytest
from support.hostile_programs import NAMED, assert_not_proved, listed

HOSTILE: list = []
hostile = listed(HOSTILE)


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
    if type(data[0]).__name__ == "SymbolicValue":
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


@hostile
def tiny_branch(data, noise):
    z = data[0] + noise.laplace(1)
    if 1e-12 * z > 0:
        return data[0] if type(z) is float else z
    return z


@pytest.mark.parametrize("program", HOSTILE, **NAMED)
@pytest.mark.slow
def test_what_branches_by_something_else_than_numbers_is_not_proved(program):
    assert_not_proved(program)
