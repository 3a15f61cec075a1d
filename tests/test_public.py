"""Do public names say what is wrong with a call, in their own words?"""

import inspect
from importlib.metadata import version

import pytest

import dpaudit as dp
from dpaudit import tools
from dpaudit.errors import UsageError

FUNCTIONS = {
    name: getattr(home, name)
    for home, names in {
        dp: "account audit mechanism plan prove replay trace watch_training",
        tools: "audit_outputs audit_scores plan_error privacy_curve sensitivity trains",
    }.items()
    for name in names.split()
}


def test_all_functions_with_options_are_here():
    public = {name for home in (dp, tools) for name in home.__all__ if inspect.isfunction(getattr(home, name))}
    assert public - set(FUNCTIONS) == {"load", "parse_claim"}  # of one argument


def test_what_a_beginner_sees_is_short():
    assert dir(dp) == dp.__all__ and len(dp.__all__) < 30


@pytest.mark.parametrize("home", ["accounting", "tools"])
def test_what_has_moved_is_there_with_a_warning(home):
    for name in dp._MOVED[home].split():
        with pytest.warns(DeprecationWarning, match=f"dpaudit.{name} is dpaudit.{home}.{name} now"):
            assert getattr(dp, name) is getattr(getattr(dp, home), name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unknown_keyword_is_refused_by_its_name(name):
    """Not by that of a class that nobody named."""
    function = FUNCTIONS[name]
    with pytest.raises(UsageError, match=f"^{name} takes no 'claims'; ") as refused:
        function(len, claims=3)
    if "claim" in inspect.signature(function).parameters:
        assert str(refused.value) == f"{name} takes no 'claims'; did you mean 'claim'?"


def test_a_function_keeps_its_signature_its_name_and_its_words():
    for name in ("account", "audit", "audit_outputs", "audit_scores"):
        function = FUNCTIONS[name]
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


def test_evidence_prints_as_a_terminal_shows_it(capsys):
    evidence = dp.account(dp.accounting.Laplace("2"), claim="epsilon=1")
    print(evidence)
    told = capsys.readouterr().out
    assert told.startswith("PROVED: ") and evidence.id in told
    assert repr(evidence).startswith("Evidence(")
