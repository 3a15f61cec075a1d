"""Are mechanisms of libraries priced by what they state, wherever they are, and are they put back?"""

import math
import sys
from types import ModuleType

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.targets.mechanism import mechanism
from dpaudit.tracing.pair import Word, trace_pair
from dpaudit.tracing.primitives import Stated, apart, records_apart, replaced
from dpaudit.tracing.runs import FollowedTarget
from dpaudit.tracing.shift import OPEN, OVER, WITHIN, priced


class Base:
    """What mechanisms of the stand-in for diffprivlib have in common."""

    def __init__(self, epsilon, sensitivity, delta=0.0):
        self.epsilon, self.sensitivity, self.delta = epsilon, sensitivity, delta

    def _check_all(self, value):
        return True


class Laplace(Base):
    """Laplace noise that nobody can follow."""

    def randomise(self, value):
        return value + float(np.frombuffer(np.random.default_rng().bytes(8), dtype=np.uint32)[0]) * 1e-9


class LaplaceTruncated(Laplace):
    """The same, cut off."""

    def randomise(self, value):
        return min(max(super().randomise(value), -100.0), 100.0)


class Exponential(Base):
    """A choice whose chances it holds."""

    def __init__(self, epsilon, sensitivity, utility):
        super().__init__(epsilon, sensitivity)
        weights = np.exp(np.array(utility) * epsilon / sensitivity / 2)
        self.utility, self.candidates, self._probabilities = utility, None, np.cumsum(weights / weights.sum())

    def randomise(self, value=None):
        return int(np.searchsorted(self._probabilities, np.random.default_rng().random()))


@pytest.fixture
def library(monkeypatch):
    """A library with the names of diffprivlib."""
    monkeypatch.setitem(sys.modules, "diffprivlib", ModuleType("diffprivlib"))
    for name, owners in (("laplace", (Laplace, LaplaceTruncated)), ("exponential", (Exponential,))):
        module = ModuleType(f"diffprivlib.mechanisms.{name}")
        vars(module).update({each.__name__: each for each in owners})
        monkeypatch.setitem(sys.modules, module.__name__, module)


def traced(function, pair=([1.0], [1.0, 1.0]), claim="epsilon=1"):
    own = mechanism(function)
    return trace_pair(FollowedTarget(own, {}), pair, dp.parse_claim(claim), seed=0)


@pytest.mark.slow
def test_noise_of_a_library_is_followed_and_its_loss_is_exact(library):
    before = Laplace.randomise
    assert traced(lambda data: Laplace(1.0, 1.0).randomise(len(data))).worst.word is Word.SUPPORTED
    found = traced(lambda data: Laplace(1.0, 0.5).randomise(len(data)))
    assert found.worst.word is Word.VIOLATED and found.certain.epsilon == pytest.approx(2.0)
    assert Laplace.randomise is before


@pytest.mark.slow
def test_a_unit_is_priced_by_its_own_statement_and_never_certain(library):
    assert traced(lambda data: 2 * LaplaceTruncated(1.0, 1.0).randomise(len(data))).worst.word is Word.SUPPORTED
    found = traced(lambda data: LaplaceTruncated(1.0, 0.5).randomise(len(data)))
    assert found.worst.word is Word.NOT_SUPPORTED and found.certain is None
    assert found.worst.price.epsilon == pytest.approx(2.0)
    assert "LaplaceTruncated has to hide a move of 1" in found.worst.found[0].text
    swallowed = traced(lambda data: LaplaceTruncated(1.0, 1.0).randomise(math.nan if len(data) > 1 else 0.0))
    assert swallowed.worst.word is Word.NOT_SUPPORTED


def test_parameters_of_a_unit_that_depend_on_the_data_are_not_supported(library):
    found = traced(lambda data: LaplaceTruncated(1.0, float(len(data))).randomise(len(data)))
    assert found.worst.word is Word.NOT_SUPPORTED
    assert "depends on the data" in found.worst.found[0].text


@pytest.mark.slow
def test_the_exponential_mechanism_is_enumerated(library):
    pair = ([0.0, 0.0], [1.0, 0.0])
    found = traced(lambda data: Exponential(1.0, 1.0, list(data)).randomise(), pair)
    assert found.worst.word is Word.SUPPORTED and 0.2 < found.certain.epsilon < 0.5
    assert traced(lambda data: Exponential(8.0, 1.0, list(data)).randomise(), pair).worst.word is Word.VIOLATED


def test_uniform_noise_over_a_range_of_the_data_is_not_priced():
    """As in a median by the exponential mechanism, whose intervals end at records."""
    found = traced(lambda data, rng: rng.random() * (1 + len(data)) + len(data))
    assert found.worst.word is Word.NOT_PRICED


def test_distances_are_those_of_the_metric():
    assert apart([1.0, 2.0], [2.0, 0.0]) == 3 and apart([3.0, 0.0], [0.0, 4.0], 2) == 5
    assert apart(1.0, math.nan) == math.inf and apart([1.0], [1.0, 2.0]) == math.inf
    assert apart(math.inf, math.inf) == 0
    assert records_apart([1, 1, 2], [1, 2]) == 1 and replaced([1, 2], [1, 3]) == 1
    assert replaced([1], [1, 2]) == math.inf
    assert records_apart(np.array([[1, 2], [3, 4]]), np.array([[1, 2]])) == 1


@pytest.mark.parametrize(
    ("stated", "claim", "answer"),
    [
        (Stated(1.0), "epsilon=1", WITHIN), (Stated(1.1), "epsilon=1", OVER), (Stated(0.5, 1e-6), "epsilon=1", OVER),
        (Stated(0.5, 1e-6), "epsilon=1, delta=1e-6", WITHIN), (Stated(0.5, 1e-4), "epsilon=1, delta=1e-6", OVER),
        (Stated(mu=0.5), "mu=0.5", WITHIN), (Stated(mu=0.6), "mu=0.5", OVER), (Stated(rho=0.1), "rho=0.1", WITHIN),
        (Stated(rho=0.01), "epsilon=1, delta=1e-6", WITHIN), (Stated(rho=0.1), "epsilon=1, delta=1e-6", OVER),
        (Stated(rho=0.02), "mu=0.5", OPEN), (Stated(math.inf), "epsilon=1, delta=1e-6", OVER),
    ],
)  # fmt: skip
def test_what_is_stated_is_held_against_the_claim(stated, claim, answer):
    assert priced([], 0.0, dp.parse_claim(claim), [stated]).answer == answer
