"""Does a refusal name a form that is read, and is that form proved with the bound that it is said to have?"""

import inspect
import math
import re

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.errors import UsageError
from dpaudit.program.laws import LAWS
from dpaudit.program.noise import INSTEAD, Noise
from mechanisms import permute_and_flip


def noisy_max(scores, noise):
    return noise.argmax([score + noise.gaussian(1.0) for score in scores])


def rounded(scores, noise):
    return round(scores[0]) + noise.laplace(1)


def as_it_is_told(scores, noise, *, epsilon=1):
    return noise.argmax([score + noise.exponential(2 / epsilon) for score in scores])


@pytest.mark.parametrize("target", [permute_and_flip, noisy_max, rounded])
def test_a_refusal_names_a_form_that_is_read(target):
    with pytest.raises(UsageError, match=re.escape("noise.argmax([score + noise.exponential(2 / epsilon) for")):
        dp.prove(target, length=3, relation="queries", claim="epsilon=1", runs=400)


@pytest.mark.slow
def test_the_form_is_proved_and_chooses_as_permute_and_flip_does():
    found = dp.prove(as_it_is_told, length=3, relation="queries", claim="epsilon=1", runs=400, seed=0)
    assert str(found.verdict) == "proved" and found.upper.value == 1
    # of two scores, one behind by s, the worse wins with probability exp(−s/2)/2: the difference of two exponentials
    behind, runs = 1.0, 40_000
    rng = np.random.default_rng(5)
    worse = rng.exponential(2, runs) - behind > rng.exponential(2, runs)
    assert worse.mean() == pytest.approx(math.exp(-behind / 2) / 2, abs=4 * 0.5 / math.sqrt(runs))


def in_a_random_order(scores, noise, *, epsilon=1.0):
    best = max(scores)
    for index in noise.permutation(len(scores)):
        if noise.bernoulli(np.exp(epsilon * (scores[index] - best) / 2)):
            return int(index)
    return None


def gaussian_maximum(scores, noise):
    noisy = [score + noise.gaussian(2) for score in scores]
    return int(np.argmax(noisy))


def test_permute_and_flip_is_told_the_form_that_is_proved():
    with pytest.raises(UsageError, match=r"noise has no 'permutation': .*noise\.argmax\(\[score \+ noise\.exponential"):
        dp.prove(in_a_random_order, relation="queries", claim="epsilon=1", length=3)


def test_all_lines_that_are_not_read_are_told_at_once():
    with pytest.raises(UsageError) as refused:
        dp.prove(gaussian_maximum, relation="queries", claim="epsilon=1", length=3)
    first = inspect.getsourcelines(gaussian_maximum)[1]
    said = str(refused.value)
    assert f"{__name__.rpartition('.')[2]}.py:{first + 1} (" in said
    assert f"{__name__.rpartition('.')[2]}.py:{first + 2} (" in said and "noise.argmax(values) is read" in said
    assert said.count("noise.gaussian, which") == 1


def test_every_name_that_is_taught_is_none_and_its_lesson_names_one_that_is():
    for name, lesson in INSTEAD.items():
        assert not hasattr(Noise, name)
        assert any(f"noise.{known}(" in lesson for known in [*LAWS, "argmax", "choice", "uniform"])
