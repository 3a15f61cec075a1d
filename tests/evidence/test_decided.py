"""Does evidence itself name the bound that a violation rests on, so that no view reads it from a sentence?"""

import msgspec
import pytest
from support.forging import noticed

import dpaudit as dp
from dpaudit.report.text.phrases import contradicting
from dpaudit.report.text.verdict import decisive, headline
from dpaudit.review.check import check, passes

ASKED = {"pairs": [(0, 1)], "relation": "queries", "floating_point": "verdict"}


def noisy(data, rng, scale=1.0):
    """A number with the noise of NumPy: its low-order bits say almost everything."""
    return data + rng.laplace(0, scale)


@pytest.fixture(scope="module")
def both():
    """The headline is a little above the claim, and the low-order bits are above it for sure."""
    return dp.audit(noisy, parameters={"scale": 0.93}, claim="epsilon=1", runs=4_000, seed=2, reading="calls", **ASKED)


@pytest.fixture(scope="module")
def one_look():
    return dp.audit(noisy, claim="epsilon=1", runs=4_000, seed=0, false_alarm=0.05, **ASKED)


@pytest.mark.slow
def test_the_low_order_bits_are_named_where_they_decide(both):
    assert both.verdict is dp.Verdict.VIOLATED and both.lower.value > 1
    assert both.decided_in == "float" and decisive(both) == both.floating_point
    other_words = msgspec.structs.replace(both, reason="Read the numbers.")
    assert decisive(other_words) == both.floating_point
    assert "low-order bits" in headline(other_words).sentence
    assert passes(check(both))


@pytest.mark.slow
def test_where_one_look_is_enough(one_look):
    assert (one_look.false_alarm, one_look.decided_in) == (None, "float")
    assert passes(check(one_look))


@pytest.mark.slow
def test_evidence_that_does_not_say_so_is_read_as_before(one_look):
    older = {name: value for name, value in one_look.record().items() if name != "decided_in"}
    assert not noticed(older)
    read = msgspec.structs.replace(one_look, decided_in="real")
    assert decisive(read) == one_look.floating_point  # since the headline is not above the claim


@pytest.mark.slow
def test_another_bound_than_the_one_that_decided_is_refused(both):
    record = both.record()
    assert noticed({name: value for name, value in record.items() if name != "decided_in"})
    assert noticed({**record, "decided_in": "exact"})
    real = dp.audit(noisy, parameters={"scale": 0.5}, claim="epsilon=1", runs=1_000, seed=0, **ASKED)
    assert real.decided_in == "real" and decisive(real) == real.lower
    assert noticed({**real.record(), "decided_in": "float"})
    kept = dp.audit(noisy, claim="epsilon=9", runs=600, seed=0, **ASKED)
    assert noticed({**kept.record(), "decided_in": "float"})


def test_a_contradicted_proof_is_known_by_its_numbers(both):
    proved = msgspec.structs.replace(both.lower, value=1.02, side="upper", kind="proof", counts=None, event=None)
    evidence = msgspec.structs.replace(both, upper=proved, reason="In other words.")
    assert contradicting(evidence) is not None
    assert contradicting(msgspec.structs.replace(evidence, upper=msgspec.structs.replace(proved, value=1.2))) is None
