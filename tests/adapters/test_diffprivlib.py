"""Are mechanisms of diffprivlib seeded, and does an accountant state the claim of a tool?"""

import copy
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from support.made_up_libraries import pretend

import dpaudit as dp


class DPMechanism:
    """A stand-in for the base class of mechanisms."""

    __module__ = "diffprivlib.mechanisms.base"

    def __init__(self, epsilon, sensitivity=None, delta=0.0, random_state=None):
        self.epsilon, self.delta, self.random_state = epsilon, delta, random_state
        if sensitivity is not None:
            self.sensitivity = sensitivity
        self._rng = np.random.RandomState(random_state)

    def copy(self):
        return copy.copy(self)

    def __repr__(self):
        return f"Laplace(epsilon={self.epsilon})"

    def randomise(self, value):
        return value + self.sensitivity / self.epsilon * self._rng.laplace()


class BudgetAccountant:
    """A stand-in that adds."""

    def __init__(self):
        self.spent_budget = []

    def spend(self, epsilon, delta):
        self.spent_budget.append((epsilon, delta))

    def total(self):
        return tuple(map(sum, zip(*self.spent_budget, strict=True)))


class PrivacyLeakWarning(Warning):
    """A stand-in."""


def mean(data, epsilon=1.0, random_state=None, accountant=None):
    """A tool: noise for a mean of numbers between 0 and 1."""
    accountant.spend(epsilon, 0)
    return np.mean(data) + random_state.laplace() / epsilon / len(data)


@pytest.fixture(autouse=True)
def _diffprivlib(monkeypatch):
    mechanisms = SimpleNamespace(base=SimpleNamespace(DPMechanism=DPMechanism))
    pretend(monkeypatch, "diffprivlib", mechanisms=mechanisms, BudgetAccountant=BudgetAccountant)


@pytest.mark.parametrize(
    ("sensitivity", "relation"), [(1, "queries"), (2, "queries(group=2)"), (0.5, "declared"), (None, "replace")]
)
def test_sensitivity_is_the_relation(sensitivity, relation):
    made = dp.load(DPMechanism(1.0, sensitivity))
    assert made.relation_for({}) == relation
    assert made.claim_for({}) == dp.PureDP(1.0)
    assert dp.load(DPMechanism(1.0, sensitivity, delta=0.1)).claim_for({}) == dp.ApproxDP(1.0, 0.1)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_evidence_and_leaves_the_object_alone():
    given = DPMechanism(1.0, 1)
    before = given._rng.get_state()[1].copy()
    first, second = (dp.audit(given, pairs=[(0.0, 1.0)], runs=1000, seed=3) for _ in range(2))
    assert first.id == second.id
    assert first.reproducible
    assert first.verdict is dp.Verdict.NOT_VIOLATED
    assert dp.audit(given, pairs=[(0.0, 1.0)], runs=1000, seed=4).id != first.id
    assert (given._rng.get_state()[1] == before).all()


@pytest.mark.slow
def test_a_random_state_of_its_own_is_run_as_it_is():
    evidence = dp.audit(DPMechanism(1.0, 1, random_state=5), pairs=[(0.0, 1.0)], runs=1000)
    assert not evidence.reproducible


@pytest.mark.slow
def test_too_little_noise_is_found():
    class Half(DPMechanism):
        __module__ = "diffprivlib.mechanisms.laplace"

        def randomise(self, value):
            return value + self._rng.laplace() / self.epsilon / 2

    assert dp.audit(Half(1.0, 1), pairs=[(0.0, 1.0)], runs=4000).verdict is dp.Verdict.VIOLATED


@pytest.mark.slow
def test_the_accountant_states_the_claim_of_a_tool():
    from dpaudit.adapters.diffprivlib import release_of

    pairs = [(np.array([0.0, 1]), np.array([1.0, 1]))]
    made = release_of(mean, relation="replace", pairs=pairs, epsilon=0.5)
    assert made.claim_for({}) == dp.PureDP(0.5)
    evidence = dp.audit(made, runs=4000)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert evidence.target.summary == "mean, epsilon=0.5"
    assert evidence.reproducible

    def twice(data, random_state, accountant):
        return mean(data, 1.0, random_state, accountant) + mean(data, 1.0, random_state, accountant)

    assert release_of(twice, relation="replace", pairs=pairs).claim_for({}) == dp.PureDP(2.0)


def test_what_the_library_warns_of_is_said():
    from dpaudit.adapters.diffprivlib import release_of

    def leaking(data, random_state, accountant):
        warnings.warn("Bounds have not\n been specified", PrivacyLeakWarning, stacklevel=1)
        return mean(data, 1.0, random_state, accountant)

    made = release_of(leaking, relation="replace", spent_on=[0.0, 1])
    assert made.summary.endswith("diffprivlib warns: Bounds have not been specified")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(np.array([0.0, 1]), np.random.default_rng(0))


def silent(data, random_state, accountant):
    """A release that spends without an accountant."""
    return random_state.laplace()


def failing(data, random_state, accountant):
    """A release that fails."""
    raise ZeroDivisionError("float division by zero")


@pytest.mark.parametrize(
    ("function", "given", "said"),
    [
        (mean, {}, "spent_on=data"),
        (silent, {"spent_on": [1.0]}, "tells the accountant nothing"),
        (failing, {"spent_on": [1.0]}, "cannot be run once: ZeroDivisionError"),
    ],
)
def test_what_states_no_claim_is_refused(function, given, said):
    from dpaudit.adapters.diffprivlib import release_of

    with pytest.raises(dp.UsageError, match=said):
        release_of(function, relation="replace", **given)


def test_a_claim_may_be_stated_in_place_of_the_accountants():
    from dpaudit.adapters.diffprivlib import release_of

    assert release_of(silent, relation="replace", claim="epsilon=3").claim_for({}) == dp.PureDP(3.0)


def test_objects_that_say_too_little_are_refused_with_the_way_out():
    holding = DPMechanism(1.0, 1)
    holding.utility = [0, 1]
    with pytest.raises(dp.UsageError, match="holds its data"):
        dp.load(holding)
    model = type("LogisticRegression", (), {"__module__": "diffprivlib.models.logistic_regression"})()
    with pytest.raises(dp.UsageError, match=r"release_of\(function, spent_on=data\)"):
        dp.load(model)
