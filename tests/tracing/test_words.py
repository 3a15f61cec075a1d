# ruff: noqa: NPY002 – targets draw from what people draw from
"""Does each program get its word, are prices and losses exact, and does no correct program raise an alarm?"""

import functools
import math
import random

import numpy as np
import pytest
import scipy.stats

import dpaudit as dp
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.pair import Word, trace_pair
from dpaudit.tracing.runs import FollowedTarget

ONE_MORE = ([1.0], [1.0, 1.0])
ANSWERS = ([1.0, 2.0, 3.0], [2.0, 3.0, 2.0])


@functools.cache
def _traced(function, first, claim):
    own = mechanism(function)
    pair = ANSWERS if first else ONE_MORE
    return trace_pair(FollowedTarget(own, own.parameters_with({})), pair, dp.parse_claim(claim), seed=0, paths=6)


def traced(function, pair=ONE_MORE, claim="epsilon=1"):
    if pair in (ONE_MORE, ANSWERS):
        return _traced(function, pair is ANSWERS, claim)
    own = mechanism(function)
    return trace_pair(FollowedTarget(own, own.parameters_with({})), pair, dp.parse_claim(claim), seed=0, paths=6)


# --- programs that keep ε = 1, and the traps in which a false alarm lay -----------------------------------------


def module_functions(data):
    return len(data) + np.random.laplace(0, 1)


def location(data, rng):
    return rng.laplace(len(data), 1.0)


def fresh_generator(data):
    return len(data) + np.random.default_rng().laplace()


def fresh_state(data):
    return len(data) + np.random.RandomState().laplace()


def of_random(data):
    return len(data) + random.expovariate(1.0) - random.expovariate(1.0)


def of_scipy(data):
    return len(data) + scipy.stats.laplace.rvs(scale=1.0)


def inverse_transform(data, rng):
    u = rng.random() - 0.5
    return len(data) - np.sign(u) * math.log(1 - 2 * abs(u)) * 1.05


def two_geometric(data, rng):
    p = 1 - math.exp(-1)
    return len(data) + rng.geometric(p) - rng.geometric(p)


def post_processed(data, rng):
    noisy = len(data) + rng.laplace()
    return {"rounded": round(noisy), "clipped": max(noisy, 0.0), "text": f"{noisy:.1f}"}


def into_an_array(data, rng):
    out = np.zeros(2)
    out[0] = len(data) + rng.laplace()
    return out


def adaptive(data, rng):
    first = len(data) + rng.laplace(0, 2)
    return first, float(np.dot(data, np.ones(len(data)))) * np.clip(first, 0, 1) + rng.laplace(0, 2)


def noisy_max(data, rng):
    return int(np.argmax(np.asarray(data) + rng.laplace(0, 2, size=len(data))))


def noisy_max_of_python(data, rng):
    noisy = [value + rng.laplace(0, 2) for value in data]
    return max(range(len(noisy)), key=noisy.__getitem__)


def rejection(data, rng):
    while True:
        noise = rng.laplace(0, 1)
        if abs(noise) < 50:
            return len(data) + noise


def weighted_coin(data, rng):
    return bool(rng.random() < 1 / (1 + math.exp(-1 if len(data) > 1 else 0)))


def random_sign(data, rng):
    return len(data) + rng.choice([-1.0, 1.0]) * rng.exponential(1.0)


def sign_of_too_little(data, rng):
    """The sign alone is private enough, or not, whatever a shift costs: no alarm may be certain."""
    return bool(len(data) + rng.laplace(0, 0.1) > -1000)


CORRECT = [
    module_functions, location, fresh_generator, fresh_state,
    of_random, of_scipy, inverse_transform, two_geometric, post_processed, into_an_array,
    adaptive, noisy_max, noisy_max_of_python, rejection, weighted_coin, random_sign,
]  # fmt: skip
OF_ANSWERS = {noisy_max, noisy_max_of_python}


UNSUPPORTED = [rejection, random_sign, post_processed]


@pytest.mark.parametrize("target", UNSUPPORTED, ids=lambda target: target.__name__)
@pytest.mark.slow
def test_correct_programs_raise_no_alarm(target):
    """Nor do those below, which are supported."""
    found = traced(target)
    assert found.worst.word <= Word.NOT_PRICED, [each.text for each in found.worst.found]


SUPPORTED = [each for each in CORRECT if each not in UNSUPPORTED]


@pytest.mark.parametrize("target", SUPPORTED, ids=lambda target: target.__name__)
@pytest.mark.slow
def test_they_are_supported_and_the_same_with_half_the_claim_is_not(target):
    pair = ANSWERS if target in OF_ANSWERS else ONE_MORE
    assert traced(target, pair).worst.word is Word.SUPPORTED
    if target is not weighted_coin and target not in OF_ANSWERS:
        assert traced(target, pair, "epsilon=0.49").worst.word >= Word.NOT_SUPPORTED


@pytest.mark.slow
def test_a_sign_is_never_certain():
    assert traced(sign_of_too_little).worst.word <= Word.NOT_SUPPORTED
    assert traced(sign_of_too_little).certain is None


# --- programs that do not keep it -------------------------------------------------------------------------------


def fixed_seed(data):
    return len(data) + np.random.default_rng(42).laplace()


def seeded_inside(data):
    np.random.seed(1)
    return len(data) + np.random.laplace()


def constant_part(data, rng):
    return [len(data) + rng.laplace(), len(data)]


def not_a_number(data, rng):
    return (math.nan if len(data) > 1 else 1.0) + rng.laplace()


def one_noise(data, rng):
    return np.array([len(data), -len(data)]) + rng.laplace()


def keys(data, rng):
    return {name: 1 + rng.laplace() for name in range(len(data))}


def whole_noise(data, rng):
    return len(data) / 2 + rng.geometric(0.5) - rng.geometric(0.5)


LEAKS = [fixed_seed, seeded_inside, constant_part, not_a_number, one_noise, keys]


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize("target", LEAKS, ids=lambda target: target.__name__)
def test_leaks_are_certain(target):
    found = traced(target)
    assert found.worst.word is Word.LEAKS
    assert found.certain.epsilon == math.inf


def scale_of_the_data(data, rng):
    return len(data) + rng.laplace(0, 2 / len(data))


def noise_times_data(data, rng):
    return 5 + rng.laplace() * len(data)


def one_sided(data, rng):
    return max(len(data) - 1, 0) + rng.exponential(1.0) if len(data) else None


@pytest.mark.slow
@pytest.mark.parametrize("target", [scale_of_the_data, noise_times_data], ids=lambda target: target.__name__)
def test_a_scale_that_depends_on_the_data_is_certain_at_its_line(target):
    found = traced(target).worst
    assert found.word is Word.VIOLATED
    assert target.__name__ in found.found[0].where


# --- (U) and (L), against losses that are known -----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.25, 0.9, 1.0, 3.0])
def test_the_price_of_laplace_noise_is_its_loss_and_is_certain(scale):
    def release(data, rng):
        return [len(data) + rng.laplace(0, scale), 2 * (len(data) + rng.laplace(0, 2 * scale))]

    found = traced(release)
    assert found.worst.price.epsilon == pytest.approx(1.5 / scale)
    assert found.certain.epsilon == pytest.approx(1.5 / scale)
    assert (found.worst.word is Word.VIOLATED) == (1.5 / scale > 1)
    assert found.worst.word in (Word.VIOLATED, Word.SUPPORTED)


@pytest.mark.slow
def test_gaussian_noise_is_judged_at_the_delta_of_the_claim():
    def release(data, rng):
        return np.full(4, float(len(data))) + rng.normal(0, 4.0, size=4)  # μ = √4/4 = 0.5

    assert traced(release, claim="mu=0.51").worst.word is Word.SUPPORTED
    assert traced(release, claim="mu=0.49").worst.word is Word.VIOLATED
    assert traced(release, claim="epsilon=2, delta=1e-4").worst.word is Word.SUPPORTED  # δ(2) = 2.0e-5 for μ = 1/2
    assert traced(release, claim="epsilon=2, delta=1e-6").worst.word is Word.VIOLATED


@pytest.mark.slow
@pytest.mark.parametrize(
    "release",
    [
        lambda data, rng: abs(len(data) + rng.laplace(0, 0.5)),
        lambda data, rng: len(data) + rng.laplace(0, 0.5) + rng.laplace(0, 0.5),
        lambda data, rng: bool(len(data) + rng.laplace(0, 0.5) > 0),
        lambda data, rng: max(len(data) + rng.laplace(0, 0.5), 0.0),
    ],
    ids=["folded", "two noises", "sign", "clipped"],
)
def test_where_the_output_does_not_determine_the_noise_nothing_is_certain(release):
    found = traced(release)
    assert found.certain is None
    assert found.worst.word in (Word.NOT_SUPPORTED, Word.NOT_PRICED)


@pytest.mark.slow
def test_choices_are_enumerated_and_their_loss_is_exact():
    def response(data, rng):
        kept = rng.choice([True, False], p=[0.8, 0.2])
        return data if kept else 1 - data

    found = traced(response, (0, 1), "epsilon=1.4")
    assert found.certain.epsilon == pytest.approx(math.log(4))
    assert found.worst.word is Word.SUPPORTED
    assert traced(response, (0, 1), "epsilon=1.3").worst.word is Word.VIOLATED


def test_whole_noise_hides_no_part_of_a_whole():
    assert traced(whole_noise).worst.word is Word.NOT_SUPPORTED


@pytest.mark.slow
def test_a_fixed_seed_is_named_where_code_branches_too():
    def release(data):
        noisy = len(data) + np.random.default_rng(7).laplace()
        return noisy if noisy > 0 else 0.0

    found = traced(release).worst
    assert found.word is Word.LEAKS
    assert any("seeded with 7" in each.text for each in found.found)


def test_an_unknown_law_is_not_priced():
    assert traced(lambda data, rng: len(data) + rng.gamma(2.0)).worst.word is Word.NOT_PRICED


@pytest.mark.slow
def test_both_runs_raising_is_not_seen():
    def release(data, rng):
        raise ValueError(rng.laplace() > 9)

    assert traced(release).worst.word is Word.NOT_SEEN


# --- a maximum that is looked for step by step ------------------------------------------------------------------


def _largest(draw, start):
    def release(data):
        best, won = start, None
        for place, answer in enumerate(data):
            score = answer + draw()
            if best is None or score > best:
                best, won = score, place
        return won

    return release


@pytest.mark.slow
@pytest.mark.parametrize("start", [None, -math.inf], ids=["None", "-inf"])
@pytest.mark.parametrize(
    ("draw", "is_right"),
    [
        (lambda: np.random.laplace(0, 2.0), True),
        (lambda: np.random.gumbel(0, 2.0), True),
        (lambda: np.random.exponential(2.0), True),
        (lambda: np.random.laplace(0, 0.5), False),
        (lambda: np.random.gumbel(0, 0.5), False),
    ],
    ids=["laplace", "gumbel", "exponential", "too little laplace", "too little gumbel"],
)
def test_only_the_last_maximum_is_taken_to_be_released(draw, is_right, start):
    pair = ([3.0, 3.5, 2.0, 4.0, 3.0], [4.0, 2.5, 3.0, 3.0, 4.0])
    word = traced(_largest(draw, start), pair).worst.word
    assert (word < Word.NOT_SUPPORTED) is is_right


@pytest.mark.slow
def test_where_the_steps_are_released_their_price_is_not_exceeded_in_silence():
    def release(data):
        best, steps = -math.inf, []
        for answer in data:
            score = answer + np.random.laplace(0, 2.0)
            steps.append(bool(score > best))
            best = max(best, score)
        return steps

    assert traced(release, ([3.0] * 6, [4.0, 2.0] * 3)).worst.word >= Word.NOT_PRICED
