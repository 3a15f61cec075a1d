"""Do numbers that remember their noise agree with plain ones, and with the form that they state?"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.runs import FollowedTarget


def run(function, data, **more):
    return FollowedTarget(mechanism(function), {}).run(data, 3, **more)


OPERATIONS = {
    "sums": lambda x, y: [x + y, x - y, 3.0 + x, 3 - y, -x, +y, np.float64(2) + x],
    "multiples": lambda x, y: [2 * x, x / 4, x * np.float64(3), np.multiply(y, 0.5)],
    "arrays": lambda x, y: np.array([x, y]) * np.array([2.0, 3.0]) + 1,
    "sum": lambda x, y: [sum([x, y, 1]), np.sum([x, y]), np.mean([x, y]), math.fsum([x, y])],
    "matrix": lambda x, y: np.array([[1.0, 2.0], [3.0, 4.0]]) @ np.array([x, y]),
    "other side": lambda x, y: np.array([x, y]) @ np.array([[1.0, 2.0], [3.0, 4.0]]),
    "dot": lambda x, y: [np.dot([1.0, 2.0], np.array([x, y])), np.array([x, y]).dot(np.array([1.0, 2.0]))],
    "moved": lambda x, y: np.concatenate([np.array([x]), np.stack([np.array([y, x])]).ravel()])[::-1],
    "where": lambda x, y: np.where([True, False], np.array([x, y]), 5.0),
    "put": lambda x, y: _put(np.array([x, y])),
    "cumulated": lambda x, y: np.cumsum(np.array([x, y, x])),
    "functions": lambda x, y: [abs(x), np.exp(x), math.exp(y), x * y, x**2, np.clip(x, 0, 1)],
    "decisions": lambda x, y: [x > y, max(x, y), min([x, y]), int(np.argmax([x, y])), *sorted([x, y])],
    "closed": lambda x, y: [int(x), round(x, 2), float(x), f"{x:.3f}", math.floor(y)],
}


def _put(array):
    array[0] = array[1] * 2
    array += 1
    return array


@pytest.mark.parametrize("name", OPERATIONS)
def test_what_a_followed_run_returns_is_what_a_plain_run_returns(name):
    def release(data, rng):
        return OPERATIONS[name](data[0] + rng.laplace(0, 2.0), rng.normal(data[1], 3.0))

    found = run(release, [1.0, 5.0])
    plain = np.random.Generator(np.random.PCG64(3))
    wanted = np.ravel(np.array(release([1.0, 5.0], plain), dtype=object)).tolist()
    numbers = [float(each) for each in wanted if not isinstance(each, bool | str | np.bool_)]
    assert found.output is not None
    np.testing.assert_allclose(found.output.values, numbers, rtol=1e-12)


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_form_of_an_output_gives_its_value(name):
    def release(data, rng):
        return OPERATIONS[name](data[0] + rng.laplace(0, 2.0), rng.normal(data[1], 3.0))

    found = run(release, [1.0, 5.0])
    assert found.output is not None
    np.testing.assert_allclose(found.output.form.at(found.recorder.noise()), found.output.values, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["add", "double", "minus", "scale", "take", "sum"]), max_size=8), st.integers(0, 99))
@pytest.mark.slow
def test_any_chain_of_linear_operations_is_the_form_that_it_states(steps, seed):
    def release(data, rng):
        values = np.asarray(data) + rng.laplace(size=3)
        for step in steps:
            match step:
                case "add":
                    values = values + rng.normal(size=len(values))
                case "double":
                    values = values + values
                case "minus":
                    values = 1.5 - values
                case "scale":
                    values = values * np.arange(1.0, len(values) + 1)
                case "take":
                    values = values[::-1]
                case "sum":
                    values = np.append(values, values.sum())
        return values

    found = FollowedTarget(mechanism(release), {}).run([1.0, 2.0, 3.0], seed)
    plain = release([1.0, 2.0, 3.0], np.random.Generator(np.random.PCG64(seed)))
    assert found.output is not None
    np.testing.assert_allclose(found.output.values, plain, rtol=1e-9)
    np.testing.assert_allclose(found.output.form.at(found.recorder.noise()), plain, rtol=1e-9, atol=1e-9)


def test_a_frozen_run_returns_what_was_recorded_and_knows_its_own_offset():
    def release(data, rng):
        return data + rng.laplace(0, 2.0)

    target = FollowedTarget(mechanism(release), {})
    recorded = target.run(1.0, 3)
    frozen = target.run(4.0, 5, reference=recorded)
    assert frozen.output.values == recorded.output.values
    assert frozen.output.form.offset.tolist() == [4.0]


def test_noise_that_is_handed_out_gives_the_same_output():
    def release(data, rng):
        return [data + rng.laplace(0, 2.0), rng.choice(["a", "b", "c"]), rng.random() < 0.5]

    target = FollowedTarget(mechanism(release), {})
    first = target.run(1.0, 3)
    again = target.run(1.0, 8, given=first.recorder.noise(), choices=first.recorder.choices())
    assert first.same_output(again)
    assert not first.same_output(target.run(1.0, 8))
