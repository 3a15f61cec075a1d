"""Are steps of doubles and possible sums read right, and do only fine outputs count as having low-order bits?"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpaudit.events import choose_low_bits, count_event
from dpaudit.events.partition import LARGEST_STEP, are_sums, steps
from dpaudit.evidence.event import Event, Reach, Rule, Step
from dpaudit.evidence.records import Counts
from dpaudit.privacy import ApproxDP, GaussianDP, PureDP
from dpaudit.sampling.outputs import concatenate, from_array, from_list
from dpaudit.stats.joint_region import lower_bound

pytestmark = pytest.mark.slow

laws = settings(derandomize=True, max_examples=60, deadline=None)
doubles = st.floats(allow_nan=False, allow_infinity=False)
near = st.floats(-16, 16)


def naive_step(x: float) -> float:
    """Divide by two until the numerator is odd, in exact fractions."""
    if x == 0:
        return LARGEST_STEP
    exact = Fraction(x)
    exponent = 1 - exact.denominator.bit_length()
    numerator = abs(exact.numerator)
    while numerator % 2 == 0:
        numerator, exponent = numerator // 2, exponent + 1
    return exponent


@laws
@given(st.lists(doubles, max_size=20))
def test_steps_are_those_of_exact_fractions(listed):
    assert steps(np.array(listed, dtype=float)).tolist() == [naive_step(x) for x in listed]


@pytest.mark.parametrize("x", [5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, 2.0**1023, 1.0, 3.0, -0.0, 0.1])
def test_steps_at_the_edges_of_doubles(x):
    assert steps(np.array([x]))[0] == naive_step(x)


@laws
@given(st.lists(doubles, max_size=20), doubles)
def test_steps_from_a_center_are_those_of_the_rounded_difference(listed, center):
    rest = [x - center for x in listed]
    expected = [naive_step(x) if math.isfinite(x) else LARGEST_STEP for x in rest]
    assert steps(np.array(listed, dtype=float), center).tolist() == expected


@laws
@given(st.lists(near, max_size=20), near)
def test_whatever_a_center_plus_a_double_gives_is_a_sum(added, center):
    assert are_sums(np.array([center + x for x in added]), center).all()


@laws
@given(near, near)
def test_what_is_no_sum_is_given_by_no_double_nearby(x, center):
    if are_sums(np.array([x]), center)[0] == 0:
        nearest = x - center
        tried = [nearest, math.nextafter(nearest, math.inf), math.nextafter(nearest, -math.inf)]
        assert all(center + double != x for double in tried)


def test_sums_of_small_doubles_by_enumeration():
    # all multiples of 2^-55 close to 0.3: which of them can 1 give?
    grid = 0.25 + np.arange(64) * 2.0**-54
    possible = {1 + x for x in (-0.75 + np.arange(64) * 2.0**-53).tolist()}
    assert are_sums(grid, 1.0).tolist() == [float(x in possible) for x in grid.tolist()]


def test_events_are_counted_and_said():
    outputs = from_array(np.array([0.5, 0.1, 3.0, 2.0**-60, 0.0]))
    fine = Event("e", (Rule("float", Step(0), (-52.0,), (1, 0)),))
    assert count_event(fine, outputs) == (2, 0)  # 0.1 and 2^-60
    assert str(fine) == "an output that is not a multiple of 2^-52 speaks for side 0"
    both = Event("e", (Rule("float", Step(0, 0.5), (-52.0,), (1, -1)),))
    # 0.1 − 0.5 is a multiple of 2^-54, and 2^-60 − 0.5 rounds to −0.5
    assert count_event(both, outputs) == (1, 4)
    assert both.describe(0) == "an output that is not 0.5 plus or minus a multiple of 2^-52"
    assert both.describe(1) == "an output that is 0.5 plus or minus a multiple of 2^-52"
    reach = Event("e", (Rule("[float × 2]", Reach(1, 1.0), (0.5,), (0, -1)),))
    assert count_event(reach, from_list([[0.0, 2.0**-60], [9.0, 0.5], [1.0, 1.0]])) == (0, 2)
    assert reach.describe(1) == "an output that is [float × 2] whose number 1 is a sum of 1 and a double"
    between = Event("e", (Rule("float", Step(0), (-3.0, 2.0), (0, 1, 0)),))
    assert between.describe(0) == "an output that is a multiple of 2^-3 but not a multiple of 2^2"


def learned(f, runs=400, claim=None, known=(), pair=(0.0, 1.0), seed=1):
    rng = np.random.default_rng(seed)
    sides = [np.asarray(f(data, rng, runs)) for data in pair]
    return choose_low_bits(
        from_array(sides[0]), from_array(sides[1]), claim=claim or PureDP(1), measuring=4 * runs, known=known
    )


def laplace(data, rng, size):
    return data + rng.laplace(0, 1, size)


def discrete(data, rng, size, step=2.0**-10):
    tail = 1 - math.exp(-step)
    return data + step * (rng.geometric(tail, size) - rng.geometric(tail, size))


COARSE = {
    "discrete Laplace": discrete,
    "geometric": lambda data, rng, size: discrete(data, rng, size, 1.0),
    "integers": lambda data, rng, size: np.rint(laplace(data, rng, size)).astype(int),
    "multiples of 2^-10": lambda data, rng, size: np.rint(laplace(data, rng, size) * 1024) / 1024,
    "two decimals": lambda data, rng, size: np.round(laplace(data, rng, size), 2),
    "six decimals": lambda data, rng, size: np.round(laplace(data, rng, size), 6),
    "large, two decimals": lambda data, rng, size: np.round(1e6 + 1e3 * laplace(data, rng, size), 2),
    "sevenths": lambda data, rng, size: discrete(data, rng, size, 1.0) / 7,
    "half precision": lambda data, rng, size: laplace(data, rng, size).astype(np.float16),
    "one constant": lambda data, rng, size: np.full(size, 0.1),
    "two constants": lambda data, rng, size: np.full(size, (data + 1) / 10),
    "no numbers": lambda data, rng, size: np.array(["a", "b"])[rng.integers(0, 2, size)],
    "bits": lambda data, rng, size: rng.random(size) < 0.5 + data / 4,
}


@pytest.mark.parametrize("name", COARSE)
def test_coarse_outputs_have_no_low_order_bits(name):
    assert learned(COARSE[name]) is None


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_what_is_of_low_order_goes_by_the_spread_not_by_the_unit(scale):
    assert learned(lambda data, rng, size: scale * discrete(data, rng, size), pair=(0.0, 0.0)) is None or scale != 1
    found = learned(lambda data, rng, size: scale * data + rng.laplace(0, scale, size), pair=(0.0, 1.0))
    assert found is not None


FINE = {
    "Laplace": laplace,
    "Gaussian": lambda data, rng, size: data + rng.normal(0, 1, size),
    "clamped": lambda data, rng, size: np.clip(laplace(data, rng, size), -1, 2),
    "large": lambda data, rng, size: 1000 + laplace(data, rng, size),
    "a vector": lambda data, rng, size: np.array([0, data]) + rng.laplace(0, 1, (size, 2)),
    "steps of 2^-40": lambda data, rng, size: discrete(data, rng, size, 2.0**-40),
}


@pytest.mark.parametrize("name", FINE)
def test_fine_outputs_are_read(name):
    found = learned(FINE[name])
    assert found is not None
    assert found.event.family == found.name == "low-order bits"
    assert found.share == 1.0
    assert 0 < len(found.considered) <= 12
    assert [item.predicted for item in found.considered] == sorted(
        (c.predicted for c in found.considered), reverse=True
    )


def test_only_steps_far_below_the_spread_are_asked_for():
    # half of the outputs are even multiples of 1/8 on one side, odd ones on the other: no low-order bit
    def mixed(data, rng, size):
        fine = 1000 + rng.laplace(0, 1, size)
        return np.where(rng.random(size) < 0.5, (2 * np.rint(4 * fine) + data) / 8, fine)

    edges = [learned(mixed, seed=seed).event.rules[0].edges[0] for seed in range(5)]
    assert all(edge == 0.5 or edge <= -19 for edge in edges)


def test_a_side_without_any_spread_is_left_to_the_verdict():
    assert learned(lambda data, rng, size: data * rng.laplace(0, 1, size) + 0.1) is None


def test_the_event_is_one_that_the_other_side_cannot_give():
    event = learned(laplace).event
    assert event == Event("low-order bits", (Rule("float", Reach(0, 1.0), (0.5,), (1, 0)),))
    rng = np.random.default_rng(9)
    assert count_event(event, from_array(laplace(1.0, rng, 100_000))) == (0, 0)
    assert count_event(event, from_array(laplace(0.0, rng, 100_000)))[0] > 40_000


def test_data_off_the_grid_of_its_noise_is_found():
    def unsnapped(data, rng, size):
        return (0.3 + data / 10) + discrete(0, rng, size, 2.0**-40)

    event = learned(unsnapped, runs=2_000).event
    rng = np.random.default_rng(9)
    sides = [from_array(unsnapped(data, rng, 50_000)) for data in (0, 1)]
    shares = [np.array(count_event(event, side)).max() / 50_000 for side in sides]
    assert max(shares) > 20 * min(shares)


def test_answers_that_are_known_are_tried():
    def odd(data, rng, size):
        return data + discrete(0, rng, size, 2.0**-40)

    pair = (0.7351728, 1.1351713)
    told = learned(odd, runs=500, known=pair, pair=pair).event.rules[0].score
    assert isinstance(told, Step)
    assert told.center in pair
    assert learned(odd, runs=500, pair=pair).event.rules[0].score.center not in pair


def test_the_number_that_differs_is_found_among_many():
    def wide(data, rng, size):
        answers = np.zeros(60)
        answers[41] = data
        return answers + rng.laplace(0, 1, (size, 60))

    assert learned(wide).event.rules[0].score == Reach(41, 1.0)


def test_a_form_that_only_one_side_has_is_left_to_the_verdict():
    outputs0 = from_list([1.0 / (i + 3) for i in range(50)])
    outputs1 = from_list([[1.0 / (i + 3)] for i in range(50)])
    assert choose_low_bits(outputs0, outputs1, claim=PureDP(1), measuring=100) is None
    joined = [concatenate([outputs0, from_list([[x + 1 / 7]])]) for x in (1.0, 2.0)]
    joined[1] = concatenate([from_list([1.0 / (i + 83) for i in range(50)]), joined[1].first(0)])
    assert choose_low_bits(*joined, claim=PureDP(1), measuring=100).event.rules[0].form == "float"
    assert choose_low_bits(outputs0.first(0), outputs1, claim=PureDP(1), measuring=100) is None


@pytest.mark.parametrize("claim", [PureDP(1), GaussianDP(1), ApproxDP(1, 1e-3)])
def test_the_bound_fits_the_notion(claim):
    choice = learned(laplace, claim=claim)
    assert choice.method == "odds given sides" or "joint" in choice.method
    assert (choice.weight is None) == (choice.method == "odds given sides")
    counts = Counts(runs=(500, 500), toward0=(200, 0), toward1=(0, 0))
    assert lower_bound(choice.method, counts, claim=claim, weight=choice.weight, error=0.05) > 1


def shown(f, claim, runs, seed):
    """The bound of a whole examination: a quarter of the runs for learning, a fair coin for every measuring run."""
    rng = np.random.default_rng([seed, 77])
    early, late = [rng.binomial(count, 0.5) for count in (runs // 4, runs - runs // 4)]
    parts = [(early, late), (runs // 4 - early, runs - runs // 4 - late)]
    learning, measuring = zip(
        *([from_array(f(side, rng, size)) for size in parts[side]] for side in (0, 1)), strict=True
    )
    choice = choose_low_bits(*learning, claim=claim, measuring=runs - runs // 4)
    if choice is None:
        return 0.0
    hits = [count_event(choice.event, outputs) for outputs in measuring]
    counts = Counts(runs=(parts[0][1], parts[1][1]), toward0=(hits[0][0], hits[1][0]), toward1=(hits[0][1], hits[1][1]))
    return lower_bound(choice.method, counts, claim=claim, weight=choice.weight, error=0.05)


RATES = {
    "steps of 2^-10": (discrete, PureDP(1), 200),
    "steps of 2^-40": (lambda data, rng, size: discrete(data, rng, size, 2.0**-40), PureDP(1), 200),
    "steps of 2^-40, many runs": (lambda data, rng, size: discrete(data, rng, size, 2.0**-40), PureDP(1), 10_000),
    "far from 0": (lambda data, rng, size: 1000 + laplace(data, rng, size), PureDP(1), 400),
    "a half or the other": (
        lambda data, rng, size: (
            np.where(rng.random(size) < 1 / (1 + math.exp(1 - 2 * data)), 0.1, 0.3) + rng.random(size) / 50
        ),
        PureDP(1),
        240,
    ),
    "no difference": (lambda data, rng, size: rng.laplace(0, 1, size), PureDP(0), 1_000),
    "no difference, in μ": (lambda data, rng, size: rng.normal(0, 1, size), GaussianDP(0), 1_000),
}


@pytest.mark.parametrize("name", RATES)
def test_what_keeps_its_claim_is_found_out_no_more_often_than_admitted(name):
    f, claim, runs = RATES[name]
    wrong = sum(shown(f, claim, runs, seed) > claim.value for seed in range(20))
    assert binomtest(wrong, 20, 0.05, alternative="greater").pvalue > 1e-2, f"{wrong} of 20"


def inverse(data, rng, size):
    u = rng.random(size) - 0.5
    return data - np.sign(u) * np.log(1 - 2 * np.abs(u))


@pytest.mark.parametrize("f", [laplace, inverse])
@pytest.mark.parametrize("runs", [200, 500])
def test_ordinary_noise_gives_itself_away_within_a_hundred_runs_a_side(f, runs):
    found = sum(shown(f, PureDP(1), runs, seed) > 1 for seed in range(20))
    # in at least 95 % of the seeds, unless chance says otherwise
    assert binomtest(found, 20, 0.95, alternative="less").pvalue > 0.01, f"{found} of 20"
