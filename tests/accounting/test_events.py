"""Are events the values that were written, and is bad input refused with a sentence?"""

from decimal import Decimal
from fractions import Fraction

import pytest

from dpaudit.accounting import (
    Block,
    Calibrated,
    Certified,
    Decision,
    DiscreteGaussian,
    DiscreteLaplace,
    Events,
    Exponential,
    Gaussian,
    Laplace,
    PrivacyEvent,
    RandomisedResponse,
    as_events,
    calibrate,
    certify,
    decide,
    meaning,
)
from dpaudit.errors import UsageError

ONE_OF_EACH = [
    Gaussian("1.1"),
    Gaussian(Fraction(0.1)),
    Gaussian(Fraction(3**-0.5)),
    Gaussian(3**-0.5, sensitivity=1 / 3),
    Gaussian(noise_multiplier="1.1"),
    Gaussian(noise_multiplier="1.1").poisson("0.01"),
    Laplace("1/3", sensitivity=2),
    Laplace(noise_multiplier=2),
    Laplace(0.8374628374628374),
    DiscreteLaplace(2),
    DiscreteGaussian(2, sensitivity=3),
    RandomisedResponse("0.25"),
    Exponential("0.5"),
    Block("epsilon=0.5, delta=1e-7"),
    Block("mu=0.25"),
    Gaussian(2).poisson("0.01"),
    Gaussian(2).fixed_size(10, 1000),
    Gaussian(2).shuffled(100),
]


def test_numbers_are_kept_exactly():
    for given in (0.1, "0.1", Decimal("0.1"), Fraction(1, 10)):
        assert Gaussian(given).sigma == Fraction(1, 10)
    assert Gaussian(Fraction(0.1)).sigma == Fraction(0.1) != Fraction(1, 10)
    assert Laplace(1 / 3).scale == Fraction(1, 3)


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=str)
def test_an_event_is_a_value_that_writes_itself(event):
    names = {kind.__name__: kind for kind in (Block, DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace)}
    again = eval(str(event), {**names, "RandomisedResponse": RandomisedResponse})
    assert again == event and hash(again) == hash(event)
    assert isinstance(event, PrivacyEvent)


def test_lists_count_equal_events_together():
    step = Gaussian(1).poisson("0.01")
    events = step.times(10) + Laplace(2) + step
    assert isinstance(events, Events)
    assert events.parts == ((step, 11), (Laplace(2), 1))
    assert events.steps == 12
    assert as_events([step, step]).parts == ((step, 2),)
    assert events.times(3).parts == ((step, 33), (Laplace(2), 3))


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: Gaussian(0), "above 0"),
        (lambda: Gaussian(float("nan")), "finite"),
        (lambda: Gaussian(float("inf")), "finite"),
        (lambda: Gaussian("a lot"), "finite number"),
        (lambda: Gaussian(True), "number"),
        (lambda: Gaussian("1e999999999"), "digits"),
        (lambda: Laplace(-1), "above 0"),
        (lambda: Gaussian(1, sensitivity=0), "sensitivity"),
        (lambda: DiscreteGaussian(1, sensitivity=1.5), "whole number"),
        (lambda: Gaussian(1).poisson(0), "at most 1"),
        (lambda: Gaussian(1).poisson("1.01"), "at most 1"),
        (lambda: Gaussian(1).times(0), "whole number"),
        (lambda: Gaussian(1).times(2.0), "whole number"),
        (lambda: Gaussian(1).times(True), "whole number"),
        (lambda: Gaussian(1).fixed_size(11, 10), "without replacement"),
        (lambda: Gaussian(1).shuffled(0), "whole number"),
        (lambda: Gaussian(1).poisson("0.1") + Gaussian(1).fixed_size(1, 10), "no relation of neighbours in common"),
        (lambda: as_events("Gaussian(1)"), "values"),
        (lambda: as_events([]), "no event"),
        (lambda: Block("epsilon=-1"), "epsilon"),
        (lambda: certify(Gaussian(1)), "one of delta and epsilon"),
        (lambda: certify(Gaussian(1), delta=1), "below 1"),
        (lambda: certify(Gaussian(1), delta=-1e-9), "below 1"),
        (lambda: certify(Gaussian(1), epsilon=-1), "at least 0"),
        (lambda: certify(Gaussian(1), delta=1e-5, tolerance=0), "tolerance"),
        (lambda: certify(Gaussian(1).poisson("0.01").times(10**6), delta=1e-5, tolerance=1e-9), "GiB"),
        (lambda: certify(Block("epsilon=1, order=2"), delta=1e-5), "no single pair"),
        (lambda: certify(Laplace(1).shuffled(10), delta=1e-5), "nothing is proved"),
        (lambda: certify(Block("rho=1") + Block("epsilon=1, delta=1e-6"), delta=1e-5), "ρ of its own"),
        (lambda: certify(Block("rho=1").poisson("0.1"), delta=1e-5), "ρ of its own"),
        (lambda: decide(Gaussian(1), "epsilon=1, order=2"), "claims of"),
        (lambda: decide(Gaussian(1).poisson("0.1"), "rho=1"), "no proof"),
        (lambda: decide(Laplace(1), "mu=1"), "no proof"),
    ],
)
def test_bad_input_gets_a_sentence(made, told):
    with pytest.raises(UsageError, match=told):
        made()


def test_neighbours_are_said_in_words():
    (first, second, *rest) = meaning(Gaussian(2).poisson("0.01").times(1000))
    assert first.startswith("1,000 times: Gaussian noise of σ = 2") and "Poisson" in first
    assert "a record more" in second
    assert any("some data" in sentence for sentence in rest)
    for event in ONE_OF_EACH:
        assert all(sentence.endswith(".") for sentence in meaning(event))


def test_calibration_finds_the_noise_of_the_closed_form():
    # σ = 4.2247 is where Balle & Wang's δ(1) is 1e-6 (their Algorithm 1)
    found = calibrate(Gaussian, "epsilon=1, delta=1e-6")
    assert isinstance(found, Calibrated) and isinstance(found.decision, Decision)
    assert isinstance(found.decision.certified, Certified)
    assert found.decision.verdict == "PROVED"
    assert found.too_little < Decimal("4.2247") < found.enough * Decimal("1.0001")
    assert 1 < found.enough / found.too_little <= Decimal("1.0001")
    assert decide(Gaussian(found.too_little), "epsilon=1, delta=1e-6", tolerance=1e-5).verdict == "VIOLATED"


@pytest.mark.parametrize(
    ("events", "claim", "steps", "root"),
    [
        (lambda b: Laplace(b).times(10), "epsilon=1", False, 10),
        (lambda s: Gaussian(s).times(10), "mu=1", False, 10**0.5),
        (lambda s: DiscreteLaplace(s).times(10), "epsilon=1, delta=1e-6", False, 9.9936),
        (lambda s: Gaussian(s).times(10), "epsilon=0, delta=0.1", False, None),
        (lambda count: Gaussian(10).times(int(count)), "mu=1", True, 100),
        (lambda count: RandomisedResponse("0.1").times(int(count)), "epsilon=1, delta=1e-5", True, 10),
    ],
)
def test_calibration_of_other_noise_and_of_steps(events, claim, steps, root):
    found = calibrate(events, claim, steps=steps)
    assert found.decision.verdict == "PROVED"
    if steps:
        assert (found.enough, found.too_little) == (root, root + 1)
    elif root:
        assert found.too_little <= root * 1.00001 and root * 0.99999 <= found.enough <= root * 1.0002


def test_where_other_pairs_are_known_from_below_both_ends_are_certain():
    def noise(sigma):
        return Gaussian(sigma) + Block("rho=0.01")

    found = calibrate(noise, "epsilon=2, delta=1e-6")
    assert found.too_little < Decimal("0.95") * found.enough
    assert decide(noise(found.too_little), "epsilon=2, delta=1e-6", tolerance=2e-5).verdict == "VIOLATED"


@pytest.mark.parametrize(
    ("events", "claim", "steps", "told"),
    [
        (Gaussian, "epsilon=1", False, "needs a δ above 0"),
        (Laplace, "epsilon=10000", False, "smaller units"),
        (lambda count: Gaussian(1).times(int(count)), "epsilon=1, delta=1e-5", True, "one step is not certified"),
        (lambda count: Laplace(10**12).times(int(count)), "epsilon=1", True, "more are not accounted for"),
    ],
)
def test_calibration_that_finds_nothing_says_why(events, claim, steps, told):
    with pytest.raises(UsageError, match=told):
        calibrate(events, claim, steps=steps)
