"""Does a refusal name a form that is read, and is that form proved with the bound that it is said to have?"""

from __future__ import annotations

import math
import re

import pytest

import dpaudit as dp
from dpaudit.errors import UsageError
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


def test_the_form_is_proved_and_chooses_as_permute_and_flip_does():
    found = dp.prove(as_it_is_told, length=3, relation="queries", claim="epsilon=1", runs=400, seed=0)
    assert str(found.verdict) == "proved" and found.upper.value == 1
    # of two scores, one behind by s, the worse wins with probability exp(−s/2)/2: the difference of two exponentials
    behind, runs = 1.0, 40_000
    import numpy as np

    rng = np.random.default_rng(5)
    worse = rng.exponential(2, runs) - behind > rng.exponential(2, runs)
    assert worse.mean() == pytest.approx(math.exp(-behind / 2) / 2, abs=4 * 0.5 / math.sqrt(runs))
