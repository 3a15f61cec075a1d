"""Is a program ever proved whose output tells two datasets apart with certainty, by what a reading may overlook?"""

import math
import struct
import sys

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.program.enumerate import exact_reading


class Lying(float):
    def __repr__(self):
        return "0.0"

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Text(str):
    def __repr__(self):
        return "''"

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class ShortList(list):
    def __iter__(self):
        return iter(())


class QuietError(Exception):
    def __str__(self):
        return "no"


def raising(error, **attributes):
    for name, value in attributes.items():
        setattr(error, name, value)
    raise error


def chained(error, cause):
    raise error from cause


def noted(text):
    error = ValueError("no")
    error.add_note(text)
    raise error


def in_context(error, other):
    try:
        raise other
    except KeyError:
        raise error  # noqa: B904


def of(bits):
    return struct.unpack(">d", struct.pack(">Q", bits))[0]


# what a program returns; s is True or False by the data, x a number of the data
LEAKS = {
    "zero": lambda s, x: 0.0 if s else -0.0,
    "zero of a product": lambda s, x: 0.0 * (1.0 if s else -1.0),
    "zero of an int over an int": lambda s, x: 0 / (3 if s else -3),
    "zero of a difference": lambda s, x: (-0.0 if s else 0.0) - 0,
    "zero of an unknown": lambda s, x: x * 0.0,
    "zero of an unknown, from the left": lambda s, x: 0.0 * x,
    "zero of a remainder": lambda s, x: 6.0 % (3.0 if s else -3.0),
    "zero of a quotient": lambda s, x: -0.0 // 1.0 if s else 0.0,
    "zero in a list": lambda s, x: [1, -0.0 if s else 0.0],
    "zero in a dict": lambda s, x: {"a": -0.0 if s else 0.0},
    "sign of NaN": lambda s, x: math.nan if s else -math.nan,
    "payload of NaN": lambda s, x: of((0x7FF8 << 48) + s),
    "float32": lambda s, x: np.float32(1) if s else 1.0,
    "int8": lambda s, x: np.int8(1) if s else 1,
    "int or float": lambda s, x: 1 if s else 1.0,
    "bool or int": lambda s, x: True if s else 1,
    "list or tuple": lambda s, x: [1] if s else (1,),
    "order of a dict": lambda s, x: {"a": 1, "b": 1} if s else {"b": 1, "a": 1},
    "lying float": lambda s, x: Lying(s),
    "lying text": lambda s, x: Text(s),
    "lying list": lambda s, x: ShortList([s]),
    "surrogate": lambda s, x: chr(0xD800 + s),
    "text of an exception": lambda s, x: raising(ValueError(f"record {x} is out of range")),
    "constant in the text": lambda s, x: raising(ValueError("record 1" if s else "record 2")),
    "late in the text": lambda s, x: raising(ValueError("a" * 200 + str(s))),
    "argument": lambda s, x: raising(QuietError(x)),
    "constant argument": lambda s, x: raising(QuietError(1 if s else 2)),
    "type of an argument": lambda s, x: raising(ValueError(1 if s else "1")),
    "attribute": lambda s, x: raising(ValueError("no"), record=x),
    "constant attribute": lambda s, x: raising(ValueError("no"), record=s),
    "exit code": lambda s, x: sys.exit(int(s)),
    "cause": lambda s, x: chained(ValueError("no"), KeyError(str(s))),
    "context": lambda s, x: in_context(ValueError("no"), KeyError(str(s))),
    "note": lambda s, x: noted(str(s)),
    "in a group": lambda s, x: raising(ExceptionGroup("several", [ValueError(str(s))])),
    "place in memory": lambda s, x: raising(ValueError(f"at 0x{2**40 + 16 * s:x}")),
}


def of_real_answers(leak):
    def release(data, noise):
        if noise.bernoulli(0.5):
            return 0.0
        return leak(data[0] > 0.5, data[0])

    return release


@pytest.mark.parametrize("name", LEAKS)
def test_no_certain_difference_is_proved_by_alignment(name):
    try:
        evidence = dp.prove(
            of_real_answers(LEAKS[name]), claim="epsilon=1", relation="queries", length=1, runs=0, seed=0
        )
    except UsageError:
        return
    assert evidence.verdict is not dp.Verdict.PROVED


@pytest.mark.parametrize("name", LEAKS)
def test_no_certain_difference_is_lost_by_enumeration(name):
    program = of_real_answers(LEAKS[name])
    try:
        laws = [exact_reading(program, [x]) for x in (1.0, -1.0)]
    except UsageError:
        return
    assert laws[0].weights != laws[1].weights


TWINS = {
    "noise": lambda x, noise: x + noise.laplace(1),
    "minus noise": lambda x, noise: -(x + noise.laplace(1)),
    "zero of noise": lambda x, noise: 0.0 if x + noise.laplace(1) > 0 else 0,
    "weights": lambda x, noise: 0.0 * x + x + noise.laplace(1),
    "unknown zero made 0.0": lambda x, noise: [0.0 * x + 0.0, x + noise.laplace(1)],
    "whole zero": lambda x, noise: [0 * 3, x + noise.laplace(1)],
    "distance": lambda x, noise: abs(x + noise.laplace(1)),
    "text": lambda x, noise: raising(ValueError("above 3")) if x + noise.laplace(1) > 3 else "below 3",
    "exit code": lambda x, noise: sys.exit(3) if x + noise.laplace(1) > 3 else None,
    "attribute": lambda x, noise: raising(QuietError(3), at=[1, 2.5]) if x + noise.laplace(1) > 3 else None,
}


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("name", TWINS)
def test_honest_twins_are_proved(name):
    def release(data, noise):
        return TWINS[name](data[0], noise)

    evidence = dp.prove(release, claim="epsilon=1", relation="queries", length=1, runs=0, seed=0)
    assert evidence.verdict is dp.Verdict.PROVED


EXACT_TWINS = {
    "a zero of noise": lambda data, noise: -0.0 if noise.bernoulli(0.5) else 0.0,
    "noise times minus one": lambda data, noise: -1.0 * noise.choice([0, 1]),
    "zeros that cancel": lambda data, noise: (data[0] - data[0]) * 1.0,
    "text": lambda data, noise: raising(ValueError("3")) if noise.bernoulli(0.5) else 0,
}


@pytest.mark.parametrize("name", EXACT_TWINS)
def test_honest_twins_are_enumerated(name):
    laws = [exact_reading(EXACT_TWINS[name], [x]) for x in (1.0, -1.0)]
    assert laws[0].weights == laws[1].weights


@pytest.mark.parametrize("left", [0.0, -0.0, 4.0, -2.0])
@pytest.mark.parametrize("right", [0.0, -0.0, 4.0, -2.0])
def test_the_exact_reading_has_the_zeros_of_floats(left, right):
    def program(data, noise, a, b):
        found = [a + b, a - b, a * b, -a, abs(a), +a, a * 2, 0 - a, 3 * b]
        return [*found, a / b, 0 / b] if b else found

    (text,) = exact_reading(program, [], {"a": left, "b": right}).weights
    assert text == repr(program([], None, left, right))
