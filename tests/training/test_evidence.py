"""Does the evidence of a watched loop follow from what was seen, say nothing about records, and show on a page?"""

import dataclasses
import json
import math

import msgspec
import numpy as np
import pytest
from support.watched import RATE, certified_once, evidence_of, seen_loop

from dpaudit.errors import UsageError
from dpaudit.evidence.evidence import Evidence
from dpaudit.report import console_summary, html_page
from dpaudit.report.view import view
from dpaudit.request import TrainingOptions, TrainingRequest, options_of
from dpaudit.review.check import check, passes
from dpaudit.review.replay import replay
from dpaudit.training import losses
from dpaudit.training.clipping import replayed
from dpaudit.training.watch import watched


@pytest.fixture(scope="module", autouse=True)
def _certified_once():
    with certified_once():
        yield


@pytest.fixture(scope="module")
def right():
    return evidence_of(seen_loop())


@pytest.mark.slow
def test_a_right_loop_keeps_its_claim_and_passes_its_check(right):
    assert str(right.verdict) == "not violated"
    assert right.training.low.value <= right.training.high.value < 4
    assert right.training.step.epsilon < right.training.gaussian <= right.training.low.value + 1e-9
    again = Evidence.from_json(right.to_json())
    assert again.id == right.id and passes(list(check(again)))


@pytest.mark.slow
def test_without_a_claim_the_answer_is_an_interval_that_is_certified(right):
    found = evidence_of(seen_loop(), None)
    low, high = found.training.low.value, found.training.high.value
    assert (str(found.verdict), low <= high < low + 0.01) == ("no claim", True)
    assert (low, high) == pytest.approx((right.training.low.value, right.training.high.value), abs=0.01)
    assert passes(list(check(Evidence.from_json(found.to_json()))))
    first = found.reason.partition(". Nothing")[0]
    assert f"between {low:.4f}"[:-1] in first and "at δ = 1e-5" in first and "not looked at: whether the gen" in first
    head = view(found).headline.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert "≤ ε ≤" in head and "at δ = 1e-5" in head and "not looked at: generator of the noise" in head
    summary = console_summary(found)
    assert "…" not in summary and all(each.text in " ".join(summary.split()) for each in found.training.facts)


@pytest.mark.nightly
def test_without_a_claim_what_loses_much_is_bounded_from_below_and_passes_its_check():
    for noise in (lambda rng, _: rng.normal(size=600) * 0.02, lambda rng, _: np.zeros(600)):
        found = evidence_of(seen_loop(noise=noise), None)
        assert found.training.low.value > 50 and math.isinf(found.training.high.value)
        assert "nothing bounds it from above" in found.reason and "Seen wrong: too little noise" in found.reason
        assert passes(list(check(found, second=False)))


def test_without_a_claim_nothing_is_said_of_a_loop_that_was_not_recognised():
    found = evidence_of(seen_loop(batches=lambda rng, updates: [np.arange(20)] * updates), None)
    assert "nothing is certified of what was seen (how records come in was not recognised)" in found.reason
    assert "no loss is certified" in view(found).headline.sentence


@pytest.mark.slow
@pytest.mark.parametrize("side", ["low", "high"])
def test_an_interval_without_a_claim_that_does_not_follow_is_noticed(side):
    found = evidence_of(seen_loop(), None)
    for value in (0.5, 3.0, 0.0 if side == "low" else math.inf):
        record = msgspec.to_builtins(found)
        record["training"][side]["value"] = value
        forged = msgspec.convert(record, Evidence, strict=False)
        assert any(each.fails for each in check(forged, second=False))


def test_the_page_is_a_checklist_and_nothing_is_sold_as_proved(right):
    page = html_page(right)
    assert page.count("seen right") > 8 and "Twelve pitfalls" in page and "NOT VIOLATED" in page
    assert "does not prove" in view(right).headline.caution
    with pytest.raises(UsageError, match="cannot be replayed"):
        replay(right)


def test_evidence_holds_nothing_about_records(right):
    """Two loops with other batches and other gradients, and the same noise, leave the same record."""
    other = seen_loop()
    rng = np.random.default_rng(99)
    other.batches = [rng.choice(400, size=len(each), replace=False) for each in other.batches]
    rows = rng.normal(size=(9, 50))
    norms = np.linalg.norm(rows, axis=1)
    other.replays = [replayed(rows, norms, np.minimum(1, 1 / norms) @ rows, 1.0)] * len(other.replays)
    told = evidence_of(other)
    assert told.record() == right.record()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "verdict", "wrong"),
    [
        ({"noise": lambda rng, t: rng.normal(size=600) * 0.3}, "violated", "too little noise"),
        ({"noise": lambda rng, t: np.random.default_rng(1).normal(size=600)}, "violated", "noise repeated"),
        ({"clip": 1e9}, "violated", "not clipped"),
        ({"divisor": lambda rows: max(rows, 1)}, "inconclusive", "divided by the batch size"),
        ({"replays": 0}, "inconclusive", ""),
    ],
)
def test_mistakes_decide_only_what_they_certainly_do(change, verdict, wrong):
    found = evidence_of(seen_loop(**change))
    assert str(found.verdict) == verdict and wrong in found.reason
    assert passes([each for each in check(found) if each.what != "gaussian"])
    assert verdict == "violated" or found.training.low.value <= 4


@pytest.mark.slow(rows="all")
@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "proved"},
        {"lower": 0.1},
        {"scales": (2.0, 2.0)},
        {"steps": ((2.0, RATE, 20),)},
        {"steps": ((1.0, RATE, 2),)},
        {"values": 1},
        {"facts": ()},
        {"sampler": "shuffled"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_does_not_follow_is_noticed(right, change):
    record = json.loads(json.dumps(right.record()))
    (name, value), training = next(iter(change.items())), record["training"]
    if name == "verdict":
        record["verdict"] = value
    elif name == "lower":
        record["lower"]["value"] = value
    elif name == "values":
        training["step"]["below"][3] = 1
    else:
        training[name] = value
    forged = msgspec.convert(record, Evidence, strict=False)
    assert any(each.fails for each in check(forged, second=False))


# --- a step, and all of them --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_bound_of_a_step_is_below_the_truth_as_often_as_it_says_and_close_to_it():
    rng, sigma = np.random.default_rng(7), 1.0
    found = [losses.certified(losses.counted(rng.normal(size=20_000), sigma), 20_000, sigma, 0.05) for _ in range(60)]
    assert sum(each.mu > 1 for each in found) <= 3 and min(each.mu for each in found) > 0.9
    exact = losses.StepLoss(*_gaussian_curve(sigma), 1.0)
    told = losses.composed(exact, 0.05, 300, 1e-5)
    assert told is not None and 5.75 < told <= 5.7956


def _gaussian_curve(sigma):
    from scipy import stats

    at = np.linspace(9, -9, 2000)
    return np.r_[0, stats.norm.sf(at), 1], np.r_[0, stats.norm.sf(at - 1 / sigma), 1]


def test_composition_of_few_steps_is_that_of_all_products():
    step = losses.StepLoss(np.array([0.0, 0.1, 0.6, 1.0]), np.array([0.0, 0.5, 0.9, 1.0]), 0.0)
    p, q = np.diff(step.tpr), np.diff(step.fpr)
    both = np.multiply.outer(p, p).ravel(), np.multiply.outer(q, q).ravel()
    told = losses.composed(step, 1.0, 2, 0.05)
    deltas = [max(np.maximum(a - math.exp(told) * b, 0).sum() for a, b in (both, both[::-1]))]
    assert deltas[0] == pytest.approx(0.05, abs=1e-4) and deltas[0] >= 0.05


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"claim": "epsilon=1"}, "has no δ"),
        ({"claim": "mu=1"}, "judged by ε at a δ"),
        ({"sampling": "random"}, "sampling is one of"),
        ({"clip": 0}, "above 0"),
        ({"keep_data": True}, "nothing about its records"),
        ({}, "no training loop was seen"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_trained(options, says):
    trained = []
    with pytest.raises(UsageError, match=says):
        watched(lambda watch: trained.append(watch), options)
    assert len(trained) == (not options)


def test_options_are_those_of_the_request():
    assert set(TrainingOptions.__annotations__) == set(options_of(TrainingRequest))
    assert {each.name for each in dataclasses.fields(TrainingRequest)} >= set(TrainingOptions.__annotations__)
