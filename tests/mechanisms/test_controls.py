"""Does an audit accept every correct mechanism, and catch the same mechanism with too little noise?

The second half of each control keeps the claim and takes noise away: 20 % of it for additive noise, two thirds of it
for the others, whose telling outputs are rare; so much that no seed decides.
"""

import pytest
from support.nightly import mostly_at_night

import dpaudit as dp
import mechanisms
from mechanisms.additive import classic_multiplier

CORRECT = [name for name in mechanisms.__all__ if getattr(mechanisms, name).correct]
ADDITIVE = {"additive", "queries", "contributions"}
RUNS = 40_000  # at which five seeds of five catch each of them
MORE_RUNS = {"gaussian_classic": 400_000, "partition_counts": 200_000, "rappor": 100_000}  # what shows in tails alone
RARE = {name: 100_000 for name in CORRECT if getattr(mechanisms, name).family == "sparse vector"}

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", mostly_at_night(CORRECT))
def test_the_correct_one_is_accepted(name):
    evidence = dp.audit(
        name, runs=MORE_RUNS.get(name, RUNS), confidence=0.9999, seed=11
    )  # so sure that none may fail by chance
    assert evidence.verdict is dp.Verdict.NOT_VIOLATED
    if evidence.target.true_loss is not None:
        assert evidence.lower.value <= evidence.target.true_loss


@pytest.mark.parametrize("name", mostly_at_night(CORRECT))
def test_too_little_noise_is_caught(name):
    mechanism = getattr(mechanisms, name)
    claim = mechanism.claim_for(mechanism.parameters_with(None))
    if name == "gaussian_classic":  # refuses to be weakened that far; held against the whole curve instead
        claim, weaker = dp.GaussianDP(1 / classic_multiplier(0.5, 1e-5)), {"epsilon": 0.5 * 1.25}
    else:
        weaker = with_too_little_noise(mechanism, claim)
    if weaker is None:  # nothing sets its noise: hold it against a claim that it exceeds by as much
        claim, weaker = claim.with_value(mechanism.true_loss_for(mechanism.parameters_with(None)) / 3), {}
    evidence = dp.audit(name, parameters=weaker, claim=claim, runs=(MORE_RUNS | RARE).get(name, RUNS), seed=12)
    assert evidence.verdict is dp.Verdict.VIOLATED


def with_too_little_noise(mechanism, claim):
    """Return parameters with as much less noise as a control asks for, or None where nothing sets the noise."""
    defaults = mechanism.parameters_with(None)
    knob = next((name for name in ("epsilon", "rho") if name in defaults), None)
    if knob is None:
        return None
    if mechanism.family not in ADDITIVE:
        return {knob: 3 * defaults[knob]}
    loss = mechanism.true_loss_for(defaults)
    wanted = loss * (1.25**2 if claim.parameter == "rho" else 1.25) if loss > 0.99 * claim.value else 1.5 * claim.value
    low, high = defaults[knob], defaults[knob] * 2
    while loss_at(mechanism, knob, high) < wanted:
        low, high = high, 2 * high
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if loss_at(mechanism, knob, middle) >= wanted else (middle, high)
    return {knob: high}


def loss_at(mechanism, knob, value):
    return mechanism.true_loss_for(mechanism.parameters_with({knob: value}))
