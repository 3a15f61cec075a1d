"""Do the metric, the measure and the map of a measurement become relation, notion and claim?"""

import math

import numpy as np
import pytest
from support.made_up_libraries import of_module, pretend

import dpaudit as dp


def measurement(metric, measure, loss, *, release=lambda data: data):
    """A stand-in for a Measurement: its map hands back ``loss`` at every distance."""
    made = of_module(
        "opendp.mod", input_metric=metric, output_measure=measure, map=loss if callable(loss) else lambda d_in: loss
    )
    type(made).__call__ = lambda self, data: release(data)
    type(made).__repr__ = lambda self: f"Measurement(\n  {metric},\n  {measure})"
    return made


@pytest.fixture(autouse=True)
def _opendp(monkeypatch):
    pretend(monkeypatch, "opendp")


@pytest.mark.parametrize(
    ("metric", "relation"),
    [
        ("SymmetricDistance()", "add-remove"),
        ("InsertDeleteDistance()", "add-remove"),
        ("ChangeOneDistance()", "replace"),
        ("HammingDistance()", "replace"),
        ("DiscreteDistance()", "replace"),
        ("AbsoluteDistance(f64)", "queries"),
        ("L1Distance(f64)", "queries(norm=1)"),
        ("L2Distance(f64)", "queries(norm=2)"),
        ("LInfDistance(T=i32)", "queries"),
        ("LInfDistance(monotonic, T=i32)", "queries(monotone)"),
    ],
)
def test_the_metric_is_the_relation(metric, relation):
    made = dp.load(measurement(metric, "MaxDivergence", 0.5))
    assert made.relation_for({}) == relation
    assert made.claim_for({}) == dp.PureDP(0.5)


def test_a_distance_of_three_is_a_group_of_three():
    from dpaudit.adapters.opendp import mechanism_of

    made = mechanism_of(measurement("SymmetricDistance()", "MaxDivergence", lambda d_in: 0.25 * d_in), d_in=3)
    assert made.relation_for({}) == "add-remove(group=3)"
    assert made.claim_for({}) == dp.PureDP(0.75)
    assert made.unit == "3 records"


class Profile:
    """A privacy profile: ε(δ)."""

    def epsilon(self, delta):
        return -math.log(delta)


@pytest.mark.parametrize(
    ("measure", "loss", "asked", "claim"),
    [
        ("MaxDivergence", 2.0, {}, dp.PureDP(2.0)),
        ("ZeroConcentratedDivergence", 0.5, {}, dp.ZeroConcentratedDP(0.5)),
        ("Approximate(MaxDivergence)", (1.0, 1e-6), {}, dp.ApproxDP(1.0, 1e-6)),
        ("FixedSmoothedMaxDivergence", (1.0, 1e-6), {}, dp.ApproxDP(1.0, 1e-6)),
        ("SmoothedMaxDivergence", Profile(), {"delta": 0.5}, dp.ApproxDP(math.log(2), 0.5)),
        ("RenyiDivergence", lambda d_in: lambda order: order / 2, {"order": 4.0}, dp.RenyiDP(order=4.0, epsilon=2.0)),
    ],
)
def test_the_measure_is_the_notion(measure, loss, asked, claim):
    from dpaudit.adapters.opendp import mechanism_of

    assert mechanism_of(measurement("SymmetricDistance()", measure, loss), **asked).claim_for({}) == claim


@pytest.mark.parametrize(
    ("metric", "measure", "loss", "said"),
    [
        ("SymmetricDistance()", "SmoothedMaxDivergence", Profile(), "delta=1e-6"),
        ("SymmetricDistance()", "RenyiDivergence", 1.0, "order=2"),
        ("SymmetricDistance()", "Approximate(ZeroConcentratedDivergence)", (1.0, 1e-6), "make_zCDP_to_approxDP"),
        ("SymmetricDistance()", "MaxDivergence", math.inf, "promises nothing"),
        ("SymmetricDistance()", "MaxDivergence", math.nan, "promises nothing"),
        ("L01InfDistance(AbsoluteDistance(i32))", "MaxDivergence", 1.0, "relation='declared'"),
    ],
)
def test_what_has_no_claim_is_refused_with_what_to_do(metric, measure, loss, said):
    with pytest.raises(dp.UsageError) as caught:
        dp.load(measurement(metric, measure, loss))
    assert said in str(caught.value)


def test_a_map_that_wants_a_float_gets_one_and_one_that_refuses_says_why():
    def strict(d_in):
        if not isinstance(d_in, float):
            raise TypeError("inferred type is i32, expected f64")
        return d_in

    assert dp.load(measurement("AbsoluteDistance(f64)", "MaxDivergence", strict)).claim_for({}) == dp.PureDP(1.0)

    def refusing(d_in):
        raise ValueError("line one\n  d_in must be below 1")

    with pytest.raises(dp.UsageError, match=r"refuses the distance 1 .*d_in must be below 1"):
        dp.load(measurement("AbsoluteDistance(f64)", "MaxDivergence", refusing))


@pytest.mark.slow
def test_an_audit_recognises_a_measurement_and_holds_it_to_its_own_map():
    rng = np.random.default_rng(5)
    honest = measurement("AbsoluteDistance(f64)", "MaxDivergence", 1.0, release=lambda data: data + rng.laplace())
    lying = measurement("AbsoluteDistance(f64)", "MaxDivergence", 0.5, release=lambda data: data + rng.laplace())
    evidence = dp.audit(honest, pairs=[(0.0, 1.0)], runs=4000, confidence=0.999)
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    assert evidence.claim == "epsilon=1"
    assert evidence.relation == "queries"
    assert evidence.versions["opendp"] == "0.16.3"
    assert evidence.target.source == "opendp 0.16.3"
    assert "AbsoluteDistance" in evidence.target.summary
    assert not evidence.reproducible
    assert dp.audit(lying, pairs=[(0.0, 1.0)], runs=4000).verdict is dp.Verdict.VIOLATED


def test_two_measurements_have_two_digests_and_the_same_one_has_one():
    first, second = (
        measurement("AbsoluteDistance(f64)", measure, 1.0)
        for measure in ("MaxDivergence", "ZeroConcentratedDivergence")
    )
    assert dp.load(first).digest == dp.load(first).digest != dp.load(second).digest


def test_a_file_may_name_a_measurement(tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Measurement:\n"
        "    __module__ = 'opendp.mod'\n"
        "    input_metric, output_measure = 'SymmetricDistance()', 'MaxDivergence'\n"
        "    def map(self, d_in): return 1.0\n"
        "release = Measurement()\n"
    )
    made = dp.load(f"{tmp_path / 'mine.py'}:release")
    assert made.claim_for({}) == dp.PureDP(1.0)
    assert made.reference.endswith("mine.py:release")
