"""Are drawn values added up to the last bit as plain floats are, also by Python 3.12 and later, which correct sums?"""

import builtins
import functools
import itertools
import math
import operator
import statistics
import sys

import numpy as np
import pytest

from dpaudit.program import batch_value as noisy
from dpaudit.program.batch_value import corrected

_kept_sum = sum
BY_CORRECTION = sys.version_info >= (3, 12)


def draws(noise, count=5):
    """Return values of which every sum loses something, in most orders."""
    return [10 ** (3 * (place % 3)) * noise.laplace(1) for place in range(count)]


# --- sums that stay in the batch --------------------------------------------------------------------------

STAY = {
    "of a list": lambda noise: sum(draws(noise)),
    "of a tuple": lambda noise: sum(tuple(draws(noise))),
    "of a generator that draws": lambda noise: sum(1e9 * noise.gaussian(1) + 0.1 for _ in range(20)),
    "of a generator that branches": lambda noise: sum(x if x > 0 else 0.1 for x in draws(noise)),
    "from a float": lambda noise: sum(draws(noise), 0.1),
    "from a float by name": lambda noise: sum(draws(noise), start=1e16),
    "from a drawn value": lambda noise: sum(draws(noise), noise.laplace(1e9)),
    "from a sum": lambda noise: sum(draws(noise), sum(draws(noise))),
    "of sums": lambda noise: sum(sum(draws(noise)) for _ in range(3)),
    "among floats": lambda noise: sum([0.1, 0.2, 0.3, *draws(noise), 0.7, 1e16, -1e16]),
    "that cancels": lambda noise: [sum([1e16, x, -1e16]) for x in draws(noise)],
    "of what plus lost": lambda noise: (lambda x: sum([*x, -x[0], -x[1], -x[2], -x[3], -x[4]]))(draws(noise)),
    "of one": lambda noise: sum(draws(noise, 1)),
    "of zeros": lambda noise: [sum([0.0 * x]) for x in draws(noise)],
    "of zeros from negative zero": lambda noise: [sum([0.0 * x, -0.0], -0.0) for x in draws(noise)],
    "of infinities": lambda noise: sum([*draws(noise), math.inf]),
    "of nan": lambda noise: sum([*draws(noise), math.inf, -math.inf]),
    "that overflows": lambda noise: sum([1e308 + 1e307 * x * x for x in draws(noise)]),
    "of integers": lambda noise: sum(noise.discrete_laplace(5) for _ in range(5)),
    "of truth values": lambda noise: sum(x > 0 for x in draws(noise)),
    "of plain numbers": lambda noise: [sum(range(5)), sum([0.1] * 10), sum(x for x in [0.1] * 10), noise.laplace(1)],
    "of none": lambda noise: [sum([]), sum([], noise.laplace(1))],
    "of lists": lambda noise: sum([[x] for x in draws(noise)], []),  # noqa: RUF017
    "of NumPy numbers": lambda noise: sum([np.float64(0.1) + x for x in draws(noise)], np.float64(0.1)),
}


@pytest.mark.filterwarnings("ignore:.*(overflow|invalid value|divide by zero):RuntimeWarning")
@pytest.mark.parametrize("name", STAY)
def test_a_sum_is_that_of_the_plain_floats(replay, name):
    assert replay(STAY[name]).fallback_reason is None
    assert builtins.sum is _kept_sum


# --- what adds floats in C and says nothing ---------------------------------------------------------------


LEAVE = {
    "a sum kept from before": lambda noise: _kept_sum(draws(noise)),
    "kept, from a drawn value": lambda noise: _kept_sum(draws(noise), noise.laplace(1)),
    "kept, mapped": lambda noise: list(map(_kept_sum, [draws(noise), draws(noise)])),
    "kept, with arguments in a tuple": lambda noise: _kept_sum(*(draws(noise), 0.1)),
    "kept, among floats": lambda noise: _kept_sum([0.1, 0.2, 0.3, *draws(noise)]),
    "as a default": functools.partial(lambda noise, add: add(draws(noise)), add=sum),
    "integers and floats": lambda noise: sum([1, *draws(noise)]),
    "what sum and plus differ in": lambda noise: sum(draws(noise)) - functools.reduce(operator.add, draws(noise)),
    "accumulated": lambda noise: list(itertools.accumulate(draws(noise))),
    "one by one": lambda noise: operator.add(noise.laplace(1), 1e9),
    "a method": lambda noise: noise.laplace(1).__add__(0.1),
}
if BY_CORRECTION:
    LEAVE["sumprod"] = lambda noise: math.sumprod(draws(noise), [0.1] * 5)
    LEAVE["sumprod of two"] = lambda noise: math.sumprod(draws(noise), draws(noise))
    LEAVE["correlation"] = lambda noise: statistics.covariance(draws(noise), draws(noise))


@pytest.mark.parametrize("name", LEAVE)
def test_what_adds_floats_out_of_sight_is_read_run_by_run(replay, name):
    result = replay(LEAVE[name])
    assert not BY_CORRECTION or result.fallback_reason is not None


def test_leaving_says_why(replay, monkeypatch):
    monkeypatch.setattr(noisy, "CORRECTED", True)
    result = replay(lambda noise: functools.reduce(operator.add, draws(noise)))
    assert result.fallback_reason == "sum(), or another function in C that adds floats"


def test_every_plus_is_seen_as_one(replay, monkeypatch):
    monkeypatch.setattr(noisy, "CORRECTED", True)

    def program(noise):
        total, values = 0.0, draws(noise)
        for value in values:
            total += value
        values[0] += 1
        first, *others = [0.1 + value for value in values]
        return {"total": 1 + total, "others": [(lambda x: x + x)(value) for value in others], "first": first + total}

    assert replay(program).fallback_reason is None
    before = sys.gettrace()
    try:
        sys.settrace(lambda *_: lambda *_: None)
        assert replay(program, size=20).fallback_reason is None
    finally:
        sys.settrace(before)


# --- the sum itself ---------------------------------------------------------------------------------------


def naively(numbers):
    """Neumaier (1974), algorithm IV, number by number."""
    high, low = float(numbers[0]), 0.0
    for number in numbers[1:]:
        total = high + number
        low += (high - total) + number if abs(high) >= abs(number) else (number - total) + high
        high = total
    return high + low if low and math.isfinite(low) else high


def test_a_corrected_sum_equals_its_naive_twin():
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1.7e308, -1.7e308]
    for _ in range(300):
        rows = rng.laplace(size=(rng.integers(1, 7), 8)) * 10.0 ** rng.integers(-12, 12, size=(1, 8))
        rows[rng.random(rows.shape) < 0.1] = rng.choice(special)
        with np.errstate(all="ignore"):
            found = corrected([0, *rows])
        for column, value in zip(rows.T.tolist(), found.tolist(), strict=True):
            assert repr(value) == repr(naively([0 + column[0], *column[1:]]))
            assert not BY_CORRECTION or repr(value) == repr(sum(column))


def test_a_sum_that_the_program_puts_there_is_left_in_its_place(replay, monkeypatch):
    def other(values, start=0):
        return functools.reduce(lambda a, b: a + b, values, start)

    monkeypatch.setattr(builtins, "sum", other)
    assert replay(STAY["of a list"]).fallback_reason is None
    assert builtins.sum is other
    monkeypatch.undo()

    def replacing(noise):
        builtins.sum = other
        return noise.laplace(1)

    try:
        replay(replacing, size=20)
        assert builtins.sum is other
    finally:
        builtins.sum = _kept_sum
