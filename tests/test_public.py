"""Do public names say what is wrong with a call, in their own words?"""

import inspect
from importlib.metadata import version

import pytest

import dpaudit as dp
from dpaudit.errors import UsageError

FUNCTIONS = [
    "account",
    "audit",
    "audit_outputs",
    "audit_scores",
    "mechanism",
    "plan",
    "plan_error",
    "privacy_curve",
    "prove",
    "replay",
    "sensitivity",
    "trace",
    "trains",
    "watch_training",
]


def test_all_functions_with_options_are_here():
    public = {name for name in dp.__all__ if inspect.isfunction(getattr(dp, name))}
    assert public - set(FUNCTIONS) == {"load", "parse_claim"}  # of one argument


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_keyword_is_refused_by_its_name(name):
    """Not by that of a class that nobody named."""
    function = getattr(dp, name)
    with pytest.raises(UsageError, match=f"^{name} takes no 'claims'; ") as refused:
        function(len, claims=3)
    if "claim" in inspect.signature(function).parameters:
        assert str(refused.value) == f"{name} takes no 'claims'; did you mean 'claim'?"


def test_a_function_keeps_its_signature_its_name_and_its_words():
    for name in FUNCTIONS[:4]:
        function = getattr(dp, name)
        assert function.__name__ == name and function.__doc__ and "claim" in inspect.signature(function).parameters


def test_the_version_is_that_of_the_package():
    assert dp.__version__ == version("dpaudit")


@pytest.mark.parametrize("claim", [dp.PureDP, dp.ApproxDP, dp.GaussianDP, dp.RenyiDP, dp.ZeroConcentratedDP])
def test_what_is_missing_of_a_claim_is_named(claim):
    assert all(each.default is each.empty for each in inspect.signature(claim).parameters.values())
    with pytest.raises(TypeError, match="missing"):
        claim()
    with pytest.raises(TypeError, match="'delta'"):
        dp.ApproxDP(1.0)
