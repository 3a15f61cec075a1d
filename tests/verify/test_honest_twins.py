"""Are honest programs PROVED that look like hostile ones? A proof that refuses all is no proof."""

from __future__ import annotations

import functools
import math

import pytest
from support.hostile_programs import NAMED, listed

import dpaudit as dp

HONEST: list = []
honest = listed(HONEST)


def noisy(x, noise):
    return x + noise.laplace(1)


# --- honest twins --------------------------------------------------------------------------------------


@honest
def plain(data, noise):
    return noisy(data[0], noise)


@honest
def checked(data, noise, *, epsilon=1, mode="add"):
    if epsilon <= 0:
        raise ValueError("epsilon")
    if mode == "subtract":
        return data[0] - noise.laplace(1 / epsilon)
    return data[0] + noise.laplace(1 / epsilon)


@honest
def guarded_length(data, noise):
    if not data or len(data) < 1:
        return None
    return noisy(data[0], noise)


@honest
def tried_parameter(data, noise, *, scale=1):
    try:
        finite = 0 < scale < math.inf
    except TypeError:
        finite = False
    if not finite:
        raise ValueError("scale")
    return data[0] + noise.laplace(scale)


@honest
def first_maximum(data, noise):
    best = winner = None
    for place, score in enumerate(data):
        value = score + noise.laplace(2)
        if winner is None or value > best:
            best, winner = value, place
    return winner


@honest
def impossible_branch(data, noise):
    z = noisy(data[0], noise)
    if z > 0:
        if z < 0:
            return data[0]
        return 1
    elif z <= 0:
        return 0
    else:
        return data[0]


@honest
def clamped(data, noise):
    return max(0, min(noisy(data[0], noise), 10))


@honest
def helper_of_parameters(data, noise, *, epsilon=1, kind="laplace"):
    return data[0] + drawn(noise, 1 / epsilon, kind)


def drawn(noise, scale, kind):
    if kind == "gumbel":
        return noise.gumbel(scale)
    if kind == "laplace":
        return noise.laplace(scale)
    raise ValueError(kind)


@honest
def first_only(data, noise):
    for x in data:
        return noisy(x, noise)
    return None


@honest
def coins(data, noise):
    if noise.bernoulli(0.5):
        return noisy(data[0], noise)
    return noise.choice(["a", "b"])


@honest
def argmax_of_many(data, noise):
    return noise.argmax([x + noise.gumbel(4) for x in data])


@honest
def nested_function(data, noise, *, doubled=False):
    def twice(x):
        return 2 * x

    value = noisy(data[0], noise)
    return twice(value) if doubled else value


@honest
def table_of_weights(data, noise, *, weights=(0, 1)):
    total = 0
    for weight, x in zip(weights, data, strict=False):
        if weight == 0:
            continue
        total += weight * x
    return total + noise.laplace(1)


@honest
def sorts(data, noise):
    return sorted(range(len(data)), key=[x + noise.laplace(4) for x in data].__getitem__)


@functools.lru_cache
def scale_of(epsilon):
    return 1 / epsilon


@honest
def cached_parameters(data, noise, *, epsilon=1):
    return data[0] + noise.laplace(scale_of(epsilon))


@honest
def raises_publicly(data, noise):
    if noisy(data[0], noise) > 3:
        raise ValueError("above")
    return 0


@honest
def loops_with_cutoff(data, noise, *, cutoff=5):
    level, above, out = noise.laplace(2), 0, []
    for x in data:
        out.append(bool(x + noise.laplace(4 * cutoff) >= level))
        if out[-1]:
            above += 1
            if above == cutoff:
                break
    return out


@honest
def dictionary(data, noise):
    return {place: x + noise.laplace(2) for place, x in enumerate(data)}


@honest
def exact_thresholds(data, noise):
    z = noisy(data[0], noise)
    return "low" if z < -1 else "high" if z > 1 else "middle"


@honest
def unpacked(data, noise):
    first, *_ = data
    return noisy(first, noise)


@pytest.mark.parametrize("program", HONEST, **NAMED)
@pytest.mark.slow
def test_honest_twins_are_proved(program):
    found = dp.prove(program, claim="epsilon=20", length=2, relation="queries", runs=0, seed=0)
    assert found.verdict is dp.Verdict.PROVED
    assert found.proof.comparison.open_ends == () and found.proof.comparison.runs >= 50
    assert found.proof.comparison.compared == found.proof.comparison.paths
