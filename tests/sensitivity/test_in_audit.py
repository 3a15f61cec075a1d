"""Does an audit look at the query below the noise, and say what it found without letting it decide?"""

import json
import math

import msgspec
import numpy as np
import pytest

import dpaudit as dp
from dpaudit.report import console_summary, html_page
from dpaudit.review.check import check, passes

pytestmark = pytest.mark.usefixtures("undrawn")

DATA = [3.0, 41.5, 17.25, 90.0]


def total(data, upper=100.0):
    return float(np.clip(np.asarray(data, dtype=float), 0, upper).sum())


@dp.mechanism(claim=dp.PureDP, relation="add-remove", query=total, sensitivity=lambda upper: upper)
def right(data, noise, *, epsilon=1.0, upper=100.0):
    """A clipped sum."""
    return total(data, upper) + noise.laplace(upper / epsilon)


@dp.mechanism(claim=dp.PureDP, relation="add-remove", query=total, sensitivity=lambda upper: upper / 2)
def half(data, noise, *, epsilon=1.0, upper=100.0):
    """A clipped sum that takes half of its sensitivity for all of it."""
    return total(data, upper) + noise.laplace(upper / 2 / epsilon)


@pytest.mark.slow
def test_it_is_checked_on_the_pairs_of_an_audit():
    evidence = dp.audit(right, pairs=[(DATA, DATA[:3])], runs=2_000)
    found = evidence.sensitivity
    assert (found.norm, found.claimed, found.largest, found.exceeded, found.tried) == ("1", 100.0, 90.0, False, 1)
    wrong = dp.audit(half, pairs=[(DATA, DATA[:3]), (DATA, DATA[1:])], runs=2_000).sensitivity
    assert (wrong.claimed, wrong.largest, wrong.exceeded, wrong.change) == (50.0, 90.0, True, "pair 0")


@pytest.mark.slow
def test_it_is_checked_on_the_neighbours_of_data():
    evidence = dp.audit(right, data=DATA, domain=(0.0, 500.0), runs=4_000)
    assert (evidence.sensitivity.largest, evidence.sensitivity.exceeded) == (100.0, False)
    assert evidence.sensitivity.tried > 20
    assert dp.audit(half, data=DATA, domain=(0.0, 500.0), runs=4_000).sensitivity.exceeded


@pytest.mark.slow
def test_no_green_word_stands_above_a_counterexample_which_refutes_nothing_by_itself():
    @dp.mechanism(claim=dp.PureDP, relation="add-remove", query=total, sensitivity=1)
    def private_all_the_same(data, noise, *, epsilon=1.0):
        return noise.laplace(1 / epsilon)

    evidence = dp.audit(private_all_the_same, pairs=[(DATA, DATA[:3])], runs=2_000)
    assert evidence.verdict is dp.Verdict.INCONCLUSIVE and "moves by 90, and 1 is declared" in evidence.reason
    assert evidence.sensitivity.exceeded
    assert "COUNTEREXAMPLE: the query moves by 90, declared is 1 (pair 0)" in console_summary(evidence)
    page = html_page(evidence)
    assert 'id="sensitivity"' in page
    assert "<strong>Counterexample.</strong>" in page
    assert passes(check(evidence))


@pytest.mark.slow
@pytest.mark.parametrize(
    "lie",
    [{"exceeded": False}, {"largest": 40.0}, {"claimed": 200.0}, {"finite": 1e9}, {"silent": 5}, {"claimed": None}],
)
def test_a_check_finds_what_does_not_follow(lie):
    evidence = dp.audit(half, pairs=[(DATA, DATA[:3])], runs=2_000)
    assert passes(check(evidence))
    moved = msgspec.structs.replace(evidence.sensitivity, **lie)
    findings = check(msgspec.structs.replace(evidence, sensitivity=moved))
    assert [finding.what for finding in findings if finding.fails] == ["sensitivity"]


@pytest.mark.slow
def test_nothing_else_in_the_evidence_changes():
    @dp.mechanism(claim=dp.PureDP, relation="add-remove")
    def bare(data, noise, *, epsilon=1.0, upper=100.0):
        return total(data, upper) + noise.laplace(upper / epsilon)

    pairs = [(DATA, DATA[:3])]
    plain, checked = (dp.audit(bare, pairs=pairs, runs=2_000, **more) for more in ({}, {"query": total}))
    assert plain.sensitivity is None
    assert "sensitivity" not in json.loads(plain.to_json())["evidence"]
    assert 'id="sensitivity"' not in html_page(plain)
    assert (plain.accuracy.source, checked.accuracy.source) == ("silent", "query")
    assert msgspec.structs.replace(checked, sensitivity=None, accuracy=plain.accuracy).id == plain.id
    assert dp.Evidence.from_json(checked.to_json()) == checked


@pytest.mark.slow
def test_query_and_sensitivity_may_be_given_with_the_question():
    found = dp.audit(right, pairs=[(DATA, DATA[:3])], runs=2_000, sensitivity=(80, "inf")).sensitivity
    assert (found.norm, found.claimed, found.exceeded) == ("inf", 80.0, True)
    other = dp.audit(right, pairs=[(DATA, DATA[:3])], runs=2_000, query=len, sensitivity=1).sensitivity
    assert (other.largest, other.exceeded) == (1.0, False)
    with pytest.raises(dp.UsageError, match="a sensitivity is that of a query"):
        dp.audit("laplace", runs=2_000, sensitivity=1)


@pytest.mark.slow
def test_a_replay_asks_a_query_again_that_it_finds():
    evidence = dp.audit(right, pairs=[(DATA, DATA[:3])], runs=2_000)
    assert dp.replay(evidence, target=right, pairs=[(DATA, DATA[:3])]).identical
    beside = dp.audit(right.function, claim="epsilon=1", pairs=[(DATA, DATA[:3])], runs=2_000, query=total)
    again = dp.replay(beside, target=right.function, pairs=[(DATA, DATA[:3])])
    assert again.holds
    assert not again.identical
    assert any("the query was given beside the mechanism" in reason for reason in again.reasons)


def test_a_query_with_a_parameter_that_the_mechanism_has_not_is_refused():
    with pytest.raises(dp.UsageError, match="needs lower, which is no parameter of the mechanism"):
        dp.audit(right, pairs=[(DATA, DATA[:3])], runs=2_000, query=lambda data, lower: 0)


def test_no_number_is_said_of_the_data_and_trouble_is_told():
    secret = 7654.25

    def query(data):
        if len(data) < 2:
            raise ValueError(f"too few: {data}")
        return math.nan if data[0] == secret and len(data) == 2 else float(len(data))

    pairs = [([secret, 1.0, 2.0], [secret, 1.0])]
    evidence = dp.audit(right, pairs=pairs, runs=2_000, query=query)
    assert evidence.sensitivity.troubles == ("returns NaN on the second dataset, on 1 pair; the first: pair 0",)
    assert evidence.sensitivity.largest == math.inf
    assert dp.Evidence.from_json(evidence.to_json()) == evidence
    assert "7654" not in evidence.to_json()
    assert "any distance" in console_summary(evidence)


def test_a_noisy_query_is_refused_before_anything_is_run():
    with pytest.raises(dp.UsageError, match="answers differently when it is asked twice"):
        dp.audit(right, pairs=[(DATA, DATA[:3])], runs=2_000, query=lambda data: np.random.default_rng().normal())
