"""Does every operation on noisy values, with numbers of any kind, do what it does on plain ones?"""

import math
import operator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FLOATS = st.floats(allow_nan=True, allow_infinity=True)
INTEGERS = st.integers(-(2**55), 2**55) | st.integers(-9, 9)
NUMBERS = FLOATS | INTEGERS | st.booleans()
BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    divmod,
    operator.pow,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
    operator.eq,
    operator.ne,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lshift,
    max,
    min,
]
UNARY = [operator.neg, operator.pos, abs, round, math.floor, math.ceil, math.trunc, bool, operator.not_]


def of_one_type(numbers):
    return st.lists(numbers, min_size=2, max_size=3).map(lambda found: found * 8)


SAME_TYPE = of_one_type(FLOATS) | of_one_type(INTEGERS) | of_one_type(st.booleans())


@settings(
    derandomize=True, deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(options=SAME_TYPE, other=NUMBERS, function=st.sampled_from(BINARY), swap=st.booleans())
@pytest.mark.slow
def test_operations_with_a_plain_number(replay, options, other, function, swap):
    if function in (operator.lshift, operator.pow) and not -9 <= other <= 9:
        other = 3

    def program(noise):
        x = noise.choice(options)
        return function(other, x) if swap and function is not operator.lshift else function(x, other)

    if function is operator.pow and swap:
        options = [max(-9, min(9, option)) if option == option else 1.5 for option in options]
    assert "differs" not in str(replay(program, size=30).fallback_reason)


@settings(
    derandomize=True, deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    left=SAME_TYPE,
    right=SAME_TYPE,
    function=st.sampled_from([f for f in BINARY if f not in (operator.pow, operator.lshift)]),
)
@pytest.mark.slow
def test_operations_of_two_noisy_values(replay, left, right, function):
    result = replay(lambda noise: function(noise.choice(left), noise.choice(right)), size=40)
    assert "differs" not in str(result.fallback_reason)


@settings(derandomize=True, deadline=None, max_examples=75, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(options=SAME_TYPE, function=st.sampled_from(UNARY))
@pytest.mark.slow
def test_operations_of_one_noisy_value(replay, options, function):
    assert "differs" not in str(replay(lambda noise: function(noise.choice(options)), size=30).fallback_reason)
