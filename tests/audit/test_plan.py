"""Does a plan say how many runs it takes, of which event, and what that assumes?"""

import math

import numpy as np
import pytest

import dpaudit as dp

pytestmark = pytest.mark.slow

PAIR = [(0, 1)]


def laplace(data, size, rng, epsilon=1.0):
    return rng.laplace(data, 1 / epsilon, size)


def gaussian(data, size, rng):
    return rng.normal(data, 1, size)


def planned(detect=1.2, **options):
    return dp.plan(laplace, detect, **{"claim": "epsilon=1", "pairs": PAIR, **options})


def test_a_plan_says_what_it_takes():
    plan = planned()
    assert plan.value == 1.2
    assert 0 < plan.measuring < plan.runs < 20_000
    assert plan.seconds > 0
    assert plan.event.toward(0) or plan.event.toward(1)
    assert 0.8 < plan.shown < 1.05
    assert "ε = 1.2" in plan.assumes


def test_the_same_seed_gives_the_same_plan():
    def told(plan):
        return plan.runs, plan.measuring, plan.event, plan.shown

    assert told(planned(seed=3)) == told(planned(seed=3))
    assert told(planned(seed=3)) != told(planned(seed=4))


@pytest.mark.nightly
def test_a_smaller_violation_and_more_confidence_take_more_runs():
    found = [planned(detect).runs for detect in (2.0, 1.3, 1.1, 1.03)]
    assert found == sorted(found)
    assert found[-1] > 20 * found[0]
    assert planned(1.1, confidence=0.999).runs > 1.5 * planned(1.1).runs


def test_runs_fall_with_the_square_of_what_is_to_be_found():
    assert planned(1.02).measuring / planned(1.04).measuring == pytest.approx(4, rel=0.1)


def test_every_pair_takes_its_runs():
    alone, together = planned(1.1), planned(1.1, pairs=PAIR * 3)
    assert together.runs > 3 * alone.runs
    weakest = dp.plan(laplace, 1.1, claim="epsilon=1", pairs=[(0, 1), (0, 0.5)], relation="declared")
    assert weakest.runs > 2 * alone.runs


@pytest.mark.parametrize(
    ("claim", "detect"),
    [
        ("epsilon=1", "epsilon=1.2"),
        ("epsilon=1", "eps = 1.2"),
        ("epsilon=1", dp.PureDP(1.2)),
        ("epsilon=1", np.float64(1.2)),
        ("epsilon=1, delta=0.01", "epsilon=1.2"),
        ("epsilon=1, delta=0.01", "epsilon=1.2, delta=0.01"),
        ("mu=1", "mu=1.2"),
        ("rho=1", "rho=1.2"),
        ("order=2, epsilon=1", "epsilon=1.2"),
        ("order=2, epsilon=1", "order=2, epsilon=1.2"),
    ],
    ids=str,
)
def test_what_is_to_be_found_is_written_in_the_claims_parameter(claim, detect):
    plan = dp.plan(gaussian, detect, claim=claim, pairs=PAIR, runs=1_000)
    assert plan.value == 1.2
    assert str(plan.claim) == claim


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"detect": 1.0}, "a violation of epsilon=1 is a epsilon of more than 1, not 1"),
        ({"detect": math.nan}, "a violation of"),
        ({"detect": math.inf}, "a violation of"),
        ({"detect": "mu=2"}, "such as 'epsilon=2' for the claim epsilon=1, not 'mu=2'"),
        ({"detect": "2"}, "not '2'"),
        ({"detect": "epsilon=2, delta=0.1"}, "claim's own parameter"),
        ({"detect": True}, "claim's own parameter"),
        ({"claim": None}, "makes no claim that could be violated"),
        ({"runs": 50}, "runs must be at least 100"),
        ({"pairs": None}, "names no pair"),
    ],
)
def test_bad_input_gets_a_sentence(options, words):
    with pytest.raises(dp.UsageError, match=words):
        planned(**{"detect": 2.0, **options})


def test_runs_that_cannot_be_trusted_plan_nothing():
    def repeats(data, size, rng):
        return data + np.random.default_rng(0).laplace(size=size)

    with pytest.raises(dp.UsageError, match="cannot be trusted"):
        dp.plan(repeats, 2.0, claim="epsilon=1", pairs=PAIR, runs=600_000)


def test_where_no_number_of_runs_would_do_none_is_promised(monkeypatch):
    monkeypatch.setattr("dpaudit.auditing.plan.runs_to_show", lambda *_, **__: math.inf)
    plan = planned()
    assert (plan.runs, plan.measuring, plan.seconds) == (None, None, None)


def test_at_delta_the_tails_of_a_gaussian_are_the_yardstick():
    plan = dp.plan(gaussian, 5.0, claim="epsilon=4.3772, delta=1e-5", pairs=PAIR)
    assert plan.where == "gaussian"
    assert "Gaussian" in plan.assumes
    assert plan.runs > 50_000


def test_a_loss_that_hardly_shows_in_the_event_is_told():
    def spread(data, size, rng):
        return rng.laplace(data / 10, 1, (size, 10))

    plan = dp.plan(spread, 1.2, claim="epsilon=1", pairs=PAIR, runs=2_000)
    assert plan.shown < 0.5
    assert "may well show elsewhere" in plan.assumes
    assert "may well show elsewhere" not in planned().assumes
