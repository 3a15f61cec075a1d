"""Do the other adapters read claim, relation and unit from what their library holds?"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from support.made_up_libraries import of_module, pretend

import dpaudit as dp


def test_an_algorithm_of_pydp_is_a_release_of_a_list(monkeypatch):
    pretend(monkeypatch, "pydp")
    given = of_module(
        "pydp.algorithms.laplacian._bounded_algorithms",
        "BoundedSum",
        epsilon=1.0,
        delta=0.0,
        l0_sensitivity=1,
        linf_sensitivity=2,
        quick_result=lambda data: (type(data), sum(data)),
    )
    made = dp.load(given)
    assert made((1, 2)) == (list, 3)
    assert made.relation_for({}) == "add-remove(group=2)"
    assert made.claim_for({}) == dp.PureDP(1.0)
    assert made.name == "BoundedSum"
    assert made.summary == "BoundedSum(epsilon=1.0, delta=0.0, l0_sensitivity=1, linf_sensitivity=2)"
    assert made.versions == {"python-dp": "1.1.3"}


def test_pydp_mechanisms_and_strategies(monkeypatch):
    pretend(monkeypatch, "pydp")
    from dpaudit.adapters.pydp import mechanism_of

    noise = of_module("pydp", epsilon=1.0, delta=1e-2, l2_sensitivity=1.0, add_noise=lambda value: value + 1)
    assert (dp.load(noise).relation_for({}), dp.load(noise)(2)) == ("queries", 3)
    assert dp.load(noise).claim_for({}) == dp.ApproxDP(1.0, 1e-2)
    keeps = of_module(
        "_partition_selection",
        epsilon=1.0,
        delta=1e-2,
        max_partitions_contributed=1,
        should_keep=lambda users: users > 1,
    )
    assert mechanism_of(keeps)(["a", "b"]) is True
    assert mechanism_of(keeps).relation_for({}) == "add-remove"
    with pytest.raises(dp.UsageError, match="releases nothing"):
        dp.load(of_module("pydp.util"))


def exact(value):
    """A stand-in for an exact number, which rounds up only when it is asked to."""
    return SimpleNamespace(to_float=lambda *, round_up: float(np.nextafter(value, np.inf)) if round_up else value)


@pytest.mark.parametrize(
    ("metric", "measure", "loss", "relation", "claim"),
    [
        ("AbsoluteDifference", "PureDP", exact(0.5), "queries", dp.PureDP(float(np.nextafter(0.5, 1)))),
        (
            "SymmetricDifference",
            "RhoZCDP",
            exact(0.5),
            "add-remove",
            dp.ZeroConcentratedDP(float(np.nextafter(0.5, 1))),
        ),
        ("HammingDistance", "PureDP", exact(2.0), "replace", dp.PureDP(float(np.nextafter(2.0, 3)))),
    ],
)
def test_a_measurement_of_tumult_core(metric, measure, loss, relation, claim, monkeypatch):
    pretend(monkeypatch, "tmlt_core")
    given = of_module(
        "tmlt.core.measurements.noise_mechanisms",
        input_metric=type(metric, (), {})(),
        output_measure=type(measure, (), {})(),
        input_domain="numbers",
        privacy_function=lambda d_in: loss,
    )
    type(given).__call__ = lambda self, data: type(data)
    made = dp.load(given)
    assert (made.relation_for({}), made.claim_for({})) == (relation, claim)
    assert (made(1), made(1.0), made([1])) == (np.int64, np.float64, list)


def test_tumult_core_refuses_what_it_cannot_read(monkeypatch):
    pretend(monkeypatch, "tmlt_core")
    with pytest.raises(dp.UsageError, match="is no measurement"):
        dp.load(of_module("tmlt.core.domains"))
    given = of_module(
        "tmlt.core.measurements",
        input_metric=object(),
        output_measure=object(),
        input_domain="numbers",
        privacy_function=lambda d_in: exact(1.0),
    )
    with pytest.raises(dp.UsageError, match="relation='declared'"):
        dp.load(given)
    given.input_metric = type("SymmetricDifference", (), {})()
    with pytest.raises(dp.UsageError, match="PureDP, RhoZCDP, ApproxDP"):
        dp.load(given)


class Accountant:
    """A stand-in that keeps its budget."""

    made: list = []  # noqa: RUF012

    def __init__(self, **budget):
        self.made.append(budget)

    def compute_budgets(self):
        """Nothing to compute."""


def test_every_run_of_pipeline_dp_has_a_budget_of_its_own(monkeypatch):
    class Selecting:
        """Parameters of partition selection."""

    class Engine:
        def __init__(self, accountant, backend):
            pass

        def aggregate(self, rows, params, extractors, public_partitions):
            return [("b", (len(rows),)), ("a", (0,))]

    pretend(
        monkeypatch,
        "pipeline_dp",
        SelectPartitionsParams=Selecting,
        NaiveBudgetAccountant=Accountant,
        DPEngine=Engine,
        LocalBackend=object,
    )
    monkeypatch.setattr("dpaudit.adapters.pipeline_dp._versions", dict)
    from dpaudit.adapters.pipeline_dp import mechanism_of

    extractors = SimpleNamespace(privacy_id_extractor=None, partition_extractor=None, value_extractor=None)
    made = mechanism_of("params", extractors, epsilon=1.0, delta=1e-6)
    assert list(made([1, 2]).items()) == [("a", (0,)), ("b", (2,))]
    made([1])
    assert Accountant.made == [{"total_epsilon": 1.0, "total_delta": 1e-6}] * 2
    assert made.claim_for({}) == dp.ApproxDP(1.0, 1e-6)
    with pytest.raises(dp.UsageError, match="needs delta above 0"):
        mechanism_of("params", extractors, epsilon=1.0)


def test_smartnoise_states_what_a_query_costs_and_reads_each_side_once(monkeypatch):
    read = []

    class Reader:
        def __init__(self, frame):
            self.frame = frame
            read.append(frame)

        def get_privacy_cost(self, query):
            if "bad" in query:
                raise ValueError("no such column")
            return (np.float64(2.0), np.float64(1e-3))

        def execute(self, query):
            return [["n"], [len(self.frame)]]

    pretend(monkeypatch, "snsql", from_df=lambda frame, privacy, metadata: Reader(frame), Privacy=SimpleNamespace)
    monkeypatch.setattr("dpaudit.adapters.snsql._versions", dict)
    from dpaudit.adapters.snsql import mechanism_of

    made = mechanism_of("SELECT COUNT(*)", metadata={}, epsilon=1.0)
    assert made.claim_for({}) == dp.ApproxDP(2.0, 1e-3)
    read.clear()
    sides = ([1, 2], [1])
    assert [made(sides[coin]) for coin in (0, 1, 0, 0, 1)] == [[(2,)], [(1,)], [(2,)], [(2,)], [(1,)]]
    assert len(read) == 2
    assert made([1, 2, 3]) == [(3,)]
    assert made(sides[0]) == [(2,)]
    with pytest.raises(dp.UsageError, match="refuses the query 'bad': ValueError: no such column"):
        mechanism_of("bad", metadata={}, epsilon=1.0)


def test_opacus_states_what_training_cost(monkeypatch):
    pretend(monkeypatch, "opacus")
    monkeypatch.setattr("dpaudit.adapters.opacus._versions", dict)
    from dpaudit.adapters.opacus import claim_of, mechanism_of

    engine = SimpleNamespace(accountant=SimpleNamespace(history=[(1.0, 0.5, 3)]), get_epsilon=lambda delta: 3.0)
    assert claim_of(engine, 1e-5) == dp.ApproxDP(3.0, 1e-5)
    made = mechanism_of(lambda data: (len(data), engine), delta=1e-5, pairs=[([1, 2], [1])], name="fit")
    assert made([1, 2]) == 2
    assert (made.name, made.relation_for({}), made.claim_for({})) == ("fit", "add-remove", dp.ApproxDP(3.0, 1e-5))
    engine.accountant.history.clear()
    with pytest.raises(dp.UsageError, match="has seen no step"):
        claim_of(engine, 1e-5)
    with pytest.raises(dp.UsageError, match="cannot be run once: KeyError"):
        mechanism_of(lambda data: {}[0], delta=1e-5, pairs=[([1, 2], [1])])
