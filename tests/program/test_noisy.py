"""Does a noisy value behave, in every run, like the plain number that it stands for?"""

from __future__ import annotations

import collections
import copy
import dataclasses
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

Point = collections.namedtuple("Point", ["x", "y"])


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    x: Any
    y: Any = None


# --- programs that stay in the batch ---------------------------------------------------------------------


def laplace(noise):
    return noise.laplace(1)


def arithmetic(noise):
    x, k, b = noise.laplace(2), noise.discrete_laplace(3), noise.bernoulli(0.3)
    return [x + 1, 1 - x, 2 * x * k, x - k, +x, -x, abs(x), b + b, b * 3, -b, +b, abs(b), b - True, k + 0.5, x + b, -k]


def divisions(noise):
    k, x = noise.discrete_laplace(1), noise.gaussian(1)
    return [
        x / 3,
        x // 0.7,
        x % 0.7,
        5 // x,
        5 % x,
        divmod(x, 0.3),
        k // 3,
        k % 3,
        k % -3,
        k / 7,
        divmod(k, 2),
        1 / k,
        k // k,
    ]


def zero_denominator(noise):
    k = noise.discrete_laplace(0.5)
    try:
        return 10 % k
    except ZeroDivisionError as error:
        return str(error)


def divmod_by_zero(noise):
    return divmod(noise.gaussian(1), 0)


def division_of_truths(noise):
    return noise.bernoulli(0.5) / 1, noise.bernoulli(0.5) // True, 3 / noise.bernoulli(0.5)


def powers(noise):
    x, k = noise.gaussian(1), noise.discrete_laplace(1)
    return [x**2, x**3, x**0, abs(x) ** 0.5, 2**x, 1.5**k, x**k if k >= 0 else None, abs(k) ** 2, True ** abs(k)]


def negative_power_of_zero(noise):
    return noise.choice([0, 1, 2]) ** -1


def overflowing_power(noise):
    return (100 * noise.exponential(100.0)) ** 100.0


def overflowing_product(noise):
    x = noise.gaussian(1) * 1e308 * 10
    return [x, x - x, x > 1, x == x]


def comparisons(noise):
    x, k, b = noise.laplace(1), noise.discrete_laplace(1), noise.bernoulli(0.5)
    return [x < 0, x <= k, k > 1, k >= True, k == 1, k != 1.0, b == 1, b == True, x == "a", k != None, b < k, b < 1]  # noqa: E711, E712


def huge_comparisons(noise):
    k, b, x = noise.discrete_laplace(1), noise.bernoulli(0.5), noise.gaussian(1)
    return [
        k < 2**70,
        k == 2**70,
        k > -(2**70),
        b < 2**70,
        b == 2**63,
        k < math.inf,
        k > -math.inf,
        x < 1e300,
        k == math.nan,
    ]


def chained(noise):
    return -1 < noise.laplace(1) < 1 <= noise.laplace(1)


def extremes(noise):
    values = [noise.laplace(1) for _ in range(3)]
    return [min(values), max(*values), sorted(values), sum(values), max(values, key=abs), sorted(values, reverse=True)]


def rounding(noise):
    x, k, b = noise.gaussian(30), noise.discrete_laplace(30), noise.bernoulli(0.5)
    return [
        round(x),
        math.floor(x),
        math.ceil(x),
        math.trunc(x),
        round(x, 1),
        round(x, -1),
        round(k),
        round(k, -1),
        round(b),
    ]


def rounding_what_is_not_finite(noise):
    x = noise.choice([1.0, 2.0, 1e308]) * 10
    return round(x - x)


def rounding_infinity_or_nan(noise):
    x = noise.choice([1.0, 1e308, 3.0]) * 10
    return math.floor(noise.choice([1.0, 0.0]) * x)


def membership(noise):
    k = noise.discrete_laplace(1)
    return [k in (1, 2), k not in [0], 0.5 in [k], k in range(2, 3) if k == 1 else None]


def logic(noise):
    a, b, k = noise.bernoulli(0.5), noise.bernoulli(0.5), noise.discrete_laplace(3)
    return [a & b, a | b, a ^ b, a & True, a & 3, a | k, k ^ 5, ~k, a and b, a or b, not a, k << 2, k >> 1, a ^ 1]


def logic_on_floats(noise):
    return noise.laplace(1) & 3


def inverted_float(noise):
    return 1 << noise.laplace(1)


def containers(noise):
    x, k = noise.laplace(1), noise.discrete_laplace(1)
    return {"x": x, "nested": [(x, k), {"k": k, 3: None}], "p": Point(x, 1), "r": Record(x, [k]), "text": "a"}


def varying_length(noise):
    found = []
    while noise.bernoulli(0.5):
        found.append(noise.laplace(1))
    return found


def varying_keys(noise):
    return {name: value for name in "abc" if (value := noise.laplace(1)) > 0}


def exceptions(noise):
    x = noise.laplace(1)
    if x > 1:
        raise ValueError("above 1")
    if x < -1:
        raise SystemExit(3)
    return x


def caught(noise):
    try:
        if noise.laplace(1) > 0:
            raise KeyError("positive")
    except Exception as error:
        return repr(error)
    return "fine"


def bare_except(noise):
    try:
        positive = noise.laplace(1) > 0
        return "up" if positive else "down"
    except:  # noqa: E722
        return "swallowed"


def base_exception(noise):
    try:
        if noise.laplace(1) > 0:
            return 1
    except BaseException:
        return "swallowed"
    finally:
        noise.bernoulli(0.5)
    return 0


def loop(noise):
    total, steps = 0.0, 0
    while total < 3:
        total += noise.exponential(1)
        steps += 1
    return steps, total


def ties(noise):
    return noise.argmax([noise.discrete_laplace(0.4) for _ in range(4)])


def argmax_of_mixed(noise):
    k = noise.discrete_laplace(1)
    return noise.argmax([0, k, 0.5, noise.laplace(1), True, k])


def argmax_of_plain(noise):
    return noise.argmax([1, 3, 3]), noise.argmax(["a", "c", "b"]), noise.argmax([(1, 2), (1, 3)])


def argmax_of_tuples(noise):
    return noise.argmax([(noise.bernoulli(0.5), 1), (noise.bernoulli(0.5), 2)])


def argmax_of_nan(noise):
    x = noise.choice([1.0, 1e308]) * 10
    return noise.argmax([x - x, 0.0, noise.gaussian(1)])


def choices(noise):
    return [
        noise.choice([1, 2, 3]),
        noise.choice([0.5, -0.0], weights=[1, 3]),
        noise.choice(["a", "b"]),
        noise.choice([1, 2.0, "x", None]),
        noise.choice([True, False]),
        noise.choice([2**63, 1]),
        noise.choice([-(2**63), 1]) < 0,
        noise.choice([math.nan, 1.0]),
    ]


def noisy_probability(noise):
    return noise.bernoulli(noise.uniform(0, 1)), noise.bernoulli(noise.bernoulli(0.5))


def noisy_scales(noise):
    x = abs(noise.laplace(1)) + 0.1
    return [
        noise.laplace(x),
        noise.gaussian(x),
        noise.discrete_laplace(x),
        noise.discrete_gaussian(x),
        noise.uniform(x, x + 1),
    ]


def exact_scales(noise):
    return noise.laplace(Fraction(1, 3)), noise.bernoulli(Fraction(1, 3)), noise.uniform(Fraction(1, 3), np.float32(1))


def refused_arguments(noise):
    found = []
    for draw in (
        lambda: noise.laplace(0),
        lambda: noise.gaussian(math.inf),
        lambda: noise.laplace("1"),
        lambda: noise.bernoulli(1.5),
        lambda: noise.bernoulli(None),
        lambda: noise.uniform(1, 0),
        lambda: noise.discrete_laplace(1e300),
        lambda: noise.laplace(np.array([1.0, 2.0])),
        lambda: noise.choice([]),
        lambda: noise.choice([1], weights=[-1]),
        lambda: noise.choice([1], weights=[1, 1]),
        lambda: noise.argmax([]),
    ):
        try:
            draw()
        except (ValueError, TypeError) as error:
            found.append(repr(error))
    return found, noise.laplace(1)


def defaults(noise, scale=2, *, shift=1):
    return shift + noise.laplace(scale)


def comprehensions(noise):
    values = (noise.laplace(1) for _ in range(3))
    return sum(1 for value in values if value > 0), [noise.bernoulli(0.5) for _ in range(2)]


def any_and_all(noise):
    return any(noise.laplace(1) > 1 for _ in range(3)), all([noise.bernoulli(0.9), noise.bernoulli(0.9)])


def types(noise):
    x, k, b = noise.laplace(1), noise.discrete_laplace(1), noise.bernoulli(0.5)
    kinds = (float, int, bool, str)
    return [isinstance(value, kind) for value in (x, k, b, x > 0, x + k, b + b, round(x)) for kind in kinds]


def matching(noise):
    match noise.discrete_laplace(1):
        case 0:
            return "none"
        case int(k) if k > 0:
            return "up"
        case float():
            return "float"
    return "down"


def copies(noise):
    data = {"x": [noise.laplace(1)]}
    other = copy.deepcopy(data)
    other["x"].append(copy.copy(data["x"][0]))
    return data, other


def attributes(noise):
    x = noise.laplace(1)
    return [hasattr(x, name) for name in ("shape", "array", "path", "__iter__", "__len__", "keys", "foo")]


def numpy_scalars(noise):
    x, k, b = noise.laplace(1), noise.discrete_laplace(1), noise.bernoulli(0.5)
    total = np.float64(3.0) + x
    return [
        total,
        x + np.float64(1),
        np.int64(3) * k,
        np.float64(2) > x,
        np.exp(x),
        np.sqrt(x),
        np.log1p(abs(x)),
        np.maximum(x, 0),
        np.abs(x),
        np.sign(k),
        total / k,
        np.int64(7) // k,
        np.int64(7) % k,
        (total > 0) + (total > 1),
        sum([total > 0, total > 1]),
        round(total),
        math.floor(total),
        isinstance(total, float),
        isinstance(np.int64(3) * k, int),
        ~(total > 0),
        np.bool_(True) & b,
        total == np.float64(0.0),
        total if total > 2 else None,
        divmod(total, 2),
    ]


def sparse_vector(noise):
    level, answers = noise.laplace(2), []
    for query in [0, 1, 0, 1, 1]:
        above = query + noise.laplace(4) >= level
        answers.append(bool(above))
        if above:
            break
    return answers


STAY = [value for value in list(globals().values()) if callable(value) and getattr(value, "__module__", "") == __name__]
STAY = [value for value in STAY if not isinstance(value, type)]


@pytest.mark.filterwarnings("ignore:.*(divide by zero|invalid value|overflow):RuntimeWarning")
@pytest.mark.parametrize("program", STAY, ids=lambda program: program.__name__)
@pytest.mark.slow
def test_every_run_of_a_batch_equals_its_scalar_twin(replay, program):
    result = replay(program)
    assert result.fallback_reason is None
    assert len(replay.tapes) > 0
