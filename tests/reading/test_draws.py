"""Is every row of the table of draws what the library does?"""

import inspect
import random
import secrets

import numpy as np
import pytest
from scipy import stats

from dpaudit.reading.draws import (
    OF_NUMPY,
    OF_NUMPY_ALONE,
    OF_RANDOM,
    OF_RANDOM_ALONE,
    OF_SCIPY,
    OF_SECRETS,
    Kind,
    is_maker,
    is_seeder,
    source_of,
)
from dpaudit.reading.runs.draws import draws_of_python

VALUES = {
    "n": 20, "p": 0.3, "ngood": 8, "nbad": 9, "nsample": 5, "left": -1.0, "mode": 0.5, "right": 2.0, "low": -1.0,
    "high": 3.0, "a": 2.5, "b": 3.5, "lam": 2.0, "mu": 1.0, "kappa": 2.0, "mean": 1.5, "sigma": 2.0, "loc": 1.0,
    "scale": 2.0, "shape": 2.0, "df": 4.0, "dfnum": 3.0, "dfden": 5.0, "nonc": 1.5, "lambd": 2.0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "args"),
    [("random", ()), ("uniform", (2, 7)), ("uniform", (-0.3, 1e3)), ("expovariate", (0.7,)), ("expovariate", (1e-9,))],
)
def test_many_numbers_of_random_are_those_that_it_draws_one_by_one(name, args):
    many, one = random.Random(5), random.Random(5)
    source = source_of(getattr(random, name))
    for own in (many, one):
        own.gauss(0, 1)  # which leaves one for the next time
        own.random()
    for count in (1, 700, 5_000):
        drawn = draws_of_python(source, args, {}, many, count)
        assert drawn is not None and drawn.tolist() == [getattr(one, name)(*args) for _ in range(count)]
    assert many.getstate() == one.getstate()


def functions():
    """Every function of the table, with a way to start its generator again."""
    rows = []
    rng, legacy, own = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
    start = rng.bit_generator.state

    def again():
        rng.bit_generator.state = start
        legacy.seed(0)
        own.seed(0)
        np.random.seed(0)  # noqa: NPY002
        random.seed(0)

    for name in OF_NUMPY:
        rows += [(Kind.GENERATOR, getattr(rng, name, None)), (Kind.LEGACY, getattr(np.random, name, None))]
        rows += [(Kind.LEGACY, getattr(legacy, name, None))]
    for name in OF_RANDOM:
        rows += [(Kind.PYTHON, getattr(random, name)), (Kind.PYTHON, getattr(own, name))]
    return [
        pytest.param(kind, each, again, id=f"{kind.name}-{each.__name__}-{place}")
        for place, (kind, each) in enumerate(rows)
        if each is not None
    ]


def same(first, second):
    return np.array_equal(first, second) and type(first) is type(second)


@pytest.mark.parametrize(("kind", "function", "again"), functions())
def test_a_row_has_the_names_the_order_and_the_defaults_of_the_function(kind, function, again):
    source = source_of(function)
    assert source is not None
    assert source.kind is kind
    given = {name: VALUES[name] for name in source.law.parameters}
    shapes = [()] if kind is Kind.PYTHON else [(), (3,)]
    for size in shapes:
        again()
        placed = function(*given.values(), *size)
        again()
        named = function(**given, **({"size": 3} if size else {}))
        assert same(placed, named)
        bound, asked = source.bound((*given.values(), *size), {})
        assert (bound, asked) == (given, 3 if size else None)
        assert source.bound((), {**given, **({"size": 3} if size else {})}) == (bound, asked)
    try:
        again()
        plainly = function()
    except TypeError:
        assert source.bound((), {}) is None
    else:
        again()
        assert same(plainly, function(**source.bound((), {})[0]))
    assert source.bound((*given.values(), None, None), {}) is None
    assert source.bound((), {**given, "no_such": 1}) is None
    if given:
        assert source.bound(tuple(given.values()), {next(iter(given)): 1.0}) is None


@pytest.mark.parametrize(("kind", "function", "again"), functions())
def test_noise_of_a_scale_is_scaled_and_moved_as_the_row_says(kind, function, again):
    law = source_of(function).law
    if law.scale is None or not law.parameters:
        return
    given = {name: VALUES[name] for name in law.parameters}
    again()
    drawn = function(**given)
    scale, location = law.scale(**given), given[law.location] if law.location else 0.0
    unit = {name: float(name in ("scale", "sigma", "high", "b", "lambd")) for name in given}
    again()
    assert drawn == pytest.approx(location + scale * function(**unit))


@pytest.mark.parametrize("name", OF_SCIPY)
def test_distributions_of_scipy_are_moved_and_scaled(name):
    distribution = getattr(stats, name)
    law = source_of(distribution.rvs).law
    if law is None:
        assert not OF_SCIPY[name]
        return
    drawn = [distribution.rvs(loc=2.0, scale=3.0, random_state=5), distribution.rvs(random_state=5)]
    assert drawn[0] == pytest.approx(2.0 + 3.0 * drawn[1])
    assert law.scale(**source_of(distribution.rvs).bound((2.0, 3.0), {})[0]) == 3.0
    frozen = source_of(distribution(scale=3.0).rvs)
    assert frozen.law.scale() == 3.0
    assert source_of(distribution(loc=1.0).rvs).law is None


def test_everything_that_draws_has_a_row():
    """What a generator offers, and is in no table, would be taken for no draw."""
    others = {"bit_generator", "spawn", "get_state", "set_state", "seed", "getstate", "setstate", "test"}
    known = {*OF_NUMPY, *OF_NUMPY_ALONE}
    for kind in (np.random.Generator, np.random.RandomState):
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert not public - known - others
    public = {name for name, each in inspect.getmembers(random.Random) if callable(each) and not name.startswith("_")}
    assert not public - {*OF_RANDOM, *OF_RANDOM_ALONE} - others - {"VERSION"}
    drawing = {name for name in secrets.__all__ if name not in ("SystemRandom", "compare_digest")}
    assert not drawing - set(OF_SECRETS)


def test_sources_are_told_by_what_they_are():
    rng, legacy, own = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
    assert source_of(rng.laplace).owner is rng
    assert source_of(legacy.laplace).owner is legacy
    assert source_of(own.gauss).owner is own
    assert source_of(np.random.laplace).owner is None
    assert source_of(random.SystemRandom().gauss).kind is Kind.PYTHON

    class Shadow:
        def laplace(self, loc, scale):
            return 1.0

    class Named(random.Random):
        def gauss(self, mu=0.0, sigma=1.0):
            return mu

    assert source_of(Shadow().laplace) is None
    assert source_of(Named().gauss) is None
    for each in (len, np.sum, rng.spawn, [].append, "".join, stats.norm.pdf, np.random.seed, None, 3):
        assert source_of(each) is None
    assert all(map(is_maker, (np.random.default_rng, np.random.RandomState, random.Random, np.random.Generator)))
    assert not any(map(is_maker, (len, np.random.laplace, np.array)))
    assert all(map(is_seeder, (np.random.seed, random.seed, legacy.seed, own.seed, own.setstate, random.setstate)))
    assert not any(map(is_seeder, (rng.laplace, len, np.random.laplace)))
