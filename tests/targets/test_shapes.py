"""What does a function ask for, and what is refused with the forms it could have?"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpaudit import GaussianDP, Mechanism, PureDP, UsageError, mechanism
from dpaudit.program.noise import ScalarNoise


def program(data, noise, *, epsilon=1):
    """Add noise.

    More words.
    """
    return data + noise.laplace(1 / epsilon)


def sampler(data, size, rng):
    return data + rng.laplace(size=size)


def sampler_of_its_own(data, size):
    return np.zeros(size) + data


def seeded(data, rng):
    return data + rng.laplace()


def opaque(data, scale=2.0):
    return data * scale


def none_by_default(data, noise=None):
    return noise.laplace(1)


def with_a_size_of_its_own(data, rng, size=10):
    return rng.random(size).sum() + data


def anything(*args, **kwargs):
    return args[0]


class Adder:
    """Adds."""

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, data, noise):
        return data + noise.laplace(self.scale)

    def release(self, data, rng, *, shift=0):
        return data + shift + rng.laplace(0, self.scale)

    @staticmethod
    def free(data, size, rng):
        return data + rng.laplace(size=size)

    @classmethod
    def of_class(cls, data, noise):
        return data + noise.laplace(1)


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def doubled(function):
    @functools.wraps(function)
    def wrapper(data, **kwargs):
        return function(2 * data, **kwargs)

    return wrapper


def noised(function):
    """An adaptor that brings the noise: the function within is exact."""

    @functools.wraps(function)
    def wrapper(data, noise, *, epsilon=1):
        return function(data) + noise.laplace(1 / epsilon)

    return wrapper


def seeded_noise(function):
    """An adaptor from rng to noise."""

    @functools.wraps(function)
    def wrapper(data, rng, **kwargs):
        return function(data, noise=ScalarNoise(rng), **kwargs)

    return wrapper


CASES: list[tuple[Callable[..., Any], str, set[str], dict[str, Any]]] = [
    (program, "program", {"noise"}, {"epsilon": 1}),
    (sampler, "sampler", {"size", "rng"}, {}),
    (sampler_of_its_own, "sampler", {"size"}, {}),
    (seeded, "seeded", {"rng"}, {}),
    (opaque, "opaque", set(), {"scale": 2.0}),
    (none_by_default, "program", {"noise"}, {}),
    (with_a_size_of_its_own, "seeded", {"rng"}, {"size": 10}),
    (anything, "opaque", set(), {}),
    (lambda data, noise: data, "program", {"noise"}, {}),
    (functools.partial(program, epsilon=2), "program", {"noise"}, {"epsilon": 2}),
    (functools.partial(functools.partial(program), epsilon=3), "program", {"noise"}, {"epsilon": 3}),
    (Adder(1.0), "program", {"noise"}, {}),
    (Adder(1.0).release, "seeded", {"rng"}, {"shift": 0}),
    (Adder.free, "sampler", {"size", "rng"}, {}),
    (Adder.of_class, "program", {"noise"}, {}),
    (counted(program), "program", {"noise"}, {"epsilon": 1}),
    (doubled(program), "program", {"noise"}, {"epsilon": 1}),
    (counted(doubled(program)), "program", {"noise"}, {"epsilon": 1}),
    (noised(lambda data: data), "program", {"noise"}, {"epsilon": 1}),
    (seeded_noise(program), "seeded", {"rng"}, {"epsilon": 1}),
    (functools.partial(counted(program), epsilon=4), "program", {"noise"}, {"epsilon": 4}),
    (functools.lru_cache(opaque), "opaque", set(), {"scale": 2.0}),
]
FILLED = {"noise": lambda: ScalarNoise(np.random.default_rng(0)), "rng": lambda: np.random.default_rng(0)}


@pytest.mark.parametrize(
    ("function", "shape", "asked", "parameters"), CASES, ids=[str(number) for number in range(len(CASES))]
)
def test_what_a_function_asks_for(
    function: Callable[..., Any], shape: str, asked: set[str], parameters: dict[str, Any]
) -> None:
    found = mechanism(function)
    assert (str(found.shape), set(found.asked), found.defaults) == (shape, asked, parameters)
    filled = {name: FILLED[name]() if name in FILLED else 3 for name in found.asked}
    found.function(1, **filled, **found.parameters_with(None))  # what it is given, it takes


def test_a_decorated_function_is_still_the_function() -> None:
    @mechanism(claim=PureDP, name="mine")
    def f(data, noise, epsilon=0.5):
        """Short."""
        return data

    assert isinstance(f, Mechanism)
    assert f(3, None) == 3
    assert (f.name, f.__name__, f.summary, str(f.shape)) == ("mine", "f", "Short.", "program")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (3, "not 3"),
        ("laplace", "not 'laplace'"),
        (lambda: 1, "takes no data"),
        (lambda *, data: 1, "takes no data"),
        (lambda **data: 1, "takes no data"),
        (lambda data, noise, rng: 1, "noise and for rng"),
        (lambda data, noise, size=None: 1, "noise and for size"),
        (max, "no readable signature"),
    ],
)
def test_what_is_no_mechanism_is_refused_with_the_forms(wrong: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refusal:
        mechanism(wrong)
    assert "f(data, noise, **parameters)" in str(refusal.value)


def test_noise_that_can_only_be_given_by_position_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(data, noise, /): return data", namespace)
    with pytest.raises(UsageError, match="noise by position only"):
        mechanism(namespace["f"])


# --- shape= says it outright ---


def test_a_callable_without_a_signature_runs_where_its_shape_is_said() -> None:
    found = mechanism(max, shape="opaque", pairs=[([1], [2])])
    assert str(found.shape) == "opaque"
    assert found([1, 2]) == 2


def test_shape_overrules_what_the_names_say() -> None:
    found = mechanism(seeded, shape="opaque")
    assert (str(found.shape), set(found.asked)) == ("opaque", set())
    with pytest.raises(UsageError, match="needs a value for rng"):
        found.parameters_with(None)
    assert found.parameters_with({"rng": 1}) == {"rng": 1}


def test_a_function_that_takes_anything_is_given_what_its_shape_says() -> None:
    given = {str(shape): set(mechanism(anything, shape=shape).asked) for shape in ("program", "sampler", "seeded")}
    assert given == {"program": {"noise"}, "sampler": {"size", "rng"}, "seeded": {"rng"}}
    assert set(mechanism(sampler_of_its_own, shape="sampler").asked) == {"size"}


@pytest.mark.parametrize("shape", ["program", "sampler", "seeded"])
def test_a_shape_that_the_function_cannot_have_is_refused(shape: str) -> None:
    with pytest.raises(UsageError, match=f"opaque cannot run as {shape}"):
        mechanism(opaque, shape=shape)


def test_an_unknown_shape_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="program, sampler, seeded, opaque, not 'batch'"):
        mechanism(program, shape="batch")
    with pytest.raises(UsageError, match="not 3"):
        mechanism(3, shape="opaque")


# --- parameters, claim, pairs ---


def test_parameters() -> None:
    found = mechanism(lambda data, noise, scale, epsilon=1: data, name="f")
    assert found.parameters_with({"scale": 2}) == {"scale": 2, "epsilon": 1}
    with pytest.raises(UsageError, match="f needs a value for scale"):
        found.parameters_with({})
    with pytest.raises(UsageError, match="no parameter 'epsilo'; did you mean 'epsilon'"):
        found.parameters_with({"epsilo": 1, "scale": 2})
    with pytest.raises(UsageError, match="noise is no parameter of f"):
        found.parameters_with({"noise": 1, "scale": 2})
    assert mechanism(anything).parameters_with({"whatever": 1}) == {"whatever": 1}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (None, None),
        (PureDP(2), PureDP(2)),
        ("epsilon=2", PureDP(2)),
        (PureDP, PureDP(0.5)),
        (lambda sigma: GaussianDP(1 / sigma), GaussianDP(0.5)),
        (lambda epsilon, sigma: f"epsilon={epsilon * sigma}", PureDP(1)),
        (lambda **every: PureDP(sum(every.values())), PureDP(2.5)),
        (lambda epsilon, *, k=3: PureDP(k * epsilon), PureDP(1.5)),
        (lambda: None, None),
    ],
)
def test_a_claim_is_a_value_a_text_or_a_callable_of_parameters(claim: Any, expected: Any) -> None:
    found = mechanism(lambda data, noise, epsilon=0.5, sigma=2.0: data, claim=claim)
    assert found.claim_for(found.parameters_with(None)) == expected


def test_a_claim_that_cannot_be_computed_says_at_which_parameters() -> None:
    found = mechanism(lambda data, noise, sigma=0: data, name="f", claim=lambda sigma: GaussianDP(1 / sigma))
    with pytest.raises(UsageError, match="the claim of f cannot be computed at sigma=0: ZeroDivisionError"):
        found.claim_for({"sigma": 0})
    with pytest.raises(UsageError, match="computed from epsilon, which is no parameter"):
        mechanism(lambda data, noise, sigma=1: data, claim=PureDP).claim_for({"sigma": 1})
    with pytest.raises(UsageError, match="a claim is a Claim or a text"):
        mechanism(lambda data, noise: data, claim=1).claim_for({})


def test_pairs_are_a_list_or_a_callable() -> None:
    assert mechanism(opaque).pairs_for({}) == []
    assert mechanism(opaque, pairs=[[0, 1]]).pairs_for({}) == [(0, 1)]
    assert mechanism(opaque, pairs=lambda scale: [(0, scale)]).pairs_for({"scale": 2}) == [(0, 2)]
    assert mechanism(opaque, pairs=(pair for pair in [(0, 1)])).pairs_for({}) == [(0, 1)]
    for wrong in ([0, 1], [(0, 1, 2)], ["ab"]):
        with pytest.raises(UsageError, match=r"\[\(data0, data1\), …\]"):
            mechanism(opaque, pairs=wrong).pairs_for({})


# --- the digest of the code ---


def test_the_digest_covers_the_code_and_what_it_wraps() -> None:
    plain, wrapped, twice = (mechanism(f).digest for f in (program, counted(program), doubled(program)))
    assert None not in {plain, wrapped, twice}
    assert len({plain, wrapped, twice, mechanism(seeded).digest}) == 4
    assert mechanism(functools.partial(program, epsilon=2)).digest != plain  # what is bound counts
    assert mechanism(mechanism(program)).digest == plain
    assert mechanism(Adder(1)).digest != mechanism(Adder(2)).digest is not None
    assert mechanism(Adder(1)).digest != mechanism(Adder(1).release).digest
    assert mechanism(max, shape="opaque").digest is None


def test_a_partial_is_described_as_the_function_in_it() -> None:
    found = mechanism(functools.partial(program, epsilon=2))
    assert (found.name, found.summary, found.description) == ("program", "Add noise.", "Add noise.\n\nMore words.")
