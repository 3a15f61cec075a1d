"""Does a plan file say what it is read as, and does an error name the place?"""

from fractions import Fraction

import pytest

import dpaudit as dp
from dpaudit.accounts.plan import read_plan, settings_plan
from dpaudit.errors import UsageError

PLAN = """
name = "Nightly training"
unit = "one user"
claims = ["epsilon=3.2, delta=1e-5"]
delta = 1e-6

[[release]]
name = "training"
mechanism = "gaussian"
sigma = "1.1"
rate = 0.004
steps = 14000

[[release]]
mechanism = "discrete-laplace"
scale = 2
sensitivity = 3
steps = 1e2
"""


def written(folder, text):
    file = folder / "plan.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_plan_is_read_with_its_decimals(tmp_path):
    plan = read_plan(written(tmp_path, PLAN))
    assert plan.events == dp.accounting.Gaussian("1.1").poisson("0.004").times(14_000) + dp.accounting.DiscreteLaplace(
        2, sensitivity=3
    ).times(100)
    assert (plan.name, plan.unit, plan.claims) == ("Nightly training", "one user", ("epsilon=3.2, delta=1e-5",))
    assert Fraction(plan.delta) == Fraction(1, 10**6)
    assert [run.name for run in plan.runs] == ["training", ""]


@pytest.mark.parametrize(
    ("mechanism", "event"),
    [
        ('mechanism = "laplace"\nscale = 0.5', dp.accounting.Laplace("0.5")),
        ('mechanism = "gaussian"\nsigma = 2\nsensitivity = "1/3"', dp.accounting.Gaussian(2, sensitivity="1/3")),
        ('mechanism = "discrete-gaussian"\nsigma = 2', dp.accounting.DiscreteGaussian(2)),
        ('mechanism = "randomised-response"\nepsilon = 1', dp.accounting.RandomisedResponse(1)),
        ('mechanism = "exponential"\nepsilon = 1', dp.accounting.Exponential(1)),
        ('mechanism = "block"\nclaim = "epsilon=1, delta=1e-6"', dp.accounting.Block("epsilon=1, delta=1e-6")),
        ('mechanism = "gaussian"\nsigma = 1\nbatch = 3\nrecords = 30', dp.accounting.Gaussian(1).fixed_size(3, 30)),
        ('mechanism = "gaussian"\nsigma = 1\nbatches = 30', dp.accounting.Gaussian(1).shuffled(30)),
    ],
)
def test_every_mechanism_and_sampler_has_its_keys(mechanism, event, tmp_path):
    assert read_plan(written(tmp_path, f"[[release]]\n{mechanism}")).events == event.times(1)


GAUSSIAN = '[[release]]\nmechanism = "gaussian"\nsigma = 1\n'
BAD = {
    "no TOML": ("[[release", "is no TOML"),
    "nothing": ("", "lists at least one [[release]]"),
    "an unknown key": (f"delt = 1\n{GAUSSIAN}", "there is no key 'delt'; did you mean 'delta'"),
    "an unknown key of a release": (f"{GAUSSIAN}rat = 0.1", "release 1: a gaussian release has no key 'rat'"),
    "a nested table": (f"{GAUSSIAN}[release.rate]\na = 1", "release 1, rate: it is a number or a text"),
    "a list": (f"{GAUSSIAN}rate = [0.1]", "release 1, rate: it is a number or a text"),
    "a truth": (f"{GAUSSIAN}steps = true", "release 1, steps: it is a number or a text"),
    "a release that is none": ("release = [1]", "release 1: it is a table"),
    "releases that are none": ("release = 1", "lists at least one [[release]]"),
    "an unknown mechanism": ('[[release]]\nmechanism = "gausian"', "did you mean 'gaussian'"),
    "no mechanism": ("[[release]]\nsigma = 1", "a release needs a mechanism"),
    "no noise": ('[[release]]\nmechanism = "gaussian"', "a gaussian release needs sigma"),
    "noise of another": ('[[release]]\nmechanism = "laplace"\nsigma = 1', "has no key 'sigma'"),
    "no noise at all": ('[[release]]\nmechanism = "gaussian"\nsigma = 0', "sigma must be above 0"),
    "NaN": ('[[release]]\nmechanism = "gaussian"\nsigma = nan', "sigma must be a finite number"),
    "NaN as a text": ('[[release]]\nmechanism = "gaussian"\nsigma = "nan"', "sigma must be a finite number"),
    "infinity": ('[[release]]\nmechanism = "gaussian"\nsigma = inf', "sigma must be a finite number"),
    "a huge exponent": ('[[release]]\nmechanism = "gaussian"\nsigma = "1e999999999"', "digits"),
    "a huge exponent of steps": (f'{GAUSSIAN}steps = "1e999999999"', "steps must be a whole number"),
    "too many steps": (f"{GAUSSIAN}steps = 10_000_000_000", "whole number from 1 to 1,000,000,000"),
    "half a step": (f"{GAUSSIAN}steps = 1.5", "steps must be a whole number, not '1.5'"),
    "no step": (f"{GAUSSIAN}steps = 0", "whole number from 1"),
    "a rate above 1": (f"{GAUSSIAN}rate = 1.5", "a sampling rate is above 0 and at most 1"),
    "two samplers": (f"{GAUSSIAN}rate = 0.1\nbatches = 3", "records come in in one way"),
    "half a sampler": (f"{GAUSSIAN}batch = 3", "records come in in one way"),
    "an unknown sampler": (f'{GAUSSIAN}sampler = "poisson"', "has no key 'sampler'"),
    "claims that are none": (f"claims = [1]\n{GAUSSIAN}", "claims: they are a list of texts"),
    "one claim": (f'claims = "epsilon=1"\n{GAUSSIAN}', "claims: they are a list of texts"),
    "a name that is none": (f"name = 1\n{GAUSSIAN}", "name: it is a text"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_plan_is_refused_with_the_place(case, tmp_path):
    text, said = BAD[case]
    with pytest.raises(UsageError) as refused:
        _ = read_plan(written(tmp_path, text)).events
    assert said in str(refused.value)


def test_samplers_of_two_kinds_of_neighbours_do_not_go_together(tmp_path):
    plan = read_plan(written(tmp_path, f"{GAUSSIAN}rate = 0.1\n{GAUSSIAN}batch = 3\nrecords = 30"))
    with pytest.raises(UsageError, match="no relation of neighbours in common"):
        _ = plan.events


def test_settings_are_a_file_a_plan_or_one_release(tmp_path):
    written(tmp_path, PLAN)
    assert settings_plan("plan.toml", tmp_path) == read_plan(tmp_path / "plan.toml")
    one = {"mechanism": "gaussian", "sigma": 1.1, "rate": 0.004, "steps": 5, "claims": ["epsilon=1"]}
    plan = settings_plan(one, tmp_path)
    assert plan.events == dp.accounting.Gaussian("1.1").poisson("0.004").times(5) and plan.claims == ("epsilon=1",)
    assert settings_plan({"release": [{"mechanism": "laplace", "scale": 2}]}, tmp_path).events == dp.accounting.Laplace(
        2
    ).times(1)
    for wrong in (3, ["plan.toml"], {}):
        with pytest.raises(UsageError):
            settings_plan(wrong, tmp_path)
