"""Is what a batch does not know read run by run, with a reason?"""

from __future__ import annotations

import collections
import dataclasses
import json
import math
import pickle
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit.program.outcome import entry


@dataclasses.dataclass
class Doubling:
    x: Any

    def __post_init__(self):
        self.x = self.x * 2


def leave(function):
    def program(noise):
        x = noise.laplace(1)
        return function(x)

    return program


LEAVE = {
    "float": float,
    "int": int,
    "str": str,
    "repr": repr,
    "f-string": lambda x: f"{x:.1f}",
    "percent": lambda x: "%s" % x,  # noqa: UP031
    "hash": lambda x: len({x, 1}),
    "dict key": lambda x: {x: 1}[x],
    "complex": lambda x: (x + 1j).real,
    "exp": math.exp,
    "isnan": math.isnan,
    "fsum": lambda x: math.fsum([x, 1]),
    "mean": lambda x: statistics.mean([x, 2 * x]),
    "hex": lambda x: x.hex(),
    "real": lambda x: x.real,
    "is_integer": lambda x: x.is_integer(),
    "hasattr real": lambda x: hasattr(x, "real") and hasattr(x, "is_integer"),
    "fraction": lambda x: x + Fraction(1, 3),
    "array": lambda x: np.array([x, 1.0]),
    "asarray": np.asarray,
    "object array": lambda x: np.array([x, None], dtype=object),
    "array plus": lambda x: np.array([1.0, 2.0]) + x,
    "plus array": lambda x: x + np.array([1.0, 2.0]),
    "numpy.clip": lambda x: np.clip(x, 0, 1),
    "numpy.round": lambda x: np.round(x, 1),
    "numpy.power": lambda x: np.float64(2) ** x,
    "numpy.mean": lambda x: np.mean([x, 2]),
    "float32": lambda x: np.float32(1) + x,
    "json": lambda x: json.dumps([x]),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "type": lambda x: type(x) is float,
    "type name": lambda x: type(x).__name__,
    "is True": lambda x: (x > 3.5) is True,
    "is False": lambda x: "no" if (x > -3.5) is False else "yes",
    "type and rare": lambda x: type(x) is float and x > 3,
    "huge": lambda x: x < 2**60 + 1,
    "huge product": lambda x: round(x) * 2**61 * 4,
    "not an index": lambda x: [1, 2][round(x) % 2],
    "repeated": lambda x: "ab" * abs(round(x)),
    "range": lambda x: list(range(abs(round(x)))),
    "concatenated": lambda x: "a" + x,
    "iterated": lambda x: list(x),
    "root of a negative": lambda x: x**0.5,
    "types of power": lambda x: 2 ** round(x),
    "pow with modulus": lambda x: pow(abs(round(x)), 2, 5),
    "post init": Doubling,
    "ordered dict": lambda x: collections.OrderedDict(a=[x]) if type(x) else 0,
    "own object": lambda x: _Holder(x),
    "swallowed float": lambda x: _swallow(lambda: float(x)),
    "bare retry": lambda x: _retry(lambda: float(x)),
}


class _Holder:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return hash(self.x)

    def __repr__(self):
        return f"Holder({self.x})"


def _swallow(function):
    try:
        return function()
    except:  # noqa: E722
        return "swallowed"


def _retry(function):
    while True:
        try:
            return function()
        except:  # noqa: E722
            continue


STAYS_AFTER_ALL = {"ordered dict", "post init"}


@pytest.mark.parametrize("name", LEAVE)
def test_what_the_batch_does_not_know_is_read_run_by_run_with_a_reason(replay, name):
    result = replay(leave(LEAVE[name]), size=3000 if "rare" in name or name.startswith("is ") else 200)
    if name in STAYS_AFTER_ALL:
        return
    assert result.fallback_reason
    assert all(len(path.runs) == 1 for path in result.paths)
    assert not any(isinstance(path.output, str) and path.output == "swallowed" for path in result.paths)


@pytest.mark.parametrize(
    "function",
    [
        lambda k: k * 2**61 * 4,
        lambda k: (k * 2**30 + 2**61) * (k + 2**31),
        lambda k: k * 2**61 + 2**61 + 2**61,
        lambda k: abs(k + 9) ** 60,
        lambda k: -k - 2**61 - 2**61,
    ],
)
def test_integers_do_not_wrap_around(replay, function):
    assert replay(lambda noise: function(noise.discrete_laplace(1) + 9)).fallback_reason == "an integer above 2^62"


def test_draws_that_only_one_reading_makes_are_noticed(replay):
    def program(noise):
        x = noise.bernoulli(0.5)
        if type(x) is bool:
            noise.laplace(1)
        return x

    assert "differs" in replay(program).fallback_reason


def test_noise_that_may_not_be_a_scale_falls_back_with_the_right_exception(replay):
    result = replay(lambda noise: noise.laplace(noise.gaussian(1)))
    assert result.fallback_reason
    outputs = [entry(path.output, position) for path in result.paths for position in range(len(path.runs))]
    kinds = collections.Counter(str(output)[:6] for output in outputs)
    assert 0 < kinds["raises"] < 300
