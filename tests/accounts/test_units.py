"""Is noise over a norm of clipping told from noise over a sensitivity, in every way of giving it, under every relation?

A record that is clipped to C moves a sum by C where it comes or goes, and by 2C where it is replaced.
"""

import functools
import math
from fractions import Fraction

import pytest
from scipy.special import log_ndtr, ndtr
from support.forked import call

import dpaudit as dp
from dpaudit.accounting import certify
from dpaudit.accounting.certificate import written
from dpaudit.accounts.plan import settings_plan
from dpaudit.accounts.recorded import dp_event_plan, opacus_plan
from dpaudit.errors import UsageError
from dpaudit.report.text.listed import neighbours_words, release_words
from dpaudit.review.check import check, exit_code
from dpaudit.training.losses import LoopParts, listed

NORMS = {"add-remove": 1, "zero-out": 1, "replace-one": 2}
EPSILON, Z = 0.5, 1.5
ONE = {"mechanism": "gaussian", "sigma": 1}


def gaussian(mu, epsilon):
    """δ(ε) of Gaussian noise (Balle & Wang 2018, Theorem 8)."""
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu)))


def sampled(mu, rate, epsilon):
    """The same of a sampled step, to remove a record: H_α((1 − q)Q + qP, Q) = q·H_α'(P, Q), α' = 1 + (α − 1)/q."""
    return rate * gaussian(mu, math.log1p(math.expm1(epsilon) / rate))


def event(kind, **fields):
    return {"class_name": f"{kind}DpEvent", **fields}


STEP = event("Gaussian", noise_multiplier=Z)
GIVEN = {
    "value": dp.accounting.Gaussian(noise_multiplier=Z),
    "text": f"Gaussian(noise_multiplier={Z})",
    "plan": settings_plan({"mechanism": "gaussian", "noise_multiplier": Z}, "."),
    "dp-event": event("Composed", events=[STEP]),
}


@pytest.mark.parametrize("relation", NORMS)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_a_multiplier_is_over_the_norm_that_records_are_clipped_to(given, relation):
    evidence = dp.account(given, epsilon=EPSILON, relation=relation, alone=True)
    exact = gaussian(NORMS[relation] / Z, EPSILON)
    assert evidence.lower.value == pytest.approx(exact, rel=1e-9) == evidence.upper.value
    assert evidence.relation == relation and exit_code(check(evidence)) == 0


@pytest.mark.parametrize("relation", NORMS)
def test_laplace_noise_of_dp_accounting_is_over_the_norm_too(relation):
    evidence = dp.account(event("Laplace", noise_multiplier=2.0), delta=0, relation=relation)
    assert evidence.lower.value == evidence.upper.value == NORMS[relation] / 2


RATE = 0.125
SAMPLED = {
    "opacus": [[Z, RATE, 1]],
    "dp-event": event("PoissonSampled", sampling_probability=RATE, event=STEP),
    "value": dp.accounting.Gaussian(noise_multiplier=Z).poisson(RATE),
}
FIXED = {
    "dp-event": event("SampledWithoutReplacement", sample_size=3, source_dataset_size=24, event=STEP),
    "value": dp.accounting.Gaussian(noise_multiplier=Z).fixed_size(3, 24),
    "plan": settings_plan({"mechanism": "gaussian", "noise_multiplier": "1.5", "batch": 3, "records": 24}, "."),
}


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
@pytest.mark.parametrize("given", SAMPLED.values(), ids=SAMPLED)
def test_sampled_records_that_come_or_go_move_a_sum_by_the_norm(given, relation):
    evidence = dp.account(given, epsilon=EPSILON, relation=relation, alone=True)
    exact = sampled(1 / Z, RATE, EPSILON)
    assert evidence.lower.value <= exact * (1 + 1e-9) and exact <= evidence.upper.value * (1 + 1e-9)
    assert evidence.upper.value < 1.01 * exact and evidence.lower.value > 0.99 * exact
    with pytest.raises(UsageError, match="neighbours do not fit"):
        dp.account(given, epsilon=EPSILON, relation="replace-one")


@functools.cache
def of_one_size():
    return dp.account(FIXED["value"], epsilon=EPSILON, alone=True)


@pytest.mark.nightly
def test_records_of_batches_of_one_size_move_a_sum_by_twice_the_norm():
    evidence = of_one_size()
    exact = sampled(2 / Z, RATE, EPSILON)
    assert evidence.lower.value <= exact * (1 + 1e-9) and exact <= evidence.upper.value * (1 + 1e-9)
    assert evidence.upper.value < 1.01 * exact and evidence.lower.value > 0.99 * exact
    assert evidence.relation == "replace-one" and exit_code(check(evidence)) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["dp-event", "plan"])
def test_batches_of_one_size_in_other_words_are_the_same(name):
    first, same = of_one_size().accounting, dp.account(FIXED[name], epsilon=EPSILON, alone=True).accounting
    assert (same.releases, same.certificates) == (first.releases, first.certificates)


def thousand_steps():
    """256 of 60,000 records, 1,000 times, with a multiplier of 1."""
    step = event("Gaussian", noise_multiplier=1.0)
    step = event("SampledWithoutReplacement", sample_size=256, source_dataset_size=60_000, event=step)
    return event("SelfComposed", count=1000, event=step)


def test_the_watch_of_training_and_an_import_account_for_the_same():
    rate = 256 / 60_000
    groups = ((1.0, rate, 1, 1, 1000),)
    seen = LoopParts("fixed-size", ((1.0, rate, 1000),), groups=groups, batch=256, records=60_000, replaced=True)
    watched = [written(each, count) for each, count in listed(seen, up=True)]
    imported = dp_event_plan(thousand_steps()).events.under("replace-one")
    assert [written(each, count) for each, count in imported.parts] == watched


@pytest.mark.nightly  # by day that the events are those of the watch, and other accounts, say as much
@pytest.mark.slow
def test_what_an_import_loses_is_not_what_it_would_seem_to_lose():
    """They lose 7.12 to 7.57; with the multiplier as σ/Δ it would seem to be .87."""
    evidence = dp.account(thousand_steps(), claim="epsilon=0.871, delta=1e-5", alone=True)
    assert evidence.verdict.value == "violated"
    assert 7.12 < evidence.lower.value < 7.13 and 7.57 < evidence.upper.value < 7.58


@pytest.mark.slow
def test_neighbours_are_asked_for_where_they_decide():
    with pytest.raises(UsageError, match="twice as far"):
        certify(dp.accounting.Gaussian(noise_multiplier=1), delta="1e-5")
    assert certify(dp.accounting.Gaussian(noise_multiplier=1).poisson("0.1"), delta="1e-5").high > 0
    evidence = dp.account(dp.accounting.Gaussian(noise_multiplier=1), delta="1e-5", alone=True)
    assert evidence.relation == "add-remove"  # and it says so
    both = dp.account(
        dp.accounting.Gaussian(noise_multiplier=1)
        + dp.accounting.Laplace(noise_multiplier=1).fixed_size(1, 1)
        + dp.accounting.Laplace(3),
        delta=0.1,
    )
    assert both.relation == "replace-one"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: dp.accounting.Gaussian(1, noise_multiplier=1), "stands alone"),
        (lambda: dp.accounting.Gaussian(noise_multiplier=1, sensitivity=2), "stands alone"),
        (lambda: dp.accounting.Laplace(noise_multiplier=0), "above 0"),
        (lambda: settings_plan({"mechanism": "discrete-gaussian", "noise_multiplier": 1}, "."), "has no key"),
        (
            lambda: settings_plan({**ONE, "batches": 234, "steps": 2340}, "."),
            "say epochs",
        ),
        (lambda: settings_plan({**ONE, "epochs": 10}, "."), "with batches"),
        (lambda: dp.accounting.Gaussian(1).poisson(256), "above 0 and at most 1"),
        (lambda: opacus_plan([[1.0, 256, 10]]), "above 0 and at most 1"),
    ],
)
def test_one_unit_is_not_taken_for_another(wrong, said):
    with pytest.raises(UsageError, match=said):
        wrong()


def test_epochs_are_of_shuffled_data():
    plan = settings_plan({"mechanism": "gaussian", "noise_multiplier": "2", "batches": 10, "epochs": 3}, ".")
    assert str(plan.events) == "Gaussian(noise_multiplier=2).shuffled(10).times(3)"


@pytest.mark.slow
def test_the_command_takes_a_multiplier(tmp_path):
    words = "--noise-multiplier 1 --batch 3 --records 24 --delta 1e-5 --json"
    told = call("account", *words.split(), str(tmp_path / "a.json"))
    assert told.returncode == 0 and "twice the norm that its part is clipped to" in " ".join(told.stdout.split())
    found = dp.Evidence.load(tmp_path / "a.json")
    assert [each.event for each in found.accounting.releases] == ["Gaussian(noise_multiplier=1).fixed_size(3, 24)"]
    assert Fraction(found.accounting.certificates[0]["events"][0]["mechanism"]["noise"]) == Fraction(1, 2)


@pytest.mark.slow
def test_a_page_says_how_far_records_move_a_sum():
    for event, said in (
        ("Gaussian(noise_multiplier=1).fixed_size(3, 24)", "twice the norm that its part is clipped to"),
        ("Gaussian(noise_multiplier=1).poisson(0.5)", "by the norm that its part is clipped to"),
        ("Gaussian(1).fixed_size(3, 24)", "lie two norms apart then, which the sensitivity has to say"),
    ):
        accounting = dp.account(event, delta="1e-3", alone=True).accounting
        relation = "replace-one" if "fixed" in event else "add-remove"
        assert said in neighbours_words(relation, accounting)
        assert ("1 times the norm" in release_words(accounting.releases[0])) == ("multiplier" in event)
